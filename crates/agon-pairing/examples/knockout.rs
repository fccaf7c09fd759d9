//! A cup of four in which the bot with the lower number wins each block.

use agon_pairing::{BlockResults, FinishedBlock, Format, FormatError, Knockout};

pub(crate) fn main() -> Result<(), FormatError> {
    let cup = Knockout::new(4, 1)?;
    let mut results = BlockResults::new();
    loop {
        let now = cup.next(&results);
        if now.is_empty() {
            break;
        }
        for fixture in now {
            // Two seats: a block is two games.
            let best = *fixture.bots.iter().min().expect("a fixture has bots");
            let points = fixture.bots.iter().map(|bot| if *bot == best { 4 } else { 0 }).collect();
            results.insert(fixture.id, FinishedBlock { bots: fixture.bots, points });
        }
    }
    assert_eq!(cup.standing(&results)[0].bot, 0);
    Ok(())
}
