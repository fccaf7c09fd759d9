import { expect, test } from 'vitest'
import { framesOf } from './frames'

test('frames are read from what each adds to the one before', () => {
  const stats = [[30, 8, 1.1, 5], [29.5, 0, 5, 0]]
  const [first, second] = framesOf([
    {
      turn: 3,
      frame: 0,
      stats,
      standing: [[0, 7, [13, 5], 60], [3, 2, [13, 0], 15], [3, 1, [13, 0], 15], [8, -4, [3, 14], 120]],
      spawn: [[1, 9, [13, 0], 3], [1, 1, [13, 0], 3], [2, -4, [3, 14], 7]],
    },
    {
      turn: 3,
      frame: 1,
      stats,
      standing: [[8, 6, [3, 14], 118]],
      gone: [[0, 7]],
      moves: [[3, 9, [13, 0], [14, 0]], [3, 1, [13, 0], [14, 0]]],
      attack: [[3, 9, 6, [14, 0], [3, 14], 2], [3, 1, 0, [14, 0], [3, 14], 2]],
      damage: [[8, 6, [3, 14], 2]],
      death: [[0, 7, [13, 5], 1]],
    },
  ])
  expect(first!.stats[0]).toEqual({ hp: 30, sp: 8, mp: Math.fround(1.1), ms: 5 })
  expect(first!.lists[0]!.units[3]!.map(({ id, at }) => [id, at])).toEqual([[9, [13, 0]], [10, [13, 0]]])
  expect(first!.lists[1]!.units[0]).toEqual([{ id: 6, at: [3, 14], health: 120 }])
  expect(first!.events.spawn.map(({ id, player, what }) => [id, player, what])).toEqual([
    [9, 1, { unit: 'Scout' }],
    [10, 1, { unit: 'Scout' }],
    [6, 2, 'upgrade'],
  ])
  expect(second!.lists[0]!.units[0]).toEqual([])
  expect(second!.lists[0]!.units[3]!.map(({ id, at }) => [id, at])).toEqual([[9, [14, 0]], [10, [14, 0]]])
  expect(second!.lists[1]!.units[0]![0]!.health).toBe(118)
  expect(second!.events.attack.map(({ attacker, target }) => [attacker, target])).toEqual([
    [{ id: 9, kind: 'Scout', player: 1 }, 6],
    [{ id: 10, kind: 'Scout', player: 1 }, 6],
  ])
  expect(second!.events.death).toEqual([{ at: [13, 5], unit: { id: 7, kind: 'Wall', player: 1 }, removed: true }])
  // What was before stays as it was.
  expect(first!.lists[0]!.units[3]![0]!.at).toEqual([13, 0])
})
