//! Taking part in a contest elsewhere, through its API alone: submitting, trying out, looking.

pub mod challenge;
pub mod json;
pub mod login;
pub mod logs;
pub mod look;
pub mod submit;
pub mod tryout;

mod bundle;
mod follow;

use agon_api::Versions;
use agon_api::version::{Cause, Version, Whose};

use crate::common::Failure;
use crate::common::online::Online;
use crate::common::screen::{Screen, harmless, harmless_lines};

/// The version of the user's team with this number, `3` or `v3`; the newest if none is named.
fn version(online: &Online, named: Option<&str>) -> Result<Version, Failure> {
    let mut all = online.get::<Versions>("/versions", &[])?.versions;
    if all.is_empty() {
        return Err(Failure::usage("your team has not submitted anything yet: `agon submit` does"));
    }
    let Some(named) = named else { return Ok(all.remove(0)) };
    let n = number(named)
        .ok_or_else(|| Failure::usage(format!("`{named}` is not a version: write its number, as in v3")))?;
    let newest = all[0].n;
    all.into_iter().find(|version| version.n == n).ok_or_else(|| {
        Failure::usage(format!("your team has no v{n}: the newest is v{newest} (agon versions lists them)"))
    })
}

/// The number in `v3` or `3`.
fn number(text: &str) -> Option<i64> {
    text.strip_prefix(['v', 'V']).unwrap_or(text).parse().ok().filter(|n| *n > 0)
}

/// Why something failed; whose doing it is comes first.
fn told(screen: Screen, cause: &Cause) -> String {
    let whose = match cause.whose {
        Whose::Yours => "yours",
        Whose::Ours => "the contest's, not yours",
    };
    let mut text = format!("{} {}", screen.bad(&format!("{whose}:")), harmless_lines(&cause.what));
    if let Some(fix) = &cause.fix {
        text += &format!("\n  {}", harmless_lines(fix));
    }
    text
}

/// A text from the contest, made safe for one line.
fn shown(text: &str) -> String {
    harmless(text).chars().take(200).collect()
}
