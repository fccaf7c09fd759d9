//! One scale for many bots, even if some never lost a point or never scored one.
//!
//! The likelihood has a finite peak only among bots that can all be reached from each other by chains of "scored
//! against" (Zermelo, Ford). Such a set is a **component**; of two components that met, one took every point. Inside
//! a component, strengths are those of the largest likelihood. The largest component carries the scale, or the one
//! with the anchors; results bound the distance of the others on one side only.

use crate::fit::{log_logistic, peak};
use crate::pairs::{BLOCK, Meeting, Pairs};
use crate::student_deviations;

/// What results say about the rating of a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalePlace {
    /// A finite rating fits best.
    Known,
    /// It took every point from those it is compared with: only a lower bound is known.
    Above,
    /// It never scored against those it is compared with: only an upper bound is known.
    Below,
    /// Nothing compares it with the others.
    Unknown,
}

impl ScalePlace {
    /// Where such bots stand in a table.
    pub(crate) fn order(self) -> u8 {
        match self {
            Self::Above => 0,
            Self::Known => 1,
            Self::Below => 2,
            Self::Unknown => 3,
        }
    }
}

/// Ratings of all bots in Elo.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// A finite rating for every bot, for ordering and pairing. For a bot that is not [`ScalePlace::Known`] it is the one
    /// at which its run of wins, or losses, had an even chance.
    pub elo: Vec<f64>,
    /// The same, but with a chance of about 2.2 % for the run of a bot that is not known: the end of its one-sided
    /// interval. For a known bot it is its rating.
    pub bound: Vec<f64>,
    /// What is known about each bot.
    pub place: Vec<ScalePlace>,
    /// Bots with the same number are connected by a chain of games or by anchors; ratings of others cannot be
    /// compared.
    pub group: Vec<u32>,
    /// Bots with the same number have a finite difference.
    pub component: Vec<u32>,
}

/// The logarithm of the chance of a run of wins, in this many blocks, at the end of a one-sided interval of 95 %: that of
/// `Estimate`, about 2.2 %.
fn run(blocks: f64) -> f64 {
    let freedom = (blocks - 1.0).max(1.0);
    let deviations = student_deviations(0.95, freedom);
    -blocks * libm::log1p(deviations * deviations / freedom)
}

impl Scale {
    /// Rates all bots. `anchors` are bots with a fixed rating in Elo; a group without any has mean 0. `start` are
    /// ratings to start from, for example those of an earlier table: the result is the same to 1e-6 Elo, and found
    /// sooner. Without it the result is the same to the last bit on every machine.
    ///
    /// # Panics
    /// When the length of `start` is not the number of bots, or an anchor is not one of them.
    pub fn fit(pairs: &Pairs, anchors: &[(u32, f64)], start: Option<&[f64]>) -> Self {
        let bots = pairs.bots();
        let graph = Graph::new(pairs, anchors);
        let component = graph.components();
        let count = component.iter().max().map_or(0, |last| *last as usize + 1);
        let mut members = vec![Vec::new(); count];
        component.iter().enumerate().for_each(|(bot, &own)| members[own as usize].push(bot as u32));

        let mut inner = vec![0.0; bots];
        if let Some(start) = start {
            inner.iter_mut().zip(start).for_each(|(inner, elo)| *inner = elo / crate::ELO);
        }
        let mut fixed = vec![None; bots];
        anchors.iter().for_each(|&(bot, elo)| fixed[bot as usize] = Some(elo / crate::ELO));
        let mut games = vec![Vec::new(); count];
        let mut between = vec![Vec::new(); count];
        for pair in pairs.list() {
            let [one, other] = [pair.first, pair.second].map(|bot| component[bot as usize] as usize);
            if one == other {
                games[one].push(*pair);
            } else {
                let blocks = pair.blocks as f64 / BLOCK as f64;
                let (above, below) =
                    if pair.points > 0 { (pair.first, pair.second) } else { (pair.second, pair.first) };
                let edge = Edge { above: above as usize, below: below as usize, blocks };
                between[one].push(edge);
                between[other].push(edge);
            }
        }
        let mut number = vec![0u32; bots];
        for (members, games) in members.iter().zip(&mut games).filter(|(members, _)| members.len() > 1) {
            members.iter().zip(0..).for_each(|(&bot, own)| number[bot as usize] = own);
            for pair in &mut *games {
                (pair.first, pair.second) = (number[pair.first as usize], number[pair.second as usize]);
            }
            let of = |all: &[Option<f64>]| members.iter().map(|&bot| all[bot as usize]).collect::<Vec<_>>();
            let own: Vec<f64> = members.iter().map(|&bot| inner[bot as usize]).collect();
            let peak = peak(games, &of(&fixed), &own, start.is_none());
            members.iter().zip(peak).for_each(|(&bot, strength)| inner[bot as usize] = strength);
        }
        for members in
            members.iter().filter(|members| members.iter().all(|&bot| fixed[bot as usize].is_none()))
        {
            let mean = members.iter().map(|&bot| inner[bot as usize]).sum::<f64>() / members.len() as f64;
            members.iter().for_each(|&bot| inner[bot as usize] -= mean);
        }
        anchors.iter().for_each(|&(bot, elo)| inner[bot as usize] = elo / crate::ELO);

        let group = graph.groups();
        let mut scale = Self {
            bound: vec![0.0; bots],
            elo: inner,
            place: vec![ScalePlace::Unknown; bots],
            group,
            component,
        };
        scale.settle(&members, &between, anchors);
        scale
    }

