//! `agon work`: this machine plays matches of a contest, or for a fleet, elsewhere.

mod hall;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use agon_bot::{Confined, Packages, Run, build, inside, sys};
use agon_site::secrets;
use agon_worker::wire::{self, Hello, PlayingMachine, SeriesWelcome};
use agon_worker::{Pauses, PlaySettings, PreparedGame, VersionShelf, holding};
use clap::Args;
use rustix::fs::{FlockOperation, flock};

use crate::common::logins;
use crate::common::machine;
use crate::common::online::{Address, Line, Online, Trouble};
use crate::common::screen::harmless;
use crate::common::{self, Done, Failure};
use hall::{Far, Played, RefusedMachine};

/// Examples for the help.
pub const EXAMPLES: &str = "The organiser makes the token, one for each machine, on the page /organise/workers of the contest or with
`agon serve worker`. Nothing else is needed: no open port, no database. Before the first match the machine attacks
its own sandbox and measures its speed; one that is not fit is refused, with the figures.

For a fleet of your own machines (agon serve DIR --fleet) all of them share one token, which is in its folder: machines.token.

Ctrl-C gives back unfinished matches, and nothing is lost; a second one ends it at once.

Examples:
  agon work https://cup.example --token-file hall-3.token
  agon work 192.168.1.7:8080 --token-file - -j 4        the token from standard input
  agon work 192.168.1.7:8080 --token-file t --packages /srv/packages
  agon work 192.168.1.7:8080 --token-file machines.token     for a fleet";

/// Options of `agon work`.
#[derive(Args, Debug)]
pub struct WorkOptions {
    /// The address of the contest or the fleet: `https://cup.example`
    pub url: String,
    /// The file with this machine's token; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub token_file: PathBuf,
    /// Matches played at once [default: as many as leave one CPU free]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<usize>,
    /// A folder of packages for all bots, the same as the organiser has; may be given more than once
    #[arg(long, value_name = "DIR")]
    pub packages: Vec<PathBuf>,
    /// An environment variable that tells bots where the packages are, the same as on the organiser's machine: PYTHONPATH=/srv/packages/python
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Plays the contest's bots even if this machine cannot contain them: they may then read and change your files
    #[arg(long)]
    pub trust_bots: bool,
    /// How the server may be reached.
    #[command(flatten)]
    pub line: Line,
    /// Prints nothing while it plays
    #[arg(long, short)]
    pub quiet: bool,
}

/// Upper limit on the disk space of unpacked and built versions, beside those being played.
const MOST_KEPT: u64 = 8 << 30;
/// Pause before asking again when the server had nothing to play for as long as it waits.
const IDLE: Duration = Duration::from_millis(200);
/// How long a request for a fleet's series may wait for one. Ending this process takes as long.
const FLEET_WAIT_MS: u64 = 1_000;
/// Pause before asking again about a series that cannot be played here.
const FLEET_PAUSE: Duration = Duration::from_secs(5);
/// How often waiting code checks whether to stop.
const MOMENT: Duration = Duration::from_millis(50);
/// Interval of the status lines.
const TELL: Duration = Duration::from_secs(5);

