//! Small pictures: intervals on one axis, recent results. Plain SVG; the colours are in the style sheet.

use std::fmt::Write as _;

use agon_store::reads::Ended;
use maud::{Markup, PreEscaped, html};

/// An axis that all rows of a table share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    step: f64,
    width: f64,
}

/// The height of a row's picture.
const HEIGHT: f64 = 22.0;
/// The middle half of a normal distribution, as a share of its 95 %.
const HALF: f64 = 0.6745 / 1.96;

impl Axis {
    /// An axis for all these values, `width` pixels wide.
    pub fn of(values: impl Iterator<Item = f64>, width: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (-100.0, 100.0);
        }
        let span = (high - low).max(20.0);
        let steps = [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0];
        let step = steps.into_iter().find(|step| span / step <= 4.0).unwrap_or(span / 4.0);
        Self { low: low - span * 0.04, high: high + span * 0.04, step, width }
    }

    /// An axis for a share of 0 to 1, in percent.
    pub fn share(width: f64) -> Self {
        Self { low: -4.0, high: 104.0, step: 50.0, width }
    }

    fn x(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        (share.clamp(0.0, 1.0) * self.width * 10.0).round() / 10.0
    }

    /// The round values on it.
    pub fn ticks(&self) -> impl Iterator<Item = f64> + '_ {
        let first = (self.low / self.step).ceil() as i64;
        let last = (self.high / self.step).floor() as i64;
        (first..=last).map(|n| n as f64 * self.step)
    }

    /// The axis itself, for the head of the table.
    pub fn head(&self, label: impl Fn(f64) -> String) -> Markup {
        let Self { width, .. } = self;
        html! {
            svg.axis width=(width) height="16" aria-hidden="true" {
                @for tick in self.ticks() {
                    text x=(self.x(tick)) y="12" text-anchor="middle" { (label(tick)) }
                }
            }
        }
    }

    /// A difference with its interval and a dotted line at zero: coloured only if zero lies outside.
    pub fn difference(&self, value: f64, ends: (Option<f64>, Option<f64>)) -> Markup {
        let class = match ends {
            (Some(low), _) if low > 0.0 => "better",
            (_, Some(high)) if high < 0.0 => "worse",
            _ => "open",
        };
        html! {
            span.difference {
                svg.zero width=(self.width) height=(HEIGHT) aria-hidden="true" { path d=(format!("M{} 0v{HEIGHT}", self.x(0.0))) {} }
                (self.interval(value, ends, class))
            }
        }
    }

    /// A share beside the expected one: a triangle below, and a dotted line at one half.
    pub fn expected(&self, value: f64, ends: (f64, f64), expected: Option<f64>) -> Markup {
        html! {
            span.difference {
                svg.zero width=(self.width) height=(HEIGHT) aria-hidden="true" {
                    path d=(format!("M{} 0v{HEIGHT}", self.x(50.0))) {}
                    @if let Some(expected) = expected { path.expected d=(format!("M{} 15l3.5 6h-7z", self.x(expected))) {} }
                }
                (self.interval(value, (Some(ends.0), Some(ends.1)), "plain"))
            }
        }
    }

    /// A value with its interval; an open end reaches the edge. `class` sets the colour.
    pub fn interval(&self, value: f64, ends: (Option<f64>, Option<f64>), class: &str) -> Markup {
        let (from, to) =
            (ends.0.map_or(0.0, |low| self.x(low)), ends.1.map_or(self.width, |high| self.x(high)));
        let at = self.x(value);
        let (inner, outer) = (at - (at - from) * HALF, at + (to - at) * HALF);
        let middle = HEIGHT / 2.0;
        let mut grid = String::new();
        for tick in self.ticks() {
            let _ = write!(grid, "M{} 0v{HEIGHT}", self.x(tick));
        }
        html! {
            svg.interval.(class) width=(self.width) height=(HEIGHT) aria-hidden="true" {
                path.grid d=(grid) {}
                path.line d=(format!("M{from} {middle}H{to}")) {}
                path.half d=(format!("M{inner:.1} {middle}H{outer:.1}")) {}
                circle cx=(at) cy=(middle) r="3.5" {}
            }
        }
    }
}

