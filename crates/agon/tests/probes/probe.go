// Asks the system what a bot in Go may rely on: one line for each check, the same outside and inside.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var done int

// The innermost error: paths differ from run to run.
func short(err error) string {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return strings.ReplaceAll(fmt.Sprint(err), "\n", " ")
}

func check(name string, act func() (any, error)) {
	done++
	said, err := func() (said any, err error) {
		defer func() {
			if trouble := recover(); trouble != nil {
				err = fmt.Errorf("panic %v", trouble)
			}
		}()
		return act()
	}()
	if err != nil {
		said = short(err)
	}
	fmt.Printf("%s: %v\n", name, said)
}

func word(err error) (any, error) { return "done", err }

func run(words ...string) (any, error) {
	said, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	return strings.TrimSpace(string(said)), err
}

func deep(n int) int {
	var room [64]int
	if n == 0 {
		return room[0]
	}
	return 1 + deep(n-1)
}

func main() {
	dir, _ := os.MkdirTemp("", "probe")
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "file")
	os.WriteFile(file, []byte("0123456789"), 0o600)
	check("files.read", func() (any, error) { b, err := os.ReadFile(file); return string(b), err })
	check("files.append", func() (any, error) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return f.WriteString("x")
	})
	check("files.rename", func() (any, error) {
		if err := os.Rename(file, dir+"/b"); err != nil {
			return nil, err
		}
		return word(os.Rename(dir+"/b", file))
	})
	check("files.symlink", func() (any, error) { os.Symlink("file", dir+"/l"); return os.Readlink(dir + "/l") })
	check("files.link", func() (any, error) { return word(os.Link(file, dir+"/h")) })
	check("files.folders", func() (any, error) { return word(os.MkdirAll(dir+"/a/b/c", 0o755)) })
	check("files.remove", func() (any, error) { return word(os.RemoveAll(dir + "/a")) })
	check("files.mode", func() (any, error) {
		os.Chmod(file, 0o640)
		s, err := os.Stat(file)
		return s.Mode(), err
	})
	check("files.times", func() (any, error) {
		os.Chtimes(file, time.Unix(5, 0), time.Unix(9, 0))
		s, err := os.Stat(file)
		return s.ModTime().Unix(), err
	})
	check("files.own", func() (any, error) {
		if err := os.WriteFile("probe-made", []byte("x"), 0o600); err != nil {
			return nil, err
		}
		return word(os.Remove("probe-made"))
	})
	check("files.temporary", func() (any, error) { f, err := os.CreateTemp("", "a"); return f != nil, err })
	check("files.exclusive", func() (any, error) {
		_, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		return nil, err
	})
	check("files.missing", func() (any, error) { return os.ReadFile("no-such-file") })
	check("files.truncate", func() (any, error) { return word(os.Truncate(file, 4)) })
	check("files.sync", func() (any, error) { f, _ := os.OpenFile(file, os.O_RDWR, 0); return word(f.Sync()) })
	check("files.copy", func() (any, error) {
		from, _ := os.Open(file)
		to, err := os.Create(dir + "/k")
		if err != nil {
			return nil, err
		}
		return io.Copy(to, from)
	})
	check("files.seek", func() (any, error) { f, _ := os.Open(file); return f.Seek(-1, io.SeekEnd) })
	check("files.walk", func() (any, error) {
		n := 0
		err := filepath.Walk(dir, func(string, os.FileInfo, error) error { n++; return nil })
		return n, err
	})
	check("files.listed", func() (any, error) { all, err := os.ReadDir("/"); return len(all) > 0, err })
	check("files.home", func() (any, error) { h, err := os.UserHomeDir(); return h != "", err })
	check("files.cache", func() (any, error) { h, err := os.UserCacheDir(); return h != "", err })
	check("files.cwd", func() (any, error) { d, err := os.Getwd(); return d != "", err })
	check("files.executable", func() (any, error) { p, err := os.Executable(); return filepath.Base(p), err })
	check("files.fifo", func() (any, error) { return word(syscall.Mkfifo(dir+"/f", 0o600)) })
	check("files.shm", func() (any, error) {
		if err := os.WriteFile("/dev/shm/probe-go", []byte("x"), 0o600); err != nil {
			return nil, err
		}
		return word(os.Remove("/dev/shm/probe-go"))
	})
	check("files.unicode", func() (any, error) { return word(os.WriteFile(dir+"/ünï ✓", nil, 0o600)) })
	check("files.space", func() (any, error) { var s syscall.Statfs_t; err := syscall.Statfs(dir, &s); return s.Bsize, err })
	check("files.deadline", func() (any, error) {
		r, _, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		r.SetReadDeadline(time.Now().Add(time.Millisecond))
		return r.Read(make([]byte, 1))
	})
	check("locks.flock", func() (any, error) {
		f, _ := os.OpenFile(file, os.O_RDWR, 0)
		return word(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
	})
	check("locks.fcntl", func() (any, error) {
		f, _ := os.OpenFile(file, os.O_RDWR, 0)
		return word(syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}))
	})
	check("locks.mutex", func() (any, error) { var m sync.Mutex; m.Lock(); return m.TryLock(), nil })
	check("locks.condition", func() (any, error) {
		var m sync.Mutex
		c, ready := sync.NewCond(&m), false
		go func() { m.Lock(); ready = true; m.Unlock(); c.Broadcast() }()
		m.Lock()
		for !ready {
			c.Wait()
		}
		return ready, nil
	})
	check("threads.thousand", func() (any, error) {
		var n int64
		var all sync.WaitGroup
		for i := 0; i < 1000; i++ {
			all.Add(1)
			go func() { atomic.AddInt64(&n, 1); all.Done() }()
		}
		all.Wait()
		return n, nil
	})
	check("threads.locked", func() (any, error) {
		var all sync.WaitGroup
		for i := 0; i < 20; i++ {
			all.Add(1)
			go func() { runtime.LockOSThread(); time.Sleep(time.Millisecond); all.Done() }()
		}
		all.Wait()
		return "done", nil
	})
	check("threads.channel", func() (any, error) { c := make(chan int); go func() { c <- 5 }(); return <-c, nil })
	check("threads.select", func() (any, error) {
		select {
		case <-time.After(2 * time.Millisecond):
			return "late", nil
		case <-make(chan int):
			return "never", nil
		}
	})
	check("threads.context", func() (any, error) {
		c, stop := context.WithTimeout(context.Background(), time.Millisecond)
		defer stop()
		<-c.Done()
		return nil, c.Err()
	})
	check("threads.procs", func() (any, error) { return runtime.GOMAXPROCS(0), nil })
	check("threads.preempted", func() (any, error) {
		old := runtime.GOMAXPROCS(1)
		defer runtime.GOMAXPROCS(old)
		stop := int32(0)
		go func() {
			for atomic.LoadInt32(&stop) == 0 {
			}
		}()
		time.Sleep(time.Millisecond)
		atomic.StoreInt32(&stop, 1)
		return "done", nil
	})
	check("threads.deep", func() (any, error) { return deep(100000), nil })
	check("processes.shell", func() (any, error) { return run("sh", "-c", "echo $((1+1))") })
	check("processes.code", func() (any, error) { return run("sh", "-c", "exit 7") })
	check("processes.missing", func() (any, error) { return run("no-such-program") })
	check("processes.killed", func() (any, error) {
		p := exec.Command("sleep", "9")
		p.Start()
		p.Process.Kill()
		return nil, p.Wait()
	})
	check("processes.timeout", func() (any, error) {
		c, stop := context.WithTimeout(context.Background(), 5*time.Millisecond)
		defer stop()
		return nil, exec.CommandContext(c, "sleep", "9").Run()
	})
	check("processes.input", func() (any, error) {
		p := exec.Command("cat")
		p.Stdin = strings.NewReader("through")
		said, err := p.Output()
		return string(said), err
	})
	check("processes.environment", func() (any, error) {
		p := exec.Command("sh", "-c", "echo $PROBE")
		p.Env = append(os.Environ(), "PROBE=x")
		said, err := p.Output()
		return strings.TrimSpace(string(said)), err
	})
	check("processes.group", func() (any, error) {
		p := exec.Command("true")
		p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return word(p.Run())
	})
	check("processes.session", func() (any, error) {
		p := exec.Command("true")
		p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return word(p.Run())
	})
	check("processes.death", func() (any, error) {
		p := exec.Command("true")
		p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		return word(p.Run())
	})
	check("processes.look", func() (any, error) { return exec.LookPath("sh") })
	check("processes.nice", func() (any, error) { return word(syscall.Setpriority(syscall.PRIO_PROCESS, 0, 0)) })
	check("memory.hundred", func() (any, error) { b := make([]byte, 100<<20); b[len(b)-1] = 1; return len(b), nil })
	check("memory.garbage", func() (any, error) {
		n := 0
		for i := 0; i < 500; i++ {
			n += len(make([]byte, 4<<20))
		}
		return n, nil
	})
	check("memory.collect", func() (any, error) { runtime.GC(); debug.FreeOSMemory(); return "done", nil })
	check("memory.limit", func() (any, error) {
		old := debug.SetMemoryLimit(300 << 20)
		debug.SetMemoryLimit(old)
		return "done", nil
	})
	check("memory.stats", func() (any, error) { var m runtime.MemStats; runtime.ReadMemStats(&m); return m.Sys > 0, nil })
	check("memory.map", func() (any, error) {
		f, _ := os.OpenFile(file, os.O_RDWR, 0)
		b, err := syscall.Mmap(int(f.Fd()), 0, 4, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		return len(b), err
	})
	check("memory.anonymous", func() (any, error) {
		b, err := syscall.Mmap(-1, 0, 1<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		return len(b), err
	})
	check("memory.code", func() (any, error) {
		b, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		return len(b), err
	})
	check("memory.agrees", func() (any, error) {
		var s syscall.Sysinfo_t
		if err := syscall.Sysinfo(&s); err != nil {
			return nil, err
		}
		t, err := os.ReadFile("/proc/meminfo")
		var kilobytes uint64
		fmt.Sscanf(string(t), "MemTotal: %d", &kilobytes)
		return kilobytes == s.Totalram*uint64(s.Unit)/1024, err
	})
	check("memory.page", func() (any, error) { return os.Getpagesize(), nil })
	check("limits.files", func() (any, error) {
		var r syscall.Rlimit
		err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r)
		return r.Cur >= 256, err
	})
	check("limits.usage", func() (any, error) { var r syscall.Rusage; return word(syscall.Getrusage(syscall.RUSAGE_SELF, &r)) })
	check("signals.heard", func() (any, error) {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGUSR1)
		syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		return <-c, nil
	})
	check("signals.ignored", func() (any, error) {
		signal.Ignore(syscall.SIGUSR2)
		return word(syscall.Kill(os.Getpid(), syscall.SIGUSR2))
	})
	check("signals.fault", func() (any, error) { var p *int; return *p, nil })
	check("time.zone", func() (any, error) { n, o := time.Unix(0, 0).Zone(); return fmt.Sprint(n, o), nil })
	check("time.vienna", func() (any, error) {
		l, err := time.LoadLocation("Europe/Vienna")
		if err != nil {
			return nil, err
		}
		return time.Unix(0, 0).In(l), nil
	})
	check("time.sleep", func() (any, error) {
		t := time.Now()
		time.Sleep(time.Millisecond)
		return time.Since(t) >= time.Millisecond, nil
	})
	check("time.ticker", func() (any, error) { t := time.NewTicker(time.Millisecond); defer t.Stop(); <-t.C; return "done", nil })
	check("time.cpu", func() (any, error) { var t syscall.Tms; _, err := syscall.Times(&t); return "done", err })
	check("world.cpu_agrees", func() (any, error) { return runtime.NumCPU() == runtime.GOMAXPROCS(0), nil })
	check("world.system", func() (any, error) { return runtime.GOOS + " " + runtime.GOARCH, nil })
	check("world.version", func() (any, error) { return runtime.Version(), nil })
	check("world.user", func() (any, error) { u, err := user.Current(); return u != nil && u.Uid != "", err })
	check("world.host", func() (any, error) { h, err := os.Hostname(); return h != "", err })
	check("world.uname", func() (any, error) { var u syscall.Utsname; err := syscall.Uname(&u); return u.Sysname[0], err })
	check("world.descriptors", func() (any, error) { d, err := os.ReadDir("/proc/self/fd"); return len(d) > 3, err })
	check("world.interfaces", func() (any, error) { all, err := net.Interfaces(); return len(all) > 0, err })
	check("sockets.loopback", func() (any, error) { l, err := net.Listen("tcp", "127.0.0.1:0"); return l != nil, err })
	check("sockets.path", func() (any, error) {
		l, err := net.Listen("unix", dir+"/s")
		if err != nil {
			return nil, err
		}
		go func() { c, _ := l.Accept(); c.Write([]byte("hello")); c.Close() }()
		c, err := net.Dial("unix", dir+"/s")
		if err != nil {
			return nil, err
		}
		said, err := io.ReadAll(c)
		return string(said), err
	})
	check("sockets.pair", func() (any, error) {
		_, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		return "done", err
	})
	check("sockets.pipe", func() (any, error) {
		a, b := net.Pipe()
		go func() { b.Write([]byte("x")); b.Close() }()
		said, err := io.ReadAll(a)
		return string(said), err
	})
	check("sockets.epoll", func() (any, error) { f, err := syscall.EpollCreate1(0); return f > 0, err })
	check("sockets.http", func() (any, error) {
		l, err := net.Listen("unix", dir+"/web")
		if err != nil {
			return nil, err
		}
		go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") }))
		dial := func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", dir+"/web") }
		r, err := (&http.Client{Transport: &http.Transport{DialContext: dial}}).Get("http://x/")
		if err != nil {
			return nil, err
		}
		said, err := io.ReadAll(r.Body)
		return string(said), err
	})
	check("files.watch", func() (any, error) { f, err := syscall.InotifyInit1(0); return f > 0, err })
	check("libraries.hash", func() (any, error) { return fmt.Sprintf("%x", sha256.Sum256(nil))[:8], nil })
	check("libraries.random", func() (any, error) { return rand.Read(make([]byte, 8)) })
	check("libraries.json", func() (any, error) { b, err := json.Marshal(map[string]int{"a": 1}); return string(b), err })
	check("libraries.gzip", func() (any, error) {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(make([]byte, 9999))
		w.Close()
		return b.Len() < 200, nil
	})
	check("libraries.big", func() (any, error) { return new(big.Int).Exp(big.NewInt(3), big.NewInt(90), nil), nil })
	check("libraries.sort", func() (any, error) { s := []string{"b", "ä", "A"}; sort.Strings(s); return s, nil })
	check("libraries.regress", func() (any, error) {
		x := 0
		for i := 0; i < 5_000_000; i++ {
			x = (x*31 + i) & 0xffffff
		}
		return x, nil
	})
	fmt.Printf("checks: %d\n", done)
}
