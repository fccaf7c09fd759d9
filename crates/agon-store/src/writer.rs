//! The one thread that writes. Acts that wait at once share a transaction, but for those whose callers should not wait for the rest.

use std::any::Any;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use crate::acts::ActTurn;
use crate::backend::{self, Conn, Place};
use crate::checksums::Checksums;
use crate::{Act, StoreError};

/// Upper limit on the acts that share a transaction.
const MOST: usize = 128;
/// How many acts may wait for their turn; further callers wait, too.
const WAITING: usize = 1024;

/// A transaction that takes longer has a database that is gone: the longest wait is for another server that froze while it wrote, and whose
/// transaction is undone after 10 s.
const PATIENCE: Duration = Duration::from_secs(20);

/// For how long they are renewed when the writer ends. The rest is renewed after the next act.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long changed rows may be without their checksums, when nobody waits.
const RENEWED: Duration = Duration::from_millis(500);

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
    /// When it is done.
    fn turn(&self) -> ActTurn;
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

    fn turn(&self) -> ActTurn {
        A::TURN
    }
}

/// What waits for the writer.
enum Order {
    Act(Box<dyn Deed>),
    Close(oneshot::Sender<()>),
}

/// A handle to the thread.
#[derive(Clone)]
pub(crate) struct Writer {
    orders: mpsc::Sender<Order>,
}

impl Writer {
    /// Starts the thread, which connects and brings the schema up to date.
    pub async fn start(place: Place) -> Result<Self, StoreError> {
        let (orders, inbox) = mpsc::channel(WAITING);
        let (to, started) = oneshot::channel();
        let failed = |error| StoreError::File("the thread that writes".to_owned(), error);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let writes = async move {
            // Whoever opened the store may have gone: then nobody will send anything.
            match open(&place).await {
                Ok((conn, checksums)) => {
                    let _ = to.send(Ok(()));
                    work(conn, place, checksums, inbox).await;
                }
                Err(error) => drop(to.send(Err(error))),
            }
        };
        let thread = thread::Builder::new().name("writer".to_owned());
        thread.spawn(move || runtime.block_on(writes)).map_err(failed)?;
        started.await.map_err(|_| StoreError::Closed)??;
        Ok(Self { orders })
    }

    /// Does an act.
    pub async fn act<A: Act>(&self, act: A) -> Result<A::Reply, StoreError> {
        let (to, from) = oneshot::channel();
        let order = Order::Act(Box::new(Asked { act, reply: None, to }));
        self.orders.send(order).await.map_err(|_| StoreError::Closed)?;
        from.await.map_err(|_| StoreError::Closed)?
    }

    /// Ends the thread once everything queued before this is done.
    pub async fn close(&self) {
        let (to, from) = oneshot::channel();
        if self.orders.send(Order::Close(to)).await.is_ok() {
            let _ = from.await;
        }
    }
}

async fn open(place: &Place) -> Result<(Conn, Checksums), StoreError> {
    let mut conn = place.connect().await?;
    backend::readable(&mut conn).await?;
    backend::migrate(&mut conn).await?;
    if let Some(mark) = backend::mark(&mut conn).await? {
        backend::close(conn).await;
        return Err(mark.refusal());
    }
    let checksums = Checksums::new().await?;
    Ok((conn, checksums))
}

async fn work(mut conn: Conn, place: Place, checksums: Checksums, mut inbox: mpsc::Receiver<Order>) {
    let (mut orders, mut waiting, mut closing) = (Vec::new(), Waiting::default(), None);
    // When rows were changed whose checksums are not renewed yet.
    let mut changed: Option<Instant> = None;
    loop {
        if closing.is_none() && changed.is_some_and(|since| since.elapsed() >= RENEWED) {
            // An error is met by the next act, too, which tells somebody.
            let more = backend::within(PATIENCE, renewed(&mut conn, &checksums)).await.unwrap_or(false);
            changed = match more {
                false => None,
                // At leisure while others wait.
                true if waiting.len() > 0 || !inbox.is_empty() => Some(Instant::now()),
                true => changed,
            };
        }
        if waiting.len() == 0 {
            if closing.is_some() {
                break;
            }
            let comes = inbox.recv_many(&mut orders, WAITING);
            let came = match changed {
                None => Ok(comes.await),
                Some(since) => tokio::time::timeout(RENEWED.saturating_sub(since.elapsed()), comes).await,
            };
            match came {
                Ok(0) => break,
                Ok(_) => {}
                // Checksums are due.
                Err(_) => continue,
            }
        } else {
            let room = WAITING.saturating_sub(waiting.len());
            orders.extend(std::iter::from_fn(|| inbox.try_recv().ok()).take(room));
        }
        for order in orders.drain(..) {
            match order {
                Order::Act(deed) if closing.is_some() => deed.failed(StoreError::Closed),
                Order::Act(deed) => waiting.add(deed),
                Order::Close(to) => closing = Some(to),
            }
        }
        let next = waiting.next();
        if !next.is_empty() {
            changed = changed.or_else(|| Some(Instant::now()));
        }
        if !write(&mut conn, next).await {
            // Callers are refused at once meanwhile, and ask again.
            if let Ok(again) = place.connect().await {
                conn = again;
            }
        }
    }
    let end = Instant::now() + FAREWELL;
    while changed.is_some() && Instant::now() < end && renewed(&mut conn, &checksums).await.unwrap_or(false) {
    }
    backend::close(conn).await;
    if let Some(to) = closing {
        let _ = to.send(());
    }
}

