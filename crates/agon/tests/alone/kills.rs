//! One contest on many servers, while its organiser acts.
//!
//! Longer than 500 lines: one contest, what is done to it, and what must have come of that.
//!
//! Two servers in network namespaces behind the guide's proxies, PostgreSQL, a
//! bucket and two machines that play are killed at random moments. Teams sign up, hand in, and ask for matches meanwhile; the
//! organiser freezes, reopens, has a match played again, disqualifies, takes that back, announces, and changes settings. Each act
//! holds on both servers from its answer on, and whatever was acknowledged is there at the end.
//!
//! `cargo xtask long kills` kills 50 times; here it is a few. `AGON_SEED` chooses other moments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agon_game::{Chance as _, Seeded};
use agon_store::{LogEntry, Store};
use serde_json::Value;

use crate::common::{
    Running, Space, agon, block_on, err, folder, good, is_installed, json, number, out, wait,
};
use crate::many::database::Postgres;
use crate::many::{
    WORKERS, enlist, log_of, place_in_bucket, port, start_bucket, start_worker, until_both_play,
};
use crate::proxies::{PROXIES, Proxy, serve, servers};

/// Whatever is asked of the contest is asked again for this long; nobody stays away longer.
const PATIENCE: Duration = Duration::from_secs(180);
/// How many teams hand in at the same time.
const TEAMS: u64 = 3;
/// How many versions somebody hands in, before somebody else takes his place: an hour allows no more.
const UPLOADS: usize = 9;
const SERVERS: [&str; 2] = ["cup0", "cup1"];
const PASSWORD: &str = "four unrelated words here";

/// The speed of test machines varies from moment to moment.
const CONTEST: &str = "game = 'cultist-wars'
[site]
title = 'Cup 0'
sign_up = 'open'
bosses = ['builtin:greedy', 'builtin:random', 'builtin:idle']
[ladder]
matches = 1000000
[sandbox]
trust_bots = true
[workers]
tolerance = 90
";

/// A bot that always waits.
pub const WAITER: &str = "import sys
line = sys.stdin.readline
for _ in range(9): line()
while True:
    for _ in range(int(line() or sys.exit())): line()
    print('WAIT', flush=True)
";

/// Where a request goes.
#[derive(Clone, Copy, Debug)]
enum Door {
    Proxy,
    /// To one of the servers, as the proxy would ask it.
    Server(usize),
}

const DOORS: [Door; 3] = [Door::Proxy, Door::Server(0), Door::Server(1)];

struct Answer {
    status: u16,
    /// The cookie that it sets.
    cookie: Option<String>,
    text: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }
}

/// Somebody with an account.
#[derive(Clone, Default)]
struct Person {
    name: String,
    /// The session, as a cookie.
    cookie: String,
    token: String,
}

/// Something acknowledged to somebody, when he had begun to ask for it.
struct Acknowledged<T> {
    began: Instant,
    to: Person,
    what: T,
}

/// Answers by what was asked and status; 0 where none came.
type Answers = BTreeMap<(&'static str, u16), usize>;

/// What was acknowledged, and what was seen.
#[derive(Default)]
struct Ledger {
    accounts: Vec<Acknowledged<()>>,
    /// The numbers of versions.
    uploads: Vec<Acknowledged<i64>>,
    /// The numbers of matches.
    challenges: Vec<Acknowledged<i64>>,
    /// Matches that were shown as played.
    results: BTreeSet<i64>,
    announced: Vec<String>,
    reasons: Vec<String>,
    titles: Vec<String>,
    team_sizes: Vec<usize>,
    /// Between which moments uploads were closed for certain, and the same for signing up.
    closed: Vec<(Instant, Instant)>,
    closed_sign_up: Vec<(Instant, Instant)>,
    /// Acts of the organiser, by kind.
    acts: BTreeMap<&'static str, usize>,
    /// What must not be.
    wrong: Vec<String>,
}

/// The contest as it is reached from outside.
struct Outside<'a> {
    place: &'a Path,
    url: String,
    servers: [String; 2],
    agent: ureq::Agent,
    ledger: Mutex<Ledger>,
    /// Of their own, so that the contest can be asked about what is in the ledger.
    answers: Mutex<Answers>,
    stop: AtomicBool,
    /// How many acts of the organiser were seen to hold.
    held: AtomicUsize,
}

