//! What this engine can carry out. Anything else is refused before a run begins, never ignored.

use std::fmt;

use sprag_core::codes::Code;
use sprag_core::definition::{Definition, Kind};
use sprag_core::facts::Facts;
use sprag_core::file::{Node, Semantics};

use crate::host::Functions;

/// Why a run cannot begin: the workflow uses what runs do not carry out yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotYetSupported(
    /// What it is, in words.
    pub String,
);

impl NotYetSupported {
    /// What every face says about it.
    pub fn facts() -> Facts {
        Facts::new(Code::NOT_YET_SUPPORTED, "take it out of the workflow")
    }
}

impl fmt::Display for NotYetSupported {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "this version cannot run {} yet", self.0)
    }
}

impl std::error::Error for NotYetSupported {}

/// Refuses a workflow that needs what is not built yet, and names it.
pub fn check(definition: &Definition, functions: &Functions) -> Result<(), NotYetSupported> {
    let wide = [
        (!definition.phases.is_empty(), "phases"),
        (definition.policy.budget.is_some(), "`policy.budget`"),
        (definition.policy.checkpoints.is_some(), "`policy.checkpoints`"),
    ];
    let first = wide.into_iter().find_map(|(used, what)| used.then(|| what.to_owned())).or_else(|| {
        definition.graph.nodes().find_map(|node| {
            let compiled = definition.node(node);
            let what = unsupported(compiled.kind, &compiled.spec, functions)?;
            Some(format!("{what} on node `{}`", definition.graph.id(node)))
        })
    });
    first.map_or(Ok(()), |what| Err(NotYetSupported(what)))
}

fn unsupported(kind: Kind, spec: &Node, functions: &Functions) -> Option<String> {
    if let Some(name) = spec.call.as_deref().filter(|name| functions.find(name).is_none()) {
        return Some(format!("`call: {name}`, a function that only a Rust host can register,"));
    }
    if kind.grows() || kind == Kind::Agent {
        return Some(format!("`{}`", kind.as_str()));
    }
    let keys = [
        (spec.recovery.is_some(), "`recovery`"),
        (kind == Kind::Http, "`http`"),
        (spec.approve.is_some(), "`approve`"),
        (spec.wait.as_ref().is_some_and(|wait| wait.signal.is_some()), "`wait: { signal }`"),
        (spec.evaluate.is_some(), "`evaluate`"),
        (spec.semantics == Some(Semantics::AtMostOnce), "`semantics: at_most_once`"),
        (spec.probe.is_some(), "`probe`"),
        (spec.cache == Some(true), "`cache`"),
        (!spec.normalise.is_empty(), "`normalise`"),
        (spec.queue.is_some(), "`queue`"),
    ];
    keys.into_iter().find(|(used, _)| *used).map(|(_, key)| key.to_owned())
}

#[cfg(test)]
mod tests {
    use sprag_core::limits::Limits;
    use sprag_core::load::load;

    use super::check;
    use crate::host::Functions;

    #[test]
    fn what_is_not_built_is_refused_by_name() {
        for (node, named) in [
            ("{http: {url: \"https://example.org\"}}", "`http` on node `a`"),
            ("{approve: {message: go}}", "`approve` on node `a`"),
            ("{wait: {signal: go}}", "`wait: { signal }` on node `a`"),
            ("{run: x, evaluate: \"'A'\"}", "`evaluate` on node `a`"),
            ("{run: x, semantics: at_most_once}", "`semantics: at_most_once` on node `a`"),
            ("{run: x, cache: true}", "`cache` on node `a`"),
            ("{run: x, outputs: [o], normalise: [crlf]}", "`normalise` on node `a`"),
            ("{run: x, queue: gpu}", "`queue` on node `a`"),
            ("{call: tidy}", "`call: tidy`, a function that only a Rust host can register, on node `a`"),
            ("{run: x, recovery: {ladder: true}}", "`recovery` on node `a`"),
            ("{workflow: {nodes: {b: {noop: }}}}", "`workflow` on node `a`"),
            ("{map: {over: \"[1]\", node: {noop: }}}", "`map` on node `a`"),
            ("{agent: {provider: fake, script: [], prompt: p}}", "`agent` on node `a`"),
        ] {
            let text = format!("workflow: w\nnodes:\n  a: {node}\n");
            let definition = load(&text, &Limits::default()).unwrap_or_else(|_| panic!("{text}")).definition;
            let refused = check(&definition, &Functions::new()).unwrap_err();
            assert_eq!(refused.to_string(), format!("this version cannot run {named} yet"));
        }
        let text = "workflow: w\npolicy: {checkpoints: {keep: 3}}\nnodes: {a: {noop: }}\n";
        let definition = load(text, &Limits::default()).unwrap_or_else(|_| panic!()).definition;
        assert!(check(&definition, &Functions::new()).unwrap_err().to_string().contains("`policy.checkpoints`"));
    }

    #[test]
    fn what_is_built_is_accepted() {
        let text = "workflow: w\nnodes:\n  a: {run: x, outputs: [o], retry: {max_attempts: 2}, timeout: 1s}\n  \
                    b: {needs: [a], call: tidy}\n  c: {needs: [a], wait: {for: 1s}}\n";
        let definition = load(text, &Limits::default()).unwrap_or_else(|_| panic!()).definition;
        let functions = Functions::new().with("tidy", |_| Ok(sprag_core::run::Product::default()));
        assert!(check(&definition, &functions).is_ok());
    }
}
