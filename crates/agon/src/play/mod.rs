//! `agon play`: one match, and how it went.
//!
//! Longer than 500 lines: its options, the match and its report, which know each other.

pub mod follow;
pub mod human;
pub mod join;
pub mod json;
pub mod patience;
pub mod referee;
pub mod step;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use agon_bot::NameKind;
use agon_bot::advised::NextCommand;
use agon_desk::replays::TurnCount;
use agon_desk::seats::{header, seat_all};
use agon_game::{Seat, Seats, Session};
use agon_match::record::SeatTime;
use agon_match::{FaultKind, MatchRecord, Observer, PrintedMatch, SeatResult, Terms, Together, play_on};
use clap::Args;

use crate::common::builds;
use crate::common::conditions::{AsOptions, Conditions, Slowest};
use crate::common::here::About;
use crate::common::screen::{self, milliseconds, score};
use crate::common::seats::{ReplayFile, eyes, rejections, tell_all_notes};
use crate::common::table::{Cell, Table};
use crate::common::wanted::MatchOptions;
use crate::common::{self, Done, Failure};
use crate::play::follow::Follow;
use crate::play::human::People;
use crate::play::patience::Patience;
use crate::play::step::StopBefore;
use crate::replay::json::Board;
use crate::replay::show::drawn;
use crate::viewer::Viewer;

/// Examples for the help.
pub const EXAMPLES: &str =
    "A bot is a file, a folder, `cmd:COMMAND LINE`, `builtin:NAME[?option=value]`, or `git:REV[:PATH]`.
In games whose bots connect, also `ws:[PORT]` or `tcp:[PORT]`, a bot that you start yourself, and `lines:COMMAND LINE`,
one that reads and writes lines instead. `human` is you: the seat is played by hand in a browser.
`join:[[ADDRESS:]PORT]` waits for an `agon join` on another machine. `agon docs bots`
has more.

Examples:
  agon play cultist-wars my/bot.py builtin:greedy
  agon play cultist-wars ./bot 'cmd:java -cp out Bot' --seed 77 --watch
  agon play cultist-wars my/bot.py builtin:hunter?nodes=2000 --swap --json
  agon play cultist-wars my/bot.py builtin:random --no-timeouts
  agon play cultist-wars my/bot.py builtin:greedy --live
  agon play jungle-blitz ws: 'lines:python3 my_bot.py'
  agon play deerhunt human ./bot            by hand: prints the address of your seat
  agon play cultist-wars human builtin:greedy --step        by a program, turn by turn on standard input and output
  agon play cultist-wars my/bot.py builtin:greedy --until 20 --json      the position before turn 20
  agon play                       in a folder whose agon.toml names game and opponents
  agon play ostibot my/bot.js other/bot.py --time-limit 1s
  agon play ostibot my/bot.js builtin:looter --js node
  agon play . builtin:greedy --as https://cup.example      under the conditions of a contest";
/// Options of `agon play`.
#[derive(Args, Debug, Clone)]
pub struct PlayOptions {
    #[command(flatten)]
    pub wanted: MatchOptions,
    #[command(flatten)]
    pub there: AsOptions,
    /// Where the replay goes [default: a new file in ./agon-replays]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub replay: Option<PathBuf>,
    /// Writes no replay
    #[arg(long, conflicts_with = "replay", help_heading = "Output")]
    pub no_replay: bool,
    /// Follows the match turn by turn, and frame by frame in games that have frames
    #[arg(long, conflicts_with_all = ["json", "quiet"], help_heading = "Output")]
    pub watch: bool,
    /// Opens the match in the browser when it is over; press Ctrl-C to stop serving it
    #[arg(long, conflicts_with_all = ["no_replay", "live"], help_heading = "Output")]
    pub open: bool,
    /// Shows the match in the browser while it is played; press Ctrl-C to stop serving it
    #[arg(long, help_heading = "Output")]
    pub live: bool,
    /// Plays as far as this turn and shows the board before it, counted as in `agon replay show`; with --json the state, too
    #[arg(long, value_name = "TURN", conflicts_with_all = ["open", "live", "watch"], help_heading = "Output")]
    pub until: Option<u32>,
    /// The seat of `human` is played on standard input: each turn shows the board and the question, and waits for an answer as its bot
    /// would write it
    #[arg(long, conflicts_with_all = ["open", "live", "watch", "quiet", "until"], help_heading = "Output")]
    pub step: bool,
    /// Pause between turns with --watch, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 150, requires = "watch", help_heading = "Output")]
    pub delay: u64,
    /// Shows the board as this seat sees it
    #[arg(long, value_name = "SEAT|all", default_value = "all", help_heading = "Output")]
    pub view: String,
    /// Prints the result as one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Prints only the result, without the board
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
    /// Exits with 1 if a bot committed a fault (timeout, crash, malformed answer, stray output)
    #[arg(long, help_heading = "Output")]
    pub fail_on_fault: bool,
    /// Hidden: this command plays one match; the option's message says how to play many
    #[arg(short = 'n', long = "games", value_name = "N", hide = true)]
    pub many: Option<u32>,
}

