// The pictures of `docs/viewer.md`: `npm run pictures` takes them anew.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { CHATTY, GAMES, Stage, whole } from './stage.mjs'

const folder = process.env.AGON_PICTURES
if (!folder) throw new Error('AGON_PICTURES names no folder')
const stage = new Stage()
after(() => stage.end())

/** What each picture shows: a place, and keys pressed there. */
const PICTURES = {
  'cultist-wars': { hash: 'replay=cultist-wars.replay&turn=49', keys: ['d'] },
  deerhunt: { hash: 'replay=deerhunt.replay&turn=80&eyes=1', dark: true },
  'jungle-blitz': { hash: 'replay=jungle-blitz.replay&turn=121&part=2' },
  ostibot: { hash: 'replay=ostibot.replay&turn=104', dark: true },
  terminal: { hash: 'replay=terminal.replay&turn=9&part=30', keys: ['d'] },
  output: { hash: 'replay=chatty.replay&turn=9' },
  compare: { hash: 'replay=cultist-wars.replay&with=other.replay&turn=31' },
  phone: { hash: 'replay=cultist-wars.replay&turn=49', phone: true },
  start: { hash: '', start: true },
  journal: { hash: 'journal=agon-series/one/journal.jsonl', start: true },
}

test('pictures of the documentation', async () => {
  mkdirSync(folder, { recursive: true })
  for (const game of Object.keys(GAMES)) stage.play(game)
  stage.write('chatty.js', CHATTY.replace(/const hostile = .*/, "const hostile = 'I go right'"))
  const chatty = ['play', 'cultist-wars', 'cmd:node chatty.js', 'builtin:greedy', '--name', '1=my bot', '--seed', '5', '-q', '--no-timeouts']
  stage.agon(...chatty, '--replay', 'chatty.replay')
  stage.agon('play', 'cultist-wars', 'builtin:greedy', 'builtin:hunter?nodes=900', '--seed', '1', '-q', '--replay', 'other.replay')
  stage.agon('gauntlet', 'cultist-wars', 'builtin:greedy', 'builtin:hunter?nodes=300', '-n', '12', '--journal', 'agon-series/one/journal.jsonl')
  for (const seed of ['7', '8']) stage.agon('play', 'deerhunt', 'builtin:miner', 'builtin:rusher', '--seed', seed, '-q')
  stage.agon('play', 'ostibot', 'builtin:looter', 'builtin:fighter', '--seed', '4', '-q')
  const replays = [...Object.keys(GAMES), 'chatty', 'other'].map((name) => `${name}.replay`)
  const address = await stage.watch(...replays, 'agon-series/one/journal.jsonl')
  for (const [name, { hash, keys = [], dark, phone, start }] of Object.entries(PICTURES)) {
    const page = await stage.browse({
      viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 800 },
      colorScheme: dark ? 'dark' : 'light',
    })
    await page.goto(`${address}/#${hash}`)
    if (start) await page.locator('h1').waitFor()
    else await whole(page)
    await page.waitForTimeout(500)
    for (const key of keys) await page.keyboard.press(key)
    await page.waitForTimeout(300)
    await page.screenshot({ path: join(folder, `${name}.png`) })
    await page.context().close()
  }
})
