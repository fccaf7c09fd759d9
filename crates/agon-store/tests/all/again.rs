//! Matches that are played again by another worker, and workers that are paused.

use agon_store::acts::{
    Compare, Enlist, Enlisted, ForgetAgains, JudgeAll, Judgement, Lease, LetPlayOn, Meet, PauseWorker,
    PlanBlocks, PlayAgain, PostAll, PostReply, PostResult, RecordCall, ReportVoid, Revoke, Seal, VoidReply,
};
use agon_store::reads::{ComparedOf, Eyes, Filter, LatelyPlayed};
use agon_store::{ContestId, Kind, Leased, MatchId, Objects, Sha, Store, Time, VersionId, WorkerId};
use tempfile::TempDir;

use crate::common;

struct World {
    folder: TempDir,
    store: Store,
    objects: Objects,
    contest: ContestId,
    lineup: Vec<VersionId>,
    /// The server's own worker, and two with tokens.
    workers: [WorkerId; 3],
    now: Time,
    requests: u32,
}

impl World {
    /// A contest with a ladder block that the first worker with a token has played.
    async fn new() -> Self {
        let folder = common::folder();
        let store = Store::open(folder.path()).await.expect("a database");
        let now = Time(10_000_000);
        let (contest, lineup) = common::founded(&store, &["a", "b"], now).await;
        let meet = Meet { name: "inside".into(), level: "not confined".into(), now };
        let mut workers = [store.act(meet).await.expect("met"); 3];
        for (worker, name) in workers[1..].iter_mut().zip(["one", "two"]) {
            let (sha, actor) = (Sha::of(name), "t".to_owned());
            let enlist = Enlist { contest, name: name.into(), sha, actor, now };
            let Enlisted::New(id) = store.act(enlist).await.expect("done") else { panic!("new") };
            *worker = id;
        }
        let objects = common::objects(folder.path());
        let mut own = Self { folder, store, objects, contest, lineup, workers, now, requests: 0 };
        own.plan().await;
        for _ in 0..2 {
            let leased = own.lease(own.workers[1]).await.expect("planned");
            own.play(own.workers[1], &leased, vec![1, 2]).await;
        }
        own
    }

    async fn plan(&self) {
        let (contest, now, blocks) = (self.contest, self.now, vec![(0, self.lineup.clone())]);
        let plan = PlanBlocks { contest, kind: Kind::Ladder, blocks, rotations: 2, now };
        self.store.act(plan).await.expect("planned");
    }

    async fn lease(&mut self, worker: WorkerId) -> Option<Leased> {
        self.requests += 1;
        let (contest, now, request) = (self.contest, self.now, self.requests.to_string());
        let lease = Lease { contest, worker, request, most: 1, now, until: now.plus(60_000) };
        self.store.act(lease).await.expect("answered").matches.pop()
    }

    /// Posts a result, judges it, and seals it if it belongs in the log. Returns the number of rows.
    async fn play(&self, worker: WorkerId, leased: &Leased, ranks: Vec<u8>) -> usize {
        let replay = format!("{} by {worker}", leased.attempt.game);
        let replay = self.objects.put(replay.as_bytes()).await.expect("room");
        let (attempt, now) = (leased.attempt, self.now);
        let post = PostResult { worker, attempt, result: "{}".into(), replay, own: Vec::new(), now };
        assert_eq!(self.store.act(PostAll { posts: vec![post] }).await.expect("posted"), [PostReply::Kept]);
        let judged = vec![(attempt, Judgement::Valid(common::outcome(ranks)))];
        assert_eq!(self.store.act(JudgeAll { judged, now }).await.expect("judged"), [true]);
        self.store.act(Seal { contest: self.contest }).await.expect("sealed").len()
    }

    async fn hear(&self, workers: &[WorkerId]) {
        for worker in workers {
            self.store.act(RecordCall { worker: *worker, now: self.now }).await.expect("heard");
        }
    }

    async fn again(&self, games: &[i64]) -> usize {
        let games = games.iter().copied().map(MatchId).collect();
        self.store.act(PlayAgain { contest: self.contest, games, now: self.now }).await.expect("planned")
    }

    async fn forget(&self) -> Vec<Sha> {
        let forget = ForgetAgains { contest: self.contest, before: self.now };
        self.store.act(forget).await.expect("forgotten")
    }

    async fn pause(&self, worker: WorkerId) -> bool {
        let pause = PauseWorker { contest: self.contest, worker, why: "it differs".into(), now: self.now };
        self.store.act(pause).await.expect("done")
    }

    async fn compared(&self) -> Vec<ComparedOf> {
        self.store.conduct(Time(0)).await.expect("read").compared
    }

    /// What is due, waiting and shown.
    async fn seen(&self) -> impl PartialEq + std::fmt::Debug + use<> {
        let (store, contest) = (&self.store, self.contest);
        let shown = store.of(contest).matches(Eyes::Organiser, &Filter::default()).await.expect("read").len();
        (
            store.of(contest).counts().await.expect("read"),
            store.of(contest).waiting(i64::MAX).await.expect("read"),
            store.of(contest).in_flight().await.expect("read"),
            store.of(contest).lately_played(50).await.expect("read"),
            shown,
        )
    }

