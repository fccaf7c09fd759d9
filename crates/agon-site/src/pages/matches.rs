//! Matches: lists with filters, one match, and its replay.

use agon_api::played::{SeatOutcome, SeatView, Viewpoint, reason_seen_from};
use agon_replay::{Replay, ReplayError, SeatInfo};
use agon_store::reads::{Ended, PAGE, StoredMatch};
use agon_store::{Annulled, EntrantId, Kind, LogEntry, MatchId, MatchState, VersionId};
use agon_web::Privacy;
use agon_web::page::LinkedPlace;
use axum::extract::Query;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use crate::gate::Visit;
use crate::pages::challenge::Wanted;
use crate::pages::draw::{chip, icon};
use crate::pages::frame::{self, Here};
use crate::pages::own::{Own, Times};
use crate::pages::sought::{Asked, LONGEST_REASON, WAYS};
use crate::pages::{own, rulings, version, words};
use crate::problem::Refused;

/// The largest replay, in bytes.
const LARGEST: u64 = 64 << 20;
/// What the viewer may do: run its script and its engine, nothing from elsewhere.
pub const VIEWER: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; style-src 'self' \
                      'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

pub async fn list(ask: Visit, Query(asked): Query<Asked>) -> Result<Markup, Refused> {
    let shown = ask.site.shown().await?;
    let mut found = ask.site.store().matches(ask.eyes(), &asked.filter()).await?;
    let more = found.len() > PAGE as usize;
    found.truncate(PAGE as usize);
    learn_maps(&ask, &found).await?;
    let team = asked.team.and_then(|id| shown.teams.values().find(|team| team.id.0 == id));
    let against = asked.against.and_then(|id| shown.teams.values().find(|team| team.id.0 == id));
    let counts = ask.site.store().counts().await?;
    let answer = match (team, against) {
        (Some(team), Some(other)) => format!("{} against {}", team.name, other.name),
        (Some(team), None) | (None, Some(team)) => format!("Matches of {}", team.name),
        (None, None) => format!("{} so far", words::many(counts.valid, "match", "matches")),
    };
    let now = match counts.leased {
        0 => "No match is running; the newest come first.".to_owned(),
        playing => {
            format!(
                "{} running in the contest; the newest come first.",
                words::many(playing, "match", "matches")
            )
        }
    };
    let content = html! {
        div.bar {
            form.row method="get" action="/matches" {
                select name="team" aria-label="Team" {
                    option value="" { "All teams" }
                    @for one in shown.teams.values().filter(|team| team.live.is_some()).take(300) {
                        option value=(one.id) selected[team.is_some_and(|team| team.id == one.id)] { (one.name) }
                    }
                }
                select name="against" aria-label="Opponent" {
                    option value="" { "Any opponent" }
                    @for one in shown.teams.values().filter(|team| team.live.is_some()).take(300) {
                        option value=(one.id) selected[against.is_some_and(|team| team.id == one.id)] { (one.name) }
                    }
                }
                @if ask.settings.maps.len() > 1 {
                    select name="map" aria-label="Map" {
                        option value="" { "All maps" }
                        @for map in 0..ask.settings.maps.len() as i64 {
                            option value=(map) selected[asked.map == Some(map)] { (ask.settings.map(map)) }
                        }
                    }
                }
                @if !asked.ended.is_empty() { input type="hidden" name="ended" value=(asked.ended); }
                button { "Show" }
            }
            @if !asked.reason.is_empty() {
                a.chip href=(Asked { reason: String::new(), before: None, ..asked.clone() }.address()) title="Show all ways of ending" {
                    (icon("cross")) "ended: " (asked.reason.chars().take(LONGEST_REASON).collect::<String>())
                }
            }
            @if team.is_some() {
                div.tabs role="group" aria-label="How they ended" {
                    @for (word, label) in WAYS {
                        @let to = Asked { ended: word.to_owned(), before: None, ..asked.clone() }.address();
                        a href=(to) aria-current=[(asked.ended == word).then_some("true")] { (label) }
                    }
                }
            }
        }
        section.card {
            @if found.is_empty() {
                p.empty { "No matches like that yet. " @if asked.before.is_some() || asked.team.is_some() { a href="/matches" { "See all" } } }
            } @else {
                (table(&ask, &found, team.map(|team| Viewpoint::Team(team.id.0))))
            }
        }
        nav.pages aria-label="More" {
            @if asked.before.is_some() { a href=(Asked { before: None, ..asked.clone() }.address()) { "← Newest" } }
            @if let Some(last) = found.last().filter(|_| more) {
                a rel="next" href=(Asked { before: Some(last.id.0), ..asked.clone() }.address()) { "Older →" }
            }
        }
    };
    let content = frame::live("matches", "board work", 10, content);
    Ok(frame::page(&ask, Here::Matches, &answer, &now, content))
}

