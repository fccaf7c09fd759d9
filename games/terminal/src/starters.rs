//! The starter bots: the examples in `bots`, as they are.

use agon_game::{Language, Starter, starter_files};

/// The easiest language first.
pub(crate) const STARTERS: &[Starter] = &[
    Starter {
        language: Language::Python,
        strategy: "strategy.py",
        test: "python3 test/test_strategy.py",
        files: starter_files!("python": "README.md" "agon.toml" ".gitignore" "algo.json" "run.sh" "strategy.py" "terminal.py" "test/test_strategy.py" "test/input.txt"),
    },
    Starter {
        language: Language::JavaScript,
        strategy: "strategy.js",
        test: "node test/strategy.test.js",
        files: starter_files!("javascript": "README.md" "agon.toml" ".gitignore" "algo.json" "run.sh" "strategy.js" "terminal.js" "test/strategy.test.js" "test/input.txt"),
    },
    Starter {
        language: Language::Rust,
        strategy: "src/strategy.rs",
        test: "cargo test --target-dir target",
        files: starter_files!("rust": "README.md" "agon.toml" ".gitignore" "algo.json" "run.sh" "build.sh" "Cargo.toml" "src/main.rs" "src/strategy.rs" "src/terminal.rs" "src/json.rs" "test/test.rs" "test/input.txt"),
    },
    Starter {
        language: Language::Java,
        strategy: "src/Strategy.java",
        test: "javac -d target/test src/*.java test/*.java && java -cp target/test StrategyTest",
        files: starter_files!("java": "README.md" "agon.toml" ".gitignore" "algo.json" "run.sh" "build.sh" "src/Strategy.java" "src/Terminal.java" "src/Json.java" "test/StrategyTest.java" "test/input.txt"),
    },
];
