//! People and teams: which secret identifies whom until when, who plays for whom, and what remains of a deleted account.

use agon_api::contest::SignUpWord;
use agon_store::acts::{
    Add, Added, Begin, ConfirmMail, DropFactor, EndSecrets, FoundContest, Invite, JoinTeam, Joined, KeepText,
    LeaveTeam, Left, MakeLink, MakeTeam, NewCode, OfferFactor, Promote, RecordUse, RenewCodes, SetMail,
    SetPassword, SignUp, SignedUp, TakeInSettings, TakeLink, TeamMade, Tell, TextReply, TokensLeft,
    TokensToEnd, UseCode, UseFactor, Which, Withdraw,
};
use agon_store::{
    AccountId, ContestId, ContestSettings, EntrantId, LinkKind, LoginId, LoginKind, Objects, Sha, Store,
    TextId, TextOwner, Time, VersionState,
};
use sqlx::{Connection as _, Executor as _};
use tempfile::TempDir;

use crate::common;

const DAY: i64 = 86_400_000;

struct World {
    folder: TempDir,
    store: Store,
    contest: ContestId,
}

impl World {
    async fn new() -> Self {
        let folder = common::folder();
        let store = Store::open(folder.path()).await.expect("a database");
        let found = FoundContest {
            name: "t".into(),
            game: "g".into(),
            terms: "{}".into(),
            secret: "s".into(),
            now: Time(1),
        };
        let contest = store.act(found).await.expect("founded");
        let sign_up = Some(SignUpWord::Invite);
        let settings = ContestSettings { team_size: 2, sign_up, ..ContestSettings::default() };
        assert!(store.act(TakeInSettings { contest, settings }).await.expect("taken in"));
        Self { folder, store, contest }
    }

    async fn try_sign_up(&self, name: &str, invite: Option<&str>) -> SignedUp {
        let invite = invite.map(str::to_owned);
        let act =
            SignUp { contest: self.contest, name: name.into(), password: "$x".into(), invite, now: Time(2) };
        self.store.act(act).await.expect("answered")
    }

    async fn sign_up(&self, name: &str) -> AccountId {
        let SignedUp::New(id) = self.try_sign_up(name, None).await else { panic!("{name} is new") };
        id
    }

    async fn begin(&self, account: AccountId, secret: &str, kind: LoginKind, now: i64) -> Option<LoginId> {
        let (sha, ends) = (Sha::of(secret), Time(now + 30 * DAY));
        let name = secret.to_owned();
        let act = Begin { account, sha, kind, name, now: Time(now), ends, idle_ms: 7 * DAY };
        self.store.act(act).await.expect("answered")
    }

    async fn known(&self, secret: &str, now: i64) -> Option<String> {
        let found = self.store.known_by(&Sha::of(secret), LoginKind::Session, Time(now)).await.expect("read");
        found.map(|(_, account)| account.name)
    }

    async fn team(&self, account: AccountId, name: &str) -> TeamMade {
        let code = format!("code of {name}");
        let act = MakeTeam { contest: self.contest, account, name: name.into(), code, now: Time(3) };
        self.store.act(act).await.expect("answered")
    }

    async fn join(&self, account: AccountId, code: &str) -> Joined {
        let act = JoinTeam { contest: self.contest, account, code: code.into(), now: Time(4) };
        self.store.act(act).await.expect("answered")
    }

    async fn leave(&self, account: AccountId) -> Left {
        self.store.act(LeaveTeam { contest: self.contest, account, now: Time(5) }).await.expect("answered")
    }

    async fn keep(
        &self,
        account: AccountId,
        team: Option<EntrantId>,
        base: Option<TextId>,
        files: &str,
    ) -> TextReply {
        let owner = TextOwner { contest: self.contest, account, team };
        let (files, note, lines) = (files.to_owned(), Some("a note".to_owned()), [(1, 0), (2, 0)]);
        self.store.act(KeepText { owner, base, files, note, lines, now: Time(6) }).await.expect("answered")
    }

    async fn texts(&self, account: AccountId, team: Option<EntrantId>) -> Vec<TextId> {
        let owner = TextOwner { contest: self.contest, account, team };
        let texts = self.store.of(self.contest).texts(owner).await.expect("read");
        texts.into_iter().map(|text| text.id).collect()
    }

