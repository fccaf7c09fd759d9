//! Advice for a bot's author, read from what a program complained of, or wrote instead of an answer.
//!
//! All of it is guesswork based on well-known messages of interpreters and systems; it is given in addition to what
//! was seen.

use crate::advised::Advised;
use crate::program::ProgramEnd;
use crate::tools;

/// Only this much of the end of a program's standard error is searched, in bytes.
const SEARCHED: usize = 64 << 10;
/// Longest name quoted from it, in characters.
const LONGEST_NAME: usize = 80;

/// Modules whose package has a different name.
const PACKAGES: &[(&str, &str)] = &[
    ("cv2", "opencv-python"),
    ("PIL", "pillow"),
    ("sklearn", "scikit-learn"),
    ("skimage", "scikit-image"),
    ("yaml", "pyyaml"),
    ("websocket", "websocket-client"),
    ("serial", "pyserial"),
    ("dateutil", "python-dateutil"),
    ("dotenv", "python-dotenv"),
];

/// Modules that belong to a contest's kit, and what to do.
const KITS: &[(&str, &str)] = &[
    ("gamelib", "copy the folder `gamelib` of Terminal's starter kit beside the bot's own files"),
    ("grid_player", "name the folder in which grid_player.py lies"),
    ("application", "name the folder in which application.py lies"),
    ("game_message", "the kit's own files (game_message.py and others) belong beside application.py"),
];

/// What to do about a program that has ended, judging by what it wrote on standard error; none when nothing there
/// is recognised.
pub fn of_end(stderr: &[u8], ending: ProgramEnd, for_others: bool) -> Option<String> {
    let text = String::from_utf8_lossy(&stderr[stderr.len().saturating_sub(SEARCHED)..]);
    let found = RULES.iter().find_map(|rule| rule(&text, for_others));
    found.or_else(|| match ending {
        ProgramEnd::Signal(libc::SIGILL) => {
            Some("build it on this machine, without -march of another one".to_owned())
        }
        _ => None,
    })
}

type Rule = fn(&str, bool) -> Option<String>;

/// The first rule that recognises the text wins.
const RULES: &[Rule] = &[line_endings, python, node, java, system, others];

/// A script with Windows line endings hands each last word of a line on with a carriage return, which then names no file and no
/// command. Shells and interpreters write that return in many ways.
fn line_endings(text: &str, _: bool) -> Option<String> {
    /// What they say of a name that leads nowhere.
    const LOST: &[&str] = &[
        "No such file",
        "not found",
        "can't open",
        "cannot open",
        "Can't open",
        "Could not open",
        "Cannot find",
        "Could not find",
        "can't cd",
        "Unable to access",
        "No module named",
        "unexpected end of file",
        "unexpected \"do",
        "unexpected \"}",
        "invalid option",
        "numeric argument required",
        "syntax error",
    ];
    // Whose every line ends that way writes so itself.
    let is_windows =
        text.lines().count() > 0 && text.split_inclusive('\n').all(|line| line.ends_with("\r\n"));
    let told = text.split('\n').any(|line| {
        let inner = if is_windows { line.trim_end_matches('\r') } else { line };
        let has_return = inner.contains('\r') || inner.contains("\\r") || inner.contains("^M");
        has_return && (LOST.iter().any(|lost| line.contains(lost)) || line.contains("bad interpreter"))
    });
    // `set -e` of a shell, whose complaint ends with the return itself.
    let told = told || text.split('\n').any(|line| line.ends_with("llegal option -\r"));
    told.then(|| {
        let script = complaining_script(text);
        format!("a script of the bot has Windows line endings; {}", Advised::Convert(script.to_owned()))
    })
}

