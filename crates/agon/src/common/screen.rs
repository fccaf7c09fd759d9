//! Text for people: colours if wanted, pictures of boards, times.

use std::io::{self, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};

pub use agon_desk::words::{harmless, harmless_json, harmless_lines, milliseconds, score};
use agon_game::{Ink, Picture, Seat};
use unicode_width::UnicodeWidthStr as _;

/// Whether and how text is coloured.
#[derive(Clone, Copy)]
pub struct Screen {
    colour: bool,
}

/// The screen of standard output.
pub fn output() -> Screen {
    Screen { colour: wanted(std::io::stdout().is_terminal()) }
}

/// The screen of standard error.
pub fn errors() -> Screen {
    Screen { colour: wanted(std::io::stderr().is_terminal()) }
}

fn wanted(terminal: bool) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("NO_COLOR") {
        false
    } else {
        set("CLICOLOR_FORCE") || (terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb"))
    }
}

/// The colours of seats: readable on dark and light backgrounds, and distinct for the colour-blind.
const SEATS: [&str; 9] =
    ["38;5;208", "38;5;39", "38;5;77", "38;5;170", "38;5;178", "38;5;44", "38;5;203", "38;5;105", "38;5;245"];

impl Screen {
    /// Text without colours, whatever it is printed on.
    pub const PLAIN: Self = Self { colour: false };

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Important text.
    pub fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Secondary text.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Something good.
    pub fn good(self, text: &str) -> String {
        self.paint("32;1", text)
    }

    /// Something bad.
    pub fn bad(self, text: &str) -> String {
        self.paint("31;1", text)
    }

    /// Text about a seat.
    pub fn seat(self, seat: Seat, text: &str) -> String {
        self.paint(&format!("{};1", SEATS[seat.index() % SEATS.len()]), text)
    }

    /// The picture of a board.
    pub fn picture(self, picture: &Picture) -> String {
        let mut text = String::new();
        for line in &picture.lines {
            for (ink, piece) in line {
                let piece = &harmless(piece);
                text.push_str(&match ink {
                    Ink::Plain => piece.clone(),
                    Ink::Dim | Ink::Fog => self.dim(piece),
                    Ink::Wall => self.paint("38;5;245", piece),
                    Ink::Seat(seat) => self.seat(*seat, piece),
                    Ink::Neutral => self.paint("1", piece),
                    Ink::Treasure => self.paint("33;1", piece),
                    Ink::Danger => self.paint("31", piece),
                });
            }
            text.push('\n');
        }
        text
    }
}

/// A picture for standard output: [`fitted`] if that is a terminal. Some lines stand around it.
pub fn shown(picture: Picture) -> Picture {
    match size() {
        Some((columns, rows)) => fitted(picture, (columns, rows.saturating_sub(3))),
        None => picture,
    }
}

/// Whether `--wide` was given.
static WIDE: AtomicBool = AtomicBool::new(false);

/// Lets tables take their full width from now on.
pub fn widen() {
    WIDE.store(true, Ordering::Relaxed);
}

/// The width for tables: that of the terminal, else COLUMNS; unbounded if there is neither, and with `--wide`.
pub fn room() -> Option<usize> {
    if WIDE.load(Ordering::Relaxed) {
        return None;
    }
    let set = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|&columns| columns > 0);
    size().map(|(columns, _)| columns).or_else(set)
}

/// The width of prose that goes into a file or a pipe, where tables are as wide as they are.
const PROSE: usize = 80;

/// Folds the sentences among these lines at spaces, to the width for tables, and where that is unbounded to 80 columns, except for rows of
/// tables. The rest of a sentence stands under its beginning, that of a labelled line under what follows the label. Commands stay whole, to
/// be copied, and so does a path, being one word.
pub fn folded(text: &str) -> String {
    match room() {
        None if !WIDE.load(Ordering::Relaxed) => {
            let fold = |line: &str| match is_prose(line) {
                true => folded_to(line, Some(PROSE)),
                false => line.to_owned(),
            };
            text.split_inclusive('\n').map(fold).collect()
        }
        room => folded_to(text, room),
    }
}

/// The same for a message to the user, which stays one line where no terminal is: programs look for its words.
pub fn folded_message(text: &str) -> String {
    folded_to(text, room())
}

/// Whether a line is a sentence, perhaps after a label. A row of a table has more gaps, and a name with its path fewer words.
fn is_prose(line: &str) -> bool {
    let gaps = line.trim().split("  ").filter(|part| !part.trim().is_empty()).count().saturating_sub(1);
    gaps <= 1 && line.split_whitespace().count() > 3
}

fn folded_to(text: &str, room: Option<usize>) -> String {
    let Some(room) = room else { return text.to_owned() };
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if width(line) <= room || line.trim_start().starts_with("agon ") {
            folded.push_str(line);
            continue;
        }
        let indent = indent(line);
        let mut used = 0;
        for word in words(line) {
            let own = width(word.trim_end_matches(' '));
            if used > indent && used + own > room {
                folded.truncate(folded.trim_end_matches(' ').len());
                folded.push('\n');
                folded.push_str(&" ".repeat(indent));
                used = indent;
            }
            folded.push_str(word);
            used += width(word);
        }
    }
    folded
}

