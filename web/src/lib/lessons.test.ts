import { describe, expect, it } from 'vitest'
import { inALine, left, paced, solves } from './lessons'

describe('lessons', () => {
  it('plays pieces that can be stopped soon', () => {
    expect(paced(4, 10, 200)).toBe(16)
    expect(paced(40, 1_500, 200)).toBe(4)
    expect(paced(1, 60_000, 200)).toBe(1)
    expect(paced(100, 20, 200)).toBe(200)
  })
  it('says how long it will take, once that is known', () => {
    expect(left(0.01, 1_000)).toBe('')
    expect(left(0.5, 10_000)).toBe('about 10 s left')
    expect(left(0.1, 30_000)).toBe('about 5 min left')
  })
  it('counts an answer within ten points of the best as solved', () => {
    const best = { order: '', chance: { mean: 0.69, error: 0.03, count: 200 } }
    expect(solves(best, { mean: 0.59, error: 0.03, count: 200 })).toBe(true)
    expect(solves(best, { mean: 0.58, error: 0.03, count: 200 })).toBe(false)
  })
  it('writes an order in one line', () => {
    expect(inALine('[1]\n[2]\n')).toBe('[1]; [2]')
    expect(inALine('')).toBe('no order')
  })
})
