//! The server lets in those who know the token and mean this server, and gives nobody a file it was not opened for.
//!
//! Longer than 500 lines: one test for each way in.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use agon_game::{Answer, Seat, Setup};
use agon_replay::{EndInfo, Header, Replay, SeatInfo, Writer};
use agon_spec::MatchSpec;
use agon_web::api::{Causes, TrialSoFar};
use agon_web::{Bench, BotFolder, Config, Handle, Host, Live, PlayBegun, Server, TrialWanted};

/// Records what it was asked to play.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Host for Asked {
    fn play(&self, spec: &MatchSpec, live: Live) -> Result<PlayBegun, String> {
        let bots: Vec<&str> = spec.seats.iter().map(|seat| seat.bot.as_str()).collect();
        self.0.lock().unwrap().push(format!("{} {bots:?}", spec.game));
        live.fail("played by nobody");
        Ok(PlayBegun::default())
    }

    fn build(&self, bot: &str) -> Result<(), String> {
        self.0.lock().unwrap().push(format!("build {bot}"));
        Ok(())
    }

    /// Plays on until stopped; for a bot called `known` the verdict is known at once.
    fn try_bot(
        &self,
        replay: &Replay,
        wanted: &TrialWanted,
        told: &mut dyn FnMut(TrialSoFar),
        stop: &AtomicBool,
    ) -> Result<(), String> {
        let TrialWanted { step, seat, bot, against } = wanted;
        self.0.lock().unwrap().push(format!("{} {step} {seat} {bot} {against}", replay.header.game));
        told(TrialSoFar { better: "WAIT".to_owned(), of: 20, ..TrialSoFar::default() });
        match bot.as_str() {
            "known" => told(TrialSoFar { futures: 20, of: 20, mistake: Some(true), ..TrialSoFar::default() }),
            "missing" => return Err("there is no such bot".to_owned()),
            _ => {
                while !stop.load(Ordering::SeqCst) {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
            }
        }
        self.0.lock().unwrap().push("ended".to_owned());
        Ok(())
    }

    fn why(&self, journal: &Path, bot: usize) -> Result<Causes, String> {
        match bot {
            0 => Ok(Causes { heading: journal.display().to_string(), sorts: Vec::new(), notes: Vec::new() }),
            _ => Err(format!("this series has no bot {bot}")),
        }
    }
}

const KEY: &str = "the-key";

/// The question that opens the file after it.
const OPEN: &[u8] = b"{\"open\":{\"private\":true}}\n";

struct Running {
    port: u16,
    handle: Handle,
    asked: Asked,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start() -> Self {
        Self::with(Config::default())
    }

    fn with(config: Config) -> Self {
        let asked = Asked::default();
        let config = Config { key: Some(KEY.to_owned()), ..config };
        let server = Server::bind(config, Box::new(asked.clone())).unwrap();
        let handle = server.handle();
        let port = handle.address().strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let halt = stop.clone();
        let thread = std::thread::spawn(move || server.run(&halt).unwrap());
        Self { port, handle, asked, stop, thread: Some(thread) }
    }

