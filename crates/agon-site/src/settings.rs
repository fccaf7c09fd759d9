//! What `contest.toml` says about the site, and how a form writes it: everything else in the file, comments included, stays
//! as it is.

use std::net::IpAddr;
use std::path::Path;

use crate::pages::words;
use agon_contest::ContestFile;
use agon_contest::config::{Date, Level, SignUpWord, WorkersSection};
use agon_store::Time;
use ipnet::IpNet;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use toml_edit::{DocumentMut, Item, Table, value};

/// The file in a contest's folder.
pub const FILE: &str = "contest.toml";
/// The most members of a team, whatever the file says.
pub const LARGEST_TEAM: u8 = 20;

/// The default number of wrong passwords.
const WRONG_PASSWORDS: u32 = 10;

/// What a map is called that the seed makes or picks, before a match names it.
pub const MADE_MAP: &str = "generated map";

/// The default number of best teams to decide.
const BEST: usize = 3;

/// What the file says.
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
    /// The most people in one team.
    pub team_size: u8,
    /// Who may sign up; none if the organiser has not said yet, which means nobody.
    pub sign_up: Option<SignUpWord>,
    /// Proxies before the one on this machine.
    pub proxies: Vec<IpNet>,
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
    /// The settings in the file of a contest's folder.
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

    /// The settings in a file; `usual` is the contest's name if the file gives none.
    ///
    /// # Errors
    /// A message that points into it.
    pub fn of(file: &ContestFile, usual: String) -> Result<Self, String> {
        let site = &file.site;
        let wrong = |key: &str, why: &str| file.wrong(key, why);
        let zone =
            zone(site.time_zone.as_deref().unwrap_or("UTC")).map_err(|why| wrong("time_zone", &why))?;
        let date = |key: &str, date: &Option<Date>| -> Result<Option<Time>, String> {
            let Some(text) = date else { return Ok(None) };
            moment(&text.to_string(), &zone).map(Some).map_err(|why| wrong(key, &why))
        };
        let (opens, closes) = (date("opens", &site.opens)?, date("closes", &site.closes)?);
        if let (Some(opens), Some(closes)) = (opens, closes)
            && closes <= opens
        {
            return Err(wrong("closes", "it closes before it opens"));
        }
        let team_size = site.team_size.unwrap_or(1);
        if !(1..=LARGEST_TEAM).contains(&team_size) {
            return Err(wrong("team_size", &format!("a team has 1 to {LARGEST_TEAM} members")));
        }
        let proxies = site.trusted_proxies.iter().map(|text| network(text));
        let proxies = proxies.collect::<Result<_, _>>().map_err(|why| wrong("trusted_proxies", &why))?;
        let wrong_passwords = site.wrong_passwords.unwrap_or(WRONG_PASSWORDS);
        if !(3..=1_000).contains(&wrong_passwords) {
            return Err(wrong("wrong_passwords", "a number from 3 to 1000"));
        }
        let workers = file.workers;
        if workers.speed.is_some_and(|speed| !speed.is_finite() || speed <= 0.0) {
            return Err(wrong(
                "workers",
                "speed: a number above 0, as `agon work` and /api/v1/contest report it",
            ));
        }
        if !(1.0..=90.0).contains(&workers.tolerance) {
            return Err(wrong("workers", "tolerance: per cent, from 1 to 90"));
        }
        let last =
            |place: &String| Path::new(place).file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Self {
            title: site.title.clone().unwrap_or(usual),
            game: file.game.clone(),
            rules: file.rules.clone().unwrap_or_default(),
            maps: file.maps.clone(),
            zone,
            opens,
            closes,
            team_size,
            sign_up: site.sign_up,
            proxies,
            wrong_passwords,
            matches: file.ladder.matches,
            best: file.decide_top.unwrap_or(BEST),
            workers,
            level: file.sandbox.level,
            trusts_bots: file.sandbox.trust_bots,
            packages: file.sandbox.packages.iter().filter_map(last).collect(),
            memory: file.sandbox.memory,
            image: file.sandbox.image.clone(),
        })
    }

    /// Why nothing can be uploaded at this time, in the words of pages and programs; none when it can.
    pub fn closed(&self, now: Time) -> Option<String> {
        let told = |at| self.deadline(at);
        match (self.opens, self.closes) {
            (Some(opens), _) if now < opens => {
                Some(format!("Uploads open on {}, in {}.", told(opens), words::span(opens.0 - now.0)))
            }
            (_, Some(closes)) if self.is_over(now) => Some(format!("Uploads closed on {}.", told(closes))),
            _ => None,
        }
    }

    /// Whether uploads have closed for good: the last day is over.
    pub fn is_over(&self, now: Time) -> bool {
        self.closes.is_some_and(|closes| now >= closes)
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

fn zone(name: &str) -> Result<TimeZone, String> {
    TimeZone::get(name).map_err(|_| {
        format!(
            "`{name}` is not a time zone; they have names like `Europe/Vienna`, `America/New_York` or `UTC`"
        )
    })
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
}

impl SettingsForm {
    /// What a form shows before anything is typed.
    pub fn of(settings: &Settings) -> Self {
        let date = |at: Option<Time>| at.map_or_else(String::new, |at| settings.told(at, "%Y-%m-%dT%H:%M"));
        Self {
            title: settings.title.clone(),
            time_zone: settings.zone_name(),
            opens: date(settings.opens),
            closes: date(settings.closes),
            team_size: settings.team_size.to_string(),
            sign_up: settings.sign_up.map_or("invite", SignUpWord::word).to_owned(),
            matches: settings.matches.to_string(),
            level: String::new(),
        }
    }

    /// Writes them into the file of a contest's folder: whole, or not at all.
    ///
    /// # Errors
    /// A sentence that says what is wrong with them, or with the file.
    pub fn write(&self, folder: &Path) -> Result<(), String> {
        rewrite(folder, |text| self.put(text))
    }

    /// The text of a file with these answers in it.
    fn put(&self, text: &str) -> Result<String, String> {
        let title = self.title.trim();
        if title.is_empty() || title.chars().count() > 60 || title.chars().any(char::is_control) {
            return Err("Name: 1 to 60 characters.".to_owned());
        }
        let zone = zone(self.time_zone.trim()).map_err(|why| format!("Time zone: {why}."))?;
        let opens = date("Opens", &self.opens, &zone)?;
        let closes = date("Uploads close", &self.closes, &zone)?;
        if let (Some((opens, _)), Some((closes, _))) = (&opens, &closes)
            && closes <= opens
        {
            return Err("Uploads close: that is before the contest opens.".to_owned());
        }
        let size: u8 = self.team_size.trim().parse().unwrap_or(0);
        if !(1..=LARGEST_TEAM).contains(&size) {
            return Err(format!("Team size: a number from 1 to {LARGEST_TEAM}."));
        }
        let matches: u32 = self.matches.trim().parse().unwrap_or(0);
        if !(1..=1_000_000).contains(&matches) {
            return Err("Rated matches: a number from 1 to 1000000.".to_owned());
        }
        let word = SignUpWord::ALL.into_iter().find(|word| word.word() == self.sign_up);
        let word = word.ok_or("Sign-up: open, with a code, or closed.")?;
        let mut document = parsed(text)?;
        let site = section(&mut document, "site")?;
        set(site, "title", Some(value(title)));
        set(site, "time_zone", Some(value(self.time_zone.trim())));
        set(site, "opens", opens.map(|(_, date)| value(date)));
        set(site, "closes", closes.map(|(_, date)| value(date)));
        set(site, "team_size", Some(value(i64::from(size))));
        set(site, "sign_up", Some(value(word.word())));
        set(section(&mut document, "ladder")?, "matches", Some(value(i64::from(matches))));
        match self.level.trim() {
            "" => {}
            level @ ("A" | "B") => set(section(&mut document, "sandbox")?, "level", Some(value(level))),
            _ => return Err("Rated matches: at level A, or at level B too.".to_owned()),
        }
        let text = document.to_string();
        ContestFile::parse(&text).map_err(|why| format!("{FILE}{why}"))?;
        Ok(text)
    }
}

/// Writes the lowest level at which bots are played into the file of a contest's folder.
///
/// # Errors
/// A sentence that says what is wrong with the file.
pub fn write_level(folder: &Path, level: Level) -> Result<(), String> {
    rewrite(folder, |text| {
        let mut document = parsed(text)?;
        set(section(&mut document, "sandbox")?, "level", Some(value(level.to_string())));
        Ok(document.to_string())
    })
}

/// The file of a contest. The section that a new one has in comments begins here: written below those, it would be there twice for
/// whoever removes the signs of comments.
fn parsed(text: &str) -> Result<DocumentMut, String> {
    const BEGINS: &str = "\n# [sandbox]\n";
    let wrong = |error| format!("{FILE}: {error}");
    let document: DocumentMut = text.parse().map_err(wrong)?;
    if document.contains_key("sandbox") || !text.contains(BEGINS) {
        return Ok(document);
    }
    let opened = text.replacen(BEGINS, "\n[sandbox]\n", 1);
    let lines = opened.split_inclusive('\n').filter(|line| !line.starts_with("# level = "));
    lines.collect::<String>().parse().map_err(wrong)
}

/// Changes the file of a contest's folder: whole, or not at all.
fn rewrite(folder: &Path, change: impl FnOnce(&str) -> Result<String, String>) -> Result<(), String> {
    let path = folder.join(FILE);
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let text = change(&std::fs::read_to_string(&path).map_err(failed)?)?;
    let draft = folder.join(format!("{FILE}.new"));
    std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, &path)).map_err(failed)
}

