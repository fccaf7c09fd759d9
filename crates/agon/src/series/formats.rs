//! The formats of `agon tournament`: from options to what the journal keeps, and the final table.

use std::io;
use std::path::PathBuf;

use agon_contest::config::FormatName;
use agon_contest::format::Schedule;
use agon_contest::{FormatId, FormatSpec};
use agon_desk::ratings::{self, Anchors};
use agon_pairing::{FormatError, Swiss};
use clap::{Args, ValueEnum};

use crate::common::Failure;
use crate::common::folders::JOURNAL;
use crate::common::screen::{self, Screen};
use crate::common::table::{Cell, Table};
use crate::series::{Ready, USUAL_GAMES, json, newcomer};

/// Blocks of an encounter unless told otherwise.
const USUAL_BEST_OF: u32 = 3;
/// How many of the best have their order judged, unless told otherwise.
const USUAL_TOP: usize = 3;

/// Options of the format.
#[derive(Args, Debug, Clone, Default)]
pub struct FormatOptions {
    /// Who plays whom
    #[arg(long, value_enum, default_value_t, help_heading = "Format")]
    pub format: Name,
    /// Rounds of a swiss tournament [default: enough to leave one bot unbeaten]
    #[arg(long, value_name = "N", help_heading = "Format")]
    pub rounds: Option<u32>,
    /// Blocks of an encounter (one seed in all rotations of the seats) in knockout and double-elimination [default: 3]
    #[arg(long, value_name = "N", help_heading = "Format")]
    pub best_of: Option<u32>,
    /// With more than two seats: how many of each heat advance in knockout [default: half of them]
    #[arg(long, value_name = "N", help_heading = "Format")]
    pub advance: Option<usize>,
    /// Lets a ladder find only who the best K are, not the order of all
    #[arg(long, value_name = "K", help_heading = "Format")]
    pub decide_top: Option<usize>,
    /// Seeds the bots by the ratings of this journal or series; bots not in it come last [default: the order of
    /// the command]
    #[arg(long, value_name = "JOURNAL", help_heading = "Format")]
    pub seeding: Option<PathBuf>,
}

/// A format by name.
#[derive(ValueEnum, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Name {
    /// Every bot meets every other equally often
    #[default]
    RoundRobin,
    /// Rounds that pair bots of equal points, no pair twice
    Swiss,
    /// The loser of an encounter is out; with more than two seats, the best of each heat advance
    Knockout,
    /// A bot is out after losing two encounters
    DoubleElimination,
    /// Plays the pairs whose results say most about the ranking; -n is the average number of matches per bot
    Ladder,
}

impl From<FormatName> for Name {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::RoundRobin => Self::RoundRobin,
            FormatName::Swiss => Self::Swiss,
            FormatName::Knockout => Self::Knockout,
            FormatName::DoubleElimination => Self::DoubleElimination,
            FormatName::Ladder => Self::Ladder,
        }
    }
}

/// What is wrong with a number of a format: an option of the command line, or a key of a file.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// The key, as in a file.
    pub key: &'static str,
    /// The formats it applies to; empty when something else is wrong.
    names: &'static [Name],
    why: String,
}

impl Wrong {
    fn new(key: &'static str, why: impl Into<String>) -> Self {
        Self { key, names: &[], why: why.into() }
    }

    /// The key of an error from the format itself.
    fn of(error: &FormatError) -> Self {
        let key = match error {
            FormatError::Rounds { .. } => "rounds",
            FormatError::BestOf(_) => "best_of",
            FormatError::Advance { .. } => "advance",
            FormatError::Top { .. } => "decide_top",
            FormatError::Within(_) => "within",
            FormatError::Bots { .. } | FormatError::Seats(_) => "bots",
        };
        Self::new(key, error.to_string())
    }

    /// The error in terms of the command line.
    pub fn typed(&self) -> Failure {
        let option = match self.key {
            "games" => "-n".to_owned(),
            key => format!("--{}", key.replace('_', "-")),
        };
        Failure::usage(match self.names {
            [] if self.key == "bots" => self.why.clone(),
            [] => format!("{option}: {}", self.why),
            names => format!("{option} is for --format {}{}", words(names), self.why),
        })
    }

    /// The error in terms of the key of a file.
    pub fn written(&self) -> String {
        match self.names {
            [] => self.why.clone(),
            names => format!("it is for the format {}{}", words(names), self.why.replace("--", "")),
        }
    }
}

impl FormatOptions {
    /// Whether any of these options was given.
    pub fn is_given(&self) -> bool {
        let Self { format, rounds, best_of, advance, decide_top, seeding } = self;
        let numbers = [rounds.is_some(), best_of.is_some(), advance.is_some(), decide_top.is_some()];
        *format != Name::RoundRobin || numbers.contains(&true) || seeding.is_some()
    }

