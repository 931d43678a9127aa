//! The guard, with an owner that dies without a word.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use sprag_core::run::{OwnerId, RunId};
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
        run: RunId::default(),
        node: "a".into(),
        attempt: 1,
        attempt_id: fresh_id(),
        idempotency_key: fresh_id(),
        owner,
    };
    let script = fs::read_to_string(folder.join("script")).unwrap();
    let job = CommandJob::new(identity, Program::Shell(script), folder.clone(), folder.join("log"));
    std::thread::scope(|scope| {
        for slot in [0, 1].map(|number| slots.slot(number)) {
            let job = &job;
            scope.spawn(move || {
                // Until it is killed, or its pipe to the test is gone.
                while execute(job, &slot, &Abort::new().unwrap()).is_ok() {}
            });
        }
    });
}

/// An owner in a process of its own, killed without a word when it is dropped.
struct Owner(Child);

impl Owner {
    fn start(folder: &Path, script: &str) -> Self {
        fs::write(folder.join("script"), script).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "guarding::as_owner", "--nocapture"]).env(OWNER_FOLDER, folder);
        Self(command.stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// What an owner noted: its id and its folder of slots.
fn note(folder: &Path) -> (OwnerId, PathBuf) {
    let note = fs::read_to_string(folder.join("note")).unwrap();
    let (id, slots) = note.split_once('\n').unwrap();
    (id.parse().unwrap(), slots.into())
}

fn wait_for_lock(lock: File) {
    let (free, freed) = mpsc::channel();
    std::thread::spawn(move || free.send(lock.lock()));
    freed.recv_timeout(Duration::from_mins(1)).expect("the lock becomes free").unwrap();
}

#[test]
fn an_owner_may_die_in_the_middle_of_a_start() {
    // R-CMD-2, R-CLAIM-2
    for round in 0..8 {
        let folder = tempfile::tempdir().unwrap();
        let mut signal = Signal::new(&folder.path().join("signal"));
        let owner = Owner::start(folder.path(), "sleep 1000 & echo $! > signal");
        let left: Vec<_> = (0..5 + round).map(|_| signal.process()).collect();
        drop(owner);
        let (id, slots) = note(folder.path());
        wait_for_lock(File::open(folder.path().join("lock")).unwrap());
        assert!(left.iter().all(|process| !process.lives()));
        assert_eq!(clean_up_after(id, &slots, folder.path()).unwrap(), 0, "the guard found all of them");
    }
}

#[test]
fn a_killed_owner_leaves_nothing_and_its_lock_is_free_only_then() {
    // R-CMD-2, R-CLAIM-2, R-GATE-3
    let folder = tempfile::tempdir().unwrap();
    let mut signal = Signal::new(&folder.path().join("signal"));
    let owner = Owner::start(folder.path(), FAMILY);
    let family: [Process; 6] = std::array::from_fn(|_| signal.process());
    let (id, slots) = note(folder.path());
    let lock = File::open(folder.path().join("lock")).unwrap();
    assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
    assert!(family.iter().all(Process::lives) && slots.exists());
    drop(owner);
    wait_for_lock(lock);
    assert!(family.iter().all(|process| !process.lives()), "lock free = holder and children gone");
    assert!(!slots.exists());
    // Whoever takes over does it once more, to be sure.
    assert_eq!(clean_up_after(id, &slots, folder.path()).unwrap(), 0);
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
