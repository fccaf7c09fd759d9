//! Bots that dial in: where each is expected, and waiting until all have arrived.
//!
//! Longer than 500 lines: how a bot dials in, fails to, or is late is one loop.
//!
//! A program that dials in is started with the environment it expects; a bot that runs elsewhere is only
//! waited for. The match, and its clock, start when nobody is missing.

use std::fs::File;
use std::io::Read as _;
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_bot::manifest::Manifest;
use agon_bot::peer::Caller;
use agon_bot::program::ProgramEnd;
use agon_bot::tcp::{self, Framed};
use agon_bot::{
    BotName, Confined, KeptWaiting, Launch, NameKind, Program, Received, StartError, Wire, advice, guard,
    join, listener, scratch,
};
use agon_game::{Kit, Seat, Session, TcpKit, Transport};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{PidfdFlags, pidfd_open};
use rustix::time::Timespec;

use crate::player::{SeatError, script};
use crate::pulse::Pulse;
use crate::record::Void;
use crate::{Clock, Observer, Player};

/// How long to wait for a bot that runs elsewhere, in milliseconds: as long as the original waited for its
/// players.
pub const ELSEWHERE_MS: u32 = 500_000;
/// How often observers are told that we wait, and connections are tended.
const BEAT: Duration = Duration::from_millis(200);
/// When the machine kept a bot waiting for more than one part in this many of its time, the bot is not to
/// blame.
const TOO_LATE: u32 = 10;
/// Longest last words quoted from a program that ended too soon, in characters.
const LAST_WORDS: usize = 300;

/// A bot that has not arrived yet.
pub struct Expected {
    program: Option<Program>,
    /// Becomes readable when the program ends.
    end: Option<OwnedFd>,
    listener: Listener,
    /// Set when its program is the doorkeeper for a bot that joins from elsewhere.
    joins: Option<SocketAddr>,
    /// Whether a bot of another user may come.
    any_user: bool,
    /// The rulebook's limit; none for a bot that runs elsewhere.
    limit_ms: Option<u32>,
    longest: usize,
    /// How long the machine has kept it waiting since it was started.
    kept: KeptWaiting,
    /// What went wrong when it tried to arrive.
    trouble: Option<String>,
}

/// Where it will come in.
enum Listener {
    Tcp(tcp::Listener),
    WebSocket(listener::WaitingSeat),
    /// Its own pipes.
    Pipes,
}

/// An awaited bot, as observers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    pub seat: Seat,
    /// The address it has to connect to.
    pub address: String,
    /// Whether somebody else has to start it.
    pub elsewhere: bool,
    /// How long to wait for it; none for ever.
    pub limit: Option<Duration>,
    /// Why the most recent caller was turned away.
    pub trouble: Option<String>,
}

