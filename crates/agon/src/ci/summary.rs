//! The summary of a run in Markdown. What bots, compilers and branches bring is quoted, so that it cannot pass for ours.

use std::fmt::Write as _;

use agon_bot::words::typed;
use agon_contest::journal::count;

use crate::ci::{CiCase, CiResult, CiStatus};
use crate::common::screen::{harmless, harmless_lines};
use crate::series::json::{DecisionWord, State};
use crate::series::{progress, sprt};

/// The most lines of a message, and the most characters of all of them.
const MOST: (usize, usize) = (40, 4_000);

/// The verdict in words.
pub fn verdict(result: &CiResult) -> String {
    let other = result.other();
    let not_worse = result.test.elo0 + result.test.elo1 <= 0.0;
    if let Some(step) = result.steps.iter().find(|step| step.status == CiStatus::Error) {
        return format!("Not decided: agon or the machine failed at {}", step.step);
    }
    match result.decision {
        Some(DecisionWord::Better) if not_worse => format!("Not worse than {other}"),
        Some(DecisionWord::Better) => format!("Better than {other}"),
        Some(DecisionWord::NotBetter) => format!("Not better than {other}"),
        Some(DecisionWord::Worse) => format!("Worse than {other}"),
        Some(DecisionWord::Undecided) if result.series.is_none() => {
            "Not decided: nothing was compared".to_owned()
        }
        Some(DecisionWord::Undecided) => format!("Not decided whether it is better than {other}"),
        Some(DecisionWord::Repeated) => format!("Not decided: it plays {other} the same way again and again"),
        Some(DecisionWord::Equal) => format!("The same bot as on {other}"),
        Some(DecisionWord::NeverAnswered) => format!("Not decided: against {other} a bot never answered"),
        None => match result.steps.iter().find(|step| step.status == CiStatus::Failed) {
            Some(step) => format!("Broken: {} failed", step.step),
            None => "Passed, and compared with nothing".to_owned(),
        },
    }
}

/// The summary.
pub fn of(result: &CiResult) -> String {
    let mut text = format!("## {}\n\n| step | result | time |\n|---|---|---:|\n", plain(&result.verdict));
    for step in &result.steps {
        let seen = if step.status == CiStatus::Error { "agon or the machine failed" } else { &step.seen };
        let time = progress::duration(step.seconds);
        let _ = writeln!(text, "| {} | {} | {time} |", step.step, plain(seen));
    }
    match &result.why {
        None => {}
        Some(why) if !why.contains('\n') => text += &format!("\nWhy: {}\n", plain(why)),
        Some(why) => text += &format!("\nWhy:\n\n{}", fenced("text", why)),
    }
    if let Some(series) = &result.series {
        compared(&mut text, result, series);
    }
    let mut cases = result.steps.iter().flat_map(|step| step.cases.iter().map(move |case| (step.step, case)));
    // A comparison that ends badly is no failure of a check.
    let is_bad = |step, status| status == CiStatus::Error || status == CiStatus::Failed && step != "sprt";
    let failed = cases.find(|(step, case)| is_bad(*step, case.status));
    if let Some((step, case)) = failed {
        let message = case.message.as_deref().unwrap_or_default();
        let what = if case.name == step { String::new() } else { format!(", {}", plain(&case.name)) };
        let _ = write!(text, "\nFirst failure: {step}{what}\n\n{}", fenced("text", message));
    }
    let _ = write!(text, "\nAt home:\n\n{}", fenced("sh", &at_home(result, failed.map(|(_, case)| case))));
    text
}

/// What the matches say.
fn compared(text: &mut String, result: &CiResult, series: &State) {
    let Some(status) = &series.test else { return };
    if status.blocks > 0 {
        let _ = writeln!(text, "\n- Elo {}", sprt::elo(status));
    } else {
        text.push('\n');
    }
    let all = series.pairings.iter().flatten().next().map(|pairing| pairing.games);
    let shares = all.map_or_else(String::new, |all| {
        format!(" ({} won, {} drawn, {} lost)", all.wins, all.draws, all.losses)
    });
    let _ = writeln!(text, "- Matches: {}{shares}", series.games);
    let test = &result.test;
    let _ = writeln!(
        text,
        "- LLR {:+.2}, bounds {:.2} and {:.2} (elo0 {}, elo1 {}, {})",
        status.llr, status.lower, status.upper, test.elo0, test.elo1, test.model
    );
    if !series.void.is_empty() || series.late > 0 {
        let _ = writeln!(
            text,
            "- Void: {}; put back because the machine was late: {}",
            series.void.len(),
            series.late
        );
    }
    if series.faults.is_empty() {
        text.push_str("- Faults: none\n");
        return;
    }
    let mut faults = String::new();
    for fault in &series.faults {
        let who = if fault.bot == 0 { "this version" } else { "the base" };
        let matches = count(fault.matches as usize, "match", "matches");
        let _ = writeln!(faults, "{who}: {} × {} in {matches}\n  {}", fault.count, fault.kind, fault.first);
    }
    let _ = write!(text, "\nFaults:\n\n{}", fenced("text", &faults));
}

/// What to type at home to see the same.
fn at_home(result: &CiResult, failed: Option<&CiCase>) -> String {
    let mut lines = Vec::new();
    if !result.folder.is_empty() {
        lines.push(format!("cd {}", typed(&result.folder)));
    }
    let mut all = "agon ci".to_owned();
    if let Some(commit) = &result.commit {
        let _ = write!(all, " --base {commit}");
    }
    let (test, usual) = (&result.test, &sprt::USUAL);
    for (name, own, usual) in [("elo0", test.elo0, usual.elo0), ("elo1", test.elo1, usual.elo1)] {
        if own != usual {
            let _ = write!(all, " --{name} {own}");
        }
    }
    lines.push(failed.and_then(|case| case.again.clone()).unwrap_or(all));
    lines.join("\n")
}

/// Text in which Markdown sees no signs of its own.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for sign in harmless(text).chars() {
        if "\\`*_[]<>#|~&!".contains(sign) {
            plain.push('\\');
        }
        plain.push(sign);
    }
    plain
}

/// A block of lines as they are, in a fence that nothing in them ends. Too many are cut.
fn fenced(kind: &str, text: &str) -> String {
    let (most_lines, most_signs) = MOST;
    let text = harmless_lines(text);
    let text = text.trim();
    let mut shown: Vec<&str> = text.lines().take(most_lines).collect();
    if text.lines().nth(most_lines).is_some() {
        shown.push("…");
    }
    let mut shown = shown.join("\n");
    if let Some((end, _)) = shown.char_indices().nth(most_signs) {
        shown.truncate(end);
        shown.push('…');
    }
    let longest = shown.split(|sign| sign != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{kind}\n{shown}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_foreign_ends_a_fence_or_begins_markup() {
        assert_eq!(fenced("text", "a ``` b\n````"), "`````text\na ``` b\n````\n`````\n");
        assert_eq!(plain("feature/a|b`<img>_x_"), "feature/a\\|b\\`\\<img\\>\\_x\\_");
        assert!(!plain("a\nb\u{1b}[31m").contains(['\n', '\u{1b}']));
        let long = fenced("text", &"x\n".repeat(1_000));
        assert!(long.lines().count() == MOST.0 + 3 && long.contains("\n…\n```"), "{long}");
        assert!(fenced("text", &"é".repeat(10_000)).chars().count() < MOST.1 + 20);
    }
}
