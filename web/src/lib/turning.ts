// Why a match was won: the turns in which the chances of finishing first changed most, and what happened in them.

import type { MatchStream } from './stream'

export interface TurningPoint {
  step: number
  /** How far it changed the expected result: a share of the first place, or of the score if the game gives no chances. */
  swing: number
  /** The seat that gained by it. */
  seat: number
  sentence: string
  /** How that seat's chance changed, in words; none if the game gives no chances. */
  chance?: string
}

/** How many steps before and after a turn determine what was expected. A change that is undone at once decides nothing. */
const AROUND = 4
/** The least change of a turning point, in chances. */
const LEAST = 0.03

/** The scores after each step, the start first: one list per seat. */
export function curves(stream: MatchStream): number[][] {
  return bySeat(stream, [stream.scores(stream.start), ...stream.briefs.map(({ scores }) => scores)])
}

/** The chance of each seat to finish first after each step, the start first; none if the game does not give it. */
export function chances(stream: MatchStream): number[][] | undefined {
  const start = stream.head.advantage
  if (!start || stream.briefs.some(({ advantage }) => advantage === undefined)) return undefined
  return bySeat(stream, [start, ...stream.briefs.map(({ advantage }) => advantage!)])
}

function bySeat(stream: MatchStream, steps: number[][]): number[][] {
  return stream.head.seats.map((_, seat) => steps.map((values) => values[seat] ?? 0))
}

/** The winner, in words; none for a match without an outcome. */
export function winner(stream: MatchStream): string | undefined {
  const ranks = stream.end?.outcome?.ranks
  const first = ranks?.flatMap((rank, seat) => (rank === 1 ? [stream.label(seat + 1)] : []))
  return first && (first.length === 1 ? `${first[0]} wins` : `A draw of ${first.join(' and ')}`)
}

/** Up to `most` turning points in order of play. */
export function turningPoints(stream: MatchStream, most = 3): TurningPoint[] {
  const known = chances(stream)
  const lines = known ?? curves(stream)
  const swings = stream.briefs.map((_, at) => {
    const changes = lines.map((line) => (known ? lasting(line, at) : line[at + 1]! - line[at]!))
    const gains = !known && stream.drawing.paysFromScore ? changes.map((change) => Math.max(change, 0)) : changes
    // A gain shared by all is no swing.
    const mean = gains.reduce((sum, gain) => sum + gain, 0) / Math.max(gains.length, 1)
    const over = gains.map((gain) => gain - mean)
    const seat = over.reduce((best, gain, at) => (gain > over[best]! ? at : best), 0)
    return { step: at + 1, swing: over[seat]!, seat: seat + 1 }
  })
  const near = known ? Math.max(1, Math.round(stream.briefs.length / 50)) : 0
  const chosen: typeof swings = []
  for (const one of swings.filter(({ swing }) => swing > (known ? LEAST : 1e-9)).sort((a, b) => b.swing - a.swing || a.step - b.step)) {
    if (chosen.length < most && chosen.every(({ step }) => Math.abs(step - one.step) > near)) chosen.push(one)
  }
  return chosen.sort((a, b) => a.step - b.step).map((point) => {
    const chance = known && changed(stream, point, known)
    return { ...point, sentence: sentence(stream, point, lines, chance), ...(chance && { chance }) }
  })
}

/** How far a line moved in the step after `at` and stayed: never more than in that step alone. */
function lasting(line: number[], at: number): number {
  // The median, not the mean: a single step that was undone does not move it.
  const middle = (values: number[]) => {
    const sorted = values.toSorted((a, b) => a - b)
    return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
  }
  const step = line[at + 1]! - line[at]!
  const kept = middle(line.slice(at + 1, at + 1 + AROUND)) - middle(line.slice(Math.max(0, at + 1 - AROUND), at + 1))
  if (step * kept <= 0) return 0
  return Math.sign(step) * Math.min(Math.abs(step), Math.abs(kept))
}

/** `greedy’s chance of first place: 34 % → 52 %`. */
function changed(stream: MatchStream, { step, seat }: { step: number; seat: number }, chances: number[][]): string {
  const own = chances[seat - 1]!
  const [from, to] = [own[step - 1]!, own[step]!].map((chance) => `${Math.round(chance * 100)} %`)
  return `${stream.label(seat)}’s chance of first place: ${from} → ${to}`
}

function sentence(stream: MatchStream, { step, seat }: { step: number; seat: number }, lines: number[][], chance: string | undefined): string {
  const told = stream.briefs[step - 1]!.told.slice()
  told.sort((a, b) => b.weight - a.weight)
  const what = told.slice(0, 2).map(({ text }) => text)
  const more = told.length > 2 ? ` and ${told.length - 2} more` : ''
  const won = step === stream.total && stream.end?.outcome?.ranks[seat - 1] === 1
  const otherwise = !chance ? 'gains' : won ? 'is first at the end' : 'gains by position'
  const happened = what.length > 0 ? what.join('; ') + more : `${stream.label(seat)} ${otherwise}`
  if (chance) return `${happened}. ${chance}.`
  const round = (value: number) => +value.toFixed(1)
  const change = lines.map((line) => [round(line[step - 1]!), round(line[step]!)] as const)
  const [from, to] = [0, 1].map((which) => change.map((pair) => pair[which]).join(':'))
  return `${happened} (${stream.drawing.scoreWord} ${from} → ${to}).`
}
