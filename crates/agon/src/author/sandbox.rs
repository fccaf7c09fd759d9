//! `agon sandbox`: attacks the sandbox of this machine, to prove that it holds.

use std::io::{self, Write as _};
use std::time::Instant;

use agon_sandbox::Level;
use agon_sandbox::suite::{self, AttackChoice, AttackOutcome};
use agon_worker::{fairness, holding};
use clap::{Args, Subcommand, ValueEnum};

use crate::author::json;
use crate::common::screen::{self, Screen};
use crate::common::table::{Cell, Table};
use crate::common::{self, Done, Failure};

/// Examples for the help of `agon sandbox test`.
pub const EXAMPLES: &str = "Each attack is a small program that tries what a hostile bot would try, and each has a control in which it must succeed:
an attack that fails everywhere proves nothing. Network attempts aim only at the loopback.
With --fairness they play real matches instead, and try to gain time, or to cost their opponent some.

Exit code 0: every attack that must be held was held; 1: one won, or a control did not; 3: nothing could be run.

Examples:
  agon sandbox test                     all attacks, a table at the end
  agon sandbox test --controls          and the controls, about a minute
  agon sandbox test --level C           what wins on a machine without namespaces
  agon sandbox test memory fork-bomb    only those whose names begin like this
  agon sandbox test --fairness          who thinks in another's time, hides what it uses, or blames others
  agon sandbox test --json";

/// `agon sandbox ...`.
#[derive(Subcommand, Debug)]
pub enum SandboxCommand {
    /// Attack the sandbox: more than a hundred attempts, and what stopped each
    #[command(after_help = EXAMPLES)]
    Test(TestOptions),
}

/// Options of `agon sandbox test`.
#[derive(Args, Debug)]
pub(crate) struct TestOptions {
    /// Only attacks whose name begins with one of these
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Also runs each attack where it must succeed, to prove that it is a real attack
    #[arg(long)]
    pub controls: bool,
    /// Attacks the referee's clock and verdicts instead of the sandbox
    #[arg(long)]
    pub fairness: bool,
    /// Acts as if the machine allowed no more than this level
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<Worse>,
    /// Prints the outcomes as JSON: `{"attacks": [...]}`
    #[arg(long)]
    pub json: bool,
}

/// A sandbox level to ask for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Worse {
    /// The best level
    #[value(name = "A", alias = "a")]
    A,
    /// Without a cgroup
    #[value(name = "B", alias = "b")]
    B,
    /// Without namespaces
    #[value(name = "C", alias = "c")]
    C,
}

/// Runs `agon sandbox ...`.
pub fn run(command: &SandboxCommand) -> Done {
    let SandboxCommand::Test(options) = command;
    let program = std::env::current_exe()?;
    let level = options.level.map(|level| match level {
        Worse::A => Level::A,
        Worse::B => Level::B,
        Worse::C => Level::C,
    });
    let known: Vec<&str> = match options.fairness {
        true => fairness::all().iter().map(|attack| attack.name).collect(),
        false => agon_sandbox::attack::all().iter().map(|attack| attack.name).collect(),
    };
    if let Some(name) =
        options.names.iter().find(|start| !known.iter().any(|attack| attack.starts_with(*start)))
    {
        let near = agon_game::setup::nearest(name, known.iter().copied());
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(Failure::usage(format!("no attack has a name that begins with `{name}`{near}")));
    }
    let wanted = AttackChoice { controls: options.controls, level, only: options.names.clone() };
    let begun = Instant::now();
    let results = match options.fairness {
        true => fairness::run(&wanted, &mut |_| {}),
        false => suite::run(&program, &wanted, &mut |_| {}).map_err(|refusal| refusal.to_string()),
    };
    let results = results.map_err(|why| Failure::own(format!("{why}\nagon doctor says what to do")))?;
    let bad = results.attacks.iter().filter(|outcome| outcome.is_bad()).count();
    let mut out = io::stdout().lock();
    if options.json {
        let attacks = results.attacks.iter().map(as_json).collect();
        common::print_json(&mut out, &json::SandboxTest { suites: holding::suites(), attacks })?;
        return if bad > 0 { Err(Failure::Check) } else { Ok(()) };
    }
    let screen = screen::output();
    write!(out, "{}", table(&results.attacks, screen).text(screen::room()))?;
    let count =
        |which: fn(&AttackOutcome) -> bool| results.attacks.iter().filter(|outcome| which(outcome)).count();
    let took = begun.elapsed().as_secs_f64();
    writeln!(
        out,
        "\nlevel {}: {} attacks in {took:.1} s: {} held, {} won as expected at this level, {} won unexpectedly",
        results.level,
        results.attacks.len(),
        count(|outcome| !outcome.won),
        count(|outcome| outcome.won && outcome.may_win),
        count(|outcome| outcome.won && !outcome.may_win),
    )?;
    if options.controls {
        let controls: Vec<_> =
            results.attacks.iter().filter_map(|outcome| outcome.control.as_ref()).collect();
        let how = |won: Option<bool>| controls.iter().filter(|control| control.won == won).count();
        let (won, lost, absent) = (how(Some(true)), how(Some(false)), how(None));
        writeln!(out, "controls: {won} won, {lost} did not, {absent} need what this machine lacks")?;
    }
    writeln!(out, "suites {}: the results of a machine that holds them name this hash", holding::suites())?;
    if bad > 0 { Err(Failure::Check) } else { Ok(()) }
}

fn as_json(outcome: &AttackOutcome) -> json::Attack {
    json::Attack {
        name: outcome.name.to_string(),
        attempt: outcome.attempt.to_string(),
        expected: outcome.expected.to_string(),
        got: if outcome.won { json::AttackEnd::Won } else { json::AttackEnd::Held },
        detail: outcome.got.clone(),
        enforced_by: outcome.enforced_by.to_string(),
        control: outcome.control.as_ref().map(|control| json::Control {
            place: control.place.to_string(),
            won: control.won,
            detail: control.got.clone(),
        }),
    }
}

fn table(outcomes: &[AttackOutcome], screen: Screen) -> Table {
    let mut table = Table::new().names("attack").names("came to").names("what happened").names("held by");
    if outcomes.iter().any(|outcome| outcome.control.is_some()) {
        table = table.names("control");
    }
    for outcome in outcomes {
        let word = if outcome.won { "won" } else { "held" };
        let word = match (outcome.won, outcome.may_win) {
            (true, false) => Cell::painted(word, move |text| screen.bad(text)),
            (true, true) => Cell::painted(word, move |text| screen.dim(text)),
            _ => Cell::painted(word, move |text| screen.good(text)),
        };
        let got = screen::harmless(&outcome.got);
        let mut row: Vec<Cell> = vec![outcome.name.into(), word, got.into(), outcome.enforced_by.into()];
        if let Some(control) = &outcome.control {
            let text = match control.won {
                Some(true) => format!("won {}", control.place),
                Some(false) => format!("LOST {}: {}", control.place, screen::harmless(&control.got)),
                None => "needs something missing here".to_owned(),
            };
            row.push(text.into());
        } else if outcomes.iter().any(|outcome| outcome.control.is_some()) {
            row.push("".into());
        }
        table.row(row);
    }
    table
}
