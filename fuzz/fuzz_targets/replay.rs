#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agon_fuzz::hostile::replay(agon_games::all(), bytes));
