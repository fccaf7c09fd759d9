//! `agon serve` on a disk that fills up: it says so, waits, loses nothing, and continues when there is room.

use std::process::{Command, Stdio};

use crate::common::folder;

/// The contest is on a disk of its own, in a mount namespace that ends with this script. Each wait is bounded.
const DAY: &str = r#"
agon="$0"
mount -t tmpfs -o size=24m agon cup || exit 77
mv contest.toml cup
rows() { "$agon" serve status cup --json | sed -n 's/^ *"in_log": \([0-9]*\).*/\1/p'; }
wait_for() {
    for i in $(seq 300); do
        if "$@"; then return; fi
        sleep 0.2
    done
    echo "in vain: $*"
    kill -9 $server 2>/dev/null
    exit 1
}
more_than() { [ "0$(rows 2>/dev/null)" -gt "$1" ]; }
"$agon" serve cup -j 1 --no-site --quiet >said 2>told &
server=$!
wait_for test -e cup/agon.db
wait_for more_than 10
dd if=/dev/zero of=cup/fill bs=64k 2>dd
wait_for grep -q "the contest's disk is full" told
"$agon" serve add cup bot.py --team Ann 2>added && exit 2
before=$(rows)
rm cup/fill
wait_for more_than $before
wait_for grep -q "there is room on the disk again" told
"$agon" serve add cup bot.py --team Ann || exit 3
kill -TERM $server
is_over() { ! kill -0 $server 2>/dev/null; }
wait_for is_over
wait $server || exit 4
"$agon" serve fsck cup --replays || exit 5
"#;

#[test]
fn a_full_disk_is_said_and_nothing_is_lost() {
    let folder = folder();
    let place = folder.path();
    std::fs::create_dir(place.join("cup")).expect("a folder");
    // Enough matches that it does not pause before the disk is full.
    let terms = "game = 'cultist-wars'\n[ladder]\nmatches = 100000\n[site]\nbosses = ['builtin:greedy', 'builtin:hunter']\n\
                 [sandbox]\ntrust_bots = true\n";
    std::fs::write(place.join("contest.toml"), terms).expect("a file");
    std::fs::write(place.join("bot.py"), "while True: input()\n").expect("a file");
    let mut unshare = Command::new("unshare");
    let output = unshare
        .args(["--mount", "sh", "-c", DAY, env!("CARGO_BIN_EXE_agon")])
        .current_dir(place)
        .stdin(Stdio::null())
        .output();
    let read = |name: &str| std::fs::read_to_string(place.join(name)).unwrap_or_default();
    let output = match output {
        Ok(output) if output.status.code() != Some(77) && place.join("told").exists() => output,
        other => {
            println!("SKIPPED: a disk that fills up (no file system can be mounted here): {other:?}");
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{wrong}{}{}", read("told"), read("added"));
    assert!(said.contains("every match agrees with its replay"), "{said}");
    let added = read("added");
    assert!(added.contains("No space left") || added.contains("disk is full"), "{added}");
    // Whoever runs the server is also told what stopped the worker.
    assert!(read("told").contains("the worker here: "), "{}", read("told"));
}
