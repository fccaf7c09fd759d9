//! The port at which bots dial in over WebSocket, and the seats that wait for them.
//!
//! Longer than 500 lines: accepting, shaking hands and seating are one loop.
//!
//! One thread owns the port for as long as this program runs. It shakes hands, reads a client's first message, and
//! hands the connection to the seat waiting for it: by the token in the message, else by the connecting process,
//! else to the first seat open to anybody. A connected seat has its connection to itself; nothing that happens at
//! the port affects it.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agon_game::WebSocketKit;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::time::Timespec;
use tungstenite::HandshakeError;
use tungstenite::handshake::MidHandshake;
use tungstenite::handshake::server::{NoCallback, ServerHandshake};

use crate::process::peer::{self, Caller, Owner};
use crate::run::Run;
use crate::websocket::{self, Connection, Stream};
use crate::wire::{Received, Wire as _};

mod runs;

use runs::Company;

/// How long a client may take for the handshake, and then for its first message.
const TO_REGISTER: Duration = Duration::from_secs(5);
/// Upper limit on clients still on their way. One more, and the most numerous group has to make room: see
/// [`who_goes`].
const MOST_CLIENTS: usize = 256;
/// How long a client that nobody waits for is kept, because another run may be about to claim it.
const NEWS: Duration = Duration::from_secs(1);
/// Longest first message; longer ones are refused.
const LONGEST_GREETING: usize = 16 << 10;
/// The reply to a browser.
const NO_PAGE: &str = "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nConnection: close\r\n\
                       Content-Type: text/plain\r\nContent-Length: 54\r\n\r\nBots connect here, over WebSocket. There is no page.\r\n\r\n";

/// A seat that waits for its bot.
pub struct WaitingSeat {
    listener: Arc<Listener>,
    number: u64,
    token: String,
    event: Arc<OwnedFd>,
}

impl WaitingSeat {
    /// A seat for a program about to be started, with a token of its own.
    ///
    /// # Errors
    /// A sentence for the user: why nobody can listen there.
    pub fn for_program(kit: &WebSocketKit, longest: usize, run: &Run) -> Result<Self, String> {
        Self::open(kit, None, longest, new_token(), run)
    }

    /// A seat for anybody who connects.
    ///
    /// # Errors
    /// A sentence for the user: why nobody can listen there.
    pub fn for_anybody(
        kit: &WebSocketKit,
        port: Option<u16>,
        longest: usize,
        run: &Run,
    ) -> Result<Self, String> {
        Self::open(kit, port, longest, String::new(), run)
    }

    /// A seat for a program in a sandbox, which dials the usual port of its own network. It needs no token.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn inside(kit: &WebSocketKit, socket: OwnedFd, longest: usize) -> Result<Self, String> {
        Self::behind(
            Listener::inside(TcpListener::from(socket), kit.register)?,
            longest,
            String::new(),
            false,
        )
    }

    fn open(
        kit: &WebSocketKit,
        port: Option<u16>,
        longest: usize,
        token: String,
        run: &Run,
    ) -> Result<Self, String> {
        let address = run.address(port, Some(kit.port)).expect("there is a usual port");
        Self::behind(Listener::at(address, kit.register)?, longest, token, run.any_user)
    }

    fn behind(
        listener: Arc<Listener>,
        longest: usize,
        token: String,
        any_user: bool,
    ) -> Result<Self, String> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| format!("too many open files ({error})"))?;
        let event = Arc::new(event);
        let place = Place {
            token: token.clone(),
            any_user,
            owner: None,
            longest,
            event: Arc::clone(&event),
            is_served: false,
            arrival: None,
            trouble: None,
        };
        let number = listener.add(place);
        Ok(Self { listener, number, token, event })
    }

    /// The token of this seat; empty when anybody may have it.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The address bots dial.
    pub fn address(&self) -> String {
        format!("ws://{}", self.listener.address)
    }

    /// Tells the seat that its program was started.
    pub fn belongs_to(&self, owner: Owner) {
        self.listener.change(self.number, |place| place.owner = Some(owner));
    }

    /// Becomes readable when there is something to take, or trouble.
    pub fn reads(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    /// The bot's connection and its first message, once they are here.
    pub fn take(&self) -> Option<(Connection, Vec<u8>)> {
        let _ = rustix::io::read(&self.event, &mut [0; 8]);
        let mut inner = self.listener.lock();
        inner.places.get_mut(&self.number)?.arrival.take()
    }

    /// What went wrong when its bot tried to connect.
    pub fn trouble(&self) -> Option<String> {
        self.listener.lock().places.get_mut(&self.number)?.trouble.clone()
    }
}

