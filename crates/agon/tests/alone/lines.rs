//! Every command line of the guides to contests has a place: `lines.txt` has it typed as it stands, another test runs it, or the guide
//! itself says that it is untried.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use agon_testkit::sources::rust_files;

use crate::common::{Running, folder, is_installed, wait_until, waiter};
use crate::many::database::Postgres;
use crate::many::{bucket, port, start_bucket};

const CONTEST: &str = include_str!("../../../../docs/contest.md");
const SCALING: &str = include_str!("../../../../docs/scaling.md");
const REFERENCE: &str = include_str!("../../../../docs/reference.md");
const TYPED: &str = include_str!("lines.txt");

/// What stands in place of names, ports and folders that only a real network has, one after the other. Words in capitals on the right
/// are this test's.
const INSTEAD: &[(&str, &str)] = &[
    ("scp first:", "cp ../first/"),
    (" first:", " ../first/"),
    ("https://cup.example/metrics", "http://127.0.0.1:SITE/metrics"),
    ("work https://cup.example", "work http://127.0.0.1:SITE"),
    ("127.0.0.1:8080", "127.0.0.1:SITE"),
    ("0.0.0.0:8090", "127.0.0.1:WORKERS"),
    ("127.0.0.1:8090", "127.0.0.1:WORKERS"),
    ("--workers ADDR", "--workers 127.0.0.1:WORKERS"),
    ("--bind 0.0.0.0", "--bind 127.0.0.1"),
    ("--lan", "--lan --bind 127.0.0.1"),
    ("--tls-self-signed", "--tls-self-signed --bind 127.0.0.1"),
    ("--tls-cert FILE --tls-key FILE", "--tls-cert cup.pem --tls-key cup.key --bind 127.0.0.1"),
    ("--metrics-token-file FILE", "--metrics-token-file metrics.token"),
    ("--port N", "--port SITE"),
    ("DIR NAME", "autumn hall-3"),
    ("serve DIR", "serve autumn"),
    ("--to URL", "--to postgres://agon:secret@db.example/autumn"),
    (" URL", " http://127.0.0.1:SITE"),
    ("db.example/autumn", "localhost/autumn?host=SOCKET"),
    ("host=/run/postgresql", "host=SOCKET"),
    ("https://minio.example", "http://127.0.0.1:BUCKET"),
    ("--objects s3://BUCKET/PREFIX", "--objects s3://cup/before?endpoint=http://127.0.0.1:BUCKET"),
    ("--objects s3://cup/autumn", "--objects s3://cup/new?endpoint=http://127.0.0.1:BUCKET"),
];

/// Lines, and blocks by their first line, that a test of this name runs.
const ELSEWHERE: &[(&str, &str)] = &[
    (
        "upstream cup {",
        "servers_on_other_machines_are_reached_through_the_proxies_of_the_guide_and_by_nobody_else",
    ),
    ("defaults", "servers_on_other_machines_are_reached_through_the_proxies_of_the_guide_and_by_nobody_else"),
    (
        "cup.example {",
        "servers_on_other_machines_are_reached_through_the_proxies_of_the_guide_and_by_nobody_else",
    ),
    ("location / {", "a_server_is_reached_through_a_proxy_of_the_guide_on_the_same_machine"),
    ("name,team", "a_class_comes_by_a_list_and_a_wrong_line_stops_nobody_else"),
    (
        "agon serve set autumn image=NAME",
        "a_change_of_the_image_is_an_act_and_every_live_version_is_checked_in_it",
    ),
    (
        "agon login https://192.168.1.7:8443 --fingerprint 8F:03:…",
        "who_knows_the_fingerprint_reaches_the_contest_and_nobody_else",
    ),
    ("agon serve token DIR TEAM", "a_token_and_a_link_come_without_a_browser"),
    ("agon serve link DIR --site URL", "a_token_and_a_link_come_without_a_browser"),
    ("agon login URL --token-file FILE", "a_token_is_kept_and_sent_with_care"),
    ("agon play --as URL", "somebody_takes_part_from_the_terminal"),
    ("--level B", "a_contest_does_not_fall_below_the_level_of_its_founding"),
    ("--objects /big/disk", "objects_lie_where_the_organiser_wants_them"),
    ("--log json", "objects_lie_where_the_organiser_wants_them"),
    ("cargo test -p agon-ladder outliers -- --nocapture", "whoever_lies_in_a_fifth_of_its_matches_is_found"),
];

