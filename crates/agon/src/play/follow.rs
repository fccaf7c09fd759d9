//! `agon play --watch`: the board after every step, and after every frame within it.

use std::io::{self, Write as _};
use std::time::Duration;

use agon_game::{Ink, Picture, Seat, Session};
use agon_match::arrival::Awaited;
use agon_match::{Observer, StepReport};

use crate::common::screen::{self, harmless};
use crate::common::seats::REJECTED;
use crate::common::waiting::Waiting;

/// A frame within a step is shown for the time of a step divided by this.
const FRAME_SHARE: u32 = 5;

/// Most characters of an answer shown beside the board.
const LONGEST_SHOWN: usize = 60;
/// Fewer characters of an answer than this say nothing.
const SHORTEST_SHOWN: usize = 4;

/// Terminal codes for replacing the previous frame without flickering: the text is written over the old one, and only
/// the rest is erased. Long lines are cut instead of wrapped, because a frame with more lines than the screen would
/// scroll.
const HOME: &str = "\x1b[?7l\x1b[H";
const END_OF_LINE: &str = "\x1b[K";
const END_OF_FRAME: &str = "\x1b[J\x1b[?7h";

/// A line of a picture.
type Line = Vec<(Ink, String)>;

/// Shows a match while it is played. Without a delay, only which bots are awaited.
pub struct Follow<'a> {
    labels: &'a [String],
    eyes: Option<Seat>,
    delay: Option<Duration>,
    waiting: Waiting,
    /// Where the match was when the answers of the next step were requested.
    moment: String,
    /// Whether the cursor is at the end of a frame.
    inside: bool,
}

impl<'a> Follow<'a> {
    /// Follows a match from its beginning, as `eyes` sees it, with a pause of `delay` after each step.
    pub fn new(
        session: &dyn Session,
        labels: &'a [String],
        eyes: Option<Seat>,
        delay: Option<Duration>,
    ) -> Self {
        let moment = session.moment();
        Self { labels, eyes, delay, waiting: Waiting::default(), moment, inside: false }
    }

    /// Called when the match is over: further output goes below the last frame.
    pub fn leave(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.inside) { write!(io::stdout(), "\n\n") } else { Ok(()) }
    }

    /// Who played what, after the name of the moment.
    fn title(
        &self,
        moment: &str,
        session: &dyn Session,
        step: &StepReport<'_>,
        columns: Option<usize>,
    ) -> Line {
        let said = step.answers.iter().map(|(seat, answer)| {
            let mut text = Vec::new();
            let known = answer.order().is_some_and(|order| session.say(*seat, order, &mut text));
            let text = known.then(|| String::from_utf8_lossy(&text).into_owned());
            (*seat, self.labels[seat.index()].as_str(), text)
        });
        title(moment, &said.collect::<Vec<_>>(), columns)
    }

    fn show(&mut self, title: &Line, picture: Picture, notes: &[Line]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let screen = screen::output();
        let size = screen::size().filter(|_| std::env::var_os("TERM").is_none_or(|term| term != "dumb"));
        let frame = frame(title, picture, notes, size);
        let text = screen.picture(&frame);
        let Some((columns, _)) = size else { return writeln!(out, "{text}") };
        let lines = text.lines().zip(&frame.lines).map(|(text, line)| {
            // After a full line the cursor is still on its last character.
            let end = if width(line) < columns { END_OF_LINE } else { "" };
            format!("{text}{end}")
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        self.inside = true;
        out.write_all(format!("{HOME}{text}{END_OF_FRAME}").as_bytes())?;
        out.flush()
    }
}

impl Observer for Follow<'_> {
    fn awaiting(&mut self, seats: &[Awaited], waited: Duration) {
        self.waiting.show(seats, waited);
    }

    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        self.waiting.done();
        let Some(delay) = self.delay else { return Ok(()) };
        let moment = std::mem::replace(&mut self.moment, session.moment());
        let columns = screen::size().map(|(columns, _)| columns);
        let frames = session.frames(self.eyes);
        let during = self.title(&moment, session, step, columns);
        for frame in frames {
            self.show(&during, frame, &[])?;
            std::thread::sleep(delay / FRAME_SHARE);
        }
        let after = self.title(&format!("after {moment}"), session, step, columns);
        let faults = step.faults.iter().map(|fault| {
            vec![
                (Ink::Danger, fault.kind.word().to_owned()),
                (Ink::Plain, format!(" {}", harmless(&fault.message))),
            ]
        });
        let rejected = session.rejections().iter().map(|order| {
            vec![
                (Ink::Seat(order.seat), self.labels[order.seat.index()].clone()),
                (Ink::Danger, format!(" {REJECTED}")),
                (Ink::Plain, format!(" [{}] {}", order.rule, harmless(&order.why))),
            ]
        });
        let notes: Vec<Line> = faults.chain(rejected).collect();
        self.show(&after, session.picture(self.eyes), &notes)?;
        std::thread::sleep(delay);
        Ok(())
    }
}

