//! `agon play`: one match, and how it went.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agon_bot::BotName;
use agon_bot::sys::{self, Claim};
use agon_game::{AnyGame, Seat, Session};
use agon_match::arrival::Awaited;
use agon_match::{
    Clock, FaultKind, MatchRecord, MatchResult, Observer, Player, Ponder, Recorder, StepReport, place,
    seat_player,
};
use agon_replay::{Header, SeatInfo};
use comfy_table::{CellAlignment, Table, presets};

use crate::build;
use crate::cli::{JsKind, PlayOptions};
use crate::common::{self, Done, Failure, SetupOptions};
use crate::follow::Follow;
use crate::here::About;
use crate::patience::Patience;
use crate::screen::{self, milliseconds, score};
use crate::watch::Viewer;

/// Where replays go unless told otherwise.
pub const FOLDER: &str = "agon-replays";
/// The replays there are kept below this size together; the oldest go first.
const FOLDER_LIMIT: u64 = 256 << 20;
/// A match whose clock was unfair is played again so often.
const TRIES: u32 = 3;

/// Runs `agon play`.
pub fn run(options: &PlayOptions) -> Done {
    let (game, bots, rules) = who(options)?;
    let game = common::game(&game)?;
    if let Some(many) = options.many {
        return Err(Failure::usage(format!(
            "agon play plays one match. For {many} matches with both seats and statistics use\n  agon gauntlet {} {}",
            game.info().name,
            bots.join(" ")
        )));
    }
    options.port.apply();
    let names = names(options, &bots)?;
    if options.build {
        names.iter().try_for_each(|name| build::ensure(name, options.quiet || options.json))?;
    }
    build::warn_of_stale(&names);
    let clock = options.clock.clock()?;
    let labels = common::labels(&names, &options.name)?;
    let setup = SetupOptions { rules, ..options.setup.clone() }.setup(game, names.len())?;
    let eyes = eyes(&options.view, names.len())?;
    let stop = common::stop_on_ctrl_c();
    let viewer = options.live.then(|| Viewer::start(None)).transpose()?;
    for attempt in 1.. {
        let mut session = game.open(&setup)?;
        let mut file = match options.no_replay {
            true => None,
            false => Some(ReplayFile::create(options.replay.as_deref(), session.as_ref())?),
        };
        let mut players = seat_all(session.as_mut(), &names, clock, options.clock.ponder(), false)?;
        let header = header(session.as_ref(), &names, &labels, &clock.to_string());
        let mut recorder = match &mut file {
            Some(file) => Some(Recorder::new(BufWriter::new(file.take()), &header)?),
            None => None,
        };
        if options.watch {
            session.keep_events();
        }
        let delay = options.watch.then(|| Duration::from_millis(options.delay));
        let mut screen = Follow::new(session.as_ref(), &labels, eyes, delay);
        let mut camera = viewer.as_ref().map(|viewer| viewer.film(&header)).transpose()?;
        let record = {
            let mut patience = Patience::start(session.as_ref(), &labels, clock).filter(|_| !options.quiet);
            let mut observers: Vec<&mut dyn Observer> = vec![&mut screen];
            observers.extend(patience.as_mut().map(|patience| patience as &mut dyn Observer));
            if let Some(camera) = &mut camera {
                observers.push(camera);
            }
            if let Some(recorder) = &mut recorder {
                observers.push(recorder);
            }
            agon_match::play(
                session.as_mut(),
                &mut players,
                &labels,
                clock,
                options.clock.ponder(),
                &mut Together(&mut observers),
                stop,
            )
        };
        drop(players);
        screen.leave()?;
        if let Some(recorder) = recorder {
            recorder.finish(session.as_mut(), &record)?;
        }
        if let Some(camera) = camera {
            camera.finish(&record);
        }
        let late = matches!(record.void, Some(agon_match::record::Void::HostLate(_)));
        if late && attempt < TRIES {
            eprintln!(
                "{} (try {attempt} of {TRIES}); playing again",
                record.void_sentence().unwrap_or_default()
            );
            continue;
        }
        let path = file.map(|file| file.path.display().to_string());
        let result = record.result(session.as_ref(), &labels, path.clone());
        if options.json {
            common::print_json(&mut io::stdout(), &result)?;
        } else {
            report(options, session.as_ref(), &record, &result, &labels, eyes)?;
        }
        if let Some(file) = path.as_deref().filter(|_| options.replay.is_none()) {
            make_room(Path::new(file));
        }
        if let Some(file) = path.as_deref().filter(|_| options.open) {
            let viewer = Viewer::start(Some(file.into()))?;
            viewer.show(Path::new(file));
            viewer.stay()?;
        } else if let Some(viewer) = viewer {
            viewer.stay()?;
        }
        return conclude(options, &record, late);
    }
    unreachable!("the last try returns")
}

