//! Servers behind proxies, on the same machine and on another one: the lines of the guides, as they stand there.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{
    Running, Space, agon, command, err, folder, is_installed, site_of, token_of, wait_until, write,
};
use crate::many::database::Postgres;
use crate::many::port;

const SCALING: &str = include_str!("../../../../docs/scaling.md");
const CONTEST: &str = include_str!("../../../../docs/contest.md");

/// A block of a guide that begins with these words.
fn lines_of(guide: &str, begin: &str) -> String {
    let from = guide.find(&format!("```text\n{begin}")).expect("the guide has it") + "```text\n".len();
    let to = guide[from..].find("```").expect("it ends") + from;
    guide[from..to].to_owned()
}

/// The file of a proxy with the names of this test: everything else is the guide's.
pub struct Proxy {
    pub program: &'static str,
    guide: &'static str,
    begin: &'static str,
    /// What takes the place of names, certificates and ports that only a real machine has.
    instead: &'static [(&'static str, &'static str)],
    arguments: &'static [&'static str],
}

const CADDY: &str = "{\n admin off\n auto_https off\n}\nhttp://127.0.0.1:PORT {";
const RUN_CADDY: &[&str] = &["run", "--adapter", "caddyfile", "--config", "proxy.conf"];

/// What stands around the lines of a guide in nginx's own file.
const NGINX: &str = "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log nginx.log;\nevents {}\nhttp {\naccess_log off;\n\
                     client_body_temp_path bodies;\nproxy_temp_path answers;\nfastcgi_temp_path f;\nuwsgi_temp_path u;\nscgi_temp_path s;";
const RUN_NGINX: &[&str] = &["-c", "proxy.conf", "-p", "."];

/// In front of a server on the same machine.
const ALONE: [Proxy; 2] = [
    Proxy {
        program: "caddy",
        guide: CONTEST,
        begin: "cup.example {",
        instead: &[("cup.example {", CADDY)],
        arguments: RUN_CADDY,
    },
    Proxy {
        program: "nginx",
        guide: CONTEST,
        begin: "location / {",
        instead: &[
            ("location / {", "NGINX\nserver {\nlisten 127.0.0.1:PORT;\nlocation / {"),
            ("client_max_body_size 21m;\n}\n", "client_max_body_size 21m;\n}\n}\n}\n"),
        ],
        arguments: RUN_NGINX,
    },
];

pub const PROXIES: [Proxy; 3] = [
    Proxy {
        program: "caddy",
        guide: SCALING,
        begin: "cup.example {",
        instead: &[("cup.example {", CADDY)],
        arguments: RUN_CADDY,
    },
    Proxy {
        program: "nginx",
        guide: SCALING,
        begin: "upstream cup {",
        instead: &[
            ("upstream cup {", "NGINX\nupstream cup {"),
            ("listen 443 ssl;", "listen 127.0.0.1:PORT;"),
            ("    ssl_certificate /etc/ssl/cup.pem;\n    ssl_certificate_key /etc/ssl/cup.key;\n", ""),
            ("client_max_body_size 21m;\n    }\n}\n", "client_max_body_size 21m;\n    }\n}\n}\n"),
        ],
        arguments: RUN_NGINX,
    },
    Proxy {
        program: "haproxy",
        guide: SCALING,
        begin: "defaults",
        instead: &[
            ("bind :443 ssl crt /etc/ssl/cup.both.pem", "bind 127.0.0.1:PORT"),
            // So that it has found out, while the test looks, how both are.
            ("check inter 2s", "check inter 100ms"),
            ("check inter 2s", "check inter 100ms"),
        ],
        arguments: &["-db", "-f", "proxy.conf"],
    },
];

impl Proxy {
    /// At this port, for servers that have these addresses in place of the guide's.
    pub fn start(&self, place: &Path, port: u16, servers: &[(&str, String)]) -> Running {
        let mut text = lines_of(self.guide, self.begin);
        for (name, address) in servers {
            assert!(text.contains(name), "{text}");
            text = text.replace(name, address);
        }
        for (what, with) in self.instead {
            assert!(text.contains(what), "{}: {what}", self.program);
            let with = with.replace("NGINX", NGINX).replace("PORT", &port.to_string());
            text = text.replacen(what, &with, 1);
        }
        std::fs::write(place.join("proxy.conf"), text).expect("written");
        let log = File::create(place.join(format!("{}.log", self.program))).expect("a file");
        let mut program = Command::new(self.program);
        program
            .args(self.arguments)
            .current_dir(place)
            .env("HOME", place)
            .env("XDG_CONFIG_HOME", place)
            .env("XDG_DATA_HOME", place);
        program.stdin(Stdio::null()).stdout(log.try_clone().expect("a file")).stderr(log);
        Running(program.spawn().expect("it starts"))
    }
}

/// The two servers of the guide to many machines, in these spaces.
pub fn servers(spaces: &[Space; 2]) -> [(&'static str, String); 2] {
    [("first:8080", &spaces[0]), ("second:8080", &spaces[1])]
        .map(|(name, space)| (name, format!("{}:8080", space.theirs)))
}

/// A server in a namespace, started as the guide says.
pub fn serve(place: &Path, name: &str, space: &Space, url: &str) -> Running {
    let words =
        ["serve", name, "-j", "0", "--behind-proxy", url, "--bind", "0.0.0.0", "--proxy", &space.ours];
    let log = File::create(place.join(format!("{name}.log"))).expect("a file");
    let mut serve = space.command(place, env!("CARGO_BIN_EXE_agon"), &words);
    serve.env("NO_COLOR", "1").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    let mut running = Running(serve.spawn().expect("agon starts"));
    site_of(&mut running.0, Duration::from_secs(60));
    running
}

fn status(url: &str) -> u16 {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(20)))
        .build()
        .new_agent();
    agent.get(url).call().map_or(0, |answer| answer.status().as_u16())
}

