//! The settings of a contest, by their keys: as a contest's file founds it with them, as `agon serve set` and the organiser's form change
//! them, and as they are told. All of them have the same checks and the same words.
//!
//! Longer than 500 lines: one table of keys, with what is checked of each.

use std::collections::BTreeMap;
use std::path::Path;

use agon_bot::image::Images;
use agon_bot::manifest::check_memory;
use agon_contest::ContestFile;
use agon_contest::config::{Date, SignUpWord, nearest};
use agon_store::acts::asked::MOST_ASKED;
use agon_store::acts::{ChangeSettings, SettingsReply};
use agon_store::{AccountId, ContestSettings, ContestStore, Store, StoreError, Time};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::ServerError;
use crate::mail::is_host;

/// The most members of a team, whatever the organiser says.
pub const LARGEST_TEAM: u8 = 20;

macro_rules! keys {
    ($($(#[$about:meta])* $key:ident = $word:literal in $section:literal, $means:literal;)*) => {
        /// A setting that an organiser can change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum SettingKey { $($(#[$about])* $key,)* }

        impl SettingKey {
            /// All of them. What others depend on comes first: dates are in the time zone.
            pub const ALL: &[Self] = &[$(Self::$key,)*];

            /// Its name in files, and for `agon serve set`.
            pub fn word(self) -> &'static str {
                match self { $(Self::$key => $word,)* }
            }

            /// The section of the file that it is in; empty for none.
            pub fn section(self) -> &'static str {
                match self { $(Self::$key => $section,)* }
            }

            /// What it means, in a line.
            pub fn means(self) -> &'static str {
                match self { $(Self::$key => $means,)* }
            }
        }
    };
}

keys! {
    Title = "title" in "site", "the contest's name";
    TimeZone = "time_zone" in "site", "the time zone of all dates: Europe/Vienna, UTC";
    Opens = "opens" in "site", "when uploads open: 2026-12-01T09:00; nothing: from the start";
    Closes = "closes" in "site", "when uploads close; nothing: never";
    TeamSize = "team_size" in "site", "the most members of a team, from 1 to 20";
    SignUp = "sign_up" in "site", "who may sign up: open, invite (with a code), closed";
    WrongPasswords = "wrong_passwords" in "site", "wrong passwords for one account from one network in a quarter of an hour";
    MailDomains = "mail_domains" in "site", "whoever hands in has confirmed a mail address of one of these: school.example,uni.example; nothing: of any, or of none";
    Bosses = "bosses" in "site", "the built-in bots on the ladder: builtin:NAME,builtin:NAME";
    Matches = "matches" in "ladder", "rated matches that a version plays";
    AskedAnHour = "asked_an_hour" in "site", "challenges and drafts, runs of the workbench among them, that a team may ask for within an hour";
    DecideTop = "decide_top" in "", "pages say how certain it is who the best this many are";
    TrustBots = "trust_bots" in "sandbox", "true: bots are also played where they cannot be confined";
    Level = "level" in "sandbox", "the lowest level of the sandbox for rated matches: A, or B where CPU time is only sampled";
    Memory = "memory" in "sandbox", "the memory of each bot, in megabytes; nothing: the usual";
    Image = "image" in "sandbox", "the image that bots run in, by its whole name; nothing: each machine makes its own";
    Speed = "speed" in "workers", "the speed of a machine that plays; nothing: that of the first";
    Tolerance = "tolerance" in "workers", "how many per cent slower or faster another may be";
}

impl SettingKey {
    /// The key of this name.
    ///
    /// # Errors
    /// There is none: a sentence with the nearest one, or with all.
    pub fn of(word: &str) -> Result<Self, String> {
        if let Some(key) = Self::ALL.iter().copied().find(|key| key.word() == word) {
            return Ok(key);
        }
        let words = || Self::ALL.iter().map(|key| key.word());
        let all: Vec<&str> = words().collect();
        Err(match nearest(word, words()) {
            Some(near) => format!("`{word}` is not a setting; did you mean `{near}`?"),
            None => format!("`{word}` is not a setting; there are {}", all.join(", ")),
        })
    }

