//! A fleet as plain data: whatever machines and commands do, each match comes back once, and nobody waits forever.

use std::collections::{BTreeMap, BTreeSet};

use agon_contest::Observed;
use agon_server::fleet::{ABANDONED_MS, Fleet, FleetRefusal, LEASE_MS, UnknownMachine};
use agon_spec::{Clock, Ponder};
use agon_worker::fleet::{Exchange, FleetLine, FleetState, Open};
use agon_worker::protocol::MapSource;
use agon_worker::wire::PlayingMachine;
use agon_worker::{BotSource, ContestTerms, Granted, Job, MatchGround, Nothing, Posted, Sitting, Try};

fn terms() -> ContestTerms {
    let ground =
        MatchGround { rules_name: "any".into(), rules: String::new(), map: MapSource::Default, seats: 2 };
    ContestTerms {
        game: "any".into(),
        rules_version: 1,
        grounds: vec![ground],
        clock: Clock::ORIGINAL.into(),
        ponder: Ponder::default(),
        ratings: 2,
    }
}

fn machine(speed: f64, jobs: u32) -> PlayingMachine {
    PlayingMachine {
        level: "A".into(),
        attacks: Some(1),
        speed,
        cpus: jobs,
        jobs,
        kernel: "6.1".into(),
        packages: Vec::new(),
        languages: Vec::new(),
    }
}

fn open(fleet: &mut Fleet, sources: &[&str], now: u64) -> i64 {
    let sources = sources.iter().map(|sha| (*sha).to_owned()).collect();
    let open = Open { program: "agon".into(), title: "a series".into(), terms: terms(), sources };
    fleet.open(open, now).expect("room").series
}

fn job(game: i64) -> Job {
    let sit =
        |label: &str| Sitting { label: label.into(), program: BotSource::Builtin("builtin:any".into()) };
    Job {
        attempt: Try { game, n: 1 },
        map: 0,
        seed: game,
        seats: vec![sit("a"), sit("b")],
        tried: None,
        disturbed: Vec::new(),
        positions: Vec::new(),
    }
}

fn give(fleet: &mut Fleet, series: i64, games: impl IntoIterator<Item = i64>, now: u64) -> Vec<FleetLine> {
    let add = games.into_iter().map(job).collect();
    exchange(fleet, series, Exchange { add, ..Exchange::default() }, now)
}

fn exchange(fleet: &mut Fleet, series: i64, exchange: Exchange, now: u64) -> Vec<FleetLine> {
    let lines = fleet.exchange(series, &exchange, now).expect("known");
    lines.into_iter().map(|(line, _)| line).collect()
}

fn standing(lines: &[FleetLine]) -> FleetState {
    match &lines[0] {
        FleetLine::Standing(standing) => *standing,
        other => panic!("{other:?} comes first"),
    }
}

fn observed() -> Observed {
    Observed { max_ms: vec![1.0, 1.0], wall_us: 1, ..Observed::default() }
}

/// A machine that has been told which series it plays.
fn joined(fleet: &mut Fleet, run: &str, now: u64) -> Option<i64> {
    fleet.hello(run, machine(100.0, 1), now).expect("fit");
    fleet.playing(run, now).expect("known").map(|series| series.id)
}

fn lease(fleet: &mut Fleet, run: &str, request: &str, most: usize, now: u64) -> Granted {
    fleet.lease(run, request, most, now).expect("it plays a series")
}

fn post(fleet: &mut Fleet, run: &str, job: &Job) -> Posted {
    fleet.post(run, job.attempt, observed(), b"replay")
}

