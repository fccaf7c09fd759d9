//! The workbench: texts that are kept as they are typed, run as drafts, and handed in. A text is its author's: nobody else finds it.

use agon_api::code::{ChangedLines, NumberOrWord, RunRules};
use agon_api::{
    CodeFile, CodeLimits, CodeNumber, CodeOpponent, CodePreset, CodeStarter, KeptAs, KeptText, TextEntry,
    TextHandedIn, TextRuns, TextToHandIn, TextToKeep, TextToRun, Used, Workbench,
};
use agon_game::rules::{RuleNumber, numbers};
use agon_game::{Preset, Starter};
use agon_server::Wish;
use agon_server::texts::{
    BotFiles, MOST_BYTES, MOST_FILES, OwnText, TextKept, TextOpponent, TextRefusal, TextRun, as_text,
};
use agon_store::acts::texts::MOST_TEXTS;
use agon_store::acts::version::{MOST_A_DAY, MOST_AN_HOUR};
use agon_store::{EntrantVersion, OwnVersion, TextId, TextOwner, TextRow, VersionId, VersionState};
use agon_worker::RulesWish;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use crate::api::asked::{not_there, place, too_full, too_many};
use crate::api::read::Sent;
use crate::api::told;
use crate::api::versions::{admit_upload, found, outcome, unfit};
use crate::gate::Visit;
use crate::pages::{rulings, upload};
use crate::problem::Refused;

/// The longest note, and the longest name of a request, in characters.
const LONGEST_NOTE: usize = 200;
/// How many opponents are offered, the best first.
const OFFERED: usize = 200;
/// How many versions are looked through for a file that is no text.
const LOOKED_THROUGH: usize = 5;

/// Whose texts are asked for.
fn owner(ask: &Visit) -> Result<TextOwner, Refused> {
    let person = ask.whoever()?;
    Ok(TextOwner { contest: ask.site.contest(), account: person.account, team: person.team })
}

/// Counts what costs something.
fn count(ask: &Visit) -> Result<(), Refused> {
    ask.site.limits.text(ask.whoever()?.account, ask.now).map_err(|until| {
        let what = "More texts were kept, run or opened than anyone can type.";
        Refused::too_much(what, (until.0 - ask.now.0) / 1000 + 1)
    })
}

fn told_files(files: &BotFiles) -> Vec<CodeFile> {
    let file = |(path, content): (&str, &[u8])| {
        let text = as_text(content).map(str::to_owned);
        let bytes = text.is_none().then_some(content.len() as u64);
        CodeFile { path: path.to_owned(), text, bytes }
    };
    files.iter().map(file).collect()
}

fn told_text(text: &OwnText) -> KeptText {
    let files = told_files(&text.files);
    KeptText { id: text.row.id.0, kept_at: text.row.kept.0, note: text.row.note.clone(), files }
}

/// A text of the caller.
async fn own_text(ask: &Visit, id: i64) -> Result<OwnText, Refused> {
    let text = ask.site.server.own_text(owner(ask)?, TextId(id)).await?;
    text.ok_or_else(|| {
        let text = "There is no such text, or no more: the last 20 are kept, for their author alone.";
        Refused::new(StatusCode::NOT_FOUND, "Not found", text)
    })
}

