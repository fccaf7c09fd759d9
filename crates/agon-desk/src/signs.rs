//! What can be said of the matches of a series when looking for why a bot lost: signs for [`agon_stats::causes`], each
//! in words.

use std::collections::{BTreeMap, BTreeSet};

use agon_contest::{Entry, JournalHeader};
use agon_game::GameInfo;
use agon_stats::causes::{Family, Set, Sign};
use agon_view::Course;

use crate::words::harmless;

/// A match of the bot under study.
pub(crate) struct Own {
    /// Its journal entry.
    pub entry: Entry,
    /// Where the bot sat, an index.
    pub seat: usize,
    /// How it went, if its replay was read.
    pub course: Option<Course>,
}

impl Own {
    /// How it ended for it, in a word.
    pub fn ended(&self) -> &'static str {
        let ranks = &self.entry.result.proven.ranks;
        let alike = ranks.iter().filter(|rank| **rank == ranks[self.seat]).count();
        match (self.is_lost(), alike) {
            (true, _) => "lost",
            (false, 1) => "won",
            (false, _) => "drawn",
        }
    }

    /// Whether another seat finished ahead of it.
    pub fn is_lost(&self) -> bool {
        self.entry.result.proven.ranks.iter().any(|rank| *rank < self.entry.result.proven.ranks[self.seat])
    }
}

/// The moments, as steps, at which the matches whose replays were read are compared.
pub(crate) fn moments(matches: &[Own]) -> BTreeSet<usize> {
    let read = matches.iter().filter(|own| own.course.is_some());
    let usual = at(&sorted(read.map(|own| own.entry.result.proven.steps)), 0.5);
    let moment = |part: &f64| tidy(f64::from(usual.unwrap_or(0)) * part);
    MOMENTS.iter().map(moment).filter(|moment| *moment > 0).collect()
}

/// What a sign is about. A group has at most one of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum About {
    /// Where it was played: known before the match.
    Map,
    Seat,
    Opponent,
    /// How it went.
    Fault,
    Rejected,
    Ending,
    Length,
    Swing,
    Feature,
}

impl About {
    /// Whether it is known before the match.
    pub fn is_place(self) -> bool {
        self <= Self::Opponent
    }
}

/// A sign in words.
pub(crate) struct Said {
    pub about: About,
    /// A statement about matches in the plural: `on map narrows`, `were behind in workers at turn 40`.
    pub words: String,
}

/// All that can be said of the matches.
pub(crate) struct Signs {
    pub said: Vec<Said>,
    pub signs: Vec<Sign>,
}

/// How many maps, opponents and endings are told apart: those with the most matches.
const MOST: usize = 30;
/// How many combinations of places are combined with what happened there: those with the most matches.
const PLACES: usize = 150;
/// Fractions of the usual length of a match at which standings are compared and a match may count as decided.
const MOMENTS: [f64; 3] = [0.125, 0.25, 0.5];
/// A lead is clear when it exceeds an even chance by this much.
const CLEARLY: f64 = 0.1;

impl Signs {
    /// What can be said of these matches of this series.
    pub fn of(matches: &[Own], header: &JournalHeader, info: &GameInfo) -> Self {
        let mut signs = Self { said: Vec::new(), signs: Vec::new() };
        signs.places(matches, header);
        signs.faults(matches);
        signs.ends(matches, info.step);
        signs.courses(matches, info);
        signs
    }

    fn say(
        &mut self,
        about: About,
        words: impl Into<String>,
        matches: &[Own],
        known: impl Fn(&Own) -> bool,
        holds: impl Fn(&Own) -> bool,
    ) {
        let known = Set::of(matches.len(), |number| known(&matches[number]));
        let holds = Set::of(matches.len(), |number| known.has(number) && holds(&matches[number]));
        // A sign that holds for none or for all tells nothing.
        if !holds.is_empty() && holds.len() < known.len() {
            self.said.push(Said { about, words: words.into() });
            self.signs.push(Sign { known, holds });
        }
    }

    fn places(&mut self, matches: &[Own], header: &JournalHeader) {
        for map in most(matches.iter().map(|own| &own.entry.map)) {
            let words = if map.is_empty() {
                "on the game's own map".into()
            } else {
                format!("on map {}", harmless(map))
            };
            self.say(About::Map, words, matches, |_| true, |own| own.entry.map == *map);
        }
        for seat in 0..usize::from(header.seats) {
            self.say(About::Seat, format!("in seat {}", seat + 1), matches, |_| true, |own| own.seat == seat);
        }
        let others = |own: &Own| -> BTreeSet<usize> {
            let bots = own.entry.bots.iter().enumerate().filter(|(seat, _)| *seat != own.seat);
            bots.map(|(_, bot)| *bot).collect()
        };
        for bot in most(matches.iter().flat_map(others)) {
            let label = harmless(&header.bots[bot].label);
            let words = if header.seats > 2 {
                format!("with {label} at the board")
            } else {
                format!("against {label}")
            };
            self.say(About::Opponent, words, matches, |_| true, |own| others(own).contains(&bot));
        }
    }

