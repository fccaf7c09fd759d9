//! The webhook: what a chat is told, once, and that nobody else learns where it is.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_bot::BotName;
use agon_contest::config::WebhookAddress;
use agon_site::Way;
use agon_site::beats::beat;
use agon_site::webhook::{HookPatience, post};
use agon_store::LoginKind;
use serde_json::Value;

use crate::common::{Browser, World, database, play_as, play_some, sign_up, write_file};

const OK: &str = "HTTP/1.1 204 No Content\r\n\r\n";

/// A chat at this address, and what it is told: head and body.
struct Chat {
    address: SocketAddr,
    told: Receiver<(String, String)>,
}

impl Chat {
    /// One that answers so, one request after the other, and the others well; it never answers where that is empty.
    fn that_answers(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let (tell, told) = channel();
        std::thread::spawn(move || {
            let (mut answers, mut silent) = (answers.into_iter(), Vec::new());
            for stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(stream);
                let (mut head, mut length) = (String::new(), 0);
                while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|read| read > 0) {}
                for line in head.to_lowercase().lines() {
                    length = line
                        .strip_prefix("content-length: ")
                        .map_or(length, |text| text.parse().expect("a number"));
                }
                let mut body = vec![0; length];
                let is_whole = reader.read_exact(&mut body).is_ok();
                if is_whole && tell.send((head, String::from_utf8(body).expect("text"))).is_err() {
                    return;
                }
                match answers.next() {
                    Some(answer) if answer.is_empty() => silent.push(reader),
                    answer => drop(reader.get_mut().write_all(answer.as_deref().unwrap_or(OK).as_bytes())),
                }
            }
        });
        Self { address, told }
    }

    fn new() -> Self {
        Self::that_answers(Vec::new())
    }

    fn at(&self) -> String {
        format!("http://{}/hook/secret-place?thread=1", self.address)
    }

    /// What it is told next.
    async fn next(&self) -> Value {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            if let Ok((_, body)) = self.told.try_recv() {
                return serde_json::from_str(&body).expect("JSON");
            }
            assert!(Instant::now() < end, "nothing is told");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn hears(&self, text: &str) {
        let heard = self.next().await;
        let content = heard["content"].as_str().expect("text");
        assert!(content.starts_with(text), "{text}: {content}");
    }
}

fn section(chat: &Chat) -> String {
    format!("sign_up = \"open\"\ntitle = \"Autumn Cup\"\nwebhook = '{}'", chat.at())
}

async fn rita(world: &World) -> Browser {
    let rita = world.account("Rita", true).await;
    world.signed_in(rita, LoginKind::Session).await.0
}

async fn announce(rita: &mut Browser, text: &str) {
    assert_eq!(rita.post("/organise/announce", &[("text", text)]).await.status, 303);
}

