//! The ladder: the game that gives the most information is played next.
//!
//! Longer than 500 lines: rounds and single fixtures share one weight of a pair.
//!
//! After each round of fixtures all bots are rated anew. A game of two bots reduces the sum of their variances `v` by
//! `p (1 - p) (v_i² + v_j²) / (1 + p (1 - p) (v_i + v_j))`, where `p` is the expected score: this is the information it gives.
//!
//! About the **order**, this counts less the more places lie between the two and the more often they met: in the long run two bots meet
//! in inverse proportion to the distance between their places. Games of direct neighbours alone would give the most information about
//! their order and let long stretches of the table drift; games between all alike do the reverse. With this share both errors are near
//! their minimum (`tests/ladder.rs`). About the **top k**, it counts only as far as the two are near the line.
//!
//! Who is whose neighbour is itself uncertain. If the ratings were taken as true, two bots parted by luck would never meet again, and
//! the luck would stay: ratings would lie too far apart and intervals hold too rarely. So each choice about the order uses ratings
//! **drawn** from what they may be (Thompson sampling), by a stream that depends on how many blocks were played.
//!
//! Candidates are neighbours in the table; a tenth of the games are between bots far apart, which holds the ends of a long table
//! together. Newcomers come first, and bots that met recently come later.

use agon_game::Seeded;
use agon_stats::pairs::{BLOCK, Meeting, Pairs};
use agon_stats::{Scale, score_of_elo};

use crate::{BlockResults, Fixture, Format, FormatError, Id, Standing, check, full, seated};

/// A ladder of a fixed number of blocks.
#[derive(Clone, Debug)]
pub struct LadderFormat {
    bots: usize,
    seats: usize,
    blocks: u32,
    top: Option<usize>,
}

/// How many neighbours are candidates.
const NEIGHBOURS: usize = 32;
/// A bot with fewer blocks is a newcomer and plays first.
const FEW_BLOCKS: u32 = 4;
/// Bots that met within this many opponents come later, their weight multiplied by `AGAIN`.
const MEMORY: usize = 10;
const AGAIN: f64 = 0.5;
/// A ladder that looks for the best plays at least this many fixtures a round, or one for each place above the line: soon only few bots
/// are near it, and each is in one fixture of a round.
const NEAR_THE_LINE: usize = 4;
/// The assumed standard deviation of ratings before a bot has played, in natural logarithms (350 Elo). Used only for choosing games;
/// ratings have no prior.
const PRIOR: f64 = 2.0;
/// How many standard deviations are drawn for each one of a rating: those computed without covariances are too small, the more so the
/// longer the table.
const DRAWN: f64 = 1.4;
/// A newcomer comes before any gain of a game, which is less than [`PRIOR`] squared.
const NEWCOMER: f64 = 10.0;
/// Elo per natural logarithm.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

impl LadderFormat {
    /// `blocks` blocks in all, of matches of `seats` seats. With `top`, they are spent on finding the best `top` instead of the order of
    /// all bots.
    ///
    /// # Errors
    /// With fewer bots than seats, or a line outside the table.
    pub fn new(bots: usize, seats: usize, blocks: u32, top: Option<usize>) -> Result<Self, FormatError> {
        check(bots, seats)?;
        if let Some(top) = top.filter(|&top| top == 0 || top >= bots) {
            return Err(FormatError::Top { top, bots });
        }
        Ok(Self { bots, seats, blocks, top })
    }

    /// Goes through the rounds: what is known after the finished ones, and the fixtures of the next.
    fn fold(&self, results: &BlockResults) -> (Knowledge, Vec<Fixture>) {
        let size = round_size(self.bots, self.seats, self.top);
        let mut known = Knowledge::new(self.bots);
        let mut given = 0;
        for round in 1.. {
            let size = size.min(self.blocks - given);
            let id = |table| Id { round, table, block: 1 };
            let played = results.range(id(0)..id(u32::MAX)).map(|(_, played)| played);
            // A complete round need not be chosen again; any other is chosen by the ratings from all rounds before it.
            if size == 0 || played.clone().count() < size as usize {
                known.refit();
                let choices = known.choose(round, size, self.seats, self.top);
                let fixtures = (1..).zip(choices).map(|(table, bots)| Fixture { id: id(table), bots });
                let all: Vec<Fixture> = fixtures.collect();
                let open: Vec<Fixture> =
                    all.iter().filter(|fixture| !results.contains_key(&fixture.id)).cloned().collect();
                if all.is_empty() || !open.is_empty() {
                    return (known, open);
                }
            }
            for played in played {
                known.add(&played.bots, &played.points);
                given += 1;
            }
        }
        unreachable!("the blocks run out")
    }

