//! What holds in every position of every match, whatever the orders.

use std::collections::BTreeSet;

use agon_game::session::random_answers;
use agon_game::{Game, MapChoice, RulesChoice, Seat, Seeded, Setup, Sink};
use ostibot::Ostibot;
use ostibot::event::Event;
use ostibot::map::ObjectKind;
use ostibot::orders::Refusal;
use ostibot::state::{GONE, Phase, Place, State};

/// Collects the events of a step.
#[derive(Default)]
struct Told(Vec<Event>);

impl Sink<Ostibot> for Told {
    fn event(&mut self, event: Event) {
        self.0.push(event);
    }

    fn reject(&mut self, _: Seat, _: usize, _: Refusal) {}
}

fn setups() -> Vec<Setup> {
    let sets = |sets: &[(&str, &str)]| RulesChoice {
        sets: sets.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
        ..RulesChoice::default()
    };
    // Weak objects and strong adventurers, so that much is broken, carried and lost.
    let lively =
        [("chestHp", "20"), ("vaseHp", "20"), ("portalHp", "20"), ("doorHp", "20"), ("adventurerHp", "300")];
    let rich = [&lively[..], &[("startingGold", "40"), ("nbRounds", "4")]].concat();
    vec![
        Setup { seats: 2, rules: sets(&lively), ..Setup::default() },
        Setup { seats: 2, rules: sets(&rich), map: MapChoice::Generated, ..Setup::default() },
        Setup { seats: 4, rules: sets(&rich), ..Setup::default() },
        Setup { seats: 9, rules: sets(&lively), map: MapChoice::Generated, ..Setup::default() },
        Setup { seats: 2, ..Setup::default() },
        Setup {
            seats: 2,
            rules: sets(&[("corruptionStartAt", "2"), ("corruptionSpreadSpeed", "1")]),
            map: open(),
            ..Setup::default()
        },
    ]
}

/// A map of which two halves meet nowhere, without a border.
fn open() -> MapChoice {
    MapChoice::File("open.txt".into(), b"1.#..P\n2.#.V.\n".to_vec())
}

/// Plays random matches and calls `check(game, before, told, after)` for each step.
fn every_step(check: impl Fn(&Ostibot, &State, &[Event], &State)) {
    for (setup, seed) in setups().iter().flat_map(|setup| (0..40).map(move |seed| (setup, seed))) {
        let game = Ostibot::set_up(&Setup { seed, ..setup.clone() }).expect("a set-up");
        let mut chance = Seeded::stream(seed, "properties");
        let (mut state, mut answers) = (game.start(), Vec::new());
        while !game.deciding(&state).is_empty() {
            random_answers(&game, &state, &mut chance, &mut answers);
            let (before, mut told) = (state, Told::default());
            game.play(&mut state, &mut (), &answers, &mut chance, &mut told);
            check(&game, &before, &told.0, &state);
        }
    }
}

/// All gold: with the teams, carried, on the ground, in chests and vases.
fn gold(game: &Ostibot, state: &State) -> i64 {
    let teams: i64 = state.gold.iter().map(|&gold| i64::from(gold)).sum();
    let carried: i64 = state.adventurers.iter().map(|adventurer| i64::from(adventurer.gold)).sum();
    let ground: i64 = state.piles.iter().map(|pile| i64::from(pile.amount)).sum();
    teams + carried + ground + held(game, state)
}

/// The gold in chests and vases.
fn held(game: &Ostibot, state: &State) -> i64 {
    let objects = game.map().objects.iter().enumerate().filter(|(index, _)| state.hp[*index] != GONE);
    objects
        .map(|(_, object)| match object.kind {
            ObjectKind::Chest => i64::from(game.rules().chest_gold),
            ObjectKind::Vase => i64::from(game.rules().vase_gold),
            ObjectKind::Portal | ObjectKind::Door => 0,
        })
        .sum()
}

/// Gold comes and goes only where a rule says so: shop, sale, health tile, the end of a round.
#[test]
fn gold_is_conserved() {
    every_step(|game, before, told, after| {
        let mut expected = gold(game, before);
        let whole_map =
            held(game, &game.start()) + i64::from(game.rules().gold_pile) * game.map().piles.len() as i64;
        let mut held_now = held(game, before);
        for event in told {
            match *event {
                Event::Bought { cost, .. } => expected -= i64::from(cost),
                Event::Sold { refund, .. } | Event::FinalSale { refund, .. } => expected += i64::from(refund),
                Event::Healed { paid, .. } => expected -= i64::from(paid),
                Event::Broke { gold, .. } => held_now -= i64::from(gold),
                Event::RoundEnded { lost, left_behind, .. } => {
                    expected -= i64::from(lost) + i64::from(left_behind);
                }
                // The gold left in chests and vases goes with the old map; the new map comes with all of its gold.
                Event::RoundBegan { .. } => expected += whole_map - held_now,
                _ => {}
            }
        }
        assert_eq!(gold(game, after), expected, "{told:?}");
    });
}

