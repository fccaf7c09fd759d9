//! The same results give the same bytes on every machine: the digest of a published table is recorded here, so that
//! running this test proves it for the machine it runs on.

use agon_game::Seeded;
use agon_game::chance::Chance as _;
use agon_stats::{MatchBlock, Options, RankedMatch, Results, RulesHash, TableKey, rate, score_of_elo};

/// 60 bots, of which one wins and one loses everything, in 4,000 blocks of two and of four seats.
fn results() -> Results {
    let key = TableKey { game: "simulated".into(), rules: RulesHash(1) };
    let mut results = Results::new(key.clone());
    let mut chance = Seeded::stream(7, "bytes");
    let names: Vec<String> = (0..60).map(|bot| format!("bot {bot:02}")).collect();
    let strength = |bot: usize| f64::from(bot as u32) * 17.0 - 500.0;
    for block in 0..4_000u64 {
        let seats = if block % 3 == 0 { 4 } else { 2 };
        let mut bots: Vec<usize> = Vec::new();
        while bots.len() < seats {
            let bot = chance.below(60) as usize;
            if !bots.contains(&bot) {
                bots.push(bot);
            }
        }
        let matches = (0..seats).map(|turn| {
            let bots: Vec<usize> = (0..seats).map(|seat| bots[(seat + turn) % seats]).collect();
            let mut forms: Vec<(u64, usize)> = bots
                .iter()
                .enumerate()
                .map(|(seat, &bot)| {
                    let luck = u64::from(chance.below(1_000_000));
                    let form = match bot {
                        0 => 0,
                        59 => u64::MAX,
                        bot => (luck as f64 * score_of_elo(strength(bot))) as u64 / 5_000,
                    };
                    (form, seat)
                })
                .collect();
            forms.sort_unstable_by(|a, b| b.cmp(a));
            let mut ranks = vec![0u8; seats];
            for (place, &(form, seat)) in forms.iter().enumerate() {
                let level = place > 0 && forms[place - 1].0 == form;
                ranks[seat] = if level { ranks[forms[place - 1].1] } else { place as u8 + 1 };
            }
            RankedMatch { bots: bots.iter().map(|&bot| names[bot].clone()).collect(), ranks }
        });
        let matches = matches.collect();
        results.push(&key, MatchBlock { start: block, fingerprint: block, matches }).expect("a match");
    }
    results
}

/// FNV-1a.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[test]
fn a_published_table_is_the_same_bytes_on_every_machine() {
    let table = rate(&results(), &Options::default()).expect("a table");
    let bytes = serde_json::to_vec(&table).expect("JSON");
    println!("{} bytes, digest {:016x}, on {}", bytes.len(), digest(&bytes), std::env::consts::ARCH);
    assert_eq!(format!("{:016x}", digest(&bytes)), "75451750914f3cd8");
}
