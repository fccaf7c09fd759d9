//! What otherwise takes a browser: a token with which a program takes part, and the link that makes an organiser.

use std::io::{self, Write as _};
use std::path::Path;

use agon_server::ServerError;
use agon_server::status::look;
use agon_site::passwords::Passwords;
use agon_site::secrets;
use agon_store::acts::{Begin, Enrol, GiveToken, ListedPerson, SetPassword, TokensToEnd, Unenrollable};
use agon_store::names::likeness;
use agon_store::{AccountId, ContestStore, LoginKind, StoreError};

use crate::common::screen::harmless;
use crate::common::{self, Done, Failure};
use crate::serve::pages::{fresh_link, link_address};
use crate::serve::workers::keep_output_private;
use crate::serve::{json, now, private, runtime};

/// Who asks for it, in the audit log.
const ACTOR: &str = "organiser";

/// Makes a token for a team, and prints nothing else on standard output.
pub fn token(dir: &Path, team: &str, name: &str, as_json: bool) -> Done {
    let team = agon_server::check_name(team, "a team").map_err(|why| Failure::usage(harmless(&why)))?;
    let name: String = name.trim().chars().filter(|sign| !sign.is_control()).take(40).collect();
    if name.is_empty() {
        return Err(Failure::usage("--name: say what the token is for"));
    }
    private::is_whose(dir)?;
    let (secret, now) = (secrets::fresh(), now());
    let ends = now.plus(secrets::TOKEN);
    let (team, account) = runtime()?.block_on(async {
        let (store, _) = look(dir).await?;
        let (team, account, account_name) = member(&store, &team).await?;
        let token = Begin {
            account,
            sha: secrets::sha(&secret),
            kind: LoginKind::Token,
            name: name.clone(),
            now,
            ends,
            idle_ms: secrets::TOKEN,
        };
        let act = GiveToken { contest: store.id(), token, team: team.clone(), actor: ACTOR.to_owned() };
        let given = store.act(act).await.map_err(of_store)?;
        store.close().await;
        match given {
            Some(_) => Ok((team, account_name)),
            None => Err(Failure::usage(format!(
                "{} has 30 tokens, the most allowed: they are revoked on the page of that account",
                harmless(&account_name)
            ))),
        }
    })?;
    keep_output_private()?;
    if as_json {
        let told =
            json::TeamToken { team: &team, account: &account, name: &name, token: &secret, ends: ends.0 };
        return common::print_json(&mut io::stdout(), &told);
    }
    writeln!(io::stdout(), "{secret}")?;
    eprintln!(
        "A token of {} for {}, shown only once, valid for 90 days. With it in a file: agon login URL --token-file FILE",
        harmless(&account),
        harmless(&team)
    );
    Ok(())
}

/// The team as it is called, and its first member: made now if there is none.
async fn member(store: &ContestStore, team: &str) -> Result<(String, AccountId, String), Failure> {
    if let Some(found) = first(store, team).await? {
        return Ok(found);
    }
    // The link is thrown away: an organiser can make another one.
    let link = secrets::sha(&secrets::fresh());
    let listed = ListedPerson { name: team.to_owned(), team: Some((team.to_owned(), secrets::code())), link };
    let now = now();
    let act = Enrol { contest: store.id(), people: vec![listed], ends: now, actor: ACTOR.to_owned(), now };
    match store.act(act).await.map_err(of_store)?.pop() {
        None => {}
        Some((_, Unenrollable::Taken(other))) => {
            return Err(Failure::usage(format!(
                "`{}` has no member, and an account `{}` is there already: whoever has it can join the team",
                harmless(team),
                harmless(&other)
            )));
        }
        Some((_, Unenrollable::TeamTaken(other) | Unenrollable::TeamFull(other, _))) => {
            return Err(Failure::usage(format!(
                "`{}` looks like `{}`, which is there already; write it the same way, or take another name",
                harmless(team),
                harmless(&other)
            )));
        }
    }
    let none = || Failure::own(format!("the account of {} is gone again; try once more", harmless(team)));
    first(store, team).await?.ok_or_else(none)
}

/// The team of this name and its first member. Whoever has no password yet gets one that nobody knows: without any, an account has no
/// tokens.
async fn first(store: &ContestStore, team: &str) -> Result<Option<(String, AccountId, String)>, Failure> {
    let like = likeness(team);
    let teams = store.entrants().await.map_err(of_store)?;
    let known = teams.into_iter().find(|known| !known.boss && likeness(&known.name) == like);
    let Some(known) = known else { return Ok(None) };
    let Some((account, name)) = known.members.into_iter().next() else { return Ok(None) };
    if store.account(account).await.map_err(of_store)?.is_some_and(|account| account.password.is_none()) {
        let password = Passwords::default().hash(secrets::fresh()).await;
        let (contest, tokens) = (store.id(), TokensToEnd::All);
        store.act(SetPassword { contest, account, password, tokens, now: now() }).await.map_err(of_store)?;
    }
    Ok(Some((known.name, account, name)))
}

fn of_store(error: StoreError) -> Failure {
    ServerError::from(error).into()
}

/// Makes a link for a new organiser, and prints nothing else on standard output.
pub fn link(dir: &Path, site: &str, as_json: bool) -> Done {
    private::is_whose(dir)?;
    let site = site.trim_end_matches('/');
    if !site.starts_with("http://") && !site.starts_with("https://") {
        return Err(Failure::usage(format!(
            "--site {site}: write the address that people open, as https://contest.example"
        )));
    }
    let (secret, ends) = runtime()?.block_on(async {
        let (store, _) = look(dir).await?;
        let made = fresh_link(&store, now()).await.map_err(of_store)?;
        store.close().await;
        Ok::<_, Failure>(made)
    })?;
    let link = link_address(site, &secret);
    keep_output_private()?;
    if as_json {
        return common::print_json(&mut io::stdout(), &json::OrganiserLink { link: &link, ends: ends.0 });
    }
    writeln!(io::stdout(), "{link}")?;
    eprintln!("It works once and expires in a day; --site says where the site is.");
    Ok(())
}
