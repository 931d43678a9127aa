//! Takes questions and their answers into the state (`R-ASK-1`).

use super::fold::{AskedQuestion, Closing, Run};
use super::ids::QuestionId;
use super::input::Effect;
use super::parts::{Answer, Usage};
use super::question::{Choice, Question, QuestionKind};
use super::schedule::Timer;
use super::state::NodeState;

impl Run {
    /// A question is open, and its node waits, if it is about one.
    pub(super) fn ask(&mut self, question: &Question) {
        let id = question.id;
        self.next_question = self.next_question.max(id.0 + 1);
        if let Some(node) = question.node {
            let unknown = question.kind == QuestionKind::UnknownOutcome;
            self.settle_cost(node, (!unknown).then_some(&Usage::default()));
            if let (Some(error), Some(chosen)) = (&question.error, &question.chosen) {
                self.remember(node, error, Some(chosen));
            }
            self.set(node, NodeState::AwaitingApproval);
            self.nodes[node.at()].rare_mut().question = Some(id);
        } else {
            self.money_question = Some(id);
        }
        self.demands.insert(self.seq, Effect::Ask { question: id });
        if let Some(expires) = question.expires {
            self.timers.insert(expires, Timer::Question(id));
        }
        let asked = AskedQuestion { question: Box::new(question.clone()), asked: self.seq, closed: None };
        self.questions.insert(id, asked);
    }

    /// A person closes a question. Who lets nodes fail for want of money is not asked again.
    pub(super) fn answer(&mut self, answer: &Answer) {
        self.close(answer.question, Closing::Answered(Box::new(answer.clone())));
        let about_money = self.questions.get(&answer.question).is_some_and(|asked| asked.question.node.is_none());
        if about_money && answer.choice == Choice::Fail {
            self.no_more_money = true;
            self.hand_on();
        }
    }

    /// A question is closed, whichever way.
    pub(super) fn close(&mut self, question: QuestionId, closing: Closing) {
        if let Some(asked) = self.questions.get_mut(&question) {
            asked.closed = Some(closing);
            self.demands.remove(&asked.asked);
            if let Some(expires) = asked.question.expires {
                self.timers.remove(expires, Timer::Question(question));
            }
            if let Some(node) = asked.question.node {
                self.nodes[node.at()].forget(|rare| rare.question = None);
            } else {
                self.money_question = None;
            }
        }
    }
}
