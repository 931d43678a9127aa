//! One module per kind of rule.

mod citations;
mod error_pages;
mod links;
mod machine_paths;
mod shape;
mod words;

use crate::Rule;

/// Every rule of the house.
pub const RULES: &[Rule] = &[
    Rule { name: "length", check: shape::length },
    Rule { name: "names", check: shape::names },
    Rule { name: "mod-files", check: shape::mod_files },
    Rule { name: "forbidden-words", check: words::forbidden },
    Rule { name: "aborting-calls", check: words::aborting },
    Rule { name: "sleeping-tests", check: words::sleeping },
    Rule { name: "citations", check: citations::citations },
    Rule { name: "error-pages", check: error_pages::error_pages },
    Rule { name: "links", check: links::links },
    Rule { name: "machine-paths", check: machine_paths::machine_paths },
];
