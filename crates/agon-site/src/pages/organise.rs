//! The organiser's pages: whether anything is wrong, when all will be played, and what can be done.

use agon_contest::config::SignUpWord;
use agon_server::{Board, nightly, room, settings};
use agon_store::acts::{Drain, Invite, Lift, Pause, Tell};
use agon_store::reads::{Voiding, Working};
use agon_store::{ContestRow, Time, VersionId, VersionState};
use axum::Form;
use axum::response::Redirect;
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::Visit;
use crate::outbox::SendFailure;
use crate::pages::draw::{chip, icon};
use crate::pages::frame::{self, Here, act, token};
use crate::pages::pace::{Pace, owed};
use crate::pages::{self, audit, clocks, export, words, workers};
use crate::problem::Refused;
use crate::redirect;
use crate::secrets;
use agon_ladder::SURE;

const HOUR: i64 = 3_600_000;
/// The longest announcement, in characters.
const LONGEST: usize = 500;

/// The fields of the forms here.
#[derive(Default, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    text: String,
    /// The number of a version.
    #[serde(default)]
    version: i64,
}

/// Since when versions have been suspended, and why.
type Suspended = std::collections::BTreeMap<VersionId, (Time, String)>;

pub async fn page(ask: Visit) -> Result<Markup, Refused> {
    let store = ask.site.store();
    let since = Time(ask.now.0 - HOUR);
    let counts = store.counts().await?;
    let failures = store.failures(since).await?;
    let workers = store.working(since).await?;
    let events = store.events(12).await?;
    let shown = ask.site.shown().await?;
    let going = store.now().await?;
    let suspended = store.suspended().await?;
    let checking = shown.board.versions.iter().filter(|version| version.state.is_waiting()).count();
    let rechecks = store.rechecks().await?.len();
    let (checking, checked) = match rechecks {
        0 => (checking, "uploads".to_owned()),
        _ => (checking + rechecks, format!("uploads; {rechecks} in the new image")),
    };
    let owed = owed(&ask.site.server.policy(), &shown.board);
    let pace = Pace::now(store, &owed, ask.now).await?;
    let disk = ask.site.server.room().free();
    let (mut answer, mut lead) = answer(&ask, &going, &counts, &workers, pace, (owed.matches, disk));
    if answer == RIGHT
        && let Some((nobody, why)) = unplaced(&shown.board, ask.settings.matches)
    {
        (answer, lead) = (nobody.to_owned(), format!("{why} {lead}"));
    }
    let doubts = store.clock_doubts().await?;
    if let Some(said) = clocks::answer(&doubts) {
        (answer, lead) = said;
    }
    let void: i64 = failures.iter().filter(|failure| failure.ours).map(|failure| failure.count).sum();
    let figure = |label: &str, value: String, more: String| html! { div { p.faint { (label) } p.big { (value) } p.faint { (more) } } };
    let oldest = counts.oldest.map_or_else(|| "–".to_owned(), |oldest| words::ago(oldest, ask.now));
    let content = html! {
        section.card.figures {
            (figure("Longest wait", oldest, words::many(counts.planned, "job waits", "jobs wait")))
            (figure("Matches to play", words::count(owed.matches), drained(pace)))
            (figure("Matches per hour", words::count(pace.an_hour()), words::many(counts.leased, "match is handed out", "matches are handed out")))
            (figure("Being checked", checking.to_string(), checked))
            (figure("Void, last hour", words::count(void), "server's fault, replayed".to_owned()))
            (figure("Abandoned", words::count(counts.dead - counts.unfit), "after three attempts, server's fault".to_owned()))
            @if let Some(head) = shown.head { (figure(&format!("Top {} certainty", head.bots), words::percent(head.these), format!("in this order: {}", words::percent(head.order)))) }
            @if let Some(disk) = disk { (figure("Disk", words::bytes(disk), "free".to_owned())) }
        }
        div.columns {
            div {
                (clocks::card(&ask, &doubts))
                (workers::card(&ask, &workers))
                section.card {
                    header { h2 { "Failures in the last hour" } }
                    @if failures.is_empty() { p.empty { "None." } }
                    @else { table.dense { tbody { @for failure in &failures { tr {
                        td { (failure.what) }
                        td { @if failure.ours { (chip("bad", "warn", "server's fault")) } @else { (chip("", "warn", "bot's fault")) } }
                        td.number { b { (words::count(failure.count)) } }
                    } } } } }
                }
                (mail_card(&ask))
                (unsent(&ask, "Webhook", ask.site.webhook.outbox.failed(), "webhook"))
                (night_card(&ask))
                (voiding(&shown.board, &store.voiding(Time(ask.now.0 - 24 * HOUR)).await?))
                (rests(&ask, &shown.board, &suspended))
                (undecided(&shown.board))
                (pages::settings::files(&ask).await?)
            }
            div {
                (acts(&ask, &going, counts.leased).await?)
                section.card {
                    header { h2 { "Audit" } }
                    ul.items { @for event in &events { li { div {
                        span.faint { (ask.settings.told(event.at, "%a %H:%M")) } " " @let (subject, did) = audit::sentence(event); b { (subject) } " " (did)
                        @if let Some(detail) = audit::detail(event) { p { (detail) } }
                    } } } }
                }
            }
        }
    };
    let heading = frame::live(
        "heading",
        "board acts work",
        5,
        html! { h1 { (answer) } p.lead { (words::told(&lead)) } },
    );
    let content = frame::live("cockpit", "board acts work", 5, content);
    Ok(frame::with_heading(&ask, Here::Organise, &answer, heading, content))
}

