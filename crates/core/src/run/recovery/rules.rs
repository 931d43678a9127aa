//! What a node says about its recovery, with nothing left open (`R-REC-2`, `R-NODE-3`).

use super::tiers::Tiers;
use crate::definition::Kind;
use crate::file::{Human, Node};
use crate::run::retry::RetryRules;

/// How many attempts a ladder has, unless the node says otherwise.
pub const LADDER_ATTEMPTS_MAX: u32 = 3;

/// How a node climbs the ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct LadderRules {
    /// How many failures that count bring it to its end.
    pub max_attempts: u32,
    /// The models it may be escalated through.
    pub tiers: Tiers,
    /// Whether it has a hook that splits its task.
    pub decompose: bool,
    /// Whether it has a fallback.
    pub fallback: bool,
    /// Whether a person is asked before it fails.
    pub human: Human,
    /// The delays before further attempts; how many there are and which failures lead to one, the ladder says.
    pub delays: RetryRules,
}

impl LadderRules {
    /// The rules of a node, or nothing if only its `retry` applies.
    pub fn resolve(kind: Kind, node: &Node) -> Option<Self> {
        let agent = kind == Kind::Agent;
        let recovery = node.recovery.as_deref();
        if !recovery.map_or(agent, |recovery| recovery.ladder.unwrap_or(true)) {
            return None;
        }
        let tiers = match recovery.and_then(|recovery| recovery.tiers.as_deref()) {
            Some(models) => Tiers::written(models),
            None if agent => Tiers::usual(),
            None => Tiers::none(),
        };
        let max_attempts = recovery.and_then(|recovery| recovery.max_attempts).unwrap_or(LADDER_ATTEMPTS_MAX);
        let human = recovery.and_then(|recovery| recovery.human);
        let open = RetryRules::default();
        Some(Self {
            max_attempts: max_attempts.max(1),
            tiers,
            decompose: recovery.is_some_and(|recovery| recovery.decompose.is_some()),
            fallback: node.fallback.is_some(),
            human: human.unwrap_or(if agent { Human::Pause } else { Human::Fail }),
            delays: RetryRules {
                max_attempts: open.max_attempts,
                only: open.only,
                never: open.never,
                ..RetryRules::resolve(node.retry.as_deref())
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Human, Kind, LadderRules, Node, RetryRules, Tiers};

    fn resolved(kind: Kind, node: &Value) -> Option<LadderRules> {
        LadderRules::resolve(kind, &serde_json::from_value::<Node>(node.clone()).unwrap())
    }

    #[test]
    fn agents_climb_unless_they_say_no_and_others_only_if_they_say_so() {
        // R-REC-2
        for (kind, node, climbs) in [
            (Kind::Agent, json!({}), true),
            (Kind::Agent, json!({ "recovery": {} }), true),
            (Kind::Agent, json!({ "recovery": { "ladder": true } }), true),
            (Kind::Agent, json!({ "recovery": { "ladder": false } }), false),
            (Kind::Agent, json!({ "recovery": { "ladder": false, "human": "pause" } }), false),
            (Kind::Agent, json!({ "retry": { "max_attempts": 5 } }), true),
            (Kind::Run, json!({}), false),
            (Kind::Run, json!({ "retry": { "max_attempts": 5 }, "fallback": 1 }), false),
            (Kind::Run, json!({ "recovery": {} }), true),
            (Kind::Run, json!({ "recovery": { "max_attempts": 2 } }), true),
            (Kind::Run, json!({ "recovery": { "ladder": true } }), true),
            (Kind::Run, json!({ "recovery": { "ladder": false } }), false),
            (Kind::Http, json!({ "recovery": {} }), true),
            (Kind::Call, json!({}), false),
        ] {
            assert_eq!(resolved(kind, &node).is_some(), climbs, "{kind:?} {node}");
        }
    }

    #[test]
    fn what_is_not_written_has_a_default() {
        // R-NODE-3, R-REC-1
        let agent = LadderRules {
            max_attempts: 3,
            tiers: Tiers::usual(),
            decompose: false,
            fallback: false,
            human: Human::Pause,
            delays: RetryRules::default(),
        };
        let other = LadderRules { tiers: Tiers::none(), human: Human::Fail, ..agent.clone() };
        assert_eq!(resolved(Kind::Agent, &json!({})), Some(agent));
        assert_eq!(resolved(Kind::Run, &json!({ "recovery": {} })), Some(other));
    }

    #[test]
    fn what_is_written_holds() {
        // R-NODE-3
        let node = json!({
            "recovery": {
                "max_attempts": 7, "tiers": ["small", "large"], "decompose": { "call": "split" }, "human": "fail",
            },
            "fallback": null,
        });
        let rules = resolved(Kind::Agent, &node).unwrap();
        assert_eq!((rules.max_attempts, rules.decompose, rules.human), (7, true, Human::Fail));
        assert_eq!(rules.tiers.models(), ["small", "large"]);
        // Whether `null` is a fallback or none is decided where files are read.
        let read: Node = serde_json::from_value(node).unwrap();
        assert_eq!(rules.fallback, read.fallback.is_some());
        let run = json!({ "recovery": { "human": "pause", "max_attempts": 0 }, "fallback": { "summary": "" } });
        let rules = resolved(Kind::Run, &run).unwrap();
        assert_eq!((rules.max_attempts, rules.fallback, rules.human), (1, true, Human::Pause));
    }

    #[test]
    fn retry_gives_only_the_delays() {
        // R-REC-1, R-RETRY-1
        let retry = json!({
            "max_attempts": 9, "initial_delay": "2s", "max_delay": "4s", "backoff": "linear", "jitter": 0,
            "only": ["transient"], "never": ["MODEL_ERROR"],
        });
        let delays = resolved(Kind::Agent, &json!({ "retry": retry })).unwrap().delays;
        assert_eq!((delays.initial.millis, delays.max.millis), (2_000, 4_000));
        assert_eq!((delays.max_attempts, delays.only, delays.never), (1, None, vec![]));
    }
}
