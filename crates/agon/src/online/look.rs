//! `agon status` and `agon versions`: the user's standing and versions.

use std::io::{self, Write as _};

use agon_api::played::{Ended, SeatOutcome, SeatView, Viewpoint};
use agon_api::version::{Says, State, Version};
use agon_api::{Contest, Ladder, LadderRow, Match, Matches, Me, Used, Versions};
use clap::Args;

use crate::common::online::OnlineOptions;
use crate::common::screen::{self, Screen};
use crate::common::table::{Cell, Table};
use crate::common::{self, Done};
use crate::online::{json, shown, told};

/// Options of `agon status` and `agon versions`.
#[derive(Args, Debug)]
pub struct LookOptions {
    #[command(flatten)]
    pub online: OnlineOptions,
    /// Prints it as JSON
    #[arg(long)]
    pub json: bool,
}

/// Examples for the help of `agon status`.
pub const STATUS: &str = "Examples:
  agon status
  agon status --json | jq .line.rank
  AGON_URL=https://cup.example AGON_TOKEN=... agon status";
/// Examples for the help of `agon versions`.
pub const VERSIONS: &str = "Examples:
  agon versions
  agon versions --json | jq '.versions[0].verdict.text'";

/// How many of the last matches are shown.
const LAST: usize = 5;

/// Runs `agon status`.
pub fn status(options: &LookOptions) -> Done {
    let online = options.online.connect()?;
    let contest: Contest = online.get("/contest", &[])?;
    let me: Me = online.get("/me", &[])?;
    let ladder: Ladder = online.get("/ladder", &[])?;
    let versions: Versions = online.get("/versions", &[])?;
    let line = ladder.lines.iter().find(|line| me.team.as_ref().is_some_and(|team| team.id == line.team));
    let newest = versions.versions.first();
    let mut last = Vec::new();
    if let Some(team) = &me.team {
        let found: Matches = online.get("/matches", &[("team", team.id.to_string())])?;
        last = found.matches;
        last.truncate(LAST);
    }
    let (mut out, screen) = (io::stdout().lock(), screen::output());
    if options.json {
        let of = ladder.lines.len();
        let (state, contest, game) = (contest.state, contest.title.as_str(), contest.game.as_str());
        let standing = json::Standing { contest, game, state, me: &me, line, of, newest, matches: &last };
        return common::print_json(&mut out, &standing);
    }
    writeln!(
        out,
        "{} · {} · {}",
        screen.strong(&shown(&contest.title)),
        shown(&contest.game),
        online.address
    )?;
    let Some(team) = &me.team else {
        writeln!(out, "You are {}, but play for no team yet: `agon submit` submits a bot.", shown(&me.name))?;
        return Ok(());
    };
    let name = shown(&team.name);
    match line {
        Some(line) => writeln!(out, "{}", standing(screen, &name, line, ladder.lines.len()))?,
        None => writeln!(out, "{name} has nothing on the ladder yet.")?,
    }
    if let Some(newest) = newest.filter(|newest| newest.state != State::Live || newest.verdict.is_some()) {
        writeln!(out, "{}", told_of(screen, newest))?;
    }
    for game in &last {
        writeln!(out, "  {}", told_match(game, team.id))?;
    }
    if let Some(quota) = &me.quota {
        let used = |used: &Used, what: &str| format!("{} of {} {what}", used.used, used.most);
        writeln!(
            out,
            "{}",
            screen.dim(&format!(
                "used: {}, {}, {}",
                used(&quota.uploads_an_hour, "uploads this hour"),
                used(&quota.uploads_a_day, "this day"),
                used(&quota.asked_an_hour, "tries and challenges this hour")
            ))
        )?;
    }
    if let Some(means) = contest.state.means() {
        writeln!(out, "{}", screen.strong(means))?;
    }
    if let Some(closes) = contest.closes {
        let left = closes - contest.now;
        match left > 0 {
            true => {
                let at = common::online::clock_time(closes, &contest.time_zone);
                writeln!(out, "Uploads close {at}, in {}.", common::span(left))?;
            }
            false => writeln!(out, "Uploads are closed.")?,
        }
    }
    Ok(())
}

