// Terminal by hand: take a tool, click tiles; what is planned is drawn, and the way its units will go.

import type { Actor, Hand, Pen } from 'agon-viewer'
import { FIGURES, captions, chevron, number } from './board'
import { KINDS } from './frames'
import type { Scene, Tile } from './generated'
import { type Frame, formOf } from './scenes'

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
/** The pictures of the tools: those of the units, an arrow that leads up, and a cross. */
const ICONS = [...FIGURES, 'M12 3l8 9h-5v9H9v-9H4z', 'M5.500 3L12 9.500 18.500 3 21 5.500 14.500 12 21 18.500 18.500 21 12 14.500 5.500 21 3 18.500 9.500 12 3 5.500z']
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
  corner: true,
  opponent: 'fortress',

  actors: ({ head }) =>
    TOOLS.map(([id, name, key], kind): Actor => {
      const [cost, of] = price(head, kind)
      return { id, name, key, icon: ICONS[kind]!, plate: kind >= 3 && kind < 6, note: kind < 6 ? `${points(cost)} ${of}` : '' }
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

  paint(pen, { chosen, step, seat, head, selected, over }) {
    const { ink } = pen
    const counts = new Map<string, { choice: Choice; count: number }>()
    for (const choice of chosen) {
      const key = `${toolOf(choice)} ${choice.x} ${choice.y}`
      counts.set(key, { choice, count: (counts.get(key)?.count ?? 0) + 1 })
    }
    way(pen, step.parts, seat)
    for (const { choice, count } of counts.values()) {
      const [x, y] = middle([choice.x, choice.y])
      const kind = TOOLS.findIndex(([id]) => id === toolOf(choice))
      if (choice.do === 'upgrade') chevron(pen, x, y - 0.5)
      else if (choice.do === 'remove') pen.line([[x - 0.38, y - 0.38], [x + 0.38, y + 0.38]], ink.bad, 0.1)
      else if (kind >= 3) pen.plate(seat, x, y, 0.9, FIGURES[kind])
      // What is to be built is paler than what stands.
      else pen.faded(0.6, () => pen.figure(FIGURES[kind]!, x, y, 0.8, pen.seat(seat), ink.ground, pen.px(2)))
      if (choice.do !== 'place' || kind < 3) pen.frame(x - 0.46, y - 0.46, 0.92, 0.92, ink.link, pen.px(1.5))
      if (count > 1) number(pen, x, y, count)
    }
    // How far that reaches which would be placed next, and that which was placed last.
    const last = chosen.at(-1)
    const tool = TOOLS.findIndex(([id]) => id === selected[0])
    const near: [number, [number, number] | undefined][] = [
      [last?.do === 'place' ? TOOLS.findIndex(([id]) => id === last.kind) : -1, last && middle([last.x, last.y])],
      [tool, over ? [over[0] + 0.5, over[1] + 0.5] : undefined],
    ]
    for (const [kind, at] of near) {
      const form = at && (kind === 1 || kind === 2) ? formOf(head, kind, false) : undefined
      const reach = kind === 1 ? form?.shieldRange : form?.attackRange
      if (!at || !reach) continue
      pen.ctx.setLineDash([pen.px(5), pen.px(4)])
      pen.disc(at[0], at[1], reach, undefined, ink.link, pen.px(1.5))
      pen.ctx.setLineDash([])
    }
    captions(pen, step.parts, seat)
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
        if (unit.player === seat) says.push(`${unit.kind} destroys itself, hitting ${tiles.length}: there is no path to the far edge`)
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

/** The ways of one's own mobile units. */
function way(pen: Pen, frames: Frame[], seat: number): void {
  const steps = new Set<string>()
  for (const { events } of frames) {
    for (const { from, to, unit } of events.moves) {
      const key = `${from} ${to}`
      if (unit.player !== seat || steps.has(key)) continue
      steps.add(key)
      pen.line([middle(from), middle(to)], pen.ink.ground, pen.px(6))
      pen.line([middle(from), middle(to)], pen.seat(seat), pen.px(3), [pen.px(1), pen.px(6)])
    }
  }
}
