//! `agon serve`: runs a contest from a folder: a ladder, with a built-in worker.

mod acts;
mod class;
mod clocks;
mod fleet;
mod founding;
mod going;
pub mod json;
pub mod kept;
mod log;
mod look;
mod marks;
mod pages;
mod player;
mod private;
mod set;
mod tokens;
mod workers;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use agon_server::{ServerError, name_of};
use agon_site::listen::FILES;
use agon_store::{StoreError, Time};
use clap::{Args, Subcommand, ValueEnum};
use tokio::runtime::Runtime;

use crate::common::{self, Done, ErrorCode, Failure};

/// Examples for the help.
pub const EXAMPLES: &str = "A contest is a folder: contest.toml says what is played, agon.db holds every result, objects/ the bots and replays.
Bots are submitted while it runs; each plays a check match and then on the ladder, where the built-in bots play
as opponents called bosses. Ctrl-C stops it cleanly, and `agon serve DIR` resumes it; nothing is lost even if it is killed.

Its site answers only on this machine, at http://127.0.0.1:8080. --lan opens it to the private network, without encryption,
--tls-self-signed with it; --tls-cert and --tls-key to the world, or --behind-proxy through a proxy that speaks TLS (agon docs contest).

Bots are unpacked, built and played in the sandbox (agon docs security), which is attacked before the first match to prove that it holds. If
the machine has none, nothing is played unless contest.toml says that you trust them.

Examples:
  agon serve autumn --new cultist-wars             begins a contest and runs it
  agon serve autumn                                resumes it
  agon serve autumn --lan --port 80                for everybody in the room
  agon serve autumn --tls-self-signed --port 8443  the same, encrypted
  agon serve autumn --lan --workers 0.0.0.0:8090   machines that play have a port of their own
  agon serve add autumn my-bot --team Ann          submits a bot, even while the contest runs
  agon serve add autumn submissions --each         submits those of a class, each for the team of its name
  agon serve marks autumn -o marks.csv             a line for each team, to grade them by
  agon serve status autumn                         the ladder, versions, what waits
  agon serve worker autumn hall-3 -o hall-3.token  a token for another machine: agon work URL --token-file hall-3.token
  agon serve token autumn Ann                      a token with which a program takes part: agon login URL --token-file FILE
  agon serve link autumn                           a link that makes whoever opens it an organiser
  agon serve set autumn closes=2026-12-05T18:00    changes a setting, everywhere; without KEY=VALUE it lists them
  agon serve pause autumn                          nothing is played until `agon serve resume autumn`
  agon serve drain autumn                          the same, once all that was planned is played
  agon serve fsck autumn --replays                 is anything damaged? Every match is computed again
  agon serve move autumn --to postgres://agon@db/autumn    its database from agon.db to a PostgreSQL server
  agon serve move autumn --objects s3://cup/autumn         its bots and replays to a bucket
  agon serve backup autumn autumn.backup           the whole folder in one file, even while the contest runs
  agon serve my-fleet --fleet --lan                no contest: your machines play your series (agon docs scaling)
  agon serve export autumn autumn.agon             the results, for everybody to check with `agon verify`";

