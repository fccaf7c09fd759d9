//! Two servers of one contest, on one PostgreSQL: whichever a worker asks, it is the same contest, and when one ends the other continues.

use crate::common::{World, database, run, setting};
use agon_server::{ContestServer, status};
use agon_store::{Sealed, Time};
use agon_worker::Posted;

#[test]
fn two_servers_play_one_contest_and_the_second_goes_on_alone() {
    let Some(postgres) = database::POSTGRES.as_ref() else { return };
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        postgres.place(folder.path());
        let (mut world, second) = World::shared(folder, setting(1000)).await;
        let workers = [world.worker("one").await, world.worker("two").await];
        // The first to ask looks after it.
        world.tick().await;
        // Each worker asks the two in turn, and posts to the one that it did not ask.
        let mut kept = 0;
        for round in 0..12 {
            for (number, worker) in workers.iter().enumerate() {
                let (asked, told) = match (round + number) % 2 {
                    0 => (&world.server, &second),
                    _ => (&second, &world.server),
                };
                let granted = asked.lease(*worker, &round.to_string(), 1, world.now).await.expect("answered");
                assert!(!granted.jobs.is_empty(), "round {round}: there is always something to play");
                for job in &granted.jobs {
                    let (report, replay) = world.play(job);
                    let over = (&report, &replay[..], &[][..]);
                    let posted = told.post(*worker, job.attempt, over, world.now).await.expect("answered");
                    assert_eq!(posted, Posted::Kept);
                    kept += 1;
                }
            }
            world.now = world.now.plus(6_000);
            // The second looks first, and does nothing while the first is there.
            let idle = second.tick(world.now).await.expect("done");
            assert_eq!((idle.valid, idle.sealed), (0, 0), "one looks after the contest");
            world.tick().await;
            second.tick(world.now).await.expect("done");
            assert_eq!(second.learnt().await, world.server.learnt().await, "both know the same log");
        }
        assert_eq!(world.server.learnt().await.0, kept, "each result is in the log");
        let boards =
            [world.server.board().await, second.board().await].map(|board| board.expect("made").table);
        assert_eq!(boards[0], boards[1], "both make the same table of it");
        // The first ends in the middle: leased and posted matches belong to the contest, and the second looks after it.
        let granted = world.server.lease(workers[0], "last", 8, world.now).await.expect("answered");
        let (report, replay) = world.play(&granted.jobs[0]);
        assert_eq!(world.post(workers[0], &granted.jobs[0], &report, &replay).await, Posted::Kept);
        world.server.close().await;
        let ticked = second.tick(world.now).await.expect("done");
        assert_eq!((ticked.valid, ticked.sealed), (1, 1), "what the first took in counts");
        for job in &granted.jobs[1..] {
            let (report, replay) = world.play(job);
            let over = (&report, &replay[..], &[][..]);
            let posted = second.post(workers[0], job.attempt, over, world.now).await.expect("answered");
            assert_eq!(posted, Posted::Kept);
        }
        while second.tick(world.now).await.expect("done").sealed > 0 {}
        second.close().await;
        let (_, found) = status::fsck(world.folder.path(), true).await.expect("looked through");
        assert_eq!(found, Vec::<String>::new());
        let (store, _) = status::look(world.folder.path()).await.expect("opens");
        let rows = store.log(0, 10_000).await.expect("read");
        let mut games: Vec<_> =
            rows.iter().map(|row| serde_json::from_str::<Sealed>(&row.body).expect("a row").game).collect();
        let whole = games.len();
        games.sort_unstable();
        games.dedup();
        assert_eq!((games.len(), whole), (whole, kept as usize + granted.jobs.len()), "each match once");
    });
}

impl World {
    /// A contest with two servers.
    pub async fn shared(folder: tempfile::TempDir, setting: agon_server::Setting) -> (Self, ContestServer) {
        let now = Time(1_000_000);
        let mut server = ContestServer::open(folder.path(), &setting, now).await.expect("opens");
        let mut second = ContestServer::open(folder.path(), &setting, now).await.expect("opens");
        // Every match played shall stand in the log.
        server.play_again_one_in(0);
        second.play_again_one_in(0);
        let table = agon_worker::PreparedGame::new(&setting.terms).expect("known");
        (Self { folder, setting, server, table, now }, second)
    }
}
