//! `agon watch`: matches in the browser.

mod opener;

use std::io::{self, Read as _, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

use agon_desk::seats::{self, seat_of};
use agon_desk::trial::{FEWEST, OrderTrial, Seating, TriedOrder};
use agon_game::Transport;
use agon_match::{Observer, Together};
use agon_replay::{Header, Replay};
use agon_spec::MatchSpec;
use agon_view::analysis::Analysis;
use agon_web::api::{Causes, TrialSoFar};
use agon_web::live::Camera;
use agon_web::{Config, Handle, Host, Live, ScriptFile, Server, TrialWanted};
use clap::Args;

use crate::common::folders;
use crate::common::sandbox::{Bots, SandboxOptions};
use crate::common::seats::ReplayFile;
use crate::common::{self, ClockOptions, Done, Failure};
use crate::series::why;
use crate::viewer::opener::Opener;

/// Examples for the help.
pub const EXAMPLES: &str = "Without a file it opens a page with the recent matches and series, and a form that plays new matches.
A journal of a series opens as the list of its matches. A bot in JavaScript opens in the workshop: an editor beside the
board, which saves to that file and no other. Two replays are shown side by side, and the first answer in which they differ is marked.
The page is served from this program to this machine only; it needs no network. The printed link opens it once; Enter
prints another one.

Examples:
  agon watch agon-replays/cultist-wars-7.replay
  agon watch old.replay new.replay
  agon watch agon-series/LAST/journal.jsonl
  agon watch bot.js
  agon watch --no-open --port 8080
  agon watch --bind 0.0.0.0 --port 8080 --token-file ~/.agon-token";

/// Options of `agon watch`.
#[derive(Args, Debug, Default)]
pub struct WatchOptions {
    /// Replays or journals; two replays are compared. Or an Ostibot script (JavaScript), to edit next to the board [default: a page
    /// with the recent matches]
    #[arg(value_name = "REPLAY|JOURNAL|SCRIPT")]
    pub files: Vec<PathBuf>,
    /// Prints the address and opens no browser
    #[arg(long)]
    pub no_open: bool,
    /// The port [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Listens on this address, so that other machines can watch; needs --token-file
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<IpAddr>,
    /// A file with the access token: 16 or more letters and digits, in a file only you can read. The page asks for
    /// it [default: none; the printed link gives access, once]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    #[command(flatten)]
    pub sandbox: SandboxOptions,
}

/// Runs `agon watch`.
pub fn run(options: &WatchOptions) -> Done {
    let key = options.token_file.as_deref().map(opener::key).transpose()?;
    if let (Some(address), None) = (options.bind.filter(|address| !address.is_loopback()), &key) {
        return Err(Failure::usage(format!(
            "--bind {address} lets others in, who could start programs here; choose a token they must know, and write \
             it into a file: --token-file FILE"
        )));
    }
    for file in &options.files {
        // A wrong name is reported at once; errors inside a file appear on its page.
        agon_replay::file::open(file)
            .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    }
    let script = script(&options.files)?;
    let workshop = script.is_some();
    let config = Config {
        script,
        address: options.bind.unwrap_or(Config::default().address),
        port: options.port,
        key,
        files: options.files.clone(),
        folder: folders::REPLAYS.into(),
        series: folders::SERIES.into(),
        ..Config::default()
    };
    let names: Vec<String> = options.files.iter().map(|file| encode(&file.display().to_string())).collect();
    let place = match &names[..] {
        _ if workshop => format!("workshop={}", scripted_game()),
        [one] if is_journal(&options.files[0]) => format!("journal={one}"),
        [one] => format!("replay={one}"),
        [one, other] => format!("replay={one}&with={other}"),
        _ => String::new(),
    };
    let server = bind(config, options.sandbox.bots())?;
    let handle = server.handle();
    let address = match options.token_file {
        None => handle.link(&place),
        // With the token no link is needed.
        Some(_) if place.is_empty() => handle.address(),
        Some(_) => format!("{}/#{place}", handle.address()),
    };
    writeln!(io::stdout(), "{address}")?;
    io::stdout().flush()?;
    if !agon_web::app::is_built() {
        eprintln!("note: this agon was built without its web app: {}", agon_web::app::MISSING.trim());
    }
    let mut opener = Opener::new(handle);
    opener.open(&place, options.no_open);
    server.run(common::stop_on_ctrl_c())?;
    Ok(())
}

/// The script among the files; it must be the only one.
fn script(files: &[PathBuf]) -> Result<Option<ScriptFile>, Failure> {
    let is_script = |file: &&PathBuf| {
        file.extension().is_some_and(|ending| ["js", "mjs", "cjs"].iter().any(|known| ending == *known))
    };
    match (files.iter().find(is_script), files.len()) {
        (None, _) => Ok(None),
        (Some(file), 1) => ScriptFile::new(file).map(Some).map_err(|error| Failure::usage(error.to_string())),
        (Some(file), _) => {
            Err(Failure::usage(format!("{}: a script is opened alone, in the workshop", file.display())))
        }
    }
}

/// The game whose bots are scripts.
fn scripted_game() -> &'static str {
    let found = agon_games::all().iter().find(|game| game.info().transport == Transport::Script);
    found.map_or("", |game| game.info().name)
}