    /// The certainty, from 0 to 1, that the first `count` are in order and nobody behind them belongs there: the product over neighbours
    /// of the chance that the first is the stronger one.
    pub fn certainty(&self, results: &BlockResults, count: usize) -> f64 {
        let (known, _) = self.fold(results);
        let order = known.order();
        order.windows(2).take(count).map(|two| known.superiority(two[0], two[1])).product()
    }
}

impl Format for LadderFormat {
    fn next(&self, results: &BlockResults) -> Vec<Fixture> {
        self.fold(results).1
    }

    fn standing(&self, results: &BlockResults) -> Vec<Standing> {
        let (known, _) = self.fold(results);
        let standing = |(place, bot)| Standing { bot, place, points: known.points[bot], opponents: 0 };
        (1..).zip(known.order()).map(standing).collect()
    }
}

/// How many fixtures a round has: enough to keep half the bots busy, few enough to learn from them.
pub fn round_size(bots: usize, seats: usize, top: Option<usize>) -> u32 {
    let half = (bots / seats / 2).max(1);
    top.map_or(half, |top| half.min(top.max(NEAR_THE_LINE))) as u32
}

/// Who met whom in a block with these points. With many seats only the sums of points are known: a bot that left more behind is assumed
/// to have been ahead of the other that much more often; with two seats this is exact.
pub(crate) fn meetings(bots: &[usize], points: &[u32]) -> Vec<Meeting> {
    let (seats, games) = (bots.len() as u64, bots.len() as u64);
    let mut found = Vec::new();
    for (place, (&one, &own)) in bots.iter().zip(points).enumerate() {
        for (&other, &its) in bots.iter().zip(points).skip(place + 1) {
            let lead = i64::from(own) - i64::from(its);
            let share = 0.5 + lead as f64 / f64::from(2 * full(bots.len()));
            let gained = (share * 2.0 * games as f64).round() as u64;
            let meeting = Meeting::games(one as u32, other as u32, gained.min(2 * games), games);
            found.push(Meeting { blocks: BLOCK / (seats - 1), ..meeting });
        }
    }
    found
}

/// The ratings used for one choice, the bots ordered by them, strongest first, and the position of the line.
struct Draw {
    strengths: Vec<f64>,
    order: Vec<usize>,
    line: Option<f64>,
}

/// Bots by their strengths, strongest first.
fn order(strengths: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..strengths.len()).collect();
    order.sort_by(|&a, &b| strengths[b].total_cmp(&strengths[a]).then(a.cmp(&b)));
    order
}

/// What was seen of two bots: how many places they are apart, in how many blocks they met, and whether they met recently.
#[derive(Clone, Copy, Debug)]
struct Seen {
    apart: u32,
    met: f64,
    again: bool,
}

/// What is known about the bots after some results. A site that never ends keeps one of these and asks it for the next fixtures after
/// each batch of results.
#[derive(Clone, Debug)]
pub struct Knowledge {
    pairs: Pairs,
    /// Where each bot's pairs with bots of higher numbers begin.
    starts: Vec<usize>,
    new: Vec<Meeting>,
    /// Ratings in natural logarithms.
    strengths: Vec<f64>,
    variances: Vec<f64>,
    blocks: Vec<u32>,
    points: Vec<u64>,
    first_seats: Vec<u32>,
    /// The number of blocks of all bots.
    played: i64,
    /// The last opponents of each bot.
    recent: Vec<Vec<usize>>,
}

