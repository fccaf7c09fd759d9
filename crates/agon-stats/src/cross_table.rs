//! The cross table: how each bot did against each other.

use serde::{Deserialize, Serialize};

use crate::{Results, TableKey};

/// The matches in which two bots met, from the viewpoint of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Cell {
    /// Times the first ranked ahead of the second.
    pub ahead: u64,
    /// Times they shared a rank.
    pub level: u64,
    /// Times the second ranked ahead.
    pub behind: u64,
}

impl Cell {
    pub fn meetings(&self) -> u64 {
        self.ahead + self.level + self.behind
    }

    /// The first bot's share of points, a tie counting half; none if they never met.
    pub fn score(&self) -> Option<f64> {
        let points = self.ahead as f64 + self.level as f64 / 2.0;
        (self.meetings() > 0).then(|| points / self.meetings() as f64)
    }

    fn add(&mut self, other: &Self) {
        self.ahead += other.ahead;
        self.level += other.level;
        self.behind += other.behind;
    }
}

/// Every bot against every other. In a match with more than two seats every pair meets once; a bot does not
/// meet itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct CrossTable {
    /// The game and rules.
    pub key: TableKey,
    /// The bots in the order of rows and columns: by share of points, then by name.
    pub bots: Vec<String>,
    /// `cells[row][column]`: the bot of the row against that of the column.
    pub cells: Vec<Vec<Cell>>,
    /// The sum of each row.
    pub totals: Vec<Cell>,
}

impl CrossTable {
    /// The cross table of those blocks of `results` that count.
    pub fn new(results: &Results) -> Self {
        let names = results.bots();
        let n = names.len();
        let mut cells = vec![vec![Cell::default(); n]; n];
        for game in results.matches() {
            let bot = |seat: usize| names.binary_search(&game.bots[seat].as_str()).expect("it is listed");
            for first in 0..game.bots.len() {
                for second in (0..game.bots.len()).filter(|&second| bot(second) != bot(first)) {
                    let cell = &mut cells[bot(first)][bot(second)];
                    match game.ranks[first].cmp(&game.ranks[second]) {
                        std::cmp::Ordering::Less => cell.ahead += 1,
                        std::cmp::Ordering::Equal => cell.level += 1,
                        std::cmp::Ordering::Greater => cell.behind += 1,
                    }
                }
            }
        }
        let totals: Vec<Cell> = cells
            .iter()
            .map(|row| {
                row.iter().fold(Cell::default(), |mut total, cell| {
                    total.add(cell);
                    total
                })
            })
            .collect();
        let mut order: Vec<usize> = (0..n).collect();
        let share = |bot: usize| totals[bot].score().unwrap_or(0.0);
        order.sort_by(|&a, &b| share(b).total_cmp(&share(a)));
        let bots = names.iter().map(|name| (*name).to_owned()).collect();
        Self { key: results.key().clone(), bots, cells, totals }.reordered(&order)
    }

    /// The same table with its bots in the order of `names`, for example that of a rating table beside it;
    /// bots not named come last.
    pub fn in_order_of<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut order: Vec<usize> =
            names.into_iter().filter_map(|name| self.bots.iter().position(|bot| bot == name)).collect();
        order.extend((0..self.bots.len()).filter(|bot| !order.contains(bot)).collect::<Vec<_>>());
        self.reordered(&order)
    }

    /// The table of only these bots, in this order; the sums are still over all their meetings.
    pub fn only<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let find = |name| self.bots.iter().position(|bot| bot == name);
        self.reordered(&names.into_iter().filter_map(find).collect::<Vec<_>>())
    }

    fn reordered(&self, order: &[usize]) -> Self {
        let row = |row: usize| order.iter().map(|&column| self.cells[row][column]).collect();
        Self {
            key: self.key.clone(),
            bots: order.iter().map(|&bot| self.bots[bot].clone()).collect(),
            cells: order.iter().map(|&bot| row(bot)).collect(),
            totals: order.iter().map(|&bot| self.totals[bot]).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MatchBlock, RankedMatch, RulesHash};

    #[test]
    fn every_two_seats_of_a_match_meet_once() {
        let key = TableKey { game: "ostibot".into(), rules: RulesHash(1) };
        let mut results = Results::new(key.clone());
        let game = |bots: [&str; 4], ranks| RankedMatch { bots: bots.map(String::from).to_vec(), ranks };
        let matches =
            vec![game(["a", "b", "c", "c"], vec![2, 1, 2, 4]), game(["c", "a", "b", "c"], vec![1, 2, 3, 4])];
        results.push(&key, MatchBlock { start: 1, fingerprint: 1, matches }).unwrap();
        let table = CrossTable::new(&results);
        assert_eq!(table.bots, ["b", "a", "c"]);
        assert_eq!(table.cells[1][0], Cell { ahead: 1, level: 0, behind: 1 });
        assert_eq!(table.cells[1][2], Cell { ahead: 2, level: 1, behind: 1 });
        assert_eq!(table.cells[2][1], Cell { ahead: 1, level: 1, behind: 2 });
        assert_eq!(table.cells[2][2], Cell::default());
        assert_eq!(table.totals[2], Cell { ahead: 2, level: 1, behind: 5 });
        assert_eq!(table.totals[0].score(), Some(4.0 / 6.0));
        let other = table.in_order_of(["c", "nobody", "b"]);
        assert_eq!(other.bots, ["c", "b", "a"]);
        assert_eq!((other.cells[0][2], other.totals[0]), (table.cells[2][1], table.totals[2]));
        assert_eq!(other.in_order_of(["b", "a", "c"]), table);
        let few = table.only(["c", "b"]);
        assert_eq!((few.bots.len(), few.cells[0][1], few.totals[0]), (2, table.cells[2][0], table.totals[2]));
    }
}
