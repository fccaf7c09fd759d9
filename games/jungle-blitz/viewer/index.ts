// How Jungle Blitz is drawn. The scene is that of `src/scene.rs`, the events those of `src/event.rs`.
// A step is a tick; its pictures are the turns of the teams, in the tick's play order.

import { type Card, type Drawing, type GameEvent, type Moment, type Pen, type Shot, type Step, type Told, actionsOf, mix } from 'agon-viewer'
import type { Diamond, Event, Scene, Unit } from './generated'

type Point = [number, number]

/** The sign before an event. */
const KINDS: Partial<Record<Event['event'], Told['kind']>> = {
  killed: 'death', vined: 'hit', pickedUp: 'gain', dropped: 'gain', summonDone: 'gain', spawned: 'birth', timedOut: 'warning', gone: 'warning', handedOver: 'move',
}
const ANIMALS = ['crocodile', 'eagle', 'jaguar', 'snake']

export const drawing: Drawing<Scene> = {
  game: 'jungle-blitz',
  scoreWord: 'points',
  speed: 4,
  partWord: 'turn of a team',
  layers: [
    { id: 'paths', name: 'Planned paths', key: 'p', on: true },
    { id: 'ids', name: 'Unit numbers', on: false },
    { id: 'grid', name: 'Coordinates', key: 'g', on: true },
  ],
  legend: [
    ['crocodile, eagle, jaguar, snake', 'the units of a team in order, on the plate of their team'],
    ['diamond with a number', 'its level; fuller with each level'],
    ['number below it', 'the points it holds'],
    ['ring', 'summoning, until the next level'],
    ['rope', 'a vine'],
    ['cross in a dashed ring', 'died here'],
    ['waves, rock', 'water and rock: nobody walks there'],
    ['hatched', 'where units come from'],
  ],

  size: (scene) => [scene.map[0]?.length ?? 1, scene.map.length],
  things: (scene) => [...scene.units.flatMap(({ at }) => (at ? [at] : [])), ...scene.diamonds.flatMap(({ at, owner }) => (at && owner === null ? [at] : []))],
  score: (scene) => scene.teams.map(({ score }) => score),

  gauges(scene) {
    const most = Math.max(1, ...scene.teams.map(({ score, pending }) => score + pending))
    return scene.teams.map(({ score, pending, deaths, gone }) => [
      { name: 'points', value: score, share: score / most, text: `${score}` },
      { name: 'pending', value: pending, share: pending / most, text: `${pending}` },
      { name: gone ? 'gone, deaths' : 'deaths', value: deaths, share: Math.min(deaths / 20, 1), text: `${deaths}` },
    ])
  },

  parts: (_, head) => Math.max(1, (head.scene as Scene).playOrder.length),
  partScene: (step, part) => (part >= step.before.playOrder.length - 1 ? step.scene : after(step, part)),
  partName: (step, part) => (step.before.playOrder.length > 1 ? `team ${step.before.playOrder[part]}` : ''),

  draw(pen, shot) {
    terrain(pen, shot.scene)
    if (shot.layers.has('paths')) paths(pen, shot.scene)
    skulls(pen, shot.scene)
    for (const diamond of shot.scene.diamonds) {
      if (diamond.owner === null && diamond.at) gem(pen, diamond.at[0] + 0.5, diamond.at[1] + 0.5, 0.34, diamond)
    }
    const events = eventsOf(shot)
    for (const event of events) if (event.event === 'vined') vine(pen, shot, event)
    for (const unit of shot.scene.units) figure(pen, shot, unit, events)
    effects(pen, shot, events)
  },

  tell(step, name) {
    const unit = (id: number) => step.before.units.find((unit) => unit.id === id)
    const team = (id: number) => unit(id)?.team ?? 1
    const who = (id: number) => `${name(team(id))}’s ${animal(unit(id))} ${id}`
    const told: Told[] = []
    let moves = 0
    for (const event of step.events as Event[]) {
      const say = (text: string, weight: Told['weight'], of?: number, at?: { x: number; y: number } | null) =>
        told.push({ text, weight, kind: KINDS[event.event], seat: of ?? ('unit' in event ? team(event.unit) : event.seat), at: at ? [at.x, at.y] : undefined })
      switch (event.event) {
        case 'moved':
          moves++
          break
        case 'spawned':
          say(`${who(event.unit)} comes onto the map`, 0, undefined, event.at)
          break
        case 'pickedUp':
          say(`${who(event.unit)} picks up a diamond${event.points > 0 ? ` worth ${event.points}` : ''}`, 1)
          break
        case 'summonBegun':
          say(`${who(event.unit)} begins to summon level ${event.level + 1}`, 0)
          break
        case 'summonDone':
          say(`${who(event.unit)} has summoned level ${event.level}`, 1)
          break
        case 'handedOver':
          say(`${who(event.unit)} hands its diamond to ${who(event.to)}`, 1)
          break
        case 'dropped':
          say(`${who(event.unit)} drops a diamond for ${event.points}`, event.points >= 50 ? 3 : event.points >= 10 ? 2 : 1, undefined, event.at)
          break
        case 'killed':
          say(`${who(event.unit)} kills ${who(event.victim)}${event.diamond === null ? '' : ' and takes its diamond'}`, event.diamond === null ? 2 : 3, undefined, event.at)
          break
        case 'vined':
          say(`${who(event.unit)} pulls ${who(event.victim)}${event.lost === null ? '' : ', who loses its diamond'}`, event.lost === null ? 1 : 2, undefined, event.to)
          break
        case 'timedOut':
          say(`${name(event.seat)} does not answer in time`, 2, event.seat)
          break
        case 'gone':
          say(`${name(event.seat)} is gone`, 3, event.seat)
          break
        default:
          say((event as GameEvent).event, 0)
      }
    }
    if (moves > 0) told.push({ text: `${moves} ${moves === 1 ? 'step' : 'steps'}`, weight: 0, kind: 'move' })
    return told
  },

  chart(scene) {
    const most = Math.max(1, ...scene.diamonds.map(({ points }) => points))
    const bars = scene.diamonds.map(({ level, points, owner }, index) => {
      const unit = scene.units.find(({ id }) => id === owner)
      return { id: `diamond ${index}`, name: `${index}, level ${level}`, seat: unit?.team, share: points / most, text: `${points}${unit ? `, held by ${animal(unit)} ${owner}` : ''}`, points }
    })
    return { title: 'Diamonds and the points they hold', bars: bars.sort((a, b) => b.points - a.points) }
  },

  orders(step, answer) {
    return actionsOf<{ action?: string; unitId?: string; target?: { x: number; y: number } }>(answer).map(({ action = '', unitId = '', target }, index) => {
      const id = Number(unitId)
      const own = (step.events as Event[]).filter((event) => 'unit' in event && event.unit === id)
      const effect = own.map((event) => EFFECTS[event.event]?.(event) ?? '').find((text) => text !== '') ?? ''
      const unit = step.before.units.find((unit) => unit.id === id)
      return { index, who: `unit ${unitId}`, name: `${animal(unit)} ${unitId}`, text: target ? `${action} (${target.x}, ${target.y})` : action, effect }
    })
  },

  life(step, id) {
    const number = Number(id.split(' ')[1])
    if (!id.startsWith('unit ')) return []
    return (step.events as Event[]).flatMap((event): Moment[] => {
      if ('victim' in event && event.victim === number) {
        return [{ text: event.event === 'killed' ? `killed by ${event.unit}` : `pulled by ${event.unit}${event.lost === null ? '' : ', loses its diamond'}`, kind: event.event === 'killed' ? 'death' : 'warning' }]
      }
      if (event.event === 'handedOver' && event.to === number) return [{ text: `gets a diamond from ${event.unit}`, kind: 'gain' }]
      if (!('unit' in event) || event.unit !== number) return []
      const text = event.event === 'moved' ? `to (${event.to?.x}, ${event.to?.y})` : (EFFECTS[event.event]?.(event) ?? '')
      return text ? [{ text, kind: event.event === 'moved' ? 'move' : KINDS[event.event] }] : []
    })
  },

  reach(scene, id) {
    const unit = scene.units.find((unit) => `unit ${unit.id}` === id)
    if (!unit?.at) return undefined
    const beside = beside4(unit.at)
    const open = ([x, y]: Point) => scene.map[y]?.[x] !== undefined && scene.map[y]![x] !== '#'
    const foe = ([x, y]: Point) => scene.units.some(({ at, team }) => team !== unit.team && at?.[0] === x && at[1] === y)
    const held = ([x, y]: Point) => scene.units.some(({ at }) => at?.[0] === x && at[1] === y)
    return { steps: beside.filter((cell) => open(cell) && !held(cell)), hits: beside.filter(foe) }
  },

  threats(scene, x, y) {
    return scene.units
      .filter(({ at }) => at && beside4(at).some(([a, b]) => a === x && b === y))
      .map((unit) => ({ seat: unit.team, id: `unit ${unit.id}`, name: `${animal(unit)} ${unit.id}` }))
  },

  inspect(scene, x, y) {
    const [column, row] = [Math.floor(x), Math.floor(y)]
    const unit = scene.units.find(({ at }) => at?.[0] === column && at[1] === row)
    if (unit) return unitCard(scene, unit)
    const index = scene.diamonds.findIndex(({ at, owner }) => owner === null && at?.[0] === column && at[1] === row)
    return index < 0 ? undefined : diamondCard(scene, index)
  },

  find(scene, id) {
    const [kind, number] = id.split(' ')
    const unit = scene.units.find((unit) => kind === 'unit' && unit.id === Number(number))
    if (unit) return unitCard(scene, unit)
    return kind === 'diamond' && scene.diamonds[Number(number)] ? diamondCard(scene, Number(number)) : undefined
  },
}

