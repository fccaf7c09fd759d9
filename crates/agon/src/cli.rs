//! The command line: the commands. The options of each live in its module.

use std::sync::LazyLock;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::author::{build, check, doctor, image, new, pack, sandbox, test};
use crate::common::screen;
use crate::online::{challenge, login, logs, look, submit, tryout};
use crate::play::{join, referee};
use crate::series::{gauntlet, pin, rate, sprt, tournament, why};
use crate::workshop::{bench, conform, docs, library, maps};
use crate::{ci, play, replay, serve, viewer, work};

/// The version, and which parts of the program are built in: some are features, which an ordinary build leaves out.
static BUILT: LazyLock<String> = LazyLock::new(|| {
    let parts = [
        ("viewer", agon_web::app::is_built()),
        ("engines for pages", agon_web::app::has_engines()),
        ("PostgreSQL and buckets (--features scale)", agon_store::HAS_SCALE),
        ("making certificates (--features tls)", agon_site::tls::MAKES),
    ];
    let of = |wanted| {
        let names: Vec<&str> =
            parts.iter().filter(|(_, built)| *built == wanted).map(|(name, _)| *name).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    };
    format!("{}\nwith     {}\nwithout  {}", env!("CARGO_PKG_VERSION"), of(true), of(false))
});

/// Bot-programming contests on your own machine.
#[derive(Parser, Debug)]
#[command(
    name = "agon",
    version,
    long_version = BUILT.as_str(),
    about = "Bot-programming contests on your own machine: any bot, any language, exact rules",
    after_help = "Examples:
  agon games                                          what can be played
  agon new cultist-wars python my-bot                 a bot to start from
  agon play cultist-wars my-bot builtin:greedy        one match
  agon check cultist-wars my-bot                      does it follow the protocol and the rules?
  agon watch agon-replays/LAST.replay                 see it in the browser
  agon sprt cultist-wars my/bot.py git:HEAD~1         is it better than yesterday's?
  agon replay info agon-replays/LAST.replay           what happened in it
  agon rules cultist-wars                             the rulebook
  agon explain CW-SHOOT-3                             one rule, its code and its test
  agon docs                                           the guide

