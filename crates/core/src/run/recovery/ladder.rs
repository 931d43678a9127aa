//! What is tried after a failed attempt: one function of what is known, cheapest applicable strategy first (`R-REC-1`).

use serde::{Deserialize, Serialize};

use super::rules::LadderRules;
use super::strategy::Strategy;
use crate::file::Human;
use crate::run::class::{Class, Known};
use crate::run::failure::{NodeError, Severity};

/// How often transient failures of a node are repeated; they do not count towards the limit of the ladder.
pub const TRANSIENT_RETRIES_MAX: u32 = 2;

/// The failures that a person can do something about.
const FOR_PEOPLE: [Known; 3] = [Known::PERMISSION_DENIED, Known::SCOPE_VIOLATION, Known::ISOLATION_BREACH];

/// Everything the choice depends on.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Why the attempt failed, with feedback and grade. `INTERRUPTED` has rules of its own (`R-CLAIM-4`) and should not
    /// come here; if it does, it is final.
    pub error: &'a NodeError,
    /// What the node says about its recovery.
    pub rules: &'a LadderRules,
    /// The failures that count, this one included: all but transient ones. A decomposition whose children failed is
    /// one. An attempt that a person asked for counts like any other; nothing starts anew.
    pub attempts: u32,
    /// How often the node was repeated because of transient failures.
    pub transient_retries: u32,
    /// The strategies used on this node so far, in order.
    pub used: &'a [Strategy],
    /// The model last used, if any.
    pub model: Option<&'a str>,
    /// Whether the budget pays for an attempt on the next tier.
    pub affords_higher: bool,
}

/// What is done next, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What is done.
    pub next: Next,
    /// Why, in words for people.
    pub reason: String,
    /// The strategies that come before it and were not taken, cheapest first.
    pub passed: Vec<Passed>,
}

/// What is done after a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// The same again.
    RetrySame,
    /// Again on the same model, told what went wrong.
    RetryWithFeedback,
    /// Again on another model.
    EscalateModel {
        /// The next tier.
        model: String,
    },
    /// The task is split by the node's hook.
    DecomposeFurther,
    /// The node completes with its fallback, tainted (`R-STATE-9`).
    SkipWithFallback,
    /// A person is asked (`R-REC-4`).
    HumanIntervention,
    /// The failure is final.
    Fail,
}

impl Next {
    /// The strategy, unless the failure is final.
    pub const fn strategy(&self) -> Option<Strategy> {
        match self {
            Self::RetrySame => Some(Strategy::RetrySame),
            Self::RetryWithFeedback => Some(Strategy::RetryWithFeedback),
            Self::EscalateModel { .. } => Some(Strategy::EscalateModel),
            Self::DecomposeFurther => Some(Strategy::DecomposeFurther),
            Self::SkipWithFallback => Some(Strategy::SkipWithFallback),
            Self::HumanIntervention => Some(Strategy::HumanIntervention),
            Self::Fail => None,
        }
    }
}

/// A strategy that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passed {
    /// The strategy.
    pub strategy: Strategy,
    /// Why not, in words for people.
    pub why: String,
}

/// Picks what is done after a failed attempt.
///
/// Equal situations give equal decisions. Whatever fails afterwards, the engine by itself goes on at most
/// `max_attempts - 1` times, and [`TRANSIENT_RETRIES_MAX`] times more for transient failures.
pub fn choose(situation: &Situation<'_>) -> Decision {
    let mut passed = Vec::new();
    for strategy in Strategy::ALL {
        // The last thing the engine tries by itself comes after the fallback and before a person.
        if strategy == Strategy::HumanIntervention && situation.may_tell() {
            passed.retain(|passed: &Passed| passed.strategy != Strategy::RetryWithFeedback);
            let reason = "nothing else applies, and it was not told yet what went wrong".to_owned();
            return Decision { next: Next::RetryWithFeedback, reason, passed };
        }
        match situation.weigh(strategy) {
            Ok((next, reason)) => return Decision { next, reason, passed },
            Err(why) => passed.push(Passed { strategy, why }),
        }
    }
    Decision { next: Next::Fail, reason: situation.why_nothing_is_left(), passed }
}

