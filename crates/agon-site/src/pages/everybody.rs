//! The people of a contest, as its organiser sees them: who has an account, links for those who forgot their passwords, and
//! many accounts at once from a list.

use agon_store::LinkKind;
use agon_store::acts::{Enrol, ListedPerson, MakeLink, Tell, Unenrollable};
use axum::Form;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::Visit;
use crate::pages::draw::icon;
use crate::pages::frame::{self, Here, field, token, wrong};
use crate::pages::words;
use crate::problem::Refused;
use crate::secrets;

const DAY: i64 = 86_400_000;
/// How many people are shown.
const PEOPLE: i64 = 200;
/// The most accounts made at once.
pub const MOST_NEWCOMERS: usize = 500;
/// How long the links of a list are valid: they are handed out in class, and used at home.
const LIST_ENDS: i64 = 14 * DAY;
/// How many lines of a list are reported as wrong at once.
const TOLD: usize = 20;

/// The fields of the forms here.
#[derive(Clone, Default, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    name: String,
    #[serde(default)]
    list: String,
}

/// A person with a link that is shown once.
struct Linked {
    name: String,
    team: String,
    address: String,
}

/// Everybody.
pub async fn people(ask: Visit) -> Result<Markup, Refused> {
    page(&ask, html! {}, "", &[]).await
}

async fn page(ask: &Visit, above: Markup, list: &str, why: &[String]) -> Result<Markup, Refused> {
    let (people, count) = ask.site.store().accounts(PEOPLE).await?;
    let shown = ask.site.shown().await?;
    let team_of = |id| shown.teams.values().find(|team| team.members.iter().any(|(member, _)| *member == id));
    let content = html! {
        (above)
        section.card {
            table.dense {
                thead { tr { th scope="col" { "Name" } th scope="col" { "Team" } th.desk scope="col" { "Since" } th scope="col" { "" } } }
                tbody { @for one in &people { tr {
                    td { b { (one.name) } @if one.organiser { " " span.chip { "organiser" } } @if one.password.is_none() { " " span.chip { "no password yet" } }
                        @if let Some(mail) = &one.mail { br; span.faint.long { (mail) } @if one.confirmed.is_none() { span.faint { " (not confirmed)" } } } }
                    td { @if let Some(team) = team_of(one.id) { a href=(format!("/team/{}", team.id)) { (team.name) } } @else { span.faint { "–" } } }
                    td.time.desk { (ask.settings.told(one.made, "%-d %b %H:%M")) }
                    td.number { form method="post" action="/organise/reset" { (token(ask)) input type="hidden" name="name" value=(one.name); button.plain { "New password" } } }
                } } }
            }
        }
        @if count > PEOPLE { p.faint { "The first " (PEOPLE) " by name." } }
        form.card.form method="post" action="/organise/people" {
            h2 { "Create accounts from a list" }
            @if let Some(first) = why.first() {
                (wrong(Some(first)))
                @if why.len() > 1 { ul { @for why in &why[1..] { li { (words::told(why)) } } } }
            }
            (token(ask))
            (field("Names, or names and teams",
                "One person per line: `Ada` or `Ada, Brute Forcers`, as a spreadsheet saves it (CSV). Everyone gets a link to set their password; it works once, within 14 days.",
                html! { textarea name="list" rows="8" required spellcheck="false" placeholder="name,team" { (list) } }))
            button.main { (icon("people")) "Create accounts" }
        }
    };
    let answer = words::many(count, "person has an account", "people have accounts");
    let lead = "If somebody has forgotten their password, you can make them a link.";
    Ok(frame::page(ask, Here::Organise, &answer, lead, content))
}