    /// Its value as it is written; empty for none.
    pub fn told(self, settings: &ContestSettings) -> String {
        let date = |at: Option<Time>| {
            let zone = zone(&settings.time_zone).unwrap_or(TimeZone::UTC);
            at.map_or_else(String::new, |at| civil(at, &zone))
        };
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        match self {
            Self::Title => settings.title.clone(),
            Self::TimeZone => settings.time_zone.clone(),
            Self::Opens => date(settings.opens),
            Self::Closes => date(settings.closes),
            Self::TeamSize => settings.team_size.to_string(),
            Self::SignUp => settings.sign_up.map_or("", SignUpWord::word).to_owned(),
            Self::WrongPasswords => settings.wrong_passwords.to_string(),
            Self::MailDomains => settings.mail_domains.join(","),
            Self::Bosses => settings.bosses.join(","),
            Self::Matches => settings.matches.to_string(),
            Self::AskedAnHour => settings.asked_an_hour.to_string(),
            Self::DecideTop => settings.decide_top.to_string(),
            Self::TrustBots => settings.trust_bots.to_string(),
            Self::Level => settings.level.clone().unwrap_or_default(),
            Self::Memory => settings.memory.map_or_else(String::new, |memory| memory.to_string()),
            Self::Image => settings.image.clone().unwrap_or_default(),
            Self::Speed => number(settings.speed),
            Self::Tolerance => number(Some(settings.tolerance)),
        }
    }

    /// Sets it to what somebody has written.
    fn put(self, settings: &mut ContestSettings, text: &str, game: &str) -> Result<(), String> {
        fn number<T: std::str::FromStr + PartialOrd>(
            text: &str,
            of: std::ops::RangeInclusive<T>,
        ) -> Option<T> {
            text.parse().ok().filter(|number| of.contains(number))
        }
        let text = text.trim();
        let date = |label: &str| -> Result<Option<Time>, String> {
            let zone = zone(&settings.time_zone)?;
            match text {
                "" => Ok(None),
                text => moment(text, &zone).map(Some).map_err(|why| format!("{label}: {why}.")),
            }
        };
        match self {
            Self::Title => {
                if text.is_empty() || text.chars().count() > 60 || text.chars().any(char::is_control) {
                    return Err("Name: 1 to 60 characters.".to_owned());
                }
                text.clone_into(&mut settings.title);
            }
            Self::TimeZone => {
                zone(text).map_err(|why| format!("Time zone: {why}."))?;
                text.clone_into(&mut settings.time_zone);
            }
            Self::Opens => settings.opens = date("Opens")?,
            Self::Closes => (settings.closes, settings.frozen) = (date("Uploads close")?, false),
            Self::TeamSize => {
                let size = number(text, 1..=LARGEST_TEAM);
                settings.team_size =
                    size.ok_or_else(|| format!("Team size: a number from 1 to {LARGEST_TEAM}."))?;
            }
            Self::SignUp => {
                let word = SignUpWord::of(text).map_err(|_| "Sign-up: open, with a code, or closed.")?;
                settings.sign_up = Some(word);
            }
            Self::WrongPasswords => {
                let wrong = number(text, 3..=1_000).ok_or("Wrong passwords: a number from 3 to 1000.")?;
                settings.wrong_passwords = wrong;
            }
            Self::MailDomains => settings.mail_domains = domains(text.split(','))?,
            Self::Bosses => settings.bosses = bosses(text, game)?,
            Self::Matches => {
                let matches =
                    number(text, 1..=1_000_000).ok_or("Rated matches: a number from 1 to 1000000.")?;
                settings.matches = matches;
            }
            Self::AskedAnHour => {
                let asked = number(text, 1..=MOST_ASKED);
                settings.asked_an_hour = asked
                    .ok_or_else(|| format!("Drafts and challenges: a number from 1 to {MOST_ASKED}."))?;
            }
            Self::DecideTop => {
                let best = number(text, 1..=1_000).ok_or("Best bots to decide: a number from 1 to 1000.")?;
                settings.decide_top = best;
            }
            Self::TrustBots => {
                settings.trust_bots =
                    text.parse().map_err(|_| "Trusting all bots: true or false.".to_owned())?;
            }
            Self::Level => match text {
                "A" | "B" => settings.level = Some(text.to_owned()),
                "C" | "D" if settings.trust_bots => settings.level = Some(text.to_owned()),
                _ => return Err("Rated matches: at level A, or at level B too.".to_owned()),
            },
            Self::Memory => {
                settings.memory = match text {
                    "" => None,
                    text => {
                        let memory = text.parse().unwrap_or(0);
                        check_memory(memory).map_err(|why| format!("Memory: {why}."))?;
                        Some(memory)
                    }
                }
            }
            Self::Image => {
                settings.image = match text {
                    "" => None,
                    text => {
                        // Machines fetch it from here.
                        Images::own().keep(text).map_err(|error| format!("Image: {error}."))?;
                        Some(text.to_owned())
                    }
                }
            }
            Self::Speed => {
                settings.speed =
                    match text {
                        "" => None,
                        text => Some(number(text, f64::MIN_POSITIVE..=1e12).ok_or(
                            "Speed: a number above 0, as `agon work` and /api/v1/contest report it.",
                        )?),
                    }
            }
            Self::Tolerance => {
                let tolerance = number(text, 1.0..=90.0).ok_or("Tolerance: per cent, from 1 to 90.")?;
                settings.tolerance = tolerance;
            }
        }
        Ok(())
    }
}

