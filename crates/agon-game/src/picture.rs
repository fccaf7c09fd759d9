//! A drawing of a board for a terminal: text marked by meaning, not by colour.

use crate::Seat;

/// What a piece of text means. The command line chooses colours, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Ordinary text.
    Plain,
    /// Background: floor, frame, coordinates.
    Dim,
    /// Walls and obstacles.
    Wall,
    /// What belongs to a seat.
    Seat(Seat),
    /// What belongs to nobody.
    Neutral,
    /// What is worth having: gold, diamonds, resources.
    Treasure,
    /// Fire and other harm.
    Danger,
    /// Hidden from the seat the picture is for.
    Fog,
}

/// Lines of inked text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// The lines, top first; each a list of pieces, left first.
    pub lines: Vec<Vec<(Ink, String)>>,
}

impl Picture {
    /// An empty picture.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a new line.
    pub fn line(&mut self) -> &mut Self {
        self.lines.push(Vec::new());
        self
    }

    /// Appends `text` to the last line.
    pub fn put(&mut self, ink: Ink, text: impl Into<String>) -> &mut Self {
        if self.lines.is_empty() {
            self.line();
        }
        let line = self.lines.last_mut().expect("a line was just made sure of");
        match line.last_mut() {
            Some((last, piece)) if *last == ink => piece.push_str(&text.into()),
            _ => line.push((ink, text.into())),
        }
        self
    }

    /// The picture without ink, one line feed after each line.
    pub fn plain(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            line.iter().for_each(|(_, piece)| text.push_str(piece));
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
        text
    }
}
