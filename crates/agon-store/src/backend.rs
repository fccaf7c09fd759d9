//! What differs between databases; the statements are the same. A connection knows which of the two it leads to.
//!
//! A writing connection has the database to itself from [`begin`] to [`commit`], in both: SQLite has one writer, and in PostgreSQL we take
//! a lock of our own. So an act sees everything written before it, and nothing is written beside it by any of several servers. (Leases that
//! skip locked rows, `FOR UPDATE SKIP LOCKED`, were measured at 1 % more jobs a second, because acts are written in groups and statements
//! cost more than waiting: so they gain nothing, and neither would row locks.)

use std::future::Future;
use std::sync::Once;
use std::time::Duration;

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

use crate::{StoreError, Time};

/// The statement that reads what [`mark`] says.
macro_rules! mark {
    () => {
        "SELECT place, at_ms, state FROM moved"
    };
}

/// A writer of a server first takes the lock of all writers. Each statement then sees everything written before it, as in SQLite.
macro_rules! writers {
    () => {
        "BEGIN; SELECT CAST(pg_advisory_xact_lock(7014230591) AS TEXT)"
    };
}

mod flag;
pub mod many;
mod postgres;
mod sqlite;
pub mod tables;

pub use flag::Flag;
pub use sqlite::snapshot;

pub type Conn = sqlx::AnyConnection;
/// Connections for reading.
pub type Pool = sqlx::AnyPool;

/// All schema steps, each on top of the one before. A published one never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004_clocks.sql"),
    include_str!("migrations/0005_factor.sql"),
    include_str!("migrations/0007_puzzles.sql"),
];
/// How many reading connections there may be.
const READERS: u32 = 4;
/// How long one is waited for: a healthy database has one free long before.
const FREE: Duration = Duration::from_secs(5);
/// How long a connection may take to be made.
const CONNECTED: Duration = Duration::from_secs(5);

/// The two databases supported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sqlite,
    Postgres,
}

fn kind(conn: &Conn) -> Kind {
    match conn.backend_name() {
        "PostgreSQL" => Kind::Postgres,
        _ => Kind::Sqlite,
    }
}

/// Where a database is: a file, or the address of a server.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    url: String,
}

impl Place {
    /// A file.
    ///
    /// # Errors
    /// When its path cannot be written as an address.
    pub fn file(file: &std::path::Path) -> Result<Self, StoreError> {
        Ok(Self { url: sqlite::url(file)? })
    }

    /// A database that is gone with its only connection.
    pub fn in_memory() -> Self {
        Self { url: "sqlite::memory:".to_owned() }
    }

    /// A server.
    ///
    /// # Errors
    /// When this is not the address of one.
    pub fn server(url: &str) -> Result<Self, StoreError> {
        let url = postgres::url(url)?;
        if !crate::HAS_SCALE {
            return Err(crate::lacks("PostgreSQL"));
        }
        Ok(Self { url })
    }

    pub fn is_server(&self) -> bool {
        !self.url.starts_with("sqlite:")
    }

    /// The address without its password, and without what else it may hold.
    pub fn without_password(&self) -> String {
        let Ok(mut url) = url::Url::parse(&self.url) else { return "a server".to_owned() };
        let socket = url.query_pairs().find(|(key, _)| key == "host").map(|(_, host)| host.into_owned());
        // Fails only where there can be none.
        let _ = url.set_password(None);
        url.set_query(None);
        match socket {
            Some(socket) => format!("{url}?host={socket}"),
            None => url.to_string(),
        }
    }

    /// Opens the writing connection.
    pub async fn connect(&self) -> Result<Conn, StoreError> {
        let mut conn = self.reach().await?;
        match self.is_server() {
            true => postgres::writes(&mut conn).await?,
            false => sqlite::prepare(&mut conn, false).await?,
        }
        Ok(conn)
    }

    /// Opens a connection that copies everything, however long that takes.
    pub async fn mover(&self) -> Result<Conn, StoreError> {
        let mut conn = self.connect().await?;
        if self.is_server() {
            postgres::moves(&mut conn).await?;
        }
        Ok(conn)
    }

    /// Opens a connection to a server for [`keep`].
    pub async fn keeper(&self) -> Result<Conn, StoreError> {
        let mut conn = self.reach().await?;
        postgres::keeps(&mut conn).await?;
        Ok(conn)
    }

