//! Knockout for games with more than two seats: heats from which the best go on.
//!
//! In each round the bots play in heats of as many bots as there are seats, with the best seeds spread over them. The
//! best of each heat go on; if these are too few to fill a match, the best of the others go on too. Bots left over,
//! always the best seeds, have a bye. A single remaining match is the final. A heat is a number of blocks by points;
//! bots that are level at the line play further blocks.

use crate::{
    BlockResults, FURTHER_BLOCKS, Fixture, Format, FormatError, Id, Standing, check, check_best_of, places,
};

/// A knockout in heats.
#[derive(Clone, Debug)]
pub struct Heats {
    bots: usize,
    seats: usize,
    advance: usize,
    blocks: u32,
}

impl Heats {
    /// Heats of `seats` bots and `blocks` blocks, from which the best `advance` go on; half of them is usual.
    ///
    /// # Errors
    /// With fewer bots than seats, when nobody or everybody would go on, or with no blocks.
    pub fn new(bots: usize, seats: usize, advance: usize, blocks: u32) -> Result<Self, FormatError> {
        check(bots, seats)?;
        check_best_of(blocks)?;
        if advance == 0 || advance >= seats {
            return Err(FormatError::Advance { advance, seats });
        }
        Ok(Self { bots, seats, advance, blocks })
    }

    fn fold(&self, results: &BlockResults) -> Fold {
        let mut fold =
            Fold { points: vec![0; self.bots], out: vec![(u32::MAX, 0); self.bots], open: Vec::new() };
        let mut left: Vec<usize> = (0..self.bots).collect();
        for round in 1.. {
            let last = left.len() == self.seats;
            let byes = left.len() % self.seats;
            let playing = &left[byes..];
            let count = playing.len() / self.seats;
            let line = if last { 1 } else { self.advance };
            let mut heats: Vec<Vec<usize>> = vec![Vec::new(); count];
            for (place, &bot) in playing.iter().enumerate() {
                // Filled back and forth, so that all heats are about equally strong.
                let (row, column) = (place / count, place % count);
                heats[if row % 2 == 0 { column } else { count - 1 - column }].push(bot);
            }
            let mut ended: Vec<(usize, u64, usize)> = Vec::new();
            for (table, heat) in (1..).zip(&heats) {
                match self.heat(Id { round, table, block: 1 }, heat, line, results) {
                    Ok(order) => {
                        ended.extend(
                            order.into_iter().zip(0..).map(|((bot, points), place)| (place, points, bot)),
                        );
                    }
                    Err(fixture) => fold.open.push(fixture),
                }
            }
            ended.iter().for_each(|&(_, points, bot)| fold.points[bot] += points);
            if !fold.open.is_empty() {
                return fold;
            }
            // By place in the heat, then by points: the first of these go on.
            ended.sort_by_key(|&(place, points, bot)| (place, std::cmp::Reverse(points), bot));
            let on = if last { 0 } else { (count * self.advance).max(self.seats.saturating_sub(byes)) };
            for &(place, _, bot) in &ended[on..] {
                fold.out[bot] = (round, self.seats - place);
            }
            if last {
                return fold;
            }
            left.truncate(byes);
            left.extend(ended[..on].iter().map(|&(.., bot)| bot));
            left.sort_unstable();
        }
        unreachable!("every round throws bots out until one match is left")
    }

    /// The final order of a heat with the points of each bot, or the block to be played next.
    fn heat(
        &self,
        id: Id,
        heat: &[usize],
        line: usize,
        results: &BlockResults,
    ) -> Result<Vec<(usize, u64)>, Fixture> {
        let mut order: Vec<(usize, u64)> = heat.iter().map(|&bot| (bot, 0)).collect();
        for block in 1.. {
            let level = order[line - 1].1 == order[line].1;
            let played = block - 1;
            if played >= self.blocks && (!level || played >= self.blocks + FURTHER_BLOCKS) {
                return Ok(order);
            }
            let mut bots = heat.to_vec();
            bots.rotate_left(played as usize % heat.len());
            let id = Id { block, ..id };
            let Some(result) = results.get(&id) else { return Err(Fixture { id, bots }) };
            for (bot, &points) in bots.iter().zip(&result.points) {
                let own = order.iter_mut().find(|(own, _)| own == bot).expect("of this heat");
                own.1 += u64::from(points);
            }
            order.sort_by_key(|&(bot, points)| (std::cmp::Reverse(points), bot));
        }
        unreachable!("the loop ends with the last further block")
    }
}

