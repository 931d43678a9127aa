//! The machine: the run as bytes. It is refused or taken, and never brings anything down.

use std::sync::Arc;

use serde_json::json;
use sprag_core::checkpoint::Machine;
use sprag_core::run::{MACHINE_VERSION, Product, Run, Unrestorable, Verb};

use super::of_run::Hand;
use crate::load::support::valid;

const GROWING: &str = "workflow: w\nnodes:\n  each: { map: { over: \"[1, 2, 3]\", node: { call: x } } }\n  a: { call: x, retry: { max_attempts: 3 } }\n  \
                       gate: { needs: [a], approve: { message: fine? } }\n  hear: { wait: { signal: go }, timeout: 1h }\n  late: { needs: [gate], wait: { signal: other } }\n";

fn run() -> Hand {
    let mut hand = Hand::of(GROWING);
    for _ in 0..3 {
        let patch = Some(Arc::new(json!({ "seen": null })));
        assert!(hand.works(|_| Product { patch: patch.clone(), ..Product::of(json!({ "n": 1.5, "é": [null] })) }));
    }
    hand.says(None, Verb::Signal { name: "other".into(), data: json!([1]) });
    hand
}

/// What form 1 writes for [`run`].
const FIRST: &str = include_str!("machine-1.json");

#[test]
fn the_form_stays_what_its_version_says() {
    // R-CP-5: whoever changes the form gives it another version; then this sample is a new one.
    let hand = run();
    // How workflows are hashed is not part of it.
    let sample = FIRST.trim_end().replace("HASH", &hand.run.definition().graph_hash.to_string());
    assert_eq!(String::from_utf8(hand.run.snapshot().bytes).unwrap(), sample);
    let machine = Machine { version: MACHINE_VERSION, bytes: sample.into_bytes() };
    assert_eq!(Run::restore(hand.run.shared_definition(), &machine), Ok(hand.run));
}

#[test]
fn another_version_or_workflow_is_refused() {
    // R-CP-5
    let hand = run();
    let machine = hand.run.snapshot();
    let definition = hand.run.shared_definition();
    assert_eq!(Run::restore(Arc::clone(&definition), &machine).as_ref(), Ok(&hand.run));
    let newer = Machine { version: MACHINE_VERSION + 1, ..machine.clone() };
    assert_eq!(Run::restore(Arc::clone(&definition), &newer), Err(Unrestorable::Version(2)));
    let other = Arc::new(valid(&GROWING.replace("1, 2, 3", "1, 2, 4")));
    assert_eq!(Run::restore(other, &machine), Err(Unrestorable::OtherWorkflow));
    let beside = hand.run.snapshot_beside();
    assert!(matches!(Run::restore(definition, &beside), Err(Unrestorable::Missing(address)) if address == "a"));
    assert_eq!(Unrestorable::Version(2).to_string(), "the stored run has form 2, and this sprag reads 1");
}

#[test]
fn no_damage_brings_the_reader_down() {
    // R-CP-5: the checksum notices all of this before; the reader does without it.
    let hand = run();
    let machine = hand.run.snapshot();
    let definition = hand.run.shared_definition();
    let (mut refused, mut taken) = (0, 0);
    let mut read = |bytes: Vec<u8>| {
        match Run::restore(Arc::clone(&definition), &Machine { version: MACHINE_VERSION, bytes }) {
            Ok(mut run) => {
                // What is taken can go on: nothing in it leads anywhere that is not there.
                let mut entries = Vec::new();
                let now = sprag_core::run::Timestamp::from_millis(1_900_000_000_000);
                drop(run.come_to_rest(now, 4, &mut entries));
                taken += 1;
            }
            Err(_) => refused += 1,
        }
    };
    for length in 0..machine.bytes.len() {
        read(machine.bytes[..length].to_vec());
    }
    for at in 0..machine.bytes.len() {
        for flip in [1, 2, 4, 8, 0x10, 0x40] {
            let mut bytes = machine.bytes.clone();
            bytes[at] ^= flip;
            read(bytes);
        }
    }
    read([machine.bytes.as_slice(), b" x"].concat());
    println!("{refused} refused, {taken} taken");
    assert!(refused > taken);
}

#[test]
fn huge_numbers_take_no_memory() {
    // R-CP-5
    let hand = run();
    let text = String::from_utf8(hand.run.snapshot().bytes).unwrap();
    let definition = hand.run.shared_definition();
    let nodes = text.find("\"nodes\":[[").unwrap();
    let huge = format!("{}\"nodes\":[[0,4294967295],[{}", &text[..nodes], &text[nodes + 10..]);
    let machine = Machine { version: MACHINE_VERSION, bytes: huge.into_bytes() };
    let refused = Run::restore(definition, &machine).unwrap_err();
    assert_eq!(refused, Unrestorable::Damaged("it has more nodes than its graphs".into()));
}
