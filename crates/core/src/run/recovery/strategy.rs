//! The strategies by which a failed node is recovered, cheapest first (`R-REC-1`).

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is tried after a failed attempt. A dearer strategy is greater than a cheaper one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// The same again, because the failure may pass by itself.
    RetrySame,
    /// Again, told what went wrong; what was asked at first stays whole.
    RetryWithFeedback,
    /// Again, with the next model of the tiers.
    EscalateModel,
    /// The task in smaller parts.
    DecomposeFurther,
    /// Not again: the node's fallback stands in.
    SkipWithFallback,
    /// Not again, until a person says how to go on.
    HumanIntervention,
}

impl Strategy {
    /// All strategies, cheapest first.
    pub const ALL: [Self; 6] = [
        Self::RetrySame,
        Self::RetryWithFeedback,
        Self::EscalateModel,
        Self::DecomposeFurther,
        Self::SkipWithFallback,
        Self::HumanIntervention,
    ];

    /// The strategy as it is written and stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RetrySame => "retry-same",
            Self::RetryWithFeedback => "retry-with-feedback",
            Self::EscalateModel => "escalate-model",
            Self::DecomposeFurther => "decompose-further",
            Self::SkipWithFallback => "skip-with-fallback",
            Self::HumanIntervention => "human-intervention",
        }
    }

    /// The strategy of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.as_str() == name)
    }

    /// Whether the engine does work again by itself, which is what the limit of the ladder counts.
    pub const fn works_again(self) -> bool {
        match self {
            Self::RetrySame | Self::RetryWithFeedback | Self::EscalateModel | Self::DecomposeFurther => true,
            Self::SkipWithFallback | Self::HumanIntervention => false,
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Strategy;

    #[test]
    fn strategies_are_ordered_by_cost_and_written_one_way() {
        // R-REC-1
        assert!(Strategy::ALL.is_sorted());
        for strategy in Strategy::ALL {
            let stored = serde_json::to_string(&strategy).unwrap();
            assert_eq!(stored, format!("\"{strategy}\""));
            assert_eq!(serde_json::from_str::<Strategy>(&stored).unwrap(), strategy);
            assert_eq!(Strategy::from_name(strategy.as_str()), Some(strategy));
        }
        assert_eq!(Strategy::from_name("retry"), None);
    }
}
