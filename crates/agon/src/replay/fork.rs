//! `agon replay fork`: what would today's bot have done?
//!
//! The bot is led through a recorded match, question by question, up to a turn, and plays from there on. On the way its
//! answers are compared with the recorded ones.

use agon_desk::replays::TurnCount;
use std::io::{self, Write as _};
use std::path::PathBuf;

use agon_desk::replays::{open, read};
use agon_desk::seats::{header, labels, names, seat_all, seat_of};
use agon_game::{PackedAnswer, Seat, Session};
use agon_match::record::Void;
use agon_match::{MatchRecord, Observer, Recorder, StepReport, Terms, play_on};
use agon_replay::Replay;
use clap::Args;

use crate::common::sandbox::SandboxOptions;
use crate::common::screen;
use crate::common::seats::{self, ReplayFile, tell_all_notes};
use crate::common::{self, ClockOptions, Done, Failure};
use crate::replay::json::{Fork, OtherAnswer};
use crate::replay::verify::{self, Finding};

/// Examples for the help.
pub const EXAMPLES: &str =
    "Up to the turn everything happens as recorded; all bots are asked, so that they know the match, but
their answers are only compared. From that turn on they play.

Examples:
  agon replay fork lost.replay bot.py --seat 1 --turn 40
  agon replay fork lost.replay ./new --seat 2 --turn 0 --against ./stronger
  agon replay fork lost.replay ./new --seat 1 --turn last      only compares, through the whole match";

/// Options of `agon replay fork`.
#[derive(Args, Debug)]
pub struct ForkOptions {
    /// The replay
    pub file: PathBuf,
    /// The bot that takes the seat
    pub bot: String,
    /// The seat it takes
    #[arg(long, value_name = "N")]
    pub seat: u8,
    /// The turn from which it plays, counted as in `agon replay show`; `last`: its answers are only
    /// compared
    #[arg(long, short, value_name = "T")]
    pub turn: String,
    /// The bots of the other seats, in order [default: those of the replay]
    #[arg(long, value_name = "BOT")]
    pub against: Vec<String>,
    /// Where the replay of the new match goes [default: a new file in ./agon-replays]
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Prints the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub clock: ClockOptions,
    #[command(flatten)]
    pub sandbox: SandboxOptions,
}

/// How often a match with an unfair clock is played.
const TRIES: u32 = 3;

/// Runs `agon replay fork`.
pub fn run(options: &ForkOptions) -> Done {
    let old = read(&options.file)?;
    let shown = options.file.display();
    match verify::check(&old)? {
        Finding::Good | Finding::Cut => {}
        Finding::Differs(why) | Finding::Unreadable(why) => {
            return Err(Failure::usage(format!("{shown}: {why}")));
        }
        Finding::Broken(step, why) => {
            return Err(Failure::usage(format!("{shown}: altered at step {}: {why}", step + 1)));
        }
    }
    let seat = seat_of(&old, options.seat)?;
    let count = TurnCount::of(&old);
    let turn = turn(&options.turn, old.steps.len(), count)?;
    let names = names(&options.bot, &options.against, &old, seat)?;
    let names = common::bots(&names, &options.sandbox.bots())?;
    let labels = labels(&names);
    let given: Vec<Vec<(Seat, PackedAnswer)>> =
        old.steps[..turn].iter().map(|step| step.answers.clone()).collect();
    let stop = common::stop_on_ctrl_c();
    for attempt in 1.. {
        let mut session = open(&old)?;
        let clock = options.clock.clock()?;
        if !options.json {
            tell_all_notes(session.as_ref(), &names);
        }
        let mut players = seat_all(session.as_mut(), &names, clock, options.clock.ponder())?;
        // What was played before is not their work.
        let word = session.info().step;
        let since = |label: &String| match turn {
            0 => label.clone(),
            _ => format!("{label} (from {word} {})", count.turn(turn as u32)),
        };
        let labels_since: Vec<String> = labels.iter().map(since).collect();
        let header = header(session.as_ref(), &names, &labels_since, clock);
        let (mut file, recorder) = ReplayFile::begin(options.replay.as_deref(), &header)?;
        let mut compare = Compare { seat, old: &old, recorder, asked: 0, same: 0, first: None, chosen: None };
        let terms = Terms { given: &given, ..Terms::new(clock, options.clock.ponder(), stop) };
        let record = play_on(session.as_mut(), &mut players, &labels, &mut compare, &terms);
        drop(players);
        let Compare { recorder, asked, same, first, chosen, .. } = compare;
        recorder.finish(session.as_mut(), &record)?;
        let late = record.void.as_ref().is_some_and(|void| void.unfair().is_some());
        file.keep(&record, late && attempt < TRIES);
        if late && attempt < TRIES {
            continue;
        }
        let seen = Seen { asked, same, first, chosen };
        return report(options, &old, turn, session.as_ref(), &labels, &record, &seen, file.path());
    }
    unreachable!("the last try returns")
}

/// The step from which a bot plays.
fn turn(text: &str, steps: usize, count: TurnCount) -> Result<usize, Failure> {
    match text.parse::<u32>().map(|turn| count.step(turn) as usize) {
        _ if text == "last" => Ok(steps),
        Ok(step) if step <= steps => Ok(step),
        _ => Err(Failure::usage(format!(
            "--turn {text}: write a number from {} to {}, or `last`",
            count.first(),
            count.turn(steps as u32)
        ))),
    }
}