/// Makes a link that sets a password.
pub async fn reset(ask: Visit, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let Some(account) = ask.site.store().account_like(&typed.name).await? else {
        return Err(Refused::wrong("Nobody has this name.").then("People", "/organise/people"));
    };
    let (secret, now) = (secrets::fresh(), ask.now);
    let (sha, kind, ends) = (secrets::sha(&secret), LinkKind::Password, now.plus(DAY));
    ask.site.store().act(MakeLink { sha, kind, account: Some(account.id), now, ends }).await?;
    let (contest, actor) = (ask.site.contest(), ask.whoever()?.name.clone());
    let (verb, object, detail) = ("offer password".to_owned(), account.name.clone(), String::new());
    ask.site.store().act(Tell { contest, actor, verb, object, detail, now }).await?;
    let address = format!("{}/password?link={secret}", ask.address);
    let link = html! {
        section.card { header { h2 { "A link for " (account.name) } } div.in {
            p { code.secret { (address) } }
            p { "It sets a new password, and works once, within a day. Whoever sets it is signed out everywhere, and all tokens and recovery codes of the account end. Give it to nobody else: it is shown only once." }
            (frame::alone(&ask))
        } }
    };
    Ok(page(&ask, link, "", &[]).await?.into_response())
}

/// Makes the accounts of a list. Lines that are wrong stay in the form, with what is wrong with them; they stop none of the others.
pub async fn enrol(ask: Visit, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let List { listed, mut wrong } = read(&typed.list);
    let (mut people, mut linked) = (Vec::new(), Vec::new());
    for one in &listed {
        let secret = secrets::fresh();
        let team = one.team.clone().map(|team| (team, secrets::code()));
        let address = format!("{}/password?link={secret}", ask.address);
        people.push(ListedPerson { name: one.name.clone(), team, link: secrets::sha(&secret) });
        linked.push(Linked { name: one.name.clone(), team: one.team.clone().unwrap_or_default(), address });
    }
    let enrol = Enrol {
        contest: ask.site.contest(),
        people,
        ends: ask.now.plus(LIST_ENDS),
        actor: ask.whoever()?.name.clone(),
        now: ask.now,
    };
    let unfit = ask.site.store().act(enrol).await?;
    for (place, unfit) in unfit.iter().rev() {
        let one = &listed[*place];
        linked.remove(*place);
        let fields = vec![one.name.clone(), one.team.clone().unwrap_or_default()];
        wrong.push(WrongLine { line: one.line, why: told(unfit), fields });
    }
    wrong.sort_by_key(|wrong| wrong.line);
    let left: String = match wrong.is_empty() {
        true => String::new(),
        // Headed, so that it is read with commas whatever its fields hold.
        false => std::iter::once("name,team\n".to_owned())
            .chain(wrong.iter().map(|wrong| written(&wrong.fields)))
            .collect(),
    };
    let status = match linked.is_empty() {
        true => StatusCode::UNPROCESSABLE_ENTITY,
        false => StatusCode::OK,
    };
    let above = match linked.is_empty() {
        true => html! {},
        false => handed_out(&ask, &linked),
    };
    let mut why = bounded(&wrong, linked.len());
    if listed.is_empty() && why.is_empty() {
        why.push("The list is empty.".to_owned());
    }
    let page = page(&ask, above, &left, &why).await?;
    Ok((status, page).into_response())
}

fn handed_out(ask: &Visit, linked: &[Linked]) -> Markup {
    let rows = linked.iter().map(|one| [one.name.as_str(), &one.team, &one.address]);
    let text: String = [["name", "team", "link"]].into_iter().chain(rows).map(|row| written(&row)).collect();
    html! {
        section.card {
            header { h2 { (words::many(linked.len() as i64, "account created", "accounts created")) } span.faint { "these links are shown only once" } }
            div.in {
                p { "Give each person theirs, and nobody else's. Anyone who loses theirs can get a new one below." }
                (frame::alone(ask))
                textarea.mono readonly rows="10" aria-label="Names, teams and links as CSV" { (text) }
            }
            table.dense {
                thead { tr { th scope="col" { "Name" } th scope="col" { "Team" } th scope="col" { "Link" } } }
                tbody { @for one in linked { tr { td { b { (one.name) } } td { (one.team) } td.long { code { (one.address) } } } } }
            }
        }
    }
}

