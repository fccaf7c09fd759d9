//! The TICK message (JB-WIRE-3).
//!
//! Written by hand, as ASCII: it is sent to every team in every tick, and one of the original kits
//! cannot read characters split across reads.

use std::io::Write as _;

use agon_game::Seat;

use super::Wire;
use crate::JungleBlitz;
use crate::arena::{Ground, Point};
use crate::rules::Rules;
use crate::state::{Owner, Unit, UnitIndex};
use crate::view::View;

/// Appends the message.
pub(super) fn tick(wire: &Wire, game: &JungleBlitz, seat: Seat, view: &View<'_>, out: &mut Vec<u8>) {
    out.extend(b"{\"type\":\"TICK\",\"tick\":");
    number(out, view.tick().into());
    out.extend(b",\"totalTick\":");
    number(out, game.rules.total_tick.into());
    out.extend(b",\"teamId\":");
    out.extend(&wire.seats[seat.index()].id);
    out.extend(b",\"teams\":[");
    for team in 0..game.teams() {
        comma(out);
        a_team(wire, game, seat, view, team, out);
    }
    out.extend(b"],\"map\":{\"tiles\":");
    out.extend(&wire.tiles);
    out.extend(b",\"diamonds\":[");
    diamonds(wire, game, view, out);
    out.extend(b"]},\"gameConfig\":");
    config(&game.rules, out);
    out.extend(b",\"teamPlayOrderings\":{");
    for (tick, order) in view.play_orders() {
        comma(out);
        out.push(b'"');
        number(out, tick.into());
        out.extend(b"\":[");
        for &team in order {
            comma(out);
            out.extend(&wire.seats[usize::from(team)].id);
        }
        out.push(b']');
    }
    out.extend(b"}}");
}

/// A team; its errors are sent only to itself.
fn a_team(wire: &Wire, game: &JungleBlitz, seat: Seat, view: &View<'_>, team: usize, out: &mut Vec<u8>) {
    let own = &wire.seats[team];
    out.extend(b"{\"id\":");
    out.extend(&own.id);
    out.extend(b",\"name\":");
    out.extend(&own.name);
    out.extend(b",\"score\":");
    number(out, view.score(team));
    out.extend(b",\"isDead\":");
    truth(out, view.is_dead(team));
    out.extend(b",\"errors\":[");
    if team == seat.index() {
        for error in &own.errors {
            comma(out);
            out.extend(quoted(error));
        }
    }
    out.extend(b"],\"units\":[");
    let first = game.first_unit(team);
    for index in first..first + game.units_per_team {
        comma(out);
        a_unit(wire, game, view, index, &own.id, out);
    }
    out.extend(b"]}");
}

/// A unit. Its position is left out before its first spawn and null while it is killed; so is
/// `positionBefore`, which is the same.
fn a_unit(
    wire: &Wire,
    game: &JungleBlitz,
    view: &View<'_>,
    index: UnitIndex,
    team: &[u8],
    out: &mut Vec<u8>,
) {
    let unit = view.unit(index);
    out.extend(b"{\"id\":");
    unit_id(out, index);
    out.extend(b",\"teamId\":");
    out.extend(team);
    if unit.known {
        out.extend(b",\"position\":");
        point(out, game.arena.point(unit.cell));
    }
    out.extend(b",\"path\":[");
    for cell in view.path(index) {
        comma(out);
        point(out, game.arena.point(cell));
    }
    out.extend(b"],\"hasDiamond\":");
    truth(out, unit.holds > 0);
    if let Some(diamond) = unit.diamond() {
        out.extend(b",\"diamondId\":");
        out.extend(&wire.diamond_ids[usize::from(diamond)]);
    }
    out.extend(b",\"hasSpawned\":");
    truth(out, unit.alive());
    out.extend(b",\"isSummoning\":");
    truth(out, unit.summoning > 0);
    out.extend(b",\"lastState\":{\"hasSummoned\":false");
    if unit.known {
        out.extend(b",\"positionBefore\":");
        point(out, game.arena.point(unit.cell));
    }
    marks(game, &unit, out);
    out.extend(b"}}");
}

