//! Every stable error code of sprag, in one table.
//!
//! People script against codes and search for them, so a code is never renamed and never reused. Each has a page in
//! `docs/errors/`, which the tidy test compares with this table (`R-CLI-7`).

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Declares the table: name, exit code, HTTP status, one line that says what the code means.
macro_rules! codes {
    ($($name:ident = $exit:literal, $http:literal, $summary:literal;)+) => {
        /// A stable error code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names are the codes as people see them")]
        pub enum Code {
            $(#[doc = $summary] $name,)+
        }

        impl Code {
            /// All codes, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The code as it is printed.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)+ }
            }

            /// The exit code of a command that fails with this code (`R-CLI-3`).
            pub const fn exit(self) -> u8 {
                match self { $(Self::$name => $exit,)+ }
            }

            /// The status of an HTTP answer that fails with this code.
            pub const fn http(self) -> u16 {
                match self { $(Self::$name => $http,)+ }
            }

            /// What the code means, in one line.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$name => $summary,)+ }
            }
        }
    };
}

codes! {
    // Reading the file.
    FILE_NOT_FOUND = 2, 404, "the named file does not exist";
    FILE_UNREADABLE = 2, 422, "the file exists but cannot be read";
    NOT_TEXT = 2, 422, "the file is not UTF-8 text";
    TOO_LARGE = 2, 413, "the file, or what it expands to, is over a limit";
    TOO_DEEP = 2, 422, "the file nests deeper than sprag reads";
    YAML_SYNTAX = 2, 422, "the file is not valid YAML or JSON";
    UNSUPPORTED_YAML = 2, 422, "the file uses a part of YAML that workflow files do not have";
    EMPTY_FILE = 2, 422, "the file holds no workflow";
    BAD_SETTINGS = 2, 422, "`sprag.toml` cannot be used";
    BAD_WORKSPACE = 2, 422, "the `.sprag` folder or the project root cannot be used";
    OUTPUT_FAILED = 2, 500, "the result could not be written";

    // The shape of the file.
    UNKNOWN_KEY = 2, 422, "a key that does not exist at this place";
    DUPLICATE_KEY = 2, 422, "a key or node id that stands twice in one mapping";
    MISSING_KEY = 2, 422, "a key that must be there is missing";
    WRONG_TYPE = 2, 422, "a value of the wrong type";
    INVALID_VALUE = 2, 422, "a value of the right type that is not allowed here";
    INVALID_ID = 2, 422, "a workflow, phase or node id that does not follow the grammar";
    KEY_NOT_ALLOWED = 2, 422, "a key that this kind of node does not take";
    NO_KIND = 2, 422, "a node that does not say what it does";
    SEVERAL_KINDS = 2, 422, "a node that says more than one thing it does";

    // The graph.
    UNKNOWN_NODE = 2, 422, "a reference to a node that does not exist";
    SELF_DEPENDENCY = 2, 422, "a node that depends on itself";
    CYCLE = 2, 422, "nodes that wait for each other in a circle";
    CROSS_PHASE_EDGE = 2, 422, "an edge between nodes of different phases";
    OUTPUT_CONFLICT = 2, 422, "two nodes that declare the same output path";
    UNDECLARED_INPUT = 2, 422, "an input that another node writes, without a path of edges from it";

    // Expressions.
    EXPRESSION_SYNTAX = 2, 422, "an expression that cannot be parsed";
    UNDEFINED_NAME = 2, 422, "an expression that uses a name that does not exist";
    NOT_AN_ANCESTOR = 2, 422, "an expression that reads a node which may not have run yet";
    NOT_AVAILABLE_HERE = 2, 422, "a name that exists, but not at this place";
    UNSAFE_SHELL_VALUE = 2, 422, "a value at a place where the shell would read it as code";

    // Names of other things.
    UNKNOWN_SECRET = 2, 422, "a secret that the workflow does not declare";

    // Worth a look, but the workflow runs.
    GATE_AFTER_WORK = 0, 200, "a gate that is asked after the risky work has happened";
    UNUSED_PARAM = 0, 200, "a parameter that nothing reads";
    UNUSED_SECRET = 0, 200, "a secret that no node receives";

    // Starting a run, and finding one.
    INVALID_PARAM = 2, 422, "a parameter that is missing, unknown or of the wrong type";
    RUN_NOT_FOUND = 3, 404, "there is no such run";
    AMBIGUOUS_RUN = 2, 409, "the beginning of several runs' ids";
    RUN_OWNED = 3, 409, "another process is running it right now";
    NOTHING_TO_RESUME = 3, 404, "no run was interrupted or is waiting";
    ALREADY_RESUMED = 3, 409, "another run has already gone on from this one";
    NOT_RESUMABLE = 3, 409, "the run stands in a way from which nothing can go on";
    GRAPH_CHANGED = 3, 409, "the workflow is not the one that the earlier run ran";
    RESULT_INVALIDATED = 3, 409, "a result before the resume point is not valid any more";
    RUN_UNREADABLE = 3, 409, "the earlier run cannot be read";
    MODE_FORBIDS_RESUME = 3, 409, "the mode reuses nothing, so no run can be resumed";
    NOT_YET_APPLIED = 75, 202, "the process that runs it has not answered yet";

    // The store.
    UNKNOWN_STORE = 2, 422, "a text that names no store";
    STORE_UNAVAILABLE = 75, 503, "the store cannot be opened or written now";
    FOREIGN_STORE = 2, 422, "a file that sprag did not make";
    NEWER_STORE = 2, 422, "a store that a newer sprag has changed";
    DAMAGED_STORE = 2, 500, "a store whose content is not what was written";

    // Runs and the people who steer them.
    RUN_ENDED = 3, 409, "the run is over and cannot be changed";
    UNKNOWN_QUESTION = 3, 404, "the run never asked this question";
    ALREADY_ANSWERED = 3, 409, "somebody answered the question before";
    QUESTION_CHANGED = 3, 409, "the answer was given to something else than what is asked now";
    INVALID_CHOICE = 3, 422, "the question does not take this answer";
    NOT_AN_APPROVER = 3, 403, "this person may not answer the question";
    UNKNOWN_SIGNAL = 3, 404, "no node of the workflow waits for this signal";
    NOT_YET_SUPPORTED = 2, 501, "the workflow uses something that this version cannot run yet";
    CORRUPT_JOURNAL = 70, 500, "the journal of a run holds what no rule allows";

    // The program itself.
    USAGE = 2, 400, "the command line cannot be understood";
    INTERNAL = 70, 500, "a bug in sprag";
}

impl Code {
    /// The code with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| D::Error::custom(format!("`{name}` is no error code")))
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn codes_are_unique_and_exits_are_documented() {
        // R-CLI-3, R-CLI-7
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            assert!(matches!(code.exit(), 0..=6 | 70 | 75 | 130), "{code} has an undocumented exit code");
            assert!(!code.summary().is_empty());
        }
    }
}
