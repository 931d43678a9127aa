//! What a run may spend, has spent, and has set aside for attempts under way (`R-REC-6`).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::file::Budget;
use crate::run::parts::Usage;

/// The parts of a dollar that are counted. Whole numbers add up exactly, in any order.
const PARTS: f64 = 1e9;

/// So much of each; what is absent has no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Allowance {
    /// Tokens, in and out together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars; what is no number, or below zero, counts as zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

impl Allowance {
    /// So much, and so much more.
    pub fn add(&mut self, more: &Self) {
        if let Some(tokens) = more.tokens {
            self.tokens = Some(self.tokens.unwrap_or(0).saturating_add(tokens));
        }
        if let Some(usd) = more.usd {
            self.usd = Some(self.usd.unwrap_or(0.0) + usd);
        }
    }
}

impl From<&Budget> for Allowance {
    fn from(budget: &Budget) -> Self {
        Self { tokens: budget.tokens, usd: budget.usd }
    }
}

/// An attempt that the budget does not pay for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exceeded {
    /// What it is expected to cost.
    pub expected: Usage,
    /// What is left.
    pub left: Allowance,
}

/// The money of a run: limits, what was spent, and a reservation for each attempt under way.
///
/// What was spent and what is reserved count alike, so attempts that run at the same time cannot overspend together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "K: Ord + Deserialize<'de>"))]
pub struct Purse<K> {
    tokens_max: Option<u64>,
    parts_max: Option<u64>,
    spent: Cost,
    reserved: BTreeMap<K, Cost>,
}

impl<K: Ord> Purse<K> {
    /// A purse with these limits, of which the lineage has already spent so much.
    pub fn new(limits: Allowance, spent: &Usage) -> Self {
        let parts_max = limits.usd.map(|usd| parts(usd).unwrap_or(0));
        Self { tokens_max: limits.tokens, parts_max, spent: Cost::of(spent), reserved: BTreeMap::new() }
    }

    /// Sets the expected cost of an attempt aside; reserving again for the same attempt replaces what it had.
    /// If it does not fit, nothing changes.
    pub fn reserve(&mut self, key: K, expected: &Usage) -> Result<(), Exceeded> {
        let earlier = self.reserved.remove(&key);
        if !self.fits(expected) {
            let refused = Exceeded { expected: *expected, left: self.left() };
            if let Some(earlier) = earlier {
                self.reserved.insert(key, earlier);
            }
            return Err(refused);
        }
        self.reserved.insert(key, Cost::of(expected));
        Ok(())
    }

    /// An attempt is over. Without a cost, as when it was interrupted, its reservation counts as spent; so does the
    /// reserved sum where the told one is no sum of money. What an attempt spent counts even if it reserved nothing.
    pub fn settle(&mut self, key: &K, actual: Option<&Usage>) {
        let reserved = self.reserved.remove(key).unwrap_or_default();
        let cost = actual.map_or(reserved, |actual| Cost {
            tokens_in: actual.tokens_in,
            tokens_out: actual.tokens_out,
            parts: parts(actual.usd).unwrap_or(reserved.parts),
        });
        self.spent = self.spent.plus(cost);
    }

    /// A person allows so much more; what has no limit gets none.
    pub fn raise(&mut self, by: &Allowance) {
        let more = |max: Option<u64>, by: Option<u64>| max.map(|max| max.saturating_add(by.unwrap_or(0)));
        self.tokens_max = more(self.tokens_max, by.tokens);
        self.parts_max = more(self.parts_max, by.usd.and_then(parts));
    }

    /// Whether an attempt of this cost could start now.
    ///
    /// One of which nothing is known fits while anything is left of each limit: else a model without a price would
    /// never meet the end of the budget.
    pub fn fits(&self, expected: &Usage) -> bool {
        let (expected, used) = (Cost::of(expected), self.used());
        let unknown = expected == Cost::default();
        let within = |max: Option<u64>, used: u64, more: u64| {
            max.is_none_or(|max| if unknown { used < max } else { used.saturating_add(more) <= max || more == 0 })
        };
        within(self.tokens_max, used.tokens(), expected.tokens()) && within(self.parts_max, used.parts, expected.parts)
    }

    /// What is neither spent nor reserved.
    pub fn left(&self) -> Allowance {
        let used = self.used();
        Allowance {
            tokens: self.tokens_max.map(|max| max.saturating_sub(used.tokens())),
            usd: self.parts_max.map(|max| dollars(max.saturating_sub(used.parts))),
        }
    }

    /// What was spent, reservations under way left out: what the next run of the lineage starts with.
    pub fn spent(&self) -> Usage {
        self.spent.usage()
    }

    /// What is set aside for attempts under way.
    pub fn reserved(&self) -> Usage {
        self.reserved.values().fold(Cost::default(), |sum, cost| sum.plus(*cost)).usage()
    }

    /// The attempts that hold a reservation.
    pub fn holders(&self) -> impl Iterator<Item = &K> {
        self.reserved.keys()
    }

    fn used(&self) -> Cost {
        self.reserved.values().fold(self.spent, |sum, cost| sum.plus(*cost))
    }
}

/// What an attempt is expected to cost: what earlier ones of the node on the same model did, else the most that the model
/// can cost, else nothing is known.
///
/// A ledger that shows no cost, or none that is a number, knows nothing: that attempt failed before it paid.
pub fn expected(ledger: Option<&Usage>, model_max: Option<&Usage>) -> Usage {
    let known = |usage: &&Usage| parts(usage.usd).is_some() && Cost::of(usage) != Cost::default();
    ledger.filter(known).or_else(|| model_max.filter(known)).copied().unwrap_or_default()
}

/// A cost in whole numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cost {
    tokens_in: u64,
    tokens_out: u64,
    parts: u64,
}

impl Cost {
    fn of(usage: &Usage) -> Self {
        let parts = parts(usage.usd).unwrap_or(0);
        Self { tokens_in: usage.tokens_in, tokens_out: usage.tokens_out, parts }
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            tokens_in: self.tokens_in.saturating_add(other.tokens_in),
            tokens_out: self.tokens_out.saturating_add(other.tokens_out),
            parts: self.parts.saturating_add(other.parts),
        }
    }

    const fn tokens(self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }

    fn usage(self) -> Usage {
        Usage { tokens_in: self.tokens_in, tokens_out: self.tokens_out, usd: dollars(self.parts) }
    }
}

/// A sum of money in parts, or nothing if it is none. Above eighteen thousand million dollars, all sums are one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not below zero; too much becomes the most"
)]
fn parts(usd: f64) -> Option<u64> {
    (usd >= 0.0).then(|| (usd * PARTS).round() as u64)
}

#[expect(clippy::cast_precision_loss, reason = "exact up to nine million dollars, and near enough beyond")]
fn dollars(parts: u64) -> f64 {
    parts as f64 / PARTS
}

impl fmt::Display for Exceeded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = Cost::of(&self.expected);
        write!(formatter, "expected to cost {} tokens and {} USD; ", expected.tokens(), dollars(expected.parts))?;
        match (self.left.tokens, self.left.usd) {
            (Some(tokens), Some(usd)) => write!(formatter, "{tokens} tokens and {usd} USD are left"),
            (Some(tokens), None) => write!(formatter, "{tokens} tokens are left"),
            (None, Some(usd)) => write!(formatter, "{usd} USD are left"),
            (None, None) => formatter.write_str("there is no limit"),
        }
    }
}

impl std::error::Error for Exceeded {}

#[cfg(test)]
mod tests;
