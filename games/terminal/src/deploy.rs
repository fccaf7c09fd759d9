//! Carrying out orders: building, upgrading, removing, deploying.

use agon_game::Seat;

use crate::arena::{Edge, Tile};
use crate::frame::{Spawn, Spawned};
use crate::orders::{Action, Order, Refusal};
use crate::rules::{Kind, Rules};
use crate::state::{Real, State, Structure, tenth};
use crate::turn::own_tile;
use crate::work::{Fate, Mobile, NONE, Work};

/// Carries out an entry of a first line. TM-ANSWER-2: mobile units are not allowed there.
pub fn first_line(
    rules: &Rules,
    state: &mut State,
    work: &mut Work,
    seat: Seat,
    order: &Order,
) -> Result<(), Refusal> {
    match order.action {
        Action::Place(kind) if kind.is_mobile() => Err(Refusal::WrongLine(kind)),
        _ => second_line(rules, state, work, seat, order),
    }
}

/// Carries out an entry of a second line, which may be anything.
pub fn second_line(
    rules: &Rules,
    state: &mut State,
    work: &mut Work,
    seat: Seat,
    order: &Order,
) -> Result<(), Refusal> {
    match order.action {
        Action::Place(kind) if kind.is_mobile() => {
            deploy(rules, state, work, seat, own_half(seat, order)?, kind)
        }
        Action::Place(kind) => place(rules, state, work, seat, own_half(seat, order)?, kind),
        Action::Upgrade => upgrade(rules, state, work, seat, own_half(seat, order)?),
        Action::Remove => remove(rules, state, work, seat, own_half(seat, order)?),
        Action::Unknown => Err(Refusal::NotUnderstood(order.mistake())),
    }
}

/// The tile of an order, in the arena (TM-ARENA-1) and in the player's own half (TM-ARENA-2).
fn own_half(seat: Seat, order: &Order) -> Result<Tile, Refusal> {
    let tile = own_tile(seat, order)?;
    if tile.owner() == seat { Ok(tile) } else { Err(Refusal::NotYours(seen(seat, tile))) }
}

/// A tile in the coordinates of the player's bot.
fn seen(seat: Seat, tile: Tile) -> Tile {
    if seat.index() == 0 { tile } else { tile.turned() }
}

/// TM-BUILD-1: a structure costs structure points; TM-BUILD-2: its tile must be free of structures, and of mobile
/// units that were deployed before it.
fn place(
    rules: &Rules,
    state: &mut State,
    work: &mut Work,
    seat: Seat,
    tile: Tile,
    kind: Kind,
) -> Result<(), Refusal> {
    if work.slot_on[tile.index()] != NONE {
        return Err(Refusal::Taken(seen(seat, tile)));
    }
    if work.mobiles.iter().any(|mobile| mobile.tile == tile) {
        return Err(Refusal::InTheWay(seen(seat, tile)));
    }
    let form = rules.form(kind, false);
    pay_structure_points(state, seat, form.cost1)?;
    let id = next_id(state);
    tell(work, tile, Spawned::Unit(kind), id, seat);
    // TM-SEASON-3: the number that the spawn event names, and that on the board.
    let id = if rules.early.is_early { next_id(state) } else { id };
    work.slot_on[tile.index()] = state.structures().len() as u16;
    state.push(Structure::new(id, kind, false, tile, form.start_health));
    Ok(())
}

/// TM-UPGRADE-1: each structure can be upgraded once, if its kind has an upgrade. TM-UPGRADE-2: the upgraded
/// structure is a new one with a new id; it keeps the damage it had. TM-UPGRADE-3: a mark for removal is dropped.
fn upgrade(rules: &Rules, state: &mut State, work: &mut Work, seat: Seat, tile: Tile) -> Result<(), Refusal> {
    let slot = standing(work, seat, tile)?;
    let old = state.structures()[slot];
    let unit = &rules.units[old.kind().index()];
    if old.upgraded() {
        return Err(Refusal::AlreadyUpgraded(seen(seat, tile)));
    }
    if !unit.upgradable {
        return Err(Refusal::NoUpgrade(old.kind()));
    }
    let [base, better] = &unit.forms;
    let health = old.health.0 + (better.start_health - base.start_health);
    if health <= 0.0 {
        return Err(Refusal::WouldDie(seen(seat, tile)));
    }
    pay_structure_points(state, seat, better.cost1)?;
    let id = next_id(state);
    state.retain(|other, _, _| other != slot);
    state.push(Structure::new(id, old.kind(), true, tile, health));
    for (slot, structure) in state.structures().iter().enumerate().skip(slot) {
        work.slot_on[structure.tile().index()] = slot as u16;
    }
    tell(work, tile, Spawned::Upgrade, id, seat);
    Ok(())
}

