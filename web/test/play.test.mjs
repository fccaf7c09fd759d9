// Every game is played by hand from its first turn to its last, in the page, against a built-in bot; the result is a replay
// that verifies.

import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { close, engines as withEngines, Stage } from './stage.mjs'

const stage = new Stage()
let address
let module
/** Where pictures of playing are saved, if somebody wants to look at them. */
const pictures = process.env.AGON_PLAY_PICTURES

before(async () => {
  address = await stage.watch()
  module = await stage.module(address)
})

after(() => stage.end())

/** A test that needs the engines. */
const engines = (name, run) => withEngines(() => module, name, run)

/** Opens a match by hand. */
async function begin(game, more = '', options = {}) {
  const page = await stage.browse({ acceptDownloads: true, ...options })
  await page.goto(`${address}/#play=${game}&seed=3${more}`)
  await ready(page)
  return page
}

/** Waits until there is something to choose, or the match is over; returns whether it goes on. */
async function ready(page) {
  await page.waitForFunction(() => {
    const playing = window.agon?.playing
    return playing && !playing.busy && (playing.turn.end || (playing.mine && playing.prospect))
  }, undefined, { timeout: 60_000 })
  return page.evaluate(() => !window.agon.playing.turn.end)
}

/** Clicks a cell of the board with the mouse. */
async function click(page, [x, y], modifiers = []) {
  const box = await page.locator('.board canvas').boundingBox()
  const place = await page.evaluate(([x, y]) => window.agon.placeOf(x + 0.5, y + 0.5), [x, y])
  for (const key of modifiers) await page.keyboard.down(key)
  await page.mouse.click(box.x + place.x, box.y + place.y)
  for (const key of modifiers) await page.keyboard.up(key)
}

async function picture(page, name) {
  if (!pictures) return
  mkdirSync(pictures, { recursive: true })
  await page.waitForTimeout(400)
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}

/** Downloads the replay and has the program recompute it. */
async function verified(page, name) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download the replay' }).click()])
  const path = stage.path(`${name}.replay`)
  await download.saveAs(path)
  assert.match(stage.agon('replay', 'verify', path), /ok|verified|whole|same/i)
  const info = JSON.parse(stage.agon('replay', 'info', path, '--json'))
  assert.ok(JSON.stringify(info).includes('human'))
  assert.equal(await page.evaluate(() => window.agon.playing.turn.end.end), 'whole')
}

/** The cells of the listed choices of the taken actor. */
const targets = (page) => page.evaluate(() => {
  const { playing } = window.agon
  return playing.own.map((choice) => playing.hand.target(choice, playing.scene)).filter((cell) => cell)
})

const actors = (page) => page.evaluate(() => {
  const { playing } = window.agon
  const able = new Set(playing.prospect.choices.map((choice) => playing.hand.actor(choice)))
  return playing.actors.filter(({ id }) => able.has(id)).map(({ id, at }) => ({ id, at }))
})

engines('Cultist Wars by mouse, click by click, from the first turn to the last', async () => {
  const page = await begin('cultist-wars', '&seats=human,builtin:greedy')
  let turns = 0
  for (; await ready(page); turns++) {
    const own = await actors(page)
    if (own.length > 0) {
      await click(page, own[turns % own.length].at)
      const cells = await targets(page)
      const free = await page.evaluate((cells) => cells.filter(([x, y]) => !window.agon.playing.actors.some(({ at }) => at[0] === x && at[1] === y)), cells)
      if (free.length > 0) {
        await click(page, free[turns % free.length])
        await page.waitForFunction(() => window.agon.playing.chosen.length === 1)
      }
    }
    if (turns === 2) await picture(page, 'cultist-wars')
    await page.getByRole('button', { name: /^(Send|Do nothing)/ }).click()
    await page.waitForFunction((turns) => window.agon.playing.busy || window.agon.playing.turn.end || window.agon.playing.turn.steps > 2 * turns, turns)
  }
  assert.ok(turns > 3)
  await verified(page, 'cultist-wars')
  // It opens in the viewer like any other.
  await page.getByRole('button', { name: 'Watch', exact: true }).click()
  await page.waitForFunction(() => window.agon?.players[0]?.stream.end?.end === 'whole' && !window.agon.playing)
  await close(page)
})

