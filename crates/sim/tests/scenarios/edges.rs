//! Edges and joins as a table: how sources ended, what their edges want, what becomes of the target and of the run.

use std::fmt::Write as _;

use sprag_core::run::{Choice, Commit, Entry, NodeState, SkipReason};
use sprag_sim::{Outcome, World};

/// A world with sources `a`, `b`, … and their target `t`. An edge is written `end/when`, with `?yes`, `?no` or `?bad`
/// behind it for a condition that holds, does not, or cannot be evaluated.
pub fn world(edges: &[&str], join: &str, mode: &str) -> World {
    let policy = match mode {
        "fail_open" | "fail_fast" => format!("policy: {{ {mode}: true }}\n"),
        _ => String::new(),
    };
    let every = if mode == "continue_on_error" { ", continue_on_error: true" } else { "" };
    let mut text = format!("workflow: w\n{policy}nodes:\n  r: {{ call: x }}\n");
    let mut needs = Vec::new();
    for (id, edge) in "abc".chars().zip(edges) {
        let (end, when) = edge.split_once('/').unwrap();
        let (when, condition) = when.split_once('?').unwrap_or((when, ""));
        let body = match end {
            "skipped" => "call: x, needs: [{ node: r, condition: 'false' }]",
            "rejected" => "approve: { message: go? }",
            "timed_out" => "approve: { message: go?, timeout: 1h }",
            "cancelled" => "call: x, semantics: at_most_once",
            _ => "call: x",
        };
        let _ = writeln!(text, "  {id}: {{ {body}{every} }}");
        let condition = match condition {
            "yes" => ", condition: 'true'",
            "no" => ", condition: 'false'",
            "bad" => ", condition: 'output.no.such == 1'",
            _ => "",
        };
        needs.push(format!("{{ node: {id}, when: {when}{condition} }}"));
    }
    let _ = writeln!(text, "  t: {{ call: x, join: {join}, needs: [{}] }}", needs.join(", "));
    let mut world = World::of(&text);
    for (id, edge) in ["a", "b", "c"].iter().zip(edges) {
        match edge.split_once('/').unwrap().0 {
            "failed" => world.scripted(id, [Outcome::fails("TOOL_ERROR")]),
            "cancelled" => world.scripted(id, [Outcome::fails("NETWORK")]).will_answer(id, Choice::Skip),
            "rejected" => world.will_answer(id, Choice::Reject),
            _ => &mut world,
        };
    }
    world
}

/// What became of the target: `runs`, `CONDITION_ERROR`, or the reason and the cause of its skip.
pub fn target(world: &World) -> String {
    let (run, node) = (world.run(), world.node("t"));
    if let Some((reason, cause)) = run.skipped(node) {
        let cause = cause.map(|cause| format!(" {}", run.definition().graph.id(cause)));
        return format!("{}{}", reason.as_str(), cause.unwrap_or_default());
    }
    run.error(node).map_or_else(|| "runs".to_owned(), |error| error.code.to_string())
}

/// One source: its end, then under each `when` what `all` and `any` do, and what `none_failed` does.
///
/// The target: `R` runs, `D` is skipped `dependency_…` as the source ended, `C` is skipped `condition_not_met`, `S` is
/// skipped `run_stopped`. The run: `.` completed 0, `d` completed 0 degraded, `1` failed 1.
const ONE_SOURCE: &str = "
                     on_success  on_failure  always   skip
plain
  completed          R. R.       C. C.       R. R.    C. C.
  failed             D1 D1       R. D1       R1 D1    D1 D1
  skipped            D. D.       D. D.       R. D.    R. D.
  cancelled          D. D.       D. D.       R. D.    R. D.
  rejected           D1 D1       R. D1       R1 D1    D1 D1
  timed_out          D1 D1       R. D1       R1 D1    D1 D1
