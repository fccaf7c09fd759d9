//! Answers the questions of a viewer. Every byte that comes in is untrusted.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agon_game::Seat;
use agon_game::conform::ConformReport;
use agon_replay::{Replay, ReplayError};

use crate::analysis::Analysis;
use crate::ask::{Ask, AskRefusal, Begun, Opened, Reply, seat_of};
use crate::lesson::{LessonSoFar, LossSearch};
use crate::maker::Privacy;
use crate::outlook::Outlook;
use crate::play::{Play, Turn};
use crate::record;
use crate::view::{View, message, section};

/// Once this many bytes have gathered no more lines are made; the page requests the rest.
const ENOUGH: usize = 512 << 10;

/// What is open: replays, and matches by hand.
pub struct Engines {
    last: AtomicU32,
    most: usize,
    views: Mutex<Kept<Viewed>>,
    plays: Mutex<Kept<Play>>,
}

/// What is open, by id; the most recently used last.
type Kept<T> = VecDeque<(u32, Arc<Mutex<T>>)>;

/// A replay being viewed, and its analysis once somebody asked for that.
struct Viewed {
    view: View,
    analysis: Option<Analysis>,
    search: Option<LossSearch>,
}

impl Viewed {
    fn analysis(&mut self) -> Result<&mut Analysis, AskRefusal> {
        let own = match self.analysis.take() {
            Some(own) => own,
            None => Analysis::open(self.view.replay(), None)?,
        };
        Ok(self.analysis.insert(own))
    }

    /// The analysis by this policy.
    fn analysis_by(&mut self, policy: Option<&str>) -> Result<&mut Analysis, AskRefusal> {
        let judge = agon_games::named(&self.view.head().game)?.info().judge;
        let policy = policy.unwrap_or(judge);
        if self.analysis.as_ref().is_none_or(|own| own.policy() != policy) {
            self.analysis = Some(Analysis::open(self.view.replay(), Some(policy))?);
        }
        self.analysis()
    }

    /// The search of a seat, by this policy if one is given and of this one step if there is one.
    fn search(
        &mut self,
        seat: Seat,
        policy: Option<&str>,
        only: Option<u32>,
    ) -> Result<&mut LossSearch, AskRefusal> {
        let is_it = |own: &LossSearch| own.is_of(seat, policy, only);
        let own = match self.search.take().filter(is_it) {
            Some(own) => own,
            None => LossSearch::open(self.view.replay(), seat, policy, only)?,
        };
        Ok(self.search.insert(own))
    }
}

impl Engines {
    /// Engines that keep this many replays open, and as many matches by hand; of more, the one not used for longest is closed.
    pub fn keeping(most: usize) -> Self {
        Self { last: AtomicU32::default(), most, views: Mutex::default(), plays: Mutex::default() }
    }

    /// Answers a question as it travels.
    ///
    /// # Errors
    /// When it is not one, or is refused.
    pub fn hear(&self, bytes: &[u8]) -> Result<Option<Vec<u8>>, AskRefusal> {
        let (ask, file) = Ask::read(bytes)?;
        self.answer(ask, file)?.write()
    }

