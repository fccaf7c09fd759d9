//! A contest's `contest.toml`: written for a new contest, read for each run.

use std::fs;
use std::path::Path;

use agon_bot::advised::NextCommand;
use agon_contest::config::Level;
use agon_contest::{ContestFile, SandboxSection};
use agon_game::{GameInfo, Transport};
use agon_server::Setting;
use agon_server::name_of;
use agon_server::settings::FileSettings;
use agon_server::status::PLACING;
use agon_worker::{ContestTerms, MatchGround};

use crate::common::{self, Failure, SetupOptions, USUAL_LIMIT, written};

/// The file in a contest's folder.
pub const FILE: &str = "contest.toml";

/// Checks that a contest of this game can begin in a folder. Nothing is written.
///
/// # Errors
/// When there is a contest already, or no such game.
pub fn can_begin(dir: &Path, game: &str) -> Result<(), Failure> {
    common::game(game)?;
    let file = dir.join(FILE);
    if file.exists() {
        return Err(Failure::usage(format!(
            "{}: there is a contest already; `{}` resumes it",
            file.display(),
            NextCommand::ServeResume.at(dir)
        )));
    }
    if dir.exists() && !dir.is_dir() {
        return Err(Failure::usage(format!(
            "{}: that is a file; name a folder for the contest, which is made if it does not exist",
            dir.display()
        )));
    }
    Ok(())
}

/// Creates the folder of a new contest with its file.
///
/// # Errors
/// As for [`can_begin`], and errors of the disk.
pub fn begin(dir: &Path, game: &str, level: Option<Level>) -> Result<(), Failure> {
    can_begin(dir, game)?;
    let (info, file) = (common::game(game)?.info(), dir.join(FILE));
    let failed = |error: std::io::Error| Failure::own(format!("{}: {error}", file.display()));
    fs::create_dir_all(dir).map_err(failed)?;
    // Nobody ever finds half a file.
    let draft = dir.join(format!("{FILE}.new"));
    fs::write(&draft, text(info, dir, level)).and_then(|()| fs::rename(&draft, &file)).map_err(failed)
}

fn text(info: &GameInfo, dir: &Path, level: Option<Level>) -> String {
    let sandbox = level.map_or_else(
        || "# [sandbox]\n# level = \"A\"                 # the lowest at which bots are played".to_owned(),
        |level| format!("[sandbox]\nlevel = \"{level}\""),
    );
    let bosses: Vec<String> = info.builtins.iter().map(|bot| format!("\"builtin:{}\"", bot.name)).collect();
    let rules = info.presets.first().map_or("", |preset| preset.name);
    let maps: Vec<&str> = info.maps.iter().map(|map| map.name).take(3).collect();
    let maps = match maps.first() {
        Some(first) => format!(
            "# maps = [\"{first}\"]             # names or files, taken in turn; `{}` lists them",
            NextCommand::Maps.about([info.name])
        ),
        None => "# maps = [\"mine.txt\"]           # the seed makes them unless files are named".to_owned(),
    };
    format!(
        "# A contest of agon serve, as it is founded by its first start. What stands before [site] decides results, and is fixed from then on.
# What follows can be changed while the contest runs: by the organiser's page Settings, or `agon serve set`. Once it is founded, changes
# here decide nothing, except of what is this machine's own: trusted_proxies, mail, webhook, nightly, packages
# and env.
game = \"{name}\"
rules = \"{rules}\"              # a preset (agon rules {name}), or a file beside this one
{maps}
# seats = {seats}                     # of a match
# clock = \"original\"            # also: time_limit = \"500ms\", time_scale = 1.0, ponder = \"stop\"
time_total = \"300s\"           # the most a bot may think in a match, all its answers together

[site]
title = {title}
bosses = [{bosses}]   # built-in bots that stand on the ladder
# The organiser's first page asks for what follows.
# sign_up = \"invite\"          # who may sign up: \"open\", \"invite\" (with a code), \"closed\"
# team_size = 1               # the most people who play for one team
# time_zone = \"Europe/Vienna\" # of the dates
# closes = 2026-12-05T18:00:00  # until when bots can be submitted; opens = from when on

[ladder]
matches = 400                 # rated matches each version plays, besides those in which others need it

{sandbox}
# packages = [\"packages\"]       # folders for all bots and builds, read-only; they have no network
# env = {{ PYTHONPATH = \"/srv/packages/python\" }}
# image = \"3f9c...\"           # all of the name that `agon image build` printed: every bot runs in it, on every machine
# memory = 768                # megabytes that each bot has; a machine plays as many matches at once as it has memory for
# trust_bots = true           # where this machine has no sandbox: I trust these bots
",
        name = info.name,
        seats = info.usual_seats(),
        title = toml_text(&name_of(dir)),
        bosses = bosses.join(", "),
    )
}

