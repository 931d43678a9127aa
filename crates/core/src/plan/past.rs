//! What an earlier run left, as plain data: no journal, no live run (`R-RES-7`).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::definition::Kind;
use crate::file::Json;
use crate::hash::Digest;
use crate::run::recovery::Allowance;
use crate::run::{
    Asking, CancelCause, Cost, EndStatus, KeptResult, NodeError, NodeState, Product, RunId, SkipReason, Usage,
};

/// What an earlier run left.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// The run.
    pub run: RunId,
    /// The first run of its lineage.
    pub first_run: RunId,
    /// How many runs of the lineage came before it.
    pub retry_count: u32,
    /// The hash of what it ran.
    pub graph_hash: Digest,
    /// How it ended; none if it has not.
    pub ending: Option<EndStatus>,
    /// The phase it was in when it stopped; none if its workflow has no phases.
    pub phase: Option<String>,
    /// The values of its parameters.
    pub params: BTreeMap<String, Value>,
    /// The context that it started with.
    pub context: BTreeMap<String, Json>,
    /// What the whole lineage has cost up to here.
    pub usage: Usage,
    /// What people allowed the lineage beyond its budget.
    pub raised: Allowance,
    /// Whether its nodes started with clean inputs only.
    pub strict: bool,
    /// The nodes of its definition, by id.
    pub nodes: BTreeMap<String, PastNode>,
    /// The generation at which addresses go on that the run itself no longer had, but a run before it (`R-CLAIM-6`).
    pub retired: BTreeMap<String, u32>,
}

impl Past {
    /// A run of nothing, to be filled in.
    pub const fn empty(run: RunId, first_run: RunId, graph_hash: Digest) -> Self {
        Self {
            run,
            first_run,
            retry_count: 0,
            graph_hash,
            ending: None,
            phase: None,
            params: BTreeMap::new(),
            context: BTreeMap::new(),
            usage: Usage { tokens_in: 0, tokens_out: 0, usd: 0.0 },
            raised: Allowance { tokens: None, usd: None },
            strict: false,
            nodes: BTreeMap::new(),
            retired: BTreeMap::new(),
        }
    }

    /// The node at an address such as `each/3`.
    pub fn find(&self, address: &str) -> Option<&PastNode> {
        find(&self.nodes, address)
    }

    /// Whether a completed node has lost its result, at any depth: then a run cannot go on in place (`R-RES-1`).
    pub fn result_missing(&self) -> bool {
        fn missing(nodes: &BTreeMap<String, PastNode>) -> bool {
            nodes.values().any(|node| {
                let lost = node.state == NodeState::Completed && node.result.is_none();
                // What is inside a node that has its own result is not read again.
                lost || (node.state != NodeState::Completed && missing(&node.inside.children))
            })
        }
        missing(&self.nodes)
    }
}

/// An address is a key of this level, or the key of a node here followed by an address inside that node.
fn find<'past>(level: &'past BTreeMap<String, PastNode>, address: &str) -> Option<&'past PastNode> {
    let inside = |(at, _)| {
        let (key, rest) = address.split_at(at);
        find(&level.get(key)?.inside.children, &rest[1..])
    };
    level.get(address).or_else(|| address.match_indices('/').find_map(inside))
}

/// What an earlier run left of one node.
#[derive(Debug, Clone, PartialEq)]
pub struct PastNode {
    /// What it does.
    pub kind: Kind,
    /// The hash of its definition.
    pub hash: Digest,
    /// Inside a growing node: the siblings that it depends on, by edges or by reading them. At the top the graph says it.
    pub needs: Vec<String>,
    /// Inside a growing node: whether it has `inputs`, `outputs` or `cache`. At the top the definition says it.
    pub keyed: bool,
    /// Its state.
    pub state: NodeState,
    /// Whether that state is its last: a failure that waits for its retry is not (`R-STATE-4`).
    pub settled: bool,
    /// Why it was skipped, and because of which source.
    pub skip: Option<(SkipReason, Option<String>)>,
    /// Why it was cancelled.
    pub cancelled: Option<CancelCause>,
    /// Why it failed.
    pub error: Option<NodeError>,
    /// Its result; while it awaits approval, the result that is to be approved. None if there is none, or it is lost.
    pub result: Option<KeptResult>,
    /// What a person is asked, where that is not whether the result may pass: nobody knows whether its work happened.
    pub asks: Option<Box<Asking>>,
    /// The edges into it whose condition did not hold, by their place among them.
    pub unmet: Vec<u32>,
    /// How many attempts it took.
    pub attempts: u32,
    /// The hash of everything that its work read, if it was recorded (`R-CACHE-1`).
    pub task_hash: Option<Digest>,
    /// How often it started over after it had completed (`R-CLAIM-6`).
    pub generation: u32,
    /// What its own work took, without that of its children; none if it never ran.
    pub cost: Option<Cost>,
    /// What it grew into.
    pub inside: Inside,
}

impl PastNode {
    /// A node in a state, with nothing else known.
    pub fn new(kind: Kind, hash: Digest, state: NodeState) -> Self {
        let settled =
            matches!(state, NodeState::Completed | NodeState::Failed | NodeState::Skipped | NodeState::Cancelled);
        Self {
            kind,
            hash,
            needs: Vec::new(),
            keyed: false,
            state,
            settled,
            skip: None,
            cancelled: None,
            error: None,
            result: None,
            asks: None,
            unmet: Vec::new(),
            attempts: 0,
            task_hash: None,
            generation: 0,
            cost: None,
            inside: Inside::default(),
        }
    }

    /// Whether it was skipped only because the run stopped first.
    pub fn was_stopped(&self) -> bool {
        matches!(self.skip, Some((SkipReason::RunStopped, _)))
    }
}

/// What a node grew into (`R-GROW-1`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inside {
    /// What its work produced, if its work produces nodes.
    pub body: Option<Product>,
    /// The digest of what the children were made of: items, parameters, or the body.
    pub made_of: Option<Digest>,
    /// What was spent of the budget that it brings along, by the round of a loop; 0 elsewhere.
    pub spent: BTreeMap<u32, Usage>,
    /// The children by their address below it: `0`, `build`, or `1/build` in the first round of a loop.
    pub children: BTreeMap<String, PastNode>,
}

impl Inside {
    /// Whether it never grew.
    pub fn is_empty(&self) -> bool {
        self.body.is_none() && self.made_of.is_none() && self.children.is_empty()
    }
}
