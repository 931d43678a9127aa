//! Nodes that become graphs: `map`, `loop`, `workflow`, `generate` (`R-GROW-1`, `R-GROW-2`).

use serde_json::{Value, json};
use sprag_core::file::Duration;
use sprag_sim::{Crash, Outcome, World, WorldOptions};

fn of(nodes: &str) -> World {
    World::of(&format!("workflow: w\nnodes:\n{nodes}"))
}

fn output(world: &World, node: &str) -> Value {
    let run = world.run();
    run.output(world.node(node)).cloned().unwrap_or_default()
}

#[test]
fn a_map_makes_one_copy_for_each_item() {
    // R-GROW-1
    let mut world =
        of("  list: { call: x }\n  each: { needs: [list], map: { over: nodes.list.output, node: { call: x } } }\n");
    world.scripted("list", [Outcome::output(json!(["a", "b", "c"]))]);
    world.scripted("each/1", [Outcome::output(json!({ "n": 1 }))]);
    world.runs();
    assert_eq!(
        world.states(),
        "each completed, each/0 completed, each/1 completed, each/2 completed, list completed",
        "{}",
        world.picture()
    );
    assert_eq!(output(&world, "each"), json!([null, { "n": 1 }, null]));
    assert_eq!(world.end(), "completed 0");
}

#[test]
fn what_is_no_list_or_is_empty() {
    // R-GROW-1
    let mut world = of("  each: { map: { over: \"[]\", node: { call: x } } }\n  end: { needs: [each], call: x }\n");
    world.runs();
    assert_eq!(world.states(), "each completed, end completed");
    let mut world =
        of("  list: { call: x }\n  each: { needs: [list], map: { over: nodes.list.output, node: { call: x } } }\n");
    world.scripted("list", [Outcome::output(json!({ "a": 1 }))]);
    world.runs();
    assert_eq!(
        (world.states().as_str(), world.code("each").as_str()),
        ("each failed, list completed", "CONDITION_ERROR")
    );
}

#[test]
fn a_failed_copy_fails_the_map_when_all_are_done() {
    // R-GROW-2
    let mut world =
        of("  each: { map: { over: \"[1, 2, 3]\", node: { call: x } } }\n  end: { needs: [each], call: x }\n");
    world.scripted("each/1", [Outcome::fails("MINE")]);
    world.scripted("each/2", [Outcome::fails("OTHER")]);
    world.runs();
    assert_eq!(
        world.states(),
        "each failed, each/0 completed, each/1 failed, each/2 failed, end skipped",
        "{}",
        world.picture()
    );
    // The smallest address names it.
    assert_eq!((world.code("each").as_str(), world.end().as_str()), ("MINE", "failed 1"));
}

#[test]
fn a_map_runs_as_many_copies_at_once_as_it_may() {
    // R-NODE-1, R-SCHED-3
    for (most, expected) in [(1, 1), (2, 2), (9, 3)] {
        let text = format!(
            "workflow: w\nnodes:\n  each: {{ map: {{ over: \"range(6)\", node: {{ call: x }}, max_parallel: {most} }} }}\n"
        );
        let mut world = World::with(&text, WorldOptions { slots: 3, ..WorldOptions::default() });
        world.runs();
        let at_once = |moment| {
            world
                .ledger
                .iter()
                .filter(|done| done.began <= moment && done.ended.is_some_and(|end| end > moment))
                .count()
        };
        assert_eq!(world.ledger.iter().map(|done| at_once(done.began)).max(), Some(expected), "{most}");
        assert_eq!(world.end(), "completed 0");
    }
}

#[test]
fn copies_of_a_sub_workflow_count_as_whole_ones() {
    // R-NODE-1: the second item does not begin before the first is through.
    let mut world = of(
        "  each: { map: { over: \"[1, 2]\", max_parallel: 1, node: { workflow: { nodes: { a: { call: x }, b: { needs: [a], call: x } } } } } }\n",
    );
    world.runs();
    assert_eq!(world.order(), "each/0/a each/0/b each/1/a each/1/b", "{}", world.picture());
}

