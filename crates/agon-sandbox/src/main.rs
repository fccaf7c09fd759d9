//! The sandbox by itself, for its own tests: the roles of `__sandbox`, and the attacks as the whole program runs them.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use agon_sandbox::suite::{AttackChoice, run};

    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|word| word == agon_sandbox::SUBCOMMAND) {
        return agon_sandbox::live(&arguments[1..]);
    }
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let level = match words.first().map(String::as_str) {
        Some("B") => Some(agon_sandbox::Level::B),
        Some("C") => Some(agon_sandbox::Level::C),
        _ => None,
    };
    let wanted = AttackChoice { controls: true, level, only: words.into_iter().skip(1).collect() };
    let program = std::env::current_exe().expect("this program");
    let all = run(&program, &wanted, &mut |outcome| {
        let sign = if outcome.is_bad() { "BAD" } else { "ok" };
        let control = outcome
            .control
            .as_ref()
            .map(|control| format!("{}: {:?} {}", control.place, control.won, control.got));
        println!(
            "{sign:3} {:28} {:4} {} | {}",
            outcome.name,
            outcome.won,
            outcome.got,
            control.unwrap_or_default()
        );
    });
    println!("{:?}", all.map(|all| (all.level, all.attacks.len())));
    std::process::ExitCode::SUCCESS
}

#[cfg(not(target_os = "linux"))]
fn main() {}
