// How the games are played by hand, found by their folders as their drawings are. Only parts that are loaded later use this:
// a match is watched without it.

import type { Hand } from './hand'

const found = import.meta.glob<{ hand: Hand }>('../../../games/*/viewer/hand.ts', { eager: true })
const hands = new Map(Object.values(found).map(({ hand }) => [hand.game, hand]))

/** How a game is played by hand; none if only bots play it. */
export function handOf(game: string): Hand | undefined {
  return hands.get(game)
}
