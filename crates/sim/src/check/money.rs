//! What is spent and set aside, in every budget of a run (`R-REC-6`).

use std::collections::BTreeMap;

use sprag_core::file::OnExceeded;
use sprag_core::graph::NodeIndex;
use sprag_core::run::recovery::Allowance;
use sprag_core::run::{Choice, Entry, NodeState, QuestionId, QuestionKind, Seq, Taint, Usage};

use super::case::Case;
use super::history::{History, Line, Verdicts};
use super::track::Track;

/// A cost in tokens and thousand-millionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sum {
    tokens: u64,
    parts: u64,
}

impl Sum {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "generated costs are small")]
    fn of(usage: &Usage) -> Self {
        Self { tokens: usage.tokens_in + usage.tokens_out, parts: (usage.usd * 1e9).round() as u64 }
    }

    const fn plus(self, other: Self) -> Self {
        Self { tokens: self.tokens + other.tokens, parts: self.parts + other.parts }
    }
}

/// One budget.
#[derive(Debug, Clone, Default)]
struct Purse {
    most_tokens: Option<u64>,
    most_parts: Option<u64>,
    fails: bool,
    spent: Sum,
    reserved: BTreeMap<NodeIndex, Sum>,
}

impl Purse {
    fn used(&self) -> Sum {
        self.reserved.values().fold(self.spent, |sum, held| sum.plus(*held))
    }

    fn raise(&mut self, by: &Allowance) {
        let parts = by.usd.map(|usd| Sum::of(&Usage { usd, ..Usage::default() }).parts);
        self.most_tokens = self.most_tokens.map(|most| most + by.tokens.unwrap_or(0));
        self.most_parts = self.most_parts.map(|most| most + parts.unwrap_or(0));
    }

    fn fits(&self, more: Sum) -> bool {
        let used = self.used();
        let within = |most: Option<u64>, used: u64, own: u64| match most {
            None => true,
            // Of unknown cost, it needs something to be left.
            Some(most) if more == Sum::default() => used < most,
            Some(most) => own == 0 || used + own <= most,
        };
        within(self.most_tokens, used.tokens, more.tokens) && within(self.most_parts, used.parts, more.parts)
    }
}

/// All budgets of a run.
#[derive(Debug)]
struct Books {
    /// By graph.
    purses: Vec<Option<Purse>>,
    withheld: BTreeMap<NodeIndex, Sum>,
    open: Vec<QuestionId>,
    /// Whether a person said that there is no more.
    refused: bool,
    /// How many graphs have grown.
    graphs: usize,
}

impl Books {
    fn new(history: &Case<'_>) -> Self {
        let purse = |level: &super::case::Level<'_>| {
            let budget = level.body.policy.budget.as_ref().filter(|_| level.items.is_none())?;
            let most_parts = budget.usd.map(|usd| Sum::of(&Usage { usd, ..Usage::default() }).parts);
            let fails = budget.on_exceeded == Some(OnExceeded::Fail);
            Some(Purse { most_tokens: budget.tokens, most_parts, fails, ..Purse::default() })
        };
        let purses = history.levels.iter().map(purse).collect();
        Self { purses, withheld: BTreeMap::new(), open: Vec::new(), refused: false, graphs: 0 }
    }

    fn around<'books>(
        &'books self,
        history: &'books Case<'_>,
        node: NodeIndex,
    ) -> impl Iterator<Item = &'books Purse> + use<'books> {
        let chain: Vec<_> = history.chain(history.level_of(node)).collect();
        chain.into_iter().filter_map(|level| self.purses[level].as_ref())
    }

    /// The work of an attempt is over at this cost, or at what was set aside.
    fn settle(&mut self, history: &Case<'_>, node: NodeIndex, cost: Option<Sum>) {
        for level in history.chain(history.level_of(node)) {
            if let Some(purse) = &mut self.purses[level] {
                let reserved = purse.reserved.remove(&node).unwrap_or_default();
                purse.spent = purse.spent.plus(cost.unwrap_or(reserved));
            }
        }
    }

    fn read(&mut self, history: &Case<'_>, track: &Track, line: &Line<'_>) {
        let told = |usage: Option<Usage>| Some(usage.map(|usage| Sum::of(&usage)).unwrap_or_default());
        match line.entry {
            Entry::Created(created) => {
                if let Some(purse) = &mut self.purses[0] {
                    purse.spent = created.spent.as_ref().map(Sum::of).unwrap_or_default();
                    created.raised.iter().for_each(|raised| purse.raise(raised));
                }
            }
            Entry::Expanded(expansion) => {
                self.graphs += 1;
                let spent = history.spent_before(expansion).map(|spent| Sum::of(&spent));
                if let (Some(purse), Some(spent)) = (&mut self.purses[self.graphs], spent) {
                    purse.spent = spent;
                }
            }
            Entry::Started { node, terms, .. } => {
                self.withheld.remove(node);
                let Some(reserved) = terms.as_ref().and_then(|terms| terms.reserved) else { return };
                for level in history.chain(history.level_of(*node)) {
                    if let Some(purse) = &mut self.purses[level] {
                        purse.reserved.insert(*node, Sum::of(&reserved));
                    }
                }
            }
            Entry::Spent { node, usage, .. } => self.settle(history, *node, told(Some(*usage))),
            Entry::Produced { node, product, .. } => self.settle(history, *node, told(product.usage)),
            Entry::Completed { node, product, taint, .. } => {
                let unknown =
                    matches!(taint.as_deref(), Some(Taint::Fallback(error)) if error.code.as_str() == "INTERRUPTED");
                let usage = product.as_ref().and_then(|product| product.usage);
                self.settle(history, *node, if unknown { None } else { told(usage) });
            }
            Entry::Decomposing { node, .. } => self.settle(history, *node, told(None)),
            Entry::Failed { node, error, .. } => {
                let cut = track.stopped(history, *node) >= Some(1);
                let unknown = cut || error.code.as_str() == "INTERRUPTED";
                self.settle(history, *node, if unknown { None } else { told(None) });
            }
            Entry::Unknown { node, .. } | Entry::Cancelled { node, .. } => {
                self.withheld.remove(node);
                self.settle(history, *node, None);
            }
            Entry::Skipped { node, .. } => {
                self.withheld.remove(node);
            }
            Entry::Withheld { node, expected } => {
                self.withheld.insert(*node, Sum::of(expected));
            }
            Entry::Asked(question) => match question.node {
                Some(node) if question.kind == QuestionKind::UnknownOutcome => self.settle(history, node, None),
                Some(node) => self.settle(history, node, told(None)),
                None => self.open.push(question.id),
            },
            Entry::Answered(answer) => {
                self.refused |= self.open.contains(&answer.question) && answer.choice == Choice::Fail;
                self.open.retain(|open| *open != answer.question);
            }
            Entry::Closed { question } => self.open.retain(|open| open != question),
            Entry::BudgetRaised { inside, by } => {
                let level = inside.map_or(Some(0), |node| track.of(node).inside);
                if let Some(purse) = level.and_then(|level| self.purses[level].as_mut()) {
                    purse.raise(by);
                }
            }
            _ => {}
        }
    }
}

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    let mut books = Books::new(history);
    for line in &history.lines {
        judge(history, &track, &books, line, verdicts);
        books.read(history, &track, line);
        track.read(history, line);
        if books.open.len() > 1 {
            verdicts.add("R-REC-6", line.seq, "money is asked for twice at once");
        }
    }
    for purse in books.purses.iter().flatten() {
        for node in purse.reserved.keys().filter(|node| track.of(**node).state != NodeState::Running) {
            let seq = history.lines.last().map_or(Seq(0), |line| line.seq);
            verdicts.add("R-REC-6", seq, format!("money is still set aside for `{}`", history.name(*node)));
        }
    }
}

