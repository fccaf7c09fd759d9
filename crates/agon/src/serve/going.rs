//! A running contest: the server's own work in this thread, the built-in worker beside it.

use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use agon_api::contest::ContestState;
use agon_bot::advised::NextCommand;
use agon_bot::image::{ImageError, Images};
use agon_bot::{Confined, Level, Packages, Run, sys};
use agon_server::clock::{self, ServerClock};
use agon_server::settings::{FileDifference, SettingsBy};
use agon_server::{ContestServer, Inside, ServerError, inside, room, server_name, settings, tick};
use agon_store::reads::MOST_POSTED;
use agon_store::{ContestSettings, Objects, StoreError};
use agon_worker::holding;
use rustix::fs::{FlockOperation, flock};

use crate::common::screen::harmless;
use crate::common::{self, Done, Failure, machine};
use crate::serve::player::{OwnWorker, level_of, memory_of};
use crate::serve::{
    Rated, ServeOptions, clocks, founding, open_many_files, pages, private, runtime, runtime_of,
};

/// The server looks after everything this often, and whenever it is notified.
const TICK: Duration = Duration::from_millis(50);
/// Interval of the status lines.
const TELL: Duration = Duration::from_secs(5);
/// Pause after trouble such as a full disk.
const TROUBLE: Duration = Duration::from_secs(2);