/// Upper limit on the total size of the replays there; the oldest are removed first.
const FOLDER_LIMIT: u64 = 256 << 20;
/// How often a match with an unfair clock is played.
const TRIES: u32 = 3;

/// Runs `agon play`.
pub fn run(options: &PlayOptions) -> Done {
    match options.there.find()? {
        None => play(options, None),
        Some(conditions) => {
            let mut options = options.clone();
            options.wanted.setup = conditions.setup(&options.wanted.setup)?;
            options.wanted.clock = conditions.clock(&options.wanted.clock)?;
            play(&options, Some(&conditions))
        }
    }
}

/// Plays the match, perhaps under the conditions of a contest.
fn play(options: &PlayOptions, conditions: Option<&Conditions>) -> Done {
    let about = who(options)?;
    if let Some(conditions) = conditions {
        conditions.check_game(&about.game)?;
        conditions.check_seats(about.bots.len())?;
    }
    let game = common::game(&about.game)?;
    if let Some(many) = options.many {
        return Err(Failure::usage(format!(
            "agon play plays one match. For {many} matches from both seats, with statistics, use\n  {}",
            NextCommand::Gauntlet.about([&[game.info().name.to_owned()][..], &about.bots].concat())
        )));
    }
    let mut sandbox = options.wanted.sandbox.clone();
    if let Some(there) = conditions.filter(|conditions| conditions.holds_bots()) {
        sandbox.hold_all(&there.contest.machine);
    }
    let mut bots = sandbox.bots();
    bots.run = options.wanted.port.at(bots.run);
    let mut spec = options.wanted.spec(about)?;
    let people = People::of(&mut spec, options.wanted.clock.is_asked_for(), options.step)?;
    let (mut names, labels) = common::seated(&spec, &bots)?;
    if options.wanted.build {
        names.iter().try_for_each(|name| builds::ensure(name, options.quiet || options.json))?;
    }
    builds::warn_of_stale(&names);
    let (clock, ponder) = (spec.clock, spec.ponder);
    // A contest's rules never follow a bot.
    if conditions.is_none()
        && let Some(told) = common::brought::rules(&mut spec, game.info(), &names)?
    {
        eprintln!("note: {}", screen::harmless(&told));
    }
    let setup = common::setup(&spec, game, names.len())?;
    let eyes = eyes(&options.view, names.len())?;
    let stop = common::stop_on_ctrl_c();
    let shows = options.live || people.is_some() && !options.step;
    let mut viewer = shows.then(|| Viewer::start(None, bots.clone())).transpose()?;
    if let Some(people) = &people {
        people.free(&mut names);
    }
    // How many of these attempts each bot has made void.
    let mut disturbed = vec![0; names.len()];
    for attempt in 1.. {
        let mut session = game.open(&setup)?;
        tell_all_notes(session.as_ref(), &names);
        let count = TurnCount::at_start(session.as_ref());
        let mut players = seat_all(session.as_mut(), &names, clock, ponder)?;
        let mut header = header(session.as_ref(), &names, &labels, clock);
        if let Some(people) = &people {
            people.name(&mut header);
        }
        let (mut file, mut recorder) = match options.no_replay {
            true => (None, None),
            false => {
                let (file, recorder) = ReplayFile::begin(options.replay.as_deref(), &header)?;
                (Some(file), Some(recorder))
            }
        };
        if options.watch {
            session.keep_events();
        }
        // A person who plays must not see the whole board beside the page.
        let delay = (options.watch && people.is_none()).then(|| Duration::from_millis(options.delay));
        let mut screen = Follow::new(session.as_ref(), &labels, eyes, delay);
        let watched = viewer.as_mut().filter(|_| options.live);
        let mut camera = watched.map(|viewer| viewer.live(&header)).transpose()?;
        let mut seats = match (&people, &viewer) {
            (Some(people), Some(viewer)) => people.sit(&header, viewer)?,
            _ => Vec::new(),
        };
        let mut here = match &people {
            Some(people) if options.step => Some(people.sit_here(game, &header, options.json)?),
            _ => None,
        };
        let mut until = options.until.map(|turn| StopBefore::new(session.as_ref(), turn, stop));
        // The first bot that is a program is taken to be the one under test.
        let own = names.iter().position(|name| matches!(name.kind, NameKind::Path(_) | NameKind::Command(_)));
        let mut slowest = Slowest::new(Seat::new(own.unwrap_or(0) as u8));
        let mut record = {
            let mut patience = Patience::start(session.as_ref(), &labels, clock).filter(|_| !options.quiet);
            let mut observers: Vec<&mut dyn Observer> = vec![&mut screen, &mut slowest];
            observers.extend(patience.as_mut().map(|patience| patience as &mut dyn Observer));
            if let Some(camera) = &mut camera {
                observers.push(camera);
            }
            if let Some(recorder) = &mut recorder {
                observers.push(recorder);
            }
            observers.extend(seats.iter_mut().map(|seat| seat as &mut dyn Observer));
            observers.extend(here.as_mut().map(|seat| seat as &mut dyn Observer));
            observers.extend(until.as_mut().map(|until| until as &mut dyn Observer));
            let untimed = people.as_ref().map_or(Seats::NONE, People::seats);
            let terms = Terms { disturbed: &disturbed, untimed, ..Terms::new(clock, ponder, stop) };
            play_on(session.as_mut(), &mut players, &labels, &mut Together(observers), &terms)
        };
        drop(players);
        if let Some(conditions) = conditions {
            record.notes.extend(conditions.notes());
            record.notes.extend(slowest.found().and_then(|found| conditions.scaled(found)));
        }
        screen.leave()?;
        if let Some(recorder) = recorder {
            recorder.finish(session.as_mut(), &record)?;
        }
        if let Some(camera) = camera {
            camera.finish(&record);
        }
        seats.into_iter().for_each(|seat| seat.finish(&record));
        let late = record.void.as_ref().is_some_and(|void| void.unfair().is_some());
        if let Some(seat) = record.void.as_ref().and_then(agon_match::record::Void::culprit) {
            disturbed[seat.index()] += 1;
        }
        // Whoever answers here has said what they had to say.
        let again = late && attempt < TRIES && !options.step;
        if let Some(file) = &mut file {
            file.keep(&record, again);
        }
        if again {
            eprintln!(
                "{} (try {attempt} of {TRIES}); playing again",
                record.void_sentence().unwrap_or_default()
            );
            continue;
        }
        let path = file.filter(ReplayFile::is_kept).map(|file| file.path().display().to_string());
        let result = record.result(session.as_ref(), &labels, path.clone());
        if let Some(until) = &until {
            if until.is_reached(session.as_ref()) {
                return match options.json {
                    true => common::print_json(&mut io::stdout(), &Board::of(session.as_ref(), count, eyes)),
                    false => drawn(session.as_ref(), eyes),
                };
            }
            eprintln!("note: the match was over before turn {}", options.until.unwrap_or_default());
        }
        if options.json && options.step {
            common::print_json_line(&mut io::stdout(), &result)?;
        } else if options.json {
            common::print_json(&mut io::stdout(), &result)?;
        } else {
            // Some bots have given their names by now.
            let labels: Vec<String> = result.seats.iter().map(|seat| seat.bot.clone()).collect();
            report(options, session.as_ref(), &record, &result, &labels, eyes)?;
        }
        if let Some(file) = path.as_deref().filter(|_| options.replay.is_none()) {
            make_room(Path::new(file));
        }
        if let Some(file) = path.as_deref().filter(|_| options.open) {
            let mut viewer = Viewer::start(Some(file.into()), bots.clone())?;
            viewer.show(Path::new(file));
            viewer.stay()?;
        } else if let Some(viewer) = viewer.filter(|_| options.live) {
            viewer.stay()?;
        } else if people.is_some() && !options.step {
            human::farewell();
        }
        return conclude(options, &record, late);
    }
    unreachable!("the last try returns")
}

