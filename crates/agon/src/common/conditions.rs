//! `--as URL`: plays here under the conditions of a contest: its rules, maps, clock and sandbox.
//!
//! The contest's description is kept with its date, so that this works without a network too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_api::Contest;
use agon_api::contest::{Ground, Map};
use agon_bot::advised::NextCommand;
use agon_bot::image::Images;
use agon_bot::{build, inside};
use agon_contest::content;
use agon_game::{AnyGame, MapChoice, RulesChoice, Seat, Session, Setup};
use agon_match::{Observer, StepReport};
use agon_spec::{Clock, Ponder};
use agon_worker::speed;
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::common::online::{Address, Line, Online, Trouble};
use crate::common::screen::{harmless, milliseconds};
use crate::common::{self, ClockKind, ClockOptions, Failure, PonderKind, SetupOptions};

/// The option.
#[derive(Args, Debug, Clone, Default)]
pub struct AsOptions {
    /// Plays under the conditions of the contest at this address: its rules, maps, clock and sandbox. They are cached for
    /// a few days, for use without a network
    #[arg(long = "as", value_name = "URL", help_heading = "Contest")]
    pub contest: Option<String>,
}

/// A contest's description of itself, and its date.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// In milliseconds since 1970.
    at: i64,
    contest: Contest,
}

/// The conditions of a contest.
pub struct Conditions {
    /// The contest's address.
    pub address: Address,
    /// Its description of itself.
    pub contest: Contest,
    pub game: &'static dyn AnyGame,
    at: i64,
    folder: PathBuf,
}

impl AsOptions {
    /// The conditions of the named contest; none if none is named.
    ///
    /// # Errors
    /// When it cannot be reached and nothing is kept of it, or when this program does not know what it plays.
    pub fn find(&self) -> Result<Option<Conditions>, Failure> {
        let Some(url) = &self.contest else { return Ok(None) };
        let address = Address::parse(url)?;
        let folder =
            build::cache().join("contests").join(format!("{:016x}", content::of_text(address.0.as_bytes())));
        let file = folder.join("contest.json");
        let failed = |error: io::Error| Failure::own(format!("{}: {error}", file.display()));
        // Public data needs no token.
        let line = Line::kept(&address)?;
        let kept = match Online::new(address.clone(), None, &line)?.get::<Contest>("/contest", &[]) {
            Ok(contest) => {
                let kept = Kept { at: common::now_ms(), contest };
                let text = serde_json::to_vec(&kept).map_err(|error| Failure::own(error.to_string()))?;
                fs::create_dir_all(&folder).and_then(|()| put(&file, &text)).map_err(failed)?;
                kept
            }
            Err(Trouble::Away(why)) => {
                let text = fs::read(&file).ok();
                let kept = text.and_then(|text| serde_json::from_slice::<Kept>(&text).ok());
                let kept = kept.ok_or_else(|| {
                    Failure::own(format!("{why}; and this machine has no saved copy of its settings"))
                })?;
                eprintln!("note: {}; using what it said {} ago", harmless(&why), ago(kept.at));
                kept
            }
            Err(trouble) => return Err(trouble.into()),
        };
        let Kept { at, contest } = kept;
        let game = common::game(&contest.game)?;
        let info = game.info();
        if contest.rules_version != info.rules_version || contest.maps.is_empty() {
            return Err(Failure::usage(format!(
                "{address} plays version {} of the rules of {}, and this program has {}: use the program that the contest runs ({})",
                contest.rules_version,
                info.title,
                info.rules_version,
                harmless(&contest.program)
            )));
        }
        Ok(Some(Conditions { address, contest, game, at, folder }))
    }
}

/// The map of a contest, found by its name or its number from 1.
///
/// # Errors
/// When it has no such map.
pub fn ground<'a>(contest: &'a Contest, named: &str) -> Result<&'a Ground, Failure> {
    let maps = &contest.maps;
    maps.iter().find(|map| map.name == named || map.number.to_string() == named).ok_or_else(|| {
        let known: Vec<String> =
            maps.iter().map(|map| format!("{} {}", map.number, harmless(&map.name))).collect();
        Failure::usage(match &known[..] {
            [_] => format!("--map {named}: the contest has only one map; leave --map out"),
            known => format!("--map {named}: the contest has {}", known.join(", ")),
        })
    })
}

/// Writes a file so that nobody ever finds half of it.
fn put(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, file))
}

/// How long ago a contest said something.
fn ago(at: i64) -> String {
    match common::now_ms() - at {
        ..120_000 => "a moment".to_owned(),
        ms => common::span(ms),
    }
}

