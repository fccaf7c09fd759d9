//! Text messages over WebSocket.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use tungstenite::error::{CapacityError, ProtocolError};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use crate::wire::{Received, Wire};

/// How many bytes beyond the longest message may come without a whole message among them: pings, pieces,
/// headers.
const SLACK: usize = 64 << 10;
/// Upper limit on bytes that wait for a client to read them.
const MOST_UNREAD: usize = 16 << 20;
/// How many messages, and bytes of messages, are kept while nobody asks for one.
const MOST_KEPT: (usize, usize) = (64, 256 << 10);

/// How to read connections.
pub(crate) fn config(longest: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .max_message_size(Some(longest))
        .max_frame_size(Some(longest))
}

/// A connection with a client, after the handshake.
pub struct Connection {
    socket: WebSocket<Stream>,
    /// Messages that came while nobody was asking.
    kept: VecDeque<Vec<u8>>,
    /// Whether the last thing read was a message, so that another may already be here.
    more: bool,
    ended: Option<Received>,
}

impl Connection {
    pub(crate) fn new(socket: WebSocket<Stream>) -> Self {
        Self { socket, kept: VecDeque::new(), more: false, ended: None }
    }

    /// A connection from which these bytes were read since the handshake.
    pub(crate) fn resume(socket: TcpStream, read: Vec<u8>, longest: usize) -> io::Result<Self> {
        let stream = Stream::new(socket, longest)?;
        let config = Some(config(longest));
        Ok(Self::new(WebSocket::from_partially_read(stream, read, Role::Server, config)))
    }

    /// Drops our copy of a connection that belongs to somebody else now.
    pub(crate) fn let_go(mut self) {
        self.ended = Some(Received::Closed(0));
        self.stream().is_open = false;
    }

    pub(crate) fn stream(&mut self) -> &mut Stream {
        self.socket.get_mut()
    }

    /// Sets the longest message from now on.
    pub(crate) fn set_longest(&mut self, longest: usize) {
        self.socket.set_config(|own| *own = config(longest));
        self.stream().most = longest + SLACK;
    }

    /// Reads until a message is complete, or no more bytes are here.
    fn read(&mut self, message: &mut Vec<u8>) -> Received {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let found = loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => message.extend_from_slice(text.as_bytes()),
                Ok(Message::Binary(bytes)) => message.extend_from_slice(&bytes),
                // Pings are answered by now; a close is answered at the next read.
                Ok(_) => continue,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Received::Nothing;
                }
                Err(error) => break self.ending(&error),
            }
            self.stream().read = 0;
            return Received::Message;
        };
        self.ended = Some(found.clone());
        found
    }

    /// What an error means for the conversation.
    fn ending(&self, error: &Error) -> Received {
        match error {
            Error::Io(error) if error.kind() == io::ErrorKind::QuotaExceeded => {
                Received::Broken("bytes without end and no complete message among them".to_owned())
            }
            Error::Io(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                Received::Broken("pings without reading what they are answered with".to_owned())
            }
            Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
                Received::Broken(format!("a message of {size} bytes; at most {max_size} are allowed"))
            }
            Error::Capacity(error) => Received::Broken(format!("too much: {error}")),
            Error::Utf8(_) => Received::Illegal("a text that is not UTF-8".to_owned()),
            Error::ConnectionClosed
            | Error::AlreadyClosed
            | Error::Io(_)
            | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Received::Closed(0),
            error => Received::Illegal(format!("what is not a WebSocket message: {error}")),
        }
    }
}

impl Wire for Connection {
    fn send(&mut self, message: &[u8]) {
        // Searching for invalid UTF-8 piece by piece costs more than everything else here.
        let text = match std::str::from_utf8(message) {
            Ok(text) => text.to_owned(),
            Err(_) => String::from_utf8_lossy(message).into_owned(),
        };
        // If it is gone, that shows when it must answer.
        let _ = self.socket.send(Message::text(text));
    }

    fn flush(&mut self) {
        let _ = self.socket.flush();
    }

    fn unsent(&self) -> usize {
        self.socket.get_ref().unsent()
    }

