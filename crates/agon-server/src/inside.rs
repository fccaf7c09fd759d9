//! The server's own worker: it calls the same functions as one on another machine, without a wire.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agon_store::{Time, WorkerId};
use agon_worker::{Away, Granted, Hall, Nothing, Posted, Try, Whole};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::{ContestServer, ServerError};

/// The name of the server's own worker. Where several servers share a database, each has one.
pub fn name(server: Option<String>) -> String {
    match server {
        None => "inside".to_owned(),
        Some(server) => format!("inside {server}").chars().take(60).collect(),
    }
}

/// A server as its own worker sees it. Its threads do not belong to the runtime.
pub struct Inside<'a> {
    server: &'a ContestServer,
    runtime: Handle,
    worker: WorkerId,
    clock: &'a (dyn Fn() -> Time + Sync),
    done: Mutex<watch::Receiver<()>>,
    /// The last error reported.
    told: Mutex<Option<String>>,
}

impl<'a> Inside<'a> {
    /// Makes it for the worker with this number.
    pub fn new(
        server: &'a ContestServer,
        runtime: Handle,
        worker: WorkerId,
        clock: &'a (dyn Fn() -> Time + Sync),
    ) -> Self {
        Self { server, runtime, worker, clock, done: Mutex::new(server.done()), told: Mutex::default() }
    }

    fn now(&self) -> Time {
        (self.clock)()
    }

    /// The server's answer. On an error the worker asks again, and keeps what it has; the log reports each new error once.
    fn ask<T>(&self, answer: impl Future<Output = Result<T, ServerError>>) -> Result<T, Away> {
        self.runtime.block_on(answer).map_err(|error| self.away(error))
    }

    fn away(&self, error: ServerError) -> Away {
        let error = error.to_string();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.as_ref() != Some(&error) {
            tracing::warn!("the worker here: {error}; it is tried again");
            *told = Some(error.clone());
        }
        Away(error)
    }
}

impl Hall for Inside<'_> {
    fn lease(&self, request: &str, most: usize) -> Result<Granted, Away> {
        // The answer may miss whatever happens from here on.
        self.done.lock().unwrap_or_else(PoisonError::into_inner).borrow_and_update();
        self.ask(self.server.lease(self.worker, request, most, self.now()))
    }

    fn rest(&self, longest: Duration) -> bool {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = self.runtime.block_on(async { tokio::time::timeout(longest, done.changed()).await });
        changed.is_ok_and(|told| told.is_ok())
    }

    fn start(&self, attempt: Try) -> Result<bool, Away> {
        self.ask(self.server.start(self.worker, attempt, self.now()))
    }

    fn tell(&self, attempt: Try, piece: u64, chunks: &[u8]) -> Result<Option<u64>, Away> {
        self.ask(self.server.tell(self.worker, attempt, piece, chunks, self.now()))
    }

    fn beat(&self, lease: i64, _playing: &[(Try, u32)]) -> Result<bool, Away> {
        self.ask(self.server.beat(self.worker, lease, self.now()))
    }

    fn building(&self, attempt: Try) -> Result<bool, Away> {
        self.ask(self.server.building(self.worker, attempt, self.now()))
    }

    fn built(&self, attempt: Try, log: &[u8]) -> Result<(), Away> {
        self.ask(self.server.built(self.worker, attempt, log, self.now()))
    }

    fn post(&self, over: &[(Try, Whole)]) -> Result<Vec<Posted>, Away> {
        let over: Vec<_> = over
            .iter()
            .map(|(attempt, whole)| (*attempt, (&whole.observed, &whole.replay[..], &whole.own[..])))
            .collect();
        let posted = self.ask(self.server.post_all(self.worker, &over, self.now()))?;
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(posted)
    }

    fn void(&self, attempt: Try, nothing: &Nothing) -> Result<(), Away> {
        self.ask(self.server.void(self.worker, attempt, nothing, self.now()))
    }

    fn abort(&self, lease: i64) -> Result<(), Away> {
        self.ask(self.server.abort(self.worker, lease, self.now()))
    }

    fn fetch(&self, sha: &str) -> Result<Vec<u8>, Away> {
        self.ask(self.server.fetch(sha))
    }

    fn unneeded(&self, unpacked: &[String]) -> Result<Vec<String>, Away> {
        self.ask(self.server.unneeded(unpacked))
    }
}
