//! The images of this machine: which there are, which one strangers get, and who makes one that is missing.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::Hasher as _;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::gather::Gathering;
use super::list::is_hash;
use super::make::make;
use super::packages::bring;
use super::{FILES, Image, ImageError, ImageLanguage, ImageSet};
use crate::build::cache;
use crate::process::inside::{User, tool_of};
use crate::rights;

/// The note which image a set has.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    set: ImageSet,
    image: String,
    /// What the image was made from, as it was then.
    sources: Vec<(PathBuf, Option<[i64; 4]>)>,
}

/// A new image, for whoever waits for it.
#[derive(Clone, Debug)]
pub struct NewImage {
    pub image: Arc<Image>,
    /// How long it took.
    pub took: Duration,
}

/// The images of this machine.
#[derive(Debug)]
pub struct Images {
    folder: PathBuf,
}

impl Images {
    /// Those in this user's cache.
    pub fn own() -> Self {
        Self { folder: cache().join("images") }
    }

    /// Those in a folder.
    pub fn within(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The image that strangers get who need `wanted`: the organiser's choice if it has that, else one of just that. It is
    /// made if it is not there, or if its languages were installed anew; `say` gets a line then. Within one process a set
    /// keeps its image.
    ///
    /// # Errors
    /// Why there is none.
    pub fn take(&self, wanted: &ImageSet, say: &mut dyn FnMut(&str)) -> Result<Arc<Image>, ImageError> {
        static TAKEN: Mutex<BTreeMap<(PathBuf, ImageSet), Arc<Image>>> = Mutex::new(BTreeMap::new());
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.folder.clone(), wanted.clone());
        if let Some(image) = taken.get(&key) {
            return Ok(Arc::clone(image));
        }
        let set = self.chosen().into_iter().find(|chosen| chosen.covers(wanted));
        let set = set.unwrap_or_else(|| wanted.clone());
        let image = match self.kept(&set).or_else(|| self.settled(&set)) {
            Some(image) => image,
            None => {
                say(&format!("making an image for strangers' bots: {}", set.words()));
                self.make(&set)?.image
            }
        };
        taken.insert(key, Arc::clone(&image));
        Ok(image)
    }

    /// The image that this program itself runs in, on behalf of a stranger's bot: one of this machine's files, since an archive's
    /// may be too old for it, or too new. As [`take`](Self::take) otherwise.
    ///
    /// # Errors
    /// Why there is none.
    pub fn take_own(&self, say: &mut dyn FnMut(&str)) -> Result<Arc<Image>, ImageError> {
        match self.chosen().iter().find(|chosen| chosen.covers(&ImageSet::default())) {
            Some(ImageSet { from: Some(_), .. }) => Ok(self.make(&ImageSet::default())?.image),
            _ => self.take(&ImageSet::default(), say),
        }
    }

    /// Makes the image of a set, if there is none, or makes it anew if what it was made from has changed.
    ///
    /// # Errors
    /// Why it cannot be made.
    pub fn make(&self, set: &ImageSet) -> Result<NewImage, ImageError> {
        let began = Instant::now();
        let _alone = self.alone()?;
        let image = match self.kept(set) {
            Some(image) => image,
            None => self.make_alone(set)?,
        };
        Ok(NewImage { image, took: began.elapsed() })
    }

    /// Nobody else makes an image while this is held. Others wait here, and find it made.
    pub(super) fn alone(&self) -> Result<File, ImageError> {
        let wrong = |path: &Path, error| ImageError::Write(path.to_owned(), error);
        fs::create_dir_all(&self.folder).map_err(|error| wrong(&self.folder, error))?;
        // The lock ends with its holder, however that ends.
        let lock = self.folder.join("lock");
        let held = rights::create_private(&lock).map_err(|error| wrong(&lock, error))?;
        flock(&held, FlockOperation::LockExclusive).map_err(|error| wrong(&lock, error.into()))?;
        for left in self.entries().filter(|path| has_name(path, |name| name.starts_with("making-"))) {
            let _ = fs::remove_dir_all(left);
        }
        Ok(held)
    }

    /// A folder for what is needed while an image is made.
    pub(super) fn spare(&self) -> PathBuf {
        self.folder.join(format!("making-{}-of", std::process::id()))
    }

    /// The folder in which an image is written.
    pub(super) fn draft(&self) -> PathBuf {
        self.folder.join(format!("making-{}", std::process::id()))
    }

