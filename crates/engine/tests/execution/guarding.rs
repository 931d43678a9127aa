//! The guard, with an owner that dies without a word.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use sprag_core::run::OwnerId;
use sprag_engine::exec::{Abort, CommandJob, Identity, Program, SlotFolders, execute};
use sprag_engine::guard::{self, Guard, GuardProgram, clean_up_after};

use crate::bed::{Bed, Process, Signal, fresh_id};

/// The variable that makes [`as_owner`] one.
const OWNER_FOLDER: &str = "SPRAG_TEST_OWNER_FOLDER";

const FAMILY: &str = r#"
    sh -c 'echo $$ > signal; exec sleep 1000' &
    (setsid sh -c 'trap "" TERM HUP; echo $$ > signal; exec sleep 1000' > /dev/null 2>&1 < /dev/null &)
    echo $$ > signal
    sleep 1000
"#;

fn program() -> GuardProgram {
    GuardProgram::same_binary(["--exact", "guarding::as_guard"])
}

/// No test: what this binary does when it is started as a guard.
#[test]
fn as_guard() {
    let words: Vec<String> = std::env::args().collect();
    let [.., owner, slots, state] = words.as_slice() else { return };
    if let Ok(owner) = owner.parse() {
        guard::main(owner, Path::new(slots), Path::new(state)).unwrap();
    }
}

/// No test: what this binary does when it is started as an owner.
#[test]
fn as_owner() {
    let Some(folder) = std::env::var_os(OWNER_FOLDER).map(PathBuf::from) else { return };
    let owner = OwnerId(fresh_id());
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let slots = SlotFolders::create(owner, &folder).unwrap();
    fs::write(folder.join("note"), format!("{owner}\n{}", slots.path().display())).unwrap();
    let _guard = Guard::start(owner, Some(lock.try_clone().unwrap()), slots.path(), &folder, &program()).unwrap();
    let identity = Identity {
        run: Default::default(),
        node: "a".into(),
        attempt: 1,
        attempt_id: fresh_id(),
        idempotency_key: fresh_id(),
        owner,
    };
    let job = CommandJob::new(identity, Program::Shell(FAMILY.into()), folder.clone(), folder.join("log"));
    execute(&job, &slots.slot(0), &Abort::new().unwrap()).unwrap();
}

#[test]
fn a_killed_owner_leaves_nothing_and_its_lock_is_free_only_then() {
    // R-CMD-2, R-CLAIM-2, R-GATE-3
    let folder = tempfile::tempdir().unwrap();
    let mut signal = Signal::new(&folder.path().join("signal"));
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "guarding::as_owner", "--nocapture"])
        .env(OWNER_FOLDER, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let family: [Process; 3] = std::array::from_fn(|_| signal.process());
    let note = fs::read_to_string(folder.path().join("note")).unwrap();
    let (id, slots) = note.split_once('\n').unwrap();
    let lock = File::open(folder.path().join("lock")).unwrap();
    assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
    assert!(family.iter().all(Process::lives) && Path::new(slots).exists());

    owner.kill().unwrap();
    owner.wait().unwrap();
    let (free, freed) = mpsc::channel();
    std::thread::spawn(move || free.send(lock.lock()));
    freed.recv_timeout(Duration::from_secs(60)).expect("the lock becomes free").unwrap();
    assert!(family.iter().all(|process| !process.lives()), "lock free = holder and children gone");
    assert!(!Path::new(slots).exists());
    // Whoever takes over does it once more, to be sure.
    assert_eq!(clean_up_after(id.parse().unwrap(), Path::new(slots), folder.path()).unwrap(), 0);
}

#[test]
fn an_owner_that_ends_in_peace_waits_for_its_guard() {
    // R-CMD-2
    let bed = Bed::new();
    let mut signal = Signal::new(&bed.path("signal"));
    let mut guard = Guard::start(bed.owner, None, bed.slots.path(), bed.folder(), &program()).unwrap();
    bed.execute(&bed.script("sh -c 'echo $$ > signal; exec sleep 1000' &")).unwrap();
    let left = signal.process();
    assert!(left.lives() && guard.is_alive());
    guard.finish().unwrap();
    assert!(!left.lives() && !bed.slots.path().exists());
}

#[test]
fn a_successor_cleans_up_where_the_guard_died_too() {
    // R-CMD-2, R-CLAIM-2
    let bed = Bed::new();
    let mut signal = Signal::new(&bed.path("signal"));
    bed.execute(&bed.script("(setsid sh -c 'echo $$ > signal; exec sleep 1000' > /dev/null 2>&1 &)")).unwrap();
    let left = signal.process();
    assert_eq!(clean_up_after(bed.owner, bed.slots.path(), bed.folder()).unwrap(), 1);
    assert!(!left.lives() && !bed.slots.path().exists());
}