#[test]
fn a_sub_workflow_sees_what_it_is_handed_and_gives_what_its_last_nodes_gave() {
    // R-GROW-1, R-EXPR-3
    let mut world = of(
        "  a: { call: x }\n  sub:\n    needs: [a]\n    workflow:\n      params: { n: { type: integer }, m: { type: integer, default: 5 } }\n      nodes:\n        \
         b: { call: x }\n        c: { call: x, needs: [{ node: b, condition: \"params.n == 7 and params.m == 5\" }] }\n        d: { call: x, needs: [{ node: b, condition: \"params.n == 8\" }] }\n    \
         params: { n: \"{{ nodes.a.output.n }}\" }\n  end: { needs: [{ node: sub, condition: \"output.c == 3\" }], call: x }\n",
    );
    world.scripted("a", [Outcome::output(json!({ "n": 7 }))]);
    world.scripted("sub/c", [Outcome::output(json!(3))]);
    world.runs();
    assert_eq!(
        world.states(),
        "a completed, end completed, sub completed, sub/b completed, sub/c completed, sub/d skipped",
        "{}",
        world.picture()
    );
    // What nobody needs is kept to be looked at.
    let mut world = of(
        "  sub: { workflow: { nodes: { b: { call: x }, c: { call: x, needs: [b] }, d: { call: x, needs: [{ node: b, when: on_failure }] } } } }\n",
    );
    world.scripted("sub/c", [Outcome::output(json!(3))]);
    world.runs();
    assert_eq!(output(&world, "sub"), json!({ "c": 3, "d": null }));
}

#[test]
fn a_value_that_a_sub_workflow_does_not_take_fails_its_node() {
    let mut world = of(
        "  sub: { workflow: { params: { n: { type: integer } }, nodes: { b: { call: x } } }, params: { n: \"text\" } }\n",
    );
    world.runs();
    assert_eq!((world.states().as_str(), world.code("sub").as_str()), ("sub failed", "CONDITION_ERROR"));
}

#[test]
fn a_loop_goes_on_until_its_condition_holds() {
    // R-NODE-1, R-GROW-1
    let text = |max: u32| {
        format!(
            "  again: {{ loop: {{ workflow: {{ nodes: {{ a: {{ call: x }}, b: {{ needs: [a], call: x }} }} }}, until: output.b.done, max: {max} }} }}\n  end: {{ needs: [{{ node: again, condition: \"output.b.done\" }}], call: x }}\n"
        )
    };
    let mut world = of(&text(5));
    world.scripted("again/1/b", [Outcome::output(json!({ "done": false }))]);
    world.scripted("again/2/b", [Outcome::output(json!({ "done": false }))]);
    world.scripted("again/3/b", [Outcome::output(json!({ "done": true }))]);
    world.runs();
    assert_eq!(world.order(), "again/1/a again/1/b again/2/a again/2/b again/3/a again/3/b end", "{}", world.picture());
    // Only the last iteration's output lets `end` run.
    assert_eq!(world.state("end").as_str(), "completed");
    let mut world = of(&text(2));
    world.scripted("again/1/b", [Outcome::output(json!({ "done": false }))]);
    world.scripted("again/2/b", [Outcome::output(json!({ "done": false }))]);
    world.runs();
    assert_eq!((world.code("again").as_str(), world.end().as_str()), ("INVALID_OUTPUT", "failed 1"));
    assert_eq!(world.state("end").as_str(), "skipped");
    let mut world = of(&text(2));
    world.runs();
    assert_eq!(world.code("again"), "CONDITION_ERROR", "an iteration without that output has no `until`");
}

#[test]
fn generated_nodes_run_whole_or_not_at_all() {
    // R-GROW-1
    let file = "  plan: { generate: { call: x } }\n  end: { needs: [{ node: plan, condition: \"output == {'b': 'made'}\" }], call: x }\n";
    let graph = json!({ "nodes": { "a": { "call": "x" }, "b": { "call": "x", "needs": ["a"] } } });
    let mut world = of(file);
    world.scripted("plan", [Outcome::output(graph)]);
    world.scripted("plan/b", [Outcome::output(json!("made"))]);
    world.runs();
    assert_eq!(world.states(), "end completed, plan completed, plan/a completed, plan/b completed");
    for (graph, code) in [
        (
            json!({ "nodes": { "a": { "call": "x", "needs": ["b"] }, "b": { "call": "x", "needs": ["a"] } } }),
            "CYCLE_DETECTED",
        ),
        (json!({ "nodes": { "a": { "call": "x", "needs": ["z"] } } }), "MISSING_DEPENDENCY"),
        (json!({ "nodes": {} }), "INVALID_OUTPUT"),
        (json!("nothing"), "INVALID_OUTPUT"),
        (json!(null), "INVALID_OUTPUT"),
    ] {
        let mut world = of(file);
        world.scripted("plan", [Outcome::output(graph.clone())]);
        world.runs();
        assert_eq!(
            (world.states().as_str(), world.code("plan").as_str()),
            ("end skipped, plan failed", code),
            "{graph}"
        );
    }
}

