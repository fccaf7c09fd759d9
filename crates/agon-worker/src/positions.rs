//! A version that is checked, tried in the positions that its team keeps as tests. What comes of that decides nothing: its author is told.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use agon_api::{TriedInPosition, WantedInPosition};
use agon_bot::BotName;
use agon_desk::lesson::{PositionTried, PositionWant, try_position};
use agon_game::Seat;
use agon_match::Terms;
use agon_replay::Replay;

use crate::play::PreparedGame;
use crate::protocol::{Hall, PositionJob};

/// How long all positions of a version are tried together: it waits for that before it goes live.
const LONGEST: Duration = Duration::from_secs(60);
/// How many characters of an answer, or of what is wrong with it, are told.
const TOLD: usize = 1_000;

/// Tries a bot in these positions until `halt`, or until time is up. `turn` grows with each of its answers.
pub(crate) fn tried(
    hall: &dyn Hall,
    table: &PreparedGame,
    positions: &[PositionJob],
    bot: &BotName,
    halt: &AtomicBool,
    turn: &AtomicU32,
) -> Vec<TriedInPosition> {
    let until = Instant::now() + LONGEST;
    // Several positions may be of one match.
    let mut replays: BTreeMap<&str, Option<Replay>> = BTreeMap::new();
    let mut all = Vec::new();
    for position in positions {
        let replay = replays.entry(&position.replay).or_insert_with(|| {
            let bytes = hall.fetch(&position.replay).ok()?;
            Replay::read(&bytes).ok()
        });
        let tried = match replay {
            _ if Instant::now() >= until || halt.load(Ordering::Relaxed) => PositionTried::default(),
            Some(replay) => one(table, position, replay, bot, (halt, until), turn),
            None => PositionTried::default(),
        };
        let cut = |text: String| text.chars().take(TOLD).collect();
        all.push(TriedInPosition {
            id: position.id,
            passed: tried.passed,
            answer: tried.answer.map(cut),
            percent: tried.chance.map(|chance| (100.0 * chance).round() as u8),
            why: tried.why.map(cut),
        });
    }
    all
}

fn one(
    table: &PreparedGame,
    position: &PositionJob,
    replay: &Replay,
    bot: &BotName,
    (halt, until): (&AtomicBool, Instant),
    turn: &AtomicU32,
) -> PositionTried {
    let wanted: Option<WantedInPosition> = serde_json::from_str(&position.wanted).ok();
    let want = match &wanted {
        Some(WantedInPosition::Order(order)) => PositionWant::Order(order),
        Some(WantedInPosition::Keeps { chance, policy }) => PositionWant::Keeps(*chance, policy),
        None => return PositionTried::default(),
    };
    let terms = Terms::new(table.clock, table.ponder, halt);
    let at = (Seat::new(position.seat.clamp(1, Seat::MAX) - 1), position.step);
    let told = &mut || drop(turn.fetch_add(1, Ordering::Relaxed));
    let tried = try_position(replay, bot, at, &want, &terms, until, told);
    tried.unwrap_or_else(|why| PositionTried { why: Some(why), ..PositionTried::default() })
}
