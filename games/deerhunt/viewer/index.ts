// How Deerhunt is drawn. The scene is that of `src/scene.rs`, the events those of `src/event.rs`.

import { type Card, type Drawing, type GameEvent, type Head, type Pen, type Shot, type Step, type Told, mix } from 'agon-viewer'
import type { At, Event, Scene, Unit } from './generated'

type Point = [number, number]

const SIDES: Record<string, Point> = { UP: [0, -1], DOWN: [0, 1], LEFT: [-1, 0], RIGHT: [1, 0] }

export const drawing: Drawing<Scene> = {
  game: 'deerhunt',
  scoreWord: 'resources',
  paysFromScore: true,
  speed: 4,
  layers: [
    { id: 'paths', name: 'Ways of this half-turn', key: 'p', on: true },
    { id: 'ids', name: 'Unit numbers', on: false },
    { id: 'vision', name: 'How far units see', on: false },
    { id: 'grid', name: 'Coordinates', key: 'g', on: true },
  ],
  legend: [
    ['round', 'a worker: mines'],
    ['shield', 'a melee: fights'],
    ['gold ring', 'mining, until it pays'],
    ['coloured ring', 'making another unit'],
    ['gold pile', 'a hub, with what is left in it'],
    ['zigzag', 'stunned, for so many turns'],
  ],

  size: (scene) => [scene.ground[0]?.length ?? 1, scene.ground.length],
  score: (scene) => scene.players.map(({ resources }) => resources ?? 0),

  gauges(scene) {
    const most = Math.max(10, ...scene.players.map(({ resources }) => resources ?? 0))
    return scene.players.map(({ resources }, index) => {
      const own = scene.units.filter((unit) => seat(unit) === index + 1)
      const workers = own.filter(({ type }) => type === 'worker').length
      const whole = Math.max(6, scene.units.length)
      return [
        { name: 'resources', value: resources ?? 0, share: (resources ?? 0) / most, text: `${resources ?? '?'}` },
        { name: 'workers', value: workers, share: workers / whole, text: `${workers}` },
        { name: 'melees', value: own.length - workers, share: (own.length - workers) / whole, text: `${own.length - workers}` },
      ]
    })
  },

  draw(pen, shot) {
    ground(pen, shot)
    if (shot.layers.has('vision')) sight(pen, shot.scene)
    if (shot.layers.has('paths')) ways(pen, shot)
    for (const unit of shot.scene.units) figure(pen, shot, unit)
    effects(pen, shot)
  },

  tell(step, name) {
    const mover = step.answers[0]?.seat
    const who = (id: number) => {
      const unit = [...step.before.units, ...step.scene.units].find((unit) => unit.id === id)
      return unit ? `${name(seat(unit))}’s ${unit.type} ${id}` : `unit ${id}`
    }
    const told: Told[] = []
    let moves = 0
    for (const event of step.events as Event[]) {
      const say = (text: string, weight: Told['weight'], of = mover, at?: At) =>
        told.push({ text, seat: of, weight, at: at && [at.x, at.y] })
      switch (event.event) {
        case 'moved':
          moves++
          break
        case 'attacked':
          say(`${who(event.unit)} attacks ${who(event.target)}${event.left > 0 ? `, who has ${event.left} left` : ''}`, 1)
          break
        case 'died':
          say(`${who(event.unit)} dies`, 2, mover, event.at)
          break
        case 'duplication_began':
          say(`${who(event.unit)} begins to make a ${event.child}`, 0)
          break
        case 'born':
          say(`${name(event.owner === 'p1' ? 1 : 2)} gets a ${event.kind}`, 1, event.owner === 'p1' ? 1 : 2, event.at)
          break
        case 'child_lost':
          say(`${who(event.parent)}’s child finds no room`, 1, undefined, event.at)
          break
        case 'mining_began':
          say(`${who(event.unit)} begins to mine`, 0)
          break
        case 'mined':
          say(`${name(event.owner === 'p1' ? 1 : 2)} mines ${event.amount}`, 1, event.owner === 'p1' ? 1 : 2)
          break
        case 'hub_saturated':
          say(`hub ${event.hub + 1} has nothing left`, 2, undefined)
          break
        case 'stunned':
          say(`${who(event.unit)} stuns ${who(event.target)}`, 1)
          break
        case 'list_void':
          say(`the whole list of ${name(event.player === 'p1' ? 1 : 2)} is ignored`, 3, event.player === 'p1' ? 1 : 2)
          break
        default:
          say((event as GameEvent).event, 0)
      }
    }
    if (moves > 0 && mover) told.push({ text: `${name(mover)} makes ${moves} moves`, seat: mover, weight: 0 })
    return told
  },

  inspect(scene, x, y, head) {
    const [column, row] = [Math.floor(x), Math.floor(y)]
    const unit = scene.units.find((unit) => unit.x === column && unit.y === row)
    if (unit) return card(unit, head)
    const hub = hubsOf(head).find(({ tiles }) => tiles.some(([a, b]) => a === column && b === row))
    return hub && hubCard(scene, hub)
  },

  find(scene, id, head) {
    const unit = scene.units.find((unit) => `unit ${unit.id}` === id)
    if (unit) return card(unit, head)
    const hub = hubsOf(head).find(({ number }) => `hub ${number + 1}` === id)
    return hub && hubCard(scene, hub)
  },

  sees(scene, of) {
    const own = scene.units.filter((unit) => seat(unit) === of)
    return (x, y) => own.some((unit) => Math.max(Math.abs(unit.x - x), Math.abs(unit.y - y)) <= scene.vision)
  },
}

