//! Plays built-in bots against each other:
//! `cargo run --release -p terminal --example terminal_strength -- planner rush 100 [PRESET]`.

use agon_game::{Answer, Builtin, Game as _, Ignored, RulesChoice, Seat, Seeded, Setup};
use terminal::Terminal;
use terminal::work::Work;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [one, two, matches, rest @ ..] = &words[..] else { panic!("needs BOT BOT MATCHES [PRESET]") };
    let matches: u64 = matches.parse().expect("a number of matches");
    let preset = rest.first().cloned().unwrap_or_default();
    let rules = RulesChoice { preset, ..RulesChoice::default() };
    let game = Terminal::set_up(&Setup { rules, seats: 2, ..Setup::default() }).expect("a playable setup");
    let (mut wins, mut draws, mut turns) = (0, 0, 0);
    for seed in 0..matches {
        // Alternate the sides of the arena.
        let first = (seed % 2) as u8;
        let names = if first == 0 { [one, two] } else { [two, one] };
        let mut bots: Vec<Box<dyn Builtin<Terminal>>> = names
            .iter()
            .zip([2 * seed, 2 * seed + 1])
            .map(|(name, seed)| game.builtin(name, &[], seed).expect("a bot"))
            .collect();
        let (mut state, mut work) = (game.start(), Work::default());
        let mut chance = Seeded::stream(seed as i64, "play");
        while game.outcome(&state).is_none() {
            let answers: Vec<_> = Seat::first(2)
                .map(|seat| {
                    let order = bots[seat.index()].order(&game, game.view(&state, seat));
                    (seat, Answer::Given { order, think_ms: 0 })
                })
                .collect();
            game.play(&mut state, &mut work, &answers, &mut chance, &mut Ignored);
        }
        turns += u64::from(state.turn);
        match game.outcome(&state).and_then(|outcome| outcome.winner()) {
            None => draws += 1,
            Some(seat) => wins += u64::from(seat == Seat::new(first)),
        }
    }
    println!(
        "{one} won {wins}, drew {draws} of {matches} against {two}; {} turns a match",
        turns / matches.max(1)
    );
}
