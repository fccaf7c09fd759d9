//! Machines that join over HTTP: an honest one, and one that lies in every way there is.

use std::time::Duration;

use crate::common::database::files_with;
use crate::common::hall::{Worker, alarms, clean, machine, play, read, sent, world};
use crate::common::{Answer, PASSWORD, World, sign_up};
use agon_contest::FaultsTold;
use agon_replay::SeatNote;
use agon_server::status;
use agon_store::LoginKind;
use agon_store::acts::{PauseWorker, Revoke};
use agon_worker::wire::{
    Back, Beat, Hello, LeaseRequest, MOST_POSTS, MOST_UNPACKED, PlayingMachine, SeriesWelcome, Unpacked,
    Voided, Yours,
};
use agon_worker::{Granted, Job, Nothing, Posted, Private, Stage, Try, Unfit, Whole};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_joins_plays_and_gives_back() {
    let world = world().await;
    let mut worker = Worker::new(&world, "hall 1").await;
    let program = agon_replay::data::PROGRAM.replace(' ', "%20");
    let welcome: SeriesWelcome = read(&worker.http.get(&format!("/work/v1?program={program}")).await);
    assert_eq!((welcome.worker.as_str(), welcome.terms.as_ref()), ("hall 1", Some(world.server.terms())));
    let granted = worker.lease(8).await;
    assert_eq!(granted.jobs.len(), 6, "no version has more than four matches in flight");
    let lease = granted.lease.expect("a lease");
    for job in &granted.jobs[..4] {
        assert!(read::<Yours>(&worker.tell("/start", &job.attempt).await).yours);
        let whole = play(&world, job);
        assert_eq!(worker.result(job.attempt, &whole).await, Posted::Kept);
    }
    let playing = vec![(granted.jobs[4].attempt, 3)];
    assert!(read::<Yours>(&worker.tell("/beat", &Beat { lease, playing }).await).yours);
    // The same request gets the same answer: those of its matches that are not over.
    let again = LeaseRequest { request: format!("{}-1", worker.run), most: 8, wait_ms: 0 };
    assert_eq!(read::<Granted>(&worker.tell("/lease", &again).await).jobs, granted.jobs[4..]);
    assert_eq!(worker.tell("/abort", &Back { lease }).await.status, 200);
    assert_eq!(worker.tell("/abort", &Back { lease }).await.status, 200, "twice is as good as once");
    world.server.tick(world.now()).await.expect("done");
    let now = status::status(world.folder.path()).await.expect("looked at");
    assert_eq!((now.counts.sealed, now.counts.leased, now.counts.wasted), (4, 0, 0));
    assert_eq!(alarms(&world).await, Vec::<String>::new());
    clean(&world).await;
}

