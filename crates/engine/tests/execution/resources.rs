//! What executing commands costs this process in the long run: nothing.

use std::fs;

use rustix::io::Errno;
use rustix::process::{WaitOptions, wait};
use sprag_engine::exec::{Abort, Program, Stop};

use crate::bed::{Bed, alone, is_alone};

#[test]
fn thousands_of_attempts_leave_no_open_file_and_no_zombie() {
    // R-CMD-3
    if !is_alone() {
        alone("resources::thousands_of_attempts_leave_no_open_file_and_no_zombie", &[]);
        return;
    }
    let bed = Bed::new();
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    let once = |attempt: usize| {
        let words = ["true", "false", "no-such-program", "echo"][attempt % 4];
        let abort = Abort::new().unwrap();
        if attempt % 50 == 7 {
            abort.stop(Stop::Now);
        }
        drop(bed.execute_until(&bed.job(Program::Arguments(vec![words.into()])), &abort));
    };
    (0..10).for_each(once);
    let before = open();
    (0..2_000).for_each(once);
    assert_eq!(open(), before);
    assert_eq!(wait(WaitOptions::NOHANG).unwrap_err(), Errno::CHILD, "every child was waited for");
    assert_eq!(fs::read_dir(bed.slots.path()).unwrap().count(), 0);
}
