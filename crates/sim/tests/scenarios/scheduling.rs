//! What starts when: waves and frontier, slots, order, and the context that nodes see.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use sprag_core::file::Duration;
use sprag_core::run::{Choice, Entry, NodeState, Product, Report};
use sprag_sim::{Outcome, World, WorldOptions};

const MINUTE: Duration = Duration::from_millis(60_000);

fn of(policy: &str, nodes: &str) -> World {
    World::of(&format!("workflow: w\npolicy: {{ {policy} }}\nnodes:\n{nodes}"))
}

/// The waves that were announced as done, in order.
fn waves(world: &World) -> Vec<u32> {
    let entries = world.entries();
    entries
        .iter()
        .filter_map(|entry| if let Entry::WaveCompleted { wave, .. } = entry { Some(*wave) } else { None })
        .collect()
}

const MIXED: &str = "  flaky: { call: x, retry: { max_attempts: 2 } }
  gate: { approve: { message: go? } }
  nap: { wait: { for: 1m } }
  quick: { call: x }
  after: { call: x, needs: [quick] }
";

#[test]
fn a_wave_waits_for_retries_gates_and_timers_of_the_one_before() {
    // R-SCHED-1
    let mut world = of("scheduling: waves", MIXED);
    world.starts().finishes("quick").fails("flaky", "NETWORK");
    assert_eq!(world.state("after"), NodeState::Ready);
    world.passes(MINUTE);
    assert_eq!(world.states(), "after ready, flaky completed, gate awaiting_approval, nap completed, quick completed");
    assert!(waves(&world).is_empty());
    world.approves("gate");
    assert_eq!((world.state("after"), waves(&world)), (NodeState::Running, vec![0]));
    world.settles();
    assert_eq!((world.end().as_str(), waves(&world)), ("completed 0", vec![0, 1]));
}

#[test]
fn under_frontier_a_node_waits_only_for_its_own_edges() {
    // R-SCHED-2
    let mut world = of("scheduling: frontier", MIXED);
    world.starts().finishes("quick").fails("flaky", "NETWORK");
    assert_eq!(world.state("after"), NodeState::Running);
    world.finishes("after");
    // Depth 1 is settled, depth 0 is not.
    assert_eq!(waves(&world), [1]);
    world.passes(MINUTE);
    assert_eq!(waves(&world), [1]);
    world.approves("gate");
    assert_eq!((world.end().as_str(), waves(&world)), ("completed 0", vec![1, 0]));
}

#[test]
fn waves_are_announced_in_order_although_skips_settle_later_ones_first() {
    // R-SCHED-1, R-STATE-5
    let nodes =
        "  bad: { call: x }\n  slow: { call: x }\n  b: { call: x, needs: [bad] }\n  c: { call: x, needs: [b] }\n";
    for (scheduling, early, late) in [("waves", &[][..], &[0, 1, 2][..]), ("frontier", &[1, 2], &[1, 2, 0])] {
        let mut world = of(&format!("scheduling: {scheduling}"), nodes);
        world.starts().fails("bad", "TOOL_ERROR");
        assert_eq!(world.states(), "b skipped, bad failed, c skipped, slow running");
        assert_eq!(waves(&world), early, "{scheduling}");
        world.finishes("slow");
        assert_eq!(waves(&world), late, "{scheduling}");
        assert_eq!(world.end(), "failed 1");
    }
}

#[test]
fn a_wave_is_announced_before_the_next_one_starts() {
    // R-SCHED-1
    let mut world = World::dag("a -> c -> e, b -> d -> e, a -> d");
    world.runs();
    let graph = ["a", "b", "c", "d", "e"].map(|node| world.node(node));
    let depth = [0, 0, 1, 1, 2];
    let mut open = 0;
    for entry in world.entries() {
        match entry {
            Entry::WaveCompleted { wave, .. } => {
                assert_eq!(wave, open);
                open += 1;
            }
            Entry::Started { node, .. } => {
                let at = graph.iter().position(|of| *of == node).unwrap();
                assert_eq!(depth[at], open);
            }
            _ => {}
        }
    }
    assert_eq!(open, 3);
}

#[test]
fn stops_announce_the_remaining_waves_too() {
    // R-SCHED-1, R-EDGE-5
    for scheduling in ["waves", "frontier"] {
        let mut world = of(
            &format!("scheduling: {scheduling}"),
            "  a: { call: x }\n  b: { call: x, needs: [a] }\n  c: { call: x, needs: [b] }\n",
        );
        world.starts().cancels();
        assert_eq!((world.end().as_str(), waves(&world)), ("cancelled 5", vec![0, 1, 2]), "{scheduling}");
    }
}

