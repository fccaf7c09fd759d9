// The page of a bot's text: written, kept, run and understood, at home and on a contest's site.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { close, engines as withEngines, look, Stage, whole } from './stage.mjs'

const stage = new Stage()
const pictures = process.env.AGON_BENCH_PICTURES
let module
let bots = 0

before(async () => {
  module = await stage.module(new URL(await stage.watch()).origin)
})
after(() => stage.end())

const engines = (name, run) => withEngines(() => module, name, run)

/** A starter in a folder of its own, opened beside the board. */
async function open({ game = 'cultist-wars', language = 'python', change = (text) => text, toml = (text) => text, ...options } = {}) {
  const name = `bot-${++bots}`
  stage.agon('new', game, language, name)
  const file = readdirSync(stage.path(name)).find((path) => /^(bot|grid_player)\.\w+$/.test(path))
  const at = (path) => `${name}/${path}`
  stage.write(at(file), change(readFileSync(stage.path(at(file)), 'utf8')))
  stage.write(at('agon.toml'), toml(readFileSync(stage.path(at('agon.toml')), 'utf8')))
  const address = await stage.watch(name)
  const page = await stage.browse(options)
  await page.goto(address)
  await page.locator('.cm-content').waitFor()
  return { page, name, file, server: stage.servers.at(-1), disk: () => readFileSync(stage.path(at(file)), 'utf8'), put: (text) => writeFileSync(stage.path(at(file)), text) }
}

/** Types at the end of the text. */
async function type(page, text) {
  await page.locator('.cm-content').click()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText(text)
}

const says = (page, text) => page.locator('.kept .line').getByText(text).waitFor()

/** Waits until what was typed is kept, and the page says so. */
async function kept(page) {
  await page.waitForFunction(() => !window.agon.work.keeper.unkept && window.agon.work.keeper.standing.is === 'kept')
  await says(page, /^Kept \d+ s ago$/)
}

/** Waits for the end of a run that begins with a key. */
async function run(page, key = 'Control+Enter') {
  await page.evaluate(() => (window.before = window.agon.work.player))
  await page.keyboard.press(key)
  await page.waitForFunction(() => window.agon.work.player !== window.before || window.agon.work.problem, undefined, { timeout: 60_000 })
  await whole(page)
  await page.waitForFunction(() => !window.agon.work.running && !window.agon.work.looking, undefined, { timeout: 60_000 })
}

const shown = (page) => page.evaluate(() => {
  const { player, verdict, ran } = window.agon.work
  return { step: player.stepNumber, total: player.stream.total, seed: player.stream.head.seed, cost: verdict?.cost, whole: verdict?.whole, rules: ran.rules, seats: player.stream.head.seats.map(({ label }) => label) }
})

async function picture(page, name) {
  if (!pictures) return
  mkdirSync(pictures, { recursive: true })
  for (const [width, height] of [[1440, 900], [390, 844], [768, 1024], [1920, 1080]]) {
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height })
      await page.waitForTimeout(250)
      await page.screenshot({ path: `${pictures}/${name}-${width}-${colorScheme}.png` })
      if (width > 900) continue
      for (const tab of ['Board', 'Output', 'Code']) {
        await page.getByRole('tab', { name: tab }).click()
        await page.waitForTimeout(250)
        if (tab !== 'Code') await page.screenshot({ path: `${pictures}/${name}-${width}-${colorScheme}-${tab}.png` })
      }
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1440, height: 900 })
}

