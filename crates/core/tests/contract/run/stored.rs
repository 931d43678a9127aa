//! The stored form of entries is a promise to every later release: samples of every kind are locked here.

use sprag_core::run::{Entry, JOURNAL_VERSION, Unreadable, entries_from_json};

const RUN: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// One sample of every kind of entry, as version 1 writes it.
fn samples() -> Vec<String> {
    let digest = "ab".repeat(32);
    let id = "00000000-0000-0000-0000-000000000007";
    let error = r#"{"code":"TIMEOUT","message":"too slow"}"#;
    let usage = r#"{"tokens_in":1,"tokens_out":2,"usd":0.5}"#;
    let chosen = r#"{"strategy":"escalate-model","model":"opus","reason":"why","passed":[{"strategy":"retry-same","why":"no"}]}"#;
    [
        &format!(
            r#"{{"created":{{"run":"{RUN}","first_run":"{RUN}","workflow":"w","graph_hash":"{digest}","params":{{"a":1}}}}}}"#
        ),
        &format!(
            r#"{{"created":{{"run":"{RUN}","first_run":"{RUN}","previous_run":"{RUN}","retry_count":1,"workflow":"w","graph_hash":"{digest}","definition":"{digest}","growth":{{"nodes":9,"depth":2}}}}}}"#
        ),
        &format!(
            r#"{{"created":{{"run":"{RUN}","first_run":"{RUN}","workflow":"w","graph_hash":"{digest}","spent":{usage},"expected":{{"a/b":{usage}}},"model_maximum":{{"opus":{usage}}},"strict":true}}}}"#
        ),
        &carrying(&digest, error),
        &format!(r#"{{"owned":{{"owner":"{id}","fence":2}}}}"#),
        &format!(r#"{{"owned":{{"owner":"{id}","fence":2,"person":true}}}}"#),
        r#"{"deadline_moved":{"deadline":1800000000000}}"#,
        r#"{"ready":{"node":3}}"#,
        &format!(r#"{{"ready":{{"node":3,"verdict":{{"unmet":[4],"doomed":{error}}}}}}}"#),
        r#"{"started":{"node":3,"attempt":1}}"#,
        r#"{"started":{"node":3,"attempt":1,"due":1800000000000}}"#,
        &format!(r#"{{"started":{{"node":3,"attempt":1,"terms":{{"model":"opus","reserved":{usage}}}}}}}"#),
        &format!(r#"{{"spent":{{"node":3,"attempt":1,"usage":{usage}}}}}"#),
        r#"{"produced":{"node":3,"attempt":1,"product":{"output":{"a":[1]},"patch":{"b":null},"usage":{"tokens_in":1,"tokens_out":2,"usd":0.5}}}}"#,
        &format!(r#"{{"produced":{{"node":3,"attempt":1,"product":{{"files":{{"a/b":"{digest}"}}}}}}}}"#),
        r#"{"checked":{"node":3,"attempt":1}}"#,
        r#"{"graded":{"node":3,"attempt":1,"grade":"B","feedback":[{"severity":"minor","text":"shorter"}]}}"#,
        r#"{"expanded":{"node":3,"attempt":1,"children":2,"of":{"items":[1,{"a":2}]}}}"#,
        r#"{"expanded":{"node":3,"attempt":1,"round":2,"children":4,"of":{"params":{"a":1}}}}"#,
        &format!(r#"{{"expanded":{{"node":3,"attempt":1,"children":5,"of":{{"body":"{digest}"}}}}}}"#),
        r#"{"gathered":{"node":3,"attempt":1}}"#,
        r#"{"completed":{"node":3,"attempt":1}}"#,
        r#"{"completed":{"node":3,"attempt":1,"product":{"output":1}}}"#,
        &format!(r#"{{"completed":{{"node":3,"attempt":1,"product":{{}},"taint":{{"fallback":{error}}}}}}}"#),
        r#"{"completed":{"node":3,"attempt":1,"taint":"provided"}}"#,
        r#"{"completed":{"node":3,"attempt":1,"taint":{"low_grade":"D"}}}"#,
        &format!(
            r#"{{"completed":{{"node":3,"attempt":1,"taint":{{"fallback":{error}}},"chosen":{{"strategy":"skip-with-fallback","reason":"why"}}}}}}"#
        ),
        &format!(r#"{{"failed":{{"node":3,"attempt":1,"error":{error}}}}}"#),
        &format!(r#"{{"failed":{{"node":3,"attempt":1,"error":{error},"due":1800000000000}}}}"#),
        &format!(r#"{{"failed":{{"node":3,"attempt":1,"error":{error},"chosen":{{"reason":"final"}}}}}}"#),
        &format!(r#"{{"failed":{{"node":3,"attempt":1,"error":{error},"due":1800000000000,"chosen":{chosen}}}}}"#),
        &format!(r#"{{"decomposing":{{"node":3,"attempt":1,"error":{error},"chosen":{chosen}}}}}"#),
        r#"{"finalised":{"node":3}}"#,
        &format!(r#"{{"withheld":{{"node":3,"expected":{usage}}}}}"#),
        r#"{"budget_raised":{"by":{"tokens":5,"usd":0.5}}}"#,
        r#"{"budget_raised":{"inside":3,"by":{"usd":0.5}}}"#,
        &format!(r#"{{"unknown":{{"node":3,"attempt":1,"error":{error}}}}}"#),
        &format!(
            r#"{{"asked":{{"id":"q1","kind":"gate","node":3,"attempt":1,"shown":"go?","digest":"{digest}","form":{{"type":"object"}},"approvers":["ann"],"expires":1800000000000}}}}"#
        ),
        &format!(
            r#"{{"asked":{{"id":"q2","kind":"unknown_outcome","node":3,"attempt":1,"shown":"?","digest":"{digest}","error":{error}}}}}"#
        ),
        &format!(
            r#"{{"asked":{{"id":"q3","kind":"intervention","node":3,"attempt":1,"shown":"?","digest":"{digest}","error":{error},"chosen":{chosen}}}}}"#
        ),
        &format!(r#"{{"asked":{{"id":"q4","kind":"budget","shown":"?","digest":"{digest}"}}}}"#),
        &format!(r#"{{"answered":{{"question":"q4","choice":"raise","by":"ann","command":"{id}"}}}}"#),
        &format!(r#"{{"answered":{{"question":"q1","choice":"approve","by":"ann","command":"{id}"}}}}"#),
        r#"{"closed":{"question":"q1"}}"#,
        r#"{"approved":{"node":3}}"#,
        r#"{"skipped":{"node":3,"reason":"dependency_failed","cause":1}}"#,
        r#"{"skipped":{"node":3,"reason":"run_stopped"}}"#,
        r#"{"cancelled":{"node":3,"cause":"rejected"}}"#,
        r#"{"signalled":{"name":"go","data":{"a":1}}}"#,
        r#"{"signalled":{"name":"go","data":null,"kept":true}}"#,
        r#"{"signal_taken":{"node":3,"name":"go"}}"#,
        r#"{"wave_completed":{"phase":0,"wave":2}}"#,
        r#"{"phase_completed":{"phase":1}}"#,
        &format!(r#"{{"command":{{"command":{{"id":"{id}","by":"ann","why":"late","verb":"pause"}}}}}}"#),
        &format!(
            r#"{{"command":{{"command":{{"id":"{id}","by":"ann","verb":{{"answer":{{"question":{{"node":"ship"}},"choice":"reject","digest":"{digest}","data":1}}}}}},"refused":{{"code":"ALREADY_ANSWERED","message":"…"}}}}}}"#
        ),
        &format!(
            r#"{{"command":{{"command":{{"id":"{id}","by":"ann","verb":{{"signal":{{"name":"go","data":1}}}}}}}}}}"#
        ),
        &format!(r#"{{"command":{{"command":{{"id":"{id}","by":"ann","verb":{{"cancel":{{"kill":true}}}}}}}}}}"#),
        r#"{"held":{"on":true}}"#,
        r#"{"people_only":{"on":false}}"#,
        r#"{"stopping":{"cause":{"fail_fast":{"node":3}}}}"#,
        r#"{"stopping":{"cause":{"node_failures":{"count":2}}}}"#,
        r#"{"stopping":{"cause":{"retries_exhausted":{"count":2}}}}"#,
        r#"{"stopping":{"cause":{"phase_failed":{"phase":1}}}}"#,
        r#"{"stopping":{"cause":{"phase_timeout":{"phase":1}}}}"#,
        r#"{"stopping":{"inside":3,"cause":"timeout"}}"#,
        r#"{"stopping":{"cause":"deadline"}}"#,
        r#"{"stopping":{"cause":{"cancel":{"kill":false}}}}"#,
        &format!(r#"{{"stopping":{{"cause":{{"superseded":{{"by":"{RUN}"}}}}}}}}"#),
        r#"{"ended":{"status":"completed","exit":0,"degraded":true}}"#,
        &format!(r#"{{"ended":{{"status":"failed","exit":1,"superseded_by":"{RUN}"}}}}"#),
        &format!(r#"{{"ended":{{"status":"failed","exit":1,"failure":{{"node":3,"error":{error}}}}}}}"#),
    ]
    .into_iter()
    .map(str::to_owned)
    .collect()
}

/// The creation of a run that begins with a node of every kind of end.
fn carrying(digest: &str, error: &str) -> String {
    let kept = |address: &str, end: &str| format!(r#""{address}":{{"end":{end},"hash":"{digest}"}}"#);
    let nodes = [
        format!(
            r#""a":{{"end":{{"completed":{{"product":{{"output":1}},"patches":[{{"b":2}}],"taint":"provided","tainted":true,"confidence":0.8}}}},"hash":"{digest}","task_hash":"{digest}","cost":{{"usage":{{"tokens_in":1,"tokens_out":2,"usd":0.5}},"millis":3}},"attempts":2,"unmet":[0]}}"#
        ),
        kept("b", &format!(r#"{{"failed":{error}}}"#)),
        kept("c", r#"{"skipped":["dependency_failed","b"]}"#),
        kept("d", r#"{"cancelled":"rejected"}"#),
        kept("e", r#"{"awaiting_approval":{"result":{"product":{}}}}"#),
        kept(
            "f",
            &format!(r#"{{"awaiting_approval":{{"asks":{{"kind":"unknown_outcome","shown":"?","error":{error}}}}}}}"#),
        ),
        format!(
            r#""g/x":{{"end":{{"completed":{{"product":{{}}}}}},"hash":"{digest}","place":{{"kind":"Run","needs":["w"],"keyed":true}}}}"#
        ),
    ]
    .join(",");
    let grown = format!(
        r#""g":{{"hash":"{digest}","made_of":"{digest}","body":{{"output":{{"nodes":{{}}}}}}}},"h/y":{{"hash":"{digest}","place":{{"kind":"Map"}}}}"#
    );
    format!(
        r#"{{"created":{{"run":"{RUN}","first_run":"{RUN}","workflow":"w","graph_hash":"{digest}","spent":{{"tokens_in":1,"tokens_out":2,"usd":0.5}},"mode":"clean","forked_from":"{RUN}","carried":{{"nodes":{{{nodes}}},"grown":{{{grown}}},"generations":{{"a":1}}}}}}}}"#
    )
}

fn stored(entries: &str) -> String {
    format!(r#"{{"v":1,"entries":[{entries}]}}"#)
}

#[test]
fn every_kind_of_entry_is_read_and_written_as_it_always_was() {
    // R-JRN-1, R-STATE-3
    assert_eq!(JOURNAL_VERSION, 1, "a new version needs samples of its own and a migration of these");
    for sample in samples() {
        let entries = entries_from_json(&stored(&sample)).unwrap_or_else(|error| panic!("{sample}: {error}"));
        assert_eq!(serde_json::to_string(&entries[0]).unwrap(), sample);
    }
}

#[test]
fn every_kind_of_entry_has_a_sample() {
    let kinds: std::collections::BTreeSet<_> =
        samples().iter().map(|sample| sample.split('"').nth(1).unwrap_or_default().to_owned()).collect();
    let unknown = serde_json::from_str::<Entry>(r#"{"nonsense":{}}"#).unwrap_err().to_string();
    let known: std::collections::BTreeSet<_> = unknown.split('`').skip(3).step_by(2).map(str::to_owned).collect();
    assert_eq!(kinds, known, "{unknown}");
}

#[test]
fn what_was_not_written_like_this_is_refused() {
    // R-CP-5
    for sample in samples().iter().filter(|sample| sample.contains(":{\"node\"")) {
        let extra = sample.replacen(":{\"node\"", ":{\"surprise\":1,\"node\"", 1);
        assert!(matches!(entries_from_json(&stored(&extra)), Err(Unreadable::Damaged(_))), "{extra}");
    }
    for text in ["", "{}", "[]", r#"{"v":1}"#, r#"{"v":1,"entries":[]} x"#, r#"{"v":1,"entries":[],"more":1}"#] {
        assert!(matches!(entries_from_json(text), Err(Unreadable::Damaged(_))), "{text}");
    }
    let whole = stored(&samples().join(","));
    for length in 0..whole.len() {
        if let Some(part) = whole.get(..length) {
            assert!(entries_from_json(part).is_err(), "{part}");
        }
    }
}

#[test]
fn a_newer_journal_says_so() {
    for text in [r#"{"v":2,"entries":[]}"#, r#"{"v":7,"entries":[{"teleported":{}}],"extra":1}"#] {
        let refused = entries_from_json(text).unwrap_err();
        assert!(matches!(refused, Unreadable::Newer(_)), "{text}");
        assert!(refused.to_string().contains("newer"), "{refused}");
    }
    assert!(matches!(entries_from_json(r#"{"v":0,"entries":[]}"#), Err(Unreadable::Damaged(_))));
}
