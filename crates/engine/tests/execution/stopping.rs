//! Timeouts and aborts: whatever a command started is gone afterwards.

use std::time::Duration;

use sprag_engine::exec::{Abort, CommandJob, Marker, Stop, sweep};

use crate::bed::{Bed, Process, Signal};

/// Starts a child, a grandchild and one that forked twice and left the session; each tells its number.
const FAMILY: &str = r"
    sh -c 'echo $$ > signal; exec sleep 1000' &
    (sh -c 'echo $$ > signal; exec sleep 1000' &)
    (setsid sh -c 'echo $$ > signal; exec sleep 1000' > /dev/null 2>&1 < /dev/null &)
    echo $$ > signal
";

/// Runs a job in a thread of its own while this one does something to it.
fn while_it_runs<T>(bed: &Bed, job: &CommandJob, then: impl FnOnce(&Abort) -> T) -> (T, String) {
    let abort = Abort::new().unwrap();
    std::thread::scope(|scope| {
        let thread =
            scope.spawn(|| bed.execute_until(job, &abort).map_or_else(|error| error.to_string(), |_| String::new()));
        let done = then(&abort);
        (done, thread.join().unwrap())
    })
}

#[test]
fn what_takes_too_long_is_stopped() {
    // R-CMD-2
    let bed = Bed::new();
    let mut job = bed.script("sleep 1000");
    job.timeout = Some(Duration::from_millis(150));
    assert_eq!(bed.failure(&job), "TIMEOUT: took longer than 150ms");
    job.idle_timeout = Some(Duration::from_millis(20));
    assert_eq!(bed.failure(&job), "TIMEOUT: no output for 20ms");
    let mut job = bed.script("exec > /dev/null 2>&1; sleep 1000");
    job.timeout = Some(Duration::from_millis(150));
    assert_eq!(bed.failure(&job), "TIMEOUT: took longer than 150ms", "closed streams are no end");
    job.program = sprag_engine::exec::Program::Shell("true".into());
    (job.timeout, job.idle_timeout) = (Some(Duration::MAX), Some(Duration::MAX));
    bed.execute(&job).unwrap();
}

#[test]
fn every_byte_is_a_sign_of_life() {
    // R-NODE-2
    let bed = Bed::new();
    let mut job = bed.script("for i in 1 2 3 4 5 6; do printf x >&2; sleep 0.3; done; sleep 1000");
    job.idle_timeout = Some(Duration::from_millis(1_500));
    assert_eq!(bed.failure(&job), "TIMEOUT: no output for 1s500ms");
    assert_eq!(bed.log(), "xxxxxx");
}

#[test]
fn an_abort_ends_the_whole_family() {
    // R-CMD-2
    for how in [Stop::Gently, Stop::Now] {
        let bed = Bed::new();
        let mut signal = Signal::new(&bed.path("signal"));
        let job = bed.script(&format!("{FAMILY} sleep 1000"));
        let (family, ended) = while_it_runs(&bed, &job, |abort| {
            let family: [Process; 4] = std::array::from_fn(|_| signal.process());
            abort.stop(how);
            family
        });
        assert_eq!(ended, "INTERRUPTED: aborted");
        assert!(family.iter().all(|process| !process.lives()), "{how:?}");
        assert_eq!(sweep(&Marker::of_attempt(job.identity.attempt_id)).unwrap(), 0);
    }
}

#[test]
fn who_does_not_listen_is_killed() {
    // R-CMD-2
    let bed = Bed::new();
    let mut signal = Signal::new(&bed.path("signal"));
    let mut job = bed.script(&format!("trap '' TERM; {FAMILY} while :; do sleep 1000; done"));
    job.grace = Duration::from_millis(100);
    let (family, ended) = while_it_runs(&bed, &job, |abort| {
        let family: [Process; 4] = std::array::from_fn(|_| signal.process());
        abort.stop(Stop::Gently);
        family
    });
    assert_eq!(ended, "INTERRUPTED: aborted");
    assert!(family.iter().all(|process| !process.lives()));
    // Impatience: the second request does not wait for the grace of the first, which here would be hours.
    job.grace = Duration::from_secs(100_000);
    let (family, ended) = while_it_runs(&bed, &job, |abort| {
        let family: [Process; 4] = std::array::from_fn(|_| signal.process());
        abort.stop(Stop::Gently);
        abort.stop(Stop::Now);
        family
    });
    assert_eq!(ended, "INTERRUPTED: aborted");
    assert!(family.iter().all(|process| !process.lives()));
}

#[test]
fn who_tidies_up_has_the_time_for_it() {
    // R-CMD-2: the shell dies of the signal, its child needs a moment, and what it says is still logged.
    let bed = Bed::new();
    let mut signal = Signal::new(&bed.path("signal"));
    let job = bed.script(
        "sh -c 'trap \"sleep 0.2; echo tidy; exit\" TERM; echo $$ > signal; while :; do sleep 0.1; done' & wait",
    );
    let (child, ended) = while_it_runs(&bed, &job, |abort| {
        let child = signal.process();
        abort.stop(Stop::Gently);
        child
    });
    assert_eq!((ended.as_str(), child.lives()), ("INTERRUPTED: aborted", false));
    assert!(bed.log().contains("tidy\n"), "{}", bed.log());
}

#[test]
fn an_abort_before_the_start_starts_nothing() {
    // R-CMD-2
    let bed = Bed::new();
    let abort = Abort::new().unwrap();
    abort.stop(Stop::Gently);
    let error = bed.execute_until(&bed.script("touch started"), &abort).unwrap_err();
    assert_eq!(error.to_string(), "INTERRUPTED: aborted");
    assert!(!bed.path("started").exists());
}

#[test]
fn what_is_left_in_the_background_lives_until_its_owner_ends() {
    // R-CMD-2
    let bed = Bed::new();
    let mut signal = Signal::new(&bed.path("signal"));
    let job = bed.script("sh -c 'echo $$ > signal; exec sleep 1000' & echo done");
    assert_eq!(*bed.execute(&job).unwrap().output, "done", "it holds the pipe open, and nobody waits for it");
    let left = signal.process();
    assert!(left.lives());
    assert_eq!(sweep(&Marker::of_owner(bed.owner)).unwrap(), 1);
    assert!(!left.lives());
    let endless = bed.script("yes & echo done >&2");
    assert!(bed.execute(&endless).unwrap().output.as_str().is_none_or(|text| text.starts_with('y')));
    sweep(&Marker::of_owner(bed.owner)).unwrap();
}
