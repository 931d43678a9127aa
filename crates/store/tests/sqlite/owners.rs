//! Leases are kernel locks (`R-CLAIM-2`).

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use sprag_store::{Holder, StoreError};

use super::sample::{Place, in_process, owner, process, said};

#[test]
fn a_lease_is_a_file_of_its_own_that_nobody_else_can_read() {
    let place = Place::new();
    let store = place.open();
    let lease = store.leases.hold(owner(1), "a \"note\"").unwrap();
    let folder = place.folder().join("owners");
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
    let file = place.folder().join("owners").join(owner(1).to_string());
    fs::write(&file, r#"{"pid":1,"started":0,"note":"clean this"}"#).unwrap();
    fs::write(place.folder().join("owners/else"), "").unwrap();
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
        let file = place.folder().join("owners").join(owner(9).to_string());
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
