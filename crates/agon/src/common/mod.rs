//! What the commands share: failures with exit codes, finding games, options of a match.

pub mod archives;
pub mod bar;
pub mod brought;
pub mod builds;
pub mod conditions;
pub mod disk;
pub mod failure;
pub mod fingerprint;
pub mod folders;
pub mod git;
pub mod here;
pub mod languages;
pub mod logins;
pub mod machine;
pub mod online;
pub mod packed;
pub mod sandbox;
pub mod screen;
pub mod seats;
pub mod stopping;
pub mod table;
pub mod waiting;
pub mod wanted;
pub mod written;

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agon_bot::{BotName, NameKind};
use agon_desk::seats::{apart, called};
use agon_game::setup::nearest;
use agon_game::{AnyGame, GameInfo, MapChoice, RulesChoice, Setup};
use agon_spec::clock::is_scale;
pub use agon_spec::clock::time;
use agon_spec::{Clock, MapSpec, MatchSpec, Ponder, RulesSpec};
use clap::{Args, ValueEnum};

pub(crate) use crate::common::failure::{Done, ErrorCode, Failure, print_json, print_json_line};
use crate::common::sandbox::Bots;
pub use crate::common::stopping::stop_on_ctrl_c;

/// The game called `name`.
pub fn game(name: &str) -> Result<&'static dyn AnyGame, Failure> {
    agon_games::named(name).map_err(|why| ErrorCode::NotFound.of(why))
}

/// Options that set up a match.
#[derive(Args, Debug, Clone, Default)]
pub struct SetupOptions {
    /// Seed of the match: a 64-bit integer [default: a new one, which is printed]
    #[arg(long, short = 'd', value_name = "N", allow_hyphen_values = true, help_heading = "Match")]
    pub seed: Option<i64>,
    /// A map by name, a map file, or `generate`
    #[arg(long, value_name = "NAME|FILE|generate", help_heading = "Match")]
    pub map: Option<String>,
    /// Rules: a preset (see `agon rules GAME`) or a rules file
    #[arg(long, value_name = "PRESET|FILE", help_heading = "Match")]
    pub rules: Option<String>,
    /// Changes one rule; may be given several times
    #[arg(long, value_name = "RULE=VALUE", help_heading = "Match")]
    pub set: Vec<String>,
    /// Short for --set strict=true: in games that are lenient here, a bot's mistake ends its match, as in the original
    #[arg(long, help_heading = "Match")]
    pub strict: bool,
}

impl SetupOptions {
    /// The match to play, as typed; the bots and the clock are not among these options.
    pub fn spec(&self, game: &GameInfo) -> Result<MatchSpec, Failure> {
        let mut sets = Vec::new();
        if self.strict {
            sets.push(("strict".to_owned(), "true".to_owned()));
        }
        for set in &self.set {
            let (key, value) = set.split_once('=').ok_or_else(|| {
                Failure::usage(format!("--set {set}: write RULE=VALUE, as in --set {}", game.example_set))
            })?;
            sets.push((key.trim().to_owned(), value.trim().to_owned()));
        }
        Ok(MatchSpec {
            rules: self.rules.as_deref().map_or(RulesSpec::Default, RulesSpec::from),
            sets,
            map: self.map.as_deref().map_or(MapSpec::Default, MapSpec::from),
            seed: self.seed,
            ..MatchSpec::new(game.name, [])
        })
    }

    /// The setup for a match of `seats` bots.
    pub fn setup(&self, game: &dyn AnyGame, seats: usize) -> Result<Setup, Failure> {
        setup(&self.spec(game.info())?, game, seats)
    }
}

