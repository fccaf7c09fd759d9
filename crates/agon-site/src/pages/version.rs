//! A version, for its team: whether it is better than the one before, whether it plays, why not, and the way back.

use agon_api::played::Viewpoint;
use agon_ladder::verdict::BLOCKS;
use agon_store::reads::{Filter, StoredMatch};
use agon_store::{EntrantVersion, OwnVersion, Stage, Time, VersionId, VersionState, Whose};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use crate::gate::Visit;
use crate::pages::draw::{chip, icon};
use crate::pages::frame::{self, Here, act};
use crate::pages::trial::{self, Trial, figure};
use crate::pages::{matches, own, puzzle, team, upload, words};
use crate::problem::Refused;
use crate::redirect;
use crate::rights::{Object, Verb, may};
use crate::site::Shown;

/// How many lines of a build log the page shows; the whole of it is a file.
const LINES: usize = 60;

/// The versions of the team that owns this version, with what only the team may know of them.
async fn all(ask: &Visit) -> Result<Vec<OwnVersion>, Refused> {
    let Object::Team(team) = ask.object else { return Err(Refused::nothing()) };
    Ok(ask.site.store().own_versions(team).await?)
}

/// The requested one among them.
fn found<'a>(ask: &Visit, all: &'a [OwnVersion]) -> Result<&'a OwnVersion, Refused> {
    all.iter().find(|own| own.version.id == VersionId(ask.id)).ok_or_else(Refused::nothing)
}

pub async fn page(ask: Visit) -> Result<Markup, Refused> {
    let all = all(&ask).await?;
    let own = found(&ask, &all)?;
    let version = &own.version;
    let shown = ask.site.shown().await?;
    let team = shown.teams.get(&version.entrant).ok_or_else(Refused::nothing)?;
    let store = ask.site.store();
    let filter = Filter { version: Some(version.id), ..Filter::default() };
    let played = store.matches(ask.eyes(), &filter).await?;
    matches::learn_maps(&ask, &played).await?;
    let check = match own.check {
        Some(check) => store.one_match(ask.eyes(), check).await?,
        None => None,
    };
    let trial = Trial::of(&ask, version.id).await?;
    let log = ask.site.server.build_log(own).await?;
    let live = all.iter().map(|own| &own.version).find(|other| other.state == VersionState::Live);
    let before = trial.as_ref().and_then(|trial| all.iter().find(|own| own.version.id == trial.kept.against));
    let (mut answer, mut lead) = answer(&ask, &shown, own, trial.as_ref(), live);
    let rests = store.suspended().await?.remove(&version.id);
    let rests = rests.filter(|_| version.state == VersionState::Live);
    if let Some((since, why)) = &rests {
        answer = format!("v{} is suspended", version.n);
        lead = format!(
            "{why}. It has played no new matches since {}; it keeps its place. Submit a fixed version, or resume this one.",
            ask.settings.told(*since, "%a %H:%M")
        );
    }
    let rulings = store.rulings().await?;
    let out = agon_store::out(&rulings);
    let is_out = out.contains(&(team.id, None)) || out.contains(&(team.id, Some(version.id)));
    if is_out && matches!(version.state, VersionState::Live | VersionState::Former) {
        let of_team = out.contains(&(team.id, None));
        let about = (!of_team).then_some(version.id);
        let ruled = rulings.iter().rev().find(|ruled| ruled.entrant == team.id && ruled.version == about);
        let who = if of_team { team.name.clone() } else { format!("v{}", version.n) };
        answer = format!("{who} was removed from the ratings");
        lead = format!(
            "Reason: {} Its matches do not count. If you disagree, talk to the organiser.",
            words::sentence(ruled.map_or("", |ruled| ruled.reason.as_str()))
        );
    }
    let may_act = may(&ask.actor, Verb::Act, ask.object) && !is_out;
    let n = version.n;
    let back = |to: &OwnVersion, class: &str| {
        act(
            &ask,
            &format!("/version/{}/live", to.version.id),
            class,
            html! { (icon("back")) (way_back(to)) (to.version.n) },
        )
    };
    let heading = html! {
        p.crumbs { a href=(format!("/team/{}", team.id)) { (team.name) } " / Versions" }
        div.heading {
            h1 { (answer) }
            div.row {
                @if may_act && version.state == VersionState::Former { (back(own, "main")) }
                @if may_act && rests.is_some() { (act(&ask, &format!("/version/{}/live", version.id), "main", html! { (icon("play")) "Resume" })) }
                @if may_act && version.state == VersionState::Failed { (upload::way(&ask, "Submit again")) }
                @if may_act && matches!(version.state, VersionState::Live | VersionState::Former) { a.button href=(format!("/challenge?own={}", version.id)) { "Challenge with v" (n) } }
                @if let Some(before) = before.filter(|_| may_act && version.state == VersionState::Live) { (back(before, "")) }
            }
        }
        p.lead { (lead) }
    };
    let content = html! {
        ol.steps.five { (steps(&ask, own, check.as_ref(), trial.as_ref())) }
        (why(version))
        @if let Some(trial) = &trial { (trial::card(&ask, n, trial)) }
        div.halves {
            (build_card(version, &log))
            (check_card(&ask, version, check.as_ref()).await?)
        }
        (history(&ask, &shown, &all, version.id).await?)
        section.card {
            header { h2 { "Matches of v" (n) } }
            @if played.is_empty() { p.empty { @if version.state.is_waiting() { "No matches yet. Its check match comes first." } @else { "It has played no matches." } } }
            @else { (matches::table(&ask, &played[..played.len().min(20)], Some(Viewpoint::Version(version.id.0)))) }
        }
        dl.facts {
            dt { "Submitted" } dd { (ask.settings.told(version.received, "%a %-d %b %Y %H:%M:%S")) " " span.faint { (ask.settings.zone_name()) } }
            dt { "SHA-256" } dd { code { (version.source) } }
            dt { "Who sees this page" } dd { "Your team, and the organiser." }
        }
    };
    let goes_on = version.state.is_waiting() || version.state == VersionState::Trial;
    let pace = if goes_on { 1 } else { 5 };
    let heading = frame::live("heading", "board acts work", pace, heading);
    let content = frame::live("version", "board acts work", pace, content);
    Ok(frame::with_heading(&ask, Here::Home, &answer, heading, content))
}

