//! `agon join`: a bot on this machine plays in a match on another.

use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use agon_bot::join::{self, FrameKind, JoinLink, Welcome};
use agon_bot::peer::Caller;
use agon_bot::process::start;
use agon_bot::program::ProgramEnd;
use agon_bot::tree::ProcessTree;
use agon_bot::{BotName, peer::Owner, sys};
use agon_game::{Kit, RulesChoice, Seat, Setup};
use clap::Args;

use crate::common::sandbox::SandboxOptions;
use crate::common::screen::harmless;
use crate::common::{self, Done, Failure, builds};

/// Examples for the help.
pub const EXAMPLES: &str = "The match waits with a seat `join:` (join:PORT for this machine only, join:ADDRESS:PORT for others) and the
same token. The bot is started here, unchanged; its input, output and errors are passed to and from the match. Nothing
is encrypted: where others can read the network, go through ssh -L 7878:127.0.0.1:7878 THAT-MACHINE.
Exit code 0: the match is over; 1: the bot ended early, or the connection was lost; 2: no match waits, or the token is wrong.

Examples:
  (umask 077; head -c 24 /dev/urandom | base64 > token)                             once, and a copy for the other side
  agon play cultist-wars my-bot join:0.0.0.0:7878 --join-token token                on the machine of the match
  agon join 192.168.1.20:7878 --token-file token -- your-bot                        on the other one
  agon join 192.168.1.20:7878 --token-file token -- python3 bot.py --fast           a command";

/// Options of `agon join`.
#[derive(Args, Debug)]
pub struct JoinOptions {
    /// The address where the match waits
    #[arg(value_name = "HOST:PORT")]
    pub address: String,
    /// The token shared by both sides; nobody else may be able to read the file
    #[arg(long, value_name = "FILE")]
    pub token_file: PathBuf,
    #[command(flatten)]
    pub sandbox: SandboxOptions,
    /// The bot: a file, a folder, or a command with its arguments
    #[arg(last = true, required = true, value_name = "BOT")]
    pub bot: Vec<String>,
}

/// How long a bot may take to end by itself.
const TO_END: Duration = Duration::from_secs(1);

/// Why a bot's part in a match ended.
enum End {
    /// The bot stopped talking.
    Bot,
    /// The other side ended it.
    Over,
    /// The other side is gone.
    Lost(String),
}

/// Runs `agon join`.
pub fn run(options: &JoinOptions) -> Done {
    let bots = options.sandbox.bots();
    let name = match &options.bot[..] {
        [one] => common::named(one, &bots)?,
        words => {
            let line = shlex::try_join(words.iter().map(String::as_str))
                .map_err(|error| Failure::usage(error.to_string()))?;
            common::named(&format!("cmd:{line}"), &bots)?
        }
    };
    builds::compile(&name)?;
    let token = join::read_token(&options.token_file).map_err(Failure::Usage)?;
    let (line, welcome) = join::join(&options.address, &token).map_err(Failure::Usage)?;
    let (told, heard) = channel();
    line.keep_alive(told.clone(), End::Lost("the connection was lost".to_owned()));
    let mut bot = match Bot::start(&name, &welcome, &line) {
        Ok(bot) => bot,
        Err(failure) => {
            let why = match failure.message() {
                Some(why) => format!("the joined bot did not start: {why}"),
                None => "the joined bot did not start".to_owned(),
            };
            let _ = line.send(FrameKind::Over, why.as_bytes());
            return Err(failure);
        }
    };
    eprintln!(
        "joined {}: {} sits in seat {} of {}",
        options.address,
        harmless(&name.text),
        welcome.seat,
        welcome.game
    );
    let announced = agon_desk::seats::labels(std::slice::from_ref(&name)).concat();
    bot.play(&line, &announced, told, &heard)
}

/// The bot that joins.
struct Bot {
    tree: ProcessTree,
    owner: Owner,
    input: Option<File>,
    output: Option<File>,
    /// Ends when nobody writes to its standard error any more.
    errors: Receiver<()>,
    /// Where it dials in; none if it talks in lines.
    relay: Option<TcpListener>,
}

impl Bot {
    fn start(name: &BotName, welcome: &Welcome, line: &JoinLink) -> Result<Self, Failure> {
        let game = common::game(&welcome.game)?;
        let preset = welcome.rules.split(',').next().unwrap_or_default();
        let preset = game.info().preset(preset).map(|preset| preset.name.to_owned()).unwrap_or_default();
        let rules = RulesChoice { preset, ..RulesChoice::default() };
        let session =
            game.open(&Setup { rules, seats: welcome.seats, seed: welcome.seed, ..Setup::default() })?;
        if welcome.seat == 0 || welcome.seat > welcome.seats {
            return Err(Failure::own("the other side did not name a seat of the match"));
        }
        // Bots of a contest dial its usual port; if that is taken, they are told another.
        let usual = if let Kit::WebSocket(kit) = session.kit() { kit.port } else { 0 };
        let relay = TcpListener::bind((Ipv4Addr::LOCALHOST, usual))
            .or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let seat = Seat::new(welcome.seat - 1);
        let token = welcome.token.as_deref();
        let (launch, dials) =
            agon_match::arrival::beside(session.as_ref(), name, seat, relay.local_addr()?, token)?;
        let (tree, started) =
            start(&launch, welcome.seat, None, None).map_err(|error| Failure::usage(error.to_string()))?;
        let (ended, errors) = channel();
        line.pass_on(FrameKind::Errors, Twice(File::from(started.error)), ended, ());
        let owner = Owner { root: tree.root(), mark: tree.mark().to_owned() };
        let (input, output) = (Some(File::from(started.input)), Some(File::from(started.output)));
        Ok(Self { tree, owner, input, output, errors, relay: dials.then_some(relay) })
    }