const beside4 = ([x, y]: Point): Point[] => [[x, y - 1], [x + 1, y], [x, y + 1], [x - 1, y]]

/** What came of an order, in a few words. */
const EFFECTS: Partial<Record<Event['event'], (event: GameEvent) => string>> = {
  moved: ({ to }) => (to ? `at ${to.x}, ${to.y}` : 'moved'),
  spawned: () => 'on the map',
  summonBegun: ({ level }) => `summons level ${level + 1}`,
  summonDone: ({ level }) => `level ${level}`,
  handedOver: ({ to }) => `handed to ${to}`,
  dropped: ({ points }) => `+${points} points`,
  killed: ({ victim }) => `killed ${victim}`,
  vined: ({ victim }) => `pulled ${victim}`,
  pickedUp: () => 'took a diamond',
}

function animal(unit: Unit | undefined): string {
  return ANIMALS[((unit?.id ?? 1) - 1) % 4]!
}

/** The turns of the teams: the events of each, in play order. They come team by team. */
function turnsOf(step: Step<Scene>): GameEvent[][] {
  const { playOrder: order, units } = step.before
  const turns: GameEvent[][] = order.map(() => [])
  let now = 0
  let vined: number | undefined
  for (const event of step.events as Event[]) {
    const team = 'unit' in event ? units.find(({ id }) => id === event.unit)?.team : event.seat
    const place = order.indexOf(team ?? 0)
    // What a vined unit lands on belongs to the turn of the team that pulled it.
    const follows = event.event === 'pickedUp' && event.unit === vined
    if (!follows && place > now) now = place
    vined = event.event === 'vined' ? event.victim : undefined
    turns[now]?.push(event)
  }
  return turns
}

