//! Disks that are full or fail while a run goes on (`R-JRN-3`, `R-CLI-3`).

use super::chain::{fresh, is_complete, ledger, ran_once, said, used};
use super::rig::{may_inject, traced, with_own_mounts};

/// How many flushes the chain needs: one for its beginning and one for each result.
const FLUSHES: u32 = 5;

/// R-JRN-3: while nothing can be written nothing new starts, and then the run goes on as if nothing had been.
#[test]
fn no_space_in_the_middle_of_a_run() {
    if !may_inject("a full disk by changed system calls") {
        return;
    }
    // Which writes to the log fail: at the very start, and around the results of the first nodes.
    for writes in ["1..3", "15..18", "17..20", "20..24"] {
        let space = used();
        let ran = traced(&space, &[&format!("pwrite64:error=ENOSPC:when={writes}")], &["run"]);
        assert_eq!(ran.code, Some(0), "{writes}: {}", ran.err);
        let (before, after) = ran.err.split_once("the store cannot be written: database or disk is full").unwrap();
        let (during, _) = after.split_once("the store can be written again\n").unwrap();
        assert!(during.contains("nothing new starts, nothing is lost, trying again"), "{during}");
        assert!(!during.contains(": running"), "{writes}: {before} / {during}");
        ran_once(&space);
        is_complete(&space);
    }
}

/// R-JRN-3: the same with a real file system of 1 MiB, which a node fills and a person clears.
#[test]
fn a_real_disk_without_space() {
    let script = r#"
        mkdir small && mount -t tmpfs -o size=1m small small || exit 99
        cp sprag.yaml small && cd small || exit 98
        "$SPRAG" run > ../out 2> ../err & run=$!
        until grep -q 'the store cannot be written' ../err; do kill -0 $run || exit 97; sleep 0.02; done
        cp ../ledger ../ledger-while-full
        rm junk
        wait $run || exit $?
        "$SPRAG" show --json
    "#;
    let space = fresh().with(
        "sprag.yaml",
        "
workflow: filler
nodes:
  fill: {run: 'echo fill >> ../ledger; cat /dev/zero > junk 2> /dev/null; echo filled'}
  next: {run: 'echo next >> ../ledger; echo went on', needs: [fill]}
  last: {run: 'echo last >> ../ledger; echo ended', needs: [next]}
",
    );
    let Some(ran) = with_own_mounts("a real file system without space", &space, script) else { return };
    let err = std::fs::read_to_string(space.path("err")).unwrap_or_default();
    assert_eq!(ran.code, Some(0), "{} {err}", ran.err);
    assert!(err.contains("database or disk is full"), "{err}");
    assert!(err.contains("the store can be written again"), "{err}");
    assert_eq!(std::fs::read_to_string(space.path("ledger-while-full")).unwrap(), "fill\n");
    assert_eq!(ledger(&space), ["fill", "next", "last"]);
    let shown = ran.json();
    let output = |id: &str| {
        let node = shown["nodes"].as_array().unwrap().iter().find(|node| node["id"] == id);
        node.unwrap()["output"].as_str().map(str::to_owned)
    };
    assert_eq!(["fill", "next", "last"].map(|id| output(id).unwrap()), ["filled", "went on", "ended"]);
}

/// R-CLI-3: a disk that is full before the first entry starts nothing, leaves nothing to resume, and says so.
#[test]
fn no_space_before_the_start() {
    if !may_inject("a full disk at the start") {
        return;
    }
    let space = fresh();
    std::fs::create_dir(space.path(".sprag")).unwrap();
    let ran = traced(&space, &["pwrite64:error=ENOSPC:when=1+"], &["run"]);
    said(&ran, 75, "STORE_UNAVAILABLE", &["there is space"]);
    assert!(ledger(&space).is_empty());
    assert_eq!(space.run(&["run"]).code, Some(0));
    ran_once(&space);
}

/// R-JRN-3: after one failed flush the run goes on, whichever it was.
#[test]
fn one_flush_fails() {
    if !may_inject("one failed flush") {
        return;
    }
    for flush in 1..=FLUSHES {
        let space = used();
        let ran = traced(&space, &[&format!("fsync,fdatasync:error=EIO:when={flush}")], &["run"]);
        assert_eq!(ran.code, Some(0), "{flush}: {}", ran.err);
        assert!(ran.err.contains("the store cannot be written: disk I/O error"), "{flush}: {}", ran.err);
        assert!(ran.err.contains("the store can be written again"), "{flush}: {}", ran.err);
        ran_once(&space);
        is_complete(&space);
    }
}

/// R-JRN-3, R-CLI-3: a second failed flush stops the process with 75; what it had said is kept, and `resume` ends it.
#[test]
fn flushes_fail_again() {
    if !may_inject("failing flushes") {
        return;
    }
    for flush in 1..=FLUSHES {
        let space = used();
        let ran = traced(&space, &[&format!("fsync,fdatasync:error=EIO:when={flush}+")], &["run"]);
        said(&ran, 75, "STORE_UNAVAILABLE", &["the disk failed to keep what was written"]);
        assert!(!ran.err.contains("can be written again\nerror"), "{flush}: {}", ran.err);
        let told: Vec<_> = ["a", "b", "c", "d"].into_iter().filter(|node| ran.err.contains(&completed(node))).collect();
        if ran.err.contains("nothing of the run was stored") {
            // Flush 1 or 2: the run never began, and `run` is what to do.
            assert!(flush <= 2 && ledger(&space).is_empty(), "{flush}: {}", ran.err);
            assert_eq!(space.run(&["run"]).code, Some(0));
        } else {
            assert!(ran.err.contains("sprag resume "), "{flush}: {}", ran.err);
            let resumed = space.run(&["resume"]);
            // The last entry may have been kept after all, and then there is nothing left to do.
            let over = flush == FLUSHES && resumed.err.contains("error[NOTHING_TO_RESUME]");
            assert!(resumed.code == Some(0) || over, "{flush}: {}", resumed.err);
        }
        is_complete(&space);
        for node in told {
            assert_eq!(ledger(&space).iter().filter(|line| *line == node).count(), 1, "{flush}: {node}");
        }
    }
}

fn completed(node: &str) -> String {
    format!("{node}: completed\n")
}
