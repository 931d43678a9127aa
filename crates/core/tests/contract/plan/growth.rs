//! Nodes inside nodes: only what is left of them runs (`R-GROW-2`).

use serde_json::json;
use sprag_core::definition::{Definition, Kind};
use sprag_core::hash::Digest;
use sprag_core::plan::{Inside, Past, PastNode};
use sprag_core::run::Product;

use super::support::{brief, everything, named, no_retry, node, past, planned, reason, usual};
use crate::load::support::valid;

/// `list`, then `each` over it, then `report`.
fn map() -> Definition {
    valid(
        "workflow: w\nnodes:\n  list: { run: ls, output: json }\n  each: { needs: [list], map: { over: nodes.list.output, node: { run: go } } }\n  report: { noop:, needs: [each] }\n",
    )
}

/// Puts children into a node: `0=completed 1=failed`, with what they need behind a `<`: `b<a=completed`.
fn grow(past: &mut Past, id: &str, children: &str) {
    past.nodes.get_mut(id).unwrap().inside.children = inside(children).children;
}

fn inside(children: &str) -> Inside {
    let child = |text: &str| -> (String, PastNode) {
        let (head, state) = text.split_once('=').unwrap();
        let (key, needs) = head.split_once('<').unwrap_or((head, ""));
        let mut child = node(Kind::Run, Digest::of(key.as_bytes()), state);
        child.needs = needs.split(',').filter(|need| !need.is_empty()).map(str::to_owned).collect();
        (key.to_owned(), child)
    };
    Inside { children: children.split_whitespace().map(child).collect(), ..Inside::default() }
}

#[test]
fn completed_children_are_kept() {
    // R-GROW-2, R-RES-2
    let definition = map();
    let mut past = past(&definition, "list=completed each=failed report=after:each");
    grow(&mut past, "each", "0=completed 1=failed 2=completed 10=cancelled");
    let plan = planned(&definition, &past, &usual()).unwrap();
    assert_eq!(brief(&plan), "=list +each =each/0 +each/1 =each/2 +each/10 +report");
    assert_eq!(plan.saved.nodes, 3);
    let carried = plan.carried(&past);
    assert_eq!(carried.nodes.keys().collect::<Vec<_>>(), ["each/0", "each/2", "list"]);
    assert_eq!(carried.nodes["each/0"].hash, Digest::of(b"0"), "it is kept only for the same definition");
    assert!(carried.generations.is_empty());
    let kept = planned(&definition, &past, &no_retry()).unwrap();
    assert_eq!(brief(&kept), "=list +each =each/0 =each/1 =each/2 +each/10 +report");
    assert_eq!(reason(&kept, "each"), "`each/10` inside it runs");
}

#[test]
fn a_parent_that_starts_over_keeps_nothing_inside() {
    // R-GROW-2, R-CLAIM-6
    let definition = map();
    let mut past = past(&definition, "list=completed each=failed report=after:each");
    grow(&mut past, "each", "0=completed 1=failed");
    for (options, expected) in [
        (named(&["each"]), "=list +each +report"),
        (named(&["list"]), "+list +each +report"),
        (everything(), "+list +each +report"),
    ] {
        let plan = planned(&definition, &past, &options).unwrap();
        assert_eq!(brief(&plan), expected);
        let carried = plan.carried(&past);
        assert_eq!(carried.generations.get("each/0"), Some(&1), "the completed one starts over");
        assert_eq!(carried.generations.get("each/1"), None, "the failed one goes on");
    }
    let changed = valid(
        "workflow: w\nnodes:\n  list: { run: ls, output: json }\n  each: { needs: [list], map: { over: nodes.list.output, node: { run: other } } }\n  report: { noop:, needs: [each] }\n",
    );
    assert_eq!(brief(&planned(&changed, &past, &usual()).unwrap()), "=list +each +report");
}

#[test]
fn an_address_inside_can_be_named() {
    // R-GROW-1, R-RES-2
    let definition = map();
    let mut past = past(&definition, "list=completed each=completed report=completed");
    grow(&mut past, "each", "0=completed 1=completed 2=failed");
    assert_eq!(
        brief(&planned(&definition, &past, &usual()).unwrap()),
        "=list =each =each/0 =each/1 =each/2 =report",
        "a failure that the parent got over stands with it"
    );
    let plan = planned(&definition, &past, &named(&["each/1"])).unwrap();
    assert_eq!(brief(&plan), "=list +each =each/0 +each/1 =each/2 +report");
    assert_eq!(reason(&plan, "each"), "`each/1` inside it runs");
    let generations = plan.carried(&past).generations;
    assert_eq!(generations.into_iter().collect::<Vec<_>>(), ["each", "each/1", "report"].map(|id| (id.into(), 1)));
    let error = planned(&definition, &past, &named(&["each/7"])).unwrap_err();
    assert!(error.to_string().contains("each/7"));
}

