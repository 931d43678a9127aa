//! Checkpoints of real runs: what they hold, when they are made, and how long they are.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use sprag_core::checkpoint::{
    About, Address, Checkpoint, DecisionKind, Marked, Marker, MessageKind, Refused, Saved, StateFold, Trigger, Wanted,
    decode, encode, encode_record, nearest, pick,
};
use sprag_core::definition::{Definition, Kind};
use sprag_core::file::{Duration, Node, NodeId, Policy, When, WorkflowId};
use sprag_core::graph::{Builder, NewEdge, NodeIndex};
use sprag_core::run::{
    Choice, Command, CommandId, Commit, Created, Effect, Entry, Fence, Input, OwnerId, Product, QuestionId,
    QuestionRef, Report, Run, RunId, Seq, Stage, Taking, Timestamp, Unrestorable, Verb,
};

use super::sample::{NOW, Zstd, thousand};
use crate::load::support::valid;

/// A run that is driven by hand, marked at every commit.
pub struct Hand {
    pub run: Run,
    marker: Marker,
    pub commits: Vec<Commit>,
    pub marked: Vec<Marked>,
    now: Timestamp,
    commands: u128,
}

impl Hand {
    pub fn new(definition: Definition) -> Self {
        let definition = Arc::new(definition);
        let marker = Marker::new(&definition, About::default());
        let created = Created::first(RunId::default(), &definition, BTreeMap::new());
        let run = Run::new(definition);
        let mut hand = Self { run, marker, commits: Vec::new(), marked: Vec::new(), now: NOW, commands: 0 };
        let entry = Entry::Created(Box::new(created));
        hand.run.apply(NOW, &entry).unwrap();
        hand.commit(vec![entry]);
        let how = Taking::Automatic;
        hand.input(&Input::Take { owner: OwnerId::default(), how, folded: hand.run.seq() });
        hand
    }

    pub fn of(text: &str) -> Self {
        Self::new(valid(text))
    }

    fn commit(&mut self, entries: Vec<Entry>) {
        let first = Seq(self.run.seq().0 + 1 - entries.len() as u64);
        let commit = Commit::new(RunId::default(), OwnerId::default(), first, self.now, Fence(1), entries);
        let link = commit.last().0.to_be_bytes();
        self.marked.extend(self.marker.commit(&commit, &self.run, &link));
        self.commits.push(commit);
    }

    pub fn input(&mut self, input: &Input) {
        self.now = self.now.plus(Duration::from_millis(3));
        let mut entries = Vec::new();
        self.run.take_in(self.now, 4, input, &mut entries).unwrap();
        self.commit(entries);
    }

    pub fn says(&mut self, why: Option<&str>, verb: Verb) {
        self.commands += 1;
        let id = CommandId(uuid::Uuid::from_u128(self.commands));
        self.input(&Input::Command(Command { id, by: "ann".into(), why: why.map(str::to_owned), verb }));
    }

    fn approves(&mut self, id: u32, choice: Choice) {
        let asked = self.run.questions().find(|asked| asked.question.id == QuestionId(id)).unwrap();
        let digest = asked.question.digest;
        let question = QuestionRef::Id(QuestionId(id));
        self.says(Some("looks good"), Verb::Answer { question, choice, digest, data: None });
    }

    /// Does the next work that is owed; false if nothing is.
    pub fn works(&mut self, product: impl Fn(NodeIndex) -> Product) -> bool {
        let owed = self.run.owed(Seq(0), self.run.seq()).find_map(|effect| match effect {
            Effect::Execute { node, attempt, stage: Stage::Work } => Some((node, attempt)),
            _ => None,
        });
        let Some((node, attempt)) = owed else { return false };
        self.input(&Input::Report { node, attempt, report: Report::Produced(product(node)) });
        true
    }

    fn triggers(&self) -> String {
        let words: Vec<_> = self.marked.iter().map(|marked| marked.mark.trigger.as_str()).collect();
        words.join(" ")
    }

    /// A checkpoint of now.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint::of(&self.run, self.marker.fold(), self.now, &About::default()).unwrap()
    }
}

