//! What a command does with its arguments: which of them it reads once more.
//!
//! Most programs take an argument as it is. The few that do not are known by name here; behind any other
//! program, `sh -c` is still recognised among the arguments (`docker exec c sh -c …`, `find -exec sh -c …`).

use super::evaluator::{Remote, Shell, Switch, Wrapper};
use super::reason::Reason;
use super::word::{Holds, Word};

/// The command of one simple command, as far as its words have been read.
pub(super) enum Program {
    /// No command word yet; assignments may precede it.
    Absent,
    /// Takes its arguments as they are, unless a shell is among them.
    Plain { kind: Plain, shell: Option<Shell> },
    /// Reads a script from an argument, a file or its input.
    Shell(Shell),
    /// Runs the command that follows: `env`, `sudo`, `xargs`.
    Wrapper(Wrapper),
    /// Evaluates every argument: `eval`, `trap`.
    Every(&'static str),
    /// Takes assignments as arguments: `export`.
    Declaration(&'static str),
    /// Takes a variable name after an option that a value could imitate: `printf -v`.
    Leading { name: &'static str, open: bool },
    /// `test` and `[`: bash evaluates the operand of `-v`.
    Test { after_operator: bool },
    /// Runs its arguments through a shell elsewhere.
    Remote(Remote),
    /// Runs a shell as somebody else.
    Switch(Switch),
    /// `.`: runs a file in this shell.
    Source { file_seen: bool, from_input: bool },
}

/// How far a plain program is searched for a shell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    /// Its arguments are text (`echo`, `grep`): `sh -c` there is a phrase.
    Text,
    /// It might run `sh -c`, but a mere `sh` among its arguments says nothing.
    Any,
    /// It is known to run programs (`docker exec`): a shell as its last argument reads the input.
    Carrier,
}

const EVERY: [&str; 12] = [
    "eval",
    "trap",
    "let",
    "read",
    "unset",
    "getopts",
    "mapfile",
    "readarray",
    "compgen",
    "complete",
    "watch",
    "parallel",
];
const DECLARATIONS: [&str; 5] = ["export", "readonly", "declare", "typeset", "local"];
const TEXT: [&str; 10] = ["echo", "grep", "egrep", "fgrep", "rg", "which", "type", "cat", "git", "logger"];
const CARRIERS: [&str; 16] = [
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
    "lxc",
    "incus",
    "machinectl",
    "nsenter",
    "unshare",
    "bwrap",
    "firejail",
    "systemd-run",
    "flock",
    "strace",
    "docker-compose",
];
/// Variables whose content a shell evaluates.
const EVALUATED_VARIABLES: [&str; 6] = ["PS1", "PS2", "PS4", "PROMPT_COMMAND", "BASH_ENV", "ENV"];

impl Program {
    /// Why a value at this point of `word` would be read once more; `None` if it would not.
    pub(super) fn refusal(&self, word: &Word) -> Option<Reason> {
        let prefix = word.text.as_slice();
        let imitates_option = prefix.is_empty() || prefix[0] == b'-';
        let evaluated_by = match self {
            Self::Absent => return command_word_refusal(word),
            Self::Plain { shell, .. } => shell.as_ref()?.script_refusal()?,
            Self::Shell(shell) => shell.refusal(prefix)?,
            Self::Wrapper(wrapper) => return wrapper.refusal(prefix),
            Self::Every(name) => name,
            // An array element (`a[…]=`) has its subscript evaluated.
            Self::Declaration(name) => match prefix.iter().position(|&byte| byte == b'=') {
                Some(end) if !prefix[..end].contains(&b'[') => return None,
                _ => name,
            },
            Self::Leading { name, open } if *open && imitates_option => name,
            Self::Test { after_operator: true } => "test -v",
            Self::Leading { .. } | Self::Test { .. } => return None,
            Self::Remote(remote) => remote.refusal(prefix)?,
            Self::Switch(switch) => switch.refusal()?,
            Self::Source { file_seen, .. } => {
                return (!file_seen && !prefix.contains(&b'/')).then_some(Reason::CommandName);
            }
        };
        Some(Reason::Reevaluated { command: evaluated_by.to_owned() })
    }

    /// Takes a finished word into account.
    ///
    /// # Errors
    /// The command changes how the rest of the script is read.
    pub(super) fn take(&mut self, word: &Word) -> Result<(), &'static str> {
        match self {
            Self::Absent if word.assignment => {}
            Self::Absent => *self = Self::named(word)?,
            Self::Plain { kind, shell } => {
                if let Some(found) = shell
                    && !found.takes_as_argument(word)
                {
                    *shell = None;
                }
                if shell.is_none() && *kind != Plain::Text {
                    *shell = word.known_text().and_then(Shell::named);
                }
            }
            Self::Shell(shell) => shell.take(word),
            Self::Wrapper(wrapper) => {
                if let Some(next) = wrapper.take(word)? {
                    *self = next;
                }
            }
            Self::Declaration(name) => {
                let changes = if *name == "export" { "" } else { "inaA" };
                if word.text.first() == Some(&b'-') && word.text.iter().any(|byte| changes.as_bytes().contains(byte)) {
                    return Err("a variable declared with `-i`, `-n` or `-a` is evaluated when it is assigned");
                }
            }
            Self::Leading { name, open } => {
                if *name == "printf" && *open && word.text.starts_with(b"-v") {
                    *self = Self::Every("printf");
                } else if word.text == b"--" || word.text.first() != Some(&b'-') {
                    *open = false;
                }
            }
            Self::Test { after_operator } => {
                *after_operator = matches!(word.text.as_slice(), b"-v" | b"-R")
                    || word.holds == Holds::Value && matches!(word.text.first(), None | Some(b'-'));
            }
            Self::Remote(remote) => remote.take(word),
            Self::Switch(switch) => switch.take(word),
            Self::Source { file_seen, from_input } => {
                *from_input |= !*file_seen && matches!(word.text.as_slice(), b"/dev/stdin" | b"/dev/fd/0");
                *file_seen = true;
            }
            Self::Every(_) => {}
        }
        Ok(())
    }

    /// The program that a command word names.
    ///
    /// # Errors
    /// It changes how the rest of the script is read.
    pub(super) fn named(word: &Word) -> Result<Self, &'static str> {
        let any = Self::Plain { kind: Plain::Any, shell: None };
        let Some(text) = word.known_text() else {
            return Ok(any);
        };
        if let Some(shell) = Shell::named(text) {
            return Ok(Self::Shell(shell));
        }
        let name = basename(text);
        if let Some(wrapper) = Wrapper::named(name) {
            return Ok(Self::Wrapper(wrapper));
        }
        if let Some(remote) = Remote::named(name) {
            return Ok(Self::Remote(remote));
        }
        if let Some(switch) = Switch::named(name) {
            return Ok(Self::Switch(switch));
        }
        if CARRIERS.contains(&name) {
            return Ok(Self::Plain { kind: Plain::Carrier, shell: None });
        }
        if let Some(name) = EVERY.iter().find(|every| **every == text) {
            return Ok(Self::Every(name));
        }
        if let Some(name) = DECLARATIONS.iter().find(|declaration| **declaration == text) {
            return Ok(Self::Declaration(name));
        }
        Ok(match text {
            "alias" => {
                return Err("an alias changes how dash reads the rest, and not how bash does");
            }
            "printf" => Self::Leading { name: "printf", open: true },
            "wait" => Self::Leading { name: "wait", open: true },
            "test" | "[" => Self::Test { after_operator: false },
            "." | "source" => Self::Source { file_seen: false, from_input: false },
            _ if TEXT.contains(&name) => Self::Plain { kind: Plain::Text, shell: None },
            _ => any,
        })
    }

