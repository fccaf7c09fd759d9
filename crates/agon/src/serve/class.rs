//! The bots of a class, each submitted from one folder for the team of its name.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, File};
use std::io::{self, Write as _};
use std::path::Path;

use agon_api::version::Whose;
use agon_bot::advised::NextCommand;
use agon_bot::manifest;
use agon_contest::content;
use agon_server::status::look;
use agon_server::{ServerError, check_name, hand_in};
use agon_store::Objects;
use agon_store::acts::Added;
use agon_store::names::likeness;

use crate::common::packed::packed;
use crate::common::sandbox::Bots;
use crate::common::screen::harmless;
use crate::common::{self, Done, ErrorCode, Failure};
use crate::serve::json::{AddedBot, AddedMany, AddedOfMany, AddedState};
use crate::serve::{now, private, runtime};

/// How many may be in a folder.
const MOST: usize = 500;
/// What systems leave in folders, besides hidden files.
const LEFT: [&str; 3] = ["__MACOSX", "Thumbs.db", "desktop.ini"];

/// Why one is not handed in: whose fault that is, and what is wrong; none where it is ignored.
type Refusal = Option<(Whose, String)>;

/// Submits each bot in a folder. One that is refused stops no other.
pub fn add(dir: &Path, folder: &Path, as_json: bool) -> Done {
    // The time of the command counts, however long packing takes.
    let received = now();
    let entries = entries(folder)?;
    private::is_whose(dir)?;
    let runtime = runtime()?;
    let (store, objects) = runtime.block_on(async {
        let (store, _) = look(dir).await?;
        Ok::<_, ServerError>((store, Objects::open_in_use(dir).await?))
    })?;
    let (mut teams, mut counts, mut out) = (BTreeMap::new(), AddedMany::default(), io::stdout());
    for entry in &entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let became = match prepared(entry, &name, &mut teams) {
            Err(refusal) => Err(refusal),
            Ok((team, archive)) => {
                let added = hand_in(&store, &objects, &team, &archive, ("organiser", received));
                let bytes = archive.len() as u64;
                let bot = |version, state| Ok(AddedBot { team: team.clone(), version, state, bytes });
                match runtime.block_on(added)? {
                    Added::New(_, n) => bot(n, AddedState::New),
                    // What stands for the team now goes on doing so: the team may have replaced this one itself.
                    Added::Same(_, n, _) => bot(n, AddedState::Known),
                    Added::Taken(other) => Err(yours(format!(
                        "`{team}` looks like `{other}`, which is there already; write it the same way, or take another name"
                    ))),
                    Added::TooMany(_) | Added::Closed(_) | Added::Unconfirmed => {
                        return Err(Failure::own("an organiser's upload was counted; please report it"));
                    }
                }
            }
        };
        *match &became {
            Ok(AddedBot { state: AddedState::New, .. }) => &mut counts.submitted,
            Ok(_) => &mut counts.unchanged,
            Err(Some(_)) => &mut counts.refused,
            Err(None) => &mut counts.ignored,
        } += 1;
        tell(&mut out, name, became, as_json)?;
    }
    runtime.block_on(store.close());
    let AddedMany { submitted, unchanged, refused, ignored } = counts;
    if as_json {
        common::print_json_line(&mut out, &counts)?;
    } else {
        writeln!(
            out,
            "\n{submitted} submitted, {unchanged} unchanged, {refused} refused, {ignored} ignored."
        )?;
        let status = NextCommand::ServeStatus.at(dir);
        writeln!(out, "What is new plays a check match first; `{status}` shows the results.")?;
    }
    if refused > 0 { Err(Failure::Check) } else { Ok(()) }
}

fn yours(why: impl Into<String>) -> Refusal {
    Some((Whose::Yours, why.into()))
}

fn tell(
    out: &mut impl io::Write,
    entry: String,
    became: Result<AddedBot, Refusal>,
    as_json: bool,
) -> io::Result<()> {
    if as_json {
        let (bot, refusal) = became.map_or_else(|refusal| (None, refusal), |bot| (Some(bot), None));
        let (whose, why) = refusal.unzip();
        return common::print_json_line(out, &AddedOfMany { entry, bot, whose, why });
    }
    let told = match became {
        Ok(AddedBot { team, version, state: AddedState::New, bytes }) => {
            format!("{team} v{version} has been submitted ({bytes} bytes)")
        }
        Ok(AddedBot { team, version, .. }) => format!("unchanged: it is {team} v{version}"),
        Err(Some((whose, why))) => format!("refused ({}): {}", whose.word(), why.replace('\n', " ")),
        Err(None) => "ignored: a hidden file, or what a system left there".to_owned(),
    };
    writeln!(out, "{}: {}", harmless(&entry), harmless(&told))
}

