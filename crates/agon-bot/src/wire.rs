//! How messages travel: a [`Wire`] sends and receives whole messages over descriptors that never block.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

/// A connection that carries whole messages. None of its calls waits.
pub trait Wire: Send {
    /// Queues a message and writes what fits at once. Reading notices a peer that is gone.
    fn send(&mut self, message: &[u8]);

    /// Writes more of what is queued.
    fn flush(&mut self);

    /// Says that nothing more will be sent. What is still queued is dropped.
    fn finish(&mut self) {}

    /// How many bytes are queued and not yet written.
    fn unsent(&self) -> usize;

    /// The next message, put into `message` (which is cleared first).
    fn receive(&mut self, message: &mut Vec<u8>) -> Received;

    /// Bytes read that are not yet part of a returned message. If there are any, waiting for [`reads`](Wire::reads)
    /// may wait for what is already here.
    fn held(&self) -> &[u8];

    /// How many whole messages are in the [`held`](Wire::held) bytes.
    fn whole(&self) -> usize;

    /// Becomes readable when [`receive`](Wire::receive) may have more.
    fn reads(&self) -> BorrowedFd<'_>;

    /// Becomes writable when [`flush`](Wire::flush) can do more.
    fn writes(&self) -> BorrowedFd<'_>;

    /// Looks at what came while nobody waited for a message, and answers what the connection itself asks for.
    fn tend(&mut self) {}

    /// Says goodbye, if the protocol has a way to. Nothing is sent or received afterwards.
    fn close(&mut self) {}
}

/// The result of [`Wire::receive`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    Message,
    /// No whole message yet.
    Nothing,
    /// Not a message, for the reason given; a later one may be.
    Garbled(String),
    /// The other end is closed; this many bytes of an unfinished message came before.
    Closed(usize),
    /// More than is allowed, as the sentence says. Nothing more will come.
    Broken(String),
    /// A breach of the protocol, as the sentence says. Nothing more will come.
    Illegal(String),
}

/// Lines over a pair of pipes.
///
/// A line feed is sent after each message. A received line ends at a line feed, a carriage return, or both as one.
/// While nobody asks for a message, at most one read's worth is taken out of the pipe.
pub struct LineWire {
    input: OwnedFd,
    output: Option<OwnedFd>,
    outbox: VecDeque<u8>,
    inbox: Inbox,
    longest: usize,
    skip_line_feed: bool,
    /// Whether the pipe to the bot has been widened.
    widened: bool,
}

/// Bytes per read.
const READ: usize = 16 << 10;
/// Size of a widened pipe: the most that any user may ask for.
const WIDE: usize = 1 << 20;

impl LineWire {
    /// Lines written to `output` and read from `input`. `longest` bounds a received line, in bytes.
    ///
    /// # Errors
    /// When the descriptors cannot be made non-blocking.
    pub fn new(input: OwnedFd, output: OwnedFd, longest: usize) -> io::Result<Self> {
        crate::sys::never_block(&input)?;
        crate::sys::never_block(&output)?;
        let (outbox, inbox) = (VecDeque::new(), Inbox::default());
        Ok(Self {
            input,
            output: Some(output),
            outbox,
            inbox,
            longest,
            skip_line_feed: false,
            widened: false,
        })
    }

    /// The end of the line at the front of the inbox.
    fn line_end(&mut self) -> Option<usize> {
        if self.skip_line_feed && !self.inbox.bytes().is_empty() {
            self.skip_line_feed = false;
            if self.inbox.bytes()[0] == b'\n' {
                self.inbox.drop_front(1);
            }
        }
        let fresh = self.inbox.scanned;
        let found = self.inbox.bytes()[fresh..].iter().position(|&byte| byte == b'\n' || byte == b'\r');
        self.inbox.scanned = self.inbox.bytes().len();
        found.map(|at| fresh + at)
    }
}

impl Wire for LineWire {
    fn send(&mut self, message: &[u8]) {
        self.outbox.extend(message);
        self.outbox.push_back(b'\n');
        self.flush();
    }

    fn flush(&mut self) {
        while let Some(output) = self.output.as_ref().filter(|_| !self.outbox.is_empty()) {
            let (front, back) = self.outbox.as_slices();
            let chunk = if front.is_empty() { back } else { front };
            match rustix::io::write(output, chunk) {
                Ok(written) => drop(self.outbox.drain(..written)),
                Err(Errno::INTR) => {}
                // A long question should not wait for the bot to read its beginning.
                Err(Errno::AGAIN) if !self.widened => {
                    self.widened = true;
                    let _ = rustix::pipe::fcntl_setpipe_size(output, WIDE);
                }
                Err(Errno::AGAIN) => return,
                Err(_) => {
                    // It closed its input. Whether that matters shows when it must answer.
                    self.output = None;
                    self.outbox.clear();
                }
            }
        }
    }

    fn finish(&mut self) {
        self.output = None;
        self.outbox.clear();
    }

    fn unsent(&self) -> usize {
        self.outbox.len()
    }

    fn receive(&mut self, message: &mut Vec<u8>) -> Received {
        message.clear();
        loop {
            if let Some(end) = self.line_end().filter(|&end| end <= self.longest) {
                message.extend_from_slice(&self.inbox.bytes()[..end]);
                self.skip_line_feed = self.inbox.bytes()[end] == b'\r';
                self.inbox.drop_front(end + 1);
                return Received::Message;
            }
            if self.inbox.bytes().len() > self.longest {
                return Received::Broken(format!("a line longer than {} bytes", self.longest));
            }
            match self.inbox.fill(&self.input) {
                Filled::Some => {}
                Filled::Nothing => return Received::Nothing,
                Filled::Closed => return Received::Closed(self.inbox.bytes().len()),
            }
        }
    }

