//! The web app: its types, its unit tests, and its pages in real browsers.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::tests::Plan;
use crate::{Counts, Options, count, root};

/// A browser that the tests drive.
struct Browser {
    /// What the tests call it.
    name: &'static str,
    /// The variable that names its program.
    variable: &'static str,
    /// Where it is otherwise.
    usual: &'static [&'static str],
    /// Debian's package of it.
    package: &'static str,
}

/// The first runs all tests, each runs the short day.
const BROWSERS: [Browser; 2] = [
    Browser {
        name: "chromium",
        variable: "CHROMIUM",
        usual: &["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
        package: "chromium",
    },
    Browser {
        name: "firefox",
        variable: "FIREFOX",
        usual: &["/usr/bin/firefox-esr", "/usr/bin/firefox"],
        package: "firefox-esr",
    },
];

impl Browser {
    /// Its program, if this machine has it.
    fn found(&self) -> Option<PathBuf> {
        let named = std::env::var_os(self.variable).map(PathBuf::from);
        named.into_iter().chain(self.usual.iter().map(PathBuf::from)).find(|path| path.is_file())
    }
}

/// How to get the browsers that this machine lacks.
pub fn missing() -> Vec<String> {
    let lacking = BROWSERS.iter().filter(|browser| browser.found().is_none());
    lacking
        .map(|Browser { package, variable, .. }| {
            format!("apt-get install {package} (or set {variable} to one)")
        })
        .collect()
}

/// Installs the browsers that this machine lacks, if it is one that only tests.
fn install() {
    let lacking: Vec<&str> =
        BROWSERS.iter().filter(|browser| browser.found().is_none()).map(|browser| browser.package).collect();
    if lacking.is_empty() || std::env::var_os("CI").is_none_or(|value| value != "true") {
        return;
    }
    let apt = |arguments: &[&str]| {
        let _ = Command::new("apt-get").args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).status();
    };
    apt(&["update"]);
    // One at a time: what one system does not have must not keep the other away.
    lacking.iter().for_each(|package| apt(&["install", "-y", "--no-install-recommends", package]));
}

/// Runs the checks of the web app.
pub fn run(options: &Options, counts: &mut Counts) -> Result<()> {
    let mut skip = |what: &str, why: &str| {
        println!("SKIPPED: {what} ({why})");
        counts.skipped += 1;
    };
    if Command::new("npm").arg("--version").stdout(Stdio::null()).status().is_err() {
        skip("the web app", "npm is not installed");
        return Ok(());
    }
    install();
    let [chromium, _] = BROWSERS.each_ref().map(Browser::found);
    if chromium.is_none() {
        skip("the viewer in a browser", "no Chromium: apt-get install chromium, or set CHROMIUM to one");
    }
    if !build(options, counts)? {
        println!("SKIPPED: the web app (its packages could not be installed)");
        counts.skipped += 1;
        return Ok(());
    }
    counts.add(&npm(options, "check", &[])?.0);
    counts.add(&npm(options, "test", &[])?.0);
    if chromium.is_some() {
        let (mut sums, failed) = npm(options, "test:browser", &[])?;
        if sums.failed > 0 {
            // All of them where it is not told which; a test that another module declares is in any file.
            let known =
                !failed.files.is_empty() && failed.files.iter().all(|file| file.ends_with(".test.mjs"));
            let files: Vec<String> = failed.files.into_iter().collect();
            let files = if known { files.join(" ") } else { "test/*.test.mjs".to_owned() };
            println!("run once more, because a real error fails again: {files}");
            let again = npm(options, "test:browser", &[("AGON_FILES", &files)])?.0;
            sums.failed = again.failed;
            if again.failed == 0 {
                let plan = Plan::read()?;
                failed.tests.iter().for_each(|test| plan.flaky(counts, &format!("web/browser {test}")));
            }
        }
        counts.add(&sums);
    }
    Ok(())
}

/// The long proof: every browser test in every browser, each page looked at by axe in every width.
pub fn browsers() -> Result<bool> {
    let options = Options { engines: crate::has_wasm(), ..Options::default() };
    let mut built = Counts::default();
    if !build(&options, &mut built)? || built.failed > 0 {
        return Ok(false);
    }
    let (mut good, mut figures) = (true, Vec::new());
    for browser in &BROWSERS {
        let program = browser.found().with_context(|| format!("there is no {}", browser.name))?;
        let version =
            Command::new(&program).arg("--version").output().map(|said| said.stdout).unwrap_or_default();
        let began = Instant::now();
        let wanted = [("AGON_BROWSER", browser.name), ("AGON_LOOKS", "all")];
        let (Counts { passed, failed, skipped }, Failed { tests, .. }) =
            npm(&options, "test:browser", &wanted)?;
        figures.push(format!(
            "{}: {passed} passed, {failed} failed, {skipped} skipped in {:.1} min{}",
            String::from_utf8_lossy(&version).trim(),
            began.elapsed().as_secs_f64() / 60.0,
            tests.iter().map(|name| format!("\n    {name}")).collect::<String>()
        ));
        good &= failed == 0;
    }
    figures.iter().for_each(|line| println!("{line}"));
    Ok(good)
}

/// Builds the program; says whether the app's packages are there.
///
/// Building the program builds the app, which installs what its tests need. It is built as the tests build it, so that nothing is
/// rebuilt after them.
fn build(options: &Options, counts: &mut Counts) -> Result<bool> {
    let mut build = options.cargo();
    // The bucket of the contest on many machines is in `alone`.
    build.args(["test", "--quiet", "--workspace", "--no-run", "--test", "alone"]);
    count(counts, &mut build)?;
    Ok(root().join("web/node_modules").is_dir())
}

/// What failed of a script.
#[derive(Default)]
struct Failed {
    tests: BTreeSet<String>,
    /// Where they are.
    files: BTreeSet<String>,
}

/// Runs a script of the app's package, with these variables; returns its sums and what failed.
fn npm(options: &Options, script: &str, variables: &[(&str, &str)]) -> Result<(Counts, Failed)> {
    let mut command = Command::new("npm");
    command.args(["run", "--silent", script]).current_dir(root().join("web"));
    command.env("AGON", crate::target(&root()).join("debug/agon"));
    for browser in &BROWSERS {
        if let Some(program) = browser.found() {
            command.env(browser.variable, program);
        }
    }
    if options.require_postgres {
        command.env("AGON_REQUIRE_POSTGRES", "1");
    }
    command.envs(variables.iter().copied());
    // Sums are parsed from its output, which colours would break up.
    command.env("NO_COLOR", "1").env_remove("FORCE_COLOR").stdout(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("running {command:?}"))?;
    let (mut sums, mut failed) = (Counts::default(), Failed::default());
    for line in BufReader::new(child.stdout.take().context("its output is piped")?).lines() {
        let line = line?;
        println!("{line}");
        sums.add_line(&line);
        // `✖ a test (12.3ms)`
        if let Some((test, _)) = line.trim_start().strip_prefix("✖ ").and_then(|rest| rest.rsplit_once(" ("))
        {
            failed.tests.insert(test.to_owned());
        }
        // `test at test/viewer.test.mjs:59:1`
        if let Some((file, _)) = line.strip_prefix("test at ").and_then(|place| place.split_once(':')) {
            failed.files.insert(file.to_owned());
        }
    }
    match child.wait()?.success() {
        true => sums.passed = sums.passed.max(1),
        false => sums.failed = sums.failed.max(1),
    }
    Ok((sums, failed))
}
