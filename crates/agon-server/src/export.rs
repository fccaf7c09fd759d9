//! A contest as one file that anybody can check: the sealed log, its replays, and the table that follows.
//!
//! Longer than 500 lines: what is written and what is checked of it are one format.
//!
//! It is a zip archive: `contest.json` says what was played and by whom, `log.txt` has each row after its hash, and `replays/HASH` what was
//! played. [`verify`] trusts none of it: it follows the chain of the log, recomputes every match from its replay, the seeds from the secret
//! once that is published, and the table from the log.
//!
//! While a contest runs, matches off the ladder belong to the teams that sat in them. The form that is for everybody at any time
//! ([`export_public`]) has neither their replays nor their rows: only the hash of such a row, with which the chain goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek};
use std::path::Path;

use agon_bot::advised::NextCommand;
use agon_bot::rights;
use agon_contest::parallel::on_all_cpus;
use agon_ladder::Table;
use agon_store::{
    EntrantId, EntrantVersion, LogEntry, LogRow, Objects, Sealed, Sha, StoreError, Time, VersionId,
    VersionState, link, root, seeds,
};
use agon_worker::{ContestTerms, verify as worker};
use serde::{Deserialize, Serialize};
use zip::ZipArchive;

use crate::archive::{Archive, Pack, unwritten};
use crate::facts::Facts;
use crate::{METHOD, ServerError, json, key, read, recomputed, status};

/// The version of the format.
pub const FORMAT: u32 = 1;
/// Upper limit on `contest.json`, in bytes, however many versions there are.
const LONGEST_HEAD: u64 = 256 << 20;
/// Upper limit on a row of the log, in bytes.
const LONGEST_ROW: usize = 1 << 20;
/// How many matches are read before they are computed, on all CPUs,
const AT_ONCE: usize = 256;
/// or how many bytes of replays: they may come from anybody.
const MOST_READ: usize = 64 << 20;

/// The content of `contest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveHead {
    /// The version of the format.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub program: String,
    /// The contest's name.
    pub name: String,
    /// When it was founded, in milliseconds since 1970.
    pub founded: i64,
    /// The version of the method by which its table was made; those before this was written had the first.
    #[serde(default = "first_method")]
    pub ratings: u32,
    /// What decides results, in the words that the log is chained to.
    pub terms: String,
    /// The SHA-256 of the secret of the seeds, as published before the first match.
    pub secret_sha: String,
    /// That secret, once it is published.
    pub secret: Option<String>,
    /// Blocks that share the seed of another one.
    pub twins: BTreeMap<i64, i64>,
    /// The number of rows in the log.
    pub rows: i64,
    /// How many of them are withheld.
    #[serde(default, skip_serializing_if = "is_none")]
    pub withheld: i64,
    /// The hash of all of them.
    pub sha: String,
    pub versions: Vec<ExportedVersion>,
    /// The table that follows from the log.
    pub table: Table,
}

fn first_method() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives it so")]
fn is_none(count: &i64) -> bool {
    *count == 0
}

/// What stands in the log in place of a row that is withheld.
const WITHHELD: &str = "withheld";

/// A version, as everybody may see it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedVersion {
    /// Its number in the log.
    pub version: i64,
    /// The team it belongs to.
    pub team: String,
    /// The number of that team in rulings.
    pub entrant: i64,
    /// Its number among the versions of its team, from 1.
    pub n: i64,
    /// Whether it is one of ours.
    pub boss: bool,
    /// Which one, in that case.
    pub builtin: Option<String>,
    /// The SHA-256 of the upload.
    pub source: String,
    /// When it arrived, in milliseconds since 1970.
    pub received: i64,
}

/// The result of writing or checking an archive.
#[derive(Clone, Debug)]
pub struct ArchiveReport {
    pub name: String,
    /// The program that wrote the archive.
    pub program: String,
    /// Rows of the log.
    pub rows: i64,
    /// How many of them are withheld.
    pub withheld: i64,
    /// The hash of all of them.
    pub sha: String,
    /// The number of matches recomputed.
    pub recomputed: u64,
    /// The number of seeds recomputed; none while the secret is not published.
    pub seeds: Option<u64>,
    pub versions: Vec<ExportedVersion>,
    /// The table, computed from the log.
    pub table: Table,
    /// What differs from the archive's claims; empty if all of them hold.
    pub wrong: Vec<String>,
}