/// What a node gives: as many bytes as the contract speaks of, in words that hardly repeat themselves.
fn outputs() -> impl Fn(NodeIndex) -> Product {
    let texts: Vec<Value> = thousand().state.tasks.iter().map(|task| task.result.inline().unwrap().clone()).collect();
    move |node| Product::of(texts[node.at() % texts.len()].clone())
}

fn chain(length: u32) -> Definition {
    let ids = (0..length).map(|at| (0, NodeId::new(&format!("n{at:05}")).unwrap()));
    let mut builder = Builder::new(ids);
    for at in 1..length {
        let (from, to) = (NodeIndex(at - 1), NodeIndex(at));
        builder.edge(NewEdge { from, to, when: When::OnSuccess, condition: None });
    }
    let spec: Arc<Node> = Arc::new(serde_json::from_value(json!({ "call": "x" })).unwrap());
    let (graph, _) = builder.finish();
    Definition::from_graph(WorkflowId::new("chain").unwrap(), Policy::default(), graph, |_| {
        (Kind::Call, Arc::clone(&spec))
    })
}

fn plain_bytes(checkpoint: &Checkpoint) -> u64 {
    let machine = checkpoint.machine.as_ref().map_or(0, |machine| machine.bytes.len());
    (encode_record(checkpoint.clone()).unwrap().0.len() + machine) as u64
}

#[test]
fn snapshots_of_ten_thousand_waves_are_three_final_states_at_most() {
    // R-CP-6
    let mut hand = Hand::new(chain(10_000));
    let product = outputs();
    while hand.works(&product) {}
    assert!(hand.run.ended().is_some());
    assert!(hand.marked.len() >= 10_000, "every wave has its mark");
    let sizes: Vec<u64> = hand.marked.iter().filter_map(|marked| marked.full.as_ref()).map(plain_bytes).collect();
    let last = *sizes.last().unwrap();
    println!("{sizes:?}, the fold counts {}", hand.marker.fold().bytes());
    assert!(sizes.iter().sum::<u64>() <= 3 * last, "{sizes:?}");
    assert!(sizes.len() <= 8);
    assert!(hand.marker.fold().bytes().abs_diff(last) * 20 <= last, "{} for {last}", hand.marker.fold().bytes());
    // Ten thousand nodes that are alike are one row.
    let machine = hand.checkpoint().machine.unwrap();
    assert!(machine.bytes.len() < 4_000, "{}", machine.bytes.len());
}

#[test]
fn a_thousand_results_are_a_hundred_kilobytes() {
    // R-CP-2: with the machine, whether the run still holds the results or not.
    let wide = valid("workflow: w\nnodes:\n  each: { map: { over: \"range(1001)\", node: { call: x } } }\n");
    for definition in [chain(1_000), wide] {
        let mut hand = Hand::new(definition);
        let product = outputs();
        for _ in 0..1_000 {
            assert!(hand.works(&product));
        }
        let encoded = encode(hand.checkpoint(), &Zstd).unwrap();
        let timed = |work: &dyn Fn()| {
            let begun = std::time::Instant::now();
            work();
            begun.elapsed()
        };
        let made = (0..5).map(|_| timed(&|| drop(hand.checkpoint()))).min();
        let all = (0..5).map(|_| timed(&|| drop(encode(hand.checkpoint(), &Zstd)))).min();
        let sizes = (encoded.bytes.len(), encoded.plain_bytes);
        println!("{sizes:?} bytes packed and plain, in {all:?}, of which {made:?} before it is written");
        assert!(encoded.bytes.len() <= 100_000 && encoded.blobs.is_empty(), "{}", encoded.bytes.len());
        let read = decode(&encoded.bytes, &hand.checkpoint().id, &Zstd).unwrap();
        let (run, fold) = read.restore(hand.run.shared_definition()).unwrap();
        assert!(run == hand.run);
        assert_eq!(fold.state(&run), hand.marker.fold().state(&hand.run));
    }
}