    /// The command, if all its words are read and its input is going to be code.
    pub(super) fn reads_code(&self) -> Option<String> {
        let name = match self {
            Self::Shell(shell) => shell.reads_code()?,
            Self::Plain { kind: Plain::Carrier, shell } => shell.as_ref()?.reads_code()?,
            Self::Remote(remote) => remote.reads_code()?,
            Self::Switch(switch) => switch.reads_code()?,
            Self::Source { from_input: true, .. } => "sh",
            _ => return None,
        };
        Some(name.to_owned())
    }
}

/// The name without its directories.
pub(super) fn basename(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

/// A value may finish an assignment or a path; anywhere else in a command word it would choose the command,
/// and could choose `eval`.
fn command_word_refusal(word: &Word) -> Option<Reason> {
    if word.assignment {
        let name = word.text.split(|&byte| byte == b'=').next().unwrap_or_default();
        let evaluated = EVALUATED_VARIABLES.iter().find(|variable| variable.as_bytes() == name)?;
        return Some(Reason::Reevaluated { command: (*evaluated).to_owned() });
    }
    if word.text.contains(&b'/') {
        return None;
    }
    // Bash evaluates the subscript in `a[…]=`.
    if word.text.contains(&b'[') && word.text.first() != Some(&b'[') {
        return Some(Reason::Arithmetic);
    }
    Some(Reason::CommandName)
}
