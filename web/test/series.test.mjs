// From a series to its matches, and from a turn of a lost one to a test of the bot, in a real Chromium.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { AGON, close, serious, Stage, WAITER, whole } from './stage.mjs'

const stage = new Stage()
let address
let entries

before(async () => {
  // One of the opponents crashes in each match, after its first answers.
  const bot = new URL('../../games/deerhunt/bots/javascript', import.meta.url).pathname
  for (const file of ['agon.toml', 'bot.js', 'strategy.js']) stage.write(`short/${file}`, readFileSync(`${bot}/${file}`, 'utf8').replace('function decide(state) {', 'let calls = 0\nfunction decide(state) {\n  if (calls++ === 2) process.exit(1)'))
  const series = ['builtin:rusher', 'builtin:miner', 'short', '-n', '4', '--seed', '1', '--map', 'narrows', '--map', 'orchard']
  stage.agon('gauntlet', 'deerhunt', ...series, '--replays', 'all', '--no-timeouts', '--journal', 'series/journal.jsonl')
  entries = readFileSync(stage.path('series/journal.jsonl'), 'utf8').trim().split('\n').slice(1).map((line) => JSON.parse(line))
  stage.write('bot/bot.sh', WAITER)
  stage.write('bot/agon.toml', 'run = "sh bot.sh"\n[defaults]\ngame = "cultist-wars"\n')
  stage.agon('play', 'cultist-wars', 'bot', 'builtin:greedy', '--seed', '3', '-q', '--set', 'number_of_turns=30', '--replay', 'lost.replay')
  // Loses against one of the two, and hardly ever against the other.
  const strong = ['builtin:greedy', 'builtin:random', 'builtin:hunter?nodes=300', '-n', '40', '--seed', '1']
  stage.agon('gauntlet', 'cultist-wars', ...strong, '--replays', 'all', '--journal', 'strong/journal.jsonl')
  address = new URL(await stage.watch('series/journal.jsonl', 'strong/journal.jsonl', 'lost.replay')).origin
})

after(() => stage.end())

test('a series is looked through: by result, opponent, map, fault and swing, and from match to match', async () => {
  const page = await stage.browse()
  await page.goto(`${address}/#journal=series/journal.jsonl`)
  const rows = page.locator('tbody tr')
  await rows.first().waitFor()
  const own = entries.filter(({ bots }) => bots.includes(0))
  assert.ok(own.every(({ replay }) => replay), 'all replays are kept')
  /** The number of rows with only one filter set. */
  const with_ = async (label, option) => {
    await page.locator('select').and(page.getByLabel(label)).selectOption(option)
    // The heading and the list agree.
    const told = await page.waitForFunction(() => {
      const count = Number(/^(\d+) matches of/.exec(document.querySelector('.page > [role=status]').textContent.trim())?.[1])
      return document.querySelectorAll('tbody tr').length === Math.max(1, count) && { count }
    })
    const { count } = await told.jsonValue()
    await page.locator('select').and(page.getByLabel(label)).selectOption({ index: 0 })
    return count
  }
  const rank = ({ bots, ranks }) => ranks[bots.indexOf(0)]
  assert.equal(await with_('Result', 'lost'), own.filter((match) => rank(match) > 1).length)
  assert.equal(await with_('Against', '1'), own.filter(({ bots }) => bots.includes(1)).length)
  const onMap = own.filter(({ map }) => map === 'orchard').length
  assert.ok(onMap > 0 && onMap < own.length)
  assert.equal(await with_('Map', 'orchard'), onMap)
  const faulty = own.filter(({ faults = [] }) => faults.length > 0).length
  assert.ok(faulty > 0 && faulty < own.length)
  assert.equal(await with_('Fault', 'any'), faulty)
  assert.equal(await with_('Fault', 'crash'), own.filter(({ faults = [] }) => faults.some(({ kind }) => kind === 'crash')).length)

  // By the largest change of the chance in one step: every replay is recomputed for it.
  await page.getByLabel('Order').selectOption('swing')
  await page.getByText('in matches whose replays were kept').waitFor()
  const cells = await rows.locator('td:nth-child(5)').allTextContents()
  const sizes = cells.map((cell) => Number(/(\d+) %/.exec(cell)[1]))
  assert.ok(sizes[0] > 0)
  assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a))
  assert.deepEqual(await serious(page), [])

  // The match opens at its swing; from there to the next in this order, and back.
  const seeds = (await rows.locator('td.where').allTextContents()).map((text) => /\d+$/.exec(text.trim())[0])
  const turn = Number(/at (\d+)/.exec(cells[0])[1])
  await rows.first().locator('td:nth-child(5) button').click()
  await whole(page)
  await page.waitForFunction((turn) => window.agon.players[0].stepNumber === turn, turn)
  const shown = (seed) => page.waitForFunction((seed) => String(window.agon?.players[0].stream.head.seed) === seed, seed)
  await shown(seeds[0])
  await page.getByText(`1 of ${own.length}`).waitFor()
  assert.ok(await page.getByRole('button', { name: 'Previous match' }).isDisabled())
  await page.getByRole('button', { name: 'Next match' }).click()
  await page.getByText(`2 of ${own.length}`).waitFor()
  await whole(page)
  await page.keyboard.press(']')
  await page.getByText(`3 of ${own.length}`).waitFor()
  await whole(page)
  await shown(seeds[2])
  await page.keyboard.press('[')
  await page.getByText(`2 of ${own.length}`).waitFor()
  // A link to a match knows its neighbours, too.
  const link = page.url()
  await close(page)
  const again = await stage.browse()
  await again.goto(link)
  await again.getByText(new RegExp(`\\d of ${own.length}`)).waitFor()
  await close(again)
})

