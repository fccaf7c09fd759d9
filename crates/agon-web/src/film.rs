//! A film: a match as the viewer needs it, one JSON object a line, the first for the match itself,
//! then one a step, the last for the end.
//!
//! Scenes are sent as the [`delta`](crate::delta) to the scene before. A step whose events hold
//! frames (`{"frame": ...}`) has parts: each frame as the delta to the frame before, over the whole
//! film. Everything is computed again from the answers, so what is shown is what the rules did;
//! only times, faults and the bots' own notes come from the recording.

use agon_game::{AnyGame, Outcome, PackedAnswer, Seat, Session};
use agon_replay::asked::Asked;
use agon_replay::data::note;
use agon_replay::{Header, Replay, ReplayError, Timing};
use agon_spec::Clock;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::delta::{delta, whole};

/// The version of this format. The web app lies in the same program, but exported pages do not.
pub const VERSION: u32 = 1;

/// Whether a film shows what belongs to one seat alone: stderr, raw answers, how its bot is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    /// It does: the viewer of whoever owns the replay.
    Private,
    /// It does not: fit to be given away.
    Redacted,
}

/// Why there is no film. Each message says what to do.
#[derive(Debug, Error)]
pub enum Unshowable {
    /// The bytes are no replay.
    #[error("{0}")]
    Replay(#[from] ReplayError),
    /// Of a game this program does not have.
    #[error("this replay is of `{0}`, a game this program does not have; update agon")]
    UnknownGame(String),
    /// Recorded under other rules.
    #[error(
        "this replay was recorded under version {recorded} of the rules of {game}; this program has version {ours}, \
         and computing it again could show another match. Open it with the agon that wrote it ({program})"
    )]
    OtherRules {
        /// The game's title.
        game: &'static str,
        /// The version it was recorded under.
        recorded: u32,
        /// The version this program has.
        ours: u32,
        /// Who wrote it.
        program: String,
    },
    /// Its set-up cannot be played.
    #[error("the match of this replay cannot be set up: {0}")]
    Setup(#[from] agon_game::SetupError),
}

/// What is known of one answer beside the answer.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// The answer as sent, where it differs from the canonical one.
    pub raw: Option<String>,
    /// What the bot wrote on standard error.
    pub stderr: String,
    /// How long it took.
    pub timing: Option<Timing>,
}

/// Makes the lines of a film.
pub struct Film {
    session: Box<dyn Session>,
    scene: Value,
    part: Value,
    privacy: Privacy,
    clock: Clock,
}

impl Film {
    /// Begins a film; gives its first line too. `steps` is how many will follow, and `registered` the names by which the
    /// bots registered, where that is known.
    ///
    /// # Errors
    /// When the match cannot be computed again.
    pub fn begin(
        header: &Header,
        steps: Option<usize>,
        registered: &Value,
        privacy: Privacy,
    ) -> Result<(Self, String), Unshowable> {
        let game = game_of(header)?;
        let mut session = game.open(&header.recipe.setup())?;
        session.keep_events();
        let scene = session.scene();
        let info = session.info();
        let recipe = &header.recipe;
        let seats: Vec<Value> = header
            .seats
            .iter()
            .enumerate()
            .map(|(index, seat)| {
                let mut told = match privacy {
                    Privacy::Private => json!({ "label": seat.label, "bot": seat.bot }),
                    Privacy::Redacted => json!({ "label": seat.label }),
                };
                // Every team is told it during the match.
                if let Some(name) = registered[index].as_str() {
                    told["registered"] = name.into();
                }
                told
            })
            .collect();
        let line = json!({
            "film": VERSION,
            "program": header.program,
            "game": info.name,
            "title": info.title,
            "stepWord": info.step,
            "alternating": info.alternating,
            "rulesName": recipe.rules_name,
            "rulesVersion": header.rules_version,
            "rules": rules(&recipe.rules),
            "map": recipe.map_name,
            "seed": recipe.seed.to_string(),
            "clock": header.clock,
            "started": header.started,
            "seats": seats,
            "steps": steps,
            "private": privacy == Privacy::Private,
            "again": (privacy == Privacy::Private).then(|| header.spec(info).command()).flatten(),
            "deciding": numbers(session.as_ref()),
            "moment": session.moment(),
            "scene": whole(&scene),
        });
        let clock = header.clock.clock();
        Ok((Self { session, scene, part: Value::Null, privacy, clock }, line.to_string()))
    }

