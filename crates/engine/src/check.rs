//! Whether an output fits what its node and its dependents say about it (`R-SCHED-5`).

use std::fmt;
use std::sync::{Arc, OnceLock};

use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use sprag_core::definition::Definition;
use sprag_core::file::NodeId;
use sprag_core::graph::NodeIndex;
use sprag_core::run::{Known, NodeError};

/// How many problems a message names.
const PROBLEMS: usize = 3;

/// The longest place or problem that is told in full. With three problems a message stays under 2,000 characters.
const TOLD: usize = 280;

/// The schemas of a workflow, each compiled when it is first needed and then kept.
#[derive(Debug)]
pub struct Checks {
    definition: Arc<Definition>,
    compiled: Box<[OnceLock<Box<[Check]>>]>,
}

impl Checks {
    /// The checks of a workflow.
    pub fn new(definition: Arc<Definition>) -> Self {
        let compiled = definition.nodes.iter().map(|_| OnceLock::new()).collect();
        Self { definition, compiled }
    }

    /// Checks an output against its node's `output_schema` and the `input_schema` entries of its dependents that name
    /// it.
    ///
    /// What does not fit, and a schema that cannot be used, is `SCHEMA_MISMATCH`. The message names places in the output
    /// and never its values.
    pub fn check(&self, node: NodeIndex, output: &Value) -> Result<(), NodeError> {
        let checks = self.compiled[node.at()].get_or_init(|| compile(&self.definition, node));
        let mut problems = Vec::new();
        for check in checks {
            match &check.validator {
                Ok(validator) if validator.is_valid(output) => {}
                Ok(validator) => problems.extend(
                    validator.iter_errors(output).map(|error| problem(&check.schema, &error)).take(PROBLEMS + 1),
                ),
                Err(error) => problems.push(format!("{} is not a JSON Schema that can be used: {error}", check.schema)),
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        let more = if problems.len() > PROBLEMS { "; and more" } else { "" };
        problems.truncate(PROBLEMS);
        Err(NodeError::new(Known::SCHEMA_MISMATCH, problems.join("; ") + more))
    }
}

/// One schema that an output has to fit.
#[derive(Debug)]
struct Check {
    schema: Schema,
    validator: Result<Validator, String>,
}

/// Whose schema it is.
#[derive(Debug)]
enum Schema {
    Own,
    Dependent(NodeId),
}

impl fmt::Display for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => formatter.write_str("the `output_schema`"),
            Self::Dependent(id) => write!(formatter, "the `input_schema` of `{id}`"),
        }
    }
}

fn compile(definition: &Definition, node: NodeIndex) -> Box<[Check]> {
    let own = definition.node(node).spec.output_schema.as_ref().map(|schema| (Schema::Own, schema));
    let id = definition.graph.id(node);
    // Edges come by target, so several to one dependent stand together.
    let mut dependents: Vec<_> = definition.graph.edges_from(node).map(|(_, edge)| edge.to).collect();
    dependents.dedup();
    let theirs = dependents.into_iter().filter_map(|dependent| {
        let schema = definition.node(dependent).spec.input_schema.get(id)?;
        Some((Schema::Dependent(definition.graph.id(dependent).clone()), schema))
    });
    let check = |(schema, json): (Schema, &sprag_core::file::Json)| {
        // Offline: a schema is what the file says, and never what some server answers today.
        let validator = jsonschema::options().offline().build(&json.0);
        Check {
            schema,
            validator: validator.map_err(|error| told(error.to_string(), || "it is too long to be told".into())),
        }
    };
    own.into_iter().chain(theirs).map(check).collect()
}

/// Whose schema is not met, where, and what is expected there.
fn problem(schema: &Schema, error: &ValidationError<'_>) -> String {
    let place = match error.instance_path().as_str() {
        "" => "at the top".to_owned(),
        place => told(format!("at `{place}`"), || "at a place too deep to be told".to_owned()),
    };
    let expected =
        told(error.masked_with("it").to_string(), || format!("it does not fit `{}`", error.kind().keyword()));
    let wanted = match schema {
        Schema::Own => "the output does not fit the node's own `output_schema`".to_owned(),
        Schema::Dependent(id) => format!("the output does not fit the input of `{id}`"),
    };
    format!("{wanted}: {place}: {expected}")
}

