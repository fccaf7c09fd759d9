//! The starter bots: the examples in `bots`, as they are.

use agon_game::{Starter, starter};

/// The easiest language first.
pub(crate) const STARTERS: &[Starter] = &[
    starter!(JavaScript, "bot.js", "node test/bot.test.js",
        "javascript": "package.json" "bot.js" "ostibot.d.ts" "test/bot.test.js"),
    starter!(Python, "strategy.py", "python3 test/test_strategy.py",
        "python": "strategy.py" "game.py" "test/test_strategy.py"),
];
