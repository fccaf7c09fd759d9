//! Which process is at the other end of a connection on this machine.
//!
//! Linux lists all connections with their socket numbers, and for each process the sockets it holds. Looking up
//! a process costs a fraction of a millisecond, once per connection.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use rustix::process::Pid;

use super::children;
use crate::sys;

/// A program that was started for a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its first process.
    pub root: Pid,
    /// The value of [`children::MARK`] in the environment of all its processes.
    pub mark: String,
}

/// Who is at the other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A process of the bot with this mark, started by this program or another run of it.
    Bot(String),
    /// Another process of our own user.
    OurUser,
    /// Unknown: why, to follow "it".
    Stranger(String),
}

impl Caller {
    /// Who is at the other end of the connection between `theirs` and our end `ours`. Processes of `owners` are
    /// recognised even without a mark.
    pub fn find<'a>(
        theirs: SocketAddr,
        ours: SocketAddr,
        owners: impl Iterator<Item = &'a Owner> + Clone,
    ) -> Self {
        let Some(peer) = Connections::default().peer(theirs, ours) else {
            return Self::Stranger("comes from another machine, or has gone away again".to_owned());
        };
        // Searching one tree is cheap, and nearly always enough.
        if let Some(owner) = owners.clone().find(|owner| is_below(peer.socket, owner.root)) {
            return Self::Bot(owner.mark.clone());
        }
        // Another user's process may carry a forged mark.
        if peer.user != rustix::process::geteuid().as_raw() {
            return Self::Stranger(format!("belongs to another user of this machine (id {})", peer.user));
        }
        let mut holders = processes().filter(|pid| holds(*pid, peer.socket)).peekable();
        if holders.peek().is_none() {
            return Self::Stranger("belongs to a process that hides what it has open".to_owned());
        }
        let mark_of = |pid| {
            let session = sys::stat(pid).map(|stat| stat.session);
            let leads = |owner: &&Owner| session == Some(owner.root.as_raw_nonzero().get());
            let known = || owners.clone().find(leads).map(|owner| owner.mark.clone());
            sys::variable(pid, children::MARK).or_else(known)
        };
        holders.find_map(mark_of).map_or(Self::OurUser, Self::Bot)
    }

    /// Whether the caller may take a seat: that of the program `owner`, or, with no owner, one open to our user,
    /// or to everyone with `any_user`.
    ///
    /// # Errors
    /// Why not, to follow "it".
    pub fn may_take(&self, owner: Option<&Owner>, any_user: bool) -> Result<(), String> {
        match (self, owner) {
            (Self::Bot(mark), Some(owner)) if *mark == owner.mark => Ok(()),
            (Self::Bot(_), _) => Err("is another bot's, which tried to take this place".to_owned()),
            (Self::OurUser, Some(_)) => {
                Err("is not a process of the bot that was started for this place".to_owned())
            }
            (Self::OurUser, None) => Ok(()),
            (Self::Stranger(_), None) if any_user => Ok(()),
            (Self::Stranger(why), None) => Err(format!("{why}; --any-user lets it in")),
            (Self::Stranger(why), Some(_)) => Err(why.clone()),
        }
    }
}

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Peer {
    socket: u64,
    /// The user it belongs to.
    user: u32,
}

/// The system's connection tables, each read once when needed.
#[derive(Default)]
struct Connections {
    fourth: OnceCell<String>,
    sixth: OnceCell<String>,
}

