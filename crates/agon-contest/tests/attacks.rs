//! An attack suite for statistics: pairs of bots with a known truth, made to look better than they are, or to make a series
//! state what more matches of it would refute.
//!
//! Each pair plays series of 40 rounds on its maps. What is said of it (an interval of 95 %, a certainty of 95 %, a drift) must
//! be wrong no more often than it says. The short form plays 60 series of each; `cargo xtask long statistics` plays 2,000
//! (`AGON_RUNS`) and prints the table in `docs/statistics.md`. Beside it, the same is judged by the method of before, which
//! let a start that never varied count once and one that varied count every time.

use agon_contest::journal::{FORMAT, MatchId};
use agon_contest::{
    BotId, Entry, JournalHeader, MapId, MatchResult, Proven, RulesId, SeriesKind, SeriesStanding, plan,
};
use agon_game::Seeded;
use agon_spec::Ponder;
use agon_stats::trend::WRONG;
use agon_stats::{Block, Estimate, Repeats, RulesHash, Shape, Tally};

/// A game of NEW against OLD, as they see it.
struct Game {
    /// The map, from 0, and the round, from 0.
    map: usize,
    round: u64,
    /// Whether NEW has the first seat.
    first: bool,
    /// Which match of NEW it is, from 0.
    number: u64,
}

/// How a game ends and whether its answers are the same every time.
struct Played {
    /// The chance that NEW wins, and that it is a draw.
    win: f64,
    draw: f64,
    /// Whether anything in the answers varies.
    varies: bool,
}

/// It ends like this every time, with the same answers.
fn fixed(wins: bool) -> Played {
    Played { win: f64::from(u8::from(wins)), draw: 0.0, varies: false }
}

/// NEW wins with this chance, and answers vary.
fn noisy(win: f64) -> Played {
    Played { win, draw: 0.0, varies: true }
}

type Play = Box<dyn Fn(&Game) -> Played + Sync>;

struct Attack {
    kind: &'static str,
    name: String,
    maps: usize,
    /// The mean score of NEW in this series, over its maps and rounds.
    truth: f64,
    play: Play,
    /// What must be noticed in most series.
    notices: Notices,
}

#[derive(Clone, Copy, PartialEq)]
enum Notices {
    Nothing,
    Drift,
    /// That both bots answer alike.
    Same,
    /// That all starts only repeat.
    Repeats,
    /// That NEW never answers.
    Silence,
}

const ROUNDS: u64 = 40;

/// The truth is the mean over maps, seats and rounds.
fn attack(
    kind: &'static str,
    name: &str,
    maps: usize,
    notices: Notices,
    play: impl Fn(&Game) -> Played + Sync + 'static,
) -> Attack {
    let mut sum = 0.0;
    for round in 0..ROUNDS {
        for map in 0..maps {
            for first in [true, false] {
                let number = (round * maps as u64 + map as u64) * 2 + u64::from(!first);
                let played = play(&Game { map, round, first, number });
                sum += played.win + played.draw / 2.0;
            }
        }
    }
    let truth = sum / (ROUNDS as f64 * maps as f64 * 2.0);
    Attack { kind, name: name.to_owned(), maps, truth, play: Box::new(play), notices }
}