/// The settings with these changed.
///
/// # Errors
/// A sentence that says what is wrong with one of them.
pub fn changed(
    before: &ContestSettings,
    wanted: &[(SettingKey, &str)],
    game: &str,
) -> Result<ContestSettings, String> {
    let mut after = before.clone();
    let mut wanted: BTreeMap<SettingKey, String> =
        wanted.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
    if wanted.get(&SettingKey::TimeZone).is_some_and(|zone| *zone != before.time_zone) {
        // Dates are what the clocks of the contest's place show, there and then.
        for key in [SettingKey::Opens, SettingKey::Closes] {
            let is_frozen = key == SettingKey::Closes && before.frozen;
            if !is_frozen && !wanted.contains_key(&key) {
                wanted.insert(key, key.told(before));
            }
        }
    }
    for (key, text) in &wanted {
        key.put(&mut after, text, game)?;
    }
    let closes_early = after.opens.zip(after.closes).is_some_and(|(opens, closes)| closes <= opens);
    if closes_early && (after.opens, after.closes) != (before.opens, before.closes) {
        return Err("Uploads close: that is before the contest opens.".to_owned());
    }
    Ok(after)
}

/// What differs between two, in words: `team_size 1 → 2; closes none → 2026-12-05T18:00:00`.
pub fn told_change(before: &ContestSettings, after: &ContestSettings) -> String {
    let value = |key: SettingKey, settings| match key.told(settings) {
        text if text.is_empty() => "none".to_owned(),
        text if key == SettingKey::Image => text.chars().take(12).collect(),
        text => text,
    };
    let differs = |key: &&SettingKey| key.told(before) != key.told(after);
    let told = SettingKey::ALL.iter().filter(differs);
    let told = told.map(|key| format!("{} {} → {}", key.word(), value(*key, before), value(*key, after)));
    told.collect::<Vec<_>>().join("; ")
}

/// Who changes settings.
#[derive(Clone, Copy, Debug)]
pub struct SettingsBy<'a> {
    pub actor: &'a str,
    /// None at the command line of a server.
    pub account: Option<AccountId>,
}

impl SettingsBy<'static> {
    /// Whoever has the contest's folder.
    pub const COMMAND: Self = Self { actor: "organiser", account: None };
}

