//! Leases are kernel locks (`R-CLAIM-2`).

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use sprag_store::{Holder, OpenError, Store, StoreError};

use super::sample::{Place, in_process, leases, owner, process, process_within, said};

#[test]
fn a_lease_is_a_file_of_its_own_that_nobody_else_can_read() {
    let place = Place::new();
    let store = place.open();
    let lease = store.leases.hold(owner(1), "a \"note\"").unwrap();
    let folder = leases(&place);
    let file = folder.join(owner(1).to_string());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(&format!("{{\"pid\":{},\"started\":", std::process::id())), "{text}");
    assert!(matches!(store.leases.hold(owner(1), ""), Err(StoreError::Unavailable { .. })));
    drop(lease);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_file_that_nobody_locks_is_abandoned_until_it_is_forgotten() {
    let place = Place::new();
    let store = place.open();
    drop(store.leases.hold(owner(2), "").unwrap());
    let file = leases(&place).join(owner(1).to_string());
    fs::write(&file, r#"{"pid":1,"started":0,"note":"clean this"}"#).unwrap();
    fs::write(leases(&place).join("else"), "").unwrap();
    assert_eq!(store.leases.holder(owner(1)).unwrap(), Holder::Nobody);
    assert_eq!(store.leases.abandoned().unwrap(), [(owner(1), "clean this".to_owned())]);
    // After a power cut it may be empty.
    fs::write(&file, "").unwrap();
    assert_eq!(store.leases.abandoned().unwrap(), [(owner(1), String::new())]);
    store.leases.forget(owner(1)).unwrap();
    assert_eq!(store.leases.abandoned().unwrap(), []);
    assert!(!file.exists());
}

/// Holds a lease until it is killed, with a child that shares it; nothing when it is run as a test.
#[test]
fn hold_with_a_guard() {
    let Some(store) = in_process() else { return };
    let lease = store.leases.hold(owner(1), "note").unwrap();
    // The guard ends when nobody can write to it any more, and until then has the lease open.
    let shared = lease.shared().unwrap().unwrap();
    let mut guard = Command::new("cat").stdin(Stdio::inherit()).stdout(shared).spawn().unwrap();
    let mut out = std::io::stdout().lock();
    writeln!(out, "said held").unwrap();
    out.flush().unwrap();
    guard.wait().unwrap();
}

#[test]
fn a_killed_process_is_ending_until_its_guard_is_gone() {
    // R-CLAIM-2
    let place = Place::new();
    let store = place.open();
    let mut child = process("owners::hold_with_a_guard", &place.path());
    let stdin = child.stdin.take();
    assert_eq!(said(&mut child).next().unwrap(), "held");
    assert_eq!(store.leases.holder(owner(1)).unwrap(), Holder::Alive { pid: Some(child.id()) });
    assert_eq!(store.leases.abandoned().unwrap(), []);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(store.leases.holder(owner(1)).unwrap(), Holder::Ending);
    store.leases.forget(owner(1)).unwrap();
    assert_eq!(store.leases.holder(owner(1)).unwrap(), Holder::Ending, "what is held is not forgotten");
    drop(stdin);
    // The guard is not a child of this process, so its end is seen by the lock alone.
    while store.leases.holder(owner(1)).unwrap() == Holder::Ending {
        std::thread::yield_now();
    }
    assert_eq!(store.leases.holder(owner(1)).unwrap(), Holder::Nobody);
    assert_eq!(store.leases.abandoned().unwrap(), [(owner(1), "note".to_owned())]);
    store.leases.forget(owner(1)).unwrap();
    assert_eq!(store.leases.abandoned().unwrap(), []);
}

#[test]
fn those_who_look_are_in_nobodys_way() {
    let place = Place::new();
    let store = place.open();
    // This makes the folder.
    drop(store.leases.hold(owner(9), "").unwrap());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // An abandoned one is never taken for a held one, however many look.
                    assert_eq!(store.leases.holder(owner(9)).unwrap(), Holder::Nobody);
                    for (abandoned, _) in store.leases.abandoned().unwrap() {
                        assert_eq!(abandoned, owner(9));
                    }
                    assert_ne!(store.leases.holder(owner(1)).unwrap(), Holder::Ending);
                }
            });
        }
        let file = leases(&place).join(owner(9).to_string());
        for _ in 0..200 {
            fs::write(&file, r#"{"pid":1,"started":0,"note":""}"#).unwrap();
            let lease = store.leases.hold(owner(1), "").unwrap();
            assert!(matches!(store.leases.holder(owner(1)).unwrap(), Holder::Alive { .. }));
            drop(lease);
        }
        done.store(true, Ordering::Relaxed);
    });
    store.leases.forget(owner(9)).unwrap();
    assert_eq!(store.leases.abandoned().unwrap(), []);
}

