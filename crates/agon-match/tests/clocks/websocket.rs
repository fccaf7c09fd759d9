//! Jungle Blitz over real sockets: every odd thing a client can do, none of which disturbs another client.
//!
//! Longer than 500 lines: a test for each line of the table.
//!
//! | what a client does | test |
//! |---|---|
//! | answers for another tick: older, future, a text, no number | [`odd_answers_are_ignored_or_told_as_errors`] |
//! | answers a tick that was not asked yet | [`an_answer_to_a_later_tick_is_none_when_it_comes`] |
//! | answers twice: the first counts | [`odd_answers_are_ignored_or_told_as_errors`] |
//! | answers after the limit, and the next tick as usual | [`late_answers_do_not_count_and_later_ones_do`] |
//! | sends a message of an unknown type | [`odd_answers_are_ignored_or_told_as_errors`] |
//! | leaves `actions` out, or sends no list | [`odd_answers_are_ignored_or_told_as_errors`] |
//! | names a unit by a number, or half a tile | [`odd_answers_are_ignored_or_told_as_errors`] |
//! | sends no JSON, `null`, a list, nothing | [`what_ends_a_team`] |
//! | registers twice | [`a_second_registration_ends_a_team_after_its_answer`] |
//! | answers before the first tick | [`commands_before_the_first_tick_are_ignored`] |
//! | times out: no action, an error text with the tick and the limit, no end of it | [`late_answers_do_not_count_and_later_ones_do`] |
//! | goes away, and tries to come back | [`who_goes_away_is_dead_and_does_not_come_back`] |
//! | all go away | [`when_all_are_dead_the_match_ends`] |
//! | sends without end, or huge frames | [`floods_end_their_own_team_only`] |
//! | reads nothing | [`who_does_not_read_holds_nobody`] |
//! | does not register, or not as it must | [`who_does_not_register_is_sent_away`] |

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use agon_bot::{BotName, sys};
use agon_game::{AnyGame as _, Face, MapChoice, RulesChoice, Seat, Session, Setup};
use agon_match::arrival::Awaited;
use agon_match::{
    Clock, Fault, FaultKind, MatchRecord, Observer, Player, Ponder, StepReport, play, seat_player,
};
use jungle_blitz::JungleBlitz;
use serde_json::{Value, json};
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::protocol::frame::{Frame, FrameHeader};
use tungstenite::{Error, Message, WebSocket, client};

/// Two teams with one unit each, on a small map.
const MAP: &[u8] = b"units for 1 teams: 1\nunits for 2 teams: 1\nunits for 3 teams: 1\nunits for 4 teams: 1\nS....D\n......\nD....S\n";

/// A match at its own port.
struct Table {
    port: u16,
    seats: Vec<String>,
    ticks: u32,
}

/// Ends the match when its clients fail; otherwise it would wait for them.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