engines('Cultist Wars by keyboard alone, from the first turn to the last', async () => {
  const page = await begin('cultist-wars', '&seats=builtin:greedy,human')
  let turns = 0
  for (; await ready(page); turns++) {
    await page.keyboard.press('n')
    if (turns % 3 === 0) await page.keyboard.press('1')
    else {
      await page.keyboard.press(['ArrowLeft', 'ArrowDown', 'ArrowUp'][turns % 3])
      await page.keyboard.press('Space')
    }
    if (turns === 1) {
      await page.waitForTimeout(100)
      await page.keyboard.press('z')
      await page.keyboard.press('h')
      await page.waitForFunction(() => !window.agon.playing.busy)
    }
    await page.keyboard.press('Escape')
    await page.waitForTimeout(20)
    await page.keyboard.press('Enter')
    await page.waitForTimeout(20)
  }
  assert.ok(turns > 3)
  await verified(page, 'keyboard')
  await close(page)
})

engines('an illegal wish says why, with its rule; a turn can be taken back', async () => {
  const page = await begin('cultist-wars', '&seats=human,builtin:greedy')
  const leader = await page.evaluate(() => window.agon.playing.scene.units.find(({ id }) => id === 0).tile)
  const enemy = await page.evaluate(() => window.agon.playing.scene.units.find(({ id }) => id === 1).tile)
  await click(page, leader)
  await click(page, enemy)
  await page.getByText('target 1 is a leader; leaders cannot be converted').waitFor()
  await page.locator('.wrong').getByRole('button', { name: 'CW-ORDER-6' }).click()
  await page.locator('.wrong .words', { hasText: 'leader' }).waitFor()
  await picture(page, 'wrong')
  await page.getByRole('button', { name: /^Do nothing/ }).click()
  await ready(page)
  assert.equal(await page.evaluate(() => window.agon.playing.turn.steps), 2)
  await page.keyboard.press('b')
  await page.waitForFunction(() => window.agon.playing.turn.steps === 0 && !window.agon.playing.busy)
  assert.equal(await page.evaluate(() => window.agon.playing.stream.total), 0)
  await close(page)
})

engines('Terminal by mouse: tools, tiles, undo, the way of the units before they are sent', async () => {
  const page = await begin('terminal', '&seats=human,builtin:rush')
  const tool = (name) => page.locator('.tool', { hasText: name })
  const row = (y) => 27 - y
  // Each tool has its picture, and they are in the free corner of the diamond: on no tile, and within the stage.
  assert.equal(await page.locator('.palette .tool svg').count(), 8)
  const corner = await page.locator('.palette').boundingBox()
  const board = await page.locator('.board canvas').boundingBox()
  assert.ok(corner.y + corner.height <= board.y + board.height && corner.x + corner.width <= board.x + board.width)
  for (const y of [0, 4, 8, 12]) {
    // The last tile of a row in the lower half, counted from the bottom.
    const edge = await page.evaluate(([x, y]) => window.agon.placeOf(x, y), [15 + y, row(y)])
    assert.ok(board.y + edge.y < corner.y || board.x + edge.x <= corner.x, `row ${y}`)
  }
  let turns = 0
  for (; await ready(page); turns++) {
    if (turns < 6) {
      for (const [name, cells] of [['Turret', [[3 + turns, 12], [24 - turns, 12]]], ['Wall', [[5 + turns, 13]]]]) {
        await tool(name).click()
        for (const [x, y] of cells) await click(page, [x, row(y)])
      }
      await page.waitForFunction(() => !window.agon.playing.busy)
    }
    await tool('Scout').click()
    for (let count = 0; count < 3; count++) await click(page, [13, row(0)])
    if (turns === 1) {
      // Repeated choices share a line.
      await page.locator('.chosen li', { hasText: '3 × Scout at 13, 0' }).waitFor()
      const before = await page.evaluate(() => window.agon.playing.chosen.length)
      assert.ok(before > 3)
      await page.getByRole('button', { name: 'Undo choice' }).click()
      await page.waitForFunction((before) => window.agon.playing.chosen.length === before - 1, before)
      await tool('Wall').click()
      await click(page, [13, row(20)])
      await page.locator('.wrong .bad').waitFor()
      assert.match(await page.locator('.wrong').textContent(), /the other player's half.*TM-ARENA-2/s)
      await picture(page, 'terminal')
    }
    await page.getByRole('button', { name: /^(Send|Do nothing)/ }).click()
    await page.waitForFunction((turns) => window.agon.playing.turn.end || window.agon.playing.turn.steps > turns, turns)
  }
  assert.ok(turns >= 5, `${turns} turns`)
  await verified(page, 'terminal')
  await close(page)
})

engines('who clicks faster than the engines answer loses no click', async () => {
  const page = await begin('terminal', '&seats=human,builtin:rush')
  await page.evaluate(() => {
    const { asks } = window.agon.playing
    const ask = asks.ask.bind(asks)
    asks.ask = async (question) => {
      if (question.prospect) await new Promise((done) => setTimeout(done, 300))
      if (question.answer) window.sent = question.answer.chosen
      return ask(question)
    }
  })
  await page.locator('.tool', { hasText: 'Scout' }).click()
  for (let count = 0; count < 3; count++) await click(page, [13, 27])
  await page.keyboard.press('z')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => window.sent)
  assert.deepEqual(await page.evaluate(() => window.sent.map(({ kind }) => kind)), ['scout', 'scout'])
  await close(page)
})