    async fn upload(&self, name: &str, bytes: &[u8]) -> agon_store::VersionId {
        let source = Objects::open(self.folder.path()).expect("a place").put(bytes).await.expect("room");
        let add = Add {
            contest: self.contest,
            entrant: name.into(),
            boss: false,
            builtin: None,
            source,
            received: Time(5),
            only_if_better: false,
            bytes: 1,
            counts: false,
            actor: name.into(),
        };
        let Added::New(version, _) = self.store.act(add).await.expect("added") else { panic!("new") };
        self.store.act(Promote { version, now: Time(6) }).await.expect("live");
        version
    }

    async fn clean(&self) {
        let found = self
            .store
            .fsck(&Objects::open(self.folder.path()).expect("a place"))
            .await
            .expect("looked through");
        assert_eq!(found, []);
    }
}

#[tokio::test]
async fn names_are_taken_once_and_codes_are_asked_for() {
    let world = World::new().await;
    world.sign_up("Ann").await;
    assert_eq!(world.try_sign_up("a-n-n", None).await, SignedUp::Taken("Ann".into()));
    assert_eq!(world.try_sign_up("Bob", Some("GUESS")).await, SignedUp::Uninvited, "there is no code yet");
    let invite =
        |code: &str| Invite { contest: world.contest, code: code.into(), actor: "o".into(), now: Time(2) };
    world.store.act(invite("ROOM7")).await.expect("set");
    assert_eq!(world.try_sign_up("Bob", Some("GUESS")).await, SignedUp::Uninvited);
    assert!(matches!(world.try_sign_up("Bob", Some("ROOM7")).await, SignedUp::New(_)));
    world.store.act(invite("ROOM8")).await.expect("set");
    assert_eq!(
        world.try_sign_up("Cid", Some("ROOM7")).await,
        SignedUp::Uninvited,
        "the old one is good no more"
    );
    assert_eq!(world.store.account_like("BOB").await.expect("read").map(|bob| bob.name), Some("Bob".into()));
    world.clean().await;
}

#[tokio::test]
async fn secrets_end_when_they_are_old_unused_or_ended() {
    let world = World::new().await;
    let (ann, bob) = (world.sign_up("Ann").await, world.sign_up("Bob").await);
    let own = world.begin(ann, "one", LoginKind::Session, 0).await.expect("begun");
    assert_eq!(world.known("one", 7 * DAY - 1).await, Some("Ann".into()));
    assert_eq!(world.known("one", 7 * DAY).await, None, "not used for seven days");
    assert_eq!(world.known("other", 1).await, None);
    for day in 1..30 {
        world.store.act(RecordUse { login: own, now: Time(day * DAY) }).await.expect("kept");
    }
    assert_eq!(world.known("one", 30 * DAY - 1).await, Some("Ann".into()));
    assert_eq!(world.known("one", 30 * DAY).await, None, "thirty days are the end");
    // A token is not a session.
    world.begin(ann, "token", LoginKind::Token, 29 * DAY).await.expect("begun");
    assert_eq!(world.known("token", 29 * DAY).await, None);
    // Nobody can end another's secrets.
    let end = |account, which| world.store.act(EndSecrets { account, which });
    assert_eq!(end(bob, Which::One(own)).await.expect("answered"), 0);
    let two = world.begin(ann, "two", LoginKind::Session, 29 * DAY).await.expect("begun");
    assert_eq!(end(ann, Which::OtherSessions(two)).await.expect("answered"), 1);
    assert_eq!(world.known("one", 29 * DAY).await, None);
    assert_eq!(world.store.logins(ann, Time(29 * DAY)).await.expect("read").len(), 2);
    // A new password ends all sessions, and of the tokens those that it says: never another's.
    let other = world.begin(ann, "other", LoginKind::Token, 29 * DAY).await.expect("begun");
    let bobs = world.begin(bob, "bob's", LoginKind::Token, 29 * DAY).await.expect("begun");
    let set = |tokens| SetPassword {
        contest: world.contest,
        account: ann,
        password: "$y".into(),
        tokens,
        now: Time(29 * DAY),
    };
    let these = TokensToEnd::These(vec![other, other, bobs, LoginId(10_000)]);
    let left = world.store.act(set(these)).await.expect("set");
    assert_eq!(left, TokensLeft { kept: 1, ended: 1 });
    let logins = world.store.logins(ann, Time(29 * DAY)).await.expect("read");
    assert_eq!(logins.iter().map(|login| login.name.as_str()).collect::<Vec<_>>(), ["token"]);
    assert_eq!(world.store.logins(bob, Time(29 * DAY)).await.expect("read").len(), 1);
    let left = world.store.act(set(TokensToEnd::All)).await.expect("set");
    assert_eq!(left, TokensLeft { kept: 0, ended: 1 });
    assert_eq!(world.store.logins(ann, Time(29 * DAY)).await.expect("read"), []);
    world.clean().await;
}

