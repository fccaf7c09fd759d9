// How Ostibot is drawn. The scene is that of `src/scene.rs`, the events those of `src/event.rs`.

import { type Card, type Drawing, type GameEvent, type Pen, type Shot, type Step, type Told, mix } from 'agon-viewer'
import type { Adventurer, Cell, Event, Item, Scene, Thing } from './generated'

type Point = [number, number]

export const drawing: Drawing<Scene> = {
  game: 'ostibot',
  scoreWord: 'gold',
  paysFromScore: true,
  speed: 4,
  layers: [
    { id: 'paths', name: 'Ways of this turn', key: 'p', on: true },
    { id: 'ids', name: 'Names of adventurers', on: true },
    { id: 'grid', name: 'Coordinates', key: 'g', on: true },
  ],
  legend: [
    ['arch', 'a portal; it glows when open'],
    ['box', 'a chest'],
    ['jar', 'a vase'],
    ['bars', 'a door'],
    ['coins', 'gold on the ground'],
    ['red tile', 'heals for gold'],
    ['spikes', 'hurt who steps on them'],
    ['light blue', 'ice: who steps on it slides'],
    ['arrows', 'a treadmill'],
    ['flames', 'the fire'],
  ],

  size: (scene) => [scene.width, scene.height],
  score: (scene) => scene.teamsGold,

  gauges(scene) {
    const most = Math.max(10, ...scene.teamsGold)
    return scene.teamsGold.map((gold, index) => {
      const own = scene.adventurers.filter(({ team, position }) => team === index + 1 && position)
      const carried = own.reduce((sum, one) => sum + one.gold, 0)
      const hp = own.reduce((sum, one) => sum + one.hp, 0)
      const whole = scene.adventurers.filter(({ team }) => team === index + 1).reduce((sum, one) => sum + one.maxHp, 0)
      return [
        { name: 'gold', value: gold, share: gold / most, text: `${gold}` },
        { name: 'carried', value: carried, share: carried / Math.max(most, carried), text: `${carried}` },
        { name: 'health', value: hp, share: whole > 0 ? hp / whole : 0, text: `${hp}` },
      ]
    })
  },

  draw(pen, shot) {
    terrain(pen, shot.scene)
    things(pen, shot)
    fire(pen, shot)
    if (shot.layers.has('paths')) ways(pen, shot)
    for (const who of shot.scene.adventurers) figure(pen, shot, who)
    effects(pen, shot)
    if (shot.scene.phase === 'shop') {
      const { width } = shot.scene
      pen.rect(width / 2 - 4.2, 0.25, 8.4, 1.1, pen.ink.paper, 0.3)
      pen.text(`Shop before round ${shot.scene.round}`, width / 2, 0.82, { size: 0.6, max: 8 })
    }
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
      const say = (text: string, weight: Told['weight'], of?: number, at?: Cell) =>
        told.push({ text, weight, seat: of, at: at && [at.x, at.y] })
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
          say(`${who(event.who)} dies${event.gold > 0 ? ` with ${event.gold} gold` : ''}`, 3, team(event.who), event.at)
          break
        case 'escaped':
          say(`${who(event.who)} escapes with ${event.gold} gold`, event.gold > 0 ? 3 : 2, team(event.who))
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
          say(`${name(Number(event.team))} reports an error: ${event.error}`, 1, Number(event.team))
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
    if (moved > 0) told.push({ text: `${moved} steps`, weight: 0, seat: step.answers[0]?.seat })
    return told
  },

  inspect(scene, x, y) {
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
    if (burning) fields.push(['fire', 'burning'])
    return { id: `cell ${Math.floor(x)},${Math.floor(y)}`, title: tileName(tile), at: [Math.floor(x) + 0.5, Math.floor(y) + 0.5], fields }
  },

  find(scene, id) {
    const who = scene.adventurers.find((one) => one.id === id)
    if (who) return adventurerCard(who)
    const thing = scene.objects.find((one) => one.id === id)
    if (thing) return thingCard(thing)
    const cell = /^cell (\d+),(\d+)$/.exec(id)
    return cell ? drawing.inspect(scene, Number(cell[1]), Number(cell[2]), undefined as never) : undefined
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
      ['sees', `${who.vision} cells far`],
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

function terrain(pen: Pen, scene: Scene): void {
  const { ink } = pen
  const ice = mix(ink.ground, '#4aa8e0', ink.dark ? 0.32 : 0.28)
  scene.map.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      const tile = row[x]!
      if (tile === '#') {
        pen.rect(x, y, 1.01, 1.01, ink.wall)
        continue
      }
      pen.rect(x, y, 1.01, 1.01, (x + y) % 2 === 1 ? ink.ground2 : ink.ground)
      if (tile === '~') {
        pen.rect(x, y, 1.01, 1.01, ice)
        pen.line([[x + 0.25, y + 0.65], [x + 0.65, y + 0.25]], '#ffffff', 0.06)
        pen.line([[x + 0.5, y + 0.78], [x + 0.76, y + 0.52]], '#ffffff', 0.05)
      } else if (tile === 'H') {
        pen.rect(x + 0.08, y + 0.08, 0.84, 0.84, mix(ink.ground, ink.bad, 0.3), 0.15)
        pen.rect(x + 0.42, y + 0.24, 0.16, 0.52, ink.bad)
        pen.rect(x + 0.24, y + 0.42, 0.52, 0.16, ink.bad)
      } else if (tile === 'S') {
        for (const [dx, dy] of [[0.27, 0.5], [0.73, 0.5], [0.5, 0.92]] as const) {
          pen.shape([[x + dx - 0.17, y + dy], [x + dx, y + dy - 0.42], [x + dx + 0.17, y + dy]], ink.faint)
        }
      } else if ('^v<>'.includes(tile)) {
        const [dx, dy] = { '^': [0, -1], v: [0, 1], '<': [-1, 0], '>': [1, 0] }[tile]!
        pen.rect(x + 0.04, y + 0.04, 0.92, 0.92, ink.grid, 0.1)
        for (const shift of [-0.17, 0.13]) {
          const [mx, my] = [x + 0.5 + dx! * shift, y + 0.5 + dy! * shift]
          const tip: Point = [mx + dx! * 0.2, my + dy! * 0.2]
          pen.line([[mx - dy! * 0.24, my - dx! * 0.24], tip, [mx + dy! * 0.24, my + dx! * 0.24]], ink.faint, 0.08)
        }
      } else if (tile >= '1' && tile <= '9') {
        const colour = pen.seat(Number(tile))
        pen.rect(x + 0.05, y + 0.05, 0.9, 0.9, mix(ink.ground, colour, scene.spawnersStand ? 0.4 : 0.12), 0.12)
        if (scene.spawnersStand) pen.frame(x + 0.05, y + 0.05, 0.9, 0.9, colour, 0.06, 0.12)
      }
    }
  })
}

