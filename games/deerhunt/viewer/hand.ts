// Deerhunt by hand: a move for each unit, and standing orders for those that need none every round.

import type { Actor, Hand, HandView } from 'agon-viewer'
import type { Scene } from './generated'

type Way = 'UP' | 'DOWN' | 'LEFT' | 'RIGHT'
type Verb = 'walk' | 'attack' | 'duplicate' | 'duplicate_melee' | 'duplicate_worker' | 'mine' | 'stun'
/** As `Choice` in `src/hand.rs`. */
interface Choice {
  unit: number
  do: Verb
  words?: Way[]
}
type Cell = [number, number]

const WAYS: Record<Way, Cell> = { UP: [0, -1], DOWN: [0, 1], LEFT: [-1, 0], RIGHT: [1, 0] }
const SAYS: Record<Verb, string> = {
  walk: 'walks',
  attack: 'attacks',
  duplicate: 'makes another',
  duplicate_melee: 'makes a melee unit',
  duplicate_worker: 'makes a worker',
  mine: 'mines',
  stun: 'stuns',
}

const unit = (scene: Scene, id: number | string) => scene.units.find((one) => `${one.id}` === `${id}`)
const side = (seat: number) => (seat === 1 ? 'p1' : 'p2')
const own = (scene: Scene, seat: number) => scene.units.filter(({ owner }) => owner === side(seat))

function end(scene: Scene, choice: Choice): Cell | undefined {
  const from = unit(scene, choice.unit)
  if (!from) return undefined
  return (choice.words ?? []).reduce<Cell>(([x, y], way) => [x + WAYS[way][0], y + WAYS[way][1]], [from.x, from.y])
}

function doing({ mining, duplication, stun }: Scene['units'][number]): string {
  if (duplication > 0) return `makes another, ${duplication} left`
  if (mining > 0) return `mines, ${mining} left`
  return stun > 0 ? `stunned, ${stun} left` : ''
}

