//! Whether a process is still the one it was.

use std::fs;

/// What tells a process from a later one with the same number: when it started, in ticks since the machine did.
/// Nothing if there is none, or only what its parent has not collected yet.
pub(super) fn started(pid: u32) -> Option<u64> {
    ticks(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Which processes the numbers of this process count: those of this machine, or of a container.
pub(super) fn namespace() -> Option<String> {
    fs::read_link("/proc/self/ns/pid").ok()?.into_os_string().into_string().ok()
}

/// The name of a program may hold anything, so the fields are counted from its end.
fn ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    // The state is field 3, the start field 22.
    let ticks = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X" | "x")).then_some(ticks)
}

#[cfg(test)]
mod tests {
    use super::{namespace, started, ticks};

    #[test]
    fn a_process_is_known_by_its_start() {
        // R-CLAIM-2
        assert!(started(std::process::id()).is_some());
        assert_eq!(started(u32::MAX), None);
        assert!(namespace().is_some_and(|name| name.starts_with("pid:[")));
    }

    #[test]
    fn names_may_hold_anything_and_the_dead_are_dead() {
        let stat = |state| format!("7 (a) Z 1 (b) {state} 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 123456 1 1");
        assert_eq!(ticks(&stat("S")), Some(123_456));
        assert_eq!(ticks(&stat("R")), Some(123_456));
        assert_eq!(ticks(&stat("Z")), None);
        assert_eq!(ticks(&stat("X")), None);
        for broken in ["", "7", "7 (a", "7 (a) S", "7 (a) S 1 2 3"] {
            assert_eq!(ticks(broken), None, "{broken}");
        }
    }
}
