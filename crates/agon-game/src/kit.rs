//! [`Kit`]: what the bots of the original contest expect to find around them.
//!
//! A bot that was written for the original dials in by itself, or is a module that a client of the
//! contest runs. The game says how; starting, dialling and waiting are the transport's matter.

/// How bots of the original contest are started and connect.
#[derive(Clone, Copy, Debug, Default)]
pub enum Kit {
    /// They read and write lines.
    #[default]
    Lines,
    /// They dial a WebSocket port and say who they are.
    WebSocket(WebSocketKit),
    /// They dial a TCP port; those in Python are modules run by a client.
    Tcp(TcpKit),
}

/// Bots that dial a WebSocket port.
#[derive(Clone, Copy, Debug)]
pub struct WebSocketKit {
    /// The port that the bots of the contest dial.
    pub port: u16,
    /// How long a program that was started may take to connect, in milliseconds.
    pub connect_ms: u32,
    /// The variable that gives a bot the token by which it is known.
    pub token: &'static str,
    /// Reads the first message of a bot: the token in it, if it names one. What is no such message is
    /// an error, as a sentence for the bot's author, and its connection is closed.
    pub register: fn(&[u8]) -> Result<Option<String>, String>,
    /// Whether an answer says which question it answers. What comes before the question is then no
    /// answer to it.
    pub answers_say_their_question: bool,
}

impl Kit {
    /// Whether an answer says which question it answers.
    pub fn answers_say_their_question(&self) -> bool {
        matches!(self, Self::WebSocket(kit) if kit.answers_say_their_question)
    }
}

/// Bots that dial a TCP port, where ten characters of length stand before each message.
#[derive(Clone, Copy, Debug)]
pub struct TcpKit {
    /// How long a bot may take to connect, in milliseconds.
    pub connect_ms: u32,
    /// The file that makes a folder a bot of the contest.
    pub module: &'static str,
    /// The name of the client, so that several forms of it are kept apart.
    pub client: &'static str,
    /// The Python modules of the client, as `(file name, text)`. A bot that brings one of them keeps its own.
    pub files: &'static [(&'static str, &'static str)],
    /// The module to run, with host and port as arguments.
    pub runner: &'static str,
}