const kept = new WeakMap<Step<Scene>, Scene[]>()

/** The scene after the turn of team `part`, from the events alone; points grow only at the end of a tick. */
function after(step: Step<Scene>, part: number): Scene {
  let scenes = kept.get(step)
  if (!scenes) {
    scenes = []
    let scene = step.before
    for (const turn of turnsOf(step)) scenes.push((scene = turn.reduce(happen, scene)))
    kept.set(step, scenes)
  }
  return scenes[part] ?? step.scene
}

function happen(scene: Scene, event: GameEvent): Scene {
  const point = (at: { x: number; y: number } | null): Point | null => (at ? [at.x, at.y] : null)
  const units = (id: number, change: Partial<Unit>) => scene.units.map((unit) => (unit.id === id ? { ...unit, ...change } : unit))
  const diamonds = (index: number | null, change: Partial<Diamond>) =>
    scene.diamonds.map((diamond, at) => (at === index ? { ...diamond, ...change } : diamond))
  const held = (id: number) => scene.units.find((unit) => unit.id === id)?.diamond ?? null
  switch (event.event) {
    case 'spawned':
      return { ...scene, units: units(event.unit, { at: point(event.at), diedAt: null }) }
    case 'moved':
      return { ...scene, units: units(event.unit, { at: point(event.to) }), diamonds: diamonds(held(event.unit), { at: point(event.to) ?? [0, 0] }) }
    case 'pickedUp':
      return { ...scene, units: units(event.unit, { diamond: event.diamond }), diamonds: diamonds(event.diamond, { owner: event.unit }) }
    case 'summonBegun':
      return { ...scene, units: units(event.unit, { summoning: 1 }) }
    case 'summonDone':
      return { ...scene, units: units(event.unit, { summoning: 0 }), diamonds: diamonds(held(event.unit), { level: event.level }) }
    case 'handedOver': {
      const without = { ...scene, units: units(event.unit, { diamond: null }) }
      return {
        ...without,
        units: without.units.map((unit) => (unit.id === event.to ? { ...unit, diamond: event.diamond } : unit)),
        diamonds: diamonds(event.diamond, { owner: event.to }),
      }
    }
    case 'dropped': {
      const team = scene.units.find(({ id }) => id === event.unit)?.team
      return {
        ...scene,
        units: units(event.unit, { diamond: null }),
        diamonds: diamonds(event.diamond, { owner: null, at: point(event.at) ?? [0, 0], points: 0, level: 1 }),
        teams: scene.teams.map((one, at) => (at + 1 === team ? { ...one, score: one.score + event.points } : one)),
      }
    }
    case 'killed': {
      const fallen = units(event.victim, { at: null, diamond: null, summoning: 0, path: [], diedAt: point(event.at) })
      return {
        ...scene,
        units: event.diamond === null ? fallen : fallen.map((unit) => (unit.id === event.unit ? { ...unit, diamond: event.diamond } : unit)),
        diamonds: diamonds(event.diamond, { owner: event.unit }),
      }
    }
    case 'vined':
      return {
        ...scene,
        units: units(event.victim, { at: point(event.to), path: [], ...(event.lost === null ? {} : { diamond: null, summoning: 0 }) }),
        diamonds: event.lost === null ? diamonds(held(event.victim), { at: point(event.to) ?? [0, 0] }) : diamonds(event.lost, { owner: null }),
      }
    default:
      return scene
  }
}

