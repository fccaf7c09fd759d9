//! Runs strangers' programs behind walls, and attacks the walls to prove that they hold.
//!
//! A [`Confinement`] says what a program may have. A [`Launcher`] enforces it: it starts a small process, the spawner,
//! which forks the sandboxes; each has namespaces, its own root, a trusted first process, a cgroup, limits, Landlock
//! and a filter of system calls. [`probe`] determines how much of that this machine allows, and [`suite`] runs attacks
//! against it. Nothing here knows games, bots or matches.

mod confinement;
mod level;

#[cfg(target_os = "linux")]
pub mod attack;
#[cfg(target_os = "linux")]
pub mod suite;

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod claim;
#[cfg(target_os = "linux")]
mod copy;
#[cfg(target_os = "linux")]
mod course;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod group;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod init;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod layer;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod message;
#[cfg(target_os = "linux")]
mod meter;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod root;
#[cfg(target_os = "linux")]
mod slot;
#[cfg(target_os = "linux")]
mod spawner;
#[cfg(target_os = "linux")]
mod sys;

pub use confinement::{Confinement, Network, ShownPath, Wall, Wrong};
pub use level::{Found, Level, Shortcoming, probe};

#[cfg(target_os = "linux")]
pub use copy::{Bounds, FileEntry, What, bring_out, walk};
#[cfg(target_os = "linux")]
pub use host::{Exit, Launcher, Leftover, Means, SUBCOMMAND, Sandbox};
#[cfg(target_os = "linux")]
pub use layer::LAYER;
#[cfg(target_os = "linux")]
pub use level::probe_with;
#[cfg(target_os = "linux")]
pub use message::{Order, StepRefusal};
#[cfg(target_os = "linux")]
pub use meter::Charge;
#[cfg(target_os = "linux")]
pub use record::{CallRecord, RecordedCall, record_calls, recorded};
pub use root::{SETTINGS, SYSTEM};

/// The roles of this program inside a sandbox; `arguments` are those after [`SUBCOMMAND`].
#[cfg(target_os = "linux")]
pub fn live(arguments: &[std::ffi::OsString]) -> std::process::ExitCode {
    let word = |index: usize| arguments.get(index).and_then(|word| word.to_str()).unwrap_or_default();
    // Programs run as users of their own: they must be able to enter the folders that are made for them inside,
    // whatever the umask of whoever started us.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    match arguments.first().and_then(|word| word.to_str()) {
        Some("spawner") => {
            spawner::serve(word(1), serde_json::from_str(word(2)).ok().as_ref());
        }
        Some("nothing") => {}
        Some("level") => {
            let Ok(program) = std::env::current_exe() else { return 3.into() };
            println!("{}", probe(&program).level);
        }
        Some("attack") if attack::live(word(1), word(2)) => {}
        Some("player") if attack::player::live(word(1)) => {}
        Some("sleeper") => return sleep(),
        Some("victim") => {
            let folder = arguments.get(2).map(std::path::PathBuf::from).unwrap_or_default();
            if let Err(error) = attack::victim::live(word(1).parse().ok(), &folder, word(3)) {
                eprintln!("error: {error}");
                return std::process::ExitCode::from(3);
            }
        }
        _ => return std::process::ExitCode::from(2),
    }
    std::process::ExitCode::SUCCESS
}

/// For a test: a host with a sandbox that would sleep for a long time. Reports which process that is.
#[cfg(target_os = "linux")]
fn sleep() -> std::process::ExitCode {
    use std::os::fd::AsFd as _;
    let nothing = std::fs::File::options().read(true).write(true).open("/dev/null");
    let (Ok(program), Ok(nothing)) = (std::env::current_exe(), nothing) else { return 3.into() };
    let Ok(launcher) = Launcher::start(&program, Means::find()) else { return 3.into() };
    let found = probe_with(&launcher, &program);
    let order = Order { program: "sleep".into(), arguments: vec!["1000".into()], ..Order::default() };
    let run = launcher.prepare(&Confinement::default(), &found.walls).and_then(|sandbox| {
        sandbox.ready()?;
        sandbox.run(&order, [nothing.as_fd(); 3])?;
        Ok(sandbox)
    });
    if let Ok(sandbox) = run {
        println!("{}", sandbox.pid().map_or(0, |pid| pid.as_raw_nonzero().get()));
        sandbox.wait(std::time::Duration::from_secs(1000));
    }
    std::process::ExitCode::SUCCESS
}

/// The hidden subcommand of a program that makes sandboxes.
#[cfg(not(target_os = "linux"))]
pub const SUBCOMMAND: &str = "__sandbox";

/// No program has a role inside a sandbox here.
#[cfg(not(target_os = "linux"))]
pub fn live(_arguments: &[std::ffi::OsString]) -> std::process::ExitCode {
    std::process::ExitCode::from(2)
}
