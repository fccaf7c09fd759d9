// A match of a contest in the viewer while it is played: the board follows, and its team sees what its bot writes.

import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Stage, close, playedOn, serious, whole } from './stage.mjs'

const WORDS = 'four unrelated words here'
const WIDTHS = [390, 768, 1440]

test('a draft is watched while it is played, and analysed when it is over', { timeout: 240_000 }, async (t) => {
  const stage = new Stage()
  t.after(() => stage.end())
  const link = await stage.told(/http\S+organiser\?link=\S+/, 'serve', 'cup', '--new', 'cultist-wars', '--port', '0')
  const address = new URL(link).origin
  const signUp = async (page, name) => {
    await page.fill('[name=name]', name)
    await page.fill('[name=password]', WORDS)
    await page.click('main button')
    // Past the recovery codes.
    await page.click('main a.button')
  }
  const rita = await stage.browse()
  await rita.goto(link)
  await signUp(rita, 'Rita')
  await rita.check('[value=open]')
  await rita.getByRole('button', { name: 'Save' }).click()
  await rita.waitForURL(/organise$/)
  const press = async (name) => {
    await rita.goto(`${address}/organise`)
    await rita.getByRole('button', { name, exact: true }).click()
    await rita.waitForURL(/organise$/)
  }
  // So that the match begins when the page is there.
  await press('Pause')

  const ann = await stage.browse()
  await ann.goto(`${address}/sign-up`)
  await signUp(ann, 'Ann')
  await ann.goto(`${address}/draft`)
  const starter = readFileSync(new URL('../../games/cultist-wars/bots/python/bot.py', import.meta.url), 'utf8')
  const slow = starter.replace('print(answer(board, units), flush=True)', `import time
        time.sleep(0.03)
        print('my secret plan', len(units), file=sys.stderr, flush=True)
        print('@agon {"dot": [3, 3], "colour": "red"}', file=sys.stderr, flush=True)
        print(answer(board, units), flush=True)`)
  assert.notEqual(slow, starter)
  await ann.locator('[name=code]').evaluate((area, text) => (area.value = text), slow)
  await ann.click('main button.main')
  await ann.waitForURL(/\/match\/\d+$/)
  const match = ann.url()
  assert.match(await ann.locator('h1').innerText(), /^(Your draft of \d\d:\d\d against \S+|\S+ against your draft of \d\d:\d\d)$/)
  await ann.getByRole('link', { name: 'Watch', exact: true }).click()

  // The board is there, and says why nothing moves.
  await ann.waitForFunction(() => window.agon?.players[0]?.stream.waits, undefined, { timeout: 60_000 })
  assert.match(await ann.locator('header.top').innerText(), /It waits for its turn/)
  assert.match(await ann.title(), /[Yy]our draft of/)
  await press('Resume')
  const state = () => ann.evaluate(() => {
    const { stream } = window.agon.players[0]
    return { steps: stream.total, over: stream.end !== undefined, wrote: stream.briefs.some(({ answers }) => answers.some(({ stderr }) => stderr?.includes('my secret plan'))) }
  })
  await ann.waitForFunction(() => window.agon.players[0].stream.total >= 4, undefined, { polling: 20, timeout: 120_000 })
  const midway = await state()
  assert.deepEqual({ over: midway.over, wrote: midway.wrote }, { over: false, wrote: true }, `it moves before it is over: ${JSON.stringify(midway)}`)
  await ann.getByRole('tab', { name: 'output' }).click()
  await ann.getByText('my secret plan').first().waitFor()

  // The same page has everything when it is over.
  await ann.waitForFunction(() => window.agon.players[0].stream.end !== undefined, undefined, { timeout: 60_000 })
  await whole(ann)
  const { steps } = await state()
  const analysed = (await ann.locator('script[src$="engine.js"]').count()) > 0
  if (analysed) {
    await ann.getByRole('tab', { name: 'analysis' }).waitFor({ timeout: 60_000 })
    // It still plays what it has not shown yet.
    await ann.evaluate(() => window.agon.players[0].goToStep(1))
    await ann.getByRole('button', { name: /Show its input/ }).first().click()
    await ann.locator('pre.asked').first().waitFor()
  } else t.diagnostic('this program has no engines for pages')
  assert.deepEqual(ann.wrong, [])
  // Reloaded, it comes from the replay: the same steps, with what the bot wrote and drew.
  await ann.reload()
  await whole(ann)
  assert.deepEqual(await state(), { steps, over: true, wrote: true })
  await ann.evaluate(() => {
    const [player] = window.agon.players
    return player.goToStep(player.stream.briefs.find(({ answers }) => answers.some(({ stderr }) => stderr?.includes('@agon'))).number)
  })
  await ann.waitForFunction(() => window.agon.marks.length > 0)
  for (const width of WIDTHS) {
    await ann.setViewportSize({ width, height: 900 })
    const over = await ann.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(over <= 0, `the viewer is ${over} pixels wider than ${width}`)
    if (process.env.AGON_PICTURES) await ann.screenshot({ path: `${process.env.AGON_PICTURES}/live-${width}.png` })
  }
  await ann.setViewportSize({ width: 1440, height: 900 })
  assert.deepEqual(await serious(ann), [])
  if (analysed) {
    await playedOn(ann)
    await ann.getByRole('button', { name: 'Recorded match' }).click()
    await whole(ann)
  }
  await ann.getByRole('button', { name: "The match's page" }).click()
  await ann.waitForURL(match)

  // Without scripts the page says so, and leads back.
  const plain = await (await ann.request.get(`${match}/view`)).text()
  assert.ok(plain.includes(`<noscript>The board needs JavaScript. <a href="${new URL(match).pathname}">`), plain.slice(0, 2000))
  await close(rita)
  await close(ann)
})
