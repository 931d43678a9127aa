//! The ladder: what is done after a failed attempt, how often, and on which model (`R-REC-1`, `R-REC-2`, `R-REC-3`).

use sprag_core::definition::Kind;
use sprag_core::file::{Human, Semantics};
use sprag_core::graph::NodeIndex;
use sprag_core::run::recovery::Strategy;
use sprag_core::run::{Choice, Chosen, Entry, NodeError, QuestionKind, Taint};

use super::case::Case;
use super::history::{Line, Verdicts};
use super::retries::{class, delayed};
use super::track::Track;

/// From cheap to dear, as the contract lists them.
const ORDER: [Strategy; 6] = [
    Strategy::RetrySame,
    Strategy::RetryWithFeedback,
    Strategy::EscalateModel,
    Strategy::DecomposeFurther,
    Strategy::SkipWithFallback,
    Strategy::HumanIntervention,
];

/// What is known of one node.
#[derive(Debug, Clone, Default)]
struct Climb {
    used: Vec<Strategy>,
    /// Failures that count towards the limit.
    counted: u32,
    transient: u32,
    started: u32,
    by_people: u32,
    interrupted: u32,
    model: Option<String>,
    /// The answer that stands directly before.
    answered: Option<Choice>,
}

/// Whether a node has a ladder.
pub(super) fn climbs(history: &Case<'_>, node: NodeIndex) -> bool {
    let compiled = history.compiled(node);
    let written = compiled.spec.recovery.as_ref();
    written.map_or(compiled.kind == Kind::Agent, |recovery| recovery.ladder != Some(false))
}

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    let mut nodes = vec![Climb::default(); history.count()];
    let mut questions = Vec::new();
    for line in &history.lines {
        match line.entry {
            Entry::Asked(question) => {
                questions.extend(question.node.map(|node| (question.id, node)));
                if let (Some(node), QuestionKind::Intervention) = (question.node, question.kind) {
                    // What an earlier run asked is asked again as it was.
                    if let (Some(error), Some(chosen)) = (&question.error, &question.chosen) {
                        chose(history, &track, line, &mut nodes[node.at()], (node, error, chosen), verdicts);
                    }
                    if question.error.as_ref().is_none_or(|error| class(error.code.as_str()) == "transient") {
                        wrong(history, line, node, "asks a person about a transient failure", verdicts);
                    }
                }
            }
            Entry::Answered(answer) => {
                if let Some((_, node)) = questions.iter().find(|(id, _)| *id == answer.question) {
                    nodes[node.at()].answered = Some(answer.choice);
                }
            }
            Entry::Started { node, terms, .. } => {
                let climb = &mut nodes[node.at()];
                climb.started += 1;
                let model = terms.as_ref().and_then(|terms| terms.model.clone());
                if climb.model.is_some() && model.is_some() && model != climb.model {
                    wrong(history, line, *node, "starts on another model than it is to", verdicts);
                }
                climb.model = model.or(climb.model.take());
                bounded(history, line, *node, climb, verdicts);
            }
            Entry::Failed { node, error, due, chosen, .. } => {
                let climb = &mut nodes[node.at()];
                let person = climb.answered.take();
                let interrupted = error.code.as_str() == "INTERRUPTED";
                climb.by_people += u32::from(due.is_some() && person == Some(Choice::Retry));
                climb.interrupted += u32::from(interrupted);
                match chosen {
                    Some(chosen) => chose(history, &track, line, climb, (*node, error, chosen), verdicts),
                    None if due.is_some() && person.is_none() && !interrupted && climbs(history, *node) => {
                        wrong(history, line, *node, "is tried again, and nothing says why", verdicts);
                    }
                    None => {}
                }
                if let (Some(due), Some(_)) = (due, chosen) {
                    let retry = history.compiled(*node).spec.retry.as_deref();
                    delayed(line, history.name(*node), error, retry, *due, verdicts);
                }
                let again = chosen.as_ref().and_then(|chosen| chosen.strategy).is_some();
                if chosen.is_some() && again != due.is_some() {
                    wrong(history, line, *node, "says one thing and does another", verdicts);
                }
            }
            Entry::Decomposing { node, error, chosen, .. } => {
                if chosen.strategy != Some(Strategy::DecomposeFurther) {
                    wrong(history, line, *node, "is split for another reason", verdicts);
                }
                chose(history, &track, line, &mut nodes[node.at()], (*node, error, chosen), verdicts);
            }
            Entry::Completed { node, taint, chosen: Some(chosen), .. } => match taint.as_deref() {
                Some(Taint::Fallback(error)) if chosen.strategy == Some(Strategy::SkipWithFallback) => {
                    chose(history, &track, line, &mut nodes[node.at()], (*node, error, chosen), verdicts);
                }
                _ => wrong(history, line, *node, "completes by a ladder, and not with its fallback", verdicts),
            },
            Entry::Expanded(expansion) if !history.compiled(expansion.node).kind.grows() => {
                let climb = &mut nodes[expansion.node.at()];
                if !track.of(expansion.node).splits {
                    climb.used.push(Strategy::DecomposeFurther);
                    climb.counted += 1;
                }
            }
            _ => {}
        }
        track.read(history, line);
    }
}

fn wrong(history: &Case<'_>, line: &Line<'_>, node: NodeIndex, what: &str, verdicts: &mut Verdicts) {
    verdicts.add("R-REC-1", line.seq, format!("`{}` {what}", history.name(node)));
}

/// However often it fails, there are so many attempts.
fn bounded(history: &Case<'_>, line: &Line<'_>, node: NodeIndex, climb: &Climb, verdicts: &mut Verdicts) {
    let most = limit(history, node) + 2 + climb.by_people + climb.interrupted;
    if climbs(history, node) && climb.started > most {
        wrong(history, line, node, &format!("starts for the {}. time, of {most}", climb.started), verdicts);
    }
}