impl Conditions {
    /// Checks that this is the game of the contest.
    ///
    /// # Errors
    /// When it is another game.
    pub fn check_game(&self, game: &str) -> Result<(), Failure> {
        match game == self.contest.game {
            true => Ok(()),
            false => Err(Failure::usage(format!(
                "--as {}: that contest plays {}, and not {game}",
                self.address, self.contest.game
            ))),
        }
    }

    /// Checks that matches of the contest have this many seats.
    ///
    /// # Errors
    /// When it is another number.
    pub fn check_seats(&self, bots: usize) -> Result<(), Failure> {
        let seats = usize::from(self.contest.seats);
        match bots == seats {
            true => Ok(()),
            false => Err(Failure::usage(format!(
                "--as {}: its matches have {seats} seats, but {bots} bots are named",
                self.address
            ))),
        }
    }

    /// Rules and maps of the contest; a map that was named must be one of its maps, by its name or its number.
    ///
    /// # Errors
    /// When other rules were requested as well, or there is no such map.
    pub fn setup(&self, typed: &SetupOptions) -> Result<SetupOptions, Failure> {
        let ground = self.ground(typed.map.as_deref())?;
        Ok(SetupOptions {
            seed: typed.seed,
            map: self.map(ground)?,
            rules: Some(self.rules(ground, typed.rules.as_ref(), &typed.set, typed.strict)?),
            set: Vec::new(),
            strict: false,
        })
    }

    /// The maps of the contest, all of them if none was named, and the rules of the first.
    ///
    /// # Errors
    /// As [`Conditions::setup`].
    pub fn grounds(
        &self,
        typed: &[String],
        rules: Option<&String>,
        set: &[String],
    ) -> Result<(Vec<String>, String), Failure> {
        let grounds: Vec<&Ground> = match typed {
            [] => self.contest.maps.iter().collect(),
            named => named.iter().map(|name| self.ground(Some(name))).collect::<Result<_, _>>()?,
        };
        let rules = self.rules(grounds[0], rules, set, false)?;
        let mut maps = Vec::new();
        for ground in grounds {
            maps.extend(self.map(ground)?);
        }
        Ok((maps, rules))
    }

    fn ground(&self, named: Option<&str>) -> Result<&Ground, Failure> {
        match named {
            None => Ok(&self.contest.maps[0]),
            Some(named) => ground(&self.contest, named),
        }
    }

    /// The rules as a word of the command line: a preset if one is equal, else a file.
    fn rules(
        &self,
        ground: &Ground,
        typed: Option<&String>,
        set: &[String],
        strict: bool,
    ) -> Result<String, Failure> {
        if typed.is_some() || !set.is_empty() || strict {
            return Err(Failure::usage(
                "--as takes the contest's rules: leave out --rules, --set and --strict",
            ));
        }
        let seats = self.contest.seats;
        let preset = self.game.info().presets.iter().find(|preset| {
            let rules = RulesChoice { preset: preset.name.to_owned(), ..RulesChoice::default() };
            let setup = Setup { rules, seats, ..Setup::default() };
            self.game.open(&setup).is_ok_and(|session| session.recipe().rules == ground.rules)
        });
        match preset {
            Some(preset) => Ok(preset.name.to_owned()),
            None => self.file(&format!("rules-{}", ground.number), &ground.rules_name, &ground.rules),
        }
    }

    /// The map as a word of the command line; none for the game's usual one.
    fn map(&self, ground: &Ground) -> Result<Option<String>, Failure> {
        let (name, content) = match &ground.map {
            Map::Default => return Ok(None),
            Map::Generated => return Ok(Some("generate".to_owned())),
            Map::Whole { name, content } => (name, content),
        };
        let known = self.game.info().maps.iter().find(|map| {
            let setup = Setup {
                map: MapChoice::Named(map.name.to_owned()),
                seats: self.contest.seats,
                ..Setup::default()
            };
            map.name == name && self.game.open(&setup).is_ok_and(|session| session.recipe().map == *content)
        });
        match known {
            Some(map) => Ok(Some(map.name.to_owned())),
            None => self.file(&format!("map-{}", ground.number), name, content).map(Some),
        }
    }

    /// Writes a file of the contest beside its kept description. Part of the file's name comes from a stranger.
    fn file(&self, what: &str, name: &str, text: &str) -> Result<String, Failure> {
        let plain: String = name
            .chars()
            .map(|sign| if sign.is_ascii_alphanumeric() || ".-_".contains(sign) { sign } else { '-' })
            .collect();
        let path = self.folder.join(format!("{what}-{}", plain.chars().take(60).collect::<String>()));
        put(&path, text.as_bytes()).map_err(|error| Failure::own(format!("{}: {error}", path.display())))?;
        Ok(path.display().to_string())
    }

