//! A contest with a clock that the test sets, and a worker that plays honestly.

use std::sync::atomic::{AtomicBool, AtomicU32};

use agon_bot::BotName;
use agon_contest::Observed;
use agon_game::Setup;
use agon_server::{ContestServer, ServerError, Setting, Upload, UploadOutcome, status};
use agon_store::{ContestSettings, Incoming, Time, WorkerId};
use agon_worker::play::MatchEnd;
use agon_worker::{BotSource, ContestTerms, Job, MatchGround, Posted, PreparedGame};
use tempfile::TempDir;

#[path = "../../../agon-store/tests/common/mod.rs"]
pub mod database;

/// The first game of the registry, under its own rules, with three of its bots.
pub fn setting(matches: u32) -> Setting {
    let info = agon_games::all()[0].info();
    let bosses: Vec<&str> = info.builtins.iter().take(3).map(|bot| bot.name).collect();
    setting_of(info.name, 1, &bosses, matches)
}

/// A game under its own rules, with this many maps and these bosses.
pub fn setting_of(game: &str, maps: usize, bosses: &[&str], enough: u32) -> Setting {
    let game = agon_games::find(game).expect("it is there");
    let info = game.info();
    let setup = Setup { seats: info.usual_seats(), ..Setup::default() };
    let recipe = game.open(&setup).expect("its own rules").recipe().clone();
    let terms = ContestTerms {
        game: info.name.to_owned(),
        rules_version: info.rules_version,
        grounds: vec![MatchGround::new(&setup, &recipe); maps],
        clock: agon_spec::Clock::ORIGINAL.into(),
        ponder: agon_spec::Ponder::Stop,
        ratings: agon_server::METHOD,
    };
    let bosses = bosses.iter().map(|boss| format!("builtin:{boss}")).collect();
    let (title, matches) = ("test".to_owned(), enough);
    let founding = ContestSettings { title: title.clone(), bosses, matches, ..ContestSettings::default() };
    Setting { name: title, terms, founding }
}

/// A file that has arrived.
pub async fn incoming(server: &ContestServer, bytes: &[u8]) -> Incoming {
    let mut file = server.objects().begin().expect("room");
    file.add(bytes).await.expect("room");
    file
}

/// Hands in a file for a team.
pub async fn upload(
    server: &ContestServer,
    (entrant, name, bytes): (&str, &str, &[u8]),
    only_if_better: bool,
    now: Time,
) -> Result<UploadOutcome, ServerError> {
    let file = incoming(server, bytes).await;
    server.upload(Upload { entrant, name, file, only_if_better, actor: "test" }, now).await
}

pub struct World {
    pub folder: TempDir,
    pub setting: Setting,
    pub server: ContestServer,
    pub table: PreparedGame,
    pub now: Time,
}

impl World {
    pub async fn new(matches: u32) -> Self {
        let (folder, setting, now) = (database::folder(), setting(matches), Time(1_000_000));
        let mut server = ContestServer::open(folder.path(), &setting, now).await.expect("opens");
        // Every match played shall stand in the log: none is drawn to be played again unless a test says so.
        server.play_again_one_in(0);
        let table = PreparedGame::new(&setting.terms).expect("known");
        Self { folder, setting, server, table, now }
    }

    pub async fn worker(&self, name: &str) -> WorkerId {
        self.server.meet(name, "not confined", self.now).await.expect("met")
    }

    /// Plays a match honestly.
    pub fn play(&self, job: &Job) -> (Observed, Vec<u8>) {
        let bots: Vec<BotName> = job
            .seats
            .iter()
            .map(|seat| match &seat.program {
                BotSource::Builtin(text) => BotName::parse(text).expect("a name"),
                BotSource::Source(_) => panic!("built-in bots only"),
            })
            .collect();
        self.play_with(job, &bots)
    }

    /// Plays a match with these bots in its seats, instead of those that should sit there.
    pub fn play_with(&self, job: &Job, bots: &[BotName]) -> (Observed, Vec<u8>) {
        let played = self.table.play(job, bots, &[0], &AtomicBool::new(false), &AtomicU32::new(0));
        match played.expect("begins") {
            MatchEnd::Whole(recorded) => {
                let whole = recorded.shared_out(&self.table).expect("a replay");
                (whole.observed, whole.replay)
            }
            other => panic!("{other:?}"),
        }
    }

    pub async fn one(&self, worker: WorkerId, request: &str) -> Option<(i64, Job)> {
        let granted = self.server.lease(worker, request, 1, self.now).await.expect("answered");
        granted
            .jobs
            .into_iter()
            .next()
            .map(|job| (granted.lease.expect("with matches there is a lease"), job))
    }

    pub async fn post(&self, worker: WorkerId, job: &Job, report: &Observed, replay: &[u8]) -> Posted {
        self.server.post(worker, job.attempt, (report, replay, &[]), self.now).await.expect("answered")
    }

    pub async fn tick(&self) -> agon_server::Ticked {
        self.server.tick(self.now).await.expect("done")
    }

    pub async fn clean(&self) {
        let (_, found) = status::fsck(self.folder.path(), true).await.expect("looked through");
        assert_eq!(found, Vec::<String>::new());
    }
}

pub fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(test);
}

impl World {
    /// Plays until there is nothing left, at most `most` matches, and returns their number.
    pub async fn play_on(&mut self, worker: WorkerId, most: usize) -> usize {
        let mut played = 0;
        for request in 0..10_000 {
            if played == most {
                break;
            }
            let Some((_, job)) = self.one(worker, &format!("{}-{request}", self.now.0)).await else {
                if self.tick().await.sealed == 0 {
                    break;
                }
                continue;
            };
            assert!(self.server.start(worker, job.attempt, self.now).await.expect("answered"));
            let (report, replay) = self.play(&job);
            assert_eq!(self.post(worker, &job, &report, &replay).await, Posted::Kept);
            played += 1;
            self.now = self.now.plus(7_000);
        }
        while self.tick().await.sealed > 0 {}
        played
    }
}
