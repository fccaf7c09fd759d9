//! A match in the viewer, while it is played and afterwards: who gets which lines.

use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

use agon_bot::BotName;
use agon_replay::Replay;
use agon_server::Inside;
use agon_store::{LoginKind, WorkerId};
use agon_worker::play::MatchEnd;
use agon_worker::telling::{Telling, ToldSoFar};
use agon_worker::{BotSource, Job};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::common::{Browser, World, play_some};
use crate::private::talkative;

/// How long a test waits for something that it does not cause itself.
const PATIENT: Duration = Duration::from_secs(60);

/// A stream of lines that is read as it comes.
struct Lines {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Lines {
    async fn open(browser: &Browser, path: &str) -> Self {
        let cookies: Vec<String> =
            browser.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let head = format!(
            "GET {path} HTTP/1.0\r\nHost: {}\r\nCookie: {}\r\n\r\n",
            browser.address,
            cookies.join("; ")
        );
        let mut stream = TcpStream::connect(browser.address).await.expect("it listens");
        stream.write_all(head.as_bytes()).await.expect("sent");
        Self { stream, bytes: Vec::new() }
    }

    /// The lines so far.
    fn so_far(&self) -> Vec<Value> {
        let text = String::from_utf8_lossy(&self.bytes);
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let whole = body.rfind('\n').map_or("", |end| &body[..end]);
        let lines = whole.lines().filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"))).collect()
    }

