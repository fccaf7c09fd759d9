//! How a match went: who was ahead and why, before the first step and after each.

use agon_game::SeatAdvantages;
use agon_replay::Replay;

use crate::maker::game_of;

/// How a match went. All lists have an entry for the position before the first step and one for that after each.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// Where in the match it is, in the game's words: what is decided next.
    pub moments: Vec<String>,
    /// What speaks for each seat.
    pub standings: Vec<SeatAdvantages>,
    /// Each seat's chance of finishing first.
    pub chances: Vec<Vec<f64>>,
}

impl Course {
    /// Plays a replay through.
    ///
    /// # Errors
    /// A sentence: the match cannot be computed again, or its game does not say who is ahead.
    pub fn of(replay: &Replay) -> Result<Self, String> {
        let game = game_of(&replay.header).map_err(|error| error.to_string())?;
        let mut session = game.open(&replay.header.recipe.setup()).map_err(|error| error.to_string())?;
        let mut course = Self::default();
        for step in 0..=replay.steps.len() {
            let chances = agon_game::advantage(session.as_ref());
            course.chances.push(chances.ok_or("this game does not say who is ahead")?);
            course.moments.push(session.moment());
            course.standings.push(session.standing());
            if step < replay.steps.len() {
                replay.play_step(step, session.as_mut())?;
            }
        }
        Ok(course)
    }

    /// The step, from 1, that took the most from the chance of a seat, an index, and how much; none if none took any.
    pub fn fall(&self, seat: usize) -> Option<(usize, f64)> {
        let falls =
            (1..).zip(self.chances.windows(2)).map(|(step, pair)| (step, pair[0][seat] - pair[1][seat]));
        falls.filter(|(_, fall)| *fall > 0.0).max_by(|one, two| one.1.total_cmp(&two.1))
    }

    /// The step, from 1, that changed the chance of a seat, an index, the most, and by how much; none in a match without steps.
    pub fn swing(&self, seat: usize) -> Option<(usize, f64)> {
        let changes =
            (1..).zip(self.chances.windows(2)).map(|(step, pair)| (step, pair[1][seat] - pair[0][seat]));
        changes.max_by(|one, two| one.1.abs().total_cmp(&two.1.abs()))
    }

    /// After how many steps the eventual winner was ahead for good, by at least `clearly` more than an even chance; none if
    /// nobody was.
    pub fn decided(&self, clearly: f64) -> Option<usize> {
        let last = self.chances.last()?;
        let winner = last.iter().position(|chance| *chance == 1.0)?;
        let even = 1.0 / last.len() as f64;
        let open = self.chances.iter().rposition(|chances| chances[winner] < even + clearly);
        Some(open.map_or(0, |step| step + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_names_its_largest_fall_and_when_it_was_decided() {
        let chances = [0.5, 0.7, 0.6, 0.65, 0.25, 0.3, 0.0].map(|one| vec![one, 1.0 - one]);
        let course = Course { chances: chances.to_vec(), ..Course::default() };
        let (step, fall) = course.fall(0).expect("it fell");
        assert_eq!(step, 4);
        assert!((fall - 0.4).abs() < 1e-12);
        assert_eq!(course.fall(1).map(|(step, _)| step), Some(1));
        let (step, swing) = course.swing(0).expect("it swung");
        assert!(step == 4 && (swing + 0.4).abs() < 1e-12);
        assert_eq!(course.decided(0.1), Some(4));
        let drawn = Course { chances: vec![vec![0.5, 0.5]; 3], ..Course::default() };
        assert_eq!((drawn.decided(0.1), drawn.fall(0)), (None, None));
    }
}
