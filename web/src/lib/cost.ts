// Where a match was lost: the turn whose order cost its seat most, judged by playing on from it (`crates/agon-view/src/analysis.rs`).
// Only what was played out often enough is said.

import type { OpenReplay } from './engine/asks'
import type { Outlook, WinChance } from './generated/view'
import type { MatchStream } from './stream'
import { chances } from './turning'

/** So many pairs of futures confirm what is said. */
const ENOUGH = 200
/** So many say whether a turn is worth that. */
const FIRST = 16
/** How many turns are looked at, and how many of those closely. */
const LOOKED = 10
const CLOSELY = 3
/** An order that keeps less than this more of the chance lost no match. */
const LEAST = 0.15
/** How long is looked without being told to go on, in milliseconds. */
export const PATIENCE = 20_000

/** The order that would have kept a chance. */
export interface Cost {
  step: number
  /** The order played, and the other one, as a bot writes them. */
  given: string
  better: string
  /** The chance after the order that was played, and what the other one keeps more. */
  after: WinChance
  gain: WinChance
}

export interface Verdict {
  /** None if no single order cost that much. */
  cost: Cost | undefined
  /** The first turn from which the seat was behind to the end; none where the game does not say. */
  behind: number | undefined
  /** Whether all turns were looked at that may have been it. */
  whole: boolean
}

/** From which step on a seat's chance stayed below an equal share; none if it never did. */
export function behindSince(stream: MatchStream, seat: number): number | undefined {
  const line = chances(stream)?.[seat - 1]
  if (!line) return undefined
  const even = line.findLastIndex((chance) => chance >= 1 / stream.head.seats.length)
  return even + 1 < line.length ? even + 1 : undefined
}

/** The steps at which a seat answered, those after which its chance fell most first. */
export function suspects(stream: MatchStream, seat: number): number[] {
  const own = stream.briefs.filter(({ answers }) => answers.some((answer) => answer.seat === seat && answer.missing === undefined)).map(({ number }) => number)
  const line = chances(stream)?.[seat - 1]
  // The answer of the others may show first what an order cost.
  const fall = (step: number) => (line ? line[step - 1]! - Math.min(...line.slice(step, step + 2)) : 0)
  return own.toSorted((a, b) => fall(b) - fall(a) || b - a).slice(0, LOOKED)
}

/** Looks for it; `told` hears how many turns of how many were looked at. */
export async function costliest(
  open: OpenReplay,
  stream: MatchStream,
  seat: number,
  told: (done: number, of: number) => void,
  gone: () => boolean,
  patience = PATIENCE,
): Promise<Verdict | undefined> {
  const until = performance.now() + patience
  const late = () => gone() || performance.now() > until
  const steps = suspects(stream, seat)
  const none = { cost: undefined, behind: behindSince(stream, seat) }
  const known: { step: number; gain: WinChance }[] = []
  for (const step of steps) {
    told(known.length, steps.length)
    const outlook = await refined(open, step, (now) => gainOf(now, seat)?.count ?? ENOUGH, FIRST, late)
    if (gone()) return undefined
    const gain = outlook && gainOf(outlook, seat)
    if (gain) known.push({ step, gain })
    if (late()) return { ...none, whole: false }
  }
  const closely = known.toSorted((a, b) => b.gain.mean - a.gain.mean).slice(0, CLOSELY)
  const found: Cost[] = []
  for (const { step } of closely) {
    told(steps.length, steps.length)
    const cost = await costOf(open, step, seat, late)
    if (gone()) return undefined
    if (cost === 'late') return { ...none, cost: best(found), whole: false }
    if (cost) found.push(cost)
  }
  return { ...none, cost: best(found), whole: true }
}

const best = (found: Cost[]) => found.toSorted((a, b) => b.gain.mean - a.gain.mean)[0]

/** What the order of a step cost, if that is enough to be said. */
async function costOf(open: OpenReplay, step: number, seat: number, late: () => boolean): Promise<Cost | 'late' | undefined> {
  const [given, better] = [await open.text((id) => ({ written: { id, step, seat } })), await open.text((id) => ({ instead: { id, step, seat } }))]
  if (!better || better.trim() === given?.trim()) return undefined
  await open.text((id) => ({ wish: { id, step, seat, text: better } }))
  const outlook = await refined(open, step, ({ wish }) => wish?.gain.count ?? 0, ENOUGH, late)
  const [gain, after] = [outlook?.wish?.gain, outlook?.chances[seat - 1]]
  if (!gain || !after || gain.count < ENOUGH) return 'late'
  const sure = gain.mean >= LEAST && gain.mean - 2 * gain.error > 0
  return sure ? { step, given: (given ?? '').trim(), better: better.trim(), after, gain } : undefined
}

const gainOf = (outlook: Outlook, seat: number) => outlook.orders.find((order) => order.seat === seat)?.gain

/** Plays on from a step until `count` has reached `most`, nothing more is to be learned, or it is late. */
async function refined(open: OpenReplay, step: number, count: (now: Outlook) => number, most: number, late: () => boolean): Promise<Outlook | undefined> {
  let now: Outlook | undefined
  // The pairs go where they tell most: to the others' orders as well.
  for (let round = 0, pairs = 4; round < 400 && !late(); round++) {
    const began = performance.now()
    now = JSON.parse((await open.text((id) => ({ refine: { id, step, pairs, all: false } })))!) as Outlook
    if (count(now) >= most || !now.more) break
    pairs = Math.max(1, Math.min(Math.round((pairs * 120) / Math.max(performance.now() - began, 1)), 2 * most))
  }
  return now
}
