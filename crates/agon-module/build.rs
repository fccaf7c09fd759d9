//! Builds `crates/agon-wasm` for WebAssembly with cargo, and packs it with Node.
//!
//! It is built quickly, which takes a tenth of the time of building it small: that is for programs that are shipped. `AGON_WASM` decides:
//! `1` where possible, `require` or fail, `small` small or fail, `0` never. Without it a debug build goes without, and others are as with `1`.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const TARGET: &str = "wasm32-unknown-unknown";
/// The most memory a page gives to it, in bytes: what the largest replay needs, and some room.
const MOST_MEMORY: u32 = 1 << 30;

/// Packs a file with Node: better and faster than a library compiled without optimisation.
const PACK: &str = "
const { readFileSync, writeFileSync } = require('fs')
const { brotliCompressSync, gzipSync, constants } = require('zlib')
const [from, to, quality] = process.argv.slice(1)
const bytes = readFileSync(from)
const params = { [constants.BROTLI_PARAM_QUALITY]: Number(quality), [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
writeFileSync(to + '.br', brotliCompressSync(bytes, { params }))
writeFileSync(to + '.gz', gzipSync(bytes, { level: 9 }))
";

fn main() {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let root = here.join("../..");
    let out = PathBuf::from(variable("OUT_DIR"));
    watch(&root);
    let wanted = env::var("AGON_WASM").unwrap_or_default();
    let is_debug = variable("PROFILE") == "debug";
    let built = match wanted.as_str() {
        "0" => Err("it was built with AGON_WASM=0.".to_owned()),
        "" if is_debug => Err("a debug build carries it only with AGON_WASM=1.".to_owned()),
        _ => build(&root, &out, wanted == "small"),
    };
    let missing = built.err().unwrap_or_default();
    if !missing.is_empty() {
        assert!(
            !["require", "small"].contains(&wanted.as_str()),
            "the engines cannot be built for pages: {missing}"
        );
        // A missing module is reported if it was asked for, and in a release build.
        if wanted == "1" || wanted.is_empty() && !is_debug {
            let why = missing.lines().next().unwrap_or_default();
            println!(
                "cargo:warning=pages get their steps from the server, not from engines of their own: {why}"
            );
            // A path that never exists: look again next time, what is missing may have been installed.
            println!("cargo:rerun-if-changed=not-built");
        }
        for file in ["agon.wasm.br", "agon.wasm.gz"] {
            fs::write(out.join(file), "").expect("cargo's own folder can be written");
        }
    }
    let mut hasher = DefaultHasher::new();
    fs::read(out.join("agon.wasm.gz")).unwrap_or_default().hash(&mut hasher);
    fs::write(out.join("name.txt"), format!("agon-{:016x}.wasm", hasher.finish()))
        .expect("cargo's own folder can be written");
    fs::write(out.join("missing.txt"), missing).expect("cargo's own folder can be written");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

/// Lists the sources for cargo.
fn watch(root: &Path) {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=AGON_WASM");
    let mut folders: Vec<PathBuf> = ["game", "games", "replay", "spec", "view", "wasm"]
        .map(|name| root.join(format!("crates/agon-{name}")))
        .to_vec();
    folders.extend(fs::read_dir(root.join("games")).into_iter().flatten().flatten().map(|game| game.path()));
    for folder in folders {
        for part in ["src", "rules", "maps", "Cargo.toml"] {
            let path = folder.join(part);
            if path.exists() {
                println!("cargo:rerun-if-changed={}", path.display());
            }
        }
    }
    for file in ["Cargo.toml", "Cargo.lock"] {
        println!("cargo:rerun-if-changed={}", root.join(file).display());
    }
}

/// Builds and packs the module; the error is a sentence when that is not possible here.
fn build(root: &Path, out: &Path, small: bool) -> Result<(), String> {
    let library =
        run(Command::new(variable("RUSTC")).args(["--print", "target-libdir", "--target", TARGET]))?;
    if !Path::new(library.trim()).is_dir() {
        return Err(format!("Rust for {TARGET} is not installed; get it by `rustup target add {TARGET}`."));
    }
    run(Command::new("node").arg("--version"))
        .map_err(|_| "Node, which packs it, was not found.".to_owned())?;
    // A folder of its own: in the outer cargo's folder, each would wait for the other for ever.
    let own = out.ancestors().nth(4).expect("cargo's folders").join("module");
    let (profile, quality) = if small { ("wasm", "11") } else { ("wasm-quick", "5") };
    let mut cargo = Command::new(variable("CARGO"));
    cargo.current_dir(root).args(["rustc", "--quiet", "--locked", "--package", "agon-wasm", "--lib"]);
    cargo
        .args(["--crate-type", "cdylib", "--target", TARGET, "--profile", profile, "--target-dir"])
        .arg(&own);
    cargo.args(["--", "-C", &format!("link-arg=--max-memory={MOST_MEMORY}")]);
    // Settings meant for the machine the program is built for, or for tools that look at sources.
    for (name, _) in env::vars().filter(|(name, _)| {
        name.starts_with("CARGO_PROFILE_")
            || name.starts_with("CARGO_TARGET_")
            || ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTC_WRAPPER"]
                .contains(&name.as_str())
            || name == "RUSTC_WORKSPACE_WRAPPER"
    }) {
        cargo.env_remove(name);
    }
    // But no path of this machine belongs into a program that others build as well.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let flags: Vec<&str> =
        flags.split('\x1f').filter(|flag| flag.starts_with("--remap-path-prefix=")).collect();
    if !flags.is_empty() {
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    }
    if let Err(error) = run(&mut cargo) {
        // Sources that do not build are a mistake in them, not a missing tool.
        assert!(!error.contains("could not compile"), "building the engines for pages failed:\n{error}");
        return Err(format!("cargo could not build it: {error}"));
    }
    let module = own.join(TARGET).join(profile).join("agon_wasm.wasm");
    run(Command::new("node").args(["-e", PACK]).arg(module).arg(out.join("agon.wasm")).arg(quality)).map(drop)
}

fn run(command: &mut Command) -> Result<String, String> {
    let done = command.output().map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    match done.status.success() {
        true => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}
