//! What a run left, read from its state and its journal alone (`R-RES-7`).
//!
//! Outputs may have left memory, so results, costs and times come from the entries; what the run itself had begun with
//! comes from its creation. One pass over the entries, one over the nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::make::is_keyed;
use super::past::{Inside, Past, PastNode};
use super::told::{Cell, Told};
use crate::definition::Kind;
use crate::file::Semantics;
use crate::graph::NodeIndex;
use crate::hash::Digest;
use crate::run::{
    Asking, CancelCause, Carried, Entry, Kept, KeptEnd, KeptGrowth, KeptPlace, KeptResult, Known, NodeError, NodeState,
    Product, Question, QuestionKind, Run, Timestamp,
};

impl Past {
    /// What a run left so far. None before it is created.
    pub fn of<'entry>(run: &Run, entries: impl IntoIterator<Item = (Timestamp, &'entry Entry)>) -> Option<Self> {
        let created = run.created()?;
        let mut told = Told::new(run.all_nodes().len());
        told.raised = created.raised.unwrap_or_default();
        let open = run.questions().filter(|asked| asked.closed.is_none()).map(|asked| &*asked.question);
        let questions = open.filter_map(|question| Some((question.node?, question))).collect();
        let reading = Reading { run, carried: created.carried.as_deref(), questions };
        reading.begin(&mut told);
        for (at, entry) in entries {
            told.take(at, entry);
        }
        reading.gather(&mut told);
        let definition = run.definition();
        let nodes = run.top_nodes().map(|node| {
            let id = run.address(node);
            let past = reading.node(node, &id, &mut told);
            (id, past)
        });
        let nodes = nodes.collect();
        // Attempts under way are cut off by whatever goes on from here, and count as they were expected to (`R-REC-6`).
        let mut usage = run.lineage_spent();
        usage.add(&run.reserved());
        Some(Self {
            retry_count: created.retry_count,
            ending: run.ended().map(|ending| ending.status),
            phase: run.phase_name().map(str::to_owned),
            params: created.params.clone(),
            context: definition.context.clone(),
            usage,
            raised: told.raised,
            strict: created.strict,
            nodes,
            retired: reading.retired(&told),
            ..Self::empty(created.run, created.first_run, created.graph_hash)
        })
    }
}

struct Reading<'run> {
    run: &'run Run,
    carried: Option<&'run Carried>,
    /// The open questions.
    questions: BTreeMap<NodeIndex, &'run Question>,
}

