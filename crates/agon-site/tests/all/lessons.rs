//! A team's losses: what is found in them is kept for the team alone, answers are judged, positions become tests that uploads are tried in,
//! and an organiser's puzzles name who solved them.

use crate::common::{Browser, World, between, play_as};
use agon_api::{TeamLosses, TeamTests, TriedInPosition, WantedInPosition};
use agon_bot::BotName;
use agon_game::Seat;
use agon_replay::Replay;
use agon_store::{EntrantId, LoginKind, MatchId, VersionState};
use agon_view::{Lesson, LossSearch};
use agon_worker::{Job, Private};

async fn member(world: &World, name: &str) -> (Browser, EntrantId) {
    let account = world.account(name, false).await;
    let team = world.team(account, name).await;
    (world.signed_in(account, LoginKind::Session).await.0, team)
}

/// Plays until no match is left or there are this many; a team's bots play at random.
async fn play(world: &World, count: usize) {
    let random = BotName::parse("builtin:random").expect("a name");
    let worker = world.server.meet("one", "not confined", world.now()).await.expect("met");
    for number in 0..count {
        world.server.tick(world.now()).await.expect("done");
        let request = format!("{}-{number}", world.now().0);
        let granted = world.server.lease(worker, &request, 1, world.now()).await.expect("answered");
        for job in &granted.jobs {
            play_as(world, worker, job, &random).await;
        }
        world.wait(6_000);
        world.server.tick(world.now()).await.expect("done");
    }
}

/// What the engines of a page find in a match, by the quick bot.
fn searched(replay: &[u8], seat: usize) -> Lesson {
    let replay = Replay::read(replay).expect("a replay");
    let quick = agon_games::all()[0].info().policy;
    let mut search =
        LossSearch::open(&replay, Seat::new(seat as u8), Some(quick), None).expect("it can be searched");
    while search.work(100).expect("its own answers") {}
    search.lesson().expect("its own answers").expect("all is done")
}

