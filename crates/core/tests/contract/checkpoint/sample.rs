//! Checkpoints to try things on.

use std::io::Read as _;

use serde_json::{Value, json};
use sprag_core::checkpoint::{
    Address, Checkpoint, CheckpointId, Cost, DecisionKind, DecisionRecord, ExecutionConfig, Held, Machine, Message,
    MessageKind, Metadata, NodeRecord, Pack, RunRecord, SchemaVersion, ShapeEdge, Spent, Task, Update, WorkflowShape,
    WorkflowState,
};
use sprag_core::file::{Budget, Duration, NodeId, Policy, When, WorkflowId};
use sprag_core::hash::Digest;
use sprag_core::plan::Mode;
use sprag_core::run::recovery::Strategy;
use sprag_core::run::{Known, NodeError, NodeState, RunId, Seq, Taint, Timestamp, Usage};

pub const RUN: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
pub const NOW: Timestamp = Timestamp::from_millis(1_769_851_800_250);

/// What stores pack with.
pub struct Zstd;

impl Pack for Zstd {
    fn pack(&self, plain: &[u8]) -> Result<Vec<u8>, String> {
        zstd::encode_all(plain, 3).map_err(|error| error.to_string())
    }

    fn unpack(&self, packed: &[u8], length: usize) -> Result<Vec<u8>, String> {
        let decoder = zstd::Decoder::new(packed).map_err(|error| error.to_string())?;
        let mut plain = Vec::new();
        decoder.take(length as u64 + 1).read_to_end(&mut plain).map_err(|error| error.to_string())?;
        if plain.len() == length { Ok(plain) } else { Err(format!("not {length} bytes")) }
    }
}

pub fn run() -> RunId {
    RUN.parse().unwrap()
}

pub fn address(text: &str) -> Address {
    text.parse().unwrap()
}

pub fn id(seq: u64) -> CheckpointId {
    CheckpointId::new(WorkflowId::new("ship-it.v2").unwrap(), run(), NOW, Seq(seq))
}

pub fn task(node: &str, result: Value) -> Task {
    let duration = Duration::from_millis(1_234);
    Task { task_id: address(node), result: Held::from(result), timestamp: NOW, duration }
}

/// A small checkpoint that says something everywhere.
pub fn small() -> Checkpoint {
    let ids = ["build", "each", "ship"];
    let error = NodeError::new(Known::RATE_LIMITED, "slow down");
    let mut state = WorkflowState::default();
    let signal = Message {
        kind: MessageKind::Signal,
        name: Some("go".into()),
        by: None,
        data: json!({"z": 1, "a": [null]}),
        at: NOW,
    };
    let approval = DecisionRecord {
        what: DecisionKind::Approval,
        node: Some(address("build")),
        by: Some("ann".into()),
        why: None,
        choice: "approve".into(),
        at: NOW,
    };
    for update in [
        Update::Message(signal),
        Update::Task(task("build", json!({"b": 1, "a": 2}))),
        Update::Task(task("each/0", json!("fine"))),
        Update::Decision(approval),
        Update::Context(json!({"zone": "eu", "area": {"x": 0.1}})),
    ] {
        state.apply(update);
    }
    let completed = NodeRecord { attempts: 1, ..NodeRecord::new(NodeState::Completed) };
    let nodes = [
        ("build", completed.clone()),
        ("each", NodeRecord { attempts: 1, ..NodeRecord::new(NodeState::Running) }),
        ("each/0", NodeRecord { taint: Some(Taint::Provided), confidence: Some(0.5), ..completed }),
        (
            "each/1",
            NodeRecord {
                attempts: 2,
                error: Some(error),
                retry_due: Some(NOW),
                strategies: vec![Strategy::RetrySame],
                usage: Some(Usage { tokens_in: 5, tokens_out: 6, usd: 0.25 }),
                ..NodeRecord::new(NodeState::Failed)
            },
        ),
    ];
    Checkpoint {
        id: id(7),
        schema_version: SchemaVersion,
        workflow: WorkflowShape {
            id: WorkflowId::new("ship-it.v2").unwrap(),
            version: Some("1.0".into()),
            graph_hash: Digest([0xab; 32]),
            nodes: ids.map(|id| NodeId::new(id).unwrap()).to_vec(),
            edges: vec![ShapeEdge(0, 1, When::OnSuccess), ShapeEdge(1, 2, When::Always)],
        },
        run: RunRecord {
            id: run(),
            mode: Mode::ResumeOnly,
            wave: Some(0),
            phase: 0,
            nodes: nodes.into_iter().map(|(node, record)| (address(node), record)).collect(),
            usage: Usage { tokens_in: 5, tokens_out: 6, usd: 0.25 },
            cost: Cost { usd: 0.25, reserved_usd: 0.5 },
        },
        state,
        execution_config: ExecutionConfig {
            policy: Policy { budget: Some(Budget { usd: Some(9.5), ..Budget::default() }), ..Policy::default() },
            params: [("who".to_owned(), json!("world"))].into(),
            deadline: Some(NOW.plus(Duration::from_millis(60_000))),
            budget_spent: Spent { tokens: 11, usd: 0.25 },
        },
        metadata: Metadata { project: Some("shop".into()), phase: None },
        created_at: NOW,
        seq: Seq(7),
        machine: Some(Machine { version: 3, bytes: b"{\"in\":\"memory\"}".to_vec() }),
    }
}

/// A checkpoint after a thousand results of 200 bytes each, in words that hardly repeat themselves.
pub fn thousand() -> Checkpoint {
    const WORDS: [&str; 64] = [
        "order",
        "parcel",
        "customer",
        "invoice",
        "warehouse",
        "shipped",
        "delayed",
        "checked",
        "against",
        "before",
        "the",
        "a",
        "of",
        "with",
        "without",
        "after",
        "three",
        "seven",
        "items",
        "address",
        "payment",
        "declined",
        "accepted",
        "refund",
        "is",
        "was",
        "has",
        "been",
        "not",
        "yet",
        "found",
        "missing",
        "label",
        "printed",
        "courier",
        "late",
        "north",
        "south",
        "Berlin",
        "Lyon",
        "Porto",
        "Oslo",
        "Monday",
        "Friday",
        "report",
        "summary",
        "total",
        "average",
        "rate",
        "error",
        "retry",
        "queue",
        "worker",
        "result",
        "review",
        "approved",
        "rejected",
        "because",
        "stock",
        "count",
        "differs",
        "by",
        "and",
        "percent",
    ];
    let mut checkpoint = small();
    let mut random = 7_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    checkpoint.state.tasks.clear();
    checkpoint.run.nodes.clear();
    checkpoint.workflow.nodes = (0..1000).map(|at| NodeId::new(&format!("node-{at:04}")).unwrap()).collect();
    checkpoint.workflow.edges = (1..1000).map(|at| ShapeEdge(at - 1, at, When::OnSuccess)).collect();
    for at in 0..1000 {
        let mut text = format!("{} ", next(100_000));
        while text.len() < 200 {
            text.push_str(WORDS[usize::try_from(next(64)).unwrap()]);
            text.push(' ');
        }
        text.truncate(200);
        let node = format!("node-{at:04}");
        let mut task = task(&node, json!(text));
        task.timestamp = NOW.plus(Duration::from_millis(at * 137 + next(100)));
        task.duration = Duration::from_millis(20 + next(2_000));
        checkpoint.state.apply(Update::Task(task));
        let record = NodeRecord { attempts: 1, ..NodeRecord::new(NodeState::Completed) };
        checkpoint.run.nodes.insert(address(&node), record);
    }
    checkpoint
}
