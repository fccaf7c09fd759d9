//! Which lines of a bot's standard error say what went wrong. Languages put them in different places: Java and Node
//! first, Python last, Rust in the middle.

use agon_bot::program::ProgramEnd;

/// How much of the end of the output is looked at, in bytes.
const LOOKED_AT: usize = 16 << 10;
/// Upper limit on the useful lines.
const MOST: usize = 6;
/// How many of those are places of a trace.
const PLACES: usize = 2;
/// Longest line, in characters.
const LONGEST: usize = 200;

/// The lines that say what went wrong: the message and first places of the last trace, or the last lines if there is no
/// trace. At most six, each at most 200 characters.
pub fn useful(said: &[u8]) -> Vec<String> {
    let text = end_of(said);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let found = chain(&lines).or_else(|| python(&lines)).or_else(|| rust(&lines));
    let found = found.unwrap_or_else(|| lines[lines.len().saturating_sub(3)..].to_vec());
    found.into_iter().take(MOST).map(shortened).collect()
}

/// The most telling line. When the program that should have started the bot complains, the first one.
pub fn telling(said: &[u8], ending: ProgramEnd) -> String {
    let text = end_of(said);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let line = match (ending, last_trace(&lines), rust(&lines)) {
        (ProgramEnd::Code(126 | 127), ..) => lines.first(),
        // The head of a trace; for Node it comes after the place in the source.
        (_, Some((head, _)), _) => lines.get(head),
        // The message; what comes last is advice on backtraces.
        (_, None, Some(panic)) => {
            return shortened(panic.get(1).or(panic.first()).map_or("", |line| line.trim()));
        }
        (_, None, None) => lines.last(),
    };
    shortened(line.map_or("", |line| line.trim()))
}

/// The file and line named last, or first in a Java or JavaScript trace: `bot.py, line 9`. A bot that catches its own
/// exceptions, or says where it is, names the place where a wrong order came from.
pub fn place(said: &[u8]) -> Option<String> {
    let text = end_of(said);
    let lines: Vec<&str> = text.lines().collect();
    let places = |range: std::ops::Range<usize>| lines[range].iter().filter_map(|line| named(line));
    match last_trace(&lines) {
        Some((head, end)) => places(head..end).next(),
        None => places(0..lines.len()).next_back(),
    }
}

/// The file and line named in a line: `File "bot.py", line 9`, `(Bot.java:17)`, `src/main.rs:2:5`.
fn named(line: &str) -> Option<String> {
    let short = |file: &str| -> Option<String> {
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let (stem, ending) = name.rsplit_once('.')?;
        let is_word =
            |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.+ ".contains(c));
        let is_file =
            is_word(stem) && ending.len() <= 5 && ending.starts_with(|c: char| c.is_ascii_alphabetic());
        (is_file && is_word(ending) && name.len() <= 60).then(|| name.to_owned())
    };
    let number = |text: &str| -> Option<u32> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).map_or(text, |end| &text[..end]);
        digits.parse().ok()
    };
    if let Some((_, rest)) = line.split_once("File \"")
        && let Some((file, rest)) = rest.split_once("\", line ")
    {
        return Some(format!("{}, line {}", short(file)?, number(rest)?));
    }
    line.split([' ', '\t', '(', ')', '"', '\'', ',']).find_map(|word| {
        let (file, rest) = word.split_once(':').filter(|(file, _)| file.contains('.'))?;
        Some(format!("{}, line {}", short(file)?, number(rest)?))
    })
}

fn end_of(said: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(&said[said.len().saturating_sub(LOOKED_AT)..])
}

fn shortened(line: &str) -> String {
    line.chars().take(LONGEST).collect()
}

/// Whether a line is a place in a Java or JavaScript trace: `    at Bot.main(Bot.java:5)`.
fn is_place(line: &str) -> bool {
    line.starts_with([' ', '\t']) && line.trim_start().starts_with("at ")
}

