// Ostibot by hand: a shop with its prices, and one action for each adventurer in a turn.

import type { Actor, Hand, HandView } from 'agon-viewer'
import type { Scene } from './generated'

type Way = 'UP' | 'DOWN' | 'LEFT' | 'RIGHT'
/** As `Choice` in `src/hand.rs`. */
type Choice =
  | { do: 'move'; who: string; direction: Way }
  | { do: 'use' | 'sell' | 'equip' | 'unequip'; who: string; item: string }
  | { do: 'buy'; who: string; kind: string; equip: boolean }
  | { do: 'transfer'; from: string; to: string; item: string }

const WAYS: Record<Way, [number, number]> = { UP: [0, -1], DOWN: [0, 1], LEFT: [-1, 0], RIGHT: [1, 0] }

/** Walls, what costs, hurts or carries on. */
const AVOIDED = '#HS~^v<>'

const actorOf = (choice: Choice) => (choice.do === 'transfer' ? choice.from : choice.who)
const adventurer = (scene: Scene, id: string) => scene.adventurers.find((one) => one.id === id)
const itemName = (scene: Scene, id: string) =>
  scene.adventurers.flatMap(({ worn, inventory }) => [...worn, ...inventory]).find((item) => item.id === id)?.name ?? id
const plain = (kind: string) => kind.replaceAll('_', ' ')

export const hand: Hand<Scene, Choice> = {
  game: 'ostibot',
  adviser: 'looter',
  opponent: 'fighter',

  actors: ({ scene, seat }) =>
    scene.adventurers
      .filter(({ team, position }) => team === seat && position)
      .map(({ id, position, hp, gold, worn, inventory }): Actor => {
        const things = [...worn, ...inventory].map(({ name }) => name)
        return { id, name: id, at: [position!.x, position!.y], note: `${hp} health, ${gold} gold${things.length > 0 ? `, ${things.join(', ')}` : ''}` }
      }),

  actor: actorOf,

  target(choice, scene) {
    if (choice.do !== 'move') return undefined
    const at = adventurer(scene, choice.who)?.position
    const [dx, dy] = WAYS[choice.direction]
    const tile = at && scene.map[at.y + dy]?.[at.x + dx]
    // One may walk against a wall; no mark calls one to.
    return !at || tile === undefined || tile === '#' ? undefined : [at.x + dx, at.y + dy]
  },

  words(choice, scene) {
    switch (choice.do) {
      case 'move':
        return `${choice.who} goes ${choice.direction.toLowerCase()}`
      case 'buy':
        return `${choice.who} buys ${plain(choice.kind)}`
      case 'transfer':
        return `${choice.from} hands ${itemName(scene, choice.item)} to ${choice.to}`
      case 'unequip':
        return `${choice.who} takes off ${itemName(scene, choice.item)}`
      case 'equip':
        return `${choice.who} puts on ${itemName(scene, choice.item)}`
      default:
        return `${choice.who} ${choice.do}s ${itemName(scene, choice.item)}`
    }
  },

  cost(choice, head, scene) {
    if (choice.do === 'buy') return `−${head.rules?.items?.[choice.kind]?.cost ?? '?'} gold`
    if (choice.do !== 'sell') return ''
    const type = scene.adventurers.flatMap(({ inventory }) => inventory).find(({ id }) => id === choice.item)?.itemType
    return `+${Math.floor((head.rules?.items?.[type ?? '']?.cost ?? 0) * (head.rules?.sellRatio ?? 0))} gold`
  },

  purse({ scene, seat, prospect }) {
    if (scene.phase !== 'shop') return `${scene.teamsGold[seat - 1]} gold at home`
    return `Shop: ${prospect.scene.teamsGold[seat - 1]} of ${scene.teamsGold[seat - 1]} gold left`
  },

  wish(actor, [x, y], scene) {
    const at = adventurer(scene, actor)?.position
    if (!at || scene.phase === 'shop') return undefined
    const way = (Object.keys(WAYS) as Way[]).find((way) => at.x + WAYS[way][0] === x && at.y + WAYS[way][1] === y)
    return way && { do: 'move', who: actor, direction: way }
  },

  groups: (scene, seat) => [{ name: 'All', ids: scene.adventurers.filter(({ team, position }) => team === seat && position).map(({ id }) => id) }],

  standing: [
    {
      id: 'go',
      name: 'Go to',
      key: 'g',
      place: true,
      fits: () => true,
      next: (actor, goal, view) => (goal ? towards(actor, view, (x, y) => x === goal[0] && y === goal[1]) : 'done'),
    },
    {
      id: 'loot',
      name: 'Fetch gold',
      key: 'l',
      fits: () => true,
      next(actor, _, view) {
        const wanted = new Set([
          ...view.scene.gold.map(({ position }) => `${position.x},${position.y}`),
          ...view.scene.objects.filter(({ type, hp }) => hp > 0 && (type === 'chest' || type === 'vase')).map(({ position }) => `${position.x},${position.y}`),
        ])
        return wanted.size === 0 ? undefined : towards(actor, view, (x, y) => wanted.has(`${x},${y}`))
      },
    },
    {
      id: 'home',
      name: 'Out by a portal',
      key: 'o',
      fits: () => true,
      next(actor, _, view) {
        const portals = new Set(view.scene.objects.filter(({ type }) => type === 'portal').map(({ position }) => `${position.x},${position.y}`))
        return portals.size === 0 ? undefined : towards(actor, view, (x, y) => portals.has(`${x},${y}`))
      },
    },
  ],
}

/** The first step of a shortest way to what is wanted, around what is known to be in the way. */
function towards(actor: string, { scene }: HandView<Scene, Choice>, wanted: (x: number, y: number) => boolean): Choice | 'done' | undefined {
  const at = adventurer(scene, actor)?.position
  if (!at || scene.phase === 'shop') return undefined
  if (wanted(at.x, at.y)) return 'done'
  const bad = new Set(scene.fire.map(({ x, y }) => `${x},${y}`))
  for (const { position } of scene.adventurers) if (position) bad.add(`${position.x},${position.y}`)
  const shut = new Set(scene.objects.map(({ position }) => `${position.x},${position.y}`))
  const seen = new Set([`${at.x},${at.y}`])
  let edge = (Object.keys(WAYS) as Way[]).map((way) => ({ x: at.x + WAYS[way][0], y: at.y + WAYS[way][1], first: way }))
  while (edge.length > 0) {
    const next: typeof edge = []
    for (const { x, y, first } of edge) {
      const key = `${x},${y}`
      const tile = scene.map[y]?.[x]
      if (seen.has(key) || tile === undefined || (AVOIDED.includes(tile) && !wanted(x, y)) || bad.has(key)) continue
      seen.add(key)
      if (wanted(x, y)) return { do: 'move', who: actor, direction: first }
      if (shut.has(key)) continue
      for (const [dx, dy] of Object.values(WAYS)) next.push({ x: x + dx, y: y + dy, first })
    }
    edge = next
  }
  return undefined
}
