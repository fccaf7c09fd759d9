//! The server with workers that play, vanish, repeat themselves and lie, and a clock that the test sets.

use agon_api::played::{SeatView, Viewpoint};
use agon_bot::BotName;
use agon_contest::{FaultsTold, Observed};
use agon_game::Seat;
use agon_server::asked::LEASE_MS;
use agon_server::{ContestServer, hand_in, status};
use agon_store::acts::{Added, Promote};
use agon_store::reads::{Ended, Eyes, Filter, MOST_POSTED, StoredMatch};
use agon_store::{Time, VersionState, Whose};
use agon_worker::{Job, Nothing, Posted, Private, Stage, Try, Unfit};

use crate::common::{World, run};

#[test]
fn a_ladder_is_played_to_its_rest_and_its_table_follows_from_its_log() {
    run(async {
        let mut world = World::new(8).await;
        let worker = world.worker("one").await;
        let mut played = 0;
        for request in 0..10_000 {
            let Some((_, job)) = world.one(worker, &request.to_string()).await else {
                if world.tick().await.sealed == 0 {
                    break;
                }
                continue;
            };
            assert!(world.server.start(worker, job.attempt, world.now).await.expect("answered"));
            let (report, replay) = world.play(&job);
            assert_eq!(world.post(worker, &job, &report, &replay).await, Posted::Kept);
            played += 1;
            world.now = world.now.plus(7_000);
            world.tick().await;
        }
        world.server.keep_board(world.now, true).await.expect("kept");
        let now = status::status(world.folder.path()).await.expect("looked at");
        assert_eq!((now.counts.sealed, now.counts.planned, now.counts.dead), (played, 0, 0));
        assert!(
            now.board.iter().all(|line| line.rated().is_some_and(|rating| rating.matches >= 8)),
            "{:#?}",
            now.board
        );
        world.clean().await;
        // The last results of each are those in the list of its matches.
        let board = world.server.board().await.expect("made");
        assert!(board.last.values().any(|last| last.len() >= 8), "{:?}", board.last);
        for (version, last) in &board.last {
            let filter = Filter { version: Some(*version), ..Filter::default() };
            let all = world.server.store().matches(Eyes::Organiser, &filter).await;
            let result = |game: &StoredMatch| {
                let seen = SeatView::of(&game.seats, Viewpoint::Version(version.0))?;
                seen.ended().filter(|_| game.kind.is_rated())
            };
            let expected: Vec<Ended> = all.expect("read").iter().filter_map(result).take(20).collect();
            assert_eq!(*last, expected, "{version}");
        }
        // The log alone gives the same facts again, and nothing more is wanted.
        let World { folder, setting, server, now, .. } = world;
        server.close().await;
        let server = ContestServer::open(folder.path(), &setting, now).await.expect("opens");
        let worker = server.meet("one", "not confined", now).await.expect("met");
        assert_eq!(server.lease(worker, "again", 8, now).await.expect("answered").jobs, []);
        server.close().await;
    });
}

