//! The starter bots: the examples in `bots`, as they are.

use agon_game::{Starter, starter};

/// The easiest language first.
pub(crate) const STARTERS: &[Starter] = &[
    starter!(Python, "brain.py", "python3 test/test_brain.py",
        "python": "brain.py" "game.py" "application.py" "websocket.py" "with_websockets.py" "test/test_brain.py"),
    starter!(JavaScript, "brain.js", "node test/brain.test.js",
        "javascript": "package.json" "brain.js" "game.js" "bot.js" "test/brain.test.js"),
    starter!(Java, "Brain.java", "javac -d target/test *.java test/*.java && java -cp target/test BrainTest",
        "java": "build.sh" "Brain.java" "Game.java" "Bot.java" "Json.java" "test/BrainTest.java"),
    starter!(Cpp, "brain.cpp", "g++ -std=c++17 -Wall -o test/run test/test.cpp brain.cpp && test/run",
        "cpp": "brain.cpp" "brain.hpp" "game.hpp" "bot.cpp" "websocket.hpp" "json.hpp" "test/test.cpp"),
    starter!(Rust, "src/brain.rs", "cargo test --target-dir target",
        "rust": "Cargo.toml" "src/brain.rs" "src/game.rs" "src/main.rs" "src/conversation.rs" "src/websocket.rs" "src/json.rs" "test/test.rs"),
];
