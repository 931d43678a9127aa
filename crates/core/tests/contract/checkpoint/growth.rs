//! Full snapshots are together at most three times the final state, however deep the graph (`R-CP-6`).

use proptest::prelude::*;
use sprag_core::checkpoint::{Growth, Trigger};

const WAVES: u64 = 10_000;

/// A name, and the size of the state after a wave.
type Curve = (&'static str, fn(u64) -> u64);

/// What a run writes whose state has these sizes at the ends of its waves; the last is that of the run.
fn written(sizes: impl IntoIterator<Item = u64>) -> (u64, u32) {
    let sizes: Vec<u64> = sizes.into_iter().collect();
    let mut growth = Growth::new();
    let (mut bytes, mut count) = (0, 0);
    for (at, size) in sizes.iter().enumerate() {
        let trigger = if at + 1 == sizes.len() { Trigger::RunEnd } else { Trigger::WaveEnd };
        if growth.is_due(*size, trigger) {
            growth.wrote(*size, trigger);
            bytes += size;
            count += 1;
        }
    }
    (bytes, count)
}

#[test]
fn any_curve_that_does_not_shrink_stays_within_the_bound() {
    // R-CP-6
    let curves: [Curve; 10] = [
        ("constant and tiny", |_| 1),
        ("constant and small", |_| 1023),
        ("constant at the edge", |_| 1024),
        ("constant and large", |_| 1_000_000),
        ("one byte a wave", |wave| wave + 1),
        ("a result a wave", |wave| 300 + wave * 200),
        ("small for a long time", |wave| if wave < WAVES - 1 { 1023 } else { 1024 }),
        ("one jump at the end", |wave| if wave < WAVES - 1 { 10 } else { 1_000_000 }),
        ("steps of just under two and a half", |wave| {
            let step = u32::try_from(wave / 1000).unwrap();
            1_000 * 24_u64.pow(step) / 10_u64.pow(step)
        }),
        ("squares", |wave| 100 + wave * wave),
    ];
    for (name, curve) in curves {
        let (bytes, count) = written((0..WAVES).map(curve));
        let last = curve(WAVES - 1);
        assert!(bytes <= 3 * last, "{name}: {bytes} bytes in {count} snapshots for a state of {last}");
        assert!(count >= 2, "{name}");
    }
}

#[test]
fn small_states_are_written_while_they_are_cheap() {
    // R-CP-6: under 1 KiB, as long as that is within the bound.
    assert_eq!(written(std::iter::repeat_n(500, 10_000)), (1500, 3));
    let mut growth = Growth::new();
    assert!(growth.is_due(400, Trigger::WaveEnd));
    growth.wrote(400, Trigger::WaveEnd);
    assert!(growth.is_due(450, Trigger::WaveEnd), "far from 2.5 times, but small");
    growth.wrote(450, Trigger::WaveEnd);
    assert!(!growth.is_due(460, Trigger::WaveEnd), "what was written is more than the state");
    assert!(growth.is_due(850, Trigger::WaveEnd));
}

#[test]
fn larger_states_are_written_when_they_have_grown() {
    // R-CP-6: 2.5 times the last one; the run's end and whoever asks always get one.
    let mut growth = Growth::new();
    growth.wrote(4_000, Trigger::WaveEnd);
    for trigger in Trigger::ALL {
        let always = matches!(trigger, Trigger::OnDemand | Trigger::RunEnd);
        assert_eq!(growth.is_due(9_999, trigger), always, "{trigger:?}");
        assert!(growth.is_due(10_000, trigger), "{trigger:?}");
        assert_eq!(growth.is_due(0, trigger), always, "{trigger:?}");
    }
    growth.wrote(9_000, Trigger::OnDemand);
    assert!(!growth.is_due(10_000, Trigger::WaveEnd), "there is one of nearly that size");
    assert!(growth.is_due(22_500, Trigger::WaveEnd));
    assert!(growth.is_due(u64::MAX, Trigger::WaveEnd));
}

#[test]
fn a_chain_of_a_thousand_nodes_writes_few() {
    // R-CP-6
    let (bytes, count) = written((0..1000).map(|wave| 2_000 + wave * 200));
    assert!(bytes <= 3 * 202_000 && count <= 8, "{bytes} in {count}");
}

proptest! {
    #[test]
    fn the_bound_holds_for_random_growth(
        first in 1_u64..5_000,
        steps in prop::collection::vec(prop_oneof![Just(0_u64), 0_u64..40, 0_u64..5_000, 0_u64..1_000_000], 1..400),
    ) {
        // R-CP-6
        let sizes: Vec<u64> = std::iter::once(first)
            .chain(steps.iter().scan(first, |size, step| { *size += step; Some(*size) }))
            .collect();
        let (bytes, _) = written(sizes.iter().copied());
        prop_assert!(bytes <= 3 * sizes[sizes.len() - 1], "{} for {:?}", bytes, sizes);
    }

    #[test]
    fn a_state_that_shrinks_is_measured_by_its_largest(sizes in prop::collection::vec(1_u64..100_000, 1..400)) {
        // R-CP-6
        let (bytes, _) = written(sizes.iter().copied());
        prop_assert!(bytes <= 3 * sizes.iter().max().unwrap());
    }

    #[test]
    fn stopping_and_asking_do_not_break_the_bound(
        steps in prop::collection::vec((0_u64..2_000, 0_u8..10), 1..400),
    ) {
        // R-CP-6: a run that is taken over knows only its largest snapshot; saves on demand are not counted.
        let mut growth = Growth::new();
        let (mut size, mut bytes, mut largest) = (100, 0, 0);
        for (step, event) in steps {
            size += step;
            match event {
                0 => growth = Growth::resumed(largest),
                1 => {
                    growth.wrote(size, Trigger::OnDemand);
                    largest = size;
                }
                _ if growth.is_due(size, Trigger::WaveEnd) => {
                    growth.wrote(size, Trigger::WaveEnd);
                    bytes += size;
                    largest = size;
                }
                _ => {}
            }
        }
        prop_assert!(bytes + size <= 3 * size, "{bytes} for {size}");
    }
}