/// The tournament so far.
struct Fold {
    points: Vec<u64>,
    /// For each bot, the round in which it left, and how many it left behind in its heat, itself included.
    out: Vec<(u32, usize)>,
    open: Vec<Fixture>,
}

impl Format for Heats {
    fn next(&self, results: &BlockResults) -> Vec<Fixture> {
        self.fold(results).open
    }

    fn standing(&self, results: &BlockResults) -> Vec<Standing> {
        let fold = self.fold(results);
        let mut order: Vec<(usize, (u32, usize))> = fold.out.iter().copied().enumerate().collect();
        order.sort_by_key(|&(bot, out)| (std::cmp::Reverse(out), bot));
        places(order, &fold.points, &vec![0; self.bots])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FinishedBlock;
    use crate::tests::play;

    #[test]
    fn the_best_go_on_until_one_match_is_left() {
        let heats = Heats::new(16, 4, 2, 1).unwrap();
        let (results, played) = play(&heats, 4, 1, 0.0);
        let bots = |round, table| {
            let fixture =
                played.iter().find(|fixture| (fixture.id.round, fixture.id.table) == (round, table));
            fixture.map(|fixture| fixture.bots.clone())
        };
        assert_eq!(bots(1, 1), Some(vec![0, 7, 8, 15]));
        assert_eq!(bots(2, 1), Some(vec![0, 3, 4, 7]));
        assert_eq!(bots(3, 1), Some(vec![0, 1, 2, 3]));
        assert_eq!(played.len(), 4 + 2 + 1);
        let places: Vec<(usize, u32)> =
            heats.standing(&results).iter().map(|standing| (standing.bot, standing.place)).take(6).collect();
        assert_eq!(places, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 5)]);
    }

    #[test]
    fn any_number_of_bots_comes_to_an_end() {
        for seats in 3..=9 {
            for bots in (seats..3 * seats + 3).chain([60]) {
                for advance in [1, seats / 2, seats - 1] {
                    let heats = Heats::new(bots, seats, advance, 1).unwrap();
                    let (results, played) = play(&heats, seats, 5, 9.0);
                    let standing = heats.standing(&results);
                    assert_eq!(standing.len(), bots);
                    let last = played.iter().map(|fixture| fixture.id.round).max().unwrap();
                    let mut finals = played.iter().filter(|fixture| fixture.id.round == last);
                    assert!(finals.clone().all(|fixture| fixture.id.table == 1), "one final");
                    let mut finalists = finals.next_back().unwrap().bots.clone();
                    finalists.sort_unstable();
                    let mut first: Vec<usize> =
                        standing[..seats].iter().map(|standing| standing.bot).collect();
                    first.sort_unstable();
                    assert_eq!(first, finalists);
                }
            }
        }
    }

    #[test]
    fn bots_that_are_level_at_the_line_play_on() {
        let heats = Heats::new(3, 3, 1, 1).unwrap();
        let mut results = BlockResults::new();
        let mut feed = |block, points: [u32; 3]| {
            let bots = if block == 1 { vec![0, 1, 2] } else { vec![1, 2, 0] };
            results.insert(Id { round: 1, table: 1, block }, FinishedBlock { bots, points: points.to_vec() });
            heats.next(&results).first().map(|fixture| fixture.bots.clone())
        };
        assert_eq!(feed(1, [8, 8, 2]), Some(vec![1, 2, 0]));
        // The second block rotates the seats: 1 has 12, 0 has 14.
        assert_eq!(feed(2, [4, 8, 6]), None);
        assert_eq!(heats.standing(&results)[0].bot, 0);
        assert_eq!(heats.standing(&results)[1].points, 12);
    }

    #[test]
    fn what_cannot_be_held_is_refused() {
        assert!(Heats::new(3, 4, 2, 1).is_err());
        assert_eq!(Heats::new(8, 4, 4, 1).unwrap_err(), FormatError::Advance { advance: 4, seats: 4 });
        assert_eq!(Heats::new(8, 4, 0, 1).unwrap_err(), FormatError::Advance { advance: 0, seats: 4 });
        assert!(Heats::new(20, 10, 5, 1).is_err());
    }
}