/// One line of at most `columns` columns: the moment, and the names with what each answered. JSON is left out: every
/// answer begins the same, and there is no room for more.
fn title(moment: &str, said: &[(Seat, &str, Option<String>)], columns: Option<usize>) -> Line {
    let answers: Vec<String> = said
        .iter()
        .map(|(_, _, text)| match text {
            None => "(no answer)".to_owned(),
            Some(text) if text.starts_with(['{', '[']) => String::new(),
            // An answer may span several lines.
            Some(text) => harmless(text.trim().replace('\n', " ").as_str()),
        })
        .collect();
    let shown = answers.iter().filter(|answer| !answer.is_empty()).count();
    let names: usize = said.iter().map(|(_, name, _)| 2 + name.chars().count()).sum();
    let fixed = moment.chars().count() + names + shown;
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(fixed));
    let longest = (room / shown.max(1)).min(LONGEST_SHOWN);
    let mut line = vec![(Ink::Neutral, moment.to_owned())];
    for ((seat, name, _), answer) in said.iter().zip(answers) {
        line.push((Ink::Plain, "  ".to_owned()));
        line.push((Ink::Seat(*seat), (*name).to_owned()));
        if !answer.is_empty() && longest >= SHORTEST_SHOWN {
            line.push((Ink::Plain, format!(" {}", cut(&answer, longest))));
        }
    }
    line
}

/// The number of columns a line takes.
fn width(line: &Line) -> usize {
    line.iter().map(|(_, piece)| piece.chars().count()).sum()
}

/// Cuts a text to at most `longest` characters.
fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    text.chars().take(longest.saturating_sub(1)).chain(['…']).collect()
}

/// A title, a picture and notes, fitted to a number of columns and rows. When room is short, the notes are dropped
/// first: they are also listed at the end of the match.
fn frame(title: &Line, picture: Picture, notes: &[Line], size: Option<(usize, usize)>) -> Picture {
    let mut lines = vec![title.clone()];
    let Some((columns, rows)) = size else {
        lines.extend(picture.lines);
        lines.extend_from_slice(notes);
        return Picture { lines };
    };
    let room = rows.saturating_sub(1).max(1);
    let wanted = room - notes.len().min(1);
    let mut drawn = fold(screen::fitted(picture, (columns, wanted)).lines, (columns, wanted));
    let scale = drawn.first().is_some_and(|line| line.iter().all(|(ink, _)| *ink == Ink::Dim));
    if drawn.len() > room && scale {
        drawn.remove(0);
    }
    if drawn.len() > room {
        let hidden = drawn.len() - (room - 1);
        drawn.truncate(room - 1);
        drawn.push(vec![(Ink::Dim, format!("… {hidden} more lines: make the window taller"))]);
    }
    let left = room - drawn.len();
    lines.extend(drawn);
    let more = notes.len().saturating_sub(left);
    for (index, note) in notes.iter().take(left).enumerate() {
        let mut line = note.clone();
        if more > 0 && index + 1 == left {
            line.insert(0, (Ink::Dim, format!("(and {more} more) ")));
        }
        // The sentence is the last piece.
        let over = width(&line).saturating_sub(columns);
        if let Some((_, sentence)) = line.last_mut() {
            *sentence = cut(sentence, sentence.chars().count().saturating_sub(over));
        }
        lines.push(line);
    }
    Picture { lines }
}

