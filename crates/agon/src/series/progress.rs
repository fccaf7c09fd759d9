//! Progress of a series: a bar on a terminal, lines elsewhere, events with `--json`. Also the closing tables and notes
//! of every series.
//!
//! Longer than 500 lines: the ways of showing a series stand side by side, so that they say the same.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use agon_contest::standing::blocks_in_round;
use agon_contest::{
    Faulty, JournalHeader, Pairing, Progress, Scheduler, SeriesEnd, SeriesKind, journal::VoidEntry,
    journal::count,
};
use agon_desk::words::thousands;
use agon_stats::Estimate;

use crate::common::bar::Bar;
use crate::common::sandbox;
use crate::common::screen::{self, Screen};
use crate::common::{Failure, print_json_line};
use crate::series::{Ready, RunOptions, json, origin};

/// How many blocks and matches it takes to estimate the length of a series.
const FIRST_BLOCKS: u64 = 2;
/// A series of more hours than this asks for confirmation.
const LONG: f64 = 1.0;
/// From how many blocks on it is said that both bots of a test answered alike in all of them.
const SAME: u64 = 20;
/// Interval of the events.
const EVENT: Duration = Duration::from_secs(1);
/// Without a terminal, the first line comes after this; later ones less and less often.
const FIRST_LINE: Duration = Duration::from_secs(2);
/// Longest pause between lines.
const LINE: Duration = Duration::from_secs(30);

/// Shows the progress of a series.
pub struct Show {
    began: Instant,
    json: bool,
    quiet: bool,
    bar: Option<Bar>,
    /// Whether the estimate has yet to be shown.
    untold: bool,
    /// Whether a long series asks for confirmation.
    asks: bool,
    next: Instant,
    pause: Duration,
}

impl Show {
    /// Before the first match.
    pub fn new(ready: &Ready, options: &RunOptions) -> Result<Self, Failure> {
        let began = Instant::now();
        let header = ready.scheduler.header();
        if options.json {
            let containment = containment(ready);
            let resumed = ready.scheduler.look(|progress| progress.resumed);
            let journal = ready.scheduler.journal_path();
            let start = json::Start::new(header, &journal, ready.jobs(), resumed, containment);
            print_json_line(&mut io::stdout(), &start)?;
        } else if !options.quiet {
            announce(ready)?;
        }
        let terminal = io::stderr().is_terminal() && !options.json && !options.quiet;
        let bar = terminal.then(|| Bar::new(true));
        let pause = if options.json { EVENT } else { FIRST_LINE };
        let asks = terminal && io::stdin().is_terminal() && !ready.length_was_chosen();
        let (json, quiet) = (options.json, options.quiet);
        Ok(Self { began, json, quiet, bar, untold: true, asks, next: began + pause, pause })
    }

    /// Called ten times a second.
    ///
    /// # Errors
    /// When nobody reads our output any more.
    pub fn tick(&mut self, scheduler: &Scheduler) -> io::Result<()> {
        if self.untold
            && let Some((per_hour, hours)) =
                scheduler.look(|progress| expected(progress, scheduler.header(), self.began))
        {
            self.untold = false;
            self.tell(scheduler, per_hour, hours)?;
        }
        if let Some(bar) = &self.bar {
            scheduler.look(|progress| {
                bar.show(progress.games, progress.all_games, line(progress, scheduler.header(), self.began));
            });
            return Ok(());
        }
        if self.quiet || Instant::now() < self.next {
            return Ok(());
        }
        if self.json {
            let event =
                scheduler.look(|progress| state("progress", progress, scheduler.header(), self.began));
            print_json_line(&mut io::stdout(), &event)?;
        } else {
            eprintln!("{}", scheduler.look(|progress| line(progress, scheduler.header(), self.began)));
            self.pause = (self.pause * 2).min(LINE);
        }
        self.next = Instant::now() + self.pause;
        Ok(())
    }

    /// Reports an event besides the matches.
    ///
    /// # Errors
    /// When nobody reads our output any more.
    pub fn say(&self, text: &str) -> io::Result<()> {
        match &self.bar {
            Some(bar) => bar.above(|| eprintln!("note: {text}")),
            None if !self.quiet => eprintln!("note: {text}"),
            None => {}
        }
        Ok(())
    }

