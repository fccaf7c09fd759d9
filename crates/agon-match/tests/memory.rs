//! The referee keeps nothing from match to match, neither memory nor open files. Runs in its own process,
//! so that nothing else affects the figures. (`docs/benchmarks.md` measures it over 10,000 matches.)

use std::sync::atomic::AtomicBool;

use agon_bot::{BotName, sys};
use agon_game::setup::RulesChoice;
use agon_game::{AnyGame, Face, Seat, Setup};
use agon_match::record::Void;
use agon_match::{Clock, Ponder, Recorder, play, seat_player};
use agon_replay::{Header, SeatInfo};
use cultist_wars::CultistWars;

/// Answers a few turns, and writes something about each.
const BOT: &str = "while read -r line; do echo WAIT; echo thinking >&2; done";

/// Plays a short match with a replay; returns whether it counted.
fn one(bot: &BotName, seed: i64) -> bool {
    let sets = vec![("number_of_turns".to_owned(), "4".to_owned())];
    let rules = RulesChoice { sets, ..RulesChoice::default() };
    let setup = Setup { seats: 2, seed, rules, ..Setup::default() };
    let mut session = Face::<CultistWars>::new().open(&setup).expect("a game");
    let clock = Clock { limited: false, ..Clock::ORIGINAL };
    let seat = |seat| seat_player(session.as_mut(), bot, seat, None, clock).expect("it can be seated");
    let mut players: Vec<_> = Seat::first(2).map(seat).collect();
    let labels = ["a".to_owned(), "b".to_owned()];
    let header = Header {
        program: "a test".to_owned(),
        game: "cultist-wars".to_owned(),
        rules_version: session.info().rules_version,
        recipe: session.recipe().clone(),
        seats: labels
            .iter()
            .map(|label| SeatInfo { bot: label.clone(), label: label.clone(), hash: None })
            .collect(),
        started: 0,
        timed: false,
        id: None,
        clock: clock.into(),
    };
    let mut recorder = Recorder::new(Vec::new(), &header).expect("memory");
    let stop = AtomicBool::new(false);
    let record = play(session.as_mut(), &mut players, &labels, clock, Ponder::Stop, &mut recorder, &stop);
    recorder.finish(session.as_mut(), &record).expect("memory");
    assert!(!matches!(record.void, Some(Void::OwnFault(_))), "{:?}", record.void);
    record.outcome.is_some()
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("our own files").count()
}

#[test]
fn hundreds_of_matches_leave_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bot.sh");
    std::fs::write(&file, BOT).expect("a file");
    let bot = BotName::parse(file.to_str().expect("a name")).expect("a bot");
    let own = rustix::process::getpid();
    let play = |seeds: std::ops::Range<i64>| seeds.filter(|seed| one(&bot, *seed)).count();
    // One-time allocations are done.
    assert_eq!(play(0..40), 40);
    let (memory, files) = (sys::memory(own), open_files());
    assert_eq!(play(40..400), 360);
    let grown = sys::memory(own).saturating_sub(memory);
    assert!(grown < 512 << 10, "our memory grew by {grown} bytes in 360 matches");
    assert_eq!(open_files(), files, "open files");
    assert_eq!(sys::own_children(), [], "processes");
}
