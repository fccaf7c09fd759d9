//! Hostile archives: each is answered with a sentence, nothing of it stays, and nothing gets out.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use agon_bot::Confined;
use agon_worker::pack::received;
use agon_worker::versions::Unready;
use agon_worker::{Away, BotSource, Granted, Hall, Nothing, Posted, Stage, Try, Unfit, VersionShelf, Whole};
use tar::EntryType;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A server with a single object.
struct Shelf(Vec<u8>);

impl Hall for Shelf {
    fn lease(&self, _: &str, _: usize) -> Result<Granted, Away> {
        Ok(Granted::default())
    }
    fn start(&self, _: Try) -> Result<bool, Away> {
        Ok(true)
    }
    fn beat(&self, _: i64, _: &[(Try, u32)]) -> Result<bool, Away> {
        Ok(true)
    }
    fn building(&self, _: Try) -> Result<bool, Away> {
        Ok(true)
    }
    fn built(&self, _: Try, _: &[u8]) -> Result<(), Away> {
        Ok(())
    }
    fn post(&self, over: &[(Try, Whole)]) -> Result<Vec<Posted>, Away> {
        Ok(vec![Posted::Kept; over.len()])
    }
    fn void(&self, _: Try, _: &Nothing) -> Result<(), Away> {
        Ok(())
    }
    fn abort(&self, _: i64) -> Result<(), Away> {
        Ok(())
    }
    fn fetch(&self, _: &str) -> Result<Vec<u8>, Away> {
        Ok(self.0.clone())
    }
}

/// The verdict on an upload, from the receiver or from unpacking it in `folder`.
fn said(folder: &Path, name: &str, bytes: Vec<u8>) -> Result<(), Unfit> {
    let frame = received(name, &bytes, bytes.len() as u64)?;
    let kept = [frame.before, bytes, frame.after].concat();
    let versions = VersionShelf::new(folder.join("work"), Confined::No, "cultist-wars");
    match versions.ready(&Shelf(kept), &BotSource::Source("sha".to_owned())) {
        Ok(_) => Ok(()),
        Err(Unready::Unfit(unfit)) => Err(unfit),
        Err(Unready::Ours(why)) => panic!("{name}: it is called ours: {why}"),
    }
}

/// A tar entry with any name and content.
struct Entry<'a> {
    name: &'a [u8],
    kind: EntryType,
    content: &'a [u8],
    /// The declared size, if it is not the true one.
    size: Option<u64>,
}

impl<'a> Entry<'a> {
    fn file(name: &'a str, content: &'a [u8]) -> Self {
        Self { name: name.as_bytes(), kind: EntryType::Regular, content, size: None }
    }

    fn of(name: &'a str, kind: EntryType) -> Self {
        Self { name: name.as_bytes(), kind, content: b"", size: None }
    }
}

fn tar(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for entry in entries {
        let mut header = tar::Header::new_ustar();
        let length = entry.name.len().min(100);
        header.as_mut_bytes()[..length].copy_from_slice(&entry.name[..length]);
        header.set_entry_type(entry.kind);
        header.set_size(entry.size.unwrap_or(entry.content.len() as u64));
        header.set_mode(0o4755);
        header.set_cksum();
        builder.append(&header, entry.content).expect("a vector takes all");
    }
    builder.into_inner().expect("a vector takes all")
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(bytes).expect("a vector takes all");
    writer.finish().expect("a vector takes all")
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    zip_of(entries, SimpleFileOptions::default())
}

fn zip_of(entries: &[(&str, &[u8])], options: SimpleFileOptions) -> Vec<u8> {
    let mut writer = ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(*name, options).expect("a name");
        writer.write_all(content).expect("a vector takes all");
    }
    writer.finish().expect("a vector takes all").into_inner()
}

/// The first half.
fn cut(bytes: Vec<u8>) -> Vec<u8> {
    bytes[..bytes.len() / 2].to_vec()
}

