//! Recorded games: every state before a tick, every command, every random choice.

use std::cell::Cell as Counter;

use agon_game::conform::ConformReport;
use agon_game::{Absence, Answer, Chance, Dialect as _, Game as _, Heard, Seat, Sink};
use serde_json::{Value, json};

use super::{list, position, read_orders, recorded_match, text};
use crate::JungleBlitz;
use crate::dialect::Wire;
use crate::event::Event;
use crate::orders::Command;
use crate::reason::Refusal;
use crate::rules::MAX_TEAMS;
use crate::search::Search;
use crate::state::{Owner, State};

/// Replays a recorded game and compares every state.
pub fn compare(record: &[u8], report: &mut ConformReport) -> Result<(), String> {
    let record: Value = serde_json::from_slice(record).map_err(|error| error.to_string())?;
    let teams = list(&record["teams"], "teams")?;
    let ids = teams.iter().map(|team| text(&team["id"], "team id")).collect::<Result<Vec<_>, _>>()?;
    let units_per_team = record["unitsPerTeam"].as_u64().ok_or("no unitsPerTeam")? as usize;
    let total_tick = record["totalTick"].as_u64().ok_or("no totalTick")?;
    let ticks = list(&record["ticks"], "ticks")?;
    let first = &ticks.first().ok_or("no tick")?["state"]["map"]["diamonds"];
    let game = recorded_match(&record["tiles"], first, teams.len(), units_per_team, total_tick)?;
    let mut schedule = vec![[0; MAX_TEAMS]; usize::from(game.rules.total_tick)];
    read_orders(&record["orders"], &ids, &mut schedule)?;
    let game = game.with_schedule(schedule);
    let spawned = Counter::new(0);
    let mut tape =
        Tape { game: &game, picks: list(&record["spawnChoices"], "spawn choices")?, spawned: &spawned };

    let (mut state, mut search, mut wire) = (game.start(), Search::default(), Wire::new(&game));
    let mut errors = vec![0; teams.len()];
    for tick in ticks {
        if game.deciding(&state).is_empty() {
            return Err("ticks after the end".to_owned());
        }
        let recorded = &tick["state"];
        let place = |what: &str| format!("before tick {}, {what}", recorded["tick"]);
        report.compare("tick", &recorded["tick"].as_u64(), &Some(u64::from(state.tick)), || place("number"));
        compare_state(&game, &state, &recorded["map"]["diamonds"], &recorded["teams"], true, report, &place)?;
        for (team, count) in errors.iter().enumerate() {
            let told = recorded["teams"][team]["errors"].as_array().map_or(0, Vec::len);
            report.compare("errors of a team", &told, count, || place(&ids[team]));
        }
        let answers = answers(&game, &state, &mut wire, &ids, &tick["commands"])?;
        for (seat, answer) in &answers {
            // An answer empties the list; a missed tick adds to it.
            let count = &mut errors[seat.index()];
            *count = if answer.order().is_some() { 0 } else { *count + 1 };
        }
        let mut counted = Counted { errors: &mut errors, spawned: &spawned };
        game.play(&mut state, &mut search, &answers, &mut tape, &mut counted);
    }
    report.compare("random picks", &tape.picks.len(), &spawned.get(), || "at the end".to_owned());
    compare_end(&game, &state, &ids, &record["final"], report)
}

/// The recorded commands of a tick, as messages on the wire.
fn answers(
    game: &JungleBlitz,
    state: &State,
    wire: &mut Wire,
    ids: &[String],
    commands: &Value,
) -> Result<Vec<(Seat, Answer<Command>)>, String> {
    let mut answers = Vec::new();
    for (team, id) in ids.iter().enumerate() {
        let seat = Seat::new(team as u8);
        wire.ask(game, seat, &game.view(state, seat), &mut Vec::new());
        let answer = match commands.get(id) {
            None | Some(Value::Null) => Answer::Missing(Absence::TimedOut),
            Some(command) => {
                let actions = command.get("actions").unwrap_or(&Value::Null);
                let command = json!({ "type": "COMMAND", "tick": state.tick, "actions": actions });
                match wire.hear(game, seat, command.to_string().as_bytes()) {
                    Heard::Answer(order) => Answer::Given { order, think_ms: 0 },
                    other => return Err(format!("a command is heard as {other:?}")),
                }
            }
        };
        answers.push((seat, answer));
    }
    Ok(answers)
}

