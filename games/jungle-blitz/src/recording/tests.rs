//! Matches of random commands, recorded as the viewer would, give the same match back.

use agon_game::{Seeded, Sink};
use serde_json::json;

use super::*;
use crate::event::Event;
use crate::map::Tile;
use crate::reason::Refusal;

/// The events and errors of one turn, as frames tell them.
#[derive(Default)]
struct Turned {
    events: Vec<Value>,
    errors: Vec<Value>,
}

impl Sink<JungleBlitz> for Turned {
    fn event(&mut self, event: Event) {
        let id = |unit: u8| unit.to_string();
        self.events.push(match event {
            Event::SummonBegun { unit, .. } => json!({ "action": "SUMMON", "unitId": id(unit) }),
            Event::Dropped { unit, at, .. } => {
                json!({ "action": "DROP", "unitId": id(unit), "dropEvent": { "dropPosition": at } })
            }
            Event::Killed { unit, victim, .. } => {
                json!({ "action": "ATTACK", "unitId": id(unit), "attackEvent": { "targetUnitId": id(victim) } })
            }
            Event::Vined { unit, victim, .. } => {
                json!({ "action": "VINE", "unitId": id(unit), "vineEvent": { "vineUnitId": id(victim) } })
            }
            _ => return,
        });
    }

    fn reject(&mut self, _: Seat, _: usize, refusal: Refusal) {
        self.errors.push(refusal.to_string().into());
    }
}

/// A frame as the viewer gets it.
fn frame(game: &JungleBlitz, state: &State, turned: &[Turned], playing: Option<usize>) -> Value {
    let point = |cell| game.arena.point(cell);
    let teams = (0..game.teams()).map(|team| {
        let units = (0..game.units_per_team).map(|unit| game.first_unit(team) + unit).map(|index| {
            let unit = state.unit(index);
            let path: Vec<_> = state.path(&game.arena, index).map(point).collect();
            let mut told = json!({
                "id": (index + 1).to_string(), "path": path, "hasDiamond": unit.holds > 0,
                "hasSpawned": unit.alive(), "isSummoning": unit.summoning > 0, "lastState": {},
            });
            if unit.known {
                told["position"] = json!(point(unit.cell));
            }
            if let Some(diamond) = unit.diamond() {
                told["diamondId"] = json!(format!("stone {diamond}"));
            }
            told
        });
        json!({
            "id": format!("team {team}"), "name": "", "score": state.scores[team], "isDead": state.is_dead(team),
            "units": units.collect::<Vec<_>>(), "events": turned[team].events, "errors": turned[team].errors,
        })
    });
    let diamonds =
        state.diamonds[..game.arena.diamonds().len()].iter().enumerate().map(|(index, diamond)| {
            let mut told = json!({
                "id": format!("stone {index}"), "position": point(diamond.cell),
                "summonLevel": diamond.level, "points": diamond.points,
            });
            match diamond.owner.holder() {
                Some(unit) => told["ownerId"] = (unit + 1).to_string().into(),
                None if diamond.owner == crate::state::Owner::NEVER => {}
                None => told["ownerId"] = Value::Null,
            }
            told
        });
    let tiles = (0..game.map.width()).map(|x| {
        let column = (0..game.map.height()).map(|y| match game.map.tile(x, y) {
            Tile::Floor | Tile::Diamond => 0,
            Tile::Spawn => 1,
            Tile::Water => 3,
            Tile::Stone => 4,
            Tile::Trap => 5,
        });
        column.collect::<Vec<_>>()
    });
    let mut frame = json!({
        "tick": state.tick, "totalTick": game.rules.total_tick,
        "teams": teams.collect::<Vec<_>>(),
        "map": { "viewerTiles": tiles.collect::<Vec<_>>(), "diamonds": diamonds.collect::<Vec<_>>() },
        "gameConfig": { "pointsPerDiamond": 1, "initialDiamondSummonLevel": 1, "maximumDiamondSummonLevel": 5 },
    });
    if let Some(team) = playing {
        frame["playingTeamId"] = json!(format!("team {team}"));
    }
    frame
}

/// A match of random commands as a recording, and its last state. Some turns are late, and the last team leaves.
fn recorded(setup: &Setup) -> (Vec<u8>, JungleBlitz, State) {
    let prepared = JungleBlitz::prepare(setup).expect("a setup");
    let game = JungleBlitz::begin(&prepared, setup.seed).expect("a match");
    let (mut state, mut search) = (game.start(), Search::default());
    let mut chance = Seeded::stream(setup.seed, "commands");
    let mut frames = Vec::new();
    while !game.deciding(&state).is_empty() {
        turn::forget_marks(&game, &mut state);
        if game.teams() > 1 && state.tick == 40 {
            state.dead |= 1 << (game.teams() - 1);
        }
        let mut turned: Vec<Turned> = (0..game.teams()).map(|_| Turned::default()).collect();
        for &team in game.play_order(state.tick) {
            let team = usize::from(team);
            if state.is_dead(team) || chance.below(20) == 0 {
                continue;
            }
            let command = game.random_order(&state, Seat::new(team as u8), &mut chance);
            let mut turn = Turn {
                game: &game,
                state: &mut state,
                search: &mut search,
                chance: &mut chance,
                out: &mut turned[team],
            };
            turn.take(team, &command);
            frames.push(frame(&game, &state, &turned, Some(team)));
        }
        turn::grow_held_diamonds(&game, &mut state);
        frames.push(frame(&game, &state, &turned, None));
        state.tick += 1;
    }
    (serde_json::to_vec(&frames).expect("JSON"), game, state)
}

/// Whatever is played, its recording gives the same match back.
#[test]
fn commands_are_found_again() {
    let mut words = std::collections::BTreeMap::<_, usize>::new();
    for seed in 0..24 {
        let seats = (seed % 4 + 1) as u8;
        let units = [1, 2, 3, 4][seed as usize / 4 % 4].min(16 / seats);
        let sets = [("totalTick", "120".to_owned()), ("unitsPerTeam", units.to_string())];
        let rules = RulesChoice {
            sets: sets.map(|(name, value)| (name.to_owned(), value)).into(),
            ..RulesChoice::default()
        };
        let (record, _, last) = recorded(&Setup { rules, seats, seed, ..Setup::default() });
        let mut report = ConformReport::default();
        let found = read(&record, &mut report).expect("a recording");
        assert_eq!((found.unexplained, report.differ()), (0, 0), "seed {seed}: {:#?}", report.differences);
        assert!(found.whole);

        // Played again from its answers alone, the match ends in the same state.
        let prepared = JungleBlitz::prepare(&found.setup).expect("a setup");
        let game = JungleBlitz::begin(&prepared, found.setup.seed).expect("a match");
        let (mut state, mut search) = (game.start(), Search::default());
        for answers in &found.steps {
            let given = answers.iter().filter_map(|(_, answer)| answer.order());
            for entry in given.flat_map(|command| &command.entries) {
                let Entry::Unit { action, .. } = entry else { panic!("a flawed entry") };
                *words.entry(action.word()).or_default() += 1;
            }
            game.play(&mut state, &mut search, answers, &mut Nothing, &mut Ignored);
        }
        assert_eq!(state, last, "seed {seed}");
    }
    assert!(words.len() == 7 && words.values().all(|&count| count > 10), "{words:?}");
}
