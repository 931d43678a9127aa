//! The insides of a node: its request, its question, its agent, its children.

use super::level::Checker;
use super::trail::Trail;
use crate::codes::Code;
use crate::expr::script_argument;
use crate::file::{Agent, Approve, Command, Http, Mcp, Node, Probe, Provider, Semantics, TextOr, Tool, Wait, Work};
use crate::run::failing_exit;
use crate::suggest;

impl Checker<'_, '_, '_> {
    /// Everything in a node that stands on its own: no graph, no names.
    pub fn body(&mut self, trail: &Trail<'_>, node: &Node) {
        self.positive(trail, "timeout", node.timeout);
        self.positive(trail, "idle_timeout", node.idle_timeout);
        if let Some(retry) = &node.retry {
            self.retry(&trail.key("retry"), retry);
        }
        if let Some(recovery) = &node.recovery {
            self.recovery(&trail.key("recovery"), recovery);
            if let Some(work) = &recovery.decompose {
                self.work(&trail.key("recovery").key("decompose"), "decomposition", work);
            }
        }
        if let Some(command) = &node.run {
            self.command(&trail.key("run"), command);
        }
        if let Some(http) = &node.http {
            self.http(&trail.key("http"), http);
        }
        if let Some(agent) = &node.agent {
            self.agent(&trail.key("agent"), agent);
        }
        if let Some(approve) = &node.approve {
            self.approve(&trail.key("approve"), approve);
        }
        if let Some(wait) = &node.wait {
            self.wait(&trail.key("wait"), wait);
        }
        if let Some(work) = &node.generate {
            self.work(&trail.key("generate"), "`generate`", work);
        }
        if let Some(TextOr::Long(work)) = &node.evaluate {
            self.work(&trail.key("evaluate"), "`evaluate`", work);
        }
        if let Some(probe) = &node.probe {
            self.probe(trail, node, probe);
        }
        if let Some(map) = &node.map {
            self.at_least_one(&trail.key("map"), "max_parallel", map.max_parallel);
        }
        if let Some(repeat) = &node.repeat {
            self.at_least_one(&trail.key("loop"), "max", Some(repeat.max));
        }
        for code in node.errors.keys() {
            if failing_exit(code).is_none() {
                let help = "exit codes that mean failure go from 1 to 255, written as plain numbers such as `75`";
                self.problems.at_key(
                    Code::INVALID_VALUE,
                    &trail.key("errors").key(code),
                    format!("`{code}` is not an exit code"),
                    help,
                );
            }
        }
        if let Some(schema) = &node.output_schema {
            self.schema(&trail.key("output_schema"), &schema.0);
        }
        for (id, schema) in &node.input_schema {
            self.schema(&trail.key("input_schema").key(id.as_str()), &schema.0);
        }
    }

    fn command(&mut self, trail: &Trail<'_>, command: &Command) {
        match command {
            TextOr::Text(script) if script.trim().is_empty() => {
                self.invalid(trail, "this command is empty", "write a command, or use `noop:`");
            }
            TextOr::Text(_) => {}
            TextOr::Long(arguments) if arguments.is_empty() => {
                self.invalid(trail, "this command is empty", "write `[program, argument, …]`");
            }
            TextOr::Long(arguments) => {
                if let Some((at, fault)) = script_argument(arguments.iter().map(|argument| argument.0.as_str())) {
                    self.problems.fault(Code::UNSAFE_SHELL_VALUE, &trail.index(at), fault);
                }
            }
        }
    }

    fn http(&mut self, trail: &Trail<'_>, http: &Http) {
        if http.json.is_some() && http.body.is_some() {
            let help = "remove one; `json` sets the content type by itself";
            self.problems.at_key(
                Code::INVALID_VALUE,
                &trail.key("body"),
                "a request has one body, and this one has `json` and `body`",
                help,
            );
        }
        let url = http.url.0.trim_start();
        let scheme = url.split("://").next().unwrap_or_default();
        if !url.contains("{{") || !scheme.contains("{{") {
            let known = matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") && url.contains("://");
            if !known {
                let help = "an address starts with `https://` or `http://`";
                self.invalid(&trail.key("url"), "this is not an address that sprag can call", help);
            }
        }
        for name in http.headers.keys() {
            let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            if name.is_empty() || !name.bytes().all(token) {
                let message = format!("`{}` is not the name of a header", name.escape_debug());
                self.problems.at_key(
                    Code::INVALID_VALUE,
                    &trail.key("headers").key(name),
                    message,
                    "use letters, digits and `-`",
                );
            }
        }
        for (at, status) in http.expect.iter().flat_map(|expect| &expect.status).enumerate() {
            if !(100..=599).contains(status) {
                let help = "status codes go from 100 to 599";
                self.invalid(
                    &trail.key("expect").key("status").index(at),
                    format!("{status} is not a status code"),
                    help,
                );
            }
        }
    }

    fn agent(&mut self, trail: &Trail<'_>, agent: &Agent) {
        let name = match agent.provider {
            Provider::Anthropic => "anthropic",
            Provider::Openai => "openai",
            Provider::Command => "command",
            Provider::Fake => "fake",
        };
        let needed = match agent.provider {
            Provider::Anthropic | Provider::Openai => ("model", agent.model.is_some()),
            Provider::Command => ("command", agent.command.as_ref().is_some_and(|command| !command.is_empty())),
            Provider::Fake => ("script", agent.script.is_some()),
        };
        if !needed.1 && !self.problems.is_damaged(trail) {
            let message = format!("the provider `{name}` needs `{}`", needed.0);
            self.problems.at(Code::MISSING_KEY, trail, message, format!("add `{}:` here", needed.0));
        }
        for (key, there, provider) in [
            ("command", agent.command.is_some(), Provider::Command),
            ("script", agent.script.is_some(), Provider::Fake),
        ] {
            if there && agent.provider != provider {
                let message = format!("the provider `{name}` has no `{key}`");
                self.problems.at_key(
                    Code::KEY_NOT_ALLOWED,
                    &trail.key(key),
                    message,
                    "remove it, or change the provider",
                );
            }
        }
        self.at_least_one(trail, "max_turns", agent.max_turns);
        self.at_least_one(trail, "max_tokens", agent.max_tokens);
        for (at, tool) in agent.tools.iter().enumerate() {
            self.tool(&trail.key("tools").index(at), tool);
        }
    }

    fn tool(&mut self, trail: &Trail<'_>, tool: &Tool) {
        match tool {
            TextOr::Text(word) if word == "plan" => {}
            TextOr::Text(word) => {
                let help = suggest::did_you_mean(word, ["plan"]).unwrap_or_else(|| {
                    "the built-in tools are `plan`; a tool of your own is a mapping with `name` and `run`".into()
                });
                self.invalid(trail, format!("there is no tool `{word}`"), help);
            }
            TextOr::Long(tool) => {
                let keys = [("run", tool.run.is_some()), ("http", tool.http.is_some()), ("mcp", tool.mcp.is_some())];
                self.exactly_one(trail, "a tool", &keys);
                if tool.mcp.is_none() && tool.name.is_none() && !self.problems.is_damaged(trail) {
                    self.problems.at(Code::MISSING_KEY, trail, "a tool needs a name", "add `name:` here");
                }
                if let Some(command) = &tool.run {
                    self.command(&trail.key("run"), command);
                }
                if let Some(http) = &tool.http {
                    self.http(&trail.key("http"), http);
                }
                if let Some(schema) = &tool.input_schema {
                    self.schema(&trail.key("input_schema"), &schema.0);
                }
                if let Some(Mcp { command, url }) = &tool.mcp {
                    self.exactly_one(
                        &trail.key("mcp"),
                        "a server",
                        &[("command", command.is_some()), ("url", url.is_some())],
                    );
                }
            }
        }
    }

    fn approve(&mut self, trail: &Trail<'_>, approve: &Approve) {
        self.positive(trail, "timeout", approve.timeout);
        if let Some(form) = &approve.form {
            self.schema(&trail.key("form"), &form.0);
        }
    }

    fn wait(&mut self, trail: &Trail<'_>, wait: &Wait) {
        let keys = [("for", wait.length.is_some()), ("until", wait.until.is_some()), ("signal", wait.signal.is_some())];
        self.exactly_one(trail, "`wait`", &keys);
        if let Some(until) = &wait.until
            && !until.0.contains("{{")
            && until.0.parse::<jiff::Timestamp>().is_err()
        {
            let help = "write a moment with its offset, such as `2026-12-24T18:00:00Z` or `2026-12-24T18:00:00+01:00`";
            self.invalid(&trail.key("until"), format!("`{}` is not a moment", until.0), help);
        }
    }

    pub fn work(&mut self, trail: &Trail<'_>, what: &str, work: &Work) {
        let keys = [("run", work.run.is_some()), ("agent", work.agent.is_some()), ("call", work.call.is_some())];
        self.exactly_one(trail, what, &keys);
        if work.with.is_some() && work.call.is_none() {
            self.problems.at_key(Code::KEY_NOT_ALLOWED, &trail.key("with"), "`with` belongs to `call`", "remove it");
        }
        if let Some(command) = &work.run {
            self.command(&trail.key("run"), command);
        }
        if let Some(agent) = &work.agent {
            self.agent(&trail.key("agent"), agent);
        }
    }

    fn probe(&mut self, trail: &Trail<'_>, node: &Node, probe: &Probe) {
        let here = trail.key("probe");
        self.exactly_one(&here, "a probe", &[("run", probe.run.is_some()), ("http", probe.http.is_some())]);
        let asked = node.semantics.map_or(self.at_most_once, |semantics| semantics == Semantics::AtMostOnce);
        if !asked && !self.problems.is_damaged(trail) {
            let help = "add `semantics: at_most_once`, or remove the probe";
            self.problems.at_key(Code::INVALID_VALUE, &here, "a probe is only asked under `at_most_once`", help);
        }
        if let Some(command) = &probe.run {
            self.command(&here.key("run"), command);
        }
        if let Some(http) = &probe.http {
            self.http(&here.key("http"), http);
        }
    }
}