impl Knowledge {
    /// The knowledge before the first result.
    pub fn new(bots: usize) -> Self {
        Self {
            pairs: Pairs::new(bots, []),
            starts: vec![0; bots + 1],
            new: Vec::new(),
            strengths: vec![0.0; bots],
            variances: vec![PRIOR * PRIOR; bots],
            blocks: vec![0; bots],
            points: vec![0; bots],
            first_seats: vec![0; bots],
            played: 0,
            recent: vec![Vec::new(); bots],
        }
    }

    /// Adds a block: its bots, and the points of each over all its games.
    pub fn add(&mut self, bots: &[usize], points: &[u32]) {
        self.first_seats[bots[0]] += 1;
        self.played += 1;
        self.new.extend(meetings(bots, points));
        for (&one, &own) in bots.iter().zip(points) {
            self.blocks[one] += 1;
            self.points[one] += u64::from(own);
            self.recent[one].extend(bots.iter().filter(|&&other| other != one));
            let old = self.recent[one].len().saturating_sub(MEMORY);
            self.recent[one].drain(..old);
        }
    }

    /// Rates all bots by all results so far, starting from the previous ratings: the result agrees to 1e-6 Elo with a fit from scratch.
    pub fn refit(&mut self) {
        if self.new.is_empty() {
            return;
        }
        self.pairs = self.pairs.with(self.strengths.len(), self.new.drain(..));
        self.starts.fill(0);
        self.pairs.list().iter().for_each(|pair| self.starts[pair.first as usize + 1] += 1);
        (0..self.strengths.len()).for_each(|bot| self.starts[bot + 1] += self.starts[bot]);
        let before: Vec<f64> = self.strengths.iter().map(|strength| strength * ELO).collect();
        let scale = Scale::fit(&self.pairs, &[], Some(&before));
        self.strengths = scale.elo.iter().map(|elo| elo / ELO).collect();
        let mut curvature = vec![1.0 / (PRIOR * PRIOR); self.strengths.len()];
        for pair in self.pairs.list() {
            let [one, other] = [pair.first as usize, pair.second as usize];
            let expected = score_of_elo(scale.elo[one] - scale.elo[other]);
            let told = pair.meetings as f64 * expected * (1.0 - expected);
            curvature[one] += told;
            curvature[other] += told;
        }
        self.variances = curvature.into_iter().map(f64::recip).collect();
    }

    /// The bots, strongest first.
    pub fn order(&self) -> Vec<usize> {
        order(&self.strengths)
    }

    /// The rating of a bot in Elo, even where no finite one fits best.
    pub fn elo(&self, bot: usize) -> f64 {
        self.strengths[bot] * ELO
    }

    /// The probability that one bot is stronger than another.
    fn superiority(&self, one: usize, other: usize) -> f64 {
        let deviation = (self.variances[one] + self.variances[other]).sqrt();
        // The logistic curve of this width approximates the normal one to within a hundredth.
        score_of_elo(1.702 * ELO * (self.strengths[one] - self.strengths[other]) / deviation)
    }

    /// The ratings by which fixtures are chosen: for the order, drawn from what they may be; for a line, as they are, because there the
    /// variances say how open it is.
    fn draw(&self, top: Option<usize>) -> Draw {
        let mut strengths = self.strengths.clone();
        if top.is_none() {
            let mut luck = Seeded::stream(self.played, "ladder");
            for (strength, variance) in strengths.iter_mut().zip(&self.variances) {
                // The sum of three uniform numbers has a variance of a quarter.
                let sum: f64 = (0..3).map(|_| (luck.bits() >> 11) as f64 / (1u64 << 53) as f64).sum();
                *strength += DRAWN * 2.0 * (sum - 1.5) * variance.sqrt();
            }
        }
        let order = order(&strengths);
        let line = top.map(|top| f64::midpoint(strengths[order[top - 1]], strengths[order[top]]));
        Draw { strengths, order, line }
    }

