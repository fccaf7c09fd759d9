//! What a bot answers to a recorded match: `agon replay feed`, and what `agon check --against` runs.
//!
//! The referee plays as always, but with a [`Rerun`] for a session: whatever the bot answers, the match goes on as
//! recorded, so that the bot meets every turn of it.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use agon_bot::BotName;
use agon_game::{
    Absence, Answer, AnyGame, ByHand, Facts, GameInfo, Heard, Kit, Outcome, PackedAnswer, Picture, Position,
    Recipe, Rejection, Seat, Seats, Seeded, Session, Standing,
};
use agon_match::record::Void;
use agon_match::{Clock, Fault, Observer, Player, StepReport, Terms, seat_player};
use agon_replay::asked::Asked;
use agon_replay::{Replay, Step};
use clap::Args;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::PathBuf;

use crate::common::sandbox::SandboxOptions;
use crate::common::screen::{self, Screen, harmless, milliseconds};
use crate::common::seats::game_of;
use crate::common::{self, ClockOptions, Done, Failure};
use crate::replay::json::{Fed, FedTurn};
use crate::replay::{open, read};

/// Options of `agon replay feed`.
#[derive(Args, Debug)]
pub struct FeedOptions {
    /// The replay: ours, or one of the original
    pub file: PathBuf,
    /// The bot
    pub bot: String,
    /// The seat it takes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seat: u8,
    /// Only this turn, with both answers in full; counted as in `replay show`
    #[arg(long, short, value_name = "T")]
    pub turn: Option<u32>,
    #[command(flatten)]
    pub clock: ClockOptions,
    #[command(flatten)]
    pub sandbox: SandboxOptions,
    /// Prints every answer as JSON
    #[arg(long)]
    pub json: bool,
}

/// Feeds a recorded match to a bot and shows its answers beside the recorded ones.
///
/// Exit code 1 when the bot made a fault as a program; a different answer is not a fault. `wanted` is the game
/// that the match must be of.
pub fn run(options: &FeedOptions, wanted: Option<&dyn AnyGame>) -> Done {
    let replay = read(&options.file)?;
    let info = game_of(&replay.header)?.info();
    if let Some(wanted) = wanted.filter(|wanted| wanted.info().name != info.name) {
        let (file, wanted) = (options.file.display(), wanted.info().title);
        return Err(Failure::usage(format!("{file}: this is a match of {}, not of {wanted}", info.title)));
    }
    let seat = seat_of(&replay, options.seat)?;
    if let Some(turn) = options.turn {
        check_turn(&replay, seat, turn)?;
    }
    let name = common::bot(&options.bot, &options.sandbox.bots())?;
    let until = options.turn.map_or(replay.steps.len(), |turn| turn as usize + 1);
    let inner = Asked::with(open(&replay)?, &replay, seat);
    let mut session = Rerun { inner, until, fed: seat, asked: false, lost: false };
    let mut players = seat_bot(&mut session, &name, seat, options.clock.clock()?)?;
    let screen = screen::output();
    if !options.json {
        let then = harmless(&replay.header.seats[seat.index()].label);
        let title = format!("{} · seat {seat}, then {then}", info.title);
        writeln!(io::stdout(), "{}", screen.strong(&title))?;
    }
    let mut beside = Beside {
        replay: &replay,
        seat,
        only: options.turn,
        screen,
        json: options.json.then(Vec::new),
        counts: Counts::default(),
        moment: session.moment(),
    };
    let record = agon_match::play(
        &mut session,
        &mut players,
        &[name.label()],
        options.clock.clock()?,
        options.clock.ponder(),
        &mut beside,
        common::stop_on_ctrl_c(),
    );
    drop(players);
    let Beside { json, counts, .. } = beside;
    let faults = &record.faults;
    let mut out = io::stdout().lock();
    if let Some(turns) = json {
        let fed = Fed {
            game: info.name,
            seat: seat.number(),
            bot: &options.bot,
            turns,
            same: counts.same,
            differ: counts.differ,
            faults,
            void: record.void_sentence(),
        };
        common::print_json_line(&mut out, &fed)?;
    } else {
        let Counts { same, differ } = counts;
        let more = match faults.len() {
            0 => "no fault".to_owned(),
            1 => screen.bad("1 fault"),
            many => screen.bad(&format!("{many} faults")),
        };
        let answers = if same + differ == 1 { "answer" } else { "answers" };
        writeln!(out, "\n{} {answers}: {same} as then, {differ} different, {more}", same + differ)?;
        if session.lost && session.steps() < until as u32 {
            let rest = until as u32 - session.steps();
            writeln!(out, "{}", screen.bad(&format!("the last {rest} turns were not fed: no answer came")))?;
        }
    }
    match &record.void {
        Some(agon_match::record::Void::Stopped) => Err(Failure::Check),
        Some(_) => Err(Failure::own(record.void_sentence().unwrap_or_default())),
        None if faults.is_empty() => Ok(()),
        None => Err(Failure::Check),
    }
}