/// The answer to what the reader came for.
fn answer(
    ask: &Visit,
    shown: &Shown,
    own: &OwnVersion,
    trial: Option<&Trial>,
    live: Option<&EntrantVersion>,
) -> (String, String) {
    let version = &own.version;
    let n = version.n;
    let rated = shown.board.table.places.iter().find(|place| place.version == version.id.0);
    let rated = rated.map_or(0, |place| place.matches as i64);
    let told = trial.map(|trial| trial.sentence(ask));
    match version.state {
        VersionState::Live => {
            let counts = format!("{} so far.", words::many(rated, "rated match", "rated matches"));
            let better =
                trial.and_then(Trial::words).map_or_else(String::new, |words| format!(" and {words}"));
            let placing = match rated < agon_server::status::PLACING as i64 && trial.is_some() {
                true => {
                    format!(" v{n} is being placed: until it has 20, the ladder shows the version before it.")
                }
                false => String::new(),
            };
            (
                format!("v{n} is live{better}"),
                format!("{}{counts}{placing}", told.map_or_else(String::new, |told| told + " ")),
            )
        }
        VersionState::Former => (
            match (is_declined(own), trial) {
                (true, Some(trial)) => format!("v{n} did not replace v{}", trial.kept.against_n),
                (true, None) => format!("v{n} was never live"),
                (false, _) => format!("v{n} no longer plays"),
            },
            match (&version.reason, live) {
                (Some(reason), _) => words::sentence(reason),
                (None, Some(live)) => {
                    format!("v{} plays for the team now. This version's matches still count.", live.n)
                }
                (None, None) => {
                    "No version plays for the team now. This version's matches still count.".to_owned()
                }
            },
        ),
        VersionState::Failed if was_replaced(version) => {
            let cause = version.cause.as_ref().map_or_else(String::new, |cause| {
                format!("{} {}", cause.what, cause.fix.as_deref().unwrap_or_default())
            });
            (format!("v{n} was replaced"), cause)
        }
        VersionState::Failed => (
            format!("v{n} cannot play"),
            match live {
                None => {
                    "You have nothing on the ladder: fix what is described below and submit again.".to_owned()
                }
                Some(live) => format!(
                    "v{} goes on playing as before. Fix what is described below and submit again.",
                    live.n
                ),
            },
        ),
        VersionState::Trial => (
            format!("v{n} is in a trial"),
            format!("It replaces the live version if it proves better. {}", told.unwrap_or_default()),
        ),
        VersionState::Draft | VersionState::Received => (
            format!("v{n} is being checked"),
            format!(
                "It is waiting to be built. Then it plays a check match; if it passes, {}.",
                after_check(version, live)
            ),
        ),
        VersionState::Building | VersionState::Checking => (
            format!(
                "v{n} is being {}",
                if version.state == VersionState::Building { "built" } else { "checked" }
            ),
            format!("It is built and plays a check match; if it passes, {}.", after_check(version, live)),
        ),
    }
}

