//! `cargo xtask dist --image`: the program as an image for containers (an archive in the layout of the Open Container Initiative),
//! written without a daemon; and `cargo xtask long image`, which runs it. `docs/container.md` describes both.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::dist::{self, Built, Form, hex};
use crate::licences;

/// Who runs the program inside. Outside, a contest's folder belongs to this number.
const USER: u64 = 10001;
const PASSWD: &str = "root:x:0:0:root:/:/sbin/nologin\nagon:x:10001:10001:agon:/home/agon:/sbin/nologin\n";
const GROUP: &str = "root:x:0:\nagon:x:10001:\n";
/// What a container does if it is told nothing: continue the contest in its volume.
const USUAL: &[&str] = &["serve", "/contest", "--tls-self-signed", "--port", "8443"];
/// All of the image's files are of this time.
const THEN: &str = "1970-01-01T00:00:00Z";

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// Packs one image for all these kinds of machine: the same programs give the same bytes.
pub fn make(root: &Path, all: &[Built], folder: &Path) -> Result<PathBuf> {
    let version = &all.first().context("a program")?.version;
    let path = folder.join(format!("agon-{version}.oci.tar"));
    let file = File::create(&path).with_context(|| format!("creating {}", path.display()))?;
    let mut archive = Archive { tar: tar::Builder::new(file) };
    archive.file("oci-layout", 0o644, 0, br#"{"imageLayoutVersion":"1.0.0"}"#)?;
    let mut manifests = Vec::new();
    for Built { way, program, licences, .. } in all {
        manifests.push(image(root, &mut archive, way.machine(), &fs::read(program)?, licences, version)?);
    }
    let list = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": manifests });
    let mut list = archive.blob(INDEX, list.to_string().as_bytes())?;
    // The only entry of the outer list, so that whoever loads it need not choose.
    list["annotations"] = json!({ "org.opencontainers.image.ref.name": format!("agon:{version}") });
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [list] });
    archive.file("index.json", 0o644, 0, index.to_string().as_bytes())?;
    archive.tar.into_inner()?.flush()?;
    Ok(path)
}

