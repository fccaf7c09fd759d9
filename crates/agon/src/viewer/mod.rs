//! `agon watch`: matches in the browser.

use std::io::{self, BufWriter, IsTerminal as _, Read as _, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command as Program, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

use crate::common::wanted::MatchOptions;
use agon_match::{Observer, Recorder};
use agon_replay::Header;
use agon_web::live::Camera;
use agon_web::{Config, Handle, Host, Live, Request, Server};
use clap::Args;

use crate::common::folders;
use crate::common::screen;
use crate::common::seats::{self, ReplayFile};
use crate::common::{self, Done, Failure};

/// Examples for the help.
pub const EXAMPLES: &str = "Without a file it opens a page with the recent matches and series, and a form that plays new matches.
A journal of a series opens as the list of its matches. Two replays are shown side by side, and the first answer in which they differ is marked.
The page is served from this program to this machine only; it needs no network.

Examples:
  agon watch agon-replays/cultist-wars-7.replay
  agon watch old.replay new.replay
  agon watch agon-series/LAST/journal.jsonl
  agon watch --no-open --port 8080";
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

/// Runs `agon watch`.
pub fn run(options: &WatchOptions) -> Done {
    check(options.bind, options.token.as_deref())?;
    for file in &options.files {
        // A wrong name is told here and now; what is wrong inside a file, on its page.
        agon_replay::file::open(file).map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    }
    let config = Config {
        address: options.bind.unwrap_or(Config::default().address),
        port: options.port,
        token: options.token.clone(),
        files: options.files.clone(),
        folder: folders::REPLAYS.into(),
        series: folders::SERIES.into(),
    };
    let names: Vec<String> = options.files.iter().map(|file| encode(&file.display().to_string())).collect();
    let place = match &names[..] {
        [one] if is_journal(&options.files[0]) => format!("journal={one}"),
        [one] => format!("replay={one}"),
        [one, other] => format!("replay={one}&with={other}"),
        _ => String::new(),
    };
    let server = bind(config)?;
    let address = server.handle().address(&place);
    writeln!(io::stdout(), "{address}")?;
    io::stdout().flush()?;
    answer(server, &address, options.no_open, common::stop_on_ctrl_c())
}

/// Whether a file begins like a journal of a series.
fn is_journal(file: &Path) -> bool {
    let mut start = [0; 15];
    let read = agon_replay::file::open(file).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"{\"agon_journal\""
}

/// Takes the port.
fn bind(config: Config) -> Result<Server, Failure> {
    let (address, port) = (config.address, config.port);
    Server::bind(config, Box::new(Matches)).map_err(|error| {
        Failure::own(format!(
            "cannot listen on {address}, port {port}: {error}; another port is chosen with --port"
        ))
    })
}

/// The viewer of `agon play --live` and `--open`: it answers on a thread of its own.
pub struct Viewer {
    handle: Handle,
    thread: JoinHandle<io::Result<()>>,
}

impl Viewer {
    /// Starts it. `file` is a replay it may show.
    pub fn start(file: Option<PathBuf>) -> Result<Self, Failure> {
        let config = Config {
            files: file.into_iter().collect(),
            folder: folders::REPLAYS.into(),
            series: folders::SERIES.into(),
            ..Config::default()
        };
        let server = bind(config)?;
        let handle = server.handle();
        let stop = common::stop_on_ctrl_c();
        let thread = std::thread::spawn(move || server.run(stop));
        Ok(Self { handle, thread })
    }

    /// Shows a match that is about to be played.
    pub fn film(&self, header: &Header) -> Result<Camera, Failure> {
        let live = Live::default();
        let camera = live.camera(header).map_err(|error| Failure::own(error.to_string()))?;
        say(&self.handle.add(live), false);
        Ok(camera)
    }

    /// Shows a replay.
    pub fn show(&self, file: &Path) {
        say(&self.handle.address(&format!("replay={}", encode(&file.display().to_string()))), false);
    }

    /// Goes on answering until Ctrl-C.
    pub fn stay(self) -> Done {
        match self.thread.join() {
            Ok(done) => Ok(done?),
            Err(_) => Err(Failure::own("the viewer failed; please report it")),
        }
    }
}

/// Opens the page and answers until Ctrl-C.
fn answer(server: Server, address: &str, no_open: bool, stop: &AtomicBool) -> Done {
    if !agon_web::app::is_built() {
        eprintln!("note: this agon was built without its web app: {}", agon_web::app::MISSING.trim());
    }
    say(address, no_open);
    server.run(stop)?;
    Ok(())
}

/// Opens an address, or tells the user to.
fn say(address: &str, no_open: bool) {
    let dim = |text: &str| screen::errors().dim(text);
    match !no_open && open_browser(address) {
        true => eprintln!("{}", dim("Ctrl-C ends the viewer")),
        false if io::stderr().is_terminal() || !no_open => {
            eprintln!("{} {address}\n{}", dim("open in a browser:"), dim("Ctrl-C ends the viewer"));
        }
        false => {}
    }
}

/// Opens the user's browser, when there is a screen to open it on.
fn open_browser(address: &str) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !io::stdout().is_terminal() {
        return false;
    }
    let openers: &[&str] = if cfg!(target_os = "macos") {
        &["open"]
    } else if set("WSL_DISTRO_NAME") {
        &["wslview", "explorer.exe"]
    } else if set("DISPLAY") || set("WAYLAND_DISPLAY") {
        &["xdg-open"]
    } else {
        &[]
    };
    openers.iter().any(|opener| {
        let mut command = Program::new(opener);
        command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // It may run as long as the browser does: it is waited for on a thread of its own.
        command.spawn().map(|mut child| std::thread::spawn(move || child.wait())).is_ok()
    })
}

