//! The client modules and the example bots, as real processes. Skipped, with a message, where Python or Node is missing.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use agon_game::{Answer, AnyGame as _, Heard, RulesChoice, Seat, Setup};
use deerhunt::FACE;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if !found {
        eprintln!("SKIPPED: there is no {program}");
    }
    found
}

/// A process that ends with the test, whatever happens.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Plays seat 1 through `talk` against a built-in bot. Returns how often its workers were paid, and how
/// many of its moves were rejected.
fn play(preset: &str, mut talk: impl FnMut(&[u8]) -> Vec<u8>) -> (usize, usize) {
    let rules = RulesChoice { preset: preset.to_owned(), ..RulesChoice::default() };
    let setup = Setup { rules, seats: 2, seed: 4, ..Setup::default() };
    let mut table = FACE.open(&setup).expect("a preset sets up");
    let (me, other) = (Seat::new(0), Seat::new(1));
    table.seat_builtin(other, "miner", &[], 1).expect("a bot of the list");
    table.keep_events();
    let (mut paid, mut rejected) = (0, 0);
    while let Some(seat) = table.deciding().iter().next() {
        let order = if seat == other {
            table.think(seat)
        } else {
            let mut message = Vec::new();
            table.ask(me, &mut message);
            let reply = talk(&message);
            match table.hear(me, &reply) {
                Heard::Answer(order) => order,
                heard => panic!("{}: {heard:?} of {}", table.moment(), String::from_utf8_lossy(&reply)),
            }
        };
        table.play(&[(seat, Answer::Given { order, think_ms: 0 })]).expect("the deciding seat");
        let is_own = |event: &serde_json::Value| event["event"] == "mined" && event["owner"] == "p1";
        paid += table.events().iter().filter(|event| is_own(event)).count();
        rejected += table.rejections().iter().filter(|rejection| rejection.seat == me).count();
    }
    (paid, rejected)
}

#[test]
fn the_client_modules_pass_their_own_tests() {
    if is_there("python3") {
        let tests = Command::new("python3")
            .args(["-B", "-m", "unittest", "test_client"])
            .current_dir(here("client"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .expect("python3 was there");
        assert!(tests.status.success(), "{}", String::from_utf8_lossy(&tests.stderr));
    }
}

#[test]
fn the_python_bot_plays_in_every_preset() {
    for (preset, client) in [("document", "2019"), ("neo2019", "2019"), ("bc2021", "2021")] {
        if !is_there("python3") {
            return;
        }
        let server = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = server.local_addr().expect("an address").port().to_string();
        let bot = Command::new("python3")
            .args(["-B", here(&format!("client/{client}/client_runner.py")).to_str().expect("a plain path")])
            .args(["127.0.0.1", &port])
            .current_dir(here("bots/python"))
            .spawn()
            .expect("python3 was there");
        let _bot = Running(bot);
        let mut stream = server.accept().expect("the bot connects").0;
        stream.set_nodelay(true).expect("a socket");
        let (paid, rejected) = play(preset, |message| {
            let mut framed = format!("{:>10}", message.len()).into_bytes();
            framed.extend(message);
            stream.write_all(&framed).expect("the bot reads");
            let mut header = [0; 10];
            stream.read_exact(&mut header).expect("the bot answers");
            let length = std::str::from_utf8(&header).expect("digits").trim().parse().expect("a length");
            let mut body = vec![0; length];
            stream.read_exact(&mut body).expect("the bot answers");
            body
        });
        assert!(paid > 0 && rejected == 0, "{preset}: paid {paid} times, {rejected} moves rejected");
    }
}

#[test]
fn the_javascript_bot_plays_in_every_preset() {
    for preset in ["document", "neo2019", "bc2021"] {
        if !is_there("node") {
            return;
        }
        let mut bot = Command::new("node")
            .arg(here("bots/javascript/bot.js"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node was there");
        let (mut to, mut from) =
            (bot.stdin.take().expect("piped"), BufReader::new(bot.stdout.take().expect("piped")));
        let _bot = Running(bot);
        let (paid, rejected) = play(preset, |message| {
            to.write_all(&[message, b"\n"].concat()).expect("the bot reads");
            let mut line = String::new();
            from.read_line(&mut line).expect("the bot answers");
            line.into_bytes()
        });
        assert!(paid > 0 && rejected == 0, "{preset}: paid {paid} times, {rejected} moves rejected");
    }
}
