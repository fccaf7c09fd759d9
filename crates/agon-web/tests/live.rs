//! A running match sends the same lines as its replay.

use std::sync::atomic::AtomicBool;

use agon_bot::BotName;
use agon_game::{Seat, Setup};
use agon_match::{Clock, Observer, Ponder, Recorder, StepReport, seat_player};
use agon_replay::{Header, Replay, SeatInfo};
use agon_web::{Live, Privacy, View};
use serde_json::Value;

fn header(game: &str) -> Header {
    let game = agon_games::find(game).expect("a game of ours");
    let info = game.info();
    let setup = Setup { seats: info.seats.0.max(2), seed: 11, ..Setup::default() };
    let session = game.open(&setup).expect("the default set-up can be played");
    let bots: Vec<SeatInfo> = (1..=setup.seats)
        .map(|seat| SeatInfo { bot: "builtin:random".to_owned(), label: format!("bot {seat}"), hash: None })
        .collect();
    Header {
        program: "agon test".to_owned(),
        game: info.name.to_owned(),
        rules_version: info.rules_version,
        recipe: session.recipe().clone(),
        seats: bots,
        started: 0,
        timed: info.time_is_played,
        id: None,
        clock: "original x 2".to_owned().into(),
    }
}

/// A match of random built-in bots, recorded, and its lines as they came.
fn played(game: &str) -> (Replay, Vec<Value>) {
    let header = header(game);
    let mut session = agon_games::find(game).unwrap().open(&header.recipe.setup()).unwrap();
    let name = BotName::parse("builtin:random").unwrap();
    let mut players: Vec<_> = Seat::first(header.recipe.seats)
        .map(|seat| seat_player(session.as_mut(), &name, seat, None, Clock::ORIGINAL).unwrap())
        .collect();
    let labels: Vec<String> = header.seats.iter().map(|seat| seat.label.clone()).collect();
    let mut recorder = Recorder::new(Vec::new(), &header).unwrap();
    let live = Live::default();
    let mut camera = live.camera(&header).unwrap();
    let record = {
        let mut observers: [&mut dyn Observer; 2] = [&mut recorder, &mut camera];
        let stop = AtomicBool::new(false);
        let mut all = Both(&mut observers);
        agon_match::play(
            session.as_mut(),
            &mut players,
            &labels,
            Clock::ORIGINAL,
            Ponder::Stop,
            &mut all,
            &stop,
        )
    };
    let bytes = recorder.finish(session.as_mut(), &record).unwrap();
    camera.finish(&record);
    let (lines, done) = live.since(0);
    assert!(done, "a finished match is finished");
    let lines = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    (Replay::read(&bytes).unwrap(), lines)
}

struct Both<'a, 'b>(&'a mut [&'b mut dyn Observer; 2]);

impl Observer for Both<'_, '_> {
    fn stepped(
        &mut self,
        session: &mut dyn agon_game::Session,
        step: &StepReport<'_>,
    ) -> std::io::Result<()> {
        self.0.iter_mut().try_for_each(|observer| observer.stepped(session, step))
    }
}

#[test]
fn a_running_match_tells_what_its_replay_tells() {
    for game in agon_games::all() {
        let name = game.info().name;
        let (replay, live) = played(name);
        let mut view = View::open(replay, Privacy::Private).unwrap();
        let (first, last) = (&live[0], &live[live.len() - 1]);
        let mut head = serde_json::to_value(view.head()).unwrap();
        assert_eq!(head["end"], *last, "{name}");
        assert_eq!(head["steps"], live.len() - 2, "{name}");
        // While it is played, its length is not known.
        for later in ["steps", "frames", "end"] {
            head[later] = first[later].clone();
        }
        assert_eq!(head, *first, "{name}");
        for (number, line) in (1..).zip(&live[1..live.len() - 1]) {
            let own = serde_json::to_value(view.line(number).unwrap()).unwrap();
            assert_eq!(own, *line, "{name}: step {number}");
        }
    }
}

/// Registers by a name, and does nothing.
const TIGERS: &str = r#"printf '{"type":"REGISTER","teamName":"Tigers"}\n'
while read -r line; do
    tick=${line#*\"tick\":}
    printf '{"type":"COMMAND","tick":%s,"actions":[]}\n' "${tick%%,*}"
done
"#;

#[test]
fn a_running_match_tells_the_names_by_which_bots_register() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("tigers.sh");
    std::fs::write(&script, TIGERS).expect("a file");
    let mut header = header("jungle-blitz");
    let mut session = agon_games::find("jungle-blitz").unwrap().open(&header.recipe.setup()).unwrap();
    header.seats[0].label = "bot".to_owned();
    let names = [format!("lines:sh {}", script.display()), "builtin:random".to_owned()]
        .map(|name| BotName::parse(&name).expect("a name"));
    let clock = Clock { limited: false, ..Clock::ORIGINAL };
    let mut players: Vec<_> = Seat::first(2)
        .zip(&names)
        .map(|(seat, name)| seat_player(session.as_mut(), name, seat, None, clock).unwrap())
        .collect();
    let live = Live::default();
    let mut camera = live.camera(&header).unwrap();
    let stop = AtomicBool::new(false);
    let labels = ["bot".to_owned(), "random".to_owned()];
    let record =
        agon_match::play(session.as_mut(), &mut players, &labels, clock, Ponder::Stop, &mut camera, &stop);
    assert!(record.faults.is_empty(), "{:?}", record.faults);
    camera.finish(&record);
    let (lines, _) = live.since(0);
    let told: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["registered"].take()).collect();
    // The head comes before the bots have said anything; the names follow once.
    let said: Vec<usize> = (0..told.len()).filter(|&line| told[line] != Value::Null).collect();
    assert_eq!((said, &told[1]), (vec![1], &serde_json::json!(["Tigers", null])));
}