/// The standing of a team.
fn standing(screen: Screen, name: &str, line: &LadderRow, of: usize) -> String {
    let elo = line.rating.elo.map_or_else(String::new, |elo| format!(", {elo:+.0} Elo"));
    let placing = line.placing.map_or_else(String::new, |n| format!("; v{n} is being placed"));
    match (line.rank, line.places) {
        (Some(rank), Some([first, last])) => {
            let surely = if first == last { String::new() } else { format!(" (surely {first} to {last})") };
            let strong = screen.strong(&format!("{name} v{} is in place {rank} of {of}{surely}", line.n));
            format!("{strong}{elo}, after {} rated matches{placing}.", line.rating.matches)
        }
        _ => format!(
            "{name} v{} is on the ladder, but not placed yet: {} rated matches{placing}.",
            line.n, line.rating.matches
        ),
    }
}

/// What became of a version, in a sentence.
fn told_of(screen: Screen, version: &Version) -> String {
    let n = version.n;
    let what = match version.state {
        State::Received => "waits for its check match".to_owned(),
        State::Building => "is unpacked and built".to_owned(),
        State::Checking => "plays its check match".to_owned(),
        State::Trial => "plays against the version before it".to_owned(),
        State::Live => "is live".to_owned(),
        State::Former => "is not live".to_owned(),
        State::Failed => {
            let why =
                version.cause.as_ref().map_or_else(String::new, |cause| format!(" {}", told(screen, cause)));
            format!("cannot play.{why}")
        }
        State::Draft => "is a draft".to_owned(),
    };
    let verdict = version.verdict.as_ref().map_or_else(String::new, |verdict| {
        let text = shown(&verdict.text);
        let says = match verdict.says {
            Says::Better => format!("{} ({text})", screen.good("better")),
            Says::Worse => format!("{} ({text})", screen.bad("worse")),
            // The text says that itself.
            Says::Unknown => text,
        };
        let open = if verdict.is_final { "" } else { "; matches are still being played for it" };
        format!("; against v{}: {says}{open}", verdict.against)
    });
    format!("v{n} {what}{verdict}")
}

/// A match as the team sees it.
fn told_match(game: &Match, team: i64) -> String {
    let name = |seat: &SeatOutcome| shown(&seat.called());
    let Some(seen) = SeatView::of(&game.seats, Viewpoint::Team(team)) else {
        let all: Vec<String> = game.seats.iter().map(name).collect();
        return format!("match {}: {} on {}", game.id, all.join(" against "), shown(&game.map_name));
    };
    let others: Vec<String> = seen.others().map(name).collect();
    let how = match seen.ended() {
        Some(Ended::Won) => "won",
        Some(Ended::Drawn) => "drawn",
        Some(Ended::Lost) => "lost",
        None => "open",
    };
    let fault = seen.own().fault.as_deref().map_or_else(String::new, |fault| format!(", {}", shown(fault)));
    let (own, others, map) = (seen.number(), others.join(", "), shown(&game.map_name));
    format!("match {}: {how} in seat {own} against {others} on {map}{fault}", game.id)
}

/// Runs `agon versions`.
pub fn versions(options: &LookOptions) -> Done {
    let online = options.online.connect()?;
    let (mut out, screen) = (io::stdout().lock(), screen::output());
    let contest: Contest = online.get("/contest", &[])?;
    let all: Versions = online.get("/versions", &[])?;
    if options.json {
        return common::print_json(&mut out, &all);
    }
    if all.versions.is_empty() {
        writeln!(out, "Your team has not submitted anything yet: `agon submit` does.")?;
        return Ok(());
    }
    let mut table =
        Table::new().numbers("", 0).names("state").numbers("submitted", 2).names("against the one before");
    for version in &all.versions {
        let state = version.state;
        let verdict = version.verdict.as_ref().map_or_else(String::new, |verdict| shown(&verdict.text));
        let why = version.cause.as_ref().map_or(verdict, |cause| shown(&cause.what));
        let paint = move |text: &str| match state {
            State::Live => screen.good(text),
            State::Failed => screen.bad(text),
            _ => text.to_owned(),
        };
        table.row(vec![
            format!("v{}", version.n).into(),
            Cell::painted(state.to_string(), paint),
            format!("{} ago", common::span(contest.now - version.received)).into(),
            why.into(),
        ]);
    }
    Ok(write!(out, "{}", table.text(screen::room()))?)
}
