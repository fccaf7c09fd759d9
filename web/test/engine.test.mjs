// The engines in the page: they compute what the server computes, need nothing else, and fail in sentences.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { get } from 'node:http'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { close, engines as withEngines, GAMES, KEY, serious, Stage, standing, WAITER, whole } from './stage.mjs'

const stage = new Stage()
/** How many matches of each game are compared. */
const SEEDS = 10
let address
/** Where the module is; none if this program has none. */
let module

before(async () => {
  const names = []
  for (const [game, { bots }] of Object.entries(GAMES)) {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const name = `${game}-${seed}.replay`
      stage.agon('play', game, ...bots, '--seed', `${seed}`, '-q', '--replay', name)
      names.push(name)
    }
  }
  const bytes = readFileSync(stage.path('cultist-wars-1.replay'))
  const damaged = Buffer.from(bytes)
  damaged[damaged.length >> 1] ^= 0x40
  stage.write('damaged.replay', damaged)
  stage.write('cut.replay', bytes.subarray(0, bytes.length - 40))
  stage.write('foreign.replay', 'a letter, not a replay\n')
  stage.agon('replay', 'export', 'terminal-1.replay', '--format', 'terminal', '-o', 'record.replay')
  stage.agon('gauntlet', 'cultist-wars', 'builtin:greedy', 'builtin:hunter?nodes=300', '-n', '4', '--seed', '3', '--journal', 'series/journal.jsonl', '--replays', 'all')
  address = await stage.watch(...names, 'damaged.replay', 'cut.replay', 'foreign.replay', 'series/journal.jsonl')
  module = await stage.module(address)
})

after(() => stage.end())

/** A test that needs the engines. */
const engines = (name, run) => withEngines(() => module, name, run)

/** A page, and the paths it requests. */
async function watched(options) {
  const page = await stage.browse(options)
  page.asked = []
  page.on('request', (request) => page.asked.push(request.url()))
  return page
}

const asks = (page, path) => page.asked.filter((url) => new URL(url).pathname === path)

engines('the module comes packed, with its type, and is kept', async () => {
  const of = async (encoding) => {
    const answer = await fetch(new URL(module, address), { headers: { 'accept-encoding': encoding } })
    const { headers } = answer
    const bytes = new Uint8Array(await answer.arrayBuffer())
    assert.equal(Buffer.from(bytes.subarray(0, 4)).toString('latin1'), '\0asm')
    assert.equal(headers.get('content-type'), 'application/wasm')
    assert.match(headers.get('cache-control'), /immutable/)
    return headers.get('content-encoding')
  }
  assert.equal(await of('gzip, deflate, br'), 'br')
  assert.equal(await of('gzip'), 'gzip')
  assert.equal(await of('gzip, br;q=0'), 'gzip')
})

engines('a page computes its match itself, and asks the server for the file alone', async () => {
  const page = await watched()
  await page.goto(`${address}/#replay=cultist-wars-1.replay`)
  await whole(page)
  assert.equal(asks(page, '/api/file').length, 1)
  assert.deepEqual(asks(page, '/api/ask'), [])
  await page.evaluate(() => window.agon.players[0].goToStep(1))
  await page.getByRole('button', { name: 'Show its input' }).first().click()
  await page.waitForFunction(() => !document.querySelector('.asked')?.textContent.startsWith('Asking'))
  const input = stage.agon('replay', 'export', 'cultist-wars-1.replay', '--input', '--seat', '1', '--until', '1')
  assert.equal((await page.locator('.asked').textContent()).trim(), input.trim())
  assert.deepEqual(asks(page, '/api/ask'), [])
  await close(page)
  // A match of a journal too.
  const kept = await watched()
  await kept.goto(`${address}/#journal=series/journal.jsonl&match=1.1`)
  await whole(kept)
  assert.deepEqual([asks(kept, '/api/file').length, asks(kept, '/api/ask').length], [1, 0])
  await close(kept)
})

