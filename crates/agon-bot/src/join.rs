//! Bots that join from elsewhere: the protocol between `agon join` and the agon that waits for it.
//!
//! Longer than 500 lines: both ends of one protocol, which must agree.
//!
//! The waiting agon starts itself again as a doorkeeper ([`SUBCOMMAND`]), which the referee treats as a bot like any
//! other. The doorkeeper listens where it was told to, admits whoever knows the token, and relays bytes: between the
//! joined bot and its own pipes, or, where bots of the game dial in, to the game's port on this machine, which stays on
//! the loopback. Nothing here knows a game or a protocol of one. Nothing is encrypted either: across a network that
//! others can read, use `ssh -L`.
//!
//! A frame is its kind (one byte), the length of its content (four bytes, big-endian) and the content.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use crate::run::Run;

/// The hidden subcommand that makes our program the doorkeeper.
pub const SUBCOMMAND: &str = "__join";

/// The port of a plain `join:`, on this machine.
pub const PORT: u16 = 7878;

/// The start of a connection; the last byte is the protocol's version.
const GREETING: &[u8; 8] = b"AGONJN\n\x01";
/// How long a client may take to show its token.
const TO_SHOW_TOKEN: Duration = Duration::from_secs(5);
/// How long a bot that has joined may take to start, and to dial in if it does that.
pub const TO_START: Duration = Duration::from_secs(60);
/// An end that is silent for this long counts as gone.
const SILENCE: Duration = Duration::from_secs(30);
/// How often an end shows that it is alive.
const PING: Duration = Duration::from_secs(5);
/// Longest content of a frame.
const LARGEST: usize = 64 << 10;
/// Upper limit on clients still on their way.
const MOST_CLIENTS: usize = 32;
/// The shortest and the longest token, in bytes.
const TOKEN: std::ops::RangeInclusive<usize> = 16..=1024;

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// From the bot's side: the token.
    Token = 1,
    /// To the bot's side: a [`Welcome`].
    Welcome = 2,
    /// To the bot's side: why it may not join, a sentence.
    Refused = 3,
    /// From the bot's side: the bot runs and talks in lines; its name.
    Lines = 4,
    /// From the bot's side: the bot runs and has dialled in; its name.
    Dialled = 5,
    /// What the bot says or hears.
    Bytes = 6,
    /// The bot's standard error.
    Errors = 7,
    /// From the bot's side: the bot is gone, a sentence. To it: the match is over.
    Over = 8,
    /// Still alive.
    Ping = 9,
}

impl FrameKind {
    const ALL: [Self; 9] = [
        Self::Token,
        Self::Welcome,
        Self::Refused,
        Self::Lines,
        Self::Dialled,
        Self::Bytes,
        Self::Errors,
        Self::Over,
        Self::Ping,
    ];
}

/// What a bot must know about the match it joins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    pub game: String,
    /// The name of its rules, which selects the contest's client.
    pub rules: String,
    /// Number of seats.
    pub seats: u8,
    /// The bot's seat, from 1.
    pub seat: u8,
    /// The seed of the match, used by scripts.
    pub seed: i64,
    /// The token that identifies the bot where it dials in.
    pub token: Option<String>,
}

/// The file of the run with the token of those who join.
///
/// # Errors
/// A sentence, when there is none or it is unusable.
pub fn token_file(run: &Run) -> Result<PathBuf, String> {
    let file = run.token_file.as_ref().ok_or_else(|| {
        "a `join:` seat needs a token. Make a file with one: `(umask 077; head -c 24 /dev/urandom | base64 > token)`. Then add \
         --join-token token here, and copy the file to the machine that joins"
            .to_owned()
    })?;
    read_token(file)?;
    std::path::absolute(file).map_err(|error| error.to_string())
}

/// Reads a token.
///
/// # Errors
/// A sentence, when the file cannot be read, is readable by others, or holds no valid token.
pub fn read_token(path: &Path) -> Result<Vec<u8>, String> {
    let shown = path.display();
    let failed = |error: io::Error| format!("token file {shown}: {error}");
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(format!("token file {shown}: not a file"));
    }
    if about.mode() & 0o077 != 0 {
        return Err(format!("token file {shown}: other users can read it; run chmod 600 {shown}"));
    }
    let mut token = Vec::new();
    let most = *TOKEN.end() as u64 + 2;
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut token)).map_err(failed)?;
    let token = token.trim_ascii().to_vec();
    if !TOKEN.contains(&token.len()) {
        let (least, most) = (TOKEN.start(), TOKEN.end());
        return Err(format!("token file {shown}: a token has {least} to {most} bytes, not {}", token.len()));
    }
    Ok(token)
}

