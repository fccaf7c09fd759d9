//! Single source files: compiled once, before the match, by the compiler of their language.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::common::{WAITER, err, folder, good, json, out, played_well};

/// A bot that always waits, in every language that a single file can be in: extension, what must be installed for it,
/// and the source.
const BOTS: &[(&str, &[&str], &str)] = &[
    (
        "cpp",
        &["g++"],
        "#include <bits/stdc++.h>\nusing namespace std;\nint main() { string s; for (int i = 0; i < 9; i++) getline(cin, s);\n\
         while (getline(cin, s)) { int n = stoi(s); while (n--) getline(cin, s); cout << \"WAIT\" << endl; } }\n",
    ),
    (
        "c",
        &["gcc"],
        "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { char s[256]; for (int i = 0; i < 9; i++) fgets(s, 256, stdin);\n\
         while (fgets(s, 256, stdin)) { int n = atoi(s); while (n--) fgets(s, 256, stdin); puts(\"WAIT\"); fflush(stdout); } }\n",
    ),
    (
        "rs",
        &["rustc", "cc"],
        "use std::io;\nfn line() -> Option<String> { let mut s = String::new(); match io::stdin().read_line(&mut s) { Ok(n) if n > 0 => \
         Some(s), _ => None } }\nfn main() { for _ in 0..9 { line(); } while let Some(n) = line() { for _ in \
         0..n.trim().parse().unwrap() { line(); } println!(\"WAIT\"); } }\n",
    ),
    (
        // As submitted to the site: several classes, the main one called Player, whatever the file is called.
        "java",
        &["java", "javac"],
        "import java.util.*;\nclass Board { }\npublic class Player { public static void main(String[] a) { Scanner in = new \
         Scanner(System.in); for (int i = 0; i < 9; i++) in.nextLine();\nwhile (in.hasNextLine()) { int n = \
         Integer.parseInt(in.nextLine()); while (n-- > 0) in.nextLine(); System.out.println(\"WAIT\"); } } }\n",
    ),
    (
        "kt",
        &["kotlinc", "java"],
        "fun main() { repeat(9) { readLine() }\nwhile (true) { val n = readLine() ?: break; repeat(n.toInt()) { readLine() }; \
         println(\"WAIT\") } }\n",
    ),
    (
        "go",
        &["go"],
        "package main\nimport (\"bufio\"; \"fmt\"; \"os\"; \"strconv\")\nfunc main() { in := bufio.NewScanner(os.Stdin); for i := 0; i < \
         9; i++ { in.Scan() }\nfor in.Scan() { n, _ := strconv.Atoi(in.Text()); for ; n > 0; n-- { in.Scan() }\nfmt.Println(\"WAIT\") } \
         }\n",
    ),
    (
        "cs",
        &["mcs", "mono"],
        "using System;\nclass Player { static void Main() { for (int i = 0; i < 9; i++) Console.ReadLine(); string s; while ((s = \
         Console.ReadLine()) != null) { int n = int.Parse(s); while (n-- > 0) Console.ReadLine(); Console.WriteLine(\"WAIT\"); } } }\n",
    ),
    (
        // CodinGame provides scripts with the function `readline`.
        "ts",
        &["tsc", "node"],
        "declare function readline(): string;\nfor (let i: number = 0; i < 9; i++) readline();\nfor (;;) { const n: string = readline(); if \
         (!n) break; for (let i = 0; i < +n; i++) readline(); console.log(\"WAIT\"); }\n",
    ),
    (
        "js",
        &["node"],
        "for (let i = 0; i < 9; i++) readline();\nfor (;;) { const n = readline(); if (!n) break; for (let i = 0; i < +n; i++) readline(); \
         console.log('WAIT'); }\n",
    ),
    (
        "rb",
        &["ruby"],
        "STDOUT.sync = true\n9.times { gets }\nwhile (n = gets)\n  n.to_i.times { gets }\n  puts 'WAIT'\nend\n",
    ),
    (
        "php",
        &["php"],
        "<?php for ($i = 0; $i < 9; $i++) fgets(STDIN);\nwhile (($n = fgets(STDIN)) !== false) { for ($i = 0; $i < (int)$n; $i++) \
         fgets(STDIN); echo \"WAIT\\n\"; }\n",
    ),
    (
        "lua",
        &["lua"],
        "for i = 1, 9 do io.read() end\nfor n in io.lines() do for i = 1, tonumber(n) do io.read() end print('WAIT') io.flush() end\n",
    ),
    (
        "py",
        &["python3"],
        "for _ in range(9): input()\nwhile True:\n    for _ in range(int(input())): input()\n    print('WAIT')\n",
    ),
];

