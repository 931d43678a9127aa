//! What a generated scenario may hold.

/// Features that can be switched off, because a property does not hold with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own, and all combinations make sense")]
pub struct Features {
    /// The most nodes there may be.
    pub nodes: u64,
    /// Deadlines, and questions and signals that time out: the clock decides.
    pub clock: bool,
    /// Gates and signals: a person is needed, though the same one says the same each time.
    pub people: bool,
    /// Work of unknown outcome that only a person can judge: what becomes of it hangs on when somebody died.
    pub unknown: bool,
    /// `fail_fast`, `max_node_failures`, `max_retries_exhausted`: who is faster decides who still runs.
    pub stop_rules: bool,
    /// Nodes that grow, and phases.
    pub growth: bool,
    /// Agents, ladders, budgets and what a run knows about prices.
    pub recovery: bool,
}

impl Features {
    /// Everything.
    pub const ALL: Self =
        Self { nodes: 25, clock: true, people: true, unknown: true, stop_rules: true, growth: false, recovery: false };

    /// Everything, with nodes that grow and phases.
    pub const GROWING: Self = Self { growth: true, ..Self::ALL };

    /// Everything, with ladders, budgets and agents.
    pub const RECOVERING: Self = Self { recovery: true, ..Self::ALL };

    /// Everything there is.
    pub const EVERYTHING: Self = Self { recovery: true, ..Self::GROWING };

    /// Only what ends the same in any order and after any crash (`R-SCHED-4`).
    pub const DETERMINISTIC: Self = Self {
        nodes: 25,
        clock: false,
        people: false,
        unknown: false,
        stop_rules: false,
        growth: false,
        recovery: false,
    };
}
