//! The bots of a match at their seats, and the CPUs they run on.

use agon_bot::{BotName, sys};
use agon_game::{Cpus, GameInfo, Seat, Session};

use crate::player::{self, Coming, Player, SeatError};
use crate::{Clock, Ponder};

/// How many CPUs a match takes, with or without `programs` among its bots: bots that think at the same time get one
/// each; bots that take turns share one, which is fastest; built-in bots need only the referee's.
pub fn cpus_a_match(info: &GameInfo, ponder: Ponder, seats: usize, programs: bool) -> usize {
    match programs && (!info.alternating || ponder == Ponder::Allow) {
        true => seats,
        false => 1,
    }
}

/// The CPUs of threads that each play whole matches.
///
/// They are claimed until this is dropped: other runs of this program take other CPUs if there are any.
pub struct CpuShares {
    _claims: Vec<sys::CpuClaim>,
    shares: Vec<Vec<usize>>,
}

impl CpuShares {
    /// Claims `each` CPUs for every one of `threads`, as far as there are enough.
    pub fn claim(threads: usize, each: usize) -> Self {
        let claims = sys::claim_cpus(threads.saturating_mul(each).min(sys::cpus().len()));
        let cpus: Vec<usize> = claims.iter().map(|claim| claim.cpu).collect();
        agon_bot::inside::build_beside(&cpus);
        Self { shares: share(&cpus, threads, each), _claims: claims }
    }

    /// The share of each thread in turn. A thread that plays on its share should [stay on it](sys::stay_on).
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        self.shares.iter().map(Vec::as_slice)
    }

    /// The CPUs of this process that are in no share; none when there are as many matches as CPUs.
    pub fn others(&self) -> Vec<usize> {
        sys::cpus_beside(&self.shares.concat())
    }
}

fn share(cpus: &[usize], threads: usize, each: usize) -> Vec<Vec<usize>> {
    let mut next = cpus.iter().copied().cycle();
    (0..threads).map(|_| next.by_ref().take(each.min(cpus.len())).collect()).collect()
}

/// The CPUs each seat runs on, where `cpus` are those of the match; the referee belongs on the first of them.
///
/// If the rules say so ([`Cpus::All`]), these are all of this machine's. Otherwise bots of an alternating game share a
/// CPU with the referee, because passing the turn to a process on the same CPU is an order of magnitude cheaper than
/// to another; bots that think at the same time get one each, as far as there are enough.
pub fn place(session: &dyn Session, ponder: Ponder, cpus: &[usize]) -> Vec<Vec<usize>> {
    let (info, recipe) = (session.info(), session.recipe());
    let together = info.alternating && ponder == Ponder::Stop;
    Seat::first(recipe.seats)
        .map(|seat| match info.cpus(&recipe.rules_name) {
            Cpus::All => sys::cpus_at_start().to_vec(),
            Cpus::One if together => vec![cpus[0]],
            Cpus::One => vec![cpus[seat.index() % cpus.len()]],
        })
        .collect()
}

/// Seats these bots, the first in seat 1, with `cpus` for the match.
///
/// # Errors
/// Those of [`seat_player`](crate::seat_player), of the first bot that cannot be seated.
pub fn seat_all<'a>(
    session: &mut dyn Session,
    names: impl IntoIterator<Item = &'a BotName>,
    clock: Clock,
    ponder: Ponder,
    cpus: &[usize],
) -> Result<Vec<Player>, SeatError> {
    let places = place(session, ponder, cpus);
    let seats = Seat::first(session.recipe().seats).zip(&places);
    let coming: Vec<Coming> = seats
        .zip(names)
        .map(|((seat, own), name)| player::begin(session, name, seat, Some(own), clock))
        .collect::<Result<_, _>>()?;
    coming.into_iter().map(Coming::settle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_has_its_cpus_as_far_as_there_are() {
        assert_eq!(share(&[3, 2, 1, 0], 2, 2), [[3, 2], [1, 0]]);
        assert_eq!(share(&[1, 0], 3, 1), [[1], [0], [1]]);
        assert_eq!(share(&[1, 0], 1, 4), [[1, 0]], "a CPU is not given twice to one thread");
    }
}
