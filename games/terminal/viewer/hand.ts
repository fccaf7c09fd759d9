// Terminal by hand: take a tool, click tiles; what is planned is drawn, and the way its units will go.

import type { Actor, Hand, Pen } from 'agon-viewer'
import { KINDS } from './frames'
import type { Scene, Tile } from './generated'
import type { Frame } from './scenes'

type Kind = 'wall' | 'support' | 'turret' | 'scout' | 'demolisher' | 'interceptor'
/** As `Choice` in `src/hand.rs`. */
type Choice = { do: 'place'; kind: Kind; x: number; y: number } | { do: 'upgrade' | 'remove'; x: number; y: number }

const TOOLS: [string, string, string][] = [
  ['wall', 'Wall', 'q'],
  ['support', 'Support', 'w'],
  ['turret', 'Turret', 'e'],
  ['scout', 'Scout', 'r'],
  ['demolisher', 'Demolisher', 't'],
  ['interceptor', 'Interceptor', 'y'],
  ['upgrade', 'Upgrade', 'u'],
  ['remove', 'Remove', 'x'],
]
const ROWS = 28

/** A tile on the screen, whose rows count from above. */
const shown = ({ x, y }: { x: number; y: number }): [number, number] => [x, ROWS - 1 - y]
const middle = ([x, y]: Tile): [number, number] => [x + 0.5, ROWS - 0.5 - y]
const points = (value: number) => String(Math.round(value * 10) / 10)

// eslint-disable-next-line @typescript-eslint/no-explicit-any
function price(head: { rules: any }, kind: number, upgraded = false): [number, 'SP' | 'MP'] {
  const unit = head.rules?.unitInformation?.[kind] ?? {}
  if (kind >= 3) return [unit.cost2 ?? 0, 'MP']
  return [(upgraded ? (unit.upgrade?.cost1 ?? unit.cost1) : unit.cost1) ?? 0, 'SP']
}

/** The kind of the structure on a tile, by its number. */
function standing(scene: Scene, x: number, y: number): number {
  return [0, 1, 2].find((kind) => scene.units.some((lists) => lists.units[kind]!.some(({ at }) => at[0] === x && at[1] === y))) ?? -1
}

const toolOf = (choice: Choice) => (choice.do === 'place' ? choice.kind : choice.do)

