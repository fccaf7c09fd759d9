//! `agon build`: builds a bot, when it has changed since.

use std::io::{self, Write as _};

use clap::Args;

use crate::common::builds::{State, build};
use crate::common::screen;
use crate::common::{self, Done, Failure};

/// Examples for the help.
pub const EXAMPLES: &str =
    "A folder is built by the `build` command of its agon.toml; a single C, C++, Rust or Go file by the usual
compiler, into the user's cache. What has not changed is not built again.

Examples:
  agon build my/bot
  agon build bot.cpp                  then: agon play cultist-wars bot.cpp builtin:greedy
  agon play cultist-wars bot.cpp builtin:greedy --build";

/// Options of `agon build`.
#[derive(Args, Debug)]
pub struct BuildOptions {
    /// The bots: folders with agon.toml, or source files
    #[arg(default_value = ".")]
    pub bots: Vec<String>,
    /// Builds also what has not changed
    #[arg(long)]
    pub force: bool,
}

/// Runs `agon build`.
pub fn run(options: &BuildOptions) -> Done {
    let screen = screen::output();
    let mut failed = false;
    for text in &options.bots {
        let name = common::bot(text)?;
        let shown = screen::harmless(&name.text);
        let line = match build(&name, options.force)? {
            State::Nothing => format!("{shown}: nothing to build"),
            State::Current => format!("{shown}: {}", screen.good("up to date")),
            State::Built => format!("{shown}: {}", screen.good("built")),
            State::Failed(why) => {
                failed = true;
                format!("{shown}: {}: {why}", screen.bad("not built"))
            }
        };
        writeln!(io::stdout(), "{line}")?;
    }
    if failed { Err(Failure::Check) } else { Ok(()) }
}
