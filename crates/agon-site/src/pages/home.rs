//! The first page: for participants, their place and what to do next; for others, who leads and how to take part.

use agon_api::contest::ContestState;
use agon_api::played::{SeatView, Viewpoint};
use agon_contest::config::SignUpWord;
use agon_store::reads::{Ended, Filter, StoredMatch};
use agon_store::{Entrant, EntrantId, EntrantVersion, Kind, Ruled, VersionState};
use maud::{Markup, html};

use crate::gate::Visit;
use crate::pages::draw::{chip, icon};
use crate::pages::frame::{self, Here};
use crate::pages::trial::Trial;
use crate::pages::{ladder, matches, upload, words};
use crate::problem::Refused;
use crate::site::Shown;

/// The first page.
pub async fn page(ask: Visit) -> Result<Markup, Refused> {
    let shown = ask.site.shown().await?;
    let team = ask.person().and_then(|person| person.team);
    let team = team.and_then(|id| shown.teams.values().find(|team| team.id == id));
    match (team, ask.person()) {
        (Some(team), _) => of_team(&ask, &shown, team).await,
        (None, Some(_)) => Ok(without_team(&ask, &shown)),
        (None, None) => Ok(of_all(&ask, &shown)),
    }
}

/// What becomes of the ladder after the last upload, where matches are played.
fn goes_on(ask: &Visit) -> &'static str {
    match ask.state {
        ContestState::Running => " What is on the ladder goes on playing.",
        ContestState::Draining | ContestState::Paused => "",
    }
}

fn of_all(ask: &Visit, shown: &Shown) -> Markup {
    let game = agon_games::find(&ask.settings.game).map(|game| game.info());
    let is_over = ask.settings.is_over(ask.now);
    let lead = game.map_or_else(String::new, |info| {
        let (title, summary) = (info.title, words::sentence(info.summary));
        match ask.settings.closed(ask.now).filter(|_| is_over) {
            Some(closed) => format!("A contest of {title}. {summary} {closed}{}", goes_on(ask)),
            None if ask.state != ContestState::Running => format!("A contest of {title}. {summary}"),
            None => format!("A {title} contest for bots, running around the clock. {summary}"),
        }
    });
    let top: Vec<usize> = (0..shown.board.lines.len().min(10)).collect();
    let content = html! {
        p.row {
            @if !is_over && matches!(ask.settings.sign_up, Some(SignUpWord::Open | SignUpWord::Invite)) {
                a.button.main href="/sign-up" { "Take part" }
            }
            a.button href="/rules" { "Rules" }
            a.button href="/matches" { "Watch matches" }
        }
        section.card {
            header { h2 { "Who is ahead" } a href="/ladder" { "Whole ladder" } }
            @if top.is_empty() { p.empty { "No bot is on the ladder yet: the first to pass its check match will be." } }
            @else { (ladder::table(ask, shown, &top)) }
        }
    };
    frame::page(ask, Here::Home, &ask.settings.title, &lead, frame::live("home", "board acts", 10, content))
}

fn without_team(ask: &Visit, shown: &Shown) -> Markup {
    let (alone, is_over) = (ask.settings.team_size == 1, ask.settings.is_over(ask.now));
    let lead = match ask.settings.closed(ask.now).filter(|_| is_over) {
        Some(closed) => {
            format!("{closed}{} You can still try drafts against the bots on the ladder.", goes_on(ask))
        }
        None if alone => "Submit a bot: a team with your name is created automatically.".to_owned(),
        None => "Create a team, or join one with its code. Without one you play alone, under your own name."
            .to_owned(),
    };
    let top: Vec<usize> = (0..shown.board.lines.len().min(10)).collect();
    let content = html! {
        p.row {
            (upload::way(ask, "Submit a bot"))
            a.button href="/code" { "Write one here" }
            a.button href="/draft" { "Try a draft" }
            @if !is_over { a.button href="/team" { "Team" } }
            a.button href="/rules" { "Rules" }
            a.button href="/get" { "Starters and tools" }
        }
        section.card {
            header { h2 { "Who to beat" } a href="/ladder" { "Whole ladder" } }
            (ladder::table(ask, shown, &top))
        }
    };
    let content = frame::live("home", "board acts", 10, content);
    let answer = if is_over { "You have no bot here" } else { "You have no bot yet" };
    frame::page(ask, Here::Home, answer, &lead, content)
}

