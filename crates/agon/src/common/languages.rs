//! Compilers and interpreters on this machine.

use std::process::{Command, Stdio};
use std::time::Duration;

use agon_bot::sys;
use agon_bot::tools::{TOOLS, Tool};

/// Time limit for a program to print its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// All tools that bots are known to need, each with its version if installed.
pub fn ask() -> Vec<(&'static Tool, Option<String>)> {
    std::thread::scope(|scope| {
        let asked: Vec<_> = TOOLS
            .iter()
            .map(|tool| scope.spawn(move || (tool, version(tool.program, tool.version))))
            .collect();
        asked.into_iter().filter_map(|asked| asked.join().ok()).collect()
    })
}

/// The first line containing a number that a program prints for `argument`.
fn version(program: &str, argument: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().ok()?;
    let pid = rustix::process::Pid::from_raw(child.id() as i32)?;
    if !sys::wait(pid, PATIENCE) {
        sys::kill_group(pid);
    }
    let output = child.wait_with_output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let line = text.lines().find(|line| line.contains(|c: char| c.is_ascii_digit()))?;
    Some(plain(line).trim().chars().take(70).collect())
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
    fn colours_are_left_out() {
        assert_eq!(plain("\u{1b}[1mApache Maven 3.8.7\u{1b}[m"), "Apache Maven 3.8.7");
        assert_eq!(plain("Python 3.11.7"), "Python 3.11.7");
    }
}
