//! What a team learns from: why it loses, and puzzles from its lost matches and the organiser's. The engines of the pages search and judge;
//! what they find is kept here.

use std::collections::{BTreeMap, BTreeSet};

use agon_api::{TeamTest, TriedInPosition, WantedInPosition};
use agon_store::reads::{Eyes, StoredMatch, StoredPosition, StoredPuzzle};
use agon_store::{EntrantId, MatchId};
use agon_view::{Lesson, Puzzle, WinChance};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, PreEscaped, html};
use serde_json::json;

use crate::gate::Visit;
use crate::pages::draw::{chip, icon};
use crate::pages::frame::{self, Here, field, token};
use crate::pages::{matches, words};
use crate::problem::Refused;

/// What these pages may do: also run the engines.
const ENGINES: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; style-src 'self' \
                       'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; \
                       frame-ancestors 'none'";
/// How many of a team's lost matches are searched and listed.
const MOST: usize = 60;
/// How much less than the best order a test asks for.
const LESS: f64 = 0.15;

/// A puzzle with what it says.
pub(super) struct Told {
    pub kept: StoredPuzzle,
    pub lesson: Lesson,
}

impl Told {
    pub fn of(kept: StoredPuzzle) -> Result<Self, Refused> {
        let lesson = serde_json::from_str(&kept.lesson).map_err(|error| {
            tracing::warn!("puzzle {} cannot be read: {error}", kept.id);
            Refused::ours()
        })?;
        Ok(Self { kept, lesson })
    }

    /// The turn, if there is something to solve: in the game's words.
    pub fn puzzle(&self) -> Option<&Puzzle> {
        self.lesson.puzzle.as_ref()
    }
}

/// `69 → 30 %`: the chance after the best order, and after what was played.
fn fell(puzzle: &Puzzle) -> String {
    let of = |chance: &WinChance| (100.0 * chance.mean).round();
    format!("{} → {} %", of(&puzzle.best.chance), of(&puzzle.played.chance))
}

/// Who else sat in a match.
fn against(played: Option<&StoredMatch>, seat: usize) -> String {
    let Some(played) = played else { return "a match".to_owned() };
    let others = played.seats.iter().enumerate().filter(|(number, _)| *number != seat);
    others.map(|(_, seat)| matches::label(seat)).collect::<Vec<_>>().join(", ")
}

/// Matches by their numbers, as far as the caller may see them.
async fn matches_of(
    ask: &Visit,
    ids: impl Iterator<Item = MatchId>,
) -> Result<BTreeMap<MatchId, StoredMatch>, Refused> {
    let mut found = BTreeMap::new();
    for id in ids.collect::<BTreeSet<_>>() {
        if let Some(played) = ask.site.store().one_match(Eyes::Public, id).await? {
            found.insert(id, played);
        }
    }
    Ok(found)
}

fn team(ask: &Visit) -> Option<EntrantId> {
    ask.person().and_then(|person| person.team)
}

/// The scripts and what they are told.
pub(super) fn script(told: &serde_json::Value) -> Markup {
    // Inert: but nothing in it may end the element.
    let text = told.to_string().replace('<', "\\u003c");
    html! {
        script type="application/json" id="told" { (PreEscaped(text)) }
        link rel="stylesheet" href="/viewer/puzzle.css";
        script src="/viewer/engine.js" defer {}
        script src="/viewer/puzzle.js" defer {}
    }
}

pub(super) fn with_engines(page: Markup) -> Response {
    ([(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(ENGINES))], page).into_response()
}

/// What is missing without scripts or engines.
pub(super) fn missing(what: &str) -> Markup {
    html! {
        noscript { p.note { (icon("warn")) span { (what) " by this page, which needs JavaScript and WebAssembly." } } }
        @if !agon_web::app::has_engines() {
            p.note { (icon("warn")) span { (what) " by the engines in this page, and this server was built without them: "
                code { "agon doctor" } " says what to install. In a terminal " code { "agon analyse" } " does the same for a replay." } }
        }
    }
}