#[tokio::test]
async fn an_account_has_thirty_sessions_and_thirty_tokens_at_most() {
    let world = World::new().await;
    let ann = world.sign_up("Ann").await;
    for number in 0..31 {
        assert!(world.begin(ann, &format!("session {number}"), LoginKind::Session, number).await.is_some());
    }
    assert_eq!(world.known("session 0", 31).await, None, "the one unused for longest made room");
    assert_eq!(world.known("session 1", 31).await, Some("Ann".into()));
    for number in 0..30 {
        assert!(world.begin(ann, &format!("token {number}"), LoginKind::Token, number).await.is_some());
    }
    assert_eq!(
        world.begin(ann, "token 30", LoginKind::Token, 30).await,
        None,
        "a program would not know why it ended"
    );
}

#[tokio::test]
async fn a_link_is_good_once_for_what_and_whom_it_was_made() {
    let world = World::new().await;
    let (ann, bob) = (world.sign_up("Ann").await, world.sign_up("Bob").await);
    let offer = |secret: &str, kind, account| {
        world.store.act(MakeLink { sha: Sha::of(secret), kind, account, now: Time(1), ends: Time(100) })
    };
    let take = |secret: &str, kind, account, now| {
        world.store.act(TakeLink {
            contest: world.contest,
            sha: Sha::of(secret),
            account,
            kind,
            now: Time(now),
        })
    };
    offer("first", LinkKind::Organiser, None).await.expect("made");
    offer("second", LinkKind::Organiser, None).await.expect("made");
    world.begin(ann, "before", LoginKind::Session, 1).await.expect("begun");
    assert!(!take("first", LinkKind::Organiser, ann, 2).await.expect("answered"), "a newer one was made");
    assert!(!take("second", LinkKind::Password, ann, 2).await.expect("answered"));
    assert!(!take("second", LinkKind::Organiser, ann, 100).await.expect("answered"), "too late");
    assert_eq!(world.store.organisers().await.expect("read"), 0);
    assert!(take("second", LinkKind::Organiser, ann, 99).await.expect("answered"));
    assert!(!take("second", LinkKind::Organiser, bob, 99).await.expect("answered"), "once");
    assert!(world.store.account(ann).await.expect("read").expect("there").organiser);
    assert_eq!(world.known("before", 99).await, None, "more rights need a new session");
    offer("reset", LinkKind::Password, Some(bob)).await.expect("made");
    assert!(!take("reset", LinkKind::Password, ann, 3).await.expect("answered"), "it is Bob's");
    assert!(take("reset", LinkKind::Password, bob, 3).await.expect("answered"));
}