    /// Answers a question, which may be about a file.
    ///
    /// # Errors
    /// When it is invalid, or cannot be done, or what it is about has been closed.
    pub fn answer(&self, ask: Ask, file: &[u8]) -> Result<Reply, AskRefusal> {
        match ask {
            Ask::Open { private } => {
                self.open(file, if private { Privacy::Private } else { Privacy::Redacted })
            }
            Ask::Lines { id, from, to } => self.viewed(id, |own| lines(&mut own.view, from, to)),
            Ask::Message { id, step, seat } => self.viewed(id, |own| asked(own.view.replay(), step, seat)),
            Ask::Section { id, step, rule } => {
                self.viewed(id, |own| Ok(text(section(own.view.replay(), step, Some(&rule))?)))
            }
            Ask::Refine { id, step, pairs, all, policy } => {
                self.viewed(id, |own| refine(own.analysis_by(policy.as_deref())?, step, pairs, all))
            }
            Ask::Learn { id, seat, step, futures } => self.viewed(id, |own| {
                let search = own.search(seat_of(seat)?, None, step)?;
                search.work(futures)?;
                Ok(Reply::Lesson(Box::new(LessonSoFar { done: search.done(), lesson: search.lesson()? })))
            }),
            Ask::Judge { id, policy, step, seat, text, futures } => self.viewed(id, |own| {
                let search = own.search(seat_of(seat)?, Some(&policy), Some(step))?;
                Ok(Reply::Judged(search.judge(step, &text, futures)?))
            }),
            Ask::Wish { id, step, seat, text } => self.viewed(id, |own| {
                own.analysis()?.wish(step, seat_of(seat)?, &text)?;
                Ok(Reply::Nothing)
            }),
            Ask::Written { id, step, seat } => {
                self.viewed(id, |own| Ok(text(own.analysis()?.written(step, seat_of(seat)?)?)))
            }
            Ask::Compose { id, step, seat, chosen } => {
                self.viewed(id, |own| Ok(text(own.analysis()?.compose(step, seat_of(seat)?, &chosen)?)))
            }
            Ask::Begin { wanted } => self.begun(Play::begin(&wanted)?),
            Ask::Resume { id, steps, seats } => {
                let replay = find(&self.views, id).ok_or_else(put_away)?;
                let begun = Play::resume(replay.lock().map_err(|_| put_away())?.view.replay(), steps, seats)?;
                self.begun(begun)
            }
            Ask::Sit => Err("only a seat of a match being played is asked this".into()),
            Ask::Prospect { id, seat, chosen } => {
                self.played(id, |own| Ok(Reply::Prospect(Box::new(own.prospect(seat_of(seat)?, &chosen)?))))
            }
            Ask::Answer { id, seat, chosen } => {
                self.played(id, |own| Ok(Reply::Turn(own.answer(seat_of(seat)?, &chosen)?)))
            }
            Ask::Hint { id, seat, bot } => {
                self.played(id, |own| Ok(Reply::Chosen(own.hint(seat_of(seat)?, &bot)?)))
            }
            Ask::Lend { id, seat, bot, times } => {
                self.played(id, |own| Ok(Reply::Turn(own.lend(seat_of(seat)?, &bot, times)?)))
            }
            Ask::Question { id, seat } => {
                self.played(id, |own| Ok(Reply::Bytes(own.question(seat_of(seat)?)?)))
            }
            Ask::Say { id, seat, message } => {
                self.played(id, |own| Ok(Reply::Turn(own.say(seat_of(seat)?, &message)?)))
            }
            Ask::Go { id, .. } => self.played(id, |own| Ok(Reply::Turn(own.go()?))),
            Ask::Back { id } => self.played(id, |own| Ok(Reply::Turn(own.back()?))),
            Ask::Replay { id } => self.played(id, |own| Ok(Reply::Bytes(own.replay()?))),
            Ask::Close { id } => {
                lock(&self.views).retain(|(own, _)| *own != id);
                lock(&self.plays).retain(|(own, _)| *own != id);
                Ok(Reply::Nothing)
            }
        }
    }

    fn open(&self, file: &[u8], privacy: Privacy) -> Result<Reply, AskRefusal> {
        let replay = match Replay::read(file) {
            Err(ReplayError::Foreign) => imported(file).map_err(|why| AskRefusal { foreign: true, ..why })?,
            read => read?,
        };
        let view = View::open(replay, privacy)?;
        let head = Box::new(view.head().clone());
        let id = self.keep(&self.views, Viewed { view, analysis: None, search: None });
        Ok(Reply::Opened(Opened { id, head }))
    }

    fn begun(&self, mut play: Play) -> Result<Reply, AskRefusal> {
        let mut lines = play.again()?.lines;
        let on = play.go()?;
        lines.extend(on.lines);
        let (turn, head) = (Turn { lines, ..on }, Box::new(play.head().clone()));
        let id = self.keep(&self.plays, play);
        Ok(Reply::Begun(Begun { id, head, turn }))
    }

