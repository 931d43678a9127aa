//! The names in expressions, checked against the graph before anything runs (`R-EXPR-1`, `R-EXPR-3`).

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::level::{Checker, Level, Source};
use super::sites::{Form, Output, Site};
use super::trail::Trail;
use super::verdict::{Refusal, Verdict, not_before, part, refuse};
use crate::codes::Code;
use crate::definition::Kind;
use crate::expr::{Fault, Piece, Reference, references, script_of, split};
use crate::graph::{NodeIndex, Reach};
use crate::suggest;

const ROOTS: [&str; 10] = ["params", "context", "nodes", "error", "output", "run", "phase", "item", "index", "secrets"];
const NODE_PARTS: [&str; 4] = ["output", "state", "error", "attempts"];
const ERROR_PARTS: [&str; 5] = ["code", "message", "class", "feedback", "grade"];
const RUN_PARTS: [&str; 5] = ["id", "workflow", "version", "retry_count", "previous_run_id"];
const PHASE_PARTS: [&str; 2] = ["name", "index"];

/// How long an expression may be for the search for ids with dashes, which is not linear.
const LONGEST_SEARCHED: usize = 2_000;

/// Whose expression it is.
#[derive(Clone, Copy)]
pub(super) enum Owner {
    /// A node's own.
    Node(NodeIndex),
    /// An edge's condition; the node it leads to.
    EdgeTo(NodeIndex),
    /// A default of many nodes, so of none in particular.
    Defaults,
}

/// Checks the names of one level.
pub(super) struct Names<'n, 'w> {
    level: &'n Level<'w>,
    reach: Reach<'n>,
    /// Params that something reads; `None` once all of them are read at once.
    pub used_params: Option<BTreeSet<String>>,
    /// What nodes read beyond their direct sources, as (reader, read).
    pub reads: BTreeSet<(NodeIndex, NodeIndex)>,
    /// Expressions seen before: large files repeat few of them.
    parsed: HashMap<String, Parsed>,
}

type Parsed = Rc<Result<Vec<Reference>, Fault>>;

impl<'n, 'w> Names<'n, 'w> {
    pub fn new(level: &'n Level<'w>) -> Self {
        Self {
            level,
            reach: Reach::new(&level.graph),
            used_params: Some(BTreeSet::new()),
            reads: BTreeSet::new(),
            parsed: HashMap::new(),
        }
    }

    /// Parses the expressions at a place and checks what they read.
    pub fn check(&mut self, checker: &mut Checker<'_, '_, '_>, owner: Owner, site: Site<'_>) {
        if site.form == Form::Bare {
            if site.text.trim_start().starts_with("{{") {
                let message = "braces around an expression".to_owned();
                let help = "this is an expression already: write it without `{{ }}`".to_owned();
                checker.problems.in_text(Code::EXPRESSION_SYNTAX, site.trail, 0..site.text.len(), message, Some(help));
            } else {
                self.source(checker, owner, site, site.text, 0);
            }
            return;
        }
        if !site.text.contains("{{") && !site.text.contains("{%") {
            return;
        }
        let pieces = match split(site.text) {
            Ok(pieces) => pieces,
            Err(fault) => return checker.problems.fault(Code::EXPRESSION_SYNTAX, site.trail, fault),
        };
        let mut readable = true;
        for piece in &pieces {
            let Piece::Expr { source, offset } = *piece else { continue };
            readable &= self.source(checker, owner, site, source, offset);
        }
        if readable
            && site.form == Form::Shell
            && let Err(faults) = script_of(&pieces)
        {
            for fault in faults {
                checker.problems.fault(Code::UNSAFE_SHELL_VALUE, site.trail, fault);
            }
        }
    }