/// Game, bots and rules: as typed, else from the `agon.toml` of this folder.
fn who(options: &PlayOptions) -> Result<About, Failure> {
    let words: Vec<&String> = options.wanted.game.iter().chain(&options.wanted.bots).collect();
    let mut about = About::read(&words, options.wanted.setup.rules.as_ref())?;
    if about.bots.is_empty() {
        // As many opponents as there are seats.
        let seats = usize::from(common::game(&about.game)?.info().seats.1);
        about.bots = about.opponents()?.iter().take(seats - 1).cloned().collect();
        about.bots.insert(0, ".".to_owned());
    }
    Ok(about)
}

/// The exit code.
fn conclude(options: &PlayOptions, record: &MatchRecord, late: bool) -> Done {
    match &record.void {
        Some(agon_match::record::Void::Stopped) => return Err(Failure::Stopped),
        Some(_) if late => {
            let why = record.void_sentence().unwrap_or_default();
            return Err(Failure::own(format!(
                "{why}, {TRIES} times; make the machine quieter, or use --time-scale"
            )));
        }
        Some(_) => return Err(Failure::own(record.void_sentence().unwrap_or_default())),
        None => {}
    }
    // A trial of a bot that never started has tried nothing.
    let never_started = record.faults.iter().any(|fault| fault.kind == FaultKind::NeverStarted);
    match never_started || options.fail_on_fault && !record.faults.is_empty() {
        true => Err(Failure::Check),
        false => Ok(()),
    }
}

