//! The victim: stands in for an opponent or the referee, for attacks to find. It lives until its input closes.

use std::ffi::CString;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

use super::Target;
use crate::sys::{self, Arg};

/// A secret in the victim's environment and memory.
pub const SECRET: &str = "AGON_SECRET=the seed of the next match";

/// The victim's life: it becomes `user`, creates its targets in `folder` and by `name`, and reports them.
pub fn live(user: Option<u32>, folder: &Path, name: &str) -> io::Result<()> {
    if let Some(user) = user {
        let (uid, gid) = (rustix::fs::Uid::from_raw(user), rustix::fs::Gid::from_raw(user));
        rustix::thread::set_thread_groups(&[])?;
        rustix::thread::set_thread_res_gid(gid, gid, gid)?;
        rustix::thread::set_thread_res_uid(uid, uid, uid)?;
        // Changing users hides a process; opponents do not change theirs.
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable);
    }
    // Nor do they have rights that their opponents lack.
    let none = rustix::thread::CapabilitySet::empty();
    let none = rustix::thread::CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, none)?;
    let address = SocketAddr::from_abstract_name(name)?;
    let _abstract = UnixListener::bind_addr(&address)?;
    let path = folder.join("open/socket");
    let _path = UnixListener::bind(&path)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777))?;
    let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = tcp.local_addr()?.port();
    // The same port if it is free; attacks that find nobody there say so.
    let _udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, port));
    let id = |call, mut arguments: [Arg<'_>; 3]| sys::call(call, &mut arguments).map_or(-1, |id| id as i32);
    let shared = 0o666 | i64::from(libc::IPC_CREAT);
    let ids = [
        id(libc::SYS_shmget, [Arg::Int(0), Arg::Int(4096), Arg::Int(shared)]),
        id(libc::SYS_semget, [Arg::Int(0), Arg::Int(1), Arg::Int(shared)]),
        id(libc::SYS_msgget, [Arg::Int(0), Arg::Int(shared), Arg::Int(0)]),
    ];
    let queue = CString::new(name)?;
    let attributes = sys::bytes(&[0, 4, 64, 0, 0, 0, 0, 0]);
    let create = i64::from(libc::O_CREAT | libc::O_RDWR);
    let open = &mut [Arg::Text(&queue), Arg::Int(create), Arg::Int(0o666), Arg::In(&attributes)];
    let _queue = sys::descriptor(libc::SYS_mq_open, open);
    let memory = Path::new("/dev/shm").join(name);
    let _ = fs::write(&memory, SECRET)
        .and_then(|()| fs::set_permissions(&memory, fs::Permissions::from_mode(0o666)));
    let program = fs::File::open("/proc/self/exe")?;
    let _ = rustix::fs::flock(&program, rustix::fs::FlockOperation::LockExclusive);
    let _ = rustix::fs::fcntl_lock(&program, rustix::fs::FlockOperation::LockShared);
    let target =
        Target { pid: std::process::id() as i32, ids, name: name.to_owned(), port, ..Target::default() };
    let mut out = io::stdout();
    writeln!(out, "{}", serde_json::to_string(&target)?)?;
    out.flush()?;
    let _ = io::stdin().read_to_end(&mut Vec::new());
    clear(&target);
    Ok(())
}

/// Removes what a victim made and what would outlive it, even if the victim was killed.
pub fn clear(target: &Target) {
    let remove = i64::from(libc::IPC_RMID);
    let [memory, semaphore, queue] = target.ids.map(i64::from);
    let _ = sys::call(libc::SYS_shmctl, &mut [Arg::Int(memory), Arg::Int(remove), Arg::Int(0)]);
    let _ = sys::call(libc::SYS_semctl, &mut [Arg::Int(semaphore), Arg::Int(0), Arg::Int(remove)]);
    let _ = sys::call(libc::SYS_msgctl, &mut [Arg::Int(queue), Arg::Int(remove), Arg::Int(0)]);
    if let Ok(name) = CString::new(target.name.as_str()) {
        let _ = sys::call(libc::SYS_mq_unlink, &mut [Arg::Text(&name)]);
    }
    let _ = fs::remove_file(Path::new("/dev/shm").join(&target.name));
}