/// The seat given by `--seat`.
pub fn seat_of(replay: &Replay, number: u8) -> Result<Seat, Failure> {
    let seats = replay.header.seats.len();
    match (1..=seats).contains(&usize::from(number)) {
        true => Ok(Seat::new(number - 1)),
        false => Err(Failure::usage(format!("--seat {number}: write a seat from 1 to {seats}"))),
    }
}

/// Refuses a turn, from 0, at which a seat does not answer.
pub fn check_turn(replay: &Replay, seat: Seat, turn: u32) -> Done {
    let decides = |step: &Step| step.answers.iter().any(|(other, _)| *other == seat);
    if replay.steps.get(turn as usize).is_some_and(decides) {
        return Ok(());
    }
    let last = replay.steps.len().saturating_sub(1);
    Err(Failure::usage(format!(
        "--turn {turn}: seat {seat} answers nothing then; the replay holds the turns 0 to {last}"
    )))
}

/// A bot's answer at one turn of a recorded match.
pub struct Answered {
    /// The place in the match, in the game's words.
    pub moment: String,
    /// The answer, as its protocol writes it; none when the bot did not get that far.
    pub now: Option<String>,
    /// Its faults as a program, up to there.
    pub faults: Vec<Fault>,
    /// Why it does not count, if so.
    pub void: Option<Void>,
}

/// Asks a bot all the questions of a seat up to a turn, from 0, and returns its answer to the last of them.
pub fn answer(
    replay: &Replay,
    name: &BotName,
    seat: Seat,
    turn: u32,
    terms: &Terms<'_>,
) -> Result<Answered, Failure> {
    let inner = Asked::with(open(replay)?, replay, seat);
    let mut session = Rerun { inner, until: turn as usize + 1, fed: seat, asked: false, lost: false };
    let mut players = seat_bot(&mut session, name, seat, terms.clock)?;
    let mut last = LastAnswer { seat, turn, moment: session.moment(), now: None };
    let record = agon_match::play_on(&mut session, &mut players, &[name.label()], &mut last, terms);
    drop(players);
    let LastAnswer { moment, now, .. } = last;
    Ok(Answered { moment, now, faults: record.faults, void: record.void })
}

/// Records the answer at one turn.
struct LastAnswer {
    seat: Seat,
    turn: u32,
    /// Where the match is; at the end, where that turn was.
    moment: String,
    now: Option<String>,
}

impl Observer for LastAnswer {
    fn stepped(&mut self, session: &mut dyn Session, report: &StepReport<'_>) -> io::Result<()> {
        match report.answers.iter().find(|(seat, _)| *seat == self.seat) {
            _ if report.step < self.turn => self.moment = session.moment(),
            Some((seat, answer)) => self.now = Some(text(session, *seat, answer)),
            None => {}
        }
        Ok(())
    }
}

/// Seats the bot; the others need no program, because their answers are recorded.
fn seat_bot(
    session: &mut Rerun<'_>,
    name: &BotName,
    seat: Seat,
    clock: Clock,
) -> Result<Vec<Player>, Failure> {
    if let Ok(Some(launch)) = agon_bot::Launch::of(name) {
        launch.notes.iter().for_each(|note| eprintln!("note: {}", harmless(note)));
    }
    let seats = session.recipe().seats;
    let mut players: Vec<Player> = (0..seats).map(|_| Player::Builtin).collect();
    players[seat.index()] = seat_player(session, name, seat, None, clock)?;
    Ok(players)
}

/// A recorded match that goes on as it did, whatever the bot answers now. The others' messages are computed again too:
/// what they said besides their orders, such as the name of a team, may be passed on to the fed bot.
struct Rerun<'a> {
    inner: Asked<'a>,
    /// The number of steps to feed.
    until: usize,
    fed: Seat,
    /// Whether the others were asked at this step.
    asked: bool,
    /// Whether the bot owes an answer: anything it says later would be taken for the answer of another turn.
    lost: bool,
}

impl Rerun<'_> {
    /// Asks the deciding seats before the fed one, or those after it.
    fn ask_others(&mut self, before: bool) {
        for seat in self.inner.view().deciding().iter().filter(|seat| (*seat < self.fed) == before) {
            self.inner.ask_one(seat);
        }
    }
}

