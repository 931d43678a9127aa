//! The `sprag` command.

mod arguments;
mod commands;
mod context;
mod failure;
mod picture;
mod render;

fn main() -> std::process::ExitCode {
    commands::main().into()
}
