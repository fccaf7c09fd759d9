//! An image from an archive: an OCI archive or what `docker save` writes, with the layers of one container image, or the files of
//! a root file system. It becomes a list as one that another machine sends, and is written in the same way.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::elf::ElfFile;
use super::gather::MOST_BYTES;
use super::layers::{Layers, MOST_LAYERS};
use super::list::{ImageHead, ImageList, is_hash, written};
use super::make::{check_room, hex};
use super::shelf::{Images, NewImage};
use super::{ImageError, ImageSet, LANGUAGES};
use crate::paths::can_show;

/// What a description within an archive may take.
const MOST_DESCRIBED: u64 = 4 << 20;
/// An archive that was compressed as a whole.
const MOST_ARCHIVE: u64 = 2 * MOST_BYTES;
/// Files that the index of an archive names.
const MOST_BLOBS: usize = 10_000;
/// Folders outside of the system's.
const MOST_PLACES: usize = 64;
/// Variables of a container that its programs keep, and how long they may be.
const MOST_VARIABLES: usize = 64;
const LONGEST_VARIABLE: usize = 4096;
/// Memory that a compressed layer may ask for: two to this power.
const WIDEST_WINDOW: u32 = 27;
/// Where programs are if nobody says it.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// What a sandbox says itself.
const OWN_VARIABLES: [&str; 7] = ["PATH", "HOME", "TMPDIR", "USER", "HOSTNAME", "PWD", "TERM"];

/// The index of an OCI archive, or of one architecture after another.
#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    manifests: Vec<Blob>,
}

/// A file of an archive, by the hash that it has.
#[derive(Clone, Deserialize)]
struct Blob {
    digest: String,
    #[serde(default)]
    platform: Option<Platform>,
}

#[derive(Clone, Deserialize)]
struct Platform {
    architecture: String,
    os: String,
}

/// An image of an OCI archive; or another index.
#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    config: Option<Blob>,
    #[serde(default)]
    layers: Vec<Blob>,
    #[serde(default)]
    manifests: Vec<Blob>,
}

/// An image of `docker save`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Saved {
    config: String,
    layers: Vec<String>,
}

/// Where a layer lies, and its hash if one is named.
type LayerName = (String, Option<String>);

/// How a container is set up.
#[derive(Default, Deserialize)]
struct Settings {
    #[serde(default)]
    architecture: String,
    #[serde(default)]
    config: Option<Environment>,
}

#[derive(Default, Deserialize)]
struct Environment {
    #[serde(default, rename = "Env")]
    env: Option<Vec<String>>,
}

impl Images {
    /// Makes an image of an archive. Its languages are those whose programs are found in it.
    ///
    /// # Errors
    /// The archive is none, or of another machine, or damaged; or there is no room.
    pub fn import(&self, archive: &Path) -> Result<NewImage, ImageError> {
        let began = Instant::now();
        let wrong = |error| ImageError::Write(archive.to_owned(), error);
        let file = File::open(archive).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ImageError::Missing(archive.to_owned()),
            _ => wrong(error),
        })?;
        if !file.metadata().map_err(wrong)?.is_file() {
            return Err(ImageError::Archive(archive.to_owned(), "it is no file".to_owned()));
        }
        let _alone = self.alone()?;
        let kept = self.spare();
        fs::create_dir_all(&kept).map_err(|error| ImageError::Write(kept.clone(), error))?;
        let imported = Importing { name: archive, kept: &kept }.import(self, file);
        let _ = fs::remove_dir_all(&kept);
        let hash = imported?;
        let image = self.named(&hash)?;
        self.note_alone(&image.set, &hash)?;
        Ok(NewImage { image, took: began.elapsed() })
    }
}

struct Importing<'a> {
    /// The archive.
    name: &'a Path,
    /// A folder of ours.
    kept: &'a Path,
}