#[tokio::test]
async fn an_address_is_confirmed_by_the_link_that_was_sent_there() {
    let world = World::new().await;
    let (contest, now) = (world.contest, Time(5));
    let (ann, bob) = (world.sign_up("Ann").await, world.sign_up("Bob").await);
    let give = |account, mail: &str| SetMail { contest, account, mail: Some(mail.into()), now };
    let with = async || {
        let found = world.store.accounts_with_mail("ANN@x.y", 5).await.expect("read");
        found.into_iter().map(|account| account.id).collect::<Vec<_>>()
    };
    let offer = |secret: &str, kind, account| {
        world.store.act(MakeLink {
            sha: Sha::of(secret),
            kind,
            account: Some(account),
            now: Time(1),
            ends: Time(100),
        })
    };
    let confirm =
        |secret: &str, account, now| ConfirmMail { contest, account, sha: Sha::of(secret), now: Time(now) };
    for account in [ann, bob] {
        world.store.act(give(account, "Ann@x.y")).await.expect("set");
    }
    offer("one", LinkKind::Address, ann).await.expect("made");
    offer("reset", LinkKind::Mailed, ann).await.expect("made");
    for (secret, account, now) in [("one", bob, 6), ("reset", ann, 6), ("one", ann, 100)] {
        assert!(!world.store.act(confirm(secret, account, now)).await.expect("answered"), "{secret} {now}");
    }
    assert_eq!(with().await, []);
    assert!(world.store.act(confirm("one", ann, 99)).await.expect("answered"));
    assert!(!world.store.act(confirm("one", ann, 99)).await.expect("answered"), "once");
    assert_eq!(with().await, [ann], "Bob has not confirmed it");
    // Another address: it is not confirmed, and what was sent to the one before is worth nothing.
    offer("two", LinkKind::Address, ann).await.expect("made");
    offer("password", LinkKind::Password, ann).await.expect("made");
    world.store.act(give(ann, "ann@z.w")).await.expect("set");
    let account = world.store.account(ann).await.expect("read").expect("there");
    assert_eq!((account.mail.as_deref(), account.confirmed), (Some("ann@z.w"), None));
    assert!(!world.store.act(confirm("two", ann, 6)).await.expect("answered"));
    assert_eq!(world.store.link(&Sha::of("reset"), now).await.expect("read"), None);
    assert!(
        world.store.link(&Sha::of("password"), now).await.expect("read").is_some(),
        "an organiser's stays"
    );
    let events = format!("{:?}", world.store.of(contest).events(100).await.expect("read"));
    assert!(!events.contains("x.y") && !events.contains("z.w"), "{events}");
    world.clean().await;
}

#[tokio::test]
async fn a_code_of_a_second_factor_is_accepted_once_and_no_earlier_one_after_it() {
    let world = World::new().await;
    let (contest, account, now) = (world.contest, world.sign_up("Ann").await, Time(5));
    let used =
        async |step| world.store.act(UseFactor { contest, account, step, now }).await.expect("answered");
    let offer = async |secret: &str| {
        world.store.act(OfferFactor { account, secret: secret.into() }).await.expect("offered");
        world.store.factor(account).await.expect("read").expect("there")
    };
    assert!(!used(7).await, "there is none");
    offer("first").await;
    let offered = offer("second").await;
    assert_eq!(
        (offered.secret.as_str(), offered.on),
        ("second", None),
        "not confirmed: a newer one takes its place"
    );
    assert_eq!((used(7).await, used(7).await, used(6).await, used(8).await), (true, false, false, true));
    let kept = offer("third").await;
    assert_eq!((kept.secret.as_str(), kept.on, kept.step), ("second", Some(now), 8), "one that counts stays");
    let codes = vec![Sha::of("code")];
    world.store.act(RenewCodes { account, codes }).await.expect("made");
    for expected in [true, false] {
        let code = UseCode { contest, account, code: Sha::of("code"), now };
        assert_eq!(world.store.act(code).await.expect("answered"), expected);
    }
    world.store.act(DropFactor { contest, account, now }).await.expect("done");
    assert!(world.store.factor(account).await.expect("read").is_none());
    world.clean().await;
}

#[tokio::test]
async fn somebody_plays_for_one_team_and_teams_have_room_for_so_many() {
    let world = World::new().await;
    let mut people = Vec::new();
    for name in ["Ann", "Bob", "Cid"] {
        people.push(world.sign_up(name).await);
    }
    let [ann, bob, cid] = people[..] else { panic!("three") };
    let TeamMade::New(team) = world.team(ann, "Red").await else { panic!("new") };
    assert_eq!(world.team(ann, "Blue").await, TeamMade::Member(team));
    assert_eq!(world.team(bob, "r e d").await, TeamMade::Taken("Red".into()));
    assert_eq!(world.join(bob, "no such").await, Joined::Unknown);
    assert_eq!(world.join(bob, "code of Red").await, Joined::In(team));
    assert_eq!(world.join(bob, "code of Red").await, Joined::Member(team));
    assert_eq!(world.join(cid, "code of Red").await, Joined::Full("Red".into(), 2));
    assert_eq!(world.leave(cid).await, Left::Nowhere);
    assert_eq!(world.leave(bob).await, Left::Gone);
    world.store.act(NewCode { team, code: "new".into() }).await.expect("set");
    assert_eq!(world.join(cid, "code of Red").await, Joined::Unknown);
    assert_eq!(world.join(cid, "new").await, Joined::In(team));
    world.upload("Red", b"bot").await;
    assert_eq!(world.leave(ann).await, Left::Gone);
    assert_eq!(world.leave(cid).await, Left::Last, "the bot on the ladder belongs to somebody");
    // A team that has handed in nothing vanishes, and its name is free again.
    assert!(matches!(world.team(bob, "Blue").await, TeamMade::New(_)));
    assert_eq!(world.leave(bob).await, Left::Gone);
    assert!(matches!(world.team(ann, "Blue").await, TeamMade::New(_)));
    let red = world.store.of(world.contest).entrant(team).await.expect("read").expect("there");
    assert_eq!(red.members, [(cid, "Cid".into())]);
    assert_eq!(world.store.of(world.contest).team_of(bob).await.expect("read"), None);
    world.clean().await;
}