    /// Reports the estimate; for more than an hour it asks whether to go on.
    fn tell(&self, scheduler: &Scheduler, per_hour: f64, hours: Option<f64>) -> io::Result<()> {
        if self.json {
            let event = json::HowLong { event: "estimate", matches_per_hour: per_hour, hours };
            return print_json_line(&mut io::stdout(), &event);
        }
        let is_test = scheduler.look(|progress| progress.standing.test.is_some());
        let text = how_long(per_hour, hours, is_test);
        match &self.bar {
            Some(bar) => bar.above(|| eprintln!("{text}")),
            None if !self.quiet => eprintln!("{text}"),
            None => {}
        }
        let is_long = hours.is_some_and(|hours| hours > LONG);
        if self.asks && is_long && !self.bar.as_ref().map_or_else(goes_on, |bar| bar.above(goes_on)) {
            scheduler.end(SeriesEnd::Stopped);
        }
        Ok(())
    }

    /// Called after the last match.
    pub fn close(self) {
        drop(self.bar);
    }
}

/// Announces what is about to be played.
fn announce(ready: &Ready) -> Result<(), Failure> {
    let (header, screen) = (ready.scheduler.header(), screen::errors());
    let names: Vec<String> = header.bots.iter().map(|bot| screen::harmless(&bot.label)).collect();
    let who = match header.kind {
        SeriesKind::Gauntlet => format!("{} against {}", names[0], names[1..].join(", ")),
        SeriesKind::Sprt if names.len() > 2 => {
            format!("is {} better than {}? (against {})", names[0], names[1], names[2..].join(", "))
        }
        SeriesKind::Sprt => format!("is {} better than {}?", names[0], names[1]),
        SeriesKind::Tournament => format!("{} bots", names.len()),
    };
    for copies in header.copies() {
        let copies: Vec<&str> = copies.iter().map(|&bot| names[bot].as_str()).collect();
        eprintln!(
            "note: {} are copies of the same bot; expect no difference between them",
            copies.join(", ")
        );
    }
    let title = format!("{} · {} · {who}", ready.info.title, screen::harmless(&header.rules.name));
    let (resumed, jobs) = (ready.scheduler.look(|progress| progress.resumed), ready.jobs());
    let resumed = if resumed > 0 { format!(" · resuming after {resumed} matches") } else { String::new() };
    eprintln!("{}", screen.strong(&title));
    let at_once = match (&ready.fleet, jobs) {
        (Some(fleet), _) => format!("on the fleet at {}", fleet.address()),
        (None, 1) => "1 match at a time".to_owned(),
        (None, jobs) => format!("{jobs} matches at a time"),
    };
    eprintln!("{}", screen.dim(&format!("first seed {} · {at_once}{resumed}", header.seed)));
    if let Some(limit) = ready.usual_limit() {
        let note = format!("an answer may take {limit:?}, as usual in a series; --time-limit changes that");
        eprintln!("{}", screen.dim(&note));
    }
    eprintln!("{}", screen.dim(&format!("journal {}", ready.scheduler.journal_path().display())));
    Ok(())
}

/// How the bots are contained, as a sentence.
fn containment(ready: &Ready) -> String {
    match ready.fleet {
        Some(_) => "Each machine of the fleet runs the bots in a sandbox of its own".to_owned(),
        None => sandbox::containment(ready.series.bots.iter().map(|bot| (bot.label.as_str(), &bot.name))),
    }
}

/// Matches per second in this run.
fn speed(progress: &Progress, began: Instant) -> f64 {
    (progress.games - progress.resumed) as f64 / began.elapsed().as_secs_f64().max(1e-3)
}

/// Matches per hour and expected hours, once the first blocks show them; none before. The length of a test is known
/// only roughly.
fn expected(progress: &Progress, header: &JournalHeader, began: Instant) -> Option<(f64, Option<f64>)> {
    let played = progress.games - progress.resumed;
    let blocks: u64 = progress.standing.pairings.iter().map(|pairing| pairing.blocks).sum();
    let enough = blocks >= FIRST_BLOCKS && played >= FIRST_BLOCKS && began.elapsed() >= FIRST_LINE;
    let hours = left(progress, header, began).map(|seconds| seconds / 3600.0);
    enough.then(|| (speed(progress, began) * 3600.0, hours))
}

