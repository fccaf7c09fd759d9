//! The part of a match that belongs to one team: what its program wrote, how long its answers took, and what it did wrong.
//! The rows of others are never even read here: the query names the owner of the seat.

use agon_api::TriedInPosition;
use agon_replay::{Replay, SeatNote};
use agon_store::reads::StoredMatch;
use agon_store::{Cause, EntrantId, Whose};
use agon_worker::Private;
use axum::extract::Query;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;
use std::fmt::Write as _;

use crate::gate::Visit;
use crate::pages::draw::{chip, icon};
use crate::pages::{matches, words};
use crate::problem::Refused;
use crate::rights::{Object, Verb, may};

/// How many bytes of output a page shows; the whole of it is a file.
const SHOWN: usize = 12_000;
/// How many of the slowest answers are listed.
const SLOWEST: usize = 5;

/// What belongs to a team in one of its seats.
pub(crate) struct Own {
    /// The seat, from 0.
    pub seat: usize,
    private: Private,
}

/// What is kept of each seat that the caller may look into.
pub async fn of_match(ask: &Visit, played: &StoredMatch) -> Result<Vec<Own>, Refused> {
    let mut teams: Vec<EntrantId> =
        played.seats.iter().filter(|seat| !seat.boss).map(|seat| EntrantId(seat.team)).collect();
    teams.sort();
    teams.dedup();
    let mut all = Vec::new();
    for team in teams.into_iter().filter(|team| may(&ask.actor, Verb::Look, Object::Team(*team))) {
        let own = ask.site.server.own_of_match(team, played.id).await?;
        all.extend(own.into_iter().map(|(seat, private)| Own { seat, private }));
    }
    all.sort_by_key(|own| own.seat);
    Ok(all)
}

/// The same for one seat.
pub async fn of_seat(ask: &Visit, played: &StoredMatch, seat: usize) -> Result<Option<Own>, Refused> {
    Ok(of_match(ask, played).await?.into_iter().find(|own| own.seat == seat))
}

/// How long a seat's answers took.
#[derive(Default)]
pub struct Times {
    /// Each in milliseconds, with its step from 1.
    answers: Vec<(u32, f64)>,
    /// The total as charged, in milliseconds; none if the replay does not say it.
    charged: Option<f64>,
}

impl Times {
    /// Those of a seat, from 0.
    pub fn of(replay: &Replay, seat: usize) -> Self {
        let own = replay.timing.iter().filter(|((_, of), _)| of.index() == seat);
        let answers = own.map(|((step, _), timing)| (step + 1, timing.wall_us as f64 / 1000.0)).collect();
        let facts = replay.end.as_ref().map(|end| &end.facts["times"][seat]["charged_ms"]);
        Self { answers, charged: facts.and_then(serde_json::Value::as_f64) }
    }
}

impl Own {
    /// The whole of standard error and the like as text, each piece under its step, which is called `word`.
    fn text(&self, word: &str) -> String {
        let mut text = String::new();
        if self.private.left_out > 0 {
            let _ = writeln!(text, "({} earlier pieces were not kept)", self.private.left_out);
        }
        let mut last = None;
        for note in &self.private.notes {
            if last != Some(note.step) {
                let _ = writeln!(text, "--- {word} {}", note.step + 1);
                last = Some(note.step);
            }
            let _ = writeln!(text, "{}{}", kind(note), note.text.trim_end_matches('\n'));
        }
        text
    }

    /// What it did in its team's positions, after a check match.
    pub fn tried(&self) -> &[TriedInPosition] {
        &self.private.positions
    }

    /// The end of it, for a card on another page.
    pub fn last_words(&self) -> Markup {
        let text: Vec<&str> = self
            .private
            .notes
            .iter()
            .filter(|note| note.kind == agon_replay::data::note::STDERR)
            .map(|note| note.text.as_str())
            .collect();
        let whole = text.concat();
        let lines: Vec<&str> = whole.lines().collect();
        let end = &lines[lines.len().saturating_sub(12)..];
        html! {
            @if !end.is_empty() {
                p.fix.faint { "The last lines it wrote on standard error:" }
                pre.said.log tabindex="0" aria-label="Standard error" { (end.join("\n").chars().take(4_000).collect::<String>()) }
            }
        }
    }

