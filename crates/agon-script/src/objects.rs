//! Converts a JSON question directly to JavaScript values.
//!
//! The engine's own `JSON.parse` takes twice as long, because it knows nothing of earlier questions.
//! Objects of one turn look like those of previous turns, and this module remembers three things about
//! them:
//!
//! - their keys, as a tree: most keys are found by one comparison with the key that came next last time;
//! - one living object for every prefix of such a list of keys. The engine keeps the layout of living
//!   objects, so a new object takes over that layout instead of building its own;
//! - short strings, which are immutable and can be shared.
//!
//! This is the only place with unsafe code: with every value, the engine's safe interface counts
//! references to the context, which costs a third more.

use std::fmt;
use std::ptr::NonNull;

use rquickjs::{Ctx, Value, qjs};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_64;

/// How many prefixes of lists of keys are remembered.
const MOST_SHAPES: usize = 1_000;
/// An object with more keys is a table, in which one key says nothing about the next.
const MOST_KEYS: usize = 40;
/// Strings up to this length are remembered, one per slot.
const LONGEST_TEXT: usize = 64;
const SLOTS: usize = 1_024;

/// The input key for what a bot remembers: any JSON, so nothing about it can be predicted.
const STATE: &str = "state";

/// Builds JavaScript values from questions.
pub struct Builder {
    context: NonNull<qjs::JSContext>,
    /// A tree of keys; the first entry is the root, an object without keys.
    shapes: Vec<Shape>,
    texts: Vec<Option<(Box<str>, qjs::JSValue)>>,
}

/// A prefix of a list of keys.
struct Shape {
    /// The last of these keys, the engine's name for it, and the prefix before it.
    key: Box<str>,
    atom: qjs::JSAtom,
    before: usize,
    /// An object with these keys, kept so that the engine remembers their layout.
    kept: qjs::JSValue,
    /// The keys that came next.
    next: Vec<usize>,
}

impl Builder {
    /// A builder for values of one context, which must outlive it.
    ///
    /// # Safety
    /// The context must live until the builder is dropped.
    pub unsafe fn new(context: &Ctx<'_>) -> Self {
        let (atom, kept) = (qjs::JS_ATOM_NULL, qjs::JS_NULL);
        let root = Shape { key: "".into(), atom, before: 0, kept, next: Vec::new() };
        Self {
            context: context.as_raw(),
            shapes: vec![root],
            texts: std::iter::repeat_with(|| None).take(SLOTS).collect(),
        }
    }

