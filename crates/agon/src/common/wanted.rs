//! A match as it can be typed: by `agon play`, by the page of the viewer, and in a journal's command.

use agon_bot::BotName;
use clap::{Args, Parser as _, ValueEnum};

use crate::common::waiting::PortOptions;
use crate::common::{self, ClockOptions, Failure, SetupOptions};

/// What is to be played, by whom, and how time is kept.
#[derive(Args, Debug)]
pub struct MatchOptions {
    /// The game (see `agon games`) [default: the one in ./agon.toml]
    pub game: Option<String>,
    /// The bots, in the order of their seats [default: this folder's, then the opponents in ./agon.toml]
    #[arg(value_name = "BOT")]
    pub bots: Vec<String>,
    #[command(flatten)]
    pub setup: SetupOptions,
    #[command(flatten)]
    pub clock: ClockOptions,
    /// Builds the bots first, where they changed (see `agon build`)
    #[arg(long, help_heading = "Match")]
    pub build: bool,
    #[command(flatten)]
    pub port: PortOptions,
    /// The engine that runs scripts, in games that take them; `node:FILE` says it of one bot [default: embedded]
    #[arg(long, value_enum, value_name = "ENGINE", help_heading = "Match")]
    pub js: Option<JsKind>,
    /// Seats the bots in reverse order
    #[arg(long, help_heading = "Match")]
    pub swap: bool,
    /// Another name for the bot of a seat; may be given several times
    #[arg(long, value_name = "NUMBER=LABEL", help_heading = "Match")]
    pub name: Vec<String>,
}

/// An engine for scripts.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsKind {
    /// The one inside agon: nothing but the language can be reached, and every match can be repeated
    Embedded,
    /// Node: compiles to machine code, but keeps scripts from nothing
    Node,
}

impl MatchOptions {
    /// Reads words as one would type them behind `agon play`.
    ///
    /// # Errors
    /// What the parser of the command line says.
    pub fn read(words: &[String]) -> Result<Self, clap::Error> {
        #[derive(clap::Parser)]
        #[command(name = "agon play", no_binary_name = true)]
        struct Typed {
            #[command(flatten)]
            wanted: MatchOptions,
        }
        Typed::try_parse_from(words).map(|typed| typed.wanted)
    }

    /// The bots called `texts`, in the order of their seats.
    ///
    /// # Errors
    /// When one of the texts names no bot.
    pub fn names(&self, texts: &[String]) -> Result<Vec<BotName>, Failure> {
        let names = common::bots(texts, self.swap)?;
        Ok(match self.js {
            Some(JsKind::Node) => names.into_iter().map(BotName::under_node).collect(),
            Some(JsKind::Embedded) | None => names,
        })
    }
}
