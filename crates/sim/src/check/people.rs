//! I18: each question is closed once, by somebody who may, with one of its choices, and its node does what was chosen
//! (`R-ASK-1`, `R-GATE-1`, `R-STATE-9`).

use std::collections::BTreeMap;

use sprag_core::graph::NodeIndex;
use sprag_core::run::{
    Answer, CancelCause, Choice, Entry, NodeState, Question, QuestionId, QuestionKind, Seq, Timestamp, Verb,
};

use super::case::Case;
use super::history::{Line, Verdicts};
use super::track::{Track, moved};

/// The choices of the contract.
const fn choices(kind: QuestionKind) -> &'static [Choice] {
    match kind {
        QuestionKind::Gate => &[Choice::Approve, Choice::Reject],
        QuestionKind::UnknownOutcome | QuestionKind::Intervention => {
            &[Choice::Retry, Choice::Provide, Choice::Skip, Choice::Fail]
        }
        QuestionKind::Budget => &[Choice::Raise, Choice::Fail],
    }
}

/// What became of a question.
struct Asked<'run> {
    question: &'run Question,
    closed: bool,
}

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut asked: BTreeMap<QuestionId, Asked<'_>> = BTreeMap::new();
    let mut track = Track::new(history);
    for line in &history.lines {
        match line.entry {
            Entry::Asked(question) => {
                let before = asked.insert(question.id, Asked { question, closed: false });
                if before.is_some() {
                    verdicts.add("I18", line.seq, format!("question {} is asked twice", question.id));
                }
            }
            Entry::Answered(answer) => {
                if let Some(question) = close(&mut asked, answer.question, line.seq, verdicts) {
                    answered(history, line, question, answer, verdicts);
                }
            }
            Entry::Closed { question } => {
                if let Some(question) = close(&mut asked, *question, line.seq, verdicts) {
                    let late = |expires: Timestamp| expires <= line.at;
                    // A question about money closes once nobody waits for any.
                    let moot = question.kind == QuestionKind::Budget;
                    let stopped = question.node.is_some_and(|node| track.stopped(history, node).is_some());
                    if !stopped && !moot && !question.expires.is_some_and(late) {
                        verdicts.add("I18", line.seq, format!("question {} closes before its time", question.id));
                    }
                }
            }
            Entry::Cancelled { node, cause: CancelCause::TimedOut } => {
                let closed = |asked: &Asked<'_>| asked.question.node == Some(*node) && asked.closed;
                if !asked.values().any(closed) {
                    verdicts.add("I18", line.seq, format!("`{}` times out without a question", history.name(*node)));
                }
            }
            Entry::Cancelled { node, cause: CancelCause::Rejected | CancelCause::SkippedByPerson }
            | Entry::Approved { node } => by_a_person(history, line, *node, verdicts),
            _ => {}
        }
        track.read(history, line);
    }
    for asked in asked.values() {
        let Some(node) = asked.question.node else { continue };
        let waits = track.of(node).state == NodeState::AwaitingApproval;
        if waits == asked.closed && !newer(&track, asked) {
            let what = format!("question {} and the state of its node disagree", asked.question.id);
            verdicts.add("I18", Seq(0), what);
        }
    }
}

/// Whether the node has another question by now.
fn newer(track: &Track, asked: &Asked<'_>) -> bool {
    asked.closed && asked.question.node.is_some_and(|node| track.of(node).attempt > asked.question.attempt)
}

fn close<'run>(
    asked: &mut BTreeMap<QuestionId, Asked<'run>>,
    id: QuestionId,
    seq: Seq,
    verdicts: &mut Verdicts,
) -> Option<&'run Question> {
    let Some(found) = asked.get_mut(&id) else {
        verdicts.add("I18", seq, format!("question {id} is closed and was never asked"));
        return None;
    };
    if found.closed {
        verdicts.add("I18", seq, format!("question {id} is closed twice"));
    }
    found.closed = true;
    Some(found.question)
}

fn answered(history: &Case<'_>, line: &Line<'_>, question: &Question, answer: &Answer, verdicts: &mut Verdicts) {
    let id = question.id;
    if !choices(question.kind).contains(&answer.choice) {
        verdicts.add("I18", line.seq, format!("question {id} has no choice {:?}", answer.choice));
    }
    if !question.approvers.is_empty() && !question.approvers.contains(&answer.by) {
        verdicts.add("I18", line.seq, format!("question {id} was not {}'s to answer", answer.by));
    }
    let told = history.lines.iter().take_while(|before| before.seq < line.seq).any(|before| {
        matches!(before.entry, Entry::Command(record) if record.command.id == answer.command
            && record.refused.is_none()
            && record.command.by == answer.by
            && matches!(&record.command.verb, Verb::Answer { choice, digest, .. }
                if *choice == answer.choice && *digest == question.digest))
    });
    if !told {
        verdicts.add("I18", line.seq, format!("question {id} was answered by no command about what it shows"));
    }
    let Some(of) = question.node else { return };
    // The node follows in the same commit.
    let next = history.commits[line.commit].entries.iter().zip(history.commits[line.commit].first.0..);
    let next = next
        .filter(|(_, seq)| *seq > line.seq.0)
        .find_map(|(entry, _)| moved(entry).filter(|(node, _)| *node == of).map(|(_, to)| (to, entry)));
    let fits = match (answer.choice, next) {
        (Choice::Approve | Choice::Provide, Some((to, _))) => to == NodeState::Approved,
        (Choice::Reject, Some((_, entry))) => {
            matches!(entry, Entry::Cancelled { cause: CancelCause::Rejected, .. })
        }
        (Choice::Skip, Some((_, entry))) => {
            matches!(entry, Entry::Cancelled { cause: CancelCause::SkippedByPerson, .. })
        }
        (Choice::Retry, Some((_, entry))) => matches!(entry, Entry::Failed { due: Some(_), .. }),
        (Choice::Fail, Some((_, entry))) => matches!(entry, Entry::Failed { due: None, .. }),
        (Choice::Raise, Some(_)) | (_, None) => false,
    };
    if !fits {
        verdicts.add("I18", line.seq, format!("the answer to question {id} leads elsewhere"));
    }
}

/// What only a person may do to a node follows an answer in the same commit.
fn by_a_person(history: &Case<'_>, line: &Line<'_>, node: NodeIndex, verdicts: &mut Verdicts) {
    let commit = &history.commits[line.commit];
    let before = commit.entries.iter().zip(commit.first.0..).take_while(|(_, seq)| *seq < line.seq.0);
    let last = before.filter(|(entry, _)| matches!(entry, Entry::Answered(_))).last();
    let question = last.and_then(|(entry, _)| match entry {
        Entry::Answered(answer) => Some(answer.question),
        _ => None,
    });
    let asked = question.and_then(|id| {
        history.lines.iter().find_map(|line| match line.entry {
            Entry::Asked(question) if question.id == id => question.node,
            _ => None,
        })
    });
    if asked != Some(node) {
        verdicts.add("I18", line.seq, format!("nobody decided about `{}`", history.name(node)));
    }
}