/// Adds the image for one kind of machine; returns what the list says of it.
fn image(
    root: &Path,
    archive: &mut Archive<impl std::io::Write>,
    machine: &str,
    program: &[u8],
    others: &str,
    version: &str,
) -> Result<Value> {
    let tar = layer(root, program, others)?;
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&tar)?;
    let layer = archive.blob(LAYER, &packed.finish()?)?;
    // As Go calls them, in which containers are written.
    let architecture = if machine == "aarch64" { "arm64" } else { "amd64" };
    let config = json!({
        "created": THEN,
        "architecture": architecture,
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": ["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/agon"],
            "Entrypoint": ["/usr/local/bin/agon"],
            "Cmd": USUAL,
            "WorkingDir": "/contest",
            "Volumes": { "/contest": {} },
            "ExposedPorts": { "8443/tcp": {} },
            "Labels": {
                "org.opencontainers.image.title": "agon",
                "org.opencontainers.image.description": "Bot-programming contests",
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": { "type": "layers", "diff_ids": [digest(&tar)] },
        "history": [{ "created": THEN, "created_by": "cargo xtask dist --image" }],
    });
    let config = archive.blob(CONFIG, config.to_string().as_bytes())?;
    let manifest = json!({ "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer] });
    let mut entry = archive.blob(MANIFEST, manifest.to_string().as_bytes())?;
    entry["platform"] = json!({ "architecture": architecture, "os": "linux" });
    Ok(entry)
}

/// The files of a container.
fn layer(root: &Path, program: &[u8], others: &str) -> Result<Vec<u8>> {
    let mut files = Archive { tar: tar::Builder::new(Vec::new()) };
    for folder in [
        "etc",
        "home",
        "usr",
        "usr/local",
        "usr/local/bin",
        "usr/share",
        "usr/share/doc",
        "usr/share/doc/agon",
    ] {
        files.folder(folder, 0o755, 0)?;
    }
    files.folder("tmp", 0o1777, 0)?;
    for own in ["contest", "home/agon"] {
        files.folder(own, 0o700, USER)?;
    }
    files.file("etc/passwd", 0o644, 0, PASSWD.as_bytes())?;
    files.file("etc/group", 0o644, 0, GROUP.as_bytes())?;
    files.file("usr/local/bin/agon", 0o755, 0, program)?;
    for name in licences::OWN {
        let text = fs::read(root.join(name)).with_context(|| (*name).to_owned())?;
        files.file(&format!("usr/share/doc/agon/{name}"), 0o644, 0, &text)?;
    }
    files.file("usr/share/doc/agon/THIRD-PARTY.txt", 0o644, 0, others.as_bytes())?;
    Ok(files.tar.into_inner()?)
}

/// A tar in which nothing depends on when and where it is made.
struct Archive<W: std::io::Write> {
    tar: tar::Builder<W>,
}

impl<W: std::io::Write> Archive<W> {
    fn file(&mut self, path: &str, mode: u32, owner: u64, bytes: &[u8]) -> Result<()> {
        self.add(path, mode, owner, tar::EntryType::Regular, bytes)
    }

    fn folder(&mut self, path: &str, mode: u32, owner: u64) -> Result<()> {
        self.add(&format!("{path}/"), mode, owner, tar::EntryType::Directory, b"")
    }

    fn add(&mut self, path: &str, mode: u32, owner: u64, kind: tar::EntryType, bytes: &[u8]) -> Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(bytes.len() as u64);
        header.set_mode(mode);
        header.set_uid(owner);
        header.set_gid(owner);
        header.set_mtime(0);
        header.set_cksum();
        Ok(self.tar.append_data(&mut header, path, bytes)?)
    }

    /// Adds bytes by their hash; returns how others refer to them.
    fn blob(&mut self, kind: &str, bytes: &[u8]) -> Result<Value> {
        let digest = digest(bytes);
        self.file(&format!("blobs/{}", digest.replace(':', "/")), 0o644, 0, bytes)?;
        Ok(json!({ "mediaType": kind, "digest": digest, "size": bytes.len() }))
    }
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

/// Options that leave room for the sandbox, and what they are for.
const CALLS: [&str; 2] = ["--security-opt=seccomp=unconfined", "--security-opt=apparmor=unconfined"];
const PLACES: [&str; 2] = ["--security-opt=unmask=ALL", "--cgroupns=private"];

/// The commands that install what the proof needs.
pub fn missing() -> Vec<String> {
    let has =
        podman_words().first().is_some_and(|podman| Command::new(podman).arg("--version").output().is_ok());
    if has { Vec::new() } else { vec!["apt-get install podman".to_owned()] }
}

/// `AGON_PODMAN`, for machines that need options of their own: `podman --runtime=runc`.
fn podman_words() -> Vec<String> {
    let words = std::env::var("AGON_PODMAN").unwrap_or_else(|_| "podman".to_owned());
    words.split_whitespace().map(str::to_owned).collect()
}

/// podman, with images and volumes in a folder that goes with this.
struct Podman {
    place: tempfile::TempDir,
    image: String,
}

impl Podman {
    fn load(archive: &Path) -> Result<Self> {
        let mut podman = Self { place: tempfile::tempdir()?, image: String::new() };
        let loaded = dist::said(podman.command("load").arg("--input").arg(archive))?;
        let name = loaded.lines().find_map(|line| line.trim().strip_prefix("Loaded image: "));
        podman.image = name.with_context(|| format!("podman names no image: {loaded}"))?.to_owned();
        Ok(podman)
    }

    fn command(&self, what: &str) -> Command {
        let words = podman_words();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg("--storage-driver=vfs");
        command.arg("--root").arg(self.place.path().join("root"));
        command.arg("--runroot").arg(self.place.path().join("run")).arg(what);
        command
    }

    /// Prepares a container, with limits within those of this process: podman would ask for more than some machines give.
    fn container(&self, what: &str, options: &[&str], arguments: &[&str]) -> Command {
        let mut command = self.command(what);
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        for (name, title) in [("nofile", "Max open files"), ("nproc", "Max processes")] {
            let line = limits.lines().find_map(|line| line.strip_prefix(title));
            // Soft, hard, unit.
            if let Some(hard) = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()) {
                command.arg(format!("--ulimit={name}={0}:{0}", hard.min(10_000)));
            }
        }
        command.arg("--network=none").args(options).arg(&self.image).args(arguments);
        command
    }

    fn run(&self, options: &[&str], arguments: &[&str]) -> Result<Output> {
        let mut command = self.container("run", options, arguments);
        command.output().with_context(|| format!("running {command:?}"))
    }

    /// The level of the sandbox inside.
    fn level(&self, options: &[&str]) -> Result<String> {
        level_of(&self.run(&[&["--rm"], options].concat(), &["doctor", "--json"])?)
    }

    /// The same where the machine's cgroups are of version 1: those of the container are made beforehand and given to its user.
    fn level_with_groups(&self, options: &[&str]) -> Result<String> {
        let groups = Path::new("/sys/fs/cgroup");
        let options = [options, &["--cgroupns=host", "-v=/sys/fs/cgroup:/sys/fs/cgroup:rw"]].concat();
        let created = dist::said(&mut self.container("create", &options, &["doctor", "--json"]))?;
        let id = created.trim();
        for controller in ["memory", "pids", "cpu", "cpuacct", "freezer"] {
            let group = groups.join(controller).join("libpod_parent").join(format!("libpod-{id}"));
            fs::create_dir_all(&group)?;
            for file in fs::read_dir(&group)?.flatten().map(|entry| entry.path()).chain([group.clone()]) {
                chown(file, Some(USER as u32), Some(USER as u32))?;
            }
        }
        let level = self.command("start").args(["--attach", id]).output().map_err(Into::into);
        let level = level.and_then(|output| level_of(&output));
        dist::said(self.command("rm").arg("--force").arg(id))?;
        level
    }
}

/// What `agon doctor --json` says of the sandbox.
fn level_of(output: &Output) -> Result<String> {
    let told: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let findings = told["findings"].as_array().context("findings")?.iter();
    let mut seen = findings.filter_map(|finding| finding["seen"].as_str()?.strip_prefix("level "));
    Ok(seen.next().context("the doctor names no level")?[..1].to_owned())
}

/// `cargo xtask long image`: what the image does in a container, and how well it contains bots there.
///
/// # Errors
/// When the image cannot be made or loaded.
pub fn prove(root: &Path) -> Result<bool> {
    let host = crate::host()?;
    let made = dist::run(root, host.split('-').next(), Form::Image)?;
    let podman = Podman::load(made.first().context("an image")?)?;
    let mut good = true;
    let mut held = |what: &str, holds: bool| {
        println!("{} {what}", if holds { "held:  " } else { "FAILED:" });
        good &= holds;
    };
    let rm = ["--rm", "--read-only"];
    let played = podman.run(
        &rm,
        &["play", "cultist-wars", "builtin:greedy", "builtin:random", "--seed", "7", "--no-replay"],
    )?;
    let text = text_of(&played);
    held("it plays, with its own files read-only", text.contains("player 2 has no unit left"));

    let all = [CALLS, PLACES].concat();
    let version_2 = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
    let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    for (options, expected) in [(&[][..], "C"), (&CALLS, "C"), (&all, if version_2 { "A" } else { "B" })] {
        let level = podman.level(options)?;
        held(
            &format!(
                "level {level} with {}",
                if options.is_empty() { "no option".into() } else { options.join(" ") }
            ),
            level == expected,
        );
    }
    if !version_2 && is_root {
        let level = podman.level_with_groups(&[&CALLS[..], &PLACES[..1]].concat())?;
        held(&format!("level {level} with groups of its own (cgroups of version 1)"), level == "A");
    }

    // A contest in a volume, which belongs to the user of the image.
    let served = |volume: &str, options: &[&str], arguments: &[&str]| {
        let volume = format!("--volume={volume}:/contest");
        let output = podman.run(
            &[&["--rm", &volume], options].concat(),
            &[&["serve", "/contest", "--no-site"], arguments].concat(),
        )?;
        Ok::<_, anyhow::Error>((output.status.code(), text_of(&output)))
    };
    let words = [
        "level C",
        "podman run",
        "cgroupns=private",
        "seccomp=unconfined",
        "apparmor=unconfined",
        "unmask=ALL",
    ];
    let says = |text: &str| words.iter().all(|words| text.contains(words));
    let (code, text) = served("strangers", &[], &["--new", "cultist-wars", "--matches", "1"])?;
    held("without options strangers' bots are refused, with the line to add", code == Some(3) && says(&text));
    let (code, text) = served("cup", &all, &["--new", "cultist-wars", "--level", "B", "--matches", "2"])?;
    held("with them the contest plays", code == Some(0));
    if code != Some(0) {
        println!("{text}");
    }
    let (code, text) = served("cup", &[], &["--matches", "4"])?;
    held(
        "the contest that began so refuses to go on without them",
        code == Some(3) && says(&text) && text.contains("at level B or better"),
    );
    Ok(good)
}

/// All that it printed, without the breaks of lines.
fn text_of(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
    both.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read as _;

    use super::*;

    fn archive() -> (Value, Vec<u8>) {
        let mut archive = Archive { tar: tar::Builder::new(Vec::new()) };
        let entry =
            image(&crate::root(), &mut archive, "aarch64", b"ELF", "others", "1.2.3").expect("an image");
        (entry, archive.tar.into_inner().expect("a tar"))
    }

    /// The files of a tar, with their modes and owners.
    fn files(tar: &[u8]) -> BTreeMap<String, (u32, u64, Vec<u8>)> {
        let mut archive = tar::Archive::new(tar);
        let read = |entry: std::io::Result<tar::Entry<'_, &[u8]>>| {
            let mut entry = entry.expect("an entry");
            let (path, header) =
                (entry.path().expect("a path").display().to_string(), entry.header().clone());
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("a file");
            (path, (header.mode().expect("a mode"), header.uid().expect("an owner"), bytes))
        };
        archive.entries().expect("a tar").map(read).collect()
    }

    #[test]
    fn an_image_is_whole_and_always_the_same() {
        let (entry, tar) = archive();
        assert_eq!((&entry, &tar), (&archive().0, &archive().1));
        assert_eq!(entry["platform"]["architecture"], "arm64");
        let blobs = files(&tar);
        let blob = |of: &Value| {
            let name = of["digest"].as_str().expect("a digest");
            let bytes = &blobs[&format!("blobs/{}", name.replace(':', "/"))].2;
            assert_eq!((name, of["size"].as_u64()), (digest(bytes).as_str(), Some(bytes.len() as u64)));
            bytes.clone()
        };
        let manifest: Value = serde_json::from_slice(&blob(&entry)).expect("a manifest");
        let config: Value = serde_json::from_slice(&blob(&manifest["config"])).expect("a description");
        let mut layer = Vec::new();
        let packed = blob(&manifest["layers"][0]);
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut layer).expect("a layer");
        assert_eq!(config["rootfs"]["diff_ids"][0], digest(&layer));
        assert_eq!(config["config"]["User"], "10001:10001");

        let files = files(&layer);
        assert_eq!(files["usr/local/bin/agon"], (0o755, 0, b"ELF".to_vec()));
        let own: Vec<&String> =
            files.iter().filter(|(_, (_, owner, _))| *owner != 0).map(|(path, _)| path).collect();
        assert_eq!(own, ["contest/", "home/agon/"]);
        let open: Vec<&String> =
            files.iter().filter(|(_, (mode, ..))| mode & 0o022 != 0).map(|(path, _)| path).collect();
        assert_eq!(open, ["tmp/"], "others may write nowhere else");
    }
}
