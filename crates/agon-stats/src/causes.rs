//! What goes with the losses of a bot more often than with its other matches, beyond noise.
//!
//! A **sign** is something that holds for a match or not: it was on this map, a worker was missing by turn 40. A group is one sign
//! or several together. Many groups are tried, so a few look significant by chance alone; [`found`] returns those that remain when
//! that is taken into account, each with what it adds to those before it. `docs/statistics.md` says how.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// A group whose chance is above this after the groups before it only repeats what they say.
const SAID: f64 = 0.05;

/// Some of the matches, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Set(Vec<u64>);

impl Set {
    /// Those of `count` matches for which `is` holds.
    pub fn of(count: usize, is: impl Fn(usize) -> bool) -> Self {
        let word = |word: usize| {
            let bits = (0..64).filter(|bit| word * 64 + bit < count && is(word * 64 + bit));
            bits.fold(0, |all, bit| all | 1 << bit)
        };
        Self((0..count.div_ceil(64)).map(word).collect())
    }

    /// The number of matches in it.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Whether it contains a match.
    pub fn has(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Their numbers, in order.
    pub fn numbers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.0.len() * 64).filter(|&number| self.has(number))
    }

    fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, two)| one & two).collect())
    }

    fn but(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, two)| one & !two).collect())
    }
}

/// The matches of a bot, and which of them it lost.
#[derive(Clone, Debug)]
pub struct Outcomes {
    /// The matches it lost.
    pub lost: Set,
    /// The block of each match: matches of one block share their luck.
    pub blocks: Vec<u64>,
}

/// Something that holds for a match or not.
#[derive(Clone, Debug)]
pub struct Sign {
    /// The matches for which it is known whether the sign holds.
    pub known: Set,
    /// The matches for which it holds.
    pub holds: Set,
}

/// Signs that occur together with losses.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The signs, by their places in the list.
    pub signs: Vec<usize>,
    /// The matches for which all of them hold.
    pub matches: Set,
    /// The number of losses for which all of them hold, and the number for which this is known.
    pub lost: [usize; 2],
    /// The same for the other matches.
    pub others: [usize; 2],
    /// How often chance alone would give so large a share of the losses, or a larger one.
    pub chance: f64,
}

/// Groups that are tested together.
#[derive(Clone, Debug)]
pub struct Family {
    /// Each is a list of signs by their places; simplest first.
    pub candidates: Vec<Vec<usize>>,
    /// If losses were assigned at random, a group of the family would be found in at most this share of cases.
    pub level: f64,
}

/// The groups that occur with losses more often than with other matches, the most certain first, each only if it adds something to
/// those before it.
pub fn found(outcomes: &Outcomes, signs: &[Sign], families: &[Family]) -> Vec<Group> {
    let table = Factorials::up_to(outcomes.blocks.len());
    let all = Set::of(outcomes.blocks.len(), |_| true);
    let about = About { outcomes, signs, table: &table };
    let mut groups: Vec<(f64, Trial)> = families.iter().flat_map(|family| about.sure(family, &all)).collect();
    groups.sort_by(|one, two| one.0.total_cmp(&two.0).then(one.1.places.len().cmp(&two.1.places.len())));
    let (mut given, mut left) = (Vec::new(), all.clone());
    for (chance, trial) in groups {
        let (known, holds) = about.sets(&trial.places, &left);
        if about.chance(&Trial::new(&trial.places, &known, &holds, outcomes), &left) > SAID {
            continue;
        }
        left = left.but(&holds);
        let [with_lost, with_others, lost, others] = trial.counts;
        given.push(Group {
            matches: about.sets(&trial.places, &all).1,
            signs: trial.places,
            lost: [with_lost, with_lost + lost],
            others: [with_others, with_others + others],
            chance,
        });
    }
    given
}

/// A group under test.
struct Trial {
    places: Vec<usize>,
    /// Losses with the signs, other matches with them, losses without them, other matches without them.
    counts: [usize; 4],
}

impl Trial {
    fn new(places: &[usize], known: &Set, holds: &Set, outcomes: &Outcomes) -> Self {
        let lost = known.and(&outcomes.lost).len();
        let with = holds.len();
        let with_lost = holds.and(&outcomes.lost).len();
        let counts = [with_lost, with - with_lost, lost - with_lost, known.len() - lost - (with - with_lost)];
        Self { places: places.to_vec(), counts }
    }
}

/// The data that groups are tested on.
struct About<'a> {
    outcomes: &'a Outcomes,
    signs: &'a [Sign],
    table: &'a Factorials,
}

