//! What the ladder chooses: a table in the order of `R-REC-1`, and what the ledger says about what was not chosen.

use super::situations::{Case, decision};

/// Error and situation in words (see [`Case`]), then what is done.
const TABLE: &[(&str, &str)] = &[
    // R-REC-1, 1: three codes go to a person under `human: pause`, which agents have by default.
    ("PERMISSION_DENIED agent", "human-intervention"),
    ("SCOPE_VIOLATION agent", "human-intervention"),
    ("ISOLATION_BREACH agent", "human-intervention"),
    ("PERMISSION_DENIED agent human:fail", "fail"),
    ("SCOPE_VIOLATION agent human:fail", "fail"),
    ("ISOLATION_BREACH agent human:fail", "fail"),
    ("PERMISSION_DENIED run", "fail"),
    ("SCOPE_VIOLATION run", "fail"),
    ("ISOLATION_BREACH run", "fail"),
    ("PERMISSION_DENIED run human:pause", "human-intervention"),
    ("SCOPE_VIOLATION run human:pause", "human-intervention"),
    ("ISOLATION_BREACH run human:pause", "human-intervention"),
    // Neither fallback, hook, tier, feedback nor room on the ladder changes that.
    ("PERMISSION_DENIED agent model:haiku fallback decompose feedback:critical grade:F", "human-intervention"),
    ("PERMISSION_DENIED agent human:fail fallback used:retry-with-feedback,escalate-model", "fail"),
    ("PERMISSION_DENIED agent attempts:3", "human-intervention"),
    ("PERMISSION_DENIED agent attempts:9 used:human-intervention", "human-intervention"),
    // The other unrecoverable codes are final, whatever the node offers.
    ("CYCLE_DETECTED agent fallback", "fail"),
    ("MISSING_DEPENDENCY agent fallback", "fail"),
    ("CONDITION_ERROR agent fallback", "fail"),
    ("BUDGET_EXCEEDED agent fallback", "fail"),
    ("DEADLINE_EXCEEDED agent fallback", "fail"),
    ("REJECTED agent fallback", "fail"),
    ("APPROVAL_TIMEOUT agent fallback", "fail"),
    ("GATE_ERROR agent fallback", "fail"),
    ("INTERNAL agent fallback", "fail"),
    ("INTERNAL run human:pause feedback:critical grade:F decompose", "fail"),
    // R-REC-1, 2: transient failures are repeated twice, then the fallback or the end, never a person.
    ("TIMEOUT agent", "retry-same"),
    ("RATE_LIMITED agent", "retry-same"),
    ("NETWORK run", "retry-same"),
    ("UNAVAILABLE run human:pause", "retry-same"),
    ("TIMEOUT agent transient:1", "retry-same"),
    ("TIMEOUT agent transient:2", "fail"),
    ("TIMEOUT run human:pause transient:2", "fail"),
    ("NETWORK agent transient:7", "fail"),
    ("TIMEOUT agent transient:2 fallback", "skip-with-fallback"),
    ("TIMEOUT run transient:2 fallback", "skip-with-fallback"),
    ("TIMEOUT agent transient:1 fallback", "retry-same"),
    // They do not count, and the ladder's limit is not theirs.
    ("TIMEOUT agent attempts:3", "retry-same"),
    ("TIMEOUT agent max:1 attempts:1 transient:1", "retry-same"),
    ("TIMEOUT agent used:retry-with-feedback,escalate-model fallback", "retry-same"),
    // Nothing else helps them.
    ("TIMEOUT agent model:haiku feedback:critical grade:F decompose", "retry-same"),
    ("TIMEOUT agent model:haiku feedback:critical grade:F decompose transient:2", "fail"),
    ("TIMEOUT agent model:haiku feedback:critical grade:F decompose transient:2 fallback", "skip-with-fallback"),
    // An interruption has rules of its own (R-CLAIM-4); here it is final.
    ("INTERRUPTED agent fallback", "fail"),
    ("INTERRUPTED run transient:2 human:pause", "fail"),
    // R-REC-1, 3: critical feedback comes before a dearer model and before smaller parts.
    ("LOW_GRADE agent model:haiku feedback:critical grade:F decompose", "retry-with-feedback"),
    ("LOW_GRADE agent model:haiku feedback:minor,critical grade:D", "retry-with-feedback"),
    ("TOOL_ERROR agent model:haiku feedback:critical", "retry-with-feedback"),
    ("SCHEMA_MISMATCH run feedback:critical decompose", "retry-with-feedback"),
    ("LOW_GRADE agent model:haiku feedback:minor grade:D", "escalate-model sonnet"),
    ("LOW_GRADE agent model:haiku grade:D", "escalate-model sonnet"),
    (
        "LOW_GRADE agent model:haiku feedback:critical grade:D attempts:2 used:retry-with-feedback",
        "escalate-model sonnet",
    ),
    ("LOW_GRADE agent model:haiku feedback:critical grade:D attempts:3", "human-intervention"),
    // R-REC-1, 4: haiku, sonnet, opus over two failures; then nothing is higher.
    ("MODEL_ERROR agent model:haiku", "escalate-model sonnet"),
    ("MODEL_ERROR agent model:sonnet attempts:2 used:escalate-model", "escalate-model opus"),
    ("MODEL_ERROR agent model:opus attempts:3 used:escalate-model,escalate-model", "human-intervention"),
    ("MODEL_ERROR agent model:opus attempts:3 max:5 used:escalate-model,escalate-model", "retry-with-feedback"),
    // The tier last used is what counts, not the one the node began with.
    ("MODEL_ERROR agent model:sonnet", "escalate-model opus"),
    ("MODEL_ERROR agent model:opus", "retry-with-feedback"),
    ("TOOL_ERROR agent model:haiku", "escalate-model sonnet"),
    ("DISK_FULL agent model:haiku", "escalate-model sonnet"),
    ("LOW_GRADE agent model:haiku grade:F", "escalate-model sonnet"),
    ("INVALID_OUTPUT agent model:haiku grade:F", "escalate-model sonnet"),
    // A complex task is no reason for a dearer model unless it was graded so.
    ("INVALID_OUTPUT agent model:haiku", "retry-with-feedback"),
    ("SCHEMA_MISMATCH agent model:haiku grade:C", "retry-with-feedback"),
    // R-NODE-3: tiers of the node's own.
    ("MODEL_ERROR agent model:small tiers:small,large", "escalate-model large"),
    ("MODEL_ERROR agent model:large tiers:small,large", "retry-with-feedback"),
    ("MODEL_ERROR agent model:own tiers:small,large", "escalate-model small"),
    ("MODEL_ERROR agent tiers:small,large", "escalate-model large"),
    ("MODEL_ERROR agent model:gpt", "retry-with-feedback"),
    ("MODEL_ERROR agent", "retry-with-feedback"),
    ("TOOL_ERROR run", "retry-with-feedback"),
    ("TOOL_ERROR run grade:F", "retry-with-feedback"),
    ("TOOL_ERROR run tiers:small,large", "escalate-model large"),
    // A budget that does not pay for the next tier leaves what is cheaper, or what comes next.
    ("MODEL_ERROR agent model:haiku poor", "retry-with-feedback"),
    ("MODEL_ERROR agent model:haiku poor attempts:2 used:retry-with-feedback", "human-intervention"),
    ("MODEL_ERROR agent model:haiku poor human:fail attempts:2 used:retry-with-feedback", "fail"),
    ("LOW_GRADE agent model:haiku grade:D poor decompose", "decompose-further"),
    ("LOW_GRADE agent model:haiku grade:D poor feedback:critical", "retry-with-feedback"),
    ("TIMEOUT agent model:haiku poor", "retry-same"),
    // R-REC-1, 5: complex tasks are split once.
    ("INVALID_OUTPUT agent model:haiku decompose", "decompose-further"),
    ("SCHEMA_MISMATCH run decompose", "decompose-further"),
    ("LOW_GRADE agent model:opus grade:D decompose", "decompose-further"),
    ("LOW_GRADE agent model:haiku grade:D decompose", "escalate-model sonnet"),
    ("INVALID_OUTPUT run decompose attempts:2 used:decompose-further", "retry-with-feedback"),
    ("INVALID_OUTPUT run decompose attempts:3 max:4 used:decompose-further,retry-with-feedback", "fail"),
    ("INVALID_OUTPUT run decompose attempts:3", "fail"),
    ("MODEL_ERROR agent model:opus decompose", "retry-with-feedback"),
    // R-REC-1, 6: the fallback comes after two distinct strategies, and the limit does not keep it away.
    ("TOOL_ERROR run fallback", "retry-with-feedback"),
    ("TOOL_ERROR run fallback attempts:2 used:retry-with-feedback", "fail"),
    ("TOOL_ERROR run fallback human:pause attempts:2 used:retry-with-feedback", "human-intervention"),
    ("TOOL_ERROR run fallback attempts:2 used:retry-with-feedback,retry-same", "skip-with-fallback"),
    ("TOOL_ERROR run fallback used:retry-same,retry-same", "retry-with-feedback"),
    ("MODEL_ERROR agent model:opus fallback attempts:3 used:escalate-model,retry-with-feedback", "skip-with-fallback"),
    ("MODEL_ERROR agent model:opus fallback attempts:3 used:escalate-model,escalate-model", "human-intervention"),
    ("MODEL_ERROR agent model:opus fallback human:fail attempts:3 used:escalate-model,escalate-model", "fail"),
    ("LOW_GRADE run fallback attempts:2 used:decompose-further,retry-with-feedback", "skip-with-fallback"),
    (
        "LOW_GRADE agent model:sonnet grade:D fallback attempts:2 max:5 used:retry-with-feedback,escalate-model",
        "escalate-model opus",
    ),
    ("LOW_GRADE agent model:opus grade:D attempts:3 used:retry-with-feedback,escalate-model", "human-intervention"),
    ("TOOL_ERROR run fallback max:1", "fail"),
    // What a person asked for brings the fallback no nearer, and starts nothing anew.
    (
        "TOOL_ERROR run fallback human:pause attempts:3 used:retry-with-feedback,human-intervention",
        "human-intervention",
    ),
    ("TOOL_ERROR run human:pause attempts:2 used:human-intervention", "retry-with-feedback"),
    ("MODEL_ERROR agent model:haiku attempts:4 used:retry-with-feedback,human-intervention", "human-intervention"),
    ("TIMEOUT agent transient:2 used:retry-same,retry-same,human-intervention", "fail"),
    // R-REC-1, 7: feedback if it was never used, with or without any; then a person, or the end.
    ("TOOL_ERROR run feedback:minor", "retry-with-feedback"),
    ("TOOL_ERROR run attempts:2 used:retry-with-feedback", "fail"),
    ("TOOL_ERROR run human:pause attempts:2 used:retry-with-feedback", "human-intervention"),
    ("TOOL_ERROR run human:pause attempts:2 feedback:critical used:retry-with-feedback", "human-intervention"),
    ("INVALID_OUTPUT agent attempts:2 used:retry-with-feedback", "human-intervention"),
    ("INVALID_OUTPUT agent human:fail attempts:2 used:retry-with-feedback", "fail"),
    ("TOOL_ERROR run attempts:3", "fail"),
    ("TOOL_ERROR run human:pause attempts:3", "human-intervention"),
    ("MODEL_ERROR agent model:haiku max:1", "human-intervention"),
    ("MODEL_ERROR agent model:haiku max:1 human:fail", "fail"),
    ("MODEL_ERROR agent model:haiku max:2 attempts:2 feedback:critical decompose", "human-intervention"),
];

