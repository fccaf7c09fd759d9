//! Comparing recorded matches of the original with this engine, line by line.
//!
//! The match is played on from its commands; every later line is compared as it would be written:
//! numbers as 32-bit floats bit for bit, events in their order.

use std::collections::VecDeque;
use std::sync::Arc;

use agon_game::conform::{ConformReport, Recognised};
use agon_game::{Game as _, Seat, Unreadable};

use crate::Terminal;
use crate::frame::Frame;
use crate::line::{self, Eyes, Names};
use crate::outcome;
use crate::replay::{
    self, Blast, Died, EndStats, EventLists, Given, Hit, PlayerStats, Recorded, StateLine, Struck,
};
use crate::state::State;
use crate::work::Work;

/// Compares a replay with this engine.
pub fn conform(record: &[u8], report: &mut ConformReport) -> Recognised {
    match compare(record, report) {
        Ok(Compared::Whole) => Recognised::Record,
        Ok(Compared::Cut(turn)) => {
            Recognised::Cut(format!("it ends in turn {turn}, before the end of the match"))
        }
        Err(Unreadable::Foreign) => Recognised::Foreign,
        Err(Unreadable::Damaged(why)) => Recognised::Damaged(why),
    }
}

/// The next line that the record should have, and the frame it was written from.
type OwnLine = (Vec<u8>, Option<Arc<Frame>>);

/// Plays the match and keeps the next lines that the record should have.
struct Match {
    game: Terminal,
    recorded: Recorded,
    state: State,
    work: Work,
    turn: usize,
    last: Option<Arc<Frame>>,
}

/// How much of a match a record covers.
enum Compared {
    /// All of it.
    Whole,
    /// It ends early, in this turn.
    Cut(usize),
}

fn compare(record: &[u8], report: &mut ConformReport) -> Result<Compared, Unreadable> {
    let recorded = replay::recorded(record)?;
    let game = Terminal::set_up(&recorded.setup).map_err(|error| Unreadable::Damaged(error.to_string()))?;
    let (_, lines) = replay::lines(record)?;
    let (state, early) = (game.start(), game.rules().early.is_early);
    let picks = game.rules().picks.clone();
    let mut played = Match { game, recorded, state, work: Work::default(), turn: 0, last: None };
    let whole = played.recorded.whole;
    // Where the original chose among equals, its choice is part of the match (TM-SEASON-7): counted, never hidden.
    (0..picks.first.len()).for_each(|_| _ = report.compare("first of equal targets", &(), &(), String::new));
    (0..picks.steps.len())
        .for_each(|_| _ = report.compare("choice among equal steps", &(), &(), String::new));
    let mut ours: VecDeque<OwnLine> = VecDeque::new();
    let mut bytes = Vec::new();
    line::deploy(&played.state, &[], Eyes::of(played.game.rules(), Seat::new(0)), &mut bytes);
    ours.push_back((std::mem::take(&mut bytes), None));
    for (number, text) in lines.into_iter().enumerate() {
        let theirs = replay::read(number, text)?;
        if theirs.turn_info[0] == 2 {
            played.finish(&theirs, ours.is_empty(), report);
            continue;
        }
        if ours.is_empty() {
            played.advance(&mut ours, report);
        }
        let place = || format!("line {number} {:?}", theirs.turn_info);
        let Some((text, frame)) = ours.pop_front() else {
            report.count("lines", false, || (place(), "a line".to_owned(), "the match is over".to_owned()));
            return Ok(Compared::Whole);
        };
        let text = String::from_utf8(text).expect("lines are text");
        let own = replay::read(number, &text)?;
        if !line_agrees(&theirs, &own, frame.as_deref(), early, report, &place) {
            // Everything after a difference differs because of it; one per record is enough.
            return Ok(Compared::Whole);
        }
    }
    Ok(if whole { Compared::Whole } else { Compared::Cut(played.turn) })
}