/// The head of the last such trace, and the end of its places. Causes belong to the trace before them.
fn last_trace(lines: &[&str]) -> Option<(usize, usize)> {
    let last = lines.iter().rposition(|line| is_place(line))?;
    let first_of = |end: usize| {
        let head = lines[..end].iter().rposition(|line| !is_place(line) && !is_more(line));
        head.unwrap_or(0)
    };
    let mut head = first_of(last);
    while head > 0 && lines[head].starts_with("Caused by:") {
        head = first_of(head);
    }
    // Node lists who asked for a module that it does not find, below the message.
    let asked = lines[..=head].iter().rposition(|line| !line.starts_with("- ")).unwrap_or(head);
    if asked > 0 && lines[asked] == "Require stack:" {
        head = asked - 1;
    }
    Some((head, last + 1))
}

/// Whether a line marks what Java leaves out: `... 3 more`.
fn is_more(line: &str) -> bool {
    line.trim_start().starts_with("... ") && line.ends_with(" more")
}

/// Java and JavaScript: what happened, where, and the causes.
fn chain<'a>(lines: &[&'a str]) -> Option<Vec<&'a str>> {
    let (head, end) = last_trace(lines)?;
    let mut useful = Vec::new();
    // Node first names the place in the source: `/home/me/bot.js:3`, the line itself, and a mark below.
    if head >= 3 && lines[head - 1].trim_start().chars().all(|sign| sign == '^' || sign == '~') {
        useful.extend_from_slice(&lines[head - 3..head - 1]);
    }
    let mut places = 0;
    for &line in &lines[head..end] {
        if is_place(line) {
            places += 1;
        } else {
            places = 0;
        }
        if places <= PLACES && !is_more(line) {
            useful.push(line);
        }
    }
    Some(useful)
}

/// Python: the last place, and what happened after it.
fn python<'a>(lines: &[&'a str]) -> Option<Vec<&'a str>> {
    let start = lines.iter().rposition(|line| line.starts_with("Traceback (most recent call last)"))?;
    let trace = &lines[start..];
    let place = trace.iter().rposition(|line| line.trim_start().starts_with("File \""))?;
    Some(trace[place..].to_vec())
}