engines('a starter is edited, kept and run; the board stops where it was lost, with what the bot wrote there', async () => {
  // It looks away from every second shot.
  const change = (text) => text.replace('    if shots:\n', '    print(len(shots), "shots", file=sys.stderr)\n    if shots and len(units) % 2 == 0:\n')
  const { page, name, disk } = await open({ change })
  assert.equal(await page.locator('.file[aria-pressed=true]').innerText(), 'bot.py')
  await type(page, '\n# a remark of mine\n')
  await kept(page)
  assert.match(disk(), /# a remark of mine/)
  assert.equal(await page.locator('.file[aria-pressed=true]').innerText(), 'bot.py •')
  await page.locator('.cm-bars .bar').first().waitFor()
  await page.getByLabel('Seed', { exact: true }).fill('9')
  await run(page)
  const first = await shown(page)
  assert.equal(first.seed, '9')
  assert.deepEqual(first.seats, ['your text', 'greedy'])
  assert.equal(first.step, first.cost.step)
  assert.ok(first.cost.gain.mean >= 0.15 && first.cost.gain.count >= 200, JSON.stringify(first.cost))
  assert.match(await page.locator('.board h2').innerText(), /^Your chance fell \d+ points here$/)
  assert.match(await page.locator('.board .said').innerText(), /\d+ % → \d+ % \(± \d+\)\. You played .+; \d+ SHOOT \d+ would have kept \d+ %\./)
  await picture(page, 'lost')
  // The output goes with the turn; what it read is computed.
  const output = page.locator('.output')
  await output.getByText(`Your output in turn ${first.step}`).waitFor()
  await output.getByText(/^\d+ shots$/).waitFor()
  await output.getByText(/^\d+ lines?$/).click()
  await output.getByText('It read', { exact: true }).first().waitFor()
  await output.getByText('All turns').click()
  await output.locator('li button').first().click()
  assert.notEqual((await shown(page)).step, first.step)
  // What came of it stands in the list, and in the folder.
  await page.locator('.rows .did', { hasText: /^lost to greedy, turn \d+$/ }).first().waitFor()
  assert.ok(readdirSync(stage.path(`${name}/.agon/texts`)).length >= 2)
  // The keys of the page: outside of the text they move, in it they write.
  await page.getByRole('region', { name: 'Board' }).focus()
  const before = (await shown(page)).step
  await page.keyboard.press('ArrowRight')
  assert.equal((await shown(page)).step, before + 1)
  await page.keyboard.press('1')
  assert.equal((await shown(page)).step, await page.evaluate(() => window.agon.work.player.turningPoints[0].step))
  await page.keyboard.press('F6')
  await page.waitForFunction(() => document.activeElement.closest('.output'))
  await page.keyboard.press('F6')
  await page.waitForFunction(() => document.activeElement.closest('.cm-editor'))
  await page.keyboard.insertText('1')
  assert.match(await page.evaluate(() => window.agon.work.editor.text('bot.py')), /1/)
  await page.keyboard.press('Escape')
  assert.ok(await page.evaluate(() => document.activeElement.closest('.cm-editor') === null))
  await page.getByRole('button', { name: 'Keep as a test' }).click()
  await page.getByRole('heading', { name: 'A test of my bot' }).waitFor()
  await page.keyboard.press('Escape')
  await close(page)
})

engines('again is the same seed, and another text', async () => {
  const { page } = await open()
  await run(page)
  const first = await shown(page)
  await type(page, '\n# changed\n')
  await run(page, 'Control+Shift+Enter')
  const again = await shown(page)
  assert.equal(again.seed, first.seed)
  assert.equal(await page.locator('.rows li').count(), 2)
  await close(page)
})

test('what another program wrote meanwhile is never written over: the reader takes it or keeps his own', async () => {
  const { page, disk, put } = await open()
  put('# by another program\n')
  await type(page, '\n# mine\n')
  await says(page, /^Changed on disk, \d\d:\d\d\.$/)
  assert.equal(disk(), '# by another program\n')
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await kept(page)
  assert.match(disk(), /# mine/)
  put('# once more\n')
  await page.evaluate(() => window.dispatchEvent(new Event('focus')))
  await page.getByRole('button', { name: 'Take it' }).click()
  assert.equal(await page.evaluate(() => window.agon.work.editor.text('bot.py')), '# once more\n')
  // Each of them is in the list, and can be had again.
  await page.locator('.rows .open').first().click()
  await page.waitForFunction(() => window.agon.work.editor.text('bot.py').includes('# mine'))
  await kept(page)
  assert.match(disk(), /# mine/)
  await close(page)
})

test('what is typed while nobody answers is in this browser, and is kept when somebody does', async () => {
  const { page, disk, name, server } = await open()
  const port = new URL(page.url()).port
  server.kill('SIGKILL')
  await type(page, '\n# typed in vain\n')
  await says(page, /^Kept in this browser only, since \d\d:\d\d\.$/)
  assert.doesNotMatch(disk(), /in vain/)
  await stage.watch(name, '--port', port)
  await page.reload()
  await page.locator('.cm-content').waitFor()
  assert.match(await page.evaluate(() => window.agon.work.editor.text('bot.py')), /# typed in vain/)
  await kept(page)
  assert.match(disk(), /# typed in vain/)
  await close(page)
})

engines('what does not compile says so at its line, and the match before stays, paler', async () => {
  const { page } = await open({ toml: (text) => text.replace(/^run =/m, 'build = "python3 -m py_compile bot.py"\nrun =') })
  await run(page)
  await page.evaluate(() => window.agon.work.editor.set('bot.py', 'x = 1\nfor for\n'))
  await run(page)
  const told = await page.locator('.output [role=alert]').innerText()
  assert.match(told, /cannot be built[\s\S]*bot\.py[\s\S]*SyntaxError/)
  await page.locator('.cm-wrong', { hasText: 'for for' }).waitFor()
  assert.match(await page.locator('.picture.old .of').innerText(), /^of \d\d:\d\d$/)
  await close(page)
})

engines('numbers of one’s own are unrated, stand beside the usual ones, and are refused by the nearest name', async () => {
  const { page } = await open()
  await page.locator('.rules summary').click()
  await page.getByLabel('Number 1').fill('health_points')
  await page.getByLabel('Value 1').fill('20')
  await page.getByText(/^10 in standard · of every unit/).waitFor()
  await page.keyboard.press('Escape')
  assert.match(await page.locator('.rules .label').innerText(), /unrated/)
  await run(page)
  assert.equal((await shown(page)).rules, 'health_points 20')
  assert.match(await page.evaluate(() => window.agon.work.player.stream.head.rulesName), /health_points/)
  await page.getByText('Unrated: health_points 20.').waitFor()
  await page.locator('.rules summary').click()
  await page.getByLabel('Number 1').fill('health_point')
  await page.getByLabel('Value 1').fill('30')
  await page.getByText('No number of this game has this name.').waitFor()
  await page.keyboard.press('Escape')
  await run(page)
  assert.match(await page.locator('.output [role=alert]').innerText(), /health_points/)
  await close(page)
})

engines('by hand the reader takes the other seat, and sees the match when it is over', async () => {
  const { page } = await open({ game: 'cultist-wars' })
  await page.locator('.rules summary').click()
  await page.getByLabel('Number 1').fill('number_of_turns')
  await page.getByLabel('Value 1').fill('4')
  await page.keyboard.press('Escape')
  await page.getByText('Me, by hand').click()
  await page.keyboard.press('Control+Enter')
  const [seat] = await Promise.all([page.context().waitForEvent('page'), page.getByRole('link', { name: 'Take it' }).click()])
  assert.equal(await page.evaluate(() => window.agon.work.player), undefined)
  for (let turn = 0; turn < 2; turn++) {
    await seat.waitForFunction((turn) => window.agon?.playing && !window.agon.playing.busy && window.agon.playing.mine && window.agon.playing.turn.steps >= 2 * turn + 1, turn, { timeout: 60_000 })
    await seat.evaluate(() => window.agon.playing.send())
  }
  await page.waitForFunction(() => window.agon.work.player?.stream.end, undefined, { timeout: 60_000 })
  assert.deepEqual((await shown(page)).seats, ['your text', 'human'])
  await close(page)
})

engines('on a phone it is three tabs, what is set up is folded, and a run opens the board', async () => {
  const { page } = await open({ viewport: { width: 390, height: 844 }, hasTouch: true })
  const sees = (name) => page.locator(`section.code, div.board, div.output`).and(page.locator(`.${name}`)).first().isVisible()
  assert.deepEqual([await sees('code'), await sees('output')], [true, false])
  assert.match(await page.locator('.fold').innerText(), /your text, seat 1, against greedy/)
  assert.equal(await page.locator('.setup').isVisible(), false)
  await page.locator('.fold').click()
  await page.locator('.setup').waitFor()
  await page.locator('.fold').click()
  await page.locator('.cm-content').click()
  await page.getByRole('button', { name: '{', exact: true }).click()
  assert.match(await page.evaluate(() => window.agon.work.editor.text('bot.py')), /\{/)
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.evaluate(() => (window.before = window.agon.work.player))
  await page.getByRole('button', { name: /^Run/ }).click()
  await page.waitForFunction(() => (window.agon.work.player || window.agon.work.problem) && !window.agon.work.running, undefined, { timeout: 60_000 })
  assert.equal(await page.evaluate(() => window.agon.work.problem), null)
  assert.deepEqual([await sees('code'), await page.locator('.board canvas').first().isVisible()], [false, true])
  await page.getByRole('tab', { name: 'Output' }).click()
  await page.locator('.output li').first().waitFor()
  const small = await page.evaluate(() => [...document.querySelectorAll('.bench button, .bench [role=tab]')].filter((one) => one.offsetParent && one.closest('.acts, .tabs, .fold') && one.offsetHeight < 44).map(({ innerText }) => innerText))
  assert.deepEqual(small, [])
  await close(page)
})

engines('nothing is wider than the screen, and axe finds nothing serious, in the light and in the dark', async () => {
  for (const game of ['cultist-wars', 'deerhunt']) {
    const { page } = await open({ game, toml: (text) => text.replace(/opponents = .*/, 'opponents = ["builtin:idle"]') })
    await page.locator('.rules summary').click()
    assert.deepEqual(await look(page, `${game}, set up`), [])
    await page.keyboard.press('Escape')
    await run(page)
    assert.deepEqual(await look(page, `${game}, played`), [])
    await picture(page, game)
    await close(page)
  }
})

test('every starter’s language is highlighted by weight, slope and ground', async () => {
  for (const language of ['cpp', 'java', 'csharp', 'go', 'rust', 'typescript', 'kotlin', 'javascript']) {
    const name = `in-${language}`
    stage.agon('new', 'cultist-wars', language, name)
    const page = await stage.browse()
    await page.goto(await stage.watch(name))
    await page.locator('.cm-line span').first().waitFor()
    const looks = await page.evaluate(() => [...document.querySelectorAll('.cm-line span')].map((one) => getComputedStyle(one)).some(({ fontWeight, fontStyle }) => fontWeight === '700' || fontStyle === 'italic'))
    assert.ok(looks, language)
    await close(page)
  }
})

test('on a contest’s site a starter is run, changed and handed in', { timeout: 120_000 }, async (t) => {
  const site = await stage.told(/http\S+organiser\?link=\S+/, 'serve', 'cup', '--new', 'cultist-wars', '--port', '0')
  const { origin } = new URL(site)
  if ((await fetch(`${origin}/code`)).status === 404) {
    console.log('SKIPPED: this program’s contest has no page for texts yet')
    return t.skip('no /code')
  }
  const page = await stage.browse()
  await page.goto(`${origin}/sign-up?next=/code`)
  await page.fill('[name=name]', 'Ada')
  await page.fill('[name=password]', 'four unrelated words here')
  await page.click('main button')
  await page.goto(`${origin}/code`)
  await page.getByRole('button', { name: /Python/ }).first().click()
  await kept(page)
  await page.reload()
  await page.locator('.cm-content').waitFor()
  await run(page)
  assert.match(await page.locator('.output').innerText(), /Your output in turn/)
  await type(page, '\n# better\n')
  await page.getByRole('button', { name: 'Hand in' }).click()
  await page.getByRole('button', { name: 'Hand in all the same' }).click()
  await page.getByText(/^Handed in as v1/).waitFor()
  await close(page)
})
