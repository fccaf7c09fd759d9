import { expect, test } from 'vitest'
import type { Drawing, Head, Line } from './drawing'
import { MatchStream, type StepSource } from './stream'

const drawing: Drawing<{ turn: number }, number> = {
  game: 'test',
  scoreWord: 'points',
  size: () => [1, 1],
  draw: () => {},
  score: ({ turn }) => [turn],
  tell: () => [],
  inspect: () => undefined,
  find: () => undefined,
  parts: (frames) => frames + 1,
  frames: (told) => told as number[],
}

/** A match of this many turns, and what was requested. */
function match(turns: number, words = ''): { stream: MatchStream; asked: [number, number][] } {
  const asked: [number, number][] = []
  const line = (step: number): Line => ({ step, moment: `turn ${step}${words}`, answers: [], events: [], frames: [1, 2], scene: { turn: step }, deciding: [1] })
  const source: StepSource = {
    lines: async (from, to) => {
      asked.push([from, to])
      return Array.from({ length: to - from + 1 }, (_, at) => JSON.stringify(line(from + at)))
    },
  }
  const end = { end: 'whole', why: null, outcome: null, moment: 'end' }
  const head = { view: 2, stepWord: 'turn', seats: [{ label: 'ann' }], steps: turns, frames: Array(turns).fill(2), scene: { turn: 0 }, deciding: [1], end }
  return { stream: new MatchStream(head as unknown as Head, drawing as Drawing, source), asked }
}

test('a step is had by itself, and then what comes after it', async () => {
  const { stream, asked } = match(100)
  expect([stream.total, stream.frames.length, stream.lastOf(100)]).toEqual([100, 301, 300])
  expect(stream.has(200)).toBe(false)
  const { step } = stream.frames[200]!
  await stream.need(step)
  expect(stream.step(step)).toMatchObject({ number: step, moment: `turn ${step}`, before: { turn: step - 1 }, scene: { turn: step }, parts: [1, 2] })
  expect(asked).toEqual([[step - 1, step]])
  stream.ahead(step)
  await stream.need(step + 3)
  expect(asked).toEqual([[step - 1, step], [step + 1, step + 8]])
  stream.ahead(step + 3)
  expect(asked).toHaveLength(2)
  expect(stream.known).toBe(false)
})

test('what is asked for twice is asked once', async () => {
  const { stream, asked } = match(10)
  await Promise.all([stream.need(4), stream.need(4)])
  expect(asked).toHaveLength(1)
})

test('all is read for the charts, and only some of it is kept', async () => {
  const { stream, asked } = match(200, ' '.repeat(200_000))
  await stream.readAll(() => {}, () => false)
  expect(stream.known).toBe(true)
  expect(stream.briefs.map(({ scores }) => scores[0])).toEqual(Array.from({ length: 200 }, (_, at) => at + 1))
  expect(stream.step(3)).toBeUndefined()
  expect(stream.step(200)).toBeDefined()
  const before = asked.length
  await stream.need(3)
  expect(stream.step(3)).toMatchObject({ number: 3, before: { turn: 2 } })
  expect(asked.length).toBe(before + 1)
})

test('bots that register while a match runs are named from then on', () => {
  const { head } = match(0).stream
  const stream = new MatchStream({ ...head, seats: [{ label: 'ann' }, { label: 'bob' }] }, drawing as Drawing)
  const line: Line = { step: 1, moment: 'turn 1', answers: [], events: [], scene: { turn: 1 }, deciding: [1], registered: ['Tigers', null] }
  stream.add(line)
  expect(stream.head.seats).toEqual([{ label: 'ann', registered: 'Tigers' }, { label: 'bob' }])
})

test('a step that does not come is an error, not a wait without end', async () => {
  const { stream } = match(5)
  const nothing: StepSource = { lines: async () => [] }
  const empty = new MatchStream(stream.head, drawing as Drawing, nothing)
  await expect(empty.need(2)).rejects.toThrow('turn 1')
})

test('a match that was taken back goes on from there', () => {
  const stream = new MatchStream(match(0).stream.head, drawing as Drawing)
  const line = (step: number, turn: number): Line => ({ step, moment: `turn ${step}`, answers: [], events: [], frames: [1], scene: { turn }, deciding: [1] })
  stream.end = undefined
  for (let step = 1; step <= 5; step++) stream.add(line(step, step))
  stream.add({ end: 'whole', why: null, outcome: null, moment: 'end' })
  stream.cut(2)
  expect([stream.total, stream.frames.length, stream.firsts, stream.briefs.length, stream.end]).toEqual([2, 5, [0, 1, 3], 2, undefined])
  stream.add(line(3, 30))
  expect(stream.step(3)).toMatchObject({ before: { turn: 2 }, scene: { turn: 30 } })
  stream.cut(0)
  expect([stream.total, stream.frames.length, stream.firsts]).toEqual([0, 1, [0]])
})
