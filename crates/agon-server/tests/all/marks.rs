//! Marks: what is counted is what was played, whatever was ruled meanwhile; as CSV and for Gradescope.

use agon_api::{LadderRow, Marks, Milestone, TeamMarks, TeamStanding, VersionRating};
use agon_contest::FaultsTold;
use agon_server::marks::{PointScale, csv, of_folder};
use agon_store::acts::{
    Add, Added, Annul, GiveRuling, MakeTeam, Promote, SignUp, SignedUp, WhatAgain, Withdraw,
};
use agon_store::reads::{Eyes, Filter};
use agon_store::{Ruling, Sha, VersionId};
use agon_worker::Posted;

use crate::common::{World, run};

impl World {
    /// A version of a team, with the program of one of the bosses, which the test's worker can play.
    async fn entered(&self, team: &str, boss: usize, goes_live: bool) -> VersionId {
        let add = Add {
            contest: self.server.contest(),
            entrant: team.to_owned(),
            boss: false,
            builtin: Some(self.setting.founding.bosses[boss].clone()),
            source: Sha::of(team),
            received: self.now,
            only_if_better: false,
            bytes: 0,
            counts: false,
            actor: "test".to_owned(),
        };
        let added = self.server.store().act(add).await.expect("kept");
        let Added::New(version, _) = added else { panic!("{added:?}") };
        if goes_live {
            self.server.store().act(Promote { version, now: self.now }).await.expect("live");
        }
        version
    }

    /// Makes a team of one, who may leave again.
    async fn founded(&self, name: &str, leaves: bool) {
        let (contest, now, store) = (self.server.contest(), self.now, self.server.store());
        let sign_up =
            SignUp { contest, name: name.to_owned(), password: "hash".to_owned(), invite: None, now };
        let signed = store.act(sign_up).await.expect("answered");
        let SignedUp::New(account) = signed else { panic!("{signed:?}") };
        let team = MakeTeam { contest, account, name: name.to_owned(), code: name.to_owned(), now };
        store.act(team).await.expect("answered");
        if leaves {
            store.act(Withdraw { contest, account, now }).await.expect("deleted");
        }
    }

    async fn marks(&self, builtin: bool) -> Marks {
        let marks = of_folder(self.folder.path(), builtin).await.expect("read");
        assert_eq!(self.server.marks(builtin).await.expect("read"), marks, "the site has the same");
        marks
    }
}

fn of<'a>(marks: &'a Marks, team: &str) -> &'a TeamMarks {
    let found = marks.teams.iter().find(|marks| marks.row.name == team);
    found.unwrap_or_else(|| panic!("{team} is not in {marks:#?}"))
}