/// Options of `agon serve`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ServeOptions {
    /// The contest's folder (write ./status if it has the name of one of these commands)
    #[arg(value_name = "DIR", required = true)]
    pub dir: Option<PathBuf>,
    /// Starts a contest of this game in the folder, with a contest.toml to edit
    #[arg(long, value_name = "GAME")]
    pub new: Option<String>,
    /// With --new: keeps results in this empty database of a PostgreSQL server (agon docs scaling)
    #[arg(long, value_name = "URL", requires = "new")]
    pub database: Option<String>,
    /// With --new: keeps bots, replays and logs in this folder, or in s3://BUCKET/PREFIX (agon docs scaling)
    #[arg(long, value_name = "PLACE", requires = "new")]
    pub objects: Option<String>,
    /// With --new: the lowest level of the sandbox at which rated matches are played, written into contest.toml. At B CPU
    /// time is sampled, and results say so [default: A; asks on a machine that has only B]
    #[arg(long, value_name = "LEVEL", requires = "new")]
    pub level: Option<Rated>,
    /// Matches played at once; 0 if only other machines play [default: as many as leave one CPU free]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<usize>,
    /// The port of the site; 0 for a free one
    #[arg(long, value_name = "N", default_value_t = 8080)]
    pub port: u16,
    /// Listens on this address of the machine instead of 127.0.0.1 (with --lan and TLS: instead of all). With --behind-proxy
    /// only the proxies that --proxy or contest.toml names may connect (agon docs scaling)
    #[arg(long, value_name = "ADDR", conflicts_with = "no_site")]
    pub bind: Option<IpAddr>,
    /// With --bind: the address of a proxy on another machine, or a network of them such as 10.0.0.0/8. Can be repeated
    #[arg(long, value_name = "ADDR", requires = "behind_proxy", conflicts_with = "fleet")]
    pub proxy: Vec<String>,
    /// Opens the site to private addresses, without encryption: passwords are sent in the clear
    #[arg(long, conflicts_with_all = ["behind_proxy", "no_site"])]
    pub lan: bool,
    /// The public address of the site, at a proxy that forwards requests, on this machine unless --bind says more:
    /// `https://contest.example`
    #[arg(long, value_name = "URL", conflicts_with = "no_site")]
    pub behind_proxy: Option<String>,
    /// Opens the site to private addresses, encrypted with a certificate of its own, and prints the fingerprint to compare
    #[arg(long, conflicts_with_all = ["behind_proxy", "no_site"])]
    pub tls_self_signed: bool,
    /// Opens the site to the world, encrypted with the certificate in this file (PEM, including any intermediate certificates)
    #[arg(long, value_name = "FILE", requires = "tls_key", conflicts_with_all = ["behind_proxy", "no_site", "tls_self_signed"])]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Listens for workers on this address, such as 0.0.0.0:8090, instead of on the site's, so that a busy site does not keep
    /// them waiting. Encrypted if the site is; else only for private addresses (agon docs contest)
    #[arg(long, value_name = "ADDR", conflicts_with = "no_site")]
    pub workers: Option<SocketAddr>,
    /// Prints a one-time link that makes whoever opens it an organiser, even if the contest already has one
    #[arg(long, conflicts_with = "no_site")]
    pub organiser: bool,
    /// Opens no port: the contest is run and viewed from the command line alone
    #[arg(long)]
    pub no_site: bool,
    /// Spreads series over your own machines instead of running a contest: `agon sprt|gauntlet|tournament --on URL`. The
    /// folder holds the tokens
    #[arg(long, conflicts_with_all = ["new", "database", "objects", "jobs", "organiser", "no_site", "matches", "workers", "metrics_token_file"])]
    pub fleet: bool,
    /// With --fleet: how far its machines may differ in speed from the first, in per cent, from 1 to 90
    #[arg(long, value_name = "PERCENT", requires = "fleet", default_value_t = 20.0)]
    pub tolerance: f64,
    /// Stops when this many results are in the log
    #[arg(long, value_name = "N")]
    pub matches: Option<i64>,
    /// Prints nothing while it runs
    #[arg(long, short)]
    pub quiet: bool,
    /// Form of the messages on standard error
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub log: log::Log,
    /// Lets programs on other machines read /metrics with the token in this file; by default only programs on this machine
    /// may, and with --behind-proxy none (agon docs scaling)
    #[arg(long, value_name = "FILE", conflicts_with = "no_site")]
    pub metrics_token_file: Option<PathBuf>,
    /// A command other than running it.
    #[command(subcommand)]
    pub command: Option<ServeCommand>,
}

/// A level of the sandbox at which strangers' bots can be rated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rated {
    /// CPU time is counted
    #[value(name = "A", alias = "a")]
    A,
    /// CPU time is sampled
    #[value(name = "B", alias = "b")]
    B,
}

