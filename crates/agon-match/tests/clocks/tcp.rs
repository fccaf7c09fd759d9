//! Deerhunt over real sockets: Python bots of the events, and every communication error.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use agon_bot::BotName;
use agon_game::{AnyGame as _, RulesChoice, Seat, Session, Setup};
use agon_match::arrival::Awaited;
use agon_match::record::Void;
use agon_match::{Clock, FaultKind, MatchRecord, Observer, Ponder, SeatError, StepReport, play, seat_player};
use deerhunt::FACE;
use serde_json::Value;

/// Reports the first address at which somebody is awaited, and keeps what bots have printed.
struct Watch {
    address: Option<mpsc::Sender<String>>,
    printed: [Vec<u8>; 2],
}

impl Observer for Watch {
    fn stepped(&mut self, _: &mut dyn Session, step: &StepReport<'_>) -> std::io::Result<()> {
        for ((seat, _), take) in step.answers.iter().zip(step.takes) {
            self.printed[seat.index()].extend_from_slice(&take.stderr);
        }
        Ok(())
    }

    fn awaiting(&mut self, seats: &[Awaited], _: Duration) {
        if let Some(address) = self.address.take_if(|_| seats[0].elsewhere) {
            let _ = address.send(seats[0].address.clone());
        }
    }
}

struct Played {
    record: MatchRecord,
    printed: [String; 2],
}

impl Played {
    fn faults(&self, seat: u8) -> Vec<(FaultKind, &str)> {
        self.record.faults_of(Seat::new(seat)).map(|fault| (fault.kind, fault.message.as_str())).collect()
    }
}

/// Plays `rounds` rounds by the document's rules, with the additional `sets`; a client connects to the seat
/// `tcp:`.
fn played(
    bots: [&str; 2],
    rules: &str,
    sets: &[(&str, &str)],
    client: impl Fn(TcpStream) + Sync,
) -> Result<Played, SeatError> {
    // Effects of a busy machine must not show here.
    let clock = Clock { scale: 4.0, ..Clock::ORIGINAL };
    for _ in 0..5 {
        let sets = sets.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let rules = RulesChoice { preset: rules.to_owned(), sets, ..RulesChoice::default() };
        let setup = Setup { rules, seats: 2, seed: 5, ..Setup::default() };
        let mut session = FACE.open(&setup).expect("a game");
        let mut players = Vec::new();
        for (seat, name) in Seat::first(2).zip(bots) {
            let name = BotName::parse(name).expect("a name");
            players.push(seat_player(session.as_mut(), &name, seat, None, clock)?);
        }
        let labels = ["a".to_owned(), "b".to_owned()];
        let stop = AtomicBool::new(false);
        let (tell, told) = mpsc::channel();
        let mut watch = Watch { address: Some(tell), printed: [Vec::new(), Vec::new()] };
        let record = thread::scope(|scope| {
            let client = &client;
            scope.spawn(move || {
                if let Ok(address) = told.recv() {
                    let stream = TcpStream::connect(address).expect("somebody listens");
                    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
                    client(stream);
                }
            });
            let record =
                play(session.as_mut(), &mut players, &labels, clock, Ponder::Stop, &mut watch, &stop);
            watch.address = None;
            // The client sees its connection end.
            drop(std::mem::take(&mut players));
            record
        });
        if !matches!(record.void, Some(Void::HostLate(_))) {
            let printed = watch.printed.map(|text| String::from_utf8_lossy(&text).into_owned());
            return Ok(Played { record, printed });
        }
    }
    panic!("this machine is too busy for a match");
}

/// The next message; none when the connection is closed.
fn hear(stream: &mut TcpStream) -> Option<Value> {
    let mut length = [0; 10];
    stream.read_exact(&mut length).ok()?;
    let length = std::str::from_utf8(&length).expect("digits").trim_start().parse().expect("a length");
    let mut message = vec![0; length];
    stream.read_exact(&mut message).ok()?;
    Some(serde_json::from_slice(&message).expect("JSON"))
}

