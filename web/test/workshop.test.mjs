// The workshop: a bot in JavaScript, written beside the board. The script it runs is untrusted, and gets nothing.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { close, engines as withEngines, Stage } from './stage.mjs'

const stage = new Stage()
const pictures = process.env.AGON_PLAY_PICTURES
let module

before(async () => {
  const address = await stage.watch()
  module = await stage.module(address)
})

after(() => stage.end())

/** A test that needs the engines. */
const engines = (name, run) => withEngines(() => module, name, run)

/** Opens the workshop with a script of its own, and waits for its first match. */
async function open(name, source, options = {}) {
  stage.write(name, source)
  const page = await stage.browse({ acceptDownloads: true, ...options })
  const link = new URL(await stage.watch(name))
  await page.goto(`${link.origin}/#workshop=ostibot`)
  await played(page)
  return page
}

/** Waits until a match was played, or cannot be. */
async function played(page) {
  await page.waitForFunction(() => window.agon?.editor && window.agon.run && !window.agon.running, undefined, { timeout: 60_000 })
}

/** Replaces the script in the editor, and saves it. */
async function write(page, source) {
  await page.evaluate((source) => {
    window.agon.editor.set(source)
    window.before = window.agon.run
  }, source)
  await page.getByRole('textbox', { name: 'The script' }).press('Control+s')
  await page.waitForFunction(() => !window.agon.running && window.agon.run !== window.before, undefined, { timeout: 60_000 })
}

const printed = (page) => page.evaluate(() => [...window.agon.run.printed.values()].join(''))
const problem = (page) => page.evaluate(() => window.agon.run.problem)

const WALKER = `export const script = {
  shop() { return { actions: [] } },
  play(input) {
    console.log('turn', input.gameState.turn, '<img src=x onerror="window.broken=1">')
    return { actions: [] }
  },
}
`

engines('a script is played at once, and again whenever it is saved; its console stands beside the turn', async () => {
  const page = await open('bot.js', WALKER)
  assert.equal(await problem(page), undefined)
  const steps = await page.evaluate(() => window.agon.players[0].stream.total)
  assert.ok(steps > 20, `${steps} steps`)
  await page.evaluate(() => window.agon.players[0].goToStep([...window.agon.run.printed.keys()][0]))
  await page.locator('.console').getByText(/^turn 1 <img/).waitFor()
  assert.equal(await page.evaluate(() => window.broken), undefined)
  if (pictures) {
    await page.evaluate(() => window.agon.players[0].goToStep(20))
    await page.waitForTimeout(400)
    for (const [name, width, height] of [['desktop', 1440, 900], ['phone', 390, 844]]) {
      await page.setViewportSize({ width, height })
      await page.waitForTimeout(300)
      await page.screenshot({ path: `${pictures}/workshop-${name}.png`, fullPage: name === 'phone' })
    }
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByRole('button', { name: /colours/ }).click()
    await page.waitForTimeout(200)
    await page.screenshot({ path: `${pictures}/workshop-other.png` })
  }
  await write(page, WALKER.replace("'turn'", "'now in turn'"))
  assert.match(readFileSync(stage.path('bot.js'), 'utf8'), /now in turn/)
  assert.match(await printed(page), /^now in turn 1 /m)
  // What somebody else has changed meanwhile is not overwritten.
  writeFileSync(stage.path('bot.js'), '// by somebody else\n')
  await page.evaluate(() => window.agon.editor.set('export const script = { play() { return { actions: [] } } }'))
  await page.evaluate(() => (window.before = window.agon.run))
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.waitForFunction(() => !window.agon.running && window.agon.run !== window.before)
  // The match that is played at once says nothing of the file: that it was not saved stays there to be read.
  assert.match(await page.locator('.status').innerText(), /Not saved: .*changed on disk/)
  assert.equal(readFileSync(stage.path('bot.js'), 'utf8'), '// by somebody else\n')
  // The file is read again, written, and saved: that is confirmed.
  page.removeAllListeners('dialog')
  page.once('dialog', (dialog) => dialog.accept())
  await page.getByRole('button', { name: 'Reload from disk' }).click()
  await page.getByText(/bot\.js read again/).waitFor()
  // What was read is played first.
  await page.waitForFunction(() => !window.agon.running)
  await write(page, WALKER)
  assert.match(await page.locator('.status').innerText(), /^bot\.js saved\.$/)
  await close(page)
})

