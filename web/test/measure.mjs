// The viewer's figures in docs/benchmarks.md: `npm run measure`. Measures, and asserts nothing.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { AGON, Stage, whole } from './stage.mjs'

const stage = new Stage()
const round = (value) => Math.round(value * 100) / 100
const at = (values, share) => round([...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))])

stage.agon('play', 'jungle-blitz', 'builtin:collector', 'builtin:raider', 'builtin:collector', 'builtin:raider', '--seed', '3', '-q', '--replay', 'long.replay')
stage.agon('play', 'terminal', 'builtin:fortress', 'builtin:fortress', '--seed', '1', '-q', '--replay', 'frames.replay')
const address = new URL(await stage.watch('long.replay', 'frames.replay')).origin

/** Makes pages note by themselves when the first frame after the first drawing begins: a question from outside would first have to be compiled. */
const note = (page) => page.addInitScript(() => {
  const look = () => (window.agon?.drawTimes.length > 0 ? (window.firstFrame = performance.now()) : requestAnimationFrame(look))
  requestAnimationFrame(look)
})
const settled = (page) => page.waitForTimeout(600)

const firsts = []
for (let n = 0; n < 9; n++) {
  const page = await stage.browse()
  await note(page)
  await page.goto(`${address}/#replay=long.replay`)
  await settled(page)
  firsts.push(await page.evaluate(() => window.firstFrame))
  await page.context().close()
}
console.log(`first frame of a match of 300 ticks: ${at(firsts, 0.5)} ms median, ${at(firsts, 0)} to ${at(firsts, 1)} (9 openings)`)

for (const name of ['frames', 'long']) {
  const page = await stage.browse({ reducedMotion: 'no-preference' })
  await page.goto(`${address}/#replay=${name}.replay`)
  await whole(page)
  const { count, seeks } = await page.evaluate(async () => {
    const [player] = window.agon.players
    const count = player.stream.frames.length
    const seeks = []
    for (let n = 0; n < 200; n++) {
      const began = performance.now()
      player.go((n * 7919) % count)
      await Promise.resolve()
      await Promise.resolve()
      const panels = performance.now() - began
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
      seeks.push(panels + window.agon.drawTimes.at(-1))
    }
    return { count, seeks }
  })
  console.log(`${name}: ${count} pictures; a seek computes and draws for ${at(seeks, 0.5)} ms median, ${at(seeks, 0.95)} at the 95th percentile, ${at(seeks, 1)} at most`)
  const draws = await page.evaluate(async () => {
    const [player] = window.agon.players
    player.go(0)
    player.speed = 9
    const before = window.agon.drawTimes.length
    player.play()
    while (player.playing) await new Promise((done) => setTimeout(done, 50))
    return window.agon.drawTimes.slice(before)
  })
  console.log(`${name}: drawing while it plays takes ${at(draws, 0.5)} ms median, ${at(draws, 0.95)} at the 95th percentile (${draws.length} frames)`)
  await page.context().close()
}

// A Terminal match of 100 turns from its replay: the first frame with a warm cache, any turn in any order, and what charts
// and marks need of all of it. `AGON_MODULE` names a WebAssembly module to use instead of the program's.
stage.agon('play', 'terminal', 'builtin:fortress', 'builtin:fortress', '--seed', '1', '--set', 'resources.startingHP=100000', '--set', 'maxTurns=100', '-q', '--replay', 'turns.replay')
{
  const viewer = new URL(await stage.watch('turns.replay')).origin
  const page = await stage.browse()
  if (process.env.AGON_MODULE) {
    const body = readFileSync(process.env.AGON_MODULE)
    await page.route('**/agon-*.wasm', (route) => route.fulfill({ body, contentType: 'application/wasm', headers: { 'cache-control': 'max-age=9999' } }))
  }
  await note(page)
  await page.addInitScript(() => {
    const look = () => (window.agon?.players[0].stream.known ? (window.allKnown = performance.now()) : requestAnimationFrame(look))
    requestAnimationFrame(look)
  })
  const [opened, series, seeks] = [[], [], []]
  for (let n = 0; n < 10; n++) {
    await page.goto('about:blank')
    await page.goto(`${viewer}/#replay=turns.replay`)
    await settled(page)
    const [first, known] = await page.evaluate(() => [window.firstFrame, window.allKnown])
    if (n === 0) continue
    opened.push(first)
    series.push(known - first)
    seeks.push(
      ...(await page.evaluate(async () => {
        const [player] = window.agon.players
        const { stream } = player
        const times = []
        for (let n = 0; n < 60; n++) {
          const step = 1 + ((n * 7919) % stream.total)
          stream.ready.clear()
          stream.lines.clear()
          const began = performance.now()
          await stream.need(step)
          stream.step(step)
          times.push(performance.now() - began)
        }
        return times
      })),
    )
  }
  console.log(`a Terminal match of 100 turns: first frame after ${at(opened, 0.5)} ms median, ${at(opened, 0)} at best (to ${at(opened, 1)}), any turn in ${at(seeks, 0.5)} ms median and ${at(seeks, 0.95)} at the 95th percentile, all of it known ${at(series, 0.5)} ms after the first frame (${at(series, 0)} to ${at(series, 1)})`)
  await page.context().close()
}