/// TM-REMOVE-1: marks a structure; it is removed, and refunded, in a later restore (TM-RESTORE-4).
fn remove(rules: &Rules, state: &mut State, work: &mut Work, seat: Seat, tile: Tile) -> Result<(), Refusal> {
    let slot = standing(work, seat, tile)?;
    let structure = state.structures()[slot];
    if state.mark(slot).is_some() {
        return Err(Refusal::AlreadyMarked(seen(seat, tile)));
    }
    state.set_mark(slot, Some(rules.form(structure.kind(), structure.upgraded()).turns_required_to_remove));
    // TM-SEASON-3: a mark had a number of its own.
    let id = if rules.early.is_early { next_id(state) } else { structure.id() };
    if id != structure.id() {
        work.marks.insert(structure.id(), id);
    }
    tell(work, tile, Spawned::Removal, id, seat);
    Ok(())
}

/// TM-DEPLOY-1: a mobile unit costs mobile points; TM-DEPLOY-2: it starts on one of its player's two edges, on a
/// tile without a structure; other units may be there already.
fn deploy(
    rules: &Rules,
    state: &mut State,
    work: &mut Work,
    seat: Seat,
    tile: Tile,
    kind: Kind,
) -> Result<(), Refusal> {
    if !Edge::start_of(seat, tile) {
        return Err(Refusal::NotOnEdge(seen(seat, tile)));
    }
    if work.slot_on[tile.index()] != NONE {
        return Err(Refusal::Taken(seen(seat, tile)));
    }
    let form = rules.form(kind, false);
    let player = &mut state.players[seat.index()];
    if form.cost2 > player.mp.0 {
        return Err(Refusal::MobilePoints(player.mp.0.into(), form.cost2.into()));
    }
    player.mp = Real(tenth(player.mp.0 - form.cost2));
    player.mp_spent = Real(tenth(player.mp_spent.0 + form.cost2));
    let id = next_id(state);
    work.mobiles.push(Mobile {
        id,
        owner: seat,
        kind,
        tile,
        edge: Edge::opposite(tile),
        progress: 0.0,
        steps: 0,
        went_sideways: true,
        way: 0,
        distance: 0,
        fate: Fate::Alive,
        exploding: false,
        base: form.start_health,
        shielded: 0.0,
        health: form.start_health,
        berth: work.mobiles.len(),
        shields: (0, 0),
    });
    tell(work, tile, Spawned::Unit(kind), id, seat);
    Ok(())
}

/// TM-BUILD-3: upgrades and removals need a structure of the player's own.
fn standing(work: &Work, seat: Seat, tile: Tile) -> Result<usize, Refusal> {
    match work.slot_on[tile.index()] {
        NONE => Err(Refusal::NothingThere(seen(seat, tile))),
        slot => Ok(slot.into()),
    }
}

fn pay_structure_points(state: &mut State, seat: Seat, cost: f32) -> Result<(), Refusal> {
    let player = &mut state.players[seat.index()];
    if cost > player.sp.0 {
        return Err(Refusal::StructurePoints(player.sp.0.into(), cost.into()));
    }
    player.sp = Real(tenth(player.sp.0 - cost));
    player.sp_spent = Real(tenth(player.sp_spent.0 + cost));
    Ok(())
}

/// TM-BUILD-4: one counter for both players numbers structures, upgrades and mobile units.
fn next_id(state: &mut State) -> u32 {
    let id = state.next_id;
    state.next_id += 1;
    id
}

fn tell(work: &mut Work, at: Tile, what: Spawned, id: u32, owner: Seat) {
    if work.listening {
        work.events.spawn.push(Spawn { at, what, id, owner });
    }
}
