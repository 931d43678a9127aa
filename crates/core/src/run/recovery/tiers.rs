//! The models that a node may be escalated through, from cheap to dear (`R-REC-1`, `R-NODE-3`).

use std::fmt;

/// The tiers of an agent node that lists none.
pub const DEFAULT_TIERS: [&str; 3] = ["haiku", "sonnet", "opus"];

/// Models from cheap to dear, and whether somebody wrote them down for this node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tiers {
    models: Vec<String>,
    written: bool,
}

/// Why there is no higher tier; it displays as a reason for the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoHigher {
    /// The node has no tiers at all.
    NoTiers,
    /// The node names no model, so nobody knows what would be higher.
    NoModel,
    /// The default tiers do not hold the node's model.
    Foreign(String),
    /// The model is the last of the tiers.
    Top(String),
}

impl Tiers {
    /// Tiers that somebody wrote; a model that stands there twice keeps its first place.
    pub fn written(models: &[String]) -> Self {
        let mut once: Vec<String> = Vec::with_capacity(models.len());
        for model in models {
            if !once.contains(model) {
                once.push(model.clone());
            }
        }
        Self { models: once, written: true }
    }

    /// The tiers of an agent node that lists none.
    pub fn usual() -> Self {
        Self { models: DEFAULT_TIERS.map(str::to_owned).to_vec(), written: false }
    }

    /// No tiers: nothing to escalate.
    pub const fn none() -> Self {
        Self { models: Vec::new(), written: false }
    }

    /// The models, from cheap to dear.
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// The model of a first attempt: the node's own; without one, the cheapest that was written for the node.
    pub fn start<'a>(&'a self, own: Option<&'a str>) -> Option<&'a str> {
        own.or_else(|| self.models.first().filter(|_| self.written).map(String::as_str))
    }

    /// The tier above the model last used; without one, above the model a first attempt starts with.
    ///
    /// A model outside of written tiers counts as below them, since whoever wrote them said what comes next. A model
    /// outside of the default tiers is of another family: nothing there is known to be higher.
    pub fn above(&self, last: Option<&str>) -> Result<&str, NoHigher> {
        let first = self.models.first().ok_or(NoHigher::NoTiers)?;
        let last = self.start(last).ok_or(NoHigher::NoModel)?;
        match self.models.iter().position(|model| model == last) {
            Some(at) => self.models.get(at + 1).map(String::as_str).ok_or_else(|| NoHigher::Top(last.to_owned())),
            None if self.written => Ok(first),
            None => Err(NoHigher::Foreign(last.to_owned())),
        }
    }
}

impl fmt::Display for NoHigher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTiers => formatter.write_str("the node has no tiers"),
            Self::NoModel => formatter.write_str("the node names neither a model nor tiers"),
            Self::Foreign(model) => write!(formatter, "`{model}` is none of the default tiers"),
            Self::Top(model) => write!(formatter, "`{model}` is the highest tier"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_TIERS, NoHigher, Tiers};

    fn written(models: &str) -> Tiers {
        Tiers::written(&models.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn the_next_tier_follows_the_one_last_used() {
        // R-REC-1, R-NODE-3
        let top = |model: &str| Err(NoHigher::Top(model.into()));
        for (tiers, last, above) in [
            (Tiers::usual(), Some("haiku"), Ok("sonnet")),
            (Tiers::usual(), Some("sonnet"), Ok("opus")),
            (Tiers::usual(), Some("opus"), top("opus")),
            (Tiers::usual(), Some("gpt"), Err(NoHigher::Foreign("gpt".into()))),
            (Tiers::usual(), None, Err(NoHigher::NoModel)),
            (written("small large"), Some("small"), Ok("large")),
            (written("small large"), Some("large"), top("large")),
            (written("small large"), Some("haiku"), Ok("small")),
            (written("small large"), None, Ok("large")),
            (written("only"), None, top("only")),
            (written("only"), Some("own"), Ok("only")),
            (written("a b a c"), Some("a"), Ok("b")),
            (written("a b a c"), Some("b"), Ok("c")),
            (written(""), Some("a"), Err(NoHigher::NoTiers)),
            (Tiers::none(), Some("haiku"), Err(NoHigher::NoTiers)),
            (Tiers::none(), None, Err(NoHigher::NoTiers)),
        ] {
            assert_eq!(tiers.above(last), above, "{tiers:?} {last:?}");
        }
    }

    #[test]
    fn a_first_attempt_uses_the_nodes_own_model() {
        // R-REC-1
        assert_eq!(Tiers::usual().start(Some("sonnet")), Some("sonnet"));
        assert_eq!(Tiers::usual().start(None), None);
        assert_eq!(written("small large").start(Some("large")), Some("large"));
        assert_eq!(written("small large").start(None), Some("small"));
        assert_eq!((Tiers::none().start(None), Tiers::none().start(Some("own"))), (None, Some("own")));
        assert_eq!(Tiers::usual().models(), DEFAULT_TIERS);
    }
}