impl Connections {
    /// The other end; none when it is not on this machine, or nobody holds it any more.
    fn peer(&self, theirs: SocketAddr, ours: SocketAddr) -> Option<Peer> {
        // An IPv6 socket may also carry IPv4, and is then listed in the other table.
        let find = |table: &OnceCell<String>, file: &str, mapped: bool| {
            let text = table.get_or_init(|| std::fs::read_to_string(file).unwrap_or_default());
            let (theirs, ours) = (entry(theirs, mapped), entry(ours, mapped));
            text.lines().find_map(|line| {
                let mut words = line.split_ascii_whitespace().skip(1);
                let found = words.next() == Some(&theirs) && words.next() == Some(&ours);
                let mut number = |skipped| words.nth(skipped)?.parse().ok();
                let peer = found.then(|| (number(4), number(1)));
                let (user, socket) = peer.and_then(|(user, socket)| Some((user?, socket?)))?;
                (socket != 0).then_some(Peer { socket, user: user as u32 })
            })
        };
        let fourth = theirs.ip().to_canonical().is_ipv4();
        let own = if fourth { find(&self.fourth, "/proc/net/tcp", false) } else { None };
        own.or_else(|| find(&self.sixth, "/proc/net/tcp6", true))
    }
}

/// An address as in the system's tables: words of four bytes, each in this machine's byte order.
fn entry(address: SocketAddr, sixth: bool) -> String {
    let ip = match (address.ip().to_canonical(), sixth) {
        (IpAddr::V4(ip), false) => ip.octets().to_vec(),
        (IpAddr::V4(ip), true) => ip.to_ipv6_mapped().octets().to_vec(),
        (IpAddr::V6(ip), _) => ip.octets().to_vec(),
    };
    let mut text = String::new();
    for word in ip.chunks_exact(4) {
        let word = u32::from_ne_bytes(word.try_into().expect("four bytes"));
        write!(text, "{word:08X}").expect("writing to memory");
    }
    write!(text, ":{:04X}", address.port()).expect("writing to memory");
    text
}

/// Whether a process holds a socket.
fn holds(pid: Pid, socket: u64) -> bool {
    let name = format!("socket:[{socket}]");
    files(pid).any(|file| file.as_os_str() == &*name)
}

/// What a process has open, by the system's names.
fn files(pid: Pid) -> impl Iterator<Item = PathBuf> {
    let links =
        std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).into_iter().flatten().flatten();
    links.filter_map(|link| std::fs::read_link(link.path()).ok())
}

/// Whether a process or one below it holds a socket.
fn is_below(socket: u64, root: Pid) -> bool {
    sys::tree(root).into_iter().any(|pid| holds(pid, socket))
}

/// The marks of the bots at the other ends of many connections (theirs, ours); scans all processes once.
pub fn marks(ends: &[(SocketAddr, SocketAddr)]) -> Vec<Option<String>> {
    let marked = processes().filter_map(|pid| Some((pid, sys::variable(pid, children::MARK)?)));
    let holders: HashMap<PathBuf, String> =
        marked.flat_map(|(pid, mark)| files(pid).map(move |file| (file, mark.clone()))).collect();
    if holders.is_empty() {
        return vec![None; ends.len()];
    }
    let connections = Connections::default();
    let holder = |socket| holders.get(Path::new(&format!("socket:[{socket}]"))).cloned();
    ends.iter()
        .map(|(theirs, ours)| connections.peer(*theirs, *ours).and_then(|peer| holder(peer.socket)))
        .collect()
}

fn processes() -> impl Iterator<Item = Pid> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?))
}

/// Whether another run of this program listens at a port.
pub fn is_own_program(port: u16) -> bool {
    let own = std::env::current_exe().ok();
    let other = holder(port).and_then(|(pid, _)| std::fs::read_link(format!("/proc/{pid}/exe")).ok());
    own.is_some() && own == other
}

/// Why nobody can listen at an address, naming the process that already does, if it can be found.
pub fn cannot_listen(address: SocketAddr, error: &io::Error) -> String {
    let holder = match error.kind() {
        io::ErrorKind::AddrInUse => match holder(address.port()) {
            Some((pid, name)) => format!("`{name}` (process {pid}) listens there; end it, or use --port"),
            None => "another program listens there; end it, or use --port".to_owned(),
        },
        io::ErrorKind::PermissionDenied => "ports below 1024 need special rights; use --port".to_owned(),
        _ => error.to_string(),
    };
    format!("cannot listen at {address}: {holder}")
}

