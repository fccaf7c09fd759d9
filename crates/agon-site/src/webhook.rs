//! The organiser's webhook: a chat hears of what happens, in JSON that the usual ones take. Its address is a secret, and is told to nobody.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use agon_contest::config::WebhookAddress;
use agon_server::EndedTrial;
use agon_store::Time;
use tokio::sync::{Mutex, broadcast};
use ureq::http::header;
use ureq::{Agent, Error, Proxy};

use crate::outbox::Outbox;

/// The longest message, in characters: Discord takes no longer one.
const LONGEST: usize = 2_000;
const USER_AGENT: &str = concat!("agon/", env!("CARGO_PKG_VERSION"));

/// What is told, and what was heard of last.
pub struct Webhook {
    /// What waits, and what could not be sent.
    pub outbox: Arc<Outbox>,
    ended: std::sync::Mutex<broadcast::Receiver<EndedTrial>>,
    /// None on a server that does not look after the contest.
    pub(crate) heard: Mutex<Option<Heard>>,
}

/// What was known a moment ago, by the server that looks after the contest. What was there when it began is not told.
pub(crate) struct Heard {
    pub announced: Option<(Time, String, String)>,
    /// When it was last looked who leads.
    pub looked: Time,
    /// Who leads and was not told to, and since when.
    pub rising: Option<(String, Time)>,
}

impl Webhook {
    /// Nothing is heard yet; `ended` brings verdicts.
    pub fn new(ended: broadcast::Receiver<EndedTrial>) -> Self {
        // One after the other, so that they arrive in order.
        let outbox = Arc::new(Outbox::new("what happened", 1));
        Self { outbox, ended: std::sync::Mutex::new(ended), heard: Mutex::default() }
    }

    /// The trials that have ended since the last time.
    pub(crate) fn ended(&self) -> Vec<EndedTrial> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Vec::new();
        loop {
            match ended.try_recv() {
                Ok(one) => all.push(one),
                Err(broadcast::error::TryRecvError::Lagged(_)) => {}
                Err(_) => return all,
            }
        }
    }

    /// Sends messages, one after the other, some time after this returns.
    pub(crate) fn send(&self, to: &WebhookAddress, messages: Vec<String>, now: Time) {
        if !messages.is_empty() {
            let to = to.clone();
            let send = move |message: &String| post(&to, message, &HookPatience::default());
            self.outbox.later(now, async move { Ok(messages) }, send);
        }
    }
}

/// A message as chats take it: Slack and those like it read `text`, Discord reads `content`. It calls nobody, whatever names are in it.
pub(crate) fn message(news: &str, site: Option<&str>) -> String {
    let link = site.map_or_else(String::new, |site| format!("\n{site}/"));
    let room = LONGEST.saturating_sub(link.chars().count());
    let news: String = news.chars().take(room).collect();
    let content = format!("{news}{link}");
    let text = content.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    serde_json::json!({ "text": text, "content": content, "allowed_mentions": { "parse": [] } }).to_string()
}

/// How long a message is tried to be sent.
#[derive(Clone, Copy, Debug)]
pub struct HookPatience {
    /// For an answer.
    pub answer: Duration,
    /// Before the second and the third try.
    pub pauses: [Duration; 2],
    /// The longest pause that the other side may ask for.
    pub longest: Duration,
}

impl Default for HookPatience {
    fn default() -> Self {
        let [answer, first, second, longest] = [10, 2, 20, 120].map(Duration::from_secs);
        Self { answer, pauses: [first, second], longest }
    }
}

/// Sends a message.
///
/// # Errors
/// Why it could not be sent, without the address.
pub fn post(to: &WebhookAddress, body: &str, patience: &HookPatience) -> Result<(), String> {
    // A proxy is for distant servers, and would read an address that is not encrypted.
    let proxy = if to.0.starts_with("https:") { Proxy::try_from_env() } else { None };
    let config = Agent::config_builder().proxy(proxy).user_agent(USER_AGENT);
    let config = config.max_redirects(0).max_redirects_will_error(false).http_status_as_error(false);
    let agent = config.timeout_global(Some(patience.answer)).build().new_agent();
    let mut pauses = patience.pauses.iter();
    loop {
        let sent = agent.post(&to.0).header(header::CONTENT_TYPE, "application/json").send(body);
        let (why, asked) = match sent {
            Ok(answer) => match answer.status().as_u16() {
                200..300 => return Ok(()),
                300..400 => return Err("it redirects elsewhere, which is not followed".to_owned()),
                429 => {
                    let asked = answer.headers().get(header::RETRY_AFTER).and_then(|wait| wait.to_str().ok());
                    let asked = asked.and_then(|wait| wait.parse().ok()).map(Duration::from_secs);
                    ("it has had too many messages (status 429)".to_owned(), asked)
                }
                status @ 500.. => (format!("it answers with status {status}"), None),
                status => return Err(format!("it answers with status {status}")),
            },
            Err(error) => (unreached(&error, patience), None),
        };
        if let Some(asked) = asked.filter(|asked| *asked > patience.longest) {
            return Err(format!("{why} and wants none for {} s", asked.as_secs()));
        }
        let Some(pause) = pauses.next() else { return Err(format!("{why}, three times")) };
        std::thread::sleep(asked.unwrap_or(*pause));
    }
}

/// Why there was no answer, in words that have nothing of the address.
fn unreached(error: &Error, patience: &HookPatience) -> String {
    match error {
        Error::Timeout(_) => format!("no answer within {} s", patience.answer.as_secs_f64()),
        Error::HostNotFound => "no machine has its name".to_owned(),
        Error::Io(error) => format!("it cannot be reached: {}", error.kind()),
        Error::Rustls(_) | Error::Tls(_) => "its certificate cannot be trusted".to_owned(),
        _ => "it cannot be reached, or does not speak HTTP".to_owned(),
    }
}
