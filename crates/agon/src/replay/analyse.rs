//! `agon analyse`: the value of the orders of a match, found by playing on from each of its turns.

use agon_desk::replays::TurnCount;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use agon_desk::analysed::{Analysed, OrderTexts, costly, marks, refine};
use agon_desk::replays::read;
use agon_desk::trial::TriedOrder;
use agon_view::analysis::{Analysis, Mark, Mean, Unanalysable};
use clap::Args;

use crate::common::sandbox::SandboxOptions;
use crate::common::screen::{self, Screen, folded, harmless};
use crate::common::table::shortened;
use crate::common::{self, Done, Failure};
use crate::replay::with_bot::WithBotOptions;

/// Examples below the help of `agon analyse`.
pub const EXAMPLES: &str = "From each turn a built-in bot, the policy, plays the match to its end many times: a seat's chance is how often it comes
first. An order is marked if the policy's own order in its place would have changed the chance beyond noise. That is
the policy's opinion, not proof of a mistake: a better bot may have known more. By default the policy is the strongest
of the game that plays a match in milliseconds.
With --with-bot your bot is the judge: it is taken to the three turns that cost its seat most, and plays on with its own order
and with the policy's, in 20 futures each. If the policy's order helps it beyond noise, its own was a mistake.
In games with fog an order is judged by what its seat could know: in each pair of futures, the units it could not see are
placed somewhere else that they could have reached. With --with-bot the match continues from the real position.

Examples:
  agon analyse lost.replay                 the orders that cost or won most, after 10 seconds
  agon analyse lost.replay --budget 2m     the same, with more certainty
  agon analyse lost.replay --turn 17       every order of one turn
  agon analyse lost.replay --policy greedy by another built-in bot; options follow as in hunter?nodes=1000
  agon analyse lost.replay --with-bot my-bot --seat 2      which of its orders were mistakes
  agon analyse lost.replay --json          every turn with its chances, for scripts";

/// Options of `agon analyse`.
#[derive(Args, Debug)]
pub struct AnalyseOptions {
    /// The replay.
    pub file: PathBuf,
    /// How long to play on: `500ms`, `10s`, `2m`
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = budget)]
    pub budget: Duration,
    /// The built-in bot that plays on, with its options: `hunter?nodes=1000` [default: the strongest quick one]
    #[arg(long, value_name = "BOT")]
    pub policy: Option<String>,
    /// Only this turn, counted as in `agon replay show`
    #[arg(long, short, value_name = "N")]
    pub turn: Option<u32>,
    /// Prints the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub own: WithBotOptions,
    #[command(flatten)]
    pub sandbox: SandboxOptions,
}

/// Explains the sampling in games with fog.
const SAMPLED: &str = "In each pair, the units a seat could not see are placed somewhere else: an order is judged by what its seat could know.";
/// How many marked orders are listed.
const LISTED: usize = 10;

/// Parses a time: a number and its unit.
fn budget(text: &str) -> Result<Duration, String> {
    let split = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = match unit {
        "ms" => 1,
        "s" | "" => 1_000,
        "m" | "min" => 60_000,
        _ => 0,
    };
    let time = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
        .filter(|ms| (1..=86_400_000).contains(ms));
    time.map(Duration::from_millis)
        .ok_or_else(|| "write a time up to a day with its unit: 500ms, 10s, 2m".to_owned())
}

/// Runs `agon analyse`.
pub fn run(options: &AnalyseOptions) -> Done {
    let replay = read(&options.file)?;
    let (shown, steps) = (options.file.display(), replay.steps.len());
    let count = TurnCount::of(&replay);
    if let Some(turn) = options.turn.filter(|turn| count.step(*turn) as usize >= steps) {
        let (first, last) = (count.first(), count.turn(steps.saturating_sub(1) as u32));
        return Err(Failure::usage(format!("--turn {turn}: this match has the turns {first} to {last}")));
    }
    let only = options.turn.map(|turn| count.step(turn) + 1);
    let unusable = |why: String| Failure::usage(format!("{shown}: {why}"));
    let mut analysis = Analysis::open(&replay, options.policy.as_deref()).map_err(|why| match why {
        Unanalysable::Unsuited(why) => Failure::usage(why),
        why => unusable(why.to_string()),
    })?;
    let own = options.own.seating(&replay, analysis.policy(), &options.sandbox.bots())?;
    let began = Instant::now();
    refine(&mut analysis, only, options.budget, common::stop_on_ctrl_c()).map_err(&unusable)?;
    let marks = marks(&analysis, only, own.as_ref().map(|own| own.seat));
    let tried = match &own {
        Some(own) => own.try_all(&options.own.trial()?, &replay, &mut analysis, &costly(&marks, only))?,
        None => Vec::new(),
    };
    let mut texts = OrderTexts::open(replay).map_err(&unusable)?;
    if options.json {
        let analysed = Analysed::of(&analysis, &mut texts, &tried, steps, only, count);
        return common::print_json(&mut io::stdout().lock(), &analysed);
    }
    let screen = screen::output();
    let mut out = io::stdout().lock();
    let policy = analysis.policy().to_owned();
    writeln!(
        out,
        "{}",
        screen.dim(&format!(
            "{policy} played {} pairs of futures in {:.1} s",
            analysis.pairs(),
            began.elapsed().as_secs_f64()
        ))
    )?;
    if analysis.is_sampled() {
        writeln!(out, "{}", screen.dim(SAMPLED))?;
    }
    if let Some(step) = only {
        writeln!(out, "{}", screen.strong(&harmless(analysis.moment(step))))?;
        for (seat, chance) in (1..).zip(analysis.chances(step)) {
            writeln!(out, "  seat {seat}: {} % to come first after it", points(chance))?;
        }
    }
    let listed = if only.is_some() { marks.len() } else { LISTED };
    for mark in marks.iter().take(listed) {
        line(&mut out, screen, &mut texts, &mut analysis, mark)?;
        for tried in tried.iter().filter(|tried| tried.step == mark.step) {
            verdict(&mut out, screen, tried)?;
        }
    }
    if marks.is_empty() && only.is_none() {
        writeln!(
            out,
            "No order changed the chances beyond noise, as far as {policy} can tell in this time."
        )?;
    } else if marks.len() > listed {
        writeln!(out, "{}", screen.dim(&format!("and {} more; --json has all", marks.len() - listed)))?;
    }
    Ok(())
}

