//! `sprag schema`: the format of workflow files, for editors.

use clap::Args;
use sprag_engine::ops;

use crate::context::Context;
use crate::failure::{Exit, Failure};

/// Print the JSON Schema of workflow files
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sprag schema > sprag.schema.json\n\n\
                        An editor with YAML support completes a workflow file that starts with\n  \
                        # yaml-language-server: $schema=sprag.schema.json")]
pub struct Schema {}

impl Schema {
    #[expect(clippy::unused_self, reason = "every verb is run in the same way")]
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        context.data(&ops::schema())?;
        Ok(Exit::OK)
    }
}
