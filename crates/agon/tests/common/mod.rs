//! Shared by the tests of the command line.
#![allow(dead_code, reason = "no file of tests needs all of it")]

use std::path::Path;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Runs agon in `folder`.
pub fn agon(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("agon starts")
}

/// The output of a program that must have succeeded.
#[track_caller]
pub fn good(output: Output) -> Output {
    assert!(output.status.success(), "{}{}", out(&output), err(&output));
    output
}

/// What a program printed, which is JSON and nothing else.
#[track_caller]
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", out(output), err(output)))
}

/// The last of the events that a program printed, one a line.
#[track_caller]
pub fn last_event(output: &Output) -> Value {
    let text = out(output);
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {text}{}", err(output)))
}

/// Whether a program is installed; if not, says that a test is skipped.
pub fn is_installed(program: &str) -> bool {
    let there = agon_bot::tools::is_installed(program);
    if !there {
        println!("SKIPPED: {program} is not installed");
    }
    there
}

/// A number that a long run sets.
pub fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

/// Writes a file, and makes its folders.
pub fn write(folder: impl AsRef<Path>, name: &str, text: &str) {
    let file = folder.as_ref().join(name);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
    std::fs::write(file, text).expect("a file is written");
}

/// The same, and it can be run.
pub fn write_program(folder: impl AsRef<Path>, name: &str, text: &str) {
    write(&folder, name, text);
    mode(&folder.as_ref().join(name), 0o755);
}

/// A bot for Cultist Wars that always waits, as a folder.
pub fn waiter(folder: &Path, name: &str) {
    write(folder, &format!("{name}/run.sh"), WAITER);
    write(folder, &format!("{name}/agon.toml"), "run = \"sh run.sh\"\n");
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// A folder that is not in `/tmp`, wherever the project lies: a sandbox has its own in that place.
pub fn folder_not_in_tmp() -> TempDir {
    tempfile::tempdir_in("/var/tmp").expect("a temporary folder")
}

pub fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A command that runs agon in `folder`.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").stdin(std::process::Stdio::null());
    command
}

/// A process that is killed when the test ends, however it ends.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    pub fn is_alive(&mut self) -> bool {
        self.0.try_wait().expect("a child of ours").is_none()
    }

    /// Tells it to end, and waits until it has in good order.
    #[track_caller]
    pub fn ends(&mut self) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
        let status = self.0.wait().expect("it ends");
        assert!(status.success(), "it ends in good order: {status}");
    }
}

/// A bot for Cultist Wars that always waits, in a shell.
pub const WAITER: &str = "#!/bin/sh
i=0; while [ $i -lt 9 ]; do read -r line; i=$((i+1)); done
while read -r n; do
    while [ $n -gt 0 ]; do read -r line; n=$((n-1)); done
    echo WAIT
done
";

/// The first seat in the result of `agon play --json`; asserts that its bot made no fault.
pub fn played_well(played: &Output, bot: &str) -> Value {
    let said = err(played);
    assert!(played.status.success(), "{bot}: {said}");
    let mut result = json(played);
    let seat = result["seats"][0].take();
    assert_eq!(seat["faults"].as_array().map(Vec::len), Some(0), "{bot}: {seat:#}{said}");
    seat
}

/// Sets the permissions of a file.
pub fn mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("our own file");
}

/// The address of the site printed by an `agon serve` whose output is piped. The output is drained, so that the server
/// never blocks on it.
pub fn site_of(serve: &mut std::process::Child, patience: Duration) -> String {
    address_after("Its site: ", serve, patience)
}

/// The same after other words.
pub fn address_after(words: &'static str, serve: &mut std::process::Child, patience: Duration) -> String {
    use std::io::BufRead as _;
    let lines = std::io::BufReader::new(serve.stdout.take().expect("piped"));
    let (found, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in lines.lines().map_while(Result::ok) {
            if let Some(url) = line.strip_prefix(words) {
                let _ = found.send(url.to_owned());
            }
        }
    });
    told.recv_timeout(patience).expect("it says where its site is")
}

