//! Reads JSON, as much of it as the game writes. No library, so that the bot builds anywhere.

use std::ops::Index;

/// A value. Indexing what is not there gives `Null`.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

/// Deeper nesting is refused.
const DEEPEST: u32 = 64;

impl Value {
    /// Reads a text; `None` when it is not JSON.
    pub fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
        let value = reader.value(0)?;
        reader.space();
        (reader.at == text.len()).then_some(value)
    }

    /// The number; 0 for anything else.
    pub fn number(&self) -> f64 {
        if let Self::Number(number) = self { *number } else { 0.0 }
    }

    /// The text; empty for anything else.
    pub fn text(&self) -> &str {
        if let Self::Text(text) = self { text } else { "" }
    }

    /// The entries of a list; none for anything else.
    pub fn list(&self) -> &[Value] {
        if let Self::List(list) = self { list } else { &[] }
    }
}

impl Index<usize> for Value {
    type Output = Value;

    fn index(&self, index: usize) -> &Value {
        self.list().get(index).unwrap_or(&Value::Null)
    }
}

impl Index<&str> for Value {
    type Output = Value;

    fn index(&self, key: &str) -> &Value {
        let Self::Object(entries) = self else { return &Value::Null };
        entries.iter().find(|(own, _)| own == key).map_or(&Value::Null, |(_, value)| value)
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        self.space();
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn word(&mut self, word: &str, value: Value) -> Option<Value> {
        self.bytes[self.at..].starts_with(word.as_bytes()).then(|| {
            self.at += word.len();
            value
        })
    }

    fn value(&mut self, depth: u32) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        self.space();
        match self.peek()? {
            b'n' => self.word("null", Value::Null),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'"' => self.text().map(Value::Text),
            b'[' => {
                let mut list = Vec::new();
                self.entries(b'[', b']', |reader| Some(list.push(reader.value(depth + 1)?)))?;
                Some(Value::List(list))
            }
            b'{' => {
                let mut object = Vec::new();
                self.entries(b'{', b'}', |reader| {
                    reader.space();
                    let key = reader.text()?;
                    reader.eat(b':')?;
                    Some(object.push((key, reader.value(depth + 1)?)))
                })?;
                Some(Value::Object(object))
            }
            _ => self.number(),
        }
    }

    /// What stands between two brackets, with commas.
    fn entries(&mut self, open: u8, close: u8, mut entry: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.eat(open)?;
        if self.eat(close).is_some() {
            return Some(());
        }
        loop {
            entry(self)?;
            if self.eat(b',').is_none() {
                return self.eat(close);
            }
        }
    }

    fn number(&mut self) -> Option<Value> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).ok()?;
        text.parse().ok().map(Value::Number)
    }

    fn text(&mut self) -> Option<String> {
        self.eat(b'"')?;
        let mut text = Vec::new();
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(text).ok(),
                b'\\' => {
                    let escaped = self.peek()?;
                    self.at += 1;
                    let plain = match escaped {
                        b'n' => '\n',
                        b't' => '\t',
                        b'r' => '\r',
                        b'b' => '\u{8}',
                        b'f' => '\u{c}',
                        b'u' => self.code()?,
                        other => char::from(other),
                    };
                    text.extend_from_slice(plain.encode_utf8(&mut [0; 4]).as_bytes());
                }
                other => text.push(other),
            }
        }
    }

    /// The four digits behind `\u`; half a pair becomes a replacement character.
    fn code(&mut self) -> Option<char> {
        let digits = self.bytes.get(self.at..self.at + 4)?;
        let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        self.at += 4;
        Some(char::from_u32(code).unwrap_or('\u{fffd}'))
    }
}
