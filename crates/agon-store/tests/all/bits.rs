//! A single bit that changed by itself, anywhere in a contest's database, is found.

use std::path::Path;

use agon_store::acts::{
    Add, Added, Begin, CountTold, Enlist, Invite, KeepBoard, KeepText, MakeLink, MakeTeam, Promote, SignUp,
    SignedUp, Tell, Withdraw,
};
use agon_store::{DATABASE, LinkKind, LoginKind, Objects, Sha, Store, TextOwner, Time};
use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};

use crate::{common, fsck, moving};

/// How many bits are changed, in values and in the file.
fn bits() -> u64 {
    std::env::var("AGON_BITS").ok().and_then(|bits| bits.parse().ok()).unwrap_or(40)
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// A contest in a file with something in nearly every table; one of its people was deleted.
async fn contest(folder: &Path) {
    fsck::contest(folder).await;
    let store = Store::open(folder).await.expect("opens");
    let contest = store.contests().await.expect("read")[0].id;
    let now = Time(1_790_000_000_000);
    let mut people = Vec::new();
    for name in ["Ann", "Bob", "Rocinante"] {
        let sign_up =
            SignUp { contest, name: name.into(), password: "$argon2id$x".into(), invite: None, now };
        let SignedUp::New(account) = store.act(sign_up).await.expect("answered") else { panic!("new") };
        let team =
            MakeTeam { contest, account, name: format!("team {name}"), code: format!("code {name}"), now };
        store.act(team).await.expect("made");
        let (sha, ends, name) = (Sha::of(name), now.plus(9_000), "laptop".to_owned());
        let begin = Begin { account, sha, kind: LoginKind::Token, name, now, ends, idle_ms: 5 };
        store.act(begin).await.expect("begun");
        let link = MakeLink { sha, kind: LinkKind::Password, account: Some(account), now, ends };
        store.act(link).await.expect("made");
        people.push(account);
    }
    let source = Objects::open(folder).expect("a place").put(b"a bot").await.expect("room");
    let add = Add {
        contest,
        entrant: "team Ann".into(),
        boss: false,
        builtin: None,
        source,
        received: now,
        only_if_better: false,
        bytes: 5,
        counts: false,
        actor: "Ann".into(),
    };
    let Added::New(version, 1) = store.act(add).await.expect("added") else { panic!("it is new") };
    assert!(store.act(Promote { version, now }).await.expect("live"));
    store.act(Invite { contest, code: "code".into(), actor: "rita".into(), now }).await.expect("made");
    let enlist = Enlist { contest, name: "hall".into(), sha: Sha::of("hall"), actor: "rita".into(), now };
    store.act(enlist).await.expect("enlisted");
    let board = KeepBoard { contest, upto: 1, program: "p".into(), board: "{}".into(), now };
    store.act(board).await.expect("kept");
    let tell = Tell {
        contest,
        actor: "rita".into(),
        verb: "announce".into(),
        object: "contest".into(),
        detail: "Welcome.".into(),
        now,
    };
    store.act(tell).await.expect("told");
    let entrant = store.owner_of(version).await.expect("read").expect("ann's");
    store.act(CountTold { day: 20_000, more: vec![(entrant, 7)] }).await.expect("counted");
    for account in &people {
        let owner = TextOwner { contest, account: *account, team: None };
        let (files, note, lines) = ("packed".to_owned(), Some("a note".to_owned()), [(1, 2), (3, 4)]);
        store.act(KeepText { owner, base: None, files, note, lines, now }).await.expect("kept");
    }
    store.act(Withdraw { contest, account: people[2], now }).await.expect("withdrawn");
    let objects = Objects::open(folder).expect("a place");
    store.close().await;
    let store = Store::open(folder).await.expect("opens");
    assert_eq!(
        store.fsck(&objects).await.expect("looked through"),
        [],
        "clean, also after a person was deleted"
    );
    store.close().await;
    let mut conn = opened(&folder.join(DATABASE)).await;
    for (table, columns) in tables(&mut conn).await.into_iter().filter(|(table, _)| table != "log") {
        assert!(columns.iter().any(|column| column == "checksum"), "{table}: its rows need checksums");
        let count = format!("SELECT count(*) FROM {table} WHERE checksum IS NULL");
        let open: i64 = sqlx::query_scalar(AssertSqlSafe(count)).fetch_one(&mut conn).await.expect("read");
        assert_eq!(open, 0, "{table}: every row has one when the program has ended");
    }
}

async fn opened(file: &Path) -> SqliteConnection {
    let address = format!("sqlite://{}", file.display());
    let mut conn = SqliteConnection::connect(&address).await.expect("opens");
    sqlx::query("PRAGMA foreign_keys = OFF").execute(&mut conn).await.expect("set");
    conn
}

/// The tables with their columns. Not `moved`, which a contest that can be played has empty.
async fn tables(conn: &mut SqliteConnection) -> Vec<(String, Vec<String>)> {
    let names: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' \
         AND name NOT IN ('schema_version', 'moved') ORDER BY rowid",
    )
    .fetch_all(&mut *conn)
    .await
    .expect("read");
    let mut all = Vec::new();
    for name in names {
        let columns = sqlx::query_scalar("SELECT name FROM pragma_table_info($1)");
        let columns = columns.bind(&name).fetch_all(&mut *conn).await.expect("read");
        all.push((name, columns));
    }
    all
}

