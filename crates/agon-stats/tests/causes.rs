//! Why a bot loses: real causes are found, and where there are none, something is found only in few
//! journals. The figures are in `docs/statistics.md`.

use agon_game::{Chance as _, Seeded};
use agon_stats::causes::{Family, Outcomes, Set, Sign, found};

/// Matches in mirrored blocks on five maps: a sign for each map, then for each seat.
fn signs(blocks: usize) -> (Vec<Sign>, Vec<Vec<usize>>, Vec<u64>) {
    let count = 2 * blocks;
    let sign =
        |is: &dyn Fn(usize) -> bool| Sign { known: Set::of(count, |_| true), holds: Set::of(count, is) };
    let mut signs: Vec<Sign> = (0..5).map(|map| sign(&|number| number / 2 % 5 == map)).collect();
    signs.extend((0..2).map(|seat| sign(&|number| number % 2 == seat)));
    let mut candidates: Vec<Vec<usize>> = (0..7).map(|place| vec![place]).collect();
    candidates.extend((0..5).flat_map(|map| [vec![map, 5], vec![map, 6]]));
    (signs, candidates, (0..count as u64).map(|number| number / 2).collect())
}

#[test]
fn what_was_lost_on_one_map_in_one_seat_is_named_and_nothing_beside_it() {
    let (signs, candidates, blocks) = signs(60);
    let mut chance = Seeded::stream(5, "causes");
    let by_lot: Vec<bool> = (0..120).map(|_| chance.happens(1, 4)).collect();
    let lost = Set::of(120, |number| by_lot[number] || number / 2 % 5 == 3 && number % 2 == 1);
    let groups = found(&Outcomes { lost, blocks }, &signs, &[Family { candidates, level: 0.05 }]);
    let [group] = &groups[..] else { panic!("{groups:?}") };
    assert_eq!(group.signs, [3, 6]);
    assert_eq!((group.lost[0], group.others[0]), (12, 0), "12 of 12 were lost");
    assert!(group.chance < 1e-5, "{}", group.chance);
}

/// The number of 1,000 cases in which something is found; `lose` draws a block.
fn false_alarms(lose: impl Fn(&mut Seeded) -> [bool; 2]) -> usize {
    let (signs, candidates, blocks) = signs(50);
    let families = [Family { candidates, level: 0.05 }];
    let any = |seed: &i64| {
        let mut chance = Seeded::stream(*seed, "causes");
        let drawn: Vec<bool> = (0..50).flat_map(|_| lose(&mut chance)).collect();
        let outcomes = Outcomes { lost: Set::of(100, |number| drawn[number]), blocks: blocks.clone() };
        !found(&outcomes, &signs, &families).is_empty()
    };
    (0..1_000).filter(any).count()
}

#[test]
fn what_is_lost_by_lot_has_no_cause() {
    let alone = false_alarms(|chance| [chance.happens(2, 5), chance.happens(2, 5)]);
    let few = false_alarms(|chance| [chance.happens(1, 20), chance.happens(1, 20)]);
    // The seed decides: for the seat it favours, or for the bot.
    let seat = false_alarms(|chance| if chance.happens(1, 2) { [true, false] } else { [false, true] });
    let bot = false_alarms(|chance| [chance.happens(1, 2); 2]);
    for (what, alarms) in [("alone", alone), ("few", few), ("seat", seat), ("bot", bot)] {
        println!("{what}: {alarms} of 1,000");
        assert!(alarms <= 50, "{what}: {alarms} of 1,000");
    }
}
