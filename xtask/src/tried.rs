//! `cargo xtask try-out`: the archive in two roots that have next to nothing, as somebody uses it who has nothing but the archive. One is
//! Debian's smallest (with Python, without a compiler), the other has busybox and musl, and no file of glibc's. In each an ordinary user
//! installs, plays, runs a contest, and uninstalls, in namespaces with no network but loopback.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::dist::said;
use crate::release::VERSION;

/// What is done there.
const STEPS: &str = include_str!("tried.sh");
/// A bot for a root without any language: it waits, whatever is asked.
const BOT: &str = "#include <stdio.h>
int main(void) {
    int n, width, height, a, b, c, d, e, f;
    char row[100];
    if (scanf(\"%d %d %d\", &n, &width, &height) != 3) return 1;
    for (int y = 0; y < height; y++) if (scanf(\"%99s\", row) != 1) return 1;
    while (scanf(\"%d\", &n) == 1) {
        while (n-- > 0) if (scanf(\"%d %d %d %d %d %d\", &a, &b, &c, &d, &e, &f) != 6) return 1;
        puts(\"WAIT\");
        fflush(stdout);
    }
    return 0;
}
";
const SETTINGS: &str =
    "run = \"./bot\"\n\n[defaults]\ngame = \"cultist-wars\"\nopponents = [\"builtin:greedy\"]\n";
/// Goes into a root ($1), which sees the folder $2 as /try, and runs the steps there as a user that it knows.
const ENTER: &str = r#"
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mkdir -p try old proc sys dev tmp
chmod 1777 tmp
mount --bind "$2" try
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /dev dev
pivot_root . old
cd /
/try/busybox umount -l /old
/try/busybox ip link set lo up
exec /try/busybox su ana -s /bin/sh -c 'exec sh /try/tried.sh "$@"' -- sh /try/archive.tar.gz /try/bot "$3"
"#;
/// Seconds after which a root that goes on for ever is ended.
const LONGEST: &str = "3000";

/// How a root is made in an empty folder.
type Maker = fn(&Path) -> Result<()>;
/// Each root with its name, and the language that `agon new` makes a bot in there.
const ROOTS: &[(&str, Maker, &str)] = &[("debian", debian, "python"), ("busybox", busybox, "-")];

/// Tries the archive of this machine's kind, or the one that is named.
pub fn run(root: &Path, arguments: &[String]) -> Result<bool> {
    ensure!(
        said(Command::new("id").arg("-u"))?.trim() == "0",
        "roots of their own need root: sudo cargo xtask try-out"
    );
    let target = crate::target(root);
    let archive = match arguments {
        [] => {
            let machine = std::env::consts::ARCH;
            target.join(format!("agon-{VERSION}/agon-{VERSION}-{machine}-linux.tar.gz"))
        }
        [archive] => PathBuf::from(archive),
        _ => bail!("try-out takes an archive"),
    };
    ensure!(archive.is_file(), "{} is not there; `cargo xtask release` makes it", archive.display());
    let place = tempfile::tempdir()?;
    let tools = place.path();
    fs::set_permissions(tools, fs::Permissions::from_mode(0o755))?;
    fs::copy(&archive, tools.join("archive.tar.gz"))?;
    fs::copy("/bin/busybox", tools.join("busybox")).context("busybox: apt-get install busybox-static")?;
    fs::write(tools.join("tried.sh"), STEPS)?;
    let bot = tools.join("bot");
    fs::create_dir(&bot)?;
    fs::write(bot.join("agon.toml"), SETTINGS)?;
    fs::write(tools.join("bot.c"), BOT)?;
    let mut compiler = Command::new("musl-gcc");
    compiler.args(["-O2", "-o"]).args([bot.join("bot"), tools.join("bot.c")]);
    said(&mut compiler).context("apt-get install musl-tools")?;
    let mut good = true;
    for (name, make, language) in ROOTS {
        let folder = target.join("roots").join(name);
        if !folder.join("etc/passwd").exists() {
            fs::create_dir_all(&folder)?;
            make(&folder).with_context(|| format!("making {}", folder.display()))?;
            let user = "root:x:0:0::/root:/bin/sh\nana:x:1000:1000::/home/ana:/bin/sh\n";
            fs::write(folder.join("etc/passwd"), user)?;
            fs::write(folder.join("etc/group"), "root:x:0:\nana:x:1000:\n")?;
        }
        let home = folder.join("home/ana");
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home)?;
        std::os::unix::fs::chown(&home, Some(1000), Some(1000))?;
        println!("== {name}");
        let mut entered = Command::new("timeout");
        entered.args([
            LONGEST,
            "unshare",
            "--mount",
            "--pid",
            "--net",
            "--ipc",
            "--uts",
            "--fork",
            "--kill-child",
        ]);
        entered.args(["sh", "-c", ENTER, "enter"]).args([&folder, tools]).arg(language);
        entered.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin").stdin(Stdio::null());
        let went = entered.status().context("unshare cannot be started")?;
        println!("== {name}: {}", if went.success() { "all of it" } else { "FAILED" });
        good &= went.success();
    }
    println!("Untried: Alpine itself, and arm64 outside of qemu.");
    Ok(good)
}

fn debian(folder: &Path) -> Result<()> {
    let mut debootstrap = Command::new("debootstrap");
    debootstrap.args(["--variant=minbase", "--include=python3-minimal,busybox", "stable"]).arg(folder);
    said(&mut debootstrap).context("apt-get install debootstrap")?;
    Ok(())
}

fn busybox(folder: &Path) -> Result<()> {
    for part in ["bin", "lib", "etc", "root", "home"] {
        fs::create_dir_all(folder.join(part))?;
    }
    fs::copy("/bin/busybox", folder.join("bin/busybox"))?;
    said(Command::new("chroot").arg(folder).args(["/bin/busybox", "--install", "-s", "/bin"]))?;
    let loader = format!("lib/ld-musl-{}.so.1", std::env::consts::ARCH);
    fs::copy(Path::new("/").join(&loader), folder.join(&loader)).context("apt-get install musl")?;
    Ok(())
}
