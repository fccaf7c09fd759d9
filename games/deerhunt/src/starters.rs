//! The starter bots: the examples in `bots`, as they are.

use agon_game::{Starter, starter};

/// The easiest language first.
pub(crate) const STARTERS: &[Starter] = &[
    starter!(Python, "grid_player.py", "python3 test/test_grid_player.py",
        "python": "grid_player.py" "test/test_grid_player.py",
        "test/client/helper_classes.py" from "client/2019/helper_classes.py",
        "test/client/move.py" from "client/2019/move.py"),
    starter!(JavaScript, "strategy.js", "node test/strategy.test.js",
        "javascript": "strategy.js" "bot.js" "test/strategy.test.js"),
    starter!(Cpp, "strategy.cpp", "g++ -std=c++17 -Wall -o test/run test/test.cpp strategy.cpp && test/run",
        "cpp": "strategy.cpp" "strategy.hpp" "game.hpp" "bot.cpp" "framed.hpp" "json.hpp" "test/test.cpp"),
    starter!(Rust, "src/strategy.rs", "cargo test --target-dir target",
        "rust": "Cargo.toml" "src/strategy.rs" "src/game.rs" "src/main.rs" "src/conversation.rs" "src/json.rs" "test/test.rs"),
];