/// Mail that could not be sent.
fn mail_card(ask: &Visit) -> Markup {
    let domains = &ask.settings.held.mail_domains;
    html! {
        @if !domains.is_empty() && !ask.settings.sends_mail() {
            section.card { header { h2 { "Mail" } } p.in { "Whoever submits has to confirm a mail address at " (domains.join(" or ")) ", and this server sends no mail: name a program as " code { "mail" } " under " code { "[site]" } " in its contest.toml." } }
        }
        (unsent(ask, "Mail", ask.site.mailer.outbox.failed(), "mail"))
    }
}

/// Messages that could not be sent.
fn unsent(ask: &Visit, title: &str, failed: Option<SendFailure>, key: &str) -> Markup {
    html! {
        @if let Some(failed) = failed {
            section.card {
                header { h2 { (title) } span.faint { (words::many(failed.count.try_into().unwrap_or(i64::MAX), "message was not sent", "messages were not sent")) } }
                div.in {
                    p { "Last at " (ask.settings.told(failed.at, "%a %H:%M")) ": " (words::told(&words::sentence(&failed.why))) }
                    p.faint { "This server's " code { (key) } " under " code { "[site]" } " in contest.toml says where they go. The count begins anew when the server starts." }
                }
            }
        }
    }
}

/// The nights' archives: the last one, and why there is no newer one.
fn night_card(ask: &Visit) -> Markup {
    let Some(folder) = &ask.settings.nightly else { return html! {} };
    let made = nightly::made(&ask.site.folder().join(folder));
    html! {
        section.card {
            header { h2 { "Every night" } span.faint { "what is public, as a file" } }
            div.in {
                @match made.first() {
                    Some(last) => p { "The last is of " (last.day) ", " (words::bytes(last.bytes)) "; " (words::many(made.len() as i64, "is kept", "are kept")) "." },
                    None => p { "None yet: it is made from " (nightly::HOUR) ":00 UTC on." },
                }
                @if ask.site.nights.is_making() { p { "One is being made." } }
                @if let Some((at, why)) = ask.site.nights.failed() { p { "Not made at " (ask.settings.told(at, "%a %H:%M")) ": " (words::told(&words::sentence(&why))) " It is tried again every hour." } }
            }
        }
    }
}

/// How long matches take, as the end of a sentence.
fn takes(ms: i64) -> String {
    match ms {
        ..1000 => "takes less than a second".to_owned(),
        _ => format!("takes about {}", words::span(ms)),
    }
}

