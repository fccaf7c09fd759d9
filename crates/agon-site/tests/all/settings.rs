//! What the organiser decides holds on every server of the contest, from the answer on: nothing here waits for anything.

use std::sync::atomic::{AtomicBool, AtomicU32};

use crate::common::{Browser, PASSWORD, World, database, hall, sign_up};
use agon_bot::BotName;
use agon_server::settings::{self, FileSettings, SettingKey, SettingsBy};
use agon_server::{Upload, UploadOutcome, status};
use agon_site::Way;
use agon_store::acts::{Added, SignedUp};
use agon_store::{ContestSettings, Kind, LogEntry, LoginKind, Time, Uploads, VersionState};
use agon_worker::play::MatchEnd;
use agon_worker::{BotSource, Job, Posted, Stage, Unfit, Whole};

const SECTION: &str = "sign_up = \"open\"\nteam_size = 2\ntitle = \"Autumn Cup\"\ntime_zone = \"UTC\"";

/// A contest with two servers, in a file, and on a PostgreSQL server where there is one.
async fn pairs() -> Vec<(World, World)> {
    let mut folders = vec![tempfile::tempdir().expect("a folder")];
    if let Some(postgres) = database::POSTGRES.as_ref().filter(|_| agon_store::HAS_SCALE) {
        let folder = tempfile::tempdir().expect("a folder");
        postgres.place(folder.path());
        folders.push(folder);
    }
    let mut pairs = Vec::new();
    for folder in folders {
        let first = World::in_folder(folder, SECTION, Way::Loopback).await;
        let second = first.beside().await;
        pairs.push((first, second));
    }
    pairs
}

async fn organiser(world: &World) -> (Browser, i64) {
    let rita = world.account("Rita", true).await;
    (world.signed_in(rita, LoginKind::Session).await.0, rita.0)
}

async fn decided(world: &World) -> Vec<LogEntry> {
    world.server.store().decisions().await.expect("read")
}

