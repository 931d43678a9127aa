//! Finding secrets in bytes as they arrive, whatever the pieces.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, BuildError, MatchError};

use crate::exec::MaskStream;

/// What stands where a secret stood.
const MASKED: &[u8] = b"***";

/// An automaton that knows all forms of all secrets.
pub(super) struct Forms {
    automaton: NFA,
    start: StateID,
    /// How many of the last bytes may be the beginning of a form, by state; sorted. States that are not here: none.
    depths: Vec<(StateID, usize)>,
}

impl Forms {
    pub(super) fn new<'form>(forms: impl Iterator<Item = &'form str> + Clone) -> Result<Self, CannotBuild> {
        // The prefilter would be no use: bytes are looked at one by one, because the state at the end of each piece
        // says what has to be held back.
        let automaton = NFA::builder().prefilter(false).build(forms.clone())?;
        let start = automaton.start_state(Anchored::No)?;
        let mut depths = Vec::new();
        for form in forms {
            let mut state = start;
            for (at, byte) in form.bytes().enumerate() {
                // The longest beginning of a form that a beginning of a form ends with is itself, so each state on the
                // way stands for exactly the bytes up to here.
                state = automaton.next_state(Anchored::No, state, byte);
                depths.push((state, at + 1));
            }
        }
        depths.sort_unstable();
        depths.dedup();
        Ok(Self { automaton, start, depths })
    }

    fn depth(&self, state: StateID) -> usize {
        self.depths.binary_search_by_key(&state, |(known, _)| *known).map_or(0, |at| self.depths[at].1)
    }

    /// The length of the longest form that ends in this state.
    fn matched(&self, state: StateID) -> Option<usize> {
        if !self.automaton.is_match(state) {
            return None;
        }
        let patterns = (0..self.automaton.match_len(state)).map(|at| self.automaton.match_pattern(state, at));
        patterns.map(|pattern| self.automaton.pattern_len(pattern)).max()
    }
}

impl fmt::Debug for Forms {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The automaton's own way to show itself would spell the secrets.
        formatter.debug_struct("Forms").finish_non_exhaustive()
    }
}

/// The secrets are too many or too large to look for.
#[derive(Debug)]
pub(super) struct CannotBuild;

impl From<BuildError> for CannotBuild {
    fn from(_: BuildError) -> Self {
        Self
    }
}

impl From<MatchError> for CannotBuild {
    fn from(_: MatchError) -> Self {
        Self
    }
}

/// One stream of bytes. Places are counted from its beginning.
pub(super) struct Stream {
    forms: Arc<Forms>,
    state: StateID,
    /// How many bytes came in.
    seen: usize,
    /// How many of them went out, as they are or masked.
    released: usize,
    /// Bytes of which some may still be held back: those before `head` are gone, the others begin at `released`.
    pending: Vec<u8>,
    head: usize,
    /// What is known to be secret and not yet released: in order, neither overlapping nor touching. The first may begin
    /// in a secret that was released.
    secret: VecDeque<Range<usize>>,
    /// Whether the last byte that was released was secret, so that one mask stands for all that hang together.
    masking: bool,
}

impl Stream {
    pub(super) fn new(forms: Arc<Forms>) -> Self {
        Self {
            state: forms.start,
            forms,
            seen: 0,
            released: 0,
            pending: Vec::new(),
            head: 0,
            secret: VecDeque::new(),
            masking: false,
        }
    }

    /// Adds a secret that ends after all those found before it.
    fn found(&mut self, mut found: Range<usize>) {
        while let Some(earlier) = self.secret.pop_back_if(|earlier| earlier.end >= found.start) {
            found.start = found.start.min(earlier.start);
        }
        self.secret.push_back(found);
    }

    /// Lets go of everything up to `end`, and of secrets that begin there or before: whatever follows, they are hidden.
    fn release(&mut self, end: usize, out: &mut Vec<u8>) {
        loop {
            if let Some(secret) = self.secret.pop_front_if(|secret| secret.start <= self.released) {
                if !self.masking {
                    out.extend_from_slice(MASKED);
                }
                self.masking = true;
                self.advance(secret.end);
            } else if self.released < end {
                let plain = self.secret.front().map_or(end, |secret| secret.start.min(end));
                out.extend_from_slice(&self.pending[self.head..self.head + plain - self.released]);
                self.masking = false;
                self.advance(plain);
            } else {
                break;
            }
        }
        // Moving what is left costs no more than what went out before.
        if self.head * 2 >= self.pending.len() {
            self.pending.drain(..self.head);
            self.head = 0;
        }
    }

    fn advance(&mut self, to: usize) {
        self.head += to - self.released;
        self.released = to;
    }
}

impl MaskStream for Stream {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.pending.extend_from_slice(chunk);
        for byte in chunk {
            self.state = self.forms.automaton.next_state(Anchored::No, self.state, *byte);
            self.seen += 1;
            if let Some(length) = self.forms.matched(self.state) {
                self.found(self.seen - length..self.seen);
            }
        }
        // A form that is not complete yet begins no earlier than the longest beginning of a form that stands here.
        self.release(self.seen - self.forms.depth(self.state), out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        self.release(self.seen, out);
        self.state = self.forms.start;
        self.masking = false;
    }
}
