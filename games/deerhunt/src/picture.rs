//! The board for a terminal.

use agon_game::{Ink, Picture};

use crate::DeerhuntOf;
use crate::state::{At, Kind, Player, State};

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// `#` wall, `$` resource, `w` and `m` of player 1, `W` and `M` of player 2. Seen by a player,
    /// tiles out of sight have no dot, and the enemies on them are not drawn.
    pub(crate) fn draw(&self, state: &State<BLOCKS>, eyes: Option<Player>) -> Picture {
        let mut picture = Picture::new();
        let sight = eyes.map(|player| self.sight(state, player));
        let is_seen = |at| sight.is_none_or(|sight| sight.contains(self.map.cell(at)));
        let wealth = |player: Player| {
            let known =
                eyes.is_none_or(|eyes| eyes == player || self.view_of(state, eyes).their_resources.is_some());
            let owned = state.resources[player as usize];
            if known { format!("{player}: {owned}   ") } else { format!("{player}: ?   ") }
        };
        picture.line().put(Ink::Plain, format!("{}   ", agon_game::Game::moment(self, state)));
        for player in Player::BOTH {
            picture.put(Ink::Seat(player.seat()), wealth(player));
        }
        for y in 0..self.map.height() {
            picture.line();
            for at in (0..self.map.width()).map(|x| At::new(x, y)) {
                let unit = self.unit_for(state, at).filter(|_| is_seen(at));
                match unit {
                    Some((owner, letter)) => picture.put(Ink::Seat(owner.seat()), letter),
                    None if self.map.is_wall(at) => picture.put(Ink::Wall, "#"),
                    None if self.hub_at(state, at).is_some() => picture.put(Ink::Treasure, "$"),
                    None if is_seen(at) => picture.put(Ink::Dim, "."),
                    None => picture.put(Ink::Fog, " "),
                };
            }
        }
        picture
    }

    fn unit_for(&self, state: &State<BLOCKS>, at: At) -> Option<(Player, &'static str)> {
        if !state.occupied.contains(self.map.cell(at)) {
            return None;
        }
        let unit = state.unit(state.unit_at(at)?);
        let letter = match (unit.owner, unit.kind) {
            (Player::One, Kind::Worker) => "w",
            (Player::One, Kind::Melee) => "m",
            (Player::Two, Kind::Worker) => "W",
            (Player::Two, Kind::Melee) => "M",
        };
        Some((unit.owner, letter))
    }
}
