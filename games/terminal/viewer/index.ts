// How Terminal is drawn: every frame of the action phases. A step is a turn; its pictures are the
// frames (`src/frame.rs`), and last the board at the next deploy phase (`src/scene.rs`).
// The game counts rows from below; cells on the screen from above.

import { type Card, type Drawing, type Gauge, type Head, type Moment, type Order, type Pen, type Shot, type Told, mix } from 'agon-viewer'
import { framesOf, KINDS } from './frames'
import type { Events, Lists, Scene, Standing, Stats, Tile } from './generated'
import { original } from './original'

/** A frame of an action phase. */
export interface Frame {
  turn: number
  frame: number
  stats: Stats[]
  lists: Lists[]
  events: Events
}
const SIZE = 28
const NO_EVENTS: Events = { spawn: [], moves: [], breach: [], shield: [], self_destruct: [], attack: [], damage: [], death: [] }

export const drawing: Drawing<Scene | Frame, Frame> = {
  game: 'terminal',
  scoreWord: 'health',
  speed: 6,
  foreign: original,
  partWord: 'frame',
  layers: [
    { id: 'paths', name: 'Ways of this turn', key: 'p', on: true },
    { id: 'heat', name: 'Damage of this turn', on: true },
    { id: 'ranges', name: 'What turrets reach', key: 'r', on: true },
    { id: 'captions', name: 'What comes through and what falls', key: 'c', on: true },
    { id: 'grid', name: 'Coordinates', key: 'g', on: true },
  ],
  legend: [
    ['bricks', 'wall'],
    ['pylon', 'support: shields its own mobile units'],
    ['rook', 'turret'],
    ['arrowhead on a plate', 'scout'],
    ['block on a plate', 'demolisher'],
    ['cross on a plate', 'interceptor'],
    ['chevron above', 'upgraded'],
    ['bar through it', 'marked for removal'],
    ['gold ring', 'shield above full health'],
    ['reddish tiles', 'a turret reaches them'],
    ['lower half, upper half', 'player 1, player 2'],
  ],

  size: () => [SIZE, SIZE],
  things: (scene) => everyone(scene).map(({ unit }) => [unit.at[0], SIZE - 1 - unit.at[1]]),
  place: (x, y) => [x, SIZE - 1 - y],
  cellName: (x, y) => (inArena(x, SIZE - 1 - y) ? `${x}, ${SIZE - 1 - y}` : 'outside the arena'),
  rowName: (y) => `${SIZE - 1 - y}`,

  frames: framesOf,
  parts: (frames) => frames + 1,
  partScene: (step, part) => step.parts[part] ?? step.scene,
  partName: (step, part) => (part < step.parts.length ? `frame ${part + 1} of ${step.parts.length}` : 'after it'),

  score: (scene) => statsOf(scene).map(({ hp }) => Math.max(hp, 0)),

  gauges(scene, head) {
    const stats = statsOf(scene)
    const start = head.rules?.resources?.startingHP ?? 30
    const most = (key: 'sp' | 'mp', least: number) => Math.max(least, ...stats.map((one) => one[key]))
    const gauge = (name: string, value: number, whole: number): Gauge => ({
      name,
      value,
      share: value / whole,
      text: String(Math.round(value * 10) / 10),
    })
    return stats.map(({ hp, sp, mp }) => [
      gauge('health', hp, start),
      gauge('SP', sp, most('sp', head.rules?.resources?.startingCores ?? 40)),
      gauge('MP', mp, most('mp', 20)),
    ])
  },

  draw(pen, shot) {
    arena(pen)
    const events = eventsOf(shot)
    if (shot.layers.has('ranges')) covered(pen, shot)
    if (shot.layers.has('heat')) heat(pen, shot)
    if (shot.layers.has('paths')) ways(pen, shot)
    ranges(pen, shot)
    listsOf(shot.scene).forEach((lists, side) => structures(pen, shot, lists, side + 1))
    for (const { from, to, amount } of events.shield) shield(pen, from, to, amount, shot.t)
    mobiles(pen, shot)
    for (const attack of events.attack) beam(pen, attack, shot.t)
    for (const { at, tiles, unit } of events.self_destruct) blast(pen, at, tiles, unit.player, shot.t)
    for (const { at, unit, removed } of events.death) {
      if (!removed) gone(pen, at, unit.player, shot.t)
    }
    for (const { at, damage, unit } of events.breach) breach(pen, at, damage, unit.player, shot.t)
    if (shot.layers.has('captions')) captions(pen, shot)
    corners(pen, shot)
  },

  tell(step, name) {
    const told: Told[] = []
    const events = step.parts.map((part) => part.events)
    for (const player of [1, 2]) {
      const spawned = events.flatMap(({ spawn }) => spawn.filter((one) => one.player === player))
      const made = spawned.flatMap(({ what }) => (typeof what === 'object' ? [what.unit] : []))
      const built = counted(made.filter((kind) => KINDS.indexOf(kind) < 3))
      const sent = counted(made.filter((kind) => KINDS.indexOf(kind) >= 3))
      const upgrades = spawned.filter(({ what }) => what === 'upgrade').length
      const removals = spawned.filter(({ what }) => what === 'removal').length
      if (sent) told.push({ text: `${name(player)} sends ${sent}`, seat: player, weight: 1, kind: 'move' })
      const work = [
        built && `builds ${built}`,
        upgrades && `upgrades ${upgrades}`,
        removals && `marks ${removals} for removal`,
      ].filter(Boolean)
      if (work.length > 0) told.push({ text: `${name(player)} ${work.join(', ')}`, seat: player, weight: 0, kind: 'birth' })
    }
    for (const player of [1, 2]) {
      const breaches = events.flatMap(({ breach }) => breach.filter(({ unit }) => unit.player === player))
      if (breaches.length > 0) {
        const damage = breaches.reduce((sum, one) => sum + one.damage, 0)
        const times = breaches.length === 1 ? 'once' : `${breaches.length} times`
        told.push({
          text: `${name(player)} breaches ${times} for ${+damage.toFixed(1)}`,
          seat: player,
          weight: damage >= 3 ? 3 : 2,
          kind: 'door',
          at: cell(breaches[0]!.at),
        })
      }
      const blasts = events.flatMap(({ self_destruct: blast }) => blast.filter(({ unit }) => unit.player === player))
      if (blasts.length > 0) {
        told.push({ text: `${blasts.length} of ${name(player)}’s units blow themselves up`, seat: player, weight: 1, kind: 'hit' })
      }
      const dead = events.flatMap(({ death }) => death.filter(({ unit, removed }) => unit.player === player && !removed))
      const lost = counted(dead.map(({ unit }) => unit.kind).filter((kind) => KINDS.indexOf(kind) < 3))
      const fallen = counted(dead.map(({ unit }) => unit.kind).filter((kind) => KINDS.indexOf(kind) >= 3))
      const enemy = player === 1 ? 2 : 1
      if (lost) told.push({ text: `${name(player)} loses ${lost}`, seat: enemy, weight: lost.includes(',') ? 2 : 1, kind: 'death' })
      if (fallen) told.push({ text: `${fallen} of ${name(player)} fall`, seat: enemy, weight: 0, kind: 'death' })
    }
    const over = step.events.find((event) => 'over' in event)
    if (over) told.push({ text: 'the match is over', weight: 3 })
    return told
  },

  orders(_step, answer) {
    return (answer.text ?? '').split('\n').flatMap((line, at) => {
      let list: unknown
      try {
        list = JSON.parse(line)
      } catch {
        return []
      }
      if (!Array.isArray(list)) return []
      // Equal orders are one row.
      const rows: { order: Order; key: string; times: number }[] = []
      ;(list as [string, number, number][]).forEach(([what, x, y], index) => {
        const key = `${what} ${x} ${y}`
        const last = rows.at(-1)
        if (last?.key === key) return void last.times++
        rows.push({ key, times: 1, order: { index: at * 10_000 + index, name: at === 0 ? 'build' : 'deploy', text: `${what} (${x}, ${y})` } })
      })
      return rows.map(({ order, times }) => ({ ...order, effect: times > 1 ? `${times} of them` : '' }))
    })
  },

  life(step, id) {
    const number = id.split(' ')[1] ?? ''
    const own = (one: { id: number }) => `${one.id}` === number
    const found: Moment[] = []
    let [taken, hits, moved] = [0, 0, undefined as Tile | undefined]
    for (const { events } of step.parts) {
      for (const { at, id } of events.spawn.filter(own)) void id, found.push({ text: `made at ${at.join(', ')}`, kind: 'birth' })
      for (const { to, unit } of events.moves) if (own(unit)) moved = to
      for (const { attacker } of events.attack) if (own(attacker)) hits++
      for (const { amount, unit } of events.damage) if (own(unit)) taken += amount
      for (const { at, unit, damage } of events.breach) if (own(unit)) found.push({ text: `breaches at ${at.join(', ')} for ${+damage.toFixed(1)}`, kind: 'door' })
      for (const { at, unit } of events.self_destruct) if (own(unit)) found.push({ text: `blows itself up at ${at.join(', ')}`, kind: 'hit' })
      for (const { at, unit, removed } of events.death) if (own(unit)) found.push({ text: removed ? 'removed' : `falls at ${at.join(', ')}`, kind: 'death' })
    }
    if (moved) found.unshift({ text: `goes to ${moved.join(', ')}`, kind: 'move' })
    if (hits > 0) found.push({ text: `attacks ${hits} ${hits === 1 ? 'time' : 'times'}`, kind: 'hit' })
    if (taken > 0) found.push({ text: `loses ${+taken.toFixed(1)} health`, kind: 'warning' })
    return found
  },

  reach(scene, id, head) {
    const found = everyone(scene).find(({ unit }) => `unit ${unit.id}` === id)
    return found && { steps: [], hits: within(found.unit.at, formOf(head, found.kind, upgradedIn(scene, found)).attackRange ?? 0) }
  },

  threats(scene, x, y, head) {
    return everyone(scene)
      .filter((found) => within(found.unit.at, formOf(head, found.kind, upgradedIn(scene, found)).attackRange ?? 0).some(([a, b]) => a === x && b === y))
      .map(({ unit, kind, player }) => ({ seat: player, id: `unit ${unit.id}`, name: `${KINDS[kind]!.toLowerCase()} ${unit.at.join(', ')}` }))
  },

  inspect(scene, x, y, head) {
    const tile: Tile = [Math.floor(x), SIZE - 1 - Math.floor(y)]
    const here = everyone(scene).filter(({ unit }) => unit.at[0] === tile[0] && unit.at[1] === tile[1])
    const first = here.find(({ kind }) => kind >= 3) ?? here[0]
    return first && card(scene, first, head, here.length)
  },

  find(scene, id, head) {
    const found = everyone(scene).find(({ unit }) => `unit ${unit.id}` === id)
    return found && card(scene, found, head, 1)
  },
}

