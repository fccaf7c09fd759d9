// What was played by hand is watched: played to its end and shown, in each place that lets people play.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { close, engines as withEngines, playedOn, playedToTheEnd, Stage, whole } from './stage.mjs'

const stage = new Stage()
let address
let module
const MATCH = ['cultist-wars', 'builtin:greedy', 'builtin:idle', '--seed', '5', '--set', 'number_of_turns=30']

before(async () => {
  stage.agon('play', ...MATCH, '-q', '--replay', 'one.replay')
  address = new URL(await stage.watch('one.replay')).origin
  module = await stage.module(address)
})

after(() => stage.end())

/** A test that needs the engines. */
const engines = (name, run) => withEngines(() => module, name, run)

engines('from the start page', async () => {
  const page = await stage.browse()
  await page.goto(`${address}/#play=cultist-wars&seats=human,builtin:greedy&seed=3`)
  await playedToTheEnd(page)
  await page.goBack()
  await close(page)
})

engines('from a recorded match that the program serves', async () => {
  const page = await stage.browse()
  await page.goto(`${address}/#replay=one.replay&turn=4`)
  await whole(page)
  await playedOn(page)
  await close(page)
})

engines('from a page of a folder on a disk', async () => {
  stage.agon('gauntlet', ...MATCH.slice(0, 3), '-n', '2', '--seed', '5', '--replays', 'all', '-q', '--journal', 'series/journal.jsonl')
  stage.agon('rate', 'series/journal.jsonl', '--html', 'site')
  const [match] = readdirSync(stage.path('site/matches'))
  const page = await stage.browse({ offline: true })
  await page.goto(`${pathToFileURL(stage.path(`site/matches/${match}`))}`)
  await whole(page)
  await playedOn(page)
  // The way back leads to the match of this page.
  await page.getByRole('button', { name: 'Recorded match' }).click()
  await page.waitForFunction(() => !window.agon?.players[0]?.stream.head.seats.some(({ label }) => label === 'human'))
  await whole(page)
  await close(page)
})

test('a page of one file has no engines, and offers nothing that needs them', async () => {
  stage.agon('replay', 'export', 'one.replay', '--format', 'html', '-o', 'one.html')
  const page = await stage.browse({ offline: true })
  await page.goto(`${pathToFileURL(stage.path('one.html'))}`)
  await whole(page)
  assert.equal(await page.getByRole('button', { name: /^(Play on|Watch)/ }).count(), 0)
  await close(page)
})

engines('a click while the last turn is still shown is not lost', async () => {
  const page = await stage.browse({ reducedMotion: 'no-preference' })
  await page.goto(`${address}/#play=cultist-wars&seats=human,builtin:greedy&seed=3`)
  const mine = () => page.waitForFunction(() => window.agon?.playing && !window.agon.playing.busy && window.agon.playing.mine && window.agon.playing.prospect)
  await mine()
  // Whatever is shown: the board before the first turn, as while the last one is animated.
  const unit = await page.evaluate(() => {
    const { playing } = window.agon
    const able = new Set(playing.prospect.choices.map((choice) => playing.hand.actor(choice)))
    return playing.actors.find(({ id }) => able.has(id))
  })
  await page.getByRole('button', { name: /^Do nothing/ }).click()
  await page.waitForFunction(() => window.agon.playing.turn.steps >= 2)
  await mine()
  await page.evaluate(() => window.agon.players[0].seek(0))
  const own = await page.evaluate((id) => window.agon.playing.actors.find((one) => one.id === id)?.at, unit.id)
  const box = await page.locator('.board canvas').boundingBox()
  const place = await page.evaluate(([x, y]) => window.agon.placeOf(x + 0.5, y + 0.5), own)
  await page.mouse.click(box.x + place.x, box.y + place.y)
  await page.waitForFunction((id) => window.agon.playing.selected.includes(id), unit.id)
  assert.equal(await page.evaluate(() => window.agon.players[0].at), await page.evaluate(() => window.agon.playing.stream.frames.length - 1))
  await close(page)
})

engines('a game that can be played alone begins with an opponent', async () => {
  const page = await stage.browse()
  await page.goto(`${address}/`)
  await page.locator('form select').first().selectOption('jungle-blitz')
  await page.getByRole('button', { name: 'Play it yourself' }).click()
  await page.getByRole('button', { name: 'Play', exact: true }).click()
  await page.waitForFunction(() => window.agon?.playing?.stream.head.seats.length === 2)
  await close(page)
})
