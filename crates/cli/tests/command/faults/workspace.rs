//! Folders that cannot be used, for as long as they cannot (`R-CLI-2`, `R-CLI-3`, `R-FAIL-1`).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use super::chain::{fresh, is_complete, ran_once, said, used};
use super::rig::{Somebody, not_run, with_own_mounts};
use crate::space::Space;

/// R-CLI-2: a file where the state folder should be is no empty project.
#[test]
fn the_state_folder_is_a_file() {
    let space = fresh().with(".sprag", "mine");
    for verb in ["run", "runs", "show", "resume", "validate"] {
        said(&space.run(&[verb]), 2, "BAD_WORKSPACE", &["it is not a folder", "move it away"]);
    }
    assert_eq!(fs::read(space.path(".sprag")).unwrap(), b"mine");
    fs::remove_file(space.path(".sprag")).unwrap();
    assert_eq!(space.run(&["run"]).code, Some(0));
    ran_once(&space);
}

/// R-CLI-2: state that another user could have planted is not used, also not to read.
#[test]
fn the_state_folder_of_another_user() {
    let space = used();
    let stranger = 12_345;
    if std::os::unix::fs::chown(space.path(".sprag"), Some(stranger), None).is_err() {
        return not_run("the state folder of another user", "only root can give folders away");
    }
    for verb in ["run", "runs", "show", "resume"] {
        said(&space.run(&[verb]), 2, "BAD_WORKSPACE", &["belongs to another user (uid 12345)", "change its owner"]);
    }
    std::os::unix::fs::chown(space.path(".sprag"), Some(0), None).unwrap();
    assert_eq!(space.run(&["run"]).code, Some(0));
    ran_once(&space);
}

/// R-CLI-3: folders and files without the right to write or read: said at once, nothing changed, fine afterwards.
#[test]
fn permissions() {
    let write = &["you may write it"][..];
    for (what, mode, run, runs) in [
        (".", 0o555, (2, "BAD_WORKSPACE", &["a folder that you may write"][..]), None),
        (".sprag", 0o000, (75, "STORE_UNAVAILABLE", write), Some((75, "STORE_UNAVAILABLE"))),
        (".sprag/sprag.db", 0o444, (75, "STORE_UNAVAILABLE", &["is write-protected", "can be written"][..]), None),
        (".sprag/sprag.db", 0o000, (75, "STORE_UNAVAILABLE", write), Some((75, "STORE_UNAVAILABLE"))),
    ] {
        let space = if what == "." { fresh() } else { used() };
        let Some(somebody) = Somebody::of("folders without permission", &space) else { return };
        let before = bytes(&space);
        let mode_before = fs::metadata(space.path(what)).unwrap().permissions();
        fs::set_permissions(space.path(what), Permissions::from_mode(mode)).unwrap();
        let (exit, code, words) = run;
        let ran = somebody.run(&space, &["run"]);
        said(&ran, exit, code, words);
        assert!(!ran.err.contains("immutable"), "{}", ran.err);
        let listed = somebody.run(&space, &["runs"]);
        match runs {
            Some((exit, code)) => said(&listed, exit, code, &[]),
            None => assert_eq!(listed.code, Some(0), "{what} {mode:o}: {}", listed.err),
        }
        fs::set_permissions(space.path(what), mode_before).unwrap();
        assert!(bytes(&space) == before, "{what} {mode:o}: the database was changed");
        let ran = somebody.run(&space, &["run"]);
        assert_eq!(ran.code, Some(0), "{what} {mode:o}: {}", ran.err);
        ran_once(&space);
    }
}

fn bytes(space: &Space) -> Option<Vec<u8>> {
    fs::read(space.path(".sprag/sprag.db")).ok()
}

/// R-CLI-3: a read-only file system: nothing is run, everything can be read.
#[test]
fn a_read_only_file_system() {
    let script = r#"
        mount --bind . . && mount -o remount,ro,bind . || exit 99
        cd "$PWD"
        "$SPRAG" runs > /dev/null || exit 97
        "$SPRAG" show > /dev/null || exit 98
        exec "$SPRAG" run
    "#;
    let space = used();
    let Some(ran) = with_own_mounts("a read-only file system", &space, script) else { return };
    said(&ran, 75, "STORE_UNAVAILABLE", &["is write-protected", "can be written"]);
    assert_eq!(space.run(&["run"]).code, Some(0));
    ran_once(&space);
    is_complete(&space);
}
