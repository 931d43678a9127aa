//! Values in `run` strings (`R-EXPR-2`).
//!
//! A value never becomes script text. It travels in an environment variable, and the script gets a
//! reference to it: `"${SPRAG_V1}"` in bare position, `${SPRAG_V1}` inside double quotes and plain
//! here-documents. Which of the two is right depends on the quoting around the value, so the script is
//! scanned once, at load time, as `/bin/sh` would read it.
//!
//! The scan knows one shell language where there are several: dash, bash in and out of posix mode, busybox ash.
//! Two habits keep that honest. Where these shells read a text differently, every later value is refused
//! ([`Reason::Unclear`]) instead of guessed at. And where a shell would read a *value* a second time, as code or
//! as arithmetic (`eval`, `sh -c`, `$((…))`, `[[ … ]]`, a here-document that feeds a shell), the value is refused
//! although its quoting is plain, with the form that passes it as data.
//!
//! What the scan cannot see is the flow of data inside the script: `x={{ v }}; eval "$x"` is the author's own
//! evaluation, and so is a value that a script hands to another language (`awk`, `python -c`).
//!
//! | file | idea |
//! |---|---|
//! | `piece` | what goes in and what comes out |
//! | `reason` | why a value is refused, and what to write instead |
//! | `scanner` | the contexts and their stack |
//! | `quoting` | quotes, backslashes, comments |
//! | `operator` | operators between words |
//! | `expansion` | everything that starts with `$` or a backtick |
//! | `heredoc` | here-documents: delimiters and bodies |
//! | `word` | one word, as far as the text tells |
//! | `grammar` | what a word is for; pipelines |
//! | `compound` | reserved words, and what they open and close |
//! | `program` | what a command does with its arguments |
//! | `evaluator` | the programs that read their arguments again: shells, `ssh`, `su`, and what runs them |
//! | `script` | the compiled script and its values |

mod compound;
mod evaluator;
mod expansion;
mod grammar;
mod heredoc;
mod operator;
mod piece;
mod program;
mod quoting;
mod reason;
mod scanner;
mod script;
mod word;

pub use evaluator::shell_named;
pub use piece::{Piece, Placement};
pub use reason::{Misplaced, Reason};
pub use scanner::place_values;
pub use script::{BindError, Bound, ShellScript, Slot, VALUE_LIMIT, compile};
