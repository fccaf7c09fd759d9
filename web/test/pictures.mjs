// The pictures of `docs/viewer.md`: `npm run pictures` takes them again. Each game once on a desktop and once on a phone,
// one of them in light and one in dark colours.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { CHATTY, GAMES, Stage, WAITER, whole } from './stage.mjs'
import { small } from './small.mjs'

const folder = process.env.AGON_PICTURES
if (!folder) throw new Error('AGON_PICTURES names no folder')
const stage = new Stage()
after(() => stage.end())

const DESK = { viewport: { width: 1280, height: 800 } }
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true }
const WIDE = { viewport: { width: 1440, height: 900 } }
const HALL = { viewport: { width: 1920, height: 1080 } }

/** What each picture shows: a place, and keys pressed there or a tab opened. */
const PICTURES = {
  'cultist-wars': { hash: 'replay=cultist-wars.replay&turn=49', keys: ['d'] },
  'cultist-wars-phone': { hash: 'replay=cultist-wars.replay&turn=49', dark: true, on: PHONE },
  deerhunt: { hash: 'replay=deerhunt.replay&turn=80&eyes=1', dark: true },
  'deerhunt-phone': { hash: 'replay=deerhunt.replay&turn=80', on: PHONE },
  'jungle-blitz': { hash: 'replay=jungle-blitz.replay&turn=121&part=2' },
  'jungle-blitz-phone': { hash: 'replay=jungle-blitz.replay&turn=121', dark: true, on: PHONE },
  ostibot: { hash: 'replay=ostibot.replay&turn=104', dark: true },
  'ostibot-phone': { hash: 'replay=ostibot.replay&turn=104', on: PHONE },
  terminal: { hash: 'replay=terminal.replay&turn=9&part=30', keys: ['d'] },
  'terminal-phone': { hash: 'replay=terminal.replay&turn=9&part=30', dark: true, on: PHONE },
  analysis: { hash: 'replay=cultist-wars.replay&turn=20', tab: 'analysis' },
  mistake: { hash: 'replay=idle.replay&turn=5', tab: 'analysis', ask: 'idle' },
  output: { hash: 'replay=chatty.replay&turn=9' },
  compare: { hash: 'replay=cultist-wars.replay&with=other.replay&turn=31' },
  presenter: { hash: 'replay=ostibot.replay&turn=60', keys: ['s'], dark: true, on: HALL },
  play: { hash: 'play=terminal&seats=human,builtin:fortress&seed=5', hand: true, plan: true, on: WIDE },
  'play-phone': { hash: 'play=cultist-wars&seats=human,builtin:greedy&seed=5', hand: true, dark: true, on: PHONE },
  start: { hash: '', start: true },
  journal: { hash: 'journal=agon-series/one/journal.jsonl', why: true, start: true },
}
/** Some turns by a bot, and then a turn of Terminal being planned. */
async function planned(page) {
  await page.getByLabel('How many turns').selectOption('1')
  for (let turn = 1; turn <= 4; turn++) {
    await page.getByRole('button', { name: 'Let planner play' }).click()
    await page.waitForFunction((turn) => window.agon.playing.turn.steps >= turn && window.agon.playing.mine, turn)
  }
  const box = await page.locator('.board canvas').boundingBox()
  for (const [tool, x, y] of [['Wall', 14, 12], ...Array(5).fill(['Scout', 7, 6]), ['Turret', 11, 8]]) {
    const button = page.locator('.tool', { hasText: tool })
    if ((await button.getAttribute('aria-pressed')) !== 'true') await button.click()
    const place = await page.evaluate(([x, y]) => window.agon.placeOf(x + 0.5, 27 - y + 0.5), [x, y])
    await page.mouse.click(box.x + place.x, box.y + place.y)
    await page.waitForFunction(() => !window.agon.playing.busy)
  }
}