/// A team's losses, and all puzzles.
pub async fn losses(ask: Visit) -> Result<Response, Refused> {
    let store = ask.site.store();
    let set = store.set_puzzles(team(&ask)).await?;
    let Some(team) = team(&ask) else {
        let content = html! { (set_card(&ask, &set, None).await?) };
        let lead = "Positions from matches of the ladder. With a team of your own you also see what its losses teach.";
        return Ok(frame::page(&ask, Here::Puzzles, "Puzzles", lead, content).into_response());
    };
    let name = store.entrant(team).await?.map(|team| team.name).unwrap_or_default();
    let site = ask.site.clone();
    let losses = ask.site.server.losses(team, &name, |map, seed| site.map_of(map, seed)).await?;
    let told: Vec<Told> =
        store.own_puzzles(team).await?.into_iter().map(Told::of).collect::<Result<_, _>>()?;
    let lost = ask.site.server.ladder_matches(team, true, MOST).await?;
    let open: Vec<(MatchId, usize)> = lost
        .iter()
        .filter_map(|played| Some((played.id, played.seats.iter().position(|seat| seat.team == team.0)?)))
        .filter(|(id, seat)| !told.iter().any(|one| (one.kept.game, one.kept.seat) == (*id, *seat)))
        .collect();
    let tests = store.positions(team).await?;
    let ids = told.iter().map(|one| one.kept.game).chain(tests.iter().map(|test| test.game));
    let played = matches_of(&ask, ids).await?;
    let content = html! {
        div.columns {
            div {
                (own_card(&ask, &told, &tests, &played, None))
                div.in #search data-open=(open.len()) {}
                @if !open.is_empty() { (missing("Lost matches are searched")) }
                (tests_card(&ask, &tests, &played))
            }
            div {
                section.card {
                    header { h2 { "Why it loses" } }
                    @for (heading, groups) in losses.sorts() { @if !groups.is_empty() {
                        div.in { h3 { (heading) } @for group in groups.iter().take(5) {
                            p { (group.sentence) ". " @for loss in group.matches.iter().take(3) { @if let Some(id) = &loss.replay {
                                a href=(format!("/match/{id}/view#turn={}", loss.step.unwrap_or(1))) title=(loss.fell().unwrap_or_default()) { "match " (id) } " "
                            } } }
                        } }
                    } }
                    @if !losses.course.is_empty() { div.in { h3 { "The usual course" } @for line in losses.course_lines() { p { (line) "." } } } }
                    @if !losses.notes.is_empty() { div.in { @for note in &losses.notes { p.faint { (words::sentence(note)) } } } }
                }
                (set_card(&ask, &set, None).await?)
            }
        }
        (script(&json!({
            "open": open.iter().map(|(id, seat)| json!([id.0, seat + 1])).collect::<Vec<_>>(),
            "form": ask.form,
        })))
    };
    let lead =
        "What is more common in the losses than in the other matches, and the single orders that lost one.";
    Ok(with_engines(frame::page(&ask, Here::Puzzles, &losses.heading(), lead, content)))
}

