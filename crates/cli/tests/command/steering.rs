//! Ending, leaving and taking over a run, from its own terminal and from others (`R-GATE-3`, `R-ASK-2`).

use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::owner::{Owner, Signals, pipe};
use super::processes;
use super::space::{Ran, Space};

/// `work` says that it is there and waits until it may go on; `after` comes next.
const WAITING: &str = "workflow: w
nodes:
  work: { run: 'setsid sleep 60 > left 2>&1 & echo up > up; read line < go; echo $line' }
  after: { needs: [work], run: 'echo after > up' }
";

/// The same, by a command that does not listen to SIGTERM.
const STUBBORN: &str = "workflow: w
nodes:
  work: { run: \"trap '' TERM; echo up > up; read line < go; echo $line\" }
";

/// A run whose first node is waiting.
struct Live {
    space: Space,
    owner: Owner,
    up: Signals,
    id: String,
}

impl Live {
    fn new(workflow: &str) -> Self {
        let space = Space::new().with("sprag.yaml", workflow);
        let up = Signals::new(&space, "up");
        pipe(&space, "go");
        let mut owner = Owner::start(&space, &["run"]);
        let id = owner.said("run ").unwrap().split(' ').nth(1).unwrap().to_owned();
        assert_eq!(up.next(), "up");
        Self { space, owner, up, id }
    }

    /// Lets the first node go on.
    fn go(&self) {
        std::fs::write(self.space.path("go"), "gone\n").unwrap();
    }

    fn show(&self) -> Value {
        self.space.run(&["show", "--json"]).json()
    }

    /// Resumes the run, whose first node waits again, and sees it to its end.
    fn resume(&self) -> Ran {
        let owner = Owner::start(&self.space, &["resume"]);
        assert_eq!(self.up.next(), "up");
        self.go();
        let ran = owner.finish();
        assert_eq!((ran.code, self.up.next().as_str()), (Some(0), "after"), "{}", ran.err);
        ran
    }
}

fn states(shown: &Value) -> Vec<&str> {
    shown["nodes"].as_array().unwrap().iter().map(|node| node["state"].as_str().unwrap()).collect()
}

fn is_refused(ran: &Ran, exit: i32, code: &str) {
    assert_eq!(ran.code, Some(exit), "{}", ran.err);
    assert!(ran.err.contains(&format!("error[{code}]")), "{}", ran.err);
    assert_eq!(ran.out, "");
}

/// R-GATE-3: once, running nodes end and nothing new starts; a service manager asks the same way.
#[test]
fn asked_once_to_end() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut live = Live::new(WAITING);
        live.owner.signal(signal);
        assert!(live.owner.said("stopping: running nodes may end").is_some());
        live.go();
        let ran = live.owner.finish();
        assert_eq!(ran.code, Some(130), "{}", ran.err);
        assert!(ran.err.contains(&format!("go on with: sprag resume {}", live.id)), "{}", ran.err);
        assert!(live.up.is_silent() && processes::of_run(&live.id).is_empty());
        let shown = live.space.run(&["show", "--json"]).json();
        assert_eq!((shown["status"].as_str(), states(&shown)[0]), (Some("interrupted"), "completed"));
        let ran = live.space.run(&["resume"]);
        assert_eq!((ran.code, live.up.next().as_str()), (Some(0), "after"));
        assert!(ran.err.contains("1 of them before and not repeated"), "{}", ran.err);
        assert!(live.up.is_silent(), "`work` was not repeated");
    }
}

/// R-GATE-3: twice, they are killed.
#[test]
fn asked_twice_to_end() {
    let mut live = Live::new(WAITING);
    live.owner.signal(Signal::INT);
    assert!(live.owner.said("stopping").is_some());
    live.owner.signal(Signal::INT);
    assert!(live.owner.said("killing").is_some());
    let Live { space, owner, up, id } = live;
    let ran = owner.finish();
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    assert!(ran.err.contains(&format!("sprag resume {id}")), "{}", ran.err);
    assert!(processes::of_run(&id).is_empty());
    let live = Live { owner: Owner::start(&space, &["runs"]), space, up, id };
    assert_eq!(states(&live.show()), ["running", "pending"]);
    live.resume();
    assert_eq!(live.show()["nodes"][0]["ledger"][0]["last_error"]["code"], "INTERRUPTED");
    assert_eq!(live.show()["nodes"][0]["attempts"], 2);
}