    async fn clean(&self) {
        assert_eq!(self.store.fsck(&self.objects).await.expect("looked through"), []);
    }
}

#[tokio::test]
async fn a_match_is_played_again_by_another_worker_alone_and_is_seen_nowhere() {
    let mut world = World::new().await;
    let [inside, one, two] = world.workers;
    world.now = world.now.plus(100_000);
    world.hear(&[one]).await;
    assert_eq!(world.again(&[1]).await, 0, "nobody else is there");
    world.hear(&[two]).await;
    let before = world.seen().await;
    assert_eq!(world.again(&[1, 1, 77]).await, 1);
    assert_eq!(world.again(&[1]).await, 0, "once");
    assert_eq!(world.seen().await, before, "nobody waits for it");
    assert_eq!(world.lease(one).await, None, "it has played it");
    let leased = world.lease(two).await.expect("for another one");
    let log = world.store.of(world.contest).log(0, 10).await.expect("read");
    let first: agon_store::Sealed = serde_json::from_str(&log[0].body).expect("a row");
    assert_eq!(first.game, MatchId(1));
    assert_eq!((leased.kind, leased.map, leased.seed), (Kind::Again, first.map, first.seed));
    assert_eq!(leased.seats, first.seats);
    world.clean().await;
    assert_eq!(world.play(two, &leased, vec![2, 1]).await, 0, "it has no place in the log");
    assert_eq!(world.store.act(Compare { now: world.now }).await.expect("compared"), 1);
    assert_eq!(world.store.act(Compare { now: world.now }).await.expect("compared"), 0);
    let compared = ComparedOf { workers: [one, two], compared: 1, differ: 1 };
    assert_eq!(world.compared().await, [compared]);
    assert_eq!(world.seen().await, before);
    world.clean().await;
    // The second match of the block ends as before.
    assert_eq!(world.again(&[2]).await, 1);
    let leased = world.lease(inside).await.expect("the one inside may as well");
    world.play(inside, &leased, vec![1, 2]).await;
    assert_eq!(world.forget().await, [], "what is young, or not compared, stays");
    world.store.act(Compare { now: world.now }).await.expect("compared");
    let other = ComparedOf { workers: [one, inside], compared: 1, differ: 0 };
    let mut all = world.compared().await;
    all.sort_by_key(|pair| pair.differ);
    assert_eq!(all, [other, compared]);
    world.now = world.now.plus(1);
    assert_eq!(world.forget().await.len(), 2, "the replays of both");
    assert_eq!(world.forget().await, []);
    world.now = world.now.plus(1);
    assert_eq!(world.compared().await.len(), 2, "what came of it stays");
    assert_eq!(world.seen().await, before);
    world.store.close().await;
    let store = Store::open(world.folder.path()).await.expect("opens");
    let found = store.fsck(&world.objects).await.expect("looked through");
    assert!(found.iter().all(|finding| finding.what.contains("is not there")), "{found:?}");
    store.close().await;
}

#[tokio::test]
async fn what_nobody_takes_or_goes_wrong_goes_without_a_word_and_a_lie_stays_known() {
    let mut world = World::new().await;
    let [_, one, two] = world.workers;
    world.hear(&[one, two]).await;
    let events = world.store.of(world.contest).last_event().await.expect("read");
    assert_eq!(world.again(&[1, 2]).await, 2);
    let leased = world.lease(two).await.expect("waits");
    let (attempt, now) = (leased.attempt, world.now);
    let void = ReportVoid {
        worker: two,
        attempt,
        why: "late".into(),
        hopeless: false,
        by: None,
        counted: None,
        now,
    };
    assert_eq!(world.store.act(void).await.expect("done"), VoidReply::Dead, "it is not tried again");
    world.clean().await;
    world.now = world.now.plus(1);
    assert_eq!(world.forget().await, []);
    assert_eq!(world.lease(two).await, None, "the one that nobody took is gone");
    assert_eq!(world.store.of(world.contest).last_event().await.expect("read"), events, "nobody hears of it");
    assert_eq!(world.compared().await, []);
    // They may be drawn again.
    assert_eq!(world.again(&[1]).await, 1);
    let leased = world.lease(two).await.expect("waits");
    let replay = world.objects.put(b"nothing").await.expect("room");
    let (attempt, now) = (leased.attempt, world.now);
    let post = PostResult { worker: two, attempt, result: "{}".into(), replay, own: Vec::new(), now };
    assert_eq!(world.store.act(PostAll { posts: vec![post] }).await.expect("posted"), [PostReply::Kept]);
    let judged = vec![(attempt, Judgement::Mismatch("another match".into()))];
    assert_eq!(world.store.act(JudgeAll { judged, now }).await.expect("judged"), [true]);
    world.clean().await;
    world.now = world.now.plus(1);
    assert_eq!(world.forget().await, []);
    let workers = world.store.working(Time(0)).await.expect("read");
    assert!(workers.iter().any(|worker| worker.id == two && worker.lies == 1), "{workers:?}");
    world.clean().await;
}

