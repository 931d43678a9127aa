//! The variables of a command, its folder and its open files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;
use sprag_core::run::Timestamp;
use sprag_engine::exec::Program;

use crate::bed::{Bed, alone, is_alone};

fn text(output: &Value) -> &str {
    output.as_str().unwrap()
}

#[test]
fn a_command_gets_exactly_the_listed_variables() {
    // R-CMD-1
    if !is_alone() {
        let variables = [("LANG", "C.UTF-8"), ("TZ", "Europe/Berlin"), ("PASSED", "on"), ("KEPT_BACK", "secret")];
        alone("environment::a_command_gets_exactly_the_listed_variables", &variables);
        return;
    }
    let bed = Bed::new();
    let mut job = bed.job(Program::Arguments(vec!["env".into()]));
    job.pass_env = vec!["PASSED".into(), "NOT_SET_ANYWHERE".into()];
    let pairs = |list: &[(&str, &str)]| list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    job.environment =
        pairs(&[("SPRAG_V1", "it's $HOME"), ("SPRAG_OWNER", "evil"), ("SPRAG_DEADLINE", "x"), ("TZ", "UTC")]);
    job.secrets = pairs(&[("TOKEN", "hunter2")]);
    job.deadline = Some(Timestamp::from_millis(1_769_851_800_000));
    let product = bed.execute(&job).unwrap();
    let mut found: BTreeMap<&str, &str> =
        text(&product.output).lines().map(|line| line.split_once('=').unwrap()).collect();
    let files: Vec<_> = ["SPRAG_INPUT", "SPRAG_OUTPUT", "SPRAG_CONTEXT", "SPRAG_ERROR"]
        .into_iter()
        .map(|name| found.remove(name).unwrap().to_owned())
        .collect();
    assert!(files.iter().all(|path| path.starts_with(bed.slots.path().to_str().unwrap())), "{files:?}");
    assert_eq!(files.iter().collect::<BTreeSet<_>>().len(), 4);
    let (own_path, identity) = (std::env::var("PATH").unwrap(), &job.identity);
    let ids =
        [identity.run.0, identity.attempt_id, identity.idempotency_key, identity.owner.0].map(|id| id.to_string());
    let trace = format!("00-{}-{}-01", identity.run.0.simple(), &identity.attempt_id.simple().to_string()[..16]);
    let expected = BTreeMap::from([
        ("PATH", own_path.as_str()),
        ("LANG", "C.UTF-8"),
        ("TZ", "UTC"),
        ("PASSED", "on"),
        ("SPRAG_V1", "it's $HOME"),
        ("TOKEN", "hunter2"),
        ("SPRAG_RUN_ID", &ids[0]),
        ("SPRAG_NODE_ID", "each/0/build"),
        ("SPRAG_ATTEMPT", "2"),
        ("SPRAG_ATTEMPT_ID", &ids[1]),
        ("SPRAG_IDEMPOTENCY_KEY", &ids[2]),
        ("SPRAG_OWNER", &ids[3]),
        ("SPRAG_DEADLINE", "2026-01-31T09:30:00.000Z"),
        ("TRACEPARENT", &trace),
    ]);
    assert_eq!(found, expected);
}

#[test]
fn without_a_deadline_there_is_none() {
    // R-CMD-1
    let bed = Bed::new();
    let mut job = bed.script("echo ${SPRAG_DEADLINE-none}");
    job.environment = vec![("SPRAG_DEADLINE".into(), "soon".into())];
    assert_eq!(*bed.execute(&job).unwrap().output, "none");
}

#[test]
fn a_list_is_started_as_it_is_and_a_text_by_the_shell() {
    // R-NODE-1
    let bed = Bed::new();
    let list = ["printf", "%s|", "a b", "$HOME", "*"].map(str::to_owned).to_vec();
    assert_eq!(*bed.execute(&bed.job(Program::Arguments(list))).unwrap().output, "a b|$HOME|*|");
    assert_eq!(*bed.execute(&bed.script("x=1; echo $((x + 1)) | cat")).unwrap().output, "2");
    let mut job = bed.script("printf %s \"${SPRAG_V1}\"");
    // R-EXPR-2: a value is never script text.
    job.environment = vec![("SPRAG_V1".into(), "$(touch broken)\"; touch broken".into())];
    assert_eq!(*bed.execute(&job).unwrap().output, "$(touch broken)\"; touch broken");
    assert!(!bed.path("broken").exists());
}

#[test]
fn programs_are_found_in_the_path_of_the_node() {
    // R-NODE-1, R-CMD-1
    let bed = Bed::new();
    fs::create_dir(bed.path("tools")).unwrap();
    fs::copy("/bin/echo", bed.path("tools/own-echo")).unwrap();
    let mut job = bed.job(Program::Arguments(vec!["own-echo".into(), "hello".into()]));
    assert_eq!(bed.failure(&job), "MISSING_DEPENDENCY: there is no program `own-echo` in PATH");
    job.environment = vec![("PATH".into(), "/nowhere:tools".into())];
    assert_eq!(*bed.execute(&job).unwrap().output, "hello");
    let job = bed.job(Program::Arguments(vec!["./tools/own-echo".into(), "hello".into()]));
    assert_eq!(*bed.execute(&job).unwrap().output, "hello");
}

#[test]
fn a_command_works_in_its_folder_with_three_streams_and_a_group_of_its_own() {
    // R-CMD-1, R-GATE-3
    let bed = Bed::new();
    let product =
        bed.execute(&bed.script("pwd -P; readlink /proc/self/fd/0; cut -d' ' -f5 /proc/$$/stat; echo $$")).unwrap();
    let lines: Vec<_> = text(&product.output).lines().collect();
    assert_eq!(lines[0], bed.folder().canonicalize().unwrap().to_str().unwrap());
    assert_eq!(lines[1], "/dev/null");
    assert_eq!(lines[2], lines[3], "the process leads its group");
    // What this process itself was started with is not ours to close; everything else is.
    let inherited = fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let info = fs::read_to_string(format!("/proc/self/fdinfo/{name}")).ok()?;
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?.trim().to_owned();
        (u32::from_str_radix(&flags, 8).unwrap() & 0o2_000_000 == 0).then_some(name)
    });
    let inherited: BTreeSet<_> = inherited.collect();
    let list = ["find", "/proc/self/fd/", "-type", "l", "-printf", "%f %l\\n"].map(str::to_owned).to_vec();
    let product = bed.execute(&bed.job(Program::Arguments(list))).unwrap();
    // The program that looks has the folder open that it looks into.
    let seen = text(&product.output).lines().map(|line| line.split_once(' ').unwrap());
    let open: BTreeSet<_> = seen
        .filter(|(_, target)| !target.starts_with("/proc/") && *target != bed.folder().to_str().unwrap())
        .map(|(name, _)| name.to_owned())
        .collect();
    let streams: BTreeSet<_> = ["0", "1", "2"].map(str::to_owned).into();
    assert!(open.is_superset(&streams));
    assert_eq!(open.difference(&streams).filter(|name| !inherited.contains(*name)).count(), 0, "{open:?}");
}
