//! Takes growth and phases into the state: graphs that appear inside nodes, go on by themselves, and are left
//! (`R-GROW-1`, `R-GROW-2`, `R-PHASE-1`).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::class::Known;
use super::failure::NodeError;
use super::fold::{CorruptDetail, Run, count, records};
use super::ids::Timestamp;
use super::input::Stage;
use super::level::{Level, Origin, narrowed};
use super::parts::{Expansion, Growth, Usage};
use super::schedule::Limit;
use super::state::NodeState;
use crate::definition::{Definition, Inside};
use crate::file::{Json, Policy, TextOr};
use crate::graph::NodeIndex;
use crate::hash::Digest;
use crate::limits::Limits;
use crate::load::{Soil, grown};

impl Run {
    /// The graph that a node becomes. Generated graphs are compiled from what the node's work produced.
    pub(super) fn body_of(&self, node: NodeIndex, of: &Growth) -> Result<(Arc<Definition>, Origin), NodeError> {
        let origin = match of {
            Growth::Items(items) => Origin::Items(Arc::clone(items)),
            Growth::Params(params) => Origin::Graph { round: 0, params: params.clone() },
            Growth::Body(_) => Origin::Grown(self.nodes[node.at()].rare().output.clone().unwrap_or_default()),
        };
        Ok((self.body_from(node, &origin)?, origin))
    }

    /// The graph of a node's children, made again from what it was made of.
    pub(super) fn body_from(&self, node: NodeIndex, origin: &Origin) -> Result<Arc<Definition>, NodeError> {
        let level = self.level(node);
        let missing = |what: &str| NodeError::new(Known::MISSING_DEPENDENCY, what.to_owned());
        match origin {
            Origin::Workflow => Err(missing("the workflow is inside no node")),
            Origin::Items(items) => {
                let copies = level.body.copies(level.local(node), count(items.len()));
                copies.map(Arc::new).ok_or_else(|| missing("there is no node to copy"))
            }
            Origin::Graph { .. } => self.graph_inside(node).ok_or_else(|| missing("its sub-workflow is not there")),
            Origin::Grown(produced) => {
                let known = |file: &str| self.file(self.level_at(node), file).is_some();
                let soil = Soil {
                    id: &level.body.id,
                    params: &level.body.params,
                    secrets: &level.body.secrets,
                    files: &known,
                };
                // How many there may be is decided when they grow; what was accepted once stays accepted.
                let mut body = grown(produced, &soil, &Limits::none())?;
                let named = body.sub_workflow_files().into_iter().map(str::to_owned);
                let files: BTreeMap<_, _> =
                    named.filter_map(|name| Some((name.clone(), self.file(self.level_at(node), &name)?))).collect();
                if !files.is_empty() {
                    body.link(files);
                }
                Ok(Arc::new(body))
            }
        }
    }

    /// The graph written inside a `workflow` or `loop` node, or in the file it names.
    pub(super) fn graph_inside(&self, node: NodeIndex) -> Option<Arc<Definition>> {
        let compiled = self.compiled(node);
        if let Inside::Graph(body) = &compiled.inside {
            return Some(Arc::clone(body));
        }
        let looped = compiled.spec.repeat.as_ref().map(|repeat| &repeat.workflow);
        match compiled.spec.workflow.as_ref().or(looped)? {
            TextOr::Text(file) => self.file(self.level_at(node), file),
            TextOr::Long(_) => None,
        }
    }

    /// A sub-workflow file as the nearest graph around that comes from a file names it.
    fn file(&self, level: usize, name: &str) -> Option<Arc<Definition>> {
        self.chain(level).find_map(|at| self.levels[at].body.files.get(name).map(Arc::clone))
    }

