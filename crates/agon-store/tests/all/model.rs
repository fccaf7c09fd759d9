//! The store under any interleaving of lease, start, beat, post, void, judge, seal, expiry and kill, against a model that is only a few
//! maps. After each run every invariant holds, and everything acknowledged is there.
//!
//! Longer than 500 lines: the steps, the model and what it expects of each step are one test.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use agon_store::acts::{
    Abort, Expire, JudgeAll, Judgement, Lease, LeaseGrant, Meet, PlanBlocks, PostAll, PostReply, PostResult,
    Reclaim, RecordCall, RenewLease, ReportVoid, Seal, Start, VoidReply,
};
use agon_store::{Attempt, ContestId, Kind, LeaseId, MatchId, Sealed, Sha, Store, Time, VersionId, WorkerId};
use futures_util::future::{join, join_all};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tempfile::TempDir;

use crate::common;

const LEASE_MS: i64 = 60_000;

/// An event. Numbers choose among the possible subjects.
#[derive(Clone, Debug)]
enum Step {
    Plan,
    Lease {
        worker: usize,
        most: usize,
    },
    /// All ask for matches at once, one of them twice with the same request name.
    Crowd {
        most: usize,
    },
    /// The answer to the last request was lost, and it is repeated.
    Repeat {
        worker: usize,
    },
    Start {
        pick: usize,
    },
    Beat {
        pick: usize,
    },
    Abort {
        pick: usize,
    },
    /// A result; with `other` it differs from what this try would have posted.
    Post {
        pick: usize,
        other: bool,
    },
    Void {
        pick: usize,
        hopeless: bool,
    },
    Judge {
        pick: usize,
        good: bool,
    },
    Seal,
    Expire,
    Wait {
        ms: i64,
    },
    /// The worker's process is replaced.
    Restart {
        worker: usize,
    },
    /// The server is killed and started again: everything acknowledged is there.
    Kill,
    Pause {
        paused: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Plan),
        5 => (0..3usize, prop_oneof![Just(1usize), Just(8), Just(32)]).prop_map(|(worker, most)| Step::Lease { worker, most }),
        2 => prop_oneof![Just(1usize), Just(8), Just(32)].prop_map(|most| Step::Crowd { most }),
        1 => (0..3usize).prop_map(|worker| Step::Repeat { worker }),
        4 => (0..64usize).prop_map(|pick| Step::Start { pick }),
        2 => (0..64usize).prop_map(|pick| Step::Beat { pick }),
        1 => (0..64usize).prop_map(|pick| Step::Abort { pick }),
        6 => (0..64usize, prop::bool::weighted(0.1)).prop_map(|(pick, other)| Step::Post { pick, other }),
        2 => (0..64usize, prop::bool::weighted(0.1)).prop_map(|(pick, hopeless)| Step::Void { pick, hopeless }),
        4 => (0..64usize, prop::bool::weighted(0.8)).prop_map(|(pick, good)| Step::Judge { pick, good }),
        2 => Just(Step::Seal),
        2 => Just(Step::Expire),
        3 => prop_oneof![Just(500i64), Just(20_000), Just(61_000)].prop_map(|ms| Step::Wait { ms }),
        1 => (0..3usize).prop_map(|worker| Step::Restart { worker }),
        1 => Just(Step::Kill),
        1 => any::<bool>().prop_map(|paused| Step::Pause { paused }),
    ]
}

/// The known outcome of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tried {
    Open {
        started: bool,
    },
    Posted(String),
    /// Posted, and then found to be a different match.
    Mismatch(String),
    Over {
        charged: bool,
    },
}

/// The known state of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Game {
    Planned,
    Leased { n: i64 },
    Posted { n: i64 },
    Valid,
    Dead,
}

#[derive(Default)]
struct Model {
    games: BTreeMap<MatchId, Game>,
    tries: BTreeMap<Attempt, (WorkerId, Tried)>,
    /// The lease that holds each leased match.
    held: BTreeMap<MatchId, LeaseId>,
    leases: BTreeMap<LeaseId, (WorkerId, i64)>,
    paused: bool,
    sealed: Vec<MatchId>,
}