/// What is in the folder, by name.
fn entries(folder: &Path) -> Result<Vec<DirEntry>, Failure> {
    let shown = folder.display().to_string();
    let unread = |error| Failure::of_file(&shown, &error);
    if folder.join(manifest::FILE).is_file() {
        return Err(Failure::usage(format!(
            "--each: {shown} has an {}, so it is one bot; --team NAME submits it",
            manifest::FILE
        )));
    }
    let found = fs::read_dir(folder).map_err(unread)?;
    let mut entries = found.take(MOST + 1).collect::<io::Result<Vec<_>>>().map_err(unread)?;
    match entries.len() {
        0 => Err(Failure::usage(format!("--each: {shown} is empty"))),
        1..=MOST => {
            entries.sort_by_key(DirEntry::file_name);
            Ok(entries)
        }
        _ => Err(Failure::usage(format!("--each: more than {MOST} are in {shown}; submit it in parts"))),
    }
}

/// The team that an entry is of: its name, for a file without the ending.
fn team_of(name: &str, is_file: bool) -> &str {
    match name.rsplit_once('.').filter(|_| is_file) {
        Some((stem, _)) => stem.strip_suffix(".tar").or(stem.strip_suffix(".TAR")).unwrap_or(stem),
        None => name,
    }
}

/// The team of an entry, and its bot as one archive. `teams` has those that came before, by what the eye sees of their names.
fn prepared(
    entry: &DirEntry,
    name: &str,
    teams: &mut BTreeMap<String, String>,
) -> Result<(String, Vec<u8>), Refusal> {
    if name.starts_with('.') || LEFT.contains(&name) {
        return Err(None);
    }
    let (path, ours) = (entry.path(), |error: io::Error| Some((Whose::Ours, error.to_string())));
    let kind = entry.file_type().map_err(ours)?;
    if !kind.is_dir() && !kind.is_file() {
        return Err(yours("it is neither a folder nor a file; a link is not followed"));
    }
    if entry.file_name().to_str().is_none() {
        return Err(yours("its name is not UTF-8"));
    }
    let team = check_name(team_of(name, kind.is_file()), "a team").map_err(yours)?;
    if let Some(other) = teams.insert(likeness(&team), name.to_owned()) {
        return Err(yours(format!(
            "`{other}` is of the same team, or of one that looks like it, and came first"
        )));
    }
    File::open(&path).map_err(ours)?;
    if kind.is_dir() {
        // Nobody else's files come along with what a stranger has packed.
        let files = content::files(&path).map_err(yours)?;
        if let Some(link) = files.iter().find(|file| path.join(file).is_symlink()) {
            return Err(yours(format!("`{}` in it is a link; put the file itself there", link.display())));
        }
    }
    let archive = common::named(&path.to_string_lossy(), &Bots::usual()).and_then(|name| packed(&name));
    match archive {
        Ok(archive) => Ok((team, archive)),
        Err(Failure::Usage(why) | Failure::Told(ErrorCode::Bot | ErrorCode::NotFound, why)) => {
            Err(yours(why))
        }
        Err(Failure::Own(why) | Failure::Told(_, why)) => Err(Some((Whose::Ours, why))),
        Err(_) => Err(Some((Whose::Ours, "it could not be read".to_owned()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_is_called_as_its_folder_or_its_file_without_the_ending() {
        for (name, is_file, team) in [
            ("Ann", false, "Ann"),
            ("Ann.B", false, "Ann.B"),
            ("ann.py", true, "ann"),
            ("Ann B.zip", true, "Ann B"),
            ("ann.TAR.GZ", true, "ann"),
            ("ann.b.tgz", true, "ann.b"),
            ("ann", true, "ann"),
            ("é.zip", true, "é"),
        ] {
            assert_eq!(team_of(name, is_file), team, "{name}");
        }
    }
}
