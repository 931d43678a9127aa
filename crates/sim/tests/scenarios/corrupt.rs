//! The judges can say no: histories that were tampered with, at least one for each promise.

use std::sync::Arc;

use sprag_core::definition::Definition;
use sprag_core::file::{Scheduling, Semantics};
use sprag_core::graph::{EdgeIndex, NodeIndex};
use sprag_core::run::{
    Answer, CancelCause, Choice, Commit, EndStatus, Entry, Fence, NodeError, OwnerId, Product, Seq, SkipReason, Stage,
    StopCause, Verdict,
};
use sprag_engine::Reply;
use sprag_sim::check::{History, check_at_rest, difference, summary};
use sprag_sim::{Execution, Outcome, World};

/// One of everything: a retry, a gate, a failure that is handled, a skip, a join.
const STORY: &str = "
workflow: story
policy: { max_parallelism: 3 }
nodes:
  a: { call: x, retry: { max_attempts: 2, initial_delay: 5ms, max_delay: 5ms } }
  bad: { call: x, needs: [a] }
  build: { call: x, needs: [a], priority: 2 }
  gate: { approve: { message: go?, approvers: [ann] }, needs: [a] }
  last: { call: x, needs: [build, gate] }
  lost: { call: x, needs: [bad] }
  undo: { call: x, needs: [{ node: bad, when: on_failure }] }
";

/// A history that can be changed.
pub struct Tale {
    pub definition: Definition,
    pub commits: Vec<Commit>,
    ledger: Vec<Execution>,
    replies: Vec<Reply>,
    pub slots: u32,
}

impl Tale {
    fn told() -> Self {
        let mut world = World::of(STORY);
        world.scripted("a", [Outcome::fails("NETWORK"), Outcome::output(serde_json::json!({ "n": 1 }))]);
        world.scripted("bad", [Outcome::fails("TOOL_ERROR")]);
        world.will_answer("gate", Choice::Approve);
        world.runs();
        assert_eq!(world.end(), "completed 0");
        Self::of(&world)
    }

    /// What a world has to tell.
    pub fn of(world: &World) -> Self {
        Self {
            definition: world.definition().clone(),
            commits: world.journal().iter().map(|commit| (**commit).clone()).collect(),
            ledger: world.ledger.clone(),
            replies: world.replies.clone(),
            slots: 4,
        }
    }

