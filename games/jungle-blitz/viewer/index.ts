// How Jungle Blitz is drawn. The scene is that of `src/scene.rs`, the events those of `src/event.rs`.
// A step is a tick; its pictures are the turns of the teams, in the tick's play order.

import { type Card, type Drawing, type GameEvent, type Pen, type Shot, type Step, type Told, mix } from 'agon-viewer'
import type { Diamond, Event, Scene, Unit } from './generated'

type Point = [number, number]

const LEVELS = ['#b9c2cf', '#56c2ff', '#4fd08a', '#ffb030', '#ff5d8f']
const ANIMALS = ['crocodile', 'eagle', 'jaguar', 'snake']

export const drawing: Drawing<Scene> = {
  game: 'jungle-blitz',
  scoreWord: 'points',
  speed: 4,
  partWord: 'turn of a team',
  layers: [
    { id: 'paths', name: 'Planned paths', key: 'p', on: true },
    { id: 'ids', name: 'Unit numbers', on: true },
    { id: 'grid', name: 'Coordinates', key: 'g', on: true },
  ],
  legend: [
    ['colour of a diamond', 'its level: grey 1, blue 2, green 3, gold 4, pink 5'],
    ['shape of a diamond', 'its points: triangle below 5, square below 10, pentagon below 50, hexagon below 100, star from 100'],
    ['glowing ring', 'summoning, until the next level'],
    ['rope', 'a vine'],
    ['skull', 'died here'],
    ['blue, grey', 'water and rock: nobody walks there'],
    ['hatched', 'where units come from'],
  ],

  size: (scene) => [scene.map[0]?.length ?? 1, scene.map.length],
  score: (scene) => scene.teams.map(({ score }) => score),

  gauges(scene) {
    const most = Math.max(1, ...scene.teams.map(({ score, pending }) => score + pending))
    return scene.teams.map(({ score, pending, deaths, gone }) => [
      { name: 'points', value: score, share: score / most, text: `${score}` },
      { name: 'pending', value: pending, share: pending / most, text: `${pending}` },
      { name: gone ? 'gone, deaths' : 'deaths', value: deaths, share: Math.min(deaths / 20, 1), text: `${deaths}` },
    ])
  },

  parts: (_, head) => Math.max(1, (head.start as Scene).playOrder.length),
  partScene: (step, part) => (part >= step.before.playOrder.length - 1 ? step.scene : after(step, part)),
  partName: (step, part) => (step.before.playOrder.length > 1 ? `team ${step.before.playOrder[part]}` : ''),

  draw(pen, shot) {
    terrain(pen, shot.scene)
    if (shot.layers.has('paths')) paths(pen, shot.scene)
    skulls(pen, shot.scene)
    for (const diamond of shot.scene.diamonds) {
      if (diamond.owner === null && diamond.at) gem(pen, diamond.at[0] + 0.5, diamond.at[1] + 0.5, 0.32, diamond)
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
        told.push({ text, weight, seat: of ?? ('unit' in event ? team(event.unit) : event.seat), at: at ? [at.x, at.y] : undefined })
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
    if (moves > 0) told.push({ text: `${moves} steps`, weight: 0 })
    return told
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
  const moss = ink.dark ? '#18241c' : '#f1f7ec'
  const moss2 = ink.dark ? '#1b2920' : '#e9f2e2'
  scene.map.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      const tile = row[x]
      pen.rect(x, y, 1.01, 1.01, (x + y) % 2 === 1 ? moss2 : moss)
      if (tile === '#') {
        pen.rect(x + 0.03, y + 0.03, 0.94, 0.94, ink.wallEdge, 0.2)
        pen.rect(x + 0.03, y + 0.03, 0.94, 0.82, ink.wall, 0.2)
      } else if (tile === '~') {
        pen.rect(x, y, 1.01, 1.01, ink.dark ? '#1d4a70' : '#8cc6ee')
        pen.line([[x + 0.15, y + 0.36], [x + 0.35, y + 0.28], [x + 0.55, y + 0.36], [x + 0.75, y + 0.28]], '#ffffff66', 0.05)
        pen.line([[x + 0.3, y + 0.7], [x + 0.5, y + 0.62], [x + 0.7, y + 0.7]], '#ffffff66', 0.05)
      } else if (tile === 'S') {
        pen.faded(0.55, () => {
          for (const shift of [0.25, 0.5, 0.75]) pen.line([[x + shift, y + 0.08], [x + 0.08, y + shift]], ink.faint, 0.05)
          for (const shift of [0.3, 0.55, 0.8]) pen.line([[x + 0.92, y + shift], [x + shift, y + 0.92]], ink.faint, 0.05)
        })
      }
    }
  })
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
    if (at || !diedAt) continue
    const [x, y] = [diedAt[0] + 0.5, diedAt[1] + 0.5]
    const bone = pen.ink.dark ? '#d6dbe2' : '#ffffff'
    pen.faded(0.85, () => {
      pen.disc(x, y - 0.05, 0.22, bone, pen.seat(team), 0.05)
      pen.rect(x - 0.12, y + 0.1, 0.24, 0.13, bone, 0.04)
      pen.disc(x - 0.08, y - 0.05, 0.06, '#2a2f38')
      pen.disc(x + 0.08, y - 0.05, 0.06, '#2a2f38')
    })
  }
}

