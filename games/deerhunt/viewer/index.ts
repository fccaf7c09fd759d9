// How Deerhunt is drawn. The scene is that of `src/scene.rs`, the events those of `src/event.rs`.

import { type Card, type Drawing, type GameEvent, type Head, type Moment, type Pen, type Shot, type Step, type Told, mix } from 'agon-viewer'
import type { At, Event, Scene, Unit } from './generated'

type Point = [number, number]

const SIDES: Record<string, Point> = { UP: [0, -1], DOWN: [0, 1], LEFT: [-1, 0], RIGHT: [1, 0] }

/** How many units are in sight: of a player whose resources are hidden there may be more. */
const counted = (count: number, resources: number | null) => (resources !== null ? `${count}` : count === 0 ? '?' : `≥ ${count}`)

export const drawing: Drawing<Scene> = {
  game: 'deerhunt',
  scoreWord: 'resources',
  paysFromScore: true,
  speed: 4,
  layers: [
    { id: 'paths', name: 'Paths', key: 'p', on: true },
    { id: 'ids', name: 'Unit numbers', on: false },
    { id: 'vision', name: 'What each side sees', key: 'v', on: true },
    { id: 'loupe', name: 'Magnifier', key: 'l', on: true },
    { id: 'grid', name: 'Coordinates', key: 'g', on: true },
  ],
  legend: [
    ['disc, square', 'a unit of player 1, of player 2'],
    ['pick', 'a worker: mines'],
    ['helm and sword', 'a melee unit: fights'],
    ['pips below it', 'its health'],
    ['gold ring', 'mining, until it pays'],
    ['dashed ring', 'making another unit, on the dashed side'],
    ['gold square', 'a hub, with what is left in it'],
    ['zigzag', 'stunned'],
    ['full line, dashes', 'as far as player 1 sees, as far as player 2 sees'],
    ['darker floor', 'nobody sees it'],
  ],

  size: (scene) => [scene.ground[0]?.length ?? 1, scene.ground.length],
  frame: ({ ground }) => [0.3, 0.3, (ground[0]?.length ?? 1) - 0.6, ground.length - 0.6],
  things: (scene) => scene.units.map(({ x, y }) => [x, y]),
  scenes: (shot) => happenings(shot),
  score: (scene) => scene.players.map(({ resources }) => resources ?? 0),

  gauges(scene) {
    const most = Math.max(10, ...scene.players.map(({ resources }) => resources ?? 0))
    return scene.players.map(({ resources }, index) => {
      const own = scene.units.filter((unit) => seat(unit) === index + 1)
      const workers = own.filter(({ type }) => type === 'worker').length
      const whole = Math.max(6, scene.units.length)
      return [
        { name: 'resources', value: resources ?? 0, share: (resources ?? 0) / most, text: `${resources ?? '?'}` },
        { name: 'workers', value: workers, share: workers / whole, text: counted(workers, resources) },
        { name: 'melee units', value: own.length - workers, share: (own.length - workers) / whole, text: counted(own.length - workers, resources) },
      ]
    })
  },

  draw(pen, shot) {
    pen.masonry(shot.scene.ground, 'X')
    if (shot.layers.has('vision') && shot.eyes === null) sight(pen, shot.scene)
    drawHubs(pen, shot)
    if (shot.layers.has('paths')) ways(pen, shot)
    // Who was struck down is seen until the blow has landed.
    for (const unit of shot.before.units) {
      if (shot.t < 0.6 && !shot.scene.units.some(({ id }) => id === unit.id)) figure(pen, shot, unit)
    }
    const open = crowds(shot.scene)
    for (const unit of shot.scene.units) figure(pen, shot, unit, open.has(unit.id) ? 0.98 : 1.22)
    effects(pen, shot)
  },

  tell(step, name) {
    const mover = step.answers[0]?.seat
    const unitOf = (id: number) => [...step.before.units, ...step.scene.units].find((unit) => unit.id === id)
    const who = (id: number) => {
      const unit = unitOf(id)
      return unit ? `${name(seat(unit))}’s ${unit.type} ${id}` : `unit ${id}`
    }
    const told: Told[] = []
    const moved = new Set<number>()
    const events = step.events as Event[]
    for (const event of events) {
      const say = (text: string, weight: Told['weight'], kind?: Told['kind'], of = mover, at?: At) =>
        told.push({ text, seat: of, weight, kind, at: at && [at.x, at.y] })
      switch (event.event) {
        case 'moved':
          moved.add(event.unit)
          break
        case 'attacked': {
          // A blow that kills is told with the death.
          const victim = unitOf(event.target)
          if (event.left > 0) say(`${who(event.unit)} hits ${who(event.target)}${side(unitOf(event.unit), victim)}: ${event.left} of ${victim?.max_hp ?? '?'} health left`, 1, 'hit')
          break
        }
        case 'died': {
          const blow = events.find((other) => other.event === 'attacked' && other.target === event.unit && other.left === 0)
          const killer = blow?.event === 'attacked' ? `, struck by ${who(blow.unit)}${side(unitOf(blow.unit), unitOf(event.unit))}` : ''
          say(`${who(event.unit)} falls at (${event.at.x}, ${event.at.y})${killer}`, 2, 'death', mover, event.at)
          break
        }
        case 'duplication_began':
          say(`${who(event.unit)} begins to make a ${event.child}`, 0)
          break
        case 'born':
          say(`${name(event.owner === 'p1' ? 1 : 2)} gets a ${event.kind} at (${event.at.x}, ${event.at.y})`, 1, 'birth', event.owner === 'p1' ? 1 : 2, event.at)
          break
        case 'child_lost':
          say(`No room for ${who(event.parent)}’s new unit`, 1, 'warning', undefined, event.at)
          break
        case 'mining_began':
          say(`${who(event.unit)} begins to mine`, 0)
          break
        case 'mined':
          say(`${name(event.owner === 'p1' ? 1 : 2)} mines ${event.amount} with worker ${event.unit}`, 1, 'gain', event.owner === 'p1' ? 1 : 2)
          break
        case 'hub_saturated':
          say(`hub ${event.hub + 1} has nothing left`, 2, 'warning', undefined)
          break
        case 'stunned':
          say(`${who(event.unit)} stuns ${who(event.target)}`, 1, 'hit')
          break
        case 'list_void':
          say(`the whole list of ${name(event.player === 'p1' ? 1 : 2)} is ignored`, 3, 'warning', event.player === 'p1' ? 1 : 2)
          break
        default:
          say((event as GameEvent).event, 0)
      }
    }
    if (moved.size > 0 && mover) told.push({ text: `${name(mover)} moves ${moved.size} ${moved.size === 1 ? 'unit' : 'units'}`, seat: mover, weight: 0, kind: 'move' })
    return told
  },

  orders(step, answer) {
    let list: unknown
    try {
      list = JSON.parse(answer.text ?? '')
    } catch {
      return []
    }
    if (!Array.isArray(list)) return []
    const events = step.events as Event[]
    return (list as [number, string[]][]).map(([id, words], index) => {
      const own = events.filter((event) => 'unit' in event && event.unit === id)
      const blow = own.find((event) => event.event === 'attacked')
      const effect =
        blow?.event === 'attacked'
          ? `${blow.left > 0 ? 'hit' : 'felled'} ${blow.target}`
          : own.some(({ event }) => event === 'moved')
            ? 'moved'
            : own.some(({ event }) => event === 'mining_began')
              ? 'mines'
              : own.some(({ event }) => event === 'duplication_began')
                ? 'makes another'
                : own.some(({ event }) => event === 'stunned')
                  ? 'stunned'
                  : ''
      return { index, who: `unit ${id}`, name: `${id}`, text: Array.isArray(words) ? words.join(' ') : String(words), effect }
    })
  },

  life(step, id) {
    const number = Number(id.split(' ')[1])
    if (!id.startsWith('unit ')) return []
    return (step.events as Event[]).flatMap((event): Moment[] => {
      if (event.event === 'moved' && event.unit === number) return [{ text: `to (${event.to.x}, ${event.to.y})`, kind: 'move' }]
      if (event.event === 'born' && event.unit === number) return [{ text: `born beside ${event.parent} at (${event.at.x}, ${event.at.y})`, kind: 'birth' }]
      if (event.event === 'died' && event.unit === number) return [{ text: `falls at (${event.at.x}, ${event.at.y})`, kind: 'death' }]
      if (event.event === 'attacked' && event.unit === number) return [{ text: event.left > 0 ? `hits ${event.target}` : `fells ${event.target}`, kind: 'hit' }]
      if (event.event === 'attacked' && event.target === number && event.left > 0) return [{ text: `hit by ${event.unit}: ${event.left} health left`, kind: 'warning' }]
      if (event.event === 'mined' && event.unit === number) return [{ text: `mines ${event.amount}`, kind: 'gain' }]
      if (event.event === 'mining_began' && event.unit === number) return [{ text: 'begins to mine' }]
      if (event.event === 'duplication_began' && event.unit === number) return [{ text: `begins to make a ${event.child}` }]
      if (event.event === 'stunned' && event.target === number) return [{ text: `stunned by ${event.unit}`, kind: 'warning' }]
      return []
    })
  },

  reach(scene, id, head) {
    const unit = scene.units.find((unit) => `unit ${unit.id}` === id)
    if (!unit) return undefined
    const busy = unit.mining > 0 || unit.duplication > 0 || unit.stun > 0
    return { steps: busy ? [] : [...stepsOf(scene, unit, head.rules?.max_steps ?? 1)].map(pointOf), hits: strikes(scene, unit, head) }
  },

  threats(scene, x, y, head) {
    return scene.units
      .filter((unit) => strikes(scene, unit, head).some(([a, b]) => a === x && b === y))
      .map((unit) => ({ seat: seat(unit), id: `unit ${unit.id}`, name: `${unit.type} ${unit.id}` }))
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

/** From where a blow came, in words. */
function side(from: Unit | undefined, to: Unit | undefined): string {
  if (!from || !to) return ''
  const [dx, dy] = [from.x - to.x, from.y - to.y]
  if (Math.abs(dx) + Math.abs(dy) > 1) return ''
  return dy < 0 ? ' from above' : dy > 0 ? ' from below' : dx < 0 ? ' from the left' : ' from the right'
}

const pointOf = (key: string): Point => key.split(',').map(Number) as Point

/** The cells a unit can go to in so many steps, past walls and units (DH-WALK). */
function stepsOf(scene: Scene, unit: Unit, most: number): Set<string> {
  const taken = new Set(scene.units.map(({ x, y }) => `${x},${y}`))
  const found = new Set<string>()
  let front: Point[] = [[unit.x, unit.y]]
  for (let step = 0; step < most; step++) {
    const next: Point[] = []
    for (const [x, y] of front) {
      for (const [dx, dy] of Object.values(SIDES)) {
        const key = `${x + dx},${y + dy}`
        if ((scene.ground[y + dy]?.[x + dx] ?? 'X') === 'X' || taken.has(key) || found.has(key)) continue
        found.add(key)
        next.push([x + dx, y + dy])
      }
    }
    front = next
  }
  return found
}

/** The cells a unit can hit from where it stands: straight on, until a wall or a unit (DH-ATTACK-4). */
function strikes(scene: Scene, unit: Unit, head: Head): Point[] {
  const { attackers = 'melee', attack_range: range = 1 } = head.rules ?? {}
  if ((attackers === 'melee' && unit.type !== 'melee') || unit.stun > 0 || unit.mining > 0 || unit.duplication > 0) return []
  return Object.values(SIDES).flatMap(([dx, dy]) => {
    const cells: Point[] = []
    for (let step = 1; step <= range; step++) {
      const [x, y] = [unit.x + dx * step, unit.y + dy * step]
      if ((scene.ground[y]?.[x] ?? 'X') === 'X') break
      cells.push([x, y])
      if (scene.units.some((other) => other.x === x && other.y === y)) break
    }
    return cells
  })
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
  const rows = (head.scene as Scene).ground
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

/** What is left in each hub, on the hub itself or above who mines there. */
function drawHubs(pen: Pen, { scene, head }: Shot<Scene>): void {
  const { ink } = pen
  for (const hub of hubsOf(head)) {
    const left = scene.stock?.[hub.number]
    const dry = left === 0
    for (const [x, y] of hub.tiles) {
      pen.rect(x + 0.1, y + 0.1, 0.8, 0.8, dry ? ink.ground2 : mix(ink.ground, ink.gold, 0.5), 0.16)
      pen.frame(x + 0.1, y + 0.1, 0.8, 0.8, dry ? ink.grid : ink.gold, 0.09, 0.16)
    }
    if (left === undefined) continue
    const top = Math.min(...hub.tiles.map(([, y]) => y))
    const size = Math.max(0.6, pen.px(11))
    pen.text(dry ? 'empty' : `${left} left`, middleOf(hub)[0], top - 0.28 - size / 2, { size, colour: dry ? ink.faint : ink.text, halo: ink.ground })
  }
}

const seen = new WeakMap<Scene, boolean[][]>()

/** What each side sees, cell by cell. */
function sightOf(scene: Scene): boolean[][] {
  let known = seen.get(scene)
  if (known) return known
  const [width, height] = [scene.ground[0]?.length ?? 0, scene.ground.length]
  known = [1, 2].map((side) => {
    const cells = Array<boolean>(width * height).fill(false)
    for (const unit of scene.units) {
      if (seat(unit) !== side) continue
      for (let y = Math.max(0, unit.y - scene.vision); y <= Math.min(height - 1, unit.y + scene.vision); y++) {
        for (let x = Math.max(0, unit.x - scene.vision); x <= Math.min(width - 1, unit.x + scene.vision); x++) cells[y * width + x] = true
      }
    }
    return cells
  })
  seen.set(scene, known)
  return known
}

/** How far each side sees, as a line with dashes of its own; what nobody sees is darker. */
function sight(pen: Pen, scene: Scene): void {
  const width = scene.ground[0]?.length ?? 0
  const sides = sightOf(scene)
  scene.ground.forEach((row, y) => {
    for (let x = 0; x < width; x++) {
      if (row[x] !== 'X' && !sides.some((side) => side[y * width + x])) pen.rect(x, y, 1.01, 1.01, pen.ink.dark ? '#00000066' : pen.ink.text + '12')
    }
  })
  sides.forEach((cells, at) => {
    // The outer wall is not worth a line.
    const sees = (x: number, y: number) => x > 0 && x < width - 1 && y > 0 && y < scene.ground.length - 1 && cells[y * width + x]!
    const line = new Path2D()
    for (let y = 0; y <= scene.ground.length; y++) {
      for (let x = 0; x <= width; x++) {
        if (sees(x, y) !== sees(x, y - 1)) (line.moveTo(x, y), line.lineTo(x + 1, y))
        if (sees(x, y) !== sees(x - 1, y)) (line.moveTo(x, y), line.lineTo(x, y + 1))
      }
    }
    const { ctx } = pen
    ctx.save()
    ctx.strokeStyle = pen.seat(at + 1)
    ctx.globalAlpha = 0.7
    ctx.lineWidth = pen.px(1.2)
    if (at === 1) ctx.setLineDash([pen.px(4), pen.px(3)])
    ctx.stroke(line)
    ctx.restore()
  })
}

/** The units that have somebody beside them: they stay within their cell. */
function crowds({ units }: Scene): Set<number> {
  const close = (a: Unit, b: Unit) => a.id !== b.id && Math.abs(a.x - b.x) <= 1 && Math.abs(a.y - b.y) <= 1
  return new Set(units.filter((one) => units.some((other) => close(one, other))).map(({ id }) => id))
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
    const points = way.map(([x, y]) => [x + 0.5, y + 0.5] as Point)
    const colour = pen.seat(seat(unit))
    pen.faded(0.5, () => pen.line(points, colour, 0.3))
    const [x, y] = points[0]!
    pen.disc(x, y, 0.2, mix(pen.ink.ground, colour, 0.5), colour, pen.px(1.5))
  }
}

/** The cells where blood was shed in this half-turn, for the loupe. */
function happenings(shot: Shot<Scene>): Point[] {
  return ((shot.step?.events ?? []) as Event[]).flatMap((event): Point[] => {
    if (event.event === 'died') return [[event.at.x, event.at.y]]
    if (event.event !== 'attacked' && event.event !== 'stunned') return []
    return [event.unit, event.target].flatMap((id) => {
      const unit = [...shot.scene.units, ...shot.before.units].find((unit) => unit.id === id)
      return unit ? [[unit.x, unit.y] as Point] : []
    })
  })
}

const PICK = 'M3.500 18.500L5.500 20.500 15.500 10.500 13.500 8.500zM7 4.500C14 1.500 22.500 10 19.500 17C17.500 11.500 12.500 6.500 7 4.500z'
const HELM = 'M2 20.500v-9.500a6 6 0 0 1 12 0v9.500H9.800v-5h1.700v-2.800h-7v2.800h1.700v5zM18.500 1.500L20.300 5v9H23v2.600h-2.700v4.900h-3.600v-4.900H14.800V14h1.900V5z'

function figure(pen: Pen, shot: Shot<Scene>, unit: Unit, size = 1): void {
  const way = waysOf(shot.step).get(unit.id) ?? [[unit.x, unit.y] as Point]
  const goal = (way.length - 1) * shot.t
  const [a, b] = [way[Math.floor(goal)]!, way[Math.min(Math.floor(goal) + 1, way.length - 1)]!]
  const part = goal - Math.floor(goal)
  const [x, y] = [a[0] + (b[0] - a[0]) * part + 0.5, a[1] + (b[1] - a[1]) * part + 0.5]
  const { ink } = pen
  const of = seat(unit)
  const born = !shot.before.units.some(({ id }) => id === unit.id)
  const rules = shot.head.rules
  pen.faded(born ? 0.3 + 0.7 * shot.t : 1, () => {
    if (unit.duplication > 0) {
      const side = SIDES[unit.direction ?? '']
      pen.ctx.save()
      pen.ctx.setLineDash([pen.px(3), pen.px(2.5)])
      if (side) pen.frame(unit.x + side[0] + 0.15, unit.y + side[1] + 0.15, 0.7, 0.7, pen.seat(of), pen.px(1.5), 0.2)
      pen.ctx.restore()
      timer(pen, x, y, size * 0.64, unit.duplication, rules?.duplication_time, pen.seat(of))
    }
    pen.plate(of, x, y, size * (of === 2 ? 0.92 : 1), unit.type === 'worker' ? PICK : HELM)
    if (unit.mining > 0) timer(pen, x, y, size * 0.64, unit.mining, rules?.mining_time, ink.gold)
    if (unit.max_hp > 1) pen.pips(x, y + size * 0.5, 0.2, unit.hp, unit.max_hp)
    if (unit.stun > 0) {
      pen.line([[x - 0.4, y - 0.62], [x - 0.14, y - 0.44], [x - 0.02, y - 0.7], [x + 0.16, y - 0.46], [x + 0.4, y - 0.64]], ink.text, 0.13)
    }
    if (shot.selected === `unit ${unit.id}`) pen.corners(x, y, 1.5)
    if (shot.layers.has('ids')) pen.text(`${unit.id}`, x, y - 0.62, { size: Math.max(0.42, pen.px(10)), halo: ink.ground })
  })
}

/** What is left of a timer, as a ring. */
function timer(pen: Pen, x: number, y: number, r: number, left: number, whole: number | undefined, colour: string): void {
  pen.disc(x, y, r, undefined, pen.ink.grid, 0.07)
  pen.arc(x, y, r, 1 - left / Math.max(whole ?? left, left, 1) + 0.02, colour, 0.14)
}

function effects(pen: Pen, shot: Shot<Scene>): void {
  const { t, step } = shot
  for (const event of (step?.events ?? []) as Event[]) {
    if (event.event === 'died') {
      const unit = shot.before.units.find(({ id }) => id === event.unit)
      if (t > 0.6) pen.death(unit && seat(unit), event.at.x + 0.5, event.at.y + 0.5, 0.95)
    } else if (event.event === 'mined') {
      const unit = shot.scene.units.find(({ id }) => id === event.unit)
      if (unit) {
        pen.text(`+${event.amount}`, unit.x + 1.3, unit.y + 0.5 - 0.3 * t, { size: Math.max(0.66, pen.px(12)), weight: 700, colour: pen.ink.gold, halo: pen.ink.ground })
      }
    } else if (event.event === 'child_lost') {
      pen.frame(event.at.x + 0.15, event.at.y + 0.15, 0.7, 0.7, pen.ink.bad, 0.08, 0.2)
    }
  }
  for (const event of (step?.events ?? []) as Event[]) {
    if (event.event !== 'attacked' && event.event !== 'stunned') continue
    const place = (id: number) => {
      const unit = shot.scene.units.find((unit) => unit.id === id) ?? shot.before.units.find((unit) => unit.id === id)
      return unit && ([unit.x + 0.5, unit.y + 0.5] as Point)
    }
    const [from, to] = [place(event.unit), place(event.target)]
    if (from && to) pen.blow(from, to, t / 0.6, event.event === 'stunned' ? pen.ink.gold : pen.ink.text)
  }
}
