//! What a newcomer downloads.

use std::io::Read as _;

use crate::common::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn archives_and_starters_are_handed_out_and_nothing_else() {
    let world = World::new().await;
    let mut browser = world.browser();
    let page = browser.get("/get").await;
    // The test's own program needs this machine's libraries.
    assert_eq!((page.status, page.heading().as_str()), (200, "This server has no program to download"));
    assert!(page.text().contains("wsl --install"));
    let dist = world.folder.path().join("dist");
    std::fs::create_dir(&dist).expect("made");
    let archive: Vec<u8> = (0..300_000_u32).map(|number| number as u8).collect();
    let name = "agon-0.1.0-aarch64-unknown-linux-gnu.tar.gz";
    std::fs::write(dist.join(name), &archive).expect("written");
    std::fs::write(dist.join("agon.db"), "no").expect("written");
    let page = browser.get("/get").await;
    assert_eq!(page.heading(), "Agon is one file");
    let text = page.text();
    assert!(
        text.contains("Linux, arm64") && text.contains(&format!("login http://{}", world.address)),
        "{text}"
    );
    assert!(text.contains(&format!("http://{}/get/{name} | tar xz", world.address)), "{text}");
    let file = browser.get(&format!("/get/{name}")).await;
    assert_eq!((file.status, file.header("content-length")), (200, Some("300000")));
    assert!(file.body == archive, "byte for byte");
    for wrong in
        ["agon.db", "agon", "..%2fagon.db", "%2fetc%2fpasswd", "starter-.tar.gz", "starter-cobol.tar.gz"]
    {
        assert_eq!(browser.get(&format!("/get/{wrong}")).await.status, 404, "{wrong}");
    }
    let starter = browser.get("/get/starter-python.tar.gz").await;
    assert_eq!((starter.status, starter.header("content-type")), (200, Some("application/gzip")));
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&starter.body[..]));
    let mut strategy = String::new();
    for entry in archive.entries().expect("an archive") {
        let mut entry = entry.expect("an entry");
        if entry.path().expect("a path").ends_with("bot.py") {
            entry.read_to_string(&mut strategy).expect("text");
        }
    }
    let starters = agon_games::all()[0].info().starters;
    let own = starters.iter().find(|starter| starter.strategy == "bot.py").expect("Python is there");
    let file = own.files.iter().find(|(name, _)| *name == "bot.py").expect("there");
    assert_eq!(strategy, file.1);
}
