//! Measures the strength of the built-in bots: plays two of them against each other, each seed in both seats.
//!
//! `cargo run --release -p cultist-wars --example cultist_wars_strength -- hunter greedy 50`
//! `cargo run --release -p cultist-wars --example cultist_wars_strength -- hunter:nodes=2000 greedy 50`

use agon_game::session::RunningMatch;
use agon_game::{Answer, Builtin, Game, Seat, Setup};
use cultist_wars::CultistWars;

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [first, second, seeds] = &words[..] else {
        return Err("usage: strength BOT[:OPTION=VALUE] BOT[:OPTION=VALUE] SEEDS".to_owned());
    };
    let seeds: i64 = seeds.parse().map_err(|_| format!("`{seeds}` is no number of seeds"))?;
    let (mut won, mut drawn, mut turns) = (0, 0, 0);
    for seed in 0..seeds {
        for swapped in [false, true] {
            let bots = if swapped { [second, first] } else { [first, second] };
            let (winner, played) = play(seed, bots)?;
            turns += played;
            match winner {
                Some(seat) if (seat.index() == 1) == swapped => won += 1,
                Some(_) => {}
                None => drawn += 1,
            }
        }
    }
    let games = 2 * seeds;
    println!(
        "{first} - {second}: {won} won, {drawn} drawn, {} lost of {games}; {turns} turns",
        games - won - drawn
    );
    Ok(())
}

/// The winner and the number of turns of one match.
fn play(seed: i64, bots: [&String; 2]) -> Result<(Option<Seat>, u32), String> {
    let game = CultistWars::set_up(&Setup { seed, seats: 2, ..Setup::default() })
        .map_err(|error| error.to_string())?;
    let mut bots = [seat(&game, bots[0], seed)?, seat(&game, bots[1], seed)?];
    let mut table = RunningMatch::new(game);
    while let Some(seat) = table.game().deciding(table.state()).iter().next() {
        let order = bots[seat.index()].order(table.game(), table.game().view(table.state(), seat));
        table.play_typed(&[(seat, Answer::Given { order, think_ms: 0 })]);
    }
    let winner = table.game().outcome(table.state()).and_then(|outcome| outcome.winner());
    Ok((winner, table.state().turns_played().into()))
}

fn seat(game: &CultistWars, bot: &str, seed: i64) -> Result<Box<dyn Builtin<CultistWars>>, String> {
    let (name, options) = bot.split_once(':').unwrap_or((bot, ""));
    let options: Vec<_> =
        options.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())).into_iter().collect();
    game.builtin(name, &options, seed as u64)
}
