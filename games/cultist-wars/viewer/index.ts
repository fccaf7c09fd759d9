// How Cultist Wars is drawn. The scene is that of `src/scene.rs`, the events those of `src/event.rs`.

import { type Card, type Drawing, type GameEvent, type Pen, type Shot, type Step, type Told, mix } from 'agon-viewer'
import type { Event, Scene, Tile as Cell, Unit } from './generated'

const FULL_HEALTH = 10

export const drawing: Drawing<Scene> = {
  game: 'cultist-wars',
  scoreWord: 'units',
  speed: 3,
  layers: [
    { id: 'paths', name: 'What was done', key: 'p', on: true },
    { id: 'ids', name: 'Unit numbers', on: true },
    { id: 'grid', name: 'Coordinates', key: 'g', on: true },
  ],
  legend: [
    ['wide hat', 'a leader: converts neighbours, cannot shoot'],
    ['hood', 'a cultist: shoots up to 6 tiles far'],
    ['grey', 'neutral: nobody’s yet'],
  ],

  size: (scene) => [scene.width, scene.height],

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
          return { text: `${who(event.unit)} moves to ${event.to.join(', ')}`, seat, weight: 0, at: event.to }
        case 'neutral_moved':
          return { text: `${who(event.unit)} strolls to ${event.to.join(', ')}`, weight: 0, at: event.to }
        case 'shot': {
          const hit = event.hit === null ? 'an obstacle' : `${who(event.hit)} for ${event.damage}`
          const meant = event.hit !== null && event.hit !== event.target ? `, meant for ${who(event.target)}` : ''
          return { text: `${who(event.unit)} shoots ${hit}${meant}`, seat, weight: 1, at: event.at }
        }
        case 'converted': {
          const target = step.scene.units.find((unit) => unit.id === event.target)
          return {
            text: `${who(event.unit)} converts ${who(event.target)}`,
            seat: event.player,
            weight: 2,
            at: target?.tile ?? undefined,
          }
        }
        case 'died': {
          const before = step.before.units.find((unit) => unit.id === event.unit)
          return { text: `${who(event.unit)} dies`, seat, weight: 3, at: before?.tile ?? undefined }
        }
        case 'waited':
          return { text: `${name(event.player)} waits`, seat: event.player, weight: 0 }
        case 'invalid':
          return { text: `${name(event.player)} gives no valid action: ${event.why}`, seat: event.player, weight: 3 }
        default:
          return { text: (event as GameEvent).event, weight: 0 }
      }
    })
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
    }
  })
  for (let x = 1; x < scene.width; x++) pen.line([[x, 0], [x, scene.height]], ink.grid, pen.px(1))
  for (let y = 1; y < scene.height; y++) pen.line([[0, y], [scene.width, y]], ink.grid, pen.px(1))
  scene.rows.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      if (row[x] !== 'x') continue
      // A standing stone.
      pen.rect(x + 0.12, y + 0.16, 0.76, 0.74, ink.wallEdge, 0.16)
      pen.rect(x + 0.12, y + 0.1, 0.76, 0.7, ink.wall, 0.16)
      pen.line([[x + 0.3, y + 0.3], [x + 0.46, y + 0.44], [x + 0.4, y + 0.6]], ink.wallEdge, 0.04)
    }
  })
}

/** The way of movements and shots, so that a still picture tells what happened. */
function traces(pen: Pen, shot: Shot<Scene>): void {
  for (const event of (shot.step?.events ?? []) as Event[]) {
    if (event.event === 'moved' || event.event === 'neutral_moved') {
      const colour = event.event === 'moved' ? pen.seat(shot.step?.answers[0]?.seat) : pen.ink.neutral
      const [from, to] = [middle(event.from), middle(event.to)]
      pen.faded(0.8, () => {
        pen.disc(from[0], from[1], 0.09, colour)
        pen.line([from, along(from, to, shot.t)], colour, 0.07, [0.02, 0.16])
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
  const colour = converted && shot.t < 0.5 ? pen.seat(before.player) : pen.seat(unit.player)
  const acted = shot.step?.events.some(({ event, unit: id }) => id === unit.id && event !== 'died' && event !== 'neutral_moved')
  pen.faded(dying ? 1 - shot.t : 1, () => {
    if (shot.selected === `unit ${unit.id}`) {
      pen.disc(x, y, 0.47, undefined, pen.ink.text, pen.px(2.5))
    } else if (acted) {
      pen.disc(x, y, 0.46, mix(pen.ink.ground, colour, 0.25), colour, pen.px(1.5))
    }
    robe(pen, x, y, colour, unit.kind === 'leader')
    const hp = shot.t < 0.6 ? (before?.hp ?? unit.hp) : unit.hp
    const health = hp <= 3 ? pen.ink.bad : hp <= 6 ? pen.ink.gold : pen.ink.good
    pen.bar(x - 0.34, y + 0.36, 0.68, 0.09, hp / FULL_HEALTH, health)
    if (shot.layers.has('ids')) {
      pen.text(`${unit.id}`, x, y + 0.18, { size: 0.24, colour: pen.ink.dark ? '#10141a' : '#ffffff', weight: 700 })
    }
  })
}

/** A hooded figure; a leader has a wide hat. */
function robe(pen: Pen, x: number, y: number, colour: string, leader: boolean): void {
  const edge = mix(colour, pen.ink.dark ? '#ffffff' : '#000000', 0.35)
  const shade = mix(colour, '#000000', 0.45)
  pen.shape([[x - 0.3, y + 0.32], [x - 0.17, y - 0.1], [x + 0.17, y - 0.1], [x + 0.3, y + 0.32]], colour, edge, 0.035)
  pen.disc(x, y - 0.16, 0.19, colour, edge, 0.035)
  pen.disc(x, y - 0.13, 0.11, shade)
  pen.disc(x - 0.045, y - 0.14, 0.022, '#fff3c4')
  pen.disc(x + 0.045, y - 0.14, 0.022, '#fff3c4')
  if (leader) {
    pen.shape([[x - 0.34, y - 0.22], [x - 0.13, y - 0.26], [x, y - 0.48], [x + 0.13, y - 0.26], [x + 0.34, y - 0.22], [x, y - 0.16]], colour, edge, 0.035)
    pen.disc(x, y - 0.29, 0.045, pen.ink.gold)
  }
}

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
      pen.line(reached, pen.ink.dark ? '#000000aa' : '#ffffffcc', 0.13)
      pen.line(reached, colour, 0.07)
      const end = reached[reached.length - 1]!
      pen.disc(end[0], end[1], 0.1, '#ffd84d', colour, 0.03)
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
      if (place && t > 0.6) cross(pen, middle(place))
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
      hit ? '#ffd84d' : pen.ink.faint,
      0.05,
    )
  }
  if (damage > 0) {
    pen.text(`−${damage}`, x + 0.3, y - 0.36, { size: 0.32, colour: pen.ink.bad, weight: 800, halo: pen.ink.ground })
  }
}

function cross(pen: Pen, [x, y]: Cell): void {
  const halo = pen.ink.ground
  for (const [colour, width] of [[halo, 0.2], [pen.ink.bad, 0.1]] as const) {
    pen.line([[x - 0.2, y - 0.2], [x + 0.2, y + 0.2]], colour, width)
    pen.line([[x + 0.2, y - 0.2], [x - 0.2, y + 0.2]], colour, width)
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