impl Reading<'_> {
    /// What the run begins with stands in no later entry.
    fn begin(&self, told: &mut Told) {
        let Some(carried) = self.carried else { return };
        for node in self.run.all_nodes() {
            let address = self.run.address(node);
            let hash = self.run.compiled(node).hash;
            let cell = told.cell(node);
            if let Some(kept) = carried.nodes.get(&address).filter(|kept| kept.hash == hash) {
                let result = match &kept.end {
                    KeptEnd::Completed(result) if self.run.is_kept(node) => Some(result),
                    KeptEnd::AwaitingApproval { result, .. } => result.as_ref(),
                    _ => None,
                };
                if let Some(KeptResult { product, patches, taint, .. }) = result {
                    cell.product = Some(product.clone());
                    cell.patches.clone_from(patches);
                    cell.taint.clone_from(taint);
                }
                cell.cost = kept.cost;
            }
            if let Some(grown) = carried.grown.get(&address).filter(|grown| grown.hash == hash) {
                cell.body.clone_from(&grown.body);
                cell.made_of = grown.made_of;
            }
        }
    }

    /// The outputs of nodes that grew, from the inside out: graphs inside have higher numbers.
    fn gather(&self, told: &mut Told) {
        for node in self.run.grown_nodes().rev() {
            if !told.cells[node.at()].gathered {
                continue;
            }
            let output = |child: NodeIndex| match self.run.stand_in(child) {
                Some(value) => value.clone(),
                None => told.cells[child.at()].product.as_ref().map(|of| Value::clone(&of.output)).unwrap_or_default(),
            };
            let made = self.run.gathered_inside(node, output).unwrap_or_default();
            let cell = told.cell(node);
            let before = cell.body.as_ref().map(|body| Product { usage: None, ..body.clone() });
            cell.product = Some(Product { output: Arc::new(made), ..before.unwrap_or_default() });
            cell.patches = self.run.patches_of_children(node);
        }
    }

    /// A node and everything inside it.
    fn node(&self, node: NodeIndex, address: &str, told: &mut Told) -> PastNode {
        let run = self.run;
        let compiled = run.compiled(node);
        let cell = std::mem::take(told.cell(node));
        told.cell(node).read = true;
        let (state, settled) = (run.state(node), run.is_settled(node));
        let mut past = PastNode::new(compiled.kind, compiled.hash, state);
        past.settled = settled;
        past.keyed = is_keyed(&compiled.spec);
        past.skip =
            run.skipped(node).map(|(reason, cause)| (reason, cause.map(|cause| run.local_id(cause).to_owned())));
        past.cancelled = run.cancelled(node);
        past.error = run.error(node);
        past.attempts = run.attempt(node);
        past.unmet = run.unmet(node);
        past.cost = cell.cost;
        past.generation = self.generation(address);
        if let Some(carried) = self.carried {
            past.task_hash = carried.nodes.get(address).filter(|_| run.is_kept(node)).and_then(|kept| kept.task_hash);
        }
        let result = KeptResult {
            product: cell.product.clone().unwrap_or_default(),
            patches: cell.patches.clone(),
            taint: cell.taint.clone(),
            tainted: run.is_tainted(node),
            confidence: run.confidence(node).filter(|confidence| !confidence.is_clean()),
        };
        let has_work = compiled.kind != Kind::Approve;
        match state {
            NodeState::Completed | NodeState::Approved => past.result = Some(result),
            NodeState::AwaitingApproval => {
                past.asks = self.asks(node);
                past.result = (has_work && (past.asks.is_none() || cell.product.is_some())).then_some(result);
            }
            _ => {
                past.asks = self.unknown(node, &cell).then(|| Box::new(outcome_unknown(address, past.error.clone())));
                self.waits_still(node, address, &mut past);
            }
        }
        past.inside = Inside { body: cell.body, made_of: cell.made_of, ..Inside::default() };
        past.inside.spent = run.spent_inside(node);
        if run.has_grown(node) && past.inside.made_of.is_some() {
            for (key, child, needs) in run.children_by_key(node) {
                let mut inner = self.node(child, &format!("{address}/{key}"), told);
                inner.needs = needs;
                past.inside.children.insert(key, inner);
            }
        } else if !run.has_grown(node) {
            self.carried_inside(address, &mut past);
        }
        past
    }

    /// The generations of addresses that come again as something new: those of earlier runs, and of nodes that completed
    /// inside an attempt which another one followed (`R-CLAIM-6`).
    fn retired(&self, told: &Told) -> BTreeMap<String, u32> {
        let mut retired = self.carried.map(|carried| carried.generations.clone()).unwrap_or_default();
        let left = self.run.all_nodes().filter(|node| !told.cells[node.at()].read);
        for node in left.filter(|node| self.run.state(*node) == NodeState::Completed) {
            let address = self.run.address(node);
            let next = self.generation(&address).saturating_add(1);
            let known = retired.entry(address).or_default();
            *known = next.max(*known);
        }
        retired
    }

    /// A node that was waiting for a person in an earlier run, and has not come to it again, still waits.
    fn waits_still(&self, node: NodeIndex, address: &str, past: &mut PastNode) {
        if past.attempts > 0 || self.run.is_kept(node) {
            return;
        }
        let kept = self.carried.and_then(|carried| carried.nodes.get(address)).filter(|kept| kept.hash == past.hash);
        if let Some(Kept { end: KeptEnd::AwaitingApproval { result, asks }, .. }) = kept
            && (!past.settled || past.was_stopped() || past.state == NodeState::Cancelled)
        {
            (past.state, past.settled) = (NodeState::AwaitingApproval, false);
            (past.skip, past.cancelled) = (None, None);
            past.result.clone_from(result);
            past.asks.clone_from(asks);
        }
    }

    /// What a node that has not grown in this run had grown into before.
    fn carried_inside(&self, address: &str, past: &mut PastNode) {
        let Some(carried) = self.carried else { return };
        let Some(growth) = carried.grown.get(address).filter(|grown| grown.hash == past.hash) else { return };
        past.inside.spent.clone_from(&growth.spent);
        let before = format!("{address}/");
        let nodes = carried.nodes.range(before.clone()..).map(|(key, _)| key);
        let grown = carried.grown.range(before.clone()..).map(|(key, _)| key);
        let nodes = nodes.take_while(|key| key.starts_with(&before));
        let inside: BTreeSet<&String> = nodes.chain(grown.take_while(|key| key.starts_with(&before))).collect();
        // What a node is inside of is sorted before it.
        for whole in inside {
            let (kept, growth) = (carried.nodes.get(whole), carried.grown.get(whole));
            let Some(mut child) = kept.and_then(kept_node).or_else(|| growth.and_then(still_to_come)) else { continue };
            child.generation = self.generation(whole);
            if let Some(growth) = growth {
                child.inside.body.clone_from(&growth.body);
                child.inside.made_of = growth.made_of;
                child.inside.spent.clone_from(&growth.spent);
            }
            place(past, &whole[before.len()..], child);
        }
    }

    /// What a node asks a person, other than whether its result may pass.
    fn asks(&self, node: NodeIndex) -> Option<Box<Asking>> {
        let question = self.questions.get(&node).filter(|question| question.kind != QuestionKind::Gate)?;
        let (kind, shown, error) = (question.kind, question.shown.clone(), question.error.clone());
        Some(Box::new(Asking { kind, shown, error }))
    }

    /// Whether nobody knows if the work of a node happened, which may happen at most once (`R-CLAIM-5`).
    fn unknown(&self, node: NodeIndex, cell: &Cell) -> bool {
        let at_most_once = self.run.compiled(node).spec.semantics == Some(Semantics::AtMostOnce);
        let decided = self.run.cancelled(node).is_some_and(|cause| cause != CancelCause::Stopped);
        at_most_once && cell.open && !decided
    }

    fn generation(&self, address: &str) -> u32 {
        self.carried.and_then(|carried| carried.generations.get(address)).copied().unwrap_or(0)
    }
}