    fn faults(&mut self, matches: &[Own]) {
        let kinds = |own: &Own, is_own: bool| -> BTreeSet<String> {
            let of = own
                .entry
                .result
                .observed
                .faults
                .counted()
                .iter()
                .filter(|fault| (usize::from(fault.seat) == own.seat + 1) == is_own);
            of.map(|fault| fault.kind.clone()).collect()
        };
        let own_kinds = most(matches.iter().flat_map(|own| kinds(own, true)));
        if own_kinds.len() > 1 {
            let words = "had a fault of its own";
            self.say(About::Fault, words, matches, |_| true, |own| !kinds(own, true).is_empty());
        }
        for kind in own_kinds {
            let words = format!("had a fault of its own ({})", harmless(&kind));
            self.say(About::Fault, words, matches, |_| true, |own| kinds(own, true).contains(&kind));
        }
        let words = "had a fault of another bot";
        self.say(About::Fault, words, matches, |_| true, |own| !kinds(own, false).is_empty());
        let words = "had orders of it that the rules rejected";
        let rejected =
            |own: &Own| own.entry.result.observed.rejected.get(own.seat).is_some_and(|count| *count > 0);
        self.say(About::Rejected, words, matches, |_| true, rejected);
    }

    fn ends(&mut self, matches: &[Own], word: &str) {
        for ending in most(matches.iter().map(|own| without_numbers(&own.entry.result.proven.reason))) {
            let words = format!("ended with \"{}\"", harmless(&ending));
            self.say(
                About::Ending,
                words,
                matches,
                |_| true,
                |own| without_numbers(&own.entry.result.proven.reason) == ending,
            );
        }
        let steps = sorted(matches.iter().map(|own| own.entry.result.proven.steps));
        for part in [0.25, 0.75] {
            let Some(limit) = at(&steps, part) else { continue };
            let over = |own: &Own| own.entry.result.proven.steps <= limit;
            self.say(About::Length, format!("were over by {word} {limit}"), matches, |_| true, over);
            let words = format!("went on after {word} {limit}");
            self.say(About::Length, words, matches, |_| true, |own| !over(own));
        }
    }

    /// What the replays tell, for the matches whose replay was read.
    fn courses(&mut self, matches: &[Own], info: &GameInfo) {
        let word = info.step;
        let read = |own: &Own| own.course.is_some();
        let moments = moments(matches);
        for &moment in &moments {
            // A draw is never decided, which says nothing about losses.
            let decided = |own: &Own| own.course.as_ref().and_then(|course| course.decided(CLEARLY));
            let won = |own: &Own| decided(own).is_some();
            let by = |own: &Own| decided(own).is_some_and(|step| step <= moment);
            self.say(About::Swing, format!("were decided by {word} {moment}"), matches, won, by);
            let words = format!("were still open at {word} {moment}");
            self.say(About::Swing, words, matches, won, |own| !by(own));
        }
        let width = info.advantage.len();
        for (place, feature) in info.advantage.iter().enumerate() {
            let name = feature.name;
            // The bot's value, and the highest of the others.
            let values = |own: &Own, moment: usize| -> Option<(f64, f64)> {
                let course = own.course.as_ref()?;
                let standing = course.standings.get(moment).or(course.standings.last())?;
                let of = |row: &[f64]| row.get(place).copied();
                let rows = || standing.features.chunks(width);
                let others = rows().enumerate().filter(|(seat, _)| *seat != own.seat);
                let most = others.filter_map(|(_, row)| of(row)).max_by(f64::total_cmp)?;
                Some((rows().nth(own.seat).and_then(of)?, most))
            };
            for &moment in &moments {
                let now = |own: &Own| values(own, moment);
                let none = |own: &Own| {
                    now(own).is_some_and(|(own, _)| own == 0.0)
                        && values(own, 0).is_some_and(|(own, _)| own > 0.0)
                };
                let behind = |own: &Own| now(own).is_some_and(|(own, most)| own < most);
                let ahead = |own: &Own| now(own).is_some_and(|(own, most)| own > most);
                let say = |what: &str| format!("{what} at {word} {moment}");
                self.say(About::Feature, say(&format!("had no {name} left")), matches, read, none);
                self.say(About::Feature, say(&format!("were behind in {name}")), matches, read, behind);
                self.say(About::Feature, say(&format!("were ahead in {name}")), matches, read, ahead);
            }
        }
    }

