// The match page in a real Chromium: what happened is told first, things can be followed, the board can be walked by
// keyboard, and everybody can see it.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { BROWSERS } from './browsers.mjs'
import { close, GAMES, serious, Stage, standing, whole } from './stage.mjs'

const stage = new Stage()
let address
/** An answer that begins as JSON. */
const BROKEN = '{"actions": [], oops}'
before(async () => {
  for (const game of Object.keys(GAMES)) stage.play(game)
  stage.agon('play', 'cultist-wars', 'builtin:hunter?nodes=300', 'builtin:greedy', '--seed', '1', '-q', '--replay', 'other.replay')
  stage.agon('play', 'cultist-wars', 'builtin:greedy', 'builtin:hunter?nodes=300', '--seed', '2', '-q', '--replay', 'seed.replay')
  stage.agon('play', 'ostibot', ...Array(9).fill('builtin:looter'), '--seed', '1', '-q', '--replay', 'nine.replay')
  stage.write('broken.js', `process.stdin.on('data', (data) => String(data).split('\\n').slice(1).forEach(() => console.log('${BROKEN}')))`)
  stage.agon('play', 'ostibot', 'cmd:node broken.js', 'builtin:looter', '--seed', '1', '-q', '--no-timeouts', '--replay', 'broken.replay')
  const starter = readFileSync(new URL('../../games/ostibot/bots/javascript/bot.js', import.meta.url), 'utf8')
  stage.write('talking.js', starter.replace('direction: step.direction }', "direction: step.direction, reason: 'to the gold' }"))
  stage.agon('play', 'ostibot', './talking.js', 'builtin:looter', '--seed', '1', '-q', '--no-timeouts', '--replay', 'talking.replay')
  stage.write('complaining.js', starter.replace('return { actions, state: memory }', "return { actions, state: memory, error: 'no map' }"))
  stage.agon('play', 'ostibot', './complaining.js', 'builtin:looter', '--seed', '1', '-q', '--no-timeouts', '--replay', 'complaining.replay')
  const bytes = readFileSync(stage.path('terminal.replay'))
  stage.write('endless.replay', bytes.subarray(0, bytes.length - 10))
  stage.write('half.replay', bytes.subarray(0, Math.floor(bytes.length * 0.8)))
  address = await stage.watch(...[...Object.keys(GAMES), 'other', 'seed', 'half', 'endless', 'nine', 'broken', 'talking', 'complaining'].map((name) => `${name}.replay`))
})

after(() => stage.end())

async function open(hash, options) {
  const page = await stage.open(address, hash, options)
  await whole(page)
  return page
}

/** The first step with an event of this kind, and the event. */
function first(game, kind) {
  const { steps } = JSON.parse(stage.agon('replay', 'export', `${game}.replay`, '--format', 'json'))
  const at = steps.findIndex(({ events }) => events.some(({ event }) => event === kind))
  return { step: at + 1, event: steps[at].events.find(({ event }) => event === kind), answer: steps[at].answers[0], steps }
}

test('the turn is told first, in sentences, then the orders with what came of them', async () => {
  const { step, event } = first('deerhunt', 'died')
  const page = await open(`replay=deerhunt.replay&turn=${step}`)
  const heading = await page.locator('.turn h2').textContent()
  assert.match(heading, new RegExp(`${event.unit} falls at \\(${event.at.x}, ${event.at.y}\\), struck by .* (from above|from below|from the left|from the right)`))
  const effects = await page.locator('.orders .effect').allTextContents()
  assert.ok(effects.includes(`felled ${event.unit}`), effects.join(' | '))
  // The page says who won; a decisive turn says so, and by how much.
  const { result, point } = await page.evaluate(() => {
    const [{ stream, turningPoints }] = window.agon.players
    return { result: `${stream.label(stream.end.outcome.ranks.indexOf(1) + 1)} wins`, point: turningPoints[0] }
  })
  assert.equal(await page.locator('h1').textContent(), result)
  await page.evaluate((step) => window.agon.players[0].goToStep(step), point.step)
  await page.locator('.turn').getByText(`Turning point 1: ${point.chance}.`).waitFor()
  await page.evaluate((step) => window.agon.players[0].goToStep(step), step)
  // The sentence is above the orders.
  const [told, orders] = [await page.locator('.turn h2').boundingBox(), await page.locator('.orders').first().boundingBox()]
  assert.ok(told.y < orders.y)
  await close(page)
})

