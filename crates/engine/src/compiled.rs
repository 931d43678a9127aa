//! Compiled workflows, kept in `.sprag/compiled/` by the digest of their text (`R-FILE-4`).
//!
//! What is kept is never needed: anything missing, damaged or of another version is a miss, and the file is read
//! again. So nothing here is flushed, and no error leaves this module.

use std::path::{Path, PathBuf};

use sprag_core::definition::{Definition, STORED_VERSION};
use sprag_core::hash::Digest;
use sprag_core::limits::Limits;

/// How many compiled workflows a project keeps.
const KEPT: usize = 64;

/// The compiled form of a text, if it is kept and within the limits.
pub fn find(state: &Path, text: &str, limits: &Limits) -> Option<Definition> {
    let bytes = std::fs::read(place(state, text)).ok()?;
    let (digest, body) = bytes.split_at_checked(32)?;
    if Digest::of(body).0 != digest {
        return None;
    }
    Definition::from_bytes(body).ok().filter(|definition| definition.size() <= limits.nodes)
}

/// Keeps the compiled form of a text.
pub fn keep(state: &Path, text: &str, definition: &Definition) {
    let path = place(state, text);
    let Some(folder) = path.parent() else { return };
    let Ok(body) = definition.to_bytes() else { return };
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
        std::io::Write::write_all(&mut file, &Digest::of(&body).0)?;
        std::io::Write::write_all(&mut file, &body)?;
        file.persist(&path).map_err(std::io::Error::from)
    });
    if written.is_ok() {
        prune(folder);
    }
}

fn place(state: &Path, text: &str) -> PathBuf {
    // Another release may check more, so what one has checked is no proof for the next.
    let version = concat!("-", env!("CARGO_PKG_VERSION"));
    state.join("compiled").join(format!("{}.v{STORED_VERSION}{version}", Digest::of(text.as_bytes())))
}

/// Removes the oldest, so that a file edited a thousand times does not leave a thousand files.
fn prune(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut found: Vec<_> = entries
        .filter_map(|entry| entry.ok().and_then(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))))
        .collect();
    found.sort_unstable();
    let surplus = found.len().saturating_sub(KEPT);
    for (_, path) in found.into_iter().take(surplus) {
        // A file that cannot be removed is removed another time.
        drop(std::fs::remove_file(path));
    }
}