/// The setup of a match of `seats` bots: looks up presets, maps and files, and chooses a seed if none is given.
pub fn setup(spec: &MatchSpec, game: &dyn AnyGame, seats: usize) -> Result<Setup, Failure> {
    let info = game.info();
    info.check_seats(seats)?;
    let mut rules = RulesChoice { sets: spec.sets.clone(), ..RulesChoice::default() };
    match &spec.rules {
        RulesSpec::Default => {}
        RulesSpec::Text { name, text } => rules.file = Some((name.clone(), text.clone())),
        RulesSpec::Named(name) if info.preset(name).is_some() => rules.preset.clone_from(name),
        RulesSpec::Named(name) if Path::new(name).is_file() => rules.file = Some((name.clone(), text(name)?)),
        RulesSpec::Named(name) => {
            let presets: Vec<&str> = info.presets.iter().map(|preset| preset.name).collect();
            let hint = nearest(name, presets.iter().copied())
                .map(|name| format!("; did you mean `{name}`?"))
                .unwrap_or_default();
            return Err(Failure::usage(format!(
                "`{name}` is neither a rules file nor a preset of {}{hint}\n  presets: {}",
                info.title,
                presets.join(", ")
            )));
        }
    }
    let map = match &spec.map {
        MapSpec::Default => MapChoice::Default,
        MapSpec::Generated => MapChoice::Generated,
        MapSpec::Text { name, content } => MapChoice::File(name.clone(), content.clone()),
        MapSpec::Named(name) if info.maps.iter().any(|map| map.name == name) => {
            MapChoice::Named(name.clone())
        }
        MapSpec::Named(file) if Path::new(file).is_file() => {
            let bytes =
                std::fs::read(file).map_err(|error| Failure::of_file(&format!("map {file}"), &error))?;
            MapChoice::File(file.clone(), bytes)
        }
        MapSpec::Named(name) if info.maps.is_empty() || name.contains(['/', '.']) => {
            let made = if info.maps.is_empty() && info.generates_maps {
                "; its maps are made from the seed"
            } else {
                ""
            };
            return Err(Failure::usage(format!(
                "{} has no map `{name}`, and there is no such file{made}",
                info.title
            )));
        }
        MapSpec::Named(name) => MapChoice::Named(name.clone()),
    };
    Ok(Setup { rules, map, seats: seats as u8, seed: spec.seed.unwrap_or_else(fresh_seed) })
}

/// A text file the user named.
pub fn text(file: &str) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| Failure::of_file(file, &error))
}

/// Now, in milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A duration in milliseconds as people say it, to the minute.
pub fn span(ms: i64) -> String {
    match ms / 60_000 {
        minutes @ ..120 => format!("{} min", minutes.max(0)),
        minutes @ 120..2880 => format!("{} h", minutes / 60),
        minutes => format!("{} days", minutes / 1440),
    }
}

/// A seed chosen at random: small enough to be typed again.
pub fn fresh_seed() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    (now.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 34) as i64
}

/// Options of the clock.
#[derive(Args, Debug, Clone, Default, PartialEq)]
pub struct ClockOptions {
    /// No time limits: for a debugger
    #[arg(long, help_heading = "Time")]
    pub no_timeouts: bool,
    /// Multiplies all time limits
    #[arg(long, value_name = "X", conflicts_with = "no_timeouts", help_heading = "Time")]
    pub time_scale: Option<f64>,
    /// No answer may take longer than this, whatever the rules say: `500ms`, `2s`
    #[arg(long, value_name = "TIME", conflicts_with = "no_timeouts", value_parser = time, help_heading = "Time")]
    pub time_limit: Option<Duration>,
    /// Total thinking time of a bot in a match: `60s`
    #[arg(long, value_name = "TIME", conflicts_with = "no_timeouts", value_parser = time, help_heading = "Time")]
    pub time_total: Option<Duration>,
    /// How limits are applied
    #[arg(long, value_enum, default_value_t, conflicts_with = "no_timeouts", help_heading = "Time")]
    pub clock: ClockKind,
    /// What happens to a bot that computes during its opponent's turn
    #[arg(long, value_enum, default_value_t, help_heading = "Time")]
    pub ponder: PonderKind,
}

/// How limits are applied.
#[derive(ValueEnum, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClockKind {
    /// The rulebook's limits
    #[default]
    Original,
    /// 50 ms of tolerance that may be used twice, as on the Cultist Wars site since 2026
    #[value(name = "site-2026")]
    Site2026,
}

/// What happens to a bot that computes during its opponent's turn.
#[derive(ValueEnum, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PonderKind {
    /// It is stopped between its turns and reported
    #[default]
    Stop,
    /// It may compute at any time
    Allow,
}

impl ClockOptions {
    /// Whether limits other than the rulebook's are requested.
    pub fn is_asked_for(&self) -> bool {
        self.time_scale.is_some()
            || self.time_limit.is_some()
            || self.time_total.is_some()
            || self.clock != ClockKind::Original
    }

    pub fn clock(&self) -> Result<Clock, Failure> {
        let scale = self.time_scale.unwrap_or(1.0);
        if !is_scale(scale) {
            return Err(Failure::usage(format!(
                "--time-scale {scale}: a number above 0, as in --time-scale 10"
            )));
        }
        Ok(Clock {
            limited: !self.no_timeouts,
            scale,
            cap: self.time_limit,
            total: self.time_total,
            tolerant: self.clock == ClockKind::Site2026,
        })
    }

    /// What happens to bots that compute during their opponent's turn.
    pub fn ponder(&self) -> Ponder {
        match self.ponder {
            PonderKind::Stop => Ponder::Stop,
            PonderKind::Allow => Ponder::Allow,
        }
    }
}

/// The bot named by `text`, made ready to start: a commit is checked out, an archive unpacked, and a single source
/// file compiled.
pub fn bot(text: &str, bots: &Bots) -> Result<BotName, Failure> {
    let name = named(text, bots)?;
    builds::compile(&name)?;
    Ok(name)
}

