//! The nodes inside a growing node: only what is left of them runs (`R-GROW-2`).
//!
//! Their graph is not in the definition, so their edges come with them, and they are the same as before: had anything
//! about the parent changed, nothing inside it would be kept.

use std::collections::BTreeMap;

use super::judge::{Judge, Subject};
use super::past::{Inside, PastNode};
use super::planned::Action;
use super::reason::Reason;
use crate::definition::Kind;
use crate::run::NodeState;

/// A node on its way into the plan.
pub(super) struct Listed<'past> {
    pub address: String,
    pub reason: Reason,
    pub past: Option<&'past PastNode>,
}

impl Judge<'_> {
    /// Lists a node whose own rules gave `reason`, and what is inside it. Returns the reason that remains.
    pub fn list<'past>(
        &self,
        address: &str,
        past: &'past PastNode,
        reason: Reason,
        out: &mut Vec<Listed<'past>>,
    ) -> Reason {
        let at = out.len();
        out.push(Listed { address: address.to_owned(), reason, past: Some(past) });
        if !past.inside.is_empty() && out[at].reason.keeps_inside() {
            // What a parent whose work is done did with its children stands with it, and so does what those did with theirs.
            let done = matches!(past.state, NodeState::Completed | NodeState::Approved | NodeState::AwaitingApproval);
            let stands = self.in_place || done || matches!(out[at].reason, Reason::Stands(_));
            let prefix = format!("{address}/");
            let first = self.inside(&prefix, &past.inside, stands, past.kind == Kind::Loop, out);
            if let Some(first) = first.filter(|_| out[at].reason.action() != Action::Execute) {
                out[at].reason = Reason::ChildRuns { child: first };
            }
        }
        out[at].reason.clone()
    }

    /// Lists children, whose addresses begin with `prefix`. Returns the first that is not kept.
    pub fn inside<'past>(
        &self,
        prefix: &str,
        inside: &'past Inside,
        stands: bool,
        rounds: bool,
        out: &mut Vec<Listed<'past>>,
    ) -> Option<String> {
        let mut first: Option<(u32, String)> = None;
        // Which siblings run, and for the others the nearest one before them that does.
        let mut causes: BTreeMap<&str, Option<String>> = BTreeMap::new();
        let mut running: BTreeMap<String, bool> = BTreeMap::new();
        for child in in_order(&inside.children, rounds) {
            if first.as_ref().is_some_and(|(round, _)| *round < child.round) {
                // The rounds after one that changes are decided anew; they may not even come.
                break;
            }
            let address = format!("{prefix}{}", child.key);
            let upstream = child.past.needs.iter().find_map(|need| causes.get(need.as_str())?.clone());
            let subject = Subject {
                address: &address,
                past: child.past,
                hash: None,
                keyed: child.past.keyed,
                stands,
                upstream: upstream.as_deref(),
            };
            let reason = self.reason(&subject, &|other| running.get(other).copied().unwrap_or_default());
            let reason = self.list(&address, child.past, reason, out);
            let runs = reason.action() != Action::Reuse;
            causes.insert(child.key, if runs { Some(address.clone()) } else { upstream });
            running.insert(address.clone(), runs);
            if runs && first.is_none() {
                first = Some((child.round, address));
            }
        }
        first.map(|(_, first)| first)
    }
}

struct Child<'past> {
    key: &'past str,
    past: &'past PastNode,
    /// Which round of a loop it belongs to; 0 elsewhere.
    round: u32,
    depth: u32,
}

/// The children, sources first: by round, depth, and number or id.
fn in_order(children: &BTreeMap<String, PastNode>, rounds: bool) -> Vec<Child<'_>> {
    let numbers: BTreeMap<&str, usize> = children.keys().map(String::as_str).zip(0..).collect();
    let sources = |past: &PastNode| -> Vec<usize> {
        past.needs.iter().filter_map(|need| numbers.get(need.as_str()).copied()).collect()
    };
    let mut targets = vec![Vec::new(); children.len()];
    let mut open = vec![0_usize; children.len()];
    for (at, past) in children.values().enumerate() {
        for source in sources(past) {
            targets[source].push(at);
            open[at] += 1;
        }
    }
    let mut depth = vec![0_u32; children.len()];
    let mut queue: Vec<usize> = (0..open.len()).filter(|at| open[*at] == 0).collect();
    while let Some(at) = queue.pop() {
        for target in targets[at].iter().copied() {
            depth[target] = depth[target].max(depth[at] + 1);
            open[target] -= 1;
            if open[target] == 0 {
                queue.push(target);
            }
        }
    }
    let round_of = |key: &str| key.split_once('/').and_then(|(round, _)| round.parse().ok()).unwrap_or_default();
    let mut ordered: Vec<Child<'_>> = children
        .iter()
        .zip(depth)
        .map(|((key, past), depth)| Child { key, past, round: if rounds { round_of(key) } else { 0 }, depth })
        .collect();
    ordered.sort_by_cached_key(|child| (child.round, child.depth, child.key.parse::<u32>().ok(), child.key));
    ordered
}