/// What it is, the file's name, its content, and the expected verdict.
fn cases() -> Vec<(&'static str, &'static str, Vec<u8>, &'static str)> {
    let file = Entry::file;
    let names: Vec<String> = (0..2_001).map(|number| format!("{number}.txt")).collect();
    let many_files: Vec<Entry<'_>> = names.iter().map(|name| file(name, b"x")).collect();
    let many_folders: Vec<Entry<'_>> =
        names.iter().map(|name| Entry::of(name, EntryType::Directory)).collect();
    let many_zipped: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    let deep = "a/".repeat(40) + "b";
    let zeros = vec![0; 101 << 20];
    let million = vec![0; 1 << 20];
    let parts: Vec<(&str, &[u8])> = names[..101].iter().map(|name| (name.as_str(), &million[..])).collect();
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut link = ZipWriter::new(io::Cursor::new(Vec::new()));
    link.add_symlink("x", "/etc/passwd", stored).expect("a name");
    let link = link.finish().expect("a vector takes all").into_inner();
    let noise: Vec<u8> = (0..50_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let good_tar = tar(&[file("bot.py", &noise)]);
    let good_zip = zip_of(&[("bot.py", &noise)], stored);
    let long = "n".repeat(5_000);
    let mut gnu = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(1);
    header.set_mode(0o644);
    gnu.append_data(&mut header, &long, &b"x"[..]).expect("a vector takes all");
    let pax = Entry { kind: EntryType::XHeader, ..file("pax", b"15 path=../out\n") };
    let pax = tar(&[pax, file("harmless", b"x")]);
    let mut wrong_sum = good_tar.clone();
    wrong_sum[150] ^= 1;
    let mut flipped = good_zip.clone();
    flipped[20_000] ^= 0xff;
    let central = good_zip.windows(4).position(|four| four == b"PK\x01\x02").expect("a directory");
    let mut locked = good_zip.clone();
    (locked[6], locked[central + 8]) = (locked[6] | 1, locked[central + 8] | 1);
    let mut strange = good_zip.clone();
    (strange[8], strange[central + 10]) = (77, 77);
    let end = good_zip.windows(4).position(|four| four == b"PK\x05\x06").expect("an end");
    let mut elsewhere = good_zip.clone();
    elsewhere[end + 16..end + 20].copy_from_slice(&0x7fff_ff00_u32.to_le_bytes());
    vec![
        ("up", "b.tar", tar(&[file("../out", b"x")]), "points outside"),
        ("in and up", "b.tar", tar(&[file("a/../../out", b"x")]), "points outside"),
        ("absolute", "b.tar", tar(&[file("/tmp/agon-out", b"x")]), "points outside"),
        ("up, zipped", "b.zip", zip(&[("../out", b"x")]), "points outside"),
        ("absolute, zipped", "b.zip", zip(&[("/tmp/agon-out", b"x")]), "points outside"),
        ("up, as Windows has it", "b.zip", zip(&[("..\\..\\out", b"x")]), "points outside"),
        ("up by a second name", "b.tar", pax, "points outside"),
        ("link", "b.tar", tar(&[Entry::of("x", EntryType::Symlink)]), "link or a device"),
        ("hard link", "b.tar", tar(&[Entry::of("x", EntryType::Link)]), "link or a device"),
        ("pipe", "b.tar", tar(&[Entry::of("x", EntryType::Fifo)]), "link or a device"),
        ("terminal", "b.tar", tar(&[Entry::of("x", EntryType::Char)]), "link or a device"),
        ("disk", "b.tar", tar(&[Entry::of("x", EntryType::Block)]), "link or a device"),
        ("holes", "b.tar", tar(&[Entry::of("x", EntryType::GNUSparse)]), "not accepted"),
        ("link, zipped", "b.zip", link, "is a link"),
        (
            "through a link",
            "b.tar",
            tar(&[Entry::of("x", EntryType::Symlink), file("x/out", b"x")]),
            "link or a device",
        ),
        ("two cases", "b.tar", tar(&[file("Bot.py", b"1"), file("bot.py", b"2")]), "upper and lower case"),
        ("two cases, zipped", "b.zip", zip(&[("Bot.py", b"1"), ("bot.py", b"2")]), "upper and lower case"),
        ("twice", "b.tar", tar(&[file("bot.py", b"1"), file("bot.py", b"2")]), "twice"),
        ("below a file", "b.tar", tar(&[file("a", b"1"), file("a/b", b"2")]), "twice"),
        ("over a folder", "b.tar", tar(&[Entry::of("a", EntryType::Directory), file("a", b"1")]), "twice"),
        ("deep", "b.tar", tar(&[file(&deep, b"x")]), "folders in folders"),
        ("deep, zipped", "b.zip", zip(&[(&deep, b"x")]), "folders in folders"),
        ("2,001 files", "b.tar", tar(&many_files), "more than 2000 files"),
        ("2,001 folders", "b.tar", tar(&many_folders), "more than 2000 files"),
        ("2,001 files, zipped", "b.zip", zip(&many_zipped), "more than 2000 files"),
        ("a bomb", "b.tgz", gz(&tar(&[file("a", &zeros)])), "more than 100 MiB"),
        ("a bomb, zipped", "b.zip", zip(&[("a", &zeros)]), "more than 100 MiB"),
        ("a bomb in parts", "b.zip", zip(&parts), "more than 100 MiB"),
        ("a bomb of nothing", "b.tgz", gz(&zeros), "holds no file"),
        ("cut off", "b.tar", cut(good_tar.clone()), "not accepted"),
        ("cut off, gzipped", "b.tgz", cut(gz(&good_tar)), "not accepted"),
        ("cut off, zipped", "b.zip", cut(good_zip.clone()), "not a readable zip"),
        ("a beginning", "b.zip", b"PK\x03\x04 and then nothing".to_vec(), "not a readable zip"),
        ("another beginning", "b.tgz", b"\x1f\x8b and then nothing".to_vec(), "not accepted"),
        ("a wrong sum", "b.tar", wrong_sum, "not accepted"),
        ("an untrue size", "b.tar", tar(&[Entry { size: Some(8 << 30), ..file("a", b"x") }]), "not accepted"),
        (
            "no size at all",
            "b.tar",
            tar(&[Entry { size: Some(u64::MAX >> 1), ..file("a", b"x") }]),
            "not accepted",
        ),
        ("a flipped byte", "b.zip", flipped, "not accepted"),
        ("locked", "b.zip", locked, "not a readable zip"),
        ("packed strangely", "b.zip", strange, "not accepted"),
        ("a directory elsewhere", "b.zip", elsewhere, "not a readable zip"),
        ("a line in a name", "b.tar", tar(&[file("a\nb", b"x")]), "control characters"),
        ("colours in a name", "b.zip", zip(&[("\u{1b}[31mred", b"x")]), "control characters"),
        ("a nought in a name", "b.zip", zip(&[("a\0b", b"x")]), "control characters"),
        ("a name without an end", "b.tar", gnu.into_inner().expect("a vector takes all"), "not accepted"),
        ("no name", "b.tar", tar(&[file(".", b"x")]), "has no name"),
        (
            "an archive in an archive",
            "b.tar",
            tar(&[file("bot.zip", &good_zip)]),
            "another archive, `bot.zip`",
        ),
        ("litter", "b.zip", zip(&[("__MACOSX/._bot.py", b"x"), (".git/config", b"x")]), "holds no file"),
        ("an empty zip", "b.zip", zip(&[]), "holds no file"),
        ("an empty tar", "b.tar", vec![0; 1024], "holds no file"),
        ("an empty file", "b.zip", Vec::new(), "the file is empty"),
        ("too large", "b.zip", vec![7; (20 << 20) + 1], "at most 20 MiB"),
        ("another kind", "b.7z", b"7z\xbc\xaf\x27\x1c".to_vec(), "of an unsupported kind"),
        ("no archive", "b.zip", b"hello".to_vec(), "is not a valid archive"),
    ]
}

#[test]
fn hostile_archives_are_answered_with_a_sentence_and_leave_nothing() {
    let cases = cases();
    assert!(cases.len() >= 40, "{}", cases.len());
    let mut wrong = Vec::new();
    for (what, name, bytes, wanted) in cases {
        let folder = tempfile::tempdir().expect("a folder");
        let unfit = match said(folder.path(), name, bytes) {
            Ok(()) => {
                wrong.push(format!("{what}: it is taken"));
                continue;
            }
            Err(unfit) => unfit,
        };
        let mut check = |is: bool, rule: &str| {
            if !is {
                wrong.push(format!("{what}: {rule}: {unfit:?}"));
            }
        };
        check(unfit.what.contains(wanted), wanted);
        check(unfit.what.chars().all(|sign| !sign.is_control()), "it is one line");
        check(!unfit.what.contains(&*folder.path().to_string_lossy()), "our paths are ours");
        check(unfit.stage == Stage::Unpacking && unfit.fix.is_some(), "it says what to do");
        // Nothing half done, here or elsewhere.
        check(!folder.path().join("work/sha/bot").exists(), "nothing stays");
        check(
            !folder.path().join("out").exists() && !folder.path().join("work/out").exists(),
            "nothing gets out",
        );
        check(!Path::new("/tmp/agon-out").exists(), "nothing gets out");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_only_odd_is_taken_as_it_is_meant() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    // Its set-user-ID bit is not kept; version-control files beside the bot are ignored.
    let odd = tar(&[
        Entry::of("./", EntryType::Directory),
        Entry::file("./bot.py", b"print('WAIT')\n"),
        Entry::file("./.git/objects/ab/cd", &[7; 4096]),
        Entry::file("lib/plan.py", b""),
    ]);
    said(folder.path(), "b.tar.gz", gz(&odd)).expect("it is a bot");
    let bot = folder.path().join("work/sha/bot");
    let mode = fs::metadata(bot.join("bot.py")).expect("there").permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
    assert!(bot.join("lib/plan.py").is_file() && !bot.join(".git").exists());
}