    /// Puts a draft where its image belongs, unless that is there.
    pub(super) fn place(&self, draft: &Path, hash: &str) -> Result<PathBuf, ImageError> {
        let place = self.folder.join(hash);
        if !place.join(FILES).is_file() {
            // What a power cut left behind, perhaps.
            let _ = fs::remove_dir_all(&place);
            fs::rename(draft, &place).map_err(|error| ImageError::Write(place.clone(), error))?;
        }
        Ok(place)
    }

    /// The image of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn named(&self, hash: &str) -> Result<Arc<Image>, ImageError> {
        let none = || ImageError::NoSuch(hash.to_owned());
        let place = Some(self.folder.join(hash)).filter(|_| is_hash(hash)).ok_or_else(none)?;
        Image::open(&place).map(Arc::new).map_err(|_| none())
    }

    /// Keeps the image of this name, whatever becomes of the languages here that it was made from: somebody's contest has it.
    ///
    /// # Errors
    /// There is none.
    pub fn keep(&self, hash: &str) -> Result<(), ImageError> {
        let image = self.named(hash)?;
        let note = Note { set: image.set.clone(), image: image.hash.clone(), sources: Vec::new() };
        self.write(&self.folder.join(format!("set-kept-{hash}")), &note)
    }

    /// Notes that a set has this image, which was made from nothing that changes.
    pub(super) fn note_alone(&self, set: &ImageSet, hash: &str) -> Result<(), ImageError> {
        let note = Note { set: set.clone(), image: hash.to_owned(), sources: Vec::new() };
        self.write(&self.note(set), &note)
    }

    fn make_alone(&self, set: &ImageSet) -> Result<Arc<Image>, ImageError> {
        let wrong = |path: &Path, error| ImageError::Write(path.to_owned(), error);
        if let Some(from) = &set.from {
            return Err(ImageError::Missing(from.into()));
        }
        let mut gathering = Gathering::of(set)?;
        let brought = self.spare();
        let packages: Vec<_> = set.packages.iter().collect();
        let made =
            bring(&packages, &brought, &mut gathering).and_then(|()| self.make_gathered(set, &gathering));
        let _ = fs::remove_dir_all(&brought);
        let image = Image::open(&made?).map_err(|error| wrong(&self.folder, error))?;
        let sources: Vec<_> =
            gathering.sources.iter().map(|path| (path.clone(), state(path))).chain(own_tools(set)).collect();
        let note = Note { set: set.clone(), image: image.hash.clone(), sources };
        self.write(&self.note(set), &note)?;
        Ok(Arc::new(image))
    }

    fn make_gathered(&self, set: &ImageSet, gathering: &Gathering) -> Result<PathBuf, ImageError> {
        let draft = self.draft();
        let made = make(set, gathering, &draft).and_then(|hash| self.place(&draft, &hash));
        let _ = fs::remove_dir_all(&draft);
        made
    }

    /// The image that a set has whatever has changed since, if it is not remade by itself: that would need what only the organiser
    /// has, an archive or a network.
    fn settled(&self, set: &ImageSet) -> Option<Arc<Image>> {
        let note: Note = read(&self.note(set)).filter(|_| set.from.is_some() || !set.packages.is_empty())?;
        self.named(&note.image).ok().filter(|_| note.set == *set)
    }

    /// The image that a set has, if what it was made from is unchanged.
    fn kept(&self, set: &ImageSet) -> Option<Arc<Image>> {
        let note: Note = read(&self.note(set))?;
        let is_current = note.set == *set
            && note.sources.iter().all(|(path, was)| state(path) == *was)
            && own_tools(set).all(|tool| note.sources.contains(&tool));
        let image = is_current.then(|| self.folder.join(&note.image)).filter(|_| is_hash(&note.image))?;
        Image::open(&image).ok().map(Arc::new)
    }

    /// All images, and whether some set has it at present.
    pub fn list(&self) -> Vec<(Image, bool)> {
        let notes: Vec<Note> = self
            .entries()
            .filter(|path| has_name(path, |name| name.starts_with("set-")))
            .filter_map(|path| read(&path))
            .collect();
        let images = self.entries().filter(|path| has_name(path, is_hash));
        let mut all: Vec<(Image, bool)> = images
            .filter_map(|path| Image::open(&path).ok())
            .map(|image| {
                let used = notes.iter().any(|note| note.image == image.hash);
                (image, used)
            })
            .collect();
        all.sort_by_key(|(image, _)| image.made());
        all
    }

    /// Removes the image whose hash begins with `name`. Returns the hash.
    ///
    /// # Errors
    /// There is none, or more than one, or it is in use.
    pub fn remove(&self, name: &str) -> Result<String, ImageError> {
        let begins = |path: &PathBuf| has_name(path, |hash| is_hash(hash) && hash.starts_with(name));
        let mut fitting = self.entries().filter(begins);
        let place =
            fitting.next().filter(|_| !name.is_empty()).ok_or_else(|| ImageError::NoSuch(name.to_owned()))?;
        if fitting.next().is_some() {
            return Err(ImageError::Ambiguous(name.to_owned()));
        }
        let hash = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let wrong = |error| ImageError::Write(place.clone(), error);
        // A damaged one has no list that could be held.
        let list = File::open(place.join(FILES));
        if list.is_ok_and(|list| flock(&list, FlockOperation::NonBlockingLockExclusive).is_err()) {
            return Err(ImageError::InUse(hash));
        }
        for note in self.entries().filter(|path| has_name(path, |name| name.starts_with("set-"))) {
            if read::<Note>(&note).is_some_and(|note| note.image == hash) {
                fs::remove_file(&note).map_err(wrong)?;
            }
        }
        // First the list, so that what is left of an interrupted removal is no image.
        let _ = fs::remove_file(place.join(FILES));
        fs::remove_dir_all(&place).map_err(wrong)?;
        Ok(hash)
    }

    /// The sets that the organiser has chosen for all strangers whom they suffice, the latest first.
    pub fn chosen(&self) -> Vec<ImageSet> {
        let place = self.folder.join("chosen");
        // It was one before there were several.
        read(&place).or_else(|| read(&place).map(|one| vec![one])).unwrap_or_default()
    }

    /// Chooses a set for all strangers whom it suffices; with none, each bot gets an image of what it needs.
    ///
    /// # Errors
    /// The choice cannot be written.
    pub fn choose(&self, set: Option<&ImageSet>) -> Result<(), ImageError> {
        let place = self.folder.join("chosen");
        match set {
            Some(set) => {
                // Nobody would get the others any more whose languages it has.
                let others =
                    self.chosen().into_iter().filter(|other| !other.languages.is_subset(&set.languages));
                let all: Vec<ImageSet> = std::iter::once(set.clone()).chain(others).collect();
                self.write(&place, &all)
            }
            None => match fs::remove_file(&place) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(ImageError::Write(place, error))
                }
                _ => Ok(()),
            },
        }
    }

    fn entries(&self) -> impl Iterator<Item = PathBuf> + use<> {
        fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path())
    }

    fn note(&self, set: &ImageSet) -> PathBuf {
        let mut hash = Xxh3::new();
        hash.write(&serde_json::to_vec(set).unwrap_or_default());
        self.folder.join(format!("set-{:016x}", hash.digest()))
    }

    /// Writes a small file, whole or not at all.
    fn write(&self, place: &Path, what: &impl Serialize) -> Result<(), ImageError> {
        let wrong = |error| ImageError::Write(place.to_owned(), error);
        let draft = place.with_extension(format!("{}.new", std::process::id()));
        let text = serde_json::to_vec(what).unwrap_or_default();
        fs::create_dir_all(&self.folder)
            .and_then(|()| rights::create_private(&draft))
            .and_then(|mut file| file.write_all(&text))
            .and_then(|()| fs::rename(&draft, place))
            .map_err(wrong)
    }
}

