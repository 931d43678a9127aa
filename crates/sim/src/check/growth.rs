//! What grows: into what, how often, and what becomes of a node when its children are done (`R-GROW-1`, `R-GROW-2`).

use serde_json::Value;
use sprag_core::definition::Kind;
use sprag_core::file::Json;
use sprag_core::graph::NodeIndex;
use sprag_core::hash::Digest;
use sprag_core::run::{
    CancelCause, Entry, Expansion, Growth, GrowthLimits, NodeError, NodeState, SkipReason, StopCause, Taint,
};

use super::case::Case;
use super::ending::{blamed, first};
use super::history::{Line, Verdicts};
use super::outputs::Outputs;
use super::track::{Track, moved};

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    let mut outputs = Outputs::new(history);
    let mut limits = GrowthLimits::default();
    for line in &history.lines {
        let mut reading = Reading { history, track: &track, outputs: &outputs, line, verdicts };
        match line.entry {
            Entry::Created(created) => limits = created.growth,
            Entry::Expanded(expansion) => reading.expands(expansion, limits),
            Entry::Gathered { node, .. } => reading.gathers(*node),
            entry => {
                if let Some((node, to)) = moved(entry) {
                    reading.child_moves(node);
                    reading.parent_moves(node, to);
                }
            }
        }
        outputs.read(history, &track, line);
        track.read(history, line);
    }
}

/// One entry, and what was known before it.
struct Reading<'case, 'run> {
    history: &'case Case<'run>,
    track: &'case Track,
    outputs: &'case Outputs,
    line: &'case Line<'run>,
    verdicts: &'case mut Verdicts,
}

impl Reading<'_, '_> {
    fn wrong(&mut self, rule: &'static str, node: NodeIndex, what: &str) {
        self.verdicts.add(rule, self.line.seq, format!("`{}` {what}", self.history.name(node)));
    }

    fn expands(&mut self, expansion: &Expansion, limits: GrowthLimits) {
        let (history, track, node) = (self.history, self.track, expansion.node);
        let compiled = history.compiled(node);
        let fits = matches!(
            (compiled.kind, &expansion.of),
            (Kind::Map, Growth::Items(_))
                | (Kind::Workflow | Kind::Loop, Growth::Params(_))
                | (Kind::Generate, Growth::Body(_))
        );
        let fits = fits || (compiled.spec.recovery.is_some() && matches!(expansion.of, Growth::Body(_)));
        if !fits {
            self.wrong("R-GROW-1", node, "grows into what it is not");
        }
        if track.stopped(history, node).is_some() {
            self.wrong("R-EDGE-5", node, "grows in a graph that stops");
        }
        let grown = track.known(history) + expansion.children as usize;
        if grown > limits.nodes as usize || history.level(node).depth >= limits.depth {
            self.wrong("R-GROW-1", node, "grows further than it may");
        }
        let before = track.of(node).inside;
        let round = match &compiled.spec.repeat {
            Some(_) => before.map_or(0, |level| history.levels[level].round) + 1,
            None => 0,
        };
        let most = compiled.spec.repeat.as_ref().map_or(0, |repeat| repeat.max);
        if expansion.round != round || round > most || (before.is_some() && round < 2) {
            self.wrong("R-GROW-1", node, &format!("grows for the {}. time, not the {round}.", expansion.round));
        }
        if let Some(before) = before {
            self.is_done(node, before);
            if self.until(node, before) == Some(true) {
                self.wrong("R-GROW-1", node, "goes on after its `until` held");
            }
        }
        match &expansion.of {
            Growth::Items(items) => {
                let over = compiled.spec.map.as_ref().map_or("", |map| map.over.0.as_str());
                let list = self.outputs.value(history, track, (node, None), over);
                if list.is_some_and(|list| list != Value::Array((**items).clone())) {
                    self.wrong("R-GROW-1", node, &format!("is not over {items:?}"));
                }
            }
            Growth::Body(digest) => {
                let body = self.outputs.of(history, track, node);
                if *digest != Digest::of(Json(body).canonical().as_bytes()) {
                    self.wrong("R-GROW-1", node, "grows into another graph than its work made");
                }
            }
            Growth::Params(_) => {}
        }
    }

    /// Whether the `until` of a loop holds after an iteration, where that can be told.
    fn until(&self, node: NodeIndex, level: usize) -> Option<bool> {
        let repeat = self.history.compiled(node).spec.repeat.as_ref()?;
        let output = self.outputs.gathered(self.history, self.track, level);
        self.outputs.value(self.history, self.track, (node, Some(&output)), &repeat.until.0)?.as_bool()
    }

    /// A node goes on with what its children made only if all of them are settled and none failed for nobody.
    fn is_done(&mut self, node: NodeIndex, level: usize) {
        let (history, track) = (self.history, self.track);
        if let Some(open) = history.levels[level].nodes().find(|child| !track.of(*child).settled) {
            self.wrong("R-GROW-2", node, &format!("goes on before `{}` is settled", history.name(open)));
        }
        if track.stops[level].is_some() {
            self.wrong("R-GROW-2", node, "goes on although its children were stopped");
        }
        if !history.levels[level].rules.fail_open && !track.unhandled(history, level).is_empty() {
            self.wrong("R-GROW-2", node, "goes on although a child failed");
        }
        if track.stopped(history, node).is_some() && self.is_cut(level) {
            self.wrong("R-GROW-2", node, "goes on although a stop kept its children from running");
        }
    }

    /// Whether a stop kept some nodes of a graph from running to their end.
    fn is_cut(&self, level: usize) -> bool {
        self.history.levels[level].nodes().any(|child| {
            let known = self.track.of(child);
            known.cancelled == Some(CancelCause::Stopped) || known.skipped == Some(SkipReason::RunStopped)
        })
    }

