// How Terminal is drawn: every frame of the action phases. A step is a turn; its pictures are the
// frames (`src/frame.rs`), and last the board at the next deploy phase (`src/scene.rs`).
// The game counts rows from below; cells on the screen from above.

import { type Card, type Drawing, type Gauge, type Head, type Pen, type Shot, type Told, mix } from 'agon-viewer'
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
    { id: 'ranges', name: 'All ranges', key: 'r', on: false },
    { id: 'grid', name: 'Coordinates', key: 'g', on: true },
  ],
  legend: [
    ['square', 'wall'],
    ['hexagon', 'support: shields its own mobile units'],
    ['barrel', 'turret'],
    ['arrowhead', 'scout'],
    ['two arrowheads', 'demolisher'],
    ['kite', 'interceptor'],
    ['gold corner', 'upgraded'],
    ['red cross', 'marked for removal'],
    ['ring', 'shield above full health'],
  ],

  size: () => [SIZE, SIZE],
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
      if (sent) told.push({ text: `${name(player)} sends ${sent}`, seat: player, weight: 1 })
      const work = [
        built && `builds ${built}`,
        upgrades && `upgrades ${upgrades}`,
        removals && `marks ${removals} for removal`,
      ].filter(Boolean)
      if (work.length > 0) told.push({ text: `${name(player)} ${work.join(', ')}`, seat: player, weight: 0 })
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
          at: cell(breaches[0]!.at),
        })
      }
      const blasts = events.flatMap(({ self_destruct: blast }) => blast.filter(({ unit }) => unit.player === player))
      if (blasts.length > 0) {
        told.push({ text: `${blasts.length} of ${name(player)}’s units blow themselves up`, seat: player, weight: 1 })
      }
      const dead = events.flatMap(({ death }) => death.filter(({ unit, removed }) => unit.player === player && !removed))
      const lost = counted(dead.map(({ unit }) => unit.kind).filter((kind) => KINDS.indexOf(kind) < 3))
      const fallen = counted(dead.map(({ unit }) => unit.kind).filter((kind) => KINDS.indexOf(kind) >= 3))
      const enemy = player === 1 ? 2 : 1
      if (lost) told.push({ text: `${name(player)} loses ${lost}`, seat: enemy, weight: lost.includes(',') ? 2 : 1 })
      if (fallen) told.push({ text: `${fallen} of ${name(player)} fall`, seat: enemy, weight: 0 })
    }
    const over = step.events.find((event) => 'over' in event)
    if (over) told.push({ text: 'the match is over', weight: 3 })
    return told
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
  const { ink } = pen
  const half = SIZE / 2
  for (let y = 0; y < SIZE; y++) {
    const reach = y < half ? y + 1 : SIZE - y
    const base = y < half ? pen.seat(1) : pen.seat(2)
    pen.rect(half - reach, SIZE - 1 - y, reach * 2, 1, mix(ink.ground, base, ink.dark ? 0.07 : 0.06))
  }
  for (let y = 0; y < SIZE; y++) {
    const reach = y < half ? y + 1 : SIZE - y
    for (let x = half - reach; x <= half + reach; x++) {
      pen.line([[x, SIZE - 1 - y], [x, SIZE - y]], ink.grid, pen.px(0.7))
    }
    pen.line([[half - reach, SIZE - 1 - y], [half + reach, SIZE - 1 - y]], ink.grid, pen.px(0.7))
    pen.line([[half - reach, SIZE - y], [half + reach, SIZE - y]], ink.grid, pen.px(0.7))
  }
  pen.line([[0, half], [SIZE, half]], ink.faint, pen.px(1.2))
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
  pen.faded(0.55, () => {
    for (let at = 0; at < until; at++) {
      for (const { from, to, unit } of step.parts[at]!.events.moves) {
        // Units on the same way are one line, a little beside that of the enemy.
        const key = `${from},${to},${unit.player}`
        if (drawn.has(key)) continue
        drawn.add(key)
        const shift = unit.player === 1 ? -0.08 : 0.08
        const [a, b] = [cell(from), cell(to)]
        pen.line([[a[0] + shift, a[1] + shift], [b[0] + shift, b[1] + shift]], pen.seat(unit.player), 0.09)
      }
    }
  })
}

function ranges(pen: Pen, shot: Shot<Scene | Frame, Frame>): void {
  const all = shot.layers.has('ranges')
  if (!all && !shot.selected) return
  for (const found of everyone(shot.scene)) {
    if (!all && shot.selected !== `unit ${found.unit.id}`) continue
    const upgraded = listsOf(shot.scene)[found.player - 1]!.upgrades.some(({ id }) => id === found.unit.id)
    const form = formOf(shot.head, found.kind, upgraded)
    const [x, y] = cell(found.unit.at)
    for (const [reach, colour] of [[form.attackRange, pen.seat(found.player)], [form.shieldRange, pen.ink.gold]] as const) {
      if (!reach) continue
      pen.faded(all ? 0.05 : 0.14, () => pen.disc(x, y, reach, colour))
      pen.disc(x, y, reach, undefined, colour, pen.px(all ? 0.6 : 1.5))
    }
  }
}