/// The bot named by `text`, as it is.
pub fn named(text: &str, bots: &Bots) -> Result<BotName, Failure> {
    let of_bot = |why| ErrorCode::Bot.of(why);
    if text.starts_with(git::PREFIX) {
        let name = git::find(text).map(|found| found.name).map_err(of_bot)?;
        return Ok(bots.take(name, false));
    }
    let mut name = BotName::parse(text).map_err(of_bot)?;
    let mut archive = false;
    if let NameKind::Path(path) = &mut name.kind {
        if !path.exists()
            && let Some(meant) = meant(text)
        {
            return Err(ErrorCode::NotFound
                .of(format!("bot `{text}`: no such file or folder; did you mean `{meant}`?")));
        }
        if let Some(folder) = archives::within(path, bots).map_err(of_bot)? {
            *path = folder;
            archive = true;
        }
    }
    Ok(bots.take(name, archive))
}

/// What somebody meant who gave no path: a built-in bot, or a command line.
fn meant(text: &str) -> Option<String> {
    let plain = text.split('?').next().unwrap_or(text);
    let mut builtins = agon_games::all().iter().flat_map(|game| game.info().builtins);
    if builtins.any(|bot| bot.name.eq_ignore_ascii_case(plain)) {
        return Some(format!("builtin:{text}"));
    }
    let (program, _) = text.split_once(' ')?;
    agon_bot::tools::is_installed(program).then(|| format!("cmd:{text}"))
}

/// The bots of these seats, made ready to start.
pub fn bots<'a>(texts: impl IntoIterator<Item = &'a String>, bots: &Bots) -> Result<Vec<BotName>, Failure> {
    texts.into_iter().map(|text| bot(text, bots)).collect()
}

/// The bots of a match, in the order of their seats, and labels that tell them apart.
pub fn seated(spec: &MatchSpec, how: &Bots) -> Result<(Vec<BotName>, Vec<String>), Failure> {
    let names = bots(spec.seats.iter().map(|seat| &seat.bot), how)?;
    let chosen: Vec<Option<String>> = spec.seats.iter().map(|seat| seat.label.clone()).collect();
    let labels = apart(called(&names), &chosen);
    Ok((names, labels))
}

/// The labels that `renames` give to `count` bots, each written `N=LABEL`.
pub fn chosen(count: usize, renames: &[String]) -> Result<Vec<Option<String>>, Failure> {
    let mut chosen: Vec<Option<String>> = vec![None; count];
    for rename in renames {
        let wrong = || {
            Failure::usage(format!(
                "--name {rename}: write NUMBER=LABEL with a bot's number from 1 to {count}, as in --name 1=mine"
            ))
        };
        let (number, label) = rename.split_once('=').ok_or_else(wrong)?;
        let place = number.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let place = place.filter(|place| *place < count).ok_or_else(wrong)?;
        if label.trim().is_empty() {
            return Err(wrong());
        }
        if (0..count).any(|other| other != place && chosen[other].as_deref() == Some(label)) {
            return Err(Failure::usage(format!("--name {rename}: another bot has that name")));
        }
        chosen[place] = Some(label.to_owned());
    }
    Ok(chosen)
}

/// The default limit on an answer in games whose bots are scripts: a rulebook that allows minutes for an answer
/// allows weeks for a series.
pub const USUAL_LIMIT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_tell_bots_apart_and_number_no_more_than_they_must() {
        let apart = |labels: &[&str], renames: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            let chosen = chosen(labels.len(), &owned(renames)).map_err(|error| format!("{error:?}"))?;
            Ok::<_, String>(super::apart(owned(labels), &chosen))
        };
        assert_eq!(apart(&["a", "b"], &[]).unwrap(), ["a", "b"]);
        assert_eq!(apart(&["a", "a", "b", "a"], &[]).unwrap(), ["a", "a (2)", "b", "a (3)"]);
        assert_eq!(
            apart(&["a", "a"], &["1=mine"]).unwrap(),
            ["mine", "a"],
            "nobody else is called so any more"
        );
        assert_eq!(apart(&["a", "a"], &["2=mine"]).unwrap(), ["a", "mine"]);
        assert_eq!(apart(&["a", "b"], &["2=a"]).unwrap(), ["a (2)", "a"], "a name that was given stays");
        assert_eq!(apart(&["a", "a", "b"], &["3=a (2)"]).unwrap(), ["a", "a (3)", "a (2)"]);
        assert!(apart(&["a", "b"], &["1=x", "2=x"]).unwrap_err().contains("another bot has that name"));
        for wrong in ["mine", "0=mine", "3=mine", "x=mine", "1= "] {
            assert!(apart(&["a", "b"], &[wrong]).unwrap_err().contains("from 1 to 2"), "{wrong}");
        }
    }
}
