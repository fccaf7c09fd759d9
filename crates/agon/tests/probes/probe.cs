// Asks the system what a bot in C# may rely on: one line for each check, the same outside and inside.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.IO.Compression;
using System.IO.MemoryMappedFiles;
using System.IO.Pipes;
using System.Linq;
using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using System.Numerics;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

class Probe {
    static int done = 0;

    static void Check(string name, Func<object> act) {
        done++;
        string said;
        try { said = Convert.ToString(act(), CultureInfo.InvariantCulture); }
        catch (Exception error) { said = (error.InnerException ?? error).GetType().Name; }
        Console.WriteLine(name + ": " + said);
    }

    static string Run(string program, string arguments, string input = null) {
        var start = new ProcessStartInfo(program, arguments) {
            UseShellExecute = false, RedirectStandardOutput = true, RedirectStandardInput = input != null
        };
        using (var one = Process.Start(start)) {
            if (input != null) { one.StandardInput.Write(input); one.StandardInput.Close(); }
            string said = one.StandardOutput.ReadToEnd().Trim();
            one.WaitForExit();
            return one.ExitCode + " " + said;
        }
    }

    static int Deep(int n) { return n == 0 ? 0 : 1 + Deep(n - 1); }
    static IEnumerable<int> Numbers() { for (int i = 0; i < 5; i++) yield return i; }
    static async Task<int> Later() { await Task.Delay(2); return 4; }
    [ThreadStatic] static int own;

