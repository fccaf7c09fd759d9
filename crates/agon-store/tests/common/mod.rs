//! A contest's folder whose database is a file, or on a PostgreSQL server started by this test program.

#![allow(dead_code)] // Each test program uses a different part.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use agon_store::acts::{Add, Added, FoundContest, Promote};
use agon_store::{ContestId, Sha, Store, Time, VersionId};
use agon_store::{FaultsTold, MatchResult, Observed, Proven};
use tempfile::TempDir;

/// A folder for a contest. Its database is a file in it; with `AGON_TEST_DATABASE=postgres` it is on a server.
pub fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    if std::env::var("AGON_TEST_DATABASE").is_ok_and(|database| database == "postgres") {
        let server = POSTGRES.as_ref().expect("AGON_TEST_DATABASE=postgres needs initdb, postgres and psql");
        server.place(folder.path());
    }
    folder
}

/// Founds a contest with a live boss of each name.
pub async fn founded(store: &Store, names: &[&str], now: Time) -> (ContestId, Vec<VersionId>) {
    let found =
        FoundContest { name: "test".into(), game: "g".into(), terms: "{}".into(), secret: "s".into(), now };
    let contest = store.act(found).await.expect("founded");
    let mut versions = Vec::new();
    for name in names {
        let add = Add {
            contest,
            entrant: (*name).to_owned(),
            boss: true,
            builtin: Some(format!("builtin:{name}")),
            source: Sha::of(name),
            received: now,
            only_if_better: false,
            bytes: 1,
            counts: false,
            actor: "test".into(),
        };
        let Added::New(version, 1) = store.act(add).await.expect("added") else { panic!("it is new") };
        assert!(store.act(Promote { version, now }).await.expect("promoted"));
        versions.push(version);
    }
    (contest, versions)
}

/// The outcome of a match in which each seat has this rank.
pub fn outcome(ranks: Vec<u8>) -> MatchResult {
    let seats = ranks.len();
    MatchResult {
        proven: Proven {
            scores: ranks.iter().map(|rank| f64::from(*rank) / 3.0).collect(),
            ranks,
            reason: "over".into(),
            steps: 7,
            start: "0".into(),
            answers: "1".into(),
            silent: Vec::new(),
        },
        observed: Observed {
            faults: FaultsTold::Public(vec![None; seats]),
            max_ms: vec![0.125; seats],
            level: "not confined".into(),
            ..Observed::default()
        },
    }
}

pub fn objects(folder: &Path) -> agon_store::Objects {
    agon_store::Objects::open(folder).expect("a place")
}

/// The address of the database of a folder, for access behind the store's back.
pub fn url(folder: &Path) -> String {
    match std::fs::read_to_string(folder.join(agon_store::DATABASE_AT)) {
        Ok(url) => url.trim().to_owned(),
        Err(_) => format!("sqlite://{}", folder.join(agon_store::DATABASE).display()),
    }
}

/// The server of this test program; none, and a printed line, if the machine has no PostgreSQL.
pub static POSTGRES: LazyLock<Option<Postgres>> = LazyLock::new(Postgres::start);

/// A server of our own, on a socket in a temporary folder. It ends with the program that started it, however that ends.
pub struct Postgres {
    programs: PathBuf,
    place: PathBuf,
    server: Mutex<Option<Child>>,
    made: AtomicU32,
}

/// Servers refuse to run as root, so root starts them as `nobody`.
const NOBODY: u32 = 65_534;

