// Asks the system what a bot in Node may rely on: one line for each check, the same outside and inside.
import fs from 'node:fs'; import os from 'node:os'; import path from 'node:path'; import cp from 'node:child_process';
import zlib from 'node:zlib'; import crypto from 'node:crypto'; import net from 'node:net'; import dns from 'node:dns/promises';
import { Worker, isMainThread } from 'node:worker_threads'; import { performance } from 'node:perf_hooks'; import v8 from 'node:v8'; import vm from 'node:vm';
import timers from 'node:timers/promises'; import { createRequire } from 'node:module'; import url from 'node:url';

let done = 0;
async function check(name, act) {
  done += 1;
  let said;
  try { said = await act(); } catch (error) { said = `${error.name} ${error.code ?? ''}`.trim(); }
  console.log(`${name}: ${JSON.stringify(said)}`);
}
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'probe-'));
const file = path.join(dir, 'file');
fs.writeFileSync(file, '0123456789');
const run = (line) => { const r = cp.spawnSync('sh', ['-c', line], { encoding: 'utf8', timeout: 20000 }); return [r.status, r.signal, r.stdout.trim(), r.stderr !== '']; };
const worker = (code, more = {}) => new Promise((good, bad) => { const w = new Worker(code, { eval: true, ...more }); w.on('message', good); w.on('error', bad); });

