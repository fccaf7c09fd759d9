// Shared by the browser tests: matches to look at, a viewer that serves them, and a real browser.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import axe from 'axe-core'
import { BROWSERS, launch } from './browsers.mjs'

/** The program under test. */
export const AGON = resolve(process.env.AGON ?? '../target/debug/agon')

/** A folder with the app as left by `vite build`, to be shown instead of the one in the program: AGON_APP saves rebuilding the program. */
const APP = process.env.AGON_APP

/** The key to the viewers under test. */
export const KEY = 'keyOfTheBrowserTests'

/** A match of each game, quick to play and with something to see. */
export const GAMES = {
  'cultist-wars': { bots: ['builtin:greedy', 'builtin:hunter?nodes=300'], seed: 1, fog: false },
  deerhunt: { bots: ['builtin:warden?budget=20', 'builtin:rusher'], seed: 3, fog: true },
  'jungle-blitz': { bots: ['builtin:collector', 'builtin:raider', 'builtin:collector', 'builtin:raider'], seed: 3, fog: false },
  ostibot: { bots: ['builtin:looter', 'builtin:fighter', 'builtin:looter'], seed: 3, fog: true },
  terminal: { bots: ['builtin:fortress', 'builtin:fortress'], seed: 1, fog: false },
}

/** A bot that writes on standard error, draws, and says hostile things. */
export const HOSTILE = `<img src=x onerror="window.broken=1">`
export const CHATTY = `
const hostile = ${JSON.stringify(HOSTILE)}
let turn = 0, rest = '', head = 0, left = 0
const act = () => {
  console.error('thinking about turn ' + turn + ' ' + hostile + '<script>window.broken=2</' + 'script>')
  if (turn === 3) console.error('a needle in the hay')
  console.error('@agon ' + JSON.stringify({ dot: [turn % 13, 3], colour: 'red' }))
  console.error('@agon ' + JSON.stringify({ text: hostile, at: [2, 2] }))
  if (turn === 4) console.error('@agon ' + JSON.stringify({ marker: 'here I had a plan' }))
  console.log(turn === 6 ? '0 <b>FLY</b> 3' : 'WAIT')
  turn++
}
process.stdin.on('data', (data) => {
  const lines = (rest + data).split('\\n')
  rest = lines.pop()
  for (const line of lines) {
    // The first message begins with the player's number, the size and the rows of the board.
    if (head < 9) head++
    else if (left === 0) left = Number(line)
    else if (--left === 0) act()
  }
})
`

/** A bot of Cultist Wars that waits. */
export const WAITER = `i=0; while [ $i -lt 9 ]; do read -r line; i=$((i+1)); done
while read -r n; do
  while [ $n -gt 0 ]; do read -r line; n=$((n-1)); done
  echo WAIT
done
`

export class Stage {
  constructor(browser = BROWSERS[0]) {
    this.kind = browser
    this.folder = mkdtempSync(join(tmpdir(), 'agon-viewer-'))
    this.servers = []
  }

  path(name) {
    return join(this.folder, name)
  }

  write(name, content) {
    mkdirSync(join(this.path(name), '..'), { recursive: true })
    writeFileSync(this.path(name), content)
    return this.path(name)
  }

  agon(...words) {
    const done = spawnSync(AGON, words, { cwd: this.folder, encoding: 'utf8', maxBuffer: 1 << 28 })
    if (done.error) throw done.error
    if (done.status !== 0) throw new Error(`agon ${words.join(' ')}: ${done.stderr}`)
    return done.stdout
  }

  /** Plays the match of a game; returns the name of its replay. */
  play(game) {
    const { bots, seed } = GAMES[game]
    const replay = `${game}.replay`
    if (!existsSync(this.path(replay))) this.agon('play', game, ...bots, '--seed', `${seed}`, '-q', '--replay', replay)
    return replay
  }

  /** Starts a viewer whose key every page here has; returns its address. */
  async watch(...words) {
    chmodSync(this.write('key', `${KEY}\n`), 0o600)
    return this.serve('watch', '--no-open', '--token-file', 'key', ...words)
  }

