//! What a page calls. Bytes go in through [`agon_take`], and are at [`agon_out`] after a call.
//!
//! A call returns [`DONE`], [`REFUSED`] (the refusal is there as JSON) or [`NOTHING`].

use std::cell::RefCell;
use std::panic;

use agon_view::Engines;

use crate::{MOST_OPEN, playout};

/// Done; the result is at [`agon_out`].
const DONE: u32 = 0;
/// Refused; [`agon_out`] says why.
const REFUSED: u32 = 1;
/// There is nothing to return.
const NOTHING: u32 = 2;

thread_local! {
    static ENGINES: Engines = Engines::keeping(MOST_OPEN);
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

#[unsafe(no_mangle)]
extern "C" fn agon_out_length() -> usize {
    OUT.with_borrow(Vec::len)
}

/// [`Engines::hear`] with the input.
#[unsafe(no_mangle)]
extern "C" fn agon_ask() -> u32 {
    // What the page finds if memory runs out, which no panic reports.
    put(Vec::new());
    match ENGINES.with(|engines| engines.hear(&taken())) {
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

/// [`playout`] of the game named by the input; returns the number of steps, 0 if there is no such game.
#[unsafe(no_mangle)]
extern "C" fn agon_playout(steps: u32) -> u32 {
    playout(&String::from_utf8_lossy(&taken()), steps).map_or(0, |played| played as u32)
}

fn taken() -> Vec<u8> {
    IN.with_borrow_mut(std::mem::take)
}

fn put(bytes: Vec<u8>) {
    OUT.with_borrow_mut(|out| *out = bytes);
}
