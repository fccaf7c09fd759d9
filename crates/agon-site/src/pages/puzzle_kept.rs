//! What the pages of puzzles send: what their engines have found and judged, and what a team keeps of it.

use agon_api::WantedInPosition;
use agon_store::acts::puzzle::{MOST_TESTS, MOST_TRIES};
use agon_store::acts::{
    DropPosition, DropPuzzle, KeepLesson, KeepPosition, KeepTry, PuzzleAnswer, SetPuzzle,
};
use agon_store::reads::{Eyes, StoredMatch};
use agon_store::{EntrantId, MatchId};
use agon_view::{Lesson, WinChance};
use axum::Form;
use axum::extract::Query;
use axum::response::{IntoResponse, Response};
use maud::html;
use serde::Deserialize;
use serde_json::json;

use crate::gate::Visit;
use crate::pages::frame::{self, Here, field, token};
use crate::pages::puzzle::{Told, keeps, missing, script, with_engines};
use crate::problem::Refused;
use crate::redirect;

/// The longest lesson, and the longest answer, in bytes.
const LONGEST: usize = 24 << 10;
/// The longest title and concept, in characters.
const LONGEST_TITLE: usize = 60;

/// What the pages send.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Sent {
    game: String,
    seat: String,
    step: String,
    lesson: String,
    puzzle: String,
    how: String,
    answer: String,
    chance: String,
    error: String,
    test: String,
    title: String,
    concept: String,
}

impl Sent {
    /// A lesson, if it can be one of this seat of a match. Its policy plays on here and at workers, too: only one of which that takes little.
    fn lesson(&self, ask: &Visit, played: &StoredMatch) -> Result<(i64, Lesson), Refused> {
        let wrong = || Refused::wrong("This is not what the engines of this page find.");
        let seat: u8 = self.seat.parse().map_err(|_| wrong())?;
        let lesson: Lesson = serde_json::from_str(&self.lesson).map_err(|_| wrong())?;
        let steps = played.end.as_ref().map_or(0, |(_, steps)| *steps);
        let is_share =
            |chance: &WinChance| (0.0..=1.0).contains(&chance.mean) && (0.0..=1.0).contains(&chance.error);
        let info = ask.site.server.table().game().info();
        let fits = self.lesson.len() <= LONGEST
            && [info.judge, info.policy].contains(&lesson.policy.as_str())
            && lesson.seat == seat
            && (1..=played.seats.len()).contains(&usize::from(seat))
            && lesson.puzzle.as_ref().is_none_or(|puzzle| {
                (1..=steps).contains(&puzzle.step)
                    && is_share(&puzzle.best.chance)
                    && is_share(&puzzle.played.chance)
            });
        if fits { Ok((i64::from(seat) - 1, lesson)) } else { Err(wrong()) }
    }

    async fn game(&self, ask: &Visit) -> Result<StoredMatch, Refused> {
        let id: i64 = self.game.trim().parse().map_err(|_| Refused::wrong("Name a match by its number."))?;
        let found = ask.site.store().one_match(Eyes::Public, MatchId(id)).await?;
        found.ok_or_else(|| Refused::wrong("There is no such match on the ladder."))
    }

    fn puzzle(&self) -> Result<i64, Refused> {
        self.puzzle.parse().map_err(|_| Refused::wrong("Name a puzzle by its number."))
    }
}

fn own_team(ask: &Visit) -> Result<EntrantId, Refused> {
    ask.whoever()?.team.ok_or_else(Refused::ours)
}

/// Keeps what the engines found in a lost match.
pub async fn learn(ask: Visit, Form(sent): Form<Sent>) -> Result<Response, Refused> {
    let played = sent.game(&ask).await?;
    let (seat, lesson) = sent.lesson(&ask, &played)?;
    let (contest, entrant, now) = (ask.site.contest(), own_team(&ask)?, ask.now);
    let lesson = serde_json::to_string(&lesson).map_err(|_| Refused::ours())?;
    let keep = KeepLesson { contest, entrant, game: played.id, seat, lesson, now };
    let kept = ask.site.store().act(keep).await?;
    let id = kept.ok_or_else(|| Refused::wrong("Your team did not lose this match on the ladder."))?;
    Ok(redirect::to(&format!("/puzzle/{id}")).into_response())
}

/// Keeps an answer. That it solves a puzzle which is set for everybody is judged here, too: its solvers are named.
pub async fn answer(ask: Visit, Form(sent): Form<Sent>) -> Result<Response, Refused> {
    let entrant = own_team(&ask)?;
    let kept = ask.site.store().puzzle(sent.puzzle()?, Some(entrant)).await?;
    let one = Told::of(kept.ok_or_else(|| Refused::wrong("There is no such puzzle."))?)?;
    let puzzle = one.puzzle().ok_or_else(|| Refused::wrong("There is nothing to answer."))?;
    let share = |text: &str| text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    let wrong = || Refused::wrong("This is not what the engines of this page judge.");
    let is_shown = sent.how == "shown";
    let mut chance = match is_shown {
        true => puzzle.best.chance.clone(),
        false => WinChance {
            mean: share(&sent.chance).ok_or_else(wrong)?,
            error: share(&sent.error).ok_or_else(wrong)?,
            count: puzzle.best.chance.count,
        },
    };
    if sent.answer.len() > LONGEST || !(is_shown || sent.how == "hand") {
        return Err(wrong());
    }
    if one.kept.set.is_some() && !is_shown && puzzle.is_solved_by(&chance) {
        let (policy, seat, step) = (one.lesson.policy.clone(), one.lesson.seat, puzzle.step);
        let judged = ask.site.server.judged(one.kept.game, policy, (seat, step), sent.answer.clone()).await?;
        chance = judged.map_err(Refused::wrong)?;
    }
    let solved = !is_shown && puzzle.is_solved_by(&chance);
    let (how, answer) = (sent.how.clone(), sent.answer.clone());
    let answer = PuzzleAnswer { how, answer, chance: chance.mean, error: chance.error, solved };
    let keep = KeepTry { contest: ask.site.contest(), entrant, puzzle: one.kept.id, answer, now: ask.now };
    if !ask.site.store().act(keep).await? {
        let most = MOST_TRIES;
        return Err(Refused::wrong(format!(
            "{most} answers to a puzzle are kept, and your team has given so many."
        )));
    }
    Ok(redirect::to(&format!("/puzzle/{}", one.kept.id)).into_response())
}

