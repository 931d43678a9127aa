//! Threads that execute attempts, one at a time each. A thread is made when all others are busy.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sprag_core::graph::NodeIndex;
use sprag_core::run::{Known, NodeError, Product, Report, RunId, Stage};

use super::coordinator::Event;
use super::functions::{Call, Function};
use crate::exec::{self, Abort, CommandJob, Mask, SlotFolder, SlotFolders};
use crate::outputs;

/// More threads than this help nobody; what is over waits for one.
const THREADS_MAX: usize = 1_024;

/// What a slot does.
pub(super) enum Task {
    Command { job: Box<CommandJob>, root: PathBuf, outputs: Vec<String> },
    Call { function: Arc<Function>, call: Box<Call>, timeout: Option<Duration> },
}

/// A task and whose it is.
pub(super) struct Assignment {
    pub run: RunId,
    pub node: NodeIndex,
    pub attempt: u32,
    pub task: Task,
    pub abort: Abort,
}

/// The threads and what waits for them.
pub(super) struct Slots {
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
    folders: SlotFolders,
    done: Sender<Event>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<Waiting>,
    wake: Condvar,
}

#[derive(Default)]
struct Waiting {
    assignments: VecDeque<Assignment>,
    idle: usize,
    closed: bool,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    pub fn new(folders: SlotFolders, done: Sender<Event>) -> Self {
        Self { queue: Arc::default(), threads: Vec::new(), folders, done }
    }

    /// Hands an attempt to a thread.
    pub fn assign(&mut self, assignment: Assignment) -> std::io::Result<()> {
        let state = self.queue.state();
        let lacking = state.assignments.len() >= state.idle;
        drop(state);
        if lacking && self.threads.len() < THREADS_MAX {
            let folder = self.folders.slot(u32::try_from(self.threads.len()).unwrap_or(u32::MAX));
            let (queue, done) = (Arc::clone(&self.queue), self.done.clone());
            let thread = std::thread::Builder::new().name("slot".into());
            match thread.spawn(move || work(&queue, &folder, &done)) {
                Ok(thread) => self.threads.push(thread),
                // Without any thread it would wait for ever; with one it waits for its turn.
                Err(error) if self.threads.is_empty() => return Err(error),
                Err(_) => {}
            }
        }
        self.queue.state().assignments.push_back(assignment);
        self.queue.wake.notify_one();
        Ok(())
    }
}

/// On return no thread runs any more.
impl Drop for Slots {
    fn drop(&mut self) {
        self.queue.state().closed = true;
        self.queue.wake.notify_all();
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

fn work(queue: &Queue, folder: &SlotFolder, done: &Sender<Event>) {
    loop {
        let mut state = queue.state();
        let assignment = loop {
            if let Some(assignment) = state.assignments.pop_front() {
                break assignment;
            }
            if state.closed {
                return;
            }
            state.idle += 1;
            state = queue.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        };
        drop(state);
        let Assignment { run, node, attempt, task, abort } = assignment;
        let report = match perform(&task, folder, &abort) {
            Ok(product) => Report::Produced(product),
            Err(error) => Report::Failed(Stage::Work, error),
        };
        let told = done.send(Event::Returned { run, node, attempt, report });
        // While the outcome is being written.
        folder.tidy();
        if told.is_err() {
            return;
        }
    }
}

/// An attempt at a command, with what it declared to write: removed before, taken in after.
fn command(
    job: &CommandJob,
    root: &Path,
    outputs: &[String],
    folder: &SlotFolder,
    abort: &Abort,
) -> Result<Product, NodeError> {
    let stopped = || abort.asked().is_some();
    if !stopped() {
        outputs::clear(root, outputs)?;
    }
    let mut product = exec::execute(job, folder, abort)?;
    if !outputs.is_empty() {
        product.files = outputs::harvest(root, outputs, &stopped)?;
    }
    Ok(product)
}

fn masked(mut error: NodeError, mask: Option<&dyn Mask>) -> NodeError {
    if let Some(mask) = mask {
        error.message = mask.text(&error.message);
        for feedback in &mut error.feedback {
            feedback.text = mask.text(&feedback.text);
        }
    }
    error
}

fn perform(task: &Task, folder: &SlotFolder, abort: &Abort) -> Result<Product, NodeError> {
    match task {
        Task::Command { job, root, outputs } => {
            // Whoever made the error: nothing that is kept shows a secret, file names included.
            command(job, root, outputs, folder, abort).map_err(|error| masked(error, job.mask.as_deref()))
        }
        Task::Call { function, call, timeout } => {
            let began = Instant::now();
            let result = catch_unwind(AssertUnwindSafe(|| function(call)));
            match timeout {
                // A function cannot be stopped from outside, so that it took too long is said when it returns.
                Some(timeout) if began.elapsed() > *timeout => {
                    Err(NodeError::new(Known::TIMEOUT, format!("the function took longer than {timeout:?}")))
                }
                _ => result.unwrap_or_else(|_| Err(NodeError::new(Known::INTERNAL, "the function panicked"))),
            }
        }
    }
}