#[test]
fn marks_are_of_what_was_played_and_counts() {
    run(async {
        let mut world = World::new(20).await;
        let store = world.server.store().clone();
        let before = world.marks(true).await;
        assert!(before.bosses.len() == 3 && before.upto == 0, "{before:#?}");
        assert!(before.teams.iter().all(|team| team.row.rank.is_none() && team.won + team.lost == 0));
        assert!(csv(&before).lines().count() == 4, "a contest without a match has marks, too");
        // The strongest boss comes last; `Ann` has its program, `Bob` that of the weakest.
        let (ann, _bob) = (world.entered("Ann", 2, true).await, world.entered("Bob", 0, true).await);
        world.founded("Dora", false).await;
        world.founded("Eve", true).await;
        let worker = world.worker("one").await;
        // In three matches of Ann's something happens to her program.
        let mut failed = 0;
        for request in 0..400 {
            if failed == 3 {
                break;
            }
            let Some((_, job)) = world.one(worker, &format!("f{request}")).await else {
                world.tick().await;
                continue;
            };
            assert!(world.server.start(worker, job.attempt, world.now).await.expect("answered"));
            let (mut report, replay) = world.play(&job);
            if let Some(seat) = job.seats.iter().position(|seat| seat.label == "Ann v1") {
                let kind =
                    |own| (own == seat).then(|| if failed == 0 { "crash" } else { "timeout" }.to_owned());
                report.faults = FaultsTold::Public((0..job.seats.len()).map(kind).collect());
                failed += 1;
            }
            assert_eq!(world.post(worker, &job, &report, &replay).await, Posted::Kept);
            world.now = world.now.plus(7_000);
        }
        assert_eq!(failed, 3);
        world.play_on(worker, usize::MAX).await;
        world.entered("Cid", 1, false).await;
        world.server.keep_board(world.now, true).await.expect("kept");
        let marks = world.marks(true).await;
        for team in marks.teams.iter().filter(|team| team.row.rated().is_some()) {
            assert_eq!(team.won + team.drawn + team.lost, team.row.rating.matches, "{team:#?}");
            // The same from the tables of the site.
            let rivals = store.rivals(VersionId(team.row.rating.version)).await.expect("read");
            assert_eq!(team.milestones.len(), if team.row.boss { 2 } else { 3 });
            for milestone in &team.milestones {
                let rival = rivals.iter().find(|rival| rival.name == milestone.boss);
                let (count, points) = rival.map_or((0, 0), |rival| (rival.count, rival.points));
                let Milestone { won, drawn, lost, .. } = milestone;
                assert_eq!((won + drawn + lost) as i64, count, "{milestone:?} of {}", team.row.name);
                assert_eq!((2 * won + drawn) as i64, points, "{milestone:?} of {}", team.row.name);
                let share = (count > 0).then(|| points as f64 / count as f64 / 2.0);
                assert!(
                    milestone.share.zip(share).is_none_or(|(told, own)| (told - own).abs() < 1e-9)
                        && milestone.share.is_some() == share.is_some(),
                    "{milestone:?}"
                );
                assert!(milestone.low <= milestone.share && milestone.share <= milestone.high);
            }
        }
        let own = of(&marks, "Ann");
        assert_eq!((own.standing, own.versions, own.handed_in), (TeamStanding::Placed, 1, Some(1_000_000)));
        let faults: Vec<(&str, u64)> =
            own.faults.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
        assert_eq!(faults, [("crash", 1), ("timeout", 2)]);
        assert_eq!(of(&marks, "Cid").standing, TeamStanding::Waiting);
        assert_eq!(
            (of(&marks, "Dora").standing, &*of(&marks, "Dora").members),
            (TeamStanding::Nothing, &["Dora".to_owned()][..])
        );
        assert!(!format!("{marks:?}").contains("withdrawn"), "who was deleted is on no list: {marks:#?}");
        // Without the built-in bots places are counted among the teams, and the milestones stay.
        let teams = world.marks(false).await;
        let names: Vec<&str> = teams.teams.iter().map(|team| team.row.name.as_str()).collect();
        assert_eq!(names, ["Ann", "Bob", "Cid", "Dora"]);
        assert_eq!((teams.teams[0].row.rank, teams.teams[1].row.rank), (Some(1), Some(2)));
        assert!(teams.teams[1].row.places.is_some_and(|places| places[1] == 2), "of two");
        assert_eq!(teams.teams[0].milestones, own.milestones);
        // A block that is annulled is in no mark, and whoever is out has none.
        let filter = Filter { version: Some(ann), ..Filter::default() };
        let one = store.matches(Eyes::Organiser, &filter).await.expect("read").pop().expect("it played").id;
        let (contest, now) = (world.server.contest(), world.now);
        let (what, reason, actor) = (WhatAgain::Match(one), "a cable".to_owned(), "test".to_owned());
        let annul = Annul { contest, what, reason, actor, now };
        assert_eq!(world.server.annul(annul, now).await.expect("done"), 1);
        let annulled = world.marks(true).await;
        let less = of(&annulled, "Ann");
        assert_eq!(less.row.rating.matches + 2, own.row.rating.matches);
        assert_eq!(less.won + less.drawn + less.lost, less.row.rating.matches);
        let (entrant, reason) = (store.owners().await.expect("known")[&ann], "another's bot".to_owned());
        let (ruling, actor) = (Ruling::Out, "test".to_owned());
        let rule = GiveRuling { contest, ruling, entrant, version: None, reason, actor, now };
        assert!(world.server.rule(rule, now).await.expect("done"));
        let mut ruled = world.marks(true).await;
        PointScale::parse(&format!("{}=1%:10", ruled.bosses[0]), &ruled.bosses)
            .expect("a scale")
            .mark(&mut ruled);
        let out = of(&ruled, "Ann");
        assert_eq!((out.standing, out.row.rank, out.won + out.lost), (TeamStanding::Out, None, 0));
        assert_eq!((out.score, ruled.max_score), (Some(0.0), Some(10.0)));
        world.clean().await;
    });
}

/// A team that won 6 of 10 against one boss, was too strong to meet another, and has a name that no contest would take.
fn example() -> Marks {
    let bosses = ["greedy", "hunter", "new"].map(str::to_owned);
    let milestone = |boss: &String| Milestone { boss: boss.clone(), ..Milestone::default() };
    let mut milestones: Vec<Milestone> = bosses.iter().map(milestone).collect();
    (milestones[0].won, milestones[0].lost) = (6, 4);
    (milestones[0].share, milestones[0].low, milestones[0].high) = (Some(0.6), Some(0.31), Some(0.83));
    milestones[1].expected = Some(0.97);
    let rating = VersionRating {
        elo: Some(-12.5),
        matches: 30,
        group: 1,
        points: Some(0.5),
        ..VersionRating::default()
    };
    let (name, rank, places) = ("=cmd()".to_owned(), Some(2), Some([2, 3]));
    let row = LadderRow { name, rank, places, n: 3, placing: Some(4), rating, ..LadderRow::default() };
    let team = TeamMarks {
        row,
        standing: TeamStanding::Placed,
        members: vec!["Zoë \"Z\" O'Brien".to_owned(), "Ann, B".to_owned()],
        faults: [("too much, output".to_owned(), 2)].into(),
        versions: 4,
        handed_in: Some(1_764_950_400_123),
        milestones,
        ..TeamMarks::default()
    };
    let (contest, game) = ("Cup".to_owned(), "cultist-wars".to_owned());
    Marks { contest, game, upto: 9, bosses: bosses.into(), max_score: None, teams: vec![team] }
}