fn drained(pace: Pace) -> String {
    match pace.needs() {
        Some(0) => "all have been played".to_owned(),
        None => "how long they take is not known yet".to_owned(),
        Some(ms @ ..1000) => takes(ms),
        Some(ms) => format!("about {} at this rate", words::span(ms)),
    }
}

fn answer(
    ask: &Visit,
    going: &ContestRow,
    counts: &agon_store::reads::Counts,
    workers: &[Working],
    pace: Pace,
    (owed, disk): (i64, Option<u64>),
) -> (String, String) {
    let silent: Vec<&Working> = workers.iter().filter(|worker| workers::is_silent(worker, ask.now)).collect();
    let left = || words::many(owed, "rated match", "rated matches");
    let pace = match pace.needs() {
        Some(0) => "No rated matches are outstanding.".to_owned(),
        None => format!("About {} left to play.", left()),
        Some(ms) if going.paused => {
            format!("About {} left to play: {} once resumed.", left(), words::span(ms))
        }
        Some(ms) => format!("About {} left to play, which {}.", left(), takes(ms)),
    };
    let make_room = "Bots and replays can be moved to another disk: `agon serve move FOLDER --objects OTHER`, while the contest is not running.";
    if disk.is_some_and(|free| free < room::FULL) {
        let text = format!(
            "Nothing is played or accepted until there is room, and nothing is lost; then the contest continues by itself. {make_room}"
        );
        return ("The disk is full".to_owned(), text);
    }
    if going.paused {
        return (
            "The contest is paused".to_owned(),
            format!("No new match starts, and nothing is lost. {pace}"),
        );
    }
    if going.draining {
        let left = counts.planned + counts.leased + counts.posted;
        let text = format!(
            "{} left to play. No new matches are scheduled and uploads wait; it pauses when they are done.",
            words::many(left, "match", "matches")
        );
        return ("The contest is draining".to_owned(), text);
    }
    if let Some(worker) = silent.first() {
        let text = format!(
            "Last heard from {} ago. Its {} reassigned automatically. {pace}",
            words::ago(worker.seen, ask.now),
            words::many(worker.playing, "match is", "matches are")
        );
        return (format!("{} has gone quiet", worker.name), text);
    }
    if counts.oldest.is_some_and(|oldest| ask.now.0 - oldest.0 > 10 * workers::SILENT) {
        return (
            "Matches have been waiting too long".to_owned(),
            format!(
                "The oldest has been waiting for more than ten minutes: no machine is playing, or too few are. {pace}"
            ),
        );
    }
    if let Some(free) = disk.filter(|free| *free < room::LITTLE) {
        let text = format!(
            "{} are free. When it is full, the contest waits for room. {make_room} {pace}",
            words::bytes(free)
        );
        return ("The disk is nearly full".to_owned(), text);
    }
    (RIGHT.to_owned(), pace)
}

/// The answer when there is nothing to do.
const RIGHT: &str = "Nothing is wrong";

/// Why nobody has a place, where bots are on the ladder.
fn unplaced(board: &Board, matches: u32) -> Option<(&'static str, String)> {
    if board.lines.is_empty() || board.lines.iter().any(|line| line.rank.is_some()) {
        return None;
    }
    let needed = agon_server::status::PLACING;
    Some(match u64::from(matches) < needed {
        true => (
            "Nobody can be placed",
            format!(
                "A version plays {matches} rated matches here, and a place needs {needed}: set more in Settings."
            ),
        ),
        false => ("Nobody is placed yet", format!("A place needs {needed} rated matches.")),
    })
}

/// Neighbours whose order is still unknown.
fn undecided(board: &Board) -> Markup {
    let placed: Vec<_> = board.lines.iter().filter(|line| line.rank.is_some()).collect();
    let open = placed.windows(2).take(8).enumerate().filter_map(|(at, pair)| {
        let share = pair[0].rating.above_next?;
        (share < SURE).then(|| (at + 1, pair[0], pair[1], share))
    });
    let open: Vec<_> = open.collect();
    html! {
        section.card {
            header { h2 { "Undecided places" } span.faint { "top of the ladder" } }
            @if placed.is_empty() { p.empty { "Nobody is placed yet, so nothing is decided." } }
            @else if open.is_empty() && board.lines.len() > placed.len() { p.empty { "The order of those that are placed is certain (95 %); others are not placed yet." } }
            @else if open.is_empty() { p.empty { "All places are certain (95 %)." } }
            @else { table.dense { tbody { @for (place, line, next, share) in open { tr {
                td { (place) ": " b { (line.name) } " before " (next.name) } td.number { b { (words::percent(share)) } }
            } } } } }
        }
    }
}