test('a turn in which nothing happened says so in one line', async () => {
  const page = await open('replay=deerhunt.replay')
  const quiet = await page.evaluate(async () => {
    const [player] = window.agon.players
    for (let step = 1; step <= player.stream.total; step++) {
      await player.goToStep(step)
      if (player.stream.tell(player.step).length === 0) return step
    }
  })
  assert.ok(quiet > 0, 'there is such a turn')
  const { height } = await page.locator('.turn').getByText('Nothing happened.').boundingBox()
  assert.ok(height < 30, `${height} px high`)
  await close(page)
})

test('an order that the rules refused says why, and its rule leads to its words', async () => {
  const { steps } = JSON.parse(stage.agon('replay', 'export', 'deerhunt.replay', '--format', 'json'))
  const at = steps.findIndex(({ rejected }) => rejected?.length > 0)
  const { rule } = steps[at].rejected[0]
  const page = await open(`replay=deerhunt.replay&turn=${at + 1}`)
  assert.equal(await page.locator('.orders .no .effect').first().textContent(), 'rejected')
  await page.locator('.rejected').getByRole('button', { name: rule }).click()
  const words = await page.locator('.rejected .words').textContent()
  assert.ok(words.length > 20, words)
  assert.ok(readFileSync(new URL('../../games/deerhunt/RULES.md', import.meta.url), 'utf8').includes(rule))
  await close(page)
})

test('the place at which a malformed answer breaks is marked in it', async () => {
  const page = await open('replay=broken.replay&turn=1')
  const broken = page.locator('.broken').first()
  await broken.waitFor()
  const [line, mark] = (await broken.textContent()).split('\n')
  assert.equal(line, BROKEN)
  // The JSON ends at the invalid word.
  assert.equal(mark.indexOf('^'), BROKEN.indexOf('oops'))
  assert.match(await page.locator('.turn').textContent(), /Malformed: .* line 1 column \d+/)
  await close(page)
})

test('what an adventurer gives as its reason stands in a bubble at its side', async () => {
  const page = await stage.browse()
  // What is written on the board, and where.
  await page.addInitScript(() => {
    window.written = []
    const write = CanvasRenderingContext2D.prototype.fillText
    CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
      window.written.push(text)
      return write.call(this, text, ...more)
    }
  })
  await page.goto(`${address}/#replay=talking.replay`)
  await whole(page)
  const { steps } = JSON.parse(stage.agon('replay', 'export', 'talking.replay', '--format', 'json'))
  const at = steps.findIndex(({ events }) => events.some(({ event }) => event === 'said'))
  assert.ok(at >= 0, 'somebody gives a reason')
  await page.evaluate((step) => window.agon.players[0].goToStep(step), at + 1)
  await page.waitForFunction(() => window.written.join(' ').includes('to the gold'))
  assert.match(await page.locator('.turn').textContent(), /“to the gold”/)
  // At another step nobody says it.
  await page.evaluate(() => ((window.written = []), window.agon.players[0].goToStep(0)))
  await page.waitForFunction(() => window.written.length > 0)
  assert.doesNotMatch(await page.evaluate(() => window.written.join(' ')), /to the gold/)
  await close(page)
})

test('what dies at the end of a round dies on the board of that round', async () => {
  const { step, event, steps } = first('ostibot', 'roundEnded')
  assert.equal(event.round, 1)
  assert.ok(steps[step - 1].state.round === 2, 'the state is that of the next round already')
  const page = await open(`replay=ostibot.replay&turn=${step}`)
  const drawn = await page.evaluate(() => {
    const [player] = window.agon.players
    return { round: player.board.round, inside: player.board.adventurers.filter(({ position }) => position).map(({ id }) => id) }
  })
  assert.equal(drawn.round, 1)
  const dead = steps[step - 1].events.filter(({ event }) => event === 'died').map(({ who }) => who)
  for (const who of dead) assert.ok(!drawn.inside.includes(who), `${who} is dead`)
  await close(page)
})

