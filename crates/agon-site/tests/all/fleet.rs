//! A fleet over HTTP: machines at the routes of any contest, a command at its own, and nobody without a token.

use crate::common::Browser;
use crate::common::hall::{machine, read};
use agon_contest::Observed;
use agon_server::fleet::Fleet;
use agon_site::{Listening, Way, fleet, listen};
use agon_spec::{Clock, Ponder};
use agon_worker::fleet::{Exchange, FleetLine, Open, Overview, SeriesOpened};
use agon_worker::protocol::{MapSource, Sitting};
use agon_worker::wire::{
    Admitted, Beat, Hello, LeaseRequest, Playing, PostedResult as Sent, ReceivedAll, SeriesWelcome, Yours,
    unframed,
};
use agon_worker::{BotSource, ContestTerms, Granted, Job, MatchGround, Posted, Try};
use serde::Serialize;

const PROGRAM: &str = agon_replay::data::PROGRAM;

fn caller(listening: &Listening, token: &str) -> Browser {
    let (address, bearer) = (listening.address(), Some(token.to_owned()));
    Browser { address, cookies: Default::default(), bearer, extra: Vec::new() }
}

async fn tell(who: &mut Browser, path: &str, what: &impl Serialize) -> crate::common::Answer {
    who.ask("POST", path, "application/json", &serde_json::to_vec(what).expect("plain data")).await
}

