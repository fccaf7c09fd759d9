//! What a page calls. Bytes go in through [`agon_take`], and are at [`agon_out`] after a call.
//!
//! Each call returns [`DONE`], [`REFUSED`] (the refusal is there as JSON) or [`NOTHING`].

use std::cell::RefCell;
use std::panic;

use agon_view::Privacy;

use crate::engines::{Engines, Refusal};

/// Done; the result is at [`agon_out`].
const DONE: u32 = 0;
/// Refused; [`agon_out`] says why.
const REFUSED: u32 = 1;
/// There is nothing to return.
const NOTHING: u32 = 2;

thread_local! {
    static ENGINES: RefCell<Engines> = RefCell::default();
    /// The input.
    static IN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// The output.
    static OUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Called once, before anything else: a panic then leaves its sentence at [`agon_out`].
#[unsafe(no_mangle)]
extern "C" fn agon_start() {
    panic::set_hook(Box::new(|info| {
        let said = info.payload_as_str().unwrap_or("no reason given");
        let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
        put(format!("{said}{}", place.unwrap_or_default()).into_bytes());
    }));
}

/// Makes room for `length` bytes of input to the next call; returns where to write them.
#[unsafe(no_mangle)]
extern "C" fn agon_take(length: usize) -> *mut u8 {
    IN.with_borrow_mut(|bytes| {
        bytes.clear();
        bytes.resize(length, 0);
        bytes.as_mut_ptr()
    })
}

/// The address of the last call's output, valid until the next call.
#[unsafe(no_mangle)]
extern "C" fn agon_out() -> *const u8 {
    OUT.with_borrow(|bytes| bytes.as_ptr())
}

/// Its length.
#[unsafe(no_mangle)]
extern "C" fn agon_out_length() -> usize {
    OUT.with_borrow(Vec::len)
}

/// [`Engines::open`] with the input.
#[unsafe(no_mangle)]
extern "C" fn agon_open(private: u32) -> u32 {
    let privacy = if private == 0 { Privacy::Redacted } else { Privacy::Private };
    answer(|engines| engines.open(&taken(), privacy).map(Some))
}

/// [`Engines::lines`].
#[unsafe(no_mangle)]
extern "C" fn agon_lines(id: u32, from: u32, to: u32) -> u32 {
    answer(|engines| engines.lines(id, from, to).map(Some))
}

/// [`Engines::message`].
#[unsafe(no_mangle)]
extern "C" fn agon_message(id: u32, step: u32, seat: u32) -> u32 {
    answer(|engines| engines.message(id, step, seat))
}

/// [`Engines::section`] about the rule whose id is the input.
#[unsafe(no_mangle)]
extern "C" fn agon_section(id: u32, step: u32) -> u32 {
    answer(|engines| engines.section(id, step, &String::from_utf8_lossy(&taken())).map(Some))
}

/// [`Engines::import`] with the input.
#[unsafe(no_mangle)]
extern "C" fn agon_import() -> u32 {
    answer(|engines| engines.import(&taken()).map(Some))
}

/// [`Engines::close`].
#[unsafe(no_mangle)]
extern "C" fn agon_close(id: u32) {
    ENGINES.with_borrow_mut(|engines| engines.close(id));
}

/// [`Engines::play`] with the input.
#[unsafe(no_mangle)]
extern "C" fn agon_play() -> u32 {
    answer(|engines| engines.play(&taken()))
}

/// [`Engines::analyse`].
#[unsafe(no_mangle)]
extern "C" fn agon_analyse(id: u32) -> u32 {
    answer(|engines| engines.analyse(id).map(|()| None))
}

/// [`Engines::refine`].
#[unsafe(no_mangle)]
extern "C" fn agon_refine(pairs: u32, step: u32, all: u32) -> u32 {
    answer(|engines| engines.refine(pairs, step, all != 0).map(Some))
}

/// [`Engines::wish`] with the order in the input.
#[unsafe(no_mangle)]
extern "C" fn agon_wish(step: u32, seat: u32) -> u32 {
    answer(|engines| engines.wish(step, seat, &String::from_utf8_lossy(&taken())).map(|()| None))
}

/// [`Engines::written`].
#[unsafe(no_mangle)]
extern "C" fn agon_written(step: u32, seat: u32) -> u32 {
    answer(|engines| engines.written(step, seat).map(Some))
}

/// [`Engines::playout`] of the game named by the input; returns the number of steps as text.
#[unsafe(no_mangle)]
extern "C" fn agon_playout(steps: u32) -> u32 {
    answer(|engines| {
        let played = engines.playout(&String::from_utf8_lossy(&taken()), steps)?;
        Ok(Some(played.to_string().into_bytes()))
    })
}

fn taken() -> Vec<u8> {
    IN.with_borrow_mut(std::mem::take)
}

fn put(bytes: Vec<u8>) {
    OUT.with_borrow_mut(|out| *out = bytes);
}

fn answer(ask: impl FnOnce(&mut Engines) -> Result<Option<Vec<u8>>, Refusal>) -> u32 {
    // What the page finds if memory runs out, which no panic reports.
    put(Vec::new());
    match ENGINES.with_borrow_mut(ask) {
        Ok(Some(bytes)) => {
            put(bytes);
            DONE
        }
        Ok(None) => NOTHING,
        Err(refusal) => {
            put(serde_json::to_vec(&refusal).unwrap_or_default());
            REFUSED
        }
    }
}
