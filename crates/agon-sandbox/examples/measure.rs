//! What a sandbox costs: `cargo run --release -p agon-sandbox --example measure`.
//!
//! Measures starts of `/bin/true` and round trips through `cat`, without and with a sandbox in turn, so that both see
//! the same machine; prints medians and the 90th of a hundred.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    on_linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod on_linux {
    use std::error::Error;
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::os::fd::AsFd as _;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use agon_sandbox::{Confinement, Launcher, Means, Order, SUBCOMMAND, Sandbox, probe_with};

    const ROUNDS: usize = 200;
    const TRIPS: u32 = 2_000;
    const PATIENCE: Duration = Duration::from_secs(30);

    pub fn main() -> Result<(), Box<dyn Error>> {
        let arguments: Vec<_> = std::env::args_os().skip(1).collect();
        if arguments.first().is_some_and(|word| word == SUBCOMMAND) {
            agon_sandbox::live(&arguments[1..]);
            return Ok(());
        }
        let program = std::env::current_exe()?;
        let launcher = Launcher::start(&program, Means::find())?;
        let found = probe_with(&launcher, &program);
        println!("level {}, {ROUNDS} rounds, ms: median (90th of a hundred)", found.level);
        let confinement = Confinement::default();
        let build = || -> Result<Sandbox, Box<dyn Error>> {
            let sandbox = launcher.prepare(&confinement, &found.walls)?;
            sandbox.ready()?;
            Ok(sandbox)
        };
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        let order = Order { program: "/bin/true".into(), ..Order::default() };
        let play = |sandbox: &Sandbox| -> Result<(), Box<dyn Error>> {
            sandbox.run(&order, [nothing.as_fd(); 3])?;
            sandbox.wait(PATIENCE).ok_or("it did not end")?;
            Ok(())
        };
        let (mut bare, mut cold, mut built, mut end) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            Command::new("/bin/true").stdin(Stdio::null()).stdout(Stdio::null()).status()?;
            bare.push(begun.elapsed());

            let begun = Instant::now();
            let sandbox = build()?;
            play(&sandbox)?;
            cold.push(begun.elapsed());
            let begun = Instant::now();
            sandbox.end()?;
            end.push(begun.elapsed());

            let sandbox = build()?;
            let begun = Instant::now();
            play(&sandbox)?;
            built.push(begun.elapsed());
            sandbox.end()?;
        }
        for (what, times) in [
            ("bare: start and exit", bare),
            ("cold: built, start and exit", cold),
            ("built before: start and exit", built),
            ("end of a sandbox", end),
        ] {
            println!("{what:30} {}", shown(times, 1e3));
        }
        // The round trips stay on one CPU, like bots of an alternating game: to another CPU they cost ten times as
        // much.
        let cpu = rustix::thread::sched_getcpu();
        let mut one = rustix::thread::CpuSet::new();
        one.set(cpu);
        rustix::thread::sched_setaffinity(None, &one)?;
        let mut outside = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (mut to, mut from) =
            (outside.stdin.take().ok_or("a pipe")?, outside.stdout.take().ok_or("a pipe")?);
        let sandbox = build()?;
        let (input, mut tell) = std::io::pipe()?;
        let (mut hear, output) = std::io::pipe()?;
        let cat = Order { program: "cat".into(), cpus: vec![cpu], ..Order::default() };
        sandbox.run(&cat, [input.as_fd(), output.as_fd(), nothing.as_fd()])?;
        let (mut bare, mut inside) = (Vec::new(), Vec::new());
        let mut line = [0; 6];
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            for _ in 0..TRIPS / 20 {
                to.write_all(b"hello\n")?;
                from.read_exact(&mut line)?;
            }
            bare.push(begun.elapsed() / (TRIPS / 20));
            let begun = Instant::now();
            for _ in 0..TRIPS / 20 {
                tell.write_all(b"hello\n")?;
                hear.read_exact(&mut line)?;
            }
            inside.push(begun.elapsed() / (TRIPS / 20));
        }
        drop(to);
        outside.wait()?;
        println!("round trip through a pipe, µs: bare {}, inside {}", shown(bare, 1e6), shown(inside, 1e6));
        Ok(())
    }

    fn shown(mut times: Vec<Duration>, scale: f64) -> String {
        times.sort();
        let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * scale;
        format!("{:.2} ({:.2})", at(50), at(90))
    }
}