/// Runs `agon work`.
pub fn run(options: &WorkOptions) -> Done {
    if options.jobs.is_some_and(|jobs| !(1..=1024).contains(&jobs)) {
        return Err(Failure::usage("-j: a number from 1 to 1024"));
    }
    let address = Address::parse(&options.url)?;
    let token = logins::token(&options.token_file)?;
    let online = Online::new(address, Some(token), &options.line)?.below(wire::ROOT);
    // Before anything slow: is the token good, and do both programs have the same version?
    let program = agon_replay::data::PROGRAM.to_owned();
    let welcome: SeriesWelcome = awaited(|| online.get("", &[("program", program.clone())]))?;
    let table = welcome.terms.as_ref().map(PreparedGame::new).transpose().map_err(|why| {
        Failure::usage(format!("{why}; {}/get says where to get the contest's agon", online.address))
    })?;
    let (mut all, packages) = show_packages(options)?;
    all.memory = welcome.memory;
    let confined = hold(options, &welcome)?;
    all.image = fetch_image(&online, &welcome, confined, options.quiet)?;
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
    let title = harmless(&welcome.title);
    say(match &welcome.terms {
        Some(terms) => format!(
            "{}: {} plays for {title}, a contest of {}.",
            online.address,
            harmless(&welcome.worker),
            harmless(&terms.game)
        ),
        None => format!("{}: this machine plays for {title}.", online.address),
    })?;
    let attacks = match confined {
        Confined::Foreign => {
            say("Attacking the walls of the sandbox, and the clock, for up to 40 seconds.".to_owned())?;
            let proof = holding::prove(&folder.join("walls")).map_err(Failure::Own)?;
            let held = proof.attacks.iter().filter(|attack| attack.came_to == "held").count();
            Some(u32::try_from(held).unwrap_or(u32::MAX))
        }
        _ => None,
    };
    let cpus = |table: &PreparedGame| options.jobs.unwrap_or_else(|| usual_jobs(table.cpus()));
    // In a fleet this differs by series; most play a match on one CPU.
    let jobs = table.as_ref().map_or_else(|| options.jobs.unwrap_or_else(|| usual_jobs(1)), cpus);
    let each = table.as_ref().map_or(1, PreparedGame::cpus);
    let machine = look(confined, each, jobs, attacks, (&packages, all.memory));
    if let Some(table) = &table {
        holding::check_memory(confined, &all, table.seats()).map_err(Failure::Own)?;
    }
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
    say("Ctrl-C gives back unfinished matches; a second one ends it at once.".to_owned())?;

    let over = OnceLock::new();
    let mut post = Post {
        online: &online,
        hello,
        confined,
        all,
        bots: folder.join("bots"),
        beat: Duration::from_millis(welcome.beat_ms.clamp(1_000, 60_000)),
        stop: common::stop_on_ctrl_c(),
        over: &over,
        played: Arc::default(),
    };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        if !options.quiet {
            let played = post.played.clone();
            scope.spawn(|| tell(played, &done));
        }
        let ended = match &table {
            Some(table) => post.serve_contest(table, jobs, options),
            None => post.serve_fleet(cpus),
        };
        done.store(true, Ordering::Relaxed);
        ended
    })?;
    say(post.played.told())?;
    match over.into_inner() {
        Some(refused) => Err(Failure::usage(refused.why)),
        None => Ok(()),
    }
}

/// As many matches as leave one CPU free, with this many CPUs for each.
fn usual_jobs(each: usize) -> usize {
    (sys::cpus().len().saturating_sub(1) / each).max(1)
}

/// This machine after the server admitted it.
struct Post<'a> {
    online: &'a Online,
    hello: Hello,
    confined: Confined,
    /// What holds for all bots.
    all: Run,
    /// Where versions are unpacked and built.
    bots: PathBuf,
    beat: Duration,
    /// Ctrl-C.
    stop: &'static AtomicBool,
    /// Why the server no longer accepts this machine.
    over: &'a OnceLock<RefusedMachine>,
    played: Arc<Played>,
}