/// A name inside the part of an address behind `#`.
fn encode(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:".contains(&byte);
    name.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Plays the matches that the page asks for.
struct Matches;

impl Host for Matches {
    fn play(&self, request: Request, live: Live) -> Result<(), String> {
        let Request { game, bots, rules, map, seed } = request;
        let mut words = Vec::new();
        for (option, value) in [("--rules", rules), ("--map", map), ("--seed", seed)] {
            if !value.trim().is_empty() {
                words.push(format!("{option}={}", value.trim()));
            }
        }
        words.extend(["--".to_owned(), game]);
        words.extend(bots);
        film(words, live)
    }

    fn again(&self, command: &str, live: Live) -> Result<(), String> {
        let words = shlex::split(command).ok_or("the journal's command cannot be read")?;
        let [agon, play, words @ ..] = &words[..] else {
            return Err("the journal's command is none".to_owned());
        };
        match (agon.as_str(), play.as_str()) {
            ("agon", "play") => film(words.to_vec(), live),
            _ => Err("the journal's command is not one of `agon play`".to_owned()),
        }
    }
}

/// Plays what an `agon play` command says, on a thread of its own.
fn film(words: Vec<String>, live: Live) -> Result<(), String> {
    let sentence = |failure: Failure| match failure {
        Failure::Usage(why) | Failure::Own(why) => why,
        Failure::Check | Failure::Unread => "the match could not be played".to_owned(),
    };
    let options = MatchOptions::read(&words).map_err(|_| {
        "this is no match that can be played: check the seed, and that each seat has a bot".to_owned()
    })?;
    let game = options.game.as_deref().ok_or("no game is named")?;
    let game = common::game(game).map_err(sentence)?;
    let names = options.names(&options.bots).map_err(sentence)?;
    let labels = common::labels(&names, &options.name).map_err(sentence)?;
    let setup = options.setup.setup(game, names.len()).map_err(sentence)?;
    let mut session = game.open(&setup).map_err(|error| error.to_string())?;
    let (clock, ponder) = (options.clock.clock().map_err(sentence)?, options.clock.ponder());
    // Everything that can be wrong with the names is told before the match begins.
    let (started, begun) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let seated = seats::seat_all(session.as_mut(), &names, clock, ponder, true).map_err(sentence);
        let header = seats::header(session.as_ref(), &names, &labels, &clock.to_string());
        let ready = seated.and_then(|seated| {
            let camera = live.camera(&header).map_err(|error| error.to_string())?;
            Ok((seated, camera))
        });
        let (mut players, mut camera) = match ready {
            Ok(ready) => ready,
            Err(why) => return drop(started.send(Err(why))),
        };
        let _ = started.send(Ok(()));
        // A match that cannot be kept is still worth watching.
        let mut recorder = ReplayFile::create(None, session.as_ref())
            .ok()
            .and_then(|mut file| Recorder::new(BufWriter::new(file.take()), &header).ok());
        let record = {
            let mut observers: Vec<&mut dyn Observer> = vec![&mut camera];
            if let Some(recorder) = &mut recorder {
                observers.push(recorder);
            }
            let stop = common::stop_on_ctrl_c();
            let mut all = seats::Together(&mut observers);
            agon_match::play(session.as_mut(), &mut players, &labels, clock, ponder, &mut all, stop)
        };
        if let Some(recorder) = recorder {
            let _ = recorder.finish(session.as_mut(), &record);
        }
        camera.finish(&record);
    });
    begun.recv().unwrap_or_else(|_| Err("agon failed to start this match; please report it".to_owned()))
}

/// Writes a replay as one page.
pub fn page(replay: agon_replay::Replay, private: bool, to: &mut impl io::Write) -> Done {
    let privacy = if private { agon_web::Privacy::Private } else { agon_web::Privacy::Redacted };
    agon_web::page::write(replay, privacy, to).map_err(|error| match error {
        agon_web::page::PageError::Io(error) => error.into(),
        other => Failure::usage(other.to_string()),
    })
}

/// The address to listen on, checked: more than the loopback only with a token the user has chosen.
pub fn check(bind: Option<IpAddr>, token: Option<&str>) -> Result<(), Failure> {
    match (bind, token) {
        (Some(address), None) if !address.is_loopback() => Err(Failure::usage(format!(
            "--bind {address} lets others in, who could start programs here; choose a token they must know: --token SECRET"
        ))),
        (_, Some(token)) if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            Err(Failure::usage("--token takes letters and digits"))
        }
        (Some(address), Some(token)) if !address.is_loopback() && token.len() < 16 => {
            Err(Failure::usage(format!("--token: at least 16 letters and digits for --bind {address}")))
        }
        _ => Ok(()),
    }
}
