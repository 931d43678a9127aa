//! Climbing the ladder from failure to failure: it ends, and never takes a step that is not there.

use proptest::prelude::*;
use sprag_core::file::{ErrorCode, Human};
use sprag_core::run::recovery::{
    Decision, LadderRules, Next, Situation, Strategy as Tactic, TRANSIENT_RETRIES_MAX, Tiers, choose,
};
use sprag_core::run::{Class, Feedback, Grade, Known, NodeError, RetryRules, Severity};

/// A node on its ladder, as the run keeps it.
struct Climb<'a> {
    rules: &'a LadderRules,
    attempts: u32,
    transient_retries: u32,
    used: Vec<Tactic>,
    model: Option<String>,
}

impl<'a> Climb<'a> {
    fn new(rules: &'a LadderRules, model: Option<&str>) -> Self {
        let model = rules.tiers.start(model).map(str::to_owned);
        Self { rules, attempts: 0, transient_retries: 0, used: Vec::new(), model }
    }

    /// An attempt fails, and what was chosen is done.
    fn fails(&mut self, error: &NodeError, affords_higher: bool) -> Decision {
        self.attempts += u32::from(error.class() != Class::Transient);
        let decision = choose(&Situation {
            error,
            rules: self.rules,
            attempts: self.attempts,
            transient_retries: self.transient_retries,
            used: &self.used,
            model: self.model.as_deref(),
            affords_higher,
        });
        if let Next::EscalateModel { model } = &decision.next {
            self.model = Some(model.clone());
        }
        self.transient_retries += u32::from(decision.next == Next::RetrySame);
        self.used.extend(decision.next.strategy());
        decision
    }
}

fn rules() -> impl Strategy<Value = LadderRules> {
    let tiers = prop_oneof![
        Just(Tiers::usual()),
        Just(Tiers::none()),
        proptest::collection::vec("[a-e]", 1..6).prop_map(|models| Tiers::written(&models)),
    ];
    let human = prop_oneof![Just(Human::Pause), Just(Human::Fail)];
    (1..8_u32, tiers, any::<bool>(), any::<bool>(), human).prop_map(
        |(max_attempts, tiers, decompose, fallback, human)| LadderRules {
            max_attempts,
            tiers,
            decompose,
            fallback,
            human,
            delays: RetryRules::default(),
        },
    )
}

fn error() -> impl Strategy<Value = NodeError> {
    let known = proptest::sample::select(Known::ALL).prop_map(ErrorCode::from);
    let code = prop_oneof![9 => known, 1 => Just(ErrorCode::new("MY_OWN").unwrap())];
    let severity = prop_oneof![Just(Severity::Critical), Just(Severity::Minor)];
    let feedback = proptest::collection::vec(severity, 0..3);
    (code, feedback, proptest::option::of(proptest::sample::select(&Grade::ALL[..]))).prop_map(
        |(code, feedback, grade)| {
            let feedback = feedback.into_iter().map(|severity| Feedback { severity, text: String::new() });
            NodeError { feedback: feedback.collect(), grade, ..NodeError::new(code, "no") }
        },
    )
}

fn model() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(prop_oneof!["[a-f]", Just("haiku".to_owned()), Just("sonnet".to_owned())])
}