/// Commands of `agon serve`.
#[derive(Subcommand, Debug)]
pub enum ServeCommand {
    /// Submit a bot for a team: its folder, its only file, or an archive. Or those of a class, from one folder
    Add {
        /// The contest's folder.
        dir: PathBuf,
        /// The bot; with --each the folder in which they are.
        bot: PathBuf,
        /// The team it plays for; created if the name is new
        #[arg(long, value_name = "NAME", required_unless_present = "each")]
        team: Option<String>,
        /// Submits each folder, archive and file in BOT for the team of its name. Exit code 1: some were refused
        #[arg(long, conflicts_with = "team")]
        each: bool,
        /// Prints what was done as JSON; with --each a line for each
        #[arg(long)]
        json: bool,
    },
    /// Print what the contest says of each team, for whoever grades them: as CSV, JSON, or for Gradescope
    Marks(marks::MarksOptions),
    /// Show the ladder, the versions, and what is waiting
    Status {
        /// The contest's folder.
        dir: PathBuf,
        /// Prints it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the contest's folder for damage. Exit code 0: none found; 1: something is wrong
    Fsck {
        /// The contest's folder.
        dir: PathBuf,
        /// Recomputes every match of the log from its replay
        #[arg(long)]
        replays: bool,
        /// Prints what was done as JSON
        #[arg(long)]
        json: bool,
    },
    /// Copy the contest into one file, even while it runs
    Backup {
        /// The contest's folder.
        dir: PathBuf,
        /// The new file.
        file: PathBuf,
        /// Prints what was done as JSON
        #[arg(long)]
        json: bool,
    },
    /// Restore a contest's folder from a backup, and check it. Exit code 0: no damage found; 1: something is wrong
    Restore {
        /// What `agon serve backup` wrote.
        file: PathBuf,
        /// The folder, which must not exist yet.
        dir: PathBuf,
        /// Prints what was done as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the log, the replays and the table into one file that anybody can check with `agon verify`
    Export {
        /// The contest's folder.
        dir: PathBuf,
        /// The new file.
        file: PathBuf,
        /// Publishes the secret that seeds come from: the contest must be over, and paused
        #[arg(long)]
        reveal: bool,
        /// Prints what was done as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make the token with which another machine joins (`agon work`); it is printed only this once
    Worker {
        /// The contest's folder.
        dir: PathBuf,
        /// A name for the machine
        name: String,
        /// Writes it into this new file, which only you can read, instead of printing it
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Prints what was done as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a token with which a program takes part for a team, without a browser; it is printed only this once
    ///
    /// It is a token of the team's first member. A team that has none, or is new, gets an account of its own name, which nobody can
    /// sign in to until an organiser makes a password link for it.
    Token {
        /// The contest's folder.
        dir: PathBuf,
        /// The team; created if the name is new
        team: String,
        /// What the token is for, as its owner and the audit log see it
        #[arg(long, value_name = "NAME", default_value = "agon serve token")]
        name: String,
        /// Prints it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a one-time link that makes whoever opens it an organiser; the one before ends
    Link {
        /// The contest's folder.
        dir: PathBuf,
        /// The address of the site
        #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
        site: String,
        /// Prints it as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the machines that play
    Workers {
        /// The contest's folder.
        dir: PathBuf,
        /// Prints them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a machine's token; the matches it has in hand are played by others
    Revoke {
        /// The contest's folder.
        dir: PathBuf,
        /// The machine's name
        name: String,
        /// Prints what was done as JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a paused machine play again, as *Resume* on its page does; its earlier failures no longer count against it
    PlayOn {
        /// The contest's folder.
        dir: PathBuf,
        /// The machine's name
        name: String,
        /// Prints what was done as JSON
        #[arg(long)]
        json: bool,
    },
    /// Move the database or the objects of a contest that is not running: to a server, or back into its folder
    Move {
        /// The contest's folder.
        dir: PathBuf,
        /// Moves the database to a server, into an empty one or over the copy that it left there: postgres://USER:PASSWORD@HOST/NAME
        #[arg(long, value_name = "URL", required_unless_present_any = ["back", "objects"])]
        to: Option<String>,
        /// Moves the database back into the folder
        #[arg(long, conflicts_with = "to")]
        back: bool,
        /// Moves bots, replays and logs to another folder, to s3://BUCKET/PREFIX, or back to DIR/objects
        #[arg(long, value_name = "PLACE", conflicts_with_all = ["to", "back"])]
        objects: Option<String>,
        /// Replaces an older copy of this contest there without asking
        #[arg(long)]
        yes: bool,
        /// Prints what was done as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the contest's settings, or change some: at once, on all its servers, as on the page Settings
    Set {
        /// The contest's folder.
        dir: PathBuf,
        /// What to change; nothing after `=` takes a value away
        #[arg(value_name = "KEY=VALUE")]
        changes: Vec<String>,
        /// Prints the settings as JSON
        #[arg(long)]
        json: bool,
    },
    /// Play nothing until the contest is resumed; nothing is lost
    Pause {
        /// The contest's folder.
        dir: PathBuf,
        /// Prints what was done as JSON
        #[arg(long)]
        json: bool,
    },
    /// Play what is planned, plan nothing more, then pause: for use before stopping the server
    Drain {
        /// The contest's folder.
        dir: PathBuf,
        /// Prints what was done as JSON
        #[arg(long)]
        json: bool,
    },
    /// Say whether a server's clock is in doubt, because it jumped or is not the database's
    Clock {
        /// The contest's folder.
        dir: PathBuf,
        /// Confirms what it shows: compare it with another clock first. The server trusts it again after a minute
        #[arg(long)]
        confirm: bool,
        /// Prints what was done as JSON
        #[arg(long)]
        json: bool,
    },
    /// Resume after a pause
    Resume {
        /// The contest's folder.
        dir: PathBuf,
        /// Prints what was done as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs `agon serve`.
pub fn run(options: &ServeOptions) -> Done {
    match (&options.command, &options.dir) {
        (None, Some(dir)) if options.fleet => fleet::run(dir, options),
        (None, Some(dir)) => going::run(dir, options),
        (None, None) => Err(Failure::usage("agon serve DIR: name the contest's folder")),
        (Some(ServeCommand::Add { dir, bot, team: Some(team), json, .. }), _) => {
            acts::add(dir, bot, team, *json)
        }
        (Some(ServeCommand::Add { dir, bot, json, .. }), _) => class::add(dir, bot, *json),
        (Some(ServeCommand::Marks(options)), _) => marks::run(options),
        (Some(ServeCommand::Move { dir, objects: Some(place), json, .. }), _) => {
            kept::relocate_objects(dir, place, *json)
        }
        (Some(ServeCommand::Move { dir, to, yes, json, .. }), _) => {
            kept::relocate(dir, to.as_deref(), *yes, *json)
        }
        (Some(ServeCommand::Set { dir, changes, json }), _) => set::run(dir, changes, *json),
        (Some(ServeCommand::Pause { dir, json }), _) => acts::pause(dir, true, *json),
        (Some(ServeCommand::Drain { dir, json }), _) => acts::drain(dir, *json),
        (Some(ServeCommand::Clock { dir, confirm, json }), _) => clocks::run(dir, *confirm, *json),
        (Some(ServeCommand::Resume { dir, json }), _) => acts::pause(dir, false, *json),
        (Some(ServeCommand::Token { dir, team, name, json }), _) => tokens::token(dir, team, name, *json),
        (Some(ServeCommand::Link { dir, site, json }), _) => tokens::link(dir, site, *json),
        (Some(ServeCommand::Worker { dir, name, out, json }), _) => {
            workers::enrol(dir, name, out.as_deref(), *json)
        }
        (Some(ServeCommand::Workers { dir, json }), _) => workers::list(dir, *json),
        (Some(ServeCommand::Revoke { dir, name, json }), _) => workers::revoke(dir, name, *json),
        (Some(ServeCommand::PlayOn { dir, name, json }), _) => workers::play_on(dir, name, *json),
        (Some(ServeCommand::Status { dir, json }), _) => look::status(dir, *json),
        (Some(ServeCommand::Fsck { dir, replays, json }), _) => look::fsck(dir, *replays, *json),
        (Some(ServeCommand::Backup { dir, file, json }), _) => kept::backup(dir, file, *json),
        (Some(ServeCommand::Restore { file, dir, json }), _) => kept::restore(file, dir, *json),
        (Some(ServeCommand::Export { dir, file, reveal, json }), _) => {
            kept::export(dir, file, *reveal, *json)
        }
    }
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Wrong(why) => Self::Usage(why),
            ServerError::Missing(why) => ErrorCode::NotFound.of(why),
            ServerError::Store(StoreError::Wrong(why)) => Self::Usage(why),
            ServerError::Store(
                error
                @ (StoreError::Moved { .. } | StoreError::ObjectsMoved { .. } | StoreError::Arriving(_)),
            ) => Self::Usage(error.to_string()),
            ServerError::Store(error @ StoreError::Damaged(_)) => ErrorCode::Damaged.of(error.to_string()),
            ServerError::Store(error) => Self::Own(error.to_string()),
        }
    }
}

/// The runtime of the store's tasks.
fn runtime() -> Result<Runtime, Failure> {
    runtime_of(|| {})
}

/// The same, with a function that each of its threads runs first.
fn runtime_of(first: fn()) -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_start(first)
        .enable_all()
        .build()
        .map_err(|error| Failure::own(format!("threads cannot be started: {error}")))
}

/// Lets this process open as many files as its connections need, where the system allows it: 1,024 is usual, and one client of a
/// site could use them up.
fn open_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(FILES, |most| most.min(FILES));
    if limit.current.is_some_and(|now| now < wanted) {
        // Then connections wait sooner.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
    }
}

/// The time of commands; a server goes by a clock that it watches.
fn now() -> Time {
    Time(common::now_ms())
}