#[test]
fn what_the_other_side_answers_decides_whether_it_is_asked_again() {
    let answers = |status: &str, more: &str| format!("HTTP/1.1 {status}\r\n{more}Content-Length: 0\r\n\r\n");
    let [moment, long] = [Duration::from_millis(1), Duration::from_secs(3_600)];
    let elsewhere = Chat::new();
    let redirects = answers("302 Found", &format!("Location: http://{}/\r\n", elsewhere.address));
    let busy = |wait: u32| answers("429 Too Many Requests", &format!("Retry-After: {wait}\r\n"));
    let trouble = || answers("500 Internal Server Error", "");
    for (all, pause, expected, requests) in [
        (vec![OK.to_owned()], long, Ok(()), 1),
        (vec![trouble(), answers("503 Service Unavailable", ""), OK.to_owned()], moment, Ok(()), 3),
        (vec![trouble(); 3], moment, Err("it answers with status 500, three times"), 3),
        // It says itself when, whatever the pause would have been.
        (vec![busy(0), busy(0), OK.to_owned()], long, Ok(()), 3),
        (vec![busy(121)], long, Err("it has had too many messages (status 429) and wants none for 121 s"), 1),
        (vec![redirects], long, Err("it redirects elsewhere, which is not followed"), 1),
        (vec![answers("404 Not Found", "")], long, Err("it answers with status 404"), 1),
        (
            vec!["nonsense\r\n\r\n".to_owned(); 3],
            moment,
            Err("it cannot be reached, or does not speak HTTP, three times"),
            3,
        ),
    ] {
        let chat = Chat::that_answers(all.clone());
        let patience =
            HookPatience { answer: Duration::from_secs(60), pauses: [pause; 2], ..HookPatience::default() };
        let sent = post(&WebhookAddress(chat.at()), "{\"text\":\"é\"}", &patience);
        assert_eq!(sent, expected.map_err(str::to_owned), "{all:?}");
        let told: Vec<_> = chat.told.try_iter().collect();
        assert_eq!(told.len(), requests, "{all:?}");
        for (head, body) in told {
            let head = head.to_lowercase();
            assert!(head.starts_with("post /hook/secret-place?thread=1 http/1.1\r\n"), "{head}");
            assert!(
                head.contains("content-type: application/json\r\n") && head.contains("user-agent: agon/"),
                "{head}"
            );
            assert_eq!(body, "{\"text\":\"é\"}");
        }
    }
    assert!(elsewhere.told.try_recv().is_err(), "nobody is sent there");
    // One that never answers, and nobody.
    let patience =
        HookPatience { answer: Duration::from_millis(50), pauses: [moment; 2], ..HookPatience::default() };
    let silent = Chat::that_answers(vec![String::new(); 3]);
    let why = post(&WebhookAddress(silent.at()), "{}", &patience).expect_err("no answer");
    assert_eq!(why, "no answer within 0.05 s, three times");
    let gone = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
    let patience = HookPatience { pauses: [moment; 2], ..HookPatience::default() };
    let why = post(&WebhookAddress(format!("http://{gone}/secret")), "{}", &patience).expect_err("nobody");
    assert_eq!(why, "it cannot be reached: connection refused, three times");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_announcement_is_told_once_and_not_again_after_a_start() {
    let chat = Chat::new();
    let world = World::with(&section(&chat), Way::Loopback).await;
    let mut rita = rita(&world).await;
    // What is there when it begins is known.
    beat(&world.site).await;
    announce(&mut rita, "Lunch <b> & \"tea\"\n@everyone").await;
    let heard = chat.next().await;
    let link = format!("\nhttp://{}/", world.address);
    assert_eq!(heard["content"], format!("Autumn Cup: Lunch <b> & \"tea\"\n@everyone{link}"));
    assert_eq!(heard["text"], format!("Autumn Cup: Lunch &lt;b&gt; &amp; \"tea\"\n@everyone{link}"));
    assert_eq!(heard["allowed_mentions"], serde_json::json!({ "parse": [] }));
    // Taken back; then the same again.
    announce(&mut rita, "").await;
    beat(&world.site).await;
    world.wait(1);
    announce(&mut rita, "Lunch").await;
    chat.hears("Autumn Cup: Lunch\n").await;
    // Another program of the same contest.
    let mut world = world;
    world.stop().await;
    let World { folder, .. } = world;
    let again = World::in_folder(folder, &section(&chat), Way::Loopback).await;
    beat(&again.site).await;
    announce(&mut again.signed_in(again.account("Olga", true).await, LoginKind::Session).await.0, "Tea")
        .await;
    chat.hears("Autumn Cup: Tea\n").await;
    assert!(chat.told.try_recv().is_err() && again.site.webhook.outbox.failed().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_servers_one_tells() {
    let Some(postgres) = database::POSTGRES.as_ref().filter(|_| agon_store::HAS_SCALE) else { return };
    let (folder, chat) = (tempfile::tempdir().expect("a folder"), Chat::new());
    postgres.place(folder.path());
    let first = World::in_folder(folder, &section(&chat), Way::Loopback).await;
    let second = first.beside().await;
    for world in [&first, &second] {
        beat(&world.site).await;
    }
    let mut rita = rita(&second).await;
    for text in ["Lunch", "Tea"] {
        announce(&mut rita, text).await;
        beat(&second.site).await;
        beat(&first.site).await;
        chat.hears(&format!("Autumn Cup: {text}\n")).await;
    }
    assert!(chat.told.try_recv().is_err(), "once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_leads_is_told_when_it_has_held_and_what_became_of_a_version() {
    let chat = Chat::new();
    let world = World::with(&format!("{}\nwebhook_verdicts = true", section(&chat)), Way::Loopback).await;
    let mut ann = sign_up(&world, "Ann", "").await;
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('ann')").await.status, 303);
    let best = agon_games::all()[0].info().builtins.last().expect("one").name;
    let best = BotName::parse(&format!("builtin:{best}")).expect("a name");
    let worker = world.server.meet("one", "not confined", world.now()).await.expect("met");
    let leads = async || {
        world.server.keep_board(world.now(), true).await.expect("kept");
        let board = world.site.shown().await.expect("a board");
        board.board.lines.iter().any(|line| line.rank == Some(1) && line.name == "Ann")
    };
    let mut played = 0;
    while !leads().await {
        assert!(played < 120, "the best bot leads");
        for _ in 0..10 {
            world.server.tick(world.now()).await.expect("done");
            let granted =
                world.server.lease(worker, &played.to_string(), 1, world.now()).await.expect("answered");
            for job in &granted.jobs {
                play_as(&world, worker, job, &best).await;
            }
            world.server.tick(world.now()).await.expect("done");
            played += 1;
        }
        // The clock stands: nobody has led for long.
        beat(&world.site).await;
    }
    let looks = async || {
        // Each a look of its own.
        world.wait(30_000);
        beat(&world.site).await;
    };
    for _ in 0..20 {
        looks().await;
        assert_eq!(world.server.store().told_leader().await.expect("read"), None, "not ten minutes yet");
    }
    looks().await;
    chat.hears("Autumn Cup: Ann leads the ladder now.\n").await;
    assert_eq!(world.server.store().told_leader().await.expect("read").as_deref(), Some("Ann"));
    // The same one is not told again, under another program neither: what was told is in the audit log.
    for _ in 0..22 {
        looks().await;
    }
    assert!(chat.told.try_recv().is_err());
    // A second version gets no blocks here, and its verdict says so.
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('ann again')").await.status, 303);
    play_some(&world, 1).await;
    world.wait(600_000);
    world.server.tick(world.now()).await.expect("done");
    beat(&world.site).await;
    chat.hears("Autumn Cup: Ann v2 is neither shown to be better nor worse than v1: no block was played.\n")
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_address_is_in_no_page_and_no_log_and_what_fails_is_the_organisers_to_see() {
    let written = Arc::new(Mutex::new(Vec::new()));
    struct Lines(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("whole").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let log = written.clone();
    let lines = tracing_subscriber::fmt().with_max_level(tracing::Level::INFO);
    let lines = lines.with_writer(move || Lines(log.clone())).finish();
    // That of all tests here: one of this thread alone misses what another thread was the first to log.
    tracing::subscriber::set_global_default(lines).expect("no other test sets one");
    let chat = Chat::that_answers(vec!["HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned()]);
    let world = World::with(&section(&chat), Way::Loopback).await;
    let (mut rita, mut nobody) = (rita(&world).await, world.browser());
    beat(&world.site).await;
    announce(&mut rita, "Lunch").await;
    chat.hears("Autumn Cup: Lunch\n").await;
    let end = Instant::now() + Duration::from_secs(30);
    while world.site.webhook.outbox.failed().is_none() {
        assert!(Instant::now() < end, "it fails");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let page = rita.get("/organise").await.text();
    assert!(
        page.contains("1 message was not sent") && page.contains("It answers with status 404."),
        "{page}"
    );
    // A file that cannot be read is told without the line.
    write_file(world.folder.path(), &format!("{}\nwebhook_verdicts = 'yes'", section(&chat)));
    beat(&world.site).await;
    let mut pages = 0;
    for route in agon_site::routes::all().filter(|route| route.method == agon_site::routes::Method::Get) {
        if route.path.starts_with("/events") {
            continue;
        }
        for browser in [&mut rita, &mut nobody] {
            let answer = browser.get(&route.path.replace("{id}", "1")).await;
            assert!(!answer.text().contains("secret-place"), "{}", route.path);
            pages += usize::from(answer.status == 200);
        }
    }
    assert!(pages > 20, "{pages}");
    let log = String::from_utf8(written.lock().expect("whole").clone()).expect("text");
    assert!(log.contains("could not be sent: it answers with status 404"), "{log}");
    assert!(log.contains("what was read before goes on") && !log.contains("secret-place"), "{log}");
}