/// Waits until this holds, for two minutes at most: a loaded machine is slow, and what never happens fails.
pub fn wait_until(what: &str, holds: impl FnMut() -> bool) {
    wait(Duration::from_secs(120), what, holds);
}

/// The same for at most this long.
pub fn wait(most: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + most;
    while !holds() {
        assert!(Instant::now() < end, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits for what needs a runtime.
pub fn block_on<T>(what: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a thread").block_on(what)
}

/// A token of a new account at a contest that anybody may sign up for, made as a browser would.
pub fn token_of(url: &str, name: &str) -> String {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().max_redirects(0).http_status_as_error(false).build().new_agent();
    let post = |path: &str, cookie: &str, body: &str| {
        let request = agent.post(format!("{url}{path}")).header("Origin", url);
        let request = request.header("Cookie", cookie);
        request.content_type("application/x-www-form-urlencoded").send(body).expect("an answer")
    };
    let signed = post("/sign-up", "", &format!("name={name}&password=correct-horse-battery-{name}"));
    let cookie = signed.headers()["set-cookie"].to_str().expect("a cookie");
    let cookie = cookie.split(';').next().expect("a pair").to_owned();
    let session = cookie.split_once('=').expect("a pair").1;
    let form = agon_site::secrets::form_token(session);
    let mut made = post("/account/tokens", &cookie, &format!("form={form}&name=test"));
    let page = made.body_mut().read_to_string().expect("a page");
    let (_, rest) = page.split_once("<code class=\"secret\">").unwrap_or_else(|| panic!("{page}"));
    rest.split('<').next().expect("a token").to_owned()
}

/// A network namespace that ends with the test, joined to ours by a cable: our end is `10.231.N.1`, the other `10.231.N.2`. Needs root.
pub struct Space {
    pub name: String,
    pub ours: String,
    pub theirs: String,
}

impl Space {
    pub fn new(n: usize) -> Self {
        let (name, cable) = (format!("agon-test-{n}-{}", std::process::id()), format!("agt{n}"));
        let space = Self { ours: format!("10.231.{n}.1"), theirs: format!("10.231.{n}.2"), name };
        let (name, far) = (space.name.as_str(), format!("agt{n}far"));
        // One that a killed test has left.
        let _ = Command::new("ip").args(["link", "del", &cable]).stderr(std::process::Stdio::null()).status();
        ip(&["netns", "add", name]);
        ip(&["link", "add", &cable, "type", "veth", "peer", "name", &far, "netns", name]);
        ip(&["addr", "add", &format!("{}/24", space.ours), "dev", &cable]);
        ip(&["link", "set", &cable, "up"]);
        ip(&["-n", name, "addr", "add", &format!("{}/24", space.theirs), "dev", &far]);
        ip(&["-n", name, "link", "set", &far, "up"]);
        ip(&["-n", name, "link", "set", "lo", "up"]);
        space
    }

    /// Lets it reach another address of this machine.
    pub fn reach(&self, address: &str) {
        ip(&["-n", &self.name, "route", "add", address, "via", &self.ours]);
    }

    /// A program that will run in it.
    pub fn command(&self, folder: &Path, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name, program]).args(arguments).current_dir(folder);
        command
    }

    /// Whether such namespaces can be made here; if not, says that a test is skipped.
    pub fn can_be() -> bool {
        let try_one =
            || Command::new("unshare").args(["--net", "true"]).status().is_ok_and(|done| done.success());
        let can = is_installed("ip") && rustix::process::geteuid().is_root() && try_one();
        if !can {
            println!("SKIPPED: no network namespace can be made here (root, iproute2)");
        }
        can
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.name]).status();
    }
}

fn ip(arguments: &[&str]) {
    assert!(Command::new("ip").args(arguments).status().expect("iproute2").success(), "{arguments:?}");
}
