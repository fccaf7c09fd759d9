//! Long proofs: those that take too long for every test run. A short form of each runs in the tests; the
//! figures of the last long run are in the docs, with date and commit.
//!
//! Longer than 500 lines: one list, with a paragraph for each proof.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

/// A long proof: one cargo command.
struct Proof {
    /// Its name in `cargo xtask long NAME`.
    name: &'static str,
    /// What it shows, and about how long it takes on two cores.
    about: &'static str,
    /// The arguments of cargo.
    command: &'static [&'static str],
}

/// Static, so that it runs without a system of that kind.
const ARM64: &str = "aarch64-unknown-linux-musl";

/// All of them, by name.
const PROOFS: &[Proof] = &[
    Proof {
        name: "interruptions",
        about: "200 interruptions of a running test of two versions leave no trace; about 3 minutes",
        command: &[
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "interruptions::",
            "--ignored",
            "--nocapture",
        ],
    },
    Proof {
        name: "faultless",
        about: "20,000 matches of two quick native programs with -j 8 have no fault; run a compiler beside it; 2 minutes",
        command: &[
            "--config",
            "env.AGON_MATCHES='20000'",
            "test",
            "-p",
            "agon",
            "--test",
            "all",
            "--",
            "faultless::",
            "--nocapture",
        ],
    },
    Proof {
        name: "probes",
        about: "what bots of each language here may rely on is the same inside as outside, but for ten explained checks; a minute",
        command: &[
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "what_a_bot_may_rely_on_is_the_same_inside",
            "--nocapture",
        ],
    },
    Proof {
        name: "calls",
        about: "every call that starters, builds, probes and the bots of a folder (AGON_BOTS) make inside is on the filter's list; 3 minutes",
        command: &[
            "--config",
            "env.AGON_CALLS='1'",
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "bots_and_builds_call_what_is_listed",
            "--nocapture",
        ],
    },
    Proof {
        name: "programs",
        about: "126 programs, nine runtimes of which the filter was not made for, run inside as outside; half a minute",
        command: &[
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "other_programs_run_inside_as_outside",
            "--nocapture",
        ],
    },
    Proof {
        name: "fetched",
        about: "20 matches in an image that was fetched from a contest are those of the first machine, answer for answer; 2 minutes",
        command: &[
            "--config",
            "env.AGON_MATCHES='20'",
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "images::an_image_that_was_fetched",
            "--nocapture",
        ],
    },
    Proof {
        name: "launcher",
        about: "5,000 descriptions and orders of all kinds: refused, or held, and nothing is left; 5 minutes",
        command: &[
            "--config",
            "env.AGON_SANDBOXES='5000'",
            "test",
            "-p",
            "agon-sandbox",
            "--test",
            "launcher",
            "--",
            "--nocapture",
        ],
    },
    Proof {
        name: "fairness",
        about: "all attacks on the clock are held, and all controls win; half a minute",
        command: &[
            "--config",
            "env.AGON_CONTROLS='1'",
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "the_clock_is_attacked_and_holds",
            "--nocapture",
        ],
    },
    Proof {
        name: "runtimes",
        about: "Python, Node, Java and Go are charged within 5 % of getrusage for 20 ms of work with garbage; a minute, on an idle machine",
        command: &[
            "--config",
            "env.AGON_ANSWERS='300'",
            "--config",
            "env.AGON_PERCENT='5'",
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "runtimes_are_charged_what_they_use",
            "--nocapture",
        ],
    },
    Proof {
        name: "late",
        about: "20,000 answers beside 8 busy loops: nobody who is in time is called late; about an hour (AGON_ANSWERS, AGON_LOAD)",
        command: &[
            "--config",
            "env.AGON_ANSWERS='20000'",
            "--config",
            "env.AGON_LOAD='8'",
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "nobody_who_is_in_time_is_called_late",
            "--nocapture",
        ],
    },
    Proof {
        name: "later",
        about: "the same with 200,000 answers beside 20 busy loops: about a day",
        command: &[
            "--config",
            "env.AGON_ANSWERS='200000'",
            "--config",
            "env.AGON_LOAD='20'",
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "nobody_who_is_in_time_is_called_late",
            "--nocapture",
        ],
    },
    Proof {
        name: "charging",
        about: "C and Java that use 20 ms of their own thread are charged within 10 %, idle and beside compilers; a minute",
        command: &[
            "--config",
            "env.AGON_ANSWERS='150'",
            "--config",
            "env.AGON_PERCENT='10'",
            "test",
            "-p",
            "agon-match",
            "--test",
            "clocks",
            "--",
            "charging::",
            "--nocapture",
        ],
    },
    Proof {
        name: "java",
        about: "200 matches of the Java starter against itself, beside a compiler: no timeout; 4 minutes",
        command: &[
            "--config",
            "env.AGON_MATCHES='200'",
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "java::",
            "--nocapture",
        ],
    },
    Proof {
        name: "contest-ladder",
        about: "20 ladders of 40 versions with a quarter of a round robin's games order them as correctly; about 5 minutes",
        command: &[
            "--config",
            "env.AGON_RUNS='20'",
            "test",
            "-p",
            "agon-ladder",
            "--test",
            "truth",
            "--",
            "--nocapture",
        ],
    },
    Proof {
        name: "serve",
        about: "100 kills of a contest's server at random moments: its log is whole, nothing counts twice; about 10 minutes",
        command: &[
            "--config",
            "env.AGON_KILLS='100'",
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "serve::a_server_killed",
            "--nocapture",
        ],
    },
    Proof {
        name: "bits",
        about: "500 bits of values in a contest's database and 500 of its file: each that changes a row is found by fsck; 4 minutes",
        command: &[
            "--config",
            "env.AGON_BITS='500'",
            "test",
            "-p",
            "agon-store",
            "--test",
            "all",
            "--",
            "bits::a_bit_of",
            "--nocapture",
        ],
    },
    Proof {
        name: "many",
        about: "50 kills of two servers, two workers, PostgreSQL and a bucket under load: nothing acknowledged is lost or counts twice; 4 minutes",
        command: &[
            "--config",
            "env.AGON_KILLS='50'",
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "many::killed",
            "--nocapture",
        ],
    },
    Proof {
        name: "season",
        about: "200 teams for an hour on PostgreSQL: what 1,000 matches take, and whether the old contest is as quick as the young; 85 minutes, the last ten on an idle machine",
        command: &[
            "--config",
            "env.AGON_TEAMS='200'",
            "--config",
            "env.AGON_SECONDS='3600'",
            "--config",
            "env.AGON_PAIRS='6'",
            "--config",
            "env.AGON_PAIR_SECONDS='60'",
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "season::",
            "--nocapture",
        ],
    },
    Proof {
        name: "kills",
        about: "50 kills of two servers in network namespaces, their proxy, PostgreSQL, a bucket and two workers while the organiser acts: \
                each act holds on both from its answer on, nothing acknowledged is lost (root; AGON_SEED); 10 minutes",
        command: &[
            "--config",
            "env.AGON_KILLS='50'",
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "kills::",
            "--nocapture",
        ],
    },
    Proof {
        name: "fleet",
        about: "how much faster two machines of a fleet are than one, each in a network namespace with one CPU (root); 5 minutes",
        command: &[
            "test",
            "--release",
            "-p",
            "agon",
            "--test",
            "all",
            "--",
            "fleet::",
            "--ignored",
            "--nocapture",
        ],
    },
    Proof {
        name: "bloat",
        about: "1,000,000 jobs through a store, then what each table weighs before and after VACUUM; on PostgreSQL with AGON_TEST_DATABASE=postgres; about 10 minutes",
        command: &[
            "--config",
            "env.AGON_JOBS='1000000'",
            "test",
            "--release",
            "-p",
            "agon-store",
            "--test",
            "all",
            "--",
            "bloat::",
            "--nocapture",
        ],
    },
    Proof {
        name: "walls",
        about: "38 bots that breed and hide, each there at 9 kills of agon, at levels A, B and C; 20,000 matches and 50 kills at random \
                moments leave nothing; about half an hour",
        command: &[
            "--config",
            "env.AGON_BREEDERS='38'",
            "--config",
            "env.AGON_KILLS='9'",
            "--config",
            "env.AGON_MATCHES='20000'",
            "--config",
            "env.AGON_MOMENTS='50'",
            "test",
            "-p",
            "agon",
            "--test",
            "alone",
            "--",
            "containment::",
            "--nocapture",
            "--test-threads=1",
        ],
    },
    Proof {
        name: "lean",
        about: "what the ordinary program costs to build from nothing, and what it says of the parts that are left out; 6 minutes",
        command: &["run", "--quiet", "--profile", "test", "--package", "xtask", "--", "lean"],
    },
    Proof {
        name: "vm",
        about: "cgroups of version 2 and another kernel, in an emulated machine: the attacks, counters, bots that breed and hide and \
                kills of agon, as root, as an ordinary user with a group of its own and without; half an hour. After the \
                name: only the proofs with this in their names",
        command: &["run", "--quiet", "--profile", "test", "--package", "xtask", "--", "vm"],
    },
    Proof {
        name: "wheel",
        about: "the package for Python in an empty environment of each Python here: the examples of its page, its tests, its types, and \
                how soon there is a match; a minute beside building the program (AGON_PROGRAM names one), on an idle machine",
        command: &["run", "--quiet", "--profile", "test", "--package", "xtask", "--", "wheel"],
    },
    Proof {
        name: "image",
        about: "the image in podman: which options give which level of the sandbox, and contests that refuse to be played below \
                theirs; five minutes beside building the program (AGON_PROGRAM names one)",
        command: &["run", "--quiet", "--profile", "test", "--package", "xtask", "--", "image"],
    },
    Proof {
        name: "analysis",
        about: "in 17 of 20 matches an order that costs 20 points is among the three marks that cost most; 20 others have few false marks; \
                3 minutes",
        command: &[
            "--config",
            "env.AGON_POSITIONS='20'",
            "test",
            "-p",
            "agon-view",
            "--test",
            "analysis",
            "--",
            "--nocapture",
            "--test-threads=1",
        ],
    },
    Proof {
        name: "decisions",
        about: "sequential tests are wrong as rarely as they say and intervals hold, 20,000 runs for each kind of results; half an hour",
        command: &[
            "--config",
            "env.AGON_RUNS='20000'",
            "test",
            "-p",
            "agon-stats",
            "--test",
            "decisions",
            "--",
            "--nocapture",
        ],
    },
    Proof {
        name: "calibration",
        about: "intervals hold and certainties are reached as often as they say, 20,000 series of each shape and length; 10 minutes",
        command: &[
            "--config",
            "env.AGON_RUNS='20000'",
            "test",
            "-p",
            "agon-stats",
            "--test",
            "calibration",
            "--",
            "--nocapture",
        ],
    },
    Proof {
        name: "statistics",
        about: "pairs of bots made to mislead, 2,000 series of each: nothing is stated that more matches would refute; 10 minutes",
        command: &[
            "--config",
            "env.AGON_RUNS='2000'",
            "test",
            "-p",
            "agon-contest",
            "--test",
            "attacks",
            "--",
            "--nocapture",
        ],
    },
    Proof {
        name: "ladder",
        about: "a ladder of 100 simulated bots needs fewer games than a round robin for the same errors, 40 runs; 10 minutes",
        command: &[
            "--config",
            "env.AGON_RUNS='40'",
            "test",
            "-p",
            "agon-pairing",
            "--test",
            "ladder",
            "--",
            "--nocapture",
        ],
    },
    Proof {
        name: "browsers",
        about: "every browser test in Chromium and in Firefox, pages looked at by axe from 390 to 1920 wide, light and dark; \
                15 minutes",
        command: &["run", "--quiet", "--profile", "test", "--package", "xtask", "--", "browsers"],
    },
    Proof {
        name: "arm64",
        about: "a published table is the same bytes on arm64, in qemu's user mode; 5 minutes",
        command: &[
            "--config",
            "target.aarch64-unknown-linux-musl.linker='rust-lld'",
            "--config",
            "target.aarch64-unknown-linux-musl.runner='qemu-aarch64'",
            "test",
            "--target",
            ARM64,
            "-p",
            "agon-stats",
            "--test",
            "bytes",
            "--",
            "--nocapture",
        ],
    },
    Proof {
        name: "permutations",
        about: "the order in which bots are named decides nothing in a game of three seats, 300 matches in each order; 10 minutes",
        command: &[
            "--config",
            "env.AGON_MATCHES='300'",
            "test",
            "-p",
            "agon",
            "--test",
            "all",
            "the_order_of_names",
            "--",
            "--nocapture",
        ],
    },
];