/// Upper limit on the differences reported.
const TOLD: usize = 20;

/// Writes the contest in `folder` into a new file, even while it runs; `seen` is told how many of its replays are written, and how many
/// there will be. With `reveal` the file has the secret of the seeds: the contest must be paused then, and should be over.
///
/// # Errors
/// When there is no contest, it is running and is to be revealed, or the file cannot be written; there is none then.
pub async fn export(
    folder: &Path,
    file: &Path,
    reveal: bool,
    seen: impl Fn(i64, i64),
) -> Result<ArchiveReport, ServerError> {
    let seen = |done, of| {
        seen(done, of);
        Ok(())
    };
    write(folder, file, (reveal, false), seen).await
}

/// Writes what is public at any time of the contest in `folder` into a new file, which everybody may read. It ends when `seen` says so.
///
/// # Errors
/// As [`export`], and those of `seen`.
pub async fn export_public(
    folder: &Path,
    file: &Path,
    seen: impl Fn(i64, i64) -> Result<(), ServerError>,
) -> Result<ArchiveReport, ServerError> {
    let report = write(folder, file, (false, true), seen).await?;
    let shared = File::open(file).and_then(|made| rights::share(&made, 0o666));
    shared.map_err(|error| unwritten(file, error))?;
    Ok(report)
}

async fn write(
    folder: &Path,
    file: &Path,
    (reveal, public): (bool, bool),
    seen: impl Fn(i64, i64) -> Result<(), ServerError>,
) -> Result<ArchiveReport, ServerError> {
    let (store, contest) = status::look(folder).await?;
    if reveal && !contest.paused {
        return Err(ServerError::Wrong(format!(
            "the secret reveals the seeds of all future matches, and this contest still plays: `{}` first",
            NextCommand::ServePause.at(folder)
        )));
    }
    let terms = crate::terms_of(&store, &contest).await?;
    let objects = Objects::open_in_use(folder).await?;
    let rows = store.counts().await?.sealed;
    let mut archive = Archive::new(file)?;
    let mut facts = Facts::new();
    let mut sha = root(&contest.terms, &contest.secret_sha);
    // The log first, into memory row by row and out again: its end goes into the head.
    let (mut replays, mut withheld) = (BTreeSet::new(), 0);
    archive.begin("log.txt", Pack::Yes)?;
    while facts.upto < rows {
        let page = store.log(facts.upto, 1000.min(rows - facts.upto)).await?;
        if page.is_empty() {
            return Err(StoreError::Damaged(format!("the log ends before row {rows}")).into());
        }
        for LogRow { body, sha: own, .. } in page {
            let entry = read(&body)?;
            facts.add(&entry);
            let shown = match entry {
                LogEntry::Result(sealed) if public && !sealed.kind.is_rated() => {
                    withheld += 1;
                    WITHHELD
                }
                LogEntry::Result(sealed) => {
                    replays.insert(sealed.replay);
                    &body
                }
                _ => &body,
            };
            archive.write(format!("{own} {shown}\n").as_bytes())?;
            sha = own;
        }
    }
    let of = replays.len() as i64;
    for (done, replay) in (1..).zip(replays) {
        let bytes =
            objects.get(&replay, worker::LARGEST as u64).await.map_err(|error| unwritten(folder, error))?;
        archive.begin(format!("replays/{replay}"), Pack::No)?;
        archive.write(&bytes)?;
        seen(done, of)?;
    }
    let versions = store.versions().await?;
    let owners = store.owners().await?;
    let out = facts.out(&owners);
    let table = facts.table(&key(&terms), &out, &crate::bosses_of(&terms.game, &versions));
    let played = |version: EntrantVersion| ExportedVersion {
        version: version.id.0,
        entrant: owners.get(&version.id).map_or(0, |entrant| entrant.0),
        team: version.entrant,
        n: version.n,
        boss: version.boss,
        builtin: version.builtin,
        source: version.source.to_string(),
        received: version.received.0,
    };
    let head = ArchiveHead {
        format: FORMAT,
        program: agon_replay::data::PROGRAM.to_owned(),
        name: contest.title().to_owned(),
        founded: contest.made.0,
        ratings: METHOD,
        terms: contest.terms.clone(),
        secret_sha: contest.secret_sha.clone(),
        secret: reveal.then(|| contest.secret.clone()),
        // Of seeds that only the secret proves.
        twins: if public { BTreeMap::new() } else { store.twins().await? },
        rows,
        withheld,
        sha: sha.to_string(),
        versions: versions
            .into_iter()
            .filter(|version| version.state != VersionState::Draft)
            .map(played)
            .collect(),
        table,
    };
    store.close().await;
    archive.begin("contest.json", Pack::Yes)?;
    archive.write(json(&head).as_bytes())?;
    archive.finish()?;
    Ok(ArchiveReport {
        name: head.name,
        program: head.program,
        rows,
        withheld,
        sha: head.sha,
        recomputed: 0,
        seeds: None,
        versions: head.versions,
        table: head.table,
        wrong: Vec::new(),
    })
}

