//! Starting ready nodes: as many as there are slots, in their order (`R-SCHED-1` to `R-SCHED-3`).

use super::spending::Payment;
use crate::definition::Kind;
use crate::expr;
use crate::file::Wait;
use crate::graph::NodeIndex;
use crate::run::class::Known;
use crate::run::entry::Entry;
use crate::run::failure::NodeError;
use crate::run::fold::Run;
use crate::run::ids::Timestamp;
use crate::run::parts::Product;
use crate::run::queue::Side;
use crate::run::recovering::Terms;
use crate::run::recovery::Unclean;
use crate::run::scope::Scope;

impl Run {
    /// The node that starts now: those that only wait need no slot and come first. One at a time, because one may take a
    /// signal that another would see, or fill the last place of a graph.
    pub(super) fn starts(&self, now: Timestamp, slots: u32) -> Vec<Entry> {
        if self.root().stop.is_some() || self.held || slots == 0 {
            return Vec::new();
        }
        let limit = self.root().policy.max_parallelism.map_or(slots, |limit| limit.min(slots));
        let working = || self.next_ready(Side::Working).filter(|_| self.root().occupied < limit);
        let next = self.next_ready(Side::Waiting).or_else(working);
        next.map(|node| self.start_node(now, node)).unwrap_or_default()
    }

    /// Whether something could start if only the owner had slots for it.
    pub(super) fn can_start(&self) -> bool {
        let any = || self.next_ready(Side::Waiting).or_else(|| self.next_ready(Side::Working));
        !self.held && self.root().stop.is_none() && any().is_some()
    }

    fn start_node(&self, now: Timestamp, node: NodeIndex) -> Vec<Entry> {
        let record = &self.nodes[node.at()];
        let attempt = record.attempt + 1;
        let started = |due| Entry::Started { node, attempt, due, terms: None };
        let fails = |error| {
            let failed = Entry::Failed { node, attempt, error: Box::new(error), due: None, chosen: None };
            vec![started(None), failed]
        };
        if let Some(doomed) = record.rare().verdict.as_ref().and_then(|verdict| verdict.doomed.as_ref()) {
            return fails((**doomed).clone());
        }
        if let Some(unclean) = self.forbidden_input(node) {
            let message = format!("{unclean}, and the run is strict");
            return fails(NodeError::new(Known::MISSING_DEPENDENCY, message));
        }
        let compiled = self.compiled(node);
        if self.resumed_at(node).is_some() && !compiled.kind.grows() {
            return vec![started(None)];
        }
        if compiled.kind.grows() {
            return vec![started(compiled.spec.timeout.map(|timeout| now.plus(timeout)))];
        }
        let (Kind::Wait, Some(wait)) = (compiled.kind, &compiled.spec.wait) else {
            return self.start_work(node, attempt);
        };
        if let Some(name) = &wait.signal {
            let Some(data) = self.signals.get(name.as_str()).and_then(|kept| kept.front()) else {
                return vec![started(compiled.spec.timeout.map(|timeout| now.plus(timeout)))];
            };
            let product = Product { output: data.clone(), ..Product::default() };
            let taken = Entry::SignalTaken { node, name: name.as_str().into() };
            return vec![started(None), taken, self.produced(node, attempt, &product)];
        }
        match self.moment(now, node, wait) {
            Ok(due) => vec![started(Some(due))],
            Err(message) => fails(NodeError::new(Known::CONDITION_ERROR, message)),
        }
    }

    /// Work starts on its model and with what it is expected to cost set aside, or not at all.
    fn start_work(&self, node: NodeIndex, attempt: u32) -> Vec<Entry> {
        let started = |terms: Terms| {
            let terms = (terms != Terms::default()).then(|| Box::new(terms));
            Entry::Started { node, attempt, due: None, terms }
        };
        let fails = |error| {
            let failed = Entry::Failed { node, attempt, error: Box::new(error), due: None, chosen: None };
            vec![started(Terms::default()), failed]
        };
        let model = match self.model_to_start(node) {
            Ok(model) => model,
            Err(error) => return fails(error),
        };
        match self.pays(node, model.as_deref()) {
            Payment::Free => vec![started(Terms { model, reserved: None })],
            Payment::Reserved(reserved) => vec![started(Terms { model, reserved: Some(reserved) })],
            Payment::Waits(expected) => vec![Entry::Withheld { node, expected }],
            Payment::Refused(error) => fails(error),
        }
    }

    /// The tainted input that keeps a node of a strict run from starting; behind a gate a person sees to it.
    fn forbidden_input(&self, node: NodeIndex) -> Option<Unclean<String>> {
        let strict = self.doubts && self.created.as_ref().is_some_and(|created| created.strict);
        let gated = || {
            let mut around = std::iter::successors(Some(node), |node| self.parent(*node));
            around.any(|node| self.compiled(node).spec.approve.is_some())
        };
        if strict && !gated() { self.unclean_inputs(node) } else { None }
    }

    /// When a wait for time is over. It is decided once, and a crash does not move it (`R-STATE-10`).
    fn moment(&self, now: Timestamp, node: NodeIndex, wait: &Wait) -> Result<Timestamp, String> {
        if let Some(length) = wait.length {
            return Ok(now.plus(length));
        }
        let template = wait.until.as_ref().map_or("", |until| until.0.as_str());
        let text = expr::text(template, &Scope::of_node(self, node)).map_err(|error| format!("`until`: {error}"))?;
        text.trim().parse().map_err(|_| format!("`until` is `{text}`, which is not a moment"))
    }
}
