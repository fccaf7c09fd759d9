//! `agon replay`: look into replays.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use agon_game::{Answer, Outcome, Seat, Session};
use agon_replay::{Replay, ReplayError};
use serde_json::{Value, json};

use crate::cli::{ExportFormat, ExportOptions, ReplayCommand};
use crate::common::{self, Done, Failure};
use crate::import::{self, Imported};
use crate::play::{eyes, game_of};
use crate::screen::{self, score};
use crate::{fork, redact};

/// A replay file larger than this is refused.
const LARGEST: u64 = 1 << 30;

/// Runs `agon replay`.
pub fn run(command: &ReplayCommand) -> Done {
    match command {
        ReplayCommand::Info { file, json } => info(file, *json),
        ReplayCommand::Verify { files, json } => verify(files, *json),
        ReplayCommand::Export(options) => export(options),
        ReplayCommand::Fork(options) => fork::run(options),
        ReplayCommand::Redact(options) => redact::run(options),
        ReplayCommand::Import(options) => import::run(options),
        ReplayCommand::Feed(options) => crate::against::run(options, None),
        ReplayCommand::Show { file, turn, frame: None, view } => show(file, *turn, view),
        ReplayCommand::Show { file, turn, frame: Some(frame), view } => {
            show_frames(file, turn.unwrap_or_default() as usize, frame, view)
        }
    }
}

/// Reads a replay file: ours, or one of an original.
pub fn read(file: &Path) -> Result<Replay, Failure> {
    load(file).map(|(replay, _)| replay)
}

/// Reads a replay file, and says what it was imported from when it is one of an original.
fn load(file: &Path) -> Result<(Replay, Option<Imported>), Failure> {
    let (name, bytes) = (file.display().to_string(), bytes(file)?);
    match Replay::read(&bytes) {
        Ok(replay) => Ok((replay, None)),
        Err(ReplayError::Foreign) => {
            let imported = import::import(&bytes, &name)?
                .ok_or_else(|| Failure::usage(format!("{name}: {}", ReplayError::Foreign)))?;
            let replay = Replay::read(&imported.bytes).map_err(|error| Failure::own(error.to_string()))?;
            Ok((replay, Some(imported)))
        }
        Err(error) => Err(Failure::usage(format!("{name}: {error}"))),
    }
}

/// The content of a file that may be a replay, unpacked when it is gzip.
pub fn bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    let name = file.display();
    let size = std::fs::metadata(file).map_err(|error| Failure::usage(format!("{name}: {error}")))?.len();
    if size > LARGEST {
        return Err(Failure::usage(format!("{name}: larger than 1 GiB, so not a replay")));
    }
    agon_testkit::golden::read(file).map_err(|error| Failure::usage(format!("{name}: {error}")))
}

/// Opens the match of a replay at its start.
pub fn open(replay: &Replay) -> Result<Box<dyn Session>, Failure> {
    let game = game_of(&replay.header)?;
    let (recorded, ours) = (replay.header.rules_version, game.info().rules_version);
    if recorded != ours {
        return Err(Failure::usage(format!(
            "this replay was recorded under version {recorded} of the rules of {}; this program has version {ours}",
            game.info().title
        )));
    }
    Ok(game.open(&replay.header.recipe.setup())?)
}