    /// Whether each bot belongs to the largest component: without anchors, only these have a finite rating.
    pub fn core(pairs: &Pairs) -> Vec<bool> {
        let component = Graph::new(pairs, &[]).components();
        let mut sizes = vec![0u32; component.len()];
        component.iter().for_each(|&own| sizes[own as usize] += 1);
        let largest = (0..sizes.len() as u32).max_by_key(|&own| sizes[own as usize]);
        component.into_iter().map(|own| Some(own) == largest).collect()
    }

    /// Places the components of each group around its main one, and converts strengths to Elo.
    fn settle(&mut self, members: &[Vec<u32>], between: &[Vec<Edge>], anchors: &[(u32, f64)]) {
        let groups = self.group.iter().max().map_or(0, |last| *last as usize + 1);
        let mut components = vec![Vec::new(); groups];
        for (own, members) in members.iter().enumerate() {
            components[self.group[members[0] as usize] as usize].push(own);
        }
        let anchored =
            |own: usize| anchors.iter().any(|&(bot, _)| self.component[bot as usize] as usize == own);
        let mains: Vec<usize> = components
            .iter()
            .map(|own| {
                let weight = |own: usize| {
                    let met: f64 = between[own].iter().map(|edge| edge.blocks).sum();
                    (anchored(own), members[own].len(), met)
                };
                let better = |a: &usize, b: &usize| weight(*a).partial_cmp(&weight(*b)).expect("no NaN");
                // The last of the largest; components are numbered from the weakest, see `components`.
                own.iter().copied().max_by(better).expect("a group has a component")
            })
            .collect();
        let held: Vec<bool> = mains.iter().map(|&main| anchored(main)).collect();
        let inner = self.elo.clone();
        self.bound.copy_from_slice(&inner);
        for ((own, &main), held) in components.iter().zip(&mains).zip(held) {
            let mut state: Vec<(usize, Option<ScalePlace>)> = own.iter().map(|&own| (own, None)).collect();
            let place = |own: usize, state: &[(usize, Option<ScalePlace>)]| {
                state.binary_search_by_key(&own, |(own, _)| *own).ok().and_then(|found| state[found].1)
            };
            let set = |own: usize, value: ScalePlace, state: &mut [(usize, Option<ScalePlace>)]| {
                let found = state.binary_search_by_key(&own, |(own, _)| *own).expect("of this group");
                state[found].1 = Some(value);
            };
            set(main, ScalePlace::Known, &mut state);
            // Weakest first, so that a component above the main one finds its lower neighbours settled; then those
            // below, strongest first; then what is connected only to these.
            let upwards = own.iter().map(|&own| (own, ScalePlace::Above));
            let downwards = own.iter().rev().map(|&own| (own, ScalePlace::Below));
            let sideways = own.iter().map(|&own| (own, ScalePlace::Unknown));
            let mut turns: Vec<(usize, ScalePlace)> = upwards.chain(downwards).collect();
            (0..2).for_each(|_| turns.extend(sideways.clone().chain(sideways.clone().rev())));
            for (own, aim) in turns.into_iter().filter(|(own, _)| *own != main) {
                if place(own, &state).is_some() {
                    continue;
                }
                let edges = between[own].iter().filter_map(|edge| {
                    let upper = self.component[edge.above] as usize == own;
                    let other = self.component[if upper { edge.below } else { edge.above }] as usize;
                    let counts = match (aim, place(other, &state)?) {
                        (_, ScalePlace::Known) => true,
                        (ScalePlace::Unknown, _) => true,
                        (aim, other) => aim == other,
                    };
                    counts.then_some((upper, *edge))
                });
                let edges: Vec<(bool, Edge)> = edges.collect();
                let upper = match aim {
                    ScalePlace::Above => true,
                    ScalePlace::Below => false,
                    _ => edges.first().is_some_and(|(upper, _)| *upper),
                };
                let edges: Vec<Edge> =
                    edges.into_iter().filter(|(side, _)| *side == upper).map(|(_, edge)| edge).collect();
                if edges.is_empty() {
                    continue;
                }
                let blocks = edges.iter().map(|edge| edge.blocks).sum();
                for (located, aim) in [(&mut self.elo, libm::log(0.5)), (&mut self.bound, run(blocks))] {
                    let offset = offset(&edges, upper, aim, &inner, located);
                    members[own].iter().for_each(|&bot| located[bot as usize] = inner[bot as usize] + offset);
                }
                set(own, aim, &mut state);
            }
            for &(own, place) in &state {
                members[own]
                    .iter()
                    .for_each(|&bot| self.place[bot as usize] = place.unwrap_or(ScalePlace::Unknown));
            }
            if members[main].len() == 1 && !held {
                self.reference(members[main][0] as usize, &between[main]);
                // Nobody is known, so nobody carries the scale: its zero is the middle of all.
                let bots: Vec<usize> =
                    own.iter().flat_map(|&own| &members[own]).map(|&bot| bot as usize).collect();
                for all in [&mut self.elo, &mut self.bound] {
                    let mean = bots.iter().map(|&bot| all[bot]).sum::<f64>() / bots.len() as f64;
                    bots.iter().for_each(|&bot| all[bot] -= mean);
                }
            }
        }
        self.elo.iter_mut().chain(&mut self.bound).for_each(|strength| *strength *= crate::ELO);
    }