/// The script that a shell names before its complaint (`start.sh: 2: ...`, `start.sh: line 2: ...`). If none does, it is the one that
/// starts a bot without an agon.toml; what `env` complains of is the first line of a script that nobody names.
fn complaining_script(text: &str) -> &str {
    let named = text.lines().find_map(|line| {
        let (name, rest) = line.split_once(": ")?;
        let number = rest.strip_prefix("line ").unwrap_or(rest).split(':').next()?;
        let is_place = !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit());
        (is_place && !name.contains(' ') && name.len() <= LONGEST_NAME).then_some(name)
    });
    let is_unnamed = text.lines().any(|line| line.starts_with("env: ") || line.starts_with("/usr/bin/env: "));
    named.unwrap_or(if is_unnamed { "FILE" } else { "run.sh" })
}

fn python(text: &str, for_others: bool) -> Option<String> {
    if let Some(module) = between(text, "ModuleNotFoundError: No module named '", "'") {
        let top = module.split('.').next().unwrap_or(module);
        if let Some((_, what)) = KITS.iter().find(|(kit, _)| *kit == top) {
            return Some((*what).to_owned());
        }
        let package = PACKAGES.iter().find(|(module, _)| *module == top).map_or(top, |(_, package)| package);
        // Beside the bot: Pythons of distributions refuse to install for all, and there it comes along to a contest.
        let install = tools::install(&format!("python3 -m pip install --target . {package}"), for_others);
        let own = if for_others { "" } else { ", in the bot's folder, where your own modules belong, too" };
        return Some(format!("{install}{own}"));
    }
    let says = |part: &str| text.contains(part);
    let what = if says("Missing parentheses in call to 'print'") || says("NameError: name 'raw_input'") {
        "it is written for Python 2; convert it, or run it with cmd:python2 FILE where Python 2 is installed"
    } else if says("SyntaxError: Non-UTF-8 code") || says("SyntaxError: (unicode error) 'utf-8'") {
        "save the file as UTF-8"
    } else if says("TabError") {
        "its lines are indented with tabs and spaces; use one of them"
    } else if says("can't open file") && says("[Errno 2]") {
        "there is no such file in the bot's folder, where its command runs; check `run` in agon.toml"
    } else if says("ConnectionRefusedError") {
        "nobody listens where it connects: take the address from AGON_ADDRESS; in games played over standard input it must \
         not connect at all"
    } else if says("json.decoder.JSONDecodeError") {
        "it expects JSON and got something else: was it written for this game, and for this protocol (agon docs bots)?"
    } else if says("EOFError: EOF when reading a line") {
        "it read on when the match was over, or counts the lines of its input wrongly"
    } else if says("UnicodeEncodeError") {
        "it prints letters that the terminal's encoding lacks; set PYTHONIOENCODING=utf-8 in [env] of agon.toml"
    } else {
        return None;
    };
    Some(what.to_owned())
}

fn node(text: &str, for_others: bool) -> Option<String> {
    let module =
        between(text, "Cannot find module '", "'").or_else(|| between(text, "Cannot find package '", "'"));
    if let Some(module) = module {
        return Some(match module.starts_with(['.', '/']) {
            true => format!("there is no file {module}; a bot runs in its own folder"),
            false => tools::install(&format!("npm install {module}, in the bot's folder"), for_others),
        });
    }
    let says = |part: &str| text.contains(part);
    let what = if says("Cannot use import statement outside a module") {
        "call the file .mjs, or add { \"type\": \"module\" } as package.json beside it"
    } else if says("require is not defined in ES module scope") {
        "call the file .cjs, or take \"type\": \"module\" out of package.json"
    } else if says("ReferenceError: readline is not defined") {
        "`readline` is CodinGame's own; give the .js file itself as the bot, then it is there"
    } else if says("ERR_UNKNOWN_FILE_EXTENSION") && says(".ts") {
        "give the .ts file itself as the bot: agon compiles it"
    } else if says("missing script: start") || says("Missing script: \"start\"") {
        "add \"scripts\": { \"start\": \"node bot.js\" } to package.json"
    } else if says("ECONNREFUSED") {
        "nobody listens where it connects: take the address from AGON_ADDRESS"
    } else {
        return None;
    };
    Some(what.to_owned())
}

