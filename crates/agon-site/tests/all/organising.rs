//! What an organiser does during a contest: drains it, has matches played again, lifts the suspension of a version, and
//! enrols a whole class.

use std::collections::BTreeMap;

use crate::common::{self, Browser, World, between, play, play_some, sign_up};
use agon_api::contest::Machine;
use agon_replay::{Use, Wait};
use agon_server::status;
use agon_site::pages::pace::{Owed, Pace, owed};
use agon_store::reads::{Eyes, StoredMatch};
use agon_store::{Kind, LoginKind, MatchId, MatchState, Time, VersionId};
use agon_worker::{Nothing, Stage, Unfit};

async fn rita(world: &World) -> Browser {
    let rita = world.account("Rita", true).await;
    world.signed_in(rita, LoginKind::Session).await.0
}

async fn clean(world: &World) {
    let (_, found) = status::fsck(world.folder.path(), true).await.expect("looked through");
    assert_eq!(found, Vec::<String>::new());
}

/// All matches ever planned, the oldest first.
async fn matches(world: &World) -> Vec<StoredMatch> {
    let store = world.server.store();
    let mut all = Vec::new();
    for id in 1.. {
        match store.one_match(Eyes::Organiser, MatchId(id)).await.expect("read") {
            Some(game) => all.push(game),
            None => break,
        }
    }
    all
}