fn say(stream: &mut TcpStream, message: &str) {
    let _ = write!(stream, "{:>10}{message}", message.len());
}

/// A client that gives question number `odd` (from 0) an odd answer, and all others one with nothing to do.
fn odd_once(odd: u32, answer: impl Fn(&mut TcpStream) + Sync) -> impl Fn(TcpStream) + Sync {
    move |mut stream| {
        let mut number = 0;
        while hear(&mut stream).is_some() {
            if number == odd {
                answer(&mut stream);
            } else {
                say(&mut stream, "[]");
            }
            number += 1;
        }
    }
}

const SHORT: &[(&str, &str)] = &[("max_rounds", "6"), ("reply_timeout_ms", "100")];

#[test]
fn every_error_of_communication_is_an_empty_list_and_a_fault() {
    type Answer<'a> = &'a (dyn Fn(&mut TcpStream) + Sync);
    let junk = |text: &'static str| move |stream: &mut TcpStream| drop(stream.write_all(text.as_bytes()));
    let cases: &[(&str, Answer<'_>, &str)] = &[
        ("no length", &junk("[[0, [\"UP\"]]]\n"), "length"),
        ("a length that is none", &junk("      abc []"), "length"),
        ("a negative length", &junk("        -2[]"), "length"),
        ("no JSON", &|stream| say(stream, "[[0, [\"UP\"]"), "not a list of moves"),
        ("an empty body", &|stream| say(stream, ""), "not a list of moves"),
        ("null", &|stream| say(stream, "null"), "not a list of moves"),
        ("another shape", &|stream| say(stream, "{\"0\": [\"UP\"]}"), "not a list of moves"),
        ("words without a list", &|stream| say(stream, "[[0, \"UP\"]]"), "not a list of moves"),
    ];
    for (what, answer, words) in cases {
        let played = played(["tcp:", "builtin:idle"], "document", SHORT, odd_once(2, answer)).expect("seats");
        let faults = played.faults(0);
        assert!(
            matches!(faults[..], [(FaultKind::Malformed, why)] if why.contains(words)),
            "{what}: {faults:?}"
        );
        assert_eq!(
            (played.record.steps, played.record.times[0].answers),
            (12, 6),
            "{what}: the match goes on"
        );
    }
}

#[test]
fn late_replies_are_discarded() {
    // Each reply contains the number of its question, as the number of moves of a unit that does not exist.
    let slow = |mut stream: TcpStream| {
        let mut number = 0;
        while hear(&mut stream).is_some() {
            if number == 1 {
                thread::sleep(Duration::from_millis(1_000));
            }
            let moves = vec!["[999, [\"UP\"]]"; number].join(", ");
            say(&mut stream, &format!("[{moves}]"));
            number += 1;
        }
    };
    let rejected = |played: &Played, step: u32| {
        played.record.rejected_of(Seat::new(0)).filter(|order| order.step == step).count()
    };
    let own = [("max_rounds", "5"), ("reply_timeout_ms", "100"), ("validation", "each")];
    let played = played(["tcp:", "builtin:idle"], "document", &own, slow).expect("seats");
    let kinds: Vec<_> = played.faults(0).iter().map(|(kind, _)| *kind).collect();
    assert!(kinds.contains(&FaultKind::Timeout) && kinds.contains(&FaultKind::Stray), "{kinds:?}");
    // The question after the late one is answered by its own reply.
    assert_eq!((rejected(&played, 2), rejected(&played, 8)), (0, 4), "{:?}", played.record.rejected);
}

#[test]
fn a_closed_connection_idles_to_the_end() {
    let leaves = |mut stream: TcpStream| {
        hear(&mut stream).expect("a question");
        say(&mut stream, "[]");
    };
    let played = played(["tcp:", "builtin:idle"], "document", SHORT, leaves).expect("seats");
    let faults = played.faults(0);
    assert!(matches!(faults[..], [(FaultKind::Crash, _)]), "{faults:?}");
    assert_eq!(played.record.steps, 12);
}

#[test]
fn nothing_is_stored_of_a_message_that_is_too_long() {
    let floods = odd_once(1, |stream| drop(stream.write_all(b" 999999999[[")));
    let played = played(["tcp:", "builtin:idle"], "document", SHORT, floods).expect("seats");
    let faults = played.faults(0);
    assert!(matches!(faults[..], [(FaultKind::Flood, why)] if why.contains("999999999 bytes")), "{faults:?}");
}

#[test]
fn a_port_may_be_fixed_and_shared() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let name = format!("tcp:{}", free.expect("a free port").port());
    let both = |stream: TcpStream| {
        let second = TcpStream::connect(stream.peer_addr().expect("an address")).expect("the same port");
        thread::scope(|scope| {
            for (mut stream, expected) in [(stream, 0), (second, 1)] {
                scope.spawn(move || {
                    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
                    let first = hear(&mut stream).expect("a question");
                    // The first to connect is player 1, whose units come first.
                    let least =
                        first["my_units"].as_array().expect("units").iter().map(|unit| unit["id"].as_u64());
                    assert_eq!(least.min() == Some(Some(0)), expected == 0);
                    say(&mut stream, "[]");
                    while hear(&mut stream).is_some() {
                        say(&mut stream, "[]");
                    }
                });
            }
        });
    };
    let played = played([&name, &name], "document", SHORT, both).expect("seats");
    assert_eq!((played.faults(0), played.faults(1)), (vec![], vec![]));
    assert_eq!(played.record.steps, 12);
}