/// The bots called `texts`, in the order of their seats.
pub fn names(options: &PlayOptions, texts: &[String]) -> Result<Vec<BotName>, Failure> {
    let names = common::bots(texts, options.swap)?;
    Ok(match options.js {
        Some(JsKind::Node) => names.into_iter().map(BotName::under_node).collect(),
        Some(JsKind::Embedded) | None => names,
    })
}

/// Game, bots and rules: as typed, else as the `agon.toml` of this folder says.
fn who(options: &PlayOptions) -> Result<(String, Vec<String>, Option<String>), Failure> {
    let words: Vec<&String> = options.game.iter().chain(&options.bots).collect();
    let mut about = About::read(&words, options.setup.rules.as_ref())?;
    if about.bots.is_empty() {
        // As many opponents as there are seats for.
        let seats = usize::from(common::game(&about.game)?.info().seats.1);
        about.bots = about.opponents()?.iter().take(seats - 1).cloned().collect();
        about.bots.insert(0, ".".to_owned());
    }
    Ok((about.game, about.bots, about.rules))
}

/// The exit code.
fn conclude(options: &PlayOptions, record: &MatchRecord, late: bool) -> Done {
    match &record.void {
        Some(agon_match::record::Void::Stopped) => return Err(Failure::Check),
        Some(_) if late => {
            let why = record.void_sentence().unwrap_or_default();
            return Err(Failure::own(format!(
                "{why}, {TRIES} times; make the machine quieter, or use --time-scale"
            )));
        }
        Some(_) => return Err(Failure::own(record.void_sentence().unwrap_or_default())),
        None => {}
    }
    match options.fail_on_fault && !record.faults.is_empty() {
        true => Err(Failure::Check),
        false => Ok(()),
    }
}

/// Seats all bots, each where it disturbs the others least.
pub fn seat_all(
    session: &mut dyn Session,
    names: &[BotName],
    clock: Clock,
    ponder: Ponder,
    quiet: bool,
) -> Result<Vec<Player>, Failure> {
    // Claimed for the life of this program: another run of it takes other CPUs.
    static CLAIMS: OnceLock<Vec<Claim>> = OnceLock::new();
    let wanted = if session.info().alternating && ponder == Ponder::Stop { 1 } else { names.len() };
    let cpus: Vec<usize> =
        CLAIMS.get_or_init(|| sys::claim_cpus(wanted)).iter().map(|claim| claim.cpu).collect();
    sys::stay_on(&cpus[..1]);
    let places = place(session, ponder, &cpus);
    let mut players = Vec::new();
    for ((seat, name), cpu) in Seat::first(names.len() as u8).zip(names).zip(places) {
        if !quiet && let Ok(Some(launch)) = agon_bot::Launch::of(name) {
            launch.notes.iter().for_each(|note| eprintln!("note: {note}"));
        }
        players.push(seat_player(session, name, seat, Some(cpu), clock)?);
    }
    Ok(players)
}

/// The header of the replay.
pub fn header(session: &dyn Session, names: &[BotName], labels: &[String], clock: &str) -> Header {
    let info = session.info();
    let seats = names.iter().zip(labels).map(|(name, label)| SeatInfo {
        bot: name.text.clone(),
        label: label.clone(),
        hash: None,
    });
    Header {
        program: concat!("agon ", env!("CARGO_PKG_VERSION")).to_owned(),
        game: info.name.to_owned(),
        rules_version: info.rules_version,
        recipe: session.recipe().clone(),
        seats: seats.collect(),
        started: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        timed: info.time_is_played,
        clock: clock.to_owned(),
    }
}