async fn version_of(world: &World, team: &str) -> VersionId {
    let versions = world.server.store().versions().await.expect("read");
    versions.into_iter().find(|version| version.entrant == team).expect("it is there").id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_contest_comes_to_rest_with_no_block_half_played() {
    let world = World::new().await;
    let mut rita = rita(&world).await;
    play_some(&world, 5).await;
    let counts = async || world.server.store().counts().await.expect("read");
    assert_eq!(counts().await.planned, 1, "half a block");
    assert_eq!(rita.post("/organise/drain", &[]).await.status, 303);
    assert_eq!(rita.get("/organise").await.heading(), "The contest is draining");
    // What is uploaded now waits.
    let mut ann = sign_up(&world, "Ann", "").await;
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('ann')").await.status, 303);
    play_some(&world, 4).await;
    let rest = counts().await;
    // The check match of what was uploaded meanwhile waits.
    assert_eq!((rest.planned, rest.leased, rest.valid), (1, 0, 6));
    assert_eq!(rita.get("/organise").await.heading(), "The contest is paused");
    let audit = world.server.store().events(1).await.expect("read").remove(0);
    assert_eq!((audit.actor.as_str(), audit.verb.as_str()), ("server", "pause"));
    clean(&world).await;
    assert_eq!(rita.post("/organise/resume", &[]).await.status, 303);
    play_some(&world, 4).await;
    let versions = world.server.store().versions().await.expect("read");
    assert!(versions.iter().any(|version| version.entrant == "Ann" && !version.state.is_waiting()));
    // A change of mind: it goes on as before.
    assert_eq!(rita.post("/organise/drain", &[]).await.status, 303);
    assert_eq!(rita.post("/organise/resume", &[]).await.status, 303);
    let before = counts().await.valid;
    play_some(&world, 4).await;
    assert_eq!(counts().await.valid, before + 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_played_again_counts_no_more_and_stays_in_the_log() {
    let world = World::new().await;
    let mut rita = rita(&world).await;
    let mut ann = sign_up(&world, "Ann", "").await;
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('ann')").await.status, 303);
    play_some(&world, 41).await;
    let all = matches(&world).await;
    let (check, rated): (Vec<&StoredMatch>, Vec<&StoredMatch>) =
        all.iter().partition(|game| game.kind == Kind::Check);
    let (check, rated) = (check[0].id.to_string(), rated[4]);
    let before = world.server.board().await.expect("made");
    let game = rated.id.to_string();
    let page = rita.get(&format!("/match/{game}")).await.text();
    assert!(page.contains("action=\"/organise/again\""), "{page}");
    let page = ann.get(&format!("/match/{game}")).await.text();
    assert!(!page.contains("/organise/again"), "only organisers see it");
    // Only matches that count, with a reason, and by an organiser.
    for (game, reason) in
        [("999999", "none"), (check.as_str(), "a check"), (&game, " "), (&game, "two\nlines")]
    {
        let answer = rita.post("/organise/again", &[("match", game), ("reason", reason)]).await;
        assert_eq!(answer.status, 422, "{game} {reason}");
    }
    let again = [("match", game.as_str()), ("reason", "The fan had <stopped>.")];
    assert_eq!(ann.post("/organise/again", &again).await.status, 403);
    assert_eq!(rita.post("/organise/again", &again).await.header("location"), Some("/rulings"));
    assert_eq!(rita.post("/organise/again", &again).await.status, 422, "once");
    let after = world.server.board().await.expect("made");
    assert_eq!(after.table.blocks + after.table.repeats + 1, before.table.blocks + before.table.repeats);
    let told = world.browser().get("/rulings").await.text();
    assert!(told.contains("The fan had &lt;stopped&gt;.") && told.contains("match"), "{told}");
    let page = world.browser().get(&format!("/match/{game}")).await.text();
    assert!(page.contains(">ruling</a>: ") && page.contains("The fan had"), "{page}");
    // The same lineup gets a new block with another seed.
    let planned: Vec<StoredMatch> = matches(&world).await.into_iter().skip(all.len()).collect();
    let names = |game: &StoredMatch| {
        let mut names: Vec<String> = game.seats.iter().map(|seat| seat.name.clone()).collect();
        names.sort();
        names
    };
    assert_eq!(planned.len(), rated.seats.len());
    assert!(planned.iter().all(|game| names(game) == names(rated) && game.seed != rated.seed), "{planned:?}");
    // All matches of a version: it is owed as many others.
    let anns = version_of(&world, "Ann").await;
    let team = world.server.store().owner_of(anns).await.expect("read").expect("somebody's");
    let sat = |board: &agon_server::Board| {
        board.table.places.iter().find(|place| place.version == anns.0).map_or(0, |place| place.matches)
    };
    assert!(sat(&after) > 10);
    let about = format!("{team}/{anns}");
    let rule = |about: &str| {
        [("about", about.to_owned()), ("ruling", "again".into()), ("reason", "Old rules.".into())]
    };
    for (about, status) in [(team.to_string(), 422), (about.clone(), 303), (about, 422)] {
        let fields = rule(&about);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(rita.post("/organise/rulings", &fields).await.status, status, "{about}");
    }
    assert_eq!(sat(&world.server.board().await.expect("made")), 0);
    play_some(&world, 20).await;
    assert!(sat(&world.server.board().await.expect("made")) > 10, "it plays before all others");
    clean(&world).await;
    // Rebuilt from the log alone, and from an export, the table is the same.
    let again = status::status(world.folder.path()).await.expect("read");
    let now = world.server.board().await.expect("made");
    assert_eq!((again.board, again.upto), (now.lines, now.upto));
    let file = world.folder.path().join("out.agon");
    agon_server::export::export(world.folder.path(), &file, false, |_, _| {}).await.expect("written");
    let report = agon_server::export::verify(&file, true, |_, _| {}).expect("an archive");
    assert_eq!(report.wrong, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_whose_matches_come_to_nothing_rests_until_it_is_let_play_on() {
    let world = World::new().await;
    let mut rita = rita(&world).await;
    let (mut ann, mut bob) = (sign_up(&world, "Ann", "").await, sign_up(&world, "Bob", "").await);
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('ann')").await.status, 303);
    assert_eq!(bob.upload("/upload", &[], "bot.py", b"print('bob')").await.status, 303);
    play_some(&world, 2).await;
    let anns = version_of(&world, "Ann").await;
    let worker = world.server.meet("one", "not confined", world.now()).await.expect("met");
    let unfit = || Unfit { stage: Stage::Starting, what: "it is gone".into(), fix: None };
    let store = world.server.store();
    // Every match of Ann's comes to nothing, for more than a minute.
    let run = async |tag: &str, count: usize| {
        let mut hers = 0;
        for number in 0..count {
            world.server.tick(world.now()).await.expect("done");
            let granted = world.server.lease(worker, &format!("{tag} {number}"), 1, world.now()).await;
            for job in &granted.expect("answered").jobs {
                if job.seats.iter().any(|seat| seat.label.starts_with("Ann")) {
                    hers += 1;
                    let nothing = Nothing::hopeless(unfit());
                    world.server.void(worker, job.attempt, &nothing, world.now()).await.expect("answered");
                } else {
                    play(&world, worker, job).await;
                }
            }
            world.wait(5_000);
        }
        hers
    };
    run("first", 40).await;
    let suspended = store.suspended().await.expect("read");
    assert_eq!(suspended.keys().copied().collect::<Vec<_>>(), [anns], "and not those who met it");
    run("what was planned", 6).await;
    assert_eq!(run("then", 20).await, 0, "nothing is planned with it");
    // Ladder matches that are given up leave no trace in the table.
    assert!(matches(&world).await.iter().any(|game| game.state == MatchState::Dead));
    let page = ann.get(&format!("/version/{anns}")).await;
    assert_eq!(page.heading(), "v1 is suspended");
    assert!(page.text().contains("3 matches in a row failed"), "{}", page.text());
    let cockpit = rita.get("/organise").await.text();
    assert!(
        cockpit.contains("Suspended versions") && cockpit.contains("action=\"/organise/lift\""),
        "{cockpit}"
    );
    let lift = [("version", anns.to_string())];
    let lift: Vec<(&str, &str)> = lift.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(bob.post("/organise/lift", &lift).await.status, 403);
    assert_eq!(bob.post(&format!("/version/{anns}/live"), &[]).await.status, 404);
    assert_eq!(rita.post("/organise/lift", &lift).await.status, 303);
    assert_eq!(rita.post("/organise/lift", &lift).await.status, 422);
    assert!(run("again", 40).await > 0, "it plays, and comes to nothing again");
    assert_eq!(store.suspended().await.expect("read").len(), 1);
    assert_eq!(ann.post(&format!("/version/{anns}/live"), &[]).await.status, 303);
    assert_eq!(ann.get(&format!("/version/{anns}")).await.status, 200);
    assert!(store.suspended().await.expect("read").is_empty());
    let verbs: Vec<String> =
        store.events(200).await.expect("read").into_iter().map(|event| event.verb).collect();
    assert_eq!(verbs.iter().filter(|verb| *verb == "suspend").count(), 2);
    assert_eq!(verbs.iter().filter(|verb| *verb == "lift suspension").count(), 2);
}

/// What was counted when a seat had to wait for so long that its match is void: another one used this much.
fn waited_for(by: usize, cpu_us: u64) -> Wait {
    let used = vec![Use { seat: by as u8 + 1, cpu_us, beyond_us: cpu_us / 2, counted: true }];
    Wait { seat: 2 - by as u8, wall_us: 13_000_000, waited_us: 12_000_000, used }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_makes_matches_void_is_seen_and_put_out_in_the_third_try() {
    let world = World::new().await;
    let mut rita = rita(&world).await;
    let mut ann = sign_up(&world, "Ann", "").await;
    let mut bob = sign_up(&world, "Bob", "").await;
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('ann')").await.status, 303);
    assert_eq!(bob.upload("/upload", &[], "bot.py", b"print('bob')").await.status, 303);
    play_some(&world, 2).await;
    let worker = world.server.meet("one", "A", world.now()).await.expect("met");
    let (mut game, mut tries) = (None, Vec::new());
    for number in 0..200 {
        if tries.len() == 3 {
            break;
        }
        world.server.tick(world.now()).await.expect("done");
        let granted = world.server.lease(worker, &format!("void {number}"), 1, world.now()).await;
        for job in &granted.expect("answered").jobs {
            let ann = job.seats.iter().position(|seat| seat.label.starts_with("Ann"));
            let Some(ann) = ann.filter(|_| game.is_none_or(|game| game == job.attempt.game)) else {
                play(&world, worker, job).await;
                continue;
            };
            game = Some(job.attempt.game);
            tries.push(job.disturbed.get(ann).copied().unwrap_or(0));
            if tries.len() == 3 {
                play(&world, worker, job).await;
                continue;
            }
            // What the worker says of it counts for less than what was counted.
            let nothing = Nothing {
                by: Some(2 - ann as u8),
                wait: Some(waited_for(ann, 12_000_000)),
                ..Nothing::again("late")
            };
            world.server.void(worker, job.attempt, &nothing, world.now()).await.expect("answered");
        }
        world.wait(5_000);
    }
    assert_eq!(tries, [0, 1, 2], "the third try goes on without it");
    let cockpit = rita.get("/organise").await.text();
    assert!(
        cockpit.contains("Void matches by version") && cockpit.contains("2 caused by this bot"),
        "{cockpit}"
    );
    assert!(cockpit.contains("a bot kept another from playing"), "{cockpit}");
    // Nor do such tries make the machine stand out that played them.
    let conduct = world.server.store().conduct(Time(0)).await.expect("read");
    assert!(conduct.tries.iter().all(|tries| tries.void == 0), "{conduct:?}");
    clean(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_cpu_time_is_only_sampled_the_organiser_is_asked_whether_matches_are_rated() {
    let world = World::new().await;
    let mut rita = rita(&world).await;
    assert!(!rita.get("/organise/settings").await.text().contains("name=\"level\""));
    let machine = Machine {
        sandbox: Some("B".into()),
        cpus: 1,
        memory: None,
        processes: None,
        disk: None,
        speed: None,
        packages: Vec::new(),
        languages: Vec::new(),
        image: None,
    };
    world.site.plays_on(machine);
    let page = rita.get("/organise/settings").await.text();
    assert!(page.contains("name=\"level\"") && page.contains("CPU sampled"), "{page}");
    let answers = |level| {
        let date = |key| (key, "");
        let text = [("title", "Cup"), ("sign_up", "open"), ("team_size", "1"), ("time_zone", "UTC")];
        [&text[..], &[date("opens"), date("closes"), ("matches", "40"), ("level", level)]].concat()
    };
    assert_eq!(rita.post("/organise/settings", &answers("D")).await.status, 422);
    assert_eq!(rita.post("/organise/settings", &answers("B")).await.status, 303);
    world.server.now().await.expect("read");
    assert_eq!(world.server.settings().level.as_deref(), Some("B"));
    assert!(rita.get("/organise/settings").await.text().contains("value=\"B\" checked"));
    clean(&world).await;
}

#[test]
fn whose_doing_a_void_was_follows_from_what_was_counted() {
    let void = |by, wait| Nothing { by, wait, ..Nothing::again("late") }.doing();
    assert_eq!(void(Some(2), None), Some(2));
    assert_eq!(void(Some(2), Some(waited_for(0, 12_000_000))), Some(1));
    assert_eq!(void(Some(2), Some(waited_for(0, 11_900_000))), None, "the machine's");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_built_is_nobodys_fault_but_its_authors() {
    let world = World::new().await;
    let mut rita = rita(&world).await;
    let mut ann = sign_up(&world, "Ann", "").await;
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('ann')").await.status, 303);
    let worker = world.server.meet("one", "not confined", world.now()).await.expect("met");
    world.server.tick(world.now()).await.expect("done");
    let granted = world.server.lease(worker, "one", 1, world.now()).await.expect("answered");
    let job = granted.jobs.first().expect("its check match comes first");
    let unfit = Unfit { stage: Stage::Building, what: "it is broken".into(), fix: None };
    let nothing = Nothing::hopeless(unfit);
    world.server.void(worker, job.attempt, &nothing, world.now()).await.expect("answered");
    world.server.tick(world.now()).await.expect("done");
    let store = world.server.store();
    let counts = store.counts().await.expect("read");
    assert_eq!((counts.dead, counts.unfit), (1, 1));
    // Those who may see the match read why, and the organiser has nothing to fix.
    let game =
        matches(&world).await.into_iter().find(|game| game.state == MatchState::Dead).expect("given up");
    for reader in [&mut ann, &mut rita] {
        let page = reader.get(&format!("/match/{}", game.id)).await.text();
        assert!(page.contains("could not be built or started") && page.contains("See why"), "{page}");
        assert!(!page.contains("that is the server's fault"), "{page}");
    }
    let cockpit = rita.get("/organise").await.text();
    assert_eq!(between(&cockpit, "Abandoned</p><p class=\"big\">", "<"), "0");
    let events = store.events(200).await.expect("read");
    assert!(events.iter().all(|event| event.verb != "bury"), "it was not tried three times: {events:?}");
    clean(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_class_comes_by_a_list_and_a_wrong_line_stops_nobody_else() {
    let world = World::with("sign_up = \"closed\"\nteam_size = 2", agon_site::Way::Loopback).await;
    let mut rita = rita(&world).await;
    let send = async |rita: &mut Browser, list: &str| rita.post("/organise/people", &[("list", list)]).await;
    // Whoever has a good line is enrolled; the others stay in the form, with what is wrong.
    let boss = agon_games::all()[0].info().builtins[0].name;
    let list = format!(
        "name,team\nZoe\u{308},Ones\nz-o-ë,Ones\nBob,ones\nहिन्दी,{boss}\nO'Brien,Ones\nEve,Ones\nR I T A\nd%\nதமிழ்"
    );
    let answer = send(&mut rita, &list).await;
    let text = answer.text().replace("<code>", "`").replace("</code>", "`").replace("&#39;", "'");
    assert_eq!(answer.status, 200, "{text}");
    for line in [
        "6 lines are wrong, and still in the box below",
        "3 accounts created",
        "Line 3: the name looks like `Zoë`",
        "Line 4: the team's name looks like `Ones`",
        &format!("Line 5: the team's name looks like `{boss}`"),
        "Line 7: `Ones` would have more than 2",
        "Line 8: the name looks like `Rita`",
        "Line 9: `d%` is not a name for an account",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let left = between(&text, "placeholder=\"name,team\">", "</textarea>");
    let expected = format!("name,team\nz-o-ë,Ones\nBob,ones\nहिन्दी,{boss}\nEve,Ones\nR I T A,\nd%");
    assert_eq!(left.trim(), expected, "what is wrong is there to be mended");
    assert_eq!(world.server.store().accounts(9).await.expect("read").1, 4);
    for nothing in ["", "d%"] {
        assert_eq!(send(&mut rita, nothing).await.status, 422);
    }
    // A good list: each person has a link that sets a password, once.
    let page = send(&mut rita, "Ann;Twos\r\nBob;Twos\r\nCid\r\n").await;
    assert_eq!((page.status, page.text().contains("3 accounts created")), (200, true), "{}", page.text());
    assert!(
        page.text().contains("This address works only on this machine"),
        "nobody else can open these links"
    );
    let text = page.text();
    let csv = between(&text, "readonly", "</textarea>");
    let link =
        |name: &str| between(csv, &format!("{name},"), "\n").rsplit("link=").next().unwrap_or("").to_owned();
    let mut ann = world.browser();
    let password = [("name", "Ann"), ("password", common::PASSWORD)];
    assert_eq!(ann.post("/sign-in", &password).await.status, 422, "nobody can sign in yet");
    world.wait(13 * 86_400_000);
    let fresh = [("link", link("Ann")), ("fresh", common::PASSWORD.to_owned())];
    let fresh: Vec<(&str, &str)> = fresh.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let set = ann.post("/password", &fresh).await;
    let next = set.header("location").expect("somewhere").to_owned();
    assert_eq!(
        (set.status, ann.get(&next).await.text().contains("Your password is set.")),
        (303, true),
        "{next}"
    );
    assert_eq!(ann.post("/password", &fresh).await.status, 410, "once");
    assert_eq!(ann.post("/sign-in", &password).await.heading(), "Your recovery codes", "as at sign-up");
    assert!(ann.get("/team").await.text().contains("Twos"));
    world.wait(2 * 86_400_000);
    let late = [("link", link("Cid")), ("fresh", common::PASSWORD.to_owned())];
    let late: Vec<(&str, &str)> = late.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(world.browser().post("/password", &late).await.status, 410);
    assert_eq!(ann.post("/organise/people", &[("list", "Mallory")]).await.status, 403);
    clean(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_contest_is_exported_on_the_site_and_whoever_has_the_file_checks_it() {
    let world = World::new().await;
    let mut rita = rita(&world).await;
    play_some(&world, 6).await;
    let page = rita.get("/organise/export").await;
    assert_eq!((page.status, page.heading().as_str()), (200, "Nothing has been exported yet"));
    assert!(!page.text().contains("name=\"reveal\""), "the contest still plays");
    let mut all = Vec::new();
    for (number, reveal) in [(1, ""), (2, ""), (3, "yes"), (4, "yes")] {
        let paused = if reveal.is_empty() { "/organise/resume" } else { "/organise/pause" };
        assert_eq!(rita.post(paused, &[]).await.status, 303);
        world.wait(1_000);
        assert_eq!(rita.post("/organise/export", &[("reveal", reveal)]).await.status, 303);
        all = exported(&mut rita, number.min(3)).await;
    }
    assert_eq!(all.len(), 3, "the last ones are kept");
    for (place, secret) in [(0, true), (2, false)] {
        let file = rita.get(&format!("/organise/export/{}", all[place])).await;
        let name = file.header("content-disposition").expect("it is saved under a name");
        assert!(name.contains("filename=\"autumn-cup-2026-11-23-"), "{name}");
        let path = world.folder.path().join(format!("fetched-{place}.agon"));
        std::fs::write(&path, &file.body).expect("written");
        let report = agon_server::export::verify(&path, true, |_, _| {}).expect("an archive");
        assert_eq!((report.rows, report.wrong.as_slice()), (6, &[][..]));
        assert_eq!(report.seeds.is_some(), secret);
    }
    assert_eq!(rita.get("/organise/export/7").await.status, 404);
    // Asking for the secret while the contest plays gets a sentence, and no file.
    assert_eq!(rita.post("/organise/resume", &[]).await.status, 303);
    world.wait(1_000);
    assert_eq!(rita.post("/organise/export", &[("reveal", "yes")]).await.status, 303);
    let again = exported(&mut rita, 3).await;
    assert_eq!(again, all);
    let page = rita.get("/organise/export").await.text();
    assert!(page.contains("The last one could not be made: the secret reveals the seeds"), "{page}");
    // The act is logged a moment after the page reports it.
    for left in (0..200).rev() {
        let audit = world.server.store().events(1).await.expect("read").remove(0);
        if (audit.actor.as_str(), audit.verb.as_str(), audit.object.as_str()) == ("Rita", "export", "failed")
        {
            break;
        }
        assert!(left > 0, "{audit:?}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// The ids of the exports on the page, once none is being made and there are `count`.
async fn exported(rita: &mut Browser, count: usize) -> Vec<String> {
    for _ in 0..600 {
        let page = rita.get("/organise/export").await;
        if page.heading() != "An export is being made" {
            let text = page.text();
            let links = text.split("href=\"/organise/export/").skip(1);
            let all: Vec<String> =
                links.filter_map(|rest| Some(rest.split('"').next()?.to_owned())).collect();
            assert_eq!(all.len(), count, "{text}");
            return all;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("it never ends");
}

#[tokio::test]
async fn the_pace_is_that_of_the_last_minutes_also_in_a_young_contest() {
    let world = World::new().await;
    let pace = async || {
        let store = world.server.store();
        let one = Owed { matches: 1, wants: BTreeMap::new() };
        Pace::now(store, &one, world.now()).await.expect("read")
    };
    assert_eq!((pace().await.needs(), pace().await.an_hour()), (None, 0));
    // One every six seconds, the last of them just now.
    play_some(&world, 25).await;
    let now = pace().await;
    assert!((5_999..6_500).contains(&now.needs().expect("it is played")), "{now:?}");
    assert!((550..=600).contains(&now.an_hour()), "{now:?}");
    // What came before a long rest says nothing about the pace after it.
    world.wait(5 * 3_600_000);
    assert_eq!(pace().await.needs(), None);
    play_some(&world, 25).await;
    let now = pace().await;
    assert!((5_999..6_500).contains(&now.needs().expect("it is played")), "{now:?}");
    let board = world.server.board().await.expect("made");
    let owed = owed(&world.server.policy(), &board);
    assert!((1..60).contains(&owed.matches) && !owed.wants.is_empty(), "{owed:?}");
}
