//! The cross table for people: who met whom, what ratings predict, and who beats whom in a circle.

use std::io::{self, Write};

use agon_desk::words::thousands;
use agon_stats::{Cell as Met, CrossTable, Cycle, RatingTable};

use crate::common::screen;
use crate::common::table::{Cell, Table};

/// How many circles are listed.
const CIRCLES: usize = 3;

/// The circles of a table, in sentences.
pub fn circles(cycles: &[Cycle]) -> Vec<String> {
    let mut sentences: Vec<String> = cycles
        .iter()
        .take(CIRCLES)
        .map(|Cycle { bots: [a, b, c], scores, .. }| {
            let [one, two, three] = scores.map(|score| format!("{:.0} %", score * 100.0));
            format!(
                "{a} beats {b} ({one}), {b} beats {c} ({two}), and {c} beats {a} ({three}), beyond noise: no rating can express that."
            )
        })
        .collect();
    let more = cycles.len().saturating_sub(CIRCLES);
    sentences.extend((more > 0).then(|| format!("There are {} more such circles.", thousands(more as u64))));
    sentences
}

/// Real and predicted score of two bots of a table: `55 : 61 %`. None where they never met.
pub fn real_and_predicted(ratings: &RatingTable, one: &str, other: &str, cell: &Met) -> Option<String> {
    let real = cell.score()? * 100.0;
    let place = |name: &str| ratings.bots.iter().position(|bot| bot.bot == name);
    let predicted = ratings.expected.get(place(one)?).and_then(|row| *row.get(place(other)?)?);
    Some(match predicted {
        Some(predicted) => format!("{real:.0} : {:.0} %", predicted * 100.0),
        None => format!("{real:.0} %"),
    })
}

/// Prints the cross table if it is narrow enough to be read.
pub fn show(out: &mut impl Write, ratings: &RatingTable, cross: &CrossTable) -> io::Result<()> {
    const WIDEST: usize = 12;
    if !(3..=WIDEST).contains(&cross.bots.len()) {
        return Ok(());
    }
    let mut table = Table::new().names("ahead-level-behind");
    for number in 1..=cross.bots.len() {
        // If room is short, the matches against the weakest are left out first.
        table = table.numbers(number.to_string(), number as u8);
    }
    for (row, cells) in cross.cells.iter().enumerate() {
        let own = format!("{} {}", row + 1, screen::harmless(&cross.bots[row]));
        let mut counts = vec![Cell::from(own)];
        let mut scores = vec![Cell::from(if row == 0 { "score : predicted" } else { "" })];
        for (column, met) in cells.iter().enumerate() {
            let score = real_and_predicted(ratings, &cross.bots[row], &cross.bots[column], met);
            let score = score.filter(|_| row != column);
            counts.push(Cell::from(match &score {
                Some(_) => format!("{}-{}-{}", met.ahead, met.level, met.behind),
                None => "·".to_owned(),
            }));
            scores.push(Cell::from(score.unwrap_or_default()));
        }
        table.row(counts);
        table.row(scores);
    }
    writeln!(out, "{}", table.text(screen::room()))
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
            "a beats b (80 %), b beats c (75 %), and c beats a (70 %), beyond noise: no rating can express that."
        );
        assert_eq!((told.len(), told[3].as_str()), (4, "There are 2 more such circles."));
        assert!(circles(&[]).is_empty());
    }
}