    /// Reads until one of the lines is like this, or it ends.
    async fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Vec<Value> {
        let reads = async {
            while !self.so_far().iter().any(&is_it) {
                if self.stream.read_buf(&mut self.bytes).await.expect("read") == 0 {
                    break;
                }
            }
        };
        tokio::time::timeout(PATIENT, reads).await.unwrap_or_else(|_| panic!("{:?}", self.so_far()));
        self.so_far()
    }
}

fn is_step(line: &Value) -> bool {
    line.get("step").is_some()
}

fn is_end(line: &Value) -> bool {
    line.get("outcome").is_some()
}

fn steps(lines: &[Value]) -> Vec<Value> {
    lines.iter().filter(|line| is_step(line)).cloned().collect()
}

/// The match of a page, as the viewer unpacks it.
fn inside(page: &str) -> String {
    let part = |id: &str| Some(page.split_once(&format!("id=\"{id}\">"))?.1.split_once('<')?.0.to_owned());
    let unbased = |text: String| STANDARD.decode(text).expect("base64");
    if let Some(replay) = part("replay") {
        return format!("{:?}", Replay::read(&unbased(replay)).expect("a replay"));
    }
    let mut text = String::new();
    let packed = unbased(part("match").unwrap_or_else(|| panic!("{page}")));
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("gzip");
    text
}

/// Plays a match with these bots while the server is told of it, and returns what to post.
async fn play_told(
    world: &World,
    worker: WorkerId,
    job: &Job,
    bots: Vec<BotName>,
) -> Box<agon_worker::HeldRecord> {
    let (server, job, now) = (world.server.clone(), job.clone(), world.now());
    let runtime = tokio::runtime::Handle::current();
    let played = tokio::task::spawn_blocking(move || {
        let clock = move || now;
        let hall = Inside::new(&server, runtime, worker, &clock);
        let (telling, mut told) = (Telling::of(server.table(), &job, &bots), ToldSoFar::default());
        told.tell(&hall, job.attempt, &telling);
        let (halt, turn) = (AtomicBool::new(false), AtomicU32::new(0));
        let played = server.table().play_told(&job, &bots, (&[0], &halt, &turn), Some(&telling));
        told.tell(&hall, job.attempt, &telling);
        played.expect("begins")
    });
    match played.await.expect("played") {
        MatchEnd::Whole(recorded) => recorded,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_match_is_followed_while_it_is_played_and_nobody_gets_what_others_bots_write() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: python3 is not installed");
        return;
    }
    let world = World::new().await;
    let [ann, bob, eve] = [
        world.account("Ann", false).await,
        world.account("Bob", false).await,
        world.account("Eve", false).await,
    ];
    let rita = world.account("Rita", true).await;
    world.team(bob, "Bobs").await;
    world.team(eve, "Eves").await;
    let (mut ann, _) = world.signed_in(ann, LoginKind::Session).await;
    let (mut bob, _) = world.signed_in(bob, LoginKind::Session).await;
    let (eve, _) = world.signed_in(eve, LoginKind::Session).await;
    let (rita, _) = world.signed_in(rita, LoginKind::Session).await;
    let nobody = world.browser();
    ann.upload("/upload", &[], "bot.py", b"print('ann')").await;
    bob.upload("/upload", &[], "bot.py", b"print('bob')").await;
    play_some(&world, 12).await;
    let versions = world.server.store().versions().await.expect("read");
    let live =
        |team: &str| versions.iter().find(|version| version.entrant == team).expect("live").id.to_string();
    let wish =
        [("own", live("Ann")), ("against", live("Bobs")), ("seed", "7".to_owned()), ("seat", "1".to_owned())];
    let wish: Vec<(&str, &str)> = wish.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let asked = ann.post("/challenge", &wish).await;
    let page = asked.header("location").unwrap_or_else(|| panic!("{}", asked.text())).to_owned();
    let path = format!("{page}/lines");
    let text = ann.get(&page).await;
    assert!(
        text.heading().starts_with("Challenge of 06:") && text.heading().ends_with("Ann v1 against Bobs v1"),
        "{}",
        text.heading()
    );
    // The board is there before the match begins, with the reason why nothing moves; the page follows it without a replay.
    let mut early = Lines::open(&ann, &path).await;
    let lines = early.until(|line| line.get("wait").is_some()).await;
    assert_eq!((&lines[0]["seats"][0]["label"], &lines[0]["private"]), (&"Ann v1".into(), &true.into()));
    assert_eq!(lines[1]["wait"], "It waits for its turn.");
    let view = ann.get(&format!("{page}/view")).await.text();
    assert!(
        view.contains(&format!("name=\"agon-match\" content=\"{page}\""))
            && view.contains(&format!("href=\"{page}\"")),
        "{view}"
    );

    let worker = world.server.meet("one", "not confined", world.now()).await.expect("met");
    let mut found = None;
    for number in 0..8 {
        world.wait(1_000);
        world.server.tick(world.now()).await.expect("done");
        let granted = world.server.lease(worker, &format!("here {number}"), 1, world.now()).await;
        found = granted.expect("answered").jobs.into_iter().find(|job| job.is_followed);
        if found.is_some() {
            break;
        }
    }
    let job = found.expect("the challenge's turn has come");
    assert!(page.ends_with(&format!("/{}", job.attempt.game)));
    let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    let bot = |folder: &Path, secret: &str| {
        BotName::parse(&talkative(folder, secret).to_string_lossy()).expect("a folder")
    };
    let bots = vec![bot(folders[0].path(), "the plan of Ann"), bot(folders[1].path(), "the plan of Bob")];
    assert!(job.seats.iter().all(|seat| matches!(seat.program, BotSource::Source(_))));
    assert!(world.server.start(worker, job.attempt, world.now()).await.expect("answered"));
    let recorded = play_told(&world, worker, &job, bots).await;

    // It is not over for anybody, but every step is there, for those who may see the match.
    let last = |lines: &[Value]| lines.iter().filter(|line| is_step(line)).count();
    let mut came = Vec::new();
    for (whose, browser) in [("Ann", &ann), ("Bob", &bob), ("Rita", &rita)] {
        let mut stream = Lines::open(browser, &path).await;
        let lines = stream.until(|line| line["step"] == 20).await;
        assert!(last(&lines) >= 20 && !lines.iter().any(is_end), "{whose}");
        came.push((whose, browser, stream));
    }
    early.until(|line| line["step"] == 20).await;
    for other in [&eve, &nobody] {
        assert_eq!(
            other.clone().get(&path).await.status,
            404,
            "challenges are seen by those who sit in them"
        );
    }

    let whole = recorded.shared_out(world.server.table()).expect("a replay");
    let result = (&whole.observed, &whole.replay[..], &whole.own[..]);
    world.server.post(worker, job.attempt, result, world.now()).await.expect("answered");
    assert!(world.server.live().of(agon_store::MatchId(job.attempt.game)).is_none(), "it is over");
    world.server.tick(world.now()).await.expect("done");
    came.push(("Ann", &ann, early));
    let plans = |text: &str| (text.contains("the plan of Ann"), text.contains("the plan of Bob"));
    for (whose, browser, mut stream) in came {
        let lines = stream.until(is_end).await;
        let expected = match whose {
            "Ann" => (true, false),
            "Bob" => (false, true),
            _ => (true, true),
        };
        let text = serde_json::to_string(&lines).expect("plain data");
        assert_eq!(plans(&text), expected, "{whose}, while it was played");
        // Whoever comes afterwards gets the same.
        let after = Lines::open(browser, &path).await.until(is_end).await;
        assert_eq!((steps(&after), after.last()), (steps(&lines), lines.last()), "{whose}");
        assert_eq!(after[0]["end"], *after.last().expect("its end"));
        let mut browser = browser.clone();
        let view = browser.get(&format!("{page}/view")).await.text();
        assert_eq!(plans(&inside(&view)), expected, "{whose}, in the viewer");
        assert_eq!(view.contains("name=\"agon-own\""), true, "{whose}");
        let replay = browser.get(&format!("{page}/replay")).await.body;
        let replay = Replay::read(&replay).expect("a replay");
        // What an organiser downloads may be passed on.
        let own = if whose == "Rita" { (false, false) } else { expected };
        assert_eq!(plans(&format!("{replay:?}")), own, "{whose}, in the replay");
        let seen = [1, 2].map(|seat| format!("{page}/output?seat={seat}"));
        for (seat, may) in seen.iter().zip([expected.0, expected.1]) {
            assert_eq!(browser.get(seat).await.status == 200, may, "{whose}, {seat}");
        }
    }
}