impl Table {
    /// A seat for each of `seats`: a built-in, or `ws` for a client.
    fn new(seats: &[&str]) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.expect("a free port").port();
        let name = |seat: &&str| if *seat == "ws" { format!("ws:{port}") } else { (*seat).to_owned() };
        Self { port, seats: seats.iter().map(name).collect(), ticks: 4 }
    }

    fn setup(&self) -> Setup {
        let sets = [("totalTick", self.ticks.to_string()), ("extraTimeTicks", "0".to_owned())];
        let sets = sets.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let rules = RulesChoice { sets, ..RulesChoice::default() };
        let map = MapChoice::File("small".to_owned(), MAP.to_vec());
        Setup { rules, map, seats: self.seats.len() as u8, seed: 1 }
    }

    /// Plays it, with `clients` running beside it.
    fn play(&self, clients: impl FnOnce(u16) + Send) -> MatchRecord {
        self.play_by(Clock { scale: 20.0, ..Clock::ORIGINAL }, clients)
    }

    fn play_by(&self, clock: Clock, clients: impl FnOnce(u16) + Send) -> MatchRecord {
        let mut session = Face::<JungleBlitz>::new().open(&self.setup()).expect("a game");
        let mut players: Vec<Player> = Seat::first(self.seats.len() as u8)
            .zip(&self.seats)
            .map(|(seat, name)| {
                let name = BotName::parse(name).expect("a name");
                seat_player(session.as_mut(), &name, seat, None, clock).expect("it can be seated")
            })
            .collect();
        let labels: Vec<String> = self.seats.clone();
        let stop = AtomicBool::new(false);
        let mut watch = Watch::default();
        let (over, ended) = std::sync::mpsc::channel::<()>();
        let record = thread::scope(|scope| {
            let stop = &stop;
            // A match that hangs fails instead of holding up all other tests.
            scope.spawn(move || {
                let late = ended.recv_timeout(Duration::from_secs(90))
                    == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
                stop.fetch_or(late, Ordering::Relaxed);
            });
            scope.spawn(|| {
                let _guard = StopOnPanic(stop);
                clients(self.port);
            });
            let record = play(session.as_mut(), &mut players, &labels, clock, Ponder::Stop, &mut watch, stop);
            drop(over);
            // Clients see their connections end.
            players.clear();
            record
        });
        assert_eq!(record.void, None, "{:?}", record.faults);
        assert!(
            watch.waited.iter().all(|awaited| awaited.address == format!("ws://127.0.0.1:{}", self.port))
        );
        record
    }
}

/// Records who was awaited.
#[derive(Default)]
struct Watch {
    waited: Vec<Awaited>,
}

impl Observer for Watch {
    fn stepped(&mut self, _: &mut dyn Session, _: &StepReport<'_>) -> std::io::Result<()> {
        Ok(())
    }

    fn awaiting(&mut self, seats: &[Awaited], _: Duration) {
        self.waited.extend_from_slice(seats);
    }
}

/// A client that follows instructions.
struct Bot(WebSocket<TcpStream>);

impl Bot {
    /// Connects and does the handshake.
    fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the port is open");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        stream.set_write_timeout(Some(Duration::from_secs(60))).expect("a limit");
        stream.set_nodelay(true).expect("a socket");
        Self(client(format!("ws://127.0.0.1:{port}/"), stream).expect("shaking hands").0)
    }

    /// Connects and registers.
    fn register(port: u16) -> Self {
        let mut bot = Self::connect(port);
        bot.say(json!({"type": "REGISTER", "teamName": "Bot"}));
        bot
    }

    fn say(&mut self, message: Value) {
        self.text(&message.to_string());
    }

    fn text(&mut self, text: &str) {
        let _ = self.0.send(Message::text(text));
    }

    /// The next TICK; none when the connection is closed.
    fn tick(&mut self) -> Option<Value> {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => {
                    assert!(text.is_ascii());
                    let tick: Value = serde_json::from_str(&text).expect("JSON");
                    assert_eq!(tick["type"], "TICK", "nothing else is ever sent");
                    return Some(tick);
                }
                Ok(Message::Ping(_) | Message::Pong(_)) => {}
                Ok(Message::Close(frame)) => assert_eq!(frame, None, "no code, seen as 1005"),
                Ok(other) => panic!("{other:?}"),
                Err(Error::ConnectionClosed | Error::AlreadyClosed) => return None,
                Err(Error::Io(_) | Error::Protocol(_)) => return None,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Answers every tick with `answer` until the end. Returns the ticks.
    fn play(mut self, mut answer: impl FnMut(&mut Self, &Value)) -> Vec<Value> {
        let mut ticks = Vec::new();
        while let Some(tick) = self.tick() {
            answer(&mut self, &tick);
            ticks.push(tick);
        }
        ticks
    }

    /// Gives an ordinary answer without actions.
    fn pass(&mut self, tick: &Value) {
        self.say(json!({"type": "COMMAND", "tick": tick["tick"], "actions": []}));
    }
}