/// A line of a list.
#[derive(Debug, PartialEq, Eq)]
struct Listed {
    /// Its number, from 1.
    line: usize,
    name: String,
    team: Option<String>,
}

/// A line that names nobody who could be enrolled.
#[derive(Debug)]
struct WrongLine {
    /// Its number, from 1.
    line: usize,
    why: String,
    /// What it holds, to be mended.
    fields: Vec<String>,
}

/// A list as it was read.
#[derive(Debug, Default)]
struct List {
    listed: Vec<Listed>,
    wrong: Vec<WrongLine>,
}

/// Reads a list: CSV with commas, semicolons or tabs, with or without a line of headings.
fn read(list: &str) -> List {
    let list = list.trim_start_matches('\u{feff}');
    let first = list.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let between = [b';', b'\t'].into_iter().find(|sign| first.contains(char::from(*sign))).unwrap_or(b',');
    let mut whole = List::default();
    let mut is_first = true;
    for (line, record) in records(list, char::from(between)) {
        if record.iter().all(String::is_empty) {
            continue;
        }
        let is_head = std::mem::take(&mut is_first) && record[0].eq_ignore_ascii_case("name");
        if is_head {
            continue;
        }
        match one(&record, whole.listed.len()) {
            Ok((name, team)) => whole.listed.push(Listed { line, name, team }),
            Err(why) => whole.wrong.push(WrongLine { line, why, fields: record }),
        }
    }
    whole
}

/// The person on a line and their team, after this many others.
fn one(record: &[String], others: usize) -> Result<(String, Option<String>), String> {
    if others == MOST_NEWCOMERS {
        return Err(format!("{MOST_NEWCOMERS} people at once is the limit; send the rest afterwards."));
    }
    if record.iter().skip(2).any(|more| !more.is_empty()) {
        return Err("it has more than two columns.".to_owned());
    }
    let name = agon_server::check_name(&record[0], "an account").map_err(|why| format!("{why}."))?;
    let team = record.get(1).filter(|team| !team.is_empty());
    let team = team
        .map(|team| agon_server::check_name(team, "a team"))
        .transpose()
        .map_err(|why| format!("{why}."))?;
    Ok((name, team))
}

/// The records of CSV, each with the line where it begins, from 1. A field in quotes may hold anything, and two quotes for one.
fn records(list: &str, between: char) -> Vec<(usize, Vec<String>)> {
    let (mut records, mut fields, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut begin, mut is_quoted) = (1, 1, false);
    let mut signs = list.chars().chain(['\n']).peekable();
    while let Some(sign) = signs.next() {
        let is_last = signs.peek().is_none();
        line += usize::from(sign == '\n');
        match sign {
            '"' if is_quoted => match signs.next_if_eq(&'"') {
                Some(quote) => field.push(quote),
                None => is_quoted = false,
            },
            '"' if field.trim().is_empty() => is_quoted = true,
            '\n' if !is_quoted || is_last => {
                fields.push(std::mem::take(&mut field).trim().to_owned());
                records.push((begin, std::mem::take(&mut fields)));
                begin = line;
            }
            sign if sign == between && !is_quoted => {
                fields.push(std::mem::take(&mut field).trim().to_owned());
            }
            sign => field.push(sign),
        }
    }
    records
}

/// A record of CSV.
fn written<Field: AsRef<str>>(fields: &[Field]) -> String {
    let quoted = |field: &str| match field.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    };
    let fields: Vec<String> = fields.iter().map(|field| quoted(field.as_ref())).collect();
    format!("{}\n", fields.join(","))
}

/// The first of many mistakes, below what was done in spite of them.
fn bounded(wrong: &[WrongLine], made: usize) -> Vec<String> {
    let mut told: Vec<String> =
        wrong.iter().take(TOLD).map(|wrong| format!("Line {}: {}", wrong.line, wrong.why)).collect();
    if wrong.len() > TOLD {
        told.push(format!("And {} more.", wrong.len() - TOLD));
    }
    if !wrong.is_empty() {
        let lines = words::many(wrong.len() as i64, "line is wrong", "lines are wrong");
        let them = if wrong.len() == 1 { "it" } else { "them" };
        told.insert(
            0,
            match made {
                0 => format!("No account was created: {lines}. Correct {them} below and send the list again."),
                _ => format!(
                    "{lines}, and still in the box below: correct {them} and send {them} again. The other accounts were created."
                ),
            },
        );
    }
    told
}

