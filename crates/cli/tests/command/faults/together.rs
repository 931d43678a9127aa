//! Several processes on one store at the same time (`R-CLAIM-2`, `R-STORE-1`, `R-CLI-2`).

use std::process::{Child, Stdio};

use super::chain::{fresh, ledger};
use super::rig::{Going, sql};
use crate::space::Space;

const ROUNDS: usize = 20;

/// Two new runs and the resumption of a killed one, at once, round after round: each ends as if it were alone.
#[test]
fn two_runs_and_a_resume() {
    let space = fresh().with(
        "killed.yaml",
        "
workflow: killed
nodes:
  first: {run: 'echo first >> killed-ledger; echo one'}
  second: {run: 'echo second >> killed-ledger; test -e again || { touch again; kill -9 $PPID; }; echo two', \
         needs: [first]}
",
    );
    for round in 1..=ROUNDS {
        let mut command = space.command();
        command.args(["run", "killed.yaml"]);
        let killed = Going::start(command).end();
        assert_eq!(killed.code, None, "{}", killed.err);
        let run = sql(&space, "SELECT id FROM run ORDER BY number DESC LIMIT 1").trim().to_owned();
        let others = [start(&space, &["run", "-q"]), start(&space, &["run", "-q"])];
        let resumed = start(&space, &["resume", "-q", &run]);
        for child in others.into_iter().chain([resumed]) {
            is_fine(child);
        }
        let file = space.path("killed-ledger");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "first\nsecond\nsecond\n", "round {round}");
        std::fs::remove_file(file).unwrap();
        std::fs::remove_file(space.path("again")).unwrap();
    }
    let mut noted = ledger(&space);
    noted.sort_unstable();
    let expected: Vec<_> = ["a", "b", "c", "d"].iter().flat_map(|node| vec![*node; 2 * ROUNDS]).collect();
    assert_eq!(noted, expected);
    let states = sql(&space, "SELECT status, completed, count(*) FROM runs GROUP BY 1, 2 ORDER BY 2");
    assert_eq!(states, format!("completed|2|{ROUNDS}\ncompleted|4|{}\n", 2 * ROUNDS));
    assert_eq!(sql(&space, "PRAGMA integrity_check"), "ok\n");
    assert_eq!(std::fs::read_dir(space.path(".sprag/sprag.db.owners")).unwrap().count(), 0);
}

/// R-CLI-2: four processes that all find no `.sprag/` make one together.
#[test]
fn four_runs_in_an_empty_folder() {
    for _ in 0..5 {
        let space = fresh();
        for child in [(); 4].map(|()| start(&space, &["run", "-q"])) {
            is_fine(child);
        }
        let states = sql(&space, "SELECT status, completed, count(*) FROM runs GROUP BY 1, 2");
        assert_eq!(states, "completed|4|4\n");
        assert_eq!(ledger(&space).len(), 16);
        assert_eq!(std::fs::read_to_string(space.path(".sprag/.gitignore")).unwrap(), "*\n");
        let drafts = std::fs::read_dir(space.path(".sprag")).unwrap();
        let drafts: Vec<_> = drafts.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert!(!drafts.iter().any(|name| name.contains(".new")), "{drafts:?}");
    }
}

fn start(space: &Space, arguments: &[&str]) -> Child {
    space.command().args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn is_fine(child: Child) {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}: {}", output.status, String::from_utf8_lossy(&output.stderr));
}
