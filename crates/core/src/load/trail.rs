//! The way to a place in the model while it is being checked: borrowed, so that a check that finds nothing costs nothing.

use crate::yaml::Path;

/// One step of the way and the steps before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trail<'a> {
    before: Option<&'a Trail<'a>>,
    step: Step<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl<'a> Trail<'a> {
    pub const fn root() -> Self {
        Self { before: None, step: Step::Root }
    }

    pub const fn key<'b>(&'b self, key: &'b str) -> Trail<'b>
    where
        'a: 'b,
    {
        Trail { before: Some(self), step: Step::Key(key) }
    }

    pub const fn index<'b>(&'b self, index: usize) -> Trail<'b>
    where
        'a: 'b,
    {
        Trail { before: Some(self), step: Step::Index(index) }
    }

    /// The way as an owned path, for a report.
    pub fn path(&self) -> Path {
        let before = self.before.map_or_else(Path::root, Trail::path);
        match self.step {
            Step::Root => before,
            Step::Key(key) => before.key(key),
            Step::Index(index) => before.index(index),
        }
    }
}