/// `34 ± 3`: a mean and twice its error, in percentage points.
fn points(mean: &Mean) -> String {
    format!("{:.0} ± {:.0}", 100.0 * mean.mean(), 200.0 * mean.error())
}

/// With a larger error than this, in points of chance, it is not known whether two orders are as good as each other.
const UNSURE: f64 = 10.0;

/// Prints one order: what it was, and what the policy would have made of it.
fn line(
    out: &mut impl io::Write,
    screen: Screen,
    texts: &mut OrderTexts,
    analysis: &mut Analysis,
    mark: &Mark,
) -> io::Result<()> {
    let text = texts.order(mark.step, mark.seat.number()).unwrap_or_else(|| "no order".to_owned());
    let (gain, known) = (mark.gain.mean(), mark.gain.mean().abs() > 2.0 * mark.gain.error());
    let error = 200.0 * mark.gain.error();
    let points = format!("{:.0} ± {error:.0} points", 100.0 * gain.abs());
    let told = match known {
        // No evidence is not evidence that nothing changes.
        false if error > UNSURE => format!("is not known yet: {:+.0} ± {error:.0} points", 100.0 * gain),
        false => format!("would be about the same: {:+.0} ± {error:.0} points", 100.0 * gain),
        true if gain > 0.0 => format!("would be {} higher", screen.bad(&points)),
        true => format!("would be {} lower", screen.good(&points)),
    };
    writeln!(
        out,
        "{}, seat {}: {}",
        harmless(analysis.moment(mark.step)),
        mark.seat,
        shortened(&harmless(&text), 40)
    )?;
    let policy = analysis.policy().to_owned();
    let instead = match analysis
        .instead(mark.step, mark.seat, 0)
        .and_then(|better| analysis.text(mark.step, mark.seat, &better))
    {
        Ok(order) if order.trim() == text.trim() => format!("its own order, which is {policy}'s"),
        Ok(order) => {
            let order = order.trim().lines().collect::<Vec<_>>().join("; ");
            format!("`{}`, {policy}'s order", shortened(&harmless(&order), 40))
        }
        Err(_) => format!("{policy}'s order"),
    };
    let told = format!("    with {instead}, the chance of seat {} {told}", mark.seat);
    writeln!(out, "{}", folded(&told))
}

/// Prints what the bot itself made of the other order.
fn verdict(out: &mut impl io::Write, screen: Screen, tried: &TriedOrder) -> io::Result<()> {
    if let Some(fault) = tried.gone() {
        let fault = harmless(&fault.in_a_line());
        let told = format!("    the bot cannot be asked: it ended on the way there: {fault}");
        return writeln!(out, "{}", folded(&told));
    }
    let better = shortened(&harmless(&tried.better_in_a_line()), 40);
    let gain = format!("{}{}", if tried.gain.mean() > 0.0 { "+" } else { "" }, points(&tried.gain));
    let futures = tried.gain.count;
    let found = if tried.is_mistake() { screen.bad("mistake") } else { "no mistake that shows".to_owned() };
    let told = format!(
        "    {found}: with `{better}` the bot itself gains {gain} percentage points, in {futures} futures"
    );
    writeln!(out, "{}", folded(&told))?;
    if let Some(fault) = tried.fault_in_a_line() {
        writeln!(out, "{}", folded(&format!("    on the way it committed a fault: {}", harmless(&fault))))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_number_and_a_unit() {
        assert_eq!(budget("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(budget("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(budget("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["", "s", "0s", "ten", "-3s", "3h", "99999999999999999999s", "4000m"] {
            assert!(budget(wrong).is_err(), "{wrong}");
        }
    }
}
