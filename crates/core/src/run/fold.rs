//! A run: the fold of its journal (`R-JRN-2`).
//!
//! [`Run::apply`] never decides and is the only way in which a run changes, live and on replay. Every move of a node
//! goes through one setter, which refuses what the table of states does not hold and keeps the ready queue, the
//! counters of waves, slots and failures, and the output readers true.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use super::carrying::Resumed;
use super::cause::Ending;
use super::created::Created;
use super::entry::Entry;
use super::ids::{CommandId, Fence, OwnerId, QuestionId, RunId, Seq, Timestamp};
use super::input::Effect;
use super::level::{Level, Origin};
use super::parts::{Answer, Refusal, Usage};
use super::question::Question;
use super::record::Record;
use super::schedule::Timers;
use super::state::InvalidStateTransition;
use crate::definition::Definition;
use crate::graph::NodeIndex;

/// A run, as far as its journal tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The graphs, the workflow's own first.
    pub(super) levels: Vec<Level>,
    /// The graphs that nodes grew into, oldest first.
    pub(super) grown: BTreeMap<NodeIndex, Vec<u32>>,
    pub(super) created: Option<Box<Created>>,
    pub(super) seq: Seq,
    /// When the last entry was decided.
    pub(super) at: Timestamp,
    /// All nodes, graph after graph.
    pub(super) nodes: Vec<Record>,
    pub(super) ownership: Option<Ownership>,

    // Kept true by the setter and by what begins and ends stages.
    pub(super) undecided: BTreeSet<NodeIndex>,
    pub(super) active: BTreeSet<NodeIndex>,
    pub(super) at_own_stage: BTreeSet<NodeIndex>,
    /// Executions that somebody outside owes: work, probes, checks, grades, decompositions.
    pub(super) busy: u32,
    pub(super) timers: Timers,
    pub(super) demands: BTreeMap<Seq, Effect>,
    /// Graphs whose policy stops them now.
    pub(super) alarmed: BTreeSet<u32>,
    /// Graphs inside nodes that are over, and whose nodes have not taken their results.
    pub(super) over: BTreeSet<u32>,

    // Failures.
    pub(super) interruptions: BTreeMap<NodeIndex, u32>,
    pub(super) orphans: BTreeSet<NodeIndex>,
    /// Nodes whose first attempt goes on where an earlier run was.
    pub(super) resumed: BTreeMap<NodeIndex, Resumed>,

    // People.
    pub(super) questions: BTreeMap<QuestionId, AskedQuestion>,
    pub(super) next_question: u32,
    /// Every command, with why it was refused if it was.
    pub(super) commands: BTreeMap<CommandId, Option<Refusal>>,
    pub(super) signals: BTreeMap<Box<str>, VecDeque<Arc<Value>>>,
    pub(super) waiting_for: BTreeMap<Box<str>, BTreeSet<NodeIndex>>,
    /// Ready nodes that wait for money, and what they are expected to cost.
    pub(super) withheld: BTreeMap<NodeIndex, Usage>,
    /// The open question about money.
    pub(super) money_question: Option<QuestionId>,
    /// Whether a person said that there will be no more.
    pub(super) no_more_money: bool,
    pub(super) held: bool,
    pub(super) people_only_since: Option<Timestamp>,

    /// Whether anything is tainted.
    pub(super) doubts: bool,
    pub(super) usage: Usage,
    pub(super) started_at: Option<Timestamp>,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) deadline: Option<Timestamp>,
    pub(super) ending: Option<Box<Ending>>,
}

/// Who may write the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ownership {
    /// The process.
    pub owner: OwnerId,
    /// The number that makes late writes of earlier owners fail.
    pub fence: Fence,
    /// Whether a person resumed the run for it.
    pub person: bool,
}

/// A question, and how it was closed.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedQuestion {
    /// The question.
    pub question: Box<Question>,
    /// The entry that asked it.
    pub asked: Seq,
    /// How it was closed.
    pub closed: Option<Closing>,
}

