//! Matches while they are played: what workers tell of them, and the lines that viewers get of it. None of it is kept: a match that is
//! over is seen from its replay.
//!
//! A worker tells of a match what its replay will say, in pieces. The lines are made here, and only when somebody looks: once for all
//! whose rights are the same, so that a thousand spectators cost no more than one. What belongs to the author of a seat is taken out
//! before a line is made.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon_game::Seat;
use agon_replay::data::note;
use agon_replay::{Header, Replay, SeatInfo, redact_step};
use agon_store::reads::{Eyes, StoredMatch, TryState};
use agon_store::{Kind, MatchId, Time, WorkerId};
use agon_view::{FaultLine, Notes, Privacy, Reel};
use agon_worker::protocol::{MOST_PIECE, MOST_TOLD};
use agon_worker::{Job, Try};
use tokio::sync::watch;

use crate::asked::ours;
use crate::{ContestServer, ServerError};

/// The most matches that are followed at once; of others nothing is seen before they are over.
const MOST_REELS: usize = 32;
/// The most matches of the ladder among them, which are followed while somebody looks for one.
const MOST_LADDER: usize = 2;
/// How long somebody is taken to look for one, in milliseconds.
const LOOKS_MS: i64 = 60_000;
/// A match of which nothing was heard for this long is not followed any more, in milliseconds: its worker is gone.
const SILENT_MS: i64 = 120_000;
/// Upper limit on a piece when it is unpacked, in bytes.
const MOST_UNPACKED: usize = 8 << 20;
/// Upper limit on all lines, in bytes: beyond that no more are made.
const MOST_HELD: usize = 128 << 20;

/// The matches that this server follows.
#[derive(Default)]
pub struct LiveMatches {
    reels: Mutex<BTreeMap<MatchId, Arc<MatchReel>>>,
    /// Changes whenever another match is followed.
    changed: watch::Sender<()>,
    /// How many bytes of lines there are.
    held: Arc<AtomicUsize>,
    /// When somebody last looked for a match of the ladder.
    wanted: Mutex<Option<Time>>,
}

/// A match that is followed: one try of it.
pub struct MatchReel {
    attempt: Try,
    worker: WorkerId,
    kind: Kind,
    header: Header,
    told: Mutex<ToldPieces>,
    /// The number of pieces.
    count: watch::Sender<usize>,
    /// What is made of them, by the seats whose authors look.
    films: Mutex<BTreeMap<Vec<Seat>, Arc<Mutex<Film>>>>,
    held: Arc<AtomicUsize>,
}

#[derive(Default)]
struct ToldPieces {
    pieces: Vec<Arc<[u8]>>,
    bytes: usize,
    /// When the last one came.
    last: Time,
    /// Whether no more will come.
    is_over: bool,
}

/// What is made of a match for those with the same rights.
#[derive(Default)]
struct Film {
    reel: Reel,
    /// How many pieces are in it.
    pieces: usize,
    /// How many steps, after the head.
    steps: usize,
    /// Whether it does not go on: there is too much, or it cannot be read.
    is_stuck: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn privacy(private: bool) -> Privacy {
    if private { Privacy::Private } else { Privacy::Redacted }
}

impl LiveMatches {
    /// The match, if it is followed here.
    pub fn of(&self, game: MatchId) -> Option<Arc<MatchReel>> {
        lock(&self.reels).get(&game).cloned()
    }

    /// Signals when another match is followed.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Somebody looks for a match of the ladder: one that begins soon is followed.
    pub fn look_for_one(&self, now: Time) {
        *lock(&self.wanted) = Some(now);
    }