/// Changes one bit of a value. None if there is no such value, or the database does not take it.
async fn flip(conn: &mut SqliteConnection, table: &str, column: &str, dice: &mut Dice) -> Option<String> {
    let select = format!(
        "SELECT rowid, typeof({column}), {column}, CAST({column} AS BLOB) FROM {table} \
         WHERE {column} IS NOT NULL AND {column} <> ''"
    );
    let rows = sqlx::query(AssertSqlSafe(select)).fetch_all(&mut *conn).await.expect("read");
    if rows.is_empty() {
        return None;
    }
    let row = &rows[dice.below(rows.len() as u64) as usize];
    let (at, kind): (i64, String) = (row.get(0), row.get(1));
    let cast = if kind == "text" { "CAST($1 AS TEXT)" } else { "$1" };
    let update = AssertSqlSafe(format!("UPDATE {table} SET {column} = {cast} WHERE rowid = $2"));
    let update = sqlx::query(update);
    let (update, bit) = match kind.as_str() {
        "integer" => {
            let bit = dice.below(64);
            (update.bind(row.get::<i64, _>(2) ^ (1 << bit)), bit)
        }
        "real" => {
            let bit = dice.below(64);
            let value = f64::from_bits(row.get::<f64, _>(2).to_bits() ^ (1 << bit));
            // The database has no such number.
            if value.is_nan() {
                return None;
            }
            (update.bind(value), bit)
        }
        _ => {
            let mut bytes: Vec<u8> = row.get(3);
            let bit = dice.below(bytes.len() as u64 * 8);
            bytes[bit as usize / 8] ^= 1 << (bit % 8);
            (update.bind(bytes), bit)
        }
    };
    let done = update.bind(at).execute(&mut *conn).await.ok()?;
    assert_eq!(done.rows_affected(), 1);
    Some(format!("{table}.{column} of row {at}, bit {bit}"))
}

/// Whether the damage is found: by an error of whoever opens it, or by a finding.
async fn is_found(folder: &Path, objects: &Objects) -> bool {
    match Store::open(folder).await {
        Err(_) => true,
        Ok(store) => {
            let found = store.fsck(objects).await;
            store.close().await;
            found.map_or(true, |found| !found.is_empty())
        }
    }
}

#[tokio::test]
async fn a_bit_of_a_value_that_changes_by_itself_is_found() {
    let (folder, mut dice) = (tempfile::tempdir().expect("a folder"), Dice(1));
    contest(folder.path()).await;
    let objects = Objects::open(folder.path()).expect("a place");
    let mut conn = opened(&folder.path().join(DATABASE)).await;
    let columns: Vec<(String, String)> = (tables(&mut conn).await.into_iter())
        .flat_map(|(table, columns)| columns.into_iter().map(move |column| (table.clone(), column)))
        .collect();
    conn.close().await.expect("closed");
    let (mut changed, mut missed) = (0, Vec::new());
    while changed < bits() {
        let copy = tempfile::tempdir().expect("a folder");
        let file = copy.path().join(DATABASE);
        std::fs::copy(folder.path().join(DATABASE), &file).expect("copied");
        let (table, column) = &columns[dice.below(columns.len() as u64) as usize];
        let mut conn = opened(&file).await;
        let what = flip(&mut conn, table, column, &mut dice).await;
        conn.close().await.expect("closed");
        let Some(what) = what else { continue };
        changed += 1;
        if !is_found(copy.path(), &objects).await {
            missed.push(what);
        }
    }
    println!("{changed} bits of values were changed: {} were not found", missed.len());
    assert_eq!(missed, Vec::<String>::new());
}

