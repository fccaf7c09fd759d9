// Cultist Wars by hand: click a unit, then where it goes, whom it shoots or converts.

import type { Hand } from 'agon-viewer'
import type { Scene } from './generated'

/** As `Order` in `src/orders.rs`. */
type Choice =
  | { do: 'move'; unit: number; x: number; y: number }
  | { do: 'shoot' | 'convert'; unit: number; target: number }

export const hand: Hand<Scene, Choice> = {
  game: 'cultist-wars',
  single: true,
  adviser: 'hunter',
  opponent: 'greedy',

  actors: ({ scene, seat }) =>
    scene.units
      .filter(({ player, tile }) => player === seat && tile !== null)
      .map(({ id, kind, hp, tile }) => ({ id: `${id}`, name: `${kind} ${id}`, at: tile ?? undefined, note: `${hp} health` })),

  actor: ({ unit }) => `${unit}`,

  target: (choice, scene) => (choice.do === 'move' ? [choice.x, choice.y] : (unit(scene, choice.target)?.tile ?? undefined)),

  words(choice, scene) {
    const who = name(scene, choice.unit)
    if (choice.do === 'move') return `${who} to ${choice.x}, ${choice.y}`
    return `${who} ${choice.do === 'shoot' ? 'shoots at' : 'converts'} ${name(scene, choice.target)}`
  },

  wish(actor, [x, y], scene) {
    const own = unit(scene, Number(actor))
    const there = scene.units.find(({ tile }) => tile !== null && tile[0] === x && tile[1] === y)
    if (!own || !there) return { do: 'move', unit: Number(actor), x, y }
    return { do: own.kind === 'leader' ? 'convert' : 'shoot', unit: own.id, target: there.id }
  },
}

const unit = (scene: Scene, id: number) => scene.units.find((unit) => unit.id === id)

function name(scene: Scene, id: number): string {
  const found = unit(scene, id)
  return found ? `${found.player === null ? 'neutral ' : ''}${found.kind} ${id}` : `unit ${id}`
}