function things(pen: Pen, { scene, selected }: Shot<Scene>): void {
  const { ink } = pen
  for (const { id, type, position, hp, maxHp } of scene.objects) {
    const [x, y] = [position.x + 0.5, position.y + 0.5]
    if (type === 'portal') {
      const open = hp === 0
      pen.ctx.beginPath()
      pen.ctx.arc(x, y - 0.02, 0.32, Math.PI, 0)
      pen.ctx.lineTo(x + 0.32, y + 0.4)
      pen.ctx.lineTo(x - 0.32, y + 0.4)
      pen.ctx.closePath()
      pen.ctx.fillStyle = open ? '#9b6bff' : ink.wallEdge
      pen.ctx.fill()
      pen.ctx.strokeStyle = open ? '#d9c7ff' : ink.wall
      pen.ctx.lineWidth = 0.1
      pen.ctx.stroke()
      if (open) pen.disc(x, y + 0.08, 0.13, '#ffffff')
    } else if (type === 'chest') {
      pen.rect(x - 0.36, y - 0.22, 0.72, 0.5, '#9a6429', 0.08)
      pen.rect(x - 0.36, y - 0.22, 0.72, 0.18, '#b97c37', 0.08)
      pen.rect(x - 0.07, y - 0.1, 0.14, 0.18, '#ffd45e')
    } else if (type === 'vase') {
      pen.shape(
        [[x - 0.13, y - 0.34], [x + 0.13, y - 0.34], [x + 0.1, y - 0.2], [x + 0.27, y + 0.06], [x + 0.14, y + 0.34], [x - 0.14, y + 0.34], [x - 0.27, y + 0.06], [x - 0.1, y - 0.2]],
        '#c0694a',
        '#7e3f29',
        0.05,
      )
    } else {
      pen.rect(x - 0.44, y - 0.44, 0.88, 0.88, '#7a5a3a', 0.06)
      for (const shift of [-0.22, 0, 0.22]) pen.line([[x + shift, y - 0.4], [x + shift, y + 0.4]], '#513a24', 0.05)
      pen.disc(x + 0.28, y, 0.06, '#ffd45e')
    }
    if (hp > 0 && hp < maxHp) pen.bar(x - 0.38, y + 0.4, 0.76, 0.11, hp / maxHp, hp * 3 < maxHp ? ink.bad : ink.gold)
    if (selected === id) pen.disc(x, y, 0.58, undefined, ink.text, pen.px(2))
  }
  for (const { position } of scene.items) {
    const [x, y] = [position.x + 0.5, position.y + 0.5]
    pen.rect(x - 0.2, y - 0.16, 0.4, 0.36, '#8c5fd0', 0.08)
    pen.line([[x - 0.1, y - 0.16], [x, y - 0.28], [x + 0.1, y - 0.16]], '#8c5fd0', 0.07)
  }
  for (const { position, amount } of scene.gold) {
    const [x, y] = [position.x + 0.5, position.y + 0.5]
    pen.disc(x - 0.12, y + 0.1, 0.17, '#f4c430', '#8f6b00', 0.04)
    pen.disc(x + 0.12, y + 0.1, 0.17, '#f4c430', '#8f6b00', 0.04)
    pen.disc(x, y - 0.06, 0.17, '#ffdb5c', '#8f6b00', 0.04)
    if (amount > 1) pen.text(`${amount}`, x + 0.26, y - 0.28, { size: 0.36, weight: 800, halo: ink.ground })
  }
}

