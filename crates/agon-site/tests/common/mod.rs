//! A site in this process, a clock that the test moves, and browsers of a few lines.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use agon_bot::BotName;
use agon_game::Setup;
use agon_server::clock::{ClockReading, ServerClock};
use agon_server::settings::{self, SettingKey, SettingsBy};
use agon_server::{ContestServer, Setting};
use agon_site::settings::OwnFile;
use agon_site::{Listening, Site, Way, listen, secrets};
use agon_store::acts::{Begin, Enlist, MakeTeam, SignUp, SignedUp, TeamMade};
use agon_store::reads::AtWork;
use agon_store::{AccountId, ContestSettings, EntrantId, LoginId, LoginKind, Time, WorkerId};
use agon_worker::play::MatchEnd;
use agon_worker::{BotSource, ContestTerms, Job, MatchGround};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[path = "../../../agon-store/tests/common/mod.rs"]
pub mod database;
pub mod hall;

/// Everybody's password.
pub const PASSWORD: &str = "four unrelated words here";

/// When tests begin: 2026-11-23, 06:40 UTC.
pub const START: i64 = 1_795_416_000_000;

pub struct World {
    pub folder: TempDir,
    pub server: Arc<ContestServer>,
    pub site: Arc<Site>,
    pub address: SocketAddr,
    clock: Arc<AtomicI64>,
    /// The clock that the server goes by, in tests of that.
    watched: Arc<OnceLock<Arc<ServerClock>>>,
    listening: Option<Listening>,
}

pub fn setting(matches: u32) -> Setting {
    let game = agon_games::all()[0];
    let info = game.info();
    let setup = Setup { seats: info.usual_seats(), ..Setup::default() };
    let recipe = game.open(&setup).expect("its own rules").recipe().clone();
    let terms = ContestTerms {
        game: info.name.to_owned(),
        rules_version: info.rules_version,
        grounds: vec![MatchGround::new(&setup, &recipe)],
        clock: agon_spec::Clock::ORIGINAL.into(),
        ponder: agon_spec::Ponder::Stop,
        ratings: agon_server::METHOD,
    };
    let bosses = info.builtins.iter().take(3).map(|bot| format!("builtin:{}", bot.name)).collect();
    let founding =
        ContestSettings { title: "test".to_owned(), bosses, matches, ..ContestSettings::default() };
    Setting { name: "test".to_owned(), terms, founding }
}

/// A `contest.toml` with this section `[site]`.
pub fn write_file(folder: &Path, site: &str) {
    let text = format!("# Ours\ngame = \"{}\"\n\n[site]\n{site}\n", agon_games::all()[0].info().name);
    std::fs::write(folder.join("contest.toml"), text).expect("written");
}

impl World {
    pub async fn new() -> Self {
        Self::with("sign_up = \"open\"\nteam_size = 2\ntitle = \"Autumn Cup\"", Way::Loopback).await
    }

    pub async fn with(section: &str, way: Way) -> Self {
        Self::in_folder(database::folder(), section, way).await
    }

    /// In a folder whose database may be elsewhere.
    pub async fn in_folder(folder: TempDir, section: &str, way: Way) -> Self {
        write_file(folder.path(), section);
        Self::in_place(folder, way, Arc::new(AtomicI64::new(START))).await
    }