/// Runs the contest in a folder until Ctrl-C.
pub fn run(dir: &Path, options: &ServeOptions) -> Done {
    if options.matches.is_some_and(|matches| matches < 1) {
        return Err(Failure::usage("--matches: a number from 1"));
    }
    if options.jobs.is_some_and(|jobs| jobs > 1024) {
        return Err(Failure::usage("-j: a number from 0 to 1024"));
    }
    options.log.begin();
    if let Some(game) = &options.new {
        founding::can_begin(dir, game)?;
        // Before anything is written: the contest can then be started again with another port, place or program.
        if !options.no_site {
            pages::try_port(options)?;
        }
        if options.tls_self_signed {
            agon_site::tls::can_make().map_err(Failure::usage)?;
        }
        agon_store::can_place(dir, options.database.as_deref(), options.objects.as_deref())
            .map_err(ServerError::from)?;
        let level = options.level.map(|level| if level == Rated::A { Level::A } else { Level::B });
        founding::begin(dir, game, level)?;
        if let Some(url) = &options.database {
            agon_store::place(dir, url).map_err(ServerError::from)?;
        }
        if let Some(place) = &options.objects {
            agon_store::place_objects(dir, place).map_err(ServerError::from)?;
        }
    }
    let (mut setting, file) = founding::read(dir)?;
    let _held = hold(dir)?;
    let clock = Arc::new(ServerClock::of_machine(server_name(dir)));
    let founded = runtime()?.block_on(settings::founded(dir, &setting.name, &file, clock.now()))?;
    let held = founded.as_ref().unwrap_or(&setting.founding).clone();
    if let Some(image) = &held.image {
        let why = |error: ImageError| {
            Failure::usage(match &founded {
                None => format!("contest.toml, [sandbox] image: {error}"),
                Some(_) => format!("the contest's image: {error}; `agon image get URL` fetches it"),
            })
        };
        Images::own().keep(image).map_err(why)?;
    }
    let (mut playing, mut confined) = (options.jobs != Some(0), Confined::No);
    let (mut all, mut packages) = (Run::default(), Vec::new());
    let mut level = None;
    if playing {
        (confined, all, packages) = hold_bots(dir, &held)?;
        level = decided_level(dir, confined, options, (&held, founded.is_some()))?;
        playing = level.is_some();
        if founded.is_none() {
            setting.founding.level = level.map(|level| level.to_string());
        }
    }
    // Otherwise other machines play, or none until the organiser says at which level.
    let jobs_wanted = if playing { options.jobs } else { Some(0) };
    private::mend(dir);
    open_many_files();
    let stop = common::stop_on_ctrl_c();
    // These threads stand back where matches are played: the next match's sandbox is built on the same CPU, and the match
    // waits for it.
    let runtime = if !playing { runtime()? } else { runtime_of(|| sys::stand_back(5))? };
    let server = Arc::new(runtime.block_on(ContestServer::open(dir, &setting, clock.now()))?);
    let is_shared = server.store().is_shared();
    if !is_shared {
        // Nobody else writes here now, so drafts left by a killed process are litter.
        Objects::open(dir).map_err(ServerError::from)?.sweep_drafts();
    }
    check_clock(&runtime, &server, &clock)?;
    runtime.block_on(server.goes_by(clock.clone()))?;
    if let Some(doubt) = clock.doubt() {
        clocks::tell(&mut io::stderr(), dir, &[doubt])?;
    }
    if let Some(level) = level.filter(|_| server.settings().level.is_none()) {
        let decided = |before: &ContestSettings| {
            Ok(ContestSettings { level: Some(level.to_string()), ..before.clone() })
        };
        let by = SettingsBy { actor: "server", account: None };
        runtime.block_on(settings::change(server.store(), by, decided, clock.now()))?;
        runtime.block_on(server.now())?;
    }
    tell_differences(dir, &file.differences(&server.settings()));
    server.publish(clock.server().to_owned(), file);
    let name = inside::name(is_shared.then(|| clock.server().to_owned()));
    let worker =
        runtime.block_on(server.meet(&name, &holding::word(holding::level(confined)), clock.now()))?;
    let jobs = jobs_wanted.unwrap_or_else(|| usual_jobs(&server));
    if jobs == 0 {
        runtime.block_on(server.stands_by(worker))?;
    } else if let Err(why) = holding::check_memory(confined, &all, server.table().seats()) {
        // Matches wait until there is.
        eprintln!("note: {why}");
    }
    let site = match options.no_site {
        true => {
            let server = server.clone();
            runtime.spawn(async move { server.look_out(drop).await });
            None
        }
        false => Some(pages::open(&runtime, &server, dir, (options, &clock))?),
    };
    if let Some(site) = site.as_ref().map(|site| site.site.clone())
        && options.jobs != Some(0)
    {
        // Before the first match: a match played at the same time would make the machine look slow.
        site.plays_on(machine::look(confined, server.table().cpus(), &packages, all.memory));
    }
    let mut out = io::stdout().lock();
    if !options.quiet {
        greet(&mut out, dir, &server, jobs, confined)?;
        if let Some(site) = &site {
            site.tell(&mut out)?;
        }
        writeln!(out, "Ctrl-C stops it cleanly; nothing is lost if it is killed.")?;
        out.flush()?;
    }
    tell_rest(&runtime, &server, dir)?;
    let address = site.as_ref().map_or("none", |site| site.address());
    tracing::info!(
        contest = server.settings().title,
        game = setting.terms.game,
        matches_at_once = jobs,
        address,
        "begins"
    );
    let halt = AtomicBool::new(false);
    let work = std::path::absolute(dir.join("work"))?;
    let now = || clock.now();
    let inside = Inside::new(&server, runtime.handle().clone(), worker, &now);
    let player = OwnWorker { server: &server, inside: &inside, work, confined, all, jobs };
    let broken = OnceLock::new();
    let told = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            // The server goes on meanwhile; submissions wait.
            if confined == Confined::Foreign
                && let Err(why) = holding::prove(&dir.join("walls"))
            {
                let _ = broken.set(why);
                return;
            }
            player.play(&halt);
        });
        // In a thread of its own, so that no request for work waits for a table.
        scope.spawn(|| rate(&runtime, &server, (&halt, &clock)));
        let told = watch(&runtime, &server, options, (stop, &clock), &broken, &mut out);
        halt.store(true, Ordering::Relaxed);
        // A panic there is a bug of ours; its finished results are to be kept all the same.
        let _ = worker.join();
        told
    });
    if let Some(site) = site {
        runtime.block_on(site.stop());
    }
    let last = finish(&runtime, &server, &clock);
    runtime.block_on(server.close());
    tracing::info!("ends");
    told?;
    last
}

