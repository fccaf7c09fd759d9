//! Canonical bytes of orders and states.

use agon_game::pack::{Reader, put_varint, unzigzag, zigzag};

use crate::DeerhuntOf;
use crate::orders::{MAX_MOVES, MAX_WORDS, Move, Verb, Words};
use crate::state::{At, Direction, Kind, Player, State, Stun, Unit};

/// Appends a list: its length, then for each move the unit (0 for none, else its id plus one), verb and
/// number of words in one byte, and the words as digits of a number in base five.
pub fn put_moves(moves: &[Move], out: &mut Vec<u8>) {
    put_varint(out, moves.len() as u64);
    for order in moves {
        put_varint(out, order.unit.map_or(0, |id| u64::from(id) + 1));
        out.push((order.verb as u8) << 4 | order.words.len() as u8);
        if !order.words.is_empty() {
            put_varint(out, order.words.iter().fold(0, |number, word| number * 5 + digit(word)));
        }
    }
}

/// Reads what [`put_moves`] wrote.
pub fn get_moves(bytes: &[u8]) -> Option<Vec<Move>> {
    let mut from = Reader::new(bytes);
    let count = from.up_to(MAX_MOVES)?;
    let mut moves = Vec::with_capacity(count.min(from.left()));
    for _ in 0..count {
        let unit = match from.varint()? {
            0 => None,
            number => Some(u16::try_from(number - 1).ok()?),
        };
        let byte = from.byte()?;
        let verb = *Verb::ALL.get(usize::from(byte >> 4))?;
        let words = get_words(usize::from(byte & 15), &mut from)?;
        moves.push(Move { unit, verb, words });
    }
    from.end(moves)
}

fn get_words(count: usize, from: &mut Reader<'_>) -> Option<Words> {
    if count > MAX_WORDS + 1 {
        return None;
    }
    let mut rest = if count == 0 { 0 } else { from.varint()? };
    let mut kept = [None; MAX_WORDS];
    for word in kept[..count.min(MAX_WORDS)].iter_mut().rev() {
        *word = Direction::ALL.get((rest % 5) as usize).copied();
        rest /= 5;
    }
    let all = kept.into_iter().chain([None]).take(count);
    (rest == 0).then(|| all.collect())
}

fn digit(word: Option<Direction>) -> u64 {
    word.map_or(4, |direction| direction as u64)
}

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// Appends a state.
    pub(crate) fn put_state(&self, state: &State<BLOCKS>, out: &mut Vec<u8>) {
        put_varint(out, state.half.into());
        state.resources.iter().for_each(|&owned| put_varint(out, owned.into()));
        state.stock[..self.stocks()].iter().for_each(|&left| put_varint(out, left.into()));
        put_varint(out, state.made.into());
        for unit in (0..state.made).map(|id| state.unit(id)) {
            let child = unit.child.map_or(2, |kind| kind as u8);
            let look =
                ((digit(unit.direction) as u8 * 3 + child) * 2 + unit.kind as u8) * 2 + unit.owner as u8;
            out.extend([unit.at.x, unit.at.y, look, unit.hp, unit.mining, unit.hub, unit.duplication]);
            put_varint(out, zigzag(unit.stun.into()));
        }
        put_varint(out, state.working.as_slice().len() as u64);
        state.working.as_slice().iter().for_each(|&id| put_varint(out, id.into()));
        put_varint(out, state.stuns.as_slice().len() as u64);
        for stun in state.stuns.as_slice() {
            put_varint(out, stun.by.into());
            put_varint(out, stun.victim.into());
        }
    }

    /// Reads what [`put_state`](Self::put_state) wrote, and only states that a match can go on from.
    pub(crate) fn get_state(&self, bytes: &[u8]) -> Option<State<BLOCKS>> {
        let mut from = Reader::new(bytes);
        let mut state = State::empty();
        state.half = from.up_to(2 * self.rules.max_rounds)?;
        for owned in &mut state.resources {
            *owned = from.number()?;
        }
        for left in &mut state.stock[..self.stocks()] {
            *left = from.up_to(self.rules.hub_capacity)?;
        }
        for _ in 0..from.up_to(self.rules.max_units)? {
            let unit = self.get_unit(&mut from)?;
            let cell = self.map.cell(unit.at);
            if unit.hp > 0 && state.occupied.contains(cell) {
                return None;
            }
            state.add(unit, cell);
        }
        let last = state.made.checked_sub(1)?;
        let mut at_work = 0;
        for _ in 0..from.up_to(state.made)? {
            let id = from.up_to(last)?;
            if state.working.as_slice().contains(&id) || !is_at_work(state.unit(id)) {
                return None;
            }
            state.working.push(id);
            at_work += 1;
        }
        for _ in 0..from.up_to(state.made)? {
            let stun = Stun { by: from.up_to(last)?, victim: from.up_to(last)? };
            if state.stuns.as_slice().iter().any(|other| other.by == stun.by) {
                return None;
            }
            state.stuns.push(stun);
        }
        let all_at_work = (0..state.made).filter(|&id| is_at_work(state.unit(id))).count();
        from.end(state).filter(|_| all_at_work == at_work)
    }

    fn get_unit(&self, from: &mut Reader<'_>) -> Option<Unit> {
        let [x, y, look, hp, mining, hub, duplication] = from.array()?;
        let stun = i16::try_from(unzigzag(from.varint()?)).ok()?;
        let unit = Unit {
            at: At::new(x, y),
            owner: if look % 2 == 0 { Player::One } else { Player::Two },
            kind: if look / 2 % 2 == 0 { Kind::Worker } else { Kind::Melee },
            hp,
            mining,
            hub,
            duplication,
            child: [Some(Kind::Worker), Some(Kind::Melee), None][usize::from(look / 4 % 3)],
            direction: Direction::ALL.get(usize::from(look / 12)).copied(),
            stun,
        };
        let sane = look < 60
            && !self.map.is_wall(unit.at)
            && usize::from(hub) < self.map.hubs().max(1)
            && (mining == 0 || duplication == 0);
        sane.then_some(unit)
    }

    /// The number of hubs with a stock.
    fn stocks(&self) -> usize {
        if self.rules.hub_capacity > 0 { self.map.hubs() } else { 0 }
    }
}

fn is_at_work(unit: &Unit) -> bool {
    unit.mining > 0 || unit.duplication > 0
}
