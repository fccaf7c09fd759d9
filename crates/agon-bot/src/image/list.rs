//! The list of an image: what it is, and a line for each path of it. Its hash is the image's name.
//!
//! A list may come from another machine, whose owner may be hostile: it is bounded, and no path of it leads out by a link.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use agon_sandbox::SETTINGS;

use super::gather::{MOST_BYTES, MOST_FILES};
use super::{ImageSet, LONGEST};

/// The first line of a list.
const FORMAT: &str = "agon image 1";
/// No path is longer.
pub const LONGEST_PATH: usize = 4096;
/// No image has more of each kind of line that says what it is.
const MOST_HEADS: usize = 1024;

/// What an image is: the lines that a list begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageHead {
    pub set: ImageSet,
    /// The folders in which programs are found, as a program sees them.
    pub path: Vec<PathBuf>,
    /// The folders outside of the system's that are shown, as a program sees them.
    pub places: Vec<PathBuf>,
    /// What its programs find in their environment.
    pub variables: BTreeMap<String, String>,
}

/// What a list says of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    File {
        hash: String,
        bytes: u64,
        runs: bool,
    },
    /// The same file as another, by a further name.
    Twin(PathBuf),
    Link(PathBuf),
    Folder,
}

/// The paths of an image.
pub type ListedFiles = BTreeMap<PathBuf, Listed>;
/// Where a file of each hash is.
pub type KnownFiles = BTreeMap<String, PathBuf>;

impl ImageHead {
    /// Takes a line; returns whether it was one of a head.
    fn take(&mut self, word: &str, value: &str) -> bool {
        match word {
            "language" => drop(self.set.languages.insert(value.to_owned())),
            "added" => drop(self.set.added.insert(value.into())),
            "from" => self.set.from = Some(value.to_owned()),
            "package" => match value.parse() {
                Ok(package) => drop(self.set.packages.insert(package)),
                Err(()) => return false,
            },
            "path" => self.path.push(value.into()),
            "place" => self.places.push(value.into()),
            "variable" => match value.split_once('=') {
                Some((name, value)) => drop(self.variables.insert(name.to_owned(), value.to_owned())),
                None => return false,
            },
            _ => return false,
        }
        true
    }

    /// Whether it could be an image's: what it shows are paths, and it is no larger than any.
    fn is_sound(&self) -> bool {
        let Self { set, path, places, variables } = self;
        let counts = [set.languages.len(), set.added.len(), set.packages.len()];
        counts.into_iter().chain([path.len(), places.len(), variables.len()]).all(|count| count <= MOST_HEADS)
            && places.iter().all(|place| place.to_str().and_then(plain).is_some())
    }
}

impl fmt::Display for ImageHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |path: &PathBuf| path.display().to_string();
        let heads = [
            ("language", self.set.closed()),
            ("added", self.set.added.iter().map(text).collect()),
            ("from", self.set.from.iter().cloned().collect()),
            ("package", self.set.packages.iter().map(ToString::to_string).collect()),
            ("path", self.path.iter().map(text).collect()),
            ("place", self.places.iter().map(text).collect()),
            ("variable", self.variables.iter().map(|(name, value)| format!("{name}={value}")).collect()),
        ];
        for (word, values) in heads {
            values.iter().try_for_each(|value| writeln!(f, "{word}\t{value}"))?;
        }
        Ok(())
    }
}

/// The text of a list.
pub fn written<'a>(head: &ImageHead, files: impl Iterator<Item = (&'a Path, &'a Listed)>) -> String {
    let mut text = format!("{FORMAT}\n{head}");
    for (path, listed) in files {
        let path = path.display();
        text += &match listed {
            Listed::File { hash, bytes, runs } => {
                let kind = if *runs { "program" } else { "file" };
                format!("{kind}\t{hash}\t{bytes}\t{path}\n")
            }
            Listed::Twin(first) => format!("twin\t{path}\t{}\n", first.display()),
            Listed::Link(target) => format!("link\t{path}\t{}\n", target.display()),
            Listed::Folder => format!("folder\t{path}\n"),
        };
    }
    text
}

