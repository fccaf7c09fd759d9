//! Which process is at the other end of a connection on this machine.
//!
//! Linux lists all connections with the number of their socket, and every process with the sockets
//! it holds. Looking a process up costs a fraction of a millisecond, once a connection.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use rustix::process::Pid;

use crate::{family, sys};

/// The socket of the peer `theirs` of our end `ours`; none when it is not on this machine.
pub fn socket(theirs: SocketAddr, ours: SocketAddr) -> Option<u64> {
    Connections::default().socket(theirs, ours)
}

/// The system's tables of connections, read once when they are needed.
#[derive(Default)]
struct Connections {
    fourth: OnceCell<String>,
    sixth: OnceCell<String>,
}

impl Connections {
    fn socket(&self, theirs: SocketAddr, ours: SocketAddr) -> Option<u64> {
        // A socket of the sixth version may also talk to the fourth; then it stands in the other table.
        let find = |table: &OnceCell<String>, file: &str, mapped: bool| {
            let text = table.get_or_init(|| std::fs::read_to_string(file).unwrap_or_default());
            let (theirs, ours) = (entry(theirs, mapped), entry(ours, mapped));
            text.lines().find_map(|line| {
                let mut words = line.split_ascii_whitespace().skip(1);
                let found = words.next() == Some(&theirs) && words.next() == Some(&ours);
                found.then(|| words.nth(6)?.parse().ok()).flatten().filter(|socket| *socket != 0)
            })
        };
        let fourth = theirs.ip().to_canonical().is_ipv4();
        let own = if fourth { find(&self.fourth, "/proc/net/tcp", false) } else { None };
        own.or_else(|| find(&self.sixth, "/proc/net/tcp6", true))
    }
}

/// An address as the system's tables write it: words of four bytes, each in this machine's order.
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
pub fn holds(pid: Pid, socket: u64) -> bool {
    let name = format!("socket:[{socket}]");
    files(pid).any(|file| file.as_os_str() == &*name)
}

/// What a process holds open, as the system names it.
fn files(pid: Pid) -> impl Iterator<Item = PathBuf> {
    let links =
        std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).into_iter().flatten().flatten();
    links.filter_map(|link| std::fs::read_link(link.path()).ok())
}

/// Whether a socket is held by a process or one below it.
pub fn is_below(socket: u64, root: Pid) -> bool {
    sys::tree(root).into_iter().any(|pid| holds(pid, socket))
}

/// The mark of the bot that holds a socket; none when who holds it is no bot that this program, or
/// another run of it, has started, or cannot be seen.
pub fn mark(socket: u64) -> Option<String> {
    processes().filter(|pid| holds(*pid, socket)).find_map(|pid| sys::variable(pid, family::MARK))
}

/// As [`mark`], for the peers of many connections (theirs, ours) at once: one look at all processes.
pub fn marks(ends: &[(SocketAddr, SocketAddr)]) -> Vec<Option<String>> {
    let marked = processes().filter_map(|pid| Some((pid, sys::variable(pid, family::MARK)?)));
    let holders: HashMap<PathBuf, String> =
        marked.flat_map(|(pid, mark)| files(pid).map(move |file| (file, mark.clone()))).collect();
    if holders.is_empty() {
        return vec![None; ends.len()];
    }
    let connections = Connections::default();
    let holder = |socket| holders.get(Path::new(&format!("socket:[{socket}]"))).cloned();
    ends.iter().map(|(theirs, ours)| connections.socket(*theirs, *ours).and_then(holder)).collect()
}

fn processes() -> impl Iterator<Item = Pid> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?))
}

/// Whether who listens at a port is another run of this program.
pub fn is_own_program(port: u16) -> bool {
    let own = std::env::current_exe().ok();
    let other = holder(port).and_then(|(pid, _)| std::fs::read_link(format!("/proc/{pid}/exe")).ok());
    own.is_some() && own == other
}

/// Why nobody can listen at an address, with the process that does already, where that can be known.
pub fn cannot_listen(address: SocketAddr, error: &io::Error) -> String {
    let holder = match error.kind() {
        io::ErrorKind::AddrInUse => match holder(address.port()) {
            Some((pid, name)) => format!("`{name}` (process {pid}) listens there; end it, or use --port"),
            None => "another program listens there; end it, or use --port".to_owned(),
        },
        io::ErrorKind::PermissionDenied => "ports below 1024 are not for everybody; use --port".to_owned(),
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
            // State 0A is a socket that listens.
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
        let found = socket(peer, address).expect("it stands in the table");
        assert!(holds(own, found) && is_below(found, own));
        let init = Pid::from_raw(1).expect("a process");
        assert!(!holds(init, found));
        let (pid, _) = holder(address.port()).expect("we listen there");
        assert_eq!(pid, own.as_raw_nonzero().get());
        let why = cannot_listen(address, &TcpListener::bind(address).expect_err("in use"));
        assert!(why.contains(&format!("(process {pid})")) && why.contains("--port"), "{why}");
        drop(theirs);
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
        let found = socket(peer, address).expect("it stands in the table");
        assert!(holds(rustix::process::getpid(), found));
        drop(theirs);
    }
}
