//! What can be typed.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::common::{ClockOptions, SetupOptions};
use crate::waiting::PortOptions;
use crate::{build, check, docs, doctor, fork, gauntlet, new, pack, pin, rate, redact, sprt, tournament};

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
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Make a bot to begin with, in the language you like
    #[command(after_help = new::EXAMPLES)]
    New(new::NewOptions),
    /// Play one match and show how it went
    #[command(after_help = PLAY_EXAMPLES)]
    Play(PlayOptions),
    /// Play one match and print scores only: a drop-in for brutaltester and psyleague
    #[command(after_help = REFEREE_EXAMPLES)]
    Referee(RefereeOptions),
    /// Does my bot do all it must? Scripted situations, each finding with its rule
    #[command(after_help = check::EXAMPLES)]
    Check(check::CheckOptions),
    /// Build a bot: the command of its agon.toml, or the compiler of its language
    #[command(after_help = build::EXAMPLES)]
    Build(build::BuildOptions),
    /// Watch matches in the browser: replays, or new ones played from the page
    #[command(after_help = WATCH_EXAMPLES)]
    Watch(WatchOptions),
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
    /// Freeze a bot as it is now, to play against later
    #[command(after_help = pin::EXAMPLES)]
    Pin(pin::PinOptions),
    /// Pack a bot in the form its contest takes
    #[command(after_help = pack::EXAMPLES)]
    Pack(pack::PackOptions),
    /// Look into replays: info, verify, show, export, import, fork, feed, redact
    ///
    /// Every FILE may also be a replay of the original, as it is.
    #[command(subcommand)]
    Replay(ReplayCommand),
    /// List the games, with their presets, maps and built-in bots
    Games(GamesOptions),
    /// Show a game's rulebook, a preset, or how two presets differ
    #[command(after_help = "Examples:
  agon rules cultist-wars                     the rulebook
  agon rules cultist-wars --preset standard   every number of a preset
  agon rules terminal --diff document europe-2025")]
    Rules(RulesOptions),
    /// List a game's maps, show one, or check map files
    #[command(after_help = "Examples:
  agon maps jungle-blitz                      the maps of a game
  agon maps jungle-blitz easy-glade           one of them, as a file to begin with
  agon maps jungle-blitz easy-glade > mine.txt
  agon maps jungle-blitz generate --seed 7    the map of `agon play ... --map generate --seed 7`
  agon maps check mine.txt                    can it be played, and is it fair?
  agon play jungle-blitz BOT BOT --map ./mine.txt")]
    Maps(MapsOptions),
    /// Explain one rule: its text, where the code decides it, where it is tested
    #[command(after_help = "Example:\n  agon explain CW-SHOOT-3")]
    Explain(ExplainOptions),
    /// Read the guide
    #[command(after_help = docs::EXAMPLES)]
    Docs(docs::DocsOptions),
    /// Compare an engine with recorded matches of the original
    #[command(after_help = "Files and folders are searched for records; a record is known by its content.
Exit code 0: at least one record was compared and nothing differs; 1: a difference, a damaged record, or none found;
2: a path that is not there.

Example:
  agon conform cultist-wars records/cultist-wars")]
    Conform(ConformOptions),
    /// Measure the speed of an engine, or of the referee
    #[command(after_help = "Examples:
  agon bench cultist-wars          clone, step and playout of the engine
  agon bench referee               the referee's own cost over two native bots
  agon bench referee --bot ./bot   over two of your own")]
    Bench(BenchOptions),
    /// What this machine has and allows, and what to do about the rest
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(doctor::DoctorOptions),
    /// Print completions for a shell
    #[command(
        after_help = "Example:\n  agon completions bash > ~/.local/share/bash-completion/completions/agon"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

const PLAY_EXAMPLES: &str =
    "A bot is a file, a folder, `cmd:COMMAND LINE`, `builtin:NAME[?option=value]`, or `git:REV[:PATH]`.
In games whose bots connect, also `ws:[PORT]` or `tcp:[PORT]`, a bot that you start yourself, and `lines:COMMAND LINE`,
one that reads and writes lines instead. `agon docs bots` tells more.

Examples:
  agon play cultist-wars my/bot.py builtin:greedy
  agon play cultist-wars ./bot 'cmd:java -cp out Bot' --seed 77 --watch
  agon play cultist-wars my/bot.py builtin:hunter?nodes=2000 --swap --json
  agon play cultist-wars my/bot.py builtin:random --no-timeouts
  agon play cultist-wars my/bot.py builtin:greedy --live
  agon play jungle-blitz ws: 'lines:python3 my_bot.py'
  agon play                       in a folder whose agon.toml names game and opponents
  agon play ostibot my/bot.js other/bot.py --time-limit 1s
  agon play ostibot my/bot.js builtin:looter --js node";

