//! What can be typed: the commands; the options of each live with it.

use clap::{Parser, Subcommand};

use crate::author::{build, check, doctor, new, pack, sandbox, test};
use crate::online::{challenge, login, logs, look, submit, tryout};
use crate::play::{join, referee};
use crate::series::{gauntlet, pin, rate, sprt, tournament, why};
use crate::workshop::{bench, conform, docs, library, maps};
use crate::{play, replay, serve, viewer, work};

/// Bot-programming contests on your own machine.
#[derive(Parser, Debug)]
#[command(
    name = "agon",
    version,
    about = "Bot-programming contests on your own machine: any bot, any language, exact rules",
    after_help = "Examples:
  agon games                                          what can be played
  agon new cultist-wars python my-bot                 a bot to begin with
  agon play cultist-wars my-bot builtin:greedy        one match
  agon check cultist-wars my-bot                      does it do all it must?
  agon watch agon-replays/LAST.replay                 see it in the browser
  agon sprt cultist-wars my/bot.py git:HEAD~1         is it better than yesterday's?
  agon replay info agon-replays/LAST.replay           what happened in it
  agon rules cultist-wars                             the rulebook
  agon explain CW-SHOOT-3                             one rule, its code and its test
  agon docs                                           the guide

Exit codes: 0 done, 1 a check failed, 2 wrong usage, 3 agon or the machine failed.",
    propagate_version = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Prints tables in their whole width, also where the terminal is narrower
    // What is left out of a table names it; in every command's help it would only be in the way.
    #[arg(long, global = true, hide = true)]
    pub wide: bool,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Make a bot to begin with, in the language you like
    #[command(after_help = new::EXAMPLES)]
    New(new::NewOptions),
    /// Play one match and show how it went
    #[command(after_help = play::EXAMPLES)]
    Play(play::PlayOptions),
    /// Play one match and print scores only: a drop-in for brutaltester and psyleague
    #[command(after_help = referee::EXAMPLES)]
    Referee(referee::RefereeOptions),
    /// Let a bot of this machine play in a match on another
    #[command(after_help = join::EXAMPLES)]
    Join(join::JoinOptions),
    /// Does my bot do all it must? Scripted situations, each finding with its rule
    #[command(after_help = check::EXAMPLES)]
    Check(check::CheckOptions),
    /// Run the tests that a bot's folder keeps: turns of matches it shall play otherwise now
    #[command(after_help = test::EXAMPLES)]
    Test(test::TestOptions),
    /// Build a bot: the command of its agon.toml, or the compiler of its language
    #[command(after_help = build::EXAMPLES)]
    Build(build::BuildOptions),
    /// Watch matches in the browser: replays, or new ones played from the page
    #[command(after_help = viewer::EXAMPLES)]
    Watch(viewer::WatchOptions),
    /// Is my bot better? NEW against each OPPONENT, with Elo and its interval
    #[command(after_help = gauntlet::EXAMPLES)]
    Gauntlet(gauntlet::GauntletOptions),
    /// Every bot against every other, with ratings
    #[command(after_help = tournament::EXAMPLES)]
    Tournament(tournament::TournamentOptions),
    /// Is NEW better than OLD? Plays until the evidence is enough
    #[command(after_help = sprt::EXAMPLES)]
    Sprt(sprt::SprtOptions),
    /// Rate all bots from journals of series
    #[command(after_help = rate::EXAMPLES)]
    Rate(rate::RateOptions),
    /// Why does my bot lose? What stands with its losses in a series, beyond noise
    #[command(after_help = why::EXAMPLES)]
    Why(why::WhyOptions),
    /// Log in to a contest: keep the token with which one takes part
    #[command(after_help = login::EXAMPLES)]
    Login(login::LoginOptions),
    /// Forget the token of a contest
    Logout(login::LogoutOptions),
    /// Hand a bot in to the contest, and follow it until it is live
    #[command(after_help = submit::EXAMPLES)]
    Submit(submit::SubmitOptions),
    /// Try a bot out at the contest in one match, without handing it in
    #[command(after_help = tryout::EXAMPLES)]
    Try(tryout::TryOptions),
    /// Let a version that was handed in play one match at the contest, which is not rated
    #[command(after_help = challenge::EXAMPLES)]
    Challenge(challenge::ChallengeOptions),
    /// Go back to an earlier version: it stands for the team again
    #[command(after_help = challenge::BACK)]
    Back(challenge::BackOptions),
    /// How one stands in the contest
    #[command(after_help = look::STATUS)]
    Status(look::LookOptions),
    /// What one has handed in to the contest, and what became of it
    #[command(after_help = look::VERSIONS)]
    Versions(look::LookOptions),
    /// What a build at the contest said, or one's bot wrote in a match
    #[command(after_help = logs::EXAMPLES)]
    Logs(logs::LogsOptions),
    /// Run a contest: a ladder that bots are handed in to, with a worker inside
    #[command(after_help = serve::EXAMPLES)]
    Serve(serve::ServeOptions),
    /// Play matches of a contest that runs elsewhere, with a token of its organiser
    #[command(after_help = work::EXAMPLES)]
    Work(work::WorkOptions),
    /// Check a contest that was exported: its log, its matches, its table
    #[command(after_help = serve::kept::EXAMPLES)]
    Verify(serve::kept::VerifyOptions),
    /// Freeze a bot as it is now, to play against later
    #[command(after_help = pin::EXAMPLES)]
    Pin(pin::PinOptions),
    /// Pack a bot in the form its contest takes
    #[command(after_help = pack::EXAMPLES)]
    Pack(pack::PackOptions),
    /// Look into replays: info, verify, show, export, get, import, fork, feed, keep, redact
    ///
    /// Every FILE may also be a replay of the original, as it is.
    #[command(subcommand)]
    Replay(replay::ReplayCommand),
    /// Which orders cost or won most, by playing on from each turn of a match
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
  agon maps jungle-blitz easy-glade           one of them, as a file to begin with
  agon maps deerhunt narrows --draw           as a match begins on it
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
        after_help = "Files and folders are searched for records; a record is known by its content. One that ends before its match does is
compared up to its last whole line and counted as cut (Terminal).
Exit code 0: at least one record was compared and nothing differs; 1: a difference, a damaged record, or none found;
2: a path that is not there.

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
    /// What this machine has and allows, and what to do about the rest
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(doctor::DoctorOptions),
    /// Prove that the sandbox of this machine holds
    #[command(subcommand)]
    Sandbox(sandbox::SandboxCommand),
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
