import { expect, test } from 'vitest'
import type { Drawing, Head, Line } from './drawing'
import { Film, type Reel } from './film'

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

/** A match of so many turns, and what was asked for. */
function match(turns: number, words = ''): { film: Film; asked: [number, number][] } {
  const asked: [number, number][] = []
  const line = (step: number): Line => ({ step, moment: `turn ${step}${words}`, answers: [], events: [], frames: [1, 2], scene: { turn: step }, deciding: [1] })
  const reel: Reel = {
    lines: async (from, to) => {
      asked.push([from, to])
      return Array.from({ length: to - from + 1 }, (_, at) => JSON.stringify(line(from + at)))
    },
  }
  const end = { end: 'whole', why: null, outcome: null, moment: 'end' }
  const head = { view: 2, stepWord: 'turn', seats: [{ label: 'ann' }], steps: turns, frames: Array(turns).fill(2), scene: { turn: 0 }, deciding: [1], end }
  return { film: new Film(head as unknown as Head, drawing as Drawing, reel), asked }
}

test('a step is had by itself, with little around it', async () => {
  const { film, asked } = match(100)
  expect([film.total, film.frames.length, film.lastOf(100)]).toEqual([100, 301, 300])
  expect(film.has(200)).toBe(false)
  const { step } = film.frames[200]!
  await film.need(step)
  expect(film.step(step)).toMatchObject({ number: step, moment: `turn ${step}`, before: { turn: step - 1 }, scene: { turn: step }, parts: [1, 2] })
  expect(asked).toEqual([[step - 1, step + 7]])
  film.ahead(step)
  expect(asked).toHaveLength(1)
  expect(film.known).toBe(false)
})

test('what is asked for twice is asked once', async () => {
  const { film, asked } = match(10)
  await Promise.all([film.need(4), film.need(4)])
  expect(asked).toHaveLength(1)
})

test('all is read for the charts, and only some of it is kept', async () => {
  const { film, asked } = match(200, ' '.repeat(200_000))
  await film.readAll(() => {}, () => false)
  expect(film.known).toBe(true)
  expect(film.briefs.map(({ scores }) => scores[0])).toEqual(Array.from({ length: 200 }, (_, at) => at + 1))
  expect(film.step(3)).toBeUndefined()
  expect(film.step(200)).toBeDefined()
  const before = asked.length
  await film.need(3)
  expect(film.step(3)).toMatchObject({ number: 3, before: { turn: 2 } })
  expect(asked.length).toBe(before + 1)
})

test('bots that register while a match runs are named from then on', () => {
  const { head } = match(0).film
  const film = new Film({ ...head, seats: [{ label: 'ann' }, { label: 'bob' }] }, drawing as Drawing)
  const line: Line = { step: 1, moment: 'turn 1', answers: [], events: [], scene: { turn: 1 }, deciding: [1], registered: ['Tigers', null] }
  film.add(line)
  expect(film.head.seats).toEqual([{ label: 'ann', registered: 'Tigers' }, { label: 'bob' }])
})

test('a step that does not come is an error, not a wait without end', async () => {
  const { film } = match(5)
  const nothing: Reel = { lines: async () => [] }
  const empty = new Film(film.head, drawing as Drawing, nothing)
  await expect(empty.need(2)).rejects.toThrow('turn 1')
})

test('a match that was taken back goes on from there', () => {
  const film = new Film(match(0).film.head, drawing as Drawing)
  const line = (step: number, turn: number): Line => ({ step, moment: `turn ${step}`, answers: [], events: [], frames: [1], scene: { turn }, deciding: [1] })
  film.end = undefined
  for (let step = 1; step <= 5; step++) film.add(line(step, step))
  film.add({ end: 'whole', why: null, outcome: null, moment: 'end' })
  film.cut(2)
  expect([film.total, film.frames.length, film.firsts, film.briefs.length, film.end]).toEqual([2, 5, [0, 1, 3], 2, undefined])
  film.add(line(3, 30))
  expect(film.step(3)).toMatchObject({ before: { turn: 2 }, scene: { turn: 30 } })
  film.cut(0)
  expect([film.total, film.frames.length, film.firsts]).toEqual([0, 1, [0]])
})
