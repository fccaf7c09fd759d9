// How Cultist Wars is drawn. The scene is that of `src/scene.rs`, the events those of `src/event.rs`.

import { type Card, type Drawing, type GameEvent, type Moment, type Pen, type Shot, type Step, type Told, mix } from 'agon-viewer'
import type { Event, Scene, Tile as Cell, Unit } from './generated'

const FULL_HEALTH = 10

export const drawing: Drawing<Scene> = {
  game: 'cultist-wars',
  scoreWord: 'units',
  speed: 3,
  layers: [
    { id: 'paths', name: 'Actions', key: 'p', on: true },
    { id: 'ids', name: 'Unit numbers', on: true },
    { id: 'grid', name: 'Coordinates', key: 'g', on: true },
  ],
  legend: [
    ['crown', 'a leader: converts neighbours, cannot shoot'],
    ['hood', 'a cultist: shoots up to 6 tiles away'],
    ['grey ring', 'neutral: nobody’s yet'],
    ['disc, square', 'player 1, player 2'],
    ['bar below it', 'its health, in another colour below a third'],
  ],

  size: (scene) => [scene.width, scene.height],

  things: (scene) => living(scene).map(({ tile }) => tile!),

  score: (scene) => [1, 2].map((player) => living(scene).filter((unit) => unit.player === player).length),

  gauges(scene) {
    return [1, 2].map((player) => {
      const own = living(scene).filter((unit) => unit.player === player)
      const health = own.reduce((sum, unit) => sum + unit.hp, 0)
      const all = scene.units.length
      return [
        { name: 'units', value: own.length, share: own.length / all, text: `${own.length}` },
        { name: 'health', value: health, share: health / (all * FULL_HEALTH), text: `${health}` },
      ]
    })
  },

  draw(pen, shot) {
    terrain(pen, shot.scene)
    if (shot.layers.has('paths')) traces(pen, shot)
    for (const unit of shot.scene.units) figure(pen, shot, unit)
    effects(pen, shot)
  },

  tell(step, name) {
    const who = (id: number) => unitName(step, id, name)
    return (step.events as Event[]).map((event): Told => {
      const seat = step.answers[0]?.seat
      switch (event.event) {
        case 'moved':
          return { text: `${who(event.unit)} moves to (${event.to.join(', ')})`, seat, weight: 0, kind: 'move', at: event.to }
        case 'neutral_moved':
          return { text: `${who(event.unit)} strolls to (${event.to.join(', ')})`, weight: 0, kind: 'move', at: event.to }
        case 'shot': {
          const hit = event.hit === null ? 'an obstacle' : `${who(event.hit)} for ${event.damage}`
          const meant = event.hit !== null && event.hit !== event.target ? `, meant for ${who(event.target)}` : ''
          const before = step.before.units.find((unit) => unit.id === event.hit)
          const left = before ? `: ${Math.max(0, before.hp - event.damage)} of ${FULL_HEALTH} health left` : ''
          return { text: `${who(event.unit)} shoots ${hit}${meant}${left}`, seat, weight: 1, kind: 'hit', at: event.at }
        }
        case 'converted': {
          const target = step.scene.units.find((unit) => unit.id === event.target)
          return {
            text: `${who(event.unit)} converts ${who(event.target)}`,
            seat: event.player,
            weight: 2,
            kind: 'gain',
            at: target?.tile ?? undefined,
          }
        }
        case 'died': {
          const before = step.before.units.find((unit) => unit.id === event.unit)
          return { text: `${who(event.unit)} dies${before?.tile ? ` at (${before.tile.join(', ')})` : ''}`, seat, weight: 3, kind: 'death', at: before?.tile ?? undefined }
        }
        case 'waited':
          return { text: `${name(event.player)} waits`, seat: event.player, weight: 0 }
        case 'invalid':
          return { text: `${name(event.player)} gives no valid action: ${event.why}`, seat: event.player, weight: 3, kind: 'warning' }
        default:
          return { text: (event as GameEvent).event, weight: 0 }
      }
    })
  },

  orders(step, answer) {
    const [id = '', ...words] = (answer.text ?? '').trim().split(/\s+/)
    if (!/^\d+$/.test(id)) return []
    const done = (step.events as Event[]).find((event) => 'unit' in event && event.unit === Number(id) && event.event !== 'neutral_moved')
    const effect =
      done?.event === 'shot' ? (done.hit === null ? 'stopped' : `hit ${done.hit}`) : done?.event === 'converted' ? `converted ${done.target}` : done?.event === 'moved' ? `at ${done.to.join(', ')}` : ''
    return [{ index: 0, who: `unit ${id}`, name: id, text: words.join(' '), effect }]
  },

  aims(scene, text) {
    const [id, verb, ...rest] = text.trim().split(/\s+/)
    const at = (number: unknown) => scene.units.find((unit) => unit.id === Number(number))?.tile
    const [from, to] = [at(id), verb === 'MOVE' ? ([Number(rest[0]), Number(rest[1])] satisfies Cell) : at(rest[0])]
    return from && to && to.every(Number.isFinite) ? [[middle(from), middle(to)]] : []
  },

  life(step, id) {
    const number = Number(id.split(' ')[1])
    return (step.events as Event[]).flatMap((event): Moment[] => {
      if ((event.event === 'moved' || event.event === 'neutral_moved') && event.unit === number) return [{ text: `to (${event.to.join(', ')})`, kind: 'move' }]
      if (event.event === 'shot' && event.unit === number) return [{ text: event.hit === null ? 'shoots an obstacle' : `shoots ${event.hit} for ${event.damage}`, kind: 'hit' }]
      if (event.event === 'shot' && event.hit === number) return [{ text: `shot by ${event.unit}: loses ${event.damage}`, kind: 'warning' }]
      if (event.event === 'converted' && event.target === number) return [{ text: `converted by ${event.unit}: now player ${event.player}`, kind: 'gain' }]
      if (event.event === 'converted' && event.unit === number) return [{ text: `converts ${event.target}`, kind: 'gain' }]
      if (event.event === 'died' && event.unit === number) return [{ text: 'dies', kind: 'death' }]
      return []
    })
  },

  reach(scene, id) {
    const unit = living(scene).find((unit) => `unit ${unit.id}` === id)
    if (!unit) return undefined
    const free = (x: number, y: number) => scene.rows[y]?.[x] !== undefined && scene.rows[y]![x] !== 'x' && !living(scene).some(({ tile }) => tile![0] === x && tile![1] === y)
    const steps = SIDES.map(([dx, dy]): Cell => [unit.tile![0] + dx, unit.tile![1] + dy]).filter(([x, y]) => free(x, y))
    return { steps, hits: living(scene).filter((other) => strikes(unit, other)).map(({ tile }) => tile!) }
  },

  threats(scene, x, y) {
    const there = living(scene).find(({ tile }) => tile![0] === x && tile![1] === y)
    if (!there) return []
    return living(scene)
      .filter((unit) => strikes(unit, there))
      .map((unit) => ({ seat: unit.player!, id: `unit ${unit.id}`, name: `${unit.kind} ${unit.id}` }))
  },

  inspect(scene, x, y) {
    const unit = living(scene).find(({ tile }) => tile![0] === Math.floor(x) && tile![1] === Math.floor(y))
    return unit && card(unit)
  },

  find(scene, id) {
    const unit = scene.units.find((unit) => `unit ${unit.id}` === id)
    return unit && card(unit)
  },
}