#[test]
fn the_cheapest_applicable_strategy_is_taken() {
    // R-REC-1
    assert!(TABLE.len() >= 80);
    for (case, expected) in TABLE {
        let chosen = decision(case);
        let mut next = chosen.next.strategy().map_or("fail", |strategy| strategy.as_str()).to_owned();
        if let sprag_core::run::recovery::Next::EscalateModel { model } = &chosen.next {
            next = format!("{next} {model}");
        }
        assert_eq!(next, *expected, "{case}\n{chosen:#?}");
        assert_eq!(decision(case), chosen, "{case}: equal situations give equal decisions");
    }
}

/// The reason, then what was passed over, as the ledger prints them.
const LEDGER: &[(&str, &str, &[&str])] = &[
    ("TIMEOUT agent transient:1", "`TIMEOUT` may pass: retry 2 of 2", &[]),
    (
        "TIMEOUT agent transient:2 fallback",
        "`TIMEOUT` did not pass with 2 retries",
        &[
            "retry-same: its 2 retries are used up",
            "retry-with-feedback: it cannot help a failure of class transient",
            "escalate-model: it cannot help a failure of class transient",
            "decompose-further: it cannot help a failure of class transient",
        ],
    ),
    (
        "TIMEOUT agent transient:2",
        "`TIMEOUT` did not pass with 2 retries",
        &[
            "retry-same: its 2 retries are used up",
            "retry-with-feedback: it cannot help a failure of class transient",
            "escalate-model: it cannot help a failure of class transient",
            "decompose-further: it cannot help a failure of class transient",
            "skip-with-fallback: the node has no `fallback`",
            "human-intervention: a transient failure never goes to a person",
        ],
    ),
    (
        "PERMISSION_DENIED agent",
        "no further attempt can help against `PERMISSION_DENIED`",
        &[
            "retry-same: it cannot help a failure of class unrecoverable",
            "retry-with-feedback: it cannot help a failure of class unrecoverable",
            "escalate-model: it cannot help a failure of class unrecoverable",
            "decompose-further: it cannot help a failure of class unrecoverable",
            "skip-with-fallback: it cannot help a failure of class unrecoverable",
        ],
    ),
    (
        "REJECTED agent",
        "no further attempt can help against `REJECTED`",
        &[
            "retry-same: it cannot help a failure of class unrecoverable",
            "retry-with-feedback: it cannot help a failure of class unrecoverable",
            "escalate-model: it cannot help a failure of class unrecoverable",
            "decompose-further: it cannot help a failure of class unrecoverable",
            "skip-with-fallback: it cannot help a failure of class unrecoverable",
            "human-intervention: `REJECTED` is final",
        ],
    ),
    (
        "LOW_GRADE agent model:haiku feedback:critical grade:F",
        "the feedback has critical issues",
        &["retry-same: it cannot help a failure of class complexity"],
    ),
    (
        "LOW_GRADE agent model:haiku feedback:minor grade:D",
        "the grade is D; `sonnet` is the next tier",
        &[
            "retry-same: it cannot help a failure of class complexity",
            "retry-with-feedback: the feedback has no critical issues",
        ],
    ),
    (
        "MODEL_ERROR agent model:sonnet attempts:2 used:escalate-model",
        "`MODEL_ERROR` may be the model's limit; `opus` is the next tier",
        &[
            "retry-same: it cannot help a failure of class model-limitation",
            "retry-with-feedback: there is no feedback",
        ],
    ),
    (
        "SCHEMA_MISMATCH agent model:haiku attempts:2 used:retry-with-feedback decompose",
        "`SCHEMA_MISMATCH`: smaller parts may succeed",
        &[
            "retry-same: it cannot help a failure of class complexity",
            "retry-with-feedback: it was used before",
            "escalate-model: `SCHEMA_MISMATCH` does not point to the model, and there is no grade",
        ],
    ),
    (
        "MODEL_ERROR agent model:haiku poor",
        "nothing else applies, and it was not told yet what went wrong",
        &[
            "retry-same: it cannot help a failure of class model-limitation",
            "escalate-model: the budget does not pay for `sonnet`",
            "decompose-further: it cannot help a failure of class model-limitation",
            "skip-with-fallback: the node has no `fallback`",
        ],
    ),
    (
        "LOW_GRADE agent model:opus grade:D fallback attempts:2 used:retry-with-feedback",
        "nothing is left to try",
        &[
            "retry-same: it cannot help a failure of class complexity",
            "retry-with-feedback: it was used before",
            "escalate-model: `opus` is the highest tier",
            "decompose-further: the node has no `decompose` hook",
            "skip-with-fallback: two strategies come first, and only retry-with-feedback was tried",
        ],
    ),
    (
        "LOW_GRADE agent model:opus grade:D fallback attempts:3 used:retry-with-feedback,escalate-model",
        "retry-with-feedback and escalate-model did not help",
        &[
            "retry-same: it cannot help a failure of class complexity",
            "retry-with-feedback: the limit of 3 attempts is reached",
            "escalate-model: the limit of 3 attempts is reached",
            "decompose-further: the limit of 3 attempts is reached",
        ],
    ),
    (
        "TOOL_ERROR run fallback max:1",
        "the limit of 1 attempt is reached",
        &[
            "retry-same: it cannot help a failure of class model-limitation",
            "retry-with-feedback: the limit of 1 attempt is reached",
            "escalate-model: the limit of 1 attempt is reached",
            "decompose-further: it cannot help a failure of class model-limitation",
            "skip-with-fallback: two strategies come first, and none was tried",
            "human-intervention: the node does not say `human: pause`",
        ],
    ),
    (
        "SCHEMA_MISMATCH run grade:C attempts:2 used:retry-with-feedback,decompose-further decompose",
        "nothing is left to try",
        &[
            "retry-same: it cannot help a failure of class complexity",
            "retry-with-feedback: it was used before",
            "escalate-model: neither the grade C nor `SCHEMA_MISMATCH` points to the model",
            "decompose-further: it was used before",
            "skip-with-fallback: the node has no `fallback`",
            "human-intervention: the node does not say `human: pause`",
        ],
    ),
];

#[test]
fn the_ledger_names_what_was_passed_over_and_why() {
    // R-REC-1, R-REC-3
    for (case, reason, passed) in LEDGER {
        let chosen = decision(case);
        let lines: Vec<String> =
            chosen.passed.iter().map(|passed| format!("{}: {}", passed.strategy, passed.why)).collect();
        assert_eq!(chosen.reason, *reason, "{case}");
        assert_eq!(lines, *passed, "{case}");
    }
}

#[test]
fn every_reason_says_something() {
    // R-REC-1
    for (text, _) in TABLE {
        let chosen = decision(text);
        assert!(!chosen.reason.is_empty() && chosen.passed.iter().all(|passed| !passed.why.is_empty()), "{text}");
        assert!(chosen.passed.is_sorted_by_key(|passed| passed.strategy), "{text}: cheapest first, each once");
        let case = Case::parse(text);
        assert!(case.used.iter().all(|used| used.as_str() != "skip-with-fallback"), "{text}: that ends a node");
    }
}