export const hand: Hand<Scene, Choice, Frame> = {
  game: 'terminal',
  adviser: 'planner',
  opponent: 'fortress',

  actors: ({ head }) =>
    TOOLS.map(([id, name, key], kind): Actor => {
      const [cost, of] = price(head, kind)
      return { id, name, key, note: kind < 6 ? `${points(cost)} ${of}` : '' }
    }),

  actor: toolOf,
  target: shown,

  words(choice, scene) {
    const place = `${choice.x}, ${choice.y}`
    if (choice.do === 'place') return `${KINDS[TOOLS.findIndex(([id]) => id === choice.kind)]} at ${place}`
    const kind = standing(scene, choice.x, choice.y)
    return `${choice.do === 'upgrade' ? 'Upgrade' : 'Remove'} ${(KINDS[kind] ?? 'what is built').toLowerCase()} at ${place}`
  },

  cost(choice, head, scene) {
    if (choice.do === 'remove') return ''
    const kind = choice.do === 'place' ? TOOLS.findIndex(([id]) => id === choice.kind) : Math.max(0, standing(scene, choice.x, choice.y))
    const [cost, of] = price(head, kind, choice.do === 'upgrade')
    return `−${points(cost)} ${of}`
  },

  wish(actor, [x, row]) {
    const y = ROWS - 1 - row
    if (y < 0 || y >= ROWS) return undefined
    return actor === 'upgrade' || actor === 'remove' ? { do: actor, x, y } : { do: 'place', kind: actor as Kind, x, y }
  },

  purse({ seat, scene, prospect, chosen }) {
    const [before, after] = [scene.players[seat - 1]!, (prospect.midway ?? scene).players[seat - 1]!]
    const mobile = chosen.filter((choice) => choice.do === 'place' && TOOLS.findIndex(([id]) => id === choice.kind) >= 3).length
    return `SP ${points(after.sp)} of ${points(before.sp)} left · MP ${points(after.mp)} of ${points(before.mp)} left${mobile > 0 ? ` · ${mobile} to deploy` : ''}`
  },

  paint(pen, { chosen, step, seat }) {
    const counts = new Map<string, { choice: Choice; count: number }>()
    for (const choice of chosen) {
      const key = `${toolOf(choice)} ${choice.x} ${choice.y}`
      counts.set(key, { choice, count: (counts.get(key)?.count ?? 0) + 1 })
    }
    way(pen, step.parts, seat)
    for (const { choice, count } of counts.values()) {
      const [x, y] = shown(choice)
      const mark = { wall: 'W', support: 'S', turret: 'T', scout: '▲', demolisher: '◆', interceptor: '●', upgrade: '↑', remove: '×' }[toolOf(choice)]
      pen.rect(x + 0.1, y + 0.1, 0.8, 0.8, pen.ink.ground, 0.15)
      pen.text(mark, x + 0.5, y + 0.54, { size: 0.6, colour: pen.seat(seat), weight: 800 })
      if (count > 1) {
        pen.disc(x + 0.86, y + 0.14, 0.3, pen.ink.text)
        pen.text(`${count}`, x + 0.86, y + 0.17, { size: 0.4, colour: pen.ink.ground, weight: 800 })
      }
    }
  },

  foresee({ step, seat, scene, prospect }) {
    const other = 3 - seat
    const says: string[] = []
    const breaches = new Map<string, { count: number; at: Tile; mine: boolean }>()
    let [fell, killed, broke] = [0, 0, 0]
    // Who breaches leaves the board, and has not fallen.
    const through = new Set(step.parts.flatMap(({ events }) => events.breach.map(({ unit }) => unit.id)))
    for (const { events } of step.parts) {
      for (const { at, unit } of events.breach) {
        const key = `${unit.player} ${at}`
        const known = breaches.get(key)
        breaches.set(key, { count: (known?.count ?? 0) + 1, at, mine: unit.player === seat })
      }
      for (const { unit, removed } of events.death) {
        if (removed || through.has(unit.id)) continue
        if (KINDS.indexOf(unit.kind) >= 3) unit.player === seat ? fell++ : killed++
        else if (unit.player === other) broke++
      }
      for (const { tiles, unit } of events.self_destruct) {
        if (unit.player === seat) says.push(`${unit.kind} destroys itself, hitting ${tiles.length}: no way leads to the far edge`)
      }
    }
    const [before, after] = [scene.players[other - 1]!, prospect.scene.players[other - 1]!]
    for (const { count, at, mine } of breaches.values()) {
      if (mine) says.unshift(`${count} breach at ${at.join(', ')}: their health ${points(before.hp)} → ${points(Math.max(0, after.hp))}`)
    }
    if (fell > 0) says.push(`${fell} of yours fall`)
    if (killed > 0) says.push(`${killed} of theirs fall`)
    if (broke > 0) says.push(`${broke} of their structures break`)
    const next = prospect.scene.players[seat - 1]!
    says.push(`Next turn you have ${points(next.sp)} SP and ${points(next.mp)} MP`)
    return [...new Set(says)].slice(0, 8)
  },
}

/** The ways of one's own mobile units, where they fall and where they breach. */
function way(pen: Pen, frames: Frame[], seat: number): void {
  const steps = new Set<string>()
  const through = new Set(frames.flatMap(({ events }) => events.breach.map(({ unit }) => unit.id)))
  for (const { events } of frames) {
    for (const { from, to, unit } of events.moves) {
      const key = `${from} ${to}`
      if (unit.player !== seat || steps.has(key)) continue
      steps.add(key)
      pen.line([middle(from), middle(to)], pen.ink.ground, pen.px(6))
      pen.line([middle(from), middle(to)], pen.seat(seat), pen.px(3), [pen.px(1), pen.px(6)])
    }
  }
  for (const { events } of frames) {
    for (const { at, unit } of events.breach) if (unit.player === seat) pen.disc(...middle(at), 0.42, undefined, pen.seat(seat), pen.px(3))
    for (const { at, unit, removed } of events.death) {
      if (removed || unit.player !== seat || KINDS.indexOf(unit.kind) < 3) continue
      const [x, y] = middle(at)
      if (through.has(unit.id)) continue
      for (const turn of [1, -1]) pen.line([[x - 0.25, y - 0.25 * turn], [x + 0.25, y + 0.25 * turn]], pen.ink.bad, pen.px(3))
    }
  }
}
