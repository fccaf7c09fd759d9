//! Messages over TCP, each preceded by its length in ten characters.

use std::io;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, Weak};

use rustix::io::Errno;

use crate::wire::{Filled, Inbox, Received, Wire};

/// Characters in the length.
const HEADER: usize = 10;

/// Length-prefixed messages over a connection.
pub struct Framed {
    stream: TcpStream,
    /// Bytes to write, of which the first `written` are done.
    outbox: Vec<u8>,
    written: usize,
    inbox: Inbox,
    longest: usize,
    /// Whether the last thing read was a message, so that another may already be here.
    more: bool,
    closed: bool,
}

impl Framed {
    /// Messages over `stream`. `longest` bounds a received one, in bytes.
    ///
    /// # Errors
    /// When the connection cannot be made non-blocking.
    pub fn new(stream: TcpStream, longest: usize) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        // A message is one small write, which must not wait until the previous one is acknowledged.
        stream.set_nodelay(true)?;
        let (outbox, inbox) = (Vec::new(), Inbox::default());
        Ok(Self { stream, outbox, written: 0, inbox, longest, more: false, closed: false })
    }

    /// Acknowledges at once what has come, and what comes next. The contest's clients write a reply's length and body
    /// separately, and their system holds the body back until the length is acknowledged, which our system would otherwise
    /// delay by 40 ms. The setting is lost with every message sent.
    fn acknowledge(&self) {
        let _ = rustix::net::sockopt::set_tcp_quickack(&self.stream, true);
    }

    /// Drops what has come and is just coming: after a wrong length nobody can tell where the next message begins, but a
    /// bot that is asked again begins a new one.
    fn skip_junk(&mut self) {
        let mut skipped = 0;
        loop {
            let count = self.inbox.bytes().len();
            skipped += count;
            self.inbox.drop_front(count);
            if skipped > self.longest || !matches!(self.inbox.fill(&self.stream), Filled::Some) {
                return;
            }
        }
    }
}