test('a selected unit is followed through its life, with jumps, and what threatens it', async () => {
  const { step, event } = first('deerhunt', 'died')
  const page = await open(`replay=deerhunt.replay&turn=${step - 1}&select=unit%20${event.unit}`)
  const life = page.locator('.life li')
  await life.first().waitFor()
  const told = await life.allTextContents()
  assert.match(told.at(-1), new RegExp(`falls at \\(${event.at.x}, ${event.at.y}\\)`))
  await life.last().getByRole('button').click()
  await page.waitForFunction((step) => window.agon.players[0].stepNumber === step, step)
  assert.match(await page.locator('.inspect').textContent(), /not on the board now/)
  await page.evaluate((step) => window.agon.players[0].goToStep(step - 1), step)
  await page.getByText('threatened by').waitFor()
  assert.deepEqual(await serious(page), [])
  await close(page)
})

for (const game of Object.keys(GAMES)) {
  test(`${game}: what a unit can hit is told, and every cell of it that this unit threatens`, async () => {
    const page = await open(`replay=${game}.replay`)
    // The first unit of the match that can hit something.
    const found = await page.evaluate(async () => {
      const [player] = window.agon.players
      const { drawing, head } = player.stream
      for (let step = 1; step <= player.stream.total; step++) {
        await player.goToStep(step)
        for (const [x, y] of drawing.things(player.board)) {
          const card = drawing.inspect(player.board, x + 0.5, y + 0.5, head)
          const reach = card && drawing.reach?.(player.board, card.id, head)
          if (!reach || reach.hits.length === 0) continue
          const threatened = reach.hits.filter(([x, y]) => drawing.threats(player.board, x, y, head).some(({ id }) => id === card.id))
          player.selected = card.id
          return { title: card.title, fields: card.fields.flat(), hits: reach.hits.length, steps: reach.steps.length, threatened: threatened.length }
        }
      }
    })
    assert.ok(found, 'somebody can hit something')
    assert.equal(found.threatened, found.hits, 'both say the same')
    await page.getByRole('tab', { name: 'inspect' }).click()
    const told = await page.locator('.inspect').textContent()
    assert.ok(told.includes(found.title) && found.fields.every((word) => told.includes(word)), told)
    assert.match(told, new RegExp(`can hit now ?${found.hits} cells? \\(dashed\\)`))
    if (found.steps > 0) assert.match(told, new RegExp(`can reach ?${found.steps} cells \\(shaded\\)`))
    await close(page)
  })
}

test('Terminal: what a support shields stands in its card, and ways can be hidden', async () => {
  const page = await open('replay=terminal.replay')
  const fields = await page.evaluate(async () => {
    const [player] = window.agon.players
    const { drawing, head, total } = player.stream
    for (let step = 1; step <= total; step++) {
      await player.goToStep(step)
      for (const [x, y] of drawing.things(player.board)) {
        const card = drawing.inspect(player.board, x + 0.5, y + 0.5, head)
        const field = card?.fields.find(([name]) => name === 'shield')
        if (field) return (player.selected = card.id), field
      }
    }
  })
  await page.getByRole('tab', { name: 'inspect' }).click()
  await page.locator('.inspect dd', { hasText: fields[1] }).first().waitFor()
  await page.getByLabel(/Paths/).uncheck()
  assert.ok(!(await page.evaluate(() => window.agon.players[0].layers.has('paths'))))
  await close(page)
})

