//! The API: its description matches the router, answers match the description, and what belongs to one team is kept from
//! others.

use std::collections::BTreeSet;

use crate::common::{Answer, Browser, World};
use agon_api::played::{Kind, MatchState};
use agon_api::version::{State, UploadedWord};
use agon_api::{Asked, Contest, Ladder, Matches, Me, Own, Problem, Uploaded, Version, Versions};
use agon_site::api::describe::description;
use agon_site::routes::{self, Method};
use agon_store::LoginKind;
use boon::{Compiler, Schemas};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Checks answers against the description.
pub(crate) struct Judge {
    description: Value,
    seen: BTreeSet<(String, String)>,
}

impl Judge {
    pub fn new() -> Self {
        Self { description: description(), seen: BTreeSet::new() }
    }

    /// The answer to a call of a path in the router's form, parsed and checked against the description.
    pub fn read<T: DeserializeOwned>(&mut self, method: &str, path: &str, answer: &Answer) -> T {
        let is_good = matches!(answer.status, 200 | 202);
        let (status, kind) = match answer.status {
            200 => ("200", "application/json"),
            202 => ("202", "application/json"),
            _ => ("default", "application/problem+json"),
        };
        assert_eq!(answer.header("content-type"), Some(kind), "{method} {path}: {}", answer.text());
        let pointer = |text: &str| text.replace('~', "~0").replace('/', "~1");
        let place =
            format!("#/paths/{}/{method}/responses/{status}/content/{}/schema", pointer(path), pointer(kind));
        let value: Value = serde_json::from_slice(&answer.body).expect("JSON");
        let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
        compiler.add_resource("mem:///api.json", self.description.clone()).expect("a document");
        // Braces of the path are escaped in an address.
        let place = place.replace('{', "%7B").replace('}', "%7D");
        let schema = compiler.compile(&format!("mem:///api.json{place}"), &mut schemas);
        let schema = schema.unwrap_or_else(|error| panic!("{place}: {error:#}"));
        if let Err(error) = schemas.validate(&value, schema) {
            panic!("{method} {path}: {error:#}\n{value:#}");
        }
        if is_good {
            self.seen.insert((method.to_owned(), path.to_owned()));
        }
        serde_json::from_value(value).expect("as its type is")
    }
}

#[test]
fn the_description_in_its_file_is_that_of_the_types() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/api/openapi.json");
    let described = description();
    if std::env::var_os("UPDATE_TYPES").is_some() {
        std::fs::write(file, format!("{described:#}\n")).expect("our own file");
    }
    let found: Value = serde_json::from_slice(&std::fs::read(file).expect("there")).expect("JSON");
    assert!(
        found == described,
        "openapi.json is not as the table of acts and the types of agon-api are: look at the change, then run this test with UPDATE_TYPES=1"
    );
}

#[test]
fn the_description_has_every_route_of_the_api_and_nothing_else() {
    let described = description();
    let mut known = BTreeSet::new();
    for (path, acts) in described["paths"].as_object().expect("paths") {
        for (method, act) in acts.as_object().expect("acts") {
            assert!(act["summary"].as_str().is_some_and(|text| text.ends_with('.')), "{method} {path}");
            known.insert((method.clone(), path.clone()));
        }
    }
    let word = |method| match method {
        Method::Get => "get",
        Method::Post => "post",
        Method::Put => "put",
        Method::Delete => "delete",
    };
    let routes: BTreeSet<(String, String)> = routes::all()
        .filter(|route| route.is_api())
        .map(|route| (word(route.method).to_owned(), route.path.to_owned()))
        .collect();
    assert_eq!(known, routes);
    assert_eq!(described["openapi"], "3.1.0");
    // Every reference resolves.
    let text = described.to_string();
    for part in text.split("\"$ref\":\"#/components/schemas/").skip(1) {
        let name = part.split('"').next().expect("a name");
        assert!(described["components"]["schemas"][name].is_object(), "{name}");
    }
    let query = described["paths"]["/api/v1/draft"]["post"]["parameters"].as_array().expect("parameters");
    let names: Vec<&str> = query.iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["against", "against_version", "map", "name", "seat", "seed"]);
}

/// A person with a token.
async fn somebody(world: &World, name: &str) -> Browser {
    let account = world.account(name, false).await;
    world.signed_in(account, LoginKind::Token).await.0
}

