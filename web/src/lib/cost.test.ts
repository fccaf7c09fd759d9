import { expect, test } from 'vitest'
import { behindSince, costliest, suspects } from './cost'
import type { OpenReplay } from './engine/asks'
import type { MatchStream } from './stream'

/** A match in which seat 1 answers at odd steps, and its chance after each step. */
function match(chances: number[]): MatchStream {
  const both = (chance: number) => [chance, 1 - chance]
  const [start, ...after] = chances as [number, ...number[]]
  const briefs = after.map((chance, at) => ({ number: at + 1, advantage: both(chance), answers: [{ seat: (at % 2) + 1, text: 'x' }] }))
  return { head: { seats: [{}, {}], advantage: both(start) }, briefs } as unknown as MatchStream
}

/** Engines that find so much gain in another order, by step. */
function engines(gains: Record<number, number>) {
  let asked = 0
  const counts: Record<string, number> = {}
  const open = {
    text: async (question: (id: number) => object) => {
      asked++
      const [[kind, { step, pairs = 0 }]] = Object.entries(question(1)) as [[string, { step: number; pairs?: number }]]
      if (kind === 'written') return 'GIVEN\n'
      if (kind === 'instead') return `BETTER ${step}\n`
      if (kind === 'wish') return void (counts.wish = 0)
      counts[step] = (counts[step] ?? 0) + pairs
      counts.wish = (counts.wish ?? 0) + pairs
      const worth = (count: number) => ({ step, seat: 1, sure: false, gain: { mean: gains[step] ?? 0, error: 0.02, count } })
      return JSON.stringify({ orders: [worth(counts[step]!)], wish: worth(counts.wish), chances: [{ mean: 0.2, error: 0.02, count: 400 }], more: true })
    },
  } as unknown as OpenReplay
  return { open, asked: () => asked }
}

const LOST = [0.5, 0.5, 0.5, 0.45, 0.4, 0.4, 0.2, 0.2, 0.1]

test('the turns after which the chance fell most are looked at first, also when the others’ answer shows it', () => {
  expect(suspects(match(LOST), 1)[0]).toBe(5)
  expect(suspects(match(LOST), 2)).not.toContain(5)
})

test('a seat is behind from the turn after which it never had its share again', () => {
  expect(behindSince(match(LOST), 1)).toBe(3)
  expect(behindSince(match([0.5, 0.2, 0.6]), 1)).toBeUndefined()
})

test('the order that cost most is named, with the one that would have kept the chance, after 200 pairs', async () => {
  const { open } = engines({ 3: 0.16, 5: 0.31 })
  const told: number[] = []
  const found = await costliest(open, match(LOST), 1, (done) => told.push(done), () => false)
  expect(found).toMatchObject({ whole: true, behind: 3, cost: { step: 5, given: 'GIVEN', better: 'BETTER 5', gain: { mean: 0.31 } } })
  expect(found!.cost!.gain.count).toBeGreaterThanOrEqual(200)
  expect(told.at(-1)).toBe(4)
})

test('what costs less than 15 points lost no match; what was not looked at is not said; nobody who has gone is told', async () => {
  expect(await costliest(engines({ 5: 0.14 }).open, match(LOST), 1, () => {}, () => false)).toEqual({ cost: undefined, behind: 3, whole: true })
  expect(await costliest(engines({ 5: 0.31 }).open, match(LOST), 1, () => {}, () => false, -1)).toMatchObject({ cost: undefined, whole: false })
  expect(await costliest(engines({ 5: 0.31 }).open, match(LOST), 1, () => {}, () => true)).toBeUndefined()
})