    /// Another server of the same contest, with a folder of its own and the same file.
    pub async fn beside(&self) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (first, second) = (self.folder.path(), folder.path());
        for name in ["contest.toml", agon_store::DATABASE_AT] {
            if first.join(name).exists() {
                std::fs::copy(first.join(name), second.join(name)).expect("copied");
            }
        }
        for name in [agon_store::DATABASE, agon_store::OBJECTS] {
            if first.join(name).exists() {
                std::os::unix::fs::symlink(first.join(name), second.join(name)).expect("linked");
            }
        }
        Self::in_place(folder, Way::Loopback, self.clock.clone()).await
    }

    async fn in_place(folder: TempDir, way: Way, clock: Arc<AtomicI64>) -> Self {
        let mut setting = setting(40);
        let file = OwnFile::read(folder.path()).expect("a good file").settings.settings;
        let (bosses, matches) = (setting.founding.bosses, setting.founding.matches);
        setting.founding = ContestSettings { bosses, matches, ..file };
        let mut server = ContestServer::open(folder.path(), &setting, Time(START)).await.expect("opens");
        // Every match played must be in the log, so none is played again as a check.
        server.play_again_one_in(0);
        let server = Arc::new(server);
        let (now, watched) = (clock.clone(), Arc::<OnceLock<Arc<ServerClock>>>::default());
        let own = watched.clone();
        let time = move || own.get().map_or_else(|| Time(now.load(Ordering::Relaxed)), |clock| clock.now());
        let site = Site::new(server.clone(), folder.path(), way, time);
        let site = site.expect("a good file");
        let listening = listen(site.clone(), site.way.at(None, 0)).await.expect("a port");
        let mut address = listening.address();
        address.set_ip([127, 0, 0, 1].into());
        site.people_come_to(format!("http://{address}"));
        Self { folder, server, site, address, clock, watched, listening: Some(listening) }
    }

    /// From now on the server watches its clock, which is this far ahead of what time would be without jumps.
    pub async fn watches_clock(&self, jumped: &Arc<AtomicI64>) {
        let (wall, jumped) = (self.clock.clone(), jumped.clone());
        let read = move || {
            let boot = wall.load(Ordering::Relaxed);
            ClockReading { wall: boot + jumped.load(Ordering::Relaxed), boot }
        };
        let clock = Arc::new(ServerClock::of("hall cup".to_owned(), read));
        self.server.goes_by(clock.clone()).await.expect("read");
        assert!(self.watched.set(clock).is_ok(), "once");
    }

    pub fn now(&self) -> Time {
        Time(self.clock.load(Ordering::Relaxed))
    }

    pub fn wait(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::Relaxed);
    }

    /// Changes settings as somebody at the command line does.
    pub async fn set(&self, changes: &[(&str, &str)]) {
        let key = |word: &str| SettingKey::of(word).expect("a key");
        let wanted: Vec<(SettingKey, &str)> = changes.iter().map(|(word, text)| (key(word), *text)).collect();
        let make =
            |before: &ContestSettings| settings::changed(before, &wanted, agon_games::all()[0].info().name);
        let changed = settings::change(self.server.store(), SettingsBy::COMMAND, make, self.now()).await;
        changed.expect("good settings");
        self.server.now().await.expect("read");
    }

    pub async fn stop(&mut self) {
        if let Some(listening) = self.listening.take() {
            listening.stop().await;
        }
    }

    /// Makes an account that no password opens.
    pub async fn account(&self, name: &str, organiser: bool) -> AccountId {
        let (contest, now) = (self.server.contest(), self.now());
        let act = SignUp { contest, name: name.into(), password: "$none".into(), invite: None, now };
        let SignedUp::New(account) = self.server.store().act(act).await.expect("answered") else {
            panic!("{name} is new")
        };
        if organiser {
            let (sha, kind) = (secrets::sha("link"), agon_store::LinkKind::Organiser);
            let ends = now.plus(1000);
            let offer = agon_store::acts::MakeLink { sha, kind, account: None, now, ends };
            self.server.store().act(offer).await.expect("made");
            let take = agon_store::acts::TakeLink { contest, sha, account, kind, now };
            assert!(self.server.store().act(take).await.expect("answered"));
        }
        account
    }

    pub async fn team(&self, account: AccountId, name: &str) -> EntrantId {
        let (contest, now) = (self.server.contest(), self.now());
        let code = secrets::code();
        let act = MakeTeam { contest, account, name: name.into(), code, now };
        match self.server.store().act(act).await.expect("answered") {
            TeamMade::New(team) => team,
            other => panic!("{other:?}"),
        }
    }

    /// A browser or a program that is signed in to this account.
    pub async fn signed_in(&self, account: AccountId, kind: LoginKind) -> (Browser, LoginId) {
        let secret = secrets::fresh();
        let act = Begin {
            account,
            sha: secrets::sha(&secret),
            kind,
            name: "test".into(),
            now: self.now(),
            ends: self.now().plus(30 * 86_400_000),
            idle_ms: 7 * 86_400_000,
        };
        let login = self.server.store().act(act).await.expect("answered").expect("room");
        let mut browser = self.browser();
        match kind {
            LoginKind::Session => {
                browser.cookies.insert(format!("agon-{}", self.address.port()), secret);
            }
            LoginKind::Token => browser.bearer = Some(secret),
        }
        (browser, login)
    }

    /// A machine with a token, and the client that speaks for it.
    pub async fn worker(&self, name: &str) -> (AtWork, Browser) {
        let secret = secrets::fresh();
        let (contest, now, sha) = (self.server.contest(), self.now(), secrets::sha(&secret));
        let enrol = Enlist { contest, name: name.into(), sha, actor: "Boss".into(), now };
        self.server.store().act(enrol).await.expect("answered");
        let worker = self.server.store().worker_known_by(&sha).await.expect("answered").expect("there");
        (worker, Browser { bearer: Some(secret), ..self.browser() })
    }

    pub fn browser(&self) -> Browser {
        Browser { address: self.address, cookies: BTreeMap::new(), bearer: None, extra: Vec::new() }
    }
}