/// Learns the names of maps that seeds make or pick, for a table of these matches: some are made for it.
pub async fn learn_maps(ask: &Visit, found: &[StoredMatch]) -> Result<(), Refused> {
    let (site, played) =
        (ask.site.clone(), found.iter().map(|played| (played.map, played.seed)).collect::<Vec<_>>());
    let made = tokio::task::spawn_blocking(move || {
        played.into_iter().for_each(|(map, seed)| drop(site.map_of(map, seed)))
    });
    made.await.map_err(|_| Refused::ours())
}

/// A table of matches, told from one point of view if one is given.
pub fn table(ask: &Visit, found: &[StoredMatch], viewpoint: Option<Viewpoint>) -> Markup {
    html! {
        table.dense {
            thead { tr {
                @if viewpoint.is_some() { th scope="col" { "Result" } }
                th scope="col" { @if viewpoint.is_some() { "Against" } @else { "Who played" } }
                th.wide scope="col" { "Map" }
                th scope="col" { "How it ended" }
                th.number scope="col" { "When" }
            } }
            tbody { @for played in found { (row(ask, played, viewpoint)) } }
        }
    }
}

fn row(ask: &Visit, played: &StoredMatch, viewpoint: Option<Viewpoint>) -> Markup {
    let address = format!("/match/{}", played.id);
    let seen = viewpoint.and_then(|viewpoint| SeatView::of(&played.seats, viewpoint));
    let when = played.settled.unwrap_or(played.planned);
    html! {
        tr {
            @if viewpoint.is_some() { td { @if let Some(seen) = seen { (result(seen)) } @else { span.faint title="Two versions of the same team met" { "Both" } } } }
            td.who {
                @if let (Some(seen), 2) = (seen, played.seats.len()) {
                    a href=(address) { @for other in seen.others() { (name(ask, played, other)) } }
                } @else {
                    a href=(address) { (in_order(ask, played)) }
                }
            }
            td.wide { (ask.site.map_of(played.map, played.seed)) }
            td { a.link href=(address) { (how(ask, played, seen)) } " " (marks(played, seen)) }
            td.number.time { (words::ago(when, ask.now)) }
        }
    }
}

/// The entrant of a seat: the team and the version.
fn name(ask: &Visit, played: &StoredMatch, seat: &SeatOutcome) -> Markup {
    html! { b { (seat.name) } @if is_draft(seat) { span.faint { " draft of " (asked_at(ask, played)) } } @else if !seat.boss { span.faint { " v" (seat.n) } } }
}

fn is_draft(seat: &SeatOutcome) -> bool {
    seat.n < 1 && !seat.boss
}

/// When a match was asked for: drafts and challenges have no other name.
fn asked_at(ask: &Visit, played: &StoredMatch) -> String {
    ask.settings.told(played.planned, "%H:%M")
}

/// The entrant of a seat, in a few words: `Ann v3`, `Ann’s draft of 20:51`, to her team `your draft of 20:51`.
fn called(ask: &Visit, played: &StoredMatch, seat: &SeatOutcome) -> String {
    let is_own = ask.person().is_some_and(|person| person.team == Some(EntrantId(seat.team)));
    match (is_draft(seat), is_own) {
        (true, true) => format!("your draft of {}", asked_at(ask, played)),
        (true, false) => format!("{}’s draft of {}", seat.name, asked_at(ask, played)),
        (false, _) => seat.called(),
    }
}

/// The players, the best first.
fn in_order(ask: &Visit, played: &StoredMatch) -> Markup {
    let mut seats: Vec<&SeatOutcome> = played.seats.iter().collect();
    seats.sort_by_key(|seat| seat.rank.unwrap_or(0));
    html! {
        @for (place, pair) in seats.iter().enumerate() {
            @if place > 0 {
                span.faint { @if pair.rank.is_some() && pair.rank == seats[place - 1].rank { " drew with " } @else if pair.rank.is_some() { " beat " } @else { " and " } }
            }
            (name(ask, played, pair))
        }
    }
}