/// The estimate in one line.
fn how_long(per_hour: f64, hours: Option<f64>, is_test: bool) -> String {
    let rate = format!("about {} matches an hour", thousands(per_hour.round() as u64));
    match hours {
        Some(hours) => format!("{rate}; {}", until_end(hours * 3600.0, is_test)),
        None => format!("{rate}; how many it takes is not known yet"),
    }
}

/// When the end is expected. A test ends with its verdict, after as many matches as that takes.
fn until_end(seconds: f64, is_test: bool) -> String {
    match is_test {
        true => format!("a verdict is likely in {}", duration(seconds)),
        false => format!("{} left", duration(seconds)),
    }
}

/// Asks at the terminal whether to go on with a long series.
fn goes_on() -> bool {
    eprint!(
        "That is more than an hour. Continue? [Y/n] (-n N sets the number of matches, and asks nothing) "
    );
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok() && !answer.trim().to_lowercase().starts_with('n')
}

/// Estimated time left, in seconds.
fn left(progress: &Progress, header: &JournalHeader, began: Instant) -> Option<f64> {
    let speed = speed(progress, began);
    let games = match &progress.standing.test {
        Some(test) => {
            let plan = header.plan(None);
            let round = u64::from(plan.games()) * blocks_in_round(&plan) as u64;
            let more = test.status().expected_blocks? * round;
            progress.all_games.map_or(more, |all| more.min(all.saturating_sub(progress.games)))
        }
        None => progress.all_games?.saturating_sub(progress.games),
    };
    (speed > 0.0).then(|| games as f64 / speed)
}

fn line(progress: &Progress, header: &JournalHeader, began: Instant) -> String {
    let mut parts = Vec::new();
    parts.push(match progress.all_games {
        Some(all) => format!("{} of {} games", thousands(progress.games), thousands(all)),
        None => count(progress.games as usize, "game", "games"),
    });
    match (&progress.standing.test, header.kind) {
        (Some(test), _) => {
            let status = test.status();
            parts
                .push(format!("LLR {:+.2} (bounds {:.2} and {:.2})", status.llr, status.lower, status.upper));
            if status.counted > 0 {
                parts.push(elo(&status.estimate));
            }
        }
        (None, SeriesKind::Tournament) => {
            let leader = standings(progress).into_iter().next();
            parts.extend(leader.map(|(bot, share)| {
                format!("{} leads with {:.1} %", screen::harmless(&header.bots[bot].label), share * 100.0)
            }));
        }
        _ => {
            if let [pairing] = &progress.standing.pairings[..] {
                parts.extend(pairing.estimate().map(|estimate| elo(&estimate)));
            } else if let Some((_, share)) = standings(progress).into_iter().find(|(bot, _)| *bot == 0) {
                parts.push(format!("score {:.1} %", share * 100.0));
            }
        }
    }
    let (counted, blocks) = counted(progress);
    if counted < blocks {
        parts.push(format!("{} of {blocks} rounds repeat", blocks - counted));
    }
    let faults: u64 = progress.faults.values().map(|faulty| faulty.count).sum();
    if faults > 0 {
        parts.push(format!("{faults} faults"));
    }
    if progress.late > 0 {
        parts.push(format!("{} put back (machine late)", progress.late));
    }
    let speed = speed(progress, began);
    parts.push(if speed < 10.0 { format!("{speed:.1} games/s") } else { format!("{speed:.0} games/s") });
    let is_test = progress.standing.test.is_some();
    parts.extend(left(progress, header, began).map(|seconds| until_end(seconds, is_test)));
    parts.join(" · ")
}

/// Bots by their share of opponents left behind, best first.
pub fn standings(progress: &Progress) -> Vec<(usize, f64)> {
    let points = progress.standing.points.iter().enumerate();
    let mut shares: Vec<(usize, f64)> = points
        .filter(|(_, (_, matches))| *matches > 0)
        .map(|(bot, (points, matches))| (bot, points / *matches as f64))
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}