/// The player for a bot that dials in; none for a bot that talks in lines.
///
/// # Errors
/// When the name is wrong, the address cannot be listened at, or this machine has no room.
pub fn expect(
    session: &dyn Session,
    name: &BotName,
    seat: Seat,
    cpus: Option<&[usize]>,
) -> Result<Option<Player>, SeatError> {
    let longest = session.info().longest_message;
    let wrong = |why: String| SeatError::Name(format!("bot `{name}`: {why}"));
    let title = session.info().title;
    let waits = |mut program: Option<Program>, listener, limit_ms, joins| {
        let (usage, cpus) =
            program.as_mut().map(|program| (program.tree().look(), program.tree().cpus())).unzip();
        let kept = KeptWaiting::new(Instant::now(), usage.unwrap_or_default(), cpus.unwrap_or(1));
        let end = program.as_ref().and_then(|program| pidfd_open(program.root(), PidfdFlags::empty()).ok());
        let any_user = name.run.any_user;
        let expected =
            Expected { program, end, listener, joins, any_user, limit_ms, longest, kept, trouble: None };
        Ok(Some(Player::Expected(Box::new(expected))))
    };
    let expected = |program, listener, limit_ms| waits(program, listener, limit_ms, None);
    let run = &name.run;
    let start = |launch: Launch| match Program::start(
        &Launch { run: Arc::clone(run), ..launch },
        seat.number(),
        cpus,
        longest,
    ) {
        Ok(program) => Ok(Ok(program)),
        Err(StartError::NoProgram(why)) => Ok(Err(Player::Absent(why))),
        Err(StartError::NoRoom(why)) => Err(SeatError::Machine(why)),
    };
    match (way(session, name).map_err(wrong)?, session.kit()) {
        (Way::Lines, _) => Ok(None),
        (Way::Joins, kit) => {
            let listen = name.join_address().map_err(wrong)?;
            let (mut dial, mut token) = (None, None);
            let listener = match &kit {
                Kit::Lines => Listener::Pipes,
                Kit::Tcp(_) => {
                    let listener = tcp::Listener::open().map_err(SeatError::Machine)?;
                    dial = Some(listener.address());
                    Listener::Tcp(listener)
                }
                Kit::WebSocket(kit) => {
                    let waiting =
                        listener::WaitingSeat::for_program(kit, longest, run).map_err(SeatError::Machine)?;
                    dial = waiting.address().trim_start_matches("ws://").parse().ok();
                    token = Some(waiting.token().to_owned());
                    Listener::WebSocket(waiting)
                }
            };
            let recipe = session.recipe();
            let welcome = join::Welcome {
                game: session.info().name.to_owned(),
                rules: recipe.rules_name.clone(),
                seats: recipe.seats,
                seat: seat.number(),
                seed: recipe.seed,
                token,
            };
            let token_file = join::token_file(run).map_err(wrong)?;
            let door = join::Doorkeeper { listen, token_file, welcome, dial };
            match start(keeper(&door))? {
                Ok(program) => {
                    if let Listener::WebSocket(waiting) = &listener {
                        waiting.belongs_to(program.owner());
                    }
                    waits(Some(program), listener, None, Some(listen))
                }
                Err(absent) => Ok(Some(absent)),
            }
        }
        (Way::Elsewhere, Kit::Tcp(_)) => {
            let listener = match run.address(name.port().map_err(wrong)?, None) {
                Some(address) => tcp::Listener::at(address),
                None => tcp::Listener::open(),
            };
            expected(None, Listener::Tcp(listener.map_err(SeatError::Machine)?), None)
        }
        (Way::Elsewhere, Kit::WebSocket(kit)) => {
            let port = name.port().map_err(wrong)?;
            let waiting =
                listener::WaitingSeat::for_anybody(&kit, port, longest, run).map_err(SeatError::Machine)?;
            expected(None, Listener::WebSocket(waiting), None)
        }
        (way @ (Way::Client(_) | Way::Dials), Kit::Tcp(kit)) if name.confined != Confined::No => {
            let mut launch = match &way {
                Way::Client(folder) => client(&kit, folder, INSIDE).map_err(SeatError::Machine)?,
                _ => launch(name)?,
            };
            if let Way::Dials = way {
                tell_address(&mut launch, INSIDE);
            }
            (launch.confined, launch.dials_at) = (name.confined, Some(INSIDE.port()));
            match start(launch)? {
                Ok(program) => {
                    let listener = way_in(&program).and_then(tcp::Listener::inside);
                    let listener = Listener::Tcp(listener.map_err(SeatError::Machine)?);
                    expected(Some(program), listener, Some(kit.connect_ms))
                }
                Err(absent) => Ok(Some(absent)),
            }
        }
        (Way::Dials, Kit::WebSocket(kit)) if name.confined != Confined::No => {
            let mut launch = launch(name)?;
            (launch.dials_in, launch.dials_at) = (true, Some(kit.port));
            launch.environment.push(("AGON_ADDRESS".to_owned(), format!("ws://127.0.0.1:{}", kit.port)));
            match start(launch)? {
                Ok(program) => {
                    let seat = way_in(&program)
                        .and_then(|socket| listener::WaitingSeat::inside(&kit, socket, longest))
                        .map_err(SeatError::Machine)?;
                    expected(Some(program), Listener::WebSocket(seat), Some(kit.connect_ms))
                }
                Err(absent) => Ok(Some(absent)),
            }
        }
        (Way::Client(folder), Kit::Tcp(kit)) => {
            let listener = tcp::Listener::open().map_err(SeatError::Machine)?;
            let launch = client(&kit, &folder, listener.address()).map_err(SeatError::Machine)?;
            match start(launch)? {
                Ok(program) => expected(Some(program), Listener::Tcp(listener), Some(kit.connect_ms)),
                Err(absent) => Ok(Some(absent)),
            }
        }
        (Way::Dials, Kit::Tcp(kit)) => {
            let listener = tcp::Listener::open().map_err(SeatError::Machine)?;
            let mut launch = launch(name)?;
            tell_address(&mut launch, listener.address());
            match start(launch)? {
                Ok(program) => expected(Some(program), Listener::Tcp(listener), Some(kit.connect_ms)),
                Err(absent) => Ok(Some(absent)),
            }
        }
        (Way::Dials, Kit::WebSocket(kit)) => {
            let waiting =
                listener::WaitingSeat::for_program(&kit, longest, run).map_err(SeatError::Machine)?;
            let mut launch = launch(name)?;
            launch.dials_in = true;
            launch.environment.push((kit.token.to_owned(), waiting.token().to_owned()));
            launch.environment.push(("AGON_ADDRESS".to_owned(), waiting.address()));
            match start(launch)? {
                Ok(program) => {
                    waiting.belongs_to(program.owner());
                    expected(Some(program), Listener::WebSocket(waiting), Some(kit.connect_ms))
                }
                Err(absent) => Ok(Some(absent)),
            }
        }
        _ => Err(wrong(match session.info().transport {
            Transport::WebSocket => format!("{title} talks to its bots over WebSocket or in lines"),
            Transport::Tcp => format!("{title} talks to its bots over TCP or in lines"),
            Transport::Lines | Transport::Script => {
                format!("{title} talks to its bots over standard input and output")
            }
        })),
    }
}

