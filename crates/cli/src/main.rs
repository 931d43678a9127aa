//! The `sprag` command.

mod arguments;
mod commands;
mod context;
mod failure;
mod live;
mod picture;
mod printed;
mod render;
mod table;
mod times;

fn main() -> std::process::ExitCode {
    commands::main().into()
}
