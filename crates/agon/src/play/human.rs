//! `agon play GAME human BOT`: people at seats, in a browser.
//!
//! To the referee a person is a bot that talks in lines: a small process of this program, which passes on the answers
//! from the page. The page may use its seat and sees what the seat sees.

use std::fs::DirBuilder;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use agon_bot::BotName;
use agon_game::{AnyGame, Seat, Seats};
use agon_replay::Header;
use agon_spec::MatchSpec;
use agon_view::play::HUMAN;
use agon_web::TakenSeat;
use agon_web::hand::SeatCamera;

use crate::common::Failure;
use crate::play::step::{self, SteppedSeat};

/// The hidden subcommand of this program that passes on a person's answers.
pub const SUBCOMMAND: &str = "--pass-on";

/// The seats taken by people.
pub struct People {
    /// By seat, in order: the socket where its process fetches answers.
    seats: Vec<(Seat, UnixListener)>,
    /// The folder of these sockets.
    folder: PathBuf,
}

impl People {
    /// Finds the people in a match and puts bots that pass on their answers in their places; none if there are no people.
    /// A person has no time limit, so nobody has one, unless the user asked for a clock. With `here` a seat is played on standard input
    /// and output, in place of a page.
    pub fn of(spec: &mut MatchSpec, clocked: bool, here: bool) -> Result<Option<Self>, Failure> {
        let seats: Vec<usize> = spec
            .seats
            .iter()
            .enumerate()
            .filter(|(_, seat)| seat.bot == HUMAN)
            .map(|(index, _)| index)
            .collect();
        if here && seats.len() != 1 {
            return Err(Failure::usage(
                "--step plays one seat on standard input: name one bot `human`, as in agon play GAME human BOT --step",
            ));
        }
        if seats.is_empty() {
            return Ok(None);
        }
        if !clocked {
            spec.clock.limited = false;
        }
        let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
        let folder = folder.unwrap_or_else(std::env::temp_dir);
        let mut number = [0; 8];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut number)?;
        let folder = folder.join(format!("agon-{:016x}", u64::from_ne_bytes(number)));
        DirBuilder::new().mode(0o700).create(&folder)?;
        let mut own = Self { seats: Vec::new(), folder };
        let program = std::env::current_exe()?;
        for index in seats {
            let place = own.folder.join(format!("seat-{}", index + 1));
            own.seats.push((Seat::new(index as u8), UnixListener::bind(&place)?));
            let seat = &mut spec.seats[index];
            let passes = if here { step::SUBCOMMAND } else { SUBCOMMAND };
            seat.bot = format!("lines:{} {passes} {}", quoted(&program)?, quoted(&place)?);
            seat.label.get_or_insert_with(|| HUMAN.to_owned());
        }
        Ok(Some(own))
    }

    /// The seats whose thinking time is not replayed.
    pub fn seats(&self) -> Seats {
        self.seats.iter().map(|(seat, _)| *seat).collect()
    }

    /// Names them `human` in the header of the replay.
    pub fn name(&self, header: &mut Header) {
        for (seat, _) in &self.seats {
            HUMAN.clone_into(&mut header.seats[seat.index()].bot);
        }
    }

    /// Runs their bots outside the sandbox: they are this program itself, which needs its own files.
    pub fn free(&self, names: &mut [BotName]) {
        for (seat, _) in &self.seats {
            names[seat.index()].confined = agon_bot::Confined::No;
        }
    }

    /// Offers the one seat of a match to whoever is at standard input.
    pub fn sit_here(&self, game: &dyn AnyGame, header: &Header, json: bool) -> Result<SteppedSeat, Failure> {
        let (seat, listener) = self.seats.first().ok_or_else(|| Failure::own("nobody plays here"))?;
        SteppedSeat::sit(game, header, (*seat, listener), json)
    }

    /// Offers the seats of a match: `give` gives each away.
    pub fn sit(
        &self,
        header: &Header,
        mut give: impl FnMut(Seat, TakenSeat),
    ) -> Result<Vec<SeatCamera>, Failure> {
        let mut cameras = Vec::new();
        for (seat, listener) in &self.seats {
            let (answers, to_say) = mpsc::channel::<Vec<u8>>();
            let (taken, camera) =
                TakenSeat::new(header, *seat, answers).map_err(|error| Failure::own(error.to_string()))?;
            let listener = listener.try_clone()?;
            thread::spawn(move || {
                let Ok((mut stream, _)) = listener.accept() else { return };
                for message in to_say {
                    let length = (message.len() as u32).to_le_bytes();
                    if stream.write_all(&length).and_then(|()| stream.write_all(&message)).is_err() {
                        return;
                    }
                }
            });
            give(*seat, taken);
            cameras.push(camera);
        }
        Ok(cameras)
    }
}

impl Drop for People {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A path as one word of a command line.
fn quoted(path: &std::path::Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.contains('\''));
    let text = text.ok_or_else(|| {
        Failure::own(format!("{}: this path cannot be written on a command line", path.display()))
    })?;
    Ok(format!("'{text}'"))
}

/// Passes on answers: waits for a question, then prints what comes from the socket.
pub fn pass_on(arguments: &[std::ffi::OsString]) -> ExitCode {
    let done = || -> io::Result<()> {
        let place = arguments.first().ok_or_else(|| io::Error::other("no place to come to"))?;
        let mut from = UnixStream::connect(place)?;
        while step::asked(rustix::stdio::stdin())? {
            let mut length = [0; 4];
            from.read_exact(&mut length)?;
            let mut message = vec![0; u32::from_le_bytes(length) as usize];
            from.read_exact(&mut message)?;
            message.push(b'\n');
            let mut out = io::stdout().lock();
            out.write_all(&message)?;
            out.flush()?;
        }
        Ok(())
    };
    if done().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Leaves pages a moment to fetch the end of their match.
pub fn farewell() {
    thread::sleep(Duration::from_millis(1_500));
}