    /// The gain of information from a game of two bots.
    fn gain(&self, draw: &Draw, one: usize, other: usize, seen: Seen) -> f64 {
        let (v, w) = (self.variances[one], self.variances[other]);
        let odds = (-(draw.strengths[one] - draw.strengths[other]).abs()).exp();
        let told = odds / ((1.0 + odds) * (1.0 + odds));
        match draw.line {
            None => {
                let taken = told * (v * v + w * w) / (1.0 + told * (v + w));
                taken / f64::from(seen.apart) / (1.0 + seen.met)
            }
            Some(line) => {
                let near = |bot: usize| {
                    let distance = draw.strengths[bot] - line;
                    (-distance * distance / (2.0 * self.variances[bot])).exp()
                };
                (1.0 + told * (v + w)).ln() / 2.0 * (near(one) + near(other))
            }
        }
    }

    /// In how many blocks two bots met.
    fn met(&self, one: usize, other: usize) -> f64 {
        let (first, second) = (one.min(other), one.max(other) as u32);
        let own = &self.pairs.list()[self.starts[first]..self.starts[first + 1]];
        let found = own.binary_search_by_key(&second, |pair| pair.second);
        found.map_or(0.0, |found| own[found].blocks as f64 / BLOCK as f64)
    }

    /// The next fixtures of `seats` bots: `size` of them, or as many as there are bots for. No bot is in two, unless that many fixtures
    /// have more seats than there are bots: then each bot is in as many as needed, with different opponents each time. `round` counts
    /// from 1 and varies the pairs that are far apart.
    pub fn choose(&self, round: u32, size: u32, seats: usize, top: Option<usize>) -> Vec<Vec<usize>> {
        if size == 0 {
            return Vec::new();
        }
        let draw = self.draw(top);
        let order = &draw.order;
        let bots = order.len();
        let seen = self.seen(order);
        let mut candidates: Vec<(f64, u32, u32)> = Vec::with_capacity(bots * NEIGHBOURS);
        for place in 0..bots {
            let behind = place + 1..bots.min(place + 1 + NEIGHBOURS);
            for (other, seen) in behind.zip(&seen[place * NEIGHBOURS..]) {
                let weight = self.weight(&draw, order[place], order[other], *seen);
                candidates.push((weight, place as u32, other as u32));
            }
        }
        candidates.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut busy = vec![false; bots];
        let mut chosen: Vec<Vec<usize>> = Vec::new();
        // A tenth are far apart. When looking for the top, just enough that nobody is forgotten.
        let tenth: u32 = if top.is_some() { 20 } else { 10 };
        // The total due by a round; the difference of two is what this round gets.
        let due = |rounds: u32| u64::from(rounds) * u64::from(size) / u64::from(tenth);
        let far = due(round) - due(round - 1);
        for number in 0..far as usize {
            // Both move on from round to round by steps that reach everybody.
            let round = round as usize;
            let one = (round * 7 + number * 13) % bots;
            let other = (one + bots / 3 + (round * 5 + number * 3) % (bots / 2).max(1)) % bots;
            if one != other && !busy[one] && !busy[other] {
                self.take(order, &mut busy, vec![one, other], seats, &mut chosen);
            }
        }
        let passes = (size as usize * seats).div_ceil(bots.max(1));
        for _ in 0..passes {
            candidates.retain(|&(_, one, other)| {
                let (one, other) = (one as usize, other as usize);
                let free = chosen.len() < size as usize && !busy[one] && !busy[other];
                if free {
                    self.take(order, &mut busy, vec![one, other], seats, &mut chosen);
                }
                !free
            });
            busy.fill(false);
        }
        chosen.into_iter().map(|bots| seated(bots, &self.first_seats)).collect()
    }

    /// Makes room for bots that have joined since, up to this many.
    pub fn grow(&mut self, bots: usize) {
        let bots = bots.max(self.strengths.len());
        // Bots that have just joined have no pairs yet.
        self.starts.resize(bots + 1, self.pairs.list().len());
        self.strengths.resize(bots, 0.0);
        self.variances.resize(bots, PRIOR * PRIOR);
        self.blocks.resize(bots, 0);
        self.points.resize(bots, 0);
        self.first_seats.resize(bots, 0);
        self.recent.resize(bots, Vec::new());
    }

