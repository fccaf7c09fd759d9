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
    let told = &mut || {
        turn.fetch_add(1, Ordering::Relaxed);
    };
    let tried = try_position(replay, bot, at, &want, &terms, until, told);
    tried.unwrap_or_else(|why| PositionTried { why: Some(why), ..PositionTried::default() })
}

#[cfg(test)]
mod tests {
    use agon_game::Setup;

    use super::*;
    use crate::play::MatchEnd;
    use crate::protocol::{
        Away, BotSource, ContestTerms, Granted, Job, MatchGround, Nothing, Posted, Sitting, Try, Whole,
    };

    /// A hall that has one object.
    struct Shelf(Vec<u8>);

    impl Hall for Shelf {
        fn lease(&self, _: &str, _: usize) -> Result<Granted, Away> {
            Ok(Granted::default())
        }
        fn start(&self, _: Try) -> Result<bool, Away> {
            Ok(true)
        }
        fn beat(&self, _: i64, _: &[(Try, u32)]) -> Result<bool, Away> {
            Ok(true)
        }
        fn building(&self, _: Try) -> Result<bool, Away> {
            Ok(true)
        }
        fn built(&self, _: Try, _: &[u8]) -> Result<(), Away> {
            Ok(())
        }
        fn post(&self, over: &[(Try, Whole)]) -> Result<Vec<Posted>, Away> {
            Ok(vec![Posted::Kept; over.len()])
        }
        fn void(&self, _: Try, _: &Nothing) -> Result<(), Away> {
            Ok(())
        }
        fn abort(&self, _: i64) -> Result<(), Away> {
            Ok(())
        }
        fn fetch(&self, sha: &str) -> Result<Vec<u8>, Away> {
            if sha == "kept" { Ok(self.0.clone()) } else { Err(Away("gone".to_owned())) }
        }
    }

    #[test]
    fn a_bot_is_tried_in_each_position_and_told_what_it_played() {
        let game = agon_games::find("cultist-wars").expect("it is there");
        let setup = Setup { seats: 2, ..Setup::default() };
        let recipe = game.open(&setup).expect("its own rules").recipe().clone();
        let terms = ContestTerms {
            game: game.info().name.to_owned(),
            rules_version: game.info().rules_version,
            grounds: vec![MatchGround::new(&setup, &recipe)],
            clock: agon_spec::Clock::ORIGINAL.into(),
            ponder: agon_spec::Ponder::Stop,
            ratings: 2,
        };
        let table = PreparedGame::new(&terms).expect("known");
        let [idle, greedy] =
            ["idle", "greedy"].map(|bot| BotName::parse(&format!("builtin:{bot}")).expect("a name"));
        let sitting =
            |bot: &BotName| Sitting { label: "x".into(), program: BotSource::Builtin(bot.text.clone()) };
        let job = Job {
            attempt: Try { game: 1, n: 1 },
            map: 0,
            seed: 3,
            seats: vec![sitting(&idle), sitting(&greedy)],
            tried: None,
            disturbed: Vec::new(),
            positions: Vec::new(),
        };
        let (halt, turn) = (AtomicBool::new(false), AtomicU32::new(0));
        let played = table.play(&job, &[idle.clone(), greedy.clone()], &[0], &halt, &turn).expect("begins");
        let MatchEnd::Whole(recorded) = played else { panic!("{played:?}") };
        let hall = Shelf(recorded.shared_out(&table).expect("a replay").replay);
        turn.store(0, Ordering::Relaxed);
        let position = |id, replay: &str, step, wanted: WantedInPosition| PositionJob {
            id,
            replay: replay.to_owned(),
            seat: 1,
            step,
            wanted: serde_json::to_string(&wanted).expect("JSON"),
        };
        let keeps = |chance| WantedInPosition::Keeps { chance, policy: "greedy".to_owned() };
        let positions = [
            position(1, "kept", 3, WantedInPosition::Order("WAIT".to_owned())),
            position(2, "kept", 3, keeps(0.0)),
            position(3, "kept", 3, keeps(1.1)),
            position(4, "kept", 2, keeps(0.0)),
            position(5, "lost", 3, keeps(0.0)),
        ];
        let tried = |bot, halt| tried(&hall, &table, &positions, bot, halt, &turn);
        let told = tried(&idle, &halt);
        let passed: Vec<Option<bool>> = told.iter().map(|one| one.passed).collect();
        assert_eq!(passed, [Some(true), Some(true), Some(false), None, None], "{told:?}");
        assert!(told[2].why.as_ref().is_some_and(|why| why.contains("`WAIT`, which keeps")), "{told:?}");
        assert!(told[1].percent == told[2].percent && told[1].percent.is_some(), "{told:?}");
        assert!(told[3].why.as_ref().is_some_and(|why| why.contains("not asked in this turn")), "{told:?}");
        assert!(turn.load(Ordering::Relaxed) >= 6, "its answers are counted");
        let other = tried(&greedy, &halt);
        assert_eq!(other[0].passed, Some(false));
        let answer = other[0].answer.clone().expect("it answers");
        assert_eq!(other[0].why, Some(format!("it answered `{}`", answer.trim())));
        halt.store(true, Ordering::Relaxed);
        assert!(tried(&idle, &halt).iter().all(|one| one.passed.is_none()), "it was stopped");
    }
}
