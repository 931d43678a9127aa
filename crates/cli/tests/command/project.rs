//! The project around a file: settings, state folder, compiled forms.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};

use super::space::{GOOD, Space};

/// Makes a state folder by hand, whatever the umask is.
fn state(space: &Space) {
    DirBuilder::new().mode(0o700).create(space.path(".sprag")).unwrap();
}

/// R-FILE-3: limits can be set in `sprag.toml`; a mistake in it is not silently the default.
#[test]
fn settings_move_the_limits() {
    let space = Space::new().with("sprag.yaml", GOOD).with("sprag.toml", "[limits]\nnodes = 0\n");
    space.run(&["validate"]).is_refusal("TOO_LARGE");
    let space = space.with("sprag.toml", "[limits]\nbytes = 10\n");
    space.run(&["validate"]).is_refusal("TOO_LARGE");
    let space = space.with("sprag.toml", "[limits]\nndoes = 5\n");
    space.run(&["validate"]).is_refusal("BAD_SETTINGS");
    let space = space.with("sprag.toml", "[limits\n");
    space.run(&["validate"]).is_refusal("BAD_SETTINGS");
}

/// R-CLI-2: `-C` works in another folder, and names files from there.
#[test]
fn another_folder() {
    let space = Space::new().with("inner/sprag.yaml", GOOD);
    let ran = space.run(&["-C", "inner", "validate"]);
    assert_eq!(ran.err, "inner/sprag.yaml: valid, 1 node, 1 wave\n");
    space.run(&["-C", "nowhere", "validate"]).is_refusal("BAD_WORKSPACE");
}

/// R-FILE-4: the compiled form is kept where `.sprag/` exists, used when unchanged, and never trusted when damaged.
#[test]
fn compiled_forms_are_kept_and_checked() {
    let space = Space::new().with("sprag.yaml", GOOD);
    let fresh = space.run(&["graph"]);
    assert_eq!(fresh.code, Some(0));
    assert!(!space.path(".sprag").exists(), "looking at a workflow makes no state folder");

    state(&space);
    let kept =
        || fs::read_dir(space.path(".sprag/compiled")).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    assert_eq!(space.run(&["graph"]).out, fresh.out);
    assert_eq!(kept().len(), 1);
    assert_eq!(space.run(&["graph"]).out, fresh.out);

    // A changed text is another workflow.
    let space = space.with("sprag.yaml", GOOD.replace("greet", "salute"));
    assert!(space.run(&["graph"]).out.contains("salute"));
    let kept =
        || fs::read_dir(space.path(".sprag/compiled")).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    assert_eq!(kept().len(), 2);

    // A kept form is really used: another workflow's form under this name is what is drawn.
    let (first, second) = (kept()[0].clone(), kept()[1].clone());
    let (one, two) = (fs::read(&first).unwrap(), fs::read(&second).unwrap());
    fs::write(&first, &two).unwrap();
    fs::write(&second, &one).unwrap();
    assert!(space.run(&["graph"]).out.contains("greet"));
    fs::write(&first, &one).unwrap();
    fs::write(&second, &two).unwrap();

    // Damage in any byte is a miss, not another workflow.
    for path in kept() {
        let whole = fs::read(&path).unwrap();
        for at in [0, 40, whole.len() / 2, whole.len() - 1] {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, damaged).unwrap();
            assert!(space.run(&["graph"]).out.contains("salute"));
        }
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(space.run(&["graph"]).out.contains("salute"));
    }

    // The limits hold for a kept form too.
    let space = space.with("sprag.toml", "[limits]\nnodes = 0\n");
    space.run(&["graph"]).is_refusal("TOO_LARGE");
}

/// R-CLI-2: version control leaves the state folder alone, even if whoever made it was killed right after.
#[test]
fn version_control_leaves_the_state_folder_alone() {
    let space = Space::new().with("sprag.yaml", GOOD);
    let file = space.path(".sprag/.gitignore");
    let after_a_run = || {
        assert_eq!(space.run(&["run"]).code, Some(0));
        fs::read_to_string(&file).unwrap()
    };
    fs::create_dir(space.path(".sprag")).unwrap();
    assert_eq!(after_a_run(), "*\n");
    fs::remove_file(&file).unwrap();
    assert_eq!(after_a_run(), "*\n");
    fs::write(&file, "mine\n").unwrap();
    assert_eq!(after_a_run(), "mine\n", "what a person wrote stays");
}

/// What is kept does not grow without end.
#[test]
fn old_compiled_forms_go() {
    let space = Space::new();
    state(&space);
    for edit in 0..70 {
        let name = format!("file{edit}.yaml");
        fs::write(space.path(&name), GOOD.replace("hello", &format!("hello{edit}"))).unwrap();
        assert_eq!(space.run(&["validate", "-q", &name]).code, Some(0));
    }
    assert_eq!(fs::read_dir(space.path(".sprag/compiled")).unwrap().count(), 64);
}

/// R-CLI-2, S-35: state that others may write is not used, whoever it belongs to.
#[test]
fn state_that_others_may_write_is_refused() {
    let space = Space::new().with("sprag.yaml", GOOD);
    assert_eq!(space.run(&["run"]).code, Some(0));
    let path = |name: &str| space.path(".sprag").join(name);
    let mode = |mode| fs::set_permissions(path(""), Permissions::from_mode(mode)).unwrap();
    for exposed in [0o720, 0o702, 0o777, 0o1777] {
        mode(exposed);
        for verb in ["validate", "run", "runs"] {
            let ran = space.run(&[verb]);
            ran.is_refusal("BAD_WORKSPACE");
            assert!(ran.err.contains("chmod go-w .sprag"), "{}", ran.err);
        }
    }
    mode(0o755);
    assert_eq!(space.run(&["run"]).code, Some(0));
    // What is inside is nobody else's to read either, even if the folder itself may be looked into.
    for name in ["logs", "sprag.db.owners"] {
        assert_eq!(path(name).metadata().unwrap().permissions().mode() & 0o777, 0o700, "{name}");
    }
}
