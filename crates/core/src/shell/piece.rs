//! What goes into a scan, and what comes out of it.

/// One stretch of a `run` string after templates were split out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Script text as its author wrote it.
    Text(&'a str),
    /// The place of one template value.
    Value {
        /// The template ended in `| unquoted`: the value is spliced in as script text.
        unquoted: bool,
    },
}

/// How a value stands in the script (`R-EXPR-2`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Outside quotes, or in a comment: `"${SPRAG_V1}"`.
    Bare,
    /// Inside double quotes: `${SPRAG_V1}`.
    DoubleQuoted,
    /// In the body of a here-document with an unquoted delimiter: `${SPRAG_V1}`.
    HereDocument,
    /// Spliced in as script text, at the author's own risk.
    Unquoted,
}

/// Stands for a value in [`Source::bytes`]. It occurs in no UTF-8 text, so it cannot be confused with any.
pub(super) const VALUE: u8 = 0xFF;

/// Stands for an unquoted value in [`Source::bytes`]; to the scan it is one more ordinary character.
pub(super) const SPLICED: u8 = 0xFE;

/// The pieces as one run of bytes, so that a scan can look ahead across their borders.
pub(super) struct Source {
    /// All text, with one [`VALUE`] or [`SPLICED`] byte per value.
    pub(super) bytes: Vec<u8>,
    /// The piece index of each value, in order.
    pub(super) pieces: Vec<usize>,
}

impl Source {
    pub(super) fn new(pieces: &[Piece<'_>]) -> Self {
        let mut source = Self { bytes: Vec::new(), pieces: Vec::new() };
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) => source.bytes.extend_from_slice(text.as_bytes()),
                Piece::Value { unquoted } => {
                    source.bytes.push(if *unquoted { SPLICED } else { VALUE });
                    source.pieces.push(index);
                }
            }
        }
        source
    }
}
