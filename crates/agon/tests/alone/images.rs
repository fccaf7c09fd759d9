//! Images of other sources than this machine's programs: archives, and packages of pip and npm. Without a sandbox on this machine the
//! tests say so and pass.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use agon_bot::image::{ImageSet, Images, LANGUAGES};
use serde_json::Value;

use crate::common::{
    Running, command, err, folder, good, json, number, out, site_of, token_of, write_program as write,
};

/// Whether strangers' bots can run here, and a program of the system's is here, which no home holds.
fn has(program: &str) -> bool {
    let found = agon_sandbox::probe(Path::new(env!("CARGO_BIN_EXE_agon")));
    let is_here = Path::new("/usr/bin").join(program).exists();
    if found.level > agon_sandbox::Level::B || !is_here {
        println!("SKIPPED: level {} here, /usr/bin/{program}: {is_here}", found.level);
    }
    found.level <= agon_sandbox::Level::B && is_here
}

/// Agon as a machine of its own, with the system's programs only.
fn machine(at: &Path, name: &str, words: &[&str]) -> Command {
    let mut agon = command(at, words);
    let home = at.join(name);
    agon.env("AGON_CACHE", home.join("cache")).env("HOME", &home).env("PATH", "/usr/bin:/bin");
    agon.env_remove("NODE_PATH").env_remove("PYTHONPATH");
    agon
}

fn agon(at: &Path, name: &str, words: &[&str]) -> Output {
    machine(at, name, words).output().expect("agon")
}

/// Two matches of a bot that all others take for a stranger's; returns the images that each was played in.
fn played(at: &Path, name: &str, bot: &str) -> Vec<Value> {
    let journal = format!("{name}-{bot}.jsonl");
    let words = ["gauntlet", "cultist-wars", bot, "builtin:idle", "-n", "2", "--seed", "3", "-q"];
    let more = ["--replays", "none", "--sandbox", "stranger", "--journal", &journal];
    let done = good(agon(at, name, &[&words[..], &more].concat()));
    let text = fs::read_to_string(at.join(&journal)).expect("a journal");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let lines: Vec<Value> = lines.filter(|line| line.get("ranks").is_some()).collect();
    for line in &lines {
        assert!(!line.to_string().contains("\"faults\":[{"), "{line:#}: {}", err(&done));
    }
    lines.into_iter().map(|mut line| line["images"].take()).collect()
}

/// A bot that plays if what it looks at first is as it should be.
fn bot(at: &Path, name: &str, looks: &str) {
    let text = format!(
        "import os, sys\n{looks}\nfor _ in range(9): sys.stdin.readline()\nwhile line := sys.stdin.readline():\n    \
         for _ in range(int(line)): sys.stdin.readline()\n    print('WAIT', flush=True)\n"
    );
    write(at, &format!("{name}/bot.py"), &text);
    write(at, &format!("{name}/agon.toml"), "run = 'python3 bot.py'\n");
}

fn shell(at: &Path, line: &str) -> String {
    out(&good(Command::new("sh").args(["-ec", line]).current_dir(at).output().expect("a shell")))
}

/// The files of the image of Python that this machine makes.
fn root_of_python(at: &Path) -> PathBuf {
    let own = json(&good(agon(at, "own", &["image", "build", "python", "--json"])));
    let name = own["image"].as_str().expect("a name").to_owned();
    at.join("own/cache/images").join(name).join("root")
}

