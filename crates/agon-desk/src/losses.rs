//! What goes with the losses of a bot, from the journal of a series.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agon_contest::parallel::on_all_cpus;
use agon_contest::{Entry, JournalHeader, journal, standing};
use agon_game::{Feature, GameInfo};
use agon_stats::Repeats;
use agon_stats::causes::{Group, Outcomes, Set, found};
use agon_view::Course;
use serde::Serialize;

use crate::DeskError;
use crate::replays;
use crate::signs::{Own, Signs, moments};
use crate::words::{harmless, thousands};

/// Of a longer series, only the last matches count.
const MOST_MATCHES: usize = 20_000;
/// Upper limit on the replays read, evenly spread.
const MOST_REPLAYS: usize = 2_000;
/// Events inside matches are compared when at least this share of the replays was kept, of the lost matches and of the
/// others.
const KEPT: f64 = 0.9;
/// What `agon why --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS), ts(rename = "Why"))]
#[expect(missing_docs, reason = "the other field is named after what it is")]
pub struct Losses {
    pub game: String,
    /// The bot whose losses are explained.
    pub bot: String,
    /// Its matches that count.
    pub matches: usize,
    /// In how many of them another bot finished ahead of it.
    pub lost: usize,
    /// How many replays were read.
    pub replays: usize,
    /// How many groups of matches were tried.
    pub tried: usize,
    /// What could not be compared, and why there is no group, in sentences.
    pub notes: Vec<String>,
    /// Groups by where a match was played: map, seat, opponent. The most certain first.
    pub places: Vec<LossGroup>,
    /// Groups by what happened in the match.
    pub happenings: Vec<LossGroup>,
    /// Where no group stands out: the usual course of the matches by how they ended, at a few moments.
    pub course: Vec<UsualMoment>,
    /// All lost matches, in the order of their blocks.
    #[serde(skip)]
    pub all: Vec<GroupedLoss>,
}

/// How the matches of a bot stood at a moment, by how they ended. Nothing is claimed of the difference.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct UsualMoment {
    /// `turn 20`.
    pub at: String,
    /// Those that went on then, of each way of ending that there is.
    pub standings: Vec<UsualStanding>,
}

/// The mean standing of matches that ended alike.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the other fields are named after what they are")]
pub struct UsualStanding {
    /// `won`, `drawn` or `lost`.
    pub ended: &'static str,
    pub matches: usize,
    /// Of the bot to finish first, from 0 to 1.
    pub chance: f64,
    /// The first things that speak for a seat in this game: the bot's own, and the most of the others.
    pub features: Vec<UsualFeature>,
}

/// The mean of something that speaks for a seat.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the other fields are named after what they are")]
pub struct UsualFeature {
    pub name: &'static str,
    pub own: f64,
    pub most: f64,
}

/// A group of matches that holds a larger share of the losses than of the other matches.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS), ts(rename = "Cause"))]
#[expect(missing_docs, reason = "the other field is named after what it is")]
pub struct LossGroup {
    pub sentence: String,
    /// What its matches have in common; all of it applies together.
    pub signs: Vec<String>,
    /// How many of the losses are in it, and of how many losses this is known.
    pub lost: usize,
    pub of_lost: usize,
    /// The same for the other matches.
    pub others: usize,
    pub of_others: usize,
    /// How often chance alone would give so large a share of the losses, for this group by itself.
    pub chance: f64,
    /// Its lost matches, those with the largest single drop in its chance first.
    pub matches: Vec<GroupedLoss>,
}

/// A lost match of a group.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS), ts(rename = "CauseMatch"))]
#[expect(missing_docs, reason = "the other fields are named after what they are")]
pub struct GroupedLoss {
    /// From 1.
    pub block: u64,
    /// In the block, from 1.
    pub game: u32,
    /// Of the bot, from 1.
    pub seat: usize,
    pub seed: String,
    pub map: String,
    /// Where the bot's chance dropped most at once, in the game's words, and by how much, up to 1; null without its replay.
    pub turn: Option<String>,
    pub fall: Option<f64>,
    /// Which step that was, from 1.
    #[serde(skip)]
    pub step: Option<usize>,
    /// The file, if it was kept; of a match of a contest, its number there.
    pub replay: Option<String>,
    /// The command that plays it again; empty for a match of a contest.
    pub command: String,
}