for (const game of Object.keys(GAMES)) {
  engines(`${game}: ${SEEDS} matches, what the page computes and what the server computes are the same to the byte`, async () => {
    const page = await stage.browse()
    for (let seed = 1; seed <= SEEDS; seed++) {
      const name = `${game}-${seed}.replay`
      // Only what follows the # changes: Firefox does not always say that this has loaded.
      await page.goto(`${address}/#replay=${name}`, { waitUntil: 'commit' })
      await page.waitForFunction((seed) => window.agon?.players[0]?.stream.head.seed === seed, `${seed}`)
      const { total, differ, head } = await page.evaluate(
        async ({ name, key }) => {
          const headers = { 'x-agon-key': key }
          const file = await (await fetch(`api/file?replay=${name}`, { headers })).blob()
          const ask = async (ask, file = '') =>
            (await fetch('api/ask', { method: 'POST', headers, body: new Blob([`${JSON.stringify(ask)}\n`, file]) })).text()
          const { id, head } = JSON.parse(await ask({ open: { private: true } }, file))
          const { stream } = window.agon.players[0]
          let differ = 0
          for (let next = 1; next <= stream.total; ) {
            const theirs = (await ask({ lines: { id, from: next, to: next + 31 } })).split('\n').filter((line) => line)
            const ours = await stream.steps.lines(next, next + 31)
            if (ours.length !== theirs.length || ours.some((line, at) => line !== theirs[at])) differ++
            next += theirs.length
          }
          return { total: stream.total, differ, head: JSON.stringify(stream.head) === JSON.stringify(head) }
        },
        { name, key: KEY },
      )
      assert.ok(total > 0)
      assert.deepEqual([differ, head], [0, true], name)
    }
    await close(page)
  })
}

engines('a dropped file opens without the server, ours and a record of an original', async () => {
  const page = await watched()
  await page.goto(address)
  const choose = page.locator('input[type=file]')
  for (const [file, game] of [['deerhunt-1.replay', 'deerhunt'], ['record.replay', 'terminal']]) {
    await choose.setInputFiles(stage.path(file))
    await page.waitForFunction((game) => window.agon?.players[0]?.stream.head.game === game, game)
    await whole(page)
    assert.equal(await page.evaluate(() => window.agon.players[0].stream.end.end), 'whole', file)
    await page.getByRole('button', { name: 'Matches' }).click()
  }
  assert.deepEqual([asks(page, '/api/ask'), asks(page, '/api/file')], [[], []])
  await close(page)
})

/** What the analysis says about the turn being viewed. */
const outlook = (page) => page.evaluate(() => window.agon.players[0].analyst?.outlook)