fn date(label: &str, text: &str, zone: &TimeZone) -> Result<Option<(Time, toml_edit::Datetime)>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let whole = if text.len() == 16 { format!("{text}:00") } else { text.to_owned() };
    let at = moment(&whole, zone).map_err(|why| format!("{label}: {why}."))?;
    let date = whole.parse().map_err(|_| format!("{label}: `{text}` is not a date with a time."))?;
    Ok(Some((at, date)))
}

fn section<'a>(document: &'a mut DocumentMut, name: &str) -> Result<&'a mut Table, String> {
    let item = document.entry(name).or_insert(Item::Table(Table::new()));
    item.as_table_mut().ok_or_else(|| format!("{FILE}: `{name}` is not a section; write it as [{name}]"))
}

/// Sets a key, keeping the comment behind its former value.
fn set(table: &mut Table, key: &str, item: Option<Item>) {
    let Some(mut item) = item else {
        table.remove(key);
        return;
    };
    if let (Some(old), Some(new)) = (table.get(key).and_then(Item::as_value), item.as_value_mut()) {
        *new.decor_mut() = old.decor().clone();
    }
    match table.get_mut(key) {
        Some(place) => *place = item,
        None => {
            table.insert(key, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# Our cup\ngame = \"g\"   # the best\n\n[site]\ntitle = \"Old\"   # for the banner\nbosses = []\n";

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
        }
    }

    #[test]
    fn the_section_in_comments_begins_where_it_is_and_may_then_be_uncommented() {
        let folder = tempfile::tempdir().expect("a folder");
        let commented =
            "\n# [sandbox]\n# memory = 512\n# level = \"A\"   # the lowest\n# trust_bots = true\n";
        std::fs::write(folder.path().join(FILE), format!("{TEXT}{commented}")).expect("written");
        write_level(folder.path(), Level::B).expect("a good file");
        let text = std::fs::read_to_string(folder.path().join(FILE)).expect("there");
        assert!(
            text.ends_with("\n[sandbox]\nlevel = \"B\"\n# memory = 512\n# trust_bots = true\n"),
            "{text}"
        );
        let file = ContestFile::parse(&text.replace("\n# ", "\n").replace("Our cup", "# Our cup"));
        assert_eq!(file.expect("a good file").sandbox.memory, Some(512 << 20));
    }

    #[test]
    fn answers_are_written_and_the_rest_of_the_file_stays() {
        let text = answers().put(TEXT).expect("good answers");
        for part in
            ["# Our cup", "# the best", "# for the banner", "bosses = []", "closes = 2026-12-05T18:00:00"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        let file = ContestFile::parse(&text).expect("a good file");
        let settings = Settings::of(&file, "folder".into()).expect("good settings");
        assert_eq!(
            (settings.title.as_str(), settings.team_size, settings.matches),
            ("Autumn \"Cup\"", 3, 50)
        );
        // In December Vienna is one hour ahead of UTC.
        assert_eq!(settings.closes, Some(Time(1_796_490_000_000)));
        assert_eq!(settings.told(Time(1_796_490_000_000), "%a %H:%M"), "Sat 18:00");
        let at_b = SettingsForm { level: "B".into(), ..answers() }.put(&text).expect("good answers");
        let levels = [&text, &at_b].map(|text| ContestFile::parse(text).expect("a good file").sandbox.level);
        assert_eq!(levels, [None, Some(Level::B)], "asked only where there is a choice");
        let again = SettingsForm { closes: String::new(), ..SettingsForm::of(&settings) }
            .put(&text)
            .expect("good answers");
        assert!(!again.contains("closes") && again.contains("# for the banner"), "{again}");
    }

    #[test]
    fn wrong_answers_are_named() {
        let with = |change: fn(&mut SettingsForm)| {
            let mut answers = answers();
            change(&mut answers);
            answers.put(TEXT).unwrap_err()
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
        assert!(answers().put("site = 3\ngame = 'g'\n").unwrap_err().contains("is not a section"));
    }

    #[test]
    fn a_file_that_was_written_by_hand_is_read_strictly() {
        let read = |site: &str| {
            let file = ContestFile::parse(&format!("game = 'g'\n[site]\n{site}\n"))?;
            Settings::of(&file, "folder".into())
        };
        let settings = read("closes = 2026-12-05T18:00:00+01:00").expect("with an offset");
        assert_eq!((settings.closes, settings.title.as_str()), (Some(Time(1_796_490_000_000)), "folder"));
        assert_eq!(settings.sign_up, None, "nobody signs up before the organiser says who");
        assert!(read("closes = 2026-12-05").unwrap_err().contains("is not a date with a time"));
        assert!(read("time_zone = 'Vienna'").unwrap_err().contains("time_zone"));
        let error = read("trusted_proxies = ['10.0.0.0/99']").unwrap_err();
        assert!(error.contains("neither an address nor a network"));
        let settings = read("trusted_proxies = ['10.0.0.7', '2001:db8::/32']").expect("two of them");
        assert_eq!(settings.proxies.len(), 2);
        assert_eq!(settings.wrong_passwords, WRONG_PASSWORDS);
        assert!(read("wrong_passwords = 0").unwrap_err().contains("from 3 to 1000"));
        assert!(read("team_size = 21").unwrap_err().contains("1 to 20"));
        assert!(read("sign_up = 'all'").unwrap_err().contains("unknown variant"));
        assert!(
            read("opens = 2026-12-05T18:00:00\ncloses = 2026-12-05T17:00:00").unwrap_err().contains("closes")
        );
    }
}