/// How much of each quota is used.
fn used(quota: &agon_store::reads::Allowances) -> String {
    let (uploads, asked) = (quota.uploads_a_day, quota.asked_an_hour);
    format!(
        "Used: {} of {} uploads today, {} of {} challenges and drafts this hour.",
        uploads.used, uploads.most, asked.used, asked.most
    )
}

async fn of_team(ask: &Visit, shown: &Shown, team: &Entrant) -> Result<Markup, Refused> {
    let quota = ask.site.store().quota(team.id, ask.now).await?;
    let filter = Filter { team: Some(team.id), ..Filter::default() };
    let own = ask.site.store().matches(ask.eyes(), &filter).await?;
    matches::learn_maps(ask, &own).await?;
    let versions: Vec<&EntrantVersion> =
        shown.board.versions.iter().filter(|version| version.entrant == team.name).collect();
    let (mut answer, mut lead) = answer(ask, shown, team, &versions);
    let rulings = ask.site.store().rulings().await?;
    if agon_store::out(&rulings).contains(&(team.id, None)) {
        let reason = rulings.iter().rev().find(|ruled| ruled.entrant == team.id && ruled.version.is_none());
        answer = format!("{} is disqualified", team.name);
        lead = format!(
            "Reason: {} Your matches no longer count and no new ones are played. If you disagree, talk to the organiser.",
            words::sentence(reason.map_or("", |ruled| ruled.reason.as_str()))
        );
    } else if let Some(ruled) = newest_out(&rulings, &versions) {
        answer = format!("v{} was removed from the ratings", ruled.0);
        lead = format!(
            "Reason: {} Choose another version on its page, or submit a new one.",
            words::sentence(ruled.1)
        );
    }
    let newest = versions.iter().rev().find(|version| version.state == VersionState::Live);
    let trial = match newest {
        Some(live) => Trial::of(ask, live.id).await?,
        None => None,
    };
    if let (Some(trial), Some(live)) = (&trial, newest) {
        if let Some(words) = trial.words() {
            answer += &format!(", and v{} is {words}", live.n);
        }
        lead = format!("{} {lead}", trial.sentence(ask));
    }
    let content = html! {
        div.columns {
            section.card {
                header { h2 { "Next" } }
                ul.items { @for item in next(&versions, &own, team.id, ask.settings.is_over(ask.now)) { (item) } }
            }
            section.card {
                header { h2 { "Around you" } a href="/ladder" { "Whole ladder" } }
                (around(shown, team))
                div.in {
                    p.row {
                        (upload::way(ask, "Submit a version"))
                        a.button href="/draft" { "Try a draft" }
                        a.button href="/challenge" { "Challenge" }
                    }
                    p.faint { (used(&quota)) }
                    p { a href=(format!("/team/{}", team.id)) { "Your bot's public page" } " · " a href="/team" { "Team" } }
                }
            }
        }
        section.card {
            header { h2 { "Your matches" } a href=(format!("/matches?team={}", team.id)) { "All" } }
            @if own.is_empty() {
                p.empty { (nothing_played(&versions)) }
            } @else {
                (matches::table(ask, &own[..own.len().min(10)], Some(Viewpoint::Team(team.id.0))))
            }
        }
    };
    let heading = html! { h1 { (answer) } p.lead { (lead) } };
    let heading = frame::live("heading", "board acts work", 5, heading);
    let content = frame::live("home", "board acts work", 5, content);
    Ok(frame::with_heading(ask, Here::Home, &answer, heading, content))
}