/// The team's own puzzles; `here` is the one being looked at.
fn own_card(
    ask: &Visit,
    told: &[Told],
    tests: &[StoredPosition],
    played: &BTreeMap<MatchId, StoredMatch>,
    here: Option<i64>,
) -> Markup {
    let puzzles: Vec<(&Told, &Puzzle)> = told.iter().filter_map(|one| Some((one, one.puzzle()?))).collect();
    let done = puzzles.iter().filter(|(one, _)| one.kept.solved || one.kept.shown).count();
    let none = told.len() - puzzles.len();
    let is_tested = |one: &Told, puzzle: &Puzzle| {
        tests
            .iter()
            .any(|test| (test.game, test.seat, test.step) == (one.kept.game, one.kept.seat, puzzle.step))
    };
    html! {
        section.card #taught {
            header { div.row { h2 { "Yours" } span.faint { (done) " of " (puzzles.len()) " done" } } a href="/losses" { "Your losses" } }
            @if puzzles.is_empty() { p.empty { "No puzzle yet. " @if told.is_empty() { "Each lost match of the ladder is searched for the order that lost it." } } }
            @else {
                table.dense {
                    thead { tr { th scope="col" { "When" } th scope="col" { "Against" } th.number scope="col" { "Chance" } th.number scope="col" { "" } } }
                    tbody { @for (one, puzzle) in &puzzles {
                        tr.(if here == Some(one.kept.id) { "own" } else { "" }) {
                            td { a.link href=(format!("/puzzle/{}", one.kept.id)) { b { (puzzle.moment) } } }
                            td.who { (against(played.get(&one.kept.game), one.kept.seat)) }
                            td.number { (fell(puzzle)) }
                            td.number { (state(&one.kept, is_tested(one, puzzle))) }
                        }
                    } }
                }
            }
            @if none > 0 { div.in { p.faint {
                "Of " (words::many(told.len() as i64, "lost match", "lost matches")) " searched, " (none) " gave none: no single order was 15 points better"
                @if let Some(one) = told.iter().find(|one| one.puzzle().is_none()) { ", as in " a href=(format!("/puzzle/{}", one.kept.id)) { "this one" } }
                "."
            } } }
            @if let Some(next) = here.and(puzzles.iter().find(|(one, _)| !one.kept.solved && !one.kept.shown && Some(one.kept.id) != here)) {
                div.in { a.button #next href=(format!("/puzzle/{}", next.0.kept.id)) { "Next " kbd { "N" } } }
            }
            @if !ask.form.is_empty() && here.is_none() { div.in { p.faint { "Only your team sees these." } } }
        }
    }
}

fn state(kept: &StoredPuzzle, is_tested: bool) -> Markup {
    html! {
        @if is_tested { (chip("good", "check", "a test")) }
        @else if kept.solved { (chip("good", "check", "solved")) }
        @else if kept.shown { "shown" }
        @else if kept.tries > 0 { (words::many(kept.tries, "try", "tries")) }
        @else { "open" }
    }
}

/// The puzzles that organisers have set, hardest last.
async fn set_card(ask: &Visit, set: &[StoredPuzzle], here: Option<i64>) -> Result<Markup, Refused> {
    let shown = ask.site.shown().await?;
    let teams = shown.teams.values().filter(|team| !team.boss && team.live.is_some()).count();
    let organises = ask.person().is_some_and(|person| person.organiser);
    Ok(html! {
        section.card {
            header { h2 { "Set by the organiser" } span.faint { "teams that solved it" } }
            @if set.is_empty() { p.empty { "None yet." } }
            @else {
                table.dense { tbody { @for puzzle in set {
                    @let (title, concept) = puzzle.set.clone().unwrap_or_default();
                    tr.(if here == Some(puzzle.id) { "own" } else { "" }) {
                        td { @if puzzle.solved { span.good-text title="solved" { (icon("check")) } } }
                        td.who { a.link href=(format!("/puzzle/{}", puzzle.id)) { b { (title) } } " " span.faint { (concept) } }
                        td.number { b { (puzzle.solvers) } " of " (teams) }
                    }
                } } }
            }
            @if organises {
                form.form method="get" action="/organise/puzzle" {
                    div.three {
                        (field("Match", "", html! { input name="game" inputmode="numeric" required; }))
                        (field("Seat", "", html! { input name="seat" inputmode="numeric" value="1" required; }))
                        (field("Step", "empty: the costliest", html! { input name="step" inputmode="numeric"; }))
                    }
                    button { "Look for a puzzle" }
                }
            }
        }
    })
}

/// The positions in which the team's uploads are tried.
fn tests_card(ask: &Visit, tests: &[StoredPosition], played: &BTreeMap<MatchId, StoredMatch>) -> Markup {
    html! {
        @if !tests.is_empty() {
            section.card {
                header { h2 { "Tests of the team" } span.faint { (tests.len()) " of " (agon_store::acts::puzzle::MOST_TESTS) ", tried on every upload" } }
                table.dense { tbody { @for test in tests {
                    tr {
                        td { a.link href=(format!("/match/{}/view#turn={}", test.game, test.step.saturating_sub(1))) { (name(ask, test, played)) } }
                        td { (wanted(test)) }
                        td.number { form method="post" action="/losses/test/drop" { (token(ask)) input type="hidden" name="test" value=(test.id); button.plain { "Drop" } } }
                    }
                } } }
            }
        }
    }
}