async fn acts(ask: &Visit, going: &ContestRow, playing: i64) -> Result<Markup, Refused> {
    let code = match ask.settings.sign_up {
        Some(SignUpWord::Invite) => ask.site.store().invite().await?,
        _ => None,
    };
    let go_on = act(ask, "/organise/resume", "main", html! { (icon("play")) "Resume" });
    let pause = act(ask, "/organise/pause", "", html! { (icon("pause")) "Pause" });
    let drain = act(ask, "/organise/drain", "", html! { (icon("pause")) "Drain" });
    Ok(html! {
        section.card {
            header { h2 { "Actions" } span.faint { "all are logged" } }
            ul.items {
                @if going.paused {
                    li { div { p { "Matches start again." } (go_on) } }
                } @else if going.draining {
                    li { div { p { "Stops draining: new matches are scheduled again." } (go_on) } }
                    li { div { p { "Draining: scheduled matches are still played, then the contest pauses. This pauses it at once; scheduled matches stay scheduled." } (pause) } }
                } @else {
                    li { div { p { "No new match starts; " (playing) " in play will finish. Nothing is lost." } (pause) } }
                    li { div { p { "Every block that has begun is finished, nothing new is scheduled, and then the contest is paused. Use it before stopping the server, so that no block is left half-played." } (drain) } }
                }
                li { div {
                    p { "Shown to everyone on every page. Leave empty to remove it." }
                    form method="post" action="/organise/announce" {
                        (token(ask))
                        div.field { textarea name="text" rows="2" maxlength=(LONGEST) aria-label="Announcement" { (ask.announced.as_deref().unwrap_or_default()) } }
                        p {}
                        button { (icon("bell")) "Announce" }
                    }
                } }
                @if ask.settings.closed(ask.now).is_none() {
                    li { div {
                        p { "From now on nothing can be submitted; the bots on the ladder go on playing. Another date in the settings reopens uploads." }
                        (act(ask, "/organise/freeze", "", html! { (icon("flag")) "Freeze uploads" }))
                    } }
                }
                li { div {
                    p { "Disqualify or reinstate a team or version, or replay its matches. Asks for a reason, which everyone can read." }
                    a.button.danger href="/organise/rulings" { (icon("flag")) "Rulings" }
                } }
                @if ask.settings.sign_up == Some(SignUpWord::Invite) {
                    li { div {
                        p { "People sign up with this code." }
                        @if let Some(code) = code { p { code.secret { (code) } } }
                        (act(ask, "/organise/invite", "", html! { "Make a new code" }))
                    } }
                }
                li { div {
                    p { "The log, the replays and the table as one file, which anyone can check." }
                    a.button href="/organise/export" { "Export" }
                } }
                li { div {
                    p { "Marks: one row a team, with place, rating, results, faults, versions, and how it does against each built-in bot." }
                    (export::marks_form())
                } }
                li { div {
                    p { "Name, dates, team size, who may sign up, in which image bots run." }
                    div.row { a.button href="/organise/settings" { "Settings" } a.button href="/organise/people" { (icon("people")) "People" } }
                } }
            }
        }
    })
}

/// Versions in whose matches tries were void.
fn voiding(board: &Board, voiding: &[Voiding]) -> Markup {
    let known: Vec<_> = voiding
        .iter()
        .filter_map(|one| Some((board.versions.iter().find(|version| version.id == one.version)?, one)))
        .collect();
    html! {
        @if !known.is_empty() {
            section.card {
                header { h2 { "Void matches by version" } span.faint { "in the last day" } }
                table.dense { tbody { @for (version, one) in known { tr {
                    td { a href=(format!("/version/{}", version.id)) { b { (version.entrant) } " v" (version.n) } }
                    td { (words::many(one.tries, "attempt void", "attempts void")) }
                    td.number { @if one.own > 0 { (chip("bad", "warn", &format!("{} caused by this bot", words::count(one.own)))) } }
                } } } }
            }
        }
    }
}