    /// Marks those of these matches that begin now and are to be followed.
    pub(crate) fn mark<'a>(&self, jobs: impl Iterator<Item = (Kind, &'a mut Job)>, now: Time) {
        let looks = lock(&self.wanted).is_some_and(|last| !last.is_past(LOOKS_MS, now));
        let reels = lock(&self.reels);
        let followed =
            reels.values().filter(|reel| reel.kind == Kind::Ladder && !reel.is_silent(now)).count();
        drop(reels);
        let mut room = if looks { MOST_LADDER.saturating_sub(followed) } else { 0 };
        for (kind, job) in jobs {
            job.is_followed = match kind {
                Kind::Draft | Kind::Challenge => true,
                Kind::Ladder if room > 0 => {
                    room -= 1;
                    true
                }
                _ => false,
            };
        }
    }

    /// These are over.
    pub(crate) fn over(&self, attempts: impl Iterator<Item = Try>) {
        let mut reels = lock(&self.reels);
        for attempt in attempts {
            let game = MatchId(attempt.game);
            if reels.get(&game).is_some_and(|reel| reel.attempt.n <= attempt.n)
                && let Some(reel) = reels.remove(&game)
            {
                reel.end();
            }
        }
    }

    /// Follows a match, unless there are too many.
    fn open(&self, reel: MatchReel, now: Time) -> Option<Arc<MatchReel>> {
        let (game, reel) = (MatchId(reel.attempt.game), Arc::new(reel));
        let mut reels = lock(&self.reels);
        reels.retain(|_, reel| !reel.is_silent(now));
        if reels.get(&game).is_some_and(|other| other.attempt.n > reel.attempt.n)
            || reels.len() >= MOST_REELS && !reels.contains_key(&game)
        {
            return None;
        }
        if let Some(other) = reels.insert(game, reel.clone()) {
            other.end();
        }
        drop(reels);
        self.changed.send_replace(());
        Some(reel)
    }

    /// A match that begins.
    fn reel(&self, (attempt, worker): (Try, WorkerId), kind: Kind, header: Header, now: Time) -> MatchReel {
        MatchReel {
            attempt,
            worker,
            kind,
            header,
            told: Mutex::new(ToldPieces { last: now, ..ToldPieces::default() }),
            count: watch::Sender::new(0),
            films: Mutex::default(),
            held: self.held.clone(),
        }
    }
}

impl MatchReel {
    /// Which try of the match it is.
    pub fn n(&self) -> i64 {
        self.attempt.n
    }

    /// Whether no more will come.
    pub fn is_over(&self) -> bool {
        lock(&self.told).is_over
    }

    /// Signals when there is more, or it is over.
    pub fn changes(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    /// The head and the steps so far, from the line `from` on, for somebody who may know what the authors of these seats know; and
    /// whether no more can be made. This may take a while.
    pub fn lines(&self, own: &[Seat], from: usize) -> (Vec<Arc<str>>, bool) {
        let film = lock(&self.films).entry(own.to_vec()).or_default().clone();
        let mut film = lock(&film);
        film.go_on(self, own);
        let whole = (film.steps + 1).saturating_sub(from);
        (film.reel.since(from).iter().take(whole).cloned().collect(), film.is_stuck)
    }

    /// Takes a piece, and returns which one comes next; none if there is too much.
    pub(crate) fn add(&self, piece: u64, chunks: &[u8], now: Time) -> Option<u64> {
        let mut told = lock(&self.told);
        told.last = now;
        if piece == told.pieces.len() as u64 {
            told.bytes += chunks.len();
            if chunks.len() > MOST_PIECE || told.bytes > MOST_TOLD {
                return None;
            }
            told.pieces.push(chunks.into());
        }
        let count = told.pieces.len();
        drop(told);
        self.count.send_replace(count);
        Some(count as u64)
    }

    fn end(&self) {
        lock(&self.told).is_over = true;
        self.count.send_modify(|_| {});
    }

    fn piece(&self, number: usize) -> Option<Arc<[u8]>> {
        lock(&self.told).pieces.get(number).cloned()
    }

    fn is_silent(&self, now: Time) -> bool {
        lock(&self.told).last.is_past(SILENT_MS, now)
    }
}

impl Drop for MatchReel {
    fn drop(&mut self) {
        let own: usize = lock(&self.films).values().map(|film| lock(film).reel.size()).sum();
        self.held.fetch_sub(own, Ordering::Relaxed);
    }
}

impl Film {
    /// Makes the lines of what came since the last time.
    fn go_on(&mut self, of: &MatchReel, own: &[Seat]) {
        let before = self.reel.size();
        if before == 0 {
            self.is_stuck = self.reel.begin(&of.header, privacy(!own.is_empty())).is_err();
        }
        while !self.is_stuck
            && let Some(piece) = of.piece(self.pieces)
        {
            self.pieces += 1;
            match Replay::read_part(&of.header, &piece, MOST_UNPACKED) {
                Ok(part) => self.add(part, own),
                Err(_) => self.is_stuck = true,
            }
            self.is_stuck |= of.held.load(Ordering::Relaxed) + self.reel.size() - before > MOST_HELD;
        }
        of.held.fetch_add(self.reel.size() - before, Ordering::Relaxed);
    }