#[test]
fn a_run_grows_no_further_than_it_may() {
    // R-GROW-1
    let mut world =
        of("  each: { map: { over: \"range(4)\", node: { map: { over: \"range(4)\", node: { call: x } } } } }\n");
    world.grows_to(10, 16);
    world.runs();
    let failed = world.run().all_nodes().filter(|node| world.run().error(*node).is_some()).count();
    assert!(failed >= 4, "{}", world.picture());
    assert!(world.run().all_nodes().len() <= 10);
    let mut world =
        of("  each: { map: { over: \"range(2)\", node: { map: { over: \"range(2)\", node: { call: x } } } } }\n");
    world.grows_to(100, 1);
    world.runs();
    assert_eq!((world.end().as_str(), world.code("each").as_str()), ("failed 1", "INVALID_OUTPUT"));
}

#[test]
fn a_parent_that_takes_too_long_ends_with_its_children() {
    // R-STATE-10
    let mut world = of(
        "  each: { timeout: 10ms, map: { over: \"range(3)\", node: { call: x }, max_parallel: 1 } }\n  end: { needs: [each], call: x }\n",
    );
    world.scripted("each/1", [Outcome::Hangs]);
    world.runs();
    assert_eq!(
        world.states(),
        "each failed, each/0 completed, each/1 failed, each/2 skipped, end skipped",
        "{}",
        world.picture()
    );
    assert_eq!((world.code("each").as_str(), world.code("each/1").as_str()), ("TIMEOUT", "TIMEOUT"));
    assert_eq!(world.aborted(), "each/1 1");
}

#[test]
fn a_stop_reaches_what_grew() {
    // R-EDGE-5
    let text = "  each: { map: { over: \"range(3)\", node: { call: x }, max_parallel: 1 } }\n  z: { call: x }\n";
    let mut world = of(text);
    world.scripted("each/0", [Outcome::Hangs]);
    world.scripted("z", [Outcome::Hangs]);
    world.starts().settles();
    world.cancels();
    assert_eq!(
        (world.states().as_str(), world.end().as_str()),
        ("each cancelled, each/0 cancelled, each/1 cancelled, each/2 cancelled, z cancelled", "cancelled 5")
    );
    assert_eq!(world.aborted(), "each/0 1, z 1");

    // Under `fail_fast` what is running ends, and nothing more starts.
    let mut world = World::of(&format!("workflow: w\npolicy: {{ fail_fast: true }}\nnodes:\n{text}"));
    world.scripted("each/0", [Outcome::Hangs]);
    world.scripted("z", [Outcome::Hangs]);
    world.starts().settles();
    world.fails("z", "MINE");
    world.finishes("each/0");
    assert_eq!(
        (world.states().as_str(), world.end().as_str()),
        ("each cancelled, each/0 completed, each/1 skipped, each/2 skipped, z failed", "failed 1"),
        "{}",
        world.picture()
    );
}

#[test]
fn patches_of_copies_reach_the_context_in_the_order_of_the_items() {
    // R-SCHED-4
    let mut world =
        of("  each: { map: { over: \"range(3)\", node: { call: x } } }\n  end: { needs: [each], call: x }\n");
    for (at, value) in [(0, "first"), (1, "second"), (2, "third")] {
        let patch = json!({ "last": value, value: at });
        world.scripted(&format!("each/{at}"), [Outcome::patch(patch)]);
    }
    world.script().length("each/0", Duration::from_millis(50));
    world.runs();
    assert_eq!(world.run().context(), json!({ "first": 0, "second": 1, "third": 2, "last": "third" }));
    // A sub-workflow keeps its context to itself.
    let mut world = of("  sub: { workflow: { context: { own: 1 }, nodes: { a: { call: x } } } }\n");
    world.scripted("sub/a", [Outcome::patch(json!({ "x": 1 }))]);
    world.runs();
    assert_eq!(world.run().context(), json!({}));
    let inside = world.node("sub/a");
    assert_eq!(world.run().context_of(inside), json!({ "own": 1 }));
}

