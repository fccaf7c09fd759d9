//! A seat of a running match taken by a person: what its page may see and do, and nothing else.
//!
//! Only the referee may query the match being played. The page's questions go to a second session, which follows step by
//! step, is told only what was played, and answers with what the seat sees.

use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon_game::{Outcome, PackedAnswer, Seat, Session};
use agon_match::{MatchRecord, Observer, StepReport};
use agon_replay::{EndInfo as ReplayEnd, Header, Writer};
use agon_view::{
    Ask, AskRefusal, Begun, End, Head, Line, Maker, Notes, Privacy, RecordingState, Reply, Turn, Unshowable,
};
use serde_json::{Value, json};
use tokio::sync::watch;

/// A seat taken by a person. Clones are the same seat.
#[derive(Clone)]
pub struct TakenSeat(Arc<Inner>);

struct Inner {
    seat: Seat,
    head: Head,
    /// As it may be given away, without how the others' bots are started.
    header: Header,
    now: Mutex<Now>,
    /// Changes whenever something was played.
    steps: watch::Sender<u32>,
}

struct Now {
    maker: Maker,
    /// The steps so far.
    lines: Vec<Line>,
    /// The same as in a replay, with the hash of the state after each.
    steps: Vec<(Vec<(Seat, PackedAnswer)>, u64)>,
    /// Whether the seat has answered in this step.
    answered: bool,
    end: Option<End>,
    /// The whole match, without what belongs only to the others' bots, once it is over.
    replay: Option<Vec<u8>>,
    /// Where answers go: messages of the game's protocol.
    answers: Sender<Vec<u8>>,
}