#[test]
fn a_worker_that_lies_is_found_out_and_named_and_the_match_is_played_again() {
    run(async {
        let mut world = World::new(1000).await;
        let honest = world.worker("honest").await;
        let liar = world.worker("liar").await;
        let other_seed = |job: &Job| Job { seed: job.seed + 1, ..job.clone() };
        let other_seats = |job: &Job| Job { seats: job.seats.iter().rev().cloned().collect(), ..job.clone() };
        let other_bot = |job: &Job| {
            let mut job = job.clone();
            job.seats[0] = job.seats[1].clone();
            job
        };
        let end_off = |mut replay: Vec<u8>| {
            replay.truncate(replay.len() * 2 / 3);
            replay
        };
        let flipped = |mut replay: Vec<u8>| {
            let middle = replay.len() / 2;
            replay[middle] ^= 1;
            replay
        };
        for lie in 0..9 {
            let (_, job) = world.one(liar, &format!("lie {lie}")).await.expect("there is work");
            world.server.start(liar, job.attempt, world.now).await.expect("answered");
            let (report, replay) = world.play(&job);
            let (report, replay) = match lie {
                0 => world.play(&other_seed(&job)),
                1 => world.play(&other_seats(&job)),
                2 => world.play(&other_bot(&job)),
                3 => (report, end_off(replay)),
                4 => (report, flipped(replay)),
                5 => (report, b"not a replay at all".to_vec()),
                6 => (report, Vec::new()),
                7 => (Observed { faults: FaultsTold::default(), ..report }, replay),
                _ => (Observed { max_ms: vec![0.0; 9], ..report }, replay),
            };
            assert_eq!(world.post(liar, &job, &report, &replay).await, Posted::Kept, "lie {lie}");
            let ticked = world.tick().await;
            assert_eq!((ticked.valid, ticked.mismatches, ticked.sealed), (0, 1, 0), "lie {lie}");
            let now = status::status(world.folder.path()).await.expect("looked at");
            let alarm = &now.events[0];
            assert_eq!(alarm.verb, "alarm", "lie {lie}");
            assert!(alarm.detail.contains("worker liar"), "lie {lie}: {}", alarm.detail);
            assert!(alarm.object.contains(&format!("match {}", job.attempt.game)), "lie {lie}");
            // Another worker plays it again with all that waits, and that result counts.
            world.now = world.now.plus(5_000);
            let granted =
                world.server.lease(honest, &format!("after {lie}"), 8, world.now).await.expect("answered");
            assert!(granted.jobs.iter().any(|again| again.attempt.game == job.attempt.game), "lie {lie}");
            for job in &granted.jobs {
                let (report, replay) = world.play(job);
                assert_eq!(world.post(honest, job, &report, &replay).await, Posted::Kept);
            }
            assert_eq!(world.tick().await.valid, granted.jobs.len() as u64, "lie {lie}");
        }
        // A replay that is too large is not even kept; a different result for the same try is an alarm; and nobody can post for others.
        let (_, job) = world.one(liar, "more").await.expect("there is work");
        let (report, replay) = world.play(&job);
        assert_eq!(world.post(liar, &job, &report, &vec![0; 17 << 20]).await, Posted::Refused);
        assert_eq!(world.post(honest, &job, &report, &replay).await, Posted::Refused);
        assert_eq!(world.post(liar, &job, &report, &replay).await, Posted::Kept);
        assert_eq!(world.post(liar, &job, &report, &replay).await, Posted::Kept, "the same again");
        let faster = Observed { max_ms: vec![0.0; report.max_ms.len()], wall_us: 1, ..report };
        assert_eq!(world.post(liar, &job, &faster, &replay).await, Posted::Refused);
        world.tick().await;
        world.clean().await;
    });
}

/// Somebody else's match, one that does not exist, a different result, a second one for a match that is over: each is refused, a
/// machine that does so is named, and nothing of it is on the disk.
#[test]
fn what_is_refused_is_never_stored_and_whoever_sends_it_is_named() {
    run(async {
        let mut world = World::new(1000).await;
        let (honest, liar) = (world.worker("honest").await, world.worker("liar").await);
        let (_, job) = world.one(honest, "one").await.expect("there is work");
        let (report, replay) = world.play(&job);
        assert_eq!(world.post(honest, &job, &report, &replay).await, Posted::Kept);
        let (_, late) = world.one(liar, "late").await.expect("there is work");
        world.now = world.now.plus(LEASE_MS + 1);
        world.tick().await;
        world.now = world.now.plus(60_000);
        let granted = world.server.lease(honest, "all", 32, world.now).await.expect("answered");
        for job in &granted.jobs {
            let (report, replay) = world.play(job);
            assert_eq!(world.post(honest, job, &report, &replay).await, Posted::Kept);
        }
        let stored = world.server.objects().list().await.expect("listed");
        let noise = |number: u8| vec![number; 1 << 20];
        let private = |number: u8| vec![Some(Private { left_out: number.into(), ..Private::default() }); 2];
        for number in 0..30 {
            let nowhere = Try { game: 1_000_000 + i64::from(number), n: 1 };
            for (attempt, fate) in
                [(job.attempt, Posted::Refused), (nowhere, Posted::Refused), (late.attempt, Posted::Settled)]
            {
                let over = (&report, &noise(number)[..], &private(number)[..]);
                let posted = world.server.post(liar, attempt, over, world.now).await.expect("answered");
                assert_eq!(posted, fate, "{attempt:?}");
            }
            let other = Observed { wall_us: number.into(), ..report.clone() };
            assert_eq!(world.post(honest, &job, &other, &noise(number)).await, Posted::Refused);
            // The output of a build that nobody asked for.
            world.server.built(liar, job.attempt, &noise(number), world.now).await.expect("answered");
        }
        assert_eq!(world.server.objects().list().await.expect("listed"), stored, "nothing of it was kept");
        let events = world.server.store().events(1000).await.expect("read");
        let told = |words: &str| {
            events.iter().filter(|event| event.verb == "alarm" && event.detail.contains(words)).count()
        };
        let strange = told("worker liar: posted 1 results of matches that it was never given");
        let contradicts = told("worker honest: posted ");
        assert!((1..=10).contains(&strange) && (1..=10).contains(&contradicts), "{strange} {contradicts}");
        world.clean().await;
    });
}

