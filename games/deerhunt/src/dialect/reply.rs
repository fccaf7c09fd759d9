//! The reply: `[[id, [word, ...]], ...]`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::orders::{MAX_MOVES, Move, Verb, Words};
use crate::state::{Direction, UnitId};

/// Reads a reply. Meaningless ids and words are kept as such: the rules reject them, or void the list.
/// Only a reply without the shape of a list of moves is an error.
///
/// # Errors
/// A sentence for the author of the bot.
pub fn read_reply(message: &[u8]) -> Result<Vec<Move>, String> {
    match serde_json::from_slice::<Reply>(message) {
        Ok(Reply(moves)) => Ok(moves),
        Err(error) => {
            let which = culprit(message).map(|which| format!("{which}; ")).unwrap_or_default();
            Err(format!("{which}not a list of moves such as [[0, [\"UP\"]], [4, [\"MINE\"]]]: {error}"))
        }
    }
}

/// The first entry of a list that is not a move, as it was written.
fn culprit(message: &[u8]) -> Option<String> {
    let entries: Vec<&serde_json::value::RawValue> = serde_json::from_slice(message).ok()?;
    let place = entries.iter().position(|entry| serde_json::from_str::<Pair>(entry.get()).is_err())?;
    let shown: String = entries[place].get().chars().take(LONGEST_SHOWN).collect();
    Some(format!("move {} is {shown}, which is no [id, [word, ...]]", place + 1))
}

/// How many characters of an entry that is not a move are quoted.
const LONGEST_SHOWN: usize = 60;

/// Appends the tidy form of a list.
pub fn write(moves: &[Move], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, order) in moves.iter().enumerate() {
        if index > 0 {
            out.extend(b", ");
        }
        // No unit has the id -1.
        let id = order.unit.map_or("-1".to_owned(), |id| id.to_string());
        let verb = Some(order.verb.word()).filter(|word| !word.is_empty());
        let steps = order.words.all().map(|word| word.map_or("?", Direction::word));
        let words: Vec<String> = verb.into_iter().chain(steps).map(|word| format!("\"{word}\"")).collect();
        out.extend(format!("[{id}, [{}]]", words.join(", ")).bytes());
    }
    out.push(b']');
}

struct Reply(Vec<Move>);

impl<'de> Deserialize<'de> for Reply {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Reply;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of moves")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Reply, A::Error> {
                let mut moves = Vec::new();
                while let Some(Pair(order)) = from.next_element()? {
                    if moves.len() == MAX_MOVES {
                        return Err(A::Error::custom(format!("more than {MAX_MOVES} moves")));
                    }
                    moves.push(order);
                }
                Ok(Reply(moves))
            }
        }
        from.deserialize_seq(List)
    }
}

/// `[id, [word, ...]]`.
struct Pair(Move);

impl<'de> Deserialize<'de> for Pair {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Two;
        impl<'de> Visitor<'de> for Two {
            type Value = Pair;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a move [id, [word, ...]]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Pair, A::Error> {
                let missing = |count| A::Error::invalid_length(count, &"a move [id, [word, ...]]");
                let Id(unit) = from.next_element()?.ok_or_else(|| missing(0))?;
                let Text { verb, words } = from.next_element()?.ok_or_else(|| missing(1))?;
                match from.next_element::<IgnoredAny>()? {
                    None => Ok(Pair(Move { unit, verb, words })),
                    Some(_) => Err(missing(3)),
                }
            }
        }
        from.deserialize_seq(Two)
    }
}

/// The id of a unit: a number, or the same number as a string. Anything else names no unit.
struct Id(Option<UnitId>);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the id of a unit")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Id, E> {
                // The last number stays unused, so that a packed id always fits.
                Ok(Id(UnitId::try_from(number).ok().filter(|&id| id < UnitId::MAX)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Id, E> {
                let number = text.parse::<UnitId>().ok().filter(|id| id.to_string() == text);
                self.visit_u64(number.map_or(u64::MAX, u64::from))
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Id, E> {
                Ok(Id(None))
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Id, E> {
                Ok(Id(None))
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<Id, E> {
                Ok(Id(None))
            }

            fn visit_unit<E: Error>(self) -> Result<Id, E> {
                Ok(Id(None))
            }
        }
        from.deserialize_any(Any)
    }
}

/// The words of a move, without the verb in front.
struct Text {
    verb: Verb,
    words: Words,
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of words")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Text, A::Error> {
                let mut text = Text { verb: Verb::Walk, words: Words::NONE };
                // Bots of 2021 send the directions of a stun as a nested list: it is flattened, for
                // verbs that point at a unit.
                let mut takes_lists = false;
                let mut first = true;
                while let Some(word) = from.next_element()? {
                    match word {
                        Word::Verb(verb) if first => {
                            text.verb = verb;
                            takes_lists = matches!(verb, Verb::Attack | Verb::Stun);
                        }
                        Word::List(words) if takes_lists => text.words.append(&words),
                        Word::Direction(direction) => text.words.push(Some(direction)),
                        Word::Verb(_) | Word::List(_) | Word::Other => text.words.push(None),
                    }
                    first = false;
                }
                Ok(text)
            }
        }
        from.deserialize_seq(List)
    }
}

/// One word.
enum Word {
    Verb(Verb),
    Direction(Direction),
    List(Words),
    Other,
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Word;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Word, E> {
                if let Some(direction) = Direction::ALL.into_iter().find(|it| it.word() == text) {
                    return Ok(Word::Direction(direction));
                }
                let verb = Verb::ALL.into_iter().find(|verb| !text.is_empty() && verb.word() == text);
                Ok(verb.map_or(Word::Other, Word::Verb))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Word, A::Error> {
                let mut words = Words::NONE;
                while let Some(word) = from.next_element()? {
                    match word {
                        Word::Direction(direction) => words.push(Some(direction)),
                        Word::List(inner) => words.append(&inner),
                        Word::Verb(_) | Word::Other => words.push(None),
                    }
                }
                Ok(Word::List(words))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Word, A::Error> {
                while from.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Word::Other)
            }

            fn visit_u64<E: Error>(self, _: u64) -> Result<Word, E> {
                Ok(Word::Other)
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Word, E> {
                Ok(Word::Other)
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Word, E> {
                Ok(Word::Other)
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<Word, E> {
                Ok(Word::Other)
            }

            fn visit_unit<E: Error>(self) -> Result<Word, E> {
                Ok(Word::Other)
            }
        }
        from.deserialize_any(Any)
    }
}