fn faults(record: &MatchRecord, seat: u8) -> Vec<(FaultKind, &str)> {
    record.faults_of(Seat::new(seat)).map(|fault: &Fault| (fault.kind, fault.message.as_str())).collect()
}

/// A match of an ordinary bot (seat 1) against an odd one (seat 2), over `ticks` ticks; returns what the ordinary
/// bot saw. It never has a fault.
fn against(ticks: u32, odd: impl FnOnce(Bot) + Send) -> (MatchRecord, Vec<Value>) {
    let seen = Mutex::new(Vec::new());
    let table = Table { ticks, ..Table::new(&["ws", "ws"]) };
    let record = table.play(|port| {
        let good = Bot::register(port);
        // The first to register gets the first seat.
        thread::sleep(Duration::from_millis(100));
        let other = Bot::register(port);
        thread::scope(|scope| {
            scope.spawn(|| *seen.lock().expect("no panic") = good.play(Bot::pass));
            odd(other);
        });
    });
    assert_eq!(faults(&record, 0), []);
    (record, seen.into_inner().expect("no panic"))
}

fn is_dead(tick: &Value, seat: usize) -> bool {
    tick["teams"][seat]["isDead"].as_bool().expect("it is told")
}

#[test]
fn a_match_runs_to_its_end_and_is_closed_without_a_code() {
    let (record, seen) = against(6, |bot| {
        let ticks = bot.play(Bot::pass);
        assert_eq!(ticks.len(), 6);
        assert_eq!(ticks[0]["teams"][1]["name"], "Bot");
        assert_eq!(ticks[0]["teamId"], ticks[0]["teams"][1]["id"]);
    });
    assert_eq!((record.steps, faults(&record, 1)), (6, vec![]));
    assert_eq!(seen.len(), 6);
    assert!(record.outcome.is_some());
    // The CPU time of a bot that runs elsewhere is unknown.
    assert_eq!((record.times[0].cpu_ms, record.times[0].total_cpu_ms), (None, None));
}