/// Parses the length in a header; spaces may surround it.
fn length(header: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(header).ok()?.trim_matches(|c: char| c.is_ascii_whitespace());
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

impl Wire for Framed {
    fn send(&mut self, message: &[u8]) {
        if self.closed {
            return;
        }
        // Length and message go out in one write: two small ones cost the originals 40 ms.
        write!(self.outbox, "{:>HEADER$}", message.len()).expect("writing to memory");
        self.outbox.extend_from_slice(message);
        self.flush();
        self.acknowledge();
    }

    fn flush(&mut self) {
        while self.written < self.outbox.len() {
            match rustix::io::write(&self.stream, &self.outbox[self.written..]) {
                Ok(count) => self.written += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // It is gone. Whether that matters shows when it must answer.
                Err(_) => self.written = self.outbox.len(),
            }
        }
        self.outbox.clear();
        self.written = 0;
    }

    fn unsent(&self) -> usize {
        self.outbox.len() - self.written
    }

    fn receive(&mut self, message: &mut Vec<u8>) -> Received {
        message.clear();
        self.more = false;
        while !self.closed {
            let bytes = self.inbox.bytes();
            if let Some(header) = bytes.first_chunk::<HEADER>() {
                let Some(length) = length(header) else {
                    let shown: String = String::from_utf8_lossy(header).into_owned();
                    self.skip_junk();
                    return Received::Garbled(format!(
                        "a reply must begin with its length in ten characters, such as `        12`, not with `{shown}`"
                    ));
                };
                if length > self.longest {
                    return Received::Broken(format!(
                        "a message of {length} bytes; at most {} are allowed",
                        self.longest
                    ));
                }
                if let Some(body) = bytes[HEADER..].get(..length) {
                    message.extend_from_slice(body);
                    self.inbox.drop_front(HEADER + length);
                    self.more = true;
                    return Received::Message;
                }
            }
            match self.inbox.fill(&self.stream) {
                Filled::Some => self.acknowledge(),
                Filled::Nothing => return Received::Nothing,
                Filled::Closed => return Received::Closed(self.inbox.bytes().len()),
            }
        }
        Received::Closed(0)
    }

    fn held(&self) -> &[u8] {
        if self.more { self.inbox.bytes() } else { &[] }
    }

    fn whole(&self) -> usize {
        let (mut rest, mut count) = (self.held(), 0);
        while let Some((header, behind)) = rest.split_at_checked(HEADER)
            && let Some(behind) = length(header).and_then(|length| behind.get(length..))
        {
            (rest, count) = (behind, count + 1);
        }
        count
    }

    fn reads(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    fn writes(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    fn close(&mut self) {
        self.flush();
        self.closed = true;
        self.outbox = Vec::new();
        self.written = 0;
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

/// Where bots connect. Seats waiting at one address share the listener, and the first to connect gets the first seat.
#[derive(Clone, Debug)]
pub struct Listener {
    socket: Arc<TcpListener>,
    address: SocketAddr,
}

/// Listeners in use at fixed addresses.
static OPEN: Mutex<Vec<(SocketAddr, Weak<TcpListener>)>> = Mutex::new(Vec::new());

impl Listener {
    /// Listens on a free port that only this machine can reach.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn open() -> Result<Self, String> {
        Self::new(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0))
    }

    /// Listens at a fixed address, shared with all other seats there.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn at(address: SocketAddr) -> Result<Self, String> {
        let mut open = OPEN.lock().unwrap_or_else(|poison| poison.into_inner());
        open.retain(|(_, socket)| socket.strong_count() > 0);
        let known = open.iter().find(|(other, _)| *other == address).and_then(|(_, socket)| socket.upgrade());
        if let Some(socket) = known {
            return Ok(Self { socket, address });
        }
        let own = Self::new(address)?;
        open.push((address, Arc::downgrade(&own.socket)));
        Ok(own)
    }

    fn new(address: SocketAddr) -> Result<Self, String> {
        let socket = TcpListener::bind(address)
            .map_err(|error| crate::process::peer::cannot_listen(address, &error))?;
        let address = socket.local_addr().map_err(|error| error.to_string())?;
        socket.set_nonblocking(true).map_err(|error| error.to_string())?;
        Ok(Self { socket: Arc::new(socket), address })
    }

    /// A listener in a sandbox's own network, where only the bot inside connects.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn inside(socket: OwnedFd) -> Result<Self, String> {
        let socket = TcpListener::from(socket);
        let address = socket.local_addr().map_err(|error| error.to_string())?;
        Ok(Self { socket: Arc::new(socket), address })
    }

    /// Where bots connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection, if there is one.
    pub fn accept(&self) -> Option<(TcpStream, SocketAddr)> {
        self.socket.accept().ok()
    }

    /// Becomes readable when somebody connects.
    pub fn reads(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::time::Duration;

    use super::*;

    /// Our end, and the bot's.
    fn pair(longest: usize) -> (Framed, TcpStream) {
        let listener = Listener::open().expect("a free port");
        let theirs = TcpStream::connect(listener.address()).expect("a connection");
        theirs.set_read_timeout(Some(Duration::from_secs(10))).expect("a limit");
        listener.socket.set_nonblocking(false).expect("waiting is fine here");
        let (ours, _) = listener.accept().expect("somebody");
        (Framed::new(ours, longest).expect("a connection"), theirs)
    }

    /// Waits until something comes.
    fn next(framed: &mut Framed, message: &mut Vec<u8>) -> Received {
        loop {
            match framed.receive(message) {
                Received::Nothing => {
                    let mut waits = [rustix::event::PollFd::from_borrowed_fd(
                        framed.reads(),
                        rustix::event::PollFlags::IN,
                    )];
                    let limit = rustix::time::Timespec { tv_sec: 10, tv_nsec: 0 };
                    assert_eq!(rustix::event::poll(&mut waits, Some(&limit)), Ok(1), "nothing came");
                }
                found => return found,
            }
        }
    }

    #[test]
    fn messages_have_their_length_in_front() {
        let (mut ours, mut theirs) = pair(100);
        ours.send(b"hello");
        let mut read = [0; 15];
        theirs.read_exact(&mut read).expect("15 bytes");
        assert_eq!(&read, b"         5hello");
        let mut message = Vec::new();
        theirs.write_all(b"        12[[0,[\"UP\"]]]").expect("room");
        assert_eq!(next(&mut ours, &mut message), Received::Message);
        assert_eq!(message, b"[[0,[\"UP\"]]]");
        assert_eq!(ours.receive(&mut message), Received::Nothing);
        // Two at once, and one in pieces.
        theirs.write_all(b"0000000002[]2         []   ").expect("room");
        assert_eq!(next(&mut ours, &mut message), Received::Message);
        assert!(!ours.held().is_empty(), "the second is here already");
        assert_eq!(ours.whole(), 1);
        assert_eq!(next(&mut ours, &mut message), Received::Message);
        assert_eq!(ours.receive(&mut message), Received::Nothing);
        assert!(ours.held().is_empty(), "waiting brings more of what has begun");
        assert_eq!(ours.whole(), 0);
        theirs.write_all(b"      3abc").expect("room");
        assert_eq!(next(&mut ours, &mut message), Received::Message);
        assert_eq!(message, b"abc");
        theirs.write_all(b"         9abc").expect("room");
        drop(theirs);
        assert_eq!(next(&mut ours, &mut message), Received::Closed(13));
    }

    #[test]
    fn what_comes_is_acknowledged_at_once() {
        let (mut ours, mut theirs) = pair(100);
        let at_once = |ours: &Framed| rustix::net::sockopt::tcp_quickack(&ours.stream);
        let mut message = Vec::new();
        // In such a conversation the system delays its acknowledgements unless told not to, each time.
        for _ in 0..50 {
            ours.send(b"?");
            assert_eq!(at_once(&ours), Ok(true), "for the length");
            theirs.read_exact(&mut [0; HEADER + 1]).expect("a question");
            theirs.write_all(b"         2").expect("room");
            while ours.inbox.bytes().is_empty() {
                assert_eq!(ours.receive(&mut message), Received::Nothing);
            }
            assert_eq!(at_once(&ours), Ok(true), "for the body");
            theirs.write_all(b"[]").expect("room");
            assert_eq!(next(&mut ours, &mut message), Received::Message);
        }
    }

    #[test]
    fn a_wrong_length_is_told_and_the_next_reply_counts() {
        let (mut ours, mut theirs) = pair(100_000);
        let mut message = Vec::new();
        for junk in ["[[0, [\"UP\"]]]\n", "        -1", "       1.5abc", "0x00000004[[]]"] {
            theirs.write_all(junk.as_bytes()).expect("room");
            let found = next(&mut ours, &mut message);
            assert!(matches!(&found, Received::Garbled(why) if why.contains("length")), "{junk}: {found:?}");
            theirs.write_all(b"         2[]").expect("room");
            assert_eq!(next(&mut ours, &mut message), Received::Message, "after {junk}");
        }
        theirs.write_all(b"         0").expect("room");
        assert_eq!(next(&mut ours, &mut message), Received::Message);
        assert!(message.is_empty());
    }

    #[test]
    fn a_message_has_a_bound_and_is_never_stored_before() {
        for huge in ["       101", "9999999999"] {
            let (mut ours, mut theirs) = pair(100);
            theirs.write_all(huge.as_bytes()).expect("room");
            let found = next(&mut ours, &mut Vec::new());
            assert!(matches!(&found, Received::Broken(why) if why.contains("at most 100")), "{found:?}");
        }
    }

    #[test]
    fn a_peer_that_never_reads_blocks_nothing() {
        let (mut ours, theirs) = pair(100);
        let big = vec![b'x'; 32 << 20];
        ours.send(&big);
        assert!(ours.unsent() > 0);
        drop(theirs);
        let until = std::time::Instant::now() + Duration::from_secs(10);
        while ours.unsent() > 0 && std::time::Instant::now() < until {
            ours.flush();
        }
        assert_eq!(ours.unsent(), 0, "what nobody can read is forgotten");
        ours.close();
        ours.send(b"more");
        assert_eq!((ours.unsent(), ours.receive(&mut Vec::new())), (0, Received::Closed(0)));
    }
}
