//! What one server of a contest does at a time, where several run it over one database.
//!
//! Nothing is wrong when two do it after all, for each act is one transaction with the database for itself: it is work done twice, and
//! more planned than was wanted. So a lock that ends with its connection is enough: whoever has it is the one, and when that process is
//! killed another one has it at once, and within ten seconds when it is frozen or cut off.
//!
//! Of a contest in a file there is one server, and it does everything.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::backend::{self, Conn, Place};
use crate::{Store, StoreError, Time};

/// The connections that hold the locks of a server.
pub struct Duties {
    place: Place,
    /// With the lock of whoever looks after the contest, where it has that.
    keeper: Mutex<Option<Conn>>,
    /// For planning. Its lock is held for one plan.
    planner: Arc<Mutex<Option<Conn>>>,
}

impl Duties {
    pub fn new(place: Place) -> Self {
        Self { place, keeper: Mutex::default(), planner: Arc::default() }
    }

    /// Another server may look after the contest now.
    pub async fn end(&self) {
        if let Some(conn) = self.keeper.lock().await.take() {
            backend::let_go(conn).await;
        }
    }

    pub fn is_shared(&self) -> bool {
        self.place.is_server()
    }
}

/// While this is there, no other server plans.
pub struct Alone {
    home: OwnedMutexGuard<Option<Conn>>,
    /// Dropped unless it is put back: with the connection the lock goes.
    conn: Option<Conn>,
}

impl Alone {
    /// Others may plan now.
    ///
    /// # Errors
    /// Those of the database; then they may as well.
    pub async fn over(mut self) -> Result<(), StoreError> {
        if let Some(mut conn) = self.conn.take() {
            backend::commit(&mut conn).await?;
            *self.home = Some(conn);
        }
        Ok(())
    }
}

impl Store {
    /// Whether this server is the one that looks after the contest: it judges, seals and tidies. To be asked again and again: whoever
    /// does not ask for a while is it no more.
    ///
    /// # Errors
    /// When the database cannot be reached; then it is not.
    pub async fn keeps(&self) -> Result<bool, StoreError> {
        let Duties { place, keeper, .. } = &*self.duties;
        if !place.is_server() {
            return Ok(true);
        }
        let mut kept = keeper.lock().await;
        // Taken out: on any error, and when whoever asks gives up, the connection is dropped and what it holds with it.
        let mut conn = match kept.take() {
            Some(conn) => conn,
            None => place.keeper().await?,
        };
        let keeps = backend::keep(&mut conn).await?;
        *kept = Some(conn);
        Ok(keeps)
    }

    /// By how much a clock that shows `now` is before that of the database, in milliseconds; none where both are one machine's file.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn clock_apart(&self, now: Time) -> Result<Option<i64>, StoreError> {
        let mut conn = self.reader.acquire().await?;
        Ok(backend::clock(&mut conn).await?.map(|theirs| now.0 - theirs))
    }

    /// Waits until no other server plans.
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
