//! The kinds of node that are more than a command or an agent.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

use super::node::Node;
use super::text::{Expr, Json, TextOr};
use super::workflow::SubWorkflow;
use super::{Duration, NodeId, ParamName, Template};

/// An HTTP request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// The method; `GET` if none is given.
    #[serde(default)]
    pub method: Option<Method>,
    /// The address.
    pub url: Template,
    /// Headers; the only place besides provider keys where `{{ secrets.NAME }}` may stand.
    #[serde(default)]
    pub headers: BTreeMap<String, Template>,
    /// A JSON body; texts in it are templates.
    #[serde(default)]
    pub json: Option<Json>,
    /// A text body.
    #[serde(default)]
    pub body: Option<Template>,
    /// What counts as success.
    #[serde(default)]
    pub expect: Option<Expect>,
    /// Hosts it may reach besides those that policy allows.
    #[serde(default)]
    pub allow_hosts: Vec<String>,
}

/// An HTTP method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names are the methods")]
pub enum Method {
    #[default]
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

/// What counts as success of an HTTP request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// Status codes; any 2xx if none are given.
    pub status: Vec<u16>,
    /// What must be true of the answer, which is `output`.
    pub json: Option<Expr>,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Approve {
    /// What is asked.
    pub message: Template,
    /// What is shown beside it.
    #[serde(default)]
    pub show: Option<Template>,
    /// How long the question stays open.
    #[serde(default)]
    pub timeout: Option<Duration>,
    /// A JSON Schema of what the person fills in.
    #[serde(default)]
    pub form: Option<Json>,
    /// Who may answer.
    #[serde(default)]
    pub approvers: Vec<String>,
}

/// One copy of a node per item of a list that is known only at run time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapOver {
    /// The list.
    pub over: Expr,
    /// The node, which may read `item` and `index`.
    pub node: Box<Node>,
    /// How many copies run at once.
    #[serde(default)]
    pub max_parallel: Option<u32>,
}

/// A sub-workflow again and again until a condition holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// The sub-workflow.
    pub workflow: TextOr<Box<SubWorkflow>>,
    /// When it is done; `output` is the last iteration's.
    pub until: Expr,
    /// How many iterations at most.
    pub max: u32,
    /// Values for the sub-workflow's parameters.
    #[serde(default)]
    pub params: BTreeMap<ParamName, Json>,
}

/// What a node waits for: exactly one of the three.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wait {
    /// A length of time.
    #[serde(rename = "for")]
    pub length: Option<Duration>,
    /// A moment, such as `2026-12-24T18:00:00Z`.
    pub until: Option<Template>,
    /// A signal, sent with `sprag signal RUN NAME`.
    pub signal: Option<NodeId>,
}

/// Nothing. Written `noop:`, `noop: true` or `noop: {}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Noop;

impl<'de> Deserialize<'de> for Noop {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Nothing;
        impl<'de> de::Visitor<'de> for Nothing {
            type Value = Noop;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("nothing, `true` or `{}`")
            }

            fn visit_unit<E: de::Error>(self) -> Result<Noop, E> {
                Ok(Noop)
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Noop, E> {
                if value { Ok(Noop) } else { Err(E::invalid_value(de::Unexpected::Bool(false), &self)) }
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Noop, A::Error> {
                match map.next_key::<String>()? {
                    None => Ok(Noop),
                    Some(key) => Err(de::Error::unknown_field(&key, &[])),
                }
            }
        }
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Nothing)
        } else {
            deserializer.deserialize_unit_struct("Noop", Nothing)
        }
    }
}

impl JsonSchema for Noop {
    fn schema_name() -> Cow<'static, str> {
        "Noop".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Nothing to do.",
            "anyOf": [{ "type": "null" }, { "const": true }, { "type": "object", "additionalProperties": false }],
        })
    }
}
