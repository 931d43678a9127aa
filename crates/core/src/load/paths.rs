//! Declared files: who writes what, and who may read it (`R-CACHE-7`, `R-CACHE-3`).

use std::collections::{BTreeMap, HashMap};

use globset::{GlobBuilder, GlobMatcher};

use super::level::{Checker, Level};
use super::trail::Trail;
use crate::codes::Code;
use crate::graph::{NodeIndex, Reach};

/// How many (glob, output) pairs are compared in all. What is not compared is not refused: the check is a kindness, and
/// a file in which everything may read everything is checked in part.
const COMPARISONS: usize = 5_000_000;

/// Checks the declared files of a level: their form, double writers, and readers without an edge.
pub(super) fn check(checker: &mut Checker<'_, '_, '_>, base: &Trail<'_>, level: &Level<'_>) {
    let mut writers: BTreeMap<String, (NodeIndex, usize)> = BTreeMap::new();
    for node in level.graph.nodes() {
        let spec = level.node(node).spec;
        for (at, output) in spec.outputs.iter().enumerate() {
            let tidy = level
                .node(node)
                .with_trail(base, |trail| tidy(checker, &trail.key("outputs").index(at), output, false));
            let Some(path) = tidy else { continue };
            if let Some((other, earlier)) = overlapping(&writers, &path) {
                report_conflict(checker, base, level, (node, at), (other, earlier), &path);
            } else {
                writers.insert(path, (node, at));
            }
        }
    }
    let mut readers = Readers {
        checker,
        base,
        level,
        writers,
        reach: Reach::new(&level.graph),
        left: COMPARISONS,
        globs: HashMap::new(),
    };
    for node in level.graph.nodes() {
        readers.node(node);
    }
}

/// A relative path inside the project, without `.` and doubled slashes; anything else is reported.
fn tidy(checker: &mut Checker<'_, '_, '_>, trail: &Trail<'_>, path: &str, glob: bool) -> Option<String> {
    let what = if glob { "an input" } else { "an output" };
    let mut parts = Vec::new();
    let problem = if path.contains("{{") {
        Some((
            format!("{what} is a fixed path, without `{{{{ }}}}`"),
            "name a folder, and let the command choose the file in it",
        ))
    } else if path.starts_with('/') || path.starts_with('~') {
        Some((format!("{what} is a path inside the project"), "write it relative to the project's root"))
    } else if path.contains('\0') || path.contains('\\') {
        Some((format!("{what} cannot hold `\\` or a NUL byte"), "use `/` between folders"))
    } else if !glob && path.contains(['*', '?', '[']) {
        Some(("an output is a file or a folder, not a pattern".to_owned(), "name the folder that holds the files"))
    } else {
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.clear();
                    break;
                }
                part => parts.push(part),
            }
        }
        parts.is_empty().then(|| {
            (format!("{what} must name something inside the project"), "remove `..`, and name a file or folder")
        })
    };
    if let Some((message, help)) = problem {
        checker.problems.at(Code::INVALID_VALUE, trail, message, help);
        return None;
    }
    let path = parts.join("/");
    if path == ".sprag" || path.starts_with(".sprag/") {
        checker.problems.at(Code::INVALID_VALUE, trail, "`.sprag` belongs to sprag", "use another folder");
        return None;
    }
    Some(path)
}

/// A declared path that is the same, a folder around it, or something inside it.
fn overlapping(writers: &BTreeMap<String, (NodeIndex, usize)>, path: &str) -> Option<(NodeIndex, usize)> {
    let mut around = path.match_indices('/').map(|(at, _)| &path[..at]).chain([path]);
    around.find_map(|folder| writers.get(folder)).copied().or_else(|| {
        let inside = format!("{path}/");
        writers
            .range(inside.clone()..)
            .next()
            .filter(|(other, _)| other.starts_with(&inside))
            .map(|(_, writer)| *writer)
    })
}