    /// Chooses fixtures one by one among the free bots, for a ladder that never ends. Each includes a bot that wants it. All are chosen
    /// before any is played.
    pub fn choice(&self, free: Vec<bool>, wants: Vec<bool>) -> FixtureChoice<'_> {
        let draw = self.draw(None);
        let order: Vec<usize> = draw.order.iter().copied().filter(|&bot| free[bot]).collect();
        let mut places = vec![None; free.len()];
        order.iter().enumerate().for_each(|(place, &bot)| places[bot] = Some(place));
        let open = self.open(&order);
        FixtureChoice { known: self, draw, order, places, free, wants, open, round: None }
    }

    /// The number of neighbours in this order with which each bot might change places, counted as a sum of chances; itself counts as
    /// one.
    fn open(&self, order: &[usize]) -> Vec<f64> {
        let mut open = vec![1.0; self.strengths.len()];
        for (place, &one) in order.iter().enumerate() {
            for &other in order[place + 1..].iter().take(NEIGHBOURS) {
                let lead = self.strengths[one] - self.strengths[other];
                let might = (-lead * lead / (2.0 * (self.variances[one] + self.variances[other]))).exp();
                open[one] += might;
                open[other] += might;
            }
        }
        open
    }

    /// The gain of a pair, with newcomers first and pairs that met recently last.
    fn weight(&self, draw: &Draw, one: usize, other: usize, seen: Seen) -> f64 {
        let new = [one, other].map(|bot| u32::from(self.blocks[bot] < FEW_BLOCKS)).iter().sum::<u32>();
        let again = if seen.again { AGAIN } else { 1.0 };
        (self.gain(draw, one, other, seen) + NEWCOMER * f64::from(new)) * again
    }

    /// What was seen of each bot in this order and the [`NEIGHBOURS`] behind it: one walk through the pairs is much quicker than looking
    /// up each.
    fn seen(&self, order: &[usize]) -> Vec<Seen> {
        let behind = (1..=NEIGHBOURS as u32).map(|apart| Seen { apart, met: 0.0, again: false });
        let mut seen: Vec<Seen> = behind.cycle().take(order.len() * NEIGHBOURS).collect();
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &bot)| places[bot] = place);
        let near = |one: usize, other: usize| {
            let (one, other) = (places[one], places[other]);
            let apart = one.abs_diff(other);
            (1..=NEIGHBOURS).contains(&apart).then(|| one.min(other) * NEIGHBOURS + apart - 1)
        };
        for pair in self.pairs.list() {
            if let Some(near) = near(pair.first as usize, pair.second as usize) {
                seen[near].met = pair.blocks as f64 / BLOCK as f64;
            }
        }
        for (bot, recent) in self.recent.iter().enumerate() {
            for &other in recent.iter().filter(|&&other| places[other] > places[bot]) {
                if let Some(near) = near(bot, other) {
                    seen[near].again = true;
                }
            }
        }
        seen
    }

    /// Fills a fixture with the least known bots near these places, and marks all of them busy for this round.
    fn take(
        &self,
        order: &[usize],
        busy: &mut [bool],
        mut places: Vec<usize>,
        seats: usize,
        chosen: &mut Vec<Vec<usize>>,
    ) {
        places.iter().for_each(|&place| busy[place] = true);
        while places.len() < seats {
            let near = |place: usize| {
                let lead = self.strengths[order[place]] - self.strengths[order[places[0]]];
                self.variances[order[place]] * (-lead * lead).exp()
            };
            let free = (0..order.len()).filter(|&place| !busy[place]);
            let best = free.max_by(|&a, &b| near(a).total_cmp(&near(b)).then(b.cmp(&a)));
            let Some(next) = best else { break };
            busy[next] = true;
            places.push(next);
        }
        if places.len() == seats {
            chosen.push(places.into_iter().map(|place| order[place]).collect());
        } else {
            places.iter().for_each(|&place| busy[place] = false);
        }
    }
}

/// A choice of fixtures, one after another.
pub struct FixtureChoice<'a> {
    known: &'a Knowledge,
    draw: Draw,
    /// The bots that were free at the start, strongest first, and the place of each.
    order: Vec<usize>,
    places: Vec<Option<usize>>,
    free: Vec<bool>,
    /// The bots that want fixtures; the others only take part in theirs.
    wants: Vec<bool>,
    /// With how many others each might change places: a game gives that much more information about the order.
    open: Vec<f64>,
    round: Option<Round>,
}