function seat({ owner }: Unit): number {
  return owner === 'p1' ? 1 : 2
}

interface Hub {
  number: number
  tiles: Point[]
}

const hubs = new WeakMap<Head, Hub[]>()

/** The hubs as they were at the start, numbered as the engine does: those that touch are one (DH-MAP-6). */
function hubsOf(head: Head): Hub[] {
  const known = hubs.get(head)
  if (known) return known
  const rows = (head.start as Scene).ground
  const found: Hub[] = []
  const done = new Set<string>()
  rows.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      const open: Point[] = [[x, y]]
      const tiles: Point[] = []
      for (let at = open.pop(); at; at = open.pop()) {
        const [column, line] = at
        if (rows[line]?.[column] !== 'R' || done.has(`${at}`)) continue
        done.add(`${at}`)
        tiles.push(at)
        Object.values(SIDES).forEach(([dx, dy]) => open.push([column + dx, line + dy]))
      }
      if (tiles.length > 0) found.push({ number: found.length, tiles })
    }
  })
  hubs.set(head, found)
  return found
}

function middleOf({ tiles }: Hub): Point {
  const sum = tiles.reduce(([a, b], [x, y]) => [a + x, b + y] as Point, [0, 0] as Point)
  return [sum[0] / tiles.length + 0.5, sum[1] / tiles.length + 0.5]
}

function card(unit: Unit, head: Head): Card {
  const fields: [string, string][] = [
    ['owner', `player ${seat(unit)}`],
    ['health', `${unit.hp} of ${unit.max_hp}`],
    ['tile', `${unit.x}, ${unit.y}`],
  ]
  if (unit.mining > 0) fields.push(['mining', `${unit.mining} of ${head.rules?.mining_time ?? '?'} left`])
  if (unit.duplication > 0) {
    fields.push(['making', `a ${unit.child ?? unit.type}, ${unit.duplication} of ${head.rules?.duplication_time ?? '?'} left`])
    if (unit.direction) fields.push(['on the side', unit.direction.toLowerCase()])
  }
  if (unit.stun > 0) fields.push(['stunned', `${unit.stun} left`])
  return { id: `unit ${unit.id}`, title: `${unit.type} ${unit.id}`, seat: seat(unit), at: [unit.x + 0.5, unit.y + 0.5], fields }
}