fn info(file: &Path, as_json: bool) -> Done {
    let replay = read(file)?;
    let header = &replay.header;
    let mut out = io::stdout().lock();
    if as_json {
        let text = json!({ "header": header, "steps": replay.steps.len(), "end": replay.end });
        common::print_json(&mut out, &text)?;
        return Ok(());
    }
    let screen = screen::output();
    let title = game_of(header).map_or(header.game.as_str(), |game| game.info().title);
    writeln!(out, "{}", screen.strong(title))?;
    let recipe = &header.recipe;
    writeln!(out, "  rules    {} (version {})", recipe.rules_name, header.rules_version)?;
    writeln!(out, "  map      {}", recipe.map_name)?;
    writeln!(out, "  seed     {}", recipe.seed)?;
    writeln!(out, "  clock    {}", header.clock)?;
    writeln!(out, "  written  by {}", header.program)?;
    for (seat, bot) in Seat::first(Seat::MAX).zip(&header.seats) {
        let label = screen.seat(seat, &screen::harmless(&bot.label));
        let result = replay.end.as_ref().and_then(|end| end.outcome.as_ref()).map(|outcome| {
            format!("  score {}, rank {}", score(outcome.scores[seat.index()]), outcome.ranks[seat.index()])
        });
        let named = screen.dim(&screen::harmless(&bot.bot));
        writeln!(out, "  seat {seat}   {label} {named}{}", result.unwrap_or_default())?;
    }
    match &replay.end {
        None => writeln!(
            out,
            "  {}  it was cut off after {} steps",
            screen.bad("unfinished"),
            replay.steps.len()
        )?,
        Some(end) => {
            let reason = end.outcome.as_ref().map_or("it does not count", |outcome| outcome.reason.as_str());
            writeln!(out, "  end      after {} steps: {reason}", end.steps)?;
            for fault in end.facts["faults"].as_array().into_iter().flatten().take(20) {
                let text = |key: &str| screen::harmless(fault[key].as_str().unwrap_or(""));
                let rule = fault["rule"].as_str().map(|rule| format!(" [{rule}]")).unwrap_or_default();
                writeln!(
                    out,
                    "  fault    seat {}, {}: {}{rule}: {}",
                    fault["seat"],
                    text("turn"),
                    text("kind"),
                    text("message")
                )?;
            }
        }
    }
    let private = replay.notes.values().map(Vec::len).sum::<usize>();
    writeln!(out, "  private  {private} notes (stderr and raw answers of the bots)")?;
    Ok(())
}

/// What verifying found.
pub enum Finding {
    /// The match is what the replay says.
    Good,
    /// Good as far as it goes.
    Cut,
    /// Our engine does not do what a record of the original says: where first.
    Differs(String),
    /// From this step on it is not, for this reason.
    Broken(usize, String),
}

/// Computes a replay again.
pub fn check(replay: &Replay) -> Result<Finding, Failure> {
    let mut session = open(replay)?;
    for (number, step) in replay.steps.iter().enumerate() {
        let moment = session.moment();
        if let Err(why) = session.play(&step.answers) {
            return Ok(Finding::Broken(number, format!("{moment}: {why}")));
        }
        if session.hash() as u8 & 15 != step.check {
            return Ok(Finding::Broken(
                number,
                format!("{moment}: the answers do not lead to the recorded state"),
            ));
        }
    }
    let steps = replay.steps.len();
    let Some(end) = &replay.end else { return Ok(Finding::Cut) };
    let wrong = if end.steps as usize != steps {
        Some(format!("it holds {steps} steps, but says {}", end.steps))
    } else if end.state != format!("{:016x}", session.hash()) {
        Some("the last state is not the recorded one".to_owned())
    } else if !Outcome::agrees(session.outcome(), end.outcome.as_ref()) {
        Some("the outcome is not the recorded one".to_owned())
    } else if end.chain != format!("{:016x}", replay.chain) {
        Some("header or answers were altered (their hash is not the recorded one)".to_owned())
    } else {
        None
    };
    Ok(wrong.map_or(Finding::Good, |why| Finding::Broken(steps, format!("end: {why}"))))
}

/// What a replay of an original says about our engine.
fn against_record(imported: &Imported) -> Finding {
    match imported.first_difference() {
        None => Finding::Good,
        Some(first) => Finding::Differs(first),
    }
}

