import { expect, test } from 'vitest'
import type { Drawing, Head } from './drawing'
import { MatchStream } from './stream'
import { chances, turningPoints } from './turning'

const drawing: Drawing<{ scores: number[] }> = {
  game: 'test',
  scoreWord: 'points',
  size: () => [1, 1],
  draw: () => {},
  score: ({ scores }) => scores,
  tell: (step, name) => step.events.map(({ event }) => ({ text: `${name(1)} ${event}`, weight: event === 'big' ? 3 : 0 })),
  inspect: () => undefined,
  find: () => undefined,
}

function stream(scores: number[][], chance?: number[]): MatchStream {
  const told = (at: number) => (chance ? { advantage: [chance[at]!, 1 - chance[at]!] } : {})
  const head = { view: 2, title: 'Test', seats: [{ label: 'ann' }, { label: 'bob' }], scene: { scores: scores[0]! }, deciding: [1], ...told(0) } as unknown as Head
  const stream = new MatchStream(head, drawing as Drawing)
  for (const [at, after] of scores.slice(1).entries()) {
    stream.add({ step: at + 1, moment: 'm', answers: [], events: [{ event: after[0] === 11 && after[1] === 1 ? 'big' : 'small' }], scene: { scores: after }, deciding: [1], ...told(at + 1) })
  }
  return stream
}

const still = (steps: number) => Array.from({ length: steps + 1 }, () => [0, 0])

test('the turns after which the chances were others, in order of play, with a sentence', () => {
  const made = stream(still(8), [0.5, 0.5, 0.7, 0.7, 0.7, 0.7, 0.2, 0.2, 0.2])
  const points = turningPoints(made)
  expect(points.map(({ step, seat }) => [step, seat])).toEqual([[2, 1], [6, 2]])
  expect(points[1]!.sentence).toBe('bob gains by position. bob’s chance of first place: 30 % → 80 %.')
})

test('a change that is taken back at once decides nothing', () => {
  expect(turningPoints(stream(still(6), [0.5, 0.5, 0.9, 0.5, 0.5, 0.5, 0.5]))).toEqual([])
})

test('the score does not matter where chances are known', () => {
  const scores = [[0, 0], [0, 9], [0, 9], [0, 9], [0, 9]]
  expect(turningPoints(stream(scores, [0.5, 0.5, 0.5, 0.9, 0.9])).map(({ step, seat }) => [step, seat])).toEqual([[3, 1]])
})

test('no three turns are neighbours in a long match', () => {
  const chance = Array.from({ length: 201 }, (_, at) => (at < 100 ? 0.5 : at === 100 ? 0.6 : at === 101 ? 0.7 : 0.8))
  expect(turningPoints(stream(still(200), chance))).toHaveLength(1)
})

test('without chances: the largest swings of the score', () => {
  const made = stream([[0, 0], [1, 0], [1, 1], [11, 1], [11, 1], [11, 7]])
  expect(chances(made)).toBeUndefined()
  const points = turningPoints(made, 2)
  expect(points.map(({ step, seat }) => [step, seat])).toEqual([[3, 1], [5, 2]])
  expect(points[0]!.sentence).toBe('ann big (points 1:1 → 11:1).')
  expect(points[1]!.sentence).toBe('bob gains (points 11:1 → 11:7).')
})

test('without chances: what a seat pays from its score is no swing for the others', () => {
  const made = stream([[9, 0], [1, 0], [1, 1]])
  expect(turningPoints(made).map(({ step }) => step)).toEqual([1, 2])
  made.drawing.paysFromScore = true
  expect(turningPoints(made).map(({ step }) => step)).toEqual([2])
  delete made.drawing.paysFromScore
})

test('what both gain is no swing', () => {
  expect(turningPoints(stream([[0, 0], [5, 5], [9, 9]]))).toEqual([])
})