impl Drop for WaitingSeat {
    fn drop(&mut self) {
        self.listener.remove(self.number);
    }
}

/// An unguessable token.
fn new_token() -> String {
    let mut bytes = [0; 16];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.expect("every Linux has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the listener knows about a seat.
struct Place {
    /// Empty when anybody may have it.
    token: String,
    /// Whether "anybody" includes other users.
    any_user: bool,
    owner: Option<Owner>,
    longest: usize,
    event: Arc<OwnedFd>,
    /// Whether its client has come; stays set after the seat has taken it.
    is_served: bool,
    arrival: Option<(Connection, Vec<u8>)>,
    trouble: Option<String>,
}

impl Place {
    fn ring(&self) {
        let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
    }
}

/// A port, and the seats behind it.
struct Listener {
    address: SocketAddr,
    register: fn(&[u8]) -> Result<Option<String>, String>,
    /// Whether it is the listener of one sandbox: any client is the bot in it.
    alone: bool,
    inner: Mutex<Inner>,
    /// Wakes the thread.
    wake: OwnedFd,
}

#[derive(Default)]
struct Inner {
    places: BTreeMap<u64, Place>,
    /// The number of the next place. Never reused, because a client may be on its way to a place that is gone.
    next: u64,
    /// Changes of places to tell other programs, in order.
    news: Vec<News>,
}

impl Inner {
    /// The seats still without a client.
    fn free(&self) -> impl Iterator<Item = (u64, &Place)> {
        self.places.iter().filter(|(_, place)| !place.is_served).map(|(number, place)| (*number, place))
    }

    /// The free seats whose programs have been started, with their owners.
    fn owners(&self) -> Vec<(u64, Owner)> {
        self.free().filter_map(|(number, place)| Some((number, place.owner.clone()?))).collect()
    }

    /// The first free seat open to anybody that takes this caller.
    fn for_anybody(&self, caller: &Caller) -> Option<u64> {
        let takes = |place: &Place| place.token.is_empty() && caller.may_take(None, place.any_user).is_ok();
        self.free().find(|(_, place)| takes(place)).map(|(number, _)| number)
    }
}

/// What happened to a seat of ours.
enum News {
    Waits { number: u64, token: String, any_user: bool },
    Belongs { number: u64, owner: Owner },
    Left { number: u64 },
}

/// The listeners of this program, for as long as it runs.
static LISTENERS: Mutex<Option<HashMap<SocketAddr, Arc<Listener>>>> = Mutex::new(None);

impl Listener {
    /// The listener at an address; opened if necessary.
    fn at(
        address: SocketAddr,
        register: fn(&[u8]) -> Result<Option<String>, String>,
    ) -> Result<Arc<Self>, String> {
        let mut all = LISTENERS.lock().unwrap_or_else(|poison| poison.into_inner());
        let all = all.get_or_insert_default();
        if let Some(listener) = all.get(&address) {
            return Ok(Arc::clone(listener));
        }
        let listener = Self::start(address, register, Company::join(address)?, false)?;
        all.insert(address, Arc::clone(&listener));
        Ok(listener)
    }

    /// A separate listener for one seat; ends with it.
    fn inside(
        socket: TcpListener,
        register: fn(&[u8]) -> Result<Option<String>, String>,
    ) -> Result<Arc<Self>, String> {
        let address = socket.local_addr().map_err(|error| error.to_string())?;
        Self::start(address, register, Company::alone(address, socket), true)
    }

    fn start(
        address: SocketAddr,
        register: fn(&[u8]) -> Result<Option<String>, String>,
        company: Company,
        alone: bool,
    ) -> Result<Arc<Self>, String> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| format!("too many open files ({error})"))?;
        let listener = Arc::new(Self { address, register, alone, inner: Mutex::default(), wake });
        let own = Arc::clone(&listener);
        let keeper = move || Keeper { listener: own, company, clients: Vec::new() }.run();
        std::thread::Builder::new()
            .name(format!("port {}", address.port()))
            .spawn(keeper)
            .map_err(|error| format!("cannot start a thread ({error})"))?;
        Ok(listener)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn add(&self, place: Place) -> u64 {
        let mut inner = self.lock();
        let number = inner.next;
        inner.next += 1;
        inner.news.push(News::Waits { number, token: place.token.clone(), any_user: place.any_user });
        inner.places.insert(number, place);
        drop(inner);
        self.wake();
        number
    }

    fn change(&self, number: u64, change: impl FnOnce(&mut Place)) {
        let mut inner = self.lock();
        if let Some(place) = inner.places.get_mut(&number) {
            change(place);
            if let Some(owner) = place.owner.clone() {
                inner.news.push(News::Belongs { number, owner });
            }
        }
        drop(inner);
        self.wake();
    }

    fn remove(&self, number: u64) {
        let mut inner = self.lock();
        let place = inner.places.remove(&number);
        inner.news.push(News::Left { number });
        drop(inner);
        drop(place);
        self.wake();
    }

    fn wake(&self) {
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }
}

type Shaking = MidHandshake<ServerHandshake<Stream, NoCallback>>;

/// A client on its way.
struct Client {
    stage: Stage,
    theirs: SocketAddr,
    here: SocketAddr,
    socket: Arc<TcpStream>,
    /// When its handshake began, or when its first message was first expected.
    since: Instant,
}

enum Stage {
    Shaking(Option<Box<Shaking>>),
    /// The handshake is done; it must say who it is.
    Greeting(Box<Connection>),
    /// It said who it is, but a program that has just been started is not known yet.
    Known(Box<Connection>, Vec<u8>),
}

/// What became of a client.
enum Step {
    Stays(Client),
    Gone,
}

/// Which seat a client is for.
enum Whose {
    /// A seat of ours.
    Ours(u64),
    /// A seat of another program.
    Others(runs::Guest),
    /// Unclear for a moment longer.
    Unclear,
    Nobody(String),
}

/// The thread that accepts clients.
struct Keeper {
    listener: Arc<Listener>,
    company: Company,
    clients: Vec<Client>,
}

impl Keeper {
    fn run(mut self) {
        loop {
            let news = std::mem::take(&mut self.listener.lock().news);
            if self.listener.alone && news.iter().any(|one| matches!(one, News::Left { .. })) {
                return;
            }
            self.company.tell(&news);
            self.company.note_clients(self.clients.len());
            let ready = self.wait();
            if ready.woken {
                let _ = rustix::io::read(&self.listener.wake, &mut [0; 8]);
            }
            for (connection, greeting, number) in self.company.listen(&self.listener) {
                self.deliver(number, connection, greeting);
            }
            let now = Instant::now();
            for (client, is_ready) in std::mem::take(&mut self.clients).into_iter().zip(ready.clients) {
                let waits_for_news = matches!(client.stage, Stage::Known(..));
                let late = now.duration_since(client.since) >= TO_REGISTER;
                let step = match is_ready || waits_for_news || late {
                    true => self.advance(client, late),
                    false => Step::Stays(client),
                };
                if let Step::Stays(client) = step {
                    self.clients.push(client);
                }
            }
            if ready.knocks {
                self.accept();
            }
        }
    }

    /// Sleeps until something happens.
    fn wait(&self) -> Ready {
        let mut descriptors = vec![PollFd::new(&self.listener.wake, PollFlags::IN)];
        if let Some(listener) = self.company.listener() {
            descriptors.push(PollFd::new(listener, PollFlags::IN));
        }
        let first = descriptors.len();
        for client in &self.clients {
            let waits_for_news = matches!(client.stage, Stage::Known(..));
            let flags = if waits_for_news { PollFlags::empty() } else { PollFlags::IN };
            descriptors.push(PollFd::new(&*client.socket, flags));
        }
        let last = descriptors.len();
        let others = self.company.watched();
        descriptors.extend(others.into_iter().map(|other| PollFd::from_borrowed_fd(other, PollFlags::IN)));
        let ends = self.clients.iter().map(|client| match client.stage {
            // The news it waits for comes within a moment.
            Stage::Known(..) => Instant::now() + Duration::from_millis(5),
            _ => client.since + TO_REGISTER,
        });
        let patience = ends.min().map(|end| end.saturating_duration_since(Instant::now()));
        let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
        if poll(&mut descriptors, patience.as_ref()).is_err() {
            // Interrupted, or out of memory: look again in a moment.
            std::thread::sleep(Duration::from_millis(1));
        }
        let is_ready = |descriptor: &PollFd<'_>| !descriptor.revents().is_empty();
        Ready {
            woken: is_ready(&descriptors[0]),
            knocks: descriptors[1..first].iter().any(is_ready),
            clients: descriptors[first..last].iter().map(is_ready).collect(),
        }
    }

    fn accept(&mut self) {
        for _ in 0..MOST_CLIENTS {
            let Some(listener) = self.company.listener() else { return };
            let (socket, theirs) = match listener.accept() {
                Ok(found) => found,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    // Too many open files, for example: connected clients wait in the system's queue.
                    std::thread::sleep(Duration::from_millis(10));
                    return;
                }
            };
            if self.clients.len() >= MOST_CLIENTS {
                self.make_room();
            }
            // Not the address we listen at: that may stand for all of this machine's addresses.
            let Ok(here) = socket.local_addr() else { continue };
            let Ok(stream) = Stream::new(socket, LONGEST_GREETING) else { continue };
            let socket = stream.socket();
            let config = Some(websocket::config(LONGEST_GREETING));
            let shaking = ServerHandshake::start(stream, NoCallback, config);
            let (stage, since) = (Stage::Shaking(Some(Box::new(shaking))), Instant::now());
            self.clients.push(Client { stage, theirs, here, socket, since });
        }
    }

    /// Drops some clients so that others can come in.
    fn make_room(&mut self) {
        let ends: Vec<_> = self.clients.iter().map(|client| (client.theirs, client.here)).collect();
        let mut goes = who_goes(&peer::marks(&ends)).into_iter();
        self.clients.retain(|_| !goes.next().unwrap_or(false));
    }

    /// Does for a client whatever needs no waiting.
    fn advance(&mut self, mut client: Client, mut late: bool) -> Step {
        loop {
            match client.stage {
                Stage::Shaking(ref mut shaking) => {
                    let shaking = shaking.take().expect("put back");
                    match shaking.handshake() {
                        Ok(mut socket) => {
                            socket.get_mut().remember();
                            client.stage = Stage::Greeting(Box::new(Connection::new(socket)));
                            // If that was late, the delay was ours: the client still gets its time to register.
                            (client.since, late) = (Instant::now(), false);
                        }
                        Err(HandshakeError::Interrupted(shaking)) if !late => {
                            client.stage = Stage::Shaking(Some(Box::new(shaking)));
                            return Step::Stays(client);
                        }
                        Err(HandshakeError::Interrupted(_)) => {
                            return self
                                .refuse(&client, "it connected, but did not begin to speak WebSocket");
                        }
                        Err(HandshakeError::Failure(error)) => {
                            let _ = (&*client.socket).write(NO_PAGE.as_bytes());
                            let why = format!("it connected, but does not speak WebSocket: {error}");
                            return self.refuse(&client, &why);
                        }
                    }
                }
                Stage::Greeting(ref mut connection) => {
                    let mut greeting = Vec::new();
                    match connection.receive(&mut greeting) {
                        Received::Message => {
                            let Stage::Greeting(connection) = client.stage else { unreachable!() };
                            client.stage = Stage::Known(connection, greeting);
                        }
                        Received::Nothing if !late => return Step::Stays(client),
                        Received::Nothing => {
                            let why = format!(
                                "it connected, but did not register within {} s",
                                TO_REGISTER.as_secs()
                            );
                            return self.refuse(&client, &why);
                        }
                        Received::Closed(_) => {
                            return self.refuse(&client, "it connected and went away again");
                        }
                        Received::Broken(why) | Received::Illegal(why) | Received::Garbled(why) => {
                            return self.refuse(&client, &format!("instead of registering it sent {why}"));
                        }
                    }
                }
                Stage::Known(mut connection, greeting) => {
                    let token = (self.listener.register)(&greeting);
                    let may_wait = client.since.elapsed() < NEWS && self.company.may_tell();
                    match token.map(|token| self.whose(token.as_deref(), client.theirs, client.here)) {
                        Err(why) => {
                            client.stage = Stage::Greeting(connection);
                            return self.refuse(&client, &why);
                        }
                        Ok(Whose::Unclear) if !late => {
                            client.stage = Stage::Known(connection, greeting);
                            return Step::Stays(client);
                        }
                        Ok(Whose::Nobody(_)) if may_wait => {
                            client.stage = Stage::Known(connection, greeting);
                            return Step::Stays(client);
                        }
                        Ok(Whose::Unclear) => return Step::Gone,
                        Ok(Whose::Nobody(why)) => {
                            client.stage = Stage::Greeting(connection);
                            return self.refuse(&client, &why);
                        }
                        Ok(Whose::Ours(number)) => {
                            connection.stream().recall();
                            self.deliver(number, *connection, greeting);
                        }
                        Ok(Whose::Others(guest)) => {
                            let read = connection.stream().recall();
                            self.company.pass(guest, &client.socket, &read);
                            connection.let_go();
                        }
                    }
                    return Step::Gone;
                }
            }
        }
    }

    /// Which seat a registered client is for.
    fn whose(&self, token: Option<&str>, theirs: SocketAddr, here: SocketAddr) -> Whose {
        let inner = self.listener.lock();
        if self.listener.alone {
            let free = inner.free().next().map(|(number, _)| Whose::Ours(number));
            return free.unwrap_or_else(|| Whose::Nobody("its seat is taken".to_owned()));
        }
        let owners = inner.owners();
        let unclear = self.company.is_unclear()
            || inner.free().any(|(_, place)| !place.token.is_empty() && place.owner.is_none());
        // The lock is released while its process is looked up.
        drop(inner);
        let all = owners.iter().map(|(_, owner)| owner).chain(self.company.owners());
        let caller = Caller::find(theirs, here, all);
        let inner = self.listener.lock();
        if let Some(token) = token {
            // Nobody but our user can read a token, so whoever knows one is of our user. A bot knows the token of
            // its own seat; another seat's token it has stolen.
            let may = |owner: Option<&Owner>, any_user| match (&caller, owner) {
                (Caller::Bot(_), Some(_)) => caller.may_take(owner, false),
                (Caller::Stranger(_), _) => caller.may_take(None, any_user),
                _ => Ok(()),
            };
            let ours = inner.free().find(|(_, place)| place.token == token);
            let ours = ours.map(|(number, place)| {
                may(place.owner.as_ref(), place.any_user).map(|()| Whose::Ours(number))
            });
            let others = || {
                let (guest, owner, any_user) = self.company.with_token(token)?;
                Some(may(owner, any_user).map(|()| Whose::Others(guest)))
            };
            let unknown = || Ok(Whose::Nobody("its token stands for no seat that waits here".to_owned()));
            return ours
                .or_else(others)
                .unwrap_or_else(unknown)
                .unwrap_or_else(|why| Whose::Nobody(it(&why)));
        }
        // A program of ours has its own seat and no other.
        if let Caller::Bot(mark) = &caller {
            let ours = inner.owners().into_iter().find(|(_, owner)| owner.mark == *mark);
            let others = || self.company.with_mark(mark).map(Whose::Others);
            let taken = || match unclear {
                true => Whose::Unclear,
                false => Whose::Nobody("its seat is taken, or its match is over".to_owned()),
            };
            return ours.map(|(number, _)| Whose::Ours(number)).or_else(others).unwrap_or_else(taken);
        }
        let others = || self.company.for_anybody(&caller).map(Whose::Others);
        let any_user = inner.places.values().any(|place| place.any_user);
        let nobody = || match caller.may_take(None, any_user) {
            Err(why) => Whose::Nobody(it(&why)),
            Ok(()) => Whose::Nobody("no seat waits for it".to_owned()),
        };
        inner.for_anybody(&caller).map(Whose::Ours).or_else(others).unwrap_or_else(nobody)
    }

    /// Gives a connection to a seat. Closes it if the seat is gone by now.
    fn deliver(&self, number: u64, mut connection: Connection, greeting: Vec<u8>) {
        let mut inner = self.listener.lock();
        if let Some(place) = inner.places.get_mut(&number).filter(|place| !place.is_served) {
            connection.set_longest(place.longest);
            place.is_served = true;
            place.arrival = Some((connection, greeting));
            place.ring();
        }
    }

    /// Turns a client away. The seat of its bot is told why; for a client that is no bot of ours, the first seat
    /// open to anybody is told.
    fn refuse(&mut self, client: &Client, why: &str) -> Step {
        // The lock is released while its process is looked up.
        let owners = self.listener.lock().owners();
        let own = owned_by(client, &owners);
        let mut inner = self.listener.lock();
        // Also for a stranger: the user waiting wonders why nobody is let in.
        let number = own.or_else(|| inner.for_anybody(&Caller::OurUser));
        if let Some(place) = number.and_then(|number| inner.places.get_mut(&number)) {
            place.trouble = Some(why.to_owned());
            place.ring();
        }
        Step::Gone
    }
}