/// Where a sandboxed bot dials in over TCP: in its own network every port is free.
const INSIDE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 5000);

/// The listener in the network of a sandboxed bot.
fn way_in(program: &Program) -> Result<OwnedFd, String> {
    let listener = program.cage().and_then(agon_bot::inside::Cage::listener);
    listener
        .ok_or_else(|| "a bot that dials in needs a network of its own, which takes namespaces".to_owned())
}

/// The doorkeeper's command.
fn keeper(door: &join::Doorkeeper) -> Launch {
    let program = guard::program().map_or("agon".into(), |program| program.to_string_lossy().into_owned());
    let door = serde_json::to_string(door).expect("plain values");
    Launch::command(&[program, join::SUBCOMMAND.to_owned(), door], None, Vec::new())
}

/// How a bot that joins a match elsewhere is started here: the command, and whether it will dial in at
/// `relay`, where `token` identifies it.
///
/// # Errors
/// When the name leads to nothing that can run, or that can join.
pub fn beside(
    session: &dyn Session,
    name: &BotName,
    seat: Seat,
    relay: SocketAddr,
    token: Option<&str>,
) -> Result<(Launch, bool), SeatError> {
    let wrong = |why: String| SeatError::Name(format!("bot `{name}`: {why}"));
    let launched = |launch: Launch| {
        let dials = launch.dials_in;
        Ok((launch, dials))
    };
    match (way(session, name).map_err(wrong)?, session.kit()) {
        (Way::Lines, _) => match script(session, name, seat, Clock::ORIGINAL) {
            Some(script) => launched(script.launch(name.js())),
            None if matches!(name.kind, NameKind::Builtin { .. }) => {
                Err(wrong("a built-in bot plays where the match is; write its name there".to_owned()))
            }
            None => launched(launch(name)?),
        },
        (Way::Client(folder), Kit::Tcp(kit)) => {
            launched(client(&kit, &folder, relay).map_err(SeatError::Machine)?)
        }
        (Way::Dials, Kit::Tcp(_)) => {
            let mut launch = launch(name)?;
            tell_address(&mut launch, relay);
            launched(launch)
        }
        (Way::Dials, Kit::WebSocket(kit)) => {
            let mut launch = launch(name)?;
            launch.dials_in = true;
            launch.environment.push((kit.token.to_owned(), token.unwrap_or_default().to_owned()));
            launch.environment.push(("AGON_ADDRESS".to_owned(), format!("ws://{relay}")));
            launched(launch)
        }
        _ => Err(wrong("only a bot that runs on this machine can join".to_owned())),
    }
}