/// Removes the oldest replays from our own folder when it grows too large.
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

/// Prints the report for people.
fn report(
    options: &PlayOptions,
    session: &dyn Session,
    record: &MatchRecord,
    result: &PrintedMatch,
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
    // Rules and maps from files have names of their own.
    writeln!(out, "{}{}", screen.strong(&screen::harmless(&title)), screen.dim(&screen::harmless(&map)))?;
    let mut table = Table::new().numbers("seat", 0).names("bot").numbers("score", 0).numbers("rank", 4);
    table = table.numbers("answers", 3).numbers("mean", 2).numbers("longest", 1).numbers("CPU", 6);
    table = table.numbers("rejected", 5).numbers("faults", 0);
    for seat in &result.seats {
        let time = &seat.time;
        let builtin = time.answers == 0;
        let dash = || "–".to_owned();
        // What counts against the limit; what passed by the clock stands below where it differs.
        let mean = time.charged_ms / f64::from(time.answers.max(1));
        let own = Seat::new(seat.seat - 1);
        let faults = seat.faults.len() as u64 + seat.more_faults;
        let of_program = |text: String| if builtin { dash() } else { text };
        table.row(vec![
            seat.seat.to_string().into(),
            Cell::painted(shown(seat), move |bot| screen.seat(own, bot)),
            seat.score.map_or_else(dash, score).into(),
            seat.rank.map_or_else(dash, |rank| rank.to_string()).into(),
            of_program(time.answers.to_string()).into(),
            of_program(milliseconds(mean)).into(),
            of_program(nearest(time)).into(),
            time.cpu_ms.map_or_else(dash, milliseconds).into(),
            count(seat.rejected).into(),
            Cell::painted(
                count(faults),
                move |text| if faults > 0 { screen.bad(text) } else { text.to_owned() },
            ),
        ]);
    }
    write!(out, "{}", table.text(screen::room()))?;
    for seat in &result.seats {
        if let Some(waited) = waited(&seat.time, session.info().step) {
            let bot = screen.seat(Seat::new(seat.seat - 1), &screen::harmless(&shown(seat)));
            write!(out, "{}", screen::folded(&format!("{bot}: {waited}\n")))?;
        }
    }
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
        writeln!(out, "\nReplay: {replay}\n  {}", NextCommand::ReplayInfo.about([replay]))?;
        let turn = record.steps.min(10).to_string();
        writeln!(out, "  {}", NextCommand::ReplayShow.about([replay, &turn]))?;
    }
    // Built-in bots are not programs, so there is nothing to contain.
    let programs = result.seats.iter().any(|seat| seat.time.answers > 0);
    for note in result.notes.iter().map(String::as_str).chain(programs.then_some(&*result.containment)) {
        writeln!(out, "{}", screen.dim(&screen::harmless(&format!("Note: {note}."))))?;
    }
    Ok(())
}