    /// Makes room for the children of a node. Refused before anything changes.
    pub(super) fn expand(&mut self, at: Timestamp, expansion: &Expansion) -> Result<(), CorruptDetail> {
        let node = expansion.node;
        let refused = |what| Err(CorruptDetail::Other(what));
        let Ok((body, mut origin)) = self.body_of(node, &expansion.of) else {
            return refused("grows into what cannot run");
        };
        if count(body.graph.len()) != expansion.children {
            return refused("grows into another number of nodes");
        }
        if let (Growth::Body(digest), Origin::Grown(produced)) = (&expansion.of, &origin)
            && body_digest(produced) != *digest
        {
            return refused("grows into something else than was produced");
        }
        self.at = at;
        if let Origin::Graph { round, .. } = &mut origin {
            *round = expansion.round;
        }
        self.leave_children(node);
        self.release_slot(node);
        self.drop_demand(node);
        self.at_own_stage.remove(&node);
        let record = &mut self.nodes[node.at()];
        record.stage = Stage::Children;
        record.forget(|rare| rare.output = None);

        let at = self.attach(node, body, origin);
        let deadline = self.levels[at].policy.deadline.map(|length| self.clock().plus(length));
        self.levels[at].deadline = deadline;
        self.timers.limit(Limit::Graph(count(at)), None, deadline);
        self.offer(self.level_at(node));
        self.begin_kept_children(at, expansion);
        self.open_phase(at);
        self.advance(at);
        Ok(())
    }

    /// Adds the graph of a node's children, in which nothing has happened yet.
    pub(super) fn attach(&mut self, node: NodeIndex, body: Arc<Definition>, origin: Origin) -> usize {
        let around = self.level_at(node);
        let policy = narrowed(&inner_policy(&body, &origin), &self.levels[around].policy);
        let mut level = Level::new(body, policy, origin);
        level.base = count(self.nodes.len());
        level.parent = Some(node);
        level.around = Some(count(around));
        level.depth = self.levels[around].depth + 1;
        level.open_purse(&Usage::default());
        let at = self.levels.len();
        self.nodes.extend(records(&level.body));
        self.levels.push(level);
        self.grown.entry(node).or_default().push(count(at));
        at
    }

    /// The phase that is under way begins: nodes that wait for nothing may be decided, and its time runs.
    pub(super) fn open_phase(&mut self, at: usize) {
        let level = &self.levels[at];
        let phase = level.waves.phase();
        let graph = &level.body.graph;
        let first = graph.nodes().filter(|local| graph.phase(*local) == phase).map(|local| level.global(local));
        let open: Vec<_> = first
            .filter(|node| {
                let record = &self.nodes[node.at()];
                record.open_edges == 0 && record.state == NodeState::Pending
            })
            .collect();
        self.undecided.extend(open);
        let timeout = self.levels[at].body.phases.get(usize::from(phase)).and_then(|phase| phase.timeout);
        let deadline = timeout.map(|timeout| self.clock().plus(timeout));
        let before = std::mem::replace(&mut self.levels[at].phase_deadline, deadline);
        self.timers.limit(Limit::Phase(count(at)), before, deadline);
    }

    /// Since when a limit counts that is set now. While only a person could move the run all limits stand still, and move
    /// together by all of that time when it is over; so this one begins when it began (`R-TIME-1`).
    fn clock(&self) -> Timestamp {
        self.people_only_since.unwrap_or(self.at)
    }

    /// A graph inside a node goes on by itself: only those of the workflow itself are announced (`R-GROW-2`).
    pub(super) fn advance(&mut self, at: usize) {
        loop {
            while let Some((phase, wave)) = self.levels[at].waves.completed() {
                self.levels[at].waves.announce(phase, wave);
            }
            let level = &self.levels[at];
            let last = usize::from(level.waves.phase()) + 1 >= level.body.phases.len();
            let may = level.unhandled.is_empty() || level.fails_open();
            if last || !level.waves.phase_done() || level.stop.is_some() || !may {
                break;
            }
            self.levels[at].waves.next_phase();
            self.open_phase(at);
        }
        let level = &self.levels[at];
        if level.unsettled == 0 && !level.closed {
            self.over.insert(count(at));
        } else if level.stop.is_none() && level.has_cause_to_stop() {
            self.alarmed.insert(count(at));
        }
        self.offer(at);
    }