/// Reads a list, a line at a time. What is read is only that: [`ImageList::read`] says whether it holds together.
pub struct ListReader<R> {
    lines: std::io::Lines<BufReader<std::io::Take<R>>>,
    pub head: ImageHead,
    /// The first line behind the head, which has been read with it.
    ahead: Option<Result<(PathBuf, Listed), String>>,
}

impl<R: Read> ListReader<R> {
    /// Reads the head.
    ///
    /// # Errors
    /// It is no list.
    pub fn new(source: R) -> Result<Self, String> {
        let mut lines = BufReader::new(source.take(LONGEST)).lines();
        match lines.next() {
            Some(Ok(line)) if line == FORMAT => {}
            Some(Err(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                return Err("its list is no text".to_owned());
            }
            Some(Err(error)) => return Err(error.to_string()),
            _ => return Err("its list is of another version of agon".to_owned()),
        }
        let mut reader = Self { lines, head: ImageHead::default(), ahead: None };
        let mut head = ImageHead::default();
        while let Some(line) = reader.line() {
            let is_head = match &line {
                Ok(line) => line.split_once('\t').is_some_and(|(word, value)| head.take(word, value)),
                Err(_) => false,
            };
            if !is_head {
                reader.ahead = Some(line.and_then(|line| listed(&line).ok_or_else(|| wrong(&line))));
                break;
            }
        }
        reader.head = head;
        Ok(reader)
    }

    fn line(&mut self) -> Option<Result<String, String>> {
        self.lines.next().map(|line| line.map_err(|error| error.to_string()))
    }
}

impl<R: Read> Iterator for ListReader<R> {
    type Item = Result<(PathBuf, Listed), String>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(ahead) = self.ahead.take() {
            return Some(ahead);
        }
        self.line().map(|line| line.and_then(|line| listed(&line).ok_or_else(|| wrong(&line))))
    }
}

fn wrong(line: &str) -> String {
    format!("its list has a wrong line: {}", line.chars().take(100).collect::<String>())
}