/// Says where the file of a contest that was founded says something else than what holds.
fn tell_differences(dir: &Path, found: &[FileDifference]) {
    let value = |text: &str| if text.is_empty() { "none".to_owned() } else { harmless(text) };
    let told: Vec<String> = found
        .iter()
        .map(|one| format!("{} = {}, and {} holds", one.key.word(), value(&one.says), value(&one.holds)))
        .collect();
    if !told.is_empty() {
        eprintln!(
            "note: {} says {}: it founded the contest, and decides nothing since; `{}` changes what holds",
            dir.join(founding::FILE).display(),
            told.join("; "),
            NextCommand::ServeSet.at(dir)
        );
    }
}

/// How long the database may take to say what its clock shows.
const PATIENCE: Duration = Duration::from_secs(10);

fn check_clock(runtime: &tokio::runtime::Runtime, server: &ContestServer, clock: &ServerClock) -> Done {
    let apart = runtime.block_on(clock.ahead_of(&mut server.store().lookout(), PATIENCE));
    match apart.map_err(ServerError::from)?.filter(|apart| apart.abs() > clock::APART_MS) {
        None => Ok(()),
        Some(apart) => Err(Failure::own(format!(
            "the clock of this machine is {} {} that of its database; leases and deadlines depend on clocks, so set them first \
             (timedatectl set-ntp true)",
            clock::exact_span(apart),
            if apart > 0 { "ahead of" } else { "behind" }
        ))),
    }
}

/// Says that nothing will be played, although the contest runs.
fn tell_rest(runtime: &tokio::runtime::Runtime, server: &ContestServer, dir: &Path) -> Done {
    let state = runtime.block_on(server.store().now()).map_err(ServerError::from)?.state();
    let resume = NextCommand::ServeContinue.at(dir);
    match state {
        ContestState::Running => {}
        ContestState::Paused => {
            eprintln!("note: the contest is paused, and nothing is played: `{resume}` continues it")
        }
        ContestState::Draining => eprintln!(
            "note: the contest comes to rest: what is planned is played, then it is paused; `{resume}` continues it"
        ),
    }
    Ok(())
}

/// Handles the worker's remaining results, and updates the table.
fn finish(runtime: &tokio::runtime::Runtime, server: &ContestServer, clock: &ServerClock) -> Done {
    while runtime.block_on(server.tick(clock.now()))?.valid > 0 {}
    Ok(runtime.block_on(server.keep_board(clock.now(), true))?)
}

/// Rebuilds the table over and over until `halt` is set. Errors of the store are left to `watch`, which meets and reports
/// them too.
fn rate(
    runtime: &tokio::runtime::Runtime,
    server: &ContestServer,
    (halt, clock): (&AtomicBool, &ServerClock),
) {
    let mut is_told = false;
    while !halt.load(Ordering::Relaxed) {
        let began = Instant::now();
        let pause = match runtime.block_on(server.rate(clock.now())) {
            Ok(()) => tick::rest(began.elapsed()),
            Err(error) => {
                if matches!(error, ServerError::Wrong(_)) && !std::mem::replace(&mut is_told, true) {
                    tracing::warn!("{}; trying again", harmless(&error.to_string()));
                }
                TROUBLE
            }
        };
        let rested = Instant::now();
        while rested.elapsed() < pause && !halt.load(Ordering::Relaxed) {
            std::thread::sleep(TICK);
        }
    }
}

