//! The starter bots: the examples in `bots`, as they are.

use agon_game::{Language, Starter, starter_files};

/// The easiest language first.
pub(crate) const STARTERS: &[Starter] = &[
    Starter {
        language: Language::Python,
        strategy: "bot.py",
        test: "python3 test/test_bot.py",
        files: starter_files!("python": "README.md" "agon.toml" ".gitignore" "bot.py" "test/test_bot.py" "test/input.txt"),
    },
    Starter {
        language: Language::JavaScript,
        strategy: "bot.js",
        test: "node test/bot.test.js",
        files: starter_files!("javascript": "README.md" "agon.toml" ".gitignore" "bot.js" "test/bot.test.js" "test/input.txt"),
    },
    Starter {
        language: Language::Cpp,
        strategy: "bot.cpp",
        test: "g++ -std=c++17 -Wall -o test/run test/test.cpp && test/run",
        files: starter_files!("cpp": "README.md" "agon.toml" ".gitignore" "bot.cpp" "test/test.cpp" "test/input.txt"),
    },
    Starter {
        language: Language::Rust,
        strategy: "bot.rs",
        test: "cargo test --target-dir target",
        files: starter_files!("rust": "README.md" "agon.toml" ".gitignore" "Cargo.toml" "bot.rs" "test/test.rs" "test/input.txt"),
    },
    Starter {
        language: Language::Java,
        strategy: "Player.java",
        test: "javac -d out Player.java test/PlayerTest.java && java -cp out PlayerTest",
        files: starter_files!("java": "README.md" "agon.toml" ".gitignore" "Player.java" "test/PlayerTest.java" "test/input.txt"),
    },
    Starter {
        language: Language::TypeScript,
        strategy: "bot.ts",
        test: "tsc --target es2020 --module commonjs --outDir out bot.ts && node test/bot.test.js",
        files: starter_files!("typescript": "README.md" "agon.toml" ".gitignore" "bot.ts" "test/bot.test.js" "test/input.txt"),
    },
    Starter {
        language: Language::Go,
        strategy: "bot.go",
        test: "cp bot.go test/ && go test test/bot.go test/bot_test.go",
        files: starter_files!("go": "README.md" "agon.toml" ".gitignore" "bot.go" "test/bot_test.go" "test/input.txt"),
    },
    Starter {
        language: Language::Kotlin,
        strategy: "bot.kt",
        test: "kotlinc bot.kt test/test.kt -include-runtime -d test/run.jar && java -cp test/run.jar TestKt",
        files: starter_files!("kotlin": "README.md" "agon.toml" ".gitignore" "bot.kt" "test/test.kt" "test/input.txt"),
    },
    Starter {
        language: Language::CSharp,
        strategy: "bot.cs",
        test: "mcs -main:BotTest -out:test/run.exe bot.cs test/test.cs && mono test/run.exe",
        files: starter_files!("csharp": "README.md" "agon.toml" ".gitignore" "bot.cs" "test/test.cs" "test/input.txt"),
    },
];
