// The pictures of Terminal: the arena, structures, mobile units, what they do, and the words beside it.

import { type Head, type Pen, type Shot, mix } from 'agon-viewer'
import { KINDS } from './frames'
import type { Events, Lists, Scene, Standing, Tile } from './generated'
import { type Frame, SIZE, cell, everyone, eventsOf, formOf, isFrame, listsOf, statsOf, upgradedIn, within } from './scenes'

export function arena(pen: Pen): void {
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

/** What turrets reach, faintly; to who plays, those of the enemy. */
export function covered(pen: Pen, { scene, head, hand }: Shot<Scene | Frame, Frame>): void {
  const sides = coveredBy(scene, head).filter((_, at) => at + 1 !== hand?.seat)
  const shade = pen.ink.bad + (pen.ink.dark ? '2a' : '1c')
  for (const key of new Set(sides.flatMap((side) => [...side]))) {
    const [x, y] = key.split(',').map(Number) as Tile
    pen.rect(x, y, 1, 1, shade)
  }
}

export function heat(pen: Pen, { step, part, scene }: Shot<Scene | Frame, Frame>): void {
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

export function ways(pen: Pen, { step, part, scene }: Shot<Scene | Frame, Frame>): void {
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
export function ranges(pen: Pen, { scene, selected, head }: Shot<Scene | Frame, Frame>): void {
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

/** The picture of each kind, on a grid of 24. */
export const FIGURES = [
  'M2 3.500h9.300v5H2zM12.700 3.500H22v5h-9.300zM2 9.800h4.500v4.600H2zM7.900 9.800h8.200v4.600H7.900zM17.500 9.800H22v4.600h-4.500zM2 15.700h9.300v5H2zM12.700 15.700H22v5h-9.300z',
  'M12 1a5.500 5.500 0 0 1 3.300 9.900L20.500 23h-17L8.700 10.900A5.500 5.500 0 0 1 12 1zM12 4.200a2.300 2.300 0 1 0 0 4.600 2.300 2.300 0 0 0 0-4.600z',
  'M3 2h4.500v3h2.600V2h3.800v3h2.600V2H21v7.500l-3 2.300v6.400l3 2V23H3v-2.800l3-2v-6.400L3 9.500z',
  'M12 2l8 19-8-5-8 5z',
  'M6 3h12l4 7-4 11H6L2 10z',
  'M9 2h6v7h7v6h-7v7H9v-7H2V9h7z',
]

export function structures(pen: Pen, shot: Shot<Scene | Frame, Frame>, lists: Lists, player: number): void {
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
export function chevron(pen: Pen, x: number, y: number): void {
  const points: Tile[] = [[x - 0.3, y + 0.1], [x, y - 0.1], [x + 0.3, y + 0.1]]
  pen.line(points, pen.ink.ground, 0.22)
  pen.line(points, pen.ink.text, 0.11)
}

/** Mobile units: those of a kind that share a tile are one picture with their number. */
export function mobiles(pen: Pen, shot: Shot<Scene | Frame, Frame>): void {
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
    if (units.length > 1) number(pen, x, y, units.length)
    if (units.some(({ id }) => shot.selected === `unit ${id}`)) pen.corners(x, y, 1.3)
  }
}

/** How many of a kind stand on a tile. */
export function number(pen: Pen, x: number, y: number, count: number): void {
  pen.disc(x + 0.46, y - 0.44, 0.36, pen.ink.text, pen.ink.ground, pen.px(1.5))
  pen.text(`${count}`, x + 0.46, y - 0.42, { size: 0.46, weight: 700, colour: pen.ink.ground })
}

export function shield(pen: Pen, from: Tile, to: Tile, amount: number, t: number): void {
  if (amount <= 0) return
  pen.faded(0.35 + 0.5 * (1 - t), () => pen.line([cell(from), cell(to)], pen.ink.gold, 0.06, [0.15, 0.2]))
}

export function beam(pen: Pen, { from, to, attacker }: Events['attack'][number], t: number): void {
  pen.faded(0.9 - 0.35 * t, () => pen.line([cell(from), cell(to)], pen.seat(attacker.player), pen.px(1.8)))
  const [x, y] = cell(to)
  pen.disc(x, y, 0.13, pen.ink.gold, pen.ink.ground, pen.px(1))
}

export function blast(pen: Pen, at: Tile, tiles: Tile[], player: number, t: number): void {
  const [x, y] = cell(at)
  pen.faded(0.5, () => tiles.forEach(([column, row]) => pen.rect(column, SIZE - 1 - row, 1, 1, pen.ink.fire)))
  pen.disc(x, y, 0.4 + 1.1 * t, undefined, pen.seat(player), 0.14)
}

export function gone(pen: Pen, at: Tile, player: number, t: number): void {
  const [x, y] = cell(at)
  pen.faded(1 - 0.5 * t, () => pen.disc(x, y, 0.2 + 0.35 * t, undefined, pen.seat(player), 0.1))
}

export function breach(pen: Pen, at: Tile, damage: number, player: number, t: number): void {
  const [x, y] = cell(at)
  pen.disc(x, y, 0.5 + 0.3 * t, undefined, pen.seat(player), 0.16)
  pen.text(`−${+damage.toFixed(1)}`, x, y - 0.9 * t, { size: 0.9, weight: 700, colour: pen.ink.bad, halo: pen.ink.ground })
}

/** Where units got through and where they fell, in words, on the board at the end of a turn; those of one side, or of both. */
export function captions(pen: Pen, frames: readonly Frame[], side?: number): void {
  const { ink } = pen
  const size = Math.max(0.5, pen.px(12))
  const through = new Map<string, { at: Tile; count: number; damage: number; player: number }>()
  const fallen = new Map<string, { at: Tile; count: number; kind: string; player: number }>()
  for (const { events } of frames) {
    for (const { at, damage, unit } of events.breach) {
      if (side !== undefined && unit.player !== side) continue
      const one = through.get(`${at}`) ?? { at, count: 0, damage: 0, player: unit.player }
      through.set(`${at}`, { ...one, count: one.count + 1, damage: one.damage + damage })
    }
    for (const { at, unit, removed } of events.death) {
      if (removed || KINDS.indexOf(unit.kind) < 3 || (side !== undefined && unit.player !== side)) continue
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
export function corners(pen: Pen, { scene, head }: Shot<Scene | Frame, Frame>): void {
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
