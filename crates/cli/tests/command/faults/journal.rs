//! Journals and logs that are not what was written (`R-JRN-1`, `R-CP-5`).

use std::fs;

use super::chain::{is_complete, said, used};
use super::rig::{Going, gate, sql};
use crate::space::Space;

/// R-CP-5: a flipped bit in the journal of one run is noticed wherever it is, and concerns no other run.
#[test]
fn a_flipped_bit_in_a_journal() {
    let space = used();
    assert_eq!(space.run(&["run"]).code, Some(0));
    let run = sql(&space, "SELECT id FROM run WHERE number = 1").trim().to_owned();
    let commits: Vec<String> =
        sql(&space, "SELECT first_seq FROM commits WHERE run = 1").lines().map(str::to_owned).collect();
    assert!(commits.len() > 3);
    let whole = fs::read(space.path(".sprag/sprag.db")).unwrap();
    for first in commits {
        // The last letter of the text has another bit: `]}` becomes `]y` or the like, a digit another digit.
        for change in ["replace(entries, '\"attempt\":1', '\"attempt\":3')", "replace(entries, 'v\":1', 'v\":0')"] {
            sql(&space, &format!("UPDATE commits SET entries = {change} WHERE run = 1 AND first_seq = {first}"));
            for verb in ["show", "events", "logs", "resume", "cancel"] {
                let ran = space.run(&[verb, &run]);
                let words =
                    [&format!("is damaged at entry {first}")[..], "the other runs of the store are not concerned"];
                said(&ran, 70, "CORRUPT_JOURNAL", &words);
            }
            is_complete(&space);
            assert_eq!(space.run(&["runs"]).out.lines().count(), 3);
            fs::write(space.path(".sprag/sprag.db"), &whole).unwrap();
        }
    }
    assert_eq!(space.run(&["show", &run]).code, Some(0));
}

/// R-JRN-1: the log that a killed process left is read by the next one; a torn end of it was never acknowledged.
#[test]
fn a_log_with_a_torn_end() {
    let space = Space::new().with(
        "sprag.yaml",
        "
workflow: held
nodes:
  a: {run: 'echo a >> ledger; echo from a'}
  b: {run: 'echo b >> ledger; read go < gate; echo from b', needs: [a]}
",
    );
    let mut gate = gate(&space, "gate");
    let mut command = space.command();
    command.arg("run");
    let mut going = Going::start(command);
    going.until("b: running");
    going.kill();
    // A frame that was begun when the power went.
    let log = space.path(".sprag/sprag.db-wal");
    let whole = fs::read(&log).unwrap();
    fs::write(&log, [&whole[..], &[0xa5; 3_000]].concat()).unwrap();
    std::io::Write::write_all(&mut gate, b"go\ngo\n").unwrap();
    let ran = space.run(&["resume"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let ledger = super::chain::ledger(&space);
    assert_eq!(ledger.iter().filter(|line| *line == "a").count(), 1, "{ledger:?}");
    assert_eq!(space.run(&["show", "--json"]).json()["status"], "completed");
}