/// Puts a node where it stands below another one; what is inside a node that is gone is gone with it.
fn place(around: &mut PastNode, address: &str, node: PastNode) {
    // The rounds of a loop are a part of the names in them.
    let words = if around.kind == Kind::Loop { 2 } else { 1 };
    match address.match_indices('/').nth(words - 1) {
        None => drop(around.inside.children.insert(address.to_owned(), node)),
        Some((at, _)) => {
            if let Some(child) = around.inside.children.get_mut(&address[..at]) {
                place(child, &address[at + 1..], node);
            }
        }
    }
}

/// A node inside another as the creation of a run keeps it.
fn kept_node(kept: &Kept) -> Option<PastNode> {
    let place = kept.place.as_ref()?;
    let state = match &kept.end {
        KeptEnd::Completed(_) => NodeState::Completed,
        KeptEnd::Failed(_) => NodeState::Failed,
        KeptEnd::Skipped(..) => NodeState::Skipped,
        KeptEnd::Cancelled(_) => NodeState::Cancelled,
        KeptEnd::AwaitingApproval { .. } => NodeState::AwaitingApproval,
    };
    let mut node = stands_at(place, kept.hash, state);
    node.task_hash = kept.task_hash;
    node.cost = kept.cost;
    node.attempts = kept.attempts;
    node.unmet.clone_from(&kept.unmet);
    match &kept.end {
        KeptEnd::Completed(result) => node.result = Some(result.clone()),
        KeptEnd::Failed(error) => node.error.clone_from(error),
        KeptEnd::Skipped(reason, cause) => node.skip = Some((*reason, cause.clone())),
        KeptEnd::Cancelled(cause) => node.cancelled = Some(*cause),
        KeptEnd::AwaitingApproval { result, asks } => {
            node.result.clone_from(result);
            node.asks.clone_from(asks);
        }
    }
    Some(node)
}

/// A node inside another that runs again, with something of use inside it.
fn still_to_come(growth: &KeptGrowth) -> Option<PastNode> {
    growth.place.as_ref().map(|place| stands_at(place, growth.hash, NodeState::Pending))
}

fn stands_at(place: &KeptPlace, hash: Digest, state: NodeState) -> PastNode {
    let mut node = PastNode::new(place.kind, hash, state);
    node.needs.clone_from(&place.needs);
    node.keyed = place.keyed;
    node
}

/// What a person is asked about work of which nobody knows whether it happened.
fn outcome_unknown(address: &str, error: Option<NodeError>) -> Asking {
    let error = error.unwrap_or_else(|| NodeError::new(Known::INTERRUPTED, "the run that it was in is over"));
    let shown = format!("`{address}` may or may not have happened: {} ({})", error.message, error.code);
    Asking { kind: QuestionKind::UnknownOutcome, shown, error: Some(error) }
}