const SIDES: readonly Cell[] = [[0, -1], [1, 0], [0, 1], [-1, 0]]
/** So many tiles far a cultist shoots (CW-SHOOT). */
const RANGE = 6

/** Whether one unit can shoot or convert another from where it stands; what stands between the two is not looked at. */
function strikes(unit: Unit, other: Unit): boolean {
  if (unit.player === null || unit.player === other.player || unit.id === other.id) return false
  const away = Math.abs(unit.tile![0] - other.tile![0]) + Math.abs(unit.tile![1] - other.tile![1])
  if (unit.kind === 'leader') return away === 1 && other.kind !== 'leader'
  return away <= RANGE
}

function living(scene: Scene): Unit[] {
  return scene.units.filter((unit) => unit.tile !== null && unit.hp > 0)
}

function card(unit: Unit): Card {
  const [x, y] = unit.tile ?? [-9, -9]
  return {
    id: `unit ${unit.id}`,
    title: `${unit.kind} ${unit.id}`,
    seat: unit.player ?? undefined,
    at: [x + 0.5, y + 0.5],
    fields: [
      ['owner', unit.player === null ? 'neutral' : `player ${unit.player}`],
      ['health', unit.hp > 0 ? `${unit.hp} of ${FULL_HEALTH}` : 'dead'],
      ['tile', unit.tile ? `${x}, ${y}` : 'none'],
    ],
  }
}

