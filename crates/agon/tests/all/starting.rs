//! What `agon serve` and `agon work` say and do when they start.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::common::{Running, command, err, folder, mode, site_of, write};

/// A contest that nobody plays here, founded and ended again.
fn found(folder: &Path) {
    let mut serve = command(folder, &["serve", "cup", "--new", "cultist-wars", "-j", "0", "--port", "0"]);
    let mut serve = Running(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts"));
    site_of(&mut serve.0, Duration::from_secs(60));
}

#[test]
fn a_missing_key_of_a_bucket_is_named_before_anything_is_written_or_moved() {
    let folder = folder();
    let place = folder.path();
    // Nobody listens at port 9: a request anywhere would say so.
    let bucket = "s3://cup/autumn?endpoint=http://127.0.0.1:9&region=x";
    let plain = |words: &[&str]| {
        let mut command = command(place, words);
        for key in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_METADATA_ENDPOINT"] {
            command.env_remove(key);
        }
        command.output().expect("agon starts")
    };
    let new =
        plain(&["serve", "cup", "--new", "cultist-wars", "-j", "0", "--port", "0", "--objects", bucket]);
    assert_eq!(new.status.code(), Some(2), "{}", err(&new));
    assert!(err(&new).contains("there is no key for this bucket"), "{}", err(&new));
    assert!(!place.join("cup").exists(), "nothing was written");
    found(place);
    write(place, "cup/objects.key", "AWS_ACCESS_KEY_ID=key\n");
    mode(&place.join("cup/objects.key"), 0o600);
    let half = plain(&["serve", "move", "cup", "--objects", bucket]);
    assert_eq!(half.status.code(), Some(2), "{}", err(&half));
    assert!(err(&half).contains("AWS_SECRET_ACCESS_KEY is missing"), "{}", err(&half));
    write(place, "cup/objects.key", "");
    write(place, "cup/objects.url", bucket);
    for words in [
        &["serve", "cup", "-j", "0", "--port", "0"][..],
        &["serve", "move", "cup", "--to", "postgres://127.0.0.1:9/cup"],
        &["serve", "fsck", "cup"],
        &["serve", "backup", "cup", "cup.backup"],
    ] {
        let refused = plain(words);
        assert_eq!(refused.status.code(), Some(2), "{words:?}: {}", err(&refused));
        assert!(err(&refused).contains("there is no key for this bucket"), "{words:?}: {}", err(&refused));
        assert!(err(&refused).contains("cup/objects.key"), "{words:?}: {}", err(&refused));
    }
    assert!(place.join("cup/agon.db").exists() && !place.join("cup/agon.db.moved").exists());
}