/// Each way to lie, and its consequence. Nothing of it ever gets into the log.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_that_lies_is_named_and_nothing_of_it_counts() {
    let world = world().await;
    let (mut honest, mut liar) = (Worker::new(&world, "honest").await, Worker::new(&world, "liar").await);
    // 1: a result for somebody else's lease.
    let (lease, job) = honest.one().await;
    let whole = play(&world, &job);
    assert!(!read::<Yours>(&liar.tell("/start", &job.attempt).await).yours);
    assert!(!read::<Yours>(&liar.tell("/beat", &Beat { lease, playing: Vec::new() }).await).yours);
    assert_eq!(liar.result(job.attempt, &whole).await, Posted::Refused);
    liar.tell("/abort", &Back { lease }).await;
    let unfit = Unfit { stage: Stage::Building, what: "it is bad".into(), fix: None };
    let nothing = Nothing::hopeless(unfit);
    liar.tell("/void", &Voided { attempt: job.attempt, nothing: nothing.clone() }).await;
    assert!(
        read::<Yours>(&honest.tell("/beat", &Beat { lease, playing: Vec::new() }).await).yours,
        "it has it still"
    );
    assert_eq!(honest.result(job.attempt, &whole).await, Posted::Kept);
    // 2: the same result twice, and then a different one.
    assert_eq!(honest.result(job.attempt, &whole).await, Posted::Kept);
    let mut other = play(&world, &job);
    other.observed.wall_us += 1;
    assert_eq!(honest.result(job.attempt, &other).await, Posted::Refused);
    let told = alarms(&world).await;
    assert!(told.len() == 2 && told[0].contains("worker honest: posted"), "{told:?}");
    assert!(told[1].contains("worker liar: posted 1 results of matches that it was never given"), "{told:?}");
    world.server.tick(world.now()).await.expect("done");

    // 3 to 9: a replay that is not of the match. Recomputing it finds out.
    let shorter = |bytes: &[u8], from: usize, of: usize| bytes[..bytes.len() * from / of].to_vec();
    for lie in 3..=9 {
        let (_, job) = liar.one().await;
        let honestly = play(&world, &job);
        let whole = match lie {
            3 => play(&world, &Job { seed: job.seed.wrapping_add(1), ..job.clone() }),
            4 => play(&world, &Job { seats: job.seats.iter().rev().cloned().collect(), ..job.clone() }),
            5 => {
                // Another bot's hash over the same answers.
                let mut other = job.clone();
                other.seats[0].program = other.seats[1].program.clone();
                play(&world, &other)
            }
            6 => Whole { replay: shorter(&honestly.replay, 2, 3), ..honestly },
            7 => {
                let mut replay = honestly.replay.clone();
                let middle = replay.len() / 2;
                replay[middle] ^= 1;
                Whole { replay, ..honestly }
            }
            8 => Whole { replay: b"no replay at all".to_vec(), ..honestly },
            _ => {
                // Scores for one seat too many.
                let mut observed = honestly.observed.clone();
                observed.max_ms.push(0.0);
                observed.faults = FaultsTold::Public(vec![None; observed.max_ms.len()]);
                Whole { observed, ..honestly }
            }
        };
        let before = alarms(&world).await.len();
        assert_eq!(liar.result(job.attempt, &whole).await, Posted::Kept, "lie {lie}: it is looked at later");
        let ticked = world.server.tick(world.now()).await.expect("done");
        assert_eq!((ticked.mismatches, ticked.sealed), (1, 0), "lie {lie}");
        let told = alarms(&world).await;
        assert!(told.len() == before + 1 && told[0].contains("worker liar: "), "lie {lie}: {told:?}");
        // It goes to somebody else.
        world.wait(30_000);
        let again = takes_over(&world, &mut honest, job.attempt).await;
        assert_eq!(again, Try { n: job.attempt.n + 1, ..job.attempt }, "lie {lie}");
    }

    // 10: a lease that has ended. Somebody else plays the match meanwhile; the first result is taken.
    let (lease, job) = liar.one().await;
    world.wait(61_000);
    world.server.tick(world.now()).await.expect("done");
    assert!(!read::<Yours>(&liar.tell("/beat", &Beat { lease, playing: Vec::new() }).await).yours);
    assert!(!read::<Yours>(&liar.tell("/start", &job.attempt).await).yours);
    world.wait(30_000);
    takes_over(&world, &mut honest, job.attempt).await;
    assert_eq!(liar.result(job.attempt, &play(&world, &job)).await, Posted::Settled);
    world.server.tick(world.now()).await.expect("done");

    // 11: the claim that a ladder match can never be played. It is played again all the same.
    let (_, job) = liar.one().await;
    liar.tell("/void", &Voided { attempt: job.attempt, nothing }).await;
    let now = status::status(world.folder.path()).await.expect("looked at");
    assert_eq!(now.counts.dead, 0);

    // Nothing of all that is in the log.
    let log = world.server.store().log(0, 1000).await.expect("read");
    assert!(log.len() >= 9 && log.iter().all(|row| row.body.contains(r#""worker":"honest""#)), "{log:?}");

    // 12: out of order, about matches that do not exist, huge, cut off, not JSON.
    let nowhere = Try { game: 999_999, n: 1 };
    assert!(!read::<Yours>(&liar.tell("/start", &nowhere).await).yours);
    assert_eq!(liar.result(nowhere, &whole).await, Posted::Refused);
    assert_eq!(liar.tell("/abort", &Back { lease: -1 }).await.status, 200);
    let (_, job) = liar.one().await;
    let good = play(&world, &job);
    let huge = Whole {
        replay: vec![7; agon_worker::verify::LARGEST + 1],
        observed: good.observed.clone(),
        own: Vec::new(),
    };
    assert_eq!(liar.result(job.attempt, &huge).await, Posted::Refused);
    let mut wordy = good.observed.clone();
    wordy.level = "A".repeat(100_000);
    let wordy = Whole { observed: wordy, replay: good.replay.clone(), own: Vec::new() };
    assert_eq!(liar.result(job.attempt, &wordy).await, Posted::Refused);
    let larger = vec![b' '; (20 << 20) + 1];
    assert_eq!(liar.post("/results", &larger).await.status, 413);
    assert_eq!(liar.post("/built?game=1&n=1", &larger[..100_000]).await.status, 413);
    assert_eq!(liar.post("/results", b"{}\nreplay").await.status, 422);
    assert_eq!(liar.post("/lease", b"[[[[").await.status, 422);
    assert_eq!(
        liar.tell("/lease", &LeaseRequest { request: "x".repeat(81), most: 1, wait_ms: 0 }).await.status,
        422
    );
    let all = sent(job.attempt, &good);
    let head = format!(
        "POST /work/v1/results?run={} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
        liar.run,
        world.address,
        liar.http.bearer.as_deref().unwrap_or_default(),
        all.len()
    );
    cut_off(&world, &[head.as_bytes(), &all[..all.len() / 2]].concat()).await;
    assert_eq!(liar.result(job.attempt, &good).await, Posted::Kept, "nothing of all that was done");
    world.server.tick(world.now()).await.expect("done");
    clean(&world).await;
}

/// Plays whatever there is until this match comes up, and returns which try of it that was.
async fn takes_over(world: &World, worker: &mut Worker, lost: Try) -> Try {
    for _ in 0..20 {
        let (_, job) = worker.one().await;
        assert_eq!(worker.result(job.attempt, &play(world, &job)).await, Posted::Kept);
        assert_eq!(world.server.tick(world.now()).await.expect("done").mismatches, 0);
        if job.attempt.game == lost.game {
            return job.attempt;
        }
    }
    panic!("nobody plays match {} again", lost.game)
}

/// Sends bytes and leaves.
async fn cut_off(world: &World, bytes: &[u8]) {
    use tokio::io::AsyncWriteExt as _;
    let mut stream = tokio::net::TcpStream::connect(world.address).await.expect("it listens");
    stream.write_all(bytes).await.expect("taken");
    stream.shutdown().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_machine_that_fits_is_admitted_and_only_one_with_a_token() {
    let world = world().await;
    let mut worker = Worker::stranger(&world, "hall 1").await;
    let said = |answer: Answer, status: u16, words: &str| {
        let text = answer.text();
        assert!(answer.status == status && text.contains(words), "{} {text}", answer.status);
    };
    said(
        worker.tell("/lease", &LeaseRequest { request: "1".into(), most: 1, wait_ms: 0 }).await,
        409,
        "has not registered",
    );
    said(worker.http.get("/work/v1?program=agon%200.0.1").await, 409, "needs agon");
    said(worker.http.get("/work/v1?program=agon%200.0.1").await, 409, "/get");
    let other = Hello { run: "r".into(), program: "agon 0.0.1".into(), machine: machine() };
    said(worker.tell("/hello", &other).await, 409, "Another agon is wanted");
    said(
        worker.hello(PlayingMachine { speed: 80.0, ..machine() }).await,
        403,
        "100 ± 10 % is needed (the contest's settings): from 90 to 110",
    );
    said(worker.hello(PlayingMachine { speed: 111.0, ..machine() }).await, 403, "Its speed is 111");
    said(worker.hello(PlayingMachine { speed: 0.0, ..machine() }).await, 403, "not a number above 0");
    said(
        worker.hello(PlayingMachine { kernel: "x".repeat(201), ..machine() }).await,
        403,
        "at greater length",
    );
    // Without trust, only a sandbox that confines is accepted.
    let file = world.folder.path().join("contest.toml");
    let text = std::fs::read_to_string(&file).expect("written");
    std::fs::write(&file, text.replace("trust_bots = true", "packages = [\"/srv/numpy\"]")).expect("written");
    world.site.beat().await;
    world.set(&[("trust_bots", "false")]).await;
    // Time is counted at level A only; at B it is sampled, which an organiser may accept.
    let b = || PlayingMachine { level: "B".into(), ..machine() };
    said(worker.hello(machine()).await, 403, "level A;");
    said(worker.hello(b()).await, 403, "level A;");
    world.set(&[("level", "B")]).await;
    said(worker.hello(machine()).await, 403, "level A or B;");
    said(worker.hello(b()).await, 403, "numpy");
    let good = PlayingMachine { level: "A".into(), packages: vec!["numpy".into()], ..machine() };
    said(worker.hello(good.clone()).await, 200, "hall 1");
    let leased = worker.lease(1).await;
    assert_eq!(leased.jobs.len(), 1);
    // Another process with the same token: the first one is told, and what it had leased goes back.
    let mut second =
        Worker { run: "second".into(), http: worker.http.clone(), ..Worker::stranger(&world, "other").await };
    said(second.hello(good).await, 200, "hall 1");
    said(worker.tell("/start", &leased.jobs[0].attempt).await, 409, "a token of its own");
    assert_eq!(second.lease(1).await.jobs[0].attempt.game, leased.jobs[0].attempt.game);
    // A source is given only to the worker that has leased its match.
    let sha = "0".repeat(64);
    said(second.http.get(&format!("/work/v1/source?run=second&sha={sha}")).await, 404, "");
    said(second.http.get("/work/v1/source?run=second&sha=../../agon.db").await, 404, "");
    // A revoked worker is told so, and what it had leased goes to others.
    let (contest, now) = (world.server.contest(), world.now());
    let revoke = Revoke { contest, worker: worker.id, actor: "Boss".into(), now };
    assert!(world.server.store().act(revoke.clone()).await.expect("answered"));
    assert!(!world.server.store().act(revoke).await.expect("answered"));
    said(
        second.tell("/lease", &LeaseRequest { request: "9".into(), most: 1, wait_ms: 0 }).await,
        403,
        "revoked",
    );
    // So does a request that was already waiting for work: it gets none.
    let waited = world.server.lease(worker.id, "waited", 1, world.now()).await.expect("answered");
    assert!(waited.jobs.is_empty(), "{waited:?}");
    let now = status::status(world.folder.path()).await.expect("looked at");
    assert!(now.counts.leased == 0 && now.counts.planned > 0, "{:?}", now.counts);
    // A person's token, or none, is not a worker's.
    let ann = world.account("Ann", true).await;
    let (mut person, _) = world.signed_in(ann, LoginKind::Token).await;
    said(person.get("/work/v1?program=x").await, 401, "worker's token is needed");
    said(world.browser().get("/work/v1?program=x").await, 401, "worker's token is needed");
    assert_eq!(second.http.get("/api/v1/me").await.status, 401, "and a worker is no person");
    clean(&world).await;
}

#[tokio::test]
async fn the_organiser_makes_tokens_and_sees_who_plays() {
    let world = world().await;
    let boss = world.account("Boss", true).await;
    let (mut boss, _) = world.signed_in(boss, LoginKind::Session).await;
    assert_eq!(boss.get("/organise/workers").await.heading(), "Matches run on this machine only");
    let answer = boss.post("/organise/workers", &[("name", "<b>")]).await;
    assert_eq!(answer.status, 422);
    let answer = boss.post("/organise/workers", &[("name", "hall 1")]).await;
    let text = answer.text();
    let (_, rest) = text.split_once("<code class=\"secret\">").expect("the token");
    let secret = rest.split('<').next().expect("a token").to_owned();
    assert!(text.contains(&format!("agon work http://{}", world.address)), "{text}");
    assert_eq!(
        boss.post("/organise/workers", &[("name", "Hall-1")]).await.status,
        422,
        "it looks like the other"
    );
    let page = boss.get("/organise/workers").await;
    assert!(page.text().contains("never connected") && !page.text().contains(&secret));
    let mut http = world.browser();
    http.bearer = Some(secret);
    let mut worker = Worker { id: agon_store::WorkerId(0), http, run: "r".into(), requests: 0 };
    assert_eq!(worker.hello(machine()).await.status, 200);
    // A whole block of it goes into the log before it lies.
    let first = worker.lease(1).await.jobs.remove(0);
    assert_eq!(worker.result(first.attempt, &play(&world, &first)).await, Posted::Kept);
    let second = worker.lease(1).await.jobs.remove(0);
    assert_eq!(worker.result(second.attempt, &play(&world, &second)).await, Posted::Kept);
    assert_eq!(world.server.tick(world.now()).await.expect("done").sealed, 2);
    let (_, job) = worker.one().await;
    let cockpit = boss.get("/organise").await.text();
    assert!(cockpit.contains("hall 1") && cockpit.contains("playing"), "{cockpit}");
    let whole = Whole { replay: b"nothing".to_vec(), ..play(&world, &job) };
    worker.result(job.attempt, &whole).await;
    world.server.tick(world.now()).await.expect("done");
    let page = boss.get("/organise/workers").await;
    assert_eq!(page.heading(), "hall 1 posted results that its replays contradict");
    let id = world.server.store().working(world.now()).await.expect("read");
    let id = id.iter().find(|worker| worker.name == "hall 1").expect("there").id.to_string();
    let again = [("worker", id.as_str()), ("reason", "its disk was failing")];
    assert_eq!(boss.post("/organise/workers/again", &again).await.status, 422, "it could post on");
    assert_eq!(boss.post("/organise/workers/revoke", &[("worker", &id)]).await.status, 303);
    assert_eq!(world.server.learnt().await.1, 1, "its block counts until somebody says otherwise");
    assert_eq!(boss.post("/organise/workers/again", &[("worker", &id), ("reason", "")]).await.status, 422);
    assert_eq!(boss.post("/organise/workers/again", &again).await.status, 303);
    assert!(boss.get("/rulings").await.text().contains("its disk was failing"));
    assert_eq!(boss.post("/organise/workers/again", &again).await.status, 422, "once is enough");
    let now = status::status(world.folder.path()).await.expect("looked at");
    assert!(now.board.iter().all(|line| line.rated().is_none()), "nothing of it counts: {:?}", now.board);
    clean(&world).await;
    assert!(boss.get("/organise/workers").await.text().contains("revoked"));
    assert_eq!(worker.hello(machine()).await.status, 403);
    // It may come back under its name, with a new token.
    assert_eq!(boss.post("/organise/workers", &[("name", "hall 1")]).await.status, 200);
}

#[tokio::test]
async fn a_machine_that_is_paused_gets_nothing_until_the_organiser_lets_it() {
    let world = world().await;
    let boss = world.account("Boss", true).await;
    let (mut boss, _) = world.signed_in(boss, LoginKind::Session).await;
    let mut worker = Worker::new(&world, "hall 1").await;
    let (_, job) = worker.one().await;
    let (contest, why, now) = (world.server.contest(), "3 of 20 ended <otherwise>".to_owned(), world.now());
    let pause = PauseWorker { contest, worker: worker.id, why, now };
    assert!(world.server.store().act(pause).await.expect("done"));
    assert_eq!(worker.lease(1).await.jobs.len(), 0);
    assert_eq!(worker.result(job.attempt, &play(&world, &job)).await, Posted::Kept, "what it has in hand");
    let page = boss.get("/organise/workers").await;
    assert_eq!(page.heading(), "hall 1 is paused");
    let text = page.text();
    assert!(text.contains("is paused: 3 of 20 ended &lt;otherwise&gt;.") && text.contains("Resume"));
    assert!(text.contains("Revoke"), "that as well");
    let figures = world.browser().get("/metrics").await.text();
    assert!(figures.contains("agon_workers{state=\"paused\"} 1\n"), "{figures}");
    assert!(figures.contains("agon_workers{state=\"heard\"} 0\n"), "{figures}");
    let id = worker.id.to_string();
    assert_eq!(boss.post("/organise/workers/on", &[("worker", &id)]).await.status, 303);
    assert!(!boss.get("/organise/workers").await.text().contains("is paused"));
    assert_eq!(worker.lease(1).await.jobs.len(), 1);
    clean(&world).await;
}

/// Three machines that send half of a result each time and then nothing more, as often as the server allows: the results of the
/// others are taken all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_posts_keep_nobody_waiting_but_their_sender() {
    let world = world().await;
    let mut honest = Worker::new(&world, "honest").await;
    let (_, job) = honest.one().await;
    let whole = play(&world, &job);
    let mut slow = Vec::new();
    for name in ["hall 1", "hall 2", "hall 3"] {
        let mut worker = Worker::new(&world, name).await;
        for _ in 0..MOST_POSTS {
            slow.push(half_a_post(&world, &worker).await);
        }
        // One more of the same worker: it is told to wait, and nothing of it is held.
        let refused = worker.post("/results", b"{}").await;
        assert_eq!(refused.status, 429, "{}", refused.text());
        assert!(refused.text().contains("under way already"), "{}", refused.text());
    }
    let posted = tokio::time::timeout(LONG, honest.result(job.attempt, &whole)).await;
    assert_eq!(posted.expect("nobody waits for the slow ones"), Posted::Kept);
    // Whoever hangs up makes room again.
    let mut worker = Worker::new(&world, "hall 4").await;
    let broken = half_a_post(&world, &worker).await;
    drop((slow, broken));
    let (_, job) = worker.one().await;
    assert_eq!(worker.result(job.attempt, &play(&world, &job)).await, Posted::Kept);
    clean(&world).await;
}

/// Longer than any answer takes, and shorter than the server waits for a body.
const LONG: Duration = Duration::from_secs(30);

/// Sends the head of a post and half of its body, and returns once the server waits for the rest.
async fn half_a_post(world: &World, worker: &Worker) -> TcpStream {
    let mut stream = TcpStream::connect(world.address).await.expect("it listens");
    let head = format!(
        "POST /work/v1/results?run={} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: 1000\r\n\
         Expect: 100-continue\r\n\r\n",
        worker.run,
        world.address,
        worker.http.bearer.as_deref().unwrap_or_default(),
    );
    stream.write_all(head.as_bytes()).await.expect("taken");
    // The server asks for a body when somebody begins to read it.
    let mut answer = [0; 25];
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.read_exact(&mut answer)).await;
    stream.write_all(&[b' '; 500]).await.expect("taken");
    stream
}

/// A machine names what it has unpacked, and hears what belongs to nobody any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_is_told_what_it_may_not_keep() {
    let world = world().await;
    let mut worker = Worker::stranger(&world, "hall 1").await;
    let mut ann = sign_up(&world, "Ann", "").await;
    let mut bob = sign_up(&world, "Bob", "").await;
    for bot in ["print('ann')", "print('both')"] {
        assert_eq!(ann.upload("/upload", &[], "bot.py", bot.as_bytes()).await.status, 303);
    }
    assert_eq!(bob.upload("/upload", &[], "bot.py", b"print('both')").await.status, 303);
    let versions = world.server.store().versions().await.expect("read");
    let of = |name: &str| -> Vec<String> {
        let own = versions.iter().filter(|version| version.entrant == name);
        own.map(|version| version.source.to_string()).collect()
    };
    let [hers, both]: [String; 2] = of("Ann").try_into().expect("two");
    let nobodys = "0".repeat(64);
    assert_eq!(of("Bob"), std::slice::from_ref(&both));
    let all = Unpacked { sources: vec![hers.clone(), both.clone(), nobodys.clone(), "../../agon.db".into()] };
    let before = worker.tell("/unpacked", &all).await;
    assert_eq!(before.status, 409, "it has to introduce itself first: {}", before.text());
    assert_eq!(worker.hello(machine()).await.status, 200);
    let told: Unpacked = read(&worker.tell("/unpacked", &all).await);
    assert_eq!(told.sources, [nobodys.clone(), "../../agon.db".into()]);
    assert_eq!(ann.post("/account/delete", &[("password", PASSWORD)]).await.status, 303);
    let told: Unpacked = read(&worker.tell("/unpacked", &all).await);
    assert_eq!(told.sources, [hers, nobodys, "../../agon.db".into()], "what Bob has as well stays");
    let many = Unpacked { sources: vec![both; MOST_UNPACKED + 1] };
    let refused = worker.tell("/unpacked", &many).await;
    assert!(refused.status == 422 && refused.text().contains("At most 900 sources"), "{}", refused.text());
    let body = serde_json::to_vec(&all).expect("plain data");
    let stranger = world.browser().ask("POST", "/work/v1/unpacked?run=x", "application/json", &body).await;
    assert_eq!(stranger.status, 401);
    clean(&world).await;
}

