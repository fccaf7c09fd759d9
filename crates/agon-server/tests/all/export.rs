//! A contest leaves its folder: as an archive that anybody can check, and as a backup.

use std::io::{Cursor, Read as _, Write as _};
use std::path::{Path, PathBuf};

use agon_server::backup::{backup, restore};
use agon_server::export::{export, verify};
use agon_server::texts::BotFiles;
use agon_server::{ContestServer, METHOD, ServerError, status};
use agon_store::acts::{Add, Added, GiveRuling, Pause, Promote, SignUp, SignedUp};
use agon_store::{Ruling, Sha, TextOwner, Time};
use zip::write::SimpleFileOptions;

use crate::common::{World, database, run, setting};

/// What a file of the archive becomes; `None` removes it.
type Change = Box<dyn Fn(Vec<u8>) -> Option<Vec<u8>>>;

/// The archive with one file changed.
fn changed(from: &Path, to: &Path, name: impl Fn(&str) -> bool, change: impl Fn(Vec<u8>) -> Option<Vec<u8>>) {
    let bytes = std::fs::read(from).expect("the archive");
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).expect("a zip");
    let mut out = zip::ZipWriter::new(std::fs::File::create(to).expect("a file"));
    let mut hit = false;
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).expect("an entry");
        let own = entry.name().expect("a name").into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("its content");
        let content = match name(&own) && !hit {
            true => {
                hit = true;
                change(content)
            }
            false => Some(content),
        };
        if let Some(content) = content {
            out.start_file(own, SimpleFileOptions::default()).expect("room");
            out.write_all(&content).expect("room");
        }
    }
    assert!(hit, "there is such a file");
    out.finish().expect("written");
}

fn replaced(from: &'static str, to: &'static str) -> impl Fn(Vec<u8>) -> Option<Vec<u8>> {
    move |content| {
        let text = String::from_utf8(content).expect("a text");
        assert!(text.contains(from), "{from} is there");
        Some(text.replacen(from, to, 1).into_bytes())
    }
}