/// How it ended for a seat, and which seat that is.
fn result(seen: SeatView<'_>) -> Markup {
    let of_many = seen.others().count() > 1;
    html! {
        @match (seen.ended(), seen.own().rank) {
            (Some(Ended::Won), _) => b { "Won" },
            (Some(Ended::Drawn), _) => { "Drawn" }
            (Some(Ended::Lost), Some(rank)) if of_many => span.faint { "Place " (rank) " of " (seen.others().count() + 1) },
            (Some(Ended::Lost), _) => span.faint { "Lost" },
            (None, _) => span.faint { "–" }
        }
        " " span.faint.members { "in seat " (seen.number()) }
    }
}

/// Why it ended: as its page says it, or as seen from a seat.
fn how(ask: &Visit, played: &StoredMatch, seen: Option<SeatView<'_>>) -> String {
    let step = words::step(&ask.settings.game);
    match (&played.end, seen) {
        (Some((reason, steps)), Some(seen)) => {
            format!("{}, {step} {steps}", reason_seen_from(seen.number(), played.seats.len(), reason))
        }
        (Some((reason, steps)), None) => format!("{reason}, {step} {steps}"),
        (None, _) => state(played).to_owned(),
    }
}

/// The state of a match that is not over.
pub fn state(played: &StoredMatch) -> &'static str {
    match played.state {
        MatchState::Leased => "being played",
        MatchState::Posted | MatchState::Valid => "being verified",
        MatchState::Dead => "no result",
        MatchState::Planned => "waits",
    }
}

/// What was odd about it: the faults of one seat, or of all.
fn marks(played: &StoredMatch, seen: Option<SeatView<'_>>) -> Markup {
    let short = |seat: &'_ SeatOutcome| Some(seat.fault.as_ref()?.split(':').next()?.to_owned());
    let faults: Vec<String> = match seen {
        Some(seen) => short(seen.own()).into_iter().collect(),
        None => played.seats.iter().filter_map(short).collect(),
    };
    html! {
        @for fault in &faults { (chip("bad", "warn", fault)) " " }
        @if played.state == MatchState::Dead { (chip("warn", "warn", "abandoned")) }
        @else if played.wasted > 0 && played.state != MatchState::Valid { (chip("", "back", "void, replayed")) }
        @if played.kind != Kind::Ladder { " " (chip("", "flag", kind(played.kind))) }
    }
}

/// What a match is for.
fn kind(kind: Kind) -> &'static str {
    match kind.word() {
        "check" => "check match",
        "ladder" => "rated",
        "challenge" => "challenge",
        "promotion" => "trial",
        "draft" => "draft",
        _ => "unrated",
    }
}

/// The match named by the path, if the caller may see it.
pub async fn found(ask: &Visit) -> Result<StoredMatch, Refused> {
    let found = ask.site.store().one_match(ask.eyes(), MatchId(ask.id)).await?;
    found.ok_or_else(Refused::nothing)
}

/// The row of the log that annulled a match.
async fn annulled(ask: &Visit, played: &StoredMatch) -> Result<Option<Annulled>, Refused> {
    let decided = ask.site.store().decisions().await?;
    Ok(decided.into_iter().find_map(|entry| match entry {
        LogEntry::Annulment(row) if row.blocks.contains(&played.block) => Some(row),
        _ => None,
    }))
}