#[test]
fn odd_answers_are_ignored_or_told_as_errors() {
    let at =
        |actions: Value, tick: &Value| json!({"type": "COMMAND", "tick": tick["tick"], "actions": actions});
    let unit = |id: Value, x: Value| json!([{"type": "UNIT", "action": "SPAWN", "unitId": id, "target": {"x": x, "y": 0}}]);
    let mut ticks = Vec::new();
    let (record, _) = against(7, |bot| {
        ticks = bot.play(|bot, tick| match tick["tick"].as_u64().expect("a number") {
            // For another tick; the right one counts.
            0 => {
                for other in [json!(7), json!(-1), json!("0"), Value::Null, json!(0.5)] {
                    bot.say(json!({"type": "COMMAND", "tick": other, "actions": unit(json!("9"), json!(0))}));
                }
                bot.say(json!({"type": "PING"}));
                bot.pass(tick);
            }
            // Two answers: the first counts.
            1 => {
                bot.say(at(unit(json!("2"), json!(0)), tick));
                bot.say(at(json!({}), tick));
            }
            2 => bot.say(json!({"type": "COMMAND", "tick": 2})),
            3 => bot.say(at(json!("none"), tick)),
            4 => bot.say(at(unit(json!(2), json!(0)), tick)),
            5 => bot.say(at(unit(json!("2"), json!(0.5)), tick)),
            _ => bot.pass(tick),
        });
    });
    let errors = |tick: usize| ticks[tick]["teams"][1]["errors"].as_array().expect("a list").len();
    assert_eq!((0..7).map(errors).collect::<Vec<_>>(), [0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(ticks[2]["teams"][1]["units"][0]["hasSpawned"], true, "the first answer counted");
    let own = faults(&record, 1);
    assert!(own.iter().all(|(kind, _)| *kind == FaultKind::Stray), "{own:?}");
    let whys: Vec<&str> = own.iter().map(|(_, why)| *why).collect();
    let no_number = |tick: &str| format!("a COMMAND whose tick is {tick}; it must be the number 0");
    assert_eq!(whys[0], "a COMMAND for tick 7, which was not asked yet; tick 0 was");
    assert_eq!(whys[1..5], ["-1", "\"0\"", "null", "0.5"].map(no_number));
    assert!(whys[5].contains("neither COMMAND nor REGISTER"), "{whys:?}");
    assert_eq!(whys[6..], ["another COMMAND for tick 1, which was already answered"]);
    assert_eq!(record.rejected_of(Seat::new(1)).count(), 4, "{:?}", record.rejected);
    assert_eq!((record.counts[1].all_faults(), record.counts[1].rejected), (7, 4));
    assert!(!is_dead(&ticks[6], 1));
}

#[test]
fn what_ends_a_team() {
    for (what, message, words) in [
        ("no JSON", "{\"type\":", "not JSON"),
        ("null", "null", "not an object"),
        ("a list", "[]", "not an object"),
        ("nothing", "", "not JSON"),
    ] {
        let (record, seen) = against(4, |bot| {
            let ticks = bot.play(|bot, tick| match tick["tick"].as_u64() {
                Some(1) => bot.text(message),
                _ => bot.pass(tick),
            });
            assert_eq!(ticks.len(), 2, "{what}: the connection is closed");
        });
        let own = faults(&record, 1);
        assert!(matches!(own[..], [(FaultKind::Malformed, why)] if why.contains(words)), "{what}: {own:?}");
        assert_eq!(seen.iter().map(|tick| is_dead(tick, 1)).collect::<Vec<_>>(), [false, false, true, true]);
        assert_eq!(record.steps, 4, "the other team plays on");
    }
}

#[test]
fn a_second_registration_ends_a_team_after_its_answer() {
    let (record, seen) = against(4, |bot| {
        bot.play(|bot, tick| {
            bot.pass(tick);
            if tick["tick"] == 1 {
                bot.say(json!({"type": "REGISTER", "teamName": "Again"}));
            }
        });
    });
    let own = faults(&record, 1);
    assert!(
        matches!(own[..], [(FaultKind::Malformed, why)] if why.contains("already registered")),
        "{own:?}"
    );
    assert!(is_dead(&seen[3], 1) && !is_dead(&seen[2], 1), "the answer to tick 1 counted");
}

#[test]
fn late_answers_do_not_count_and_later_ones_do() {
    let table = Table { ticks: 5, ..Table::new(&["builtin:idle", "ws"]) };
    let ticks = Mutex::new(Vec::new());
    let record = table.play_by(Clock { scale: 4.0, ..Clock::ORIGINAL }, |port| {
        let bot = Bot::register(port);
        *ticks.lock().expect("no panic") = bot.play(|bot, tick| {
            // In the middle of a later limit: two ticks pass without it.
            if tick["tick"] == 1 {
                thread::sleep(Duration::from_millis(1_500));
            }
            bot.pass(tick);
        });
    });
    let own = faults(&record, 1);
    assert!(own.iter().any(|(kind, _)| *kind == FaultKind::Timeout), "{own:?}");
    let late = |why: &str| why.starts_with("an answer to tick 1, ") && why.ends_with(" late");
    assert!(own.iter().any(|(kind, why)| *kind == FaultKind::Stray && late(why)), "{own:?}");
    let ticks = ticks.into_inner().expect("no panic");
    assert_eq!(ticks.len(), 5, "it is still there");
    assert!(ticks[2]["teams"][1]["errors"][0].as_str().is_some_and(|error| error.contains("tick 1")));
}

#[test]
fn an_answer_to_a_later_tick_is_none_when_it_comes() {
    let spawn = |tick: u64| {
        let target = json!({"x": 0, "y": 0});
        json!({"type": "COMMAND", "tick": tick, "actions": [{"type": "UNIT", "action": "SPAWN", "unitId": "2", "target": target}]})
    };
    let mut ticks = Vec::new();
    let (record, _) = against(4, |bot| {
        ticks = bot.play(|bot, tick| {
            bot.say(spawn(tick["tick"].as_u64().expect("a number") + 1));
            bot.pass(tick);
        });
    });
    assert_eq!(record.times[1].answers, 4);
    let own = faults(&record, 1);
    let early = |why: &str| why.contains("which was not asked yet");
    assert_eq!(own.len(), 4, "{own:?}");
    assert!(own.iter().all(|(kind, why)| *kind == FaultKind::Stray && early(why)), "{own:?}");
    assert!(ticks.iter().all(|tick| tick["teams"][1]["units"][0]["hasSpawned"] == false));
}

#[test]
fn commands_before_the_first_tick_are_ignored() {
    let table = Table::new(&["ws", "ws"]);
    let record = table.play(|port| {
        let mut early = Bot::register(port);
        for _ in 0..200 {
            early.say(json!({"type": "COMMAND", "tick": 0, "actions": []}));
        }
        // Pings are answered while others are awaited.
        early.0.send(Message::Ping(vec![7].into())).expect("room");
        thread::sleep(Duration::from_millis(300));
        let late = Bot::register(port);
        thread::scope(|scope| {
            scope.spawn(|| late.play(Bot::pass));
            assert_eq!(early.play(Bot::pass).len(), 4);
        });
    });
    assert_eq!((record.steps, faults(&record, 1)), (4, vec![]));
    assert!(record.has(Seat::new(0), FaultKind::Stray), "{:?}", record.faults);
    assert_eq!(record.times[0].answers, 4);
}

#[test]
fn who_goes_away_is_dead_and_does_not_come_back() {
    let (record, seen) = against(6, |mut bot| {
        let port = bot.0.get_ref().peer_addr().expect("an address").port();
        for _ in 0..2 {
            let tick = bot.tick().expect("a tick");
            bot.pass(&tick);
        }
        drop(bot);
        thread::sleep(Duration::from_millis(50));
        let mut again = Bot::register(port);
        assert_eq!(again.tick(), None, "the match is on its way");
    });
    assert!(record.has(Seat::new(1), FaultKind::Crash), "{:?}", record.faults);
    assert!(is_dead(seen.last().expect("six"), 1));
    assert_eq!((seen.len(), record.steps), (6, 6));
}

#[test]
fn when_all_are_dead_the_match_ends() {
    let table = Table { ticks: 50, ..Table::new(&["ws", "ws"]) };
    let record = table.play(|port| {
        for mut bot in [Bot::register(port), Bot::register(port)] {
            let tick = bot.tick().expect("a tick");
            bot.pass(&tick);
        }
    });
    assert!(record.steps < 5, "{}", record.steps);
    assert!(record.outcome.is_some());
    assert!(record.has(Seat::new(0), FaultKind::Crash) && record.has(Seat::new(1), FaultKind::Crash));
}

/// Our memory does not grow, and the other team notices nothing.
#[test]
fn floods_end_their_own_team_only() {
    let mask = [0; 4];
    let raw = |bot: &mut Bot, bytes: &[u8]| bot.0.get_mut().write_all(bytes).is_ok();
    type Flood<'a> = (&'a str, &'a (dyn Fn(&mut Bot) + Sync), &'a str);
    let floods: [Flood<'_>; 6] = [
        (
            "a million messages",
            &|bot| {
                // Until the server has had enough.
                let _ = (0..1_000_000).try_for_each(|_| bot.0.send(Message::text("{}")));
            },
            "more than 1000 messages",
        ),
        ("a huge message", &|bot| bot.text(&"x".repeat(3 << 20)), "at most 1048576"),
        (
            "a frame that only begins to be huge",
            &|bot| {
                let mut header = Vec::new();
                let frame = FrameHeader {
                    opcode: OpCode::Data(Data::Text),
                    mask: Some(mask),
                    ..FrameHeader::default()
                };
                frame.format(1 << 40, &mut header).expect("memory");
                raw(bot, &header);
            },
            "at most",
        ),
        (
            "pieces without end",
            &|bot| {
                let piece = |code, last| {
                    let mut bytes = Vec::new();
                    let mut frame = Frame::message(vec![b' '; 100], OpCode::Data(code), last);
                    frame.header_mut().mask = Some(mask);
                    frame.format(&mut bytes).expect("memory");
                    bytes
                };
                let more = piece(Data::Continue, false).repeat(100);
                let _ = raw(bot, &piece(Data::Text, false)) && (0..10_000).any(|_| !raw(bot, &more));
            },
            "a",
        ),
        (
            "pings without end",
            &|bot| {
                let mut ping = Vec::new();
                let mut frame = Frame::ping(vec![1; 100]);
                frame.header_mut().mask = Some(mask);
                frame.format(&mut ping).expect("memory");
                let many = ping.repeat(100);
                let _ = (0..10_000).any(|_| !raw(bot, &many));
            },
            "without end",
        ),
        (
            "no WebSocket any more",
            &|bot| assert!(raw(bot, b"GET / HTTP/1.1\r\n\r\n")),
            "not a WebSocket message",
        ),
    ];
    let before = sys::memory(rustix::process::getpid());
    for (what, flood, words) in floods {
        let (record, seen) = against(3, |mut bot| {
            bot.tick().expect("a tick");
            flood(&mut bot);
            // It is put out, however long it goes on.
            let mut junk = [0; 1 << 16];
            while bot.0.get_mut().read(&mut junk).is_ok_and(|count| count > 0) {}
        });
        let own = faults(&record, 1);
        assert!(own.iter().any(|(_, why)| why.contains(words)), "{what}: {own:?}");
        assert_eq!(seen.len(), 3, "{what}");
        assert!(is_dead(&seen[1], 1), "{what}");
    }
    let grown = sys::memory(rustix::process::getpid()).saturating_sub(before);
    assert!(grown < 96 << 20, "our memory grew by {grown} bytes");
}

#[test]
fn who_does_not_read_holds_nobody() {
    let (record, seen) = against(8, |mut bot| {
        // It keeps answering all ticks without having read one, until it is told that the match is over.
        let told = |bot: &mut Bot, tick: u8| {
            bot.0.send(Message::text(json!({"type": "COMMAND", "tick": tick, "actions": []}).to_string()))
        };
        while (0..8).all(|tick| told(&mut bot, tick).is_ok()) {
            thread::sleep(Duration::from_millis(5));
        }
    });
    let own = faults(&record, 1);
    assert_eq!(record.times[1].answers, 8, "{own:?}");
    assert!(own.iter().all(|(kind, _)| *kind == FaultKind::Stray), "{own:?}");
    assert_eq!((seen.len(), record.steps), (8, 8));
}

#[test]
fn who_does_not_register_is_sent_away() {
    let table = Table::new(&["ws"]);
    let record = table.play(|port| {
        let began = Instant::now();
        let mut silent = Bot::connect(port);
        let mut mute = TcpStream::connect(("127.0.0.1", port)).expect("the port is open");
        // A crowd of them keeps nobody out.
        let crowd: Vec<_> = (0..400).map(|_| TcpStream::connect(("127.0.0.1", port))).collect();
        let mut page = TcpStream::connect(("127.0.0.1", port)).expect("the port is open");
        page.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("room");
        // The end may come as a reset, which does not discard what was read before it.
        let mut answer = Vec::new();
        let _ = page.read_to_end(&mut answer);
        assert!(answer.starts_with(b"HTTP/1.1 426 "), "{}", String::from_utf8_lossy(&answer));
        for wrong in [
            "hello",
            "null",
            r#"{"type":"COMMAND","tick":0,"actions":[]}"#,
            r#"{"type":"REGISTER"}"#,
            r#"{"type":"REGISTER","teamName":""}"#,
            r#"{"type":"REGISTER","teamName":"a","token":"b"}"#,
            r#"{"type":"REGISTER","token":"guessed"}"#,
        ] {
            let mut bot = Bot::connect(port);
            bot.text(wrong);
            assert_eq!(bot.tick(), None, "{wrong}");
        }
        let mut huge = Bot::connect(port);
        huge.text(&"x".repeat(1 << 20));
        assert_eq!(huge.tick(), None, "a first message has a bound");
        drop(crowd);
        assert_eq!(silent.tick(), None);
        let _ = mute.set_read_timeout(Some(Duration::from_secs(30)));
        assert!(!matches!(mute.read(&mut [0; 100]), Ok(1..)), "it is sent away without a word");
        assert!(began.elapsed() < Duration::from_secs(30));
        assert_eq!(Bot::register(port).play(Bot::pass).len(), 4, "the seat was free all the time");
    });
    assert_eq!(faults(&record, 0), []);
}

#[test]
fn two_matches_share_a_port() {
    let one = Table { ticks: 30, ..Table::new(&["ws", "builtin:idle"]) };
    let other = Table { port: one.port, seats: one.seats.clone(), ticks: 20 };
    let (one, other) = (&one, &other);
    let mut lengths = thread::scope(|scope| {
        let bot = |port| drop(Bot::register(port).play(Bot::pass));
        let first = scope.spawn(move || one.play(bot));
        let second = other.play(bot);
        [first.join().expect("no panic"), second].map(|record| {
            assert_eq!(faults(&record, 0), []);
            record.steps
        })
    });
    lengths.sort_unstable();
    assert_eq!(lengths, [20, 30]);
}

#[test]
fn nobody_comes() {
    let table = Table::new(&["ws", "builtin:idle"]);
    // 500 s, a thousand times faster.
    let record = table.play_by(Clock { scale: 0.001, ..Clock::ORIGINAL }, |_| {});
    let own = faults(&record, 0);
    assert!(
        matches!(own[..], [(FaultKind::NeverStarted, why)] if why.contains("nobody connected to ws://127.0.0.1:")),
        "{own:?}"
    );
}

#[test]
fn who_waits_for_a_bot_learns_why_another_was_sent_away() {
    let table = Table::new(&["ws", "builtin:idle"]);
    let record = table.play_by(Clock { scale: 0.005, ..Clock::ORIGINAL }, |port| {
        let mut bot = Bot::connect(port);
        bot.text(r#"{"type":"REGISTER","token":"of yesterday"}"#);
        assert_eq!(bot.tick(), None);
    });
    let own = faults(&record, 0);
    let told = "s; of who came last: its token stands for no seat that waits here";
    assert!(matches!(own[..], [(FaultKind::NeverStarted, why)] if why.ends_with(told)), "{own:?}");
}

#[test]
fn a_port_of_another_program_is_named_with_it() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port();
    let table = Table { port, seats: vec![format!("ws:{port}")], ticks: 1 };
    let mut session = Face::<JungleBlitz>::new().open(&table.setup()).expect("a game");
    // This very program is meant; it is no run of the program that shares its ports.
    let name = BotName::parse(&table.seats[0]).expect("a name");
    let error = seat_player(session.as_mut(), &name, Seat::new(0), None, Clock::ORIGINAL)
        .err()
        .expect("the port is taken");
    let text = error.to_string();
    assert!(text.contains(&format!("(process {})", std::process::id())) && text.contains("--port"), "{text}");
    for wrong in ["ws:0", "ws:66000", "ws:x"] {
        let name = BotName::parse(wrong).expect("a name");
        let error =
            seat_player(session.as_mut(), &name, Seat::new(0), None, Clock::ORIGINAL).err().expect("no port");
        assert!(error.to_string().contains("is not a port"), "{error}");
    }
}
