//! A worker that lies is found by comparing its results with others' results of the same matches.

use crate::common::{World, run};
use agon_bot::BotName;
use agon_contest::Observed;
use agon_store::acts::{Enlist, Enlisted, LetPlayOn, RecordCall};
use agon_store::{Kind, Sha, WorkerId};
use agon_worker::{BotSource, Job, Posted};

/// Plays a match with each bot in another one's seat: its replay is of the planned match, and only the answers are others'.
fn lie(world: &World, job: &Job) -> (Observed, Vec<u8>) {
    let bot = |program: &BotSource| match program {
        BotSource::Builtin(text) => BotName::parse(text).expect("a name"),
        BotSource::Source(_) => panic!("built-in bots only"),
    };
    let bots: Vec<BotName> = job.seats.iter().rev().map(|seat| bot(&seat.program)).collect();
    world.play_with(job, &bots)
}

async fn enlist(world: &World, name: &str) -> WorkerId {
    let (contest, sha, now) = (world.server.contest(), Sha::of(name), world.now);
    let enlist = Enlist { contest, name: name.into(), sha, actor: "Boss".into(), now };
    match world.server.store().act(enlist).await.expect("done") {
        Enlisted::New(id) => id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_three_workers_the_one_that_lies_is_paused_and_shown_and_the_honest_are_not() {
    run(async {
        let mut world = World::new(10_000).await;
        world.server.play_again_one_in(1);
        let workers = [
            enlist(&world, "liar").await,
            enlist(&world, "honest 1").await,
            enlist(&world, "honest 2").await,
        ];
        let liar = workers[0];
        let mut paused_after = None;
        for round in 0..400 {
            for worker in workers {
                world.server.store().act(RecordCall { worker, now: world.now }).await.expect("heard");
                let Some((_, job)) = world.one(worker, &round.to_string()).await else {
                    assert_eq!(worker, liar, "there is always something to play");
                    continue;
                };
                assert!(world.server.start(worker, job.attempt, world.now).await.expect("answered"));
                let lies = worker == liar && round % 3 > 0;
                let (report, replay) = if lies { lie(&world, &job) } else { world.play(&job) };
                assert_eq!(world.post(worker, &job, &report, &replay).await, Posted::Kept);
            }
            world.now = world.now.plus(20_000);
            let ticked = world.tick().await;
            assert_eq!(ticked.mismatches, 0, "its replays are matches as they were asked for");
            if world.server.store().is_paused(liar).await.expect("read") {
                paused_after = Some(round);
                break;
            }
        }
        println!("paused after {paused_after:?} rounds of three matches");
        assert!(paused_after.is_some(), "it is found");
        let told = world.server.store().working(world.now).await.expect("read");
        for worker in &told {
            assert_eq!(worker.paused.is_some(), worker.id == liar, "{worker:?}");
        }
        let why = told.iter().find_map(|worker| worker.paused.clone()).expect("the liar");
        assert!(why.starts_with("of its matches that another machine played as well "), "{why}");
        // It gets nothing, and nothing is planned for it.
        let waiting = world.server.store().waiting(i64::MAX).await.expect("read");
        assert!(world.one(liar, "more").await.is_none());
        assert_eq!(world.server.store().waiting(i64::MAX).await.expect("read"), waiting);
        assert!(world.one(workers[1], "more").await.is_some(), "others do");
        // The ladder knows nothing of the repeated matches.
        let log = world.server.store().log(0, 10_000).await.expect("read");
        assert!(log.iter().all(|row| !row.body.contains(Kind::Again.word())));
        world.clean().await;
        let (contest, now) = (world.server.contest(), world.now);
        let on = LetPlayOn { contest, worker: liar, actor: "Boss".into(), now };
        assert!(world.server.store().act(on).await.expect("done"));
        world.now = world.now.plus(61_000);
        world.tick().await;
        assert!(world.one(liar, "on").await.is_some(), "it is not paused again for what it did before");
        // The comparisons are forgotten, and the contest is intact.
        world.now = world.now.plus(3_700_000);
        world.tick().await;
        world.clean().await;
    });
}