    /// The format of a tournament of `bots` bots; none for a round robin.
    pub fn form(&self, bots: usize, seats: u8, games: Option<u64>) -> Result<Option<FormatSpec>, Wrong> {
        let name = self.format;
        let only = |given: bool, key, names: &'static [Name]| match given && !names.contains(&name) {
            true => Err(Wrong { key, names, why: String::new() }),
            false => Ok(()),
        };
        const SEEDED: &[Name] = &[Name::Swiss, Name::Knockout, Name::DoubleElimination, Name::Ladder];
        only(self.rounds.is_some(), "rounds", &[Name::Swiss])?;
        only(self.best_of.is_some(), "best_of", &[Name::Knockout, Name::DoubleElimination])?;
        only(self.advance.is_some(), "advance", &[Name::Knockout])?;
        only(self.decide_top.is_some(), "decide_top", &[Name::Ladder])?;
        only(games.is_some(), "games", &[Name::RoundRobin, Name::Ladder]).map_err(|wrong| match name {
            Name::Swiss => {
                Wrong { why: "; --rounds says how long a swiss tournament is".to_owned(), ..wrong }
            }
            _ => wrong,
        })?;
        only(self.seeding.is_some(), "seeding", SEEDED)?;
        let best_of = self.best_of.unwrap_or(USUAL_BEST_OF);
        let many = usize::from(seats);
        let form = match name {
            Name::RoundRobin => return Ok(None),
            Name::Swiss => {
                FormatSpec::Swiss { rounds: self.rounds.unwrap_or_else(|| Swiss::usual_rounds(bots, many)) }
            }
            Name::Knockout if seats > 2 => {
                FormatSpec::Heats { best_of, advance: self.advance.unwrap_or(many / 2) }
            }
            Name::Knockout if self.advance.is_some() => {
                return Err(Wrong::new("advance", "with two seats, one bot always advances"));
            }
            Name::Knockout => FormatSpec::Knockout { best_of },
            Name::DoubleElimination if seats > 2 => {
                return Err(Wrong::new(
                    "format",
                    "double-elimination is for two seats; use knockout, which plays heats",
                ));
            }
            Name::DoubleElimination => FormatSpec::DoubleElimination { best_of },
            Name::Ladder => {
                let matches = games.unwrap_or(USUAL_GAMES).saturating_mul(bots as u64);
                let blocks = matches.div_ceil(u64::from(seats) * u64::from(seats));
                FormatSpec::Ladder { blocks: blocks.try_into().unwrap_or(u32::MAX), top: self.decide_top }
            }
        };
        let format = FormatId { form, seeding: (0..bots).collect(), ratings: Vec::new() };
        Schedule::new(&format, bots, seats).map_err(|error| Wrong::of(&error))?;
        Ok(Some(form))
    }

    /// The labels of bots by their ratings in the seeding journal, the best first.
    pub fn ranking(&self) -> Result<Vec<String>, Failure> {
        let Some(path) = &self.seeding else { return Ok(Vec::new()) };
        let path = if path.is_dir() { path.join(JOURNAL) } else { path.clone() };
        let read = ratings::read(&[path])?;
        let tables = ratings::tables(&read, &Anchors::default())?;
        Ok(tables.into_iter().flat_map(|table| table.ratings.bots).map(|bot| bot.bot).collect())
    }
}

fn words(names: &[Name]) -> String {
    let words = names.iter().filter_map(|name| Some(name.to_possible_value()?.get_name().to_owned()));
    words.collect::<Vec<_>>().join(" or ")
}

/// A format, and what it seeds its bots by.
#[derive(Debug, Clone)]
pub(crate) struct Seeded {
    pub form: FormatSpec,
    /// The labels of bots, the best first.
    pub ranking: Vec<String>,
    /// See [`FormatId`].
    pub ratings: Vec<i32>,
}

impl Seeded {
    /// What the journal records of it: the bots of `labels`, those in the ranking first and in its order.
    pub fn of(&self, labels: &[String]) -> FormatId {
        let place =
            |label: &String| self.ranking.iter().position(|ranked| ranked == label).unwrap_or(usize::MAX);
        let mut seeding: Vec<usize> = (0..labels.len()).collect();
        seeding.sort_by_key(|&bot| place(&labels[bot]));
        FormatId { form: self.form, seeding, ratings: self.ratings.clone() }
    }
}

/// How many of the best a ladder is to order.
fn top(form: &FormatSpec, bots: usize) -> usize {
    let wanted = match form {
        FormatSpec::Ladder { top, .. } => top.unwrap_or(USUAL_TOP),
        _ => USUAL_TOP,
    };
    wanted.min(bots.saturating_sub(1))
}

