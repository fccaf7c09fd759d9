//! Makes the lines of a match as it is played or replayed.

use agon_game::{Absence, Answer, AnyGame, Outcome, PackedAnswer, Seat, Session};
use agon_replay::{Header, ReplayError, SeatInfo, Timing};
use agon_spec::Clock;
use serde_json::Value;
use thiserror::Error;

use crate::delta::delta;
use crate::line::{
    AnswerLine, End, EndWord, FaultLine, Head, Line, Missing, RejectionLine, SeatLine, VERSION,
};

/// Whether a view shows what belongs to one seat alone: stderr, raw answers, how its bot is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    /// It does: the view of the replay's owner.
    Private,
    /// It does not: fit to be passed on.
    Redacted,
}

/// Why a match cannot be shown. Each message says what to do.
#[derive(Debug, Error)]
pub enum Unshowable {
    /// The bytes are not a replay.
    #[error("{0}")]
    Replay(#[from] ReplayError),
    /// The replay is of a game this program does not have.
    #[error("this replay is of `{0}`, a game this program does not have; update agon")]
    UnknownGame(String),
    /// Recorded under other rules: good enough to be looked at, but not for what must be exact.
    #[error("{0} Open it with that agon")]
    OtherRules(OtherRules),
    /// Its setup cannot be played.
    #[error("the match of this replay cannot be set up: {0}")]
    Setup(#[from] agon_game::SetupError),
}

/// The versions of a recording whose rules differ from this program's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "this match was recorded under version {recorded} of the rules of {game} by {program}; this program has version {ours}, which \
     may make another match of it."
)]
pub struct OtherRules {
    /// The game's title.
    pub game: &'static str,
    /// The version it was recorded under.
    pub recorded: u32,
    /// The version this program has.
    pub ours: u32,
    /// Who wrote it.
    pub program: String,
}

impl OtherRules {
    /// The versions of a header; none if they are the same.
    pub fn of(header: &Header, game: &dyn AnyGame) -> Option<Self> {
        let (info, recorded) = (game.info(), header.rules_version);
        let program = header.program.clone();
        let own = Self { game: info.title, recorded, ours: info.rules_version, program };
        (own.recorded != own.ours).then_some(own)
    }
}

/// What is known about an answer besides the answer itself.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// The answer as sent, if it differs from the canonical one.
    pub raw: Option<String>,
    /// What the bot wrote on standard error.
    pub stderr: String,
    /// How long it took.
    pub timing: Option<Timing>,
}

/// The state of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordingState {
    /// Complete, and matching what its answers lead to.
    Whole,
    /// Its end is missing, as this sentence says.
    Cut(String),
    /// The match does not count, for this reason.
    Void(String),
    /// Its answers do not lead to what it says, for this reason.
    Altered(String),
}

/// Makes the lines of a match.
pub struct Maker {
    pub(crate) session: Box<dyn Session>,
    /// The scene before the first step.
    start: Value,
    privacy: Privacy,
    clock: Clock,
    /// The viewing seat, if the rules hide something; none for everything.
    eyes: Option<Seat>,
}

impl Maker {
    /// Begins a match and returns its head too, as for a match being played. `registered` are the names under which
    /// the bots registered, if known.
    ///
    /// # Errors
    /// When the match cannot be computed again.
    pub fn begin(header: &Header, registered: &Value, privacy: Privacy) -> Result<(Self, Head), Unshowable> {
        let game = game_named(header)?;
        let mut session = game.open(&header.recipe.setup())?;
        session.keep_events();
        let start = session.scene();
        let info = session.info();
        let recipe = &header.recipe;
        let private = privacy == Privacy::Private;
        let is_named = private && header.seats.iter().all(|seat| !seat.bot.is_empty());
        let seats = header.seats.iter().enumerate().map(|(index, seat)| SeatLine {
            label: SeatInfo::called(&seat.label, registered[index].as_str()).to_owned(),
            bot: private.then(|| seat.bot.clone()).filter(|bot| !bot.is_empty()),
            // Every team is told this during the match.
            registered: registered[index].as_str().map(str::to_owned),
        });
        let head = Head {
            view: VERSION,
            program: header.program.clone(),
            game: info.name.to_owned(),
            title: info.title.to_owned(),
            step_word: info.step.to_owned(),
            alternating: info.alternating,
            rules_name: recipe.rules_name.clone(),
            rules_version: header.rules_version,
            rules: rules(&recipe.rules),
            map: recipe.map_name.clone(),
            seed: recipe.seed.to_string(),
            clock: header.clock.to_string(),
            started: header.started,
            seats: seats.collect(),
            steps: None,
            frames: Vec::new(),
            private,
            again: is_named.then(|| header.spec(info).command()).flatten(),
            deciding: deciding(session.as_ref()),
            moment: session.moment(),
            scene: start.clone(),
            advantage: advantage(session.as_ref()),
            other_rules: OtherRules::of(header, game).map(|other| other.to_string()),
            end: None,
        };
        Ok((Self { session, start, privacy, clock: header.clock.clock(), eyes: None }, head))
    }

    /// From here on shows only what `seat` may know, in games whose rules hide something. `head` is the one it began
    /// with.
    pub fn look(&mut self, seat: Seat, head: &mut Head) {
        if self.session.by_hand().hides() {
            self.eyes = Some(seat);
            self.start = self.scene();
            head.scene = self.start.clone();
            head.advantage = None;
        }
    }

    /// The match as it stands.
    pub fn session(&self) -> &dyn Session {
        self.session.as_ref()
    }