/// The server itself: `ip netns exec` becomes it.
fn kill(running: &mut Running) {
    let child: &mut Child = &mut running.0;
    child.kill().and_then(|()| child.wait()).expect("a child of ours");
}

#[test]
fn servers_on_other_machines_are_reached_through_the_proxies_of_the_guide_and_by_nobody_else() {
    if !Space::can_be() {
        return;
    }
    let Some(postgres) = Postgres::start() else { return };
    let (place, spaces, port) = (folder(), [Space::new(11), Space::new(12)], port());
    let place = place.path();
    let url = format!("http://127.0.0.1:{port}");
    for name in ["one", "two"] {
        let text = "game = 'cultist-wars'\n[site]\nsign_up = 'open'\n[sandbox]\ntrust_bots = true\n";
        std::fs::create_dir(place.join(name))
            .and_then(|()| std::fs::write(place.join(name).join("contest.toml"), text))
            .expect("written");
        agon_store::place_objects(&place.join(name), &place.join("objects").to_string_lossy())
            .expect("written");
    }
    postgres.place(&place.join("one"));
    std::fs::copy(place.join("one/database.url"), place.join("two/database.url")).expect("copied");
    let mut one = serve(place, "one", &spaces[0], &url);
    let _two = serve(place, "two", &spaces[1], &url);

    // Our end of the cable is a proxy, the far end is anybody.
    let ask = format!(
        "exec 3<>/dev/tcp/{}/8080; printf 'GET / HTTP/1.0\\r\\nHost: cup\\r\\n\\r\\n' >&3; cat <&3",
        spaces[0].theirs
    );
    let here = Command::new("bash").args(["-c", &ask]).output().expect("bash");
    assert!(here.stdout.starts_with(b"HTTP/1."), "{here:?}");
    let there = spaces[0].command(place, "bash", &["-c", &ask]).output().expect("bash");
    assert!(there.stdout.is_empty(), "whoever is no proxy is turned away: {there:?}");

    let servers = servers(&spaces);
    for proxy in PROXIES {
        if !is_installed(proxy.program) {
            continue;
        }
        let what = proxy.program;
        let _running = proxy.start(place, port, &servers);
        wait_until(&format!("{what} answers"), || status(&format!("{url}/ladder")) == 200);
        // Accounts, their sessions and forms go through whichever server.
        token_of(&url, &format!("ann {what}"));
        kill(&mut one);
        wait_until(&format!("{what} goes on with the other server"), || {
            (0..10).all(|_| status(&format!("{url}/ladder")) == 200)
        });
        one = serve(place, "one", &spaces[0], &url);
        wait_until(&format!("{what} is as before"), || {
            (0..10).all(|_| status(&format!("{url}/health/ready")) == 200)
        });
    }
}

#[test]
fn a_server_is_reached_through_a_proxy_of_the_guide_on_the_same_machine() {
    let (place, port, own) = (folder(), port(), port());
    let place = place.path();
    let url = format!("http://127.0.0.1:{port}");
    let text = "game = 'cultist-wars'\n[site]\nsign_up = 'open'\n[sandbox]\ntrust_bots = true\n";
    write(place, "cup/contest.toml", text);
    let own = own.to_string();
    let mut serve = command(place, &["serve", "cup", "-j", "0", "--behind-proxy", &url, "--port", &own]);
    let log = File::create(place.join("cup.log")).expect("a file");
    let mut running = Running(serve.stdout(Stdio::piped()).stderr(log).spawn().expect("agon starts"));
    site_of(&mut running.0, Duration::from_secs(60));
    for proxy in ALONE.iter().filter(|proxy| is_installed(proxy.program)) {
        let servers = [("127.0.0.1:8080", format!("127.0.0.1:{own}"))];
        let _running = proxy.start(place, port, &servers);
        let what = proxy.program;
        wait_until(&format!("{what} answers"), || status(&format!("{url}/ladder")) == 200);
        // An account, its session and its forms: the site sees the name and the address that were asked for.
        token_of(&url, &format!("ann {what}"));
    }
}

#[test]
fn where_a_site_listens_is_said_with_who_may_come() {
    let place = folder();
    let place = place.path();
    let text = "game = 'cultist-wars'\n[sandbox]\ntrust_bots = true\n";
    std::fs::create_dir(place.join("cup"))
        .and_then(|()| std::fs::write(place.join("cup/contest.toml"), text))
        .expect("written");
    let refused = |more: &[&str], why: &str| {
        let refused = agon(place, &[&["serve", "cup", "-j", "0", "--port", "0"], more].concat());
        assert!(
            refused.status.code() == Some(2) && err(&refused).contains(why),
            "{more:?}: {}",
            err(&refused)
        );
    };
    refused(&["--bind", "0.0.0.0"], "say who may come there");
    refused(
        &["--bind", "0.0.0.0", "--behind-proxy", "https://cup.example"],
        "name the proxies that may connect",
    );
    refused(
        &["--bind", "0.0.0.0", "--behind-proxy", "https://cup.example", "--proxy", "front"],
        "neither an address nor a network",
    );
    refused(&["--bind", "192.0.2.1", "--lan"], "no network of this machine has this address");
    refused(&["--proxy", "10.0.0.7"], "--behind-proxy");
}