engines('Ostibot by mouse: the shop with its gold, then one action for each adventurer, and standing orders', async () => {
  const page = await begin('ostibot', '&seats=human,builtin:looter')
  assert.equal(await page.evaluate(() => window.agon.playing.scene.phase), 'shop')
  const [first] = await actors(page)
  await click(page, first.at)
  await page.getByRole('button', { name: /buys leather vest/ }).click()
  await page.locator('.purse', { hasText: 'Shop: 1 of 3 gold left' }).waitFor()
  await picture(page, 'ostibot-shop')
  await page.getByRole('button', { name: 'Undo choice' }).click()
  await page.locator('.purse', { hasText: 'Shop: 3 of 3 gold left' }).waitFor()
  let turns = 0
  for (; await ready(page); turns++) {
    const phase = await page.evaluate(() => window.agon.playing.scene.phase)
    if (phase === 'shop' && turns > 0) await page.keyboard.press('h')
    if (phase !== 'shop' && turns < 4) {
      for (const { at } of await actors(page)) {
        await click(page, at)
        const cells = await targets(page)
        if (cells.length > 0) await click(page, cells[turns % cells.length])
        await page.waitForTimeout(20)
      }
      if (turns === 2) await picture(page, 'ostibot')
    }
    if (turns === 4) {
      await page.getByRole('button', { name: /^All/ }).click()
      await page.getByRole('button', { name: /^Fetch gold/ }).click()
      await page.waitForFunction(() => window.agon.playing.errands.size > 0)
    }
    if (turns === 20) {
      // A bot plays the rest: rounds are long.
      await page.getByRole('combobox', { name: /How many/ }).selectOption('400')
      while (await ready(page)) await page.getByRole('button', { name: /^Let .* play for$/ }).click()
      break
    }
    await page.getByRole('button', { name: /^(Send|Do nothing)/ }).click()
    await page.waitForTimeout(10)
  }
  await verified(page, 'ostibot')
  await close(page)
})

for (const [game, bots, groups] of [
  ['deerhunt', 'human,builtin:miner', [['Workers', 'Mine'], ['Melee units', 'Hunt']]],
  ['jungle-blitz', 'human,builtin:collector', [['All', 'Collect diamonds']]],
]) {
  engines(`${game} by mouse with groups and standing orders, from the first turn to the last`, async () => {
    const page = await begin(game, `&seats=${bots}`)
    const [first] = await actors(page)
    if (first.at) {
      await click(page, first.at)
      const [cell] = await targets(page)
      if (cell) await click(page, cell)
    }
    for (const [group, order] of groups) {
      await page.getByRole('button', { name: new RegExp(`^${group} \\d`) }).click()
      await page.getByRole('button', { name: new RegExp(`^${order}`) }).click()
      await page.waitForFunction(() => window.agon.playing.selected.length === 0)
    }
    let looked = false
    while (await ready(page)) {
      const go = page.getByRole('button', { name: 'Continue on standing orders' })
      if (await go.isEnabled()) {
        await go.click()
        if (!looked) {
          await page.waitForFunction(() => window.agon.playing.turn.steps > 20 || window.agon.playing.turn.end)
          await page.getByRole('button', { name: 'Stop' }).click()
          await ready(page)
          await picture(page, game)
          looked = true
          continue
        }
      } else await page.getByRole('button', { name: /^(Send|Do nothing)/ }).click()
      await page.waitForFunction(() => !window.agon.playing.running && !window.agon.playing.busy, undefined, { timeout: 120_000 })
    }
    await verified(page, game)
    await close(page)
  })
}

