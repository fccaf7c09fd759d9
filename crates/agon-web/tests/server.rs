//! The server lets in who knows the token and means it, and gives nobody a file it was not opened for.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use agon_web::{Config, Host, Live, Request, Server};

/// Writes down what it was asked to play.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Host for Asked {
    fn play(&self, request: Request, live: Live) -> Result<(), String> {
        self.0.lock().unwrap().push(format!("{} {:?}", request.game, request.bots));
        live.fail("played by nobody");
        Ok(())
    }

    fn again(&self, command: &str, _: Live) -> Result<(), String> {
        Err(format!("again: {command}"))
    }
}

struct Running {
    port: u16,
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
        let config = Config { token: Some("secret".to_owned()), ..config };
        let server = Server::bind(config, Box::new(asked.clone())).unwrap();
        let address = server.handle().address("replay=x");
        let rest = address.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, rest) = rest.split_once('/').unwrap();
        assert_eq!(rest, "?token=secret#replay=x");
        let stop = Arc::new(AtomicBool::new(false));
        let halt = stop.clone();
        let thread = std::thread::spawn(move || server.run(&halt).unwrap());
        Self { port: port.parse().unwrap(), asked, stop, thread: Some(thread) }
    }

    /// Sends a request; gives the whole answer.
    fn send(&self, first: &str, headers: &[&str], body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let mut text = format!("{first} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        headers.iter().for_each(|header| text.extend([header, "\r\n"]));
        if !headers.iter().any(|header| header.starts_with("Host")) {
            text.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        text.extend(["\r\n", body]);
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(&self, path: &str) -> String {
        self.send(&format!("GET {path}"), &[&self.cookie()], "")
    }

    fn cookie(&self) -> String {
        format!("Cookie: other=1; agon-{}=secret", self.port)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

#[test]
fn only_who_knows_the_token_gets_in() {
    let server = Running::start();
    for path in ["/", "/app.js", "/api/start", "/?token=guess", "/?token=", "/api/film?replay=Cargo.toml"] {
        let answer = server.send(&format!("GET {path}"), &[], "");
        assert!(answer.starts_with("HTTP/1.1 403"), "{path}: {answer}");
    }
    let entered = server.send("GET /?token=secret", &[], "");
    assert!(entered.starts_with("HTTP/1.1 200"), "{entered}");
    let cookie = format!("set-cookie: agon-{}=secret; Path=/; HttpOnly; SameSite=Strict", server.port);
    assert!(entered.contains(&cookie), "{entered}");
    let answer = server.send("GET /api/start", &[&server.cookie()], "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for answer in [entered, answer] {
        assert!(
            answer.contains("content-security-policy: default-src 'none'; script-src 'self'"),
            "{answer}"
        );
        assert!(answer.contains("x-content-type-options: nosniff"));
    }
}

#[test]
fn a_name_that_others_can_point_here_is_refused() {
    let server = Running::start();
    for host in ["evil.example", "evil.example:80", &format!("evil.example:{}", server.port), "127.0.0.1:1"] {
        let answer = server.send("GET /api/start", &[&format!("Host: {host}"), &server.cookie()], "");
        assert!(answer.starts_with("HTTP/1.1 421"), "{host}: {answer}");
    }
    let answer =
        server.send("GET /api/start", &[&format!("Host: localhost:{}", server.port), &server.cookie()], "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn no_request_reaches_a_file_it_was_not_opened_for() {
    let server = Running::start();
    for name in ["Cargo.toml", "/etc/passwd", "../agon-web/Cargo.toml", "", "%2e%2e%2fCargo.toml"] {
        for path in ["film?replay=", "file?replay=", "journal?journal=", "message?step=0&seat=1&replay="] {
            let answer = server.send(&format!("GET /api/{path}{name}"), &[&server.cookie()], "");
            assert!(answer.starts_with("HTTP/1.1 422"), "{path}{name}: {answer}");
            assert!(answer.contains("is not among the replays"), "{path}{name}: {answer}");
        }
    }
}

#[test]
fn a_match_starts_only_for_a_request_that_a_foreign_page_cannot_send() {
    let server = Running::start();
    let body = r#"{"game":"cultist-wars","bots":["a","b"]}"#;
    let cookie = server.cookie();
    let plain = server.send("POST /api/play", &[&cookie, "Content-Type: text/plain"], body);
    assert!(plain.starts_with("HTTP/1.1 415"), "{plain}");
    let outside = server.send("POST /api/play", &["Content-Type: application/json"], body);
    assert!(outside.starts_with("HTTP/1.1 403"), "{outside}");
    let wrong = server.send("POST /api/play", &[&cookie, "Content-Type: application/json"], "{");
    assert!(wrong.starts_with("HTTP/1.1 400"), "{wrong}");
    assert!(server.asked.0.lock().unwrap().is_empty());

    let started = server.send("POST /api/play", &[&cookie, "Content-Type: application/json"], body);
    assert!(started.starts_with("HTTP/1.1 200"), "{started}");
    assert_eq!(*server.asked.0.lock().unwrap(), [r#"cultist-wars ["a", "b"]"#]);
    let name = started.split(r#""live":""#).nth(1).unwrap().split('"').next().unwrap();
    let film = server.send(&format!("GET /api/film?live={name}"), &[&cookie], "");
    assert!(film.contains(r#"{"error":"played by nobody"}"#), "{film}");
    let gone = server.send("GET /api/film?live=nothing", &[&cookie], "");
    assert!(gone.starts_with("HTTP/1.1 404"), "{gone}");
}

#[test]
fn foreign_bytes_are_told_from_damaged_ones() {
    let server = Running::start();
    let foreign = server.send("POST /api/film", &[&server.cookie()], "a letter");
    assert!(foreign.starts_with("HTTP/1.1 422") && foreign.contains(r#""foreign":true"#), "{foreign}");
    let damaged = server.send("POST /api/film", &[&server.cookie()], "AGONRPL1 and nothing else");
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
    for path in [format!("film?replay={}", pipe.display()), "film?replay=/dev/zero".to_owned()] {
        let answer = server.get(&format!("/api/{path}"));
        assert!(answer.starts_with("HTTP/1.1 422") && answer.contains("not a file"), "{path}: {answer}");
    }
    let journal = series.join("journal.jsonl");
    let answer = server.get(&format!("/api/journal?journal={}", journal.display()));
    assert!(answer.starts_with("HTTP/1.1 422") && answer.contains("not a file"), "{answer}");
}