    /// Reads `{"phase":...,"input":...}`; returns the phase and the value of the input.
    ///
    /// # Errors
    /// A sentence, when it is something else, or the engine's memory is full. An exception may then be
    /// pending in the context.
    pub fn question<'js>(&mut self, context: &Ctx<'js>, line: &[u8]) -> Result<(String, Value<'js>), String> {
        assert_eq!(self.context, context.as_raw(), "the builder belongs to another context");
        // Checked once: a reader of bytes would check every string in it.
        let line = std::str::from_utf8(line).map_err(|error| error.to_string())?;
        let mut reader = serde_json::Deserializer::from_str(line);
        let (phase, input) =
            reader.deserialize_map(Question(self, context)).map_err(|error| error.to_string())?;
        reader.end().map_err(|error| error.to_string())?;
        // SAFETY: the value was made in this context and is handed over.
        Ok((phase, unsafe { Value::from_raw(context.clone(), input.release()) }))
    }

    fn pointer(&self) -> *mut qjs::JSContext {
        self.context.as_ptr()
    }

    /// A value just made by the engine; none if its memory is full.
    fn made(&self, value: qjs::JSValue) -> Option<Held> {
        // SAFETY: looks only at the value's tag.
        (!unsafe { qjs::JS_IsException(value) }).then_some(Held { context: self.context, value })
    }

    fn object(&self) -> Option<Held> {
        // SAFETY: the context lives.
        self.made(unsafe { qjs::JS_NewObject(self.pointer()) })
    }

    /// Adds a property to an object made here.
    fn define(&self, object: &Held, atom: qjs::JSAtom, value: Held) -> Option<()> {
        let flags = qjs::JS_PROP_C_W_E as i32;
        // SAFETY: the object and the value are alive and of this context; the value is handed over.
        let done = unsafe {
            qjs::JS_DefinePropertyValue(self.pointer(), object.value, atom, value.release(), flags)
        };
        (done >= 0).then_some(())
    }

    fn plain(&self, value: qjs::JSValue) -> Held {
        Held { context: self.context, value }
    }

    fn text(&mut self, text: &str) -> Option<Held> {
        let pointer = self.pointer();
        // SAFETY: the pointer and the length are those of a text; the context lives.
        let fresh = || unsafe { qjs::JS_NewStringLen(pointer, text.as_ptr().cast(), text.len() as _) };
        if text.len() > LONGEST_TEXT {
            return self.made(fresh());
        }
        let slot = xxh3_64(text.as_bytes()) as usize % SLOTS;
        if let Some((known, value)) = &self.texts[slot]
            && **known == *text
        {
            // SAFETY: the value is alive, because its slot holds it.
            return Some(self.plain(unsafe { qjs::JS_DupValue(pointer, *value) }));
        }
        let value = self.made(fresh())?;
        // SAFETY: the value is alive.
        let own = unsafe { qjs::JS_DupValue(pointer, value.value) };
        if let Some((_, old)) = self.texts[slot].replace((text.into(), own)) {
            // SAFETY: the slot held it, and holds it no longer.
            unsafe { qjs::JS_FreeValue(pointer, old) };
        }
        Some(value)
    }

    /// The engine's name for a key.
    fn atom(&self, key: &str) -> Option<Atom> {
        // SAFETY: the pointer and the length are those of a text; the context lives.
        let atom = unsafe { qjs::JS_NewAtomLen(self.pointer(), key.as_ptr().cast(), key.len() as _) };
        (atom != qjs::JS_ATOM_NULL).then_some(Atom { context: self.context, atom })
    }

    /// The list of keys `before` plus one more, remembered from now on.
    fn shape(&mut self, before: usize, key: &str) -> Option<usize> {
        if let Some(&next) = self.shapes[before].next.iter().find(|&&next| *self.shapes[next].key == *key) {
            return Some(next);
        }
        let atom = self.atom(key)?;
        let mut atoms = vec![atom.atom];
        let mut at = before;
        while at != 0 {
            atoms.push(self.shapes[at].atom);
            at = self.shapes[at].before;
        }
        let kept = self.object()?;
        for &atom in atoms.iter().rev() {
            self.define(&kept, atom, self.plain(qjs::JS_NULL))?;
        }
        let shape = self.shapes.len();
        let (atom, kept) = (atom.release(), kept.release());
        self.shapes.push(Shape { key: key.into(), atom, before, kept, next: Vec::new() });
        self.shapes[before].next.push(shape);
        Some(shape)
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        let pointer = self.pointer();
        for shape in &self.shapes {
            // SAFETY: both are held by the shape alone; the context still lives. (Atom 0 and null are no-ops.)
            unsafe {
                qjs::JS_FreeAtom(pointer, shape.atom);
                qjs::JS_FreeValue(pointer, shape.kept);
            }
        }
        for (_, value) in self.texts.iter().flatten() {
            // SAFETY: the slot holds it; the context still lives.
            unsafe { qjs::JS_FreeValue(pointer, *value) };
        }
    }
}

/// A value that is freed unless it is handed over.
struct Held {
    context: NonNull<qjs::JSContext>,
    value: qjs::JSValue,
}

impl Held {
    fn release(self) -> qjs::JSValue {
        let value = self.value;
        std::mem::forget(self);
        value
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: it is held here alone, and the builder that made it, and so its context, lives.
        unsafe { qjs::JS_FreeValue(self.context.as_ptr(), self.value) };
    }
}

/// An engine's name for a key, released when dropped.
struct Atom {
    context: NonNull<qjs::JSContext>,
    atom: qjs::JSAtom,
}

impl Atom {
    fn release(self) -> qjs::JSAtom {
        let atom = self.atom;
        std::mem::forget(self);
        atom
    }
}

impl Drop for Atom {
    fn drop(&mut self) {
        // SAFETY: it is held here alone, and the builder that made it, and so its context, lives.
        unsafe { qjs::JS_FreeAtom(self.context.as_ptr(), self.atom) };
    }
}

fn full<E: serde::de::Error>() -> E {
    E::custom("out of memory")
}

