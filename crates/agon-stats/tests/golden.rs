//! The figures expected by fastchess's own tests, to its tolerance of 1 %.

use std::path::PathBuf;

use agon_stats::{Estimate, Model, Shape, Sprt, Tally, normalized_error_even};

/// The rows of a table, by column name. None, with a printed line, if the records are missing.
fn rows(file: &str) -> Option<Vec<Vec<(String, String)>>> {
    let path: PathBuf = agon_testkit::golden::folder("statistics")?.join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let head: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let row = |line: &str| {
        let cells = line.split('\t').map(str::to_owned);
        head.iter().map(|name| (*name).to_owned()).zip(cells).collect()
    };
    Some(lines.map(row).collect())
}

fn cell<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    &row.iter().find(|(own, _)| own == name).unwrap().1
}

/// A number of the table; none for `-`.
fn number(row: &[(String, String)], name: &str) -> Option<f64> {
    let text = cell(row, name);
    match text.strip_suffix(" %") {
        Some(percent) => Some(percent.parse::<f64>().unwrap() / 100.0),
        None => (text != "-").then(|| text.parse().unwrap()),
    }
}

/// Wins, losses, draws of games, or pairs by their points.
fn tally(row: &[(String, String)]) -> Tally {
    let counts: Vec<u64> = cell(row, "counts").split('/').map(|count| count.parse().unwrap()).collect();
    match (cell(row, "kind"), &counts[..]) {
        ("trinomial", [wins, losses, draws]) => Tally::from_counts(Shape::SINGLE, &[*losses, *draws, *wins]),
        ("pentanomial", counts) => Tally::from_counts(Shape::PAIR, counts),
        other => panic!("{other:?}"),
    }
    .unwrap()
}

fn near(got: f64, expected: f64, rounding: f64) -> bool {
    (got - expected).abs() <= 0.01 * expected.abs() + rounding
}

#[test]
fn log_likelihood_ratios_are_those_of_fastchess() {
    let Some(rows) = rows("sprt.tsv") else { return };
    assert!(rows.len() >= 12, "{}", rows.len());
    for row in rows {
        let (tally, model) = (tally(&row), cell(&row, "model").parse::<Model>().unwrap());
        let elo = (number(&row, "elo0").unwrap(), number(&row, "elo1").unwrap());
        let sprt = Sprt::new(model, elo, (0.05, 0.05), tally.shape()).unwrap();
        let (llr, expected) = (sprt.llr(&tally).unwrap(), number(&row, "llr").unwrap());
        println!("{row:?}: {llr:.4}");
        // The figures are rounded to two digits, which is more than 1 % of the small ones.
        assert!(near(llr, expected, 0.005), "{row:?}: {llr}");
    }
}

#[test]
fn elo_figures_are_those_of_fastchess() {
    let Some(rows) = rows("elo.tsv") else { return };
    assert!(rows.len() >= 6, "{}", rows.len());
    for row in rows {
        let tally = tally(&row);
        let estimate = Estimate::new(&tally, 0.95);
        println!("{row:?}: {estimate:?}");
        let games = tally.blocks() * u64::from(tally.shape().games);
        let half_width = (estimate.elo_high.unwrap() - estimate.elo_low.unwrap()) / 2.0;
        let checks = [
            ("nelo", estimate.normalized.unwrap(), 0.005),
            ("nelo_error", normalized_error_even(games, 0.95), 0.005),
            ("elo", estimate.elo.unwrap(), 0.005),
            ("elo_error", half_width, 0.005),
            ("los", estimate.superiority, 0.000_05),
            ("score", estimate.score, 0.000_5),
        ];
        for (name, got, rounding) in checks {
            if let Some(expected) = number(&row, name) {
                assert!(near(got, expected, rounding), "{name} of {row:?}: {got}");
            }
        }
        // Our own interval accounts for very unequal bots being measured less exactly than equal
        // ones.
        let (own, even) = (estimate.normalized_error.unwrap(), normalized_error_even(games, 0.95));
        let unequal = cell(&row, "counts") == "34/356/0";
        assert_eq!(own > 1.05 * even, unequal, "{row:?}: {own}");
    }
}
