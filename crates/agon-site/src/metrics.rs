//! `/metrics`: metrics of a running contest, in the text format of Prometheus. They contain no names of people, teams or
//! machines.
//!
//! What comes from the database is queried for each reading; requests are counted in memory, so they start again at zero
//! with the process, as counters may. While the database is away the answer still comes, and says so.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agon_store::{StoreError, Time};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get as asked;

use crate::api;
use crate::gate::Visit;
use crate::pages::pace::{Pace, owed};
use crate::problem::Refused;
use crate::rights::Verb;
use crate::routes::{Route, RouteObject, get};
use crate::site::Site;

/// Their path.
pub const PATH: &str = "/metrics";

/// The routes.
pub const ROUTES: &[Route] = &[get(PATH, Verb::Measure, RouteObject::Contest, || asked(page)).apart()];

/// How long a machine may be silent, in milliseconds, before it counts as gone: that is when its leases end.
const SILENT: i64 = agon_server::asked::LEASE_MS;

/// Readers of metrics do not wait long; a database that has not answered by then is away.
const PATIENCE: Duration = Duration::from_secs(5);

/// For each kind of request and status: the count, and the total time.
type Counted = BTreeMap<(&'static str, u16), (u64, Duration)>;

/// Requests since the process began. Kinds and statuses are few, so this stays small.
#[derive(Default)]
pub struct Requests(Mutex<Counted>);

impl Requests {
    /// Counts one more answered request.
    pub fn count(&self, path: &str, status: u16, took: Duration) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, time) = counted.entry((kind(path), status)).or_default();
        *count += 1;
        *time += took;
    }

    fn read(&self) -> Counted {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The kind of a request.
fn kind(path: &str) -> &'static str {
    match path {
        PATH => "metrics",
        _ if path.starts_with(agon_worker::wire::ROOT) => "work",
        _ if path.starts_with(api::ROOT) => "api",
        _ => "page",
    }
}

/// The type of a metric.
#[derive(Clone, Copy)]
enum Is {
    /// It only grows; it restarts at zero with the process, or never.
    Counter,
    /// It is the current value.
    Gauge,
}

/// The text of the answer.
#[derive(Default)]
struct Text(String);

impl Text {
    /// Names a metric, its unit at the end, with a description. Its values follow.
    fn named(&mut self, name: &'static str, is: Is, help: &str) -> Values<'_> {
        let word = match is {
            Is::Counter => "counter",
            Is::Gauge => "gauge",
        };
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {word}"));
        Values { text: self, name }
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        // Writing into a string cannot fail.
        let _ = writeln!(self.0, "{line}");
    }
}

/// The values of one metric.
struct Values<'a> {
    text: &'a mut Text,
    name: &'static str,
}

impl Values<'_> {
    /// The only value.
    fn is(self, value: impl fmt::Display) {
        self.text.line(format_args!("{} {value}", self.name));
    }

    fn of<const N: usize>(&mut self, labels: [(&str, &str); N], value: impl fmt::Display) {
        let labels = labels.map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).join(",");
        self.text.line(format_args!("{}{{{labels}}} {value}", self.name));
    }
}

/// A label value escaped for the format.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The seconds from one moment to another, never negative.
fn seconds(from: Time, to: Time) -> f64 {
    (to.0 - from.0).max(0) as f64 / 1000.0
}

pub async fn page(ask: Visit) -> Result<Response, Refused> {
    let mut text = Text::default();
    let (site, terms) = (&ask.site, ask.site.server.terms());
    let program = agon_replay::data::PROGRAM;
    let mut about = text.named("agon_info", Is::Gauge, "The program and what is played; always 1.");
    about.of([("program", program), ("game", &terms.game)], 1);
    let mut contest = Text::default();
    let up = match tokio::time::timeout(PATIENCE, of_contest(site, &mut contest, ask.now)).await {
        Ok(Ok(())) => 1,
        // It may answer the next time. Half a reading is not reported.
        Err(_) | Ok(Err(StoreError::Away(_))) => {
            contest = Text::default();
            0
        }
        Ok(Err(error)) => return Err(error.into()),
    };
    text.named("agon_database_up", Is::Gauge, "Whether the database answers.").is(up);
    if let Some(free) = site.server.room().free() {
        let help = "Free space on the fullest disk that the contest uses.";
        text.named("agon_disk_free_bytes", Is::Gauge, help).is(free);
    }
    text.0 += &contest.0;
    let counted = site.requests.read();
    let help = "Requests that were answered, by kind and status.";
    let mut requests = text.named("agon_requests_total", Is::Counter, help);
    for ((kind, status), (count, _)) in &counted {
        requests.of([("kind", kind), ("status", &status.to_string())], count);
    }
    let mut times: BTreeMap<&str, Duration> = BTreeMap::new();
    for ((kind, _), (_, time)) in &counted {
        *times.entry(kind).or_default() += *time;
    }
    let help = "Time spent answering, all requests of a kind together.";
    let mut took = text.named("agon_request_seconds_total", Is::Counter, help);
    for (kind, time) in times {
        took.of([("kind", kind)], time.as_secs_f64());
    }
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], text.0).into_response())
}

