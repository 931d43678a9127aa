//! What people said to a run: who, when, what, and whether it was taken (`R-CP-1`, `R-GATE-1`).

use std::sync::Arc;

use serde_json::Value;
use sprag_core::run::{Answer, Choice, CommandRecord, QuestionRef, Refusal, Timestamp, Verb};

use crate::events;

/// Something that a person wanted of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// When it reached the run.
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// Why.
    pub why: Option<String>,
    /// What, in a word.
    pub verb: &'static str,
    /// What it answers.
    pub question: Option<String>,
    /// The node that asked.
    pub node: Option<String>,
    /// What was chosen.
    pub choice: Option<Choice>,
    /// Why it changed nothing.
    pub refused: Option<Refusal>,
}

/// Something that was said to a run: a signal, or an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// When it reached the run.
    pub at: Timestamp,
    /// Who said it.
    pub by: Option<String>,
    /// Whether it is a `signal` or an `answer`.
    pub kind: &'static str,
    /// The name of the signal, or the question.
    pub name: String,
    /// What came with it.
    pub data: Arc<Value>,
}

/// Gathers both, entry by entry.
#[derive(Debug, Default)]
pub(super) struct People {
    pub decisions: Vec<Decision>,
    pub messages: Vec<Message>,
    /// What came with the last command, whose entries follow it.
    data: Arc<Value>,
}

impl People {
    pub fn command(&mut self, at: Timestamp, record: &CommandRecord) {
        let command = &record.command;
        let mut decision = Decision {
            at,
            by: command.by.clone(),
            why: command.why.clone(),
            verb: events::verb(&command.verb),
            question: None,
            node: None,
            choice: None,
            refused: record.refused.clone(),
        };
        if let Verb::Answer { question, choice, data, .. } = &command.verb {
            decision.choice = Some(*choice);
            match question {
                QuestionRef::Id(id) => decision.question = Some(id.to_string()),
                QuestionRef::Node(node) => decision.node = Some(node.clone()),
            }
            self.data = Arc::new(data.clone().unwrap_or_default());
        }
        self.decisions.push(decision);
    }

    /// The question that the last command answered.
    pub fn answered(&mut self, at: Timestamp, answer: &Answer, node: Option<String>) {
        let question = answer.question.to_string();
        if let Some(decision) = self.decisions.last_mut() {
            decision.question = Some(question.clone());
            decision.node = node.or(decision.node.take());
        }
        let data = std::mem::take(&mut self.data);
        self.messages.push(Message { at, by: Some(answer.by.clone()), kind: "answer", name: question, data });
    }

    /// The signal that the last command sent.
    pub fn signalled(&mut self, at: Timestamp, name: &str, data: &Arc<Value>) {
        let by = self.decisions.last().map(|decision| decision.by.clone());
        self.messages.push(Message { at, by, kind: "signal", name: name.to_owned(), data: Arc::clone(data) });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sprag_core::codes::Code;
    use sprag_core::hash::Digest;
    use sprag_core::run::{
        Answer, Choice, Command, CommandId, CommandRecord, QuestionId, QuestionRef, Refusal, Timestamp, Verb,
    };

    use super::People;

    /// R-CLI-8, R-CP-1: who, when, what and why, taken or refused.
    #[test]
    fn commands_answers_and_signals() {
        let (id, at) = (CommandId(uuid::Uuid::nil()), Timestamp::from_millis);
        let record = |verb, refused| CommandRecord {
            command: Command { id, by: "ann".into(), why: Some("because".into()), verb },
            refused,
        };
        let answer = || Verb::Answer {
            question: QuestionRef::Node("gate".into()),
            choice: Choice::Provide,
            digest: Digest::of(b""),
            data: Some(json!(7)),
        };
        let mut people = People::default();
        people.command(at(1), &record(answer(), None));
        let given = Answer { question: QuestionId(2), choice: Choice::Provide, by: "ann".into(), command: id };
        people.answered(at(1), &given, Some("gate".into()));
        people.command(at(2), &record(Verb::Signal { name: "go".into(), data: json!([]) }, None));
        people.signalled(at(2), "go", &json!([]).into());
        let refusal = Refusal { code: Code::ALREADY_ANSWERED, message: "too late".into() };
        people.command(at(3), &record(answer(), Some(refusal.clone())));
        let decisions: Vec<_> = people
            .decisions
            .iter()
            .map(|it| {
                (it.at.millis, it.verb, it.question.as_deref(), it.node.as_deref(), it.choice, it.refused.clone())
            })
            .collect();
        assert_eq!(
            decisions,
            [
                (1, "answer", Some("q2"), Some("gate"), Some(Choice::Provide), None),
                (2, "signal", None, None, None, None),
                (3, "answer", None, Some("gate"), Some(Choice::Provide), Some(refusal)),
            ]
        );
        assert!(people.decisions.iter().all(|it| it.by == "ann" && it.why.as_deref() == Some("because")));
        let messages: Vec<_> =
            people.messages.iter().map(|it| (it.at.millis, it.kind, it.name.as_str(), &*it.data)).collect();
        assert_eq!(messages, [(1, "answer", "q2", &json!(7)), (2, "signal", "go", &json!([]))]);
    }
}
