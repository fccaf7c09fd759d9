// A contest day in a real browser: an organiser, two teams and a spectator without scripts, at an address other than the
// loopback, in a network of its own, without TLS. The tests that use it say what the contest runs on.

import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { AGON, serious } from './stage.mjs'

const INSIDE = 'AGON_INSIDE_NETWORK'
/** The address of this machine in that network. */
export const ADDRESS = '192.168.77.1'
/** Sets up a network that contains only this machine, under a private address. The route says which address is its own. */
const NETWORK = `ip link set lo up && ip addr add ${ADDRESS}/24 dev lo && ip route add 10.0.0.0/8 dev lo src ${ADDRESS}`
const WORDS = 'four unrelated words here'
const TITLE = 'Autumn Cup'
const SECRET = 'my secret plan is the left flank'
/** The largest page, in bytes. */
const LARGEST = 60_000

/** Why this machine does not let a test make a network; null if it does. */
function network() {
  const tried = spawnSync('unshare', ['--net', 'sh', '-c', NETWORK], { encoding: 'utf8' })
  return tried.status === 0 ? null : `no network can be made here: ${(tried.stderr || `${tried.error}`).trim()}`
}

/**
 * Runs the tests of a file in a network of their own; `lacks` says what they need and this machine does not have.
 * @param {string} url that of the file
 * @param {string} name
 * @param {() => void} tests
 * @param {string | null} [lacks]
 */
export function apart(url, name, tests, lacks = null) {
  if (process.env[INSIDE]) return tests()
  const why = lacks ?? network()
  test(`${name}, in a network of its own`, { skip: why ? `SKIPPED: ${why}` : false }, () => {
    const again = ['--net', 'sh', '-c', `${NETWORK} && exec "$@"`, 'sh', process.execPath, '--test', fileURLToPath(url)]
    // Otherwise a test runner started inside a test runner would think that it is one of its files.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const done = spawnSync('unshare', again, { encoding: 'utf8', env: { ...env, [INSIDE]: '1' }, timeout: 280_000, maxBuffer: 1 << 26 })
    assert.equal(done.status, 0, `${done.stdout}\n${done.stderr}`)
  })
}

/** Examines a page: nothing wrong, not too large, nothing that axe finds serious; takes a picture if wanted. */
async function examine(page, name) {
  assert.deepEqual(await serious(page), [], name)
  assert.deepEqual(page.wrong, [], name)
  const size = (await (await page.request.get(page.url())).body()).length
  assert.ok(size < LARGEST, `${name} has ${size} bytes`)
  await page.setViewportSize({ width: 390, height: 900 })
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  await page.setViewportSize({ width: 1280, height: 900 })
  assert.ok(over <= 0, `${name} is ${over} pixels wider than a phone`)
  const wide = await page.evaluate(() => {
    const out = (table) => table.getBoundingClientRect().right > table.closest('.card').getBoundingClientRect().right
    return [...document.querySelectorAll('.card table')].filter(out).map((table) => table.innerText)
  })
  assert.deepEqual(wide, [], `${name}: tables that do not fit into their cards`)
  if (!process.env.AGON_PICTURES) return
  mkdirSync(process.env.AGON_PICTURES, { recursive: true })
  for (const [scheme, width] of [['light', 1280], ['dark', 1280], ['light', 390], ['dark', 390]]) {
    await page.emulateMedia({ colorScheme: scheme })
    await page.setViewportSize({ width, height: 900 })
    await page.screenshot({ path: `${process.env.AGON_PICTURES}/${name}-${width}-${scheme}.png`, fullPage: true })
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1280, height: 900 })
}

/**
 * The day. Of the contest it knows the address, the link that makes an organiser, and: `settled`, called with the title when
 * the organiser has written the settings; `midway`, called while a team waits for the verdict on its second version; `ends`,
 * which ends the contest and returns its folder. With `looks` each page is examined.
 */