    /// Opens a connection for reading single rows again and again.
    pub async fn looker(&self) -> Result<Conn, StoreError> {
        let mut conn = self.reach().await?;
        self.reads_only(&mut conn).await?;
        if self.is_server() {
            postgres::by_index(&mut conn).await?;
        }
        Ok(conn)
    }

    async fn reach(&self) -> Result<Conn, StoreError> {
        drivers();
        within(CONNECTED, async { Ok(Conn::connect(&self.url).await?) }).await
    }

    async fn reads_only(&self, conn: &mut Conn) -> Result<(), sqlx::Error> {
        match self.is_server() {
            true => postgres::reads_only(conn).await,
            false => sqlite::prepare(conn, true).await,
        }
    }

    /// Opens the reading connections.
    pub async fn readers(&self) -> Result<Pool, StoreError> {
        drivers();
        let place = self.clone();
        let options = sqlx::any::AnyPoolOptions::new().max_connections(READERS).acquire_timeout(FREE);
        let options = options.after_connect(move |conn, _| {
            let place = place.clone();
            Box::pin(async move { place.reads_only(conn).await })
        });
        Ok(options.connect(&self.url).await?)
    }
}

/// The name of this machine.
pub fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn drivers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(feature = "scale")]
        let drivers = &[sqlx::sqlite::any::DRIVER, sqlx::postgres::any::DRIVER];
        #[cfg(not(feature = "scale"))]
        let drivers = &[sqlx::sqlite::any::DRIVER];
        // It fails only if another call came first.
        let _ = sqlx::any::install_drivers(drivers);
    });
}

/// What `asked` finds; a database that takes longer than this is away. The connection is then no good any more: the answer may still
/// come.
pub async fn within<T>(
    patience: Duration,
    asked: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let late = |_| StoreError::Away(format!("no answer within {:.0} s", patience.as_secs_f64()));
    tokio::time::timeout(patience, asked).await.map_err(late).flatten()
}

/// Begins a transaction that will write, once nobody else is writing. Nothing is written to a copy that was left behind.
pub async fn begin(conn: &mut Conn) -> Result<(), StoreError> {
    let statements = match kind(conn) {
        Kind::Sqlite => concat!("BEGIN IMMEDIATE; ", mark!()),
        Kind::Postgres => concat!(writers!(), "; ", mark!()),
    };
    // One request, because every act begins with it. The lock of a server is a row as well.
    let rows = conn.fetch_all(statements).await?;
    match rows.last().filter(|row| row.len() > 1) {
        None => Ok(()),
        Some(row) => {
            let mark = MoveMark::of(row)?;
            rollback(conn).await?;
            Err(mark.refusal())
        }
    }
}

/// The same for a copy that nobody plays, and for a database without tables.
pub async fn begin_anyway(conn: &mut Conn) -> Result<(), StoreError> {
    match kind(conn) {
        Kind::Sqlite => run(conn, "BEGIN IMMEDIATE").await,
        Kind::Postgres => run(conn, writers!()).await,
    }
}

/// What a copy says of where the contest is; none where it can be played.
pub async fn mark(conn: &mut Conn) -> Result<Option<MoveMark>, StoreError> {
    let row = conn.fetch_optional(mark!()).await?;
    row.as_ref().map(MoveMark::of).transpose()
}

/// Sets or removes that.
pub async fn set_mark(conn: &mut Conn, mark: Option<&MoveMark>) -> Result<(), StoreError> {
    run(conn, "DELETE FROM moved").await?;
    let Some(mark) = mark else { return Ok(()) };
    sqlx::query("INSERT INTO moved (place, at_ms, state) VALUES ($1, $2, $3)")
        .bind(&mark.place)
        .bind(mark.at.0)
        .bind(if mark.is_arriving { ARRIVING } else { GONE })
        .execute(conn)
        .await?;
    Ok(())
}

/// Where the contest of a copy is that cannot be played.
#[derive(Clone, Debug)]
pub struct MoveMark {
    /// Without a password.
    pub place: String,
    pub at: Time,
    /// Whether the contest is still there: this copy was being made.
    pub is_arriving: bool,
}

const ARRIVING: &str = "arriving";
const GONE: &str = "gone";

impl MoveMark {
    fn of(row: &AnyRow) -> Result<Self, StoreError> {
        let (place, at, state): (String, i64, String) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        Ok(Self { place, at: Time(at), is_arriving: state == ARRIVING })
    }

