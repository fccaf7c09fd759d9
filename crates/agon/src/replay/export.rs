//! `agon replay export`: converts a replay to another form.

use agon_desk::replays::TurnCount;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use agon_bot::rights;
use agon_desk::replays::{game_of, open, read};
use agon_game::{Answer, Seat};
use agon_replay::Replay;
use agon_replay::asked::AskedAgain;
use agon_replay::data::note;
use clap::Args;

use crate::common::screen;
use crate::common::{Done, Failure};
use crate::replay::{import, json};

/// Options of `agon replay export`.
#[derive(Args, Debug)]
pub struct ExportOptions {
    /// The replay
    pub file: PathBuf,
    /// The form: json, html, spec, or the name of a game for the format of its original
    #[arg(long, value_name = "json|html|spec|GAME", value_parser = export_format, required_unless_present = "input", conflicts_with = "input")]
    pub format: Option<ExportFormat>,
    /// For html: keeps the output of the bots, and how they were started
    #[arg(long, requires = "format")]
    pub private: bool,
    /// For html: puts the engines in, so that the page analyses the match and plays on from any turn (1 MB instead of 0.2)
    #[arg(long, requires = "format")]
    pub engines: bool,
    /// For spec: the turn that becomes a section of a spec file, from 1
    #[arg(long, short, value_name = "T", conflicts_with = "input")]
    pub turn: Option<u32>,
    /// For spec: the rule it is about [default: that of the first order it rejected]
    #[arg(long, value_name = "ID", requires = "turn")]
    pub rule: Option<String>,
    /// Writes the exact bytes that the bot of --seat read
    #[arg(long, requires = "seat")]
    pub input: bool,
    /// The seat whose input to write
    #[arg(long, value_name = "N")]
    pub seat: Option<u8>,
    /// Up to and including the bot's Tth question (its own turns are counted, not the match's)
    #[arg(long, value_name = "T", requires = "input")]
    pub until: Option<u32>,
    /// The output file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl ExportOptions {
    /// Whether nothing in it belongs to one bot alone.
    fn is_for_others(&self) -> bool {
        match self.format {
            Some(ExportFormat::Html) => !self.private,
            Some(ExportFormat::Spec | ExportFormat::Original(_)) => true,
            Some(ExportFormat::Json) | None => false,
        }
    }
}

/// Forms of an exported replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Everything as JSON.
    Json,
    /// One self-contained page to send to others; what belongs to one bot is left out.
    Html,
    /// One turn as a section of a spec file: a test of the rules, for a game's `spec/` folder.
    Spec,
    /// The format in which the original of this game records matches.
    Original(&'static str),
}
fn export_format(text: &str) -> Result<ExportFormat, String> {
    match (text, agon_games::find(text)) {
        ("json", _) => Ok(ExportFormat::Json),
        ("html", _) => Ok(ExportFormat::Html),
        ("spec", _) => Ok(ExportFormat::Spec),
        (_, Some(game)) => Ok(ExportFormat::Original(game.info().name)),
        _ => Err("write json, html, spec, or the name of the replay's game".to_owned()),
    }
}
/// Runs `agon replay export`.
pub fn export(options: &ExportOptions) -> Done {
    let replay = read(&options.file)?;
    let ready = match options.format {
        Some(ExportFormat::Original(game)) if game != replay.header.game => {
            let title = game_of(&replay.header)?.info().title;
            return Err(Failure::usage(format!("--format {game}: this is a replay of {title}")));
        }
        Some(ExportFormat::Original(_)) => Some(import::export(&replay)?),
        Some(ExportFormat::Spec) => Some(section(&replay, options)?.into_bytes()),
        _ => None,
    };
    if options.turn.is_some() && options.format != Some(ExportFormat::Spec) {
        return Err(Failure::usage("--turn: only --format spec takes one turn out of a match"));
    }
    let mut out: Box<dyn Write> = match &options.output {
        None => Box::new(io::stdout().lock()),
        Some(path) => {
            let file = match options.is_for_others() {
                true => rights::create_public(path),
                false => rights::create_private(path),
            };
            let file = file.map_err(|error| Failure::own(format!("{}: {error}", path.display())))?;
            Box::new(BufWriter::new(file))
        }
    };
    match options.format {
        Some(ExportFormat::Json) => export_json(&replay, &mut out)?,
        Some(ExportFormat::Html) => page(replay, options, &mut out)?,
        Some(ExportFormat::Original(_) | ExportFormat::Spec) => out.write_all(&ready.unwrap_or_default())?,
        None => export_input(&replay, options, &mut out)?,
    }
    out.flush()?;
    Ok(())
}