/// The answer that came nearest to its limit; the longest one where there are no limits.
fn nearest(time: &SeatTime) -> String {
    match time.nearest_limit_ms {
        Some(limit) => {
            let (spent, limit) = (milliseconds(time.nearest_ms), milliseconds(limit));
            // One unit is enough where both have it.
            let spent = match (spent.rsplit_once(' '), limit.rsplit_once(' ')) {
                (Some((number, unit)), Some((_, of))) if unit == of => number,
                _ => &spent,
            };
            format!("{spent} of {limit}")
        }
        None => milliseconds(time.max_charged_ms),
    }
}

/// How long a bot's longest answer took by the clock, where that is much more than what is charged for any; and why.
fn waited(time: &SeatTime, step: &str) -> Option<String> {
    let more = time.max_ms - time.max_charged_ms;
    (more > 1.0 && more > time.max_ms / 10.0).then(|| {
        format!(
            "the answer in {step} {} took {}; for {} of that this machine was busy with other things, which is not counted",
            time.max_step + 1,
            milliseconds(time.max_ms),
            milliseconds(more)
        )
    })
}

fn count(count: u64) -> String {
    if count == 0 { "none".to_owned() } else { count.to_string() }
}

/// The other game, if any, to which the first malformed answer of a bot belongs.
fn other_game(game: &str, fault: &agon_match::Fault) -> Option<&'static str> {
    if !matches!(fault.kind, FaultKind::Malformed | FaultKind::Stray) || fault.step > 2 {
        return None;
    }
    let said = fault.message.split('`').nth(1)?.trim().replace("\\\"", "\"");
    let mut like =
        agon_games::all().iter().map(|other| other.info()).filter(|other| (other.looks_like_answer)(&said));
    let first = like.next()?;
    (first.name != game && like.all(|other| other.name != game)).then_some(first.title)
}

/// A bot in the table: its label, and the name under which it registered if that differs.
fn shown(seat: &SeatResult) -> String {
    let label = screen::harmless(&seat.bot);
    match seat.registered.as_deref().map(screen::harmless).filter(|name| *name != label) {
        Some(name) => format!("{label} ({name})"),
        None => label.to_string(),
    }
}

/// Prints the faults of the programs, the first of each kind with its sentence.
fn faults(out: &mut impl io::Write, screen: screen::Screen, result: &PrintedMatch) -> Done {
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
            let other = other_game(result.game, fault).map_or_else(String::new, |game| {
                format!("; that is an answer for {game}: was the bot written for it?")
            });
            writeln!(
                out,
                "{bot}, {}: {kind}: {}{other}{more}",
                fault.turn,
                screen::harmless(&fault.message)
            )?;
            screen::quote(out, screen, &fault.stderr)?;
        }
        if seat.more_faults > 0 {
            writeln!(out, "{} more faults of seat {} are not listed", seat.more_faults, seat.seat)?;
        }
    }
    Ok(())
}
