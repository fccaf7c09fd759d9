//! `agon why`: what goes with the losses of a bot, from the journal of a series.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use agon_contest::parallel::on_all_cpus;
use agon_contest::{Entry, Header, Kind, journal, standing};
use agon_stats::Repeats;
use agon_stats::causes::{Group, Outcomes, Set, found};
use agon_view::Course;
use agon_web::api::{CauseSort, Causes, GroupOfLosses, LostMatch};
use clap::Args;

use crate::common::folders::JOURNAL;
use crate::common::screen::{self, harmless};
use crate::common::{self, Done, Failure};
use crate::replay;
use crate::series::json::{Cause, CauseMatch, Why};
use crate::series::progress::thousands;
use crate::series::signs::{Own, Signs};

/// Examples for the help.
pub const EXAMPLES: &str = "Each sentence names something that goes with a bot's losses more often than with its other matches: map, seat and opponent,
faults, endings, and, if replays of all matches were kept, when it was decided and what the bot was behind in. Only
what is beyond noise is named, given everything that was tried (docs/statistics.md). A match counts as lost if
another bot finished ahead of it.

Examples:
  agon why agon-series/cultist-wars-gauntlet-1
  agon why agon-series/cultist-wars-gauntlet-1 --json
  agon why agon-series/deerhunt-tournament-2 --bot alice
  agon gauntlet deerhunt . builtin:rusher -n 400 --replays all      keeps the replays that the last of these need";

/// Options of `agon why`.
#[derive(Args, Debug)]
pub struct WhyOptions {
    /// The journal, or the folder of the series
    #[arg(value_name = "JOURNAL")]
    pub journal: PathBuf,
    /// The bot whose losses to explain, by its label [default: the first of the series]
    #[arg(long, value_name = "BOT")]
    pub bot: Option<String>,
    /// Prints the result as JSON, each group with all of its matches
    #[arg(long)]
    pub json: bool,
}

/// Of a longer series, only the last matches count.
const MOST_MATCHES: usize = 20_000;
/// Upper limit on the replays read, evenly spread.
const MOST_REPLAYS: usize = 2_000;
/// Events inside matches are compared when at least this share of the replays was kept, of the lost matches and of the
/// others.
const KEPT: f64 = 0.9;
/// How many sentences of each kind are shown, and how many matches below each.
const LISTED: [usize; 2] = [5, 3];

/// The headings above the sentences of each kind.
const HEADINGS: [&str; 2] = ["Where it lost", "How it lost"];

/// The same for a page, for the bot at an index in the header of the journal.
///
/// # Errors
/// A failure with a sentence, when the journal cannot be read or has no such bot.
pub fn for_page(path: &Path, bot: usize) -> Result<Causes, Failure> {
    let there = |header: &Header| match bot < header.bots.len() {
        true => Ok(bot),
        false => Err(Failure::usage(format!("this series has no bot {bot}"))),
    };
    let told = Told::of(path, there)?;
    let sorts = HEADINGS.iter().zip(&told.groups).map(|(heading, groups)| CauseSort {
        heading,
        causes: groups.iter().take(LISTED[0]).map(|group| told.for_page(group)).collect(),
    });
    Ok(Causes { heading: told.heading(), sorts: sorts.collect(), notes: told.notes.clone() })
}

/// Runs `agon why`.
pub fn run(options: &WhyOptions) -> Done {
    let told = Told::of(&options.journal, |header| about(header, options.bot.as_deref()))?;
    if options.json {
        let [places, happenings] = told.groups.each_ref().map(|groups| told.json(groups));
        let why = Why {
            game: &told.header.game,
            bot: &told.header.bots[told.bot].label,
            matches: told.matches.len(),
            lost: told.lost_in_all(),
            replays: told.read,
            tried: told.tried,
            notes: told.notes.clone(),
            places,
            happenings,
        };
        return common::print_json(&mut io::stdout().lock(), &why);
    }
    let screen = screen::output();
    let mut out = io::stdout().lock();
    writeln!(out, "{}", screen.strong(&told.heading()))?;
    for (heading, groups) in HEADINGS.iter().zip(&told.groups) {
        if !groups.is_empty() {
            writeln!(out, "\n{}", screen.strong(heading))?;
        }
        for group in groups.iter().take(LISTED[0]) {
            writeln!(out, "  {}.", told.sentence(group))?;
            let lost = told.lost(group);
            for own in lost.iter().take(LISTED[1]) {
                let place = format!("{}.{}", own.entry.block, own.entry.game);
                let turn =
                    fell(own).map(|(turn, points)| screen.dim(&format!("  lost {points} points at {turn}")));
                writeln!(out, "    {place:<6} {}{}", told.link(own), turn.unwrap_or_default())?;
            }
            if let more @ 1.. = lost.len().saturating_sub(LISTED[1]) {
                writeln!(out, "    {}", screen.dim(&format!("and {more} more; --json has all")))?;
            }
        }
    }
    if !told.notes.is_empty() {
        writeln!(out)?;
    }
    told.notes.iter().try_for_each(|note| writeln!(out, "{note}."))?;
    Ok(())
}

