//! `agon challenge`: one match of a version that was handed in. `agon back`: an earlier version stands for the team again.

use std::io::{self, Write as _};
use std::time::Duration;

use agon_api::version::{State, Version};
use agon_api::{Asked, Challenge, Contest, Me, Own};
use clap::Args;

use crate::common::conditions::ground;
use crate::common::online::OnlineOptions;
use crate::common::screen;
use crate::common::{self, Done, Failure, time};
use crate::online::tryout::{Against, against, conclude, finish};
use crate::online::{number, shown, version};

/// Examples for the help of `agon challenge`.
pub const EXAMPLES: &str = "The match is played within seconds and changes no rating. The other team sees it as well; what your bot wrote stays yours.
For a bot that was not handed in there is `agon try`.

Exit codes: 0 it played without a fault; 1 it did not; 2 wrong usage; 3 the contest or this machine failed, or the limit
(20 an hour, tries included) is reached.

Examples:
  agon challenge                             the live version against the one next above on the ladder
  agon challenge --against Ann --map 2       against the live bot of Ann
  agon challenge v3 --against v5             two versions of one's own
  agon challenge --seed 77 --seat 2 --json";

/// Options of `agon challenge`.
#[derive(Args, Debug)]
pub struct ChallengeOptions {
    /// The version that plays, as v3 [default: the live one]
    #[arg(value_name = "VERSION")]
    pub own: Option<String>,
    /// A team on the ladder, or a version of one's own as v3 [default: the one next above]
    #[arg(long, value_name = "NAME|vN")]
    pub against: Option<String>,
    /// One of the contest's maps, by its name or its number from 1 [default: the first]
    #[arg(long, value_name = "MAP")]
    pub map: Option<String>,
    /// The seed [default: a fresh one, which is printed]
    #[arg(long, short = 'd', value_name = "N", allow_hyphen_values = true)]
    pub seed: Option<i64>,
    /// The seat that it takes, from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=255))]
    pub seat: u32,
    /// Waits no longer than this; the match goes on
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "900s")]
    pub patience: Duration,
    #[command(flatten)]
    pub online: OnlineOptions,
    /// Prints match and notes as JSON
    #[arg(long)]
    pub json: bool,
    /// Says nothing while it goes on
    #[arg(long, short)]
    pub quiet: bool,
}

/// Runs `agon challenge`.
pub fn run(options: &ChallengeOptions) -> Done {
    let online = options.online.connect()?;
    let contest: Contest = online.get("/contest", &[])?;
    let me: Me = online.get("/me", &[])?;
    let (name, number) = match against(&online, &me, options.against.as_deref())? {
        None => (None, None),
        Some(Against::Team(name)) => (Some(name), None),
        Some(Against::Version(id)) => (None, Some(id)),
    };
    let wanted = Challenge {
        version: options.own.as_deref().map(|own| version(&online, Some(own))).transpose()?.map(|own| own.id),
        against: name,
        against_version: number,
        map: options.map.as_deref().map(|map| ground(&contest, map)).transpose()?.map(|map| map.number),
        seed: options.seed.map(|seed| seed.to_string()),
        seat: Some(options.seat),
    };
    let asked: Asked = online.tell("/challenge", &[], &wanted)?;
    let asked = finish(&online, asked, options.patience, options.quiet)?;
    let own: Own = online.patiently(&format!("/matches/{}/own", asked.game.id))?;
    conclude(&online, &contest, &asked, &own, options.seat, options.json)
}

/// Examples for the help of `agon back`.
pub const BACK: &str = "Only a version that stood for the team before can do so again; it keeps its matches. `agon versions` lists them.

Examples:
  agon back v3
  agon back v3 --json | jq .state";

/// Options of `agon back`.
#[derive(Args, Debug)]
pub struct BackOptions {
    /// The version, as v3
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
        return Err(Failure::usage(format!("`{}` is no version: write its number, as in v3", options.to)));
    }
    let before: Version = version(&online, Some(&options.to))?;
    // To ask for what is so already is no mistake.
    let now: Version = match before.state {
        State::Live => before,
        _ => online.send(&format!("/versions/{}/live", before.id), &[], &[])?,
    };
    let mut out = io::stdout().lock();
    if options.json {
        return common::print_json(&mut out, &now);
    }
    let stands = format!("v{} is live: it stands for {}.", now.n, shown(&now.team));
    writeln!(out, "{}", screen::output().good(&stands))?;
    Ok(())
}