/// Functions of a session that a [`Rerun`] leaves to the recorded match; those after `&mut` change it.
macro_rules! forward {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*
     &mut $($change:ident($($given:ident: $kind:ty),*) -> $outcome:ty;)*) => {
        $(fn $name(&self $(, $arg: $type)*) -> $result { self.inner.view().$name($($arg),*) })*
        $(fn $change(&mut self $(, $given: $kind)*) -> $outcome { self.inner.session().$change($($given),*) })*
    };
}

impl Session for Rerun<'_> {
    fn play(&mut self, answers: &[(Seat, PackedAnswer)]) -> Result<(), String> {
        let missing = |answer: &PackedAnswer| {
            matches!(answer, Answer::Missing(Absence::TimedOut | Absence::Gone | Absence::NeverStarted))
        };
        self.lost |= answers.iter().any(|(seat, answer)| *seat == self.fed && missing(answer));
        if !std::mem::take(&mut self.asked) {
            self.ask_others(true);
            self.ask_others(false);
        }
        self.inner.play().map(|_| ())
    }

    fn deciding(&self) -> Seats {
        match self.inner.steps() >= self.until || self.lost {
            true => Seats::NONE,
            false => self.inner.view().deciding(),
        }
    }

    fn ask(&mut self, seat: Seat, out: &mut Vec<u8>) {
        self.ask_others(true);
        self.inner.session().ask(seat, out);
        self.ask_others(false);
        self.asked = true;
    }

    fn think(&mut self, seat: Seat) -> Vec<u8> {
        // The others are not asked: their answers are in the record.
        if seat == self.fed { self.inner.session().think(seat) } else { Vec::new() }
    }

    fn rejections(&self) -> &[Rejection] {
        // They belong to the recorded answers, for which this bot is not to blame.
        &[]
    }

    forward! {
        info() -> &'static GameInfo;
        kit() -> Kit;
        by_hand() -> &dyn ByHand;
        recipe() -> &Recipe;
        steps() -> u32;
        moment() -> String;
        limit_ms(seat: Seat) -> u32;
        soft_limit_ms() -> Option<u32>;
        pauses_ms() -> [u32; 2];
        say(seat: Seat, order: &[u8], out: &mut Vec<u8>) -> bool;
        public(order: &[u8]) -> Option<Vec<u8>>;
        registered(seat: Seat) -> Option<String>;
        stray(seat: Seat, chance: &mut Seeded) -> Vec<u8>;
        standing() -> Standing;
        events() -> Vec<Value>;
        events_json() -> Box<RawValue>;
        frames_json() -> Option<Box<RawValue>>;
        frame_count() -> u32;
        position() -> Position;
        determinized(at: &Position, seat: Seat, shown: &mut dyn Iterator<Item = &Position>, chance: &mut Seeded) -> Option<Position>;
        outcome() -> Option<&Outcome>;
        picture(eyes: Option<Seat>) -> Picture;
        frames(eyes: Option<Seat>) -> Vec<Picture>;
        scene() -> Value;
        &mut
        hear(seat: Seat, message: &[u8]) -> Heard<Vec<u8>>;
        announce(seat: Seat, name: String) -> ();
        seat_builtin(seat: Seat, name: &str, options: &[(String, String)], seed: u64) -> Result<(), String>;
        redraw(seed: i64) -> ();
        go_to(position: &Position) -> bool;
        keep_events() -> ();
        end(seat: Seat, facts: &Facts, out: &mut Vec<u8>) -> ();
        hash() -> u64;
    }
}

/// How many answers equal the recorded ones.
#[derive(Clone, Copy, Default)]
struct Counts {
    same: u32,
    differ: u32,
}

/// Shows each answer beside the recorded one.
struct Beside<'a> {
    replay: &'a Replay,
    seat: Seat,
    /// The only turn to show.
    only: Option<u32>,
    screen: Screen,
    /// The turns so far, for JSON.
    json: Option<Vec<FedTurn>>,
    counts: Counts,
    /// Where the match was before this step.
    moment: String,
}

