//! `agon challenge`: one match of a submitted version. `agon back`: an earlier version plays for the team again.

use std::io::{self, Write as _};

use agon_api::version::{State, Version};
use agon_api::{Asked, Challenge, Contest, Me};
use clap::Args;

use crate::common::conditions::ground;
use crate::common::online::OnlineOptions;
use crate::common::screen;
use crate::common::{self, Done, Failure};
use crate::online::tryout::{Against, MatchOptions, against, follow_to_the_end};
use crate::online::{number, shown, version};

/// Examples for the help of `agon challenge`.
pub const EXAMPLES: &str = "The match is played within seconds and changes no rating. The other team sees it as well; what your bot wrote, only you.
For a bot that you have not submitted there is `agon try`.

Exit codes: 0 it played without a fault; 1 it did not; 2 wrong usage; 3 the contest or this machine failed, or the limit
(60 an hour, tries included, unless the organiser says otherwise) is reached.

Examples:
  agon challenge                             the live version against the next one up on the ladder
  agon challenge --against Ann --map 2       against the live bot of Ann
  agon challenge v3 --against v5             two of your own versions
  agon challenge --seed 77 --seat 2 --json";

/// Options of `agon challenge`.
#[derive(Args, Debug)]
pub struct ChallengeOptions {
    /// The version that plays, such as v3 [default: the live one]
    #[arg(value_name = "VERSION")]
    pub own: Option<String>,
    #[command(flatten)]
    pub wanted: MatchOptions,
}

/// Runs `agon challenge`.
pub fn run(options: &ChallengeOptions) -> Done {
    let wanted = &options.wanted;
    let online = wanted.online.connect()?;
    let contest: Contest = online.get("/contest", &[])?;
    let me: Me = online.get("/me", &[])?;
    let (name, number) = match against(&online, &me, wanted.against.as_deref())? {
        None => (None, None),
        Some(Against::Team(name)) => (Some(name), None),
        Some(Against::Version(id)) => (None, Some(id)),
    };
    let challenge = Challenge {
        version: options.own.as_deref().map(|own| version(&online, Some(own))).transpose()?.map(|own| own.id),
        against: name,
        against_version: number,
        map: wanted.map.as_deref().map(|map| ground(&contest, map)).transpose()?.map(|map| map.number),
        seed: wanted.seed.map(|seed| seed.to_string()),
        seat: Some(wanted.seat),
    };
    let asked: Asked = online.tell("/challenge", &[], &challenge)?;
    follow_to_the_end(&online, &contest, asked, wanted)
}

/// Examples for the help of `agon back`.
pub const BACK: &str = "Only a version that played for the team before can do so again; it keeps its matches. `agon versions` lists them.

Examples:
  agon back v3
  agon back v3 --json | jq .state";

/// Options of `agon back`.
#[derive(Args, Debug)]
pub struct BackOptions {
    /// The version, such as v3
    #[arg(value_name = "VERSION")]
    pub to: String,
    #[command(flatten)]
    pub online: OnlineOptions,
    /// Prints the version as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs `agon back`.
pub fn back(options: &BackOptions) -> Done {
    let online = options.online.connect()?;
    if number(&options.to).is_none() {
        return Err(Failure::usage(format!("`{}` is not a version: write its number, as in v3", options.to)));
    }
    let before: Version = version(&online, Some(&options.to))?;
    // Asking for the present state is no mistake.
    let now: Version = match before.state {
        State::Live => before,
        _ => online.send(&format!("/versions/{}/live", before.id), &[], &[])?,
    };
    let mut out = io::stdout().lock();
    if options.json {
        return common::print_json(&mut out, &now);
    }
    let stands = format!("v{} is live: it plays for {}.", now.n, shown(&now.team));
    writeln!(out, "{}", screen::output().good(&stands))?;
    Ok(())
}
