//! What happens to uploads: trials with their verdicts, challenges, drafts, quotas, and who is played first. The worker is simulated: it
//! plays each team's versions with built-in bots.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32};

use agon_bot::BotName;
use agon_ladder::verdict::Says;
use agon_replay::SeatNote;
use agon_replay::data::note;
use agon_server::quotas::MOST_TOLD_A_DAY;
use agon_server::{ContestServer, Drafted, UploadOutcome, Wish, status};
use agon_store::acts::{Added, MatchRequested, OwnBot};
use agon_store::reads::{Eyes, Filter};
use agon_store::{
    EntrantId, EntrantVersion, Kind, MatchId, MatchState, Time, VersionId, VersionState, WorkerId,
};
use agon_worker::play::MatchEnd;
use agon_worker::protocol::ToldFault;
use agon_worker::{BotSource, Job, Posted, PreparedGame, Private};
use tempfile::TempDir;

use crate::common::{self, database, incoming, run};

const GAME: &str = "cultist-wars";

struct World {
    folder: TempDir,
    server: ContestServer,
    table: PreparedGame,
    worker: WorkerId,
    /// The built-in bot as which each uploaded version plays, by its label; `idle` if not listed.
    plays: BTreeMap<String, &'static str>,
    requests: u32,
    /// How many lines each program writes in a match.
    writes: usize,
    now: Time,
}

impl World {
    async fn new(bosses: &[&str], enough: u32) -> Self {
        let (folder, now) = (database::folder(), Time(1_000_000_000));
        let setting = common::setting_of(GAME, 2, bosses, enough);
        let server = ContestServer::open(folder.path(), &setting, now).await.expect("opens");
        let table = PreparedGame::new(&setting.terms).expect("known");
        let worker = server.meet("one", "not confined", now).await.expect("met");
        Self { folder, server, table, worker, plays: BTreeMap::new(), requests: 0, writes: 0, now }
    }

    async fn upload(&self, team: &str, bytes: &str, only_if_better: bool) -> UploadOutcome {
        let file = (team, "bot.py", bytes.as_bytes());
        common::upload(&self.server, file, only_if_better, self.now).await.expect("answered")
    }

    async fn tick(&self) {
        self.server.tick(self.now).await.expect("done");
    }

    async fn versions(&self) -> Vec<EntrantVersion> {
        self.server.store().versions().await.expect("read")
    }

    async fn version(&self, team: &str, n: i64) -> EntrantVersion {
        let all = self.versions().await;
        all.into_iter().find(|version| version.entrant == team && version.n == n).expect("it is there")
    }

    async fn entrant(&self, team: &str) -> EntrantId {
        let all = self.server.store().entrants().await.expect("read");
        all.into_iter().find(|entrant| entrant.name == team).expect("it is there").id
    }

    /// Plays what is granted, up to `most` at once. Returns the labels of the seats of each match; empty if there is nothing to do.
    async fn play(&mut self, most: usize) -> Vec<Vec<String>> {
        self.requests += 1;
        self.now = self.now.plus(1_000);
        let request = self.requests.to_string();
        let granted = self.server.lease(self.worker, &request, most, self.now).await.expect("answered");
        let mut played = Vec::new();
        for job in granted.jobs {
            if job.tried.is_some() {
                assert!(self.server.building(self.worker, job.attempt, self.now).await.expect("answered"));
                self.server.built(self.worker, job.attempt, b"built", self.now).await.expect("answered");
            }
            assert!(self.server.start(self.worker, job.attempt, self.now).await.expect("answered"));
            self.one(&job).await;
            played.push(job.seats.iter().map(|seat| seat.label.clone()).collect());
        }
        self.tick().await;
        played
    }