fn attacks() -> Vec<Attack> {
    let mut all = Vec::new();
    let mut add = |attack: Attack| all.push(attack);
    use Notices::{Drift, Nothing, Repeats, Same, Silence};
    // Noise on wins: it wins on some of its maps, and plays at random only there; or its opponent does.
    for (maps, wins) in [(3, 1), (4, 1), (5, 1), (5, 2), (7, 2), (7, 3)] {
        let name = format!("random where it wins: {wins} of {maps} maps");
        add(attack("noise on wins", &name, maps, Nothing, move |game| match game.map < wins {
            true => noisy(1.0),
            false => fixed(false),
        }));
    }
    for (maps, losses) in [(3, 1), (4, 1), (5, 1), (5, 2), (7, 2)] {
        let name = format!("the other is random where it wins: {losses} of {maps} maps");
        add(attack("noise on losses", &name, maps, Nothing, move |game| match game.map < losses {
            true => noisy(0.0),
            false => fixed(true),
        }));
    }
    for (maps, win) in [(3, 0.8), (4, 0.9), (5, 0.7), (5, 0.9), (7, 0.95)] {
        let name = format!("random on one of {maps} maps, where it wins {:.0} %", win * 100.0);
        add(attack("noise on wins", &name, maps, Nothing, move |game| match game.map {
            0 => noisy(win),
            map => fixed(map == 1 && maps > 6),
        }));
    }
    // Maps: strong on one, weak on the others, always at random.
    for (maps, high, low) in
        [(2, 0.9, 0.1), (3, 0.95, 0.275), (4, 0.99, 0.3), (5, 1.0, 0.375), (5, 0.0, 0.625), (9, 0.9, 0.45)]
    {
        let name = format!("{:.0} % on one of {maps} maps, {:.0} % on the others", high * 100.0, low * 100.0);
        add(attack("map", &name, maps, Nothing, move |game| noisy(if game.map == 0 { high } else { low })));
    }
    // Seats.
    for (first, second, maps) in [(1.0, 0.0, 1), (0.9, 0.1, 1), (0.7, 0.3, 5), (0.99, 0.01, 5), (0.2, 0.8, 3)]
    {
        let name =
            format!("{:.0} % from the first seat, {:.0} % from the second", first * 100.0, second * 100.0);
        add(attack("seat", &name, maps, Nothing, move |game| noisy(if game.first { first } else { second })));
    }
    // Time: strength goes with the round, so that the mean of all is even.
    for (step, maps) in [(2, 1), (2, 5), (4, 1), (5, 3), (8, 1)] {
        let name = format!("wins in the first half of every {step} rounds");
        add(attack("time", &name, maps, Nothing, move |game| {
            noisy(if game.round % step < step / 2 { 0.9 } else { 0.1 })
        }));
    }
    // The number of the match.
    for (every, maps) in [(2, 1), (2, 4), (4, 1), (8, 1), (10, 5)] {
        let name = format!("wins its matches by number, half of every {every}");
        add(attack("match number", &name, maps, Nothing, move |game| {
            noisy(if game.number % every < every / 2 { 0.95 } else { 0.05 })
        }));
    }
    // Opponents: what it does depends on whom it meets, here on whether the other moved first on an odd map.
    for (maps, high) in [(2, 0.9), (4, 0.8), (6, 0.7), (2, 0.6), (4, 1.0)] {
        let name =
            format!("{:.0} % where the other opens on an odd map, the reverse elsewhere", high * 100.0);
        add(attack("opponent", &name, maps, Nothing, move |game| {
            noisy(if game.first == (game.map % 2 == 0) { high } else { 1.0 - high })
        }));
    }
    // Drift and learning: no one strength.
    for (from, to, maps) in [(0.1, 0.9, 3), (0.9, 0.1, 3), (0.2, 0.7, 5), (0.7, 0.2, 5), (0.0, 0.8, 2)] {
        let name = format!("from {:.0} to {:.0} %", from * 100.0, to * 100.0);
        add(attack("drift", &name, maps, Drift, move |game| {
            noisy(from + (to - from) * game.round as f64 / (ROUNDS - 1) as f64)
        }));
    }
    for (after, maps) in [(10, 3), (15, 3), (20, 2), (25, 3), (30, 5)] {
        let name = format!("learns after {after} rounds");
        add(attack("learning", &name, maps, Drift, move |game| {
            noisy(if game.round < after { 0.1 } else { 0.8 })
        }));
    }
    // A stale build: both are the same program, deterministic, with a better seat or none.
    for (maps, seat) in [(1, true), (3, true), (5, false), (5, true), (7, false)] {
        let name = format!(
            "the same program twice, on {maps} maps, {}",
            if seat { "the first seat wins" } else { "by map" }
        );
        add(attack("stale build", &name, maps, Same, move |game| match seat {
            true => fixed(game.first),
            false => fixed(game.first == (game.map % 2 == 0)),
        }));
    }
    // Copies that play at random.
    for (draw, maps) in [(0.0, 1), (0.5, 1), (0.9, 1), (0.98, 1), (0.3, 5)] {
        let name = format!("a copy of itself, {:.0} % draws", draw * 100.0);
        add(attack("copies", &name, maps, Nothing, move |_| Played {
            win: (1.0 - draw) / 2.0,
            draw,
            varies: true,
        }));
    }
    // Crashes: on most maps at once, with equal answers, or now and then.
    for (maps, good) in [(5, 1), (7, 2), (10, 3)] {
        let name = format!("crashes on {} of {maps} maps, plays at random and wins on the rest", maps - good);
        add(attack(
            "crashes",
            &name,
            maps,
            Nothing,
            move |game| if game.map < good { noisy(1.0) } else { fixed(false) },
        ));
    }
    for share in [0.5, 0.7, 0.9] {
        let name = format!("crashes in {:.0} % of its matches and wins the rest", share * 100.0);
        add(attack("crashes", &name, 1, Nothing, move |_| noisy(1.0 - share)));
    }
    add(attack("crashes", "never answers", 2, Silence, |_| fixed(false)));
    // Nothing varies: the score over these maps is exact.
    for (maps, wins) in [(1, 1), (5, 3), (7, 6), (5, 0), (4, 2)] {
        let name = format!("deterministic, wins on {wins} of {maps} maps");
        add(attack("repeats", &name, maps, Repeats, move |game| fixed(game.map < wins)));
    }
    all
}

