//! Purses, settled and overdrawn.

use proptest::prelude::*;

use super::{Allowance, Budget, Exceeded, Purse, Usage, expected};

fn usage(tokens_in: u64, tokens_out: u64, usd: f64) -> Usage {
    Usage { tokens_in, tokens_out, usd }
}

fn limits(tokens: impl Into<Option<u64>>, usd: impl Into<Option<f64>>) -> Allowance {
    Allowance { tokens: tokens.into(), usd: usd.into() }
}

fn purse(limits: Allowance) -> Purse<u32> {
    Purse::new(limits, &Usage::default())
}

#[test]
fn what_is_reserved_is_not_there_for_others() {
    // R-REC-6
    let mut purse = purse(limits(1_000, 2.0));
    purse.reserve(1, &usage(300, 300, 1.0)).unwrap();
    let refused = purse.reserve(2, &usage(300, 300, 1.0)).unwrap_err();
    assert_eq!(refused, Exceeded { expected: usage(300, 300, 1.0), left: limits(400, 1.0) });
    assert_eq!(refused.to_string(), "expected to cost 600 tokens and 1 USD; 400 tokens and 1 USD are left");
    assert_eq!(purse.left(), limits(400, 1.0), "a refusal changes nothing");
    purse.reserve(2, &usage(200, 200, 1.0)).unwrap();
    assert_eq!(purse.left(), limits(0, 0.0));
    assert_eq!(purse.holders().collect::<Vec<_>>(), [&1, &2]);
}

#[test]
fn an_attempt_settles_for_what_it_cost() {
    // R-REC-6
    for (actual, spent, left) in [
        (Some(usage(10, 20, 0.25)), usage(10, 20, 0.25), limits(970, 1.75)),
        (Some(usage(900, 900, 3.0)), usage(900, 900, 3.0), limits(0, 0.0)),
        (Some(usage(0, 0, 0.0)), usage(0, 0, 0.0), limits(1_000, 2.0)),
        // Interrupted or not told: the reservation counts as spent.
        (None, usage(300, 300, 1.0), limits(400, 1.0)),
        // What is no sum of money: the reserved one.
        (Some(usage(10, 20, f64::NAN)), usage(10, 20, 1.0), limits(970, 1.0)),
        (Some(usage(10, 20, -5.0)), usage(10, 20, 1.0), limits(970, 1.0)),
        (Some(usage(10, 20, -0.0)), usage(10, 20, 0.0), limits(970, 2.0)),
    ] {
        let mut purse = purse(limits(1_000, 2.0));
        purse.reserve(1, &usage(300, 300, 1.0)).unwrap();
        purse.settle(&1, actual.as_ref());
        assert_eq!((purse.spent(), purse.left()), (spent, left), "{actual:?}");
        assert!(purse.spent().usd.is_sign_positive());
        // An outcome told twice without its cost is counted once.
        purse.settle(&1, None);
        assert_eq!(purse.spent(), spent, "{actual:?}");
    }
}

#[test]
fn what_an_attempt_spent_counts_even_if_it_reserved_nothing() {
    // R-REC-6
    let mut purse = purse(limits(100, None));
    purse.settle(&9, Some(&usage(30, 0, 0.5)));
    assert_eq!((purse.spent(), purse.left()), (usage(30, 0, 0.5), limits(70, None)));
}

#[test]
fn reserving_again_replaces_and_a_refusal_keeps_the_first() {
    // R-REC-6
    let mut purse = purse(limits(100, None));
    purse.reserve(1, &usage(80, 0, 0.0)).unwrap();
    purse.reserve(1, &usage(90, 0, 0.0)).unwrap();
    assert_eq!(purse.left(), limits(10, None));
    let refused = purse.reserve(1, &usage(101, 0, 0.0)).unwrap_err();
    assert_eq!(refused.left, limits(100, None));
    assert_eq!(purse.left(), limits(10, None));
}

#[test]
fn a_raise_adds_to_the_limits_there_are() {
    // R-REC-6
    let mut purse = purse(limits(100, 1.0));
    purse.settle(&1, Some(&usage(150, 0, 2.0)));
    assert!(!purse.fits(&usage(10, 0, 0.1)));
    purse.raise(&limits(60, None));
    assert_eq!(purse.left(), limits(10, 0.0));
    assert!(!purse.fits(&usage(10, 0, 0.1)), "the money is still short");
    purse.raise(&limits(None, 1.1));
    assert!(purse.fits(&usage(10, 0, 0.1)));
    for nothing in [f64::NAN, -3.0, -0.0] {
        purse.raise(&limits(None, nothing));
    }
    assert_eq!(purse.left(), limits(10, 0.1));
    let mut free = Purse::<u32>::new(Allowance::default(), &Usage::default());
    free.raise(&limits(5, 5.0));
    assert_eq!(free.left(), limits(None, None));
}