function fire(pen: Pen, { scene, before, t }: Shot<Scene>): void {
  const old = new Set(before.fire.map(({ x, y }) => y * 100 + x))
  for (const { x, y } of scene.fire) {
    pen.faded(old.has(y * 100 + x) ? 1 : t, () => {
      pen.faded(0.35, () => pen.rect(x, y, 1.01, 1.01, '#ff6a1a'))
      const lean = ((x * 7 + y * 13) % 5) / 25 - 0.08
      pen.shape([[x + 0.2, y + 0.86], [x + 0.3, y + 0.5], [x + 0.42 + lean, y + 0.62], [x + 0.52 + lean, y + 0.16], [x + 0.68, y + 0.54], [x + 0.76, y + 0.46], [x + 0.82, y + 0.86]], '#ff8a24')
      pen.shape([[x + 0.36, y + 0.86], [x + 0.52 + lean, y + 0.46], [x + 0.66, y + 0.86]], '#ffe066')
    })
  }
}

/** The steps of each adventurer, slides included, in order. */
function waysOf(step: Step<Scene> | undefined): Map<string, Point[]> {
  const found = new Map<string, Point[]>()
  for (const event of (step?.events ?? []) as Event[]) {
    if (event.event !== 'moved') continue
    let way = found.get(event.who)
    if (!way) {
      const from = step!.before.adventurers.find(({ id }) => id === event.who)?.position
      way = from ? [[from.x, from.y]] : []
      found.set(event.who, way)
    }
    way.push([event.to.x, event.to.y])
  }
  return found
}

function ways(pen: Pen, shot: Shot<Scene>): void {
  for (const [id, way] of waysOf(shot.step)) {
    const who = [...shot.scene.adventurers, ...shot.before.adventurers].find((one) => one.id === id)
    if (!who || way.length < 2) continue
    pen.faded(0.75, () => pen.line(way.map(([x, y]) => [x + 0.5, y + 0.5] as Point), pen.seat(who.team), 0.1, [0.02, 0.2]))
  }
}