engines('analysis: the match is played on from the turn while one looks, is stopped, and tries another order', async () => {
  const page = await watched()
  await page.goto(`${address}/#replay=cultist-wars-1.replay&turn=20`)
  await whole(page)
  await page.getByRole('tab', { name: 'analysis' }).click()
  // More and more becomes known, and the error gets smaller.
  await page.waitForFunction(() => window.agon.players[0].analyst?.outlook?.orders[0]?.gain.count >= 40)
  const early = await outlook(page)
  assert.ok(Math.abs(early.chances.reduce((sum, { mean }) => sum + mean, 0) - 1) < 1e-9)
  await page.waitForFunction((pairs) => !window.agon.players[0].analyst.outlook.more || window.agon.players[0].analyst.outlook.pairs > 2 * pairs, early.pairs)
  const late = await outlook(page)
  assert.ok(!early.more || late.chances[0].error < early.chances[0].error)
  const panel = page.locator('.analysis')
  assert.match(await panel.textContent(), /[\d,]+ pairs of simulated continuations, played by greedy/)
  assert.match(await panel.textContent(), /\d+ ± \d+ %/)
  // Meanwhile the page responds: a step needs only a moment's wait for the other worker.
  await page.evaluate(() => window.agon.players[0].turn(1))
  await page.waitForFunction(() => window.agon.players[0].analyst.step === 21 && window.agon.players[0].analyst.outlook?.orders[0]?.gain.count > 0)
  await page.evaluate(() => window.agon.players[0].turn(-1))
  await page.waitForFunction(() => window.agon.players[0].analyst.step === 20 && window.agon.players[0].analyst.outlook?.orders[0]?.gain.count > 0)

  // Analysing all turns takes long; it stops, and stays stopped.
  await panel.getByLabel('Analyse all turns').check()
  await page.waitForFunction(() => window.agon.players[0].analyst.outlook?.seen[0] > 2)
  await panel.getByRole('button', { name: 'Stop' }).click()
  await panel.getByRole('button', { name: 'Continue' }).waitFor()
  const stopped = (await outlook(page)).pairs
  await page.waitForTimeout(400)
  assert.equal((await outlook(page)).pairs, stopped)

  // An invalid order is reported in a sentence, as is one that the rules refuse.
  await panel.getByLabel('The order instead, as a bot writes it').fill('0 FLY 3')
  await panel.getByRole('button', { name: 'See the chance change' }).click()
  await panel.getByRole('alert').getByText('FLY').waitFor()
  await panel.getByLabel('The order instead, as a bot writes it').fill('WAIT')
  await panel.getByRole('button', { name: 'See the chance change' }).click()
  await page.waitForFunction(() => window.agon.players[0].analyst.outlook?.wish?.gain.count >= 40)
  assert.match(await panel.textContent(), /with this order the chance changes by [+−]?\d+ ± \d+ points, from \d+ ± \d+ %/)
  // The original order changes nothing, down to the last future.
  const own = await page.evaluate(() => window.agon.players[0].analyst.written(window.agon.players[0].step.answers[0].seat))
  await panel.getByLabel('The order instead, as a bot writes it').fill(own)
  await panel.getByRole('button', { name: 'See the chance change' }).click()
  await page.waitForFunction(() => window.agon.players[0].analyst.outlook?.wish?.gain.count >= 10)
  assert.equal((await outlook(page)).wish.gain.mean, 0)

  // Whatever is beyond noise in any turn is listed, and leads there.
  await page.waitForFunction(() => window.agon.players[0].analyst.outlook?.marks.length > 0, undefined, { timeout: 60_000 })
  const listed = panel.locator('ol button').first()
  assert.match(await listed.textContent(), /with greedy's order, the chance of this seat would be \d+ ± \d+ points (higher|lower)/)
  await listed.click()
  // The list keeps changing meanwhile; what is marked stays marked.
  await page.waitForFunction(() => window.agon.players[0].analyst.step === window.agon.players[0].stepNumber && window.agon.players[0].analyst.outlook)
  const step = await page.evaluate(() => window.agon.players[0].stepNumber)
  assert.ok((await outlook(page)).marks.some((mark) => mark.step === step))
  await page.locator('.turn .verdict').waitFor()

  // Leaving the panel leaves no work running, and what was marked stays on the timeline, which says what it is, and leads
  // there.
  await page.getByRole('tab', { name: 'why' }).click()
  await page.waitForFunction(() => !window.agon.players[0].analyst.running)
  const strip = page.locator('.timeline canvas')
  const place = (width) =>
    page.evaluate((width) => {
      const { analyst, stream, count } = window.agon.players[0]
      const { step } = analyst.marks[0]
      return { step, x: 8 + ((width - 16) * stream.lastOf(step)) / (count - 1) }
    }, width)
  const marked = await place((await strip.boundingBox()).width)
  // The row of diamonds is below the picture of the chances.
  await strip.hover({ position: { x: marked.x, y: 63 } })
  await page.locator('.timeline .say').getByText(/with greedy's order, the chance of this seat would be \d+ ± \d+ points (higher|lower)/).waitFor()
  const colours = await strip.evaluate((canvas, x) => {
    const scale = window.devicePixelRatio
    const [red, green, blue, alpha] = canvas.getContext('2d').getImageData(Math.round(x * scale), Math.round(63 * scale), 1, 1).data
    return { red, green, blue, alpha }
  }, marked.x)
  assert.ok(colours.alpha > 200, JSON.stringify(colours))
  await strip.click({ position: { x: marked.x, y: 63 } })
  assert.equal((await standing(page)).step, marked.step)
  await close(page)
})

engines('analysis: the bot itself is asked whether its order was a mistake, and is stopped', async () => {
  // Two bots that wait: whoever converts one unit wins. Seat 1 is led next to a neutral unit by another bot, and then waits.
  stage.write('idle/bot.sh', WAITER)
  stage.write('idle/agon.toml', 'run = "sh bot.sh"\n[defaults]\ngame = "cultist-wars"\n')
  // Slow enough to be stopped: 40 matches of it last at least a quarter of a minute.
  stage.write('late/bot.sh', `sleep 0.4\n${WAITER}`)
  stage.write('late/agon.toml', 'run = "sh bot.sh"\n[defaults]\ngame = "cultist-wars"\n')
  stage.write('gone/bot.sh', 'exit 3\n')
  stage.write('gone/agon.toml', 'run = "sh bot.sh"\n[defaults]\ngame = "cultist-wars"\n')
  stage.agon('play', 'cultist-wars', 'builtin:greedy', 'idle', '--seed', '3', '-q', '--set', 'number_of_turns=12', '--replay', 'walked.replay')
  stage.agon('replay', 'fork', 'walked.replay', 'idle', '--seat', '1', '--turn', '4', '--against', 'idle', '--replay', 'idle.replay')
  const { origin } = new URL(await stage.watch('idle.replay'))
  const page = await watched()
  await page.goto(`${origin}/#replay=idle.replay&turn=5`)
  await whole(page)
  await page.getByRole('tab', { name: 'analysis' }).click()
  const panel = page.locator('.analysis')
  assert.equal(await panel.getByLabel('Bot to run').inputValue(), 'idle', 'the bot that the replay names')
  const said = panel.getByRole('status').filter({ hasText: 'of 20 simulations' })

  // A bot that does not exist is reported in a sentence.
  await panel.getByLabel('Bot to run').fill('nowhere/bot')
  await panel.getByRole('button', { name: 'Run the bot' }).click()
  await panel.getByRole('alert').getByText('nowhere/bot').waitFor()
  assert.doesNotMatch(await panel.textContent(), /[Ss]topped/, 'nobody stopped it')
  // So is one that ends on its way; that is no verdict on its order.
  await panel.getByLabel('Bot to run').fill('gone')
  await panel.getByRole('button', { name: 'Run the bot' }).click()
  await panel.getByRole('alert').getByText(/cannot be asked: it ended on the way to this turn\. turn 1/).waitFor()
  assert.doesNotMatch(await panel.textContent(), /[Mm]istake( that shows)?:/)

  // It plays on beside the page, which stays usable; and it is stopped.
  await panel.getByLabel('Bot to run').fill('idle')
  await panel.getByLabel('Against').fill('late')
  await panel.getByRole('button', { name: 'Run the bot' }).click()
  await page.waitForFunction(() => window.agon.players[0].trial.soFar?.futures > 0)
  await page.evaluate(() => window.agon.players[0].turn(1))
  await page.waitForFunction(() => window.agon.players[0].analyst.step === 6 && window.agon.players[0].analyst.outlook?.orders[0]?.gain.count > 0)
  assert.match(await said.textContent(), /turn \d+.*\d+ of 20 simulations/s, 'of the turn that was asked about')
  assert.doesNotMatch(await panel.textContent(), /[Mm]istake( that shows)?:/, 'no verdict before the end')
  // By keyboard, while what is known of the turn grows above it.
  await panel.getByRole('button', { name: 'Stop the bot' }).press('Enter')
  await said.getByText('Stopped, no verdict').waitFor()

  // Asked again, to the end: what helps the bot itself counts as a mistake.
  await page.evaluate(() => window.agon.players[0].turn(-1))
  await panel.getByLabel('Against').fill('idle')
  await panel.getByRole('button', { name: 'Run the bot' }).click()
  await page.waitForFunction(() => !window.agon.players[0].trial.running, undefined, { timeout: 120_000 })
  assert.match(await panel.textContent(), /Mistake: playing 0 CONVERT 6 instead would change its chance by \+\d+ ± \d+ points \(20 simulations\)/)

  // A bot that carries on by itself does worse with that order: asked on a phone, where everything has its place, too.
  await page.setViewportSize({ width: 390, height: 844 })
  await panel.getByLabel('Bot to run').fill('builtin:greedy')
  await panel.getByLabel('Against').fill('')
  assert.equal(await panel.getByLabel('Against').getAttribute('placeholder'), 'builtin:greedy')
  await panel.getByRole('button', { name: 'Run the bot' }).click()
  await panel.getByText(/No mistake: playing 0 CONVERT 6 instead would change its chance by −\d+ ± \d+ points \(20 simulations\)/).waitFor()
  assert.deepEqual(await serious(page), [])

  // The program is ended while the bot plays: that is reported, with what is known and no verdict.
  await panel.getByLabel('Bot to run').fill('idle')
  await panel.getByLabel('Against').fill('late')
  await panel.getByRole('button', { name: 'Run the bot' }).click()
  await page.waitForFunction(() => window.agon.players[0].trial.soFar?.futures > 0)
  stage.servers.at(-1).kill('SIGKILL')
  await panel.getByRole('alert').getByText('agon ended before the bot was done').waitFor()
  await panel.getByText(/Stopped, no verdict: \d+ of 20 simulations/).waitFor()
  await close(page)
})

for (const game of Object.keys(GAMES)) {
  engines(`${game}: a turn is played on from`, async () => {
    const page = await watched()
    await page.goto(`${address}/#replay=${game}-1.replay&turn=3`)
    await whole(page)
    await page.getByRole('tab', { name: 'analysis' }).click()
    await page.waitForFunction(() => window.agon.players[0].analyst?.outlook?.orders[0]?.gain.count > 0)
    const sampled = /by what its seat could know/.test(await page.locator('.analysis').textContent())
    assert.equal(sampled, GAMES[game].fog, 'games with fog say that what is hidden is drawn anew')
    await close(page)
  })
}

engines('a folder of pages opens from a disk, with engines of its own, and asks nobody', async () => {
  stage.agon('rate', 'series/journal.jsonl', '--html', 'site')
  const files = readdirSync(stage.path('site')).sort()
  assert.deepEqual(files, ['app.css', 'app.js', 'engine.js', 'index.html', 'matches'])
  const matches = readdirSync(stage.path('site/matches'))
  assert.ok(matches.length > 1)
  for (const match of matches) assert.ok(statSync(stage.path(`site/matches/${match}`)).size < 12_000, 'a page holds its replay and no more')
  const page = await watched({ offline: true })
  await page.goto(`${pathToFileURL(stage.path('site/index.html'))}`)
  await page.goto(`${pathToFileURL(stage.path(`site/matches/${matches[0]}`))}`)
  await whole(page)
  await page.keyboard.press('x')
  const { total, step, end, bot } = await page.evaluate(() => {
    const [player] = window.agon.players
    return { total: player.stream.total, step: player.stepNumber, end: player.stream.end.end, bot: player.stream.head.seats[0].bot }
  })
  assert.deepEqual([step, end, bot], [total, 'whole', undefined])
  const elsewhere = page.asked.filter((url) => !url.startsWith(`${pathToFileURL(stage.path('site'))}`) && !url.startsWith('blob:'))
  assert.deepEqual(elsewhere, [])
  await close(page)
})

test('a match is seen after scripts and style sheets of no more than 100 kB together', async () => {
  const page = await stage.browse()
  const files = new Set()
  page.on('request', (request) => ['script', 'stylesheet'].includes(request.resourceType()) && request.url().startsWith('http:') && files.add(request.url()))
  await page.goto(`${address}/#replay=cultist-wars-1.replay`)
  await whole(page)
  assert.ok([...files].some((url) => url.includes('/parts/app-')) && files.size > 1, [...files].join(' '))
  // As transferred: packed.
  const sizes = await Promise.all([...files].map((url) => new Promise((done) => get(url, (answer) => {
    assert.equal(answer.headers['content-encoding'], 'gzip')
    let size = 0
    answer.on('data', (piece) => (size += piece.length)).on('end', () => done(size))
  }))))
  const sum = sizes.reduce((sum, size) => sum + size, 0)
  assert.ok(sum <= 100_000, `${sum} bytes`)
  // What is needed later is loaded then; what cannot be loaded says so.
  await page.route('**/parts/*', (route) => route.abort())
  await page.getByRole('button', { name: 'Share' }).click()
  await page.getByRole('alert').getByText('cannot be loaded').waitFor()
  await close(page)
  const again = await stage.browse()
  await again.goto(`${address}/#replay=cultist-wars-1.replay`)
  await whole(again)
  await again.getByRole('button', { name: 'Share' }).click()
  await again.getByRole('dialog', { name: 'Share' }).waitFor()
  await close(again)
})

test('the one-file page of each game opens from a disk and asks nobody', async () => {
  // The largest size of an exported page, in bytes.
  const most = { 'cultist-wars': 150_000, terminal: 500_000 }
  for (const game of Object.keys(GAMES)) {
    const file = `${game}.html`
    const more = game === 'terminal' ? ['--set', 'startingHP=2000'] : []
    stage.agon('play', game, ...GAMES[game].bots, '--seed', '1', ...more, '-q', '--replay', 'long.replay')
    stage.agon('replay', 'export', 'long.replay', '--format', 'html', '-o', file)
    const size = statSync(stage.path(file)).size
    assert.ok(size <= (most[game] ?? 1_500_000), `${game}: ${size} bytes`)
    const page = await watched({ offline: true })
    await page.goto(`${pathToFileURL(stage.path(file))}`)
    await whole(page)
    // Firefox does not tell of files.
    const own = `${pathToFileURL(stage.path(file))}`
    assert.deepEqual(page.asked.filter((url) => !url.startsWith('blob:') && url !== own), [])
    await close(page)
  }
})

engines('where the module cannot be had, or workers, the server is asked', async () => {
  const ways = {
    'no module': (page) => page.route(`**${module}`, (route) => route.abort()),
    'a broken module': (page) => page.route(`**${module}`, (route) => route.fulfill({ body: 'no module', contentType: 'application/wasm' })),
    'a module of another kind': (page) => page.route(`**${module}`, (route) => route.fulfill({ body: Buffer.from('0061736d01000000', 'hex'), contentType: 'application/wasm' })),
    'no workers': (page) => page.addInitScript(() => delete window.Worker),
    'no WebAssembly': (page) => page.addInitScript(() => delete window.WebAssembly),
  }
  for (const [way, block] of Object.entries(ways)) {
    const page = await watched()
    await block(page)
    await page.goto(`${address}/#replay=cultist-wars-1.replay&turn=20`)
    await whole(page)
    assert.ok(asks(page, '/api/ask').length > 0, way)
    // What the page does elsewhere by itself, it does with the server.
    await page.getByRole('tab', { name: 'analysis' }).click()
    await page.waitForFunction(() => window.agon.players[0].analyst?.outlook?.pairs > 0)
    await close(page)
  }
})

engines('a page opened as a file says when its browser cannot compute', async () => {
  stage.agon('rate', 'series/journal.jsonl', '--html', 'site')
  const [match] = readdirSync(stage.path('site/matches'))
  for (const block of [() => delete window.Worker, () => delete window.WebAssembly]) {
    const page = await stage.browse()
    await page.addInitScript(block)
    await page.goto(`${pathToFileURL(stage.path(`site/matches/${match}`))}`)
    await page.getByText('This page computes its match in the browser, which does not work here').waitFor()
    await close(page)
  }
})

engines('damaged, cut and foreign files are told apart without the server', async () => {
  const page = await watched()
  for (const [file, says] of [['damaged', /damaged/], ['foreign', /not a replay/]]) {
    await page.goto(`${address}/#replay=${file}.replay`)
    await page.getByRole('heading', { name: 'This match cannot be shown' }).waitFor()
    assert.match(await page.locator('main').textContent(), says)
    await page.goto('about:blank')
  }
  await page.goto(`${address}/#replay=cut.replay`)
  await page.getByRole('alert').waitFor()
  assert.match(await page.getByRole('alert').textContent(), /cut off/)
  assert.deepEqual(asks(page, '/api/ask'), [])
  await close(page)
})

/** A module that stops with a sentence when told to open a replay, and forgets what was open. */
function stopping() {
  const text = 'a rule that nobody foresaw'
  const name = (text) => [text.length, ...Buffer.from(text)]
  const section = (id, ...content) => [id, content.length, ...content]
  // Types: () -> (), (i32) -> i32, () -> i32.
  const types = section(1, 3, 0x60, 0, 0, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 0, 1, 0x7f)
  const functions = section(3, 5, 0, 1, 2, 2, 2)
  const memory = section(5, 1, 0, 2)
  const names = ['agon_start', 'agon_take', 'agon_out', 'agon_out_length', 'agon_ask']
  const exported = [...name('memory'), 2, 0, ...names.flatMap((one, at) => [...name(one), 0, at])]
  const exports = [7, 0x80 | (exported.length + 1 & 0x7f), (exported.length + 1) >> 7, names.length + 1, ...exported]
  const body = (...code) => [code.length + 2, 0, ...code, 0x0b]
  const bodies = [body(), body(0x41, 0xc0, 0x00), body(0x41, 0), body(0x41, text.length), body(0x00)].flat()
  const code = section(10, 5, ...bodies)
  const data = section(11, 1, 0, 0x41, 0, 0x0b, ...name(text))
  return Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...types, ...functions, ...memory, ...exports, ...code, ...data])
}

