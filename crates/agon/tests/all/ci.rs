//! `agon ci` as a build server runs it: in sample repositories, with branches that are better, worse, undecided and broken.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{command, err, folder, good, is_installed, json, out, waiter, write};
use crate::printed;

/// A bot that plays.
const STRONG: &str = include_str!("../../../../games/cultist-wars/bots/python/bot.py");
const MANIFEST: &str = "run = \"python3 brain.py\"\n[defaults]\ngame = \"cultist-wars\"\n";
/// That of a bot that waits.
const WAITS: &str = "run = \"sh run.sh\"\n[defaults]\ngame = \"cultist-wars\"\n";
/// Hypotheses that few matches decide.
const QUICK: [&str; 4] = ["--elo1", "200", "--jobs", "2"];

/// A repository with a bot in `bots/my bot`, which waits on `main` and plays on the branch that is checked out.
struct Sample {
    _folder: TempDir,
    top: PathBuf,
}

impl Sample {
    fn new() -> Self {
        let folder = folder();
        let top = folder.path().join("repository");
        std::fs::create_dir(&top).expect("a folder");
        let sample = Self { _folder: folder, top };
        sample.git(&["init", "--quiet", "--initial-branch", "main"]);
        sample.commit("a readme", &[("README.md", "Bots\n")]);
        waiter(&sample.top.join("bots"), "my bot");
        sample.commit("it waits", &[("bots/my bot/agon.toml", WAITS)]);
        sample.git(&["switch", "--quiet", "--create", "play"]);
        // What it plays lies elsewhere in the repository.
        std::os::unix::fs::symlink("../../lib/brain.py", sample.bot().join("brain.py")).expect("a link");
        sample.commit("it plays", &[("lib/brain.py", STRONG), ("bots/my bot/agon.toml", MANIFEST)]);
        sample
    }

    fn bot(&self) -> PathBuf {
        self.top.join("bots/my bot")
    }

    fn git(&self, words: &[&str]) {
        let own = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let done =
            Command::new("git").args(own).args(words).current_dir(&self.top).output().expect("git starts");
        assert!(done.status.success(), "git {words:?}: {}", err(&done));
    }

    fn commit(&self, message: &str, files: &[(&str, &str)]) {
        files.iter().for_each(|(name, text)| write(&self.top, name, text));
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// A file beside the repository.
    fn beside(&self, name: &str) -> PathBuf {
        self.top.with_file_name(name)
    }

    /// `agon ci` in a folder; nothing of a build server that runs this test is seen.
    fn command(&self, place: &Path, words: &[&str]) -> Command {
        let mut command = command(place, &[&["ci"], words].concat());
        command.env("AGON_CACHE", self.beside("cache"));
        ["GITHUB_BASE_REF", "GITHUB_STEP_SUMMARY", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"].iter().for_each(
            |name| {
                command.env_remove(name);
            },
        );
        command
    }

    /// The same in the bot's folder, with all three kinds of results: the exit code, the JSON, the summary, the suites.
    #[track_caller]
    fn run(&self, words: &[&str]) -> Ran {
        let (junit, summary) = (self.beside("junit.xml"), self.beside("summary.md"));
        let written = [
            "--junit",
            junit.to_str().expect("text"),
            "--summary",
            summary.to_str().expect("text"),
            "--json",
        ];
        let output =
            self.command(&self.bot(), &[&written[..], words].concat()).output().expect("agon starts");
        let text = |file: &Path| {
            std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{error}: {}", err(&output)))
        };
        let summary = text(&summary);
        println!("{}\n{summary}\n{}", err(&output), text(&junit));
        let json = json(&output);
        assert_eq!(printed::told("Series and ratings", "CiResult", &json), None);
        Ran { code: output.status.code(), json, summary, suites: suites(&junit), said: err(&output) }
    }
}

/// What a run came to.
struct Ran {
    code: Option<i32>,
    json: Value,
    summary: String,
    suites: String,
    said: String,
}

impl Ran {
    fn first_line(&self) -> &str {
        self.summary.lines().next().unwrap_or_default()
    }