fn java(text: &str, for_others: bool) -> Option<String> {
    if text.contains("compiled by a more recent version of the Java Runtime") {
        let release = |start: &str| {
            let version: String =
                text.split(start).nth(1)?.chars().take_while(char::is_ascii_digit).collect();
            version.parse::<u32>().ok()?.checked_sub(44)
        };
        return Some(
            match (release("(class file version "), release("recognizes class file versions up to ")) {
                (Some(theirs), Some(ours)) => format!(
                    "it was compiled for Java {theirs}, and `java` here is {ours}: compile it with --release {ours}, or \
                     have Java {theirs} here ({})",
                    tools::install(&format!("sudo apt install openjdk-{theirs}-jdk"), for_others)
                ),
                _ => "compile it with the JDK of this machine, or install a newer one".to_owned(),
            },
        );
    }
    if let Some(class) = between(text, "Could not find or load main class ", "\n") {
        return Some(format!(
            "build it first (agon build), and name the class with its package and -cp with the folder above it, as in \
             cmd:java -cp out {class}"
        ));
    }
    if text.contains("no main manifest attribute") {
        return Some(
            "the jar does not say what to run; name the class: cmd:java -cp FILE.jar Player".to_owned(),
        );
    }
    if let Some(jar) = between(text, "Unable to access jarfile ", "\n") {
        return Some(format!("there is no {jar} in the bot's folder; build it, or check `run` in agon.toml"));
    }
    if text.contains("java.util.NoSuchElementException") {
        return Some(
            "it read on when its input was over, or counts the lines of its input wrongly".to_owned(),
        );
    }
    None
}

fn system(text: &str, for_others: bool) -> Option<String> {
    if let Some(library) = between(text, "error while loading shared libraries: ", ":") {
        return Some(format!("install {library}, or link it statically (g++ -static)"));
    }
    if text.contains("' not found (required by") {
        return Some(
            "it was built on a newer system; build it on this machine, or link statically (g++ -static)"
                .to_owned(),
        );
    }
    if text.contains("exec format error") || text.contains("Exec format error") {
        return Some("it is a program for another machine; build it here".to_owned());
    }
    // `sh: 1: foo: not found`, `run.sh: line 3: foo: command not found`, `env: 'foo': No such file or directory`
    for line in text.lines().take(200) {
        let missing = line
            .strip_suffix(": command not found")
            .or_else(|| line.strip_suffix(": not found"))
            .and_then(|start| start.rsplit(": ").next())
            .or_else(|| {
                let quote = |c| ['\'', '‘', '’', '"'].contains(&c);
                let inner = line.strip_prefix("env: ").or(line.strip_prefix("/usr/bin/env: "))?;
                Some(inner.strip_suffix(": No such file or directory")?.trim_matches(quote))
            });
        let plain = |name: &&str| !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(' ');
        if let Some(name) = missing.filter(plain) {
            return Some(match tools::advice(name, for_others) {
                Some(what) => format!("`{name}` is not installed; {what}"),
                None => format!("`{name}` is not installed, or not on the PATH"),
            });
        }
        if let Some(file) =
            line.strip_suffix(": Permission denied").and_then(|start| start.rsplit(": ").next())
        {
            return Some(Advised::MakeExecutable(short(file).to_owned()).to_string());
        }
    }
    None
}

fn others(text: &str, for_others: bool) -> Option<String> {
    if let Some(gem) = between(text, "cannot load such file -- ", " (LoadError)") {
        return Some(tools::install(&format!("gem install {gem}"), for_others));
    }
    if text.contains("lua")
        && let Some(module) = between(text, "module '", "' not found")
    {
        return Some(tools::install(&format!("luarocks install {module}"), for_others));
    }
    if let Some(file) = between(text, "Can't locate ", " in @INC") {
        let module = file.trim_end_matches(".pm").replace('/', "::");
        return Some(tools::install(&format!("cpan {module}"), for_others));
    }
    if let Some(function) = between(text, "Call to undefined function ", "()") {
        let module = function.split('_').next().unwrap_or(function);
        let install = tools::install(&format!("sudo apt install php-{module}"), for_others);
        return Some(format!("a module of PHP is missing; {install}"));
    }
    if text.contains("You must install or update .NET") || text.contains("You must install .NET") {
        return Some("install the .NET it was built for, or build it on this machine".to_owned());
    }
    None
}