impl Postgres {
    /// Makes a server and starts it.
    pub fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            println!(
                "SKIPPED: there is no PostgreSQL here (AGON_PG_BIN names the folder of initdb, postgres and psql)"
            );
            return None;
        };
        // The shell that waits for our end removes it.
        let place = tempfile::tempdir().expect("a folder").keep();
        if is_root() {
            std::os::unix::fs::chown(&place, Some(NOBODY), Some(NOBODY)).expect("given away");
        }
        let own = Self { programs, place, server: Mutex::new(None), made: AtomicU32::new(0) };
        let data = own.place.join("data");
        let options = ["--no-sync", "-A", "trust", "-U", "agon", "-E", "UTF8", "--locale=C", "-D"];
        let made = own.program("initdb").args(options).arg(data).output().expect("initdb starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        own.run();
        Some(own)
    }

    /// Starts the server, again after [`kill`](Self::kill).
    pub fn run(&self) {
        // When our end of the pipe closes for any reason, the server is stopped and its folder removed. A word on the pipe means that it
        // has ended.
        let script = r#""$0" "$@" <&- & echo $! > "$PWD/pid"; read word || kill -QUIT $!; wait $!; [ "$word" ] || rm -rf "$PWD""#;
        let mut server = Command::new("sh");
        server.args(["-c", script]).arg(self.programs.join("postgres"));
        server.arg("-D").arg(self.place.join("data")).arg("-k").arg(&self.place);
        server.args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200"]);
        let log = std::fs::File::create(self.place.join("log")).expect("a file");
        server.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log).current_dir(&self.place);
        if is_root() {
            server.uid(NOBODY).gid(NOBODY);
        }
        *self.server.lock().expect("no test has panicked here") = Some(server.spawn().expect("a shell"));
        for _ in 0..600 {
            if self.ask("SELECT 1") {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = std::fs::read_to_string(self.place.join("log")).unwrap_or_default();
        panic!("PostgreSQL does not answer: {log}");
    }

    /// Ends the server as a power cut would.
    pub fn kill(&self) {
        self.end("-QUIT");
    }

    /// Ends its first process with `kill -9`.
    pub fn kill_postmaster(&self) {
        self.end("-KILL");
    }

    /// Sends its first process a signal, and waits until it and its children are gone: before that they may still answer, and another
    /// server cannot start.
    fn end(&self, signal: &str) {
        let pid = std::fs::read_to_string(self.place.join("pid")).expect("it runs");
        let own = self.server.lock().expect("no test has panicked here").take();
        let _ = Command::new("kill").args([signal, pid.trim()]).status();
        if let Some(mut own) = own {
            // Its shell must reap it: until then its process number looks like a running server, and another one cannot start.
            let _ = own.stdin.take().map(|mut stdin| stdin.write_all(b"ended\n"));
            let _ = own.wait();
        }
        for _ in 0..600 {
            if !self.runs() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the server does not end");
    }

    /// Stops all its processes where they are, or lets them go on.
    pub fn freeze(&self, frozen: bool) {
        let signal = if frozen { "-STOP" } else { "-CONT" };
        let pids = self.pids();
        assert!(Command::new("kill").arg(signal).args(&pids).status().expect("kill").success(), "{pids:?}");
    }

    fn runs(&self) -> bool {
        !self.pids().is_empty()
    }

    /// Its processes: all of them work in its data folder.
    fn pids(&self) -> Vec<String> {
        let data = self.place.join("data");
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let own = processes.filter(|process| {
            std::fs::read_link(process.path().join("cwd")).is_ok_and(|place| place == data)
        });
        own.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Makes a new database on this server, and assigns it to a folder.
    pub fn place(&self, folder: &Path) {
        let name = format!("contest{}", self.made.fetch_add(1, Ordering::Relaxed));
        assert!(self.ask(&format!("CREATE DATABASE {name}")), "{name} is new");
        let socket = self.place.to_str().expect("UTF-8").replace('/', "%2F");
        let url = format!("postgres://agon@localhost/{name}?host={socket}");
        agon_store::place(folder, &url).expect("written");
    }

    /// How many bytes the database of this folder takes, without the write-ahead log.
    pub fn size(&self, folder: &Path) -> u64 {
        let url = url(folder);
        let name = url.rsplit('/').next().and_then(|rest| rest.split('?').next()).expect("a name");
        let answer = self.psql(&format!("SELECT pg_database_size('{name}')")).stdout;
        String::from_utf8_lossy(&answer).trim().parse().expect("a number")
    }

    /// The folder of its programs, and the folder that it listens in, which has its data.
    pub fn folders(&self) -> (&Path, &Path) {
        (&self.programs, &self.place)
    }

    /// The files of the server that hold these bytes. Not its write-ahead log, which holds everything for a while.
    pub fn files_with(&self, needle: &str) -> Vec<PathBuf> {
        files_with(&self.place.join("data"), needle)
            .into_iter()
            .filter(|file| !file.iter().any(|part| part == "pg_wal"))
            .collect()
    }

    fn ask(&self, statement: &str) -> bool {
        self.psql(statement).status.success()
    }

    /// Runs a statement; the output is its bare values.
    fn psql(&self, statement: &str) -> Output {
        let mut psql = self.program("psql");
        psql.arg("-h").arg(&self.place).args(["-U", "agon", "-Atc", statement, "postgres"]);
        psql.output().expect("psql starts")
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.stdin(Stdio::null()).current_dir(&self.place);
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The shared server is never dropped: its shell ends it.
        self.kill();
        let _ = std::fs::remove_dir_all(&self.place);
    }
}

/// The files below a folder that hold these bytes.
pub fn files_with(folder: &Path, needle: &str) -> Vec<PathBuf> {
    let found = Command::new("grep").args(["-rlaF", "-e", needle]).arg(folder).output().expect("grep starts");
    String::from_utf8_lossy(&found.stdout).lines().map(PathBuf::from).collect()
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// Where `initdb`, `postgres` and `psql` are.
fn programs() -> Option<PathBuf> {
    let named = std::env::var_os("AGON_PG_BIN").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut all = named
        .into_iter()
        .chain(debian.map(|version| version.path().join("bin")))
        .chain(std::env::split_paths(&path));
    all.find(|folder| ["initdb", "postgres", "psql"].iter().all(|name| folder.join(name).is_file()))
}
