//! All pairs of sources, judged by an oracle that shares no code with the core.

use super::edges::{target, world};

const ENDS: [&str; 6] = ["completed", "failed", "skipped", "cancelled", "rejected", "timed_out"];
const WHENS: [&str; 4] = ["on_success", "on_failure", "always", "skip"];

/// An edge as the contract words it.
struct Edge {
    end: &'static str,
    when: &'static str,
    continued: bool,
}

impl Edge {
    /// Failed for good, or its gate rejected or timed out.
    fn broke(&self) -> bool {
        ["failed", "rejected", "timed_out"].contains(&self.end)
    }

    fn holds(&self) -> bool {
        match self.when {
            "on_success" => self.end == "completed" || (self.broke() && self.continued),
            "on_failure" => self.broke(),
            "skip" => ["skipped", "cancelled"].contains(&self.end),
            _ => true,
        }
    }

    fn reason(&self) -> &'static str {
        match self.end {
            "completed" => "condition_not_met",
            "failed" => "dependency_failed",
            "skipped" => "dependency_skipped",
            _ => "dependency_cancelled",
        }
    }
}

/// What the contract says becomes of the target and of the run.
fn expected(edges: &[Edge; 2], join: &str, mode: &str) -> (String, &'static str) {
    let blocks = |edge: &Edge| match join {
        "all" => !edge.holds(),
        "any" => !edges.iter().any(Edge::holds),
        _ => {
            let failed = |edge: &Edge| edge.broke() && !edge.continued;
            let succeeded = |edge: &Edge| edge.holds() && (edge.end == "completed" || (edge.broke() && edge.continued));
            // Where every edge holds and still no source completed, all are to blame.
            let idle = !edges.iter().any(succeeded) && (!edge.holds() || edges.iter().all(Edge::holds));
            if edges.iter().any(failed) { failed(edge) } else { idle }
        }
    };
    let culprit = edges.iter().zip(["a", "b"]).find(|(edge, _)| blocks(edge));
    let target = culprit.map_or_else(|| "runs".to_owned(), |(edge, id)| format!("{} {id}", edge.reason()));
    let handled = |edge: &Edge| edge.continued || (edge.when == "on_failure" && culprit.is_none());
    let open = edges.iter().any(|edge| edge.broke() && !handled(edge));
    let tainted = edges.iter().any(|edge| edge.broke() && edge.continued);
    let end = match (open, mode) {
        (true, "fail_open") => "completed 0 degraded",
        (true, _) => "failed 1",
        (false, _) if tainted => "completed 0 degraded",
        (false, _) => "completed 0",
    };
    (target, end)
}

fn every_pair(mode: &str) -> u32 {
    let kinds: Vec<_> = ENDS.iter().flat_map(|end| WHENS.iter().map(move |when| (*end, *when))).collect();
    let mut told = 0;
    for join in ["all", "any", "none_failed"] {
        for first in &kinds {
            for second in &kinds {
                let continued = mode == "continue_on_error";
                let edges = [first, second].map(|(end, when)| Edge { end, when, continued });
                let written = edges.each_ref().map(|edge| format!("{}/{}", edge.end, edge.when));
                let mut world = world(&[&written[0], &written[1]], join, mode);
                world.runs();
                let (becomes, ends) = expected(&edges, join, mode);
                assert_eq!((target(&world), world.end().as_str()), (becomes, ends), "{written:?} {join} {mode}");
                told += 1;
            }
        }
    }
    told
}

#[test]
fn every_pair_of_sources_is_decided_as_the_contract_says() {
    // R-EDGE-1, R-EDGE-2, R-EDGE-3, R-STATE-5
    assert_eq!(every_pair("plain"), 24 * 24 * 3);
}

#[test]
fn every_pair_of_continued_sources_is_decided_as_the_contract_says() {
    // R-EDGE-4
    assert_eq!(every_pair("continue_on_error"), 24 * 24 * 3);
}

#[test]
fn every_pair_of_sources_under_fail_open_ends_as_the_contract_says() {
    // R-EDGE-5
    assert_eq!(every_pair("fail_open"), 24 * 24 * 3);
}