/// Lists the proofs.
pub fn list() -> String {
    PROOFS.iter().map(|proof| format!("    {:<16} {}\n", proof.name, proof.about)).collect()
}

/// The commands that install what a proof needs beyond this workspace and this machine lacks.
fn missing(proof: &Proof) -> Vec<String> {
    if proof.name == "vm" {
        return crate::vm::missing();
    }
    if proof.name == "browsers" {
        return crate::web::missing();
    }
    if proof.name == "image" {
        return crate::oci::missing();
    }
    if !proof.command.contains(&ARM64) {
        return Vec::new();
    }
    let has_target = crate::has_target(ARM64);
    let has_qemu = Command::new("qemu-aarch64").arg("--version").output().is_ok();
    let target = (!has_target).then(|| format!("rustup target add {ARM64}"));
    let qemu = (!has_qemu).then(|| "apt-get install qemu-user".to_owned());
    target.into_iter().chain(qemu).collect()
}

/// Runs the proof called `name`; the rest of the command line is passed to it.
///
/// # Errors
/// When there is no such proof, or cargo cannot be started.
pub fn run(root: &Path, name: Option<&str>, rest: &[String]) -> Result<bool> {
    let Some(name) = name else { bail!("name a long proof:\n{}", list()) };
    let Some(proof) = PROOFS.iter().find(|proof| proof.name == name) else {
        bail!("no long proof is called {name}:\n{}", list());
    };
    let missing = missing(proof);
    if !missing.is_empty() {
        println!("{name}: SKIPPED, nothing was proved; first {}", missing.join(" and "));
        return Ok(true);
    }
    let began = Instant::now();
    let good = crate::cargo()
        .args(proof.command)
        .args(rest)
        .current_dir(root)
        .status()
        .with_context(|| format!("running cargo {}", proof.command.join(" ")))?
        .success();
    let commit = Command::new("git").args(["describe", "--always", "--dirty"]).current_dir(root).output();
    let commit =
        commit.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    let minutes = began.elapsed().as_secs_f64() / 60.0;
    println!("{name}: {} in {minutes:.1} min, commit {commit}", if good { "held" } else { "FAILED" });
    Ok(good)
}

#[cfg(test)]
mod tests {
    use super::PROOFS;

    #[test]
    fn each_proof_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<&str> = PROOFS.iter().map(|proof| proof.name).collect();
        assert_eq!(names.len(), PROOFS.len(), "only the first of two is ever run");
    }
}
