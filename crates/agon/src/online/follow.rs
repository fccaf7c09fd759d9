//! Follows what happens at the contest to its end.

use std::time::{Duration, Instant};

use agon_api::played::MatchState;
use agon_api::version::{Cause, Stage, State, Version, Whose};
use agon_api::{Asked, BuildLog, Contest};
use agon_bot::advised::NextCommand;

use crate::common::online::Online;
use crate::common::screen::{self, harmless};
use crate::common::{self, Failure};

/// Pause between requests at first; later ones are further apart.
const FIRST: Duration = Duration::from_millis(300);
const LATER: Duration = Duration::from_secs(2);
/// Pause between questions whether the contest plays at all.
const ASK_AGAIN: Duration = Duration::from_secs(15);

/// What became of a version.
pub(crate) enum End {
    Live,
    /// It plays, but the version before it stays live.
    NotBetter,
    /// It cannot play.
    Failed(Cause),
    /// Not known in time.
    Patience,
}

/// Waits between two requests; false when the time is up.
///
/// # Errors
/// When the user presses Ctrl-C.
fn wait(began: Instant, patience: Duration) -> Result<bool, Failure> {
    let stop = common::stop_on_ctrl_c();
    if began.elapsed() >= patience {
        return Ok(false);
    }
    let pause = if began.elapsed() < Duration::from_secs(10) { FIRST } else { LATER };
    let until = Instant::now() + pause;
    while Instant::now() < until {
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(Failure::own(
                "stopped waiting; the contest continues with what was sent: `agon status`",
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(true)
}

/// Whether the contest plays at all, asked now and then: nobody waits for a turn that does not come.
#[derive(Default)]
struct Held(Option<Instant>);

impl Held {
    /// Ends the waiting when the contest plays nothing; `later` is the command that shows what became of it.
    ///
    /// # Errors
    /// What the contest's state means.
    fn check(&mut self, online: &Online, later: &str) -> Result<(), Failure> {
        if self.0.is_some_and(|last| last.elapsed() < ASK_AGAIN) {
            return Ok(());
        }
        self.0 = Some(Instant::now());
        let contest: Contest = online.patiently("/contest")?;
        match contest.state.means() {
            Some(means) => Err(Failure::own(format!("{means} `{later}` shows what becomes of it."))),
            None => Ok(()),
        }
    }
}

/// Follows a version until it is live, or cannot be.
///
/// # Errors
/// When the contest is away for long, or the user presses Ctrl-C.
pub fn version(
    online: &Online,
    version: &mut Version,
    patience: Duration,
    quiet: bool,
) -> Result<End, Failure> {
    let (began, screen, mut held) = (Instant::now(), screen::errors(), Held::default());
    let path = format!("/versions/{}", version.id);
    let (mut told, mut log) = (0, 0);
    loop {
        if !quiet {
            for step in version.steps.iter().skip(told) {
                let what = match step.state {
                    State::Received => "waits for its turn",
                    State::Building => "is unpacked and built",
                    State::Checking => "plays its check match",
                    State::Trial => "plays against the version before it",
                    State::Live | State::Former | State::Failed | State::Draft => continue,
                };
                eprintln!(
                    "{} v{} {what}",
                    screen.dim(&format!("{:>4} s", began.elapsed().as_secs())),
                    version.n
                );
            }
            if version.has_log && log == 0 {
                let said: BuildLog = online.patiently(&format!("{path}/log"))?;
                said.text.lines().for_each(|line| eprintln!("  {} {}", screen.dim("|"), harmless(line)));
                log = 1;
            }
        }
        told = version.steps.len();
        if matches!(version.state, State::Received) {
            held.check(online, &NextCommand::LogsOfVersion.about([format!("v{}", version.n)]))?;
        }
        match version.state {
            State::Live => return Ok(End::Live),
            State::Failed => {
                let given = version.cause.clone();
                let what = version.reason.clone().unwrap_or_else(|| "it failed".to_owned());
                return Ok(End::Failed(given.unwrap_or(Cause {
                    whose: Whose::Ours,
                    stage: Stage::Match,
                    what,
                    fix: None,
                })));
            }
            State::Former => return Ok(End::NotBetter),
            _ => {}
        }
        if !wait(began, patience)? {
            return Ok(End::Patience);
        }
        *version = online.patiently(&path)?;
    }
}

/// Follows a requested match until it is over; none when that is not known in time.
///
/// # Errors
/// When the contest is away for long, or the user presses Ctrl-C.
pub fn asked(
    online: &Online,
    mut asked: Asked,
    patience: Duration,
    quiet: bool,
) -> Result<Option<Asked>, Failure> {
    let (began, screen, mut told, mut held) = (Instant::now(), screen::errors(), None, Held::default());
    let path = format!("/asked/{}", asked.game.id);
    while !asked.game.state.is_over() {
        if !quiet && told != Some(asked.game.state) {
            let what = match asked.game.state {
                MatchState::Planned => "waits for its turn",
                MatchState::Leased => "is built and played",
                _ => "is computed again",
            };
            eprintln!("{} the match {what}", screen.dim(&format!("{:>4} s", began.elapsed().as_secs())));
            told = Some(asked.game.state);
        }
        if asked.game.state == MatchState::Planned {
            held.check(online, &NextCommand::LogsOfMatch.about([asked.game.id.to_string()]))?;
        }
        if !wait(began, patience)? {
            return Ok(None);
        }
        asked = online.patiently(&path)?;
    }
    Ok(Some(asked))
}
