//! What people want of a run (`R-ASK-1`, `R-GATE-2`).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::input::Refused;
use super::spending::read_raise;
use crate::definition::{CompiledNode, Definition, Inside, Kind};
use crate::file::NodeId;
use crate::graph::NodeIndex;
use crate::hash::Digest;
use crate::run::cause::{CancelCause, StopCause, StopLevel};
use crate::run::class::Known;
use crate::run::entry::Entry;
use crate::run::failure::NodeError;
use crate::run::fold::{AskedQuestion, Closing, Run};
use crate::run::ids::Timestamp;
use crate::run::input::{Command, QuestionRef, Verb};
use crate::run::parts::{Answer, CommandRecord, Product, Taint};
use crate::run::question::{Choice, Question};

impl Run {
    pub(super) fn command(&self, now: Timestamp, command: &Command) -> Result<Vec<Entry>, Refused> {
        let record = CommandRecord { command: command.clone(), refused: None };
        let mut entries = vec![Entry::Command(Box::new(record))];
        match &command.verb {
            Verb::Answer { question, choice, digest, data } => {
                let question = self.answerable(command, question, *choice, digest, data.as_ref())?;
                entries.push(Entry::Answered(Box::new(Answer {
                    question: question.id,
                    choice: *choice,
                    by: command.by.clone(),
                    command: command.id,
                })));
                entries.extend(self.answered(now, question, *choice, data.as_ref()));
            }
            Verb::Signal { name, data } => {
                self.knows_signal(name)?;
                entries.extend(self.signalled(name, data));
            }
            Verb::Cancel { kill } => {
                if self.root().stop.as_ref().is_none_or(|stop| stop.level() < StopLevel::Cancel) {
                    entries.extend(self.stops(0, StopCause::Cancel { kill: *kill }));
                }
            }
            Verb::Pause if !self.held => entries.push(Entry::Held { on: true }),
            Verb::Unpause if self.held => entries.push(Entry::Held { on: false }),
            Verb::Pause | Verb::Unpause => {}
        }
        Ok(entries)
    }

    /// The open question that an answer is for; the first answer wins, and it must be to what was shown.
    fn answerable(
        &self,
        command: &Command,
        which: &QuestionRef,
        choice: Choice,
        digest: &Digest,
        data: Option<&Value>,
    ) -> Result<&Question, Refused> {
        let asked = self.find_question(which)?;
        let question = &asked.question;
        match &asked.closed {
            None => {}
            Some(Closing::Answered(answer)) => {
                let by = Some((answer.by.clone(), answer.choice.as_str()));
                return Err(Refused::AlreadyAnswered { question: question.id, by });
            }
            Some(Closing::Unanswered) => return Err(Refused::AlreadyAnswered { question: question.id, by: None }),
        }
        if question.digest != *digest {
            return Err(Refused::QuestionChanged(question.id));
        }
        if !question.approvers.is_empty() && !question.approvers.contains(&command.by) {
            let approvers = question.approvers.clone();
            return Err(Refused::NotAnApprover { question: question.id, by: command.by.clone(), approvers });
        }
        let problem = if !question.kind.choices().contains(&choice) {
            format!("`{}` is not one of its choices", choice.as_str())
        } else if choice == Choice::Provide && data.is_none() {
            "`provide` needs the output as data".to_owned()
        } else if choice == Choice::Raise
            && let Err(problem) = read_raise(data)
        {
            problem
        } else {
            return Ok(question);
        };
        Err(Refused::BadChoice { question: question.id, kind: question.kind, problem })
    }

    /// A question by number, or the newest of a node.
    fn find_question(&self, which: &QuestionRef) -> Result<&AskedQuestion, Refused> {
        let found = match which {
            QuestionRef::Id(id) => self.questions.get(id),
            QuestionRef::Node(name) => self
                .find(name)
                .and_then(|node| self.questions.values().rev().find(|asked| asked.question.node == Some(node))),
        };
        found.ok_or_else(|| {
            Refused::NoQuestion(match which {
                QuestionRef::Id(id) => id.to_string(),
                QuestionRef::Node(name) => name.clone(),
            })
        })
    }