/// What follows a check match that was passed.
fn after_check(version: &EntrantVersion, live: Option<&EntrantVersion>) -> String {
    match live.filter(|_| version.only_if_better) {
        Some(live) => format!("it plays a trial against v{}", live.n),
        None => "it goes live".to_owned(),
    }
}

/// Why it failed, beginning with whose fault it is.
fn why(version: &EntrantVersion) -> Markup {
    if was_replaced(version) {
        return html! {};
    }
    let Some(cause) = &version.cause else {
        return html! {
            @if let Some(reason) = version.reason.as_ref().filter(|_| version.state == VersionState::Failed) {
                section.card { header { h2 { "What happened" } } div.in { pre.said { (reason) } } }
            }
        };
    };
    own::cause(
        cause,
        stage(cause.stage),
        html! {
            @if cause.whose == Whose::Ours { p.fix { "Nothing is wrong with your bot. Submit it again; if that does not help, tell an organiser." } }
        },
    )
}

/// Whether a newer upload took its place before it was checked: nobody's fault.
fn was_replaced(version: &EntrantVersion) -> bool {
    version.cause.as_ref().is_some_and(|cause| cause.stage == Stage::Waiting)
}

/// The name of a stage.
pub fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Waiting => "before it was checked",
        Stage::Unpacking => "while it was unpacked",
        Stage::Building => "in its build",
        Stage::Starting => "when it was started",
        Stage::Match => "in its check match",
    }
}

/// Whether it passed its check and was never live: it was not shown to be better than the version before it.
fn is_declined(own: &OwnVersion) -> bool {
    let was_live = own.steps.iter().any(|(state, _)| *state == VersionState::Live);
    own.version.state == VersionState::Former && !was_live
}

/// The label of the button that makes a version live, up to its number.
fn way_back(own: &OwnVersion) -> &'static str {
    if is_declined(own) { "Make live: v" } else { "Go back to v" }
}

/// How many of the steps from upload to ladder are done, and whether the next failed.
fn progress(own: &OwnVersion) -> (usize, bool) {
    let version = &own.version;
    match (version.state, version.cause.as_ref().map(|cause| cause.stage)) {
        (VersionState::Received | VersionState::Building | VersionState::Draft, _) => (1, false),
        (VersionState::Checking, _) => (2, false),
        (VersionState::Trial, _) => (3, false),
        (VersionState::Former, _) if is_declined(own) => (3, false),
        (VersionState::Live | VersionState::Former, _) => (4, false),
        (VersionState::Failed, Some(Stage::Waiting | Stage::Unpacking | Stage::Building)) => (1, true),
        (VersionState::Failed, _) => (2, true),
    }
}

