//! The course of a series as a picture for a page without scripts: lines that stretch to any width, with text beside
//! them.

use agon_contest::PairingCourse;
use agon_contest::course::Point;
use agon_desk::words::thousands;
use maud::{Markup, html};

use crate::series::progress::whole;

/// Size of a picture in units; it is then stretched.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// The pictures of all courses, for bots with these names; nothing without a course.
pub fn html(courses: &[PairingCourse], bots: &[&str]) -> Markup {
    let drawn: Vec<&PairingCourse> = courses.iter().filter(|course| !course.points.is_empty()).collect();
    html! {
        @if !drawn.is_empty() {
            h2 { "How it went" }
        }
        @for course in drawn {
            div.card { (elo(course, bots)) (llr(course)) }
        }
    }
}

/// Elo with its interval.
fn elo(course: &PairingCourse, bots: &[&str]) -> Markup {
    let Some(last) = course.points.last() else { return html!() };
    let names: Vec<&str> = course.bots.iter().map(|&bot| bots[bot]).collect();
    let games = thousands(last.games);
    let number = |value: Option<f64>, none: &str| value.map_or_else(|| none.to_owned(), whole);
    let (elo, low, high) = (number(last.elo, "not finite"), number(last.low, "-∞"), number(last.high, "+∞"));
    let versus = names
        .split_first()
        .map_or_else(String::new, |(own, others)| format!("{own} against {}", others.join(", ")));
    let caption = format!("{versus}: Elo {elo} ({low} to {high}) after {games} matches");
    let plot = Plot { caption, games: last.games, range: course.elo, marks: &[0.0] };
    let [least, most] = course.elo;
    let corner = |point: &Point, number: f64| (plot.across(point.games), plot.height(number));
    let upper = course.points.iter().map(|point| corner(point, point.high.unwrap_or(most)));
    let lower = course.points.iter().rev().map(|point| corner(point, point.low.unwrap_or(least)));
    // When every point was won, Elo lies beyond the picture.
    let edge = |point: &Point| if point.low.is_some() { most } else { least };
    let line = course.points.iter().map(|point| corner(point, point.elo.unwrap_or(edge(point))));
    plot.html(&upper.chain(lower).collect::<Vec<_>>(), &line.collect::<Vec<_>>(), (whole, true))
}

/// The LLR between its bounds; nothing when no hypotheses are tested.
fn llr(course: &PairingCourse) -> Markup {
    let Some((last, bounds)) = course.points.last().zip(course.bounds) else { return html!() };
    let Some(now) = last.llr else { return html!() };
    let caption = format!("LLR {now:+.2} between {:.2} and {:+.2}", bounds[0], bounds[1]);
    let plot = Plot { caption, games: last.games, range: course.llr, marks: &bounds };
    let line =
        course.points.iter().filter_map(|point| Some((plot.across(point.games), plot.height(point.llr?))));
    // Only the bounds are labelled.
    plot.html(&[], &line.collect::<Vec<_>>(), (|number| format!("{number:+.2}"), false))
}

type Corner = (f64, f64);

struct Plot<'a> {
    caption: String,
    /// Matches at the right end.
    games: u64,
    /// The numbers at the lower and upper end.
    range: [f64; 2],
    /// Lines across it.
    marks: &'a [f64],
}

impl Plot<'_> {
    fn height(&self, number: f64) -> f64 {
        let [least, most] = self.range;
        (most - number.clamp(least, most)) / (most - least) * HEIGHT
    }

    fn across(&self, games: u64) -> f64 {
        games as f64 / self.games.max(1) as f64 * WIDTH
    }

    /// `word` formats the numbers beside it; the `bool` says whether the numbers at its ends are written.
    fn html(&self, band: &[Corner], line: &[Corner], (word, ends): (fn(f64) -> String, bool)) -> Markup {
        let corners = |corners: &[Corner]| {
            corners.iter().map(|(x, y)| format!("{x:.1},{y:.2}")).collect::<Vec<_>>().join(" ")
        };
        let written = self.marks.iter().chain(self.range.iter().filter(|_| ends));
        html! {
            figure.course {
                figcaption { (self.caption) }
                div.plot {
                    svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(self.caption) {
                        @if !band.is_empty() {
                            polygon.band points=(corners(band)) {}
                        }
                        @for &mark in self.marks {
                            path.mark d=(format!("M0 {:.2}H{WIDTH}", self.height(mark))) {}
                        }
                        polyline.line points=(corners(line)) {}
                    }
                    @for &number in written {
                        span style=(format!("top:{:.1}%", self.height(number))) { (word(number)) }
                    }
                }
                div.games { span { "0" } span { (thousands(self.games)) " matches" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_has_two_plots_and_names_are_harmless() {
        let point = |games, elo, llr| Point { games, elo, low: Some(-20.0), high: None, llr: Some(llr) };
        let mut course = PairingCourse {
            bots: vec![0, 1],
            points: vec![point(2, None, 0.5), point(4, Some(43.0), 1.25)],
            elo: [-50.0, 50.0],
            bounds: Some([-2.94, 2.94]),
            llr: [-3.0, 3.0],
        };
        let text = html(&[course.clone()], &["<new>", "old"]).into_string();
        assert_eq!(text.matches("<svg").count(), 2);
        assert!(text.contains("&lt;new&gt; against old: Elo +43 (-20 to +∞) after 4 matches"), "{text}");
        assert!(text.contains("LLR +1.25 between -2.94 and +2.94"), "{text}");
        // Without a finite Elo the line is at the edge; so is an open end of the interval.
        assert!(text.contains("points=\"500.0,0.00 1000.0,7.00\""), "{text}");
        assert!(text.contains("points=\"500.0,0.00 1000.0,0.00 1000.0,70.00 500.0,70.00\""), "{text}");
        course.bounds = None;
        assert_eq!(html(&[course], &["new", "old"]).into_string().matches("<svg").count(), 1);
        assert_eq!(html(&[], &[]).into_string(), "");
    }
}
