//! A contest moves to a database server and back while its service manager starts its server again whenever that ends
//! (`Restart=always`): it goes on at exactly one place, and nothing is lost.

use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{Running, agon, command, err, folder, good, json, out, wait, wait_until};
use crate::kills::Stops;
use crate::many::database::{self, Postgres};

const CONTEST: &str = "game = 'cultist-wars'
[site]
bosses = ['builtin:greedy', 'builtin:random', 'builtin:idle']
[ladder]
matches = 1000000
[sandbox]
trust_bots = true
";

/// A service of a contest: it is started again a moment after it has ended.
struct Service<'a> {
    place: &'a Path,
    running: Mutex<Option<Running>>,
    stop: AtomicBool,
}

impl Service<'_> {
    fn run(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let mut own = self.running.lock().expect("nobody panics with it");
            if own.as_mut().is_none_or(|running| !running.is_alive()) {
                let words = ["serve", "cup", "-j", "1", "--quiet", "--no-site"];
                let mut serve = command(self.place, &words);
                let started = serve.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
                *own = Some(Running(started.expect("agon starts")));
            }
            drop(own);
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    /// Ends the server as `kill` does, which its manager knows nothing of.
    fn ends(&self) {
        if let Some(own) = &mut *self.running.lock().expect("nobody panics with it") {
            let _ = rustix::process::kill_process(
                rustix::process::Pid::from_child(&own.0),
                rustix::process::Signal::TERM,
            );
            let _ = own.0.wait();
        }
    }

    /// How many results the log has; none in the middle of a move.
    fn results(&self) -> Option<i64> {
        let status = agon(self.place, &["serve", "status", "cup", "--json"]);
        let is_told = status.status.success();
        is_told.then(|| json(&status)["matches"]["in_log"].as_i64().expect("a number"))
    }

    /// The same, as soon as it is told.
    fn results_told(&self) -> i64 {
        let mut told = None;
        wait_until("its results are told", || {
            told = self.results();
            told.is_some()
        });
        told.expect("just told")
    }

    /// Ends the server and moves its contest, again as long as the server is back before that.
    fn moves(&self, to: &[&str]) {
        wait(Duration::from_secs(240), "it moves", || {
            self.ends();
            let moved = agon(self.place, &[&["serve", "move", "cup"], to].concat());
            let said = err(&moved);
            let is_played = said.contains("in use by process") || said.contains("already being run");
            assert!(moved.status.success() || is_played, "{}{said}", out(&moved));
            moved.status.success()
        });
    }
}

#[test]
fn a_contest_moves_under_a_service_that_always_restarts_it_and_goes_on_at_one_place() {
    let Some(postgres) = Postgres::start() else { return };
    let (place, elsewhere) = (folder(), folder());
    let place = place.path();
    std::fs::create_dir(place.join("cup")).expect("a folder");
    std::fs::write(place.join("cup/contest.toml"), CONTEST).expect("a file");
    postgres.place(elsewhere.path());
    let url = database::url(elsewhere.path());
    let service = Service { place, running: Mutex::default(), stop: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        let _stops = Stops(&service.stop);
        scope.spawn(|| service.run());
        wait(Duration::from_secs(240), "it plays", || service.results() > Some(2));
        for (to, is_there) in [(&["--to", &url][..], true), (&["--back"], false)] {
            let had = service.results_told();
            service.moves(to);
            assert_eq!(place.join("cup/agon.db").exists(), !is_there);
            assert_eq!(place.join("cup/database.url").exists(), is_there);
            let now = service.results_told();
            assert!(now >= had, "{now} results after it moved, {had} before");
            wait_until("its service goes on with it", || service.results() > Some(now + 2));
            if !is_there {
                continue;
            }
            // A copy of the folder as it was, under a service of its own: it never begins.
            std::fs::create_dir(place.join("copy")).expect("a folder");
            for (from, to) in [("contest.toml", "contest.toml"), ("agon.db.moved", "agon.db")] {
                std::fs::copy(place.join("cup").join(from), place.join("copy").join(to)).expect("copied");
            }
            for _ in 0..3 {
                let refused = agon(place, &["serve", "copy", "-j", "1", "--no-site"]);
                assert!(!refused.status.success(), "{}", out(&refused));
                assert!(err(&refused).contains("was moved to postgres://"), "{}", err(&refused));
            }
        }
    });
    service.ends();
    good(agon(place, &["serve", "fsck", "cup", "--replays"]));
}
