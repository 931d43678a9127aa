//! Marks: which snapshot serves one, which are kept, and what happens when one cannot be read.

use proptest::prelude::*;
use sprag_core::checkpoint::{
    CheckpointId, Mark, Picked, Refused, Saved, Trigger, Unserved, Wanted, nearest, pick, prune,
};
use sprag_core::file::WorkflowId;
use sprag_core::run::{Seq, Timestamp};

use super::sample::{id, run};

fn mark(seq: u64) -> Mark {
    Mark::new(id(seq), Some(1), 0, Trigger::WaveEnd, b"link")
}

/// Marks with these numbers; those that end in `f` have a full snapshot.
fn saved(numbers: &str) -> Vec<Saved> {
    let one = |word: &str| {
        let number = word.trim_end_matches('f');
        Saved { mark: mark(number.parse().unwrap()), full: word.ends_with('f').then_some(100) }
    };
    numbers.split_whitespace().map(one).collect()
}

fn numbers(ids: &[CheckpointId]) -> Vec<u64> {
    ids.iter().map(|id| id.seq().0).collect()
}

#[test]
fn marks_are_stored_strictly_and_know_their_journal() {
    // R-CP-6
    let mark = Mark::new(id(7), Some(2), 1, Trigger::PhaseEnd, b"link");
    let text = serde_json::to_string(&mark).unwrap();
    let sum = mark.checksum;
    let id = &mark.id;
    assert_eq!(text, format!(r#"{{"id":"{id}","wave":2,"phase":1,"trigger":"phase_end","checksum":"{sum}"}}"#));
    assert_eq!(serde_json::from_str::<Mark>(&text).unwrap(), mark);
    assert!(serde_json::from_str::<Mark>(&text.replace("\"wave\"", "\"waves\"")).is_err());
    assert!(mark.is_intact(b"link") && !mark.is_intact(b"knil"));
    for other in [
        Mark { id: mark.id.clone(), wave: None, ..mark.clone() },
        Mark { wave: Some(3), ..mark.clone() },
        Mark { phase: 2, ..mark.clone() },
        Mark { trigger: Trigger::WaveEnd, ..mark.clone() },
        Mark { id: super::sample::id(8), ..mark.clone() },
    ] {
        assert!(!other.is_intact(b"link"), "{other:?}");
    }
    for trigger in Trigger::ALL {
        assert_eq!(serde_json::to_string(&trigger).unwrap(), format!("\"{}\"", trigger.as_str()));
    }
    assert_eq!(Trigger::WaveEnd.max(Trigger::BeforeGate), Trigger::WaveEnd);
    assert_eq!(Trigger::PhaseEnd.max(Trigger::RunEnd), Trigger::RunEnd);
}

#[test]
fn the_nearest_full_one_serves_a_mark() {
    // R-CP-6
    let saved = saved("30 10f 20 40f 50");
    for (seq, expected) in [(5, None), (10, Some(10)), (39, Some(10)), (40, Some(40)), (99, Some(40))] {
        assert_eq!(nearest(&saved, Seq(seq)).map(|base| base.mark.seq().0), expected, "{seq}");
    }
}

#[test]
fn pruning_keeps_the_newest_and_what_they_need() {
    // R-CP-4
    for (all, keep, resumable, gone) in [
        ("1f 2 3 4 5", 2, true, vec![2, 3]),
        ("1f 2 3f 4 5", 2, true, vec![1, 2]),
        ("1f 2 3 4f 5f", 2, false, vec![1, 2, 3]),
        ("1 2 3", 2, true, vec![1]),
        ("5 1f 4 2 3", 2, true, vec![2, 3]),
        ("1f 2 3", 0, true, vec![2]),
        ("1f 2 3", 0, false, vec![1, 2, 3]),
        ("1f 2 3", 10, false, vec![]),
        ("", 1, true, vec![]),
    ] {
        assert_eq!(numbers(&prune(&saved(all), keep, resumable)), gone, "{all} {keep} {resumable}");
    }
}

#[test]
fn clocks_that_go_backwards_do_not_count() {
    // R-CP-4
    let at = |seq, ms| {
        let id = CheckpointId::new(WorkflowId::new("w").unwrap(), run(), Timestamp::from_millis(ms), Seq(seq));
        Saved { mark: Mark::new(id, None, 0, Trigger::Autosave, b""), full: Some(1) }
    };
    assert_eq!(numbers(&prune(&[at(1, 900), at(2, 500), at(3, 100)], 1, true)), [1, 2]);
}

proptest! {
    #[test]
    fn pruning_never_takes_what_is_needed(
        all in prop::collection::btree_map(0_u64..200, any::<bool>(), 0..40),
        keep in 0_usize..12,
        resumable in any::<bool>(),
    ) {
        // R-CP-4
        let saved: Vec<Saved> =
            all.iter().rev().map(|(seq, full)| Saved { mark: mark(*seq), full: full.then_some(9) }).collect();
        let gone = prune(&saved, keep, resumable);
        let left: Vec<Saved> = saved.iter().filter(|saved| !gone.contains(&saved.mark.id)).cloned().collect();
        let at_least = keep.max(usize::from(resumable)).min(saved.len());
        prop_assert!(left.len() >= at_least);
        for kept in &left[..at_least] {
            prop_assert_eq!(nearest(&left, kept.mark.seq()), nearest(&saved, kept.mark.seq()));
        }
        prop_assert!(left.iter().zip(&saved).take(at_least).all(|(left, all)| left == all));
        // Once is enough.
        prop_assert!(prune(&left, keep, resumable).is_empty());
    }
}

type Candidates = Vec<(Mark, Result<u64, Refused>)>;

/// Candidates with these numbers: `!` cannot be read, `+` is newer than this release.
fn candidates(words: &str) -> Candidates {
    let one = |word: &str| {
        let seq: u64 = word.trim_end_matches(['!', '+']).parse().unwrap();
        let read = match word.as_bytes()[word.len() - 1] {
            b'!' => Err(Refused::Checksum),
            b'+' => Err(Refused::Newer(9)),
            _ => Ok(seq),
        };
        (mark(seq), read)
    };
    words.split_whitespace().map(one).collect()
}

#[test]
fn the_next_older_one_or_the_journal_serves() {
    // R-CP-5
    let newest = |words, journal| pick(candidates(words), Wanted::Newest, journal);
    let served = |words, journal| {
        let Picked { checkpoint, damaged } = newest(words, journal).unwrap();
        let damaged: Vec<u64> = damaged.iter().map(|(id, _)| id.seq().0).collect();
        (checkpoint.map(|(mark, found)| (mark.seq().0, found)), damaged)
    };
    assert_eq!(served("1 3 2", true), (Some((3, 3)), vec![]));
    assert_eq!(served("1 3! 2", false), (Some((2, 2)), vec![3]));
    assert_eq!(served("1 3! 2!", true), (Some((1, 1)), vec![3, 2]));
    assert_eq!(served("1! 3! 2!", true), (None, vec![3, 2, 1]));
    assert_eq!(served("", true), (None, vec![]));
    assert_eq!(served("3 2+", true), (Some((3, 3)), vec![]));
}

#[test]
fn there_is_never_a_fresh_start() {
    // R-CP-5
    let newest = |words, journal| pick(candidates(words), Wanted::Newest, journal).unwrap_err();
    assert!(matches!(newest("1! 2!", false), Unserved::Nothing(damaged) if damaged.len() == 2));
    assert!(matches!(newest("", false), Unserved::Nothing(damaged) if damaged.is_empty()));
    // What a newer release wrote is not damaged, and going on from before it would undo it.
    assert!(matches!(newest("1 2+", true), Unserved::Newer(id, _) if id.seq() == Seq(2)));
    assert!(matches!(newest("1 2+ 3!", true), Unserved::Newer(id, _) if id.seq() == Seq(2)));
}

#[test]
fn one_that_was_named_is_that_one_or_an_error() {
    // R-CP-5
    let named = |words, seq| pick(candidates(words), Wanted::Named(&id(seq)), true);
    assert_eq!(named("1 2 3!", 2).unwrap().checkpoint.unwrap().1, 2);
    assert_eq!(named("1 2! 3", 2), Err(Unserved::Named(Box::new(id(2)), Refused::Checksum)));
    assert_eq!(named("1 2+ 3", 2), Err(Unserved::Newer(Box::new(id(2)), Refused::Newer(9))));
    assert_eq!(named("1 3", 2), Err(Unserved::NotFound(Box::new(id(2)))));
    let error = named("1 2! 3", 2).unwrap_err();
    assert!(error.to_string().ends_with("cannot be used: it is not what was written: the checksum differs"));
}