/// What a test is called: `step 42 against Kestrel v3`.
fn name(ask: &Visit, test: &StoredPosition, played: &BTreeMap<MatchId, StoredMatch>) -> String {
    let step = words::step(&ask.settings.game);
    format!("{step} {} against {}", test.step, against(played.get(&test.game), test.seat))
}

fn wanted(test: &StoredPosition) -> String {
    match serde_json::from_str::<WantedInPosition>(&test.wanted) {
        Ok(WantedInPosition::Order(order)) => format!("answers {}", order.trim().replace('\n', "; ")),
        Ok(WantedInPosition::Keeps { chance, .. }) => format!("keeps {:.0} % or more", 100.0 * chance),
        Err(_) => String::new(),
    }
}

/// The tests of a team as its programs see them.
///
/// # Errors
/// Those of the store.
pub async fn tests(ask: &Visit, team: EntrantId) -> Result<Vec<TeamTest>, Refused> {
    let tests = ask.site.store().positions(team).await?;
    let played = matches_of(ask, tests.iter().map(|test| test.game)).await?;
    let told = |test: &StoredPosition| {
        Some(TeamTest {
            id: test.id,
            game: test.game.0,
            seat: u8::try_from(test.seat + 1).ok()?,
            step: test.step,
            name: name(ask, test, &played),
            wanted: serde_json::from_str(&test.wanted).ok()?,
        })
    };
    Ok(tests.iter().filter_map(told).collect())
}

/// How a version did in its team's positions: `5 of 6 tests pass; turn 42 against Kestrel v3 fails: played 13 MOVE 7 3`.
pub async fn verdict(
    ask: &Visit,
    team: EntrantId,
    tried: &[TriedInPosition],
) -> Result<Option<String>, Refused> {
    if tried.is_empty() {
        return Ok(None);
    }
    let tests = ask.site.store().positions(team).await?;
    let played = matches_of(ask, tests.iter().map(|test| test.game)).await?;
    let named = |one: &TriedInPosition| {
        let test = tests.iter().find(|test| test.id == one.id);
        test.map_or_else(|| "a test that was dropped".to_owned(), |test| name(ask, test, &played))
    };
    let passed = tried.iter().filter(|one| one.passed == Some(true)).count();
    let mut told = vec![format!("{passed} of {} tests pass", tried.len())];
    for one in tried.iter().filter(|one| one.passed == Some(false)) {
        let played = one.answer.as_ref().map(|answer| answer.trim().replace('\n', "; "));
        let why = match (played, one.percent) {
            (Some(answer), Some(percent)) => format!("played {answer}, which keeps {percent} %"),
            (Some(answer), None) => format!("played {answer}"),
            (None, _) => one.why.clone().unwrap_or_else(|| "no answer".to_owned()),
        };
        told.push(format!("{} fails: {why}", named(one)));
    }
    let untried = tried.iter().filter(|one| one.passed.is_none()).count();
    if untried > 0 {
        told.push(format!("{untried} could not be tried in the time for it"));
    }
    Ok(Some(told.join("; ")))
}

