//! What a site knows of its contest: what the organiser decides, which is in the database, and what is this machine's own, from
//! `contest.toml`; and the organiser's form.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::pages::words;
use agon_contest::ContestFile;
use agon_contest::config::{Level, SignUpWord, WebhookAddress, WorkersSection};
use agon_server::settings::{FileSettings, SettingKey, changed, zone};
use agon_store::{ContestSettings, Sha, Time, Uploads};
use ipnet::IpNet;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use url::Url;

pub use agon_server::settings::LARGEST_TEAM;

/// The file in a contest's folder.
pub const FILE: &str = "contest.toml";

/// The most words of the command that sends mail.
const MOST_WORDS: usize = 32;

/// The longest address of a webhook, in bytes.
const LONGEST_ADDRESS: usize = 2_000;

/// What a map is called that the seed makes or picks, before a match names it.
pub const MADE_MAP: &str = "generated map";

/// What the contest's file says on this machine.
#[derive(Clone, Debug)]
pub struct OwnFile {
    game: String,
    /// Its rules: a preset, or a file.
    rules: String,
    /// Its maps by name; none if the seed makes them.
    maps: Vec<String>,
    /// Proxies before the one on this machine.
    proxies: Vec<IpNet>,
    /// The program that sends mail, with its arguments; nothing if none is sent.
    mail: Vec<String>,
    /// The address that hears of what happens, and whether of verdicts, too.
    webhook: (Option<WebhookAddress>, bool),
    /// The folder of the nights' archives.
    nightly: Option<PathBuf>,
    /// Folders of packages that all bots can read, by their last path component.
    packages: Vec<String>,
    /// What it says of settings, with which the contest was founded or not: they decide nothing any more.
    pub settings: FileSettings,
}

impl OwnFile {
    /// The file in a contest's folder.
    ///
    /// # Errors
    /// A message that points into it.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let file = ContestFile::read(&folder.join(FILE))?;
        let full = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let usual =
            full.file_name().map_or_else(|| "contest".to_owned(), |name| name.to_string_lossy().into_owned());
        Self::of(&file, usual)
    }

    /// What a file says; `usual` is the contest's name if it gives none.
    ///
    /// # Errors
    /// A message that points into it.
    pub fn of(file: &ContestFile, usual: String) -> Result<Self, String> {
        let proxies = file.site.trusted_proxies.iter().map(|text| network(text));
        let proxies = proxies.collect::<Result<_, _>>().map_err(|why| file.wrong("trusted_proxies", &why))?;
        check_program(&file.site.mail).map_err(|why| file.wrong("mail", &why))?;
        check_webhook(file.site.webhook.as_ref()).map_err(|why| file.wrong("webhook", why))?;
        let last =
            |place: &String| Path::new(place).file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Self {
            game: file.game.clone(),
            rules: file.rules.clone().unwrap_or_default(),
            maps: file.maps.clone(),
            proxies,
            mail: file.site.mail.clone(),
            webhook: (file.site.webhook.clone(), file.site.webhook_verdicts),
            nightly: file.site.nightly.clone(),
            packages: file.sandbox.packages.iter().filter_map(last).collect(),
            settings: FileSettings::of(file, usual)?,
        })
    }
}

/// What holds.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The contest's name.
    pub title: String,
    pub game: String,
    /// Its rules: a preset, or a file.
    pub rules: String,
    /// Its maps by name; none if the seed makes them.
    pub maps: Vec<String>,
    /// The time zone in which times are shown.
    pub zone: TimeZone,
    /// When uploads open; none: from the start.
    pub opens: Option<Time>,
    /// When uploads close; none: as long as the contest runs.
    pub closes: Option<Time>,
    /// All that the organiser decides, as it is kept.
    pub held: Arc<ContestSettings>,
    /// The most people in one team.
    pub team_size: u8,
    /// Who may sign up; none if the organiser has not said yet, which means nobody.
    pub sign_up: Option<SignUpWord>,
    /// Proxies before the one on this machine.
    pub proxies: Vec<IpNet>,
    /// The program that sends mail, with its arguments; nothing if none is sent.
    pub mail: Vec<String>,
    /// The address that hears of what happens, and whether of verdicts, too.
    pub webhook: (Option<WebhookAddress>, bool),
    /// The folder of the nights' archives, seen from the contest's.
    pub nightly: Option<PathBuf>,
    /// Wrong passwords for one account from one network in a quarter of an hour.
    pub wrong_passwords: u32,
    /// The number of rated matches a version plays.
    pub matches: u32,
    /// Pages say how certain it is who the best this many are.
    pub best: usize,
    /// What machines that join must be like.
    pub workers: WorkersSection,
    /// The lowest level of the sandbox at which bots are played, if that was said.
    pub level: Option<Level>,
    /// Whether the organiser trusts all bots.
    pub trusts_bots: bool,
    /// Folders of packages that all bots can read, by their last path component.
    pub packages: Vec<String>,
    /// The memory of each bot, in bytes; none: the usual.
    pub memory: Option<u64>,
    /// The image, by its hash, that bots run in.
    pub image: Option<String>,
}