#[test]
fn an_archive_becomes_the_image_of_its_languages() {
    if !has("python3") {
        return;
    }
    let at = folder();
    let at = at.path();
    let root = root_of_python(at);
    // A root file system, with what nobody is to see.
    fs::create_dir_all(at.join("more/usr/lib/own")).expect("folders");
    fs::create_dir_all(at.join("more/root")).expect("folders");
    fs::write(at.join("more/usr/lib/own/first"), "1").expect("written");
    fs::write(at.join("more/usr/lib/own/second"), "2").expect("written");
    fs::write(at.join("more/root/secret"), "s").expect("written");
    let root = root.display().to_string();
    shell(at, &format!("tar -cf plain.tar -C '{root}' . -C ../../../../../more ./usr ./root"));
    let built = json(&good(agon(at, "plain", &["image", "build", "--from", "plain.tar", "--json"])));
    assert_eq!((&built["from"], &built["chosen"]), (&"plain.tar".into(), &true.into()), "{built:#}");
    let languages = built["languages"].as_array().expect("a list");
    assert!(languages.contains(&"Python".into()) && !languages.contains(&"Java".into()), "{built:#}");
    bot(
        at,
        "ann",
        "assert open('/usr/lib/own/first').read() == '1'\nassert os.path.exists('/usr/lib/own/second')\n\
         assert not os.path.exists('/root/secret')",
    );
    assert_eq!(played(at, "plain", "ann"), vec![Value::from(vec![built["image"].clone()]); 2]);
    // Another start finds it, and a bot of another language gets an image of this machine's.
    let listed = json(&good(agon(at, "plain", &["image", "--json"])));
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed:#}");

    // A container's image of two layers: the second takes a file away, and brings one.
    fs::create_dir_all(at.join("second/usr/lib/own")).expect("folders");
    fs::write(at.join("second/usr/lib/own/.wh.second"), "").expect("written");
    fs::write(at.join("second/usr/lib/own/third"), "3").expect("written");
    let container = r#"
mkdir -p oci/blobs/sha256
put() { sum=$(sha256sum "$1" | cut -d' ' -f1); mv "$1" oci/blobs/sha256/$sum; echo $sum; }
cp plain.tar first.tar
tar -czf second.tar -C second .
one=$(put first.tar); two=$(put second.tar)
printf '{"architecture":"","config":{"Env":["PATH=/usr/local/bin:/usr/bin","OWN=yes"]}}' > config
config=$(put config)
printf '{"config":{"digest":"sha256:%s"},"layers":[{"digest":"sha256:%s"},{"digest":"sha256:%s"}]}' $config $one $two > manifest
manifest=$(put manifest)
printf '{"manifests":[{"digest":"sha256:%s"}]}' $manifest > oci/index.json
printf '{"imageLayoutVersion":"1.0.0"}' > oci/oci-layout
tar -cf image.tar -C oci .
"#;
    shell(at, container);
    let built = good(agon(at, "oci", &["image", "build", "--from", "image.tar"]));
    assert!(out(&built).contains("Python") && out(&built).contains("of image.tar"), "{}", out(&built));
    bot(
        at,
        "bob",
        "assert os.path.exists('/usr/lib/own/first') and os.path.exists('/usr/lib/own/third')\n\
         assert not os.path.exists('/usr/lib/own/second')\nassert os.environ['OWN'] == 'yes'",
    );
    let images = played(at, "oci", "bob");
    let listed = json(&good(agon(at, "oci", &["image", "--json"])));
    assert_eq!(images, vec![Value::from(vec![listed[0]["image"].clone()]); 2]);
    // The bot of the other one does not find what is gone.
    let words =
        ["play", "cultist-wars", "ann", "builtin:idle", "--sandbox", "stranger", "--json", "--no-replay"];
    let lost = agon(at, "oci", &words);
    assert!(out(&lost).contains("AssertionError"), "{}{}", out(&lost), err(&lost));

    let wrong = agon(at, "oci", &["image", "build", "--from", "image.tar", "python"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", err(&wrong));
    let none = agon(at, "oci", &["image", "build", "--from", "nothing.tar"]);
    assert!(none.status.code() == Some(2) && err(&none).contains("nothing.tar"), "{}", err(&none));
}

/// Makes a wheel and a package of npm, as authors publish them, in the folder `store`.
const PUBLISH: &str = r#"
mkdir -p store w/own_text-1.2.3.dist-info package
printf 'def double(x): return 2 * x\n' > w/own_text.py
printf 'Metadata-Version: 2.1\nName: own-text\nVersion: 1.2.3\nLicense: MIT\n' > w/own_text-1.2.3.dist-info/METADATA
printf 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n' > w/own_text-1.2.3.dist-info/WHEEL
printf 'own_text.py,,35\nown_text-1.2.3.dist-info/METADATA,,\n' > w/own_text-1.2.3.dist-info/RECORD
(cd w && python3 -m zipfile -c ../store/own_text-1.2.3-py3-none-any.whl own_text.py own_text-1.2.3.dist-info/)
printf '{"name":"own-lines","version":"4.5.6","license":"ISC","main":"index.js"}' > package/package.json
printf 'exports.triple = x => 3 * x;\n' > package/index.js
tar -czf store/own-lines-4.5.6.tgz package
"#;

#[test]
fn packages_of_pip_are_in_an_image_and_a_check_says_how_they_get_there() {
    if !has("python3") {
        return;
    }
    let at = folder();
    let at = at.path();
    if Command::new("/usr/bin/python3")
        .args(["-m", "pip", "--version"])
        .output()
        .is_ok_and(|pip| !pip.status.success())
    {
        return println!("SKIPPED: pip is not installed");
    }
    shell(at, PUBLISH);
    bot(at, "ann", "import own_text; assert own_text.double(2) == 4");
    let store = |words: &[&str]| {
        let mut agon = machine(at, "own", words);
        agon.env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", at.join("store"));
        agon
    };
    // At home the package is installed; in an image of the same machine it is not.
    shell(at, "mkdir home && cd home && python3 -m zipfile -e ../store/own_text-1.2.3-py3-none-any.whl .");
    let check = |more: &[&str]| {
        let words = [&["check", "cultist-wars", "ann", "--json"], more].concat();
        let checked = store(&words).env("PYTHONPATH", at.join("home")).output().expect("agon");
        let code = checked.status.code();
        let findings = json(&checked)["findings"].as_array().cloned().unwrap_or_default();
        let packages = findings.into_iter().find(|finding| finding["what"] == "packages");
        (code, packages.map(|finding| finding["seen"].as_str().unwrap_or_default().to_owned()))
    };
    assert_eq!(check(&["--sandbox", "off"]), (Some(0), None));
    let (code, told) = check(&["--sandbox", "stranger"]);
    let told = told.expect("a note of packages");
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("own_text") && told.contains("1.2.3") && told.contains("this machine"), "{told}");
    // What it says to type, for the bot's folder.
    let line = told.split("its folder: ").nth(1).and_then(|rest| rest.split(';').next()).expect("a line");
    assert_eq!(line, "python3 -m pip install --target . own-text==1.2.3");
    shell(at, "cp -r ann carol");
    shell(&at.join("carol"), &format!("PIP_NO_INDEX=1 PIP_FIND_LINKS=../store {line}"));
    assert_eq!(played(at, "own", "carol").len(), 2);
    // And for the image.
    let line = told.split('`').find(|part| part.starts_with("agon image build")).expect("a line");
    assert_eq!(line, "agon image build Python --pip 'own-text==1.2.3'");
    let words: Vec<&str> = line.split(' ').skip(1).map(|word| word.trim_matches('\'')).collect();
    let built = good(store(&words).output().expect("agon"));
    let said = out(&built);
    assert!(said.contains("own-text") && said.contains("1.2.3") && said.contains("MIT"), "{said}");
    let listed = json(&good(agon(at, "own", &["image", "--json"])));
    let with: Vec<&Value> =
        listed.as_array().expect("a list").iter().filter(|image| image["chosen"] == true).collect();
    assert_eq!(with[0]["packages"][0]["licence"], "MIT", "{listed:#}");
    assert_eq!(played(at, "own", "ann"), vec![Value::from(vec![with[0]["image"].clone()]); 2]);
    assert_eq!(check(&["--sandbox", "stranger"]), (Some(0), None));
    // The same on another machine: neither where it was made nor where it came from is in it.
    let wheel = "store/own_text-1.2.3-py3-none-any.whl";
    let mut again = machine(at, "other", &["image", "build", "python", "--json", "--pip", wheel]);
    let again = json(&good(again.env("PIP_NO_INDEX", "1").output().expect("agon")));
    let place = |name: &str, image: &Value| {
        let list = at.join(name).join("cache/images").join(image.as_str().expect("a name")).join("files");
        let text = fs::read_to_string(list).expect("a list");
        text.lines().filter(|line| line.contains("own_text")).map(str::to_owned).collect::<Vec<_>>()
    };
    let lines =
        |all: Vec<String>| all.into_iter().filter(|line| !line.starts_with("package")).collect::<Vec<_>>();
    let (here, there) = (lines(place("own", &with[0]["image"])), lines(place("other", &again["image"])));
    assert!(here.iter().any(|line| line.contains("__pycache__")), "compiled once for all: {here:?}");
    assert_eq!(here, there);

    for (package, why) in [("own-text", "own-text==1.2.3"), ("own-text==9.9", "pip could not"), ("-r", "")] {
        let refused =
            store(&["image", "build", "python", &format!("--pip={package}")]).output().expect("agon");
        assert!(!refused.status.success() && err(&refused).contains(why), "{package}: {}", err(&refused));
    }
}

/// Plays if what it has taken from its package does as it should.
const PLAYS: &str = "
if (triple(2) !== 6) process.exit(3);
let left = 9, text = '', begun = false;
process.stdin.on('data', part => {
  text += part;
  let end;
  while ((end = text.indexOf('\\n')) >= 0) {
    const line = text.slice(0, end);
    text = text.slice(end + 1);
    if (left === 0) left = Number(line); else left -= 1;
    if (left === 0 && begun) console.log('WAIT');
    if (left === 0) begun = true;
  }
});
";

#[test]
fn packages_of_npm_are_in_an_image() {
    if !has("npm") || !has("python3") {
        return;
    }
    let at = folder();
    let at = at.path();
    shell(at, PUBLISH);
    for (name, file, first) in [
        ("ann", "bot.cjs", "const { triple } = require('own-lines');"),
        ("bob", "bot.mjs", "import own from 'own-lines'; const triple = own.triple;"),
    ] {
        write(at, &format!("{name}/{file}"), &format!("{first}{PLAYS}"));
        write(at, &format!("{name}/agon.toml"), &format!("run = 'node {file}'\n"));
    }
    // At home it lies above the bots.
    shell(at, "mkdir node_modules && cp -r package node_modules/own-lines");
    let check = agon(at, "own", &["check", "cultist-wars", "ann", "--json", "--sandbox", "stranger"]);
    let findings = json(&check)["findings"].as_array().cloned().unwrap_or_default();
    let told = findings.into_iter().find(|finding| finding["what"] == "packages").expect("a note");
    let told = told["seen"].as_str().expect("a sentence").to_owned();
    assert!(told.contains("`agon image build JavaScript --npm own-lines@4.5.6`"), "{told}");
    assert!(told.contains("npm install own-lines@4.5.6"), "{told}");
    let words = ["image", "build", "javascript", "--npm", "store/own-lines-4.5.6.tgz", "--json"];
    let built = json(&good(agon(at, "own", &words)));
    let package = &built["packages"][0];
    assert_eq!((&package["name"], &package["licence"]), (&"own-lines".into(), &"ISC".into()), "{built:#}");
    assert!(package["bytes"].as_u64().is_some_and(|bytes| bytes > 50), "{built:#}");
    for bot in ["ann", "bob"] {
        assert_eq!(played(at, "own", bot), vec![Value::from(vec![built["image"].clone()]); 2], "{bot}");
    }
    let refused = agon(at, "own", &["image", "build", "javascript", "--npm", "own-lines@^4"]);
    assert!(
        refused.status.code() == Some(2) && err(&refused).contains("own-lines@1.2.3"),
        "{}",
        err(&refused)
    );
}

/// What a replay says of each question: who answered what, and what came of it. Not how long anything took.
fn answers(at: &Path, replay: &Path) -> Vec<Value> {
    let replay = replay.display().to_string();
    let told = json(&good(agon(at, "reader", &["replay", "export", &replay, "--format", "json"])));
    let steps = told["steps"].as_array().expect("a list").clone();
    assert!(!steps.is_empty(), "{replay}");
    let one = |mut step: Value| {
        for answer in step["answers"].as_array_mut().into_iter().flatten() {
            answer["wall_us"].take();
            answer["cpu_us"].take();
        }
        step
    };
    steps.into_iter().map(one).collect()
}

/// A series of two bots under the conditions of a contest, on a machine of its own; returns its replays in order.
fn series(machine: &mut Command, at: &Path) -> Vec<PathBuf> {
    good(machine.output().expect("agon"));
    let mut replays: Vec<PathBuf> =
        fs::read_dir(at).expect("a folder").flatten().map(|entry| entry.path()).collect();
    replays.retain(|file| file.extension().is_some_and(|ending| ending == "replay"));
    replays.sort();
    replays
}

/// Two machines, with homes of their own: one makes an image, and serves a contest that names it; the other fetches it from there.
/// The same bots answer the same on both. `AGON_MATCHES` says how many matches.
#[test]
fn an_image_that_was_fetched_plays_as_the_first() {
    if !has("python3") {
        return;
    }
    let matches = number("AGON_MATCHES", 2).to_string();
    let at = folder();
    let at = at.path();
    let languages: &[&str] = match Path::new("/usr/bin/node").exists() {
        true => &["python", "javascript"],
        false => &["python"],
    };
    let words = [&["image", "build", "--json"], languages].concat();
    let image = json(&good(agon(at, "one", &words)))["image"].as_str().expect("a name").to_owned();
    let contest = format!(
        "game = 'cultist-wars'\n[site]\ntitle = 'Autumn Cup'\nsign_up = 'open'\n[sandbox]\nlevel = 'B'\nimage = '{image}'\n"
    );
    write(at, "cup/contest.toml", &contest);
    let mut serve = machine(at, "one", &["serve", "cup", "-j", "0", "--port", "0"]);
    let child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon");
    let mut server = Running(child);
    let url = site_of(&mut server.0, Duration::from_secs(120));
    let token = token_of(&url, "Bea");
    let of = |name: &str, words: &[&str]| {
        let place = at.join(name);
        fs::create_dir_all(&place).expect("a folder");
        let mut agon = machine(at, name, words);
        agon.current_dir(place).env("AGON_URL", &url).env("AGON_TOKEN", &token);
        agon
    };
    let got = good(of("two", &["image", "get"]).output().expect("agon"));
    assert!(err(&got).contains("fetching the image") && out(&got).contains(&image[..12]), "{}", out(&got));
    let mut played = Vec::new();
    for name in ["one", "two"] {
        let last = languages.last().expect("a language");
        for (bot, language) in [("ann", "python"), ("bob", last)] {
            good(of(name, &["new", "cultist-wars", language, bot]).output().expect("agon"));
        }
        let words = ["gauntlet", "cultist-wars", "ann", "bob", "-n", &matches, "--seed", "11", "-q"];
        let more = ["--replays", "all", "--journal", "replays-of/journal.jsonl", "--as", &url];
        let replays =
            series(&mut of(name, &[&words[..], &more].concat()), &at.join(name).join("replays-of/replays"));
        let text = fs::read_to_string(at.join(name).join("replays-of/journal.jsonl")).expect("a journal");
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        for line in lines.filter(|line| line.get("ranks").is_some()) {
            assert_eq!(line["images"], Value::from(vec![image.as_str()]), "{line}");
        }
        played.push(replays.iter().map(|replay| answers(at, replay)).collect::<Vec<_>>());
    }
    let count: usize = played[0].iter().map(Vec::len).sum();
    assert_eq!(played[0].len().to_string(), matches, "a replay of each match");
    for (number, (one, two)) in played[0].iter().zip(&played[1]).enumerate() {
        assert_eq!(one.len(), two.len(), "match {number}");
        let other = one.iter().zip(two).position(|(one, two)| one != two);
        assert_eq!(other, None, "match {number}");
    }
    println!(
        "{matches} matches with {count} questions: the same answers in {} and in the fetched image",
        &image[..12]
    );
}

const GUIDE: &str = include_str!("../../../../docs/bots.md");
const FIRST_ROW: &str =
    "| language | programs | told of 768 MB | packages | version | MB |\n|---|---|---|---|---|---|\n";

/// What the first line with a number in it says a program's version is.
fn version(program: &str) -> Option<String> {
    let tool = agon_bot::tools::TOOLS.iter().find(|tool| tool.program == program);
    let said = Command::new(program).arg(tool.map_or("--version", |tool| tool.version)).output().ok()?;
    let text = out(&said) + &err(&said);
    let is_number = |word: &&str| {
        word.contains('.') && word.trim_start_matches(['v', '(']).starts_with(|c: char| c.is_ascii_digit())
    };
    let word = text
        .split([' ', '\n', '"', ',', '-', '\u{1b}'])
        .find(is_number)
        .or_else(|| text.split(' ').find(|word| word.starts_with("go1")))?;
    Some(word.trim_start_matches(['v', '(', 'g', 'o']).trim_end_matches(')').to_owned())
}

/// The columns of a language that are the same on all machines.
fn row(language: &agon_bot::image::ImageLanguage) -> String {
    let programs: Vec<String> = language.programs.iter().map(|program| format!("`{program}`")).collect();
    let told = agon_bot::inside::told(language.name, 768 << 20);
    let told = told.map_or("–".to_owned(), |told| format!("{} MB", told >> 20));
    let packages = match language.name {
        "Python" => "none; `--pip` adds some",
        "JavaScript" | "TypeScript" | "Deno" | "Bun" => "none; `--npm` adds some",
        _ => "none",
    };
    format!("| {} | {} | {told} | {packages} | ", language.name, programs.join(", "))
}

/// The table in docs/bots.md is made of the images of this machine; `UPDATE_BOOK=1` writes it. Versions and sizes are those of the
/// machine that wrote it last, and are not compared.
#[test]
fn the_table_of_languages_is_that_of_their_images() {
    let update = std::env::var_os("UPDATE_BOOK").is_some();
    let at = folder();
    let images = Images::within(at.path().join("images"));
    let (before, rest) = GUIDE.split_once(FIRST_ROW).expect("the table");
    let (table, after) = rest.split_once("\n\n").expect("its end");
    let mut made = String::new();
    let mut rows = table.lines();
    for language in LANGUAGES.iter().filter(|language| language.name != "C linker") {
        let own = row(language);
        let line = rows.next().unwrap_or_default();
        let set = ImageSet { languages: [language.name.to_owned()].into(), ..ImageSet::default() };
        let programs = match set.programs() {
            Ok(programs) => Some(programs),
            Err(agon_bot::image::ImageError::NotInstalled(_)) => None,
            Err(other) => panic!("{}: {other}", language.name),
        };
        match &programs {
            Some(programs) => {
                assert!(programs.contains(language.programs[0]), "{}: {programs:?}", language.name);
                assert!(programs.contains("sh") && programs.contains("sed"), "{}", language.name);
            }
            None => println!("SKIPPED: {} is not installed", language.name),
        }
        if update {
            let last = match programs {
                Some(_) => {
                    let image = images.make(&set).expect("an image").image;
                    assert!(image.find(language.programs[0]).is_some(), "{}", language.name);
                    assert_eq!(image.packages().expect("a list"), [], "{}", language.name);
                    let (_, bytes) = image.size().expect("a size");
                    let name = image.hash.clone();
                    drop(image);
                    images.remove(&name).expect("removed");
                    format!("{} | {} |", version(language.programs[0]).unwrap_or_default(), bytes >> 20)
                }
                None => "not installed | – |".to_owned(),
            };
            made += &format!("{own}{last}\n");
        } else {
            assert!(line.starts_with(&own), "docs/bots.md is out of date (UPDATE_BOOK=1):\n{own}\n{line}");
        }
    }
    assert!(
        update || rows.next().is_none(),
        "docs/bots.md has more languages than there are (UPDATE_BOOK=1)"
    );
    if update {
        let text = format!("{before}{FIRST_ROW}{}\n\n{after}", made.trim_end());
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bots.md");
        fs::write(file, text).expect("the guide is written");
    }
}
