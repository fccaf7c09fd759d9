//! One game on the outside, two sizes of state inside.

use agon_game::Bench;
use agon_game::conform::{ConformReport, Recognised};
use agon_game::{AnyGame, Face, GameInfo, MapFindings, Ready, Setup, SetupError, rules};

use crate::info::INFO;
use crate::map::Map;
use crate::rules::Rules;
use crate::state::State;
use crate::{DeerhuntOf, LARGE, SMALL};

/// Deerhunt, for the registry: uses the small state if the rules' `max_units` fit into it.
pub const FACE: DeerhuntFace = DeerhuntFace;

/// See [`FACE`].
#[derive(Clone, Copy, Debug)]
pub struct DeerhuntFace;

impl DeerhuntFace {
    /// The game in the size a setup needs.
    fn sized(self, setup: &Setup) -> Result<&'static dyn AnyGame, SetupError> {
        let max_units = rules::load::<Rules>(&INFO, &setup.rules)?.rules.max_units;
        Ok(match usize::from(max_units) <= State::<SMALL>::CAPACITY {
            true => const { &Face::<DeerhuntOf<SMALL>>::new() },
            false => const { &Face::<DeerhuntOf<LARGE>>::new() },
        })
    }
}

impl AnyGame for DeerhuntFace {
    fn info(&self) -> &'static GameInfo {
        const { &INFO }
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Ready>, SetupError> {
        self.sized(setup)?.prepare(setup)
    }

    fn conform(&self, record: &[u8], report: &mut ConformReport) -> Recognised {
        const { &Face::<DeerhuntOf<SMALL>>::new() }.conform(record, report)
    }

    fn check_map(&self, name: &str, content: &[u8]) -> Option<Result<MapFindings, SetupError>> {
        let text = std::str::from_utf8(content)
            .map_err(|_| SetupError::BadMap { place: name.to_owned(), why: "is not UTF-8 text".to_owned() });
        Some(text.and_then(|text| Map::parse(name, text)).map(|map| map.check()))
    }

    fn bench(&self, setup: &Setup) -> Result<Bench, SetupError> {
        self.sized(setup)?.bench(setup)
    }
}
