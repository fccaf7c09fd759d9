//! Fetching many replays from a contest that lets an account ask for little.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::{agon, command, err, folder, good, out};

/// How many requests it allows within its window.
const ALLOWED: u32 = 6;
const WINDOW: Duration = Duration::from_secs(2);

/// What a contest counted.
#[derive(Default)]
struct Counted {
    began: Option<Instant>,
    /// The most within one window.
    most: u32,
    now: u32,
    refused: u32,
    /// The matches whose replays were asked for, in order.
    asked: Vec<u32>,
}

/// A contest with twelve matches, six a page.
struct Crowd {
    /// Whether it says how much is left.
    tells: bool,
    /// The match whose replay it lost.
    lost: Option<u32>,
    replay: Vec<u8>,
    counted: Mutex<Counted>,
}

impl Crowd {
    fn start(self) -> (String, Arc<Self>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (crowd, told) = (Arc::new(self), listener);
        let served = crowd.clone();
        std::thread::spawn(move || told.incoming().flatten().for_each(|stream| served.answer(stream)));
        (url, crowd)
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut bytes = [0; 4096];
        let Ok(count) = stream.read(&mut bytes) else { return };
        let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
        let path = text.split(' ').nth(1).unwrap_or_default();
        let mut counted = self.counted.lock().expect("not poisoned");
        if counted.began.is_none_or(|began| began.elapsed() >= WINDOW) {
            (counted.began, counted.now) = (Some(Instant::now()), 0);
        }
        counted.now += 1;
        counted.most = counted.most.max(counted.now);
        let left = ALLOWED.saturating_sub(counted.now);
        let id = path.split('/').nth(4).and_then(|id| id.parse::<u32>().ok());
        let game = |id: u32| {
            json!({"id": id, "kind": "ladder", "state": "valid", "map": 1, "seed": "7", "map_name": "one", "planned": 1,
                   "settled": 2, "reason": "over", "steps": 9, "has_replay": true, "void_tries": 0, "seats": []})
        };
        let (mut status, mut kind) = ("200 OK", "application/json");
        let problem = |status: u16, title: &str| {
            json!({"type": "about:blank", "title": title, "status": status, "detail": "It is gone.", "retry_after": 1})
                .to_string()
                .into_bytes()
        };
        let body = if counted.now > ALLOWED {
            counted.refused += 1;
            (status, kind) = ("429 Too Many Requests", "application/problem+json");
            problem(429, "Too much at once")
        } else if path.contains("/me") {
            json!({"name": "Ann", "organiser": false, "team": {"id": 1, "name": "Ann"}, "quota": null})
                .to_string()
                .into_bytes()
        } else if let Some(id) = id {
            counted.asked.push(id);
            if self.lost == Some(id) {
                (status, kind) = ("404 Not Found", "application/problem+json");
                problem(404, "Not found")
            } else {
                kind = "application/octet-stream";
                self.replay.clone()
            }
        } else {
            let (last, next) = if path.contains("before=7") { (6, None) } else { (12, Some(7)) };
            let matches: Vec<_> = (last - 5..=last).rev().map(game).collect();
            json!({"matches": matches, "next": next}).to_string().into_bytes()
        };
        let room = match self.tells {
            true => {
                format!("RateLimit-Limit: {ALLOWED}\r\nRateLimit-Remaining: {left}\r\nRateLimit-Reset: 2\r\n")
            }
            false => String::new(),
        };
        drop(counted);
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n{room}\r\n"
        );
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
    }
}

#[test]
fn all_replays_come_without_locking_out_whoever_fetches_them() {
    let folder = folder();
    let place = folder.path();
    let play =
        ["play", "cultist-wars", "builtin:greedy", "builtin:idle", "--quiet", "--replay", "one.replay"];
    good(agon(place, &play));
    let replay = std::fs::read(place.join("one.replay")).expect("a replay");
    let get = |url: &str, to: &str| {
        let mut get = command(place, &["replay", "get", "--all", "-o", to]);
        get.env("AGON_URL", url)
            .env("AGON_TOKEN", "t")
            .env("XDG_CONFIG_HOME", place)
            .output()
            .expect("agon starts")
    };
    let there = |to: &str| std::fs::read_dir(place.join(to)).expect("made").count();
    // Half of what the account has is left to its owner. What is there is not asked for again.
    let crowd = |tells, lost| Crowd { tells, lost, replay: replay.clone(), counted: Mutex::default() };
    std::fs::create_dir(place.join("half")).expect("a folder");
    std::fs::write(place.join("half/match-3.replay"), &replay).expect("a file");
    let (url, contest) = crowd(true, None).start();
    let done = good(get(&url, "half"));
    assert!(out(&done).contains("11 replays fetched into half, 1 were already there"), "{}", out(&done));
    let counted = contest.counted.lock().expect("not poisoned");
    assert_eq!((counted.refused, there("half")), (0, 12), "{}", err(&done));
    assert!(counted.most <= ALLOWED / 2, "{} of {ALLOWED} requests were used", counted.most);
    assert_eq!(counted.asked, [12, 11, 10, 9, 8, 7, 6, 5, 4, 2, 1]);
    // A contest that does not say how much is left refuses now and then: that is sat out.
    let (url, contest) = crowd(false, None).start();
    good(get(&url, "older"));
    let counted = contest.counted.lock().expect("not poisoned");
    assert!(counted.refused > 0 && there("older") == 12, "{} files", there("older"));
    // What came before a failure stays, is said, and is not fetched again.
    let (url, _) = crowd(true, Some(10)).start();
    let failed = get(&url, "broken");
    assert_eq!(failed.status.code(), Some(2), "{}", err(&failed));
    let said = err(&failed).replace('\n', " ");
    assert!(
        said.contains("2 of 12 replays were fetched into broken and stay there; the same command resumes"),
        "{said}"
    );
    let (url, contest) = crowd(true, None).start();
    good(get(&url, "broken"));
    assert_eq!(contest.counted.lock().expect("not poisoned").asked.len(), 10);
}
