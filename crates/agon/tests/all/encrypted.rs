//! A contest that the program encrypts itself: with its own certificate, whose fingerprint people compare.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::common::{Running, command, err, folder, out};

/// A contest that runs until it is dropped.
struct Server {
    child: Child,
    address: String,
    fingerprint: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve(folder: &Path) -> Server {
    let new: &[&str] = if folder.join("cup").exists() { &[] } else { &["--new", "cultist-wars"] };
    let words = [&["serve", "cup", "-j", "0", "--port", "0", "--tls-self-signed"], new].concat();
    let mut serve = command(folder, &words);
    let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts");
    let (mut address, mut fingerprint) = (String::new(), String::new());
    for line in BufReader::new(child.stdout.as_mut().expect("a pipe")).lines() {
        let line = line.expect("text");
        if let Some(found) = line.strip_prefix("Its site: ") {
            address = found.to_owned();
        }
        if line.trim().len() == 95 && line.trim().split(':').all(|two| two.len() == 2) {
            fingerprint = line.trim().to_owned();
            break;
        }
    }
    Server { child, address, fingerprint }
}

fn login(folder: &Path, url: &str, more: &[&str]) -> Output {
    std::fs::write(folder.join("token"), "no-token-of-this-contest").expect("written");
    let mut login = command(folder, &[&["login", url, "--token-file", "token"], more].concat());
    login
        .env("XDG_CONFIG_HOME", folder.join("home"))
        .env_remove("AGON_FINGERPRINT")
        .output()
        .expect("agon starts")
}

#[test]
fn who_knows_the_fingerprint_reaches_the_contest_and_nobody_else() {
    let folder = folder();
    let server = serve(folder.path());
    assert!(server.address.starts_with("https://"), "{}", server.address);
    let port = server.address.rsplit(':').next().expect("a port").to_owned();
    let url = format!("https://127.0.0.1:{port}");
    // It reaches the contest, which says that it does not know the token.
    let known = login(folder.path(), &url, &["--fingerprint", &server.fingerprint]);
    assert!(known.status.code() == Some(2) && err(&known).contains("is not known there"), "{}", err(&known));
    let stranger = login(folder.path(), &url, &[]);
    assert!(
        err(&stranger).contains("cannot be trusted") && err(&stranger).contains("--fingerprint"),
        "{}",
        err(&stranger)
    );
    let first = if server.fingerprint.starts_with('0') { "1" } else { "0" };
    let other = format!("{first}{}", &server.fingerprint[1..]);
    let other = login(folder.path(), &url, &["--fingerprint", &other]);
    assert!(
        other.status.code() == Some(2) && err(&other).contains("shows another certificate"),
        "{}",
        err(&other)
    );
    assert!(err(&other).contains(&server.fingerprint.replace(':', "").to_lowercase()), "{}", err(&other));
    let plain =
        login(folder.path(), &format!("http://127.0.0.1:{port}"), &["--fingerprint", &server.fingerprint]);
    assert!(plain.status.code() == Some(2) && err(&plain).contains("https://"), "{}", err(&plain));
    // A client without encryption is told so.
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("it listens");
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    assert!(text.starts_with("HTTP/1.1 400 ") && text.contains("https://"), "{text}");
    // The certificate stays the same after a restart.
    let before = server.fingerprint.clone();
    drop(server);
    assert_eq!(serve(folder.path()).fingerprint, before);
}

/// `openssl req -x509` makes a certificate that says it is an authority's, with a name that is not the address.
#[test]
fn a_fingerprint_is_enough_for_a_certificate_that_openssl_makes() {
    if !crate::common::is_installed("openssl") {
        return;
    }
    let folder = folder();
    let make = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=cup.example \
                -addext basicConstraints=critical,CA:TRUE";
    let run = |words: &str| {
        let made = Command::new("openssl").args(words.split_whitespace()).current_dir(folder.path()).output();
        let made = made.expect("openssl starts");
        assert!(made.status.success(), "{}", err(&made));
        out(&made)
    };
    run(make);
    let said = run("x509 -in cert.pem -noout -fingerprint -sha256");
    let fingerprint = said.trim().rsplit('=').next().expect("a fingerprint");
    crate::common::mode(&folder.path().join("key.pem"), 0o600);
    let words = ["serve", "cup", "--new", "cultist-wars", "-j", "0", "--port", "0"];
    let words = [&words[..], &["--tls-cert", "cert.pem", "--tls-key", "key.pem"]].concat();
    let mut serve = command(folder.path(), &words);
    let mut serve = Running(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts"));
    let site = crate::common::site_of(&mut serve.0, std::time::Duration::from_secs(60));
    let port = site.rsplit(':').next().expect("a port").trim_end_matches('/');
    let url = format!("https://127.0.0.1:{port}");
    let known = login(folder.path(), &url, &["--fingerprint", fingerprint]);
    assert!(known.status.code() == Some(2) && err(&known).contains("is not known there"), "{}", err(&known));
    let stranger = login(folder.path(), &url, &[]);
    assert!(
        stranger.status.code() == Some(3) && err(&stranger).contains("--fingerprint"),
        "{}",
        err(&stranger)
    );
}

#[test]
fn a_certificate_that_does_not_go_with_its_key_is_refused_before_anything_begins() {
    let folder = folder();
    std::fs::write(folder.path().join("cert.pem"), "no certificate").expect("written");
    let words = ["serve", "cup", "--new", "cultist-wars", "-j", "0", "--port", "0"];
    let refused =
        command(folder.path(), &[&words[..], &["--tls-cert", "cert.pem", "--tls-key", "cert.pem"]].concat());
    let refused = { refused }.output().expect("agon starts");
    let text = format!("{}{}", out(&refused), err(&refused));
    assert!(
        refused.status.code() == Some(2) && text.contains("cert.pem: there is no certificate in it"),
        "{text}"
    );
    let alone =
        command(folder.path(), &["serve", "cup", "--tls-cert", "cert.pem"]).output().expect("agon starts");
    assert!(alone.status.code() == Some(2) && err(&alone).contains("--tls-key"), "{}", err(&alone));
}
