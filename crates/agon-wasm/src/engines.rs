//! What a page asks of the engines. Every byte that comes in is untrusted.

use std::collections::BTreeMap;

use agon_game::conform::Report;
use agon_game::{Seat, Setup};
use agon_replay::{Replay, ReplayError};
use agon_view::analysis::Analysis;
use agon_view::play::{Begun, PlayAsk};
use agon_view::{Head, Outlook, Play, Privacy, Turn, View, record};
use serde::Serialize;

/// How many matches by hand can be open at a time; beyond that, the one begun first is closed.
pub const MOST_PLAYS: usize = 4;

/// How many replays can be open at a time; beyond that, the one opened first is closed.
pub const MOST_OPEN: usize = 4;
/// Once this many bytes have gathered no more lines are made; the page requests the rest.
const ENOUGH: usize = 512 << 10;

/// Why there is nothing to return, in the form that a page reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// What is wrong and what to do.
    pub error: String,
    /// Whether the file is not one of our replays: it may be a record of an original then.
    pub foreign: bool,
    /// Whether the object asked for has been closed: it must be opened again then.
    pub gone: bool,
}

impl Refusal {
    fn new(error: impl ToString) -> Self {
        Self { error: error.to_string(), ..Self::default() }
    }
}

/// An opened replay.
#[derive(Serialize)]
struct Opened<'a> {
    /// Its id in requests for steps.
    id: u32,
    head: &'a Head,
}

/// The replays that a page has open.
#[derive(Default)]
pub struct Engines {
    views: BTreeMap<u32, View>,
    plays: BTreeMap<u32, Play>,
    analysis: Option<Analysis>,
    last: u32,
}

impl Engines {
    /// Opens a replay; returns `{"id":..., "head":...}` as JSON.
    ///
    /// # Errors
    /// When it cannot be shown.
    pub fn open(&mut self, replay: &[u8], privacy: Privacy) -> Result<Vec<u8>, Refusal> {
        let replay = Replay::read(replay)
            .map_err(|error| Refusal { foreign: error == ReplayError::Foreign, ..Refusal::new(error) })?;
        let view = View::open(replay, privacy).map_err(Refusal::new)?;
        self.last = self.last.wrapping_add(1);
        let id = self.last;
        let opened = serde_json::to_vec(&Opened { id, head: view.head() }).map_err(Refusal::new)?;
        while self.views.len() >= MOST_OPEN {
            self.views.pop_first();
        }
        self.views.insert(id, view);
        Ok(opened)
    }

    /// The lines of the steps `from` to `to`, from 1: at least the first, if there is such a step.
    ///
    /// # Errors
    /// When the replay has been closed.
    pub fn lines(&mut self, id: u32, from: u32, to: u32) -> Result<Vec<u8>, Refusal> {
        let view = self.views.get_mut(&id).ok_or_else(gone)?;
        let mut lines = Vec::new();
        for step in from..=to.min(view.steps()) {
            let Some(line) = view.line(step) else { break };
            serde_json::to_writer(&mut lines, &line).map_err(Refusal::new)?;
            lines.push(b'\n');
            if lines.len() > ENOUGH {
                break;
            }
        }
        Ok(lines)
    }

    /// The message that asked `seat`, from 1, at `step`, from 0; none if it was not asked there.
    ///
    /// # Errors
    /// When the replay has been closed, or has no such seat, or cannot be computed that far.
    pub fn message(&self, id: u32, step: u32, seat: u32) -> Result<Option<Vec<u8>>, Refusal> {
        let replay = self.views.get(&id).ok_or_else(gone)?.replay();
        if !(1..=replay.header.seats.len()).contains(&(seat as usize)) {
            return Err(Refusal::new(format!("this match has no seat {seat}")));
        }
        agon_view::message(replay, step as usize, Seat::new(seat as u8 - 1)).map_err(Refusal::new)
    }

    /// Step `step` of a replay, from 1, as a section of a spec file; `rule` is the id it is about, empty for that of the
    /// first order it rejected.
    ///
    /// # Errors
    /// When the replay has been closed, or has no such step, or no rule is known.
    pub fn section(&self, id: u32, step: u32, rule: &str) -> Result<Vec<u8>, Refusal> {
        let replay = self.views.get(&id).ok_or_else(gone)?.replay();
        agon_view::section(replay, step, Some(rule)).map(String::into_bytes).map_err(Refusal::new)
    }