/// Whether the step is there at all, from the words of the contract and not from the code.
fn is_there(climb: &Climb<'_>, error: &NodeError, affords_higher: bool, next: &Next) -> bool {
    let (rules, class) = (climb.rules, error.class());
    let room = climb.attempts < rules.max_attempts;
    let used = |tactic| climb.used.contains(&tactic);
    let tried = [Tactic::RetrySame, Tactic::RetryWithFeedback, Tactic::EscalateModel, Tactic::DecomposeFurther]
        .into_iter()
        .filter(|tactic| used(*tactic))
        .count();
    let helps = matches!(class, Class::ModelLimitation | Class::Complexity);
    match next {
        Next::RetrySame => class == Class::Transient && climb.transient_retries < 2,
        Next::RetryWithFeedback => helps && room && !used(Tactic::RetryWithFeedback),
        Next::EscalateModel { model } => {
            let models = rules.tiers.models();
            let at = |name: &String| models.iter().position(|model| model == name);
            let higher = climb.model.as_ref().and_then(at) < at(model);
            let points = class == Class::ModelLimitation || matches!(error.grade, Some(Grade::D | Grade::F));
            helps && room && points && affords_higher && higher
        }
        Next::DecomposeFurther => {
            class == Class::Complexity && room && rules.decompose && !used(Tactic::DecomposeFurther)
        }
        Next::SkipWithFallback => {
            rules.fallback && (helps && tried >= 2 || class == Class::Transient && climb.transient_retries == 2)
        }
        Next::HumanIntervention => {
            let for_people = [Known::PERMISSION_DENIED, Known::SCOPE_VIOLATION, Known::ISOLATION_BREACH];
            rules.human == Human::Pause && (helps || for_people.iter().any(|known| error.code == *known))
        }
        Next::Fail => class == Class::Unrecoverable || class == Class::Transient || rules.human == Human::Fail,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    // R-REC-1
    #[test]
    fn every_climb_ends_and_takes_only_steps_that_are_there(
        rules in rules(),
        model in model(),
        errors in proptest::collection::vec((error(), any::<bool>()), 12),
    ) {
        let mut climb = Climb::new(&rules, model.as_deref());
        let mut ended = false;
        let mut steps = 0;
        for (error, affords_higher) in errors {
            let before = Climb { used: climb.used.clone(), model: climb.model.clone(), ..climb };
            let decision = climb.fails(&error, affords_higher);
            let at_choice = Climb { attempts: climb.attempts, ..before };
            prop_assert!(is_there(&at_choice, &error, affords_higher, &decision.next), "{error:?} {decision:?}");
            let last = decision.next.strategy().unwrap_or(Tactic::HumanIntervention);
            let named = |tactic: &Tactic| decision.passed.iter().any(|passed| passed.strategy == *tactic);
            let cheaper = Tactic::ALL.iter().filter(|tactic| **tactic < last);
            prop_assert!(cheaper.clone().all(named), "each cheaper one is named: {decision:?}");
            prop_assert!(decision.next.strategy().is_none_or(|taken| !named(&taken)), "{decision:?}");
            steps += 1;
            if !decision.next.strategy().is_some_and(Tactic::works_again) {
                ended = true;
                break;
            }
        }
        prop_assert!(ended && steps <= rules.max_attempts + TRANSIENT_RETRIES_MAX, "{steps}");
    }

    // R-REC-1
    #[test]
    fn a_transient_failure_never_reaches_a_person(rules in rules(), error in error(), tries in 0..9_u32) {
        let mut climb = Climb::new(&rules, None);
        climb.transient_retries = tries;
        if error.class() == Class::Transient {
            prop_assert_ne!(climb.fails(&error, true).next, Next::HumanIntervention);
        }
    }
}

#[test]
fn a_poor_result_climbs_from_haiku_to_opus_in_two_failures() {
    // R-REC-1
    let rules = rules_of(3, Human::Pause, false);
    let mut climb = Climb::new(&rules, Some("haiku"));
    let error = NodeError { grade: Some(Grade::D), ..NodeError::new(Known::LOW_GRADE, "thin") };
    assert_eq!(climb.fails(&error, true).next, Next::EscalateModel { model: "sonnet".into() });
    assert_eq!(climb.fails(&error, true).next, Next::EscalateModel { model: "opus".into() });
    assert_eq!(climb.fails(&error, true).next, Next::HumanIntervention);
    // A person's retry starts nothing anew: the next failure asks again.
    assert_eq!(climb.fails(&error, true).next, Next::HumanIntervention);
}

#[test]
fn transient_failures_in_between_cost_no_attempt() {
    // R-REC-1
    let rules = rules_of(3, Human::Fail, true);
    let mut climb = Climb::new(&rules, Some("haiku"));
    let (slow, bad) = (NodeError::new(Known::TIMEOUT, "slow"), NodeError::new(Known::MODEL_ERROR, "bad"));
    let next = [&slow, &bad, &slow, &bad, &bad].map(|error| climb.fails(error, true).next);
    let escalate = |model: &str| Next::EscalateModel { model: model.into() };
    let expected = [Next::RetrySame, escalate("sonnet"), Next::RetrySame, escalate("opus"), Next::SkipWithFallback];
    assert_eq!(next, expected);
    let mut climb = Climb::new(&rules, None);
    let next = [&slow, &slow, &slow].map(|error| climb.fails(error, true).next);
    assert_eq!(next, [Next::RetrySame, Next::RetrySame, Next::SkipWithFallback]);
}

fn rules_of(max_attempts: u32, human: Human, fallback: bool) -> LadderRules {
    let (tiers, delays) = (Tiers::usual(), RetryRules::default());
    LadderRules { max_attempts, tiers, decompose: false, fallback, human, delays }
}
