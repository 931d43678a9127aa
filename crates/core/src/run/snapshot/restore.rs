//! Reads a run back. What is stored is taken only where it fits the workflow and itself; what follows from it is counted
//! again, so that a stored run can be refused, but not bring the process down later.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::stored::{Output, StoredLevel, StoredOrigin, StoredRare, StoredRun};
use super::{MACHINE_VERSION, Unrestorable};
use crate::checkpoint::Machine;
use crate::definition::{Definition, Kind};
use crate::graph::NodeIndex;
use crate::run::cause::StopCause;
use crate::run::fold::{Run, count};
use crate::run::ids::Seq;
use crate::run::input::{Effect, Stage};
use crate::run::level::Origin;
use crate::run::parts::Usage;
use crate::run::queue::Side;
use crate::run::record::Rare;
use crate::run::schedule::{Limit, Timer};
use crate::run::state::NodeState;

fn damaged(detail: impl Into<String>) -> Unrestorable {
    Unrestorable::Damaged(detail.into())
}

fn check(holds: bool, detail: &'static str) -> Result<(), Unrestorable> {
    if holds { Ok(()) } else { Err(damaged(detail)) }
}

impl Run {
    /// The run that [`Run::snapshot`] wrote down, of this workflow.
    pub fn restore(definition: Arc<Definition>, machine: &Machine) -> Result<Self, Unrestorable> {
        Self::restore_beside(definition, machine, |_| None)
    }

    /// The run that [`Run::snapshot_beside`] wrote down; `output` knows what the nodes at these addresses gave.
    pub fn restore_beside(
        definition: Arc<Definition>,
        machine: &Machine,
        output: impl Fn(&str) -> Option<Arc<Value>>,
    ) -> Result<Self, Unrestorable> {
        if machine.version != MACHINE_VERSION {
            return Err(Unrestorable::Version(machine.version));
        }
        let stored: StoredRun = serde_json::from_slice(&machine.bytes).map_err(|error| damaged(error.to_string()))?;
        if stored.graph_hash != definition.graph_hash {
            return Err(Unrestorable::OtherWorkflow);
        }
        let mut run = Self::new(definition);
        run.put_graphs(&stored)?;
        run.put_nodes(&stored)?;
        for (node, rare) in &stored.rare {
            run.put_rare(*node, rare, &output)?;
        }
        run.put_rest(stored)?;
        run.count_again();
        run.wait_again()?;
        Ok(run)
    }

    /// The graphs, in which nothing has happened yet.
    fn put_graphs(&mut self, stored: &StoredRun) -> Result<(), Unrestorable> {
        let limit = stored.created.as_ref().map(|created| created.growth).unwrap_or_default();
        let (root, grown) = stored.levels.split_first().ok_or_else(|| damaged("it has no graph"))?;
        check(
            root.parent.is_none() && matches!(root.origin, StoredOrigin::Workflow),
            "its first graph is not the workflow",
        )?;
        for level in grown {
            let parent = level.parent.filter(|parent| parent.at() < self.nodes.len());
            let parent = parent.ok_or_else(|| damaged("a graph is inside no node"))?;
            let origin = match &level.origin {
                StoredOrigin::Workflow => Origin::Workflow,
                StoredOrigin::Items(items) => Origin::Items(Arc::clone(items)),
                StoredOrigin::Graph { round, params } => Origin::Graph { round: *round, params: params.clone() },
                StoredOrigin::Grown(produced) => Origin::Grown(Arc::clone(produced)),
            };
            let body = self.body_from(parent, &origin).map_err(|error| damaged(error.to_string()))?;
            check(self.nodes.len() + body.graph.len() <= limit.nodes as usize, "it has more nodes than it may have")?;
            self.attach(parent, body, origin);
        }
        Ok(())
    }

    fn put_nodes(&mut self, stored: &StoredRun) -> Result<(), Unrestorable> {
        if let Some(contradiction) = stored.shapes.iter().find_map(super::stored::Shape::contradiction) {
            return Err(damaged(contradiction));
        }
        let nodes = self.nodes.len();
        let mut at = 0;
        for (shape, length) in &stored.nodes {
            let shape = stored.shapes.get(*shape as usize).ok_or_else(|| damaged("a node looks like nothing"))?;
            check(*length as usize <= nodes - at, "it has more nodes than its graphs")?;
            for _ in 0..*length {
                let record = shape.record(NodeIndex(count(at)), nodes);
                self.nodes[at] = record.ok_or_else(|| damaged("a node was skipped because of none"))?;
                at += 1;
            }
        }
        check(at == nodes, "it has fewer nodes than its graphs")
    }

    fn put_rare(
        &mut self,
        node: NodeIndex,
        stored: &StoredRare,
        output: &impl Fn(&str) -> Option<Arc<Value>>,
    ) -> Result<(), Unrestorable> {
        check(self.has(node), "it tells of a node that is not there")?;
        let StoredRare { output: kept, patch, error, verdict, due, question, tries, feedback, climb } = stored;
        let output = match kept {
            None => None,
            Some(Output::Here(value)) => Some(Arc::clone(value)),
            Some(Output::Beside) => {
                let address = self.address(node);
                Some(output(&address).ok_or(Unrestorable::Missing(address))?)
            }
        };
        let rare = Rare {
            output,
            patch: patch.clone(),
            error: error.clone(),
            verdict: verdict.clone(),
            due: *due,
            question: *question,
            tries: *tries,
            feedback: feedback.clone(),
            climb: climb.clone(),
        };
        self.nodes[node.at()].rare = Some(Box::new(rare));
        Ok(())
    }