/// A string in TOML syntax.
fn toml_text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for sign in text.chars() {
        match sign {
            '"' | '\\' => quoted.extend(['\\', sign]),
            sign if sign.is_control() => quoted.push_str(&format!("\\u{:04X}", sign as u32)),
            sign => quoted.push(sign),
        }
    }
    quoted + "\""
}

/// How the bots of the contest in a folder are contained, according to its file.
///
/// # Errors
/// A message that points into the file.
pub fn sandbox(dir: &Path) -> Result<SandboxSection, Failure> {
    let file = ContestFile::read(&dir.join(FILE)).map_err(Failure::Usage)?;
    let mut section = file.sandbox.clone();
    for place in &mut section.packages {
        let full = Path::new(&*place).canonicalize();
        let full = full.ok().filter(|full| full.is_dir() && agon_bot::inside::can_show(full));
        let Some(full) = full else {
            let why = format!(
                "packages: `{place}` is not a folder that bots can be shown; name one outside /proc, /sys, /dev, /tmp and /etc"
            );
            return Err(Failure::usage(file.wrong("sandbox", &why)));
        };
        *place = full.to_string_lossy().into_owned();
    }
    Ok(section)
}

/// What the contest in a folder is founded on, according to its file.
///
/// # Errors
/// A message that points into the file.
pub fn read(dir: &Path) -> Result<(Setting, FileSettings), Failure> {
    let path = dir.join(FILE);
    if !path.is_file() {
        return Err(Failure::usage(format!(
            "{}: there is no {FILE} in it; `{}` begins a contest",
            dir.display(),
            NextCommand::ServeNew.at(dir)
        )));
    }
    let file = ContestFile::read(&path).map_err(Failure::Usage)?;
    let wrong = |key: &str, why: &str| Failure::usage(file.wrong(key, why));
    let game = common::game(&file.game)?;
    let info = game.info();
    let mut clock = written::clock(&file)?;
    if info.transport == Transport::Script && clock.time_limit.is_none() {
        clock.time_limit = Some(USUAL_LIMIT);
    }
    let seats = file.seats.unwrap_or(info.usual_seats());
    let maps = if file.maps.is_empty() { vec![String::new()] } else { file.maps.clone() };
    let mut grounds = Vec::new();
    for map in maps {
        let options = SetupOptions {
            seed: Some(0),
            map: Some(map).filter(|map| !map.is_empty()),
            rules: file.rules.clone().filter(|rules| !rules.is_empty()),
            set: file.set.iter().map(|(key, value)| format!("{key}={value}")).collect(),
            strict: false,
        };
        let setup = options.setup(game, usize::from(seats))?;
        grounds.push(MatchGround::new(&setup, game.open(&setup)?.recipe()));
    }
    let settings = FileSettings::of(&file, name_of(dir)).map_err(Failure::Usage)?;
    for boss in &settings.settings.bosses {
        let name = boss.strip_prefix("builtin:").unwrap_or("");
        let plain = name.split('?').next().unwrap_or(name);
        if !info.builtins.iter().any(|bot| bot.name == plain) {
            let known: Vec<String> =
                info.builtins.iter().map(|bot| format!("builtin:{}", bot.name)).collect();
            let why =
                format!("`{boss}` is not a built-in bot of {}; there are {}", info.name, known.join(", "));
            return Err(wrong("site", &why));
        }
    }
    if file.ladder.matches == 0 {
        return Err(wrong("ladder", "matches = 0: nobody would ever play"));
    }
    if u64::from(file.ladder.matches) < PLACING {
        let why = format!(
            "matches = {}: a bot has a place only after {PLACING} rated matches, so nobody would ever have one; write {PLACING} or \
             more",
            file.ladder.matches
        );
        return Err(wrong("ladder", &why));
    }
    let terms = ContestTerms {
        game: info.name.to_owned(),
        rules_version: info.rules_version,
        grounds,
        clock: clock.clock()?.into(),
        ponder: clock.ponder(),
        ratings: agon_stats::METHOD,
    };
    let founding = settings.settings.clone();
    Ok((Setting { name: founding.title.clone(), terms, founding }, settings))
}
