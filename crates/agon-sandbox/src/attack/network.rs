//! Attacks on the network. They target only the victim on the loopback.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use super::{Attack, AttackTry, Control, Target, absent, held};
use crate::sys::{self, Arg};
use crate::{Level, Wall};

const FILTER: &str = "sockets of one family only (filter), own network";
const PATIENCE: Duration = Duration::from_secs(2);

pub fn list() -> Vec<Attack> {
    let new = Attack::new;
    let foreign = Control::Without(&[Wall::Filter]);
    let mut list = vec![
        new("tcp", "connect to a port of the machine", FILTER, |to| {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, to.port));
            TcpStream::connect_timeout(&address, PATIENCE).map(|_| "connected".into())
        }),
        new("tcp-by-kernel-name", "the same through the address of all interfaces", FILTER, |to| {
            let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, to.port));
            TcpStream::connect_timeout(&address, PATIENCE).map(|_| "connected".into())
        }),
        new("tcp-mapped", "the same with an address of version 6", FILTER, |to| {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST.to_ipv6_mapped(), to.port));
            TcpStream::connect_timeout(&address, PATIENCE).map(|_| "connected".into())
        }),
        new("udp", "send a packet to the machine", FILTER, |to| {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.send_to(b"x", (Ipv4Addr::LOCALHOST, to.port)).map(|_| "sent".into())
        }),
        new("listen", "wait for connections", FILTER, |_| {
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map(|_| "listening".into())
        }),
        new("listen-6", "wait for connections of version 6", FILTER, |_| {
            match TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) {
                Err(error) if error.raw_os_error() == Some(libc::EADDRNOTAVAIL) => {
                    Err(absent("no loopback of version 6"))
                }
                other => other.map(|_| "listening".into()),
            }
        }),
        new("resolve-name", "look up a name", FILTER, |_| {
            use std::net::ToSocketAddrs as _;
            let found = ("localhost", 9).to_socket_addrs()?.count();
            let all = std::fs::read_to_string("/etc/resolv.conf");
            match all {
                Ok(_) => Ok(format!("{found} addresses, and the machine's name servers")),
                Err(_) => held("only localhost"),
            }
        }),
        new(
            "read-connections",
            "read who is connected with this machine",
            "own network (net namespace)",
            |_| {
                let text = std::fs::read_to_string("/proc/self/net/tcp")?;
                let lines = text.lines().count();
                if lines > 1 { Ok(format!("{} connections", lines - 1)) } else { held("none but one's own") }
            },
        )
        .at(Level::B),
        new(
            "read-interfaces",
            "read the machine's interfaces and their addresses",
            "own network (net namespace)",
            |_| {
                let text = std::fs::read_to_string("/proc/self/net/fib_trie")?;
                if text.contains("127.0.0.1") { Ok("its addresses".into()) } else { held("none") }
            },
        )
        .at(Level::B),
        new("every-family", "try sockets of all families and kinds", FILTER, |_| {
            let mut got = Vec::new();
            for family in (2..46).filter(|family| *family != libc::AF_UNIX) {
                for kind in [libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_SEQPACKET] {
                    let ask = &mut [Arg::Int(family.into()), Arg::Int(kind.into()), Arg::Int(0)];
                    if sys::descriptor(libc::SYS_socket, ask).is_ok() {
                        got.push(family);
                        break;
                    }
                }
            }
            if got.is_empty() { held("none was given") } else { Ok(format!("families {got:?}")) }
        }),
        new(
            "family-with-high-bits",
            "ask for a family with a bit above the low 32",
            "filter (low 32 bits)",
            |_| {
                let family = 0x1_0000_0000 | i64::from(libc::AF_INET);
                let ask = &mut [Arg::Int(family), Arg::Int(libc::SOCK_STREAM.into()), Arg::Int(0)];
                sys::descriptor(libc::SYS_socket, ask).map(|_| "a socket".into())
            },
        ),
        new("pair-of-another-family", "make a pair of sockets of another family", "filter", |_| {
            let mut pair = [0_u8; 8];
            let family = i64::from(libc::AF_INET);
            let ask = &mut [Arg::Int(family), Arg::Int(1), Arg::Int(0), Arg::Out(&mut pair)];
            match sys::call(libc::SYS_socketpair, ask) {
                Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                    Ok("asked the network".into())
                }
                other => other.map(|_| "a pair".into()),
            }
        })
        .control(foreign),
        new(
            "socket-of-x32",
            "ask for a socket through the calls of x32",
            "filter (other ABIs are killed)",
            |_| {
                let number = 0x4000_0000 | libc::SYS_socket;
                let ask = &mut [Arg::Int(libc::AF_INET.into()), Arg::Int(1), Arg::Int(0)];
                match sys::call(number, ask) {
                    // Not held: this kernel just has no such calls.
                    Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
                        Ok("the kernel looked for it".into())
                    }
                    other => other.map(|_| "a socket".into()),
                }
            },
        ),
    ];
    #[cfg(target_arch = "x86_64")]
    list.push(new(
        "call-of-32-bits",
        "call the kernel as programs of 32 bits do",
        "filter (other ABIs are killed)",
        |_| {
            let pid = sys::call_of_32_bits(20);
            let own = rustix::process::getpid().as_raw_nonzero().get();
            if pid == own { Ok("answered".into()) } else { Err(absent("no programs of 32 bits here")) }
        },
    ));
    list.push(new("tcp-and-talk", "bring a message out of the match", FILTER, talk));
    list
}

/// Listens and connects to itself, which is enough to meet a teammate in another match.
fn talk(_: &Target) -> AttackTry {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut out = TcpStream::connect(listener.local_addr()?)?;
    let (mut back, _) = listener.accept()?;
    out.write_all(b"hello")?;
    let mut text = [0; 5];
    back.set_read_timeout(Some(PATIENCE))?;
    back.read_exact(&mut text)?;
    Ok("five bytes arrived".into())
}
