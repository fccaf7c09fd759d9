//! The sequential test: published values, and error rates by simulation.

use agon_game::Seeded;
use agon_stats::{
    Block, Decision, Estimate, Model, Sequential, Shape, Sprt, Tally, elo_of_score, score_of_elo,
};

#[path = "../examples/sprt.rs"]
mod example;

#[test]
fn the_example_of_the_documentation_holds() {
    example::main().expect("it decides");
}

/// A published series of 86,720 games in pairs: normalised Elo 3.05 +- 2.31. The LLR is that of the exact
/// likelihood, confirmed by an independent program (the approximation gives 2.94598).
const PUBLISHED: [u64; 5] = [379, 10_170, 21_828, 10_640, 343];

#[test]
fn the_published_series_has_its_published_numbers() {
    let tally = Tally::from_counts(Shape::PAIR, &PUBLISHED).unwrap();
    let sprt = Sprt::new(Model::Normalized, (0.0, 2.0), (0.05, 0.05), Shape::PAIR).unwrap();
    assert_eq!(format!("{:.5}", sprt.llr(&tally).unwrap()), "2.94550");
    assert_eq!(sprt.bounds().1, 19f64.ln());
    assert_eq!(sprt.bounds().0, (0.05f64 / 0.95).ln());
    let estimate = Estimate::new(&tally, 0.95);
    assert_eq!(format!("{:.2}", estimate.normalized.unwrap()), "3.05");
    assert_eq!(format!("{:.2}", estimate.normalized_error.unwrap()), "2.31");
    // By hand: the mean score is 0.5022947.
    assert_eq!(format!("{:.3}", estimate.elo.unwrap()), "1.595");
}

/// Computed with an independent program (SciPy's root finder on the definition).
#[test]
fn the_logistic_likelihood_is_the_one_of_the_definition() {
    let tally = Tally::from_counts(Shape::PAIR, &PUBLISHED).unwrap();
    let sprt = Sprt::new(Model::Logistic, (0.0, 2.0), (0.05, 0.05), Shape::PAIR).unwrap();
    assert!((sprt.llr(&tally).unwrap() - 3.125_676_351_262).abs() < 1e-8);
}

/// Results that never vary have a finite likelihood too, because every other result counts as having happened a
/// thousandth of a time. (Numbers from the same independent program.)
#[test]
fn constant_results_have_a_defined_likelihood() {
    let sprt = Sprt::new(Model::Logistic, (0.0, 10.0), (0.05, 0.05), Shape::PAIR).unwrap();
    let llr = |counts: [u64; 5]| sprt.llr(&Tally::from_counts(Shape::PAIR, &counts).unwrap()).unwrap();
    assert!((llr([0, 0, 0, 0, 100]) - 2.836871910).abs() < 1e-6);
    assert!((llr([0, 0, 100, 0, 0]) - -2.911175148).abs() < 1e-6);
    assert_eq!(llr([0; 5]), 0.0);
}

/// By hand: 60 wins, 20 draws, 40 losses have the draw margin 200 lg 2; the chances under both hypotheses follow
/// from it.
#[test]
fn the_bayesian_likelihood_is_the_one_of_the_definition() {
    let tally = Tally::from_counts(Shape::SINGLE, &[40, 20, 60]).unwrap();
    let sprt = Sprt::new(Model::Bayesian, (0.0, 30.0), (0.05, 0.05), Shape::SINGLE).unwrap();
    let margin = 200.0 * (60.0f64 / 60.0 * (80.0 / 40.0)).log10();
    let chances = |elo: f64| {
        let win = 1.0 / (1.0 + 10f64.powf((margin - elo) / 400.0));
        let loss = 1.0 / (1.0 + 10f64.powf((margin + elo) / 400.0));
        [loss, 1.0 - win - loss, win]
    };
    let expected: f64 = [40.0, 20.0, 60.0]
        .iter()
        .zip(chances(0.0).iter().zip(chances(30.0)))
        .map(|(n, (p0, p1))| n * (p1 / p0).ln())
        .sum();
    assert!((sprt.llr(&tally).unwrap() - expected).abs() < 1e-12);
    // Pairs given as counts do not say which games were drawn.
    let pairs = Tally::from_counts(Shape::PAIR, &PUBLISHED).unwrap();
    let sprt = Sprt::new(Model::Bayesian, (0.0, 30.0), (0.05, 0.05), Shape::PAIR).unwrap();
    assert_eq!(sprt.llr(&pairs), None);
}

#[test]
fn a_better_result_never_counts_for_less() {
    for model in [Model::Normalized, Model::Logistic] {
        for elo1 in [2.0, 50.0, 400.0] {
            let sprt = Sprt::new(model, (0.0, elo1), (0.05, 0.05), Shape::SINGLE).unwrap();
            let llr =
                |wins: u64| sprt.llr(&Tally::from_counts(Shape::SINGLE, &[200 - wins, 0, wins]).unwrap());
            for wins in 0..200 {
                assert!(llr(wins + 1) >= llr(wins), "{model} {elo1} {wins}");
            }
        }
    }
}

