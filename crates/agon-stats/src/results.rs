//! The results of many bots: what ratings and cross tables are made from.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// The hash of all rules of a game, written as sixteen hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RulesHash(pub u64);

impl std::fmt::Display for RulesHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl std::fmt::Debug for RulesHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RulesHash({self})")
    }
}

impl Serialize for RulesHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RulesHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let hash = digits.then(|| u64::from_str_radix(&text, 16).ok()).flatten();
        hash.map(Self).ok_or_else(|| {
            serde::de::Error::custom(format!("a rules hash is 16 hexadecimal digits, not `{text}`"))
        })
    }
}

/// What must be equal for results to share a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct TableKey {
    /// The game's name.
    pub game: String,
    /// The hash of its rules.
    #[cfg_attr(feature = "described", ts(type = "string"))]
    pub rules: RulesHash,
}

impl std::fmt::Display for TableKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} under rules {}", self.game, self.rules)
    }
}

/// A finished match.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RankedMatch {
    /// The bot in each seat. A bot may sit in several.
    pub bots: Vec<String>,
    /// The rank of each seat, the lowest is the best, equal ranks are ties. Only their order matters.
    pub ranks: Vec<u8>,
}

/// The matches of one seed and map in every rotation of the seats.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MatchBlock {
    /// A hash of where the block began: rules, map, state, and the bots with their versions in their seats.
    pub start: u64,
    /// A hash of every answer of every match: equal for equal matches.
    pub fingerprint: u64,
    pub matches: Vec<RankedMatch>,
}

/// Upper limit on the seats of a match in a table.
pub const MOST_SEATS: usize = 32;

/// Why results cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ResultsError {
    /// Another game or other rules.
    #[error("results of {given} do not belong in a table of {expected}")]
    Mixed { expected: TableKey, given: TableKey },
    /// A match whose lists have the wrong lengths.
    #[error("a match needs 2 to {MOST_SEATS} bots and as many ranks; this has {bots} bots and {ranks} ranks")]
    Match {
        /// How many bots.
        bots: usize,
        /// How many ranks.
        ranks: usize,
    },
}

/// The blocks played under one set of rules. Their order is not kept: equal results give equal tables to the
/// last bit, in whatever order they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    key: TableKey,
    /// By start: the different blocks, and how often each was played.
    starts: BTreeMap<u64, BTreeMap<MatchBlock, u64>>,
}

impl Results {
    /// No results yet.
    pub fn new(key: TableKey) -> Self {
        Self { key, starts: BTreeMap::new() }
    }

    /// Sorts blocks into one `Results` per game and rules.
    ///
    /// # Errors
    /// When a match is malformed.
    pub fn sort(
        blocks: impl IntoIterator<Item = (TableKey, MatchBlock)>,
    ) -> Result<BTreeMap<TableKey, Self>, ResultsError> {
        let mut tables = BTreeMap::new();
        for (key, block) in blocks {
            tables.entry(key.clone()).or_insert_with(|| Self::new(key.clone())).push(&key, block)?;
        }
        Ok(tables)
    }

    /// Adds a block that was played under `key`.
    ///
    /// # Errors
    /// When the key is not this table's, or a match is malformed.
    pub fn push(&mut self, key: &TableKey, block: MatchBlock) -> Result<(), ResultsError> {
        if *key != self.key {
            return Err(ResultsError::Mixed { expected: self.key.clone(), given: key.clone() });
        }
        for RankedMatch { bots, ranks } in &block.matches {
            if !(2..=MOST_SEATS).contains(&bots.len()) || ranks.len() != bots.len() {
                return Err(ResultsError::Match { bots: bots.len(), ranks: ranks.len() });
            }
        }
        *self.starts.entry(block.start).or_default().entry(block).or_default() += 1;
        Ok(())
    }

    /// The game and rules of all of them.
    pub fn key(&self) -> &TableKey {
        &self.key
    }

    /// All blocks: they count whether or not they repeat a start, because it is the schedule that gives a start its weight.
    pub fn blocks(&self) -> impl Iterator<Item = &MatchBlock> {
        self.evidence().flat_map(|(block, times)| std::iter::repeat_n(block, times as usize))
    }