/// Whether a file begins like a journal of a series.
fn is_journal(file: &Path) -> bool {
    let mut start = [0; 15];
    let read = agon_replay::file::open(file).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"{\"agon_journal\""
}

/// Binds the port.
fn bind(config: Config, bots: Bots) -> Result<Server, Failure> {
    let (address, port) = (config.address, config.port);
    Server::bind(config, Box::new(Matches { bots })).map_err(|error| {
        Failure::own(format!(
            "cannot listen on {address}, port {port}: {error}; another port is chosen with --port"
        ))
    })
}

/// The viewer of `agon play --live` and `--open`; it serves requests on its own thread.
pub struct Viewer {
    handle: Handle,
    opener: Opener,
    thread: JoinHandle<io::Result<()>>,
}

impl Viewer {
    /// Starts it. `file` is a replay it may show.
    pub fn start(file: Option<PathBuf>, bots: Bots) -> Result<Self, Failure> {
        let config = Config {
            files: file.into_iter().collect(),
            folder: folders::REPLAYS.into(),
            series: folders::SERIES.into(),
            ..Config::default()
        };
        let server = bind(config, bots)?;
        let handle = server.handle();
        let stop = common::stop_on_ctrl_c();
        let thread = std::thread::spawn(move || server.run(stop));
        Ok(Self { opener: Opener::new(handle.clone()), handle, thread })
    }

    /// Offers a seat of a match; returns its address.
    pub fn give(&self, seat: agon_web::TakenSeat) -> String {
        self.handle.give(seat)
    }

    /// Shows a match that is about to be played.
    pub fn live(&mut self, header: &Header) -> Result<Camera, Failure> {
        let live = Live::default();
        let camera = live.camera(header).map_err(|error| Failure::own(error.to_string()))?;
        self.opener.open(&self.handle.add(live), false);
        Ok(camera)
    }

    /// Shows a replay.
    pub fn show(&mut self, file: &Path) {
        self.opener.open(&format!("replay={}", encode(&file.display().to_string())), false);
    }

    /// Keeps serving until Ctrl-C.
    pub fn stay(self) -> Done {
        match self.thread.join() {
            Ok(done) => Ok(done?),
            Err(_) => Err(Failure::own("the viewer failed; please report it")),
        }
    }
}