#[test]
fn both_sides_are_treated_alike() {
    for model in [Model::Normalized, Model::Logistic, Model::Bayesian] {
        let llr = |counts: &[u64], elo: (f64, f64)| {
            let sprt = Sprt::new(model, elo, (0.05, 0.05), Shape::SINGLE).unwrap();
            sprt.llr(&Tally::from_counts(Shape::SINGLE, counts).unwrap()).unwrap()
        };
        assert!((llr(&[30, 10, 50], (-5.0, 20.0)) + llr(&[50, 10, 30], (-20.0, 5.0))).abs() < 1e-9);
    }
}

#[test]
fn hypotheses_that_make_no_test_are_refused() {
    let refuse = |elo, rates, model, shape| Sprt::new(model, elo, rates, shape).unwrap_err().to_string();
    let usual = (0.05, 0.05);
    assert!(refuse((5.0, 5.0), usual, Model::Normalized, Shape::PAIR).contains("elo0 must be below elo1"));
    assert!(refuse((0.0, f64::NAN), usual, Model::Normalized, Shape::PAIR).contains("elo0"));
    assert!(refuse((0.0, 5.0), (0.0, 0.05), Model::Normalized, Shape::PAIR).contains("alpha"));
    assert!(refuse((0.0, 5.0), usual, Model::Bayesian, Shape::twins(4)).contains("normalized"));
    assert_eq!("bayesian".parse(), Ok(Model::Bayesian));
    assert!("pentanomial".parse::<Model>().is_err());
}

/// A source of results: the chance of each result of a single game, played in pairs that share luck.
struct Bots {
    /// Chances of loss, draw and win.
    chances: [f64; 3],
    /// How often the second game of a pair ends as if the seed had decided: opposite to the first.
    mirrored: f64,
}

impl Bots {
    fn game(&self, random: f64) -> u32 {
        let [loss, draw, _] = self.chances;
        u32::from(random >= loss) + u32::from(random >= loss + draw)
    }

    fn block(&self, seed: u64, shape: Shape, chance: &mut Seeded) -> Block {
        let mut random = || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
        let first = random();
        let mut points = vec![self.game(first)];
        if shape.games == 2 {
            // Mirrored luck has the same distribution by itself, so the mean score stays.
            let second = if random() < self.mirrored { 1.0 - first } else { random() };
            points.push(self.game(second));
        }
        Block { start: seed, fingerprint: seed, points }
    }

    /// The mean score and the standard deviation of a block's score.
    fn score(&self, shape: Shape) -> (f64, f64) {
        let [loss, draw, win] = self.chances;
        let mean = win + draw / 2.0;
        let square = win + draw / 4.0;
        let variance = square - mean * mean;
        if shape.games == 1 {
            return (mean, variance.sqrt());
        }
        // The mean product of a mirrored pair, by cutting the unit interval where either game changes result.
        let mut cuts = [0.0, loss, loss + draw, 1.0 - loss, 1.0 - loss - draw, 1.0];
        cuts.sort_by(f64::total_cmp);
        let product: f64 = cuts
            .windows(2)
            .map(|cut| {
                let middle = (cut[0] + cut[1]) / 2.0;
                (cut[1] - cut[0]) * f64::from(self.game(middle) * self.game(1.0 - middle)) / 4.0
            })
            .sum();
        let covariance = self.mirrored * (product - mean * mean);
        (mean, ((variance + covariance) / 2.0).sqrt())
    }

    /// Bots whose games are drawn with chance `draws` and whose true difference is `elo` in `model`.
    fn of(model: Model, elo: f64, shape: Shape, draws: f64, mirrored: f64) -> Self {
        let with = |lead: f64| Self {
            chances: [(1.0 - draws - lead) / 2.0, draws, (1.0 - draws + lead) / 2.0],
            mirrored,
        };
        let true_elo = |bots: &Self| {
            let (mean, deviation) = bots.score(shape);
            match model {
                Model::Logistic => elo_of_score(mean).unwrap(),
                Model::Normalized => {
                    let games = f64::from(shape.games).sqrt();
                    (mean - 0.5) / (deviation * games) * 800.0 / std::f64::consts::LN_10
                }
                // BayesElo's chances: a win is `elo - margin`, a loss `-elo - margin` on the Elo curve.
                Model::Bayesian => {
                    let [loss, _, win] = bots.chances;
                    (elo_of_score(win).unwrap() - elo_of_score(loss).unwrap()) / 2.0
                }
            }
        };
        let (mut low, mut high) = (-0.9 * (1.0 - draws), 0.9 * (1.0 - draws));
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if true_elo(&with(middle)) < elo { low = middle } else { high = middle }
        }
        with(low)
    }
}

