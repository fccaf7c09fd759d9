//! A bot that tries things out before it decides: its own attacks, and the enemy's against its defence.

use agon_game::{Answer, Builtin, Chance as _, Ignored, Seat, Seeded};

use super::{Plan, starts};
use crate::arena::Tile;
use crate::orders::{Action, Commands, Order};
use crate::rules::Kind;
use crate::state::State;
use crate::view::View;
use crate::work::Work;
use crate::{Terminal, turn};

/// Simulates turns with the engine, within a budget for each answer.
pub(super) struct Planner {
    chance: Seeded,
    nodes: u32,
    left: u32,
    work: Work,
}

/// An attack: units of one or two kinds from one tile.
#[derive(Clone)]
struct Attack {
    orders: Vec<Order>,
    /// Its value in a simulated turn.
    gain: f32,
}

impl Planner {
    pub(super) fn new(seed: u64, nodes: u32) -> Self {
        Self { chance: Seeded::stream(seed as i64, "builtin planner"), nodes, left: 0, work: Work::default() }
    }

    /// The state after both players' commands, if the budget allows another simulation.
    fn try_turn(
        &mut self,
        game: &Terminal,
        state: &State,
        seat: Seat,
        own: &Commands,
        enemy: &Commands,
    ) -> Option<State> {
        self.left = self.left.checked_sub(1)?;
        let given = |seat: u8, order: &Commands| {
            (Seat::new(seat), Answer::Given { order: order.clone(), think_ms: 0 })
        };
        let answers = if seat.index() == 0 {
            [given(0, own), given(1, enemy)]
        } else {
            [given(0, enemy), given(1, own)]
        };
        let mut after = *state;
        turn::play(game, &mut after, &mut self.work, &answers, &mut Ignored);
        Some(after)
    }

    /// The most effective attacks of `seat` with `mp` points, best first.
    fn attacks(
        &mut self,
        game: &Terminal,
        state: &State,
        seat: Seat,
        mp: f32,
        share: u32,
        defence: &Commands,
    ) -> Vec<Attack> {
        let end = self.left.saturating_sub(share);
        // Plan with these points, whatever the player has now.
        let mut rich = *state;
        rich.players[seat.index()].mp.0 = mp;
        let mut found = Vec::new();
        let mut tiles: Vec<Tile> = starts(seat).filter(|&tile| state.structure_on(tile).is_none()).collect();
        shuffle(&mut tiles, &mut self.chance);
        let count = |kind: Kind, mp: f32| (mp / game.rules().form(kind, false).cost2.max(0.1)) as usize;
        'tried: for mix in 0..3 {
            for &tile in &tiles {
                let (kind, number) = match mix {
                    1 => (Kind::Demolisher, count(Kind::Demolisher, mp)),
                    2 => (Kind::Demolisher, count(Kind::Demolisher, mp) / 2),
                    _ => (Kind::Scout, count(Kind::Scout, mp)),
                };
                let mut orders = vec![Order::new(Action::Place(kind), tile); number.min(200)];
                if mix == 2 {
                    let rest = mp - number as f32 * game.rules().form(kind, false).cost2;
                    let scouts = count(Kind::Scout, rest).min(200);
                    orders.extend(std::iter::repeat_n(Order::new(Action::Place(Kind::Scout), tile), scouts));
                }
                if orders.is_empty() {
                    continue;
                }
                let attack = Commands { build: Vec::new(), deploy: orders };
                if self.left <= end {
                    break 'tried;
                }
                let Some(after) = self.try_turn(game, &rich, seat, &attack, defence) else { break 'tried };
                let gain = harm(game, &rich, &after, seat);
                found.push(Attack { orders: attack.deploy, gain });
            }
        }
        found.sort_by(|one, other| other.gain.total_cmp(&one.gain));
        found
    }

    /// Spends structure points where they most weaken the enemy's worst attacks.
    fn defend(&mut self, game: &Terminal, plan: &mut Plan<'_>, state: &State, share: u32) {
        let view = plan.view;
        let (seat, enemy) = (view.seat, view.enemy());
        let end = self.left.saturating_sub(share);
        let expected = state.players[enemy.index()].mp.0.max(5.0);
        let threats = self.attacks(game, state, enemy, expected, share / 2, &plan.commands);
        let threats: Vec<Attack> = threats.into_iter().take(2).collect();
        let mut rich = *state;
        rich.players[enemy.index()].mp.0 = expected;
        loop {
            let harm_with = |bot: &mut Self, commands: &Commands| -> Option<f32> {
                let mut sum = 0.0;
                for threat in &threats {
                    let attack = Commands { build: Vec::new(), deploy: threat.orders.clone() };
                    let after = bot.try_turn(game, &rich, seat, commands, &attack)?;
                    sum += harm(game, &rich, &after, enemy);
                }
                Some(sum)
            };
            let Some(now) = harm_with(self, &plan.commands) else { return };
            let mut best: Option<(f32, Order)> = None;
            for order in self.defences(plan) {
                if self.left <= end {
                    break;
                }
                let mut commands = plan.commands.clone();
                commands.build.push(order);
                let cost = match order.action {
                    Action::Place(kind) => plan.cost(kind, false),
                    _ => order
                        .tile()
                        .and_then(|tile| plan.built[tile.index()])
                        .map_or(9.0, |(kind, _)| plan.cost(kind, true)),
                };
                let Some(harm) = harm_with(self, &commands) else { return };
                let worth = (now - harm) / cost.max(0.5);
                if worth > 0.05 && best.is_none_or(|(other, _)| worth > other) {
                    best = Some((worth, order));
                }
            }
            let Some((_, order)) = best else { return };
            let tile = order.tile().expect("a defence lies in the arena");
            let done = match order.action {
                Action::Place(kind) => plan.build(kind, tile),
                _ => plan.upgrade(tile),
            };
            if !done {
                return;
            }
        }
    }