/// How often a change is tried that others overtake.
const TRIES: usize = 20;

/// Changes settings, as `make` makes them of those that hold. Returns them before and after. From then on they hold on every server.
///
/// # Errors
/// What `make` says, and errors of the store.
pub async fn change(
    store: &ContestStore,
    who: SettingsBy<'_>,
    make: impl Fn(&ContestSettings) -> Result<ContestSettings, String>,
    now: Time,
) -> Result<(ContestSettings, ContestSettings), ServerError> {
    for _ in 0..TRIES {
        let before = store.now().await?.settings.unwrap_or_default();
        let after = make(&before).map_err(ServerError::Wrong)?;
        let said = match !before.frozen && after.frozen {
            true => ["freeze", "uploads", ""].map(str::to_owned),
            false => ["set".to_owned(), "settings".to_owned(), told_change(&before, &after)],
        };
        let act = ChangeSettings {
            contest: store.id(),
            before: before.clone(),
            after,
            said,
            by: who.account,
            actor: who.actor.to_owned(),
            built_ins: agon_contest::content::BUILT_INS,
            now,
        };
        match store.act(act).await? {
            SettingsReply::Changed(after) => return Ok((before, *after)),
            SettingsReply::Same => return Ok((before.clone(), before)),
            SettingsReply::Overtaken => {}
        }
    }
    Err(StoreError::Damaged("the settings changed each time they were to be changed".to_owned()).into())
}

/// The settings that hold in the contest of a folder for a server that is about to begin; none where it has to be founded yet, or a program
/// before this one founded it. `name` is its title, where its database has several.
///
/// Until somebody comes (an account, a team) or a setting is changed by an act, the contest's file still founds it: a file that was edited
/// after a first look is taken in, as a row of the log. Only where the contest has one server, which is this one: the files of several may
/// differ.
///
/// # Errors
/// When its database cannot be opened, or the image that the file names is not here.
pub async fn founded(
    folder: &Path,
    name: &str,
    file: &FileSettings,
    now: Time,
) -> Result<Option<ContestSettings>, ServerError> {
    if !agon_store::is_there(folder) {
        return Ok(None);
    }
    let store = Store::open(folder).await?;
    let held = match store.named(name).await? {
        Some(own) => founded_by(&own, file, now).await?,
        None => None,
    };
    store.close().await;
    Ok(held)
}

async fn founded_by(
    own: &ContestStore,
    file: &FileSettings,
    now: Time,
) -> Result<Option<ContestSettings>, ServerError> {
    let Some(held) = own.now().await?.settings else { return Ok(None) };
    // At which level matches are rated may have been asked.
    let level = file.settings.level.clone().or_else(|| held.level.clone());
    let wanted = ContestSettings { level, image_since: held.image_since, ..file.settings.clone() };
    if wanted == held || own.is_shared() || !own.is_being_founded().await? {
        return Ok(Some(held));
    }
    if let Some(image) = wanted.image.as_ref().filter(|image| held.image.as_ref() != Some(image)) {
        let why = |error| ServerError::Wrong(format!("contest.toml, [sandbox] image: {error}"));
        Images::own().keep(image).map_err(why)?;
    }
    let by = SettingsBy { actor: agon_store::FOUNDER, account: None };
    Ok(Some(change(own, by, |_| Ok(wanted.clone()), now).await?.1))
}

/// Closes uploads at once.
///
/// # Errors
/// Those of [`change`].
pub async fn freeze(store: &ContestStore, who: SettingsBy<'_>, now: Time) -> Result<(), ServerError> {
    let frozen =
        |before: &ContestSettings| Ok(ContestSettings { closes: Some(now), frozen: true, ..before.clone() });
    change(store, who, frozen, now).await.map(drop)
}

/// What a contest's file says of its settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileSettings {
    /// All of them: what the file does not name is as usual.
    pub settings: ContestSettings,
    /// Those that it names.
    pub named: Vec<SettingKey>,
}