impl Observer for Beside<'_> {
    fn stepped(&mut self, session: &mut dyn Session, report: &StepReport<'_>) -> io::Result<()> {
        let moment = std::mem::replace(&mut self.moment, session.moment());
        let of = |answers: &[(Seat, PackedAnswer)]| {
            answers.iter().position(|(seat, _)| *seat == self.seat).map(|place| answers[place].1.clone())
        };
        let then = of(&self.replay.steps[report.step as usize].answers);
        let (Some(then), Some(now)) = (then, of(report.answers)) else { return Ok(()) };
        if self.only.is_some_and(|only| only != report.step) {
            return Ok(());
        }
        let take = report.answers.iter().zip(report.takes).find(|((seat, _), _)| *seat == self.seat);
        let take = take.map(|(_, take)| take.clone()).unwrap_or_default();
        let (then, now) = (text(session, self.seat, &then), text(session, self.seat, &now));
        let same = then == now;
        *(if same { &mut self.counts.same } else { &mut self.counts.differ }) += 1;
        let ms = take.timed.then_some(take.wall.as_secs_f64() * 1e3);
        let stderr = String::from_utf8_lossy(&take.stderr);
        if let Some(turns) = &mut self.json {
            turns.push(FedTurn {
                step: report.step,
                moment,
                same,
                then,
                now,
                ms,
                faults: report.faults.to_vec(),
                stderr: stderr.into_owned(),
            });
            return Ok(());
        }
        let screen = self.screen;
        let mut out = io::stdout().lock();
        let verdict = if same { screen.dim("as then") } else { screen.strong("differs") };
        let time = ms.map(|ms| format!("  {}", screen.dim(&milliseconds(ms)))).unwrap_or_default();
        writeln!(out, "{moment:<10} {verdict}{time}")?;
        if self.only.is_some() {
            for (word, answer) in [("then", &then), ("now", &now)] {
                for line in answer.lines() {
                    writeln!(out, "  {word:<5} {}", harmless(line))?;
                }
            }
            stderr.lines().try_for_each(|line| writeln!(out, "  {}", screen.dim(&harmless(line))))?;
        } else if !same {
            for line in difference(&then, &now) {
                writeln!(out, "  {}", harmless(&line))?;
            }
        }
        for fault in report.faults {
            writeln!(out, "  {} {}", screen.bad(fault.kind.word()), harmless(&fault.message))?;
            // For a single turn, everything it wrote is shown already.
            if self.only.is_none() {
                screen::quote(&mut out, screen, &fault.stderr)?;
            }
        }
        Ok(())
    }
}

/// An answer as its protocol writes it, or why there is none.
pub fn text(session: &dyn Session, seat: Seat, answer: &PackedAnswer) -> String {
    match answer {
        Answer::Given { order, .. } => {
            let mut text = Vec::new();
            session.say(seat, order, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        }
        Answer::Malformed { why, .. } => format!("(malformed: {why})"),
        Answer::Missing(Absence::TimedOut) => "(timed out)".to_owned(),
        Answer::Missing(Absence::Gone) => "(the bot was gone)".to_owned(),
        Answer::Missing(Absence::NeverStarted) => "(the bot never started)".to_owned(),
    }
}

/// How many differing orders are listed on each side.
const LISTED: usize = 12;

/// What only one of two answers contains. The parts of an answer are its lines, and the entries of a line that is a
/// JSON list.
fn difference(then: &str, now: &str) -> Vec<String> {
    let mut balance: BTreeMap<String, i32> = BTreeMap::new();
    for (answer, sign) in [(then, 1), (now, -1)] {
        for part in parts(answer) {
            *balance.entry(part).or_default() += sign;
        }
    }
    balance.retain(|_, count| *count != 0);
    if balance.is_empty() {
        return vec!["the same orders, in another sequence".to_owned()];
    }
    let side = |word: &str, sign: i32| {
        let orders: Vec<String> = balance
            .iter()
            .filter(|(_, count)| **count * sign > 0)
            .map(
                |(part, count)| {
                    if count.abs() == 1 { part.clone() } else { format!("{part} x{}", count.abs()) }
                },
            )
            .collect();
        let more = orders.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let listed = orders.iter().take(LISTED).cloned().collect::<Vec<_>>().join("  ");
        (!orders.is_empty()).then(|| format!("{word:<10} {listed}{more}"))
    };
    [side("only then", 1), side("only now", -1)].into_iter().flatten().collect()
}

fn parts(answer: &str) -> Vec<String> {
    answer
        .lines()
        .flat_map(|line| match serde_json::from_str(line) {
            Ok(Value::Array(entries)) => entries.iter().map(Value::to_string).collect(),
            _ => vec![line.to_owned()],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn answers_are_compared_order_by_order() {
        let lines = |then, now| difference(then, now);
        let then = "[[\"DF\", 3, 12], [\"FF\", 0, 13]]\n[[\"PI\", 13, 0], [\"PI\", 13, 0]]";
        assert_eq!(
            lines(then, "[[\"FF\", 0, 13]]\n[[\"EI\", 13, 0]]"),
            ["only then  [\"DF\",3,12]  [\"PI\",13,0] x2", "only now   [\"EI\",13,0]",]
        );
        assert_eq!(
            lines(then, "[[\"FF\", 0, 13], [\"DF\", 3, 12]]\n[[\"PI\", 13, 0], [\"PI\", 13, 0]]"),
            ["the same orders, in another sequence"]
        );
        assert_eq!(lines("WAIT", "1 MOVE 2 3"), ["only then  WAIT", "only now   1 MOVE 2 3"]);
    }
}
