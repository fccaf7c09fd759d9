//! Archives as they should be, and as nobody should make them.

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use tar::{EntryType, Header};

use super::*;

/// An entry: its name, kind, mode, and what it holds or leads to.
type Entry<'a> = (&'a str, EntryType, u32, &'a [u8]);

const FILE: EntryType = EntryType::Regular;
const FOLDER: EntryType = EntryType::Directory;
const LINK: EntryType = EntryType::Symlink;
const TWIN: EntryType = EntryType::Link;
/// A script is a program, and here it is Perl.
const PERL: Entry<'_> = ("usr/bin/perl", FILE, 0o755, b"#!/bin/true");

/// A tar with any names.
fn tar_of(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, mode, text) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_mode(*mode);
        header.set_mtime(7);
        let is_link = [LINK, TWIN].contains(kind);
        header.set_size(if is_link { 0 } else { text.len() as u64 });
        let bytes = header.as_mut_bytes();
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        if is_link {
            bytes[157..157 + text.len()].copy_from_slice(text);
        }
        header.set_cksum();
        builder.append(&header, if is_link { &[] } else { *text }).expect("a vector takes all");
    }
    builder.into_inner().expect("a vector takes all")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).expect("a vector takes all");
    packed.finish().expect("a vector takes all")
}

fn sha(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// An OCI archive of these layers, for this architecture.
fn oci(layers: &[Vec<u8>], architecture: &str) -> Vec<u8> {
    let config = format!(
        r#"{{"architecture":"{architecture}","config":{{"Env":["PATH=/opt/tool/bin:/usr/bin","TOOL=/opt/tool","HOME=/x"]}}}}"#
    );
    let digests: Vec<String> =
        layers.iter().map(|layer| format!(r#"{{"digest":"sha256:{}"}}"#, sha(layer))).collect();
    let manifest = format!(
        r#"{{"config":{{"digest":"sha256:{}"}},"layers":[{}]}}"#,
        sha(config.as_bytes()),
        digests.join(",")
    );
    let index = format!(r#"{{"manifests":[{{"digest":"sha256:{}"}}]}}"#, sha(manifest.as_bytes()));
    let blobs = layers.iter().map(Vec::as_slice).chain([config.as_bytes(), manifest.as_bytes()]);
    let blobs: Vec<(String, &[u8])> =
        blobs.map(|blob| (format!("blobs/sha256/{}", sha(blob)), blob)).collect();
    let mut entries: Vec<Entry<'_>> =
        blobs.iter().map(|(name, blob)| (name.as_str(), FILE, 0o644, *blob)).collect();
    entries.push(("oci-layout", FILE, 0o644, b"{}"));
    entries.push(("index.json", FILE, 0o644, index.as_bytes()));
    tar_of(&entries)
}

/// The images of a folder, and an archive beside them.
fn import(bytes: &[u8]) -> (tempfile::TempDir, Result<NewImage, ImageError>) {
    let at = tempfile::tempdir().expect("a folder");
    let archive = at.path().join("my image.tar");
    fs::write(&archive, bytes).expect("written");
    let images = Images::within(at.path().join("images"));
    let made = images.import(&archive);
    let left: Vec<_> = fs::read_dir(at.path().join("images"))
        .map(|all| all.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
        .unwrap_or_default();
    assert!(!left.iter().any(|name| name.starts_with("making-")), "{left:?}");
    (at, made)
}

/// What the import of a root file system says, with a program in it.
fn refused(entries: &[Entry<'_>]) -> String {
    let (at, made) = import(&tar_of(&[&[PERL], entries].concat()));
    assert!(Images::within(at.path().join("images")).list().is_empty());
    match made {
        Err(error @ ImageError::Archive(..)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn text(image: &super::super::Image, path: &str) -> Option<String> {
    fs::read_to_string(image.real(Path::new(path))?).ok()
}

#[test]
fn a_root_file_system_becomes_an_image_of_what_a_sandbox_shows() {
    let plain = tar_of(&[
        PERL,
        ("./usr/lib/data", FILE, 0o6755, b"set-user-id"),
        ("bin", LINK, 0o777, b"usr/bin"),
        ("bin/sh", FILE, 0o755, b"through a link"),
        ("/usr/lib/absolute", FILE, 0o600, b"a name from the root"),
        ("usr/lib/twin", TWIN, 0o644, b"usr/lib/data"),
        ("usr/lib/out", LINK, 0o777, b"../../../../../../etc/shadow"),
        ("usr/lib/null", EntryType::Char, 0o666, b""),
        ("usr/lib/pipe", EntryType::Fifo, 0o666, b""),
        ("etc/passwd", FILE, 0o644, b"root:x:0:0"),
        ("etc/ld.so.cache", FILE, 0o644, b"cache"),
        ("root/.ssh/id", FILE, 0o600, b"secret"),
        ("opt/tool/bin/x", FILE, 0o755, b"x"),
        ("opt/loose", FILE, 0o644, b"y"),
        ("proc/1/mem", FILE, 0o644, b"z"),
        (".dockerenv", FILE, 0o644, b""),
    ]);
    let zstd = zstd::encode_all(&plain[..], 1).expect("packed");
    let mut hashes = Vec::new();
    for bytes in [plain.clone(), gzip(&plain), zstd] {
        let (_at, made) = import(&bytes);
        let image = made.expect("an image").image;
        assert_eq!(image.set.languages, ["Perl".to_owned()].into());
        assert_eq!(image.set.from.as_deref(), Some("my image.tar"));
        assert_eq!(image.places, [PathBuf::from("/opt/tool")]);
        assert_eq!(text(&image, "/bin/sh").as_deref(), Some("through a link"));
        assert_eq!(text(&image, "/usr/lib/absolute").as_deref(), Some("a name from the root"));
        assert_eq!(text(&image, "/etc/ld.so.cache").as_deref(), Some("cache"));
        for gone in
            ["/etc/passwd", "/root", "/proc", "/.dockerenv", "/usr/lib/null", "/usr/lib/pipe", "/usr/lib/out"]
        {
            assert_eq!(image.real(Path::new(gone)), None, "{gone}");
        }
        let about = |path: &str| fs::metadata(image.root().join(path)).expect("there");
        assert_eq!(about("usr/lib/data").permissions().mode() & 0o7777, 0o755);
        assert_eq!(about("usr/lib/absolute").permissions().mode() & 0o7777, 0o644);
        assert_eq!(about("usr/lib/data").ino(), about("usr/lib/twin").ino());
        hashes.push(image.hash.clone());
    }
    assert!(hashes.iter().all(|hash| *hash == hashes[0]));
}

#[test]
fn layers_lie_above_each_other_and_what_is_gone_is_gone() {
    let below = tar_of(&[
        PERL,
        ("opt/tool/bin/perl", FILE, 0o755, b"first"),
        ("usr/lib/a", FILE, 0o644, b"a"),
        ("usr/lib/b", FILE, 0o644, b"b"),
        ("usr/lib/c/d", FILE, 0o644, b"d"),
        ("usr/lib/e/f", FILE, 0o644, b"f"),
        ("usr/lib/g/h", FILE, 0o644, b"h"),
        ("usr/lib/link", LINK, 0o777, b"e"),
    ]);
    let above = tar_of(&[
        ("usr/lib/b", FILE, 0o644, b"new"),
        ("usr/lib/.wh.a", FILE, 0o644, b""),
        ("usr/lib/c/new", FILE, 0o644, b"n"),
        ("usr/lib/c/.wh..wh..opq", FILE, 0o644, b""),
        ("usr/lib/e", FOLDER, 0o755, b""),
        // In a folder that is a link below.
        ("usr/lib/link/more", FILE, 0o644, b"m"),
        ("usr/lib/twin", TWIN, 0o644, b"usr/lib/e/f"),
        // A file in place of a folder.
        ("usr/lib/g", FILE, 0o644, b"g"),
        // What is gone below may be there again.
        ("usr/lib/.wh.twin", FILE, 0o644, b""),
    ]);
    let layers = [below, gzip(&above)];
    let (_at, made) = import(&oci(&layers, architecture()));
    let image = made.expect("an image").image;
    for (path, is) in [
        ("/usr/lib/a", None),
        ("/usr/lib/b", Some("new")),
        ("/usr/lib/c/d", None),
        ("/usr/lib/c/new", Some("n")),
        ("/usr/lib/e/f", Some("f")),
        ("/usr/lib/e/more", Some("m")),
        ("/usr/lib/twin", Some("f")),
        ("/usr/lib/g", Some("g")),
    ] {
        assert_eq!(text(&image, path).as_deref(), is, "{path}");
    }
    assert_eq!(image.find("perl").as_deref(), Some(Path::new("/opt/tool/bin/perl")), "as its PATH says");
    assert_eq!(image.variables, [("TOOL".to_owned(), "/opt/tool".to_owned())].into());
    // And as `docker save` writes it.
    let config = r#"{"architecture":"","config":{}}"#;
    let saved = r#"[{"Config":"c.json","RepoTags":null,"Layers":["1/layer.tar","2/layer.tar"]}]"#;
    let saved = tar_of(&[
        ("1/layer.tar", FILE, 0o644, &layers[0]),
        ("2/layer.tar", FILE, 0o644, &layers[1]),
        ("c.json", FILE, 0o644, config.as_bytes()),
        ("manifest.json", FILE, 0o644, saved.as_bytes()),
    ]);
    let (_at, made) = import(&saved);
    let image = made.expect("an image").image;
    assert_eq!((text(&image, "/usr/lib/a"), text(&image, "/usr/lib/b").as_deref()), (None, Some("new")));
}

#[test]
fn what_python_compiled_in_it_holds_whatever_the_date() {
    let compiled = |date: u32| {
        let numbers = [0x0a0d_0da7_u32, 0, date, 6];
        let mut bytes = numbers.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
        bytes.extend(b"code");
        bytes
    };
    let (current, old) = (compiled(7), compiled(8));
    let (_at, made) = import(&tar_of(&[
        PERL,
        ("usr/lib/m.py", FILE, 0o644, b"x = 1\n"),
        ("usr/lib/n.py", FILE, 0o644, b"x = 1\n"),
        ("usr/lib/__pycache__/m.cpython-311.pyc", FILE, 0o644, &current),
        ("usr/lib/__pycache__/n.cpython-311.pyc", FILE, 0o644, &old),
    ]));
    let image = made.expect("an image").image;
    let cache = image.root().join("usr/lib/__pycache__");
    let bytes = fs::read(cache.join("m.cpython-311.pyc")).expect("it holds");
    assert_eq!(bytes[4..16], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert!(!cache.join("n.cpython-311.pyc").exists());
}

#[test]
fn an_archive_that_leads_out_is_damaged_or_no_image_is_refused() {
    for (entries, why) in [
        (&[("usr/../../x", FILE, 0o644, &b"x"[..])][..], "leads up"),
        (&[("usr/a\nfile", FILE, 0o644, b"x")], "control characters"),
        (&[("usr/a", LINK, 0o777, b"")], "leads nowhere"),
        (&[("usr/a", LINK, 0o777, b"x\ty")], "leads nowhere"),
        (
            &[("usr/a", LINK, 0o777, b"b"), ("usr/b", LINK, 0o777, b"a"), ("usr/a/x", FILE, 0o644, b"x")],
            "too many links",
        ),
        (&[("usr/a", TWIN, 0o644, b"usr/nowhere")], "which is not there"),
        (&[("usr/a", TWIN, 0o644, b"../../etc/shadow")], "leads up"),
        (&[("usr/bin/perl/x", FILE, 0o644, b"x")], "to lie in the file"),
        (&[("usr/a", EntryType::GNUSparse, 0o644, b"")], "holes"),
        (&[("x", EntryType::XHeader, 0o644, b"11 size=99\n")], "too large"),
    ] {
        let said = refused(entries);
        assert!(said.contains(why), "{why}: {said}");
    }
    // A header that never ends would be read into memory.
    let endless = vec![b'a'; (1 << 20) + 1];
    assert!(refused(&[("x", EntryType::GNULongName, 0o644, &endless)]).contains("too long"));
    let name = ["usr"; 70].join("/");
    assert!(
        refused(&[("x", EntryType::GNULongName, 0o644, name.as_bytes()), ("y", FILE, 0o644, b"")])
            .contains("too deep")
    );
    // Damaged, cut off, of another machine, with nothing in it.
    let good = tar_of(&[PERL, ("usr/lib/a", FILE, 0o644, &[7; 4096])]);
    let other = if architecture() == "amd64" { "arm64" } else { "amd64" };
    let mut wrong = oci(std::slice::from_ref(&good), architecture());
    let at = wrong.windows(11).position(|part| part == b"#!/bin/true").expect("there");
    wrong[at] = b'?';
    for (bytes, why) in [
        (good[..2048].to_vec(), "ends within"),
        (b"no archive".to_vec(), "not a readable archive"),
        (vec![b'x'; 4096], "not a readable archive"),
        (Vec::new(), "no language's program"),
        (gzip(&good)[..150].to_vec(), "damaged"),
        (b"\xfd7zXZ\0\0".to_vec(), "compressed with xz"),
        (oci(std::slice::from_ref(&good), other), "it is for"),
        (oci(&[], architecture()), "0 layers"),
        (wrong, "is damaged"),
        (tar_of(&[("oci-layout", FILE, 0o644, b"{}"), ("index.json", FILE, 0o644, b"[")]), "index.json"),
        (
            tar_of(&[
                ("oci-layout", FILE, 0o644, b"{}"),
                ("index.json", FILE, 0o644, br#"{"manifests":[{"digest":"sha256:../../x"}]}"#),
            ]),
            "no SHA-256",
        ),
        (tar_of(&[("manifest.json", FILE, 0o644, b"[]")]), "0 images"),
    ] {
        let (_at, made) = import(&bytes);
        let said = made.expect_err(why).to_string();
        assert!(said.contains(why), "{why}: {said}");
    }
    // Few bytes that stand for very many.
    let mut header = Header::new_gnu();
    header.set_entry_type(FILE);
    header.set_mode(0o644);
    header.set_path("var/zeros").expect("a path");
    header.set_size(1 << 36);
    header.set_cksum();
    let mut bomb = tar_of(&[PERL]);
    bomb.truncate(1024);
    bomb.extend(header.as_bytes());
    let (_at, made) = import(&bomb);
    let said = made.expect_err("a bomb").to_string();
    assert!(said.contains("more than"), "{said}");
}

/// Whatever byte is another one, there is an image or a sentence.
#[test]
fn changed_archives_are_images_or_refused() {
    let plain = tar_of(&[
        PERL,
        ("usr/lib/twin", TWIN, 0o644, b"usr/bin/perl"),
        ("x", EntryType::GNULongName, 0o644, b"usr/lib/long"),
        ("usr/lib/other", FILE, 0o644, b"b"),
        ("y", EntryType::XHeader, 0o644, b"20 path=usr/lib/pax\n"),
        ("usr/lib/.wh.a", LINK, 0o777, b"../b"),
    ]);
    let container = oci(&[plain.clone(), gzip(&plain)], architecture());
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (mut sound, mut refused) = (0, 0);
    for round in 0..400 {
        let mut bytes = if round % 2 == 0 { plain.clone() } else { container.clone() };
        for _ in 0..=next(3) {
            let at = next(bytes.len());
            bytes[at] = next(256) as u8;
        }
        if next(8) == 0 {
            bytes.truncate(next(bytes.len()));
        }
        match import(&bytes).1 {
            Ok(_) => sound += 1,
            Err(ImageError::Archive(..)) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(sound > 20 && refused > 20, "{sound} {refused}");
}

#[test]
fn what_is_not_there_is_said_so() {
    let at = tempfile::tempdir().expect("a folder");
    let images = Images::within(at.path().join("images"));
    assert!(matches!(images.import(&at.path().join("nothing")), Err(ImageError::Missing(_))));
    assert!(matches!(images.import(at.path()), Err(ImageError::Archive(..))));
}
