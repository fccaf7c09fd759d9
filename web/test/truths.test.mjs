// What the pages of a contest say is so, for each reader: deadlines, names, pauses, rulings, results; at all widths, light and dark.

import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { AGON, Stage, close, playedOn, serious, whole } from './stage.mjs'

const WORDS = 'four unrelated words here'
const WIDTHS = [390, 768, 1280, 1920]
/** As wide as a name gets. */
const WIDE = 'W'.repeat(32)

test('deadlines, names, pauses, rulings and lost connections are told as they are', { timeout: 240_000 }, async (t) => {
  const stage = new Stage()
  t.after(() => stage.end())
  const server = spawn(AGON, ['serve', 'cup', '--new', 'cultist-wars', '--port', '0'], { cwd: stage.folder, stdio: ['ignore', 'pipe', 'pipe'] })
  stage.servers.push(server)
  let text = ''
  server.stdout.on('data', (data) => (text += data))
  server.stderr.on('data', (data) => (text += data))
  for (let tries = 0; tries < 600 && !/organiser\?link=\S+\n/.test(text); tries++) await new Promise((done) => setTimeout(done, 50))
  const link = /(http\S+organiser\?link=\S+)/.exec(text)?.[1]
  assert.ok(link, text)
  const address = new URL(link).origin

  /** Looks at a page in all widths, and once in the dark: nothing sticks out, nothing is wrong. */
  const look = async (page, name) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      if (over > 0 || process.env.AGON_PICTURES) await page.screenshot({ path: `${process.env.AGON_PICTURES ?? stage.folder}/truth-${name}-${width}.png`, fullPage: true })
      const wide = await page.evaluate(() => [...document.querySelectorAll('main *, header *')].filter((part) => part.getBoundingClientRect().right > innerWidth + 1 && part.checkVisibility()).map((part) => `${part.tagName}.${part.className} ${Math.round(part.getBoundingClientRect().right)}`).slice(0, 6))
      assert.ok(over <= 0, `${name} is ${over} pixels wider than ${width}: ${wide.join(', ')}`)
    }
    await page.setViewportSize({ width: 1280, height: 900 })
    assert.deepEqual(await serious(page), [], name)
    assert.deepEqual(page.wrong, [], name)
  }
  const says = (page, pattern) => page.waitForFunction((source) => new RegExp(source).test(document.body.innerText), pattern.source, { timeout: 90_000 })
  const signUp = async (name, options = {}) => {
    const page = await stage.browse({ viewport: { width: 1280, height: 900 }, ...options })
    await page.goto(`${address}/sign-up`)
    await page.fill('[name=name]', name)
    await page.fill('[name=password]', WORDS)
    await page.click('main button')
    // Past the recovery codes.
    await page.click('main a.button')
    return page
  }

  const rita = await stage.browse({ viewport: { width: 1280, height: 900 } })
  await rita.goto(link)
  await rita.fill('[name=name]', 'Rita')
  await rita.fill('[name=password]', WORDS)
  await rita.click('main button')
  // Past the recovery codes.
  await rita.click('main a.button')
  await rita.check('[value=open]')
  await rita.getByLabel('Uploads close').fill('2031-12-05T18:00').catch(() => rita.fill('[name=closes]', '2031-12-05T18:00'))
  await rita.getByRole('button', { name: 'Save' }).click()
  await rita.waitForURL(/organise$/)
  await look(rita, 'cockpit')

  // A deadline has a date, a year and a zone, on every page; and names as wide as they get break none.
  const starter = readFileSync(new URL('../../games/cultist-wars/bots/python/bot.py', import.meta.url), 'utf8')
  const wide = await signUp(WIDE, { colorScheme: 'dark' })
  await wide.goto(`${address}/upload`)
  await wide.setInputFiles('[name=file]', { name: 'bot.py', mimeType: 'text/x-python', buffer: Buffer.from(starter) })
  await wide.click('main form button.main')
  await wide.waitForURL(/\/version\/\d+$/)
  const version = wide.url()
  await says(wide, /v1 is live/)
  await look(wide, 'version')
  for (const [path, name] of [['/', 'home'], ['/ladder', 'ladder'], ['/matches', 'matches'], ['/rules', 'rules'], ['/challenge', 'challenge'], ['/draft', 'draft'], ['/team', 'team'], ['/account', 'account']]) {
    await wide.goto(`${address}${path}`)
    assert.match(await wide.locator('header.top').innerText(), /uploads close Fri 5 Dec 2031 18:00 UTC/, name)
    await look(wide, name)
  }
  await wide.goto(`${address}/ladder`)
  assert.match(await wide.locator('h1').innerText(), /^(Nobody is placed yet|No team is placed yet|W+ leads( the teams)?)$/, 'no built-in bot is a headline')

  // A match in the viewer, and the way back out of it.
  await wide.goto(version)
  await wide.locator('table a[href^="/match/"]').first().click()
  await wide.getByRole('link', { name: 'Watch', exact: true }).waitFor({ timeout: 60_000 })
  const match = wide.url()
  await look(wide, 'match')
  await wide.getByRole('link', { name: 'Watch', exact: true }).click()
  await whole(wide)
  await wide.keyboard.press('.')
  await look(wide, 'viewer')
  // What is played on from it is watched in the same place, and leads back to it.
  if ((await wide.getByRole('button', { name: 'Play on…' }).count()) > 0) {
    await playedOn(wide)
    await wide.getByRole('button', { name: 'Recorded match' }).click()
    await whole(wide)
  } else t.diagnostic('this program has no engines for pages')
  await wide.getByRole('button', { name: "The match's page" }).click()
  await wide.waitForURL(match)

  // A pause is said on every page, to everybody, and its end too.
  const press = async (name) => {
    await rita.goto(`${address}/organise`)
    await rita.getByRole('button', { name, exact: true }).click()
    await rita.waitForURL(/organise$/)
  }
  await press('Pause')
  for (const path of ['/', '/ladder', '/draft', '/upload', '/challenge']) {
    await wide.goto(`${address}${path}`)
    assert.match(await wide.locator('body').innerText(), /The contest is paused\./, path)
  }
  assert.equal((await (await wide.request.get(`${address}/api/v1/contest`)).json()).state, 'paused')
  await press('Resume')
  await wide.goto(`${address}/ladder`)
  assert.doesNotMatch(await wide.locator('body').innerText(), /paused/)

  // A disqualified team is told so, and nothing it hands in is kept.
  await rita.goto(`${address}/organise/rulings`)
  await rita.selectOption('[name=about]', { label: `${WIDE}, all versions` })
  await rita.check('[value=out]')
  await rita.fill('[name=reason]', 'Played from two accounts.')
  await rita.click('main button.main')
  await wide.goto(version)
  assert.match(await wide.locator('h1').innerText(), /was removed from the ratings/)
  wide.wrong.length = 0
  await wide.goto(`${address}/upload`)
  assert.match(await wide.locator('body').innerText(), /Your team is disqualified[\s\S]*Played from two accounts/)

  // Live goes out when the server is gone.
  await rita.goto(`${address}/ladder`)
  await rita.locator('#live', { hasText: 'Live' }).waitFor()
  server.kill('SIGKILL')
  await rita.locator('#live', { hasText: 'No connection' }).waitFor({ timeout: 30_000 })
  rita.wrong.length = wide.wrong.length = 0
  await close(rita)
  await close(wide)
})