fn launch(name: &BotName) -> Result<Launch, SeatError> {
    let launch = Launch::of(name).map_err(|error| SeatError::Name(error.to_string()))?;
    Ok(launch.expect("a bot that is no program is expected elsewhere"))
}

/// How many levels of folders below the named one, and how many entries in all, are searched for a bot.
const DEEPEST: u32 = 2;
const MOST_SEEN: usize = 5_000;

/// How a bot talks.
enum Way {
    Lines,
    /// A program that dials in.
    Dials,
    /// A module, in this folder, for its contest's client.
    Client(PathBuf),
    /// Somebody else starts it.
    Elsewhere,
    /// An `agon join` starts it, on its own machine.
    Joins,
}

/// How a bot talks: as its `agon.toml` says, else like the game's bots.
fn way(session: &dyn Session, name: &BotName) -> Result<Way, String> {
    let path = match &name.kind {
        NameKind::WebSocket if !matches!(session.kit(), Kit::WebSocket(_)) => {
            return Err(format!("{} has no WebSocket", session.info().title));
        }
        NameKind::Tcp if !matches!(session.kit(), Kit::Tcp(_)) => {
            return Err(format!("{} is not played over TCP", session.info().title));
        }
        NameKind::WebSocket | NameKind::Tcp => return Ok(Way::Elsewhere),
        NameKind::Join => return Ok(Way::Joins),
        NameKind::Builtin { .. } => return Ok(Way::Lines),
        NameKind::Command(_) => None,
        NameKind::Path(path) => Some(std::path::absolute(path).unwrap_or_else(|_| path.clone())),
    };
    let folder = path.as_deref().and_then(|path| if path.is_dir() { Some(path) } else { path.parent() });
    let manifest = folder.map(Manifest::read).transpose()?.flatten().unwrap_or_default();
    let below;
    let module = match session.kit() {
        Kit::Tcp(kit) => {
            let beside = folder.filter(|folder| {
                let module = folder.join(kit.module);
                let named = path.as_deref() == Some(folder) && manifest.run.is_none();
                module.is_file() && (named || path.as_deref() == Some(&module))
            });
            below = if beside.is_none() { bot_below(session, name)? } else { None };
            beside.or(below.as_deref())
        }
        _ => None,
    };
    match (manifest.dialect.as_deref(), session.info().transport) {
        (Some("lines"), _) | (None, Transport::Lines | Transport::Script) => Ok(Way::Lines),
        (Some("script"), Transport::Script) => Ok(Way::Lines),
        _ if name.says_lines() => Ok(Way::Lines),
        (Some("tcp") | None, Transport::Tcp) if module.is_some() => {
            Ok(Way::Client(module.expect("there is one").to_owned()))
        }
        (None, Transport::Tcp) => Ok(Way::Lines),
        (Some("tcp"), Transport::Tcp) | (Some("websocket") | None, Transport::WebSocket) => Ok(Way::Dials),
        (Some(dialect), transport) => Err(format!(
            "agon.toml says dialect = \"{dialect}\", but bots of {} speak {}",
            session.info().title,
            match transport {
                Transport::Lines => "\"lines\"",
                Transport::WebSocket => "\"websocket\" or \"lines\"",
                Transport::Tcp => "\"tcp\" or \"lines\"",
                Transport::Script => "\"script\" or \"lines\"",
            }
        )),
    }
}

