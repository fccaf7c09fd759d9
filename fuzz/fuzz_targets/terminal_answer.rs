//! Foreign bytes for Terminal's answer reader.

#![no_main]

#[path = "../../games/terminal/tests/hostile/mod.rs"]
#[allow(dead_code)]
mod hostile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::answer(bytes));