    fn add(&mut self, mut part: Replay, own: &[Seat]) {
        // Before anything is made of it.
        part.notes.retain(|seat, _| own.contains(seat));
        for mut step in std::mem::take(&mut part.steps) {
            let Some(session) = self.reel.session() else { return };
            redact_step(&mut step, own, &|order| session.public(order));
            let number = self.steps as u32;
            let notes = |seat| Notes {
                raw: part.notes_of(seat, number, note::RAW).next().map(str::to_owned),
                stderr: part.notes_of(seat, number, note::STDERR).collect(),
                timing: part.timing.get(&(number, seat)).copied(),
            };
            let faults = own.iter().flat_map(|seat| {
                let told = part.notes_of(*seat, number, note::FAULT);
                let fault = |text: &str| serde_json::from_str::<FaultLine>(text).ok();
                told.filter_map(fault).map(|fault| FaultLine { seat: seat.number(), ..fault })
            });
            self.reel.step(&step.answers, notes, faults.collect(), None);
            // It ends by itself only when a step cannot be played.
            if self.reel.is_over() {
                self.is_stuck = true;
                return;
            }
            self.steps += 1;
        }
    }
}

impl ContestServer {
    /// The matches that this server follows while they are played.
    pub fn live(&self) -> &LiveMatches {
        &self.live
    }

    /// A worker tells of a match that it plays ([`agon_worker::Hall::tell`]).
    ///
    /// # Errors
    /// Store errors.
    pub async fn tell(
        &self,
        worker: WorkerId,
        attempt: Try,
        piece: u64,
        chunks: &[u8],
        now: Time,
    ) -> Result<Option<u64>, ServerError> {
        let known = self.live.of(MatchId(attempt.game)).filter(|reel| reel.attempt == attempt);
        let reel = match known {
            Some(reel) if reel.worker == worker => Some(reel),
            Some(_) => None,
            None => self.film(worker, attempt, now).await?,
        };
        Ok(reel.and_then(|reel| reel.add(piece, chunks, now)))
    }

    /// Follows a match that this worker has in hand.
    async fn film(
        &self,
        worker: WorkerId,
        attempt: Try,
        now: Time,
    ) -> Result<Option<Arc<MatchReel>>, ServerError> {
        let tried = ours(attempt);
        if self.store.given(worker, &[tried]).await?.get(&tried) != Some(&TryState::Open) {
            return Ok(None);
        }
        let Some(played) = self.store.one_match(Eyes::Organiser, tried.game).await? else { return Ok(None) };
        let header = self.header_of(&played)?;
        Ok(self.live.open(self.live.reel((attempt, worker), played.kind, header, now), now))
    }

    /// The head of a match before it is played; with `private` for somebody who may know what belongs to a seat.
    ///
    /// # Errors
    /// When it cannot be set up.
    pub fn head_of(&self, played: &StoredMatch, private: bool) -> Result<String, ServerError> {
        let mut reel = Reel::default();
        let begun = reel.begin(&self.header_of(played)?, privacy(private));
        begun.map_err(|why| ServerError::Wrong(why.to_string()))?;
        Ok(reel.since(0).concat())
    }

    /// What is known of a match before it is played, with the names that pages have now.
    fn header_of(&self, played: &StoredMatch) -> Result<Header, ServerError> {
        let map = usize::try_from(played.map).unwrap_or(usize::MAX);
        let session = self.table.open(map, played.seed).map_err(ServerError::Wrong)?;
        let seats = played.seats.iter();
        let seats = seats.map(|seat| SeatInfo { bot: String::new(), label: seat.called(), hash: None });
        Ok(Header::new(session.as_ref(), seats.collect(), self.terms.clock.clock()))
    }
}

#[cfg(test)]
mod tests {
    use agon_game::{Answer, Setup};
    use agon_replay::Writer;
    use agon_spec::Clock;
    use serde_json::Value;

    use super::*;

    const NOW: Time = Time(1_000_000);
    const ANN: Seat = Seat::new(0);
    const BOB: Seat = Seat::new(1);

