//! Interpreters and compilers: their names, and the packages that contain them.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::advised::Advised;

/// A program that bots need.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// What it is for: `Python`.
    pub language: &'static str,
    pub program: &'static str,
    /// The argument that prints its version.
    pub version: &'static str,
    /// Its package in Debian and Ubuntu.
    pub package: &'static str,
}

const fn tool(
    language: &'static str,
    program: &'static str,
    version: &'static str,
    package: &'static str,
) -> Tool {
    Tool { language, program, version, package }
}

/// All the tools that bots are known to need, most common first.
pub const TOOLS: &[Tool] = &[
    tool("Python", "python3", "--version", "python3"),
    tool("JavaScript", "node", "--version", "nodejs"),
    tool("npm", "npm", "--version", "npm"),
    tool("Java", "java", "-version", "default-jre"),
    tool("Java compiler", "javac", "-version", "default-jdk"),
    tool("C++", "g++", "--version", "g++"),
    tool("C", "gcc", "--version", "gcc"),
    tool("Rust", "rustc", "--version", "rustc"),
    tool("Cargo", "cargo", "--version", "cargo"),
    tool("Maven", "mvn", "--version", "maven"),
    tool("Go", "go", "version", "golang-go"),
    tool("C#", "dotnet", "--version", "dotnet-sdk-8.0"),
    tool("C# (Mono)", "mcs", "--version", "mono-mcs"),
    tool("Kotlin", "kotlinc", "-version", "kotlin"),
    tool("TypeScript", "tsc", "--version", "node-typescript"),
    tool("Ruby", "ruby", "--version", "ruby"),
    tool("PHP", "php", "--version", "php-cli"),
    tool("Perl", "perl", "-v", "perl"),
    tool("Lua", "lua", "-v", "lua5.4"),
    tool("git", "git", "--version", "git"),
];

/// Names of programs on other systems, and their names here.
const ELSEWHERE: &[(&str, &str)] =
    &[("python", "python3"), ("py", "python3"), ("py -3", "python3"), ("nodejs", "node"), ("mono", "mcs")];

/// What to do about something missing: `how` to install it, unless advice is [for others](crate::Run::for_others).
pub(crate) fn install(how: &str, for_others: bool) -> String {
    match for_others {
        true => {
            "it is not installed here: include it in your bot's folder, or ask the organiser to install it"
                .to_owned()
        }
        false => Advised::Install(how.to_owned()).to_string(),
    }
}

/// What to do about a program that is not installed; none for an unknown one.
pub fn advice(program: &str, for_others: bool) -> Option<String> {
    let own = ELSEWHERE.iter().find(|(name, _)| *name == program).map(|(_, own)| *own);
    if let Some(own) = own.filter(|own| is_installed(own) && program != "mono") {
        return Some(format!("here it is called `{own}`"));
    }
    let wanted = own.unwrap_or(program);
    match TOOLS.iter().find(|tool| tool.program == wanted) {
        Some(tool) => Some(install(&format!("sudo apt install {}", tool.package), for_others)),
        None => for_others.then(|| install("", for_others)),
    }
}

/// Whether a program is on the PATH.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|place| {
        let file = place.join(program);
        file.is_file() && crate::sys::may_execute(&file)
    })
}

/// What a program of ours prints first, at most 4 kB, if it ends well and in time.
pub fn answer(command: &mut Command, patience: Duration) -> Option<String> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let until = Instant::now() + patience;
    let ended = loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
            Ok(Some(status)) => break status.success(),
            _ => break false,
        }
    };
    if !ended {
        let _ = child.kill();
        let _ = child.wait();
        return None;
    }
    let mut text = String::new();
    child.stdout?.take(4096).read_to_string(&mut text).ok()?;
    Some(text)
}