#[test]
fn a_worker_that_vanishes_costs_a_try_only_what_it_had_begun_and_may_still_come_back() {
    run(async {
        let mut world = World::new(1000).await;
        let (gone, other) = (world.worker("gone").await, world.worker("other").await);
        let granted = world.server.lease(gone, "1", 8, world.now).await.expect("answered");
        // Three versions, each in at most four matches at once.
        assert_eq!(granted.jobs.len(), 6);
        let again = world.server.lease(gone, "1", 8, world.now).await.expect("answered");
        assert_eq!(again, granted, "the answer was lost, and is given again");
        let begun = &granted.jobs[0];
        assert!(world.server.start(gone, begun.attempt, world.now).await.expect("answered"));
        world.now = world.now.plus(LEASE_MS / 2);
        assert!(world.server.beat(gone, granted.lease.expect("a lease"), world.now).await.expect("answered"));
        world.now = world.now.plus(LEASE_MS / 2 + 1);
        world.tick().await;
        let now = status::status(world.folder.path()).await.expect("looked at");
        assert_eq!(now.counts.leased, 6, "a beat renews it");
        world.now = world.now.plus(LEASE_MS);
        world.tick().await;
        let now = status::status(world.folder.path()).await.expect("looked at");
        assert_eq!((now.counts.leased, now.counts.planned, now.counts.wasted), (0, 6, 1));
        assert!(
            !world.server.beat(gone, granted.lease.expect("a lease"), world.now).await.expect("answered")
        );
        // Another worker takes them after a pause, and the first comes back with what it had played all the time.
        world.now = world.now.plus(5_000);
        let taken = world.server.lease(other, "1", 8, world.now).await.expect("answered");
        let same =
            taken.jobs.iter().find(|job| job.attempt.game == begun.attempt.game).expect("it waits no more");
        assert_eq!(same.attempt.n, 2);
        let (report, replay) = world.play(begun);
        assert_eq!(world.post(gone, begun, &report, &replay).await, Posted::Kept, "late counts");
        let (report, replay) = world.play(same);
        assert_eq!(world.post(other, same, &report, &replay).await, Posted::Settled);
        assert_eq!(world.tick().await.sealed, 1);
        world.clean().await;
    });
}

#[test]
fn a_server_that_is_killed_goes_on_with_what_was_acknowledged() {
    run(async {
        let world = World::new(1000).await;
        let worker = world.worker("inside").await;
        let (_, job) = world.one(worker, "1").await.expect("there is work");
        let (report, replay) = world.play(&job);
        assert_eq!(world.post(worker, &job, &report, &replay).await, Posted::Kept);
        let (_, begun) = world.one(worker, "2").await.expect("there is work");
        world.server.start(worker, begun.attempt, world.now).await.expect("answered");
        // Nothing is closed: the next server finds what a kill leaves.
        let World { folder, setting, now, server, .. } = world;
        let next = ContestServer::open(folder.path(), &setting, now).await.expect("opens");
        let worker = next.meet("inside", "not confined", now).await.expect("met");
        let ticked = next.tick(now).await.expect("done");
        assert_eq!((ticked.valid, ticked.sealed), (1, 1), "what was posted is recomputed and sealed");
        let now_ = status::status(folder.path()).await.expect("looked at");
        assert_eq!((now_.counts.leased, now_.counts.wasted), (0, 1), "what was begun is charged, and waits");
        assert!(!next.start(worker, begun.attempt, now).await.expect("answered"));
        let (_, found) = status::fsck(folder.path(), true).await.expect("looked through");
        assert_eq!(found, Vec::<String>::new());
        drop(server);
        next.close().await;
    });
}

