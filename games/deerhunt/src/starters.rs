//! The starter bots: the examples in `bots`, as they are.

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
    Starter {
        language: Language::Cpp,
        strategy: "strategy.cpp",
        test: "g++ -std=c++17 -Wall -o test/run test/test.cpp strategy.cpp && test/run",
        files: starter_files!("cpp": "README.md" "agon.toml" ".gitignore" "strategy.cpp" "strategy.hpp" "game.hpp" "bot.cpp" "framed.hpp" "json.hpp" "test/test.cpp" "test/input.txt"),
    },
    Starter {
        language: Language::Rust,
        strategy: "src/strategy.rs",
        test: "cargo test --target-dir target",
        files: starter_files!("rust": "README.md" "agon.toml" ".gitignore" "Cargo.toml" "src/strategy.rs" "src/game.rs" "src/main.rs" "src/conversation.rs" "src/json.rs" "test/test.rs" "test/input.txt"),
    },
];
