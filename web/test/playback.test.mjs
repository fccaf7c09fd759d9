// Playback: every game's match, at every speed, with the clocks that browsers really have.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { close, GAMES, Stage, whole } from './stage.mjs'

/** Whether whole matches are played at the fast speeds, which takes minutes. */
const LONG = process.env.AGON_LONG === '1'

const stage = new Stage()
let address

before(async () => {
  for (const game of Object.keys(GAMES)) stage.play(game)
  address = await stage.watch(...Object.keys(GAMES).map((game) => `${game}.replay`))
})

after(() => stage.end())

for (const game of Object.keys(GAMES)) {
  test(`${game}: played at every speed without an error, though frames are stamped before the move that asked for them`, async () => {
    const page = await stage.browse({ reducedMotion: 'no-preference' })
    // On a busy machine a frame is stamped long before it is drawn: before the move that asked for it.
    await page.addInitScript(() => {
      const ask = window.requestAnimationFrame.bind(window)
      window.requestAnimationFrame = (draw) => ask((now) => draw(now - 40))
    })
    await page.goto(`${address}/#replay=${game}.replay`)
    await whole(page)
    const { count, firsts } = await page.evaluate(() => ({ count: window.agon.players[0].count, firsts: [...window.agon.players[0].stream.firsts] }))
    // A few pictures at each speed, at places all over the match; the long run plays all of it at the fast ones.
    for (let speed = 1; speed <= 10; speed++) {
      const all = LONG && speed > 7
      const from = all ? 0 : firsts[Math.floor(((firsts.length - 1) * speed) / 12)]
      const goal = all ? count - 1 : Math.min(from + (speed < 3 ? 1 : 6), count - 1)
      await page.evaluate(([speed, from]) => {
        const [player] = window.agon.players
        player.setSpeed(speed)
        void player.go(from).then(() => player.play())
      }, [speed % 10, from])
      await page.waitForFunction((goal) => window.agon.players[0].at >= goal, goal, { timeout: 120_000, polling: 50 })
      await page.evaluate(() => window.agon.players[0].stop())
      // The movement ends, and then nothing is left of it.
      await page.waitForFunction(() => window.agon.players[0].t === 1)
    }
    await close(page)
  })
}

test('a frame that cannot be drawn does not end the movement', async () => {
  const page = await stage.browse({ reducedMotion: 'no-preference' })
  await page.goto(`${address}/#replay=ostibot.replay`)
  await whole(page)
  await page.evaluate(async () => {
    const [player] = window.agon.players
    const { drawing } = player.stream
    const draw = drawing.draw.bind(drawing)
    window.failed = 0
    drawing.draw = (pen, shot) => {
      if (shot.t < 1) throw (window.failed++, new Error('this frame cannot be drawn'))
      draw(pen, shot)
    }
    await player.go(3)
    player.nudge(1)
  })
  await page.waitForFunction(() => window.agon.players[0].t === 1)
  assert.ok((await page.evaluate(() => window.failed)) > 0)
  assert.ok(page.wrong.length > 0 && page.wrong.every((line) => line.includes('this frame cannot be drawn')), page.wrong.join('\n'))
  page.wrong.length = 0
  await close(page)
})
