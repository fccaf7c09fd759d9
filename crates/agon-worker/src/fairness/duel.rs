//! The game of the fairness suite: nothing is decided in it, and each answer says what its player used.

use agon_game::prepared::SharedRules;
use agon_game::simple::{OneOrder, Refusal};
use agon_game::{
    Answer, Builtin, Chance, Cpus, Dialect, Game, GameInfo, Heard, Outcome, Preset, Recipe, Seat, Seats,
    Setup, SetupError, Sink,
};
use serde::{Deserialize, Serialize};

/// A match in which the seats take turns, or in which they think at the same time.
pub struct Duel<const TURNS: bool> {
    rules: DuelRules,
    recipe: Recipe,
}

/// The numbers of a match.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DuelRules {
    /// How many answers each seat gives.
    answers: u32,
    /// Milliseconds for an answer.
    limit: u32,
    /// Bytes of a question.
    question: usize,
}

const RULES: &str = "answers = 5\nlimit = 1000\nquestion = 8\n";

const fn info(alternating: bool) -> GameInfo {
    GameInfo {
        name: "duel",
        title: "Duel",
        summary: "two players who count what they use",
        alternating,
        longest_message: 100,
        presets: &[Preset { name: "duel", about: "", text: RULES, cpus: Cpus::One }],
        ..GameInfo::PLAIN
    }
}

/// What a player says it used, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuelUse {
    /// For this answer.
    pub own: u64,
    /// Between its last answer and this question.
    pub since: u64,
}

impl DuelUse {
    /// From the canonical bytes of an order.
    pub fn of(order: &[u8]) -> Option<Self> {
        let (own, since) = order.split_at_checked(8)?;
        let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
        Some(Self { own: number(own)?, since: number(since)? })
    }
}

impl<const TURNS: bool> Game for Duel<TURNS> {
    const INFO: GameInfo = info(TURNS);

    /// The number of steps played.
    type State = u32;
    type Work = ();
    type View<'a> = &'a u32;
    type Order = DuelUse;
    type Event = ();
    /// Nothing is refused.
    type Reason = Refusal;
    type Dialect = DuelLines;
    type Hand = OneOrder;
    type Prepared = SharedRules<DuelRules>;

    fn prepare(setup: &Setup) -> Result<SharedRules<DuelRules>, SetupError> {
        SharedRules::load(&Self::INFO, setup, |_| Ok(()))
    }

    fn begin(shared: &SharedRules<DuelRules>, seed: i64) -> Result<Self, SetupError> {
        Ok(Self { rules: *shared.rules, recipe: shared.recipe("", "", seed) })
    }

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    fn start(&self) -> u32 {
        0
    }

    fn deciding(&self, played: &u32) -> Seats {
        match (*played < self.steps(), TURNS) {
            (false, _) => Seats::NONE,
            (true, true) => Seats::one(Seat::new((played % 2) as u8)),
            (true, false) => Seat::first(2).collect(),
        }
    }

    fn view<'a>(&'a self, played: &'a u32, _: Seat) -> &'a u32 {
        played
    }

    fn limit_ms(&self, _: &u32, _: Seat) -> u32 {
        self.rules.limit
    }

    fn play(
        &self,
        played: &mut u32,
        (): &mut (),
        _: &[(Seat, Answer<DuelUse>)],
        _: &mut impl Chance,
        _: &mut impl Sink<Self>,
    ) {
        *played += 1;
    }

    fn outcome(&self, played: &u32) -> Option<Outcome> {
        (*played >= self.steps()).then(|| Outcome::by_score(vec![0.0; 2], "turn limit"))
    }

    fn moment(&self, played: &u32) -> String {
        format!("turn {played}")
    }

    fn pack(&self, used: &DuelUse, out: &mut Vec<u8>) {
        out.extend(used.own.to_le_bytes());
        out.extend(used.since.to_le_bytes());
    }

    fn unpack(&self, bytes: &[u8]) -> Option<DuelUse> {
        DuelUse::of(bytes)
    }

    fn save(&self, played: &u32, out: &mut Vec<u8>) {
        out.extend(played.to_le_bytes());
    }

    fn load(&self, bytes: &[u8]) -> Option<u32> {
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn random_order(&self, _: &u32, _: Seat, _: &mut impl Chance) -> DuelUse {
        DuelUse::default()
    }

    fn builtin(&self, name: &str, _: &[(String, String)], _: u64) -> Result<Box<dyn Builtin<Self>>, String> {
        Err(format!("no built-in bot `{name}`"))
    }

    fn scene(&self, played: &u32) -> impl Serialize {
        *played
    }
}

impl<const TURNS: bool> Duel<TURNS> {
    fn steps(&self) -> u32 {
        self.rules.answers * if TURNS { 2 } else { 1 }
    }
}

/// A question is as long as the rules want; an answer is two numbers.
pub struct DuelLines;

impl<const TURNS: bool> Dialect<Duel<TURNS>> for DuelLines {
    fn new(_: &Duel<TURNS>) -> Self {
        Self
    }

    fn ask(&mut self, duel: &Duel<TURNS>, _: Seat, _: &&u32, out: &mut Vec<u8>) {
        out.resize(out.len() + duel.rules.question, b'?');
    }

    fn hear(&mut self, _: &Duel<TURNS>, _: Seat, message: &[u8]) -> Heard<DuelUse> {
        let text = String::from_utf8_lossy(message);
        let numbers = text.trim().split_once(' ');
        let used = numbers
            .and_then(|(own, since)| Some(DuelUse { own: own.parse().ok()?, since: since.parse().ok()? }));
        used.map_or_else(|| Heard::Malformed("an answer is two numbers".to_owned()), Heard::Answer)
    }

    fn say(&self, _: &Duel<TURNS>, _: Seat, used: &DuelUse, out: &mut Vec<u8>) {
        out.extend(format!("{} {}", used.own, used.since).into_bytes());
    }
}
