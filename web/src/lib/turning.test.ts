import { expect, test } from 'vitest'
import type { Drawing, Head } from './drawing'
import { MatchStream } from './stream'
import { turningPoints } from './turning'

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

function stream(scores: number[][]): MatchStream {
  const head = { view: 2, title: 'Test', seats: [{ label: 'ann' }, { label: 'bob' }], scene: { scores: scores[0]! }, deciding: [1] } as unknown as Head
  const stream = new MatchStream(head, drawing as Drawing)
  for (const [at, after] of scores.slice(1).entries()) {
    stream.add({ step: at + 1, moment: 'm', answers: [], events: [{ event: after[0] === 11 && after[1] === 1 ? 'big' : 'small' }], scene: { scores: after }, deciding: [1] })
  }
  return stream
}

test('the largest swings, in order of play, with a sentence', () => {
  const points = turningPoints(stream([[0, 0], [1, 0], [1, 1], [11, 1], [11, 1], [11, 7]]), 2)
  expect(points.map(({ step, seat }) => [step, seat])).toEqual([[3, 1], [5, 2]])
  expect(points[0]!.sentence).toBe('ann big (points 1:1 → 11:1).')
  expect(points[1]!.sentence).toBe('bob gains (points 11:1 → 11:7).')
})

test('what both gain is no swing', () => {
  expect(turningPoints(stream([[0, 0], [5, 5], [9, 9]]))).toEqual([])
})

test('of equal swings those count that the winner made where it took the lead for good', () => {
  const scores = [[0, 0], [1, 0], [1, 1], [2, 1], [2, 2], [2, 3], [2, 4], [3, 4]]
  const made = stream(scores)
  made.end = { end: 'whole', why: null, moment: 'end', outcome: { scores: [3, 4], ranks: [2, 1], reason: 'limit' } }
  expect(turningPoints(made, 2).map(({ step, seat }) => [step, seat])).toEqual([[4, 2], [5, 2]])
})

test('what a seat pays from its score is no swing for the others', () => {
  const made = stream([[9, 0], [1, 0], [1, 1]])
  expect(turningPoints(made).map(({ step }) => step)).toEqual([1, 2])
  made.drawing.paysFromScore = true
  expect(turningPoints(made).map(({ step }) => step)).toEqual([2])
  delete made.drawing.paysFromScore
})