function hubCard(scene: Scene, hub: Hub): Card {
  const left = scene.stock?.[hub.number]
  const stock = left === undefined ? 'never runs dry' : left === 0 ? 'empty' : `${left} left`
  return {
    id: `hub ${hub.number + 1}`,
    title: `hub ${hub.number + 1}`,
    at: middleOf(hub),
    fields: [['stock', stock], ['tiles', `${hub.tiles.length}`]],
  }
}

function ground(pen: Pen, { scene, head }: Shot<Scene>): void {
  const { ink } = pen
  const [width, height] = [scene.ground[0]?.length ?? 1, scene.ground.length]
  pen.rect(0, 0, width, height, ink.ground)
  scene.ground.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      if (row[x] === 'X') pen.rect(x, y, 1.01, 1.01, ink.wall)
      else if ((x + y) % 2 === 1) pen.rect(x, y, 1, 1, ink.ground2)
    }
  })
  for (const hub of hubsOf(head)) {
    const left = scene.stock?.[hub.number]
    const dry = left === 0
    for (const [x, y] of hub.tiles) {
      pen.rect(x + 0.04, y + 0.04, 0.92, 0.92, dry ? ink.ground2 : mix(ink.ground, ink.gold, 0.45), 0.16)
      pen.frame(x + 0.04, y + 0.04, 0.92, 0.92, dry ? ink.grid : ink.gold, 0.07, 0.16)
    }
    if (left !== undefined) {
      const [x, y] = middleOf(hub)
      pen.text(dry ? '0' : `${left}`, x, y, { size: 0.62, colour: dry ? ink.faint : ink.text, weight: 700 })
    }
  }
}

function sight(pen: Pen, scene: Scene): void {
  for (const unit of scene.units) {
    const reach = scene.vision
    pen.faded(0.06, () => pen.rect(unit.x - reach, unit.y - reach, reach * 2 + 1, reach * 2 + 1, pen.seat(seat(unit)), 0.3))
  }
}

/** The steps of each unit in this half-turn, in order. */
function waysOf(step: Step<Scene> | undefined): Map<number, Point[]> {
  const found = new Map<number, Point[]>()
  for (const event of (step?.events ?? []) as Event[]) {
    if (event.event !== 'moved') continue
    const way = found.get(event.unit) ?? [[event.from.x, event.from.y] as Point]
    way.push([event.to.x, event.to.y])
    found.set(event.unit, way)
  }
  return found
}

function ways(pen: Pen, shot: Shot<Scene>): void {
  for (const [id, way] of waysOf(shot.step)) {
    const unit = [...shot.scene.units, ...shot.before.units].find((unit) => unit.id === id)
    if (!unit) continue
    pen.faded(0.75, () => pen.line(way.map(([x, y]) => [x + 0.5, y + 0.5] as Point), pen.seat(seat(unit)), 0.14, [0.02, 0.26]))
  }
}

