//! Builds the web app (`web/` and the games' `viewer/`) with npm, if Node is installed.
//!
//! Without Node the program is built all the same; it then serves a page that says so. Unchanged sources cost nothing: cargo
//! runs this only if one of the files below changed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The oldest Node the build tools run on.
const NODE: (u32, u32) = (20, 19);

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where it builds"));
    let root = here.join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to")).join("web");
    watch(&root);
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(&out).expect("cargo's own folder can be written");
    let missing = build(&root.join("web"), &out).err().unwrap_or_default();
    if !missing.is_empty() {
        println!("cargo:warning=the viewer is not built in: {}", missing.lines().next().unwrap_or_default());
        // A path that never exists: look again next time, Node may have been installed.
        println!("cargo:rerun-if-changed=no-node");
        for file in ["folder.js", "folder.css", "page.js", "page.css", "puzzle.js", "puzzle.css", "editor.js"]
        {
            fs::write(out.join(file), "").expect("cargo's own folder can be written");
        }
    }
    list_parts(&out);
    fs::write(out.join("missing.txt"), missing).expect("cargo's own folder can be written");
}

/// Lists the sources for cargo.
fn watch(root: &Path) {
    for source in [
        "src",
        "index.html",
        "package.json",
        "package-lock.json",
        "vite.config.ts",
        "vite.editor.config.ts",
        "tsconfig.json",
    ] {
        println!("cargo:rerun-if-changed={}", root.join("web").join(source).display());
    }
    for game in fs::read_dir(root.join("games")).into_iter().flatten().flatten() {
        let viewer = game.path().join("viewer");
        if viewer.is_dir() {
            println!("cargo:rerun-if-changed={}", viewer.display());
        }
    }
    // The environment of scripts, and the script to start from.
    for script in ["crates/agon-bot/src/script/host.js", "games/ostibot/bots/javascript/bot.js"] {
        println!("cargo:rerun-if-changed={}", root.join(script).display());
    }
    // A new game is a new line there.
    println!("cargo:rerun-if-changed={}", root.join("crates/agon-games/src/lib.rs").display());
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=AGON_WITHOUT_WEB");
}

/// Lists the parts of the app for `app.rs`: their names come from vite.
fn list_parts(out: &Path) {
    let parts = fs::read_dir(out.join("parts")).into_iter().flatten().flatten();
    let mut names: Vec<String> = parts.map(|part| part.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let lines = names.iter().map(|name| {
        format!(
            "    Asset::new({name:?}, include_str!(concat!(env!(\"OUT_DIR\"), \"/web/parts/{name}\"))),\n"
        )
    });
    let list = format!("static PARTS: [Asset; {}] = [\n{}];\n", names.len(), lines.collect::<String>());
    fs::write(out.join("parts.rs"), list).expect("cargo's own folder can be written");
}

/// Builds the app into `out`; the error is a sentence when that is not possible here.
fn build(web: &Path, out: &Path) -> Result<(), String> {
    if env::var_os("AGON_WITHOUT_WEB").is_some() {
        return Err("it was built with AGON_WITHOUT_WEB set.".to_owned());
    }
    let version = run(web, "node", &["--version"])
        .map_err(|_| "Node was not found when it was built; install Node 20.19 or later and build again.")?;
    let mut numbers = version.trim().trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if found < NODE {
        return Err(format!(
            "Node {} is too old; install Node 20.19 or later and build again.",
            version.trim()
        ));
    }
    // npm keeps a copy of the lock file it has installed; that copy is written last.
    let wanted = fs::read(web.join("package-lock.json")).unwrap_or_default();
    let stamp = web.join("node_modules/.agon-lock");
    if fs::read(&stamp).ok() != Some(wanted.clone()) {
        run(web, "npm", &["ci", "--no-audit", "--no-fund", "--loglevel=error"])
            .map_err(|error| format!("`npm ci` failed when it was built: {error}"))?;
        let _ = fs::write(&stamp, &wanted);
    }
    let out = out.display().to_string();
    // Sources that do not build are a mistake in them, not a missing tool.
    let vite = "node_modules/vite/bin/vite.js";
    // The app in four forms (`vite.config.ts` says why). The editor is a script of its own, loaded when somebody wants to
    // write a script.
    for more in [
        &[][..],
        &["--mode", "folder"],
        &["--mode", "page"],
        &["--mode", "puzzle"],
        &["--config", "vite.editor.config.ts"],
    ] {
        let arguments = [&[vite, "build", "--outDir", &out, "--logLevel", "error"], more].concat();
        run(web, "node", &arguments).unwrap_or_else(|error| panic!("`vite build` failed:\n{error}"));
    }
    Ok(())
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let done = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    match done.status.success() {
        true => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}
