//! JavaScript bots in an embedded engine.
//!
//! A script runs in a separate process, `agon __script`, which reads questions and writes answers, one per line,
//! so that a bad script harms nobody and the referee need not know about it. In that process one thread runs the
//! engine, and another makes sure that it answers in time ([`watch`]). A script that does not is beyond help: an
//! endless loop may be inside the engine's own functions, where nothing can interrupt it. The watching thread then
//! answers in its place, and the process becomes a new one by `exec`, with the same pipes and nothing left of the
//! script.

// In reading order.
mod engine;
mod objects;
mod watch;

use std::io::{self, BufRead as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use agon_bot::Script;
pub use engine::{Answered, Engine, MEMORY, failure};

use crate::watch::Watch;

/// Larger files are refused, in bytes.
const LARGEST_SOURCE: u64 = 8 << 20;

/// The whole life of a script's process; `arguments` are those of [`Script::arguments`].
pub fn run(arguments: &[std::ffi::OsString]) -> ExitCode {
    let Some(script) = Script::read(arguments) else {
        eprintln!(
            "agon {} is started by `agon play` and other commands, for bots in JavaScript",
            agon_bot::script::SUBCOMMAND
        );
        return ExitCode::from(2);
    };
    let watch = Watch::start(script.clone());
    let loaded = read(&script.file).and_then(|source| {
        let seed = format!("{}/{}/{}", script.seed, script.seat, script.restarts);
        let own = Arc::clone(&watch);
        Engine::load(&script.file, &source, &seed, move |text| own.print(text))
    });
    watch.claim();
    let mut engine = match loaded {
        Ok(engine) => engine,
        Err(why) => {
            eprintln!("{}: {why}", watch::name(&script));
            return ExitCode::FAILURE;
        }
    };
    let mut owes = script.owes;
    let mut input = io::stdin().lock();
    let mut question = Vec::new();
    loop {
        question.clear();
        match input.read_until(b'\n', &mut question) {
            Ok(length) if length > 0 => {}
            // A process that ends needs no tear-down.
            _ => std::process::exit(0),
        }
        watch.begin();
        let answered = engine.answer(&question);
        watch.claim();
        let owed = std::mem::take(&mut owes).then(|| watch.failure());
        if owed.map_or(Ok(()), |owed| say(&owed)).and_then(|()| say(&answered.line)).is_err() {
            std::process::exit(0);
        }
        if answered.exhausted {
            watch.start_afresh(false);
        }
    }
}

fn read(file: &Path) -> Result<String, String> {
    let size = std::fs::metadata(file).map_err(|error| error.to_string())?.len();
    if size > LARGEST_SOURCE {
        return Err(format!("has {size} bytes; a script may have {LARGEST_SOURCE}"));
    }
    std::fs::read_to_string(file).map_err(|error| error.to_string())
}

/// Writes an answer.
fn say(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(line.as_bytes())?;
    output.write_all(b"\n")?;
    output.flush()
}