/// What the workbench begins with.
///
/// # Errors
/// Store errors.
pub async fn workbench(ask: &Visit) -> Result<Workbench, Refused> {
    let (server, settings, owner) = (&ask.site.server, &ask.settings, owner(ask)?);
    let shown = ask.site.shown().await?;
    let text = server.newest_text(owner).await?;
    let (own, quota) = match owner.team {
        Some(team) => {
            let quota = ask.site.store().quota(team, ask.now).await?;
            (ask.site.store().own_versions(team).await?, Some(told::quota(&quota)))
        }
        None => (Vec::new(), None),
    };
    let unused = |most: i64| Used { used: 0, most, until: None };
    let live = shown.board.lines.iter().filter_map(|line| {
        let mut versions = shown.board.versions.iter();
        versions.find(|version| version.entrant == line.name && version.state == VersionState::Live)
    });
    let others = live.filter(|version| own.iter().all(|own| own.version.id != version.id));
    let opponent = |version: &EntrantVersion| CodeOpponent {
        version: version.id.0,
        name: match version.boss {
            true => version.entrant.clone(),
            false => format!("{} v{}", version.entrant, version.n),
        },
        boss: version.boss,
    };
    let own = own.iter().map(|own| &own.version).filter(|own| own.state.can_play()).map(|own| {
        let live = if own.state == VersionState::Live { ", live" } else { "" };
        CodeOpponent { version: own.id.0, name: format!("v{}{live}", own.n), boss: false }
    });
    let info = agon_games::find(&settings.game).map(|game| game.info());
    let starter = |own: &Starter| CodeStarter {
        language: own.language.name().to_owned(),
        title: own.language.title().to_owned(),
        strategy: own.strategy.to_owned(),
        files: own
            .files
            .iter()
            .map(|(path, text)| CodeFile { path: (*path).into(), text: Some((*text).into()), bytes: None })
            .collect(),
    };
    let preset = |own: &Preset| CodePreset { name: own.name.to_owned(), about: own.about.to_owned() };
    let rules = server.terms().grounds.first().map_or("", |ground| &ground.rules);
    let number = |own: RuleNumber| CodeNumber { key: own.key, title: own.title, usual: own.usual };
    Ok(Workbench {
        text: text.as_ref().map(told_text),
        starters: info.map_or(&[][..], |info| info.starters).iter().map(starter).collect(),
        limits: CodeLimits {
            files: MOST_FILES as u64,
            bytes: MOST_BYTES as u64,
            texts: MOST_TEXTS,
            runs: quota.map_or_else(|| unused(settings.held.asked_an_hour.into()), |own| own.asked_an_hour),
            uploads_an_hour: quota.map_or_else(|| unused(MOST_AN_HOUR), |own| own.uploads_an_hour),
            uploads_a_day: quota.map_or_else(|| unused(MOST_A_DAY), |own| own.uploads_a_day),
            closed: settings.closed(ask.now),
        },
        opponents: others.take(OFFERED).map(opponent).collect(),
        versions: own.collect(),
        maps: (0..server.table().maps() as i64).map(|map| settings.map(map)).collect(),
        seats: server.table().seats() as u32,
        presets: info.map_or(&[][..], |info| info.presets).iter().map(preset).collect(),
        numbers: numbers(rules).into_iter().map(number).collect(),
        game: settings.game.clone(),
        title: settings.title.clone(),
    })
}

pub async fn begin(ask: Visit) -> Result<Json<Workbench>, Refused> {
    Ok(Json(workbench(&ask).await?))
}

/// Keeps a text. Where a newer one was kept from elsewhere, that one is the answer.
pub async fn keep(ask: Visit, Sent(sent): Sent<TextToKeep>) -> Result<Response, Refused> {
    count(&ask)?;
    let note =
        sent.note.map(|note| note.chars().filter(|sign| !sign.is_control()).take(LONGEST_NOTE).collect());
    let files = files(&ask, sent.files).await?;
    let kept = ask.site.server.keep_text(owner(&ask)?, sent.base.map(TextId), &files, note, ask.now).await?;
    Ok(match kept {
        TextKept::Kept(id, at) => Json(KeptAs { id: id.0, kept_at: at.0 }).into_response(),
        TextKept::Newer(text) => (StatusCode::CONFLICT, Json(told_text(&text))).into_response(),
    })
}