    /// What is stored as it is.
    fn put_rest(&mut self, stored: StoredRun) -> Result<(), Unrestorable> {
        let StoredRun {
            graph_hash: _,
            seq,
            at,
            created,
            ownership,
            levels,
            shapes: _,
            nodes: _,
            rare: _,
            at_own_stage,
            aborts,
            finish,
            alarmed,
            over,
            interruptions,
            orphans,
            resumed,
            withheld,
            money_question,
            no_more_money,
            doubts,
            questions,
            next_question,
            commands,
            signals,
            held,
            people_only_since,
            limits_stopped,
            deadline_counts,
            usage,
            started_at,
            ended_at,
            deadline,
            ending,
        } = stored;
        let running = |node: &NodeIndex| self.has(*node) && self.state(*node) == NodeState::Running;
        check(at_own_stage.iter().chain(&orphans).all(running), "it waits for a node that does not run")?;
        let mut named = aborts.iter().map(|(_, node, ..)| *node).chain(interruptions.iter().map(|(node, _)| *node));
        let failing = ending.iter().filter_map(|ending| ending.failure.as_ref()).filter_map(|failure| failure.node);
        let asking = questions.iter().filter_map(|asked| asked.question.node);
        let ready = |(node, _): &(NodeIndex, Usage)| self.has(*node) && self.state(*node) == NodeState::Ready;
        check(withheld.iter().all(ready), "a node waits for money that is not ready")?;
        check(resumed.iter().all(|(node, _)| self.has(*node)), "it names a node that is not there")?;
        check(named.all(|node| self.has(node)), "it names a node that is not there")?;
        check(failing.chain(asking).all(|node| self.has(node)), "it names a node that is not there")?;
        let mut graphs = alarmed.iter().chain(&over);
        check(graphs.all(|graph| (*graph as usize) < self.levels.len()), "it names a graph that is not there")?;
        let late = aborts.iter().map(|(of, ..)| *of).chain(finish).chain(questions.iter().map(|asked| asked.asked));
        check(late.into_iter().all(|of| Seq(0) < of && of <= seq), "it holds what has not happened")?;

        for (at, level) in levels.into_iter().enumerate() {
            self.put_level(at, level)?;
        }
        self.seq = seq;
        self.at = at;
        self.created = created;
        self.ownership = ownership;
        self.at_own_stage = at_own_stage.into_iter().collect();
        let aborts = aborts.into_iter().map(|(seq, node, attempt, kill)| (seq, Effect::Abort { node, attempt, kill }));
        self.demands = aborts.chain(finish.map(|seq| (seq, Effect::Finish))).collect();
        self.alarmed = alarmed.into_iter().collect();
        self.over = over.into_iter().collect();
        self.interruptions = interruptions.into_iter().collect();
        self.orphans = orphans.into_iter().collect();
        self.resumed = resumed.into_iter().collect();
        self.withheld = withheld.into_iter().collect();
        self.money_question = money_question;
        self.no_more_money = no_more_money;
        self.doubts = doubts;
        self.questions = questions.into_iter().map(|asked| (asked.question.id, asked)).collect();
        self.next_question = next_question;
        self.commands = commands.into_iter().collect();
        self.signals = signals;
        self.held = held;
        self.people_only_since = people_only_since;
        self.usage = usage;
        self.started_at = started_at;
        self.ended_at = ended_at;
        self.deadline = deadline;
        self.ending = ending;
        if limits_stopped {
            self.timers.stop_limits();
        }
        if deadline_counts {
            self.timers.limit(Limit::Run, None, deadline);
        }
        Ok(())
    }

