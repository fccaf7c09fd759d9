//! A build that ends when the time is over, with the end of what it printed.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agon_bot::{BotName, Confined, sys};

use crate::common::Failure;
use crate::common::builds::{self, State};

/// How much of a build's output is kept, in bytes.
const KEPT: usize = 8 << 10;

/// Builds the bot if it has changed. A failure comes with the end of what the build printed.
///
/// # Errors
/// When there is no such bot, or its `agon.toml` is wrong.
pub fn build(name: &BotName, over: &AtomicBool) -> Result<State, Failure> {
    let mut said = Vec::new();
    let state = builds::build_by(name, false, |build| match name.confined {
        Confined::No => build.run_by(|command| bounded(command, over, &mut said)),
        own => build.run_inside(own, &mut |bytes| pass_on(bytes, &mut said)),
    })?;
    Ok(match state {
        State::Failed(why) => {
            let why = why.strip_suffix(builds::ABOVE).unwrap_or(&why);
            State::Failed(format!("{why}\n{}", String::from_utf8_lossy(&said).trim()))
        }
        done => done,
    })
}

/// Prints it, and keeps its end.
fn pass_on(bytes: &[u8], said: &mut Vec<u8>) -> io::Result<()> {
    said.extend_from_slice(bytes);
    said.drain(..said.len().saturating_sub(KEPT));
    io::stderr().write_all(bytes)
}

/// Runs a command to its end, or until the time is over.
fn bounded(command: &mut Command, over: &AtomicBool, said: &mut Vec<u8>) -> io::Result<ExitStatus> {
    // A pipe would stay open as long as a daemon that the compiler leaves behind.
    let output = tempfile::tempfile()?;
    command.stdout(Stdio::from(output.try_clone()?)).stderr(Stdio::from(output.try_clone()?));
    let mut child = command.process_group(0).spawn()?;
    let mut read = 0;
    let mut copy = |said: &mut Vec<u8>| read_on(&output, &mut read, said);
    loop {
        let ended = child.try_wait()?;
        copy(said)?;
        if let Some(status) = ended {
            return Ok(status);
        }
        if over.load(Ordering::Relaxed)
            && let Some(leader) = rustix::process::Pid::from_raw(child.id() as i32)
        {
            sys::kill_group(leader);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Passes on what was written since.
fn read_on(output: &File, read: &mut u64, said: &mut Vec<u8>) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        match output.read_at(&mut buffer, *read)? {
            0 => return Ok(()),
            count => {
                *read += count as u64;
                pass_on(&buffer[..count], said)?;
            }
        }
    }
}
