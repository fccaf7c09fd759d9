//! An image from another machine: by its list, whose hash is its name, and then file by file, without those that images here
//! have already.
//!
//! Whoever sends a list may be hostile: nothing is written outside of the image's folder, and no path of it leads out by a link.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use super::list::{ImageList, Listed, is_hash};
use super::make::{DATE, check_room, hex};
use super::shelf::Images;
use super::{FILES, Image, ImageError, LONGEST, ROOT};
use crate::rights;

/// A file is sent in parts of at most so many bytes.
pub const MOST_PART: u64 = 8 << 20;
/// Small files are sent together, at most so many.
const MOST_TOGETHER: usize = 40;

/// Brings the content of the file with a hash, from a byte on; or of several, by their hashes with commas between, whole and one
/// after the other.
pub type Part<'a> = dyn FnMut(&str, u64) -> Result<Vec<u8>, String> + 'a;

impl Images {
    /// Makes the image of this name from its list. `get` brings at most [`MOST_PART`] bytes; `say` gets a line with the size first.
    ///
    /// # Errors
    /// The list or a file is not what its hash says, or it cannot be written.
    pub fn fetch(
        &self,
        name: &str,
        list: &[u8],
        say: &mut dyn FnMut(&str),
        get: &mut Part<'_>,
    ) -> Result<Arc<Image>, ImageError> {
        let unsound = |why: String| ImageError::Unsound(name.to_owned(), why);
        if !is_hash(name) || hex(&Sha256::digest(list)) != name {
            return Err(unsound("its list is not the one of this name".to_owned()));
        }
        let wanted = ImageList::read(list).map_err(unsound)?;
        let _alone = self.alone()?;
        if let Ok(image) = self.named(name) {
            return Ok(image);
        }
        let known = self.known();
        let missing = wanted.files.values().filter_map(|listed| match listed {
            Listed::File { hash, bytes, .. } if !known.contains_key(hash) => Some(*bytes),
            _ => None,
        });
        let missing: u64 = missing.sum();
        say(&format!(
            "fetching the image {}: {} MB in {} files, of which {} MB are not here yet",
            &name[..12],
            wanted.bytes >> 20,
            wanted.files.len(),
            missing.div_ceil(1 << 20)
        ));
        self.put(&wanted, list, &known, get).map_err(|error| match error {
            ImageError::Unsound(_, why) => unsound(why),
            other => other,
        })?;
        self.keep(name)?;
        self.named(name)
    }

    /// Writes the image of a list, under the list's hash. Nobody else makes one meanwhile.
    pub(super) fn put(
        &self,
        wanted: &ImageList,
        list: &[u8],
        known: &BTreeMap<String, PathBuf>,
        get: &mut Part<'_>,
    ) -> Result<PathBuf, ImageError> {
        let draft = self.draft();
        let written = write(wanted, &draft, known, get).and_then(|()| {
            let wrong = |error| ImageError::Write(draft.clone(), error);
            let mut file = rights::create_private(&draft.join(FILES)).map_err(wrong)?;
            file.write_all(list).and_then(|()| file.sync_all()).map_err(wrong)?;
            self.place(&draft, &hex(&Sha256::digest(list)))
        });
        let _ = fs::remove_dir_all(&draft);
        written
    }

    /// A file of the images here for each hash.
    fn known(&self) -> BTreeMap<String, PathBuf> {
        let mut known = BTreeMap::new();
        for (image, _) in self.list() {
            known.extend(image.by_hash().unwrap_or_default());
        }
        known
    }

    /// The list of the image of this name, for another machine.
    ///
    /// # Errors
    /// There is no such image, or its list cannot be read.
    pub fn list_of(&self, name: &str) -> Result<Vec<u8>, ImageError> {
        let list = self.named(name)?.folder.join(FILES);
        let about = fs::metadata(&list).and_then(|about| match about.len() <= LONGEST {
            true => fs::read(&list),
            false => Err(io::ErrorKind::FileTooLarge.into()),
        });
        about.map_err(|error| ImageError::Write(list, error))
    }

    /// The content of files of the image of this name, as a [`Part`] names them: at most [`MOST_PART`] bytes.
    ///
    /// # Errors
    /// There is no such image or file, or it cannot be read.
    pub fn part_of(&self, name: &str, hashes: &str, from: u64) -> Result<Vec<u8>, ImageError> {
        let files = self.served(name)?;
        let none = |hash: &str| ImageError::NoSuch(hash.chars().take(64).collect());
        let wanted: Vec<&str> = hashes.split(',').take(MOST_TOGETHER).collect();
        let mut bytes = Vec::new();
        for hash in &wanted {
            let file = files.get(*hash).ok_or_else(|| none(hash))?;
            let part = part(file, if wanted.len() == 1 { from } else { 0 });
            bytes.extend(part.map_err(|error| ImageError::Write(file.clone(), error))?);
            if bytes.len() as u64 > MOST_PART {
                return Err(none(hash));
            }
        }
        Ok(bytes)
    }

