//! Tables that fit the terminal: names are shortened in the middle, then the least useful columns are dropped.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Names are never made shorter than this.
const SHORTEST: usize = 12;
/// Between two columns.
const GAP: usize = 2;

/// Colours a text; its width stays the same.
type Paint = Box<dyn Fn(&str) -> String>;

struct Column {
    title: String,
    left: bool,
    /// The order of being dropped: the highest first, 0 never.
    less_useful: u8,
}

/// A cell, and its colouring.
pub(crate) struct Cell {
    text: String,
    paint: Option<Paint>,
}

impl Cell {
    /// A cell in a colour.
    pub fn painted(text: impl Into<String>, paint: impl Fn(&str) -> String + 'static) -> Self {
        Self { text: text.into(), paint: Some(Box::new(paint)) }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), paint: None }
    }
}

/// A table with a row of titles.
#[derive(Default)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// A column of names, which are shortened when space is short.
    pub fn names(mut self, title: &str) -> Self {
        self.columns.push(Column { title: title.to_owned(), left: true, less_useful: 0 });
        self
    }

    /// A column of numbers. `less_useful` is the order of being dropped: the highest first, 0 never.
    pub fn numbers(mut self, title: impl Into<String>, less_useful: u8) -> Self {
        self.columns.push(Column { title: title.into(), left: false, less_useful });
        self
    }

    /// A row, with a cell for each column.
    pub fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// The table as text, at most `room` columns wide if possible. Dropped columns are named below it.
    pub fn text(&self, room: Option<usize>) -> String {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        let mut widths: Vec<usize> = shown.iter().map(|&column| self.width(column)).collect();
        let wide = |shown: &[usize], widths: &[usize]| {
            shown.iter().map(|&column| widths[column] + GAP).sum::<usize>().saturating_sub(GAP)
        };
        let mut left_out: Vec<&str> = Vec::new();
        if let Some(room) = room {
            loop {
                let over = wide(&shown, &widths).saturating_sub(room);
                if over == 0 {
                    break;
                }
                // The widest names first, while they can still be told apart.
                let longest = (shown.iter().copied())
                    .filter(|&column| self.columns[column].left && widths[column] > SHORTEST)
                    .max_by_key(|&column| widths[column]);
                let spare: usize = (shown.iter())
                    .filter(|&&column| self.columns[column].left)
                    .map(|&column| widths[column].saturating_sub(SHORTEST))
                    .sum();
                if let Some(longest) = longest.filter(|_| spare >= over) {
                    widths[longest] -= 1;
                    continue;
                }
                let least = (shown.iter().copied())
                    .filter(|&column| self.columns[column].less_useful > 0)
                    .max_by_key(|&column| self.columns[column].less_useful);
                match (least, longest) {
                    (Some(least), _) => {
                        shown.retain(|&column| column != least);
                        left_out.push(&self.columns[least].title);
                    }
                    (None, Some(longest)) => widths[longest] -= 1,
                    (None, None) => break,
                }
            }
        }
        let mut text = String::new();
        let titles = self.columns.iter().map(|column| Cell::from(column.title.as_str())).collect();
        for row in std::iter::once(&titles).chain(&self.rows) {
            let cells = shown.iter().map(|&column| self.cell(&row[column], column, widths[column]));
            let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        if !left_out.is_empty() {
            text.push_str(&format!("({} left out; --wide shows all)\n", left_out.join(", ")));
        }
        text
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].text.width());
        cells.chain([self.columns[column].title.width()]).max().unwrap_or(0)
    }

    fn cell(&self, cell: &Cell, column: usize, width: usize) -> String {
        let text = shortened(&cell.text, width);
        let pad = " ".repeat(width.saturating_sub(text.width()));
        let painted = cell.paint.as_ref().map_or_else(|| text.clone(), |paint| paint(&text));
        if self.columns[column].left { painted + &pad } else { pad + &painted }
    }
}

/// Shortens a text to at most `width` columns, cutting the middle because names differ at their ends.
pub fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let Some(room) = width.checked_sub(1) else { return String::new() };
    let take = |room: usize, chars: &mut dyn Iterator<Item = char>| {
        let mut used = 0;
        chars
            .take_while(|c| {
                used += c.width().unwrap_or(0);
                used <= room
            })
            .collect::<Vec<char>>()
    };
    let start = take(room / 2, &mut text.chars());
    let end = take(room - room / 2, &mut text.chars().rev());
    start.into_iter().chain(['…']).chain(end.into_iter().rev()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new().numbers("seat", 0).names("bot").numbers("score", 0).numbers("mean", 1);
        table = table.numbers("longest", 2);
        for (seat, bot) in [("1", "experiments/2025/seeker-with-a-long-name/bot.py"), ("2", "日本語のボット")]
        {
            table.row(vec![
                seat.into(),
                Cell::painted(bot, |text| text.to_owned()),
                "1000".into(),
                "1 ms".into(),
                "2 ms".into(),
            ]);
        }
        table
    }

    #[test]
    fn a_table_is_never_wider_than_its_room() {
        for room in 28..120 {
            let text = table().text(Some(room));
            let lines = text.lines().filter(|line| !line.starts_with('('));
            assert!(lines.clone().all(|line| line.width() <= room), "{room}:\n{text}");
            assert_eq!(lines.count(), 3, "{text}");
        }
        assert!(table().text(None).contains("experiments/2025/seeker-with-a-long-name/bot.py"));
    }

    #[test]
    fn names_are_shortened_before_columns_are_left_out() {
        let text = table().text(Some(60));
        assert!(text.contains("longest") && text.contains('…') && !text.contains("left out"), "{text}");
        let text = table().text(Some(30));
        assert!(text.contains("(longest, mean left out; --wide shows all)"), "{text}");
    }

    #[test]
    fn a_name_keeps_both_ends() {
        assert_eq!(shortened("experiments/bot.py", 9), "expe…t.py");
        assert_eq!(shortened("bot.py", 6), "bot.py");
        assert_eq!(shortened("日本語", 4), "…語");
        assert_eq!((shortened("abc", 1), shortened("abc", 0)), ("…".to_owned(), String::new()));
    }
}
