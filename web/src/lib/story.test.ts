import { expect, test } from 'vitest'
import { drawSign, thinned } from './story'

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

test('what happened has a sign, and what has none says so', () => {
  const drawn: string[] = []
  const ctx = new Proxy({}, { get: (_, name) => (...where: number[]) => drawn.push(`${String(name)} ${where.slice(0, 2).join(' ')}`), set: () => true }) as CanvasRenderingContext2D
  const strokes = (kind: Parameters<typeof drawSign>[1]) => {
    drawn.length = 0
    return drawSign(ctx, kind, 10, 10, 4) && drawn.filter((call) => !call.startsWith('beginPath') && !call.startsWith('stroke'))
  }
  expect(strokes('death')).toEqual(['moveTo 6 6', 'lineTo 14 14', 'moveTo 6 14', 'lineTo 14 6'])
  expect(strokes('birth')).toEqual(['moveTo 6 10', 'lineTo 14 10', 'moveTo 10 6', 'lineTo 10 14'])
  expect(strokes('gain')).toEqual(['arc 10 10'])
  for (const kind of ['move', 'hit', 'warning', undefined] as const) expect(strokes(kind)).toBe(false)
})