fn header(maps: usize) -> JournalHeader {
    let bot = |label: &str| BotId { bot: label.into(), play: None, label: label.into(), hash: label.into() };
    JournalHeader {
        agon_journal: FORMAT,
        program: "agon".to_owned(),
        started: 0,
        plan: plan::VERSION,
        format: None,
        kind: SeriesKind::Gauntlet,
        game: "any".to_owned(),
        rules_version: 1,
        rules: RulesId { name: String::new(), hash: RulesHash(1), text: String::new() },
        maps: (0..maps).map(|map| MapId { name: map.to_string(), hash: map.to_string() }).collect(),
        seats: 2,
        bots: vec![bot("new"), bot("old")],
        seed: 1,
        clock: "original".to_owned().into(),
        ponder: Ponder::Stop,
        test: None,
        options: Vec::new(),
    }
}

/// What a series says.
struct Said {
    estimate: Estimate,
    before: Estimate,
    noticed: bool,
    drifts: bool,
}

fn series(attack: &Attack, run: i64) -> Said {
    let mut chance = Seeded::stream(run, &attack.name);
    let mut random = move || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
    let header = header(attack.maps);
    let plan = header.plan(None);
    let pairings = plan.pairings();
    let mut standing = SeriesStanding::new(&plan, None);
    // The method of before: blocks, and each start that never varied once.
    let (mut repeats, mut tally) = (Repeats::default(), Tally::new(Shape::PAIR).expect("a shape"));
    for number in 1..=ROUNDS * attack.maps as u64 {
        let block = plan.block(number, &pairings).expect("endless");
        let entries: Vec<Entry> = (0..2u32)
            .map(|game| {
                let first = game == 0;
                let round = (number - 1) / attack.maps as u64;
                let played = (attack.play)(&Game {
                    map: block.map,
                    round,
                    first,
                    number: (number - 1) * 2 + u64::from(game),
                });
                let luck = random();
                let own = if luck < played.win { 2 } else { u8::from(luck < played.win + played.draw) };
                let other = 2 - own;
                let [a, b] = if first { [own, other] } else { [other, own] };
                let alike = attack.notices == Notices::Same;
                let answers = match played.varies {
                    true => (random() * 1e15) as u64,
                    // The same program answers alike in either seat.
                    false => block.map as u64 * 4 + u64::from(!first && !alike),
                };
                Entry {
                    id: MatchId(number * 2 + u64::from(game)),
                    block: number,
                    game: game + 1,
                    seed: block.seed,
                    map: block.map.to_string(),
                    bots: block.games[game as usize].clone(),
                    result: MatchResult {
                        proven: Proven {
                            ranks: vec![1 + u8::from(a < b), 1 + u8::from(b < a)],
                            scores: vec![f64::from(a), f64::from(b)],
                            reason: String::new(),
                            steps: 1,
                            start: format!("{:016x}", block.map),
                            answers: format!("{answers:016x}"),
                            silent: if attack.notices == Notices::Silence {
                                vec![if first { 1 } else { 2 }]
                            } else {
                                Vec::new()
                            },
                        },
                        ..MatchResult::default()
                    },
                    tries: 1,
                    replay: None,
                }
            })
            .collect();
        let points: Vec<u32> = (0..2)
            .map(|game| {
                let ranks = &entries[game].result.proven.ranks;
                let (own, other) = if game == 0 { (ranks[0], ranks[1]) } else { (ranks[1], ranks[0]) };
                1 + u32::from(own < other) - u32::from(own > other)
            })
            .collect();
        let start = agon_contest::standing::start(&header, &entries);
        let fingerprint = agon_contest::standing::fingerprint(&entries);
        let own = Block { start, fingerprint, points };
        for counts in repeats.add(start, fingerprint, own) {
            tally.add(&counts).expect("a pair");
        }
        standing.feed(&block, &header, &entries);
    }
    let pairing = &standing.pairings[0];
    let noticed = match attack.notices {
        Notices::Nothing => true,
        Notices::Drift => pairing.drift().is_some(),
        Notices::Same => {
            pairing.same() == pairing.blocks && standing.pairings[0].least_of_constant() >= Some(3)
        }
        Notices::Repeats => pairing.least_of_constant() >= Some(3),
        Notices::Silence => standing.silent() == [0],
    };
    let (estimate, before) = (pairing.estimate().expect("rounds"), Estimate::new(&tally, 0.95));
    Said { estimate, before, noticed, drifts: pairing.drift().is_some() }
}