/// Plays `bot` against a built-in and returns its standard error.
fn play(folder: &Path, path: Option<&Path>, bot: &str) -> String {
    let mut command = crate::common::command(
        folder,
        &["play", "cultist-wars", bot, "builtin:idle", "--no-replay", "--json", "--time-scale", "30"],
    );
    command.env("AGON_CACHE", folder.join("cache"));
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let played = command.output().expect("agon starts");
    let seat = played_well(&played, bot);
    assert!(seat["time"]["answers"].as_u64() > Some(10), "{bot}: {seat:#}");
    err(&played)
}

#[test]
fn a_file_of_every_language_plays() {
    let folder = folder();
    for (ending, needs, source) in BOTS {
        if let Some(missing) = needs.iter().find(|needed| !agon_bot::tools::is_installed(needed)) {
            println!("skipped: .{ending} needs {missing}, which is not installed here");
            continue;
        }
        let bot = format!("mein böt.{ending}");
        std::fs::write(folder.path().join(&bot), source).expect("a file");
        let said = play(folder.path(), None, &bot);
        let compiled = said.contains(&format!("building {bot}: "));
        assert_eq!(compiled, !matches!(*ending, "js" | "rb" | "php" | "lua" | "py"), "{said}");
        assert!(!play(folder.path(), None, &bot).contains("building"), "{ending}: once is enough");
    }
}

#[test]
fn compilers_are_called_as_they_have_to_be() {
    let folder = folder();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    let tool = |name: &str, script: &str| {
        let path = bin.join(name);
        let log = folder.path().join("log");
        let text = format!(
            "#!/bin/sh\nPATH=/usr/bin:/bin\necho \"{name} $*\" >> '{}'\nmake() {{ cp '{}' \"$1\"; chmod +x \"$1\"; }}\n{script}\n",
            log.display(),
            folder.path().join("waiter").display()
        );
        std::fs::write(&path, text).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("our own file");
    };
    std::fs::write(folder.path().join("waiter"), WAITER).expect("a file");
    let last = "for last; do :; done";
    tool("go", "make \"$3\"");
    tool("kotlinc", "make \"$4\"");
    tool("java", &format!("{last}; exec sh \"$last\""));
    tool("tsc", "make \"$7/bot.js\"");
    tool("node", &format!("{last}; exec sh \"$last\""));
    tool(
        "dotnet",
        "if [ \"$1\" = build ]; then cat \"$9\" >&2; make \"$8/bot.dll\"; else exec sh \"$1\"; fi",
    );
    let log = || std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    for (ending, called) in [
        ("go", &["go build -o "][..]),
        ("kt", &["kotlinc -nowarn -include-runtime -d ", "java -jar "]),
        ("ts", &["tsc --target es2022 --module commonjs --esModuleInterop --outDir ", "node "]),
        ("cs", &["dotnet build -c Release ", "dotnet "]),
    ] {
        let bot = format!("bot.{ending}");
        std::fs::write(folder.path().join(&bot), "x").expect("a file");
        let said = play(folder.path(), Some(&bin), &bot);
        assert!(called.iter().all(|called| log().contains(called)), "{ending}: {}", log());
        assert!(ending != "cs" || said.contains("bot.cs\" />"), "the project names the file: {said}");
    }
    // If Mono is the compiler of C#, it is used.
    tool("mcs", "make \"${2#-out:}\"");
    tool("mono", "exec sh \"$1\"");
    std::fs::write(folder.path().join("bot.cs"), "y").expect("a file");
    play(folder.path(), Some(&bin), "bot.cs");
    assert!(log().contains("mcs -optimize+ -out:") && log().contains("mono "), "{}", log());
}

