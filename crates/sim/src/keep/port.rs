//! A store as a world sees it, which outlives the processes that open it.

use std::fmt;

use sprag_store::{Journal, Memory};

/// A store that owners open, and leave behind when they die.
pub trait Keep: fmt::Debug + Send + Sync {
    /// The journals, as the owner of the moment has them open.
    fn journal(&self) -> &dyn Journal;

    /// The owner will die over its next append. Whether it dies in the middle of it, so that nobody heard an answer.
    fn brace(&mut self) -> bool {
        false
    }

    /// The owner died: the store is opened from what it left.
    fn reopen(&mut self);
}

/// What is in memory stays as it is.
impl Keep for Memory {
    fn journal(&self) -> &dyn Journal {
        self
    }

    fn reopen(&mut self) {}
}