#[tokio::test]
async fn of_who_is_deleted_a_number_is_left() {
    let world = World::new().await;
    let (ann, bob) = (world.sign_up("Ann").await, world.sign_up("Bob").await);
    world.begin(ann, "one", LoginKind::Session, 1).await.expect("begun");
    world.team(ann, "Red_1").await;
    world.team(bob, "Blue").await;
    let own = world.upload("Red_1", b"only mine").await;
    let shared = world.upload("Red_1", b"a starter").await;
    world.upload("Blue", b"a starter").await;
    let tell = |actor: &str, object: &str| Tell {
        contest: world.contest,
        actor: actor.into(),
        verb: "look".into(),
        object: object.into(),
        detail: String::new(),
        now: Time(7),
    };
    world.store.act(tell("Redx1", "Redx1 v1")).await.expect("told");
    let gone = world.store.act(Withdraw { contest: world.contest, account: ann, now: Time(9) }).await;
    assert_eq!(gone.expect("done"), [Sha::of(b"only mine")], "what Blue has as well stays");
    let events = format!("{:?}", world.store.of(world.contest).events(100).await.expect("read"));
    assert!(!events.contains("Ann") && !events.contains("Red_1"), "{events}");
    assert!(events.contains("Redx1 v1") && events.contains("withdrawn 1 v1"), "{events}");
    assert_eq!(world.known("one", 2).await, None);
    let account = world.store.account(ann).await.expect("read").expect("there");
    assert_eq!((account.name.as_str(), account.password), ("withdrawn 1", None));
    assert_eq!(world.begin(ann, "again", LoginKind::Session, 10).await, None);
    let versions = world.store.of(world.contest).versions().await.expect("read");
    let state = |id| versions.iter().find(|version| version.id == id).map(|version| version.state);
    assert_eq!((state(own), state(shared)), (Some(VersionState::Former), Some(VersionState::Former)));
    // The names are free, and nothing is missing in the folder.
    assert!(matches!(world.try_sign_up("Ann", None).await, SignedUp::New(_)));
    std::fs::remove_dir_all(
        world.folder.path().join("objects").join(&Sha::of(b"only mine").to_string()[..2]),
    )
    .expect("removed");
    world.clean().await;
    let twice = world.store.act(Withdraw { contest: world.contest, account: ann, now: Time(9) }).await;
    assert_eq!(twice.expect("done"), []);
}

#[tokio::test]
async fn texts_are_their_authors_for_the_team_and_go_with_the_account() {
    let world = World::new().await;
    let (ann, bob) = (world.sign_up("Ann").await, world.sign_up("Bob").await);
    let TextReply::Kept(first) = world.keep(ann, None, None, "alone").await else { panic!("kept") };
    assert_eq!(world.keep(ann, None, None, "from elsewhere").await, TextReply::Newer);
    // What was written before there was a team is the team's, and what was written for one is not another's.
    let TeamMade::New(red) = world.team(ann, "Red").await else { panic!("new") };
    assert_eq!(world.texts(ann, Some(red)).await, [first]);
    let TextReply::Kept(second) = world.keep(ann, Some(red), Some(first), "for Red").await else {
        panic!("kept")
    };
    assert_eq!(world.texts(ann, None).await, []);
    assert_eq!(world.join(bob, "code of Red").await, Joined::In(red));
    assert_eq!(world.texts(bob, Some(red)).await, [], "nor a colleague's");
    let TextReply::Kept(third) = world.keep(bob, Some(red), None, "Bob's").await else { panic!("kept") };
    assert_eq!(world.leave(ann).await, Left::Gone);
    let TeamMade::New(blue) = world.team(ann, "Blue").await else { panic!("new") };
    assert_eq!(world.texts(ann, Some(blue)).await, []);
    // A team that has handed in nothing vanishes, and what its members have written does not.
    assert_eq!(world.leave(bob).await, Left::Gone);
    assert_eq!(world.texts(bob, None).await, [third]);
    assert_eq!(world.texts(ann, Some(blue)).await, [second, first]);
    assert!(second > first && third > second);
    world.store.act(Withdraw { contest: world.contest, account: bob, now: Time(9) }).await.expect("done");
    assert_eq!(world.texts(bob, None).await, []);
    world.clean().await;
}

