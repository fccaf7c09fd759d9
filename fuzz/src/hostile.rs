//! What the fuzz targets do with their bytes; ordinary tests run the same over the committed corpora.
//!
//! Each function must neither panic nor take long, whatever the bytes.

use agon_game::{Answer, AnyGame, Heard, Seat, Session, Setup};
use agon_replay::Replay;

/// Messages of a bot, at some game in some position. The first byte chooses the game and how many steps
/// random-looking answers have been played before; messages end at line feeds.
pub fn answers(games: &[&dyn AnyGame], bytes: &[u8]) {
    let Some((&choice, rest)) = bytes.split_first() else { return };
    let game = games[usize::from(choice) % games.len()];
    let info = game.info();
    let seats = info.seats.0.max(2).min(info.seats.1);
    let Ok(mut session) = game.open(&Setup { seats, seed: 1, ..Setup::default() }) else { return };
    let mut question = Vec::new();
    for message in rest.split(|&byte| byte == b'\n').take(200) {
        let deciding = session.deciding();
        let mut played = Vec::new();
        for seat in deciding.iter() {
            question.clear();
            session.ask(seat, &mut question);
            played.push((
                seat,
                heard(session.as_mut(), seat, &message[..message.len().min(info.longest_message)]),
            ));
        }
        if played.is_empty() {
            break;
        }
        session.play(&played).expect("what the dialect heard can be played");
        let _ = (session.hash(), session.moment(), session.rejections().len());
    }
}

fn heard(session: &mut dyn Session, seat: Seat, message: &[u8]) -> Answer<Vec<u8>> {
    // A second part is the same bytes again.
    for _ in 0..2 {
        match session.hear(seat, message) {
            Heard::More | Heard::Ignore(_) => {}
            Heard::Answer(order) => {
                let mut said = Vec::new();
                assert!(session.say(seat, &order, &mut said), "an order that was heard can be said");
                return Answer::Given { order, think_ms: 1 };
            }
            Heard::Malformed(why) => return Answer::Malformed { why, think_ms: 1 },
            Heard::Close(_) => return Answer::Missing(agon_game::Absence::Gone),
        }
    }
    Answer::Missing(agon_game::Absence::TimedOut)
}

/// A replay file: read, and where that works set up and played; and the same with what belongs to seats
/// taken out.
pub fn replay(games: &[&dyn AnyGame], bytes: &[u8]) {
    let Ok(replay) = Replay::read(bytes) else { return };
    let (public, _) = agon_replay::redact(bytes, &[]).expect("what can be read can be redacted");
    let again = Replay::read(&public).expect("what was redacted can be read");
    assert_eq!((&again.steps, again.chain), (&replay.steps, replay.chain));
    let Some(game) = games.iter().find(|game| game.info().name == replay.header.game) else { return };
    let Ok(mut session) = game.open(&replay.header.recipe.setup()) else { return };
    for step in replay.steps.iter().take(200) {
        if session.play(&step.answers).is_err() {
            break;
        }
    }
    let _ = session.hash();
}

/// An `agon.toml`.
pub fn manifest(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match agon_bot::manifest::Manifest::parse(text) {
        Ok(manifest) => {
            for command in [manifest.build, manifest.run].into_iter().flatten() {
                let _ = command.words();
            }
        }
        Err(why) => assert!(why.starts_with(':'), "an error points into the file: {why}"),
    }
}