/// The process that listens at a port, with its command line.
pub fn holder(port: u16) -> Option<(i32, String)> {
    let suffix = format!(":{port:04X}");
    let socket = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|file| {
        let text = std::fs::read_to_string(file).ok()?;
        text.lines().find_map(|line| {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            // State 0A is a listening socket.
            let listens = words.get(1)?.ends_with(&suffix) && *words.get(3)? == "0A";
            listens.then(|| words.get(9)?.parse().ok()).flatten()
        })
    })?;
    let pid = processes().find(|pid| holds(*pid, socket))?.as_raw_nonzero().get();
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = line.split(|&byte| byte == 0).filter(|word| !word.is_empty());
    let line = words.map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ");
    let shown = line.chars().filter(|letter| !letter.is_control()).take(60).collect();
    Some((pid, shown))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn both_ends_of_a_connection_are_found() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let theirs = TcpStream::connect(address).expect("a connection");
        let (_ours, peer) = listener.accept().expect("somebody");
        let own = rustix::process::getpid();
        let found = Connections::default().peer(peer, address).expect("it stands in the table");
        assert!(holds(own, found.socket) && is_below(found.socket, own));
        assert_eq!(found.user, rustix::process::geteuid().as_raw());
        let init = Pid::from_raw(1).expect("a process");
        assert!(!holds(init, found.socket));
        let owner = |root, mark: &str| Owner { root, mark: mark.to_owned() };
        let caller = |owners: &[Owner]| Caller::find(peer, address, owners.iter());
        assert_eq!(caller(&[owner(own, "mine")]), Caller::Bot("mine".to_owned()));
        assert_eq!(caller(&[]), Caller::OurUser);
        let (pid, _) = holder(address.port()).expect("we listen there");
        assert_eq!(pid, own.as_raw_nonzero().get());
        let why = cannot_listen(address, &TcpListener::bind(address).expect_err("in use"));
        assert!(why.contains(&format!("(process {pid})")) && why.contains("--port"), "{why}");
        drop(theirs);
    }

    #[test]
    fn a_place_is_for_its_own_bot_or_for_our_user() {
        let root = rustix::process::getpid();
        let owner = Owner { root, mark: "1.2.1".to_owned() };
        let bot = |mark: &str| Caller::Bot(mark.to_owned());
        let stranger = || Caller::Stranger("belongs to another user of this machine (id 7)".to_owned());
        assert_eq!(bot("1.2.1").may_take(Some(&owner), false), Ok(()));
        assert_eq!(Caller::OurUser.may_take(None, false), Ok(()));
        assert_eq!(stranger().may_take(None, true), Ok(()));
        for (caller, owner, any_user) in [
            (bot("1.2.2"), Some(&owner), true),
            (bot("1.2.1"), None, true),
            (Caller::OurUser, Some(&owner), true),
            (stranger(), Some(&owner), true),
        ] {
            assert!(caller.may_take(owner, any_user).is_err(), "{caller:?}");
        }
        let why = stranger().may_take(None, false).expect_err("a stranger");
        assert_eq!(why, "belongs to another user of this machine (id 7); --any-user lets it in");
        // Nobody is at the other end.
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let nobody = Caller::find("192.0.2.1:9".parse().expect("an address"), address, std::iter::empty());
        assert!(matches!(nobody, Caller::Stranger(_)), "{nobody:?}");
    }

    #[test]
    fn a_socket_of_the_sixth_version_that_talks_to_the_fourth_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let mapped: SocketAddr =
            format!("[::ffff:127.0.0.1]:{}", address.port()).parse().expect("an address");
        let Ok(theirs) = TcpStream::connect(mapped) else {
            println!("SKIPPED: this machine has no IPv6");
            return;
        };
        let (_ours, peer) = listener.accept().expect("somebody");
        let found = Connections::default().peer(peer, address).expect("it stands in the table");
        assert!(holds(rustix::process::getpid(), found.socket));
        drop(theirs);
    }
}
