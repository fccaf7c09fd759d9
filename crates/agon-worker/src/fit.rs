//! Whether a machine is fit to play.

use agon_bot::Level;

use crate::wire::PlayingMachine;

/// Longest name of a machine, level or the like, in characters.
const LONGEST_WORD: usize = 200;
/// How many packages and languages a machine may list.
const MOST_WORDS: usize = 200;

/// Requirements for a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirements {
    /// Bots need not be held: whoever is responsible for them trusts all of them.
    pub trusts_bots: bool,
    /// The lowest level at which they are played; if that was not said, A, where their time is counted.
    pub level: Option<Level>,
    /// The speed that all machines must have, and which machine set it; none while unknown.
    pub speed: Option<(f64, String)>,
    /// How much slower or faster a machine may be, in per cent.
    pub tolerance: f64,
    /// Where to set speed and tolerance: the end of a sentence.
    pub set_by: &'static str,
    /// Folders with packages, by their last path component.
    pub packages: Vec<String>,
    /// Compilers and interpreters, by their commands.
    pub languages: Vec<String>,
}

impl Requirements {
    /// Why a machine cannot play, with the figures; none if it can.
    pub fn unmet_by(&self, machine: &PlayingMachine) -> Option<String> {
        let words =
            machine.packages.iter().chain(&machine.languages).chain([&machine.level, &machine.kernel]);
        if words.clone().count() > MOST_WORDS
            || words.into_iter().any(|word| word.chars().count() > LONGEST_WORD)
        {
            return Some("It describes itself at greater length than any machine does.".to_owned());
        }
        let least = match self.level {
            least if self.trusts_bots => least.unwrap_or(Level::D),
            least => least.unwrap_or(Level::A).min(Level::B),
        };
        let levels = [Level::A, Level::B, Level::C, Level::D];
        let own = levels.into_iter().find(|level| level.to_string() == machine.level);
        if own.map_or(least < Level::D, |own| own > least) {
            let accepted =
                levels[..=least as usize].iter().map(Level::to_string).collect::<Vec<_>>().join(" or ");
            let way = match own {
                Some(Level::B) if !self.trusts_bots => {
                    " Or the organiser accepts B, where CPU time is only sampled: `agon serve set DIR level=B`."
                }
                _ => "",
            };
            return Some(format!(
                "Its sandbox: {}. Bots are played here in a sandbox of level {accepted}; run `agon doctor` on that machine to see what is \
                 missing.{way}",
                machine.level
            ));
        }
        if !machine.speed.is_finite() || machine.speed <= 0.0 {
            return Some("Its speed is not a number above 0.".to_owned());
        }
        if let Some((speed, whose)) = &self.speed {
            let tolerance = self.tolerance / 100.0;
            let (low, high) = (speed * (1.0 - tolerance), speed * (1.0 + tolerance));
            if !(low..=high).contains(&machine.speed) {
                return Some(format!(
                    "Its speed is {:.0}, and {speed:.0} ± {:.0} % is needed ({whose}): from {low:.0} to {high:.0}. Bots have the same time \
                     everywhere, so a machine of another speed would change results. If something else is running on it, stop that; \
                     {}.",
                    machine.speed, self.tolerance, self.set_by
                ));
            }
        }
        let lacks = |wanted: &[String], has: &[String]| -> Vec<String> {
            wanted.iter().filter(|word| !has.contains(word)).cloned().collect()
        };
        let packages = lacks(&self.packages, &machine.packages);
        if !packages.is_empty() {
            return Some(format!(
                "It lacks packages that bots can use in this contest: {}. Copy these folders from the organiser, and name each with --packages.",
                packages.join(", ")
            ));
        }
        let languages = lacks(&self.languages, &machine.languages);
        if !languages.is_empty() {
            return Some(format!(
                "It lacks what bots find on the server's machine: {}. Bots would fail without it, as if by their authors' mistake. Install it there.",
                languages.join(", ")
            ));
        }
        None
    }
}
