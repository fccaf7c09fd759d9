//! `agon work`: this machine plays matches of a contest elsewhere.

mod hall;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use agon_bot::inside::Packages;
use agon_bot::{Confined, build, inside, sys};
use agon_site::secrets;
use agon_worker::wire::{self, Hello, Machine, Welcome};
use agon_worker::{Pauses, Settings, Table, Versions, holding};
use clap::Args;
use rustix::fs::{FlockOperation, flock};

use crate::common::logins;
use crate::common::machine;
use crate::common::online::{Address, Line, Online, Trouble};
use crate::common::screen::harmless;
use crate::common::{self, Done, Failure};
use hall::{Far, Played};

/// Examples for the help.
pub const EXAMPLES: &str = "The organiser makes the token, one for each machine, on the page /organise/workers of the contest or with
`agon serve worker`. Nothing else is needed: no open port, no database. Before the first match the machine attacks
its own sandbox and measures its speed; one that is not fit is refused, with the figures.

Ctrl-C gives back what is not over, and nothing is lost; a second one ends it at once.

Examples:
  agon work https://cup.example --token-file hall-3.token
  agon work 192.168.1.7:8080 --token-file - -j 4        the token from standard input
  agon work 192.168.1.7:8080 --token-file t --packages /srv/packages";

/// Options of `agon work`.
#[derive(Args, Debug)]
pub struct WorkOptions {
    /// The contest's address: `https://cup.example`
    pub url: String,
    /// The file with this machine's token; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub token_file: PathBuf,
    /// Matches played at once [default: as many as leave one CPU free]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<usize>,
    /// A folder with packages that all bots find, as the organiser has it; may be given more than once
    #[arg(long, value_name = "DIR")]
    pub packages: Vec<PathBuf>,
    /// A variable by which bots find them, as the organiser has it: PYTHONPATH=/srv/packages/python
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// I trust these bots: they are played also where this machine has no sandbox that holds strangers
    #[arg(long)]
    pub trust_bots: bool,
    /// How it may be reached.
    #[command(flatten)]
    pub line: Line,
    /// Says nothing while it plays
    #[arg(long, short)]
    pub quiet: bool,
}

/// Unpacked and built versions take no more room, beside those that are being played.
const MOST_KEPT: u64 = 8 << 30;
/// When there was nothing to play for as long as the server waits, it is asked again after this.
const IDLE: Duration = Duration::from_millis(200);
/// It says how it stands this often.
const TELL: Duration = Duration::from_secs(5);

/// Runs `agon work`.
pub fn run(options: &WorkOptions) -> Done {
    if options.jobs.is_some_and(|jobs| !(1..=1024).contains(&jobs)) {
        return Err(Failure::usage("-j: a number from 1 to 1024"));
    }
    let address = Address::parse(&options.url)?;
    let token = logins::token(&options.token_file)?;
    let online = Online::new(address, Some(token), &options.line)?.below(wire::ROOT);
    // Before anything takes time: is the token good, and are both programs of one version?
    let program = agon_replay::data::PROGRAM.to_owned();
    let welcome: Welcome = awaited(|| online.get("", &[("program", program.clone())]))?;
    let table = Table::new(&welcome.terms).map_err(|why| {
        Failure::usage(format!("{why}; {}/get says where the contest's agon comes from", online.address))
    })?;
    let packages = show_packages(options)?;
    inside::build_ahead();
    agon_bot::tools::advise_others();
    let confined = hold(options, &welcome)?;
    let folder = build::cache().join("work").join(place_name(&online.address));
    let _held = hold_folder(&folder)?;
    let mut out = io::stdout().lock();
    let mut say = |text: String| -> Done {
        if !options.quiet {
            writeln!(out, "{text}")?;
            out.flush()?;
        }
        Ok(())
    };
    say(format!(
        "{}: {} plays for {}, a contest of {}.",
        online.address,
        harmless(&welcome.worker),
        harmless(&welcome.title),
        harmless(&welcome.terms.game)
    ))?;
    let attacks = match confined {
        Confined::Foreign => {
            say("The walls of the sandbox are attacked, for up to 20 seconds.".to_owned())?;
            let proof = holding::prove(&folder.join("walls")).map_err(Failure::Own)?;
            let held = proof.attacks.iter().filter(|attack| attack.came_to == "held").count();
            Some(u32::try_from(held).unwrap_or(u32::MAX))
        }
        _ => None,
    };
    let each = table.cpus();
    let jobs = options.jobs.unwrap_or_else(|| (sys::cpus().len().saturating_sub(1) / each).max(1));
    let machine = look(confined, each, jobs, attacks, &packages);
    say(format!(
        "Sandbox {}{}; speed {:.0}, {}.",
        machine.level,
        attacks.map_or_else(String::new, |held| format!(", {held} attacks held off")),
        machine.speed,
        if jobs == 1 { "one match at once".to_owned() } else { format!("{jobs} matches at once") },
    ))?;
    let run = format!("{}-{}", std::process::id(), secrets::fresh());
    let hello = Hello { run: run.clone(), program, machine };
    let _: wire::Admitted = awaited(|| online.tell("/hello", &[], &hello))?;
    say("Ctrl-C gives back what is not over; a second one ends it at once.".to_owned())?;

    let stop = common::stop_on_ctrl_c();
    let over = OnceLock::new();
    let far = Far::new(&online, run.clone(), stop, &over);
    let versions = Versions::new(folder.join("bots"), confined, &welcome.terms.game).bounded(MOST_KEPT);
    let beat = Duration::from_millis(welcome.beat_ms.clamp(1_000, 60_000));
    let settings = Settings { jobs, run, beat, idle: IDLE, aside: true };
    let played = far.played();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        if !options.quiet {
            scope.spawn(|| tell(&played, &done));
        }
        agon_worker::run(&far, &table, &versions, &settings, stop);
        done.store(true, Ordering::Relaxed);
    });
    say(played.told())?;
    match over.into_inner() {
        Some(why) => Err(Failure::usage(why)),
        None => Ok(()),
    }
}