impl Outside<'_> {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().expect("nobody panics with it")
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().expect("nobody panics with it")
    }

    fn wrong(&self, what: String) {
        println!("WRONG: {what}");
        self.ledger().wrong.push(what);
    }

    /// Asks, and returns the answer of the contest. None where there was none, or only that the contest's database or objects cannot be
    /// reached: then it was done or not.
    fn ask(
        &self,
        door: Door,
        what: &'static str,
        (path, who): (&str, &Person),
        body: Option<(&str, &[u8])>,
    ) -> Option<Answer> {
        let base = match door {
            Door::Proxy => &self.url,
            Door::Server(own) => &self.servers[own],
        };
        let host = self.url.trim_start_matches("http://");
        let heads = [
            ("Host", host.to_owned()),
            // The proxies of the guide speak TLS; these do not, which nobody behind them sees.
            ("Origin", format!("https://{host}")),
            ("X-Forwarded-For", "192.0.2.7".to_owned()),
            match path.starts_with("/api/") {
                true => ("Authorization", format!("Bearer {}", who.token)),
                false => ("Cookie", who.cookie.clone()),
            },
        ];
        let url = format!("{base}{path}");
        let answered = match body {
            Some((kind, body)) => heads
                .into_iter()
                .fold(self.agent.post(&url), |request, (name, value)| request.header(name, value))
                .content_type(kind)
                .send(body),
            None => heads
                .into_iter()
                .fold(self.agent.get(&url), |request, (name, value)| request.header(name, value))
                .call(),
        };
        let read = answered.and_then(|mut answer| {
            let cookie = answer.headers().get("set-cookie").and_then(|cookie| cookie.to_str().ok());
            let cookie = cookie.and_then(|cookie| cookie.split(';').next()).map(str::to_owned);
            let text = answer.body_mut().read_to_string()?;
            Ok(Answer { status: answer.status().as_u16(), cookie, text })
        });
        let status = read.as_ref().map_or(0, |answer| answer.status);
        *self.answers().entry((what, status)).or_default() += 1;
        read.ok().filter(|answer| answer.status < 500)
    }

    /// Sends a form.
    fn form(
        &self,
        door: Door,
        what: &'static str,
        (path, who): (&str, &Person),
        fields: &[(&str, &str)],
    ) -> Option<Answer> {
        let session = who.cookie.split_once('=').map_or("", |(_, secret)| secret);
        let mut body = format!("form={}", agon_site::secrets::form_token(session));
        for (name, value) in fields {
            let value: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
            body += &format!("&{name}={value}");
        }
        self.ask(door, what, (path, who), Some(("application/x-www-form-urlencoded", body.as_bytes())))
    }

    /// Asks one door after the other until the contest answers.
    fn persist<T>(&self, what: &str, mut ask: impl FnMut(Door) -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        for door in DOORS.iter().cycle() {
            if let Some(answer) = ask(*door) {
                return answer;
            }
            assert!(Instant::now() < end, "nobody answers: {what}");
            std::thread::sleep(Duration::from_millis(100));
        }
        unreachable!("a cycle has no end")
    }

    /// Signs somebody up; none when that was refused or not answered.
    fn sign_up(&self, door: Door, name: &str) -> Result<Person, Option<Answer>> {
        let (began, fields) = (Instant::now(), [("name", name), ("password", PASSWORD)]);
        let answer = self.form(door, "sign up", ("/sign-up", &Person::default()), &fields).ok_or(None)?;
        let Answer { status: 200, cookie: Some(cookie), .. } = answer else { return Err(Some(answer)) };
        let person = Person { name: name.to_owned(), cookie, ..Person::default() };
        self.ledger().accounts.push(Acknowledged { began, to: person.clone(), what: () });
        Ok(person)
    }

    /// Somebody new with a token.
    fn newcomer(&self, door: Door, name: &str) -> Option<Person> {
        let mut person = self.sign_up(door, name).ok()?;
        person.token = self.persist("a token", |door| {
            let made = self.form(door, "token", ("/account/tokens", &person), &[("name", "test")])?;
            let Some((_, rest)) = made.text.split_once("<code class=\"secret\">") else {
                panic!("{name}: {} {}", made.status, made.text)
            };
            rest.split('<').next().map(str::to_owned)
        });
        Some(person)
    }

    /// Hands in a bot that nobody else has handed in.
    fn upload(&self, door: Door, who: &Person, label: &str) -> Option<Answer> {
        let (began, bot) = (Instant::now(), format!("{WAITER}# {} {label}\n", who.name));
        let body = Some(("application/octet-stream", bot.as_bytes()));
        let answer = self.ask(door, "upload", ("/api/v1/upload?name=bot.py", who), body)?;
        if answer.status == 200 {
            let what = answer.json()["version"]["id"].as_i64().expect("a number");
            self.ledger().uploads.push(Acknowledged { began, to: who.clone(), what });
        }
        Some(answer)
    }

    /// Takes part as long as the contest goes on: signs up, hands in, asks for matches, looks at results.
    fn take_part(&self, team: u64, seed: i64) {
        let mut chance = Seeded::stream(seed, &format!("team {team}"));
        let (mut own, mut uploads) = (None, 0);
        for turn in 0..1_000_000 {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let door = DOORS[chance.below(3) as usize];
            let who = match &own {
                Some(who) if uploads < UPLOADS => who,
                _ => {
                    uploads = 0;
                    own = self.newcomer(door, &format!("Team {team} {turn}")).or(own);
                    continue;
                }
            };
            match chance.below(4) {
                0 => {
                    let began = Instant::now();
                    let body = br#"{"against":"greedy"}"#;
                    let body = Some(("application/json", &body[..]));
                    let asked = self.ask(door, "challenge", ("/api/v1/challenge", who), body);
                    if let Some(asked) = asked.filter(|asked| asked.status == 200) {
                        let what = asked.json()["match"]["id"].as_i64().expect("a number");
                        self.ledger().challenges.push(Acknowledged { began, to: who.clone(), what });
                    }
                }
                1 => {
                    let played = self.matches(door, who);
                    let ids = played.iter().filter_map(|game| game["id"].as_i64());
                    self.ledger().results.extend(ids);
                }
                _ => {
                    let taken = self.upload(door, who, &turn.to_string());
                    // What was not answered may count, too.
                    uploads += match taken.map_or(0, |taken| taken.status) {
                        429 => UPLOADS,
                        200 => 1,
                        _ => 0,
                    };
                }
            }
            std::thread::sleep(Duration::from_millis(u64::from(chance.below(400))));
        }
    }

    /// Ladder matches that are shown as played.
    fn matches(&self, door: Door, who: &Person) -> Vec<Value> {
        let Some(shown) = self.ask(door, "matches", ("/api/v1/matches", who), None) else {
            return Vec::new();
        };
        let shown = shown.json()["matches"].as_array().cloned().unwrap_or_default();
        shown.into_iter().filter(|game| game["kind"] == "ladder" && game["state"] == "valid").collect()
    }

    /// Looks at both servers at once whether an act holds, each as soon as it answers. `holds` returns none while it does not.
    fn holds(&self, act: &'static str, holds: &(dyn Fn(Door, usize) -> Option<Result<(), String>> + Sync)) {
        std::thread::scope(|scope| {
            for (server, name) in SERVERS.iter().enumerate() {
                scope.spawn(move || {
                    let end = Instant::now() + PATIENCE;
                    while Instant::now() < end {
                        match holds(Door::Server(server), server) {
                            Some(Ok(())) => return,
                            Some(Err(why)) => {
                                return self.wrong(format!("{act}, on {name}: {why}"));
                            }
                            None => std::thread::sleep(Duration::from_millis(50)),
                        }
                    }
                    self.wrong(format!("{act}: {name} never answered"));
                });
            }
        });
        *self.ledger().acts.entry(act).or_default() += 1;
        self.held.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether this is so, as what is said where it is not.
fn must(is_so: bool, answer: &Answer) -> Result<(), String> {
    let text: String = answer.text.chars().take(3_000).collect();
    if is_so { Ok(()) } else { Err(format!("{} {text}", answer.status)) }
}

/// The organiser, who does one after the other all that organisers do.
struct Organiser<'a> {
    outside: &'a Outside<'a>,
    chance: Seeded,
    rita: Person,
    /// A team that hands in what is to be refused.
    probe: Person,
    /// A team that is disqualified, and its number.
    victim: (Person, i64),
    title: usize,
    team_size: usize,
    /// How many acts there were, so that each has words of its own.
    count: usize,
    /// Matches that were played again.
    again: BTreeSet<i64>,
}

