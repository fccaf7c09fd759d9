// How Ostibot is drawn. The scene is that of `src/scene.rs`, the events those of `src/event.rs`.

import { type Card, type Drawing, type GameEvent, type Head, type Moment, type Step, type Told, actionsOf } from 'agon-viewer'
import { banner, effects, figure, fire, sayings, terrain, things, ways } from './board'
import type { Adventurer, Cell, Event, Item, Scene, Thing } from './generated'

type Point = [number, number]

const SIDES: readonly Point[] = [[0, -1], [0, 1], [-1, 0], [1, 0]]

/** The sign before an event. */
const KINDS: Partial<Record<Event['event'], Told['kind']>> = {
  died: 'death', fought: 'hit', struck: 'hit', hurt: 'warning', moved: 'move', tookGold: 'gain', broke: 'gain', healed: 'gain',
  escaped: 'door', opened: 'door', spawned: 'birth', fireBegan: 'warning', complained: 'warning', roundEnded: 'warning',
}

export const drawing: Drawing<Scene> = {
  game: 'ostibot',
  scoreWord: 'gold',
  paysFromScore: true,
  speed: 4,
  layers: [
    { id: 'paths', name: 'Paths', key: 'p', on: true },
    { id: 'ids', name: 'Names of adventurers', on: false },
    { id: 'said', name: 'What adventurers say', on: true },
    { id: 'loupe', name: 'Magnifier', key: 'l', on: true },
    { id: 'grid', name: 'Coordinates', key: 'g', on: true },
  ],
  legend: [
    ['hat and cloak', 'an adventurer, on the plate of its team'],
    ['bar below it', 'its health, in another colour below a third'],
    ['coin', 'the gold it carries'],
    ['arch', 'a portal; filled below while it is shut, by what still holds it'],
    ['box, jar', 'a chest, a vase'],
    ['planks', 'a door'],
    ['cross in a ring', 'heals for gold'],
    ['spikes', 'hurt whoever steps on them'],
    ['slanted strokes', 'ice: whoever steps on it slides'],
    ['arrowheads', 'a treadmill'],
    ['flames', 'the fire; the dashed line is its front'],
  ],

  size: (scene) => [scene.width, scene.height],
  frame: ({ width, height }) => [0.3, 0.3, width - 0.6, height - 0.6],
  lastBoard: (step) => (step.events.some(({ event }) => event === 'roundEnded') ? closing(step) : undefined),
  things: (scene) => scene.adventurers.flatMap(({ position }): Point[] => (position ? [[position.x, position.y]] : [])),
  scenes: ({ step }) => ((step?.events ?? []) as Event[]).flatMap((event): Point[] => (event.event === 'died' ? [[event.at.x, event.at.y]] : [])),
  score: (scene) => scene.teamsGold,

  gauges(scene) {
    const most = Math.max(10, ...scene.teamsGold)
    return scene.teamsGold.map((gold, index) => {
      const own = scene.adventurers.filter(({ team, position }) => team === index + 1 && position)
      const carried = own.reduce((sum, one) => sum + one.gold, 0)
      const hp = own.reduce((sum, one) => sum + one.hp, 0)
      const whole = scene.adventurers.filter(({ team }) => team === index + 1).reduce((sum, one) => sum + one.maxHp, 0)
      // For a player a scene holds no other team's sight, and of its adventurers only those who are seen.
      const isHidden = own.length === 0 && scene.sight[index] === '' && scene.sight.some((sight) => sight !== '')
      return [
        { name: 'gold', value: gold, share: gold / most, text: `${gold}` },
        { name: 'carried', value: carried, share: carried / Math.max(most, carried), text: isHidden ? '?' : `${carried}` },
        { name: 'health', value: hp, share: whole > 0 ? hp / whole : 0, text: isHidden ? '?' : `${hp}` },
      ]
    })
  },

  draw(pen, shot) {
    terrain(pen, shot.scene)
    fire(pen, shot)
    things(pen, shot)
    if (shot.layers.has('paths')) ways(pen, shot)
    for (const who of shot.scene.adventurers) figure(pen, shot, who)
    effects(pen, shot)
    if (shot.layers.has('said')) sayings(pen, shot)
  },

  over(pen, shot) {
    if (shot.scene.phase === 'shop') banner(pen, shot.scene, `Shop before round ${shot.scene.round}`)
    else if (shot.step?.events.some(({ event }) => event === 'roundEnded')) banner(pen, shot.scene, `Round ${shot.scene.round} is over`)
  },

  tell(step, name) {
    const told: Told[] = []
    const team = (id: string) => [...step.before.adventurers, ...step.scene.adventurers].find((one) => one.id === id)?.team
    const who = (id: string) => {
      const of = team(id)
      return of ? `${name(of)}’s ${id}` : id
    }
    const thing = (id: string) => {
      const found = [...step.before.objects, ...step.scene.objects].find((one) => one.id === id)
      return found ? `${found.type} ${id}` : id
    }
    let moved = 0
    for (const event of step.events as Event[]) {
      const say = (text: string, weight: Told['weight'], of?: number, at?: Cell, kind = KINDS[event.event]) =>
        told.push({ text, weight, seat: of, kind, at: at && [at.x, at.y] })
      const named = 'kind' in event ? event.kind : 'item' in event ? event.item : ''
      const item = named.replaceAll('_', ' ')
      switch (event.event) {
        case 'roundBegan':
          say(`round ${event.round} begins`, 2)
          break
        case 'spawned':
          say(`${who(event.who)} comes${event.returns ? ' back' : ''}`, 0, team(event.who), event.at)
          break
        case 'bought':
          say(`${who(event.who)} gets a ${item} for ${event.cost}`, 1, team(event.who))
          break
        case 'sold':
          say(`${who(event.who)} sells a ${item} for ${event.refund}`, 1, team(event.who))
          break
        case 'moved':
          moved++
          break
        case 'tookGold':
          say(`${who(event.who)} takes ${event.amount} gold`, 1, team(event.who))
          break
        case 'gaveGold':
          say(`${who(event.from)} gives ${event.amount} gold to ${event.to}`, 1, team(event.from))
          break
        case 'tookItem':
          say(`${who(event.who)} takes an item`, 1, team(event.who))
          break
        case 'fought':
          say(`${who(event.who)} hits ${who(event.target)} for ${event.damage}`, 1, team(event.who))
          break
        case 'struck':
          say(`${who(event.who)} hits ${thing(event.target)}`, 0, team(event.who))
          break
        case 'hurt':
          if (event.by !== 'enemy') say(`${who(event.who)} loses ${event.damage} to ${harm(event.by)}`, 1, team(event.who))
          break
        case 'healed':
          say(`${who(event.who)} heals to ${event.hp}${event.paid > 0 ? ` for ${event.paid} gold` : ''}`, 1, team(event.who))
          break
        case 'broke':
          say(`${thing(event.what)} breaks${event.gold > 0 ? ` and leaves ${event.gold} gold` : ''}`, 1)
          break
        case 'opened':
          say(`${thing(event.portal)} opens`, 2)
          break
        case 'died':
          say(`${who(event.who)} dies at (${event.at.x}, ${event.at.y})${killer(step, event.who)}${event.gold > 0 ? `, with ${event.gold} gold` : ''}`, 3, team(event.who), event.at)
          break
        case 'escaped':
          say(`${who(event.who)} leaves through ${event.portal} with ${event.gold > 0 ? `${event.gold} gold` : 'no gold'}`, event.gold > 0 ? 3 : 2, team(event.who))
          break
        case 'fireBegan':
          say('the fire begins', 2)
          break
        case 'fireSpread':
          say(`the fire takes ${event.cells} more cells`, 0)
          break
        case 'roundEnded':
          say(`round ${event.round} ends; ${event.lost + event.leftBehind} gold is lost`, 2)
          break
        case 'finalSale':
          say(`${name(Number(event.team))} sells a ${item} for ${event.refund}`, 1, Number(event.team))
          break
        case 'said':
          say(`${who(event.who)}: “${event.reason}”`, 0, team(event.who))
          break
        case 'complained':
          say(`${name(Number(event.team))} reports an error: ${event.error}`, 2, Number(event.team))
          break
        case 'putOn':
        case 'tookOff':
          say(`${who(event.who)} ${event.event === 'putOn' ? 'puts on' : 'takes off'} ${event.item}`, 0, team(event.who))
          break
        case 'handed':
          say(`${who(event.from)} hands ${event.item} to ${event.to}`, 0, team(event.from))
          break
        case 'usedUp':
          say(`${who(event.who)} uses a potion`, 0, team(event.who))
          break
        case 'scorched':
          say(`the fire burns ${thing(event.what)}`, 0)
          break
        default:
          say((event as GameEvent).event, 0)
      }
    }
    if (moved > 0) told.push({ text: `${moved} ${moved === 1 ? 'step' : 'steps'}`, weight: 0, kind: 'move', seat: step.answers[0]?.seat })
    return told
  },

  orders(step, answer) {
    return actionsOf<Record<string, unknown>>(answer).map((action, index) => {
      const id = typeof action.adventurerId === 'string' ? action.adventurerId : ''
      const words = Object.entries(action).flatMap(([key, value]) => {
        if (key === 'adventurerId' || key === 'reason') return []
        const inner = typeof value === 'object' && value !== null ? Object.values(value).filter((one) => typeof one !== 'object').join(' ') : String(value)
        return [`${key} ${inner}`.trim()]
      })
      return { index, who: id || undefined, name: id || `${index + 1}`, text: words.join(', '), effect: effectOf(step, id) }
    })
  },

  life(step, id) {
    const found: Moment[] = []
    for (const event of step.events as Event[]) {
      const kind = KINDS[event.event]
      if (event.event === 'moved' && event.who === id) found.push({ text: `to (${event.to.x}, ${event.to.y})`, kind })
      else if (event.event === 'spawned' && event.who === id) found.push({ text: `comes at (${event.at.x}, ${event.at.y})`, kind: 'birth' })
      else if (event.event === 'fought' && event.who === id) found.push({ text: `hits ${event.target} for ${event.damage}`, kind })
      else if (event.event === 'struck' && event.who === id) found.push({ text: `hits ${event.target}`, kind })
      else if (event.event === 'hurt' && event.who === id) found.push({ text: `loses ${event.damage} to ${harm(event.by)}: ${event.hp} left`, kind: 'warning' })
      else if (event.event === 'healed' && event.who === id) found.push({ text: `heals to ${event.hp}`, kind })
      else if (event.event === 'tookGold' && event.who === id) found.push({ text: `takes ${event.amount} gold`, kind })
      else if (event.event === 'died' && event.who === id) found.push({ text: `dies at (${event.at.x}, ${event.at.y})`, kind })
      else if (event.event === 'escaped' && event.who === id) found.push({ text: `leaves with ${event.gold} gold`, kind })
      else if (event.event === 'said' && event.who === id) found.push({ text: `“${event.reason}”` })
    }
    return found
  },

  reach(scene, id) {
    const who = scene.adventurers.find((one) => one.id === id)?.position
    if (!who) return undefined
    const beside = SIDES.map(([dx, dy]): Point => [who.x + dx, who.y + dy]).filter(([x, y]) => (scene.map[y]?.[x] ?? '#') !== '#')
    const held = (x: number, y: number) => [...scene.adventurers, ...scene.objects].some(({ position }) => position?.x === x && position.y === y)
    return { steps: beside.filter(([x, y]) => !held(x, y)), hits: beside.filter(([x, y]) => held(x, y)) }
  },

  threats(scene, x, y) {
    return scene.adventurers
      .filter(({ position }) => position && Math.abs(position.x - x) + Math.abs(position.y - y) === 1)
      .map(({ team, id }) => ({ seat: team, id, name: id }))
  },

  inspect(scene, x, y, head) {
    const here = ({ x: column, y: row }: Cell) => column === Math.floor(x) && row === Math.floor(y)
    const who = scene.adventurers.find(({ position }) => position && here(position))
    if (who) return adventurerCard(who)
    const thing = scene.objects.find(({ position }) => here(position))
    if (thing) return thingCard(thing)
    const pile = scene.gold.find(({ position }) => here(position))
    const lying = scene.items.filter(({ position }) => here(position)).map(({ item }) => item.name)
    const tile = scene.map[Math.floor(y)]?.[Math.floor(x)] ?? '#'
    const burning = scene.fire.some(here)
    if (!pile && lying.length === 0 && tile === '.' && !burning) return undefined
    const fields: [string, string][] = [['cell', `${Math.floor(x)}, ${Math.floor(y)}`]]
    if (pile) fields.push(['gold', `${pile.amount}`])
    if (lying.length > 0) fields.push(['lying', lying.join(', ')])
    const spreads = nextFire(scene, head)
    if (burning) fields.push(['fire', spreads === undefined ? 'burning' : `spreads in ${spreads} turns`])
    return { id: `cell ${Math.floor(x)},${Math.floor(y)}`, title: tileName(tile), at: [Math.floor(x) + 0.5, Math.floor(y) + 0.5], fields }
  },

  find(scene, id, head) {
    const who = scene.adventurers.find((one) => one.id === id)
    if (who) return adventurerCard(who)
    const thing = scene.objects.find((one) => one.id === id)
    if (thing) return thingCard(thing)
    const cell = /^cell (\d+),(\d+)$/.exec(id)
    return cell ? drawing.inspect(scene, Number(cell[1]), Number(cell[2]), head) : undefined
  },

  sees(scene, seat) {
    const rows = (scene.sight[seat - 1] ?? '').split(' ')
    return (x, y) => {
      const row = rows[y] ?? ''
      const digit = parseInt(row[row.length - 1 - Math.floor(x / 4)] ?? '0', 16)
      return ((digit >> (x % 4)) & 1) === 1
    }
  },
}

