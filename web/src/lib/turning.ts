// Why a match was won: the turns in which the game's own score swung most.

import type { MatchStream } from './stream'

export interface TurningPoint {
  step: number
  /** How far the score swung. */
  swing: number
  /** Who gained by it. */
  seat: number
  sentence: string
}

/** The scores after each step, the start first: one list a seat. */
export function curves(stream: MatchStream): number[][] {
  const curves: number[][] = stream.head.seats.map(() => [])
  for (const scores of [stream.scores(stream.start), ...stream.briefs.map(({ scores }) => scores)]) {
    curves.forEach((curve, seat) => curve.push(scores[seat] ?? 0))
  }
  return curves
}

/**
 * Up to `most` turning points in order of play. Of swings of one size those count first that the winner made,
 * near the turn in which it took the lead for good.
 */
export function turningPoints(stream: MatchStream, most = 5): TurningPoint[] {
  const scores = curves(stream)
  const seats = scores.length
  const { winner, decided } = decision(stream, scores)
  const swings = stream.briefs.map((_, at) => {
    // The gain of each seat over the mean of all.
    const changes = scores.map((curve) => curve[at + 1]! - curve[at]!)
    const gains = stream.drawing.paysFromScore ? changes.map((change) => Math.max(change, 0)) : changes
    const mean = gains.reduce((sum, gain) => sum + gain, 0) / Math.max(seats, 1)
    const over = gains.map((gain) => gain - mean)
    const seat = over.reduce((best, gain, at) => (gain > over[best]! ? at : best), 0)
    return { step: at + 1, swing: over[seat]!, seat: seat + 1 }
  })
  const chosen = swings
    .filter(({ swing }) => swing > 1e-9)
    .sort(
      (a, b) =>
        b.swing - a.swing ||
        Number(b.seat === winner) - Number(a.seat === winner) ||
        Math.abs(a.step - decided) - Math.abs(b.step - decided) ||
        a.step - b.step,
    )
    .slice(0, most)
  return chosen.sort((a, b) => a.step - b.step).map((point) => ({ ...point, sentence: sentence(stream, point, scores) }))
}

/** Who won alone, and the step in which its score went above all others for good; the last step where there is no such thing. */
function decision(stream: MatchStream, scores: number[][]): { winner: number | undefined; decided: number } {
  const ranks = stream.end?.outcome?.ranks ?? []
  const first = ranks.flatMap((rank, index) => (rank === 1 ? [index] : []))
  if (first.length !== 1) return { winner: undefined, decided: stream.briefs.length }
  const [winner] = first as [number]
  const leads = (step: number) => scores.every((curve, index) => index === winner || curve[step]! < scores[winner]![step]!)
  let decided = stream.briefs.length
  while (decided > 0 && leads(decided - 1)) decided--
  return { winner: winner + 1, decided }
}

function sentence(stream: MatchStream, { step, seat }: { step: number; seat: number }, scores: number[][]): string {
  const told = stream.briefs[step - 1]!.told.slice()
  told.sort((a, b) => b.weight - a.weight)
  const what = told.slice(0, 2).map(({ text }) => text)
  const more = told.length > 2 ? ` and ${told.length - 2} more` : ''
  const happened = what.length > 0 ? what.join('; ') + more : `${stream.label(seat)} gains`
  const round = (value: number) => +value.toFixed(1)
  const change = scores.map((curve) => [round(curve[step - 1]!), round(curve[step]!)] as const)
  const [from, to] = [0, 1].map((which) => change.map((pair) => pair[which]).join(':'))
  return `${happened} (${stream.drawing.scoreWord} ${from} → ${to}).`
}