fn read<T: for<'a> Deserialize<'a>>(place: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(place).ok()?).ok()
}

fn has_name(path: &Path, fits: impl Fn(&str) -> bool) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(fits)
}

/// What tells that a file or folder was replaced.
fn state(path: &Path) -> Option<[i64; 4]> {
    let about = fs::metadata(path).ok()?;
    Some([about.ino() as i64, about.size() as i64, about.mtime(), about.mtime_nsec()])
}

/// The programs of a set's languages, as they are found today: another version may have come to be first.
fn own_tools(set: &ImageSet) -> impl Iterator<Item = (PathBuf, Option<[i64; 4]>)> {
    let user = User::own();
    let languages = set.closed().into_iter().filter_map(|name| ImageLanguage::named(&name));
    let tools: Vec<PathBuf> = languages.filter_map(|language| tool_of(language.programs[0], &user)).collect();
    tools.into_iter().map(|file| {
        let state = state(&file);
        (file, state)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shelf, and a set of a file that can be changed.
    fn shelf() -> (tempfile::TempDir, Images, ImageSet) {
        let at = tempfile::tempdir().expect("a folder");
        let file = at.path().join("tool/data");
        fs::create_dir(at.path().join("tool")).expect("a folder");
        fs::write(&file, "one").expect("written");
        let images = Images::within(at.path().join("images"));
        let set = ImageSet { added: [at.path().join("tool")].into(), ..ImageSet::default() };
        (at, images, set)
    }

    #[test]
    fn an_image_is_made_once_holds_copies_and_is_made_anew_when_its_sources_change() {
        let (at, images, set) = shelf();
        // What an interrupted attempt left.
        fs::create_dir_all(at.path().join("images/making-1/root/usr")).expect("folders");
        let first = images.make(&set).expect("an image").image;
        assert!(!at.path().join("images/making-1").exists(), "swept");
        assert_eq!(images.make(&set).expect("an image").image.hash, first.hash);
        let inside =
            |image: &Image, path: &Path| image.root().join(path.strip_prefix("/").expect("absolute"));
        let file = at.path().join("tool/data");
        assert_eq!(fs::read_to_string(inside(&first, &file)).expect("there"), "one");
        assert!(first.runs(Path::new("/bin/sh")) && first.runs(Path::new("/usr/bin/env")));
        assert!(!first.runs(&file) && !first.runs(Path::new("/usr/bin/nobodys")));
        let (shell, copy) =
            (fs::metadata("/usr/bin/env"), fs::metadata(inside(&first, Path::new("/usr/bin/env"))));
        assert_ne!(shell.expect("there").ino(), copy.expect("there").ino());
        assert_eq!(first.places, [at.path().join("tool")]);
        // Another file, as a package's update leaves it.
        fs::write(at.path().join("new"), "two").expect("written");
        fs::rename(at.path().join("new"), &file).expect("renamed");
        let second = images.make(&set).expect("an image").image;
        assert_ne!(second.hash, first.hash);
        assert_eq!(
            fs::read_to_string(inside(&first, &file)).expect("there"),
            "one",
            "nobody changes an image"
        );
        let listed: Vec<(String, bool)> =
            images.list().into_iter().map(|(image, used)| (image.hash, used)).collect();
        assert!(
            listed.contains(&(first.hash.clone(), false)) && listed.contains(&(second.hash.clone(), true))
        );
    }

    #[test]
    fn the_same_files_have_the_same_name_wherever_they_are_made() {
        let (at, images, set) = shelf();
        let other = Images::within(at.path().join("others"));
        let hash = |images: &Images| images.make(&set).expect("an image").image.hash.clone();
        assert_eq!(hash(&images), hash(&other));
    }

    #[test]
    fn an_image_in_use_is_not_removed() {
        let (_at, images, set) = shelf();
        let image = images.make(&set).expect("an image").image;
        let name = image.hash[..8].to_owned();
        assert!(matches!(images.remove(&name), Err(ImageError::InUse(_))));
        drop(image);
        assert!(matches!(images.remove(""), Err(ImageError::NoSuch(_))));
        assert!(matches!(images.remove("zz"), Err(ImageError::NoSuch(_))));
        images.remove(&name).expect("removed");
        assert!(images.list().is_empty());
        images.make(&set).expect("an image is made again");
    }

    #[test]
    fn the_organisers_choice_is_for_those_whom_it_suffices() {
        let (_at, images, set) = shelf();
        images.choose(Some(&set)).expect("chosen");
        let mut said = Vec::new();
        let mut say = |line: &str| said.push(line.to_owned());
        let image = images.take(&ImageSet::default(), &mut say).expect("an image");
        assert_eq!(image.set.added, set.added);
        images.take(&ImageSet::default(), &mut say).expect("an image");
        assert_eq!(said.len(), 1, "{said:?}");
    }

    #[test]
    fn homes_and_what_sandboxes_have_of_their_own_are_never_part_of_an_image() {
        let (_at, images, _) = shelf();
        for place in ["/tmp", "/proc/self", "/etc/passwd", "/", "/usr"] {
            let set = ImageSet { added: [place.into()].into(), ..ImageSet::default() };
            assert!(matches!(images.make(&set), Err(ImageError::NeverShown(_))), "{place}");
        }
        let none = ImageSet { added: ["/nowhere".into()].into(), ..ImageSet::default() };
        assert!(matches!(images.make(&none), Err(ImageError::Missing(_))));
    }
}
