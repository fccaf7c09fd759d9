//! `agon try`: one match at the contest, under its conditions, without submitting anything.

use std::io::{self, Write as _};
use std::time::Duration;

use agon_api::played::{Ended, MatchState, OwnSeat, SeatView};
use agon_api::version::Whose;
use agon_api::{Asked, Contest, Me, Own};
use agon_bot::advised::NextCommand;
use clap::Args;

use crate::common::conditions::ground;
use crate::common::online::{Online, OnlineOptions};
use crate::common::screen::{self, milliseconds};
use crate::common::{self, Done, Failure, time};
use crate::online::bundle::Bundle;
use crate::online::logs::{Turns, faults, notes};
use crate::online::{follow, json, number, shown, told, version};

/// Examples for the help.
pub const EXAMPLES: &str = "The bot is uploaded, built, and plays one match on the contest's machine: nothing is submitted, nothing is rated, and all of
it is deleted after a day. You see how it ended, and what the bot wrote to standard error.

Exit codes: 0 it played without a fault; 1 it did not; 2 wrong usage; 3 the contest or this machine failed, or the limit
(60 an hour, unless the organiser says otherwise) is reached.

Examples:
  agon try                                 the bot of this folder against the next one up on the ladder
  agon try . --against Ann --map 2         against the live bot of Ann
  agon try bot.py --against v3             against your own third version
  agon try . --seed 77 --seat 2 --json";

/// How many of the last lines that it wrote are shown.
const SHOWN: usize = 20;

/// A requested match: its opponent, where it is played, and how it is followed.
#[derive(Args, Debug)]
pub(crate) struct MatchOptions {
    /// A team on the ladder, or a version of your own, such as v3 [default: the team just above yours]
    #[arg(long, value_name = "NAME|vN")]
    pub against: Option<String>,
    /// One of the contest's maps, by its name or its number from 1 [default: the first]
    #[arg(long, value_name = "MAP")]
    pub map: Option<String>,
    /// The seed [default: a new one, which is printed]
    #[arg(long, short = 'd', value_name = "N", allow_hyphen_values = true)]
    pub seed: Option<i64>,
    /// The seat it takes, from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=255))]
    pub seat: u32,
    /// Stops waiting after this time; the match continues
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "900s")]
    pub patience: Duration,
    #[command(flatten)]
    pub online: OnlineOptions,
    /// Prints the match and the notes as JSON
    #[arg(long)]
    pub json: bool,
    /// Prints no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Options of `agon try`.
#[derive(Args, Debug)]
pub struct TryOptions {
    /// The bot: a folder, a file, an archive, or `git:REV[:PATH]`
    #[arg(value_name = "PATH", default_value = ".")]
    pub bot: String,
    #[command(flatten)]
    pub wanted: MatchOptions,
}

/// Runs `agon try`.
pub fn run(options: &TryOptions) -> Done {
    let wanted = &options.wanted;
    let online = wanted.online.connect()?;
    let contest: Contest = online.get("/contest", &[])?;
    let me: Me = online.get("/me", &[])?;
    let mut query = Vec::new();
    query.extend(against(&online, &me, wanted.against.as_deref())?.map(|against| match against {
        Against::Team(name) => ("against", name),
        Against::Version(id) => ("against_version", id.to_string()),
    }));
    if let Some(named) = &wanted.map {
        query.push(("map", ground(&contest, named)?.number.to_string()));
    }
    query.extend(wanted.seed.map(|seed| ("seed", seed.to_string())));
    query.push(("seat", wanted.seat.to_string()));
    let bundle = Bundle::of(&options.bot, &contest.game)?;
    if !wanted.quiet {
        bundle.tell();
    }
    query.push(("name", bundle.name.clone()));
    let asked: Asked = online.send("/draft", &query, &bundle.bytes)?;
    follow_to_the_end(&online, &contest, asked, wanted)
}

