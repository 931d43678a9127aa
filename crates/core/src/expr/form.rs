//! How JSON becomes a value of an expression and back, and how a value looks in text.

use std::io::{Error as WriteError, Result as WriteResult, Write};

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Number, Value as Json};

use super::fuel::Fuel;

/// How large JSON may become as text inside an expression.
const JSON_BYTES_MAX: usize = 8 << 20;

/// A complaint of ours in the type that filters have to return.
pub(super) fn error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

/// A stored value as one that expressions work on.
pub(super) fn from_json(json: &Json, fuel: &mut Fuel) -> Result<Value, Error> {
    fuel.value()?;
    Ok(match json {
        Json::Null => Value::from(()),
        Json::Bool(bool) => Value::from(*bool),
        Json::Number(number) => from_number(number),
        Json::String(text) => {
            fuel.burn(text.len())?;
            Value::from(text.as_str())
        }
        Json::Array(items) => {
            fuel.lists(1)?;
            Value::from(items.iter().map(|item| from_json(item, fuel)).collect::<Result<Vec<_>, _>>()?)
        }
        Json::Object(entries) => {
            fuel.map()?;
            let entries = entries.iter().map(|(key, value)| {
                fuel.value()?;
                fuel.burn(key.len())?;
                Ok((Value::from(key.as_str()), from_json(value, fuel)?))
            });
            Value::from_pairs(entries.collect::<Result<Vec<_>, Error>>()?)
        }
    })
}

fn from_number(number: &Number) -> Value {
    if let Some(integer) = number.as_i64() {
        return Value::from(integer);
    }
    number.as_u64().map_or_else(|| Value::from(number.as_f64()), Value::from)
}

/// A value as JSON. Numbers keep their type; what JSON cannot hold is an error.
pub(super) fn to_json(value: &Value, fuel: &mut Fuel) -> Result<Json, Error> {
    fuel.value()?;
    Ok(match value.kind() {
        ValueKind::None => Json::Null,
        ValueKind::Bool => Json::Bool(value.is_true()),
        ValueKind::Number => to_number(value)?,
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            fuel.burn(text.len())?;
            Json::from(text)
        }
        ValueKind::Seq | ValueKind::Iterable => {
            fuel.lists(1)?;
            let items = value.try_iter()?.checked().map(|item| to_json(&item?, fuel));
            Json::Array(items.collect::<Result<Vec<_>, Error>>()?)
        }
        ValueKind::Map => {
            fuel.map()?;
            let mut entries = Map::new();
            for key in value.try_iter()?.checked() {
                let key = key?;
                let name = match key.kind() {
                    ValueKind::String | ValueKind::Number | ValueKind::Bool => text(&key, fuel)?,
                    kind => return Err(error(format!("a key must be text, this one is of type {kind}"))),
                };
                entries.insert(name, to_json(&value.get_item(&key)?, fuel)?);
            }
            Json::Object(entries)
        }
        ValueKind::Undefined => return Err(error("a part of the result has no value")),
        kind => return Err(error(format!("a value of type {kind} is no result"))),
    })
}

fn to_number(value: &Value) -> Result<Json, Error> {
    if value.is_integer() {
        return i64::try_from(value.clone())
            .map(Json::from)
            .or_else(|_| u64::try_from(value.clone()).map(Json::from))
            .map_err(|_| error("the number needs more than 64 bits"));
    }
    let number = f64::try_from(value.clone())?;
    Number::from_f64(number).map(Json::Number).ok_or_else(|| error("the result is no finite number"))
}

/// A value inside text: a string as it is, null as nothing, all else as compact JSON.
pub(super) fn text(value: &Value, fuel: &mut Fuel) -> Result<String, Error> {
    if let Some(text) = value.as_str() {
        fuel.burn(text.len())?;
        return Ok(text.to_owned());
    }
    json_text(to_json(value, fuel)?)
}

/// JSON inside text, in the same form.
pub(super) fn json_text(json: Json) -> Result<String, Error> {
    match json {
        Json::Null => Ok(String::new()),
        Json::String(text) => Ok(text),
        other => written(&other, None),
    }
}

/// JSON as text, compact or indented. Escapes and indentation make it many times as large as the value, so it is
/// bounded while it is written.
pub(super) fn written(json: &Json, indent: Option<usize>) -> Result<String, Error> {
    let mut bounded = Bounded(Vec::new());
    match indent {
        None => serde_json::to_writer(&mut bounded, json),
        Some(width) => {
            let indent = " ".repeat(width);
            let format = PrettyFormatter::with_indent(indent.as_bytes());
            json.serialize(&mut Serializer::with_formatter(&mut bounded, format))
        }
    }
    .map_err(|cause| error(cause.to_string()))?;
    String::from_utf8(bounded.0).map_err(|cause| error(cause.to_string()))
}

struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> WriteResult<usize> {
        if self.0.len() + bytes.len() > JSON_BYTES_MAX {
            return Err(WriteError::other(format!("the JSON is larger than {} MiB", JSON_BYTES_MAX >> 20)));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> WriteResult<()> {
        Ok(())
    }
}

/// `value[start:end:step]` of text or a list, as in Python.
pub(super) fn slice(value: &Value, parts: [Option<Value>; 3], fuel: &mut Fuel) -> Result<Value, Error> {
    let [start, end, step] = parts.map(|part| {
        let part = part.filter(|part| !part.is_none());
        part.map(|part| i64::try_from(part).map(i128::from)).transpose()
    });
    let (start, end, step) = (start?, end?, step?.unwrap_or(1));
    if step == 0 {
        return Err(error("a slice cannot have steps of 0"));
    }
    if let Some(whole) = value.as_str() {
        fuel.burn(whole.len())?;
        let chars: Vec<char> = whole.chars().collect();
        return Ok(Value::from(positions(chars.len(), start, end, step).map(|at| chars[at]).collect::<String>()));
    }
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Err(error(format!("a value of type {} cannot be sliced", value.kind())));
    }
    let items = value.try_iter()?.checked().collect::<Result<Vec<_>, _>>()?;
    fuel.values(items.len())?;
    Ok(Value::from(positions(items.len(), start, end, step).map(|at| items[at].clone()).collect::<Vec<_>>()))
}

/// The positions that a slice of a sequence of `length` takes, all of them inside it.
fn positions(length: usize, start: Option<i128>, end: Option<i128>, step: i128) -> impl Iterator<Item = usize> {
    let length = i128::try_from(length).unwrap_or(i128::MAX);
    let (first, last) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let clamped = |at: i128| (if at < 0 { at + length } else { at }).clamp(first, last);
    let start = start.map_or(if step > 0 { first } else { last }, clamped);
    let end = end.map_or(if step > 0 { last } else { first }, clamped);
    let inside = move |at: &i128| if step > 0 { *at < end } else { *at > end };
    std::iter::successors(Some(start), move |at| Some(at + step))
        .take_while(inside)
        .filter_map(|at| usize::try_from(at).ok())
}