/// One match.
pub async fn page(ask: Visit) -> Result<Markup, Refused> {
    let played = found(&ask).await?;
    let settings = &ask.settings;
    let unfit = is_unfit(&ask, &played).await?;
    let own = own::of_match(&ask, &played).await?;
    let timing = if own.is_empty() { Vec::new() } else { timing(&ask, &played).await? };
    let answer = sentence(&ask, &played);
    let lead = match (&played.end, played.settled) {
        (Some((reason, steps)), Some(at)) => format!(
            "Ended after {}: {reason}. Played {} ago on {}.",
            words::steps(&ask.settings.game, i64::from(*steps)),
            words::ago(at, ask.now),
            ask.site.map_of(played.map, played.seed)
        ),
        _ if unfit => "A bot in it could not be built or started. It counts for nobody.".to_owned(),
        _ if played.state == MatchState::Dead => {
            "It was abandoned and counts for nobody. Unless it says otherwise below, that is the server's fault."
                .to_owned()
        }
        _ => format!(
            "The match {}. Its result appears here once it has been played and verified.",
            match played.state {
                MatchState::Planned => "waits for its turn".to_owned(),
                _ => format!("is {}", state(&played)),
            }
        ),
    };
    let cause = cause(&ask, &played).await?;
    let annulled = annulled(&ask, &played).await?;
    let is_over = played.settled.is_some() || played.state == MatchState::Dead;
    let organises = ask.person().is_some_and(|person| person.organiser);
    let lead = match agon_server::changed_rules(&played) {
        Some(own) => format!("Unrated, rules changed: {}. {lead}", own.says),
        None => lead,
    };
    let view = format!("/match/{}/view", played.id);
    let content = html! {
        @if played.replay.is_some() {
            p.row {
                a.button.main href=(view) { "Watch" }
                a.button href=(format!("/match/{}/replay", played.id)) { "Download the replay" }
                @if let Some(again) = again(&ask, &played) { a.button href=(again) { (icon("back")) "Play again" } }
            }
        } @else if !is_over {
            p.row { a.button.main href=(view) { "Watch" } }
        } @else if let Some(checked) = played.seats.first().filter(|_| unfit && played.kind == Kind::Check) {
            p.row { a.button href=(format!("/version/{}", checked.version)) { "See why" } }
        } @else if let Some(again) = again(&ask, &played).filter(|_| played.state == MatchState::Dead) {
            p.row { a.button href=(again) { (icon("back")) "Play again" } }
        }
        section.card {
            table {
                thead { tr {
                    th.number scope="col" { "Seat" } th scope="col" { "Bot" } th.number scope="col" { "Place" }
                    th.number scope="col" { "Score" } th.number.wide scope="col" { "Slowest answer" } th scope="col" { "Faults" }
                } }
                tbody {
                    @for (number, seat) in played.seats.iter().enumerate() {
                        tr.(if ask.person().is_some_and(|person| person.team == Some(EntrantId(seat.team))) { "own" } else { "" }) {
                            td.number { (number + 1) }
                            td { a href=(format!("/team/{}", seat.team)) { (name(&ask, &played, seat)) } }
                            td.number { (seat.rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string())) }
                            td.number { (seat.score.map_or_else(|| "–".to_owned(), score)) }
                            td.number.wide { @if let Some(ms) = seat.max_ms.filter(|_| !seat.boss) { (format!("{ms:.1} ms")) } }
                            td { @match &seat.fault {
                                Some(fault) => { span.bad-text { (fault) } }
                                None if played.end.is_some() => span.faint { "none" },
                                None => span.faint { "–" }
                            } }
                        }
                    }
                }
            }
        }
        (cause)
        @for own in &own { (own.card(&ask, &played, timing.get(own.seat).unwrap_or(&Times::default()))) }
        @if organises && is_over && played.kind == Kind::Ladder && annulled.is_none() { (rulings::again_form(&ask, played.id)) }
        dl.facts {
            @if let Some(row) = &annulled { dt { "Counts" } dd { "no (" a href="/rulings" { "ruling" } ": " (row.reason) ")" } }
            dt { "Type" } dd { (kind(played.kind)) " (match " (played.id) @if played.block >= 0 { ", block " (played.block) } ")" }
            dt { "Map" } dd { (ask.site.map_of(played.map, played.seed)) }
            dt { "Seed" } dd { code { (played.seed) } }
            @if let Some(seq) = played.log_seq.filter(|seq| *seq > 0) { dt { "Log" } dd { "row " (seq) ", sealed" } }
            @if let Some(at) = played.settled { dt { "Recorded" } dd { (settings.told(at, "%a %-d %b %Y %H:%M:%S")) } }
            @if played.wasted > 0 { dt { "Earlier attempts" } dd { (played.wasted) " void (server's fault)" } }
        }
    };
    let of = if is_over { "" } else { "work" };
    let heading = frame::live("heading", of, 1, html! { h1 { (answer) } p.lead { (lead) } });
    let content = frame::live("match", of, 1, content);
    Ok(frame::with_heading(&ask, Here::Matches, &answer, heading, content))
}

fn score(score: f64) -> String {
    words::minus(&if score.fract() == 0.0 { format!("{score:.0}") } else { format!("{score:.2}") })
}