/// Rounds that are evidence, and all rounds.
pub fn counted(progress: &Progress) -> (u64, u64) {
    let pairings = progress.standing.pairings.iter();
    pairings.fold((0, 0), |(counted, all), pairing| (counted + pairing.counted(), all + pairing.rounds()))
}

/// The progress, or the result, as JSON.
pub fn state(
    event: &'static str,
    progress: &Progress,
    header: &JournalHeader,
    began: Instant,
) -> json::State {
    let pairings = header.plan(None).pairings();
    let pairings =
        progress.standing.pairings.iter().zip(pairings).map(|(pairing, bots)| json::PairingState {
            bots,
            blocks: pairing.blocks,
            rounds: pairing.rounds(),
            counted: pairing.counted(),
            same: pairing.same(),
            repeated_starts: pairing.repeated_starts(),
            games: pairing.games(),
            estimate: pairing.estimate(),
        });
    let faults = progress.faults.values().map(|faulty| json::Faults {
        bot: faulty.bot,
        kind: faulty.kind.clone(),
        count: faulty.count,
        matches: faulty.matches,
        first: header.command(&faulty.first),
    });
    let rejected = progress.rejected.values().map(|faulty| json::RejectedOrders {
        bot: faulty.bot,
        count: faulty.count,
        matches: faulty.matches,
        first: header.command(&faulty.first),
    });
    let standings = standings(progress).into_iter().map(|(bot, score)| json::BotScore { bot, score });
    json::State {
        event,
        games: progress.games,
        all_games: progress.all_games,
        resumed: progress.resumed,
        games_per_second: speed(progress, began),
        seconds_left: left(progress, header, began),
        late: progress.late,
        first_late: progress.first_late.clone(),
        void: progress.voids.iter().map(|void| void_json(void, header)).collect(),
        waiting: progress.waiting,
        // Nobody wants all the pairings of a large tournament every second.
        pairings: (header.kind != SeriesKind::Tournament).then(|| pairings.collect()),
        standings: standings.collect(),
        test: progress.standing.test.as_ref().map(agon_stats::Sequential::status),
        faults: faults.collect(),
        rejected: rejected.collect(),
        origin: origin::json(&progress.standing.origin, header),
        steps: steps(progress),
    }
}

/// How long matches took.
fn steps(progress: &Progress) -> Option<json::Steps> {
    let (least, all, most) = progress.steps?;
    Some(json::Steps { least, mean: all as f64 / progress.games as f64, most })
}

/// Prints what went wrong with bots, with the command that plays the first such match again, and how many of their
/// orders the rules rejected.
pub fn faults(
    out: &mut impl io::Write,
    screen: Screen,
    progress: &Progress,
    ready: &Ready,
) -> io::Result<()> {
    let (header, journal) = (ready.scheduler.header(), ready.scheduler.journal_path());
    for faulty in progress.faults.values() {
        let label = screen::harmless(&header.bots[faulty.bot].label);
        let first = faulty.first.result.observed.faults.counted().iter().find(|fault| {
            fault.kind == faulty.kind && faulty.first.bots[usize::from(fault.seat) - 1] == faulty.bot
        });
        let (turn, message) = first.map_or(("", ""), |fault| (&fault.turn, &fault.message));
        let stderr = first.map_or(&[][..], |fault| &fault.stderr);
        let matches = if faulty.matches == 1 { "match" } else { "matches" };
        let what = screen.bad(&format!("{} × {}", faulty.count, faulty.kind));
        writeln!(
            out,
            "{label}: {what} in {} {matches}, first at {}: {}",
            faulty.matches,
            screen::harmless(turn),
            screen::harmless(message)
        )?;
        screen::quote(out, screen, stderr)?;
        writeln!(out, "  {}", screen::harmless(&header.command(&faulty.first)))?;
        if let Ok(Some(replay)) = faulty.first.kept_beside(&journal) {
            let replay = replay.display().to_string();
            writeln!(out, "  {}", screen.dim(&format!("replay: {}", screen::harmless(&replay))))?;
        }
    }
    for Faulty { bot, count, matches, first, .. } in progress.rejected.values() {
        let label = screen::harmless(&header.bots[*bot].label);
        let orders = if *count == 1 { "order" } else { "orders" };
        let games = if *matches == 1 { "match" } else { "matches" };
        writeln!(out, "{label}: {} {orders} rejected by the rules in {matches} {games}", thousands(*count))?;
        writeln!(out, "  {}", screen::harmless(&header.command(first)))?;
    }
    Ok(())
}

