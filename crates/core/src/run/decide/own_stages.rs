//! Stages that the core does itself: grading by an expression, opening a gate, completing (`R-STATE-8`, `R-GATE-1`).

use serde_json::Value;

use crate::definition::Kind;
use crate::expr;
use crate::file::{Duration, TextOr};
use crate::graph::NodeIndex;
use crate::run::carrying::Resumed;
use crate::run::cause::CancelCause;
use crate::run::class::Known;
use crate::run::entry::Entry;
use crate::run::failure::{Feedback, Grade, NodeError, Severity};
use crate::run::fold::Run;
use crate::run::ids::{QuestionId, Timestamp};
use crate::run::input::Stage;
use crate::run::question::{Question, QuestionKind, shown_digest};
use crate::run::scope::Scope;

impl Run {
    /// The next stage of a node that is the core's to do.
    pub(super) fn own_stage(&self, now: Timestamp, node: NodeIndex) -> Vec<Entry> {
        let record = &self.nodes[node.at()];
        let attempt = record.attempt;
        match record.stage {
            Stage::Evaluate => self.grade_by_expression(now, node),
            // Work that is done when the run stops is kept, but nobody is asked any more (`R-EDGE-5`).
            Stage::Gate if self.is_stopping(node) => vec![Entry::Cancelled { node, cause: CancelCause::Stopped }],
            Stage::Gate => self.open_gate(now, node),
            Stage::Grow => self.grows(now, node),
            Stage::Work | Stage::Probe | Stage::Decompose | Stage::Children | Stage::Check | Stage::Done => {
                vec![Entry::Completed { node, attempt, product: None, taint: None, chosen: None }]
            }
        }
    }

    fn grade_by_expression(&self, now: Timestamp, node: NodeIndex) -> Vec<Entry> {
        let Some(TextOr::Text(source)) = &self.compiled(node).spec.evaluate else { return Vec::new() };
        let graded = expr::value(source, &Scope::of_own_output(self, node))
            .map_err(|error| error.to_string())
            .and_then(|value| read_grade(&value));
        match graded {
            Ok((grade, feedback)) => self.graded(now, node, grade, feedback),
            Err(problem) => {
                let error = NodeError::new(Known::CONDITION_ERROR, format!("`evaluate`: {problem}"));
                self.failed(now, node, error)
            }
        }
    }

    fn open_gate(&self, now: Timestamp, node: NodeIndex) -> Vec<Entry> {
        let compiled = self.compiled(node);
        if let Some(Resumed::Asks(asking, _)) = self.resumed_at(node) {
            let mut question = self.new_question(node, asking.kind, asking.shown.clone(), None);
            question.error.clone_from(&asking.error);
            return vec![Entry::Asked(question)];
        }
        let Some(approve) = &compiled.spec.approve else { return Vec::new() };
        let scope =
            if compiled.kind == Kind::Approve { Scope::of_node(self, node) } else { Scope::of_own_output(self, node) };
        let rendered = expr::text(&approve.message.0, &scope).and_then(|message| match &approve.show {
            Some(show) => Ok(format!("{message}\n\n{}", expr::text(&show.0, &scope)?)),
            None => Ok(message),
        });
        match rendered {
            Ok(shown) => {
                let expires = approve.timeout.map(|timeout| (now, timeout));
                vec![Entry::Asked(self.new_question(node, QuestionKind::Gate, shown, expires))]
            }
            Err(error) => {
                let message = format!("the gate cannot be asked: {error}");
                self.failed(now, node, NodeError::new(Known::GATE_ERROR, message))
            }
        }
    }

    /// A question about the current attempt of a node.
    pub(super) fn new_question(
        &self,
        node: NodeIndex,
        kind: QuestionKind,
        shown: String,
        expires: Option<(Timestamp, Duration)>,
    ) -> Box<Question> {
        let record = &self.nodes[node.at()];
        let approve = self.compiled(node).spec.approve.as_ref().filter(|_| kind == QuestionKind::Gate);
        let form = approve.and_then(|approve| approve.form.as_ref()).map(|form| form.0.clone());
        let address = self.address(node);
        let output = record.rare().output.as_deref().unwrap_or(&Value::Null);
        let run = self.created.as_ref().map(|created| created.run).unwrap_or_default();
        Box::new(Question {
            id: QuestionId(self.next_question),
            kind,
            node: Some(node),
            attempt: record.attempt,
            digest: shown_digest(run, &address, record.attempt, &shown, output, form.as_ref()),
            shown,
            form,
            approvers: approve.map(|approve| approve.approvers.clone()).unwrap_or_default(),
            error: None,
            chosen: None,
            expires: expires.map(|(now, timeout)| now.plus(timeout)),
        })
    }
}

/// A grade as an expression gives it: a letter, whether it is good, or a mapping with `grade` and `feedback`.
fn read_grade(value: &Value) -> Result<(Grade, Vec<Feedback>), String> {
    let wrong = || "it must give a grade from A to F, true or false, or `{'grade': …, 'feedback': …}`".to_owned();
    match value {
        Value::Bool(good) => Ok((if *good { Grade::A } else { Grade::F }, Vec::new())),
        Value::String(letter) => Ok((Grade::from_name(letter).ok_or_else(wrong)?, Vec::new())),
        Value::Object(parts) => {
            let (grade, _) = read_grade(parts.get("grade").ok_or_else(wrong)?)?;
            let feedback = match parts.get("feedback") {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::String(text)) => vec![Feedback { severity: Severity::Critical, text: text.clone() }],
                Some(list) => serde_json::from_value(list.clone()).map_err(|_| wrong())?,
            };
            Ok((grade, feedback))
        }
        _ => Err(wrong()),
    }
}
