//! Matches to open, and everything that can be asked about them.

use agon_game::{Answer, PackedAnswer, Seat, Setup};
use agon_replay::{EndInfo, Header, SeatInfo, Writer};
use agon_view::{AskRefusal, Engines};
use agon_wasm::MOST_OPEN;
use serde_json::{Value, json};

/// A match of built-in bots, as a replay.
pub fn played(name: &str, seed: i64) -> Vec<u8> {
    let game = agon_games::find(name).expect("a game of ours");
    let info = game.info();
    let seats = info.usual_seats();
    let mut session = game.open(&Setup { seats, seed, ..Setup::default() }).expect("the default set-up");
    for seat in Seat::first(seats) {
        let bot = info.builtins[(seed as usize + seat.index()) % info.builtins.len()].name;
        session.seat_builtin(seat, bot, &[], seed as u64).expect("a bot without options");
    }
    let known = |seat: Seat| SeatInfo { bot: "builtin".to_owned(), label: format!("bot {seat}"), hash: None };
    let header = Header {
        program: "agon test".to_owned(),
        game: info.name.to_owned(),
        rules_version: info.rules_version,
        recipe: session.recipe().clone(),
        seats: Seat::first(seats).map(known).collect(),
        started: 0,
        timed: info.time_is_played,
        id: None,
        clock: "original".to_owned().into(),
    };
    let mut writer = Writer::new(Vec::new(), &header).expect("memory takes all");
    while !session.deciding().is_empty() {
        let deciding = session.deciding();
        let answers: Vec<(Seat, PackedAnswer)> = deciding
            .iter()
            .map(|seat| (seat, Answer::Given { order: session.think(seat), think_ms: 0 }))
            .collect();
        session.play(&answers).expect("built-in bots give orders");
        writer.step(&answers, session.hash()).expect("memory takes all");
    }
    let state = format!("{:016x}", session.hash());
    let outcome = session.outcome().cloned();
    let end = EndInfo { steps: 0, outcome, state, chain: String::new(), facts: Value::Null };
    writer.finish(end).expect("memory takes all")
}

/// Engines as a page has them.
pub fn engines() -> Engines {
    Engines::keeping(MOST_OPEN)
}

/// Asks as a page does; nothing is returned as no bytes.
pub fn ask(engines: &Engines, ask: Value, file: &[u8]) -> Result<Vec<u8>, AskRefusal> {
    let asked = [ask.to_string().as_bytes(), b"\n", file].concat();
    engines.hear(&asked).map(Option::unwrap_or_default)
}

/// Opens a replay; returns its id, and its head.
pub fn open(engines: &Engines, replay: &[u8], private: bool) -> Result<(u32, Vec<u8>), AskRefusal> {
    let opened = ask(engines, json!({ "open": { "private": private } }), replay)?;
    let value: Value = serde_json::from_slice(&opened).expect("JSON");
    let at = opened.windows(8).position(|bytes| bytes == b"\"head\":{").expect("a head");
    Ok((value["id"].as_u64().expect("an id") as u32, opened[at..].to_vec()))
}

/// Lines of an open replay.
pub fn lines(engines: &Engines, id: u32, from: u32, to: u32) -> Result<Vec<u8>, AskRefusal> {
    ask(engines, json!({ "lines": { "id": id, "from": from, "to": to } }), b"")
}

/// The message that asked a seat.
pub fn message(engines: &Engines, id: u32, step: u32, seat: u8) -> Result<Vec<u8>, AskRefusal> {
    ask(engines, json!({ "message": { "id": id, "step": step, "seat": seat } }), b"")
}

/// Head, lines and some messages of a replay, in order.
pub fn texts(engines: &Engines, replay: &[u8], private: bool) -> Result<Vec<Vec<u8>>, AskRefusal> {
    let (id, head) = open(engines, replay, private)?;
    let value: Value = serde_json::from_slice(&[b"{", &head[..]].concat()).expect("JSON");
    let steps = value["head"]["steps"].as_u64().expect("a number of steps") as u32;
    let mut texts = vec![head];
    let mut next = 1;
    while next <= steps {
        let lines = lines(engines, id, next, next + 31)?;
        next += lines.iter().filter(|&&byte| byte == b'\n').count() as u32;
        texts.push(lines);
    }
    for step in [1, steps.div_ceil(2)] {
        for seat in 1..=value["head"]["seats"].as_array().expect("seats").len() as u8 {
            texts.push(message(engines, id, step, seat)?);
        }
    }
    ask(engines, json!({ "close": { "id": id } }), b"")?;
    Ok(texts)
}
