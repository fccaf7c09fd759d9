//! A night's archive: what is public, once a day, and nothing else.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use agon_server::nightly;
use agon_site::Way;
use agon_site::beats::beat;
use agon_store::LoginKind;
use agon_store::Time;

use crate::common::{Browser, START, World, play_some, sign_up, write_file};

const HOUR: i64 = 3_600_000;
const SECTION: &str = "sign_up = \"open\"\ntitle = \"Autumn Cup\"\ntime_zone = \"UTC\"";

/// Waits until this holds, at most for half a minute; the site goes on meanwhile.
async fn until(world: &World, mut holds: impl FnMut() -> bool, what: &str) {
    let end = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        beat(&world.site).await;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Has the file say this folder, and waits until it is read.
async fn says(world: &World, nightly: &str) {
    write_file(world.folder.path(), &format!("{SECTION}\nnightly = '{nightly}'"));
    until(world, || world.site.settings().nightly.as_deref() == Some(Path::new(nightly)), "it is read").await;
}

fn names(folder: &Path) -> Vec<String> {
    let mut all: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    all.sort();
    all
}

fn content(file: &Path) -> (Vec<String>, String) {
    let mut zip = zip::ZipArchive::new(fs::File::open(file).expect("there")).expect("a zip");
    let names: Vec<String> = zip.file_names().map(|name| name.expect("a name").into_owned()).collect();
    let mut log = String::new();
    zip.by_name("log.txt").expect("the log").read_to_string(&mut log).expect("text");
    (names, log)
}

async fn rita(world: &World) -> Browser {
    let rita = world.account("Rita", true).await;
    world.signed_in(rita, LoginKind::Session).await.0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_public_is_a_file_every_night() {
    let world = World::with(SECTION, Way::Loopback).await;
    let mut rita = rita(&world).await;
    let mut ann = sign_up(&world, "Ann", "").await;
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('ann')").await.status, 303);
    play_some(&world, 6).await;
    assert!(!rita.get("/organise").await.text().contains("Every night"), "nobody has asked for it");
    let folder = world.folder.path().join("nights");
    // What is older than a week, what a killed process left, what is being written, and what is no archive.
    fs::create_dir(&folder).expect("made");
    let old: Vec<String> = (1..=8).map(|day| format!("2026-11-{day:02}.agon")).collect();
    for name in old.iter().map(String::as_str).chain([".agon-dead.part", ".agon-fresh.part", "notes.agon"]) {
        fs::write(folder.join(name), "x").expect("written");
    }
    let dead = fs::File::options().write(true).open(folder.join(".agon-dead.part")).expect("there");
    dead.set_modified(SystemTime::now() - Duration::from_secs(4_000)).expect("set");
    // It is twenty to seven.
    says(&world, "nights").await;
    let today = folder.join("2026-11-23.agon");
    until(&world, || today.exists() && !world.site.nights.is_making(), "it is made").await;
    let expected = [
        ".agon-fresh.part",
        "2026-11-03.agon",
        "2026-11-04.agon",
        "2026-11-05.agon",
        "2026-11-06.agon",
        "2026-11-07.agon",
        "2026-11-08.agon",
        "2026-11-23.agon",
        "notes.agon",
    ];
    assert_eq!(names(&folder), expected);
    // Her check match is hers; the others are everybody's.
    let (files, log) = content(&today);
    let rows: Vec<&str> = log.lines().map(|row| row.split_once(' ').expect("a hash").1).collect();
    let withheld = rows.iter().filter(|row| **row == "withheld").count();
    let ladder = rows.iter().filter(|row| row.contains("\"kind\":\"ladder\"")).count();
    assert!(withheld >= 1 && ladder >= 1 && withheld + ladder == rows.len(), "{log}");
    assert_eq!(files.iter().filter(|name| name.starts_with("replays/")).count(), ladder, "{files:?}");
    assert_eq!(files.len(), ladder + 2, "{files:?}");
    let report = nightly_report(&today);
    assert_eq!((report.wrong, report.withheld, report.recomputed), (vec![], withheld as i64, ladder as u64));
    assert_eq!((report.rows, report.seeds), (rows.len() as i64, None), "no secret");
    let page = rita.get("/organise").await.text();
    assert!(page.contains("The last is of 2026-11-23, ") && page.contains("7 are kept."), "{page}");
    // Once a day, and not before the hour.
    let made = fs::metadata(&today).expect("there").modified().expect("known");
    let tomorrow = folder.join("2026-11-24.agon");
    world.wait(Time(START + 20 * HOUR).0 - world.now().0);
    beat(&world.site).await;
    assert!(!world.site.nights.is_making() && !tomorrow.exists(), "20 to 3");
    world.wait(HOUR / 3);
    until(&world, || tomorrow.exists() && !world.site.nights.is_making(), "it is made at three").await;
    assert_eq!(fs::metadata(&today).expect("there").modified().expect("known"), made);
    // A row more that is withheld is a lie.
    let (copy, more) = (folder.join("copy"), log.replacen(rows[rows.len() - 1], "withheld", 1));
    rewritten(&today, &copy, &more);
    let wrong = nightly_report(&copy).wrong;
    assert!(wrong[0].contains("is withheld, and contest.json does not say so"), "{wrong:?}");
}

fn nightly_report(file: &Path) -> agon_server::export::ArchiveReport {
    agon_server::export::verify(file, true, |_, _| {}).expect("an archive")
}

/// The archive with another log.
fn rewritten(from: &Path, to: &Path, log: &str) {
    use std::io::Write as _;
    let mut zip = zip::ZipArchive::new(fs::File::open(from).expect("there")).expect("a zip");
    let mut out = zip::ZipWriter::new(fs::File::create(to).expect("made"));
    for number in 0..zip.len() {
        let entry = zip.by_index_raw(number).expect("an entry");
        match entry.name().expect("a name") == "log.txt" {
            true => {
                out.start_file("log.txt", zip::write::SimpleFileOptions::default()).expect("begun");
                out.write_all(log.as_bytes()).expect("written");
            }
            false => out.raw_copy_file(entry).expect("copied"),
        }
    }
    out.finish().expect("whole");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fails_leaves_nothing_and_is_tried_again_after_an_hour() {
    let world = World::with(SECTION, Way::Loopback).await;
    play_some(&world, 3).await;
    let mut rita = rita(&world).await;
    let (contest, folder) = (world.folder.path(), world.folder.path().join("nights"));
    let day = nightly::due(world.now()).expect("after three");
    let make = async |left, ends: bool| {
        let made = nightly::make(contest, &folder, day, (left, move || ends)).await;
        made.map_err(|error| error.to_string())
    };
    // A full disk, and a server that ends.
    let why = make(u64::MAX / 2, false).await.expect_err("no room");
    assert!(why.contains("MB are free, and it is made where") && names(&folder).is_empty(), "{why}");
    let why = make(0, true).await.expect_err("it ends");
    assert!(why.contains("after the next start") && names(&folder).is_empty(), "{why}");
    // A place where nothing can be made.
    says(&world, "contest.toml").await;
    until(&world, || world.site.nights.failed().is_some(), "it fails").await;
    let page = rita.get("/organise").await.text();
    assert!(page.contains("Not made at Mon 06:40: ") && page.contains("tried again every hour"), "{page}");
    says(&world, "elsewhere").await;
    let made: PathBuf = contest.join("elsewhere/2026-11-23.agon");
    world.wait(HOUR - 1_000);
    beat(&world.site).await;
    assert!(!world.site.nights.is_making() && !made.exists(), "not yet");
    world.wait(1_000);
    until(&world, || made.exists() && !world.site.nights.is_making(), "it is made").await;
    assert_eq!(world.site.nights.failed(), None);
}
