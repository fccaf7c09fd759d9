//! A server whose clock jumps does nothing by it until an organiser has confirmed the time, and forgets that not even when it is killed.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use agon_server::asked::LEASE_MS;
use agon_server::clock::{self, ALIKE_MS, ClockReading, ServerClock};
use agon_server::{ContestServer, ServerError, server_name, status};
use agon_store::{ClockDoubt, StoreError, Time};
use agon_worker::{Away, Hall as _, Posted};

use crate::common::{World, run, setting};

const HOUR: i64 = 3_600_000;

/// The clocks of a machine, which the test moves.
#[derive(Default)]
struct Machine {
    wall: AtomicI64,
    boot: AtomicI64,
}

impl Machine {
    fn passes(&self, ms: i64) {
        self.boot.fetch_add(ms, Ordering::SeqCst);
        self.jumps(ms);
    }

    fn jumps(&self, ms: i64) {
        self.wall.fetch_add(ms, Ordering::SeqCst);
    }
}

impl World {
    /// Lets this server of the contest go by the clocks of a machine.
    async fn clocks(&self, server: &ContestServer, machine: &Arc<Machine>) -> Arc<ServerClock> {
        let own = machine.clone();
        let read = move || ClockReading {
            wall: own.wall.load(Ordering::SeqCst),
            boot: own.boot.load(Ordering::SeqCst),
        };
        let clock = Arc::new(ServerClock::of(server_name(self.folder.path()), read));
        server.goes_by(clock.clone()).await.expect("read");
        clock
    }

    /// Lets its server go by the clocks of a machine that is right.
    async fn on_machine(&self) -> (Arc<Machine>, Arc<ServerClock>) {
        let machine = Arc::new(Machine::default());
        machine.jumps(self.now.0);
        let clock = self.clocks(&self.server, &machine).await;
        (machine, clock)
    }
}

async fn doubts(server: &ContestServer) -> Vec<ClockDoubt> {
    server.store().clock_doubts().await.expect("read")
}

fn is_held<T: std::fmt::Debug>(answer: Result<T, ServerError>) {
    let said = answer.expect_err("the clock is in doubt");
    let ServerError::Store(StoreError::Clock(what)) = &said else { panic!("{said}") };
    assert_eq!(what, "jumped ahead by 1 h 0 min");
}

#[test]
fn nothing_is_done_by_a_clock_that_jumped_and_nothing_is_lost() {
    run(async {
        let mut world = World::new(1000).await;
        let (machine, clock) = world.on_machine().await;
        let worker = world.worker("one").await;
        world.play_on(worker, 2).await;
        world.now = world.now.plus(1_000);
        machine.passes(world.now.0 - clock.now().0);
        let (lease, job) = world.one(worker, "before").await.expect("there is work");
        let (report, replay) = world.play(&job);
        let second = world.one(worker, "second").await.expect("there is work");
        let (sealed, leased) = (world.server.learnt().await.0, world.now);

        machine.jumps(HOUR);
        assert_eq!(clock.now(), leased, "time goes on as before");
        world.server.look_after(clock.now()).await.expect("looked after");
        is_held(world.server.lease(worker, "during", 1, clock.now()).await);
        is_held(world.server.start(worker, second.1.attempt, clock.now()).await);
        is_held(world.server.post(worker, job.attempt, (&report, &replay, &[]), clock.now()).await);
        // Leases last as long as their workers are heard of, and nobody else ends them.
        machine.passes(LEASE_MS - 1_000);
        for (lease, jobs) in [(lease, 1), (second.0, 1)] {
            assert!(world.server.beat(worker, lease, clock.now()).await.expect("heard"), "{jobs}");
        }
        machine.passes(LEASE_MS + 1_000);
        let ticked = world.server.tick(clock.now()).await.expect("done");
        assert_eq!(ticked, agon_server::Ticked::default());
        assert_eq!(world.server.learnt().await.0, sealed);
        world.server.keep_board(clock.now(), true).await.expect("a server can be stopped meanwhile");
        let doubt = ClockDoubt {
            server: server_name(world.folder.path()),
            since: leased,
            ahead_ms: HOUR,
            apart_ms: None,
            confirmed: false,
        };
        let seen = status::status(world.folder.path()).await.expect("looked at");
        assert_eq!(seen.clocks, std::slice::from_ref(&doubt));
        assert_eq!((seen.events[0].verb.as_str(), seen.events[0].at), ("doubt", leased));
        // Nor does a command do anything by it.
        let (store, _) = status::look(world.folder.path()).await.expect("opens");
        let drain = agon_store::acts::Drain { contest: store.id(), actor: "x".into(), now: Time(0) };
        assert!(matches!(store.act(drain).await, Err(StoreError::Clock(_))));

        // What was confirmed is what was seen.
        let other = ClockDoubt { ahead_ms: 2 * HOUR, ..doubt.clone() };
        let by = ("Olga", clock.now());
        assert!(!clock::confirm(&store, &other, by).await.expect("answered"));
        assert!(clock::confirm(&store, &doubt, by).await.expect("answered"));
        assert!(!clock::confirm(&store, &doubt, by).await.expect("answered"), "once");
        store.close().await;
        world.server.look_after(clock.now()).await.expect("hears of it");
        assert_eq!(clock.doubt(), None, "they have run alike for long enough");
        world.now = Time(machine.wall.load(Ordering::SeqCst));
        assert_eq!(clock.now(), world.now);
        world.server.look_after(clock.now()).await.expect("says so");
        world.server.look_after(clock.now()).await.expect("goes on");
        assert_eq!(doubts(&world.server).await, Vec::new());
        // Nobody's lease has ended by the hour that never was.
        assert!(world.server.start(worker, second.1.attempt, world.now).await.expect("answered"));
        assert_eq!(world.post(worker, &job, &report, &replay).await, Posted::Kept);
        let (report, replay) = world.play(&second.1);
        assert_eq!(world.post(worker, &second.1, &report, &replay).await, Posted::Kept);
        assert_eq!(world.tick().await.sealed, 2);
        let events = world.server.store().events(3).await.expect("read");
        let told: Vec<[&str; 3]> = events.iter().map(|one| [&*one.actor, &*one.verb, &*one.detail]).collect();
        let jumped = "jumped ahead by 1 h 0 min";
        assert_eq!(told, [["server", "trust", ""], ["Olga", "confirm", jumped], ["server", "doubt", jumped]]);
        world.clean().await;
    });
}