/// What happened, in a sentence.
fn sentence(ask: &Visit, played: &StoredMatch) -> String {
    let called = |is_meant: fn(i64) -> bool| -> Vec<String> {
        let seats = played.seats.iter().filter(|seat| is_meant(seat.rank.unwrap_or(0)));
        seats.map(|seat| called(ask, played, seat)).collect()
    };
    let (firsts, others, all) = (called(|rank| rank == 1), called(|rank| rank > 1), called(|_| true));
    let said = match (&firsts[..], &others[..]) {
        ([], _) if played.state == MatchState::Dead => format!("{} was abandoned", all.join(" against ")),
        ([], _) => all.join(" against "),
        ([first], [other]) => format!("{first} beat {other}"),
        ([first], _) => format!("{first} came first of {}", all.len()),
        (firsts, []) => format!("{} drew", firsts.join(" and ")),
        (firsts, _) => format!("{} share the first place", firsts.join(" and ")),
    };
    match (played.kind, said.strip_prefix("your")) {
        (Kind::Challenge, _) => format!("Challenge of {}: {said}", asked_at(ask, played)),
        (_, Some(rest)) => format!("Your{rest}"),
        (_, None) => said,
    }
}

/// Whether it came to nothing because one of its bots could not be prepared.
async fn is_unfit(ask: &Visit, played: &StoredMatch) -> Result<bool, Refused> {
    if played.state != MatchState::Dead {
        return Ok(false);
    }
    let tries = ask.site.store().attempts(played.id).await?;
    Ok(tries.iter().any(|(_, _, how, _)| how.as_deref() == Some("unfit")))
}

/// Why a requested match came to nothing, for those who asked for it.
async fn cause(ask: &Visit, played: &StoredMatch) -> Result<Markup, Refused> {
    let team = ask.person().and_then(|person| person.team);
    let (Some(team), MatchState::Dead) = (team, played.state) else { return Ok(html! {}) };
    let asked = ask.site.store().asked(team, played.id).await?;
    let Some((why, unfit)) = asked.and_then(|asked| asked.why) else { return Ok(html! {}) };
    let cause = ask.site.server.why_not(&why, unfit);
    Ok(own::cause(&cause, version::stage(cause.stage), html! {}))
}

/// Where to ask for the same match again, if somebody of the team could have asked for it.
fn again(ask: &Visit, played: &StoredMatch) -> Option<String> {
    let team = ask.person().and_then(|person| person.team)?;
    let form = match played.kind {
        Kind::Draft => "draft",
        Kind::Challenge => "challenge",
        _ => return None,
    };
    let seat = played.seats.iter().position(|seat| seat.team == team.0)?;
    let against = played
        .seats
        .iter()
        .enumerate()
        .find(|(number, _)| *number != seat)
        .map(|(_, seat)| VersionId(seat.version))?;
    let own = played.seats[seat].version;
    let rest = Wanted::again(against, played.map, played.seed, seat);
    Some(format!("/{form}?own={own}&{rest}"))
}

/// How long the answers of each seat took.
async fn timing(ask: &Visit, played: &StoredMatch) -> Result<Vec<Times>, Refused> {
    let (Some(sha), seats, site) = (played.replay, played.seats.len(), ask.site.clone()) else {
        return Ok(Vec::new());
    };
    let Ok(bytes) = site.server.objects().get(&sha, LARGEST).await else { return Ok(Vec::new()) };
    let read = tokio::task::spawn_blocking(move || {
        let replay = Replay::read(&bytes).ok()?;
        Some((0..seats).map(|seat| Times::of(&replay, seat)).collect())
    });
    Ok(read.await.map_err(|_| Refused::ours())?.unwrap_or_default())
}

