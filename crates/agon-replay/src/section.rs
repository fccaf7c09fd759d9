//! A step of a replay as a section of a spec file: the position, the answers, and their effects.
//!
//! Such a section is a test as soon as it is in a game's `spec/` folder (`crates/agon-testkit/src/spec.rs`). It begins in
//! that very position and expects everything the step changed; whoever keeps it removes what its rule does not decide.

use std::collections::HashSet;
use std::fmt::Write as _;

use agon_game::leaves::leaves;
use agon_game::{Absence, Answer, Heard, PackedAnswer, Seat, Session, is_rule_id};
use agon_spec::{MapSpec, MatchSpec, RulesSpec};

use crate::Replay;

/// Upper limit on the scene changes and on the events that are expected.
const MOST_FACTS: usize = 60;
/// Digits of a position per line.
const DIGITS: usize = 96;

/// Step `step` of a replay, from 1, as a section; `session` is at the start of its match. `rule` is the rule id it is
/// about; if none or empty, the rule of the first order the step rejected.
///
/// # Errors
/// A sentence for people: no such step, no rule, or a match that cannot be computed again.
pub fn section(
    replay: &Replay,
    session: &mut dyn Session,
    step: u32,
    rule: Option<&str>,
) -> Result<String, String> {
    let steps = replay.steps.len();
    let index = (step as usize).checked_sub(1).filter(|&index| index < steps);
    let index = index.ok_or_else(|| format!("this replay has the steps 1 to {steps}, not {step}"))?;
    for number in 0..index {
        replay.play_step(number, session)?;
    }
    let before = session.scene();
    let mut text = position(session)?;
    let moment = session.moment();
    let answers = &replay.steps[index].answers;
    text += &orders(session, answers);
    session.keep_events();
    replay.play_step(index, session)?;
    let rejected = session.rejections().first().map(|one| one.rule);
    let rule = rule.filter(|rule| !rule.is_empty()).or(rejected);
    let game = &replay.header.game;
    let rule = rule.ok_or_else(|| {
        format!(
            "no order was rejected in this turn: name the rule that the section is about (in a terminal with --rule ID); `agon rules {game}` lists the rules"
        )
    })?;
    if !is_rule_id(rule) {
        return Err(format!("`{rule}` is not the id of a rule; `agon rules {game}` lists the rules"));
    }
    text += &facts(session, answers, &leaves(&before));
    let who: Vec<&str> = replay.header.seats.iter().map(|seat| seat.label.as_str()).collect();
    let who = who.join(" and ").replace(['\n', '`', '#'], " ");
    Ok(format!("## {rule} {moment}\n\nFrom a match of {who}.\n\n{text}"))
}

/// The position, drawn for people and described for the runner.
fn position(session: &dyn Session) -> Result<String, String> {
    let recipe = session.recipe();
    let mut text = String::new();
    let mut block = |kind: &str, content: &str| {
        // Three backquotes at the start of a line would close the block.
        let content = content.replace("\n```", "\n ```");
        write!(text, "```{kind}\n{}\n```\n", content.trim_end_matches('\n')).expect("writing to a string");
    };
    block("text", &session.picture(None).plain());
    let spec = MatchSpec::of_recipe(session.info(), recipe, []);
    let mut lines = Vec::new();
    match spec.rules {
        RulesSpec::Default => {}
        RulesSpec::Named(name) => lines.push(format!("rules: {name}")),
        RulesSpec::Text { text, .. } => block("rules", &text),
    }
    match spec.map {
        MapSpec::Default => {}
        MapSpec::Generated => lines.push("map: generate".to_owned()),
        MapSpec::Named(name) => lines.push(format!("map: {name}")),
        MapSpec::Text { content, .. } => block("map", &String::from_utf8_lossy(&content)),
    }
    lines.push(format!("seats: {}", recipe.seats));
    lines.push(format!("seed: {}", recipe.seed));
    let position = session.position();
    let drawn = position.drawn(recipe.seed).ok_or("this match has drawn too often to be told as a test")?;
    if drawn > 0 {
        lines.push(format!("drawn: {drawn}"));
    }
    lines.extend(spec.sets.iter().map(|(rule, value)| format!("set {rule}: {value}")));
    let digits: String = position.state().iter().map(|byte| format!("{byte:02x}")).collect();
    for from in (0..digits.len()).step_by(DIGITS) {
        lines.push(format!("state: {}", &digits[from..digits.len().min(from + DIGITS)]));
    }
    block("position", &lines.join("\n"));
    Ok(text)
}

