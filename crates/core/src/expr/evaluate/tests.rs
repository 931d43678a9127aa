use std::borrow::Cow;
use std::cell::RefCell;

use serde_json::{Value, json};

use super::{Names, RESULT_BYTES_MAX, holds, text, value};

mod hostile;

struct World(Value);

impl Names for World {
    fn value(&self, root: &str, _paths: &[Vec<String>]) -> Option<Cow<'_, Value>> {
        self.0.get(root).map(Cow::Borrowed)
    }
}

fn world() -> World {
    World(json!({
        "params": {"x": "{{ params.y }}", "y": "secret", "n": 3, "none": null, "my-key": 1, "which": "n"},
        "nodes": {"a": {"output": {"rows": 4, "list": [1, 2, 3]}}, "skipped": {"output": null}},
        "items": [{"k": "b", "v": 2}, {"k": "a", "v": 1}],
        "big": u64::MAX,
        "deep": deep(100),
        "long": "x".repeat(500_000),
        "many": vec![1; 50_000],
    }))
}

fn deep(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!([inner]))
}

fn message(source: &str) -> String {
    value(source, &world()).unwrap_err().message
}

#[test]
fn expressions_have_values() {
    // R-EXPR-1
    for (source, expected) in [
        ("nodes.a.output.rows > 3", json!(true)),
        ("nodes['a'].output.list[-1]", json!(3)),
        ("params['my-key'] + 1", json!(2)),
        ("params[params.which]", json!(3)),
        ("items[params.n - 2].k", json!("a")),
        ("params.y[0] ~ params.y[-1]", json!("st")),
        ("nodes.a.output.list[1:]", json!([2, 3])),
        ("nodes.a.output.list[::-1]", json!([3, 2, 1])),
        ("'abc'[0:2:-1]", json!("")),
        ("items | map(attribute='v') | sum", json!(3)),
        ("items | sort(attribute='k') | map(attribute='k') | join(',')", json!("a,b")),
        ("items | selectattr('v', 'gt', 1) | list", json!([{"k": "b", "v": 2}])),
        ("items | groupby('k') | map(attribute='grouper') | list", json!(["a", "b"])),
        ("(items | first).k", json!("b")),
        ("items | join('-', attribute='v')", json!("2-1")),
        ("{'a': [params.n, 1.5], 'b': none}", json!({"a": [3, 1.5], "b": null})),
        ("dict(a=1, **{'b': 2})", json!({"a": 1, "b": 2})),
        ("range(3) | list", json!([0, 1, 2])),
        ("range(*[4, 0, -2])", json!([4, 2])),
        ("'x' if false", json!(null)),
        ("1 < params.n <= 3 and 'a' in ['a']", json!(true)),
        ("'k' not in items[0]", json!(false)),
        ("7 // 2 + 7 % 4 - 2 ** 3", json!(-2)),
        ("-7 // 2", json!(-4)),
        ("6 / 2", json!(3.0)),
        ("'a' * 3 + 'b'", json!("aaab")),
        ("[1] * 2 + [2]", json!([1, 1, 2])),
        ("none or 'x'", json!("x")),
        ("'a<b' | tojson", json!("\"a<b\"")),
        ("{'a': [1]} | tojson", json!("{\"a\":[1]}")),
        ("[1] | tojson(indent=1)", json!("[\n 1\n]")),
        ("params.y | unquoted", json!("secret")),
        ("'a-b' | replace('-', '+') | upper", json!("A+B")),
        ("4 is divisibleby 2 and not 4 is divisibleby(0)", json!(true)),
        ("'%05.1f|%s' | format(2.5, 'x')", json!("002.5|x")),
    ] {
        assert_eq!(value(source, &world()).map_err(|error| error.message), Ok(expected), "{source}");
    }
}

#[test]
fn numbers_survive() {
    // R-EXPR-1
    for number in
        [json!(u64::MAX), json!(i64::MIN), json!(i64::MAX), json!(0), json!(1.0), json!(-2.5e-300), json!(1e300)]
    {
        let names = World(json!({"x": number}));
        assert_eq!(value("x", &names), Ok(number.clone()));
        assert_eq!(value("[x] | first", &names), Ok(number));
    }
    for (source, part) in [
        ("1e308 * 10", "no finite number"),
        ("1 / 0", "1 / 0"),
        ("big * 2", "64 bits"),
        ("2 ** 200", "2 ** 200"),
        ("[[1e308 * 10]]", "no finite number"),
        ("'nan' | float", "no finite number"),
        ("['a'] | sum(start='')", "only numbers can be summed"),
    ] {
        assert!(message(source).contains(part), "{source}: {}", message(source));
    }
}

