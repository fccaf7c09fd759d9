// The same day on many machines: two servers of one contest behind a proxy, its database on PostgreSQL, its objects in a
// bucket, two machines that play. In the middle one server and one of those machines are killed, while a page waits for
// them.

import { strict as assert } from 'node:assert'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { ADDRESS, apart, day } from './day.mjs'
import { AGON, Stage } from './stage.mjs'

/** Nobody else is in this network, so every port is free. */
const [PROXY, SERVERS, BUCKET] = [8080, [8081, 8082], 8083]
const SITE = `http://${ADDRESS}:${PROXY}`
/** PostgreSQL refuses to run as root; then it runs as `nobody`. */
const NOBODY = process.getuid() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** Where `initdb`, `postgres` and `psql` are, if they are. */
function postgresPrograms() {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, 'bin')) : []
  const all = [process.env.AGON_PG_BIN, ...versions, ...(process.env.PATH ?? '').split(':')]
  return all.find((folder) => folder && ['initdb', 'postgres', 'psql'].every((name) => existsSync(join(folder, name))))
}

const PROGRAMS = postgresPrograms()
const LACKS = PROGRAMS ? null : 'no PostgreSQL is here (AGON_PG_BIN names the folder of initdb, postgres and psql)'
if (LACKS && process.env.AGON_REQUIRE_POSTGRES) throw new Error(LACKS)

/** The program with the bucket: the Rust test that kills many machines, as last built. */
function bucketProgram() {
  const folder = join(dirname(AGON), 'deps')
  const built = readdirSync(folder).filter((name) => /^alone-[0-9a-f]+$/.test(name)).map((name) => join(folder, name))
  assert.ok(built.length > 0, `${folder} has no program alone: cargo test --workspace --no-run --test alone`)
  return built.sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)[0]
}

/** Waits until the condition holds. */
async function until(what, is) {
  for (let tries = 0; tries < 1200; tries++) {
    if (await is()) return
    await new Promise((done) => setTimeout(done, 50))
  }
  assert.fail(what)
}

/** Whether anything listens on a port of this machine. */
const listens = (port) =>
  new Promise((say) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => (socket.destroy(), say(true))).once('error', () => say(false))
  })

/** A PostgreSQL that ends together with this process, however it ends, and removes its folder. */
class Postgres {
  async begin() {
    this.place = mkdtempSync(join(tmpdir(), 'agon-postgres-'))
    if (NOBODY.uid) chownSync(this.place, NOBODY.uid, NOBODY.gid)
    const initdb = ['--no-sync', '-A', 'trust', '-U', 'agon', '-E', 'UTF8', '--locale=C', '-D', 'data']
    const made = spawnSync(join(PROGRAMS, 'initdb'), initdb, { cwd: this.place, encoding: 'utf8', ...NOBODY })
    assert.equal(made.status, 0, made.stderr)
    const server = [join(PROGRAMS, 'postgres'), '-D', 'data', '-k', this.place, '-c', 'listen_addresses=', '-c', 'fsync=off']
    const script = '"$0" "$@" <&- & read end; kill -QUIT $!; wait $!; rm -rf "$PWD"'
    this.child = spawn('sh', ['-c', script, ...server], { cwd: this.place, stdio: ['pipe', 'ignore', 'ignore'], ...NOBODY })
    await until('PostgreSQL answers', () => this.ask('SELECT 1'))
    assert.ok(this.ask('CREATE DATABASE cup'))
    return `postgres://agon@localhost/cup?host=${encodeURIComponent(this.place)}`
  }

  ask(statement) {
    return spawnSync(join(PROGRAMS, 'psql'), ['-h', this.place, '-U', 'agon', '-c', statement, 'postgres'], NOBODY).status === 0
  }

  end() {
    this.child?.stdin.end()
  }
}

/** One address for both servers: requests alternate between them, or go to the other if one does not listen. */
function proxy() {
  let turn = 0
  return createServer((asked, answer) => {
    const pass = (turn, tries) => {
      const headers = { ...asked.headers, 'x-forwarded-for': asked.socket.remoteAddress }
      const passed = request({ host: '127.0.0.1', port: SERVERS[turn % 2], method: asked.method, path: asked.url, headers, agent: false })
      // Nothing of the request may be consumed before there is somebody to take it.
      let taken = false
      passed.once('socket', (socket) => socket.once('connect', () => ((taken = true), asked.pipe(passed))))
      passed.once('error', () => (taken || tries === 0 ? answer.destroy() : pass(turn + 1, tries - 1)))
      passed.once('response', (got) => {
        answer.writeHead(got.statusCode, got.rawHeaders)
        got.once('error', () => answer.destroy())
        got.pipe(answer)
      })
      answer.once('close', () => passed.destroy())
    }
    pass(turn++, 1)
  }).listen(PROXY)
}

class Many {
  constructor(stage) {
    this.stage = stage
    this.postgres = new Postgres()
    this.running = {}
  }

