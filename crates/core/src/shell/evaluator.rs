//! The programs that read an argument or their input as shell code, and the ones that run them.

use super::program::{Program, basename};
use super::reason::Reason;
use super::word::Word;

/// A shell started by the script, as far as its words have been read.
pub(super) struct Shell {
    name: &'static str,
    at: ShellWord,
    /// `-c`: the first operand is a script.
    takes_script: bool,
    /// `-s`: the script is the input, operands or not.
    takes_input: bool,
    /// Words that belong to options such as `-o`.
    option_arguments: usize,
    run_by_xargs: Xargs,
}

/// What `xargs` does with its input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Xargs {
    No,
    /// It becomes further words.
    Appends,
    /// `-I`: it is written into the words.
    Rewrites,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ShellWord {
    Options,
    Operand,
    Positional,
}

const SHELLS: [&str; 13] =
    ["sh", "bash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "rbash", "yash", "fish", "csh", "tcsh"];

/// The name of the shell that a word starts, with or without its directory.
pub fn shell_named(word: &str) -> Option<&'static str> {
    Shell::named(word).map(|shell| shell.name)
}

impl Shell {
    /// The shell of that name, with or without its directory.
    pub(super) fn named(text: &str) -> Option<Self> {
        let base = basename(text);
        let name = SHELLS.iter().find(|shell| **shell == base)?;
        Some(Self {
            name,
            at: ShellWord::Options,
            takes_script: false,
            takes_input: false,
            option_arguments: 0,
            run_by_xargs: Xargs::No,
        })
    }

    /// Who would evaluate a value at a word that begins with `prefix`.
    pub(super) fn refusal(&self, prefix: &[u8]) -> Option<&'static str> {
        let imitates_option = matches!(prefix.first(), None | Some(b'-' | b'+'));
        let evaluated = match self.at {
            ShellWord::Options => self.takes_script || self.option_arguments > 0 || imitates_option,
            ShellWord::Operand => self.takes_script,
            ShellWord::Positional => false,
        };
        evaluated.then_some(self.name)
    }

    /// Who would evaluate a value here, if it is only known that a shell's name stood among the words.
    pub(super) fn script_refusal(&self) -> Option<&'static str> {
        (self.takes_script && self.at != ShellWord::Positional).then_some(self.name)
    }

    pub(super) fn take(&mut self, word: &Word) {
        let text = word.text.as_slice();
        match self.at {
            ShellWord::Options if self.option_arguments > 0 => self.option_arguments -= 1,
            ShellWord::Options => match text {
                b"--" | b"-" => self.at = ShellWord::Operand,
                b"--rcfile" | b"--init-file" => self.option_arguments = 1,
                [b'-', b'-', ..] => {}
                [b'-' | b'+', letters @ ..] if !letters.is_empty() => {
                    self.takes_script |= letters.contains(&b'c');
                    self.takes_input |= letters.contains(&b's');
                    let takes_argument = |letter: &&u8| matches!(letter, b'o' | b'O');
                    self.option_arguments = letters.iter().filter(takes_argument).count();
                }
                _ => self.at = ShellWord::Positional,
            },
            ShellWord::Operand => self.at = ShellWord::Positional,
            ShellWord::Positional => {}
        }
    }

    /// Takes a word after a shell's name among other arguments; false if it shows that no shell was meant, or
    /// that the shell runs a file.
    pub(super) fn takes_as_argument(&mut self, word: &Word) -> bool {
        self.take(word);
        self.at != ShellWord::Positional || self.takes_script || self.takes_input
    }

    /// Who reads code from its input, once all words are read.
    pub(super) fn reads_code(&self) -> Option<&'static str> {
        let has_script = self.at == ShellWord::Positional;
        let reads = if self.takes_script {
            match self.run_by_xargs {
                Xargs::No => false,
                Xargs::Appends => !has_script,
                Xargs::Rewrites => true,
            }
        } else {
            self.takes_input || !has_script
        };
        reads.then_some(self.name)
    }
}

/// A program that runs the command after its own words.
pub(super) struct Wrapper {
    name: &'static str,
    /// Options that take the next word.
    with_argument: &'static [u8],
    /// Operands before the command: the duration of `timeout`.
    operands: usize,
    expects_argument: bool,
    /// After a long option nobody here knows whether the next word belongs to it.
    may_expect_argument: bool,
    rewrites: bool,
}

/// Name, options with an argument, operands before the command.
const WRAPPERS: [(&str, &[u8], usize); 17] = [
    ("env", b"uC", 0),
    ("exec", b"a", 0),
    ("command", b"", 0),
    ("builtin", b"", 0),
    ("sudo", b"ughpCrtTUDR", 0),
    ("doas", b"uC", 0),
    ("nohup", b"", 0),
    ("time", b"fo", 0),
    ("xargs", b"aEIdLnPs", 0),
    ("nice", b"n", 0),
    ("ionice", b"cnp", 0),
    ("setsid", b"", 0),
    ("stdbuf", b"ioe", 0),
    ("timeout", b"ks", 1),
    ("chroot", b"", 1),
    ("busybox", b"", 0),
    ("sshpass", b"pfde", 0),
];

impl Wrapper {
    pub(super) fn named(name: &str) -> Option<Self> {
        let (name, with_argument, operands) = *WRAPPERS.iter().find(|wrapper| wrapper.0 == name)?;
        Some(Self {
            name,
            with_argument,
            operands,
            expects_argument: false,
            may_expect_argument: false,
            rewrites: false,
        })
    }