function figure(pen: Pen, shot: Shot<Scene>, who: Adventurer): void {
  if (!who.position) return
  const way = waysOf(shot.step).get(who.id) ?? []
  const goal = Math.max(0, way.length - 1) * shot.t
  const [a, b] = [way[Math.floor(goal)], way[Math.min(Math.floor(goal) + 1, way.length - 1)]]
  const last: Point = [who.position.x, who.position.y]
  const [from, to] = shot.t >= 1 || !a || !b ? [last, last] : [a, b]
  const part = goal - Math.floor(goal)
  const [x, y] = [from[0] + (to[0] - from[0]) * part + 0.5, from[1] + (to[1] - from[1]) * part + 0.5]
  const { ink } = pen
  const colour = pen.seat(who.team)
  const edge = ink.dark ? '#ffffff' : '#10141a'
  if (shot.selected === who.id) pen.disc(x, y, 0.56, undefined, ink.text, pen.px(2))
  // Body, head, and what is worn.
  const plated = who.worn.some(({ itemType }) => /vest|chainmail|armor/.test(itemType))
  pen.shape([[x - 0.28, y + 0.36], [x - 0.22, y - 0.04], [x + 0.22, y - 0.04], [x + 0.28, y + 0.36]], colour, plated ? '#c9d1dc' : edge, plated ? 0.1 : 0.05)
  pen.disc(x, y - 0.18, 0.2, '#f1c9a0', edge, 0.05)
  pen.rect(x - 0.21, y - 0.38, 0.42, 0.12, colour, 0.05)
  if (who.worn.some(({ itemType }) => /sword|blade|axe/.test(itemType))) {
    pen.line([[x + 0.26, y + 0.26], [x + 0.42, y - 0.2]], '#d7dee8', 0.08)
    pen.line([[x + 0.2, y + 0.1], [x + 0.4, y + 0.16]], '#8f6b00', 0.07)
  }
  if (who.worn.some(({ itemType }) => /binocular/.test(itemType))) {
    pen.disc(x - 0.08, y - 0.18, 0.07, '#10141a')
    pen.disc(x + 0.08, y - 0.18, 0.07, '#10141a')
  }
  if (who.worn.some(({ itemType }) => /boots/.test(itemType))) {
    pen.rect(x - 0.26, y + 0.3, 0.2, 0.1, '#5b3a1d')
    pen.rect(x + 0.06, y + 0.3, 0.2, 0.1, '#5b3a1d')
  }
  const share = who.hp / who.maxHp
  pen.bar(x - 0.38, y + 0.42, 0.76, 0.1, share, share < 0.34 ? ink.bad : share < 0.67 ? ink.gold : ink.good)
  if (who.gold > 0) pen.text(`${who.gold}`, x - 0.36, y - 0.34, { size: 0.32, weight: 800, colour: ink.gold, halo: ink.ground })
  if (shot.layers.has('ids')) pen.text(who.id.slice(0, 6), x, y + 0.16, { size: 0.24, weight: 700, colour: ink.dark ? '#10141a' : '#ffffff', max: 0.6 })
}

function effects(pen: Pen, shot: Shot<Scene>): void {
  const { t } = shot
  const place = (id: string): Point | undefined => {
    const found =
      shot.scene.adventurers.find((one) => one.id === id)?.position ??
      shot.before.adventurers.find((one) => one.id === id)?.position ??
      [...shot.scene.objects, ...shot.before.objects].find((one) => one.id === id)?.position
    return found ? [found.x + 0.5, found.y + 0.5] : undefined
  }
  for (const event of (shot.step?.events ?? []) as Event[]) {
    if (event.event === 'fought' || event.event === 'struck') {
      const [from, to] = [place(event.who), place(event.target)]
      if (!from || !to) continue
      pen.line([from, [from[0] + (to[0] - from[0]) * 0.75, from[1] + (to[1] - from[1]) * 0.75]], pen.ink.bad, 0.08)
      if (event.event === 'fought') number(pen, to, `−${event.damage}`, pen.ink.bad, t)
    } else if (event.event === 'hurt' && event.by !== 'enemy') {
      const at = place(event.who)
      if (at) number(pen, at, `−${event.damage}`, pen.ink.bad, t)
    } else if (event.event === 'tookGold') {
      const at = place(event.who)
      if (at) number(pen, at, `+${event.amount}`, pen.ink.gold, t)
    } else if (event.event === 'healed') {
      const at = place(event.who)
      if (at) number(pen, at, 'heal', pen.ink.good, t)
    } else if (event.event === 'escaped') {
      const at = place(event.portal)
      if (at) pen.disc(at[0], at[1], 0.3 + 0.4 * t, undefined, '#9b6bff', 0.08)
    } else if (event.event === 'died') {
      const [x, y] = [event.at.x + 0.5, event.at.y + 0.5]
      for (const [colour, width] of [[pen.ink.ground, 0.24], [pen.ink.bad, 0.12]] as const) {
        pen.line([[x - 0.26, y - 0.26], [x + 0.26, y + 0.26]], colour, width)
        pen.line([[x + 0.26, y - 0.26], [x - 0.26, y + 0.26]], colour, width)
      }
    }
  }
}

function number(pen: Pen, [x, y]: Point, text: string, colour: string, t: number): void {
  pen.text(text, x + 0.25, y - 0.3 - 0.3 * t, { size: 0.36, weight: 800, colour, halo: pen.ink.ground })
}
