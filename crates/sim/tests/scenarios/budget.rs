//! What a run may spend (`R-REC-6`).

use serde_json::{Value, json};
use sprag_core::run::recovery::Strategy;
use sprag_core::run::{
    Choice, Created, Entry, Known, NodeError, NodeState, PausedBy, Product, QuestionKind, QuestionRef, Refused,
    RunStatus, Usage, Verb,
};
use sprag_sim::{Crash, Outcome, World, WorldOptions};

fn usd(usd: f64) -> Usage {
    Usage { usd, ..Usage::default() }
}

/// Work that costs so much.
fn costs(sum: f64) -> Outcome {
    Outcome::Produces(Product { usage: Some(usd(sum)), ..Product::of(json!("done")) })
}

fn agent(id: &str, more: &str) -> String {
    format!("  {id}: {{ agent: {{ provider: fake, script: [], model: haiku, prompt: x }}{more} }}\n")
}

fn text(budget: &str, nodes: &str) -> String {
    format!("workflow: w\npolicy: {{ budget: {{ {budget} }} }}\nnodes:\n{nodes}")
}

/// An attempt on haiku may cost up to 0.6.
fn prices(created: &mut Created) {
    created.model_maximum.insert("haiku".into(), usd(0.6));
    created.model_maximum.insert("sonnet".into(), usd(3.0));
}

fn of(budget: &str, nodes: &str) -> World {
    let mut world = World::of(&text(budget, nodes));
    world.begins_with(prices);
    world
}

/// A person answers the open question about money.
fn answers(world: &mut World, choice: Choice, data: Option<Value>) -> Result<(), Refused> {
    let open = world.run().questions().find(|asked| asked.closed.is_none()).cloned().unwrap().question;
    assert_eq!(
        (open.kind, open.node, open.kind.choices()),
        (QuestionKind::Budget, None, &[Choice::Raise, Choice::Fail][..])
    );
    world.wants("ann", Verb::Answer { question: QuestionRef::Id(open.id), choice, digest: open.digest, data })
}

fn asked(world: &World) -> usize {
    world.run().questions().count()
}

fn spent(world: &World) -> f64 {
    world.run().lineage_spent().usd
}

#[test]
fn attempts_at_the_same_time_cannot_overspend() {
    // R-REC-6
    let mut world = of("usd: 1.0", &(agent("a", "") + &agent("b", "") + "  c: { call: x }\n"));
    world.scripted("a", [costs(0.2)]).starts();
    // What costs nothing is not held up.
    assert_eq!(world.states(), "a running, b ready, c running");
    assert_eq!(asked(&world), 1);
    // What the first one did not use is there for the second, and nobody has to answer any more.
    world.scripted("b", [costs(0.5)]).settles();
    assert_eq!(
        (world.states().as_str(), world.end().as_str()),
        ("a completed, b completed, c completed", "completed 0")
    );
    assert!((spent(&world) - 0.7).abs() < 1e-9);
    assert!(world.run().questions().all(|asked| asked.closed.is_some()));
}

#[test]
fn what_is_not_paid_for_fails_before_any_work() {
    // R-REC-6, R-STATE-9
    let mut world = of("usd: 1.0, on_exceeded: fail", &(agent("a", "") + &agent("b", ", fallback: 1")));
    world.scripted("a", [costs(0.6)]).starts();
    assert_eq!((world.states().as_str(), world.code("b").as_str()), ("a running, b failed", "BUDGET_EXCEEDED"));
    assert_eq!((world.executions("b"), asked(&world)), (0, 0));
    let node = world.node("b");
    let journal = world.journal();
    let moves = |entry: &Entry| match entry {
        Entry::Ready { node: of, .. } | Entry::Started { node: of, .. } | Entry::Failed { node: of, .. } => *of == node,
        _ => false,
    };
    let commits: Vec<_> = journal.iter().filter(|commit| commit.entries.iter().any(moves)).collect();
    assert_eq!((commits.len(), commits[0].entries.iter().filter(|entry| moves(entry)).count()), (1, 3));
}