fn verify(files: &[PathBuf], as_json: bool) -> Done {
    let screen = screen::output();
    let mut out = io::stdout().lock();
    let (mut all_good, mut findings) = (true, Vec::new());
    for file in files {
        let (replay, imported) = load(file)?;
        let finding = match imported {
            None => check(&replay)?,
            Some(imported) => against_record(&imported),
        };
        let steps = replay.steps.len();
        let (word, text) = match &finding {
            Finding::Good => ("verified", format!("{steps} steps")),
            Finding::Cut => ("cut off", format!("the first {steps} steps are verified, the end is missing")),
            Finding::Differs(first) => ("differs from the original", first.clone()),
            Finding::Broken(step, why) => {
                ("altered", format!("breaks at step {} of {steps}: {why}", step + 1))
            }
        };
        all_good &= matches!(finding, Finding::Good);
        if as_json {
            findings.push(json!({ "file": file, "finding": word, "text": text, "steps": steps }));
        } else {
            let word = if matches!(finding, Finding::Good) { screen.good(word) } else { screen.bad(word) };
            writeln!(out, "{}: {word}: {text}", file.display())?;
        }
    }
    if as_json {
        writeln!(out, "{}", Value::from(findings))?;
    }
    if all_good { Ok(()) } else { Err(Failure::Check) }
}

fn show(file: &Path, turn: Option<u32>, view: &str) -> Done {
    let replay = read(file)?;
    let mut session = open(&replay)?;
    let eyes = eyes(view, replay.header.seats.len())?;
    let until = turn.map_or(replay.steps.len(), |turn| turn as usize);
    if until > replay.steps.len() {
        return Err(Failure::usage(format!("--turn {until}: the replay holds {} steps", replay.steps.len())));
    }
    for step in &replay.steps[..until] {
        session.play(&step.answers).map_err(|why| Failure::usage(format!("{}: {why}", file.display())))?;
    }
    let screen = screen::output();
    let mut out = io::stdout().lock();
    write!(out, "{}", screen.picture(&screen::shown(session.picture(eyes))))?;
    let next = match session.outcome() {
        Some(outcome) => format!("over: {}", outcome.reason),
        None => format!("before {}", session.moment()),
    };
    writeln!(out, "{}", screen.dim(&next))?;
    Ok(())
}

/// Shows one frame within a turn, or all.
fn show_frames(file: &Path, turn: usize, frame: &str, view: &str) -> Done {
    let replay = read(file)?;
    let mut session = open(&replay)?;
    let eyes = eyes(view, replay.header.seats.len())?;
    if turn >= replay.steps.len() {
        let last = replay.steps.len().saturating_sub(1);
        return Err(Failure::usage(format!("--turn {turn}: the last turn with frames is {last}")));
    }
    for (number, step) in replay.steps[..=turn].iter().enumerate() {
        if number == turn {
            session.keep_events();
        }
        session.play(&step.answers).map_err(|why| Failure::usage(format!("{}: {why}", file.display())))?;
    }
    let frames = session.frames(eyes);
    let chosen = match frame.parse::<usize>() {
        _ if frames.is_empty() => {
            let info = session.info();
            return Err(Failure::usage(format!("a {} of {} has no frames", info.step, info.title)));
        }
        Ok(number) if number < frames.len() => &frames[number..=number],
        Err(_) if frame == "all" => &frames[..],
        _ => {
            let last = frames.len() - 1;
            return Err(Failure::usage(format!(
                "--frame {frame}: turn {turn} has the frames 0 to {last}, or all"
            )));
        }
    };
    let screen = screen::output();
    let mut out = io::stdout().lock();
    chosen
        .iter()
        .try_for_each(|picture| writeln!(out, "{}", screen.picture(picture).trim_end_matches('\n')))?;
    Ok(())
}

fn export(options: &ExportOptions) -> Done {
    let replay = read(&options.file)?;
    let original = match options.format {
        Some(ExportFormat::Original(game)) if game != replay.header.game => {
            let title = game_of(&replay.header)?.info().title;
            return Err(Failure::usage(format!("--format {game}: this is a replay of {title}")));
        }
        Some(ExportFormat::Original(_)) => Some(import::export(&replay)?),
        _ => None,
    };
    let mut out: Box<dyn Write> = match &options.output {
        None => Box::new(io::stdout().lock()),
        Some(path) => {
            let file =
                File::create(path).map_err(|error| Failure::own(format!("{}: {error}", path.display())))?;
            Box::new(BufWriter::new(file))
        }
    };
    match options.format {
        Some(ExportFormat::Json) => export_json(&replay, &mut out)?,
        Some(ExportFormat::Html) => crate::watch::page(replay, options.private, &mut out)?,
        Some(ExportFormat::Original(_)) => out.write_all(&original.unwrap_or_default())?,
        None => export_input(&replay, options, &mut out)?,
    }
    out.flush()?;
    Ok(())
}