/// Neighbours ordered by the information their games give, used for as many fixtures as they last.
struct Round {
    /// The weight of each pair and its places, the least informative first.
    pairs: Vec<(f64, usize, usize)>,
    /// The bots that were in a fixture since.
    taken: Vec<bool>,
}

impl FixtureChoice<'_> {
    /// Keeps this bot out of all further fixtures.
    pub fn busy(&mut self, bot: usize) {
        self.free[bot] = false;
    }

    /// Leaves this bot only in the fixtures of others.
    pub fn enough(&mut self, bot: usize) {
        self.wants[bot] = false;
    }

    /// The next fixture of `seats` bots: with `first` the most informative one about that bot, with `far` one of two bots far apart that
    /// vary with that number, otherwise the most informative of all. None if too few are free, or none of them wants any.
    pub fn next(&mut self, first: Option<usize>, far: Option<usize>, seats: usize) -> Option<Vec<usize>> {
        let bots = self.order.len();
        if self.order.iter().filter(|&&bot| self.free[bot]).take(seats.max(2)).count() < seats.max(2) {
            return None;
        }
        let (one, other) = match (first.and_then(|bot| self.places.get(bot).copied().flatten()), far) {
            (Some(own), _) => {
                let others: Vec<usize> = self.near(own).collect();
                let weighed = others.into_iter().map(|other| (self.weight(own, other), other));
                let best = weighed.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
                (own, best?.1)
            }
            (None, Some(number)) => {
                let one = self.wanting_from((number * 7) % bots)?;
                let other = one + bots / 3 + (number * 5) % (bots / 2).max(1);
                (one, self.free_from(other % bots, Some(one))?)
            }
            (None, None) => self.best()?,
        };
        if let Some(round) = &mut self.round {
            (round.taken[one], round.taken[other]) = (true, true);
        }
        let mut busy: Vec<bool> = self.order.iter().map(|&bot| !self.free[bot]).collect();
        let mut chosen = Vec::new();
        self.known.take(&self.order, &mut busy, vec![one, other], seats, &mut chosen);
        chosen.pop().map(|bots| seated(bots, &self.known.first_seats))
    }

    /// The first free place from this one on, except `but`.
    fn free_from(&self, place: usize, but: Option<usize>) -> Option<usize> {
        let bots = self.order.len();
        let places = (place..bots).chain(0..place);
        { places }.find(|&place| self.free[self.order[place]] && Some(place) != but)
    }

    /// The first free place from this one on whose bot wants fixtures.
    fn wanting_from(&self, place: usize) -> Option<usize> {
        let bots = self.order.len();
        { place..bots }.chain(0..place).find(|&place| self.is_for(place, place))
    }

    /// Whether both are free and at least one of them wants fixtures.
    fn is_for(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|place| self.order[place]);
        self.free[one] && self.free[other] && (self.wants[one] || self.wants[other])
    }

    /// Free places near this one on both sides; if there are none, all free places.
    fn near(&self, own: usize) -> impl Iterator<Item = usize> + '_ {
        let near = own.saturating_sub(NEIGHBOURS)..self.order.len().min(own + 1 + NEIGHBOURS);
        let is_free = move |place: &usize| *place != own && self.free[self.order[*place]];
        let range = if near.clone().any(|place| is_free(&place)) { near } else { 0..self.order.len() };
        range.filter(is_free)
    }

    fn weight(&self, one: usize, other: usize) -> f64 {
        let (apart, one, other) = (one.abs_diff(other) as u32, self.order[one], self.order[other]);
        let again = self.known.recent[one].contains(&other);
        let seen = Seen { apart, met: self.known.met(one, other), again };
        let [v, w] = [one, other].map(|bot| self.known.variances[bot].powi(2));
        let open = (v * self.open[one] + w * self.open[other]) / (v + w);
        self.known.weight(&self.draw, one, other, seen) * open
    }

    /// The two free neighbours whose game is most informative; each bot once before any twice.
    fn best(&mut self) -> Option<(usize, usize)> {
        for _ in 0..2 {
            let mut round = match self.round.take() {
                Some(begun) => begun,
                None => Round { pairs: self.pairs(), taken: vec![false; self.order.len()] },
            };
            while let Some((_, one, other)) = round.pairs.pop() {
                if self.is_for(one, other) && !round.taken[one] && !round.taken[other] {
                    self.round = Some(round);
                    return Some((one, other));
                }
            }
        }
        // The only bots left free have no free neighbour.
        let one = self.wanting_from(0)?;
        Some((one, self.free_from(one, Some(one))?))
    }

    /// Pairs of free neighbours of which at least one wants fixtures, the least informative first.
    fn pairs(&self) -> Vec<(f64, usize, usize)> {
        let free: Vec<usize> = (0..self.order.len()).filter(|&place| self.free[self.order[place]]).collect();
        let behind = |at: usize| free[at + 1..free.len().min(at + 1 + NEIGHBOURS)].iter();
        let all = free.iter().enumerate().flat_map(|(at, &one)| behind(at).map(move |&other| (one, other)));
        let all = all.filter(|&(one, other)| self.is_for(one, other));
        let mut pairs: Vec<_> = all.map(|(one, other)| (self.weight(one, other), one, other)).collect();
        // Among equals, those in front first, as everywhere here.
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((b.1, b.2).cmp(&(a.1, a.2))));
        pairs
    }
}