/// The programs whose names begin a line in the middle of a text.
const PROGRAMS: [&str; 8] =
    ["agon ", "cargo ", "chmod ", "curl ", "fleet ", "openssl ", "pip ", "systemd-analyze "];

/// The code in the middle of a text.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// A line without what it does, which stands after it.
fn bare(line: &str) -> &str {
    let end = line.find("   ").or_else(|| line.find(" # ")).unwrap_or(line.len());
    line[..end].trim()
}

/// The lines of a guide: in blocks without a language and after `$` in those of text, of other blocks of text the first; in the middle of
/// a text what begins with a program, an option with its value, or an address of a database; and each way to open a site.
fn lines(guide: &str) -> BTreeSet<String> {
    let (mut found, mut text, mut ways) = (BTreeSet::new(), String::new(), false);
    let mut lines = guide.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            ways = if ways { line.starts_with('|') } else { line == "| how | who reaches it |" };
            let way = line.split('|').nth(1).and_then(|cell| spans(cell).next());
            found.extend(way.filter(|_| ways).map(str::to_owned));
            text += &format!("{line}\n");
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let typed: Vec<&str> = match language {
            "" => block.clone(),
            _ => block.iter().filter_map(|line| line.strip_prefix("$ ")).collect(),
        };
        found.extend(typed.iter().map(|line| bare(line).to_owned()));
        if language == "text" && typed.is_empty() {
            found.extend(block.first().map(|line| (*line).to_owned()));
        }
    }
    let is_line = |span: &str| {
        let is_option = span.strip_prefix("--").is_some_and(|option| option.contains(' '));
        let is_address = span.starts_with("postgres://") && !span.contains("USER");
        is_option || is_address || PROGRAMS.iter().any(|program| span.starts_with(program))
    };
    let spans = spans(&text).map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
    found.extend(spans.filter(|span| is_line(span)));
    found
}

/// The guide, and its last section, which says what is tried.
fn scaling() -> (&'static str, &'static str) {
    SCALING.split_once("## Which lines are tried").expect("the guide has the section")
}

/// What the guide says is untried: the code in the first column of its table.
fn untried() -> impl Iterator<Item = &'static str> {
    let (_, table) = scaling().1.split_once("| untried | why |\n").expect("the guide has the table");
    table
        .lines()
        .take_while(|line| line.starts_with('|'))
        .flat_map(|line| spans(line.split('|').nth(1).unwrap_or_default()))
}

#[test]
fn every_line_of_the_guides_is_typed_by_a_test_or_said_to_be_untried() {
    let found: BTreeSet<String> = [CONTEST, scaling().0].into_iter().flat_map(lines).collect();
    let typed = TYPED.lines().filter_map(|line| line.strip_prefix("$ "));
    let placed: BTreeSet<&str> =
        typed.chain(ELSEWHERE.iter().map(|(line, _)| *line)).chain(untried()).collect();
    let is_command = |line: &str| REFERENCE.lines().any(|heading| heading.strip_prefix("## ") == Some(line));
    let lost: Vec<&String> =
        found.iter().filter(|line| !placed.contains(line.as_str()) && !is_command(line)).collect();
    assert!(
        lost.is_empty(),
        "type these in lines.txt, or say in docs/scaling.md that they are untried: {lost:#?}"
    );
    let gone: Vec<&&str> = placed.iter().filter(|line| !found.contains(**line)).collect();
    assert!(gone.is_empty(), "no guide has these any more: {gone:#?}");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources: Vec<String> =
        rust_files(&crates).iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    for (line, test) in ELSEWHERE {
        let call = format!("fn {test}()");
        assert!(sources.iter().any(|source| source.contains(&call)), "`{line}`: there is no test `{test}`");
    }
}

/// A line of `lines.txt`, and what follows it.
struct Step {
    /// The folder in which it is typed.
    at: &'static str,
    line: String,
    /// How it ends, by its sign.
    ends: char,
    /// What it says.
    says: Vec<&'static str>,
}

fn steps() -> Vec<Step> {
    let (mut steps, mut at): (Vec<Step>, _) = (Vec::new(), "first");
    for line in TYPED.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (sign, rest) = (line.chars().next().unwrap_or_default(), line[1..].trim());
        match (sign, steps.last_mut()) {
            ('@', _) => at = rest,
            ('+', Some(step)) => step.line += &format!(" {rest}"),
            ('>' | '!' | '&', Some(step)) => {
                step.ends = sign;
                step.says.push(rest);
            }
            ('$' | '-' | '.', _) => {
                let line = match (sign, rest) {
                    ('$', option) if option.starts_with("--") => format!("agon serve autumn {option}"),
                    ('$', address) if address.starts_with("postgres://") => {
                        format!("echo '{address}' > autumn/database.url && agon serve status autumn")
                    }
                    _ => rest.to_owned(),
                };
                steps.push(Step { at, line, ends: '>', says: Vec::new() });
            }
            _ => panic!("lines.txt: {line}"),
        }
    }
    steps
}

