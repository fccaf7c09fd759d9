//! Canonical bytes of orders and states.

use agon_game::pack::{Reader, put_bytes, put_varint};

use crate::Ostibot;
use crate::dialect::{LONGEST_LIST, LONGEST_NOTE};
use crate::geometry::{Cell, Direction, SIDE};
use crate::items::Kind;
use crate::list::List;
use crate::map::{ObjectKind, Tile};
use crate::names::{AdventurerId, ItemId};
use crate::orders::{Act, Action, Order, Unclear};
use crate::state::{Adventurer, GONE, ITEMS, Item, OBJECTS, PILES, Phase, Pile, Place, State, full_hp};

/// This bit is set in the first byte of an entry that gives a reason.
const WITH_REASON: u8 = 0x80;
/// The first bytes of entries: moves come first, with their direction, because most are moves.
const USE: u8 = 4;
const BUY: u8 = 5;
const SELL: u8 = 6;
const EQUIP: u8 = 7;
const UNEQUIP: u8 = 8;
const TRANSFER: u8 = 9;
const UNCLEAR: u8 = 10;

const UNCLEAR_ALL: [Unclear; 4] = [Unclear::Nothing, Unclear::Several, Unclear::Direction, Unclear::ItemType];

/// An order: the number of entries, the entries, then the error text (empty for none).
pub(crate) fn pack(order: &Order, out: &mut Vec<u8>) {
    put_varint(out, order.actions.len() as u64);
    for Action { act, reason } in &order.actions {
        let flag = if reason.is_some() { WITH_REASON } else { 0 };
        let (first, numbers): (u8, &[u16]) = match *act {
            Act::Move { who, direction } => (direction as u8, &[who.0]),
            Act::Use { who, item } => (USE, &[who.0, item.0]),
            Act::Buy { who, kind, equip } => (BUY, &[who.0, 2 * kind as u16 + u16::from(equip)]),
            Act::Sell { who, item } => (SELL, &[who.0, item.0]),
            Act::Equip { who, item } => (EQUIP, &[who.0, item.0]),
            Act::Unequip { who, item } => (UNEQUIP, &[who.0, item.0]),
            Act::Transfer { from, to, item } => (TRANSFER, &[from.0, to.0, item.0]),
            Act::Unclear { who, why } => (UNCLEAR, &[who.0, why as u16]),
        };
        out.push(first | flag);
        numbers.iter().for_each(|&number| put_varint(out, u64::from(number)));
        if let Some(reason) = reason {
            put_bytes(out, reason.as_bytes());
        }
    }
    put_bytes(out, order.error.as_deref().unwrap_or_default().as_bytes());
}

/// Reads what [`pack`] wrote.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Order> {
    let mut reader = Reader::new(bytes);
    let count = reader.up_to(LONGEST_LIST)?;
    let mut actions = Vec::new();
    for _ in 0..count {
        let first = reader.byte()?;
        let who = AdventurerId(reader.number()?);
        let mut item = || reader.number().map(ItemId);
        let act = match first & !WITH_REASON {
            direction @ 0..4 => Act::Move { who, direction: Direction::ALL[usize::from(direction)] },
            USE => Act::Use { who, item: item()? },
            BUY => {
                let ItemId(bought) = item()?;
                Act::Buy { who, kind: Kind::from_index(usize::from(bought / 2))?, equip: bought % 2 == 1 }
            }
            SELL => Act::Sell { who, item: item()? },
            EQUIP => Act::Equip { who, item: item()? },
            UNEQUIP => Act::Unequip { who, item: item()? },
            TRANSFER => Act::Transfer { from: who, to: AdventurerId(item()?.0), item: item()? },
            UNCLEAR => Act::Unclear { who, why: *UNCLEAR_ALL.get(usize::from(item()?.0))? },
            _ => return None,
        };
        let reason = if first & WITH_REASON == 0 { None } else { Some(note(&mut reader)??) };
        actions.push(Action { act, reason });
    }
    let error = note(&mut reader)?;
    reader.end(Order { actions, error })
}

/// A remark of a bot; the inner `None` is an empty one.
fn note(reader: &mut Reader<'_>) -> Option<Option<Box<str>>> {
    let text = std::str::from_utf8(reader.bytes()?).ok()?;
    (text.chars().nth(LONGEST_NOTE).is_none()).then(|| (!text.is_empty()).then(|| text.into()))
}