/// What the database knows.
async fn of_contest(site: &Site, text: &mut Text, now: Time) -> Result<(), StoreError> {
    let store = site.store();
    let counts = store.counts().await?;
    let hands = store.hands(Time(now.0 - SILENT)).await?;
    let tries = store.tries().await?;
    let going = store.now().await?;
    let board = site.server.board().await.map_err(|error| match error {
        agon_server::ServerError::Store(error) => error,
        agon_server::ServerError::Wrong(why) | agon_server::ServerError::Missing(why) => {
            StoreError::Damaged(why)
        }
    })?;

    let mut matches = text.named("agon_matches", Is::Gauge, "Matches by their state.");
    for (state, count) in [
        ("planned", counts.planned),
        ("leased", counts.leased),
        ("posted", counts.posted),
        ("valid", counts.valid),
        ("dead", counts.dead),
    ] {
        matches.of([("state", state)], count);
    }
    text.named("agon_log_rows_total", Is::Counter, "Rows of the sealed log.").is(counts.sealed);
    let age = counts.oldest.map_or(0.0, |oldest| seconds(oldest, now));
    let help = "How long ago the oldest match that is not posted yet was planned.";
    text.named("agon_queue_age_seconds", Is::Gauge, help).is(age);
    let owed = owed(&site.server.policy(), &board);
    let pace = Pace::now(store, &owed, now).await?;
    text.named("agon_matches_owed", Is::Gauge, "Rated matches that live versions still want.")
        .is(owed.matches);
    let help = "How long that takes at the present rate; +Inf if nothing was played in an hour, or nothing that says how long.";
    let drain = pace.needs().map_or("+Inf".to_owned(), |ms| (ms as f64 / 1000.0).to_string());
    text.named("agon_drain_seconds", Is::Gauge, help).is(drain);
    let help = "Tries that ended without a result: void (ours), lost (a worker), mismatch (a lie or damage), unfit (the bot), \
                expired, aborted and overtaken (nobody's).";
    let mut ended = text.named("agon_tries_total", Is::Counter, help);
    for (how, count) in &tries {
        ended.of([("how", how)], count);
    }
    text.named("agon_leases", Is::Gauge, "Leases whose matches are not posted yet.").is(hands.leases);
    let mut workers = text.named(
        "agon_workers",
        Is::Gauge,
        "Machines with a valid token, by whether they are heard from, and those that are paused.",
    );
    workers.of([("state", "heard")], hands.heard);
    workers.of([("state", "silent")], hands.silent);
    workers.of([("state", "paused")], hands.paused);
    let help = "Rows of the log that the table has not seen yet.";
    text.named("agon_table_behind_rows", Is::Gauge, help).is((counts.sealed - board.upto).max(0));
    let help = "How long ago the table was made.";
    // A contest that has just begun has no table, and nothing to be in it.
    let made = if board.upto == 0 { now } else { board.made };
    text.named("agon_table_age_seconds", Is::Gauge, help).is(seconds(made, now));
    let paused = going.paused;
    text.named("agon_paused", Is::Gauge, "Whether the contest is paused.").is(u8::from(paused));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_that_of_the_format() {
        let mut text = Text::default();
        text.named("a_total", Is::Counter, "What it is.").is(7);
        let mut values = text.named("b", Is::Gauge, "Other.");
        values.of([("x", "a \"b\"\\\n"), ("y", "")], 0.5);
        assert_eq!(
            text.0,
            "# HELP a_total What it is.\n# TYPE a_total counter\na_total 7\n# HELP b Other.\n# TYPE b gauge\n\
             b{x=\"a \\\"b\\\"\\\\\\n\",y=\"\"} 0.5\n"
        );
    }

    #[test]
    fn requests_are_counted_by_kind_and_status() {
        let requests = Requests::default();
        for path in ["/", "/ladder", "/work/v1/lease", "/api/v1/me", "/metrics", "/../work/v1"] {
            requests.count(path, 200, Duration::from_millis(500));
        }
        requests.count("/ladder", 404, Duration::ZERO);
        let counted = requests.read();
        assert_eq!(counted[&("page", 200)], (3, Duration::from_millis(1500)));
        let rest: Vec<_> =
            counted.iter().filter(|(key, _)| **key != ("page", 200)).map(|(_, (count, _))| *count).collect();
        assert_eq!(rest, [1, 1, 1, 1]);
    }
}