const boards = new WeakMap<Step<Scene>, Scene>()

/** The board of a round as its last turn left it: the step's own scene is that of the next round already. */
function closing(step: Step<Scene>): Scene {
  const known = boards.get(step)
  if (known) return known
  const { before, scene, events } = step
  const where = new Map(before.adventurers.map(({ id, position }) => [id, position]))
  const broken = new Set<string>()
  for (const event of events as Event[]) {
    if (event.event === 'moved') where.set(event.who, event.to)
    else if (event.event === 'died' || event.event === 'escaped') where.set(event.who, null)
    else if (event.event === 'broke') broken.add(event.what)
    else if (event.event === 'roundEnded') break
  }
  const made: Scene = {
    ...before,
    teamsGold: scene.teamsGold,
    adventurers: before.adventurers.map((one) => ({ ...one, position: where.get(one.id) ?? null })),
    objects: before.objects.filter(({ id }) => !broken.has(id)),
  }
  boards.set(step, made)
  return made
}

/** By whom or what somebody died in this step, in words. */
function killer(step: Step<Scene>, who: string): string {
  let by = ''
  for (const event of step.events as Event[]) {
    if (event.event === 'fought' && event.target === who) by = `, struck by ${event.who} for ${event.damage}`
    else if (event.event === 'hurt' && event.who === who && event.by !== 'enemy') by = `, killed by ${harm(event.by)}`
    else if (event.event === 'died' && event.who === who) return by
  }
  return by
}