const WATCH_EXAMPLES: &str = "Without a file it opens a page with the recent matches and series, and a form that plays new matches.
A journal of a series opens as the list of its matches. Two replays are shown side by side, and the first answer in which they differ is marked.
The page is served from this program to this machine only; it needs no network.

Examples:
  agon watch agon-replays/cultist-wars-7.replay
  agon watch old.replay new.replay
  agon watch agon-series/LAST/journal.jsonl
  agon watch --no-open --port 8080";

const REFEREE_EXAMPLES: &str = "Prints the score of each player on a line of its own, then `seed=N`.

Examples:
  agon referee cultist-wars -p1 'python3 bot.py' -p2 ./other -d seed=42
  java -jar brutaltester.jar -r 'agon referee cultist-wars' -p1 ./a -p2 ./b -t 2 -n 100";

/// Options of `agon play`.
#[derive(Args, Debug)]
pub struct PlayOptions {
    /// The game (see `agon games`) [default: the one in ./agon.toml]
    pub game: Option<String>,
    /// The bots, in the order of their seats [default: this folder's, then the opponents in ./agon.toml]
    #[arg(value_name = "BOT")]
    pub bots: Vec<String>,
    #[command(flatten)]
    pub setup: SetupOptions,
    #[command(flatten)]
    pub clock: ClockOptions,
    /// Builds the bots first, where they changed (see `agon build`)
    #[arg(long, help_heading = "Match")]
    pub build: bool,
    #[command(flatten)]
    pub port: PortOptions,
    /// The engine that runs scripts, in games that take them; `node:FILE` says it of one bot [default: embedded]
    #[arg(long, value_enum, value_name = "ENGINE", help_heading = "Match")]
    pub js: Option<JsKind>,
    /// Seats the bots in reverse order
    #[arg(long, help_heading = "Match")]
    pub swap: bool,
    /// Another name for the bot of a seat; may be given several times
    #[arg(long, value_name = "NUMBER=LABEL", help_heading = "Match")]
    pub name: Vec<String>,
    /// Where the replay goes [default: a new file in ./agon-replays]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub replay: Option<PathBuf>,
    /// Writes no replay
    #[arg(long, conflicts_with = "replay", help_heading = "Output")]
    pub no_replay: bool,
    /// Follows the match turn by turn, and frame by frame in games that have frames
    #[arg(long, conflicts_with_all = ["json", "quiet"], help_heading = "Output")]
    pub watch: bool,
    /// Opens the match in the browser when it is over, until Ctrl-C
    #[arg(long, conflicts_with_all = ["no_replay", "live"], help_heading = "Output")]
    pub open: bool,
    /// Shows the match in the browser while it is played, and until Ctrl-C
    #[arg(long, help_heading = "Output")]
    pub live: bool,
    /// Pause between turns with --watch, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 150, requires = "watch", help_heading = "Output")]
    pub delay: u64,
    /// Shows the board as this seat sees it
    #[arg(long, value_name = "SEAT|all", default_value = "all", help_heading = "Output")]
    pub view: String,
    /// Prints the result as one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Prints the result only, without the board
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
    /// Exit code 1 when a bot made a fault (timeout, crash, malformed answer, stray output)
    #[arg(long, help_heading = "Output")]
    pub fail_on_fault: bool,
    /// One match is played here; for many see the message this option gives
    #[arg(short = 'n', long = "games", value_name = "N", hide = true)]
    pub many: Option<u32>,
}

/// Options of `agon watch`.
#[derive(Args, Debug, Default)]
pub struct WatchOptions {
    /// Replays or journals; two replays are compared [default: a page with the recent matches]
    #[arg(value_name = "REPLAY|JOURNAL")]
    pub files: Vec<PathBuf>,
    /// Prints the address and opens no browser
    #[arg(long)]
    pub no_open: bool,
    /// The port [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Listens on this address, so that other machines can look; needs --token
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<IpAddr>,
    /// What the address must hold to be let in [default: a fresh one each time]
    #[arg(long, value_name = "SECRET")]
    pub token: Option<String>,
}

/// An engine for scripts.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsKind {
    /// The one inside agon: nothing but the language can be reached, and every match can be repeated
    Embedded,
    /// Node: compiles to machine code, but keeps scripts from nothing
    Node,
}

