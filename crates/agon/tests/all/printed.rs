//! What commands print with `--json` is what `docs/json.md` says: no key that it does not name, and none absent that it does not mark.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use crate::common::{agon, err, folder, out};

/// A type of the page.
#[derive(Clone, Debug)]
enum Shape {
    Word(String),
    Literal(String),
    List(Box<Shape>),
    /// By key, whether it may be absent.
    Object(Vec<(String, bool, Shape)>),
    /// An object with any keys.
    Map(Box<Shape>),
    Either(Vec<Shape>),
}

/// Reads the types of one section.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.strip_prefix("/**") {
                Some(comment) => self.rest = comment.split_once("*/").expect("the end of a comment").1,
                None => return,
            }
        }
    }

    fn take(&mut self, sign: &str) -> bool {
        self.skip();
        let found = self.rest.strip_prefix(sign);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn must(&mut self, sign: &str) {
        assert!(self.take(sign), "`{sign}` is missing: {:.80}", self.rest);
    }

    fn word(&mut self) -> String {
        self.skip();
        let end =
            self.rest.find(|sign: char| !sign.is_alphanumeric() && sign != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        assert!(!word.is_empty(), "a word is missing: {:.80}", self.rest);
        self.rest = rest;
        word.to_owned()
    }

    fn text(&mut self) -> String {
        self.must("\"");
        let (text, rest) = self.rest.split_once('"').expect("the end of a text");
        self.rest = rest;
        text.to_owned()
    }

    fn shape(&mut self) -> Shape {
        let mut all = vec![self.one()];
        while self.take("|") {
            all.push(self.one());
        }
        if all.len() == 1 { all.remove(0) } else { Shape::Either(all) }
    }

    fn one(&mut self) -> Shape {
        self.skip();
        if self.rest.starts_with('"') {
            return Shape::Literal(self.text());
        }
        let mut one = if self.take("(") {
            let inner = self.shape();
            self.must(")");
            inner
        } else if self.take("[") {
            // A tuple: each of its parts has one of their shapes.
            let mut parts = vec![self.shape()];
            while self.take(",") {
                parts.push(self.shape());
            }
            self.must("]");
            Shape::List(Box::new(Shape::Either(parts)))
        } else if self.take("{") {
            self.object()
        } else {
            let word = self.word();
            if self.take("<") {
                let inner = self.shape();
                let list = word == "Array";
                let inner = if self.take(",") { self.shape() } else { inner };
                self.must(">");
                if list { Shape::List(Box::new(inner)) } else { Shape::Map(Box::new(inner)) }
            } else {
                Shape::Word(word)
            }
        };
        while self.take("[]") {
            one = Shape::List(Box::new(one));
        }
        while self.take("&") {
            // With keys of the reader's own besides.
            let _ = self.one();
            one = Shape::Map(Box::new(Shape::Word("unknown".to_owned())));
        }
        one
    }

    fn object(&mut self) -> Shape {
        let mut keys = Vec::new();
        while !self.take("}") {
            if self.take("[") {
                self.rest = self.rest.split_once(']').expect("the end of a key").1;
                let _ = self.take("?");
                self.must(":");
                let inner = self.shape();
                let _ = self.take(",") || self.take(";");
                self.must("}");
                return Shape::Map(Box::new(inner));
            }
            self.skip();
            let key = if self.rest.starts_with('"') { self.text() } else { self.word() };
            let absent = self.take("?");
            self.must(":");
            keys.push((key, absent, self.shape()));
            let _ = self.take(",") || self.take(";");
        }
        Shape::Object(keys)
    }
}

/// The types of the page by their names; where sections have the same name, that of this one.
fn types(section: &str) -> HashMap<String, Shape> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let mut found = HashMap::new();
    let sections = page.split("\n## ").skip(1);
    // The wanted one last: what it has takes the place of its namesakes.
    let (own, others): (Vec<&str>, Vec<&str>) = sections.partition(|text| text.starts_with(section));
    assert_eq!(own.len(), 1, "{section}");
    for text in others.into_iter().chain(own) {
        let (_, block) = text.split_once("```ts\n").expect("its block");
        let mut reader = Reader { rest: block.split_once("```").expect("its end").0 };
        reader.skip();
        while !reader.rest.is_empty() {
            reader.must("type");
            let name = reader.word();
            reader.must("=");
            let shape = reader.shape();
            reader.must(";");
            reader.skip();
            found.insert(name, shape);
        }
    }
    found
}

/// What a printed value has that the type of this name in a section of the page has not.
pub fn told(section: &str, name: &str, value: &Value) -> Option<String> {
    let types = types(section);
    let shape = types.get(name).unwrap_or_else(|| panic!("the page has no {name}"));
    differs(value, shape, &types, name)
}