const checks = {
  'files.read': () => fs.readFileSync(file, 'utf8'),
  'files.append': () => (fs.appendFileSync(file, 'x'), fs.statSync(file).size),
  'files.rename': () => (fs.renameSync(file, file + 'b'), fs.renameSync(file + 'b', file), fs.existsSync(file)),
  'files.symlink': () => (fs.symlinkSync('file', path.join(dir, 'l')), fs.readlinkSync(path.join(dir, 'l'))),
  'files.link': () => (fs.linkSync(file, path.join(dir, 'h')), fs.statSync(file).nlink),
  'files.mkdir': () => (fs.mkdirSync(path.join(dir, 'a/b'), { recursive: true }), fs.existsSync(path.join(dir, 'a/b'))),
  'files.remove': () => (fs.rmSync(path.join(dir, 'a'), { recursive: true }), fs.existsSync(path.join(dir, 'a'))),
  'files.copy': () => (fs.copyFileSync(file, file + 'c'), fs.readFileSync(file + 'c', 'utf8').length),
  'files.chmod': () => (fs.chmodSync(file, 0o640), (fs.statSync(file).mode & 0o777).toString(8)),
  'files.promises': async () => (await fs.promises.readFile(file)).length,
  'files.stream': () => new Promise((good) => { let n = 0; fs.createReadStream(file).on('data', (b) => { n += b.length; }).on('end', () => good(n)); }),
  'files.own': () => (fs.writeFileSync('probe-made', 'x'), fs.unlinkSync('probe-made')),
  'files.cwd': () => fs.realpathSync(process.cwd()) === fs.realpathSync(path.dirname(url.fileURLToPath(import.meta.url))),
  'files.tmp': () => fs.existsSync(os.tmpdir()),
  'files.home': () => fs.existsSync(os.homedir()),
  'files.shm': () => (fs.writeFileSync('/dev/shm/probe-node', 'x'), fs.unlinkSync('/dev/shm/probe-node')),
  'files.usr': () => fs.readdirSync('/usr').includes('bin'),
  'files.root': () => fs.readdirSync('/').includes('usr'),
  'files.watch': () => fs.watch(dir).close(),
  'files.watch_file': () => (fs.watchFile(file, () => {}), fs.unwatchFile(file)),
  'files.access': () => fs.accessSync(file, fs.constants.R_OK),
  'files.exclusive': () => fs.openSync(file, 'wx'),
  'files.missing': () => fs.readFileSync('no-such-file'),
  'files.statfs': () => fs.statfsSync(dir).bsize > 0,
  'processes.shell': () => run('echo $((1 + 1))'),
  'processes.code': () => run('exit 7'),
  'processes.killed': () => run('kill -9 $$'),
  'processes.missing': () => cp.spawnSync('no-such-program').error.code,
  'processes.exec': () => cp.execSync('echo x').toString(),
  'processes.node': () => cp.execFileSync(process.execPath, ['-p', '1']).toString(),
  'processes.node_on_path': () => cp.execFileSync('node', ['-p', 'process.version']).toString().trim() === process.version,
  'processes.fork': () => new Promise((good, bad) => { const f = path.join(dir, 'child.cjs'); fs.writeFileSync(f, 'process.send(5)'); cp.fork(f).on('message', good).on('error', bad); }),
  'processes.detached': () => new Promise((good) => cp.spawn('true', { detached: true }).on('exit', good)),
  'processes.timeout': () => cp.spawnSync('sleep', ['9'], { timeout: 50 }).signal,
  'processes.tree': () => run('for i in 1 2 3 4 5 6 7 8; do sleep 0.01 & done; wait; echo ok'),
  'threads.worker': () => worker("require('worker_threads').parentPort.postMessage(3)"),
  'threads.four': async () => (await Promise.all([1, 2, 3, 4].map((n) => worker(`require('worker_threads').parentPort.postMessage(${n})`)))).length,
  'threads.shared': async () => { const s = new SharedArrayBuffer(8); await worker("const { workerData, parentPort } = require('worker_threads'); Atomics.add(new Int32Array(workerData), 0, 4); parentPort.postMessage(1)", { workerData: s }); return new Int32Array(s)[0]; },
  'threads.wait': () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5),
  'threads.main': () => isMainThread,
  'threads.pool': () => new Promise((good) => crypto.pbkdf2('a', 'b', 10, 8, 'sha256', (_, k) => good(k.length))),
  'memory.hundred': () => new Uint8Array(100 << 20).fill(1).length,
  'memory.heap': () => { const all = []; for (let i = 0; i < 2e6; i += 1) all.push({ i }); return all.length; },
  'memory.gc': () => { for (let i = 0; i < 300; i += 1) new Uint8Array(4 << 20).fill(i); return true; },
  'memory.total_agrees': () => os.totalmem() / 1024 === Number(fs.readFileSync('/proc/meminfo', 'utf8').split(/\s+/)[1]),
  'memory.free': () => os.freemem() > 0 && os.freemem() <= os.totalmem(),
  'memory.limit_fits': () => v8.getHeapStatistics().heap_size_limit < os.totalmem(),
  'memory.rss': () => process.memoryUsage.rss() > 0,
  'memory.resident': () => process.resourceUsage().maxRSS > 0,
  'world.cpus': () => os.cpus().length,
  'world.model': () => os.cpus()[0].model !== '',
  'world.parallelism': () => os.availableParallelism() >= 1,
  'world.load': () => os.loadavg().length,
  'world.uptime': () => os.uptime() > 0,
  'world.user': () => os.userInfo().username !== '',
  'world.host': () => os.hostname() !== '',
  'world.platform': () => [os.platform(), os.arch(), os.endianness(), os.type()],
  'world.version': () => process.version,
  'world.exec': () => fs.existsSync(process.execPath),
  'processes.nice': () => os.setPriority(0, os.getPriority()),
  'world.interfaces': () => typeof os.networkInterfaces(),
  'world.stdin_tty': () => process.stdin.isTTY === true,
  'time.zone': () => Intl.DateTimeFormat().resolvedOptions().timeZone,
  'time.vienna': () => new Date(0).toLocaleString('de-AT', { timeZone: 'Europe/Vienna' }),
  'time.tz': () => { process.env.TZ = 'Asia/Tokyo'; const h = new Date(0).getHours(); delete process.env.TZ; return h; },
  'time.hrtime': () => process.hrtime.bigint() > 0n,
  'time.performance': () => performance.now() > 0,
  'time.cpu': () => process.cpuUsage().user > 0,
  'time.timeout': () => timers.setTimeout(5, 'rang'),
  'texts.locale': () => Intl.DateTimeFormat().resolvedOptions().locale,
  'texts.sort': () => ['b', 'ä', 'A'].sort(new Intl.Collator('de').compare),
  'texts.number': () => (1234.5).toLocaleString('de-DE'),
  'texts.encoding': () => new TextDecoder('utf-16le').decode(new Uint8Array([65, 0])),
  'signals.usr2': () => new Promise((good) => { process.once('SIGUSR2', () => good('came')); process.kill(process.pid, 'SIGUSR2'); }),
  'signals.zero': () => process.kill(process.pid, 0),
  'sockets.loopback': () => new Promise((good, bad) => { const s = net.createServer((c) => { c.end('x'); s.close(); }); s.on('error', bad); s.listen(0, '127.0.0.1', () => net.connect(s.address().port, '127.0.0.1').on('data', (d) => good(d.toString()))); }),
  'sockets.path': () => new Promise((good, bad) => { const p = path.join(dir, 's'); const s = net.createServer((c) => { c.end('x'); s.close(); }); s.on('error', bad); s.listen(p, () => net.connect(p).on('data', (d) => good(d.toString()))); }),
  'sockets.resolve': async () => (await dns.lookup('localhost', { family: 4 })).address,
  'libraries.gzip': () => zlib.gunzipSync(zlib.gzipSync('x')).toString(),
  'libraries.brotli': () => zlib.brotliDecompressSync(zlib.brotliCompressSync('x')).toString(),
  'libraries.hash': () => crypto.createHash('sha256').update('x').digest('hex').slice(0, 8),
  'libraries.random': () => crypto.randomBytes(8).length,
  'libraries.vm': () => vm.runInNewContext('1 + 1'),
  'libraries.wasm': () => new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) instanceof WebAssembly.Module,
  'libraries.require': () => typeof createRequire(import.meta.url)('node:fs').readFileSync,
  'libraries.import': async () => { fs.writeFileSync('beside.mjs', 'export default 6'); try { return (await import(url.pathToFileURL(path.resolve('beside.mjs')).href)).default; } finally { fs.unlinkSync('beside.mjs'); } },
  'libraries.jit': () => { let x = 0; for (let i = 0; i < 5e6; i += 1) x = (x * 31 + i) | 0; return x; },
};
// What waits for a signal keeps no program alive.
setInterval(() => {}, 1000);
for (const [name, act] of Object.entries(checks)) await check(name, act);
fs.rmSync(dir, { recursive: true });
console.log(`checks: ${done}`);
process.exit(0);
