//! One step of a run: decide, apply, and go on with what follows until the run is at rest.

use super::decide::Refused;
use super::entry::Entry;
use super::fold::{Corrupt, Run};
use super::ids::Timestamp;
use super::input::Input;
use super::parts::{CommandRecord, Refusal};

impl Run {
    /// Takes an input in with everything that follows from it, and returns the entries in the order in which they were
    /// applied. `slots` is how many attempts this owner may have running.
    ///
    /// A refused command leaves an entry that says so, for whoever sent it from elsewhere (`R-ASK-2`); an ended run is
    /// immutable.
    pub fn take_in(
        &mut self,
        now: Timestamp,
        slots: u32,
        input: &Input,
        entries: &mut Vec<Entry>,
    ) -> Result<(), Refused> {
        let outcome = match self.decide(now, input) {
            Ok(decided) => self.take(now, decided, entries).map_err(Refused::Illegal),
            Err(refused) => {
                if let Input::Command(command) = input
                    && self.ending.is_none()
                    && !self.commands.contains_key(&command.id)
                {
                    let refusal = Refusal { code: refused.facts().code, message: refused.to_string() };
                    let record = CommandRecord { command: command.clone(), refused: Some(refusal) };
                    self.take(now, vec![Entry::Command(Box::new(record))], entries).map_err(Refused::Illegal)?;
                }
                Err(refused)
            }
        };
        self.come_to_rest(now, slots, entries).map_err(Refused::Illegal)?;
        outcome
    }

    /// Decides and applies what follows from the state and the time, until nothing does.
    pub fn come_to_rest(&mut self, now: Timestamp, slots: u32, entries: &mut Vec<Entry>) -> Result<(), Corrupt> {
        loop {
            let next = self.follow(now, slots);
            if next.is_empty() {
                return Ok(());
            }
            self.take(now, next, entries)?;
        }
    }

    fn take(&mut self, now: Timestamp, decided: Vec<Entry>, entries: &mut Vec<Entry>) -> Result<(), Corrupt> {
        for entry in decided {
            self.apply(now, &entry)?;
            entries.push(entry);
        }
        Ok(())
    }
}
