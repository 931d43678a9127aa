//! I4 and I6: one attempt at a time, one outcome each, and work begins once, after its start is durable
//! (`R-CLAIM-1`, `R-CLAIM-3`).

use std::collections::{BTreeMap, BTreeSet};

use sprag_core::graph::NodeIndex;
use sprag_core::run::{Entry, NodeState, Seq, Stage};

use super::case::Case;
use super::history::{Line, Verdicts};
use super::track::{Track, moved, needs_slot, staged};

/// What the journal says about one attempt.
#[derive(Debug, Default)]
struct Course {
    started: Seq,
    doomed: bool,
    /// Every entry of it after its start, with the stage that it ended.
    steps: Vec<(Seq, Option<Stage>)>,
    outcomes: u32,
    /// When its task was split; nothing before that counts for what follows.
    split: Option<Seq>,
}

type Courses = BTreeMap<(NodeIndex, u32), Course>;

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    let courses = journal(history, verdicts);
    ledger(history, &courses, verdicts);
    overlaps(history, verdicts);
}

fn journal(history: &Case<'_>, verdicts: &mut Verdicts) -> Courses {
    let mut track = Track::new(history);
    let mut courses = Courses::new();
    for line in &history.lines {
        read(history, &track, line, &mut courses, verdicts);
        track.read(history, line);
    }
    courses
}

fn read(history: &Case<'_>, track: &Track, line: &Line<'_>, courses: &mut Courses, verdicts: &mut Verdicts) {
    let about = moved(line.entry).map(|(node, _)| node).or_else(|| staged(line.entry).map(|(node, _)| node));
    let Some(node) = about else { return };
    let name = history.name(node);
    let known = track.of(node);
    let active = matches!(known.state, NodeState::Running | NodeState::AwaitingApproval | NodeState::Approved);
    if let Entry::Started { attempt, .. } = line.entry {
        if active {
            verdicts.add("I4", line.seq, format!("`{name}` starts attempt {attempt} while another is active"));
        }
        if *attempt != known.attempt + 1 {
            verdicts.add("I8", line.seq, format!("`{name}` starts attempt {attempt} after {}", known.attempt));
        }
        let course = Course { started: line.seq, doomed: known.doomed, ..Course::default() };
        if courses.insert((node, *attempt), course).is_some() {
            verdicts.add("I4", line.seq, format!("attempt {attempt} of `{name}` starts twice"));
        }
        return;
    }
    let named = match line.entry {
        Entry::Completed { attempt, .. } | Entry::Failed { attempt, .. } => Some(*attempt),
        Entry::Asked(question) => Some(question.attempt),
        entry => staged(entry).map(|(_, attempt)| attempt),
    };
    if named.is_some_and(|attempt| attempt != known.attempt) {
        verdicts.add("I6", line.seq, format!("an entry about attempt {named:?} of `{name}` during {}", known.attempt));
    }
    let key = (node, named.unwrap_or(known.attempt));
    let Some(course) = courses.get_mut(&key) else {
        if named.is_some() {
            verdicts.add("I6", line.seq, format!("an entry about an attempt of `{name}` that never started"));
        }
        return;
    };
    let ends = matches!(line.entry, Entry::Completed { .. } | Entry::Failed { .. } | Entry::Cancelled { .. });
    // A node that is taken out between two attempts has no attempt that ends.
    if named.is_none() && !active {
        return;
    }
    if ends {
        course.outcomes += 1;
        if course.outcomes > 1 {
            verdicts.add("I6", line.seq, format!("attempt {} of `{name}` has a second outcome", key.1));
        }
    }
    let stage = match line.entry {
        Entry::Produced { .. } if course.split.is_some() => Some(Stage::Decompose),
        Entry::Unknown { .. } | Entry::Produced { .. } => Some(Stage::Work),
        Entry::Decomposing { .. } => {
            course.split = Some(line.seq);
            Some(Stage::Work)
        }
        Entry::Checked { .. } => Some(Stage::Check),
        Entry::Graded { .. } => Some(Stage::Evaluate),
        Entry::Expanded(_) => Some(Stage::Grow),
        Entry::Gathered { .. } => Some(Stage::Children),
        _ => None,
    };
    course.steps.push((line.seq, stage));
}

/// Whatever was executed was allowed to be, when it began.
fn ledger(history: &Case<'_>, courses: &Courses, verdicts: &mut Verdicts) {
    let mut begun = BTreeSet::new();
    for done in history.ledger {
        let (name, attempt, stage) = (history.name(done.node), done.attempt, done.stage);
        if stage == Stage::Work && !begun.insert((done.node, attempt)) {
            verdicts.add("I6", done.durable, format!("the work of attempt {attempt} of `{name}` began twice"));
        }
        let Some(course) = courses.get(&(done.node, attempt)).filter(|course| course.started <= done.durable) else {
            verdicts.add("I12", done.durable, format!("`{name}` began {stage:?} before attempt {attempt} was durable"));
            continue;
        };
        let since = course.split.filter(|split| *split <= done.durable).unwrap_or(Seq(0));
        let before = course.steps.iter().filter(|(seq, _)| *seq <= done.durable && *seq >= since);
        let over = before.clone().any(|(_, ended)| match ended {
            None => true,
            Some(Stage::Work) => stage == Stage::Work,
            Some(ended) => *ended >= stage,
        });
        if over {
            verdicts.add("I6", done.durable, format!("`{name}` began {stage:?} of attempt {attempt}, which was over"));
        }
        let resumed = attempt == 1 && history.asks_again(done.node);
        if stage != Stage::Work && before.count() == 0 && !resumed {
            verdicts.add("I12", done.durable, format!("`{name}` began {stage:?} before its work was durable"));
        }
        if course.doomed || !needs_slot(history, done.node) && stage == Stage::Work {
            verdicts.add("I12", done.durable, format!("`{name}` has no work to begin"));
        }
    }
}

/// No two executions for one node at once.
fn overlaps(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut last = BTreeMap::new();
    for done in history.ledger {
        let free = last.insert(done.node, done.ended);
        if free.is_some_and(|free| free.is_none_or(|free| free > done.began)) {
            let what = format!("executions of `{}` overlap at {}", history.name(done.node), done.began);
            verdicts.add("I4", done.durable, what);
        }
    }
}