/// One turn as a section of a spec file.
fn section(replay: &Replay, options: &ExportOptions) -> Result<String, Failure> {
    let turn = options.turn.ok_or_else(|| Failure::usage("--format spec: name the turn with --turn T"))?;
    // Sections count steps from 1.
    let turn = TurnCount::of(replay).step(turn).saturating_add(1);
    agon_view::section(replay, turn, options.rule.as_deref()).map_err(Failure::Usage)
}

/// Writes the exact bytes a seat read, with a line feed after each message.
fn export_input(replay: &Replay, options: &ExportOptions, out: &mut impl Write) -> Done {
    let seats = replay.header.seats.len();
    let seat = options.seat.filter(|&seat| (1..=seats).contains(&usize::from(seat)));
    let seat =
        Seat::new(seat.ok_or_else(|| Failure::usage(format!("--seat: write a seat from 1 to {seats}")))? - 1);
    let mut again = AskedAgain::new(open(replay)?, replay);
    let mut asked = 0;
    loop {
        let mut written = Ok(());
        again.ask(|other, message| {
            if other == seat {
                written = out.write_all(message).and_then(|()| out.write_all(b"\n"));
                asked += 1;
            }
        });
        written?;
        if options.until.is_some_and(|until| asked >= until) {
            return Ok(());
        }
        if !again.play().map_err(Failure::Usage)? {
            break;
        }
    }
    // Bots that are still there are told how it ended, if the protocol does so.
    let counts = replay.end.as_ref().is_some_and(|end| end.outcome.is_some());
    if counts && again.was_asked(seat) {
        let mut message = Vec::new();
        again.session().end(seat, &import::facts(replay), &mut message);
        if !message.is_empty() {
            out.write_all(&message)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// Writes every turn: the state, who was asked, what was answered, what happened.
fn export_json(replay: &Replay, out: &mut impl Write) -> Done {
    let mut session = open(replay)?;
    session.keep_events();
    let fail = |error: serde_json::Error| Failure::own(error.to_string());
    let text = |json: String| screen::harmless_json(&json);
    let mut header = serde_json::to_value(&replay.header).map_err(fail)?;
    header["start"] = session.scene();
    let header = serde_json::to_string(&header).map(text).map_err(fail)?;
    // One step a line, so that large replays take little memory here and in the reader.
    write!(out, "{{\"header\":{header},\n\"steps\":[")?;
    for (number, step) in replay.steps.iter().enumerate() {
        let number_u32 = number as u32;
        let moment = session.moment();
        let answers = step
            .answers
            .iter()
            .map(|(seat, answer)| {
                let mut text = Vec::new();
                let known = answer.order().is_some_and(|order| session.say(*seat, order, &mut text));
                let timing = replay.timing.get(&(number_u32, *seat));
                json::Answer {
                    seat: seat.number(),
                    answer: known.then(|| String::from_utf8_lossy(&text).into_owned()),
                    missing: match answer {
                        Answer::Missing(absence) => Some(format!("{absence:?}")),
                        Answer::Malformed { why, .. } => Some(format!("malformed: {why}")),
                        Answer::Given { .. } => None,
                    },
                    raw: replay.notes_of(*seat, number_u32, note::RAW).next().map(str::to_owned),
                    stderr: replay.notes_of(*seat, number_u32, note::STDERR).collect(),
                    wall_us: timing.map(|timing| timing.wall_us),
                    cpu_us: timing.and_then(|timing| timing.cpu_us),
                }
            })
            .collect();
        session.play(&step.answers).map_err(Failure::Usage)?;
        let rejected = session.rejections().iter().map(|one| json::Rejected {
            seat: one.seat.number(),
            order: one.index,
            rule: one.rule,
            why: one.why.clone(),
        });
        let line = json::Step {
            step: number,
            moment,
            answers,
            rejected: rejected.collect(),
            events: session.events(),
            state: session.scene(),
        };
        let line = serde_json::to_string(&line).map(text).map_err(fail)?;
        write!(out, "{}\n{line}", if number > 0 { "," } else { "" })?;
    }
    let end = serde_json::to_string(&replay.end).map(text).map_err(fail)?;
    writeln!(out, "],\n\"end\":{end}}}")?;
    Ok(())
}

fn page(replay: Replay, options: &ExportOptions, to: &mut impl io::Write) -> Done {
    use agon_web::{Privacy, page};
    let privacy = if options.private { Privacy::Private } else { Privacy::Redacted };
    let written = match options.engines {
        true => page::write_with_engines(replay, privacy, to),
        false => page::write(replay, privacy, to),
    };
    written.map_err(|error| match error {
        agon_web::page::PageError::Io(error) => error.into(),
        other => Failure::usage(other.to_string()),
    })
}