    fn steps(&self) -> Vec<String> {
        let steps = self.json["steps"].as_array().expect("steps").iter();
        steps.map(|step| format!("{} {}", step["step"], step["status"]).replace('"', "")).collect()
    }
}

/// What a strict parser reads of a JUnit file: each suite with its tests and failures, as counted and as said, and the messages.
fn suites(file: &Path) -> String {
    let script = "
import sys, xml.etree.ElementTree as t
root = t.parse(sys.argv[1]).getroot()
assert root.tag == 'testsuites'
for suite in root:
    cases = suite.findall('testcase')
    failed = [c.find('failure') for c in cases if c.find('failure') is not None]
    assert int(suite.get('tests')) == len(cases) and int(suite.get('failures')) == len(failed)
    float(suite.get('time'))
    print(suite.get('name'), len(cases), len(failed), *[f.get('message') + '|' + (f.text or '') for f in failed])
";
    out(&good(Command::new("python3").args(["-c", script]).arg(file).output().expect("python3 starts")))
}

#[test]
fn a_better_branch_is_better_and_no_match_is_played_twice() {
    let sample = Sample::new();
    let ran = sample.run(&QUICK);
    assert_eq!((ran.code, &ran.json["decision"]), (Some(0), &"better".into()), "{}", ran.said);
    assert!(ran.first_line().starts_with("## Better than main ("), "{}", ran.summary);
    assert_eq!(ran.steps(), ["build passed", "check passed", "tests skipped", "sprt passed"]);
    let games = ran.json["series"]["games"].as_u64().expect("a number");
    for line in [
        "| build | nothing to build |",
        &format!("| sprt | better after {games} matches |"),
        "- Elo ",
        "- LLR +",
        "- Faults: none",
    ] {
        assert!(ran.summary.contains(line), "{line}: {}", ran.summary);
    }
    let again = format!(
        "```sh\ncd 'bots/my bot'\nagon ci --base {} --elo1 200\n```",
        ran.json["commit"].as_str().expect("a commit")
    );
    assert!(ran.summary.contains(&again), "{}", ran.summary);
    assert!(ran.suites.contains("sprt 1 0") && ran.suites.contains("tests 0 0"), "{}", ran.suites);
    let known = sample.run(&QUICK);
    assert_eq!((known.code, &known.json["series"]["resumed"]), (Some(0), &games.into()));
    assert_eq!(known.json["series"]["test"], ran.json["series"]["test"]);
    // A cache may come back in pieces.
    let journals = std::fs::read_dir(sample.beside("cache/ci")).expect("the journals").flatten();
    let journals: Vec<PathBuf> = journals.map(|folder| folder.path().join("journal.jsonl")).collect();
    assert_eq!(journals.len(), 1);
    std::fs::write(&journals[0], "{}\n").expect("written");
    let anew = sample.run(&[&QUICK[..], &["--games", "2"]].concat());
    assert_eq!((anew.code, &anew.json["series"]["resumed"]), (Some(12), &0.into()), "{}", anew.said);
    assert!(anew.said.contains("begins anew"), "{}", anew.said);
}

#[test]
fn a_worse_branch_is_worse_whatever_the_base_is_called() {
    let sample = Sample::new();
    // It waits again, and the branch that plays has a name that Markdown, XML and shells read otherwise.
    let odd = "a|b`c<d>&\"e'$(f)";
    sample.git(&["branch", "--move", odd]);
    sample.git(&["switch", "--quiet", "--create", "worse"]);
    sample.commit("it waits", &[("bots/my bot/agon.toml", WAITS)]);
    let ran = sample.run(&["--elo1", "60", "--base", odd]);
    assert_eq!((ran.code, &ran.json["decision"]), (Some(11), &"worse".into()), "{}", ran.said);
    assert!(ran.first_line().starts_with("## Worse than a\\|b\\`c\\<d\\>\\&\"e'$(f) ("), "{}", ran.summary);
    assert_eq!(ran.json["base"], odd);
    assert!(ran.suites.contains(&format!("sprt 1 1 Worse than {odd} (")), "{}", ran.suites);
    for refused in [
        &["--base", "nobody"][..],
        &["--base=-x"],
        &["--games", "0"],
        &["--minutes", "-1"],
        &["--elo0", "30"],
    ] {
        let output = sample.command(&sample.bot(), refused).output().expect("agon starts");
        assert_eq!(output.status.code(), Some(2), "{refused:?}: {}", err(&output));
    }
}

#[test]
fn without_a_decision_it_goes_on_where_it_was() {
    let sample = Sample::new();
    let ran = sample.run(&["--games", "2"]);
    assert_eq!((ran.code, &ran.json["decision"]), (Some(12), &"undecided".into()), "{}", ran.said);
    assert!(
        ran.first_line().starts_with("## Not decided whether it is better than main ("),
        "{}",
        ran.summary
    );
    assert!(ran.summary.contains("2 matches were played, as --games says"), "{}", ran.summary);
    let more = sample.run(&["--games", "4"]);
    assert_eq!((&more.json["series"]["resumed"], &more.json["series"]["games"]), (&2.into(), &4.into()));
    let late = sample.run(&["--minutes", "0"]);
    assert_eq!((late.code, &late.json["decision"]), (Some(12), &"undecided".into()), "{}", late.said);
    assert_eq!(late.first_line(), "## Not decided: nothing was compared");
    assert!(
        late.summary.contains("the 0 minutes are over") && late.steps() == ["build stopped"],
        "{}",
        late.summary
    );
}

#[test]
fn a_build_ends_with_the_time() {
    let sample = Sample::new();
    // It would take for ever, and leaves a program behind that holds its output.
    let endless = format!("build = \"sh -c 'sleep 1000000 & sleep 1000000'\"\n{MANIFEST}");
    write(sample.bot(), "agon.toml", &endless);
    let ran = sample.run(&["--minutes", "0.02"]);
    assert_eq!((ran.code, ran.steps()), (Some(12), vec!["build stopped".to_owned()]), "{}", ran.said);
    // So does that of the bot of the base.
    sample.commit("it takes long", &[]);
    write(sample.bot(), "agon.toml", MANIFEST);
    let ran = sample.run(&["--base", "HEAD", "--minutes", "0.15"]);
    assert_eq!((ran.code, &ran.json["decision"]), (Some(12), &"undecided".into()), "{}", ran.said);
    assert!(ran.summary.contains("the 0.15 minutes are over"), "{}", ran.summary);
}

#[test]
fn what_is_broken_is_named_with_its_message() {
    let sample = Sample::new();
    let build = format!("build = \"sh -c 'cat said; exit 3'\"\n{MANIFEST}");
    write(sample.bot(), "said", "bot.c:1: <oh> & ``` no\n");
    write(sample.bot(), "agon.toml", &build);
    let ran = sample.run(&[]);
    assert_eq!(
        (ran.code, ran.first_line(), &ran.json["decision"]),
        (Some(1), "## Broken: build failed", &Value::Null)
    );
    assert!(
        ran.summary.contains(
            "First failure: build\n\n````text\n`sh -c 'cat said; exit 3'` ended with exit status: 3\n"
        ),
        "{}",
        ran.summary
    );
    assert!(ran.summary.contains("\nbot.c:1: <oh> & ``` no\n````\n"), "{}", ran.summary);
    assert!(ran.summary.contains("cd 'bots/my bot'\nagon build\n"), "{}", ran.summary);
    assert!(
        ran.suites.starts_with("build 1 1 ") && ran.suites.contains("bot.c:1: <oh> & ``` no"),
        "{}",
        ran.suites
    );
    // It answers what the game does not know, and one of its tests cannot be read.
    write(sample.bot(), "agon.toml", MANIFEST);
    write(&sample.top, "lib/brain.py", &STRONG.replace("print(", "print(\"\\x1b[31mNONSENSE\","));
    write(
        sample.bot(),
        "tests/lost.toml",
        "replay = 'gone.replay'\nseat = 1\nturn = 1\n[answer]\nis = ['WAIT']\n",
    );
    let ran = sample.run(&[]);
    assert_eq!((ran.code, ran.first_line()), (Some(1), "## Broken: check failed"), "{}", ran.said);
    assert_eq!(ran.steps(), ["build passed", "check failed", "tests failed"]);
    assert!(ran.summary.contains("First failure: check, "), "{}", ran.summary);
    assert!(ran.suites.contains("tests 1 1 ") && ran.suites.contains("gone.replay"), "{}", ran.suites);
    let found = ran.json["steps"][1]["cases"]
        .as_array()
        .expect("findings")
        .iter()
        .find(|case| case["status"] == "failed");
    let again = found.expect("a failure")["again"].as_str().expect("a command");
    assert!(
        again.starts_with("agon ") && ran.summary.contains(&format!("\n{again}\n")),
        "{again}: {}",
        ran.summary
    );
}

#[test]
fn where_there_is_nothing_to_compare_with_the_checks_count() {
    let sample = Sample::new();
    let skipped = ["build passed", "check passed", "tests skipped"];
    let passed = |ran: &Ran, why: &str| {
        assert_eq!((ran.code, &ran.json["decision"]), (Some(0), &Value::Null), "{}", ran.said);
        assert_eq!(ran.first_line(), "## Passed, and compared with nothing");
        assert!(
            ran.summary.contains(why) && ran.json["why"].as_str().is_some_and(|own| own.contains(why)),
            "{}",
            ran.summary
        );
    };
    // The bot is new.
    let ran = sample.run(&["--base", "main~1"]);
    passed(&ran, "the bot is new: main");
    assert!(ran.summary.contains("main\\~1 has no folder bots/my bot\n"), "{}", ran.summary);
    assert_eq!(ran.steps(), skipped);
    // The one before is not built, and that is its own fault.
    sample.git(&["switch", "--quiet", "main"]);
    sample.commit(
        "a mistake",
        &[(
            "bots/my bot/agon.toml",
            "build = \"sh -c 'echo no such letter; exit 1'\"\nrun = \"sh run.sh\"\n",
        )],
    );
    sample.git(&["switch", "--quiet", "--create", "mended"]);
    sample.commit("mended", &[("bots/my bot/agon.toml", WAITS)]);
    let ran = sample.run(&[]);
    passed(&ran, "no such letter");
    assert_eq!(ran.steps()[3], "sprt skipped");
    // Nothing was changed.
    let ran = sample.run(&["--base", "HEAD"]);
    assert_eq!((ran.code, &ran.json["decision"]), (Some(14), &"equal".into()), "{}", ran.said);
    assert!(ran.first_line().starts_with("## The same bot as on "), "{}", ran.summary);
    // There is no git.
    std::fs::rename(sample.top.join(".git"), sample.beside("away")).expect("moved");
    passed(&sample.run(&[]), "this is not a git repository");
}

#[test]
fn a_submodule_that_is_not_fetched_is_no_verdict() {
    let sample = Sample::new();
    let other = sample.beside("other");
    std::fs::create_dir(&other).expect("a folder");
    let own = Sample { _folder: folder(), top: other };
    own.git(&["init", "--quiet"]);
    own.commit("weights", &[("weights.txt", "1 2 3\n")]);
    let (allowed, place) = (["-c", "protocol.file.allow=always"], own.top.to_str().expect("text"));
    sample.git(&[&allowed[..], &["submodule", "--quiet", "add", place, "bots/my bot/weights"]].concat());
    sample.commit("weights", &[]);
    sample.git(&["switch", "--quiet", "--create", "later"]);
    write(sample.bot(), "note.txt", "another\n");
    let there = sample.run(&["--base", "play", "--games", "2"]);
    assert_eq!(there.code, Some(12), "{}", there.said);
    std::fs::remove_dir_all(sample.beside("cache")).expect("removed");
    std::fs::remove_file(sample.bot().join("weights/.git")).expect("removed");
    let ran = sample.run(&["--base", "play", "--games", "2"]);
    assert_eq!((ran.code, &ran.json["decision"]), (Some(3), &Value::Null), "{}", ran.said);
    assert!(ran.first_line() == "## Not decided: agon or the machine failed at sprt", "{}", ran.summary);
    assert!(
        ran.summary.contains("submodule update --init --recursive -- 'bots/my bot/weights'"),
        "{}",
        ran.summary
    );
}

#[test]
fn a_build_server_names_the_base_and_gets_the_summary() {
    let sample = Sample::new();
    let (clone, shallow) = (sample.beside("clone"), sample.beside("shallow"));
    sample.git(&["clone", "--quiet", ".", clone.to_str().expect("text")]);
    let origin = format!("file://{}", sample.top.display());
    sample.git(&["clone", "--quiet", "--depth", "1", &origin, shallow.to_str().expect("text")]);
    let steps = sample.beside("steps.md");
    std::fs::write(&steps, "# Before\n").expect("written");
    let run = |place: &Path, base: &str, by: &str| -> Output {
        let words = ["bots/my bot", "--games", "2"];
        let mut command = sample.command(place, &words);
        command.env(by, base).env("GITHUB_STEP_SUMMARY", &steps).output().expect("agon starts")
    };
    // This clone has no branch of that name but for the server's.
    for by in ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"] {
        let output = run(&clone, "main", by);
        assert_eq!(output.status.code(), Some(12), "{}", err(&output));
        assert!(
            out(&output).starts_with("## Not decided whether it is better than main ("),
            "{}",
            out(&output)
        );
    }
    let text = std::fs::read_to_string(&steps).expect("the summary");
    assert!(
        text.starts_with("# Before\n## Not decided") && text.matches("## Not decided").count() == 2,
        "{text}"
    );
    let output = run(&shallow, "main", "GITHUB_BASE_REF");
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(err(&output).contains("fetch-depth: 0"), "{}", err(&output));
}