impl<'a> Organiser<'a> {
    fn new(outside: &'a Outside<'a>, seed: i64) -> Self {
        let words = ["serve", "link", SERVERS[0], "--site", &outside.url, "--json"];
        let made = json(&good(agon(outside.place, &words)));
        let (_, link) = made["link"].as_str().and_then(|link| link.split_once("link=")).expect("a link");
        let fields = [("name", "Rita"), ("password", PASSWORD), ("link", link)];
        let made = outside.form(Door::Server(0), "organiser", ("/organiser", &Person::default()), &fields);
        let cookie = made.and_then(|made| made.cookie).expect("a session");
        let rita = Person { name: "Rita".to_owned(), cookie, ..Person::default() };
        let [probe, victim] = ["Probe", "Victim"].map(|name| {
            let person = outside.newcomer(Door::Proxy, name).expect("everybody may sign up");
            let taken = outside.upload(Door::Proxy, &person, "the first").expect("an answer");
            assert_eq!(taken.status, 200, "{}", taken.text);
            person
        });
        let me = outside.ask(Door::Proxy, "me", ("/api/v1/me", &victim), None).expect("an answer").json();
        let team = me["team"]["id"].as_i64().expect("a team");
        let chance = Seeded::stream(seed, "organiser");
        let (again, victim) = (BTreeSet::new(), (victim, team));
        Self { outside, chance, rita, probe, victim, title: 0, team_size: 1, count: 0, again }
    }