  async begin() {
    mkdirSync(this.stage.path('bucket/cup'), { recursive: true })
    const bucket = { AGON_BUCKET: this.stage.path('bucket'), AGON_BUCKET_PORT: `${BUCKET}` }
    this.start('bucket', bucketProgram(), ['--exact', 'many::a_bucket_in_a_process_of_its_own', '--ignored'], bucket)
    const [database] = await Promise.all([this.postgres.begin(), until('the bucket answers', () => listens(BUCKET))])
    const objects = `s3://cup/autumn?endpoint=http://127.0.0.1:${BUCKET}&region=us-east-1`
    const keys = this.stage.write('cup0/objects.key', 'AWS_ACCESS_KEY_ID=key\nAWS_SECRET_ACCESS_KEY=secret of the bucket\n')
    chmodSync(keys, 0o600)
    await this.serve(0, '--new', 'cultist-wars', '--database', database, '--objects', objects)
    // Test machines have every speed, at every moment.
    const set = spawnSync(AGON, ['serve', 'set', 'cup0', 'tolerance=90'], { cwd: this.stage.folder, encoding: 'utf8' })
    assert.equal(set.status, 0, set.stderr)
    mkdirSync(this.stage.path('cup1'))
    for (const file of ['contest.toml', 'database.url', 'objects.url', 'objects.key']) copyFileSync(this.path(0, file), this.path(1, file))
    await this.serve(1)
    this.proxy = proxy()
    // Both know that the sandbox holds, once one of them has attacked it.
    mkdirSync(this.stage.path('walls'))
    for (const name of ['one', 'two']) this.work(name)
    // Each server that starts while there is no organiser makes a new link, and the last one is valid.
    return /(http\S+organiser\?link=\S+)/.exec(this.running.cup1.said)?.[1]
  }

  /** A file in a server's folder. */
  path(number, file) {
    return this.stage.path(`cup${number}/${file}`)
  }

  /** What the organiser decides on one server holds on both, from the answer on. */
  async settled(title) {
    const knows = async (port) => (await (await fetch(`http://127.0.0.1:${port}/`)).text()).includes(title)
    assert.ok((await Promise.all(SERVERS.map(knows))).every(Boolean), 'both servers know it')
  }

  start(name, program, words, env = {}) {
    const child = spawn(program, words, { cwd: this.stage.folder, stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    child.said = ''
    child.stdout.on('data', (data) => (child.said += data))
    child.stderr.on('data', (data) => (child.said += data))
    this.stage.servers.push(child)
    this.running[name] = child
  }

  async serve(number, ...more) {
    const name = `cup${number}`
    this.start(name, AGON, ['serve', name, '-j', '0', '--port', `${SERVERS[number]}`, '--behind-proxy', SITE, ...more])
    await until('a server listens', () => listens(SERVERS[number]))
    await until('a server says so', () => this.running[name].said.includes('Ctrl-C'))
  }

  work(name) {
    const token = spawnSync(AGON, ['serve', 'worker', 'cup0', name], { cwd: this.stage.folder, encoding: 'utf8' })
    assert.equal(token.status, 0, token.stderr)
    writeFileSync(this.stage.path(`${name}.token`), token.stdout, { mode: 0o600 })
    const cache = this.stage.path(`cache-${name}`)
    mkdirSync(cache)
    symlinkSync(this.stage.path('walls'), join(cache, 'walls'))
    this.start(name, AGON, ['work', SITE, '--token-file', `${name}.token`, '-j', '1'], { AGON_CACHE: cache })
  }

  /** Sends a signal to a process that is alive, and waits for its end. */
  async end(name, signal) {
    const { [name]: child } = this.running
    assert.ok(child.exitCode === null && child.signalCode === null, `${name} ended by itself: ${child.said}`)
    child.kill(signal)
    await new Promise((done) => child.once('exit', done))
    return child
  }

  /** Ends them as a power cut would. */
  async kill(...names) {
    for (const name of names) await this.end(name, 'SIGKILL')
  }

  /** Ends those that nobody has killed, in good order, except the database and the bucket. */
  async ends() {
    for (const name of ['two', 'cup1']) {
      const child = await this.end(name, 'SIGINT')
      assert.equal(child.exitCode, 0, child.said)
    }
    return 'cup1'
  }

  /** Removes whatever is left, also after a failed test: a machine that gives work back would wait for a server. */
  leave() {
    this.proxy?.close()
    this.proxy?.closeAllConnections()
    for (const child of Object.values(this.running)) child.kill('SIGKILL')
    this.postgres.end()
  }
}

apart(
  import.meta.url,
  'a day of a contest on many machines',
  () => {
    const stage = new Stage()
    const many = new Many(stage)
    let link
    before(async () => (link = await many.begin()))
    after(async () => {
      many.leave()
      await stage.end()
    })

    test('two servers and two machines on PostgreSQL and a bucket, one of each killed', { timeout: 270_000 }, async () => {
      // The pages are examined where the contest is in a folder.
      const settled = (title) => many.settled(title)
      const midway = () => many.kill('one', 'cup0')
      await day(stage, { address: SITE, link, looks: false, settled, midway, ends: () => many.ends() })
    })
  },
  LACKS,
)