test('an address that was about to be brought up to date does not undo the step to another match', async () => {
  const page = await stage.browse()
  // What waits as long as an address does runs when the test says so.
  await page.addInitScript(() => {
    const usual = window.setTimeout.bind(window)
    window.held = []
    window.setTimeout = (run, after, ...rest) => (after === 250 ? window.held.push(run) : usual(run, after, ...rest))
  })
  const kept = entries.filter(({ replay }) => replay).sort((a, b) => a.block - b.block || a.game - b.game)
  await page.goto(`${address}/#journal=series/journal.jsonl&match=${kept[0].block}.${kept[0].game}`)
  await page.getByText(`1 of ${kept.length}`).waitFor()
  await whole(page)
  await page.waitForFunction(() => window.held.length > 0)
  // The browser announces the new address a moment after it is set: in between comes the update.
  await page.evaluate(() => {
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: ']', bubbles: true }))
    window.held.forEach((run) => run())
  })
  await page.getByText(`2 of ${kept.length}`).waitFor()
  await close(page)
})

test('what stands with the losses is said in sentences, which lead to the turn of a lost match, and to all of them', async () => {
  const told = JSON.parse(stage.agon('why', 'strong/journal.jsonl', '--json'))
  const [cause] = told.places
  assert.match(cause.sentence, /were against hunter/)
  const page = await stage.browse()
  await page.goto(`${address}/#journal=strong/journal.jsonl`)
  const why = page.getByRole('region', { name: `${told.bot} lost ${told.lost} of ${told.matches} matches of Cultist Wars` })
  await why.getByText(`${cause.sentence}.`).waitFor()
  assert.deepEqual(await serious(page), [])
  // All of them alone, and then all again.
  const rows = page.locator('tbody tr')
  const before = await rows.count()
  await why.getByRole('button', { name: `list all ${cause.matches.length}` }).first().click()
  assert.equal(await rows.count(), cause.matches.length)
  assert.deepEqual([...new Set(await rows.locator('td:first-child').allTextContents())], ['lost'])
  await page.getByRole('button', { name: 'List all its matches' }).click()
  assert.equal(await rows.count(), before)
  // The match opens where most of the chance was lost.
  const [lost] = cause.matches
  await why.getByRole('button', { name: `match ${lost.block}.${lost.game}: lost ${Math.round(100 * lost.fall)} points at ${lost.turn}` }).first().click()
  await whole(page)
  await page.waitForFunction(() => window.agon.players[0].stepNumber > 0)
  assert.equal(await page.evaluate(() => window.agon.players[0].step.moment), lost.turn)
  await close(page)
  // It is about the selected bot.
  const other = await stage.browse()
  await other.goto(`${address}/#journal=strong/journal.jsonl`)
  await other.getByLabel('Bot').selectOption('random')
  await other.getByRole('heading', { name: /^random lost \d+ of \d+ matches/ }).waitFor()
  await close(other)
})