    /// A match of two bots that write on standard error: its header, and so many steps of it, one a piece.
    fn played(steps: usize) -> (Header, Vec<Vec<u8>>) {
        let game = agon_games::all()[0];
        let mut session = game.open(&Setup { seats: 2, ..Setup::default() }).expect("its own rules");
        let seats = ["Ann v1", "Bob v1"];
        let seats = seats.map(|label| SeatInfo { bot: String::new(), label: label.to_owned(), hash: None });
        let header = Header::new(session.as_ref(), seats.to_vec(), Clock::ORIGINAL);
        for seat in [ANN, BOB] {
            session.seat_builtin(seat, game.info().builtins[0].name, &[], 1).expect("it is ours");
        }
        let mut writer = Writer::without_header(header.timed, 2);
        let pieces = (0..steps).map(|_| {
            let seat = session.deciding().iter().next().expect("it is not over");
            let answers = [(seat, Answer::Given { order: session.think(seat), think_ms: 0 })];
            session.play(&answers).expect("an order");
            writer.note(seat, note::STDERR, &format!("thoughts of {}", seat.number()));
            let fault = serde_json::json!({ "seat": 9, "kind": "stray", "message": format!("told {}", seat.number()) });
            writer.note(seat, note::FAULT, &fault.to_string());
            writer.step(&answers, 0).expect("a vector takes all");
            writer.take().expect("a vector takes all")
        });
        let pieces = pieces.collect();
        (header, pieces)
    }

    fn reel(live: &LiveMatches, header: &Header, game: i64) -> Option<Arc<MatchReel>> {
        let whose = (Try { game, n: 1 }, WorkerId(1));
        live.open(live.reel(whose, Kind::Draft, header.clone(), NOW), NOW)
    }

    /// What somebody gets who comes now.
    fn all(reel: &MatchReel, own: &[Seat]) -> (Vec<Value>, bool) {
        let (lines, is_stuck) = reel.lines(own, 0);
        (lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect(), is_stuck)
    }

    #[test]
    fn whoever_comes_late_or_reads_slowly_gets_the_same_lines_made_once() {
        let (header, pieces) = played(8);
        let live = LiveMatches::default();
        let reel = reel(&live, &header, 1).expect("there is room");
        let (mut early, mut slow): (Vec<Arc<str>>, Vec<Arc<str>>) = (Vec::new(), Vec::new());
        for (number, piece) in (0..).zip(&pieces) {
            assert_eq!(reel.add(number, piece, NOW), Some(number + 1));
            early.extend(reel.lines(&[], early.len()).0);
            if number % 5 == 0 {
                slow.extend(reel.lines(&[], slow.len()).0);
            }
        }
        slow.extend(reel.lines(&[], slow.len()).0);
        let late = reel.lines(&[], 0).0;
        assert_eq!((late.len(), early.len()), (9, 9));
        // Not only equal: the same bytes, however many read them.
        let same = |one: &[Arc<str>]| one.iter().zip(&late).all(|(one, other)| Arc::ptr_eq(one, other));
        assert!(same(&early) && same(&slow));
        assert!(late.iter().all(|line| line.ends_with('\n') && line.matches('\n').count() == 1));
        assert_eq!(reel.lines(&[], 99).0.len(), 0);
    }

    #[test]
    fn what_a_bot_writes_is_only_in_the_lines_of_its_author() {
        let (header, pieces) = played(4);
        let live = LiveMatches::default();
        let reel = reel(&live, &header, 1).expect("there is room");
        for (number, piece) in (0..).zip(&pieces) {
            reel.add(number, piece, NOW);
        }
        let text = |own: &[Seat]| reel.lines(own, 0).0.concat();
        let has = |own: &[Seat]| {
            let text = text(own);
            ["thoughts of 1", "told 1", "thoughts of 2", "told 2"].map(|words| text.contains(words))
        };
        assert_eq!(has(&[]), [false; 4]);
        assert_eq!(has(&[ANN]), [true, true, false, false]);
        assert_eq!(has(&[BOB]), [false, false, true, true]);
        assert_eq!(has(&[ANN, BOB]), [true; 4]);
        let (lines, _) = all(&reel, &[ANN]);
        assert_eq!((&lines[0]["private"], &lines[1]["faults"][0]["seat"]), (&true.into(), &1.into()));
    }

