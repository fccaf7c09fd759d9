//! Bots at their seats, and what they are called there.

use std::path::Path;
use std::sync::OnceLock;

use agon_bot::BotName;
use agon_bot::sys::{self, CpuClaim};
use agon_game::{Seat, Session};
use agon_match::{Clock, Player, Ponder, cpus_a_match};
use agon_replay::{Header, Replay, SeatInfo};
use agon_view::record::UNKNOWN_BOT;

use crate::DeskError;
use crate::words::harmless;

/// Seats all bots, each where it disturbs the others least.
///
/// # Errors
/// When a bot's name is wrong, or this machine has no room for it.
pub fn seat_all(
    session: &mut dyn Session,
    names: &[BotName],
    clock: Clock,
    ponder: Ponder,
) -> Result<Vec<Player>, DeskError> {
    // Claimed for the life of this process: another run takes other CPUs.
    static CLAIMS: OnceLock<Vec<CpuClaim>> = OnceLock::new();
    let wanted = cpus_a_match(session.info(), ponder, names.len(), true);
    let cpus: Vec<usize> =
        CLAIMS.get_or_init(|| sys::claim_cpus(wanted)).iter().map(|claim| claim.cpu).collect();
    sys::stay_on(&cpus[..1]);
    Ok(agon_match::seat_all(session, names, clock, ponder, &cpus)?)
}

/// The header of the replay of their match.
pub fn header(session: &dyn Session, names: &[BotName], labels: &[String], clock: Clock) -> Header {
    let seats = names.iter().zip(labels).map(|(name, label)| SeatInfo {
        bot: name.text.clone(),
        label: label.clone(),
        hash: None,
    });
    Header::new(session, seats.collect(), clock)
}

/// The seat of a replay with this number, from 1.
///
/// # Errors
/// When there is none.
pub fn seat_of(replay: &Replay, number: u8) -> Result<Seat, DeskError> {
    let seats = replay.header.seats.len();
    match (1..=seats).contains(&usize::from(number)) {
        true => Ok(Seat::new(number - 1)),
        false => Err(DeskError::Impossible(format!("--seat {number}: write a seat from 1 to {seats}"))),
    }
}

/// The bots of the seats of a replay: `bot` in its own, and in the others those of `against`, or of the replay.
///
/// # Errors
/// When not as many are named as there are others, or the replay does not say who played.
pub fn names(bot: &str, against: &[String], replay: &Replay, seat: Seat) -> Result<Vec<String>, DeskError> {
    let others = replay.header.seats.len() - 1;
    if !against.is_empty() && against.len() != others {
        return Err(DeskError::Impossible(format!(
            "--against: {} other bots are needed, in the order of their seats, not {}",
            others,
            against.len()
        )));
    }
    let mut against = against.iter().cloned();
    let recorded = Seat::first(Seat::MAX).zip(&replay.header.seats);
    recorded
        .map(|(other, info)| {
            if other == seat {
                return Ok(bot.to_owned());
            }
            match against.next() {
                Some(bot) => Ok(bot),
                None if info.bot == UNKNOWN_BOT && !Path::new(UNKNOWN_BOT).exists() => {
                    Err(DeskError::Impossible(format!(
                        "seat {other}: this replay comes from a record without its bot ({}); name the one \
                         that plays there: --against BOT",
                        harmless(&info.label)
                    )))
                }
                None => Ok(info.bot.clone()),
            }
        })
        .collect()
}

/// Labels that tell bots apart when none was renamed.
pub fn labels(names: &[BotName]) -> Vec<String> {
    apart(called(names), &vec![None; names.len()])
}

/// What bots are called: by the names that they have themselves, or where two have the same, as versions of one bot do, by where
/// they are.
pub fn called(names: &[BotName]) -> Vec<String> {
    let own: Vec<String> = names.iter().map(BotName::label).collect();
    let is_alone = |label: &String| own.iter().filter(|other| *other == label).count() == 1;
    own.iter()
        .zip(names)
        .map(|(label, name)| if is_alone(label) { label.clone() } else { name.place() })
        .collect()
}

/// Labels that tell bots apart: the chosen ones stay; of the others with the same name, the second and later ones
/// are numbered.
pub fn apart(mut labels: Vec<String>, chosen: &[Option<String>]) -> Vec<String> {
    let count = labels.len();
    for (label, chosen) in labels.iter_mut().zip(chosen) {
        if let Some(chosen) = chosen {
            label.clone_from(chosen);
        }
    }
    for place in 0..count {
        // Already settled: the chosen labels, and the labels before this one.
        let is_taken = |label: &str| {
            (0..count).any(|other| {
                other != place && (chosen[other].is_some() || other < place) && labels[other] == label
            })
        };
        if chosen[place].is_none() && is_taken(&labels[place]) {
            let numbered = (2..).map(|copy| format!("{} ({copy})", labels[place]));
            let free = numbered.take(count + 1).find(|label| !is_taken(label));
            labels[place] = free.expect("one more than there are bots");
        }
    }
    labels
}
