// The viewer in a real Chromium: every way in, and what must never happen. What each game draws is in `games.test.mjs`.

import assert from 'node:assert/strict'
import { gunzipSync, gzipSync } from 'node:zlib'
import { readFileSync, statSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { BROWSERS } from './browsers.mjs'
import { CHATTY, close, GAMES, HOSTILE, KEY, serious, Stage, standing, whole } from './stage.mjs'

const stage = new Stage()
let address

before(async () => {
  for (const game of Object.keys(GAMES)) stage.play(game)
  stage.write('chatty.js', CHATTY)
  stage.agon(
    'play', 'cultist-wars', 'cmd:node chatty.js', 'builtin:greedy', '--name', `1=${HOSTILE}`,
    '--seed', '5', '-q', '--replay', 'hostile.replay', '--no-timeouts',
  )
  stage.agon('play', 'cultist-wars', 'builtin:hunter?nodes=300', 'builtin:greedy', '--seed', '1', '-q', '--replay', 'other.replay')
  // With this seed some are lost and one is won, so that not every replay is kept.
  stage.agon('gauntlet', 'cultist-wars', 'builtin:greedy', 'builtin:hunter?nodes=300', '-n', '6', '--seed', '3', '--journal', 'series/journal.jsonl')
  const bytes = readFileSync(stage.path('cultist-wars.replay'))
  stage.write('newer.replay', Buffer.concat([Buffer.from('AGONRPL9'), bytes.subarray(8)]))
  stage.write('foreign.replay', 'a letter, not a replay\n')
  const damaged = Buffer.from(bytes)
  damaged[damaged.length >> 1] ^= 0x40
  stage.write('damaged.replay', damaged)
  stage.write('cut.replay', bytes.subarray(0, bytes.length - 40))
  stage.write('original.replay', gzipSync(original()))
  const files = ['hostile', 'other', 'newer', 'foreign', 'damaged', 'cut', 'original'].map((name) => `${name}.replay`)
  address = await stage.watch(...Object.keys(GAMES).map((game) => `${game}.replay`), ...files, 'series/journal.jsonl')
})

after(() => stage.end())

/** Opens a place in the viewer. */
const open = (hash, options) => stage.open(address, hash, options)

/** A match of the original engine of Terminal, as short as can be. */
function original() {
  const config = { unitInformation: Array.from({ length: 8 }, (_, at) => ({ display: `Kind ${at}`, startHealth: 60 })), resources: { startingHP: 30 } }
  const none = { selfDestruct: [], breach: [], damage: [], shield: [], move: [], spawn: [], death: [], attack: [], melee: [] }
  const state = (turnInfo, units, events = {}, more = {}) => ({
    turnInfo, p1Stats: [30, 40, 5, 12], p2Stats: [29, 40, 5, 7], p1Units: units, p2Units: Array(8).fill([]), events: { ...none, ...events }, ...more,
  })
  const empty = Array(8).fill([])
  const scout = (x, y) => Object.assign([...empty], { 3: [[x, y, 15, '1']] })
  const who = { player1: { name: HOSTILE }, player2: { name: 'second' } }
  return [
    '', config,
    state([0, 0, -1, 0], empty),
    state([1, 0, 0, 1], scout(13, 0), { spawn: [[[13, 0], 3, '1', 1]] }),
    state([1, 0, 1, 2], scout(13, 1), { move: [[[13, 0], [13, 1], [0, 0], 3, '1', 1]] }),
    state([0, 1, -1, 3], empty),
    state([2, 1, 0, 4], empty, {}, { endStats: { winner: 1, turns: 1, ...who } }),
  ].map((line) => (line === '' ? '' : JSON.stringify(line))).join('\n')
}

test('a turn becomes a section of a spec file, as the command line makes it', async () => {
  const page = await open('replay=cultist-wars.replay&turn=5', { acceptDownloads: true })
  await page.waitForFunction(() => window.agon?.players[0]?.stepNumber === 5)
  await page.getByRole('button', { name: 'Save as rules test' }).click()
  const dialog = page.getByRole('dialog', { name: 'A test of the rules' })
  await dialog.getByText('name the rule that the section is about').waitFor()
  await dialog.getByLabel('The rule it is about').fill('CW-SHOOT')
  await dialog.getByText('is not the id of a rule').waitFor()
  await dialog.getByLabel('The rule it is about').fill('CW-TURN-1')
  await dialog.getByText('## CW-TURN-1').waitFor()
  assert.deepEqual(await serious(page), [])
  const downloading = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Download' }).click()
  const made = await downloading
  assert.equal(made.suggestedFilename(), 'cw-turn-1-1-5.md')
  const same = stage.agon('replay', 'export', 'cultist-wars.replay', '--format', 'spec', '--turn', '5', '--rule', 'CW-TURN-1')
  assert.equal(readFileSync(await made.path(), 'utf8'), same)
  await close(page)
})

// Firefox asks for the module in a worker, where tests cannot refuse it.
test('a step is computed when it is looked at, and nothing else', { skip: BROWSERS[0] === 'firefox' && 'SKIPPED: only in Chromium' }, async () => {
  const page = await stage.browse()
  const asked = []
  // By the server, which is used if a page has no engines of its own.
  await page.route('**/*.wasm', (route) => route.abort())
  // Reading ahead for charts and marks is held back, so that only the steps shown are requested.
  await page.route('**/api/ask', async (route) => {
    const [question] = route.request().postDataBuffer().toString('latin1').split('\n')
    const { lines } = JSON.parse(question)
    if (!lines) return route.continue()
    const { from, to } = lines
    if (from === 1 && to > 20) return
    asked.push([from, to])
    await route.continue()
  })
  await page.goto(`${address}/#replay=jungle-blitz.replay`)
  await page.waitForFunction(() => window.agon?.players.length > 0)
  const exported = JSON.parse(stage.agon('replay', 'export', 'jungle-blitz.replay', '--format', 'json'))
  for (const step of [150, 20, 299]) {
    await page.evaluate((step) => window.agon.players[0].goToStep(step), step)
    assert.deepEqual(await page.evaluate(() => window.agon.scene), exported.steps[step - 1].state)
  }
  // The step and the one before it, which it needs; then those that come next.
  const wanted = [[149, 150], [151, 158], [19, 20], [21, 28], [298, 299], [300, 300]]
  for (let n = 0; n < 100 && asked.length < wanted.length; n++) await page.waitForTimeout(50)
  assert.deepEqual(asked, wanted)
  assert.equal(await page.evaluate(() => window.agon.players[0].stream.known), false)
  await close(page)
})

test('stderr is searched over the match, faults are told, drawings and markers are shown', async () => {
  const page = await open('replay=hostile.replay')
  await whole(page)
  await page.getByRole('tab', { name: 'output' }).click()
  await page.getByRole('searchbox').fill('needle')
  const hits = page.locator('.output li button')
  assert.equal(await hits.count(), 1)
  await hits.first().click()
  assert.match(await page.locator('.stderr').textContent(), /a needle in the hay/)
  assert.doesNotMatch(await page.locator('.stderr').textContent(), /@agon/)
  const marks = await page.evaluate(() => window.agon.marks)
  assert.deepEqual(marks.map(({ mark }) => mark.kind), ['dot', 'text'])
  // The invalid answer that ends the match.
  await page.keyboard.press('x')
  await page.locator('.fault, .rejected').first().waitFor()
  assert.match(await page.locator('.turn').textContent(), /<b>FLY<\/b>/)
  await close(page)
})

test('nothing in a replay becomes markup or script', async () => {
  const page = await open('replay=hostile.replay')
  await whole(page)
  for (const tab of ['why', 'inspect', 'output']) {
    await page.getByRole('tab', { name: tab }).click()
    for (const key of ['z', '.', '.', 'x']) await page.keyboard.press(key)
  }
  assert.match(await page.locator('.seats').textContent(), /<img src=x/)
  assert.equal(await page.locator('img, .seats b img, .panel script').count(), 0)
  assert.equal(await page.evaluate(() => window.broken), undefined)
  await close(page)
  for (const flag of [[], ['--private']]) {
    stage.agon('replay', 'export', 'hostile.replay', '--format', 'html', '-o', 'hostile.html', ...flag)
    const alone = await stage.browse()
    await alone.goto(`file://${stage.path('hostile.html')}`)
    await whole(alone)
    await alone.keyboard.press('x')
    assert.equal(await alone.evaluate(() => window.broken), undefined)
    assert.equal(await alone.locator('img').count(), 0)
    await close(alone)
  }
})

test('an exported page needs nothing else, and holds nothing of one bot alone', async () => {
  const streamOf = (file) => {
    const packed = /id="match">([^<]*)</.exec(readFileSync(stage.path(file), 'utf8'))[1]
    return gunzipSync(Buffer.from(packed, 'base64')).toString()
  }
  stage.agon('replay', 'export', 'hostile.replay', '--format', 'html', '-o', 'given.html')
  stage.agon('replay', 'export', 'hostile.replay', '--format', 'html', '-o', 'own.html', '--private')
  assert.doesNotMatch(streamOf('given.html'), /needle|chatty\.js/)
  assert.match(streamOf('own.html'), /needle/)
  for (const game of Object.keys(GAMES)) {
    stage.agon('replay', 'export', `${game}.replay`, '--format', 'html', '-o', `${game}.html`)
    assert.ok(statSync(stage.path(`${game}.html`)).size < 5_000_000)
    const page = await stage.browse({ offline: true })
    await page.goto(`file://${stage.path(`${game}.html`)}`)
    await whole(page)
    await page.keyboard.press('x')
    assert.equal((await standing(page)).step, await page.evaluate(() => window.agon.players[0].stream.total))
    await close(page)
  }
})

test('an exported page works in a frame of a notebook, where it has no storage and no address of its own', async () => {
  const quoted = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  stage.agon('replay', 'export', 'cultist-wars.replay', '--format', 'html', '-o', 'framed.html')
  const inside = quoted(readFileSync(stage.path('framed.html'), 'utf8'))
  stage.write('notebook.html', `<!doctype html><meta charset="utf-8"><iframe sandbox="allow-scripts" width="1200" height="640" srcdoc="${inside}"></iframe>`)
  const page = await stage.browse({ offline: true })
  await page.goto(`file://${stage.path('notebook.html')}`)
  const frame = page.frames()[1]
  await whole(frame)
  await frame.locator('canvas').first().click()
  await page.keyboard.press('.')
  await frame.waitForFunction(() => location.href.endsWith('#turn=1'))
  assert.equal(await frame.evaluate(() => window.agon.players[0].stepNumber), 1)
  await close(page)
})

test('two replays side by side: the first differing answer is marked, and they step together', async () => {
  const page = await open('replay=cultist-wars.replay&with=other.replay')
  await whole(page)
  const answers = (file) => JSON.parse(stage.agon('replay', 'export', file, '--format', 'json')).steps.map(({ answers }) => answers[0].answer)
  const [a, b] = [answers('cultist-wars.replay'), answers('other.replay')]
  const first = a.findIndex((answer, at) => answer !== b[at]) + 1
  await page.getByRole('button', { name: 'Go there' }).click()
  const steps = await page.evaluate(() => window.agon.players.map(({ stepNumber }) => stepNumber))
  assert.deepEqual(steps, [first, first])
  await page.keyboard.press('ArrowDown')
  await page.waitForFunction((step) => window.agon.players.every(({ stepNumber }) => stepNumber === step), first + 1)
  assert.equal(await page.locator('canvas').count(), 3)
  // The events of each are below its board.
  for (const [side, at] of [['left', 0], ['right', 1]]) {
    const region = page.getByRole('region', { name: `This turn of the ${side} match` })
    const told = await page.evaluate((at) => window.agon.players[at].stream.tell(window.agon.players[at].step).map(({ text }) => text), at)
    assert.ok(told.length > 0)
    const text = await region.textContent()
    for (const one of told) assert.ok(text.includes(one), `${side}: ${one}`)
  }
  assert.deepEqual(await serious(page), [])
  await close(page)
})

test('a journal opens as its matches, filtered, losses first; a match that was not kept is played again', async () => {
  const page = await open('journal=series/journal.jsonl')
  const rows = page.locator('tbody tr')
  await rows.first().waitFor()
  const entries = readFileSync(stage.path('series/journal.jsonl'), 'utf8').trim().split('\n').slice(1).map((line) => JSON.parse(line))
  assert.equal(await rows.count(), entries.length)
  // Its course: a gauntlet of two has one picture, no wider than the page.
  assert.equal(await page.locator('figure svg').count(), 1)
  assert.match(await page.locator('figcaption').textContent(), /greedy against hunter.*: Elo .* after \d+ matches/)
  const words = await rows.locator('td:first-child').allTextContents()
  const order = ['lost', 'draw', 'won']
  assert.deepEqual(words, [...words].sort((a, b) => order.indexOf(a) - order.indexOf(b)))
  await page.getByLabel('Seat').selectOption('2')
  assert.equal(await rows.count(), entries.filter(({ bots }) => bots[1] === 0).length)
  await page.getByLabel('Seat').selectOption('0')
  assert.deepEqual(await serious(page), [])

  assert.ok(entries.some(({ replay }) => replay) && entries.some(({ replay }) => !replay))
  await page.getByRole('button', { name: 'Watch' }).first().click()
  await whole(page)
  assert.equal(await page.evaluate(() => window.agon.players[0].stream.end.end), 'whole')
  await page.getByRole('button', { name: 'Matches' }).click()
  await rows.first().waitFor()
  await page.getByRole('button', { name: 'Play again' }).first().click()
  await page.getByRole('button', { name: 'Play it again' }).click()
  await whole(page)
  await page.getByText('Played again from the journal: the same scores').waitFor()
  await close(page)
})

test('agon play --live streams the match while it is played', async () => {
  // It makes no mistake, so all turns are played: some five seconds.
  const slow = CHATTY.replace(/console\.log\(.*\)/, "setTimeout(() => console.log('WAIT'), 60)")
  stage.write('slow.js', slow)
  const page = await stage.browse({ locked: true })
  const address = await stage.serve('play', 'cultist-wars', 'cmd:node slow.js', 'builtin:idle', '--seed', '5', '-q', '--no-timeouts', '--live', '--replay', 'live.replay')
  await page.goto(address)
  await page.waitForFunction(() => window.agon?.players[0].stream.total > 0)
  assert.equal(await page.evaluate(() => window.agon.players[0].stream.end), undefined, 'it is not over yet')
  // A viewer who goes back stays there while it goes on, and returns.
  await page.waitForFunction(() => window.agon.players[0].at > 2)
  await page.keyboard.press('z')
  const back = page.getByRole('button', { name: 'Return to live' })
  await back.waitFor()
  const { total } = await page.evaluate(() => window.agon.players[0].stream)
  await page.waitForFunction((total) => window.agon.players[0].stream.total > total, total)
  assert.equal((await standing(page)).at, 0)
  await back.click()
  await back.waitFor({ state: 'detached' })
  // The match is several times as fast as playback, which stays with it nevertheless.
  const { total: then } = await page.evaluate(() => window.agon.players[0].stream)
  const gone = await page.waitForFunction((then) => {
    const { stream, stepNumber } = window.agon.players[0]
    return (stream.end || stream.total >= then + 60) && { behind: stream.total - stepNumber }
  }, then)
  const { behind } = await gone.jsonValue()
  assert.ok(behind < 30, `${behind} steps behind`)
  await whole(page)
  await page.waitForFunction(() => window.agon.players[0].at === window.agon.players[0].count - 1)
  assert.equal(await page.evaluate(() => window.agon.players[0].stream.end.end), 'whole')
  assert.deepEqual(page.wrong, [])
  await close(page)
})

test('the start page lists recent matches, plays a new one and shows it', async (t) => {
  const empty = new Stage()
  t.after(() => empty.end())
  const page = await empty.browse()
  await page.goto(await empty.watch())
  await page.getByRole('heading', { name: 'Play a match' }).waitFor()
  await page.getByText('No matches in agon-replays yet').waitFor()
  assert.deepEqual(await serious(page), [])
  await page.getByLabel('Game').selectOption('cultist-wars')
  await page.getByLabel('Seat 1').fill('builtin:nobody')
  await page.getByRole('button', { name: 'Play and watch' }).click()
  await page.getByRole('alert').waitFor()
  assert.match(await page.getByRole('alert').textContent(), /nobody/)
  await page.getByLabel('Seat 1').fill('builtin:greedy')
  await page.getByLabel('Seat 2').fill('builtin:greedy')
  await page.getByLabel('Seed').fill('77')
  await page.getByRole('button', { name: 'Play and watch' }).click()
  await whole(page)
  assert.equal(await page.evaluate(() => window.agon.players[0].stream.head.seed), '77')
  await page.getByRole('button', { name: 'Matches' }).click()
  await page.getByRole('link', { name: /greedy/ }).click()
  await whole(page)
  assert.equal(await page.evaluate(() => window.agon.players[0].stream.end.end), 'whole')
  await close(page)
})

test('damaged, foreign and newer files get a clear page; one that was cut off opens', async () => {
  for (const [file, says] of [['damaged', /damaged/], ['foreign', /not a replay/], ['newer', /newer format/]]) {
    const page = await open(`replay=${file}.replay`)
    await page.getByRole('heading', { name: 'This match cannot be shown' }).waitFor()
    assert.match(await page.locator('main').textContent(), says)
    await close(page)
  }
  const page = await open('replay=cut.replay')
  await page.getByRole('alert').waitFor()
  assert.match(await page.getByRole('alert').textContent(), /cut off/)
  await close(page)
  const unknown = await open('replay=/etc/passwd')
  await unknown.getByText('This viewer does not have').waitFor()
  await close(unknown)
})

test('a dropped file opens, ours and those of the original engine of Terminal', async () => {
  const page = await open('')
  const choose = page.locator('input[type=file]')
  await choose.setInputFiles(stage.path('deerhunt.replay'))
  await whole(page)
  assert.equal(await page.evaluate(() => window.agon.players[0].stream.head.game), 'deerhunt')
  await page.getByRole('button', { name: 'Matches' }).click()
  await choose.setInputFiles(stage.path('original.replay'))
  await whole(page)
  const stream = await page.evaluate(() => {
    const [{ stream }] = window.agon.players
    return { game: stream.head.game, steps: stream.total, parts: stream.step(1).parts.length, outcome: stream.end.outcome }
  })
  assert.deepEqual(stream, { game: 'terminal', steps: 2, parts: 2, outcome: { scores: [30, 29], ranks: [1, 2], reason: 'after 1 turns' } })
  await close(page)
  // The same file by its name.
  const named = await open('replay=original.replay')
  await whole(named)
  assert.match(await named.locator('.seats').textContent(), /<img src=x/)
  assert.equal(await named.locator('img').count(), 0)
  await close(named)
})

test('on a phone everything is reachable and nothing is wider than the screen', async () => {
  for (const game of Object.keys(GAMES)) {
    const page = await open(`replay=${game}.replay&turn=5`, { viewport: { width: 390, height: 844 }, hasTouch: true })
    await whole(page)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    assert.equal(wide, 0, game)
    // The chance is beside every name, and the names have room.
    for (const odds of await page.locator('.seats td.odds').all()) assert.ok(await odds.isVisible(), game)
    assert.equal(await page.locator('.seats td.odds').count(), GAMES[game].bots.length, game)
    assert.ok((await page.locator('.seats .name').first().boundingBox()).width >= 40, game)
    for (const name of ['Play', 'One action on', 'Keys']) assert.ok(await page.getByRole('button', { name, exact: true }).isVisible(), `${game}: ${name}`)
    await close(page)
  }
})

test('help, presenter mode, layers and zoom', async () => {
  const page = await open('replay=cultist-wars.replay&turn=20')
  await whole(page)
  await page.keyboard.press('h')
  await page.getByRole('heading', { name: 'Keys in Cultist Wars' }).waitFor()
  assert.deepEqual(await serious(page), [])
  await page.keyboard.press('Escape')
  // While the sheet is open, keys are its own; it disappears a moment after it was closed.
  await page.locator('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('p')
  assert.ok(!(await page.evaluate(() => [...window.agon.players[0].layers])).includes('paths'))
  await page.keyboard.press('+')
  assert.ok((await page.evaluate(() => window.agon.players[0].zoom[0])) > 1)
  await page.keyboard.press('Escape')
  assert.equal(await page.evaluate(() => window.agon.players[0].zoom), null)
  await page.keyboard.press('s')
  await page.locator('.watch.presenting').waitFor()
  assert.equal(await page.getByRole('tab').count(), 0)
  await page.keyboard.press('s')
  await close(page)
})

test('who has no key gets nothing', async () => {
  const { origin } = new URL(address)
  for (const path of ['/api/start', '/api/file?replay=cultist-wars.replay', `/api/start?token=${KEY}`]) {
    const answer = await fetch(origin + path, { headers: { cookie: `x-agon-key=${KEY}` } })
    assert.equal(answer.status, 403, path)
    assert.doesNotMatch(await answer.text(), /greedy/)
  }
})

test('a link opens one tab, and the address can be shared without it', async () => {
  const link = await stage.serve('watch', '--no-open', 'cultist-wars.replay')
  const page = await stage.browse({ locked: true })
  await page.goto(link)
  await whole(page)
  // The page adds the turn to its address as soon as it shows one.
  const shared = page.url().replace(/&turn=0$/, '')
  assert.equal(shared, `${new URL(link).origin}/#replay=cultist-wars.replay`)
  await page.reload()
  await whole(page)
  const cookies = await page.context().cookies()
  assert.deepEqual(cookies, [])
  // Another tab, and the link a second time, get nothing.
  const other = await stage.browse({ locked: true })
  await other.goto(page.url())
  await other.getByRole('heading', { name: 'Open the link that agon printed' }).waitFor()
  assert.deepEqual(await serious(other), [])
  assert.equal((await other.goto(link)).status(), 403)
  await close(other)
  await close(page)
})

test('a tab without a link asks for the token', async () => {
  const page = await stage.browse({ locked: true })
  await page.goto(`${new URL(address).origin}/#replay=cultist-wars.replay`)
  await page.getByLabel('Or the token').fill('wrong')
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByRole('alert').getByText('That is not the token of this server').waitFor()
  await page.getByLabel('Or the token').fill(KEY)
  await page.getByRole('button', { name: 'Open' }).click()
  await whole(page)
  await close(page)
})