/// The replay without what belongs to single seats, with the names that the pages have now.
async fn public(ask: &Visit, played: &StoredMatch) -> Result<Vec<u8>, Refused> {
    let sha = played.replay.ok_or_else(|| {
        let text = "Its replay is available once the match has been played and verified.";
        Refused::new(StatusCode::NOT_FOUND, "No replay yet", text)
            .then("The match", &format!("/match/{}", played.id))
    })?;
    let (site, map, seed) = (ask.site.clone(), played.map, played.seed);
    let own_rules = agon_server::changed_rules(played);
    let bytes = site.server.objects().get(&sha, LARGEST).await.map_err(|error| {
        tracing::warn!("the replay of match {} cannot be read: {error}", played.id);
        Refused::ours()
    })?;
    let names: Vec<String> = played.seats.iter().map(SeatOutcome::called).collect();
    let done = tokio::task::spawn_blocking(move || {
        let session = match own_rules {
            Some(own) => site.server.table().open_on(&own.ground, seed)?,
            None => site.server.table().open(usize::try_from(map).unwrap_or(usize::MAX), seed)?,
        };
        let called =
            |place: usize, seat: &SeatInfo| names.get(place).cloned().unwrap_or_else(|| seat.label.clone());
        agon_replay::redact_named(&bytes, &[], &called, &|order| session.public(order))
            .map(|(public, _)| public)
            .map_err(|error| error.to_string())
    });
    match done.await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(why)) => {
            tracing::warn!("the replay of match {} cannot be given: {why}", ask.id);
            Err(Refused::ours())
        }
        Err(_) => Err(Refused::ours()),
    }
}

/// The replay as the caller may see it: with what belongs to the seats that the caller may look into.
pub async fn seen(ask: &Visit, played: &StoredMatch) -> Result<Replay, Refused> {
    let bytes = public(ask, played).await?;
    with(bytes, own::of_match(ask, played).await?).await
}

/// A public replay with what belongs to some seats.
async fn with(public: Vec<u8>, own: Vec<Own>) -> Result<Replay, Refused> {
    let read = move || {
        let mut replay = Replay::read(&public)?;
        for seat in &mut replay.header.seats {
            // That of a team's bot is a hash, which starts nothing.
            if !seat.bot.starts_with("builtin:") {
                seat.bot.clear();
            }
        }
        own.into_iter().for_each(|own| own.add_to(&mut replay));
        Ok::<_, ReplayError>(replay)
    };
    tokio::task::spawn_blocking(read).await.ok().and_then(Result::ok).ok_or_else(Refused::ours)
}

/// The replay as a file. A team's own has what its bots wrote; an organiser's has not, who may want to pass it on.
pub async fn replay(ask: Visit) -> Result<Response, Refused> {
    let played = found(&ask).await?;
    let mut bytes = public(&ask, &played).await?;
    let mut own = own::of_match(&ask, &played).await?;
    let team = ask.person().and_then(|person| person.team);
    own.retain(|own| played.seats.get(own.seat).is_some_and(|seat| team == Some(EntrantId(seat.team))));
    if !own.is_empty() {
        bytes = with(bytes, own).await?.written().map_err(|_| Refused::ours())?;
    }
    let name = format!("attachment; filename=\"match-{}.replay\"", played.id);
    let name = HeaderValue::from_str(&name).unwrap_or(HeaderValue::from_static("attachment"));
    let kind = HeaderValue::from_static("application/octet-stream");
    Ok(([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)], bytes).into_response())
}

/// The match in the viewer, which follows one that is not over.
pub async fn view(ask: Visit) -> Result<Response, Refused> {
    let played = found(&ask).await?;
    let replay = match played.replay {
        Some(_) => Some(seen(&ask, &played).await?),
        None => None,
    };
    let (home, zone, title) =
        (format!("/match/{}", played.id), ask.settings.zone_name(), sentence(&ask, &played));
    let privacy = match own::seats(&ask, &played)[..] {
        [] => Privacy::Redacted,
        _ => Privacy::Private,
    };
    let made = tokio::task::spawn_blocking(move || {
        let mut page = Vec::new();
        let place = LinkedPlace {
            home: Some(("The match's page", &home)),
            title: Some(&title),
            zone: Some(&zone),
            privacy,
        };
        let written = match replay {
            Some(replay) => agon_web::page::write_linked(replay, "/viewer", &place, &mut page),
            None => agon_web::page::write_followed(&home, "/viewer", &place, &mut page),
        };
        written.map_err(|error| error.to_string())?;
        Ok::<_, String>(page)
    });
    match made.await {
        Ok(Ok(page)) => {
            let html = HeaderValue::from_static("text/html; charset=utf-8");
            let policy = HeaderValue::from_static(VIEWER);
            Ok(([(header::CONTENT_TYPE, html), (header::CONTENT_SECURITY_POLICY, policy)], page)
                .into_response())
        }
        Ok(Err(why)) => Err(Refused::new(StatusCode::NOT_IMPLEMENTED, "It cannot be watched here", why)
            .then("Download the replay", &format!("/match/{}/replay", ask.id))),
        Err(_) => Err(Refused::ours()),
    }
}