continue_on_error
  completed          R. R.       C. C.       R. R.    C. C.
  failed             Rd Rd       Rd Rd       Rd Rd    Dd Dd
  skipped            D. D.       D. D.       R. D.    R. D.
  cancelled          D. D.       D. D.       R. D.    R. D.
  rejected           Rd Rd       Rd Rd       Rd Rd    Dd Dd
  timed_out          Rd Rd       Rd Rd       Rd Rd    Dd Dd
fail_open
  completed          R. R.       C. C.       R. R.    C. C.
  failed             Dd Dd       R. Dd       Rd Dd    Dd Dd
  skipped            D. D.       D. D.       R. D.    R. D.
  cancelled          D. D.       D. D.       R. D.    R. D.
  rejected           Dd Dd       R. Dd       Rd Dd    Dd Dd
  timed_out          Dd Dd       R. Dd       Rd Dd    Dd Dd
fail_fast
  completed          R. R.       C. C.       R. R.    C. C.
  failed             D1 D1       R. D1       S1 D1    D1 D1
  skipped            D. D.       D. D.       R. D.    R. D.
  cancelled          D. D.       D. D.       R. D.    R. D.
  rejected           D1 D1       R. D1       S1 D1    D1 D1
  timed_out          D1 D1       R. D1       S1 D1    D1 D1
";

#[test]
fn one_source_decides_its_target_as_the_table_says() {
    // R-EDGE-1, R-EDGE-2, R-EDGE-3, R-EDGE-4, R-EDGE-5, R-STATE-5
    let (mut mode, mut told) = ("", 0);
    for line in ONE_SOURCE.lines().skip(2) {
        let words: Vec<_> = line.split_whitespace().collect();
        let [end, cells @ ..] = words.as_slice() else { panic!("an empty line") };
        if cells.is_empty() {
            mode = end;
            continue;
        }
        let whens = ["on_success", "on_failure", "always", "skip"];
        for (when, pair) in whens.iter().zip(cells.chunks(2)) {
            for (join, cell) in [("all", pair[0]), ("any", pair[0]), ("none_failed", pair[1])] {
                let mut world = world(&[&format!("{end}/{when}")], join, mode);
                world.runs();
                let reason = match *end {
                    "failed" => "dependency_failed a",
                    "skipped" => "dependency_skipped a",
                    _ => "dependency_cancelled a",
                };
                let (becomes, ends) = cell.split_at(1);
                let becomes = match becomes {
                    "R" => "runs",
                    "C" => "condition_not_met a",
                    "S" => "run_stopped",
                    _ => reason,
                };
                let ends = match ends {
                    "." => "completed 0",
                    "d" => "completed 0 degraded",
                    _ => "failed 1",
                };
                let case = format!("{end}/{when} {join} {mode}");
                assert_eq!((target(&world).as_str(), world.end().as_str()), (becomes, ends), "{case}");
                told += 1;
            }
        }
    }
    assert_eq!(told, 6 * 4 * 3 * 4);
}

