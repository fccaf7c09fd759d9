//! The bots to begin with: the examples of `bots`, as they are.

use agon_game::{Language, Starter, starter_files};

/// The easiest language first.
pub(crate) const STARTERS: &[Starter] = &[
    Starter {
        language: Language::Python,
        strategy: "grid_player.py",
        test: "python3 test/test_grid_player.py",
        files: starter_files!("python": "README.md" "agon.toml" ".gitignore" "grid_player.py" "test/test_grid_player.py" "test/input.txt",
            "test/client/helper_classes.py" from "client/2019/helper_classes.py",
            "test/client/move.py" from "client/2019/move.py"),
    },
    Starter {
        language: Language::JavaScript,
        strategy: "strategy.js",
        test: "node test/strategy.test.js",
        files: starter_files!("javascript": "README.md" "agon.toml" ".gitignore" "strategy.js" "bot.js" "test/strategy.test.js" "test/input.txt"),
    },
];