#[test]
fn long_results_wait_in_the_blob_store() {
    // R-CP-2: the machine does not hold them either.
    let mut hand = Hand::of("workflow: w\nnodes: { a: { call: x }, b: { call: x, needs: [a] } }\n");
    let long = json!("y".repeat(100_000));
    hand.works(|_| Product::of(long.clone()));
    let checkpoint = hand.checkpoint();
    let encoded = encode(checkpoint.clone(), &Zstd).unwrap();
    assert!(encoded.plain_bytes < 5_000 && encoded.blobs.len() == 1, "{}", encoded.plain_bytes);
    let mut read = decode(&encoded.bytes, &checkpoint.id, &Zstd).unwrap();
    let definition = hand.run.shared_definition();
    assert_eq!(read.restore(Arc::clone(&definition)), Err(Unrestorable::Missing("a".into())));
    read.held_mut().for_each(|held| held.fill(&encoded.blobs[0].bytes).unwrap());
    assert!(read.restore(definition).unwrap().0 == hand.run);
}

const GATED: &str = "workflow: w\ncontext: { zone: eu }\nnodes:\n  a: { call: x }\n  dear: { needs: [a], call: x, expensive: true }\n  \
                     ok: { needs: [dear], approve: { message: fine? } }\n  hear: { needs: [ok], wait: { signal: go } }\n  end: { needs: [hear], call: x }\n";

fn gated() -> Hand {
    let mut hand = Hand::of(GATED);
    let patch = |_| Product { patch: Some(Arc::new(json!({ "seen": [1] }))), ..Product::of(json!({ "b": 1, "a": 2 })) };
    while hand.works(patch) {}
    hand.approves(1, Choice::Approve);
    hand.says(Some("lunch"), Verb::Pause);
    hand.says(None, Verb::Unpause);
    hand.says(None, Verb::Signal { name: "go".into(), data: json!({ "n": 1 }) });
    while hand.works(patch) {}
    assert!(hand.run.ended().is_some());
    hand
}

#[test]
fn marks_are_where_the_contract_wants_them() {
    // R-CP-1
    let hand = gated();
    assert_eq!(hand.triggers(), "wave_end wave_end wave_end wave_end run_end");
    let off = GATED.replace("context:", "policy: { checkpoints: { autosave: 1ms } }\ncontext:");
    let mut hand = Hand::of(&off);
    while hand.works(|_| Product::default()) {}
    assert_eq!(hand.triggers(), "autosave wave_end wave_end", "created, taken, a, dear");
    // A gate and an expensive node that do not begin a wave.
    let nodes = "  a: { call: x }\n  b: { call: x }\n  c: { call: x }\n  dear: { needs: [a], call: x, expensive: true }\n  ok: { needs: [b], approve: { message: fine? } }\n";
    for (policy, expected) in [
        ("{ scheduling: frontier }", "before_expensive before_gate wave_end"),
        ("{ scheduling: frontier, checkpoints: { before_gates: false } }", "before_expensive wave_end"),
        ("{ scheduling: frontier, checkpoints: { before_expensive: false } }", "before_gate wave_end"),
    ] {
        let mut hand = Hand::of(&format!("workflow: w\npolicy: {policy}\nnodes:\n{nodes}"));
        while hand.works(|_| Product::default()) {}
        assert_eq!(hand.triggers(), expected, "{policy}");
    }
}

#[test]
fn an_agent_on_the_highest_tier_is_expensive() {
    // R-CP-1
    for (keys, marked) in [("model: opus", true), ("model: haiku", false), ("model: other", false)] {
        let agent = format!("  z: {{ agent: {{ provider: fake, {keys}, prompt: hi, script: [] }} }}\n");
        let hand = Hand::of(&format!("workflow: w\nnodes:\n{agent}"));
        assert_eq!(hand.triggers(), if marked { "before_expensive" } else { "" }, "{keys}");
    }
}