    /// Checks one expression of a site. False if it cannot be read.
    fn source(
        &mut self,
        checker: &mut Checker<'_, '_, '_>,
        owner: Owner,
        site: Site<'_>,
        source: &str,
        offset: usize,
    ) -> bool {
        if source.len() <= LONGEST_SEARCHED
            && let Some((range, id)) = self.dashed(source)
        {
            let range = range.start + offset..range.end + offset;
            let message = format!("`nodes.{id}` reads as a subtraction");
            let help = format!("an id with `-` or `.` is written `nodes['{id}']`");
            checker.problems.in_text(Code::UNDEFINED_NAME, site.trail, range, message, Some(help));
            return true;
        }
        match self.parse(source).as_ref() {
            Ok(found) => self.references(checker, owner, site, found, offset),
            Err(fault) => {
                let code = if fault.unknown_name { Code::UNDEFINED_NAME } else { Code::EXPRESSION_SYNTAX };
                let mut fault = fault.clone().moved(offset);
                if source.trim_start().starts_with('.') {
                    fault.help = Some("to write two braces as they are, write `{{ '{{' }}`".into());
                }
                checker.problems.fault(code, site.trail, fault);
                return false;
            }
        }
        true
    }

    fn parse(&mut self, source: &str) -> Parsed {
        if let Some(known) = self.parsed.get(source) {
            return Rc::clone(known);
        }
        let parsed = Rc::new(references(source));
        self.parsed.insert(source.to_owned(), Rc::clone(&parsed));
        parsed
    }