#[test]
fn failures_inside_count_once() {
    // R-EDGE-6
    let text = "policy: { max_node_failures: 2 }\nnodes:\n  each: { map: { over: \"range(2)\", node: { call: x } } }\n  y: { call: x }\n  z: { needs: [y], call: x }\n";
    let mut world = World::of(&format!("workflow: w\n{text}"));
    world.scripted("each/0", [Outcome::fails("MINE")]);
    world.script().length("y", Duration::from_millis(20));
    world.runs();
    assert_eq!(world.states(), "each failed, each/0 failed, each/1 completed, y completed, z completed");
    let mut world = World::of(&format!("workflow: w\n{text}"));
    world.scripted("each/0", [Outcome::fails("MINE")]);
    world.scripted("each/1", [Outcome::fails("MINE")]);
    world.script().length("y", Duration::from_millis(20));
    world.runs();
    assert_eq!(
        world.states(),
        "each failed, each/0 failed, each/1 failed, y completed, z skipped",
        "{}",
        world.picture()
    );
}

#[test]
fn five_thousand_copies() {
    // R-GROW-1: also after a crash in the middle.
    let text = "workflow: w\nnodes:\n  each: { map: { over: \"range(5000)\", node: { call: x } } }\n";
    let crash = Some(Crash { operation: 700, after: true });
    let mut world = World::with(text, WorldOptions { crash, ..WorldOptions::default() });
    world.scripted("each/4999", [Outcome::output(json!("last"))]);
    world.starts().settles();
    assert!(!world.is_alive());
    world.resumes().settles();
    assert_eq!(world.end(), "completed 0");
    assert_eq!(output(&world, "each").as_array().map(Vec::len), Some(5000));
    let again = world.ledger.len();
    assert!((5000..=5000 + 8).contains(&again), "{again}");
}

#[test]
fn the_deadline_of_a_sub_workflow_starts_with_it_although_a_person_took_long() {
    // R-GROW-2, R-TIME-1
    let mut world = of(
        "  gate: { approve: { message: go? } }\n  sub: { needs: [gate], workflow: { policy: { deadline: 20ms }, nodes: { a: { call: x } } } }\n",
    );
    world.scripted("sub/a", [Outcome::Hangs]);
    world.starts().passes(Duration::from_millis(3_600_000)).approves("gate");
    world.passes(Duration::from_millis(20));
    assert_eq!(world.states(), "gate completed, sub failed, sub/a failed");
    assert_eq!(world.code("sub"), "DEADLINE_EXCEEDED");
}

#[test]
fn a_node_whose_child_was_interrupted_too_often_grows_only_once() {
    // R-GROW-2, R-CLAIM-4
    for (fallback, states) in [("", "each failed, each/0 failed"), (", fallback: 1", "each completed, each/0 failed")] {
        let text = format!(
            "workflow: w\npolicy: {{ max_interruptions: 0 }}\nnodes:\n  each: {{ map: {{ over: \"[1]\", node: {{ call: x }} }}{fallback} }}\n"
        );
        let mut world = World::of(&text);
        world.starts().crashes();
        world.starts();
        assert_eq!(world.states(), states);
        assert_eq!(world.run().attempt(world.node("each")), 1);
    }
}

#[test]
fn generating_work_that_takes_too_long_is_told_to_stop_although_there_is_a_fallback() {
    // R-STATE-10
    let mut world = of("  plan: { timeout: 10ms, generate: { call: x }, fallback: 1 }\n");
    world.scripted("plan", [Outcome::Hangs]);
    world.runs();
    assert_eq!((world.states().as_str(), world.aborted().as_str()), ("plan completed", "plan 1"));
}

#[test]
fn a_fallback_for_what_grew_takes_the_place_of_its_patches_too() {
    // R-SCHED-4: the patch of work that a fallback replaces does not count, so that of its children does not either.
    let mut world = of("  each: { map: { over: \"[1]\", node: { call: x } }, output_schema: {}, fallback: 1 }\n");
    world.script().checks("each", [false]);
    world.scripted("each/0", [Outcome::patch(json!({ "a": 1 }))]).runs();
    assert_eq!((world.states().as_str(), world.run().context()), ("each completed, each/0 completed", json!({})));
}