    static void Main() {
        string dir = Path.Combine(Path.GetTempPath(), "probe" + Guid.NewGuid().ToString("N"));
        Directory.CreateDirectory(dir);
        string file = Path.Combine(dir, "file");
        File.WriteAllText(file, "0123456789");
        Check("files.read", () => File.ReadAllText(file));
        Check("files.append", () => { File.AppendAllText(file, "x"); return new FileInfo(file).Length; });
        Check("files.move", () => { File.Move(file, dir + "/b"); File.Move(dir + "/b", file); return File.Exists(file); });
        Check("files.copy", () => { File.Copy(file, dir + "/k"); return File.Exists(dir + "/k"); });
        Check("files.folders", () => Directory.CreateDirectory(dir + "/a/b/c").Exists);
        Check("files.remove", () => { Directory.Delete(dir + "/a", true); return Directory.Exists(dir + "/a"); });
        Check("files.times", () => { File.SetLastWriteTimeUtc(file, new DateTime(2000, 1, 1)); return File.GetLastWriteTimeUtc(file).Year; });
        Check("files.attributes", () => File.GetAttributes(file));
        Check("files.own", () => { File.WriteAllText("probe-made", "x"); File.Delete("probe-made"); return true; });
        Check("files.temporary", () => File.Exists(Path.GetTempFileName()));
        Check("files.missing", () => File.ReadAllText("no-such-file"));
        Check("files.exclusive", () => new FileStream(file, FileMode.CreateNew));
        Check("files.shared", () => { using (new FileStream(file, FileMode.Open, FileAccess.ReadWrite, FileShare.None)) return new FileStream(file, FileMode.Open).Length; });
        Check("files.truncate", () => { using (var f = File.OpenWrite(file)) { f.SetLength(4); f.Flush(true); return f.Length; } });
        Check("files.seek", () => { using (var f = File.OpenRead(file)) { f.Seek(2, SeekOrigin.Begin); return f.ReadByte(); } });
        Check("files.async", () => { using (var f = File.OpenRead(file)) return f.ReadAsync(new byte[9], 0, 9).Result; });
        Check("files.listed", () => Directory.GetFiles(dir).Length);
        Check("files.root", () => Directory.GetDirectories("/").Length > 0);
        Check("files.walk", () => Directory.EnumerateFiles(dir, "*", SearchOption.AllDirectories).Count());
        Check("files.unicode", () => { File.WriteAllText(dir + "/ünï ✓", "x"); return File.Exists(dir + "/ünï ✓"); });
        Check("files.shm", () => { File.WriteAllText("/dev/shm/probe-cs", "x"); File.Delete("/dev/shm/probe-cs"); return true; });
        Check("files.cwd", () => Directory.Exists(Environment.CurrentDirectory));
        Check("files.home", () => Environment.GetFolderPath(Environment.SpecialFolder.UserProfile).Length > 0);
        Check("files.drive", () => new DriveInfo("/").TotalSize > 0);
        Check("locks.file", () => { using (var f = new FileStream(file, FileMode.Open, FileAccess.ReadWrite)) { f.Lock(0, 1); f.Unlock(0, 1); return true; } });
        Check("locks.monitor", () => { var o = new object(); lock (o) return Monitor.IsEntered(o); });
        Check("locks.mutex", () => { using (var m = new Mutex()) return m.WaitOne(5); });
        Check("locks.named", () => { using (var m = new Mutex(false, "probe-cs")) return m.WaitOne(5); });
        Check("locks.semaphore", () => new SemaphoreSlim(1).Wait(5));
        Check("locks.event", () => new ManualResetEventSlim().Wait(2));
        Check("locks.readers", () => new ReaderWriterLockSlim().TryEnterReadLock(5));
        Check("locks.barrier", () => { var b = new Barrier(2); var t = Task.Run(() => b.SignalAndWait()); b.SignalAndWait(); t.Wait(); return true; });
        Check("threads.one", () => { int n = 0; var t = new Thread(() => n = 7); t.Start(); t.Join(); return n; });
        Check("threads.twenty", () => { int n = 0; var all = Enumerable.Range(0, 20).Select(_ => new Thread(() => Interlocked.Increment(ref n))).ToList(); all.ForEach(t => t.Start()); all.ForEach(t => t.Join()); return n; });
        Check("threads.stack", () => { int n = 0; var t = new Thread(() => n = Deep(100000), 64 << 20); t.Start(); t.Join(); return n; });
        Check("threads.task", () => Task.Run(() => 3).Result);
        Check("threads.async", () => Later().Result);
        Check("threads.parallel", () => { int n = 0; Parallel.For(0, 1000, i => Interlocked.Add(ref n, i)); return n; });
        Check("threads.linq", () => Enumerable.Range(0, 1000).AsParallel().Sum());
        Check("threads.pool", () => { var e = new ManualResetEvent(false); ThreadPool.QueueUserWorkItem(_ => e.Set()); return e.WaitOne(5000); });
        Check("threads.timer", () => { var e = new ManualResetEvent(false); using (new Timer(_ => e.Set(), null, 2, -1)) return e.WaitOne(5000); });
        Check("threads.local", () => { own = 5; int other = -1; var t = new Thread(() => other = own); t.Start(); t.Join(); return other; });
        Check("threads.priority", () => { var t = new Thread(() => { }) { Priority = ThreadPriority.Lowest }; t.Start(); t.Join(); return true; });
        Check("threads.cancelled", () => { var c = new CancellationTokenSource(2); return Task.Delay(9000, c.Token).Wait(9000); });
        Check("threads.queue", () => { var q = new BlockingCollection<int>(); Task.Run(() => { q.Add(6); q.CompleteAdding(); }); return q.GetConsumingEnumerable().Sum(); });
        Check("processes.shell", () => Run("sh", "-c \"echo $((1+1))\""));
        Check("processes.code", () => Run("sh", "-c \"exit 7\""));
        Check("processes.input", () => Run("cat", "", "through"));
        Check("processes.missing", () => Run("no-such-program", ""));
        Check("processes.killed", () => { using (var p = Process.Start(new ProcessStartInfo("sleep", "9") { UseShellExecute = false })) { p.Kill(); p.WaitForExit(); return p.HasExited; } });
        Check("processes.timeout", () => { using (var p = Process.Start(new ProcessStartInfo("sleep", "9") { UseShellExecute = false })) { bool b = p.WaitForExit(5); p.Kill(); return b; } });
        Check("processes.environment", () => { var s = new ProcessStartInfo("sh", "-c \"echo $PROBE\"") { UseShellExecute = false, RedirectStandardOutput = true }; s.EnvironmentVariables["PROBE"] = "x"; return Process.Start(s).StandardOutput.ReadToEnd().Trim(); });
        Check("processes.own", () => Process.GetCurrentProcess().Threads.Count > 0);
        Check("processes.cpu", () => Process.GetCurrentProcess().TotalProcessorTime.Ticks > 0);
        Check("memory.hundred", () => new byte[100 << 20].Length);
        Check("memory.garbage", () => { long n = 0; for (int i = 0; i < 200; i++) n += new byte[4 << 20].Length; return n; });
        Check("memory.collect", () => { GC.Collect(); GC.WaitForPendingFinalizers(); return GC.CollectionCount(2) > 0; });
        Check("memory.working", () => Process.GetCurrentProcess().WorkingSet64 > 0);
        Check("memory.map", () => { using (var m = MemoryMappedFile.CreateFromFile(file, FileMode.Open)) using (var v = m.CreateViewAccessor()) { v.Write(0, (byte)65); return v.ReadByte(0); } });
        Check("time.zone", () => TimeZoneInfo.Local.BaseUtcOffset);
        Check("time.vienna", () => TimeZoneInfo.ConvertTimeFromUtc(new DateTime(2020, 7, 1), TimeZoneInfo.FindSystemTimeZoneById("Europe/Vienna")).Hour);
        Check("time.stopwatch", () => { var s = Stopwatch.StartNew(); Thread.Sleep(1); return s.ElapsedTicks > 0; });
        Check("time.resolution", () => Stopwatch.IsHighResolution);
        Check("time.now", () => DateTime.UtcNow.Year > 2000);
        Check("texts.encoding", () => Console.OutputEncoding.WebName);
        Check("texts.culture", () => CultureInfo.CurrentCulture.Name);
        Check("texts.german", () => (1234.5).ToString("N1", new CultureInfo("de-DE")));
        Check("texts.compare", () => string.Compare("a", "B", StringComparison.InvariantCultureIgnoreCase));
        Check("texts.regex", () => Regex.Match("abc12", @"\d+").Value);
        Check("world.cpus", () => Environment.ProcessorCount);
        Check("world.system", () => Environment.OSVersion.Platform);
        Check("world.version", () => Environment.Version);
        Check("world.user", () => Environment.UserName.Length > 0);
        Check("world.host", () => Environment.MachineName.Length > 0);
        Check("world.variable", () => Environment.GetEnvironmentVariable("PATH").Length > 0);
        Check("world.bits", () => Environment.Is64BitProcess);
        Check("world.interfaces", () => NetworkInterface.GetAllNetworkInterfaces().Length > 0);
        Check("sockets.loopback", () => { var l = new TcpListener(IPAddress.Loopback, 0); l.Start(); l.Stop(); return true; });
        Check("sockets.pipe", () => { using (var s = new AnonymousPipeServerStream(PipeDirection.Out)) using (var c = new AnonymousPipeClientStream(PipeDirection.In, s.ClientSafePipeHandle)) { s.WriteByte(9); return c.ReadByte(); } });
        Check("libraries.hash", () => BitConverter.ToString(SHA256.Create().ComputeHash(new byte[1])).Substring(0, 8));
        Check("libraries.random", () => { var b = new byte[8]; using (var r = RandomNumberGenerator.Create()) r.GetBytes(b); return b.Any(x => x != 0); });
        Check("libraries.seeded", () => new Random(5).Next(0, 1) == 0);
        Check("libraries.zip", () => { var m = new MemoryStream(); using (var g = new GZipStream(m, CompressionMode.Compress, true)) g.Write(new byte[9999], 0, 9999); return m.Length < 200; });
        Check("libraries.big", () => BigInteger.Pow(3, 90));
        Check("libraries.iterator", () => Numbers().Sum());
        Check("libraries.dynamic", () => { dynamic x = 5; return x + 1; });
        Check("libraries.expression", () => { System.Linq.Expressions.Expression<Func<int, int>> e = x => x * 2; return e.Compile()(21); });
        Check("libraries.jit", () => { int x = 0; for (int i = 0; i < 5000000; i++) x = unchecked(x * 31 + i); return x; });
        Check("libraries.null", () => { string s = null; return s.Length; });
        Check("libraries.zero", () => { int z = done - done; return 1 / z; });
        Directory.Delete(dir, true);
        Console.WriteLine("checks: " + done);
        Environment.Exit(0);
    }
}
