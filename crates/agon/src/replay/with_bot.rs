//! `agon analyse --with-bot`: whether an order was a mistake of a bot.

use agon_desk::seats::seat_of;
use agon_desk::trial::{FEWEST, OrderTrial, Seating, seat_named};
use agon_replay::Replay;
use clap::Args;

use crate::common::sandbox::Bots;
use crate::common::{self, ClockOptions, Failure};

/// Options of `agon analyse` for trying the bot that gave the orders.
#[derive(Args, Debug, Clone)]
pub struct WithBotOptions {
    /// The bot that played. It is taken to the marked turns and plays on from there, with its own order and with the
    /// policy's; if the policy's helps it beyond noise, its own was a mistake
    #[arg(long, value_name = "BOT", help_heading = "With the bot")]
    pub with_bot: Option<String>,
    /// Its seat [default: the one in which the replay names it]
    #[arg(long, value_name = "N", requires = "with_bot", help_heading = "With the bot")]
    pub seat: Option<u8>,
    /// The bots of the other seats, in order; they deviate in one answer in ten [default: the policy]
    #[arg(long, value_name = "BOT", requires = "with_bot", help_heading = "With the bot")]
    pub against: Vec<String>,
    /// How many futures to play from each turn, each once with its own order and once with the policy's; 20 to 2000
    #[arg(
        long,
        value_name = "N",
        default_value_t = FEWEST,
        value_parser = clap::value_parser!(u32).range(i64::from(FEWEST)..=2_000),
        requires = "with_bot",
        help_heading = "With the bot"
    )]
    pub futures: u32,
    #[command(flatten)]
    pub clock: ClockOptions,
}

impl WithBotOptions {
    /// The bot at its seat, and those of the other seats; none if no bot is named.
    pub fn seating(&self, replay: &Replay, policy: &str, bots: &Bots) -> Result<Option<Seating>, Failure> {
        let Some(bot) = &self.with_bot else { return Ok(None) };
        let seat = match self.seat {
            Some(seat) => seat_of(replay, seat)?,
            None => seat_named(bot, replay)?,
        };
        let texts = Seating::texts(bot, seat, &self.against, replay, policy)?;
        Ok(Some(Seating { seat, names: common::bots(&texts, bots)? }))
    }

    /// How it is tried.
    pub fn trial(&self) -> Result<OrderTrial<'static>, Failure> {
        let (clock, ponder) = (self.clock.clock()?, self.clock.ponder());
        Ok(OrderTrial { futures: self.futures, clock, ponder, stop: common::stop_on_ctrl_c() })
    }
}
