//! `agon login` and `agon logout`.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::PathBuf;

use agon_api::{Contest, Me};
use agon_bot::advised::NextCommand;
use agon_worker::fleet::{Overview, ROOT};
use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::common::logins::{self, Login, Logins};
use crate::common::online::{Address, Line, Online, Trouble};
use crate::common::{self, Done, Failure};
use crate::online::{json, shown};

/// Examples for the help.
pub const EXAMPLES: &str = "Create the token on the contest's /account page, where you can also revoke it. It is kept in
~/.config/agon/logins.json, which only you can read, and is sent to this address and nowhere else. On a build server set
AGON_URL and AGON_TOKEN instead: then no login is needed.

Examples:
  agon login https://cup.example                 asks for the token, without showing it
  agon login 192.168.1.7:8080 --token-file t     reads it from a file; - for standard input
  agon login https://192.168.1.7:8443 --fingerprint 8F:03:…   where the contest has a certificate of its own
  agon login 192.168.1.7:8080 --token-file author.token       at a fleet (agon serve --fleet)
  agon logout                                    forgets it here";

/// Options of `agon login`.
#[derive(Args, Debug)]
pub struct LoginOptions {
    /// The address of the contest, or of a fleet: `https://cup.example`
    pub url: String,
    /// Reads the token from a file, or from standard input with `-`
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// How it may be reached, from now on.
    #[command(flatten)]
    pub line: Line,
    /// Prints who you are there, as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `agon logout`.
#[derive(Args, Debug)]
pub struct LogoutOptions {
    /// The contest's address [default: that of the last `agon login`]
    pub url: Option<String>,
    /// Prints what was done as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs `agon login`.
pub fn login(options: &LoginOptions) -> Done {
    let address = Address::parse(&options.url)?;
    if options.token_file.is_none() && !io::stdin().is_terminal() {
        return Err(Failure::usage(format!(
            "there is no terminal to ask for a token at: --token-file FILE names its file, or - for standard input \
             ({address}/account makes one)"
        )));
    }
    // Checks without a token whether there is a contest at all.
    let contest = Online::new(address.clone(), None, &options.line)?.get::<Contest>("/contest", &[]);
    let contest = match contest {
        Err(Trouble::Refused(problem)) if problem.status == 404 => return fleet(address, options),
        contest => contest?,
    };
    let token = match &options.token_file {
        Some(file) => logins::token(file)?,
        None => {
            eprintln!(
                "Make a token for {} on {address}/account, copy it, and paste it here:",
                shown(&contest.title)
            );
            typed()?
        }
    };
    if !is_token(&token) {
        return Err(Failure::usage(format!(
            "that is not a token: make one on {address}/account, and copy all of it"
        )));
    }
    let online = Online::new(address.clone(), Some(token.clone()), &options.line)?;
    let me: Me = online.get("/me", &[])?;
    let mut logins = Logins::read()?;
    logins.keep(Login {
        url: address.0.clone(),
        token,
        name: me.name.clone(),
        title: contest.title.clone(),
        plain_http: options.line.plain_http,
        fingerprint: options.line.fingerprint,
    })?;
    let mut out = io::stdout().lock();
    let team = me.team.as_ref().map(|team| team.name.as_str());
    if options.json {
        let (contest, game) = (contest.title.as_str(), contest.game.as_str());
        return common::print_json(
            &mut out,
            &json::LoggedIn { url: &address.0, contest, game, name: &me.name, team },
        );
    }
    let of =
        team.map_or_else(|| "without a team yet".to_owned(), |team| format!("of the team {}", shown(team)));
    writeln!(
        out,
        "{}, a contest of {}: you are {}, {of}.",
        shown(&contest.title),
        shown(&contest.game),
        shown(&me.name)
    )?;
    writeln!(out, "The token is kept in {}.", logins::path()?.display())?;
    Ok(writeln!(out, "  agon try       tries the bot of this folder out\n  agon submit    submits it")?)
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Logs in at a fleet, as its author. The contest used when no address is named stays the same.
fn fleet(address: Address, options: &LoginOptions) -> Done {
    let token = match &options.token_file {
        Some(file) => logins::token(file)?,
        None => {
            eprintln!(
                "{address} is a fleet. Paste the token from the file author.token in the folder of its `agon serve --fleet`:"
            );
            typed()?
        }
    };
    if !is_token(&token) {
        return Err(Failure::usage("that is not a token: it is in author.token, in the fleet's folder"));
    }
    let online = Online::new(address.clone(), Some(token.clone()), &options.line)?.below(ROOT);
    let overview: Overview = online.get("", &[])?;
    let mut logins = Logins::read()?;
    logins.keep_beside(Login {
        url: address.0.clone(),
        token,
        name: "author".to_owned(),
        title: "a fleet".to_owned(),
        plain_http: options.line.plain_http,
        fingerprint: options.line.fingerprint,
    })?;
    let mut out = io::stdout().lock();
    let machines = overview.machines.len();
    if options.json {
        return common::print_json(&mut out, &json::FleetKnown { url: &address.0, machines });
    }
    let machines = if machines == 1 { "1 machine".to_owned() } else { format!("{machines} machines") };
    writeln!(out, "A fleet with {machines}. The token is kept in {}.", logins::path()?.display())?;
    Ok(writeln!(out, "  {}    has them play", NextCommand::SprtOn.about([&address.0]))?)
}

/// Runs `agon logout`.
pub fn logout(options: &LogoutOptions) -> Done {
    let mut logins = Logins::read()?;
    let url = match &options.url {
        Some(url) => Some(Address::parse(url)?.0),
        None => logins.current().map(|login| login.url.clone()),
    };
    let mut out = io::stdout().lock();
    if options.json {
        let url = url.as_deref();
        let forgotten = url.map_or(Ok(false), |url| logins.forget(url))?;
        return common::print_json(&mut out, &json::LoggedOut { url, forgotten });
    }
    let Some(url) = url else { return Ok(writeln!(out, "You are not logged in anywhere.")?) };
    match logins.forget(&url)? {
        true => {
            Ok(writeln!(out, "The token for {url} is forgotten here. {url}/account ends it everywhere.")?)
        }
        false => Err(Failure::usage(format!("{url}: no token is kept for it here"))),
    }
}

/// Reads the token from the terminal, without showing it.
fn typed() -> Result<String, Failure> {
    let stdin = io::stdin();
    let before = tcgetattr(&stdin).ok();
    if let Some(before) = &before {
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        let _ = tcsetattr(&stdin, OptionalActions::Now, &silent);
    }
    let mut text = String::new();
    let read = stdin.lock().take(logins::LONGEST).read_line(&mut text);
    if let Some(before) = &before {
        let _ = tcsetattr(&stdin, OptionalActions::Now, before);
        eprintln!();
    }
    read?;
    Ok(text.trim().to_owned())
}