fn judge(history: &Case<'_>, track: &Track, books: &Books, line: &Line<'_>, verdicts: &mut Verdicts) {
    let mut wrong = |node: NodeIndex, what: &str| {
        verdicts.add("R-REC-6", line.seq, format!("`{}` {what}", history.name(node)));
    };
    match line.entry {
        Entry::Started { node, terms, .. } => {
            if books.around(history, *node).any(|purse| purse.reserved.contains_key(node)) {
                wrong(*node, "starts, and its last attempt was never settled");
            }
            let reserved = terms.as_ref().and_then(|terms| terms.reserved);
            if let Some(reserved) = reserved
                && !books.around(history, *node).all(|purse| purse.fits(Sum::of(&reserved)))
            {
                wrong(*node, "starts, and nobody pays for it");
            }
        }
        Entry::Withheld { node, expected } => {
            let short: Vec<_> = books.around(history, *node).filter(|purse| !purse.fits(Sum::of(expected))).collect();
            if short.is_empty() {
                wrong(*node, "waits for money that is there");
            }
            if books.refused || short.iter().any(|purse| purse.fails) {
                wrong(*node, "waits for money that will not come");
            }
        }
        Entry::Failed { node, error, .. }
            if error.code.as_str() == "BUDGET_EXCEEDED"
                && !track.waits_for_children(*node)
                && !books.refused
                && !books.around(history, *node).any(|purse| purse.fails) =>
        {
            wrong(*node, "fails for want of money, and nobody was asked");
        }
        Entry::BudgetRaised { .. } => {
            let commit = &history.commits[line.commit].entries;
            let raises = |entry: &Entry| matches!(entry, Entry::Answered(answer) if answer.choice == Choice::Raise);
            if !commit.iter().any(raises) {
                verdicts.add("R-REC-6", line.seq, "a budget is raised by nobody");
            }
        }
        _ => {}
    }
}

/// Whoever waits for money at rest is short of it, and somebody is asked.
pub(super) fn check_at_rest(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    let mut books = Books::new(history);
    for line in &history.lines {
        books.read(history, &track, line);
        track.read(history, line);
    }
    let seq = history.lines.last().map_or(Seq(0), |line| line.seq);
    for (node, expected) in &books.withheld {
        if books.around(history, *node).all(|purse| purse.fits(*expected)) && !track.held {
            verdicts.add("R-REC-6", seq, format!("`{}` waits for money that is there", history.name(*node)));
        }
    }
    // Who is paid for and held up by a pause needs no answer.
    let short = |(node, cost): &(&NodeIndex, &Sum)| !books.around(history, **node).all(|purse| purse.fits(**cost));
    let short = books.withheld.iter().filter(short).count();
    if (short == 0) != books.open.is_empty() {
        verdicts.add("R-REC-6", seq, format!("{short} wait for money, and {} ask for it", books.open.len()));
    }
}

/// What the budget of a run has spent and set aside, in tokens and thousand-millionths of a dollar, if it has one.
pub fn spent(history: &History<'_>) -> Option<[(u64, u64); 2]> {
    let case = Case::of(history);
    let mut track = Track::new(&case);
    let mut books = Books::new(&case);
    for line in &case.lines {
        books.read(&case, &track, line);
        track.read(&case, line);
    }
    let purse = books.purses.first()?.as_ref()?;
    let held = purse.reserved.values().fold(Sum::default(), |sum, held| sum.plus(*held));
    Some([purse.spent, held].map(|sum| (sum.tokens, sum.parts)))
}