impl Settings {
    /// What holds where the file says this, and the organiser has decided that.
    pub fn new(own: &OwnFile, held: Arc<ContestSettings>) -> Self {
        let level = |word: &str| match word {
            "A" => Some(Level::A),
            "B" => Some(Level::B),
            "C" => Some(Level::C),
            "D" => Some(Level::D),
            _ => None,
        };
        Self {
            title: held.title.clone(),
            game: own.game.clone(),
            rules: own.rules.clone(),
            maps: own.maps.clone(),
            zone: zone(&held.time_zone).unwrap_or(TimeZone::UTC),
            opens: held.opens,
            closes: held.closes,
            team_size: held.team_size,
            sign_up: held.sign_up,
            proxies: own.proxies.clone(),
            mail: own.mail.clone(),
            webhook: own.webhook.clone(),
            nightly: own.nightly.clone(),
            wrong_passwords: held.wrong_passwords,
            matches: held.matches,
            best: held.decide_top,
            workers: WorkersSection { speed: held.speed, tolerance: held.tolerance },
            level: held.level.as_deref().and_then(level),
            trusts_bots: held.trust_bots,
            packages: own.packages.clone(),
            memory: held.memory.map(|memory| memory << 20),
            image: held.image.clone(),
            held,
        }
    }

    /// Whether this machine sends mail.
    pub fn sends_mail(&self) -> bool {
        !self.mail.is_empty()
    }

    /// Why nothing can be uploaded at this time, in the words of pages and programs; none when it can.
    pub fn closed(&self, now: Time) -> Option<String> {
        self.why_closed(self.held.uploads(now), now)
    }

    /// The same, where somebody else has decided it.
    pub fn why_closed(&self, uploads: Uploads, now: Time) -> Option<String> {
        match uploads {
            Uploads::Open => None,
            Uploads::From(opens) => {
                let wait = words::span((opens.0 - now.0).max(0));
                Some(format!("Uploads open on {}, in {wait}.", self.deadline(opens)))
            }
            Uploads::Closed(closes) => Some(format!("Uploads closed on {}.", self.deadline(closes))),
        }
    }

    /// Whether uploads have closed for good: the last day is over.
    pub fn is_over(&self, now: Time) -> bool {
        matches!(self.held.uploads(now), Uploads::Closed(_))
    }

    /// The name of a map by its number.
    pub fn map(&self, number: i64) -> String {
        let name = usize::try_from(number).ok().and_then(|number| self.maps.get(number));
        match name {
            // A file is called by its last path component.
            Some(name) => {
                Path::new(name).file_stem().map_or(name.clone(), |stem| stem.to_string_lossy().into_owned())
            }
            None => MADE_MAP.to_owned(),
        }
    }

    /// A moment in the contest's time zone, in a format of [`jiff::fmt::strtime`].
    pub fn told(&self, at: Time, format: &str) -> String {
        match Timestamp::from_millisecond(at.0) {
            Ok(at) => at.to_zoned(self.zone.clone()).strftime(format).to_string(),
            Err(_) => String::new(),
        }
    }

    /// A moment by which something must be done, so that nobody mistakes it: with its year, and the contest's time zone.
    pub fn deadline(&self, at: Time) -> String {
        format!("{} {}", self.told(at, "%a %-d %b %Y %H:%M"), self.zone_name())
    }

    /// The name of the time zone.
    pub fn zone_name(&self) -> String {
        self.zone.iana_name().unwrap_or("UTC").to_owned()
    }
}

/// An address, or a network as `10.0.0.0/8`.
pub fn network(text: &str) -> Result<IpNet, String> {
    let one = text.parse::<IpAddr>().map(IpNet::from);
    one.or_else(|_| text.parse()).map_err(|_| {
        format!("`{text}` is neither an address nor a network; write them as \"10.0.0.7\" or \"10.0.0.0/8\"")
    })
}

/// Checks what is said of the program that sends mail. Whether it is there is seen when it is started.
fn check_program(words: &[String]) -> Result<(), String> {
    let Some(program) = words.first() else { return Ok(()) };
    if words.len() > MOST_WORDS || words.iter().any(|word| word.contains('\0')) {
        return Err(format!("a program with at most {} arguments, none with a zero byte", MOST_WORDS - 1));
    }
    if program.is_empty() || program.contains('/') && !program.starts_with('/') {
        return Err("the program comes first, by its whole path: [\"/usr/sbin/sendmail\", \"-t\"]".to_owned());
    }
    Ok(())
}