/// Wrong decisions and blocks played, over `runs` tests of bots whose true difference is that of one hypothesis.
fn simulate(sprt: Sprt, bots: &Bots, wrong: Decision, runs: u64, stream: &str) -> (f64, f64) {
    let (mut errors, mut blocks) = (0u64, 0u64);
    for run in 0..runs {
        let mut chance = Seeded::stream(run as i64, stream);
        let mut test = Sequential::new(sprt);
        let decision = (0..).find_map(|seed| {
            let decision = test.feed(&bots.block(seed, sprt.shape(), &mut chance)).unwrap();
            (decision != Decision::Continue).then_some(decision)
        });
        errors += u64::from(decision == Some(wrong));
        blocks += test.tally().blocks();
    }
    (errors as f64 / runs as f64, blocks as f64 / runs as f64)
}

/// The stated error rate plus three standard deviations of its count in 2,000 runs.
fn allowed(rate: f64) -> f64 {
    rate + 3.0 * (rate * (1.0 - rate) / 2_000.0).sqrt()
}

/// 2,000 runs at each hypothesis, for every model, single games and pairs.
#[test]
fn wrong_decisions_are_as_rare_as_stated() {
    let elo = (0.0, 60.0);
    let (alpha, beta) = (0.05, 0.1);
    for model in [Model::Normalized, Model::Logistic, Model::Bayesian] {
        for shape in [Shape::SINGLE, Shape::PAIR] {
            let sprt = Sprt::new(model, elo, (alpha, beta), shape).unwrap();
            let run = |truth, wrong| {
                let bots = Bots::of(model, truth, shape, 0.2, 0.5);
                simulate(sprt, &bots, wrong, 2_000, "error rates")
            };
            let (false_gain, short) = run(elo.0, Decision::AcceptH1);
            let (missed_gain, long) = run(elo.1, Decision::AcceptH0);
            println!(
                "{model} {shape:?}: {false_gain} after {short:.0}, {missed_gain} after {long:.0} blocks"
            );
            assert!(false_gain <= allowed(alpha), "{model} {shape:?}: {false_gain}");
            assert!(missed_gain <= allowed(beta), "{model} {shape:?}: {missed_gain}");
        }
    }
}

/// Coarse tests end after few blocks, where a likelihood made for many is least reliable.
#[test]
fn coarse_tests_keep_their_error_rates_too() {
    for (elo1, draws) in [(200.0, 0.0), (200.0, 0.3), (400.0, 0.0)] {
        for model in [Model::Normalized, Model::Logistic] {
            for shape in [Shape::SINGLE, Shape::PAIR] {
                let sprt = Sprt::new(model, (0.0, elo1), (0.05, 0.05), shape).unwrap();
                let run = |truth, wrong| {
                    let bots = Bots::of(model, truth, shape, draws, 0.5);
                    simulate(sprt, &bots, wrong, 2_000, "coarse")
                };
                let (false_gain, short) = run(0.0, Decision::AcceptH1);
                let (missed, long) = run(elo1, Decision::AcceptH0);
                println!("{model} {shape:?} {elo1} {draws}: {false_gain} {short:.0} {missed} {long:.0}");
                assert!(false_gain <= allowed(0.05), "{model} {shape:?} {elo1} {draws}: {false_gain}");
                assert!(missed <= allowed(0.05), "{model} {shape:?} {elo1} {draws}: {missed}");
            }
        }
    }
}