#[test]
fn what_cannot_be_played_over_tcp_is_told() {
    let error = |name: &str| {
        played([name, "builtin:idle"], "document", SHORT, |_| {}).err().expect("no seat").to_string()
    };
    assert!(error("ws:").contains("Deerhunt has no WebSocket"));
    assert!(error("tcp:none").contains("`none` is not a port"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port();
    assert!(error(&format!("tcp:{port}")).contains(&format!("(process {})", std::process::id())));
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("agon.toml"), "dialect = 'websocket'\nrun = 'true'").expect("a file");
    let text = error(folder.path().to_str().expect("a name"));
    assert!(text.contains("dialect = \"websocket\"") && text.contains("\"tcp\" or \"lines\""), "{text}");
}

fn python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        println!("SKIPPED: there is no python3");
    }
    found
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn path(folder: &tempfile::TempDir) -> &str {
    folder.path().to_str().expect("a name")
}

const IDLE: &str = "
class GridPlayer:
    def tick(self, game_map, your_units, enemy_units, resources, turns_left):
        return []
";

#[test]
fn bots_of_the_events_run_unchanged() {
    if !python() {
        return;
    }
    let bots = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/deerhunt/bots/python");
    let bot = bots.to_str().expect("a name");
    for rules in ["document", "neo2019", "bc2021"] {
        let played = played([bot, bot], rules, &[("max_rounds", "40")], |_| {}).expect("seats");
        for seat in 0..2 {
            let own = played.faults(seat);
            assert!(own.is_empty(), "{rules}: {own:?}");
        }
        assert!(played.record.outcome.is_some(), "{rules}");
    }
}