fn watch(
    runtime: &tokio::runtime::Runtime,
    server: &ContestServer,
    options: &ServeOptions,
    (stop, clock): (&AtomicBool, &ServerClock),
    broken: &OnceLock<String>,
    out: &mut impl io::Write,
) -> Done {
    let (mut told, mut before) = (Instant::now(), runtime.block_on(server.learnt()).0);
    let mut trouble: Option<String> = None;
    let (mut brought, mut is_full) = (server.brought(), false);
    while !stop.load(Ordering::Relaxed) {
        if let Some(why) = broken.get() {
            return Err(Failure::own(format!("no bot is played here: {why}")));
        }
        brought.borrow_and_update();
        match runtime.block_on(server.look_after(clock.now())) {
            Ok(ticked) => {
                if trouble.take().is_some() {
                    tracing::warn!("it is resumed");
                }
                if ticked.mismatches > 0 {
                    tracing::warn!(
                        "{} results did not agree with their replays; `agon serve status` shows the alarms",
                        ticked.mismatches
                    );
                }
                // Results that came meanwhile have notified us, but not those beyond the limit.
                if ticked.valid + ticked.mismatches < MOST_POSTED as u64 {
                    let _ = runtime.block_on(async { tokio::time::timeout(TICK, brought.changed()).await });
                }
            }
            // It will not come back.
            Err(error @ ServerError::Store(StoreError::Moved { .. })) => return Err(error.into()),
            Err(error) => {
                let error = error.to_string();
                if trouble.as_ref() != Some(&error) {
                    tracing::warn!("{}; trying again", harmless(&error));
                }
                trouble = Some(error);
                std::thread::sleep(TROUBLE);
            }
        }
        let (upto, blocks) = runtime.block_on(server.learnt());
        if options.matches.is_some_and(|matches| upto >= matches) {
            return Ok(());
        }
        if told.elapsed() >= TELL {
            let full = server.room().free().is_some_and(|free| free < room::FULL);
            match (std::mem::replace(&mut is_full, full), full) {
                (false, true) => tracing::warn!(
                    "the contest's disk is full: nothing is played or accepted until there is room, and nothing is lost"
                ),
                (true, false) => tracing::warn!("there is room on the disk again; it is resumed"),
                _ => {}
            }
            let rate = (upto - before) as f64 * 60.0 / told.elapsed().as_secs_f64();
            tracing::info!(rows = upto, blocks, per_minute = rate.round(), "results");
            if !options.quiet && upto > before {
                writeln!(out, "{upto} rows in the log, {blocks} whole blocks rated, {rate:.0} a minute")?;
                out.flush()?;
            }
            (told, before) = (Instant::now(), upto);
        }
    }
    Ok(())
}

/// Keeps one CPU free of bots, for the server.
fn usual_jobs(server: &ContestServer) -> usize {
    let each = server.table().cpus();
    (sys::cpus().len().saturating_sub(1) / each).max(1)
}

/// Sets up how bots are contained here, and the packages they can use.
fn hold_bots(dir: &Path, held: &ContestSettings) -> Result<(Confined, Run, Vec<String>), Failure> {
    let section = founding::sandbox(dir)?;
    let places = section.packages.iter().map(Into::into).collect();
    let packages = Packages { places, variables: section.env };
    // Authors cannot install anything here.
    let (memory, image) = (memory_of(held), held.image.clone());
    let run = Run { packages, memory, image, ahead: true, for_others: true, ..Run::default() };
    let confined = holding::hold(held.trust_bots, level_of(held)).map_err(Failure::Own)?;
    Ok((confined, run, section.packages))
}