/// Checks the address of a webhook. What is said of it does not quote it.
fn check_webhook(address: Option<&WebhookAddress>) -> Result<(), &'static str> {
    let Some(WebhookAddress(address)) = address else { return Ok(()) };
    let url =
        Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    match url.is_some() && address.len() <= LONGEST_ADDRESS {
        true => Ok(()),
        false => Err("the whole address that the chat gives, which begins with https://"),
    }
}

/// What the organiser's form sends.
#[derive(Clone, Debug, Default, serde::Deserialize)]
pub struct SettingsForm {
    /// The contest's name.
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub time_zone: String,
    /// `2026-12-05T18:00`, or nothing.
    #[serde(default)]
    pub opens: String,
    #[serde(default)]
    pub closes: String,
    /// Members of a team.
    #[serde(default)]
    pub team_size: String,
    /// `open`, `invite` or `closed`.
    #[serde(default)]
    pub sign_up: String,
    /// Rated matches of a version.
    #[serde(default)]
    pub matches: String,
    /// The lowest level of the sandbox for rated matches: `A`, `B`, or nothing where that is not asked.
    #[serde(default)]
    pub level: String,
    /// Which settings the form was made of.
    #[serde(default)]
    pub seen: String,
}

impl SettingsForm {
    /// What a form shows before anything is typed.
    pub fn of(settings: &ContestSettings) -> Self {
        let told = |key: SettingKey| key.told(settings);
        // Such a field has no seconds.
        let date = |key: SettingKey| told(key).chars().take("2026-12-05T18:00".len()).collect();
        Self {
            title: told(SettingKey::Title),
            time_zone: told(SettingKey::TimeZone),
            opens: date(SettingKey::Opens),
            closes: date(SettingKey::Closes),
            team_size: told(SettingKey::TeamSize),
            sign_up: settings.sign_up.unwrap_or(SignUpWord::Invite).word().to_owned(),
            matches: told(SettingKey::Matches),
            level: String::new(),
            seen: seen(settings),
        }
    }

    /// The settings with these answers: what was left as the form showed it stays as it is.
    ///
    /// # Errors
    /// A sentence that says what is wrong with them.
    pub fn change(&self, before: &ContestSettings, game: &str) -> Result<ContestSettings, String> {
        if !self.seen.is_empty() && self.seen != seen(before) {
            return Err(
                "Somebody has changed the settings since you opened this page. Open it again, and make your change once more."
                    .to_owned(),
            );
        }
        let shown = Self::of(before);
        let undecided = String::new();
        let sign_up = if before.sign_up.is_some() { &shown.sign_up } else { &undecided };
        let answers = [
            (SettingKey::Title, &self.title, &shown.title),
            (SettingKey::TimeZone, &self.time_zone, &shown.time_zone),
            (SettingKey::Opens, &self.opens, &shown.opens),
            (SettingKey::Closes, &self.closes, &shown.closes),
            (SettingKey::TeamSize, &self.team_size, &shown.team_size),
            (SettingKey::SignUp, &self.sign_up, sign_up),
            (SettingKey::Matches, &self.matches, &shown.matches),
            (SettingKey::Level, &self.level, &shown.level),
        ];
        let typed = answers.into_iter().filter(|(_, typed, shown)| typed.trim() != shown.trim());
        let wanted: Vec<(SettingKey, &str)> = typed.map(|(key, typed, _)| (key, typed.as_str())).collect();
        changed(before, &wanted, game)
    }
}

