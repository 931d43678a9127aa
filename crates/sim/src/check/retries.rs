//! I8: how often a node is tried again, for what, and when (`R-RETRY-1`, `R-RETRY-2`, `R-CLAIM-4`).

use sprag_core::file::{Retry, Semantics};
use sprag_core::graph::NodeIndex;
use sprag_core::run::{Choice, Entry, NodeError, Timestamp};

use super::case::Case;
use super::history::{Line, Verdicts};
use super::recovery::climbs;
use super::track::Track;

/// Codes that nothing the engine does can help, and the other classes, as the contract lists them.
const CLASSES: &[(&str, &[&str])] = &[
    ("transient", &["TIMEOUT", "RATE_LIMITED", "NETWORK", "UNAVAILABLE", "INTERRUPTED"]),
    ("complexity", &["INVALID_OUTPUT", "SCHEMA_MISMATCH", "LOW_GRADE"]),
    (
        "unrecoverable",
        &[
            "PERMISSION_DENIED",
            "SCOPE_VIOLATION",
            "ISOLATION_BREACH",
            "CYCLE_DETECTED",
            "MISSING_DEPENDENCY",
            "CONDITION_ERROR",
            "BUDGET_EXCEEDED",
            "DEADLINE_EXCEEDED",
            "REJECTED",
            "APPROVAL_TIMEOUT",
            "GATE_ERROR",
            "INTERNAL",
        ],
    ),
];

pub(super) fn class(code: &str) -> &'static str {
    CLASSES.iter().find(|(_, codes)| codes.contains(&code)).map_or("model-limitation", |(class, _)| class)
}

/// What is counted for one node.
#[derive(Debug, Clone, Default)]
struct Count {
    /// Retries that nobody asked for and no crash caused.
    retries: u32,
    /// Attempts that failed without being interrupted, those that a person repeats included.
    tries: u32,
    /// Automatic interruptions; only a person's resume forgives them.
    interruptions: u32,
    /// Whether it is known what became of the work of the current attempt: it was done, or a probe was asked.
    certain: bool,
    /// Whether the work of the current attempt was done.
    produced: bool,
    /// The choice of the person whose answer stands directly before.
    chosen: Option<Choice>,
}

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    let mut counts = vec![Count::default(); history.count()];
    let mut questions = Vec::new();
    for line in &history.lines {
        match line.entry {
            Entry::Asked(question) => questions.extend(question.node.map(|node| (question.id, node))),
            Entry::Answered(answer) => {
                if let Some((_, node)) = questions.iter().find(|(id, _)| *id == answer.question) {
                    counts[node.at()].chosen = Some(answer.choice);
                }
            }
            Entry::Owned { person: true, .. } => counts.iter_mut().for_each(|count| count.interruptions = 0),
            Entry::Started { node, attempt, .. } => {
                // Where an earlier run did not know, this one begins with the probe.
                counts[node.at()].certain = *attempt == 1 && history.asks_again(*node);
                counts[node.at()].produced = false;
            }
            // Work that is split has failed, and that is known.
            Entry::Unknown { node, .. } | Entry::Decomposing { node, .. } => counts[node.at()].certain = true,
            Entry::Produced { node, .. } => {
                counts[node.at()].certain = true;
                counts[node.at()].produced = true;
            }
            Entry::Ready { node, .. } => early(history, &track, *node, line, verdicts),
            // What becomes of a node whose children failed is not a question of retries.
            Entry::Failed { node, error, due, .. } if !track.waits_for_children(*node) => {
                let count = &mut counts[node.at()];
                let failure = Failure { node: *node, error, due: *due };
                failed(history, &track, line, &failure, count, verdicts);
            }
            _ => {}
        }
        track.read(history, line);
    }
}

