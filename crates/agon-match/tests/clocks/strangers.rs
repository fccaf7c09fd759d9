//! Another user of this machine gets no seat, sees no token, and reads nothing of a bot.

use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use agon_bot::{BotName, sys};
use agon_game::{AnyGame as _, Face, Seat, Session, Setup};
use agon_match::arrival::Awaited;
use agon_match::record::Void;
use agon_match::{Clock, Observer, Player, Ponder, StepReport, play, seat_player};
use cultist_wars::CultistWars;
use jungle_blitz::JungleBlitz;

/// `nobody`: a user that owns nothing.
const OTHER: u32 = 65_534;

/// The output of another user's Python program; none if there can be no other user.
fn other_user(program: &str, words: &[&str]) -> Option<String> {
    let mut command = Command::new("python3");
    command.args(["-c", program]).args(words).current_dir("/").uid(OTHER).gid(OTHER);
    let output = match command.output() {
        Ok(output) if rustix::process::geteuid().is_root() => output,
        _ => {
            println!("SKIPPED: only root can become another user, who needs Python");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Connects, and reports whether anything is said to it.
const OVER_TCP: &str = "
import socket, sys
s = socket.create_connection(sys.argv[1].split(':'))
s.settimeout(60)
try: heard = s.recv(1)
except ConnectionError: heard = b''
print('seated' if heard else 'sent away')
";

/// The same with a handshake and a registration.
const OVER_WEBSOCKET: &str = r#"
import socket, sys
s = socket.create_connection(sys.argv[1].removeprefix('ws://').split(':'))
s.settimeout(60)
s.sendall(b'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
          b'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n')
heard = b''
while b'\r\n\r\n' not in heard: heard += s.recv(1000)
heard = heard.split(b'\r\n\r\n', 1)[1]
text = b'{"type":"REGISTER","teamName":"Thief"}'
s.sendall(bytes([0x81, 0x80 | len(text)]) + bytes(4) + text)
try: heard = heard or s.recv(1)
except ConnectionError: heard = b''
print('seated' if heard[:1] == b'\x81' else 'sent away')
"#;

/// Reports where a seat waits, and keeps why somebody was turned away.
struct Watch<'a> {
    address: Option<mpsc::Sender<String>>,
    trouble: Option<String>,
    stop: &'a AtomicBool,
}

impl Observer for Watch<'_> {
    fn stepped(&mut self, _: &mut dyn Session, _: &StepReport<'_>) -> std::io::Result<()> {
        Ok(())
    }

    fn awaiting(&mut self, seats: &[Awaited], _: Duration) {
        if let Some(address) = self.address.take() {
            let _ = address.send(seats[0].address.clone());
        }
        if let Some(trouble) = &seats[0].trouble {
            self.trouble = Some(trouble.clone());
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Has another user come to a seat open to anybody of ours; returns what that user and we are told.
fn visit(mut session: Box<dyn Session>, seat: &str, program: &str) -> Option<(String, String)> {
    let name = BotName::parse(seat).expect("a name");
    let expected = seat_player(session.as_mut(), &name, Seat::new(0), None, Clock::ORIGINAL);
    session.seat_builtin(Seat::new(1), "idle", &[], 0).expect("a built-in");
    let mut players = [expected.expect("it is waited for"), Player::Builtin];
    let labels = ["a".to_owned(), "b".to_owned()];
    let (tell, told) = mpsc::channel();
    let stop = AtomicBool::new(false);
    let mut watch = Watch { address: Some(tell), trouble: None, stop: &stop };
    let found = thread::scope(|scope| {
        let stop = &stop;
        let visitor = scope.spawn(move || {
            let found = told.recv().ok().and_then(|address| other_user(program, &[&address]));
            // We hear of it a moment later, and stop then.
            let until = Instant::now() + Duration::from_secs(60);
            while found.as_deref() == Some("sent away")
                && !stop.load(Ordering::Relaxed)
                && Instant::now() < until
            {
                thread::sleep(Duration::from_millis(5));
            }
            stop.store(true, Ordering::Relaxed);
            found
        });
        let (clock, ponder) = (Clock::ORIGINAL, Ponder::Stop);
        let record = play(session.as_mut(), &mut players, &labels, clock, ponder, &mut watch, stop);
        assert_eq!(record.void, Some(Void::Stopped));
        visitor.join().expect("no panic")
    });
    Some((found?, watch.trouble.unwrap_or_default()))
}

#[test]
fn another_user_takes_no_seat() {
    let setup = Setup { seats: 2, seed: 1, ..Setup::default() };
    let deerhunt = deerhunt::FACE.open(&setup).expect("a game");
    let jungle = Face::<JungleBlitz>::new().open(&setup).expect("a game");
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = free.expect("a free port").port();
    for (session, seat, program) in
        [(deerhunt, "tcp:".to_owned(), OVER_TCP), (jungle, format!("ws:{port}"), OVER_WEBSOCKET)]
    {
        let Some((told, trouble)) = visit(session, &seat, program) else { return };
        assert_eq!(told, "sent away", "{seat}: {trouble}");
        assert!(trouble.contains("another user") && trouble.contains("--any-user"), "{seat}: {trouble}");
    }
}

/// Tries to read a bot's files and memory; prints what worked.
const SNOOP: &str = "
import os, sys
process, folder, secret = sys.argv[1:]
for path in [f'/proc/{process}/environ', f'{folder}/own', f'/proc/{process}/fd/0']:
    try: print(open(path, 'rb').read(100))
    except OSError: pass
try: print(os.listdir(folder))
except OSError: pass
for other in filter(str.isdigit, os.listdir('/proc')):
    try: line = open(f'/proc/{other}/cmdline').read()
    except OSError: continue
    if secret in line and SECRET_OF_THIS not in line: print(line)
print('done')
";

#[test]
fn another_user_reads_nothing_of_a_bot() {
    let folder = tempfile::tempdir().expect("a folder");
    let bot = folder.path().join("bot.sh");
    std::fs::write(&bot, "env > $TMPDIR/draft; mv $TMPDIR/draft $TMPDIR/own; exec sleep 1000\n")
        .expect("a file");
    let mut session =
        Face::<CultistWars>::new().open(&Setup { seats: 2, seed: 1, ..Setup::default() }).expect("a game");
    let name = BotName::parse(bot.to_str().expect("a name")).expect("a name");
    let player = seat_player(session.as_mut(), &name, Seat::new(0), None, Clock::ORIGINAL);
    let Player::Program(program) = player.expect("it can be seated") else { panic!("a program") };
    let root = program.root();
    let until = Instant::now() + Duration::from_secs(60);
    // A process that is just replacing itself has no environment for a moment.
    let has_begun = |private: &String| std::path::Path::new(private).join("own").exists();
    let private = loop {
        if let Some(private) = sys::variable(root, "TMPDIR").filter(has_begun) {
            break private;
        }
        assert!(Instant::now() < until, "the bot did not start in a folder of its own");
        thread::sleep(Duration::from_millis(5));
    };
    // The snoop has the secret in its own command line.
    let snoop = SNOOP.replace("SECRET_OF_THIS", "'import os, sys'");
    let process = root.as_raw_nonzero().to_string();
    if let Some(seen) = other_user(&snoop, &[&process, &private, &program.owner().mark]) {
        assert_eq!(seen, "done");
    }
}