    /// What whoever opens the copy is told.
    pub fn refusal(self) -> StoreError {
        match self.is_arriving {
            true => StoreError::Arriving(self.place),
            false => StoreError::Moved { place: self.place, at: self.at },
        }
    }
}

/// Empties these tables of a server, which refer to each other.
pub async fn empty(conn: &mut Conn, tables: &[&str]) -> Result<(), StoreError> {
    match kind(conn) {
        // A file is always new.
        Kind::Sqlite => Err(StoreError::Damaged("a new file holds rows".to_owned())),
        Kind::Postgres => {
            conn.execute(AssertSqlSafe(format!("TRUNCATE {}", tables.join(", ")))).await?;
            Ok(())
        }
    }
}

/// Folds the journal of a file into it, however many have it open.
pub async fn fold(conn: &mut Conn) -> Result<(), StoreError> {
    match kind(conn) {
        Kind::Sqlite => run(conn, "PRAGMA wal_checkpoint(TRUNCATE)").await,
        Kind::Postgres => Ok(()),
    }
}

/// Sees to it that nothing deleted is left in the database's files, as far as this user of the database may.
pub async fn scrub(conn: &mut Conn) -> Result<(), StoreError> {
    match kind(conn) {
        // Deleted rows are overwritten; the journal still holds pages of before.
        Kind::Sqlite => fold(conn).await,
        Kind::Postgres => {
            let [own, counted, checkpoint] = postgres::SCRUB;
            run(conn, own).await?;
            // Why tries failed. Nothing is played while it is written anew, so a large one is left to the server, which uses its room
            // again.
            let Flag(is_small) = sqlx::query_scalar(postgres::FEW_ATTEMPTS).fetch_one(&mut *conn).await?;
            if is_small {
                run(conn, postgres::SCRUB_ATTEMPTS).await?;
            }
            for statement in [counted, checkpoint] {
                // The server does both by itself, later.
                if let Err(error) = run(conn, statement).await {
                    tracing::debug!("{statement}: {error}");
                }
            }
            Ok(())
        }
    }
}

/// Refuses a file whose schema cannot be read: the driver would never answer.
pub async fn readable(conn: &mut Conn) -> Result<(), StoreError> {
    match kind(conn) {
        Kind::Sqlite => sqlite::schema(conn).await.map(drop),
        Kind::Postgres => Ok(()),
    }
}

/// Who looks after a contest on a server, as that knows them.
pub async fn keepers(conn: &mut Conn) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar(postgres::KEEPERS).fetch_all(conn).await?)
}

/// Begins a read of the present state, whatever is written meanwhile.
pub async fn look(conn: &mut Conn) -> Result<(), StoreError> {
    match kind(conn) {
        Kind::Sqlite => run(conn, "BEGIN").await,
        Kind::Postgres => run(conn, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").await,
    }
}

/// Whether this connection, which leads to a server, is the one that looks after the contest. Once it is, it stays so until it ends.
pub async fn keep(conn: &mut Conn) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar(postgres::KEEP).fetch_one(conn).await?)
}

/// Lets another connection look after the contest.
pub async fn let_go(mut conn: Conn) {
    // A server that does not answer has let go by itself.
    let _ = run(&mut conn, postgres::LET_GO).await;
    close(conn).await;
}

/// Waits until nobody else is planning, and begins what [`commit`] ends. The connection leads to a server.
pub async fn begin_planning(conn: &mut Conn) -> Result<(), StoreError> {
    run(conn, postgres::BEGIN_PLANNING).await
}

/// The clock of a server, in milliseconds; none for a file, which has none.
pub async fn clock(conn: &mut Conn) -> Result<Option<i64>, StoreError> {
    match kind(conn) {
        Kind::Sqlite => Ok(None),
        Kind::Postgres => Ok(Some(sqlx::query_scalar(postgres::CLOCK).fetch_one(conn).await?)),
    }
}

/// Whether it leads to a server.
pub fn is_server(conn: &Conn) -> bool {
    kind(conn) == Kind::Postgres
}