/// The files that were sent. The content of one that is no text was never sent: the newest text has it, or a version.
async fn files(ask: &Visit, sent: Vec<CodeFile>) -> Result<BotFiles, Refused> {
    let (mut files, mut missing) = (Vec::new(), Vec::new());
    for file in sent.into_iter().take(MOST_FILES + 1) {
        match (file.text, file.bytes) {
            (Some(text), _) => files.push((file.path, text.into_bytes())),
            (None, Some(bytes)) => missing.push((file.path, bytes)),
            (None, None) => {
                return Err(Refused::wrong(format!(
                    "`{}` has neither a text nor a size.",
                    shown(&file.path)
                )));
            }
        }
    }
    let newest = match missing.is_empty() {
        true => None,
        false => ask.site.server.newest_text(owner(ask)?).await?,
    };
    let mut known: Vec<BotFiles> = newest.into_iter().map(|text| text.files).collect();
    let has = |known: &[BotFiles], (path, bytes): &(String, u64)| {
        known.iter().find_map(|files| files.binary(path, *bytes).map(<[u8]>::to_vec))
    };
    if missing.iter().any(|file| has(&known, file).is_none())
        && let Some(team) = ask.whoever()?.team
    {
        let own = ask.site.store().own_versions(team).await?;
        for version in own.iter().take(LOOKED_THROUGH) {
            known.extend(opened(ask, version).await.ok());
        }
    }
    for file in missing {
        let content = has(&known, &file).ok_or_else(|| {
            Refused::wrong(format!(
                "`{}`, a file that is no text, is not known here: hand the bot in as a file, and open that version.",
                shown(&file.0)
            ))
        })?;
        files.push((file.0, content));
    }
    BotFiles::new(files).map_err(|why| match why {
        TextRefusal::Wrong(why) => Refused::wrong(format!("{why}.")),
        TextRefusal::TooLarge(why) => Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "Too large", why),
    })
}

/// What somebody sent, short enough for a sentence.
fn shown(path: &str) -> String {
    path.chars().filter(|sign| !sign.is_control()).take(60).collect()
}

/// The last texts.
pub async fn list(ask: Visit) -> Result<Json<Vec<TextEntry>>, Refused> {
    let texts = ask.site.server.told_texts(owner(&ask)?).await?;
    let entry = |(row, did): (TextRow, Option<String>)| TextEntry {
        id: row.id.0,
        kept_at: row.kept.0,
        note: row.note,
        lines: ChangedLines { more: row.lines.0, fewer: row.lines.1 },
        did,
    };
    Ok(Json(texts.into_iter().map(entry).collect()))
}

pub async fn one(ask: Visit) -> Result<Json<KeptText>, Refused> {
    Ok(Json(told_text(&own_text(&ask, ask.id).await?)))
}

/// The files of a version, whose team the right has checked.
pub async fn source(ask: Visit) -> Result<Json<Vec<CodeFile>>, Refused> {
    count(&ask)?;
    Ok(Json(told_files(&opened(&ask, &found(&ask).await?).await?)))
}

/// The files of a version. As many are opened at once as an account may upload.
async fn opened(ask: &Visit, version: &OwnVersion) -> Result<BotFiles, Refused> {
    let place = ask.site.limits.upload(ask.whoever()?.account);
    let _place = place.ok_or_else(|| Refused::too_much("Too many files are being opened at once.", 5))?;
    Ok(ask.site.server.source(version).await?)
}

fn chosen(rules: RunRules) -> RulesWish {
    let sets = rules.set.into_iter().map(|(key, value)| (key, value.to_string()));
    RulesWish { preset: rules.preset.filter(|preset| !preset.is_empty()), sets: sets.collect() }
}

/// The map that is meant, from 1.
fn map(ask: &Visit, wanted: Option<NumberOrWord>) -> Result<Option<u32>, Refused> {
    let Some(wanted) = wanted.map(|wanted| wanted.to_string()) else { return Ok(None) };
    let maps = 0..ask.site.server.table().maps() as i64;
    let named = maps.clone().find(|map| ask.settings.map(*map) == wanted).map(told::from_one);
    let map = wanted.parse().ok().or(named);
    map.map(Some).ok_or_else(|| {
        let names: Vec<String> = maps.map(|map| ask.settings.map(map)).collect();
        Refused::wrong(format!("No map is called `{}`; there are {}.", shown(&wanted), names.join(", ")))
    })
}

