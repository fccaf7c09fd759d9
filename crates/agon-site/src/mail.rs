//! Mail that the site sends: a few messages at a time, in the background. What a visitor gets to see, and when, says nothing about whether
//! one was sent.

use std::future::Future;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use agon_server::mail::{MailAddress, MailMessage, PATIENCE, send};
use agon_store::{StoreError, Time};
use tokio::sync::{Semaphore, oneshot};

use crate::limits::{QUARTER, Windows, network};

/// How many programs run at once.
const AT_ONCE: usize = 2;
/// How many messages are under way or wait; more are not sent.
const WAITING: usize = 64;
/// Messages to one address in [`QUARTER`], whoever asks for them.
const PER_MAILBOX: u32 = 3;
/// Messages that one network asks for in [`QUARTER`]: a classroom of sixty shares one.
const PER_NETWORK: u32 = 120;

/// The mail under way, and what became of the last that could not be sent.
pub struct Mailer {
    places: Arc<Semaphore>,
    room: Semaphore,
    mailboxes: Windows<String>,
    networks: Windows<IpAddr>,
    failed: Mutex<Option<MailFailure>>,
}

/// Mail that could not be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailFailure {
    /// How many messages since the program was started.
    pub count: u64,
    /// When the last of them failed,
    pub at: Time,
    /// and why, without its address.
    pub why: String,
}

impl Default for Mailer {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(WAITING)),
            room: Semaphore::new(AT_ONCE),
            mailboxes: Windows::new(QUARTER),
            networks: Windows::new(QUARTER),
            failed: Mutex::default(),
        }
    }
}

impl Mailer {
    /// Counts a message that somebody asks for, whether it will be sent or not.
    ///
    /// # Errors
    /// When there is room again.
    pub fn count(&self, to: &MailAddress, from: IpAddr, now: Time) -> Result<(), Time> {
        self.networks.count(network(from), PER_NETWORK, now)?;
        self.mailboxes.count(to.as_str().to_ascii_lowercase(), PER_MAILBOX, now)
    }

    /// The mail that could not be sent; none if all was.
    pub fn failed(&self) -> Option<MailFailure> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fail(&self, why: &str, at: Time) {
        tracing::warn!("mail could not be sent: {why}");
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let count = failed.as_ref().map_or(0, |failed| failed.count) + 1;
        *failed = Some(MailFailure { count, at, why: why.to_owned() });
    }
}

/// Sends what `make` makes by this program, some time after this returns. `now` is when it was asked for.
pub fn later(
    mailer: &Arc<Mailer>,
    program: &[String],
    now: Time,
    make: impl Future<Output = Result<Vec<MailMessage>, StoreError>> + Send + 'static,
) {
    let Ok(place) = mailer.places.clone().try_acquire_owned() else {
        mailer.fail(&format!("{WAITING} messages are waiting already"), now);
        return;
    };
    let (mailer, program) = (mailer.clone(), program.to_vec());
    tokio::spawn(async move {
        let _place = place;
        match make.await {
            Ok(messages) => {
                for message in messages {
                    if let Err(why) = sent(&mailer, program.clone(), message).await {
                        mailer.fail(&why, now);
                    }
                }
            }
            Err(error) => mailer.fail(&error.to_string(), now),
        }
    });
}

async fn sent(mailer: &Mailer, program: Vec<String>, message: MailMessage) -> Result<(), String> {
    let _room = mailer.room.acquire().await.map_err(|_| "the site is closing".to_owned())?;
    let (tell, told) = oneshot::channel();
    // A thread of its own: a server that ends does not wait for it.
    let run = move || drop(tell.send(send(&program, &message, PATIENCE)));
    std::thread::Builder::new().name("mail".to_owned()).spawn(run).map_err(|error| error.to_string())?;
    told.await.unwrap_or_else(|_| Err("the thread that sends it has ended".to_owned()))
}