async fn send(browser: &mut Browser, path: &str, bytes: &[u8]) -> Answer {
    browser.ask("POST", path, "application/octet-stream", bytes).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_as_the_description_says() {
    let world = World::new().await;
    let (mut judge, mut ann, mut nobody) = (Judge::new(), somebody(&world, "Ann").await, world.browser());
    let said = nobody.get("/api/v1/openapi.json").await;
    assert_eq!(serde_json::from_slice::<Value>(&said.body).expect("JSON"), judge.description);
    let contest: Contest = judge.read("get", "/api/v1/contest", &nobody.get("/api/v1/contest").await);
    assert_eq!((contest.title.as_str(), contest.seats, contest.maps[0].number), ("Autumn Cup", 2, 1));
    assert!(contest.machine.sandbox.is_none() && contest.seeds_sha256.len() == 64);
    let ladder: Ladder = judge.read("get", "/api/v1/ladder", &nobody.get("/api/v1/ladder").await);
    assert!(ladder.lines.iter().all(|line| line.boss && line.live.is_some()), "{ladder:?}");
    let list: Matches = judge.read("get", "/api/v1/matches", &nobody.get("/api/v1/matches").await);
    assert_eq!((list.matches.len(), list.next), (0, None));
    // Before the first upload there is no team, and nothing of one's own. An account is told what it may still ask for.
    let answer = ann.get("/api/v1/me").await;
    let room = |answer: &Answer| -> Vec<u32> {
        let names = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];
        names.iter().filter_map(|name| answer.header(name)?.parse().ok()).collect()
    };
    let (before, after) = (room(&answer), room(&ann.get("/api/v1/me").await));
    assert!(
        before[0] == 600 && after[1] + 1 == before[1] && (1..=61).contains(&after[2]),
        "{before:?} {after:?}"
    );
    let me: Me = judge.read("get", "/api/v1/me", &answer);
    assert_eq!((me.name.as_str(), me.team, me.quota), ("Ann", None, None));
    let none: Versions = judge.read("get", "/api/v1/versions", &ann.get("/api/v1/versions").await);
    assert!(none.versions.is_empty());
    let answer = send(&mut ann, "/api/v1/upload?name=bot.py&only_if_better=true", b"print('WAIT')").await;
    let up: Uploaded = judge.read("post", "/api/v1/upload", &answer);
    assert_eq!((up.what, up.version.n, up.version.state), (UploadedWord::New, 1, State::Received));
    assert!(up.version.only_if_better && up.version.steps.len() == 1);
    let again: Uploaded = judge.read(
        "post",
        "/api/v1/upload",
        &send(&mut ann, "/api/v1/upload?name=bot.py", b"print('WAIT')").await,
    );
    assert_eq!((again.what, again.version.id), (UploadedWord::Same, up.version.id));
    let me: Me = judge.read("get", "/api/v1/me", &ann.get("/api/v1/me").await);
    assert_eq!(me.team.expect("a team of one").name, "Ann");
    assert_eq!(me.quota.expect("a quota").uploads_an_hour.used, 1);
    let one = format!("/api/v1/versions/{}", up.version.id);
    let version: Version = judge.read("get", "/api/v1/versions/{id}", &ann.get(&one).await);
    assert_eq!(version, up.version);
    let log: agon_api::BuildLog =
        judge.read("get", "/api/v1/versions/{id}/log", &ann.get(&format!("{one}/log")).await);
    assert_eq!(log.text, "");
    let refused: Problem =
        judge.read("post", "/api/v1/versions/{id}/live", &send(&mut ann, &format!("{one}/live"), b"").await);
    assert_eq!((refused.status, refused.title.as_str()), (409, "Nothing to go back to"));
    // A draft against the last of the ladder, because nobody was named.
    let draft: Asked = judge.read(
        "post",
        "/api/v1/draft",
        &send(&mut ann, "/api/v1/draft?name=bot.py&seed=-7&seat=2", b"print('SHOOT')").await,
    );
    assert_eq!(
        (draft.game.kind, draft.game.state, draft.game.seed.as_str()),
        (Kind::Draft, MatchState::Planned, "-7")
    );
    assert!(draft.game.seats[0].boss && draft.game.seats[1].name == "Ann" && draft.game.seats[1].n < 0);
    let path = format!("/api/v1/asked/{}", draft.game.id);
    let asked: Asked = judge.read("get", "/api/v1/asked/{id}", &ann.get(&path).await);
    assert_eq!(asked, draft);
    let path = format!("/api/v1/matches/{}", draft.game.id);
    let game: agon_api::Match = judge.read("get", "/api/v1/matches/{id}", &ann.get(&path).await);
    assert_eq!(game, draft.game);
    let own: Own = judge.read("get", "/api/v1/matches/{id}/own", &ann.get(&format!("{path}/own")).await);
    assert!(own.seats.is_empty(), "nothing was played yet");
    let no: Problem =
        judge.read("get", "/api/v1/matches/{id}/replay", &ann.get(&format!("{path}/replay")).await);
    assert_eq!((no.status, no.title.as_str()), (404, "No replay yet"));
    // A version that waits cannot be sent into a challenge; a live boss can be met.
    let body = format!("{{\"version\":{},\"against\":\"{}\"}}", up.version.id, draft.game.seats[0].name);
    let no: Problem =
        judge.read("post", "/api/v1/challenge", &ann.post_json("/api/v1/challenge", &body).await);
    assert_eq!((no.status, no.title.as_str()), (422, "That version cannot play"));
    world
        .server
        .store()
        .act(agon_store::acts::Promote { version: agon_store::VersionId(up.version.id), now: world.now() })
        .await
        .expect("promoted");
    let body = "{\"map\":1,\"seat\":1,\"seed\":\"9223372036854775807\"}";
    let dare: Asked =
        judge.read("post", "/api/v1/challenge", &ann.post_json("/api/v1/challenge", body).await);
    assert_eq!((dare.game.kind, dare.game.seed.as_str()), (Kind::Challenge, "9223372036854775807"));
    // All but the replay, the image, going back and the workbench were answered here; tests of those cover them.
    let missing: Vec<_> = routes::all().filter(|route| route.is_api()).map(|route| route.path).collect();
    let missing: Vec<_> =
        missing.iter().filter(|path| !judge.seen.iter().any(|(_, seen)| seen == *path)).collect();
    assert_eq!(
        missing,
        [
            &"/api/v1/openapi.json",
            &"/api/v1/matches/{id}/replay",
            &"/api/v1/image",
            &"/api/v1/versions/{id}/live",
            &"/api/v1/code",
            &"/api/v1/code/text",
            &"/api/v1/code/texts",
            &"/api/v1/code/texts/{id}",
            &"/api/v1/code/run",
            &"/api/v1/code/hand-in",
            &"/api/v1/versions/{id}/source"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_reaches_what_is_of_another_team() {
    let world = World::new().await;
    let (mut ann, mut bob) = (somebody(&world, "Ann").await, somebody(&world, "Bob").await);
    let up = send(&mut ann, "/api/v1/upload?name=bot.py", b"print('WAIT')").await;
    let up: Uploaded = serde_json::from_slice(&up.body).expect("an upload");
    let draft = send(&mut ann, "/api/v1/draft?name=bot.py", b"print('SHOOT')").await;
    let draft: Asked = serde_json::from_slice(&draft.body).expect("a draft");
    let (version, game) = (up.version.id, draft.game.id);
    let paths = [
        format!("/api/v1/versions/{version}"),
        format!("/api/v1/versions/{version}/log"),
        format!("/api/v1/asked/{game}"),
        format!("/api/v1/matches/{game}"),
        format!("/api/v1/matches/{game}/own"),
        format!("/api/v1/matches/{game}/replay"),
    ];
    // Bob, before and after he has a team of his own, and somebody without a token.
    for _ in 0..2 {
        for path in &paths {
            let answer = bob.get(path).await;
            assert_eq!(answer.status, 404, "{path}: {}", answer.text());
            assert!(!answer.text().contains("Ann"), "{path}: {}", answer.text());
            assert!(matches!(world.browser().get(path).await.status, 401 | 404), "{path}");
        }
        assert_eq!(send(&mut bob, &format!("/api/v1/versions/{version}/live"), b"").await.status, 404);
        assert_eq!(send(&mut bob, "/api/v1/upload?name=bot.py", b"print('B')").await.status, 200);
    }
    // Nor by sending another team's version into a match, or against one's own.
    for body in [format!("{{\"version\":{version}}}"), format!("{{\"against_version\":{version}}}")] {
        assert_eq!(bob.post_json("/api/v1/challenge", &body).await.status, 422, "{body}");
    }
    let list: Versions = serde_json::from_slice(&bob.get("/api/v1/versions").await.body).expect("a list");
    assert!(list.versions.iter().all(|version| version.team == "Bob"));
    for path in ["/api/v1/matches?team=1", "/api/v1/matches"] {
        assert!(!bob.get(path).await.text().contains(&format!("\"id\":{game},")), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_said_in_a_sentence() {
    let world = World::new().await;
    let (mut judge, mut ann) = (Judge::new(), somebody(&world, "Ann").await);
    let cases: [(&str, &[u8], u16, &str); 10] = [
        ("/api/v1/upload", b"x", 422, "name"),
        ("/api/v1/upload?name=bot.py&only_if_better=maybe", b"x", 422, "openapi.json"),
        ("/api/v1/upload?name=bot.py&better=1", b"x", 422, "better"),
        ("/api/v1/upload?name=bot.zip", b"no zip", 422, "is not a valid archive"),
        ("/api/v1/upload?name=bot.py", b"", 422, "empty"),
        (
            "/api/v1/draft?name=bot.py&against=Zoe",
            b"x",
            422,
            "No live bot is called `Zoe`. On the ladder are: ",
        ),
        ("/api/v1/draft?name=bot.py&map=0", b"x", 422, "counted from 1"),
        ("/api/v1/draft?name=bot.py&map=9", b"x", 422, "there is no map 9; there are 1"),
        ("/api/v1/draft?name=bot.py&seat=3", b"x", 422, "there is no seat 3; there are 2"),
        ("/api/v1/draft?name=bot.py&seed=99999999999999999999", b"x", 422, "openapi.json"),
    ];
    for (path, bytes, status, wanted) in cases {
        let answer = send(&mut ann, path, bytes).await;
        let act = path.split('?').next().expect("a path");
        let problem: Problem = judge.read("post", act, &answer);
        assert_eq!((answer.status, problem.status), (status, status), "{path}: {problem:?}");
        assert!(problem.detail.contains(wanted), "{path}: {problem:?}");
    }
    assert_eq!(send(&mut ann, "/api/v1/upload?name=bot.py", &vec![7; (20 << 20) + 1]).await.status, 413);
    for body in ["", "{", "[]", "{\"map\":\"x\"}", "{\"colour\":1}", "{\"seed\":\"much\"}"] {
        let answer = ann.post_json("/api/v1/challenge", body).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (422, Some("application/problem+json")),
            "{body}"
        );
    }
    for path in ["/api/v1/matches?ended=won", "/api/v1/matches?map=0", "/api/v1/matches?before=x"] {
        let problem: Problem = judge.read("get", "/api/v1/matches", &ann.get(path).await);
        assert_eq!(problem.status, 422, "{path}");
        assert!(!problem.detail.contains("deserialize"), "{problem:?}");
    }
    // An invalid token, and an invalid method.
    let mut wrong = Browser { bearer: Some("x".repeat(43)), ..world.browser() };
    let problem: Problem = judge.read("get", "/api/v1/me", &wrong.get("/api/v1/me").await);
    assert_eq!(problem.status, 401);
    assert!(problem.detail.contains("agon login"), "{problem:?}");
    assert_eq!(ann.post_json("/api/v1/contest", "{}").await.status, 405);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_team_may_do_ends_and_begins_again() {
    let world = World::new().await;
    let mut ann = somebody(&world, "Ann").await;
    world.set(&[("asked_an_hour", "20")]).await;
    for n in 0..20 {
        let answer = send(&mut ann, "/api/v1/draft?name=bot.py", format!("print({n})").as_bytes()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let objects = world.folder.path().join("objects");
    let size = |place: &std::path::Path| std::fs::read_dir(place).expect("there").count();
    let before = size(&objects);
    for n in 0..60 {
        let answer = send(&mut ann, "/api/v1/draft?name=bot.py", format!("more {n}").as_bytes()).await;
        let problem: Problem = serde_json::from_slice(&answer.body).expect("a problem");
        assert_eq!((problem.status, problem.retry_after), (429, Some(3601)));
        assert_eq!(answer.header("retry-after"), Some("3601"));
    }
    assert_eq!(size(&objects), before, "what is refused is not kept");
    world.wait(3_600_000);
    assert_eq!(send(&mut ann, "/api/v1/draft?name=bot.py", b"again").await.status, 200);
    for n in 0..10 {
        assert_eq!(
            send(&mut ann, "/api/v1/upload?name=bot.py", format!("up {n}").as_bytes()).await.status,
            200
        );
    }
    assert_eq!(send(&mut ann, "/api/v1/upload?name=bot.py", b"one more").await.status, 429);
}
