//! The starter bots: the examples in `bots`, as they are.

use agon_game::{Starter, starter};

/// The easiest language first.
pub(crate) const STARTERS: &[Starter] = &[
    starter!(Python, "strategy.py", "python3 test/test_strategy.py",
        "python": "algo.json" "run.sh" "strategy.py" "terminal.py" "test/test_strategy.py"),
    starter!(JavaScript, "strategy.js", "node test/strategy.test.js",
        "javascript": "algo.json" "run.sh" "strategy.js" "terminal.js" "test/strategy.test.js"),
    starter!(Rust, "src/strategy.rs", "cargo test --target-dir target",
        "rust": "algo.json" "run.sh" "build.sh" "Cargo.toml" "src/main.rs" "src/strategy.rs" "src/terminal.rs" "src/json.rs" "test/test.rs"),
    starter!(Java, "src/Strategy.java", "javac -d target/test src/*.java test/*.java && java -cp target/test StrategyTest",
        "java": "algo.json" "run.sh" "build.sh" "src/Strategy.java" "src/Terminal.java" "src/Json.java" "test/StrategyTest.java"),
];