/// Waits until a requested match is over, and shows how it ended, with what belongs to the user's own seat.
///
/// # Errors
/// When that is not known in time, the bot did not play without a fault, or the match came to nothing.
pub fn follow_to_the_end(online: &Online, contest: &Contest, asked: Asked, wanted: &MatchOptions) -> Done {
    let (id, seat) = (asked.game.id, wanted.seat);
    let asked = follow::asked(online, asked, wanted.patience, wanted.quiet)?.ok_or_else(|| {
        Failure::own(format!(
            "the match is not over after {:?}; the contest continues with it: `{}`",
            wanted.patience,
            NextCommand::LogsOfMatch.about([id.to_string()])
        ))
    })?;
    let own: Own = online.patiently(&format!("/matches/{id}/own"))?;
    if wanted.json {
        common::print_json(&mut io::stdout(), &json::Tried { asked: &asked, own: &own })?;
    } else {
        report(online, contest, &asked, own.seats.iter().find(|own| own.seat == seat), seat)?;
    }
    let broke = asked.game.seats.get(seat as usize - 1).is_some_and(|seat| seat.fault.is_some());
    match (&asked.cause, asked.game.state) {
        (Some(cause), _) if cause.whose == Whose::Yours => Err(Failure::Check),
        (_, MatchState::Dead) => {
            Err(Failure::own("the contest could not play this match; that is not your bot's fault"))
        }
        _ if broke => Err(Failure::Check),
        _ => Ok(()),
    }
}

/// The opponent.
pub enum Against {
    /// The live bot of the team with this name.
    Team(String),
    /// A version of the user's own, by the contest's number for it.
    Version(i64),
}

/// Finds a named opponent: a version of the user's own as `v3`, else a team; none if none is named.
///
/// # Errors
/// When there is no such version.
pub fn against(online: &Online, me: &Me, named: Option<&str>) -> Result<Option<Against>, Failure> {
    let Some(named) = named else { return Ok(None) };
    Ok(Some(match number(named).filter(|_| me.team.is_some() && named.starts_with('v')) {
        Some(_) => Against::Version(version(online, Some(named))?.id),
        None => Against::Team(named.to_owned()),
    }))
}

fn report(online: &Online, contest: &Contest, asked: &Asked, own: Option<&OwnSeat>, seat: u32) -> Done {
    let (screen, game) = (screen::output(), &asked.game);
    let mut out = io::stdout().lock();
    let seen = SeatView::at(&game.seats, seat);
    let others: Vec<String> =
        (seen.into_iter().flat_map(SeatView::others)).map(|seat| shown(&seat.called())).collect();
    let others = others.join(", ");
    let how = match seen.and_then(SeatView::ended) {
        Some(Ended::Won) => screen.good(&format!("Won against {others}")),
        Some(Ended::Drawn) => screen.strong(&format!("Drawn against {others}")),
        Some(Ended::Lost) => screen.strong(&format!("Lost against {others}")),
        None => screen.bad(&format!("No match against {others}")),
    };
    let map = contest
        .maps
        .iter()
        .find(|map| map.number == game.map)
        .map_or_else(String::new, |map| shown(&map.name));
    write!(out, "{how} · {map} · seed {} · seat {seat}", shown(&game.seed))?;
    match (&game.reason, game.steps) {
        (Some(reason), Some(steps)) => writeln!(out, "\n{}, step {steps}", shown(reason))?,
        _ => writeln!(out)?,
    }
    if let Some(max) = seen.and_then(|seen| seen.own().max_ms) {
        writeln!(out, "slowest answer {}", milliseconds(max))?;
    }
    if let Some(cause) = &asked.cause {
        writeln!(out, "{}", told(screen, cause))?;
    }
    if let Some(own) = own {
        faults(&mut out, own)?;
        if !notes(&mut out, own, &Turns::of(&contest.game)?, SHOWN)? {
            writeln!(out, "The rest: {}", NextCommand::LogsOfMatch.about([game.id.to_string()]))?;
        }
    }
    if game.has_replay {
        let get = NextCommand::ReplayGet.about([game.id.to_string()]);
        writeln!(out, "\nWatch it: {}/match/{}\n  {get}", online.address, game.id)?;
    }
    Ok(())
}