/// The folder of the only bot in a contest's repository, whose own `run.sh` starts server, bots and
/// viewer. None if the folder itself is a bot, or there is none below it.
///
/// # Errors
/// A sentence naming them, when there are several.
pub fn bot_below(session: &dyn Session, name: &BotName) -> Result<Option<PathBuf>, String> {
    let (Kit::Tcp(kit), NameKind::Path(root)) = (session.kit(), &name.kind) else { return Ok(None) };
    let starts_all = |script: &Path| {
        let mut text = Vec::new();
        let read = File::open(script).and_then(|file| file.take(64 << 10).read_to_end(&mut text));
        read.is_ok() && String::from_utf8_lossy(&text).contains("tmux")
    };
    let own = ["agon.toml", "package.json", kit.module].iter().any(|file| root.join(file).exists());
    if !root.is_dir() || own || Launch::of(name).is_ok() && !starts_all(&root.join("run.sh")) {
        return Ok(None);
    }
    let (mut found, mut folders, mut seen) = (Vec::new(), vec![(root.clone(), 0)], 0);
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if seen > MOST_SEEN || hidden || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.path().join(kit.module).is_file() {
                found.push(entry.path());
            } else if depth < DEEPEST {
                folders.push((entry.path(), depth + 1));
            }
        }
    }
    found.sort();
    match &mut found[..] {
        [] => Ok(None),
        [one] => Ok(Some(std::path::absolute(&*one).unwrap_or_else(|_| one.clone()))),
        many => {
            let many: Vec<String> = many.iter().take(9).map(|folder| folder.display().to_string()).collect();
            Err(format!(
                "{} is not a bot, but has several below it; name one of {}",
                name.text,
                many.join(", ")
            ))
        }
    }
}

/// The command that runs a contest's module from its own folder, whose modules take precedence over ours.
fn client(kit: &TcpKit, folder: &Path, address: SocketAddr) -> Result<Launch, String> {
    let ours = scratch::shared(guard::mark(), kit.client, kit.files)
        .map_err(|error| format!("cannot write the client modules: {error}"))?;
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    let words = ["python3", "-u", "-m", kit.runner, &host, &port].map(str::to_owned);
    let others = std::env::var("PYTHONPATH").ok().filter(|others| !others.is_empty());
    let path = others.map_or_else(String::new, |others| format!(":{others}"));
    let environment = vec![("PYTHONPATH".to_owned(), format!("{}{path}", ours.display()))];
    let mut launch = Launch::command(&words, Some(folder.to_owned()), environment);
    launch.dials_in = true;
    launch.shown.push(ours);
    Ok(launch)
}

/// Tells a program where to connect: in `AGON_ADDRESS`, and in its command in place of `{host}` and
/// `{port}`.
fn tell_address(launch: &mut Launch, address: SocketAddr) {
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    for word in &mut launch.arguments {
        if let Some(text) = word.to_str().filter(|text| text.contains('{')) {
            *word = text.replace("{host}", &host).replace("{port}", &port).into();
        }
    }
    launch.environment.push(("AGON_ADDRESS".to_owned(), address.to_string()));
    launch.dials_in = true;
}