impl Match {
    /// Plays the next turn and writes its lines.
    fn advance(&mut self, ours: &mut VecDeque<OwnLine>, report: &mut ConformReport) {
        let Some(turn) = self.recorded.turns.get(self.turn).filter(|_| self.state.ending.is_none()) else {
            return;
        };
        self.turn += 1;
        let told = replay::play(&self.game, &mut self.state, &mut self.work, turn);
        let place = || format!("turn {}", self.turn - 1);
        report.count("orders", told.refused.is_empty(), || {
            (place(), "all carried out".to_owned(), format!("{:?}", told.refused))
        });
        let eyes = Eyes::of(self.game.rules(), Seat::new(0));
        for frame in told.frames {
            let mut bytes = Vec::new();
            line::action(&frame, eyes, &mut bytes);
            self.last = Some(Arc::clone(&frame));
            ours.push_back((bytes, Some(frame)));
        }
        if self.state.ending.is_none() {
            let mut bytes = Vec::new();
            line::deploy(&self.state, &told.removed, eyes, &mut bytes);
            ours.push_back((bytes, None));
        }
    }

    /// Compares the end line.
    fn finish(&self, theirs: &StateLine<'_>, used_up: bool, report: &mut ConformReport) {
        let place = || "end line".to_owned();
        report.compare("end of match", &true, &(used_up && self.state.ending.is_some()), place);
        let mut bytes = Vec::new();
        let eyes = Eyes::of(self.game.rules(), Seat::new(0));
        let mut state = self.state;
        for (player, crash) in state.players.iter_mut().zip(self.recorded.afterwards) {
            if let Some(ms) = crash {
                (player.crashed, player.total_ms) = (true, player.total_ms + ms);
            }
        }
        line::end(&self.game, &state, self.last.as_deref(), &Names::default(), eyes, &mut bytes);
        let text = String::from_utf8(bytes).expect("lines are text");
        let Ok(own) = replay::read(0, &text) else { return };
        line_agrees(theirs, &own, None, false, report, &place);
        if let (Some(theirs), Some(own)) = (&theirs.end_stats, &own.end_stats) {
            stats_agree(theirs, own, report);
        }
        if let Some(theirs) = &theirs.end_stats {
            let winner = outcome::winner(&state).map_or(0, |seat| i64::from(seat.number()));
            report.compare("winner", &theirs.winner, &winner, place);
        }
    }
}

fn stats_agree(theirs: &EndStats, own: &EndStats, report: &mut ConformReport) {
    let place = || "end stats".to_owned();
    report.compare("turns and frames", &(theirs.turns, theirs.frames), &(own.turns, own.frames), place);
    for (player, theirs, own) in [(1, &theirs.player1, &own.player1), (2, &theirs.player2, &own.player2)] {
        // The first records lack both.
        let tells_time = theirs.timeout_death.is_some();
        let numbers = |stats: &PlayerStats| {
            let bits = [
                stats.stationary_resource_spent,
                stats.dynamic_resource_spent,
                stats.dynamic_resource_spoiled,
                stats.dynamic_resource_destroyed,
                stats.points_scored,
                stats.stationary_resource_left_on_board,
            ];
            (
                bits.map(Bits),
                (stats.crashed, stats.timeout_death.filter(|_| tells_time)),
                stats.time_damage_taken.filter(|_| tells_time).map(|damage| damage as i64),
                stats.total_computation_time as i64,
            )
        };
        report.compare("end stats", &numbers(theirs), &numbers(own), || {
            format!("end stats of player {player}")
        });
    }
}

/// A 32-bit float, compared bit by bit.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "shown where it differs")]
struct Bits(f32);