    /// What has not been said before.
    fn words(&mut self, what: &str) -> String {
        self.count += 1;
        format!("{what} {}", self.count)
    }

    /// Sends a form until it is answered, and returns whether it was done. `done` says so where an earlier try, which was not answered,
    /// had done it and this one found nothing more to do.
    fn act(
        &mut self,
        act: &'static str,
        path: &str,
        fields: &[(&str, &str)],
        done: &dyn Fn(Door) -> Option<bool>,
    ) -> bool {
        let turn = self.chance.below(3) as usize;
        let (outside, rita) = (self.outside, &self.rita);
        outside.persist(act, |door| {
            // Each time another one is the first to be asked.
            let door = match door {
                Door::Proxy => DOORS[turn],
                Door::Server(own) => DOORS[(turn + 1 + own) % 3],
            };
            let answer = outside.form(door, act, (path, rita), fields)?;
            match answer.status {
                303 => Some(true),
                422 => done(door),
                _ => {
                    outside.wrong(format!("{act}: {} {}", answer.status, answer.text));
                    Some(false)
                }
            }
        })
    }

    /// Demands that a page has these words.
    fn page(&self, door: Door, path: &str, words: &str) -> Option<Result<(), String>> {
        let page = self.outside.ask(door, "page", (path, &self.rita), None)?;
        Some(must(page.text.contains(words), &page))
    }