/** What happens in the picture shown. */
function eventsOf({ step, part }: Shot<Scene>): GameEvent[] {
  return step ? (turnsOf(step)[part] ?? []) : []
}

function unitCard(scene: Scene, unit: Unit): Card {
  const stone = unit.diamond === null ? undefined : scene.diamonds[unit.diamond]
  const fields: [string, string][] = [
    ['team', `${unit.team}`],
    ['tile', unit.at ? `${unit.at[0]}, ${unit.at[1]}` : 'not on the map'],
    ['holds', stone ? `diamond ${unit.diamond}, level ${stone.level}, ${stone.points} points` : 'nothing'],
  ]
  if (unit.summoning > 0) fields.push(['summoning', `${unit.summoning} ticks so far`])
  const goal = unit.path.at(-1)
  if (goal) fields.push(['walks to', `${goal[0]}, ${goal[1]}`])
  return {
    id: `unit ${unit.id}`,
    title: `${animal(unit)} ${unit.id}`,
    seat: unit.team,
    at: unit.at ? [unit.at[0] + 0.5, unit.at[1] + 0.5] : [-9, -9],
    fields,
  }
}

function diamondCard(scene: Scene, index: number): Card {
  const { at, level, points, owner } = scene.diamonds[index]!
  const [x, y] = at ?? [-9, -9]
  return {
    id: `diamond ${index}`,
    title: `diamond ${index}`,
    seat: owner === null ? undefined : scene.units.find(({ id }) => id === owner)?.team,
    at: [x + 0.5, y + 0.5],
    fields: [['level', `${level}`], ['points', `${points}`], ['held by', owner === null ? 'nobody' : `unit ${owner}`], ['tile', `${x}, ${y}`]],
  }
}

