//! Connections.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use agon_web::Patient;
use axum::middleware::from_fn;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::beats;
use crate::gate::{self, Peer};
use crate::limits::{CONNECTIONS_PER_ADDRESS, Connections, Ticket, WORKERS_PER_ADDRESS};
use crate::routes::{self, Door};
use crate::site::{Site, Way};

/// The most connections open at once at a port; further ones wait.
const MOST: usize = 4_096;
/// How many files the process should be able to open: the connections of two ports, and what belongs to them.
pub const FILES: u64 = 4 * MOST as u64;
/// The listen backlog. All live pages reconnect at the same moment; with the usual 128 the rest would retry a second later.
const WAITING: u32 = 2_000;
/// What is said to a client that has too many connections, before anything is read of it.
const TOO_MANY: &[u8] =
    b"HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nRetry-After: 5\r\nContent-Type: text/plain\r\n\
    Content-Length: 75\r\n\r\nToo many connections are open from your address. Close some, and try again.";
/// How long the head of a request may take to arrive.
const HEAD: Duration = Duration::from_secs(10);
/// How long a part of an answer may wait to be taken.
const TAKEN: Duration = Duration::from_secs(60);
/// The largest head of a request, in bytes.
const LARGEST_HEAD: usize = 32 << 10;
/// How long a client that is being answered has to take the answer when the server stops.
const FAREWELL: Duration = Duration::from_secs(5);

/// A site that listens.
pub struct Listening {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    /// Background tasks that run as long as it listens.
    beside: Vec<JoinHandle<()>>,
}

/// Opens the address of a contest's site ([`Way::at`]) and answers on it, people and workers.
///
/// # Errors
/// When the address is not available.
pub async fn listen(site: Arc<Site>, at: SocketAddr) -> io::Result<Listening> {
    of_site(site, Door::Both, at).await
}

/// The same with an address of its own for workers, whom nobody at the other one can keep waiting; that one does not answer
/// workers any more. Returns both, the site's first.
///
/// # Errors
/// When one of the addresses is not available.
pub async fn listen_apart(
    site: Arc<Site>,
    at: SocketAddr,
    workers: SocketAddr,
) -> io::Result<(Listening, Listening)> {
    let way = match &site.way {
        tls @ Way::Tls { .. } => tls.clone(),
        // A worker's token travels readable: only to private addresses, a proxy on this machine among them.
        _ => Way::Lan,
    };
    let (router, leaving) = (routes::router(site.clone(), Door::Workers), site.clone());
    let connections = Connections::new(WORKERS_PER_ADDRESS);
    let guests = Guests::of(&way, &site);
    let workers = open_at(way, router, workers, guests, connections, move || leaving.farewell())?;
    Ok((of_site(site, Door::Site, at).await?, workers))
}

async fn of_site(site: Arc<Site>, door: Door, at: SocketAddr) -> io::Result<Listening> {
    let (way, router, leaving) = (site.way.clone(), routes::router(site.clone(), door), site.clone());
    let (guests, connections) = (Guests::of(&way, &site), Connections::new(CONNECTIONS_PER_ADDRESS));
    let mut listening = open_at(way, router, at, guests, connections, move || leaving.farewell())?;
    listening.beside.push(tokio::spawn(beat(site.clone())));
    listening.beside.push(tokio::spawn(async move { site.look_out().await }));
    Ok(listening)
}

/// Opens an address and serves `router`, which has no pages, on it. `farewell` releases those who are waiting for something when
/// it stops. A proxy is on this machine.
///
/// # Errors
/// When the address is not available.
pub async fn open(
    way: Way,
    router: axum::Router,
    at: SocketAddr,
    farewell: impl FnOnce() + Send + 'static,
) -> io::Result<Listening> {
    let guests = if way.is_private() { Guests::Private } else { Guests::All };
    let connections = Connections::new(CONNECTIONS_PER_ADDRESS);
    open_at(way, router.layer(from_fn(gate::targeted)), at, guests, connections, farewell)
}

/// Whose connections are taken.
#[derive(Clone)]
enum Guests {
    All,
    /// Private addresses.
    Private,
    /// The site's proxies: from anybody else, what is said of forwarded addresses and of encryption would not be true.
    Proxies(Arc<Site>),
}

impl Guests {
    fn of(way: &Way, site: &Arc<Site>) -> Self {
        match way {
            Way::Proxy(_) => Self::Proxies(site.clone()),
            way if way.is_private() => Self::Private,
            _ => Self::All,
        }
    }