/// The answers as the bots of these seats would send them.
fn orders(session: &mut dyn Session, answers: &[(Seat, PackedAnswer)]) -> String {
    let mut text = "```orders\n".to_owned();
    for (seat, answer) in answers {
        session.ask(*seat, &mut Vec::new());
        let said = match answer {
            Answer::Missing(Absence::TimedOut) => "(timeout)".to_owned(),
            Answer::Missing(Absence::Gone) => "(gone)".to_owned(),
            Answer::Missing(Absence::NeverStarted) => "(never started)".to_owned(),
            Answer::Malformed { think_ms, .. } => format!("{}(malformed)", after(*think_ms)),
            Answer::Given { order, think_ms } => {
                format!("{}{}", after(*think_ms), spoken(session, *seat, order))
            }
        };
        writeln!(text, "{seat}: {said}").expect("writing to a string");
    }
    text + "```\n"
}

/// How long an answer took, if the rules count it.
fn after(think_ms: u32) -> String {
    if think_ms == 0 { String::new() } else { format!("(after {think_ms} ms) ") }
}

/// An order as a message; as its bytes if the message would not be heard as the same order.
fn spoken(session: &mut dyn Session, seat: Seat, order: &[u8]) -> String {
    let mut message = Vec::new();
    if session.say(seat, order, &mut message)
        && let Ok(message) = String::from_utf8(message)
        && !message.contains(['\r', '\\'])
        && message.trim() == message
        && !message.is_empty()
        && is_heard(session, seat, &message, order)
    {
        return message.replace('\n', "\\n");
    }
    format!("(packed {})", order.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn is_heard(session: &mut dyn Session, seat: Seat, message: &str, order: &[u8]) -> bool {
    let mut lines = message.split('\n').peekable();
    while let Some(line) = lines.next() {
        match session.hear(seat, line.as_bytes()) {
            Heard::More | Heard::Ignore(_) => {}
            Heard::Answer(heard) => return heard == order && lines.peek().is_none(),
            _ => return false,
        }
    }
    false
}

/// The effects of the step: what was refused, what happened, what changed, and whether the match goes on.
fn facts(session: &dyn Session, answers: &[(Seat, PackedAnswer)], before: &[String]) -> String {
    let malformed = answers.iter().filter(|(_, answer)| matches!(answer, Answer::Malformed { .. }));
    let mut facts: Vec<String> = malformed.map(|(seat, _)| format!("{seat} malformed")).collect();
    let rejected = session.rejections().iter().take(MOST_FACTS);
    facts.extend(rejected.map(|one| format!("{} rejected {}: {}", one.seat, one.index, one.rule)));
    let events: Vec<Box<serde_json::value::RawValue>> =
        serde_json::from_str(session.events_json().get()).unwrap_or_default();
    facts.extend(events.iter().take(MOST_FACTS).map(|event| format!("event {}", event.get())));
    let known: HashSet<&String> = before.iter().collect();
    let after = leaves(&session.scene());
    let changed = after.iter().filter(|line| !known.contains(line)).take(MOST_FACTS);
    facts.extend(changed.map(|line| format!("scene {line}")));
    match session.outcome() {
        None => facts.push("goes on".to_owned()),
        Some(outcome) => facts.extend(outcome.facts()),
    }
    format!("```expect\n{}\n```\n", facts.join("\n"))
}