impl Importing<'_> {
    fn bad(&self, why: impl Into<String>) -> ImageError {
        ImageError::Archive(self.name.to_owned(), why.into())
    }

    fn import(&self, images: &Images, file: File) -> Result<String, ImageError> {
        let about = file.metadata().map(|about| about.len()).unwrap_or(0);
        check_room(self.kept, [about].into_iter())?;
        let file = self.plain(file)?;
        let index = self.index(&file)?;
        let mut layers = Layers::new(self.name, self.kept);
        let settings = match self.parts(&file, &index)? {
            Some((settings, parts)) => {
                for (name, digest) in parts {
                    let mut layer = Hashing::of(self.blob(&file, &index, &name)?);
                    layers.add(self.unpacked(&mut layer)?)?;
                    let hash = layer.finish().map_err(|error| self.bad(error.to_string()))?;
                    if digest.is_some_and(|digest| digest != hash) {
                        return Err(self.bad(format!("the layer {} is damaged", short(&name))));
                    }
                }
                settings
            }
            None => {
                let mut file = &file;
                file.seek(SeekFrom::Start(0)).map_err(|error| self.bad(error.to_string()))?;
                layers.add(BufReader::new(file))?;
                Settings::default()
            }
        };
        self.check_machine(&settings)?;
        let head = self.head(&layers, settings)?;
        let (files, known) = layers.listed()?;
        let list = written(&head, files.iter().map(|(path, listed)| (path.as_path(), listed)));
        let wanted = ImageList::read(list.as_bytes()).map_err(|why| self.bad(why))?;
        let mut none = |hash: &str, _: u64| Err(format!("the file {hash} is lost"));
        images.put(&wanted, list.as_bytes(), &known, &mut none)?;
        Ok(hex(&Sha256::digest(list.as_bytes())))
    }

    /// The archive itself, which may be compressed as a whole.
    fn plain(&self, mut file: File) -> Result<File, ImageError> {
        let mut head = [0; 4];
        let count = file.read(&mut head).map_err(|error| self.bad(error.to_string()))?;
        file.seek(SeekFrom::Start(0)).map_err(|error| self.bad(error.to_string()))?;
        if Packing::of(&head[..count]).is_none() {
            return Ok(file);
        }
        let place = self.kept.join("archive");
        let own = |error| ImageError::Write(self.kept.to_owned(), error);
        let mut plain = File::options().read(true).write(true).create_new(true).open(&place).map_err(own)?;
        let mut bytes = self.unpacked(&mut file)?.take(MOST_ARCHIVE + 1);
        let mut part = vec![0; 256 << 10];
        let mut all = 0;
        loop {
            let count =
                bytes.read(&mut part).map_err(|error| self.bad(format!("it is damaged ({error})")))?;
            if count == 0 {
                break;
            }
            all += count as u64;
            if all > MOST_ARCHIVE {
                return Err(self.bad(format!("it unpacks to more than {} GB", MOST_ARCHIVE >> 30)));
            }
            io::Write::write_all(&mut plain, &part[..count]).map_err(own)?;
        }
        Ok(plain)
    }

    /// The bytes behind a compression, if there is one.
    fn unpacked<'a>(&self, bytes: &'a mut (impl Read + 'a)) -> Result<Box<dyn Read + 'a>, ImageError> {
        let mut head = Vec::new();
        bytes.take(4).read_to_end(&mut head).map_err(|error| self.bad(error.to_string()))?;
        let packing = Packing::of(&head);
        let bytes = io::Cursor::new(head).chain(bytes);
        let damaged = |error: io::Error| self.bad(error.to_string());
        Ok(match packing {
            None => Box::new(bytes),
            Some(Packing::Gzip) => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
            Some(Packing::Zstd) => {
                let mut decoder = zstd::Decoder::new(bytes).map_err(damaged)?;
                decoder.window_log_max(WIDEST_WINDOW).map_err(damaged)?;
                Box::new(decoder)
            }
            Some(Packing::Other(name)) => {
                return Err(
                    self.bad(format!("it is compressed with {name}: unpack it first, or use gzip or zstd"))
                );
            }
        })
    }

    /// Where each file of the archive begins, and how long it is. Of a root file system only what could tell that it is none.
    fn index(&self, file: &File) -> Result<BTreeMap<String, (u64, u64)>, ImageError> {
        let damaged = |error: io::Error| self.bad(format!("it is not a readable archive ({error})"));
        let mut archive = tar::Archive::new(BufReader::new(file));
        let mut index = BTreeMap::new();
        let mut file = file;
        file.seek(SeekFrom::Start(0)).map_err(damaged)?;
        // What is a container's image has no extensions; and no folders with other names.
        for entry in archive.entries_with_seek().map_err(damaged)?.raw(true) {
            let entry = entry.map_err(damaged)?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
            let is_part = matches!(&*name, "oci-layout" | "index.json" | "manifest.json" | "repositories")
                || name.starts_with("blobs/")
                || name.ends_with("/layer.tar")
                || name.ends_with(".json");
            if is_part && entry.header().entry_type() == tar::EntryType::Regular && index.len() < MOST_BLOBS {
                index.insert(name, (entry.raw_file_position(), entry.size()));
            }
        }
        Ok(index)
    }

    fn blob(
        &self,
        file: &File,
        index: &BTreeMap<String, (u64, u64)>,
        name: &str,
    ) -> Result<io::Take<BufReader<File>>, ImageError> {
        let lacks = || self.bad(format!("it lacks {}, which it names", short(name)));
        let (at, bytes) = index.get(name).ok_or_else(lacks)?;
        let mut file = file.try_clone().map_err(|error| self.bad(error.to_string()))?;
        file.seek(SeekFrom::Start(*at)).map_err(|error| self.bad(error.to_string()))?;
        Ok(BufReader::new(file).take(*bytes))
    }

    fn described<T: for<'a> Deserialize<'a>>(
        &self,
        file: &File,
        index: &BTreeMap<String, (u64, u64)>,
        (name, digest): (&str, Option<&str>),
    ) -> Result<T, ImageError> {
        let mut text = Vec::new();
        let bytes = self.blob(file, index, name)?.take(MOST_DESCRIBED).read_to_end(&mut text);
        bytes.map_err(|error| self.bad(error.to_string()))?;
        if digest.is_some_and(|digest| digest != hex(&Sha256::digest(&text))) {
            return Err(self.bad(format!("{} is damaged", short(name))));
        }
        serde_json::from_slice(&text).map_err(|error| self.bad(format!("{}: {error}", short(name))))
    }

    /// How a container is set up, and its layers, each with its hash where one is named; none for a root file system.
    fn parts(
        &self,
        file: &File,
        index: &BTreeMap<String, (u64, u64)>,
    ) -> Result<Option<(Settings, Vec<LayerName>)>, ImageError> {
        let (settings, parts) = if index.contains_key("oci-layout") && index.contains_key("index.json") {
            let all: Index = self.described(file, index, ("index.json", None))?;
            let manifest = self.manifest(file, index, all.manifests, true)?;
            let config = manifest.config.ok_or_else(|| self.bad("it does not say how it is set up"))?;
            let (name, hash) = self.place_of(&config)?;
            let settings = self.described(file, index, (&name, Some(&hash)))?;
            let parts = manifest.layers.iter().map(|layer| self.place_of(layer));
            let parts = parts.map(|part| part.map(|(name, hash)| (name, Some(hash))));
            (settings, parts.collect::<Result<Vec<_>, _>>()?)
        } else if index.contains_key("manifest.json") {
            let all: Vec<Saved> = self.described(file, index, ("manifest.json", None))?;
            let one = match <[Saved; 1]>::try_from(all) {
                Ok([one]) => one,
                Err(all) => {
                    return Err(self.bad(format!("it holds {} images: save one of them alone", all.len())));
                }
            };
            let settings = self.described(file, index, (&one.config, None))?;
            (settings, one.layers.into_iter().map(|name| (name, None)).collect())
        } else {
            return Ok(None);
        };
        if parts.is_empty() || parts.len() > MOST_LAYERS {
            return Err(self.bad(format!("it has {} layers; an image has 1 to {MOST_LAYERS}", parts.len())));
        }
        Ok(Some((settings, parts)))
    }

    /// The image for this machine among several; they may be in an index of their own.
    fn manifest(
        &self,
        file: &File,
        index: &BTreeMap<String, (u64, u64)>,
        all: Vec<Blob>,
        is_outer: bool,
    ) -> Result<Manifest, ImageError> {
        let named = |blob: &&Blob| blob.platform.is_some();
        let mut fitting: Vec<&Blob> = if all.iter().any(|blob| named(&blob)) && all.len() > 1 {
            let fits =
                |platform: &Platform| platform.os == "linux" && platform.architecture == architecture();
            all.iter().filter(|blob| blob.platform.as_ref().is_none_or(fits)).collect()
        } else {
            all.iter().collect()
        };
        let one = match fitting.len() {
            1 => fitting.remove(0),
            0 => return Err(self.bad(format!("it holds no image for Linux on {}", architecture()))),
            count => return Err(self.bad(format!("it holds {count} images: save one of them alone"))),
        };
        let (name, hash) = self.place_of(one)?;
        let manifest: Manifest = self.described(file, index, (&name, Some(&hash)))?;
        match manifest.manifests.is_empty() {
            true => Ok(manifest),
            false if is_outer => self.manifest(file, index, manifest.manifests, false),
            false => Err(self.bad("its indexes are nested too deep")),
        }
    }

    /// Where a blob lies, and its hash.
    fn place_of(&self, blob: &Blob) -> Result<(String, String), ImageError> {
        let hash = blob.digest.strip_prefix("sha256:").filter(|hash| is_hash(hash));
        let hash = hash.ok_or_else(|| self.bad(format!("{} is no SHA-256", short(&blob.digest))))?;
        Ok((format!("blobs/sha256/{hash}"), hash.to_ascii_lowercase()))
    }

    fn check_machine(&self, settings: &Settings) -> Result<(), ImageError> {
        let theirs = &*settings.architecture;
        match theirs.is_empty() || theirs == architecture() {
            true => Ok(()),
            false => {
                Err(self.bad(format!("it is for {}, and this machine is {}", short(theirs), architecture())))
            }
        }
    }

    /// What the image is: found in its files, and in how its container is set up.
    fn head(&self, layers: &Layers<'_>, settings: Settings) -> Result<ImageHead, ImageError> {
        let env = settings.config.unwrap_or_default().env.unwrap_or_default();
        let mut variables: BTreeMap<String, String> = BTreeMap::new();
        let mut path = None;
        for line in env.iter().take(MOST_VARIABLES) {
            let Some((name, value)) = line.split_once('=') else { continue };
            let is_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
            let fits = !name.is_empty() && name.chars().all(is_name) && line.len() <= LONGEST_VARIABLE;
            if !fits || value.chars().any(char::is_control) {
                continue;
            }
            if name == "PATH" {
                path = Some(value.to_owned());
            } else if !OWN_VARIABLES.contains(&name) && !name.starts_with("AGON") {
                variables.insert(name.to_owned(), value.to_owned());
            }
        }
        let places = layers.places();
        let mut places: Vec<PathBuf> = places.into_iter().filter(|place| can_show(place)).collect();
        if places.len() > MOST_PLACES {
            return Err(self.bad(format!(
                "it holds {} folders outside of /usr; an image has at most {MOST_PLACES}",
                places.len()
            )));
        }
        places.sort();
        let path = path.unwrap_or_else(|| USUAL_PATH.to_owned());
        let mut folders: Vec<PathBuf> = Vec::new();
        // An exported container does not say where its programs are: those of /opt are where they usually are.
        let opt = places.iter().filter(|place| place.starts_with("/opt")).map(|place| place.join("bin"));
        let all = path.split(':').chain(["/usr/local/bin", "/usr/bin", "/bin"]).map(PathBuf::from).chain(opt);
        for folder in all.filter(|folder| folder.is_absolute() && folder.as_os_str().len() < LONGEST_VARIABLE)
        {
            let plain = folder.components().all(|part| part != std::path::Component::ParentDir);
            if plain && !folders.contains(&folder) && layers.has_folder(&folder) {
                folders.push(folder);
            }
        }
        let ours = ElfFile::read(Path::new("/proc/self/exe")).map(|own| own.machine);
        let mut set = ImageSet { from: Some(self.label()), ..ImageSet::default() };
        for language in LANGUAGES {
            let Some((path, file)) = layers.program(language.programs[0], &folders) else { continue };
            // What is no ELF file is a script, which names its own program.
            if ElfFile::read(&file).is_some_and(|found| ours.is_some_and(|ours| ours != found.machine)) {
                return Err(self.bad(format!("{} in it is a program for another machine", path.display())));
            }
            set.languages.insert(language.name.to_owned());
        }
        if set.languages.is_empty() {
            let why = "no language's program was found in it. It must be a root file system or a container's image, with its programs \
                       in /usr/bin or where its PATH says; homes (/root, /home) are not shown to bots";
            return Err(self.bad(why));
        }
        Ok(ImageHead { set, path: folders, places, variables })
    }

    /// The archive's name, as it is shown.
    fn label(&self) -> String {
        let name = self.name.file_name().unwrap_or_default().to_string_lossy();
        name.chars().filter(|sign| !sign.is_control()).take(100).collect()
    }
}

/// As containers call it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Something that a foreign file says, in a sentence of ours.
fn short(text: &str) -> String {
    text.chars().take(80).collect::<String>().escape_debug().to_string()
}

/// A compression, by its first bytes.
enum Packing {
    Gzip,
    Zstd,
    Other(&'static str),
}

impl Packing {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            [0xfd, b'7', b'z', b'X', ..] => Some(Self::Other("xz")),
            [b'B', b'Z', b'h', ..] => Some(Self::Other("bzip2")),
            [b'P', b'K', 3, 4, ..] => Some(Self::Other("zip")),
            _ => None,
        }
    }
}

/// Hashes what is read.
struct Hashing<R> {
    bytes: R,
    hash: Sha256,
}

impl<R: Read> Hashing<R> {
    fn of(bytes: R) -> Self {
        Self { bytes, hash: Sha256::new() }
    }

    /// The hash of all of it, with what nobody has read.
    fn finish(mut self) -> io::Result<String> {
        io::copy(&mut self, &mut io::sink())?;
        Ok(hex(&self.hash.finalize()))
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(into)?;
        self.hash.update(&into[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