/// Keeps the position of a puzzle as a test: of the order in `answer`, if there is one, otherwise of what it keeps.
pub async fn test(ask: Visit, Form(sent): Form<Sent>) -> Result<Response, Refused> {
    let entrant = own_team(&ask)?;
    let kept = ask.site.store().puzzle(sent.puzzle()?, Some(entrant)).await?;
    let one = Told::of(kept.ok_or_else(|| Refused::wrong("There is no such puzzle."))?)?;
    let puzzle = one.puzzle().ok_or_else(|| Refused::wrong("There is nothing to test."))?;
    let wanted = match sent.answer.trim() {
        "" => WantedInPosition::Keeps { chance: keeps(puzzle), policy: one.lesson.policy.clone() },
        answer if answer.len() <= LONGEST => WantedInPosition::Order(answer.to_owned()),
        _ => return Err(Refused::wrong("This order is too long.")),
    };
    let keep = KeepPosition {
        contest: ask.site.contest(),
        entrant,
        game: one.kept.game,
        seat: one.kept.seat as i64,
        step: i64::from(puzzle.step),
        wanted: serde_json::to_string(&wanted).map_err(|_| Refused::ours())?,
        now: ask.now,
    };
    if !ask.site.store().act(keep).await? {
        let most = MOST_TESTS;
        return Err(Refused::wrong(format!("A team keeps at most {most} tests: drop one first."))
            .then("Your losses", "/losses"));
    }
    Ok(redirect::to(&format!("/puzzle/{}", one.kept.id)).into_response())
}

pub async fn drop_test(ask: Visit, Form(sent): Form<Sent>) -> Result<Response, Refused> {
    let test = sent.test.parse().map_err(|_| Refused::wrong("Name a test by its number."))?;
    ask.site.store().act(DropPosition { entrant: own_team(&ask)?, test }).await?;
    Ok(redirect::to("/losses").into_response())
}

/// Looks for a puzzle to set: the page's engines search the match, or one step of it.
pub async fn set_form(ask: Visit, Query(sent): Query<Sent>) -> Result<Response, Refused> {
    let played = sent.game(&ask).await?;
    let seat = sent.seat.trim().parse::<usize>().ok().filter(|seat| (1..=played.seats.len()).contains(seat));
    let seat = seat.ok_or_else(|| Refused::wrong("Name a seat of this match."))?;
    let content = html! {
        div #puzzle { (missing("The match is searched")) }
        form.card.form #set method="post" action="/organise/puzzle" hidden {
            (token(&ask))
            input type="hidden" name="game" value=(played.id);
            input type="hidden" name="seat" value=(seat);
            input type="hidden" name="lesson";
            (field("Title", "", html! { input name="title" required maxlength=(LONGEST_TITLE); }))
            (field("Concept", "What it is about: line of fire, search, neutrals.", html! { input name="concept" maxlength=(LONGEST_TITLE); }))
            button.main { "Set it for everybody" }
        }
        (script(&json!({
            "replay": format!("/match/{}/replay", played.id),
            "seat": seat,
            "step": sent.step.trim().parse::<u32>().ok(),
            "set": true,
        })))
    };
    let lead = "The order that cost this seat most is looked for; if another would have kept 15 points more, it can be a puzzle.";
    let answer = format!("A puzzle from match {}?", played.id);
    Ok(with_engines(frame::page(&ask, Here::Puzzles, &answer, lead, content)))
}

pub async fn set(ask: Visit, Form(sent): Form<Sent>) -> Result<Response, Refused> {
    let played = sent.game(&ask).await?;
    let (seat, lesson) = sent.lesson(&ask, &played)?;
    let title: String = sent.title.trim().chars().take(LONGEST_TITLE).collect();
    if title.is_empty() || lesson.puzzle.is_none() {
        return Err(Refused::wrong("A puzzle has a title, and something to solve."));
    }
    let set = SetPuzzle {
        contest: ask.site.contest(),
        game: played.id,
        seat,
        lesson: serde_json::to_string(&lesson).map_err(|_| Refused::ours())?,
        title,
        concept: sent.concept.trim().chars().take(LONGEST_TITLE).collect(),
        actor: ask.whoever()?.name.clone(),
        now: ask.now,
    };
    let id = ask.site.store().act(set).await?;
    let id = id.ok_or_else(|| {
        Refused::wrong("There is no such match on the ladder, or there are too many puzzles.")
    })?;
    Ok(redirect::to(&format!("/puzzle/{id}")).into_response())
}

pub async fn drop_set(ask: Visit, Form(sent): Form<Sent>) -> Result<Response, Refused> {
    let (contest, puzzle, now) = (ask.site.contest(), sent.puzzle()?, ask.now);
    let actor = ask.whoever()?.name.clone();
    ask.site.store().act(DropPuzzle { contest, puzzle, actor, now }).await?;
    Ok(redirect::to("/losses").into_response())
}
