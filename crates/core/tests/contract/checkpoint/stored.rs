//! What is written is read back, exactly, by this release and every later one.

use proptest::prelude::*;
use serde_json::{Value, json};
use sprag_core::checkpoint::{
    Blob, CHECKPOINT_VERSION, Checkpoint, Held, NodeRecord, Pack, Refused, Unwritable, Update, WorkflowShape, decode,
    decode_record, encode, encode_record, json_bytes,
};
use sprag_core::limits::Limits;
use sprag_core::load::load;
use sprag_core::run::{Known, NodeError, NodeState, Seq, Taint};

use super::sample::{Zstd, address, id, small, task, thousand};

/// What version 2 writes for [`small`], without its machine.
const SECOND: &str = include_str!("version-2.json");
/// The bytes that version 1 wrote for such a run: the header, then the record.
const FIRST_HEADER: &str = include_str!("version-1.header");
const FIRST: &str = include_str!("version-1.json");

/// Packs nothing.
struct Plain;

impl Pack for Plain {
    fn pack(&self, plain: &[u8]) -> Result<Vec<u8>, String> {
        Ok(plain.to_vec())
    }

    fn unpack(&self, packed: &[u8], _: usize) -> Result<Vec<u8>, String> {
        Ok(packed.to_vec())
    }
}

fn first_bytes() -> Vec<u8> {
    let digits = FIRST_HEADER.trim();
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    let header = (0..digits.len()).step_by(2).map(byte);
    header.chain(FIRST.trim_end().bytes()).collect()
}

#[test]
fn a_checkpoint_is_read_as_it_was_written() {
    // R-CP-1, R-CP-2
    for checkpoint in [small(), thousand()] {
        let encoded = encode(checkpoint.clone(), &Zstd).unwrap();
        let read = decode(&encoded.bytes, &checkpoint.id, &Zstd).unwrap();
        assert_eq!(read, checkpoint);
        assert_eq!(encode(read.clone(), &Zstd).unwrap(), encoded);
        assert!(encoded.blobs.is_empty() && !encoded.is_large());
        // Equality of objects does not see the order of keys, but a template does.
        assert_eq!(read.state.context.to_string(), checkpoint.state.context.to_string());
    }
}

#[test]
fn the_record_is_the_one_of_the_contract() {
    // R-CP-1: a later release must read this, so it never changes.
    let (json, _) = encode_record(small()).unwrap();
    assert_eq!(String::from_utf8(json).unwrap(), SECOND.trim_end());
    let record: Value = serde_json::from_str(SECOND).unwrap();
    let keys: Vec<_> = record.as_object().unwrap().keys().map(String::as_str).collect();
    let expected =
        ["id", "schema_version", "workflow", "run", "state", "execution_config", "metadata", "created_at", "seq"];
    assert_eq!(keys, expected);
    let read = decode_record(CHECKPOINT_VERSION, SECOND.trim_end().as_bytes(), &id(7)).unwrap();
    assert_eq!(read, Checkpoint { machine: None, ..small() });
}

#[test]
fn a_thousand_results_are_small() {
    // R-CP-2: 1,000 results of 200 bytes in 100 kB; small records are left as they are.
    let encoded = encode(thousand(), &Zstd).unwrap();
    assert!(encoded.plain_bytes > 200_000, "{}", encoded.plain_bytes);
    assert!(encoded.bytes.len() <= 100_000, "{} of {} bytes", encoded.bytes.len(), encoded.plain_bytes);
    let encoded = encode(small(), &Zstd).unwrap();
    assert!(encoded.plain_bytes <= 4096);
    let text = String::from_utf8_lossy(&encoded.bytes);
    assert!(text.ends_with(&format!("{}{{\"in\":\"memory\"}}", SECOND.trim_end())));
}