/// Matches of somebody who deletes the account are in the middle of being played. What machines tell of them later counts, but nothing
/// that was only for the team is kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_machine_tells_of_somebody_who_was_deleted_meanwhile_is_not_kept() {
    let world = world().await;
    let mut worker = Worker::new(&world, "hall 1").await;
    let mut people = Vec::new();
    for name in ["Ann", "Bob", "Cid", "Dan"] {
        let mut person = sign_up(&world, name, "").await;
        assert_eq!(person.upload("/upload", &[], "bot.py", name.as_bytes()).await.status, 303);
        people.push(person);
    }
    world.server.tick(world.now()).await.expect("done");
    let jobs = worker.lease(8).await.jobs;
    let job = |name: &str| {
        let hers = |job: &&Job| job.seats.iter().any(|seat| seat.label.starts_with(name));
        jobs.iter().find(hers).unwrap_or_else(|| panic!("{name} is checked: {jobs:?}"))
    };
    let unfit =
        |what: &str| Nothing::hopeless(Unfit { stage: Stage::Building, what: what.into(), fix: None });
    // Dan's bot is known to be bad before; all others are told of later.
    let told = Voided { attempt: job("Dan").attempt, nothing: unfit("secret of Dan") };
    assert_eq!(worker.tell("/void", &told).await.status, 200);
    assert!(!files_with(world.folder.path(), "secret of Dan").is_empty());
    for person in &mut people {
        assert_eq!(person.post("/account/delete", &[("password", PASSWORD)]).await.status, 303);
    }
    let Try { game, n } = job("Ann").attempt;
    assert_eq!(worker.post(&format!("/built?game={game}&n={n}"), b"secret of Ann").await.status, 200);
    let told = Voided { attempt: job("Bob").attempt, nothing: unfit("secret of Bob") };
    assert_eq!(worker.tell("/void", &told).await.status, 200);
    let mut whole = play(&world, job("Cid"));
    let note =
        SeatNote { step: 0, kind: agon_replay::data::note::STDERR.to_owned(), text: "secret of Cid".into() };
    let own = Private { faults: Vec::new(), notes: vec![note], ..Private::default() };
    // A boss has no author.
    let seats = job("Cid").seats.iter();
    whole.own = seats.map(|seat| seat.label.starts_with("Cid").then(|| own.clone())).collect();
    assert_eq!(worker.result(job("Cid").attempt, &whole).await, Posted::Kept);
    world.server.tick(world.now()).await.expect("done");
    world.server.store().scrub().await.expect("scrubbed");
    assert_eq!(files_with(world.folder.path(), "secret of"), Vec::<std::path::PathBuf>::new());
    clean(&world).await;
}