    /// The line of the next step. `notes` says what is known of the answer of a seat.
    ///
    /// # Errors
    /// When the answers are not what this step takes: the replay is damaged or altered.
    pub fn step(
        &mut self,
        answers: &[(Seat, PackedAnswer)],
        mut notes: impl FnMut(Seat) -> Notes,
        faults: &[Value],
    ) -> Result<String, String> {
        let moment = self.session.moment();
        let told: Vec<Value> =
            answers.iter().map(|(seat, answer)| self.answer(*seat, answer, notes(*seat))).collect();
        self.session.play(answers).map_err(|why| format!("{moment}: {why}"))?;
        let mut line = Map::new();
        line.insert("moment".to_owned(), moment.into());
        line.insert("answers".to_owned(), told.into());
        let rejected: Vec<Value> = (self.session.rejections().iter())
            .map(|one| json!({ "seat": one.seat.number(), "order": one.index, "rule": one.rule, "why": one.why }))
            .collect();
        if !rejected.is_empty() {
            line.insert("rejected".to_owned(), rejected.into());
        }
        if !faults.is_empty() {
            let mut faults = faults.to_vec();
            if self.privacy == Privacy::Redacted {
                // What a bot wrote on standard error belongs to it alone.
                faults
                    .iter_mut()
                    .filter_map(Value::as_object_mut)
                    .for_each(|fault| drop(fault.remove("stderr")));
            }
            line.insert("faults".to_owned(), faults.into());
        }
        let (mut events, mut parts) = (Vec::new(), Vec::new());
        for mut event in self.session.events() {
            match event.as_object_mut().filter(|object| object.len() == 1).and_then(|it| it.remove("frame")) {
                Some(frame) => {
                    parts.push(delta(&self.part, &frame).unwrap_or_else(|| json!({})));
                    self.part = frame;
                }
                None => events.push(event),
            }
        }
        line.insert("events".to_owned(), events.into());
        if !parts.is_empty() {
            line.insert("parts".to_owned(), parts.into());
        }
        let scene = self.session.scene();
        if let Some(change) = delta(&self.scene, &scene) {
            line.insert("scene".to_owned(), change);
        }
        self.scene = scene;
        line.insert("deciding".to_owned(), numbers(self.session.as_ref()));
        Ok(Value::Object(line).to_string())
    }

    /// The low half byte of the state's hash: what a replay keeps of every step.
    pub fn check(&mut self) -> u8 {
        self.session.hash() as u8 & 15
    }

    /// The last line. `state` says what is the matter with the recording, if anything is.
    pub fn end(&self, outcome: Option<&Outcome>, state: &Ending) -> String {
        let (word, why) = match state {
            Ending::Whole => ("whole", None),
            Ending::Cut => ("cut", None),
            Ending::Void(why) => ("void", Some(why)),
            Ending::Altered(why) => ("altered", Some(why)),
        };
        json!({ "end": word, "why": why, "outcome": outcome, "moment": self.session.moment() }).to_string()
    }

    /// How the match ended; none while it goes on.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.session.outcome()
    }

    fn answer(&self, seat: Seat, answer: &PackedAnswer, notes: Notes) -> Value {
        let mut text = Vec::new();
        let known = answer.order().is_some_and(|order| self.session.say(seat, order, &mut text));
        let missing = match answer {
            agon_game::Answer::Given { .. } => None,
            agon_game::Answer::Malformed { why, .. } => Some(json!({ "malformed": why })),
            agon_game::Answer::Missing(absence) => Some(match absence {
                agon_game::Absence::TimedOut => "timed out".into(),
                agon_game::Absence::Gone => "gone".into(),
                agon_game::Absence::NeverStarted => "never started".into(),
            }),
        };
        let mut told = Map::new();
        let mut tell = |key: &str, value: Value| {
            if !value.is_null() {
                told.insert(key.to_owned(), value);
            }
        };
        tell("seat", seat.number().into());
        tell("text", known.then(|| String::from_utf8_lossy(&text).into_owned()).into());
        tell("missing", missing.into());
        let timing = notes.timing;
        tell("wall", timing.map(|timing| timing.wall_us).into());
        tell("cpu", timing.and_then(|timing| timing.cpu_us).into());
        let limit = self.clock.limit(self.session.limit_ms(seat));
        tell("limit", limit.map(|limit| limit.as_millis() as u64).into());
        if self.privacy == Privacy::Private {
            tell("raw", notes.raw.into());
            tell("stderr", Some(notes.stderr).filter(|text| !text.is_empty()).into());
        }
        Value::Object(told)
    }
}

/// In what state a recording is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Whole, and what its answers lead to.
    Whole,
    /// Its end is missing.
    Cut,
    /// The match does not count, for this reason.
    Void(String),
    /// Its answers do not lead to what it says, for this reason.
    Altered(String),
}

