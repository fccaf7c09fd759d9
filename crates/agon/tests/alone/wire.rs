//! A machine's side of the worker protocol, as small as possible: it repeats a request until it is answered, even when the
//! server is killed in the middle.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agon_worker::wire::{Hello, PlayingMachine};
use serde::de::DeserializeOwned;

pub struct Wire {
    address: String,
    token: String,
    open: Option<BufReader<TcpStream>>,
}

impl Wire {
    pub fn new(url: &str, token: &str) -> Self {
        Self { address: url.trim_start_matches("http://").to_owned(), token: token.to_owned(), open: None }
    }

    /// Introduces a machine that contains bots as well as any.
    pub fn hello(&mut self) {
        let machine = PlayingMachine {
            level: "A".to_owned(),
            attacks: None,
            speed: agon_worker::speed::measure(),
            cpus: 1,
            jobs: 1,
            kernel: "test".to_owned(),
            packages: Vec::new(),
            languages: Vec::new(),
        };
        let hello = Hello { run: "ours".to_owned(), program: agon_replay::data::PROGRAM.to_owned(), machine };
        let hello = serde_json::to_vec(&hello).expect("plain data");
        let never = AtomicBool::new(false);
        let _: Option<serde_json::Value> = self.persist("POST", "/work/v1/hello", &hello, &never);
    }

    /// Asks until there is an answer; none if it is told to stop first.
    pub fn persist<T: DeserializeOwned>(
        &mut self,
        how: &str,
        path: &str,
        body: &[u8],
        stop: &AtomicBool,
    ) -> Option<T> {
        loop {
            match self.ask(how, path, body) {
                Ok((200, answer)) => {
                    return Some(serde_json::from_slice(&answer).expect("as it is documented"));
                }
                Ok((status, answer)) if status < 500 && status != 429 => {
                    panic!("{path}: {status} {}", String::from_utf8_lossy(&answer))
                }
                // The server is away, or has trouble of its own.
                _ => self.open = None,
            }
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn ask(&mut self, how: &str, path: &str, body: &[u8]) -> std::io::Result<(u16, Vec<u8>)> {
        let head = format!(
            "{how} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.address,
            self.token,
            body.len()
        );
        if self.open.is_none() {
            let stream = TcpStream::connect(&self.address)?;
            stream.set_read_timeout(Some(Duration::from_secs(30)))?;
            self.open = Some(BufReader::new(stream));
        }
        let Some(stream) = &mut self.open else { return Err(std::io::ErrorKind::NotConnected.into()) };
        stream.get_mut().write_all(&[head.as_bytes(), body].concat())?;
        let (mut status, mut length, mut line) = (0, 0, String::new());
        loop {
            line.clear();
            if stream.read_line(&mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let low = line.trim().to_ascii_lowercase();
            if let Some(rest) = low.strip_prefix("http/1.1 ") {
                status = rest.get(..3).and_then(|code| code.parse().ok()).unwrap_or(0);
            } else if let Some(bytes) = low.strip_prefix("content-length:") {
                length = bytes.trim().parse().unwrap_or(0);
            } else if low.is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        stream.read_exact(&mut answer)?;
        Ok((status, answer))
    }
}
