//! The beginning and the end of a text that may be much longer.

use std::collections::VecDeque;

/// How much of the end is searched for the start of a line, in bytes.
const LINE: usize = 1_000;

/// What is kept of a stream of which only so much may be kept: its beginning, where a program says what it is, and its end, where it
/// says what went wrong.
#[derive(Clone, Debug, Default)]
pub struct Excerpt {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

impl Excerpt {
    /// The excerpt of a text of which about `most` bytes are kept.
    pub fn of(text: &[u8], most: usize) -> Self {
        let mut excerpt = Self::default();
        excerpt.push(text, most);
        excerpt
    }

    /// Adds what came next; about `most` bytes are kept in all.
    pub fn push(&mut self, bytes: &[u8], most: usize) {
        let room = (most / 2).saturating_sub(self.head.len());
        // What follows a gap is not the beginning, even if there is more room by now.
        let room = if self.tail.is_empty() { room.min(bytes.len()) } else { 0 };
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let more = self.tail.len().saturating_sub(most / 2);
        self.tail.drain(..more);
        self.left_out += more;
    }

    /// The text; where something is left out, a line says so.
    pub fn text(&self) -> Vec<u8> {
        let (mut text, mut left_out) = (self.head.clone(), self.left_out);
        let (front, back) = self.tail.as_slices();
        let tail = [front, back].concat();
        let mut from = 0;
        if left_out > 0 {
            // From a whole line on, if one begins soon.
            from = tail.iter().take(LINE).position(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            left_out += from;
            if text.last().is_some_and(|&last| last != b'\n') {
                text.push(b'\n');
            }
            text.extend_from_slice(format!("[{left_out} bytes were left out here]\n").as_bytes());
        }
        text.extend_from_slice(&tail[from..]);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept_however_it_comes() {
        let lines: String = (0..1000).map(|n| format!("line {n}\n")).collect();
        for size in [1, 7, 1000, lines.len()] {
            let mut excerpt = Excerpt::default();
            lines.as_bytes().chunks(size).for_each(|chunk| excerpt.push(chunk, 400));
            let text = String::from_utf8(excerpt.text()).expect("text");
            assert!(text.starts_with("line 0\nline 1\n") && text.ends_with("line 998\nline 999\n"), "{text}");
            assert!(text.len() < 450 && text.contains(" bytes were left out here]\nline 9"), "{text}");
            let kept: usize =
                text.lines().filter(|line| line.starts_with("line")).map(|line| line.len() + 1).sum();
            let said = text
                .lines()
                .find_map(|line| line.strip_prefix('[')?.split(' ').next()?.parse::<usize>().ok());
            // The last line of the beginning may be cut.
            assert!(
                said.is_some_and(|said| said + kept <= lines.len() + 1 && said + kept + 10 > lines.len()),
                "{said:?} {kept}"
            );
        }
        assert_eq!(Excerpt::of(b"short", 400).text(), b"short");
        assert_eq!(Excerpt::of(&[b'x'; 400], 400).text(), [b'x'; 400]);
        assert!(Excerpt::of("ü".repeat(4000).as_bytes(), 400).text().len() < 450);
    }
}