    /// A node needs nothing of its children any more: it has their results, or does without them.
    pub(super) fn leave_children(&mut self, node: NodeIndex) {
        let Some(at) = self.inside(node).filter(|at| !self.levels[*at].closed) else { return };
        let level = &mut self.levels[at];
        level.closed = true;
        let deadline = level.deadline.take();
        let phase_deadline = level.phase_deadline.take();
        self.timers.limit(Limit::Graph(count(at)), deadline, None);
        self.timers.limit(Limit::Phase(count(at)), phase_deadline, None);
        self.over.remove(&count(at));
        self.alarmed.remove(&count(at));
        for child in self.levels[at].nodes() {
            self.nodes[child.at()].forget(|rare| rare.output = None);
        }
    }

    /// What a node's children made: a list of what each copy gave, or what the nodes without outgoing edges gave, by id.
    pub(super) fn gathered(&self, at: usize) -> Value {
        self.gathered_from(at, |node| self.output(node).cloned().unwrap_or_default())
    }

    /// The same, where somebody else knows the outputs.
    pub(in crate::run) fn gathered_from(&self, at: usize, output: impl Fn(NodeIndex) -> Value) -> Value {
        let level = &self.levels[at];
        if matches!(level.origin, Origin::Items(_)) {
            return Value::Array(level.nodes().map(output).collect());
        }
        let graph = &level.body.graph;
        let last = graph.nodes().filter(|local| graph.edges_from(*local).next().is_none());
        let named = last.map(|local| (graph.id(local).to_string(), output(level.global(local))));
        Value::Object(named.collect::<Map<_, _>>())
    }

    /// The children of a node are done.
    pub(super) fn gather(&mut self, node: NodeIndex) {
        let Some(at) = self.inside(node) else { return };
        let output = Arc::new(self.gathered(at));
        if self.levels[at].tainted || !self.levels[at].unhandled.is_empty() {
            self.taint(node);
        }
        self.levels[at].gathered = true;
        self.end_patience(node);
        self.leave_children(node);
        self.nodes[node.at()].rare_mut().output = Some(output);
        let next = self.stage_after(node, Stage::Children);
        self.enter(node, next);
    }

    /// Whether a node that grows is no longer waited for.
    pub(super) fn is_out_of_time(&self, node: NodeIndex, error: &NodeError) -> bool {
        self.compiled(node).kind.grows() && error.code == Known::TIMEOUT
    }

    /// A node goes on without what its children made.
    pub(super) fn forsake_children(&mut self, node: NodeIndex) {
        if let Some(at) = self.inside(node) {
            self.levels[at].gathered = false;
        }
    }

    /// Whether a node that fails now does so because a child did, which was counted then (`R-EDGE-6`).
    pub(super) fn fails_with_its_child(&self, node: NodeIndex) -> bool {
        let inside = self.inside(node).filter(|_| self.nodes[node.at()].stage == Stage::Children);
        inside.is_some_and(|at| !self.levels[at].unhandled.is_empty())
    }

    /// The patches that a node's children made of the context around it, in their order.
    pub(super) fn patches_inside(&self, node: NodeIndex) -> Vec<Arc<Value>> {
        let inside = self.inside(node).map(|at| &self.levels[at]);
        let inside = inside.filter(|level| level.gathered && level.origin.shares_context());
        inside.into_iter().flat_map(|level| level.context.patches().cloned()).collect()
    }
}

/// What tells one generated graph from another.
pub(super) fn body_digest(body: &Value) -> Digest {
    Digest::of(Json(body.clone()).canonical().as_bytes())
}

/// The policy that a graph brings along. What a `map` says about its copies is no policy.
fn inner_policy(body: &Definition, origin: &Origin) -> Policy {
    match origin {
        Origin::Items(_) => Policy::default(),
        Origin::Workflow | Origin::Graph { .. } | Origin::Grown(_) => body.policy.clone(),
    }
}