impl Losses {
    /// Looks for what goes with the losses of one bot of a journal: the one that `about` finds in its header, by its index there.
    ///
    /// # Errors
    /// When the journal cannot be read, or `about` finds none.
    pub fn of(
        journal: &Path,
        about: impl Fn(&JournalHeader) -> Result<usize, DeskError>,
    ) -> Result<Self, DeskError> {
        let (mut entries, mut notes) = (Vec::new(), Vec::new());
        let past = journal::read(journal, |entry| entries.push(entry))
            .map_err(|error| DeskError::Impossible(error.to_string()))?;
        let header = past.header;
        if entries.len() > MOST_MATCHES {
            notes.push(format!("only the last {} matches were looked at", thousands(MOST_MATCHES as u64)));
            entries.drain(..entries.len() - MOST_MATCHES);
        }
        let bot = about(&header)?;
        let (mut all, repeats) = own(&header, entries, bot);
        if repeats > 0 {
            let repeats = thousands(repeats);
            notes
                .push(format!("matches that only repeat others from the same start do not count: {repeats}"));
        }
        let game = agon_games::named(&header.game).map_err(DeskError::Impossible)?;
        let replays = read_replays(&mut all, journal, &mut notes);
        let folder = journal.parent().unwrap_or(Path::new(".")).to_owned();
        Ok(Self::among(header, all, (bot, replays), notes, Some(folder), game.info()))
    }

    /// The same for matches of a contest, and how each went, where that is known; all of them count. `header` names the game, the seats and
    /// the bots; an entry names its match in place of its replay.
    ///
    /// # Errors
    /// When the program has no such game.
    pub fn of_matches(
        header: JournalHeader,
        played: Vec<(Entry, Option<Course>)>,
        bot: usize,
    ) -> Result<Self, DeskError> {
        let game = agon_games::named(&header.game).map_err(DeskError::Impossible)?;
        let own = |(entry, course): (Entry, Option<Course>)| {
            let seat = entry.bots.iter().position(|other| *other == bot)?;
            Some(Own { entry, seat, course })
        };
        let all: Vec<Own> = played.into_iter().filter_map(own).collect();
        let read = all.iter().filter(|own| own.course.is_some()).count();
        Ok(Self::among(header, all, (bot, read), Vec::new(), None, game.info()))
    }

    fn among(
        header: JournalHeader,
        all: Vec<Own>,
        (bot, replays): (usize, usize),
        notes: Vec<String>,
        folder: Option<PathBuf>,
        info: &'static GameInfo,
    ) -> Self {
        let signs = Signs::of(&all, &header, info);
        let outcomes = Outcomes {
            lost: Set::of(all.len(), |number| all[number].is_lost()),
            blocks: all.iter().map(|own| own.entry.block).collect(),
        };
        let places = signs.places_tried();
        let happenings = signs.happenings_tried();
        let tried =
            places.candidates.len() + happenings.iter().map(|family| family.candidates.len()).sum::<usize>();
        let groups = [found(&outcomes, &signs.signs, &[places]), found(&outcomes, &signs.signs, &happenings)];
        let matches = Matches { header, all, signs, folder };
        let [places, happenings] = groups.map(|groups| matches.groups(&groups));
        let mut losses = Self {
            game: matches.header.game.clone(),
            bot: matches.header.bots[bot].label.clone(),
            matches: matches.all.len(),
            lost: matches.all.iter().filter(|own| own.is_lost()).count(),
            replays,
            tried,
            notes,
            places,
            happenings,
            course: Vec::new(),
            all: matches.all.iter().filter(|own| own.is_lost()).map(|own| matches.loss(own)).collect(),
        };
        if losses.lost > 0 && losses.places.is_empty() && losses.happenings.is_empty() {
            losses.course = course(&matches.all, info);
        }
        losses.notes.extend(losses.nothing());
        losses
    }

    /// `greedy lost 11 of 24 matches of Deerhunt`.
    pub fn heading(&self) -> String {
        let title = agon_games::find(&self.game).map_or(&*self.game, |game| game.info().title);
        let count = journal::count(self.matches, "match", "matches");
        format!("{} lost {} of {count} of {title}", harmless(&self.bot), thousands(self.lost as u64))
    }