/// Rust: where it panicked, and the message.
fn rust<'a>(lines: &[&'a str]) -> Option<Vec<&'a str>> {
    let start =
        lines.iter().rposition(|line| line.starts_with("thread '") && line.contains("panicked at"))?;
    let is_note = |line: &&str| line.starts_with("note: ") || line.starts_with("stack backtrace:");
    let end = lines[start..].iter().position(is_note).map_or(lines.len(), |length| start + length);
    Some(lines[start..end].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_say_what_went_wrong_are_found() {
        let java = "turn 3\nException in thread \"main\" java.lang.IllegalStateException: no plan\n\
                    \tat Bot.plan(Bot.java:17)\n\tat Bot.turn(Bot.java:9)\n\tat Bot.main(Bot.java:4)\n\
                    Caused by: java.lang.NullPointerException: map\n\tat Map.at(Map.java:5)\n\t... 3 more\n";
        assert_eq!(
            useful(java.as_bytes()),
            [
                "Exception in thread \"main\" java.lang.IllegalStateException: no plan",
                "\tat Bot.plan(Bot.java:17)",
                "\tat Bot.turn(Bot.java:9)",
                "Caused by: java.lang.NullPointerException: map",
                "\tat Map.at(Map.java:5)",
            ]
        );
        let code = ProgramEnd::Code(1);
        assert!(telling(java.as_bytes(), code).starts_with("Exception in thread"));

        let node = "thinking\n/home/me/bot.js:3\n  throw new Error('no plan')\n  ^\n\nError: no plan\n    at plan (/home/me/bot.js:3:9)\n    \
                    at turn (/home/me/bot.js:7:3)\n    at Module._compile (node:internal/modules:1:1)\n\nNode.js v20.20.2\n";
        assert_eq!(
            useful(node.as_bytes()),
            [
                "/home/me/bot.js:3",
                "  throw new Error('no plan')",
                "Error: no plan",
                "    at plan (/home/me/bot.js:3:9)",
                "    at turn (/home/me/bot.js:7:3)",
            ]
        );
        assert_eq!(telling(node.as_bytes(), code), "Error: no plan");
        let node = "node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module 'ws'\nRequire stack:\n- \
                    /home/me/lib.js\n- /home/me/bot.js\n    at Module._load (node:internal/modules/cjs/loader:1038:27) {\n";
        assert_eq!(telling(node.as_bytes(), code), "Error: Cannot find module 'ws'");
        assert!(useful(node.as_bytes()).contains(&"Error: Cannot find module 'ws'".to_owned()));

        let python = "a\nTraceback (most recent call last):\n  File \"bot.py\", line 2, in <module>\n    turn()\n  \
                      File \"bot.py\", line 9, in turn\n    plan[7]\n    ~~~~^^^\nIndexError: list index out of range\n";
        assert_eq!(
            useful(python.as_bytes()),
            [
                "  File \"bot.py\", line 9, in turn",
                "    plan[7]",
                "    ~~~~^^^",
                "IndexError: list index out of range"
            ]
        );
        assert_eq!(telling(python.as_bytes(), code), "IndexError: list index out of range");

        let rust =
            "x\nthread 'main' (7) panicked at src/main.rs:2:5:\nno plan\nnote: run with `RUST_BACKTRACE=1`\n";
        assert_eq!(useful(rust.as_bytes()), ["thread 'main' (7) panicked at src/main.rs:2:5:", "no plan"]);
        assert_eq!(telling(rust.as_bytes(), ProgramEnd::Code(101)), "no plan");
        assert_eq!(useful(b"one\n\ntwo\nthree\nfour"), ["two", "three", "four"]);
        assert_eq!(useful(b""), Vec::<String>::new());
        assert_eq!(
            telling(b"sh: 1: nobot: not found\nbye\n", ProgramEnd::Code(127)),
            "sh: 1: nobot: not found"
        );
    }

    #[test]
    fn the_place_that_is_named_is_found() {
        for (said, wanted) in [
            (
                "  File \"/home/me/a.py\", line 2, in f\n  File \"bot.py\", line 9, in turn\n    x\n",
                Some("bot.py, line 9"),
            ),
            ("E: no\n\tat Bot.plan(Bot.java:17)\n\tat Bot.main(Bot.java:4)\n", Some("Bot.java, line 17")),
            (
                "E: no\n    at plan (/home/me/my bot.js:3:9)\n    at turn (/home/me/bot.js:7:3)\n",
                Some("bot.js, line 3"),
            ),
            ("thread 'main' panicked at src/main.rs:2:5:\nno plan\n", Some("main.rs, line 2")),
            ("bot.cpp:31: unit 3 mines\nbot.cpp:40: unit 4 mines\n", Some("bot.cpp, line 40")),
            ("at 12:30:05 I think, ws://127.0.0.1:8765, v1.2:3\n", None),
            ("", None),
        ] {
            assert_eq!(place(said.as_bytes()).as_deref(), wanted, "{said}");
        }
    }

    #[test]
    fn much_or_hostile_output_gives_few_short_lines() {
        let many: String = (0..100_000).map(|number| format!("  at {number}\nCaused by: it\n")).collect();
        for said in
            [many.as_bytes(), &[b'x'; 1 << 20], &[0xff; 100], b"\tat\n\tat x\n", b"Caused by: a\n\tat b"]
        {
            let lines = useful(said);
            assert!(!lines.is_empty() && lines.len() <= MOST, "{}", lines.len());
            assert!(lines.iter().all(|line| line.chars().count() <= LONGEST));
            telling(said, ProgramEnd::Code(1));
            assert!(place(said).is_none_or(|place| place.len() < 100));
        }
    }
}
