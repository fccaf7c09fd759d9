// What a team learns from its losses, in a real browser: lost matches are searched by the page, a puzzle is answered, looked at and kept
// as a test, and the next upload is tried in it.

import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { Stage, close, look, serious } from './stage.mjs'

const stage = new Stage()
after(() => stage.end())

/** The starter, which plays whatever it likes least: it loses, and not always at once. */
const starter = readFileSync(new URL('../../games/cultist-wars/bots/python/bot.py', import.meta.url), 'utf8')

let address
before(async () => {
  address = (await stage.told(/http:\/\/127\S+:\d+/, 'serve', 'cup', '--new', 'cultist-wars', '--port', '0')).replace(/\/$/, '')
  stage.agon('serve', 'set', 'cup', 'sign_up=open')
})

async function says(page, pattern, seconds = 60) {
  const { source } = pattern
  const said = page.waitForFunction((source) => new RegExp(source).test(document.body.innerText), source, { timeout: seconds * 1000 })
  await said.catch(async () => assert.fail(`${page.url()} does not say ${source}: ${await page.locator('main').innerText()}`))
}

async function handIn(page, text) {
  await page.goto(`${address}/upload`)
  await page.setInputFiles('[name=file]', { name: 'bot.py', mimeType: 'text/x-python', buffer: Buffer.from(text) })
  await page.click('main form button.main')
  assert.match(page.url(), /\/version\/\d+$/, await page.locator('main').innerText())
}

test('a lost match is searched, solved, kept as a test, and tried on the next upload', { timeout: 280_000 }, async (t) => {
  const page = await stage.browse()
  await page.goto(`${address}/sign-up`)
  await page.fill('[name=name]', 'Ann')
  await page.fill('[name=password]', 'four unrelated words here')
  await page.click('main button')
  await handIn(page, starter)
  await says(page, /v1 is live/, 120)
  const plain = await stage.browse({ javaScriptEnabled: false })
  await plain.goto(`${address}/losses`)
  assert.match(await plain.locator('h1').innerText(), /Puzzles/)
  const { length } = await (await fetch(`${address}/viewer/engine.js`)).text()
  if (length < 1000) return t.skip('this program has no engines for pages')
  // Lost matches come by and by.
  let open = 0
  for (let tries = 0; tries < 60 && open < 4; tries++) {
    await page.goto(`${address}/losses`)
    open = Number(await page.locator('#search').getAttribute('data-open'))
    if (open < 4) await page.waitForTimeout(1000)
  }
  assert.ok(open > 0, await page.locator('main').innerText())
  await page.getByRole('button', { name: /Search/ }).click()
  await page.waitForFunction(() => document.querySelector('#taught a.link'), undefined, { timeout: 120_000 })
  if (await page.getByRole('button', { name: 'Stop' }).count()) await page.getByRole('button', { name: 'Stop' }).click()
  await says(page, /not searched|All lost matches are searched|Search /)
  assert.deepEqual(await look(page, 'losses'), [])
  await page.locator('#taught a.link').first().click()
  await says(page, /your chance fell from \d+ % to \d+ %/)
  await page.getByLabel('Your order').waitFor({ timeout: 60_000 })
  // Before an answer neither order is told.
  assert.doesNotMatch(await page.locator('#puzzle').innerText(), /in the match|Best known/)
  await page.getByLabel('Your order').fill('0 MOVE 90 90')
  await page.getByRole('button', { name: 'Answer' }).click()
  await says(page, /CW-/)
  await page.getByLabel('Your order').fill('WAIT')
  await page.getByRole('button', { name: 'Answer' }).click()
  await says(page, /You, by hand/, 60)
  await says(page, /in the match/)
  await page.getByRole('button', { name: 'Show it' }).click()
  await says(page, /Best known/)
  // The best order is judged as it was found.
  const best = await page.locator('tr', { hasText: 'Best known' }).locator('code').innerText()
  await page.getByLabel('Your order').fill(best)
  await page.getByRole('button', { name: 'Answer' }).click()
  await page.locator('.chip.good', { hasText: 'solved' }).first().waitFor({ timeout: 60_000 })
  assert.deepEqual(await look(page, 'puzzle'), [])
  if (process.env.AGON_PICTURES) await page.screenshot({ path: `${process.env.AGON_PICTURES}/puzzle.png`, fullPage: true })
  await page.getByRole('button', { name: 'Keep as a test' }).click()
  await says(page, /Kept as a test/)
  // It was all kept.
  await page.reload()
  await says(page, /Best known/)
  assert.match(await page.locator('#taught').innerText(), /a test/)
  await handIn(page, `${starter}\n# second\n`)
  await says(page, /[01] of 1 tests pass/, 120)
  assert.deepEqual(await serious(page), [])
  await close(page)
})