    /// The groups of each sort, by where and by how it lost, below their headings.
    pub fn sorts(&self) -> [(&'static str, &[LossGroup]); 2] {
        [("Where it lost", &self.places), ("How it lost", &self.happenings)]
    }

    /// The usual course, a line for each moment: `turn 20: in 24 won a chance of 55 %, units 5.1 : 4.2; in 16 lost a chance of ...`.
    pub fn course_lines(&self) -> Vec<String> {
        let standing = |standing: &UsualStanding| {
            let feature =
                |UsualFeature { name, own, most }: &UsualFeature| format!("{name} {own:.1} : {most:.1}");
            let features: Vec<String> = standing.features.iter().map(feature).collect();
            let UsualStanding { ended, matches, chance, .. } = standing;
            format!("in {matches} {ended} a chance of {:.0} %, {}", 100.0 * chance, features.join(", "))
        };
        let line = |moment: &UsualMoment| {
            let standings: Vec<String> = moment.standings.iter().map(standing).collect();
            format!("{}: {}", moment.at, standings.join("; "))
        };
        self.course.iter().map(line).collect()
    }

    /// Why there is no group, if there is none.
    fn nothing(&self) -> Option<String> {
        let label = harmless(&self.bot);
        match (self.matches, self.lost) {
            (0, _) => Some("there is no finished match of it yet".to_owned()),
            (_, 0) => Some(format!("{label} lost none of them: there is nothing to explain")),
            (all, lost) if lost == all => {
                Some(format!("{label} lost all of them: there are no others to compare them with"))
            }
            _ if self.places.is_empty() && self.happenings.is_empty() => Some(format!(
                "nothing stands out: of {} patterns that were tried none is significantly more common in its losses; more matches may \
                 reveal one",
                thousands(self.tried as u64)
            )),
            _ => None,
        }
    }
}

impl GroupedLoss {
    /// `lost 34 points at turn 12`: where its chance dropped most at once; none without its replay.
    pub fn fell(&self) -> Option<String> {
        Some(format!("lost {} points at {}", points(self.fall?), self.turn.as_ref()?))
    }
}

/// How many things that speak for a seat are told of the usual course.
const TOLD: usize = 2;

/// The usual course of these matches.
fn course(all: &[Own], info: &'static GameInfo) -> Vec<UsualMoment> {
    let width = info.advantage.len();
    let standing = |ended: &'static str, moment: usize| -> Option<UsualStanding> {
        let there: Vec<(usize, &[f64], f64)> = all
            .iter()
            .filter(|own| own.ended() == ended)
            .filter_map(|own| {
                let course = own.course.as_ref()?;
                // The last entry is the end, which is known anyway.
                let chance = course.chances.get(moment + 1).and(course.chances.get(moment))?;
                Some((own.seat, &course.standings.get(moment)?.features[..], *chance.get(own.seat)?))
            })
            .collect();
        let count = there.len();
        let mean =
            |of: &dyn Fn(&(usize, &[f64], f64)) -> f64| there.iter().map(of).sum::<f64>() / count as f64;
        let feature = |(place, feature): (usize, &Feature)| {
            let of = |row: &[f64]| row.get(place).copied().unwrap_or(0.0);
            UsualFeature {
                name: feature.name,
                own: mean(&|(seat, features, _)| features.chunks(width).nth(*seat).map_or(0.0, of)),
                most: mean(&|(seat, features, _)| {
                    let others = features.chunks(width).enumerate().filter(|(other, _)| other != seat);
                    others.map(|(_, row)| of(row)).fold(f64::NEG_INFINITY, f64::max)
                }),
            }
        };
        (count > 0).then(|| UsualStanding {
            ended,
            matches: count,
            chance: mean(&|(.., chance)| *chance),
            features: info.advantage.iter().enumerate().take(TOLD).map(feature).collect(),
        })
    };
    let moment = |moment: &usize| UsualMoment {
        at: format!("{} {moment}", info.step),
        standings: ["won", "drawn", "lost"].iter().filter_map(|ended| standing(ended, *moment)).collect(),
    };
    let moments: Vec<UsualMoment> = moments(all).iter().map(moment).collect();
    moments.into_iter().filter(|moment| !moment.standings.is_empty()).collect()
}

/// A chance in points.
fn points(fall: f64) -> u32 {
    (100.0 * fall).round() as u32
}

/// The counting matches of a bot, in the order of their blocks, and how many of its matches only repeat others.
fn own(header: &JournalHeader, entries: Vec<Entry>, bot: usize) -> (Vec<Own>, u64) {
    let mut blocks: BTreeMap<u64, Vec<Entry>> = BTreeMap::new();
    entries.into_iter().for_each(|entry| blocks.entry(entry.block).or_default().push(entry));
    let of_bot = |entry: Entry| {
        let seat = entry.bots.iter().position(|other| *other == bot)?;
        Some(Own { entry, seat, course: None })
    };
    let (mut repeats, mut matches, mut all) = (Repeats::default(), Vec::new(), 0);
    for mut entries in blocks.into_values() {
        entries.sort_by_key(|entry| entry.game);
        all += entries.iter().filter(|entry| entry.bots.contains(&bot)).count();
        let (start, answers) = (standing::start(header, &entries), standing::fingerprint(&entries));
        let counts = repeats.add(start, answers, entries);
        matches.extend(counts.into_iter().flatten().filter_map(of_bot));
    }
    let left_out = (all - matches.len()) as u64;
    (matches, left_out)
}

