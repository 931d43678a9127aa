//! What stopgaps are worth, and how that travels (`R-REC-7`).

use serde_json::json;
use sprag_core::run::{Choice, Taint};
use sprag_sim::{Outcome, World};

fn of(nodes: &str) -> World {
    World::of(&format!("workflow: w\nnodes:\n{nodes}"))
}

fn confidence(world: &World, node: &str) -> Option<f64> {
    world.run().confidence(world.node(node)).map(f64::from)
}

#[test]
fn confidence_travels_and_taint_stays() {
    // R-REC-7, R-EDGE-4
    let mut world = of(
        "  a: { call: x, fallback: 1 }\n  b: { needs: [a], call: x }\n  c: { needs: [b, d], call: x }\n  d: { call: x }\n  e: { call: x, continue_on_error: true }\n  f: { needs: [e], call: x }\n  g: { needs: [{ node: h, when: on_failure }], call: x }\n  h: { call: x }\n",
    );
    world.scripted("a", [Outcome::fails("MINE")]);
    world.scripted("e", [Outcome::fails("MINE")]);
    world.scripted("h", [Outcome::fails("MINE")]);
    world.runs();
    let known = [("a", Some(0.3)), ("b", Some(0.3)), ("c", Some(0.3)), ("d", Some(1.0)), ("e", Some(0.0))];
    for (node, expected) in known.into_iter().chain([("f", Some(0.0)), ("g", Some(1.0)), ("h", None)]) {
        assert_eq!(confidence(&world, node), expected, "{node}");
        assert_eq!(world.run().is_tainted(world.node(node)), ["a", "e"].contains(&node), "{node}");
    }
    assert_eq!(world.run().unclean_inputs(world.node("c")).unwrap().input, "b");
    assert_eq!((world.run().unclean_inputs(world.node("g")), world.end().as_str()), (None, "completed 0 degraded"));
}

#[test]
fn a_node_is_worth_as_much_as_the_least_of_its_children() {
    // R-REC-7
    let mut world = of(
        "  s: { call: x }\n  each: { needs: [s], map: { over: \"[1, 2]\", node: { call: x, fallback: 0 } } }\n  end: { needs: [each], call: x }\n",
    );
    world.scripted("each/1", [Outcome::fails("MINE")]);
    world.runs();
    let of = ["each/0", "each/1", "each", "end"].map(|node| confidence(&world, node));
    assert_eq!(of, [Some(1.0), Some(0.3), Some(0.3), Some(0.3)]);
    // What goes into a node goes into its children.
    let mut world = of_source();
    world.scripted("s", [Outcome::fails("MINE")]);
    world.runs();
    assert_eq!(["each/0", "each"].map(|node| confidence(&world, node)), [Some(0.3), Some(0.3)]);
}

fn of_source() -> World {
    of("  s: { call: x, fallback: 0 }\n  each: { needs: [s], map: { over: \"[1, 2]\", node: { call: x } } }\n")
}

#[test]
fn who_takes_a_bad_result_vouches_for_it() {
    // R-REC-7, R-REC-5
    for (given, expected, tainted) in [(json!("D"), 0.5, "LowGrade(D)"), (json!("B"), 0.8, "Provided")] {
        let mut world = of("  a: { call: x, evaluate: output, recovery: { human: pause, max_attempts: 1 } }\n");
        world.scripted("a", [Outcome::output(json!("D"))]).starts().settles();
        world.answers_with("a", Choice::Provide, Some(given)).unwrap();
        assert_eq!(confidence(&world, "a"), Some(expected));
        let taint = world.entries().into_iter().find_map(|entry| match entry {
            sprag_core::run::Entry::Completed { taint, .. } => taint,
            _ => None,
        });
        assert_eq!(format!("{:?}", taint.as_deref().unwrap_or(&Taint::Provided)), tainted);
    }
}

#[test]
fn a_strict_run_starts_nothing_on_tainted_inputs_but_what_a_person_sees() {
    // R-REC-7, R-STATE-9
    let mut world = of(
        "  a: { call: x, fallback: 1 }\n  b: { needs: [a], call: x }\n  c: { needs: [a], call: x, approve: { message: m } }\n  d: { needs: [c], approve: { message: m } }\n  e: { call: x }\n",
    );
    world.begins_with(|created| created.strict = true).scripted("a", [Outcome::fails("MINE")]);
    world.starts().settles();
    assert_eq!((world.code("b").as_str(), world.executions("b"), world.executions("c")), ("MISSING_DEPENDENCY", 0, 1));
    world.approves("c").approves("d");
    assert_eq!(world.states(), "a completed, b failed, c completed, d completed, e completed");
    assert_eq!(world.end(), "failed 1");
}
