//! Somebody deletes an account while their bot plays: nothing of them is left in any file of the server or of the machines that play, not
//! of what those machines tell of later, nor on one that was away.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use agon_store::{LogEntry, Store};

use crate::common::{
    Running, agon, block_on, command, folder, good, json, out, site_of, token_of, wait_until,
};
use crate::many::database::{Postgres, files_with};
use crate::many::{WORKERS, enlist, log_of, start_worker};

/// Four times the usual time for an answer, so that a bot may sleep and a match takes long enough to be in the middle of it.
const CONTEST: &str = "game = 'cultist-wars'
time_scale = 4.0
[site]
sign_up = 'open'
bosses = ['builtin:greedy']
[ladder]
matches = 1000000
[sandbox]
trust_bots = true
[workers]
tolerance = 90
";
const NAME: &str = "Rocinante Quijana";
const TEAM: &str = "Windmill Tilters";
/// What is written in each of the person's bots, and by them; never more at once than is stored as it is.
const MARKS: [&str; 5] = ["sancho-in-source", "sancho-built", "sancho-said", "sancho-failed", "sancho-draft"];

fn post(url: &str, path: &str, cookie: &str, fields: &[(&str, &str)]) -> (u16, String) {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().max_redirects(0).http_status_as_error(false).build().new_agent();
    let session = cookie.split_once('=').map_or("", |(_, secret)| secret);
    let token = agon_site::secrets::form_token(session);
    let fields = [("form", token.as_str())].into_iter().chain(fields.iter().copied());
    let request = agent.post(format!("{url}{path}")).header("Origin", url).header("Cookie", cookie);
    let answer = request.send_form(fields).expect("an answer");
    let cookie = answer.headers().get("set-cookie").and_then(|cookie| cookie.to_str().ok()).unwrap_or("");
    (answer.status().as_u16(), cookie.split(';').next().unwrap_or("").to_owned())
}

/// Hands in this file with a token.
fn hand_in(url: &str, path: &str, token: &str, bytes: &[u8]) {
    let request = ureq::post(format!("{url}{path}")).header("Authorization", format!("Bearer {token}"));
    let answer = request.content_type("application/octet-stream").send(bytes).expect("accepted");
    assert_eq!(answer.status().as_u16(), 200);
}

/// A bot's folder as an archive that is not packed, so that what it holds can be found in a file.
fn archive(place: &Path, name: &str, build: &str) -> Vec<u8> {
    let bot = place.join(name);
    std::fs::create_dir(&bot).expect("a folder");
    let run = crate::common::WAITER
        .replace("i=0;", "echo sancho-said >&2; i=0;")
        .replace("echo WAIT", "sleep 0.02; echo WAIT");
    std::fs::write(bot.join("run.sh"), run + "# sancho-in-source\n").expect("a file");
    let toml = format!("build = \"sh -c '{build}'\"\nrun = \"sh run.sh\"\n");
    std::fs::write(bot.join("agon.toml"), toml).expect("a file");
    let packed = Command::new("tar").args(["-cf", "-", "."]).current_dir(&bot).output().expect("tar");
    std::fs::remove_dir_all(bot).expect("our own");
    good(packed).stdout
}

