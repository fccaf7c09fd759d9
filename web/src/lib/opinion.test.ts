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
  expect(of(0.18, 0.02, true)).toBe('greedy would play differently: +18 ± 4 points')
  expect(of(-0.18, 0.02, true)).toBe('greedy would do worse: −18 ± 4 points')
  expect(of(0.03, 0.02, false)).toBe('greedy’s choice is about as good: +3 ± 4 points')
  expect(of(0.05, 0.02, false)).toBe('greedy might do better: +5 ± 4 points')
  expect(opinion('greedy', { mean: 0, error: 0.5, count: 0 }, false)).toBe('greedy has not evaluated it yet')
})

test('what a bot itself made of another order: a mistake only where that was found, and no praise for noise', () => {
  expect(verdict(true, { mean: 0.5, error: 0.02, count: 20 })).toBe('mistake')
  expect(verdict(false, { mean: -0.4, error: 0.05, count: 20 })).toBe('better')
  expect(verdict(false, { mean: -0.08, error: 0.05, count: 20 })).toBe('unsure')
  expect(verdict(false, { mean: 0.12, error: 0.05, count: 20 })).toBe('unsure')
})