/// Reads the replays, if enough were kept to compare lost matches with others; returns how many were read.
fn read_replays(matches: &mut [Own], journal: &Path, notes: &mut Vec<String>) -> usize {
    let kept = |own: &Own| own.entry.replay.is_some();
    let share = |lost: bool| {
        let of: Vec<&Own> = matches.iter().filter(|own| own.is_lost() == lost).collect();
        of.iter().filter(|own| kept(own)).count() as f64 / of.len().max(1) as f64
    };
    let inside = "so what happened inside the matches cannot be compared; run the series with --replays all to keep them";
    match (share(true), share(false)) {
        // A bot that lost nothing, or everything, gets a note about that anyway.
        _ if !matches.iter().any(Own::is_lost) || matches.iter().all(Own::is_lost) => return 0,
        (lost, others) if lost >= KEPT && others >= KEPT => {}
        (lost, others) if lost + others == 0.0 => {
            notes.push(format!("no replay was kept, {inside}"));
            return 0;
        }
        _ => {
            notes.push(format!("most replays of matches that were not lost are gone, {inside}"));
            return 0;
        }
    }
    let every = matches.iter().filter(|own| kept(own)).count().div_ceil(MOST_REPLAYS).max(1);
    if every > 1 {
        notes.push(format!("one of {every} replays was read"));
    }
    let read = |own: &mut Own| -> Result<(), String> {
        let Some(file) = own.entry.kept_beside(journal)? else { return Ok(()) };
        let replay = replays::read(&file).map_err(|error| error.to_string())?;
        own.course = Some(Course::of(&replay).map_err(|why| format!("{}: {why}", file.display()))?);
        Ok(())
    };
    let chosen: Vec<&mut Own> = matches.iter_mut().filter(|own| kept(own)).step_by(every).collect();
    let read: Vec<Result<(), String>> = on_all_cpus(chosen, read);
    let failed: Vec<&String> = read.iter().filter_map(|read| read.as_ref().err()).collect();
    if let [first, ..] = failed[..] {
        notes.push(format!(
            "{} cannot be computed again, as {first}",
            journal::count(failed.len(), "replay", "replays")
        ));
    }
    read.len() - failed.len()
}

/// The matches of the bot whose losses are explained.
struct Matches {
    header: JournalHeader,
    all: Vec<Own>,
    signs: Signs,
    /// The folder of the series; none for matches of a contest.
    folder: Option<PathBuf>,
}

impl Matches {
    fn groups(&self, groups: &[Group]) -> Vec<LossGroup> {
        let group = |group: &Group| LossGroup {
            sentence: self.sentence(group),
            signs: group.signs.iter().map(|place| self.signs.said[*place].words.clone()).collect(),
            lost: group.lost[0],
            of_lost: group.lost[1],
            others: group.others[0],
            of_others: group.others[1],
            chance: group.chance,
            matches: self.lost(group),
        };
        groups.iter().map(group).collect()
    }

    /// `41 % of the losses (23 of 56) were on map narrows; of the other matches 8 % (5 of 64)`.
    fn sentence(&self, group: &Group) -> String {
        let share = |[with, all]: [usize; 2]| format!("{:.0} %", 100.0 * with as f64 / all.max(1) as f64);
        let [lost, others] = [group.lost, group.others];
        format!(
            "{} of the losses ({} of {}) {}; of the other matches {} ({} of {})",
            share(lost),
            lost[0],
            lost[1],
            self.signs.words(&group.signs),
            share(others),
            others[0],
            others[1]
        )
    }

    /// The lost matches of a group; those with the largest single drop first.
    fn lost(&self, group: &Group) -> Vec<GroupedLoss> {
        let own = group.matches.numbers().map(|number| &self.all[number]);
        let mut lost: Vec<GroupedLoss> = own.filter(|own| own.is_lost()).map(|own| self.loss(own)).collect();
        lost.sort_by_key(|loss| std::cmp::Reverse(loss.fall.map(points)));
        lost
    }

    fn loss(&self, own: &Own) -> GroupedLoss {
        let entry = &own.entry;
        let (step, fall) = own.course.as_ref().and_then(|course| course.fall(own.seat)).unzip();
        let moment = |course: &Course| Some(course.moments[step? - 1].clone());
        let place = |replay: &String| match &self.folder {
            Some(folder) => folder.join(replay).display().to_string(),
            None => replay.clone(),
        };
        GroupedLoss {
            block: entry.block,
            game: entry.game,
            seat: own.seat + 1,
            seed: entry.seed.to_string(),
            map: entry.map.clone(),
            turn: own.course.as_ref().and_then(moment),
            fall,
            step,
            replay: entry.replay.as_ref().map(place),
            command: self.folder.as_ref().map_or_else(String::new, |_| self.header.command(entry)),
        }
    }
}