/// Prints the final table of a format.
pub fn show(out: &mut impl io::Write, screen: Screen, ready: &Ready) -> io::Result<()> {
    let header = ready.scheduler.header();
    let (Some(format), Some(places)) = (&header.format, ready.scheduler.table()) else { return Ok(()) };
    if let FormatSpec::Placement { within, .. } = format.form {
        return newcomer::show(out, screen, ready, within);
    }
    let swiss = matches!(format.form, FormatSpec::Swiss { .. });
    // In a ladder places follow from ratings, and bots meet different opponents: points would only seem to contradict them.
    let has_points = !matches!(format.form, FormatSpec::Ladder { .. });
    let mut table = Table::new().numbers("place", 0).names("bot");
    if has_points {
        table = table.numbers("points", 0);
    }
    if swiss {
        table = table.numbers("opponents' points", 1);
    }
    // Places count half opponents left behind, twice the points that contests use.
    let points = |halves: u64| Cell::from(format!("{:.1}", halves as f64 / 2.0));
    for place in &places {
        let label = screen::harmless(&header.bots[place.bot].label);
        let mut row = vec![Cell::from(place.place.to_string()), Cell::from(label)];
        row.extend(has_points.then(|| points(place.points)));
        row.extend(swiss.then(|| points(place.opponents)));
        table.row(row);
    }
    writeln!(out, "{}\n{}", screen.strong(&name(&format.form)), table.text(screen::room()))?;
    let top = top(&format.form, header.bots.len());
    if let Some(certainty) = ready.scheduler.certainty(top) {
        let best = places.iter().take(top).map(|place| screen::harmless(&header.bots[place.bot].label));
        let best: Vec<String> = best.collect();
        writeln!(
            out,
            "The order of the best {top} ({}) is {:.1} % certain.\n",
            best.join(", "),
            certainty * 100.0
        )?;
    }
    Ok(())
}

fn name(form: &FormatSpec) -> String {
    match form {
        FormatSpec::Swiss { rounds } => format!("Swiss, {rounds} rounds"),
        FormatSpec::Knockout { best_of } => format!("Knockout, best of {best_of} blocks"),
        FormatSpec::DoubleElimination { best_of } => format!("Double elimination, best of {best_of} blocks"),
        FormatSpec::Heats { best_of, advance } => {
            format!("Heats of {best_of} blocks, of which the best {advance} advance")
        }
        FormatSpec::Ladder { blocks, .. } => format!("Ladder of {blocks} blocks"),
        FormatSpec::Placement { .. } => "Placement".to_owned(),
    }
}

/// Adds the fields of a format that is not a round robin.
pub fn complete<'a>(result: &mut json::TournamentResult<'a>, ready: &'a Ready) {
    let header = ready.scheduler.header();
    let Some(format) = &header.format else { return };
    if let FormatSpec::Placement { within, .. } = format.form {
        result.placed = newcomer::json(ready, within);
    }
    let top = top(&format.form, header.bots.len());
    result.format = Some(format);
    result.places = ready.scheduler.table();
    result.certainty = ready.scheduler.certainty(top).map(|certainty| json::Certainty { top, certainty });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bots_are_seeded_by_a_ranking_and_then_in_the_order_of_the_command() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let form = FormatSpec::Swiss { rounds: 1 };
        let seeded = |ranking| Seeded { form, ranking, ratings: Vec::new() };
        let made = seeded(names(&["d", "x", "b"])).of(&names(&["a", "b", "c", "d"]));
        assert_eq!(made.seeding, [3, 1, 0, 2]);
        assert_eq!(seeded(Vec::new()).of(&names(&["a", "b"])).seeding, [0, 1]);
    }

    #[test]
    fn options_of_another_format_are_refused() {
        let of = |format| FormatOptions { format, ..FormatOptions::default() };
        let refused = |options: &FormatOptions, games| match options.form(8, 2, games) {
            Err(wrong) => match wrong.typed() {
                Failure::Usage(why) => why,
                other => panic!("{other:?}"),
            },
            _ => panic!("{options:?} is refused"),
        };
        let wrong = FormatOptions { rounds: Some(3), ..of(Name::Knockout) };
        assert_eq!(refused(&wrong, None), "--rounds is for --format swiss");
        assert_eq!(
            refused(&of(Name::Swiss), Some(10)),
            "-n is for --format round-robin or ladder; --rounds says how long a swiss tournament is"
        );
        assert!(
            refused(&FormatOptions { seeding: Some(PathBuf::new()), ..of(Name::RoundRobin) }, None)
                .contains("--seeding")
        );
        let form = |format, seats| of(format).form(8, seats, None).unwrap_or_else(|_| panic!("a form"));
        assert_eq!(form(Name::RoundRobin, 2), None);
        assert_eq!(form(Name::Swiss, 2), Some(FormatSpec::Swiss { rounds: 3 }));
        assert_eq!(form(Name::Knockout, 4), Some(FormatSpec::Heats { best_of: 3, advance: 2 }));
        assert_eq!(form(Name::Ladder, 2), Some(FormatSpec::Ladder { blocks: 200, top: None }));
        assert!(of(Name::DoubleElimination).form(8, 3, None).is_err());
    }
}
