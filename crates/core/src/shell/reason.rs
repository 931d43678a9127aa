//! Why a value cannot stand where it stands, and what to write instead.

use std::fmt;

/// A value that cannot stand where it stands (`R-EXPR-2`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// Index of the value among the pieces.
    pub piece: usize,
    /// Why it is refused.
    pub reason: Reason,
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.reason.message(), self.reason.help())
    }
}

/// Why a value is refused. The rule is the same for every content the value may have (`R-EXPR-2`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Between single quotes nothing is expanded.
    SingleQuotes,
    /// In a here-document with a quoted delimiter nothing is expanded.
    QuotedHereDocument,
    /// The shell compares the delimiter of a here-document as it is written.
    HereDocumentDelimiter,
    /// The backslash before the value would change the reference.
    Backslash,
    /// The dollar sign before the value would change the reference.
    DollarSign,
    /// Inside `$'…'`, which shells read differently.
    DollarSingleQuotes,
    /// Inside `$"…"`, which shells read differently.
    DollarDoubleQuotes,
    /// Inside backticks, whose text is unescaped and then read again.
    Backticks,
    /// Inside an arithmetic expression, which some shells evaluate like code.
    Arithmetic,
    /// Inside `${…}`.
    ParameterExpansion,
    /// Inside `[[ … ]]`, whose operands bash may evaluate.
    DoubleBracketTest,
    /// The value would be, or begin, the name of the command.
    CommandName,
    /// The command reads its argument, or its input, once more: as shell code or as the name of a variable.
    Reevaluated {
        /// The command that does so: `eval`, `sh`, `ssh`, …
        command: String,
    },
    /// Shells read the text before the value differently, or not at all.
    Unclear {
        /// What was found, as a fragment: "`name=(` is an array in bash only".
        because: &'static str,
    },
}

impl Reason {
    /// What is wrong, as a lower-case fragment.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::SingleQuotes => "value inside single quotes, where the shell expands nothing".into(),
            Self::QuotedHereDocument => {
                "value inside a here-document with a quoted delimiter, where the shell expands nothing".into()
            }
            Self::HereDocumentDelimiter => "value in the delimiter of a here-document".into(),
            Self::Backslash => "value directly after a backslash".into(),
            Self::DollarSign => "value directly after a dollar sign".into(),
            Self::DollarSingleQuotes => "value inside `$'…'`, which shells read differently".into(),
            Self::DollarDoubleQuotes => "value inside `$\"…\"`, which shells read differently".into(),
            Self::Backticks => "value inside backticks, whose text the shell reads twice".into(),
            Self::Arithmetic => "value inside an arithmetic expression, which the shell evaluates".into(),
            Self::ParameterExpansion => "value inside `${…}`".into(),
            Self::DoubleBracketTest => "value inside `[[ … ]]`, which bash evaluates and `sh` does not know".into(),
            Self::CommandName => "value where the shell expects the name of a command".into(),
            Self::Reevaluated { command } => format!("value that `{command}` would evaluate once more"),
            Self::Unclear { because } => format!("value in a script that shells read differently: {because}"),
        }
    }

    /// What to write instead, with an example.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::SingleQuotes => {
                "use double quotes, `\"name: {{ x }}\"`, or end the single quotes before the value: `'name: '{{ x }}`"
                    .into()
            }
            Self::QuotedHereDocument => {
                "remove the quotes from the delimiter, `<<EOF`, and put a backslash before each `$` meant literally"
                    .into()
            }
            Self::HereDocumentDelimiter => "write a fixed word, `<<EOF`, and end the text with a line `EOF`".into(),
            Self::Backslash => "remove the backslash, or double it to get one: `\\\\{{ x }}`".into(),
            Self::DollarSign => "write `{{ x }}` instead of `${{ x }}`; for a literal dollar sign, `\\${{ x }}`".into(),
            Self::DollarSingleQuotes => "put the value outside: `$'\\t'{{ x }}`, or `printf '\\t%s' {{ x }}`".into(),
            Self::DollarDoubleQuotes => "remove the `$` before the quotes: `\"name: {{ x }}\"`".into(),
            Self::Backticks => "write `$(…)` instead of backticks: `$(basename {{ x }})`".into(),
            Self::Arithmetic => "compute in the template, `{{ n + 1 }}`, or check a variable first: \
                 `n={{ n }}; case $n in ''|*[!0-9]*) exit 1;; esac; echo $((n + 1))`"
                .into(),
            Self::ParameterExpansion => {
                "put the value into a variable first: `fallback={{ x }}; echo \"${name:-$fallback}\"`".into()
            }
            Self::DoubleBracketTest => "write a test that every shell knows: `[ \"$a\" = {{ x }} ]`".into(),
            Self::CommandName => "name the command, or its directory, in the script: `./scripts/{{ x }}`; \
                 if the value is meant to be script text, write `{{ x | unquoted }}`"
                .into(),
            Self::Reevaluated { command } => reevaluation_help(command),
            Self::Unclear { .. } => {
                "write that part in plain `sh`, or take the value first: `x={{ x }}` at the top, then `\"$x\"`".into()
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

/// The form that passes the value as data, for each kind of evaluation.
fn reevaluation_help(command: &str) -> String {
    match command {
        "eval" | "let" => "call the command without it, with the value as an argument: `echo {{ x }}`".into(),
        "trap" => "put the value into a variable and quote the action: `x={{ x }}; trap 'rm -f \"$x\"' EXIT`".into(),
        "ssh" | "slogin" | "rsh" | "autossh" => format!(
            "send the value as input: `printf '%s' {{{{ x }}}} | {command} host 'cat > file'`; \
             as the host, write `{command} -- {{{{ x }}}} …`"
        ),
        "su" | "runuser" => {
            format!("pass the value as an argument: `{command} user -c 'echo \"$1\"' -- _ {{{{ x }}}}`")
        }
        "printf" => "give `printf` its own format: `printf '%s\\n' {{ x }}`".into(),
        "wait" => "end the options first: `wait -- {{ x }}`".into(),
        "read" | "unset" | "getopts" | "mapfile" | "readarray" => {
            format!("name the variable in the script; `{command}` may evaluate a name it is given")
        }
        "export" | "readonly" | "declare" | "typeset" | "local" => {
            format!("name the variable in the script: `{command} NAME={{{{ x }}}}`")
        }
        "test -v" => "compare with an operator in the script: `[ {{ x }} = yes ]`".into(),
        "env -S" => "pass each argument by itself: `env NAME=1 program {{ x }}`".into(),
        "watch" | "parallel" | "compgen" | "complete" => {
            format!("run a shell in between: `{command} sh -c 'echo \"$1\"' _ …`, or put the value into a file")
        }
        variable if variable.starts_with("PS") || variable.ends_with("ENV") || variable == "PROMPT_COMMAND" => {
            "put the value into a variable that the shell does not evaluate".into()
        }
        shell => format!(
            "pass the value as an argument: `{shell} -c 'echo \"$1\"' _ {{{{ x }}}}`, \
             or `{shell} -s -- {{{{ x }}}}` with the script as its input"
        ),
    }
}