/// The last version that a ruling took out and that had played for the team, with the reason, when none plays now.
fn newest_out<'a>(rulings: &'a [Ruled], versions: &[&EntrantVersion]) -> Option<(i64, &'a str)> {
    if versions.iter().any(|version| version.state == VersionState::Live || version.state.is_waiting()) {
        return None;
    }
    let out = agon_store::out(rulings);
    let last = versions.iter().rev().find(|version| version.state == VersionState::Former)?;
    let team = rulings.iter().rev().find(|ruled| ruled.version == Some(last.id))?;
    out.contains(&(team.entrant, Some(last.id))).then_some((last.n, team.reason.as_str()))
}

fn nothing_played(versions: &[&EntrantVersion]) -> String {
    match versions.last() {
        None => "No matches yet: they begin when you submit a bot.".to_owned(),
        Some(last) => format!("No matches yet. v{} plays its check match next.", last.n),
    }
}

fn answer(ask: &Visit, shown: &Shown, team: &Entrant, versions: &[&EntrantVersion]) -> (String, String) {
    let Some(line) = shown.board.lines.iter().find(|line| line.name == team.name) else {
        return match versions.last() {
            None if ask.settings.is_over(ask.now) => (
                format!("{} has no bot here", team.name),
                ask.settings.closed(ask.now).unwrap_or_default() + goes_on(ask),
            ),
            None => (
                format!("{} has no bot yet", team.name),
                "Submit one: it plays a check match, then joins the ladder.".to_owned(),
            ),
            Some(last) if last.state == VersionState::Failed => (
                format!("v{} cannot play", last.n),
                "You have nothing on the ladder yet. Its page says what happened and what to change."
                    .to_owned(),
            ),
            Some(last) => {
                let doing = match last.state {
                    VersionState::Received => "is waiting to be built",
                    VersionState::Building => "is being built",
                    _ => "is in its check match",
                };
                (format!("v{} {doing}", last.n), "When it passes, it joins the ladder.".to_owned())
            }
        };
    };
    let matches = line.rating.matches;
    let most = u64::from(ask.site.server.policy().enough);
    let owed = if matches < most {
        format!(" About {} more to play.", words::count((most - matches) as i64))
    } else {
        String::new()
    };
    let places = line.places;
    let answer = match places {
        Some(places) => format!("Place {} with v{}", words::place(places), line.n),
        None => format!("v{} is being placed", line.n),
    };
    let lead = match (places, line.placing) {
        (Some([from, to]), None) if from < to => {
            format!("After {} rated matches.{owed}", words::count(matches as i64))
        }
        (_, Some(n)) if n != line.n => format!(
            "v{n} is live and is being placed: until it has 20 rated matches the board shows v{}.",
            line.n
        ),
        (None, _) => {
            format!(
                "It has played {} of the 20 rated matches that a place needs.",
                words::count(matches as i64)
            )
        }
        _ => format!("Based on {} rated matches.{owed}", words::count(matches as i64)),
    };
    (answer, lead)
}

