//! The planning function, one for `plan`, `run` and `resume` (`R-RES-2`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::changes::{Changes, changes, in_order, sources};
use super::error::PlanError;
use super::inside::Listed;
use super::judge::{Judge, Subject};
use super::options::{Mode, ResumeOptions, TaskHashes};
use super::past::{Past, PastNode};
use super::planned::{Action, Plan, PlannedNode};
use super::reason::{Given, Reason};
use crate::definition::Definition;
use crate::file::{Join, Node};
use crate::graph::NodeIndex;
use crate::run::{CancelCause, NodeState, SourceEnd};
use crate::suggest::nearest;

/// What a plan is made from.
#[derive(Clone, Copy)]
pub struct Request<'plan> {
    /// What will run.
    pub definition: &'plan Definition,
    /// What ran before.
    pub past: Option<&'plan Past>,
    /// How much of that may be used.
    pub mode: Mode,
    /// What to do with its nodes.
    pub options: &'plan ResumeOptions,
    /// Whether the earlier run itself goes on: then everything that settled stands (`R-RES-1`).
    pub in_place: bool,
    /// The values of the parameters; none if they are carried over.
    pub params: Option<&'plan BTreeMap<String, Value>>,
    /// The task hashes as far as they are known.
    pub task_hashes: &'plan TaskHashes<'plan>,
}

/// Makes the plan. Costs as much as there are nodes and edges.
pub fn plan(request: &Request<'_>) -> Result<Plan, PlanError> {
    make(request, false)
}

/// Makes the plan; with `forks`, of a fork that begins at the named nodes.
pub(super) fn make(request: &Request<'_>, forks: bool) -> Result<Plan, PlanError> {
    let Request { definition, past, mode, options, .. } = *request;
    if mode == Mode::ResumeOnly {
        let past = past.ok_or(PlanError::NothingBefore)?;
        if past.graph_hash != definition.graph_hash {
            return Err(PlanError::GraphChanged { run: past.run });
        }
    }
    options.re_execute_nodes.iter().try_for_each(|name| known(definition, past, name))?;
    let judge = Judge {
        options,
        named: options.re_execute_nodes.iter().map(String::as_str).collect(),
        forks,
        in_place: request.in_place,
        given: past.filter(|_| !request.in_place && !forks).and_then(|past| given(request, past)),
        task_hashes: request.task_hashes,
    };
    let base = past.filter(|_| mode != Mode::Clean);
    let mut making = Making {
        definition,
        judge,
        base,
        otherwise: if past.is_some() { Reason::Clean } else { Reason::FirstRun },
        causes: vec![None; definition.graph.len()],
        ends: vec![None; definition.graph.len()],
        earlier: None,
        listed: Vec::new(),
        plan: Plan { own_lineage: forks, ..Plan::default() },
    };
    making.phases();
    let Making { mut plan, listed, .. } = making;
    fill(&mut plan, listed);
    plan.changes = past.map_or_else(Changes::default, |past| {
        changes(past.nodes.iter().map(|(id, node)| (id.as_str(), node.hash)), definition)
    });
    plan.previous_token_usage = past.filter(|_| !forks).map_or_else(Default::default, |past| past.usage);
    Ok(plan)
}

struct Making<'plan> {
    definition: &'plan Definition,
    judge: Judge<'plan>,
    /// What may be kept.
    base: Option<&'plan Past>,
    /// Why a node runs when nothing may be kept.
    otherwise: Reason,
    /// For each node that runs, itself; for each other, the nearest one before it that does.
    causes: Vec<Option<NodeIndex>>,
    /// How the nodes ended that stay as they are.
    ends: Vec<Option<SourceEnd>>,
    /// What runs in an earlier phase: later ones see all of it.
    earlier: Option<String>,
    listed: Vec<Listed<'plan>>,
    plan: Plan,
}

impl Making<'_> {
    fn phases(&mut self) {
        let definition = self.definition;
        let nodes = in_order(definition);
        let names: Vec<&str> = definition.phases.iter().map(|phase| phase.name.as_str()).collect();
        let reached = self.base.and_then(|past| past.phase.as_deref());
        let reached = names.iter().position(|name| Some(*name) == reached).unwrap_or(0);
        for at in 0..names.len().max(1) {
            let phase = u16::try_from(at).unwrap_or(u16::MAX);
            // A phase before the one that the run was in is done, however its nodes ended (`R-PHASE-1`).
            let stands = self.judge.in_place || at < reached;
            let mut runs = None;
            let start = nodes.partition_point(|node| definition.graph.phase(*node) < phase);
            for node in nodes[start..].iter().take_while(|node| definition.graph.phase(**node) == phase) {
                if self.node(*node, stands) {
                    runs.get_or_insert_with(|| definition.graph.id(*node).to_string());
                    self.starts(phase, definition.graph.wave(*node));
                }
            }
            self.earlier = self.earlier.take().or(runs);
        }
    }

    /// Plans a node of the definition. Returns whether it is not simply kept.
    fn node(&mut self, node: NodeIndex, stands: bool) -> bool {
        let definition = self.definition;
        let graph = &definition.graph;
        let id = graph.id(node).as_str();
        let past = self.base.and_then(|base| base.nodes.get(id));
        let cause = sources(definition, node).find_map(|source| self.causes[source.at()]);
        let mut reason = match (self.base, past) {
            (None, _) => self.otherwise.clone(),
            (Some(_), None) => Reason::New,
            (Some(_), Some(past)) => {
                let upstream = cause.map(|cause| graph.id(cause).as_str()).or(self.earlier.as_deref());
                let hash = Some(definition.node(node).hash);
                let keyed = is_keyed(&definition.node(node).spec);
                let subject = Subject { address: id, past, hash, keyed, stands, upstream };
                let runs = |other: &str| graph.find(other).is_some_and(|other| self.causes[other.at()] == Some(other));
                self.judge.reason(&subject, &runs)
            }
        };
        if reason.action() == Action::Execute
            && let Some(source) = self.barred_by(node)
        {
            reason = Reason::WillBeSkipped { source: graph.id(source).to_string() };
        }
        let reason = if let Some(past) = past {
            self.judge.list(id, past, reason, &mut self.listed)
        } else {
            self.listed.push(Listed { address: id.to_owned(), reason: reason.clone(), past: None });
            reason
        };
        let runs = reason.action() != Action::Reuse;
        self.causes[node.at()] = if runs { Some(node) } else { cause };
        self.ends[node.at()] = end(&definition.node(node).spec, past, &reason);
        runs
    }

    /// A source that is kept and surely does not let the node run; with several, the one with the smallest id.
    ///
    /// Only what needs no condition is foreseen: whatever is left is decided by the run itself.
    fn barred_by(&self, node: NodeIndex) -> Option<NodeIndex> {
        self.base?;
        if self.definition.node(node).spec.join.unwrap_or_default() != Join::All {
            return None;
        }
        let edges = self.definition.graph.edges_into(node).iter();
        let mut barring = edges.filter(|edge| self.ends[edge.from.at()].is_some_and(|end| !end.lets(edge.when)));
        barring.next().map(|edge| edge.from)
    }

    /// Notes that there is something to do in a wave; phases come in order, so only the first of them counts.
    fn starts(&mut self, phase: u16, wave: u32) {
        let first = *self.plan.start_from_phase.get_or_insert(phase);
        if first == phase {
            let least = self.plan.start_from_wave.map_or(wave, |least| least.min(wave));
            self.plan.start_from_wave = Some(least);
        }
    }
}