/// A state. Cells are two bytes, numbers varints, lists begin with their length.
pub(crate) fn save(game: &Ostibot, state: &State, out: &mut Vec<u8>) {
    let mut put = |number: u32| put_varint(out, u64::from(number));
    put(u32::from(state.round));
    put(u32::from(state.turn));
    put(match state.phase {
        Phase::Shop => 0,
        Phase::Over => 1,
        Phase::Play(place) => 2 + u32::from(place),
    });
    state.gold[..usize::from(game.seats())].iter().for_each(|&gold| put(gold));
    for adventurer in &state.adventurers[..game.places()] {
        put(u32::from(adventurer.id.0));
        put(cell_number(adventurer.cell));
        put(u32::from(adventurer.hp));
        put(u32::from(adventurer.escape));
        put(u32::from(adventurer.gold));
    }
    state.hp[..game.map().objects.len()].iter().for_each(|&hp| put(u32::from(hp)));
    put(state.piles.len() as u32);
    for pile in state.piles.iter() {
        put(cell_number(pile.cell));
        put(u32::from(pile.amount));
    }
    put(state.items.len() as u32);
    for item in state.items.iter() {
        put(u32::from(item.id.0));
        put(item.kind as u32);
        put(match item.place {
            Place::Pack(who) => 2 * u32::from(who),
            Place::Worn(who) => 2 * u32::from(who) + 1,
            Place::Ground(cell) => 64 + cell_number(cell),
        });
    }
    state.fire.0[..game.map().height].iter().for_each(|&row| put(row));
    put(u32::from(state.last_adventurer));
    put(u32::from(state.last_item));
    put(u32::from(state.escapes));
}

/// 0 for nowhere, else 1 and the index.
fn cell_number(cell: Cell) -> u32 {
    if cell.is_somewhere() { 1 + cell.index() as u32 } else { 0 }
}

/// Reads what [`save`] wrote, and only states that the rules can go on from.
pub(crate) fn load(game: &Ostibot, bytes: &[u8]) -> Option<State> {
    let mut from = Loader { game, reader: Reader::new(bytes) };
    let mut state = State::BLANK;
    let rules = game.rules();
    state.round = from.reader.up_to(rules.nb_rounds)?;
    state.turn = from.reader.up_to(rules.max_turns)?;
    state.phase = match from.reader.up_to(1 + game.seats())? {
        0 => Phase::Shop,
        1 => Phase::Over,
        place => Phase::Play(place - 2),
    };
    let begun = state.round > 0 && (state.turn > 0) == matches!(state.phase, Phase::Play(_));
    if !begun && state.phase != Phase::Over {
        return None;
    }
    for gold in &mut state.gold[..usize::from(game.seats())] {
        *gold = from.reader.up_to(MOST_GOLD)?;
    }
    for adventurer in &mut state.adventurers[..game.places()] {
        *adventurer = from.adventurer()?;
    }
    from.objects(&mut state)?;
    from.piles(&mut state)?;
    from.items(&mut state)?;
    for row in &mut state.fire.0[..game.map().height] {
        *row = from.reader.number()?;
    }
    let outside = !state.fire.and(&game.map().walls).is_empty();
    state.last_adventurer = from.reader.up_to(u16::MAX / 2)?;
    state.last_item = from.reader.number()?;
    state.escapes = from.reader.up_to(u16::MAX / 2)?;
    let here: Vec<Cell> = state
        .adventurers
        .iter()
        .filter(|adventurer| adventurer.is_here())
        .map(|adventurer| adventurer.cell)
        .collect();
    let crowded = here.iter().collect::<std::collections::BTreeSet<_>>().len() < here.len();
    if outside || crowded {
        return None;
    }
    from.reader.end(state)
}

/// More gold than any team ever has, and small enough that sums never overflow.
const MOST_GOLD: u32 = 1 << 24;

struct Loader<'a> {
    game: &'a Ostibot,
    reader: Reader<'a>,
}

