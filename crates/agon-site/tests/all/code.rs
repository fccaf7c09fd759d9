//! The workbench: texts are kept for their author alone, run as drafts, by rules of one's own if wanted, and handed in once.

use std::io::Read as _;

use agon_api::{CodeFile, KeptAs, KeptText, Match, Problem, TextEntry, TextHandedIn, TextRuns, Workbench};
use agon_replay::Replay;
use agon_site::limits::TEXTS;
use agon_store::acts::Withdraw;
use agon_store::{AccountId, LoginKind};
use agon_worker::{Job, pack};
use serde_json::{Value, json};

use crate::api::Judge;
use crate::common::{Answer, Browser, World, between, play};

const MINUTE: i64 = 60_000;

/// Somebody in the workbench's page.
async fn page_of(world: &World, name: &str) -> (Browser, AccountId) {
    let account = world.account(name, false).await;
    let (mut browser, _) = world.signed_in(account, LoginKind::Session).await;
    browser.extra.push(("x-agon-form".to_owned(), browser.form()));
    (browser, account)
}

async fn send(browser: &mut Browser, method: &str, path: &str, body: &Value) -> Answer {
    browser.ask(method, &format!("/api/v1{path}"), "application/json", body.to_string().as_bytes()).await
}

fn python(text: &str) -> Value {
    json!([{ "path": "bot.py", "text": text }])
}

async fn keep(browser: &mut Browser, base: Option<i64>, files: &Value) -> Answer {
    send(browser, "PUT", "/code/text", &json!({ "base": base, "files": files })).await
}

async fn kept(browser: &mut Browser, base: Option<i64>, text: &str) -> i64 {
    let answer = keep(browser, base, &python(text)).await;
    serde_json::from_slice::<KeptAs>(&answer.body).unwrap_or_else(|_| panic!("{}", answer.text())).id
}

async fn list(browser: &mut Browser) -> Vec<TextEntry> {
    Judge::new().read("get", "/api/v1/code/texts", &browser.get("/api/v1/code/texts").await)
}

async fn begin(browser: &mut Browser) -> Workbench {
    Judge::new().read("get", "/api/v1/code", &browser.get("/api/v1/code").await)
}

/// Plays until this match was played, and returns it as its machine got it.
async fn played(world: &World, game: i64) -> Job {
    let worker = world.server.meet("one", "not confined", world.now()).await.expect("met");
    for _ in 0..60 {
        world.server.tick(world.now()).await.expect("done");
        let request = world.now().0.to_string();
        let granted = world.server.lease(worker, &request, 1, world.now()).await.expect("answered");
        world.wait(1_000);
        for job in granted.jobs {
            play(world, worker, &job).await;
            if job.attempt.game == game {
                world.server.tick(world.now()).await.expect("done");
                return job;
            }
        }
    }
    panic!("match {game} is not played");
}