    async fn one(&self, job: &Job) {
        let bots: Vec<BotName> = job
            .seats
            .iter()
            .map(|seat| match &seat.program {
                BotSource::Builtin(text) => BotName::parse(text).expect("a name"),
                BotSource::Source(_) => {
                    let bot = self.plays.get(&seat.label).copied().unwrap_or("idle");
                    BotName::parse(&format!("builtin:{bot}")).expect("a name")
                }
            })
            .collect();
        let played = self.table.play(job, &bots, &[0], &AtomicBool::new(false), &AtomicU32::new(0));
        let MatchEnd::Whole(recorded) = played.expect("begins") else { panic!("it is whole") };
        let whole = recorded.shared_out(&self.table).expect("a replay");
        // What a program would have said is for its author alone.
        let told = |seat: &str| Private {
            faults: vec![ToldFault {
                step: 0,
                turn: "turn 1".into(),
                kind: "stray output".into(),
                breaks: false,
                what: format!("told to {seat}"),
                fix: None,
            }],
            notes: (0..self.writes).map(written).collect(),
            left_out: 0,
            positions: Vec::new(),
        };
        let own: Vec<Option<Private>> = job
            .seats
            .iter()
            .map(|seat| matches!(seat.program, BotSource::Source(_)).then(|| told(&seat.label)))
            .collect();
        let post = (&whole.observed, &whole.replay[..], &own[..]);
        let posted = self.server.post(self.worker, job.attempt, post, self.now).await.expect("answered");
        assert_eq!(posted, Posted::Kept);
    }

    async fn clean(&self) {
        let (_, found) = status::fsck(self.folder.path(), true).await.expect("looked through");
        assert_eq!(found, Vec::<String>::new());
    }
}

/// A line on standard error.
fn written(number: usize) -> SeatNote {
    SeatNote { step: 0, kind: note::STDERR.into(), text: format!("{number}: all is well\n") }
}