impl Loader<'_> {
    /// Reads a cell of the map that is not wall: `before`, plus 1 and its index.
    fn cell(&mut self, before: usize) -> Option<Cell> {
        let cell = Cell::from_index(self.reader.number::<usize>()?.checked_sub(before + 1)?)?;
        let map = self.game.map();
        let fits = cell.x() < map.width && cell.y() < map.height && map.tile(cell) != Tile::Wall;
        fits.then_some(cell)
    }

    fn adventurer(&mut self) -> Option<Adventurer> {
        let id = AdventurerId(self.reader.number()?);
        let mut ahead = self.reader;
        let cell = if ahead.varint()? == 0 {
            self.reader = ahead;
            Cell::NOWHERE
        } else {
            self.cell(0)?
        };
        let hp = self.reader.up_to(self.game.rules().adventurer_hp)?;
        let escape = self.reader.number()?;
        let gold = self.reader.number()?;
        let alive = cell.is_somewhere() || escape > 0;
        let odd =
            (cell.is_somewhere() && escape > 0) || alive != (hp > 0) || (gold > 0 && !cell.is_somewhere());
        (!odd).then_some(Adventurer { id, cell, hp, escape, gold })
    }

    fn objects(&mut self, state: &mut State) -> Option<()> {
        for (index, object) in self.game.map().objects.iter().enumerate().take(OBJECTS) {
            let hp = self.reader.up_to(GONE)?;
            let standing = hp <= full_hp(self.game.rules(), object.kind);
            let open = hp == 0 && object.kind != ObjectKind::Portal;
            if (!standing && hp != GONE) || open {
                return None;
            }
            state.hp[index] = hp;
        }
        Some(())
    }

    fn piles(&mut self, state: &mut State) -> Option<()> {
        for _ in 0..self.reader.up_to(PILES)? {
            let pile = Pile { cell: self.cell(0)?, amount: self.reader.number()? };
            let double = state.piles.iter().any(|other| other.cell == pile.cell);
            if double || pile.amount == 0 || state.piles.push(pile).is_err() {
                return None;
            }
        }
        // There must be room for the piles that chests, vases and adventurers may still leave, and
        // the sum of all gold must be countable.
        let (mut piles, mut gold) = (state.piles.len(), 0);
        gold += state.piles.iter().map(|pile| u32::from(pile.amount)).sum::<u32>();
        for adventurer in state.adventurers.iter().filter(|adventurer| adventurer.is_here()) {
            piles += 1;
            gold += u32::from(adventurer.gold);
        }
        for (index, object) in self.game.map().objects.iter().enumerate() {
            let held = match object.kind {
                ObjectKind::Chest => self.game.rules().chest_gold,
                ObjectKind::Vase => self.game.rules().vase_gold,
                ObjectKind::Portal | ObjectKind::Door => continue,
            };
            if state.hp[index] != GONE {
                piles += 1;
                gold += u32::from(held);
            }
        }
        (piles <= PILES && gold <= u32::from(u16::MAX)).then_some(())
    }

    fn items(&mut self, state: &mut State) -> Option<()> {
        let mut items: List<Item, ITEMS> = State::BLANK.items;
        for _ in 0..self.reader.up_to(ITEMS)? {
            let id = ItemId(self.reader.number()?);
            let kind = Kind::from_index(self.reader.number()?)?;
            let mut ahead = self.reader;
            let place = match ahead.varint()? {
                carried @ 0..64 => {
                    self.reader = ahead;
                    let who = (carried / 2) as u8;
                    let adventurer = state.adventurers[..self.game.places()].get(usize::from(who))?;
                    if adventurer.hp == 0 {
                        return None;
                    }
                    if carried % 2 == 0 { Place::Pack(who) } else { Place::Worn(who) }
                }
                _ => Place::Ground(self.cell(64)?),
            };
            let taken = |other: &Item| other.place == place && other.kind.slot() == kind.slot();
            let twice = matches!(place, Place::Worn(_)) && (kind.slot().is_none() || items.iter().any(taken));
            let rising = items.last().is_none_or(|last| last.id < id) && id != ItemId::UNKNOWN;
            if twice || !rising || items.push(Item { id, place, kind }).is_err() {
                return None;
            }
        }
        state.items = items;
        Some(())
    }
}

const _: () = assert!(SIDE * SIDE == Cell::COUNT && crate::state::ADVENTURERS <= 32);
