// A short day of a contest in every browser: an organiser founds it, a team signs up, hands in, reads the ladder and its match,
// watches matches of all games, tries the workshop and signs out. The long day, with its rulings and verdicts, is `day.mjs`.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { BROWSERS, lacks } from './browsers.mjs'
import { GAMES, look, Stage, standing, whole } from './stage.mjs'

const WORDS = 'four unrelated words here'
const STARTER = new URL('../../games/cultist-wars/bots/python/bot.py', import.meta.url)
const SCRIPT = new URL('../../games/ostibot/bots/javascript/bot.js', import.meta.url)

for (const browser of BROWSERS) {
  const why = lacks(browser)
  test(`a short day in ${browser}`, { skip: why ? `SKIPPED: ${why}` : false, timeout: 400_000 }, async (t) => {
    const stage = new Stage(browser)
    try {
      const faults = new Set()
      const see = async (page, name) => (await look(page, name)).forEach((fault) => faults.add(fault))
      let ann
      await t.test('a contest is founded, and a team hands in', async () => (ann = await founded(stage, see)))
      // Before its first match the contest puts its sandbox to the test, which takes a while.
      await t.test('matches of all games are played back', () => playback(stage, see))
      await t.test('the workshop plays a script', (t) => workshop(t, stage, see))
      await t.test('the team sees its version, the ladder and its match', () => seen(ann, see))
      assert.deepEqual([...faults], [])
    } finally {
      await stage.end()
    }
  })
}

/** Founds a contest; returns the page of a team that has handed in. */
async function founded(stage, see) {
  const link = await stage.told(/http\S+organiser\?link=\S+/, 'serve', 'cup', '--new', 'cultist-wars', '--port', '0')
  const { origin } = new URL(link)
  const rita = await stage.browse()
  await rita.goto(link)
  await rita.fill('[name=name]', 'Rita')
  await rita.fill('[name=password]', WORDS)
  await see(rita, 'become-organiser')
  await rita.click('main button')
  // Past the recovery codes.
  await rita.click('main a.button')
  await rita.fill('[name=title]', 'Short Cup')
  await rita.check('[value=open]')
  await see(rita, 'settings')
  await rita.getByRole('button', { name: 'Save' }).click()
  await rita.waitForURL(/organise$/)
  await see(rita, 'cockpit')

  const ann = await stage.browse()
  await ann.goto(`${origin}/sign-up`)
  await see(ann, 'sign-up')
  await ann.fill('[name=name]', 'Ann')
  await ann.fill('[name=password]', WORDS)
  await ann.click('main button')
  await see(ann, 'codes')
  await ann.click('main a.button')
  await see(ann, 'home-new')
  await ann.goto(`${origin}/upload`)
  await see(ann, 'upload')
  await ann.setInputFiles('[name=file]', { name: 'bot.py', mimeType: 'text/x-python', buffer: readFileSync(STARTER) })
  await ann.click('main form button.main')
  await ann.waitForURL(/\/version\/\d+$/)
  return ann
}

/** What the team sees from the page of its version, until it signs out. */
async function seen(ann, see) {
  const { origin } = new URL(ann.url())
  const open = (path) => ann.goto(`${origin}${path}`)
  // The page has followed by itself.
  await ann.waitForFunction(() => /v1 is live/.test(document.body.innerText), undefined, { timeout: 150_000 })
  await see(ann, 'version')
  await open('/ladder')
  assert.match(await ann.locator('main').innerText(), /Ann/)
  await see(ann, 'ladder')
  await open('/rules')
  await see(ann, 'rules')
  await open('/matches')
  await see(ann, 'matches')
  await ann.locator('a[href^="/match/"]').first().click()
  await ann.waitForURL(/\/match\/\d+$/)
  await see(ann, 'match')
  await ann.getByRole('link', { name: 'Watch', exact: true }).first().click()
  await whole(ann)
  await see(ann, 'viewer of the contest')
  await open('/account')
  await see(ann, 'account')
  await ann.getByRole('button', { name: 'Sign out', exact: true }).click()
  await ann.getByRole('link', { name: 'Sign in' }).first().waitFor()
  await open('/sign-in')
  await see(ann, 'sign-in')
  await open('/recover')
  await see(ann, 'recover')
}

async function playback(stage, see) {
  const games = Object.keys(GAMES)
  const address = await stage.watch(...games.map((game) => stage.play(game)))
  for (const game of games) {
    // Movements are drawn, which most of these tests do without.
    const page = await stage.open(address, `replay=${game}.replay`, { reducedMotion: 'no-preference' })
    await whole(page)
    await page.keyboard.press('z')
    // The fastest speed at which pictures still move.
    await page.keyboard.press('8')
    await page.keyboard.press(' ')
    await comesTo(page, 60)
    await page.keyboard.press('x')
    await comesTo(page, Infinity)
    await see(page, game)
    await page.context().close()
  }
}

/** Waits until playback has come to a picture, or to the last. */
async function comesTo(page, picture) {
  const there = page.waitForFunction((picture) => {
    const [{ at, count }] = window.agon.players
    return at >= Math.min(picture, count - 1)
  }, picture, { timeout: 60_000 })
  await there.catch(async () => assert.fail(`${page.url()} stays where it is: ${JSON.stringify([await standing(page), page.wrong])}`))
}

async function workshop(t, stage, see) {
  stage.write('bot.js', readFileSync(SCRIPT))
  const { origin } = new URL(await stage.watch('bot.js'))
  if (!(await stage.module(origin))) return t.skip('this program has no engines for pages')
  const page = await stage.browse()
  await page.goto(`${origin}/#workshop=ostibot`)
  await page.waitForFunction(() => window.agon?.editor && window.agon.run && !window.agon.running, undefined, { timeout: 60_000 })
  assert.equal(await page.evaluate(() => window.agon.run.problem), undefined)
  await see(page, 'workshop')
}
