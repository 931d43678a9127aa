//! How JSON becomes a value of an expression and back, and how a value looks in text.

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};
use serde_json::{Map, Number, Value as Json};

use super::fuel::Fuel;

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
            Value::from(items.iter().map(|item| from_json(item, fuel)).collect::<Result<Vec<_>, _>>()?)
        }
        Json::Object(entries) => {
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
        ValueKind::Seq | ValueKind::Iterable => Json::Array(
            value.try_iter()?.checked().map(|item| to_json(&item?, fuel)).collect::<Result<Vec<_>, Error>>()?,
        ),
        ValueKind::Map => {
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
    Ok(json_text(to_json(value, fuel)?))
}

/// JSON inside text, in the same form.
pub(super) fn json_text(json: Json) -> String {
    match json {
        Json::Null => String::new(),
        Json::String(text) => text,
        other => other.to_string(),
    }
}

/// `value[start:stop:step]` of text or a list, as in Python.
pub(super) fn slice(value: &Value, parts: [Option<Value>; 3], fuel: &mut Fuel) -> Result<Value, Error> {
    let [start, stop, step] = parts.map(|part| {
        let part = part.filter(|part| !part.is_none());
        part.map(|part| i64::try_from(part).map(i128::from)).transpose()
    });
    let (start, stop, step) = (start?, stop?, step?.unwrap_or(1));
    if step == 0 {
        return Err(error("a slice cannot have steps of 0"));
    }
    if let Some(whole) = value.as_str() {
        fuel.burn(whole.len())?;
        let chars: Vec<char> = whole.chars().collect();
        return Ok(Value::from(positions(chars.len(), start, stop, step).map(|at| chars[at]).collect::<String>()));
    }
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Err(error(format!("a value of type {} cannot be sliced", value.kind())));
    }
    let items = value.try_iter()?.checked().collect::<Result<Vec<_>, _>>()?;
    fuel.values(items.len())?;
    Ok(Value::from(positions(items.len(), start, stop, step).map(|at| items[at].clone()).collect::<Vec<_>>()))
}

/// The positions that a slice of a sequence of `length` takes, all of them inside it.
fn positions(length: usize, start: Option<i128>, stop: Option<i128>, step: i128) -> impl Iterator<Item = usize> {
    let length = i128::try_from(length).unwrap_or(i128::MAX);
    let (first, last) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let clamped = |at: i128| (if at < 0 { at + length } else { at }).clamp(first, last);
    let start = start.map_or(if step > 0 { first } else { last }, clamped);
    let stop = stop.map_or(if step > 0 { last } else { first }, clamped);
    let inside = move |at: &i128| if step > 0 { *at < stop } else { *at > stop };
    std::iter::successors(Some(start), move |at| Some(at + step))
        .take_while(inside)
        .filter_map(|at| usize::try_from(at).ok())
}