/// A text if it is short enough. It is never cut: half a secret would not be recognised as one when the message is
/// masked.
fn told(text: String, otherwise: impl FnOnce() -> String) -> String {
    if text.chars().take(TOLD + 1).count() > TOLD { otherwise() } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sprag_core::definition::Kind;
    use sprag_core::file::{Json, Node, Policy, When, WorkflowId};
    use sprag_core::graph::{Builder, NewEdge};

    use super::{Arc, Checks, Definition, Known, NodeId, NodeIndex, Value};

    /// `a` with an own schema, and `b` and `c` that depend on it with theirs.
    fn checks(own: Option<&Value>, b: Option<&Value>, c: Option<&Value>) -> Checks {
        let id = |text| NodeId::new(text).unwrap();
        let mut builder = Builder::new(["a", "b", "c"].map(|text| (0, id(text))));
        for (to, when) in [(1, When::OnSuccess), (1, When::OnFailure), (2, When::OnSuccess)] {
            builder.edge(NewEdge { from: NodeIndex(0), to: NodeIndex(to), when, condition: None });
        }
        let definition =
            Definition::from_graph(WorkflowId::new("w").unwrap(), Policy::default(), builder.finish().0, |node| {
                let input =
                    |schema: Option<&Value>| schema.map(|schema| (id("a"), Json(schema.clone()))).into_iter().collect();
                let spec = match node.at() {
                    0 => Node { output_schema: own.cloned().map(Json), ..Node::default() },
                    1 => Node { input_schema: input(b), ..Node::default() },
                    _ => Node { input_schema: input(c), ..Node::default() },
                };
                (Kind::Noop, Arc::new(spec))
            });
        Checks::new(Arc::new(definition))
    }

    fn message(checks: &Checks, output: &Value) -> String {
        let error = checks.check(NodeIndex(0), output).unwrap_err();
        assert_eq!(error.code, Known::SCHEMA_MISMATCH);
        assert!(error.message.chars().count() <= 2_000, "{}", error.message.len());
        error.message
    }

    #[test]
    fn an_output_fits_its_own_schema_and_its_dependents() {
        // R-SCHED-5
        let title = json!({ "type": "object", "required": ["title"] });
        let pages = json!({ "properties": { "pages": { "type": "integer" } } });
        let checks = checks(Some(&title), None, Some(&pages));
        for _ in 0..2 {
            assert_eq!(checks.check(NodeIndex(0), &json!({ "title": "x", "pages": 3 })), Ok(()));
            let own =
                r#"the output does not fit the node's own `output_schema`: at the top: "title" is a required property"#;
            assert_eq!(message(&checks, &json!({ "pages": 3 })), own);
            let input = r#"the output does not fit the input of `c`: at `/pages`: it is not of type "integer""#;
            assert_eq!(message(&checks, &json!({ "title": "x", "pages": "hush-hush" })), input);
            assert_eq!(message(&checks, &json!({ "pages": "hush-hush" })), format!("{own}; {input}"));
        }
        // What others say about `a` is nothing to `b`.
        assert_eq!(checks.check(NodeIndex(1), &json!(null)), Ok(()));
    }

    #[test]
    fn messages_stay_short_and_never_cut_what_they_tell() {
        // R-SCHED-5
        let checks = checks(Some(&json!({ "additionalProperties": { "type": "string" } })), None, None);
        let output: Value = (0..9).map(|at| (format!("{at}{}", "x".repeat(3_000)), json!(at))).collect();
        let message = message(&checks, &output);
        assert_eq!(message.matches("at a place too deep to be told").count(), 3, "{message}");
        assert!(message.ends_with("; and more") && !message.contains("xx"), "{message}");
        let three: Value = (0..3).map(|at| (format!("k{at}"), json!(at))).collect();
        assert!(self::message(&checks, &three).ends_with(r#"at `/k2`: it is not of type "string""#));
    }

    #[test]
    fn several_edges_to_one_dependent_are_one_check() {
        // R-SCHED-5
        let checks = checks(None, Some(&json!({ "type": "string" })), None);
        assert_eq!(message(&checks, &json!(1)).matches("input of `b`").count(), 1);
    }

    #[test]
    fn schemas_that_cannot_be_used_are_told() {
        // R-SCHED-5
        let invalid = checks(Some(&json!({ "type": "strung" })), None, None);
        assert!(
            message(&invalid, &json!(1)).starts_with("the `output_schema` is not a JSON Schema that can be used: ")
        );
        let invalid = checks(None, Some(&json!({ "pattern": "(" })), None);
        assert!(
            message(&invalid, &json!("x"))
                .starts_with("the `input_schema` of `b` is not a JSON Schema that can be used")
        );
        for remote in ["https://example.com/schema.json", "file:///etc/passwd", "other.json"] {
            let checks = checks(Some(&json!({ "$ref": remote })), None, None);
            assert!(message(&checks, &json!(1)).contains("is not a JSON Schema that can be used"), "{remote}");
        }
        let local = checks(Some(&json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "string" } } })), None, None);
        assert_eq!(local.check(NodeIndex(0), &json!("x")), Ok(()));
    }
}