/// Compares two tokens in a time that does not reveal where they differ.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

/// One end of a connection; both directions may be used at the same time.
#[derive(Clone)]
pub struct JoinLink {
    reads: Arc<TcpStream>,
    writes: Arc<Mutex<TcpStream>>,
}

impl JoinLink {
    fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(SILENCE))?;
        stream.set_read_timeout(Some(SILENCE))?;
        Ok(Self { writes: Arc::new(Mutex::new(stream.try_clone()?)), reads: Arc::new(stream) })
    }

    /// Sends a frame, or several if the content is long.
    ///
    /// # Errors
    /// Those of the system.
    pub fn send(&self, kind: FrameKind, content: &[u8]) -> io::Result<()> {
        let mut writes = self.writes.lock().unwrap_or_else(|poison| poison.into_inner());
        let mut rest = content;
        loop {
            let (part, more) = rest.split_at(rest.len().min(LARGEST));
            let mut frame = Vec::with_capacity(part.len() + 5);
            frame.push(kind as u8);
            frame.extend_from_slice(&(part.len() as u32).to_be_bytes());
            frame.extend_from_slice(part);
            writes.write_all(&frame)?;
            rest = more;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// The next frame; none when the other end has closed the connection.
    ///
    /// # Errors
    /// A sentence, when the other end is silent or breaks the protocol.
    pub fn receive(&self) -> Result<Option<(FrameKind, Vec<u8>)>, String> {
        use ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
        match read_frame(&mut &*self.reads) {
            Ok(frame) => Ok(Some(frame)),
            Err(error) if [UnexpectedEof, ConnectionReset, BrokenPipe].contains(&error.kind()) => Ok(None),
            Err(error) => Err(lost(&error)),
        }
    }

    /// The same where the other end has no reason to close the connection.
    fn expect(&self) -> Result<(FrameKind, Vec<u8>), String> {
        self.receive()?.ok_or_else(|| "the connection was lost".to_owned())
    }

    /// Keeps showing that this end is alive; tells `done` once that fails.
    pub fn keep_alive<T: Send + 'static>(&self, done: Sender<T>, word: T) {
        let line = self.clone();
        std::thread::spawn(move || {
            while line.send(FrameKind::Ping, b"").is_ok() {
                std::thread::sleep(PING);
            }
            let _ = done.send(word);
        });
    }

    /// Passes on everything from `source`, and tells `done` when it ends.
    pub fn pass_on<T: Send + 'static>(
        &self,
        kind: FrameKind,
        mut source: impl Read + Send + 'static,
        done: Sender<T>,
        word: T,
    ) {
        let line = self.clone();
        std::thread::spawn(move || {
            let mut buffer = vec![0; LARGEST];
            loop {
                match source.read(&mut buffer) {
                    Ok(length @ 1..) if line.send(kind, &buffer[..length]).is_ok() => {}
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    _ => break,
                }
            }
            let _ = done.send(word);
        });
    }
}

fn lost(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            format!("the connection was lost: nothing was heard for {} s", SILENCE.as_secs())
        }
        ErrorKind::InvalidData => format!("the other end does not keep to the form: {error}"),
        _ => "the connection was lost".to_owned(),
    }
}

fn read_frame(from: &mut impl Read) -> io::Result<(FrameKind, Vec<u8>)> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let bad = |why: String| io::Error::new(ErrorKind::InvalidData, why);
    let kind = FrameKind::ALL.into_iter().find(|kind| *kind as u8 == head[0]);
    let kind = kind.ok_or_else(|| bad(format!("there is no frame of kind {}", head[0])))?;
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    if length > LARGEST {
        return Err(bad(format!("a frame of {length} bytes")));
    }
    let mut content = vec![0; length];
    from.read_exact(&mut content)?;
    Ok((kind, content))
}

/// Reads until a deadline, however slowly the bytes come.
struct Until<'a>(&'a TcpStream, Instant);

impl Read for Until<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let left = self.1.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.0.set_read_timeout(Some(left))?;
        (&mut &*self.0).read(to)
    }
}