    pub fn judged<T>(&self, judge: impl FnOnce(&History<'_>) -> T) -> T {
        let commits: Vec<_> = self.commits.iter().cloned().map(Arc::new).collect();
        let (ledger, replies) = (self.ledger.as_slice(), self.replies.as_slice());
        judge(&History { definition: &self.definition, commits: &commits, ledger, replies, slots: self.slots })
    }

    pub fn node(&self, id: &str) -> NodeIndex {
        self.definition.graph.find(id).unwrap()
    }

    pub fn find(&self, wanted: impl Fn(&Entry) -> bool) -> (usize, usize) {
        let mut all = self.commits.iter().enumerate().flat_map(|(number, commit)| {
            commit.entries.iter().enumerate().map(move |(at, entry)| ((number, at), entry))
        });
        all.find(|(_, entry)| wanted(entry)).unwrap().0
    }

    pub fn entry(&mut self, wanted: impl Fn(&Entry) -> bool) -> &mut Entry {
        let (commit, at) = self.find(wanted);
        &mut self.commits[commit].entries[at]
    }

    pub fn remove(&mut self, wanted: impl Fn(&Entry) -> bool) -> Entry {
        let (commit, at) = self.find(wanted);
        let removed = self.commits[commit].entries.remove(at);
        self.renumber();
        removed
    }

    pub fn after(&mut self, wanted: impl Fn(&Entry) -> bool, entry: Entry) {
        let (commit, at) = self.find(wanted);
        self.commits[commit].entries.insert(at + 1, entry);
        self.renumber();
    }

    /// Numbers the entries anew, so that what was changed is all that is wrong.
    pub fn renumber(&mut self) {
        let mut next = 1;
        for commit in &mut self.commits {
            commit.first = Seq(next);
            next += commit.entries.len() as u64;
        }
    }

    fn completed(&self, id: &str) -> impl Fn(&Entry) -> bool + use<> {
        let wanted = self.node(id);
        move |entry| matches!(entry, Entry::Completed { node, .. } if *node == wanted)
    }

    pub fn started(&self, id: &str) -> impl Fn(&Entry) -> bool + use<> {
        let wanted = self.node(id);
        move |entry| matches!(entry, Entry::Started { node, .. } if *node == wanted)
    }

    fn ready(&self, id: &str) -> impl Fn(&Entry) -> bool + use<> {
        let wanted = self.node(id);
        move |entry| matches!(entry, Entry::Ready { node, .. } if *node == wanted)
    }
}

const fn ended(entry: &Entry) -> bool {
    matches!(entry, Entry::Ended(_))
}

const fn skipped(entry: &Entry) -> bool {
    matches!(entry, Entry::Skipped { .. })
}

const fn answered(entry: &Entry) -> bool {
    matches!(entry, Entry::Answered(_))
}

const fn retried(entry: &Entry) -> bool {
    matches!(entry, Entry::Failed { due: Some(_), .. })
}

/// The promise that is broken, a part of the verdict, and how to break it.
type Case = (&'static str, &'static str, fn(&mut Tale));

const JOURNAL: &[Case] = &[
    ("I1", "acknowledged and not in the journal", |tale| {
        // Whatever was acknowledged last is lost.
        tale.commits.pop();
    }),
    ("I1", "verb: Answer", |tale| {
        let command = tale.remove(|entry| matches!(entry, Entry::Command(_)));
        assert!(matches!(command, Entry::Command(_)));
    }),
    ("I2", "follows the end", |tale| tale.after(ended, Entry::Held { on: true })),
    ("I2", "`build` was settled", |tale| {
        let (node, completed) = (tale.node("build"), tale.completed("build"));
        let error = Box::new(NodeError::new(sprag_core::run::Known::INTERNAL, ""));
        tale.after(completed, Entry::Failed { node, attempt: 1, error, due: None, chosen: None });
    }),
    ("I3", "from pending to running", |tale| {
        let ready = tale.ready("build");
        tale.remove(ready);
    }),
    ("I3", "no such node", |tale| {
        let node = NodeIndex(99);
        tale.after(skipped, Entry::Ready { node, verdict: None });
    }),
    ("I3", "is left approved", |tale| {
        let completed = tale.completed("gate");
        tale.remove(completed);
    }),
    ("I5", "follows fence", |tale| {
        let owner = OwnerId::default();
        tale.after(skipped, Entry::Owned { owner, fence: Fence(2), person: false });
    }),
    ("I5", "written under fence 1", |tale| tale.commits[2].fence = Fence(1)),
    ("I15", "where entry", |tale| {
        tale.commits.remove(2);
    }),
    ("I15", "is there twice", |tale| tale.commits[2].id = tale.commits[1].id),
    ("I15", "a creation in the middle", |tale| {
        tale.commits[0].entries.remove(0);
        tale.renumber();
    }),
];

const ATTEMPTS: &[Case] = &[
    ("I4", "while another is active", |tale| {
        let (node, started) = (tale.node("build"), tale.started("build"));
        tale.after(started, Entry::Started { node, attempt: 2, due: None, terms: None });
    }),
    ("I4", "overlap", |tale| {
        let first = tale.ledger.iter_mut().find(|done| done.stage == Stage::Work).unwrap();
        first.ended = None;
    }),
    ("I6", "a second outcome", |tale| {
        let (node, completed) = (tale.node("build"), tale.completed("build"));
        tale.after(completed, Entry::Completed { node, attempt: 1, product: None, taint: None, chosen: None });
    }),
    ("I6", "began twice", |tale| {
        let again = tale.ledger[1].clone();
        tale.ledger.push(again);
    }),
    ("I6", "which was over", |tale| {
        let last = tale.commits.last().unwrap().last();
        tale.ledger[0].durable = last;
    }),
    ("I6", "that never started", |tale| {
        let started = tale.started("build");
        tale.remove(started);
    }),
    ("I8", "starts attempt 3 after 0", |tale| {
        let started = tale.started("build");
        if let Entry::Started { attempt, .. } = tale.entry(started) {
            *attempt = 3;
        }
    }),
    ("I8", "is tried again before", |tale| {
        if let Entry::Failed { due: Some(due), .. } = tale.entry(retried) {
            due.millis += 1;
        }
    }),
    ("I8", "once too often", |tale| {
        if let Entry::Failed { error, .. } = tale.entry(retried) {
            error.code = sprag_core::run::Known::PERMISSION_DENIED.into();
        }
    }),
    ("I8", "waits 4 ms", |tale| {
        if let Entry::Failed { due: Some(due), .. } = tale.entry(retried) {
            due.millis -= 1;
        }
    }),
    ("I8", "without a due time", |tale| {
        if let Entry::Failed { due, .. } = tale.entry(retried) {
            *due = None;
        }
    }),
    ("I8", "an attempt too early", |tale| {
        if let Entry::Failed { due, .. } = tale.entry(retried) {
            *due = None;
        }
    }),
    ("R-CLAIM-5", "nobody was asked", |tale| {
        let node = tale.node("a").at();
        let spec = Arc::make_mut(&mut tale.definition.nodes[node].spec);
        spec.semantics = Some(Semantics::AtMostOnce);
    }),
    ("I12", "before attempt 1 was durable", |tale| tale.ledger[0].durable = Seq(1)),
    ("I12", "has no work to begin", |tale| {
        let (commit, at) = tale.find(tale.started("gate"));
        tale.ledger[0].durable = Seq(tale.commits[commit].first.0 + at as u64);
        tale.ledger[0].node = tale.node("gate");
    }),
];

const EDGES: &[Case] = &[
    ("I12", "its join does not hold", |tale| {
        let node = tale.node("lost");
        *tale.entry(skipped) = Entry::Ready { node, verdict: None };
    }),
    ("I12", "nothing explains why `lost`", |tale| {
        if let Entry::Skipped { reason, .. } = tale.entry(skipped) {
            *reason = SkipReason::DependencySkipped;
        }
    }),
    ("I12", "nothing explains why `lost`", |tale| {
        let other = tale.node("a");
        if let Entry::Skipped { cause, .. } = tale.entry(skipped) {
            *cause = Some(other);
        }
    }),
    ("I12", "nothing explains why `undo`", |tale| {
        let (node, cause, ready) = (tale.node("undo"), Some(tale.node("bad")), tale.ready("undo"));
        *tale.entry(ready) = Entry::Skipped { node, reason: SkipReason::DependencyFailed, cause };
    }),
    ("I12", "blames the condition", |tale| {
        let ready = tale.ready("build");
        if let Entry::Ready { verdict, .. } = tale.entry(ready) {
            *verdict = Some(Box::new(Verdict { unmet: vec![EdgeIndex(0)], doomed: None }));
        }
    }),
    ("I12", "is decided before `bad` is settled", |tale| {
        let ready = tale.ready("undo");
        let entry = tale.remove(ready);
        let started = tale.started("bad");
        tale.after(started, entry);
    }),
    ("I10", "`undo` starts before `bad` is settled", |tale| {
        let started = tale.started("undo");
        let entry = tale.remove(started);
        let started = tale.started("build");
        tale.after(started, entry);
    }),
    ("I10", "is completed twice", |tale| {
        tale.after(|entry| matches!(entry, Entry::WaveCompleted { .. }), Entry::WaveCompleted { phase: 0, wave: 0 });
    }),
    ("I10", "is completed without", |tale| {
        let started = tale.started("build");
        tale.after(started, Entry::WaveCompleted { phase: 0, wave: 1 });
    }),
    ("slots", "all 1 slots are taken", |tale| tale.slots = 1),
    ("slots", "all 1 slots are taken", |tale| tale.definition.policy.max_parallelism = Some(1)),
    ("R-SCHED-3", "`bad` starts before `build`", |tale| {
        let started = tale.started("bad");
        let entry = tale.remove(started);
        let ready = tale.ready("gate");
        tale.after(ready, entry);
    }),
];

const ENDINGS: &[Case] = &[
    ("R-EDGE-5", "the run ends", |tale| {
        if let Entry::Ended(ending) = tale.entry(ended) {
            ending.exit = 1;
        }
    }),
    ("R-EDGE-5", "not Completed 0", |tale| {
        if let Entry::Ended(ending) = tale.entry(ended) {
            ending.status = EndStatus::Failed;
        }
    }),
    ("R-EDGE-5", "degraded: true", |tale| {
        let bad = tale.node("bad").at();
        let spec = Arc::make_mut(&mut tale.definition.nodes[bad].spec);
        spec.continue_on_error = Some(true);
    }),
    ("R-EDGE-5", "not Failed 1", |tale| {
        // Nobody handles the failure any more.
        let (node, cause) = (tale.node("undo"), tale.node("bad"));
        let (ready, started, completed) = (tale.ready("undo"), tale.started("undo"), tale.completed("undo"));
        tale.remove(started);
        tale.remove(completed);
        *tale.entry(ready) = Entry::Skipped { node, reason: SkipReason::DependencyFailed, cause: Some(cause) };
    }),
    ("R-EDGE-5", "ends before `last`", |tale| {
        let completed = tale.completed("last");
        tale.remove(completed);
    }),
    ("R-EDGE-5", "nothing stops the run", |tale| {
        let node = tale.node("bad");
        tale.after(skipped, Entry::Stopping { inside: None, cause: StopCause::FailFast { node } });
    }),
    ("R-EDGE-5", "a rule should have stopped the run", |tale| tale.definition.policy.max_node_failures = Some(1)),
    ("R-EDGE-5", "held or stops", |tale| tale.after(skipped, Entry::Held { on: true })),
    ("R-EDGE-5", "becomes skipped where", |tale| {
        if let Entry::Skipped { reason, .. } = tale.entry(skipped) {
            *reason = SkipReason::RunStopped;
        }
    }),
    ("R-STATE-4", "a retry is given up", |tale| {
        let node = tale.node("a");
        tale.after(retried, Entry::Finalised { node });
    }),
    ("R-SCHED-4", "the run blames", |tale| {
        let node = Some(tale.node("build"));
        let error = NodeError::new(sprag_core::run::Known::INTERNAL, "");
        if let Entry::Ended(ending) = tale.entry(ended) {
            ending.failure = Some(sprag_core::run::EndFailure { node, error });
        }
    }),
    ("L1", "has not ended", |tale| {
        tale.remove(ended);
    }),
    ("L1", "still being executed after the end", |tale| tale.ledger.last_mut().unwrap().ended = None),
    ("L1", "nobody works on it", |tale| {
        let (commit, _) = tale.find(tale.completed("a"));
        tale.commits.truncate(commit);
        tale.replies.clear();
    }),
    ("L1", "is still to come", |tale| {
        let (commit, _) = tale.find(retried);
        tale.commits.truncate(commit + 1);
        tale.replies.clear();
    }),
];

const PEOPLE: &[Case] = &[
    ("I18", "nobody decided about `gate`", |tale| {
        tale.remove(answered);
    }),
    ("I18", "is closed twice", |tale| {
        let again = tale.entry(answered).clone();
        tale.after(answered, again);
    }),
    ("I18", "has no choice Retry", |tale| {
        if let Entry::Answered(answer) = tale.entry(answered) {
            answer.choice = Choice::Retry;
        }
    }),
    ("I18", "was not bob's to answer", |tale| {
        if let Entry::Answered(answer) = tale.entry(answered) {
            answer.by = "bob".into();
        }
    }),
    ("I18", "by no command about what it shows", |tale| {
        if let Entry::Asked(question) = tale.entry(|entry| matches!(entry, Entry::Asked(_))) {
            question.digest = sprag_core::hash::Digest::of(b"something else");
        }
    }),
    ("I18", "leads elsewhere", |tale| {
        let node = tale.node("gate");
        *tale.entry(|entry| matches!(entry, Entry::Approved { .. })) =
            Entry::Cancelled { node, cause: CancelCause::Rejected };
    }),
    ("I18", "closes before its time", |tale| {
        let Entry::Answered(answer) = tale.remove(answered) else { panic!("the gate was answered") };
        let Answer { question, .. } = *answer;
        tale.after(|entry| matches!(entry, Entry::Asked(_)), Entry::Closed { question });
    }),
    ("I18", "was never asked", |tale| {
        tale.remove(|entry| matches!(entry, Entry::Asked(_)));
    }),
];

#[test]
fn every_promise_can_be_seen_broken() {
    let fine = Tale::told();
    assert_eq!(fine.judged(check_at_rest), []);
    let mut missed = Vec::new();
    for (invariant, part, tamper) in [JOURNAL, ATTEMPTS, EDGES, ENDINGS, PEOPLE].into_iter().flatten() {
        let mut tale = Tale::told();
        tamper(&mut tale);
        let verdicts = tale.judged(check_at_rest);
        let caught = verdicts.iter().any(|verdict| verdict.invariant == *invariant && verdict.what.contains(part));
        if !caught {
            missed.push(format!("{invariant} `{part}` is not among {verdicts:?}"));
        }
    }
    assert_eq!(missed, Vec::<String>::new());
}

#[test]
fn a_wave_is_a_barrier_only_where_the_workflow_says_so() {
    // R-SCHED-1, R-SCHED-2
    let text = STORY.replace("max_parallelism: 3", "scheduling: frontier");
    let mut world = World::of(&text);
    world.starts().settles();
    let mut tale = Tale::told();
    tale.commits = world.journal().iter().map(|commit| (**commit).clone()).collect();
    tale.ledger = world.ledger.clone();
    tale.replies = world.replies.clone();
    tale.definition = world.definition().clone();
    assert_eq!(tale.judged(check_at_rest), []);
    world.approves("gate").settles();
    tale.definition.policy.scheduling = Some(Scheduling::Waves);
    tale.commits = world.journal().iter().map(|commit| (**commit).clone()).collect();
    assert!(tale.judged(check_at_rest).iter().any(|verdict| verdict.invariant == "I10"));
}

#[test]
fn two_histories_that_come_to_something_else_differ() {
    // R-SCHED-4
    let fine = Tale::told().judged(summary);
    assert_eq!(difference(&fine, &Tale::told().judged(summary)), None);
    let tampers: [fn(&mut Tale); 4] = [
        |tale| {
            let completed = tale.completed("build");
            if let Entry::Completed { product, .. } = tale.entry(completed) {
                *product = Some(Box::new(Product::of(1.into())));
            }
        },
        |tale| {
            let completed = tale.completed("build");
            if let Entry::Completed { product, .. } = tale.entry(completed) {
                let patch = Some(Arc::new(serde_json::json!({ "x": 1 })));
                *product = Some(Box::new(Product { patch, ..Product::default() }));
            }
        },
        |tale| {
            if let Entry::Skipped { reason, .. } = tale.entry(skipped) {
                *reason = SkipReason::ConditionNotMet;
            }
        },
        |tale| {
            if let Entry::Ended(ending) = tale.entry(ended) {
                ending.degraded = true;
            }
        },
    ];
    for tamper in tampers {
        let mut tale = Tale::told();
        tamper(&mut tale);
        assert!(difference(&fine, &tale.judged(summary)).is_some());
    }
}
