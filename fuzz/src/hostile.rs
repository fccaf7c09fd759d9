//! What the fuzz targets do with their bytes; ordinary tests run the same over the committed corpora.
//!
//! No function may panic or take long, whatever the bytes.

use agon_bot::{Received, Wire as _};
use agon_game::{Answer, AnyGame, Heard, Kit, MapChoice, RulesChoice, Seat, Session, Setup};
use agon_replay::Replay;
use agon_view::{Ask, Engines};

/// Messages of a bot, in some game and position. The first byte chooses the game and how many steps of random-looking
/// answers were played before; messages end at line feeds.
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
    // The same bytes are also the second part.
    for _ in 0..2 {
        match session.hear(seat, message) {
            Heard::More | Heard::Ignore(_) => {}
            Heard::Answer(order) => {
                let mut said = Vec::new();
                assert!(session.say(seat, &order, &mut said), "an order that was heard can be said");
                return Answer::Given { order, think_ms: 1 };
            }
            Heard::Failed { why, .. } | Heard::Malformed(why) => {
                return Answer::Malformed { why, think_ms: 1 };
            }
            Heard::Close(_) => return Answer::Missing(agon_game::Absence::Gone),
        }
    }
    Answer::Missing(agon_game::Absence::TimedOut)
}

/// A replay file: read, and if that works set up and played; and the same with what belongs to seats removed.
pub fn replay(games: &[&dyn AnyGame], bytes: &[u8]) {
    let Ok(replay) = Replay::read(bytes) else { return };
    let (public, redacted) =
        agon_replay::redact(bytes, &[], &|_| None).expect("what can be read can be redacted");
    let again = Replay::read(&public).expect("what was redacted can be read");
    assert_eq!(again.steps.len(), replay.steps.len());
    assert_eq!(
        again.end.map(|end| end.chain == format!("{:016x}", again.chain)),
        replay.end.as_ref().map(|end| end.chain == format!("{:016x}", replay.chain)),
        "{redacted:?}"
    );
    let Some(game) = games.iter().find(|game| game.info().name == replay.header.game) else { return };
    let Ok(mut session) = game.open(&replay.header.recipe.setup()) else { return };
    for step in replay.steps.iter().take(200) {
        if session.play(&step.answers).is_err() {
            break;
        }
    }
    let _ = session.hash();
}