/// Prints the notes that close every series.
pub fn notes(out: &mut impl io::Write, screen: Screen, ready: &Ready) -> io::Result<()> {
    let progress = ready.scheduler.look(Clone::clone);
    let path = ready.scheduler.journal_path();
    origin::show(out, screen, &progress.standing.origin, ready.scheduler.header())?;
    if let Some(json::Steps { least, mean, most }) = steps(&progress) {
        writeln!(out, "Length of a match: {least} to {most} steps, {mean:.1} on average")?;
    }
    writeln!(out, "Journal: {}", path.display())?;
    if progress.replays > 0 {
        let folder = ready.series.replays.folder().display();
        writeln!(out, "Replays: {} in {folder}", thousands(progress.replays))?;
    }
    let (counted, blocks) = counted(&progress);
    if counted < blocks {
        let starts: u64 = progress.standing.pairings.iter().map(Pairing::repeated_starts).sum();
        writeln!(
            out,
            "Note: {} of {} rounds make nothing more certain: from {} these bots gave the same answers every time, so \
             playing again proves nothing; {}.",
            thousands(blocks - counted),
            thousands(blocks),
            count(starts as usize, "start", "starts"),
            ready.more_starts()
        )?;
    }
    let header = ready.scheduler.header();
    for bot in progress.standing.silent() {
        let label = screen::harmless(&header.bots[bot].label);
        let text = format!(
            "{label} never gave an answer in the form of the game: its results say nothing about how it plays."
        );
        writeln!(out, "{} {text}", screen.bad("Warning:"))?;
    }
    for (number, pairing) in progress.standing.pairings.iter().enumerate() {
        let Some(drift) = pairing.drift() else { continue };
        let against = match header.kind {
            SeriesKind::Gauntlet if !header.plan(None).mixed() => {
                format!(" against {}", screen::harmless(&header.bots[number + 1].label))
            }
            _ => String::new(),
        };
        writeln!(
            out,
            "Note: the results{against} drift: about {:.0} % in the first half, {:.0} % in the second (by luck less than once in a \
             thousand series). A bot that learns or slows down has no one strength.",
            drift.first * 100.0,
            drift.second * 100.0
        )?;
    }
    let pairings = &progress.standing.pairings;
    let all_same = |pairing: &Pairing| pairing.blocks >= SAME && pairing.same() == pairing.blocks;
    if header.kind == SeriesKind::Sprt && pairings.iter().all(all_same) {
        writeln!(
            out,
            "Note: in all {} blocks the two bots gave exactly the same answers. Did you run the version that you changed?",
            thousands(pairings[0].blocks)
        )?;
    }
    voids(out, screen, &progress, ready.scheduler.header())?;
    if progress.late > 0 {
        let matches = if progress.late == 1 { "match was" } else { "matches were" };
        let first = progress.first_late.iter().map(|why| format!(" (first: {why})")).collect::<String>();
        let late = thousands(progress.late);
        writeln!(
            out,
            "Note: {late} {matches} put back and played again because this machine was late{first}."
        )?;
    }
    if progress.waiting > 0 && progress.end != Some(agon_contest::SeriesEnd::Complete) {
        writeln!(out, "Note: {}.", incomplete(progress.waiting))?;
    }
    for note in crate::series::changed_meanwhile(ready) {
        writeln!(out, "{} {note}", screen.bad("Warning:"))?;
    }
    writeln!(out, "{}", screen.dim(&screen::harmless(&format!("Note: {}.", containment(ready)))))
}

/// How many void matches are listed.
const LISTED_VOIDS: usize = 5;