/// A setting for which a file says something else than what holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDifference {
    pub key: SettingKey,
    /// In the file.
    pub says: String,
    pub holds: String,
}

impl FileSettings {
    /// What a file says; `usual` is the contest's name if it gives none.
    ///
    /// # Errors
    /// A message that points into it.
    pub fn of(file: &ContestFile, usual: String) -> Result<Self, String> {
        let (site, sandbox, workers) = (&file.site, &file.sandbox, file.workers);
        let wrong = |key: &str, why: &str| file.wrong(key, why);
        let time_zone = site.time_zone.clone().unwrap_or_else(|| "UTC".to_owned());
        let zone = zone(&time_zone).map_err(|why| wrong("time_zone", &why))?;
        let date = |key: &str, date: &Option<Date>| -> Result<Option<Time>, String> {
            let Some(text) = date else { return Ok(None) };
            moment(&text.to_string(), &zone).map(Some).map_err(|why| wrong(key, &why))
        };
        let (opens, closes) = (date("opens", &site.opens)?, date("closes", &site.closes)?);
        if opens.zip(closes).is_some_and(|(opens, closes)| closes <= opens) {
            return Err(wrong("closes", "it closes before it opens"));
        }
        let usually = ContestSettings::default();
        let team_size = site.team_size.unwrap_or(usually.team_size);
        if !(1..=LARGEST_TEAM).contains(&team_size) {
            return Err(wrong("team_size", &format!("a team has 1 to {LARGEST_TEAM} members")));
        }
        let wrong_passwords = site.wrong_passwords.unwrap_or(usually.wrong_passwords);
        if !(3..=1_000).contains(&wrong_passwords) {
            return Err(wrong("wrong_passwords", "a number from 3 to 1000"));
        }
        let asked_an_hour = site.asked_an_hour.unwrap_or(usually.asked_an_hour);
        if !(1..=MOST_ASKED).contains(&asked_an_hour) {
            return Err(wrong("asked_an_hour", &format!("a number from 1 to {MOST_ASKED}")));
        }
        let mail_domains = domains(site.mail_domains.iter().map(String::as_str));
        let mail_domains = mail_domains.map_err(|why| wrong("mail_domains", &why))?;
        if site.mail.is_empty() && !mail_domains.is_empty() {
            return Err(wrong(
                "mail_domains",
                "nobody can confirm an address here: `mail` names the program that sends mail",
            ));
        }
        if workers.speed.is_some_and(|speed| !speed.is_finite() || speed <= 0.0) {
            return Err(wrong(
                "workers",
                "speed: a number above 0, as `agon work` and /api/v1/contest report it",
            ));
        }
        if !(1.0..=90.0).contains(&workers.tolerance) {
            return Err(wrong("workers", "tolerance: per cent, from 1 to 90"));
        }
        let builtins =
            || agon_worker::builtins(&file.game).iter().map(|name| format!("builtin:{name}")).collect();
        let settings = ContestSettings {
            title: site.title.clone().unwrap_or(usual),
            time_zone,
            opens,
            closes,
            frozen: false,
            team_size,
            sign_up: site.sign_up,
            wrong_passwords,
            mail_domains,
            bosses: site.bosses.clone().unwrap_or_else(builtins),
            matches: file.ladder.matches,
            asked_an_hour,
            decide_top: file.decide_top.unwrap_or(usually.decide_top),
            level: sandbox.level.map(|level| level.to_string()),
            trust_bots: sandbox.trust_bots,
            memory: sandbox.memory.map(|bytes| bytes >> 20),
            image: sandbox.image.clone(),
            image_since: None,
            speed: workers.speed,
            tolerance: workers.tolerance,
        };
        let named = SettingKey::ALL.iter().copied();
        let named = named.filter(|key| file.names(key.section(), key.word())).collect();
        Ok(Self { settings, named })
    }

