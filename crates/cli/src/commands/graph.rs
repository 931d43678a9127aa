//! `sprag graph`: a workflow as a picture.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use sprag_core::definition::Definition;
use sprag_draw::Theme;
use sprag_engine::ops;

use super::validate;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::picture::picture;

/// Draw the graph of a workflow file
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sprag graph release.yaml\n  \
                        sprag graph release.yaml -o release.svg\n  \
                        sprag graph release.yaml --format dot | dot -Tpng -o release.png")]
pub struct Graph {
    /// The workflow file; `-` reads standard input
    #[arg(value_name = "FILE", default_value = "sprag.yaml")]
    file: PathBuf,
    /// How to draw it; by default what the ending of the output file says, else text
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Colours of an SVG; `auto` follows the reader's light or dark setting
    #[arg(long, value_enum, default_value_t = Palette::Auto)]
    theme: Palette,
    /// Write the picture here instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Text for a terminal
    Ascii,
    /// A picture for pages and documents
    Svg,
    /// Graphviz
    Dot,
    /// A flowchart for Markdown
    Mermaid,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Palette {
    Auto,
    Light,
    Dark,
}

/// What the picture is of.
fn identity(definition: &Definition) -> Value {
    json!({ "workflow": definition.id.as_str(), "graph_hash": definition.graph_hash.to_string() })
}

impl Graph {
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        let project = context.project()?;
        let checked = ops::open(&project, &context.path(&self.file));
        let Some(definition) = &checked.definition else {
            return validate::refuse(context, &checked);
        };
        let drawn = self.drawn(&picture(definition));
        match &self.output {
            Some(path) => {
                let path = context.path(path);
                let target = format!("`{}`", path.display());
                std::fs::write(&path, drawn).map_err(|source| Failure::Output { target: target.clone(), source })?;
                if context.json {
                    let mut document = identity(definition);
                    document["written"] = path.display().to_string().into();
                    context.document(&document)?;
                } else {
                    context.say(&format!("wrote {target}\n"));
                }
            }
            None if context.json => {
                let mut document = identity(definition);
                document["picture"] = drawn.into();
                context.document(&document)?;
            }
            None => context.data(&drawn)?,
        }
        Ok(Exit::OK)
    }

    fn drawn(&self, picture: &sprag_draw::Picture) -> String {
        let ending = self.output.as_ref().and_then(|path| path.extension()?.to_str());
        let format = self.format.unwrap_or(match ending {
            Some("svg") => Format::Svg,
            Some("dot" | "gv") => Format::Dot,
            Some("mmd" | "mermaid") => Format::Mermaid,
            _ => Format::Ascii,
        });
        let mut drawn = match format {
            Format::Ascii => sprag_draw::ascii(picture),
            Format::Dot => sprag_draw::dot(picture),
            Format::Mermaid => sprag_draw::mermaid(picture),
            Format::Svg => sprag_draw::svg(
                picture,
                match self.theme {
                    Palette::Auto => Theme::Auto,
                    Palette::Light => Theme::Light,
                    Palette::Dark => Theme::Dark,
                },
            ),
        };
        if !drawn.ends_with('\n') {
            drawn.push('\n');
        }
        drawn
    }
}
