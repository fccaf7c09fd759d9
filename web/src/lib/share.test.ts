import { expect, test } from 'vitest'
import { whole } from './share'

test('percentages of one whole add up to it', () => {
  // Rounded one by one they would be 21 and 80.
  expect(whole([0.205, 0.795])).toEqual([21, 79])
  expect(whole([1 / 3, 1 / 3, 1 / 3])).toEqual([34, 33, 33])
  expect(whole([0, 1])).toEqual([0, 100])
  expect(whole([0, 0])).toEqual([0, 0])
})