/// The words of a line, each with the spaces behind it. A command in backquotes is one.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    line.split_inclusive(move |sign| {
        quoted ^= sign == '`';
        sign == ' ' && !quoted
    })
}

/// Where what follows a label begins, or a sentence.
fn indent(line: &str) -> usize {
    let text = line.trim_start_matches(' ');
    let spaces = line.len() - text.len();
    let label = text.find("  ").filter(|at| *at <= 12 && !text[..*at].contains(['.', ':']));
    match label {
        Some(at) => spaces + width(&text[..at]) + text[at..].chars().take_while(|c| *c == ' ').count(),
        None => spaces,
    }
}

/// The width of a text without its colours and the end of its line.
fn width(text: &str) -> usize {
    let mut coloured = text.trim_end_matches('\n').split('\x1b');
    let first = coloured.next().map_or(0, |plain| plain.width());
    first + coloured.filter_map(|part| Some(part.split_once('m')?.1.width())).sum::<usize>()
}

/// Columns and rows of the terminal on standard output; none when it is not a terminal.
pub fn size() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    let (columns, rows) = (usize::from(size.ws_col), usize::from(size.ws_row));
    (columns > 0 && rows > 0).then_some((columns, rows))
}

/// Between two columns of a picture.
const GAP: usize = 2;

/// Splits a picture that is too high for a terminal into two columns if both fit side by side.
pub fn fitted(picture: Picture, (columns, rows): (usize, usize)) -> Picture {
    let half = picture.lines.len().div_ceil(2);
    let width = |line: &[(Ink, String)]| line.iter().map(|(_, piece)| piece.chars().count()).sum::<usize>();
    let widest = |lines: &[Vec<(Ink, String)>]| lines.iter().map(|line| width(line)).max().unwrap_or(0);
    let (left, right) = picture.lines.split_at(half);
    // The last lines are placed side by side: the first one is often a title.
    let above = half - right.len();
    let both = widest(&left[above..]) + widest(right);
    // Without a gap, two halves of a map would look like one.
    if picture.lines.len() <= rows || both + GAP > columns {
        return picture;
    }
    let gap = widest(&left[above..]) + GAP;
    let mut both = left.to_vec();
    for (line, right) in both[above..].iter_mut().zip(right) {
        line.push((Ink::Plain, " ".repeat(gap - width(line))));
        line.extend_from_slice(right);
    }
    Picture { lines: both }
}

/// Quotes what a bot wrote to standard error with a fault, below the line that reports the fault.
pub fn quote(out: &mut impl Write, screen: Screen, stderr: &[String]) -> io::Result<()> {
    stderr.iter().try_for_each(|line| writeln!(out, "  {} {}", screen.dim("|"), harmless(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_folded_and_commands_are_not() {
        let fold = |text: &str| folded_to(text, Some(20));
        assert_eq!(
            fold("short\n\nNote: one two three four five\n"),
            "short\n\nNote: one two three\nfour five\n"
        );
        assert_eq!(
            fold("Elo    43 (21 to 65, 95 %), corrected\n"),
            "Elo    43 (21 to 65,\n       95 %),\n       corrected\n"
        );
        assert_eq!(
            fold("  \u{1b}[31maaaa bbbb cccc dddd eeee\u{1b}[0m\n"),
            "  \u{1b}[31maaaa bbbb cccc\n  dddd eeee\u{1b}[0m\n"
        );
        let command = "  agon play cultist-wars a b --seed 1\n";
        assert_eq!(fold(command), command);
        assert_eq!(fold("Journal: /a/long/path/of/one/word\n"), "Journal:\n/a/long/path/of/one/word\n");
        assert_eq!(folded_to("one two three four five six", None), "one two three four five six");
        assert_eq!(
            fold("now type `agon serve status 'my cup'` there"),
            "now type\n`agon serve status 'my cup'`\nthere"
        );
        assert!(is_prose("Note: so it is") && is_prose("Elo     a b c"));
        assert!(
            !is_prose("1  my-bot  3.2 ms")
                && !is_prose("  1  my-bot one  3.2 ms")
                && !is_prose("Journal: /a/b")
        );
    }

    #[test]
    fn a_high_picture_is_shown_in_two_columns_where_they_fit() {
        let mut picture = Picture::new();
        for line in ["title", "aaa", "b", "ccc", "d"] {
            picture.line().put(Ink::Plain, line);
        }
        let fitted = |size| fitted(picture.clone(), size).plain();
        assert_eq!(fitted((80, 24)), "title\naaa\nb\nccc\nd\n");
        assert_eq!(fitted((10, 4)), "title\naaa  ccc\nb    d\n");
        assert_eq!(fitted((8, 4)), "title\naaa  ccc\nb    d\n");
        assert_eq!(fitted((7, 4)), "title\naaa\nb\nccc\nd\n", "there is no room beside it");
    }
}