/// Reads a question.
struct Question<'a, 'js>(&'a mut Builder, &'a Ctx<'js>);

impl<'de> Visitor<'de> for Question<'_, '_> {
    type Value = (String, Held);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a question like {\"phase\":\"play\",\"input\":{}}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let (mut phase, mut input) = (None, None);
        while let Some(key) = entries.next_key::<&str>()? {
            match key {
                "phase" => phase = Some(entries.next_value()?),
                "input" => input = Some(entries.next_value_seed(Json(self.0, Some(self.1)))?),
                _ => drop(entries.next_value::<IgnoredAny>()?),
            }
        }
        phase.zip(input).ok_or_else(|| A::Error::custom("a question has a `phase` and an `input`"))
    }
}

/// Reads any value. The outermost one gets the context, for the `state` in it.
struct Json<'a, 'js>(&'a mut Builder, Option<&'a Ctx<'js>>);

impl<'de> DeserializeSeed<'de> for Json<'_, '_> {
    type Value = Held;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Held, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Json<'_, '_> {
    type Value = Held;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Held, E> {
        Ok(self.0.plain(qjs::JS_NULL))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Held, E> {
        Ok(self.0.plain(if value { qjs::JS_TRUE } else { qjs::JS_FALSE }))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Held, E> {
        Ok(self.0.plain(match i32::try_from(value) {
            Ok(small) => qjs::JS_MKVAL(qjs::JS_TAG_INT, small),
            Err(_) => qjs::JS_NewFloat64(value as f64),
        }))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Held, E> {
        Ok(self.0.plain(match i32::try_from(value) {
            Ok(small) => qjs::JS_MKVAL(qjs::JS_TAG_INT, small),
            Err(_) => qjs::JS_NewFloat64(value as f64),
        }))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Held, E> {
        Ok(self.0.plain(qjs::JS_NewFloat64(value)))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Held, E> {
        self.0.text(text).ok_or_else(full)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Held, A::Error> {
        // Many lists are empty, and then take no memory.
        let mut values: Vec<Held> = Vec::new();
        while let Some(value) = entries.next_element_seed(Json(&mut *self.0, None))? {
            values.push(value);
        }
        let values: Vec<qjs::JSValue> = values.into_iter().map(Held::release).collect();
        let count = i32::try_from(values.len()).map_err(A::Error::custom)?;
        // SAFETY: there are so many values, all of this context; they are handed over, also when it fails.
        let array = unsafe { qjs::JS_NewArrayFrom(self.0.pointer(), count, values.as_ptr()) };
        self.0.made(array).ok_or_else(full)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Held, A::Error> {
        let Self(builder, context) = self;
        let object = builder.object().ok_or_else(full)?;
        let mut before = Some(0);
        let mut count = 0;
        while let Some(key) = entries.next_key_seed(KeyAfter(builder, before, context.is_some()))? {
            let value = match (context, &key) {
                (Some(context), Key { state: true, .. }) => {
                    let value = state(context, entries.next_value()?).ok_or_else(full)?;
                    builder.made(value).ok_or_else(full)?
                }
                _ => entries.next_value_seed(Json(builder, None))?,
            };
            let atom = match (&key.loose, key.shape) {
                (Some(loose), _) => loose.atom,
                (None, shape) => builder.shapes[shape].atom,
            };
            builder.define(&object, atom, value).ok_or_else(full)?;
            count += 1;
            before = (key.loose.is_none() && count < MOST_KEYS).then_some(key.shape);
        }
        Ok(object)
    }
}

/// A key of an object.
struct Key {
    /// Its index among the shapes.
    shape: usize,
    /// Its name, if it has no place there.
    loose: Option<Atom>,
    /// Whether it is [`STATE`] in the input itself.
    state: bool,
}

/// Reads the key that follows those of a shape (if they have one), in the input itself or elsewhere.
struct KeyAfter<'a>(&'a mut Builder, Option<usize>, bool);

impl<'de> DeserializeSeed<'de> for KeyAfter<'_> {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Key, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyAfter<'_> {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Key, E> {
        let state = self.2 && key == STATE;
        match self.1 {
            Some(before) if self.0.shapes.len() < MOST_SHAPES => {
                let shape = self.0.shape(before, key).ok_or_else(full)?;
                Ok(Key { shape, loose: None, state })
            }
            _ => Ok(Key { shape: 0, loose: Some(self.0.atom(key).ok_or_else(full)?), state }),
        }
    }
}

/// What a bot remembers, parsed by the engine.
fn state(context: &Ctx<'_>, json: &RawValue) -> Option<qjs::JSValue> {
    let value = context.json_parse(json.get()).ok()?;
    // SAFETY: the context lives; the second reference is the caller's.
    Some(unsafe { qjs::JS_DupValue(context.as_raw().as_ptr(), value.as_raw()) })
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Function, Runtime};

    use super::*;

    /// What a script finds in the input of a question, as JSON; asked three times with one builder.
    fn seen(question: &str) -> [Result<String, String>; 3] {
        let runtime = Runtime::new().expect("an engine");
        let context = Context::full(&runtime).expect("a world");
        context.with(|context| {
            // SAFETY: dropped within the context's life.
            let mut builder = unsafe { Builder::new(&context) };
            [(); 3].map(|()| {
                let (_, input) = builder.question(&context, question.as_bytes())?;
                // Everything the engine sees in it, beyond JSON's own view: the order of keys too.
                let show: Function<'_> =
                    context.eval("(value) => JSON.stringify(value)").expect("a function");
                Ok(show.call((input,)).expect("it is JSON"))
            })
        })
    }

    fn same(input: &str) {
        let question = format!("{{\"phase\":\"play\",\"input\":{input}}}");
        assert_eq!(seen(&question), std::array::from_fn(|_| Ok(input.to_owned())), "{input}");
    }

    #[test]
    fn values_are_those_of_the_question() {
        same(
            r#"{"you":"1","n":[0,-1,2147483647,2147483648,-2147483649,1.5,1e+30,true,false,null],"empty":{},"none":[]}"#,
        );
        same(
            r#"{"text":["","ä€😀","\"\\\n","long long long long long long long long long long long long long long long"]}"#,
        );
        same(
            r#"{"list":[{"id":"a1","at":{"x":1,"y":2}},{"id":"a2","at":{"x":3,"y":4},"open":true},{"at":{"x":5}},{"id":"a3"}]}"#,
        );
        same(r#"{"1":3,"2":4,"__proto__":{"x":1},"constructor":"c"}"#);
    }

    #[test]
    fn a_state_may_be_anything() {
        same(r#"{"you":"1","state":{"seen":{"1":[1,2,{"state":null}]},"half":"\ud800"}}"#);
        same(r#"{"state":null}"#);
        same(r#"{"inner":{"state":{"a":1}},"state":"text"}"#);
    }

    #[test]
    fn tables_with_many_keys_and_many_layouts_stay_right() {
        let table: Vec<String> = (0..3 * MOST_KEYS).map(|key| format!("\"k{key}\":{key}")).collect();
        same(&format!("{{{}}}", table.join(",")));
        let lists: Vec<String> =
            (0..2 * MOST_SHAPES).map(|key| format!("{{\"k{key}\":1,\"x\":2}}")).collect();
        same(&format!("{{\"lists\":[{}]}}", lists.join(",")));
    }

    #[test]
    fn what_is_no_question_is_refused() {
        for line in [
            "",
            "{",
            "[]",
            "{\"phase\":\"play\"}",
            "{\"phase\":\"play\",\"input\":{\"a\":[1,}}",
            "{\"phase\":\"play\",\"input\":{}} x",
        ] {
            assert!(seen(line).iter().all(Result::is_err), "{line}");
        }
    }

    #[test]
    fn a_full_memory_is_an_error() {
        let runtime = Runtime::new().expect("an engine");
        let context = Context::full(&runtime).expect("a world");
        let question =
            format!("{{\"phase\":\"play\",\"input\":{{\"list\":[{}1]}}}}", "{\"x\":[1,2]},".repeat(10_000));
        let limited = |limit, expected| {
            runtime.set_memory_limit(limit);
            context.with(|context| {
                // SAFETY: dropped within the context's life.
                let mut builder = unsafe { Builder::new(&context) };
                assert_eq!(builder.question(&context, question.as_bytes()).is_ok(), expected);
                context.catch();
            });
        };
        limited(1 << 20, false);
        limited(64 << 20, true);
    }
}
