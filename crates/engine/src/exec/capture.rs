//! What is kept of the two streams of a command: the start of standard output, the end of standard error.

use sprag_core::file::OutputFormat;

use super::job::CommandJob;
use super::log::Log;
use super::mask::MaskStream;

/// How much of standard output becomes the output of the node.
pub const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// How much of standard error is kept to find its last line in.
const TAIL_BYTES: usize = 16 * 1024;

/// One of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Error,
}

impl Stream {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Output, Self::Error];
}

/// Takes the streams apart. Secrets are hidden before anything is kept, with one exception that never leaves memory:
/// what is to be read as JSON is kept as it is, since hiding a piece of it could make it unreadable; they are hidden in
/// the values that were read.
pub struct Capture {
    log: Log,
    masks: Option<[Box<dyn MaskStream>; 2]>,
    raw: bool,
    /// What a mask has let through, kept to be used again.
    shown: Vec<u8>,
    output: Vec<u8>,
    cut: bool,
    tail: Vec<u8>,
}

impl Capture {
    pub fn new(job: &CommandJob) -> Self {
        Self {
            log: Log::new(&job.log),
            masks: job.mask.as_ref().map(|mask| [mask.stream(), mask.stream()]),
            raw: job.output == OutputFormat::Json,
            shown: Vec::new(),
            output: Vec::new(),
            cut: false,
            tail: Vec::new(),
        }
    }

    /// Takes what arrived on a stream.
    pub fn take(&mut self, stream: Stream, chunk: &[u8]) {
        if self.raw && stream == Stream::Output {
            self.keep_output(chunk);
        }
        let Some(masks) = &mut self.masks else { return self.show(stream, chunk) };
        let mut shown = std::mem::take(&mut self.shown);
        masks[stream as usize].push(chunk, &mut shown);
        self.show_and_keep(stream, shown);
    }

    /// Takes what the masks held back. Nothing may arrive afterwards.
    pub fn finish(&mut self) {
        for stream in Stream::ALL {
            let Some(masks) = &mut self.masks else { return };
            let mut shown = std::mem::take(&mut self.shown);
            masks[stream as usize].finish(&mut shown);
            self.show_and_keep(stream, shown);
        }
    }

    /// The start of standard output, and whether there was more.
    pub fn output(&self) -> (&[u8], bool) {
        (&self.output, self.cut)
    }

    /// The end of standard error.
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }

    fn show_and_keep(&mut self, stream: Stream, mut shown: Vec<u8>) {
        self.show(stream, &shown);
        shown.clear();
        self.shown = shown;
    }

    fn show(&mut self, stream: Stream, chunk: &[u8]) {
        self.log.add(chunk);
        match stream {
            Stream::Output if self.raw => {}
            Stream::Output => self.keep_output(chunk),
            Stream::Error => {
                self.tail.extend_from_slice(&chunk[chunk.len().saturating_sub(TAIL_BYTES)..]);
                // Moved only now and then, so that many small writes cost little.
                if self.tail.len() > 2 * TAIL_BYTES {
                    self.tail.drain(..self.tail.len() - TAIL_BYTES);
                }
            }
        }
    }

    fn keep_output(&mut self, chunk: &[u8]) {
        let kept = chunk.len().min(OUTPUT_BYTES_MAX - self.output.len());
        self.output.extend_from_slice(&chunk[..kept]);
        self.cut |= kept < chunk.len();
    }
}