Exit codes: 0 done, 1 a check failed, 2 wrong usage, 3 agon or the machine failed; `agon sprt` has more
(agon docs series).",
    propagate_version = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Prints tables at full width, even on a narrower terminal
    // Hidden: a table that leaves something out names this option; it would only clutter the help of every command.
    #[arg(long, global = true, hide = true)]
    pub wide: bool,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Make a starter bot in the language of your choice
    #[command(after_help = new::EXAMPLES)]
    New(new::NewOptions),
    /// Play one match and show how it went
    #[command(after_help = play::EXAMPLES)]
    Play(play::PlayOptions),
    /// Play one match and print scores only: a drop-in for brutaltester and psyleague
    #[command(after_help = referee::EXAMPLES)]
    Referee(referee::RefereeOptions),
    /// Let a bot on this machine play in a match on another
    #[command(after_help = join::EXAMPLES)]
    Join(join::JoinOptions),
    /// Check a bot in scripted situations; each problem names the rule it breaks
    #[command(after_help = check::EXAMPLES)]
    Check(check::CheckOptions),
    /// Run the tests in a bot's folder: recorded turns, with the answers expected there
    #[command(after_help = test::EXAMPLES)]
    Test(test::TestOptions),
    /// Check a bot on a build server: build, check, tests, and whether it is better than on the base branch
    #[command(after_help = ci::EXAMPLES)]
    Ci(ci::CiOptions),
    /// Build a bot: with the command in its agon.toml, or the compiler of its language
    #[command(after_help = build::EXAMPLES)]
    Build(build::BuildOptions),
    /// Watch matches in the browser: replays, or new ones played from the page
    #[command(after_help = viewer::EXAMPLES)]
    Watch(viewer::WatchOptions),
    /// Measure how strong a bot is: play NEW against each OPPONENT, with Elo and its interval
    #[command(after_help = gauntlet::EXAMPLES)]
    Gauntlet(gauntlet::GauntletOptions),
    /// Play every bot against every other, with ratings
    #[command(after_help = tournament::EXAMPLES)]
    Tournament(tournament::TournamentOptions),
    /// Test whether NEW is better than OLD: play until the evidence is enough
    #[command(after_help = sprt::EXAMPLES)]
    Sprt(sprt::SprtOptions),
    /// Rate all bots from the journals of series
    #[command(after_help = rate::EXAMPLES)]
    Rate(rate::RateOptions),
    /// Explain a bot's losses: what they have in common, beyond chance
    #[command(after_help = why::EXAMPLES)]
    Why(why::WhyOptions),
    /// Log in to a contest: store the token for taking part
    #[command(after_help = login::EXAMPLES)]
    Login(login::LoginOptions),
    /// Forget the token of a contest
    Logout(login::LogoutOptions),
    /// Submit a bot to the contest
    #[command(after_help = submit::EXAMPLES)]
    Submit(submit::SubmitOptions),
    /// Try out a bot at the contest in one match, without submitting it
    #[command(after_help = tryout::EXAMPLES)]
    Try(tryout::TryOptions),
    /// Play one unrated match at the contest with a submitted version
    #[command(after_help = challenge::EXAMPLES)]
    Challenge(challenge::ChallengeOptions),
    /// Go back to an earlier version at the contest: it plays for the team again
    #[command(after_help = challenge::BACK)]
    Back(challenge::BackOptions),
    /// Show where you stand in the contest
    #[command(after_help = look::STATUS)]
    Status(look::LookOptions),
    /// List the versions you submitted to the contest, and the state of each
    #[command(after_help = look::VERSIONS)]
    Versions(look::LookOptions),
    /// Show what your bot's build at the contest printed, or what your bot wrote in a match there
    #[command(after_help = logs::EXAMPLES)]
    Logs(logs::LogsOptions),
    /// Run a contest: teams submit bots, and a ladder plays them
    #[command(after_help = serve::EXAMPLES)]
    Serve(serve::ServeOptions),
    /// Play matches of a contest that runs elsewhere, with a token from its organiser
    #[command(after_help = work::EXAMPLES)]
    Work(work::WorkOptions),
    /// Check an exported contest: its log, its matches, its table
    #[command(after_help = serve::kept::EXAMPLES)]
    Verify(serve::kept::VerifyOptions),
    /// Freeze a bot as it is now, to play against later
    #[command(after_help = pin::EXAMPLES)]
    Pin(pin::PinOptions),
    /// Pack a bot in the form that its contest accepts
    #[command(after_help = pack::EXAMPLES)]
    Pack(pack::PackOptions),
    /// Work with replays: info, verify, show, export, get, import, fork, feed, keep, redact
    ///
    /// Every FILE may also be a replay of the original game, unconverted.
    #[command(subcommand)]
    Replay(replay::ReplayCommand),
    /// Find the orders that cost or won most, by playing on from each turn of a match
    #[command(after_help = replay::analyse::EXAMPLES)]
    Analyse(replay::analyse::AnalyseOptions),
    /// List the games, with their presets, maps and built-in bots
    Games(library::GamesOptions),
    /// Show a game's rulebook, a preset, or how two presets differ
    #[command(after_help = "Examples:
  agon rules cultist-wars                     the rulebook
  agon rules cultist-wars --preset standard   every number of a preset
  agon rules terminal --diff document europe-2025")]
    Rules(library::RulesOptions),
    /// List a game's maps, show one, or check map files
    #[command(after_help = "Examples:
  agon maps jungle-blitz                      the maps of a game
  agon maps jungle-blitz easy-glade           one of them, as a file to start from
  agon maps deerhunt narrows --draw           the board at the start of a match
  agon maps jungle-blitz easy-glade > mine.txt
  agon maps jungle-blitz generate --seed 7    the map of `agon play ... --map generate --seed 7`
  agon maps check mine.txt                    can it be played, and is it fair?
  agon play jungle-blitz BOT BOT --map ./mine.txt")]
    Maps(maps::MapsOptions),
    /// Explain one rule: its text, where the code decides it, where it is tested
    #[command(after_help = "Example:\n  agon explain CW-SHOOT-3")]
    Explain(library::ExplainOptions),
    /// Read the guide
    #[command(after_help = docs::EXAMPLES)]
    Docs(docs::DocsOptions),
    /// Compare an engine with recorded matches of the original
    #[command(
        after_help = "Files and folders are searched for records; a record is recognised by its content. An incomplete record
(Terminal) is compared up to its last complete line and counted as cut off.
Exit code 0: at least one record was compared and nothing differs; 1: a difference, a damaged record, or none found;
2: a path does not exist.

Example:
  agon conform cultist-wars records/cultist-wars"
    )]
    Conform(conform::ConformOptions),
    /// Measure the speed of an engine, or of the referee
    #[command(after_help = "Examples:
  agon bench cultist-wars          clone, step and playout of the engine
  agon bench referee               the referee's own cost over two native bots
  agon bench referee --bot ./bot   over two of your own")]
    Bench(bench::BenchOptions),
    /// Check this machine: languages, limits, sandbox; and say how to add what is missing
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(doctor::DoctorOptions),
    /// Prove that the sandbox of this machine holds
    #[command(subcommand)]
    Sandbox(sandbox::SandboxCommand),
    /// Make, list and remove images: what bots of others see of this machine's programs
    #[command(after_help = image::EXAMPLES)]
    Image(image::ImageOptions),
    /// Print completions for a shell
    #[command(
        after_help = "Commands, options, games, presets, maps, built-in bots, rules and files are completed.

Examples:
  echo 'source <(agon completions bash)' >> ~/.bashrc
  echo 'source <(agon completions zsh)' >> ~/.zshrc
  agon completions fish > ~/.config/fish/completions/agon.fish"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// The maximum width of help, and its width when standard output is not a terminal.