/// The steps from upload to ladder, each with when it was or how long it took.
fn steps(ask: &Visit, own: &OwnVersion, check: Option<&StoredMatch>, trial: Option<&Trial>) -> Markup {
    let version = &own.version;
    let (over, failed) = progress(own);
    let when = |state| own.steps.iter().find(|(own, _)| *own == state).map(|(_, at)| *at);
    let clock = |at: Time| ask.settings.told(at, "%H:%M:%S");
    let took = |from: VersionState, to: &[VersionState]| {
        let begun = when(from)?;
        let ended = to.iter().filter_map(|state| when(*state)).filter(|at| *at >= begun).min()?;
        Some(words::span(ended.0 - begun.0))
    };
    use VersionState::{Building, Checking, Failed, Former, Live, Received, Trial as Tried};
    let built = took(Building, &[Checking, Failed]);
    let checked = took(Checking, &[Tried, Live, Failed]);
    let how = check
        .and_then(|played| played.end.as_ref())
        .map(|(reason, steps)| format!("{reason}, {} {steps}", words::step(&ask.settings.game)));
    let live = when(Live);
    let done = |step: usize| (over >= step).then(|| "done".to_owned());
    let is_first = version.n == 1;
    let verdict = trial.map(|trial| match (trial.left(ask.now), &trial.verdict) {
        (Some(left), _) => format!("{} of at most {BLOCKS} blocks, {left}", trial.planned),
        (None, Some(verdict)) => figure(verdict),
        (None, None) => "no block was played".to_owned(),
    });
    let texts: [(&str, Option<String>, &str); 5] = [
        ("Submitted", when(Received).or(Some(version.received)).map(clock), "an archive or a single file"),
        ("Built", built.or(done(2)), "unpacked and built, without a network"),
        (
            "Check match",
            checked.map(|took| how.map_or(took.clone(), |how| format!("{took}: {how}"))).or(done(3)),
            if failed { "not played" } else { "one match without a fault" },
        ),
        (
            "Live",
            live.map(|at| format!("since {}", clock(at))).filter(|_| version.state == Live).or(done(4)),
            match (version.only_if_better, version.state) {
                (_, Former | Failed) => "it never was",
                (true, _) => "if it is better than the version before",
                (false, _) => "as soon as it passes",
            },
        ),
        (
            "Verdict",
            verdict,
            match version.state {
                _ if is_first => "none: there is no earlier version",
                Failed => "none",
                _ => "against the version before",
            },
        ),
    ];
    let goes_on = trial.is_some_and(|trial| trial.kept.ended.is_none());
    html! {
        @for (number, (title, known, usual)) in texts.into_iter().enumerate() {
            @let is_verdict = number == 4;
            @let (class, name) = match number {
                _ if is_verdict && goes_on => ("now", "clock"),
                _ if is_verdict && trial.is_some() => ("done-step", "check"),
                _ if is_verdict => ("", if is_first { "check" } else { "clock" }),
                _ if number < over => ("done-step", "check"),
                _ if number == over && failed => ("failed", "cross"),
                _ if number == over && version.state == Former => ("", "cross"),
                _ if number == over => ("now", "clock"),
                _ => ("", "clock"),
            };
            li.(class) { h3 { (icon(name)) (title) } p { (known.as_deref().unwrap_or(usual)) } }
        }
    }
}

/// The end of the build's output, where errors are.
fn build_card(version: &EntrantVersion, log: &str) -> Markup {
    let lines: Vec<&str> = log.lines().collect();
    let from = lines.len().saturating_sub(LINES);
    html! {
        section.card {
            header { h2 { "Build log" } @if !log.is_empty() { a href=(format!("/version/{}/log", version.id)) { "Whole log" } } }
            @if log.trim().is_empty() {
                p.empty { @match version.state {
                    VersionState::Received => "It is waiting to be built.",
                    VersionState::Building => "It is being built.",
                    VersionState::Failed if was_replaced(version) => "It was not built.",
                    _ => "No output: there was nothing to build, or the build printed nothing.",
                } }
            } @else {
                div.in {
                    @if from > 0 { p.faint { (from) " earlier lines are left out." } }
                    pre.said.log tabindex="0" aria-label="Build log" { (lines[from..].join("\n")) }
                }
            }
        }
    }
}