/// How often what was said is refuted by the truth: the interval does not hold it, or it is called better or worse with 95 %
/// and is not.
fn refuted(said: &Estimate, truth: f64) -> [bool; 2] {
    let holds = said.score_low <= truth + 1e-9 && truth <= said.score_high + 1e-9;
    let wrong_side =
        said.superiority >= 0.95 && truth < 0.5 + 1e-9 || said.superiority <= 0.05 && truth > 0.5 - 1e-9;
    [!holds, wrong_side]
}

/// Whether something with this chance happens so often by luck less than once in ten thousand cases.
fn more_than(count: f64, chance: f64, of: f64) -> bool {
    let expected = chance * of;
    // The tail of Poisson's distribution, from `count` on.
    let (mut term, mut below) = ((-expected).exp(), 0.0);
    for step in 0..count as u64 {
        below += term;
        term *= expected / (step + 1) as f64;
    }
    1.0 - below < 1e-4
}

#[test]
fn nobody_makes_a_series_say_what_more_matches_would_refute() {
    let runs = std::env::var("AGON_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(60);
    let all = attacks();
    assert!(all.len() >= 60, "{}", all.len());
    println!(
        "| kind | pair | truth | intervals that do not hold | wrong at 95 % | by the method of before | noticed | said to drift |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let (mut steady, mut alarms) = (0.0, 0.0);
    let (mut bad, mut before_fails, mut kinds) = (Vec::new(), 0, std::collections::BTreeMap::new());
    for attack in &all {
        *kinds.entry(attack.kind).or_insert(0) += 1;
        let (mut own, mut before, mut noticed, mut drifts) = ([0.0; 2], [0.0; 2], 0.0, 0.0);
        for run in 0..runs {
            let said = series(attack, run);
            for (sum, wrong) in own.iter_mut().zip(refuted(&said.estimate, attack.truth)) {
                *sum += f64::from(u8::from(wrong)) / runs as f64;
            }
            for (sum, wrong) in before.iter_mut().zip(refuted(&said.before, attack.truth)) {
                *sum += f64::from(u8::from(wrong)) / runs as f64;
            }
            noticed += f64::from(u8::from(said.noticed)) / runs as f64;
            drifts += f64::from(u8::from(said.drifts));
        }
        // Two-sided: 5 % of intervals, and 5 % at either side of a certainty of 95 %; 1 point, and what chance does to a count.
        let doubt = |share: f64| 0.01 + 3.5 * (share * (1.0 - share) / runs as f64).sqrt();
        let is_bad = |[outside, side]: [f64; 2]| outside > 0.05 + doubt(0.05) || side > 0.1 + doubt(0.1);
        before_fails += usize::from(is_bad(before));
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let told = match attack.notices {
            Notices::Nothing => "–".to_owned(),
            _ => percent(noticed),
        };
        let row = format!(
            "| {} | {} | {} | {} | {} | {} | {told} | {} |",
            attack.kind,
            attack.name,
            percent(attack.truth),
            percent(own[0]),
            percent(own[1]),
            percent(before[0].max(before[1])),
            // A false alarm, except where it does drift.
            if attack.notices == Notices::Drift {
                "–".to_owned()
            } else {
                format!("{:.2} %", 100.0 * drifts / runs as f64)
            },
        );
        println!("{row}");
        let mut is_false_alarm = false;
        if attack.notices != Notices::Drift {
            (steady, alarms) = (steady + runs as f64, alarms + drifts);
            is_false_alarm = more_than(drifts, WRONG, runs as f64);
        }
        if is_bad(own) || noticed < 0.8 || is_false_alarm {
            bad.push(row);
        }
    }
    println!(
        "{} pairs; by the method of before {before_fails} are refuted more often than they say",
        all.len()
    );
    println!(
        "{alarms} of {steady:.0} series without a drift are said to drift: {:.3} %",
        100.0 * alarms / steady
    );
    assert!(!more_than(alarms, WRONG, steady), "{alarms} of {steady}");
    assert!(kinds.values().all(|count| *count >= 5), "{kinds:?}");
    assert!(bad.is_empty(), "{bad:#?}");
    assert!(before_fails >= 15, "{before_fails}");
}
