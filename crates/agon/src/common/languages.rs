//! Compilers and interpreters on this machine.

use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use agon_bot::tools::{TOOLS, Tool};
use agon_bot::{rights, sys};

/// Time limit for a program to print its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a tool said when it was asked for its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The line with its version.
    Version(String),
    /// It is there and does not run, such as a compiler's stand-in with no compiler behind it: what it said.
    Fails(String),
    /// It is not on the PATH.
    Missing,
}

/// All tools that bots are known to need, each with its answer.
pub fn ask() -> Vec<(&'static Tool, Answer)> {
    std::thread::scope(|scope| {
        let asked: Vec<_> = TOOLS
            .iter()
            .map(|tool| scope.spawn(move || (tool, version(tool.program, tool.version))))
            .collect();
        asked.into_iter().filter_map(|asked| asked.join().ok()).collect()
    })
}

/// What a program says when it is started with `argument`.
pub fn version(program: &str, argument: &str) -> Answer {
    let mut command = Command::new(program);
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A stand-in may fetch the real one.
    rights::restore(&mut command);
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Answer::Missing,
        Err(error) => return Answer::Fails(error.to_string()),
    };
    let in_time = rustix::process::Pid::from_raw(child.id() as i32).is_none_or(|pid| {
        let ended = sys::wait(pid, PATIENCE);
        if !ended {
            sys::kill_group(pid);
        }
        ended
    });
    let output = match child.wait_with_output() {
        Ok(output) if in_time => output,
        Ok(_) => return Answer::Fails(format!("no answer in {} s", PATIENCE.as_secs())),
        Err(error) => return Answer::Fails(error.to_string()),
    };
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let short = |line: &str| plain(line).trim().chars().take(70).collect::<String>();
    let first = text.lines().map(short).find(|line| !line.is_empty());
    if !output.status.success() {
        return Answer::Fails(first.unwrap_or_else(|| output.status.to_string()));
    }
    let numbered = text.lines().find(|line| line.contains(|c: char| c.is_ascii_digit())).map(short);
    Answer::Version(numbered.or(first).unwrap_or_else(|| "it does not tell its version".to_owned()))
}

/// A line without its colours.
fn plain(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_fails_has_no_version() {
        assert_eq!(version("agon-no-such-program", "--version"), Answer::Missing);
        assert!(matches!(version("sh", "-c"), Answer::Fails(_)), "sh -c needs a command");
        assert_eq!(version("false", "--no"), Answer::Fails("exit status: 1".to_owned()));
        assert_eq!(version("echo", "v1.2"), Answer::Version("v1.2".to_owned()));
    }

    #[test]
    fn colours_are_left_out() {
        assert_eq!(plain("\u{1b}[1mApache Maven 3.8.7\u{1b}[m"), "Apache Maven 3.8.7");
        assert_eq!(plain("Python 3.11.7"), "Python 3.11.7");
    }
}