    fn include(&self, peer: IpAddr) -> bool {
        match self {
            Self::All => true,
            Self::Private => is_private(peer),
            Self::Proxies(site) => site.is_proxy(peer),
        }
    }
}

fn open_at(
    way: Way,
    router: axum::Router,
    at: SocketAddr,
    guests: Guests,
    connections: Connections,
    farewell: impl FnOnce() + Send + 'static,
) -> io::Result<Listening> {
    let socket = if at.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(at)?;
    let listener = socket.listen(WAITING)?;
    let address = listener.local_addr()?;
    let (stop, stopped) = watch::channel(false);
    let refreshing = tokio::spawn(refresh(way.clone()));
    let task = tokio::spawn(accept(way, router, listener, guests, connections, stopped, farewell));
    Ok(Listening { address, stop, task, beside: vec![refreshing] })
}

impl Listening {
    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops taking requests, and waits a while until those in progress are answered.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        self.beside.iter().for_each(JoinHandle::abort);
        let _ = tokio::time::timeout(FAREWELL, self.task).await;
    }
}

async fn accept(
    way: Way,
    router: axum::Router,
    listener: TcpListener,
    guests: Guests,
    connections: Connections,
    mut stopped: watch::Receiver<bool>,
    farewell: impl FnOnce(),
) {
    let router = TowerToHyperService::new(router);
    let room = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok(place) = room.clone().acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.changed() => break,
        };
        let Ok((stream, peer)) = accepted else {
            // For instance, too many open files; that passes.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let peer = peer.ip().to_canonical();
        if !guests.include(peer) {
            continue;
        }
        let share = match share(&way, &connections, peer) {
            Ok(share) => share,
            Err(TooMany) => {
                // Nothing waits for this client: what it does not take at once, it does not get.
                if !matches!(way, Way::Tls { .. }) {
                    let _ = stream.try_write(TOO_MANY);
                }
                continue;
            }
        };
        let (router, stopped, way) = (router.clone(), stopped.clone(), way.clone());
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            match way {
                Way::Tls { tls, .. } => {
                    if let Some(stream) = tls.greet(stream).await {
                        converse(router, stream, peer, stopped).await;
                    }
                }
                _ => converse(router, stream, peer, stopped).await,
            }
            drop((place, share));
        });
    }
    drop(listener);
    farewell();
    // Each connection holds a place: when all are free, all have been answered.
    let _ = room.acquire_many(MOST as u32).await;
}

/// An address has as many connections as it may.
struct TooMany;

/// The share of an address in the connections. Those of a proxy are everybody's: there each request is counted
/// ([`crate::gate::share`]).
fn share(way: &Way, connections: &Connections, peer: IpAddr) -> Result<Option<Ticket>, TooMany> {
    match way {
        Way::Proxy(_) => Ok(None),
        _ => connections.open(peer).map(Some).ok_or(TooMany),
    }
}

/// How soon live pages hear of a change.
const BEAT: Duration = Duration::from_millis(700);

async fn beat(site: Arc<Site>) {
    loop {
        tokio::time::sleep(BEAT).await;
        beats::beat(&site).await;
    }
}

/// How soon a renewed certificate is read.
const REFRESH: Duration = Duration::from_secs(60);

async fn refresh(way: Way) {
    if let Way::Tls { tls, .. } = way {
        loop {
            tokio::time::sleep(REFRESH).await;
            tls.refresh();
        }
    }
}

async fn converse(
    router: TowerToHyperService<axum::Router>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: IpAddr,
    mut stopped: watch::Receiver<bool>,
) {
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        router.call(request)
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(LARGEST_HEAD);
    let stream = TokioIo::new(Patient::new(stream, TAKEN));
    let mut connection = std::pin::pin!(server.serve_connection(stream, service));
    tokio::select! {
        // A client that leaves in the middle is no error of ours.
        _ = connection.as_mut() => {}
        () = told(&mut stopped) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Waits until the server stops.
async fn told(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stopped| *stopped).await.is_ok();
}

/// Addresses of private networks.
pub fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => four.is_loopback() || four.is_private() || four.is_link_local(),
        IpAddr::V6(six) => match six.to_ipv4_mapped() {
            Some(four) => is_private(four.into()),
            None => six.is_loopback() || is_local(six),
        },
    }
}

/// `fc00::/7` and `fe80::/10`.
fn is_local(address: Ipv6Addr) -> bool {
    address.is_unique_local() || address.is_unicast_link_local()
}