/// Says now and then how it stands, until it is done.
fn tell(played: &Arc<Played>, done: &AtomicBool) {
    let mut last = (String::new(), Instant::now());
    while !done.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
        if last.1.elapsed() < TELL {
            continue;
        }
        let now = played.told();
        if now != last.0 && writeln!(io::stderr(), "{now}").is_err() {
            return;
        }
        last = (now, Instant::now());
    }
}

/// What the contest answers. One that is away just then, or whose database is, is asked again until it is there: machines are
/// often started together with it, and nobody stands beside them. Ctrl-C ends that as it ends any program.
fn awaited<T>(mut ask: impl FnMut() -> Result<T, Trouble>) -> Result<T, Failure> {
    let mut pauses = Pauses::default();
    let mut is_told = false;
    loop {
        match ask() {
            Err(trouble) if trouble.may_pass() => {
                if !std::mem::replace(&mut is_told, true) {
                    let why = harmless(&trouble.to_string());
                    writeln!(
                        io::stderr(),
                        "{why}\nThe contest is waited for and asked again; Ctrl-C ends that."
                    )?;
                }
                std::thread::sleep(pauses.next().unwrap_or(IDLE));
            }
            answer => return answer.map_err(refused),
        }
    }
}

/// Why the contest does not take this machine.
fn refused(trouble: Trouble) -> Failure {
    match trouble {
        Trouble::Refused(problem) if problem.status == 401 => Failure::usage(
            "the contest does not know this token: the organiser makes one for each machine, on the page /organise/workers or \
             with `agon serve worker`",
        ),
        other => other.into(),
    }
}

/// What this machine is, as the contest is told.
fn look(confined: Confined, cpus: usize, jobs: usize, attacks: Option<u32>, packages: &[String]) -> Machine {
    let own = machine::look(confined, cpus, packages);
    let kernel = rustix::system::uname();
    let word = |word: &std::ffi::CStr| word.to_string_lossy().into_owned();
    Machine {
        level: holding::word(holding::level(confined)),
        attacks,
        speed: own.speed.unwrap_or(0.0),
        cpus: u32::try_from(sys::cpus().len()).unwrap_or(u32::MAX),
        jobs: u32::try_from(jobs).unwrap_or(u32::MAX),
        kernel: format!("{} {}", word(kernel.release()), word(kernel.machine())),
        packages: own.packages,
        languages: own.languages.into_iter().map(|language| language.name).collect(),
    }
}

/// How bots are held here. Whoever lends a machine decides about it, and not the contest alone.
fn hold(options: &WorkOptions, welcome: &Welcome) -> Result<Confined, Failure> {
    let own = holding::hold(false);
    match (own, options.trust_bots && welcome.trusts_bots) {
        (Ok(confined), _) => Ok(confined),
        (Err(_), true) => holding::hold(true).map_err(Failure::Own),
        (Err(why), false) => {
            // The end of that sentence is for organisers.
            let why = why.split(" If you trust").next().unwrap_or(&why).to_owned();
            let more = if welcome.trusts_bots {
                " The organiser trusts all bots; if you do as well, add --trust-bots."
            } else {
                ""
            };
            Err(Failure::Own(format!("{why}{more}")))
        }
    }
}

/// Shows bots the packages, and says their folders.
fn show_packages(options: &WorkOptions) -> Result<Vec<String>, Failure> {
    let mut packages = Packages::default();
    for place in &options.packages {
        let full = place.canonicalize().ok().filter(|full| full.is_dir() && inside::can_show(full));
        let full = full.ok_or_else(|| {
            Failure::usage(format!(
                "--packages {}: no folder that bots can be shown; name one outside of /proc, /sys, /dev, /tmp and /etc",
                place.display()
            ))
        })?;
        packages.places.push(full);
    }
    for pair in &options.env {
        let (name, value) = pair
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| Failure::usage(format!("--env {pair}: write NAME=VALUE")))?;
        packages.variables.insert(name.to_owned(), value.to_owned());
    }
    let shown = packages.places.iter().map(|place| place.to_string_lossy().into_owned()).collect();
    inside::use_packages(packages);
    Ok(shown)
}

/// A folder for each contest: `https---cup.example`.
fn place_name(address: &Address) -> String {
    address
        .0
        .chars()
        .map(|sign| if sign.is_ascii_alphanumeric() || sign == '.' { sign } else { '-' })
        .collect()
}

/// Two do not unpack into one folder. Where another process has it, this one takes one of its own.
fn hold_folder(folder: &Path) -> Result<File, Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::own(format!("{}: {error}", folder.display())))?;
    let path = folder.join("agon.lock");
    let failed = |error: io::Error| Failure::own(format!("{}: {error}", path.display()));
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
        Failure::usage(format!(
            "this machine plays for that contest already, in {}: one `agon work` plays as many matches at once as -j says",
            folder.display()
        ))
    })?;
    Ok(file)
}
