"""Asks the system what a bot in Python may rely on: one line for each check, the same outside and inside."""
import sys, os, io, time, errno, signal, socket, struct, threading, subprocess, tempfile, mmap, select, locale, resource
import fcntl, shutil, json, math, random, hashlib, zlib, bz2, lzma, sqlite3, ctypes, platform, stat, glob, queue, asyncio
import multiprocessing, concurrent.futures, contextlib, datetime, decimal, pathlib, pickle, shelve, dbm, uuid, secrets
import unicodedata, codecs, array, csv, configparser, logging, tracemalloc, gc, weakref, inspect, importlib, zipfile, tarfile
import gzip, urllib.parse, email, html, http.client, ssl, getpass, pwd, grp, pty, termios, atexit, faulthandler, linecache

DONE = set()

def check(name, act):
    # A child of multiprocessing reads this file as well.
    if __name__ != "__main__":
        return
    assert name not in DONE, name
    DONE.add(name)
    try:
        said = act()
    except BaseException as error:
        said = type(error).__name__ + (" " + errno.errorcode.get(error.errno, "") if isinstance(error, OSError) and error.errno else "")
    print(f"{name}: {said}".replace("\n", "\\n"), flush=True)

def each(kind, **acts):
    for name, act in acts.items():
        check(f"{kind}.{name}", act)

def run(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=20, **more)
    return (done.returncode, done.stdout.strip(), len(done.stderr) > 0)

def temporary(act, **more):
    with tempfile.TemporaryDirectory(**more) as folder:
        return act(pathlib.Path(folder))

