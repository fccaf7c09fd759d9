// Asks the system what a bot in C++ may rely on: one line for each check, the same outside and inside.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <clocale>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <random>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sstream>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>
namespace fs = std::filesystem;

static int done = 0;
static fs::path dir, file;
static std::string err(long result) { return result == -1 ? strerrorname_np(errno) : std::to_string(result); }
static void check(const char *name, const std::function<std::string()> &act) {
    done += 1;
    std::string said;
    try { said = act(); } catch (const std::exception &error) { said = std::string("exception ") + typeid(error).name(); }
    std::cout << name << ": " << said << std::endl;
}
static std::string yes(bool is) { return is ? "yes" : "no"; }
static std::string text(const fs::path &path) { std::ifstream in(path); std::stringstream all; all << in.rdbuf(); return all.str(); }
static int forked(const std::function<int()> &act) {
    int child = fork();
    if (child == 0) _exit(act());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
static volatile sig_atomic_t got = 0;
static void hear(int) { got = got + 1; }

int main() {
    char place[] = "/tmp/probeXXXXXX";
    dir = mkdtemp(place);
    file = dir / "file";
    std::ofstream(file) << "0123456789";
    check("files.read", [] { return text(file); });
    check("files.size", [] { return std::to_string(fs::file_size(file)); });
    check("files.rename", [] { fs::rename(file, dir / "b"); fs::rename(dir / "b", file); return yes(fs::exists(file)); });
    check("files.symlink", [] { fs::create_symlink("file", dir / "l"); return fs::read_symlink(dir / "l").string(); });
    check("files.link", [] { fs::create_hard_link(file, dir / "h"); return std::to_string(fs::hard_link_count(file)); });
    check("files.folders", [] { return yes(fs::create_directories(dir / "a/b/c")); });
    check("files.remove", [] { return std::to_string(fs::remove_all(dir / "a")); });
    check("files.copy", [] { return yes(fs::copy_file(file, dir / "k")); });
    check("files.space", [] { return yes(fs::space(dir).capacity > 1 << 20); });
    check("files.temporary", [] { return fs::temp_directory_path().empty() ? "no" : "yes"; });
    check("files.tmpfile", [] { FILE *f = tmpfile(); return yes(f != nullptr && fputs("x", f) >= 0); });
    check("files.own", [] { std::ofstream("probe-made") << "x"; return yes(fs::remove("probe-made")); });
    check("files.exclusive", [] { return err(open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600)); });
    check("files.missing", [] { return err(open("no-such-file", O_RDONLY)); });
    check("files.truncate", [] { return err(truncate(file.c_str(), 4)); });
    check("files.allocate", [] { int f = open(file.c_str(), O_RDWR); return std::to_string(posix_fallocate(f, 0, 4096)); });
    check("files.sync", [] { int f = open(file.c_str(), O_RDWR); return err(fsync(f)); });
    check("files.vectors", [] { return err(open(dir.c_str(), O_TMPFILE | O_RDWR, 0600) > 2 ? 1 : -1); });
    check("files.fifo", [] { return err(mkfifo((dir / "f").c_str(), 0600)); });
    check("files.listed", [] { return yes(opendir("/") != nullptr); });
    check("files.home", [] { return yes(fs::is_directory(getenv("HOME"))); });
    check("files.shm", [] { std::ofstream("/dev/shm/probe-c") << "x"; return yes(fs::remove("/dev/shm/probe-c")); });
    check("files.statvfs", [] { struct statvfs s; return err(statvfs("/tmp", &s)); });
    check("locks.flock", [] { int f = open(file.c_str(), O_RDWR); return err(flock(f, LOCK_EX | LOCK_NB)); });
    check("locks.fcntl", [] { int f = open(file.c_str(), O_RDWR); struct flock l{}; l.l_type = F_WRLCK; return err(fcntl(f, F_SETLK, &l)); });
    check("locks.ofd", [] { int f = open(file.c_str(), O_RDWR); struct flock l{}; l.l_type = F_WRLCK; return err(fcntl(f, F_OFD_SETLK, &l)); });
    check("locks.semaphore", [] { sem_t s; sem_init(&s, 1, 1); return err(sem_wait(&s)); });
    check("locks.named", [] { sem_t *s = sem_open("/probe-c", O_CREAT, 0600, 1); if (s == SEM_FAILED) return err(-1); sem_unlink("/probe-c"); return err(sem_wait(s)); });
    check("locks.mutex", [] { std::timed_mutex m; return yes(m.try_lock_for(std::chrono::milliseconds(5))); });
    check("locks.robust", [] { pthread_mutexattr_t a; pthread_mutexattr_init(&a); return std::to_string(pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST)); });
    check("threads.join", [] { int x = 0; std::thread([&] { x = 7; }).join(); return std::to_string(x); });
    check("threads.twenty", [] { std::atomic<int> n = 0; std::vector<std::thread> all; for (int i = 0; i < 20; i++) all.emplace_back([&] { n++; }); for (auto &t : all) t.join(); return std::to_string(n); });
    check("threads.async", [] { return std::to_string(std::async(std::launch::async, [] { return 3; }).get()); });
    check("threads.condition", [] { std::mutex m; std::condition_variable c; std::unique_lock<std::mutex> l(m); return yes(c.wait_for(l, std::chrono::milliseconds(5)) == std::cv_status::timeout); });
    check("threads.concurrency", [] { return std::to_string(std::thread::hardware_concurrency()); });
    check("threads.local", [] { static thread_local int x = 4; return std::to_string(x); });
    check("threads.name", [] { return std::to_string(pthread_setname_np(pthread_self(), "probe")); });
    check("threads.stack", [] { pthread_attr_t a; size_t s; pthread_getattr_np(pthread_self(), &a); pthread_attr_getstacksize(&a, &s); return yes(s >= 1 << 20); });
    check("processes.fork", [] { return std::to_string(forked([] { return 9; })); });
    check("processes.killed", [] { return std::to_string(forked([] { raise(SIGKILL); return 0; })); });
    check("processes.fault", [] { return std::to_string(forked([] { signal(SIGSEGV, SIG_DFL); raise(SIGSEGV); return 0; })); });
    check("processes.abort", [] { return std::to_string(forked([] { abort(); return 0; })); });
    check("processes.exec", [] { return std::to_string(forked([] { execlp("true", "true", nullptr); return 8; })); });
    check("processes.system", [] { return std::to_string(WEXITSTATUS(system("exit 5"))); });
    check("processes.popen", [] { FILE *p = popen("echo x", "r"); char c = static_cast<char>(fgetc(p)); pclose(p); return std::string(1, c); });
    check("processes.group", [] { return std::to_string(forked([] { return setpgid(0, 0) == 0 && getpgrp() == getpid() ? 1 : 0; })); });
    check("processes.vfork", [] { int c = vfork(); if (c == 0) _exit(6); int s; waitpid(c, &s, 0); return std::to_string(WEXITSTATUS(s)); });
    check("memory.private", [] { return yes(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED); });
    check("memory.shared", [] { auto p = static_cast<int *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)); forked([&] { p[0] = 5; return 0; }); return std::to_string(p[0]); });
    check("memory.object", [] { int f = shm_open("/probe-m", O_CREAT | O_RDWR, 0600); if (f < 0) return err(-1); shm_unlink("/probe-m"); return err(ftruncate(f, 4096)); });
    check("memory.memfd", [] { return err(memfd_create("x", 0) > 0 ? 1 : -1); });
    check("memory.code", [] { auto p = static_cast<unsigned char *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); return yes(p != MAP_FAILED); });
    check("memory.protect", [] { void *p = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); return err(mprotect(p, 4096, PROT_READ | PROT_EXEC)); });
    check("memory.huge", [] { void *p = mmap(nullptr, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); return err(madvise(p, 4 << 20, MADV_HUGEPAGE)); });
    check("memory.reserve", [] { return yes(mmap(nullptr, 8UL << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED); });
    check("memory.remap", [] { void *p = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); return yes(mremap(p, 4096, 8192, MREMAP_MAYMOVE) != MAP_FAILED); });
    check("memory.vector", [] { std::vector<char> v(100 << 20, 1); return std::to_string(v.back()); });
    check("memory.agrees", [] { struct sysinfo s; sysinfo(&s); std::string t = text("/proc/meminfo"); return yes(std::stoul(t.substr(t.find(':') + 1)) == s.totalram * s.mem_unit / 1024); });
    check("memory.page", [] { return std::to_string(sysconf(_SC_PAGESIZE)); });
    check("memory.usage", [] { struct rusage r; return err(getrusage(RUSAGE_SELF, &r)); });
    check("limits.stack", [] { struct rlimit r; getrlimit(RLIMIT_STACK, &r); return std::to_string(r.rlim_cur); });
    check("limits.files", [] { struct rlimit r; getrlimit(RLIMIT_NOFILE, &r); return yes(r.rlim_cur >= 256); });
    check("limits.address", [] { struct rlimit r; getrlimit(RLIMIT_AS, &r); return yes(r.rlim_cur == RLIM_INFINITY); });
    check("limits.raise_stack", [] { struct rlimit r; getrlimit(RLIMIT_STACK, &r); r.rlim_cur = std::min<rlim_t>(r.rlim_max, 64 << 20); return err(forked([&] { return setrlimit(RLIMIT_STACK, &r); })); });
    check("signals.handler", [] { signal(SIGUSR1, hear); raise(SIGUSR1); return std::to_string(got); });
    check("signals.alarm", [] { got = 0; signal(SIGALRM, hear); struct itimerval t{{0, 0}, {0, 5000}}; setitimer(ITIMER_REAL, &t, nullptr); pause(); return std::to_string(got); });
    check("signals.altstack", [] { static char s[65536]; stack_t a{}; a.ss_sp = s; a.ss_size = sizeof s; return err(sigaltstack(&a, nullptr)); });
    check("signals.pipe", [] { struct sigaction a; sigaction(SIGPIPE, nullptr, &a); return yes(a.sa_handler == SIG_DFL); });
    check("time.zone", [] { tzset(); return std::string(tzname[0]); });
    check("time.local", [] { time_t z = 0; return std::to_string(localtime(&z)->tm_hour); });
    check("time.vienna", [] { setenv("TZ", "Europe/Vienna", 1); tzset(); time_t z = 0; return std::to_string(localtime(&z)->tm_hour); });
    check("time.cpu", [] { return yes(clock() >= 0); });
    check("time.steady", [] { return yes(std::chrono::steady_clock::now().time_since_epoch().count() > 0); });
    check("time.sleep", [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); return yes(true); });
    check("time.resolution", [] { struct timespec t; clock_getres(CLOCK_MONOTONIC, &t); return std::to_string(t.tv_nsec); });
    check("time.timerfd", [] { return err(timerfd_create(CLOCK_MONOTONIC, 0) > 0 ? 1 : -1); });
    check("texts.locale", [] { const char *l = setlocale(LC_ALL, ""); return std::string(l ? l : "none"); });
    check("texts.c_utf8", [] { return yes(setlocale(LC_ALL, "C.UTF-8") != nullptr); });
    check("world.cpus", [] { return std::to_string(sysconf(_SC_NPROCESSORS_ONLN)); });
    check("world.configured", [] { return std::to_string(sysconf(_SC_NPROCESSORS_CONF)); });
    check("world.cache", [] { return yes(sysconf(_SC_LEVEL1_DCACHE_LINESIZE) >= 0); });
    check("world.affinity", [] { cpu_set_t s; return err(sched_getaffinity(0, sizeof s, &s)); });
    check("world.uname", [] { struct utsname u; uname(&u); return std::string(u.sysname) + " " + u.machine; });
    check("world.random", [] { return yes(std::random_device()() != std::random_device()()); });
    check("world.cpuid", [] { return yes(__builtin_cpu_supports("sse2")); });
    check("world.exe", [] { return yes(fs::exists(fs::read_symlink("/proc/self/exe"))); });
    check("sockets.pair", [] { int s[2]; return err(socketpair(AF_UNIX, SOCK_STREAM, 0, s)); });
    check("sockets.path", [] { int s = socket(AF_UNIX, SOCK_STREAM, 0); sockaddr_un a{}; a.sun_family = AF_UNIX; strcpy(a.sun_path, (dir / "s").c_str()); return err(bind(s, reinterpret_cast<sockaddr *>(&a), sizeof a)); });
    check("sockets.loopback", [] { int s = socket(AF_INET, SOCK_STREAM, 0); if (s < 0) return err(-1); sockaddr_in a{}; a.sin_family = AF_INET; a.sin_addr.s_addr = htonl(INADDR_LOOPBACK); return err(bind(s, reinterpret_cast<sockaddr *>(&a), sizeof a)); });
    check("sockets.epoll", [] { return err(epoll_create1(0) > 0 ? 1 : -1); });
    check("sockets.eventfd", [] { return err(eventfd(1, 0) > 0 ? 1 : -1); });
    check("sockets.poll", [] { return err(poll(nullptr, 0, 0)); });
    fs::remove_all(dir);
    std::cout << "checks: " << done << std::endl;
}