/// Joins the match that waits at an address.
///
/// # Errors
/// A sentence, when nobody waits there, or it does not let us in.
pub fn join(address: &str, token: &[u8]) -> Result<(JoinLink, Welcome), String> {
    let nobody = |error: io::Error| match error.kind() {
        ErrorKind::ConnectionRefused => format!(
            "nobody waits at {address}: start the match first, with a seat `join:...` on this port, or another bot has already \
             joined"
        ),
        _ => format!("{address}: {error}"),
    };
    let stream = TcpStream::connect(address).map_err(nobody)?;
    let line = JoinLink::new(stream).map_err(|error| error.to_string())?;
    let greeted = line.writes.lock().unwrap_or_else(|poison| poison.into_inner()).write_all(GREETING);
    greeted.and_then(|()| line.send(FrameKind::Token, token)).map_err(|error| lost(&error))?;
    match line.expect() {
        Ok((FrameKind::Welcome, content)) => {
            let welcome = serde_json::from_slice(&content)
                .map_err(|_| format!("{address}: the agon waiting there is another version"))?;
            Ok((line, welcome))
        }
        Ok((FrameKind::Refused, why)) => {
            Err(format!("{address} does not let you join: {}", String::from_utf8_lossy(&why)))
        }
        Ok(_) => Err(format!("{address}: what is waiting there is not agon, or another version of it")),
        Err(why) => Err(format!("{address}: {why}; is it agon that is waiting there?")),
    }
}

/// Checks whether a client knows the token.
fn admit(stream: TcpStream, token: &[u8]) -> Result<JoinLink, String> {
    let mut reads = Until(&stream, Instant::now() + TO_SHOW_TOKEN);
    let mut greeting = [0; GREETING.len()];
    let failed = |_| format!("it did not show a token within {} s", TO_SHOW_TOKEN.as_secs());
    reads.read_exact(&mut greeting).map_err(failed)?;
    if greeting[..GREETING.len() - 1] != GREETING[..GREETING.len() - 1] {
        return Err("it is not an `agon join`".to_owned());
    }
    let shown = read_frame(&mut reads).map_err(failed);
    let line = JoinLink::new(stream).map_err(|error| error.to_string())?;
    let refuse = |why: &str| {
        let _ = line.send(FrameKind::Refused, why.as_bytes());
        why.to_owned()
    };
    if greeting != *GREETING {
        return Err(refuse("it is an `agon join` of another version"));
    }
    match shown? {
        (FrameKind::Token, shown) if same(&shown, token) => Ok(line),
        _ => Err(refuse("the token is wrong")),
    }
}

/// The doorkeeper's job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doorkeeper {
    pub listen: SocketAddr,
    pub token_file: PathBuf,
    /// What it tells the bot.
    pub welcome: Welcome,
    /// Where bots of the game dial in on this machine; none if they talk in lines.
    pub dial: Option<SocketAddr>,
}

/// What the doorkeeper writes on its standard output before the first line of a bot that talks in lines.
pub const JOINED: &[u8] = b"joined";
/// The name of the bot follows on the same line. Written before [`JOINED`], or before the bot is connected to where it
/// dials in.
pub const NAMED: &[u8] = b"named ";
/// Longest name, in characters.
const LONGEST_NAME: usize = 40;