/// The seat that `--view` names; none for all.
pub fn eyes(view: &str, seats: usize) -> Result<Option<Seat>, Failure> {
    match view.parse::<usize>() {
        _ if view == "all" => Ok(None),
        Ok(seat) if (1..=seats).contains(&seat) => Ok(Some(Seat::new(seat as u8 - 1))),
        _ => Err(Failure::usage(format!("--view {view}: write a seat from 1 to {seats}, or all"))),
    }
}

/// A replay's file, made when the match begins.
pub struct ReplayFile {
    path: PathBuf,
    file: Option<File>,
}

impl ReplayFile {
    /// Creates the wanted file, or a new one in [`FOLDER`].
    pub fn create(wanted: Option<&Path>, session: &dyn Session) -> Result<Self, Failure> {
        let failed = |path: &Path, error: io::Error| {
            Failure::own(format!(
                "cannot write the replay {}: {error} (--no-replay plays without one)",
                path.display()
            ))
        };
        if let Some(path) = wanted {
            let file = File::create(path).map_err(|error| failed(path, error))?;
            return Ok(Self { path: path.to_owned(), file: Some(file) });
        }
        let folder = Path::new(FOLDER);
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        let (game, seed) = (session.info().name, session.recipe().seed);
        for number in 1.. {
            let name = match number {
                1 => format!("{game}-{seed}.replay"),
                _ => format!("{game}-{seed}-{number}.replay"),
            };
            let path = folder.join(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { path, file: Some(file) }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(&path, error)),
            }
        }
        unreachable!("some number is free")
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file; once.
    pub fn take(&mut self) -> File {
        self.file.take().expect("taken once")
    }
}

/// Removes the oldest replays of our own folder when it grows too large.
fn make_room(newest: &Path) {
    let Some(folder) = newest.parent() else { return };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "replay"))
        .filter_map(|entry| {
            let found = entry.metadata().ok()?;
            Some((found.modified().ok()?, found.len(), entry.path()))
        })
        .collect();
    let mut size: u64 = files.iter().map(|file| file.1).sum();
    files.sort();
    let mut removed = 0;
    for (_, length, path) in files {
        if size <= FOLDER_LIMIT || path == newest {
            break;
        }
        if std::fs::remove_file(&path).is_ok() {
            size -= length;
            removed += 1;
        }
    }
    if removed > 0 {
        eprintln!("note: removed the {removed} oldest replays; {} is kept below 256 MiB", folder.display());
    }
}

/// Several observers, one after the other.
struct Together<'a, 'b>(&'a mut Vec<&'b mut dyn Observer>);

impl Observer for Together<'_, '_> {
    fn awaiting(&mut self, seats: &[Awaited], waited: Duration) {
        self.0.iter_mut().for_each(|observer| observer.awaiting(seats, waited));
    }

    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|observer| observer.stepped(session, step))
    }
}