engines('when the module stops, the page says why, and stays alive', async () => {
  const page = await stage.browse()
  await page.route(`**${module}`, (route) => route.fulfill({ body: stopping(), contentType: 'application/wasm' }))
  for (let time = 0; time < 2; time++) {
    await page.goto(`${address}/#replay=cultist-wars-${time + 1}.replay`)
    await page.getByText('The engine stopped at this match; please report it. a rule that nobody foresaw').waitFor()
    await page.getByRole('button', { name: /matches/i }).first().click()
    await page.getByRole('heading', { name: 'Play a match' }).waitFor()
  }
  await close(page)
})

engines('a match that was put away is opened again when it is looked at', async () => {
  const page = await stage.browse()
  await page.goto(`${address}/#replay=jungle-blitz-1.replay`)
  await whole(page)
  const same = await page.evaluate(async () => {
    const { stream } = window.agon.players[0]
    const before = await stream.steps.lines(7, 7)
    stream.steps.close()
    return JSON.stringify(await stream.steps.lines(7, 7)) === JSON.stringify(before)
  })
  assert.equal(same, true)
  await close(page)
})

engines('an exported stream and the module tell the same', async () => {
  stage.agon('replay', 'export', 'ostibot-2.replay', '--format', 'html', '--private', '-o', 'stream.html')
  const packed = /id="match">([^<]*)</.exec(readFileSync(stage.path('stream.html'), 'utf8'))[1]
  const [, ...lines] = gunzipSync(Buffer.from(packed, 'base64')).toString().split('\n')
  const page = await stage.browse()
  await page.goto(`${address}/#replay=ostibot-2.replay`)
  await whole(page)
  const [first, last] = await page.evaluate(async () => {
    const { stream } = window.agon.players[0]
    return [(await stream.steps.lines(1, 1))[0], (await stream.steps.lines(stream.total, stream.total))[0]]
  })
  assert.deepEqual([first, last], [lines[0], lines.at(-1)])
  await close(page)
})
