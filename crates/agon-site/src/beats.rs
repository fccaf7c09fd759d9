//! What a site does by itself, again and again: it follows its file, lets live pages know, tells the webhook, and makes the night's archive.

use agon_ladder::verdict::Says;
use agon_server::{EndedTrial, nightly};
use agon_store::Time;
use agon_store::acts::Tell;

use crate::problem::Refused;
use crate::site::Site;
use crate::webhook::{Heard, message};

/// How long somebody must have led before that is told, in milliseconds; so it is told at most as often.
const HELD_MS: i64 = 600_000;
/// How often to look who leads, in milliseconds.
const LOOK_MS: i64 = 30_000;

/// Does all that is due.
pub async fn beat(site: &Site) {
    site.beat().await;
    tell_webhook(site).await;
    make_archive(site).await;
}

/// Tells the webhook what has happened since the last time.
async fn tell_webhook(site: &Site) {
    let (settings, now, ended) = (site.settings(), site.now(), site.webhook.ended());
    let mut known = site.webhook.heard.lock().await;
    let (Some(to), of_verdicts) = &settings.webhook else {
        *known = None;
        return;
    };
    let mut news: Vec<String> = ended.iter().filter(|_| *of_verdicts).map(verdict).collect();
    // What cannot be read now is read at the next beat.
    match site.server.keeps().await {
        Ok(true) => {
            news.extend(announced(site, &mut known).await.unwrap_or_default());
            if let Some(known) = known.as_mut() {
                news.extend(risen(site, known, now).await.unwrap_or_default());
            }
        }
        Ok(false) => *known = None,
        Err(_) => {}
    }
    let body = |news: &String| message(&format!("{}: {news}", settings.title), site.people_at());
    site.webhook.send(to, news.iter().map(body).collect(), now);
}

/// A new announcement.
async fn announced(site: &Site, known: &mut Option<Heard>) -> Result<Option<String>, Refused> {
    let announced = site.store().announced().await?;
    let Some(known) = known else {
        *known = Some(Heard { announced, looked: Time(0), rising: None });
        return Ok(None);
    };
    let is_new = known.announced != announced;
    known.announced.clone_from(&announced);
    Ok(announced.filter(|_| is_new).map(|(.., text)| text))
}

/// A new leader. It is written down before it is told: rather never than twice.
async fn risen(site: &Site, known: &mut Heard, now: Time) -> Result<Option<String>, Refused> {
    if !known.looked.is_past(LOOK_MS, now) {
        return Ok(None);
    }
    known.looked = now;
    let shown = site.shown().await?;
    let first = shown.board.lines.iter().find(|line| line.rank == Some(1)).filter(|line| !line.boss);
    let told = site.store().told_leader().await?;
    let Some(leader) = first.map(|line| line.name.clone()).filter(|name| told.as_ref() != Some(name)) else {
        known.rising = None;
        return Ok(None);
    };
    match &known.rising {
        Some((name, since)) if *name == leader && since.is_past(HELD_MS, now) => {}
        Some((name, _)) if *name == leader => return Ok(None),
        _ => {
            known.rising = Some((leader, now));
            return Ok(None);
        }
    }
    let (verb, object, detail) = ("tell leader".to_owned(), leader.clone(), String::new());
    let tell = Tell { contest: site.contest(), actor: "server".to_owned(), verb, object, detail, now };
    site.store().act(tell).await?;
    known.rising = None;
    Ok(Some(format!("{leader} leads the ladder now.")))
}

fn verdict(ended: &EndedTrial) -> String {
    let says = match ended.found.says {
        Says::Better => "is better than",
        Says::Worse => "is worse than",
        Says::Unknown => "is neither shown to be better nor worse than",
    };
    format!("{} v{} {says} v{}: {}.", ended.team, ended.n, ended.against, ended.found.figures())
}

/// Makes the archive of today if it is due.
async fn make_archive(site: &Site) {
    let (settings, now) = (site.settings(), site.now());
    let (Some(folder), Some(day)) = (&settings.nightly, nightly::due(now)) else { return };
    let folder = site.folder().join(folder);
    if site.nights.is_time(now)
        && !nightly::made(&folder).iter().any(|made| made.day == day)
        && site.server.keeps().await.unwrap_or(false)
    {
        site.nights.begin(site.folder().to_owned(), folder, (day, now));
    }
}
