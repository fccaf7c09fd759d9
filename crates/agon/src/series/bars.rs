//! Pictures of one line: a dot with its interval on a scale that all rows share, and the path of a test between its bounds.

/// A scale of Elo, the same on both sides of zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    end: f64,
}

/// The width of a bar, in characters.
pub const WIDTH: usize = 21;
/// Beyond this many Elo every end is drawn at the edge: a bot that lost everything must not press all others together.
const FARTHEST: f64 = 800.0;

impl Scale {
    /// A scale that holds these numbers, as far as they are finite and not too far away.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Self {
        let most = numbers
            .into_iter()
            .filter(|number| number.is_finite())
            .fold(0.0f64, |most, number| most.max(number.abs()));
        let steps = [20.0, 50.0, 100.0, 200.0, 400.0, FARTHEST];
        Self { end: steps.into_iter().find(|step| *step >= most).unwrap_or(FARTHEST) }
    }

    /// What it runs from and to, in words.
    pub fn title(self) -> String {
        let end = format!("{:.0}", self.end);
        let dots = WIDTH.saturating_sub(2 * end.len() + 3);
        let (left, right) = (dots / 2, dots - dots / 2);
        format!("-{end}{}0{}+{end}", " ".repeat(left), " ".repeat(right))
    }

    /// A dot with a line from `low` to `high`; an end that is none is open, and drawn as an arrow.
    pub fn bar(self, low: Option<f64>, point: Option<f64>, high: Option<f64>) -> String {
        let place = |elo: f64| {
            let part = (elo / self.end).clamp(-1.0, 1.0);
            ((part + 1.0) / 2.0 * (WIDTH - 1) as f64).round() as usize
        };
        let mut drawn = vec![' '; WIDTH];
        drawn[WIDTH / 2] = '·';
        let (from, to) = (low.map_or(0, place), high.map_or(WIDTH - 1, place));
        drawn[from..=to.max(from)].fill('─');
        let is_beyond = |end: Option<f64>| end.is_none_or(|end| end.abs() > self.end);
        if is_beyond(low) && from == 0 {
            drawn[0] = '←';
        }
        if is_beyond(high) && to == WIDTH - 1 {
            drawn[WIDTH - 1] = '→';
        }
        if let Some(point) = point {
            drawn[place(point)] = '●';
        }
        // As wide as its title, so that it stays under it in a table.
        drawn.into_iter().collect()
    }
}

/// A path between two bounds in this many characters: full height is the upper bound, the bottom the lower one.
pub fn path(values: &[f32], (lower, upper): (f64, f64), width: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let shown = values.len().min(width);
    let height = |value: f32| {
        let part = (f64::from(value) - lower) / (upper - lower);
        HEIGHTS[((part * 8.0).floor().max(0.0) as usize).min(7)]
    };
    // The last of each stretch, so that the end is where the test ended.
    (1..=shown).map(|step| height(values[step * values.len() / shown - 1])).collect()
}

/// A certainty in words: never 100 %, because no number of matches makes one.
pub fn certainty(share: f64) -> String {
    match share {
        share if share > 0.999 => "> 99.9 %".to_owned(),
        share if share < 0.001 => "< 0.1 %".to_owned(),
        share => format!("{:.1} %", share * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_where_zero_is_and_what_is_open() {
        let scale = Scale::of([-10.0, 43.0, 65.0, f64::INFINITY]);
        assert_eq!(scale.title(), "-100      0      +100");
        let bar = |low, point, high| scale.bar(low, point, high).trim_end().to_owned();
        assert_eq!(bar(Some(21.0), Some(43.0), Some(65.0)), "          · ──●───");
        assert_eq!(bar(Some(-65.0), Some(-43.0), Some(21.0)), "    ──●──────");
        assert_eq!(bar(None, None, Some(-20.0)), "←──────── ·");
        assert_eq!(bar(Some(-4000.0), Some(0.0), None), "←─────────●─────────→");
        assert_eq!(scale.bar(Some(0.0), Some(0.0), Some(0.0)).chars().count(), WIDTH);
    }

    #[test]
    fn a_path_ends_where_the_test_did() {
        let values: Vec<f32> = (0..100).map(|step| step as f32 / 33.0).collect();
        let drawn = path(&values, (-2.94, 2.94), 12);
        assert_eq!((drawn.chars().count(), drawn.chars().last()), (12, Some('█')));
        assert!(drawn.starts_with('▅'), "{drawn}");
        assert_eq!(path(&[], (-1.0, 1.0), 12), "");
        assert_eq!(path(&[-2.0], (-1.0, 1.0), 12), "▁");
    }

    #[test]
    fn nothing_is_certain() {
        assert_eq!([1.0, 0.9996, 0.5, 0.0].map(certainty), ["> 99.9 %", "> 99.9 %", "50.0 %", "< 0.1 %"]);
    }
}