/** A diamond: its colour is its level, its shape how many points it holds. */
function gem(pen: Pen, x: number, y: number, r: number, { level, points }: Diamond): void {
  const colour = LEVELS[Math.max(0, Math.min(level, 5) - 1)]!
  const corners = points < 5 ? 3 : points < 10 ? 4 : points < 50 ? 5 : points < 100 ? 6 : 0
  const shape: Point[] =
    corners > 0
      ? Array.from({ length: corners }, (_, at) => turned(x, y, r, at / corners))
      : Array.from({ length: 12 }, (_, at) => turned(x, y, at % 2 === 0 ? r * 1.15 : r * 0.62, at / 12))
  pen.shape(shape, colour, mix(colour, '#000000', 0.55), 0.055)
  pen.line([turned(x, y, r * 0.5, 0.83), turned(x, y, r * 0.5, 0.02)], '#ffffffcc', 0.05)
}

function turned(x: number, y: number, r: number, share: number): Point {
  const angle = share * Math.PI * 2 - Math.PI / 2
  return [x + Math.cos(angle) * r, y + Math.sin(angle) * r]
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
  pen.line(rope, '#3d6b2f', 0.13)
  pen.line(rope, pen.seat(viner.team), 0.07)
}

function figure(pen: Pen, shot: Shot<Scene>, unit: Unit, events: GameEvent[]): void {
  const before = shot.before.units.find(({ id }) => id === unit.id)
  if (!unit.at) return
  const from = before?.at ?? unit.at
  const t = shot.t
  const [x, y] = [from[0] + (unit.at[0] - from[0]) * t + 0.5, from[1] + (unit.at[1] - from[1]) * t + 0.5]
  const { ink } = pen
  const colour = pen.seat(unit.team)
  const edge = ink.dark ? '#ffffff' : '#10141a'
  const stone = unit.diamond === null ? undefined : shot.scene.diamonds[unit.diamond]
  const spawned = events.some(({ event, unit: id }) => event === 'spawned' && id === unit.id)
  pen.faded(spawned ? 0.2 + 0.8 * t : 1, () => {
    if (stone && unit.summoning > 0) {
      const glow = LEVELS[Math.min(stone.level, 4)]!
      pen.faded(0.4, () => pen.disc(x, y, 0.52, glow))
      pen.arc(x, y, 0.5, unit.summoning / (stone.level + 1), glow, 0.09)
    }
    if (shot.selected === `unit ${unit.id}`) pen.disc(x, y, 0.55, undefined, ink.text, pen.px(2))
    beast(pen, x, y, (unit.id - 1) % 4, colour, edge)
    if (stone) gem(pen, x + 0.24, y - 0.24, 0.21, stone)
    if (shot.layers.has('ids')) pen.text(`${unit.id}`, x, y + 0.25, { size: 0.26, weight: 800, colour: ink.dark ? '#10141a' : '#ffffff' })
  })
}