impl Post<'_> {
    /// The server. It sets `stop` when it refuses this machine, and `over` when that is for good.
    fn far<'s>(
        &'s self,
        table: &'s PreparedGame,
        stop: &'s AtomicBool,
        over: &'s OnceLock<RefusedMachine>,
    ) -> Far<'s> {
        Far::new(self.online, self.hello.run.clone(), stop, over, self.played.clone(), table)
    }

    /// Plays for a contest until Ctrl-C. When its organiser changes what bots run in, it goes on under the new conditions.
    fn serve_contest(&mut self, table: &PreparedGame, jobs: usize, options: &WorkOptions) -> Done {
        let mut round = 0;
        loop {
            let over = OnceLock::new();
            self.until_stopped(|halt| {
                let run = format!("{}-{round}", self.hello.run);
                self.play(&self.far(table, halt, &over), table, jobs, run, halt);
            });
            match over.into_inner() {
                None => return Ok(()),
                Some(refused) if !refused.may_join_again => {
                    let _ = self.over.set(refused);
                    return Ok(());
                }
                Some(_) if self.stop.load(Ordering::Relaxed) => return Ok(()),
                Some(refused) => {
                    writeln!(io::stderr(), "{}", refused.why)?;
                    self.join_again(table, options)?;
                }
            }
            round += 1;
        }
    }

    /// Joins under the conditions that hold now.
    fn join_again(&mut self, table: &PreparedGame, options: &WorkOptions) -> Done {
        let query = [("program", self.hello.program.clone())];
        let welcome: SeriesWelcome = awaited(|| self.online.get("", &query))?;
        if hold(options, &welcome)? != self.confined {
            return Err(Failure::usage("bots are to be held in another way now: start agon work again"));
        }
        self.all.memory = welcome.memory;
        self.all.image = fetch_image(self.online, &welcome, self.confined, options.quiet)?;
        holding::check_memory(self.confined, &self.all, table.seats()).map_err(Failure::Own)?;
        let _: wire::Admitted = awaited(|| self.online.tell("/hello", &[], &self.hello))?;
        Ok(())
    }

    /// Does something that ends when its flag is set, as it is at Ctrl-C.
    fn until_stopped(&self, work: impl FnOnce(&AtomicBool)) {
        let (halt, done) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if self.stop.load(Ordering::Relaxed) {
                        halt.store(true, Ordering::SeqCst);
                    }
                    std::thread::sleep(MOMENT);
                }
            });
            work(&halt);
            done.store(true, Ordering::Relaxed);
        });
    }

    /// Plays until `stop` is set; `run` begins the names of its requests and of no others.
    fn play(&self, far: &Far<'_>, table: &PreparedGame, jobs: usize, run: String, stop: &AtomicBool) {
        let versions = VersionShelf::new(self.bots.clone(), self.confined, table.game().info().name)
            .under(self.all.clone())
            .bounded(MOST_KEPT);
        let settings = PlaySettings { jobs, run, beat: self.beat, idle: IDLE, aside: true };
        agon_worker::run(far, table, &versions, &settings, stop);
    }

    /// Plays for a fleet, one series after another, until Ctrl-C.
    fn serve_fleet(&self, jobs: impl Fn(&PreparedGame) -> usize) -> Done {
        let (mut pauses, mut visits) = (Pauses::default(), 0);
        while !self.stop.load(Ordering::Relaxed) && self.over.get().is_none() {
            let query = [("run", self.hello.run.clone()), ("wait_ms", FLEET_WAIT_MS.to_string())];
            let playing = match self.online.get::<wire::Playing>("/series", &query) {
                // The fleet was restarted.
                Err(Trouble::Refused(problem)) if problem.status == 409 => {
                    let _: wire::Admitted = self.online.tell("/hello", &[], &self.hello).map_err(refused)?;
                    continue;
                }
                Err(trouble) if trouble.may_pass() => {
                    self.played.away(true);
                    self.rest(pauses.next().unwrap_or(IDLE));
                    continue;
                }
                playing => playing.map_err(refused)?,
            };
            self.played.away(false);
            pauses = Pauses::default();
            let Some(series) = playing.series else { continue };
            let table = match PreparedGame::new(&series.terms) {
                Ok(table) => table,
                Err(why) => {
                    writeln!(io::stderr(), "{}: {}", harmless(&series.title), harmless(&why))?;
                    self.rest(FLEET_PAUSE);
                    continue;
                }
            };
            visits += 1;
            self.until_stopped(|halt| {
                let run = format!("{}-{visits}", self.hello.run);
                self.play(&self.far(&table, halt, self.over).of_fleet(), &table, jobs(&table), run, halt);
            });
        }
        Ok(())
    }

    fn rest(&self, time: Duration) {
        let until = Instant::now() + time;
        while !self.stop.load(Ordering::Relaxed) && Instant::now() < until {
            std::thread::sleep(MOMENT);
        }
    }
}