/// Encodes a name for the fragment of an address, the part after `#`.
fn encode(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:".contains(&byte);
    name.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Plays the matches that the page requests.
struct Matches {
    bots: Bots,
}

impl Host for Matches {
    fn play(&self, spec: &MatchSpec, live: Live) -> Result<(), String> {
        play(spec, live, &self.bots)
    }

    fn try_bot(
        &self,
        replay: &Replay,
        wanted: &TrialWanted,
        told: &mut dyn FnMut(TrialSoFar),
        stop: &AtomicBool,
    ) -> Result<(), String> {
        let mut analysis = Analysis::open(replay, None).map_err(|why| why.to_string())?;
        let seat = seat_of(replay, wanted.seat).map_err(|error| error.to_string())?;
        let others = replay.header.seats.len() - 1;
        let against = match wanted.against.trim() {
            "" => Vec::new(),
            other => vec![other.to_owned(); others],
        };
        let texts = Seating::texts(wanted.bot.trim(), seat, &against, replay, analysis.policy())
            .map_err(|error| error.to_string())?;
        let own = Seating { seat, names: common::bots(&texts, &self.bots).map_err(sentence)? };
        let clock = ClockOptions::default();
        let (clock, ponder) = (clock.clock().map_err(sentence)?, clock.ponder());
        let trial = OrderTrial { futures: FEWEST, clock, ponder, stop };
        let so_far = |tried: &TriedOrder, mistake| TrialSoFar {
            better: tried.better_in_a_line(),
            futures: tried.gain.count,
            of: trial.futures,
            gain: tried.gain.mean(),
            error: tried.gain.error(),
            fault: tried.fault_in_a_line(),
            mistake,
            problem: None,
        };
        let each = &mut |tried: &TriedOrder| told(so_far(tried, None));
        let tried = own
            .try_one(&trial, replay, &mut analysis, wanted.step, each)
            .map_err(|error| sentence(error.into()))?;
        if let Some(fault) = tried.gone() {
            let fault = fault.in_a_line();
            return Err(format!("The bot cannot be asked: it ended on the way to this turn. {fault}"));
        }
        told(so_far(&tried, Some(tried.is_mistake())));
        Ok(())
    }

    fn why(&self, journal: &Path, bot: usize) -> Result<Causes, String> {
        why::for_page(journal, bot).map_err(|error| error.to_string())
    }
}

/// A failure as a sentence for a page.
fn sentence(failure: Failure) -> String {
    failure.message().unwrap_or("the match could not be played").to_owned()
}

/// Plays a match on a thread of its own.
fn play(spec: &MatchSpec, live: Live, bots: &Bots) -> Result<(), String> {
    let game = common::game(&spec.game).map_err(sentence)?;
    let (names, labels) = common::seated(spec, bots).map_err(sentence)?;
    let mut spec = spec.clone();
    if let Some(told) = common::brought::rules(&mut spec, game.info(), &names).map_err(sentence)? {
        eprintln!("note: {}", common::screen::harmless(&told));
    }
    let setup = common::setup(&spec, game, names.len()).map_err(sentence)?;
    let (clock, ponder) = (spec.clock, spec.ponder);
    let mut session = game.open(&setup).map_err(|error| error.to_string())?;
    // Whatever can be wrong with the names is reported before the match begins.
    let (started, begun) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let seated =
            seats::seat_all(session.as_mut(), &names, clock, ponder).map_err(|error| sentence(error.into()));
        let header = seats::header(session.as_ref(), &names, &labels, clock);
        let ready = seated.and_then(|seated| {
            let camera = live.camera(&header).map_err(|error| error.to_string())?;
            Ok((seated, camera))
        });
        let (mut players, mut camera) = match ready {
            Ok(ready) => ready,
            Err(why) => return drop(started.send(Err(why))),
        };
        let _ = started.send(Ok(()));
        // A match whose replay cannot be written is still worth watching.
        let mut kept = ReplayFile::begin(None, &header).ok();
        let record = {
            let mut observers: Vec<&mut dyn Observer> = vec![&mut camera];
            if let Some((_, recorder)) = &mut kept {
                observers.push(recorder);
            }
            let stop = common::stop_on_ctrl_c();
            let all = &mut Together(observers);
            agon_match::play(session.as_mut(), &mut players, &labels, clock, ponder, all, stop)
        };
        if let Some((mut file, recorder)) = kept {
            let _ = recorder.finish(session.as_mut(), &record);
            file.keep(&record, false);
        }
        camera.finish(&record);
    });
    begun.recv().unwrap_or_else(|_| Err("agon failed to start this match; please report it".to_owned()))
}