    /// The message of the game's protocol with which a bot in `seat`, asked now, would give this packed order; none if it
    /// cannot express it. A protocol may name the question in its answers, so the seat is asked first.
    pub fn say(&mut self, seat: Seat, order: &[u8]) -> Option<Vec<u8>> {
        self.session.ask(seat, &mut Vec::new());
        let mut message = Vec::new();
        self.session.say(seat, order, &mut message).then_some(message)
    }

    /// The viewing seat, if the rules hide something.
    pub fn eyes(&self) -> Option<Seat> {
        self.eyes
    }

    fn scene(&self) -> Value {
        match self.eyes {
            Some(seat) => self.session.by_hand().scene_of(seat),
            None => self.session.scene(),
        }
    }

    /// Plays the next step and returns its line. `notes` returns what is known about the answer of a seat.
    ///
    /// # Errors
    /// When the answers do not fit this step: the replay is damaged or altered.
    pub fn step(
        &mut self,
        answers: &[(Seat, PackedAnswer)],
        mut notes: impl FnMut(Seat) -> Notes,
        faults: Vec<FaultLine>,
    ) -> Result<Line, String> {
        let moment = self.session.moment();
        let eyes = self.eyes;
        let known = |seat: Seat| eyes.is_none_or(|own| own == seat);
        let told = answers
            .iter()
            .filter(|(seat, _)| known(*seat))
            .map(|(seat, answer)| self.answer(*seat, answer, notes(*seat)))
            .collect();
        self.session.play(answers).map_err(|why| format!("{moment}: {why}"))?;
        let rejected = self.session.rejections().iter().filter(|one| known(one.seat)).map(|one| {
            RejectionLine { seat: one.seat.number(), order: one.index, rule: one.rule, why: one.why.clone() }
        });
        Ok(Line {
            step: self.session.steps(),
            moment,
            answers: told,
            rejected: rejected.collect(),
            faults,
            events: match eyes {
                Some(seat) => self.session.by_hand().events_of(seat),
                None => self.session.events_json(),
            },
            frames: self.session.frames_json().filter(|_| eyes.is_none()),
            scene: delta(&self.start, &self.scene()),
            deciding: deciding(self.session.as_ref()),
            advantage: if eyes.is_none() { advantage(self.session.as_ref()) } else { None },
            registered: None,
        })
    }

    /// How it ended. `outcome` is the one that counts.
    pub fn end(&self, outcome: Option<&Outcome>, ending: RecordingState) -> End {
        let (end, why) = match ending {
            RecordingState::Whole => (EndWord::Whole, None),
            RecordingState::Cut(why) => (EndWord::Cut, Some(why)),
            RecordingState::Void(why) => (EndWord::Void, Some(why)),
            RecordingState::Altered(why) => (EndWord::Altered, Some(why)),
        };
        End { end, why, outcome: outcome.cloned(), moment: self.session.moment() }
    }

    fn answer(&self, seat: Seat, answer: &PackedAnswer, notes: Notes) -> AnswerLine {
        let mut text = Vec::new();
        let known = answer.order().is_some_and(|order| self.session.say(seat, order, &mut text));
        let missing = match answer {
            Answer::Given { .. } => None,
            Answer::Malformed { why, .. } => Some(Missing::Malformed(why.clone())),
            Answer::Missing(Absence::TimedOut) => Some(Missing::TimedOut),
            Answer::Missing(Absence::Gone) => Some(Missing::Gone),
            Answer::Missing(Absence::NeverStarted) => Some(Missing::NeverStarted),
        };
        let private = self.privacy == Privacy::Private;
        let limit = self.clock.limit(self.session.limit_ms(seat));
        AnswerLine {
            seat: seat.number(),
            text: known.then(|| String::from_utf8_lossy(&text).into_owned()),
            missing,
            wall: notes.timing.map(|timing| timing.wall_us),
            cpu: notes.timing.and_then(|timing| timing.cpu_us),
            limit: limit.map(|limit| limit.as_millis() as u64),
            raw: notes.raw.filter(|_| private),
            stderr: Some(notes.stderr).filter(|text| private && !text.is_empty()),
        }
    }
}

/// The game of a header, if this program has its version of the rules.
pub fn game_of(header: &Header) -> Result<&'static dyn AnyGame, Unshowable> {
    let game = game_named(header)?;
    OtherRules::of(header, game).map_or(Ok(game), |other| Err(Unshowable::OtherRules(other)))
}

/// The game of a header, whatever its version.
pub fn game_named(header: &Header) -> Result<&'static dyn AnyGame, Unshowable> {
    agon_games::find(&header.game).ok_or_else(|| Unshowable::UnknownGame(header.game.clone()))
}

/// Rounded to a thousandth, which is finer than anybody can see.
fn advantage(session: &dyn Session) -> Option<Vec<f64>> {
    let mut chances = agon_game::advantage(session)?;
    chances.iter_mut().for_each(|chance| *chance = (*chance * 1_000.0).round() / 1_000.0);
    Some(chances)
}

fn deciding(session: &dyn Session) -> Vec<u8> {
    session.deciding().iter().map(Seat::number).collect()
}

/// Rules as JSON, whether a game writes them as TOML or as JSON.
fn rules(text: &str) -> Value {
    let toml = || serde_json::to_value(text.parse::<toml::Table>().ok()?).ok();
    serde_json::from_str(text).ok().or_else(toml).unwrap_or(Value::Null)
}