engines('"take over": a bot plays some turns, and one goes on by hand', async () => {
  const page = await begin('jungle-blitz', '&seats=human,builtin:collector')
  await page.getByRole('combobox', { name: /How many/ }).selectOption('50')
  await page.getByRole('button', { name: /^Let .* play for$/ }).click()
  await page.waitForFunction(() => window.agon.playing.turn.steps === 50 && !window.agon.playing.busy)
  assert.equal(await ready(page), true)
  await close(page)
})

engines('on a phone and in the dark there is room for everything', async () => {
  for (const [game, more] of [['cultist-wars', ''], ['terminal', ''], ['ostibot', ''], ['deerhunt', ''], ['jungle-blitz', '']]) {
    const page = await begin(game, more, { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true })
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    assert.ok(wide <= 390, `${game}: ${wide} px`)
    if (game === 'jungle-blitz') {
      // A unit on the board can go almost anywhere on it: choices without a key are folded away.
      await page.getByRole('combobox', { name: /How many/ }).selectOption('1')
      await page.getByRole('button', { name: /^Let .* play for$/ }).click()
      await page.waitForFunction(() => window.agon.playing.turn.steps === 1)
      await ready(page)
      await page.keyboard.press('n')
      await page.locator('summary', { hasText: /and \d+ more; the board shows where/ }).waitFor()
      assert.equal(await page.locator('.options button:visible').count(), 9)
      await page.keyboard.press('Escape')
    }
    await page.keyboard.press('h')
    await ready(page)
    await picture(page, `${game}-phone`)
    // From the top: the send button, the choices, the help; and no names of keys.
    const tops = await page.evaluate(() => ['.send', '.chosen', '.help'].map((part) => document.querySelector(part).getBoundingClientRect().top))
    assert.deepEqual(tops, [...tops].sort((a, b) => a - b), game)
    assert.equal(await page.locator('aside kbd:visible, .palette kbd:visible').count(), 0, game)
    await close(page)
  }
})

engines('what cannot be played by hand is told in a sentence', async () => {
  const page = await stage.browse()
  for (const [hash, says] of [
    ['play=chess', /chess cannot be played by hand/],
    ['play=terminal&seats=human,./bot.py', /bot\.py is neither/],
    ['play=terminal&seats=human,builtin:nobody', /nobody/],
    ['play=terminal&seats=human', /2 bots/],
    ['play=terminal&seed=many', /many/],
  ]) {
    await page.goto('about:blank')
    await page.goto(`${address}/#${hash}`)
    await page.getByRole('heading', { name: 'This match cannot be played here' }).waitFor()
    assert.match(await page.locator('main').textContent(), says)
  }
  await close(page)
})

engines('a recorded match is played on from a turn, by its link, by hand', async () => {
  stage.agon('play', 'cultist-wars', 'builtin:greedy', 'builtin:hunter?nodes=300', '--seed', '5', '-q', '--replay', 'recorded.replay')
  const { origin: folder } = new URL(await stage.watch('recorded.replay'))
  const page = await stage.browse({ acceptDownloads: true })
  await page.goto(`${folder}/#replay=recorded.replay&turn=10`)
  await page.waitForFunction(() => window.agon?.players[0]?.stepNumber === 10)
  await page.getByRole('button', { name: 'Play on…' }).click()
  // As the game counts, the turn after the shown one: the bot plays from where the page does.
  assert.match(await page.getByRole('button', { name: 'Copy as command' }).getAttribute('title'), /agon replay fork recorded\.replay BOT --seat 1 --turn 11/)
  await page.getByRole('button', { name: 'Play on', exact: true }).click()
  assert.equal(await ready(page), true)
  assert.equal(await page.evaluate(() => window.agon.playing.turn.steps), 10)
  assert.match(page.url(), /replay=recorded\.replay&seats=human,.*&turn=10/)
  await page.getByRole('combobox', { name: /How many/ }).selectOption('400')
  while (await ready(page)) await page.getByRole('button', { name: /^Let .* play for$/ }).click()
  await verified(page, 'on')
  await close(page)
})

