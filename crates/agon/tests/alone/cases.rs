//! Small inputs that once failed, kept outside of the project: each is a script that prints OK, or what is wrong.

use std::path::Path;
use std::process::Command;

#[test]
fn every_case_that_once_failed_is_well() {
    let Some(folder) = agon_testkit::golden::cases() else { return };
    let mut scripts: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path().join("run.sh"))
        .filter(|script| script.is_file())
        .collect();
    scripts.sort();
    assert!(!scripts.is_empty(), "no case in {}", folder.display());

    // The compiler of TypeScript that the web app is checked with.
    let own_tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/node_modules/.bin");
    let path = format!("{}:{}", std::env::var("PATH").unwrap_or_default(), own_tools.display());
    let mut wrong = Vec::new();
    for script in &scripts {
        let home = tempfile::tempdir().expect("a home");
        let output = Command::new("timeout")
            .arg("300")
            .arg("bash")
            .arg(script)
            .env("AGON", env!("CARGO_BIN_EXE_agon"))
            .env("PATH", &path)
            .env("XDG_DATA_HOME", home.path())
            .env("PIDNS", "1")
            .env("NO_COLOR", "1")
            .output()
            .expect("bash");
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let name = script.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        if said.starts_with("SKIPPED") {
            println!("{name}: {said}");
        } else if said != "OK" {
            wrong.push(format!("{name}: {said}{}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), scripts.len(), wrong.join("\n"));
}
