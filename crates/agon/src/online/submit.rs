//! `agon submit`: submits a bot, and follows it until it is live.

use std::io::{self, Write as _};
use std::time::Duration;

use agon_api::version::UploadedWord;
use agon_api::{Contest, Me, Uploaded};
use agon_bot::advised::NextCommand;
use clap::Args;

use crate::common::online::OnlineOptions;
use crate::common::screen;
use crate::common::{self, Done, Failure, time};
use crate::online::bundle::Bundle;
use crate::online::{follow, json, shown, told};

/// Examples for the help.
pub const EXAMPLES: &str = "A folder is packed without what tools leave there (.git, target, node_modules, __pycache__, agon-*); a file or an
archive is uploaded as it is, git:REV[:PATH] as it was then. Uploading the same files again gives the same version,
which keeps its matches. A version that fails changes nothing: the one before it keeps playing.

Exit codes: 0 submitted (with --wait: live); 1 it cannot play, or is not better; 2 wrong usage; 3 the contest or this
machine failed, or the limit of uploads is reached.

Examples:
  agon submit                              submits the bot of this folder
  agon submit --wait                       and follows it until it is live, or says why not
  agon submit my-bot --only-if-better      it replaces the one before only if it beats it
  agon submit git:HEAD --wait --json       on a build server";

/// Options of `agon submit`.
#[derive(Args, Debug)]
pub struct SubmitOptions {
    /// The bot: a folder, a file, an archive, or `git:REV[:PATH]`
    #[arg(value_name = "PATH", default_value = ".")]
    pub bot: String,
    /// Replaces the previous version only if it is better
    #[arg(long)]
    pub only_if_better: bool,
    /// Follows its build and its check match until it goes live or fails
    #[arg(long, short)]
    pub wait: bool,
    /// Stops following after this time; the submission continues
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "1800s", requires = "wait")]
    pub patience: Duration,
    #[command(flatten)]
    pub online: OnlineOptions,
    /// Prints the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Prints no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Runs `agon submit`.
pub fn run(options: &SubmitOptions) -> Done {
    let online = options.online.connect()?;
    let contest: Contest = online.get("/contest", &[])?;
    // Finds an expired token before anything large is sent.
    let _: Me = online.get("/me", &[])?;
    let bundle = Bundle::of(&options.bot, &contest.game)?;
    if !options.quiet {
        bundle.tell();
    }
    let query = [("name", bundle.name.clone()), ("only_if_better", options.only_if_better.to_string())];
    let mut uploaded: Uploaded = online.send("/upload", &query, &bundle.bytes)?;
    let page = format!("{}/version/{}", online.address, uploaded.version.id);
    let (team, n) = (shown(&uploaded.version.team), uploaded.version.n);
    let mut out = io::stdout().lock();
    if !options.json {
        match uploaded.what {
            UploadedWord::New => writeln!(out, "{team} v{n} is handed in: {page}")?,
            UploadedWord::Same => {
                writeln!(
                    out,
                    "It is the same, byte for byte, as {team} v{n}, which keeps its matches: {page}"
                )?;
            }
            UploadedWord::Back => {
                writeln!(out, "It is the same as {team} v{n}, which plays for the team again: {page}")?
            }
        }
        out.flush()?;
    }
    let ended = match options.wait {
        true => Some(follow::version(&online, &mut uploaded.version, options.patience, options.quiet)?),
        false => None,
    };
    if options.json {
        let bytes = bundle.bytes.len() as u64;
        let submitted = json::Submitted { bytes, files: &bundle.files, uploaded: &uploaded, page };
        common::print_json(&mut out, &submitted)?;
    }
    let screen = screen::output();
    let logs = NextCommand::LogsOfVersion.about([format!("v{n}")]);
    let mut say = |text: String| if options.json { Ok(()) } else { writeln!(out, "{text}") };
    match ended {
        None => say(format!("`agon status` and `{logs}` show what becomes of it."))?,
        Some(follow::End::Live) => say(screen.good(&format!("v{n} is live: it plays for {team}.")))?,
        Some(follow::End::NotBetter) => {
            let why = uploaded.version.reason.as_deref().unwrap_or("another version plays for the team");
            say(format!("v{n} can play, but is not live: {}.", shown(why).trim_end_matches('.')))?;
            return Err(Failure::Check);
        }
        Some(follow::End::Failed(cause)) => {
            say(format!("v{n} cannot play. {}", told(screen, &cause)))?;
            return Err(Failure::Check);
        }
        Some(follow::End::Patience) => {
            return Err(Failure::own(format!(
                "v{n} is not ready after {:?}; the contest continues with it: `{logs}`",
                options.patience
            )));
        }
    }
    Ok(())
}