fn new(uploaded: &UploadOutcome) -> (VersionId, i64) {
    match uploaded {
        UploadOutcome::Added(Added::New(version, n)) => (*version, *n),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_new_version_gets_its_verdict_and_a_worse_one_goes_live_only_when_that_is_wanted() {
    run(async {
        let mut world = World::new(&["greedy"], 20).await;
        world.plays.insert("Ann v2".into(), "hunter?nodes=50");
        new(&world.upload("Ann", "one", false).await);
        while world.version("Ann", 1).await.state != VersionState::Live {
            world.tick().await;
            world.play(1).await;
        }
        let own = world.server.store().own_version(world.entrant("Ann").await, 1).await.expect("read");
        let own = own.expect("it is theirs");
        let states: Vec<VersionState> = own.steps.iter().map(|(state, _)| *state).collect();
        use VersionState::{Building, Checking, Live, Received};
        assert_eq!(states, [Received, Building, Checking, Live]);
        assert_eq!(world.server.build_log(&own).await.expect("kept"), "built");
        assert!(world.server.verdict(own.version.id).await.expect("read").is_none(), "there was none before");
        // A better one: it goes live at once, and the verdict follows.
        let (second, _) = new(&world.upload("Ann", "two", false).await);
        for _ in 0..2_000 {
            world.tick().await;
            world.play(4).await;
            if world.server.verdict(second).await.expect("read").is_some_and(|(_, _, ended)| ended) {
                break;
            }
        }
        assert_eq!(world.version("Ann", 2).await.state, VersionState::Live);
        let (verdict, against, ended) = world.server.verdict(second).await.expect("read").expect("there");
        assert_eq!((verdict.says, against, ended), (Says::Better, 1, true), "{verdict}");
        assert!(verdict.blocks >= 40 && verdict.blocks <= 50, "{verdict:?}");
        // A worse one that may go live only if it is better never does.
        let (third, _) = new(&world.upload("Ann", "three", true).await);
        for _ in 0..2_000 {
            world.tick().await;
            world.play(4).await;
            let state = world.version("Ann", 3).await.state;
            assert_ne!(state, VersionState::Live);
            if state == VersionState::Former {
                break;
            }
        }
        world.tick().await;
        let declined = world.version("Ann", 3).await;
        assert_eq!(declined.state, VersionState::Former);
        let why = declined.reason.expect("it says why");
        let told =
            ["not shown to be better than v2, which stays live: ", "worse than v2, which stays live: "];
        assert!(told.iter().any(|told| why.starts_with(told)) && !why.contains("+0 ±"), "{why}");
        assert_eq!(world.version("Ann", 2).await.state, VersionState::Live);
        // One act goes back to an earlier version, and uploading the same bytes again has the same effect.
        assert!(world.server.go_back(third, "ann", world.now).await.expect("answered"));
        assert_eq!(world.version("Ann", 2).await.state, VersionState::Former);
        assert_eq!(world.upload("Ann", "two", false).await, UploadOutcome::Back(second, 2));
        assert_eq!(world.version("Ann", 2).await.state, VersionState::Live);
        world.clean().await;
    });
}

#[test]
fn challenges_and_drafts_are_theirs_who_ask_and_drafts_are_forgotten_after_a_day() {
    run(async {
        let mut world = World::new(&["idle"], 4).await;
        new(&world.upload("Ann", "one", false).await);
        new(&world.upload("Bob", "two", false).await);
        for _ in 0..40 {
            world.tick().await;
            world.play(8).await;
        }
        let (ann, bob) = (world.entrant("Ann").await, world.entrant("Bob").await);
        let (one, two) = (world.version("Ann", 1).await.id, world.version("Bob", 1).await.id);
        let wish = |against| Wish { entrant: ann, against, map: 1, seed: 77, seat: 1 };
        let sealed = status::status(world.folder.path()).await.expect("looked at").counts.sealed;
        // A draft: no version, no row of the log, and invisible to others.
        let file = incoming(&world.server, b"draft").await;
        let draft = world.server.draft(&wish(two), "bot.py", file, world.now).await.expect("kept");
        let Drafted::Kept(own @ OwnBot::Draft(draft, 7..)) = draft else { panic!("{draft:?}") };
        let asked = world.server.ask(own, wish(two), world.now).await.expect("answered");
        let MatchRequested::Planned(game) = asked else { panic!("{asked:?}") };
        let seats = world.play(1).await;
        assert_eq!(seats[0].len(), 2);
        let found = world.server.store().asked(ann, game).await.expect("read").expect("it is theirs");
        assert_eq!((found.kind, found.state, found.map, found.seed), (Kind::Draft, MatchState::Valid, 1, 77));
        assert!(found.outcome.is_some() && found.replay.is_some() && found.seats[0] == two);
        let own = world.server.own_of_match(ann, game).await.expect("read");
        assert_eq!((own.len(), own[0].0), (1, 1), "their own seat and no other");
        assert!(own[0].1.faults[0].what.starts_with("told to Ann"));
        assert!(world.server.store().asked(bob, game).await.expect("read").is_none());
        let team = agon_store::reads::Eyes::Team(bob);
        let store = world.server.store();
        let seen = store.one_match(team, game).await.expect("read");
        assert!(seen.is_none(), "nor may the other see the match");
        assert_eq!(world.versions().await.iter().filter(|version| version.entrant == "Ann").count(), 1);
        let after = status::status(world.folder.path()).await.expect("looked at").counts.sealed;
        assert_eq!(after, sealed);
        // What cannot be played is not kept either.
        let before = world.server.objects().list().await.expect("listed");
        for wrong in [wish(VersionId(99)), Wish { map: 9, ..wish(two) }, Wish { seat: 2, ..wish(two) }] {
            let file = incoming(&world.server, b"never played").await;
            let draft = world.server.draft(&wrong, "bot.py", file, world.now).await;
            assert!(matches!(draft, Err(_) | Ok(Drafted::NotThere)), "{draft:?}");
        }
        assert_eq!(world.server.objects().list().await.expect("listed"), before);
        // A challenge: against any live bot, and against one's own.
        for against in [two, one] {
            let asked =
                world.server.ask(OwnBot::Version(one), wish(against), world.now).await.expect("answered");
            assert!(matches!(asked, MatchRequested::Planned(_)), "{asked:?}");
        }
        let theirs = world.server.ask(OwnBot::Version(two), wish(one), world.now).await.expect("answered");
        assert_eq!(theirs, MatchRequested::NotThere, "the other's bot is not theirs to play");
        let nobody = world.server.ask(OwnBot::Version(one), wish(VersionId(99)), world.now).await;
        assert_eq!(nobody.expect("answered"), MatchRequested::NotThere);
        for (map, seat) in [(9, 0), (-1, 0), (0, 2)] {
            let wrong = Wish { map, seat, ..wish(two) };
            assert!(world.server.ask(OwnBot::Version(one), wrong, world.now).await.is_err(), "{map} {seat}");
        }
        // Twenty within an hour, and the refusal says when there is room again.
        for _ in 3..20 {
            let asked = world.server.ask(OwnBot::Version(one), wish(two), world.now).await.expect("answered");
            assert!(matches!(asked, MatchRequested::Planned(_)), "{asked:?}");
        }
        let many = world.server.ask(OwnBot::Version(one), wish(two), world.now).await.expect("answered");
        let quota = world.server.store().quota(ann, world.now).await.expect("read").asked_an_hour;
        let MatchRequested::TooMany(until) = many else { panic!("{many:?}") };
        assert_eq!((quota.used, quota.until), (20, Some(until)));
        for _ in 0..40 {
            world.play(8).await;
        }
        world.clean().await;
        world.now = until.plus(1);
        let again = world.server.ask(OwnBot::Version(one), wish(two), world.now).await.expect("answered");
        assert!(matches!(again, MatchRequested::Planned(_)), "{again:?}");
        // After a day nothing is left of the draft.
        world.now = world.now.plus(86_400_000);
        world.tick().await;
        assert!(world.server.store().asked(ann, game).await.expect("read").is_none());
        assert!(world.server.object(&draft, 1 << 20).await.is_err());
        world.play(8).await;
        world.clean().await;
    });
}

#[test]
fn uploads_are_counted_and_a_newer_one_takes_the_place_of_one_that_waits() {
    run(async {
        let mut world = World::new(&["idle"], 4).await;
        let (first, _) = new(&world.upload("Ann", "0", false).await);
        world.tick().await;
        new(&world.upload("Ann", "1", false).await);
        let old = world.version("Ann", 1).await;
        assert_eq!(old.state, VersionState::Failed);
        let cause = old.cause.expect("it says why");
        assert!(cause.what.contains("v2 was submitted before"), "{cause}");
        let played = world.play(1).await;
        assert_eq!(played, [["Ann v2", "idle"]], "the check that was planned is the newer one's");
        // A version whose failure was our fault may come again.
        assert_eq!(world.upload("Ann", "0", false).await, UploadOutcome::Added(Added::New(first, 1)));
        for upload in 2..10 {
            new(&world.upload("Ann", &upload.to_string(), false).await);
        }
        let kept = async || world.server.objects().list().await.expect("a list").len();
        let before = kept().await;
        let full = world.upload("Ann", "10", false).await;
        assert_eq!(kept().await, before, "what is refused fills no disk");
        let UploadOutcome::Added(Added::TooMany(Some(until))) = full else { panic!("{full:?}") };
        let ann = world.entrant("Ann").await;
        let quota = world.server.store().quota(ann, world.now).await.expect("read").uploads_an_hour;
        assert_eq!((quota.used, quota.most, quota.until), (10, 10, Some(until)));
        assert!(matches!(world.upload("Ann", "1", false).await, UploadOutcome::Added(Added::Same(_, 2, _))));
        world.now = until.plus(1);
        new(&world.upload("Ann", "10", false).await);
        // Forty within a day.
        for upload in 11..40 {
            world.now = world.now.plus(1_200_000);
            new(&world.upload("Ann", &upload.to_string(), false).await);
        }
        world.now = world.now.plus(1_200_000);
        let full = world.upload("Ann", "x", false).await;
        assert!(
            matches!(full, UploadOutcome::Added(Added::TooMany(Some(until))) if until > world.now),
            "{full:?}"
        );
        for _ in 0..20 {
            world.tick().await;
            world.play(8).await;
        }
        world.clean().await;
    });
}

#[test]
fn one_upload_gets_its_first_ten_matches_before_anything_else() {
    run(async {
        let mut world = World::new(&["idle", "random", "greedy"], 1_000).await;
        new(&world.upload("Ann", "one", false).await);
        for _ in 0..40 {
            world.tick().await;
            world.play(8).await;
        }
        // Ann hands in the next one, and a trial is also waiting to be played.
        new(&world.upload("Ann", "two", false).await);
        world.tick().await;
        while world.version("Ann", 2).await.state != VersionState::Live {
            world.play(1).await;
        }
        let mut seats = Vec::new();
        while seats.len() < 10 {
            seats.extend(world.play(1).await);
        }
        let own = |seats: &Vec<String>| seats.iter().any(|label| label == "Ann v2");
        // Matches granted before it went live are finished first.
        let from = seats.iter().position(own).expect("it plays");
        assert!(from <= 2 && seats[from..].iter().all(own), "{seats:?}");
        world.clean().await;
    });
}

#[test]
fn forty_uploads_each_get_four_matches_before_any_gets_twenty() {
    run(async {
        let mut world = World::new(&["idle"], 1_000).await;
        for team in 0..40 {
            new(&world.upload(&format!("team {team}"), &team.to_string(), false).await);
            world.now = world.now.plus(7_000);
        }
        let mut had: BTreeMap<String, u32> = BTreeMap::new();
        let mut checked = 0;
        for _ in 0..2_000 {
            world.tick().await;
            for seats in world.play(8).await {
                let check = checked < 40 && seats[1] == "idle" && !had.contains_key(&seats[0]);
                checked += usize::from(check);
                for label in seats.into_iter().filter(|label| label != "idle") {
                    *had.entry(label).or_default() += u32::from(!check);
                }
            }
            if had.len() == 40 && had.values().all(|own| *own >= 4) {
                break;
            }
            assert!(had.values().all(|own| *own < 20), "{had:?}");
        }
        assert!(had.len() == 40 && had.values().all(|own| *own >= 4), "{had:?}");
        world.clean().await;
    });
}

/// A bot that writes as much as it can: what is kept of it is packed, bounded for a match and for a day, and says what is missing.
#[test]
fn what_programs_write_is_packed_and_has_an_end_for_each_day() {
    run(async {
        let mut world = World::new(&["idle"], 400).await;
        new(&world.upload("Ann", "one", false).await);
        new(&world.upload("Bob", "two", false).await);
        world.writes = 2_000;
        for _ in 0..10 {
            world.tick().await;
            world.play(8).await;
        }
        let ann = world.entrant("Ann").await;
        let game = last_of(&world, ann).await;
        let own = world.server.own_of_match(ann, game).await.expect("read");
        assert_eq!(own[0].1.notes.len(), 2_000, "all of it is there");
        let (_, sha) = world.server.store().own_of_match(ann, game).await.expect("read")[0];
        let bytes = world.server.object(&sha, 1 << 20).await.expect("there").len();
        let text = serde_json::to_vec(&own[0].1).expect("plain data").len();
        assert!(bytes * 10 < text, "{bytes} of {text}");
        // A day's worth was written: the rest of the day hardly anything is kept, and its place says so.
        world.server.quotas().tell(ann, MOST_TOLD_A_DAY, world.now);
        world.tick().await;
        world.play(8).await;
        world.tick().await;
        let game = last_of(&world, ann).await;
        let own = world.server.own_of_match(ann, game).await.expect("read").remove(0).1;
        assert_eq!((own.notes.len(), own.left_out), (1, 2_000));
        assert!(own.notes[0].text.contains("agon kept nothing of what the bot wrote here"), "{own:?}");
        assert!(own.faults[0].what.starts_with("told to Ann"), "why it failed is kept");
        let bob = world.entrant("Bob").await;
        let others = world.server.own_of_match(bob, last_of(&world, bob).await).await.expect("read");
        assert_eq!(others[0].1.notes.len(), 2_000, "others lose nothing");
        world.clean().await;
    });
}

/// The last match that an entrant's bot has played.
async fn last_of(world: &World, entrant: EntrantId) -> MatchId {
    let filter = Filter { team: Some(entrant), ..Filter::default() };
    let all = world.server.store().matches(Eyes::Organiser, &filter).await;
    all.expect("read").first().expect("it has played").id
}