/// Edges, the join, the mode if there is one; what becomes of the target and of the run.
const SEVERAL: &str = "
completed/on_success?yes                          all                            = runs; completed 0
completed/on_success?no                           all                            = condition_not_met a; completed 0
completed/on_success?no                           any                            = condition_not_met a; completed 0
completed/on_success?no                           none_failed                    = condition_not_met a; completed 0
completed/on_success?bad                          all                            = CONDITION_ERROR; failed 1
completed/on_success?bad                          any                            = CONDITION_ERROR; failed 1
completed/on_success?bad                          none_failed                    = CONDITION_ERROR; failed 1
completed/on_success?bad                          all          fail_open         = CONDITION_ERROR; completed 0 degraded
completed/on_failure?bad                          all                            = condition_not_met a; completed 0
completed/skip?bad                                any                            = condition_not_met a; completed 0
completed/always?no                               all                            = condition_not_met a; completed 0
completed/always?bad                              all                            = CONDITION_ERROR; failed 1
failed/on_success?bad                             all                            = dependency_failed a; failed 1
failed/on_failure?yes                             all                            = runs; completed 0
failed/on_failure?yes                             all          fail_fast         = runs; completed 0
failed/on_failure?no                              all                            = dependency_failed a; failed 1
failed/on_failure?no                              all          fail_fast         = dependency_failed a; failed 1
failed/on_failure?no                              all          fail_open         = dependency_failed a; completed 0 degraded
failed/on_failure?no                              all          continue_on_error = dependency_failed a; completed 0 degraded
failed/on_success?no                              all          continue_on_error = dependency_failed a; completed 0 degraded
failed/on_failure?bad                             all                            = CONDITION_ERROR; failed 1
failed/on_failure?bad                             all          fail_open         = CONDITION_ERROR; completed 0 degraded
failed/always?no                                  all                            = dependency_failed a; failed 1
failed/on_failure?yes                             none_failed                    = dependency_failed a; failed 1
skipped/skip?yes                                  all                            = runs; completed 0
skipped/skip?no                                   all                            = dependency_skipped a; completed 0
skipped/always?no                                 all                            = dependency_skipped a; completed 0
skipped/on_success?bad                            all                            = dependency_skipped a; completed 0
cancelled/skip?yes                                all                            = runs; completed 0
cancelled/skip?no                                 all                            = dependency_cancelled a; completed 0
cancelled/on_failure?bad                          all                            = dependency_cancelled a; completed 0
rejected/on_failure?yes                           all                            = runs; completed 0
rejected/on_failure?no                            all                            = dependency_cancelled a; failed 1
timed_out/on_failure?yes                          all                            = runs; completed 0
timed_out/on_failure?no                           all                            = dependency_cancelled a; failed 1
timed_out/on_failure?no                           all          fail_open         = dependency_cancelled a; completed 0 degraded
completed/on_success completed/on_success         all                            = runs; completed 0
completed/on_success completed/on_success?no      all                            = condition_not_met b; completed 0
completed/on_success completed/on_success?no      any                            = runs; completed 0
completed/on_success completed/on_success?no      none_failed                    = runs; completed 0
completed/on_success?no completed/on_success?no   any                            = condition_not_met a; completed 0
completed/on_success?no completed/on_success?no   none_failed                    = condition_not_met a; completed 0
completed/on_success completed/on_success?bad     any                            = CONDITION_ERROR; failed 1
completed/on_success?bad completed/on_success?no  all                            = CONDITION_ERROR; failed 1
completed/on_success failed/on_success            all                            = dependency_failed b; failed 1
completed/on_success failed/on_success            any                            = runs; failed 1
completed/on_success failed/on_success            none_failed                    = dependency_failed b; failed 1
completed/on_success failed/on_success            any          fail_open         = runs; completed 0 degraded
completed/on_success failed/on_success            all          continue_on_error = runs; completed 0 degraded
completed/on_success failed/on_success            none_failed  continue_on_error = runs; completed 0 degraded
completed/on_success failed/on_failure            all                            = runs; completed 0
completed/on_success failed/on_failure            any                            = runs; completed 0
completed/on_success failed/on_failure            none_failed                    = dependency_failed b; failed 1
completed/on_success failed/on_failure            all          fail_fast         = runs; completed 0
completed/on_success failed/on_failure?no         any                            = runs; failed 1
completed/on_success failed/on_failure?no         any          fail_open         = runs; completed 0 degraded
completed/on_failure failed/on_failure            all                            = condition_not_met a; failed 1
completed/on_failure failed/on_failure            any                            = runs; completed 0
completed/on_failure failed/on_failure            any          fail_fast         = runs; completed 0
completed/on_failure failed/on_failure            all          continue_on_error = condition_not_met a; completed 0 degraded
failed/on_failure failed/on_failure               all                            = runs; completed 0
failed/on_failure failed/on_failure               any                            = runs; completed 0
failed/on_failure failed/on_failure?no            all                            = dependency_failed b; failed 1
failed/on_failure failed/on_failure?no            any                            = runs; failed 1
failed/on_failure failed/always                   all                            = runs; failed 1
failed/on_failure failed/on_success               any                            = runs; failed 1
failed/on_failure failed/on_success               all                            = dependency_failed b; failed 1
failed/on_success failed/on_success               all                            = dependency_failed a; failed 1
failed/on_success skipped/on_success              all                            = dependency_failed a; failed 1
skipped/on_success failed/on_success              all                            = dependency_skipped a; failed 1
skipped/on_success failed/on_success              none_failed                    = dependency_failed b; failed 1
skipped/on_success completed/on_success           all                            = dependency_skipped a; completed 0
skipped/on_success completed/on_success           any                            = runs; completed 0
skipped/on_success completed/on_success           none_failed                    = runs; completed 0
skipped/on_success skipped/on_success             none_failed                    = dependency_skipped a; completed 0
skipped/skip completed/on_success                 all                            = runs; completed 0
skipped/skip skipped/on_success                   all                            = dependency_skipped b; completed 0
skipped/skip skipped/on_success                   any                            = runs; completed 0
skipped/skip failed/on_failure                    all                            = runs; completed 0
skipped/always failed/always                      all                            = runs; failed 1
skipped/always failed/always                      none_failed                    = dependency_failed b; failed 1
cancelled/on_success completed/on_success         all                            = dependency_cancelled a; completed 0
cancelled/on_success completed/on_success         any                            = runs; completed 0
cancelled/on_success completed/on_success         none_failed                    = runs; completed 0
cancelled/skip completed/on_success               all                            = runs; completed 0
cancelled/skip cancelled/skip                     all                            = runs; completed 0
cancelled/skip skipped/skip                       all                            = runs; completed 0
cancelled/always failed/on_failure                all                            = runs; completed 0
cancelled/on_success failed/on_success            any                            = dependency_cancelled a; failed 1
rejected/on_success completed/on_success          all                            = dependency_cancelled a; failed 1
rejected/on_success completed/on_success          any                            = runs; failed 1
rejected/on_success completed/on_success          none_failed                    = dependency_cancelled a; failed 1
rejected/on_success completed/on_success          all          continue_on_error = runs; completed 0 degraded
rejected/on_failure completed/on_success          all                            = runs; completed 0
rejected/on_failure completed/on_failure          all                            = condition_not_met b; failed 1
rejected/on_failure timed_out/on_failure          all                            = runs; completed 0
rejected/on_failure timed_out/on_success          any                            = runs; failed 1
rejected/always timed_out/always                  all                            = runs; failed 1
rejected/always timed_out/always                  all          fail_open         = runs; completed 0 degraded
rejected/always timed_out/always                  all          continue_on_error = runs; completed 0 degraded
timed_out/on_success completed/on_success         none_failed                    = dependency_cancelled a; failed 1
timed_out/on_success completed/on_success         none_failed  continue_on_error = runs; completed 0 degraded
timed_out/on_failure completed/on_success         all                            = runs; completed 0
timed_out/skip completed/on_success               any                            = runs; failed 1
completed/on_success skipped/skip failed/on_failure  all                         = runs; completed 0
completed/on_success skipped/on_success failed/on_failure  all                   = dependency_skipped b; failed 1
completed/on_failure skipped/on_success failed/on_success  any                   = condition_not_met a; failed 1
skipped/on_success completed/on_success failed/on_success  none_failed           = dependency_failed c; failed 1
skipped/always cancelled/always completed/always  none_failed                    = runs; completed 0
failed/on_failure failed/on_failure failed/on_failure?no  any                    = runs; failed 1
failed/on_failure failed/on_failure failed/on_failure  all  fail_fast            = runs; completed 0
";