#[test]
fn what_is_not_there_is_named() {
    // R-EXPR-1
    for (source, expected) in [
        ("output.rows > 3", "`output.rows > 3`: there is no `output`"),
        ("nodes.a.output.row > 3", "`nodes.a.output.row > 3`: `nodes.a.output` has no `row`"),
        ("nodes.b.output.row", "`nodes.b.output.row`: `nodes` has no `b`"),
        ("nodes['b-c'].output", "`nodes['b-c'].output`: `nodes` has no `b-c`"),
        ("nodes.skipped.output.rows", "`nodes.skipped.output.rows`: `nodes.skipped.output` is null and has no `rows`"),
        ("items[7].k", "`items[7].k`: `items` has no item 7"),
        ("items[-3]", "`items[-3]`: `items` has no item -3"),
        ("params[params.y]", "`params[params.y]`: `params` has no `secret`"),
        ("(items | first).z", "`(items | first).z`: the value has no `z`"),
        ("[] | first", "`[] | first`: filter `first` found nothing"),
        ("params.gone | upper", "`params.gone | upper`: `params` has no `gone`"),
        ("not params.gone", "`not params.gone`: `params` has no `gone`"),
        ("params.gone if true else 1", "`params.gone if true else 1`: `params` has no `gone`"),
        ("[params.gone]", "`[params.gone]`: `params` has no `gone`"),
        ("x is none", "`x is none`: there is no `x`"),
        ("items | map('uper')", "`items | map('uper')`: filter `map`: there is no filter `uper`"),
        ("items | map(attribute='z')", "`items | map(attribute='z')`: a part of the result has no value"),
        ("x | uper", "`x | uper`: there is no filter `uper`"),
        ("'10' > 3", "`'10' > 3`: values of type string and number have no order"),
        ("1 in 2", "`1 in 2`: `in` needs text, a list or a map, not a value of type number"),
    ] {
        assert_eq!(message(source), expected);
    }
}

#[test]
fn what_is_tested_need_not_be_there() {
    // R-EXPR-1
    for (source, expected) in [
        ("output is defined", json!(false)),
        ("params.gone.deeper is undefined", json!(true)),
        ("nodes.skipped.output.rows | default(0)", json!(0)),
        ("(items | first).z | d('-')", json!("-")),
        ("params.n | default(0)", json!(3)),
        ("params.none | default(1)", json!(null)),
        ("params.none | default(1, true)", json!(1)),
        ("params.gone is defined and params.gone > 3", json!(false)),
        ("params[params.gone] is defined or true", json!("error")),
    ] {
        assert_eq!(value(source, &world()).unwrap_or(json!("error")), expected, "{source}");
    }
}

#[test]
fn conditions_hold_as_in_jinja() {
    for (source, expected) in [
        ("1", true),
        ("0", false),
        ("''", false),
        ("[]", false),
        ("params.none", false),
        ("'false'", true),
        ("{}", false),
    ] {
        assert_eq!(holds(source, &world()), Ok(expected), "{source}");
    }
    assert!(holds("params.gone", &world()).is_err());
}

