//! Takes money into the state: what attempts reserve and cost, and who waits for more (`R-REC-6`).
//!
//! An attempt reserves in every budget around it. Its reservation ends with its work: with what that cost, with nothing
//! where it was told and no cost with it, and with the whole reservation where nobody was left to tell.

use std::collections::BTreeMap;

use super::fold::Run;
use super::level::Level;
use super::parts::Usage;
use super::recovery::{Allowance, Purse};
use crate::graph::NodeIndex;

impl Level {
    /// A purse for the budget that this graph brings along, of which so much is spent.
    pub(super) fn open_purse(&mut self, spent: &Usage) {
        let limits = self.policy.budget.as_ref().map(Allowance::from);
        self.purse = limits.map(|limits| Box::new(Purse::new(limits, spent)));
    }
}

impl Run {
    /// What the budget of the run has left; nothing where there is no budget.
    pub fn budget_left(&self) -> Option<Allowance> {
        self.root().purse.as_ref().map(|purse| purse.left())
    }

    /// What the run and those before it in its lineage have spent: what the next one begins with. Reservations of
    /// attempts under way are no part of it; those of interrupted ones are, where there is a budget.
    pub fn lineage_spent(&self) -> Usage {
        self.root().purse.as_ref().map_or_else(
            || {
                let mut spent = self.created.as_ref().and_then(|created| created.spent).unwrap_or_default();
                spent.add(&self.usage);
                spent
            },
            |purse| purse.spent(),
        )
    }

    /// What is set aside for attempts under way.
    pub fn reserved(&self) -> Usage {
        self.root().purse.as_ref().map(|purse| purse.reserved()).unwrap_or_default()
    }

    /// Ready nodes that wait for money, and what they are expected to cost.
    pub fn withheld(&self) -> impl Iterator<Item = (NodeIndex, Usage)> {
        self.withheld.iter().map(|(node, expected)| (*node, *expected))
    }

    /// The graphs around a node that have a budget, from the inside out.
    pub(super) fn purses(&self, node: NodeIndex) -> impl Iterator<Item = (usize, &Purse<NodeIndex>)> {
        let chain = self.chain(self.level_at(node));
        chain.filter_map(|at| self.levels[at].purse.as_deref().map(|purse| (at, purse)))
    }

    /// Whether every budget around a node pays for this.
    pub(super) fn affords(&self, node: NodeIndex, expected: &Usage) -> bool {
        self.purses(node).all(|(_, purse)| purse.fits(expected))
    }

    pub(super) fn reserve(&mut self, node: NodeIndex, expected: &Usage) {
        let chain: Vec<_> = self.purses(node).map(|(at, _)| at).collect();
        for at in chain {
            if let Some(purse) = &mut self.levels[at].purse {
                // What does not fit was not decided here; a journal that says so is not made worse by that.
                let _ = purse.reserve(node, expected);
            }
        }
    }

    /// The work of an attempt is over, at this cost; without one its reservation counts as spent.
    pub(super) fn settle_cost(&mut self, node: NodeIndex, cost: Option<&Usage>) {
        let chain: Vec<_> = self.purses(node).map(|(at, _)| at).collect();
        if chain.is_empty() {
            return;
        }
        if let Some(usage) = cost.filter(|usage| **usage != Usage::default()) {
            let dearest = self.climb_mut(node).cost.get_or_insert(*usage);
            dearest.tokens_in = dearest.tokens_in.max(usage.tokens_in);
            dearest.tokens_out = dearest.tokens_out.max(usage.tokens_out);
            dearest.usd = dearest.usd.max(usage.usd);
        }
        for at in chain {
            if let Some(purse) = &mut self.levels[at].purse {
                purse.settle(&node, cost);
            }
        }
        self.hand_on();
    }

    /// A node stays ready and out of the queue until there is money for it.
    pub(super) fn withhold(&mut self, node: NodeIndex, expected: &Usage) {
        let (turn, side) = self.turn(node);
        let at = self.level_at(node);
        self.levels[at].queue.remove(turn, side);
        self.withheld.insert(node, *expected);
        self.offer(at);
    }

    /// There may be money again: who is paid for now queues as before. Nobody is, once a person said so, and then all
    /// queue to fail.
    ///
    /// Only as many as can be paid for together, first those whose turn comes first: whoever came back in vain would be
    /// written down again each time, and of many who wait that is nearly all.
    pub(super) fn hand_on(&mut self) {
        let mut waiting: Vec<_> = self
            .withheld
            .iter()
            .filter(|(node, expected)| self.no_more_money || self.affords(**node, expected))
            .collect();
        waiting.sort_by_cached_key(|(node, _)| self.turn(**node).0.rank);
        let mut promised: BTreeMap<usize, Usage> = BTreeMap::new();
        let mut freed = Vec::new();
        for (node, expected) in waiting {
            let with = |at: usize| {
                let mut sum = promised.get(&at).copied().unwrap_or_default();
                sum.add(expected);
                sum
            };
            let sums: Vec<_> = self.purses(*node).map(|(at, purse)| (at, with(at), purse)).collect();
            if self.no_more_money || sums.iter().all(|(_, sum, purse)| purse.fits(sum)) {
                promised.extend(sums.into_iter().map(|(at, sum, _)| (at, sum)));
                freed.push(*node);
            }
        }
        for node in freed {
            self.withheld.remove(&node);
            let (turn, side) = self.turn(node);
            let at = self.level_at(node);
            self.levels[at].queue.insert(turn, side);
            self.offer(at);
        }
    }

    /// A person allows so much more in one budget.
    pub(super) fn raise(&mut self, inside: Option<NodeIndex>, by: &Allowance) {
        let at = inside.and_then(|node| self.inside(node)).unwrap_or(0);
        if let Some(purse) = &mut self.levels[at].purse {
            purse.raise(by);
        }
        self.hand_on();
    }
}