test('what a bot of Ostibot reports as an error stands with the turn and on the timeline, in its colour', async () => {
  const page = await open('replay=complaining.replay')
  const { steps } = JSON.parse(stage.agon('replay', 'export', 'complaining.replay', '--format', 'json'))
  const at = steps.findIndex(({ events }) => events.some(({ event }) => event === 'complained'))
  assert.ok(at >= 0, 'it complains')
  await page.evaluate((step) => window.agon.players[0].goToStep(step), at + 1)
  await page.locator('.turn').getByText(/reports an error: no map/).first().waitFor()
  const told = await page.evaluate((at) => window.agon.players[0].stream.briefs[at].told.find(({ text }) => text.includes('reports an error')), at)
  assert.equal(told.seat, 1)
  assert.ok(told.weight >= 2, 'heavy enough for a mark')
  await close(page)
})

test('where nothing can be copied, what would have been is shown', async () => {
  const page = await stage.browse()
  // As on a page that is neither on this machine nor encrypted.
  await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await page.goto(`${address}/#replay=cultist-wars.replay&turn=20`)
  await whole(page)
  await page.getByRole('button', { name: 'Share' }).click()
  await page.getByRole('button', { name: 'Copy the link' }).click()
  await page.getByRole('status').getByText(/#replay=cultist-wars\.replay&turn=20$/).waitFor()
  await close(page)
})

test('nothing moves on the board where the system asks for less motion', async () => {
  const page = await open('replay=cultist-wars.replay&turn=3', { reducedMotion: 'no-preference' })
  /** How far at least the next picture has got in its first frames: 1 is its end. Measured by the page, because we may look late. */
  const shown = () =>
    page.evaluate(async () => {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '.', bubbles: true }))
      let least = 1
      for (let frame = 0; frame < 3; frame++) {
        await new Promise(requestAnimationFrame)
        least = Math.min(least, window.agon.players[0].t)
      }
      return least
    })
  assert.ok((await shown()) < 1, 'a step is played')
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.waitForFunction(() => window.agon.players[0].calm)
  assert.equal(await shown(), 1)
  await close(page)
})

for (const game of Object.keys(GAMES)) {
  test(`${game}: the board is walked by keyboard, and each cell is read out`, async () => {
    const page = await open(`replay=${game}.replay&turn=9`)
    await page.locator('.board canvas').focus()
    const before = await standing(page)
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowUp')
    assert.deepEqual((await standing(page)).step, before.step, 'the arrows do not change the turn')
    const cell = await page.evaluate(() => window.agon.players[0].cell)
    const spoken = page.locator('.board [role=status]')
    assert.match(await spoken.textContent(), /^(\d+, \d+|outside the arena): /)
    // To a thing, step by step, and it is selected.
    const [x, y, id] = await page.evaluate(() => {
      const [{ stream, board }] = window.agon.players
      const [x, y] = stream.drawing.things(board)[0]
      return [x, y, stream.drawing.inspect(board, x + 0.5, y + 0.5, stream.head).id]
    })
    for (let at = cell[0]; at !== x; at += Math.sign(x - at)) await page.keyboard.press(x > at ? 'ArrowRight' : 'ArrowLeft')
    for (let at = cell[1]; at !== y; at += Math.sign(y - at)) await page.keyboard.press(y > at ? 'ArrowDown' : 'ArrowUp')
    assert.doesNotMatch(await spoken.textContent(), /: nothing$/)
    await page.keyboard.press('Enter')
    assert.equal((await standing(page)).selected, id)
    assert.deepEqual(await serious(page), [])
    await close(page)
  })
}

test('text at twice its size, and on a phone: nothing is wider than the screen, nothing covers the board', async () => {
  for (const [width, height] of [[720, 450], [390, 844]]) {
    for (const game of Object.keys(GAMES)) {
      const page = await open(`replay=${game}.replay&turn=9`, { viewport: { width, height }, hasTouch: true })
      for (const tab of ['inspect', 'why', 'output']) {
        await page.getByRole('tab', { name: tab }).click()
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
        assert.equal(wide, 0, `${game}, ${tab}, ${width} wide`)
      }
      await close(page)
    }
  }
})

