//! The command line. Each folder is a group of related commands, and each command a module in it;
//! [`common`] holds what several groups use.

#![forbid(unsafe_code)]

mod cli;
mod complete;
mod wrong;

mod author;
mod ci;
mod common;
mod online;
mod play;
mod replay;
#[cfg(test)]
mod schema;
mod series;
mod serve;
mod viewer;
mod work;
mod workshop;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};
use cli::{Cli, Command};

use crate::author::{build, check, doctor, image, new, pack, sandbox, test};
use crate::common::ErrorCode;
use crate::online::{challenge, login, logs, look, submit, tryout};
use crate::play::{join, referee};
use crate::series::{gauntlet, pin, rate, sprt, tournament, why};
use crate::workshop::{bench, conform, docs, library};

fn main() -> ExitCode {
    agon_bot::rights::keep_private();
    let mut arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    // Hidden subcommands that this program runs itself with; they skip the cost of a command line parser.
    match arguments.get(1).and_then(|first| first.to_str()) {
        Some(agon_bot::guard::SUBCOMMAND) => {
            agon_bot::guard::watch(&arguments.get(2).map(|mark| mark.to_string_lossy()).unwrap_or_default());
            return ExitCode::SUCCESS;
        }
        Some(agon_bot::script::SUBCOMMAND) => return agon_script::run(&arguments[2..]),
        Some(agon_bot::join::SUBCOMMAND) => return agon_bot::join::keep_door(&arguments[2..]),
        Some(agon_sandbox::SUBCOMMAND) => return agon_sandbox::live(&arguments[2..]),
        Some(play::human::SUBCOMMAND) => return play::human::pass_on(&arguments[2..]),
        Some(play::step::SUBCOMMAND) => return play::step::pass_both(&arguments[2..]),
        Some(agon_worker::unpack::SUBCOMMAND) => return agon_worker::unpack::live(&arguments[2..]),
        Some(bench::WAITER) => return bench::wait_for_ever(),
        Some("referee") => referee::spell_out(&mut arguments),
        _ => {}
    }
    match complete::answer(Cli::command) {
        Ok(true) => return ExitCode::SUCCESS,
        Ok(false) => {}
        Err(error) => error.exit(),
    }
    if let Ok(own) = std::env::current_exe() {
        agon_bot::guard::use_program(own);
    }
    agon_bot::inside::tell_by(|line| eprintln!("{}", common::screen::harmless(line)));
    if arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json") {
        common::failure::tell_as_json();
    }
    let mut command = cli::command();
    let parsed = command.try_get_matches_from_mut(&arguments);
    let told = |matches| Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command));
    let cli = match parsed.and_then(told) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            let why = wrong::explain(error, &arguments);
            eprint!("{why}");
            let why = why.trim();
            common::failure::print_error(ErrorCode::Usage, why.strip_prefix("error: ").unwrap_or(why));
            return ExitCode::from(2);
        }
        Err(help) => {
            let _ = help.print();
            return ExitCode::SUCCESS;
        }
    };
    if cli.wide {
        common::screen::widen();
    }
    let done = match cli.command {
        Command::New(options) => new::run(&options),
        Command::Pack(options) => pack::run(&options),
        Command::Play(options) => play::run(&options),
        Command::Referee(options) => referee::run(&options),
        Command::Join(options) => join::run(&options),
        Command::Check(options) => check::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Ci(options) => ci::run(&options),
        Command::Build(options) => build::run(&options),
        Command::Doctor(options) => doctor::run(&options),
        Command::Sandbox(command) => sandbox::run(&command),
        Command::Image(options) => image::run(&options),
        Command::Watch(options) => viewer::run(&options),
        Command::Gauntlet(options) => gauntlet::run(&options),
        Command::Tournament(options) => tournament::run(&options),
        Command::Sprt(options) => sprt::run(&options),
        Command::Rate(options) => rate::run(&options),
        Command::Why(options) => why::run(&options),
        Command::Login(options) => login::login(&options),
        Command::Logout(options) => login::logout(&options),
        Command::Submit(options) => submit::run(&options),
        Command::Try(options) => tryout::run(&options),
        Command::Challenge(options) => challenge::run(&options),
        Command::Back(options) => challenge::back(&options),
        Command::Status(options) => look::status(&options),
        Command::Versions(options) => look::versions(&options),
        Command::Logs(options) => logs::run(&options),
        Command::Serve(options) => serve::run(&options),
        Command::Work(options) => work::run(&options),
        Command::Verify(options) => serve::kept::verify(&options),
        Command::Pin(options) => pin::run(&options),
        Command::Replay(command) => replay::run(&command),
        Command::Games(options) => library::games(&options),
        Command::Analyse(options) => replay::analyse::run(&options),
        Command::Rules(options) => library::rules(&options),
        Command::Maps(options) => library::maps(&options),
        Command::Explain(options) => library::explain(&options),
        Command::Docs(options) => docs::run(&options, Cli::command),
        Command::Conform(options) => conform::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Completions { shell } => {
            complete::register(shell, &mut std::io::stdout()).map_err(Into::into)
        }
    };
    agon_bot::inside::close();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
