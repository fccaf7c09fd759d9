//! A contest's folder as one file, made while the contest runs: the database as it is at one moment, and every object it names.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Seek, SeekFrom};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use agon_store::{DATABASE, LARGEST_OBJECT, OBJECTS, Objects, Sha, Store, snapshot};
use zip::ZipArchive;

use crate::archive::{Archive, Pack, above, unwritten};
use crate::{ServerError, status};

/// What a backup holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Objects: bots, replays, logs.
    pub objects: u64,
    /// Total bytes.
    pub bytes: u64,
}

/// How often to copy again when drafts that the copied database still names were forgotten meanwhile.
const TRIES: u32 = 5;

/// Copies the contest in `folder` into a new file. `beside` lists its contest.toml and the files that this names.
///
/// # Errors
/// When there is no contest, or something cannot be read or written; there is no file then.
pub async fn backup(folder: &Path, beside: &[PathBuf], file: &Path) -> Result<Kept, ServerError> {
    let (store, _) = status::look(folder).await?;
    store.close().await;
    let mut tries = 0;
    loop {
        tries += 1;
        match copy(folder, beside, file).await {
            Err(ServerError::Store(agon_store::StoreError::File(_, error)))
                if error.kind() == io::ErrorKind::NotFound && tries < TRIES => {}
            done => return done,
        }
    }
}

async fn copy(folder: &Path, beside: &[PathBuf], file: &Path) -> Result<Kept, ServerError> {
    let mut archive = Archive::new(file)?;
    let at = tempfile::Builder::new().prefix(".agon-backup-").tempdir_in(folder);
    let at = at.map_err(|error| unwritten(folder, error))?;
    let database = at.path().join(DATABASE);
    snapshot(folder, &database).await?;
    let copied = Store::open(at.path()).await?;
    let named = copied.named_objects().await?;
    copied.close().await;
    let objects = Objects::open_in_use(folder).await?;
    let mut kept = Kept::default();
    let names = beside.iter().map(|name| (folder.join(name), name.to_string_lossy().into_owned()));
    for (from, name) in names.chain([(database, DATABASE.to_owned())]) {
        let mut opened = File::open(&from).map_err(|error| unwritten(&from, error))?;
        archive.begin(name, Pack::Yes)?;
        kept.bytes += archive.copy(&mut opened)?;
    }
    let named: BTreeSet<Sha> = named.into_iter().map(|(sha, _)| sha).collect();
    for sha in named {
        let bytes = objects
            .get(&sha, LARGEST_OBJECT)
            .await
            .map_err(|error| unwritten(&folder.join(OBJECTS).join(sha.to_string()), error))?;
        archive.begin(format!("{OBJECTS}/{sha}"), Pack::No)?;
        archive.write(&bytes)?;
        kept.objects += 1;
        kept.bytes += bytes.len() as u64;
    }
    archive.finish()?;
    Ok(kept)
}

/// Makes a contest's folder from a backup, and checks it. Returns the violations found, too.
///
/// # Errors
/// When the file is not a backup, or the folder exists already or cannot be made; there is none then.
pub async fn restore(file: &Path, folder: &Path) -> Result<(Kept, Vec<String>), ServerError> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) || folder.is_file() {
        return Err(ServerError::Wrong(format!(
            "{}: it already exists; name a folder that does not exist yet",
            folder.display()
        )));
    }
    let above = above(folder);
    let mut draft = tempfile::Builder::new();
    draft.prefix(".agon-restore-").permissions(PermissionsExt::from_mode(0o700));
    let draft = draft.tempdir_in(above).map_err(|error| unwritten(above, error))?;
    let kept = unpack(file, draft.path()).await?;
    let (_, found) = status::fsck(draft.path(), false).await?;
    let _ = fs::remove_dir(folder);
    fs::rename(draft.path(), folder).map_err(|error| unwritten(folder, error))?;
    let _ = draft.keep();
    Ok((kept, found))
}

/// Whether the last bytes are the end of an archive without a comment, as we write it. Readers of archives search for that record, so they
/// accept whatever follows it.
fn ends_as_archive(file: &mut (impl io::Read + Seek)) -> io::Result<bool> {
    const END: usize = 22;
    let mut end = [0; END];
    if file.seek(SeekFrom::End(0))? < END as u64 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-(END as i64)))?;
    file.read_exact(&mut end)?;
    file.rewind()?;
    Ok(end.starts_with(b"PK\x05\x06") && end.ends_with(&[0, 0]))
}

async fn unpack(file: &Path, into: &Path) -> Result<Kept, ServerError> {
    let no = |why: &dyn std::fmt::Display| {
        ServerError::Wrong(format!("{}: not a backup that `agon serve backup` wrote: {why}", file.display()))
    };
    let opened = File::open(file).map_err(|error| no(&error))?;
    let mut opened = BufReader::new(opened);
    if !ends_as_archive(&mut opened).map_err(|error| no(&error))? {
        return Err(no(&"bytes follow the archive, or its end is missing: it was not copied as it was"));
    }
    let mut zip = ZipArchive::new(opened).map_err(|error| no(&error))?;
    if zip.offset() != 0 {
        return Err(no(&"bytes stand before the archive"));
    }
    if zip.by_name(DATABASE).is_err() {
        return Err(no(&format!("there is no {DATABASE} in it")));
    }
    let (objects, mut kept) = (Objects::open(into)?, Kept::default());
    for index in 0..zip.len() {
        // The open entry of the archive is dropped before any await.
        let object = {
            let mut entry = zip.by_index(index).map_err(|error| no(&error))?;
            let name = entry.name().map_err(|error| no(&error))?.into_owned();
            let name = PathBuf::from(name);
            let plain = name.components().all(|part| matches!(part, Component::Normal(_)));
            if !plain || !entry.is_file() || entry.is_symlink() {
                return Err(no(&format!(
                    "`{}` is not a file of a contest",
                    name.display().to_string().escape_debug()
                )));
            }
            let object = name.strip_prefix(OBJECTS).ok().and_then(|rest| rest.to_str()?.parse::<Sha>().ok());
            if let Some(sha) = object {
                let mut bytes = Vec::new();
                let read = (&mut entry).take(LARGEST_OBJECT + 1).read_to_end(&mut bytes);
                if read.map_err(|error| no(&error))? as u64 > LARGEST_OBJECT {
                    return Err(no(&format!("the object {sha} is larger than {} MiB", LARGEST_OBJECT >> 20)));
                }
                if Sha::of(&bytes) != sha {
                    return Err(no(&format!("the object {sha} is damaged")));
                }
                Some(bytes)
            } else {
                let to = into.join(&name);
                fs::create_dir_all(to.parent().unwrap_or(into)).map_err(|error| unwritten(&to, error))?;
                let mut written = File::create_new(&to).map_err(|error| unwritten(&to, error))?;
                kept.bytes += io::copy(&mut entry, &mut written).map_err(|error| no(&error))?;
                None
            }
        };
        if let Some(bytes) = object {
            objects.put(&bytes).await.map_err(|error| unwritten(into, error))?;
            kept.objects += 1;
            kept.bytes += bytes.len() as u64;
        }
    }
    Ok(kept)
}
