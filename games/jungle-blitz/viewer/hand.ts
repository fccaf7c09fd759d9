// Jungle Blitz by hand: an action for a unit, and standing orders for the many ticks in between.

import type { Actor, Hand, HandView } from 'agon-viewer'
import type { Scene } from './generated'

/** As `Choice` in `src/hand.rs`. */
interface Choice {
  unit: number
  do: 'stay' | 'summon' | 'spawn' | 'move' | 'drop' | 'vine' | 'attack'
  at?: [number, number]
}
type Cell = [number, number]

const SAYS = { stay: 'stays', summon: 'summons', spawn: 'comes at', move: 'goes to', drop: 'drops at', vine: 'vines', attack: 'attacks' }
const own = (scene: Scene, seat: number) => scene.units.filter(({ team }) => team === seat)
const unit = (scene: Scene, id: string | number) => scene.units.find((one) => `${one.id}` === `${id}`)
const same = (a: Cell | null | undefined, b: Cell | null | undefined) => !!a && !!b && a[0] === b[0] && a[1] === b[1]
const apart = (a: Cell, b: Cell) => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1])

export const hand: Hand<Scene, Choice> = {
  game: 'jungle-blitz',
  adviser: 'keeper',
  opponent: 'collector',

  actors: ({ scene, seat }) =>
    own(scene, seat).map(({ id, at, diamond, summoning }): Actor => {
      const gem = diamond === null ? undefined : scene.diamonds[diamond]
      const holds = gem ? `holds a diamond of level ${gem.level}, ${gem.points} points` : ''
      const note = at === null ? 'not on the board' : [holds, summoning > 0 ? 'summons' : ''].filter((text) => text !== '').join(', ')
      return { id: `${id}`, name: `unit ${id}`, at: at ?? undefined, note }
    }),

  actor: (choice) => `${choice.unit}`,
  target: (choice) => choice.at,
  words: (choice) => `unit ${choice.unit} ${SAYS[choice.do]}${choice.at ? ` ${choice.at.join(', ')}` : ''}`,
  wish: (actor, at, scene) => ({ unit: Number(actor), do: unit(scene, actor)?.at ? 'move' : 'spawn', at }),
  purse: ({ scene, seat }) => `${scene.teams[seat - 1]!.score} points, ${scene.teams[seat - 1]!.pending} pending · tick ${scene.tick} of ${scene.totalTick}`,

  groups(scene, seat) {
    const ids = (units: Scene['units']) => units.map(({ id }) => `${id}`)
    const all = own(scene, seat)
    return [
      { name: 'All', ids: ids(all) },
      { name: 'With a diamond', ids: ids(all.filter(({ diamond }) => diamond !== null)) },
    ]
  },

  standing: [
    {
      id: 'go',
      name: 'Go to',
      key: 'g',
      place: true,
      fits: () => true,
      next(actor, goal, view, choices) {
        if (!goal || same(unit(view.scene, actor)?.at, goal)) return 'done'
        return come(choices) ?? choices.find((choice) => choice.do === 'move' && same(choice.at, goal))
      },
    },
    {
      id: 'collect',
      name: 'Collect diamonds',
      key: 'c',
      fits: () => true,
      next: collect,
    },
    {
      id: 'raid',
      name: 'Raid',
      key: 'r',
      fits: () => true,
      next(actor, goal, view, choices) {
        const enemy = (at: Cell | undefined) => view.scene.units.some((other) => other.team !== view.seat && same(other.at, at))
        const blow = choices.find((choice) => (choice.do === 'attack' || choice.do === 'vine') && enemy(choice.at))
        if (blow) return blow
        const from = unit(view.scene, actor)?.at
        if (!from || unit(view.scene, actor)?.diamond != null) return collect(actor, goal, view, choices)
        const enemies = view.scene.units.filter((other) => other.team !== view.seat && other.at).map(({ at }) => at!)
        const moves = choices.filter((choice) => choice.do === 'move' && enemies.some((at) => apart(at, choice.at!) === 1))
        return nearest(from, moves) ?? collect(actor, goal, view, choices)
      },
    },
  ],
}

const come = (choices: Choice[]) => choices.find((choice) => choice.do === 'spawn')

/** The move to the nearest place. */
function nearest(from: Cell, moves: Choice[]): Choice | undefined {
  return moves.reduce<Choice | undefined>((best, move) => (best && apart(from, best.at!) <= apart(from, move.at!) ? best : move), undefined)
}

/** Fetches a diamond, lets it grow, and drops it for its points while there is time. */
function collect(actor: string, _: Cell | null, { scene }: HandView<Scene, Choice>, choices: Choice[]): Choice | undefined {
  const self = unit(scene, actor)
  if (!self?.at) return come(choices)
  const gem = self.diamond === null ? undefined : scene.diamonds[self.diamond]
  if (gem) {
    const left = scene.totalTick - scene.tick
    const drop = choices.find((choice) => choice.do === 'drop' && !scene.units.some((other) => same(other.at, choice.at)))
    if ((gem.points >= 60 || left < 12) && drop) return drop
    const summon = choices.find((choice) => choice.do === 'summon')
    return left > 40 && self.summoning === 0 ? summon : undefined
  }
  const free = scene.diamonds.filter(({ owner }) => owner === null).map(({ at }) => at)
  return nearest(self.at, choices.filter((choice) => choice.do === 'move' && free.some((at) => same(at, choice.at))))
}
