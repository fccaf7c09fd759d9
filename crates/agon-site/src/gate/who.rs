//! Who is asking: known by the cookie of a browser's session, or by the token of a program or of a machine that plays; a
//! reader of metrics also by its address.

use std::net::IpAddr;

use agon_store::acts::{RecordCall, RecordUse};
use agon_store::{LoginKind, Time};
use agon_web::gate::{host, names_loopback};
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::AppendHeaders;

use crate::problem::Refused;
use crate::rights::{Actor, Person};
use crate::secrets;
use crate::site::{Site, Way};

/// How often the use of a session is recorded, in milliseconds.
const SEEN_MS: i64 = 5 * 60_000;

/// How often it is recorded that a worker was heard of, in milliseconds.
const HEARD_MS: i64 = 5_000;

/// The owner of this secret; nobody, if it is unknown.
pub async fn known(site: &Site, secret: &str, kind: LoginKind, now: Time) -> Result<Actor, Refused> {
    let Some((login, account)) = site.store().known_by(&secrets::sha(secret), kind, now).await? else {
        return Ok(Actor::Nobody);
    };
    if now.0 - login.seen.0 > SEEN_MS {
        site.store().act(RecordUse { login: login.id, now }).await?;
    }
    let team = site.store().team_of(account.id).await?;
    let (organiser, name) = (account.organiser, account.name);
    Ok(Actor::Person(Person { account: account.id, name, organiser, team, login: login.id }))
}

/// The worker with this token, even if revoked: it is told that it was.
pub async fn at_work(site: &Site, secret: &str, now: Time) -> Result<Actor, Refused> {
    let Some(worker) = site.store().worker_known_by(&secrets::sha(secret)).await? else {
        return Ok(Actor::Nobody);
    };
    if now.0 - worker.seen.0 > HEARD_MS && !worker.revoked {
        site.store().act(RecordCall { worker: worker.id, now }).await?;
    }
    Ok(Actor::Worker(worker))
}

/// The reader of metrics: whoever has the token for that, or a program on this machine that asks directly. Behind a proxy
/// everything comes from this machine, so only the token counts there.
pub fn meter(site: &Site, headers: &HeaderMap, from: IpAddr, secret: Option<&str>) -> Actor {
    let knows =
        |secret| site.meter().is_some_and(|own| secrets::same(&secrets::sha(secret).to_string(), own));
    let is_near = !matches!(site.way, Way::Proxy(_)) && from.is_loopback() && names_loopback(headers);
    if is_near || secret.is_some_and(knows) { Actor::Meter } else { Actor::Nobody }
}

/// The name of the session cookie. On a machine with several contests each has its own, because cookies ignore ports.
pub fn cookie_name(site: &Site, headers: &HeaderMap) -> String {
    if site.is_secure() {
        return "__Host-agon".to_owned();
    }
    let port = host(headers).and_then(|host| host.port_u16()).unwrap_or(80);
    format!("agon-{port}")
}

/// The secret of a session. Of two cookies with this name the last counts: a browser sends those for a specific path first,
/// and ours is for all paths.
pub fn cookie(site: &Site, headers: &HeaderMap) -> Option<String> {
    kept(headers, &cookie_name(site, headers))
}

/// The value of a cookie.
pub fn kept(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines = headers.get_all(header::COOKIE).into_iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.rfind(|(found, _)| *found == name).map(|(_, value)| value.to_owned())
}

/// A header that gives a cookie to the browser.
pub type SetCookie = AppendHeaders<Option<(HeaderName, String)>>;

/// The header that begins a session, or without a secret ends it.
pub fn set_cookie(site: &Site, headers: &HeaderMap, secret: Option<&str>, seconds: i64) -> SetCookie {
    let (value, seconds) = secret.map_or(("", 0), |secret| (secret, seconds));
    keep(site, &cookie_name(site, headers), value, seconds)
}

/// The header of a cookie that no script reads and no other site's form brings along. Its value consists of letters, digits and `-_.~`:
/// nothing needs escaping.
pub fn keep(site: &Site, name: &str, value: &str, seconds: i64) -> SetCookie {
    let secure = if site.is_secure() { "; Secure" } else { "" };
    let cookie = format!("{name}={value}; HttpOnly; SameSite=Lax{secure}; Path=/; Max-Age={seconds}");
    AppendHeaders(Some((header::SET_COOKIE, cookie)))
}

/// The bearer token of the request.
pub fn bearer(headers: &HeaderMap) -> Option<String> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}
