//! From the name of a secret to its value, when a node is dispatched (`R-SEC-1`).

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use sprag_core::file::{SecretName, SecretSource};
use sprag_core::run::{Known, NodeError};

use super::secret::{MAX_BYTES, Secret};

/// The value of a secret: an environment variable, or the content of a file without its last line break. A relative
/// file is one of the project.
///
/// What goes wrong is `MISSING_DEPENDENCY`, with the name and the source of the secret and never its value.
pub fn resolve(
    name: &SecretName,
    source: &SecretSource,
    environment: impl Fn(&str) -> Option<OsString>,
    root: &Path,
) -> Result<Secret, NodeError> {
    let (place, value) = match (&source.env, &source.file) {
        (Some(variable), None) => {
            let value = environment(variable.as_str()).ok_or_else(|| "is not set".to_owned());
            (format!("the environment variable `{variable}`"), value.map(OsString::into_encoded_bytes))
        }
        (None, Some(file)) => (format!("the file `{file}`"), content(&root.join(file))),
        _ => ("its declaration".to_owned(), Err("names not exactly one of `env` and `file`".to_owned())),
    };
    value
        .and_then(|value| String::from_utf8(value).map_err(|_| "is not UTF-8 text".to_owned()))
        .and_then(|value| Secret::new(&value).map_err(str::to_owned))
        .map_err(|problem| {
            let help = if source.file.is_some() { "write the value to it" } else { "set it where sprag is started" };
            NodeError::new(Known::MISSING_DEPENDENCY, format!("secret `{name}`: {place} {problem}; {help}"))
        })
}

/// The bytes of a file without the last line break, or what is wrong with it.
fn content(path: &Path) -> Result<Vec<u8>, String> {
    // Without blocking: opening a pipe that nobody writes to would wait forever.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let told = |error: rustix::io::Errno| match error {
        rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR => "does not exist".to_owned(),
        error => format!("cannot be read ({})", std::io::Error::from(error)),
    };
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(told)?;
    if FileType::from_raw_mode(rustix::fs::fstat(&file).map_err(told)?.st_mode) != FileType::RegularFile {
        return Err("is not a regular file".to_owned());
    }
    // Two bytes more than a value may have: the line break, and one to notice that it is too large.
    let mut bytes = Vec::new();
    let read = File::from(file).take(MAX_BYTES as u64 + 3).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot be read ({error})"))?;
    if bytes.pop_if(|last| *last == b'\n').is_some() {
        bytes.pop_if(|last| *last == b'\r');
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Known, MAX_BYTES, OsString, Path, SecretName, SecretSource, resolve};

    fn told(source: &SecretSource, value: Option<&[u8]>, root: &Path) -> Result<String, String> {
        use std::os::unix::ffi::OsStringExt as _;
        let environment = |name: &str| {
            assert_eq!(name, "GH_TOKEN");
            value.map(|value| OsString::from_vec(value.to_owned()))
        };
        resolve(&SecretName::new("GH").unwrap(), source, environment, root)
            .map(|secret| secret.expose().to_owned())
            .map_err(|error| {
                assert_eq!(error.code, Known::MISSING_DEPENDENCY);
                error.message
            })
    }

    fn from_env(value: Option<&[u8]>) -> Result<String, String> {
        let source = SecretSource { env: Some(sprag_core::file::VariableName::new("GH_TOKEN").unwrap()), file: None };
        told(&source, value, Path::new("/nowhere"))
    }

    #[test]
    fn values_come_from_the_environment() {
        // R-SEC-1
        assert_eq!(from_env(Some(b"ghp_0123\n")), Ok("ghp_0123\n".to_owned()));
        for (value, problem) in [
            (None, "is not set"),
            (Some(&b""[..]), "is empty"),
            (Some(b"\xff\xfe012345"), "is not UTF-8 text"),
            (Some(b"01\x002345"), "holds a NUL byte"),
            (Some(b"canar"), "is shorter than 6 characters, too short to be kept out of logs"),
        ] {
            let expected =
                format!("secret `GH`: the environment variable `GH_TOKEN` {problem}; set it where sprag is started");
            assert_eq!(from_env(value), Err(expected));
        }
    }

    #[test]
    fn values_come_from_files_without_the_last_line_break() {
        // R-SEC-1
        let root = tempfile::tempdir().unwrap();
        let from_file = |file: &str| told(&SecretSource { env: None, file: Some(file.into()) }, None, root.path());
        for (content, value) in [
            ("canary\n", "canary"),
            ("canary\r\n", "canary"),
            ("canary", "canary"),
            ("canary\n\n", "canary\n"),
            ("two lines\nof it\n", "two lines\nof it"),
        ] {
            std::fs::write(root.path().join("key"), content).unwrap();
            assert_eq!(from_file("key"), Ok(value.to_owned()));
            assert_eq!(from_file(root.path().join("key").to_str().unwrap()), Ok(value.to_owned()));
        }
        let missing = "secret `GH`: the file `keys/other` does not exist; write the value to it";
        assert_eq!(from_file("keys/other"), Err(missing.to_owned()));

        std::fs::write(root.path().join("key"), "x".repeat(MAX_BYTES) + "\n").unwrap();
        assert_eq!(from_file("key").map(|value| value.len()), Ok(MAX_BYTES));
        std::fs::write(root.path().join("key"), "x".repeat(MAX_BYTES * 2)).unwrap();
        assert!(from_file("key").unwrap_err().contains("is larger than 32 KiB"));
        std::fs::write(root.path().join("key"), "\n").unwrap();
        assert!(from_file("key").unwrap_err().contains("is empty"));
        std::fs::create_dir(root.path().join("folder")).unwrap();
        assert!(from_file("folder").unwrap_err().contains("is not a regular file"));
        let pipe = root.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert!(from_file("pipe").unwrap_err().contains("is not a regular file"));
    }

    #[test]
    fn a_source_is_exactly_one_place() {
        // R-SEC-1
        let message = told(&SecretSource::default(), None, Path::new("/nowhere")).unwrap_err();
        assert!(message.contains("`GH`: its declaration names not exactly one of `env` and `file`"), "{message}");
    }
}
