//! Checks whether a map is good: the findings of `agon maps check`.

use agon_game::MapFindings;

use crate::arena::{Arena, Cell, Direction, Ground};
use crate::map::{Map, Tile};
use crate::rules::{DEFAULT_UNITS_PER_TEAM, MAX_DIAMONDS, MAX_UNITS};

/// Checks a map for the team counts it mentions; for 2 and 4, as in the contest, if it mentions none.
pub fn check(map: &Map) -> MapFindings {
    let mut findings = MapFindings::default();
    let (width, height) = (map.width(), map.height());
    let (spawns, diamonds) = (map.count(Tile::Spawn), map.count(Tile::Diamond));
    let many = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (spawn_tiles, stones) = (many(spawns, "spawn tile"), many(diamonds, "diamond"));
    findings.facts.push(format!("{width} x {height} tiles, {spawn_tiles}, {stones}"));
    if spawns == 0 {
        findings.errors.push("it has no spawn tile (S)".to_owned());
    }
    if diamonds == 0 {
        findings.warnings.push("it has no diamond (D), so nobody can score".to_owned());
    }
    if diamonds > MAX_DIAMONDS {
        findings.errors.push(format!("it has {diamonds} diamonds; at most {MAX_DIAMONDS} can be played"));
    }
    let spoken_of = (1..).zip(map.units).filter(|&(_, units)| units > 0).map(|(teams, _)| teams);
    let mut counts: Vec<u8> = spoken_of.collect();
    if counts.is_empty() {
        counts = vec![2, 4];
        findings.facts.push(format!(
            "it does not say how many units a team has (`units for 2 teams: 4`): {DEFAULT_UNITS_PER_TEAM}, \
             unless --set unitsPerTeam=N does"
        ));
    }
    for &teams in &counts {
        team_count(map, teams, &mut findings);
    }
    symmetry(map, counts.into_iter().max().unwrap_or(1), &mut findings);
    if let Ok(arena) = Arena::new(map, 1) {
        reachability(&arena, &mut findings);
    }
    findings
}

fn team_count(map: &Map, teams: u8, findings: &mut MapFindings) {
    let each = map.units_for(teams).unwrap_or(DEFAULT_UNITS_PER_TEAM);
    let units = usize::from(each) * usize::from(teams);
    findings.facts.push(format!("{teams} teams: {each} units each"));
    if units > MAX_UNITS {
        findings
            .errors
            .push(format!("{teams} teams of {each} are {units} units; at most {MAX_UNITS} can play"));
    } else if let Err(why) = Arena::new(map, units) {
        findings.errors.push(format!("{teams} teams: {why}"));
    }
    if map.count(Tile::Spawn) < units {
        findings.warnings.push(format!("{teams} teams: fewer spawn tiles than the {units} units"));
    }
}

/// A map is fair when it looks the same from several sides.
fn symmetry(map: &Map, most_teams: u8, findings: &mut MapFindings) {
    let (right, bottom) = (map.width() - 1, map.height() - 1);
    let same = |image: &dyn Fn(u8, u8) -> (u8, u8)| {
        (0..=right).all(|x| {
            (0..=bottom).all(|y| {
                let (there_x, there_y) = image(x, y);
                map.tile(x, y).ground() == map.tile(there_x, there_y).ground()
                    && (map.tile(x, y) == Tile::Diamond) == (map.tile(there_x, there_y) == Tile::Diamond)
            })
        })
    };
    let left_right = same(&|x, y| (right - x, y));
    let up_down = same(&|x, y| (x, bottom - y));
    let turned = same(&|x, y| (right - x, bottom - y));
    let names = [(left_right, "left and right"), (up_down, "top and bottom"), (turned, "a half turn")];
    let names: Vec<&str> = names.iter().filter(|entry| entry.0).map(|entry| entry.1).collect();
    match names.len() {
        0 if most_teams == 1 => findings.facts.push("it has no symmetry".to_owned()),
        0 => findings.warnings.push("it has no symmetry, so it is not fair to 2 teams".to_owned()),
        3 => findings.facts.push("symmetric in all four quarters: fair to 2 and 4 teams".to_owned()),
        _ => {
            findings.facts.push(format!("symmetric by {}", names.join(", ")));
            if most_teams > 2 {
                let why = format!("its four quarters differ, so it is not fair to {most_teams} teams");
                findings.warnings.push(why);
            }
        }
    }
}

/// From every spawn tile a unit must be able to reach every diamond: over spawn tiles to the edge of the
/// spawn zone, and from there over EMPTY ground only.
fn reachability(arena: &Arena, findings: &mut MapFindings) {
    let mut lost = Vec::new();
    for &spawn in arena.spawns() {
        let zone = flood(arena, vec![spawn], Ground::Spawn);
        let beside = |cell: &Cell| Direction::ALL.map(|way| arena.neighbour(*cell, way));
        let edge = zone.iter().flat_map(beside).filter(|&cell| arena.ground(cell) == Ground::Empty).collect();
        let reached = flood(arena, edge, Ground::Empty);
        lost.extend(
            arena.diamonds().iter().filter(|diamond| !reached.contains(diamond)).map(|&to| (spawn, to)),
        );
    }
    match lost.first().and_then(|&(from, to)| Some((arena.point(from)?, arena.point(to)?))) {
        None => findings.facts.push("every diamond can be reached from every spawn tile".to_owned()),
        Some((from, to)) => findings.warnings.push(format!(
            "from spawn tile {from} no way leads to the diamond at {to} ({} such pairs in all)",
            lost.len()
        )),
    }
}

/// All tiles of `ground` connected to `cells`, these included.
fn flood(arena: &Arena, mut cells: Vec<Cell>, ground: Ground) -> Vec<Cell> {
    let mut seen = vec![false; arena.numbers()];
    cells.retain(|cell| !std::mem::replace(&mut seen[cell.index()], true));
    let mut next = 0;
    while let Some(&cell) = cells.get(next) {
        next += 1;
        for way in Direction::ALL {
            let beside = arena.neighbour(cell, way);
            if arena.ground(beside) == ground && !std::mem::replace(&mut seen[beside.index()], true) {
                cells.push(beside);
            }
        }
    }
    cells
}