#[tokio::test]
async fn who_is_paused_gets_nothing_and_plays_on_as_if_nothing_had_been() {
    let mut world = World::new().await;
    let [inside, one, two] = world.workers;
    world.hear(&[inside, one, two]).await;
    assert!(!world.pause(inside).await, "never the one inside");
    world.again(&[1]).await;
    let leased = world.lease(two).await.expect("waits");
    world.play(two, &leased, vec![2, 1]).await;
    world.now = world.now.plus(1);
    world.store.act(Compare { now: world.now }).await.expect("compared");
    world.plan().await;
    let in_hand = world.lease(two).await.expect("planned");
    let others = world.lease(one).await.expect("planned");
    assert!(world.pause(two).await && !world.pause(two).await, "once");
    let (contest, now) = (world.contest, world.now);
    let last = world.store.of(contest).events(1).await.expect("read").remove(0);
    let said = [&last.actor, &last.verb, &last.object, &last.detail].map(String::as_str);
    assert_eq!(said, ["server", "pause", "worker two", "it differs"]);
    assert!(world.store.is_paused(two).await.expect("read"));
    let hands = world.store.hands(Time(0)).await.expect("read");
    assert_eq!((hands.heard, hands.silent, hands.paused), (2, 0, 1));
    assert_eq!(world.compared().await, [], "who is paused says nothing of others");
    // It may post the match it holds; and matches that went wrong elsewhere are not kept waiting for it.
    assert_eq!(world.play(two, &in_hand, vec![1, 2]).await, 1);
    let attempt = others.attempt;
    let void = ReportVoid {
        worker: one,
        attempt,
        why: "late".into(),
        hopeless: false,
        by: None,
        counted: None,
        now,
    };
    assert_eq!(world.store.act(void).await.expect("done"), VoidReply::Again);
    world.store.act(Revoke { contest, worker: one, actor: "t".into(), now }).await.expect("done");
    world.now = world.now.plus(30_000);
    world.hear(&[two]).await;
    assert_eq!(world.lease(two).await, None);
    let on = LetPlayOn { contest, worker: two, actor: "Boss".into(), now: world.now };
    assert!(world.store.act(on.clone()).await.expect("done"));
    assert!(!world.store.act(on).await.expect("done"));
    assert_eq!(world.compared().await, [], "its counting begins anew");
    assert!(world.lease(two).await.is_some());
    world.clean().await;
}

#[tokio::test]
async fn a_match_that_went_wrong_does_not_wait_for_a_worker_that_is_paused() {
    let mut world = World::new().await;
    let [_, one, two] = world.workers;
    world.plan().await;
    let leased = world.lease(one).await.expect("planned");
    let (attempt, now) = (leased.attempt, world.now);
    let void = ReportVoid {
        worker: one,
        attempt,
        why: "late".into(),
        hopeless: false,
        by: None,
        counted: None,
        now,
    };
    world.store.act(void).await.expect("done");
    let other = world.lease(one).await.expect("planned");
    world.play(one, &other, vec![1, 2]).await;
    world.now = world.now.plus(70_000);
    world.hear(&[two]).await;
    assert_eq!(world.lease(one).await, None, "another one is there");
    assert!(world.pause(two).await);
    assert_eq!(world.lease(one).await.map(|again| again.attempt.game), Some(attempt.game));
}

#[tokio::test]
async fn the_last_matches_come_newest_first_drafts_among_them_and_what_is_played_again_never() {
    let mut world = World::new().await;
    let [_, one, two] = world.workers;
    let begin = world.now;
    world.now = begin.plus(1_000);
    let (contest, now, blocks) = (world.contest, world.now, vec![(0, world.lineup.clone())]);
    world
        .store
        .act(PlanBlocks { contest, kind: Kind::Draft, blocks, rotations: 1, now })
        .await
        .expect("planned");
    let leased = world.lease(one).await.expect("planned");
    assert_eq!(world.play(one, &leased, vec![1, 2]).await, 0, "a draft has no place in the log");
    world.now = begin.plus(2_000);
    world.hear(&[one, two]).await;
    assert_eq!(world.again(&[1]).await, 1);
    let leased = world.lease(two).await.expect("for another one");
    world.play(two, &leased, vec![1, 2]).await;
    let lately = async |most| {
        let found = world.store.of(world.contest).lately_played(most).await.expect("read");
        let all = |game: &LatelyPlayed| world.lineup.iter().all(|version| game.versions.contains(version));
        assert!(found.iter().all(all), "{found:?}");
        found.into_iter().map(|game| (game.kind, game.settled.0 - begin.0)).collect::<Vec<_>>()
    };
    assert_eq!(lately(5).await, [(Kind::Draft, 1_000), (Kind::Ladder, 0), (Kind::Ladder, 0)]);
    assert_eq!(lately(2).await, [(Kind::Draft, 1_000), (Kind::Ladder, 0)]);
    world.store.close().await;
}
