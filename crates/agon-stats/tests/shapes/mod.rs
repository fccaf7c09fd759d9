//! Results of many shapes, not only the even ones that suit mathematics best. Each is named in `docs/statistics.md`.

use agon_game::Seeded;
use agon_stats::{Block, Shape};

/// Results of blocks: the chance of each number of points before the bot is made stronger or weaker.
pub struct Source {
    pub name: &'static str,
    pub shape: Shape,
    pub chances: Vec<f64>,
}

pub fn sources() -> Vec<Source> {
    let source = |name, shape, chances: &[f64]| Source { name, shape, chances: chances.to_vec() };
    let mut sources = vec![
        source("even games", Shape::SINGLE, &[0.45, 0.1, 0.45]),
        source("drawish games", Shape::SINGLE, &[0.05, 0.9, 0.05]),
        source("drawish pairs", Shape::PAIR, &[0.005, 0.1, 0.79, 0.1, 0.005]),
        source("pairs that cancel", Shape::PAIR, &[0.05, 0.1, 0.7, 0.1, 0.05]),
        source("pairs that repeat", Shape::PAIR, &[0.4, 0.05, 0.1, 0.05, 0.4]),
        source("skewed pairs", Shape::PAIR, &[0.02, 0.05, 0.55, 0.36, 0.02]),
        source("rare losses", Shape::PAIR, &[0.06, 0.02, 0.3, 0.5, 0.12]),
        source("rare wins", Shape::PAIR, &[0.12, 0.5, 0.3, 0.02, 0.06]),
        // Nine of ten games are won from the better seat.
        source("seat advantage 90 %", Shape::PAIR, &[0.09, 0.0, 0.82, 0.0, 0.09]),
    ];
    // Ranks of equal bots are uniform, and the games of a block independent; a twin is the difference of two ranks.
    for (name, seats) in [("ranks of 3 seats", 3), ("ranks of 5 seats", 5), ("ranks of 9 seats", 9)] {
        let game: Vec<f64> = (0..2 * seats - 1).map(|p| if p % 2 == 0 { 1.0 } else { 0.0 }).collect();
        sources.push(Source { name, shape: Shape::rotation(seats), chances: sum(&game, seats) });
    }
    for (name, seats) in [("twins of 3 seats", 3), ("twins of 4 seats", 4), ("twins of 9 seats", 9)] {
        let most = 2 * (seats as usize - 1);
        let mut game = vec![0.0; 2 * most + 1];
        for one in (0..=most).step_by(2) {
            for other in (0..=most).step_by(2) {
                game[most + one - other] += 1.0;
            }
        }
        sources.push(Source { name, shape: Shape::twins(seats), chances: sum(&game, seats) });
    }
    sources
}

/// The distribution of the sum of this many games with these chances.
fn sum(game: &[f64], games: u32) -> Vec<f64> {
    let all: f64 = game.iter().sum();
    (0..games).fold(vec![1.0], |before, _| {
        let mut next = vec![0.0; before.len() + game.len() - 1];
        for (points, chance) in before.iter().enumerate() {
            game.iter().enumerate().for_each(|(more, own)| next[points + more] += chance * own / all);
        }
        next
    })
}

impl Source {
    /// The chances with this excess in standard deviations of a block: each result is made likelier the more points
    /// it has.
    pub fn with_excess(&self, excess: f64) -> Vec<f64> {
        let full = f64::from(self.shape.full());
        let tilted = |x: f64| -> Vec<f64> {
            let weights: Vec<f64> = self
                .chances
                .iter()
                .enumerate()
                .map(|(p, chance)| chance * (x * p as f64 / full).exp())
                .collect();
            let sum: f64 = weights.iter().sum();
            weights.into_iter().map(|weight| weight / sum).collect()
        };
        let of = |chances: &[f64]| {
            let moment = |of: &dyn Fn(f64) -> f64| -> f64 {
                chances.iter().enumerate().map(|(p, chance)| chance * of(p as f64 / full)).sum()
            };
            let mean = moment(&|score| score);
            (mean - 0.5) / moment(&|score| (score - mean).powi(2)).sqrt()
        };
        let (mut low, mut high) = (-60.0, 60.0);
        for _ in 0..80 {
            let middle = f64::midpoint(low, high);
            if of(&tilted(middle)) < excess { low = middle } else { high = middle }
        }
        tilted(low)
    }
}

/// Points of a block, divided among its games.
pub fn block(start: u64, shape: Shape, mut points: u32) -> Block {
    let share = |_| {
        let own = points.min(shape.points);
        points -= own;
        own
    };
    Block { start, fingerprint: start, points: (0..shape.games).map(share).collect() }
}

/// The points of a block drawn from these chances.
pub fn draw(chances: &[f64], chance: &mut Seeded) -> u32 {
    let mut left = (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
    let points = chances.iter().position(|chance| {
        left -= chance;
        left < 0.0
    });
    points.unwrap_or_else(|| chances.iter().rposition(|chance| *chance > 0.0).expect("a chance")) as u32
}
