//! A worker at a hall that counts: each match given out is played once and its result delivered once, however far ahead
//! the worker asks, and the server hears at most once that it has begun.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agon_bot::{Confined, Run};
use agon_game::Setup;
use agon_worker::protocol::Sitting;
use agon_worker::{
    Away, BotSource, ContestTerms, Granted, Hall, Job, MatchGround, Nothing, PlaySettings, Posted,
    PreparedGame, Try, VersionShelf, Whole,
};

/// What happened to a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Life {
    given: u32,
    started: u32,
    brought: u32,
}

/// Gives out `all` matches, then stops the worker once all results are there.
struct Counter<'a> {
    all: i64,
    lives: Mutex<BTreeMap<i64, Life>>,
    /// Whether the next question goes unanswered.
    away: AtomicBool,
    stop: &'a AtomicBool,
}

impl Counter<'_> {
    fn at(&self, attempt: Try, change: impl FnOnce(&mut Life)) {
        change(self.lives.lock().expect("nobody panics").entry(attempt.game).or_default());
    }

    /// Answers every second question.
    fn answers(&self) -> Result<(), Away> {
        match self.away.fetch_xor(true, Ordering::Relaxed) {
            true => Err(Away("just now".to_owned())),
            false => Ok(()),
        }
    }
}

impl Hall for Counter<'_> {
    fn lease(&self, _: &str, most: usize) -> Result<Granted, Away> {
        self.answers()?;
        let given = self.lives.lock().expect("nobody panics").len() as i64;
        let sitting = |label: &str| Sitting {
            label: label.to_owned(),
            program: BotSource::Builtin("builtin:idle".to_owned()),
        };
        let job = |game| Job {
            attempt: Try { game, n: 1 },
            map: 0,
            seed: game,
            seats: vec![sitting("a"), sitting("b")],
            tried: None,
            disturbed: Vec::new(),
            positions: Vec::new(),
        };
        let jobs: Vec<Job> = (given..self.all.min(given + most as i64)).map(job).collect();
        jobs.iter().for_each(|job| self.at(job.attempt, |life| life.given += 1));
        Ok(Granted { lease: Some(given).filter(|_| !jobs.is_empty()), jobs })
    }
    fn start(&self, attempt: Try) -> Result<bool, Away> {
        self.at(attempt, |life| life.started += 1);
        Ok(true)
    }
    fn beat(&self, _: i64, _: &[(Try, u32)]) -> Result<bool, Away> {
        Ok(true)
    }
    fn building(&self, _: Try) -> Result<bool, Away> {
        unreachable!("nothing is built")
    }
    fn built(&self, _: Try, _: &[u8]) -> Result<(), Away> {
        unreachable!("nothing is built")
    }
    fn post(&self, over: &[(Try, Whole)]) -> Result<Vec<Posted>, Away> {
        self.answers()?;
        over.iter().for_each(|(attempt, _)| self.at(*attempt, |life| life.brought += 1));
        let lives = self.lives.lock().expect("nobody panics");
        if lives.values().filter(|life| life.brought > 0).count() as i64 == self.all {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(vec![Posted::Kept; over.len()])
    }
    fn void(&self, attempt: Try, nothing: &Nothing) -> Result<(), Away> {
        panic!("match {attempt:?} came to nothing: {}", nothing.why)
    }
    fn abort(&self, lease: i64) -> Result<(), Away> {
        panic!("lease {lease} is given back")
    }
    fn fetch(&self, _: &str) -> Result<Vec<u8>, Away> {
        unreachable!("nothing was handed in")
    }
}

/// The terms of a contest of Cultist Wars, as a worker prepares them.
fn table() -> PreparedGame {
    let game = agon_games::find("cultist-wars").expect("it is there");
    let setup = Setup { seats: 2, ..Setup::default() };
    let recipe = game.open(&setup).expect("its own rules").recipe().clone();
    let terms = ContestTerms {
        game: game.info().name.to_owned(),
        rules_version: game.info().rules_version,
        grounds: vec![MatchGround::new(&setup, &recipe)],
        clock: agon_spec::Clock::ORIGINAL.into(),
        ponder: agon_spec::Ponder::Stop,
        ratings: 2,
    };
    PreparedGame::new(&terms).expect("known")
}

#[test]
fn nothing_is_leased_that_the_free_memory_does_not_hold() {
    let table = table();
    let stop = AtomicBool::new(false);
    let hall = Counter { all: 1, lives: Mutex::default(), away: AtomicBool::new(false), stop: &stop };
    let run = Run { memory: Some(1 << 50), ..Run::default() };
    let versions =
        VersionShelf::new(Path::new("nowhere").to_owned(), Confined::Foreign, "cultist-wars").under(run);
    assert_eq!(versions.memory(2), 2 << 50);
    let settings = PlaySettings {
        jobs: 2,
        run: "test".to_owned(),
        beat: Duration::from_secs(20),
        idle: Duration::from_millis(5),
        aside: false,
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            stop.store(true, Ordering::Relaxed);
        });
        agon_worker::run(&hall, &table, &versions, &settings, &stop);
    });
    assert!(hall.lives.into_inner().expect("nobody panics").is_empty());
}

#[test]
fn each_match_is_played_and_brought_once_however_it_is_asked_for() {
    let table = table();
    for jobs in [1, 3] {
        let stop = AtomicBool::new(false);
        let hall = Counter { all: 100, lives: Mutex::default(), away: AtomicBool::new(false), stop: &stop };
        let versions = VersionShelf::new(Path::new("nowhere").to_owned(), Confined::No, "cultist-wars");
        let settings = PlaySettings {
            jobs,
            run: "test".to_owned(),
            beat: Duration::from_secs(20),
            idle: Duration::from_millis(5),
            aside: false,
        };
        agon_worker::run(&hall, &table, &versions, &settings, &stop);
        let lives = hall.lives.into_inner().expect("nobody panics");
        assert_eq!(lives.len(), 100);
        for (game, life) in &lives {
            assert!(life.started <= 1, "match {game} with {jobs} at once: {life:?}");
            assert_eq!((life.given, life.brought), (1, 1), "match {game} with {jobs} at once");
        }
        // It is not yet known how long a match takes, so the first one waits until the server knows of it.
        assert_eq!(lives[&0].started, 1);
    }
}