/// A replay as a film, line by line.
pub struct Showing {
    film: Film,
    replay: Replay,
    head: Option<String>,
    next: usize,
    done: bool,
}

impl Showing {
    /// Begins to show a replay.
    ///
    /// # Errors
    /// When the match cannot be computed again.
    pub fn new(replay: Replay, privacy: Privacy) -> Result<Self, Unshowable> {
        let registered = replay.end.as_ref().map_or(&Value::Null, |end| &end.facts["registered"]);
        let (film, head) = Film::begin(&replay.header, Some(replay.steps.len()), registered, privacy)?;
        Ok(Self { film, replay, head: Some(head), next: 0, done: false })
    }

    fn faults(&self, step: usize) -> Vec<Value> {
        let facts = self.replay.end.as_ref().map(|end| &end.facts["faults"]);
        let all = facts.and_then(Value::as_array).into_iter().flatten();
        all.filter(|fault| fault["step"] == step && fault["kind"] != "rejected").cloned().collect()
    }

    fn ending(&mut self) -> Ending {
        let Some(end) = &self.replay.end else { return Ending::Cut };
        if let Some(why) = end.facts["void"].as_str() {
            return Ending::Void(why.to_owned());
        }
        let state = self.film.session.hash();
        match self.replay.wrong_end(state, self.film.session.outcome()) {
            None => Ending::Whole,
            Some(wrong) => Ending::Altered(wrong.to_owned()),
        }
    }

    fn line(&mut self) -> Result<String, String> {
        let (number, faults) = (self.next, self.faults(self.next));
        let step = &self.replay.steps[number];
        let replay = &self.replay;
        let notes = |seat: Seat| Notes {
            raw: replay.notes_of(seat, number as u32, note::RAW).next().map(str::to_owned),
            stderr: replay.notes_of(seat, number as u32, note::STDERR).collect(),
            timing: replay.timing.get(&(number as u32, seat)).copied(),
        };
        let moment = self.film.session.moment();
        let line = self.film.step(&step.answers, notes, &faults)?;
        match self.film.check() == step.check {
            true => Ok(line),
            false => Err(format!("{moment}: the answers do not lead to the recorded state")),
        }
    }
}

impl Iterator for Showing {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if let Some(head) = self.head.take() {
            return Some(head);
        }
        if self.done {
            return None;
        }
        let ending = if self.next < self.replay.steps.len() {
            match self.line() {
                Ok(line) => {
                    self.next += 1;
                    return Some(line);
                }
                Err(why) => Ending::Altered(why),
            }
        } else {
            self.ending()
        };
        self.done = true;
        let outcome = self.film.outcome().cloned();
        let recorded = self.replay.end.as_ref().and_then(|end| end.outcome.clone());
        Some(self.film.end(outcome.or(recorded).as_ref(), &ending))
    }
}

/// The message that asked `seat` at `step` of a replay; none when it was not asked there.
///
/// # Errors
/// When the match cannot be computed again that far.
pub fn message(replay: &Replay, step: usize, seat: Seat) -> Result<Option<Vec<u8>>, String> {
    let game = game_of(&replay.header).map_err(|error| error.to_string())?;
    let session = game.open(&replay.header.recipe.setup()).map_err(|error| error.to_string())?;
    let mut match_again = Asked::new(session, replay);
    loop {
        let here = match_again.steps() == step;
        let mut text = None;
        match_again.ask(|other, message| {
            if here && other == seat {
                text = Some(message.to_vec());
            }
        });
        if here || !match_again.play()? {
            return Ok(text);
        }
    }
}

/// The game of a header, when this program can compute its matches again.
fn game_of(header: &Header) -> Result<&'static dyn AnyGame, Unshowable> {
    let game = agon_games::find(&header.game).ok_or_else(|| Unshowable::UnknownGame(header.game.clone()))?;
    let (recorded, ours) = (header.rules_version, game.info().rules_version);
    if recorded != ours {
        let program = header.program.clone();
        return Err(Unshowable::OtherRules { game: game.info().title, recorded, ours, program });
    }
    Ok(game)
}

fn numbers(session: &dyn Session) -> Value {
    session.deciding().iter().map(Seat::number).collect::<Vec<u8>>().into()
}

/// Rules as JSON, whether a game writes them as TOML or as JSON.
fn rules(text: &str) -> Value {
    serde_json::from_str(text).or_else(|_| toml::from_str(text)).unwrap_or(Value::Null)
}