    /// The record of a match of an original, as one of our replays.
    ///
    /// # Errors
    /// When it is not one, or is damaged.
    pub fn import(&self, record: &[u8]) -> Result<Vec<u8>, Refusal> {
        match record::import(record) {
            Ok(Some(found)) => {
                let mut report = Report::default();
                found.game.conform(record, &mut report);
                match report.differences.first() {
                    None => Ok(found.bytes),
                    Some(first) => Err(Refusal::new(format!(
                        "this record is not what our engine makes of its answers: {}, {}: expected {}, got {}",
                        first.place, first.kind, first.expected, first.got
                    ))),
                }
            }
            Ok(None) => Err(Refusal { foreign: true, ..Refusal::new(ReplayError::Foreign) }),
            Err(why) => Err(Refusal::new(why)),
        }
    }

    /// Answers a question about matches by hand, as JSON: a [`PlayAsk`].
    ///
    /// # Errors
    /// When it is invalid, or cannot be done, or the match has been closed.
    pub fn play(&mut self, ask: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
        let ask: PlayAsk = serde_json::from_slice(ask).map_err(Refusal::new)?;
        let play = |plays: &mut BTreeMap<u32, Play>, id: u32| plays.remove(&id).ok_or_else(left);
        // The match is taken out and put back once it has answered, so that one that fails within a question is not asked
        // again.
        let (id, mut own) = match &ask {
            PlayAsk::Begin { wanted } => {
                let begun = Play::begin(wanted).map_err(Refusal::new)?;
                return self.begun(begun).map(Some);
            }
            PlayAsk::Resume { replay, steps, seats } => {
                let view = self.views.get(replay).ok_or_else(gone)?;
                let begun = Play::resume(view.replay(), *steps, seats.clone()).map_err(Refusal::new)?;
                return self.begun(begun).map(Some);
            }
            PlayAsk::Leave { id } => {
                self.plays.remove(id);
                return Ok(None);
            }
            PlayAsk::Prospect { id, .. }
            | PlayAsk::Answer { id, .. }
            | PlayAsk::Hint { id, .. }
            | PlayAsk::Lend { id, .. }
            | PlayAsk::Question { id, .. }
            | PlayAsk::Say { id, .. }
            | PlayAsk::Go { id }
            | PlayAsk::Back { id }
            | PlayAsk::Replay { id } => (*id, play(&mut self.plays, *id)?),
        };
        let answered = answer(&mut own, &ask);
        self.plays.insert(id, own);
        answered.map(Some).map_err(Refusal::new)
    }

    fn begun(&mut self, mut play: Play) -> Result<Vec<u8>, Refusal> {
        let mut turn = play.again().map_err(Refusal::new)?;
        let on = play.go().map_err(Refusal::new)?;
        turn = Turn { lines: turn.lines.into_iter().chain(on.lines).collect(), ..on };
        self.last = self.last.wrapping_add(1);
        let bytes = json(&Begun { id: self.last, head: play.head(), turn }).map_err(Refusal::new)?;
        while self.plays.len() >= MOST_PLAYS {
            self.plays.pop_first();
        }
        self.plays.insert(self.last, play);
        Ok(bytes)
    }

    /// Begins to analyse a replay, and closes any other analysis.
    ///
    /// # Errors
    /// When the replay has been closed, or cannot be analysed.
    pub fn analyse(&mut self, id: u32) -> Result<(), Refusal> {
        let view = self.views.get(&id).ok_or_else(gone)?;
        self.analysis = Some(Analysis::open(view.replay()).map_err(Refusal::new)?);
        Ok(())
    }

