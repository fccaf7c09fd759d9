import { expect, test } from 'vitest'
import type { Head, Step } from '../../../web/src/lib/drawing'
import type { Scene } from './generated'
import { drawing } from './index'

const unit = (id: number, team: number, at: [number, number] | null, diamond: number | null = null) => ({
  id, team, at, path: [], diamond, summoning: 0, vinedBy: null, killedBy: null, diedAt: null,
})
const before: Scene = {
  tick: 7,
  totalTick: 300,
  map: ['.....'],
  playOrder: [2, 1],
  teams: [{ score: 0, pending: 0, deaths: 0, gone: false }, { score: 0, pending: 0, deaths: 0, gone: false }],
  units: [unit(1, 1, [0, 0], 0), unit(2, 2, [4, 0])],
  diamonds: [{ at: [0, 0], level: 2, points: 12, owner: 1 }, { at: [2, 0], level: 1, points: 0, owner: null }],
}
const scene: Scene = { ...before, tick: 8 }
const step = {
  number: 1,
  before,
  scene,
  events: [
    { event: 'vined', unit: 2, victim: 1, from: { x: 0, y: 0 }, to: { x: 3, y: 0 }, lost: 0 },
    { event: 'pickedUp', unit: 1, diamond: 1, points: 0 },
    { event: 'dropped', unit: 1, diamond: 1, at: { x: 2, y: 0 }, points: 5, level: 1 },
  ],
} as unknown as Step<Scene>

test('a tick has a picture for each team, in play order; the last is the tick itself', () => {
  expect(drawing.parts!(0, { scene: before } as Head)).toBe(2)
  expect(drawing.partName!(step, 0)).toBe('team 2')
  expect(drawing.partScene!(step, 1)).toBe(scene)
})

test('what a pulled unit lands on belongs to the turn of the team that pulled it', () => {
  const after = drawing.partScene!(step, 0)
  expect(after.units[0]).toMatchObject({ at: [3, 0], diamond: 1 })
  expect(after.diamonds[0]).toMatchObject({ at: [0, 0], owner: null })
  expect(after.teams[0]!.score).toBe(0)
})