    /// What it says of each setting that it names, with dates as the contest gives them: JSON for whoever compares servers.
    pub(crate) fn published(&self, held: &ContestSettings) -> String {
        crate::json(&self.said(held).map(|(key, says)| (key.word(), says)).collect::<BTreeMap<_, _>>())
    }

    fn said(&self, held: &ContestSettings) -> impl Iterator<Item = (SettingKey, String)> {
        let own = ContestSettings { time_zone: held.time_zone.clone(), ..self.settings.clone() };
        self.named.iter().map(move |key| match key {
            SettingKey::TimeZone => (*key, key.told(&self.settings)),
            key => (*key, key.told(&own)),
        })
    }

    /// Where it says something else than what holds.
    pub fn differences(&self, held: &ContestSettings) -> Vec<FileDifference> {
        differences(self.said(held), held)
    }
}

/// Where a file that another server has published says something else than what holds.
pub fn differences_of(published: &str, held: &ContestSettings) -> Vec<FileDifference> {
    let said: BTreeMap<String, String> = serde_json::from_str(published).unwrap_or_default();
    let known = said.into_iter().filter_map(|(word, says)| Some((SettingKey::of(&word).ok()?, says)));
    let in_order: BTreeMap<SettingKey, String> = known.collect();
    differences(in_order.into_iter(), held)
}

fn differences(
    said: impl Iterator<Item = (SettingKey, String)>,
    held: &ContestSettings,
) -> Vec<FileDifference> {
    let differs = |(key, says): (SettingKey, String)| {
        let holds = key.told(held);
        (says != holds).then_some(FileDifference { key, says, holds })
    };
    said.filter_map(differs).collect()
}

/// The most domains of mail addresses that a contest names.
const MOST_DOMAINS: usize = 20;

/// The domains that somebody names for mail addresses, in small letters.
fn domains<'a>(names: impl Iterator<Item = &'a str>) -> Result<Vec<String>, String> {
    let names: Vec<String> =
        names.map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty()).collect();
    if names.len() > MOST_DOMAINS {
        return Err(format!("Mail domains: {MOST_DOMAINS} at most."));
    }
    match names.iter().find(|name| !is_host(name)) {
        Some(wrong) => {
            Err(format!("Mail domains: `{wrong}` is not a domain; write them like school.example."))
        }
        None => Ok(names),
    }
}

/// The bots inside the program that somebody names for the ladder.
fn bosses(text: &str, game: &str) -> Result<Vec<String>, String> {
    let known = agon_worker::builtins(game);
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let boss = |name: &str| {
        let own = name.strip_prefix("builtin:").unwrap_or("");
        let plain = own.split('?').next().unwrap_or(own);
        if known.contains(&plain) {
            return Ok(name.to_owned());
        }
        let all: Vec<String> = known.iter().map(|name| format!("builtin:{name}")).collect();
        Err(format!("Bosses: `{name}` is not a built-in bot of {game}; there are {}.", all.join(", ")))
    };
    let all: Vec<String> = names.map(boss).collect::<Result<_, _>>()?;
    let different: std::collections::BTreeSet<&String> = all.iter().collect();
    match different.len() == all.len() {
        true => Ok(all),
        false => Err("Bosses: one of them is there twice.".to_owned()),
    }
}

/// A time zone by its name.
///
/// # Errors
/// There is none of that name.
pub fn zone(name: &str) -> Result<TimeZone, String> {
    TimeZone::get(name).map_err(|_| {
        format!(
            "`{name}` is not a time zone; they have names like `Europe/Vienna`, `America/New_York` or `UTC`"
        )
    })
}

/// What clocks in a zone show at a moment: `2026-12-05T18:00:00`.
fn civil(at: Time, zone: &TimeZone) -> String {
    let at = Timestamp::from_millisecond(at.0);
    at.map_or_else(
        |_| String::new(),
        |at| at.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S").to_string(),
    )
}

