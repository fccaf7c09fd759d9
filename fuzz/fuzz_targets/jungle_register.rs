#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agon_fuzz::hostile::jungle_register(agon_games::all(), bytes));