#[test]
fn a_person_raises_the_budget_or_not() {
    // R-REC-6, R-ASK-1, R-REC-4
    let mut world = of("usd: 0.5, tokens: 100", &(agent("a", "") + &agent("b", "")));
    world.scripted("a", [costs(0.6)]).scripted("b", [costs(0.6)]).starts().settles();
    assert_eq!((world.states().as_str(), asked(&world)), ("a ready, b ready", 1));
    assert_eq!(world.run().status(), RunStatus::Paused(PausedBy::Question));
    for bad in [
        None,
        Some(json!({})),
        Some(json!({ "usd": 0 })),
        Some(json!({ "usd": -1 })),
        Some(json!({ "eur": 1 })),
        Some(json!(3)),
    ] {
        assert!(matches!(answers(&mut world, Choice::Raise, bad), Err(Refused::BadChoice { .. })));
    }
    assert!(matches!(answers(&mut world, Choice::Retry, None), Err(Refused::BadChoice { .. })));
    // Not enough: the next question is open at once.
    answers(&mut world, Choice::Raise, Some(json!({ "usd": 0.05 }))).unwrap();
    assert_eq!((world.states().as_str(), asked(&world)), ("a ready, b ready", 2));
    answers(&mut world, Choice::Raise, Some(json!({ "usd": 0.05 }))).unwrap();
    assert_eq!(world.states(), "a running, b ready");
    world.settles();
    assert_eq!((world.states().as_str(), asked(&world)), ("a completed, b ready", 3));
    answers(&mut world, Choice::Fail, None).unwrap();
    world.settles();
    assert_eq!((world.states().as_str(), world.code("b").as_str()), ("a completed, b failed", "BUDGET_EXCEEDED"));
    assert_eq!((world.end().as_str(), asked(&world)), ("failed 1", 3));
}

#[test]
fn who_said_no_is_not_asked_again() {
    // R-REC-6
    let nodes = agent("a", "") + &agent("b", "") + "  c: { call: x }\n" + &agent("d", ", needs: [c]");
    let mut world = of("usd: 0.5", &nodes);
    world.starts();
    answers(&mut world, Choice::Fail, None).unwrap();
    world.settles();
    assert_eq!((world.states().as_str(), asked(&world)), ("a failed, b failed, c completed, d failed", 1));
}

#[test]
fn a_dear_node_waits_without_blocking_cheap_ones() {
    // R-REC-6, R-SCHED-3
    let mut world = of("usd: 1.0", &(agent("a", ", priority: 5") + &agent("b", "") + &agent("c", "")));
    world.begins_with(|created| {
        created.expected.insert("a".into(), usd(2.0));
        created.expected.insert("b".into(), usd(0.1));
        created.expected.insert("c".into(), usd(0.1));
    });
    world.scripted("b", [costs(0.1)]).scripted("c", [costs(0.1)]).starts();
    assert_eq!(world.states(), "a ready, b running, c running");
    assert_ne!(world.run().status(), RunStatus::Paused(PausedBy::Question));
    world.settles();
    assert_eq!(world.states(), "a ready, b completed, c completed");
    assert_eq!(world.run().status(), RunStatus::Paused(PausedBy::Question));
    world.cancels();
    assert_eq!((world.state("a"), world.end().as_str()), (NodeState::Cancelled, "cancelled 5"));
    assert!(world.run().questions().all(|asked| asked.closed.is_some()));
}

#[test]
fn an_interrupted_attempt_counts_as_reserved_and_a_told_one_as_told() {
    // R-REC-6, R-CLAIM-4
    let mut world = of("usd: 1.0", &agent("a", ""));
    world.scripted("a", [Outcome::Hangs]).starts();
    assert!(spent(&world).abs() < 1e-9);
    world.crashes().resumes();
    assert!((spent(&world) - 0.6).abs() < 1e-9, "{}", world.picture());
    // 0.4 is left, and another attempt may cost 0.6.
    assert_eq!((world.states().as_str(), asked(&world)), ("a ready", 1));
    // The clone that folds the journal sees the same.
    assert_eq!(*world.run(), world.folded().unwrap());

    let mut world = of("usd: 1.0", &agent("a", ""));
    let fails = Outcome::FailsAt(NodeError::new(Known::TIMEOUT, "x"), usd(0.1));
    world.scripted("a", [fails, Outcome::fails("TIMEOUT"), costs(0.2)]).runs();
    assert!((spent(&world) - 0.3).abs() < 1e-9);
    assert!((world.run().usage().usd - 0.3).abs() < 1e-9);
}