impl About<'_> {
    /// The matches in `among` for which it is known whether they have these signs, and those that have them.
    fn sets(&self, places: &[usize], among: &Set) -> (Set, Set) {
        let known = places.iter().fold(among.clone(), |set, &place| set.and(&self.signs[place].known));
        let holds = places.iter().fold(known.clone(), |set, &place| set.and(&self.signs[place].holds));
        (known, holds)
    }

    /// The significant groups of a family, with their chances.
    fn sure(&self, family: &Family, all: &Set) -> Vec<(f64, Trial)> {
        let mut seen = HashSet::new();
        let mut tried = Vec::new();
        for places in &family.candidates {
            let (known, holds) = self.sets(places, all);
            let mut same = DefaultHasher::new();
            (&known, &holds).hash(&mut same);
            // Groups that hold for the same matches are the same group, whatever they are called.
            if seen.insert(same.finish()) {
                let trial = Trial::new(places, &known, &holds, self.outcomes);
                tried.push((self.least(&trial), trial));
            }
        }
        // Groups that could not be significant however the losses fell are not tested at all (Tarone).
        tried.sort_by(|one, two| one.0.total_cmp(&two.0));
        let able = |share: usize| tried.partition_point(|(least, _)| *least <= family.level / share as f64);
        let share = (1..=tried.len()).find(|&share| able(share) <= share).unwrap_or(1);
        tried.truncate(able(share));
        // Of the rest, keep as many as hold the expected share of wrong ones at the allowed level (Benjamini and Hochberg).
        let mut groups: Vec<(f64, Trial)> =
            tried.into_iter().map(|(_, trial)| (self.chance(&trial, all), trial)).collect();
        groups.sort_by(|one, two| one.0.total_cmp(&two.0));
        let allowed = |rank: usize| family.level * rank as f64 / groups.len() as f64;
        let sure = (1..=groups.len()).rfind(|&rank| groups[rank - 1].0 <= allowed(rank)).unwrap_or(0);
        groups.truncate(sure);
        groups
    }

    /// The smallest chance a group could have, however the losses fell.
    fn least(&self, trial: &Trial) -> f64 {
        let [with_lost, with_others, lost, others] = trial.counts;
        let (with, lost) = (with_lost + with_others, with_lost + lost);
        self.table.tail(with.min(lost), with, lost, with + (lost - with_lost) + others)
    }

    /// How often chance alone would give as many losses with the signs or more: Fisher's exact test, on the number of matches these
    /// are worth when the matches of a block share their luck.
    fn chance(&self, trial: &Trial, among: &Set) -> f64 {
        let chance = |[with_lost, with_others, lost, others]: [usize; 4]| {
            let all = with_lost + with_others + lost + others;
            self.table.tail(with_lost, with_lost + with_others, with_lost + lost, all)
        };
        let plain = chance(trial.counts);
        // What is not significant uncorrected will not become so.
        let by = if plain > SAID { 1.0 } else { self.repetition(trial, among) };
        if by <= 1.0 {
            return plain;
        }
        let [with_lost, with_others, lost, others] = trial.counts.map(|count| count as f64 / by);
        let fewer = |count: f64| count.floor() as usize;
        let more = |count: f64| count.ceil() as usize;
        plain.max(chance([fewer(with_lost), more(with_others), more(lost), fewer(others)]))
    }

    /// How many of these matches are worth one that shares its luck with no other: the variance of the block sums of the scores,
    /// relative to that of as many independent matches (Rao and Scott). At least 1.
    fn repetition(&self, trial: &Trial, among: &Set) -> f64 {
        let (known, holds) = self.sets(&trial.places, among);
        let [with_lost, with_others, lost, others] = trial.counts.map(|count| count as f64);
        let all = with_lost + with_others + lost + others;
        let means = [(with_lost + lost) / all, (with_lost + with_others) / all];
        let from = |is: bool, mean: f64| f64::from(u8::from(is)) - mean;
        let score = |number: usize| {
            let score = from(self.outcomes.lost.has(number), means[0]) * from(holds.has(number), means[1]);
            (self.outcomes.blocks[number], score)
        };
        let mut scores: Vec<(u64, f64)> = known.numbers().map(score).collect();
        scores.sort_by_key(|(block, _)| *block);
        let (mut alone, mut together) = (0.0, 0.0);
        for block in scores.chunk_by(|one, next| one.0 == next.0) {
            alone += block.iter().map(|(_, score)| score * score).sum::<f64>();
            together += block.iter().map(|(_, score)| score).sum::<f64>().powi(2);
        }
        if alone > 0.0 { (together / alone).max(1.0) } else { 1.0 }
    }
}

/// The logarithms of factorials.
struct Factorials(Vec<f64>);

impl Factorials {
    fn up_to(most: usize) -> Self {
        let mut sum = 0.0;
        // Counts are rounded up, which can add two.
        let rest = (1..=most + 2).map(|number| {
            sum += libm::log(number as f64);
            sum
        });
        Self(std::iter::once(0.0).chain(rest).collect())
    }

    fn choose(&self, of: usize, taken: usize) -> f64 {
        self.0[of] - self.0[taken] - self.0[of - taken]
    }

    /// The probability that of `all` matches, of which `lost` are drawn at random, at least `least` are among `with` given ones.
    fn tail(&self, least: usize, with: usize, lost: usize, all: usize) -> f64 {
        let from = least.max((with + lost).saturating_sub(all));
        let each = |count: usize| {
            let ways = self.choose(with, count) + self.choose(all - with, lost - count);
            libm::exp(ways - self.choose(all, lost))
        };
        (from..=with.min(lost)).map(each).sum::<f64>().min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_that_of_a_lady_tasting_tea() {
        let table = Factorials::up_to(8);
        assert!((table.tail(4, 4, 4, 8) - 1.0 / 70.0).abs() < 1e-12);
        assert!((table.tail(3, 4, 4, 8) - 17.0 / 70.0).abs() < 1e-12);
        assert!((table.tail(0, 4, 4, 8) - 1.0).abs() < 1e-12);
    }
}