function isFrame(scene: Scene | Frame): scene is Frame {
  return 'lists' in scene
}
function listsOf(scene: Scene | Frame): Lists[] {
  return isFrame(scene) ? scene.lists : scene.units
}
function statsOf(scene: Scene | Frame): Stats[] {
  return isFrame(scene) ? scene.stats : scene.players
}
/** What happened in the picture shown. */
function eventsOf({ scene }: Shot<Scene | Frame, Frame>): Events {
  return isFrame(scene) ? scene.events : NO_EVENTS
}

interface Found {
  unit: Standing
  kind: number
  player: number
}
function everyone(scene: Scene | Frame): Found[] {
  return listsOf(scene).flatMap(({ units }, side) =>
    units.flatMap((list, kind) => list.map((unit) => ({ unit, kind, player: side + 1 }))),
  )
}

function card(scene: Scene | Frame, { unit, kind, player }: Found, head: Head, here: number): Card {
  const lists = listsOf(scene)[player - 1]!
  const upgraded = lists.upgrades.some(({ id }) => id === unit.id)
  const removal = lists.removals.find(({ id }) => id === unit.id)
  const form = formOf(head, kind, upgraded)
  const [x, y] = unit.at
  const fields: [string, string][] = [
    ['owner', `player ${player}`],
    ['health', `${+unit.health.toFixed(2)} of ${form.startHealth ?? '?'}`],
    ['tile', `${x}, ${y}`],
  ]
  if (form.attackRange) fields.push(['range', `${form.attackRange}`])
  if (form.attackDamageWalker) fields.push(['damage', `${form.attackDamageWalker} to mobile, ${form.attackDamageTower ?? 0} to structures`])
  if (form.shieldRange) fields.push(['shield', `${form.shieldPerUnit} within ${form.shieldRange}`])
  if (removal) fields.push(['removal', `in ${removal.health} restores`])
  if (here > 1) fields.push(['here', `${here} units`])
  fields.push(['number', `${unit.id}`])
  return {
    id: `unit ${unit.id}`,
    title: `${upgraded ? 'upgraded ' : ''}${KINDS[kind]}`,
    seat: player,
    at: [x + 0.5, SIZE - y - 0.5],
    fields,
  }
}