/// At which level matches are rated, once that is said, so that they can be played; it asks if that is open. From then on the contest does
/// not fall below it.
fn decided_level(
    dir: &Path,
    confined: Confined,
    options: &ServeOptions,
    (held, is_founded): (&ContestSettings, bool),
) -> Result<Option<Level>, Failure> {
    if let Some(level) = level_of(held) {
        return Ok(Some(level));
    }
    let level = holding::level(confined).unwrap_or(Level::D);
    if let Some(told) = holding::at_level_b().filter(|_| !held.trust_bots) {
        let set = NextCommand::ServeSet.at(dir).replace("KEY=VALUE", "level=B");
        let in_file =
            "Write `level = \"B\"` under [sandbox] in contest.toml (with --new: --level B)".to_owned();
        let by_command = format!("Say `{set}`");
        let how = |is_founded| {
            let how = if is_founded { &by_command } else { &in_file };
            format!("{how} to rate matches there all the same")
        };
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            eprint!("{told}\nRate matches at level B all the same? [y/N] ");
            let mut answer = String::new();
            io::stdin().lock().take(100).read_line(&mut answer)?;
            if !answer.trim().eq_ignore_ascii_case("y") {
                return Err(Failure::own(format!("nothing is played at level B. {}.", how(is_founded))));
            }
        } else if options.no_site {
            return Err(Failure::own(format!("{told}\n{}.", how(is_founded))));
        } else {
            eprintln!(
                "{told}\nNothing is played here until that is decided. {}, or answer on the page /organise/settings; then start it again.",
                how(true)
            );
            return Ok(None);
        }
    }
    Ok(Some(level))
}

fn greet(
    out: &mut impl io::Write,
    dir: &Path,
    server: &ContestServer,
    jobs: usize,
    confined: Confined,
) -> io::Result<()> {
    let settings = server.settings();
    let bosses: Vec<&str> =
        settings.bosses.iter().map(|boss| boss.strip_prefix("builtin:").unwrap_or(boss)).collect();
    writeln!(
        out,
        "{}: a contest of {}, {} at once; bosses: {}",
        harmless(&settings.title),
        server.terms().game,
        if jobs == 1 { "one match".to_owned() } else { format!("{jobs} matches") },
        if bosses.is_empty() { "none".to_owned() } else { bosses.join(", ") }
    )?;
    let level = agon_bot::inside::found().map_or(agon_bot::Level::D, |found| found.level);
    match confined {
        _ if jobs == 0 => writeln!(out, "No match is played here.")?,
        Confined::Foreign => writeln!(
            out,
            "Bots run in a level {level} sandbox. Before the first match the sandbox and the clock are tested, which takes up to 40 seconds."
        )?,
        Confined::Own => writeln!(
            out,
            "You trust these bots: the sandbox here is of level {level}, which contains mistakes but not enemies."
        )?,
        Confined::No => {
            writeln!(out, "You trust these bots: there is no sandbox here, and they run with your rights.")?
        }
    }
    let (add, status) = (NextCommand::ServeAdd.at(dir), NextCommand::ServeStatus.at(dir));
    let wide = add.chars().count() + 4;
    writeln!(out, "  {add:<wide$}submits a bot\n  {status:<wide$}the ladder")
}

/// Locks a contest in order to move it.
pub fn hold_still(dir: &Path) -> Result<File, Failure> {
    hold(dir).map_err(|failure| failure.with(". Stop it first (Ctrl-C, or systemctl stop), then move it"))
}

/// Locks the contest: only one process runs it at a time.
pub fn hold(dir: &Path) -> Result<File, Failure> {
    agon_store::writable(dir).map_err(ServerError::from)?;
    let path = dir.join("agon.lock");
    let failed = |error: io::Error| Failure::own(format!("{}: {error}", path.display()));
    let mut file =
        File::options().create(true).truncate(false).read(true).write(true).open(&path).map_err(failed)?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        let mut owner = String::new();
        let _ = file.take(32).read_to_string(&mut owner);
        let owner: String = owner.chars().filter(char::is_ascii_digit).collect();
        return Err(Failure::usage(format!(
            "{}: this contest is already being run{}; `{}` shows how it stands",
            dir.display(),
            if owner.is_empty() { String::new() } else { format!(" by process {owner}") },
            NextCommand::ServeStatus.at(dir)
        )));
    }
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| write!(file, "{}", std::process::id()))
        .map_err(failed)?;
    Ok(file)
}