/// Whether a node is kept only while its task hash matches.
pub(super) fn is_keyed(spec: &Node) -> bool {
    !spec.inputs.is_empty() || !spec.outputs.is_empty() || spec.cache == Some(true)
}

/// How a node that stays as it is ended, as its edges see it.
fn end(spec: &Node, past: Option<&PastNode>, reason: &Reason) -> Option<SourceEnd> {
    let continues = spec.continue_on_error == Some(true);
    let state = match reason {
        Reason::Kept | Reason::Proven { .. } => NodeState::Completed,
        Reason::KeptFailure => NodeState::Failed,
        Reason::StaysSkipped(_) | Reason::WillBeSkipped { .. } => NodeState::Skipped,
        Reason::Stands(state) => *state,
        _ => return None,
    };
    let cause = past.and_then(|past| past.cancelled).unwrap_or(CancelCause::Stopped);
    match state {
        NodeState::Completed => Some(SourceEnd::Completed),
        NodeState::Failed if continues => Some(SourceEnd::FailedContinued),
        NodeState::Failed => Some(SourceEnd::Failed),
        NodeState::Skipped => Some(SourceEnd::Skipped),
        NodeState::Cancelled if continues && cause.is_failure() => Some(SourceEnd::CancelledContinued(cause)),
        NodeState::Cancelled => Some(SourceEnd::Cancelled(cause)),
        NodeState::Pending
        | NodeState::Ready
        | NodeState::Running
        | NodeState::AwaitingApproval
        | NodeState::Approved => None,
    }
}

/// What every node may read, and has another value than before; the first by name.
fn given(request: &Request<'_>, past: &Past) -> Option<Given> {
    fn first<V: PartialEq>(old: &BTreeMap<String, V>, new: &BTreeMap<String, V>) -> Option<String> {
        let differs = |key: &&String| old.get(*key) != new.get(*key);
        old.keys().chain(new.keys()).filter(differs).min().cloned()
    }
    let param = request.params.and_then(|params| first(&past.params, params)).map(Given::Param);
    param.or_else(|| first(&past.context, &request.definition.context).map(Given::Context))
}

/// Whether a person may name this address: it is in the workflow, or inside a node of it.
fn known(definition: &Definition, past: Option<&Past>, name: &str) -> Result<(), PlanError> {
    let root = name.split('/').next().unwrap_or(name);
    let in_workflow = definition.graph.find(root).is_some();
    let inside = || past.is_some_and(|past| past.find(name).is_some());
    if in_workflow && (root == name || inside()) {
        return Ok(());
    }
    let children = past.and_then(|past| past.find(root)).into_iter().flat_map(|node| node.inside.children.keys());
    let addresses: Vec<String> = children.filter(|_| in_workflow).map(|key| format!("{root}/{key}")).collect();
    let ids = definition.graph.nodes().map(|node| definition.graph.id(node).as_str());
    let nearest = nearest(name, addresses.iter().map(String::as_str).chain(ids)).map(str::to_owned);
    Err(PlanError::UnknownNode { name: name.to_owned(), nearest })
}

fn fill(plan: &mut Plan, listed: Vec<Listed<'_>>) {
    for Listed { address, reason, past } in listed {
        let cost = past.and_then(|past| past.cost);
        let mut expected = None;
        if reason.action() == Action::Execute {
            plan.nodes_to_execute.push(address.clone());
            expected = cost.map(|cost| cost.usage);
        } else if past.is_some_and(|past| keeps_result(past, &reason)) {
            plan.completed_results.push(address.clone());
            plan.saved.count(cost.unwrap_or_default());
        }
        plan.nodes.push(PlannedNode { id: address, reason, expected });
    }
}

/// Whether a node goes into the new run with its result.
pub(super) const fn keeps_result(past: &PastNode, reason: &Reason) -> bool {
    matches!(reason, Reason::Kept | Reason::Proven { .. }) && past.result.is_some()
}