#[test]
fn a_match_is_given_to_one_machine_and_comes_back_until_it_has_arrived() {
    let mut fleet = Fleet::new(20.0, 0);
    let series = open(&mut fleet, &[], 0);
    assert_eq!(give(&mut fleet, series, 1..=3, 0).len(), 1, "nothing is over");
    assert_eq!(joined(&mut fleet, "one", 0), Some(series));
    let first = lease(&mut fleet, "one", "r1", 2, 0);
    assert_eq!(first.jobs.iter().map(|job| job.seed).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(lease(&mut fleet, "one", "r1", 2, 0), first, "the same request, the same answer");
    // A match handed out twice is played once.
    give(&mut fleet, series, 1..=3, 0);
    let second = lease(&mut fleet, "one", "r2", 9, 0);
    assert_eq!(second.jobs.iter().map(|job| job.seed).collect::<Vec<_>>(), [3]);
    assert!(lease(&mut fleet, "one", "r3", 9, 0).jobs.is_empty());
    assert_eq!(post(&mut fleet, "one", &first.jobs[0]), Posted::Kept);
    assert_eq!(post(&mut fleet, "one", &first.jobs[0]), Posted::Kept, "its answer was lost");
    fleet.void("one", first.jobs[1].attempt, Nothing::again("the machine was late"));
    for _ in 0..2 {
        let lines = give(&mut fleet, series, [], 0);
        let [_, FleetLine::Whole { game: 1, .. }, FleetLine::Nothing { game: 2, nothing }] = &lines[..]
        else {
            panic!("{lines:?}")
        };
        assert_eq!(nothing.why, "the machine was late");
    }
    let got = Exchange { got: vec![1, 2], ..Exchange::default() };
    assert_eq!(exchange(&mut fleet, series, got, 0).len(), 1, "both have arrived");
    fleet.close(series);
    assert_eq!(post(&mut fleet, "one", &second.jobs[0]), Posted::Settled, "nobody wants it any more");
    assert_eq!(fleet.exchange(series, &Exchange::default(), 0), Err(FleetRefusal::Unknown));
    assert_eq!(fleet.lease("one", "r4", 1, 0), None);
    assert_eq!(fleet.playing("one", 0), Ok(None));
}

#[test]
fn what_a_machine_had_that_vanished_is_played_by_others_and_its_first_result_counts() {
    let mut fleet = Fleet::new(20.0, 0);
    let series = open(&mut fleet, &[], 0);
    give(&mut fleet, series, [1], 0);
    joined(&mut fleet, "one", 0);
    let was = lease(&mut fleet, "one", "a", 1, 0);
    let held = was.lease.expect("a lease");
    assert!(fleet.holds("one", was.jobs[0].attempt));
    assert!(fleet.beat("one", held, LEASE_MS - 1), "it lives");
    let later = 2 * LEASE_MS - 2;
    assert_eq!(joined(&mut fleet, "two", later), None, "it is being played");
    let later = later + 1;
    assert_eq!(joined(&mut fleet, "two", later), Some(series));
    let again = lease(&mut fleet, "two", "b", 1, later);
    assert_eq!((again.jobs[0].seed, again.jobs[0].attempt.n), (1, 2));
    assert!(!fleet.holds("one", was.jobs[0].attempt) && fleet.holds("two", again.jobs[0].attempt));
    assert!(!fleet.beat("one", held, later), "it is forgotten");
    // It had only been cut off.
    assert_eq!(post(&mut fleet, "one", &was.jobs[0]), Posted::Kept);
    assert_eq!(post(&mut fleet, "two", &again.jobs[0]), Posted::Settled);
    assert_eq!(give(&mut fleet, series, [], later).len(), 2, "one result");
    assert_eq!(fleet.lease("one", "c", 1, later), None, "it asks what to play");
    assert_eq!(fleet.playing("one", later), Err(UnknownMachine), "and introduces itself again");
}

#[test]
fn a_match_with_which_machines_vanish_comes_to_nothing() {
    let mut fleet = Fleet::new(20.0, 0);
    let series = open(&mut fleet, &[], 0);
    give(&mut fleet, series, [1, 2], 0);
    let mut now = 0;
    for run in ["one", "two", "three"] {
        joined(&mut fleet, run, now);
        let granted = lease(&mut fleet, run, "a", 1, now);
        assert_eq!(granted.jobs[0].seed, 1, "it has waited before");
        now += LEASE_MS;
        give(&mut fleet, series, [], now);
    }
    let lines = give(&mut fleet, series, [], now);
    let FleetLine::Nothing { game: 1, nothing } = &lines[1] else { panic!("{lines:?}") };
    assert!(nothing.why.contains("vanished"), "{}", nothing.why);
    // Matches given back in an orderly way are not counted.
    for n in 0..5 {
        joined(&mut fleet, "four", now);
        let granted = lease(&mut fleet, "four", &format!("a{n}"), 1, now);
        assert_eq!(granted.jobs[0].seed, 2);
        fleet.abort("four", granted.lease.expect("a lease"));
    }
}

#[test]
fn series_share_the_machines_and_a_silent_command_gives_them_up() {
    let mut fleet = Fleet::new(20.0, 0);
    let one = open(&mut fleet, &[], 0);
    give(&mut fleet, one, 1..=200, 0);
    for run in ["a", "b", "c", "d"] {
        assert_eq!(joined(&mut fleet, run, 0), Some(one));
    }
    let two = open(&mut fleet, &[], 0);
    give(&mut fleet, two, 1..=200, 0);
    let mut moved = Vec::new();
    for (n, run) in ["a", "b", "c", "d"].into_iter().enumerate() {
        match fleet.lease(run, &format!("r{n}"), 1, 0) {
            Some(granted) => assert_eq!(granted.jobs.len(), 1),
            None => moved.push(fleet.playing(run, 0).expect("known").map(|series| series.id)),
        }
    }
    assert_eq!(moved, [Some(two), Some(two)], "half of them");
    // The standing says how much is to be handed out.
    let now = standing(&give(&mut fleet, two, [], 0));
    assert_eq!((now.machines, now.at_once, now.all_machines), (2, 2, 4));
    assert!(now.wanted > 4, "{now:?}");
    // The second command was killed. Its machines come back.
    let late = ABANDONED_MS;
    for now in [LEASE_MS - 1, late - 1 - LEASE_MS / 2] {
        for run in ["a", "b", "c", "d"] {
            assert!(fleet.playing(run, now).is_ok());
        }
    }
    give(&mut fleet, one, [], late - 1);
    assert_eq!(fleet.lease("a", "last", 1, late), None);
    assert_eq!(fleet.playing("a", late).expect("known").map(|series| series.id), Some(one));
    assert_eq!(fleet.exchange(two, &Exchange::default(), late), Err(FleetRefusal::Unknown));
}

#[test]
fn a_machine_without_work_goes_where_there_is_some() {
    let mut fleet = Fleet::new(20.0, 0);
    let (one, two) = (open(&mut fleet, &[], 0), open(&mut fleet, &[], 0));
    give(&mut fleet, one, [1], 0);
    assert_eq!(joined(&mut fleet, "a", 0), Some(one));
    let granted = lease(&mut fleet, "a", "1", 1, 0);
    give(&mut fleet, two, [1], 0);
    assert!(lease(&mut fleet, "a", "2", 1, 0).jobs.is_empty(), "its series may go on at once");
    assert!(lease(&mut fleet, "a", "3", 1, 10_000).jobs.is_empty(), "and it plays");
    post(&mut fleet, "a", &granted.jobs[0]);
    assert_eq!(fleet.lease("a", "4", 1, 10_000), None);
    assert_eq!(fleet.playing("a", 10_000).expect("known").map(|series| series.id), Some(two));
}

#[test]
fn bots_come_once_and_go_with_the_last_series_that_needs_them() {
    let sha = "0a".repeat(32);
    let mut fleet = Fleet::new(20.0, 0);
    assert!(fleet.supply(&sha, b"bot".to_vec()).is_err(), "nobody asked for it");
    let wanted = |fleet: &mut Fleet| {
        let sources = vec![sha.clone()];
        let open = Open { program: "agon".into(), title: String::new(), terms: terms(), sources };
        fleet.open(open, 0).expect("room")
    };
    let opened = wanted(&mut fleet);
    assert_eq!(opened.missing, std::slice::from_ref(&sha));
    let mut bot = job(1);
    bot.seats[0].program = BotSource::Source(sha.clone());
    let add = Exchange { add: vec![bot.clone()], ..Exchange::default() };
    let early = fleet.exchange(opened.series, &add, 0);
    assert!(matches!(&early, Err(FleetRefusal::Wrong(why)) if why.contains("Not all bots")), "{early:?}");
    fleet.supply(&sha, b"bot".to_vec()).expect("wanted");
    assert!(fleet.exchange(opened.series, &add, 0).is_ok());
    assert_eq!(joined(&mut fleet, "a", 0), Some(opened.series));
    assert_eq!(fleet.source("a", &sha).as_deref(), Some(&b"bot"[..]));
    assert_eq!(fleet.source("b", &sha), None, "no machine of the fleet");
    let second = wanted(&mut fleet);
    assert_eq!(second.missing, Vec::<String>::new());
    fleet.close(opened.series);
    assert_eq!(wanted(&mut fleet).missing, Vec::<String>::new(), "the second needs it still");
    // A match that does not belong to the series is refused.
    for wrong in [
        Job { map: 1, ..job(1) },
        Job { seats: job(1).seats[..1].to_vec(), ..job(1) },
        Job {
            seats: [
                bot.seats[0].clone(),
                Sitting { label: "x".into(), program: BotSource::Builtin("rm -r ~".into()) },
            ]
            .into(),
            ..job(1)
        },
        Job {
            seats: [
                bot.seats[0].clone(),
                Sitting { label: "x".into(), program: BotSource::Source("0b".repeat(32)) },
            ]
            .into(),
            ..job(1)
        },
    ] {
        let refused = fleet.exchange(second.series, &Exchange { add: vec![wrong], ..Exchange::default() }, 0);
        assert!(matches!(refused, Err(FleetRefusal::Wrong(_))), "{refused:?}");
    }
}

#[test]
fn machines_of_another_speed_are_told_the_figures() {
    let mut fleet = Fleet::new(20.0, 0);
    assert_eq!(fleet.hello("a", machine(100.0, 1), 0).as_deref(), Ok("machine 1"));
    assert_eq!(fleet.hello("b", machine(119.0, 1), 0).as_deref(), Ok("machine 2"));
    let why = fleet.hello("c", machine(121.0, 1), 0).expect_err("too fast");
    assert!(why.contains("121") && why.contains("from 80 to 120") && why.contains("--tolerance"), "{why}");
    assert_eq!(fleet.hello("a", machine(300.0, 1), 0).map_err(drop), Err(()), "it is measured by the others");
    assert_eq!(fleet.hello("a", machine(101.0, 2), 0).as_deref(), Ok("machine 1"));
    let now = fleet.overview(0);
    assert_eq!(
        now.machines.iter().map(|one| (one.name.as_str(), one.jobs)).collect::<Vec<_>>(),
        [("machine 1", 2), ("machine 2", 1)]
    );
    assert!(fleet.overview(LEASE_MS).machines.is_empty(), "none was heard of");
}

/// Whatever the order of events, each match comes back exactly once.
#[test]
fn any_interleaving_brings_each_match_back_once() {
    const GAMES: i64 = 60;
    for seed in 0..200_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut roll = |most: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 20) % most
        };
        let (mut fleet, mut now, mut request) = (Fleet::new(90.0, 0), 0, 0);
        let mut series = open(&mut fleet, &[], now);
        let mut killed = 0;
        let (mut next, mut hand, mut counted) = (1, BTreeSet::new(), BTreeMap::<i64, u32>::new());
        let mut held: Vec<(String, Granted)> = Vec::new();
        let runs = ["a", "b", "c"];
        for _ in 0..100_000 {
            if counted.len() == GAMES as usize {
                break;
            }
            let run = runs[roll(3) as usize];
            match roll(12) {
                0..=2 => {
                    let add: Vec<Job> = (next..=GAMES.min(next + roll(8) as i64)).map(job).collect();
                    next += add.len() as i64;
                    hand.extend(add.iter().map(|job| job.attempt.game));
                    let lines = fleet.exchange(series, &Exchange { add, ..Exchange::default() }, now);
                    let mut got = Vec::new();
                    for (line, _) in lines.unwrap_or_default() {
                        if let FleetLine::Whole { game, .. } | FleetLine::Nothing { game, .. } = line {
                            got.push(game);
                            if hand.remove(&game) {
                                *counted.entry(game).or_default() += 1;
                            }
                        }
                    }
                    // Sometimes the fleet is not told that they arrived.
                    if roll(3) > 0
                        && fleet.exchange(series, &Exchange { got, ..Exchange::default() }, now).is_err()
                    {
                        series = open(&mut fleet, &[], now);
                        let add = hand.iter().copied().map(job).collect();
                        fleet.exchange(series, &Exchange { add, ..Exchange::default() }, now).expect("new");
                    }
                }
                3..=6 => {
                    request += 1;
                    fleet.hello(run, machine(100.0, 1), now).expect("fit");
                    fleet.playing(run, now).expect("known");
                    let asked = fleet.lease(run, &request.to_string(), 1 + roll(6) as usize, now);
                    if let Some(granted) = asked {
                        held.push((run.to_owned(), granted));
                    }
                }
                7 | 8 => {
                    if let Some((run, granted)) = held.pop() {
                        for job in &granted.jobs {
                            match roll(6) {
                                0 => fleet.void(&run, job.attempt, Nothing::again("late")),
                                1 => {}
                                _ => drop(post(&mut fleet, &run, job)),
                            }
                        }
                        if let Some(lease) = granted.lease.filter(|_| roll(2) == 0) {
                            fleet.abort(&run, lease);
                        }
                    }
                }
                9 => now += roll(LEASE_MS / 2),
                10 if roll(20) == 0 => now += LEASE_MS,
                10 => {
                    if let Some((run, granted)) = held.first() {
                        granted.lease.map(|lease| fleet.beat(run, lease, now));
                    }
                }
                _ if roll(40) == 0 => {
                    // The broker is killed.
                    killed += 1_000_000;
                    fleet = Fleet::new(90.0, killed);
                    series = open(&mut fleet, &[], now);
                    let add = hand.iter().copied().map(job).collect();
                    fleet.exchange(series, &Exchange { add, ..Exchange::default() }, now).expect("new");
                }
                _ => {}
            }
        }
        assert_eq!(counted.len(), GAMES as usize, "seed {seed}: all come back");
        assert!(counted.values().all(|count| *count == 1), "seed {seed}");
    }
}