#[test]
fn what_is_missing_says_which_package_to_install() {
    let folder = folder();
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).expect("a folder");
    for (ending, program, package) in [
        ("cpp", "g++", "g++"),
        ("c", "gcc", "gcc"),
        ("rs", "rustc", "rustc"),
        ("java", "javac", "default-jdk"),
        ("kt", "kotlinc", "kotlin"),
        ("go", "go", "golang-go"),
        ("cs", "dotnet", "dotnet-sdk-8.0"),
        ("ts", "tsc", "node-typescript"),
        ("rb", "ruby", "ruby"),
        ("php", "php", "php-cli"),
        ("lua", "lua", "lua5.4"),
        ("pl", "perl", "perl"),
        ("py", "python3", "python3"),
        ("js", "node", "nodejs"),
    ] {
        let bot = format!("bot.{ending}");
        std::fs::write(folder.path().join(&bot), "x").expect("a file");
        let mut command = crate::common::command(
            folder.path(),
            &["play", "cultist-wars", &bot, "builtin:idle", "--no-replay", "--quiet"],
        );
        command.env("AGON_CACHE", folder.path().join("cache")).env("PATH", &empty);
        let played = command.output().expect("agon starts");
        let said = format!("{}{}", out(&played), err(&played));
        assert!(said.contains(&format!("`{program}`")), "{ending}: {said}");
        assert!(said.contains(&format!("install it: sudo apt install {package}")), "{ending}: {said}");
    }
}

#[test]
fn what_build_did_is_told() {
    if !agon_bot::tools::is_installed("gcc") {
        println!("skipped: gcc is not installed here");
        return;
    }
    let folder = folder();
    let build = |arguments: &[&str]| {
        let mut command = crate::common::command(folder.path(), &[&["build", "bot.c"], arguments].concat());
        command.env("AGON_CACHE", folder.path().join("cache")).output().expect("agon starts")
    };
    std::fs::write(folder.path().join("bot.c"), "int main(void) { return 0; }").expect("a file");
    let built = build(&[]);
    assert!(err(&built).contains("building bot.c: gcc -O2"), "{}", err(&built));
    assert!(out(&built).contains("bot.c: built in ") && out(&built).contains("runs as: "), "{}", out(&built));
    assert!(out(&build(&[])).contains("bot.c: up to date"));
    let report: serde_json::Value = json(&build(&["--json", "--force"]));
    assert_eq!(
        (&report[0]["state"], &report[0]["error"]),
        (&"built".into(), &serde_json::Value::Null),
        "{report}"
    );
    assert_eq!(report[0]["command"][0], "gcc");
    // The compiler's complaint is shown, with its place.
    std::fs::write(folder.path().join("bot.c"), "int main(void) { return x; }").expect("a file");
    let built = build(&[]);
    assert_eq!(built.status.code(), Some(1));
    assert!(
        err(&built).contains("bot.c:1:") && out(&built).contains("not built"),
        "{}{}",
        err(&built),
        out(&built)
    );
}

#[test]
fn a_series_compiles_too() {
    if !agon_bot::tools::is_installed("gcc") {
        println!("skipped: gcc is not installed here");
        return;
    }
    let folder = folder();
    let (_, _, source) = BOTS.iter().find(|bot| bot.0 == "c").expect("C is there");
    std::fs::write(folder.path().join("bot.c"), source).expect("a file");
    for more in [&["--build"][..], &[]] {
        let mut words =
            vec!["gauntlet", "cultist-wars", "bot.c", "builtin:idle", "-n", "2", "--time-scale", "30"];
        words.extend(more);
        let mut command = crate::common::command(folder.path(), &words);
        let played =
            good(command.env("AGON_CACHE", folder.path().join("cache")).output().expect("agon starts"));
        assert_eq!(err(&played).contains("building bot.c"), !more.is_empty(), "{}", err(&played));
    }
}

#[test]
fn a_frozen_file_brings_what_it_was_compiled_to() {
    if !agon_bot::tools::is_installed("gcc") {
        println!("skipped: gcc is not installed here");
        return;
    }
    let folder = folder();
    let (_, _, source) = BOTS.iter().find(|bot| bot.0 == "c").expect("C is there");
    std::fs::write(folder.path().join("bot.c"), source).expect("a file");
    let mut command = crate::common::command(folder.path(), &["pin", "bot.c", "v1", "--json"]);
    let frozen = command.env("AGON_CACHE", folder.path().join("cache")).output().expect("agon starts");
    let report = json(&frozen);
    assert_eq!(report["frozen"], "agon-bots/v1", "{}", err(&frozen));
    std::fs::remove_dir_all(folder.path().join("cache")).expect("our own folder");
    play(folder.path(), None, "agon-bots/v1");
}