/** What came of an adventurer's action, in a word or two. */
function effectOf(step: Step<Scene>, id: string): string {
  for (const event of (step.events as Event[]).slice().reverse()) {
    if (event.event === 'escaped' && event.who === id) return `left by ${event.portal}`
    if (event.event === 'fought' && event.who === id) {
      const fell = step.events.some((other) => other.event === 'died' && other.who === event.target)
      return `${fell ? 'felled' : 'hit'} ${event.target}`
    }
    if (event.event === 'struck' && event.who === id) return `hit ${event.target}`
    if (event.event === 'moved' && event.who === id) return 'moved'
  }
  return ''
}

/** In how many turns the fire spreads again (OB-FIRE-2). */
function nextFire({ turn }: Scene, head: Head | undefined): number | undefined {
  const { corruptionStartAt: start, corruptionSpreadSpeed: speed } = head?.rules ?? {}
  return typeof start === 'number' && typeof speed === 'number' && turn >= start ? speed - ((turn - start) % speed) : undefined
}

function harm(by: string): string {
  return { block: 'a block', spikes: 'spikes', fire: 'the fire' }[by] ?? by
}

function tileName(tile: string): string {
  const names: Record<string, string> = {
    '#': 'wall', '.': 'floor', H: 'health tile', S: 'spikes', '~': 'ice', '^': 'treadmill', v: 'treadmill', '<': 'treadmill', '>': 'treadmill',
  }
  return names[tile] ?? `spawner of team ${tile}`
}