/// Waits until every expected bot has arrived or will not come; after that none of `players` is expected
/// any more. Collects what bots said on arrival in `greetings`.
///
/// # Errors
/// When the user stops the match, or a bot did not come because the machine was late.
pub(crate) fn gather(
    session: &mut dyn Session,
    players: &mut [Player],
    clock: Clock,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
    greetings: &mut Vec<(Seat, Vec<u8>)>,
) -> Result<(), Void> {
    // First, so that all time charged to bots is covered.
    let mut pulse = Pulse::new();
    let began = Instant::now();
    let mut beat = began;
    loop {
        let mut missing = Vec::new();
        for (seat, player) in Seat::first(players.len() as u8).zip(players.iter_mut()) {
            let Player::Expected(expected) = player else { continue };
            let limit = expected.limit(clock);
            if let Some(wire) = expected.arrived(session, seat, greetings) {
                *player = Player::Program(Box::new(expected.seated(wire)));
                continue;
            }
            let waited = began.elapsed();
            // The time the machine took is added to its limit.
            let late = match limit.filter(|limit| waited >= *limit) {
                Some(_) => expected.machine_was_late(&mut pulse),
                None => Duration::ZERO,
            };
            let limit = limit.map(|limit| limit + late);
            let is_over = limit.filter(|limit| waited >= *limit);
            if let Some(why) = expected.given_up(is_over) {
                if let Some(limit) = is_over.filter(|limit| late > *limit / TOO_LATE) {
                    return Err(Void::HostLate(format!(
                        "seat {seat} {why}; this machine kept it waiting for {:.1} s of {:.1}",
                        late.as_secs_f64(),
                        limit.as_secs_f64()
                    )));
                }
                *player = Player::Absent(why);
            } else {
                let (address, elsewhere) = (expected.address(), expected.is_elsewhere());
                let trouble = expected.trouble.clone();
                missing.push(Awaited { seat, address, elsewhere, limit, trouble });
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        if stop.load(Ordering::Relaxed) {
            return Err(Void::Stopped);
        }
        if beat <= Instant::now() {
            beat = Instant::now() + BEAT;
            observer.awaiting(&missing, began.elapsed());
            for player in &mut *players {
                if let Player::Program(program) = player
                    && program.dials_in()
                {
                    program.wire().tend();
                }
            }
        }
        let ends = missing.iter().filter_map(|awaited| Some(began + awaited.limit?));
        wait(players, ends.chain([beat]).min().expect("one beat"), &mut pulse)?;
    }
}

/// Sleeps until something happens at a port or with an expected program.
fn wait(players: &mut [Player], until: Instant, pulse: &mut Pulse) -> Result<(), Void> {
    let mut descriptors = Vec::new();
    for player in &*players {
        if let Player::Expected(expected) = player {
            let stderr = expected.program.as_ref().and_then(Program::stderr);
            let end = expected.end.as_ref().map(std::os::fd::AsFd::as_fd);
            let pipe = expected.program.as_ref().filter(|_| expected.joins.is_some());
            let pipe = pipe.map(|program| program.wire_ref().reads());
            let watched = [expected.listener.reads(), stderr, end, pipe];
            let polls = watched.into_iter().flatten();
            descriptors.extend(polls.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)));
        }
    }
    pulse.awake(Duration::ZERO);
    let meant = until.saturating_duration_since(Instant::now());
    let patience = Timespec::try_from(meant).ok();
    match poll(&mut descriptors, patience.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(Void::OwnFault(format!("waiting for bots to connect failed: {error}"))),
    }
    drop(descriptors);
    pulse.awake(meant);
    for player in players {
        if let Player::Expected(expected) = player
            && let Some(program) = &mut expected.program
        {
            program.listen_to_stderr();
        }
    }
    Ok(())
}

impl Expected {
    /// How long to wait for it.
    fn limit(&self, clock: Clock) -> Option<Duration> {
        clock.limit_to_connect(self.limit_ms.unwrap_or(ELSEWHERE_MS))
    }

    /// How long this machine kept it from starting.
    fn machine_was_late(&mut self, pulse: &mut Pulse) -> Duration {
        if let Some(program) = &mut self.program {
            self.kept.note(Instant::now(), program.tree().look());
        }
        pulse.stood_still() + self.kept.total()
    }

    /// Whether somebody else has to start it.
    fn is_elsewhere(&self) -> bool {
        self.program.is_none() || self.joins.is_some()
    }

    fn address(&self) -> String {
        if let Some(place) = self.joins {
            return place.to_string();
        }
        match &self.listener {
            Listener::Pipes => "its pipes".to_owned(),
            Listener::Tcp(listener) => listener.address().to_string(),
            Listener::WebSocket(waiting) => waiting.address(),
        }
    }