/// Prints the status from time to time until `done` is set.
fn tell(played: Arc<Played>, done: &AtomicBool) {
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

/// The answer of the contest. While it or its database is away, it is asked again: machines often start together with
/// it, and nobody watches them. Ctrl-C ends the program as usual.
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
                        "{why}\nWaiting for the contest and asking again; Ctrl-C ends that."
                    )?;
                }
                std::thread::sleep(pauses.next().unwrap_or(IDLE));
            }
            answer => return answer.map_err(refused),
        }
    }
}

/// Why the contest refuses this machine.
fn refused(trouble: Trouble) -> Failure {
    match trouble {
        Trouble::Refused(problem) if problem.status == 401 => Failure::usage(
            "the contest does not know this token: the organiser makes one for each machine, on the page /organise/workers or \
             with `agon serve worker`",
        ),
        other => other.into(),
    }
}

/// The description of this machine sent to the contest.
fn look(
    confined: Confined,
    cpus: usize,
    jobs: usize,
    attacks: Option<u32>,
    (packages, memory): (&[String], Option<u64>),
) -> PlayingMachine {
    let own = machine::look(confined, cpus, packages, memory);
    let kernel = rustix::system::uname();
    let word = |word: &std::ffi::CStr| word.to_string_lossy().into_owned();
    PlayingMachine {
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

/// How bots are contained here. The owner of a lent machine decides, not the contest alone.
fn hold(options: &WorkOptions, welcome: &SeriesWelcome) -> Result<Confined, Failure> {
    let own = holding::hold(false, None);
    match (own, options.trust_bots && welcome.trusts_bots) {
        (Ok(confined), _) => Ok(confined),
        (Err(_), true) => holding::hold(true, None).map_err(Failure::Own),
        (Err(why), false) => {
            // The rest of that sentence is for organisers.
            let why = why.split(" If you trust").next().unwrap_or(&why).to_owned();
            let more = if welcome.trusts_bots {
                " The organiser trusts all bots; if you do too, add --trust-bots."
            } else {
                ""
            };
            Err(Failure::Own(format!("{why}{more}")))
        }
    }
}

/// Sees to it that the contest's image is here, if it has one: what is missing of it is fetched.
fn fetch_image(
    online: &Online,
    welcome: &SeriesWelcome,
    confined: Confined,
    quiet: bool,
) -> Result<Option<String>, Failure> {
    let Some(name) = welcome.image.as_ref().filter(|_| confined == Confined::Foreign) else {
        return Ok(None);
    };
    let mut say = |line: &str| {
        if !quiet {
            println!("{line}");
        }
    };
    online.fetch_image(name, &mut say)?;
    Ok(Some(name.clone()))
}

/// What holds for all bots here, and the folders of packages that they are shown.
fn show_packages(options: &WorkOptions) -> Result<(Run, Vec<String>), Failure> {
    let mut packages = Packages::default();
    for place in &options.packages {
        let full = place.canonicalize().ok().filter(|full| full.is_dir() && inside::can_show(full));
        let full = full.ok_or_else(|| {
            Failure::usage(format!(
                "--packages {}: not a folder that bots can be shown; name one outside /proc, /sys, /dev, /tmp and /etc",
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
    Ok((Run { packages, ahead: true, for_others: true, ..Run::default() }, shown))
}

/// A folder for each contest: `https---cup.example`.
fn place_name(address: &Address) -> String {
    address
        .0
        .chars()
        .map(|sign| if sign.is_ascii_alphanumeric() || sign == '.' { sign } else { '-' })
        .collect()
}

/// Locks the folder, so that two processes never unpack into the same one. Fails when another process holds it.
fn hold_folder(folder: &Path) -> Result<File, Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::own(format!("{}: {error}", folder.display())))?;
    // One of earlier times let others in.
    let _ = agon_bot::rights::close(folder);
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