    fn put_level(&mut self, at: usize, stored: StoredLevel) -> Result<(), Unrestorable> {
        let StoredLevel {
            parent: _,
            origin: _,
            phase,
            announced,
            settled,
            offered,
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
            patches,
            deadline,
            phase_deadline,
            purse,
        } = stored;
        let nodes = &self.nodes;
        let level = &mut self.levels[at];
        let own: Vec<_> = level.nodes().collect();
        let inside = |node: &NodeIndex| own.first().is_some_and(|first| first <= node) && own.last() >= Some(node);
        let handled = handlers.iter().all(|(node, left)| inside(node) && *left > 0);
        check(handled && unhandled.iter().chain(&unhandled_here).all(inside), "a failure is that of another graph")?;
        let there = |node: NodeIndex| node.at() < nodes.len();
        let stopping = match &stop {
            Some(StopCause::FailFast { node }) => there(*node),
            _ => true,
        };
        let ranks = offered.0.iter().chain(&offered.1).all(|rank| there(rank.node));
        check(stopping && ranks, "a graph names a node that is not there")?;
        let graph = Arc::clone(&level.body);
        for (local, place, patch) in patches {
            check(local.at() < own.len(), "a patch is that of another graph")?;
            level.context.restore(&graph.graph, local, place, patch);
        }
        for (local, node) in graph.graph.nodes().zip(&own) {
            if nodes[node.at()].settled {
                level.waves.settle(graph.graph.phase(local), graph.graph.wave(local));
                level.unsettled -= 1;
            }
        }
        check(level.waves.restore(phase, announced, &settled), "a graph has not come so far")?;
        level.queue.offer(Side::Working, offered.0);
        level.queue.offer(Side::Waiting, offered.1);
        level.handlers = handlers.into_iter().collect();
        level.unhandled = unhandled.into_iter().collect();
        level.unhandled_here = unhandled_here.into_iter().collect();
        level.node_failures = node_failures;
        level.retries_exhausted = retries_exhausted;
        level.tainted = tainted;
        level.stop = stop;
        level.cut = cut;
        level.closed = closed;
        level.gathered = gathered;
        level.deadline = deadline;
        level.phase_deadline = phase_deadline;
        level.purse = purse;
        let around = level.around;
        self.timers.limit(Limit::Graph(count(at)), None, deadline);
        self.timers.limit(Limit::Phase(count(at)), None, phase_deadline);
        if let Some(around) = around {
            let queue = &mut self.levels[around as usize].queue;
            queue.offered(Side::Working, count(at), None, offered.0);
            queue.offered(Side::Waiting, count(at), None, offered.1);
        }
        Ok(())
    }

    /// Everything that follows from the states of the nodes and the graphs they are in.
    fn count_again(&mut self) {
        for at in 0..self.levels.len() {
            let body = Arc::clone(&self.levels[at].body);
            let base = self.levels[at].base;
            let global = |local: NodeIndex| NodeIndex(base + local.0);
            for edge in body.graph.edges() {
                let settled = |node| self.nodes[global(node).at()].settled;
                let (open, read) = (!settled(edge.from), !settled(edge.to));
                self.nodes[global(edge.to).at()].open_edges += u32::from(open);
                self.nodes[global(edge.from).at()].readers += u32::from(read);
            }
            for (reader, read) in &body.reads {
                let reads = !self.nodes[global(*reader).at()].settled;
                self.nodes[global(*read).at()].readers += u32::from(reads);
            }
            let begun = at > 0 || self.created.is_some();
            let open = self.levels[at].waves.phase();
            for local in body.graph.nodes() {
                let node = global(local);
                let waits = self.nodes[node.at()].open_edges == 0 && begun;
                let its_turn = body.graph.phase(local) <= open || !body.graph.edges_into(local).is_empty();
                match self.nodes[node.at()].state {
                    NodeState::Pending if waits && its_turn => {
                        self.undecided.insert(node);
                    }
                    NodeState::Ready if !self.withheld.contains_key(&node) => {
                        let (turn, side) = self.turn(node);
                        self.levels[at].queue.insert(turn, side);
                    }
                    NodeState::Running => {
                        self.active.insert(node);
                        self.levels[at].running += 1;
                    }
                    _ => {}
                }
                if self.nodes[node.at()].holds_slot {
                    let chain: Vec<_> = self.chain(at).collect();
                    for level in chain {
                        self.levels[level].occupied += 1;
                    }
                }
            }
        }
    }

    /// What is waited for: time, people, and work outside.
    fn wait_again(&mut self) -> Result<(), Unrestorable> {
        for node in self.all_nodes() {
            let record = &self.nodes[node.at()];
            let (state, demand) = (record.state, record.demand);
            let kind = self.compiled(node).kind;
            let waits = state == NodeState::Running && kind == Kind::Wait && record.stage == Stage::Work;
            let execute = Effect::Execute { node, attempt: record.attempt, stage: record.stage };
            let timer = match state {
                NodeState::Failed => Some(Timer::Retry(node)),
                NodeState::Running if kind.grows() => Some(Timer::Children(node)),
                _ => waits.then(|| self.wait_timer(node)),
            };
            if let (Some(due), Some(timer)) = (record.rare().due, timer) {
                self.timers.insert(due, timer);
            }
            if let Some(name) = self.signal_of(node).filter(|_| waits).map(Box::<str>::from) {
                self.waiting_for.entry(name).or_default().insert(node);
            }
            if demand != Seq(0) {
                check(
                    demand <= self.seq && self.demands.insert(demand, execute).is_none(),
                    "it owes two things at once",
                )?;
                self.busy += 1;
            }
        }
        let open = self.questions.values().filter(|asked| asked.closed.is_none());
        let mut asked = BTreeSet::new();
        for open in open {
            let question = open.question.id;
            check(asked.insert(open.asked), "it asks two things at once")?;
            if let Some(expires) = open.question.expires {
                self.timers.insert(expires, Timer::Question(question));
            }
            self.demands.insert(open.asked, Effect::Ask { question });
        }
        Ok(())
    }

    fn has(&self, node: NodeIndex) -> bool {
        node.at() < self.nodes.len()
    }
}
