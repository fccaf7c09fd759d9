//! What a program writes belongs to its team and the organiser: from a real bot's standard error up to the page, nobody else
//! gets a byte of it.

use std::path::{Path, PathBuf};

use crate::common::{Browser, World, play_as};
use agon_bot::BotName;
use agon_replay::Replay;
use agon_store::LoginKind;
use agon_worker::BotSource;

/// What the bot writes on standard error with each answer.
const SECRET: &str = "my secret plan is the left flank";

/// The game's Python starter, made to print what nobody else may know.
pub fn talkative(folder: &Path, secret: &str) -> PathBuf {
    let starters = agon_games::all()[0].info().starters;
    let starter = starters.iter().find(|starter| starter.strategy == "bot.py").expect("Python is there");
    for (name, text) in starter.files {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().expect("it lies in the folder")).expect("made");
        let said = format!("import sys as _s\nprint('{secret}', file=_s.stderr, flush=True)\n");
        // A docstring and `__future__` imports must come first in Python; neither is required.
        let text = if *name == "bot.py" { format!("{said}{text}") } else { (*text).to_owned() };
        std::fs::write(file, text).expect("written");
    }
    folder.to_owned()
}

/// Whether the secret is in what this browser gets there.
async fn tells(browser: &mut Browser, path: &str) -> bool {
    let answer = browser.get(path).await;
    let said =
        answer.text().contains("secret plan") || String::from_utf8_lossy(&answer.body).contains("left flank");
    said && answer.status == 200
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_program_writes_is_its_teams_and_the_organisers() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: python3 is not installed");
        return;
    }
    let world = World::new().await;
    let (ann, bob, rita) = (
        world.account("Ann", false).await,
        world.account("Bob", false).await,
        world.account("Rita", true).await,
    );
    world.team(bob, "Others").await;
    let (mut ann, _) = world.signed_in(ann, LoginKind::Session).await;
    let (mut bob, _) = world.signed_in(bob, LoginKind::Session).await;
    let (mut rita, _) = world.signed_in(rita, LoginKind::Session).await;
    let mut nobody = world.browser();
    let version = ann.upload("/upload", &[], "bot.py", b"print('as good as any')").await;
    let version = version.header("location").expect("taken in").to_owned();
    let folder = tempfile::tempdir().expect("a folder");
    let bot = talkative(folder.path(), SECRET);
    let bot = BotName::parse(&bot.to_string_lossy()).expect("a folder");
    let worker = world.server.meet("one", "not confined", world.now()).await.expect("met");
    // Its check match, and then at least one of the ladder.
    let mut ladder = None;
    for number in 0..6 {
        world.server.tick(world.now()).await.expect("done");
        let granted =
            world.server.lease(worker, &number.to_string(), 1, world.now()).await.expect("answered");
        for job in &granted.jobs {
            if job.tried.is_some() {
                world.server.building(worker, job.attempt, world.now()).await.expect("answered");
                world
                    .server
                    .built(worker, job.attempt, b"left flank, built", world.now())
                    .await
                    .expect("kept");
            }
            play_as(&world, worker, job, &bot).await;
            let is_ours = job.seats.iter().any(|seat| matches!(seat.program, BotSource::Source(_)));
            if is_ours && job.tried.is_none() {
                ladder = Some(job.attempt.game);
            }
        }
        world.wait(6_000);
        world.server.tick(world.now()).await.expect("done");
    }
    let page = ann.get(&version).await.text();
    assert!(
        page.contains("left flank, built") && page.contains("no fault") && page.contains(SECRET),
        "{page}"
    );
    assert!(page.len() < 60_000);
    assert!(tells(&mut rita, &version).await, "the organiser sees it, as the page says");
    assert!(!tells(&mut bob, &version).await && !tells(&mut nobody, &version).await);
    assert!(tells(&mut ann, &format!("{version}/log")).await);
    for other in [&mut bob, &mut nobody] {
        assert_ne!(other.get(&format!("{version}/log")).await.status, 200);
    }
    // The ladder match is public, but not what the program wrote in it.
    let game = ladder.expect("it played in the ladder");
    let (page, output, replay, view) = (
        format!("/match/{game}"),
        |seat: usize| format!("/match/{game}/output?seat={seat}"),
        format!("/match/{game}/replay"),
        format!("/match/{game}/view"),
    );
    let text = ann.get(&page).await.text();
    assert!(text.contains(SECRET) && text.contains("Slowest: "), "{text}");
    assert!(tells(&mut rita, &page).await);
    let seats = [output(1), output(2)];
    let mut own = 0;
    for seat in &seats {
        own += usize::from(tells(&mut ann, seat).await);
    }
    assert_eq!(own, 1, "one of the seats is hers");
    for other in [&mut bob, &mut nobody] {
        assert_eq!(other.get(&page).await.status, 200);
        for path in seats.iter().chain([&page, &view, &replay, &"/".to_owned(), &"/matches".to_owned()]) {
            assert!(!tells(other, path).await, "{path}");
        }
        for seat in &seats {
            assert_eq!(other.get(seat).await.status, 404);
        }
        let public = Replay::read(&other.get(&replay).await.body).expect("a replay");
        assert!(public.notes.values().all(Vec::is_empty) && !format!("{public:?}").contains("left flank"));
    }
}