#[test]
fn the_servers_own_worker_keeps_what_it_has_played() {
    run(async {
        let world = World::new(1000).await;
        let (machine, clock) = world.on_machine().await;
        let worker = world.worker("inside").await;
        machine.jumps(HOUR);
        let handle = tokio::runtime::Handle::current();
        let (server, time) = (&world.server, || clock.now());
        let leased = std::thread::scope(|scope| {
            let ask = || agon_server::Inside::new(server, handle.clone(), worker, &time).lease("one", 1);
            scope.spawn(ask).join().expect("no panic")
        });
        let Err(Away(why)) = leased else { panic!("{leased:?}") };
        assert!(why.starts_with("the clock of this server jumped ahead by 1 h 0 min:"), "{why}");
    });
}

#[test]
fn a_clock_that_comes_back_is_trusted_without_anybody_and_one_set_back_is_used_when_confirmed() {
    run(async {
        let mut world = World::new(1000).await;
        let (machine, clock) = world.on_machine().await;
        let worker = world.worker("one").await;
        machine.jumps(-HOUR);
        world.server.tick(clock.now()).await.expect("done");
        assert_eq!(doubts(&world.server).await[0].ahead_ms, -HOUR);
        machine.jumps(HOUR);
        world.server.tick(clock.now()).await.expect("done");
        machine.passes(ALIKE_MS);
        world.server.tick(clock.now()).await.expect("done");
        assert_eq!(doubts(&world.server).await, Vec::new());
        // Set back for good: what is done every few seconds does not wait for an hour.
        world.now = clock.now();
        assert_eq!(world.play_on(worker, 2).await, 2);
        machine.passes(world.now.0 - clock.now().0);
        world.server.tick(clock.now()).await.expect("done");
        let kept = world.one(worker, "kept").await.expect("there is work");
        machine.jumps(-HOUR);
        world.server.tick(clock.now()).await.expect("done");
        let doubt = doubts(&world.server).await.remove(0);
        assert!(clock::confirm(world.server.store(), &doubt, ("Olga", clock.now())).await.expect("answered"));
        machine.passes(ALIKE_MS);
        let before = clock.now();
        // It hears of it, says so, and goes on, the first two with a time that no longer holds then.
        world.server.tick(before).await.expect("done");
        world.server.tick(before).await.expect("done");
        world.now = clock.now();
        world.tick().await;
        assert!(before > doubt.since && world.now < doubt.since, "the new time");
        assert!(world.server.beat(worker, kept.0, world.now).await.expect("heard"), "it lasts");
        let lost = world.one(worker, "lost").await.expect("there is work");
        assert!(world.server.start(worker, lost.1.attempt, world.now).await.expect("answered"));
        world.now = world.now.plus(LEASE_MS + 1);
        world.tick().await;
        assert!(!world.server.beat(worker, lost.0, world.now).await.expect("heard"), "it has ended");
        world.clean().await;
    });
}