#[test]
fn siblings_follow_siblings() {
    // R-GROW-2: children need siblings only.
    let definition =
        valid("workflow: w\nnodes: { s: { workflow: { nodes: { a: { noop: } } } }, z: { noop:, needs: [s] } }\n");
    let mut past = past(&definition, "s=failed z=after:s");
    grow(&mut past, "s", "a=completed b<a=failed c<b=after:b d<a=completed e<d=completed");
    assert_eq!(brief(&planned(&definition, &past, &usual()).unwrap()), "+s =s/a +s/b =s/d +s/c =s/e +z");
    assert_eq!(brief(&planned(&definition, &past, &named(&["s/d"])).unwrap()), "+s =s/a +s/b +s/d +s/c +s/e +z");
    assert_eq!(brief(&planned(&definition, &past, &no_retry()).unwrap()), "=s =s/a =s/b =s/d =s/c =s/e =z");
}

#[test]
fn rounds_of_a_loop_after_one_that_changes_are_gone() {
    // R-GROW-1, R-GROW-2
    let definition = valid(
        "workflow: w\nnodes: { l: { loop: { workflow: { nodes: { a: { noop: }, b: { noop:, needs: [a] } } }, until: 'false', max: 20 } } }\n",
    );
    let mut past = past(&definition, "l=failed");
    grow(&mut past, "l", "1/a=completed 1/b<1/a=completed 2/a=completed 2/b<2/a=failed");
    assert_eq!(brief(&planned(&definition, &past, &usual()).unwrap()), "+l =l/1/a =l/1/b =l/2/a +l/2/b");
    let plan = planned(&definition, &past, &named(&["l/1/b"])).unwrap();
    assert_eq!(brief(&plan), "+l =l/1/a +l/1/b");
    assert_eq!(plan.carried(&past).generations.get("l/2/a"), Some(&1));
    // Round 10 comes after round 9, not after round 1.
    grow(&mut past, "l", "1/a=completed 9/a=completed 10/a=failed");
    assert_eq!(brief(&planned(&definition, &past, &usual()).unwrap()), "+l =l/1/a =l/9/a +l/10/a");
}

#[test]
fn what_is_inside_something_inside() {
    // R-GROW-1
    let definition = map();
    let mut past = past(&definition, "list=completed each=failed report=after:each");
    grow(&mut past, "each", "0=failed 1=completed");
    past.nodes.get_mut("each").unwrap().inside.children.get_mut("0").unwrap().inside = inside("x=completed y<x=lost");
    past.nodes.get_mut("each").unwrap().inside.children.get_mut("1").unwrap().inside = inside("x=completed y<x=failed");
    let plan = planned(&definition, &past, &usual()).unwrap();
    assert_eq!(brief(&plan), "=list +each +each/0 =each/0/x +each/0/y =each/1 =each/1/x =each/1/y +report");
    assert!(past.find("each/0/y").is_some() && past.find("each/0/z").is_none());
    let plan = planned(&definition, &past, &named(&["each/1/x"])).unwrap();
    assert_eq!(reason(&plan, "each/1"), "`each/1/x` inside it runs");
    assert_eq!(reason(&plan, "each/1/y"), "it comes after `each/1/x`, which runs");
}

#[test]
fn a_generated_body_is_kept() {
    // R-GROW-2: the work that made it is not done again.
    let definition = valid("workflow: w\nnodes: { g: { generate: { run: make } } }\n");
    let mut past = past(&definition, "g=failed");
    past.nodes.get_mut("g").unwrap().inside =
        Inside { body: Some(Product::of(json!({"nodes": {}}))), ..inside("a=completed b<a=failed") };
    let plan = planned(&definition, &past, &usual()).unwrap();
    assert_eq!(brief(&plan), "+g =g/a +g/b");
    assert_eq!(plan.carried(&past).grown["g"].body, Some(Product::of(json!({"nodes": {}}))));
    let over = planned(&definition, &past, &named(&["g"])).unwrap();
    assert!(over.carried(&past).grown.is_empty());
}

#[test]
fn a_generated_phase_keeps_its_graph() {
    // R-PHASE-1, R-GROW-2
    let text = "workflow: w\nphases:\n  - { name: one, nodes: { a: { noop: } } }\n  - { name: two, generate: { run: make } }\n  - { name: three, nodes: { z: { noop: } } }\n";
    let definition = valid(text);
    let mut past = past(&definition, "a=completed two=failed z=stopped");
    past.phase = Some("two".into());
    past.nodes.get_mut("two").unwrap().inside =
        Inside { body: Some(Product::of(json!("body"))), ..inside("x=completed y<x=failed") };
    let plan = planned(&definition, &past, &usual()).unwrap();
    assert_eq!(brief(&plan), "=a +two =two/x +two/y +z");
    assert_eq!((plan.start_from_phase, plan.start_from_wave), (Some(1), Some(0)));
    assert_eq!(plan.carried(&past).grown["two"].body, Some(Product::of(json!("body"))));
    assert_eq!(brief(&planned(&definition, &past, &named(&["two/x"])).unwrap()), "=a +two +two/x +two/y +z");
    // What it was made from changes, so it is made again.
    for plan in [
        planned(&definition, &past, &named(&["a"])).unwrap(),
        planned(&valid(&text.replace("run: make", "run: other")), &past, &usual()).unwrap(),
    ] {
        assert!(plan.node("two/x").is_none() && plan.carried(&past).grown.is_empty());
        assert_eq!(plan.carried(&past).generations.get("two/x"), Some(&1));
    }
}
