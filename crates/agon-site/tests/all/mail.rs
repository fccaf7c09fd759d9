//! Mail: an address that its owner confirms, and a way back to the account that tells nobody who has one.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{self, Answer, Browser, PASSWORD, World, between};
use agon_server::mail::{MailAddress, MailMessage};
use agon_site::Way;
use agon_store::LoginKind;

const FRESH: &str = "melon brass hat dune";

/// A section `[site]` whose program puts each message into a file of this folder.
fn section(folder: &Path) -> String {
    let place = folder.display();
    let script = format!("f=$(mktemp {place}/new.XXXXXX) && cat > $f && mv $f {place}/$(basename $f).mail");
    format!("sign_up = \"open\"\ntitle = \"Autumn Cup\"\nmail = ['sh', '-c', '{script}']")
}

/// A world that sends mail, and where it arrives.
async fn world() -> (World, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    (World::with(&section(folder.path()), Way::Loopback).await, folder)
}

/// Waits until this holds, at most for half a minute.
async fn until(mut holds: impl FnMut() -> bool, what: &str) {
    let end = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// All that has arrived, once it is this many, and takes it out.
async fn mails(folder: &Path, count: usize) -> Vec<String> {
    let found = || {
        let files = std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
        files.filter(|file| file.extension().is_some_and(|kind| kind == "mail")).collect::<Vec<_>>()
    };
    until(|| found().len() >= count, "mail arrives").await;
    let read = |file: std::path::PathBuf| {
        let text = std::fs::read_to_string(&file).expect("text");
        std::fs::remove_file(file).expect("ours");
        text
    };
    let all: Vec<String> = found().into_iter().map(read).collect();
    assert_eq!(all.len(), count, "{all:?}");
    all
}

async fn mail(folder: &Path) -> String {
    mails(folder, 1).await.remove(0)
}

/// The path of the link in a message.
fn link(world: &World, mail: &str) -> String {
    let own = format!("http://{}", world.address);
    mail.lines().find_map(|line| line.strip_prefix(&own)).unwrap_or_else(|| panic!("{mail}")).to_owned()
}

fn secret(path: &str) -> String {
    path.rsplit("link=").next().unwrap_or_default().to_owned()
}

/// Somebody who has an address, and has confirmed it.
async fn confirmed(world: &World, folder: &Path, name: &str, mail_of: &str) -> Browser {
    let mut browser = world.browser();
    let fields = [("name", name), ("password", PASSWORD), ("mail", mail_of)];
    assert_eq!(browser.post("/sign-up", &fields).await.status, 200);
    confirm(world, folder, &mut browser).await;
    browser
}

async fn confirm(world: &World, folder: &Path, browser: &mut Browser) {
    let path = link(world, &mail(folder).await);
    assert_eq!(browser.get(&path).await.status, 200);
    assert_eq!(browser.post("/account/mail/confirm", &[("link", &secret(&path))]).await.status, 303);
}

async fn forget(browser: &mut Browser, mail: &str) -> Answer {
    browser.post("/recover/mail", &[("mail", mail)]).await
}

async fn set(browser: &mut Browser, link: &str, fresh: &str) -> Answer {
    browser.post("/password", &[("link", link), ("fresh", fresh)]).await
}

async fn failed(world: &World, count: u64) -> String {
    until(|| world.site.mailer.outbox.failed().is_some_and(|failed| failed.count >= count), "it fails").await;
    world.site.mailer.outbox.failed().expect("it failed").why
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_program_nothing_is_different() {
    let world = World::new().await;
    let mut nobody = world.browser();
    for path in ["/sign-up", "/recover", "/sign-in"] {
        assert!(!nobody.get(path).await.text().contains("name=\"mail\""), "{path}");
    }
    assert!(nobody.get("/sign-up").await.text().contains("no e-mail address"));
    assert_eq!(forget(&mut nobody, "ann@school.example").await.status, 422);
    let fields = [("name", "Ann"), ("password", PASSWORD), ("mail", "ann@school.example")];
    let mut ann = nobody;
    assert_eq!(ann.post("/sign-up", &fields).await.status, 200);
    assert!(!ann.get("/account").await.text().to_lowercase().contains("mail"));
    let change = [("mail", "ann@school.example"), ("password", PASSWORD)];
    assert_eq!(ann.post("/account/mail", &change).await.status, 422);
    assert_eq!(ann.post("/account/mail/again", &[]).await.status, 422);
    assert_eq!(world.server.store().accounts(9).await.expect("read").0[0].mail, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_by_mail_sets_a_password_once_and_ends_all_that_was() {
    let (world, folder) = world().await;
    let folder = folder.path();
    let mut ann = world.browser();
    let fields = [("name", "Ann"), ("password", PASSWORD), ("mail", " Ann@School.example ")];
    let codes = ann.post("/sign-up", &fields).await.text();
    assert!(codes.contains("A link is on its way to") && codes.contains("Ann@School.example"), "{codes}");
    let first = mail(folder).await;
    assert!(
        first.starts_with("To: Ann@School.example\nSubject: Autumn Cup: confirm this mail address\n"),
        "{first}"
    );
    // An address that is not confirmed leads nowhere.
    let mut lost = world.browser();
    assert_eq!(forget(&mut lost, "ann@school.example").await.heading(), "Look into your mail");
    // Only its owner confirms it, and opening the link is not enough.
    let path = link(&world, &first);
    let mut bob = common::sign_up(&world, "Bob", "").await;
    let led = lost.get(&path).await;
    assert!(
        led.header("location").is_some_and(|to| to.starts_with("/sign-in?next=/account/mail")),
        "{led:?}"
    );
    assert_eq!(bob.get(&path).await.status, 410);
    assert_eq!(bob.post("/account/mail/confirm", &[("link", &secret(&path))]).await.status, 410);
    assert_eq!(ann.get(&path).await.status, 200);
    assert!(ann.get("/account").await.text().contains("is not confirmed yet"));
    let confirm = [("link", &*secret(&path))];
    assert_eq!(ann.post("/account/mail/confirm", &confirm).await.status, 303);
    assert_eq!(ann.post("/account/mail/confirm", &confirm).await.status, 410, "once");
    assert!(ann.get("/account").await.text().contains("is confirmed."));
    // What she has besides the password ends with it.
    let token = ann.post("/account/tokens", &[("name", "laptop")]).await.text();
    let mut program = world.browser();
    program.bearer = Some(between(&token, "<code class=\"secret\">", "<").to_owned());
    assert_eq!(program.get("/api/v1/me").await.status, 200);
    forget(&mut lost, "ANN@school.example").await;
    let sent = mail(folder).await;
    assert!(sent.starts_with("To: Ann@School.example\nSubject: Autumn Cup: a new password\n"), "{sent}");
    assert!(sent.contains("password of Ann at Autumn Cup"), "{sent}");
    let path = link(&world, &sent);
    assert_eq!(lost.get(&path).await.heading(), "A new password for Ann");
    assert_eq!(
        set(&mut lost, &secret(&path), "password1234").await.status,
        422,
        "too weak: nothing is used up"
    );
    let done = set(&mut lost, &secret(&path), FRESH).await;
    let said = lost.get(done.header("location").expect("somewhere")).await.text();
    assert!(said.contains("Your password is set.") && said.contains("1 token has ended"), "{said}");
    assert_eq!(ann.get("/account").await.status, 303, "every browser is signed out");
    assert_eq!(program.get("/api/v1/me").await.status, 401);
    assert_eq!(set(&mut lost, &secret(&path), PASSWORD).await.status, 410, "once");
    assert_eq!(lost.post("/sign-in", &[("name", "Ann"), ("password", PASSWORD)]).await.status, 422);
    let answer = lost.post("/sign-in", &[("name", "Ann"), ("password", FRESH)]).await;
    // Her recovery codes have ended, too, so that she is shown new ones.
    assert_eq!((answer.status, answer.heading()), (200, "Your recovery codes".to_owned()), "{answer:?}");
    // The audit log says what happened, by number, and not where the mail went.
    let boss = world.account("Boss", true).await;
    let (mut boss, _) = world.signed_in(boss, LoginKind::Session).await;
    let log = boss.get("/organise").await.text();
    for did in [
        "was sent a password link by mail",
        "used a password link that was sent by mail",
        "confirmed the mail address",
    ] {
        assert!(log.contains(did), "{did}: {log}");
    }
    let events = format!("{:?}", world.server.store().events(100).await.expect("read"));
    assert!(!events.to_lowercase().contains("school"), "{events}");
    assert!(world.site.mailer.outbox.failed().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_is_for_its_account_for_an_hour_and_for_the_address_that_holds() {
    let (world, folder) = world().await;
    let folder = folder.path();
    let mut ann = confirmed(&world, folder, "Ann", "ann@school.example").await;
    confirmed(&world, folder, "Bob", "bob@school.example").await;
    let mut lost = world.browser();
    let asked = async |lost: &mut Browser, address: &str| {
        assert_eq!(forget(lost, address).await.status, 200);
        secret(&link(&world, &mail(folder).await))
    };
    // Too late.
    let late = asked(&mut lost, "ann@school.example").await;
    world.wait(3_600_000);
    assert_eq!(set(&mut lost, &late, FRESH).await.status, 410);
    // Replaced by a newer one. The link for Bob sets Bob's password, whoever opens it.
    let old = asked(&mut lost, "ann@school.example").await;
    let new = asked(&mut lost, "ann@school.example").await;
    let bobs = asked(&mut lost, "bob@school.example").await;
    assert_eq!(set(&mut lost, &old, FRESH).await.status, 410);
    assert_eq!(set(&mut ann, &bobs, FRESH).await.status, 303);
    assert!(ann.get("/account").await.text().contains(">Ann"), "hers is untouched");
    // A link that confirms an address sets no password, and one that sets a password confirms nothing.
    assert_eq!(ann.post("/account/mail/confirm", &[("link", &new)]).await.status, 410);
    // Another address: links that were sent to the one before are worth nothing.
    let change = [("mail", "ann@home.example"), ("password", PASSWORD)];
    assert_eq!(
        ann.post("/account/mail", &[("mail", "ann@home.example"), ("password", FRESH)]).await.status,
        422
    );
    assert_eq!(
        ann.post("/account/mail", &[("mail", "ann@home\nBcc: x@y.z"), ("password", PASSWORD)]).await.status,
        422
    );
    assert_eq!(ann.post("/account/mail", &change).await.status, 303);
    assert_eq!(set(&mut lost, &new, FRESH).await.status, 410);
    let confirms = secret(&link(&world, &mail(folder).await));
    assert_eq!(set(&mut lost, &confirms, FRESH).await.status, 410);
    // Sent again; the one before is replaced.
    assert_eq!(ann.post("/account/mail/again", &[]).await.status, 303);
    let again = secret(&link(&world, &mail(folder).await));
    assert_eq!(ann.post("/account/mail/confirm", &[("link", &confirms)]).await.status, 410);
    world.wait(23 * 3_600_000);
    assert_eq!(ann.post("/account/mail/confirm", &[("link", &again)]).await.status, 303);
    assert_eq!(ann.post("/account/mail/again", &[]).await.status, 422, "nothing is to be confirmed");
    // Taken away.
    assert_eq!(ann.post("/account/mail", &[("mail", ""), ("password", PASSWORD)]).await.status, 303);
    assert!(ann.get("/account").await.text().contains("You have given none."));
    forget(&mut lost, "ann@home.example").await;
    // One mail for each account with an address.
    confirmed(&world, folder, "Cid", "bob@school.example").await;
    world.wait(15 * 60_000);
    forget(&mut lost, "bob@school.example").await;
    let both = mails(folder, 2).await;
    assert!(
        ["Bob", "Cid"].iter().all(|name| both.iter().any(|mail| mail.contains(&format!("of {name} at")))),
        "{both:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_learns_who_has_an_account_or_an_address() {
    let (world, folder) = world().await;
    let folder = folder.path();
    confirmed(&world, folder, "Ann", "ann@school.example").await;
    let (mut known, mut unknown) = (world.browser(), world.browser());
    // The same words, and the same limit.
    for number in 0..4 {
        let one = forget(&mut known, "ann@school.example").await;
        let other = forget(&mut unknown, "eve@school.example").await;
        // She has asked for one mail already, by which she confirmed the address.
        let statuses = if number < 2 {
            (200, 200)
        } else if number == 2 {
            (429, 200)
        } else {
            (429, 429)
        };
        assert_eq!((one.status, other.status), statuses, "{number}");
        if one.status == other.status {
            assert_eq!(one.text(), other.text());
            let head = |answer: &Answer| {
                let names = answer.headers.iter().filter(|(name, _)| name != "date");
                names.cloned().collect::<Vec<_>>()
            };
            assert_eq!(head(&one), head(&other));
        }
    }
    mails(folder, 2).await;
    // Another name at sign-up with her address: nothing says that somebody has it.
    world.wait(15 * 60_000);
    let fields = [("name", "Eve"), ("password", PASSWORD), ("mail", "ann@school.example")];
    assert_eq!(unknown.post("/sign-up", &fields).await.status, 200);
    mail(folder).await;
    forget(&mut known, "ann@school.example").await;
    assert!(mail(folder).await.contains("of Ann at"), "and what Eve has not confirmed leads nowhere");
    // One network asks for so many, whatever the addresses.
    world.wait(15 * 60_000);
    let mut last = 200;
    for number in 0..=120 {
        last = forget(&mut known, &format!("nobody{number}@school.example")).await.status;
    }
    assert_eq!(last, 429);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_address_is_refused_and_nothing_is_sent() {
    let (world, folder) = world().await;
    let mut eve = world.browser();
    let long = format!("{}@school.example", "a".repeat(250));
    for bad in ["eve", "a@b@c.d", "eve@x.y\r\nBcc: ann@x.y", "eve@x.y\0", "-oX@x.y", "$(id)@x.y", &long] {
        let answer = forget(&mut eve, bad).await;
        assert!(answer.status == 422 && answer.text().contains("not a mail address"), "{bad:?}");
        let fields = [("name", "Eve"), ("password", PASSWORD), ("mail", bad)];
        let answer = eve.post("/sign-up", &fields).await;
        assert!(answer.status == 422 && answer.text().contains("not a mail address"), "{bad:?}");
    }
    assert_eq!(world.server.store().accounts(9).await.expect("read").1, 0, "no account without its address");
    // Where the site has many names, a request that says it came to another host changes no link.
    let world = World::with(&section(folder.path()), Way::Lan).await;
    confirmed(&world, folder.path(), "Ann", "ann@school.example").await;
    let (host, body) = ("evil.example".to_owned(), "form=&mail=ann@school.example");
    let request = format!(
        "POST /recover/mail HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = world.browser().raw(request.as_bytes()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let sent = mail(folder.path()).await;
    assert!(!sent.contains("evil.example") && link(&world, &sent).starts_with("/password?link="), "{sent}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_is_its_owners_and_the_organisers() {
    let (world, folder) = world().await;
    let mut ann = confirmed(&world, folder.path(), "Ann", "ann@school.example").await;
    ann.post("/team/new", &[("name", "Ones")]).await;
    let boss = world.account("Boss", true).await;
    let (mut boss, _) = world.signed_in(boss, LoginKind::Session).await;
    let mut bob = common::sign_up(&world, "Bob", "").await;
    assert!(boss.get("/organise/people").await.text().contains("ann@school.example"));
    assert!(ann.get("/account").await.text().contains("ann@school.example"));
    let mut team = 0;
    for route in agon_site::routes::all().filter(|route| route.method == agon_site::routes::Method::Get) {
        if route.path.starts_with("/events") {
            continue;
        }
        for id in ["1", "2", "3", "4"] {
            let path = route.path.replace("{id}", id);
            let page = bob.get(&path).await;
            assert!(!page.text().contains("school.example"), "{path}");
            team += usize::from(route.path == "/team/{id}" && page.text().contains("Ones"));
        }
    }
    assert_eq!(team, 1, "her team's page was among them");
    // Gone with the account.
    assert_eq!(ann.post("/account/delete", &[("password", PASSWORD)]).await.status, 303);
    assert!(!boss.get("/organise/people").await.text().contains("school.example"));
    assert_eq!(forget(&mut bob, "ann@school.example").await.status, 200);
    // Somebody else, who signs up and asks after that, is sent a link; she is not.
    confirmed(&world, folder.path(), "Cid", "cid@home.example").await;
    assert_eq!(forget(&mut bob, "cid@home.example").await.status, 200);
    let sent = mail(folder.path()).await;
    assert!(sent.contains("of Cid at"), "{sent}");
    let cid = world.server.store().account_like("Cid").await.expect("read").expect("there").id;
    let events = world.server.store().events(100).await.expect("read");
    let linked = events.iter().filter(|event| event.verb == "mail link");
    let linked: Vec<&str> = linked.map(|event| event.object.as_str()).collect();
    assert_eq!(linked, [format!("account {cid}")]);
    let problems = world.server.store().fsck(world.server.objects()).await.expect("looked through");
    assert_eq!(problems, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_fails_is_told_to_the_organiser_and_to_nobody_else() {
    let (world, folder) = world().await;
    let mut ann = confirmed(&world, folder.path(), "Ann", "ann@school.example").await;
    // Read again within a second, as on a server.
    let change = async |program: &[&str]| {
        let words: Vec<String> = program.iter().map(|word| format!("'{word}'")).collect();
        let section = format!("sign_up = \"open\"\nmail = [{}]", words.join(", "));
        common::write_file(world.folder.path(), &section);
        let end = Instant::now() + Duration::from_secs(30);
        while world.site.settings().mail != program {
            assert!(Instant::now() < end, "{program:?}");
            world.site.beat().await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let before = forget(&mut ann, "ann@school.example").await.text();
    mail(folder.path()).await;
    change(&["sh", "-c", "exit 75"]).await;
    let after = forget(&mut ann, "ann@school.example").await.text();
    assert_eq!(before, after, "the visitor sees no difference");
    assert_eq!(failed(&world, 1).await, "`sh` failed: exit status: 75");
    world.wait(15 * 60_000);
    change(&["/nowhere/send"]).await;
    forget(&mut ann, "ann@school.example").await;
    assert!(failed(&world, 2).await.contains("cannot be started"));
    let boss = world.account("Boss", true).await;
    let (mut boss, _) = world.signed_in(boss, LoginKind::Session).await;
    let page = boss.get("/organise").await.text();
    assert!(
        page.contains("2 messages were not sent") && page.contains("/nowhere/send</code> cannot be started"),
        "{page}"
    );
    assert!(!page.contains("school.example"), "{page}");
    // Two hang, and a bounded number waits behind them; more are not sent, and nobody waits for any of it.
    let over = folder.path().join("over");
    let hangs = format!("while [ ! -e {} ]; do sleep 0.1; done", over.display());
    change(&["sh", "-c", &hangs]).await;
    for _ in 0..65 {
        let to = MailAddress::of("ann@school.example").expect("an address");
        let (subject, text, at) = ("test".to_owned(), String::new(), world.now());
        agon_site::mail::later(&world.site.mailer, &world.site.settings().mail, at, async move {
            Ok(vec![MailMessage { to, subject, text, at }])
        });
    }
    assert_eq!(failed(&world, 3).await, "64 messages are waiting already");
    std::fs::write(over, "").expect("written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_domains_are_named_nobody_submits_before_an_address_there_is_confirmed() {
    let (world, folder) = world().await;
    let folder = folder.path();
    let mut early = common::sign_up(&world, "Early", "").await;
    world.set(&[("mail_domains", "School.example, uni.example")]).await;
    let mut ann = world.browser();
    let page = ann.get("/sign-up").await.text();
    assert!(
        page.contains("One at school.example or uni.example.") && page.contains("name=\"mail\""),
        "{page}"
    );
    for (bad, why) in [
        ("", "A mail address at school.example or uni.example is needed"),
        ("ann@x.y", "Only mail addresses at school.example or uni.example"),
        ("ann@sub.school.example", "Only mail addresses"),
        ("ann@notschool.example", "Only mail addresses"),
        ("ann@school.example.evil", "Only mail addresses"),
    ] {
        let answer = ann.post("/sign-up", &[("name", "Ann"), ("password", PASSWORD), ("mail", bad)]).await;
        assert!(answer.status == 422 && answer.text().contains(why), "{bad}: {}", answer.text());
    }
    let fields = [("name", "Ann"), ("password", PASSWORD), ("mail", "Ann@SCHOOL.example")];
    assert_eq!(ann.post("/sign-up", &fields).await.status, 200);
    let token = ann.post("/account/tokens", &[("name", "laptop")]).await.text();
    let mut program = world.browser();
    program.bearer = Some(between(&token, "<code class=\"secret\">", "<").to_owned());
    for who in [&mut early, &mut ann] {
        let answer = who.upload("/upload", &[], "bot.py", b"print(1)").await;
        assert_eq!((answer.status, answer.heading()), (403, "Confirm your mail address first".to_owned()));
        assert_eq!(who.get("/upload").await.status, 403);
    }
    let by_program = async |program: &mut Browser, bytes: &[u8]| {
        program.ask("POST", "/api/v1/upload?name=bot.py", "application/octet-stream", bytes).await.status
    };
    assert_eq!(by_program(&mut program, b"print(1)").await, 403);
    // Nor where another server has decided it a moment ago: the act itself looks.
    let mut file = world.server.objects().begin().expect("room");
    file.add(b"print(1)").await.expect("room");
    let team = world.server.store().account_like("Ann").await.expect("read").expect("there").id;
    world.team(team, "Ones").await;
    let upload =
        agon_server::Upload { entrant: "Ones", name: "bot.py", file, only_if_better: false, actor: "Ann" };
    let added = world.server.upload(upload, world.now()).await.expect("answered");
    assert!(
        matches!(added, agon_server::UploadOutcome::Added(agon_store::acts::Added::Unconfirmed)),
        "{added:?}"
    );
    confirm(&world, folder, &mut ann).await;
    assert_eq!(by_program(&mut program, b"print(1)").await, 200);
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print(2)").await.status, 303);
    // Whoever came before gives an address afterwards. Another domain is taken by nobody.
    let change = async |early: &mut Browser, mail: &str| {
        early.post("/account/mail", &[("mail", mail), ("password", PASSWORD)]).await.status
    };
    assert_eq!(change(&mut early, "early@x.y").await, 422);
    assert_eq!(change(&mut early, "early@uni.example").await, 303);
    confirm(&world, folder, &mut early).await;
    assert_eq!(early.upload("/upload", &[], "bot.py", b"print(3)").await.status, 303);
    // A domain that is taken away, and an address that is.
    world.set(&[("mail_domains", "school.example")]).await;
    assert_eq!(early.upload("/upload", &[], "bot.py", b"print(4)").await.status, 403);
    assert_eq!(change(&mut ann, "").await, 303);
    assert_eq!(ann.upload("/upload", &[], "bot.py", b"print(5)").await.status, 403);
    world.set(&[("mail_domains", "")]).await;
    assert_eq!(early.upload("/upload", &[], "bot.py", b"print(4)").await.status, 303);
}
