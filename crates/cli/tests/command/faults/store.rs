//! Files that are no store, no longer one, or not yet one (`R-STORE-1`, `R-CLI-3`).

use std::fs;

use super::chain::{is_complete, ran_once, said, used};
use super::rig::sql;
use crate::space::Space;

/// What is done to the file, and what `run` and `runs` then say of it.
struct Case {
    name: &'static str,
    harm: fn(&Space),
    exit: i32,
    code: &'static str,
    words: &'static [&'static str],
}

const DATABASE: &str = ".sprag/sprag.db";

/// R-STORE-1: a file that sprag does not understand is refused by what it is, with what to do, and stays as it is.
#[test]
fn files_that_are_no_store() {
    const NOT_OURS: &[&str] = &["sprag changes no file that it did not make", "backup"];
    const RESTORE: &[&str] = &["is damaged", "restore it from a backup"];
    let cases = [
        Case {
            name: "a text",
            harm: |space| fs::write(space.path(DATABASE), "a letter to a friend\n".repeat(99)).unwrap(),
            exit: 2,
            code: "FOREIGN_STORE",
            words: NOT_OURS,
        },
        Case {
            name: "the database of another application",
            harm: |space| {
                fs::remove_file(space.path(DATABASE)).unwrap();
                sql(space, "PRAGMA application_id = 7; CREATE TABLE photo (x); INSERT INTO photo VALUES (1)");
            },
            exit: 2,
            code: "FOREIGN_STORE",
            words: NOT_OURS,
        },
        Case {
            name: "a newer store",
            harm: |space| drop(sql(space, "PRAGMA user_version = 99")),
            exit: 2,
            code: "NEWER_STORE",
            words: &["has version 99", "use the newer sprag"],
        },
        Case {
            name: "a folder",
            harm: |space| {
                fs::remove_file(space.path(DATABASE)).unwrap();
                fs::create_dir(space.path(DATABASE)).unwrap();
            },
            exit: 2,
            code: "FOREIGN_STORE",
            words: &["it is not a file"],
        },
        Case {
            name: "a damaged header",
            harm: |space| overwrite(space, 4, 8),
            exit: 2,
            code: "FOREIGN_STORE",
            words: NOT_OURS,
        },
        Case {
            name: "a damaged first page",
            harm: |space| overwrite(space, 100, 3),
            exit: 2,
            code: "DAMAGED_STORE",
            words: RESTORE,
        },
        Case {
            name: "a short file",
            harm: |space| truncate(space, 20_000),
            exit: 2,
            code: "DAMAGED_STORE",
            words: RESTORE,
        },
        Case { name: "a stub", harm: |space| truncate(space, 50), exit: 2, code: "DAMAGED_STORE", words: RESTORE },
    ];
    for Case { name, harm, exit, code, words } in cases {
        let space = used();
        let whole = fs::read(space.path(DATABASE)).unwrap();
        harm(&space);
        let harmed = fs::read(space.path(DATABASE)).ok();
        for verb in ["run", "runs", "show", "resume"] {
            println!("{name}: {verb}");
            said(&space.run(&[verb]), exit, code, words);
            assert!(fs::read(space.path(DATABASE)).ok() == harmed, "{name}: {verb} changed the file");
        }
        if space.path(DATABASE).is_dir() {
            fs::remove_dir(space.path(DATABASE)).unwrap();
        }
        fs::write(space.path(DATABASE), whole).unwrap();
        assert_eq!(space.run(&["run"]).code, Some(0), "{name}");
        ran_once(&space);
        is_complete(&space);
    }
}

/// R-STORE-1, R-CLI-3: damage that is met in the middle of the work is damage, not a disk to wait for, and no command
/// runs before it is noticed.
#[test]
fn damaged_pages() {
    let pages = fs::metadata(used().path(DATABASE)).unwrap().len() / 4096;
    let mut refused = 0;
    for page in 1..pages {
        let space = used();
        let whole = fs::read(space.path(DATABASE)).unwrap();
        overwrite(&space, page * 4096, 4096);
        let ran = space.run(&["run"]);
        // Pages of indexes and of blobs may not be met by this.
        if ran.code != Some(0) {
            said(&ran, 2, "DAMAGED_STORE", &["is damaged", "backup"]);
            assert!(super::chain::ledger(&space).is_empty(), "page {page}: {}", ran.err);
            refused += 1;
        }
        fs::write(space.path(DATABASE), whole).unwrap();
        let _ = fs::remove_file(space.path("ledger"));
        assert_eq!(space.run(&["run"]).code, Some(0), "page {page}");
        ran_once(&space);
    }
    assert!(refused > 2, "{refused} of {pages} pages");
}

/// Damages the database of a store at rest. Its log still holds the first page, which would hide damage to that one.
fn overwrite(space: &Space, at: u64, length: usize) {
    use std::os::unix::fs::FileExt as _;
    drop(fs::remove_file(space.path(&format!("{DATABASE}-wal"))));
    let file = fs::File::options().write(true).open(space.path(DATABASE)).unwrap();
    file.write_all_at(&vec![0xa5; length], at).unwrap();
}

fn truncate(space: &Space, length: u64) {
    drop(fs::remove_file(space.path(&format!("{DATABASE}-wal"))));
    fs::File::options().write(true).open(space.path(DATABASE)).unwrap().set_len(length).unwrap();
}