/// A retry waits until it is due.
fn early(history: &Case<'_>, track: &Track, node: NodeIndex, line: &Line<'_>, verdicts: &mut Verdicts) {
    let known = track.of(node);
    if known.attempt > 0 {
        match known.due {
            None => verdicts.add("I8", line.seq, format!("`{}` is tried again without a due time", history.name(node))),
            Some(due) if due > line.at => {
                verdicts.add("I8", line.seq, format!("`{}` is tried again before {due}", history.name(node)));
            }
            Some(_) => {}
        }
    }
}

struct Failure<'run> {
    node: NodeIndex,
    error: &'run NodeError,
    due: Option<Timestamp>,
}

fn failed(
    history: &Case<'_>,
    track: &Track,
    line: &Line<'_>,
    failure: &Failure<'_>,
    count: &mut Count,
    verdicts: &mut Verdicts,
) {
    let stopped = track.stopped(history, failure.node).is_some();
    let spec = &history.compiled(failure.node).spec;
    let retry = spec.retry.as_deref();
    let name = history.name(failure.node);
    let code = failure.error.code.as_str();
    let chosen = count.chosen.take();
    let interrupted = code == "INTERRUPTED";
    let once = spec.semantics == Some(Semantics::AtMostOnce);
    let blind = once && chosen.is_none() && !count.certain && ["INTERRUPTED", "TIMEOUT", "NETWORK"].contains(&code);
    if blind && !stopped {
        verdicts.add("R-CLAIM-5", line.seq, format!("`{name}` may have happened, and nobody was asked"));
    }
    if chosen.is_none() && (interrupted || !climbs(history, failure.node)) {
        // A retry that a person chose is no automatic one, but it may use up an attempt.
        let most = retry.and_then(|retry| retry.max_attempts).unwrap_or(1);
        let (allowed, left) = if interrupted {
            let left = track.person_owns
                || count.interruptions < history.level(failure.node).rules.max_interruptions.unwrap_or(3);
            (left, left)
        } else {
            // What may happen at most once and happened is not repeated because a later stage failed.
            let wanted = wanted(retry, code) && !(once && count.produced);
            (wanted && count.retries + 1 < most, wanted && count.tries + 1 < most)
        };
        match failure.due {
            Some(_) if !allowed => {
                verdicts.add("I8", line.seq, format!("`{name}` is to be tried again after {code}, once too often"));
            }
            None if left && !stopped => {
                verdicts.add("I8", line.seq, format!("`{name}` fails for good with {code}, an attempt too early"));
            }
            Some(due) if !interrupted => delayed(line, name, failure.error, retry, due, verdicts),
            _ => {}
        }
        count.retries += u32::from(failure.due.is_some() && !interrupted);
    }
    if !interrupted {
        count.tries += 1;
    } else if !track.person_owns {
        count.interruptions += 1;
    }
}

fn wanted(retry: Option<&Retry>, code: &str) -> bool {
    let names = |items: &Vec<String>| items.iter().any(|item| item == code || item == class(code));
    if retry.and_then(|retry| retry.never.as_ref()).is_some_and(names) {
        return false;
    }
    retry.and_then(|retry| retry.only.as_ref()).map_or(class(code) != "unrecoverable", names)
}

/// The delay lies between the shortest and the longest, unless the other side asked for more.
pub(super) fn delayed(
    line: &Line<'_>,
    name: &str,
    error: &NodeError,
    retry: Option<&Retry>,
    due: Timestamp,
    verdicts: &mut Verdicts,
) {
    let initial = retry.and_then(|retry| retry.initial_delay).map_or(1_000, |delay| delay.millis);
    let max = retry.and_then(|retry| retry.max_delay).map_or(initial.max(30_000), |delay| delay.millis);
    let asked = error.retry_after.map_or(0, |asked| asked.millis);
    let delay = due.since(line.at).millis;
    if delay < initial.min(max).max(asked) || delay > max.max(asked) {
        verdicts.add("I8", line.seq, format!("`{name}` waits {delay} ms, not {initial} to {max}"));
    }
}
