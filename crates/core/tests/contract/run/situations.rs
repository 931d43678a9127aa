//! Situations of a failed node, written in words.

use sprag_core::definition::Kind;
use sprag_core::file::{ErrorCode, Node};
use sprag_core::run::recovery::{Decision, LadderRules, Situation, Strategy, choose};
use sprag_core::run::{Feedback, Grade, NodeError, Severity};

/// A situation. The words: a code, then in any order `agent` or `run`, `human:pause|fail`, `tiers:a,b`, `max:N`,
/// `decompose`, `fallback` (what the node says); `attempts:N` (1), `transient:N` (0), `used:a,b`, `model:NAME`,
/// `feedback:critical,minor`, `grade:D`, and `poor` if the budget does not pay for the next tier.
pub struct Case {
    pub error: NodeError,
    pub rules: LadderRules,
    pub attempts: u32,
    pub transient_retries: u32,
    pub used: Vec<Strategy>,
    pub model: Option<String>,
    pub poor: bool,
}

impl Case {
    pub fn parse(text: &str) -> Self {
        let (mut kind, mut poor, mut attempts, mut transient_retries) = (None, false, 1, 0);
        let (mut used, mut model) = (Vec::new(), None);
        let (mut node, mut recovery) = (serde_json::Map::new(), serde_json::Map::new());
        let (code, words) = text.split_once(' ').unwrap();
        let mut error = NodeError::new(ErrorCode::new(code).unwrap(), "no");
        for word in words.split_whitespace() {
            let (key, value) = word.split_once(':').unwrap_or((word, ""));
            let list = value.split(',');
            match key {
                "agent" => kind = Some(Kind::Agent),
                "run" => kind = Some(Kind::Run),
                "human" => drop(recovery.insert(key.into(), value.into())),
                "tiers" => drop(recovery.insert(key.into(), list.collect::<Vec<_>>().into())),
                "max" => drop(recovery.insert("max_attempts".into(), value.parse::<u32>().unwrap().into())),
                "decompose" => drop(recovery.insert(key.into(), serde_json::json!({ "call": "split" }))),
                "fallback" => drop(node.insert(key.into(), "not available".into())),
                "attempts" => attempts = value.parse().unwrap(),
                "transient" => transient_retries = value.parse().unwrap(),
                "used" => used = list.map(|name| Strategy::from_name(name).unwrap()).collect(),
                "model" => model = Some(value.to_owned()),
                "feedback" => error.feedback = list.map(feedback).collect(),
                "grade" => error.grade = Some(Grade::from_name(value).unwrap()),
                "poor" => poor = true,
                _ => panic!("no such word: {word}"),
            }
        }
        node.insert("recovery".into(), recovery.into());
        let node: Node = serde_json::from_value(node.into()).unwrap();
        let rules = LadderRules::resolve(kind.unwrap(), &node).unwrap();
        Self { error, rules, attempts, transient_retries, used, model, poor }
    }

    pub fn situation(&self) -> Situation<'_> {
        Situation {
            error: &self.error,
            rules: &self.rules,
            attempts: self.attempts,
            transient_retries: self.transient_retries,
            used: &self.used,
            model: self.model.as_deref(),
            affords_higher: !self.poor,
        }
    }
}

fn feedback(severity: &str) -> Feedback {
    let severity = match severity {
        "critical" => Severity::Critical,
        "minor" => Severity::Minor,
        _ => panic!("no such severity: {severity}"),
    };
    Feedback { severity, text: "name the source".into() }
}

/// What the ladder does in a situation given in words.
pub fn decision(text: &str) -> Decision {
    choose(&Case::parse(text).situation())
}