/** A unit as it stood before the step: a converted one is still called after its old owner. */
function unitName(step: Step<Scene>, id: number, name: (seat: number) => string): string {
  const unit = step.before.units.find((unit) => unit.id === id)
  if (!unit) return `unit ${id}`
  const owner = unit.player === null ? 'neutral' : `${name(unit.player)}’s`
  return `${owner} ${unit.kind} ${id}`
}

function terrain(pen: Pen, scene: Scene): void {
  const { ink } = pen
  pen.rect(0, 0, scene.width, scene.height, ink.ground)
  scene.rows.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      if ((x + y) % 2 === 1) pen.rect(x, y, 1, 1, ink.ground2)
      if (row[x] !== 'x') continue
      // A standing stone.
      pen.rect(x + 0.1, y + 0.14, 0.8, 0.78, ink.wallEdge, 0.12)
      pen.rect(x + 0.1, y + 0.08, 0.8, 0.74, ink.wall, 0.12)
      pen.frame(x + 0.1, y + 0.08, 0.8, 0.84, ink.wallEdge, pen.px(1), 0.12)
    }
  })
  pen.frame(0, 0, scene.width, scene.height, ink.wallEdge, pen.px(1))
}

/** The way of movements and shots, so that a still picture tells what happened. */
function traces(pen: Pen, shot: Shot<Scene>): void {
  for (const event of (shot.step?.events ?? []) as Event[]) {
    if (event.event === 'moved' || event.event === 'neutral_moved') {
      const colour = event.event === 'moved' ? pen.seat(shot.step?.answers[0]?.seat) : pen.ink.neutral
      const [from, to] = [middle(event.from), middle(event.to)]
      pen.faded(0.8, () => {
        pen.disc(from[0], from[1], 0.09, colour)
        pen.faded(0.6, () => pen.line([from, along(from, to, shot.t)], colour, 0.2))
      })
    } else if (event.event === 'shot') {
      // The rest of the line, behind what stopped it.
      const target = shot.before.units.find((unit) => unit.id === event.target)?.tile
      if (target) {
        pen.faded(0.5, () =>
          pen.line([middle(event.at), ...beyond(event.line, event.at).map(middle), middle(target)], pen.ink.faint, 0.04, [0.1, 0.14]),
        )
      }
    }
  }
}

/** The tiles of a line behind the one where the shot ended. */
function beyond(line: Cell[], at: Cell): Cell[] {
  const end = line.findIndex(([x, y]) => x === at[0] && y === at[1])
  return end < 0 ? [] : line.slice(end + 1)
}

function middle([x, y]: Cell): Cell {
  return [x + 0.5, y + 0.5]
}

function along(a: Cell, b: Cell, t: number): Cell {
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t]
}

function figure(pen: Pen, shot: Shot<Scene>, unit: Unit): void {
  const before = shot.before.units.find(({ id }) => id === unit.id)
  const dying = unit.tile === null && before?.tile != null
  if (unit.tile === null && !(dying && shot.t < 1)) return
  const from = before?.tile ?? unit.tile!
  const [x, y] = along(middle(from), middle(unit.tile ?? from), ease(shot.t))
  const converted = before !== undefined && before.player !== unit.player
  const player = converted && shot.t < 0.5 ? before.player : unit.player
  const acted = shot.step?.events.some(({ event, unit: id }) => id === unit.id && event !== 'died' && event !== 'neutral_moved')
  const leader = unit.kind === 'leader'
  const size = (leader ? 0.86 : 0.74) * (player === 2 ? 0.92 : 1)
  pen.faded(dying ? 1 - shot.t : 1, () => {
    if (acted) pen.disc(x, y - 0.04, 0.49, mix(pen.ink.ground, pen.seat(player), 0.25))
    pen.plate(player, x, y - 0.04, size, leader ? LEADER : HOOD)
    if (leader) pen.figure(CROWN, x, y - 0.41, 0.34, pen.ink.gold, pen.ink.ground, pen.px(2))
    pen.health(x, y + 0.37, 0.66, 0.08, (shot.t < 0.6 ? (before?.hp ?? unit.hp) : unit.hp) / FULL_HEALTH)
    if (shot.selected === `unit ${unit.id}`) pen.corners(x, y, 1)
    if (shot.layers.has('ids')) pen.text(`${unit.id}`, x + 0.38, y - 0.32, { size: Math.max(0.18, pen.px(10)), weight: 600, halo: pen.ink.ground })
  })
}

