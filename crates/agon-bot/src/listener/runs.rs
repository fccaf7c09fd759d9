//! One port for several runs of this program.
//!
//! The first run to open a port hosts it; the others are its guests. They meet at a local socket whose name
//! disappears with the host, however the host ends. A guest is given a copy of the listening socket when it
//! arrives, so that the port stays open when the host goes: one of the guests then becomes the host. A guest
//! tells the host which bots it waits for; the host passes it those clients' connections, with everything read
//! from them since the handshake.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_peercred};
use rustix::net::{
    self, AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use rustix::process::Pid;

use super::{LONGEST_GREETING, Listener, NEWS, News};
use crate::process::peer::{Caller, Owner};
use crate::process::{self, peer};
use crate::sys;
use crate::websocket::Connection;
use crate::wire::{Received, Wire as _};

/// Upper limit on the guests of a port.
const MOST_GUESTS: usize = 512;
/// Longest message between runs.
const LONGEST: usize = 160 << 10;
/// How long a run waits for another to say or take something.
const PATIENCE: Duration = Duration::from_secs(2);

/// Clients in the hands of a host with guests; it stays until they are served.
static IN_HAND: AtomicUsize = AtomicUsize::new(0);
/// Whether this run is about to end.
static LEAVING: AtomicBool = AtomicBool::new(false);

/// The runs that share a port.
pub(super) struct Company {
    address: SocketAddr,
    listener: TcpListener,
    role: Role,
    /// When we began to accept, if we took over from another run: its other guests must find us first.
    took_over: Option<Instant>,
    /// How many clients of this port are counted as [`IN_HAND`].
    in_hand: usize,
}

enum Role {
    /// We accept; guests arrive at `meet`, if that could be opened.
    Host { meet: Option<OwnedFd>, guests: Vec<Link> },
    /// Another run accepts.
    Guest { host: OwnedFd },
}

/// A guest of ours.
struct Link {
    socket: OwnedFd,
    waiting: Vec<Wanted>,
}

/// A bot that a guest waits for.
struct Wanted {
    number: u64,
    token: String,
    any_user: bool,
    owner: Option<Owner>,
}

/// A seat of another run.
pub(super) struct Guest {
    link: usize,
    number: u64,
}

impl Company {
    /// Opens a port, or joins the run that has it.
    ///
    /// # Errors
    /// A sentence for the user.
    pub(super) fn join(address: SocketAddr) -> Result<Self, String> {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| sys::at_exit(leave));
        let until = Instant::now() + PATIENCE;
        loop {
            let error = match TcpListener::bind(address) {
                Ok(listener) => {
                    listener.set_nonblocking(true).map_err(|error| error.to_string())?;
                    let role = Role::Host { meet: open(address).ok(), guests: Vec::new() };
                    return Ok(Self { address, listener, role, took_over: None, in_hand: 0 });
                }
                Err(error) => error,
            };
            if error.kind() != io::ErrorKind::AddrInUse {
                return Err(peer::cannot_listen(address, &error));
            }
            if let Ok((host, listener)) = visit(address) {
                let role = Role::Guest { host };
                return Ok(Self { address, listener, role, took_over: None, in_hand: 0 });
            }
            // A host that is just coming or going may be there in a moment; any other program will stay.
            if Instant::now() > until || !peer::is_own_program(address.port()) {
                return Err(peer::cannot_listen(address, &error));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A port no other run can reach: that of a sandbox.
    pub(super) fn alone(address: SocketAddr, listener: TcpListener) -> Self {
        let role = Role::Host { meet: None, guests: Vec::new() };
        Self { address, listener, role, took_over: None, in_hand: 0 }
    }

    /// The listening socket, if it is up to us to accept.
    pub(super) fn listener(&self) -> Option<&TcpListener> {
        match self.role {
            Role::Host { .. } if !LEAVING.load(Ordering::Relaxed) => Some(&self.listener),
            _ => None,
        }
    }

    /// What else to poll for reading.
    pub(super) fn watched(&self) -> Vec<BorrowedFd<'_>> {
        match &self.role {
            Role::Host { meet, guests } => {
                meet.iter().map(AsFd::as_fd).chain(guests.iter().map(|guest| guest.socket.as_fd())).collect()
            }
            Role::Guest { host } => vec![host.as_fd()],
        }
    }

    /// Records how many clients are on their way.
    pub(super) fn note_clients(&mut self, count: usize) {
        let has_guests = matches!(&self.role, Role::Host { guests, .. } if !guests.is_empty());
        let before = std::mem::replace(&mut self.in_hand, if has_guests { count } else { 0 });
        IN_HAND.fetch_add(self.in_hand, Ordering::Relaxed);
        IN_HAND.fetch_sub(before, Ordering::Relaxed);
    }

    /// Whether another run may be about to tell us which bot it waits for: its message arrives slightly after
    /// it has started the bot.
    pub(super) fn may_tell(&self) -> bool {
        let is_new = self.took_over.is_some_and(|since| since.elapsed() < NEWS);
        is_new || matches!(&self.role, Role::Host { guests, .. } if !guests.is_empty())
    }

    /// Tells the host what happened to our seats.
    pub(super) fn tell(&mut self, news: &[News]) {
        if let Role::Guest { host } = &self.role {
            for one in news {
                let text = match one {
                    News::Waits { number, token, any_user } => {
                        format!("waits {number} {token} {}", if *any_user { "any-user" } else { "own-user" })
                    }
                    News::Belongs { number, owner } => {
                        format!("belongs {number} {} {}", owner.root.as_raw_nonzero(), owner.mark)
                    }
                    News::Left { number } => format!("left {number}"),
                };
                // Listening notices a host that is gone.
                let _ = net::send(host, text.as_bytes(), SendFlags::NOSIGNAL);
            }
        }
    }

    /// Hears the other runs. Clients a host passes to our seats are returned as
    /// `(connection, first message, seat)`.
    pub(super) fn listen(&mut self, own: &Arc<Listener>) -> Vec<(Connection, Vec<u8>, u64)> {
        let mut arrivals = Vec::new();
        match &mut self.role {
            Role::Host { meet, guests } => {
                for meet in meet.iter() {
                    while let Some(guest) = welcome(meet, &self.listener) {
                        if guests.len() < MOST_GUESTS {
                            guests.push(guest);
                        }
                    }
                }
                guests.retain_mut(Link::hear);
            }
            Role::Guest { host } => {
                let mut message = vec![0; LONGEST];
                loop {
                    match take(host, &mut message, RecvFlags::DONTWAIT) {
                        Ok((0, _)) | Err(None) => break self.succeed(own),
                        Ok((length, Some(socket))) => {
                            arrivals.extend(received(&message[..length], socket));
                        }
                        Ok((_, None)) => {}
                        Err(Some(())) => break,
                    }
                }
            }
        }
        arrivals
    }

    /// The host is gone: one of us hosts the port from now on, the others are its guests.
    fn succeed(&mut self, own: &Arc<Listener>) {
        loop {
            if let Ok(meet) = open(self.address) {
                self.role = Role::Host { meet: Some(meet), guests: Vec::new() };
                self.took_over = Some(Instant::now());
                return;
            }
            if let Ok((host, _)) = visit(self.address) {
                self.role = Role::Guest { host };
                let inner = own.lock();
                let mut news = Vec::new();
                for (number, place) in inner.free() {
                    news.push(News::Waits { number, token: place.token.clone(), any_user: place.any_user });
                    if let Some(owner) = place.owner.clone() {
                        news.push(News::Belongs { number, owner });
                    }
                }
                drop(inner);
                self.tell(&news);
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn wanted(&self) -> impl Iterator<Item = (Guest, &Wanted)> + Clone {
        let guests = match &self.role {
            Role::Host { guests, .. } => guests.as_slice(),
            Role::Guest { .. } => &[],
        };
        guests.iter().enumerate().flat_map(|(link, guest)| {
            guest.waiting.iter().map(move |wanted| (Guest { link, number: wanted.number }, wanted))
        })
    }

    /// The seat in another run that a token stands for, its program, and whether it takes other users' bots.
    pub(super) fn with_token(&self, token: &str) -> Option<(Guest, Option<&Owner>, bool)> {
        let found = self.wanted().find(|(_, wanted)| wanted.token == token);
        found.map(|(guest, wanted)| (guest, wanted.owner.as_ref(), wanted.any_user))
    }

    /// The programs that other runs wait for.
    pub(super) fn owners(&self) -> impl Iterator<Item = &Owner> + Clone {
        self.wanted().filter_map(|(_, wanted)| wanted.owner.as_ref())
    }

    /// The seat in another run whose program has this mark.
    pub(super) fn with_mark(&self, mark: &str) -> Option<Guest> {
        let is_meant = |wanted: &Wanted| wanted.owner.as_ref().is_some_and(|owner| owner.mark == mark);
        self.wanted().find(|(_, wanted)| is_meant(wanted)).map(|(guest, _)| guest)
    }

    /// Whether another run waits for a program it is just starting.
    pub(super) fn is_unclear(&self) -> bool {
        self.wanted().any(|(_, wanted)| !wanted.token.is_empty() && wanted.owner.is_none())
    }

    /// The first seat in another run open to anybody that takes this caller.
    pub(super) fn for_anybody(&self, caller: &Caller) -> Option<Guest> {
        let takes =
            |wanted: &Wanted| wanted.token.is_empty() && caller.may_take(None, wanted.any_user).is_ok();
        self.wanted().find(|(_, wanted)| takes(wanted)).map(|(guest, _)| guest)
    }

    /// Passes a connection to another run, with what was read from it.
    pub(super) fn pass(&mut self, guest: Guest, socket: &TcpStream, read: &[u8]) {
        let Role::Host { guests, .. } = &mut self.role else { return };
        let link = &mut guests[guest.link];
        link.waiting.retain(|wanted| wanted.number != guest.number);
        let mut message = guest.number.to_le_bytes().to_vec();
        message.extend_from_slice(read);
        // If the guest is gone, so is its bot.
        let _ = give(&link.socket, &message, socket.as_fd());
    }
}

impl Link {
    /// Reads a guest's messages. Returns whether it is still there.
    fn hear(&mut self) -> bool {
        let mut message = [0; 512];
        loop {
            match net::recv(&self.socket, &mut message[..], RecvFlags::DONTWAIT) {
                Ok((_, 0)) => return false,
                Ok((_, length)) if length <= message.len() => {
                    // Unknown messages are ignored.
                    let _ = self.note(&message[..length]);
                }
                Ok(_) => {}
                Err(rustix::io::Errno::AGAIN) => return true,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    fn note(&mut self, message: &[u8]) -> Option<()> {
        let mut words = std::str::from_utf8(message).ok()?.split(' ');
        let (what, number) = (words.next()?, words.next()?.parse().ok()?);
        match what {
            "waits" if self.waiting.len() < 10_000 => {
                let token = words.next().unwrap_or("").to_owned();
                let any_user = words.next() == Some("any-user");
                self.waiting.push(Wanted { number, token, any_user, owner: None });
            }
            "belongs" => {
                let root = Pid::from_raw(words.next()?.parse().ok()?)?;
                let mark = words.next()?.to_owned();
                let wanted = self.waiting.iter_mut().find(|wanted| wanted.number == number)?;
                wanted.owner = Some(Owner { root, mark });
            }
            "left" => self.waiting.retain(|wanted| wanted.number != number),
            _ => {}
        }
        Some(())
    }
}

/// Waits until the clients in hand have been passed on, before this run ends.
extern "C" fn leave() {
    LEAVING.store(true, Ordering::Relaxed);
    let until = Instant::now() + Duration::from_secs(1);
    while IN_HAND.load(Ordering::Relaxed) > 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn name(address: SocketAddr) -> rustix::io::Result<SocketAddrUnix> {
    SocketAddrUnix::new_abstract_name(format!("agon-listener-{address}").as_bytes())
}

fn new_socket() -> rustix::io::Result<OwnedFd> {
    net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
}

/// Opens the meeting place for guests.
fn open(address: SocketAddr) -> rustix::io::Result<OwnedFd> {
    let socket = new_socket()?;
    net::bind(&socket, &name(address)?)?;
    net::listen(&socket, 16)?;
    Ok(socket)
}

/// Visits the host of a port; returns the connection to it and a copy of the listening socket.
fn visit(address: SocketAddr) -> io::Result<(OwnedFd, TcpListener)> {
    let socket = new_socket()?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
    net::connect(&socket, &name(address)?)?;
    if !is_one_of_us(&socket) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    match take(&socket, &mut [0; 16], RecvFlags::empty()) {
        Ok((_, Some(listener))) => Ok((socket, TcpListener::from(listener))),
        _ => Err(io::ErrorKind::ConnectionAborted.into()),
    }
}

/// Admits a guest and gives it a copy of the listening socket.
fn welcome(meet: &OwnedFd, listener: &TcpListener) -> Option<Link> {
    sys::never_block(meet).ok()?;
    loop {
        let socket = net::accept_with(meet, SocketFlags::CLOEXEC).ok()?;
        let _ = set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE));
        if is_one_of_us(&socket) && give(&socket, b"welcome", listener.as_fd()).is_ok() {
            return Some(Link { socket, waiting: Vec::new() });
        }
    }
}

/// Whether the other end belongs to our user and is no bot.
fn is_one_of_us(socket: &OwnedFd) -> bool {
    socket_peercred(socket).is_ok_and(|other| {
        other.uid == rustix::process::getuid() && sys::variable(other.pid, process::MARK).is_none()
    })
}

/// Sends a message with a descriptor.
fn give(to: &OwnedFd, message: &[u8], descriptor: BorrowedFd<'_>) -> rustix::io::Result<()> {
    let descriptors = [descriptor];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    net::sendmsg(to, &[IoSlice::new(message)], &mut control, SendFlags::NOSIGNAL).map(drop)
}

/// Receives a message, and the descriptor that came with it. `Err(Some)` when there is none yet.
fn take(
    from: &OwnedFd,
    message: &mut [u8],
    flags: RecvFlags,
) -> Result<(usize, Option<OwnedFd>), Option<()>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let received = net::recvmsg(from, &mut [IoSliceMut::new(message)], &mut control, flags);
    match received {
        Ok(received) => {
            let descriptors = control.drain().filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
                _ => None,
            });
            let descriptor = { descriptors }.next();
            Ok((received.bytes, descriptor))
        }
        // When a peer ended with messages of ours unread, that error comes before what it had still sent.
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR | rustix::io::Errno::CONNRESET) => {
            Err(Some(()))
        }
        Err(_) => Err(None),
    }
}

/// A connection passed to us by a host.
fn received(message: &[u8], socket: OwnedFd) -> Option<(Connection, Vec<u8>, u64)> {
    let (number, read) = message.split_first_chunk()?;
    let mut connection = Connection::resume(TcpStream::from(socket), read.to_vec(), LONGEST_GREETING).ok()?;
    let mut greeting = Vec::new();
    let found = connection.receive(&mut greeting);
    (found == Received::Message).then(|| (connection, greeting, u64::from_le_bytes(*number)))
}
