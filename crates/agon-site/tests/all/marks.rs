//! Marks are downloaded in the cockpit, by organisers alone.

use agon_store::LoginKind;
use serde_json::Value;

use crate::common::{World, play_some, sign_up};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_organiser_downloads_the_marks_and_nobody_else_does() {
    let world = World::new().await;
    let boss = world.account("Rita", true).await;
    let mut rita = world.signed_in(boss, LoginKind::Session).await.0;
    let mut ann = sign_up(&world, "Ann", "").await;
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('ann')").await.status, 303);
    play_some(&world, 4).await;
    let cockpit = rita.get("/organise").await.text();
    for part in ["action=\"/organise/marks\"", "name=\"without_builtin\"", "name=\"form\" value=\"csv\""] {
        assert!(cockpit.contains(part), "{part} is not in {cockpit}");
    }
    let all = rita.get("/organise/marks?form=csv").await;
    assert_eq!((all.status, all.header("content-type")), (200, Some("text/csv; charset=utf-8")));
    let name = all.header("content-disposition").expect("it is saved under a name").to_owned();
    assert!(name.contains("filename=\"marks-autumn-cup-2026-11-23-") && name.ends_with(".csv\""), "{name}");
    let text = all.text();
    let line = text.lines().find(|line| line.starts_with("Ann,")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.starts_with("Ann,Ann,no,"), "the team and its members: {line}");
    assert!(text.contains("\r\n") && text.contains(",yes,"), "the built-in bots have lines: {text}");
    let teams = rita.get("/organise/marks?form=json&without_builtin=yes").await;
    let teams: Value = serde_json::from_str(&teams.text()).expect("JSON");
    let names: Vec<&str> =
        teams["teams"].as_array().expect("a list").iter().filter_map(|team| team["name"].as_str()).collect();
    assert_eq!((names, teams["contest"].as_str()), (vec!["Ann"], Some("Autumn Cup")));
    assert!(teams["bosses"].as_array().is_some_and(|bosses| !bosses.is_empty()), "{teams}");
    assert_eq!(rita.get("/organise/marks?form=xlsx").await.status, 404);
    assert_eq!(ann.get("/organise/marks?form=csv").await.status, 403);
    assert_eq!(
        world.browser().get("/organise/marks?form=csv").await.header("location"),
        Some("/sign-in?next=/organise/marks%3Fform%3Dcsv")
    );
}
