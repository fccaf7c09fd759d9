//! Each route as nobody, as somebody else, as its owner, and as an organiser: what the table of rights says, and nothing
//! else.

use crate::common::{Answer, Browser, World};
use agon_server::{Upload, UploadOutcome};
use agon_site::rights::{Actor, Object, Person, Verb, may};
use agon_site::routes::{self, Method, Route, RouteObject};
use agon_store::acts::Added;
use agon_store::{AccountId, EntrantId, LoginId, LoginKind};

/// Who tries.
struct Who {
    name: &'static str,
    actor: Actor,
    browser: Browser,
}

fn person(account: AccountId, login: LoginId, organiser: bool, team: Option<EntrantId>) -> Actor {
    Actor::Person(Person { account, name: String::new(), organiser, team, login })
}

/// Whether the answer lets the caller in. What follows may still be wrong in other ways.
fn lets_in(answer: &Answer) -> bool {
    let to_sign_in = answer.header("location").is_some_and(|to| to.starts_with("/sign-in?next="));
    !to_sign_in && !matches!(answer.status, 0 | 401 | 403 | 404 | 405 | 500)
}

async fn try_out(route: &Route) {
    let world = World::new().await;
    let (owner, other) = (world.account("Owner", false).await, world.account("Other", false).await);
    let organiser = world.account("Boss", true).await;
    let team = world.team(owner, "Owners").await;
    let others = world.team(other, "Others").await;
    let mut file = world.server.objects().begin().expect("room");
    file.add(b"bytes").await.expect("room");
    let upload = Upload { entrant: "Owners", name: "bot.py", file, only_if_better: false, actor: "Owner" };
    let added = world.server.upload(upload, world.now()).await.expect("kept");
    let UploadOutcome::Added(Added::New(version, _)) = added else { panic!("new") };
    let kind = if route.is_api() { LoginKind::Token } else { LoginKind::Session };
    let mut all = vec![Who { name: "nobody", actor: Actor::Nobody, browser: world.browser() }];
    let mut login_of_owner = LoginId(0);
    for (name, account, is_organiser, team) in [
        ("another", other, false, Some(others)),
        ("an organiser", organiser, true, None),
        ("the owner", owner, false, Some(team)),
    ] {
        let (browser, login) = world.signed_in(account, kind).await;
        login_of_owner = login;
        all.push(Who { name, actor: person(account, login, is_organiser, team), browser });
    }
    let (worker, browser) = world.worker("hall 3").await;
    all.push(Who { name: "a worker", actor: Actor::Worker(worker), browser });
    for who in &mut all {
        let own_team = match &who.actor {
            Actor::Person(Person { team: Some(team), .. }) => Object::Team(*team),
            _ => Object::Contest,
        };
        let (object, id) = match route.of {
            RouteObject::Contest => (Object::Contest, 0),
            RouteObject::OwnTeam => (own_team, 0),
            RouteObject::Team => (Object::Team(team), team.0),
            RouteObject::Version => (Object::Team(team), version.0),
            RouteObject::Login => (Object::Account(owner), login_of_owner.0),
        };
        let path = route.path.replace("{id}", &id.to_string()).replace("{file}", "starter-python.tar.gz");
        let answer = match (route.method, route.body) {
            (Method::Get, _) => who.browser.get(&path).await,
            (Method::Delete, _) => who.browser.ask("DELETE", &path, "", b"").await,
            (Method::Post, routes::Body::Upload) => who.browser.upload(&path, &[], "bot.py", b"pass").await,
            (Method::Post, _) => who.browser.post(&path, &[]).await,
            (Method::Put, _) => who.browser.ask("PUT", &path, "application/json", b"{}").await,
        };
        // A reader of metrics is known by its address, whoever it is.
        let actor = if route.verb == Verb::Measure { &Actor::Meter } else { &who.actor };
        let allowed = may(actor, route.verb, object);
        // A match that does not exist is nothing to anybody, and neither is a part of an app that has none of this name.
        let is_missing = route.of == RouteObject::Contest
            && (route.path.contains("{id}") || route.path.contains("/parts/"))
            && answer.status == 404;
        assert!(
            lets_in(&answer) == allowed || (is_missing && allowed),
            "{:?} {path} as {}: {} though the right says {allowed}: {}",
            route.method,
            who.name,
            answer.status,
            answer.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_lets_in_whom_the_table_says() {
    let mut count = 0;
    for route in routes::all() {
        try_out(&route).await;
        count += 1;
    }
    assert!(count > 10);
}

#[tokio::test]
async fn what_is_no_route_is_nothing_and_a_wrong_method_says_so() {
    let world = World::new().await;
    let mut browser = world.browser();
    for path in ["/nowhere", "/version/1/secret", "/..%2f..%2fetc/passwd", "/team/x"] {
        let answer = browser.get(path).await;
        assert_eq!((answer.status, answer.heading().as_str()), (404, "Not found"), "{path}");
    }
    assert_eq!(browser.post("/ladder", &[]).await.status, 405);
    let answer = browser.get("/api/v1/nowhere").await;
    assert_eq!((answer.status, answer.header("content-type")), (404, Some("application/problem+json")));
}
