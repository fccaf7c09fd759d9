import { describe, expect, it } from 'vitest'
import { Player } from './player.svelte'
import type { MatchStream } from './stream'

const FRAMES = [{ step: 0, part: 0 }, { step: 1, part: 0 }, { step: 2, part: 0 }]

/** A match of three pictures. */
function player(): Player {
  const stream = { drawing: {}, frames: FRAMES, has: () => true, ahead: () => {} } as unknown as MatchStream
  return new Player(stream, { kind: 'page' })
}

describe('a movement', () => {
  it('begins with its first frame, whose time lies before whatever asked for it', async () => {
    const one = player()
    for (const at of [1, 2]) {
      await one.go(at, true)
      // Frames are stamped with their beginning, which may be long ago on a busy machine.
      const frame = performance.now() - 400
      const seen: number[] = []
      for (let more = true, time = frame; more; time += 16) {
        more = one.animate(time)
        seen.push(one.t)
      }
      expect(seen[0]).toBe(0)
      expect(seen.every((t) => t >= 0 && t <= 1)).toBe(true)
      expect(seen.at(-1)).toBe(1)
    }
  })

  it('ends, also when a clock goes back', async () => {
    const one = player()
    await one.go(1, true)
    one.animate(1000)
    one.animate(500)
    expect(one.t).toBe(0)
    expect(one.animate(9000)).toBe(false)
  })
})