    /// The places to try: single ones, and several of different kinds together.
    pub fn places_tried(&self) -> Family {
        let all: Vec<usize> =
            (0..self.said.len()).filter(|place| self.said[*place].about.is_place()).collect();
        let mut candidates: Vec<Vec<usize>> = all.iter().map(|place| vec![*place]).collect();
        let (mut from, mut to) = (0, candidates.len());
        // Singles are extended to pairs, then pairs to triples.
        for _ in 0..2 {
            for number in from..to {
                let known = candidates[number].clone();
                let last = self.said[*known.last().expect("none is empty")].about;
                let further = all.iter().filter(|place| self.said[**place].about > last);
                candidates.extend(further.map(|place| [&known[..], &[*place]].concat()));
            }
            (from, to) = (to, candidates.len());
        }
        Family { candidates, level: 0.02 }
    }

    /// The happenings to try: each sign alone, then two of different kinds or one in a place.
    pub fn happenings_tried(&self) -> [Family; 2] {
        let about = |place: &usize| self.said[*place].about;
        let happened: Vec<usize> = (0..self.said.len()).filter(|place| !about(place).is_place()).collect();
        let mut places = self.places_tried().candidates;
        places.retain(|places| places.len() < 3);
        let holds = |places: &Vec<usize>| {
            let sets = places.iter().map(|place| &self.signs[*place].holds);
            sets.map(Set::len).min().unwrap_or(0)
        };
        places.sort_by_key(|places| std::cmp::Reverse(holds(places)));
        places.truncate(PLACES);
        let mut together: Vec<Vec<usize>> = Vec::new();
        for one in &happened {
            let later = happened.iter().filter(|two| about(one) < about(two));
            together.extend(later.map(|two| vec![*one, *two]));
            together.extend(places.iter().map(|places| [&[*one], &places[..]].concat()));
        }
        let single = happened.iter().map(|place| vec![*place]).collect();
        [Family { candidates: single, level: 0.02 }, Family { candidates: together, level: 0.01 }]
    }

    /// The words of a group: `were behind in workers at turn 40, on map narrows in seat 2`.
    pub fn words(&self, places: &[usize]) -> String {
        let mut said: Vec<&Said> = places.iter().map(|place| &self.said[*place]).collect();
        said.sort_by_key(|said| said.about);
        let join = |is_place: bool, by: &str| {
            let words = said.iter().filter(|said| said.about.is_place() == is_place);
            words.map(|said| said.words.as_str()).collect::<Vec<_>>().join(by)
        };
        match (join(false, " and "), join(true, " ")) {
            (happened, place) if place.is_empty() => happened,
            (happened, place) if happened.is_empty() => format!("were {place}"),
            (happened, place) => format!("{happened}, {place}"),
        }
    }
}

/// The most frequent values, in their own order.
fn most<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    let mut counts: Vec<(T, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.truncate(MOST);
    let mut kept: Vec<T> = counts.into_iter().map(|(value, _)| value).collect();
    kept.sort();
    kept
}

fn sorted(values: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut values: Vec<u32> = values.collect();
    values.sort_unstable();
    values
}

/// The value that this fraction of them does not exceed.
fn at(sorted: &[u32], part: f64) -> Option<u32> {
    sorted.get(((sorted.len() as f64 * part) as usize).min(sorted.len().saturating_sub(1))).copied()
}

/// A step number rounded as a person would say it.
fn tidy(steps: f64) -> usize {
    let to = if steps >= 20.0 { 5.0 } else { 1.0 };
    ((steps / to).round() * to) as usize
}

/// An ending without its numbers: which seat it happened to, and how much, does not matter for how a match ended.
fn without_numbers(reason: &str) -> String {
    let mut told = String::new();
    for sign in reason.chars().take(200) {
        match sign.is_ascii_digit() {
            true if told.ends_with('N') => {}
            true => told.push('N'),
            false => told.push(sign),
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_of_either_player_are_one() {
        assert_eq!(without_numbers("player 2 has no unit left"), "player N has no unit left");
        assert_eq!(without_numbers("player 10 lost 3 of 12"), "player N lost N of N");
    }

    #[test]
    fn steps_are_named_by_tidy_numbers() {
        assert_eq!([3.4, 18.7, 37.5, 61.0].map(tidy), [3, 19, 40, 60]);
        assert_eq!(at(&[1, 2, 3, 4], 0.5), Some(3));
        assert_eq!(at(&[], 0.5), None);
    }
}