/// Tells settings from others.
fn seen(settings: &ContestSettings) -> String {
    let text = serde_json::to_string(settings).unwrap_or_default();
    Sha::of(text).to_string().chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: &str = "cultist-wars";

    fn answers() -> SettingsForm {
        SettingsForm {
            title: "Autumn \"Cup\"".into(),
            time_zone: "Europe/Vienna".into(),
            opens: String::new(),
            closes: "2026-12-05T18:00".into(),
            team_size: "3".into(),
            sign_up: "invite".into(),
            matches: "50".into(),
            level: String::new(),
            seen: String::new(),
        }
    }

    #[test]
    fn answers_change_what_they_name_and_nothing_else() {
        let before = ContestSettings { bosses: vec!["builtin:greedy".into()], ..ContestSettings::default() };
        let held = answers().change(&before, GAME).expect("good answers");
        let settings = Settings::new(&own(""), Arc::new(held.clone()));
        assert_eq!(
            (settings.title.as_str(), settings.team_size, settings.matches),
            ("Autumn \"Cup\"", 3, 50)
        );
        assert_eq!((held.sign_up, &held.bosses), (Some(SignUpWord::Invite), &before.bosses));
        // In December Vienna is one hour ahead of UTC.
        assert_eq!(settings.closes, Some(Time(1_796_490_000_000)));
        assert_eq!(settings.told(Time(1_796_490_000_000), "%a %H:%M"), "Sat 18:00");
        let at_b = SettingsForm { level: "B".into(), ..answers() }.change(&held, GAME).expect("good answers");
        assert_eq!(
            [&held, &at_b].map(|held| held.level.as_deref()),
            [None, Some("B")],
            "asked only where there is a choice"
        );
        let open = SettingsForm { closes: String::new(), ..SettingsForm::of(&held) };
        assert_eq!(open.change(&held, GAME).expect("good answers").closes, None);
        // What was frozen at some second stays so, though the form shows no seconds.
        let frozen = ContestSettings { closes: Some(Time(1_796_490_012_345)), frozen: true, ..held.clone() };
        assert_eq!(SettingsForm::of(&frozen).change(&frozen, GAME), Ok(frozen.clone()));
        let late = SettingsForm { title: "Mine".into(), ..SettingsForm::of(&held) };
        let why = late.change(&frozen, GAME).expect_err("uploads were frozen meanwhile");
        assert!(why.starts_with("Somebody has changed the settings"), "{why}");
    }

    #[test]
    fn wrong_answers_are_named() {
        let with = |change: fn(&mut SettingsForm)| {
            let mut answers = answers();
            change(&mut answers);
            let before = ContestSettings { title: "Cup".into(), ..ContestSettings::default() };
            answers.change(&before, GAME).unwrap_err()
        };
        assert!(with(|answers| answers.title = " ".into()).starts_with("Name:"));
        assert!(
            with(|answers| answers.time_zone = "Mars/Base".into()).contains("`Mars/Base` is not a time zone")
        );
        assert!(with(|answers| answers.closes = "tomorrow".into()).starts_with("Uploads close:"));
        assert!(
            with(|answers| answers.opens = "2027-01-01T00:00".into()).contains("before the contest opens")
        );
        assert!(with(|answers| answers.team_size = "0".into()).starts_with("Team size:"));
        assert!(with(|answers| answers.sign_up = "maybe".into()).starts_with("Sign-up:"));
        assert!(with(|answers| answers.matches = "-1".into()).starts_with("Rated matches:"));
        assert!(with(|answers| answers.level = "D".into()).contains("level A"));
    }

    fn own(site: &str) -> OwnFile {
        try_own(site).expect("a good file")
    }

    fn try_own(site: &str) -> Result<OwnFile, String> {
        let file = ContestFile::parse(&format!("game = '{GAME}'\n[site]\n{site}\n"))?;
        OwnFile::of(&file, "folder".into())
    }

    #[test]
    fn the_address_of_a_webhook_is_one_and_is_not_quoted() {
        assert!(own("webhook = 'https://chat.example/hook/secret?x=1'").webhook.0.is_some());
        for wrong in
            ["chat.example/secret", "ftp://chat.example/secret", "https:", "", &"https://secret/".repeat(200)]
        {
            let why = try_own(&format!("webhook = '{wrong}'")).expect_err(wrong);
            assert!(why.contains("`webhook`: the whole address") && !why.contains("secret"), "{why}");
        }
    }

    #[test]
    fn the_program_that_sends_mail_is_read_strictly() {
        assert!(own("").mail.is_empty() && own("mail = []").mail.is_empty());
        assert_eq!(own("mail = ['/usr/sbin/sendmail', '-t']").mail, ["/usr/sbin/sendmail", "-t"]);
        assert_eq!(own("mail = ['msmtp']").mail, ["msmtp"]);
        for wrong in ["['send/mail']", "['']", "['./send']", "[\"send\\u0000\"]"] {
            let why = try_own(&format!("mail = {wrong}")).expect_err(wrong);
            assert!(why.contains("`mail`: "), "{why}");
        }
        assert!(try_own("mail = '/usr/sbin/sendmail -t'").is_err(), "a list, not a line for a shell");
    }

    #[test]
    fn proxies_are_read_strictly() {
        let error = try_own("trusted_proxies = ['10.0.0.0/99']").unwrap_err();
        assert!(error.contains("neither an address nor a network"));
        assert_eq!(own("trusted_proxies = ['10.0.0.7', '2001:db8::/32']").proxies.len(), 2);
    }
}
