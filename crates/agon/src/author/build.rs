//! `agon build`: builds a bot if it has changed since.

use std::io::{self, Write as _};

use agon_bot::Build;
use clap::Args;

use crate::author::json::{self, BuildState};
use crate::common::builds::{State, build};
use crate::common::sandbox::SandboxOptions;
use crate::common::screen;
use crate::common::{self, Done, Failure};

/// Examples for the help.
pub const EXAMPLES: &str =
    "A folder is built with the `build` command of its agon.toml, or as its algo.json says (Java, Rust); a single file in C, C++, C#, Go, Java, Kotlin, Rust
or TypeScript with the usual compiler, into the user's cache. Bots that have not changed are not built again. Other commands
compile single files automatically.

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
    /// Also builds what has not changed
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub sandbox: SandboxOptions,
    /// Prints what was done as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs `agon build`.
pub fn run(options: &BuildOptions) -> Done {
    let bots = options.sandbox.bots();
    let screen = screen::output();
    let mut failed = false;
    let mut reports = Vec::new();
    for text in &options.bots {
        let name = common::named(text, &bots)?;
        let shown = screen::harmless(&name.text);
        let state = build(&name, options.force)?;
        failed |= matches!(state, State::Failed(_));
        let how = Build::of(&name).map_err(Failure::Usage)?;
        if options.json {
            let (command, made) = how.map(|how| (how.command, how.made)).unzip();
            let mut report = json::Built {
                bot: text,
                state: BuildState::Nothing,
                error: None,
                ms: None,
                command,
                runs: made.flatten().map(|made| made.run),
            };
            match state {
                State::Nothing => {}
                State::Current => report.state = BuildState::Current,
                State::Built(took) => {
                    (report.state, report.ms) = (BuildState::Built, Some(took.as_secs_f64() * 1e3));
                }
                State::Failed(why) => (report.state, report.error) = (BuildState::Failed, Some(why)),
            }
            reports.push(report);
            continue;
        }
        let line = match state {
            State::Nothing => format!("{shown}: nothing to build"),
            State::Current => format!("{shown}: {}", screen.good("up to date")),
            State::Built(took) => {
                let took = screen::milliseconds(took.as_secs_f64() * 1e3);
                format!("{shown}: {} in {took}", screen.good("built"))
            }
            State::Failed(why) => format!("{shown}: {}: {why}", screen.bad("not built")),
        };
        writeln!(io::stdout(), "{line}")?;
        if let Some(made) = how.and_then(|how| how.made).filter(|made| made.place.is_dir()) {
            writeln!(io::stdout(), "  {}", screen.dim(&format!("runs as: {}", made.run.join(" "))))?;
        }
    }
    if options.json {
        common::print_json(&mut io::stdout(), &reports)?;
    }
    if failed { Err(Failure::Check) } else { Ok(()) }
}