/// A YAML file as JSON.
fn yaml(file: &Path) -> Value {
    let script = "import sys, json, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))";
    json(&good(Command::new("python3").args(["-c", script]).arg(file).output().expect("python3 starts")))
}

#[test]
fn the_files_for_build_servers_install_agon_and_run_it() {
    let reads_yaml =
        Command::new("python3").args(["-c", "import yaml"]).output().is_ok_and(|done| done.status.success());
    if !reads_yaml || !is_installed("curl") {
        println!("SKIPPED: python3 with yaml, or curl, is not installed");
        return;
    }
    let sample = Sample::new();
    let new = |server: &str| command(&sample.bot(), &["new", "--ci", server]).output().expect("agon starts");
    good(new("github"));
    good(new("gitlab"));
    let there = new("github");
    assert_eq!(there.status.code(), Some(2));
    assert!(err(&there).contains("agon.yml is there already and stays as it is"), "{}", err(&there));
    let github = yaml(&sample.top.join(".github/workflows/agon.yml"));
    let steps = github["jobs"]["agon"]["steps"].as_array().expect("steps");
    let run: Vec<&Value> = steps.iter().filter(|step| step["run"].is_string()).collect();
    assert_eq!(run[1]["working-directory"], "bots/my bot");
    let gitlab = yaml(&sample.top.join(".gitlab-ci.yml"));
    let job = &gitlab["agon"];
    assert_eq!(job["variables"]["BOT_FOLDER"], "bots/my bot");
    let line = |value: &Value| value.as_str().expect("a line").to_owned();
    let before: Vec<String> = job["before_script"].as_array().expect("lines").iter().map(line).collect();
    let script: Vec<String> = job["script"].as_array().expect("lines").iter().map(line).collect();
    // An archive as a release has it.
    let home = sample.beside("home");
    write(&home, "agon-0/README.md", "agon\n");
    std::fs::copy(env!("CARGO_BIN_EXE_agon"), home.join("agon-0/agon")).expect("a copy");
    let pack = "tar -czf agon-0.tar.gz agon-0 && sha256sum agon-0.tar.gz | cut -d ' ' -f 1";
    let packed = good(Command::new("sh").args(["-c", pack]).current_dir(&home).output().expect("sh starts"));
    let server = |lines: &str, place: &Path, sum: &str| -> Output {
        let mut shell = Command::new("bash");
        shell.args(["-e", "-c", lines]).current_dir(place).env("HOME", &home).env("NO_COLOR", "1");
        shell.env("AGON_ARCHIVE", format!("file://{}/agon-0.tar.gz", home.display())).env("AGON_SHA256", sum);
        shell.env("GITHUB_PATH", home.join("path")).env("RUNNER_TEMP", &home).env("CI_PROJECT_DIR", place);
        shell.env("BOT_FOLDER", "bots/my bot").env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main");
        shell.env("AGON_CACHE", place.join("agon-series/cache")).output().expect("bash starts")
    };
    let sum = out(&packed).trim().to_owned();
    let forged = server(&line(&run[0]["run"]), &sample.top, &"0".repeat(64));
    assert!(!forged.status.success() && !home.join(".local/agon").exists(), "{}", out(&forged));
    good(server(&line(&run[0]["run"]), &sample.top, &sum));
    let path = std::fs::read_to_string(home.join("path")).expect("it is told");
    assert_eq!(path.trim(), home.join(".local/agon").display().to_string());
    // As the server does it, with fewer matches.
    let few = |lines: String| lines.replace("--minutes 20", "--games 2");
    let on_github = format!("export PATH={}:$PATH\n{}", path.trim(), few(line(&run[1]["run"])));
    let ran = good(server(&on_github, &sample.bot(), &sum));
    assert!(out(&ran).starts_with("## Not decided whether"), "{}", out(&ran));
    assert!(suites(&home.join("agon-junit.xml")).contains("sprt 1 0"));
    let clone = sample.beside("project");
    sample.git(&["clone", "--quiet", ".", clone.to_str().expect("text")]);
    std::fs::remove_dir_all(home.join(".local")).expect("removed");
    let all: Vec<String> =
        before.into_iter().filter(|line| !line.starts_with("apt-get")).chain(script).collect();
    let ran = server(&few(all.join("\n")), &clone, &sum);
    assert_eq!(ran.status.code(), Some(12), "{}{}", out(&ran), err(&ran));
    for file in
        [&job["artifacts"]["paths"][0], &job["artifacts"]["reports"]["junit"], &job["cache"]["paths"][0]]
    {
        assert!(clone.join(line(file)).exists(), "{file} is kept");
    }
}