#[test]
fn other_terms_are_refused_and_named() {
    run(async {
        let world = World::new(8).await;
        world.server.close().await;
        let mut changed = world.setting.clone();
        changed.terms.clock = agon_spec::Clock { scale: 2.0, ..agon_spec::Clock::ORIGINAL }.into();
        changed.terms.grounds[0].rules.push(' ');
        let Err(error) = ContestServer::open(world.folder.path(), &changed, world.now).await else {
            panic!("refused")
        };
        let said = error.to_string();
        assert!(said.contains("the clock, the rules changed") && said.contains("new folder"), "{said}");
        let mut longer = world.setting.clone();
        longer.founding.matches = 99;
        longer.founding.bosses.truncate(2);
        let server = ContestServer::open(world.folder.path(), &longer, world.now)
            .await
            .expect("that decides no result");
        assert_eq!(server.settings().matches, 8, "and nothing else since the contest was founded");
        assert_eq!(server.settings().bosses, world.setting.founding.bosses);
        server.close().await;
    });
}

#[test]
fn names_of_teams_are_told_apart_and_a_version_that_cannot_be_made_ready_fails_in_words() {
    run(async {
        let mut world = World::new(1000).await;
        use agon_store::acts::Added;
        let hand_in = async |world: &World, name: &str, bytes: &[u8]| {
            let by = ("test", world.now);
            let (store, objects) = (world.server.store(), world.server.objects());
            agon_server::hand_in(store, objects, name, bytes, by).await
        };
        let added = hand_in(&world, "Ann", b"one").await.expect("kept");
        let Added::New(version, 1) = added else { panic!("{added:?}") };
        assert_eq!(
            hand_in(&world, "Ann", b"one").await.expect("kept"),
            Added::Same(version, 1, VersionState::Received)
        );
        assert_eq!(hand_in(&world, "a n-n", b"one").await.expect("kept"), Added::Taken("Ann".to_owned()));
        let boss = world.setting.founding.bosses[0].trim_start_matches("builtin:").to_owned();
        assert_eq!(hand_in(&world, &boss, b"one").await.expect("kept"), Added::Taken(boss));
        for wrong in ["", " ", "a\u{202e}b", "x  y", "<b>", &"n".repeat(33), "-"] {
            assert!(hand_in(&world, wrong, b"one").await.is_err(), "{wrong}");
        }
        // The check match comes first, and its worker finds no bot in it.
        world.tick().await;
        let worker = world.worker("one").await;
        let (_, job) = world.one(worker, "1").await.expect("there is work");
        assert!(job.tried == Some(0) && job.seats[0].label == "Ann v1", "{job:?}");
        let seats = Seat::first(job.seats.len() as u8).count();
        assert_eq!(seats, world.server.policy().seats);
        let state = async |world: &World| {
            let now = status::status(world.folder.path()).await.expect("looked at");
            now.versions.into_iter().find(|version| version.entrant == "Ann").expect("there")
        };
        assert_eq!(state(&world).await.state, VersionState::Received);
        assert!(world.server.building(worker, job.attempt, world.now).await.expect("answered"));
        assert_eq!(state(&world).await.state, VersionState::Building);
        world.server.built(worker, job.attempt, b"bot.c:3: error", world.now).await.expect("answered");
        let unfit = Unfit {
            stage: Stage::Building,
            what: "its build ended with exit status: 1".to_owned(),
            fix: Some("mend line 3".to_owned()),
        };
        let nothing = Nothing::hopeless(unfit);
        world.server.void(worker, job.attempt, &nothing, world.now).await.expect("answered");
        assert!(!world.server.building(worker, job.attempt, world.now).await.expect("too late"));
        world.now = world.now.plus(10);
        assert_eq!(world.tick().await.admitted, 1);
        let now = status::status(world.folder.path()).await.expect("looked at");
        let ann = now.versions.iter().find(|version| version.entrant == "Ann").expect("there");
        assert_eq!(ann.state, VersionState::Failed);
        assert_eq!(ann.reason.as_deref(), Some("yours: its build ended with exit status: 1; mend line 3"));
        let cause = ann.cause.as_ref().expect("it says why");
        assert_eq!((cause.whose, cause.stage), (Whose::Yours, agon_store::Stage::Building));
        assert!(now.board.iter().all(|line| line.boss), "it never stood on the ladder");
        world.clean().await;
    });
}

#[test]
fn what_nothing_names_goes_after_a_day() {
    run(async {
        let mut world = World::new(8).await;
        let worker = world.worker("one").await;
        assert_eq!(world.play_on(worker, 4).await, 4);
        let refused = world.server.objects().put(b"refused in the end").await.expect("room");
        let since = std::time::UNIX_EPOCH.elapsed().expect("a clock").as_millis() as i64;
        world.now = Time(since);
        world.tick().await;
        assert!(world.server.objects().has(&refused).await.expect("looked"), "it may still be on its way");
        world.now = Time(since + 3 * 86_400_000);
        world.tick().await;
        assert!(!world.server.objects().has(&refused).await.expect("looked"));
        world.clean().await;
    });
}