/// The seat whose bot a client is.
fn owned_by(client: &Client, owners: &[(u64, Owner)]) -> Option<u64> {
    // Looking up its process costs milliseconds where many files are open: only if it can match.
    if owners.is_empty() {
        return None;
    }
    let Caller::Bot(mark) = Caller::find(client.theirs, client.here, owners.iter().map(|(_, owner)| owner))
    else {
        return None;
    };
    owners.iter().find(|(_, owner)| owner.mark == mark).map(|(number, _)| *number)
}

/// A [`Caller`]'s reason as a sentence.
fn it(why: &str) -> String {
    format!("it {why}")
}

/// Which of many clients have to go, given the marks of their bots, oldest first: the older half of the most
/// numerous group, where clients of no bot form one group. So a bot that keeps reconnecting crowds out only
/// itself.
fn who_goes(marks: &[Option<String>]) -> Vec<bool> {
    let mut counts: BTreeMap<&Option<String>, usize> = BTreeMap::new();
    marks.iter().for_each(|mark| *counts.entry(mark).or_default() += 1);
    let most = counts.iter().max_by_key(|(_, count)| **count).map(|(mark, _)| *mark);
    let mut left = counts.values().max().map_or(0, |count| count.div_ceil(2));
    let goes = |mark| {
        let goes = left > 0 && Some(mark) == most;
        left -= usize::from(goes);
        goes
    };
    marks.iter().map(goes).collect()
}

