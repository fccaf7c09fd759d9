//! What a team is told: its own adventurers, and of everything else what it sees (OB-SEE-6 to OB-SEE-8).

use agon_game::Seat;

use crate::Ostibot;
use crate::geometry::{Cell, Rows};
use crate::items::Slot;
use crate::map::{Object, Tile};
use crate::names::AdventurerId;
use crate::state::{Item, Phase, Pile, Place, State};

/// What a team is told. In the shop it sees its own adventurers and nothing else.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// Rules and map. The built-in bots read the ground through [`View::tile`], which hides what is hidden.
    pub game: &'a Ostibot,
    /// The team.
    pub you: Seat,
    /// The round, from 1.
    pub round: u16,
    /// The turn, from 1; 0 in the shop.
    pub turn: u16,
    /// Whether this is the shop phase.
    pub shop: bool,
    /// The gold of every team; known to all.
    pub gold: &'a [u32],
    /// The cells it sees.
    pub seen: Rows,
    /// Whether the spawners stand; known to all.
    pub spawners_stand: bool,
    /// Its own adventurers on the map and those it sees, in reading order.
    pub adventurers: Vec<Body>,
    /// Portals, chests, vases and doors it sees, with their hit points, in reading order.
    pub objects: Vec<(Object, u16)>,
    /// Gold it sees, in reading order.
    pub piles: Vec<Pile>,
    /// Items on the ground it sees, in reading order, then by id.
    pub items: Vec<(Cell, Item)>,
    /// Burning cells it sees.
    pub fire: Rows,
}

/// An adventurer in a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Its name.
    pub id: AdventurerId,
    /// Its team.
    pub team: Seat,
    /// Where it is.
    pub cell: Cell,
    /// Its hit points; exact for everybody seen.
    pub hp: u16,
    /// The gold it carries.
    pub gold: u16,
    /// Its damage, with its weapon.
    pub damage: u16,
    /// How much damage by other adventurers its armor keeps off.
    pub armor: u16,
    /// How far it sees.
    pub vision: u16,
    /// What it wears, by [`Slot`].
    pub worn: [Option<Item>; 3],
    /// Its inventory by rising id; `None` for other teams (OB-SEE-8).
    pub pack: Option<Vec<Item>>,
}

impl View<'_> {
    /// The ground of a cell, as far as the team is told (OB-SEE-7). Burnt spawners are floor.
    pub fn tile(&self, cell: Cell) -> Option<Tile> {
        if !self.game.rules().reveal_terrain && !self.seen.contains(cell) {
            return None;
        }
        Some(match self.game.map().tile(cell) {
            Tile::Spawner(_) if !self.spawners_stand => Tile::Floor,
            tile => tile,
        })
    }

    /// The team's own adventurers on the map, in reading order.
    pub fn own(&self) -> impl Iterator<Item = &Body> {
        self.adventurers.iter().filter(|body| body.team == self.you)
    }
}

impl Ostibot {
    /// What `you` is told of `state`.
    pub(crate) fn look<'a>(&'a self, state: &'a State, you: Seat) -> View<'a> {
        let shop = state.phase == Phase::Shop;
        let seen = if shop { Rows::NONE } else { self.seen(state, you) };
        let mut adventurers: Vec<Body> = (0..self.places())
            .filter(|&who| {
                let adventurer = &state.adventurers[who];
                adventurer.is_here() && (self.team_of(who) == you || seen.contains(adventurer.cell))
            })
            .map(|who| self.body(state, who, you))
            .collect();
        adventurers.sort_unstable_by_key(|body| body.cell);
        let objects = self.map().objects.iter().enumerate().filter(|(_, object)| seen.contains(object.cell));
        let objects =
            objects.filter_map(|(index, object)| Some((*object, state.object_hp(index)?))).collect();
        let mut piles: Vec<Pile> =
            state.piles.iter().filter(|pile| seen.contains(pile.cell)).copied().collect();
        piles.sort_unstable_by_key(|pile| pile.cell);
        let lying = state.items.iter().filter_map(|item| match item.place {
            Place::Ground(cell) if seen.contains(cell) => Some((cell, *item)),
            _ => None,
        });
        let mut items: Vec<(Cell, Item)> = lying.collect();
        items.sort_by_key(|&(cell, item)| (cell, item.id));
        View {
            game: self,
            you,
            round: state.round,
            turn: state.turn,
            shop,
            gold: &state.gold[..usize::from(self.seats())],
            seen,
            spawners_stand: self.map().homes.first().is_some_and(|home| !state.fire.contains(home[0])),
            adventurers,
            objects,
            piles,
            items,
            fire: state.fire.and(&seen),
        }
    }

    /// An adventurer as `you` is told of it.
    pub(crate) fn body(&self, state: &State, who: usize, you: Seat) -> Body {
        let adventurer = &state.adventurers[who];
        let (pack, worn) = (Place::Pack(who as u8), Place::Worn(who as u8));
        let in_slot = |slot: Slot| {
            state.items.iter().find(|item| item.place == worn && item.kind.slot() == Some(slot)).copied()
        };
        let carried = || state.items.iter().filter(|item| item.place == pack).copied().collect();
        Body {
            id: adventurer.id,
            team: self.team_of(who),
            cell: adventurer.cell,
            hp: adventurer.hp,
            gold: adventurer.gold,
            damage: self.damage(state, who),
            armor: self.armor(state, who),
            vision: self.vision(state, who),
            worn: Slot::ALL.map(in_slot),
            pack: (self.team_of(who) == you).then(carried),
        }
    }
}