/** Crocodile, eagle, jaguar, snake: told apart by their heads. */
function beast(pen: Pen, x: number, y: number, kind: number, colour: string, edge: string): void {
  const dark = mix(colour, '#000000', 0.5)
  const eyes = (left: number, right: number, height: number) => {
    pen.disc(x + left, y + height, 0.055, '#ffffff')
    pen.disc(x + right, y + height, 0.055, '#ffffff')
    pen.disc(x + left, y + height, 0.028, '#10141a')
    pen.disc(x + right, y + height, 0.028, '#10141a')
  }
  if (kind === 0) {
    pen.disc(x - 0.2, y - 0.22, 0.12, colour, edge, 0.045)
    pen.disc(x + 0.2, y - 0.22, 0.12, colour, edge, 0.045)
    pen.rect(x - 0.36, y - 0.22, 0.72, 0.6, edge, 0.24)
    pen.rect(x - 0.32, y - 0.18, 0.64, 0.52, colour, 0.21)
    for (const tooth of [-0.2, -0.07, 0.07, 0.2]) pen.shape([[x + tooth - 0.05, y + 0.05], [x + tooth + 0.05, y + 0.05], [x + tooth, y + 0.13]], '#ffffff')
    eyes(-0.2, 0.2, -0.22)
  } else if (kind === 1) {
    pen.shape([[x - 0.38, y - 0.05], [x - 0.1, y - 0.4], [x + 0.1, y - 0.4], [x + 0.38, y - 0.05], [x + 0.26, y + 0.38], [x - 0.26, y + 0.38]], colour, edge, 0.05)
    pen.shape([[x - 0.1, y - 0.08], [x + 0.1, y - 0.08], [x, y + 0.14]], '#ffc93c', edge, 0.03)
    eyes(-0.14, 0.14, -0.16)
  } else if (kind === 2) {
    pen.disc(x - 0.24, y - 0.26, 0.13, colour, edge, 0.045)
    pen.disc(x + 0.24, y - 0.26, 0.13, colour, edge, 0.045)
    pen.disc(x, y + 0.02, 0.36, colour, edge, 0.05)
    for (const [dx, dy] of [[-0.24, 0.02], [0.24, 0.02], [0, -0.24]] as const) pen.disc(x + dx, y + dy, 0.045, dark)
    pen.disc(x, y + 0.05, 0.06, dark)
    eyes(-0.13, 0.13, -0.08)
  } else {
    pen.shape([[x, y - 0.4], [x + 0.34, y - 0.05], [x + 0.22, y + 0.36], [x - 0.22, y + 0.36], [x - 0.34, y - 0.05]], colour, edge, 0.05)
    pen.line([[x, y + 0.02], [x, y + 0.1]], '#ff5050', 0.05)
    pen.line([[x - 0.06, y + 0.15], [x, y + 0.1], [x + 0.06, y + 0.15]], '#ff5050', 0.04)
    eyes(-0.14, 0.14, -0.1)
  }
}

function effects(pen: Pen, shot: Shot<Scene>, events: GameEvent[]): void {
  for (const event of events) {
    if (event.event === 'dropped' && event.at) {
      const colour = pen.seat(shot.before.units.find(({ id }) => id === event.unit)?.team)
      pen.text(`+${event.points}`, event.at.x + 0.5, event.at.y + 0.2 - 0.5 * shot.t, { size: 0.5, weight: 800, colour, halo: pen.ink.ground })
    } else if (event.event === 'killed' && event.at) {
      const killer = shot.scene.units.find(({ id }) => id === event.unit)?.at
      const [x, y] = [event.at.x + 0.5, event.at.y + 0.5]
      if (killer) pen.line([[killer[0] + 0.5, killer[1] + 0.5], [x, y]], pen.ink.bad, 0.1)
      pen.disc(x, y, 0.25 + 0.25 * shot.t, undefined, pen.ink.bad, 0.07)
    } else if (event.event === 'handedOver') {
      const [a, b] = [event.unit, event.to].map((id) => shot.scene.units.find((unit) => unit.id === id)?.at)
      if (a && b) pen.line([[a[0] + 0.5, a[1] + 0.5], [b[0] + 0.5, b[1] + 0.5]], pen.ink.gold, 0.09, [0.02, 0.16])
    }
  }
}
