//! What the organiser decides and may change while a contest runs. It is in the database, so that it holds on every server at once.

use agon_api::contest::SignUpWord;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AccountId, Time};

/// The settings of a contest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContestSettings {
    /// The contest's name.
    pub title: String,
    /// The time zone in which times are read and shown.
    pub time_zone: String,
    /// When uploads open; none: from the start.
    pub opens: Option<Time>,
    /// When uploads close; none: as long as the contest runs.
    pub closes: Option<Time>,
    /// Whether the organiser closed them by hand. Then they are closed whatever a server's clock shows.
    pub frozen: bool,
    /// The most people in one team.
    pub team_size: u8,
    /// Who may sign up; none if the organiser has not said yet, which means nobody.
    pub sign_up: Option<SignUpWord>,
    /// Wrong passwords for one account from one network in a quarter of an hour.
    pub wrong_passwords: u32,
    /// Whoever hands in has confirmed a mail address of one of these domains; of any, if there are none.
    pub mail_domains: Vec<String>,
    /// The bots inside the program that stand on the ladder, as `builtin:NAME`.
    pub bosses: Vec<String>,
    /// The number of rated matches a version plays.
    pub matches: u32,
    /// How many challenges and drafts together a team may ask for within an hour.
    pub asked_an_hour: u32,
    /// Pages say how certain it is who the best this many are.
    pub decide_top: usize,
    /// The lowest level of the sandbox at which bots are played: `A` to `D`; none until somebody says.
    pub level: Option<String>,
    /// Whether bots are also played where they cannot be confined.
    pub trust_bots: bool,
    /// The memory of each bot, in MiB; none: the usual.
    pub memory: Option<u64>,
    /// The image, by its hash, that bots run in; none: each machine makes its own.
    pub image: Option<String>,
    /// Since when that is so; none: from the start.
    pub image_since: Option<Time>,
    /// The speed of a machine that plays; none: that of the first.
    pub speed: Option<f64>,
    /// How many per cent slower or faster another may be.
    pub tolerance: f64,
}

impl Default for ContestSettings {
    fn default() -> Self {
        Self {
            title: String::new(),
            time_zone: "UTC".to_owned(),
            opens: None,
            closes: None,
            frozen: false,
            team_size: 1,
            sign_up: None,
            wrong_passwords: 10,
            mail_domains: Vec::new(),
            bosses: Vec::new(),
            matches: 400,
            asked_an_hour: 60,
            decide_top: 3,
            level: None,
            trust_bots: false,
            memory: None,
            image: None,
            image_since: None,
            speed: None,
            tolerance: 20.0,
        }
    }
}

/// Whether anything may be handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uploads {
    Open,
    /// Not before this time.
    From(Time),
    /// They closed at this time.
    Closed(Time),
}

impl ContestSettings {
    /// Whether what arrives at this time may be handed in.
    pub fn uploads(&self, now: Time) -> Uploads {
        match (self.opens, self.closes) {
            (_, Some(closes)) if self.frozen => Uploads::Closed(closes),
            (Some(opens), _) if now < opens => Uploads::From(opens),
            (_, Some(closes)) if now >= closes => Uploads::Closed(closes),
            _ => Uploads::Open,
        }
    }

    /// Whether somebody with this mail address may take part: its domain is one of those named, and not part of one.
    pub fn takes_mail(&self, mail: &str) -> bool {
        let domain = mail.rsplit_once('@').map_or("", |(_, domain)| domain);
        self.mail_domains.is_empty() || self.mail_domains.iter().any(|one| one.eq_ignore_ascii_case(domain))
    }

    /// What a machine that plays must know and be like.
    pub(crate) fn conditions(&self) -> impl PartialEq + use<> {
        let (level, speed) = (self.level.clone(), self.speed);
        (self.image.clone(), self.memory, level, self.trust_bots, speed, self.tolerance)
    }

    /// What differs in `after`: each key with its value before and after.
    pub fn differences(&self, after: &Self) -> Vec<SettingChange> {
        let values = |settings: &Self| match serde_json::to_value(settings) {
            Ok(Value::Object(values)) => values,
            _ => serde_json::Map::new(),
        };
        let (mut before, after) = (values(self), values(after));
        let change = |(key, after): (String, Value)| {
            let before = before.remove(&key).unwrap_or_default();
            (before != after).then_some(SettingChange { key, before, after })
        };
        after.into_iter().filter_map(change).collect()
    }
}

/// A setting before and after it was changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingChange {
    pub key: String,
    pub before: Value,
    pub after: Value,
}

/// A row of the log: settings that the organiser changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangedSettings {
    /// Its place in the log, from 1.
    pub seq: i64,
    pub settings: Vec<SettingChange>,
    /// The account of who did it; none: somebody at the command line of a server. Never a name, which may have to be forgotten.
    pub by: Option<AccountId>,
    /// When.
    pub at: Time,
}

/// A server of a contest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContestServerRow {
    pub name: String,
    /// When it was last heard of.
    pub seen: Time,
    /// The settings in its file, as JSON.
    pub file: String,
}