/// The exact bytes a seat read, with line feeds behind its messages.
fn export_input(replay: &Replay, options: &ExportOptions, out: &mut impl Write) -> Done {
    let seats = replay.header.seats.len();
    let seat = options.seat.filter(|&seat| (1..=seats).contains(&usize::from(seat)));
    let seat =
        Seat::new(seat.ok_or_else(|| Failure::usage(format!("--seat: write a seat from 1 to {seats}")))? - 1);
    let mut session = open(replay)?;
    let mut asked = 0;
    let mut message = Vec::new();
    let mut steps = replay.steps.iter();
    while !session.deciding().is_empty() {
        // Every seat is asked, because a dialect remembers what it has sent.
        for other in session.deciding().iter() {
            message.clear();
            session.ask(other, &mut message);
            if other == seat {
                out.write_all(&message)?;
                out.write_all(b"\n")?;
                asked += 1;
            }
        }
        if options.until.is_some_and(|until| asked >= until) {
            break;
        }
        let Some(step) = steps.next() else { break };
        session.play(&step.answers).map_err(Failure::Usage)?;
    }
    Ok(())
}

/// Every turn: the state, who was asked, what was answered, what happened.
fn export_json(replay: &Replay, out: &mut impl Write) -> Done {
    let mut session = open(replay)?;
    session.keep_events();
    let fail = |error: serde_json::Error| Failure::own(error.to_string());
    let mut header = serde_json::to_value(&replay.header).map_err(fail)?;
    header["start"] = session.scene();
    let header = serde_json::to_string(&header).map_err(fail)?;
    // One step a line, so that large replays need little memory here and at the reader.
    write!(out, "{{\"header\":{header},\n\"steps\":[")?;
    for (number, step) in replay.steps.iter().enumerate() {
        let number_u32 = number as u32;
        let moment = session.moment();
        let answers: Vec<Value> = step
            .answers
            .iter()
            .map(|(seat, answer)| {
                let mut text = Vec::new();
                let known = answer.order().is_some_and(|order| session.say(*seat, order, &mut text));
                let timing = replay.timing.get(&(number_u32, *seat));
                json!({
                    "seat": seat.number(),
                    "answer": known.then(|| String::from_utf8_lossy(&text).into_owned()),
                    "missing": match answer {
                        Answer::Missing(absence) => Some(format!("{absence:?}")),
                        Answer::Malformed { why, .. } => Some(format!("malformed: {why}")),
                        Answer::Given { .. } => None,
                    },
                    "raw": replay.notes_of(*seat, number_u32, "raw").collect::<Vec<_>>().first(),
                    "stderr": replay.notes_of(*seat, number_u32, "stderr").collect::<String>(),
                    "wall_us": timing.map(|timing| timing.wall_us),
                    "cpu_us": timing.and_then(|timing| timing.cpu_us),
                })
            })
            .collect();
        session.play(&step.answers).map_err(Failure::Usage)?;
        let rejected: Vec<Value> = session
            .rejections()
            .iter()
            .map(|one| json!({ "seat": one.seat.number(), "order": one.index, "rule": one.rule, "why": one.why }))
            .collect();
        let line = json!({
            "step": number, "moment": moment, "answers": answers, "rejected": rejected,
            "events": session.events(), "state": session.scene(),
        });
        write!(out, "{}\n{line}", if number > 0 { "," } else { "" })?;
    }
    let end = serde_json::to_string(&replay.end).map_err(fail)?;
    writeln!(out, "],\n\"end\":{end}}}")?;
    Ok(())
}