    /// Where the node goes with an answer (`R-STATE-9`, `R-GATE-1`).
    fn answered(&self, now: Timestamp, question: &Question, choice: Choice, data: Option<&Value>) -> Vec<Entry> {
        let Some(node) = question.node else {
            // That there will be no more, the answer itself says.
            let by = read_raise(data).ok().filter(|_| choice == Choice::Raise);
            return by.map(|by| self.raised(by)).unwrap_or_default();
        };
        let attempt = question.attempt;
        let completes = |product: Option<Product>, taint: Option<Taint>| {
            let product = product.map(Box::new);
            let taint = taint.map(Box::new);
            vec![Entry::Approved { node }, Entry::Completed { node, attempt, product, taint, chosen: None }]
        };
        let error = || {
            let unknown = || NodeError::new(Known::INTERRUPTED, "nobody knows whether it happened");
            Box::new(question.error.clone().unwrap_or_else(unknown))
        };
        let given = || Product::of(data.cloned().unwrap_or_default());
        match choice {
            // A gate without work has no output but what the person filled in.
            Choice::Approve => {
                completes((self.compiled(node).kind == Kind::Approve && data.is_some()).then(given), None)
            }
            Choice::Reject => vec![Entry::Cancelled { node, cause: CancelCause::Rejected }],
            Choice::Retry => vec![Entry::Failed { node, attempt, error: error(), due: Some(now), chosen: None }],
            Choice::Provide => completes(Some(given()), Some(self.taint_of_provided(node, question, data))),
            Choice::Skip => vec![Entry::Cancelled { node, cause: CancelCause::SkippedByPerson }],
            Choice::Fail => vec![Entry::Failed { node, attempt, error: error(), due: None, chosen: None }],
            Choice::Raise => Vec::new(),
        }
    }

    /// Whoever provides just what was graded too low takes it in spite of its grade (`R-REC-7`).
    fn taint_of_provided(&self, node: NodeIndex, question: &Question, data: Option<&Value>) -> Taint {
        let grade = question.error.as_ref().and_then(|error| error.grade).filter(|grade| grade.fails());
        let made = self.nodes[node.at()].rare().output.as_deref();
        match grade.filter(|_| made.is_some() && made == data) {
            Some(grade) => Taint::LowGrade(grade),
            None => Taint::Provided,
        }
    }

    /// A name that no node waits for is a mistake, and keeping it would hide that.
    fn knows_signal(&self, name: &str) -> Result<(), Refused> {
        let mut known = BTreeSet::new();
        self.levels.iter().for_each(|level| signals(&level.body, &mut known));
        if known.contains(name) {
            return Ok(());
        }
        Err(Refused::NoSignal { name: name.to_owned(), known: known.into_iter().map(str::to_owned).collect() })
    }

    /// A signal goes to every node that waits for it now; if none does, it is kept for the next one that will.
    fn signalled(&self, name: &str, data: &Value) -> Vec<Entry> {
        let data = Arc::new(data.clone());
        let waiting = self.waiting_for.get(name);
        let mut entries = vec![Entry::Signalled { name: name.into(), data: data.clone(), kept: waiting.is_none() }];
        let product = Product { output: data, ..Product::default() };
        let completes = |node: &NodeIndex| self.produced(*node, self.nodes[node.at()].attempt, &product);
        entries.extend(waiting.into_iter().flatten().map(completes));
        entries
    }
}

/// The signals that nodes of a workflow wait for, also those that are not there yet.
fn signals<'definition>(definition: &'definition Definition, known: &mut BTreeSet<&'definition str>) {
    definition.nodes.iter().for_each(|node| signals_of(node, known));
    definition.files.values().for_each(|file| signals(file, known));
}

fn signals_of<'definition>(node: &'definition CompiledNode, known: &mut BTreeSet<&'definition str>) {
    let signal = node.spec.wait.as_ref().and_then(|wait| wait.signal.as_ref());
    known.extend(signal.map(NodeId::as_str));
    match &node.inside {
        Inside::Nothing => {}
        Inside::Graph(body) => signals(body, known),
        Inside::Copy(copied) => signals_of(copied, known),
    }
}