#[test]
fn a_server_that_was_killed_in_doubt_still_doubts_and_so_does_one_behind_its_log() {
    run(async {
        let mut world = World::new(1000).await;
        let (machine, clock) = world.on_machine().await;
        let worker = world.worker("one").await;
        world.play_on(worker, 2).await;
        let last = world.server.store().last_time().await.expect("read");
        assert!(last > Time(1_000_000) && last <= world.now, "of the last result: {last:?}");
        machine.passes(world.now.0 - clock.now().0);
        machine.jumps(HOUR);
        world.server.look_after(clock.now()).await.expect("done");
        let doubt = clock.doubt().expect("it jumped");
        let again = async |now: Time| {
            ContestServer::open(world.folder.path(), &setting(1000), now).await.expect("opens")
        };
        world.server.close().await;
        let server = again(clock.now()).await;
        let restarted = world.clocks(&server, &machine).await;
        assert_eq!(restarted.doubt(), Some(doubt.clone()), "another process knows");
        assert_eq!(restarted.now(), clock.now(), "and time goes on");
        server.close().await;
        // Set right while nobody ran: only seen by what would be behind the log otherwise.
        machine.jumps(-HOUR);
        let server = again(clock.now()).await;
        let restarted = world.clocks(&server, &machine).await;
        assert_eq!(restarted.doubt(), Some(ClockDoubt { ahead_ms: 0, ..doubt.clone() }));
        machine.jumps(HOUR);
        server.close().await;
        let server = again(clock.now()).await;
        world.clocks(&server, &machine).await;
        assert!(clock::confirm(server.store(), &doubt, ("Olga", clock.now())).await.expect("answered"));
        // Killed again before the minute is over: what was confirmed is confirmed.
        server.close().await;
        let server = again(clock.now()).await;
        let restarted = world.clocks(&server, &machine).await;
        machine.passes(ALIKE_MS);
        assert_eq!(restarted.doubt(), None);
        server.look_after(restarted.now()).await.expect("done");
        assert_eq!(doubts(&server).await, Vec::new());
        let last = server.store().last_time().await.expect("read");
        assert_eq!(last, restarted.now(), "of the last act");
        server.close().await;
        // While it was away, the clock was set back.
        machine.jumps(-HOUR);
        let server = again(last).await;
        let restarted = world.clocks(&server, &machine).await;
        let doubt = restarted.doubt().expect("it is behind its log");
        assert_eq!((doubt.since, doubt.ahead_ms), (last, -HOUR));
        assert_eq!(restarted.now(), last);
        server.look_after(restarted.now()).await.expect("done");
        assert_eq!(doubts(&server).await, [doubt]);
        server.close().await;
    });
}

#[test]
fn while_one_server_doubts_its_clock_another_looks_after_the_contest() {
    let Some(postgres) = crate::common::database::POSTGRES.as_ref() else { return };
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        postgres.place(folder.path());
        let (world, second) = World::shared(folder, setting(1000)).await;
        let (machine, clock) = world.on_machine().await;
        let worker = world.worker("one").await;
        world.server.tick(clock.now()).await.expect("it looks after the contest");
        let (_, job) = world.one(worker, "one").await.expect("there is work");
        let (report, replay) = world.play(&job);
        assert_eq!(world.post(worker, &job, &report, &replay).await, Posted::Kept);
        machine.jumps(HOUR);
        assert_eq!(second.tick(world.now).await.expect("done").sealed, 0, "the other has the duty");
        assert_eq!(world.server.tick(clock.now()).await.expect("done").sealed, 0, "and leaves it");
        assert_eq!(second.tick(world.now).await.expect("done").sealed, 1);
        assert_eq!(world.server.tick(clock.now()).await.expect("done").sealed, 0);
        assert_eq!(world.server.learnt().await, second.learnt().await, "it goes on reading");
        // Whoever looks at the other one's cockpit sees it.
        assert_eq!(doubts(&second).await, doubts(&world.server).await);
        second.close().await;
        world.server.close().await;
    });
}
