//! The starter bots: the examples in `bots`, as they are.

use agon_game::{Language, Starter, starter_files};

/// The easiest language first.
pub(crate) const STARTERS: &[Starter] = &[
    Starter {
        language: Language::JavaScript,
        strategy: "bot.js",
        test: "node test/bot.test.js",
        files: starter_files!("javascript": "README.md" "agon.toml" ".gitignore" "package.json" "bot.js" "ostibot.d.ts" "test/bot.test.js" "test/input.txt"),
    },
    Starter {
        language: Language::Python,
        strategy: "strategy.py",
        test: "python3 test/test_strategy.py",
        files: starter_files!("python": "README.md" "agon.toml" ".gitignore" "strategy.py" "game.py" "test/test_strategy.py" "test/input.txt"),
    },
];