#[test]
fn who_waits_is_told() {
    run(async {
        let world = World::new(40).await;
        let worker = world.worker("a").await;
        let (mut brought, mut done) = (world.server.brought(), world.server.done());
        let told = |of: &mut tokio::sync::watch::Receiver<()>| {
            let told = of.has_changed().expect("the server is there");
            of.borrow_and_update();
            told
        };
        assert_eq!(world.tick().await, agon_server::Ticked::default());
        assert_eq!((told(&mut brought), told(&mut done)), (false, false), "nothing happened");

        let (_, job) = world.one(worker, "1").await.expect("there is something to play");
        let (report, replay) = world.play(&job);
        assert_eq!(world.post(worker, &job, &report, &replay).await, Posted::Kept);
        assert_eq!((told(&mut brought), told(&mut done)), (true, false), "it is time for a tick");
        assert_eq!(world.tick().await.valid, 1);
        assert_eq!((told(&mut brought), told(&mut done)), (false, true), "there may be more to play");
    });
}

#[test]
fn nobody_who_looks_after_the_contest_waits_for_a_table() {
    run(async {
        let world = World::new(40).await;
        let worker = world.worker("a").await;
        let (_, job) = world.one(worker, "1").await.expect("there is something to play");
        let (report, replay) = world.play(&job);
        assert_eq!(world.post(worker, &job, &report, &replay).await, Posted::Kept);
        assert_eq!(world.server.look_after(world.now).await.expect("done").sealed, 1);
        assert_eq!(world.server.board_number().await, 0, "that is somebody else's work");
        world.server.rate(world.now).await.expect("made");
        assert_eq!(world.server.board_number().await, 1);
    });
}

/// Hands in this many versions, which go live.
async fn hand_in_many(world: &World, count: usize) {
    let (store, now) = (world.server.store(), world.now);
    for number in 0..count {
        let (name, archive) = (format!("Bot {number}"), format!("bot {number}"));
        let objects = world.server.objects();
        let added = hand_in(store, objects, &name, archive.as_bytes(), ("test", now)).await;
        let Added::New(version, _) = added.expect("kept") else { panic!("it is new") };
        store.act(Promote { version, now }).await.expect("live");
    }
}

#[test]
fn of_more_results_than_are_judged_at_once_each_is_sealed_once() {
    run(async {
        let world = World::new(40).await;
        hand_in_many(&world, 200).await;
        let (worker, bots) = (world.worker("a").await, ["builtin:greedy", "builtin:idle"]);
        let bots = bots.map(|bot| BotName::parse(bot).expect("a name"));
        let mut posted = 0;
        while posted < MOST_POSTED + 40 {
            let granted = world.server.lease(worker, &posted.to_string(), 32, world.now).await;
            let jobs = granted.expect("answered").jobs;
            assert!(!jobs.is_empty(), "{posted} were posted");
            for job in jobs {
                let (report, replay) = world.play_with(&job, &bots);
                assert_eq!(world.post(worker, &job, &report, &replay).await, Posted::Kept);
                posted += 1;
            }
        }
        let first = world.server.look_after(world.now).await.expect("done");
        assert_eq!((first.valid, first.sealed), (MOST_POSTED as u64, 0), "those are sealed beside the next");
        let second = world.server.look_after(world.now).await.expect("done");
        assert_eq!((second.valid, second.sealed), ((posted - MOST_POSTED) as u64, posted as u64));
        assert_eq!(world.server.look_after(world.now).await.expect("done").sealed, 0);
        world.clean().await;
    });
}

#[test]
fn in_a_ladder_of_hundreds_matches_are_planned_ahead_for_a_twentieth_of_it() {
    run(async {
        let world = World::new(40).await;
        hand_in_many(&world, 500).await;
        let (store, now) = (world.server.store(), world.now);
        let waiting = async || store.waiting(i64::MAX).await.expect("counted");
        world.tick().await;
        assert_eq!(waiting().await, 0, "nobody plays yet");
        let worker = world.worker("a").await;
        let granted = world.server.lease(worker, "1", 1, now).await.expect("answered");
        assert_eq!((granted.jobs.len(), waiting().await), (1, 25), "twenty-six were planned");
        world.tick().await;
        let ahead = waiting().await;
        assert!((25..=50).contains(&ahead), "{ahead}");
        world.tick().await;
        assert_eq!(waiting().await, ahead, "that is enough");
    });
}