/// What a page may ask of its engines: the first eight bytes choose the questions, the rest is the file.
pub fn module(bytes: &[u8]) {
    let Some((&[private, from, to, step, seat, other, ..], file)) = bytes.split_first_chunk::<8>() else {
        return;
    };
    // Long matches take long, and show no more than short ones.
    if file.len() > 16 << 10 {
        return;
    }
    let engines = Engines::keeping(4);
    if let Err(refusal) = engines.hear(file) {
        assert!(!refusal.error.is_empty());
    }
    let (id, head) = match engines.answer(Ask::Open { private: private % 2 == 0 }, file) {
        Ok(agon_view::Reply::Opened(opened)) => (opened.id, opened.head),
        Ok(other) => panic!("{other:?}"),
        Err(refusal) => {
            assert!(!refusal.error.is_empty() && !refusal.gone);
            return;
        }
    };
    let lines = |id, from, to| {
        engines.answer(Ask::Lines { id, from, to }, &[]).map(|lines| match lines {
            agon_view::Reply::Bytes(lines) => lines,
            other => panic!("{other:?}"),
        })
    };
    let steps = head.steps.expect("a number");
    let few = steps.min(64);
    // A line requested alone equals the same line requested with others, from whichever side it is reached.
    let all = lines(id, 1, few).expect("it is open");
    let mut told = all.split_inclusive(|&byte| byte == b'\n');
    for step in 1..=few {
        let Some(line) = told.next() else { break };
        assert_eq!(lines(id, few - step + 1, few - step + 1).map(|line| !line.is_empty()), Ok(true));
        assert_eq!(lines(id, step, step).as_deref(), Ok(line));
    }
    for (from, to) in [(from.into(), to.into()), (u32::MAX - u32::from(from), u32::MAX), (steps, u32::MAX)] {
        let _ = lines(id, from, to).expect("it is open");
    }
    let _ = engines.answer(Ask::Message { id, step: u32::from(step).min(64), seat }, &[]);
    let _ = engines.answer(Ask::Message { id, step: u32::MAX, seat: 1 }, &[]);
    assert!(lines(id.wrapping_add(1 + u32::from(other)), 1, 1).is_err_and(|refusal| refusal.gone));
    let _ = engines.answer(Ask::Close { id }, &[]).expect("closing is never refused");
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

/// The description of a sandbox, as its spawner reads it, or an order to its first process. What is accepted shows
/// only what may be shown.
pub fn confinement(bytes: &[u8]) {
    if let Ok(order) = serde_json::from_slice::<agon_sandbox::Order>(bytes) {
        serde_json::to_vec(&order).expect("what was read can be written");
    }
    let Ok(given) = serde_json::from_slice::<agon_sandbox::Confinement>(bytes) else { return };
    if let Err(wrong) = given.check() {
        assert!(!wrong.to_string().is_empty());
        return;
    }
    let places = || given.readable.iter().chain(&given.writable).chain(&given.copied);
    for place in places() {
        let own = ["/proc", "/sys", "/dev"];
        assert!(own.iter().all(|own| !place.inside.starts_with(own)), "{place:?}");
        for path in [&place.outside, &place.inside] {
            let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
            assert!(path.is_absolute() && path.parent().is_some() && !climbs, "{place:?}");
        }
        assert!(given.seen(&place.outside, true).is_some() && given.seen(&place.outside, false).is_some());
    }
    assert!(given.environment(&given.folder).len() >= 5);
    // What the spawner adds up.
    let folders = given.copied.len() as u64 + 1;
    assert!(given.disk.checked_mul(2 * folders).and_then(|sum| sum.checked_add(given.memory)).is_some());
}

/// A map file of some game; the first byte chooses the game. Bytes that are no map get a reason; a map can be played.
pub fn maps(games: &[&dyn AnyGame], bytes: &[u8]) {
    let Some((&choice, content)) = bytes.split_first() else { return };
    map(games[usize::from(choice) % games.len()], "map.txt", content);
}

/// A map of Jungle Blitz as an image of the original.
pub fn bmp(games: &[&dyn AnyGame], bytes: &[u8]) {
    let game = games.iter().find(|game| game.info().name == "jungle-blitz").expect("a game of the list");
    // Whatever it begins with, it is read as an image.
    let image = [b"BM", bytes.get(2..).unwrap_or_default()].concat();
    map(*game, "map.bmp", &image);
}

fn map(game: &dyn AnyGame, name: &str, content: &[u8]) {
    if let Some(Err(why)) = game.check_map(name, content) {
        assert!(!why.to_string().is_empty());
    }
    for seats in [game.info().seats.0, game.info().seats.1] {
        let map = MapChoice::File(name.to_owned(), content.to_vec());
        let Ok(mut session) = game.open(&Setup { map, seats, seed: 1, ..Setup::default() }) else { continue };
        let again = session.recipe().setup();
        for _ in 0..3 {
            let answers: Vec<_> = session
                .deciding()
                .iter()
                .map(|seat| (seat, Answer::Missing(agon_game::Absence::TimedOut)))
                .collect();
            if answers.is_empty() {
                break;
            }
            session.ask(answers[0].0, &mut Vec::new());
            session.play(&answers).expect("nobody answered");
        }
        let _ = (session.picture(None), session.scene());
        // What a replay holds of a map is enough to play on it again.
        game.open(&again).expect("a map that was read can be read again");
    }
}

/// A journal of a series.
pub fn journal(bytes: &[u8]) {
    let mut entries = Vec::new();
    match agon_contest::journal::read_from("journal.jsonl".as_ref(), bytes, |entry| entries.push(entry)) {
        Ok(past) => {
            assert_eq!(past.entries, entries.len() as u64);
            entries.iter().for_each(|entry| assert!(past.header.command(entry).starts_with("agon play ")));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A file that describes a tournament.
pub fn contest(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(why) = agon_contest::config::ContestFile::parse(text) {
        assert!(why.starts_with(':'), "an error points into the file: {why}");
    }
}

/// Messages of a bot of Jungle Blitz before a match and during one (REGISTER).
pub fn jungle_register(games: &[&dyn AnyGame], bytes: &[u8]) {
    let mut session = open(games, "jungle-blitz", "tournament");
    let Kit::WebSocket(kit) = session.kit() else { panic!("Jungle Blitz is played over WebSocket") };
    let registered = (kit.register)(bytes);
    match &registered {
        Err(why) => assert!(!why.is_empty() && why.len() < 1_000, "a sentence: {why}"),
        Ok(token) => assert!(token.as_ref().is_none_or(|token| !token.is_empty() && token.len() <= 400)),
    }
    let first = session.hear(Seat::new(0), bytes);
    assert!(registered.is_err() || matches!(first, Heard::Ignore(None)), "{first:?}");
    // Nobody can be two teams.
    let second = session.hear(Seat::new(0), bytes);
    assert!(registered.is_err() || matches!(second, Heard::Close(_)), "{second:?}");
    told(session.as_mut());
}

/// Commands of a Jungle Blitz bot, one per line: as they are, and as the actions of a command.
pub fn jungle_command(games: &[&dyn AnyGame], bytes: &[u8]) {
    let mut session = open(games, "jungle-blitz", "tournament");
    for (tick, line) in bytes.split(|&byte| byte == b'\n').take(40).enumerate() {
        if session.deciding().is_empty() {
            break;
        }
        told(session.as_mut());
        let head = format!("{{\"type\":\"COMMAND\",\"tick\":{tick},\"actions\":");
        let wrapped = [head.as_bytes(), line, b"}"].concat();
        // A bot that sends invalid JSON is out, so one of them may play on alone.
        let deciding = session.deciding();
        let message = |seat: Seat| if seat.index() == 0 { line } else { &wrapped[..] };
        let answers = deciding.iter().map(|seat| (seat, heard_twice(session.as_mut(), seat, message(seat))));
        let answers: Vec<_> = answers.collect();
        session.play(&answers).expect("what the dialect heard can be played");
    }
}

/// Replies of a Deerhunt bot, one per line, under each of its rules.
pub fn deerhunt_reply(games: &[&dyn AnyGame], bytes: &[u8]) {
    for preset in ["document", "neo2019", "bc2021"] {
        let mut session = open(games, "deerhunt", preset);
        let mut question = Vec::new();
        for line in bytes.split(|&byte| byte == b'\n').take(40) {
            let Some(seat) = session.deciding().iter().next() else { break };
            question.clear();
            session.ask(seat, &mut question);
            let answer = heard_twice(session.as_mut(), seat, line);
            session.play(&[(seat, answer)]).expect("what the dialect heard can be played");
        }
    }
}

/// What a Deerhunt bot sends over TCP: messages preceded by their length in ten characters.
pub fn deerhunt_frames(bytes: &[u8]) {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    const LONGEST: usize = 1_000;
    // What the system buffers without anybody reading.
    let bytes = &bytes[..bytes.len().min(16 << 10)];
    let door = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let mut theirs = TcpStream::connect(door.local_addr().expect("an address")).expect("the door is open");
    let (ours, _) = door.accept().expect("a connection");
    let mut wire = agon_bot::tcp::Framed::new(ours, LONGEST).expect("a socket");
    // In two pieces, so that a header may be cut.
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let (mut message, mut seen) = (Vec::new(), 0);
    for (piece, last) in [(first, false), (second, true)] {
        theirs.write_all(piece).expect("room");
        if last {
            theirs.shutdown(std::net::Shutdown::Write).expect("an end");
        }
        loop {
            match wire.receive(&mut message) {
                Received::Message => {
                    seen += 10 + message.len();
                    assert!(message.len() <= LONGEST);
                }
                Received::Garbled(why) => assert!(why.len() < 1_000),
                Received::Nothing | Received::Broken(_) => break,
                Received::Closed(unfinished) => {
                    seen += unfinished;
                    break;
                }
                Received::Illegal(why) => panic!("frames are never illegal: {why}"),
            }
            assert!(wire.whole() * 10 <= bytes.len());
        }
        assert!(wire.held().len() <= bytes.len());
    }
    assert!(seen <= bytes.len(), "nothing is made up");
}

/// A match of two.
fn open(games: &[&dyn AnyGame], name: &str, preset: &str) -> Box<dyn Session> {
    let game = games.iter().find(|game| game.info().name == name).expect("a game of the list");
    let rules = RulesChoice { preset: preset.to_owned(), ..RulesChoice::default() };
    game.open(&Setup { rules, seats: 2, seed: 1, ..Setup::default() }).expect("a preset can be played")
}

/// Asks all seats; every question is JSON in pure ASCII.
fn told(session: &mut dyn Session) {
    let mut question = Vec::new();
    for seat in session.deciding().iter() {
        question.clear();
        session.ask(seat, &mut question);
        assert!(question.is_ascii());
        serde_json::from_slice::<serde_json::Value>(&question).expect("a question is JSON");
    }
}

/// An answer that was heard is heard as the same again when sent in its tidy form.
fn heard_twice(session: &mut dyn Session, seat: Seat, message: &[u8]) -> Answer<Vec<u8>> {
    let answer = heard(session, seat, message);
    if let Answer::Given { order, .. } = &answer {
        let mut said = Vec::new();
        assert!(session.say(seat, order, &mut said));
        // A second answer to the same question would not count.
        session.ask(seat, &mut Vec::new());
        let again = session.hear(seat, &said);
        assert!(
            matches!(&again, Heard::Answer(other) | Heard::Failed { order: Some(other), .. } if other == order),
            "{} is heard as {again:?}",
            String::from_utf8_lossy(&said)
        );
    }
    answer
}