    /// The files of the image of this name, by their hashes. Its list, which nothing changes, is read once and not for each part
    /// that somebody fetches.
    fn served(&self, name: &str) -> Result<Arc<BTreeMap<String, PathBuf>>, ImageError> {
        type Served = (PathBuf, Arc<BTreeMap<String, PathBuf>>);
        static SERVED: Mutex<Option<Served>> = Mutex::new(None);
        let mut served = SERVED.lock().unwrap_or_else(PoisonError::into_inner);
        let image = self.named(name)?;
        if let Some((folder, files)) = &*served
            && *folder == image.folder
        {
            return Ok(Arc::clone(files));
        }
        let files = image.by_hash().map_err(|why| ImageError::Unsound(name.to_owned(), why))?;
        let files = Arc::new(files);
        *served = Some((image.folder.clone(), Arc::clone(&files)));
        Ok(files)
    }
}

impl Image {
    /// Where a file of each hash is.
    fn by_hash(&self) -> Result<BTreeMap<String, PathBuf>, String> {
        let list = File::open(self.folder.join(FILES)).map_err(|error| error.to_string())?;
        let files = ImageList::read(list)?.files.into_iter();
        let with_hash = files.filter_map(|(path, listed)| match listed {
            Listed::File { hash, .. } => Some((hash, below(&self.root(), &path))),
            _ => None,
        });
        Ok(with_hash.collect())
    }
}

pub(super) fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn part(file: &Path, from: u64) -> io::Result<Vec<u8>> {
    let file = File::open(file)?;
    let left = file.metadata()?.len().saturating_sub(from).min(MOST_PART);
    let mut bytes = vec![0; usize::try_from(left).unwrap_or(0)];
    file.read_exact_at(&mut bytes, from)?;
    Ok(bytes)
}

/// The files that come from another machine.
struct Coming<'a, 'b> {
    get: &'a mut Part<'b>,
    /// Small files that are wanted, in the order in which they are written.
    small: VecDeque<(String, u64)>,
    /// What came with another.
    here: BTreeMap<String, Vec<u8>>,
}

impl<'a, 'b> Coming<'a, 'b> {
    fn of(wanted: &ImageList, known: &BTreeMap<String, PathBuf>, get: &'a mut Part<'b>) -> Self {
        let mut seen = BTreeSet::new();
        let small = wanted.files.values().filter_map(|listed| match listed {
            Listed::File { hash, bytes, .. } if *bytes < MOST_PART && !known.contains_key(hash) => {
                seen.insert(hash).then(|| (hash.clone(), *bytes))
            }
            _ => None,
        });
        Self { small: small.collect(), here: BTreeMap::new(), get }
    }

    /// The content of the file with this hash from a byte on.
    fn part(&mut self, hash: &str, from: u64) -> Result<Vec<u8>, String> {
        if from == 0
            && let Some(bytes) = self.here.remove(hash)
        {
            return Ok(bytes);
        }
        if from > 0 || self.small.front().is_none_or(|(first, _)| first != hash) {
            return (self.get)(hash, from);
        }
        let (mut together, mut sum) = (Vec::new(), 0);
        while let Some((_, bytes)) = self.small.front()
            && sum + bytes <= MOST_PART
            && together.len() < MOST_TOGETHER
        {
            sum += bytes;
            together.extend(self.small.pop_front());
        }
        let hashes: Vec<&str> = together.iter().map(|(hash, _)| hash.as_str()).collect();
        let mut got = (self.get)(&hashes.join(","), 0)?;
        if got.len() as u64 != sum {
            return Err(format!("the file {hash} is of another size"));
        }
        // A file that stands in the list twice is asked for again: few do, and what is not kept cannot pile up.
        self.here.clear();
        for (hash, bytes) in together.into_iter().rev() {
            let part = got.split_off(got.len() - bytes as usize);
            self.here.insert(hash, part);
        }
        Ok(self.here.remove(hash).unwrap_or_default())
    }
}

fn write(
    wanted: &ImageList,
    draft: &Path,
    known: &BTreeMap<String, PathBuf>,
    get: &mut Part<'_>,
) -> Result<(), ImageError> {
    let wrong = |path: &Path| {
        let path = path.to_owned();
        move |error: io::Error| ImageError::Write(path, error)
    };
    fs::create_dir_all(draft).map_err(wrong(draft))?;
    let sizes = wanted.files.values().map(|listed| match listed {
        Listed::File { bytes, .. } => *bytes,
        _ => 0,
    });
    check_room(draft, sizes)?;
    let mut coming = Coming::of(wanted, known, get);
    let root = draft.join(ROOT);
    let mut folders: BTreeSet<&Path> = [Path::new("/")].into();
    for (path, listed) in &wanted.files {
        let own = matches!(listed, Listed::Folder).then_some(path.as_path());
        folders.extend(path.ancestors().skip(1).chain(own));
    }
    for folder in folders {
        let place = below(&root, folder);
        fs::create_dir(&place)
            .and_then(|()| fs::set_permissions(&place, Permissions::from_mode(0o755)))
            .map_err(wrong(&place))?;
    }
    for (path, listed) in &wanted.files {
        let place = below(&root, path);
        match listed {
            Listed::Folder | Listed::Twin(_) => {}
            Listed::Link(target) => symlink(target, &place).map_err(wrong(&place))?,
            Listed::File { hash, bytes, runs } => {
                // What is damaged here comes from there.
                let here = known.get(hash).is_some_and(|file| {
                    let mut from = |at| part(file, at).map_err(|error| error.to_string());
                    fill(&place, (hash, *bytes, *runs), &mut from).is_ok()
                });
                if !here {
                    let _ = fs::remove_file(&place);
                    fill(&place, (hash, *bytes, *runs), &mut |at| coming.part(hash, at))?;
                }
            }
        }
    }
    for (path, listed) in &wanted.files {
        if let Listed::Twin(first) = listed {
            let place = below(&root, path);
            fs::hard_link(below(&root, first), &place).map_err(wrong(&place))?;
        }
    }
    Ok(())
}

