import { expect, test } from 'vitest'
import { opinion, percent, points, verdict } from './opinion'

test('an estimate is told with twice its error', () => {
  expect(percent({ mean: 0.634, error: 0.0151, count: 300 })).toBe('63 ± 3 %')
  expect(points({ mean: 0.18, error: 0.02, count: 300 })).toBe('+18 ± 4 points')
  expect(points({ mean: -0.18, error: 0.02, count: 300 })).toBe('−18 ± 4 points')
  expect(points({ mean: -0.001, error: 0.02, count: 300 })).toBe('0 ± 4 points')
})

test('what may be noise is never told as certain', () => {
  const of = (mean: number, error: number, sure: boolean) => opinion('greedy', { mean, error, count: 400 }, sure)
  expect(of(0.18, 0.02, true)).toBe("with greedy's order, the chance of this seat would be 18 ± 4 points higher")
  expect(of(-0.18, 0.02, true)).toBe("with greedy's order, the chance of this seat would be 18 ± 4 points lower")
  expect(of(0.03, 0.02, false)).toBe("with greedy's order, the chance of this seat would be about the same: +3 ± 4 points")
  expect(of(0.05, 0.02, false)).toBe("with greedy's order, the chance of this seat might be 5 ± 4 points higher")
  expect(opinion('greedy', { mean: 0, error: 0.5, count: 0 }, false)).toBe("with greedy's order, the chance of this seat is not known yet")
  expect(of(-0.33, 0.185, false)).toBe("with greedy's order, the chance of this seat is not known yet: −33 ± 37 points")
})

test('what a bot itself made of another order: a mistake only where that was found, and no praise for noise', () => {
  expect(verdict(true, { mean: 0.5, error: 0.02, count: 20 })).toBe('mistake')
  expect(verdict(false, { mean: -0.4, error: 0.05, count: 20 })).toBe('better')
  expect(verdict(false, { mean: -0.08, error: 0.05, count: 20 })).toBe('unsure')
  expect(verdict(false, { mean: 0.12, error: 0.05, count: 20 })).toBe('unsure')
})