export async function day(stage, { address, link, looks = true, settled, midway, ends }) {
  const look = async (page, name) => (looks ? examine(page, name) : assert.deepEqual(page.wrong, [], name))
  const open = (page, path) => page.goto(`${address}${path}`)
  const heading = (page) => page.locator('h1').innerText()

  /** Waits until a live page shows it by itself. */
  async function says(page, pattern, seconds = 60) {
    const source = pattern.source
    const said = page.waitForFunction((source) => new RegExp(source).test(document.body.innerText), source, { timeout: seconds * 1000 })
    await said.catch(async () => assert.fail(`${page.url()} does not say ${source}: ${await page.locator('body').innerText()}`))
  }

  async function signUp(name) {
    const page = await stage.browse({ viewport: { width: 1280, height: 900 } })
    await open(page, '/sign-up')
    await page.fill('[name=name]', name)
    await page.fill('[name=password]', WORDS)
    await page.click('main button')
    await look(page, `codes-${name}`)
    await page.click('main a.button')
    return page
  }

  /** Uploads a bot; returns the address of its version. */
  async function handIn(page, text) {
    await open(page, '/upload')
    await page.setInputFiles('[name=file]', { name: 'bot.py', mimeType: 'text/x-python', buffer: Buffer.from(text) })
    await page.click('main form button.main')
    assert.match(page.url(), /\/version\/\d+$/, await page.locator('main').innerText())
    return new URL(page.url()).pathname
  }

  const rita = await stage.browse({ viewport: { width: 1280, height: 900 } })
  await rita.goto(link)
  await rita.fill('[name=name]', 'Rita')
  await rita.fill('[name=password]', WORDS)
  await look(rita, 'become-organiser')
  await rita.click('main button')
  // Past the recovery codes.
  await rita.click('main a.button')
  assert.match(rita.url(), /organise\/settings$/)
  await rita.fill('[name=title]', TITLE)
  await rita.check('[value=open]')
  await look(rita, 'settings')
  // A field of this form is called `matches`, which CSS selectors stumble over.
  await rita.getByRole('button', { name: 'Save' }).click()
  assert.match(rita.url(), /organise$/)
  await settled?.(TITLE)

  const starter = readFileSync(new URL('../../games/cultist-wars/bots/python/bot.py', import.meta.url), 'utf8')
  const ann = await signUp('Ann')
  await look(ann, 'home-new')
  // What cannot be a bot is explained in words, beginning with whose fault it is.
  const broken = await handIn(ann, 'import nothing_like_this\n')
  await says(ann, /cannot play/)
  await says(ann, /your bot's fault/)
  await look(ann, 'version-failed')
  const first = await handIn(ann, `import sys\nprint('${SECRET}', file=sys.stderr, flush=True)\n${starter}`)
  assert.notEqual(first, broken)
  // The page goes through the steps without being reloaded.
  await says(ann, /v2 is live/)
  await says(ann, /no fault/)
  await look(ann, 'version-live')
  const bob = await signUp('Bob')
  await handIn(bob, `${starter}\n# Bob\n`)
  await says(bob, /v1 is live/)

  // A draft from the editor, and its output.
  await open(ann, '/draft')
  await look(ann, 'draft')
  await ann.locator('[name=code]').evaluate((area, text) => (area.value = text + area.value), `import sys\nprint('a draft of ${SECRET}', file=sys.stderr, flush=True)\n`)
  await ann.click('main button.main')
  assert.match(ann.url(), /\/match\/\d+$/, await ann.locator('main').innerText())
  const draft = new URL(ann.url()).pathname
  await says(ann, new RegExp(`a draft of ${SECRET}`))
  await look(ann, 'match-draft')
  // A challenge, on the version's own page.
  await open(bob, '/challenge')
  await look(bob, 'challenge')
  await bob.click('main button.main')
  await says(bob, /Slowest/)
  await look(bob, 'match-challenge')

  // A second version gets its verdict, as it comes.
  await handIn(ann, `${starter}\n# second\n`)
  // What a killed machine had leased goes to others a minute later.
  await midway?.()
  await says(ann, /v3 is live/, 120)
  await says(ann, /against v2/, 120)
  await look(ann, 'version-verdict')
  await open(ann, '/')
  await look(ann, 'home')
  await open(ann, '/account')
  await look(ann, 'account')
  await open(ann, '/team')
  await look(ann, 'team-own')
  await open(ann, '/upload')
  await look(ann, 'upload')

  // A spectator without scripts sees everything public, complete.
  const spectator = await stage.browse({ javaScriptEnabled: false, viewport: { width: 1280, height: 900 } })
  await open(spectator, '/ladder')
  const ladder = await spectator.locator('main').innerText()
  assert.ok(ladder.includes('Ann') && ladder.includes('Bob'), ladder)
  assert.equal((await open(spectator, draft)).status(), 404)
  assert.equal((await open(spectator, '/matches')).status(), 200)
  const watcher = await stage.browse({ viewport: { width: 1280, height: 900 } })
  for (const [path, name] of [['/', 'home-spectator'], ['/ladder', 'ladder'], ['/matches', 'matches'], ['/rules', 'rules'], ['/sign-in', 'sign-in'], ['/recover', 'recover'], ['/sign-up', 'sign-up'], ['/nowhere', 'nothing'], ['/rulings', 'rulings-none']]) {
    await open(watcher, path)
    await look(watcher, name)
  }
  await open(watcher, '/ladder')
  await watcher.click('a:has-text("Ann")')
  await look(watcher, 'bot')
  await open(watcher, '/matches')
  await watcher.locator('a[href^="/match/"]').first().click()
  await watcher.getByRole('link', { name: 'Watch', exact: true }).click()
  await watcher.waitForFunction(() => window.agon?.players.every(({ stream }) => stream.known), undefined, { timeout: 60_000 })
  assert.deepEqual(watcher.wrong, [])

  // The organiser rules, and a watched ladder follows by itself.
  await open(watcher, '/ladder')
  await open(rita, '/organise/rulings')
  await rita.selectOption('[name=about]', { label: 'Bob, all versions' })
  await rita.check('[value=out]')
  await rita.fill('[name=reason]', 'Played from two accounts.')
  await look(rita, 'organise-rulings')
  await rita.click('main button.main')
  await watcher.waitForFunction(() => !document.querySelector('#rows').innerText.includes('Bob'), undefined, { timeout: 60_000 })
  await open(watcher, '/rulings')
  assert.match(await heading(watcher), /^1 team or version is disqualified$/)
  await look(watcher, 'rulings')
  for (const [path, name] of [['/organise', 'cockpit'], ['/organise/people', 'people']]) {
    await open(rita, path)
    await look(rita, name)
  }
  // Private things stay private, also for those who were disqualified and those who are not signed in.
  for (const page of [bob, watcher]) {
    assert.equal((await open(page, first)).status() === 200 && (await page.content()).includes(SECRET), false)
  }
  const folder = await ends()
  const done = (...words) => {
    const { status, stdout, stderr } = spawnSync(AGON, words, { cwd: stage.folder, encoding: 'utf8' })
    assert.equal(status, 0, `agon ${words.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }
  done('serve', 'fsck', folder, '--replays')
  done('serve', 'export', folder, 'cup.agon')
  return done('verify', 'cup.agon')
}
