//! A sequential test: is NEW better than OLD?

use agon_stats::{Block, Decision, Model, Sequential, Shape, Sprt};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sprt = Sprt::new(Model::Normalized, (0.0, 200.0), (0.05, 0.05), Shape::PAIR)?;
    let mut test = Sequential::new(sprt);
    for seed in 0.. {
        // Points of NEW in both games of the pair: 2 for a win, 1 for a draw.
        let block = Block { start: seed, fingerprint: seed, points: vec![2, 1 + (seed % 2) as u32] };
        let decision = test.feed(&block)?;
        if decision != Decision::Continue {
            assert_eq!(decision, Decision::AcceptH1);
            break;
        }
    }
    Ok(())
}