function figure(pen: Pen, shot: Shot<Scene>, unit: Unit): void {
  const way = waysOf(shot.step).get(unit.id) ?? [[unit.x, unit.y] as Point]
  const goal = (way.length - 1) * shot.t
  const [a, b] = [way[Math.floor(goal)]!, way[Math.min(Math.floor(goal) + 1, way.length - 1)]!]
  const part = goal - Math.floor(goal)
  const [x, y] = [a[0] + (b[0] - a[0]) * part + 0.5, a[1] + (b[1] - a[1]) * part + 0.5]
  const { ink } = pen
  const colour = pen.seat(seat(unit))
  const edge = ink.dark ? '#ffffff' : '#10141a'
  const born = !shot.before.units.some(({ id }) => id === unit.id)
  pen.faded(born ? 0.3 + 0.7 * shot.t : 1, () => {
    if (shot.selected === `unit ${unit.id}`) pen.disc(x, y, 0.72, undefined, ink.text, pen.px(2))
    if (unit.type === 'worker') {
      pen.disc(x, y, 0.42, colour, edge, 0.06)
      // A pick.
      pen.line([[x - 0.16, y + 0.18], [x + 0.12, y - 0.1]], '#ffffff', 0.08)
      pen.line([[x - 0.06, y - 0.18], [x + 0.14, y - 0.12], [x + 0.2, y + 0.08]], '#ffffff', 0.08)
    } else {
      pen.shape(
        [[x - 0.44, y - 0.42], [x + 0.44, y - 0.42], [x + 0.4, y + 0.1], [x, y + 0.48], [x - 0.4, y + 0.1]],
        colour,
        edge,
        0.06,
      )
      // A sword.
      pen.line([[x, y + 0.24], [x, y - 0.26]], '#ffffff', 0.09)
      pen.line([[x - 0.14, y + 0.06], [x + 0.14, y + 0.06]], '#ffffff', 0.08)
    }
    if (unit.max_hp > 1 && unit.hp < unit.max_hp) {
      pen.bar(x - 0.4, y + 0.46, 0.8, 0.13, unit.hp / unit.max_hp, unit.hp * 3 <= unit.max_hp ? ink.bad : ink.good)
    }
    const rules = shot.head.rules
    if (unit.mining > 0) timer(pen, x, y, unit.mining, rules?.mining_time, ink.gold)
    if (unit.duplication > 0) {
      timer(pen, x, y, unit.duplication, rules?.duplication_time, colour)
      const side = SIDES[unit.direction ?? '']
      if (side) pen.frame(unit.x + side[0] + 0.15, unit.y + side[1] + 0.15, 0.7, 0.7, colour, 0.07, 0.2)
    }
    if (unit.stun > 0) {
      pen.line([[x - 0.34, y - 0.52], [x - 0.12, y - 0.4], [x - 0.02, y - 0.58], [x + 0.14, y - 0.42], [x + 0.34, y - 0.54]], ink.gold, 0.1)
    }
    if (shot.layers.has('ids')) pen.text(`${unit.id}`, x, y - 0.62, { size: 0.42, halo: ink.ground })
  })
}

/** What is left of a timer, as a ring with its number. */
function timer(pen: Pen, x: number, y: number, left: number, whole: number | undefined, colour: string): void {
  pen.arc(x, y, 0.52, 1 - left / Math.max(whole ?? left, left, 1) + 0.02, colour, 0.13)
  // On small cells the ring says enough.
  if (pen.cell < 24) return
  pen.text(`${left}`, x + 0.46, y - 0.44, { size: 0.46, weight: 800, colour, halo: pen.ink.ground })
}

function effects(pen: Pen, shot: Shot<Scene>): void {
  const { t, step } = shot
  for (const event of (step?.events ?? []) as Event[]) {
    if (event.event === 'attacked' || event.event === 'stunned') {
      const place = (id: number) => {
        const unit = shot.scene.units.find((unit) => unit.id === id) ?? shot.before.units.find((unit) => unit.id === id)
        return unit && ([unit.x + 0.5, unit.y + 0.5] as Point)
      }
      const [from, to] = [place(event.unit), place(event.target)]
      if (from && to) pen.line([from, to], event.event === 'stunned' ? pen.ink.gold : pen.ink.bad, 0.14)
    } else if (event.event === 'died') {
      const [x, y] = [event.at.x + 0.5, event.at.y + 0.5]
      for (const [colour, width] of [[pen.ink.ground, 0.3], [pen.ink.bad, 0.15]] as const) {
        pen.line([[x - 0.3, y - 0.3], [x + 0.3, y + 0.3]], colour, width)
        pen.line([[x + 0.3, y - 0.3], [x - 0.3, y + 0.3]], colour, width)
      }
    } else if (event.event === 'mined') {
      const unit = shot.scene.units.find(({ id }) => id === event.unit)
      if (unit) {
        pen.text(`+${event.amount}`, unit.x + 0.5, unit.y + 0.1 - 0.5 * t, { size: 0.66, weight: 800, colour: pen.ink.gold, halo: pen.ink.ground })
      }
    } else if (event.event === 'child_lost') {
      pen.frame(event.at.x + 0.15, event.at.y + 0.15, 0.7, 0.7, pen.ink.bad, 0.08, 0.2)
    }
  }
}
