//! The parameters that a run is given: checked by type, defaults filled in, every problem in one go.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::Value;

use crate::file::{Json, Param, ParamName, ParamType};
use crate::run::{DEPTH_MAX, is_too_deep};
use crate::suggest;

/// A value as it was given.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// Text from a command line: read as the parameter's type asks.
    Text(String),
    /// A value of a file or an API: it has its type already.
    Value(Value),
}

/// What is wrong with a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamProblem {
    /// The parameter.
    pub name: String,
    /// What happened.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// The values that a run starts with, or everything that is wrong with what was given.
pub fn resolve(
    declared: &IndexMap<ParamName, Param>,
    given: BTreeMap<String, Given>,
) -> Result<BTreeMap<String, Value>, Vec<ParamProblem>> {
    let mut values = BTreeMap::new();
    let mut problems = Vec::new();
    for (name, given) in given {
        match declared.iter().find(|(declared, _)| declared.as_str() == name) {
            None => problems.push(unknown(&name, declared)),
            Some((_, param)) => match value(&name, param, given) {
                Ok(value) => drop(values.insert(name, value)),
                Err(problem) => problems.push(problem),
            },
        }
    }
    for (name, param) in declared {
        let wrong = problems.iter().any(|problem| problem.name == name.as_str());
        match &param.default {
            _ if wrong || values.contains_key(name.as_str()) => {}
            Some(Json(default)) => drop(values.insert(name.as_str().to_owned(), default.clone())),
            None => problems.push(ParamProblem {
                name: name.as_str().to_owned(),
                message: format!("parameter `{}` is not given and has no default", name.as_str()),
                help: format!("give it: `-p {}=…`", name.as_str()),
            }),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

fn unknown(name: &str, declared: &IndexMap<ParamName, Param>) -> ParamProblem {
    let names = || declared.keys().map(ParamName::as_str);
    let help = match suggest::nearest(name, names()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if declared.is_empty() => "the workflow takes no parameters".into(),
        None => format!("it takes {}", suggest::listed(names())),
    };
    ParamProblem { name: name.to_owned(), message: format!("there is no parameter `{name}`"), help }
}

fn value(name: &str, param: &Param, given: Given) -> Result<Value, ParamProblem> {
    let mistyped = |shown: &str| ParamProblem {
        name: name.to_owned(),
        message: format!("parameter `{name}` is {}, and `{shown}` is not", param.kind.described()),
        help: example(name, param.kind),
    };
    let value = match given {
        Given::Value(value) => value,
        Given::Text(text) if param.kind == ParamType::String => Value::String(text),
        Given::Text(text) => serde_json::from_str(&text).map_err(|_| mistyped(&text))?,
    };
    if is_too_deep(&value) {
        return Err(ParamProblem {
            name: name.to_owned(),
            message: format!("parameter `{name}` nests deeper than {DEPTH_MAX} levels"),
            help: "hand it over in a file of its own".to_owned(),
        });
    }
    if !param.kind.fits(&value) {
        return Err(mistyped(&value.to_string()));
    }
    match &param.choices {
        Some(choices) if !choices.iter().any(|choice| choice.0 == value) => {
            let listed: Vec<_> = choices.iter().map(|choice| plain(&choice.0)).collect();
            Err(ParamProblem {
                name: name.to_owned(),
                message: format!("parameter `{name}` cannot be `{}`", plain(&value)),
                help: format!("it may be {}", suggest::listed(listed.iter().map(String::as_str))),
            })
        }
        _ => Ok(value),
    }
}

/// A value as a person would write it after `-p name=`.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn example(name: &str, kind: ParamType) -> String {
    let value = match kind {
        ParamType::String => "text",
        ParamType::Integer => "3",
        ParamType::Number => "1.5",
        ParamType::Boolean => "true",
        ParamType::Array => "'[1, 2]'",
        ParamType::Object => "'{\"key\": 1}'",
    };
    format!("write it like `-p {name}={value}`")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn declared() -> IndexMap<ParamName, Param> {
        let file = json!({
            "target": { "type": "string", "default": "staging", "enum": ["staging", "prod"] },
            "count": { "type": "integer" },
            "rate": { "type": "number", "default": 0.5 },
            "dry": { "type": "boolean", "default": false },
            "tags": { "type": "array", "default": [] },
            "more": { "type": "object", "default": {} },
        });
        serde_json::from_value(file).unwrap()
    }

    fn given(values: &[(&str, &str)]) -> BTreeMap<String, Given> {
        values.iter().map(|(name, text)| ((*name).to_owned(), Given::Text((*text).to_owned()))).collect()
    }

    #[test]
    fn text_is_read_as_the_type_asks_and_defaults_are_filled_in() {
        let all = given(&[("count", "3"), ("rate", "2"), ("dry", "true"), ("tags", "[1]"), ("more", "{\"a\":1}")]);
        let values = resolve(&declared(), all).unwrap();
        assert_eq!(
            json!(values),
            json!({"count": 3, "dry": true, "more": {"a": 1}, "rate": 2, "tags": [1], "target": "staging"})
        );
    }

    #[test]
    fn every_problem_is_told_at_once_with_what_to_do() {
        let wrong = given(&[("cuont", "1"), ("target", "production"), ("rate", "fast"), ("dry", "1"), ("tags", "x")]);
        let problems = resolve(&declared(), wrong).unwrap_err();
        let told: Vec<_> = problems.iter().map(|problem| format!("{}; {}", problem.message, problem.help)).collect();
        assert_eq!(
            told,
            [
                "there is no parameter `cuont`; did you mean `count`?",
                "parameter `dry` is `true` or `false`, and `1` is not; write it like `-p dry=true`",
                "parameter `rate` is a number, and `fast` is not; write it like `-p rate=1.5`",
                "parameter `tags` is a list, and `x` is not; write it like `-p tags='[1, 2]'`",
                "parameter `target` cannot be `production`; it may be `staging`, `prod`",
                "parameter `count` is not given and has no default; give it: `-p count=…`",
            ]
        );
    }

    #[test]
    fn values_of_files_keep_their_type() {
        let text = BTreeMap::from([("count".to_owned(), Given::Value(json!("3")))]);
        assert_eq!(
            resolve(&declared(), text).unwrap_err()[0].message,
            "parameter `count` is a whole number, and `\"3\"` is not"
        );
        let number = BTreeMap::from([("count".to_owned(), Given::Value(json!(3)))]);
        assert_eq!(resolve(&declared(), number).unwrap()["count"], 3);
        let whole = BTreeMap::from([("count".to_owned(), Given::Value(json!(3.0)))]);
        assert!(resolve(&declared(), whole).is_err());
    }
}
