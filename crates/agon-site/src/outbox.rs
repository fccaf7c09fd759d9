//! What a site sends in the background, a few at a time: mail, and what its webhook is told.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use agon_store::{StoreError, Time};
use tokio::sync::{Semaphore, oneshot};

/// How many messages are under way or wait; more are not sent.
const WAITING: usize = 64;

/// The messages under way, and what became of the last that could not be sent.
pub struct Outbox {
    what: &'static str,
    places: Arc<Semaphore>,
    room: Semaphore,
    failed: Mutex<Option<SendFailure>>,
}

/// Messages that could not be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendFailure {
    /// How many since the program was started.
    pub count: u64,
    /// When the last of them failed,
    pub at: Time,
    /// and why, without its address.
    pub why: String,
}

impl Outbox {
    /// Nothing waits. `what` is sent, this many at once.
    pub fn new(what: &'static str, at_once: usize) -> Self {
        let (places, room) = (Arc::new(Semaphore::new(WAITING)), Semaphore::new(at_once));
        Self { what, places, room, failed: Mutex::default() }
    }

    /// The messages that could not be sent; none if all were.
    pub fn failed(&self) -> Option<SendFailure> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fail(&self, why: &str, at: Time) {
        tracing::warn!("{} could not be sent: {why}", self.what);
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let count = failed.as_ref().map_or(0, |failed| failed.count) + 1;
        *failed = Some(SendFailure { count, at, why: why.to_owned() });
    }

    /// Sends what `make` makes, one after the other, some time after this returns. `now` is when it was asked for.
    pub fn later<M: Send + 'static>(
        self: &Arc<Self>,
        now: Time,
        make: impl Future<Output = Result<Vec<M>, StoreError>> + Send + 'static,
        send: impl Fn(&M) -> Result<(), String> + Clone + Send + 'static,
    ) {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            self.fail(&format!("{WAITING} messages are waiting already"), now);
            return;
        };
        let own = self.clone();
        tokio::spawn(async move {
            let _place = place;
            match make.await {
                Ok(messages) => {
                    for message in messages {
                        let send = send.clone();
                        if let Err(why) = own.sent(move || send(&message)).await {
                            own.fail(&why, now);
                        }
                    }
                }
                Err(error) => own.fail(&error.to_string(), now),
            }
        });
    }

    async fn sent(&self, send: impl FnOnce() -> Result<(), String> + Send + 'static) -> Result<(), String> {
        let _room = self.room.acquire().await.map_err(|_| "the site is closing".to_owned())?;
        let (tell, told) = oneshot::channel();
        // A thread of its own: a server that ends does not wait for it.
        let run = move || drop(tell.send(send()));
        std::thread::Builder::new()
            .name("outbox".to_owned())
            .spawn(run)
            .map_err(|error| error.to_string())?;
        told.await.unwrap_or_else(|_| Err("the thread that sends it has ended".to_owned()))
    }
}