#[test]
fn an_export_holds_and_no_change_of_it_does() {
    run(async {
        let mut world = World::new(8).await;
        // A team, with a bot that the test's worker knows how to play, and a ruling about it after all results.
        let (store, contest) = (world.server.store().clone(), world.server.contest());
        let add = Add {
            contest,
            entrant: "Ann".to_owned(),
            boss: false,
            builtin: Some(world.setting.founding.bosses[0].clone()),
            source: Sha::of("Ann's"),
            received: world.now,
            only_if_better: false,
            bytes: 0,
            counts: false,
            actor: "test".to_owned(),
        };
        let Ok(Added::New(version, _)) = store.act(add).await else { panic!("it is new") };
        store.act(Promote { version, now: world.now }).await.expect("live");
        let worker = world.worker("one").await;
        let played = world.play_on(worker, 40).await;
        let entrant = store.owners().await.expect("known")[&version];
        let reason = "it was another team's bot".to_owned();
        let (ruling, actor, now) = (Ruling::Out, "test".to_owned(), world.now);
        let rule = GiveRuling { contest, ruling, entrant, version: None, reason, actor, now };
        assert!(world.server.rule(rule, world.now).await.expect("done"));
        let out = tempfile::tempdir().expect("a folder");
        let file = out.path().join("cup.agon");
        // While it is running, and without its secret.
        let written = export(world.folder.path(), &file, false, |_, _| {}).await.expect("written");
        let rows = played as i64 + 1;
        assert_eq!(written.rows, rows);
        assert!(written.table.places.iter().all(|place| place.version != version.0), "she is out");
        let found = verify(&file, true, |_, _| {}).expect("an archive");
        assert_eq!(found.wrong, Vec::<String>::new());
        assert_eq!((found.rows, found.recomputed, found.seeds), (rows, played as u64, None));
        // To the last digit, and the same table that everybody sees.
        world.server.keep_board(world.now, true).await.expect("kept");
        let board = world.server.board().await.expect("a board");
        assert_eq!(serde_json::to_string(&found.table).ok(), serde_json::to_string(&*board.table).ok());
        let text = std::fs::read(&file).expect("the archive");
        let contest = world.server.store().contests().await.expect("one").remove(0);
        assert!(!text.windows(64).any(|part| part == contest.secret.as_bytes()), "the secret stays one");
        // It is not overwritten, and the same contest gives the same file.
        assert!(
            export(world.folder.path(), &file, false, |_, _| {})
                .await
                .unwrap_err()
                .to_string()
                .contains("already")
        );
        let again = out.path().join("again.agon");
        export(world.folder.path(), &again, false, |_, _| {}).await.expect("written");
        assert_eq!(std::fs::read(&again).expect("the archive"), text);

        // One of before, whose table was made by another method, is refused with the program that verifies it.
        let old = out.path().join("old.agon");
        for (now, before) in [("\"ratings\":2", "\"ratings\":1"), (",\\\"ratings\\\":2", "")] {
            changed(&file, &old, |own| own == "contest.json", replaced(now, before));
            let refused = verify(&old, false, |_, _| {}).expect_err("another method").to_string();
            assert!(
                refused.contains("method 1 of ratings")
                    && refused.contains("the program that wrote it, agon "),
                "{refused}"
            );
            std::fs::remove_file(&old).expect("removed");
        }

        let changes: [(&str, Change, &str); 8] = [
            ("log.txt", Box::new(replaced("\"ranks\":[1,2]", "\"ranks\":[2,1]")), "was changed"),
            (
                "log.txt",
                Box::new(|log| {
                    let end = log.iter().rposition(|byte| *byte == b'{').expect("a row");
                    Some(log[..end].to_vec())
                }),
                "it is cut",
            ),
            (
                "log.txt",
                Box::new(|log| {
                    let lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
                    Some(lines[..lines.len() - 1].concat())
                }),
                "the log ends at row",
            ),
            (
                "contest.json",
                Box::new(replaced("\"blocks\":", "\"blocks\":1")),
                "the table follows from the log",
            ),
            (
                "contest.json",
                Box::new(|mut head| {
                    let at = head.windows(10).position(|part| part == b"\"source\":\"").expect("one") + 10;
                    head[at] = if head[at] == b'0' { b'1' } else { b'0' };
                    Some(head)
                }),
                "who sat there is who contest.json says",
            ),
            (
                "contest.json",
                Box::new(replaced("\"secret\":null", "\"secret\":\"77\"")),
                "the secret is not the one",
            ),
            ("replays/", Box::new(|_| None), "its replay cannot be read"),
            (
                "replays/",
                Box::new(|mut replay| {
                    replay.push(0);
                    Some(replay)
                }),
                "its replay cannot be read: it is another one",
            ),
        ];
        for (name, change, wanted) in changes {
            let bad = out.path().join("bad.agon");
            changed(&file, &bad, |own| own.starts_with(name), change);
            let said = match verify(&bad, true, |_, _| {}) {
                Ok(found) => found.wrong.join("\n"),
                Err(error) => error.to_string(),
            };
            assert!(said.contains(wanted) && !said.is_empty(), "{name} {wanted}: {said}");
        }
        // For anything but an archive, the error says so and names the file.
        for content in [&b""[..], b"PK\x05\x06", &text[..text.len() / 2]] {
            let bad = out.path().join("none.agon");
            std::fs::write(&bad, content).expect("a file");
            let error = verify(&bad, true, |_, _| {}).expect_err("none");
            assert!(
                matches!(error, ServerError::Wrong(_)) && error.to_string().contains("none.agon"),
                "{error}"
            );
        }

        // Once it is over, the seeds are recomputed, too.
        let error = export(world.folder.path(), &out.path().join("r.agon"), true, |_, _| {})
            .await
            .expect_err("it runs");
        assert!(error.to_string().contains("agon serve pause"), "{error}");
        let pause = Pause { contest: contest.id, paused: true, actor: "test".to_owned(), now: world.now };
        assert!(world.server.store().act(pause).await.expect("done"));
        let revealed = out.path().join("revealed.agon");
        export(world.folder.path(), &revealed, true, |_, _| {}).await.expect("written");
        let found = verify(&revealed, false, |_, _| {}).expect("an archive");
        assert_eq!((found.wrong.len(), found.recomputed), (0, 0));
        assert!(found.seeds.is_some_and(|count| count > 0 && count <= played as u64), "{:?}", found.seeds);
    });
}