// The same match while it plays, four times as fast as normal: faster than a screen shows pictures. Counts the frames that
// the browser shows, and how long drawing and all other work of the page take in each.
{
  const viewer = new URL(await stage.watch('turns.replay')).origin
  for (const [name, options] of [['1440 x 900', {}], ['1920 x 1080', { viewport: { width: 1920, height: 1080 } }]]) {
    const page = await stage.browse({ reducedMotion: 'no-preference', ...options })
    await page.goto(`${viewer}/#replay=turns.replay`)
    await whole(page)
    const { gaps, draws, work, pictures } = await page.evaluate(async () => {
      const [player] = window.agon.players
      player.go(0)
      player.speed *= 2
      const [gaps, work] = [[], []]
      // The cost of a frame besides drawing: from its beginning until the browser is idle again.
      const channel = new MessageChannel()
      const before = window.agon.drawTimes.length
      player.play()
      await new Promise((done) => {
        let last = performance.now()
        const end = last + 12_000
        const frame = (now) => {
          gaps.push(now - last)
          last = now
          channel.port1.onmessage = () => work.push(performance.now() - now)
          channel.port2.postMessage(0)
          if (now < end && player.playing) requestAnimationFrame(frame)
          else done()
        }
        requestAnimationFrame(frame)
      })
      player.stop()
      return { gaps: gaps.slice(5), work, draws: window.agon.drawTimes.slice(Math.min(before, window.agon.drawTimes.length - 100)), pictures: player.at }
    })
    const late = gaps.filter((gap) => gap > 1000 / 60 + 4).length
    const rate = round((1000 * gaps.length) / gaps.reduce((sum, gap) => sum + gap, 0))
    console.log(`Terminal at four times its pace, ${name}: ${rate} frames a second, ${round((100 * late) / gaps.length)} % of ${gaps.length} late; between two ${at(gaps, 0.5)} ms median, ${at(gaps, 0.95)} at the 95th percentile, ${at(gaps, 1)} at most; drawing ${at(draws, 0.5)} ms median, ${at(draws, 0.95)} at the 95th; all work of a frame ${at(work, 0.5)} ms, ${at(work, 0.95)}; ${pictures} pictures passed`)
    await page.context().close()
  }
}

// Single-file pages: of the same match, and of 150 turns of Cultist Wars.
stage.agon('play', 'cultist-wars', 'builtin:greedy', 'builtin:hunter', '--seed', '1', '-q', '--replay', 'cultists.replay')
for (const name of ['turns', 'cultists']) {
  const times = Array.from({ length: 7 }, () => {
    const began = performance.now()
    stage.agon('replay', 'export', `${name}.replay`, '--format', 'html', '-o', `${name}.html`)
    return performance.now() - began
  })
  const { size } = statSync(stage.path(`${name}.html`))
  console.log(`one page of ${name}: ${round(size / 1000)} kB, written in ${at(times, 0)} ms at best, ${at(times, 0.5)} ms median (7 times, the start of the program included)`)
}

const build = resolve(dirname(AGON), 'build')
const built = readdirSync(build).map((name) => join(build, name, 'out/web')).filter((path) => existsSync(join(path, 'parts')))
const [newest] = built.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
if (newest) {
  const size = (name) => gzipSync(readFileSync(join(newest, name)), { level: 9 }).length / 1000
  const parts = readdirSync(join(newest, 'parts'))
  // What the page of a match names, and what its script imports.
  const first = parts.filter((name) => /^(early|app)-/.test(name))
  const script = readFileSync(join(newest, 'parts', first.find((name) => /^app-.*js$/.test(name))), 'utf8')
  const needed = parts.filter((name) => first.includes(name) || script.includes(`from"./${name}"`))
  const sum = needed.reduce((sum, name) => sum + size(`parts/${name}`), 0)
  const others = parts.filter((name) => !needed.includes(name)).map((name) => `${name.replace(/-[^-]*(?=\.)/, '')} ${round(size(`parts/${name}`))}`)
  console.log(`initial download: ${round(sum)} kB compressed; the editor, when it is wanted: ${round(size('editor.js'))} kB; other parts: ${others.join(', ')} kB`)
  console.log(`the app of a folder of pages: ${round(size('folder.js') + size('folder.css'))} kB; within an exported page: ${round(size('page.js') + size('page.css'))} kB`)
}
await stage.end()
