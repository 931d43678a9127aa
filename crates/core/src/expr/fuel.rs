//! What an evaluation may spend. `MiniJinja` counts instructions, but a filter is one instruction however much it does,
//! so what is counted here is data: every value and every byte that an operation takes in or gives back.

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use super::form::error;

/// What one evaluation may handle, in bytes. A value inside a list costs [`VALUE`], so this bounds time and memory.
pub(super) const FUEL: usize = 32 << 20;
/// What a value costs beside its text.
const VALUE: usize = 16;
/// What a list costs when it is made: its place in memory beside its items.
const LIST: usize = 64;
/// What a map costs when it is made.
const MAP: usize = 256;

/// What is left to spend.
pub(super) struct Fuel(usize);

impl Fuel {
    /// The fuel of one evaluation.
    pub(super) fn full() -> Self {
        Self(FUEL)
    }

    /// Pays for `amount` bytes.
    pub(super) fn burn(&mut self, amount: usize) -> Result<(), Error> {
        match self.0.checked_sub(amount) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(error(format!("it handles more than {} MiB of data; do this in a command", FUEL >> 20))),
        }
    }

    /// Pays for one value.
    pub(super) fn value(&mut self) -> Result<(), Error> {
        self.burn(VALUE)
    }

    /// Pays for this many values.
    pub(super) fn values(&mut self, count: usize) -> Result<(), Error> {
        self.burn(count.saturating_mul(VALUE))
    }

    /// Pays for making this many lists.
    pub(super) fn lists(&mut self, count: usize) -> Result<(), Error> {
        self.burn(count.saturating_mul(LIST))
    }

    /// Pays for making a map.
    pub(super) fn map(&mut self) -> Result<(), Error> {
        self.burn(MAP)
    }

    /// Pays for a value with all that is in it, and says how much that was.
    pub(super) fn weigh(&mut self, value: &Value) -> Result<usize, Error> {
        let before = self.0;
        self.deep(value, 0)?;
        Ok(before - self.0)
    }

    fn deep(&mut self, value: &Value, list: usize) -> Result<(), Error> {
        self.value()?;
        match value.kind() {
            ValueKind::String => self.burn(value.as_str().map_or(0, str::len)),
            ValueKind::Seq | ValueKind::Iterable => {
                self.burn(list)?;
                value.try_iter()?.checked().try_for_each(|item| self.deep(&item?, list))
            }
            ValueKind::Map => value.try_iter()?.checked().try_for_each(|key| {
                let key = key?;
                self.deep(&key, list)?;
                self.deep(&value.get_item(&key)?, list)
            }),
            _ => Ok(()),
        }
    }

    /// Pays for what an operation gave back. Lazy sequences end here: what is worked on is always there in full.
    pub(super) fn settled(&mut self, value: Value) -> Result<Value, Error> {
        self.deep(&value, LIST)?;
        if value.kind() == ValueKind::Iterable {
            return Ok(Value::from(value.try_iter()?.checked().collect::<Result<Vec<_>, _>>()?));
        }
        Ok(value)
    }
}