fn told(unfit: &Unenrollable) -> String {
    match unfit {
        Unenrollable::Taken(other) => format!("the name looks like `{other}`, which already exists."),
        Unenrollable::TeamTaken(other) => {
            format!(
                "the team's name looks like `{other}`, which is another team; write it the same way, or choose another name."
            )
        }
        Unenrollable::TeamFull(team, most) => {
            format!("`{team}` would have more than {most} members, the limit in the settings.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<(usize, String, Option<String>)> {
        let list = read(list);
        assert!(list.wrong.is_empty(), "{:?}", list.wrong);
        list.listed.into_iter().map(|one| (one.line, one.name, one.team)).collect()
    }

    #[test]
    fn lists_are_read_as_spreadsheets_write_them() {
        let ann = (2, "Ann".to_owned(), Some("Brute Forcers".to_owned()));
        let bob = (4, "Bob B.".to_owned(), None);
        let expected = vec![ann, bob];
        assert_eq!(names("Name,Team\nAnn ,\"Brute Forcers\"\n\nBob B.\n"), expected);
        assert_eq!(names("\u{feff}name;team\r\nAnn;Brute Forcers\r\n\r\nBob B.;\r\n"), expected);
        assert_eq!(names("name\tteam\nAnn\tBrute Forcers\n\t\nBob B.\t"), expected);
    }

    #[test]
    fn what_is_written_is_read_again() {
        for fields in [["a", "b", "c"], ["a \"b\"", "c,d", "e\nf"], ["", "\"", ";"]] {
            let text = written(&fields) + &written(&["1", "2", "3"]);
            let after = 1 + written(&fields).matches('\n').count();
            let expected = [(1, fields), (after, ["1", "2", "3"])];
            let read: Vec<_> = records(&text, ',').into_iter().take(2).collect();
            assert_eq!(read, expected.map(|(line, fields)| (line, fields.map(str::to_owned).to_vec())));
        }
        assert_eq!(records("\"open,\n", ',').len(), 1, "a quote that nobody closes ends with the list");
    }

    #[test]
    fn a_wrong_line_is_named_and_stops_none_of_the_others() {
        let list = read("Ann\n<script>\nBob,Team,and more\nCid,\"two\nlines\"\nहिन्दी,O'Brien\nZoe\u{308}\n");
        let names: Vec<&str> = list.listed.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["Ann", "हिन्दी", "Zoë"]);
        let wrong = bounded(&list.wrong, names.len());
        assert_eq!(wrong.len(), 4, "{wrong:?}");
        assert!(wrong[0].starts_with("3 lines are wrong, and still in the box below"), "{wrong:?}");
        assert!(wrong[1].starts_with("Line 2: `<script>` is not a name for an account"), "{wrong:?}");
        assert!(wrong[1].ends_with("and - _ . ' ·."), "{wrong:?}");
        assert!(wrong[2].starts_with("Line 3: it has more"), "{wrong:?}");
        assert!(wrong[3].starts_with("Line 4: `two\nlines` is not a name for a team"), "{wrong:?}");
        assert_eq!(list.wrong[2].fields, ["Cid", "two\nlines"]);
        let list = read(" \n\n");
        assert!(list.listed.is_empty() && list.wrong.is_empty());
        let many: String = (0..=MOST_NEWCOMERS).map(|n| format!("p{n}\n")).collect();
        let list = read(&many);
        assert_eq!((list.listed.len(), list.wrong[0].line), (MOST_NEWCOMERS, 501));
        let wrong = bounded(&read(&"?\n".repeat(100)).wrong, 0);
        assert_eq!((wrong.len(), wrong.last().map(String::as_str)), (TOLD + 2, Some("And 80 more.")));
    }
}