    /// The id of a node written behind a dot although it holds a `-`, which an expression reads as a minus.
    fn dashed(&self, source: &str) -> Option<(std::ops::Range<usize>, String)> {
        source.match_indices("nodes.").find_map(|(at, start)| {
            let rest = &source[at + start.len()..];
            let length =
                rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))).unwrap_or(rest.len());
            let ends = rest[..length].match_indices('.').map(|(dot, _)| dot).chain([length]);
            let id = ends
                .map(|end| &rest[..end])
                .filter(|id| id.contains('-'))
                .find(|id| self.level.graph.find(id).is_some())?;
            Some((at..at + start.len() + id.len(), id.to_owned()))
        })
    }

    fn references(
        &mut self,
        checker: &mut Checker<'_, '_, '_>,
        owner: Owner,
        site: Site<'_>,
        found: &[Reference],
        offset: usize,
    ) {
        for reference in found {
            if let Err((code, message, help)) = self.reference(checker, owner, site, reference) {
                let range = reference.range.start + offset..reference.range.end + offset;
                checker.problems.in_text(code, site.trail, range, message, help);
            }
        }
    }

    fn reference(
        &mut self,
        checker: &mut Checker<'_, '_, '_>,
        owner: Owner,
        site: Site<'_>,
        reference: &Reference,
    ) -> Verdict {
        let path: Vec<&str> = reference.path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["params", rest @ ..] => self.param(checker, rest),
            ["context", ..] | [] => Ok(()),
            ["nodes", id, rest @ ..] => self.node(checker, owner, id, rest),
            ["nodes"] => refuse(
                Code::NOT_AVAILABLE_HERE,
                "nodes can only be read by name",
                "write `nodes.<id>.output`, or `nodes['<id>'].output` for an id with `-` or `.`",
            ),
            ["error", rest @ ..] => self.edge_name("error", owner).and_then(|()| part("error", rest, &ERROR_PARTS)),
            ["output", ..] => self.output(owner, site),
            ["run", rest @ ..] => part("run", rest, &RUN_PARTS),
            ["phase", rest @ ..] if self.level.source.parts.iter().any(|part| part.phase.is_some()) => {
                part("phase", rest, &PHASE_PARTS)
            }
            ["phase", ..] => refuse(Code::NOT_AVAILABLE_HERE, "this workflow has no phases", "use `run` or `params`"),
            ["item" | "index", ..] if site.item => Ok(()),
            [name @ ("item" | "index"), ..] => refuse(
                Code::NOT_AVAILABLE_HERE,
                format!("`{name}` exists only inside the node of a `map`, or in a tool"),
                "use `nodes.<id>.output` to read a list",
            ),
            ["secrets", rest @ ..] => secret(checker, self.level, site, rest),
            [name, ..] => Err(self.unknown(name)),
        }
    }

    fn param(&mut self, checker: &Checker<'_, '_, '_>, rest: &[&str]) -> Verdict {
        let Some(name) = rest.first() else {
            self.used_params = None;
            return Ok(());
        };
        let params = self.level.source.params;
        if params.contains_key(*name) {
            if let Some(used) = &mut self.used_params {
                used.insert((*name).to_owned());
            }
            return Ok(());
        }
        let written = !self.level.source.inner && checker.problems.has_raw_key(&Trail::root().key("params"), name);
        if written {
            return Ok(());
        }
        let known = params.keys().map(crate::file::ParamName::as_str);
        let help = suggest::did_you_mean(name, known.clone()).unwrap_or_else(|| match params.len() {
            0 => format!("declare it: `params: {{ {name}: {{ type: string }} }}`"),
            _ => format!("the parameters are {}", suggest::listed(known)),
        });
        refuse(Code::UNDEFINED_NAME, format!("there is no parameter `{name}`"), help)
    }

    fn node(&mut self, checker: &mut Checker<'_, '_, '_>, owner: Owner, id: &str, rest: &[&str]) -> Verdict {
        let Some(target) = self.level.graph.find(id) else {
            return if checker.problems.is_full() { Ok(()) } else { self.unknown_node(checker, id) };
        };
        part(&format!("nodes.{id}"), rest, &NODE_PARTS)?;
        if let ["error", more @ ..] = rest {
            part(&format!("nodes.{id}.error"), more, &ERROR_PARTS)?;
        }
        let reader = match owner {
            Owner::Node(reader) | Owner::EdgeTo(reader) => reader,
            Owner::Defaults => {
                let help = "write it on the nodes that need it; `defaults` can read `params`, `context` and `run`";
                return refuse(Code::NOT_AVAILABLE_HERE, "`defaults` belong to no node, so they can read none", help);
            }
        };
        if self.level.graph.edges_into(reader).iter().all(|edge| edge.from != target) {
            self.reads.insert((reader, target));
        }
        if self.level.graph.phase(target) < self.level.graph.phase(reader) {
            return Ok(());
        }
        let name = self.level.node(reader).id.as_str();
        if target == reader {
            let help = if self.level.kinds[reader.at()] == Some(Kind::Approve) {
                "a gate without work has no output; name the node that it asks about"
            } else {
                "in `approve`, `evaluate`, `expect` and `until`, its own output is `output`"
            };
            return refuse(Code::NOT_AN_ANCESTOR, format!("`{id}` cannot read itself"), help);
        }
        if self.level.graph.phase(target) > self.level.graph.phase(reader) {
            return not_before(id, &format!("`{name}`, which is in an earlier phase"));
        }
        if self.level.cyclic || self.reach.reaches(target, reader) || self.ancestors_unknown(reader) {
            return Ok(());
        }
        let message = format!("`{id}` is not an ancestor of `{name}`, so it may not have run yet");
        refuse(Code::NOT_AN_ANCESTOR, message, format!("add `{id}` to the `needs` of `{name}`"))
    }

    /// Whether an edge above this node could not be read: then a missing ancestor is no news.
    fn ancestors_unknown(&mut self, reader: NodeIndex) -> bool {
        // Many such nodes make nearly every answer "unknown", and asking each time would be quadratic.
        const ASKED: usize = 64;
        let incomplete = self.level.nodes.iter().filter(|node| node.incomplete).count();
        if incomplete > ASKED {
            return true;
        }
        let reach = &mut self.reach;
        self.level
            .graph
            .nodes()
            .filter(|node| self.level.nodes[node.at()].incomplete)
            .any(|node| node == reader || reach.reaches(node, reader))
    }

    fn unknown_node(&self, checker: &mut Checker<'_, '_, '_>, id: &str) -> Verdict {
        let unread = !self.level.source.inner && !checker.problems.is_whole() && checker.problems.is_written_node(id);
        if unread {
            return Ok(());
        }
        let known = self.level.nodes.iter().map(|node| node.id.as_str());
        // `nodes.my-node` is the difference of `nodes.my` and `node` to the parser.
        let dashed = known.clone().find(|name| name.strip_prefix(id).is_some_and(|rest| rest.starts_with(['-', '.'])));
        let help = match dashed {
            Some(name) => format!("an id with `-` or `.` is written `nodes['{name}']`"),
            None => checker.problems.did_you_mean(id, known.clone()).unwrap_or_else(|| {
                if let Some(phase) = self.level.nodes.iter().find(|node| node.generating) {
                    format!(
                        "what the phase `{0}` generates is read as `nodes['{0}'].output['{id}']`; the nodes are {1}",
                        phase.id,
                        suggest::listed(known)
                    )
                } else if self.level.source.inner {
                    format!(
                        "a sub-workflow sees only its own nodes, {}; hand values in with `params`",
                        suggest::listed(known)
                    )
                } else {
                    format!("the nodes are {}", suggest::listed(known))
                }
            }),
        };
        // Work that generates has to be told a missing node from any other name that is wrong.
        let code = if checker.grown.is_some() { Code::UNKNOWN_NODE } else { Code::UNDEFINED_NAME };
        refuse(code, format!("there is no node `{id}`"), help)
    }

    /// `error` and `output` belong to an edge, so a node without edges has neither.
    fn edge_name(&self, name: &str, owner: Owner) -> Verdict {
        let has_edges = match owner {
            Owner::EdgeTo(_) => true,
            Owner::Node(node) => {
                !self.level.graph.edges_into(node).is_empty() || self.level.node(node).incomplete || self.level.cyclic
            }
            Owner::Defaults => false,
        };
        if has_edges {
            return Ok(());
        }
        let message = format!("`{name}` is that of the node an edge comes from, and no edge leads here");
        refuse(Code::NOT_AVAILABLE_HERE, message, "add `needs`, or name a node: `nodes.<id>`")
    }

    fn output(&self, owner: Owner, site: Site<'_>) -> Verdict {
        if site.output == Output::Source {
            return self.edge_name("output", owner);
        }
        if let Owner::Node(node) = owner
            && self.level.kinds[node.at()] == Some(Kind::Approve)
        {
            let help = "name the node whose output is asked about: `nodes.<id>.output`";
            return refuse(Code::NOT_AVAILABLE_HERE, "a gate without work has no output of its own", help);
        }
        Ok(())
    }

    fn unknown(&self, name: &str) -> Refusal {
        let node = self.level.graph.find(name).map(|_| format!("to read a node write `nodes.{name}.output`"));
        let param =
            self.level.source.params.contains_key(name).then(|| format!("to read a parameter write `params.{name}`"));
        let help = param
            .or(node)
            .or_else(|| suggest::did_you_mean(name, ROOTS))
            .or_else(|| self.dashed_tail(name))
            .unwrap_or_else(|| format!("the names are {}; text needs quotes", suggest::listed(ROOTS)));
        (Code::UNDEFINED_NAME, format!("there is no name `{name}`"), Some(help))
    }

    /// `node` of `nodes.my-node`.
    fn dashed_tail(&self, name: &str) -> Option<String> {
        let id = self
            .level
            .nodes
            .iter()
            .map(|node| node.id.as_str())
            .find(|id| id.strip_suffix(name).is_some_and(|before| before.ends_with(['-', '.'])))?;
        Some(format!("an id with `-` or `.` is written `nodes['{id}']`"))
    }
}

fn secret(checker: &mut Checker<'_, '_, '_>, level: &Level<'_>, site: Site<'_>, rest: &[&str]) -> Verdict {
    if !site.secrets {
        let help = "put it in a header, or hand it to a command with `secrets: [NAME]`, as an environment variable";
        return refuse(Code::NOT_AVAILABLE_HERE, "a secret can only be named in HTTP headers and provider keys", help);
    }
    let Some(name) = rest.first() else {
        return refuse(Code::NOT_AVAILABLE_HERE, "secrets can only be read by name", "write `secrets.NAME`");
    };
    checker.used_secrets.insert((*name).to_owned());
    known_secret(&level.source, name)
}

/// Whether the workflow declares a secret.
pub(super) fn known_secret(source: &Source<'_>, name: &str) -> Verdict {
    if source.secrets.contains_key(name) {
        return Ok(());
    }
    let known = source.secrets.keys().map(crate::file::SecretName::as_str);
    let help = suggest::did_you_mean(name, known)
        .unwrap_or_else(|| format!("declare it at the top: `secrets: {{ {name}: {{ env: {name} }} }}`"));
    refuse(Code::UNKNOWN_SECRET, format!("there is no secret `{name}`"), help)
}