    fn gathers(&mut self, node: NodeIndex) {
        let Some(level) = self.track.of(node).inside.filter(|_| self.track.waits_for_children(node)) else {
            return self.wrong("R-GROW-1", node, "has no children to take anything from");
        };
        self.is_done(node, level);
        if self.until(node, level) == Some(false) {
            self.wrong("R-GROW-1", node, "ends before its `until` holds");
        }
    }

    /// Children live only while their parent waits for them.
    fn child_moves(&mut self, node: NodeIndex) {
        let level = self.history.level_of(node);
        let Some(parent) = self.history.levels[level].parent else { return };
        if self.track.of(parent).inside != Some(level) || !self.track.waits_for_children(parent) {
            self.wrong("R-GROW-2", node, "moves, and the node around it does not wait for it");
        }
    }

    fn parent_moves(&mut self, node: NodeIndex, to: NodeState) {
        let (history, track) = (self.history, self.track);
        let known = track.of(node);
        let grows = history.compiled(node).kind.grows() || known.splits && known.inside.is_some();
        if known.inside.is_none() && !grows {
            return;
        }
        let left = matches!(to, NodeState::Completed | NodeState::Failed | NodeState::Cancelled | NodeState::Skipped);
        let mut inside = (0..track.opened).filter(|level| history.levels[*level].parent == Some(node));
        let open = |level: usize| history.levels[level].nodes().any(|child| !track.of(child).settled);
        if left && inside.any(open) {
            self.wrong("R-GROW-2", node, "ends before its children");
        }
        let entry = self.line.entry;
        match entry {
            Entry::Completed { taint, .. } => match taint.as_deref() {
                Some(Taint::Fallback(error)) if track.waits_for_children(node) => self.fails(node, error),
                None if grows && !known.gathered => self.wrong("R-GROW-1", node, "completes without its children"),
                Some(_) | None => {}
            },
            Entry::Failed { error, due, .. } if track.waits_for_children(node) => {
                if due.is_some() && !known.splits {
                    self.wrong("R-GROW-2", node, "is to grow once more");
                }
                self.fails(node, error);
            }
            Entry::Failed { due: Some(_), error, .. }
                if grows && !known.splits && error.code.as_str() != "INTERRUPTED" =>
            {
                self.wrong("R-GROW-2", node, "is to be tried once more");
            }
            Entry::Cancelled { cause: CancelCause::Stopped, .. } if track.waits_for_children(node) => {
                let endless = history.compiled(node).kind == Kind::Loop;
                let cut = known.inside.is_some_and(|level| self.is_cut(level));
                if track.stopped(history, node) == Some(0) && !cut && !endless {
                    self.wrong("R-EDGE-5", node, "is cancelled although all its children ran");
                }
            }
            _ => {}
        }
    }

    /// A node that fails because of its children fails with the error of the first of them.
    fn fails(&mut self, node: NodeIndex, error: &NodeError) {
        let (history, track) = (self.history, self.track);
        let Some(level) = track.of(node).inside else { return };
        let code = error.code.as_str();
        if track.stopped(history, node) >= Some(1) {
            if !["TIMEOUT", "DEADLINE_EXCEEDED"].contains(&code) {
                self.wrong("R-EDGE-5", node, &format!("ends with {code}, and not for want of time"));
            }
            return;
        }
        let stop = track.stops[level].as_ref();
        let child = match stop {
            Some(StopCause::Timeout | StopCause::PhaseTimeout { .. }) => Err("TIMEOUT"),
            Some(StopCause::Deadline) => Err("DEADLINE_EXCEEDED"),
            Some(cause) => Ok(blamed(history, track, level, cause)),
            None if history.levels[level].rules.fail_open => Ok(None),
            None => Ok(first(history, track.unhandled(history, level).into_iter())),
        };
        match child {
            Err(expected) if code == expected => {}
            Ok(Some(child)) if self.has_error_of(child, error) => {}
            Ok(None) if stop.is_none() && self.ends_loop(node, level, code) => {}
            Ok(child) => {
                let child = child.map(|child| history.name(child).to_owned());
                self.wrong("R-GROW-2", node, &format!("fails with {code}, which is not that of {child:?}"));
            }
            Err(expected) => self.wrong("R-EDGE-5", node, &format!("fails with {code}, not {expected}")),
        }
    }

    fn has_error_of(&self, child: NodeIndex, error: &NodeError) -> bool {
        let known = self.track.of(child);
        match known.cancelled {
            Some(CancelCause::Rejected) => error.code.as_str() == "REJECTED",
            Some(CancelCause::TimedOut) => error.code.as_str() == "APPROVAL_TIMEOUT",
            // What was split is not itself interrupted by what happened to a part.
            _ if error.code.as_str() == "UNAVAILABLE" => known.error.as_ref().is_some_and(|own| {
                own == error || (own.code.as_str() == "INTERRUPTED" && own.message == error.message)
            }),
            _ => known.error.as_ref() == Some(error),
        }
    }

    /// Whether a loop may end badly although its last iteration went well.
    fn ends_loop(&self, node: NodeIndex, level: usize, code: &str) -> bool {
        let Some(repeat) = &self.history.compiled(node).spec.repeat else { return false };
        match code {
            // It may have no more iterations, or the run no more nodes.
            "INVALID_OUTPUT" => self.history.levels[level].round <= repeat.max && self.until(node, level) != Some(true),
            "CONDITION_ERROR" => self.until(node, level).is_none(),
            _ => false,
        }
    }
}