/// What to do when the first thing a program ever wrote is no answer.
pub fn of_first_words(line: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(&line[..line.len().min(4_096)]);
    let text = text.trim();
    if text.starts_with('\u{feff}') {
        return Some("it begins with a byte order mark; write UTF-8 without one");
    }
    if line.starts_with(&[0xff, 0xfe]) || line.get(1) == Some(&0) {
        return Some("it is written in UTF-16; answers are bytes of UTF-8");
    }
    if text.starts_with("\u{1b}[") {
        return Some("it sends colours for a terminal; standard output is for answers only");
    }
    if text.starts_with("Warning: ") || text.starts_with("PHP Warning") || text.starts_with("Notice: ") {
        return Some(
            "its interpreter warns on standard output; send warnings to standard error (php -d display_errors=stderr)",
        );
    }
    let asks = [">", ":", "?"].iter().any(|end| text.ends_with(end));
    let talks = text.split_whitespace().count() > 1
        && text.chars().filter(|c| c.is_alphabetic()).count() * 2 > text.chars().count();
    if asks {
        return Some(
            "that looks like a prompt; standard output is for answers only: print the rest to standard error",
        );
    }
    talks.then_some("standard output is for answers only: print everything else to standard error")
}

/// The text between the first `start` and the next `end`, shortened.
pub(crate) fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let rest = &text[text.find(start)? + start.len()..];
    let inner = rest.split(end).next()?.lines().next()?.trim();
    (!inner.is_empty()).then(|| short(inner))
}