#[test]
fn ready_nodes_start_by_priority_then_depth_then_id() {
    // R-SCHED-3
    for (policy, nodes, order) in [
        ("", "  c: { call: x }\n  a: { call: x }\n  b: { call: x }\n", "a b c"),
        (
            "",
            "  a: { call: x }\n  b: { call: x, priority: 1 }\n  c: { call: x, priority: 9 }\n  d: { call: x, priority: -1 }\n",
            "c b a d",
        ),
        // Depth before id, priority before depth.
        (
            "scheduling: frontier, ",
            "  r: { call: x, priority: 9 }\n  a: { call: x, needs: [r] }\n  m: { call: x }\n  z: { call: x }\n",
            "r m z a",
        ),
        (
            "scheduling: frontier, ",
            "  r: { call: x, priority: 9 }\n  a: { call: x, needs: [r], priority: 1 }\n  m: { call: x }\n  z: { call: x }\n",
            "r a m z",
        ),
        // No priority reaches over a barrier.
        ("", "  r: { call: x }\n  a: { call: x, needs: [r], priority: 9 }\n  z: { call: x }\n", "r z a"),
    ] {
        let mut world = of(&format!("{policy}max_parallelism: 1"), nodes);
        world.runs();
        assert_eq!(world.order(), order, "{nodes}");
    }
}

#[test]
fn a_retry_takes_its_turn_like_any_other() {
    // R-SCHED-3
    let mut world = of(
        "max_parallelism: 1",
        "  a: { call: x, retry: { max_attempts: 2, initial_delay: 1ms, max_delay: 1ms } }\n  b: { call: x, priority: -1 }\n  c: { call: x, priority: -1 }\n",
    );
    world.script().length("b", Duration::from_millis(50));
    world.scripted("a", [Outcome::fails("NETWORK"), Outcome::output(json!(1))]).runs();
    assert_eq!(world.order(), "a b a c");
}

#[test]
fn the_window_is_kept_full() {
    // R-SCHED-3: a window, not batches.
    for (limit, slots, wide) in [(3, 9, 3), (9, 3, 3), (1, 1, 1), (20, 20, 10)] {
        let nodes = (0..10).map(|at| format!("  n{at}: {{ call: x }}")).collect::<Vec<_>>().join("\n");
        let mut world = World::with(
            &format!("workflow: w\npolicy: {{ max_parallelism: {limit} }}\nnodes:\n{nodes}"),
            WorldOptions { slots, ..WorldOptions::default() },
        );
        world.starts();
        for done in 0..10_u32 {
            assert_eq!(world.run().executing(), wide.min(10 - done), "{limit} {slots}");
            // Not the oldest first: every place is filled again, whichever it was.
            let running: Vec<_> =
                (0..10).map(|at| format!("n{at}")).filter(|node| world.state(node) == NodeState::Running).collect();
            world.finishes(&running[done as usize % running.len()]);
        }
        assert_eq!(world.end(), "completed 0");
    }
}

#[test]
fn what_only_waits_starts_although_all_slots_are_taken() {
    // R-SCHED-3, R-STATE-10
    for scheduling in ["waves", "frontier"] {
        let mut world = of(
            &format!("scheduling: {scheduling}, max_parallelism: 1"),
            "  gate: { approve: { message: go? } }\n  more: { call: x }\n  nap: { wait: { for: 1m } }\n  signal: { wait: { signal: go } }\n  work: { call: x, priority: 1 }\n",
        );
        world.starts();
        assert_eq!(world.states(), "gate awaiting_approval, more ready, nap running, signal running, work running");
        assert_eq!(world.run().executing(), 1);
    }
}

#[test]
fn whoever_waits_for_a_person_or_a_retry_gives_its_slot_away() {
    // R-SCHED-3
    let mut world = of(
        "max_parallelism: 1",
        "  a: { call: x, approve: { message: go? } }\n  b: { call: x, semantics: at_most_once }\n  c: { call: x, retry: { max_attempts: 2 } }\n  d: { call: x }\n",
    );
    world.starts().finishes("a").fails("b", "NETWORK").fails("c", "NETWORK");
    assert_eq!(world.states(), "a awaiting_approval, b awaiting_approval, c failed, d running");
}

/// A graph of four nodes by the bits of its edges, with gates, waits and failures by bits of `kinds` and `broken`.
fn shape(edges: u32, kinds: u32, broken: u32, policy: &str) -> World {
    let mut text = format!("workflow: w\npolicy: {{ {policy} }}\nnodes:\n");
    let mut bit = 0;
    for target in 0..4 {
        let mut needs = Vec::new();
        for source in 0..target {
            if edges >> bit & 1 == 1 {
                needs.push(["a", "b", "c", "d"][source]);
            }
            bit += 1;
        }
        let body = match kinds >> (2 * target) & 3 {
            0 => "call: x",
            1 => "approve: { message: go? }",
            2 => "wait: { for: 1m }",
            _ => "call: x, approve: { message: go? }, retry: { max_attempts: 2 }",
        };
        let _ = writeln!(text, "  {}: {{ {body}, needs: [{}] }}", ["a", "b", "c", "d"][target], needs.join(", "));
    }
    let mut world = World::of(&text);
    for (at, node) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let fails = broken >> at & 1 == 1;
        world.will_answer(node, if fails { Choice::Reject } else { Choice::Approve });
        if fails {
            world.scripted(node, [Outcome::fails("TOOL_ERROR")]);
        }
    }
    world
}