#[test]
fn nobody_has_more_than_all_hit_points() {
    every_step(|game, _, _, after| {
        assert!(after.adventurers.iter().all(|adventurer| adventurer.hp <= game.rules().adventurer_hp));
        assert!(after.adventurers.iter().all(|adventurer| !adventurer.is_here() || adventurer.hp > 0));
    });
}

/// One adventurer per cell; nobody in a wall, a health tile or an object; one pile per cell.
#[test]
fn everything_has_its_own_cell() {
    every_step(|game, _, _, after| {
        let mut cells = BTreeSet::new();
        for adventurer in after.adventurers.iter().filter(|adventurer| adventurer.is_here()) {
            assert!(cells.insert(adventurer.cell), "two adventurers in {:?}", adventurer.cell);
            assert!(!matches!(
                game.map().tile(adventurer.cell),
                ostibot::map::Tile::Wall | ostibot::map::Tile::Health
            ));
            let thing = game.map().object_at(adventurer.cell);
            assert!(thing.is_none_or(|index| after.object_hp(index).is_none()));
        }
        let piles: BTreeSet<_> = after.piles.iter().map(|pile| pile.cell).collect();
        assert_eq!(piles.len(), after.piles.len());
        assert!(after.piles.iter().all(|pile| pile.amount > 0));
    });
}

/// An item has one place; the dead hold none; a slot holds one.
#[test]
fn an_item_is_in_exactly_one_place() {
    every_step(|_, _, _, after| {
        let ids: BTreeSet<_> = after.items.iter().map(|item| item.id).collect();
        assert_eq!(ids.len(), after.items.len());
        let mut worn = BTreeSet::new();
        for item in after.items.iter() {
            match item.place {
                Place::Ground(cell) => assert!(cell.is_somewhere()),
                Place::Pack(who) => assert!(after.adventurers[usize::from(who)].hp > 0),
                Place::Worn(who) => {
                    assert!(after.adventurers[usize::from(who)].hp > 0);
                    assert!(worn.insert((who, item.kind.slot())), "two items in a slot");
                    assert!(item.kind.slot().is_some());
                }
            }
        }
    });
}

/// Walls stop the fire, and so does the edge of the map.
#[test]
fn the_fire_stays_on_the_map_and_on_its_side_of_a_wall() {
    every_step(|game, _, _, after| {
        let map = game.map();
        assert!(
            after.fire.iter().all(|cell| cell.x() < map.width && cell.y() < map.height),
            "{:?}",
            after.fire
        );
        assert!(after.fire.and(&map.walls).is_empty(), "{:?}", after.fire);
        if (map.width, map.height) == (6, 2) {
            assert!(after.fire.iter().all(|cell| cell.x() < 2), "it walked round the wall: {:?}", after.fire);
        }
    });
}

/// A view holds nothing outside sight but the team's own adventurers, and no inventory of others.
#[test]
fn a_view_holds_nothing_outside_sight() {
    every_step(|game, _, _, after| {
        for seat in Seat::first(game.seats()) {
            let view = game.view(after, seat);
            let sees = |cell| view.seen.contains(cell);
            assert!(after.phase != Phase::Shop || view.seen.is_empty(), "the shop has no windows");
            assert!(view.objects.iter().all(|(object, _)| sees(object.cell)));
            assert!(view.piles.iter().all(|pile| sees(pile.cell)));
            assert!(view.items.iter().all(|&(cell, _)| sees(cell)));
            assert!(view.fire.iter().all(sees));
            for body in &view.adventurers {
                assert!(body.team == seat || (sees(body.cell) && body.pack.is_none()));
            }
            let own = game.members(seat).filter(|&who| after.adventurers[who].is_here()).count();
            assert_eq!(view.own().count(), own);
        }
    });
}

/// Every adventurer is in one place only: a round brings back exactly those who escaped, and new ones.
#[test]
fn nobody_appears_twice() {
    every_step(|game, _, told, after| {
        let mut ids = BTreeSet::new();
        for adventurer in after.adventurers[..game.places()].iter().filter(|adventurer| adventurer.hp > 0) {
            assert!(ids.insert(adventurer.id));
        }
        let began = told.iter().any(|event| matches!(event, Event::RoundBegan { .. }));
        assert!(!began || ids.len() == game.places(), "a round begins with everybody");
    });
}
