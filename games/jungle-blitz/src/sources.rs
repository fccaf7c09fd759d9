//! The files that decide and prove rules, for `agon explain`.

/// `(path inside the game's folder, text)`.
pub const SOURCES: &[(&str, &str)] = &[];
