//! The starter bots: the examples in `bots`, as they are.

use agon_game::{Starter, starter};

/// The easiest language first.
pub(crate) const STARTERS: &[Starter] = &[
    starter!(Python, "bot.py", "python3 test/test_bot.py",
        "python": "bot.py" "test/test_bot.py"),
    starter!(JavaScript, "bot.js", "node test/bot.test.js",
        "javascript": "bot.js" "test/bot.test.js"),
    starter!(Cpp, "bot.cpp", "g++ -std=c++17 -Wall -o test/run test/test.cpp && test/run",
        "cpp": "bot.cpp" "test/test.cpp"),
    starter!(Rust, "bot.rs", "cargo test --target-dir target",
        "rust": "Cargo.toml" "bot.rs" "test/test.rs"),
    starter!(Java, "Player.java", "javac -d out Player.java test/PlayerTest.java && java -cp out PlayerTest",
        "java": "Player.java" "test/PlayerTest.java"),
    starter!(TypeScript, "bot.ts", "tsc --target es2020 --module commonjs --outDir out bot.ts && node test/bot.test.js",
        "typescript": "bot.ts" "test/bot.test.js"),
    starter!(Go, "bot.go", "cp bot.go test/ && go test test/bot.go test/bot_test.go",
        "go": "bot.go" "test/bot_test.go"),
    starter!(Kotlin, "bot.kt", "kotlinc bot.kt test/test.kt -include-runtime -d test/run.jar && java -cp test/run.jar TestKt",
        "kotlin": "bot.kt" "test/test.kt"),
    starter!(CSharp, "bot.cs", "mcs -main:BotTest -out:test/run.exe bot.cs test/test.cs && mono test/run.exe",
        "csharp": "bot.cs" "test/test.cs"),
];
