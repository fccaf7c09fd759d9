#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agon_fuzz::hostile::deerhunt_reply(agon_games::all(), bytes));
