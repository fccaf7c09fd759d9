// The games' drawings. A game is found by its folder: nothing here has to be changed for a new one.

import type { Drawing } from './drawing'

const found = import.meta.glob<{ drawing: Drawing }>('../../../games/*/viewer/index.ts', { eager: true })
const drawings = new Map(Object.values(found).map(({ drawing }) => [drawing.game, drawing]))

export function drawingOf(game: string): Drawing | undefined {
  return drawings.get(game)
}