    /// Its connection, once it has arrived.
    fn arrived(
        &mut self,
        session: &mut dyn Session,
        seat: Seat,
        greetings: &mut Vec<(Seat, Vec<u8>)>,
    ) -> Option<Option<Box<dyn Wire>>> {
        // A joined bot that talks in lines keeps the doorkeeper's pipes.
        if let (Some(_), Some(program)) = (self.joins, &mut self.program) {
            let mut word = Vec::new();
            while program.wire().receive(&mut word) == Received::Message {
                if word == join::JOINED {
                    return Some(None);
                }
                if let Some(name) = word.strip_prefix(join::NAMED).and_then(join::name) {
                    session.announce(seat, name);
                }
            }
            self.trouble = last_words(&program.said()).or(self.trouble.take());
        }
        match &mut self.listener {
            Listener::Pipes => None,
            Listener::Tcp(port) => {
                let (stream, theirs) = port.accept()?;
                if self.program.as_ref().is_some_and(|program| program.cage().is_some()) {
                    // Nobody else is in its network.
                    return Some(Some(Box::new(Framed::new(stream, self.longest).ok()?)));
                }
                let owner = self.program.as_ref().map(Program::owner);
                // Not the address we listen at: that may stand for all of this machine's addresses.
                let ours = stream.local_addr().ok()?;
                let caller = Caller::find(theirs, ours, owner.iter());
                if let Err(why) = caller.may_take(owner.as_ref(), self.any_user) {
                    self.trouble = Some(format!("it {why}"));
                    return None;
                }
                Some(Some(Box::new(Framed::new(stream, self.longest).ok()?)))
            }
            Listener::WebSocket(waiting) => {
                let (wire, greeting) = waiting.take()?;
                // It contains the team's name.
                session.hear(seat, &greeting);
                greetings.push((seat, greeting));
                Some(Some(Box::new(wire)))
            }
        }
    }

    /// The program, playing over this connection, or over its pipes without one.
    fn seated(&mut self, wire: Option<Box<dyn Wire>>) -> Program {
        match (self.program.take(), wire) {
            (Some(mut program), Some(wire)) => {
                program.dialled(wire);
                program
            }
            (Some(program), None) => program,
            (None, wire) => Program::elsewhere(wire.expect("it came over a connection")),
        }
    }

    /// Why it will not come, if that is known or the limit has passed.
    fn given_up(&mut self, late: Option<Duration>) -> Option<String> {
        let address = self.address();
        if let Listener::WebSocket(waiting) = &mut self.listener {
            self.trouble = waiting.trouble().or(self.trouble.take());
        }
        let Some(program) = &mut self.program else {
            let seconds = late?.as_secs();
            return Some(match &self.trouble {
                None => format!("nobody connected to {address} within {seconds} s"),
                Some(trouble) => {
                    format!("nobody was let in at {address} within {seconds} s; of who came last: {trouble}")
                }
            });
        };
        let ending = program.ending(Duration::ZERO);
        if ending == ProgramEnd::Runs && late.is_none() {
            return None;
        }
        let trouble = self.trouble.iter().map(|trouble| format!("; {trouble}")).collect::<String>();
        program.listen_to_stderr();
        let said = program.take_said();
        let mut words =
            last_words(&said).map(|words| format!("; it last wrote: `{words}`")).unwrap_or_default();
        let advice = advice::of_end(&said, ending, program.run().for_others);
        // Nobody had given it any input: it took its empty standard input for the match.
        let reads_input = self.joins.is_none()
            && match &advice {
                Some(advice) => advice.starts_with("it read on"),
                None => ending == ProgramEnd::Code(0),
            };
        match advice {
            _ if reads_input => {
                words += ". In this game bots connect to AGON_ADDRESS; a bot that reads and writes lines instead says so in its \
                          agon.toml (dialect = \"lines\"), or is named lines:COMMAND";
            }
            Some(advice) => words = format!("{words}; {advice}"),
            None => {}
        }
        Some(match late {
            Some(late) if self.joins.is_some() && ending == ProgramEnd::Runs => {
                format!("nobody joined at {address} within {} s{trouble}", late.as_secs())
            }
            Some(late) if ending == ProgramEnd::Runs => format!(
                "did not connect to {address} within {} s{trouble}{words}. A bot that reads and writes lines instead says so in \
                 its agon.toml (dialect = \"lines\"), or is named lines:COMMAND",
                late.as_secs_f64()
            ),
            _ => format!("{ending} before it had connected to {address}{trouble}{words}"),
        })
    }
}

impl Listener {
    /// Becomes readable when somebody may have arrived.
    fn reads(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Tcp(listener) => Some(listener.reads()),
            Self::WebSocket(waiting) => Some(waiting.reads()),
            Self::Pipes => None,
        }
    }
}

/// The last line written, shortened.
fn last_words(said: &[u8]) -> Option<String> {
    let end = String::from_utf8_lossy(&said[said.len().saturating_sub(4 << 10)..]);
    let line = end.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(LAST_WORDS).collect())
}