/// One puzzle.
pub async fn page(ask: Visit) -> Result<Response, Refused> {
    let store = ask.site.store();
    let kept = store.puzzle(ask.id, team(&ask)).await?.ok_or_else(Refused::nothing)?;
    let one = Told::of(kept)?;
    let game = one.kept.game;
    let team = team(&ask);
    let (own, tests, tries) = match team {
        Some(team) => {
            let own =
                store.own_puzzles(team).await?.into_iter().map(Told::of).collect::<Result<Vec<_>, _>>()?;
            (own, store.positions(team).await?, store.puzzle_answers(one.kept.id, team).await?)
        }
        None => Default::default(),
    };
    let set = store.set_puzzles(team).await?;
    let ids = own.iter().map(|one| one.kept.game).chain([game]);
    let played = matches_of(&ask, ids).await?;
    let own_match = played.get(&game).ok_or_else(Refused::nothing)?;
    let others = against(Some(own_match), one.kept.seat);
    let crumbs = html! {
        p.crumbs { a href="/losses" { "Your losses" } " / "
            a href=(format!("/match/{game}")) { (others) ", seed " (own_match.seed) ", seat " (one.kept.seat + 1) }
            @if let Some(at) = own_match.settled { ", " (ask.settings.told(at, "%a %H:%M")) } }
    };
    let Some(puzzle) = one.puzzle() else {
        let lead = format!(
            "No other order, at any turn, would have kept 15 points more. Behind from {} on, as the position's features tell.",
            one.lesson.behind_at
        );
        let heading = html! { (crumbs) h1 { "No single order lost this match" } p.lead { (lead) } };
        let content = html! { p.row { a.button.main href=(format!("/match/{game}/view#turn={}", one.lesson.behind)) { "Watch it" } a.button href="/losses" { "Your losses" } } };
        let title = "No single order lost this match";
        return Ok(frame::with_heading(&ask, Here::Puzzles, title, heading, content).into_response());
    };
    let percent = |chance: &WinChance| format!("{:.0} %", 100.0 * chance.mean);
    let moment = words::sentence(&puzzle.moment);
    let moment = moment.trim_end_matches('.');
    let answer = match &one.kept.set {
        Some((title, concept)) if concept.is_empty() => title.clone(),
        Some((title, concept)) => format!("{title}: {concept}"),
        None => format!(
            "{moment}: your chance fell from {} to {}",
            percent(&puzzle.best.chance),
            percent(&puzzle.played.chance)
        ),
    };
    let lead = match one.kept.set {
        Some(_) => format!("{moment}. What would you play in seat {}?", one.kept.seat + 1),
        None => format!("What would you play? You are in seat {}.", one.kept.seat + 1),
    };
    let solvers = match one.kept.set {
        Some(_) => store.solvers(one.kept.id).await?,
        None => Vec::new(),
    };
    let is_tested =
        tests.iter().any(|test| (test.game, test.seat, test.step) == (game, one.kept.seat, puzzle.step));
    let organises = ask.person().is_some_and(|person| person.organiser) && one.kept.set.is_some();
    let told = json!({
        "puzzle": one.kept.id,
        "replay": format!("/match/{game}/replay"),
        "seat": one.kept.seat + 1,
        "lesson": one.lesson,
        "who": matches::label(&own_match.seats[one.kept.seat]),
        "tries": tries.iter().map(|one| json!({
            "how": one.how, "answer": one.answer, "chance": one.chance, "error": one.error, "solved": one.solved,
        })).collect::<Vec<_>>(),
        "tested": is_tested,
        "keeps": keeps(puzzle),
        "form": if team.is_some() { ask.form.as_str() } else { "" },
    });
    let content = html! {
        div.columns.puzzle {
            div {
                div #puzzle { (missing("Answers are judged")) }
            }
            div {
                @if team.is_some() { (own_card(&ask, &own, &tests, &played, Some(one.kept.id))) }
                (set_card(&ask, &set, Some(one.kept.id)).await?)
                section.card { header { h2 { "How it is judged" } } div.in {
                    p { (puzzle.best.chance.count) " play-outs after each order by " (one.lesson.policy) ", a built-in bot; ± is 95 %. Solved: within 10 points of the best order known. "
                        "A try costs nothing and is seen by your team only." }
                    @if team.is_none() { p { a href=(format!("/sign-in?next=/puzzle/{}", one.kept.id)) { "Sign in" } " with a team to keep your answers." } }
                } }
                @if !solvers.is_empty() { section.card { header { h2 { "Solved by" } } div.in { p { (solvers.join(", ")) } } } }
                @if organises { form method="post" action="/organise/puzzle/drop" { (token(&ask)) input type="hidden" name="puzzle" value=(one.kept.id); button.danger { "Drop this puzzle" } } }
            }
        }
        (script(&told))
    };
    let heading = html! { (crumbs) h1 { (answer) } p.lead { (lead) } };
    Ok(with_engines(frame::with_heading(&ask, Here::Puzzles, &answer, heading, content)))
}

/// The chance that a test of a puzzle asks for: less than the best, in whole points.
pub(super) fn keeps(puzzle: &Puzzle) -> f64 {
    ((100.0 * (puzzle.best.chance.mean - LESS)).round() / 100.0).max(0.01)
}
