//! The starter bots: the examples in `bots`, as they are.

use agon_game::{Language, Starter, starter_files};

/// The easiest language first.
pub(crate) const STARTERS: &[Starter] = &[
    Starter {
        language: Language::Python,
        strategy: "brain.py",
        test: "python3 test/test_brain.py",
        files: starter_files!("python": "README.md" "agon.toml" ".gitignore" "brain.py" "game.py" "application.py" "websocket.py" "with_websockets.py" "test/test_brain.py" "test/input.txt"),
    },
    Starter {
        language: Language::JavaScript,
        strategy: "brain.js",
        test: "node test/brain.test.js",
        files: starter_files!("javascript": "README.md" "agon.toml" ".gitignore" "package.json" "brain.js" "game.js" "bot.js" "test/brain.test.js" "test/input.txt"),
    },
    Starter {
        language: Language::Java,
        strategy: "Brain.java",
        test: "javac -d target/test *.java test/*.java && java -cp target/test BrainTest",
        files: starter_files!("java": "README.md" "agon.toml" ".gitignore" "build.sh" "Brain.java" "Game.java" "Bot.java" "Json.java" "test/BrainTest.java" "test/input.txt"),
    },
    Starter {
        language: Language::Cpp,
        strategy: "brain.cpp",
        test: "g++ -std=c++17 -Wall -o test/run test/test.cpp brain.cpp && test/run",
        files: starter_files!("cpp": "README.md" "agon.toml" ".gitignore" "brain.cpp" "brain.hpp" "game.hpp" "bot.cpp" "websocket.hpp" "json.hpp" "test/test.cpp" "test/input.txt"),
    },
    Starter {
        language: Language::Rust,
        strategy: "src/brain.rs",
        test: "cargo test --target-dir target",
        files: starter_files!("rust": "README.md" "agon.toml" ".gitignore" "Cargo.toml" "src/brain.rs" "src/game.rs" "src/main.rs" "src/conversation.rs" "src/websocket.rs" "src/json.rs" "test/test.rs" "test/input.txt"),
    },
];
