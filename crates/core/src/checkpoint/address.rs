//! Where a node is: its id, behind those of the nodes it grew from (`R-GROW-1`).

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::file::{NodeId, id_problem};

/// The address of a node: `build`, `each/3`, `loop/2/build`. Every part follows the grammar of ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Address(Box<str>);

impl Address {
    /// Checks a text and takes it as an address.
    pub fn new(text: &str) -> Result<Self, NotAnAddress> {
        match text.split('/').find_map(id_problem) {
            Some(problem) => Err(NotAnAddress { text: text.to_owned(), problem }),
            None => Ok(Self(text.into())),
        }
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&NodeId> for Address {
    /// A node of the file is at its own id.
    fn from(id: &NodeId) -> Self {
        Self(id.as_str().into())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for Address {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        Self::new(text)
    }
}

impl Borrow<str> for Address {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.0.into()
    }
}

impl TryFrom<String> for Address {
    type Error = NotAnAddress;

    fn try_from(text: String) -> Result<Self, NotAnAddress> {
        Self::new(&text)
    }
}

/// A text that is no address of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAnAddress {
    text: String,
    problem: String,
}

impl fmt::Display for NotAnAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is not the address of a node: {}", self.text.escape_debug(), self.problem)
    }
}

impl std::error::Error for NotAnAddress {}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn every_part_is_an_id() {
        // R-GROW-1
        for good in ["build", "each/0", "loop/2/build", "a.b/c-d/e_f"] {
            assert_eq!(good.parse::<Address>().unwrap().as_str(), good);
        }
        for bad in ["", "/", "a/", "/a", "a//b", "a/../b", "a b", "a:b", "a\\b", "each/-1", "a/\u{202e}"] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
        let error = "a//b".parse::<Address>().unwrap_err();
        assert_eq!(error.to_string(), "`a//b` is not the address of a node: an id cannot be empty");
    }
}
