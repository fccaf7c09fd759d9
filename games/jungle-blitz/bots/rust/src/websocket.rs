//! A WebSocket connection with nothing but Rust's own library: text messages, as RFC 6455 frames them.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

const TEXT: u8 = 0x1;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xA;

pub struct WebSocket {
    stream: TcpStream,
    input: BufReader<TcpStream>,
}

impl WebSocket {
    /// Connects to an address such as `ws://127.0.0.1:8765`.
    pub fn connect(address: &str) -> io::Result<Self> {
        let place = address.strip_prefix("ws://").unwrap_or(address);
        let (place, path) = place.split_once('/').unwrap_or((place, ""));
        let mut stream =
            if place.contains(':') { TcpStream::connect(place)? } else { TcpStream::connect((place, 80))? };
        // A command is one small write; it must not wait until the one before is acknowledged.
        stream.set_nodelay(true)?;
        // The key proves to the server that we mean WebSocket; any 16 bytes will do.
        write!(
            stream,
            "GET /{path} HTTP/1.1\r\nHost: {place}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: anVuZ2xlIGJsaXR6IGM=\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )?;
        let mut own = Self { input: BufReader::new(stream.try_clone()?), stream };
        let status = own.line()?;
        if !status.contains(" 101 ") {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("this is no WebSocket: {status}")));
        }
        while !own.line()?.is_empty() {} // headers
        Ok(own)
    }

    /// Sends a text message.
    pub fn send(&mut self, text: &str) -> io::Result<()> {
        self.write(TEXT, text.as_bytes())
    }

    /// Waits for the next message; none when the server has closed the connection.
    pub fn receive(&mut self) -> io::Result<Option<String>> {
        let mut message = Vec::new();
        loop {
            let (last, kind, content) = match self.frame() {
                Ok(frame) => frame,
                Err(error) if is_closed(&error) => return Ok(None),
                Err(error) => return Err(error),
            };
            match kind {
                CLOSE => return Ok(None),
                PING => self.write(PONG, &content)?,
                PONG => {}
                _ => {
                    message.extend(content);
                    if last {
                        let text = String::from_utf8(message);
                        return text.map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error));
                    }
                }
            }
        }
    }

    /// The next frame: whether it is the last of its message, its kind and its content.
    fn frame(&mut self) -> io::Result<(bool, u8, Vec<u8>)> {
        let [first, second] = self.bytes()?;
        let length = match second & 0x7F {
            126 => u64::from(u16::from_be_bytes(self.bytes()?)),
            127 => u64::from_be_bytes(self.bytes()?),
            short => u64::from(short),
        };
        let mut content = Vec::new();
        if (&mut self.input).take(length).read_to_end(&mut content)? as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok((first & 0x80 != 0, first & 0x0F, content))
    }

    fn bytes<const COUNT: usize>(&mut self) -> io::Result<[u8; COUNT]> {
        let mut bytes = [0; COUNT];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// A line of the handshake, without its end.
    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.input.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    /// A client masks what it sends. The mask protects old proxies; zeros will do here.
    fn write(&mut self, kind: u8, content: &[u8]) -> io::Result<()> {
        let mut frame = vec![0x80 | kind];
        match content.len() {
            length @ 0..=125 => frame.push(0x80 | length as u8),
            length @ 126..=0xFFFF => {
                frame.push(0x80 | 126);
                frame.extend((length as u16).to_be_bytes());
            }
            length => {
                frame.push(0x80 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(content);
        match self.stream.write_all(&frame) {
            // Reading says so.
            Err(error) if is_closed(&error) => Ok(()),
            written => written,
        }
    }
}

/// Whether the match is over, and the server gone.
fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}