engines('when agon is gone, that is what is said, and the script is not blamed', async () => {
  stage.write('gone.js', WALKER)
  const page = await stage.browse()
  const link = new URL(await stage.watch('gone.js'))
  const server = stage.servers.at(-1)
  await page.goto(`${link.origin}/#workshop=ostibot`)
  await played(page)
  server.kill('SIGKILL')
  await new Promise((done) => server.on('exit', done))
  await page.evaluate(() => window.agon.editor.set('export const script = { play() { return { actions: [] } } }'))
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText(/The box that scripts run in did not open/).waitFor()
  const told = await page.locator('.status').innerText()
  assert.match(told, /Not saved: agon no longer answers/)
  assert.doesNotMatch(told, /script was stopped/)
  assert.equal(readFileSync(stage.path('gone.js'), 'utf8'), WALKER)
  await close(page)
})

engines('mistakes are told at their lines', async () => {
  const page = await open('wrong.js', 'export const script = {\n  play(input) {\n    return input.nobody.knows\n  },\n}\n')
  assert.match(await problem(page), /TypeError/)
  assert.deepEqual(await page.evaluate(() => window.agon.run.mistakes.map(({ line }) => line)), [3])
  assert.equal(await page.locator('.cm-lintRange-error').count(), 1)
  await page.evaluate(() => window.agon.editor.set('export const script = {\n  play( {\n}\n'))
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText(/Line \d is not valid JavaScript/).waitFor()
  await write(page, 'export const bot = 1\n').catch(() => {})
  await page.getByText('it exports no `script`').first().waitFor()
  await close(page)
})

engines('without a file the script is downloaded, and any other file is out of reach', async () => {
  const page = await stage.browse({ acceptDownloads: true })
  const address = new URL(await stage.watch()).origin
  await page.goto(`${address}/#workshop=ostibot`)
  await played(page)
  assert.equal(await problem(page), undefined, 'the starter plays')
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  assert.equal((await downloading).suggestedFilename(), 'bot.js')
  const refused = await page.evaluate(async () => {
    const headers = { 'x-agon-key': sessionStorage.getItem('x-agon-key'), 'content-type': 'text/plain' }
    const answer = await fetch('/api/script?was=0', { method: 'POST', headers, body: 'x' })
    return [answer.status, (await answer.json()).error]
  })
  assert.equal(refused[0], 422)
  assert.match(refused[1], /started without a script/)
  await close(page)
})

/** Tries all ways out that a script could think of, and prints the result of each. */
const hostile = (port) => `
const tried = {}
const attempt = (name, run) => {
  try {
    const value = run()
    tried[name] = value === undefined ? 'nothing' : 'GOT ' + typeof value
  } catch (error) { tried[name] = 'refused' }
}
const everywhere = (name) => {
  // Not by name alone: by every global there is, by code made of text, by the constructor of every kind of function.
  const own = globalThis[name]
  if (own !== undefined) return own
  return Function('return typeof ' + name + ' === "undefined" ? undefined : ' + name)()
}
for (const name of ['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource', 'WebTransport', 'importScripts', 'indexedDB', 'caches', 'Worker',
  'SharedWorker', 'BroadcastChannel', 'MessageChannel', 'postMessage', 'parent', 'top', 'opener', 'window', 'self', 'document', 'location',
  'navigator', 'localStorage', 'sessionStorage', 'close', 'onmessage', 'addEventListener', 'setTimeout', 'createImageBitmap', 'URL', 'Blob',
  'WebAssembly', 'SharedArrayBuffer', 'Atomics']) attempt(name, () => everywhere(name))
attempt('the prototypes of the global', () => {
  for (let owner = globalThis; owner; owner = Object.getPrototypeOf(owner)) {
    for (const name of ['fetch', 'postMessage', 'importScripts', 'indexedDB']) if (Object.getOwnPropertyDescriptor(owner, name)) return name
  }
})
globalThis.onmessage = () => ({ answer: '{}' })
const imports = []
for (const address of ['http://127.0.0.1:${port}/import.js', 'data:text/javascript,export default 1', '/editor.js']) {
  imports.push(import(address).then(() => 'GOT a module', () => 'refused').then((came) => { tried['import ' + address.slice(0, 5)] = came }))
}
await Promise.all(imports)
export const script = {
  play(input) {
    if (input.gameState.turn === 1) console.log('TRIED ' + JSON.stringify(tried))
    return { actions: [] }
  },
}
`

