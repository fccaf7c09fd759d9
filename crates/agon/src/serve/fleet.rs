//! `agon serve DIR --fleet`: your own machines play your own series.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use agon_bot::advised::NextCommand;
use agon_server::fleet::Fleet;
use agon_site::{fleet as site, listen, secrets};

use crate::common::screen::harmless;
use crate::common::{self, Done, Failure};
use crate::serve::{ServeOptions, name_of, now, open_many_files, pages, private, runtime};

/// The token of the author who has series played.
const AUTHOR: &str = "author.token";
/// The token of the machines.
const MACHINES: &str = "machines.token";
/// Length of a token in characters: a shorter one could be guessed, a longer one is not a token.
const TOKEN: std::ops::RangeInclusive<usize> = 20..=512;
/// Most numbers handed out in a millisecond, so that a fleet started later begins with higher ones.
const NUMBERS: i64 = 1_000;
/// Shortest pause between status lines.
const TELL: Duration = Duration::from_secs(2);
/// How often to check whether to stop.
const MOMENT: Duration = Duration::from_millis(50);

/// Runs the fleet until Ctrl-C; its tokens are in the folder.
pub fn run(dir: &Path, options: &ServeOptions) -> Done {
    if !(1.0..=90.0).contains(&options.tolerance) {
        return Err(Failure::usage("--tolerance: per cent, from 1 to 90"));
    }
    options.log.begin();
    pages::try_port(options)?;
    open_many_files();
    fs::create_dir_all(dir).map_err(|error| Failure::own(format!("{}: {error}", dir.display())))?;
    private::mend(dir);
    let (author, machines) = (token(&dir.join(AUTHOR))?, token(&dir.join(MACHINES))?);
    if author == machines {
        return Err(Failure::usage(format!(
            "{0}/{AUTHOR} and {0}/{MACHINES} hold the same token: remove one, and a new one is made",
            dir.display()
        )));
    }
    let way = pages::way(dir, options)?;
    let fleet = Fleet::new(options.tolerance, now().0.saturating_mul(NUMBERS));
    let site = site::FleetSite::new(fleet, name_of(dir), dir, &author, &machines);
    let (runtime, at) = (runtime()?, way.at(options.bind, options.port));
    let leaving = site.clone();
    let listening = runtime
        .block_on(listen::open(way.clone(), site::router(site.clone()), at, move || leaving.farewell()))
        .map_err(|error| pages::no_port(at, &error))?;
    let stop = common::stop_on_ctrl_c();
    let address = pages::address(&way, listening.address());
    let mut out = io::stdout().lock();
    if !options.quiet {
        let token = |name: &str| dir.join(name).to_string_lossy().into_owned();
        writeln!(out, "A fleet. Ctrl-C ends it; series wait until it is back.\nIts address: {address}")?;
        pages::tell_way(&way, &mut out)?;
        writeln!(
            out,
            "On each machine that plays:  {}\nWhere your bots are, once:   {}\nAnd then:                    {}",
            NextCommand::Work.about([&address, &token(MACHINES)]),
            NextCommand::LoginFile.about([&address, &token(AUTHOR)]),
            NextCommand::SprtOn.about([&address])
        )?;
        out.flush()?;
    }
    let mut told = (String::new(), Instant::now());
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(MOMENT);
        if options.quiet || told.1.elapsed() < TELL {
            continue;
        }
        let now = standing(&site);
        if now != told.0 {
            writeln!(out, "{now}")?;
            out.flush()?;
        }
        told = (now, Instant::now());
    }
    runtime.block_on(listening.stop());
    Ok(())
}

/// The status, in a line.
fn standing(site: &site::FleetSite) -> String {
    let now = site.overview();
    let machines = match now.machines.len() {
        0 => "No machine".to_owned(),
        1 => "1 machine".to_owned(),
        machines => format!("{machines} machines"),
    };
    let series: Vec<String> = now.series.iter().map(|series| harmless(&series.title)).collect();
    match &series[..] {
        [] => format!("{machines}; nothing is played."),
        series => format!("{machines}; played: {}.", series.join(" · ")),
    }
}

/// The token in a file that only its owner can read; created if missing.
fn token(path: &Path) -> Result<String, Failure> {
    let failed = |error: io::Error| Failure::own(format!("{}: {error}", path.display()));
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => {
            let secret = secrets::fresh();
            writeln!(file, "{secret}").and_then(|()| file.sync_all()).map_err(failed)?;
            Ok(secret)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let mut text = String::new();
            let most = *TOKEN.end() as u64 + 16;
            File::open(path).map_err(failed)?.take(most).read_to_string(&mut text).map_err(failed)?;
            let token = text.trim();
            match TOKEN.contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic()) {
                true => Ok(token.to_owned()),
                false => Err(Failure::usage(format!(
                    "{}: that is not a token of {} characters or more; remove the file, and one is made",
                    path.display(),
                    TOKEN.start()
                ))),
            }
        }
        Err(error) => Err(failed(error)),
    }
}