/// The report for people.
fn report(
    options: &PlayOptions,
    session: &dyn Session,
    record: &MatchRecord,
    result: &MatchResult,
    labels: &[String],
    eyes: Option<Seat>,
) -> Done {
    let screen = screen::output();
    let mut out = io::stdout().lock();
    if !options.quiet && !options.watch {
        write!(out, "{}", screen.picture(&screen::shown(session.picture(eyes))))?;
        writeln!(out)?;
    }
    let title = format!("{} · {} · seed {}", session.info().title, result.rules, result.seed);
    let map = if result.map.is_empty() { String::new() } else { format!(" · map {}", result.map) };
    writeln!(out, "{}{}", screen.strong(&title), screen.dim(&map))?;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "seat", "bot", "score", "rank", "answers", "mean", "longest", "CPU", "rejected", "faults",
    ]);
    for seat in &result.seats {
        let time = &seat.time;
        let builtin = time.answers == 0;
        let dash = || "–".to_owned();
        let mean = time.wall_ms / f64::from(time.answers.max(1));
        table.add_row([
            seat.seat.to_string(),
            screen.seat(Seat::new(seat.seat - 1), &screen::harmless(&seat.bot)),
            seat.score.map_or_else(dash, score),
            seat.rank.map_or_else(dash, |rank| rank.to_string()),
            if builtin { dash() } else { time.answers.to_string() },
            if builtin { dash() } else { milliseconds(mean) },
            if builtin { dash() } else { milliseconds(time.max_ms) },
            time.cpu_ms.map_or_else(dash, milliseconds),
            match seat.rejected {
                0 => "none".to_owned(),
                count => count.to_string(),
            },
            match seat.faults.len() as u64 + seat.more_faults {
                0 => "none".to_owned(),
                count => screen.bad(&count.to_string()),
            },
        ]);
    }
    for column in 2..9 {
        table.column_mut(column).expect("ten columns").set_cell_alignment(CellAlignment::Right);
    }
    writeln!(out, "{}", table.trim_fmt())?;
    writeln!(out)?;
    let verdict = match (&record.void, result.outcome.winner) {
        (Some(agon_match::record::Void::Stopped), _) => screen.bad("stopped"),
        (Some(_), _) => screen.bad(&record.void_sentence().unwrap_or_default()),
        (None, Some(seat)) => {
            let bot = &result.seats[usize::from(seat) - 1].bot;
            format!("{} wins", screen.seat(Seat::new(seat - 1), &screen::harmless(bot)))
        }
        (None, None) => screen.strong("Draw"),
    };
    let steps = if record.steps == 1 { "" } else { "s" };
    let turns = match record.steps {
        0 => format!("before the first {} was played", session.info().step),
        count => format!("after {count} {}{steps}", session.info().step),
    };
    match record.void {
        Some(_) => writeln!(out, "{verdict} {turns}.")?,
        None => writeln!(out, "{verdict} {turns}: {}.", result.outcome.reason)?,
    }
    faults(&mut out, screen, result)?;
    rejections(&mut out, screen, record, labels)?;
    if let Some(replay) = &result.replay {
        writeln!(out, "\nReplay: {replay}\n  agon replay info {replay}")?;
        writeln!(out, "  agon replay show {replay} --turn 10")?;
    }
    // Built-in bots are no programs that could do anything.
    let programs = result.seats.iter().any(|seat| seat.time.answers > 0);
    for note in result.notes.iter().map(String::as_str).chain(programs.then_some(result.containment)) {
        writeln!(out, "{}", screen.dim(&format!("Note: {note}.")))?;
    }
    Ok(())
}

/// The faults of the programs, the first of each kind with its sentence.
fn faults(out: &mut impl io::Write, screen: screen::Screen, result: &MatchResult) -> Done {
    for seat in &result.seats {
        let mut told: Vec<FaultKind> = Vec::new();
        for fault in &seat.faults {
            if told.contains(&fault.kind) {
                continue;
            }
            told.push(fault.kind);
            let more = seat.faults.iter().filter(|other| other.kind == fault.kind).count() - 1;
            let more = if more > 0 { format!(" (and {more} more like it)") } else { String::new() };
            let bot = screen.seat(Seat::new(seat.seat - 1), &screen::harmless(&seat.bot));
            let kind = screen.bad(fault.kind.word());
            writeln!(out, "{bot}, {}: {kind}: {}{more}", fault.turn, screen::harmless(&fault.message))?;
        }
        if seat.more_faults > 0 {
            writeln!(out, "{} more faults of seat {} are not listed", seat.more_faults, seat.seat)?;
        }
    }
    Ok(())
}

/// What an order is called that the rules do not allow.
pub const REJECTED: &str = "rejected order";

/// The orders that the rules did not allow, the first of each seat and rule.
pub fn rejections(
    out: &mut impl io::Write,
    screen: screen::Screen,
    record: &MatchRecord,
    labels: &[String],
) -> Done {
    let mut told: Vec<(Seat, &str)> = Vec::new();
    for order in &record.rejected {
        let key = (order.seat, order.rule);
        if told.contains(&key) {
            continue;
        }
        told.push(key);
        let more = record.rejected.iter().filter(|other| (other.seat, other.rule) == key).count() - 1;
        let more = if more > 0 { format!(" (and {more} more by that rule)") } else { String::new() };
        let bot = screen.seat(order.seat, &screen::harmless(&labels[order.seat.index()]));
        let why = screen::harmless(&order.message);
        writeln!(out, "{bot}, {}: {REJECTED} [{}]: {why}{more}", order.turn, order.rule)?;
    }
    Ok(())
}

/// The game of a replay's header.
pub fn game_of(header: &Header) -> Result<&'static dyn AnyGame, Failure> {
    agon_games::find(&header.game).ok_or_else(|| {
        Failure::usage(format!("this replay is of `{}`, a game this program does not have", header.game))
    })
}