impl Model {
    fn charged(&self, game: MatchId) -> usize {
        let of = self.tries.iter().filter(|(attempt, _)| attempt.game == game);
        of.filter(|(_, (_, tried))| matches!(tried, Tried::Mismatch(_) | Tried::Over { charged: true }))
            .count()
    }

    /// Records that a try went wrong: the match waits, or is dead.
    fn again(&mut self, game: MatchId) {
        self.held.remove(&game);
        let state = if self.charged(game) >= 3 { Game::Dead } else { Game::Planned };
        self.games.insert(game, state);
    }

    /// Ends a lease.
    fn release(&mut self, lease: LeaseId, aborted: bool) {
        let its: Vec<MatchId> =
            self.held.iter().filter(|(_, its)| **its == lease).map(|(id, _)| *id).collect();
        for id in its {
            let Some(Game::Leased { n }) = self.games.get(&id).copied() else {
                panic!("held and not leased")
            };
            let tried = &mut self.tries.get_mut(&Attempt { game: id, n }).expect("a try").1;
            let started = *tried == Tried::Open { started: true };
            *tried = Tried::Over { charged: started && !aborted };
            self.again(id);
        }
    }
}

struct World {
    folder: TempDir,
    /// One for each server; they take turns.
    stores: Vec<Store>,
    turn: AtomicUsize,
    contest: ContestId,
    versions: Vec<VersionId>,
    workers: Vec<WorkerId>,
    requests: Vec<(u32, usize, LeaseGrant)>,
    now: Time,
    model: Model,
}

impl World {
    async fn new(folder: TempDir, servers: usize) -> Self {
        let stores = join_all((0..servers).map(|_| Store::open(folder.path()))).await;
        let stores: Vec<Store> = stores.into_iter().map(|store| store.expect("a database")).collect();
        let store = &stores[0];
        let now = Time(1_000_000);
        let (contest, versions) = common::founded(store, &["a", "b", "c"], now).await;
        let mut workers = Vec::new();
        for name in ["one", "two", "three"] {
            let meet = Meet { name: name.into(), level: "not confined".into(), now };
            workers.push(store.act(meet).await.expect("met"));
        }
        let requests = vec![(0, 1, LeaseGrant::default()); workers.len()];
        Self {
            folder,
            stores,
            turn: AtomicUsize::new(0),
            contest,
            versions,
            workers,
            requests,
            now,
            model: Model::default(),
        }
    }

    fn store(&self) -> &Store {
        &self.stores[self.turn.fetch_add(1, Ordering::Relaxed) % self.stores.len()]
    }

    /// Picks an existing try.
    fn attempt(&self, pick: usize) -> Option<(Attempt, WorkerId)> {
        let tries: Vec<_> =
            self.model.tries.iter().map(|(attempt, (worker, _))| (*attempt, *worker)).collect();
        // The newest are the most interesting.
        (!tries.is_empty()).then(|| tries[tries.len() - 1 - pick % tries.len()])
    }

