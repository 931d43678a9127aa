//! Reads a workflow file without trusting it: no folders, no devices, no more bytes than the limit.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use sprag_core::limits::Limits;

use crate::error::EngineError;

/// The name that stands for standard input.
pub const STANDARD_INPUT: &str = "-";

/// The text of the named file, or of standard input for `-`.
pub fn read(path: &Path, limits: &Limits) -> Result<String, EngineError> {
    let bytes = if path.as_os_str() == STANDARD_INPUT {
        bounded(std::io::stdin().lock(), path, limits)?
    } else {
        let fail = |error: std::io::Error| EngineError::from_io(path.to_owned(), &error);
        let kind = std::fs::metadata(path).map_err(fail)?;
        if kind.is_dir() {
            return Err(EngineError::Unreadable { path: path.to_owned(), why: "it is a folder".into() });
        }
        // Opening a pipe would wait for a writer, and a device may never end.
        if !kind.is_file() {
            return Err(EngineError::Unreadable { path: path.to_owned(), why: "it is not a regular file".into() });
        }
        if kind.len() > limits.bytes {
            return Err(EngineError::TooLarge { path: path.to_owned(), limit: limits.bytes });
        }
        bounded(File::open(path).map_err(fail)?, path, limits)?
    };
    let text = String::from_utf8(bytes)
        .map_err(|error| EngineError::NotText { path: path.to_owned(), at: error.utf8_error().valid_up_to() })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

fn bounded(reader: impl Read, path: &Path, limits: &Limits) -> Result<Vec<u8>, EngineError> {
    let mut bytes = Vec::new();
    reader
        .take(limits.bytes + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| EngineError::from_io(PathBuf::from(path), &error))?;
    if bytes.len() as u64 > limits.bytes {
        return Err(EngineError::TooLarge { path: path.to_owned(), limit: limits.bytes });
    }
    Ok(bytes)
}
