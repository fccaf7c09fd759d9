//! A program that speaks the workers' protocol, honest or not.

use std::sync::atomic::{AtomicBool, AtomicU32};

use agon_bot::BotName;
use agon_server::status;
use agon_site::Way;
use agon_store::WorkerId;
use agon_worker::play::MatchEnd;
use agon_worker::wire::{Hello, LeaseRequest, PlayingMachine, PostedResult as Sent, ReceivedAll, Yours};
use agon_worker::{BotSource, Granted, Job, Posted, Try, Whole};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Answer, Browser, World};

/// A contest that accepts a machine of speed 100 without a sandbox.
pub async fn world() -> World {
    let more = "[sandbox]\ntrust_bots = true\n[workers]\nspeed = 100.0\ntolerance = 10\n";
    World::with(&format!("sign_up = \"open\"\n{more}"), Way::Loopback).await
}

/// A program that speaks the workers' protocol.
pub struct Worker {
    pub id: WorkerId,
    pub http: Browser,
    pub run: String,
    pub requests: u32,
}

pub fn machine() -> PlayingMachine {
    PlayingMachine {
        level: "not confined".into(),
        attacks: None,
        speed: 100.0,
        cpus: 2,
        jobs: 1,
        kernel: "6.1".into(),
        packages: Vec::new(),
        languages: Vec::new(),
    }
}

impl Worker {
    /// A worker with a token that has not introduced itself.
    pub async fn stranger(world: &World, name: &str) -> Self {
        let (worker, http) = world.worker(name).await;
        let id = worker.id;
        Self { id, http, run: format!("run of {name}").replace(' ', "-"), requests: 0 }
    }

    pub async fn new(world: &World, name: &str) -> Self {
        let mut own = Self::stranger(world, name).await;
        let answer = own.hello(machine()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        own
    }

    pub async fn post(&mut self, path: &str, body: &[u8]) -> Answer {
        let path = format!("/work/v1{path}{}run={}", if path.contains('?') { '&' } else { '?' }, self.run);
        self.http.ask("POST", &path, "application/json", body).await
    }

    pub async fn tell(&mut self, path: &str, what: &impl Serialize) -> Answer {
        self.post(path, &serde_json::to_vec(what).expect("plain data")).await
    }

    pub async fn hello(&mut self, machine: PlayingMachine) -> Answer {
        let hello = Hello { run: self.run.clone(), program: agon_replay::data::PROGRAM.into(), machine };
        self.tell("/hello", &hello).await
    }

    pub async fn lease(&mut self, most: usize) -> Granted {
        self.requests += 1;
        let request = format!("{}-{}", self.run, self.requests);
        read(&self.tell("/lease", &LeaseRequest { request, most, wait_ms: 0 }).await)
    }

    /// Leases one match and begins it.
    pub async fn one(&mut self) -> (i64, Job) {
        let granted = self.lease(1).await;
        let job = granted.jobs.into_iter().next().expect("there is work");
        assert!(read::<Yours>(&self.tell("/start", &job.attempt).await).yours);
        (granted.lease.expect("a lease"), job)
    }

    pub async fn result(&mut self, attempt: Try, whole: &Whole) -> Posted {
        let sent = sent(attempt, whole);
        read::<ReceivedAll>(&self.post("/results", &sent).await).posted[0]
    }
}

pub fn read<T: DeserializeOwned>(answer: &Answer) -> T {
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_slice(&answer.body).unwrap_or_else(|error| panic!("{error}: {}", answer.text()))
}

pub fn line(attempt: Try, whole: &Whole) -> Sent {
    Sent { attempt, observed: whole.observed.clone(), own: whole.own.clone() }
}

pub fn sent(attempt: Try, whole: &Whole) -> Vec<u8> {
    Sent::with_all(std::iter::once((&line(attempt, whole), &whole.replay[..]))).expect("plain data")
}

/// Plays a match honestly. Uploaded bots play like a built-in one.
pub fn play(world: &World, job: &Job) -> Whole {
    let bot = |program: &BotSource| match program {
        BotSource::Builtin(name) => BotName::parse(name).expect("a name"),
        BotSource::Source(_) => {
            let first = agon_games::all()[0].info().builtins[0].name;
            BotName::parse(&format!("builtin:{first}")).expect("a name")
        }
    };
    let bots: Vec<BotName> = job.seats.iter().map(|seat| bot(&seat.program)).collect();
    let played = world.server.table().play(job, &bots, &[0], &AtomicBool::new(false), &AtomicU32::new(0));
    match played.expect("begins") {
        MatchEnd::Whole(recorded) => recorded.shared_out(world.server.table()).expect("a replay"),
        other => panic!("{other:?}"),
    }
}

/// The alarms so far, the newest first.
pub async fn alarms(world: &World) -> Vec<String> {
    let events = world.server.store().events(1000).await.expect("read");
    events.into_iter().filter(|event| event.verb == "alarm").map(|event| event.detail).collect()
}

/// Everything is as it must be, even when every match is recomputed.
pub async fn clean(world: &World) {
    let (_, found) = status::fsck(world.folder.path(), true).await.expect("looked through");
    assert_eq!(found, Vec::<String>::new());
}
