//! `agon watch`: matches in the browser.

use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use agon_game::Session;
use agon_match::{Observer, Recorder, StepReport};
use agon_web::{Config, Host, Live, Request, Server};

use crate::cli::WatchOptions;
use crate::common::{self, ClockOptions, Done, Failure, SetupOptions};
use crate::play::{self, FOLDER, ReplayFile};
use crate::screen;

/// Runs `agon watch`.
pub fn run(options: &WatchOptions) -> Done {
    check(options.bind, options.token.as_deref())?;
    for file in &options.files {
        // A wrong name is told here and now; what is wrong inside a file, on its page.
        std::fs::metadata(file).map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    }
    let server = serve(options, options.files.clone())?;
    let name = |at: usize| options.files.get(at).map(|file| encode(&file.display().to_string()));
    let place = match (name(0), name(1)) {
        (Some(one), Some(other)) if options.files.len() == 2 => format!("replay={one}&with={other}"),
        (Some(one), None) => format!("replay={one}"),
        _ => String::new(),
    };
    answer(server, &place, options.no_open, common::stop_on_ctrl_c())
}

/// Takes the port.
pub fn serve(options: &WatchOptions, replays: Vec<PathBuf>) -> Result<Server, Failure> {
    let config = Config {
        address: options.bind.unwrap_or(Config::default().address),
        port: options.port,
        token: options.token.clone(),
        replays,
        folder: FOLDER.into(),
    };
    let (address, port) = (config.address, config.port);
    Server::bind(config, Box::new(Matches)).map_err(|error| {
        Failure::own(format!(
            "cannot listen on {address}, port {port}: {error}; another port is chosen with --port"
        ))
    })
}

/// Says where the page is, opens it, and answers until Ctrl-C.
pub fn answer(server: Server, place: &str, no_open: bool, stop: &AtomicBool) -> Done {
    if !agon_web::app::is_built() {
        eprintln!("note: this agon was built without its web app: {}", agon_web::app::MISSING.trim());
    }
    let address = server.address(place);
    {
        let mut out = io::stdout().lock();
        writeln!(out, "{address}")?;
        out.flush()?;
    }
    if !no_open && !open_browser(&address) && io::stderr().is_terminal() {
        eprintln!("{}", screen::errors().dim("open this address in a browser; Ctrl-C ends the viewer"));
    } else if io::stderr().is_terminal() {
        eprintln!("{}", screen::errors().dim("Ctrl-C ends the viewer"));
    }
    server.run(stop)?;
    Ok(())
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
        let mut command = Command::new(opener);
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
        let sentence = |failure: Failure| match failure {
            Failure::Usage(why) | Failure::Own(why) => why,
            Failure::Check | Failure::Unread => "the match could not be played".to_owned(),
        };
        let game = common::game(&request.game).map_err(sentence)?;
        let names = common::bots(&request.bots, false).map_err(sentence)?;
        let labels = common::labels(&names, &[]).map_err(sentence)?;
        let given = |text: &str| (!text.trim().is_empty()).then(|| text.trim().to_owned());
        let seed = given(&request.seed)
            .map(|seed| seed.parse().map_err(|_| format!("seed `{seed}`: write a whole number of 64 bits")))
            .transpose()?;
        let options =
            SetupOptions { seed, map: given(&request.map), rules: given(&request.rules), set: Vec::new() };
        let setup = options.setup(game, names.len()).map_err(sentence)?;
        let mut session = game.open(&setup).map_err(|error| error.to_string())?;
        // Everything that can be wrong with the names is told before the match begins.
        let (started, begun) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let ponder = ClockOptions::default().ponder();
            let clock = agon_match::Clock::ORIGINAL;
            let mut seated = match play::seat_all(session.as_mut(), &names, clock, ponder, true) {
                Ok(seated) => seated,
                Err(failure) => return drop(started.send(Err(sentence(failure)))),
            };
            let header = play::header(session.as_ref(), &names, &labels, &clock.to_string());
            let mut camera = match live.camera(&header) {
                Ok(camera) => camera,
                Err(error) => return drop(started.send(Err(error.to_string()))),
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
                let mut all = Both(observers);
                agon_match::play(
                    session.as_mut(),
                    &mut seated,
                    &labels,
                    clock,
                    ponder,
                    &mut all,
                    common::stop_on_ctrl_c(),
                )
            };
            if let Some(recorder) = recorder {
                let _ = recorder.finish(session.as_mut(), &record);
            }
            camera.finish(&record);
        });
        begun.recv().unwrap_or_else(|_| Err("agon failed to start this match; please report it".to_owned()))
    }
}

/// Several observers, one after the other.
struct Both<'a>(Vec<&'a mut dyn Observer>);

impl Observer for Both<'_> {
    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|observer| observer.stepped(session, step))
    }
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