fn report_conflict(
    checker: &mut Checker<'_, '_, '_>,
    base: &Trail<'_>,
    level: &Level<'_>,
    (node, at): (NodeIndex, usize),
    (other, earlier): (NodeIndex, usize),
    path: &str,
) {
    let name = level.node(other).id;
    let message = if node == other {
        format!("`{path}` overlaps another output of this node")
    } else {
        format!("`{path}` overlaps an output of `{name}`: each file has one writer")
    };
    level.node(node).with_trail(base, |trail| {
        let trail = trail.key("outputs");
        checker.problems.at(Code::OUTPUT_CONFLICT, &trail.index(at), message, "give each node its own file or folder");
    });
    level
        .node(other)
        .with_trail(base, |trail| checker.problems.label(&trail.key("outputs").index(earlier), "also written here"));
}

/// Whether a pattern such as `src/**/*.json` reaches into a folder that is an output.
fn fixed_folder_holds(pattern: &str, output: &str) -> bool {
    pattern.split_once("**").is_some_and(|(before, _)| output.starts_with(before))
}

struct Readers<'r, 'w, 'a, 'tree, 'text> {
    checker: &'r mut Checker<'a, 'tree, 'text>,
    base: &'r Trail<'r>,
    level: &'r Level<'w>,
    writers: BTreeMap<String, (NodeIndex, usize)>,
    reach: Reach<'r>,
    left: usize,
    globs: HashMap<String, Option<GlobMatcher>>,
}

impl Readers<'_, '_, '_, '_, '_> {
    fn node(&mut self, node: NodeIndex) {
        let level = self.level;
        for (at, input) in level.node(node).spec.inputs.iter().enumerate() {
            let base = self.base;
            level.node(node).with_trail(base, |trail| {
                let inputs = trail.key("inputs");
                let trail = inputs.index(at);
                let Some(path) = tidy(self.checker, &trail, input, true) else { return };
                for (output, writer) in self.writers_of(&path, &trail) {
                    self.reader(node, writer, &output, &trail);
                }
            });
        }
    }

    /// The declared outputs that an input names, as a path, as a folder, or as a glob.
    fn writers_of(&mut self, path: &str, trail: &Trail<'_>) -> Vec<(String, NodeIndex)> {
        if !path.contains(['*', '?', '[', '{']) {
            return overlapping(&self.writers, path).map(|(writer, _)| (path.to_owned(), writer)).into_iter().collect();
        }
        let matcher = self.globs.entry(path.to_owned()).or_insert_with(|| {
            GlobBuilder::new(path).literal_separator(true).build().ok().map(|glob| glob.compile_matcher())
        });
        let Some(matcher) = matcher else {
            let message = format!("`{path}` is not a pattern");
            self.checker.problems.at(Code::INVALID_VALUE, trail, message, "patterns are like `src/**/*.json`");
            return Vec::new();
        };
        // Only outputs below the fixed part of the pattern can match, or folders around it.
        let fixed = path.find(['*', '?', '[', '{']).map_or(path, |at| &path[..at]);
        let folder = fixed.rfind('/').map_or("", |at| &fixed[..at]);
        let around = folder.match_indices('/').map(|(at, _)| &folder[..at]).chain([folder]);
        let mut found: Vec<_> =
            around.filter_map(|folder| Some((folder.to_owned(), self.writers.get(folder)?.0))).collect();
        for (output, (writer, _)) in
            self.writers.range(fixed.to_owned()..).take_while(|(output, _)| output.starts_with(fixed))
        {
            let Some(left) = self.left.checked_sub(1) else { break };
            self.left = left;
            if matcher.is_match(output) || matcher.is_match(format!("{output}/x")) || fixed_folder_holds(path, output) {
                found.push((output.clone(), *writer));
            }
        }
        found
    }

    fn reader(&mut self, node: NodeIndex, writer: NodeIndex, output: &str, trail: &Trail<'_>) {
        let graph = &self.level.graph;
        let ordered = graph.phase(writer) < graph.phase(node) || self.reach.reaches(writer, node);
        if node == writer || ordered || self.level.cyclic || self.level.node(node).incomplete {
            return;
        }
        let (writer, reader) = (self.level.node(writer).id, self.level.node(node).id);
        let message = format!("`{output}` is written by `{writer}`, which `{reader}` does not depend on");
        self.checker.problems.at(
            Code::UNDECLARED_INPUT,
            trail,
            message,
            format!("add `{writer}` to the `needs` of `{reader}`"),
        );
    }
}