#[test]
fn what_a_bot_prints_is_its_log_and_what_it_raises_ends_it() {
    if !python() {
        return;
    }
    let chatty = folder(&[(
        "grid_player.py",
        "
from helper_classes import *

print('loaded')

class GridPlayer:
    def tick(self, game_map, your_units, enemy_units, resources, turns_left):
        print('turns left:', turns_left)
        if turns_left == 3:
            raise ValueError('out of ideas')
        return ['no move']
",
    )]);
    let played = played([path(&chatty), "builtin:idle"], "document", SHORT, |_| {}).expect("seats");
    let faults = played.faults(0);
    assert!(
        matches!(faults[..], [(FaultKind::Crash, why)] if why.contains("ValueError: out of ideas")),
        "{faults:?}"
    );
    assert_eq!(played.record.steps, 12, "the match goes on without it");
    for words in ["loaded", "turns left: 6", "no move", "Traceback"] {
        assert!(played.printed[0].contains(words), "{words} in {}", played.printed[0]);
    }
}

#[test]
fn a_bot_keeps_its_own_modules() {
    if !python() {
        return;
    }
    let own = folder(&[
        (
            "grid_player.py",
            "import helper_classes, move\nprint(helper_classes.OWN, move.__file__)\nclass GridPlayer:\n    tick = lambda self, *seen: []\n",
        ),
        (
            "helper_classes.py",
            "OWN = 'my own helpers'\nclass Map:\n    def __init__(self, grid): pass\nclass Units:\n    def __init__(self, units): pass\n",
        ),
    ]);
    let module = own.path().join("grid_player.py");
    for name in [path(&own), module.to_str().expect("a name")] {
        let played = played([name, "builtin:idle"], "bc2021", SHORT, |_| {}).expect("seats");
        assert_eq!(played.faults(0), []);
        assert!(played.printed[0].contains("my own helpers"), "{}", played.printed[0]);
        assert!(played.printed[0].contains("deerhunt-2021/move.py"), "{}", played.printed[0]);
    }
}

#[test]
fn a_bot_that_does_not_come_is_told_why() {
    if !python() {
        return;
    }
    let broken = folder(&[("grid_player.py", "import no_such_module_anywhere\n")]);
    let slow = folder(&[("grid_player.py", "import time\nprint('loading')\ntime.sleep(60)\n")]);
    for (bot, connect, words) in [
        (&broken, "7000", ["it ended with exit code 1", "No module named 'no_such_module_anywhere'"]),
        (&slow, "500", ["did not connect to 127.0.0.1:", "it last wrote: `loading`"]),
    ] {
        let sets = [("max_rounds", "6"), ("connect_timeout_ms", connect)];
        let played = played([path(bot), "builtin:idle"], "document", &sets, |_| {}).expect("seats");
        let faults = played.faults(0);
        assert!(
            matches!(faults[..], [(FaultKind::NeverStarted, why)] if words.iter().all(|word| why.contains(word))),
            "{faults:?}"
        );
    }
}

#[test]
fn a_program_in_any_language_may_dial_in() {
    if !python() {
        return;
    }
    let client = "
import os, socket, sys
host, port = sys.argv[1:]
assert os.environ['AGON_ADDRESS'] == host + ':' + port
stream = socket.create_connection((host, int(port))).makefile('rwb')
print('not the protocol')
while length := stream.read(10):
    stream.read(int(length))
    stream.write(b'         2[]')
    stream.flush()
";
    let files =
        [("client.py", client), ("agon.toml", "dialect = 'tcp'\nrun = 'python3 client.py {host} {port}'")];
    let own = folder(&files);
    // A folder with `grid_player.py` may declare that it is something else.
    let other = folder(&[("grid_player.py", IDLE), ("agon.toml", "run = 'python3 -c pass'")]);
    let played_own = played([path(&own), "builtin:idle"], "document", SHORT, |_| {}).expect("seats");
    assert_eq!(played_own.faults(0), []);
    assert!(played_own.printed[0].contains("not the protocol"));
    let played_other = played([path(&other), "builtin:idle"], "document", SHORT, |_| {}).expect("seats");
    // On a busy machine it may take longer to end than to answer.
    let faults = played_other.faults(0);
    assert!(matches!(faults.last(), Some((FaultKind::Crash, _))), "it speaks lines: {faults:?}");
}
