//! The one task that writes: it drains its channel into one transaction.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use crate::backend::{self, Conn, Place};
use crate::{Act, StoreError};

/// Upper limit on the acts that share a transaction.
const MOST: usize = 128;
/// How many acts may wait for their turn; further callers wait, too.
const WAITING: usize = 1024;

/// A transaction longer than this goes into the program's log where that is enabled: everybody else waits for it.
const LONG: Duration = Duration::from_millis(20);

/// An act with the way back to its caller, whatever its type.
trait Deed: Any + Send {
    /// Does it and others of its kind within a transaction. May be called again when that transaction failed.
    fn run<'a>(
        &'a mut self,
        others: &'a mut [Box<dyn Deed>],
        conn: &'a mut Conn,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>>;
    /// Reports the outcome: it is committed.
    fn done(self: Box<Self>);
    /// Reports that it could not be written.
    fn failed(self: Box<Self>, error: StoreError);
    /// The name of its kind.
    fn kind(&self) -> &'static str;
}

struct Asked<A: Act> {
    act: A,
    reply: Option<A::Reply>,
    to: oneshot::Sender<Result<A::Reply, StoreError>>,
}

impl<A: Act> Deed for Asked<A> {
    fn run<'a>(
        &'a mut self,
        others: &'a mut [Box<dyn Deed>],
        conn: &'a mut Conn,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>> {
        Box::pin(async {
            let others = others.iter_mut().filter_map(|deed| {
                let deed: &mut dyn Any = deed.as_mut();
                deed.downcast_mut::<Self>()
            });
            let mut all: Vec<&mut Self> = std::iter::once(self).chain(others).collect();
            let acts: Vec<&A> = all.iter().map(|asked| &asked.act).collect();
            let replies = A::run_all(&acts, conn).await?;
            for (asked, reply) in all.iter_mut().zip(replies) {
                asked.reply = Some(reply);
            }
            Ok(())
        })
    }

    fn done(self: Box<Self>) {
        // The caller may have gone.
        let _ = self.to.send(self.reply.ok_or(StoreError::Closed));
    }

    fn failed(self: Box<Self>, error: StoreError) {
        let _ = self.to.send(Err(error));
    }

    fn kind(&self) -> &'static str {
        std::any::type_name::<A>()
    }
}

/// What waits for the writer.
enum Order {
    Act(Box<dyn Deed>),
    Close(oneshot::Sender<()>),
}

/// A handle to the writing task.
#[derive(Clone)]
pub struct Writer {
    orders: mpsc::Sender<Order>,
}

impl Writer {
    /// Starts the task.
    pub fn start(conn: Conn, place: Place) -> Self {
        let (orders, inbox) = mpsc::channel(WAITING);
        tokio::spawn(work(conn, place, inbox));
        Self { orders }
    }

    /// Does an act.
    pub async fn act<A: Act>(&self, act: A) -> Result<A::Reply, StoreError> {
        let (to, from) = oneshot::channel();
        let order = Order::Act(Box::new(Asked { act, reply: None, to }));
        self.orders.send(order).await.map_err(|_| StoreError::Closed)?;
        from.await.map_err(|_| StoreError::Closed)?
    }

    /// Ends the task once everything queued before this is done.
    pub async fn close(&self) {
        let (to, from) = oneshot::channel();
        if self.orders.send(Order::Close(to)).await.is_ok() {
            let _ = from.await;
        }
    }
}

async fn work(mut conn: Conn, place: Place, mut inbox: mpsc::Receiver<Order>) {
    let mut orders = Vec::new();
    while inbox.recv_many(&mut orders, MOST).await > 0 {
        let (mut deeds, mut closing): (Vec<Box<dyn Deed>>, _) = (Vec::new(), None);
        for order in orders.drain(..) {
            match order {
                Order::Act(deed) if closing.is_none() => deeds.push(deed),
                Order::Act(deed) => deed.failed(StoreError::Closed),
                Order::Close(to) => closing = Some(to),
            }
        }
        if !write(&mut conn, deeds).await {
            // Callers are refused at once meanwhile, and ask again.
            if let Ok(again) = place.connect().await {
                conn = again;
            }
        }
        if let Some(to) = closing {
            backend::close(conn).await;
            let _ = to.send(());
            return;
        }
    }
    backend::close(conn).await;
}

/// Writes all of them in one transaction; if that fails, each in its own, so that one bad act does not spoil the others. Returns whether
/// the database can be reached.
async fn write(conn: &mut Conn, mut deeds: Vec<Box<dyn Deed>>) -> bool {
    match together(conn, &mut deeds).await {
        Ok(()) => deeds.into_iter().for_each(Deed::done),
        Err(error @ StoreError::Away(_)) => {
            deeds.into_iter().for_each(|deed| deed.failed(copy(&error)));
            return false;
        }
        Err(error) if deeds.len() == 1 => deeds.into_iter().for_each(|deed| deed.failed(copy(&error))),
        Err(_) => {
            for deed in deeds {
                let mut alone = vec![deed];
                let done = together(conn, &mut alone).await;
                for deed in alone {
                    match &done {
                        Ok(()) => deed.done(),
                        Err(error) => deed.failed(copy(error)),
                    }
                }
            }
        }
    }
    true
}

/// Groups acts by kind. Each caller waits for its answer, so no caller can have two of these in an order of its own.
async fn together(conn: &mut Conn, deeds: &mut [Box<dyn Deed>]) -> Result<(), StoreError> {
    if deeds.is_empty() {
        return Ok(());
    }
    deeds.sort_by_key(|deed| deed.kind());
    let began = Instant::now();
    backend::begin(conn).await?;
    let waited = began.elapsed();
    let mut done = Ok(());
    for kind in deeds.chunk_by_mut(|one, other| one.kind() == other.kind()) {
        let Some((first, others)) = kind.split_first_mut() else { continue };
        done = first.run(others, conn).await;
        if done.is_err() {
            break;
        }
    }
    if done.is_ok() {
        done = backend::commit(conn).await;
    }
    if done.is_err() {
        // The database may have rolled back already.
        let _ = backend::rollback(conn).await;
    }
    let took = began.elapsed();
    if took >= LONG {
        tracing::debug!(
            ms = took.as_millis() as u64,
            begin_ms = waited.as_millis() as u64,
            acts = kinds(deeds),
            "a long transaction"
        );
    }
    done
}

/// The number of each kind: `Lease 3, Start 12`.
fn kinds(deeds: &[Box<dyn Deed>]) -> String {
    let kinds = deeds.chunk_by(|one, other| one.kind() == other.kind());
    let name = |kind: &str| kind.rsplit("::").next().unwrap_or(kind).to_owned();
    kinds.map(|kind| format!("{} {}", name(kind[0].kind()), kind.len())).collect::<Vec<_>>().join(", ")
}

fn copy(error: &StoreError) -> StoreError {
    match error {
        StoreError::Damaged(why) => StoreError::Damaged(why.clone()),
        StoreError::Closed => StoreError::Closed,
        StoreError::Full(why) => StoreError::Full(why.clone()),
        StoreError::Away(why) => StoreError::Away(why.clone()),
        other => StoreError::Database(
            other.to_string().strip_prefix("the database: ").map_or_else(|| other.to_string(), str::to_owned),
        ),
    }
}

/// Acts are sent across threads.
const _: fn() = || {
    fn crosses<T: Any + Send>() {}
    crosses::<Writer>();
};
