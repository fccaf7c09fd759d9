// The games' drawings. A game is found by its folder: a new one needs no change here.

import type { Drawing, Mended } from './drawing'

const found = import.meta.glob<{ drawing: Drawing }>('../../../games/*/viewer/index.ts', { eager: true })
const drawings = new Map(Object.values(found).map(({ drawing }) => [drawing.game, drawing]))

export function drawingOf(game: string): Drawing | undefined {
  return drawings.get(game)
}

/** The stream of a record of some original engine; none if no game knows it. */
export function foreignStream(text: string): Mended | undefined {
  for (const drawing of drawings.values()) {
    const stream = drawing.foreign?.(text)
    if (stream) return stream
  }
  return undefined
}
