//! The features that speak for a team in a position. Their weights are in [`weights`](crate::weights).

use agon_game::{Seat, SeatAdvantages};

use crate::Ostibot;
use crate::geometry::Cell;
use crate::map::ObjectKind;
use crate::state::{Adventurer, GONE, Phase, Place, State};

impl Ostibot {
    /// The features of all teams. Gold is measured in chests.
    pub(crate) fn advantage(&self, state: &State) -> SeatAdvantages {
        let rules = self.rules();
        let chest = f64::from(rules.chest_gold.max(1));
        let objects = |kind: ObjectKind| -> Vec<Cell> {
            let there = self.map().objects.iter().zip(&state.hp);
            there
                .filter(|(object, hp)| object.kind == kind && **hp != GONE)
                .map(|(object, _)| object.cell)
                .collect()
        };
        let (portals, chests) = (objects(ObjectKind::Portal), objects(ObjectKind::Chest));
        let owned = |team: Seat| f64::from(state.gold[team.index()]) / chest;
        let all: f64 = Seat::first(self.seats()).map(|team| owned(team) + self.carried(state, team)).sum();
        let late = self.part(state);
        let mover = match state.phase {
            Phase::Play(place) => Some(self.team_at(state.round, place)),
            Phase::Shop | Phase::Over => None,
        };
        let mut features = Vec::new();
        for team in Seat::first(self.seats()) {
            let own = &state.adventurers[self.members(team)];
            let here = || own.iter().filter(|one| one.is_here());
            let carried = self.carried(state, team);
            let safe = |one: &Adventurer| f64::from(one.gold) / chest * near(one.cell, &portals);
            let whole = f64::from(rules.adventurer_hp.max(1));
            features.extend([
                owned(team),
                (owned(team) + carried + 0.25) / (all + 0.25 * f64::from(self.seats())),
                carried,
                here().map(safe).sum(),
                here().count() as f64,
                own.iter().filter(|one| one.escape > 0).count() as f64,
                here().map(|one| f64::from(one.hp) / whole).sum(),
                self.equipment(state, team) / chest,
                here().map(|one| near(one.cell, &portals)).sum(),
                here().map(|one| near(one.cell, &chests)).sum(),
                carried * late,
                here().count() as f64 * late,
                f64::from(u8::from(mover == Some(team))),
            ]);
        }
        SeatAdvantages { progress: self.progress(state), features }
    }

    /// The gold carried by a team's living adventurers, in chests.
    fn carried(&self, state: &State, team: Seat) -> f64 {
        let here = state.adventurers[self.members(team)].iter().filter(|one| one.is_here());
        here.map(|one| f64::from(one.gold)).sum::<f64>() / f64::from(self.rules().chest_gold.max(1))
    }

    /// The refund for everything a team wears and carries.
    fn equipment(&self, state: &State, team: Seat) -> f64 {
        let items = state.items.iter().filter(|item| match item.place {
            Place::Pack(who) | Place::Worn(who) => self.team_of(usize::from(who)) == team,
            Place::Ground(_) => false,
        });
        items.map(|item| f64::from(self.rules().refund(item.kind))).sum()
    }

    /// How far the round has gone, up to 1: it is as good as over once the fire has spread as long as it took to start.
    fn part(&self, state: &State) -> f64 {
        (f64::from(state.turn) / f64::from(2 * self.rules().corruption_start_at.max(1))).min(1.0)
    }

    fn progress(&self, state: &State) -> f64 {
        let rounds = f64::from(state.round.saturating_sub(1)) + self.part(state);
        (rounds / f64::from(self.rules().nb_rounds.max(1))).min(1.0)
    }
}

/// 1 when a goal is right here, less the further away the nearest one is; walls are ignored.
fn near(from: Cell, goals: &[Cell]) -> f64 {
    goals.iter().map(|&goal| from.distance(goal)).min().map_or(0.0, |steps| 1.0 / (1.0 + steps as f64 / 4.0))
}