#[test]
fn several_sources_and_conditions_decide_their_target_as_the_table_says() {
    // R-EDGE-1, R-EDGE-2, R-EDGE-3, R-EDGE-4, R-STATE-5
    let mut told = 0;
    for line in SEVERAL.lines().filter(|line| !line.is_empty()) {
        let (given, expected) = line.split_once(" = ").unwrap();
        let words: Vec<_> = given.split_whitespace().collect();
        let edges: Vec<_> = words.iter().copied().filter(|word| word.contains('/')).collect();
        let mut rest = words[edges.len()..].iter();
        let (join, mode) = (rest.next().unwrap(), rest.next().copied().unwrap_or("plain"));
        let mut world = world(&edges, join, mode);
        world.runs();
        assert_eq!(format!("{}; {}", target(&world), world.end()), expected, "{given}\n{}", world.picture());
        told += 1;
    }
    assert!(told > 110, "{told}");
}

#[test]
fn a_fallback_is_what_dependents_of_a_continued_failure_see() {
    // R-EDGE-4: the state stays failed, the output is the fallback, or null.
    for (fallback, condition) in
        [(", fallback: { n: 7 }", "output.n == 7 and nodes.a.state == 'failed'"), ("", "output is none")]
    {
        let mut world = World::of(&format!(
            "workflow: w\nnodes:\n  a: {{ call: x, continue_on_error: true{fallback} }}\n  t: {{ call: x, needs: [{{ node: a, condition: \"{condition}\" }}] }}\n",
        ));
        world.scripted("a", [Outcome::fails("PERMISSION_DENIED")]).runs();
        assert_eq!(world.states(), "a failed, t completed", "{fallback}");
        assert_eq!(world.end(), "completed 0 degraded");
        assert!(world.run().is_tainted(world.node("a")));
    }
}