function terrain(pen: Pen, scene: Scene): void {
  const { ink } = pen
  scene.map.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      const tile = row[x]
      pen.rect(x, y, 1.01, 1.01, (x + y) % 2 === 1 ? ink.ground2 : ink.ground)
      if (tile === '#') {
        pen.shape([[x + 0.08, y + 0.92], [x + 0.12, y + 0.4], [x + 0.42, y + 0.1], [x + 0.78, y + 0.2], [x + 0.94, y + 0.6], [x + 0.9, y + 0.92]], ink.wall, ink.wallEdge, pen.px(1))
      } else if (tile === '~') {
        pen.rect(x, y, 1.01, 1.01, mix(ink.ground, ink.water, 0.6))
        for (const [left, top] of [[0.15, 0.36], [0.35, 0.7]] as const) {
          pen.line([[x + left, y + top], [x + left + 0.15, y + top - 0.08], [x + left + 0.3, y + top], [x + left + 0.45, y + top - 0.08]], ink.water, 0.06)
        }
      } else if (tile === 'S') {
        for (const shift of [0.3, 0.65]) pen.line([[x + shift, y + 0.06], [x + 0.06, y + shift]], ink.grid, 0.05)
        for (const shift of [0, 0.35, 0.7]) pen.line([[x + 0.94, y + 0.06 + shift], [x + 0.06 + shift, y + 0.94]], ink.grid, 0.05)
      }
    }
  })
  pen.frame(0, 0, scene.map[0]?.length ?? 0, scene.map.length, ink.wallEdge, pen.px(1))
}

function paths(pen: Pen, scene: Scene): void {
  for (const { team, at, path } of scene.units) {
    if (!at || path.length === 0) continue
    const colour = pen.seat(team)
    const points = [at, ...path].map(([x, y]) => [x + 0.5, y + 0.5] as Point)
    pen.faded(0.6, () => {
      pen.line(points, colour, 0.07, [0.02, 0.18])
      const [x, y] = points[points.length - 1]!
      pen.disc(x, y, 0.13, undefined, colour, 0.06)
    })
  }
}

function skulls(pen: Pen, scene: Scene): void {
  for (const { at, diedAt, team } of scene.units) {
    if (!at && diedAt) pen.faded(0.6, () => pen.death(team, diedAt[0] + 0.5, diedAt[1] + 0.5, 0.56))
  }
}

/** A diamond: how full it is and its number are its level; its points stand below where there is room. */
function gem(pen: Pen, x: number, y: number, r: number, { level, points }: Diamond): void {
  const { ink, ctx } = pen
  const outline: Point[] = [[x - r * 0.6, y - r * 0.75], [x + r * 0.6, y - r * 0.75], [x + r, y - r * 0.2], [x, y + r], [x - r, y - r * 0.2]]
  pen.shape(outline, ink.raised, ink.ground, pen.px(4))
  ctx.save()
  ctx.beginPath()
  outline.forEach(([a, b], at) => (at === 0 ? ctx.moveTo(a, b) : ctx.lineTo(a, b)))
  ctx.closePath()
  ctx.clip()
  const full = Math.min(level, 5) / 5
  pen.rect(x - r, y + r - 1.75 * r * full, 2 * r, 1.75 * r * full, mix(ink.raised, ink.live, 0.45))
  ctx.restore()
  pen.shape(outline, undefined, ink.live, Math.max(0.05, pen.px(1.5)))
  if (pen.cell * r > 7) pen.text(`${level}`, x, y - r * 0.08, { size: r * 0.95, weight: 700 })
  if (points > 0 && pen.cell > 44) pen.text(`${points}`, x, y + r + pen.px(5), { size: pen.px(11), weight: 600, halo: ink.ground })
}

function vine(pen: Pen, shot: Shot<Scene>, event: GameEvent): void {
  const viner = shot.before.units.find(({ id }) => id === event.unit)
  if (!viner?.at || !event.from) return
  const from: Point = [viner.at[0] + 0.5, viner.at[1] + 0.5]
  const far: Point = [event.from.x + 0.5, event.from.y + 0.5]
  const near: Point = event.to ? [event.to.x + 0.5, event.to.y + 0.5] : far
  const to: Point = [far[0] + (near[0] - far[0]) * shot.t, far[1] + (near[1] - far[1]) * shot.t]
  const waves = 14
  const rope = Array.from({ length: waves + 1 }, (_, at): Point => {
    const share = at / waves
    const swing = Math.sin(share * Math.PI * 5) * 0.07
    const across = far[0] === from[0] ? [swing, 0] : [0, swing]
    return [from[0] + (to[0] - from[0]) * share + across[0]!, from[1] + (to[1] - from[1]) * share + across[1]!]
  })
  pen.line(rope, pen.ink.good, 0.15)
  pen.line(rope, pen.seat(viner.team), 0.07)
}