#[test]
fn what_was_said_made_and_decided_comes_back_exactly() {
    // R-CP-1, R-RES-4
    let hand = gated();
    let checkpoint = hand.checkpoint();
    let state = &checkpoint.state;
    let said: Vec<_> = state.messages.iter().map(|message| (message.kind, message.name.as_deref())).collect();
    let answer = (MessageKind::Answer, Some("q1"));
    assert_eq!(said, [answer, (MessageKind::Note, Some("pause")), (MessageKind::Signal, Some("go"))]);
    assert_eq!(state.messages[2].by.as_deref(), Some("ann"));
    let made: Vec<_> = state.tasks.iter().map(|task| task.task_id.as_str()).collect();
    assert_eq!(made, ["a", "dear", "ok", "hear", "end"]);
    assert_eq!(state.tasks[0].result.inline().map(Value::to_string).as_deref(), Some(r#"{"b":1,"a":2}"#));
    assert_eq!((state.tasks[0].duration.millis, state.tasks[4].duration.millis), (3, 3));
    let decided = &state.decisions[0];
    assert_eq!((decided.what, decided.why.as_deref()), (DecisionKind::Approval, Some("looks good")));
    assert_eq!(decided.node.as_ref().map(Address::as_str), Some("ok"));
    assert_eq!(state.context, json!({ "zone": "eu", "seen": [1] }));
    let encoded = encode(checkpoint.clone(), &Zstd).unwrap();
    let read = decode(&encoded.bytes, &checkpoint.id, &Zstd).unwrap();
    assert_eq!(read, checkpoint);
    let (run, fold) = read.restore(hand.run.shared_definition()).unwrap();
    assert_eq!(fold.state(&run), *state);
    assert!(run == hand.run);
}

#[test]
fn from_any_commit_the_rest_of_the_journal_leads_to_the_same_end() {
    // R-RES-4, R-CP-6
    let hand = gated();
    let definition = hand.run.shared_definition();
    let mut run = Run::new(Arc::clone(&definition));
    let mut fold = StateFold::new(&definition);
    for (at, commit) in hand.commits.iter().enumerate() {
        for entry in &commit.entries {
            run.apply(commit.at, entry).unwrap();
            fold.apply(&run, commit.at, entry);
        }
        let checkpoint = Checkpoint::of(&run, &fold, commit.at, &About::default()).unwrap();
        let (mut restored, mut resumed) = checkpoint.restore(Arc::clone(&definition)).unwrap();
        assert!(restored == run);
        for commit in &hand.commits[at + 1..] {
            for entry in &commit.entries {
                restored.apply(commit.at, entry).unwrap();
                resumed.apply(&restored, commit.at, entry);
            }
        }
        assert!(restored == hand.run);
        assert_eq!(resumed.state(&restored), hand.marker.fold().state(&hand.run));
    }
}

#[test]
fn an_older_one_and_the_journal_make_up_for_a_corrupt_one() {
    // R-CP-5
    let mut hand = Hand::new(chain(40));
    let product = outputs();
    while hand.works(&product) {}
    let stored: Vec<_> = hand
        .marked
        .iter()
        .filter_map(|marked| marked.full.clone().map(|full| (marked.mark.clone(), encode(full, &Zstd).unwrap())))
        .collect();
    let saved: Vec<_> =
        stored.iter().map(|(mark, full)| Saved { mark: mark.clone(), full: Some(full.plain_bytes) }).collect();
    assert!(stored.len() >= 3);
    assert_eq!(nearest(&saved, Seq(u64::MAX)).map(|saved| saved.mark.trigger), Some(Trigger::RunEnd));
    for broken in 0..=stored.len() {
        let read = stored.iter().enumerate().map(|(at, (mark, full))| {
            let mut bytes = full.bytes.clone();
            if at + broken >= stored.len() {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
            }
            (mark.clone(), decode(&bytes, &mark.id, &Zstd))
        });
        let picked = pick(read.collect(), Wanted::Newest, true).unwrap();
        assert_eq!(picked.damaged.len(), broken);
        assert!(picked.damaged.iter().all(|(_, refused)| *refused == Refused::Checksum));
        let definition = hand.run.shared_definition();
        let mut run = match &picked.checkpoint {
            Some((_, checkpoint)) => checkpoint.restore(Arc::clone(&definition)).unwrap().0,
            None => Run::new(definition),
        };
        for commit in hand.commits.iter().filter(|commit| commit.first > run.seq()).cloned().collect::<Vec<_>>() {
            for entry in &commit.entries {
                run.apply(commit.at, entry).unwrap();
            }
        }
        assert!(run == hand.run, "without the newest {broken}");
    }
}