/// Checks the archive in `file`; `replays` says whether to recompute matches, which takes most of the time, and `seen` is told how many
/// were recomputed.
///
/// # Errors
/// When it is not an archive of a contest at all. False claims in it go into the report.
pub fn verify(file: &Path, replays: bool, seen: impl FnMut(i64, i64)) -> Result<ArchiveReport, ServerError> {
    let no = |why: &dyn std::fmt::Display| {
        ServerError::Wrong(format!("{}: not a contest that `agon serve export` wrote: {why}", file.display()))
    };
    let opened = File::open(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            ServerError::Wrong(format!("{}: there is no such file", file.display()))
        }
        _ => ServerError::Wrong(format!("{}: {error}", file.display())),
    })?;
    let mut zip = ZipArchive::new(BufReader::new(opened)).map_err(|error| no(&error))?;
    let mut text = String::new();
    let head = zip.by_name("contest.json").map_err(|_| no(&"there is no contest.json in it"))?;
    head.take(LONGEST_HEAD).read_to_string(&mut text).map_err(|error| no(&error))?;
    let head: ArchiveHead = serde_json::from_str(&text).map_err(|error| no(&error))?;
    if head.format != FORMAT {
        return Err(no(&format!("its format is {}, and this agon knows {FORMAT}", head.format)));
    }
    let terms: ContestTerms = serde_json::from_str(&head.terms).map_err(|error| no(&error))?;
    // The log is chained to the terms, so these say it, too.
    if let Some(method) = [head.ratings, terms.ratings].into_iter().find(|method| *method != METHOD) {
        let program = format!("the program that wrote it, {}", head.program);
        return Err(ServerError::Wrong(crate::other_method(&file.display().to_string(), method, &program)));
    }
    let table = agon_worker::PreparedGame::new(&terms).map_err(|error| no(&error))?;
    let versions = head.versions.iter().map(version).collect::<Result<_, _>>().map_err(|error| no(&error))?;
    let opened = File::open(file).map_err(|error| no(&error))?;
    let store = ZipArchive::new(BufReader::new(opened)).map_err(|error| no(&error))?;
    let mut check = Check { head: &head, table: &table, versions, replays: replays.then_some(store), seen };
    let log = zip.by_name("log.txt").map_err(|error| no(&error))?;
    check.log(BufReader::new(log), key(&terms))
}

fn version(played: &ExportedVersion) -> Result<(VersionId, EntrantVersion), String> {
    let version = EntrantVersion {
        id: VersionId(played.version),
        entrant: played.team.clone(),
        boss: played.boss,
        n: played.n,
        builtin: played.builtin.clone(),
        source: played.source.parse()?,
        received: Time(played.received),
        state: VersionState::Former,
        reason: None,
        cause: None,
        only_if_better: false,
    };
    Ok((version.id, version))
}

/// An archive being checked.
struct Check<'a, R, S> {
    head: &'a ArchiveHead,
    table: &'a agon_worker::PreparedGame,
    versions: BTreeMap<VersionId, EntrantVersion>,
    /// The replays, if matches are to be recomputed.
    replays: Option<ZipArchive<R>>,
    seen: S,
}