/** A bot of Deerhunt that walks about, as a process. */
const WALKER = `
import sys, json, random
for line in sys.stdin:
    try: view = json.loads(line)
    except ValueError: continue
    print("[]", flush=True)
`

test('against a process the server holds the match, and no byte about hidden units reaches the page', async () => {
  stage.write('walker.py', WALKER)
  const child = stage.start('play', 'deerhunt', 'human', 'lines:python3 walker.py', '--seed', '3', '--set', 'max_rounds=8', '-q', '--replay', 'fog.replay')
  const link = await child.line(/http:\S+#seat=\S+/)
  const page = await stage.browse({ locked: true })
  const heard = []
  page.on('response', (answer) => {
    const path = new URL(answer.url()).pathname
    if (path === '/seat') heard.push(answer.text().catch(() => ''))
    assert.ok(!path.startsWith('/api/'), path)
  })
  await page.goto(link)
  for (let turns = 0; await ready(page); turns++) {
    const [own] = await actors(page)
    if (own) {
      await click(page, own.at)
      const cells = await targets(page)
      if (cells.length > 0) await click(page, cells[turns % cells.length])
      await page.waitForTimeout(50)
    }
    await page.getByRole('button', { name: /^(Send|Do nothing)/ }).click()
    await page.waitForFunction((turns) => window.agon.playing.turn.end || window.agon.playing.turn.steps > 2 * turns + 1, turns)
  }
  // The link ends with the match; what everybody may see then is already in the page.
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download the replay' }).click()
  await (await downloading).saveAs(stage.path('from-the-seat.replay'))
  // Another token, or a seat's token where the viewer's key is required, gives nothing.
  const origin = new URL(link).origin
  const token = new URL(link).hash.slice('#seat='.length)
  const sit = (headers) => fetch(`${origin}/seat`, { method: 'POST', headers: { origin, ...headers }, body: '"sit"' })
  assert.equal((await sit({ 'x-agon-seat': token.replace(/.$/, 'x') })).status, 403)
  assert.equal((await fetch(`${origin}/api/start`, { headers: { 'x-agon-key': token } })).status, 403)
  await child.ended()
  assert.match(stage.agon('replay', 'verify', 'fog.replay', 'from-the-seat.replay'), /./)
  const info = (name) => JSON.parse(stage.agon('replay', 'info', name, '--json'))
  assert.deepEqual(info('from-the-seat.replay').outcome, info('fog.replay').outcome)
  assert.doesNotMatch(JSON.stringify(info('from-the-seat.replay')), /lines:python3/, 'how the other bot is started is not in it')
  // The two armies never met: what was sent names no unit of the other, although the replay is full of them.
  const told = (await Promise.all(heard)).join('\n')
  assert.ok(told.includes('"owner":"p1"'), 'its own units are told')
  assert.ok(!told.includes('"owner":"p2"'), 'no unit of the other is told')
  assert.ok(!/"seed":"3"/.test(told), 'the seed, which makes the map, is not told')
  await close(page)
})

test('every game is played by hand against a program, turn after turn', async () => {
  for (const game of ['cultist-wars', 'deerhunt', 'jungle-blitz', 'ostibot', 'terminal']) {
    const child = stage.start('play', game, 'human', 'builtin:random', '--seed', '3', '-q')
    const page = await stage.browse({ locked: true })
    await page.goto(await child.line(/http:\S+#seat=\S+/))
    for (let turns = 0; turns < 4 && (await ready(page)); turns++) {
      const steps = await page.evaluate(() => window.agon.playing.turn.steps)
      await page.getByRole('button', { name: 'Do nothing' }).click()
      await page.waitForFunction((steps) => window.agon.playing.turn.steps > steps, steps, { timeout: 20_000 }).catch(() => assert.fail(`${game} stands at step ${steps}`))
    }
    await close(page)
    stage.servers.at(-1).kill('SIGKILL')
  }
})