test('a turn of a lost match is kept as a test of the bot, which fails until the bot is better', async () => {
  const page = await stage.browse({ acceptDownloads: true })
  await page.goto(`${address}/#replay=lost.replay&turn=7`)
  await whole(page)
  await page.waitForFunction(() => window.agon.players[0].stepNumber === 7)
  await page.getByRole('button', { name: 'Save as bot test' }).click()
  const dialog = page.getByRole('dialog', { name: 'A test of my bot' })
  await dialog.waitFor()
  assert.match(await dialog.locator('pre').textContent(), /seat = 1\nturn = 7\n\n\[answer\]\nis_not = \["WAIT"\]/)
  assert.deepEqual(await serious(page), [])
  /** Saves the test and its replay among the bot's tests; returns its name. */
  const keep = async (as) => {
    const files = []
    const both = new Promise((done) => page.on('download', (file) => files.push(file) === 2 && done()))
    await dialog.getByRole('button', { name: 'Download both' }).click()
    await both
    page.removeAllListeners('download')
    mkdirSync(stage.path(`${as}/tests`), { recursive: true })
    for (const file of files) {
      await file.saveAs(stage.path(`${as}/tests/${file.suggestedFilename()}`))
      // Firefox would call the next one of this name differently.
      await file.delete()
    }
  }
  const tested = (bot) => {
    const done = spawnSync(AGON, ['test', '--bot', bot, '--json'], { cwd: stage.folder, encoding: 'utf8' })
    return JSON.parse(done.stdout)
  }
  await keep('bot')
  const again = tested('bot')
  assert.deepEqual([again.passed, again.failed, again.broken], [0, 1, 0])
  assert.equal(again.tests[0].why, 'it answered `WAIT` again')
  stage.write('bot/bot.sh', WAITER.replace('echo WAIT', 'echo 0 MOVE 1 3'))
  assert.deepEqual(tested('bot').passed, 1)

  // Another answer, or its later chance.
  await dialog.getByLabel('What is expected').selectOption('this answer')
  assert.ok(await dialog.getByRole('button', { name: 'Download both' }).isDisabled(), 'nothing is expected yet')
  await dialog.getByLabel('The answer').fill('0 MOVE 1 3')
  stage.write('other/bot.sh', WAITER.replace('echo WAIT', 'echo 0 MOVE 1 3'))
  stage.write('other/agon.toml', readFileSync(stage.path('bot/agon.toml')))
  await keep('other')
  assert.equal(tested('other').passed, 1)
  assert.equal(await dialog.getByRole('button', { name: 'Copy as command' }).getAttribute('title'), "agon replay keep lost.replay --seat 1 --turn 7 --is '0 MOVE 1 3'")
  await dialog.getByLabel('What is expected').selectOption('the position some turns later')
  // In Firefox what is filled in stands behind the number that is there.
  await dialog.getByLabel('After this many turns').clear()
  await dialog.getByLabel('After this many turns').fill('5')
  stage.write('later/bot.sh', WAITER)
  stage.write('later/agon.toml', readFileSync(stage.path('bot/agon.toml')))
  await keep('later')
  const [later] = tested('later').tests
  assert.equal(later.status, 'failed')
  assert.match(later.why, /after 5 turns its chance to finish first is \d+ %, not 50 %/)
  await close(page)
})