/// Recent results, the newest on the right: wins up and dark, losses down and pale.
pub fn last(results: &[Ended]) -> Markup {
    if results.is_empty() {
        return html! {};
    }
    let (mut won, mut lost, mut drawn) = (String::new(), String::new(), String::new());
    let mut counts = [0; 3];
    for (place, result) in results.iter().rev().enumerate() {
        let x = place * 5 + 2;
        let _ = match result {
            Ended::Won => write!(won, "M{x} 2v8"),
            Ended::Lost => write!(lost, "M{x} 12v8"),
            Ended::Drawn => write!(drawn, "M{x} 10v2"),
        };
        counts[*result as usize] += 1;
    }
    let [w, d, l] = counts;
    let label = format!("{w} won, {d} drawn, {l} lost");
    html! {
        svg.last width="100" height="22" role="img" aria-label=(label) {
            title { (label) }
            path.won d=(won) {}
            path.lost d=(lost) {}
            path.drawn d=(drawn) {}
        }
    }
}

/// Ratings of versions from the first to the last: a line that ends in a dot.
pub fn sparkline(values: &[f64]) -> Markup {
    if values.len() < 2 {
        return html! {};
    }
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
    let x = |n: usize| 3.0 + n as f64 * 76.0 / (values.len() - 1) as f64;
    let y = |value: f64| 18.0 - (value - low) / (high - low).max(1.0) * 14.0;
    let mut line = String::new();
    for (n, value) in values.iter().enumerate() {
        let _ = write!(line, "{}{:.0} {:.0}", if n == 0 { 'M' } else { 'L' }, x(n), y(*value));
    }
    let end = values.len() - 1;
    html! {
        svg.spark width="84" height="22" aria-hidden="true" {
            path d=(line) {}
            circle cx=(format!("{:.0}", x(end))) cy=(format!("{:.0}", y(values[end]))) r="2.5" {}
        }
    }
}

/// A 16 by 16 icon, made of strokes.
pub fn icon(name: &str) -> Markup {
    let strokes = match name {
        "check" => "M3 8.5l3.2 3.2L13 4.8",
        "cross" => "M4 4l8 8M12 4l-8 8",
        "warn" => "M8 2.5L14.5 13.5H1.5zM8 6.5v3.2M8 11.7v.1",
        "up" => "M8 13V3M4 7l4-4 4 4",
        "back" => "M6 4L3 7l3 3M3 7h6.5a3.5 3.5 0 010 7H7",
        "pause" => "M5.5 3.5v9M10.5 3.5v9",
        "play" => "M5 3l8 5-8 5z",
        "flag" => "M4 14V2.5h8l-2 3 2 3H4",
        "bell" => "M3.5 12h9c-1-1-1.3-2-1.3-5a3.2 3.2 0 00-6.4 0c0 3-.3 4-1.3 5zM7 14h2",
        "clock" => "M8 2.2a5.8 5.8 0 100 11.6A5.8 5.8 0 008 2.2zM8 5v3.3l2.2 1.4",
        "people" => {
            "M6 7.5a2.2 2.2 0 100-4.4 2.2 2.2 0 000 4.4zM2 13c0-2.5 1.7-4 4-4s4 1.5 4 4M10.5 3.4a2.2 2.2 0 010 4M11.5 9.2c1.6.4 2.5 1.8 2.5 3.8"
        }
        _ => "",
    };
    html! { svg.icon width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" { path d=(PreEscaped(strokes)) {} } }
}

/// A word with an icon on a background of its own: `good`, `bad`, `warn`, `live`, or plain.
pub fn chip(class: &str, name: &str, words: &str) -> Markup {
    html! { span.chip.(class) { (icon(name)) (words) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rows_stand_on_one_axis_with_round_numbers() {
        let axis = Axis::of([-120.0, 30.0, 260.0, f64::INFINITY].into_iter(), 200.0);
        assert_eq!(axis.ticks().collect::<Vec<_>>(), [-100.0, 0.0, 100.0, 200.0]);
        assert!(axis.x(-120.0) > 0.0 && axis.x(260.0) < 200.0);
        let open = axis.interval(0.0, (None, Some(30.0)), "").into_string();
        assert!(open.contains("M0 11H"), "an open end reaches the edge: {open}");
        assert_eq!(Axis::of(std::iter::empty(), 100.0).step, 50.0);
    }

    #[test]
    fn last_results_say_in_words_what_they_draw() {
        let drawn = last(&[Ended::Won, Ended::Lost, Ended::Won, Ended::Drawn]).into_string();
        assert!(drawn.contains("2 won, 1 drawn, 1 lost"), "{drawn}");
        // The newest is on the right.
        assert!(drawn.contains("class=\"won\" d=\"M7 2v8M17 2v8\""), "{drawn}");
        assert_eq!(last(&[]).into_string() + &sparkline(&[1.0]).into_string(), "");
    }
}
