//! The built-in bots: their options, and that they are as strong as claimed.

use agon_game::session::RunningMatch;
use agon_game::{Answer, Builtin, Game as _, Seat, Setup};
use cultist_wars::{CultistWars, INFO};

fn game(seed: i64) -> CultistWars {
    CultistWars::set_up(&Setup { seed, seats: 2, ..Setup::default() }).unwrap()
}

fn bot(name: &str, options: &[(&str, &str)], seed: u64) -> Result<Box<dyn Builtin<CultistWars>>, String> {
    let options: Vec<_> = options.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    game(0).builtin(name, &options, seed)
}

/// Plays a match; returns the table at its end. No order may be rejected.
fn play(seed: i64, bots: [(&str, &[(&str, &str)]); 2]) -> RunningMatch<CultistWars> {
    let mut bots = bots.map(|(name, options)| bot(name, options, seed as u64).unwrap());
    let mut table = RunningMatch::new(game(seed));
    while let Some(seat) = table.game().deciding(table.state()).iter().next() {
        let order = bots[seat.index()].order(table.game(), table.game().view(table.state(), seat));
        let allowed = table.game().resolve(table.state(), seat, &order);
        assert!(allowed.is_ok(), "seed {seed}, {}: {order}: {allowed:?}", table.game().moment(table.state()));
        table.play_typed(&[(seat, Answer::Given { order, think_ms: 0 })]);
    }
    table
}

/// How many of these matches, each seed in both seats, the first bot wins.
fn wins(first: (&str, &[(&str, &str)]), second: (&str, &[(&str, &str)]), seeds: i64) -> usize {
    let won = |seed, swapped: bool| {
        let table = play(seed, if swapped { [second, first] } else { [first, second] });
        let winner = table.game().outcome(table.state()).expect("the match is over").winner();
        usize::from(winner == Some(Seat::new(swapped.into())))
    };
    (0..seeds).map(|seed| won(seed, false) + won(seed, true)).sum()
}

/// With its default budget the hunter is stronger still: see `examples/cultist_wars_strength.rs`.
#[test]
fn greedy_beats_random_and_hunter_beats_greedy() {
    let hunter = ("hunter", &[("nodes", "1000")][..]);
    assert!(wins(("greedy", &[]), ("random", &[]), 10) >= 19);
    assert!(wins(hunter, ("greedy", &[]), 10) >= 17);
}

#[test]
fn a_match_of_bots_is_repeatable() {
    for name in INFO.builtins.iter().map(|bot| bot.name) {
        let options: &[(&str, &str)] = if name == "hunter" { &[("nodes", "300")] } else { &[] };
        let again = || *play(4, [(name, options), ("greedy", &[])]).state();
        assert_eq!(again(), again(), "{name}");
    }
}

#[test]
fn unknown_bots_and_options_are_told() {
    let refused = |name, options: &[_]| bot(name, options, 0).err().unwrap_or_default();
    assert_eq!(
        refused("hunt", &[]),
        "cultist-wars has no built-in bot `hunt`; there are idle, random, greedy, hunter"
    );
    assert_eq!(refused("greedy", &[("nodes", "5")]), "builtin:greedy has no option `nodes`; options: none");
    assert_eq!(refused("hunter", &[("depth", "5")]), "builtin:hunter has no option `depth`; options: nodes");
    for value in ["0", "-1", "many", "100000001", ""] {
        let why = refused("hunter", &[("nodes", value)]);
        assert!(why.contains("must be a whole number from 1 to 100000000"), "{why}");
    }
}
