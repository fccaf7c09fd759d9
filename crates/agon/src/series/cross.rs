//! The cross table for people: who met whom, what ratings predict, and who beats each other in a circle.

use std::io::{self, Write};

use agon_stats::{Cell, CrossTable, Cycle, RatingTable};
use comfy_table::{CellAlignment, Table, presets};

use crate::common::screen;
use crate::series::progress::thousands;

/// So many circles are told of.
const CIRCLES: usize = 3;

/// The circles of a table, in sentences.
pub fn circles(cycles: &[Cycle]) -> Vec<String> {
    let mut sentences: Vec<String> = cycles
        .iter()
        .take(CIRCLES)
        .map(|Cycle { bots: [a, b, c], scores, .. }| {
            let [one, two, three] = scores.map(|score| format!("{:.0} %", score * 100.0));
            format!(
                "{a} beats {b} ({one}), {b} beats {c} ({two}), and {c} beats {a} ({three}), beyond noise: no rating can say that."
            )
        })
        .collect();
    let more = cycles.len().saturating_sub(CIRCLES);
    sentences.extend((more > 0).then(|| format!("There are {} such circles more.", thousands(more as u64))));
    sentences
}

/// Real and predicted score of two bots of a table: `55 : 61 %`. None where they never met.
pub fn real_and_predicted(ratings: &RatingTable, one: &str, other: &str, cell: &Cell) -> Option<String> {
    let real = cell.score()? * 100.0;
    let place = |name: &str| ratings.bots.iter().position(|bot| bot.bot == name);
    let predicted = ratings.expected.get(place(one)?).and_then(|row| *row.get(place(other)?)?);
    Some(match predicted {
        Some(predicted) => format!("{real:.0} : {:.0} %", predicted * 100.0),
        None => format!("{real:.0} %"),
    })
}

/// The cross table, where it is narrow enough to be read.
pub fn show(out: &mut impl Write, ratings: &RatingTable, cross: &CrossTable) -> io::Result<()> {
    const WIDEST: usize = 12;
    if !(3..=WIDEST).contains(&cross.bots.len()) {
        return Ok(());
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let numbers = (1..=cross.bots.len()).map(|number| number.to_string());
    table.set_header(["ahead-level-behind\nscore : predicted".to_owned()].into_iter().chain(numbers));
    for (row, cells) in cross.cells.iter().enumerate() {
        let cells = cells.iter().enumerate().map(|(column, cell)| {
            let scores = real_and_predicted(ratings, &cross.bots[row], &cross.bots[column], cell);
            match scores.filter(|_| row != column) {
                None => "·".to_owned(),
                Some(scores) => format!("{}-{}-{}\n{scores}", cell.ahead, cell.level, cell.behind),
            }
        });
        let own = format!("{} {}", row + 1, screen::harmless(&cross.bots[row]));
        table.add_row([own].into_iter().chain(cells));
    }
    for column in 1..=cross.bots.len() {
        table.column_mut(column).expect("a column of ours").set_cell_alignment(CellAlignment::Right);
    }
    writeln!(out, "{}\n", table.trim_fmt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_sentences() {
        let cycle = Cycle {
            bots: ["a", "b", "c"].map(str::to_owned),
            scores: [0.8, 0.75, 0.7],
            blocks: [(8, 2); 3],
            luck: 0.001,
        };
        let told = circles(&vec![cycle; 5]);
        assert_eq!(
            told[0],
            "a beats b (80 %), b beats c (75 %), and c beats a (70 %), beyond noise: no rating can say that."
        );
        assert_eq!((told.len(), told[3].as_str()), (4, "There are 2 such circles more."));
        assert!(circles(&[]).is_empty());
    }
}