/// Twin matches of four seats: OLD finishes anywhere, NEW tends to the front.
#[test]
fn twin_matches_keep_the_error_rates() {
    const OLD: [f64; 4] = [0.25; 4];
    const NEW: [f64; 4] = [0.30, 0.26, 0.24, 0.20];
    let shape = Shape::twins(4);
    // The points of a twin are 6 + 2 (old rank - new rank): its moments by enumerating all pairs of ranks.
    let moment = |of: &dyn Fn(f64) -> f64| -> f64 {
        (0..16)
            .map(|i| NEW[i / 4] * OLD[i % 4] * of((6.0 + 2.0 * (i % 4) as f64 - 2.0 * (i / 4) as f64) / 12.0))
            .sum()
    };
    let mean = moment(&|score| score);
    let deviation = moment(&|score| (score - mean).powi(2)).sqrt();
    let elo1 = (mean - 0.5) / deviation * 800.0 / std::f64::consts::LN_10;
    let sprt = Sprt::new(Model::Normalized, (0.0, elo1), (0.05, 0.05), shape).unwrap();
    for (new, wrong) in [(OLD, Decision::AcceptH1), (NEW, Decision::AcceptH0)] {
        let mut errors = 0;
        for run in 0..2_000 {
            let mut chance = Seeded::stream(run, "twins");
            let mut rank = |chances: &[f64; 4]| {
                let mut left = (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
                (0..3)
                    .find(|&rank| {
                        left -= chances[rank];
                        left < 0.0
                    })
                    .unwrap_or(3) as u32
            };
            let mut test = Sequential::new(sprt);
            let decision = (0..).find_map(|fingerprint| {
                let points = (0..4).map(|_| 6 + 2 * rank(&OLD) - 2 * rank(&new)).collect();
                let decision = test.feed(&Block { start: fingerprint, fingerprint, points }).unwrap();
                (decision != Decision::Continue).then_some(decision)
            });
            errors += u32::from(decision == Some(wrong));
        }
        let share = f64::from(errors) / 2_000.0;
        println!("twins, elo1 {elo1:.1}: {wrong:?} {share}");
        assert!(share <= allowed(0.05), "{wrong:?}: {share}");
    }
}

/// 2,000 series of 150 pairs of unequal bots: the 95 % interval contains the true score in 95 % of them.
#[test]
fn intervals_hold_the_truth_as_often_as_stated() {
    for elo in [0.0, 150.0, 350.0] {
        let bots = Bots::of(Model::Logistic, elo, Shape::PAIR, 0.1, 0.5);
        let (mut held, mut normalized_held) = (0, 0);
        let (mean, deviation) = bots.score(Shape::PAIR);
        assert!((mean - score_of_elo(elo)).abs() < 1e-9);
        let normalized = (mean - 0.5) / (deviation * 2f64.sqrt()) * 800.0 / std::f64::consts::LN_10;
        for run in 0..2_000 {
            let mut chance = Seeded::stream(run, "intervals");
            let mut tally = Tally::new(Shape::PAIR).unwrap();
            (0..150).for_each(|seed| tally.add(&bots.block(seed, Shape::PAIR, &mut chance)).unwrap());
            let estimate = Estimate::new(&tally, 0.95);
            held += u32::from(estimate.score_low <= mean && mean <= estimate.score_high);
            let distance = (estimate.normalized.unwrap() - normalized).abs();
            normalized_held += u32::from(distance <= estimate.normalized_error.unwrap());
        }
        println!("{elo}: {held} {normalized_held}");
        // 95 % of 2,000, plus or minus three and a half standard deviations.
        assert!((1_866..=1_934).contains(&held), "{elo}: {held}");
        assert!((1_866..=1_934).contains(&normalized_held), "{elo}: {normalized_held}");
    }
}

/// Read off when a test stops, the difference is too extreme; corrected, it is too high as often as too low, and its
/// interval contains the truth, also far beyond the hypotheses.
#[test]
fn the_corrected_difference_is_honest() {
    let mut bad = Vec::new();
    for (elo1, differences) in
        [(60.0, &[-250.0, -100.0, 0.0, 30.0, 60.0, 100.0, 250.0][..]), (20.0, &[-300.0, 100.0, 300.0])]
    {
        let sprt = Sprt::new(Model::Normalized, (0.0, elo1), (0.05, 0.05), Shape::PAIR).unwrap();
        bad.extend(differences.iter().filter_map(|&elo| dishonest(sprt, elo)));
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

/// What is wrong with the correction in 1,000 tests of bots with this true difference.
fn dishonest(sprt: Sprt, elo: f64) -> Option<String> {
    let bots = Bots::of(Model::Normalized, elo, Shape::PAIR, 0.2, 0.5);
    let truth = elo_of_score(bots.score(Shape::PAIR).0).unwrap();
    let (mut held, mut below, mut plain_below, mut blocks) = (0, 0, 0, 0);
    for run in 0..1_000 {
        let mut chance = Seeded::stream(run, "corrected");
        let mut test = Sequential::new(sprt);
        let decided = (0..).find(|&seed| {
            let block = bots.block(seed, Shape::PAIR, &mut chance);
            test.feed(&block).unwrap() != Decision::Continue
        });
        assert!(decided.is_some());
        let status = test.status();
        let corrected = status.corrected.expect("a decision and blocks that vary");
        let at_most = |end: Option<f64>| end.is_none_or(|end| end <= truth);
        held += u32::from(at_most(corrected.low) && corrected.high.is_none_or(|high| truth <= high));
        below += u32::from(corrected.elo.unwrap() < truth);
        plain_below += u32::from(status.estimate.elo.unwrap() < truth);
        blocks += status.blocks;
    }
    let case = format!(
        "{elo}, elo1 {}: {held} held, {below} below, {plain_below} below as read off, of 1000; {} blocks",
        sprt.hypotheses().1,
        blocks / 1_000
    );
    println!("{case}");
    (!(920..=980).contains(&held) || !(420..=580).contains(&below)).then_some(case)
}