#[test]
fn long_outputs_go_to_the_blob_store() {
    // R-CP-2
    let mut checkpoint = small();
    let long = json!({"z": "y".repeat(64 * 1024), "a": 1});
    let edge = json!("y".repeat(64 * 1024 - 2));
    checkpoint.state.apply(Update::Task(task("ship", long.clone())));
    checkpoint.state.apply(Update::Task(task("each/2", edge.clone())));
    let waiting = NodeRecord { output: Some(Held::from(long.clone())), ..NodeRecord::new(NodeState::AwaitingApproval) };
    checkpoint.run.nodes.insert(address("each/3"), waiting);
    checkpoint.run.nodes.insert(address("each/2"), NodeRecord::new(NodeState::Completed));
    let encoded = encode(checkpoint.clone(), &Zstd).unwrap();
    assert_eq!(encoded.blobs, [Blob::of(&long), Blob::of(&long)]);
    let mut read = decode(&encoded.bytes, &id(7), &Zstd).unwrap();
    let blob = Blob::of(&long);
    assert_eq!(read.output("each/3").and_then(Held::blob), Some(blob.digest));
    assert_eq!(read.output("each/2").and_then(Held::inline), Some(&edge));
    let held = read.held_mut().find(|held| held.blob().is_some()).unwrap();
    assert!(held.fill(b"{}").is_err());
    assert_eq!(held.blob(), Some(blob.digest));
    for held in read.held_mut().filter(|held| held.blob().is_some()) {
        held.fill(&blob.bytes).unwrap();
    }
    assert_eq!(read, checkpoint);
    // A value that looks like a reference is a value.
    let posing = json!({"blob": blob.digest.to_string()});
    checkpoint.state.apply(Update::Task(task("ship", posing.clone())));
    let encoded = encode(checkpoint, &Zstd).unwrap();
    let read = decode(&encoded.bytes, &id(7), &Zstd).unwrap();
    assert_eq!(read.state.result("ship").and_then(Held::inline), Some(&posing));
}

#[test]
fn large_ones_are_known_as_such() {
    // R-CP-2: warn over 500 KB.
    let mut checkpoint = small();
    checkpoint.machine.as_mut().unwrap().bytes =
        (0..600_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13).to_be_bytes()[3]).collect();
    let encoded = encode(checkpoint.clone(), &Plain).unwrap();
    assert!(encoded.is_large());
    assert_eq!(decode(&encoded.bytes, &id(7), &Plain), Ok(checkpoint));
}

#[test]
fn version_one_is_migrated() {
    // R-CP-5: these bytes were written once and must be read for ever.
    let read = decode(&first_bytes(), &id(7), &Zstd).unwrap();
    assert_eq!((read.run.cost.usd, read.run.cost.reserved_usd), (0.25, 0.0));
    let failing = NodeError::new(Known::RATE_LIMITED, "slow down");
    let fallback = &read.run.nodes["each/0"];
    assert_eq!((fallback.taint.clone(), fallback.confidence), (Some(Taint::Fallback(failing)), Some(0.3)));
    assert_eq!((&read.run.nodes["build"].taint, read.run.nodes["build"].confidence), (&None, None));
    assert_eq!(read.state, small().state);
    assert_eq!((&read.workflow, &read.execution_config), (&small().workflow, &small().execution_config));
    assert_eq!(read.machine, None);
    // From here on it is one of today's.
    let again = encode(read.clone(), &Zstd).unwrap();
    assert_eq!(decode(&again.bytes, &id(7), &Zstd), Ok(read));
}

#[test]
fn versions_do_not_mix() {
    // R-CP-5
    let content = |version, json: &str| match decode_record(version, json.trim_end().as_bytes(), &id(7)) {
        Err(Refused::Content(detail)) => detail,
        other => panic!("{other:?}"),
    };
    assert!(content(2, FIRST).contains("version 1 in a record of 2"));
    assert!(content(1, SECOND).contains("unknown field `taint`"));
    assert!(content(1, &FIRST.replace("\"schema_version\":1", "\"schema_version\":2")).contains("in a record of 1"));
    assert!(content(1, &FIRST.replace("\"attempts\":1", "\"confidence\":1.0")).contains("confidence"));
    assert!(content(0, SECOND).contains("there is no version 0"));
    let newer = decode_record(3, SECOND.as_bytes(), &id(7)).unwrap_err();
    assert!(newer.needs_newer());
    assert_eq!(newer.to_string(), "it has version 3; this sprag reads up to 2, so a newer one is needed");
}

