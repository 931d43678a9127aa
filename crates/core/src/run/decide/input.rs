//! One input at a time: what it means for the run, or why it means nothing.

use std::fmt;

use crate::codes::Code;
use crate::facts::Facts;
use crate::graph::NodeIndex;
use crate::run::cause::StopCause;
use crate::run::entry::Entry;
use crate::run::fold::{Corrupt, Ownership, Run};
use crate::run::ids::{Fence, QuestionId, RunId, Timestamp};
use crate::run::input::{Input, Taking};
use crate::run::parts::Refusal;
use crate::run::question::QuestionKind;
use crate::suggest;

/// Why an input changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The run is over.
    Ended,
    /// There is no such question.
    NoQuestion(String),
    /// Somebody was faster, or the question closed by itself.
    AlreadyAnswered {
        /// The question.
        question: QuestionId,
        /// Who answered what, if somebody did.
        by: Option<(String, &'static str)>,
    },
    /// What is asked is no longer what the person saw.
    QuestionChanged(QuestionId),
    /// The question does not take this choice, or not without data.
    BadChoice {
        /// The question.
        question: QuestionId,
        /// What it asks for.
        kind: QuestionKind,
        /// What is wrong.
        problem: String,
    },
    /// This person may not answer.
    NotAnApprover {
        /// The question.
        question: QuestionId,
        /// Who tried.
        by: String,
        /// Who may.
        approvers: Vec<String>,
    },
    /// The same command was refused before, and sent twice it counts once.
    Before(Refusal),
    /// No node of the workflow ever waits for this signal.
    NoSignal {
        /// Its name.
        name: String,
        /// What nodes wait for.
        known: Vec<String>,
    },
    /// A report about an attempt that never started: a bug of the sender.
    NoAttempt {
        /// The node.
        node: NodeIndex,
        /// The attempt.
        attempt: u32,
    },
    /// A decision that the state refuses: a bug of the core, caught before anything is written.
    Illegal(Corrupt),
}

impl Refused {
    /// What every face says about it.
    pub fn facts(&self) -> Facts {
        match self {
            Self::Ended => Facts::new(Code::RUN_ENDED, "resume it to make a new run that goes on from here"),
            Self::NoQuestion(_) => Facts::new(Code::UNKNOWN_QUESTION, "`sprag approvals` lists the open questions"),
            Self::AlreadyAnswered { .. } => Facts::new(Code::ALREADY_ANSWERED, "the first answer stands"),
            Self::QuestionChanged(_) => {
                Facts::new(Code::QUESTION_CHANGED, "look at the question again and answer what it shows now")
            }
            Self::BadChoice { kind, .. } => {
                let choices: Vec<_> = kind.choices().iter().map(|choice| choice.as_str()).collect();
                Facts::new(Code::INVALID_CHOICE, format!("choose one of {}", choices.join(", ")))
            }
            Self::NotAnApprover { approvers, .. } => {
                Facts::new(Code::NOT_AN_APPROVER, format!("ask one of {}", approvers.join(", ")))
            }
            Self::Before(refusal) => Facts::new(refusal.code, "send a new command instead of the same one again"),
            Self::NoSignal { name, known } => {
                let known = || known.iter().map(String::as_str);
                let help = suggest::did_you_mean(name, known()).unwrap_or_else(|| match known().next() {
                    None => "this workflow waits for no signal".into(),
                    Some(_) => format!("the signals are {}", suggest::listed(known())),
                });
                Facts::new(Code::UNKNOWN_SIGNAL, help)
            }
            Self::NoAttempt { .. } | Self::Illegal(_) => {
                Facts::new(Code::INTERNAL, "this is a bug in sprag; please report it with the run's journal")
            }
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended => write!(formatter, "the run is over"),
            Self::NoQuestion(name) => write!(formatter, "there is no question `{name}` in this run"),
            Self::AlreadyAnswered { question, by: Some((by, choice)) } => {
                write!(formatter, "question {question} was answered by {by}: {choice}")
            }
            Self::AlreadyAnswered { question, by: None } => {
                write!(formatter, "question {question} was closed before it was answered")
            }
            Self::QuestionChanged(question) => write!(formatter, "question {question} is not what you were shown"),
            Self::BadChoice { question, problem, .. } => write!(formatter, "question {question}: {problem}"),
            Self::NotAnApprover { question, by, .. } => write!(formatter, "{by} may not answer question {question}"),
            Self::Before(refusal) => write!(formatter, "{}", refusal.message),
            Self::NoSignal { name, .. } => write!(formatter, "no node waits for a signal `{name}`"),
            Self::NoAttempt { node, attempt } => {
                write!(formatter, "attempt {attempt} of node {} never started", node.0)
            }
            Self::Illegal(corrupt) => write!(formatter, "a decision was refused by the state: {corrupt}"),
        }
    }
}

impl std::error::Error for Refused {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Illegal(corrupt) => Some(corrupt),
            _ => None,
        }
    }
}

impl Run {
    /// What an input means: the entries that it causes directly. Never changes the run; an input that was applied
    /// already means nothing more. What follows from the entries is for [`Run::follow`] to say.
    pub fn decide(&self, now: Timestamp, input: &Input) -> Result<Vec<Entry>, Refused> {
        match input {
            Input::Take { owner, how, folded } => {
                let applied = |current: Ownership| current.owner == *owner && current.fence.0 > folded.0;
                if self.ownership.is_some_and(applied) {
                    return Ok(Vec::new());
                }
                if self.ending.is_some() {
                    return Err(Refused::Ended);
                }
                // The claim's own number is its fence: it grows with every take-over and nobody has to hand it out.
                let fence = Fence(self.seq.0 + 1);
                let mut entries =
                    vec![Entry::Owned { owner: *owner, fence, person: matches!(how, Taking::Person { .. }) }];
                if let Taking::Person { deadline: Some(length) } = how {
                    entries.push(Entry::DeadlineMoved { deadline: now.plus(*length) });
                }
                // Whoever resumes a paused run wants it to go on (`R-RES-1`).
                if self.held && matches!(how, Taking::Person { .. }) {
                    entries.push(Entry::Held { on: false });
                }
                Ok(entries)
            }
            Input::Report { node, attempt, report } => self.report(now, *node, *attempt, report),
            Input::Supersede { by } => self.superseded(*by),
            Input::Command(command) => {
                match self.commands.get(&command.id) {
                    Some(None) => return Ok(Vec::new()),
                    Some(Some(refusal)) => return Err(Refused::Before(refusal.clone())),
                    None => {}
                }
                if self.ending.is_some() {
                    return Err(Refused::Ended);
                }
                self.command(now, command)
            }
        }
    }

    /// The run is closed, because a linked one goes on. The first that does stands.
    fn superseded(&self, by: RunId) -> Result<Vec<Entry>, Refused> {
        let cause = StopCause::Superseded { by };
        if self.root().stop.as_ref() == Some(&cause) {
            return Ok(Vec::new());
        }
        if self.ending.is_some() || self.root().stop.as_ref().is_some_and(|stop| stop.level() >= cause.level()) {
            return Err(Refused::Ended);
        }
        Ok(self.stops(0, cause))
    }
}