/// Versions suspended because their matches came to nothing.
fn rests(ask: &Visit, board: &Board, suspended: &Suspended) -> Markup {
    let resting: Vec<_> = board
        .versions
        .iter()
        .filter(|version| version.state == VersionState::Live)
        .filter_map(|version| suspended.get(&version.id).map(|(since, why)| (version, since, why)))
        .collect();
    html! {
        @if !resting.is_empty() {
            section.card {
                header { h2 { "Suspended versions" } span.faint { "no new matches" } }
                table.dense { tbody { @for (version, since, why) in resting { tr {
                    td { a href=(format!("/version/{}", version.id)) { b { (version.entrant) } " v" (version.n) } }
                    td { (why) ", " (words::ago(*since, ask.now)) " ago" }
                    td.number { form method="post" action="/organise/lift" { (token(ask)) input type="hidden" name="version" value=(version.id); button.plain { "Resume" } } }
                } } } }
            }
        }
    }
}

async fn pause_to(ask: Visit, paused: bool) -> Result<Redirect, Refused> {
    let actor = ask.whoever()?.name.clone();
    let act = Pause { contest: ask.site.contest(), paused, actor, now: ask.now };
    ask.site.store().act(act).await?;
    Ok(redirect::to("/organise"))
}

/// Pauses: no new match begins.
pub async fn pause(ask: Visit) -> Result<Redirect, Refused> {
    pause_to(ask, true).await
}

/// Resumes: matches begin again.
pub async fn resume(ask: Visit) -> Result<Redirect, Refused> {
    pause_to(ask, false).await
}

/// Plays what is planned, then pauses.
pub async fn drain(ask: Visit) -> Result<Redirect, Refused> {
    let actor = ask.whoever()?.name.clone();
    ask.site.store().act(Drain { contest: ask.site.contest(), actor, now: ask.now }).await?;
    Ok(redirect::to("/organise"))
}

/// Lets a suspended version play again.
pub async fn lift(ask: Visit, Form(typed): Form<Typed>) -> Result<Redirect, Refused> {
    let actor = ask.whoever()?.name.clone();
    let act = Lift { version: VersionId(typed.version), actor, now: ask.now };
    if !ask.site.store().act(act).await? {
        return Err(Refused::wrong("This version is not suspended.").then("Cockpit", "/organise"));
    }
    Ok(redirect::to("/organise"))
}

/// Announces something to everybody.
pub async fn announce(ask: Visit, Form(typed): Form<Typed>) -> Result<Redirect, Refused> {
    let text = typed.text.trim().replace("\r\n", "\n");
    if text.chars().count() > LONGEST {
        let why = format!("An announcement has up to {LONGEST} characters.");
        return Err(Refused::wrong(why).then("Cockpit", "/organise"));
    }
    let (contest, now, actor) = (ask.site.contest(), ask.now, ask.whoever()?.name.clone());
    let (verb, object) = ("announce".to_owned(), "everybody".to_owned());
    ask.site.store().act(Tell { contest, actor, verb, object, detail: text, now }).await?;
    Ok(redirect::to("/organise"))
}

/// Closes uploads now.
pub async fn freeze(ask: Visit) -> Result<Redirect, Refused> {
    settings::freeze(ask.site.store(), pages::settings::by(&ask)?, ask.now).await?;
    Ok(redirect::to("/organise"))
}

/// Makes a new code to sign up with.
pub async fn invite(ask: Visit) -> Result<Redirect, Refused> {
    let (contest, now, actor) = (ask.site.contest(), ask.now, ask.whoever()?.name.clone());
    ask.site.store().act(Invite { contest, code: secrets::code(), actor, now }).await?;
    Ok(redirect::to("/organise"))
}
