//! When a mark also gets a full snapshot (`R-CP-6`).

use super::mark::Trigger;

/// A state shorter than this is cheaper to write than to find.
const SMALL_UNDER_BYTES: u64 = 1024;

/// What a run has written in full snapshots so far, and so when the next one is due.
///
/// Sizes are those of [`super::Encoded::plain_bytes`]; what is stored is never much longer, and mostly shorter. With
/// *last* for the size of the largest snapshot and *sum* for all that count, every write keeps `sum ≤ 2 × last`:
///
/// - A small state is written while `sum ≤ size`, so afterwards `sum ≤ 2 × size`. Without that condition ten thousand
///   waves of a state that stays small would be ten thousand snapshots; with it the contract's bound, which the states
///   under 1 KiB would otherwise break, holds for them too. A small state is still written at once when it begins, and
///   whenever it has caught up with what was written.
/// - A state that has grown to 2.5 × *last* is written, and `sum ≤ 2 × size / 2.5 + size = 1.8 × size`.
///
/// The snapshot at the run's end adds one final state to at most two: together at most 3 × the final state, if the state
/// never shrinks; else at most 3 × its largest. Saves on demand do not count; nothing is written for them a second time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Growth {
    last: u64,
    sum: u64,
}

impl Growth {
    /// A run that has written nothing.
    pub const fn new() -> Self {
        Self { last: 0, sum: 0 }
    }

    /// A run that goes on, of which the largest snapshot ever written is known. What the others summed up to is not, once
    /// they are pruned, so the most that it can be is assumed.
    pub const fn resumed(largest: u64) -> Self {
        Self { last: largest, sum: largest.saturating_mul(2) }
    }

    /// Whether a mark gets a full snapshot, given the size of the state now.
    pub const fn is_due(&self, size: u64, trigger: Trigger) -> bool {
        match trigger {
            Trigger::OnDemand | Trigger::RunEnd => true,
            Trigger::Autosave
            | Trigger::BeforeExpensive
            | Trigger::BeforeGate
            | Trigger::WaveEnd
            | Trigger::PhaseEnd => {
                let small = size < SMALL_UNDER_BYTES && self.sum <= size;
                small || size.saturating_mul(2) >= self.last.saturating_mul(5)
            }
        }
    }

    /// Takes note of a snapshot that was written.
    pub const fn wrote(&mut self, size: u64, trigger: Trigger) {
        if size > self.last {
            self.last = size;
        }
        if !matches!(trigger, Trigger::OnDemand) {
            self.sum = self.sum.saturating_add(size);
        }
    }
}