impl<R: io::Read + Seek, S: FnMut(i64, i64)> Check<'_, R, S> {
    fn log(
        &mut self,
        mut rows: impl io::BufRead,
        key: agon_stats::TableKey,
    ) -> Result<ArchiveReport, ServerError> {
        let head = self.head;
        let (mut facts, mut wrong) = (Facts::new(), Vec::new());
        let mut sha = root(&head.terms, &head.secret_sha);
        let (mut recomputed, mut seeds_seen, mut withheld) = (0, 0, 0);
        if head.secret.as_ref().is_some_and(|secret| Sha::of(secret).to_string() != head.secret_sha) {
            wrong.push("the secret is not the one whose hash was published".to_owned());
        }
        let (mut waiting, mut line) = (Vec::with_capacity(AT_ONCE), Vec::new());
        loop {
            line.clear();
            let got = (&mut rows).take(LONGEST_ROW as u64).read_until(b'\n', &mut line);
            let got = got.map_err(|error| ServerError::Wrong(format!("the log cannot be read: {error}")))?;
            let entry = match got {
                0 => None,
                _ => match next(&line, &sha, facts.upto + 1) {
                    Ok((own, Some(entry))) => {
                        facts.add(&entry);
                        sha = own;
                        Some(entry)
                    }
                    // Its hash is taken as it is, as often as the head says.
                    Ok((own, None)) if withheld < head.withheld => {
                        (sha, withheld, facts.upto) = (own, withheld + 1, facts.upto + 1);
                        continue;
                    }
                    Ok((_, None)) => {
                        wrong.push(format!(
                            "row {} is withheld, and contest.json does not say so",
                            facts.upto + 1
                        ));
                        None
                    }
                    Err(why) => {
                        // Nothing after it can be trusted.
                        wrong.push(format!(
                            "the chain of the log holds: not so: row {}: {why}",
                            facts.upto + 1
                        ));
                        None
                    }
                },
            };
            let over = entry.is_none();
            if let Some(LogEntry::Result(sealed)) = entry {
                wrong.extend(self.seats(&sealed));
                if let Some(secret) = &head.secret
                    && sealed.block > 0
                {
                    seeds_seen += 1;
                    let of = head.twins.get(&sealed.block).copied().unwrap_or(sealed.block);
                    if seeds::seed(secret, of) != sealed.seed {
                        wrong.push(format!("its seed follows from the secret: not so: row {}", sealed.seq));
                    }
                }
                waiting.push(*sealed);
            }
            if over || waiting.len() == AT_ONCE {
                recomputed += self.matches(&mut waiting, &mut wrong)?;
                (self.seen)(facts.upto, head.rows);
            }
            if over || wrong.len() > TOLD {
                break;
            }
        }
        if wrong.is_empty() && (facts.upto, sha.to_string()) != (head.rows, head.sha.clone()) {
            wrong.push(format!("the log ends at row {}, not where contest.json says", facts.upto));
        }
        if wrong.is_empty() && withheld != head.withheld {
            wrong.push(format!("{withheld} rows are withheld, and contest.json says {}", head.withheld));
        }
        let owners: BTreeMap<VersionId, EntrantId> = head
            .versions
            .iter()
            .map(|played| (VersionId(played.version), EntrantId(played.entrant)))
            .collect();
        let out = facts.out(&owners);
        let builtins = head
            .versions
            .iter()
            .map(|played| (VersionId(played.version), played.builtin.as_deref().filter(|_| played.boss)));
        let bosses = crate::facts::bosses(&key.game, builtins);
        let table = facts.table(&key, &out, &bosses);
        if wrong.is_empty() && !crate::bears_out(&table, &json(&head.table)) {
            wrong.push(format!(
                "the table follows from the log: not so (it was written by {}, this is {})",
                head.program,
                agon_replay::data::PROGRAM
            ));
        }
        wrong.truncate(TOLD);
        Ok(ArchiveReport {
            name: head.name.clone(),
            program: head.program.clone(),
            rows: facts.upto,
            withheld,
            sha: sha.to_string(),
            recomputed,
            seeds: head.secret.as_ref().map(|_| seeds_seen),
            versions: head.versions.clone(),
            table,
            wrong,
        })
    }

    /// Why the seats of a match are wrong: a version is unknown, or not made of what the row says.
    fn seats(&self, sealed: &Sealed) -> Option<String> {
        let known: Option<Vec<Sha>> =
            sealed.seats.iter().map(|seat| Some(self.versions.get(seat)?.source)).collect();
        (known.as_ref() != Some(&sealed.sources))
            .then(|| format!("who sat there is who contest.json says: not so: row {}", sealed.seq))
    }

    /// Recomputes matches.
    fn matches(&mut self, waiting: &mut Vec<Sealed>, wrong: &mut Vec<String>) -> Result<u64, ServerError> {
        let rows = std::mem::take(waiting);
        let Some(zip) = self.replays.as_mut() else { return Ok(0) };
        let (table, versions) = (self.table, &self.versions);
        let mut rows =
            rows.into_iter().filter(|sealed| sealed.seats.iter().all(|seat| versions.contains_key(seat)));
        let mut count = 0;
        loop {
            let some = read_some(&mut rows, MOST_READ, |sealed| replay(zip, &sealed.replay));
            if some.is_empty() {
                return Ok(count);
            }
            count += some.len() as u64;
            let found =
                on_all_cpus(some, |(sealed, replay)| recomputed::sealed_row(table, sealed, replay, versions));
            let found: Vec<Option<String>> = found.into_iter().collect::<Result<_, _>>()?;
            wrong.extend(found.into_iter().flatten());
        }
    }
}