    fn held(&self) -> &[u8] {
        // The line feed of the previous line is not part of the next one.
        let bytes = self.inbox.bytes();
        if self.skip_line_feed { bytes.strip_prefix(b"\n").unwrap_or(bytes) } else { bytes }
    }

    fn whole(&self) -> usize {
        let held = self.held();
        let ends = held.iter().enumerate().filter(|&(at, &byte)| match byte {
            b'\n' => at == 0 || held[at - 1] != b'\r',
            byte => byte == b'\r',
        });
        ends.count()
    }

    /// Checks once for messages that nobody has asked for.
    fn tend(&mut self) {
        if self.inbox.bytes().is_empty() {
            let _ = self.inbox.fill(&self.input);
        }
    }

    fn reads(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    fn writes(&self) -> BorrowedFd<'_> {
        self.output.as_ref().unwrap_or(&self.input).as_fd()
    }
}

/// No connection: not any more, or not yet.
pub struct HungUp(File);

impl HungUp {
    /// Stands in for a connection that is dropped or not there yet.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new() -> io::Result<Self> {
        File::open("/dev/null").map(Self)
    }
}

impl Wire for HungUp {
    fn send(&mut self, _: &[u8]) {}

    fn flush(&mut self) {}

    fn unsent(&self) -> usize {
        0
    }

    fn receive(&mut self, _: &mut Vec<u8>) -> Received {
        Received::Closed(0)
    }

    fn held(&self) -> &[u8] {
        &[]
    }

    fn whole(&self) -> usize {
        0
    }

    fn reads(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    fn writes(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Bytes that were read and not yet used.
#[derive(Default)]
pub struct Inbox {
    buffer: Vec<u8>,
    start: usize,
    /// How many of the unused bytes have been searched for an end.
    scanned: usize,
}

/// The result of a read.
pub enum Filled {
    /// Bytes.
    Some,
    /// Nothing yet.
    Nothing,
    Closed,
}

impl Inbox {
    /// The unused bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Consumes the first `count` bytes.
    pub fn drop_front(&mut self, count: usize) {
        self.start += count;
        self.scanned = 0;
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.start = 0;
        }
    }

    /// Reads once.
    pub fn fill(&mut self, from: impl AsFd) -> Filled {
        if self.start > READ {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let before = self.buffer.len();
        self.buffer.reserve(READ);
        loop {
            match rustix::io::read(&from, rustix::buffer::spare_capacity(&mut self.buffer)) {
                Ok(0) => return Filled::Closed,
                Ok(_) => {
                    debug_assert!(self.buffer.len() > before);
                    return Filled::Some;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Filled::Nothing,
                Err(_) => return Filled::Closed,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Our end, and the bot's two ends.
    fn lines_of(longest: usize) -> (LineWire, OwnedFd, OwnedFd) {
        // Bots started by other tests must not hold these ends open.
        let pipe = || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("a pipe");
        let ((their_input, our_output), (our_input, their_output)) = (pipe(), pipe());
        (LineWire::new(our_input, our_output, longest).expect("pipes"), their_input, their_output)
    }

    /// Retries for a few seconds: a bot that another test is just starting holds the ends of our pipes until it
    /// runs its own program.
    fn until(mut holds: impl FnMut() -> bool) {
        for _ in 0..500 {
            if holds() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    #[test]
    fn every_line_end_is_one_line_end() {
        let (mut lines, _input, output) = lines_of(100);
        rustix::io::write(&output, b"a\nb\r\nc\rd\r").expect("room");
        let mut message = Vec::new();
        for expected in ["a", "b", "c", "d"] {
            assert_eq!(lines.receive(&mut message), Received::Message);
            assert_eq!(message, expected.as_bytes());
        }
        assert_eq!(lines.receive(&mut message), Received::Nothing);
        rustix::io::write(&output, b"\ne").expect("room");
        assert_eq!(lines.receive(&mut message), Received::Nothing, "the late line feed belongs to d");
        let (mut windows, _in, out) = lines_of(100);
        rustix::io::write(&out, b"WAIT\r\n").expect("room");
        assert_eq!(windows.receive(&mut message), Received::Message);
        assert_eq!(windows.held(), b"", "nothing is left of a line with a Windows end");
        rustix::io::write(&out, b"a\r\nb\r\nc\nd\re").expect("room");
        assert_eq!(windows.receive(&mut message), Received::Message);
        assert_eq!((windows.whole(), windows.held()), (3, &b"b\r\nc\nd\re"[..]));
        drop(output);
        let mut last = Received::Nothing;
        until(|| {
            last = lines.receive(&mut message);
            last != Received::Nothing
        });
        assert_eq!(last, Received::Closed(1));
    }

    #[test]
    fn a_line_has_a_bound() {
        let (mut lines, _input, output) = lines_of(10);
        rustix::io::write(&output, &[b'x'; 5_000]).expect("room");
        assert!(matches!(lines.receive(&mut Vec::new()), Received::Broken(_)));
        let (mut lines, _input, output) = lines_of(10);
        rustix::io::write(&output, b"0123456789\n0123456789x\n").expect("room");
        assert_eq!(lines.receive(&mut Vec::new()), Received::Message);
        assert!(matches!(lines.receive(&mut Vec::new()), Received::Broken(_)), "though its end is here");
    }

    #[test]
    fn a_peer_that_never_reads_blocks_nothing() {
        let (mut lines, input, _output) = lines_of(10);
        let big = vec![b'x'; 2 << 20];
        lines.send(&big);
        assert!(lines.unsent() > 0);
        drop(input);
        until(|| {
            lines.flush();
            lines.unsent() == 0
        });
        assert_eq!(lines.unsent(), 0, "what nobody can read is forgotten");
    }
}