#[test]
fn cost_fits_up_to_the_last_part_of_a_dollar() {
    // R-REC-6
    for (limit, cost, fits) in [
        (limits(None, None), usage(u64::MAX, u64::MAX, f64::INFINITY), true),
        (limits(10, None), usage(5, 5, 99.0), true),
        (limits(10, None), usage(6, 5, 0.0), false),
        (limits(10, None), usage(u64::MAX, 1, 0.0), false),
        (limits(None, 0.3), usage(9, 9, 0.1 + 0.2), true),
        (limits(None, 0.3), usage(9, 9, 0.300_000_01), false),
        (limits(None, 0.3), usage(9, 9, f64::INFINITY), false),
        (limits(0, 0.0), usage(1, 0, 0.0), false),
        // A model that costs no money needs none.
        (limits(None, 0.0), usage(1, 0, 0.0), true),
        // Of unknown cost: while anything is left.
        (limits(1, 0.1), usage(0, 0, 0.0), true),
        (limits(1, 0.0), usage(0, 0, 0.0), false),
        (limits(0, 0.1), usage(0, 0, 0.0), false),
        (limits(None, None), usage(0, 0, 0.0), true),
        // A limit that is no sum of money allows none.
        (limits(None, f64::NAN), usage(1, 0, 0.1), false),
        (limits(None, -1.0), usage(1, 0, 0.1), false),
    ] {
        assert_eq!(purse(limit).fits(&cost), fits, "{limit:?} {cost:?}");
    }
}

#[test]
fn small_sums_add_up_exactly() {
    // R-REC-6
    let mut purse = purse(limits(None, 100_000.0));
    for key in 0..1_000_000 {
        purse.settle(&key, Some(&usage(0, 0, 0.1)));
    }
    assert_eq!(purse.left(), limits(None, 0.0));
    assert!((purse.spent().usd - 100_000.0).abs() < f64::EPSILON);
}

#[test]
fn a_lineage_goes_on_with_what_it_has_spent() {
    // R-REC-6
    let budget = Budget { tokens: Some(100), usd: Some(1.0), on_exceeded: None };
    let mut first: Purse<&str> = Purse::new(Allowance::from(&budget), &Usage::default());
    first.reserve("a", &usage(40, 0, 0.5)).unwrap();
    // Whoever takes over settles what died.
    first.settle(&"a", None);
    let next: Purse<&str> = Purse::new(Allowance::from(&budget), &first.spent());
    assert_eq!(next.left(), limits(60, 0.5));
}

#[test]
fn the_expected_cost_is_what_is_known_best() {
    // R-REC-6
    let (ledger, most) = (usage(10, 10, 0.1), usage(1_000, 1_000, 9.0));
    for (known, model_max, cost) in [
        (Some(ledger), Some(most), ledger),
        (Some(ledger), None, ledger),
        (None, Some(most), most),
        (None, None, Usage::default()),
        (Some(Usage::default()), Some(most), most),
        (Some(usage(5, 5, f64::NAN)), Some(most), most),
        (Some(usage(5, 5, -1.0)), None, Usage::default()),
        (None, Some(usage(5, 5, f64::NAN)), Usage::default()),
    ] {
        assert_eq!(expected(known.as_ref(), model_max.as_ref()), cost, "{known:?} {model_max:?}");
    }
}

#[derive(Debug, Clone)]
enum Step {
    Reserve(u32, Usage),
    Settle(u32, Option<Usage>),
    Raise(Allowance),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let usd = prop_oneof![4 => 0.0..10.0_f64, 1 => proptest::num::f64::ANY];
    let cost = (0..500_u64, 0..500_u64, usd.clone()).prop_map(|(read, wrote, usd)| usage(read, wrote, usd));
    let step = prop_oneof![
        3 => (0..5_u32, cost.clone()).prop_map(|(key, cost)| Step::Reserve(key, cost)),
        3 => (0..5_u32, proptest::option::of(cost)).prop_map(|(key, cost)| Step::Settle(key, cost)),
        1 => (proptest::option::of(0..500_u64), proptest::option::of(usd))
            .prop_map(|(tokens, usd)| Step::Raise(Allowance { tokens, usd })),
    ];
    proptest::collection::vec(step, 0..40)
}

proptest! {
    // R-REC-6
    #[test]
    fn a_purse_never_holds_what_is_no_money(steps in steps()) {
        let mut purse = purse(limits(1_000, 20.0));
        for step in steps {
            let before = purse.clone();
            match step {
                Step::Reserve(key, cost) => {
                    if purse.reserve(key, &cost).is_ok() {
                        prop_assert!(purse.holders().any(|holder| *holder == key));
                    } else {
                        prop_assert_eq!(&purse, &before, "a refusal changes nothing");
                    }
                }
                Step::Settle(key, cost) => {
                    purse.settle(&key, cost.as_ref());
                    prop_assert!(purse.spent().usd >= before.spent().usd);
                    prop_assert!(purse.holders().all(|holder| *holder != key));
                }
                Step::Raise(by) => {
                    purse.raise(&by);
                    prop_assert!(purse.left().usd >= before.left().usd);
                }
            }
            for sum in [purse.left().usd, Some(purse.spent().usd)].into_iter().flatten() {
                prop_assert!(sum.is_finite() && sum.is_sign_positive(), "{sum}");
            }
        }
    }
}