/// The next of them with what is read of each, up to `most` bytes in total; none at the end.
fn read_some<T>(
    rows: &mut impl Iterator<Item = T>,
    most: usize,
    mut read: impl FnMut(&T) -> io::Result<Vec<u8>>,
) -> Vec<(T, io::Result<Vec<u8>>)> {
    let (mut some, mut bytes) = (Vec::new(), 0);
    while bytes < most
        && let Some(row) = rows.next()
    {
        let got = read(&row);
        bytes += got.as_ref().map_or(0, Vec::len);
        some.push((row, got));
    }
    some
}

/// A row after one with the hash `before`, none if it is withheld, or why it is not valid.
fn next(line: &[u8], before: &Sha, seq: i64) -> Result<(Sha, Option<LogEntry>), String> {
    let text = std::str::from_utf8(line).map_err(|_| "it is not text")?;
    let (sha, body) = text.strip_suffix('\n').and_then(|text| text.split_once(' ')).ok_or("it is cut off")?;
    let sha: Sha = sha.parse()?;
    if body == WITHHELD {
        return Ok((sha, None));
    }
    if link(before, body) != sha {
        return Err("it, or something before it, was changed".to_owned());
    }
    let entry: LogEntry = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let own = entry.seq();
    if own != seq {
        return Err(format!("it says that it is row {own}"));
    }
    if let LogEntry::Result(sealed) = &entry
        && sealed.outcome.proven.ranks.len() != sealed.seats.len()
    {
        return Err("it has not one rank for each seat".to_owned());
    }
    Ok((sha, Some(entry)))
}

fn replay<R: io::Read + Seek>(zip: &mut ZipArchive<R>, sha: &Sha) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = zip.by_name(&format!("replays/{sha}")).map_err(io::Error::other)?;
    file.take(worker::LARGEST as u64 + 1).read_to_end(&mut bytes)?;
    match Sha::of(&bytes) == *sha {
        true => Ok(bytes),
        false => Err(io::Error::other("it is another one")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_one_rank_for_each_seat_or_is_refused() {
        let read = |ranks: &str| {
            let sha = Sha::of("source");
            let body = format!(
                "{{\"seq\":1,\"match\":1,\"block\":1,\"rotation\":0,\"kind\":\"ladder\",\"map\":0,\"seed\":7,\"seats\":[1,2],\
                 \"sources\":[\"{sha}\",\"{sha}\"],\"outcome\":{{{ranks}\"reason\":\"over\",\"faults\":[null,null]}},\
                 \"replay\":\"{sha}\",\"worker\":\"a\",\"settled\":1}}"
            );
            next(format!("{} {body}\n", link(&sha, &body)).as_bytes(), &sha, 1)
                .map(|(_, entry)| entry.map(|entry| entry.seq()))
        };
        assert_eq!(read("\"ranks\":[1,2],"), Ok(Some(1)));
        for ranks in ["", "\"ranks\":[],", "\"ranks\":[1],", "\"ranks\":[1,2,3],"] {
            assert_eq!(read(ranks), Err("it has not one rank for each seat".to_owned()), "{ranks}");
        }
    }

    #[test]
    fn replays_are_read_until_they_are_enough_and_none_is_left_out() {
        let mut rows = [3, 4, 0, 9, 1].into_iter();
        let mut read = || {
            let size = |size: &usize| match size {
                0 => Err(io::Error::other("it is not there")),
                size => Ok(vec![0; *size]),
            };
            read_some(&mut rows, 7, size).into_iter().map(|(row, _)| row).collect::<Vec<_>>()
        };
        assert_eq!([read(), read(), read(), read()], [vec![3, 4], vec![0, 9], vec![1], Vec::new()]);
    }
}