#[test]
fn earlier_attempts_tell_what_the_next_one_costs() {
    // R-REC-6
    let mut world = of("usd: 1.0", &agent("a", ""));
    let fails = Outcome::FailsAt(NodeError::new(Known::TIMEOUT, "x"), usd(0.3));
    world.scripted("a", [fails, costs(0.3)]).runs();
    let reserved: Vec<_> = world
        .entries()
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Started { terms, .. } => terms.and_then(|terms| terms.reserved).map(|reserved| reserved.usd),
            _ => None,
        })
        .collect();
    assert_eq!(reserved, [0.6, 0.3]);
}

#[test]
fn a_model_that_is_too_dear_is_passed_over() {
    // R-REC-1, R-REC-6
    let mut world = of("usd: 2.0", &agent("a", ", recovery: { human: fail }"));
    world.scripted("a", [Outcome::fails("MODEL_ERROR"), costs(0.1)]).runs();
    assert_eq!(world.run().strategies(world.node("a")), [Strategy::RetryWithFeedback]);
    let why = world.entries().into_iter().find_map(|entry| match entry {
        Entry::Failed { chosen, .. } => chosen.and_then(|chosen| chosen.passed.into_iter().nth(1)),
        _ => None,
    });
    assert_eq!(why.unwrap().why, "the budget does not pay for `sonnet`");
}

#[test]
fn the_whole_lineage_counts_and_inner_budgets_narrow() {
    // R-REC-6, R-GROW-2
    let mut world = of("usd: 1.0", &agent("a", ""));
    world.begins_with(|created| {
        prices(created);
        created.spent = Some(usd(0.7));
    });
    world.starts();
    assert_eq!(world.states(), "a ready");

    let inner = "  sub: { workflow: { policy: { budget: { usd: 0.7 } }, nodes: { a: { agent: { provider: fake, script: [], model: haiku, prompt: x } }, b: { agent: { provider: fake, script: [], model: haiku, prompt: x } } } } }\n";
    let mut world = of("usd: 9.0", &(inner.to_owned() + &agent("c", "")));
    world.scripted("sub/a", [costs(0.6)]).scripted("sub/b", [costs(0.6)]).scripted("c", [costs(0.6)]);
    world.starts().settles();
    assert_eq!(world.states(), "c completed, sub running, sub/a completed, sub/b ready", "{}", world.picture());
    answers(&mut world, Choice::Raise, Some(json!({ "usd": 0.5 }))).unwrap();
    world.settles();
    assert_eq!(world.end(), "completed 0");
    // Only the budget that was short was raised.
    assert!((spent(&world) - 1.8).abs() < 1e-9);
    assert!((world.run().budget_left().unwrap().usd.unwrap() - 7.2).abs() < 1e-9);
}

#[test]
fn a_crash_anywhere_around_a_question_about_money_loses_nothing() {
    // R-REC-6, R-JRN-2
    let play = |crash: Option<Crash>| {
        let nodes = agent("a", "") + &agent("b", "") + &agent("c", ", needs: [a, b]");
        let mut world = World::with(&text("usd: 0.7", &nodes), WorldOptions { crash, ..WorldOptions::default() });
        world.begins_with(prices).will_answer("budget", Choice::Raise);
        for node in ["a", "b", "c"] {
            world.scripted(node, [costs(0.6)]);
        }
        world.starts().settles();
        for _ in 0..2 {
            if !world.is_alive() {
                world.resumes();
            }
            world.settles();
        }
        let raised = world.entries().iter().filter(|entry| matches!(entry, Entry::BudgetRaised { .. })).count();
        assert!(raised >= 1, "{crash:?}");
        (world.operations(), (world.states(), world.end(), world.trace()))
    };
    let (operations, whole) = play(None);
    assert_eq!(whole.1, "completed 0");
    for operation in 1..=operations {
        for after in [false, true] {
            let crash = Crash { operation, after };
            assert_eq!(play(Some(crash)).1, whole, "{crash:?}");
        }
    }
}

#[test]
fn an_interrupted_attempt_costs_what_was_set_aside_also_if_the_fallback_stands_in() {
    // R-REC-6, R-CLAIM-4
    let budget = "workflow: w\npolicy: { max_interruptions: 0, budget: { usd: 1.0 } }\nnodes:\n";
    let mut world = World::of(&(budget.to_owned() + &agent("a", ", fallback: 1")));
    world.begins_with(prices).scripted("a", [Outcome::Hangs]).starts().crashes().starts();
    assert_eq!(world.end(), "completed 0 degraded");
    assert!((spent(&world) - 0.6).abs() < 1e-9, "{}", world.picture());
}