/// The last number that the database gave to a row of a table; none where it has given none.
pub async fn last_number(conn: &mut Conn, table: &str) -> Result<Option<i64>, StoreError> {
    let asked = match kind(conn) {
        Kind::Sqlite => "SELECT seq FROM sqlite_sequence WHERE name = $1",
        Kind::Postgres => "SELECT pg_sequence_last_value(pg_get_serial_sequence($1, 'id')::regclass)",
    };
    let found: Option<Option<i64>> = sqlx::query_scalar(asked).bind(table).fetch_optional(conn).await?;
    Ok(found.flatten())
}

/// Makes the numbers that it gives continue after `last`.
pub async fn number_on(conn: &mut Conn, table: &str, last: i64) -> Result<(), StoreError> {
    let statements: &[&str] = match kind(conn) {
        Kind::Sqlite => &[
            "DELETE FROM sqlite_sequence WHERE name = $1 AND seq < $2",
            "INSERT INTO sqlite_sequence (name, seq) SELECT $1, $2 WHERE NOT EXISTS \
             (SELECT 1 FROM sqlite_sequence WHERE name = $1)",
        ],
        Kind::Postgres => &["SELECT setval(pg_get_serial_sequence($1, 'id'), $2)"],
    };
    for statement in statements {
        sqlx::query(*statement).bind(table).bind(last).execute(&mut *conn).await?;
    }
    Ok(())
}

/// Ends a transaction.
pub async fn commit(conn: &mut Conn) -> Result<(), StoreError> {
    run(conn, "COMMIT").await
}

/// Undoes everything since [`begin`].
pub async fn rollback(conn: &mut Conn) -> Result<(), StoreError> {
    run(conn, "ROLLBACK").await
}

/// Closes the connection. In SQLite the last one to close leaves one file instead of three.
pub async fn close(conn: Conn) {
    let _ = conn.close().await;
}

/// What the database itself reports about its files; empty when all is well.
pub async fn integrity(pool: &Pool) -> Result<Vec<String>, StoreError> {
    let mut conn = pool.acquire().await?;
    match kind(&conn) {
        Kind::Sqlite => {
            let mut said = sqlite::integrity(&mut conn).await?;
            let mut fresh = Place::in_memory().connect().await?;
            migrate(&mut fresh).await?;
            if sqlite::schema(&mut conn).await? != sqlite::schema(&mut fresh).await? {
                said.push("its schema is not the one that agon made".to_owned());
            }
            close(fresh).await;
            Ok(said)
        }
        // It checks what it reads, and enforces references itself.
        Kind::Postgres => Ok(Vec::new()),
    }
}

async fn run(conn: &mut Conn, statement: &'static str) -> Result<(), StoreError> {
    conn.execute(statement).await?;
    Ok(())
}

/// Brings the schema up to date. Each step is one transaction that also records its number.
pub async fn migrate(conn: &mut Conn) -> Result<(), StoreError> {
    let known = MIGRATIONS.len() as i64;
    let id = match kind(conn) {
        Kind::Sqlite => sqlite::ID,
        Kind::Postgres => postgres::ID,
    };
    if is_earlier(conn).await? {
        return Err(StoreError::Earlier);
    }
    loop {
        begin_anyway(conn).await?;
        run(conn, "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)").await?;
        let found = version(conn).await?;
        if found >= known {
            commit(conn).await?;
            return if found > known { Err(StoreError::Later { found, known }) } else { Ok(()) };
        }
        let script = MIGRATIONS[found as usize].replace("@id", id);
        // Our own text, with one word put in.
        conn.execute(AssertSqlSafe(script)).await?;
        sqlx::query("INSERT INTO schema_version (version) VALUES ($1)")
            .bind(found + 1)
            .execute(&mut *conn)
            .await?;
        commit(conn).await?;
    }
}

/// Whether it was made before the first release, when an entrant and its bot were two rows.
async fn is_earlier(conn: &mut Conn) -> Result<bool, StoreError> {
    let asked = match kind(conn) {
        Kind::Sqlite => "SELECT count(*) FROM sqlite_master WHERE name = 'bots'",
        Kind::Postgres => {
            "SELECT count(*) FROM pg_tables WHERE tablename = 'bots' AND schemaname = current_schema()"
        }
    };
    Ok(sqlx::query_scalar::<_, i64>(asked).fetch_one(conn).await? > 0)
}

async fn version(conn: &mut Conn) -> Result<i64, StoreError> {
    let found: Option<i64> =
        sqlx::query_scalar("SELECT max(version) FROM schema_version").fetch_one(conn).await?;
    Ok(found.unwrap_or(0))
}