/// Writes a file of this hash and size.
fn fill(
    place: &Path,
    (wanted, bytes, runs): (&str, u64, bool),
    from: &mut dyn FnMut(u64) -> Result<Vec<u8>, String>,
) -> Result<(), ImageError> {
    let wrong = |error| ImageError::Write(place.to_owned(), error);
    let unsound = |why: String| ImageError::Unsound(String::new(), why);
    let mode = if runs { 0o755 } else { 0o644 };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(place).map_err(wrong)?;
    let (mut at, mut hash) = (0, Sha256::new());
    while at < bytes {
        let part = from(at).map_err(unsound)?;
        if part.is_empty() || part.len() as u64 > (bytes - at).min(MOST_PART) {
            return Err(unsound(format!("the file {wanted} is of another size")));
        }
        hash.update(&part);
        file.write_all(&part).map_err(wrong)?;
        at += part.len() as u64;
    }
    if hex(&hash.finalize()) != wanted {
        return Err(unsound(format!("the file {wanted} is not what its name says")));
    }
    file.set_permissions(Permissions::from_mode(mode)).map_err(wrong)?;
    file.set_modified(SystemTime::UNIX_EPOCH + DATE).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::ImageSet;

    /// A shelf with an image of the base and a file of two parts besides.
    fn shelf(at: &Path) -> (Images, Arc<Image>) {
        fs::create_dir(at.join("tool")).expect("a folder");
        fs::write(at.join("tool/data"), vec![7; MOST_PART as usize + 1]).expect("written");
        for small in 0..50 {
            fs::write(at.join(format!("tool/small-{small}")), format!("{small}")).expect("written");
        }
        let images = Images::within(at.join("images"));
        let set = ImageSet { added: [at.join("tool")].into(), ..ImageSet::default() };
        let image = images.make(&set).expect("an image").image;
        (images, image)
    }

    #[test]
    fn an_image_is_fetched_once_and_only_what_is_not_here() {
        let at = tempfile::tempdir().expect("a folder");
        let (there, image) = shelf(at.path());
        let here = Images::within(at.path().join("others"));
        here.make(&ImageSet::default()).expect("the base is here");
        let list = there.list_of(&image.hash).expect("a list");
        let (mut said, mut got) = (Vec::new(), Vec::new());
        let mut get = |hash: &str, from: u64| {
            got.push(from);
            there.part_of(&image.hash, hash, from).map_err(|error| error.to_string())
        };
        let fetched = here.fetch(&image.hash, &list, &mut |line| said.push(line.to_owned()), &mut get);
        let fetched = fetched.expect("fetched");
        assert_eq!(got, [0, MOST_PART, 0, 0], "one file in two parts, and fifty in two heaps");
        assert!(said.len() == 1 && said[0].contains("9 MB are not here"), "{said:?}");
        assert_eq!((&fetched.hash, &fetched.set, &fetched.places), (&image.hash, &image.set, &image.places));
        assert_eq!(here.list_of(&image.hash).expect("a list"), list);
        assert!(fetched.runs(Path::new("/bin/sh")));
        assert!(
            here.list().iter().any(|(listed, used)| listed.hash == image.hash && *used),
            "nobody calls it old"
        );
        drop(fetched);
        here.remove(&image.hash).expect("removed");
    }

    #[test]
    fn a_file_that_is_not_what_its_name_says_leaves_no_image() {
        let at = tempfile::tempdir().expect("a folder");
        let (there, image) = shelf(at.path());
        let here = Images::within(at.path().join("others"));
        let list = there.list_of(&image.hash).expect("a list");
        let none = &mut |_: &str| {};
        let other = "0".repeat(64);
        assert!(matches!(
            here.fetch(&other, &list, none, &mut |_, _| Ok(vec![1])),
            Err(ImageError::Unsound(..))
        ));
        for bytes in [vec![], vec![1], vec![1; MOST_PART as usize + 1]] {
            let fetched = here.fetch(&image.hash, &list, none, &mut |_, _| Ok(bytes.clone()));
            assert!(matches!(fetched, Err(ImageError::Unsound(..))), "{}", bytes.len());
        }
        assert!(here.list().is_empty());
    }
}