#[test]
fn a_table_for_spreadsheets_holds_no_formula_and_keeps_every_sign() {
    let mut marks = example();
    PointScale::parse("greedy=60%:10", &marks.bosses).expect("a scale").mark(&mut marks);
    let text = csv(&marks);
    let lines: Vec<&str> = text.split("\r\n").collect();
    assert_eq!(
        lines,
        [
            "team,members,builtin,standing,rank,place_first,place_last,elo,elo_low,elo_high,matches,won,drawn,lost,points_percent,\
             fault_matches,faults,versions,version,newer_version,handed_in,score,max_score,\
             greedy_won,greedy_drawn,greedy_lost,greedy_percent,greedy_percent_low,greedy_percent_high,greedy_percent_expected,\
             hunter_won,hunter_drawn,hunter_lost,hunter_percent,hunter_percent_low,hunter_percent_high,hunter_percent_expected,\
             new_won,new_drawn,new_lost,new_percent,new_percent_low,new_percent_high,new_percent_expected",
            "'=cmd(),\"Zoë \"\"Z\"\" O'Brien; Ann, B\",no,placed,2,2,3,-12.5,,,30,0,0,0,50.0,2,\"too much, output 2\",4,3,4,\
             2025-12-05T16:00:00Z,10,10,6,0,4,60.0,31.0,83.0,,0,0,0,,,,97.0,0,0,0,,,,",
            "",
        ]
    );
    for formula in ["=1", "+1", "-1", "@A1", "＝1", "\t=1"] {
        marks.teams[0].row.name = formula.to_owned();
        let field = formula.replace('\t', " ");
        assert!(csv(&marks).contains(&format!("\r\n'{field},")), "{formula}");
    }
}

#[test]
fn points_are_given_for_shares_and_gradescope_gets_a_test_for_each() {
    let mut marks = example();
    let scale = |text: &str| PointScale::parse(text, &marks.bosses);
    // What was measured decides; where two never met, what their ratings predict; else nothing does.
    let good = scale("greedy=60%:10, greedy=61:5,hunter=90%:20,new=1%:2.5").expect("a scale");
    let told = good.gradescope(&marks.teams[0]);
    assert_eq!(
        told,
        serde_json::json!({
            "score": 30.0,
            "output": "Place 2 to 3 of the ladder: version 3 after 30 rated matches.",
            "tests": [
                { "name": "60 % of the points against greedy", "score": 10.0, "max_score": 10.0,                   "output": "6 won, 0 drawn, 4 lost: 60.0 % of the points (95 % interval 31.0 % to 83.0 %)." },
                { "name": "61 % of the points against greedy", "score": 0.0, "max_score": 5.0,                   "output": "6 won, 0 drawn, 4 lost: 60.0 % of the points (95 % interval 31.0 % to 83.0 %)." },
                { "name": "90 % of the points against hunter", "score": 20.0, "max_score": 20.0,                   "output": "They have not met; their ratings predict 97.0 % of the points." },
                { "name": "1 % of the points against new", "score": 0.0, "max_score": 2.5,                   "output": "They have not met, and their ratings are not comparable yet." },
            ],
            "leaderboard": [
                { "name": "Points", "value": 30.0 },
                { "name": "Rank", "value": 2, "order": "asc" },
                { "name": "Elo", "value": -12.5 },
            ],
        })
    );
    for (text, why) in [
        ("", "write BOSS=PERCENT%:POINTS, such as greedy=60%:10"),
        ("greedy=60%", "write BOSS=PERCENT%:POINTS"),
        ("greedy=x%:3", "write BOSS=PERCENT%:POINTS"),
        ("greedy=60%:NaN", "write BOSS=PERCENT%:POINTS"),
        ("gredy=60%:3", "no built-in bot `gredy` is on the ladder; those there: greedy, hunter, new"),
        ("greedy=0%:3", "0 % is no share of points: more than 0, at most 100"),
        ("greedy=101%:3", "101 % is no share"),
        ("greedy=60%:0", "0 points: more than 0, at most 1000000"),
        ("greedy=60%:-3", "-3 points"),
        ("greedy=60%:3,greedy=60.0%:4", "`greedy=60.0%:4`: this share has its points already"),
    ] {
        let refused = scale(text).expect_err(text);
        assert!(refused.contains(why), "{text}: {refused}");
    }
    let many: Vec<String> = (1..=101).map(|at| format!("greedy={}%:1", f64::from(at) / 2.0)).collect();
    assert_eq!(scale(&many.join(",")), Err("at most 100 shares can have points".to_owned()));
    assert!(PointScale::parse("greedy=60%:3", &[]).unwrap_err().contains("those there: none"));
    good.mark(&mut marks);
    assert_eq!((marks.max_score, marks.teams[0].score), (Some(37.5), Some(30.0)));
}