#[cfg(test)]
mod tests {
    use agon_game::Seeded;

    use super::*;

    #[test]
    fn one_fixture_is_of_free_bots_only_and_of_whom_it_is_for() {
        let mut known = Knowledge::new(2);
        known.grow(8);
        for (one, other) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)] {
            known.add(&[one, other], &[4, 0]);
        }
        known.refit();
        let free = [true, true, false, true, true, true, false, true];
        for number in 0..50 {
            for seats in 2..=6 {
                let fixture = known
                    .choice(free.to_vec(), vec![true; 8])
                    .next(None, Some(number), seats)
                    .expect("six are free");
                let different: std::collections::BTreeSet<_> = fixture.iter().collect();
                assert_eq!((fixture.len(), different.len()), (seats, seats));
                assert!(fixture.iter().all(|&bot| free[bot]), "{fixture:?}");
            }
        }
        let its = known.choice(free.to_vec(), vec![true; 8]).next(Some(0), None, 2).expect("two are free");
        assert!(its.contains(&0) && !its.contains(&1), "they met last: {its:?}");
        assert_eq!(known.choice(free.to_vec(), vec![true; 8]).next(None, None, 7), None);
        for far in [None, Some(2), Some(5)] {
            let wants = (0..8).map(|bot| bot == 5).collect();
            let for_it = known.choice(free.to_vec(), wants).next(None, far, 2).expect("one wants it");
            assert!(for_it.contains(&5), "{for_it:?}");
            let mut choice = known.choice(free.to_vec(), vec![true; 8]);
            (0..8).for_each(|bot| choice.enough(bot));
            assert_eq!(choice.next(None, far, 2), None, "nobody wants any");
        }
        assert_eq!(known.choice(vec![true; 8], vec![true; 8]).next(Some(9), None, 9), None);
    }

    #[test]
    fn neighbours_play_each_other_and_a_few_far_apart() {
        let ladder = LadderFormat::new(40, 2, 600, None).unwrap();
        let (results, played) = crate::tests::play(&ladder, 2, 3, 6.0);
        assert_eq!(played.len(), 600);
        let late = played.iter().filter(|fixture| fixture.id.round > 30);
        let (mut near, mut far, mut all) = (0, 0, 0);
        for fixture in late {
            let apart = fixture.bots[0].abs_diff(fixture.bots[1]);
            near += usize::from(apart <= 6);
            far += usize::from(apart >= 12);
            all += 1;
        }
        assert!(near * 10 >= all * 7, "{near} of {all}");
        assert!((all / 20..=all / 5).contains(&far), "{far} of {all}");
        let standing = ladder.standing(&results);
        let wrong =
            standing.iter().zip(0..).filter(|(standing, bot)| standing.bot.abs_diff(*bot) > 2).count();
        assert!(wrong <= 2, "{wrong}");
        assert!(ladder.certainty(&results, 3) <= 1.0);
    }

    #[test]
    fn nobody_meets_the_same_bot_again_at_once() {
        let ladder = LadderFormat::new(60, 2, 450, None).unwrap();
        let (_, mut played) = crate::tests::play(&ladder, 2, 3, 30.0);
        played.sort_by_key(|fixture| fixture.id);
        let mut last: Vec<Option<usize>> = vec![None; 60];
        let mut again = 0;
        for fixture in &played {
            let [one, other] = fixture.bots[..] else { panic!() };
            again += u32::from(last[one] == Some(other) && last[other] == Some(one));
            (last[one], last[other]) = (Some(other), Some(one));
        }
        assert!(again <= 9, "{again} of 450");
    }

    #[test]
    fn more_seats_are_filled() {
        let ladder = LadderFormat::new(23, 4, 200, Some(3)).unwrap();
        let (results, played) = crate::tests::play(&ladder, 4, 3, 5.0);
        assert_eq!(played.len(), 200);
        let mut first: Vec<usize> =
            ladder.standing(&results)[..3].iter().map(|standing| standing.bot).collect();
        first.sort_unstable();
        assert_eq!(first, [0, 1, 2]);
    }

    #[test]
    fn a_line_outside_the_table_is_refused() {
        assert!(LadderFormat::new(5, 2, 10, Some(0)).is_err());
        assert!(LadderFormat::new(5, 2, 10, Some(5)).is_err());
        assert!(LadderFormat::new(2, 3, 10, None).is_err());
    }

    /// Bots of known strength and two games a block: how often the true top five are found, by the ladder that looks for them and by a
    /// round robin of as many blocks.
    #[test]
    fn the_top_is_found_with_fewer_games_than_a_round_robin_takes() {
        const BOTS: usize = 40;
        let (mut by_ladder, mut by_all) = (0, 0);
        for run in 0..6 {
            let mut chance = Seeded::stream(run, "top");
            let mut random = move || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
            let mut normal = || (0..12).map(|_| random()).sum::<f64>() - 6.0;
            let truth: Vec<f64> = (0..BOTS).map(|_| 300.0 * normal()).collect();
            let mut block = |bots: &[usize]| {
                let wins = (0..2)
                    .filter(|_| random_below(&mut normal, truth[bots[0]] - truth[bots[1]]))
                    .count() as u32;
                [2 * wins, 4 - 2 * wins]
            };
            let mut known = Knowledge::new(BOTS);
            let mut played = 0;
            for round in 1.. {
                let choices = known.choose(round, 10, 2, Some(5));
                for bots in choices {
                    known.add(&bots, &block(&bots));
                    played += 1;
                }
                known.refit();
                if played >= BOTS * (BOTS - 1) / 2 {
                    break;
                }
            }
            by_ladder += right(&truth, &known);
            let mut known = Knowledge::new(BOTS);
            for one in 0..BOTS {
                for other in one + 1..BOTS {
                    known.add(&[one, other], &block(&[one, other]));
                }
            }
            known.refit();
            by_all += right(&truth, &known);
        }
        println!("{by_ladder} and {by_all} of 30");
        assert!(by_ladder > by_all, "{by_ladder} and {by_all} of 30");
    }

    /// Whether a bot stronger by `lead` Elo wins. Twelve uniform numbers make a normal one, whose quantile is uniform.
    fn random_below(normal: &mut impl FnMut() -> f64, lead: f64) -> bool {
        score_of_elo(1.702 * ELO * normal()) < score_of_elo(lead)
    }

    /// How many of the true top five are found.
    fn right(truth: &[f64], known: &Knowledge) -> usize {
        let mut order: Vec<usize> = (0..truth.len()).collect();
        order.sort_by(|&a, &b| truth[b].total_cmp(&truth[a]));
        known.order()[..5].iter().filter(|bot| order[..5].contains(bot)).count()
    }
}
