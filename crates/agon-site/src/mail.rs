//! Mail that the site sends: a few messages at a time, in the background. What a visitor gets to see, and when, says nothing about whether
//! one was sent.

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;

use agon_server::mail::{MailAddress, MailMessage, PATIENCE, send};
use agon_store::{StoreError, Time};

use crate::limits::{QUARTER, Windows, network};
use crate::outbox::Outbox;

/// How many programs run at once.
const AT_ONCE: usize = 2;
/// Messages to one address in [`QUARTER`], whoever asks for them.
const PER_MAILBOX: u32 = 3;
/// Messages that one network asks for in [`QUARTER`]: a classroom of sixty shares one.
const PER_NETWORK: u32 = 120;

/// The mail under way, and who has asked for how much.
pub struct Mailer {
    /// What waits, and what could not be sent.
    pub outbox: Arc<Outbox>,
    mailboxes: Windows<String>,
    networks: Windows<IpAddr>,
}

impl Default for Mailer {
    fn default() -> Self {
        Self {
            outbox: Arc::new(Outbox::new("mail", AT_ONCE)),
            mailboxes: Windows::new(QUARTER),
            networks: Windows::new(QUARTER),
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
}

/// Sends what `make` makes by this program, some time after this returns. `now` is when it was asked for.
pub fn later(
    mailer: &Arc<Mailer>,
    program: &[String],
    now: Time,
    make: impl Future<Output = Result<Vec<MailMessage>, StoreError>> + Send + 'static,
) {
    let program = program.to_vec();
    mailer.outbox.later(now, make, move |message| send(&program, message, PATIENCE));
}