/// R-GATE-3: two that come at once are two.
#[test]
fn asked_twice_at_once() {
    let mut live = Live::new(WAITING);
    live.owner.signal(Signal::INT);
    // The kernel makes one of two that wait, which is not what a person does who presses twice.
    while processes::has_pending_signals(live.owner.pid) {
        std::thread::yield_now();
    }
    live.owner.signal(Signal::INT);
    assert!(live.owner.said("killing").is_some());
    assert_eq!(live.owner.finish().code, Some(130));
    assert!(processes::of_run(&live.id).is_empty());
}

/// R-GATE-3: a terminal sends Ctrl-C to a whole group of processes, of which commands are no part.
#[test]
fn ctrl_c_of_a_terminal_does_not_reach_commands() {
    let space = Space::new().with("sprag.yaml", WAITING);
    let up = Signals::new(&space, "up");
    pipe(&space, "go");
    let mut command = space.command();
    command.arg("run").process_group(0);
    let mut owner = Owner::of(command);
    assert_eq!(up.next(), "up");
    let group = Pid::from_raw(owner.pid.cast_signed()).unwrap();
    kill_process_group(group, Signal::INT).unwrap();
    assert!(owner.said("stopping").is_some());
    std::fs::write(space.path("go"), "gone\n").unwrap();
    let ran = owner.finish();
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    assert_eq!(space.run(&["show", "--json"]).json()["nodes"][0]["output"], "gone");
}

