//! Duties that only one server of a contest does at a time, when several run it over one database.
//!
//! It is not wrong if two do them after all, because each act is one transaction with the database to itself: work is done twice, and more
//! is planned than was wanted. So a lock that ends with its connection is enough. Its holder does the duty; when that process is killed
//! another takes over at once, and within ten seconds when it is frozen or cut off.
//!
//! A contest in a file has one server, which does everything.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::backend::{self, Conn, Place};
use crate::{Store, StoreError};

/// How long the database may take to say who looks after the contest.
const PATIENCE: Duration = Duration::from_secs(5);

/// The connections that hold a server's locks.
pub struct Duties {
    place: Place,
    /// Holds the lock for looking after the contest, where this server has it.
    keeper: Mutex<Option<Conn>>,
    /// For planning. Its lock is held during one plan.
    planner: Arc<Mutex<Option<Conn>>>,
}

impl Duties {
    pub fn new(place: Place) -> Self {
        Self { place, keeper: Mutex::default(), planner: Arc::default() }
    }

    /// Lets another server look after the contest.
    pub async fn end(&self) {
        if let Some(conn) = self.keeper.lock().await.take() {
            backend::let_go(conn).await;
        }
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    pub fn is_shared(&self) -> bool {
        self.place.is_server()
    }
}

/// Asks whether the database answers.
pub struct Lookout {
    place: Place,
    conn: Option<Conn>,
}

impl Lookout {
    /// What the clock of the database shows, in milliseconds; none for a file, which is never away.
    ///
    /// # Errors
    /// [`StoreError::Away`] when there is no answer within this time.
    pub async fn ask(&mut self, patience: Duration) -> Result<Option<i64>, StoreError> {
        if !self.place.is_server() {
            return Ok(None);
        }
        // Taken out: a connection that did not answer in time is not used again.
        let (place, conn) = (&self.place, self.conn.take());
        let asked = async {
            let mut conn = match conn {
                Some(conn) => conn,
                None => place.looker().await?,
            };
            Ok((backend::clock(&mut conn).await?, conn))
        };
        let (clock, conn) = backend::within(patience, asked).await?;
        self.conn = Some(conn);
        Ok(clock)
    }
}

/// While this exists, no other server plans.
pub struct Alone {
    home: OwnedMutexGuard<Option<Conn>>,
    /// Dropped unless it is put back: the lock goes with the connection.
    conn: Option<Conn>,
}

impl Alone {
    /// Lets others plan.
    ///
    /// # Errors
    /// Database errors; others may plan then, too.
    pub async fn over(mut self) -> Result<(), StoreError> {
        if let Some(mut conn) = self.conn.take() {
            backend::commit(&mut conn).await?;
            *self.home = Some(conn);
        }
        Ok(())
    }
}

impl Store {
    /// Whether this server is the one that looks after the contest: it judges, seals and tidies. Must be asked regularly: a server that
    /// does not ask for a while loses the duty.
    ///
    /// # Errors
    /// When the database cannot be reached; this server has lost the duty then.
    pub async fn keeps(&self) -> Result<bool, StoreError> {
        let Duties { place, keeper, .. } = &*self.duties;
        if !place.is_server() {
            return Ok(true);
        }
        let mut kept = keeper.lock().await;
        // Taken out: on any error, or when the caller gives up, the connection is dropped and its lock with it.
        let mut conn = match kept.take() {
            Some(conn) => conn,
            None => place.keeper().await?,
        };
        let keeps = backend::within(PATIENCE, backend::keep(&mut conn)).await?;
        *kept = Some(conn);
        Ok(keeps)
    }

    /// Looks out for the database, over a connection of its own.
    pub fn lookout(&self) -> Lookout {
        Lookout { place: self.duties.place.clone(), conn: None }
    }

    /// Lets another server look after the contest, until this one asks again whether it does.
    pub async fn leaves(&self) {
        self.duties.end().await;
    }

    /// Waits until no other server is planning.
    ///
    /// # Errors
    /// When the database cannot be reached, or another server takes too long.
    pub async fn alone(&self) -> Result<Alone, StoreError> {
        let Duties { place, planner, .. } = &*self.duties;
        let mut home = planner.clone().lock_owned().await;
        if !place.is_server() {
            return Ok(Alone { home, conn: None });
        }
        let mut conn = match home.take() {
            Some(conn) => conn,
            None => place.connect().await?,
        };
        backend::begin_planning(&mut conn).await?;
        Ok(Alone { home, conn: Some(conn) })
    }
}