    async fn step(&mut self, step: Step) {
        let (now, contest) = (self.now, self.contest);
        match step {
            Step::Plan => {
                let lineup = vec![self.versions[0], self.versions[1]];
                let plan =
                    PlanBlocks { contest, kind: Kind::Ladder, blocks: vec![(0, lineup)], rotations: 2, now };
                let mut planned = self.store().act(plan).await.expect("planned");
                assert_eq!(planned[0].matches.len(), 2);
                self.model.games.extend(planned.remove(0).matches.into_iter().map(|id| (id, Game::Planned)));
            }
            Step::Lease { worker, most } => {
                let number = self.requests[worker].0 + 1;
                let granted = self.lease(worker, number, most).await;
                self.take(worker, &granted, most);
                self.requests[worker] = (number, most, granted);
            }
            Step::Crowd { most } => {
                let asks = [0, 1, 2, 1].map(|worker| (worker, self.requests[worker].0 + 1));
                let leases = asks.map(|(worker, number)| self.lease(worker, number, most));
                let (_, granted) = join(self.busy(self.store()), join_all(leases)).await;
                assert_eq!(granted[1], granted[3], "the same request gets the same answer");
                for ((worker, number), granted) in asks.into_iter().zip(granted).take(3) {
                    self.take(worker, &granted, most);
                    self.requests[worker] = (number, most, granted);
                }
            }
            Step::Repeat { worker } => {
                let (number, most, before) = self.requests[worker].clone();
                // A request that got nothing may be granted now.
                if let Some(lease) = before.lease {
                    let again = self.lease(worker, number, most).await;
                    let still: Vec<Attempt> = again.matches.iter().map(|leased| leased.attempt).collect();
                    let held = self.model.held.iter().filter(|(_, its)| **its == lease).map(|(id, _)| *id);
                    let held: BTreeSet<MatchId> = held.collect();
                    if again.lease == Some(lease) || !held.is_empty() {
                        assert_eq!(still.iter().map(|attempt| attempt.game).collect::<BTreeSet<_>>(), held);
                    } else if again.lease.is_some() {
                        // The lease had been forgotten, so this was a new request.
                        self.take(worker, &again, most);
                        self.requests[worker].2 = again;
                    }
                }
            }
            Step::Start { pick } => {
                let Some((attempt, worker)) = self.attempt(pick) else { return };
                // Twice, and by a worker that does not hold it: requests that wait together are handled together.
                let wrong = self.workers[(pick + 1) % 3];
                let store = self.store();
                let starts = [worker, wrong, worker].map(|worker| store.act(Start { worker, attempt, now }));
                let (_, begun) = join(self.busy(store), join_all(starts)).await;
                let begun: Vec<bool> = begun.into_iter().map(|begun| begun.expect("looked at")).collect();
                let tried = &mut self.model.tries.get_mut(&attempt).expect("known").1;
                let started = matches!(tried, Tried::Open { .. });
                assert_eq!(begun, [started, started && wrong == worker, started]);
                if started {
                    *tried = Tried::Open { started: true };
                }
            }
            Step::Beat { pick } => {
                let leases: Vec<_> =
                    self.model.leases.iter().map(|(id, (worker, _))| (*id, *worker)).collect();
                let Some(&(lease, worker)) = leases.get(pick % leases.len().max(1)) else { return };
                let until = now.plus(LEASE_MS);
                let known = self.store().act(RenewLease { worker, lease, now, until }).await.expect("heard");
                assert_eq!(known, self.model.held.values().any(|its| *its == lease));
                if known {
                    self.model.leases.insert(lease, (worker, until.0));
                }
            }
            Step::Abort { pick } => {
                let leases: Vec<_> =
                    self.model.leases.iter().map(|(id, (worker, _))| (*id, *worker)).collect();
                let Some(&(lease, worker)) = leases.get(pick % leases.len().max(1)) else { return };
                self.store().act(Abort { worker, lease, now }).await.expect("given back");
                self.model.release(lease, true);
            }
            Step::Post { pick, other } => {
                let Some((attempt, worker)) = self.attempt(pick) else { return };
                let result = format!("{{\"try\":{},\"other\":{other}}}", attempt.n);
                let replay = self.replay(attempt.game).await;
                let post =
                    PostResult { worker, attempt, result: result.clone(), replay, own: Vec::new(), now };
                // The same result comes twice in one request, and in two more.
                let requests = [vec![post.clone(), post.clone()], vec![post.clone()], vec![], vec![post]];
                let store = self.store();
                let requests = requests.map(|posts| store.act(PostAll { posts }));
                let (_, replies) = join(self.busy(store), join_all(requests)).await;
                let replies: Vec<Vec<PostReply>> =
                    replies.into_iter().map(|reply| reply.expect("answered")).collect();
                let reply = replies[0][0];
                let again = if reply == PostReply::Kept { PostReply::Same } else { reply };
                assert_eq!(replies, [vec![reply, again], vec![again], vec![], vec![again]]);
                let game = self.model.games[&attempt.game];
                let expected = match &self.model.tries[&attempt].1 {
                    Tried::Posted(before) | Tried::Mismatch(before) if *before == result => PostReply::Same,
                    Tried::Posted(_) | Tried::Mismatch(_) => PostReply::Conflict,
                    _ if matches!(game, Game::Planned | Game::Leased { .. }) => PostReply::Kept,
                    _ => PostReply::Settled,
                };
                assert_eq!(reply, expected, "{attempt:?} {game:?}");
                if reply == PostReply::Kept {
                    if let Game::Leased { n } = game
                        && n != attempt.n
                    {
                        let running = Attempt { game: attempt.game, n };
                        self.model.tries.get_mut(&running).expect("a try").1 = Tried::Over { charged: false };
                    }
                    self.model.held.remove(&attempt.game);
                    self.model.games.insert(attempt.game, Game::Posted { n: attempt.n });
                    self.model.tries.insert(attempt, (worker, Tried::Posted(result)));
                }
            }
            Step::Void { pick, hopeless } => {
                let Some((attempt, worker)) = self.attempt(pick) else { return };
                let void = ReportVoid {
                    worker,
                    attempt,
                    why: "late".into(),
                    hopeless,
                    by: None,
                    counted: None,
                    now,
                };
                let reply = self.store().act(void).await.expect("answered");
                if !matches!(self.model.tries[&attempt].1, Tried::Open { .. }) {
                    assert_eq!(reply, VoidReply::Stale);
                    return;
                }
                self.model.tries.get_mut(&attempt).expect("known").1 = Tried::Over { charged: !hopeless };
                self.model.again(attempt.game);
                if hopeless {
                    self.model.games.insert(attempt.game, Game::Dead);
                }
                let dead = self.model.games[&attempt.game] == Game::Dead;
                assert_eq!(reply, if dead { VoidReply::Dead } else { VoidReply::Again });
            }
            Step::Judge { pick, good } => {
                let Some((attempt, _)) = self.attempt(pick) else { return };
                let judgement = match good {
                    true => Judgement::Valid(common::outcome(vec![1, 2])),
                    false => Judgement::Mismatch("another match".into()),
                };
                let judged = vec![(attempt, judgement)];
                let judged = self.store().act(JudgeAll { judged, now }).await.expect("answered")[0];
                assert_eq!(judged, self.model.games[&attempt.game] == (Game::Posted { n: attempt.n }));
                if judged && good {
                    self.model.games.insert(attempt.game, Game::Valid);
                } else if judged {
                    let tried = &mut self.model.tries.get_mut(&attempt).expect("known").1;
                    let Tried::Posted(result) = tried.clone() else { panic!("posted: {tried:?}") };
                    *tried = Tried::Mismatch(result);
                    self.model.again(attempt.game);
                }
            }
            Step::Seal => {
                let sealed = self.store().act(Seal { contest }).await.expect("sealed");
                for row in sealed {
                    assert_eq!(self.model.games[&row.game], Game::Valid);
                    assert!(!self.model.sealed.contains(&row.game), "sealed twice");
                    self.model.sealed.push(row.game);
                    assert_eq!(row.seq, self.model.sealed.len() as i64);
                }
            }
            Step::Expire => {
                self.store().act(Expire { now }).await.expect("expired");
                let late: Vec<LeaseId> = self
                    .model
                    .leases
                    .iter()
                    .filter(|(_, (_, until))| *until <= now.0)
                    .map(|(id, _)| *id)
                    .collect();
                late.into_iter().for_each(|lease| self.model.release(lease, false));
            }
            Step::Wait { ms } => self.now = now.plus(ms),
            Step::Restart { worker } => {
                let worker = self.workers[worker];
                self.store().act(Reclaim { worker, now }).await.expect("taken back");
                let its: Vec<LeaseId> = self
                    .model
                    .leases
                    .iter()
                    .filter(|(_, (own, _))| *own == worker)
                    .map(|(id, _)| *id)
                    .collect();
                its.into_iter().for_each(|lease| self.model.release(lease, false));
            }
            Step::Kill => {
                // Nothing is closed cleanly.
                drop(self.stores.remove(0));
                self.stores.push(Store::open(self.folder.path()).await.expect("opens again"));
            }
            Step::Pause { paused } => {
                let pause = agon_store::acts::Pause { contest, paused, actor: "test".into(), now };
                let changed = self.store().act(pause).await.expect("paused");
                assert_eq!(changed, paused != self.model.paused);
                self.model.paused = paused;
            }
        }
    }

