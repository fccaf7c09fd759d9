//! The TICK message (JB-WIRE-3).
//!
//! Written by hand, as ASCII: it is sent to every team in every tick, and one of the original
//! kits cannot read characters that are cut in two.

use std::io::Write as _;

use agon_game::Seat;

use super::Wire;
use crate::JungleBlitz;
use crate::arena::{Cell, Ground, Point};
use crate::rules::Rules;
use crate::state::{Owner, Unit, UnitIndex};
use crate::view::View;

/// Appends the message.
pub(super) fn tick(wire: &Wire, game: &JungleBlitz, seat: Seat, view: &View<'_>, out: &mut Vec<u8>) {
    let (tick, total) = (view.tick(), game.rules.total_tick);
    put(out, format_args!("{{\"type\":\"TICK\",\"tick\":{tick},\"totalTick\":{total},\"teamId\":"));
    text(out, &wire.seats[seat.index()].id);
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
        put(out, format_args!("\"{tick}\":["));
        for &team in order {
            comma(out);
            text(out, &wire.seats[usize::from(team)].id);
        }
        out.push(b']');
    }
    out.extend(b"}}");
}

/// A team; its errors are told to itself only.
fn a_team(wire: &Wire, game: &JungleBlitz, seat: Seat, view: &View<'_>, team: usize, out: &mut Vec<u8>) {
    let own = &wire.seats[team];
    out.extend(b"{\"id\":");
    text(out, &own.id);
    out.extend(b",\"name\":");
    text(out, &own.name);
    put(out, format_args!(",\"score\":{},\"isDead\":{},\"errors\":[", view.score(team), view.is_dead(team)));
    if team == seat.index() {
        for error in &own.errors {
            comma(out);
            text(out, error);
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
fn a_unit(wire: &Wire, game: &JungleBlitz, view: &View<'_>, index: UnitIndex, team: &str, out: &mut Vec<u8>) {
    let unit = view.unit(index);
    let position = |out: &mut Vec<u8>, name: &str| {
        if unit.known {
            put(out, format_args!("\"{name}\":"));
            point(out, game.arena.point(unit.cell));
            out.push(b',');
        }
    };
    put(out, format_args!("{{\"id\":\"{}\",\"teamId\":", index + 1));
    text(out, team);
    out.push(b',');
    position(out, "position");
    out.extend(b"\"path\":[");
    for cell in view.path(index) {
        comma(out);
        point(out, game.arena.point(cell));
    }
    let (holds, alive, summons) = (unit.holds > 0, unit.alive(), unit.summoning > 0);
    put(out, format_args!("],\"hasDiamond\":{holds},"));
    if let Some(diamond) = unit.diamond() {
        out.extend(b"\"diamondId\":");
        text(out, &wire.diamond_ids[usize::from(diamond)]);
        out.push(b',');
    }
    put(out, format_args!("\"hasSpawned\":{alive},\"isSummoning\":{summons},\"lastState\":{{"));
    position(out, "positionBefore");
    marks(game, &unit, out);
    out.extend(b"\"hasSummoned\":false}}");
}

/// What befell a unit in the previous tick.
fn marks(game: &JungleBlitz, unit: &Unit, out: &mut Vec<u8>) {
    if unit.died_at != Cell::NOWHERE {
        out.extend(b"\"positionBeforeDying\":");
        point(out, game.arena.point(unit.died_at));
        put(out, format_args!(",\"wasAttackedBy\":\"{}\",", unit.attacked_by));
    }
    if unit.vined_by > 0 {
        put(out, format_args!("\"wasVinedBy\":\"{}\",", unit.vined_by));
    }
}

fn diamonds(wire: &Wire, game: &JungleBlitz, view: &View<'_>, out: &mut Vec<u8>) {
    for (diamond, id) in view.diamonds().iter().zip(&wire.diamond_ids) {
        comma(out);
        out.extend(b"{\"id\":");
        text(out, id);
        out.extend(b",\"position\":");
        point(out, game.arena.point(diamond.cell));
        put(out, format_args!(",\"summonLevel\":{},\"points\":{}", diamond.level, diamond.points));
        match diamond.owner.holder() {
            Some(unit) => put(out, format_args!(",\"ownerId\":\"{}\"", unit + 1)),
            None if diamond.owner == Owner::NEVER => {}
            None => out.extend(b",\"ownerId\":null"),
        }
        out.push(b'}');
    }
}

/// The numbers that the wire tells. The original knew a warm-up, switched off, and one unit a tile.
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

/// A position, or null.
fn point(out: &mut Vec<u8>, at: Option<Point>) {
    match at {
        Some(Point { x, y }) => put(out, format_args!("{{\"x\":{x},\"y\":{y}}}")),
        None => out.extend(b"null"),
    }
}

/// A text in quotes, in ASCII.
pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend([b'\\', letter as u8]),
            ' '..='~' => out.push(letter as u8),
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    put(out, format_args!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push(b'"');
}