/// Options of `agon referee`.
#[derive(Args, Debug)]
pub struct RefereeOptions {
    /// The game
    pub game: String,
    /// Command of player 1 (also written -p1)
    #[arg(long, value_name = "CMD")]
    pub p1: String,
    /// Command of player 2 (also written -p2)
    #[arg(long, value_name = "CMD")]
    pub p2: Option<String>,
    /// Command of player 3 (also written -p3)
    #[arg(long, value_name = "CMD")]
    pub p3: Option<String>,
    /// Command of player 4 (also written -p4)
    #[arg(long, value_name = "CMD")]
    pub p4: Option<String>,
    /// Match parameters: `seed=N` [default: the current time in milliseconds]
    #[arg(long = "params", short = 'd', value_name = "seed=N", allow_hyphen_values = true)]
    pub params: Vec<String>,
    /// Writes the result, and every answer, as JSON to this file
    #[arg(long = "log", short = 'l', value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Accepted and ignored: the original's option to start its web server
    #[arg(short = 's', hide = true)]
    pub serve: bool,
    #[command(flatten)]
    pub clock: ClockOptions,
    #[command(flatten)]
    pub port: PortOptions,
}

/// Commands of `agon replay`.
#[derive(Subcommand, Debug)]
pub enum ReplayCommand {
    /// Show what a replay holds: bots, rules, result, faults
    Info {
        /// The replay.
        file: PathBuf,
        /// Prints it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Compute a replay again and compare; an altered one is told apart, with the turn where it breaks
    Verify {
        /// The replays.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Prints the findings as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a replay in another form
    #[command(after_help = "Examples:
  agon replay export FILE --format json              every turn: state, answers, events
  agon replay export FILE --format html -o match.html one page that shows the match anywhere
  agon replay export FILE --format terminal -o F     the original's own format, in the games that have one
  agon replay export FILE --input --seat 2           the exact bytes that bot read; debug with: ./bot < input
  agon replay export FILE --input --seat 1 --until 40")]
    Export(ExportOptions),
    /// Play a recorded match on from a turn, with another bot: what would today's have done?
    #[command(after_help = fork::EXAMPLES)]
    Fork(fork::ForkOptions),
    /// Take out what belongs to single bots; the rest verifies as before
    #[command(after_help = redact::EXAMPLES)]
    Redact(redact::RedactOptions),
    /// Read a replay of the original as one of agon's, and compare the engine with it
    #[command(after_help = "A record is known by its content; it may be gzip.
Exit code 0: every recorded fact is as our engine has it; 1: one differs (the replay is written all the same).

Example:
  agon replay import p1-01-04-2025-10-00-00.replay")]
    Import(ImportOptions),
    /// Ask a bot what it answers to a recorded match, turn by turn, beside what was answered then
    #[command(
        after_help = "The bot of one seat is asked as it was then; whatever it answers, the match goes on as recorded.
Exit code 1 when it made a fault as a program (crash, timeout, stray output).

Examples:
  agon replay feed lost.replay my/bot --seat 2             which turns it plays differently now
  agon replay feed lost.replay my/bot --seat 2 --turn 17   both answers to one turn, and its stderr"
    )]
    Feed(FeedOptions),
    /// Show the board of a replay at a turn
    #[command(after_help = "Examples:
  agon replay show FILE --turn 12              the board before turn 12
  agon replay show FILE --turn 12 --frame 30   the board after a frame within turn 12, in games that have frames
  agon replay show FILE --turn 12 --frame all  every frame of turn 12")]
    Show {
        /// The replay.
        file: PathBuf,
        /// The turn, from 0 for the start [default: the last]
        #[arg(long, short)]
        turn: Option<u32>,
        /// A frame within that turn, from 0, or `all`
        #[arg(long, short, value_name = "F|all", requires = "turn")]
        frame: Option<String>,
        /// As this seat sees it
        #[arg(long, value_name = "SEAT|all", default_value = "all")]
        view: String,
    },
}

