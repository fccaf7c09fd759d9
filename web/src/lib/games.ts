// The games' drawings. A game is found by its folder: nothing here has to be changed for a new one.

import type { Drawing, Mended } from './drawing'
import type { Hand } from './hand'

const found = import.meta.glob<{ drawing: Drawing }>('../../../games/*/viewer/index.ts', { eager: true })
const drawings = new Map(Object.values(found).map(({ drawing }) => [drawing.game, drawing]))

const hands = import.meta.glob<{ hand: Hand }>('../../../games/*/viewer/hand.ts', { eager: true })
const players = new Map(Object.values(hands).map(({ hand }) => [hand.game, hand]))

/** How a game is played by hand; none where only bots play it. */
export function handOf(game: string): Hand | undefined {
  return players.get(game)
}

export function drawingOf(game: string): Drawing | undefined {
  return drawings.get(game)
}

/** The stream of a record of some original engine; none when no game knows it. */
export function foreignStream(text: string): Mended | undefined {
  for (const drawing of drawings.values()) {
    const stream = drawing.foreign?.(text)
    if (stream) return stream
  }
  return undefined
}