/// What to do next, the most useful first.
fn next(versions: &[&EntrantVersion], own: &[StoredMatch], team: EntrantId, is_over: bool) -> Vec<Markup> {
    let mut items = Vec::new();
    let item = |name: &str, title: String, text: String, label: &str, address: String| {
        html! { li { (icon(name)) div { h3 { (title) } p { (text) } a.button href=(address) { (label) } } } }
    };
    let newest = versions.last();
    if let Some(waits) =
        newest.filter(|version| version.state.is_waiting() || version.state == VersionState::Trial)
    {
        let (title, text) = match waits.state {
            VersionState::Trial => {
                ("is in a trial against your live version", "It replaces that one if it proves better.")
            }
            _ => ("is being checked", "Its page shows the build and the check match as they happen."),
        };
        items.push(item(
            "clock",
            format!("v{} {title}", waits.n),
            text.to_owned(),
            "Follow it",
            format!("/version/{}", waits.id),
        ));
    }
    if let Some(failed) = newest.filter(|version| version.state == VersionState::Failed) {
        let still = versions.iter().find(|version| version.state == VersionState::Live);
        let still = still.map_or_else(
            || "None of your versions is live.".to_owned(),
            |live| format!("v{} keeps playing.", live.n),
        );
        items.push(item(
            "warn",
            format!("v{} cannot play", failed.n),
            still,
            "See why",
            format!("/version/{}", failed.id),
        ));
    }
    let seen = |played: &'_ StoredMatch| -> Option<(Option<Ended>, Option<String>, String)> {
        let seen = SeatView::of(&played.seats, Viewpoint::Team(team.0))?;
        let others: Vec<&str> = seen.others().map(|seat| seat.name.as_str()).collect();
        Some((seen.ended(), seen.own().fault.clone(), others.join(" and ")))
    };
    // The outcome of a check match is reported with its version.
    let counted = || own.iter().filter(|played| played.kind != Kind::Check);
    let fault = counted().find_map(|played| Some((played, seen(played)?.1?)));
    if let Some((played, fault)) = fault {
        let text: String = fault.chars().take(160).collect();
        items.push(item(
            "warn",
            format!(
                "{} by a fault of your bot",
                if played.kind == Kind::Draft { "A draft ended" } else { "A match was lost" }
            ),
            text,
            "Open the match",
            format!("/match/{}", played.id),
        ));
    }
    let lost = counted().find_map(|played| {
        let (ended, _, other) = seen(played)?;
        (ended == Some(Ended::Lost)).then_some((played, other))
    });
    if let Some((lost, other)) = lost {
        items.push(item(
            "play",
            format!("See how you lost to {other}"),
            "The viewer shows every move.".to_owned(),
            "Open the match",
            format!("/match/{}", lost.id),
        ));
    }
    if is_over && items.is_empty() {
        let text = "Uploads are closed.".to_owned();
        items.push(item(
            "play",
            "Nothing is left to do".to_owned(),
            text,
            "The ladder",
            "/ladder".to_owned(),
        ));
    } else if !is_over && (items.is_empty() || newest.is_none()) {
        let text = "A folder as zip or tar.gz, or a single file. It plays a check match first.".to_owned();
        items.push(item("up", "Submit a version".to_owned(), text, "Submit", "/upload".to_owned()));
    }
    items
}

/// The lines around a team's own.
fn around(shown: &Shown, team: &Entrant) -> Markup {
    let lines = &shown.board.lines;
    let at = lines.iter().position(|line| line.name == team.name);
    let from = at.unwrap_or(0).saturating_sub(2).min(lines.len().saturating_sub(5));
    let here = from..(from + 5).min(lines.len());
    let axis = ladder::axis(lines[here.clone()].iter(), 120.0);
    html! {
        @if here.is_empty() { p.empty { "Nobody is on the ladder yet." } }
        table {
            tbody {
                @for n in here {
                    @let line = &lines[n];
                    @let class = if line.name == team.name { "own" } else if line.boss { "boss" } else { "" };
                    tr.(class) {
                        td.number { (line.places.map_or_else(|| "–".to_owned(), words::short_place)) }
                        td.name {
                            @match shown.teams.get(&line.name) {
                                Some(team) => a href=(format!("/team/{}", team.id)) { b { (line.name) } },
                                None => b { (line.name) }
                            }
                            @if line.placing.is_some() { " " (chip("live", "clock", "being placed")) }
                        }
                        td.wide { @if let Some((place, elo)) = line.rated().and_then(|place| Some((place, place.elo?))) {
                            (axis.interval(elo, (place.low, place.high), class))
                        } }
                        td.number { (ladder::rating(line)) }
                    }
                }
            }
        }
    }
}