    /// Plays up to `pairs` pairs of futures; returns an [`Outlook`] on `step`, from 1. They are of that step, or with `all`
    /// of any step, where they tell most.
    ///
    /// # Errors
    /// When nothing is being analysed, or an answer of the match does not fit its step.
    pub fn refine(&mut self, pairs: u32, step: u32, all: bool) -> Result<Vec<u8>, Refusal> {
        let analysis = self.analysis.as_mut().ok_or_else(gone)?;
        let mut more = true;
        for _ in 0..pairs {
            more = analysis.refine((!all).then_some(step)).map_err(Refusal::new)?;
            if !more {
                break;
            }
        }
        json(&Outlook::of(analysis, step, more)).map_err(Refusal::new)
    }

    /// Examines another order of `seat`, from 1, at `step`, from 1, as a bot would write it ([`Analysis::wish`]).
    ///
    /// # Errors
    /// When nothing is being analysed, or it is not an order there.
    pub fn wish(&mut self, step: u32, seat: u32, text: &str) -> Result<(), Refusal> {
        let analysis = self.analysis.as_mut().ok_or_else(gone)?;
        let seat = seat_of(seat).map_err(Refusal::new)?;
        analysis.wish(step, seat, text).map_err(Refusal::new)
    }

    /// The recorded order of `seat`, from 1, at `step`, from 1, as a bot writes it there ([`Analysis::written`]).
    ///
    /// # Errors
    /// When nothing is being analysed, or the match has no such step.
    pub fn written(&mut self, step: u32, seat: u32) -> Result<Vec<u8>, Refusal> {
        let analysis = self.analysis.as_mut().ok_or_else(gone)?;
        let seat = seat_of(seat).map_err(Refusal::new)?;
        analysis.written(step, seat).map(String::into_bytes).map_err(Refusal::new)
    }

    /// Closes a replay.
    pub fn close(&mut self, id: u32) {
        self.views.remove(&id);
    }

    /// Plays random matches of a game until `steps` steps are played; returns how many were. For measurements by a page.
    ///
    /// # Errors
    /// When there is no such game.
    pub fn playout(&self, game: &str, steps: u32) -> Result<u64, Refusal> {
        let game =
            agon_games::find(game).ok_or_else(|| Refusal::new(format!("no game is called `{game}`")))?;
        let setup = Setup { seats: game.info().usual_seats(), seed: 1, ..Setup::default() };
        let mut bench = game.bench(&setup).map_err(Refusal::new)?;
        let playouts = bench.workloads.iter_mut().find(|workload| workload.name == "playout");
        let playouts = playouts.ok_or_else(|| Refusal::new("no play-outs"))?;
        let mut played = 0;
        while played < u64::from(steps) {
            played += (playouts.run)();
        }
        Ok(played)
    }
}

fn answer(play: &mut Play, ask: &PlayAsk) -> Result<Vec<u8>, String> {
    let of = |number: u8| seat_of(number.into());
    match ask {
        PlayAsk::Prospect { seat, chosen, .. } => json(&play.prospect(of(*seat)?, chosen)?),
        PlayAsk::Answer { seat, chosen, .. } => json(&play.answer(of(*seat)?, chosen)?),
        PlayAsk::Hint { seat, bot, .. } => json(&play.hint(of(*seat)?, bot)?),
        PlayAsk::Lend { seat, bot, times, .. } => json(&play.lend(of(*seat)?, bot, *times)?),
        PlayAsk::Question { seat, .. } => play.question(of(*seat)?),
        PlayAsk::Say { seat, message, .. } => json(&play.say(of(*seat)?, message)?),
        PlayAsk::Go { .. } => json(&play.go()?),
        PlayAsk::Back { .. } => json(&play.back()?),
        PlayAsk::Replay { .. } => play.replay(),
        PlayAsk::Begin { .. } | PlayAsk::Resume { .. } | PlayAsk::Leave { .. } => Ok(Vec::new()),
    }
}

/// The seat with this number, from 1.
fn seat_of(number: u32) -> Result<Seat, String> {
    match u8::try_from(number) {
        Ok(seat @ 1..=Seat::MAX) => Ok(Seat::new(seat - 1)),
        _ => Err(format!("no match has a seat {number}")),
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(value).map_err(|error| error.to_string())
}

fn left() -> Refusal {
    Refusal { gone: true, ..Refusal::new("this match was put away; begin another") }
}

fn gone() -> Refusal {
    Refusal { gone: true, ..Refusal::new("this replay was put away; open it again") }
}