/// The index in the header of the bot to explain.
fn about(header: &Header, label: Option<&str>) -> Result<usize, Failure> {
    let labels = || {
        let labels: Vec<&str> = header.bots.iter().take(20).map(|bot| bot.label.as_str()).collect();
        harmless(&labels.join(", "))
    };
    match label {
        Some(label) => header.bots.iter().position(|bot| bot.label == label).ok_or_else(|| {
            Failure::usage(format!("--bot {label}: not in this series; its bots are {}", labels()))
        }),
        None if header.kind == Kind::Tournament => Err(Failure::usage(format!(
            "a tournament is about no bot in particular: name one with --bot; its bots are {}",
            labels()
        ))),
        None => Ok(0),
    }
}

/// The counting matches of a bot, in the order of their blocks, and how many of its matches only repeat others.
fn own(header: &Header, entries: Vec<Entry>, bot: usize) -> (Vec<Own>, u64) {
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
    let inside = "so what happened inside the matches is not compared; a series with --replays all keeps what that needs";
    match (share(true), share(false)) {
        // A bot that lost nothing, or everything, gets a note about that anyway.
        _ if !matches.iter().any(Own::is_lost) || matches.iter().all(Own::is_lost) => return 0,
        (lost, others) if lost >= KEPT && others >= KEPT => {}
        (lost, others) if lost + others == 0.0 => {
            notes.push(format!("no replay was kept, {inside}"));
            return 0;
        }
        _ => {
            notes.push(format!("only some replays were kept, most of them of lost matches, {inside}"));
            return 0;
        }
    }
    let every = matches.iter().filter(|own| kept(own)).count().div_ceil(MOST_REPLAYS).max(1);
    if every > 1 {
        notes.push(format!("one of {every} replays was read"));
    }
    let read = |own: &mut Own| -> Result<(), String> {
        let Some(file) = own.entry.kept_beside(journal)? else { return Ok(()) };
        let replay = replay::read(&file).map_err(|failure| match failure {
            Failure::Usage(why) | Failure::Own(why) => why,
            Failure::Check | Failure::Answer(_) | Failure::Unread => file.display().to_string(),
        })?;
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

/// Where a seat's chance dropped most, in the game's words, and by how many points.
fn fell(own: &Own) -> Option<(&str, u32)> {
    let course = own.course.as_ref()?;
    let (step, fall) = course.fall(own.seat)?;
    Some((&course.moments[step - 1], (100.0 * fall).round() as u32))
}

/// The findings, ready to be printed.
struct Told {
    header: Header,
    /// The index in the header of the bot to explain.
    bot: usize,
    matches: Vec<Own>,
    signs: Signs,
    folder: PathBuf,
    /// How many replays were read.
    read: usize,
    /// How many groups of matches were tried.
    tried: usize,
    /// What could not be compared, and why there is no group.
    notes: Vec<String>,
    /// Where it lost, and how.
    groups: [Vec<Group>; 2],
}

impl Told {
    /// Looks for what goes with the losses of one bot of a journal, or of the journal in a folder.
    fn of(path: &Path, about: impl Fn(&Header) -> Result<usize, Failure>) -> Result<Self, Failure> {
        let path = if path.is_dir() { path.join(JOURNAL) } else { path.to_owned() };
        let (mut entries, mut notes) = (Vec::new(), Vec::new());
        let past = journal::read(&path, |entry| entries.push(entry))
            .map_err(|error| Failure::usage(error.to_string()))?;
        let header = past.header;
        if entries.len() > MOST_MATCHES {
            notes.push(format!("only the last {} matches were looked at", thousands(MOST_MATCHES as u64)));
            entries.drain(..entries.len() - MOST_MATCHES);
        }
        let bot = about(&header)?;
        let (mut matches, repeats) = own(&header, entries, bot);
        if repeats > 0 {
            let repeats = thousands(repeats);
            notes.push(format!(
                "{repeats} matches only repeat what was played from the same start and do not count"
            ));
        }
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        let game = common::game(&header.game)?;
        let read = read_replays(&mut matches, &path, &mut notes);
        let signs = Signs::of(&matches, &header, game.info());
        let outcomes = Outcomes {
            lost: Set::of(matches.len(), |number| matches[number].is_lost()),
            blocks: matches.iter().map(|own| own.entry.block).collect(),
        };
        let places = signs.places_tried();
        let happenings = signs.happenings_tried();
        let tried =
            places.candidates.len() + happenings.iter().map(|family| family.candidates.len()).sum::<usize>();
        let groups = [found(&outcomes, &signs.signs, &[places]), found(&outcomes, &signs.signs, &happenings)];
        let mut told = Self { header, bot, matches, signs, folder, read, tried, notes, groups };
        told.notes.extend(told.nothing());
        Ok(told)
    }

    fn label(&self) -> String {
        harmless(&self.header.bots[self.bot].label)
    }

    fn lost_in_all(&self) -> usize {
        self.matches.iter().filter(|own| own.is_lost()).count()
    }

    /// `greedy lost 11 of 24 matches of Deerhunt`.
    fn heading(&self) -> String {
        let title = agon_games::find(&self.header.game).map_or(&*self.header.game, |game| game.info().title);
        let count = journal::count(self.matches.len(), "match", "matches");
        format!("{} lost {} of {count} of {title}", self.label(), thousands(self.lost_in_all() as u64))
    }

    /// Why there is no group, if there is none.
    fn nothing(&self) -> Option<String> {
        let (label, all, lost) = (self.label(), self.matches.len(), self.lost_in_all());
        match (all, lost) {
            (0, _) => Some("this journal holds no finished match of it yet".to_owned()),
            (_, 0) => Some(format!("{label} lost none of them: there is nothing to explain")),
            _ if lost == all => {
                Some(format!("{label} lost all of them: there are no others to compare them with"))
            }
            _ if self.groups.iter().all(Vec::is_empty) => Some(format!(
                "none of the {} groups of matches that were tried goes with its losses more often than with its other matches, \
                 beyond noise; more matches may show one",
                thousands(self.tried as u64)
            )),
            _ => None,
        }
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
    fn lost(&self, group: &Group) -> Vec<&Own> {
        let matches = group.matches.numbers().map(|number| &self.matches[number]);
        let mut lost: Vec<&Own> = matches.filter(|own| own.is_lost()).collect();
        lost.sort_by_key(|own| std::cmp::Reverse(fell(own).map(|(_, points)| points)));
        lost
    }

    /// How to look at a match: its replay, or the command that plays it again.
    fn link(&self, own: &Own) -> String {
        match &own.entry.replay {
            Some(replay) => {
                format!("agon watch {}", harmless(&self.folder.join(replay).display().to_string()))
            }
            None => harmless(&self.header.command(&own.entry)),
        }
    }

    fn json(&self, groups: &[Group]) -> Vec<Cause> {
        let cause = |group: &Group| Cause {
            sentence: self.sentence(group),
            signs: group.signs.iter().map(|place| self.signs.said[*place].words.clone()).collect(),
            lost: group.lost[0],
            of_lost: group.lost[1],
            others: group.others[0],
            of_others: group.others[1],
            chance: group.chance,
            matches: self.lost(group).into_iter().map(|own| self.json_match(own)).collect(),
        };
        groups.iter().map(cause).collect()
    }

    fn for_page(&self, group: &Group) -> GroupOfLosses {
        let lost = self.lost(group).into_iter().map(|own| {
            let fall = own.course.as_ref().and_then(|course| course.fall(own.seat));
            let turn = fell(own);
            LostMatch {
                block: own.entry.block,
                game: own.entry.game,
                step: fall.map(|(step, _)| step),
                fell: turn.map(|(turn, points)| format!("lost {points} points at {turn}")),
            }
        });
        GroupOfLosses { sentence: format!("{}.", self.sentence(group)), lost: lost.collect() }
    }

    fn json_match(&self, own: &Own) -> CauseMatch {
        let entry = &own.entry;
        CauseMatch {
            block: entry.block,
            game: entry.game,
            seat: own.seat + 1,
            seed: entry.seed.to_string(),
            map: entry.map.clone(),
            turn: fell(own).map(|(turn, _)| turn.to_owned()),
            fall: own.course.as_ref().and_then(|course| course.fall(own.seat)).map(|(_, fall)| fall),
            replay: entry.replay.as_ref().map(|replay| self.folder.join(replay).display().to_string()),
            command: self.header.command(entry),
        }
    }
}