#[tokio::test]
async fn a_bit_of_the_file_that_changes_by_itself_is_found_or_changes_no_row() {
    let (folder, mut dice) = (tempfile::tempdir().expect("a folder"), Dice(2));
    contest(folder.path()).await;
    let objects = Objects::open(folder.path()).expect("a place");
    let whole = std::fs::read(folder.path().join(DATABASE)).expect("read");
    // The last numbers that were given are not content: SQLite goes by the rows as well.
    let rows = async |file: &Path| {
        let mut all = moving::dump(file).await;
        all.retain(|row| !row.starts_with("sqlite_sequence"));
        all
    };
    let before = rows(&folder.path().join(DATABASE)).await;
    // Most of a small file is room, which is all zeros.
    let used: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
    let (mut found, mut same) = (0, 0);
    for _ in 0..bits() {
        let copy = tempfile::tempdir().expect("a folder");
        let file = copy.path().join(DATABASE);
        let bit = used[dice.below(used.len() as u64) as usize] as u64 * 8 + dice.below(8);
        let mut bytes = whole.clone();
        bytes[bit as usize / 8] ^= 1 << (bit % 8);
        std::fs::write(&file, bytes).expect("written");
        if is_found(copy.path(), &objects).await {
            found += 1;
        } else {
            assert_eq!(rows(&file).await, before, "bit {bit} of the file changed a row and was not found");
            same += 1;
        }
    }
    println!("{} bits of the file were changed: {found} were found, {same} changed no row", found + same);
}

/// A statement that changes a row without setting its checksum to null makes sound rows look damaged.
#[test]
fn every_statement_that_changes_a_row_sets_its_checksum_to_null() {
    let mut found = 0;
    for file in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/acts")).expect("ours") {
        let file = file.expect("ours").path();
        let text = std::fs::read_to_string(&file).expect("ours");
        for (at, _) in text.match_indices("UPDATE ") {
            let Some((table, rest)) = text[at + 7..].split_once("SET ") else { continue };
            if table.is_empty() || table.trim().chars().all(|sign| sign.is_ascii_lowercase() || sign == '_') {
                let line: String = rest.chars().take(60).collect();
                assert!(
                    line.starts_with("checksum = NULL, "),
                    "{}: UPDATE {table}SET {line}",
                    file.display()
                );
                found += 1;
            }
        }
    }
    assert!(found > 50, "{found}");
}

/// The same on a server, where a value is all that can be changed.
#[tokio::test]
async fn a_bit_of_a_value_on_a_server_is_found() {
    let Some(server) = common::POSTGRES.as_ref() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    contest(folder.path()).await;
    let other = tempfile::tempdir().expect("a folder");
    server.place(other.path());
    agon_store::relocate(folder.path(), Some(&common::url(other.path())), false, Time(9))
        .await
        .expect("moved");
    let objects = Objects::open(folder.path()).expect("a place");
    let store = Store::open(folder.path()).await.expect("opens");
    assert_eq!(store.fsck(&objects).await.expect("looked through"), [], "checksums are the same in both");
    let mut conn = sqlx::AnyConnection::connect(&common::url(folder.path())).await.expect("opens");
    for (change, back) in [
        (
            "UPDATE accounts SET made_ms = made_ms + 4 WHERE id = 1",
            "UPDATE accounts SET made_ms = made_ms - 4 WHERE id = 1",
        ),
        ("UPDATE accounts SET organiser = NOT organiser", "UPDATE accounts SET organiser = NOT organiser"),
        (
            "UPDATE events SET at_ms = at_ms + 1 WHERE id = 5",
            "UPDATE events SET at_ms = at_ms - 1 WHERE id = 5",
        ),
        ("UPDATE seats SET max_ms = -max_ms", "UPDATE seats SET max_ms = -max_ms"),
        (
            "UPDATE entrants SET name = 'team Anm' WHERE name = 'team Ann'",
            "UPDATE entrants SET name = 'team Ann' WHERE name = 'team Anm'",
        ),
    ] {
        sqlx::Executor::execute(&mut conn, change).await.expect("changed");
        assert_ne!(store.fsck(&objects).await.expect("looked through"), [], "{change}");
        sqlx::Executor::execute(&mut conn, back).await.expect("changed back");
        assert_eq!(store.fsck(&objects).await.expect("looked through"), [], "{back}");
    }
}