pub const WIDEST: usize = 100;
/// Spaces between an example and a remark moved closer to it, and the extra indent of a remark moved below its example.
const SPACE: usize = 4;

/// The command line, with help that fits this terminal.
pub fn command() -> clap::Command {
    let columns = screen::room().map_or(WIDEST, |room| room.min(WIDEST));
    fitted(Cli::command(), columns)
}

/// A command whose help, and that of its subcommands, fits this width.
pub fn fitted(command: clap::Command, columns: usize) -> clap::Command {
    let below = command.get_after_help().map(|below| refilled(&below.to_string(), columns));
    let command = match below {
        Some(below) => command.after_help(below),
        None => command,
    };
    command.term_width(columns).mut_subcommands(|command| fitted(command, columns))
}

/// The text below the options, with each paragraph joined into one line for clap to wrap, and examples that fit.
fn refilled(text: &str, columns: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let is_prose = !line.is_empty() && !line.starts_with(' ');
        match lines.last_mut() {
            Some(paragraph) if is_prose && goes_on => {
                paragraph.push(' ');
                paragraph.push_str(line);
            }
            _ => lines.extend(example(line, columns)),
        }
        goes_on = is_prose;
    }
    lines.join("\n")
}

/// An example and the remark beside it, or below it if they do not fit beside one another.
fn example(line: &str, columns: usize) -> Vec<String> {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let Some((command, remark)) = text.split_once("  ").filter(|_| line.chars().count() > columns) else {
        return vec![line.to_owned()];
    };
    let remark = remark.trim_start();
    let close = format!("{:indent$}{command}{:SPACE$}{remark}", "", "");
    if close.chars().count() <= columns {
        return vec![close];
    }
    let mut lines = vec![format!("{:indent$}{command}", "")];
    let start = " ".repeat(indent + SPACE);
    let mut below = start.clone();
    for word in remark.split(' ') {
        if below != start && below.chars().count() + 1 + word.chars().count() > columns {
            lines.push(std::mem::replace(&mut below, start.clone()));
        }
        if below != start {
            below.push(' ');
        }
        below.push_str(word);
    }
    lines.push(below);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_that_do_not_fit_beside_their_examples_stand_below() {
        let text = "A sentence that is written\nin two lines.\n\nExamples:\n  agon play       one match\n  agon sprt a b   until it is clear which of both is better\n";
        assert_eq!(refilled(text, 80), text.replace("written\nin", "written in").trim_end());
        assert_eq!(
            refilled(text, 30),
            "A sentence that is written in two lines.\n\nExamples:\n  agon play       one match\n  agon sprt a b\n      until it is clear which\n      of both is better"
        );
        assert_eq!(refilled("  agon play       one match", 24), "  agon play    one match");
    }

    /// The lines of all help that are wider than this, at this width.
    fn too_wide(mut command: clap::Command, columns: usize) -> Vec<String> {
        let help = command.render_long_help().to_string();
        let mut wide: Vec<String> =
            help.lines().filter(|line| line.chars().count() > columns).map(str::to_owned).collect();
        command.build();
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            wide.extend(too_wide(below.clone(), columns));
        }
        wide
    }

    /// The commands without `--json`, and why.
    const WITHOUT_JSON: [(&str, &str); 6] = [
        ("completions", "prints a script for a shell"),
        ("join", "runs until the match is over; the result is printed where that was started"),
        ("replay export", "prints the replay itself, in the form that is asked for"),
        ("serve", "runs until it is stopped; --log says in which form it tells what happens"),
        ("watch", "serves pages until it is stopped"),
        ("work", "runs until it is stopped; the contest shows what it does"),
    ];

    /// The commands below this one that print something, and whether they have `--json`.
    fn speaking(command: &clap::Command, above: &str, found: &mut Vec<(String, bool)>) {
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            let name = format!("{above} {}", below.get_name()).trim().to_owned();
            speaking(below, &name, found);
            if !below.is_subcommand_required_set() {
                let is_json = |argument: &clap::Arg| argument.get_long() == Some("json");
                found.push((name, below.get_arguments().any(is_json)));
            }
        }
    }

    #[test]
    fn every_command_has_json_or_a_reason() {
        let (mut cli, mut found) = (Cli::command(), Vec::new());
        // What holds for all commands below one comes down to them.
        cli.build();
        speaking(&cli, "", &mut found);
        assert!(found.len() > 60, "{found:?}");
        let silent: Vec<&str> = found.iter().filter(|one| !one.1).map(|one| one.0.as_str()).collect();
        let mut known: Vec<&str> = WITHOUT_JSON.iter().map(|one| one.0).collect();
        known.sort_by_key(|name| silent.iter().position(|silent| silent == name));
        assert_eq!(silent, known, "a command without --json, or one in the table that has it");
        assert!(WITHOUT_JSON.iter().all(|(_, why)| !why.is_empty()));
    }

    #[test]
    fn help_fits_a_terminal_of_80_columns() {
        assert_eq!(too_wide(fitted(Cli::command(), 80), 80), Vec::<String>::new());
    }
}