    /// The clock of the contest.
    ///
    /// # Errors
    /// When another clock was requested as well, or this program does not know the words of the contest's.
    pub fn clock(&self, typed: &ClockOptions) -> Result<ClockOptions, Failure> {
        if *typed != ClockOptions::default() {
            return Err(Failure::usage(
                "--as takes the contest's clock: leave out --clock, --ponder, --time-scale, --time-limit, --time-total and --no-timeouts",
            ));
        }
        let unknown = || {
            Failure::usage(format!(
                "{} uses the clock `{}`, which this program does not know",
                self.address,
                harmless(&self.contest.clock)
            ))
        };
        let clock: Clock = self.contest.clock.parse().map_err(|_| unknown())?;
        let ponder = [(Ponder::Stop, PonderKind::Stop), (Ponder::Allow, PonderKind::Allow)];
        let ponder = ponder
            .into_iter()
            .find(|(word, _)| word.to_string() == self.contest.ponder)
            .ok_or_else(unknown)?
            .1;
        Ok(ClockOptions {
            no_timeouts: !clock.limited,
            time_scale: Some(clock.scale).filter(|scale| *scale != 1.0),
            time_limit: clock.cap,
            time_total: clock.total,
            clock: if clock.tolerant { ClockKind::Site2026 } else { ClockKind::Original },
            ponder,
        })
    }

    /// Whether the contest runs bots in a sandbox.
    pub fn holds_bots(&self) -> bool {
        let machine = &self.contest.machine;
        machine.image.is_some() || matches!(machine.sandbox.as_deref(), Some("A" | "B" | "C"))
    }

    /// Says which conditions were used, and what differs here.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!(
            "played as in {} ({}), as it was {} ago",
            harmless(&self.contest.title).chars().take(80).collect::<String>(),
            self.address,
            ago(self.at)
        )];
        let (limits, machine) = (inside::limits(), &self.contest.machine);
        let other = |what: &str, there: Option<u64>, here: u64| {
            there
                .filter(|there| *there != here)
                .map(|there| format!("a bot has {there} {what} there, and {here} here"))
        };
        if self.holds_bots() {
            notes.extend(other("processes", machine.processes.map(u64::from), u64::from(limits.processes)));
            if inside::found().is_err() {
                notes.push("bots run in a sandbox there, which this machine does not have".to_owned());
            } else if machine.image.as_ref().is_some_and(|image| Images::own().named(image).is_err()) {
                notes.push(format!(
                    "bots run in an image there, and with this machine's own programs here; `{}` fetches it",
                    NextCommand::ImageGet.about([&self.address.0])
                ));
            }
        }
        notes
    }

    /// How many times as long an answer takes there as here, as a sentence.
    pub fn speed(&self) -> Option<String> {
        let slower = self.slower()?;
        Some(format!("an answer takes {slower:.2} times as long there as on this machine"))
    }

    /// How many times as long an answer takes there as here; none if the contest has no measurement.
    fn slower(&self) -> Option<f64> {
        let there = self.contest.machine.speed.filter(|speed| speed.is_finite() && *speed > 0.0)?;
        Some(speed::measure() / there)
    }

    /// What the slowest answer would take there.
    pub fn scaled(&self, (took, limit): (Duration, Duration)) -> Option<String> {
        let slower = self.slower()?;
        let (took, limit) = (took.as_secs_f64() * 1e3, limit.as_secs_f64() * 1e3);
        Some(format!(
            "your slowest answer ({} here) would take {} of {} there",
            milliseconds(took),
            milliseconds(took * slower),
            milliseconds(limit)
        ))
    }
}

/// The answer of a seat that came closest to its limit. The first one is left out: the program has to start, and it has
/// its own limit.
pub struct Slowest {
    seat: Seat,
    begun: bool,
    worst: Option<(Duration, Duration)>,
}

impl Slowest {
    pub fn new(seat: Seat) -> Self {
        Self { seat, begun: false, worst: None }
    }

    /// Its time, and its limit; none without a timed answer.
    pub fn found(&self) -> Option<(Duration, Duration)> {
        self.worst
    }
}

impl Observer for Slowest {
    fn stepped(&mut self, _: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        for ((seat, _), take) in step.answers.iter().zip(step.takes) {
            let own = take.limit.filter(|limit| *seat == self.seat && take.timed && !limit.is_zero());
            let Some(limit) = own else { continue };
            if !std::mem::replace(&mut self.begun, true) {
                continue;
            }
            let part = |(took, limit): (Duration, Duration)| took.as_secs_f64() / limit.as_secs_f64();
            if self.worst.is_none_or(|worst| part((take.charged, limit)) > part(worst)) {
                self.worst = Some((take.charged, limit));
            }
        }
        Ok(())
    }
}