function figure(pen: Pen, shot: Shot<Scene>, unit: Unit, events: GameEvent[]): void {
  const before = shot.before.units.find(({ id }) => id === unit.id)
  if (!unit.at) return
  const from = before?.at ?? unit.at
  const t = shot.t
  const [x, y] = [from[0] + (unit.at[0] - from[0]) * t + 0.5, from[1] + (unit.at[1] - from[1]) * t + 0.5]
  const { ink } = pen
  const stone = unit.diamond === null ? undefined : shot.scene.diamonds[unit.diamond]
  const spawned = events.some(({ event, unit: id }) => event === 'spawned' && id === unit.id)
  pen.faded(spawned ? 0.2 + 0.8 * t : 1, () => {
    if (stone && unit.summoning > 0) {
      pen.disc(x, y, 0.47, undefined, ink.grid, 0.05)
      pen.arc(x, y, 0.47, unit.summoning / (stone.level + 1), ink.live, 0.09)
    }
    pen.plate(unit.team, x, y, 0.8, BEASTS[(unit.id - 1) % 4])
    if (stone) gem(pen, x + 0.3, y - 0.28, 0.2, stone)
    const chosen = shot.selected === `unit ${unit.id}`
    if (chosen) pen.corners(x, y, 1.06)
    if (chosen || shot.layers.has('ids')) pen.text(`${unit.id}`, x - 0.36, y - 0.34, { size: Math.max(0.22, pen.px(11)), weight: 700, halo: ink.ground })
  })
}

/** Crocodile, eagle, jaguar, snake: silhouettes. */
const BEASTS = [
  'M1 14c0-3.500 3-5.500 6.500-5.500L9 6l3 2.500L23 11v2.500l-1.300 1.300-1.300-1.600-1.300 1.900-1.300-1.900-1.300 1.900-1.300-1.900-1.300 1.900-1-1.200L12 18H6c-3 0-5-1.500-5-4z',
  'M12 4l1.800 3.500L23 4.500c0 4-2 7.500-6 9l-2.500 1 1.500 6-4-2.200-4 2.200 1.500-6-2.500-1c-4-1.500-6-5-6-9l9.200 3z',
  'M3.500 2l5 3h7l5-3v10c0 6-4 10-8.500 10S3.500 18 3.500 12zM8.500 10.300a1.700 1.700 0 1 0 0 3.400 1.700 1.700 0 0 0 0-3.400zM15.500 10.300a1.700 1.700 0 1 0 0 3.400 1.700 1.700 0 0 0 0-3.400zM9.800 16h4.400L12 18.800z',
  'M17 2c3.300 0 5.500 2 6 4.500l-3.500 1C18.700 6.200 18 6 16.500 6H13c-2 0-3 .8-3 2s1 2 3 2h2c4.500 0 7 2.200 7 5.800S19.500 21.500 15 21.500H2V18h13c2 0 3-.8 3-2.200S17 13.500 15 13.500h-2c-4.500 0-7-2.200-7-5.600S8.500 2 13 2z',
]

function effects(pen: Pen, shot: Shot<Scene>, events: GameEvent[]): void {
  for (const event of events) {
    if (event.event === 'dropped' && event.at) {
      pen.text(`+${event.points}`, event.at.x + 0.5, event.at.y + 0.2 - 0.5 * shot.t, { size: 0.5, weight: 700, colour: pen.ink.live, halo: pen.ink.ground })
    } else if (event.event === 'killed' && event.at) {
      const killer = shot.scene.units.find(({ id }) => id === event.unit)?.at
      const [x, y] = [event.at.x + 0.5, event.at.y + 0.5]
      pen.death(shot.before.units.find(({ id }) => id === event.victim)?.team, x, y, 0.7)
      if (killer) pen.blow([killer[0] + 0.5, killer[1] + 0.5], [x, y], shot.t * 2)
    } else if (event.event === 'handedOver') {
      const [a, b] = [event.unit, event.to].map((id) => shot.scene.units.find((unit) => unit.id === id)?.at)
      if (a && b) pen.line([[a[0] + 0.5, a[1] + 0.5], [b[0] + 0.5, b[1] + 0.5]], pen.ink.gold, 0.09, [0.02, 0.16])
    }
  }
}