    async fn lease(&self, worker: usize, number: u32, most: usize) -> LeaseGrant {
        let (now, until) = (self.now, self.now.plus(LEASE_MS));
        let (contest, worker) = (self.contest, self.workers[worker]);
        let act = Lease { contest, worker, request: number.to_string(), most, now, until };
        self.store().act(act).await.expect("answered")
    }

    /// Takes what was granted, which must be free in the model, too.
    fn take(&mut self, worker: usize, granted: &LeaseGrant, most: usize) {
        assert!(granted.matches.len() <= most);
        assert!(granted.matches.is_empty() || !self.model.paused, "a contest that is paused leases nothing");
        for leased in &granted.matches {
            let Attempt { game, n } = leased.attempt;
            assert_eq!(self.model.games.insert(game, Game::Leased { n }), Some(Game::Planned), "{game}");
            let lease = granted.lease.expect("with matches there is a lease");
            assert_eq!(self.model.held.insert(game, lease), None);
            let tried = (self.workers[worker], Tried::Open { started: false });
            assert_eq!(self.model.tries.insert(leased.attempt, tried), None, "a try is given out once");
            self.model.leases.insert(lease, (self.workers[worker], self.now.0 + LEASE_MS));
        }
    }

    async fn replay(&self, game: MatchId) -> Sha {
        common::objects(self.folder.path()).put(format!("replay of {game}").as_bytes()).await.expect("room")
    }