fn problem(answer: &Answer) -> (u16, String) {
    let problem: Problem =
        serde_json::from_slice(&answer.body).unwrap_or_else(|_| panic!("{}", answer.text()));
    (answer.status, problem.detail)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_is_kept_as_it_is_typed_and_its_author_alone_finds_it() {
    let world = World::new().await;
    let ((mut ann, account), (mut bob, _)) = (page_of(&world, "Ann").await, page_of(&world, "Bob").await);
    let empty = begin(&mut ann).await;
    assert_eq!((empty.text, empty.limits.runs.most, empty.limits.texts), (None, 60, 20));
    assert!(empty.starters[0].files.iter().any(|file| file.path == empty.starters[0].strategy));
    let answer = keep(&mut ann, None, &python("print(1)\n")).await;
    let first = Judge::new().read::<KeptAs>("put", "/api/v1/code/text", &answer).id;
    // Within a minute the newest one is replaced; whoever has that open elsewhere writes over nothing.
    let second = kept(&mut ann, Some(first), "print(1)\nprint(2)\n").await;
    assert_eq!(list(&mut ann).await.len(), 1);
    let stale = keep(&mut ann, Some(first), &python("print(3)\n")).await;
    assert_eq!(stale.status, 409);
    let newer: KeptText = serde_json::from_slice(&stale.body).expect("the newer one");
    assert_eq!((newer.id, newer.files[0].text.as_deref()), (second, Some("print(1)\nprint(2)\n")));
    let again = keep(&mut ann, Some(first), &python("print(1)\nprint(2)\n")).await;
    assert!(again.status == 200 && again.text().contains(&format!("\"id\":{second}")), "its answer was lost");
    world.wait(MINUTE);
    let third = kept(&mut ann, Some(second), "print(2)\nprint(3)\nprint(4)\n").await;
    let noted = json!({ "base": third, "files": python("print(2)\nprint(3)\nprint(4)\n"), "note": "a note" });
    assert_eq!(send(&mut ann, "PUT", "/code/text", &noted).await.status, 200);
    let fourth = kept(&mut ann, Some(third), "print(5)").await;
    let all = list(&mut ann).await;
    let told: Vec<_> =
        all.iter().map(|one| (one.id, one.lines.more, one.lines.fewer, one.note.as_deref())).collect();
    assert_eq!(told, [(fourth, 1, 3, None), (third, 2, 1, Some("a note")), (second, 2, 0, None)]);
    // In another session, for a program with a token, and on another server that begins later.
    let (mut later, _) = world.signed_in(account, LoginKind::Session).await;
    let (mut token, _) = world.signed_in(account, LoginKind::Token).await;
    let beside = world.beside().await;
    let (mut there, _) = beside.signed_in(account, LoginKind::Session).await;
    for browser in [&mut later, &mut token, &mut there] {
        assert_eq!(begin(browser).await.text.expect("kept").files[0].text.as_deref(), Some("print(5)"));
    }
    // Nobody else finds it: not in the same team, nor with the number, nor against it.
    let path = format!("/api/v1/code/texts/{third}");
    let found: KeptText = Judge::new().read("get", "/api/v1/code/texts/{id}", &ann.get(&path).await);
    assert_eq!(found.note.as_deref(), Some("a note"));
    let own = kept(&mut bob, None, "print('mine')").await;
    assert_eq!((bob.get(&path).await.status, world.browser().get(&path).await.status), (404, 401));
    for stolen in [
        json!({ "text": third, "against": [{ "version": 1 }] }),
        json!({ "text": own, "against": [{ "text": third }] }),
    ] {
        assert_eq!(send(&mut bob, "POST", "/code/run", &stolen).await.status, 404, "{stolen}");
    }
    let stolen = json!({ "text": third, "request": "x" });
    assert_eq!(send(&mut bob, "POST", "/code/hand-in", &stolen).await.status, 404);
    assert_eq!(list(&mut bob).await.len(), 1);
    // A page of another site, and one without the page's token, keep nothing; a program needs none.
    later.extra.clear();
    assert_eq!(problem(&keep(&mut later, Some(fourth), &python("x")).await).0, 403);
    later.extra =
        vec![("x-agon-form".into(), later.form()), ("Origin".into(), "https://evil.example".into())];
    assert_eq!(problem(&keep(&mut later, Some(fourth), &python("x")).await).0, 403);
    assert_eq!(keep(&mut token, Some(fourth), &python("print(6)")).await.status, 200);
    // After the account nothing is left of them.
    let withdraw = Withdraw { contest: world.server.contest(), account, now: world.now() };
    world.server.store().act(withdraw).await.expect("done");
    let (_, found) = agon_server::status::fsck(world.folder.path(), false).await.expect("looked through");
    assert_eq!(found, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_much_or_no_bots_file_is_refused_with_a_sentence_and_nothing_is_lost() {
    let world = World::new().await;
    let (mut ann, _) = page_of(&world, "Ann").await;
    let mut base = kept(&mut ann, None, "print(0)").await;
    let many: Vec<Value> = (0..65).map(|n| json!({ "path": format!("{n}.py"), "text": "" })).collect();
    let file = |path: &str| json!([{ "path": path, "text": "x" }]);
    for (files, status, why) in [
        (json!(many), 413, "at most 64 files, 512 KiB together"),
        (python(&"#".repeat((512 << 10) + 1)), 413, "512 KiB"),
        (json!([]), 422, "at least one file"),
        (file("../x"), 422, "points outside"),
        (file("/etc/passwd"), 422, "points outside"),
        (file("a//b"), 422, "is not a path"),
        (file(".git/config"), 422, "is not a path"),
        (file(&"a/".repeat(40)), 422, "more than 32 deep"),
        (json!([{ "path": "a", "text": "" }, { "path": "A", "text": "" }]), 422, "twice"),
        (json!([{ "path": "a", "text": "" }, { "path": "a/b", "text": "" }]), 422, "lies in a file"),
        (json!([{ "path": "a.bin", "bytes": 7 }]), 422, "is not known here"),
        (json!([{ "path": "a.bin" }]), 422, "neither a text nor a size"),
        (json!([{ "path": "a", "text": "", "mode": 7 }]), 422, "openapi.json"),
    ] {
        let (found, detail) = problem(&keep(&mut ann, Some(base), &files).await);
        assert!(found == status && detail.contains(why), "{why}: {found} {detail}");
    }
    let huge = json!({ "files": python(&"#".repeat(3 << 20)) });
    assert_eq!(send(&mut ann, "PUT", "/code/text", &huge).await.status, 413);
    // The last twenty stay, and typing has its end.
    world.wait(MINUTE);
    for n in 1..=30 {
        base = kept(&mut ann, Some(base), &format!("print({n})")).await;
        world.wait(MINUTE);
    }
    let all = list(&mut ann).await;
    assert_eq!((all.len(), all[0].id, all[0].lines.more), (20, base, 1));
    for n in 0..TEXTS {
        let answer = keep(&mut ann, Some(base), &python(&format!("print('{n}')"))).await;
        base =
            serde_json::from_slice::<KeptAs>(&answer.body).unwrap_or_else(|_| panic!("{}", answer.text())).id;
    }
    let answer = keep(&mut ann, Some(base), &python("one more")).await;
    assert_eq!((answer.status, answer.header("retry-after")), (429, Some("61")));
    world.wait(MINUTE);
    assert_eq!(keep(&mut ann, Some(base), &python("one more")).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_runs_as_a_draft_and_by_other_rules_if_that_is_wanted() {
    let world = World::new().await;
    let ((mut ann, _), (mut bob, _)) = (page_of(&world, "Ann").await, page_of(&world, "Bob").await);
    let text = kept(&mut ann, None, "print('of my own')").await;
    let bench = begin(&mut ann).await;
    let boss = bench.opponents.iter().find(|one| one.boss).expect("a boss").clone();
    let number = bench.numbers.iter().find(|number| number.key == "health_points").expect("a number");
    assert_eq!((number.title.as_str(), number.usual.as_str(), bench.seats), ("health points", "10", 2));
    let wish = |rules: Value| json!({ "text": text, "seat": 2, "against": [{ "version": boss.version }], "map": 1, "seed": "63", "rules": rules });
    let run = |answer: &Answer| -> i64 {
        assert_eq!(answer.status, 202, "{}", answer.text());
        Judge::new().read::<TextRuns>("post", "/api/v1/code/run", answer).game
    };
    let plain = run(&send(&mut ann, "POST", "/code/run", &wish(Value::Null)).await);
    assert_eq!(
        run(&send(&mut ann, "POST", "/code/run", &wish(Value::Null)).await),
        plain,
        "it is that match"
    );
    assert_eq!(list(&mut ann).await[0].did, None, "it is not over");
    let job = played(&world, plain).await;
    assert!(job.ground.is_none() && job.is_one_teams, "the other one is a boss");
    let did = list(&mut ann).await[0].did.clone().expect("it is over");
    assert!(did.contains(&format!(" {}, turn ", boss.name)), "{did}");
    assert_eq!(
        run(&send(&mut ann, "POST", "/code/run", &wish(Value::Null)).await),
        plain,
        "nor is it played again"
    );
    assert_eq!(begin(&mut ann).await.limits.runs.used, 1);
    // By rules of one's own: in the match, its page, its replay, and nowhere else.
    let odd = json!({ "preset": "", "set": { "health_points": 20, "damage": "9" } });
    let odd = run(&send(&mut ann, "POST", "/code/run", &wish(odd)).await);
    let job = played(&world, odd).await;
    assert!(job.ground.is_some_and(|own| own.rules.contains("health_points = 20")));
    let says = "damage 9 (usually 7), health_points 20 (usually 10)";
    let page = ann.get(&format!("/match/{odd}")).await.text();
    assert!(page.contains(&format!("Unrated, rules changed: {says}. Ended after ")), "{page}");
    let (mut token, _) = {
        let account = world.server.store().account_like("Ann").await.expect("read").expect("there").id;
        world.signed_in(account, LoginKind::Token).await
    };
    for (game, wanted) in [(plain, None), (odd, Some(says))] {
        let told: Match = serde_json::from_slice(&token.get(&format!("/api/v1/matches/{game}")).await.body)
            .expect("a match");
        assert_eq!(told.rules_changed.as_deref(), wanted);
    }
    let replay = Replay::read(&ann.get(&format!("/match/{odd}/replay")).await.body).expect("a replay");
    assert!(
        replay.header.recipe.rules_name.ends_with(", damage=9, health_points=20"),
        "{:?}",
        replay.header.recipe
    );
    // Without the viewer in this program it says so.
    assert!([200, 501].contains(&ann.get(&format!("/match/{odd}/view")).await.status));
    for other in [&mut bob, &mut world.browser()] {
        assert_eq!(other.get(&format!("/match/{odd}")).await.status, 404, "it is nobody else's to see");
    }
    let (_, found) = agon_server::status::fsck(world.folder.path(), true).await.expect("looked through");
    assert_eq!(found, Vec::<String>::new());
    // Against another text of one's own.
    let other = kept(&mut ann, Some(text), "print('another')").await;
    let both = json!({ "text": text, "against": [{ "text": other }], "seed": "63" });
    let both = run(&send(&mut ann, "POST", "/code/run", &both).await);
    assert!(played(&world, both).await.is_one_teams, "what is wrong with either is told");
    assert!(ann.get(&format!("/match/{both}")).await.heading().contains("Ann (draft)"));
    for (wrong, status, why) in [
        (
            json!({ "text": text, "against": [{ "version": boss.version }], "rules": { "set": { "health": 5 } } }),
            422,
            "did you mean `health_points`?",
        ),
        (
            json!({ "text": text, "against": [{ "version": boss.version }], "rules": { "set": { "damage": 1000 } } }),
            422,
            "damage",
        ),
        (
            json!({ "text": text, "against": [{ "version": boss.version }], "rules": { "preset": "golden" } }),
            422,
            "Presets: standard",
        ),
        (
            json!({ "text": text, "against": [{ "version": boss.version }], "map": "atlantis" }),
            422,
            "No map is called `atlantis`",
        ),
        (
            json!({ "text": text, "against": [{ "version": boss.version }], "seat": 3 }),
            422,
            "there is no seat 3",
        ),
        (json!({ "text": text, "against": [{ "version": 999 }] }), 422, "must be live"),
        (json!({ "text": text, "against": [{}] }), 422, "a version or a text"),
        (json!({ "text": text, "against": [] }), 422, "Name one opponent"),
        (json!({ "text": text, "against": [{ "text": 999 }] }), 404, "no such text"),
    ] {
        let (found, detail) = problem(&send(&mut ann, "POST", "/code/run", &wrong).await);
        assert!(found == status && detail.contains(why), "{wrong}: {found} {detail}");
    }
    // The limit says when there is room again; what is said of a text outlives its match.
    world.set(&[("asked_an_hour", "3")]).await;
    let more = json!({ "text": text, "against": [{ "version": boss.version }] });
    let full = send(&mut ann, "POST", "/code/run", &more).await;
    assert!(full.status == 429 && full.header("retry-after").is_some(), "{}", full.text());
    let runs = begin(&mut ann).await.limits.runs;
    assert!((runs.used, runs.most) == (3, 3) && runs.until.is_some_and(|at| at > world.now().0), "{runs:?}");
    world.wait(2 * 86_400_000);
    world.server.tick(world.now()).await.expect("done");
    assert_eq!(ann.get(&format!("/match/{both}")).await.status, 404, "it is forgotten");
    let told = list(&mut ann).await.into_iter().find(|one| one.id == text).and_then(|one| one.did);
    assert!(told.is_some_and(|did| did.contains(" a draft, turn ")), "and yet");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_is_handed_in_once_and_a_version_is_opened_again() {
    let world = World::new().await;
    world.set(&[("trust_bots", "true")]).await;
    let ((mut ann, _), (mut bob, _)) = (page_of(&world, "Ann").await, page_of(&world, "Bob").await);
    let text = kept(&mut ann, None, "print('one')").await;
    let ask = |text: i64, request: &str| json!({ "text": text, "request": request });
    let mut done = Vec::new();
    for request in ["a", "a", "b"] {
        let answer = send(&mut ann, "POST", "/code/hand-in", &ask(text, request)).await;
        done.push(Judge::new().read::<TextHandedIn>("post", "/api/v1/code/hand-in", &answer));
    }
    assert!(done.iter().all(|one| *one == done[0]) && done[0].n == 1, "{done:?}");
    assert_eq!(list(&mut ann).await[0].did.as_deref(), Some("handed in as v1"));
    let source = |id: i64| format!("/api/v1/versions/{id}/source");
    let read = |answer: &Answer| -> Vec<CodeFile> {
        Judge::new().read("get", "/api/v1/versions/{id}/source", answer)
    };
    let opened = read(&ann.get(&source(done[0].version)).await);
    assert_eq!(serde_json::to_value(&opened).expect("JSON"), python("print('one')"));
    for other in [&mut bob, &mut world.browser()] {
        assert!(matches!(other.get(&source(done[0].version)).await.status, 404 | 401));
    }
    // A file that is no text is listed, stays as it is, and is handed in again with the changed text.
    let files = [("bot.py", &b"print('two')"[..]), ("model/weights.bin", &[0, 159, 146, 150])];
    let archive = pack::of_files(files.into_iter()).expect("packed");
    let answer = ann.upload("/upload", &[], "bot.tar", &archive).await;
    let version =
        answer.header("location").and_then(|to| to.rsplit('/').next()).and_then(|id| id.parse().ok());
    let opened = read(&ann.get(&source(version.expect("taken in"))).await);
    let binary = json!({ "path": "model/weights.bin", "bytes": 4 });
    assert_eq!(serde_json::to_value(&opened[1]).expect("JSON"), binary);
    let changed = json!([{ "path": "bot.py", "text": "print('three')" }, binary]);
    let answer = keep(&mut ann, Some(text), &changed).await;
    let three: KeptAs = serde_json::from_slice(&answer.body).unwrap_or_else(|_| panic!("{}", answer.text()));
    let handed_in = send(&mut ann, "POST", "/code/hand-in", &ask(three.id, "c")).await;
    let handed_in: TextHandedIn = serde_json::from_slice(&handed_in.body).expect("a version");
    assert_eq!(handed_in.n, 3);
    let again = read(&ann.get(&source(handed_in.version)).await);
    assert_eq!(serde_json::to_value(&again).expect("JSON"), changed);
    let other = json!([{ "path": "model/weights.bin", "bytes": 5 }]);
    assert_eq!(keep(&mut ann, Some(three.id), &other).await.status, 422, "another size is another file");
    // Where uploads are closed nothing is handed in, and everything is kept.
    world.set(&[("closes", "2020-01-01T00:00")]).await;
    let four = kept(&mut ann, Some(three.id), "print('four')").await;
    assert_eq!(problem(&send(&mut ann, "POST", "/code/hand-in", &ask(four, "d")).await).0, 403);
    assert!(begin(&mut ann).await.limits.closed.is_some());
    // Where a machine has no sandbox, only trusted bots are unpacked by the server.
    world.set(&[("trust_bots", "false"), ("closes", "")]).await;
    assert_eq!(problem(&ann.get(&source(handed_in.version)).await).0, 422);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_brings_what_the_app_begins_with_and_without_it_says_the_other_ways() {
    let world = World::new().await;
    let answer = world.browser().get("/code").await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/sign-in?next=/code")));
    let (mut ann, _) = page_of(&world, "Ann").await;
    kept(&mut ann, None, "print('</script><b>')").await;
    let page = ann.get("/code").await;
    let text = page.text();
    let policy = page.header("content-security-policy").expect("one");
    assert!(
        policy.contains("script-src 'self' 'wasm-unsafe-eval'") && policy.contains("connect-src 'self'"),
        "{policy}"
    );
    let begins: Workbench =
        serde_json::from_str(between(&text, "<script type=\"application/json\">", "</script>"))
            .expect("JSON");
    assert_eq!(begins, begin(&mut ann).await);
    assert_eq!(between(&text, "<meta name=\"agon-form\" content=\"", "\""), ann.form());
    assert!(
        text.contains("href=\"/draft\"")
            && text.contains("href=\"/upload\"")
            && text.contains("aria-current=\"page\">Code<"),
        "{text}"
    );
    ann.extra.push(("Accept-Encoding".into(), "gzip, br".into()));
    let packed = ann.get("/code").await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut whole = String::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_string(&mut whole).expect("gzip");
    assert!(whole == text && packed.body.len() * 3 < whole.len(), "{} of {}", packed.body.len(), whole.len());
    for form in ["/draft", "/upload"] {
        assert!(ann.get(form).await.text().contains("href=\"/code\""), "{form}");
    }
}