    fn keep<T>(&self, kept: &Mutex<Kept<T>>, one: T) -> u32 {
        let id = self.last.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let mut kept = lock(kept);
        while kept.len() >= self.most {
            kept.pop_front();
        }
        kept.push_back((id, Arc::new(Mutex::new(one))));
        id
    }

    fn viewed(
        &self,
        id: u32,
        ask: impl FnOnce(&mut Viewed) -> Result<Reply, AskRefusal>,
    ) -> Result<Reply, AskRefusal> {
        let found = find(&self.views, id).ok_or_else(put_away)?;
        let mut own = found.lock().map_err(|_| put_away())?;
        ask(&mut own)
    }

    fn played(
        &self,
        id: u32,
        ask: impl FnOnce(&mut Play) -> Result<Reply, AskRefusal>,
    ) -> Result<Reply, AskRefusal> {
        let found = find(&self.plays, id).ok_or_else(left)?;
        let mut own = found.lock().map_err(|_| left())?;
        ask(&mut own)
    }
}

/// Nothing fails while it holds a list of what is open.
fn lock<T>(kept: &Mutex<Kept<T>>) -> std::sync::MutexGuard<'_, Kept<T>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What has this id. Whoever locks it and finds it poisoned takes it for closed: it failed within a question, and is not asked again.
fn find<T>(kept: &Mutex<Kept<T>>, id: u32) -> Option<Arc<Mutex<T>>> {
    let mut kept = lock(kept);
    let place = kept.iter().position(|(own, _)| *own == id)?;
    let used = kept.remove(place)?;
    let found = used.1.clone();
    kept.push_back(used);
    Some(found)
}

/// The record of a match of an original, as a replay of ours.
fn imported(record: &[u8]) -> Result<Replay, AskRefusal> {
    let found = record::import(record)?.ok_or(ReplayError::Foreign)?;
    let mut report = ConformReport::default();
    found.game.conform(record, &mut report);
    match report.differences.first() {
        None => Ok(Replay::read(&found.bytes)?),
        Some(first) => Err(format!(
            "this record is not what our engine makes of its answers: {}, {}: expected {}, got {}",
            first.place, first.kind, first.expected, first.got
        )
        .into()),
    }
}

fn lines(view: &mut View, from: u32, to: u32) -> Result<Reply, AskRefusal> {
    let mut lines = Vec::new();
    for step in from..=to.min(view.steps()) {
        let Some(line) = view.line(step) else { break };
        serde_json::to_writer(&mut lines, &line)?;
        lines.push(b'\n');
        if lines.len() > ENOUGH {
            break;
        }
    }
    Ok(Reply::Bytes(lines))
}

fn text(text: String) -> Reply {
    Reply::Bytes(text.into_bytes())
}

fn asked(replay: &Replay, step: u32, seat: u8) -> Result<Reply, AskRefusal> {
    if !(1..=replay.header.seats.len()).contains(&usize::from(seat)) {
        return Err(format!("this match has no seat {seat}").into());
    }
    let step = step.checked_sub(1).ok_or("steps count from 1")?;
    let text = message(replay, step as usize, Seat::new(seat - 1))?;
    Ok(text.map_or(Reply::Nothing, Reply::Bytes))
}

fn refine(analysis: &mut Analysis, step: u32, pairs: u32, all: bool) -> Result<Reply, AskRefusal> {
    let mut more = true;
    for _ in 0..pairs {
        more = analysis.refine((!all).then_some(step))?;
        if !more {
            break;
        }
    }
    Ok(Reply::Outlook(Outlook::of(analysis, step, more)))
}

fn left() -> AskRefusal {
    AskRefusal { gone: true, ..AskRefusal::from("this match was put away; begin another") }
}

fn put_away() -> AskRefusal {
    AskRefusal { gone: true, ..AskRefusal::from("this replay was put away; open it again") }
}