impl Situation<'_> {
    fn class(&self) -> Class {
        self.error.class()
    }

    fn is_interruption(&self) -> bool {
        self.error.code == Known::INTERRUPTED
    }

    fn at_limit(&self) -> bool {
        self.attempts >= self.rules.max_attempts
    }

    /// Whether the node may still be told what went wrong, whatever that was.
    fn may_tell(&self) -> bool {
        let helps = matches!(self.class(), Class::ModelLimitation | Class::Complexity);
        helps && !self.at_limit() && !self.used.contains(&Strategy::RetryWithFeedback)
    }

    /// What the strategy would do and why it is the one, or why it is not.
    fn weigh(&self, strategy: Strategy) -> Result<(Next, String), String> {
        if self.is_interruption() {
            return Err("interruptions have a limit of their own".to_owned());
        }
        match (strategy, self.class()) {
            (Strategy::HumanIntervention, Class::Transient) => {
                Err("a transient failure never goes to a person".to_owned())
            }
            (Strategy::HumanIntervention, _) => self.ask(),
            (Strategy::RetrySame, Class::Transient) => self.repeat(),
            (Strategy::SkipWithFallback, Class::Transient | Class::ModelLimitation | Class::Complexity) => self.skip(),
            (Strategy::RetryWithFeedback, Class::ModelLimitation | Class::Complexity) => self.tell(),
            (Strategy::EscalateModel, Class::ModelLimitation | Class::Complexity) => self.escalate(),
            (Strategy::DecomposeFurther, Class::Complexity) => self.decompose(),
            (
                Strategy::RetrySame
                | Strategy::RetryWithFeedback
                | Strategy::EscalateModel
                | Strategy::DecomposeFurther
                | Strategy::SkipWithFallback,
                class,
            ) => Err(format!("it cannot help a failure of class {class}")),
        }
    }

    fn repeat(&self) -> Result<(Next, String), String> {
        if self.transient_retries >= TRANSIENT_RETRIES_MAX {
            return Err(format!("its {TRANSIENT_RETRIES_MAX} retries are used up"));
        }
        let retry = self.transient_retries + 1;
        let reason = format!("`{}` may pass: retry {retry} of {TRANSIENT_RETRIES_MAX}", self.error.code);
        Ok((Next::RetrySame, reason))
    }

    fn tell(&self) -> Result<(Next, String), String> {
        self.room()?;
        if self.used.contains(&Strategy::RetryWithFeedback) {
            return Err("it was used before".to_owned());
        }
        let feedback = &self.error.feedback;
        if feedback.is_empty() {
            return Err("there is no feedback".to_owned());
        }
        if !feedback.iter().any(|feedback| feedback.severity == Severity::Critical) {
            return Err("the feedback has no critical issues".to_owned());
        }
        Ok((Next::RetryWithFeedback, "the feedback has critical issues".to_owned()))
    }

    fn escalate(&self) -> Result<(Next, String), String> {
        self.room()?;
        let cause = match self.error.grade.filter(|grade| grade.fails()) {
            Some(grade) => format!("the grade is {grade}"),
            None if self.class() == Class::ModelLimitation => format!("`{}` may be the model's limit", self.error.code),
            None => return Err(self.why_the_model_will_do()),
        };
        let model = self.rules.tiers.above(self.model).map_err(|none| none.to_string())?.to_owned();
        if !self.affords_higher {
            return Err(format!("the budget does not pay for `{model}`"));
        }
        let reason = format!("{cause}; `{model}` is the next tier");
        Ok((Next::EscalateModel { model }, reason))
    }

    fn why_the_model_will_do(&self) -> String {
        let code = &self.error.code;
        match self.error.grade {
            Some(grade) => format!("neither the grade {grade} nor `{code}` points to the model"),
            None => format!("`{code}` does not point to the model, and there is no grade"),
        }
    }

    fn decompose(&self) -> Result<(Next, String), String> {
        self.room()?;
        if self.used.contains(&Strategy::DecomposeFurther) {
            return Err("it was used before".to_owned());
        }
        if !self.rules.decompose {
            return Err("the node has no `decompose` hook".to_owned());
        }
        Ok((Next::DecomposeFurther, format!("`{}`: smaller parts may succeed", self.error.code)))
    }

    /// A fallback makes no attempt, so the limit does not keep it away.
    fn skip(&self) -> Result<(Next, String), String> {
        if !self.rules.fallback {
            return Err("the node has no `fallback`".to_owned());
        }
        if self.class() == Class::Transient {
            // `retry-same` was weighed before and would have been taken, had there been a retry left.
            return Ok((Next::SkipWithFallback, self.why_nothing_is_left()));
        }
        match self.tried().as_slice() {
            [] => Err("two strategies come first, and none was tried".to_owned()),
            [only] => Err(format!("two strategies come first, and only {only} was tried")),
            [first, second, rest @ ..] => {
                let more = if rest.is_empty() { "" } else { ", among others," };
                Ok((Next::SkipWithFallback, format!("{first} and {second}{more} did not help")))
            }
        }
    }

    /// The distinct strategies with which the engine itself tried again, in order. What a person asked for is not the
    /// engine giving up, so it brings the fallback no nearer.
    fn tried(&self) -> Vec<Strategy> {
        let mut tried = Vec::new();
        for strategy in self.used {
            if strategy.works_again() && !tried.contains(strategy) {
                tried.push(*strategy);
            }
        }
        tried
    }

    fn ask(&self) -> Result<(Next, String), String> {
        let code = &self.error.code;
        if self.class() == Class::Unrecoverable && !FOR_PEOPLE.iter().any(|known| code == known) {
            return Err(format!("`{code}` is final"));
        }
        match self.rules.human {
            Human::Pause => Ok((Next::HumanIntervention, self.why_nothing_is_left())),
            Human::Fail => Err("the node does not say `human: pause`".to_owned()),
        }
    }

    /// Whether the ladder may make one more attempt.
    fn room(&self) -> Result<(), String> {
        if self.at_limit() { Err(self.limit()) } else { Ok(()) }
    }

    fn limit(&self) -> String {
        let max = self.rules.max_attempts;
        format!("the limit of {max} attempt{} is reached", if max == 1 { "" } else { "s" })
    }

    /// Why the engine does not try again.
    fn why_nothing_is_left(&self) -> String {
        let code = &self.error.code;
        match self.class() {
            _ if self.is_interruption() => "it was interrupted too often".to_owned(),
            Class::Unrecoverable => format!("no further attempt can help against `{code}`"),
            Class::Transient => format!("`{code}` did not pass with {TRANSIENT_RETRIES_MAX} retries"),
            Class::ModelLimitation | Class::Complexity if self.at_limit() => self.limit(),
            Class::ModelLimitation | Class::Complexity => "nothing is left to try".to_owned(),
        }
    }
}