const HOOD = 'M12 2c4.500 0 6.500 4 6.500 7.500 0 1-.2 1.800-.6 2.500L22 22H2l4.100-10c-.4-.7-.6-1.500-.6-2.500C5.500 6 7.500 2 12 2zM12 5.800c-2 0-2.900 1.700-2.900 3.600S10.200 13 12 13s2.900-1.700 2.900-3.600S14 5.800 12 5.800z'
const LEADER = 'M12 2c4 0 6 3 6 6.500 0 1-.2 2-.7 2.800L23 22H1l5.700-10.700C6.200 10.500 6 9.500 6 8.500 6 5 8 2 12 2zM12 5.500c-1.700 0-2.700 1.500-2.700 3.200S10.300 12 12 12s2.700-1.600 2.700-3.300S13.700 5.500 12 5.500z'
const CROWN = 'M4 20L2 6l5.500 5L12 3l4.500 8L22 6l-2 14z'

function effects(pen: Pen, shot: Shot<Scene>): void {
  const { t } = shot
  for (const event of (shot.step?.events ?? []) as Event[]) {
    if (event.event === 'shot') {
      const shooter = shot.before.units.find((unit) => unit.id === event.unit)?.tile
      if (!shooter) continue
      const passed = (event.line as Cell[]).slice(0, (event.line as Cell[]).length - beyond(event.line, event.at).length)
      const way = [shooter, ...passed.filter(([x, y]) => x !== event.at[0] || y !== event.at[1]), event.at as Cell].map(middle)
      const flown = Math.min(t / 0.6, 1)
      const colour = pen.seat(shot.step?.answers[0]?.seat)
      const reached = stretch(way, flown)
      pen.line(reached, pen.ink.ground, 0.13)
      pen.line(reached, colour, 0.07)
      const end = reached[reached.length - 1]!
      pen.disc(end[0], end[1], 0.09, pen.ink.text, pen.ink.ground, 0.03)
      if (flown === 1) impact(pen, middle(event.at), event.damage, event.hit !== null, t)
    } else if (event.event === 'converted') {
      const leader = shot.scene.units.find((unit) => unit.id === event.unit)?.tile
      const target = shot.scene.units.find((unit) => unit.id === event.target)?.tile
      if (!leader || !target) continue
      const colour = pen.seat(event.player)
      const [a, b] = [middle(leader), middle(target)]
      pen.line([a, along(a, b, Math.min(t * 1.6, 1))], colour, 0.08, [0.02, 0.14])
      pen.disc(b[0], b[1], 0.3 + 0.17 * ease(t), undefined, colour, 0.06)
    } else if (event.event === 'died') {
      const place = shot.before.units.find((unit) => unit.id === event.unit)?.tile
      if (place && t > 0.6) pen.death(shot.before.units.find((unit) => unit.id === event.unit)?.player, ...middle(place), 0.66)
    }
  }
}

function impact(pen: Pen, [x, y]: Cell, damage: number, hit: boolean, t: number): void {
  const burst = hit ? 8 : 5
  for (let ray = 0; ray < burst; ray++) {
    const angle = (ray / burst) * Math.PI * 2 + 0.3
    const [near, far] = [0.16, 0.22 + 0.1 * Math.min((t - 0.6) * 2.5, 1)]
    pen.line(
      [[x + Math.cos(angle) * near, y + Math.sin(angle) * near], [x + Math.cos(angle) * far, y + Math.sin(angle) * far]],
      hit ? pen.ink.fire : pen.ink.faint,
      0.05,
    )
  }
  if (damage > 0) {
    pen.text(`−${damage}`, x + 0.3, y - 0.36, { size: 0.32, colour: pen.ink.bad, weight: 800, halo: pen.ink.ground })
  }
}

/** The first `share` of a way. */
function stretch(way: Cell[], share: number): Cell[] {
  const goal = (way.length - 1) * share
  const whole = Math.floor(goal)
  if (whole >= way.length - 1) return way
  return [...way.slice(0, whole + 1), along(way[whole]!, way[whole + 1]!, goal - whole)]
}

function ease(t: number): number {
  return t * t * (3 - 2 * t)
}