/// Options of `agon replay export`.
#[derive(Args, Debug)]
pub struct ExportOptions {
    /// The replay
    pub file: PathBuf,
    /// The form: json, html, or the name of a game for its original's own format
    #[arg(long, value_name = "json|html|GAME", value_parser = export_format, required_unless_present = "input", conflicts_with = "input")]
    pub format: Option<ExportFormat>,
    /// For html: keeps the output of the bots, and how they were started
    #[arg(long, requires = "format")]
    pub private: bool,
    /// The exact bytes that the bot of --seat read
    #[arg(long, requires = "seat")]
    pub input: bool,
    /// Whose input
    #[arg(long, value_name = "N")]
    pub seat: Option<u8>,
    /// Up to this turn of the bot (its answer to it is not needed any more)
    #[arg(long, value_name = "T", requires = "input")]
    pub until: Option<u32>,
    /// Where it goes [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Forms of an exported replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Everything as JSON.
    Json,
    /// One page that needs nothing else, to send to others; what belongs to one bot is left out.
    Html,
    /// As the original of this game records it.
    Original(&'static str),
}

fn export_format(text: &str) -> Result<ExportFormat, String> {
    match (text, agon_games::find(text)) {
        ("json", _) => Ok(ExportFormat::Json),
        ("html", _) => Ok(ExportFormat::Html),
        (_, Some(game)) => Ok(ExportFormat::Original(game.info().name)),
        _ => Err("write json, html, or the name of the replay's game".to_owned()),
    }
}

/// Options of `agon replay feed`.
#[derive(Args, Debug)]
pub struct FeedOptions {
    /// The replay: ours, or one of the original
    pub file: PathBuf,
    /// The bot
    pub bot: String,
    /// Whose place it takes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seat: u8,
    /// Only this turn, with both answers whole; counted as in `replay show`
    #[arg(long, short, value_name = "T")]
    pub turn: Option<u32>,
    #[command(flatten)]
    pub clock: ClockOptions,
    /// Prints every answer as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `agon replay import`.
#[derive(Args, Debug)]
pub struct ImportOptions {
    /// The replay of the original
    pub file: PathBuf,
    /// Where ours goes [default: a new file in ./agon-replays]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Prints what was read as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `agon games`.
#[derive(Args, Debug)]
pub struct GamesOptions {
    /// Only this game, with its options
    pub game: Option<String>,
    /// Prints it as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `agon rules`.
#[derive(Args, Debug)]
pub struct RulesOptions {
    /// The game
    pub game: String,
    /// Shows every number of a preset or rules file
    #[arg(long, value_name = "PRESET|FILE", conflicts_with = "diff")]
    pub preset: Option<String>,
    /// Shows how two presets or rules files differ
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub diff: Option<Vec<String>>,
}

/// Options of `agon maps`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct MapsOptions {
    /// What to do with map files instead
    #[command(subcommand)]
    pub command: Option<MapsCommand>,
    /// The game
    #[arg(required = true)]
    pub game: Option<String>,
    /// A map to show; `generate` makes one from the seed, in games that can
    pub map: Option<String>,
    /// The seed of a map that is made
    #[arg(long, value_name = "N", default_value_t = 1, allow_hyphen_values = true)]
    pub seed: i64,
}

/// What can be done with map files.
#[derive(Subcommand, Debug)]
pub enum MapsCommand {
    /// Check map files: can they be played, can everything be reached, are they fair?
    #[command(after_help = "Examples:
  agon maps check mine.txt
  agon maps check maps/*.txt --game jungle-blitz --json

For Jungle Blitz: the numbers of spawn tiles, diamonds and units, every diamond reached from every spawn tile,
and symmetry. For Deerhunt: armies, hubs, and all of them connected. For Ostibot: spawners, everything reached,
and equal ways for all teams. Without --game the game is the one that can read the file.

Exit code: 0 when nothing speaks against any of the maps, else 1.")]
    Check(MapsCheckOptions),
}

/// Options of `agon maps check`.
#[derive(Args, Debug)]
pub struct MapsCheckOptions {
    /// Map files: texts, and for Jungle Blitz also images (BMP) of the original
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The game they are for [default: the one that can read them]
    #[arg(long, value_name = "GAME")]
    pub game: Option<String>,
    /// Prints the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `agon explain`.
#[derive(Args, Debug)]
pub struct ExplainOptions {
    /// The rule's id, as in results and rulebooks
    #[arg(value_name = "RULE-ID")]
    pub rule: String,
}

/// Options of `agon conform`.
#[derive(Args, Debug)]
pub struct ConformOptions {
    /// The game
    pub game: String,
    /// Files and folders with records
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Prints the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `agon bench`.
#[derive(Args, Debug)]
pub struct BenchOptions {
    /// A game, or `referee`
    pub what: String,
    /// Prints the figures as JSON
    #[arg(long)]
    pub json: bool,
    /// Seconds for each figure
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    pub seconds: f64,
    /// For `referee`: the bot that plays itself [default: this program, answering WAIT]
    #[arg(long, value_name = "BOT")]
    pub bot: Option<String>,
    /// The number of seats, for games that allow several
    #[arg(long, value_name = "N")]
    pub seats: Option<u8>,
    #[command(flatten)]
    pub setup: SetupOptions,
}