#[tokio::test]
async fn a_fleet_answers_its_machines_and_its_author_and_nobody_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = fleet::FleetSite::new(Fleet::new(10.0, 0), "mine".into(), folder.path(), "author", "machines");
    let leaving = site.clone();
    let router = fleet::router(site.clone());
    let listening =
        listen::open(Way::Loopback, router, Way::Loopback.at(None, 0), move || leaving.farewell())
            .await
            .expect("a port");
    let [mut author, mut worker, mut stranger] =
        ["author", "machines", "strangers"].map(|token| caller(&listening, token));
    let welcome = format!("/work/v1?program={}", PROGRAM.replace(' ', "%20"));
    for (token, path) in [
        ("strangers", welcome.as_str()),
        ("strangers", "/fleet/v1"),
        ("author", &welcome),
        ("machines", "/fleet/v1"),
    ] {
        let refused = caller(&listening, token).get(path).await;
        assert_eq!(refused.status, 401, "{token} at {path}");
        assert_eq!(refused.header("content-type"), Some("application/problem+json"), "{path}");
    }
    assert!(stranger.get("/").await.text().contains("agon fleet"));
    assert_eq!(stranger.get("/api/v1/contest").await.status, 404);

    let said: SeriesWelcome = read(&worker.get(&welcome).await);
    assert_eq!((said.title.as_str(), said.terms), ("mine", None));
    let other = worker.get("/work/v1?program=agon%209").await;
    assert!(other.status == 409 && other.text().contains("This fleet runs"), "{}", other.text());
    // Whoever has not introduced itself gets nothing.
    assert_eq!(worker.get("/work/v1/series?run=one").await.status, 409);
    let wanted = |request: &str| LeaseRequest { request: request.into(), most: 4, wait_ms: 0 };
    assert_eq!(tell(&mut worker, "/work/v1/lease?run=one", &wanted("0")).await.status, 410);
    let hello = Hello { run: "one".into(), program: PROGRAM.into(), machine: machine() };
    let admitted: Admitted = read(&tell(&mut worker, "/work/v1/hello", &hello).await);
    assert_eq!(admitted.worker, "machine 1");
    assert_eq!(read::<Playing>(&worker.get("/work/v1/series?run=one").await).series, None);
    assert_eq!(worker.ask("POST", "/work/v1/hello", "application/json", b"{}").await.status, 422);

    let ground =
        MatchGround { rules_name: "any".into(), rules: String::new(), map: MapSource::Default, seats: 2 };
    let terms = ContestTerms {
        game: "any".into(),
        rules_version: 1,
        grounds: vec![ground],
        clock: Clock::ORIGINAL.into(),
        ponder: Ponder::default(),
        ratings: 2,
    };
    let sha = agon_store::Sha::of("a bot").to_string();
    let open = Open { program: PROGRAM.into(), title: "a series".into(), terms, sources: vec![sha.clone()] };
    let SeriesOpened { series, missing } = read(&tell(&mut author, "/fleet/v1/open", &open).await);
    assert_eq!(missing, std::slice::from_ref(&sha));
    let strange = author.ask("POST", "/fleet/v1/source", "application/octet-stream", b"another").await;
    assert_eq!(strange.status, 422, "{}", strange.text());
    let supplied = author.ask("POST", "/fleet/v1/source", "application/octet-stream", b"a bot").await;
    assert_eq!(supplied.status, 200, "{}", supplied.text());
    let sit = |label: &str, program| Sitting { label: label.into(), program };
    let job = Job {
        attempt: Try { game: 7, n: 1 },
        map: 0,
        seed: 1,
        seats: vec![
            sit("a", BotSource::Source(sha.clone())),
            sit("b", BotSource::Builtin("builtin:any".into())),
        ],
        tried: None,
        disturbed: Vec::new(),
        positions: Vec::new(),
    };
    let exchange = format!("/fleet/v1/exchange?series={series}");
    let add = Exchange { add: vec![job], ..Exchange::default() };
    assert_eq!(tell(&mut author, &exchange, &add).await.status, 200);

    let playing: Playing = read(&worker.get("/work/v1/series?run=one").await);
    assert_eq!(playing.series.map(|series| series.title), Some("a series".to_owned()));
    let source = worker.get(&format!("/work/v1/source?run=one&sha={sha}")).await;
    assert_eq!((source.status, &source.body[..]), (200, &b"a bot"[..]));
    let granted: Granted = read(&tell(&mut worker, "/work/v1/lease?run=one", &wanted("1")).await);
    let (lease, attempt) = (granted.lease.expect("a lease"), granted.jobs[0].attempt);
    for path in ["start", "building"] {
        let yours: Yours = read(&tell(&mut worker, &format!("/work/v1/{path}?run=one"), &attempt).await);
        assert!(yours.yours, "{path}");
    }
    let built = format!("/work/v1/built?run=one&game={}&n=1", attempt.game);
    assert_eq!(worker.ask("POST", &built, "text/plain", b"cc bot.c").await.status, 200);
    let beat = Beat { lease, playing: vec![(attempt, 3)] };
    assert!(read::<Yours>(&tell(&mut worker, "/work/v1/beat?run=one", &beat).await).yours);
    assert_eq!(worker.ask("POST", "/work/v1/results?run=one", "", b"{}\nreplay").await.status, 422);
    let observed = Observed { max_ms: vec![1.0, 1.0], wall_us: 1, ..Observed::default() };
    let sent = Sent { attempt, observed, own: vec![None, None] };
    let sent = Sent::with_all(std::iter::once((&sent, &b"a replay"[..]))).expect("plain data");
    let posted: ReceivedAll = read(&worker.ask("POST", "/work/v1/results?run=one", "", &sent).await);
    assert_eq!(posted.posted, [Posted::Kept]);

    let came = tell(&mut author, &exchange, &Exchange::default()).await;
    let lines = unframed::<FleetLine>(&came.body, 9).expect("lines");
    assert!(
        matches!(lines[1], (FleetLine::Whole { game: 7, .. }, b"a replay")) && lines.len() == 2,
        "{lines:?}"
    );
    let seen: Overview = read(&author.get("/fleet/v1").await);
    assert_eq!((seen.machines.len(), seen.series.len()), (1, 1));
    assert_eq!(tell(&mut author, &format!("/fleet/v1/close?series={series}"), &()).await.status, 200);
    assert_eq!(tell(&mut author, &exchange, &Exchange::default()).await.status, 410);
    assert_eq!(tell(&mut worker, "/work/v1/lease?run=one", &wanted("2")).await.status, 410);
    listening.stop().await;
}
