//! Attacks on files: those of others, and more than the program may have.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::{Attack, AttackTry, Control, held};
use crate::{Level, Wall};

const ROOT: &str = "own root (mount namespace), Landlock";
const PROC: &str = "own /proc of processes only";

pub fn list() -> Vec<Attack> {
    let new = Attack::new;
    let c = Level::C;
    vec![
        new("read-foreign-file", "read a file that everybody may read", ROOT, |to| {
            read(&to.folder.join("secret"))
        }),
        new("list-foreign-folder", "list a folder that everybody may list", ROOT, |to| {
            fs::read_dir(&to.folder).map(|all| format!("{} entries", all.count()))
        }),
        new("stat-foreign-file", "ask whether a file is there", "own root (mount namespace)", |to| {
            fs::metadata(to.folder.join("secret")).map(|data| format!("{} bytes", data.len()))
        })
        .at(Level::B),
        new("append-to-journal", "append to a journal that everybody may write", ROOT, |to| {
            fs::OpenOptions::new().append(true).open(to.folder.join("journal"))?.write_all(b"forged\n")?;
            Ok("a forged line".into())
        }),
        new("cut-journal", "cut a journal short", ROOT, |to| {
            let path = to.folder.join("journal");
            fs::OpenOptions::new().write(true).open(path)?.set_len(0).map(|()| "empty".into())
        }),
        new("create-in-foreign-folder", "make a file in a folder that everybody may write", ROOT, |to| {
            fs::write(to.folder.join("open/made"), "x").map(|()| "made".into())
        }),
        new("remove-foreign-file", "remove a file from such a folder", ROOT, |to| {
            let path = to.folder.join("open/remove-me");
            fs::remove_file(&path).map(|()| "removed".into())
        }),
        new("rename-foreign-file", "rename a file in such a folder", ROOT, |to| {
            fs::rename(to.folder.join("open/rename-me"), to.folder.join("open/renamed"))
                .map(|()| "renamed".into())
        }),
        new("link-foreign-file", "link a foreign file into the own folder and read it", ROOT, |to| {
            let link = scratch("linked");
            symlink(to.folder.join("secret"), &link)?;
            read(&link)
        }),
        new("hard-link-foreign-file", "make a second name for a file of the same user", ROOT, |to| {
            fs::hard_link(to.folder.join("open/own"), to.folder.join("open/second")).map(|()| "linked".into())
        }),
        new(
            "change-foreign-mode",
            "change the mode of a file of the same user",
            "own root (mount namespace)",
            |to| {
                let mode = fs::Permissions::from_mode(0o644);
                fs::set_permissions(to.folder.join("open/own"), mode).map(|()| "changed".into())
            },
        )
        .at(Level::B),
        new("upwards", "go up from the own folder as far as it goes, and down again", ROOT, |to| {
            read(&to.own.join(format!("../../../../../../../..{}", to.folder.join("secret").display())))
        }),
        new("through-own-root", "the same through /proc/self/root", ROOT, |to| {
            read(Path::new(&format!("/proc/self/root{}", to.folder.join("secret").display())))
        }),
        new(
            "through-parent-root",
            "the same through the root of the parent process",
            "own processes, hidden init",
            |to| {
                let parent = rustix::process::getppid().map_or(1, |pid| pid.as_raw_nonzero().get());
                let by = |pid: i32| {
                    read(Path::new(&format!("/proc/{pid}/root{}", to.folder.join("secret").display())))
                };
                by(parent).or_else(|_| by(to.pid))
            },
        ),
        new("change-own-program", "write into the folder of the bot", "read-only mounts, Landlock", |to| {
            fs::write(to.own.join("changed"), "x").map(|()| "changed for all later matches".into())
        }),
        new("fill-disk", "write 32 MB of files", "size of /tmp", |_| {
            let block = vec![1; 1 << 20];
            for number in 0..32 {
                fs::write(scratch(&format!("fill-{number}")), &block).inspect_err(|_| tidy("fill-", 32))?;
            }
            tidy("fill-", 32);
            Ok("32 MB written".into())
        })
        .at(Level::B)
        .control(Control::Roomy),
        new("fill-disk-with-names", "make 2,000 files", "number of files in /tmp", |_| {
            let folder = scratch("many");
            fs::create_dir(&folder)?;
            let all: io::Result<()> = (0..2_000).try_for_each(|n| fs::write(folder.join(n.to_string()), ""));
            let _ = fs::remove_dir_all(&folder);
            all.map(|()| "2,000 files".into())
        })
        .at(Level::B)
        .control(Control::Roomy),
        new("huge-sparse-file", "make a file of 100 GB that holds nothing", "largest file", |_| {
            let path = scratch("sparse");
            let made = fs::File::create(&path)?.set_len(100 << 30);
            let _ = fs::remove_file(&path);
            made.map(|()| "100 GB".into())
        }),
        new("become-root", "take user 0", "no capabilities", |_| {
            let known = fs::read_to_string("/proc/self/uid_map")?;
            if !known.lines().any(|line| line.trim_start().starts_with("0 ")) {
                return Err(super::absent("there is no user 0 in this namespace"));
            }
            let none = rustix::fs::Uid::ROOT;
            rustix::thread::set_thread_res_uid(none, none, none)?;
            Ok("user 0".into())
        })
        .control(Control::Without(&[Wall::Capabilities, Wall::Filter])),
        new("open-terminals", "make a terminal of its own (/dev/ptmx)", ROOT, |_| {
            fs::File::options().read(true).write(true).open("/dev/ptmx").map(|_| "a terminal".into())
        }),
        new("write-shared-memory", "write into the opponent's file in /dev/shm", ROOT, |to| {
            let path = Path::new("/dev/shm").join(&to.name);
            fs::OpenOptions::new().append(true).open(path).map(|_| "it can be changed".into())
        }),
        new("list-shared-memory", "find the opponent's file in /dev/shm", ROOT, |to| {
            let mut names = fs::read_dir("/dev/shm")?.flatten().map(|entry| entry.file_name());
            if names.any(|name| name.to_string_lossy() == to.name) {
                Ok("it is listed".into())
            } else {
                held("it is not listed")
            }
        }),
        new("read-sys", "list /sys", ROOT, |_| {
            fs::read_dir("/sys/kernel").map(|all| format!("{} entries", all.count()))
        }),
        new("read-kernel-command", "read the kernel's command line", PROC, |_| {
            read(Path::new("/proc/cmdline"))
        })
        .at(c),
        new("read-kernel-symbols", "read the kernel's symbols", PROC, |_| read(Path::new("/proc/kallsyms"))),
        new("read-kernel-settings", "read /proc/sys", PROC, |_| read(Path::new("/proc/sys/kernel/ostype"))),
        new("read-load", "read how busy the machine is (/proc/loadavg)", PROC, |_| {
            let text = fs::read_to_string("/proc/loadavg")?;
            if text.contains(" 1/1 ") { held("only itself is busy") } else { Ok(text) }
        }),
        new("read-times", "read what the CPUs have done (/proc/stat)", PROC, |_| {
            let text = fs::read_to_string("/proc/stat")?;
            let times = text.lines().filter(|line| line.starts_with("cpu"));
            let did = times.flat_map(|line| line.split(' ').skip(1)).any(|time| !["", "0"].contains(&time));
            if did { Ok("their times".into()) } else { held("they have done nothing") }
        }),
        new("read-free-memory", "read how much memory others use (/proc/meminfo)", PROC, |_| {
            let text = fs::read_to_string("/proc/meminfo")?;
            let of =
                |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next());
            if of("MemTotal:") == of("MemFree:") {
                held("nobody uses any")
            } else {
                Ok("all that is used".into())
            }
        }),
        new(
            "read-interrupts",
            "read /proc/interrupts, which tells of others' keys and packets",
            PROC,
            |_| read(Path::new("/proc/interrupts")),
        ),
        new("read-machine-name", "learn the machine's name", "own name (uts namespace)", |_| {
            let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
            if name == "bot" { held("it is called bot") } else { Ok("its name".into()) }
        })
        .at(Level::B),
        new("read-machine-id", "read what identifies the machine", ROOT, |_| {
            read(Path::new("/etc/machine-id")).or_else(|_| read(Path::new("/proc/sys/kernel/random/boot_id")))
        }),
        new("read-users", "read who has an account", ROOT, |_| {
            let text = fs::read_to_string("/etc/passwd")?;
            let lines = text.lines().count();
            if lines <= 2 { held("only root and bot") } else { Ok(format!("{lines} accounts")) }
        }),
        new("read-foreign-settings", "list /etc", ROOT, |_| {
            read(Path::new("/etc/fstab")).or_else(|_| read(Path::new("/etc/hostname")))
        }),
        new(
            "find-old-root",
            "find the machine's disks among the mounts",
            "own root (mount namespace)",
            |_| {
                let text = fs::read_to_string("/proc/self/mountinfo")?;
                let own = text.lines().any(|line| {
                    let words: Vec<&str> = line.split(' ').collect();
                    words.get(4) == Some(&"/") && !line.contains(" - tmpfs ")
                });
                if own {
                    Ok("the machine's root is mounted".into())
                } else {
                    held("the root is one in memory")
                }
            },
        )
        .at(Level::B),
    ]
}

/// A path in the folder the program may write to.
fn scratch(name: &str) -> PathBuf {
    let home = std::env::var_os("TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    home.join(name)
}

fn tidy(start: &str, count: usize) {
    for number in 0..count {
        let _ = fs::remove_file(scratch(&format!("{start}{number}")));
    }
}

fn read(path: &Path) -> AttackTry {
    let mut bytes = [0; 64];
    let count = fs::File::open(path)?.read(&mut bytes)?;
    if count == 0 { held("it is empty") } else { Ok(format!("{count} bytes read")) }
}
