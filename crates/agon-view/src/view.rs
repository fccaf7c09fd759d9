//! A replay being viewed: any step of it, in any order.

use std::collections::{BTreeMap, HashMap};

use agon_game::{Position, Seat, Session};
use agon_replay::Replay;
use agon_replay::asked::AskedAgain;
use agon_replay::data::note;
use serde::Deserialize as _;
use serde_json::Value;

use crate::line::{FaultLine, Head, Line};
use crate::maker::{Maker, Notes, Privacy, RecordingState, Unshowable, game_named, game_of};

/// Steps between kept positions, at least.
const STRIDE: usize = 16;
/// Upper limit on the positions kept: in longer matches they lie farther apart.
const MOST_KEPT: usize = 1_024;

/// A replay being viewed.
pub struct View {
    maker: Maker,
    replay: Replay,
    head: Head,
    stride: usize,
    /// The same match, for going to a step: it reports nothing on the way, which makes it quick.
    scout: Box<dyn Session>,
    /// The position before the first step and after every `stride` steps.
    kept: Vec<Position>,
    faults: BTreeMap<u32, Vec<FaultLine>>,
    /// Which notes of a seat belong to a step.
    notes: HashMap<(u32, Seat), Vec<usize>>,
}

impl View {
    /// Opens a replay by playing it through once.
    ///
    /// # Errors
    /// When the match cannot be computed again.
    pub fn open(replay: Replay, privacy: Privacy) -> Result<Self, Unshowable> {
        let registered = replay.end.as_ref().map_or(&Value::Null, |end| &end.facts["registered"]);
        let (mut maker, mut head) = Maker::begin(&replay.header, registered, privacy)?;
        let mut scout = game_named(&replay.header)?.open(&replay.header.recipe.setup())?;
        let stride = STRIDE.max(replay.steps.len() / MOST_KEPT);
        let mut kept = vec![scout.position()];
        let mut wrong = None;
        for number in 0..replay.steps.len() {
            if let Err(why) = replay.play_step(number, scout.as_mut()) {
                wrong = Some(why);
                break;
            }
            head.frames.push(scout.frame_count());
            if (number + 1) % stride == 0 {
                kept.push(scout.position());
            }
        }
        head.steps = Some(head.frames.len() as u32);
        if head.frames.iter().all(|&count| count == 0) {
            head.frames.clear();
        }
        let other_rules = head.other_rules.is_some();
        let ending = match wrong {
            // Other rules sooner or later lead elsewhere: that is no forgery.
            Some(why) if other_rules => RecordingState::Cut(format!(
                "from here on the rules of this program make another match of it ({why}); {} recorded steps are not shown",
                replay.steps.len() - head.steps.unwrap_or(0) as usize
            )),
            Some(why) => RecordingState::Altered(why),
            None => ending(scout.as_mut(), &replay),
        };
        let recorded = replay.end.as_ref().and_then(|end| end.outcome.as_ref());
        maker.session.go_to(&scout.position());
        head.end = Some(maker.end(scout.outcome().or(recorded), ending));
        let faults = faults(&replay);
        let mut notes: HashMap<(u32, Seat), Vec<usize>> = HashMap::new();
        for (seat, own) in &replay.notes {
            for (place, one) in own.iter().enumerate() {
                notes.entry((one.step, *seat)).or_default().push(place);
            }
        }
        Ok(Self { maker, replay, head, stride, scout, kept, faults, notes })
    }

    /// What the match is.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The replay being viewed.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// How many steps can be shown.
    pub fn steps(&self) -> u32 {
        self.head.steps.unwrap_or(0)
    }

    /// The line of a step, from 1; none if there is no such step. Consecutive steps are cheapest.
    pub fn line(&mut self, step: u32) -> Option<Line> {
        if step == 0 || step > self.steps() {
            return None;
        }
        let index = step as usize - 1;
        if self.maker.session.steps() != step - 1 {
            let nearest = (index / self.stride).min(self.kept.len() - 1);
            if !self.scout.go_to(&self.kept[nearest]) {
                return None;
            }
            for before in nearest * self.stride..index {
                self.scout.play(&self.replay.steps[before].answers).ok()?;
            }
            if !self.maker.session.go_to(&self.scout.position()) {
                return None;
            }
        }
        let (replay, notes) = (&self.replay, &self.notes);
        let known = |seat: Seat| {
            let own = replay.notes.get(&seat).map_or(&[][..], Vec::as_slice);
            let places = notes.get(&(index as u32, seat)).map_or(&[][..], Vec::as_slice);
            let of = |kind| {
                let all = places.iter().map(|&place| &own[place]);
                all.filter(move |note| note.kind == kind).map(|note| note.text.as_str())
            };
            Notes {
                raw: of(note::RAW).next().map(str::to_owned),
                stderr: of(note::STDERR).collect(),
                timing: replay.timing.get(&(index as u32, seat)).copied(),
            }
        };
        let faults = self.faults.get(&(index as u32)).cloned().unwrap_or_default();
        self.maker.step(&replay.steps[index].answers, known, faults).ok()
    }
}

fn ending(session: &mut dyn Session, replay: &Replay) -> RecordingState {
    let Some(end) = &replay.end else {
        let moment = session.moment();
        return RecordingState::Cut(format!(
            "the file breaks off at {moment}, after {} steps",
            replay.steps.len()
        ));
    };
    if let Some(why) = end.facts["void"].as_str() {
        return RecordingState::Void(why.to_owned());
    }
    let state = session.hash();
    match replay.wrong_end(state, session.outcome()) {
        None => RecordingState::Whole,
        Some(wrong) => RecordingState::Altered(wrong.to_owned()),
    }
}

/// The faults that a replay lists, by step. Entries that are not faults are left out: anybody may have written
/// them.
fn faults(replay: &Replay) -> BTreeMap<u32, Vec<FaultLine>> {
    let mut faults: BTreeMap<u32, Vec<FaultLine>> = BTreeMap::new();
    let facts = replay.end.as_ref().and_then(|end| end.facts["faults"].as_array());
    for fault in facts.into_iter().flatten().filter(|fault| fault["kind"] != "rejected") {
        let step = fault["step"].as_u64().and_then(|step| u32::try_from(step).ok());
        if let (Some(step), Ok(line)) = (step, FaultLine::deserialize(fault)) {
            faults.entry(step).or_default().push(line);
        }
    }
    faults
}

/// The message that asked `seat` at `step` of a replay; none if it was not asked there.
///
/// # Errors
/// When the match cannot be computed again that far.
pub fn message(replay: &Replay, step: usize, seat: Seat) -> Result<Option<Vec<u8>>, String> {
    let game = game_of(&replay.header).map_err(|error| error.to_string())?;
    let session = game.open(&replay.header.recipe.setup()).map_err(|error| error.to_string())?;
    let mut match_again = AskedAgain::new(session, replay);
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

/// Step `step` of a replay, from 1, as a section of a spec file ([`agon_replay::section`]).
///
/// # Errors
/// A sentence for people: no such step, no rule, or a match that cannot be computed again.
pub fn section(replay: &Replay, step: u32, rule: Option<&str>) -> Result<String, String> {
    let game = game_of(&replay.header).map_err(|error| error.to_string())?;
    let mut session = game.open(&replay.header.recipe.setup()).map_err(|error| error.to_string())?;
    agon_replay::section::section(replay, session.as_mut(), step, rule)
}
