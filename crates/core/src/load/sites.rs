//! Every place of a node that holds an expression, and what may be said there.

use serde_json::Value;

use super::trail::Trail;
use crate::file::{Agent, Command, Defaults, Http, Json, Node, Template, TextOr, Tool, Work};

/// How an expression is written at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Text with `{{ … }}`.
    Template,
    /// An expression alone.
    Bare,
    /// A shell script with `{{ … }}`.
    Shell,
}

/// What `output` means at a place (`R-EXPR-1`, `R-EXPR-3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// The output of the node that the edge comes from.
    Source,
    /// The node's own.
    Own,
}

/// A place that holds an expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site<'a> {
    pub trail: &'a Trail<'a>,
    pub text: &'a str,
    pub form: Form,
    pub output: Output,
    /// Whether `secrets` may be named.
    pub secrets: bool,
    /// Whether `item` and `index` exist.
    pub item: bool,
}

/// Hands every expression of a node to `see`. Inline sub-workflows are graphs of their own and not visited.
pub(super) struct Sites<'s> {
    pub see: &'s mut dyn FnMut(Site<'_>),
    pub item: bool,
}

impl Sites<'_> {
    pub fn node(&mut self, trail: &Trail<'_>, node: &Node) {
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
            let trail = trail.key("approve");
            self.own(&trail.key("message"), &approve.message.0, Form::Template);
            if let Some(show) = &approve.show {
                self.own(&trail.key("show"), &show.0, Form::Template);
            }
        }
        if let Some(until) = node.wait.as_ref().and_then(|wait| wait.until.as_ref()) {
            self.template(&trail.key("wait").key("until"), until);
        }
        if let Some(work) = &node.generate {
            self.work(&trail.key("generate"), work, Output::Source);
        }
        if let Some(repeat) = &node.repeat {
            let trail = trail.key("loop");
            self.own(&trail.key("until"), &repeat.until.0, Form::Bare);
            for (name, value) in &repeat.params {
                self.json(&trail.key("params").key(name.as_str()), value);
            }
        }
        match &node.evaluate {
            Some(TextOr::Text(expression)) => self.own(&trail.key("evaluate"), expression, Form::Bare),
            Some(TextOr::Long(work)) => self.work(&trail.key("evaluate"), work, Output::Own),
            None => {}
        }
        if let Some(work) = node.recovery.as_ref().and_then(|recovery| recovery.decompose.as_ref()) {
            self.work(&trail.key("recovery").key("decompose"), work, Output::Source);
        }
        if let Some(probe) = &node.probe {
            let trail = trail.key("probe");
            if let Some(command) = &probe.run {
                self.command(&trail.key("run"), command);
            }
            if let Some(http) = &probe.http {
                self.http(&trail.key("http"), http);
            }
        }
        if let Some(with) = &node.with {
            self.json(&trail.key("with"), with);
        }
        for (name, value) in &node.params {
            self.json(&trail.key("params").key(name.as_str()), value);
        }
        if let Some(cwd) = &node.cwd {
            self.template(&trail.key("cwd"), cwd);
        }
        for (name, value) in &node.env {
            self.template(&trail.key("env").key(name.as_str()), &value.0);
        }
        if let Some(map) = &node.map {
            let trail = trail.key("map");
            self.site(&trail.key("over"), &map.over.0, Form::Bare, Output::Source, false);
            let outer = std::mem::replace(&mut self.item, true);
            self.node(&trail.key("node"), &map.node);
            self.item = outer;
        }
    }

    fn site(&mut self, trail: &Trail<'_>, text: &str, form: Form, output: Output, secrets: bool) {
        (self.see)(Site { trail, text, form, output, secrets, item: self.item });
    }

    fn template(&mut self, trail: &Trail<'_>, template: &Template) {
        self.site(trail, &template.0, Form::Template, Output::Source, false);
    }

    fn own(&mut self, trail: &Trail<'_>, text: &str, form: Form) {
        self.site(trail, text, form, Output::Own, false);
    }

    fn command(&mut self, trail: &Trail<'_>, command: &Command) {
        self.command_in(trail, command, Output::Source);
    }

    fn command_in(&mut self, trail: &Trail<'_>, command: &Command, output: Output) {
        match command {
            TextOr::Text(script) => self.site(trail, script, Form::Shell, output, false),
            TextOr::Long(arguments) => {
                for (at, argument) in arguments.iter().enumerate() {
                    self.site(&trail.index(at), &argument.0, Form::Template, output, false);
                }
            }
        }
    }

    fn http(&mut self, trail: &Trail<'_>, http: &Http) {
        self.template(&trail.key("url"), &http.url);
        for (name, value) in &http.headers {
            self.site(&trail.key("headers").key(name), &value.0, Form::Template, Output::Source, true);
        }
        if let Some(json) = &http.json {
            self.json(&trail.key("json"), json);
        }
        if let Some(body) = &http.body {
            self.template(&trail.key("body"), body);
        }
        if let Some(json) = http.expect.as_ref().and_then(|expect| expect.json.as_ref()) {
            self.own(&trail.key("expect").key("json"), &json.0, Form::Bare);
        }
    }

    fn agent(&mut self, trail: &Trail<'_>, agent: &Agent) {
        self.agent_in(trail, agent, Output::Source);
    }

    fn agent_in(&mut self, trail: &Trail<'_>, agent: &Agent, output: Output) {
        let texts = [
            ("model", agent.model.as_ref()),
            ("prompt", Some(&agent.prompt)),
            ("system", agent.system.as_ref()),
            ("base_url", agent.base_url.as_ref()),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                self.site(&trail.key(key), &text.0, Form::Template, output, false);
            }
        }
        if let Some(key) = &agent.api_key {
            self.site(&trail.key("api_key"), &key.0, Form::Template, output, true);
        }
        for (at, argument) in agent.command.iter().flatten().enumerate() {
            self.site(&trail.key("command").index(at), &argument.0, Form::Template, output, false);
        }
        for (at, tool) in agent.tools.iter().enumerate() {
            self.tool(&trail.key("tools").index(at), tool);
        }
    }

    /// A tool sees the arguments that the model gave it as `item`.
    fn tool(&mut self, trail: &Trail<'_>, tool: &Tool) {
        let TextOr::Long(tool) = tool else { return };
        let outer = std::mem::replace(&mut self.item, true);
        if let Some(command) = &tool.run {
            self.command(&trail.key("run"), command);
        }
        if let Some(http) = &tool.http {
            self.http(&trail.key("http"), http);
        }
        self.item = outer;
        if let Some(mcp) = &tool.mcp {
            for (at, argument) in mcp.command.iter().flatten().enumerate() {
                self.template(&trail.key("mcp").key("command").index(at), argument);
            }
            if let Some(url) = &mcp.url {
                self.template(&trail.key("mcp").key("url"), url);
            }
        }
    }

    pub fn work(&mut self, trail: &Trail<'_>, work: &Work, output: Output) {
        if let Some(command) = &work.run {
            self.command_in(&trail.key("run"), command, output);
        }
        if let Some(agent) = &work.agent {
            self.agent_in(&trail.key("agent"), agent, output);
        }
        if let Some(with) = &work.with {
            self.value(&trail.key("with"), &with.0, output);
        }
    }

    /// Expressions in `defaults`, which belong to no node in particular.
    pub fn defaults(&mut self, trail: &Trail<'_>, defaults: &Defaults) {
        for (name, value) in &defaults.env {
            self.template(&trail.key("env").key(name.as_str()), &value.0);
        }
        if let Some(cwd) = &defaults.cwd {
            self.site(&trail.key("cwd"), cwd, Form::Template, Output::Source, false);
        }
        if let Some(work) = defaults.recovery.as_ref().and_then(|recovery| recovery.decompose.as_ref()) {
            self.work(&trail.key("recovery").key("decompose"), work, Output::Source);
        }
    }

    /// Texts inside JSON are templates, at every depth.
    fn json(&mut self, trail: &Trail<'_>, json: &Json) {
        self.value(trail, &json.0, Output::Source);
    }

    fn value(&mut self, trail: &Trail<'_>, value: &Value, output: Output) {
        match value {
            Value::String(text) => self.site(trail, text, Form::Template, output, false),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.value(&trail.index(at), item, output);
                }
            }
            Value::Object(object) => object.iter().for_each(|(key, item)| self.value(&trail.key(key), item, output)),
            _ => {}
        }
    }
}