#[test]
fn what_contradicts_itself_is_neither_written_nor_read() {
    // R-CP-5
    let mut other = small();
    other.seq = Seq(8);
    assert!(matches!(encode(other, &Zstd), Err(Unwritable::Content(detail)) if detail.contains("-8`")));
    let mut endless = small();
    endless.run.cost.usd = f64::NAN;
    assert!(matches!(encode(endless, &Zstd), Err(Unwritable::Content(detail)) if detail.contains("not a number")));
    let mut open = small();
    open.workflow.edges[0].1 = 3;
    assert!(matches!(encode(open, &Zstd), Err(Unwritable::Content(detail)) if detail.contains("there are 3 nodes")));
    let edited = SECOND.trim_end().replace("\"seq\":7", "\"seq\":9");
    assert!(matches!(decode_record(2, edited.as_bytes(), &id(9)), Err(Refused::Content(_))));
    // One of another moment, in the place of this one.
    let read = decode(&encode(small(), &Zstd).unwrap().bytes, &id(8), &Zstd);
    assert_eq!(read, Err(Refused::Misplaced(Box::new(id(7)))));
}

#[test]
fn nodes_are_found_by_their_address() {
    // R-CP-1
    let checkpoint = small();
    assert_eq!(checkpoint.node_state("each/1"), Some(NodeState::Failed));
    assert_eq!(checkpoint.node_state("ship"), Some(NodeState::Pending));
    assert_eq!(checkpoint.node_state("each/7"), None);
    assert_eq!(checkpoint.output("each/0").and_then(Held::inline), Some(&json!("fine")));
    assert_eq!(checkpoint.output("each/1"), None);
    let text = "workflow: w\nversion: '2'\nnodes:\n  b: {needs: [a], noop: }\n  a: {run: echo}\n";
    let definition = load(text, &Limits::default()).unwrap().definition;
    let shape = WorkflowShape::of(&definition);
    assert_eq!(serde_json::to_value(&shape.nodes).unwrap(), json!(["a", "b"]));
    assert_eq!(serde_json::to_value(&shape.edges).unwrap(), json!([[0, 1, "on_success"]]));
    assert_eq!((shape.version.as_deref(), shape.graph_hash), (Some("2"), definition.graph_hash));
}

#[test]
fn the_deepest_values_are_read_back() {
    // R-CP-2: what the journal accepts, a checkpoint does.
    let deep = (0..sprag_core::run::DEPTH_MAX).fold(json!(1), |inner, _| json!({ "a": inner }));
    let mut checkpoint = small();
    checkpoint.state.apply(Update::Task(task("ship", deep.clone())));
    checkpoint.state.apply(Update::Context(deep));
    let encoded = encode(checkpoint.clone(), &Zstd).unwrap();
    assert_eq!(decode(&encoded.bytes, &id(7), &Zstd), Ok(checkpoint));
}

proptest! {
    #[test]
    fn numbers_and_texts_survive_to_the_last_bit(
        number in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
        integer in any::<i64>(),
        text in ".*",
    ) {
        // R-CP-2, R-RES-4: restored exactly.
        let mut checkpoint = small();
        let value = json!({ "n": number, "i": integer, "t": text, (text.clone()): number });
        checkpoint.state.apply(Update::Task(task("ship", value.clone())));
        checkpoint.run.cost.usd = number;
        let encoded = encode(checkpoint.clone(), &Zstd).unwrap();
        let read = decode(&encoded.bytes, &id(7), &Zstd).unwrap();
        prop_assert_eq!(read.run.cost.usd.to_bits(), number.to_bits());
        prop_assert_eq!(json_bytes(&value), value.to_string().len() as u64);
        prop_assert_eq!(read, checkpoint);
    }
}
