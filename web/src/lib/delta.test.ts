import { expect, test } from 'vitest'
import { apply, type Json } from './delta'

test('every kind of change, as the engine writes it', () => {
  const cases: [Json, Json, Json][] = [
    [1, 2, 2],
    [{ a: 1 }, [1, 2], [1, 2]],
    [1, { '=': { a: 1 } }, { a: 1 }],
    [{ a: 1, b: 2 }, { a: 3 }, { a: 3, b: 2 }],
    [{ a: 1, b: 2 }, { '-': ['b'] }, { a: 1 }],
    [{ a: { b: [1, 2, 3] } }, { a: { b: { '1': 9 } } }, { a: { b: [1, 9, 3] } }],
    [[1, 2, 3, 4], { '+': [1, 2, [7]] }, [1, 7, 4]],
    [null, { '=': { units: [] } }, { units: [] }],
  ]
  for (const [old, change, now] of cases) expect(apply(old, change)).toEqual(now)
})

test('what did not change is shared, and the old value stays as it was', () => {
  const old = { still: { deep: [1] }, moves: { x: 1 } }
  const now = apply(old, { moves: { x: 2 } }) as typeof old
  expect(now.still).toBe(old.still)
  expect(old.moves.x).toBe(1)
})