function adventurerCard(who: Adventurer): Card {
  const at: Point = who.position ? [who.position.x + 0.5, who.position.y + 0.5] : [-9, -9]
  const names = (items: Item[]) => (items.length > 0 ? items.map(({ name }) => name).join(', ') : 'nothing')
  return {
    id: who.id,
    title: `adventurer ${who.id}`,
    seat: who.team,
    at,
    fields: [
      ['team', `${who.team}`],
      ['health', `${who.hp} of ${who.maxHp}`],
      ['gold', `${who.gold}`],
      ['damage', `${who.damage}`],
      ['armour', `${who.armor}`],
      ['sees', `up to ${who.vision} cells away`],
      ['wears', names(who.worn)],
      ['carries', names(who.inventory)],
      ['cell', who.position ? `${who.position.x}, ${who.position.y}` : who.escaped ? 'escaped' : 'none'],
    ],
  }
}

function thingCard({ id, type, position, hp, maxHp }: Thing): Card {
  const state = hp === 0 && type === 'portal' ? 'open' : `${hp} of ${maxHp}`
  return {
    id,
    title: `${type} ${id}`,
    at: [position.x + 0.5, position.y + 0.5],
    fields: [[type === 'portal' && hp === 0 ? 'state' : 'health', state], ['cell', `${position.x}, ${position.y}`]],
  }
}