/// The name that the other side announced for its bot, cleaned up: a short line without control characters or
/// look-alikes; none if nothing is left.
pub fn name(announced: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(announced);
    let is_plain = |c: &char| c.is_alphanumeric() || " ._-+#@/()[]".contains(*c);
    let name: String = text.chars().take(10 * LONGEST_NAME).filter(is_plain).take(LONGEST_NAME).collect();
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The doorkeeper's whole life: `__join DOOR`.
pub fn keep_door(arguments: &[std::ffi::OsString]) -> ExitCode {
    let door = arguments.first().and_then(|text| serde_json::from_str(text.to_str()?).ok());
    let Some(door) = door else { return ExitCode::from(2) };
    match relay(&door) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Waits for a client that may join.
fn wait(door: &Doorkeeper) -> Result<JoinLink, String> {
    let token = Arc::new(read_token(&door.token_file)?);
    let listener = TcpListener::bind(door.listen)
        .map_err(|error| format!("nobody can join at {}: {error}", door.listen))?;
    let (told, heard) = channel();
    let on_their_way = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        loop {
            let Ok((stream, from)) = listener.accept() else {
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            if on_their_way.fetch_add(1, Ordering::Relaxed) >= MOST_CLIENTS {
                on_their_way.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (token, told, on_their_way) = (Arc::clone(&token), told.clone(), Arc::clone(&on_their_way));
            std::thread::spawn(move || {
                match admit(stream, &token) {
                    Ok(line) => {
                        if let Err(unsent) = told.send(line) {
                            let _ = unsent.0.send(FrameKind::Refused, b"another bot has joined already");
                        }
                    }
                    Err(why) => eprintln!("{from}: {why}"),
                }
                on_their_way.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    heard.recv().map_err(|error| error.to_string())
}

/// Tells the referee the name of the bot.
fn say_name(announced: &[u8]) -> Result<(), String> {
    let Some(name) = name(announced) else { return Ok(()) };
    let line = [NAMED, name.as_bytes(), b"\n"].concat();
    let mut out = io::stdout();
    out.write_all(&line).and_then(|()| out.flush()).map_err(|error| error.to_string())
}

fn relay(door: &Doorkeeper) -> Result<(), String> {
    let line = wait(door)?;
    let text = serde_json::to_vec(&door.welcome).map_err(|error| error.to_string())?;
    line.send(FrameKind::Welcome, &text).map_err(|error| lost(&error))?;
    // A lost client shows by its silence.
    line.keep_alive(channel().0, ());
    let (from_referee, mut to_referee): (Box<dyn Read + Send>, Box<dyn Write>) = loop {
        match line.expect()? {
            (FrameKind::Lines, announced) => {
                say_name(&announced)?;
                let mut out = io::stdout();
                let said =
                    out.write_all(JOINED).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
                said.map_err(|error| error.to_string())?;
                break (Box::new(io::stdin()), Box::new(out));
            }
            (FrameKind::Dialled, announced) => {
                say_name(&announced)?;
                let place = door.dial.ok_or("the bot dialled in, but bots of this game do not")?;
                let socket = TcpStream::connect(place).map_err(|error| format!("{place}: {error}"))?;
                let _ = socket.set_nodelay(true);
                let other = socket.try_clone().map_err(|error| error.to_string())?;
                break (Box::new(other), Box::new(socket));
            }
            (FrameKind::Over, why) => return Err(String::from_utf8_lossy(&why).into_owned()),
            (FrameKind::Errors, text) => drop(io::stderr().write_all(&text)),
            (FrameKind::Ping, _) => {}
            (other, _) => return Err(format!("the joined side sent {other:?} too early")),
        }
    };
    let (over, is_over) = channel();
    line.pass_on(FrameKind::Bytes, from_referee, over, ());
    let own = line.clone();
    std::thread::spawn(move || {
        // The referee has nothing more to say: the match is over.
        let _ = is_over.recv();
        let _ = own.send(FrameKind::Over, b"");
    });
    loop {
        match line.expect()? {
            (FrameKind::Bytes, bytes) => {
                let passed = to_referee.write_all(&bytes).and_then(|()| to_referee.flush());
                // Nobody reads it any more.
                if passed.is_err() {
                    let _ = line.send(FrameKind::Over, b"");
                    return Ok(());
                }
            }
            (FrameKind::Errors, text) => drop(io::stderr().write_all(&text)),
            (FrameKind::Over, why) if why.is_empty() => return Ok(()),
            (FrameKind::Over, why) => return Err(String::from_utf8_lossy(&why).into_owned()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn tokens_are_secret_and_long() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        let read = |text: &str, mode: u32| {
            std::fs::write(&file, text).expect("a file");
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("our own file");
            read_token(&file)
        };
        assert_eq!(read("0123456789abcdef\n", 0o600), Ok(b"0123456789abcdef".to_vec()));
        assert!(read("0123456789abcdef", 0o640).unwrap_err().contains("chmod 600"));
        assert!(read("0123456789abcde\n", 0o600).unwrap_err().contains("16 to 1024 bytes, not 15"));
        assert!(read(&"x".repeat(2_000), 0o600).unwrap_err().contains("1024"));
        assert!(read_token(folder.path()).unwrap_err().contains("not a file"));
        assert!(same(b"abc", b"abc") && !same(b"abc", b"abd") && !same(b"abc", b"ab") && !same(b"", b"a"));
    }

    #[test]
    fn a_name_is_one_short_plain_line() {
        assert_eq!(name(b"my-bot.py"), Some("my-bot.py".to_owned()));
        assert_eq!(
            name("  b\u{f6}t\n\x1b[31mred \u{202e}x".as_bytes()),
            Some("b\u{f6}t[31mred x".to_owned())
        );
        assert_eq!(name(&[b'a'; 1 << 16]).map(|name| name.len()), Some(LONGEST_NAME));
        assert!([&b""[..], b" \n\t", &[0xff, 0xfe]].iter().all(|text| name(text).is_none()));
    }

    #[test]
    fn frames_are_bounded_and_known() {
        let read = |bytes: &[u8]| read_frame(&mut &*bytes).map_err(|error| error.kind());
        assert_eq!(read(&[6, 0, 0, 0, 2, b'h', b'i']), Ok((FrameKind::Bytes, b"hi".to_vec())));
        assert_eq!(read(&[6, 0, 1, 0, 1]), Err(ErrorKind::InvalidData), "longer than 64 KiB");
        assert_eq!(read(&[77, 0, 0, 0, 0]), Err(ErrorKind::InvalidData));
        assert_eq!(read(&[6, 0, 0, 0, 9, 1]), Err(ErrorKind::UnexpectedEof));
    }
}