    /// Changes a setting at the command line, in the folder of either server.
    fn set(&mut self, change: &str) {
        let server = SERVERS[self.chance.below(2) as usize];
        let end = Instant::now() + PATIENCE;
        loop {
            let set = agon(self.outside.place, &["serve", "set", server, change]);
            if set.status.success() {
                return;
            }
            // The database was away.
            assert!(Instant::now() < end, "{change}: {}{}", out(&set), err(&set));
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Fills in the settings' form.
    fn settings(&mut self, act: &'static str, sign_up: &str) -> bool {
        self.title += 1;
        let (title, size) = (format!("Cup {}", self.title), self.team_size.to_string());
        let fields = [
            ("title", title.as_str()),
            ("sign_up", sign_up),
            ("team_size", &size),
            ("time_zone", "UTC"),
            ("opens", ""),
            ("closes", ""),
            ("matches", "1000000"),
        ];
        let done = self.act(act, "/organise/settings", &fields, &|_| None);
        if done {
            self.outside.ledger().titles.push(title);
        }
        done
    }

    fn announce(&mut self) {
        let text = self.words("Notice");
        if self.act("announce", "/organise/announce", &[("text", &text)], &|_| None) {
            self.outside.ledger().announced.push(text.clone());
            self.outside.holds("announce", &|door, _| self.page(door, "/ladder", &text));
        }
    }

    /// Whoever begins to hand in after the answer is refused on both, whatever is asked before the next act.
    fn freeze(&mut self) -> Instant {
        self.act("freeze", "/organise/freeze", &[], &|_| None);
        let (from, label) = (Instant::now(), self.words("refused"));
        self.outside.holds("freeze", &|door, _| {
            let answer = self.outside.upload(door, &self.probe, &label)?;
            Some(must(answer.status == 403 && answer.text.contains("Uploads are closed"), &answer))
        });
        from
    }

    fn reopen(&mut self, from: Instant) {
        let until = Instant::now();
        if self.chance.happens(1, 2) {
            self.set("closes=");
        } else {
            self.settings("reopen", "open");
        }
        self.outside.ledger().closed.push((from, until));
        let label = self.words("accepted");
        let probe = &self.probe;
        self.outside.holds("reopen", &|door, own| {
            let answer = self.outside.upload(door, probe, &format!("{label} {own}"))?;
            // After ten in an hour it is only said when the next may come.
            Some(must([200, 429].contains(&answer.status), &answer))
        });
    }

    fn team_size(&mut self) {
        self.team_size = self.team_size % 19 + 2;
        let size = self.team_size;
        self.set(&format!("team_size={size}"));
        self.outside.ledger().team_sizes.push(size);
        self.outside.holds("set", &|door, _| {
            let contest = self.outside.ask(door, "contest", ("/api/v1/contest", &self.probe), None)?;
            Some(must(contest.json()["team_size"] == size, &contest))
        });
    }

    fn sign_up(&mut self) {
        if !self.settings("close sign-up", "closed") {
            return;
        }
        let from = Instant::now();
        let name = self.words("Nobody");
        self.outside.holds("close sign-up", &|door, own| match self
            .outside
            .sign_up(door, &format!("{name} {own}"))
        {
            Ok(_) => Some(Err("somebody could sign up".to_owned())),
            Err(None) => None,
            Err(Some(answer)) => {
                Some(must(answer.status == 422 && answer.text.contains("Nobody can sign up"), &answer))
            }
        });
        let until = Instant::now();
        if !self.settings("open sign-up", "open") {
            return;
        }
        self.outside.ledger().closed_sign_up.push((from, until));
        let title = format!("Cup {}", self.title);
        let name = self.words("Newcomer");
        let tries = AtomicUsize::new(0);
        self.outside.holds("open sign-up", &|door, own| {
            let contest = self.outside.ask(door, "contest", ("/api/v1/contest", &self.probe), None)?;
            if let Err(why) = must(contest.json()["title"] == title, &contest) {
                return Some(Err(why));
            }
            // Who was not answered may be there.
            let tried = tries.fetch_add(1, Ordering::Relaxed);
            match self.outside.sign_up(door, &format!("{name} {own} {tried}")) {
                Ok(_) => Some(Ok(())),
                Err(None) => None,
                Err(Some(answer)) => Some(must(false, &answer)),
            }
        });
    }

    fn disqualify(&mut self) {
        let team = self.victim.1.to_string();
        for (act, ruling) in [("disqualify", "out"), ("take back", "back")] {
            let reason = self.words(act);
            let fields = [("about", team.as_str()), ("ruling", ruling), ("reason", &reason)];
            let rita = self.rita.clone();
            let outside = self.outside;
            let is_there =
                |door| Some(outside.ask(door, "page", ("/rulings", &rita), None)?.text.contains(&reason));
            if !self.act(act, "/organise/rulings", &fields, &is_there) {
                return self.outside.wrong(format!("{act}: it was refused, and is not there"));
            }
            self.outside.ledger().reasons.push(reason.clone());
            let label = self.words("handed in");
            self.outside.holds(act, &|door, own| {
                if let Err(why) = self.page(door, "/rulings", &reason)? {
                    return Some(Err(why));
                }
                let answer = self.outside.upload(door, &self.victim.0, &format!("{label} {own}"))?;
                let is_out = answer.status == 403 && answer.text.contains("disqualified");
                Some(must(is_out == (ruling == "out") && (is_out || answer.status != 403), &answer))
            });
        }
    }

    fn again(&mut self) {
        let games = self.outside.persist("matches", |door| {
            Some(self.outside.matches(door, &self.probe)).filter(|games| !games.is_empty())
        });
        let game =
            games.iter().filter_map(|game| game["id"].as_i64()).find(|game| !self.again.contains(game));
        let Some(game) = game else { return };
        self.again.insert(game);
        let (reason, number, page) = (self.words("again"), game.to_string(), format!("/match/{game}"));
        let fields = [("match", number.as_str()), ("reason", &reason)];
        let (outside, rita) = (self.outside, self.rita.clone());
        let is_there = |door| Some(outside.ask(door, "page", (&page, &rita), None)?.text.contains(&reason));
        // One whose block was played again already is refused.
        if self.act("again", "/organise/again", &fields, &is_there) {
            self.outside.ledger().reasons.push(reason.clone());
            self.outside.holds("again", &|door, _| self.page(door, &page, &reason));
        }
    }

    fn run(&mut self) {
        for _ in 0..1_000_000 {
            let from = self.freeze();
            self.team_size();
            self.reopen(from);
            self.announce();
            self.disqualify();
            self.again();
            self.sign_up();
            if self.outside.stop.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}

/// Everything that can be killed.
struct World {
    place: tempfile::TempDir,
    postgres: Postgres,
    bucket: Option<Running>,
    bucket_port: u16,
    servers: [Option<Running>; 2],
    workers: [Option<Running>; 2],
    proxy: Option<Running>,
    /// Those that are installed; whenever one is killed, the next takes its place.
    proxies: Vec<&'static Proxy>,
    port: u16,
    url: String,
    killed: BTreeMap<&'static str, usize>,
    spaces: [Space; 2],
}

impl World {
    /// None where this machine lacks something, which is said.
    fn new() -> Option<Self> {
        let proxies: Vec<&Proxy> = PROXIES.iter().filter(|proxy| is_installed(proxy.program)).collect();
        if !Space::can_be() || proxies.is_empty() {
            return None;
        }
        let (postgres, place, spaces) = (Postgres::start()?, folder(), [Space::new(13), Space::new(14)]);
        let (path, port, bucket_port) = (place.path(), port(), port());
        std::fs::create_dir_all(path.join("bucket/cup")).expect("a bucket");
        for name in SERVERS {
            std::fs::create_dir(path.join(name)).expect("a folder");
            std::fs::write(path.join(name).join("contest.toml"), CONTEST).expect("written");
            place_in_bucket(&path.join(name), &spaces[0].ours, bucket_port);
        }
        postgres.place(&path.join(SERVERS[0]));
        let address = |name: &str| path.join(name).join(agon_store::DATABASE_AT);
        std::fs::copy(address(SERVERS[0]), address(SERVERS[1])).expect("copied");
        spaces[1].reach(&spaces[0].ours);
        let (servers, workers) = ([None, None], [None, None]);
        let url = format!("http://127.0.0.1:{port}");
        let (bucket, proxy, killed) = (None, None, BTreeMap::new());
        let mut own = Self {
            place,
            postgres,
            bucket,
            bucket_port,
            servers,
            workers,
            proxy,
            proxies,
            port,
            url,
            killed,
            spaces,
        };
        own.start(6);
        for which in [0, 1, 4] {
            own.start(which);
        }
        for name in WORKERS {
            enlist(own.place.path(), SERVERS[0], name);
        }
        own.start(2);
        own.start(3);
        Some(own)
    }

    fn start(&mut self, which: usize) {
        let place = self.place.path();
        match which {
            0 | 1 => {
                let url = self.url.replacen("http", "https", 1);
                self.servers[which] = Some(serve(place, SERVERS[which], &self.spaces[which], &url));
            }
            2 | 3 => self.workers[which - 2] = Some(start_worker(place, &self.url, WORKERS[which - 2])),
            4 => {
                self.proxies.rotate_left(1);
                self.proxy = Some(self.proxies[0].start(place, self.port, &servers(&self.spaces)));
            }
            5 => self.postgres.run(),
            _ => {
                self.bucket =
                    Some(start_bucket(&place.join("bucket"), &self.spaces[0].ours, self.bucket_port))
            }
        }
    }

    /// Kills one and starts it again a while later.
    fn kill(&mut self, which: usize, chance: &mut Seeded) {
        let what = match which {
            0 | 1 => {
                self.servers[which] = None;
                ["the first server", "the second server"][which]
            }
            2 | 3 => {
                self.workers[which - 2] = None;
                ["the first worker", "the second worker"][which - 2]
            }
            4 => {
                self.proxy = None;
                self.proxies[0].program
            }
            5 if chance.happens(1, 2) => {
                self.postgres.kill();
                "PostgreSQL, stopped at once"
            }
            5 => {
                self.postgres.kill_postmaster();
                "PostgreSQL"
            }
            _ => {
                self.bucket = None;
                "the bucket"
            }
        };
        println!("kill {}: {what}", self.killed.values().sum::<usize>() + 1);
        *self.killed.entry(what).or_default() += 1;
        std::thread::sleep(Duration::from_millis(u64::from(chance.below(1500))));
        self.start(which);
        self.all_live(what);
    }

    /// Checks that everything not killed is still running.
    fn all_live(&mut self, killed: &str) {
        let all = self.servers.iter_mut().chain(&mut self.workers).chain([&mut self.bucket, &mut self.proxy]);
        let alive: Vec<bool> = all.map(|one| one.as_mut().is_some_and(Running::is_alive)).collect();
        let logs = || {
            let names = SERVERS.iter().chain(&WORKERS).chain(self.proxies.iter().map(|proxy| &proxy.program));
            let log = |name: &&str| std::fs::read_to_string(self.place.path().join(format!("{name}.log")));
            names.map(log).map(Result::unwrap_or_default).collect::<Vec<_>>()
        };
        assert!(!alive.contains(&false), "{killed} was killed; who lives: {alive:?} {:#?}", logs());
    }
}

/// Tells everybody to stop when it goes, also by a panic.
pub struct Stops<'a>(pub &'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What was acknowledged is there, as its owners see it.
fn all_is_there(outside: &Outside<'_>) {
    // Whoever took part has stopped.
    let mut ledger = outside.ledger();
    let mut versions = BTreeMap::new();
    let mut wrong = Vec::new();
    for upload in &ledger.uploads {
        let own = versions.entry(upload.to.token.clone()).or_insert_with(|| {
            let all = outside.persist("versions", |door| {
                outside.ask(door, "versions", ("/api/v1/versions", &upload.to), None)
            });
            let all = all.json()["versions"].as_array().cloned().unwrap_or_default();
            all.iter().filter_map(|version| version["id"].as_i64()).collect::<BTreeSet<_>>()
        });
        if !own.contains(&upload.what) {
            wrong.push(format!("version {} of {} is lost", upload.what, upload.to.name));
        }
        if ledger.closed.iter().any(|(from, until)| (*from..*until).contains(&upload.began)) {
            wrong.push(format!(
                "version {} of {} came in while uploads were closed",
                upload.what, upload.to.name
            ));
        }
    }
    for challenge in &ledger.challenges {
        let path = format!("/api/v1/asked/{}", challenge.what);
        let found =
            outside.persist("a challenge", |door| outside.ask(door, "asked", (&path, &challenge.to), None));
        if found.status != 200 {
            wrong.push(format!(
                "challenge {} of {}: {} {}",
                challenge.what, challenge.to.name, found.status, found.text
            ));
        }
    }
    for account in &ledger.accounts {
        // Its session is of the same transaction, so that it need not sign in again.
        let page = outside
            .persist("an account", |door| outside.ask(door, "account", ("/account", &account.to), None));
        if page.status != 200 || !page.text.contains(&account.to.name) {
            wrong.push(format!("the account {}: {} {}", account.to.name, page.status, page.text));
        }
        if ledger.closed_sign_up.iter().any(|(from, until)| (*from..*until).contains(&account.began)) {
            wrong.push(format!("{} signed up while nobody could", account.to.name));
        }
    }
    ledger.wrong.extend(wrong);
}

/// What was acknowledged is in the contest's log and in its audit log.
fn all_is_written(ledger: &mut Ledger, log: &[LogEntry], audit: &[String]) {
    let mut games = BTreeSet::new();
    let (mut decisions, mut sizes) = (String::new(), BTreeSet::new());
    for row in log {
        if let LogEntry::Settings(row) = row {
            let size = row.settings.iter().filter(|change| change.key == "team_size");
            sizes.extend(size.map(|change| change.after.to_string()));
        }
        match row {
            LogEntry::Result(sealed) if !games.insert(sealed.game.0) => {
                ledger.wrong.push(format!("match {} counts twice", sealed.game));
            }
            LogEntry::Result(_) => {}
            decision => decisions += &serde_json::to_string(decision).expect("plain data"),
        }
    }
    let lost = ledger.results.difference(&games).map(|game| format!("the result of match {game} is lost"));
    let words = ledger.reasons.iter().chain(&ledger.titles).filter(|words| !decisions.contains(*words));
    let sizes = ledger.team_sizes.iter().filter(|size| !sizes.contains(&size.to_string()));
    let announced = ledger.announced.iter().filter(|text| !audit.contains(text));
    let lost: Vec<String> = lost
        .chain(words.chain(announced).map(|words| format!("`{words}` is not written down")))
        .chain(sizes.map(|size| format!("the team size {size} is not in the log")))
        .collect();
    ledger.wrong.extend(lost);
}

fn print(world: &World, ledger: &Ledger, answers: &Answers, log: &[LogEntry], (seed, began): (i64, Instant)) {
    let kills: usize = world.killed.values().sum();
    let results = log.iter().filter(|row| matches!(row, LogEntry::Result(_))).count();
    println!("seed {seed}: {kills} kills in {:.0} s", began.elapsed().as_secs_f64());
    for (what, times) in &world.killed {
        println!("    {times:>5}  {what}");
    }
    println!("acts of the organiser, each seen to hold on both servers:");
    for (what, times) in &ledger.acts {
        println!("    {times:>5}  {what}");
    }
    println!(
        "acknowledged: {} accounts, {} uploads, {} challenges; {} results seen, {results} in a log of {} rows",
        ledger.accounts.len(),
        ledger.uploads.len(),
        ledger.challenges.len(),
        ledger.results.len(),
        log.len()
    );
    println!("answers by status, 0 where none came:");
    let mut lines: BTreeMap<&str, String> = BTreeMap::new();
    for ((what, status), times) in answers {
        *lines.entry(what).or_default() += &format!("  {status}: {times}");
    }
    for (what, line) in lines {
        println!("    {what:<14}{line}");
    }
}

#[test]
fn what_an_organiser_does_holds_on_all_servers_whatever_is_killed() {
    let kills = number("AGON_KILLS", 6);
    let seed = number("AGON_SEED", 1) as i64;
    let Some(mut world) = World::new() else { return };
    let place = world.place.path().to_owned();
    let began = Instant::now();
    let outside = Outside {
        place: &place,
        url: world.url.clone(),
        servers: [0, 1].map(|own| format!("http://{}:8080", world.spaces[own].theirs)),
        // A connection may lead to one that was killed since.
        agent: ureq::Agent::config_builder()
            .max_redirects(0)
            .max_idle_connections(0)
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            .build()
            .new_agent(),
        ledger: Mutex::default(),
        answers: Mutex::default(),
        stop: AtomicBool::new(false),
        held: AtomicUsize::new(0),
    };
    // A machine that has not attacked its walls yet begins with that.
    let cup = place.join(SERVERS[0]);
    until_both_play(&cup, 2 * PATIENCE);
    let mut organiser = Organiser::new(&outside, seed);
    let mut chance = Seeded::stream(seed, "kills");
    let held = || outside.held.load(Ordering::Relaxed);
    std::thread::scope(|scope| {
        let _stops = Stops(&outside.stop);
        for team in 0..TEAMS {
            let outside = &outside;
            scope.spawn(move || outside.take_part(team, seed));
        }
        scope.spawn(|| organiser.run());
        for kill in 0..kills {
            let before = held();
            wait(2 * PATIENCE, "another act holds", || held() > before);
            std::thread::sleep(Duration::from_millis(u64::from(chance.below(1500))));
            // One of each kind, and then any; the database, which takes all with it, less often.
            let which = [0, 4, 5, 2, 6, 1, 3].get(kill).copied();
            let which =
                which.unwrap_or_else(|| [0, 1, 2, 3, 4, 6, 0, 1, 2, 3, 4, 6, 5][chance.below(13) as usize]);
            world.kill(which, &mut chance);
        }
        let before = held();
        wait(2 * PATIENCE, "it goes on", || held() > before + 1);
    });
    until_both_play(&cup, 2 * PATIENCE);
    all_is_there(&outside);
    world.workers.iter_mut().flatten().for_each(Running::ends);
    world.servers.iter_mut().flatten().for_each(Running::ends);
    let log = block_on(log_of(&cup));
    let audit = block_on(async {
        let store = Store::open(&cup).await.expect("the database is there");
        let store = store.only().await.expect("read").expect("a contest");
        store.events(1_000_000).await.expect("read").into_iter().map(|event| event.detail).collect::<Vec<_>>()
    });
    let (mut ledger, answers) = (outside.ledger(), outside.answers());
    all_is_written(&mut ledger, &log, &audit);
    for ((what, status), times) in &*answers {
        if *status >= 500 && ![502, 503, 504].contains(status) {
            ledger.wrong.push(format!("{what}: status {status}, {times} times"));
        }
    }
    print(&world, &ledger, &answers, &log, (seed, began));
    assert_eq!(ledger.wrong, Vec::<String>::new());
    let fsck = good(agon(&place, &["serve", "fsck", SERVERS[1], "--replays"]));
    good(agon(&place, &["serve", "export", SERVERS[1], "cup.agon"]));
    let verified = good(agon(&place, &["verify", "cup.agon"]));
    println!("{}{}", out(&fsck), out(&verified));
}
