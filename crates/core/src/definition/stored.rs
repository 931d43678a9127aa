//! The compiled form in bytes.

use super::workflow::Definition;

/// Changes whenever the stored form of a [`Definition`] does; older forms are read from the file again.
pub const STORED_VERSION: u32 = 3;

impl Definition {
    /// The stored form.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        postcard::to_allocvec(self).map_err(|error| error.to_string())
    }

    /// Writes the stored form, without holding it whole.
    pub fn write_to(&self, out: &mut impl std::io::Write) -> Result<(), String> {
        postcard::to_io(self, out).map(drop).map_err(|error| error.to_string())
    }

    /// Reads the stored form; anything odd is an error, and the caller reads the file instead.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let (definition, rest) = postcard::take_from_bytes(bytes).map_err(|error| error.to_string())?;
        if rest.is_empty() { Ok(definition) } else { Err("trailing bytes".into()) }
    }
}