/// What a value has that its type has not.
fn differs(value: &Value, shape: &Shape, types: &HashMap<String, Shape>, at: &str) -> Option<String> {
    let wrong = || Some(format!("{at}: {value:.200} is no {shape:.200?}"));
    match (shape, value) {
        (Shape::Word(word), _) => match (word.as_str(), value) {
            ("string", Value::String(_))
            | ("number", Value::Number(_))
            | ("boolean", Value::Bool(_))
            | ("null", Value::Null)
            | ("unknown" | "any", _) => None,
            ("string" | "number" | "boolean" | "null", _) => wrong(),
            (name, _) => match types.get(name) {
                Some(shape) => differs(value, shape, types, at),
                None => Some(format!("{at}: the page has no `{name}`")),
            },
        },
        (Shape::Literal(text), Value::String(own)) if text == own => None,
        (Shape::List(inner), Value::Array(list)) => {
            list.iter().find_map(|one| differs(one, inner, types, &format!("{at}[]")))
        }
        (Shape::Map(inner), Value::Object(map)) => {
            map.values().find_map(|one| differs(one, inner, types, &format!("{at}{{}}")))
        }
        (Shape::Object(keys), Value::Object(map)) => {
            let more = map.keys().find(|key| !keys.iter().any(|(own, ..)| own == *key));
            if let Some(more) = more {
                return Some(format!("{at}.{more} is printed, and not on the page"));
            }
            keys.iter().find_map(|(key, absent, shape)| match map.get(key) {
                Some(value) => differs(value, shape, types, &format!("{at}.{key}")),
                None if *absent => None,
                None => Some(format!("{at}.{key} is absent, and the page does not mark it")),
            })
        }
        (Shape::Either(all), _) => {
            let each: Vec<_> = all.iter().map(|one| differs(value, one, types, at)).collect();
            if each.iter().any(Option::is_none) {
                return None;
            }
            // What is wrong within an object tells more than that it is no other type.
            let inner = each.into_iter().flatten().max_by_key(String::len);
            inner.or_else(wrong)
        }
        _ => wrong(),
    }
}

const BOT: &str = "
import sys
print('begins', file=sys.stderr)
rd = sys.stdin.readline
rd(); w, h = map(int, rd().split())
for _ in range(h): rd()
for turn in range(99):
    for _ in range(int(rd())): rd()
    print('nonsense' if turn == 2 else '0 MOVE 99 99' if turn == 4 else 'WAIT', flush=True)
    if turn == 7: sys.exit(3)
";

#[test]
fn each_command_prints_what_the_page_says() {
    let folder = folder();
    let place = folder.path();
    std::fs::write(place.join("bot.py"), BOT).expect("a bot");
    let play = "play cultist-wars bot.py builtin:greedy --seed 3 --replay one.replay --json";
    let clean = "play cultist-wars builtin:greedy builtin:idle --seed 3 --no-replay --json";
    for (section, name, line) in [
        ("A match", "PrintedMatch", play),
        ("A match", "PrintedMatch", clean),
        (
            "Series and ratings",
            "GauntletResult",
            "gauntlet cultist-wars bot.py builtin:greedy -n 4 --seed 1 --json",
        ),
        (
            "Series and ratings",
            "TournamentResult",
            "tournament cultist-wars builtin:greedy builtin:idle builtin:random -n 4 --seed 1 --journal t.jsonl --json",
        ),
        (
            "Series and ratings",
            "SprtResult",
            "sprt cultist-wars builtin:greedy builtin:idle --elo1 200 --seed 1 --journal s.jsonl --json",
        ),
        ("Series and ratings", "Table", "rate t.jsonl --json"),
        ("Series and ratings", "Why", "why agon-series/LAST --json"),
        ("Replays", "Info", "replay info one.replay --json"),
        ("Replays", "Board", "replay show one.replay --turn 3 --json"),
        ("Replays", "Verified", "replay verify one.replay --json"),
        ("Replays", "Analysed", "analyse one.replay --budget 1s --json"),
        ("Replays", "Fed", "replay feed one.replay bot.py --seat 1 --json"),
        ("Bots and their authors", "Checked", "check cultist-wars bot.py --json"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let done = agon(place, &words);
        let text = out(&done);
        // A series prints events, of which the last is its result; a list of files is one object a line, too.
        let last = text.lines().last().filter(|line| line.starts_with('{') && line.ends_with('}'));
        let value: Result<Value, _> = serde_json::from_str(last.unwrap_or(&text));
        let value = value.unwrap_or_else(|error| panic!("agon {line}: {error}: {text}{}", err(&done)));
        let values = match &value {
            Value::Array(list) => list.iter().collect(),
            one => vec![one],
        };
        for one in values {
            if let Some(told) = told(section, name, one) {
                panic!("agon {line}: {told}");
            }
        }
    }
}

#[test]
fn a_key_that_is_not_on_the_page_or_absent_is_seen() {
    let types = types("A match");
    let told = |json: &str| {
        let value: Value = serde_json::from_str(json).expect("JSON");
        differs(&value, &types["OutcomeResult"], &types, "it").unwrap_or_default()
    };
    assert_eq!(told(r#"{"reason": "over", "winner": null}"#), "");
    assert!(told(r#"{"reason": "over"}"#).contains("it.winner is absent"));
    assert!(told(r#"{"reason": "over", "winner": 1, "void": ""}"#).contains("it.void is printed"));
    assert!(told(r#"{"reason": 3, "winner": 1}"#).contains("it.reason: 3 is no"));
}