    /// Some defences worth a try: turrets and walls in the front rows, better turrets.
    fn defences(&mut self, plan: &Plan<'_>) -> Vec<Order> {
        let mut orders = Vec::new();
        for _ in 0..14 {
            let (x, y) = (self.chance.below(28) as i32, 8 + self.chance.below(6) as i32);
            let kind = if self.chance.happens(3, 4) { Kind::Turret } else { Kind::Wall };
            if let Some(tile) = plan.own(x, y)
                && plan.built[tile.index()].is_none()
                && plan.cost(kind, false) <= plan.sp
            {
                orders.push(Order::new(Action::Place(kind), tile));
            }
        }
        for tile in Tile::all().filter(|tile| tile.owner() == plan.view.seat) {
            if let Some((kind @ Kind::Turret, false)) = plan.built[tile.index()]
                && plan.cost(kind, true) <= plan.sp
                && self.chance.happens(1, 3)
            {
                orders.push(Order::new(Action::Upgrade, tile));
            }
        }
        orders
    }
}

impl Builtin<Terminal> for Planner {
    fn order(&mut self, game: &Terminal, view: View<'_>) -> Commands {
        self.left = self.nodes;
        let mut plan = Plan::new(view);
        // A first line of defence, so that there is something to improve.
        for (x, y) in [(3, 12), (24, 12), (9, 10), (18, 10), (13, 11)] {
            plan.own(x, y).map(|tile| plan.build(Kind::Turret, tile));
        }
        self.defend(game, &mut plan, view.state, self.nodes / 2);
        // The rest strengthens attacks.
        for (x, y) in [(13, 4), (14, 4), (13, 5), (14, 5), (13, 6), (14, 6)] {
            if plan.sp < 12.0 {
                break;
            }
            if let Some(tile) = plan.own(x, y) {
                let _ = plan.build(Kind::Support, tile);
                let _ = plan.upgrade(tile);
            }
        }
        // The attack, against the board as it is and against one turret more.
        let mut state = *view.state;
        let own = Commands { build: plan.commands.build.clone(), deploy: Vec::new() };
        if let Some(after) = self.try_turn(game, &state, view.seat, &own, &Commands::default()) {
            let points = state.players;
            state = after;
            state.players = points;
            state.turn = view.state.turn;
            state.ending = None;
        }
        let attacks = self.attacks(game, &state, view.seat, plan.mp, u32::MAX, &Commands::default());
        if let Some(best) = attacks.first() {
            let hp = view.state.players[view.enemy().index()].hp.0;
            let strong = plan.mp >= 0.75 * saved_up(game, view.state.turn);
            if best.gain >= hp.min(plan.mp * 0.55) && (strong || best.gain >= plan.mp * 0.8) {
                plan.commands.deploy.clone_from(&best.orders);
            }
        }
        plan.commands
    }
}

/// The mobile points at which saving no longer pays.
fn saved_up(game: &Terminal, turn: u16) -> f32 {
    let resources = &game.rules().resources;
    let growth = match resources.turn_interval_for_bit_schedule {
        0 => 0.0,
        interval => resources.bit_growth_rate * (u32::from(turn) / interval) as f32,
    };
    (resources.bits_per_round + growth) / resources.bit_decay_per_round.max(0.1)
}

/// The harm of a turn to the enemy of `seat`: health, and part of the cost of structures.
fn harm(game: &Terminal, before: &State, after: &State, seat: Seat) -> f32 {
    let enemy = 1 - seat.index();
    let hp = |state: &State| state.players[enemy].hp.0.max(0.0);
    let stands = |state: &State| -> f32 {
        let rules = game.rules();
        let own = state.structures().iter().filter(|structure| structure.owner().index() == enemy);
        own.map(|structure| {
            let full = rules.form(structure.kind(), structure.upgraded()).start_health;
            rules.worth(structure.kind(), structure.upgraded()) * (0.4 + 0.6 * structure.health.0 / full)
        })
        .sum()
    };
    let kill = if after.players[enemy].hp.0 <= 0.0 { 1_000.0 } else { 0.0 };
    let _ = before;
    hp(before) - hp(after) + 0.3 * (stands(before) - stands(after)).max(-50.0) + kill
}

fn shuffle<T>(list: &mut [T], chance: &mut Seeded) {
    for last in (1..list.len()).rev() {
        list.swap(last, chance.below(last as u32 + 1) as usize);
    }
}