    pub(super) fn refusal(&self, prefix: &[u8]) -> Option<Reason> {
        let is_option = prefix.first() == Some(&b'-');
        let has_equals = prefix.contains(&b'=');
        let harmless = self.expects_argument
            || (self.operands > 0 && !is_option)
            || (prefix.starts_with(b"--") && has_equals && !prefix.starts_with(b"--split"))
            || (self.name == "env" && has_equals && !is_option)
            || (!is_option && prefix.contains(&b'/'));
        (!harmless).then_some(Reason::CommandName)
    }

    /// Takes a word; returns the program to go on with once the wrapper's own words are over.
    ///
    /// # Errors
    /// As for [`Program::named`].
    pub(super) fn take(&mut self, word: &Word) -> Result<Option<Program>, &'static str> {
        if std::mem::take(&mut self.expects_argument) {
            return Ok(None);
        }
        let uncertain = std::mem::take(&mut self.may_expect_argument);
        match word.text.as_slice() {
            b"--" => return Ok(None),
            [b'-', b'-', long @ ..] => {
                self.rewrites |= long.starts_with(b"replace");
                self.may_expect_argument = !long.contains(&b'=');
                if self.name == "env" && long.starts_with(b"split-string") {
                    return Ok(Some(Program::Every("env -S")));
                }
                return Ok(None);
            }
            [b'-', letters @ ..] if !letters.is_empty() => return Ok(self.option(letters)),
            text if self.name == "env" && text.contains(&b'=') => return Ok(None),
            _ if self.operands > 0 => {
                self.operands -= 1;
                return Ok(None);
            }
            _ => {}
        }
        Ok(match Program::named(word)? {
            Program::Plain { .. } if uncertain => None,
            Program::Shell(mut shell) if self.name == "xargs" => {
                shell.run_by_xargs = if self.rewrites { Xargs::Rewrites } else { Xargs::Appends };
                Some(Program::Shell(shell))
            }
            program => Some(program),
        })
    }

    fn option(&mut self, letters: &[u8]) -> Option<Program> {
        if self.name == "env" && letters.contains(&b'S') {
            return Some(Program::Every("env -S"));
        }
        // `command -v` looks a name up and runs nothing.
        if self.name == "command" && letters.iter().any(|letter| matches!(letter, b'v' | b'V')) {
            return Some(Program::Plain { kind: super::program::Plain::Text, shell: None });
        }
        self.rewrites |= self.name == "xargs" && letters.iter().any(|letter| matches!(letter, b'I' | b'i'));
        let argument = letters.iter().position(|letter| self.with_argument.contains(letter));
        self.expects_argument = argument.is_some_and(|at| at + 1 == letters.len());
        None
    }
}

/// `ssh`: everything after the destination is read by a shell on the other side.
pub(super) struct Remote {
    name: &'static str,
    /// The option whose argument is the next word.
    option: Option<u8>,
    options_ended: bool,
    has_destination: bool,
    /// The first word of the remote command.
    command: Option<Vec<u8>>,
}

impl Remote {
    pub(super) fn named(name: &str) -> Option<Self> {
        let name = ["ssh", "slogin", "rsh", "autossh"].into_iter().find(|remote| *remote == name)?;
        Some(Self { name, option: None, options_ended: false, has_destination: false, command: None })
    }

    /// A value may be the argument of an option (not of `-o`, which can name a command to run) or the destination,
    /// if it cannot be taken for an option.
    pub(super) fn refusal(&self, prefix: &[u8]) -> Option<&'static str> {
        let harmless = match self.option {
            Some(option) => option != b'o',
            None => !self.has_destination && (self.options_ended || !matches!(prefix.first(), None | Some(b'-'))),
        };
        (!harmless).then_some(self.name)
    }

    pub(super) fn take(&mut self, word: &Word) {
        if self.option.take().is_some() || self.command.is_some() {
            return;
        }
        match word.text.as_slice() {
            b"--" if !self.options_ended => self.options_ended = true,
            [b'-', letters @ ..] if !self.options_ended && !letters.is_empty() => {
                let argument = letters.iter().position(|letter| b"BbcDEeFIiJLlmOoPpQRSWw".contains(letter));
                self.option = argument.filter(|at| at + 1 == letters.len()).map(|_| letters[letters.len() - 1]);
            }
            _ if !self.has_destination => self.has_destination = true,
            text => self.command = Some(text.to_vec()),
        }
    }

    pub(super) fn reads_code(&self) -> Option<&'static str> {
        let reads = match &self.command {
            None => self.has_destination,
            Some(command) => {
                let text = String::from_utf8_lossy(command);
                let first = basename(text.split_whitespace().next().unwrap_or_default());
                SHELLS.contains(&first) || first == "sudo"
            }
        };
        reads.then_some(self.name)
    }
}

/// `su`: its `-c` takes a script wherever it stands, so only words after `--` are safe.
pub(super) struct Switch {
    name: &'static str,
    options_ended: bool,
    takes_script: bool,
}

impl Switch {
    pub(super) fn named(name: &str) -> Option<Self> {
        let name = ["su", "runuser"].into_iter().find(|switch| *switch == name)?;
        Some(Self { name, options_ended: false, takes_script: false })
    }

    pub(super) fn refusal(&self) -> Option<&'static str> {
        (!self.options_ended || !self.takes_script).then_some(self.name)
    }

    pub(super) fn take(&mut self, word: &Word) {
        match word.text.as_slice() {
            b"--" => self.options_ended = true,
            [b'-', b'-', long @ ..] => self.takes_script |= long.starts_with(b"command"),
            [b'-', letters @ ..] => self.takes_script |= letters.contains(&b'c'),
            _ => {}
        }
    }

    pub(super) fn reads_code(&self) -> Option<&'static str> {
        (!self.takes_script).then_some(self.name)
    }
}