/// Parses `2026-12-05T18:00` in a zone, or with an offset.
fn moment(text: &str, zone: &TimeZone) -> Result<Time, String> {
    if let Ok(exact) = text.parse::<Timestamp>() {
        return Ok(Time(exact.as_millisecond()));
    }
    let wrong = || format!("`{text}` is not a date with a time; write it like 2026-12-05T18:00:00");
    // A date alone would mean its first moment, which is never what is meant by when uploads close.
    if !text.contains(':') {
        return Err(wrong());
    }
    let civil: DateTime = text.parse().map_err(|_| wrong())?;
    let zoned = civil.to_zoned(zone.clone()).map_err(|_| wrong())?;
    Ok(Time(zoned.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: &str = "cultist-wars";

    fn read(site: &str) -> Result<ContestSettings, String> {
        let file = ContestFile::parse(&format!("game = '{GAME}'\n[site]\n{site}\n"))?;
        FileSettings::of(&file, "folder".into()).map(|file| file.settings)
    }

    #[test]
    fn what_is_told_can_be_set_again() {
        let settings = ContestSettings {
            title: "Autumn Cup".into(),
            time_zone: "Europe/Vienna".into(),
            opens: Some(Time(1_795_416_000_000)),
            closes: Some(Time(1_796_490_000_000)),
            sign_up: Some(SignUpWord::Open),
            mail_domains: vec!["school.example".into(), "uni.example".into()],
            bosses: vec!["builtin:random".into(), "builtin:greedy".into()],
            trust_bots: true,
            level: Some("C".into()),
            memory: Some(512),
            asked_an_hour: 90,
            speed: Some(101.5),
            ..ContestSettings::default()
        };
        let told: Vec<(SettingKey, String)> =
            SettingKey::ALL.iter().map(|key| (*key, key.told(&settings))).collect();
        let pairs: Vec<(SettingKey, &str)> = told.iter().map(|(key, text)| (*key, text.as_str())).collect();
        assert_eq!(changed(&ContestSettings::default(), &pairs, GAME), Ok(settings));
    }

    #[test]
    fn wrong_values_are_named() {
        let wrong = |word: &str, text: &str| {
            let key = SettingKey::of(word).expect("a key");
            changed(&ContestSettings::default(), &[(key, text)], GAME).expect_err(word)
        };
        for (word, text, says) in [
            ("title", " ", "Name:"),
            ("time_zone", "Mars/Base", "Time zone: `Mars/Base` is not a time zone"),
            ("closes", "tomorrow", "Uploads close:"),
            ("closes", "2026-12-05", "Uploads close: `2026-12-05` is not a date with a time"),
            ("team_size", "0", "Team size: a number from 1 to 20."),
            ("sign_up", "maybe", "Sign-up: open,"),
            ("matches", "-1", "Rated matches:"),
            ("level", "D", "Rated matches: at level A,"),
            ("memory", "8", "Memory: a number of megabytes"),
            ("image", "3f9c", "Image: there is no image `3f9c`"),
            ("bosses", "builtin:nobody", "Bosses: `builtin:nobody` is not a built-in bot of cultist-wars"),
            ("bosses", "builtin:random,builtin:random", "Bosses: one of them is there twice."),
            ("tolerance", "NaN", "Tolerance:"),
            ("speed", "inf", "Speed:"),
            ("trust_bots", "yes", "Trusting all bots: true or false."),
            ("wrong_passwords", "1", "Wrong passwords:"),
            ("mail_domains", "a.b,@school.example", "Mail domains: `@school.example` is not a domain"),
            ("asked_an_hour", "1001", "Drafts and challenges: a number from 1 to 1000."),
            ("decide_top", "0", "Best bots to decide:"),
        ] {
            let why = wrong(word, text);
            assert!(why.starts_with(says), "{word}={text}: {why}");
        }
        assert_eq!(
            SettingKey::of("team-size"),
            Err("`team-size` is not a setting; did you mean `team_size`?".into())
        );
    }

    #[test]
    fn dates_keep_what_the_clocks_show_when_the_zone_changes_unless_uploads_were_frozen() {
        let closes = |settings: &ContestSettings| SettingKey::Closes.told(settings);
        let set = |before: &ContestSettings, key, text: &str| {
            changed(before, &[(key, text)], GAME).expect("good settings")
        };
        let before = set(&ContestSettings::default(), SettingKey::Closes, "2026-12-05T18:00");
        let after = set(&before, SettingKey::TimeZone, "Europe/Vienna");
        assert_eq!(closes(&after), "2026-12-05T18:00:00");
        assert_eq!(before.closes.map(|at| at.0 - 3_600_000), after.closes.map(|at| at.0));
        let frozen = ContestSettings { frozen: true, ..before.clone() };
        let after = set(&frozen, SettingKey::TimeZone, "Europe/Vienna");
        assert_eq!((after.closes, after.frozen), (before.closes, true), "that moment was");
        assert!(!set(&frozen, SettingKey::Closes, "").frozen, "another date opens them again");
        let opened = set(&before, SettingKey::Opens, "2026-12-01T18:00");
        let early = changed(&opened, &[(SettingKey::Closes, "2026-12-01T17:00")], GAME).unwrap_err();
        assert!(early.contains("before the contest opens"), "{early}");
    }

    #[test]
    fn a_file_that_was_written_by_hand_is_read_strictly() {
        let settings = read("closes = 2026-12-05T18:00:00+01:00").expect("with an offset");
        assert_eq!((settings.closes, settings.title.as_str()), (Some(Time(1_796_490_000_000)), "folder"));
        assert_eq!(settings.sign_up, None, "nobody signs up before the organiser says who");
        assert_eq!(settings.wrong_passwords, 10);
        assert!(read("closes = 2026-12-05").unwrap_err().contains("is not a date with a time"));
        assert!(read("time_zone = 'Vienna'").unwrap_err().contains("time_zone"));
        assert!(read("wrong_passwords = 0").unwrap_err().contains("from 3 to 1000"));
        assert_eq!(settings.asked_an_hour, 60);
        assert!(read("asked_an_hour = 0").unwrap_err().contains("from 1 to 1000"));
        assert!(read("mail_domains = ['a.b']").unwrap_err().contains("nobody can confirm an address here"));
        let domains = read("mail = ['send']\nmail_domains = ['School.example']").expect("good").mail_domains;
        assert_eq!(domains, ["school.example"]);
        assert!(read("team_size = 21").unwrap_err().contains("1 to 20"));
        assert!(read("sign_up = 'all'").unwrap_err().contains("unknown variant"));
        assert!(
            read("opens = 2026-12-05T18:00:00\ncloses = 2026-12-05T17:00:00").unwrap_err().contains("closes")
        );
    }

    #[test]
    fn a_file_differs_only_where_it_says_something() {
        let file = ContestFile::parse(&format!(
            "game = '{GAME}'\ndecide_top = 5\n[site]\nteam_size = 2\ntime_zone = 'Europe/Vienna'\ncloses = 2026-12-05T18:00:00\n[ladder]\nmatches = 50\n"
        ));
        let file = FileSettings::of(&file.expect("a good file"), "folder".into()).expect("good settings");
        assert_eq!(file.differences(&file.settings), []);
        let held =
            ContestSettings { title: "Cup".into(), team_size: 3, matches: 60, ..file.settings.clone() };
        let told = |found: &[FileDifference]| -> Vec<String> {
            found.iter().map(|one| format!("{} {} {}", one.key.word(), one.says, one.holds)).collect()
        };
        assert_eq!(told(&file.differences(&held)), ["team_size 2 3", "matches 50 60"]);
        assert_eq!(differences_of(&file.published(&held), &held), file.differences(&held));
        let elsewhere = ContestSettings { time_zone: "UTC".into(), ..file.settings.clone() };
        assert_eq!(
            told(&file.differences(&elsewhere)),
            ["time_zone Europe/Vienna UTC"],
            "the moment is the same"
        );
    }
}