/// R-CMD-2, R-EDGE-5, R-CLI-8: from another terminal; all its processes die, and who wanted it is known.
#[test]
fn a_live_run_is_ended_from_outside() {
    for verb in ["cancel", "kill"] {
        let live = Live::new(WAITING);
        processes::wait_for_so_many(&live.id, 2);
        let ran = live.space.run(&[verb, "@last", "--json", "--why", "enough"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(ran.json()["run_id"], live.id.as_str());
        let ended = live.owner.finish();
        assert_eq!(ended.code, Some(5), "{}", ended.err);
        assert!(ended.err.contains(&format!("run {} cancelled", live.id)), "{}", ended.err);
        let left = processes::of_run(&live.id);
        assert!(left.is_empty() && live.up.is_silent(), "{left:?}");
        let shown = live.space.run(&["show", "--json"]).json();
        assert_eq!((shown["status"].as_str(), states(&shown)), (Some("cancelled"), vec!["cancelled", "cancelled"]));
        let [decision] = shown["decisions"].as_array().unwrap().as_slice() else { panic!("{}", shown["decisions"]) };
        let told = ["what", "by", "why", "refused"].map(|key| decision[key].as_str());
        assert_eq!(told, [Some(verb), Some("somebody"), Some("enough"), None]);
        assert!(decision["at"].is_string());
        let events = live.space.run(&["events"]);
        assert!(events.out.contains(&format!("{verb} by ")), "{}", events.out);
    }
}

/// R-CMD-2: `cancel` sends SIGTERM, and SIGKILL ten seconds later.
#[test]
fn who_does_not_listen_has_ten_seconds() {
    let live = Live::new(STUBBORN);
    let began = Instant::now();
    assert_eq!(live.space.run(&["cancel", "@last"]).code, Some(0));
    let ran = live.owner.finish();
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    assert!(began.elapsed() > Duration::from_secs(9), "{:?}", began.elapsed());
    assert!(processes::of_run(&live.id).is_empty());
}

/// R-CMD-2: who does not want to wait for that says `kill`.
#[test]
fn kill_after_cancel_waits_no_longer() {
    let live = Live::new(STUBBORN);
    let began = Instant::now();
    assert_eq!(live.space.run(&["cancel", "@last"]).code, Some(0));
    let ran = live.space.run(&["kill", "@last"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(live.owner.finish().code, Some(5));
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
    assert!(processes::of_run(&live.id).is_empty());
}

/// R-ASK-2: a verb on a run that nobody owns is applied in its place, and starts nothing.
#[test]
fn an_interrupted_run_is_ended_without_an_owner() {
    for verb in ["cancel", "kill"] {
        let Live { space, owner, up, id } = Live::new(WAITING);
        owner.kill();
        let ran = space.run(&[verb, &id]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(ran.err, format!("run {id} is cancelled\n"));
        assert!(up.is_silent() && processes::of_run(&id).is_empty());
        let shown = space.run(&["show", "--json"]).json();
        assert_eq!((shown["status"].as_str(), shown["exit_code"].as_i64()), (Some("cancelled"), Some(5)));
        is_refused(&space.run(&["resume", &id]), 3, "RUN_ENDED");
        is_refused(&space.run(&["resume"]), 3, "NOTHING_TO_RESUME");
    }
}

#[test]
fn what_is_over_stays_over() {
    let space = Space::new().with("sprag.yaml", "workflow: w\nnodes: { a: { run: 'true' } }\n");
    assert_eq!(space.run(&["run"]).code, Some(0));
    for verb in ["cancel", "kill", "resume"] {
        is_refused(&space.run(&[verb, "@last"]), 3, "RUN_ENDED");
        assert_eq!(space.run(&["--json", verb, "@last"]).json()["error"]["code"], "RUN_ENDED");
    }
}

/// R-CLAIM-2: at most one process runs a run.
#[test]
fn a_run_has_one_owner() {
    let live = Live::new(WAITING);
    let ran = live.space.run(&["resume", &live.id]);
    is_refused(&ran, 3, "RUN_OWNED");
    assert!(ran.err.contains(&format!("process {} is running", live.owner.pid)), "{}", ran.err);
    is_refused(&live.space.run(&["resume"]), 3, "NOTHING_TO_RESUME");
    let Live { space, owner, up, id } = live;
    owner.kill();
    for _ in 0..5 {
        let all: Vec<Owner> = (0..3).map(|_| Owner::start(&space, &["resume", &id])).collect();
        assert_eq!(up.next(), "up");
        let mut going = None;
        for mut owner in all {
            if owner.said("resuming run").is_some() {
                // Who was too late sees so when it wants to write, and says so.
                if owner.said("work: running").is_some() {
                    assert!(going.replace(owner).is_none(), "two processes run one run");
                    continue;
                }
            }
            is_refused(&owner.finish(), 3, "RUN_OWNED");
        }
        going.unwrap().kill();
        processes::wait_for_the_end_of(&id);
        assert!(up.is_silent(), "somebody else has started the node too");
    }
}

/// R-CLAIM-2: the lock is that of the store, whatever it is called.
#[test]
fn a_run_has_one_owner_by_any_name() {
    let live = Live::new(WAITING);
    let (links, inner) = (live.space.path("links"), live.space.path(".sprag/sprag.db"));
    std::fs::create_dir(&links).unwrap();
    symlink(&inner, links.join("link.db")).unwrap();
    symlink(live.space.path(".sprag"), links.join("state")).unwrap();
    for store in ["sqlite:links/link.db", "sqlite:links/state/sprag.db", "sqlite:.sprag/../links/link.db"] {
        let ran = live.space.run(&["resume", &live.id, "--store", store]);
        is_refused(&ran, 3, "RUN_OWNED");
        assert!(ran.err.contains(&format!("process {} is running", live.owner.pid)), "{}", ran.err);
    }
    // A second name of the file itself cannot be told from the first, so both are refused.
    std::fs::hard_link(&inner, links.join("hard.db")).unwrap();
    is_refused(&live.space.run(&["resume", &live.id, "--store", "sqlite:links/hard.db"]), 75, "STORE_UNAVAILABLE");
    std::fs::remove_file(links.join("hard.db")).unwrap();
    assert!(live.up.is_silent(), "somebody else has started the node too");
    let left: Vec<_> = std::fs::read_dir(&links).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    live.go();
    assert_eq!(live.up.next(), "after");
    assert_eq!(live.owner.finish().code, Some(0));
}

/// R-ASK-2: an owner that does not answer gets the command when it does.
#[test]
fn a_stopped_owner_is_told_later() {
    let live = Live::new(WAITING);
    live.owner.signal(Signal::STOP);
    is_refused(&live.space.run(&["resume", &live.id]), 3, "RUN_OWNED");
    is_refused(&live.space.run(&["cancel", &live.id]), 75, "NOT_YET_APPLIED");
    assert_eq!(live.show()["status"], "running");
    live.owner.signal(Signal::CONT);
    assert_eq!(live.owner.finish().code, Some(5));
    assert!(processes::of_run(&live.id).is_empty());
}