impl PartialEq for Bits {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

/// Compares a line; `frame` is ours and tells which victims belong to one self-destruction.
fn line_agrees(
    theirs: &StateLine<'_>,
    own: &StateLine<'_>,
    frame: Option<&Frame>,
    early: bool,
    report: &mut ConformReport,
    place: &impl Fn() -> String,
) -> bool {
    // Before 2020 the running number was missing.
    let numbers = theirs.turn_info.len().min(4);
    let mut same =
        report.compare("turn info", &&theirs.turn_info[..numbers], &&own.turn_info[..numbers], place);
    for (theirs, own) in [(&theirs.p1_stats, &own.p1_stats), (&theirs.p2_stats, &own.p2_stats)] {
        let bits = |stats: &Vec<f64>| stats.iter().map(|&number| Bits(number as f32)).collect::<Vec<_>>();
        same &= report.compare("stats", &bits(theirs), &bits(own), place);
    }
    for (theirs, own) in [(&theirs.p1_units, &own.p1_units), (&theirs.p2_units, &own.p2_units)] {
        same &= report.compare("unit lists", &theirs.len(), &own.len(), place);
        for (theirs, own) in theirs.iter().zip(own) {
            same &= report.compare("units", &theirs.len(), &own.len(), place);
            for (theirs, own) in theirs.iter().zip(own) {
                let entry = |&(x, y, health, id): &(i32, i32, f32, &str)| (x, y, Bits(health), id.to_owned());
                let equal = theirs.0 == own.0
                    && theirs.1 == own.1
                    && theirs.2.to_bits() == own.2.to_bits()
                    && theirs.3 == own.3;
                report.count("healths", equal, || {
                    (place(), format!("{:?}", entry(theirs)), format!("{:?}", entry(own)))
                });
                same &= equal;
            }
        }
    }
    let theirs_sorted = sets(&theirs.events, frame, early);
    let own_sorted = sets(&own.events, frame, early);
    same &= report.compare("spawn", &theirs.events.spawn, &own.events.spawn, place);
    same &= report.compare("move", &theirs.events.moves, &own.events.moves, place);
    same &= report.compare("breach", &theirs.events.breach, &own.events.breach, place);
    same &= report.compare("shield", &theirs_sorted.shield, &own_sorted.shield, place);
    same &= report.compare("self-destruct", &theirs_sorted.blasts, &own_sorted.blasts, place);
    same &= report.compare("attack", &theirs.events.attack, &own.events.attack, place);
    same &= report.compare("damage", &theirs_sorted.damage, &own_sorted.damage, place);
    same &= report.compare("death", &theirs_sorted.death, &own_sorted.death, place);
    same &= report.compare("melee", &theirs_sorted.melee, &own_sorted.melee, place);
    same
}

/// The event lists with parts that have no order in the original.
struct Sets<'a> {
    blasts: Vec<Blast<'a>>,
    damage: Vec<Hit<'a>>,
    shield: Vec<Given<'a>>,
    death: Vec<Died<'a>>,
    melee: Vec<Struck<'a>>,
}

/// Sorts the unordered parts: the tiles of a self-destruction, the targets of a support, and the
/// damages and deaths of the victims of one self-destruction; in the first seasons all shields and strikes.
fn sets<'a>(events: &EventLists<'a>, frame: Option<&Frame>, early: bool) -> Sets<'a> {
    let mut sets = Sets {
        blasts: events.self_destruct.clone(),
        damage: events.damage.clone(),
        shield: events.shield.clone(),
        death: events.death.clone(),
        melee: events.melee.clone(),
    };
    sets.blasts.iter_mut().for_each(|blast| blast.1.sort_unstable());
    for group in sets.shield.chunk_by_mut(|one, other| one.4 == other.4) {
        group.sort_unstable_by_key(|shield| shield.5);
    }
    if early {
        sets.shield.sort_unstable_by_key(|shield| (shield.4, shield.5));
        sets.melee.sort_unstable_by_key(|strike| (strike.4, strike.1));
        // Those of melee are anywhere among the others, which have their order.
        let (mut others, mut struck): (Vec<_>, Vec<_>) =
            sets.damage.into_iter().partition(|hit| hit.1 != 0.0);
        struck.sort_unstable_by_key(|hit| (hit.3, hit.0));
        others.append(&mut struck);
        sets.damage = others;
    }
    for blast in frame.map_or(&[][..], |frame| &frame.events.self_destruct) {
        let (start, count) = blast.damages;
        if let Some(group) = sets.damage.get_mut(start..start + count) {
            group.sort_unstable_by_key(|hit| hit.3);
        }
        let (start, count) = blast.deaths;
        if let Some(group) = sets.death.get_mut(start..start + count) {
            group.sort_unstable_by_key(|died| died.2);
        }
    }
    sets
}