    /// Plays the match, under this name.
    fn play(&mut self, line: &JoinLink, name: &str, told: Sender<End>, heard: &Receiver<End>) -> Done {
        let mut sink: Box<dyn Write + Send> = match self.relay.take() {
            Some(relay) => match self.dialled(&relay) {
                Ok(socket) => {
                    let _ = socket.set_nodelay(true);
                    let source = socket.try_clone()?;
                    line.send(FrameKind::Dialled, name.as_bytes())?;
                    line.pass_on(FrameKind::Bytes, source, told.clone(), End::Bot);
                    Box::new(socket)
                }
                Err(why) => return self.gone(line, &why),
            },
            None => {
                let (input, output) = (self.input.take(), self.output.take());
                let (Some(input), Some(output)) = (input, output) else {
                    unreachable!("it was just started")
                };
                line.send(FrameKind::Lines, name.as_bytes())?;
                line.pass_on(FrameKind::Bytes, output, told.clone(), End::Bot);
                Box::new(input)
            }
        };
        let own = line.clone();
        std::thread::spawn(move || {
            let end = loop {
                match own.receive() {
                    // A bot that has stopped listening shows it by what it says, or fails to say.
                    Ok(Some((FrameKind::Bytes, bytes))) => {
                        drop(sink.write_all(&bytes).and_then(|()| sink.flush()));
                    }
                    // The referee ends all bots when the match is over and does not wait for a farewell.
                    Ok(Some((FrameKind::Over, _)) | None) => break End::Over,
                    Ok(Some(_)) => {}
                    Err(why) => break End::Lost(why),
                }
            };
            // Close its input before anybody is told.
            drop(sink);
            let _ = told.send(end);
        });
        let Ok(mut end) = heard.recv() else { return Err(Failure::own("no thread is left")) };
        // At the end of a match, the message about it may come last.
        if !matches!(end, End::Over)
            && let Ok(End::Over) = heard.recv_timeout(Duration::from_millis(300))
        {
            end = End::Over;
        }
        match end {
            End::Bot => {
                let ending = self.ending();
                self.gone(line, &format!("the joined bot is gone: {ending}"))
            }
            End::Over => {
                sys::wait(self.tree.root(), TO_END);
                self.tree.end();
                let _ = self.errors.recv_timeout(TO_END);
                eprintln!("the match is over");
                Ok(())
            }
            End::Lost(why) => {
                self.tree.end();
                eprintln!("{why}; the bot was killed");
                Err(Failure::Check)
            }
        }
    }

    /// Waits until the bot has dialled in.
    fn dialled(&mut self, relay: &TcpListener) -> Result<TcpStream, String> {
        let failed = |error: io::Error| error.to_string();
        relay.set_nonblocking(true).map_err(failed)?;
        let (ours, began) = (relay.local_addr().map_err(failed)?, Instant::now());
        loop {
            match relay.accept() {
                Ok((socket, theirs)) => {
                    let caller = Caller::find(theirs, ours, [&self.owner].into_iter());
                    if caller.may_take(Some(&self.owner), false).is_ok() {
                        socket.set_nonblocking(false).map_err(failed)?;
                        return Ok(socket);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if sys::wait(self.tree.root(), Duration::from_millis(20)) {
                        return Err(format!("before the joined bot was connected, {}", self.ending()));
                    }
                }
                Err(error) => return Err(error.to_string()),
            }
            if began.elapsed() > join::TO_START {
                return Err(format!(
                    "the joined bot did not connect to {ours} within {} s",
                    join::TO_START.as_secs()
                ));
            }
        }
    }

    /// How it ended, or that it is still running.
    fn ending(&mut self) -> ProgramEnd {
        sys::wait(self.tree.root(), TO_END);
        match self.tree.status() {
            None => ProgramEnd::Runs,
            Some(status) => status
                .code()
                .map_or_else(|| ProgramEnd::Signal(status.signal().unwrap_or(0)), ProgramEnd::Code),
        }
    }

    /// Tells both sides why the bot no longer plays.
    fn gone(&mut self, line: &JoinLink, why: &str) -> Done {
        self.tree.end();
        // Its last output comes first.
        let _ = self.errors.recv_timeout(TO_END);
        let _ = line.send(FrameKind::Over, why.as_bytes());
        eprintln!("{why}");
        Err(Failure::Check)
    }
}

/// Copies what is read to standard error.
struct Twice(File);

impl io::Read for Twice {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let length = self.0.read(to)?;
        io::stderr().write_all(&to[..length])?;
        Ok(length)
    }
}