    fn receive(&mut self, message: &mut Vec<u8>) -> Received {
        message.clear();
        if let Some(kept) = self.kept.pop_front() {
            message.extend_from_slice(&kept);
            self.more = true;
            return Received::Message;
        }
        let found = self.read(message);
        self.more = found == Received::Message;
        found
    }

    /// Not the bytes themselves; only shows whether there may be some.
    fn held(&self) -> &[u8] {
        if self.more || !self.kept.is_empty() { b"\0" } else { &[] }
    }

    /// The messages that [`tend`](Wire::tend) has read.
    fn whole(&self) -> usize {
        self.kept.len()
    }

    fn reads(&self) -> BorrowedFd<'_> {
        self.socket.get_ref().socket.as_fd()
    }

    fn writes(&self) -> BorrowedFd<'_> {
        self.socket.get_ref().socket.as_fd()
    }

    /// Answers pings, and keeps a few messages.
    fn tend(&mut self) {
        let mut kept: usize = self.kept.iter().map(Vec::len).sum();
        while self.kept.len() < MOST_KEPT.0 && kept < MOST_KEPT.1 {
            let mut message = Vec::new();
            if self.read(&mut message) != Received::Message {
                // Everything here has been read.
                self.more = false;
                return;
            }
            kept += message.len();
            self.kept.push_back(message);
        }
    }

    /// A close frame without a code, like the original's.
    fn close(&mut self) {
        if self.ended.replace(Received::Closed(0)).is_none() {
            let _ = self.socket.close(None);
            let _ = self.socket.flush();
        }
        self.kept.clear();
        self.stream().shut();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

/// The bytes of a connection. Writing never fails or waits: what the socket does not accept stays here.
/// Reading never waits and is bounded.
pub(crate) struct Stream {
    socket: Arc<TcpStream>,
    outbox: Vec<u8>,
    written: usize,
    /// Bytes read since the last whole message.
    read: usize,
    most: usize,
    /// What was read since the handshake, while wanted.
    history: Option<Vec<u8>>,
    /// Whether it is up to us to end the sending side.
    is_open: bool,
}

impl Stream {
    pub(crate) fn new(socket: TcpStream, longest: usize) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        let (socket, most) = (Arc::new(socket), longest + SLACK);
        Ok(Self { socket, outbox: Vec::new(), written: 0, read: 0, most, history: None, is_open: true })
    }

    /// The socket itself, for a last word when the stream is gone.
    pub(crate) fn socket(&self) -> Arc<TcpStream> {
        Arc::clone(&self.socket)
    }

    /// Records what is read from now on.
    pub(crate) fn remember(&mut self) {
        self.read = 0;
        self.history = Some(Vec::new());
    }

    /// Returns what was recorded, and forgets it.
    pub(crate) fn recall(&mut self) -> Vec<u8> {
        self.history.take().unwrap_or_default()
    }

    fn unsent(&self) -> usize {
        self.outbox.len() - self.written
    }

    /// Ends the sending side, and reads what is there: otherwise the system would discard what the
    /// client has not read yet.
    fn shut(&mut self) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let _ = self.socket.shutdown(Shutdown::Write);
        let mut junk = [0; 16 << 10];
        for _ in 0..16 {
            if !matches!((&*self.socket).read(&mut junk), Ok(1..)) {
                break;
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read >= self.most {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let count = (&*self.socket).read(buffer)?;
        self.read += count;
        if let Some(history) = &mut self.history {
            history.extend_from_slice(&buffer[..count]);
        }
        Ok(count)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.flush()?;
        let count = match self.outbox.is_empty() {
            true => match (&*self.socket).write(bytes) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                // If it is gone, that shows when it must answer.
                Err(_) => bytes.len(),
            },
            false => 0,
        };
        self.outbox.extend_from_slice(&bytes[count..]);
        if self.unsent() > MOST_UNREAD { Err(io::ErrorKind::OutOfMemory.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.written < self.outbox.len() {
            match (&*self.socket).write(&self.outbox[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(_) => self.written = self.outbox.len(),
            }
        }
        self.outbox.clear();
        self.written = 0;
        Ok(())
    }
}
