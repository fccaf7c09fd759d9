//! Checks of maps: what `agon maps check` reports.

/// What was found out about a map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapFindings {
    /// Things worth knowing: size, counts, symmetries.
    pub facts: Vec<String>,
    /// Why some match cannot be set up on it.
    pub errors: Vec<String>,
    /// What makes it a bad map although it can be played.
    pub warnings: Vec<String>,
}

impl MapFindings {
    /// Whether the map can be played and there are no warnings.
    pub fn good(&self) -> bool {
        self.errors.is_empty() && self.warnings.is_empty()
    }
}