fn limit(history: &Case<'_>, node: NodeIndex) -> u32 {
    let recovery = history.compiled(node).spec.recovery.as_ref();
    recovery.and_then(|recovery| recovery.max_attempts).unwrap_or(3).max(1)
}

/// The models of a node, from cheap to dear, and whether it lists them itself.
fn tiers(history: &Case<'_>, node: NodeIndex) -> (Vec<String>, bool) {
    let compiled = history.compiled(node);
    let written = compiled.spec.recovery.as_ref().and_then(|recovery| recovery.tiers.clone());
    let usual = if compiled.kind == Kind::Agent { &["haiku", "sonnet", "opus"][..] } else { &[] };
    let own = written.is_some();
    (written.unwrap_or_else(|| usual.iter().map(|model| (*model).to_owned()).collect()), own)
}

/// Something was chosen: it was allowed, everything cheaper is accounted for, and it is remembered.
fn chose(
    history: &Case<'_>,
    track: &Track,
    line: &Line<'_>,
    climb: &mut Climb,
    (node, error, chosen): (NodeIndex, &NodeError, &Chosen),
    verdicts: &mut Verdicts,
) {
    let mut reject = |what: &str| {
        let code = error.code.as_str();
        verdicts.add("R-REC-1", line.seq, format!("`{}` {what} after {code}: {chosen:?}", history.name(node)));
    };
    let spec = &history.compiled(node).spec;
    let recovery = spec.recovery.as_ref();
    let class = class(error.code.as_str());
    let counts = class != "transient" || track.of(node).splits;
    climb.counted += u32::from(counts);
    let once = spec.semantics == Some(Semantics::AtMostOnce);
    let room = climb.counted < limit(history, node);
    let helps = class == "model-limitation" || class == "complexity";
    let bad_grade = error.grade.is_some_and(sprag_core::run::Grade::fails);
    let told = climb.used.contains(&Strategy::RetryWithFeedback);
    if !climbs(history, node) {
        reject("has no ladder");
    }
    match chosen.strategy {
        Some(Strategy::RetrySame) => {
            if class != "transient" || climb.transient >= 2 {
                reject("is repeated");
            }
            climb.transient += 1;
        }
        Some(Strategy::RetryWithFeedback) if !helps || !room || told => reject("is told once more"),
        Some(Strategy::EscalateModel) => {
            let (models, own) = tiers(history, node);
            let place = |model: Option<&String>| model.and_then(|model| models.iter().position(|tier| tier == model));
            let (before, after) = (place(climb.model.as_ref()), place(chosen.model.as_ref()));
            let up = match (before, after) {
                (Some(before), Some(after)) => after == before + 1,
                (None, Some(0)) => own && climb.model.is_some(),
                (None, Some(1)) => own && climb.model.is_none(),
                _ => false,
            };
            if !up || !room || !helps || (class == "complexity" && !bad_grade) {
                reject("gets another model");
            }
            climb.model.clone_from(&chosen.model);
        }
        Some(Strategy::DecomposeFurther) => {
            let hook = recovery.is_some_and(|recovery| recovery.decompose.is_some());
            if !hook || class != "complexity" || !room || climb.used.contains(&Strategy::DecomposeFurther) {
                reject("is split");
            }
        }
        Some(Strategy::SkipWithFallback) => {
            let mut tried: Vec<_> =
                climb.used.iter().filter(|strategy| **strategy < Strategy::SkipWithFallback).collect();
            tried.sort();
            tried.dedup();
            let enough = match class {
                "transient" => climb.transient >= 2 || once,
                "unrecoverable" => false,
                _ => tried.len() >= 2,
            };
            if !enough || spec.fallback.is_none() {
                reject("falls back");
            }
        }
        Some(Strategy::HumanIntervention) => {
            let usual = if history.compiled(node).kind == Kind::Agent { Human::Pause } else { Human::Fail };
            let human = recovery.and_then(|recovery| recovery.human).unwrap_or(usual);
            let for_people =
                ["PERMISSION_DENIED", "SCOPE_VIOLATION", "ISOLATION_BREACH"].contains(&error.code.as_str());
            if human != Human::Pause || class == "transient" || (class == "unrecoverable" && !for_people) {
                reject("asks a person");
            }
            if helps && room && !told && !once {
                reject("asks a person too early");
            }
        }
        None => {
            let early = match class {
                "transient" => climb.transient < 2,
                "unrecoverable" => false,
                _ => room && !told,
            };
            if early && !once {
                reject("fails too early");
            }
        }
        Some(Strategy::RetryWithFeedback) => {}
    }
    let passed: Vec<_> = chosen.passed.iter().map(|passed| passed.strategy).collect();
    let place = chosen.strategy.and_then(|strategy| ORDER.iter().position(|other| *other == strategy));
    let cheaper: Vec<_> = ORDER[..place.unwrap_or(ORDER.len())].to_vec();
    // Told as the last thing before a person, it comes after all but that.
    let last = [Strategy::RetrySame, Strategy::EscalateModel, Strategy::DecomposeFurther, Strategy::SkipWithFallback];
    let explained = passed == cheaper || (chosen.strategy == Some(Strategy::RetryWithFeedback) && passed == last);
    if !explained || chosen.reason.is_empty() || chosen.passed.iter().any(|passed| passed.why.is_empty()) {
        verdicts.add(
            "R-REC-3",
            line.seq,
            format!("`{}` does not say what it passed over: {chosen:?}", history.name(node)),
        );
    }
    climb.used.extend(chosen.strategy);
}