    #[test]
    fn a_server_that_lacks_a_piece_asks_for_it_and_takes_none_twice() {
        let (header, pieces) = played(3);
        let live = LiveMatches::default();
        let reel = reel(&live, &header, 1).expect("there is room");
        assert_eq!(reel.add(2, &pieces[2], NOW), Some(0), "it came in the middle");
        assert_eq!([reel.add(0, &pieces[0], NOW), reel.add(0, &pieces[0], NOW)], [Some(1), Some(1)]);
        assert_eq!([reel.add(1, &pieces[1], NOW), reel.add(2, &pieces[2], NOW)], [Some(2), Some(3)]);
        assert_eq!(all(&reel, &[]).0.len(), 4);
    }

    #[test]
    fn what_is_too_much_or_no_match_is_not_shown() {
        let (header, pieces) = played(2);
        let live = LiveMatches::default();
        let reel = reel(&live, &header, 1).expect("there is room");
        assert_eq!(reel.add(0, &vec![0; MOST_PIECE + 1], NOW), None);
        reel.add(0, &pieces[0], NOW);
        reel.add(1, b"no chunk at all", NOW);
        let (lines, is_stuck) = all(&reel, &[]);
        assert!(is_stuck && lines.len() == 2, "what was good stays");
        // Answers that do not fit end it, without a line that says so: the match itself goes on.
        let other = self::reel(&live, &header, 2).expect("there is room");
        other.add(0, &pieces[1], NOW);
        let (lines, is_stuck) = all(&other, &[]);
        assert!(is_stuck && lines.len() == 1, "{lines:?}");
        let held = live.held.load(Ordering::Relaxed);
        assert!(held > 0);
        live.over([Try { game: 1, n: 1 }, Try { game: 2, n: 1 }].into_iter());
        assert!(reel.is_over() && live.of(MatchId(1)).is_none());
        drop((reel, other));
        assert_eq!(live.held.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn only_so_many_matches_are_followed_and_silent_ones_make_room() {
        let (header, _) = played(0);
        let live = LiveMatches::default();
        let most = MOST_REELS as i64;
        let all: Vec<_> = (0..most).map(|game| reel(&live, &header, game).expect("there is room")).collect();
        assert!(reel(&live, &header, most).is_none());
        let later = NOW.plus(SILENT_MS);
        all[1].add(0, b"", later);
        let whose = (Try { game: most, n: 1 }, WorkerId(1));
        assert!(live.open(live.reel(whose, Kind::Draft, header.clone(), later), later).is_some());
        let left: Vec<i64> = (0..=most).filter(|game| live.of(MatchId(*game)).is_some()).collect();
        assert_eq!(left, [1, most]);
        // The second try takes the place of the first, and not the other way round.
        let second = (Try { game: most, n: 2 }, WorkerId(1));
        assert!(live.open(live.reel(second, Kind::Draft, header.clone(), later), later).is_some());
        assert!(live.open(live.reel(whose, Kind::Draft, header.clone(), later), later).is_none());
    }

    #[test]
    fn drafts_and_challenges_are_followed_and_of_the_ladder_a_few_while_somebody_looks() {
        let live = LiveMatches::default();
        let kinds = [Kind::Ladder, Kind::Draft, Kind::Check, Kind::Ladder, Kind::Challenge, Kind::Ladder];
        let marked = |now| {
            let job = Job {
                attempt: Try { game: 1, n: 1 },
                map: 0,
                seed: 0,
                seats: Vec::new(),
                tried: None,
                disturbed: Vec::new(),
                is_followed: false,
            };
            let mut jobs = vec![job; kinds.len()];
            live.mark(kinds.into_iter().zip(&mut jobs), now);
            jobs.iter().map(|job| job.is_followed).collect::<Vec<_>>()
        };
        let asked = [false, true, false, false, true, false];
        assert_eq!(marked(NOW), asked);
        live.look_for_one(NOW);
        assert_eq!(marked(NOW.plus(1)), [true, true, false, true, true, false]);
        assert_eq!(marked(NOW.plus(LOOKS_MS)), asked);
        let whose = (Try { game: 1, n: 1 }, WorkerId(1));
        live.open(live.reel(whose, Kind::Ladder, played(0).0, NOW), NOW).expect("there is room");
        assert_eq!(marked(NOW.plus(1)), [true, true, false, false, true, false]);
    }
}