/// The outcome of the check match.
async fn check_card(
    ask: &Visit,
    version: &EntrantVersion,
    check: Option<&StoredMatch>,
) -> Result<Markup, Refused> {
    let Some(played) = check else {
        return Ok(html! { section.card { header { h2 { "Check match" } } p.empty { @match version.state {
            state if state.is_waiting() => "It comes after the build: one match, against a built-in bot if there is one.",
            VersionState::Failed => "It was not played.",
            _ => "None was needed.",
        } } } });
    };
    let seat = played.seats.iter().position(|seat| seat.version == version.id.0);
    let own = match seat {
        Some(seat) => own::of_seat(ask, played, seat).await?,
        None => None,
    };
    let tried = match (&own, ask.object) {
        (Some(own), Object::Team(team)) => puzzle::verdict(ask, team, own.tried()).await?,
        _ => None,
    };
    let fault = seat.and_then(|seat| played.seats[seat].fault.as_deref());
    let against: Vec<&str> = played
        .seats
        .iter()
        .filter(|other| other.version != version.id.0)
        .map(|other| other.name.as_str())
        .collect();
    Ok(html! {
        section.card {
            header {
                div.row { h2 { "Check match" } @match (fault, &played.end) {
                    (Some(_), _) => (chip("bad", "cross", "failed")),
                    (None, Some(_)) => (chip("good", "check", "no fault")),
                    (None, None) => (chip("live", "clock", matches::state(played))),
                } }
                a href=(format!("/match/{}", played.id)) { "Open the match" }
            }
            div.in {
                dl.facts {
                    dt { "Against" } dd { @if against.is_empty() { "itself" } @else { (against.join(", ")) } ", " (ask.site.map_of(played.map, played.seed)) }
                    @if let Some((reason, steps)) = &played.end { dt { "It ended" } dd { (reason) ", " (words::step(&ask.settings.game)) " " (steps) } }
                    @if let Some(ms) = seat.and_then(|seat| played.seats[seat].max_ms) { dt { "Slowest answer" } dd { b { (format!("{ms:.1} ms")) } @if let Some(cap) = ask.site.server.terms().clock.clock().cap { (format!(" of {cap:?}")) } } }
                    @if let Some(fault) = fault { dt { "Fault" } dd.bad-text { (fault) } }
                    @if let Some(tried) = &tried { dt { "Tests" } dd { (tried) ". They decide nothing." } }
                }
                @if let Some(own) = &own { (own.last_words()) }
            }
        }
    })
}

/// All versions of the team: the result of each, and which one the board shows.
async fn history(ask: &Visit, shown: &Shown, all: &[OwnVersion], here: VersionId) -> Result<Markup, Refused> {
    let mut rows = Vec::new();
    for own in all.iter().take(30) {
        let trial = Trial::of(ask, own.version.id).await?;
        rows.push((&own.version, trial));
    }
    let line = shown.board.lines.iter().find(|line| all.iter().any(|own| own.version.entrant == line.name));
    let place = |id: VersionId| shown.board.table.places.iter().find(|place| place.version == id.0);
    Ok(html! {
        section.card {
            header { h2 { "All versions" } span.faint { (words::many(all.len() as i64, "version", "versions")) } }
            table.dense {
                thead { tr { th scope="col" { "Version" } th scope="col" { "Age" } th scope="col" { "State" } th.number scope="col" { "Rating" } th.number.wide scope="col" { "Matches" } th.wide scope="col" { "vs previous version" } } }
                tbody { @for (version, trial) in &rows {
                    @let place = place(version.id);
                    tr.(if version.id == here { "own" } else { "" }) {
                        td { a.link href=(format!("/version/{}", version.id)) { b { "v" (version.n) } } }
                        td.time { (words::ago(version.received, ask.now)) }
                        td {
                            (team::state_chip(version))
                            @if line.is_some_and(|line| line.n == version.n && line.rated().is_some()) { " " (chip("", "flag", "on the ladder")) }
                            @if line.is_some_and(|line| line.placing == Some(version.n)) { " " (chip("live", "clock", "being placed")) }
                        }
                        td.number { @match place.and_then(|place| place.elo) { Some(elo) => b { (words::signed(elo)) }, None => span.faint { "–" } } }
                        td.number.wide { (words::count(place.map_or(0, |place| place.matches as i64))) }
                        td.wide { (trial::in_table(trial.as_ref())) }
                    }
                } }
            }
        }
    })
}

/// The whole output of its build.
pub async fn log(ask: Visit) -> Result<Response, Refused> {
    let all = all(&ask).await?;
    let own = found(&ask, &all)?;
    let log = ask.site.server.build_log(own).await?;
    let name = format!("attachment; filename=\"build-v{}.log\"", own.version.n);
    let name = HeaderValue::from_str(&name).unwrap_or(HeaderValue::from_static("attachment"));
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)], log).into_response())
}

/// Why a version cannot be made live.
pub const CANNOT_GO_LIVE: &str = "Only a version that has passed its check can be made live, unless it is live already or was taken out by a ruling.";

/// Makes a former version live again.
pub async fn live(ask: Visit) -> Result<Response, Refused> {
    let actor = ask.whoever()?.name.clone();
    if !ask.site.server.go_back(VersionId(ask.id), &actor, ask.now).await? {
        return Err(Refused::wrong(CANNOT_GO_LIVE).then("The version", &format!("/version/{}", ask.id)));
    }
    Ok(redirect::to(&format!("/version/{}", ask.id)).into_response())
}