#[test]
fn with_one_slot_no_shape_deadlocks_and_the_trace_is_that_of_many() {
    // R-SCHED-3, R-SCHED-4: every graph of four nodes.
    let mut traces = BTreeSet::new();
    for edges in 0..64 {
        for (kinds, broken) in
            [(0, 0), (0, 0b0001), (0, 0b0110), (0b1110_0100, 0), (0b0001_1011, 0b0010), (0b1111_1111, 0b0101)]
        {
            let told: BTreeSet<_> = ["waves", "frontier"]
                .into_iter()
                .flat_map(|scheduling| {
                    [1, 2, 4].map(|limit| format!("scheduling: {scheduling}, max_parallelism: {limit}"))
                })
                .map(|policy| {
                    let mut world = shape(edges, kinds, broken, &policy);
                    world.runs();
                    format!("{}\n{}", world.trace(), world.end())
                })
                .collect();
            assert_eq!(told.len(), 1, "{edges:b} {kinds:b} {broken:b}: {told:?}");
            traces.extend(told);
        }
    }
    assert!(traces.len() > 40, "{}", traces.len());
}

fn patches(world: &mut World, node: &str, patch: Value) {
    let product = Product { patch: Some(patch.into()), ..Product::default() };
    world.reports(node, Report::Produced(product));
}

fn seen(world: &World, node: &str) -> Value {
    world.run().context_of(world.node(node))
}

#[test]
fn a_node_sees_the_patches_of_its_ancestors_only() {
    // R-SCHED-4
    let mut world = World::of(
        "workflow: w\ncontext: { base: 1, gone: 1 }\npolicy: { scheduling: frontier }\nnodes:
  a: { call: x }
  b: { call: x }
  c: { call: x, needs: [a] }
  d: { call: x, needs: [b] }
  e: { call: x, needs: [c] }
",
    );
    world.starts();
    patches(&mut world, "a", json!({ "a": 1, "gone": null }));
    patches(&mut world, "b", json!({ "b": { "deep": 1 } }));
    patches(&mut world, "c", json!({ "base": 2 }));
    assert_eq!(seen(&world, "c"), json!({ "base": 1, "a": 1 }));
    assert_eq!(seen(&world, "d"), json!({ "base": 1, "gone": 1, "b": { "deep": 1 } }));
    assert_eq!(seen(&world, "e"), json!({ "base": 2, "a": 1 }));
    world.settles();
    assert_eq!(world.run().context(), json!({ "base": 2, "a": 1, "b": { "deep": 1 } }));
}

#[test]
fn patches_apply_in_canonical_order_whoever_was_first() {
    // R-SCHED-4: (depth, id).
    for order in [["a", "b", "c"], ["b", "c", "a"], ["b", "a", "c"]] {
        let mut world = World::of(
            "workflow: w\npolicy: { scheduling: frontier }\nnodes:
  a: { call: x }
  b: { call: x }
  c: { call: x, needs: [b] }
  t: { call: x, needs: [a, b, c] }
",
        );
        world.starts();
        for node in order {
            patches(
                &mut world,
                node,
                json!({ "last": node, "by": { node: 1 }, "early": if node == "c" { Value::Null } else { json!(node) } }),
            );
        }
        let expected = json!({ "last": "c", "by": { "a": 1, "b": 1, "c": 1 } });
        assert_eq!(seen(&world, "t"), expected, "{order:?}");
        world.settles();
        assert_eq!(world.run().context(), expected, "{order:?}");
        // The journal tells the same.
        assert_eq!(world.folded().unwrap().context(), expected);
    }
}

#[test]
fn only_patches_of_completed_nodes_count() {
    // R-SCHED-4
    let patch = || Outcome::patch(json!({ "a": 1 }));
    for (body, outcomes, answer, context) in [
        ("call: x", vec![patch()], None, json!({ "a": 1 })),
        ("call: x, output_schema: { type: object }", vec![patch()], None, json!({})),
        ("call: x, output_schema: { type: object }, continue_on_error: true", vec![patch()], None, json!({})),
        ("call: x, output_schema: { type: object }, fallback: 1", vec![patch()], None, json!({})),
        ("call: x, approve: { message: go? }", vec![patch()], Some(Choice::Approve), json!({ "a": 1 })),
        ("call: x, approve: { message: go? }", vec![patch()], Some(Choice::Reject), json!({})),
        (
            "call: x, output_schema: { type: object }, retry: { max_attempts: 2 }",
            vec![patch(), Outcome::patch(json!({ "b": 2 }))],
            None,
            json!({ "b": 2 }),
        ),
        (
            "call: x, output_schema: { type: object }, retry: { max_attempts: 2 }",
            vec![patch(), Outcome::output(json!({}))],
            None,
            json!({}),
        ),
    ] {
        let mut world = World::of(&format!("workflow: w\nnodes:\n  n: {{ {body} }}\n"));
        world.script().checks("n", [false, true]);
        if let Some(answer) = answer {
            world.will_answer("n", answer);
        }
        world.scripted("n", outcomes).runs();
        assert_eq!(world.run().context(), context, "{body} {answer:?}");
        assert_eq!(world.folded().unwrap().context(), context);
    }
}