#[test]
fn values_in_text_are_strings_or_json() {
    // R-EXPR-1
    for (template, expected) in [
        ("a {{ params.y }} b", "a secret b"),
        ("[{{ params.none }}]", "[]"),
        ("{{ true }} {{ 1.0 }} {{ -3 }} {{ big }}", "true 1.0 -3 18446744073709551615"),
        ("{{ nodes.a.output }}", r#"{"rows":4,"list":[1,2,3]}"#),
        ("{{ [none, 'a<b'] }}", r#"[null,"a<b"]"#),
        ("{{ '<b>' }}{{ 'x' if false }}", "<b>"),
        ("{{ 'a' ~ none ~ [1] }}{{ [1, none] | join('-') }}{{ {'a': 1} | string }}", r#"a[1]1-{"a":1}"#),
        ("{{ '{{' }} ${x} {a}", "{{ ${x} {a}"),
        ("", ""),
    ] {
        assert_eq!(text(template, &world()).map_err(|error| error.message).as_deref(), Ok(expected), "{template}");
    }
    assert_eq!(text("a {{ b", &world()).unwrap_err().message, "`a {{ b`: this `{{` has no `}}`");
}

#[test]
fn values_are_never_evaluated_again() {
    // R-EXPR-1
    assert_eq!(text("{{ params.x }}", &world()).as_deref(), Ok("{{ params.y }}"));
    assert_eq!(super::json(&json!({"a": "{{ params.x }}"}), &world()), Ok(json!({"a": "{{ params.y }}"})));
    assert_eq!(value("params.x ~ ''", &world()), Ok(json!("{{ params.y }}")));
}

#[test]
fn a_tree_keeps_the_types_of_whole_values() {
    // R-EXPR-1
    let tree = json!({"{{ key }}": ["{{ params.n }}", "n={{ params.n }}", " {{ params.n }}", 1, null, true]});
    assert_eq!(super::json(&tree, &world()), Ok(json!({"{{ key }}": [3, "n=3", " 3", 1, null, true]})));
    assert_eq!(super::json(&json!("{{ nodes.a.output.list }}"), &world()), Ok(json!([1, 2, 3])));
}

#[test]
fn names_are_asked_for_what_is_read_and_once() {
    struct Asked(RefCell<Vec<String>>);
    impl Names for Asked {
        fn value(&self, root: &str, paths: &[Vec<String>]) -> Option<Cow<'_, Value>> {
            let paths: Vec<_> = paths.iter().map(|path| path.join("/")).collect();
            self.0.borrow_mut().push(format!("{root}: {}", paths.join(" ")));
            Some(Cow::Owned(json!({"a": 1, "b": {"c": 2}})))
        }
    }
    let asked = Asked(RefCell::default());
    assert_eq!(value("x.a + x.b.c + y['a'] + y[x.none | default('a')]", &asked), Ok(json!(5)));
    assert_eq!(*asked.0.borrow(), ["x: a b/c none", "y: a "]);
}

#[test]
fn results_have_a_largest_size() {
    // R-EXPR-1
    let names = World(json!({"x": "x".repeat(RESULT_BYTES_MAX - 2), "y": "y".repeat(RESULT_BYTES_MAX / 2 + 1)}));
    assert!(value("x", &names).is_ok());
    assert!(text("{{ x }}ab", &names).is_ok());
    let template = json!(["{{ y }}", "{{ y }}"]);
    for error in [
        value("x ~ 'a'", &names).unwrap_err(),
        text("{{ x }}abc", &names).unwrap_err(),
        super::json(&template, &names).unwrap_err(),
    ] {
        assert!(error.message.ends_with("the result is larger than 1 MiB"), "{}", error.message);
    }
    assert_eq!(holds("x", &names), Ok(true));
}

#[test]
fn ordinary_data_is_within_the_limits() {
    let row =
        |id: usize| json!({"id": id, "name": format!("name {}", id % 100), "ok": id.is_multiple_of(2), "score": 1.5});
    let names =
        World(json!({"rows": (0..10_000).map(row).collect::<Vec<_>>(), "log": "a line of text\n".repeat(50_000)}));
    for (source, expected) in [
        ("rows | length", json!(10_000)),
        ("rows | selectattr('ok') | map(attribute='id') | list | length", json!(5_000)),
        ("(rows | sort(attribute='name,id') | last).id", json!(9_999)),
        ("rows | map(attribute='name') | unique | list | length", json!(100)),
        ("rows | map(attribute='score') | sum", json!(15_000.0)),
        ("(rows | groupby('name') | first).list | length", json!(100)),
        ("rows | tojson | length > 500000", json!(true)),
        ("(log | lines)[-1]", json!("a line of text")),
        ("log | trim | replace('text', 'words') | split('\n') | length", json!(50_000)),
    ] {
        assert_eq!(value(source, &names).map_err(|error| error.message), Ok(expected), "{source}");
    }
}