  /** Starts a command that serves a viewer; returns the address it prints. */
  async serve(...command) {
    return this.told(/http:\S+/, ...command)
  }

  /** Starts a command that goes on; returns the first words it prints that look so. */
  async told(pattern, ...command) {
    const child = spawn(AGON, command, { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, DISPLAY: '', WAYLAND_DISPLAY: '' } })
    this.servers.push(child)
    return await new Promise((resolve, reject) => {
      let text = ''
      const look = (data) => {
        text += data
        const found = pattern.exec(text)
        if (found && text.indexOf('\n', found.index) > 0) resolve(found[0])
      }
      child.stdout.on('data', look)
      child.stderr.on('data', look)
      child.on('exit', (code) => reject(new Error(`agon ${command.join(' ')} ended with ${code}: ${text}`)))
    })
  }

  /** Starts a command; returns a way to wait for what it prints on standard error, and for its end. */
  start(...command) {
    const child = spawn(AGON, command, { cwd: this.folder, stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, DISPLAY: '', WAYLAND_DISPLAY: '' } })
    this.servers.push(child)
    let text = ''
    child.stderr.on('data', (data) => (text += data))
    const ended = new Promise((resolve) => child.on('exit', resolve))
    return {
      line: async (pattern) => {
        for (let tries = 0; tries < 600; tries++) {
          const found = pattern.exec(text)
          if (found && text.indexOf('\n', found.index) > 0) return found[0]
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
        throw new Error(`agon ${command.join(' ')} did not say ${pattern}: ${text}`)
      },
      ended: () => ended,
    }
  }

  async browse({ locked, ...options } = {}) {
    this.browser ??= await launch(this.kind)
    const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options })
    if (!locked) await context.addInitScript((key) => location.protocol === 'http:' && window === top && sessionStorage.setItem('x-agon-key', key), KEY)
    const page = await context.newPage()
    // Not every browser gives a new page what its context asks for.
    await page.emulateMedia({})
    if (APP) {
      const parts = readdirSync(join(APP, 'parts'))
      await page.route(({ pathname }) => pathname === '/', async (route) => {
        // The program's page names the parts of the app that it was built with.
        const answer = await route.fetch()
        const named = (_, name, ending) => `/parts/${parts.find((part) => part.startsWith(name) && part.endsWith(ending))}`
        const body = (await answer.text()).replace(/<link rel="modulepreload".*\n/g, '').replace(/\/parts\/(app-|early-)[^"]*(\.\w+)/g, named)
        return route.fulfill({ response: answer, body })
      })
      await page.route('**/parts/*', (route) => {
        const file = join(APP, new URL(route.request().url()).pathname)
        return route.fulfill({ body: readFileSync(file), contentType: file.endsWith('.css') ? 'text/css' : 'text/javascript' })
      })
    }
    page.wrong = []
    // Its page for a server that has gone, which is part of some tests, has an error in Firefox itself.
    page.on('pageerror', ({ message }) => /aboutNetError/.test(message) || page.wrong.push(`error: ${message}`))
    page.on('console', (message) => {
      // A refused stream is part of some tests; the browser reports it by itself.
      const expected = message.text().startsWith('Failed to load resource')
      if (message.type() === 'error' && !expected) page.wrong.push(`console: ${message.text()}`)
    })
    page.on('dialog', (dialog) => page.wrong.push(`dialog: ${dialog.message()}`))
    return page
  }

  /** Opens the page of a viewer, with this after the `#` of its address. */
  async open(address, hash, options) {
    const page = await this.browse(options)
    await page.goto(`${address}/#${hash}`)
    return page
  }

  /** The name of the engines' module in the pages of an address; none if this program has none. */
  async module(address) {
    return /<meta name="agon-engine" content="([^"]+)">/.exec(await (await fetch(address)).text())?.[1]
  }

  async end() {
    await this.browser?.close()
    // What still writes into the folder would be in the way.
    const ended = (server) => server.exitCode !== null || server.signalCode !== null || new Promise((done) => (server.on('exit', done), server.kill('SIGINT')))
    await Promise.all(this.servers.map(ended))
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A test of pages with engines of their own; `module` says whether this program has them. */
export function engines(module, name, run) {
  test(name, async (t) => {
    if (!module()) return t.skip('this program has no engines for pages')
    await run(t)
  })
}

/** Closes a page in which nothing may have gone wrong. */
export async function close(page) {
  assert.deepEqual(page.wrong, [])
  await page.context().close()
}

/** Waits until the whole match is known. */
export async function whole(page) {
  await page.waitForFunction(() => window.agon?.players.every(({ stream }) => stream.known), undefined, { timeout: 60_000 })
}

/** Lets a bot play the match at hand to its end, watches it, and sees that it is the one that was played. */
export async function playedToTheEnd(page) {
  const free = () => page.waitForFunction(() => {
    const playing = window.agon?.playing
    return playing && !playing.busy && (playing.turn.end || (playing.mine && playing.prospect))
  }, undefined, { timeout: 60_000 })
  await free()
  for (let tries = 0; tries < 60 && !(await page.evaluate(() => !!window.agon.playing.turn.end)); tries++) {
    await page.evaluate(() => window.agon.playing.lend(window.agon.playing.hand.adviser, 50))
    await free()
  }
  const steps = await page.evaluate(() => window.agon.playing.turn.steps)
  await page.getByRole('button', { name: 'Watch', exact: true }).click()
  await page.waitForFunction(() => window.agon?.players[0]?.stream.end?.end === 'whole' && !window.agon.playing, undefined, { timeout: 60_000 })
  const seen = await page.evaluate(() => [window.agon.players[0].stream.total, window.agon.players[0].stream.head.seats.map(({ label }) => label)])
  assert.equal(seen[0], steps)
  assert.ok(seen[1].includes('human'), seen[1].join())
  assert.equal(await page.getByText('cannot be shown').count(), 0)
}

/** Plays on from the shown turn of a recorded match, by its button, and does the same. */
export async function playedOn(page) {
  await page.getByRole('button', { name: 'Play on…' }).click()
  await page.getByRole('button', { name: 'Play on', exact: true }).click()
  await playedToTheEnd(page)
}

/** Where the viewer is. */
export function standing(page) {
  return page.evaluate(() => {
    const [player] = window.agon.players
    return { step: player.stepNumber, part: player.part, at: player.at, playing: player.playing, selected: player.selected, eyes: player.eyes }
  })
}

/** The problems found by axe-core that matter. */
export async function serious(page) {
  // The page's own policy admits no foreign script, so the test injects it past the policy.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  const isFirefox = page.context().browser().browserType().name() === 'firefox'
  // Firefox 153 itself crashes when axe reads the list of a series' matches, or the start page; in Chromium they are read.
  if (isFirefox && (await page.locator('section[aria-labelledby=losses], form[aria-labelledby=new]').count())) return []
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
  const found = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(' | ')}`)
}

/** The widths at which pages are looked at: a phone, a tablet, a laptop and a large screen. */
const WIDTHS = [390, 768, 1440, 1920]

/**
 * Looks at a page as people with other screens see it; returns what is wrong: errors in the console, what is wider than the screen,
 * and what axe-core finds serious, in the light and in the dark. AGON_LOOKS=all asks axe at every width; otherwise it is asked, since
 * it takes most of the time, in the light on a laptop and in the dark on a phone.
 */
export async function look(page, name) {
  const everywhere = WIDTHS.flatMap((width) => [[width, 'light'], [width, 'dark']])
  const asked = process.env.AGON_LOOKS === 'all' ? everywhere : [[1440, 'light'], [390, 'dark']]
  const faults = page.wrong.splice(0).map((fault) => `${name}: ${fault}`)
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    if (over > 0) faults.push(`${name}: ${over} pixels wider than a screen of ${width}`)
    for (const [, colorScheme] of asked.filter(([at]) => at === width)) {
      await page.emulateMedia({ colorScheme })
      for (const found of await serious(page)) faults.push(`${name}, ${width} wide, ${colorScheme}: ${found}`)
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1440, height: 900 })
  return faults
}
