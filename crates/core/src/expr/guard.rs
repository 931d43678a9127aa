//! What a filter or test costs beyond what goes in and comes out. `MiniJinja` bounds `range` and repetition, and
//! nothing else: `'a' | indent(10 ** 9)` asks for a gigabyte.

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use super::form::error;
use super::fuel::Fuel;

/// How often a comparing filter looks at each value, in round figures.
const COMPARISONS: usize = 7;
/// The longest form of a number: a float without an exponent.
const NUMBER: usize = 400;

/// Whether the work does not depend on how large the arguments are. Filters and tests share names only where this is
/// the same for both.
pub(super) fn is_constant(name: &str) -> bool {
    matches!(
        name,
        "attr"
            | "boolean"
            | "count"
            | "d"
            | "default"
            | "defined"
            | "even"
            | "false"
            | "first"
            | "integer"
            | "iterable"
            | "length"
            | "mapping"
            | "none"
            | "number"
            | "odd"
            | "sequence"
            | "true"
            | "undefined"
            | "unquoted"
    )
}

/// Pays for the arguments and for what the filter is going to do with them, before it does.
pub(super) fn pay(name: &str, arguments: &[Value], fuel: &mut Fuel) -> Result<(), Error> {
    let mut weight = 0;
    let mut heaviest = 0;
    for argument in arguments {
        let one = fuel.weigh(argument)?;
        weight += one;
        heaviest = heaviest.max(one);
    }
    let text = arguments.first().and_then(Value::as_str);
    let second = arguments.get(1);
    pay_attribute(name, arguments, weight, fuel)?;
    match name {
        "dictsort" | "groupby" | "max" | "min" | "sort" | "unique" => {
            fuel.burn(weight.saturating_mul(COMPARISONS))?;
            fuel.values(text.map_or(0, str::len))
        }
        "batch" | "slice" => {
            let count = second.and_then(Value::as_usize).unwrap_or(0);
            let items = arguments.first().and_then(Value::len).unwrap_or(0);
            fuel.values(count)?;
            fuel.lists(if name == "slice" { count } else { items / count.max(1) })?;
            fuel.values(text.map_or(0, str::len))
        }
        // Text is a sequence of characters to these.
        "chain" | "join" | "list" | "map" | "reject" | "rejectattr" | "select" | "selectattr" | "zip" => {
            arguments.iter().try_for_each(|argument| fuel.values(argument.as_str().map_or(0, str::len)))
        }
        "lines" => fuel.values(text.map_or(0, |text| text.matches('\n').count())),
        "split" => fuel.values(text.map_or(0, |text| match second.and_then(Value::as_str) {
            Some(separator) => text.matches(separator).count(),
            None => text.split_whitespace().count(),
        })),
        "trim" => {
            let set = second.and_then(Value::as_str).map_or(0, str::len);
            fuel.burn(text.map_or(0, str::len).saturating_mul(set))
        }
        "indent" => {
            let width = second.and_then(Value::as_usize).or_else(|| named(arguments, "width")?.as_usize());
            fuel.burn(text.map_or(1, |text| 1 + text.matches('\n').count()).saturating_mul(width.unwrap_or(4)))
        }
        "format" => {
            let text = text.unwrap_or_default();
            // `%(name)s` can be written often, and `%*d` takes a width from the arguments.
            fuel.burn(text.matches('%').count().saturating_mul(heaviest.saturating_add(NUMBER)))?;
            fuel.burn(widths(text))?;
            let widths = arguments.iter().filter_map(Value::as_usize).fold(0, usize::saturating_add);
            fuel.burn(if text.contains('*') { widths } else { 0 })
        }
        "sum" => sum_start(arguments),
        _ => Ok(()),
    }
}

/// Pays for a path such as `a.b`, which is taken apart and looked up for every item, and for a list of keys `a,b`,
/// which makes a copy of every key.
fn pay_attribute(name: &str, arguments: &[Value], weight: usize, fuel: &mut Fuel) -> Result<(), Error> {
    let positional = matches!(name, "groupby" | "rejectattr" | "selectattr" | "sum");
    let attribute = named(arguments, "attribute").or_else(|| arguments.get(1).filter(|_| positional).cloned());
    let Some(attribute) = attribute.as_ref().and_then(Value::as_str) else { return Ok(()) };
    let items = arguments.first().and_then(Value::len).unwrap_or(0);
    let parts = 1 + attribute.matches(['.', ',']).count();
    fuel.values(items.saturating_mul(parts))?;
    fuel.burn(items.saturating_mul(attribute.len()))?;
    let keys = attribute.matches(',').count();
    fuel.values(items.saturating_mul(keys).saturating_mul(COMPARISONS))?;
    fuel.burn(weight.saturating_mul(keys))
}

/// Refuses a sum that starts at something else than a number: adding up texts or lists copies them again and again.
fn sum_start(arguments: &[Value]) -> Result<(), Error> {
    let start = arguments.get(2).filter(|start| !start.is_kwargs()).cloned().or_else(|| named(arguments, "start"));
    match start {
        Some(start) if start.kind() != ValueKind::Number && !start.is_none() => {
            Err(error("only numbers can be summed; use `join` or `chain`"))
        }
        _ => Ok(()),
    }
}

/// An argument that is given by name. Those come together, as the last one.
pub(super) fn named(arguments: &[Value], name: &str) -> Option<Value> {
    let last = arguments.last().filter(|last| last.is_kwargs())?;
    last.get_attr(name).ok().filter(|value| !value.is_undefined())
}

/// The sum of all numbers in a format, which is at least the sum of its widths and precisions.
fn widths(format: &str) -> usize {
    format
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().unwrap_or(usize::MAX))
        .fold(0, usize::saturating_add)
}
