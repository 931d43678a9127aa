//! Changed workflow files (`R-RES-6`).

use sprag_core::plan::changes;

use super::support::{brief, past, planned, reason, run, usual};
use crate::load::support::valid;

const BASE: &str = "\
workflow: w
params: { p: { type: string, default: x } }
context: { region: eu }
policy: { max_parallelism: 4 }
nodes:
  a: { run: one, env: { A: one } }
  b: { run: two, needs: [a], description: words }
  c: { run: three, needs: [{ node: b, condition: \"output != 'no'\" }] }
  s: { workflow: { nodes: { inner: { run: deep } } } }
  t: { run: 'echo {{ params.p }}', needs: [s] }
";

/// An edit, and what is kept, invalidated, new and removed after it; then the plan.
const EDITS: [(&str, &str, &str, &str); 14] = [
    ("run: two", "run: deux", "a s t|b c||", "=a =s +b =t +c"),
    ("A: one", "A: uno", "s t|a b c||", "+a =s +b =t +c"),
    ("description: words", "description: other", "a b c s t|||", "=a =s =b =t =c"),
    (
        "  a: { run: one, env: { A: one } }\n",
        "  # why\n  a: { env: { A: one }, run: one }\n",
        "a b c s t|||",
        "=a =s =b =t =c",
    ),
    ("needs: [a]", "needs: [m]", "a s t|b c|m|", "=a +m =s +b =t +c"),
    ("  c: {", "  d: { run: new, needs: [b] }\n  c: {", "a b c s t||d|", "=a =s =b =t =c +d"),
    (
        "  t: { run: 'echo {{ params.p }}', needs: [s] }\n",
        "  t: { run: 'echo {{ params.p }}' }\n",
        "a b c s|t||",
        "=a =s +t =b =c",
    ),
    ("  s: {", "  r: {", "a b c|t|r|s", "=a +r =b +t =c"),
    ("needs: [s]", "needs: [s, b]", "a b c s|t||", "=a =s =b =c +t"),
    ("!= 'no'", "!= 'nein'", "a b s t|c||", "=a =s =b =t +c"),
    ("default: x", "default: y", "a b c s t|||", "=a =s =b =t =c"),
    ("max_parallelism: 4", "max_parallelism: 4, fail_fast: true", "a b c s t|||", "=a =s =b =t =c"),
    ("run: deep", "run: deeper", "a b c|s t||", "=a +s =b +t =c"),
    (
        "  t: { run: 'echo {{ params.p }}', needs: [s] }\n",
        "  u: { run: 'echo {{ params.p }}', needs: [s] }\n",
        "a b c s||u|t",
        "=a =s =b +u =c",
    ),
];

#[test]
fn each_edit_keeps_what_it_does_not_touch() {
    // R-RES-6
    let before = valid(BASE);
    let past = past(&before, "a=completed b=completed c=completed s=completed t=completed");
    for (from, to, expected, actions) in EDITS {
        assert!(BASE.contains(from), "{from}");
        let mut text = BASE.replacen(from, to, 1);
        if to.contains("[m]") {
            text = text.replace("  b: {", "  m: { run: middle }\n  b: {");
        }
        if to.contains("  r: {") {
            text = text.replace("needs: [s]", "needs: [r]");
        }
        let after = valid(&text);
        let plan = planned(&after, &past, &usual()).unwrap();
        let lists = [&plan.changes.kept, &plan.changes.invalidated, &plan.changes.new, &plan.changes.removed];
        assert_eq!(lists.map(|list| list.join(" ")).join("|"), expected, "{from} -> {to}");
        assert_eq!(brief(&plan), actions, "{from} -> {to}");
        let hashes = past.nodes.iter().map(|(id, node)| (id.as_str(), node.hash));
        assert_eq!(changes(hashes, &after), plan.changes);
    }
}

#[test]
fn the_context_reaches_everything() {
    // R-RES-6: every node may read what the workflow starts with.
    let past = past(&valid(BASE), "a=completed b=completed c=completed s=completed t=completed");
    let plan = planned(&valid(&BASE.replace("region: eu", "region: us")), &past, &usual()).unwrap();
    assert_eq!(brief(&plan), "+a +s +b +t +c");
    assert_eq!(reason(&plan, "a"), "`region` of the context changed");
}

#[test]
fn a_node_that_leaves_and_comes_back_is_of_the_next_generation() {
    // R-CLAIM-6: its key must not be that of the work that completed.
    let with = valid(BASE);
    let without = valid(
        &BASE.replace("  t: { run: 'echo {{ params.p }}', needs: [s] }\n", "  u: { run: 'echo {{ params.p }}' }\n"),
    );
    let first = past(&with, "a=completed b=completed c=failed s=completed t=completed");
    let carried = planned(&without, &first, &usual()).unwrap().carried(&first);
    assert_eq!(carried.generations.get("t"), Some(&1));
    let mut second = past(&without, "a=completed b=completed c=failed s=completed u=completed");
    second.run = run(2);
    second.retired = carried.generations;
    let carried = planned(&with, &second, &usual()).unwrap().carried(&second);
    assert_eq!(carried.generations.get("t"), Some(&1), "it has not completed again since");
    assert_eq!(carried.generations.get("u"), Some(&1));
    assert_eq!(carried.generations.get("a"), None);
}