/// Runs a text.
pub async fn run(ask: Visit, Sent(sent): Sent<TextToRun>) -> Result<Response, Refused> {
    count(&ask)?;
    rulings::admit(&ask).await?;
    let text = own_text(&ask, sent.text).await?;
    let mut against = Vec::new();
    for one in &sent.against {
        against.push(match (one.version, one.text) {
            (Some(version), None) => TextOpponent::Version(VersionId(version)),
            (None, Some(other)) => TextOpponent::Text(own_text(&ask, other).await?.row.id),
            _ => return Err(Refused::wrong("An opponent is a version or a text.")),
        });
    }
    if against.is_empty() || against.len() > ask.site.server.table().seats() {
        return Err(Refused::wrong("Name one opponent, or one for each of the other seats."));
    }
    let seed = sent.seed.as_deref().filter(|seed| !seed.is_empty()).map(str::parse::<i64>).transpose();
    let seed = seed.map_err(|_| Refused::wrong("`seed` is a whole number of 64 bits, as a string."))?;
    let team = upload::team(&ask).await?.map_err(Refused::wrong)?;
    // Of whom the team is new, the caller does not know yet.
    let owner = TextOwner { team: Some(team), ..owner(&ask)? };
    let (map, seed, seat) = place((map(&ask, sent.map)?, seed, sent.seat))?;
    let rules = sent.rules.map(chosen).unwrap_or_default();
    let wish = Wish { entrant: team, against: Vec::new(), map, seed, seat, rules, text: None };
    match ask.site.server.run_text(&text, (owner, &against), wish, ask.now).await? {
        TextRun::In(game) => Ok((StatusCode::ACCEPTED, Json(TextRuns { game: game.0 })).into_response()),
        TextRun::TooMany(at) => Err(too_many(&ask, at)),
        TextRun::Full(at) => Err(too_full(&ask, at)),
        TextRun::NotThere => Err(not_there()),
        TextRun::Refused(cause) => Err(unfit(cause)),
    }
}

/// Hands a text in. The same request gets the same answer.
pub async fn hand_in(ask: Visit, Sent(sent): Sent<TextToHandIn>) -> Result<Json<TextHandedIn>, Refused> {
    count(&ask)?;
    if !(1..=LONGEST_NOTE).contains(&sent.request.chars().count())
        || sent.request.chars().any(char::is_control)
    {
        return Err(Refused::wrong(format!("`request` has 1 to {LONGEST_NOTE} characters.")));
    }
    let texts = ask.site.store().texts(owner(&ask)?).await?;
    let mut done = texts.iter().filter(|text| text.request.as_ref() == Some(&sent.request));
    if let Some((version, n)) = done.find_map(|text| text.version) {
        return Ok(Json(TextHandedIn { version: version.0, n }));
    }
    admit_upload(&ask).await?;
    let text = own_text(&ask, sent.text).await?;
    let team = upload::team(&ask).await?.map_err(Refused::wrong)?;
    let team = ask.site.store().entrant(team).await?.ok_or_else(Refused::ours)?;
    let actor = &ask.whoever()?.name;
    let server = &ask.site.server;
    let uploaded = server.hand_in_text(&text, (&team.name, actor), sent.request, ask.now).await?;
    let (_, id) = outcome(&ask, uploaded)?;
    let own = ask.site.store().own_versions(team.id).await?;
    let n = own.iter().find(|own| own.version.id == id).map(|own| own.version.n);
    Ok(Json(TextHandedIn { version: id.0, n: n.ok_or_else(Refused::ours)? }))
}
