//! What the machine can do at best: the physical limits beside which sprag is measured.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// The time of one write and flush of a page, averaged over many.
pub fn flush(folder: &Path, count: u32) -> Duration {
    let file = File::create(folder.join("flush")).unwrap();
    let page = [7_u8; 4096];
    let began = Instant::now();
    for at in 0..count {
        file.write_all_at(&page, u64::from(at) * 4096).unwrap();
        rustix::fs::fdatasync(&file).unwrap();
    }
    began.elapsed() / count
}

/// The time of one durable commit of one row, averaged over many. The row is as long as one of sprag's journal.
pub fn sqlite_commit(folder: &Path, count: u32) -> Duration {
    let path = folder.join("raw.db");
    drop(std::fs::remove_file(&path));
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;").unwrap();
    connection.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, entries TEXT) STRICT").unwrap();
    let mut insert = connection.prepare("INSERT INTO t (at, entries) VALUES (?1, ?2)").unwrap();
    let entries = "x".repeat(240);
    let began = Instant::now();
    for at in 0..count {
        insert.execute((at, &entries)).unwrap();
    }
    began.elapsed() / count
}

/// A thousand commands, two at a time, without anything durable.
pub fn xargs() -> Duration {
    let began = Instant::now();
    let status = Command::new("sh").args(["-c", "seq 1000 | xargs -P2 -n1 true"]).status().unwrap();
    assert!(status.success());
    began.elapsed()
}

/// A thousand commands, two at a time, with nothing around them at all.
pub fn spawn() -> Duration {
    let began = Instant::now();
    let thread = || {
        for _ in 0..500 {
            assert!(Command::new("/bin/true").stdin(Stdio::null()).status().unwrap().success());
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(thread);
        scope.spawn(thread);
    });
    began.elapsed()
}
