//! Values of the right type that still make no sense.

use super::level::Checker;
use super::trail::Trail;
use crate::codes::Code;
use crate::file::{Defaults, Duration, Policy, Recovery, Retry, SecretSource, is_code_or_class};
use crate::suggest;

impl Checker<'_, '_, '_> {
    pub fn invalid(&mut self, trail: &Trail<'_>, message: impl Into<String>, help: impl Into<String>) {
        self.problems.at(Code::INVALID_VALUE, trail, message, help);
    }

    /// A number that has to be at least one.
    pub fn at_least_one(&mut self, trail: &Trail<'_>, key: &str, value: Option<u32>) {
        if value == Some(0) {
            self.invalid(&trail.key(key), format!("`{key}` must be at least 1"), "leave it out for the default");
        }
    }

    /// A duration that has to be longer than nothing.
    pub fn positive(&mut self, trail: &Trail<'_>, key: &str, value: Option<Duration>) {
        if value == Some(Duration::from_millis(0)) {
            self.invalid(&trail.key(key), format!("`{key}` must be longer than nothing"), "leave it out for none");
        }
    }

    /// Exactly one of several keys.
    pub fn exactly_one(&mut self, trail: &Trail<'_>, what: &str, keys: &[(&str, bool)]) {
        let present: Vec<_> = keys.iter().filter(|(_, there)| *there).map(|(key, _)| *key).collect();
        let all = || suggest::listed(keys.iter().map(|(key, _)| *key));
        match present.as_slice() {
            [_] => {}
            [] if self.problems.is_damaged(trail) => {}
            [] => {
                let message = format!("{what} needs one of {}", all());
                self.problems.at(Code::MISSING_KEY, trail, message, "add one of them");
            }
            [_, second, ..] => {
                let message = format!("{what} takes exactly one of {}", all());
                self.problems.at_key(Code::INVALID_VALUE, &trail.key(second), message, "remove all but one");
            }
        }
    }

    pub fn policy(&mut self, trail: &Trail<'_>, policy: &Policy) {
        self.at_least_one(trail, "max_parallelism", policy.max_parallelism);
        self.at_least_one(trail, "max_node_failures", policy.max_node_failures);
        self.at_least_one(trail, "max_retries_exhausted", policy.max_retries_exhausted);
        self.positive(trail, "deadline", policy.deadline);
        if let Some(checkpoints) = &policy.checkpoints {
            let trail = trail.key("checkpoints");
            self.at_least_one(&trail, "keep", checkpoints.keep);
            self.positive(&trail, "autosave", checkpoints.autosave);
        }
        if let Some(budget) = &policy.budget {
            let trail = trail.key("budget");
            if budget.usd.is_some_and(|usd| !usd.is_finite() || usd < 0.0) {
                self.invalid(&trail.key("usd"), "a budget cannot be negative", "write an amount such as `20`");
            }
            if budget.usd.is_none() && budget.tokens.is_none() && !self.problems.is_damaged(&trail) {
                let help = "add `tokens` or `usd`";
                self.problems.at(Code::MISSING_KEY, &trail, "a budget limits tokens or dollars", help);
            }
        }
        if policy.fail_open == Some(true) && policy.fail_fast == Some(true) {
            let message = "`fail_open` has no effect under `fail_fast`";
            self.invalid(&trail.key("fail_open"), message, "choose one of the two");
        }
    }

    pub fn defaults(&mut self, trail: &Trail<'_>, defaults: &Defaults) {
        if let Some(retry) = &defaults.retry {
            self.retry(&trail.key("retry"), retry);
        }
        if let Some(recovery) = &defaults.recovery {
            self.recovery(&trail.key("recovery"), recovery);
            if let Some(work) = &recovery.decompose {
                self.work(&trail.key("recovery").key("decompose"), "decomposition", work);
            }
        }
        self.positive(trail, "timeout", defaults.timeout);
        self.positive(trail, "idle_timeout", defaults.idle_timeout);
    }

    pub fn retry(&mut self, trail: &Trail<'_>, retry: &Retry) {
        self.at_least_one(trail, "max_attempts", retry.max_attempts);
        if retry.jitter.is_some_and(|jitter| !(0.0..=1.0).contains(&jitter)) {
            let help = "0.2 varies a delay by a fifth either way";
            self.invalid(&trail.key("jitter"), "`jitter` goes from 0 to 1", help);
        }
        if let (Some(initial), Some(max)) = (retry.initial_delay, retry.max_delay)
            && initial > max
        {
            let message = format!("`max_delay` ({max}) is shorter than `initial_delay` ({initial})");
            self.invalid(&trail.key("max_delay"), message, "the delay grows from the initial one up to the maximum");
        }
        for (key, codes) in [("only", &retry.only), ("never", &retry.never)] {
            for (at, code) in codes.iter().flatten().enumerate() {
                if !is_code_or_class(code) {
                    let message = format!("`{code}` is neither an error code nor a class");
                    let help = suggest::did_you_mean(code, crate::file::ERROR_CLASSES).unwrap_or_else(|| {
                        let classes = suggest::listed(crate::file::ERROR_CLASSES);
                        format!("codes are capital letters such as `TIMEOUT`; the classes are {classes}")
                    });
                    self.invalid(&trail.key(key).index(at), message, help);
                }
            }
        }
    }

    pub fn recovery(&mut self, trail: &Trail<'_>, recovery: &Recovery) {
        self.at_least_one(trail, "max_attempts", recovery.max_attempts);
        if recovery.tiers.as_ref().is_some_and(Vec::is_empty) {
            self.invalid(&trail.key("tiers"), "`tiers` names no model", "leave it out for haiku, sonnet, opus");
        }
    }

    pub fn secret_source(&mut self, trail: &Trail<'_>, source: &SecretSource) {
        self.exactly_one(trail, "a secret", &[("env", source.env.is_some()), ("file", source.file.is_some())]);
    }

    /// A JSON Schema is an object, or `true` and `false`.
    pub fn schema(&mut self, trail: &Trail<'_>, schema: &serde_json::Value) {
        if !(schema.is_object() || schema.is_boolean()) {
            let help = "a JSON Schema is a mapping such as `{ type: object }`";
            self.problems.at(Code::WRONG_TYPE, trail, "this is not a JSON Schema", help);
        }
    }
}
