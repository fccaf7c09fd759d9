// Every game in a real Chromium: what is drawn is what the engine has.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { close, GAMES, serious, Stage, standing, whole } from './stage.mjs'

const stage = new Stage()
let address

before(async () => {
  for (const game of Object.keys(GAMES)) stage.play(game)
  address = await stage.watch(...Object.keys(GAMES).map((game) => `${game}.replay`))
})

after(() => stage.end())

/** Opens a place in the viewer. */
const open = (hash, options) => stage.open(address, hash, options)

for (const [game, { fog }] of Object.entries(GAMES)) {
  test(`${game}: what is drawn is what the engine has; stepping, scrubbing, inspecting`, async () => {
    const page = await open(`replay=${game}.replay`)
    await whole(page)
    const exported = JSON.parse(stage.agon('replay', 'export', `${game}.replay`, '--format', 'json'))
    const steps = exported.steps.length
    assert.equal(await page.evaluate(() => window.agon.players[0].stream.total), steps)
    assert.equal(await page.evaluate(() => window.agon.players[0].stream.end.end), 'whole')

    for (const step of [0, 1, steps >> 1, steps - 1, steps]) {
      await page.evaluate((step) => window.agon.players[0].goToStep(step), step)
      const drawn = await page.evaluate(() => window.agon.scene)
      assert.deepEqual(drawn, step === 0 ? exported.header.start : exported.steps[step - 1].state, `step ${step}`)
    }

    // If steps have frames, these equal the engine's to the last number.
    const frames = await page.evaluate(() => {
      const [{ stream }] = window.agon.players
      return Array.from({ length: stream.total }, (_, at) => stream.step(at + 1).parts)
    })
    const engines = exported.steps.map(({ events }) => events.flatMap(({ frame }) => (frame ? [frame] : [])))
    for (const [at, own] of engines.entries()) {
      const same = own.map(({ line: _, ...frame }) => frame)
      assert.deepEqual(frames[at], same, `frames of step ${at + 1}`)
    }

    // The keys of the original viewers.
    await page.keyboard.press('z')
    assert.equal((await standing(page)).at, 0)
    await page.keyboard.press('.')
    assert.deepEqual([(await standing(page)).step, (await standing(page)).at], [1, 1])
    await page.keyboard.press(',')
    assert.equal((await standing(page)).at, 0)
    await page.keyboard.press('ArrowDown')
    assert.equal((await standing(page)).step, 1)
    await page.keyboard.press('ArrowRight')
    const event = (await standing(page)).step
    assert.ok(event > 1, 'the next event is a later step')
    await page.keyboard.press('ArrowLeft')
    assert.ok((await standing(page)).step < event, 'the previous event is an earlier step')
    await page.keyboard.press('x')
    assert.equal((await standing(page)).step, steps)
    await page.keyboard.press('z')
    await page.keyboard.press('0')
    await page.keyboard.press(' ')
    await page.waitForFunction(() => window.agon.players[0].at > 3)
    await page.keyboard.press(' ')
    assert.equal((await standing(page)).playing, false)

    // The timeline, by keyboard as with a screen reader.
    const slider = page.getByRole('slider', { name: 'Timeline' })
    await slider.focus()
    await page.keyboard.press('End')
    assert.equal((await standing(page)).step, steps)

    // A turning point leads to its step.
    await page.keyboard.press('d')
    await page.getByRole('heading', { name: 'Turning points' }).waitFor()
    const points = page.locator('.why ol button')
    const decided = await page.evaluate(() => window.agon.players[0].turningPoints.map(({ step }) => step))
    assert.ok(decided.length <= 3 && decided.length === (await points.count()))
    if (decided.length > 0) {
      await points.first().click()
      assert.equal((await standing(page)).step, decided[0])
      assert.match(await points.first().textContent(), /chance of first place: \d+ % → \d+ %/)
      // N cycles through them.
      for (const next of [...decided.slice(1), decided[0]]) {
        await page.keyboard.press('n')
        assert.equal((await standing(page)).step, next)
      }
    }

    // The chances add up to one in every turn, and in the end the winner has all of it.
    const odds = await page.evaluate(() => window.agon.players[0].chances)
    assert.equal(odds[0].length, steps + 1)
    for (let step = 0; step <= steps; step++) {
      const sum = odds.reduce((sum, line) => sum + line[step], 0)
      assert.ok(Math.abs(sum - 1) < 0.005, `${game}, ${step}: ${sum}`)
    }
    const ranks = await page.evaluate(() => window.agon.players[0].stream.end.outcome.ranks)
    assert.deepEqual(odds.map((line) => line[steps] > 0), ranks.map((rank) => rank === 1))

    // The timeline draws them in the colours of the seats, paler after the turn shown; a click goes where it points.
    await page.keyboard.press('z')
    const strip = page.locator('.timeline canvas')
    const { width, height } = await strip.boundingBox()
    assert.ok(height > 60)
    const inked = () => strip.evaluate((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 20, canvas.width, 20)
      return [...data].filter((value, at) => at % 4 === 3 && value > 100).length
    })
    const pale = await inked()
    await strip.click({ position: { x: width - 9, y: 40 } })
    assert.ok((await standing(page)).step > steps * 0.8)
    assert.ok((await inked()) > pale)

    // A click on a thing selects it, and the link remembers all of it.
    await page.evaluate(() => window.agon.players[0].goToStep(Math.ceil(window.agon.players[0].stream.total / 3)))
    const spot = await page.evaluate(() => {
      const [{ stream, scene }] = window.agon.players
      const [width, height] = stream.drawing.size(stream.start)
      for (let y = 0; y < height; y++) {
        for (let x = 0; x < width; x++) {
          const card = stream.drawing.inspect(scene, x + 0.5, y + 0.5, stream.head)
          if (card) return { x, y, id: card.id, title: card.title, place: window.agon.placeOf(x + 0.5, y + 0.5) }
        }
      }
    })
    await page.locator('canvas').first().click({ position: spot.place })
    assert.equal((await standing(page)).selected, spot.id)
    await page.getByText(spot.title, { exact: true }).first().waitFor()
    if (fog) {
      await page.keyboard.press('f')
      assert.equal((await standing(page)).eyes, 1)
      const hidden = await page.evaluate(() => {
        const [{ stream, scene }] = window.agon.players
        const sees = stream.drawing.sees(scene, 1, stream.head)
        const [width, height] = stream.drawing.size(stream.start)
        return Array.from({ length: width * height }, (_, at) => sees(at % width, Math.floor(at / width))).filter((seen) => !seen).length
      })
      assert.ok(hidden > 0, 'a seat does not see everything')
    }
    const here = await standing(page)
    const told = [`turn=${here.step}`, 'select=', ...(fog ? ['eyes=1'] : [])]
    await page.waitForFunction((told) => told.every((part) => location.hash.includes(part)), told)
    const link = await page.evaluate(() => location.href)
    await page.goto('about:blank')
    await page.goto(link)
    await whole(page)
    await page.waitForFunction((step) => window.agon.players[0].stepNumber === step, here.step)
    assert.deepEqual(await standing(page), here)

    // The exact message, as the engine sent it.
    await page.evaluate(() => window.agon.players[0].goToStep(1))
    await page.getByRole('tab').first().click()
    await page.getByRole('button', { name: 'Show its input' }).first().click()
    await page.waitForFunction(() => !document.querySelector('.asked')?.textContent.startsWith('Asking'))
    const seat = exported.steps[0].answers[0].seat
    const input = stage.agon('replay', 'export', `${game}.replay`, '--input', '--seat', `${seat}`, '--until', '1')
    assert.equal((await page.locator('.asked').textContent()).trim(), input.trim())

    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      for (const tab of ['why', 'inspect', 'output']) {
        await page.getByRole('tab', { name: tab }).click()
        assert.deepEqual(await serious(page), [], `${colorScheme}, ${tab}`)
      }
    }
    await close(page)
  })
}
