//! Which matches to list, from the address of the page.

use agon_store::reads::{Ended, Filter};
use agon_store::{EntrantId, MatchId};
use serde::{Deserialize, Deserializer};

use crate::gate::encoded;

/// The filter.
#[derive(Clone, Default, Deserialize)]
pub(crate) struct Asked {
    /// Matches of this team.
    #[serde(default, deserialize_with = "number")]
    pub team: Option<i64>,
    /// Those in which this team sat as well.
    #[serde(default, deserialize_with = "number")]
    pub against: Option<i64>,
    /// How they ended for the first team: one of [`WAYS`].
    #[serde(default)]
    pub ended: String,
    /// Those on this map, from 0.
    #[serde(default, deserialize_with = "number")]
    pub map: Option<i64>,
    /// Those that ended for this reason, in the game's words.
    #[serde(default)]
    pub reason: String,
    /// Those before this one.
    #[serde(default, deserialize_with = "number")]
    pub before: Option<i64>,
}

/// A number in a form, where a field left empty means none.
fn number<'de, D: Deserializer<'de>>(field: D) -> Result<Option<i64>, D::Error> {
    Ok(String::deserialize(field)?.parse().ok())
}

/// The longest reason, in characters; no game has a longer one.
pub const LONGEST_REASON: usize = 200;

/// The endings that can be filtered by, as they are in the address and as people read them.
pub const WAYS: [(&str, &str); 5] =
    [("", "All"), ("won", "Won"), ("drawn", "Drawn"), ("lost", "Lost"), ("faults", "Lost by a fault")];

impl Asked {
    /// The same filter for the store.
    pub fn filter(&self) -> Filter {
        let ended = match self.ended.as_str() {
            "won" => Some(Ended::Won),
            "drawn" => Some(Ended::Drawn),
            "lost" => Some(Ended::Lost),
            _ => None,
        };
        let faults = self.ended == "faults";
        let (team, before) = (self.team.map(EntrantId), self.before.map(MatchId));
        let against = self.against.map(EntrantId);
        let reason = Some(self.reason.chars().take(LONGEST_REASON).collect())
            .filter(|reason: &String| !reason.is_empty());
        Filter { team, against, reason, version: None, ended, faults, map: self.map, before }
    }

    /// The address of the page that shows it.
    pub fn address(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.team.map(|team| format!("team={team}")));
        parts.extend(
            WAYS.iter()
                .skip(1)
                .find(|(word, _)| *word == self.ended)
                .map(|(word, _)| format!("ended={word}")),
        );
        parts.extend(self.against.map(|team| format!("against={team}")));
        parts.extend(self.map.map(|map| format!("map={map}")));
        if !self.reason.is_empty() {
            parts.push(format!("reason={}", encoded(&self.reason)));
        }
        parts.extend(self.before.map(|before| format!("before={before}")));
        if parts.is_empty() { "/matches".to_owned() } else { format!("/matches?{}", parts.join("&")) }
    }
}