/// Puts the last lines of a picture that is too high side by side, in pairs, if they fit: often each is about one
/// player.
fn fold(mut lines: Vec<Line>, (columns, rows): (usize, usize)) -> Vec<Line> {
    const GAP: usize = 3;
    let mut at = lines.len();
    while lines.len() > rows && at >= 2 {
        at -= 2;
        if width(&lines[at]) + GAP + width(&lines[at + 1]) > columns {
            break;
        }
        let right = lines.remove(at + 1);
        lines[at].push((Ink::Plain, " ".repeat(GAP)));
        lines[at].extend(right);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<Line> {
        texts.iter().map(|text| vec![(Ink::Plain, (*text).to_owned())]).collect()
    }

    fn plain(lines: Vec<Line>) -> String {
        Picture { lines }.plain()
    }

    #[test]
    fn a_title_is_one_line_that_fits() {
        let [a, b] = [Seat::new(0), Seat::new(1)];
        let said = [(a, "ann", Some("MOVE 1\nSHOOT 2".to_owned())), (b, "bob", None)];
        let title = |columns| plain(vec![super::title("turn 3", &said, columns)]);
        assert_eq!(title(None), "turn 3  ann MOVE 1 SHOOT 2  bob (no answer)\n");
        assert_eq!(title(Some(36)), "turn 3  ann MOVE 1 S…  bob (no answ…\n");
        assert_eq!(title(Some(20)), "turn 3  ann  bob\n");
        let json = [(a, "ann", Some("{\"type\":1}".to_owned())), (b, "bob", Some("[]\n[]\n".to_owned()))];
        assert_eq!(plain(vec![super::title("tick 0", &json, None)]), "tick 0  ann  bob\n");
    }

    #[test]
    fn a_frame_is_not_higher_than_the_screen() {
        let title = lines(&["title"]).remove(0);
        let notes = lines(&["first", "second", "third"]);
        let picture = || {
            let mut lines = lines(&["0123", "row1", "row2", "A: 1", "B: 2"]);
            lines[0][0].0 = Ink::Dim;
            Picture { lines }
        };
        let frame = |size| frame(&title, picture(), &notes, size).plain();
        assert_eq!(frame(None), "title\n0123\nrow1\nrow2\nA: 1\nB: 2\nfirst\nsecond\nthird\n");
        assert_eq!(frame(Some((16, 8))), "title\n0123\nrow1\nrow2\nA: 1\nB: 2\nfirst\n(and 1 more) se…\n");
        assert_eq!(frame(Some((9, 6))), "title\n0123\nrow1\nrow2\nA: 1\nB: 2\n");
        assert_eq!(frame(Some((9, 5))), "title\nrow1\nrow2\nA: 1\nB: 2\n");
        assert_eq!(frame(Some((9, 4))), "title\nrow1\nrow2\n… 2 more lines: make the window taller\n");
        for rows in 1..9 {
            let lines = frame(Some((80, rows))).lines().count();
            assert!(lines <= rows.max(2), "{lines} lines in {rows} rows");
        }
    }

    #[test]
    fn the_last_lines_of_a_high_picture_stand_beside_each_other() {
        let folded = |rows| plain(fold(lines(&["a wide row", "A: 1", "B: 2", "C: 3", "D: 4"]), (11, rows)));
        assert_eq!(folded(5), "a wide row\nA: 1\nB: 2\nC: 3\nD: 4\n");
        assert_eq!(folded(4), "a wide row\nA: 1\nB: 2\nC: 3   D: 4\n");
        assert_eq!(folded(2), "a wide row\nA: 1   B: 2\nC: 3   D: 4\n");
    }
}