/** The numbers of a kind, as built or upgraded. */
function formOf(head: Head, kind: number, upgraded: boolean): Record<string, number> {
  const info = head.rules?.unitInformation?.[kind] ?? {}
  return upgraded ? { ...info, ...info.upgrade } : info
}

function upgradedIn(scene: Scene | Frame, { unit, player }: Found): boolean {
  return listsOf(scene)[player - 1]!.upgrades.some(({ id }) => id === unit.id)
}

/** The cells on the screen whose tiles are within a range of a tile. */
function within([x, y]: Tile, range: number): [number, number][] {
  const cells: [number, number][] = []
  if (range <= 0) return cells
  for (let row = Math.ceil(y - range); row <= y + range; row++) {
    for (let column = Math.ceil(x - range); column <= x + range; column++) {
      if (Math.hypot(column - x, row - y) <= range && inArena(column, row)) cells.push([column, SIZE - 1 - row])
    }
  }
  return cells
}

function counted(kinds: string[]): string {
  const counts = new Map<string, number>()
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${count} ${kind.toLowerCase()}${count > 1 ? 's' : ''}`).join(', ')
}

/** The middle of a tile on the screen. */
function cell([x, y]: Tile): Tile {
  return [x + 0.5, SIZE - y - 0.5]
}

function inArena(x: number, y: number): boolean {
  if (x < 0 || y < 0 || x >= SIZE || y >= SIZE) return false
  const reach = y < SIZE / 2 ? y + 1 : SIZE - y
  return x >= SIZE / 2 - reach && x < SIZE / 2 + reach
}

function arena(pen: Pen): void {
  const { ctx, ink } = pen
  const half = SIZE / 2
  const edge = new Path2D()
  for (let y = 0; y < SIZE; y++) {
    const reach = y < half ? y + 1 : SIZE - y
    const above = y + 1 < SIZE ? (y + 1 < half ? y + 2 : SIZE - y - 1) : 0
    const top = SIZE - 1 - y
    for (let x = half - reach; x < half + reach; x++) {
      pen.rect(x, top, 1.01, 1.01, y < half ? ((x + y) % 2 ? ink.ground2 : ink.ground) : mix((x + y) % 2 ? ink.ground2 : ink.ground, ink.grid, 0.35))
    }
    // The rim, in steps.
    for (const x of [half - reach, half + reach]) (edge.moveTo(x, top), edge.lineTo(x, top + 1))
    const [wide, narrow] = [Math.max(reach, above), Math.min(reach, above)]
    for (const side of [-1, 1]) (edge.moveTo(half + side * narrow, top), edge.lineTo(half + side * wide, top))
  }
  edge.moveTo(half - 1, SIZE)
  edge.lineTo(half + 1, SIZE)
  ctx.strokeStyle = ink.wallEdge
  ctx.lineWidth = pen.px(1.5)
  ctx.stroke(edge)
  pen.line([[0, half], [SIZE, half]], ink.text, pen.px(1.2), [pen.px(6), pen.px(5)])
}

const reached = new WeakMap<object, Set<string>[]>()

/** The tiles that the turrets of each side reach. */
function coveredBy(scene: Scene | Frame, head: Head): Set<string>[] {
  const lists = listsOf(scene)
  let known = reached.get(lists)
  if (!known) {
    known = lists.map(() => new Set<string>())
    for (const found of everyone(scene)) {
      if (found.kind !== 2) continue
      for (const cell of within(found.unit.at, formOf(head, 2, upgradedIn(scene, found)).attackRange ?? 0)) known[found.player - 1]!.add(`${cell}`)
    }
    reached.set(lists, known)
  }
  return known
}

/** What turrets reach, faintly. */
function covered(pen: Pen, { scene, head }: Shot<Scene | Frame, Frame>): void {
  const sides = coveredBy(scene, head)
  const shade = pen.ink.bad + (pen.ink.dark ? '2a' : '1c')
  for (const key of new Set(sides.flatMap((side) => [...side]))) {
    const [x, y] = key.split(',').map(Number) as Tile
    pen.rect(x, y, 1, 1, shade)
  }
}

function heat(pen: Pen, { step, part, scene }: Shot<Scene | Frame, Frame>): void {
  if (!step) return
  const until = isFrame(scene) ? part + 1 : step.parts.length
  const taken = new Map<number, number>()
  for (let at = 0; at < until; at++) {
    for (const { at: tile, amount } of step.parts[at]!.events.damage) {
      const key = tile[1] * SIZE + tile[0]
      taken.set(key, (taken.get(key) ?? 0) + amount)
    }
  }
  for (const [key, amount] of taken) {
    pen.faded(Math.min(0.12 + amount / 220, 0.6), () =>
      pen.rect(key % SIZE, SIZE - 1 - Math.floor(key / SIZE), 1, 1, pen.ink.bad),
    )
  }
}

function ways(pen: Pen, { step, part, scene }: Shot<Scene | Frame, Frame>): void {
  if (!step) return
  const until = isFrame(scene) ? part + 1 : step.parts.length
  const drawn = new Set<string>()
  for (let at = 0; at < until; at++) {
    for (const { from, to, unit } of step.parts[at]!.events.moves) {
      // Units on the same way are one line of dots, a little beside that of the enemy.
      const key = `${from},${to},${unit.player}`
      if (drawn.has(key)) continue
      drawn.add(key)
      const shift = unit.player === 1 ? -0.1 : 0.1
      const [a, b] = [cell(from), cell(to)]
      const line: Tile[] = [[a[0] + shift, a[1] + shift], [b[0] + shift, b[1] + shift]]
      pen.line(line, pen.ink.ground, 0.26)
      pen.line(line, pen.seat(unit.player), 0.16, [0.01, 0.32])
    }
  }
}

/** How far the selected unit hits or shields. */
function ranges(pen: Pen, { scene, selected, head }: Shot<Scene | Frame, Frame>): void {
  const found = everyone(scene).find(({ unit }) => selected === `unit ${unit.id}`)
  if (!found) return
  const form = formOf(head, found.kind, upgradedIn(scene, found))
  const [x, y] = cell(found.unit.at)
  for (const [reach, colour] of [[form.attackRange, pen.seat(found.player)], [form.shieldRange, pen.ink.gold]] as const) {
    if (!reach) continue
    pen.faded(0.14, () => pen.disc(x, y, reach, colour))
    pen.disc(x, y, reach, undefined, colour, pen.px(1.5))
  }
}

const FIGURES = [
  'M2 3.500h9.300v5H2zM12.700 3.500H22v5h-9.300zM2 9.800h4.500v4.600H2zM7.900 9.800h8.200v4.600H7.900zM17.500 9.800H22v4.600h-4.500zM2 15.700h9.300v5H2zM12.700 15.700H22v5h-9.300z',
  'M12 1a5.500 5.500 0 0 1 3.300 9.900L20.500 23h-17L8.700 10.900A5.500 5.500 0 0 1 12 1zM12 4.200a2.300 2.300 0 1 0 0 4.600 2.300 2.300 0 0 0 0-4.600z',
  'M3 2h4.500v3h2.600V2h3.800v3h2.600V2H21v7.500l-3 2.300v6.400l3 2V23H3v-2.800l3-2v-6.400L3 9.500z',
  'M12 2l8 19-8-5-8 5z',
  'M6 3h12l4 7-4 11H6L2 10z',
  'M9 2h6v7h7v6h-7v7H9v-7H2V9h7z',
]

function structures(pen: Pen, shot: Shot<Scene | Frame, Frame>, lists: Lists, player: number): void {
  const { ink } = pen
  const colour = pen.seat(player)
  const upgraded = new Set(lists.upgrades.map(({ id }) => id))
  for (let kind = 0; kind < 3; kind++) {
    for (const unit of lists.units[kind] ?? []) {
      const [x, y] = cell(unit.at)
      const full = formOf(shot.head, kind, upgraded.has(unit.id)).startHealth ?? 60
      const share = Math.max(0, Math.min(unit.health / full, 1))
      pen.figure(FIGURES[kind]!, x, y, 0.8, colour, ink.contrast ? ink.text : ink.ground, pen.px(ink.contrast ? 3 : 2))
      if (upgraded.has(unit.id)) chevron(pen, x, y - 0.5)
      if (share < 0.995) pen.health(x, y + 0.38, 0.8, 0.12, share)
      if (shot.selected === `unit ${unit.id}`) pen.corners(x, y, 1.16)
    }
  }
  for (const { at } of lists.removals) {
    const [x, y] = cell(at)
    pen.ctx.save()
    pen.ctx.setLineDash([pen.px(3), pen.px(2)])
    pen.frame(x - 0.47, y - 0.47, 0.94, 0.94, ink.text, pen.px(1.2))
    pen.ctx.restore()
    pen.line([[x - 0.38, y - 0.38], [x + 0.38, y + 0.38]], ink.ground, 0.2)
    pen.line([[x - 0.38, y - 0.38], [x + 0.38, y + 0.38]], ink.bad, 0.1)
  }
}

/** The sign of what is upgraded. */
function chevron(pen: Pen, x: number, y: number): void {
  const points: Tile[] = [[x - 0.3, y + 0.1], [x, y - 0.1], [x + 0.3, y + 0.1]]
  pen.line(points, pen.ink.ground, 0.22)
  pen.line(points, pen.ink.text, 0.11)
}

/** Mobile units: those of a kind that share a tile are one picture with their number. */
function mobiles(pen: Pen, shot: Shot<Scene | Frame, Frame>): void {
  const came = new Map(eventsOf(shot).moves.map(({ unit, from }) => [unit.id, from]))
  interface Group {
    kind: number
    player: number
    from: Tile
    to: Tile
    units: Standing[]
  }
  const groups = new Map<string, Group>()
  for (const { unit, kind, player } of everyone(shot.scene)) {
    if (kind < 3) continue
    const from = came.get(unit.id) ?? unit.at
    const key = `${kind},${player},${from},${unit.at}`
    const group = groups.get(key)
    if (group) group.units.push(unit)
    else groups.set(key, { kind, player, from, to: unit.at, units: [unit] })
  }
  for (const { kind, player, from, to, units } of groups.values()) {
    const [a, b] = [cell(from), cell(to)]
    const [x, y] = [a[0] + (b[0] - a[0]) * shot.t, a[1] + (b[1] - a[1]) * shot.t]
    const full = formOf(shot.head, kind, false).startHealth ?? 20
    const health = units.reduce((sum, unit) => sum + unit.health, 0) / units.length
    pen.plate(player, x, y, player === 2 ? 0.9 : 0.98, FIGURES[kind])
    if (health > full + 0.01) pen.disc(x, y, 0.6, undefined, pen.ink.gold, 0.08)
    if (health < full - 0.01) pen.health(x, y + 0.46, 0.8, 0.12, health / full)
    if (units.length > 1) {
      pen.disc(x + 0.46, y - 0.44, 0.36, pen.ink.text, pen.ink.ground, pen.px(1.5))
      pen.text(`${units.length}`, x + 0.46, y - 0.42, { size: 0.46, weight: 700, colour: pen.ink.ground })
    }
    if (units.some(({ id }) => shot.selected === `unit ${id}`)) pen.corners(x, y, 1.3)
  }
}

function shield(pen: Pen, from: Tile, to: Tile, amount: number, t: number): void {
  if (amount <= 0) return
  pen.faded(0.35 + 0.5 * (1 - t), () => pen.line([cell(from), cell(to)], pen.ink.gold, 0.06, [0.15, 0.2]))
}

function beam(pen: Pen, { from, to, attacker }: Events['attack'][number], t: number): void {
  pen.faded(0.9 - 0.35 * t, () => pen.line([cell(from), cell(to)], pen.seat(attacker.player), pen.px(1.8)))
  const [x, y] = cell(to)
  pen.disc(x, y, 0.13, pen.ink.gold, pen.ink.ground, pen.px(1))
}

function blast(pen: Pen, at: Tile, tiles: Tile[], player: number, t: number): void {
  const [x, y] = cell(at)
  pen.faded(0.5, () => tiles.forEach(([column, row]) => pen.rect(column, SIZE - 1 - row, 1, 1, pen.ink.fire)))
  pen.disc(x, y, 0.4 + 1.1 * t, undefined, pen.seat(player), 0.14)
}

function gone(pen: Pen, at: Tile, player: number, t: number): void {
  const [x, y] = cell(at)
  pen.faded(1 - 0.5 * t, () => pen.disc(x, y, 0.2 + 0.35 * t, undefined, pen.seat(player), 0.1))
}

function breach(pen: Pen, at: Tile, damage: number, player: number, t: number): void {
  const [x, y] = cell(at)
  pen.disc(x, y, 0.5 + 0.3 * t, undefined, pen.seat(player), 0.16)
  pen.text(`−${+damage.toFixed(1)}`, x, y - 0.9 * t, { size: 0.9, weight: 700, colour: pen.ink.bad, halo: pen.ink.ground })
}

/** Where units got through and where they fell, in words, on the board at the end of a turn. */
function captions(pen: Pen, { step, scene }: Shot<Scene | Frame, Frame>): void {
  if (!step || isFrame(scene)) return
  const { ink } = pen
  const size = Math.max(0.5, pen.px(12))
  const through = new Map<string, { at: Tile; count: number; damage: number; player: number }>()
  const fallen = new Map<string, { at: Tile; count: number; kind: string; player: number }>()
  for (const { events } of step.parts) {
    for (const { at, damage, unit } of events.breach) {
      const one = through.get(`${at}`) ?? { at, count: 0, damage: 0, player: unit.player }
      through.set(`${at}`, { ...one, count: one.count + 1, damage: one.damage + damage })
    }
    for (const { at, unit, removed } of events.death) {
      if (removed || KINDS.indexOf(unit.kind) < 3) continue
      const one = fallen.get(`${at}`) ?? { at, count: 0, kind: unit.kind.toLowerCase(), player: unit.player }
      fallen.set(`${at}`, { ...one, count: one.count + 1 })
    }
  }
  // Units that got through leave the board as well.
  for (const key of through.keys()) fallen.delete(key)
  for (const { at, count, kind } of [...fallen.values()].sort((a, b) => b.count - a.count).slice(0, 4)) {
    const [x, y] = cell(at)
    for (const [colour, width] of [[ink.ground, 0.3], [ink.bad, 0.16]] as const) {
      pen.line([[x - 0.28, y - 0.28], [x + 0.28, y + 0.28]], colour, width)
      pen.line([[x + 0.28, y - 0.28], [x - 0.28, y + 0.28]], colour, width)
    }
    pen.text(`−${count} ${kind}${count > 1 ? 's' : ''}`, x - 0.5, y, { size, align: 'right', weight: 600, halo: ink.ground })
  }
  for (const { at, count, damage, player } of through.values()) {
    const [x, y] = cell(at)
    pen.disc(x, y, 0.62, undefined, pen.seat(player), 0.14)
    pen.bubble(`${count} through, −${+damage.toFixed(1)} health`, x, y, SIZE)
  }
}

/** Health and points of each side in the corners of the diamond. */
function corners(pen: Pen, { scene, head }: Shot<Scene | Frame, Frame>): void {
  const { ink } = pen
  const whole = head.rules?.resources?.startingHP ?? 30
  statsOf(scene).forEach(({ hp, sp, mp }, at) => {
    const size = Math.max(1.5, pen.px(20))
    const small = Math.max(0.55, pen.px(11))
    const top = at === 0 ? SIZE - size - small * 3.2 : 0.3
    pen.plate(at + 1, 0.6, top + size * 0.5, size * 0.55)
    pen.text(`${+Math.max(hp, 0).toFixed(1)}`, 1.2 + size * 0.1, top + size * 0.52, { size, weight: 650, align: 'left' })
    pen.bar(0.2, top + size * 1.08, 6, 0.32, Math.max(hp, 0) / whole, pen.seat(at + 1))
    pen.text(`SP ${sp.toFixed(1)} · MP ${mp.toFixed(1)}`, 0.2, top + size * 1.08 + 0.5 + small, { size: small, weight: 400, align: 'left', colour: ink.faint })
  })
}
