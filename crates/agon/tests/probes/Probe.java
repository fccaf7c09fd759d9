// Asks the system what a bot in Java may rely on: one line for each check, the same outside and inside.
import java.io.*;
import java.lang.management.ManagementFactory;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.charset.Charset;
import java.nio.file.*;
import java.nio.file.attribute.PosixFilePermissions;
import java.text.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.*;

public class Probe {
    interface Act { Object run() throws Throwable; }
    static int done = 0;

    static void check(String name, Act act) {
        done++;
        String said;
        try { said = String.valueOf(act.run()); } catch (Throwable error) { said = error.getClass().getSimpleName(); }
        System.out.println(name + ": " + said);
    }

    static String run(String... words) throws Exception {
        Process one = new ProcessBuilder(words).redirectErrorStream(true).start();
        String said = new String(one.getInputStream().readAllBytes()).trim();
        return one.waitFor() + " " + said;
    }

    public static void main(String[] arguments) throws Exception {
        Path dir = Files.createTempDirectory("probe"), file = dir.resolve("file");
        Files.writeString(file, "0123456789");
        check("files.read", () -> Files.readString(file));
        check("files.append", () -> { Files.writeString(file, "x", StandardOpenOption.APPEND); return Files.size(file); });
        check("files.move", () -> { Files.move(file, dir.resolve("b")); Files.move(dir.resolve("b"), file, StandardCopyOption.ATOMIC_MOVE); return Files.exists(file); });
        check("files.symlink", () -> { Files.createSymbolicLink(dir.resolve("l"), Path.of("file")); return Files.readSymbolicLink(dir.resolve("l")); });
        check("files.link", () -> { Files.createLink(dir.resolve("h"), file); return Files.getAttribute(file, "unix:nlink"); });
        check("files.folders", () -> Files.isDirectory(Files.createDirectories(dir.resolve("a/b"))));
        check("files.copy", () -> Files.exists(Files.copy(file, dir.resolve("k"))));
        check("files.mode", () -> { Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----")); return PosixFilePermissions.toString(Files.getPosixFilePermissions(file)); });
        check("files.own", () -> { Files.writeString(Path.of("probe-made"), "x"); Files.delete(Path.of("probe-made")); return true; });
        check("files.temporary", () -> Files.exists(Files.createTempFile("a", "b")));
        check("files.tmpdir", () -> new File(System.getProperty("java.io.tmpdir")).isDirectory());
        check("files.home", () -> System.getProperty("user.home").isEmpty());
        check("files.cwd", () -> new File(System.getProperty("user.dir")).isDirectory());
        check("files.missing", () -> Files.readString(Path.of("no-such-file")));
        check("files.listed", () -> Files.list(dir).count());
        check("files.root", () -> new File("/").list() != null);
        check("files.walk", () -> Files.walk(dir).count());
        check("files.space", () -> dir.toFile().getTotalSpace() > 0);
        check("files.store", () -> Files.getFileStore(dir).isReadOnly());
        check("files.watch", () -> { try (WatchService w = FileSystems.getDefault().newWatchService()) { dir.register(w, StandardWatchEventKinds.ENTRY_CREATE); return true; } });
        check("files.map", () -> { try (FileChannel c = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) { return c.map(FileChannel.MapMode.READ_WRITE, 0, 64).capacity(); } });
        check("files.unicode", () -> Files.writeString(dir.resolve("ünï ✓"), "x").getFileName());
        check("files.shm", () -> { Path p = Path.of("/dev/shm/probe-java"); Files.writeString(p, "x"); Files.delete(p); return true; });
        check("files.random", () -> { try (RandomAccessFile f = new RandomAccessFile(file.toFile(), "rw")) { f.seek(3); return f.read(); } });
        check("locks.channel", () -> { try (FileChannel c = FileChannel.open(file, StandardOpenOption.WRITE)) { return c.tryLock() != null; } });
        check("locks.reentrant", () -> new ReentrantLock().tryLock(1, TimeUnit.SECONDS));
        check("locks.latch", () -> new CountDownLatch(1).await(5, TimeUnit.MILLISECONDS));
        check("locks.semaphore", () -> new Semaphore(1).tryAcquire());
        check("threads.one", () -> { AtomicInteger n = new AtomicInteger(); Thread t = new Thread(n::incrementAndGet); t.start(); t.join(); return n; });
        check("threads.twenty", () -> { AtomicInteger n = new AtomicInteger(); Thread[] all = new Thread[20]; for (int i = 0; i < 20; i++) { all[i] = new Thread(n::incrementAndGet); all[i].start(); } for (Thread t : all) t.join(); return n; });
        check("threads.pool", () -> { ExecutorService e = Executors.newFixedThreadPool(4); try { return e.submit(() -> 5).get(); } finally { e.shutdown(); } });
        check("threads.common", () -> IntStream.range(0, 1000).parallel().sum());
        check("threads.future", () -> CompletableFuture.supplyAsync(() -> 3).get());
        check("threads.timer", () -> { CountDownLatch l = new CountDownLatch(1); ScheduledExecutorService s = Executors.newScheduledThreadPool(1); s.schedule(l::countDown, 5, TimeUnit.MILLISECONDS); boolean b = l.await(5, TimeUnit.SECONDS); s.shutdown(); return b; });
        check("threads.priority", () -> { Thread t = new Thread(() -> { }); t.setPriority(1); t.start(); t.join(); return t.getPriority(); });
        check("threads.stack", () -> { int[] n = {0}; Thread t = new Thread(null, () -> deep(n, 20000), "d", 64 << 20); t.start(); t.join(); return n[0]; });
        check("threads.cpu", () -> ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() > 0);
        check("processes.shell", () -> run("sh", "-c", "echo $((1 + 1))"));
        check("processes.code", () -> run("sh", "-c", "exit 7"));
        check("processes.missing", () -> run("no-such-program"));
        check("processes.java", () -> run(ProcessHandle.current().info().command().orElse("none"), "-version").startsWith("0"));
        check("processes.killed", () -> { Process p = new ProcessBuilder("sleep", "9").start(); p.destroyForcibly(); return p.waitFor(); });
        check("processes.timeout", () -> { Process p = new ProcessBuilder("sleep", "9").start(); boolean b = p.waitFor(5, TimeUnit.MILLISECONDS); p.destroy(); p.waitFor(); return b; });
        check("processes.handle", () -> ProcessHandle.current().isAlive());
        check("processes.children", () -> ProcessHandle.current().children().count());
        check("processes.environment", () -> { ProcessBuilder b = new ProcessBuilder("sh", "-c", "echo $PROBE"); b.environment().put("PROBE", "x"); return new String(b.start().getInputStream().readAllBytes()).trim(); });
        check("memory.hundred", () -> new byte[100 << 20].length);
        check("memory.garbage", () -> { long n = 0; for (int i = 0; i < 500; i++) n += new byte[4 << 20].length; return n; });
        check("memory.direct", () -> ByteBuffer.allocateDirect(16 << 20).capacity());
        check("memory.fits", () -> { String t = Files.readString(Path.of("/proc/meminfo")); return Runtime.getRuntime().maxMemory() >> 10 < Long.parseLong(t.split("\\s+")[1]); });
        check("memory.agrees", () -> { String t = Files.readString(Path.of("/proc/meminfo")); return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize() >> 10 == Long.parseLong(t.split("\\s+")[1]); });
        check("memory.pools", () -> ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() > 0);
        check("memory.live", () -> { List<byte[]> all = new ArrayList<>(); for (int i = 0; i < 100; i++) all.add(new byte[1 << 20]); return all.size(); });
        check("world.cpus", () -> Runtime.getRuntime().availableProcessors());
        check("world.system", () -> System.getProperty("os.name") + " " + System.getProperty("os.arch"));
        check("world.version", () -> System.getProperty("java.version"));
        check("world.user", () -> !System.getProperty("user.name").isEmpty());
        check("world.host", () -> InetAddress.getLocalHost().getHostName().isEmpty());
        check("world.load", () -> ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage() >= 0);
        check("world.uptime", () -> ManagementFactory.getRuntimeMXBean().getUptime() > 0);
        check("world.console", () -> System.console() == null);
        check("time.zone", () -> ZoneId.systemDefault());
        check("time.vienna", () -> ZonedDateTime.ofInstant(Instant.EPOCH, ZoneId.of("Europe/Vienna")));
        check("time.zones", () -> ZoneId.getAvailableZoneIds().size() > 400);
        check("time.nano", () -> System.nanoTime() != 0);
        check("time.sleep", () -> { Thread.sleep(1); return true; });
        check("texts.charset", () -> Charset.defaultCharset());
        check("texts.encoding", () -> System.getProperty("sun.jnu.encoding"));
        check("texts.locale", () -> Locale.getDefault());
        check("texts.german", () -> NumberFormat.getInstance(Locale.GERMANY).format(1234.5));
        check("texts.sort", () -> { String[] s = {"b", "ä", "A"}; Arrays.sort(s, Collator.getInstance(Locale.GERMAN)); return String.join("", s); });
        check("sockets.loopback", () -> { try (ServerSocket s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()); Socket c = new Socket(s.getInetAddress(), s.getLocalPort())) { return c.isConnected(); } });
        check("sockets.resolve", () -> InetAddress.getByName("localhost").isLoopbackAddress());
        check("sockets.path", () -> { try (ServerSocketChannel s = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) { s.bind(UnixDomainSocketAddress.of(dir.resolve("s"))); return true; } });
        check("sockets.selector", () -> { try (Selector s = Selector.open()) { return s.selectNow(); } });
        check("sockets.pipe", () -> { java.nio.channels.Pipe p = java.nio.channels.Pipe.open(); p.sink().write(ByteBuffer.wrap(new byte[3])); return p.source().read(ByteBuffer.allocate(9)); });
        check("libraries.hash", () -> java.security.MessageDigest.getInstance("SHA-256").digest(new byte[1])[0]);
        check("libraries.random", () -> new java.security.SecureRandom().nextInt() != new java.security.SecureRandom().nextInt());
        check("libraries.zip", () -> { java.util.zip.Deflater d = new java.util.zip.Deflater(); d.setInput(new byte[99]); d.finish(); return d.deflate(new byte[99]); });
        check("libraries.compiler", () -> javax.tools.ToolProvider.getSystemJavaCompiler() != null);
        check("libraries.jit", () -> { int x = 0; for (int i = 0; i < 5_000_000; i++) x = x * 31 + i; return x; });
        check("libraries.names", () -> ManagementFactory.getRuntimeMXBean().getVmName().isEmpty());
        try (Stream<Path> all = Files.walk(dir)) { all.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete()); }
        System.out.println("checks: " + done);
        System.exit(0);
    }

    static void deep(int[] n, int left) {
        n[0]++;
        if (left > 1) deep(n, left - 1);
    }
}