/// A process of another container is alive while it holds its lock: what its process id means here says nothing.
#[test]
fn a_process_of_another_namespace_is_alive() {
    // R-CLAIM-2
    let place = Place::new();
    let store = place.open();
    let lease = store.leases.hold(owner(1), "").unwrap();
    let file = leases(&place).join(owner(1).to_string());
    let text = fs::read_to_string(&file).unwrap();
    let (pid, here) = (std::process::id(), fs::read_link("/proc/self/ns/pid").unwrap().display().to_string());
    assert!(text.contains(&here), "{text}");
    let holder = |text: &str| {
        fs::write(&file, text).unwrap();
        store.leases.holder(owner(1)).unwrap()
    };
    let elsewhere = text.replace(&here, "pid:[1]");
    assert_eq!(holder(&elsewhere), Holder::Alive { pid: None });
    // Nor is a process here with the number of one that died there.
    assert_eq!(holder(&elsewhere.replace("\"started\":", "\"started\":1")), Holder::Alive { pid: None });
    assert_eq!(holder(&text.replace("\"started\":", "\"started\":1")), Holder::Ending);
    // Files of earlier versions do not say.
    assert_eq!(holder(&format!(r#"{{"pid":{pid},"started":0,"note":""}}"#)), Holder::Ending);
    assert_eq!(holder(&text), Holder::Alive { pid: Some(pid) });
    drop(lease);
}

#[test]
fn a_process_in_a_container_is_alive() {
    // R-CLAIM-2
    let unshare = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    if !Command::new(unshare[0]).args(&unshare[1..]).arg("true").status().is_ok_and(|status| status.success()) {
        println!("not run: a_process_in_a_container_is_alive, because no namespace may be made here");
        return;
    }
    let place = Place::new();
    let store = place.open();
    let mut child = process_within(&unshare, "owners::hold_with_a_guard", &place.path());
    let stdin = child.stdin.take();
    assert_eq!(said(&mut child).next().unwrap(), "held");
    assert_eq!(store.leases.holder(owner(1)).unwrap(), Holder::Alive { pid: None });
    drop(stdin);
    child.wait().unwrap();
    assert_eq!(store.leases.holder(owner(1)).unwrap(), Holder::Nobody);
}

#[test]
fn the_lease_does_not_depend_on_the_spelling_of_the_path() {
    // R-CLAIM-2
    let place = Place::new();
    let store = place.open();
    let elsewhere = Place::new();
    symlink(place.path(), elsewhere.folder().join("link.db")).unwrap();
    symlink(place.folder(), elsewhere.folder().join("folder")).unwrap();
    let lease = store.leases.hold(owner(1), "").unwrap();
    for name in ["link.db", "folder/sprag.db", "./folder/./sprag.db"] {
        let other = Store::sqlite(&elsewhere.folder().join(name)).unwrap();
        let pid = Some(std::process::id());
        assert_eq!(other.leases.holder(owner(1)).unwrap(), Holder::Alive { pid }, "{name}");
    }
    assert!(!elsewhere.folder().join("link.db.owners").exists());
    drop(lease);
    // An empty file behind a link is filled, and the link stays one.
    fs::write(place.folder().join("empty.db"), "").unwrap();
    symlink(place.folder().join("empty.db"), elsewhere.folder().join("other.db")).unwrap();
    let through = Store::sqlite(&elsewhere.folder().join("other.db")).unwrap();
    let _lease = through.leases.hold(owner(2), "").unwrap();
    assert!(place.folder().join("empty.db.owners").join(owner(2).to_string()).exists());
    assert_eq!(store.leases.holder(owner(2)).unwrap(), Holder::Nobody, "databases in one folder do not meet");
}

#[test]
fn a_file_with_two_names_is_refused() {
    // R-CLAIM-2
    let place = Place::new();
    drop(place.open());
    let other = place.folder().join("other.db");
    fs::hard_link(place.path(), &other).unwrap();
    for path in [place.path(), other.clone()] {
        let error = Store::sqlite(&path).map(|_| ()).unwrap_err();
        assert!(matches!(error, OpenError::Linked { links: 2, .. }), "{error}");
        assert!(error.to_string().contains("two names would have two locks"), "{error}");
    }
    fs::remove_file(other).unwrap();
    drop(place.open());
}

#[test]
fn leases_that_others_could_forge_are_refused() {
    // R-CLAIM-2
    let place = Place::new();
    let store = place.open();
    drop(store.leases.hold(owner(1), "").unwrap());
    let refused = |why: &str| {
        let error = Store::sqlite(&place.path()).map(|_| ()).unwrap_err();
        assert!(matches!(error, OpenError::Exposed { .. }) && error.to_string().contains(why), "{error}");
        // The same for those who had it open before.
        for answer in [
            store.leases.hold(owner(1), "").map(drop),
            store.leases.holder(owner(1)).map(drop),
            store.leases.abandoned().map(drop),
        ] {
            assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
        }
    };
    let folder = leases(&place);
    for mode in [0o720, 0o702, 0o777] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        refused("others may write it");
    }
    fs::remove_dir(&folder).unwrap();
    symlink("/tmp", &folder).unwrap();
    refused("it is not a folder");
    fs::remove_file(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    if std::os::unix::fs::chown(&folder, Some(1), None).is_ok() {
        refused("it belongs to another user (uid 1)");
    } else {
        println!("not run: leases_that_others_could_forge_are_refused, a folder of somebody else");
    }
}
