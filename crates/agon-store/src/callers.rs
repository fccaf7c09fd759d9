//! Whose token a request carries. That is asked for every request of every worker, so requests that come together share a statement, and
//! have a connection of their own: one from the pool is tested before and after each use, which takes longer than the look-up.

use std::collections::HashMap;
use std::time::Duration;

use sqlx::AssertSqlSafe;
use tokio::sync::{mpsc, oneshot};

use crate::backend::{self, Conn, Place, many};
use crate::reads::AtWork;
use crate::{Sha, StoreError, Time, WorkerId};

/// Upper limit on the look-ups that share a statement.
const MOST: usize = 64;
/// How long a look-up may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many may wait for their turn; further callers wait, too.
const WAITING: usize = 1024;

type Reply = Result<Option<AtWork>, StoreError>;

/// What waits for the task.
enum Order {
    Who(String, oneshot::Sender<Reply>),
    Close(oneshot::Sender<()>),
}

/// A handle to the task that looks up.
#[derive(Clone)]
pub struct Callers {
    orders: mpsc::Sender<Order>,
}

impl Callers {
    /// Starts the task. It connects when it is asked for the first time.
    pub fn start(place: Place) -> Self {
        let (orders, inbox) = mpsc::channel(WAITING);
        tokio::spawn(work(place, inbox));
        Self { orders }
    }

    /// The worker whose token has this hash, as it is once everything before this call is committed.
    pub async fn known_by(&self, sha: &Sha) -> Reply {
        let (to, from) = oneshot::channel();
        self.orders.send(Order::Who(sha.to_string(), to)).await.map_err(|_| StoreError::Closed)?;
        from.await.map_err(|_| StoreError::Closed)?
    }

    /// Ends the task once everybody who asked before this has been answered.
    pub async fn close(&self) {
        let (to, from) = oneshot::channel();
        if self.orders.send(Order::Close(to)).await.is_ok() {
            let _ = from.await;
        }
    }
}

async fn work(place: Place, mut inbox: mpsc::Receiver<Order>) {
    let (mut orders, mut conn, mut closing) = (Vec::new(), None, None);
    while closing.is_none() && inbox.recv_many(&mut orders, MOST).await > 0 {
        let mut asked: HashMap<String, Vec<oneshot::Sender<Reply>>> = HashMap::new();
        for order in orders.drain(..) {
            match order {
                Order::Who(token, to) => asked.entry(token).or_default().push(to),
                Order::Close(to) => closing = Some(to),
            }
        }
        let tokens: Vec<&str> = asked.keys().map(String::as_str).collect();
        let mut found = known(&mut conn, &place, &tokens).await;
        for (token, waiting) in asked {
            let reply = match &mut found {
                Ok(found) => Ok(found.remove(&token)),
                Err(error) => Err(error.copy()),
            };
            for to in waiting {
                // The caller may have gone.
                let _ = to.send(match &reply {
                    Ok(worker) => Ok(worker.clone()),
                    Err(error) => Err(error.copy()),
                });
            }
        }
    }
    if let Some(conn) = conn {
        backend::close(conn).await;
    }
    if let Some(to) = closing {
        let _ = to.send(());
    }
}

/// Looks up tokens over this connection, or over a new one where there is none or it has broken.
async fn known(
    home: &mut Option<Conn>,
    place: &Place,
    tokens: &[&str],
) -> Result<HashMap<String, AtWork>, StoreError> {
    if tokens.is_empty() {
        return Ok(HashMap::new());
    }
    if let Some(mut conn) = home.take() {
        match backend::within(PATIENCE, look(&mut conn, tokens)).await {
            Err(StoreError::Away(_)) => {}
            found => {
                *home = Some(conn);
                return found;
            }
        }
    }
    let mut conn = place.looker().await?;
    let found = backend::within(PATIENCE, look(&mut conn, tokens)).await;
    if !matches!(found, Err(StoreError::Away(_))) {
        *home = Some(conn);
    }
    found
}

async fn look(conn: &mut Conn, tokens: &[&str]) -> Result<HashMap<String, AtWork>, StoreError> {
    type Row = (String, i64, String, Option<String>, i64, Option<i64>, Option<i64>);
    let mut found = HashMap::new();
    for tokens in many::padded(tokens) {
        let select = format!(
            "SELECT token_sha, id, name, run, seen_ms, revoked_ms, paused_ms FROM workers WHERE token_sha IN ({})",
            many::rows(tokens.len(), "@", 1)
        );
        let mut select = sqlx::query_as(AssertSqlSafe(select));
        for token in tokens {
            select = select.bind(*token);
        }
        let rows: Vec<Row> = select.fetch_all(&mut *conn).await?;
        found.extend(rows.into_iter().map(|(token, id, name, run, seen, revoked, paused)| {
            let (revoked, paused) = (revoked.is_some(), paused.is_some());
            (token, AtWork { id: WorkerId(id), name, run, seen: Time(seen), revoked, paused })
        }));
    }
    Ok(found)
}