/// A lost match of a team in which something is to be learnt, and one that it did not lose.
async fn lost(world: &World, team: EntrantId) -> ((MatchId, usize, Lesson), Option<MatchId>) {
    let all = world.server.ladder_matches(team, false, 100).await.expect("read");
    let seat = |played: &agon_store::reads::StoredMatch| {
        played.seats.iter().position(|seat| seat.team == team.0).expect("it sat there")
    };
    let good = all.iter().find(|played| played.seats[seat(played)].rank == Some(1)).map(|played| played.id);
    for played in world.server.ladder_matches(team, true, 100).await.expect("read") {
        let replay = world.browser().get(&format!("/match/{}/replay", played.id)).await;
        let lesson = searched(&replay.body, seat(&played));
        if lesson.puzzle.is_some() {
            return ((played.id, seat(&played), lesson), good);
        }
    }
    panic!("none of {} matches teaches anything", all.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_lost_match_teaches_is_the_teams_until_an_organiser_sets_it_for_all() {
    let world = World::new().await;
    let (mut ann, team) = member(&world, "Ann").await;
    let (mut bob, _) = member(&world, "Bob").await;
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('WAIT')").await.status, 303);
    play(&world, 60).await;
    let ((game, seat, lesson), good) = lost(&world, team).await;
    let puzzle = lesson.puzzle.clone().expect("there is one");
    let page = ann.get("/losses").await;
    assert!(page.heading().starts_with("Ann lost "), "{}", page.heading());
    let open =
        |page: &str| between(page, "id=\"search\" data-open=\"", "\"").parse::<usize>().expect("a number");
    let all = open(&page.text());
    assert!(all > 0 && page.text().contains("Lost matches are searched"), "{}", page.text());
    assert!(page.header("content-security-policy").is_some_and(|policy| policy.contains("wasm-unsafe-eval")));
    // What was found is kept once, if it can be.
    let (game_text, seat_text) = (game.to_string(), (seat + 1).to_string());
    let json = serde_json::to_string(&lesson).expect("JSON");
    let slow = json.replace("\"policy\":\"greedy\"", "\"policy\":\"hunter?nodes=100000000\"");
    let fields = |lesson: &str| {
        [("game", game_text.clone()), ("seat", seat_text.clone()), ("lesson", lesson.to_owned())]
    };
    let send = async |browser: &mut Browser, path: &str, fields: &[(&str, String)]| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        browser.post(path, &fields).await
    };
    for wrong in ["", "{}", &slow] {
        assert_eq!(send(&mut ann, "/losses", &fields(wrong)).await.status, 422, "{wrong}");
    }
    let answer = send(&mut ann, "/losses", &fields(&json)).await;
    let place = answer.header("location").unwrap_or_else(|| panic!("{}", answer.text())).to_owned();
    assert_eq!(send(&mut ann, "/losses", &fields(&json)).await.header("location"), Some(place.as_str()));
    assert_eq!(send(&mut bob, "/losses", &fields(&json)).await.status, 422, "Bob did not lose it");
    if let Some(good) = good {
        let mut fields = fields(&json);
        fields[0].1 = good.to_string();
        assert_eq!(send(&mut ann, "/losses", &fields).await.status, 422, "nobody lost it in this seat");
    }
    let number = place.strip_prefix("/puzzle/").expect("a puzzle").to_owned();
    let page = ann.get(&place).await;
    let percent = |chance: f64| format!("{:.0} %", 100.0 * chance);
    let fell =
        format!("fell from {} to {}", percent(puzzle.best.chance.mean), percent(puzzle.played.chance.mean));
    assert!(page.heading().contains(&fell), "{}", page.heading());
    let text = ann.get("/losses").await.text();
    assert_eq!(open(&text), all - 1);
    assert!(text.contains("0 of 1 done") && text.contains("open"), "{text}");
    // It is nobody else's.
    assert_eq!(bob.get(&place).await.status, 404);
    assert_eq!(world.browser().get(&place).await.status, 404);
    let answer = |puzzle: &str, order: &str, chance: f64| {
        [
            ("puzzle", puzzle.to_owned()),
            ("how", "hand".to_owned()),
            ("answer", order.to_owned()),
            ("chance", chance.to_string()),
            ("error", "0.03".to_owned()),
        ]
    };
    let best = puzzle.best.chance.mean;
    assert_eq!(send(&mut bob, "/losses/answer", &answer(&number, "WAIT", best)).await.status, 422);
    assert_eq!(send(&mut ann, "/losses/answer", &answer(&number, "WAIT", 7.0)).await.status, 422);
    assert_eq!(send(&mut ann, "/losses/answer", &answer(&number, "WAIT", 0.0)).await.status, 303);
    assert!(ann.get("/losses").await.text().contains("1 try"));
    assert_eq!(
        send(&mut ann, "/losses/answer", &answer(&number, &puzzle.best.order, best)).await.status,
        303
    );
    assert!(ann.get("/losses").await.text().contains("1 of 1 done"));
    // An organiser sets it for everybody: who solves it is judged here.
    let organiser = world.account("Rita", true).await;
    let (mut rita, _) = world.signed_in(organiser, LoginKind::Session).await;
    assert_eq!(rita.get(&format!("/organise/puzzle?game={game}&seat={}", seat + 1)).await.status, 200);
    let mut set = fields(&json).to_vec();
    set.push(("concept", "line of <fire>".to_owned()));
    assert_eq!(send(&mut rita, "/organise/puzzle", &set).await.status, 422, "it has no title");
    set.push(("title", "The wall of one".to_owned()));
    let answer_of = send(&mut rita, "/organise/puzzle", &set).await;
    let set_at = answer_of.header("location").unwrap_or_else(|| panic!("{}", answer_of.text())).to_owned();
    let set_number = set_at.strip_prefix("/puzzle/").expect("a puzzle").to_owned();
    let seen = world.browser().get(&set_at).await;
    assert_eq!(seen.heading(), "The wall of one: line of &lt;fire&gt;");
    assert!(!seen.text().contains("Solved by"));
    assert!(world.browser().get("/losses").await.text().contains("The wall of one"));
    // Bob claims more than his order keeps, and then finds it.
    let claim = answer(&set_number, &puzzle.played.order, best);
    assert_eq!(send(&mut bob, "/losses/answer", &claim).await.status, 303);
    assert!(!bob.get(&set_at).await.text().contains("Solved by"));
    let refused = send(&mut bob, "/losses/answer", &answer(&set_number, "0 MOVE 90 90", best)).await;
    assert!(refused.status == 422 && refused.text().contains("CW-"), "{}", refused.text());
    let found = answer(&set_number, &puzzle.best.order, best);
    assert_eq!(send(&mut bob, "/losses/answer", &found).await.status, 303);
    let text = world.browser().get(&set_at).await.text();
    assert!(between(&text, "Solved by", "</section>").contains("Bob"), "{text}");
    assert_eq!(send(&mut bob, "/organise/puzzle/drop", &[("puzzle", set_number.clone())]).await.status, 403);
    let drop = [("puzzle", set_number.clone())];
    assert_eq!(send(&mut rita, "/organise/puzzle/drop", &drop).await.status, 303);
    assert_eq!(bob.get(&set_at).await.status, 404);
    // What is Ann's goes with her.
    assert_eq!(world.server.store().own_puzzles(team).await.expect("read").len(), 1);
    assert_eq!(send(&mut ann, "/losses/test", &[("puzzle", number)]).await.status, 303);
    let account = world.server.store().account_like("Ann").await.expect("read").expect("there").id;
    let act = agon_store::acts::Withdraw { contest: world.server.contest(), account, now: world.now() };
    world.server.store().act(act).await.expect("withdrawn");
    assert_eq!(world.server.store().own_puzzles(team).await.expect("read"), []);
    assert_eq!(world.server.store().positions(team).await.expect("read"), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_upload_is_tried_in_the_positions_that_its_team_keeps() {
    let world = World::new().await;
    let (mut ann, team) = member(&world, "Ann").await;
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('WAIT')").await.status, 303);
    play(&world, 60).await;
    let ((game, seat, lesson), _) = lost(&world, team).await;
    let puzzle = lesson.puzzle.clone().expect("there is one");
    let json = serde_json::to_string(&lesson).expect("JSON");
    let (game_text, seat_text) = (game.to_string(), (seat + 1).to_string());
    let kept = ann.post("/losses", &[("game", &game_text), ("seat", &seat_text), ("lesson", &json)]).await;
    let number = kept.header("location").and_then(|to| to.strip_prefix("/puzzle/")).expect("kept").to_owned();
    for answer in [puzzle.best.order.as_str(), ""] {
        assert_eq!(ann.post("/losses/test", &[("puzzle", &number), ("answer", answer)]).await.status, 303);
    }
    // The same position again replaces what was wanted there.
    let account = world.server.store().account_like("Ann").await.expect("read").expect("there").id;
    let (mut program, _) = world.signed_in(account, LoginKind::Token).await;
    let tests: TeamTests =
        serde_json::from_slice(&program.get("/api/v1/tests").await.body).expect("JSON of tests");
    let [test] = &tests.tests[..] else { panic!("{tests:?}") };
    assert_eq!((test.game, usize::from(test.seat), test.step), (game.0, seat + 1, puzzle.step));
    assert!(test.name.starts_with(&format!("turn {} against ", puzzle.step)), "{}", test.name);
    let least = match &test.wanted {
        WantedInPosition::Keeps { chance, .. } => *chance,
        other => panic!("{other:?}"),
    };
    assert!((puzzle.best.chance.mean - 0.15 - least).abs() < 0.006, "{least}");
    let losses: TeamLosses =
        serde_json::from_slice(&program.get("/api/v1/losses").await.body).expect("JSON of losses");
    assert!(losses.heading.starts_with("Ann lost "), "{losses:?}");
    assert!(ann.get("/losses").await.text().contains("keeps "));
    // The next upload is tried there by whoever checks it, who may fetch that match for it.
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print('MOVE')").await.status, 303);
    let (worker, _) = world.worker("hall 3").await;
    let mut found: Option<Job> = None;
    for number in 0..40 {
        world.server.tick(world.now()).await.expect("done");
        let request = format!("check {number}");
        let granted = world.server.lease(worker.id, &request, 1, world.now()).await.expect("answered");
        found = granted.jobs.into_iter().find(|job| job.tried.is_some());
        if found.is_some() {
            break;
        }
        world.wait(6_000);
    }
    let job = found.expect("a check match");
    let [position] = &job.positions[..] else { panic!("{job:?}") };
    assert_eq!((position.id, usize::from(position.seat), position.step), (test.id, seat + 1, puzzle.step));
    let fetched = world.server.fetch_for(worker.id, &position.replay).await.expect("answered");
    assert_eq!(
        Replay::read(&fetched.expect("it may")).expect("a replay").steps.len() as u32 >= puzzle.step,
        true
    );
    let other = world.worker("hall 4").await.0;
    assert_eq!(world.server.fetch_for(other.id, &position.replay).await.expect("answered"), None);
    // It fails there, and goes live all the same.
    let tried = TriedInPosition {
        id: test.id,
        passed: Some(false),
        answer: Some("13 MOVE 7 3\n".to_owned()),
        percent: Some(30),
        why: None,
    };
    let bots =
        [BotName::parse("builtin:random").expect("a name"), BotName::parse("builtin:idle").expect("a name")];
    let (halt, turn) = (std::sync::atomic::AtomicBool::new(false), std::sync::atomic::AtomicU32::new(0));
    let played = world.server.table().play(&job, &bots, &[0], &halt, &turn).expect("begins");
    let agon_worker::play::MatchEnd::Whole(recorded) = played else { panic!("{played:?}") };
    let whole = recorded.shared_out(world.server.table()).expect("a replay");
    assert!(world.server.start(worker.id, job.attempt, world.now()).await.expect("answered"));
    let own = [Some(Private { positions: vec![tried], ..Private::default() }), None];
    let result = (&whole.observed, &whole.replay[..], &own[..]);
    world.server.post(worker.id, job.attempt, result, world.now()).await.expect("answered");
    for _ in 0..3 {
        world.server.tick(world.now()).await.expect("done");
    }
    let versions = world.server.store().versions().await.expect("read");
    let second = versions.iter().find(|version| version.entrant == "Ann" && version.n == 2).expect("there");
    assert!(matches!(second.state, VersionState::Live | VersionState::Trial), "{:?}", second.state);
    let page = ann.get(&format!("/version/{}", second.id)).await.text();
    assert!(page.contains("0 of 1 tests pass; turn "), "{page}");
    assert!(page.contains("fails: played 13 MOVE 7 3, which keeps 30 %"), "{page}");
    // A test is dropped by its team alone.
    let (mut bob, _) = member(&world, "Bob").await;
    let id = test.id.to_string();
    assert_eq!(bob.post("/losses/test/drop", &[("test", &id)]).await.status, 303);
    assert_eq!(world.server.store().positions(team).await.expect("read").len(), 1);
    assert_eq!(ann.post("/losses/test/drop", &[("test", &id)]).await.status, 303);
    assert_eq!(world.server.store().positions(team).await.expect("read").len(), 0);
}