function structures(pen: Pen, shot: Shot<Scene | Frame, Frame>, lists: Lists, player: number): void {
  const colour = pen.seat(player)
  const upgraded = new Set(lists.upgrades.map(({ id }) => id))
  for (let kind = 0; kind < 3; kind++) {
    for (const unit of lists.units[kind] ?? []) {
      const [x, y] = cell(unit.at)
      const full = formOf(shot.head, kind, upgraded.has(unit.id)).startHealth ?? 60
      const share = Math.max(0, Math.min(unit.health / full, 1))
      const body = mix(pen.ink.ground, colour, 0.25 + 0.65 * share)
      if (kind === 0) {
        pen.rect(x - 0.42, y - 0.42, 0.84, 0.84, body, 0.14)
        pen.frame(x - 0.42, y - 0.42, 0.84, 0.84, colour, 0.08, 0.14)
      } else if (kind === 1) {
        pen.shape(ring(x, y, 0.45, 6), body, colour, 0.08)
        pen.line([[x - 0.2, y], [x + 0.2, y]], pen.ink.text, 0.1)
        pen.line([[x, y - 0.2], [x, y + 0.2]], pen.ink.text, 0.1)
      } else {
        pen.disc(x, y, 0.42, body, colour, 0.08)
        const up = player === 1 ? -1 : 1
        pen.line([[x, y], [x, y + 0.38 * up]], pen.ink.text, 0.14)
        pen.disc(x, y, 0.14, pen.ink.text)
      }
      if (upgraded.has(unit.id)) pen.shape([[x + 0.5, y - 0.5], [x + 0.5, y - 0.1], [x + 0.1, y - 0.5]], pen.ink.gold)
      if (share < 0.995) pen.bar(x - 0.4, y + 0.36, 0.8, 0.12, share, share < 0.35 ? pen.ink.bad : pen.ink.good)
      if (shot.selected === `unit ${unit.id}`) pen.disc(x, y, 0.6, undefined, pen.ink.text, pen.px(2))
    }
  }
  for (const { at } of lists.removals) {
    const [x, y] = cell(at)
    pen.line([[x - 0.36, y - 0.36], [x + 0.36, y + 0.36]], pen.ink.bad, 0.12)
    pen.line([[x + 0.36, y - 0.36], [x - 0.36, y + 0.36]], pen.ink.bad, 0.12)
  }
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
    const colour = pen.seat(player)
    const edge = pen.ink.dark ? '#ffffff' : '#10141a'
    const up = player === 1 ? -1 : 1
    const full = formOf(shot.head, kind, false).startHealth ?? 20
    const health = units.reduce((sum, unit) => sum + unit.health, 0) / units.length
    const tip = (size: number, dx: number, dy: number): Tile[] => [
      [x + dx, y + dy + size * up],
      [x + dx + size * 0.8, y + dy - size * 0.8 * up],
      [x + dx - size * 0.8, y + dy - size * 0.8 * up],
    ]
    if (kind === 3) {
      pen.shape(tip(0.38, 0, 0), colour, edge, 0.06)
    } else if (kind === 4) {
      pen.shape(tip(0.34, 0, -0.16 * up), colour, edge, 0.06)
      pen.shape(tip(0.34, 0, 0.14 * up), colour, edge, 0.06)
    } else {
      pen.shape([[x, y - 0.46], [x + 0.32, y], [x, y + 0.46], [x - 0.32, y]], colour, edge, 0.06)
    }
    if (health > full + 0.01) pen.disc(x, y, 0.5, undefined, pen.ink.gold, 0.06)
    if (health < full - 0.01) pen.bar(x - 0.4, y + 0.42, 0.8, 0.12, health / full, health < full / 3 ? pen.ink.bad : pen.ink.good)
    if (units.length > 1) {
      pen.text(`${units.length}`, x + 0.46, y - 0.44, { size: 0.6, weight: 800, colour: pen.ink.text, halo: pen.ink.ground })
    }
    if (units.some(({ id }) => shot.selected === `unit ${id}`)) pen.disc(x, y, 0.66, undefined, pen.ink.text, pen.px(2))
  }
}

function shield(pen: Pen, from: Tile, to: Tile, amount: number, t: number): void {
  if (amount <= 0) return
  pen.faded(0.35 + 0.5 * (1 - t), () => pen.line([cell(from), cell(to)], pen.ink.gold, 0.06, [0.15, 0.2]))
}

function beam(pen: Pen, { from, to, attacker }: Events['attack'][number], t: number): void {
  pen.faded(0.9 - 0.35 * t, () => pen.line([cell(from), cell(to)], pen.seat(attacker.player), pen.px(1.8)))
  const [x, y] = cell(to)
  pen.disc(x, y, 0.12, '#ffd84d')
}

function blast(pen: Pen, at: Tile, tiles: Tile[], player: number, t: number): void {
  const [x, y] = cell(at)
  pen.faded(0.5, () => tiles.forEach(([column, row]) => pen.rect(column, SIZE - 1 - row, 1, 1, '#ffb02e')))
  pen.disc(x, y, 0.4 + 1.1 * t, undefined, pen.seat(player), 0.14)
}

function gone(pen: Pen, at: Tile, player: number, t: number): void {
  const [x, y] = cell(at)
  pen.faded(1 - 0.5 * t, () => pen.disc(x, y, 0.2 + 0.35 * t, undefined, pen.seat(player), 0.1))
}

function breach(pen: Pen, at: Tile, damage: number, player: number, t: number): void {
  const [x, y] = cell(at)
  pen.disc(x, y, 0.5 + 0.5 * t, undefined, pen.seat(player), 0.16)
  pen.text(`−${+damage.toFixed(1)}`, x, y - 0.9 * t, { size: 0.9, weight: 800, colour: pen.ink.bad, halo: pen.ink.ground })
}

function ring(x: number, y: number, r: number, corners: number): Tile[] {
  return Array.from({ length: corners }, (_, at) => {
    const angle = (at / corners) * Math.PI * 2 + Math.PI / 6
    return [x + Math.cos(angle) * r, y + Math.sin(angle) * r]
  })
}
