//! The course of a series as a picture for a page without scripts: lines that stretch to any width, with words beside them.

use std::fmt::Write as _;

use agon_contest::Course;
use agon_web::app::escape;

use crate::series::progress::{thousands, whole};

/// A picture is so many units wide and high, and is then stretched.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// The pictures of all courses, of bots with these names; nothing without one.
pub fn html(courses: &[Course], bots: &[&str]) -> String {
    let mut text = String::new();
    for course in courses {
        let Some(last) = course.points.last() else { continue };
        let names: Vec<String> = course.bots.iter().map(|&bot| escape(bots[bot])).collect();
        if text.is_empty() {
            text.push_str("<h2>How it went</h2>\n");
        }
        text.push_str("<div class=\"card\">");
        let games = thousands(last.games);
        let elo = last.elo.map_or_else(|| "not finite".to_owned(), whole);
        let low = last.low.map_or_else(|| "−∞".to_owned(), whole);
        let high = last.high.map_or_else(|| "+∞".to_owned(), whole);
        let versus = names
            .split_first()
            .map_or_else(String::new, |(own, others)| format!("{own} against {}", others.join(", ")));
        let caption = format!("{versus}: Elo {elo} ({low} to {high}) after {games} matches");
        plot(&mut text, &caption, last.games, course.elo, &[0.0], |height, across| {
            let [least, most] = course.elo;
            let upper =
                course.points.iter().map(|point| (across(point.games), height(point.high.unwrap_or(most))));
            let lower =
                course.points.iter().map(|point| (across(point.games), height(point.low.unwrap_or(least))));
            let band: Vec<(f64, f64)> = upper.chain(lower.collect::<Vec<_>>().into_iter().rev()).collect();
            // Where every point was won, Elo lies beyond the picture.
            let elo = |point: &agon_contest::course::Point| {
                point.elo.unwrap_or(if point.low.is_some() { most } else { least })
            };
            let line = course.points.iter().map(|point| (across(point.games), height(elo(point)))).collect();
            (band, line)
        });
        if let (Some(bounds), Some(llr)) = (course.bounds, last.llr) {
            let caption = format!("LLR {llr:+.2} between {:.2} and {:+.2}", bounds[0], bounds[1]);
            plot(&mut text, &caption, last.games, course.llr, &bounds, |height, across| {
                let line =
                    course.points.iter().filter_map(|point| Some((across(point.games), height(point.llr?))));
                (Vec::new(), line.collect())
            });
        }
        text.push_str("</div>\n");
    }
    text
}

type Corners = Vec<(f64, f64)>;

/// One plot: `draw` gets the functions from a number to its height and from matches to their place, and gives the
/// corners of the band and of the line.
fn plot(
    text: &mut String,
    caption: &str,
    games: u64,
    [least, most]: [f64; 2],
    marks: &[f64],
    draw: impl Fn(&dyn Fn(f64) -> f64, &dyn Fn(u64) -> f64) -> (Corners, Corners),
) {
    let height = |number: f64| (most - number.clamp(least, most)) / (most - least) * HEIGHT;
    let across = |now: u64| now as f64 / games.max(1) as f64 * WIDTH;
    let (band, line) = draw(&height, &across);
    let corners = |corners: &Corners| {
        corners.iter().map(|(x, y)| format!("{x:.1},{y:.2}")).collect::<Vec<_>>().join(" ")
    };
    let _ = write!(
        text,
        "<figure class=\"course\"><figcaption>{caption}</figcaption><div class=\"plot\">\
         <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{caption}\">"
    );
    if !band.is_empty() {
        let _ = write!(text, "<polygon class=\"band\" points=\"{}\"/>", corners(&band));
    }
    for &mark in marks {
        let y = height(mark);
        let _ = write!(text, "<path class=\"mark\" d=\"M0 {y:.2}H{WIDTH}\"/>");
    }
    let _ = write!(text, "<polyline class=\"line\" points=\"{}\"/></svg>", corners(&line));
    // Elo says how far the picture reaches; of the LLR only the bounds matter.
    let is_elo = marks == [0.0];
    let shown = |number: f64| if is_elo { whole(number) } else { format!("{number:+.2}") };
    let ends = [least, most];
    for &number in marks.iter().chain(ends.iter().filter(|_| is_elo)) {
        let _ = write!(text, "<span style=\"top:{:.1}%\">{}</span>", height(number), shown(number));
    }
    let _ = writeln!(
        text,
        "</div><div class=\"games\"><span>0</span><span>{} matches</span></div></figure>",
        thousands(games)
    );
}

#[cfg(test)]
mod tests {
    use agon_contest::course::Point;

    use super::*;

    #[test]
    fn a_test_has_two_plots_and_names_are_harmless() {
        let point = |games, elo, llr| Point { games, elo, low: Some(-20.0), high: None, llr: Some(llr) };
        let mut course = Course {
            bots: vec![0, 1],
            points: vec![point(2, None, 0.5), point(4, Some(43.0), 1.25)],
            elo: [-50.0, 50.0],
            bounds: Some([-2.94, 2.94]),
            llr: [-3.0, 3.0],
        };
        let text = html(&[course.clone()], &["<new>", "old"]);
        assert_eq!(text.matches("<svg").count(), 2);
        assert!(text.contains("&lt;new&gt; against old: Elo +43 (-20 to +∞) after 4 matches"), "{text}");
        assert!(text.contains("LLR +1.25 between -2.94 and +2.94"), "{text}");
        // Without a finite Elo the line is at the edge; an open end of the interval too.
        assert!(text.contains("points=\"500.0,0.00 1000.0,7.00\""), "{text}");
        assert!(text.contains("points=\"500.0,0.00 1000.0,0.00 1000.0,70.00 500.0,70.00\""), "{text}");
        course.bounds = None;
        assert_eq!(html(&[course], &["new", "old"]).matches("<svg").count(), 1);
        assert_eq!(html(&[], &[]), "");
    }
}