impl TakenSeat {
    /// A seat of the match with this header. The person's answers go to `answers`, as the seat's bot would have sent them.
    ///
    /// # Errors
    /// When the match cannot be set up a second time.
    pub fn new(
        header: &Header,
        seat: Seat,
        answers: Sender<Vec<u8>>,
    ) -> Result<(Self, SeatCamera), Unshowable> {
        let (mut maker, mut head) = Maker::begin(header, &Value::Null, Privacy::Redacted)?;
        maker.look(seat, &mut head);
        if maker.eyes().is_some() {
            // The seed makes or picks the map, and with it everything hidden.
            head.seed.clear();
            head.map.clear();
        }
        head.seats[seat.index()].bot = Some(agon_view::play::HUMAN.to_owned());
        let (lines, steps) = (Vec::new(), Vec::new());
        let now = Now { maker, lines, steps, answered: false, end: None, replay: None, answers };
        let mut header = header.clone();
        for (other, own) in Seat::first(header.recipe.seats).zip(&mut header.seats) {
            own.bot = if other == seat { agon_view::play::HUMAN.to_owned() } else { own.label.clone() };
            own.hash = None;
        }
        let inner = Inner { seat, head, header, now: Mutex::new(now), steps: watch::Sender::new(0) };
        let own = Self(Arc::new(inner));
        Ok((own.clone(), SeatCamera(own)))
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.0.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the person can do something with what was played since `steps` steps.
    pub async fn news(&self, steps: u32) {
        let mut changes = self.0.steps.subscribe();
        loop {
            changes.mark_unchanged();
            let turn = self.turn(&self.now(), steps);
            let waits = turn.lines.is_empty() && turn.choosing.is_empty() && turn.end.is_none();
            if !waits || changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Answers a question of the seat's page.
    ///
    /// # Errors
    /// When it is invalid or no question for a seat, or it is not this seat's turn.
    pub fn tell(&self, ask: Ask) -> Result<Reply, AskRefusal> {
        let mut now = self.now();
        match ask {
            Ask::Sit => {
                let (head, turn) = (Box::new(self.0.head.clone()), self.turn(&now, 0));
                Ok(Reply::Begun(Begun { id: 0, head, turn }))
            }
            Ask::Go { steps, .. } => Ok(Reply::Turn(self.turn(&now, steps))),
            Ask::Prospect { chosen, .. } => {
                open(&now)?;
                let prospect = now.maker.session().by_hand().prospect(self.0.seat, &chosen)?;
                Ok(Reply::Prospect(Box::new(prospect)))
            }
            Ask::Answer { chosen, .. } => {
                self.answer(&mut now, &chosen)?;
                Ok(Reply::Nothing)
            }
            // Everybody may see the match once it is over.
            Ask::Replay { .. } => match &now.replay {
                Some(bytes) => Ok(Reply::Bytes(bytes.clone())),
                None => Err("the replay will be there once the match is over".into()),
            },
            _ => Err("this is not a question for a seat of a match being played".into()),
        }
    }

    fn turn(&self, now: &Now, since: u32) -> Turn {
        let session = now.maker.session();
        let choosing = now.end.is_none() && !now.answered && session.deciding().contains(self.0.seat);
        Turn {
            lines: now.lines.get(since as usize..).unwrap_or_default().to_vec(),
            steps: now.lines.len() as u32,
            choosing: choosing.then_some(self.0.seat.number()).into_iter().collect(),
            moment: session.moment(),
            limit: session.limit_ms(self.0.seat),
            end: now.end.clone(),
        }
    }

    /// Sends an answer.
    fn answer(&self, now: &mut Now, chosen: &Value) -> Result<(), String> {
        open(now)?;
        let order = now.maker.session().by_hand().order_of(self.0.seat, chosen)?;
        let message = now.maker.say(self.0.seat, &order).ok_or("the game's protocol cannot express this")?;
        now.answers.send(message).map_err(|_| "this match is no longer being played".to_owned())?;
        now.answered = true;
        Ok(())
    }
}

/// Whether the seat may still ask and answer.
fn open(now: &Now) -> Result<(), String> {
    match (&now.end, now.answered) {
        (Some(_), _) => Err("the match is over, and this link ended with it".to_owned()),
        (None, true) => Err("this seat has answered; the others are playing".to_owned()),
        (None, false) => Ok(()),
    }
}

/// A finished match as a replay; none if it cannot be written. Only the game knows what in an order is for the bot's author
/// alone.
fn written(own: &Inner, now: &mut Now, outcome: Option<&Outcome>, void: Option<String>) -> Option<Vec<u8>> {
    let mut writer = Writer::new(Vec::new(), &own.header).ok()?;
    let mut last = None;
    for (answers, hash) in &now.steps {
        writer.step(answers, *hash).ok()?;
        last = Some(*hash);
    }
    let end = ReplayEnd {
        steps: 0,
        outcome: outcome.cloned(),
        state: format!("{:016x}", last?),
        chain: String::new(),
        facts: json!({ "void": void }),
    };
    let whole = writer.finish(end).ok()?;
    let session = now.maker.session();
    let (public, _) = agon_replay::redact(&whole, &[own.seat], &|order| session.public(order)).ok()?;
    Some(public)
}

/// Follows the match for a seat.
pub struct SeatCamera(TakenSeat);

impl SeatCamera {
    /// Ends the match.
    pub fn finish(self, record: &MatchRecord) {
        let ending = record.void_sentence().map_or(RecordingState::Whole, RecordingState::Void);
        self.end(record.outcome.as_ref(), ending);
    }

    fn end(&self, outcome: Option<&Outcome>, ending: RecordingState) {
        let mut now = self.0.now();
        if now.end.is_none() {
            let void = if let RecordingState::Void(why) = &ending { Some(why.clone()) } else { None };
            // A match that the program left, or that could not be followed, is not kept.
            now.replay = match ending {
                RecordingState::Whole | RecordingState::Void(_) => {
                    written(&self.0.0, &mut now, outcome, void)
                }
                RecordingState::Cut(_) | RecordingState::Altered(_) => None,
            };
            now.end = Some(now.maker.end(outcome, ending));
        }
        drop(now);
        self.0.0.steps.send_modify(|steps| *steps += 1);
    }
}

impl Observer for SeatCamera {
    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        let mut now = self.0.now();
        match now.maker.step(step.answers, |_| Notes::default(), Vec::new()) {
            Ok(line) => {
                now.steps.push((step.answers.to_vec(), session.hash()));
                now.lines.push(line);
                now.answered = false;
                drop(now);
                self.0.0.steps.send_modify(|steps| *steps += 1);
            }
            Err(why) => {
                drop(now);
                self.end(None, RecordingState::Altered(why));
            }
        }
        Ok(())
    }
}

/// A match that is dropped half-way is over.
impl Drop for SeatCamera {
    fn drop(&mut self) {
        self.end(None, RecordingState::Cut("the match stopped before its end".to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use agon_game::{Answer, Heard, Setup};
    use agon_replay::SeatInfo;
    use agon_spec::Clock;

    use super::*;

    /// What the person's page passes on is what the referee's question asks for, turn after turn, in every game: a protocol
    /// may name the question in its answers.
    #[test]
    fn what_a_person_sends_answers_the_referees_question() {
        for game in agon_games::all() {
            let name = game.info().name;
            let mut referee = game.open(&Setup { seats: 2, seed: 3, ..Setup::default() }).unwrap();
            let seats = ["one", "two"].map(|label| SeatInfo {
                bot: label.to_owned(),
                label: label.to_owned(),
                hash: None,
            });
            let header = Header::new(referee.as_ref(), seats.to_vec(), Clock::ORIGINAL);
            let person = Seat::new(0);
            let (answers, said) = mpsc::channel();
            let (taken, camera) = TakenSeat::new(&header, person, answers).unwrap();
            let mut asked = 0;
            for _ in 0..12 {
                let mut given = Vec::new();
                for seat in referee.deciding().iter() {
                    let mut question = Vec::new();
                    referee.ask(seat, &mut question);
                    let order = if seat == person {
                        taken.tell(Ask::Answer { id: 0, seat: 1, chosen: json!([]) }).unwrap();
                        asked += 1;
                        let message: Vec<u8> = said.recv().unwrap();
                        let heard = message.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                        let mut order = None;
                        for line in heard {
                            match referee.hear(seat, line) {
                                Heard::Answer(answer) => order = Some(answer),
                                Heard::More => {}
                                Heard::Failed { why, .. } | Heard::Malformed(why) | Heard::Close(why) => {
                                    panic!("{name}, turn {asked}: {why}")
                                }
                                Heard::Ignore(why) => panic!("{name}, turn {asked}: ignored: {why:?}"),
                            }
                        }
                        order.unwrap_or_else(|| panic!("{name}, turn {asked}: no answer"))
                    } else {
                        let chance = &mut agon_game::Seeded::stream(1, "other");
                        referee.stray(seat, chance)
                    };
                    given.push((seat, Answer::Given { order, think_ms: 0 }));
                }
                referee.play(&given).unwrap();
                let mut now = taken.now();
                now.maker.step(&given, |_| Notes::default(), Vec::new()).unwrap();
                now.answered = false;
            }
            assert!(asked > 1, "{name}");
            drop(camera);
        }
    }
}