// Tests cannot ask Firefox for it.
test('high contrast: plates have a line in the colour of the text', { skip: BROWSERS[0] === 'firefox' && 'SKIPPED: only in Chromium' }, async () => {
  const page = await open('replay=cultist-wars.replay&turn=9', { contrast: 'more' })
  const lines = await page.locator('.seats svg path').first().getAttribute('stroke')
  assert.equal(lines, '#000000')
  assert.deepEqual(await serious(page), [])
  await close(page)
})

test('two matches: what differs first, in orders, in the state, and by chance alone; two games are refused', async () => {
  const page = await open('replay=cultist-wars.replay&with=other.replay')
  await page.getByText(/The orders first differ in turn \d+/).waitFor()
  await close(page)
  const seeds = await open('replay=cultist-wars.replay&with=seed.replay')
  await seeds.getByText(/The matches begin in different positions \(two seeds\)/).waitFor()
  await close(seeds)
  const same = await open('replay=cultist-wars.replay&with=cultist-wars.replay')
  await same.getByText('Both matches are the same').waitFor()
  await close(same)
  const refused = await stage.browse()
  await refused.goto(`${address}/#replay=cultist-wars.replay&with=deerhunt.replay`)
  await refused.getByText('These are matches of two games, Cultist Wars and Deerhunt').waitFor()
  await close(refused)
})

test('a replay that was cut off shows what it has, and says so', async () => {
  // One lacks its end: every turn is there. Another lacks most of it: the initial position is there.
  for (const [file, turns] of [['endless', JSON.parse(stage.agon('replay', 'export', 'terminal.replay', '--format', 'json')).steps.length], ['half', 0]]) {
    const page = await open(`replay=${file}.replay`)
    assert.match(await page.getByRole('alert').textContent(), new RegExp(`cut off after ${turns} turns; everything up to there is shown`))
    assert.equal(await page.evaluate(() => window.agon.players[0].stream.end.end), 'cut')
    await page.keyboard.press('x')
    assert.equal((await standing(page)).step, turns)
    assert.ok(await page.evaluate(() => Number.isFinite(window.agon.scene.players[0].hp)))
    await close(page)
  }
})

// Firefox asks for the module in a worker, where tests cannot refuse it.
test('a replay of another version of the rules says so, and shows what it has', { skip: BROWSERS[0] === 'firefox' && 'SKIPPED: only in Chromium' }, async () => {
  const page = await stage.browse()
  const says = 'This replay was recorded under version 1 of the rules of Cultist Wars; this program has version 2.'
  await page.route('**/*.wasm', (route) => route.abort())
  await page.route('**/api/ask', async (route) => {
    if (!route.request().postData()?.startsWith('{"open"')) return route.continue()
    const answer = await route.fetch()
    const { id, head } = await answer.json()
    const end = { ...head.end, end: 'cut', why: 'from here on the rules of this program make another match of it' }
    await route.fulfill({ response: answer, json: { id, head: { ...head, otherRules: says, steps: 30, end } } })
  })
  await page.goto(`${address}/#replay=cultist-wars.replay&turn=12`)
  await whole(page)
  assert.equal(await page.getByRole('alert').textContent(), `${says} from here on the rules of this program make another match of it.`)
  assert.deepEqual([(await standing(page)).step, await page.evaluate(() => window.agon.players[0].stream.total)], [12, 30])
  await close(page)
})