#[test]
fn a_backup_is_made_while_it_runs_and_goes_on_from_there() {
    run(async {
        let mut world = World::new(8).await;
        let worker = world.worker("one").await;
        let played = world.play_on(worker, 10).await;
        let folder = world.folder.path().to_owned();
        std::fs::write(folder.join("contest.toml"), "# mine\n").expect("a file");
        // One match is leased, and one result waits.
        let (_, job) = world.one(worker, "out").await.expect("a match");
        world.server.start(worker, job.attempt, world.now).await.expect("answered");
        // A text of the workbench, which is in backups and in no export.
        let (contest, now) = (world.server.contest(), world.now);
        let sign_up = SignUp { contest, name: "Ann".into(), password: "$x".into(), invite: None, now };
        let Ok(SignedUp::New(account)) = world.server.store().act(sign_up).await else { panic!("new") };
        let owner = TextOwner { contest, account, team: None };
        let files = BotFiles::new([("bot.py".to_owned(), b"print('only mine')".to_vec())]).expect("a bot");
        let note = Some("a note of her own".to_owned());
        world.server.keep_text(owner, None, &files, note, now).await.expect("kept");
        let out = tempfile::tempdir().expect("a folder");
        let public = out.path().join("public");
        export(&folder, &public, false, |_, _| {}).await.expect("written");
        let mut zip = zip::ZipArchive::new(std::fs::File::open(&public).expect("there")).expect("a zip");
        let stored = world.server.store().newest_texts(owner).await.expect("read").remove(0).files;
        for index in 0..zip.len() {
            let mut content = Vec::new();
            zip.by_index(index).expect("an entry").read_to_end(&mut content).expect("its content");
            let content = String::from_utf8_lossy(&content);
            assert!(!content.contains("a note of her own") && !content.contains(&stored), "{index}");
        }
        let file = out.path().join("kept");
        let beside = [PathBuf::from("contest.toml")];
        let kept = backup(&folder, &beside, &file).await.expect("written");
        assert!(kept.objects > 0, "{kept:?}");
        // The contest goes on after it.
        world.play_on(worker, 5).await;

        let back = out.path().join("back");
        let (restored, found) = restore(&file, &back).await.expect("restored");
        assert_eq!((restored.objects, found), (kept.objects, Vec::new()));
        assert_eq!(std::fs::read_to_string(back.join("contest.toml")).ok().as_deref(), Some("# mine\n"));
        let then = status::status(&back).await.expect("a contest");
        assert_eq!(then.counts.sealed, played as i64, "as it was then");
        // A server continues with it, and the leased match is played again.
        let server = ContestServer::open(&back, &world.setting, world.now).await.expect("opens");
        let text = server.newest_text(owner).await.expect("read").expect("it came along");
        assert_eq!((text.files, text.row.note.as_deref()), (files, Some("a note of her own")));
        server.close().await;
        let (_, found) = status::fsck(&back, true).await.expect("looked through");
        assert_eq!(found, Vec::<String>::new());

        let error = restore(&file, &back).await.expect_err("it is there");
        assert!(error.to_string().contains("already"), "{error}");
        for (name, change, wanted) in [
            ("objects/", Box::new(|_: Vec<u8>| Some(b"other".to_vec())) as Change, "is damaged"),
            ("agon.db", Box::new(|_| None), "no agon.db"),
            ("agon.db", Box::new(|_| Some(b"text".to_vec())), "database"),
        ] {
            let (bad, to) = (out.path().join("bad"), out.path().join("to"));
            changed(&file, &bad, |own| own.starts_with(name), change);
            let error = restore(&bad, &to).await.expect_err(wanted);
            assert!(error.to_string().contains(wanted), "{name}: {error}");
            assert!(!to.exists(), "nothing half done");
        }
        // Bytes that follow the archive or stand before it, and one that ends too soon.
        let whole = std::fs::read(&file).expect("written");
        for (bytes, wanted) in [
            ([&whole[..], b"more"].concat(), "bytes follow the archive"),
            ([&whole[..], &whole[..]].concat(), "bytes stand before the archive"),
            ([b"before", &whole[..]].concat(), "bytes stand before the archive"),
            (whole[..whole.len() - 1].to_vec(), "its end is missing"),
        ] {
            let (bad, to) = (out.path().join("bad"), out.path().join("to"));
            std::fs::write(&bad, bytes).expect("written");
            let error = restore(&bad, &to).await.expect_err(wanted);
            assert!(error.to_string().contains(wanted), "{error}");
            assert!(!to.exists(), "nothing half done");
        }
        // Names that lead outside the folder.
        let bad = out.path().join("out");
        let mut zip = zip::ZipWriter::new(std::fs::File::create(&bad).expect("a file"));
        for name in ["agon.db", "../escaped"] {
            zip.start_file(name, SimpleFileOptions::default()).expect("room");
        }
        zip.finish().expect("written");
        let error = restore(&bad, &out.path().join("to")).await.expect_err("it leads out");
        assert!(error.to_string().contains("is not a file of a contest"), "{error}");
        assert!(!out.path().join("escaped").exists() && !out.path().join("to").exists());
        // An entry that unpacks to more than the largest object is not read into memory.
        let bad = out.path().join("large");
        let mut zip = zip::ZipWriter::new(std::fs::File::create(&bad).expect("a file"));
        zip.start_file("agon.db", SimpleFileOptions::default()).expect("room");
        let name = format!("objects/{}", "0".repeat(64));
        zip.start_file(name, SimpleFileOptions::default()).expect("room");
        let zeros = std::io::repeat(0).take(agon_store::LARGEST_OBJECT + 1);
        std::io::copy(&mut { zeros }, &mut zip).expect("written");
        zip.finish().expect("written");
        let error = restore(&bad, &out.path().join("to")).await.expect_err("it is too large");
        assert!(error.to_string().contains("is larger than 32 MiB"), "{error}");
    });
}

/// The terms that the log is chained to say by which method its table follows. A contest of another is refused everywhere, in one sentence.
#[test]
fn a_contest_of_another_method_of_ratings_is_refused_with_what_verifies_it() {
    run(async {
        let (folder, mut setting) = (database::folder(), setting(8));
        setting.terms.ratings = METHOD - 1;
        let refused =
            ContestServer::open(folder.path(), &setting, Time(1)).await.err().map(|error| error.to_string());
        let sentence = "method 1 of ratings, and this agon knows 2; verify it with the agon that founded it";
        assert!(refused.as_ref().is_some_and(|said| said.contains(sentence)), "{refused:?}");
        // The folder holds it now, whoever looks.
        setting.terms.ratings = METHOD;
        let file = folder.path().join("out.agon");
        for refused in [
            ContestServer::open(folder.path(), &setting, Time(2)).await.err().map(|error| error.to_string()),
            status::status(folder.path()).await.err().map(|error| error.to_string()),
            export(folder.path(), &file, false, |_, _| {}).await.err().map(|error| error.to_string()),
        ] {
            assert!(refused.as_ref().is_some_and(|said| said.contains(sentence)), "{refused:?}");
        }
        assert!(!file.exists(), "nothing was written");
    });
}
