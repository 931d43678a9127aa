//! Writes a run down. Whatever a run comes to hold must be named here, or the build stops: nothing is left out by
//! accident.

use super::MACHINE_VERSION;
use super::rows::{Outputs, Rows};
use super::stored::{StoredLevel, StoredOrigin, StoredRun};
use crate::checkpoint::Machine;
use crate::run::fold::Run;
use crate::run::input::Effect;
use crate::run::level::{Level, Origin};

impl Run {
    /// The run as it is now, complete in itself.
    pub fn snapshot(&self) -> Machine {
        self.written(Outputs::Here)
    }

    /// The run as it is now without the outputs it holds, for a place that keeps those anyway.
    pub fn snapshot_beside(&self) -> Machine {
        self.written(Outputs::Beside)
    }

    fn written(&self, outputs: Outputs) -> Machine {
        // All keys are text, so it can be written. If it ever could not, nobody would read it, and the journal serves.
        let bytes = serde_json::to_vec(&self.stored(outputs)).unwrap_or_default();
        Machine { version: MACHINE_VERSION, bytes }
    }

    fn stored(&self, outputs: Outputs) -> StoredRun {
        let Self {
            levels,
            grown: _,
            created,
            seq,
            at,
            nodes,
            ownership,
            undecided: _,
            active: _,
            at_own_stage,
            busy: _,
            timers,
            demands,
            alarmed,
            over,
            interruptions,
            orphans,
            resumed,
            questions,
            next_question,
            commands,
            signals,
            waiting_for: _,
            withheld,
            money_question,
            no_more_money,
            held,
            people_only_since,
            doubts,
            usage,
            started_at,
            ended_at,
            deadline,
            ending,
        } = self;
        let rows = Rows::of(nodes, outputs);
        let (limits_stopped, deadline_counts) = timers.stored(*deadline);
        let mut aborts = Vec::new();
        let mut finish = None;
        for (seq, effect) in demands {
            match effect {
                Effect::Abort { node, attempt, kill } => aborts.push((*seq, *node, *attempt, *kill)),
                Effect::Finish => finish = Some(*seq),
                // Nodes and questions know what they wait for.
                Effect::Execute { .. } | Effect::Ask { .. } => {}
            }
        }
        StoredRun {
            graph_hash: self.root().body.graph_hash,
            seq: *seq,
            at: *at,
            created: created.clone(),
            ownership: *ownership,
            levels: levels.iter().map(level).collect(),
            shapes: rows.shapes,
            nodes: rows.nodes,
            rare: rows.rare,
            at_own_stage: at_own_stage.iter().copied().collect(),
            aborts,
            finish,
            alarmed: alarmed.iter().copied().collect(),
            over: over.iter().copied().collect(),
            interruptions: interruptions.iter().map(|(node, count)| (*node, *count)).collect(),
            orphans: orphans.iter().copied().collect(),
            resumed: resumed.iter().map(|(node, resumed)| (*node, resumed.clone())).collect(),
            withheld: withheld.iter().map(|(node, expected)| (*node, *expected)).collect(),
            money_question: *money_question,
            no_more_money: *no_more_money,
            doubts: *doubts,
            questions: questions.values().cloned().collect(),
            next_question: *next_question,
            commands: commands.iter().map(|(id, refused)| (*id, refused.clone())).collect(),
            signals: signals.clone(),
            held: *held,
            people_only_since: *people_only_since,
            limits_stopped,
            deadline_counts,
            usage: *usage,
            started_at: *started_at,
            ended_at: *ended_at,
            deadline: *deadline,
            ending: ending.clone(),
        }
    }
}

fn level(level: &Level) -> StoredLevel {
    let Level {
        body: _,
        policy: _,
        base: _,
        parent,
        around: _,
        depth: _,
        origin,
        unsettled: _,
        waves,
        queue,
        occupied: _,
        running: _,
        handlers,
        unhandled,
        unhandled_here,
        node_failures,
        retries_exhausted,
        tainted,
        stop,
        cut,
        closed,
        gathered,
        context,
        deadline,
        phase_deadline,
        purse,
    } = level;
    let (phase, announced, settled) = waves.stored();
    StoredLevel {
        parent: *parent,
        origin: match origin {
            Origin::Workflow => StoredOrigin::Workflow,
            Origin::Items(items) => StoredOrigin::Items(items.clone()),
            Origin::Graph { round, params } => StoredOrigin::Graph { round: *round, params: params.clone() },
            Origin::Grown(produced) => StoredOrigin::Grown(produced.clone()),
        },
        phase,
        announced,
        settled,
        offered: queue.stored(),
        handlers: handlers.iter().map(|(node, count)| (*node, *count)).collect(),
        unhandled: unhandled.iter().copied().collect(),
        unhandled_here: unhandled_here.iter().copied().collect(),
        node_failures: *node_failures,
        retries_exhausted: *retries_exhausted,
        tainted: *tainted,
        stop: stop.clone(),
        cut: *cut,
        closed: *closed,
        gathered: *gathered,
        patches: context.stored().map(|(node, place, patch)| (node, place, patch.clone())).collect(),
        deadline: *deadline,
        phase_deadline: *phase_deadline,
        purse: purse.clone(),
    }
}
