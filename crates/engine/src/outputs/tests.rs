//! What is removed, what is harvested, and that neither reaches beyond the project (`R-CACHE-3`).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use sprag_core::hash::Digest;
use sprag_core::run::{Known, NodeError};
use tempfile::TempDir;

use super::beneath::Root;
use super::{clear, harvest};

/// A project, and beside it a folder that no node may touch.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.root()).unwrap();
        fs::create_dir(place.outside("")).unwrap();
        fs::write(place.outside("file"), "outside").unwrap();
        place
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    fn outside(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join("outside").join(path)
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn link(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    fn clear(&self, output: &str) -> Result<(), NodeError> {
        clear(&self.root(), &[output.to_owned()])
    }

    fn harvest(&self, output: &str) -> Result<Digest, NodeError> {
        harvest(&self.root(), &[output.to_owned()], &|| false).map(|all| *all.values().next().unwrap())
    }

    fn refused(&self, output: &str, code: Known, message: &str) {
        let error = self.harvest(output).unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert!(error.message.contains(message), "{error}");
    }

    fn is_outside_untouched(&self) -> bool {
        fs::read(self.outside("file")).is_ok_and(|content| content == b"outside")
    }
}

/// The digest of files, as the contract says it.
fn digest(files: &[(&str, &str)]) -> Digest {
    let mut bytes = Vec::new();
    for part in files.iter().flat_map(|(path, content)| [path, content]) {
        bytes.extend((part.len() as u64).to_be_bytes());
        bytes.extend(part.as_bytes());
    }
    Digest::of(&bytes)
}

#[test]
fn outputs_are_digested_with_their_paths() {
    // R-CACHE-3
    let place = Place::new();
    let large = "0123456789abcdef".repeat(10_000);
    place.write("report.txt", "all well");
    place.write("dist/a/b", "2");
    place.write("dist/a.txt", "1");
    place.write("dist/a/c/d", &large);
    place.write("dist/empty", "");
    fs::create_dir(place.root().join("dist/nothing")).unwrap();
    let outputs = ["./dist//", "report.txt", "dist", "dist/a"].map(str::to_owned);
    let harvested = harvest(&place.root(), &outputs, &|| false).unwrap();
    let expected = [
        ("dist", digest(&[("dist/a.txt", "1"), ("dist/a/b", "2"), ("dist/a/c/d", &large), ("dist/empty", "")])),
        ("dist/a", digest(&[("dist/a/b", "2"), ("dist/a/c/d", &large)])),
        ("report.txt", digest(&[("report.txt", "all well")])),
    ];
    assert_eq!(harvested, expected.map(|(path, digest)| (path.to_owned(), digest)).into());
    assert_eq!(harvest(&place.root(), &[], &|| false).unwrap(), [].into());
}

#[test]
fn a_missing_output_fails_the_node() {
    // R-CACHE-3
    let place = Place::new();
    place.write("file", "");
    place.link("dangling", "nowhere");
    place.link("dist/dangling", "nowhere");
    for output in ["report.txt", "no/such/folder", "file/below", "dangling"] {
        place.refused(output, Known::INVALID_OUTPUT, &format!("the declared output `{output}` does not exist"));
    }
    place.refused("dist", Known::INVALID_OUTPUT, "`dist/dangling` in the declared output `dist` does not exist");
}

#[test]
fn paths_that_leave_the_project_are_refused() {
    // R-CACHE-3
    let place = Place::new();
    place.write("a/b", "");
    for output in
        ["", ".", "/", "/etc/passwd", "..", "../outside/file", "a/../b", "a/..", ".sprag", "./.sprag/x", "a\0b"]
    {
        place.refused(output, Known::SCOPE_VIOLATION, "inside the project");
        assert_eq!(place.clear(output).unwrap_err().code, Known::SCOPE_VIOLATION, "{output}");
    }
    assert!(place.is_outside_untouched());
}

#[test]
fn links_count_as_what_they_lead_to_and_stay_inside() {
    // R-CACHE-3
    let place = Place::new();
    place.write("real/file", "inside");
    place.link("link", "real/file");
    place.link("dist/link", "../real/file");
    place.link("dist/folder", "../real");
    assert_eq!(place.harvest("link").unwrap(), digest(&[("link", "inside")]));
    let files = [("dist/folder/file", "inside"), ("dist/link", "inside")];
    assert_eq!(place.harvest("dist").unwrap(), digest(&files));

    place.link("up", "../outside/file");
    place.link("absolute", place.outside("file"));
    place.link("folder", "../outside");
    place.link("held/up", "../../outside/file");
    place.link("held-folder/up", "../../outside");
    place.link("around", "real/../../outside/file");
    place.link("magic", "/proc/self/cwd");
    place.link("self", "self");
    for output in ["up", "absolute", "folder", "folder/file", "held", "held-folder", "around", "magic", "self"] {
        place.refused(output, Known::SCOPE_VIOLATION, "leaves the project through a link");
    }
    place.link("circle/down/up", "../../circle");
    place.refused("circle", Known::SCOPE_VIOLATION, "`circle/down/up` in the declared output `circle` is a link to");
}

#[test]
fn only_files_and_folders_are_harvested() {
    // R-CACHE-3
    let place = Place::new();
    place.write("dist/file", "");
    rustix::fs::mkfifoat(CWD, place.root().join("dist/pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    place.refused("dist/pipe", Known::SCOPE_VIOLATION, "neither a regular file nor a folder");
    place.refused("dist", Known::SCOPE_VIOLATION, "`dist/pipe` in the declared output `dist` is neither");
    let _socket = std::os::unix::net::UnixListener::bind(place.root().join("socket")).unwrap();
    place.refused("socket", Known::SCOPE_VIOLATION, "neither a regular file nor a folder");
}

#[test]
fn depth_is_limited() {
    // R-CACHE-3
    let place = Place::new();
    place.write(&format!("deep/{}file", "a/".repeat(120)), "");
    place.harvest("deep").unwrap();
    place.clear("deep").unwrap();
    place.write(&format!("deep/{}file", "a/".repeat(140)), "");
    place.refused("deep", Known::INVALID_OUTPUT, "nests more than 128 folders");
    assert!(place.clear("deep").unwrap_err().message.contains("nests more than 128 folders"));
}

#[test]
fn outputs_are_removed_and_nothing_else() {
    // R-CACHE-3
    let place = Place::new();
    place.write("report.txt", "");
    place.write("dist/a/b/c", "");
    place.write("kept/file", "kept");
    place.link("dist/a/out", "../../../outside");
    place.link("dist/in", "../kept");
    place.link("link", "../outside");
    place.link("through", "kept");
    place.write("kept/gone", "");
    let outputs = ["report.txt", "dist", "link", "through/gone", "not/there", "report.txt/x"].map(str::to_owned);
    clear(&place.root(), &outputs).unwrap();
    let left: std::collections::BTreeSet<_> =
        fs::read_dir(place.root()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(left, ["kept", "through"].map(str::to_owned).into());
    assert_eq!(fs::read_dir(place.root().join("kept")).unwrap().count(), 1);

    place.link("link", "../outside");
    let error = place.clear("link/file").unwrap_err();
    assert_eq!(error.code, Known::SCOPE_VIOLATION, "{error}");
    assert!(place.is_outside_untouched());
}

#[test]
fn without_the_kernels_help_no_link_is_followed() {
    // R-CACHE-3: what an old kernel gets.
    let place = Place::new();
    place.write("a/b/file", "inside");
    place.link("link", "a");
    place.link("a/link", "b/file");
    let root = Root::new(&place.root()).unwrap();
    let walk = |path: &str, flags| root.walk(path.as_bytes(), flags).map(drop);
    assert_eq!(walk("a/b/file", OFlags::RDONLY), Ok(()));
    assert_eq!(walk(".", OFlags::PATH | OFlags::DIRECTORY), Ok(()));
    assert_eq!(walk("a/b", OFlags::PATH | OFlags::DIRECTORY), Ok(()));
    assert_eq!(walk("link/b/file", OFlags::RDONLY), Err(Errno::XDEV));
    assert_eq!(walk("a/link", OFlags::RDONLY), Err(Errno::XDEV));
    assert_eq!(walk("link", OFlags::PATH | OFlags::DIRECTORY), Err(Errno::XDEV));
    assert_eq!(walk("a/none", OFlags::RDONLY), Err(Errno::NOENT));
    assert_eq!(walk("a/b/file/x", OFlags::RDONLY), Err(Errno::NOTDIR));
}

/// Where the one that exchanges puts whichever of folder and link is not in its place.
const ASIDE: &str = "aside";

/// Works again and again, while somebody else exchanges a folder with a link to the outside thousands of times.
fn swapping(place: &Place, folder: &str, work: impl Fn() + Sync) {
    let (folder, aside) = (place.root().join(folder), place.root().join(ASIDE));
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| (0..300).for_each(|_| work()));
        while !worker.is_finished() {
            // It fails while one of them is not there.
            let _ = rustix::fs::renameat_with(CWD, &folder, CWD, &aside, RenameFlags::EXCHANGE);
        }
    });
}

#[test]
fn a_link_that_is_swapped_in_meanwhile_is_never_read_through() {
    // R-CACHE-3
    for (folder, outputs) in [("out", ["out", "out/file"]), ("out/deep/er", ["out", "out/deep/er/file"])] {
        let place = Place::new();
        place.write(&format!("{folder}/inner"), "inside");
        place.link(ASIDE, place.outside(""));
        let inside = place.harvest("out").unwrap();
        swapping(&place, folder, || {
            for output in outputs {
                match place.harvest(output) {
                    // Only the outside has `file`.
                    Ok(digest) => assert_eq!((output, digest), ("out", inside)),
                    Err(error) => {
                        let expected = [Known::SCOPE_VIOLATION, Known::INVALID_OUTPUT];
                        assert!(expected.iter().any(|code| error.code == *code), "{error}");
                    }
                }
            }
        });
    }
}

#[test]
fn a_link_that_is_swapped_in_meanwhile_is_never_removed_through() {
    // R-CACHE-3
    for (folder, file) in [("out", "out/file"), ("out/deep/er", "out/deep/er/file")] {
        let place = Place::new();
        swapping(&place, folder, || {
            place.write(&format!("{folder}/inner"), "inside");
            place.link(ASIDE, place.outside(""));
            // It may fail, as long as it fails inside.
            let _ = place.clear(file);
            place.clear("out").unwrap();
            place.clear(ASIDE).unwrap();
            assert!(place.is_outside_untouched());
        });
    }
}