/** A bot is asked whether its order was a mistake. */
async function asked(page, against) {
  await page.getByRole('tab', { name: 'analysis' }).click()
  await page.waitForFunction(() => window.agon.players[0].analyst?.outlook?.orders[0].gain.count > 200)
  await page.getByLabel('Against').fill(against)
  await page.getByRole('button', { name: 'Run the bot' }).click()
  await page.getByText(/^Mistake/).waitFor()
  await page.getByText('Analyse all turns').scrollIntoViewIfNeeded()
}

/** Those that need engines in the page. */
const COMPUTED = ['analysis', 'mistake', 'play', 'play-phone']

test('pictures of the documentation', async (t) => {
  mkdirSync(folder, { recursive: true })
  for (const game of Object.keys(GAMES)) stage.play(game)
  stage.write('chatty.js', CHATTY.replace(/const hostile = .*/, "const hostile = 'I go right'"))
  const chatty = ['play', 'cultist-wars', 'cmd:node chatty.js', 'builtin:greedy', '--name', '1=my bot', '--seed', '5', '-q', '--no-timeouts']
  stage.agon(...chatty, '--replay', 'chatty.replay')
  stage.agon('play', 'cultist-wars', 'builtin:greedy', 'builtin:hunter?nodes=900', '--seed', '1', '-q', '--replay', 'other.replay')
  const series = ['builtin:greedy', 'builtin:random', 'builtin:hunter?nodes=300', '-n', '24', '--seed', '1', '--replays', 'all']
  stage.agon('gauntlet', 'cultist-wars', ...series, '--journal', 'agon-series/one/journal.jsonl')
  // A bot that waits, beside a unit that it could convert.
  stage.write('idle/bot.sh', WAITER)
  stage.write('idle/agon.toml', 'run = "sh bot.sh"\n[defaults]\ngame = "cultist-wars"\n')
  stage.agon('play', 'cultist-wars', 'builtin:greedy', 'idle', '--seed', '3', '-q', '--set', 'number_of_turns=12', '--replay', 'walked.replay')
  stage.agon('replay', 'fork', 'walked.replay', 'idle', '--seat', '1', '--turn', '4', '--against', 'idle', '--replay', 'idle.replay')
  for (const seed of ['7', '8']) stage.agon('play', 'deerhunt', 'builtin:miner', 'builtin:rusher', '--seed', seed, '-q')
  stage.agon('play', 'ostibot', 'builtin:looter', 'builtin:fighter', '--seed', '4', '-q')
  const replays = [...Object.keys(GAMES), 'chatty', 'other', 'idle'].map((name) => `${name}.replay`)
  const address = await stage.watch(...replays, 'agon-series/one/journal.jsonl')
  const module = await stage.module(address)
  for (const [name, { hash, keys = [], dark, on = DESK, start, why, tab, ask, hand, plan }] of Object.entries(PICTURES)) {
    if (!module && COMPUTED.includes(name)) {
      t.diagnostic(`${name} is left as it was: this program has no engines for pages`)
      continue
    }
    const page = await stage.browse({ ...on, colorScheme: dark ? 'dark' : 'light' })
    await page.goto(`${address}/#${hash}`)
    if (start) await page.locator('h1').waitFor()
    else if (hand) await page.waitForFunction(() => window.agon?.playing)
    else await whole(page)
    if (why) await page.getByText('Where it lost').waitFor()
    await page.waitForTimeout(500)
    for (const key of keys) await page.keyboard.press(key)
    if (plan) await planned(page)
    if (ask) await asked(page, ask)
    else if (tab) {
      await page.getByRole('tab', { name: tab }).click()
      await page.waitForFunction(() => window.agon.players[0].analyst?.outlook?.orders[0].gain.count > 200)
      await page.getByLabel('Analyse all turns').check()
      await page.waitForFunction(() => window.agon.players[0].analyst.marks.length > 0, undefined, { timeout: 60_000 })
    }
    await page.waitForTimeout(300)
    writeFileSync(join(folder, `${name}.png`), small(await page.screenshot()))
    await page.context().close()
  }
})