/// A contest of the form that an entrant and its bot had before the first release is refused, and stays as it is.
#[tokio::test]
async fn a_contest_from_before_the_first_release_is_refused_and_stays_as_it_is() {
    let folder = common::folder();
    Store::open(folder.path()).await.expect("opens").close().await;
    let mut conn = sqlx::AnyConnection::connect(&common::url(folder.path())).await.expect("opens");
    conn.execute("CREATE TABLE bots (id BIGINT NOT NULL)").await.expect("as then");
    for _ in 0..2 {
        let Err(error) = Store::open(folder.path()).await else { panic!("it is of another form") };
        assert!(error.to_string().contains("play it to its end with that one"), "{error}");
    }
}

/// Names, hashes and labels of a deleted person are in no file, of neither database, and the other people are still there.
#[tokio::test]
async fn nothing_of_who_was_deleted_is_in_any_file() {
    let world = World::new().await;
    let is_on_server = world.folder.path().join(agon_store::DATABASE_AT).exists();
    let in_files = |needle: &str| match is_on_server {
        true => common::POSTGRES.as_ref().expect("it runs").files_with(needle),
        false => common::files_with(world.folder.path(), needle),
    };
    // Enough for several pages, with her among them.
    let mut lasting = None;
    for number in 0..300 {
        let name = if number == 150 { "Rocinante Quijana".to_owned() } else { format!("Person {number}") };
        let account = world.sign_up(&name).await;
        if number == 150 {
            let (name, code) = ("Windmill Tilters".to_owned(), "let-me-join".to_owned());
            let team = MakeTeam { contest: world.contest, account, name, code, now: Time(3) };
            world.store.act(team).await.expect("made");
            let password = "$argon2id$v=19$dulcinea".to_owned();
            let set = SetPassword {
                contest: world.contest,
                account,
                password,
                tokens: TokensToEnd::All,
                now: Time(3),
            };
            world.store.act(set).await.expect("set");
            let mail = Some("knight@mancha.example".to_owned());
            let set = SetMail { contest: world.contest, account, mail, now: Time(3) };
            world.store.act(set).await.expect("set");
            world
                .store
                .act(OfferFactor { account, secret: "helmet-of-mambrino".into() })
                .await
                .expect("offered");
            world.keep(account, None, None, "proverbs-of-sancho").await;
            assert!(world.begin(account, "label of a build server", LoginKind::Token, 4).await.is_some());
            lasting = Some(account);
        }
    }
    let needles = [
        "Rocinante",
        "Windmill",
        &agon_store::names::likeness("Rocinante Quijana"),
        &agon_store::names::likeness("Windmill Tilters"),
        "let-me-join",
        "dulcinea",
        "knight@",
        "mambrino",
        "proverbs-of-sancho",
        "label of a build server",
        &Sha::of("label of a build server").to_string(),
    ];
    // As a server that has run for a while: statistics of the values are kept, and the journal is folded.
    world.store.scrub().await.expect("scrubbed");
    for needle in needles {
        assert!(!in_files(needle).is_empty(), "{needle} is looked for where it is");
    }
    let account = lasting.expect("she has signed up");
    world.store.act(Withdraw { contest: world.contest, account, now: Time(9) }).await.expect("withdrawn");
    // What PostgreSQL's own counting read before may be written after. Agon asks again every day.
    let tries = if is_on_server { 20 } else { 1 };
    for _ in 0..tries {
        world.store.scrub().await.expect("scrubbed");
        if needles.iter().all(|needle| in_files(needle).is_empty()) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    for needle in needles {
        assert_eq!(in_files(needle), Vec::<std::path::PathBuf>::new(), "{needle}");
    }
    assert!(!in_files("Person 149").is_empty());
    let objects = Objects::open(world.folder.path()).expect("a place");
    assert_eq!(world.store.fsck(&objects).await.expect("looked through"), []);
}