def forked(act):
    """What `act` answers in a child."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(there, repr(act()).encode())
        except BaseException as error:
            os.write(there, repr(error).encode())
        os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    return said

# --- files
def with_file(act):
    def do(folder):
        path = folder / "file"
        path.write_bytes(b"0123456789")
        return act(path)
    return lambda: temporary(do)

each("files",
    write_read=with_file(lambda p: p.read_text()),
    append=with_file(lambda p: (open(p, "a").write("x"), p.stat().st_size)[1]),
    truncate=with_file(lambda p: (os.truncate(p, 3), p.stat().st_size)[1]),
    seek_hole=with_file(lambda p: os.lseek(os.open(p, os.O_RDONLY), 0, os.SEEK_HOLE)),
    rename=with_file(lambda p: (p.rename(p.parent / "b"), sorted(os.listdir(p.parent)))[1]),
    replace=with_file(lambda p: (os.replace(p, p.parent / "c"), sorted(os.listdir(p.parent)))[1]),
    symlink=with_file(lambda p: (os.symlink("file", p.parent / "l"), os.readlink(p.parent / "l"))[1]),
    hard_link=with_file(lambda p: (os.link(p, p.parent / "h"), p.stat().st_nlink)[1]),
    chmod=with_file(lambda p: (p.chmod(0o640), oct(p.stat().st_mode))[1]),
    mode_of_new=with_file(lambda p: oct(p.stat().st_mode & 0o700)),
    mkdir=with_file(lambda p: (os.makedirs(p.parent / "a/b/c"), os.path.isdir(p.parent / "a/b"))[1]),
    rmdir=with_file(lambda p: (os.mkdir(p.parent / "d"), os.rmdir(p.parent / "d"), os.path.exists(p.parent / "d"))[2]),
    remove_tree=with_file(lambda p: (os.makedirs(p.parent / "t/u"), shutil.rmtree(p.parent / "t"))[1]),
    copy=with_file(lambda p: (shutil.copy2(p, p.parent / "k"), (p.parent / "k").read_text())[1]),
    copy_range=with_file(lambda p: os.copy_file_range(os.open(p, os.O_RDONLY), os.open(p.parent / "z", os.O_CREAT | os.O_WRONLY), 5)),
    sendfile=with_file(lambda p: os.sendfile(os.open(p.parent / "y", os.O_CREAT | os.O_WRONLY), os.open(p, os.O_RDONLY), 0, 4)),
    fsync=with_file(lambda p: os.fsync(os.open(p, os.O_RDWR))),
    fallocate=with_file(lambda p: (os.posix_fallocate(os.open(p, os.O_RDWR), 0, 4096), p.stat().st_size)[1]),
    sparse=with_file(lambda p: (os.truncate(p, 1 << 20), p.stat().st_blocks * 512 < 1 << 20)[1]),
    exclusive=with_file(lambda p: open(p, "x")),
    unlinked_open=with_file(lambda p: (lambda f: (p.unlink(), f.read())[1])(open(p))),
    utime=with_file(lambda p: (os.utime(p, (1, 2)), p.stat().st_mtime)[1]),
    fifo=with_file(lambda p: (os.mkfifo(p.parent / "f"), stat.S_ISFIFO(os.stat(p.parent / "f").st_mode))[1]),
    xattr=with_file(lambda p: (os.setxattr(p, "user.x", b"1"), os.getxattr(p, "user.x"))[1]),
    long_name=with_file(lambda p: ((p.parent / ("n" * 255)).write_text("x"))),
    too_long_name=with_file(lambda p: ((p.parent / ("n" * 256)).write_text("x"))),
    unicode_name=with_file(lambda p: ((p.parent / "ünï ✓").write_text("x"), "ünï ✓" in os.listdir(p.parent))[1]),
    bytes_name=with_file(lambda p: (open(os.fsencode(p.parent) + b"/\xff", "w").close(), b"\xff" in os.listdir(os.fsencode(p.parent)))[1]),
    glob=with_file(lambda p: len(glob.glob(str(p.parent / "*")))),
    scandir=with_file(lambda p: [e.is_file() for e in os.scandir(p.parent)]),
    walk=with_file(lambda p: sum(len(f) for _, _, f in os.walk(p.parent))),
    umask=lambda: (os.umask(0o022), os.umask(0o022))[1],
    cwd_is_own=lambda: os.path.samefile(os.getcwd(), os.path.dirname(os.path.abspath(__file__))),
    write_in_own=lambda: (open("probe-made", "w").write("x"), os.remove("probe-made"))[0],
    cwd_mode=lambda: os.access(".", os.R_OK | os.W_OK | os.X_OK),
    root_is_there=lambda: os.path.isdir("/"),
    root_listed=lambda: "usr" in os.listdir("/"),
    usr_listed=lambda: "bin" in os.listdir("/usr"),
    dev_null=lambda: open("/dev/null", "w").write("x"),
    dev_zero=lambda: open("/dev/zero", "rb").read(3),
    dev_full=lambda: open("/dev/full", "w", buffering=1).write("x\n"),
    dev_urandom=lambda: len(open("/dev/urandom", "rb").read(8)),
    dev_random=lambda: len(open("/dev/random", "rb").read(8)),
    dev_stdin=lambda: os.path.exists("/dev/stdin"),
    dev_fd=lambda: len(os.listdir("/dev/fd")) > 2,
    dev_listed=lambda: "null" in os.listdir("/dev"),
    home=lambda: os.path.isdir(os.path.expanduser("~")),
    home_writable=lambda: os.access(os.path.expanduser("~"), os.W_OK),
    disk_usage=lambda: shutil.disk_usage(".").total > 1 << 20,
    statvfs=lambda: os.statvfs(".").f_namemax,
    many_open=lambda: len([open("/dev/null") for _ in range(200)]),
    open_limit=lambda: resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 256,
)
each("temporary",
    gettempdir=lambda: os.path.isdir(tempfile.gettempdir()),
    file=lambda: tempfile.TemporaryFile().write(b"x"),
    named=lambda: os.path.exists(tempfile.NamedTemporaryFile().name),
    in_tmp=lambda: tempfile.NamedTemporaryFile(dir="/tmp").write(b"x"),
    in_var_tmp=lambda: tempfile.NamedTemporaryFile(dir="/var/tmp").write(b"x"),
    in_shm=lambda: tempfile.NamedTemporaryFile(dir="/dev/shm").write(b"x"),
    spooled=lambda: tempfile.SpooledTemporaryFile(max_size=1).write(b"xx"),
    o_tmpfile=lambda: os.write(os.open("/tmp", os.O_TMPFILE | os.O_RDWR, 0o600), b"x"),
    ten_megabytes=lambda: tempfile.TemporaryFile().write(bytes(10 << 20)),
    sticky=lambda: oct(os.stat("/tmp").st_mode),
    executable=lambda: temporary(lambda d: ((d / "s").write_text("#!/bin/sh\necho ran\n"), (d / "s").chmod(0o755), run(str(d / "s")))[2]),
)
# --- locks
def locked(how, other):
    def do(path):
        with open(path, "r+") as mine:
            how(mine)
            return forked(lambda: other(path))
    return with_file(do)

each("locks",
    flock=with_file(lambda p: fcntl.flock(open(p), fcntl.LOCK_EX | fcntl.LOCK_NB)),
    lockf=with_file(lambda p: fcntl.lockf(open(p, "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB)),
    flock_excludes=locked(lambda f: fcntl.flock(f, fcntl.LOCK_EX), lambda p: fcntl.flock(open(p), fcntl.LOCK_EX | fcntl.LOCK_NB)),
    lockf_excludes=locked(lambda f: fcntl.lockf(f, fcntl.LOCK_EX), lambda p: fcntl.lockf(open(p, "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB)),
    sqlite=with_file(lambda p: (lambda c: (c.execute("create table t(x)"), c.execute("insert into t values (3)"), c.commit(), c.execute("select x from t").fetchall())[3])(sqlite3.connect(p.parent / "db"))),
    sqlite_wal=with_file(lambda p: (lambda c: (c.execute("pragma journal_mode=wal").fetchall(), c.execute("create table t(x)"), c.commit())[0])(sqlite3.connect(p.parent / "db"))),
    dbm=with_file(lambda p: (lambda d: (d.__setitem__("a", "b"), d["a"])[1])(dbm.open(str(p.parent / "d"), "c"))),
    shelve=with_file(lambda p: (lambda d: (d.__setitem__("a", [1]), d["a"])[1])(shelve.open(str(p.parent / "d")))),
    thread_lock=lambda: threading.Lock().acquire(timeout=1),
    rlock=lambda: threading.RLock().acquire(timeout=1),
    semaphore=lambda: threading.Semaphore(2).acquire(timeout=1),
    condition=lambda: (lambda c: c.acquire() and c.wait(0.01))(threading.Condition()),
    event=lambda: threading.Event().wait(0.01),
    barrier=lambda: threading.Barrier(1).wait(),
)
# --- threads and processes
def thread(act):
    got = []
    one = threading.Thread(target=lambda: got.append(act()))
    one.start(); one.join(10)
    return got

def square(x):
    return x * x

def put(q):
    q.put("put")

def share(value, array_, lock):
    with lock:
        value.value += 1
        array_[0] = 7

def mp(kind, act):
    return lambda: act(multiprocessing.get_context(kind))

def pool(context):
    with context.Pool(2) as workers:
        return workers.map(square, range(4))

def process(context):
    q = context.Queue(); one = context.Process(target=put, args=(q,)); one.start(); said = q.get(timeout=10); one.join(10)
    return said, one.exitcode

def shared(context):
    value, array_, lock = context.Value("i", 0), context.Array("d", 2), context.Lock()
    all_ = [context.Process(target=share, args=(value, array_, lock)) for _ in range(3)]
    [one.start() for one in all_]; [one.join(10) for one in all_]
    return value.value, array_[0]

def shared_memory():
    from multiprocessing import shared_memory
    block = shared_memory.SharedMemory(create=True, size=4096)
    block.buf[0] = 5
    again = shared_memory.SharedMemory(block.name)
    said = again.buf[0]
    again.close(); block.close(); block.unlink()
    return said

def managed(context):
    with context.Manager() as manager:
        return manager.dict(a=1)["a"]

each("threads",
    one=lambda: thread(lambda: 1),
    twenty=lambda: sum(sum(thread(lambda: 1)) for _ in range(20)),
    at_once=lambda: (lambda e, all_: ([t.start() for t in all_], threading.active_count() >= 20, e.set(), [t.join() for t in all_])[1])(*(lambda e: (e, [threading.Thread(target=e.wait) for _ in range(20)]))(threading.Event())),
    pool=lambda: list(concurrent.futures.ThreadPoolExecutor(4).map(square, range(4))),
    local=lambda: hasattr(threading.local(), "x"),
    native_id=lambda: threading.get_native_id() == os.getpid(),
    stack_size=lambda: threading.stack_size(1 << 20),
    deep_recursion=lambda: thread(lambda: eval("(lambda f: f(f, 800))(lambda f, n: 0 if n == 0 else 1 + f(f, n - 1))")),
    timer=lambda: (lambda e: (threading.Timer(0.01, e.set).start(), e.wait(5))[1])(threading.Event()),
    switch_interval=lambda: sys.getswitchinterval(),
    queue=lambda: (lambda q: (q.put(1), q.get(timeout=1))[1])(queue.Queue()),
)
each("processes",
    fork=lambda: forked(lambda: 1),
    shell=lambda: run("sh", "-c", "echo $((1 + 1))"),
    exit_code=lambda: run("sh", "-c", "exit 7"),
    missing=lambda: run("no-such-program"),
    pipeline=lambda: run("sh", "-c", "printf 'b\\na\\n' | sort | head -1"),
    python=lambda: run(sys.executable, "-c", "print(1)"),
    python3=lambda: run("python3", "-c", "import sys; print(sys.version_info[:2])")[1] == str(sys.version_info[:2]),
    executable=lambda: os.path.exists(sys.executable),
    system=lambda: os.system("exit 3") >> 8,
    popen=lambda: os.popen("echo x").read(),
    kill=lambda: (lambda p: (p.kill(), p.wait())[1])(subprocess.Popen(["sleep", "9"])),
    terminate=lambda: (lambda p: (p.terminate(), p.wait())[1])(subprocess.Popen(["sleep", "9"])),
    timeout=lambda: subprocess.run(["sleep", "9"], timeout=0.05),
    session=lambda: run("sh", "-c", "echo ok", start_new_session=True),
    group=lambda: forked(lambda: (os.setpgid(0, 0), os.getpgid(0) == os.getpid())[1]),
    nice=lambda: forked(lambda: os.nice(0) >= 0),
    spawn=lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1],
    daemon=lambda: forked(lambda: os.fork() >= 0 and (os.setsid() if False else 1)),
    environment=lambda: run("sh", "-c", "echo $PROBE", env={"PROBE": "x", "PATH": os.environ["PATH"]}),
    pidfd=lambda: os.pidfd_open(os.getpid()) > 0,
    affinity=lambda: len(os.sched_getaffinity(0)) > 0,
    set_affinity=lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    scheduler=lambda: os.sched_getscheduler(0),
    priority=lambda: os.getpriority(os.PRIO_PROCESS, 0) >= 0,
    waitid=lambda: (lambda c: os.waitid(os.P_PID, c, os.WEXITED).si_status)(os.fork() or os._exit(5)),
    usage=lambda: resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime >= 0,
    pty=lambda: len(pty.openpty()),
    executor=lambda: list(concurrent.futures.ProcessPoolExecutor(2).map(square, range(4))),
    thirty=lambda: len([p.wait() for p in [subprocess.Popen(["true"]) for _ in range(30)]]),
)
for kind in ["fork", "spawn", "forkserver"]:
    each(f"multiprocessing.{kind}", process=mp(kind, process), pool=mp(kind, pool), shared=mp(kind, shared))
each("multiprocessing",
    cpu_count=lambda: multiprocessing.cpu_count(), manager=mp("fork", managed), shared_memory=shared_memory,
    semaphore=lambda: multiprocessing.Semaphore(1).acquire(timeout=1), pipe=lambda: (lambda a, b: (a.send(1), b.recv())[1])(*multiprocessing.Pipe()),
    start_method=lambda: multiprocessing.get_start_method(), heap=lambda: len(multiprocessing.Array("b", 1 << 20)),
)
# --- memory
each("memory",
    mmap_anonymous=lambda: len(mmap.mmap(-1, 1 << 20)),
    mmap_private=lambda: len(mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)),
    mmap_file=with_file(lambda p: (lambda f: mmap.mmap(f.fileno(), 0)[:3])(open(p, "r+b"))),
    mmap_forked=lambda: (lambda m: (forked(lambda: m.write(b"x")), m[:1])[1])(mmap.mmap(-1, 4096)),
    madvise=lambda: mmap.mmap(-1, 1 << 20).madvise(mmap.MADV_DONTNEED),
    memfd=lambda: os.write(os.memfd_create("x"), b"x"),
    hundred_megabytes=lambda: len(bytearray(100 << 20)),
    page_size=lambda: resource.getpagesize(),
    buffer=lambda: ctypes.sizeof(ctypes.create_string_buffer(1 << 20)),
    mlock=lambda: ctypes.CDLL(None).mlock(ctypes.create_string_buffer(64), 64),
    tracemalloc=lambda: (tracemalloc.start(), tracemalloc.stop())[1],
    gc=lambda: gc.isenabled(),
    meminfo=lambda: "MemTotal" in open("/proc/meminfo").read(),
    status=lambda: "VmRSS" in open("/proc/self/status").read(),
    maps=lambda: "[heap]" in open("/proc/self/maps").read(),
    statm=lambda: len(open("/proc/self/statm").read().split()),
    pages_agree=lambda: os.sysconf("SC_PHYS_PAGES") * resource.getpagesize() >> 10 == int(open("/proc/meminfo").readline().split()[1]),
    stack_limit=lambda: resource.getrlimit(resource.RLIMIT_STACK)[0],
    address_limit=lambda: resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY,
    max_rss=lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0,
)
# --- signals and time
def alarmed():
    got = []
    signal.signal(signal.SIGALRM, lambda *_: got.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    time.sleep(0.1)
    return got

each("signals",
    alarm=alarmed,
    usr1=lambda: (lambda g: (signal.signal(signal.SIGUSR1, lambda *_: g.append(1)), os.kill(os.getpid(), signal.SIGUSR1), g)[2])([]),
    raise_=lambda: (lambda g: (signal.signal(signal.SIGUSR2, lambda *_: g.append(1)), signal.raise_signal(signal.SIGUSR2), g)[2])([]),
    pipe_default=lambda: signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN,
    int_default=lambda: signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    term_default=lambda: signal.getsignal(signal.SIGTERM) == signal.SIG_DFL,
    child_default=lambda: signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL,
    mask=lambda: sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    wakeup=lambda: signal.set_wakeup_fd(-1),
    virtual_timer=lambda: signal.setitimer(signal.ITIMER_VIRTUAL, 0),
    faulthandler=lambda: faulthandler.is_enabled(),
    timedwait=lambda: signal.sigtimedwait([signal.SIGUSR1], 0.01),
)
each("time",
    zone=lambda: time.tzname, local=lambda: time.localtime(0).tm_hour, offset=lambda: time.timezone,
    tz_variable=lambda: (os.environ.__setitem__("TZ", "Europe/Vienna"), time.tzset(), time.localtime(0).tm_hour, os.environ.pop("TZ"), time.tzset())[2],
    zoneinfo=lambda: __import__("zoneinfo").ZoneInfo("America/New_York").key, zones=lambda: len(__import__("zoneinfo").available_timezones()) > 400,
    monotonic=lambda: time.get_clock_info("monotonic").resolution, perf=lambda: time.get_clock_info("perf_counter").implementation,
    process=lambda: time.process_time() > 0, thread=lambda: time.thread_time() >= 0, sleep=lambda: time.sleep(0.001),
    ns=lambda: time.time_ns() > 1 << 60, year=lambda: datetime.date.today().year >= 2024, cpu_clock=lambda: time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID) > 0,
    boot=lambda: time.clock_gettime(time.CLOCK_BOOTTIME) > 0, times=lambda: os.times().user >= 0,
    uptime=lambda: float(open("/proc/uptime").read().split()[0]) > 0,
)
# --- texts and the world
each("texts",
    filesystem=lambda: sys.getfilesystemencoding(), stdout=lambda: sys.stdout.encoding.lower(), stdin=lambda: sys.stdin.encoding.lower(),
    preferred=lambda: locale.getpreferredencoding(), setlocale=lambda: locale.setlocale(locale.LC_ALL, "").split(";")[0], c_utf8=lambda: locale.setlocale(locale.LC_ALL, "C.UTF-8"),
    german=lambda: locale.setlocale(locale.LC_ALL, "de_DE.UTF-8"), sort=lambda: (locale.setlocale(locale.LC_ALL, "C"), sorted("bA", key=locale.strxfrm))[1],
    unicode=lambda: unicodedata.unidata_version, utf8_mode=lambda: sys.flags.utf8_mode, hash_seed=lambda: sys.flags.hash_randomization,
    recursion=lambda: sys.getrecursionlimit(), max_digits=lambda: sys.get_int_max_str_digits(), float=lambda: repr(0.1 + 0.2), unbuffered=lambda: os.environ.get("PYTHONUNBUFFERED"),
)
each("world",
    user=lambda: getpass.getuser() != "", uid_known=lambda: pwd.getpwuid(os.getuid()).pw_uid == os.getuid(), gid_known=lambda: grp.getgrgid(os.getgid()).gr_gid == os.getgid(),
    groups=lambda: len(os.getgroups()) >= 0, host=lambda: platform.node() != "", system=lambda: platform.system(), release=lambda: platform.release() != "", machine=lambda: platform.machine(),
    libc=lambda: platform.libc_ver(), cpu_count=lambda: os.cpu_count(), online=lambda: os.sysconf("SC_NPROCESSORS_ONLN"), configured=lambda: os.sysconf("SC_NPROCESSORS_CONF"),
    processors=lambda: open("/proc/cpuinfo").read().count("processor\t"), stat=lambda: open("/proc/stat").read().count("cpu") , load=lambda: len(os.getloadavg()),
    version=lambda: open("/proc/version").read().split()[0], cgroup=lambda: os.path.exists("/proc/self/cgroup"), mounts=lambda: len(open("/proc/mounts").read()) > 0,
    exe=lambda: os.path.exists(os.readlink("/proc/self/exe")), fds=lambda: len(os.listdir("/proc/self/fd")) > 2, comm=lambda: open("/proc/self/comm").read().strip()[:6],
    stdin_tty=lambda: sys.stdin.isatty(), stdout_tty=lambda: sys.stdout.isatty(), path=lambda: "/usr/bin" in os.environ["PATH"], which_sh=lambda: shutil.which("sh") is not None,
    ids=lambda: os.getuid() == os.geteuid(), random=lambda: len(os.urandom(8)), getrandom=lambda: len(os.getrandom(8)), uuid=lambda: uuid.uuid4().version,
)
# --- sockets and waiting
def over_loopback():
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname()); client.send(b"x")
    return server.accept()[0].recv(1)

def over_path(folder):
    server = socket.socket(socket.AF_UNIX); server.bind(str(folder / "s")); server.listen()
    client = socket.socket(socket.AF_UNIX); client.connect(str(folder / "s")); client.send(b"x")
    return server.accept()[0].recv(1)

async def awaited():
    one = await asyncio.create_subprocess_exec("echo", "x", stdout=subprocess.PIPE)
    return (await one.communicate())[0], await asyncio.to_thread(square, 3)

each("sockets",
    pair=lambda: (lambda a, b: (a.send(b"x"), b.recv(1))[1])(*socket.socketpair()), path=lambda: temporary(over_path), loopback=over_loopback,
    resolve=lambda: socket.gethostbyname("localhost"),
    select=lambda: [len(x) for x in select.select([], [sys.stdout], [], 0)], poll=lambda: len(select.poll().poll(0)), epoll=lambda: len(select.epoll().poll(0)),
    eventfd=lambda: os.eventfd_read(os.eventfd(3)), asyncio=lambda: asyncio.run(awaited()), pipe_size=lambda: fcntl.fcntl(os.pipe()[0], 1032), set_blocking=lambda: os.set_blocking(os.pipe()[0], False),
    ssl=lambda: ssl.create_default_context().protocol.name,
)
each("libraries",
    sha256=lambda: hashlib.sha256(b"x").hexdigest()[:8], md5=lambda: hashlib.md5(b"x").hexdigest()[:8], zlib=lambda: len(zlib.compress(b"x" * 99)), bz2=lambda: bz2.decompress(bz2.compress(b"x")),
    lzma=lambda: lzma.decompress(lzma.compress(b"x")), decimal=lambda: decimal.Decimal(1) / 3, pickle=lambda: pickle.loads(pickle.dumps([1])), ctypes=lambda: ctypes.CDLL("libc.so.6").abs(-3),
    callback=lambda: ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 4)(), site_enabled=lambda: "site" in sys.modules, prefix=lambda: os.path.isdir(sys.prefix), numpy=lambda: __import__("numpy").__version__,
    numpy_dot=lambda: (lambda n: float(n.dot(n.ones((300, 300)), n.ones((300, 300)))[0][0]))(__import__("numpy")), torch=lambda: __import__("torch").__version__, numba=lambda: __import__("numba").njit(lambda x: x + 1)(1),
    pip=lambda: importlib.util.find_spec("pip") is not None, imports_beside=lambda: (open("beside.py", "w").write("X = 1"), importlib.invalidate_caches(), __import__("beside").X, os.remove("beside.py"))[2],
)
if __name__ == "__main__":
    print(f"checks: {len(DONE)}")