/// The organiser's form as it is shown, with some answers changed.
async fn form(rita: &mut Browser, changes: &[(&str, &str)]) -> u16 {
    let page = rita.get("/organise/settings").await.text();
    let value = |name: &str| {
        let from = page.split_once(&format!("name=\"{name}\"")).map_or("", |(_, after)| after);
        let tag = from.split('>').next().unwrap_or_default();
        tag.split_once("value=\"")
            .map_or("", |(_, value)| value.split('"').next().unwrap_or_default())
            .to_owned()
    };
    let chosen = |name: &str| {
        let tag = format!("name=\"{name}\" value=\"");
        let options = page.split(&tag).skip(1);
        let mut chosen =
            options.filter(|option| option.split('>').next().is_some_and(|tag| tag.contains("checked")));
        chosen.next().map_or("", |option| option.split('"').next().unwrap_or_default()).to_owned()
    };
    let names = ["seen", "title", "time_zone", "opens", "closes", "team_size", "matches"];
    let mut fields: Vec<(&str, String)> = names.iter().map(|name| (*name, value(name))).collect();
    fields.push(("sign_up", chosen("sign_up")));
    for (name, text) in changes {
        fields.retain(|(own, _)| own != name);
        fields.push((name, (*text).to_owned()));
    }
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, text)| (*name, text.as_str())).collect();
    rita.post("/organise/settings", &fields).await.status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_decided_through_one_server_holds_on_the_other() {
    for (first, second) in pairs().await {
        let (mut rita, number) = organiser(&first).await;
        let ann = first.account("Ann", false).await;
        first.team(ann, "Reds").await;
        let (mut ann_there, _) = second.signed_in(ann, LoginKind::Session).await;
        let (mut program, _) = second.signed_in(ann, LoginKind::Token).await;
        let upload =
            async |ann: &mut Browser, text: &str| ann.upload("/upload", &[], "bot.py", text.as_bytes()).await;
        assert_eq!(upload(&mut ann_there, "print(1)").await.status, 303);
        // Frozen through the first: nothing comes in through the second, from a page, a program, or whatever else accepts it.
        assert_eq!(rita.post("/organise/freeze", &[]).await.status, 303);
        let answer = upload(&mut ann_there, "print(2)").await;
        assert!(answer.status == 403 && answer.text().contains("Uploads closed on"), "{}", answer.text());
        let answer =
            program.ask("POST", "/api/v1/upload?name=bot.py", "application/octet-stream", b"print(3)").await;
        assert!(answer.status == 403 && answer.text().contains("Uploads closed on"), "{}", answer.text());
        let there = async |now: Time| {
            let mut file = second.server.objects().begin().expect("room");
            file.add(b"print(4)").await.expect("room");
            let upload =
                Upload { entrant: "Reds", name: "bot.py", file, only_if_better: false, actor: "Ann" };
            second.server.upload(upload, now).await.expect("answered")
        };
        let closed = UploadOutcome::Added(Added::Closed(Uploads::Closed(first.now())));
        // The clock of the second may be behind.
        assert_eq!(there(Time(second.now().0 - 3_000)).await, closed);
        // Reopened through the second.
        let (mut rita_there, _) = second.signed_in(agon_store::AccountId(number), LoginKind::Session).await;
        assert_eq!(form(&mut rita_there, &[("closes", "")]).await, 303);
        let (mut ann_here, _) = first.signed_in(ann, LoginKind::Session).await;
        assert_eq!(upload(&mut ann_here, "print(5)").await.status, 303);
        let team = ann_here.get("/team").await.text();
        let code = crate::common::between(&team, "<code class=\"secret\">", "<").to_owned();
        // Who may sign up, and how many make a team.
        let bob = sign_up(&second, "Bob", "").await;
        assert_eq!(form(&mut rita, &[("sign_up", "closed"), ("team_size", "1")]).await, 303);
        let answer = second.browser().post("/sign-up", &[("name", "Cid"), ("password", PASSWORD)]).await;
        assert!(
            answer.status == 422 && answer.text().contains("The organiser has closed sign-up."),
            "{}",
            answer.text()
        );
        let late = agon_store::acts::SignUp {
            contest: second.server.contest(),
            name: "Cid".into(),
            password: "$none".into(),
            invite: Some(String::new()),
            now: second.now(),
        };
        assert_eq!(second.server.store().act(late).await.expect("answered"), SignedUp::Closed);
        let mut bob = bob;
        let answer = bob.post("/team/join", &[("code", &code)]).await;
        assert!(answer.text().contains("already has 1 members"), "{}", answer.text());
        assert_eq!(form(&mut rita_there, &[("sign_up", "open"), ("team_size", "2")]).await, 303);
        sign_up(&first, "Cid", "").await;
        assert_eq!(bob.post("/team/join", &[("code", &code)]).await.status, 303);
        // Bosses.
        let bosses = async |world: &World| {
            let versions = world.server.store().versions().await.expect("read");
            let live =
                versions.into_iter().filter(|version| version.boss && version.state == VersionState::Live);
            live.map(|version| format!("builtin:{}", version.entrant)).collect::<Vec<_>>()
        };
        let all = bosses(&second).await;
        first.set(&[("bosses", &all[1..].join(","))]).await;
        assert_eq!(bosses(&second).await, all[1..]);
        second.set(&[("bosses", &all.join(","))]).await;
        assert_eq!(bosses(&first).await, all, "it is back, with all its matches");
        second.set(&[("matches", "60")]).await;
        first.server.now().await.expect("read");
        assert_eq!(first.server.policy().enough, 60);
        // The log holds each change, with before and after, and a number for whoever it was.
        let rows = decided(&first).await;
        let changes = rows.iter().map(|row| match row {
            LogEntry::Settings(row) => {
                let keys = row.settings.iter().map(|one| format!("{} {} {}", one.key, one.before, one.after));
                (row.by.map(|account| account.0), keys.collect::<Vec<_>>().join(", "))
            }
            other => panic!("{other:?}"),
        });
        let changes: Vec<(Option<i64>, String)> = changes.collect();
        let (rita, at) = (Some(number), first.now().0);
        assert_eq!(changes.len(), 7, "{changes:?}");
        assert_eq!(changes[0], (rita, format!("closes null {at}, frozen false true")));
        assert_eq!(changes[1], (rita, format!("closes {at} null, frozen true false")));
        assert_eq!(changes[2], (rita, "sign_up \"open\" \"closed\", team_size 2 1".to_owned()));
        assert_eq!(changes[6], (None, "matches 40 60".to_owned()));
        let events = first.server.store().events(100).await.expect("read");
        let said = |verb: &str, detail: &str| {
            events.iter().any(|event| event.verb == verb && event.detail.contains(detail))
        };
        assert!(
            said("freeze", "") && said("set", "sign_up open → closed") && said("set", "matches 40 → 60"),
            "{events:?}"
        );
        let (_, found) = status::fsck(first.folder.path(), true).await.expect("looked through");
        assert_eq!(found, Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_old_by_now_undoes_nothing() {
    let world = World::new().await;
    let (mut rita, _) = organiser(&world).await;
    let old = settings_of(&mut rita).await;
    assert_eq!(rita.post("/organise/freeze", &[]).await.status, 303);
    let fields: Vec<(&str, &str)> = old.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let answer = rita.post("/organise/settings", &fields).await;
    assert!(
        answer.status == 422 && answer.text().contains("Somebody has changed the settings"),
        "{}",
        answer.text()
    );
    assert!(world.server.now().await.expect("read").settings.expect("founded").frozen);
}

/// What the form would send now.
async fn settings_of(rita: &mut Browser) -> Vec<(String, String)> {
    let page = rita.get("/organise/settings").await.text();
    let seen = crate::common::between(&page, "name=\"seen\" value=\"", "\"").to_owned();
    let fields =
        [("seen", seen.as_str()), ("title", "Mine"), ("time_zone", "UTC"), ("opens", ""), ("closes", "")];
    let more = [("team_size", "2"), ("matches", "40"), ("sign_up", "open")];
    fields.iter().chain(&more).map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_differs_is_named_in_the_cockpit_and_decides_nothing() {
    for (first, second) in pairs().await {
        let (mut rita, _) = organiser(&first).await;
        for (world, name) in [(&first, "hall cup"), (&second, "cloud cup")] {
            let own = agon_site::settings::OwnFile::read(world.folder.path()).expect("a good file");
            world.server.publish(name.to_owned(), own.settings);
            world.server.look_after(world.now()).await.expect("done");
        }
        assert!(!rita.get("/organise").await.text().contains("Servers whose files differ"));
        // Somebody edits the second one's.
        crate::common::write_file(second.folder.path(), &SECTION.replace("team_size = 2", "team_size = 9"));
        second.site.beat().await;
        second.wait(6_000);
        second.server.look_after(second.now()).await.expect("done");
        let cockpit = rita.get("/organise").await.text();
        let card = crate::common::between(&cockpit, "Servers whose files differ", "</section>");
        let card = card.replace(" class=\"prose\"", "");
        let row =
            "<td>cloud cup</td><td><code>team_size</code></td><td><code>9</code></td><td><code>2</code></td>";
        assert!(card.contains(row) && !card.contains("hall cup"), "{card}");
        assert_eq!(second.site.settings().team_size, 2, "it decides nothing");
        // The same once it is decided so: now the other's differs.
        first.set(&[("team_size", "9")]).await;
        let cockpit = rita.get("/organise").await.text();
        let card = crate::common::between(&cockpit, "Servers whose files differ", "</section>");
        assert!(card.contains("hall cup</td>") && !card.contains("cloud cup"), "{card}");
        // Servers that are gone are not named.
        first.wait(60_000);
        assert!(!rita.get("/organise").await.text().contains("Servers whose files differ"));
    }
}

#[tokio::test]
async fn a_form_and_a_command_refuse_the_same_with_the_same_words() {
    let world = World::new().await;
    let (mut rita, _) = organiser(&world).await;
    let game = agon_games::all()[0].info().name;
    for (word, text) in [
        ("title", " "),
        ("time_zone", "Mars/Base"),
        ("closes", "soon"),
        ("team_size", "0"),
        ("team_size", "21"),
        ("sign_up", "all"),
        ("matches", "none"),
        ("level", "D"),
    ] {
        let key = SettingKey::of(word).expect("a key");
        let why = settings::changed(&world.server.settings(), &[(key, text)], game).expect_err(word);
        let mut fields = settings_of(&mut rita).await;
        fields.retain(|(name, _)| name != word);
        fields.push((word.to_owned(), text.to_owned()));
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let answer = rita.post("/organise/settings", &fields).await;
        let page = answer.text().replace("<code>", "`").replace("</code>", "`").replace("&#39;", "'");
        assert!(answer.status == 422 && page.contains(&why), "{word}={text}: {why}: {page}");
    }
    assert_eq!(decided(&world).await, [], "and nothing is changed");
}

/// Plays a match as a machine does that has this image. Uploaded bots play like a built-in one.
fn played(world: &World, job: &Job, image: Option<&str>) -> Whole {
    let bot = |program: &BotSource| match program {
        BotSource::Builtin(name) => BotName::parse(name).expect("a name"),
        BotSource::Source(_) => BotName::parse(&world.server.settings().bosses[0]).expect("a name"),
    };
    let bots: Vec<BotName> = job.seats.iter().map(|seat| bot(&seat.program)).collect();
    let end = world.server.table().play(job, &bots, &[0], &AtomicBool::new(false), &AtomicU32::new(0));
    let MatchEnd::Whole(recorded) = end.expect("begins") else { panic!("it ends") };
    let mut whole = recorded.shared_out(world.server.table()).expect("a replay");
    let uploaded = job.seats.iter().any(|seat| matches!(seat.program, BotSource::Source(_)));
    whole.observed.images = image.filter(|_| uploaded).map(str::to_owned).into_iter().collect();
    whole
}

async fn state(world: &World, team: &str) -> (VersionState, Option<String>) {
    let versions = world.server.store().versions().await.expect("read");
    let own = versions.into_iter().find(|version| version.entrant == team).expect("there");
    (own.state, own.reason)
}

/// Plays what there is until this holds.
async fn play_until(
    world: &World,
    worker: &mut hall::Worker,
    image: Option<&str>,
    done: impl AsyncFn() -> bool,
) {
    for _ in 0..60 {
        world.server.tick(world.now()).await.expect("done");
        if done().await {
            return;
        }
        for job in worker.lease(1).await.jobs {
            assert_eq!(worker.result(job.attempt, &played(world, &job, image)).await, Posted::Kept);
        }
        world.wait(6_000);
    }
    panic!("it never comes about");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_the_image_is_an_act_and_every_live_version_is_checked_in_it() {
    let (former, fresh) = ("a".repeat(64), "b".repeat(64));
    let image = async |world: &World, name: &str| {
        let made = |before: &ContestSettings| {
            Ok(ContestSettings { image: Some(name.to_owned()), level: Some("A".into()), ..before.clone() })
        };
        settings::change(world.server.store(), SettingsBy::COMMAND, made, world.now())
            .await
            .expect("changed");
        world.server.now().await.expect("read");
    };
    let world = World::with("sign_up = \"open\"", Way::Loopback).await;
    image(&world, &former).await;
    let confined = agon_worker::wire::PlayingMachine { level: "A".into(), ..hall::machine() };
    let mut worker = hall::Worker::stranger(&world, "hall 1").await;
    assert_eq!(worker.hello(confined.clone()).await.status, 200);
    let mut browsers = Vec::new();
    for name in ["Ann", "Bob"] {
        let mut browser = sign_up(&world, name, "").await;
        let bot = format!("print('{name}')");
        assert_eq!(browser.upload("/upload", &[], "bot.py", bot.as_bytes()).await.status, 303);
        browsers.push(browser);
    }
    let live = async |name: &str| state(&world, name).await.0 == VersionState::Live;
    // A result that names no image does not count, nor one of another.
    world.server.tick(world.now()).await.expect("done");
    let (_, job) = worker.one().await;
    for wrong in [None, Some(fresh.as_str())] {
        let answer = worker.post("/results", &hall::sent(job.attempt, &played(&world, &job, wrong))).await;
        assert!(
            answer.status == 409 && answer.text().contains("Another image is wanted"),
            "{}",
            answer.text()
        );
    }
    play_until(&world, &mut worker, Some(&former), async || live("Ann").await && live("Bob").await).await;
    // A match of theirs is being played when the image is changed.
    let mut late = None;
    for _ in 0..60 {
        world.server.tick(world.now()).await.expect("done");
        let (_, job) = worker.one().await;
        if job.seats.iter().any(|seat| matches!(seat.program, BotSource::Source(_))) {
            late = Some(job);
            break;
        }
        assert_eq!(worker.result(job.attempt, &played(&world, &job, Some(&former))).await, Posted::Kept);
        world.wait(6_000);
    }
    let late = late.expect("teams play on the ladder");
    image(&world, &fresh).await;
    let rows = decided(&world).await;
    let Some(LogEntry::Settings(row)) = rows.last() else { panic!("{rows:?}") };
    let changed =
        row.settings.iter().find(|one| one.key == "image").expect("the image is among what changed");
    assert_eq!(
        (changed.before.as_str(), changed.after.as_str()),
        (Some(former.as_str()), Some(fresh.as_str()))
    );
    // Whoever played under the former conditions is told, and joins again; its late result is refused all the same.
    let result = hall::sent(late.attempt, &played(&world, &late, Some(&former)));
    let answer = worker.post("/results", &result).await;
    assert!(
        answer.status == 409 && answer.text().contains("The conditions have changed"),
        "{}",
        answer.text()
    );
    assert_eq!(worker.hello(confined).await.status, 200);
    let answer = worker.post("/results", &result).await;
    assert!(answer.status == 409 && answer.text().contains("Another image is wanted"), "{}", answer.text());
    // Nor does it count where nobody looked before the transaction.
    let stale = played(&world, &late, Some(&former));
    let over = (&stale.observed, &stale.replay[..], &stale.own[..]);
    let posted = world.server.post(worker.id, agon_worker::Try { ..late.attempt }, over, world.now()).await;
    assert_eq!(posted.expect("answered"), Posted::OtherImage);
    // Both are checked before anything else is played, and go on meanwhile.
    assert_eq!(world.server.store().rechecks().await.expect("read").len(), 2);
    world.server.tick(world.now()).await.expect("done");
    assert!(live("Ann").await && live("Bob").await);
    let mut checked = Vec::new();
    for _ in 0..2 {
        let job = worker.lease(1).await.jobs.into_iter().next().expect("there is work");
        let game = world
            .server
            .store()
            .one_match(agon_store::reads::Eyes::Organiser, agon_store::MatchId(job.attempt.game))
            .await;
        assert_eq!(game.expect("read").expect("there").kind, Kind::Check);
        checked.push(job.seats[0].label.clone());
        if job.seats[0].label.starts_with("Bob") {
            // What his bot needs is not in the new one.
            let unfit = Unfit { stage: Stage::Starting, what: "python3 is missing".into(), fix: None };
            let nothing = agon_worker::Nothing::hopeless(unfit);
            world.server.void(worker.id, job.attempt, &nothing, world.now()).await.expect("answered");
        } else {
            assert_eq!(worker.result(job.attempt, &played(&world, &job, Some(&fresh))).await, Posted::Kept);
        }
        world.server.tick(world.now()).await.expect("done");
    }
    checked.sort();
    assert!(checked[0].starts_with("Ann") && checked[1].starts_with("Bob"), "{checked:?}");
    world.server.tick(world.now()).await.expect("done");
    assert_eq!(world.server.store().rechecks().await.expect("read").len(), 0);
    assert!(live("Ann").await);
    let (failed, why) = state(&world, "Bob").await;
    let why = why.unwrap_or_default();
    assert!(
        failed == VersionState::Failed
            && why.contains("In the image that the contest has now: python3 is missing"),
        "{why}"
    );
    // His team reads it, and the organiser.
    let home = browsers[1].get("/").await;
    assert_eq!(home.heading(), "v1 cannot play");
    let link = format!("/version/{}", crate::common::between(&home.text(), "href=\"/version/", "\""));
    let page = browsers[1].get(&link).await.text();
    assert!(page.contains("In the image that the contest has now: python3 is missing"), "{page}");
    let (mut rita, _) = organiser(&world).await;
    let cockpit = rita.get("/organise").await.text();
    for told in [
        "<b>Bob v1</b> failed",
        "<b>Ann v1</b> passed its check match in the new image",
        "image aaaaaaaaaaaa → bbbbbbbbbbbb",
    ] {
        assert!(cockpit.contains(told), "{told}: {cockpit}");
    }
    // The match that was cut off is played again, in the new image; nobody is charged for it.
    let attempts = world.server.store().attempts(agon_store::MatchId(late.attempt.game)).await.expect("read");
    assert_eq!(attempts[0].2.as_deref(), Some("aborted"), "{attempts:?}");
    // What failed in an image may be tried again in the next one, byte for byte.
    image(&world, &former).await;
    assert_eq!(browsers[1].upload("/upload", &[], "bot.py", b"print('Bob')").await.status, 303);
    assert_eq!(state(&world, "Bob").await.0, VersionState::Received);
    let (_, found) = status::fsck(world.folder.path(), true).await.expect("looked through");
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_file_says_nothing_of_what_it_does_not_name() {
    let file = agon_contest::ContestFile::parse("game = 'cultist-wars'\n").expect("a good file");
    let file = FileSettings::of(&file, "cup".into()).expect("good settings");
    assert_eq!(file.named, []);
}
