//! What a viewer sees. It only reads, so it works beside a running server, and without one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use agon_bot::advised::NextCommand;
use agon_ladder::{LadderRow, StandingVersion, Table, shown};
use agon_store::reads::Counts;
use agon_store::{
    ClockDoubt, ContestRow, ContestStore, EntrantId, EntrantVersion, Event, Objects, Store, VersionId,
    VersionState,
};

use crate::facts::Facts;
use crate::{ServerError, bosses_of, clock, key, recomputed, server_name, terms_of};

/// The state of a contest.
#[derive(Clone, Debug)]
pub struct ContestStatus {
    pub contest: ContestRow,
    /// The number of its matches in each state.
    pub counts: Counts,
    pub versions: Vec<EntrantVersion>,
    pub board: Vec<LadderRow>,
    /// The last row of the log that the board covers.
    pub upto: i64,
    /// The last entries of the audit log, newest first.
    pub events: Vec<Event>,
    /// The servers whose clocks are in doubt.
    pub clocks: Vec<ClockDoubt>,
}

/// A version with fewer rated matches leaves its place to the one before it.
pub const PLACING: u64 = agon_ladder::PLACED;

/// Opens the contest in a folder for reading.
///
/// # Errors
/// When there is none.
pub async fn look(folder: &Path) -> Result<(ContestStore, ContestRow), ServerError> {
    let none = || {
        ServerError::Missing(format!(
            "{}: there is no contest in it; `{}` starts one",
            folder.display(),
            NextCommand::ServeNew.at(folder)
        ))
    };
    if !agon_store::is_there(folder) {
        return Err(none());
    }
    let store = Store::open(folder).await?.only().await?.ok_or_else(none)?;
    let contest = store.now().await?;
    // A command goes by the same clock as the server here.
    let own = server_name(folder);
    if let Some(doubt) = store.clock_doubts().await?.into_iter().find(|doubt| doubt.server == own) {
        store.heeds(move || Some(clock::what(&doubt)));
    }
    Ok((store, contest))
}

/// The state of the contest in a folder.
///
/// # Errors
/// When there is none, or it cannot be read.
pub async fn status(folder: &Path) -> Result<ContestStatus, ServerError> {
    let (store, contest) = look(folder).await?;
    let (facts, table) = table(&store, &contest).await?;
    let (owners, versions) = (store.owners().await?, store.versions().await?);
    let out = facts.out(&owners);
    let board = lines(&table, &versions, &owners, &out);
    let counts = store.counts().await?;
    let (events, clocks) = (store.events(20).await?, store.clock_doubts().await?);
    store.close().await;
    Ok(ContestStatus { contest, counts, versions, board, upto: facts.upto, events, clocks })
}

/// The facts of the whole log, and the table that follows from them.
pub(crate) async fn table(store: &ContestStore, contest: &ContestRow) -> Result<(Facts, Table), ServerError> {
    let mut facts = Facts::new();
    facts.read(store, i64::MAX).await?;
    let out = facts.out(&store.owners().await?);
    let terms = terms_of(store, contest).await?;
    let table = facts.table(&key(&terms), &out, &bosses_of(&terms.game, &store.versions().await?));
    Ok((facts, table))
}

/// The lines of the board for this table and these versions, without those that are out.
pub(crate) fn lines(
    table: &Table,
    versions: &[EntrantVersion],
    owners: &BTreeMap<VersionId, EntrantId>,
    out: &BTreeSet<VersionId>,
) -> Vec<LadderRow> {
    let standing = |version: &EntrantVersion| StandingVersion {
        version: version.id.0,
        n: version.n,
        team: owners.get(&version.id).map_or(0, |team| team.0),
        entrant: version.entrant.clone(),
        boss: version.boss,
        live: version.state == VersionState::Live,
    };
    let stands = |version: &&EntrantVersion| !out.contains(&version.id);
    shown(table, &versions.iter().filter(stands).map(standing).collect::<Vec<_>>(), PLACING)
}

/// Checks a contest, and returns the violations: what [`Store::fsck`] finds, tables that do not follow from the log, and with `replays`
/// matches that differ from their replays.
///
/// # Errors
/// When there is no contest, or it cannot be read at all.
pub async fn fsck(folder: &Path, replays: bool) -> Result<(ContestRow, Vec<String>), ServerError> {
    let (store, contest) = look(folder).await?;
    let objects = Objects::open_in_use(folder).await?;
    let found = store.fsck(&objects).await?;
    let mut said: Vec<String> =
        found.into_iter().map(|finding| format!("{}: not so: {}", finding.rule, finding.what)).collect();
    let terms = terms_of(&store, &contest).await?;
    let key = key(&terms);
    let mut boards = store.boards().await?;
    boards.retain(|board| board.program == crate::method());
    boards.sort_by_key(|board| board.upto);
    let mut facts = Facts::new();
    let owners = store.owners().await?;
    let bosses = bosses_of(&terms.game, &store.versions().await?);
    for board in boards {
        facts.read(&store, board.upto).await?;
        let out = facts.out(&owners);
        if facts.upto != board.upto || !crate::bears_out(&facts.table(&key, &out, &bosses), &board.board) {
            said.push(format!("a table follows from the log: not so: the one up to row {}", board.upto));
        }
    }
    if replays {
        let table = agon_worker::PreparedGame::new(&terms).map_err(ServerError::Wrong)?;
        said.extend(recomputed::log(&store, &objects, &table).await?);
    }
    store.close().await;
    Ok((contest, said))
}
