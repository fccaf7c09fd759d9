// How Terminal is drawn: every frame of the action phases. A step is a turn; its pictures are the
// frames (`src/frame.rs`), and last the board at the next deploy phase (`src/scene.rs`).
// The game counts rows from below; cells on the screen from above.

import type { Card, Drawing, Gauge, Head, Moment, Order, Told } from 'agon-viewer'
import { framesOf, KINDS } from './frames'
import { arena, beam, blast, breach, captions, corners, covered, gone, heat, mobiles, ranges, shield, structures, ways } from './board'
import type { Scene, Tile } from './generated'
import { type Found, type Frame, SIZE, cell, everyone, eventsOf, formOf, listsOf, statsOf, upgradedIn, within, inArena, isFrame } from './scenes'
import { original } from './original'

export const drawing: Drawing<Scene | Frame, Frame> = {
  game: 'terminal',
  scoreWord: 'health',
  speed: 6,
  foreign: original,
  partWord: 'frame',
  layers: [
    { id: 'paths', name: 'Paths', key: 'p', on: true },
    { id: 'heat', name: 'Damage of this turn', on: true },
    { id: 'ranges', name: 'What turrets reach', key: 'r', on: true },
    { id: 'captions', name: 'What comes through and what falls', key: 'c', on: true },
    { id: 'grid', name: 'Coordinates', key: 'g', on: true },
  ],
  legend: [
    ['bricks', 'wall'],
    ['pylon', 'support: shields its own mobile units'],
    ['rook', 'turret'],
    ['arrowhead on a plate', 'scout'],
    ['block on a plate', 'demolisher'],
    ['cross on a plate', 'interceptor'],
    ['chevron above', 'upgraded'],
    ['bar through it', 'marked for removal'],
    ['gold ring', 'shield above full health'],
    ['reddish tiles', 'within reach of a turret'],
    ['lower half, upper half', 'player 1, player 2'],
  ],

  size: () => [SIZE, SIZE],
  things: (scene) => everyone(scene).map(({ unit }) => [unit.at[0], SIZE - 1 - unit.at[1]]),
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
    if (shot.layers.has('ranges')) covered(pen, shot)
    // A turn in the making is not to be taken for the one before.
    const told = !shot.hand?.planning
    if (told && shot.layers.has('heat')) heat(pen, shot)
    if (told && shot.layers.has('paths')) ways(pen, shot)
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
    if (told && shot.layers.has('captions') && shot.step && !isFrame(shot.scene)) captions(pen, shot.step.parts)
    corners(pen, shot)
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
      if (sent) told.push({ text: `${name(player)} sends ${sent}`, seat: player, weight: 1, kind: 'move' })
      const work = [
        built && `builds ${built}`,
        upgrades && `upgrades ${upgrades}`,
        removals && `marks ${removals} for removal`,
      ].filter(Boolean)
      if (work.length > 0) told.push({ text: `${name(player)} ${work.join(', ')}`, seat: player, weight: 0, kind: 'birth' })
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
          kind: 'door',
          at: cell(breaches[0]!.at),
        })
      }
      const blasts = events.flatMap(({ self_destruct: blast }) => blast.filter(({ unit }) => unit.player === player))
      if (blasts.length > 0) {
        told.push({ text: `${blasts.length} of ${name(player)}’s units blow themselves up`, seat: player, weight: 1, kind: 'hit' })
      }
      const dead = events.flatMap(({ death }) => death.filter(({ unit, removed }) => unit.player === player && !removed))
      const lost = counted(dead.map(({ unit }) => unit.kind).filter((kind) => KINDS.indexOf(kind) < 3))
      const fallen = counted(dead.map(({ unit }) => unit.kind).filter((kind) => KINDS.indexOf(kind) >= 3))
      const enemy = player === 1 ? 2 : 1
      if (lost) told.push({ text: `${name(player)} loses ${lost}`, seat: enemy, weight: lost.includes(',') ? 2 : 1, kind: 'death' })
      if (fallen) told.push({ text: `${fallen} of ${name(player)} fall`, seat: enemy, weight: 0, kind: 'death' })
    }
    const over = step.events.find((event) => 'over' in event)
    if (over) told.push({ text: 'the match is over', weight: 3 })
    return told
  },

  orders(_step, answer) {
    return (answer.text ?? '').split('\n').flatMap((line, at) => {
      let list: unknown
      try {
        list = JSON.parse(line)
      } catch {
        return []
      }
      if (!Array.isArray(list)) return []
      // Equal orders are one row.
      const rows: { order: Order; key: string; times: number }[] = []
      ;(list as [string, number, number][]).forEach(([what, x, y], index) => {
        const key = `${what} ${x} ${y}`
        const last = rows.at(-1)
        if (last?.key === key) return void last.times++
        rows.push({ key, times: 1, order: { index: at * 10_000 + index, name: at === 0 ? 'build' : 'deploy', text: `${what} (${x}, ${y})` } })
      })
      return rows.map(({ order, times }) => ({ ...order, effect: times > 1 ? `${times} of them` : '' }))
    })
  },

  life(step, id) {
    const number = id.split(' ')[1] ?? ''
    const own = (one: { id: number }) => `${one.id}` === number
    const found: Moment[] = []
    let [taken, hits, moved] = [0, 0, undefined as Tile | undefined]
    for (const { events } of step.parts) {
      for (const { at, id } of events.spawn.filter(own)) void id, found.push({ text: `made at ${at.join(', ')}`, kind: 'birth' })
      for (const { to, unit } of events.moves) if (own(unit)) moved = to
      for (const { attacker } of events.attack) if (own(attacker)) hits++
      for (const { amount, unit } of events.damage) if (own(unit)) taken += amount
      for (const { at, unit, damage } of events.breach) if (own(unit)) found.push({ text: `breaches at ${at.join(', ')} for ${+damage.toFixed(1)}`, kind: 'door' })
      for (const { at, unit } of events.self_destruct) if (own(unit)) found.push({ text: `blows itself up at ${at.join(', ')}`, kind: 'hit' })
      for (const { at, unit, removed } of events.death) if (own(unit)) found.push({ text: removed ? 'removed' : `falls at ${at.join(', ')}`, kind: 'death' })
    }
    if (moved) found.unshift({ text: `goes to ${moved.join(', ')}`, kind: 'move' })
    if (hits > 0) found.push({ text: `attacks ${hits} ${hits === 1 ? 'time' : 'times'}`, kind: 'hit' })
    if (taken > 0) found.push({ text: `loses ${+taken.toFixed(1)} health`, kind: 'warning' })
    return found
  },

  reach(scene, id, head) {
    const found = everyone(scene).find(({ unit }) => `unit ${unit.id}` === id)
    return found && { steps: [], hits: within(found.unit.at, formOf(head, found.kind, upgradedIn(scene, found)).attackRange ?? 0) }
  },

  threats(scene, x, y, head) {
    return everyone(scene)
      .filter((found) => within(found.unit.at, formOf(head, found.kind, upgradedIn(scene, found)).attackRange ?? 0).some(([a, b]) => a === x && b === y))
      .map(({ unit, kind, player }) => ({ seat: player, id: `unit ${unit.id}`, name: `${KINDS[kind]!.toLowerCase()} ${unit.at.join(', ')}` }))
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

function counted(kinds: string[]): string {
  const counts = new Map<string, number>()
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${count} ${kind.toLowerCase()}${count > 1 ? 's' : ''}`).join(', ')
}