/// Records the new match and compares the bot's answers with the recorded ones.
struct Compare<'a, W: io::Write> {
    seat: Seat,
    old: &'a Replay,
    recorder: Recorder<W>,
    /// How often it was asked on the way.
    asked: u32,
    /// How often it answered as recorded.
    same: u32,
    /// Its first different answer on the way.
    first: Option<OtherAnswer>,
    /// Its first answer that was played.
    chosen: Option<OtherAnswer>,
}

struct Seen {
    asked: u32,
    same: u32,
    first: Option<OtherAnswer>,
    chosen: Option<OtherAnswer>,
}

impl<W: io::Write> Observer for Compare<'_, W> {
    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        let own = |answers: &[(Seat, PackedAnswer)]| {
            answers.iter().find(|(seat, _)| *seat == self.seat).map(|(_, answer)| answer.clone())
        };
        let recorded = self.old.steps.get(step.step as usize).and_then(|step| own(&step.answers));
        let now = own(step.instead_of.unwrap_or(step.answers));
        if let (Some(recorded), Some(now)) = (recorded, now) {
            let same = recorded.order().is_some() && recorded.order() == now.order();
            let difference = || OtherAnswer {
                step: step.step,
                recorded: text(session, self.seat, &recorded),
                now: text(session, self.seat, &now),
            };
            if step.instead_of.is_some() {
                self.asked += 1;
                self.same += u32::from(same);
                if !same && self.first.is_none() {
                    self.first = Some(difference());
                }
            } else if self.chosen.is_none() {
                self.chosen = Some(difference());
            }
        }
        self.recorder.stepped(session, step)
    }
}

/// An answer as it is quoted. In brackets is why there is none.
fn quoted(answer: &str) -> String {
    if answer.starts_with('(') { answer.to_owned() } else { format!("`{answer}`") }
}

/// An answer in the game's own words.
fn text(session: &dyn Session, seat: Seat, answer: &PackedAnswer) -> String {
    screen::harmless(&agon_desk::feed::text(session, seat, answer)).chars().take(200).collect()
}

#[expect(clippy::too_many_arguments, reason = "all that is to be told")]
fn report(
    options: &ForkOptions,
    old: &Replay,
    turn: usize,
    session: &dyn Session,
    labels: &[String],
    record: &MatchRecord,
    seen: &Seen,
    replay: &std::path::Path,
) -> Done {
    let count = TurnCount::of(old);
    let screen = screen::output();
    let mut out = io::stdout().lock();
    let before = old.end.as_ref().and_then(|end| end.outcome.as_ref());
    let result = record.result(session, labels, Some(replay.display().to_string()));
    if options.json {
        let fork = Fork {
            turn: count.turn(turn as u32) as usize,
            asked: seen.asked,
            same: seen.same,
            first_difference: seen.first.as_ref(),
            first_choice: seen.chosen.as_ref(),
            recorded: before,
            result,
        };
        common::print_json(&mut out, &fork)?;
    } else {
        let word = session.info().step;
        let bot = screen
            .seat(Seat::new(options.seat - 1), &screen::harmless(&labels[usize::from(options.seat) - 1]));
        if seen.asked > 0 {
            writeln!(
                out,
                "Before {word} {}, {bot} repeated {} of the {} recorded answers.",
                count.turn(turn as u32),
                seen.same,
                seen.asked
            )?;
        }
        if let Some(OtherAnswer { step, recorded, now }) = &seen.first {
            writeln!(
                out,
                "  first different answer at {word} {}: {} instead of {}",
                count.turn(*step),
                quoted(now),
                quoted(recorded)
            )?;
        }
        if let Some(OtherAnswer { step, recorded, now }) = &seen.chosen {
            let other = if now == recorded {
                "as recorded".to_owned()
            } else {
                format!("recorded: {}", quoted(recorded))
            };
            writeln!(
                out,
                "  its first answer that was played, at {word} {}: {} ({other})",
                count.turn(*step),
                quoted(now)
            )?;
        }
        writeln!(out)?;
        let ends = |outcome: &agon_game::Outcome, steps: usize, labels: &dyn Fn(Seat) -> String| {
            let who = outcome.winner().map_or("draw".to_owned(), |seat| format!("{} wins", labels(seat)));
            let scores: Vec<String> = outcome.scores.iter().map(|value| screen::score(*value)).collect();
            let more = if steps == 1 { "" } else { "s" };
            format!(
                "{who}, {} after {steps} {word}{more}: {}",
                scores.join(" : "),
                screen::harmless(&outcome.reason)
            )
        };
        match before {
            Some(outcome) => {
                let label = |seat: Seat| screen::harmless(&old.header.seats[seat.index()].label);
                writeln!(out, "recorded  {}", ends(outcome, old.steps.len(), &label))?;
            }
            None => writeln!(out, "recorded  no result")?,
        }
        match &record.outcome {
            Some(outcome) => {
                let label = |seat: Seat| screen::harmless(&labels[seat.index()]);
                writeln!(out, "now       {}", screen.strong(&ends(outcome, record.steps as usize, &label)))?;
            }
            None => writeln!(out, "now       {}", screen.bad(&record.void_sentence().unwrap_or_default()))?,
        }
        for fault in &record.faults {
            let bot = screen::harmless(&labels[fault.seat.index()]);
            writeln!(
                out,
                "  {bot}, {}: {}: {}",
                fault.turn,
                fault.kind.word(),
                screen::harmless(&fault.message)
            )?;
            screen::quote(&mut out, screen, &fault.stderr)?;
        }
        seats::rejections(&mut out, screen, record, labels)?;
        writeln!(out, "\nReplay: {}", replay.display())?;
    }
    match &record.void {
        None => Ok(()),
        Some(Void::Stopped) => Err(Failure::Stopped),
        Some(_) => Err(Failure::own(record.void_sentence().unwrap_or_default())),
    }
}
