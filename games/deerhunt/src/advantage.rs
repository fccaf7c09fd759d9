//! The features that speak for a player in a position. Their weights are in [`weights`](crate::weights).

use agon_game::SeatAdvantages;

use crate::DeerhuntOf;
use crate::rules::Tie;
use crate::state::{At, Kind, Player, State};

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// The features of both players. Resources are measured in yields of one mining, so that presets are comparable.
    pub(crate) fn advantage(&self, state: &State<BLOCKS>) -> SeatAdvantages {
        let rules = &*self.rules;
        let rounds_left = f64::from((2 * rules.max_rounds).saturating_sub(state.half)) / 2.0;
        let worth = f64::from(rules.mining_yield.max(1));
        let stock: f64 = match rules.hub_capacity {
            0 => f64::INFINITY,
            _ => state.stock.iter().map(|&left| f64::from(left)).sum::<f64>() / worth,
        };
        let hubs: Vec<At> = self.map.cells().filter(|&at| self.hub_at(state, at).is_some()).collect();
        let melees = Player::BOTH.map(|player| self.strength(state, player));
        let wealth = state.resources.iter().map(|&owned| f64::from(owned)).sum::<f64>() / worth;
        let mut features = Vec::new();
        for player in Player::BOTH {
            let other = player.other();
            let resources = f64::from(state.resources[player as usize]) / worth;
            let [mut workers, mut health, mut minings, mut children, mut front] = [0.0; 5];
            for (_, unit) in state.army(player) {
                health += f64::from(unit.hp) / f64::from(self.full_hp(unit.kind).max(1));
                children += f64::from(u8::from(unit.duplication > 0));
                if unit.kind == Kind::Worker {
                    workers += 1.0;
                    minings += rounds_left
                        / (f64::from(rules.mining_time) + way(unit.at, &hubs) / f64::from(rules.max_steps));
                } else {
                    let near = state.army(other).map(|(_, enemy)| unit.at.distance(enemy.at)).min();
                    front += near.map_or(0.0, |steps| 1.0 / f64::from(steps.max(1)));
                }
            }
            let (own, others) = (melees[player as usize], melees[other as usize]);
            features.extend([
                resources,
                resources.sqrt(),
                f64::sqrt(workers),
                own.sqrt(),
                health.sqrt(),
                minings.min(stock).sqrt(),
                children,
                (own + 0.5) / (own + others + 1.0),
                front,
                (resources + 0.5) / (wealth + 1.0),
                1.0 / (1.0 + state.army(player).count() as f64),
                f64::from(u8::from(rules.tie == Tie::PlayerTwo && player == Player::Two)),
                f64::from(u8::from(state.mover() == player)),
            ]);
        }
        SeatAdvantages { progress: f64::from(state.half) / f64::from(2 * rules.max_rounds), features }
    }

    /// The melees of a player; a hurt one counts in part.
    fn strength(&self, state: &State<BLOCKS>, player: Player) -> f64 {
        let melees = state.army(player).filter(|(_, unit)| unit.kind == Kind::Melee);
        melees.map(|(_, unit)| f64::from(unit.hp) / f64::from(self.rules.melee_hp)).sum()
    }
}

/// Steps to the nearest tile that can be mined, ignoring walls; far when there is none.
fn way(from: At, hubs: &[At]) -> f64 {
    hubs.iter().map(|&hub| from.distance(hub)).min().map_or(1_000.0, f64::from)
}
