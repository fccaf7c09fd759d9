//! [`Kit`]: what bots of the original contest expect to find around them.
//!
//! A bot written for the original connects by itself, or is a module that a client of the contest runs. The
//! game says how; starting, connecting and waiting are the transport's job.

/// How bots of the original contest are started and connect.
#[derive(Clone, Copy, Debug, Default)]
pub enum Kit {
    /// They read and write lines.
    #[default]
    Lines,
    /// They connect to a WebSocket port and say who they are.
    WebSocket(WebSocketKit),
    /// They connect to a TCP port; those in Python are modules run by a client.
    Tcp(TcpKit),
}

/// Bots that connect to a WebSocket port.
#[derive(Clone, Copy, Debug)]
pub struct WebSocketKit {
    /// The port that bots of the contest connect to.
    pub port: u16,
    /// How long a program may take to connect after it was started, in milliseconds.
    pub connect_ms: u32,
    /// The environment variable with the token that identifies a bot.
    pub token: &'static str,
    /// Reads the first message of a bot and returns the token in it, if any. If it is not such a message, the
    /// error is a sentence for the bot's author, and the connection is closed.
    pub register: fn(&[u8]) -> Result<Option<String>, String>,
    /// Whether an answer says which question it answers. If so, a message that came before the question
    /// cannot answer it.
    pub answers_say_their_question: bool,
}

impl Kit {
    /// Whether an answer says which question it answers.
    pub fn answers_say_their_question(&self) -> bool {
        matches!(self, Self::WebSocket(kit) if kit.answers_say_their_question)
    }
}

/// Bots that connect to a TCP port, with a ten-character length before each message.
#[derive(Clone, Copy, Debug)]
pub struct TcpKit {
    /// How long a bot may take to connect, in milliseconds.
    pub connect_ms: u32,
    /// The file that makes a folder a bot of the contest.
    pub module: &'static str,
    /// The name of the client, to keep several variants of it apart.
    pub client: &'static str,
    /// The Python modules of the client, as `(file name, text)`. A bot that brings one of them keeps its own.
    pub files: &'static [(&'static str, &'static str)],
    /// The module to run, with host and port as arguments.
    pub runner: &'static str,
}