    /// A single bot that the others are placed around is itself no better known than they are; only between bots above and bots
    /// below it is its place known.
    fn reference(&mut self, bot: usize, edges: &[Edge]) {
        self.place[bot] =
            match (edges.iter().any(|edge| edge.above == bot), edges.iter().any(|edge| edge.below == bot)) {
                (true, false) => ScalePlace::Above,
                (false, true) => ScalePlace::Below,
                (true, true) => ScalePlace::Known,
                (false, false) => ScalePlace::Unknown,
            };
    }
}

/// Two bots of different components that met: one took every point.
#[derive(Clone, Copy, Debug)]
struct Edge {
    above: usize,
    below: usize,
    blocks: f64,
}

/// How far a component must be moved for its run of wins over those `located` below it (`upper`), or of losses to
/// those above it, to have a chance with the logarithm `aim`. `inner` are the strengths inside components.
fn offset(edges: &[Edge], upper: bool, aim: f64, inner: &[f64], located: &[f64]) -> f64 {
    let chance = |offset: f64| -> f64 {
        let lead = |edge: &Edge| match upper {
            true => inner[edge.above] + offset - located[edge.below],
            false => located[edge.above] - inner[edge.below] - offset,
        };
        edges.iter().map(|edge| edge.blocks * log_logistic(lead(edge))).sum()
    };
    let (mut low, mut high) = (-1e3, 1e3);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if (chance(middle) < aim) == upper { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Who scored against whom.
struct Graph {
    /// The bots each bot took points from, one bot after another.
    scored: Vec<u32>,
    /// Where the list of each bot begins, and the end.
    starts: Vec<usize>,
}

impl Graph {
    fn new(pairs: &Pairs, anchors: &[(u32, f64)]) -> Self {
        let won = |pair: &Meeting| (pair.points > 0).then_some((pair.first, pair.second));
        let lost = |pair: &Meeting| (pair.points < 2 * pair.meetings).then_some((pair.second, pair.first));
        let met = pairs.list().iter().flat_map(|pair| [won(pair), lost(pair)]).flatten();
        // Differences between anchors are known.
        let held = anchors.windows(2).map(|two| (two[0].0, two[1].0)).flat_map(|(a, b)| [(a, b), (b, a)]);
        let all = met.chain(held);
        let mut starts = vec![0; pairs.bots() + 1];
        all.clone().for_each(|(one, _)| starts[one as usize + 1] += 1);
        (0..pairs.bots()).for_each(|bot| starts[bot + 1] += starts[bot]);
        let mut ends = starts.clone();
        let mut scored = vec![0; starts[pairs.bots()]];
        for (one, other) in all {
            scored[ends[one as usize]] = other;
            ends[one as usize] += 1;
        }
        Self { scored, starts }
    }

    fn bots(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bots that a bot took points from.
    fn of(&self, bot: usize) -> &[u32] {
        &self.scored[self.starts[bot]..self.starts[bot + 1]]
    }

    /// The number of each bot's component (Tarjan). A component that took points from another has the higher number.
    fn components(&self) -> Vec<u32> {
        const NEW: u32 = u32::MAX;
        let bots = self.bots();
        let (mut order, mut least) = (vec![NEW; bots], vec![0u32; bots]);
        let mut component = vec![NEW; bots];
        let (mut open, mut next, mut found) = (Vec::new(), 0, 0);
        for root in 0..bots {
            if order[root] != NEW {
                continue;
            }
            // Bots on the path from the root, each with the number of its edges followed so far.
            let mut way = vec![(root, 0)];
            while let Some((bot, edge)) = way.last_mut() {
                let bot = *bot;
                if *edge == 0 {
                    order[bot] = next;
                    least[bot] = next;
                    next += 1;
                    open.push(bot);
                }
                let target = self.of(bot).get(*edge).map(|&target| target as usize);
                *edge += 1;
                match target {
                    Some(target) if order[target] == NEW => way.push((target, 0)),
                    Some(target) if component[target] == NEW => least[bot] = least[bot].min(order[target]),
                    Some(_) => {}
                    None => {
                        way.pop();
                        if let Some(&(before, _)) = way.last() {
                            least[before] = least[before].min(least[bot]);
                        }
                        if least[bot] == order[bot] {
                            while let Some(member) = open.pop() {
                                component[member] = found;
                                if member == bot {
                                    break;
                                }
                            }
                            found += 1;
                        }
                    }
                }
            }
        }
        component
    }

    /// The number of each bot's group: bots connected by games, whatever their results. Groups are numbered by their
    /// first bot.
    fn groups(&self) -> Vec<u32> {
        let mut above: Vec<usize> = (0..self.bots()).collect();
        fn root(above: &mut [usize], mut bot: usize) -> usize {
            while above[bot] != bot {
                above[bot] = above[above[bot]];
                bot = above[bot];
            }
            bot
        }
        for bot in 0..self.bots() {
            for &other in self.of(bot) {
                let (one, other) = (root(&mut above, bot), root(&mut above, other as usize));
                above[one.max(other)] = one.min(other);
            }
        }
        let mut numbers = vec![u32::MAX; above.len()];
        let mut next = 0;
        for bot in 0..above.len() {
            let first = root(&mut above, bot);
            if first == bot {
                numbers[bot] = next;
                next += 1;
            }
            numbers[bot] = numbers[first];
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{elo_of_score, score_of_elo};

    fn scale(bots: usize, games: &[(u32, u32, u64, u64)], anchors: &[(u32, f64)]) -> Scale {
        let meetings =
            games.iter().map(|&(one, other, points, count)| Meeting::games(one, other, points, count));
        Scale::fit(&Pairs::new(bots, meetings), anchors, None)
    }

    #[test]
    fn an_unbeaten_bot_and_one_that_never_scored_leave_the_others_alone() {
        // 1 and 2 trade points, 60 % to 1; 0 always beat them; 3 always lost.
        let all = [(1, 2, 120, 100), (0, 1, 40, 20), (0, 2, 60, 30), (3, 1, 0, 10)];
        let scale = scale(4, &all, &[]);
        assert_eq!(scale.place, [ScalePlace::Above, ScalePlace::Known, ScalePlace::Known, ScalePlace::Below]);
        let lead = elo_of_score(0.6).unwrap();
        assert!((scale.elo[1] - lead / 2.0).abs() < 1e-9 && (scale.elo[2] + lead / 2.0).abs() < 1e-9);
        let chance = |bound: f64| {
            score_of_elo(bound - scale.elo[1]).powi(20) * score_of_elo(bound - scale.elo[2]).powi(30)
        };
        assert!((chance(scale.bound[0]) - libm::exp(run(50.0))).abs() < 1e-9, "{}", chance(scale.bound[0]));
        assert!((libm::exp(run(50.0)) - 0.0191).abs() < 1e-4 && (libm::exp(run(1e6)) - 0.0215).abs() < 1e-4);
        assert!((chance(scale.elo[0]) - 0.5).abs() < 1e-9, "an even chance");
        assert!((score_of_elo(scale.elo[1] - scale.bound[3]).powi(10) - libm::exp(run(10.0))).abs() < 1e-9);
        assert!(scale.elo[0] > scale.bound[0] && scale.elo[3] < scale.bound[3]);
    }

    #[test]
    fn two_bots_of_which_one_won_everything() {
        let scale = scale(2, &[(0, 1, 200, 100)], &[]);
        assert_eq!(scale.place, [ScalePlace::Above, ScalePlace::Below]);
        // As in `Estimate`: a score of 0.962 at the end of the interval.
        let lead = scale.bound[0] - scale.bound[1];
        assert!((score_of_elo(lead) - 0.961_75).abs() < 1e-4, "{lead}");
        assert!((scale.bound[0] + scale.bound[1]).abs() < 1e-9);
    }

    #[test]
    fn chains_of_wins_have_an_order() {
        let chain = [(0, 1, 2, 1), (1, 2, 2, 1), (2, 3, 2, 1), (3, 4, 2, 1)];
        let scale = scale(5, &chain, &[(2, 1500.0)]);
        assert_eq!(scale.elo[2], 1500.0);
        assert!(scale.elo.windows(2).all(|two| two[0] >= two[1]), "{:?}", scale.elo);
        use ScalePlace::{Above, Below, Known};
        assert_eq!(scale.place, [Above, Above, Known, Below, Below]);
    }

    #[test]
    fn what_nothing_compares_is_unknown() {
        // 0 and 1 trade points; 2 always beat 0, and always beat 3: 3 may be anywhere.
        let scale = scale(4, &[(0, 1, 10, 10), (2, 0, 10, 5), (2, 3, 10, 5)], &[]);
        use ScalePlace::{Above, Known, Unknown};
        assert_eq!(scale.place, [Known, Known, Above, Unknown]);
        assert!(scale.elo[3] < scale.elo[2]);
        assert_eq!(scale.group, [0, 0, 0, 0]);
    }

    #[test]
    fn groups_and_anchors() {
        let games = [(0, 2, 10, 10), (1, 3, 12, 10), (3, 4, 12, 10)];
        assert_eq!(scale(5, &games, &[]).group, [0, 1, 0, 1, 1]);
        // Two anchors join two groups into one scale.
        let joined = scale(5, &games, &[(0, 1000.0), (3, 2000.0)]);
        assert_eq!(joined.group, [0; 5]);
        assert!(joined.place.iter().all(|place| *place == ScalePlace::Known));
        assert!((joined.elo[2] - 1000.0).abs() < 1e-9 && joined.elo[1] > 2000.0);
        assert_eq!((joined.elo[0], joined.elo[3]), (1000.0, 2000.0));
    }

    #[test]
    fn components_are_those_of_the_definition() {
        // Every graph of four bots in which each pair met or not, by brute force.
        for code in 0..4u32.pow(6) {
            let mut games = Vec::new();
            let mut digits = code;
            for (one, other) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                match digits % 4 {
                    0 => {}
                    points => games.push((one, other, u64::from(points - 1), 1)),
                }
                digits /= 4;
            }
            let meetings =
                games.iter().map(|&(one, other, points, count)| Meeting::games(one, other, points, count));
            let graph = Graph::new(&Pairs::new(4, meetings), &[]);
            let mut reach = [[false; 4]; 4];
            (0..4).for_each(|bot| reach[bot][bot] = true);
            for (bot, reach) in reach.iter_mut().enumerate() {
                graph.of(bot).iter().for_each(|&other| reach[other as usize] = true);
            }
            for middle in 0..4 {
                for one in 0..4 {
                    for other in 0..4 {
                        reach[one][other] |= reach[one][middle] && reach[middle][other];
                    }
                }
            }
            let component = graph.components();
            for one in 0..4 {
                for other in 0..4 {
                    let same = reach[one][other] && reach[other][one];
                    assert_eq!(component[one] == component[other], same, "{games:?}");
                    if reach[one][other] && !same {
                        assert!(component[one] > component[other], "{games:?}");
                    }
                }
            }
            let scale = scale(4, &games, &[]);
            assert!(scale.elo.iter().chain(&scale.bound).all(|elo| elo.is_finite()), "{games:?}");
        }
    }
}
