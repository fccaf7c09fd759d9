//! The time for a whole match: all answers of a seat together never take longer, and after that the rules for late bots
//! apply.
//!
//! The bots sleep a fixed time per answer, so a busy machine makes them slower, never quicker. The limits of the rules
//! are lengthened, so that only the total can run out.

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use agon_bot::BotName;
use agon_game::{Absence, Answer, AnyGame, Face, Seat, Seats, Session, Setup};
use agon_match::record::Void;
use agon_match::{Clock, FaultKind, MatchRecord, Observer, Ponder, StepReport, Terms, play_on, seat_player};
use cultist_wars::CultistWars;
use jungle_blitz::JungleBlitz;

/// Answers each question of Cultist Wars after this many seconds.
const WAITS: &str = "i=0; while [ $i -lt 9 ]; do read -r line; i=$((i+1)); done
    while read -r n; do
        while [ $n -gt 0 ]; do read -r line; n=$((n-1)); done
        sleep SECONDS
        echo WAIT
    done";
/// The same for Jungle Blitz.
const TICKS: &str = r#"echo '{"type":"REGISTER","teamName":"T"}'
while read -r line; do
    tick=${line#*'"tick":'}
    sleep SECONDS
    echo '{"type":"COMMAND","tick":'"${tick%%,*}"',"actions":[]}'
done"#;

/// How the first seat answered, step by step: whether it was late, and what it was charged if it was asked.
#[derive(Default)]
struct Seen(Vec<(bool, Option<Duration>)>);

impl Observer for Seen {
    fn stepped(&mut self, _: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        let first = step.answers.iter().zip(step.takes).filter(|((seat, _), _)| *seat == Seat::new(0));
        self.0.extend(first.map(|((_, answer), take)| {
            (*answer == Answer::Missing(Absence::TimedOut), take.timed.then_some(take.charged))
        }));
        Ok(())
    }
}

/// A bot that thinks this many seconds per answer, against the game's own.
fn match_of(
    game: &dyn AnyGame,
    script: &str,
    seconds: &str,
    total: Duration,
    untimed: Seats,
) -> (MatchRecord, Seen) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bot.sh");
    std::fs::write(&path, script.replace("SECONDS", seconds)).expect("a file");
    let clock = Clock { total: Some(total), scale: 50.0, ..Clock::ORIGINAL };
    (0..20).find_map(|_| once(game, &path, clock, untimed)).expect("this machine is too busy for a match")
}

/// None if the machine was too late to tell.
fn once(game: &dyn AnyGame, path: &Path, clock: Clock, untimed: Seats) -> Option<(MatchRecord, Seen)> {
    let bots = [format!("lines:sh {}", path.display()), format!("builtin:{}", game.info().builtins[0].name)];
    let mut session = game.open(&Setup { seats: 2, seed: 7, ..Setup::default() }).expect("a game");
    let mut players: Vec<_> = Seat::first(2)
        .zip(&bots)
        .map(|(seat, bot)| {
            let name = BotName::parse(bot).expect("a name");
            seat_player(session.as_mut(), &name, seat, None, clock).expect("it can be seated")
        })
        .collect();
    let (mut seen, stop) = (Seen::default(), AtomicBool::new(false));
    let names = ["a".to_owned(), "b".to_owned()];
    let terms = Terms { untimed, ..Terms::new(clock, Ponder::Stop, &stop) };
    let record = play_on(session.as_mut(), &mut players, &names, &mut seen, &terms);
    (!matches!(record.void, Some(Void::HostLate(_)))).then_some((record, seen))
}

#[test]
fn a_bot_without_time_left_is_late_in_each_turn_where_late_bots_play_on() {
    let total = Duration::from_millis(500);
    let (record, seen) = match_of(&Face::<JungleBlitz>::new(), TICKS, "0.1", total, Seats::NONE);
    assert!(record.outcome.is_some(), "{:?}", record.void);
    let faults: Vec<_> = record.faults_of(Seat::new(0)).collect();
    let [fault] = &faults[..] else { panic!("one fault is enough to tell it: {faults:?}") };
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert!(fault.message.starts_with("used 0.5 s of 0.5 s in all, "), "{}", fault.message);
    // It was asked until its time was up, and never again; each turn from then on was lost.
    let over = fault.step as usize;
    assert!((1..=5).contains(&over), "each answer takes a tenth of a second: {over}");
    assert!(seen.0.len() > over + 10, "the match went on: {}", seen.0.len());
    for (step, (late, charged)) in seen.0.iter().enumerate() {
        assert_eq!((*late, charged.is_some()), (step >= over, step <= over), "step {step}");
    }
    let charged: Duration = seen.0.iter().filter_map(|(_, charged)| *charged).sum();
    assert!(charged <= total, "{charged:?}");
    assert!(record.times[0].charged_ms <= 500.0 + 1e-6, "{}", record.times[0].charged_ms);
}

#[test]
fn where_a_late_answer_loses_the_match_so_does_the_end_of_the_time() {
    let total = Duration::from_millis(300);
    let (record, seen) = match_of(&Face::<CultistWars>::new(), WAITS, "0.05", total, Seats::NONE);
    let outcome = record.outcome.as_ref().expect("it ended");
    assert!(outcome.scores[0] < outcome.scores[1], "{outcome:?}");
    let fault = record.faults_of(Seat::new(0)).next().expect("it is told");
    assert!(fault.message.starts_with("used 0.3 s of 0.3 s in all, "), "{}", fault.message);
    assert_eq!(seen.0.last().map(|(late, _)| *late), Some(true));
}

#[test]
fn a_total_that_is_not_used_up_and_the_time_of_people_change_nothing() {
    let game = Face::<CultistWars>::new();
    for (seconds, total, untimed) in
        [("0", Duration::from_secs(600), Seats::NONE), ("0.02", Duration::from_millis(50), Seats::first(1))]
    {
        let (record, seen) = match_of(&game, WAITS, seconds, total, untimed);
        assert!(record.outcome.is_some(), "{:?}", record.void);
        assert!(record.faults.is_empty(), "{:?}", record.faults);
        assert!(seen.0.len() > 10 && seen.0.iter().all(|(late, _)| !late));
    }
}