    /// Sends a request; returns the whole answer.
    fn send(&self, first: &str, headers: &[&str], body: &str) -> String {
        let mut text = format!("{first} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        headers.iter().for_each(|header| text.extend([header, "\r\n"]));
        if !headers.iter().any(|header| header.starts_with("Host")) {
            text.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        text.extend(["\r\n", body]);
        self.raw(&text)
    }

    /// Asks what the viewer asks, as our own page.
    fn ask(&self, question: &[u8]) -> String {
        let head = format!(
            "POST /api/ask HTTP/1.1\r\nConnection: close\r\nHost: 127.0.0.1:{}\r\n{}\r\n{}\r\nContent-Length: {}\r\n\r\n",
            self.port,
            key(),
            self.origin(),
            question.len()
        );
        self.raw([head.as_bytes(), question].concat())
    }

    /// Sends this text; returns the whole answer.
    fn raw(&self, text: impl AsRef<[u8]>) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(text.as_ref()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(&self, path: &str) -> String {
        self.send(&format!("GET {path}"), &[&key()], "")
    }

    /// The `Origin` of our own page.
    fn origin(&self) -> String {
        format!("Origin: http://127.0.0.1:{}", self.port)
    }
}

fn key() -> String {
    format!("X-Agon-Key: {KEY}")
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

#[test]
fn only_who_has_the_key_gets_in() {
    let server = Running::start();
    for path in [
        "/api/start",
        "/api/file?replay=Cargo.toml",
        "/api/journal?journal=x",
        "/api/swing?journal=x&block=1&game=1&seat=1",
        "/api/why?journal=x&bot=0",
        "/api/page?replay=x",
        "/api/live?name=x",
    ] {
        let cookie = format!("Cookie: agon-{}={KEY}; x-agon-key={KEY}", server.port);
        for header in ["X-Agon-Key: guess", "X-Agon-Key: ", "X-Other: 1", &cookie] {
            let answer = server.send(&format!("GET {path}"), &[header], "");
            assert!(answer.starts_with("HTTP/1.1 403"), "{path} {header}: {answer}");
            let answer =
                server.send("POST /api/ask", &[header, &server.origin()], r#"{"open":{"private":true}}"#);
            assert!(answer.starts_with("HTTP/1.1 403"), "{header}: {answer}");
        }
        let query = if path.contains('?') { '&' } else { '?' };
        let answer = server.send(&format!("GET {path}{query}token={KEY}&x-agon-key={KEY}"), &[], "");
        assert!(answer.starts_with("HTTP/1.1 403"), "{path}: {answer}");
    }
    let page = server.send("GET /", &[], "");
    let answer = server.get("/api/start");
    for answer in [page, answer] {
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let policy = "content-security-policy: default-src 'none'; script-src 'self'";
        assert!(answer.contains(policy) && !answer.contains("set-cookie"), "{answer}");
        assert!(answer.contains("x-content-type-options: nosniff"));
    }
}

#[test]
fn a_link_opens_the_viewer_once() {
    let server = Running::start();
    let link = server.handle.link("replay=</script>x");
    let path = link.strip_prefix(&server.handle.address()).unwrap();
    assert!(path.starts_with("/start?link=") && !link.contains(KEY), "{link}");
    // Requesting the head uses nothing up.
    let head = server.send(&format!("HEAD {path}"), &[], "");
    assert!(head.starts_with("HTTP/1.1 204"), "{head}");
    let first = server.send(&format!("GET {path}"), &[], "");
    assert!(first.starts_with("HTTP/1.1 200"), "{first}");
    assert!(first.contains(r#"sessionStorage.setItem("x-agon-key", "the-key")"#), "{first}");
    assert!(first.contains(r#"location.replace("/#replay=\u003c/script>x")"#), "{first}");
    assert!(first.contains("content-security-policy: default-src 'none'; script-src 'nonce-"), "{first}");
    for path in [path, "/start?link=", "/start", "/start?link=guess"] {
        let again = server.send(&format!("GET {path}"), &[], "");
        assert!(again.starts_with("HTTP/1.1 403") && !again.contains(KEY), "{path}: {again}");
    }
    // Links that nobody opens are eventually forgotten.
    let old = server.handle.link("");
    (0..16).for_each(|_| drop(server.handle.link("")));
    let path = old.strip_prefix(&server.handle.address()).unwrap();
    assert!(server.send(&format!("GET {path}"), &[], "").starts_with("HTTP/1.1 403"));
}

#[test]
fn a_page_of_another_site_gets_nothing() {
    let server = Running::start();
    let json = "Content-Type: application/json";
    let own = server.origin();
    for origin in
        ["http://evil.example", "null", &format!("http://localhost:{}", server.port), &format!("{own}0")]
    {
        let origin = format!("Origin: {}", origin.trim_start_matches("Origin: "));
        for first in ["GET /api/start", "GET /api/file?replay=x", "POST /api/ask", "POST /api/play"] {
            let answer = server.send(first, &[&key(), &origin, json], "{}");
            assert!(answer.starts_with("HTTP/1.1 403"), "{first} {origin}: {answer}");
        }
    }
    // Requests that can change something must say where they come from.
    for first in ["POST /api/ask", "POST /api/page", "POST /api/play"] {
        let answer = server.send(first, &[&key(), json], "{}");
        assert!(answer.starts_with("HTTP/1.1 403"), "{first}: {answer}");
    }
    let asks = server.send("OPTIONS /api/play", &["Origin: http://evil.example"], "");
    assert!(!asks.contains("access-control-allow"), "{asks}");
}

#[test]
fn a_connection_on_which_nothing_moves_is_closed() {
    // Long enough for a busy machine to send a request in one piece.
    let patience = std::time::Duration::from_secs(5);
    let server = Running::with(Config { patience, ..Config::default() });
    let closed = |sent: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
        stream.write_all(sent.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the other side closes");
        answer
    };
    let host = format!("Host: 127.0.0.1:{}\r\n", server.port);
    let head = format!("POST /api/ask HTTP/1.1\r\n{host}{}\r\n{}\r\n", key(), server.origin());
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(closed(""), ""));
        scope.spawn(|| closed("GET / HTTP/1.1\r\nHost: "));
        scope.spawn(|| {
            let page = closed(&format!("GET / HTTP/1.1\r\n{host}\r\n"));
            assert!(page.starts_with("HTTP/1.1 200"), "kept open for another request, and closed: {page}");
        });
        scope.spawn(|| {
            let body = closed(&format!("{head}Content-Length: 10\r\n\r\nabc"));
            assert!(body.starts_with("HTTP/1.1 408"), "{body}");
        });
    });
}

#[test]
fn a_name_that_others_can_point_here_is_refused() {
    let server = Running::start();
    for host in ["evil.example", "evil.example:80", &format!("evil.example:{}", server.port), "127.0.0.1:1"] {
        let answer = server.send("GET /api/start", &[&format!("Host: {host}"), &key()], "");
        assert!(answer.starts_with("HTTP/1.1 421"), "{host}: {answer}");
    }
    let answer = server.send("GET /api/start", &[&format!("Host: localhost:{}", server.port), &key()], "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn a_request_names_one_address_on_one_host() {
    let server = Running::start();
    let host = format!("Host: 127.0.0.1:{}\r\n", server.port);
    for (first, headers, code) in [
        ("GET / HTTP/1.1", host.clone(), "200"),
        ("GET / HTTP/1.1", host.repeat(2), "400"),
        ("GET / HTTP/1.1", format!("{host}Host: evil.example\r\n"), "400"),
        ("GET / HTTP/1.1", String::new(), "400"),
        ("GET / HTTP/1.0", String::new(), "400"),
        ("GET http://evil.example/ HTTP/1.1", host.clone(), "400"),
        ("GET * HTTP/1.1", host.clone(), "400"),
        ("OPTIONS * HTTP/1.1", host.clone(), "405"),
        ("CONNECT evil.example:443 HTTP/1.1", host.clone(), "405"),
        ("TRACE / HTTP/1.1", host.clone(), "405"),
    ] {
        let answer = server.raw(format!("{first}\r\nConnection: close\r\n{headers}\r\n"));
        assert_eq!(answer.split(' ').nth(1), Some(code), "{first} {headers:?}: {answer}");
        assert!(answer.contains("nosniff"), "{first} {headers:?}: {answer}");
    }
}

#[test]
fn no_request_reaches_a_file_it_was_not_opened_for() {
    let server = Running::start();
    for name in ["Cargo.toml", "/etc/passwd", "../agon-web/Cargo.toml", "", "%2e%2e%2fCargo.toml"] {
        for path in
            ["file?replay=", "page?replay=", "journal?journal=", "swing?block=1&game=1&seat=1&journal="]
        {
            let answer = server.send(&format!("GET /api/{path}{name}"), &[&key()], "");
            assert!(answer.starts_with("HTTP/1.1 422"), "{path}{name}: {answer}");
            assert!(answer.contains("This viewer does not have"), "{path}{name}: {answer}");
        }
    }
}

#[test]
fn a_match_starts_only_for_a_request_that_a_foreign_page_cannot_send() {
    let server = Running::start();
    let body = r#"{"game":"cultist-wars","bots":["a","b"]}"#;
    let (key, origin) = (key(), server.origin());
    let plain = server.send("POST /api/play", &[&key, &origin, "Content-Type: text/plain"], body);
    assert!(plain.starts_with("HTTP/1.1 415"), "{plain}");
    let outside = server.send("POST /api/play", &[&origin, "Content-Type: application/json"], body);
    assert!(outside.starts_with("HTTP/1.1 403"), "{outside}");
    let wrong = server.send("POST /api/play", &[&key, &origin, "Content-Type: application/json"], "{");
    assert!(wrong.starts_with("HTTP/1.1 400"), "{wrong}");
    assert!(server.asked.0.lock().unwrap().is_empty());

    let started = server.send("POST /api/play", &[&key, &origin, "Content-Type: application/json"], body);
    assert!(started.starts_with("HTTP/1.1 200"), "{started}");
    assert_eq!(*server.asked.0.lock().unwrap(), [r#"cultist-wars ["a", "b"]"#]);
    let name = started.split(r#""live":""#).nth(1).unwrap().split('"').next().unwrap();
    let shown = server.send(&format!("GET /api/live?name={name}"), &[&key], "");
    assert!(shown.contains(r#"{"error":"played by nobody"}"#), "{shown}");
    let gone = server.send("GET /api/live?name=nothing", &[&key], "");
    assert!(gone.starts_with("HTTP/1.1 404"), "{gone}");
}

#[test]
fn a_bot_is_tried_for_who_may_while_somebody_listens() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.replay");
    std::fs::write(&file, replay()).unwrap();
    let server = Running::with(Config { files: vec![file.clone()], ..Config::default() });
    let (own, key) = (server.origin(), key());
    let ask =
        |bot: &str| format!("POST /api/trial?replay={}&step=2&seat=1&bot={bot}&against=b", file.display());
    for headers in [&[&own[..]][..], &[&key], &[&key, "Origin: http://evil.example"]] {
        let answer = server.send(&ask("known"), headers, "");
        assert!(answer.starts_with("HTTP/1.1 403"), "{headers:?}: {answer}");
    }
    assert!(server.asked.0.lock().unwrap().is_empty());
    let known = server.send(&ask("known"), &[&key, &own], "");
    assert!(known.contains(r#""better":"WAIT""#) && known.contains(r#""mistake":true"#), "{known}");
    assert_eq!(*server.asked.0.lock().unwrap(), ["cultist-wars 2 1 known b", "ended"]);
    let missing = server.send(&ask("missing"), &[&key, &own], "");
    assert!(missing.contains(r#""problem":"there is no such bot""#), "{missing}");

    // One at a time; a client that leaves ends it.
    let head = format!(
        "{} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{key}\r\n{own}\r\nContent-Length: 0\r\n\r\n",
        ask("slow"),
        server.port
    );
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut begun = [0; 1];
    stream.read_exact(&mut begun).unwrap();
    let second = server.send(&ask("known"), &[&key, &own], "");
    assert!(second.starts_with("HTTP/1.1 409") && second.contains("another tab"), "{second}");
    drop(stream);
    let ended = || server.asked.0.lock().unwrap().iter().filter(|line| *line == "ended").count() == 2;
    let waited =
        (0..3_000).any(|_| ended() || (std::thread::sleep(std::time::Duration::from_millis(10)), false).1);
    assert!(waited, "{:?}", server.asked.0.lock().unwrap());
}

#[test]
fn foreign_bytes_are_told_from_damaged_ones() {
    let server = Running::start();
    let open = |file: &str| server.ask(&[OPEN, file.as_bytes()].concat());
    let foreign = open("a letter");
    assert!(foreign.starts_with("HTTP/1.1 422") && foreign.contains(r#""foreign":true"#), "{foreign}");
    let damaged = open("AGONRPL1 and nothing else");
    assert!(damaged.starts_with("HTTP/1.1 422") && damaged.contains(r#""foreign":false"#), "{damaged}");
}

#[test]
fn what_is_no_regular_file_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("a.replay");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("SKIPPED: a pipe as a replay (mkfifo is not installed)");
        return;
    }
    let series = folder.path().join("series");
    std::fs::create_dir(&series).unwrap();
    std::os::unix::fs::symlink("/dev/zero", series.join("journal.jsonl")).unwrap();
    let server = Running::with(Config {
        folder: folder.path().to_owned(),
        series: folder.path().to_owned(),
        files: vec!["/dev/zero".into()],
        ..Config::default()
    });
    let started = server.get("/api/start");
    assert!(started.starts_with("HTTP/1.1 200") && started.contains("this is a pipe"), "{started}");
    for path in [format!("file?replay={}", pipe.display()), "page?replay=/dev/zero".to_owned()] {
        let answer = server.get(&format!("/api/{path}"));
        assert!(answer.starts_with("HTTP/1.1 422") && answer.contains("not a file"), "{path}: {answer}");
    }
    let journal = series.join("journal.jsonl");
    let answer = server.get(&format!("/api/journal?journal={}", journal.display()));
    assert!(answer.starts_with("HTTP/1.1 422") && answer.contains("not a file"), "{answer}");
}

/// A replay of three turns of a real match.
fn replay() -> Vec<u8> {
    let game = agon_games::find("cultist-wars").unwrap();
    let mut session = game.open(&Setup { seats: 2, ..Setup::default() }).unwrap();
    let seats =
        ["one", "two"].map(|label| SeatInfo { bot: label.to_owned(), label: label.to_owned(), hash: None });
    let header = Header {
        program: "agon test".to_owned(),
        game: "cultist-wars".to_owned(),
        rules_version: game.info().rules_version,
        recipe: session.recipe().clone(),
        seats: seats.to_vec(),
        started: 0,
        timed: false,
        id: None,
        clock: "none".to_owned().into(),
    };
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    for seat in [0, 1].map(Seat::new) {
        session.seat_builtin(seat, "greedy", &[], 1).unwrap();
    }
    for _ in 0..3 {
        let seat = session.deciding().iter().next().unwrap();
        let answers = [(seat, Answer::Given { order: session.think(seat), think_ms: 0 })];
        session.play(&answers).unwrap();
        writer.step(&answers, session.hash()).unwrap();
    }
    let state = format!("{:016x}", session.hash());
    let end =
        EndInfo { steps: 0, outcome: None, state, chain: String::new(), facts: serde_json::Value::Null };
    writer.finish(end).unwrap()
}

#[test]
fn a_page_asks_for_the_steps_it_shows_until_the_replay_is_put_away() {
    let server = Running::start();
    let open = || {
        let opened = server.ask(&[OPEN, &replay()].concat());
        assert!(opened.starts_with("HTTP/1.1 200"), "{opened}");
        assert!(opened.contains(r#""steps":3"#), "{opened}");
        opened.split(r#"{"id":"#).nth(1).unwrap().split(',').next().unwrap().parse().unwrap()
    };
    let id: u32 = open();
    let asked = |from: u32, to: u32| {
        server.ask(format!(r#"{{"lines":{{"id":{id},"from":{from},"to":{to}}}}}"#).as_bytes())
    };
    let lines = asked(2, 9);
    assert!(lines.starts_with("HTTP/1.1 200"), "{lines}");
    assert!(
        !lines.contains(r#"{"step":1,"#)
            && lines.contains(r#"{"step":2,"#)
            && lines.contains(r#"{"step":3,"#)
    );
    for (from, to) in [(0, 0), (4, 9), (9, 2)] {
        let nothing = asked(from, to);
        assert!(nothing.starts_with("HTTP/1.1 200") && !nothing.contains("moment"), "{nothing}");
    }
    for _ in 0..8 {
        open();
    }
    let gone = asked(1, 1);
    assert!(gone.starts_with("HTTP/1.1 410") && gone.contains(r#""gone":true"#), "{gone}");
    let nonsense = server.ask(b"{}");
    assert!(nonsense.starts_with("HTTP/1.1 422"), "{nonsense}");
}

#[test]
fn the_page_names_its_engines_where_there_are_some() {
    let server = Running::start();
    let page = server.send("GET /", &[], "");
    let name = format!("/parts/{}", agon_module::NAME);
    assert_eq!(
        page.contains(&format!("<meta name=\"agon-engine\" content=\"{name}\">")),
        agon_module::is_built()
    );
    let engines = server.send(&format!("GET {name}"), &["Accept-Encoding: gzip, br"], "");
    if agon_module::is_built() {
        assert!(engines.starts_with("HTTP/1.1 200") && engines.contains("content-encoding: br"), "{name}");
        assert!(
            engines.contains("content-type: application/wasm") && engines.contains("immutable"),
            "{name}"
        );
    } else {
        assert!(engines.starts_with("HTTP/1.1 404"), "{engines}");
    }
    // The app's parts are cached, by names that change with them; the small script comes before all others.
    let scripts: Vec<&str> =
        page.split(['"']).filter(|text| text.starts_with("/parts/") && text.ends_with(".js")).collect();
    if agon_web::app::is_built() {
        assert!(scripts[0].starts_with("/parts/early-"), "{scripts:?}");
        assert!(scripts.iter().any(|name| name.starts_with("/parts/app-")), "{scripts:?}");
    }
    for name in scripts {
        let part = server.send(&format!("GET {name}"), &["Accept-Encoding: gzip"], "");
        assert!(part.starts_with("HTTP/1.1 200") && part.contains("immutable"), "{name}: {part}");
    }
    // Nothing else is cached.
    assert!(page.contains("cache-control: no-store"), "{page}");
}

#[test]
fn what_stands_with_losses_is_asked_of_journals_on_the_shelf() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl").display().to_string();
    std::fs::write(&path, "whatever it is").unwrap();
    let server = Running::with(Config { files: vec![path.clone().into()], ..Config::default() });
    let told = server.get(&format!("/api/why?journal={path}&bot=0"));
    assert!(told.starts_with("HTTP/1.1 200") && told.contains(&path), "{told}");
    let nobody = server.get(&format!("/api/why?journal={path}&bot=1"));
    assert!(nobody.starts_with("HTTP/1.1 422") && nobody.contains("has no bot 1"), "{nobody}");
    let elsewhere = server.get("/api/why?journal=/etc/passwd&bot=0");
    assert!(elsewhere.starts_with("HTTP/1.1 422") && elsewhere.contains("/etc/passwd"), "{elsewhere}");
}

#[test]
fn a_file_on_the_shelf_is_given_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.replay");
    std::fs::write(&path, "whatever it is").unwrap();
    let server = Running::with(Config { files: vec![path.clone()], ..Config::default() });
    let given = server.get(&format!("/api/file?replay={}", path.display()));
    assert!(given.starts_with("HTTP/1.1 200") && given.ends_with("whatever it is"), "{given}");
    let none = server.get(&format!("/api/file?journal={}&block=1&game=1", path.display()));
    assert!(none.starts_with("HTTP/1.1 422"), "{none}");
}

#[test]
fn a_text_is_kept_in_the_folder_that_was_named_and_played_from_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bot.py"), "one").unwrap();
    let bench = Bench {
        folder: BotFolder::new(folder.path()).unwrap(),
        info: agon_games::find("cultist-wars").unwrap().info(),
        rules: String::new(),
        opponents: vec!["builtin:hunter".to_owned()],
        numbers: Vec::new(),
    };
    let server = Running::with(Config { bench: Some(bench), ..Config::default() });
    let json = "Content-Type: application/json";
    let sent = |first: &str, body: &str| server.send(first, &[&key(), &server.origin(), json], body);
    let page = server.get("/api/code");
    assert!(
        page.contains(r#""opponents":[{"boss":true,"name":"hunter","version":"builtin:hunter"}"#),
        "{page}"
    );
    let id = page.split(r#""id":""#).nth(1).unwrap().split('"').next().unwrap().to_owned();
    let text =
        |base: &str| format!(r#"{{"base":"{base}","files":[{{"path":"bot.py","text":"two"}}],"note":null}}"#);
    let stranger = server.send("PUT /api/code/text", &[&server.origin(), json], &text(&id));
    assert!(stranger.starts_with("HTTP/1.1 403"), "{stranger}");
    let stale = sent("PUT /api/code/text", &text("another"));
    assert!(stale.starts_with("HTTP/1.1 409") && stale.contains(r#""text":"one""#), "{stale}");
    let kept = sent("PUT /api/code/text", &text(&id));
    assert!(kept.starts_with("HTTP/1.1 200"), "{kept}");
    assert_eq!(std::fs::read_to_string(folder.path().join("bot.py")).unwrap(), "two");
    let newest = kept.split(r#""id":""#).nth(1).unwrap().split('"').next().unwrap();
    let wish = r#""seat":2,"against":[{"version":"builtin:hunter"}],"map":null,"seed":"7","rules":null}"#;
    let run = sent("POST /api/code/run", &format!(r#"{{"text":"{newest}",{wish}"#));
    assert!(run.starts_with("HTTP/1.1 200") && run.contains(r#""match":""#), "{run}");
    let name = folder.path().display().to_string();
    let asked = server.asked.0.lock().unwrap().clone();
    assert_eq!(asked, [format!("build {name}"), format!("cultist-wars {:?}", ["builtin:hunter", &name])]);
    let gone = sent("POST /api/code/run", &format!(r#"{{"text":"another",{wish}"#));
    assert!(gone.starts_with("HTTP/1.1 422"), "{gone}");
    let none = Running::start().get("/api/code");
    assert!(none.starts_with("HTTP/1.1 422") && none.contains("agon watch FOLDER"), "{none}");
}
