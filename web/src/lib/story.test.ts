import { expect, test } from 'vitest'
import { thinned } from './story'

test('of marks without room the heavier ones stay', () => {
  const marks = [
    { at: 0, weight: 2 },
    { at: 5, weight: 3 },
    { at: 16, weight: 2 },
    { at: 20, weight: 2 },
    { at: 60, weight: 1 },
  ]
  expect(thinned(marks, ({ at }) => at, 14).map(({ at }) => at)).toEqual([5, 20, 60])
})
