//! Filters, tests and functions that are ours.

use minijinja::value::Kwargs;
use minijinja::{Error, State, Value};

use super::environment::fuel;
use super::form::{error, text, to_json, written};

/// How far `tojson` may indent.
const INDENT_MAX: usize = 16;
/// How many items `range` may have: as many as `MiniJinja`'s.
const RANGE_MAX: i128 = 100_000;

/// The value itself: the mark is for the shell that a script is written for (`R-EXPR-2`).
pub(super) fn unquoted(value: Value) -> Value {
    value
}

/// The value in the form that it has in text.
pub(super) fn string(state: &mut State<'_, '_>, value: Value) -> Result<Value, Error> {
    if value.as_str().is_some() {
        return Ok(value);
    }
    text(&value, fuel(state)).map(Value::from)
}

/// Items in the form that they have in text, with `joiner` between them.
#[expect(clippy::needless_pass_by_value, reason = "arguments by name come by value only")]
pub(super) fn join(
    state: &mut State<'_, '_>,
    value: Value,
    joiner: Option<Value>,
    options: Kwargs,
) -> Result<Value, Error> {
    let joiner = joiner.or(options.get("d")?).map(|joiner| text(&joiner, fuel(state))).transpose()?.unwrap_or_default();
    let value = match options.get::<Option<Value>>("attribute")? {
        Some(attribute) => {
            let options = Kwargs::from_iter([("attribute", attribute)]);
            state.apply_filter("map", &[value, Value::from(options)])?
        }
        None => value,
    };
    options.assert_all_used()?;
    let mut whole = String::new();
    for (at, item) in value.try_iter()?.checked().enumerate() {
        if at > 0 {
            fuel(state).burn(joiner.len())?;
            whole.push_str(&joiner);
        }
        whole.push_str(&text(&item?, fuel(state))?);
    }
    Ok(Value::from(whole))
}

/// Text with every `from` replaced.
pub(super) fn replace(state: &mut State<'_, '_>, value: &Value, from: &Value, to: &Value) -> Result<Value, Error> {
    let fuel = fuel(state);
    let (value, from, to) = (text(value, fuel)?, text(from, fuel)?, text(to, fuel)?);
    fuel.burn(value.matches(from.as_str()).count().saturating_mul(to.len()))?;
    Ok(Value::from(value.replace(&from, &to)))
}

/// JSON as it is. `MiniJinja`'s own escapes it for HTML.
#[expect(clippy::needless_pass_by_value, reason = "arguments by name come by value only")]
pub(super) fn tojson(
    state: &mut State<'_, '_>,
    value: &Value,
    indent: Option<Value>,
    options: Kwargs,
) -> Result<Value, Error> {
    let indent = indent.or(options.get("indent")?);
    options.assert_all_used()?;
    let json = to_json(value, fuel(state))?;
    let width = match indent.filter(|indent| !indent.is_none()) {
        None => None,
        Some(indent) => match bool::try_from(indent.clone()) {
            Ok(true) => Some(2),
            Ok(false) => None,
            Err(_) => Some(usize::try_from(indent)?),
        },
    };
    if width.is_some_and(|width| width > INDENT_MAX) {
        return Err(error(format!("`tojson` indents by {INDENT_MAX} at most")));
    }
    written(&json, width).map(Value::from)
}

/// Whether the remainder is 0. `MiniJinja`'s own aborts when the divisor is.
pub(super) fn is_divisible_by(value: Value, divisor: Value) -> bool {
    if value.is_integer() && divisor.is_integer() {
        return match (i128::try_from(value), i128::try_from(divisor)) {
            (Ok(value), Ok(divisor)) => divisor != 0 && value.checked_rem(divisor).unwrap_or(0) == 0,
            _ => false,
        };
    }
    match (f64::try_from(value), f64::try_from(divisor)) {
        (Ok(value), Ok(divisor)) => value % divisor == 0.0,
        _ => false,
    }
}

/// The numbers from `lower` up to and without `upper`. `MiniJinja`'s own overflows at the ends of the integers.
pub(super) fn range(lower: i64, upper: Option<i64>, step: Option<i64>) -> Result<Value, Error> {
    let (start, end) = upper.map_or((0, i128::from(lower)), |upper| (i128::from(lower), i128::from(upper)));
    let step = i128::from(step.unwrap_or(1));
    if step == 0 {
        return Err(error("`range` cannot have steps of 0"));
    }
    let distance = if step > 0 { end - start } else { start - end };
    let count = (distance.max(0) + step.abs() - 1) / step.abs();
    if count > RANGE_MAX {
        return Err(error(format!("`range` gives {RANGE_MAX} numbers at most")));
    }
    let numbers = (0..count).map(|at| i64::try_from(start + at * step).map(Value::from));
    numbers.collect::<Result<Vec<_>, _>>().map(Value::from).map_err(|cause| error(cause.to_string()))
}