    /// The pieces of evidence, each a block and how often it was played: a start whose blocks were all equal is one, however
    /// often it was played ([`crate::repeats`]).
    pub fn evidence(&self) -> impl Iterator<Item = (&MatchBlock, u64)> {
        self.starts.values().flat_map(|blocks| {
            let varied = blocks.len() > 1;
            let pieces = move |&played: &u64| if varied { (played, 1) } else { (1, played) };
            blocks.iter().flat_map(move |(block, played)| {
                let (pieces, times) = pieces(played);
                std::iter::repeat_n((block, times), pieces as usize)
            })
        })
    }

    pub fn matches(&self) -> impl Iterator<Item = &RankedMatch> {
        self.blocks().flat_map(|block| &block.matches)
    }

    /// The number of blocks that are no new evidence because they only repeat their start.
    pub fn repeats(&self) -> u64 {
        let same = self.starts.values().filter(|blocks| blocks.len() == 1);
        same.flat_map(|blocks| blocks.values().map(|times| times - 1)).sum()
    }

    /// The names of all bots, in alphabetical order.
    pub fn bots(&self) -> Vec<&str> {
        let names: BTreeSet<&str> =
            self.matches().flat_map(|game| game.bots.iter().map(String::as_str)).collect();
        names.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(rules: u64) -> TableKey {
        TableKey { game: "deerhunt".into(), rules: RulesHash(rules) }
    }

    fn block(fingerprint: u64) -> MatchBlock {
        MatchBlock {
            start: 1,
            fingerprint,
            matches: vec![RankedMatch { bots: vec!["b".into(), "a".into()], ranks: vec![1, 2] }],
        }
    }

    #[test]
    fn results_of_other_rules_are_refused() {
        let mut results = Results::new(key(1));
        assert_eq!(results.push(&key(1), block(7)), Ok(()));
        let error = results.push(&key(2), block(8)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "results of deerhunt under rules 0000000000000002 do not belong in a table of deerhunt \
             under rules 0000000000000001"
        );
        assert_eq!(results.matches().count(), 1);
        let tables = Results::sort([(key(1), block(7)), (key(2), block(7)), (key(2), block(8))]).unwrap();
        assert_eq!(tables.values().map(|t| t.matches().count()).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_start_is_one_piece_of_evidence_until_two_of_its_blocks_differ() {
        let mut results = Results::new(key(1));
        results.push(&key(1), block(7)).unwrap();
        results.push(&key(1), block(7)).unwrap();
        let counts =
            |results: &Results| (results.blocks().count(), results.evidence().count(), results.repeats());
        assert_eq!(counts(&results), (2, 1, 1));
        results.push(&key(1), block(8)).unwrap();
        assert_eq!(counts(&results), (3, 3, 0));
        results.push(&key(1), MatchBlock { start: 2, ..block(7) }).unwrap();
        results.push(&key(1), MatchBlock { start: 2, ..block(7) }).unwrap();
        assert_eq!(counts(&results), (5, 4, 1));
        assert_eq!(results.bots(), ["a", "b"]);
    }

    #[test]
    fn malformed_matches_are_refused() {
        let mut results = Results::new(key(1));
        let mut bad = block(7);
        bad.matches[0].ranks.pop();
        assert_eq!(results.push(&key(1), bad), Err(ResultsError::Match { bots: 2, ranks: 1 }));
        assert_eq!(results.blocks().count(), 0);
    }

    #[test]
    fn a_rules_hash_is_text_in_json() {
        let text = serde_json::to_string(&key(0xfeed_0000_0000_0001)).unwrap();
        assert_eq!(text, r#"{"game":"deerhunt","rules":"feed000000000001"}"#);
        assert_eq!(serde_json::from_str::<TableKey>(&text).unwrap(), key(0xfeed_0000_0000_0001));
        assert!(serde_json::from_str::<RulesHash>(r#""+eed000000000001""#).is_err());
    }
}