/// Whether this is a SHA-256 as lists write it.
pub fn is_hash(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What a line says of a path; none if it is no such line.
fn listed(line: &str) -> Option<(PathBuf, Listed)> {
    let parts: Vec<&str> = line.split('\t').collect();
    let (path, listed) = match parts[..] {
        [kind @ ("file" | "program"), hash, bytes, path] if is_hash(hash) => {
            let bytes = bytes.parse().ok()?;
            (path, Listed::File { hash: hash.to_owned(), bytes, runs: kind == "program" })
        }
        ["twin", path, first] => (path, Listed::Twin(plain(first)?)),
        ["link", path, target] if !target.is_empty() => (path, Listed::Link(target.into())),
        ["folder", path] => (path, Listed::Folder),
        _ => return None,
    };
    Some((plain(path)?, listed))
}

/// A path from the root with nothing but names, where an image can hold something.
fn plain(path: &str) -> Option<PathBuf> {
    let rest = Path::new(path).strip_prefix("/").ok()?;
    let names = rest.components().all(|part| matches!(part, Component::Normal(_)));
    let own = ["/proc", "/sys", "/dev"].iter().any(|own| Path::new(path).starts_with(own));
    let is_written_so = Path::new("/").join(rest.components().collect::<PathBuf>()).as_os_str() == path;
    (names && !own && is_written_so && path.len() > 1 && path.len() <= LONGEST_PATH).then(|| path.into())
}

/// A sound list.
#[derive(Debug)]
pub struct ImageList {
    pub files: ListedFiles,
    pub bytes: u64,
}

impl ImageList {
    /// Reads a list.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(source: impl Read) -> Result<Self, String> {
        let lines = ListReader::new(source)?;
        if !lines.head.is_sound() {
            return Err("what its list begins with is wrong".to_owned());
        }
        let (mut files, mut all) = (BTreeMap::new(), 0_u64);
        for line in lines {
            let (path, listed) = line?;
            if let Listed::File { bytes, .. } = listed {
                all = all.saturating_add(bytes);
            }
            files.insert(path, listed);
            if files.len() > MOST_FILES || all > MOST_BYTES {
                return Err("it is too large".to_owned());
            }
        }
        let links: BTreeSet<&PathBuf> = files
            .iter()
            .filter(|(_, listed)| matches!(listed, Listed::Link(_)))
            .map(|(path, _)| path)
            .collect();
        let through = |path: &Path| path.ancestors().skip(1).any(|above| links.contains(&above.to_owned()));
        // Settings are shown one by one, from where they are found outside.
        if files.keys().map(PathBuf::as_path).chain(SETTINGS.map(Path::new)).any(through) {
            return Err("a path of its list leads through a link".to_owned());
        }
        let is_file = |first: &PathBuf| matches!(files.get(first), Some(Listed::File { .. }));
        if files.values().any(|listed| matches!(listed, Listed::Twin(first) if !is_file(first))) {
            return Err("its list has a further name of what is no file".to_owned());
        }
        Ok(Self { files, bytes: all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_list_leads_out_of_its_image() {
        let hash = "0".repeat(64);
        let sound = format!(
            "{FORMAT}\nplace\t/opt/a\nfolder\t/opt/a\nfile\t{hash}\t1\t/opt/a/b\ntwin\t/opt/c\t/opt/a/b\nlink\t/bin\tusr/bin\n"
        );
        assert_eq!(ImageList::read(sound.as_bytes()).expect("sound").files.len(), 4);
        let cases = [
            "folder\t/opt/../../x",
            "folder\topt",
            "folder\t/",
            "folder\t/opt//x",
            "folder\t/opt/x/",
            "folder\t/proc/x",
            "file\t00\t1\t/x",
            "file\t0\t-1\t/x",
            "folder\t/bin/x",
            "link\t/etc\t/root",
            "link\t/etc/maven\t/root",
            "twin\t/x\t/nowhere",
            "twin\t/x\t/bin",
            "device\t/x",
            // What it is stands before what it holds.
            "place\t/opt/b",
        ];
        for line in cases {
            assert!(ImageList::read(format!("{sound}{line}\n").as_bytes()).is_err(), "{line}");
        }
        for line in ["place\t/opt/../..", "place\tx", "variable\tX", "device\t/x"] {
            let text = sound.replacen("place\t/opt/a", line, 1);
            assert!(ImageList::read(text.as_bytes()).is_err(), "{line}");
        }
        let large = format!("{sound}file\t{hash}\t{}\t/x\n", u64::MAX);
        assert!(ImageList::read(large.as_bytes()).is_err());
        let many = sound.replacen("place", &"path\t/x\n".repeat(MOST_HEADS + 1), 1);
        assert!(ImageList::read(many.as_bytes()).is_err());
    }

    #[test]
    fn what_is_written_is_read() {
        let hash = "0".repeat(64);
        let head = ImageHead {
            set: ImageSet {
                languages: ["Python".to_owned()].into(),
                added: ["/usr/bin/jq".into()].into(),
                from: Some("my image.tar".to_owned()),
                packages: ["pip own==1".parse().expect("a package")].into(),
            },
            path: vec!["/usr/local/bin".into(), "/usr/bin".into()],
            places: vec!["/opt/a".into()],
            variables: [("A".to_owned(), "b=c".to_owned())].into(),
        };
        let files: BTreeMap<PathBuf, Listed> = [
            ("/opt/a".into(), Listed::Folder),
            ("/usr/b".into(), Listed::File { hash, bytes: 7, runs: true }),
            ("/usr/c".into(), Listed::Twin("/usr/b".into())),
            ("/usr/d".into(), Listed::Link("../b".into())),
        ]
        .into();
        let text = written(&head, files.iter().map(|(path, listed)| (path.as_path(), listed)));
        assert_eq!(ListReader::new(text.as_bytes()).expect("a list").head, head);
        let list = ImageList::read(text.as_bytes()).expect("sound");
        assert_eq!((list.files, list.bytes), (files, 7));
    }
}