engines('a hostile script gets nothing, and the page stays alive', async () => {
  // Whatever gets out arrives here.
  const came = []
  const outside = createServer((request, answer) => {
    came.push(request.url)
    answer.setHeader('access-control-allow-origin', '*')
    answer.end('export default 1')
  })
  await new Promise((done) => outside.listen(0, '127.0.0.1', done))
  try {
    const page = await open('hostile.js', hostile(outside.address().port))
    const said = /TRIED (.*)/.exec(await printed(page))
    assert.ok(said, `it was played: ${await problem(page)}`)
    const tried = JSON.parse(said[1])
    for (const [name, what] of Object.entries(tried)) assert.ok(['nothing', 'refused'].includes(what), `${name}: ${what}`)
    assert.ok(Object.keys(tried).length > 30)
    assert.deepEqual(came, [])
    // The browser itself reports what the policy refuses.
    page.wrong = page.wrong.filter((line) => !/Content Security Policy|Refused to|violates the following/.test(line))
    for (const [what, source, ends] of [
      ['an endless loop', 'export const script = { play() { for (;;); } }', /did not answer/],
      ['an endless loop at the start', 'for (;;);', /did not answer/],
      ['endless promises', 'const on = () => Promise.resolve().then(on)\nexport const script = { play() { on(); return { actions: [] } } }', /did not answer/],
      ['endless output', "export const script = { play() { for (;;) console.log('x'.repeat(1000)) } }", /did not answer/],
      ['a huge message', "export const script = { play({ gameState }) { return { actions: [], state: 'x'.repeat(gameState.turn === 1 ? 100 << 20 : 1) } } }", /1048576 are kept|did not answer/],
      ['a huge line', "export const script = { play({ gameState }) { console.log('x'.repeat(gameState.turn === 1 ? 100 << 20 : 1)); return { actions: [] } } }", undefined],
      ['a world turned round', "Object.prototype.toJSON = () => ({ ended: 1 })\nArray.prototype.indexOf = String.prototype.slice = () => { throw 1 }\nPromise.prototype.then = () => {}\nexport const script = { play() { return { actions: [] } } }", null],
    ]) {
      await write(page, source)
      if (ends instanceof RegExp) assert.match(await problem(page), ends, what)
      if (ends === undefined) assert.equal(await problem(page), undefined, what)
      assert.ok((await printed(page)).length <= 5 << 20, what)
      // The page responds at once, and nothing of the script is left.
      assert.equal(await page.locator('iframe').count(), 0, what)
      assert.equal(await page.evaluate(() => 6 * 7), 42, what)
    }
    await write(page, WALKER)
    assert.equal(await problem(page), undefined)
    assert.deepEqual(came, [])
    await close(page)
  } finally {
    outside.close()
  }
})

test('the box that scripts run in lets nothing out, and nobody else frames it', async () => {
  const address = new URL(await stage.watch()).origin
  const answer = await fetch(`${address}/box.html`)
  const policy = answer.headers.get('content-security-policy')
  assert.match(policy, /^sandbox allow-scripts;/)
  assert.match(policy, /connect-src 'none'/)
  assert.match(policy, /frame-ancestors 'self'/)
  assert.equal(answer.headers.get('x-frame-options'), 'SAMEORIGIN')
  // Text may become code nowhere else.
  assert.doesNotMatch((await fetch(address)).headers.get('content-security-policy'), /'unsafe-eval'/)
})