/// Renews checksums of rows that were changed. Returns whether there may be more of them.
async fn renewed(conn: &mut Conn, checksums: &Checksums) -> Result<bool, StoreError> {
    backend::begin(conn).await?;
    let more = checksums.renew(conn).await;
    match more {
        Ok(_) => backend::commit(conn).await?,
        // The database may have rolled back already.
        Err(_) => drop(backend::rollback(conn).await),
    }
    more
}

/// The acts that wait, by their turns.
#[derive(Default)]
struct Waiting {
    first: VecDeque<Box<dyn Deed>>,
    usual: VecDeque<Box<dyn Deed>>,
    last: VecDeque<Box<dyn Deed>>,
    /// How often the turn has passed.
    passed: usize,
}

impl Waiting {
    fn len(&self) -> usize {
        self.first.len() + self.usual.len() + self.last.len()
    }

    fn add(&mut self, deed: Box<dyn Deed>) {
        self.of(deed.turn()).push_back(deed);
    }

    fn of(&mut self, turn: ActTurn) -> &mut VecDeque<Box<dyn Deed>> {
        match turn {
            ActTurn::First => &mut self.first,
            ActTurn::Usual => &mut self.usual,
            ActTurn::Last => &mut self.last,
        }
    }

    /// Takes what is written next, in one transaction: every other one is of those that go first, if any of them wait.
    fn next(&mut self) -> Vec<Box<dyn Deed>> {
        const TURNS: [ActTurn; 4] = [ActTurn::First, ActTurn::Usual, ActTurn::First, ActTurn::Last];
        for _ in TURNS {
            let turn = TURNS[self.passed % TURNS.len()];
            self.passed = self.passed.wrapping_add(1);
            let waiting = self.of(turn);
            if !waiting.is_empty() {
                return waiting.drain(..waiting.len().min(MOST)).collect();
            }
        }
        Vec::new()
    }
}

/// Writes all of them in one transaction; if that fails, each in its own, so that one bad act does not spoil the others. Returns whether
/// the database can be reached.
async fn write(conn: &mut Conn, mut deeds: Vec<Box<dyn Deed>>) -> bool {
    match backend::within(PATIENCE, together(conn, &mut deeds)).await {
        Ok(()) => deeds.into_iter().for_each(Deed::done),
        Err(error @ StoreError::Away(_)) => {
            deeds.into_iter().for_each(|deed| deed.failed(error.copy()));
            return false;
        }
        Err(error) if deeds.len() == 1 => deeds.into_iter().for_each(|deed| deed.failed(error.copy())),
        Err(_) => {
            for deed in deeds {
                let mut alone = vec![deed];
                let done = backend::within(PATIENCE, together(conn, &mut alone)).await;
                for deed in alone {
                    match &done {
                        Ok(()) => deed.done(),
                        Err(error) => deed.failed(error.copy()),
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

/// Acts are sent across threads.
const _: fn() = || {
    fn crosses<T: Any + Send>() {}
    crosses::<Writer>();
};

#[cfg(test)]
mod tests {
    use super::*;

    struct Waits(ActTurn);

    impl Deed for Waits {
        fn run<'a>(
            &'a mut self,
            _others: &'a mut [Box<dyn Deed>],
            _conn: &'a mut Conn,
        ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>> {
            Box::pin(async { Ok(()) })
        }

        fn done(self: Box<Self>) {}

        fn failed(self: Box<Self>, _error: StoreError) {}

        fn kind(&self) -> &'static str {
            "waits"
        }

        fn turn(&self) -> ActTurn {
            self.0
        }
    }

    #[test]
    fn who_goes_first_waits_for_one_transaction_at_most_and_nobody_waits_forever() {
        let mut waiting = Waiting::default();
        for (turn, count) in [(ActTurn::Last, 2), (ActTurn::Usual, MOST + 1), (ActTurn::First, 2 * MOST + 1)]
        {
            (0..count).for_each(|_| waiting.add(Box::new(Waits(turn))));
        }
        let taken: Vec<(ActTurn, usize)> = std::iter::from_fn(|| {
            let deeds = waiting.next();
            deeds.first().map(|deed| (deed.turn(), deeds.len()))
        })
        .collect();
        let (first, usual, last) = (ActTurn::First, ActTurn::Usual, ActTurn::Last);
        assert_eq!(
            taken,
            [(first, MOST), (usual, MOST), (first, MOST), (last, 2), (first, 1), (usual, 1)],
            "by turns, and as many as fit into a transaction"
        );
        assert_eq!(waiting.len(), 0);
    }
}