    pub fn card(&self, ask: &Visit, played: &StoredMatch, times: &Times) -> Markup {
        let Times { answers: times, charged } = times;
        let clock = ask.site.server.terms().clock.clock();
        let name = played.seats.get(self.seat).map(matches::label).unwrap_or_default();
        let view = |step: u32| format!("/match/{}/view#turn={step}", played.id);
        let mut slowest: Vec<&(u32, f64)> = times.iter().collect();
        slowest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        slowest.truncate(SLOWEST);
        let text = self.text(words::step(&ask.settings.game));
        let from = text.ceil_char_boundary(text.len().saturating_sub(SHOWN));
        html! {
            section.card {
                header { div.row { h2 { (name) ", seat " (self.seat + 1) } (chip("", "people", "your team and the organiser only")) } }
                @if !self.private.faults.is_empty() {
                    ul.items { @for fault in self.private.faults.iter().take(20) { li { (icon("warn")) div {
                        h3 { (fault.kind) ", " a href=(view(fault.step + 1)) { (fault.turn) } @if fault.breaks { " " (chip("bad", "cross", "no answer")) } }
                        p.told { (fault.what) }
                        @if let Some(fix) = &fault.fix { p { b { "What to do: " } (fix) } }
                    } } } }
                }
                @if !slowest.is_empty() {
                    div.in {
                        h3 { "Time per answer" }
                        (bars(times))
                        p.faint {
                            "Slowest: "
                            @for (number, (step, ms)) in slowest.iter().enumerate() { @if number > 0 { ", " } a href=(view(*step)) { (format!("{ms:.1} ms")) } " in " (words::step(&ask.settings.game)) " " (step) }
                            @if let Some(cap) = clock.cap { (format!(". The limit is {cap:?}")) }
                            @if let (Some(ms), Some(total)) = (charged, clock.in_all()) { (format!(". Total {:.1} s of {} s", ms / 1e3, total.as_secs_f64())) }
                            "."
                        }
                    }
                }
                div.in {
                    h3 { "What it wrote" }
                    @if text.is_empty() { p.faint { "It wrote nothing but its answers. Anything on standard error would appear here." } }
                    @else {
                        @if from > 0 { p.faint { "The end of it; " a href=(format!("/match/{}/output?seat={}", played.id, self.seat + 1)) { "the whole" } " is a file of " (text.len() / 1000 + 1) " kB." } }
                        pre.said.log tabindex="0" aria-label="Output" { (text[from..]) }
                    }
                }
            }
        }
    }
}

/// A label for output other than standard error.
fn kind(note: &SeatNote) -> &'static str {
    use agon_replay::data::note::{RAW, STDERR};
    match note.kind.as_str() {
        STDERR => "",
        RAW => "(answer) ",
        _ => "(other output) ",
    }
}

/// A bar for each answer, as high as it was slow.
fn bars(times: &[(u32, f64)]) -> Markup {
    let most = times.iter().map(|(_, ms)| *ms).fold(0.001, f64::max);
    // The first step is the leftmost.
    let column_of = |step: u32| step.saturating_sub(1) as usize;
    let last = times.last().map_or(1, |(step, _)| column_of(*step)).max(1);
    let mut path = String::new();
    // When there are very many answers, the slowest of several neighbours is drawn.
    let mut columns = [0.0f64; 300];
    for (step, ms) in times {
        let column = column_of(*step) * (columns.len() - 1) / last;
        columns[column] = columns[column].max(*ms);
    }
    for (x, ms) in columns.iter().enumerate().filter(|(_, ms)| **ms > 0.0) {
        let _ = write!(path, "M{x} 40V{:.1}", 40.0 - ms / most * 38.0);
    }
    html! { svg.bars viewBox="0 0 300 40" preserveAspectRatio="none" role="img" aria-label=(format!("{}, the slowest took {most:.1} ms", words::many(times.len() as i64, "answer", "answers"))) { path d=(path) {} } }
}

/// A cause, beginning with whose fault it is.
pub fn cause(cause: &Cause, stage: &str, more: Markup) -> Markup {
    let whose = match cause.whose {
        Whose::Yours => chip("warn", "warn", "your bot's fault"),
        Whose::Ours => chip("bad", "warn", "the server's fault"),
    };
    html! {
        section.card {
            header { div.row { h2 { "What happened" } (whose) } span.faint { (stage) } }
            div.in {
                pre.said { (cause.what) }
                @if let Some(fix) = &cause.fix { p.fix { b { "What to do: " } (words::told(fix)) } }
                (more)
            }
        }
    }
}

/// The seat, from 1.
#[derive(Deserialize)]
pub(crate) struct Which {
    #[serde(default)]
    seat: usize,
}

/// Everything a program wrote in a match, as a file.
pub async fn output(ask: Visit, Query(which): Query<Which>) -> Result<Response, Refused> {
    let played = matches::found(&ask).await?;
    let seat = which.seat.checked_sub(1).ok_or_else(Refused::nothing)?;
    let own = of_seat(&ask, &played, seat).await?.ok_or_else(Refused::nothing)?;
    let name = format!("attachment; filename=\"match-{}-seat-{}.txt\"", played.id, which.seat);
    let name = HeaderValue::from_str(&name).unwrap_or(HeaderValue::from_static("attachment"));
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    Ok((
        [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)],
        own.text(words::step(&ask.settings.game)),
    )
        .into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_answer_is_the_leftmost_bar() {
        let path = |times: &[(u32, f64)]| bars(times).0;
        assert!(path(&[(1, 5.0)]).contains("d=\"M0 40V2.0\""), "{}", path(&[(1, 5.0)]));
        let two = path(&[(1, 5.0), (3, 10.0)]);
        assert!(two.contains("M0 40V21.0") && two.contains("M299 40V2.0"), "{two}");
    }
}
