//! What a spectator sees: a bot's page, and matches filtered by various criteria.

use crate::common::{self, World};

/// How often a text occurs in a page.
fn count(page: &str, what: &str) -> usize {
    page.matches(what).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bots_page_leads_to_the_matches_behind_each_number() {
    let world = World::new().await;
    // Enough matches that all bosses have met.
    common::play_some(&world, 24).await;
    world.server.keep_board(world.now(), true).await.expect("kept");
    let mut browser = world.browser();
    let shown = world.site.shown().await.unwrap_or_else(|_| panic!("the ladder"));
    let mut teams: Vec<_> = shown.teams.iter().collect();
    // Matches that end by a rule without words of its own are found by their results, and a bot may have no others.
    let mut text = String::new();
    for at in 0..teams.len() {
        let page = browser.get(&format!("/team/{}", teams[at].1.id)).await;
        assert_eq!(page.status, 200);
        text = page.text();
        if text.contains("&amp;reason=") {
            teams.swap(0, at);
            break;
        }
    }
    let (name, team) = teams[0];
    assert!(text.contains(name.as_str()) && text.contains("By map and ending"), "{text}");
    assert!(text.contains("Head to head") && text.contains("expected from the ratings"), "{text}");
    // Against one opponent: no match against a third is listed.
    let (other, rival) = teams[1];
    let third = teams[2].0;
    let to = format!("/matches?team={}&against={}", team.id, rival.id);
    assert!(text.contains(&to.replace('&', "&amp;")), "{text}");
    let page = browser.get(&to).await;
    assert_eq!(page.heading(), format!("{name} against {other}"));
    let body = page.text();
    let table = body.split("<tbody>").nth(1).expect("a table");
    assert!(count(table, "<tr>") > 0 && !table.contains(&format!("<b>{third}</b>")), "{table}");
    // By a reason that the page itself offers.
    let after = text.split("&amp;reason=").nth(1).expect("a way of ending");
    let reason = after.split('"').next().expect("its address").to_owned();
    let all = browser.get(&format!("/matches?team={}", team.id)).await.text();
    let some = browser.get(&format!("/matches?team={}&reason={reason}", team.id)).await.text();
    let none = browser.get(&format!("/matches?team={}&reason=%25", team.id)).await.text();
    // Lists and the match's own page call the steps by the game's word.
    assert!(all.contains(", turn ") && !all.contains(", step "), "{all}");
    let one = format!("/match/{}", common::between(&some, "href=\"/match/", "\""));
    let one = browser.get(&one).await.text();
    assert!(one.contains("Ended after ") && one.contains(" turn"), "{one}");
    let rows = |page: &str| page.split("<tbody>").nth(1).map_or(0, |table| count(table, "<tr>"));
    assert!(rows(&some) > 0 && rows(&some) <= rows(&all), "{} of {}", rows(&some), rows(&all));
    assert_eq!(rows(&none), 0, "a sign that means anything elsewhere means itself here");
    // Programs find the same.
    let mut found = async |query: String| -> Vec<agon_api::Match> {
        let answer = browser.get(&format!("/api/v1/matches?team={}&{query}", team.id)).await;
        serde_json::from_slice::<agon_api::Matches>(&answer.body).expect("matches").matches
    };
    let met = found(format!("against={}", rival.id)).await;
    let has_both = |game: &agon_api::Match| game.seats.iter().all(|seat| [name, other].contains(&&seat.name));
    assert!(!met.is_empty() && met.iter().all(has_both), "{met:?}");
    let ended = found(format!("reason={reason}")).await;
    let reasons: Vec<_> = ended.iter().map(|game| game.reason.as_deref()).collect();
    assert!(!reasons.is_empty() && reasons.iter().all(|own| *own == reasons[0]), "{reasons:?}");
    assert!(found("reason=%25".to_owned()).await.is_empty());
    // An empty form shows all matches.
    let empty = browser.get("/matches?team=&against=&map=").await;
    assert_eq!((empty.status, rows(&empty.text()) > 0), (200, true));
}