/// Compares everything in a state on the wire. `last` compares the marks of the previous tick too.
pub(crate) fn compare_state(
    game: &JungleBlitz,
    state: &State,
    diamonds: &Value,
    teams: &Value,
    last: bool,
    report: &mut ConformReport,
    place: &impl Fn(&str) -> String,
) -> Result<(), String> {
    let point = |cell| game.arena.point(cell);
    for (index, recorded) in list(diamonds, "diamonds")?.iter().enumerate() {
        let diamond = state.diamonds.get(index).ok_or("too many diamonds")?;
        let at = || place(&format!("diamond {index}"));
        report.compare("diamond position", &position(&recorded["position"]), &point(diamond.cell), at);
        report.compare("diamond level", &recorded["summonLevel"].as_u64(), &Some(diamond.level.into()), at);
        report.compare("diamond points", &recorded["points"].as_u64(), &Some(diamond.points.into()), at);
        let owner = match diamond.owner.holder() {
            Some(unit) => Some((unit + 1).to_string().into()),
            None if diamond.owner == Owner::NEVER => None,
            None => Some(Value::Null),
        };
        report.compare("diamond owner", &recorded.get("ownerId").cloned(), &owner, at);
    }
    for (team, recorded) in list(teams, "teams")?.iter().enumerate().take(game.teams()) {
        let at = || place(&format!("team {}", team + 1));
        report.compare("score", &recorded["score"].as_u64(), &Some(state.scores[team].into()), at);
        report.compare("dead team", &recorded["isDead"].as_bool(), &Some(state.is_dead(team)), at);
        for recorded in list(&recorded["units"], "units")? {
            let id = text(&recorded["id"], "unit id")?;
            let index: u8 = id.parse().map_err(|_| format!("unit id {id}"))?;
            if !(1..=game.unit_count()).contains(&index) {
                return Err(format!("unit id {id}"));
            }
            let unit = state.unit(index - 1);
            let at = || place(&format!("unit {id}"));
            let known = recorded.get("position").is_some();
            report.compare("unit position", &position(&recorded["position"]), &point(unit.cell), at);
            report.compare("unit known", &known, &unit.known, at);
            let path: Vec<_> = list(&recorded["path"], "path")?.iter().map(position).collect();
            let own: Vec<_> = state.path(&game.arena, index - 1).map(point).collect();
            report.compare("unit path", &path, &own, at);
            report.compare("unit alive", &recorded["hasSpawned"].as_bool(), &Some(unit.alive()), at);
            report.compare("unit summons", &recorded["isSummoning"].as_bool(), &Some(unit.summoning > 0), at);
            report.compare("unit has diamond", &recorded["hasDiamond"].as_bool(), &Some(unit.holds > 0), at);
            let diamond = recorded
                .get("diamondId")
                .map(|id| diamonds.as_array().and_then(|all| all.iter().position(|d| &d["id"] == id)));
            report.compare("unit's diamond", &diamond.flatten(), &unit.diamond().map(usize::from), at);
            if last {
                let marks = &recorded["lastState"];
                let by = |unit: u8| (unit > 0).then(|| unit.to_string());
                let told = |name: &str| marks.get(name).and_then(Value::as_str).map(str::to_owned);
                report.compare("vined by", &told("wasVinedBy"), &by(unit.vined_by), at);
                report.compare("attacked by", &told("wasAttackedBy"), &by(unit.attacked_by), at);
                report.compare("died at", &position(&marks["positionBeforeDying"]), &point(unit.died_at), at);
                report.compare("position before", &position(&marks["positionBefore"]), &point(unit.cell), at);
            }
        }
    }
    Ok(())
}

/// Compares the end: the last state, deaths and pending points. Teams are in rank order there.
fn compare_end(
    game: &JungleBlitz,
    state: &State,
    ids: &[String],
    end: &Value,
    report: &mut ConformReport,
) -> Result<(), String> {
    let mut teams = vec![Value::Null; ids.len()];
    for team in list(&end["teams"], "teams")? {
        let index =
            ids.iter().position(|id| Some(id.as_str()) == team["id"].as_str()).ok_or("an unknown team")?;
        let place = || format!("at the end, team {}", index + 1);
        let deaths = u64::from(state.deaths[index]);
        report.compare("deaths", &team["deaths"].as_u64(), &Some(deaths), place);
        let pending = u64::from(crate::outcome::pending(game, state, index));
        report.compare("pending points", &team["pending"].as_u64(), &Some(pending), place);
        teams[index] = team.clone();
    }
    let place = |what: &str| format!("at the end, {what}");
    compare_state(game, state, &end["diamonds"], &teams.into(), false, report, &place)
}

/// Where each successful spawn ended, in the order of play.
struct Tape<'a> {
    game: &'a JungleBlitz,
    picks: &'a [Value],
    spawned: &'a Counter<usize>,
}

impl Chance for Tape<'_> {
    fn below(&mut self, _: u32) -> u32 {
        0
    }

    fn choose(&mut self, options: &[u16]) -> u16 {
        let recorded = self.picks.get(self.spawned.get()).and_then(|pick| {
            let number = |at: usize| pick[2][at].as_i64();
            Some(self.game.arena.cell_at(number(0)?, number(1)?).0)
        });
        // A pick that is not an option shows up as a difference in the unit's position.
        recorded.filter(|cell| options.contains(cell)).unwrap_or(options[0])
    }
}

/// Counts spawns, for the tape, and errors of each team.
struct Counted<'a> {
    errors: &'a mut [usize],
    spawned: &'a Counter<usize>,
}

impl Sink<JungleBlitz> for Counted<'_> {
    fn event(&mut self, event: Event) {
        if let Event::Spawned { .. } = event {
            self.spawned.set(self.spawned.get() + 1);
        }
    }

    fn reject(&mut self, seat: Seat, _: usize, _: Refusal) {
        self.errors[seat.index()] += 1;
    }
}