/// What happened while we slept.
struct Ready {
    woken: bool,
    knocks: bool,
    clients: Vec<bool>,
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use tungstenite::{Message, WebSocket, client};

    use super::*;

    const KIT: WebSocketKit = WebSocketKit {
        port: 0,
        connect_ms: 1_000,
        token: "TOKEN",
        register: |_| Ok(None),
        answers_say_their_question: true,
    };

    fn dial(port: u16, greeting: &str) -> WebSocket<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the port is open");
        let (mut socket, _) = client(format!("ws://127.0.0.1:{port}/"), stream).expect("shaking hands");
        socket.send(Message::text(greeting)).expect("room");
        socket
    }

    /// Waits until a client has come to a seat; returns its connection and what it said.
    fn arrival(seat: &WaitingSeat) -> (Connection, Vec<u8>) {
        let limit = Timespec { tv_sec: 10, tv_nsec: 0 };
        let ready = poll(&mut [PollFd::from_borrowed_fd(seat.reads(), PollFlags::IN)], Some(&limit));
        assert_eq!(ready, Ok(1), "nobody came");
        seat.take().expect("somebody")
    }

    #[test]
    fn a_seat_that_was_taken_is_not_given_to_the_next_client() {
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let seat = || WaitingSeat::for_anybody(&KIT, Some(port), 1_000, &Run::default()).expect("a seat");
        let (first, second) = (seat(), seat());
        let _one = dial(port, "one");
        let (_connection, said) = arrival(&first);
        assert_eq!(said, b"one");
        // The first seat is still there; its match has just not dropped it yet.
        let _two = dial(port, "two");
        assert_eq!(arrival(&second).1, b"two");
        assert!(first.take().is_none());
        // Numbers are not reused: a client on its way to a seat that is gone reaches no other.
        let last = second.number;
        drop((first, second));
        assert!(seat().number > last);
    }

    #[test]
    fn who_comes_most_often_makes_room() {
        let marks = |names: &[&str]| -> Vec<Option<String>> {
            names.iter().map(|name| (!name.is_empty()).then(|| (*name).to_owned())).collect()
        };
        assert_eq!(
            who_goes(&marks(&["good", "", "bad", "bad", "bad", "slow"])),
            [false, false, true, true, false, false]
        );
        assert_eq!(who_goes(&marks(&["", "", "good"])), [true, false, false]);
        assert!(who_goes(&[]).is_empty());
    }
}