#[test]
fn conditions_wait_until_all_sources_are_settled_and_count_as_holding_until_then() {
    // R-EDGE-1, R-EDGE-3: `a` has failed, and the handler that will not run is not known to be none yet.
    let mut world = World::of(
        "workflow: w\npolicy: { fail_fast: true }\nnodes:\n  a: { call: x }\n  b: { call: x }\n  h: { call: x, needs: [{ node: a, when: on_failure, condition: 'false' }, b] }\n",
    );
    world.starts().fails("a", "TOOL_ERROR");
    assert_eq!(world.run().unhandled().count(), 0);
    assert!(world.run().stopping().is_none());
    world.finishes("b").settles();
    assert_eq!(world.states(), "a failed, b completed, h skipped");
    let cause = Some(world.node("a"));
    assert_eq!(world.run().skipped(world.node("h")), Some((SkipReason::DependencyFailed, cause)));
    assert_eq!(world.end(), "failed 1");
}

#[test]
fn a_condition_error_is_ready_then_running_then_failed_in_one_commit() {
    // R-EDGE-1, R-STATE-9
    let mut world = world(&["completed/on_success?bad"], "all", "plain");
    world.runs();
    let target = world.node("t");
    let moves = |commit: &Commit| -> Vec<NodeState> {
        let of_target = commit.entries.iter().filter_map(|entry| match entry {
            Entry::Ready { node, .. } => Some((*node, NodeState::Ready)),
            Entry::Started { node, .. } => Some((*node, NodeState::Running)),
            Entry::Failed { node, .. } => Some((*node, NodeState::Failed)),
            _ => None,
        });
        of_target.filter(|(node, _)| *node == target).map(|(_, state)| state).collect()
    };
    let commits: Vec<_> =
        world.journal().iter().map(|commit| moves(commit)).filter(|moves| !moves.is_empty()).collect();
    assert_eq!(commits, [[NodeState::Ready, NodeState::Running, NodeState::Failed]]);
    assert_eq!(world.executions("t"), 0);
}