fn short(text: &str) -> &str {
    text.char_indices().nth(LONGEST_NAME).map_or(text, |(index, _)| &text[..index])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Real interpreter messages, and the advice for each.
    const SAID: &[(&str, &str)] = &[
        (
            "Traceback (most recent call last):\n  File \"bot.py\", line 1\nModuleNotFoundError: No module named 'numpy'\n",
            "pip install --target . numpy",
        ),
        ("ModuleNotFoundError: No module named 'cv2'\n", "pip install --target . opencv-python"),
        ("ModuleNotFoundError: No module named 'gamelib'\n", "starter kit"),
        ("SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?\n", "Python 2"),
        (
            "SyntaxError: Non-UTF-8 code starting with '\\xf6' in file bot.py on line 2\n",
            "save the file as UTF-8",
        ),
        ("TabError: inconsistent use of tabs and spaces in indentation\n", "tabs and spaces"),
        ("python3: can't open file '/tmp/x/bto.py': [Errno 2] No such file or directory\n", "check `run`"),
        ("ConnectionRefusedError: [Errno 111] Connection refused\n", "AGON_ADDRESS"),
        (
            "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n",
            "written for this game",
        ),
        ("EOFError: EOF when reading a line\n", "counts the lines"),
        ("Error: Cannot find module 'ws'\nRequire stack:\n- /tmp/bot.js\n", "npm install ws"),
        ("Error: Cannot find module './brain'\n", "no file ./brain"),
        (
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'ws' imported from /tmp/bot.mjs\n",
            "npm install ws",
        ),
        ("SyntaxError: Cannot use import statement outside a module\n", ".mjs"),
        ("ReferenceError: require is not defined in ES module scope, you can use import instead\n", ".cjs"),
        ("npm error Missing script: \"start\"\n", "\"scripts\""),
        (
            "Error: LinkageError occurred while loading main class Player\n\tjava.lang.UnsupportedClassVersionError: Player has \
             been compiled by a more recent version of the Java Runtime (class file version 65.0), this version of the Java \
             Runtime only recognizes class file versions up to 61.0\n",
            "compiled for Java 21, and `java` here is 17",
        ),
        (
            "Error: Could not find or load main class Player\nCaused by: java.lang.ClassNotFoundException: Player\n",
            "java -cp out Player",
        ),
        ("no main manifest attribute, in bot.jar\n", "does not say what to run"),
        ("Error: Unable to access jarfile engine.jar\n", "no engine.jar"),
        (
            "./bot: error while loading shared libraries: libfoo.so.1: cannot open shared object file\n",
            "install libfoo.so.1",
        ),
        ("./bot: /lib/libc.so.6: version `GLIBC_2.99' not found (required by ./bot)\n", "newer system"),
        ("sh: 1: no-such-tool: not found\n", "`no-such-tool` is not installed"),
        ("run.sh: line 2: kotlinc-jvm: command not found\n", "`kotlinc-jvm` is not installed"),
        ("/usr/bin/env: ‘no-such’: No such file or directory\n", "`no-such` is not installed"),
        ("run.sh: 2: ./bot: Permission denied\n", "chmod +x ./bot"),
        (
            "env: 'python3\\r': No such file or directory\n",
            "Windows line endings; convert it: sed -i 's/\\r$//' FILE",
        ),
        (
            "run.sh: line 2: $'\\r': command not found\n",
            "Windows line endings; convert it: sed -i 's/\\r$//' run.sh",
        ),
        ("go.sh: 2: set: Illegal option -\r\n", "Windows line endings; convert it: sed -i 's/\\r$//' go.sh"),
        (
            "python3: can't open file '/tmp/x/bot.py\r': [Errno 2] No such file or directory\n",
            "Windows line endings; convert it: sed -i 's/\\r$//' run.sh",
        ),
        ("bot.rb:1:in `require': cannot load such file -- json5 (LoadError)\n", "gem install json5"),
        ("lua: bot.lua:1: module 'socket' not found:\n", "luarocks install socket"),
        ("Can't locate JSON/XS.pm in @INC (you may need to install the JSON::XS module)\n", "cpan JSON::XS"),
        ("PHP Fatal error:  Uncaught Error: Call to undefined function mb_strlen() in bot.php:1\n", "php-mb"),
    ];

    #[test]
    fn what_interpreters_complain_of_is_understood() {
        for (said, advised) in SAID {
            let found = of_end(said.as_bytes(), ProgramEnd::Code(1), false).unwrap_or_default();
            assert!(found.contains(advised), "{said}: {found}");
            assert!(!found.contains('\n') && found.len() < 400, "{found}");
        }
        for said in ["", "IndexError: list index out of range\n", "thinking\n", "x".repeat(1 << 20).as_str()]
        {
            assert_eq!(of_end(said.as_bytes(), ProgramEnd::Code(1), false), None, "{said:.40}");
        }
        assert!(
            of_end(b"", ProgramEnd::Signal(libc::SIGILL), false).is_some_and(|what| what.contains("-march"))
        );
    }

    #[test]
    fn what_was_written_instead_of_an_answer_is_understood() {
        let told = |line: &[u8]| of_first_words(line).unwrap_or_default();
        assert!(told(b"Enter your move:").contains("prompt"));
        assert!(told(b"> ").contains("prompt"));
        assert!(told(b"Hello from my bot v1.2!").contains("standard error"));
        assert!(told("\u{feff}WAIT".as_bytes()).contains("byte order mark"));
        assert!(told(b"\xff\xfeW\0A\0").contains("UTF-16"));
        assert!(told(b"\x1b[31mWAIT").contains("colours"));
        assert!(told(b"Warning: Undefined variable $x in bot.php").contains("display_errors"));
        assert_eq!(told(b"13 SHOOT 0"), "");
        assert_eq!(told(b"[[1,2,3]]"), "");
    }
}