/// Prints the matches that could not be played fairly: which, why, and what to do.
fn voids(
    out: &mut impl io::Write,
    screen: Screen,
    progress: &Progress,
    header: &JournalHeader,
) -> io::Result<()> {
    let Some(first) = progress.voids.first() else { return Ok(()) };
    let matches = count(progress.voids.len(), "match", "matches");
    let text = format!("Void: {matches} could not be played fairly in {} attempts each.", first.tries);
    writeln!(out, "{} The rest of their blocks does not count.", screen.bad(&text))?;
    for void in progress.voids.iter().take(LISTED_VOIDS) {
        let cause = match void.culprit {
            Some(bot) => format!("because of {}", screen::harmless(&header.bots[bot].label)),
            None => "because of other load".to_owned(),
        };
        let why = screen::harmless(&void.why);
        writeln!(out, "  match {} of block {} (seed {}), {cause}: {why}", void.game, void.block, void.seed)?;
    }
    if progress.voids.len() > LISTED_VOIDS {
        writeln!(out, "  and {} more", progress.voids.len() - LISTED_VOIDS)?;
    }
    let by_bots: BTreeSet<usize> = progress.voids.iter().filter_map(|void| void.culprit).collect();
    for bot in by_bots {
        let label = screen::harmless(&header.bots[bot].label);
        writeln!(out, "  {label} keeps the machine busy outside its turns: fix it, or play without it.")?;
    }
    if progress.voids.iter().any(|void| void.culprit.is_none()) {
        writeln!(
            out,
            "  Lower -j or make the machine quieter; the same command with --resume tries them again."
        )?;
    }
    Ok(())
}

/// A match that stayed void, as JSON.
fn void_json(void: &VoidEntry, header: &JournalHeader) -> json::VoidMatch {
    json::VoidMatch {
        block: void.block,
        game: void.game,
        seed: void.seed.to_string(),
        bots: void.bots.clone(),
        why: void.why.clone(),
        culprit: void.culprit,
        tries: void.tries,
        command: header.command_of(void.block, void.seed, &void.bots),
    }
}

/// `Elo +43 (+21 to +65)`.
pub fn elo(estimate: &Estimate) -> String {
    format!("Elo {} ({})", elo_point(estimate), elo_interval(estimate))
}

/// Says which finished matches do not count.
fn incomplete(matches: u64) -> String {
    match matches {
        1 => "1 match does not count, because its block, or an earlier one, is incomplete".to_owned(),
        _ => format!(
            "{} matches do not count, because their blocks, or earlier ones, are incomplete",
            thousands(matches)
        ),
    }
}

/// The difference in Elo; unbounded when every game was won or lost.
pub fn elo_point(estimate: &Estimate) -> String {
    match estimate.elo {
        Some(elo) => whole(elo),
        None if estimate.score > 0.5 => "+∞".to_owned(),
        None => "-∞".to_owned(),
    }
}

/// The interval of the difference.
pub fn elo_interval(estimate: &Estimate) -> String {
    let low = estimate.elo_low.map_or_else(|| "-∞".to_owned(), whole);
    let high = estimate.elo_high.map_or_else(|| "+∞".to_owned(), whole);
    format!("{low} to {high}")
}

/// `+43`, `-7` and `0`, which has no sign.
pub fn whole(elo: f64) -> String {
    match elo.round() {
        0.0 => "0".to_owned(),
        elo => format!("{elo:+.0}"),
    }
}

/// A duration as people say it.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_written_and_times_are_short() {
        assert_eq!([43.4, -7.0, 0.4, -0.4].map(whole), ["+43", "-7", "0", "0"]);
        assert_eq!(how_long(3600.4, Some(2.0), false), "about 3,600 matches an hour; 2.0 h left");
        assert_eq!(
            how_long(3600.4, Some(0.1), true),
            "about 3,600 matches an hour; a verdict is likely in 6 min"
        );
        assert_eq!(
            how_long(10.0, None, true),
            "about 10 matches an hour; how many it takes is not known yet"
        );
        assert_eq!([3.2, 120.0, 7200.0, 1e6].map(duration), ["3 s", "2 min", "2.0 h", "11.6 days"]);
    }
}