/// A browser: cookies, and the headers that browsers send.
#[derive(Clone)]
pub struct Browser {
    pub address: SocketAddr,
    pub cookies: BTreeMap<String, String>,
    pub bearer: Option<String>,
    /// Extra headers.
    pub extra: Vec<(String, String)>,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The first heading.
    pub fn heading(&self) -> String {
        let text = self.text();
        let from = text.find("<h1>").map_or(0, |at| at + 4);
        text[from..].split("</h1>").next().unwrap_or_default().to_owned()
    }
}

impl Browser {
    /// The secret of the session; empty without one.
    pub fn secret(&self) -> String {
        let mut sessions = self.cookies.iter().filter(|(name, _)| !name.ends_with("-known"));
        sessions.next().map(|(_, secret)| secret.clone()).unwrap_or_default()
    }

    pub fn form(&self) -> String {
        secrets::form_token(&self.secret())
    }

    /// Sends bytes as they are, and reads to the end.
    pub async fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = tokio::net::TcpStream::connect(self.address).await.expect("it listens");
        // A server that refuses early may close before everything is sent.
        let _ = stream.write_all(request).await;
        let (mut bytes, mut piece) = (Vec::new(), vec![0; 16 << 10]);
        // A stream of hints has no end.
        let is_stream = |bytes: &[u8]| {
            String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).contains("text/event-stream")
        };
        while !is_stream(&bytes) {
            match stream.read(&mut piece).await {
                Ok(count) if count > 0 => bytes.extend_from_slice(&piece[..count]),
                _ => break,
            }
        }
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let mut body = bytes.get(end + 4..).unwrap_or_default().to_vec();
        if headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked") {
            body = unchunked(&body);
        }
        Answer { status, headers, body }
    }

    pub async fn ask(&mut self, method: &str, path: &str, kind: &str, body: &[u8]) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        if !self.cookies.is_empty() {
            let pairs: Vec<String> =
                self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            head += &format!("Cookie: {}\r\n", pairs.join("; "));
        }
        if let Some(bearer) = &self.bearer {
            head += &format!("Authorization: Bearer {bearer}\r\n");
        }
        if method != "GET" {
            let has_origin = self.extra.iter().any(|(name, _)| name == "Origin");
            if !has_origin {
                head += &format!("Origin: http://{}\r\n", self.address);
            }
            head += &format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
        }
        for (name, value) in &self.extra {
            head += &format!("{name}: {value}\r\n");
        }
        let answer = self.raw(&[head.as_bytes(), b"\r\n", body].concat()).await;
        for (_, value) in answer.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let pair = value.split(';').next().unwrap_or_default();
            let (name, value) = pair.split_once('=').unwrap_or_default();
            match value {
                "" => self.cookies.remove(name),
                value => self.cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        answer
    }

    /// Sends JSON, as programs do.
    pub async fn post_json(&mut self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, "application/json", body.as_bytes()).await
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        self.ask("GET", path, "", b"").await
    }

    /// Sends a form with its token.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.form();
        self.post_with(path, &token, fields).await
    }

    pub async fn post_with(&mut self, path: &str, token: &str, fields: &[(&str, &str)]) -> Answer {
        let mut body = format!("form={token}");
        for (name, value) in fields {
            let value: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
            body += &format!("&{name}={value}");
        }
        self.ask("POST", path, "application/x-www-form-urlencoded", body.as_bytes()).await
    }

    /// Sends a file in a form, its fields first.
    pub async fn upload(&mut self, path: &str, fields: &[(&str, &str)], name: &str, bytes: &[u8]) -> Answer {
        let mut body = Vec::new();
        let token = self.form();
        for (field, value) in [("form", token.as_str())].iter().chain(fields) {
            let part =
                format!("--xyz\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n");
            body.extend(part.as_bytes());
        }
        let part = format!(
            "--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        body.extend(part.as_bytes());
        body.extend(bytes);
        body.extend(b"\r\n--xyz--\r\n");
        self.ask("POST", path, "multipart/form-data; boundary=xyz", &body).await
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size =
            std::str::from_utf8(&bytes[..end]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let Some(size) = size.filter(|size| *size > 0) else { break };
        let from = end + 2;
        whole.extend(bytes.get(from..from + size).unwrap_or_default());
        bytes = bytes.get(from + size + 2..).unwrap_or_default();
    }
    whole
}

/// Plays a match. Uploaded bots play like a built-in one, because this test is not about sandboxes.
pub async fn play(world: &World, worker: WorkerId, job: &Job) {
    let first = agon_games::all()[0].info().builtins[0].name;
    play_as(world, worker, job, &BotName::parse(&format!("builtin:{first}")).expect("a name")).await;
}

/// Plays a match. Uploaded bots play like this bot.
pub async fn play_as(world: &World, worker: WorkerId, job: &Job, bot: &BotName) {
    let bots: Vec<BotName> = job
        .seats
        .iter()
        .map(|seat| match &seat.program {
            BotSource::Builtin(name) => BotName::parse(name).expect("a name"),
            BotSource::Source(_) => bot.clone(),
        })
        .collect();
    let (halt, turn) = (AtomicBool::new(false), AtomicU32::new(0));
    let played = world.server.table().play(job, &bots, &[0], &halt, &turn).expect("begins");
    let MatchEnd::Whole(recorded) = played else { panic!("{played:?}") };
    let whole = recorded.shared_out(world.server.table()).expect("a replay");
    assert!(world.server.start(worker, job.attempt, world.now()).await.expect("answered"));
    let result = (&whole.observed, &whole.replay[..], &whole.own[..]);
    world.server.post(worker, job.attempt, result, world.now()).await.expect("answered");
}

/// Plays this many matches, and does the server's upkeep.
pub async fn play_some(world: &World, count: usize) {
    let worker = world.server.meet("one", "not confined", world.now()).await.expect("met");
    for number in 0..count {
        world.server.tick(world.now()).await.expect("done");
        let request = format!("{}-{number}", world.now().0);
        let granted = world.server.lease(worker, &request, 1, world.now()).await.expect("answered");
        for job in &granted.jobs {
            play(world, worker, job).await;
        }
        world.wait(6_000);
        world.server.tick(world.now()).await.expect("done");
    }
    world.server.keep_board(world.now(), true).await.expect("kept");
}

/// The text between two texts.
pub fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let at = text.find(from).unwrap_or_else(|| panic!("{from} in {text}")) + from.len();
    text[at..].split(to).next().unwrap_or_default()
}

pub async fn sign_up(world: &World, name: &str, code: &str) -> Browser {
    let mut browser = world.browser();
    let answer = browser.post("/sign-up", &[("name", name), ("password", PASSWORD), ("invite", code)]).await;
    assert_eq!(
        (answer.status, answer.heading()),
        (200, "Your recovery codes".to_owned()),
        "{}",
        answer.text()
    );
    browser
}
