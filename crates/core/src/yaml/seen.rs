//! Which keys a mapping has so far.

use std::collections::HashMap;

use super::tree::NodeId;

/// The keys of a mapping so far. A look at each beats hashing while they are few.
pub(super) enum Seen {
    Few,
    Many(HashMap<String, NodeId>),
}

impl Seen {
    pub fn new(keys: usize) -> Self {
        const FEW: usize = 16;
        if keys <= FEW { Self::Few } else { Self::Many(HashMap::with_capacity(keys)) }
    }

    pub fn add(&mut self, name: &str, key: NodeId) {
        if let Self::Many(names) = self {
            names.insert(name.to_owned(), key);
        }
    }
}
