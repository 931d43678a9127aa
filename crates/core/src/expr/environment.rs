//! The filters, tests and functions as they exist at evaluation: those of [`allowed`](super::allowed), each behind a
//! guard that pays for its work, and ours where `MiniJinja`'s would write HTML, abort or grow without bound.

use std::sync::OnceLock;

use minijinja::value::{Rest, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior, Value, filters, functions, tests};

use super::allowed::{FILTERS, FUNCTIONS, TESTS};
use super::form::error;
use super::fuel::Fuel;
use super::{guard, own};

/// The one environment. It never changes, so it is built once.
pub(super) fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(build)
}

/// The fuel that the filters of an evaluation share.
pub(super) fn fuel<'state>(state: &'state mut State<'_, '_>) -> &'state mut Fuel {
    state.get_or_insert_extension_with(Fuel::full)
}

fn build() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // Debug information would copy the source and the values into every error.
    environment.set_debug(false);
    for name in FILTERS {
        if let Some(filter) = filter(name) {
            environment.add_filter(name, guarded(name, filter));
        }
    }
    for name in TESTS {
        if let Some(test) = test(name) {
            environment.add_test(name, guarded(name, test));
        }
    }
    for name in FUNCTIONS {
        if let Some(function) = function(name) {
            environment.add_function(name, guarded(name, function));
        }
    }
    environment
}

/// `inner` behind a guard. The guard is part of the filter because `map` and `select` call filters and tests by name.
fn guarded(
    name: &'static str,
    inner: Value,
) -> impl Fn(&mut State<'_, '_>, Rest<ValueOrKwargs>) -> Result<Value, Error> + Send + Sync + 'static {
    move |state, arguments| {
        let arguments = arguments.into_values();
        if guard::is_constant(name) {
            return inner.call(state, &arguments);
        }
        guard::pay(name, &arguments, fuel(state))?;
        let result = inner.call(state, &arguments).map_err(|cause| named(cause, &arguments))?;
        fuel(state).settled(result)
    }
}

/// `map('uper')` only says that there is no such filter, not which.
fn named(cause: Error, arguments: &[Value]) -> Error {
    let what = match cause.kind() {
        ErrorKind::UnknownFilter => "filter",
        ErrorKind::UnknownTest => "test",
        _ => return cause,
    };
    if cause.detail().is_some() {
        return cause;
    }
    let names: Vec<_> = arguments.iter().skip(1).filter_map(Value::as_str).map(|name| format!("`{name}`")).collect();
    error(format!("there is no {what} {}", names.join(" or ")))
}

fn filter(name: &str) -> Option<Value> {
    Some(match name {
        "abs" => Value::from_function(filters::abs),
        "attr" => Value::from_function(filters::attr),
        "batch" => Value::from_function(filters::batch),
        "bool" => Value::from_function(filters::bool),
        "capitalize" => Value::from_function(filters::capitalize),
        "chain" => Value::from_function(filters::chain),
        "count" | "length" => Value::from_function(filters::length),
        "d" | "default" => Value::from_function(filters::default),
        "dictsort" => Value::from_function(filters::dictsort),
        "first" => Value::from_function(filters::first),
        "float" => Value::from_function(filters::float),
        "format" => Value::from_function(filters::format),
        "groupby" => Value::from_function(filters::groupby),
        "indent" => Value::from_function(filters::indent),
        "int" => Value::from_function(filters::int),
        "items" => Value::from_function(filters::items),
        "join" => Value::from_function(own::join),
        "last" => Value::from_function(filters::last),
        "lines" => Value::from_function(filters::lines),
        "list" => Value::from_function(filters::list),
        "lower" => Value::from_function(filters::lower),
        "map" => Value::from_function(filters::map),
        "max" => Value::from_function(filters::max),
        "min" => Value::from_function(filters::min),
        "reject" => Value::from_function(filters::reject),
        "rejectattr" => Value::from_function(filters::rejectattr),
        "replace" => Value::from_function(own::replace),
        "reverse" => Value::from_function(filters::reverse),
        "round" => Value::from_function(filters::round),
        "select" => Value::from_function(filters::select),
        "selectattr" => Value::from_function(filters::selectattr),
        "slice" => Value::from_function(filters::slice),
        "sort" => Value::from_function(filters::sort),
        "split" => Value::from_function(filters::split),
        "string" => Value::from_function(own::string),
        "sum" => Value::from_function(filters::sum),
        "title" => Value::from_function(filters::title),
        "tojson" => Value::from_function(own::tojson),
        "trim" => Value::from_function(filters::trim),
        "unique" => Value::from_function(filters::unique),
        "unquoted" => Value::from_function(own::unquoted),
        "upper" => Value::from_function(filters::upper),
        "zip" => Value::from_function(filters::zip),
        _ => return None,
    })
}

fn test(name: &str) -> Option<Value> {
    Some(match name {
        "defined" => Value::from_function(tests::is_defined),
        "undefined" => Value::from_function(tests::is_undefined),
        "none" => Value::from_function(tests::is_none),
        "boolean" => Value::from_function(tests::is_boolean),
        "odd" => Value::from_function(tests::is_odd),
        "even" => Value::from_function(tests::is_even),
        "divisibleby" => Value::from_function(own::is_divisible_by),
        "number" => Value::from_function(tests::is_number),
        "integer" | "int" => Value::from_function(tests::is_integer),
        "float" => Value::from_function(tests::is_float),
        "string" => Value::from_function(tests::is_string),
        "sequence" => Value::from_function(tests::is_sequence),
        "iterable" => Value::from_function(tests::is_iterable),
        "mapping" => Value::from_function(tests::is_mapping),
        "startingwith" => Value::from_function(tests::is_startingwith),
        "endingwith" => Value::from_function(tests::is_endingwith),
        "lower" => Value::from_function(tests::is_lower),
        "upper" => Value::from_function(tests::is_upper),
        "sameas" => Value::from_function(tests::is_sameas),
        "eq" | "equalto" => Value::from_function(tests::is_eq),
        "ne" => Value::from_function(tests::is_ne),
        "lt" | "lessthan" => Value::from_function(tests::is_lt),
        "le" => Value::from_function(tests::is_le),
        "gt" | "greaterthan" => Value::from_function(tests::is_gt),
        "ge" => Value::from_function(tests::is_ge),
        "in" => Value::from_function(tests::is_in),
        "true" => Value::from_function(tests::is_true),
        "false" => Value::from_function(tests::is_false),
        _ => return None,
    })
}

fn function(name: &str) -> Option<Value> {
    Some(match name {
        "dict" => Value::from_function(functions::dict),
        "range" => Value::from_function(own::range),
        _ => return None,
    })
}

#[cfg(test)]
mod test {
    use std::collections::BTreeSet;

    use super::{FILTERS, FUNCTIONS, TESTS, environment};

    /// The names that the environment shows under a heading of its debug form: the only full list that it gives.
    fn listed(heading: &str) -> BTreeSet<String> {
        let shown = format!("{:?}", environment());
        let (_, list) = shown.split_once(&format!("{heading}: [")).unwrap();
        let (list, _) = list.split_once(']').unwrap();
        list.split(", ").map(|name| name.trim_matches('"').to_owned()).collect()
    }

    #[test]
    fn exactly_what_load_time_allows_exists() {
        // R-EXPR-1
        let expected = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(listed("filters"), expected(&FILTERS));
        assert_eq!(listed("tests"), expected(&TESTS));
        let functions: BTreeSet<_> = environment().globals().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(functions, expected(&FUNCTIONS));
        assert!(environment().templates().next().is_none());
    }
}