test('sharing: a link to the turn, one page with everything in it, a picture with the scores, a film of a stretch', async () => {
  const page = await open('replay=cultist-wars.replay&turn=20', { acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write'] })
  const share = async () => {
    await page.getByRole('button', { name: 'Share' }).click()
    return page.getByRole('dialog', { name: 'Share' })
  }
  const dialog = await share()
  assert.deepEqual(await serious(page), [])
  await dialog.getByRole('button', { name: 'Copy the link' }).click()
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /#replay=cultist-wars\.replay&turn=20$/)
  await dialog.getByRole('button', { name: 'Copy as command' }).click()
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'agon replay export cultist-wars.replay --format html -o match.html')

  let saving = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Save as HTML' }).click()
  const given = await saving
  assert.equal(given.suggestedFilename(), 'cultist-wars-1.html')
  stage.agon('replay', 'export', 'cultist-wars.replay', '--format', 'html', '-o', 'same.html')
  assert.equal(readFileSync(await given.path(), 'utf8'), readFileSync(stage.path('same.html'), 'utf8'))
  const alone = await stage.browse({ offline: true })
  await alone.goto(`file://${stage.path('same.html')}`)
  await whole(alone)
  await close(alone)

  saving = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Save as PNG' }).click()
  const picture = await saving
  assert.equal(picture.suggestedFilename(), 'cultist-wars-1-turn-20.png')
  const png = readFileSync(await picture.path())
  assert.deepEqual([...png.subarray(1, 4)], [...Buffer.from('PNG')])
  // The scores are above the board: the picture is higher than twice the board.
  const board = await page.evaluate(() => document.querySelector('.board').clientHeight)
  assert.ok(png.readUInt32BE(20) >= 2 * board + 2 * 3 * 24, `${png.readUInt32BE(20)} high`)

  await dialog.getByLabel('From turn').fill('18')
  await dialog.getByLabel('to', { exact: true }).fill('21')
  saving = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Save as GIF' }).click()
  const film = await saving
  assert.equal(film.suggestedFilename(), 'cultist-wars-1-turn-18-21.gif')
  const gif = readFileSync(await film.path())
  assert.equal(gif.subarray(0, 6).toString(), 'GIF89a')
  // One graphic control block per picture.
  const blocks = gif.toString('latin1').split('\x21\xf9\x04').length - 1
  assert.equal(blocks, 4)
  await dialog.getByLabel('to', { exact: true }).fill('3')
  await dialog.getByRole('button', { name: 'Save as GIF' }).click()
  await dialog.getByRole('alert').getByText('the earlier one first').waitFor()
  await close(page)
})

test('the presenter: a splash before and after, a scoreboard and a line of news, the whole match within a time, the next of a list', async () => {
  const page = await open('replay=cultist-wars.replay&list=cultist-wars.replay&list=ostibot.replay', { viewport: { width: 1920, height: 1080 } })
  await page.locator('.splash').getByText('hunter').waitFor()
  // The scoreboard is legible from the back row.
  const size = await page.evaluate(() => parseFloat(getComputedStyle(document.querySelector('.seats td.score')).fontSize))
  assert.ok(size >= 50, `${size} px`)
  await page.getByRole('button', { name: 'Whole match in 30 s' }).click()
  await page.waitForFunction(() => window.agon.players[0].playing && window.agon.players[0].at > 1)
  assert.equal(await page.locator('.splash').count(), 0)
  // Eventful turns get more time than quiet ones, and all together as much as was asked for.
  const sum = await page.evaluate(() => {
    const [player] = window.agon.players
    const { frames, briefs } = player.stream
    const weigh = (step) => 1 + 4 * Math.max(0, ...(briefs[step - 1]?.told ?? []).map(({ weight }) => weight))
    return { all: frames.reduce((sum, { step }) => sum + weigh(step), 0), now: weigh(player.stepNumber), delay: player.delay }
  })
  assert.ok(Math.abs(sum.delay - (30_000 * sum.now) / sum.all) < 1e-6)
  // The timeline tells who was ahead up to now, and nothing of what is to come: no chances, no marks.
  await page.evaluate(() => window.agon.players[0].goToStep(75))
  const drawn = await page.waitForFunction(() => {
    const canvas = document.querySelector('.timeline canvas')
    const { at, count } = window.agon.players[0]
    const scale = canvas.width / canvas.clientWidth
    const now = 8 + ((canvas.clientWidth - 16) * at) / (count - 1)
    const inked = (from, to, top, bottom) => {
      const { data } = canvas.getContext('2d').getImageData(from * scale, top * scale, (to - from) * scale, (bottom - top) * scale)
      return data.some((value, at) => at % 4 === 3 && value > 0)
    }
    const right = canvas.clientWidth
    // The line at its foot goes all the way.
    return canvas.clientHeight > 60 && { past: inked(8, now - 4, 0, 56), coming: inked(now + 4, right, 0, canvas.clientHeight - 4) }
  })
  assert.deepEqual(await drawn.jsonValue(), { past: true, coming: false })
  // So does the scoreboard, and the line below always has something to say.
  const now = await page.evaluate(() => window.agon.players[0].chances.map((line) => `${Math.round(line[75] * 100)} %`))
  assert.deepEqual(await page.locator('.seats td.odds').allTextContents(), now)
  assert.notEqual(await page.locator('.ticker').textContent(), '')
  await page.evaluate(() => window.agon.players[0].seek(window.agon.players[0].count - 1))
  await page.locator('.splash').getByRole('heading', { name: 'hunter?nodes=300 wins' }).waitFor()
  assert.notEqual(await page.locator('.ticker').textContent(), '')
  assert.deepEqual(await serious(page), [])
  // The list advances by itself.
  await page.waitForFunction(() => window.agon?.players[0]?.stream.head.game === 'ostibot', undefined, { timeout: 20_000 })
  await page.locator('.splash').getByText('Ostibot').waitFor()
  await close(page)
})

test('Jungle Blitz: the diamonds are a chart of what they hold, with their holders, and lead to them', async () => {
  const { steps } = first('jungle-blitz', 'pickedUp')
  // The turn in which most diamonds are held.
  const held = ({ state }) => state.diamonds.filter(({ owner }) => state.units.some(({ id }) => id === owner)).length
  const at = steps.reduce((best, step, index) => (held(step) > held(steps[best]) ? index : best), 0)
  const { diamonds, units } = steps[at].state
  assert.ok(held(steps[at]) > 0 && new Set(diamonds.map(({ points }) => points)).size > 1, 'a match in which that is something to see')
  const page = await open(`replay=jungle-blitz.replay&turn=${at + 1}`)
  await page.getByRole('tab', { name: 'inspect' }).click()
  await page.getByRole('heading', { name: 'Diamonds and the points they hold' }).waitFor()
  const bars = await page.locator('.chart li').evaluateAll((rows) =>
    rows.map((row) => ({
      name: row.querySelector('button').textContent,
      share: row.querySelector('.track span').getBoundingClientRect().width / row.querySelector('.track').getBoundingClientRect().width,
      text: row.lastElementChild.textContent.trim(),
      plate: row.querySelector('svg') !== null,
    })),
  )
  const most = Math.max(...diamonds.map(({ points }) => points))
  const sorted = diamonds.map((diamond, index) => ({ ...diamond, index })).sort((a, b) => b.points - a.points)
  assert.equal(bars.length, sorted.length)
  for (const [row, { index, level, points, owner }] of sorted.entries()) {
    const unit = units.find(({ id }) => id === owner)
    assert.equal(bars[row].name, `${index}, level ${level}`)
    assert.ok(Math.abs(bars[row].share - points / most) < 0.02, `${bars[row].share} for ${points} of ${most}`)
    assert.match(bars[row].text, unit ? new RegExp(`^${points}, held by \\w+ ${owner}$`) : new RegExp(`^${points}$`))
    assert.equal(bars[row].plate, unit !== undefined, 'whose it is')
  }
  await page.locator('.chart button').first().click()
  assert.equal((await standing(page)).selected, `diamond ${sorted[0].index}`)
  await close(page)
})

for (const viewport of [{ width: 1920, height: 1080 }, { width: 1440, height: 900 }, { width: 1366, height: 768 }]) {
  test(`presenting nine seats, ${viewport.width} wide: everybody is seen`, async () => {
    const page = await open('replay=nine.replay&turn=30', { viewport })
    await page.keyboard.press('s')
    const rows = page.locator('.seats tbody tr')
    assert.equal(await rows.count(), 9)
    const last = await rows.last().boundingBox()
    const controls = await page.locator('.controls').boundingBox()
    assert.ok(last.y + last.height <= controls.y + 1, `${last.y + last.height} and ${controls.y}`)
    await close(page)
  })
}