    /// Keeps the writer busy for a moment, so that requests made meanwhile wait together.
    async fn busy(&self, store: &Store) {
        let heard = |worker: &WorkerId| store.act(RecordCall { worker: *worker, now: self.now });
        join_all(self.workers.iter().map(heard)).await.into_iter().for_each(|heard| heard.expect("written"));
    }

    async fn check(&mut self) {
        self.step(Step::Seal).await;
        let findings = self.store().fsck(&common::objects(self.folder.path())).await.expect("looked through");
        assert_eq!(findings, [], "{:#?}", self.model.games);
        let counts = self.store().of(self.contest).counts().await.expect("counted");
        let of = |is: fn(&Game) -> bool| self.model.games.values().filter(|game| is(game)).count() as i64;
        assert_eq!(counts.planned, of(|game| *game == Game::Planned));
        assert_eq!(counts.leased, of(|game| matches!(game, Game::Leased { .. })));
        assert_eq!(counts.posted, of(|game| matches!(game, Game::Posted { .. })));
        assert_eq!(counts.valid, of(|game| *game == Game::Valid));
        assert_eq!(counts.dead, of(|game| *game == Game::Dead));
        assert_eq!(counts.sealed, counts.valid, "all that is valid is in the log");
        let log = self.store().of(self.contest).log(0, 10_000).await.expect("read");
        let games: Vec<MatchId> =
            log.iter().map(|row| serde_json::from_str::<Sealed>(&row.body).expect("a row").game).collect();
        assert_eq!(games, self.model.sealed);
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(48),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_interleaving_keeps_every_invariant(steps in prop::collection::vec(step(), 1..120)) {
        runtime().block_on(async {
            play(common::folder(), steps, 1).await;
        });
    }
}

async fn play(folder: TempDir, steps: Vec<Step>, servers: usize) {
    let mut world = World::new(folder, servers).await;
    for step in steps {
        world.step(step).await;
    }
    world.check().await;
}

// Each on a database of its own, which two servers share: one of them is killed.
#[test]
fn any_interleaving_on_two_servers_keeps_every_invariant_on_postgres() {
    let Some(server) = common::POSTGRES.as_ref() else { return };
    let mut runner = TestRunner::new(ProptestConfig {
        cases: cases(12),
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let ran = runner.run(&prop::collection::vec(step(), 1..120), |steps| {
        let folder = tempfile::tempdir().expect("a folder");
        server.place(folder.path());
        runtime().block_on(play(folder, steps, 2));
        Ok(())
    });
    ran.expect("every invariant holds");
}

fn cases(usual: u32) -> u32 {
    std::env::var("AGON_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}