/// What happened to a unit in the previous tick.
fn marks(game: &JungleBlitz, unit: &Unit, out: &mut Vec<u8>) {
    if let Some(by) = unit.attacked_by.checked_sub(1) {
        out.extend(b",\"positionBeforeDying\":");
        point(out, game.arena.point(unit.died_at));
        out.extend(b",\"wasAttackedBy\":");
        unit_id(out, by);
    }
    if let Some(by) = unit.vined_by.checked_sub(1) {
        out.extend(b",\"wasVinedBy\":");
        unit_id(out, by);
    }
}

fn diamonds(wire: &Wire, game: &JungleBlitz, view: &View<'_>, out: &mut Vec<u8>) {
    for (diamond, id) in view.diamonds().iter().zip(&wire.diamond_ids) {
        comma(out);
        out.extend(b"{\"id\":");
        out.extend(id);
        out.extend(b",\"position\":");
        point(out, game.arena.point(diamond.cell));
        out.extend(b",\"summonLevel\":");
        number(out, diamond.level.into());
        out.extend(b",\"points\":");
        number(out, diamond.points.into());
        match diamond.owner.holder() {
            Some(unit) => {
                out.extend(b",\"ownerId\":");
                unit_id(out, unit);
            }
            None if diamond.owner == Owner::NEVER => {}
            None => out.extend(b",\"ownerId\":null"),
        }
        out.push(b'}');
    }
}

/// The numbers sent on the wire. The original had a warm-up, switched off, and one unit per tile.
fn config(rules: &Rules, out: &mut Vec<u8>) {
    put(
        out,
        format_args!(
            "{{\"warmUpPeriod\":0,\"pointsPerDiamond\":{},\"maximumDiamondSummonLevel\":{},\
             \"initialDiamondSummonLevel\":{},\"maximumUnitPerPosition\":1}}",
            rules.points_per_diamond, rules.maximum_diamond_summon_level, rules.initial_diamond_summon_level
        ),
    );
}

/// The field `tiles`: `tiles[x][y]`, outer list by column (JB-MAP-1).
pub(super) fn tiles(game: &JungleBlitz) -> Vec<u8> {
    let mut out = vec![b'['];
    for x in 0..game.arena.width() {
        comma(&mut out);
        out.push(b'[');
        for y in 0..game.arena.height() {
            comma(&mut out);
            out.extend(match game.arena.ground(game.arena.cell(Point { x, y })) {
                Ground::Wall => &b"\"WALL\""[..],
                Ground::Empty => b"\"EMPTY\"",
                Ground::Spawn => b"\"SPAWN\"",
            });
        }
        out.push(b']');
    }
    out.push(b']');
    out
}

/// A comma, unless this is the first of its list or object.
fn comma(out: &mut Vec<u8>) {
    if !matches!(out.last(), Some(b'[' | b'{')) {
        out.push(b',');
    }
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to memory");
}

fn number(out: &mut Vec<u8>, value: u32) {
    if value >= 10 {
        number(out, value / 10);
    }
    out.push(b'0' + (value % 10) as u8);
}

fn truth(out: &mut Vec<u8>, value: bool) {
    out.extend(if value { &b"true"[..] } else { b"false" });
}

/// The id of a unit (JB-WIRE-2).
fn unit_id(out: &mut Vec<u8>, unit: UnitIndex) {
    out.push(b'"');
    number(out, u32::from(unit) + 1);
    out.push(b'"');
}

/// A position, or null.
fn point(out: &mut Vec<u8>, at: Option<Point>) {
    match at {
        Some(Point { x, y }) => {
            out.extend(b"{\"x\":");
            number(out, x.into());
            out.extend(b",\"y\":");
            number(out, y.into());
            out.push(b'}');
        }
        None => out.extend(b"null"),
    }
}

/// A text in quotes, in ASCII.
pub(super) fn quoted(text: &str) -> Vec<u8> {
    let mut out = vec![b'"'];
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend([b'\\', letter as u8]),
            ' '..='~' => out.push(letter as u8),
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    put(&mut out, format_args!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push(b'"');
    out
}