fn nothing_is_left(postgres: Option<&Postgres>) {
    let place = folder();
    let place = place.path();
    let cup = place.join("cup");
    std::fs::create_dir(&cup).expect("a folder");
    std::fs::write(cup.join("contest.toml"), CONTEST).expect("a file");
    if let Some(postgres) = postgres {
        postgres.place(&cup);
    }
    let mut serve = command(place, &["serve", "cup", "-j", "0", "--port", "0"]);
    let mut server =
        Running(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts"));
    let url = site_of(&mut server.0, Duration::from_secs(60));
    let mut workers = WORKERS.map(|name| {
        enlist(place, "cup", name);
        start_worker(place, &url, name)
    });
    let in_files = |needle: &str| {
        let mut files: Vec<PathBuf> = files_with(place, needle);
        files.extend(postgres.map(|postgres| postgres.files_with(needle)).unwrap_or_default());
        files
    };

    // She has a team of another name, a version that plays, one that cannot be built, and a draft.
    let token = token_of(&url, NAME);
    let password = format!("correct-horse-battery-{NAME}");
    let (signed_in, cookie) = post(&url, "/sign-in", "", &[("name", NAME), ("password", &password)]);
    assert_eq!(signed_in, 303);
    assert_eq!(post(&url, "/team/new", &cookie, &[("name", TEAM)]).0, 303);
    hand_in(&url, "/api/v1/upload?name=bot.tar", &token, &archive(place, "bot", "echo sancho-built >&2"));
    let versions = || {
        let status = json(&good(agon(place, &["serve", "status", "cup", "--json"])));
        let all = status["versions"].as_array().cloned().unwrap_or_default();
        let own = all.into_iter().filter(|version| version["entrant"] == TEAM);
        own.filter_map(|version| Some(version["state"].as_str()?.to_owned())).collect::<Vec<_>>()
    };
    wait_until("her first version plays", || versions() == ["live"]);
    let fails = archive(place, "bot", "echo sancho-failed >&2; exit 3");
    hand_in(&url, "/api/v1/upload?name=bot.tar", &token, &fails);
    let draft = format!("{}# sancho-draft\n", crate::kills::WAITER);
    hand_in(&url, "/api/v1/draft?name=bot.py&against=greedy", &token, draft.as_bytes());
    wait_until("her second version has failed", || versions() == ["live", "failed"]);
    let hash = block_on(async {
        let store = Store::open(&cup).await.expect("opens");
        let (accounts, _) =
            store.only().await.expect("read").expect("a contest").accounts(9).await.expect("read");
        let own = accounts.into_iter().find(|account| account.name == NAME).expect("she is there");
        own.password.expect("she has one")
    });
    wait_until("all is in the objects and in the caches", || {
        MARKS.iter().all(|mark| !files_with(place, mark).is_empty())
    });
    // As a server that has run for a while: what is in the database is in its files.
    block_on(async { Store::open(&cup).await.expect("opens").scrub().await.expect("written") });
    let needles: Vec<&str> = MARKS.into_iter().chain([NAME, TEAM, &hash]).collect();
    for needle in &needles {
        assert!(!in_files(needle).is_empty(), "{needle} is looked for where it is");
    }
    let in_cache =
        |name: &str| !files_with(&place.join(format!("cache-{name}")), "sancho-in-source").is_empty();
    let list = || -> serde_json::Value {
        let list =
            ureq::get(format!("{url}/api/v1/matches")).call().expect("an answer").body_mut().read_to_string();
        serde_json::from_str(&list.expect("a list")).expect("JSON")
    };
    wait_until("a match of hers is shown to everybody", || {
        let is_shown = |game: &serde_json::Value| game["kind"] == "ladder" && game["state"] == "valid";
        list()["matches"].as_array().expect("a list").iter().any(is_shown)
    });
    // Nobody else is there for the boss to meet: whatever is played has her in it.
    wait_until("both machines play with her", || {
        let all = json(&good(agon(place, &["serve", "workers", "cup", "--json"])));
        let all = all.as_array().expect("a list");
        WORKERS
            .into_iter()
            .all(|name| in_cache(name) && all.iter().any(|one| one["name"] == name && one["in_hand"] != 0))
    });

    assert_eq!(post(&url, "/account/delete", &cookie, &[("password", &password)]).0, 303);
    let gone = jiff::Timestamp::now().as_millisecond();
    // One machine tells of its match later, the other is away.
    workers[1].0.kill().and_then(|()| workers[1].0.wait()).expect("a child of ours");
    let late = || {
        let log = block_on(log_of(&cup));
        log.iter().any(|row| matches!(row, LogEntry::Result(sealed) if sealed.settled.0 > gone))
    };
    // Where a match ended just before, nothing comes in any more: what comes late is tested with the site as well.
    let came = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        late()
    });
    println!("a result came in later: {came}");
    assert!(in_cache(WORKERS[1]), "it has not heard of it");
    workers[1] = start_worker(place, &url, WORKERS[1]);
    for needle in needles {
        let mut left = Vec::new();
        wait_until(&format!("{needle} is nowhere"), || {
            let now = in_files(needle);
            if now != left {
                println!("{needle}: {now:?}");
                left = now;
            }
            left.is_empty()
        });
    }

    // Pages and commands have a number in her place, and the log is whole.
    good(agon(place, &["serve", "export", "cup", "cup.agon"]));
    good(agon(place, &["verify", "cup.agon"]));
    let status = out(&good(agon(place, &["serve", "status", "cup", "--json"])));
    for shown in [status, list().to_string()] {
        assert!(shown.contains("withdrawn ") && !shown.contains(TEAM), "{shown}");
    }
    // Replays are packed; what they say is read. Those in the contest's own store and in exports name nobody, and those that the site hands
    // out have today's names.
    let objects = agon_store::Objects::open(&cup).expect("a place");
    let log = block_on(log_of(&cup));
    let (mut labels, mut public) = (Vec::new(), 0);
    for row in &log {
        let LogEntry::Result(sealed) = row else { continue };
        let bytes = block_on(objects.get(&sealed.replay, 1 << 20)).expect("kept");
        let replay = agon_replay::Replay::read(&bytes).expect("a replay");
        labels.extend(replay.header.seats.into_iter().map(|seat| seat.label));
        let given = match ureq::get(format!("{url}/match/{}/replay", sealed.game)).call() {
            Ok(given) => given,
            // Drafts and checks are their team's.
            Err(ureq::Error::StatusCode(403 | 404)) => continue,
            Err(error) => panic!("match {}: {error}", sealed.game),
        };
        public += 1;
        let bytes = given.into_body().read_to_vec().expect("a replay");
        let replay = agon_replay::Replay::read(&bytes).expect("a replay");
        let named =
            |seat: &agon_replay::SeatInfo| !seat.label.starts_with("bot ") && !seat.label.contains(TEAM);
        assert!(replay.header.seats.iter().all(named), "{:?}", replay.header.seats);
    }
    println!("{public} of {} replays are public", log.len());
    assert!(public > 0, "none of {} replays is public", log.len());
    assert!(labels.iter().any(|label| label.starts_with("bot ")), "{labels:?}");
    assert!(!labels.iter().any(|label| label.contains(TEAM)), "{labels:?}");
    workers.iter_mut().for_each(Running::ends);
    server.ends();
    good(agon(place, &["serve", "fsck", "cup", "--replays"]));
}

#[test]
fn nothing_is_left_of_who_was_deleted_in_a_file() {
    nothing_is_left(None);
}

#[test]
fn nothing_is_left_of_who_was_deleted_on_a_server() {
    let Some(postgres) = Postgres::start() else { return };
    nothing_is_left(Some(&postgres));
}
