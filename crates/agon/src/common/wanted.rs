//! A match as typed after `agon play`.

use agon_bot::BotName;
use agon_spec::{MatchSpec, RulesSpec, SeatSpec};
use clap::{Args, ValueEnum};

use crate::common::here::About;
use crate::common::sandbox::SandboxOptions;
use crate::common::waiting::PortOptions;
use crate::common::{self, ClockOptions, Failure, SetupOptions};

/// What to play, by whom, and how time is kept.
#[derive(Args, Debug, Clone)]
pub(crate) struct MatchOptions {
    /// The game (see `agon games`) [default: the one in ./agon.toml]
    pub game: Option<String>,
    /// The bots, in the order of their seats [default: this folder's, then the opponents in ./agon.toml]
    #[arg(value_name = "BOT")]
    pub bots: Vec<String>,
    #[command(flatten)]
    pub setup: SetupOptions,
    #[command(flatten)]
    pub clock: ClockOptions,
    /// Builds the bots first if they changed (see `agon build`)
    #[arg(long, help_heading = "Match")]
    pub build: bool,
    #[command(flatten)]
    pub port: PortOptions,
    #[command(flatten)]
    pub sandbox: SandboxOptions,
    /// The engine that runs scripts, in games that take them; `node:FILE` selects it for one bot [default: embedded]
    #[arg(long, value_enum, value_name = "ENGINE", help_heading = "Match")]
    pub js: Option<JsKind>,
    /// Seats the bots in reverse order
    #[arg(long, help_heading = "Match")]
    pub swap: bool,
    /// Renames the bot of a seat; may be given several times
    #[arg(long, value_name = "NUMBER=LABEL", help_heading = "Match")]
    pub name: Vec<String>,
}

/// An engine for scripts.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsKind {
    /// The one inside agon: scripts reach nothing but the language, and every match can be repeated
    Embedded,
    /// Node: compiles to machine code, but does not confine scripts at all
    Node,
}

impl MatchOptions {
    /// The match as typed: of this game, between these bots, under these rules.
    ///
    /// # Errors
    /// When an option cannot be read.
    pub fn spec(&self, about: About) -> Result<MatchSpec, Failure> {
        let About { game, mut bots, rules, .. } = about;
        if self.swap {
            bots.reverse();
        }
        if self.js == Some(JsKind::Node) {
            for bot in &mut bots {
                // A word that is no bot's name is reported when the bots are looked up.
                if let Ok(name) = BotName::parse(bot) {
                    *bot = name.under_node().text;
                }
            }
        }
        let labels = common::chosen(bots.len(), &self.name)?;
        let seats = bots.into_iter().zip(labels).map(|(bot, label)| SeatSpec { bot, label });
        Ok(MatchSpec {
            seats: seats.collect(),
            rules: rules.as_deref().map_or(RulesSpec::Default, RulesSpec::from),
            clock: self.clock.clock()?,
            ponder: self.clock.ponder(),
            ..self.setup.spec(common::game(&game)?.info())?
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use agon_spec::{Clock, MapSpec, Ponder};
    use clap::Parser as _;

    use super::*;

    /// The match meant by the words after `agon play`.
    fn parse(words: &[String]) -> MatchSpec {
        #[derive(clap::Parser)]
        #[command(no_binary_name = true)]
        struct Typed {
            #[command(flatten)]
            wanted: MatchOptions,
        }
        let typed = Typed::try_parse_from(words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        let wanted = typed.wanted;
        let about = About {
            game: wanted.game.clone().expect("a game"),
            bots: wanted.bots.clone(),
            rules: wanted.setup.rules.clone(),
            opponents: Vec::new(),
        };
        wanted.spec(about).expect("a match")
    }

    #[test]
    fn the_words_of_a_match_mean_that_match() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let labels = [None, Some("mine"), Some("a \"b\" = c"), Some("-x")];
        let lists = [
            texts(&["builtin:greedy", "cmd:python3 'my bot.py' -x"]),
            texts(&["-odd", "a b"]),
            texts(&["x"]),
        ];
        let rules = ["", "standard", "my rules.toml", "-r"];
        let sets = [vec![], vec![("maxTurns", "10")], vec![("a.b", "[1, 2]"), ("-c", "\"x=y\""), ("d", "")]];
        let maps =
            [MapSpec::Default, MapSpec::Generated, MapSpec::Named("-m".into()), MapSpec::Named("a b".into())];
        let seeds = [None, Some(0), Some(i64::MIN), Some(i64::MAX)];
        let limited = |scale, cap: Option<u64>, tolerant| {
            let total = cap.map(|cap| Duration::from_micros(100 * cap));
            (
                Clock { limited: true, scale, cap: cap.map(Duration::from_micros), total, tolerant },
                Ponder::Stop,
            )
        };
        let clocks = [
            limited(1.0, None, false),
            limited(0.1, Some(1_000), true),
            limited(1e6, Some(1_250_500), false),
            (Clock { limited: false, ..Clock::ORIGINAL }, Ponder::Allow),
        ];
        // Every value combined with every other.
        for number in 0..4usize.pow(6) {
            let digit = |place: u32| number / 4usize.pow(place) % 4;
            let (clock, ponder) = clocks[digit(5)];
            let bots = &lists[digit(0) % lists.len()];
            let seats = bots.iter().enumerate().map(|(seat, bot)| SeatSpec {
                bot: bot.clone(),
                label: if seat == 0 { labels[digit(1)].map(str::to_owned) } else { None },
            });
            let sets =
                sets[digit(3) % sets.len()].iter().map(|(rule, value)| ((*rule).into(), (*value).into()));
            let spec = MatchSpec {
                game: "cultist-wars".to_owned(),
                seats: seats.collect(),
                rules: rules[digit(2)].into(),
                sets: sets.collect(),
                map: maps[digit(4)].clone(),
                seed: seeds[(digit(0) + digit(4)) % 4],
                clock,
                ponder,
            };
            let words = spec.words().expect("everything has a name");
            assert_eq!(parse(&words), spec, "{words:?}");
            let command = spec.command().expect("everything can be quoted");
            let typed = shlex::split(&command).expect("a command line");
            assert_eq!(typed[2..], words[..], "{command}");
        }
    }

    #[test]
    fn what_is_known_by_its_content_only_has_no_command() {
        let spec = MatchSpec::new("cultist-wars", ["a".to_owned(), "b".to_owned()]);
        assert_eq!(spec.command().as_deref(), Some("agon play cultist-wars a b"));
        let rules = RulesSpec::Text { name: "my.toml".to_owned(), text: String::new() };
        assert_eq!(MatchSpec { rules, ..spec.clone() }.command(), None);
        let map = MapSpec::Text { name: "my.txt".to_owned(), content: Vec::new() };
        assert_eq!(MatchSpec { map, ..spec }.command(), None);
    }
}