/// How a question was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closing {
    /// By a person.
    Answered(Box<Answer>),
    /// By time, or because the run stopped.
    Unanswered,
}

/// A journal that cannot be this run's: something was written that no rule allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corrupt {
    /// The entry.
    pub seq: Seq,
    /// What is wrong with it.
    pub detail: CorruptDetail,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CorruptDetail {
    /// A move that the table does not hold.
    Transition(InvalidStateTransition),
    /// Anything else.
    Other(&'static str),
}

impl std::fmt::Display for Corrupt {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.detail {
            CorruptDetail::Transition(_) => write!(formatter, "entry {} of the journal is no legal move", self.seq),
            CorruptDetail::Other(what) => write!(formatter, "entry {} of the journal {what}", self.seq),
        }
    }
}

impl std::error::Error for Corrupt {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.detail {
            CorruptDetail::Transition(illegal) => Some(illegal),
            CorruptDetail::Other(_) => None,
        }
    }
}

impl Run {
    /// A run before its first entry.
    pub fn new(definition: Arc<Definition>) -> Self {
        let policy = definition.policy.clone();
        Self {
            nodes: records(&definition),
            levels: vec![Level::new(definition, policy, Origin::Workflow)],
            grown: BTreeMap::new(),
            created: None,
            seq: Seq(0),
            at: Timestamp::from_millis(0),
            ownership: None,
            undecided: BTreeSet::new(),
            active: BTreeSet::new(),
            at_own_stage: BTreeSet::new(),
            busy: 0,
            timers: Timers::default(),
            demands: BTreeMap::new(),
            alarmed: BTreeSet::new(),
            over: BTreeSet::new(),
            interruptions: BTreeMap::new(),
            orphans: BTreeSet::new(),
            resumed: BTreeMap::new(),
            questions: BTreeMap::new(),
            next_question: 1,
            commands: BTreeMap::new(),
            signals: BTreeMap::new(),
            waiting_for: BTreeMap::new(),
            withheld: BTreeMap::new(),
            money_question: None,
            no_more_money: false,
            doubts: false,
            held: false,
            people_only_since: None,
            usage: Usage::default(),
            started_at: None,
            ended_at: None,
            deadline: None,
            ending: None,
        }
    }

    /// Folds a journal, given as (time of the commit, entry).
    pub fn fold<'entry>(
        definition: Arc<Definition>,
        entries: impl IntoIterator<Item = (Timestamp, &'entry Entry)>,
    ) -> Result<Self, Corrupt> {
        let mut run = Self::new(definition);
        for (at, entry) in entries {
            run.apply(at, entry)?;
        }
        Ok(run)
    }

    /// The last entry applied.
    pub const fn seq(&self) -> Seq {
        self.seq
    }

    /// The id of the run, once it is created.
    pub fn id(&self) -> Option<RunId> {
        self.created.as_ref().map(|created| created.run)
    }

    /// When something becomes due by itself.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.timers.next()
    }

    /// What the state demands of the world because of entries after `handed` up to `durable`. Nothing is lost if the
    /// process dies here: whoever folds the journal owes the same again.
    pub fn owed(&self, handed: Seq, durable: Seq) -> impl Iterator<Item = Effect> {
        let next = Seq(handed.0.saturating_add(1));
        let range = (next <= durable).then_some(next..=durable);
        range.into_iter().flat_map(|range| self.demands.range(range)).map(|(_, effect)| *effect)
    }
}

/// The records of the nodes of a graph before anything happened.
pub(super) fn records(definition: &Definition) -> Vec<Record> {
    let graph = &definition.graph;
    let record = |node| Record::new(count(graph.edges_into(node).len()), count(graph.edges_from(node).count()));
    let mut records: Vec<_> = graph.nodes().map(record).collect();
    for (_, read) in &definition.reads {
        records[read.at()].readers += 1;
    }
    records
}

/// Graphs are numbered with `u32`, so every count of theirs fits.
pub(super) fn count(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