/// The machines of the guides: folders, a server of databases, a bucket.
struct World {
    place: tempfile::TempDir,
    postgres: Postgres,
    site: u16,
    workers: u16,
    bucket: (u16, Running),
}

impl World {
    fn new(postgres: Postgres) -> Self {
        let place = folder();
        for name in ["first", "second", "third", "home", "buckets/cup"] {
            std::fs::create_dir_all(place.path().join(name)).expect("a folder");
        }
        waiter(&place.path().join("first"), "ann");
        waiter(place.path(), "bot");
        let at = port();
        let bucket = (at, start_bucket(&place.path().join("buckets"), "127.0.0.1", at));
        Self { place, postgres, site: port(), workers: port(), bucket }
    }

    /// A text of ours with the ports and places of this test.
    fn own(&self, text: &str) -> String {
        let socket = self.postgres.folders().1.to_string_lossy().replace('/', "%2F");
        let ports = [("SITE", self.site), ("WORKERS", self.workers), ("BUCKET", self.bucket.0)];
        let text = text.replace("SOCKET", &socket);
        ports.iter().fold(text, |text, (name, port)| text.replace(name, &port.to_string()))
    }

    /// A shell of the machine `at`, in which this is typed.
    fn shell(&self, at: &str, line: &str) -> Command {
        let line = INSTEAD.iter().fold(line.to_owned(), |line, (what, with)| line.replace(what, with));
        let agon = Path::new(env!("CARGO_BIN_EXE_agon")).parent().expect("a folder");
        let (programs, socket) = self.postgres.folders();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("bash");
        shell
            .args(["-c", &self.own(&line)])
            .current_dir(self.place.path().join(at))
            .stdin(Stdio::null())
            .env("PATH", format!("{}:{}:{path}", agon.display(), programs.display()))
            .env("NO_COLOR", "1")
            .env("HOME", self.place.path().join("home"))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("PGPASSWORD")
            // The table of attacks on the walls is shared with other tests.
            .env("AGON_CACHE", agon_bot::build::cache())
            .envs([("PGHOST", &*socket.to_string_lossy()), ("PGUSER", "agon")])
            .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "a")))
            .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "a@example.org")))
            .envs(bucket::KEYS.lines().filter_map(|line| line.split_once('=')));
        shell
    }
}

#[test]
fn the_lines_of_the_guides_work_as_they_stand() {
    if !["curl", "git", "openssl"].into_iter().all(is_installed) {
        return;
    }
    let Some(postgres) = Postgres::start() else { return };
    let world = World::new(postgres);
    let mut running: Vec<(&str, Running)> = Vec::new();
    let steps = steps();
    for (number, step) in steps.iter().enumerate() {
        let Step { at, line, ends, says } = step;
        if line.is_empty() {
            // Machines that play leave before what they play for.
            for (line, mut one) in running.drain(..).rev() {
                println!("{line} ends");
                one.ends();
            }
            continue;
        }
        let file = world.place.path().join(format!("{number}.log"));
        let read = || std::fs::read_to_string(&file).unwrap_or_default();
        let log = File::create(&file).expect("a file");
        let goes_on = if *ends == '&' { "exec " } else { "" };
        let mut shell = world.shell(at, &format!("{goes_on}{line}"));
        shell.stdout(log.try_clone().expect("a file")).stderr(log);
        let said = || says.iter().all(|words| read().contains(&world.own(words)));
        let mut child = Running(shell.spawn().expect("a shell"));
        if *ends == '&' {
            wait_until(&format!("{at}: {line}: {says:?}"), || {
                let ended = child.0.try_wait().expect("a child of ours");
                assert!(ended.is_none(), "{at}: {line}: {}", read());
                said()
            });
            running.push((line, child));
            continue;
        }
        let code = child.0.wait().expect("a child of ours").code();
        // The answer of a comparison is its exit code.
        let is_answer = line.starts_with("agon sprt") && matches!(code, Some(10..=13));
        let is_meant = (code == Some(0) || is_answer) == (*ends == '>');
        assert!(is_meant && said(), "{at}: {line}: {code:?}, not {says:?}: {}", read());
    }
    assert!(running.is_empty(), "the last line ends what runs");
}
