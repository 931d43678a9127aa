//! What expressions see of a run, and moments that they name.

use serde_json::json;
use sprag_core::run::Timestamp;
use sprag_sim::{Outcome, World};

#[test]
fn a_wait_until_a_moment_is_over_at_that_moment() {
    // R-NODE-1, R-STATE-10
    let moment: Timestamp = "2027-01-15T09:30:00Z".parse().unwrap();
    for text in [
        "workflow: w\nnodes:\n  a: { wait: { until: \"2027-01-15T10:30:00+01:00\" } }\n",
        "workflow: w\nnodes:\n  s: { call: x }\n  a: { needs: [s], wait: { until: \"{{ nodes.s.output.at }}\" } }\n",
    ] {
        let mut world = World::of(text);
        world.scripted("s", [Outcome::output(json!({ "at": "2027-01-15T09:30:00Z" }))]);
        world.starts().settles();
        assert_eq!(world.end(), "completed 0");
        assert_eq!(world.now(), moment);
    }
}

#[test]
fn a_moment_that_has_passed_is_over_at_once_and_what_is_none_fails_the_node() {
    // R-STATE-9
    for (at, end) in
        [(json!("2020-01-01T00:00:00Z"), "completed 0"), (json!("soon"), "failed 1"), (json!({}), "failed 1")]
    {
        let mut world = World::of(
            "workflow: w\nnodes:\n  s: { call: x }\n  a: { needs: [s], wait: { until: \"{{ nodes.s.output }}\" } }\n",
        );
        world.scripted("s", [Outcome::output(at.clone())]);
        world.runs();
        assert_eq!(world.end(), end, "{at}");
        if end == "failed 1" {
            assert_eq!(world.code("a"), "CONDITION_ERROR");
        }
    }
}

#[test]
fn expressions_see_the_run_its_parameters_and_what_became_of_its_nodes() {
    // R-EXPR-1, R-EXPR-3
    for condition in [
        "run.workflow == 'w'",
        "run.id | length == 36",
        "run.version == '3'",
        "run.retry_count == 0 and run.previous_run_id is none",
        "params.p == 'x'",
        "context.region == 'eu'",
        "nodes.s.state == 'completed' and nodes.s.attempts == 2 and nodes.s.error is none",
        "nodes['f'].state == 'failed' and nodes.f.output is none",
        "nodes.f.error.code == 'MINE' and nodes.f.error.class == 'model-limitation'",
        "output.n == 7 and error is none",
    ] {
        let text = format!(
            "workflow: w\nversion: '3'\nparams: {{ p: {{ type: string, default: x }} }}\ncontext: {{ region: eu }}\nnodes:\n  \
             f: {{ call: x, continue_on_error: true }}\n  s: {{ call: x, needs: [f], retry: {{ max_attempts: 2 }} }}\n  \
             t: {{ call: x, needs: [{{ node: s, condition: \"{condition}\" }}] }}\n"
        );
        let mut world = World::of(&text);
        world.scripted("f", [Outcome::fails("MINE")]);
        world.scripted("s", [Outcome::fails("NETWORK"), Outcome::output(json!({ "n": 7 }))]);
        world.runs();
        assert_eq!(world.states(), "f failed, s completed, t completed", "{condition}\n{}", world.picture());
    }
}
