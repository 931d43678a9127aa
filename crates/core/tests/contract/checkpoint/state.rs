//! The state of a workflow: three slices that append and one that merges.

use proptest::prelude::*;
use serde_json::json;
use sprag_core::checkpoint::{
    DecisionKind, DecisionRecord, Held, Message, MessageKind, Task, Update, WorkflowState, decode, encode,
};
use sprag_core::file::Duration;
use sprag_core::run::Timestamp;

use super::sample::{Zstd, address, id, small, task};

fn note(text: &str, at: i64) -> Message {
    let at = Timestamp::from_millis(at);
    Message { kind: MessageKind::Note, name: None, by: Some("ann".into()), data: json!(text), at }
}

#[test]
fn slices_append_in_order_and_the_context_merges() {
    // R-CP-1
    let mut state = WorkflowState::new(json!({"a": {"b": 1}, "gone": 1}).as_object().unwrap().clone());
    for update in [
        // Times may go backwards; the order is that of the journal.
        Update::Message(note("second clock", 9)),
        Update::Task(task("build", json!(1))),
        Update::Message(note("first clock", 3)),
        Update::Task(task("build", json!(2))),
        Update::Context(json!({"a": {"c": [1]}, "gone": null})),
        Update::Context(json!({"a": {"b": {"x": 1}}})),
    ] {
        state.apply(update);
    }
    assert_eq!(state.messages, [note("second clock", 9), note("first clock", 3)]);
    assert_eq!(state.tasks.len(), 2);
    assert_eq!(state.result("build").and_then(Held::inline), Some(&json!(2)));
    assert_eq!(state.result("ship"), None);
    assert_eq!(state.context, json!({"a": {"b": {"x": 1}, "c": [1]}}));
}

#[test]
fn the_stored_words_are_locked_and_strict() {
    // R-CP-1: no prompts, transcripts or logs find a place.
    let samples = [
        r#"{"message":{"kind":"signal","name":"go","data":{"a":1},"at":5}}"#,
        r#"{"message":{"kind":"answer","name":"q1","by":"ann","data":"yes","at":5}}"#,
        r#"{"message":{"kind":"note","at":5}}"#,
        r#"{"task":{"task_id":"loop/2/build","result":{"inline":null},"timestamp":5,"duration":7}}"#,
        r#"{"decision":{"what":"approval","node":"ship","by":"ann","why":"late","choice":"approve","at":5}}"#,
        r#"{"decision":{"what":"rejection","choice":"reject","at":5}}"#,
        r#"{"decision":{"what":"answer","choice":"retry","at":5}}"#,
        r#"{"decision":{"what":"budget_raise","choice":"5 usd","at":5}}"#,
        r#"{"decision":{"what":"strategy","choice":"escalate-model","at":5}}"#,
        r#"{"context":{"a":null}}"#,
    ];
    for sample in samples {
        let update: Update = serde_json::from_str(sample).unwrap();
        assert_eq!(serde_json::to_string(&update).unwrap(), sample);
    }
    for bad in [
        r#"{"log":{}}"#,
        r#"{"message":{"kind":"prompt","at":5}}"#,
        r#"{"message":{"kind":"note","at":5,"transcript":[]}}"#,
        r#"{"task":{"task_id":"a:b","result":{"inline":1},"timestamp":5,"duration":7}}"#,
        r#"{"task":{"task_id":"a","result":1,"timestamp":5,"duration":7}}"#,
        r#"{"task":{"task_id":"a","result":{"inline":1},"timestamp":5,"duration":-7}}"#,
        r#"{"decision":{"what":"guess","choice":"","at":5}}"#,
        r#"{"decision":{"what":"answer","at":5}}"#,
    ] {
        assert!(serde_json::from_str::<Update>(bad).is_err(), "{bad}");
    }
}

fn update() -> impl Strategy<Value = Update> {
    let json =
        prop_oneof![Just(json!(null)), any::<i32>().prop_map(|n| json!(n)), "[a-c]{0,3}".prop_map(|t| json!({ t: 1 }))];
    let kind = prop_oneof![Just(MessageKind::Signal), Just(MessageKind::Answer), Just(MessageKind::Note)];
    let message = (kind, json.clone(), any::<i64>()).prop_map(|(kind, data, at)| {
        Update::Message(Message { kind, name: None, by: None, data, at: Timestamp::from_millis(at) })
    });
    let task = (json.clone(), 0_u64..1_000).prop_map(|(result, millis)| {
        let timestamp = Timestamp::from_millis(5);
        let duration = Duration::from_millis(millis);
        Update::Task(Task { task_id: address("each/1"), result: Held::from(result), timestamp, duration })
    });
    let decision = "[a-z]{0,4}".prop_map(|choice| {
        let at = Timestamp::from_millis(5);
        Update::Decision(DecisionRecord { what: DecisionKind::Answer, node: None, by: None, why: None, choice, at })
    });
    let context = prop::collection::vec(("[a-c]", json), 0..3)
        .prop_map(|entries| Update::Context(entries.into_iter().collect::<serde_json::Map<_, _>>().into()));
    prop_oneof![message, task, decision, context]
}

proptest! {
    #[test]
    fn stopping_anywhere_changes_nothing(updates in prop::collection::vec(update(), 0..20), cut in 0_usize..20) {
        // R-RES-4: messages, tasks, decisions and context are restored exactly, and what follows follows from them.
        let cut = cut.min(updates.len());
        let mut whole = WorkflowState::default();
        updates.iter().cloned().for_each(|update| whole.apply(update));
        let mut before = small();
        before.state = WorkflowState::default();
        updates[..cut].iter().cloned().for_each(|update| before.state.apply(update));
        let bytes = encode(before, &Zstd).unwrap().bytes;
        let mut after = decode(&bytes, &id(7), &Zstd).unwrap().state;
        updates[cut..].iter().cloned().for_each(|update| after.apply(update));
        prop_assert_eq!(after.context.to_string(), whole.context.to_string());
        prop_assert_eq!(after, whole);
    }
}