export const hand: Hand<Scene, Choice> = {
  game: 'deerhunt',
  adviser: 'warden',
  opponent: 'rusher',

  actors: ({ scene, seat }) =>
    own(scene, seat).map((one): Actor => ({ id: `${one.id}`, name: `${one.type} ${one.id}`, at: [one.x, one.y], note: doing(one) || `${one.hp} health` })),

  actor: (choice) => `${choice.unit}`,
  target: (choice, scene) => (choice.words && choice.words.length > 0 ? end(scene, choice) : undefined),

  words(choice, scene) {
    const who = `${unit(scene, choice.unit)?.type ?? 'unit'} ${choice.unit}`
    const ways = (choice.words ?? []).map((way) => way.toLowerCase()).join(' ')
    return `${who} ${SAYS[choice.do]}${ways ? ` ${ways}` : ''}`
  },

  cost(choice, head) {
    const { melee_cost, worker_cost, stun_cost } = head.rules ?? {}
    const price = { duplicate: melee_cost, duplicate_melee: melee_cost, duplicate_worker: worker_cost, stun: stun_cost }[choice.do as string]
    return price === undefined ? '' : `−${price}`
  },

  purse: ({ scene, seat, prospect }) => {
    const [before, after] = [scene.players[seat - 1]!.resources, prospect.scene.players[seat - 1]!.resources]
    return `${after} of ${before} resources left · round ${scene.round} of ${scene.rounds}`
  },

  wish(actor, [x, y], scene) {
    const from = unit(scene, actor)
    if (!from) return undefined
    const words = straight([from.x, from.y], [x, y])
    const there = scene.units.some((one) => one.x === x && one.y === y)
    return { unit: from.id, do: there && words.length === 1 ? 'attack' : 'walk', words }
  },

  groups(scene, seat) {
    const ids = (type: string) => own(scene, seat).filter((one) => one.type === type).map(({ id }) => `${id}`)
    return [
      { name: 'Workers', ids: ids('worker') },
      { name: 'Melee units', ids: ids('melee') },
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
        if (!goal) return 'done'
        const blow = choices.find((choice) => choice.do === 'attack')
        return blow ?? walk(actor, view, choices, ([x, y]) => x === goal[0] && y === goal[1])
      },
    },
    {
      id: 'mine',
      name: 'Mine',
      key: 'm',
      fits: (actor, scene) => unit(scene, actor)?.type === 'worker',
      next(actor, _, view, choices) {
        const dig = choices.find((choice) => choice.do === 'mine')
        if (dig) return dig
        const others = new Set(view.scene.units.map(({ x, y }) => `${x},${y}`))
        const step = walk(actor, view, choices, ([x, y]) => view.scene.ground[y]?.[x] === 'R' && !others.has(`${x},${y}`))
        return step === 'done' ? undefined : step
      },
    },
    {
      id: 'hunt',
      name: 'Hunt',
      key: 'k',
      fits: (actor, scene) => unit(scene, actor)?.type === 'melee',
      next(actor, _, view, choices) {
        const blow = choices.find((choice) => choice.do === 'attack')
        if (blow) return blow
        const enemies = view.scene.units.filter(({ owner }) => owner !== side(view.seat))
        // Nobody in sight: towards the far corner, where they come from.
        const { ground } = view.scene
        const far: Cell = [ground[0]!.length - 1, view.seat === 1 ? ground.length - 1 : 0]
        const goals = enemies.length > 0 ? enemies.map(({ x, y }): Cell => [x, y]) : [far]
        const near = (cell: Cell) => goals.some(([x, y]) => Math.abs(x - cell[0]) + Math.abs(y - cell[1]) <= (enemies.length > 0 ? 1 : 4))
        const step = walk(actor, view, choices, near)
        return step === 'done' ? undefined : step
      },
    },
    {
      id: 'grow',
      name: 'Duplicate when affordable',
      fits: () => true,
      next: (_, __, ___, choices) => choices.find((choice) => choice.do === 'duplicate' || choice.do === 'duplicate_worker'),
    },
  ],
}

function straight([x, y]: Cell, [toX, toY]: Cell): Way[] {
  const words: Way[] = []
  for (let at = x; at !== toX && words.length < 8; at += Math.sign(toX - x)) words.push(toX > x ? 'RIGHT' : 'LEFT')
  for (let at = y; at !== toY && words.length < 8; at += Math.sign(toY - y)) words.push(toY > y ? 'DOWN' : 'UP')
  return words
}

/** The walk among the choices that comes nearest to what is wanted, by the ground that is known. */
function walk(actor: string, { scene }: HandView<Scene, Choice>, choices: Choice[], wanted: (cell: Cell) => boolean): Choice | 'done' | undefined {
  const from = unit(scene, actor)
  if (!from) return 'done'
  if (wanted([from.x, from.y])) return 'done'
  // Distances from all that is wanted; other units may move, walls stay.
  const [width, height] = [scene.ground[0]!.length, scene.ground.length]
  const far = new Map<number, number>()
  let edge: Cell[] = []
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) if (scene.ground[y]![x] !== 'X' && wanted([x, y])) edge.push([x, y])
  for (let steps = 0; edge.length > 0; steps++) {
    const next: Cell[] = []
    for (const [x, y] of edge) {
      const key = y * width + x
      if (x < 0 || y < 0 || x >= width || y >= height || far.has(key) || scene.ground[y]![x] === 'X') continue
      far.set(key, steps)
      for (const [dx, dy] of Object.values(WAYS)) next.push([x + dx, y + dy])
    }
    edge = next
  }
  const distance = ([x, y]: Cell) => far.get(y * width + x) ?? Infinity
  let best: Choice | undefined
  let least = distance([from.x, from.y])
  for (const choice of choices) {
    const to = choice.do === 'walk' ? end(scene, choice) : undefined
    if (to && distance(to) < least) [best, least] = [choice, distance(to)]
  }
  return best
}
