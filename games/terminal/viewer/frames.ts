// The frames of a turn, from the rows of numbers that the engine writes (`src/change.rs`).

import type { Lists, Standing, Tile, Who } from './generated'
import type { Frame } from './scenes'

/** A row of numbers: a unit's is told as the difference to that of the row before. */
interface Told {
  turn: number
  frame: number
  stats: [number, number, number, number][]
  standing?: [number, number, Tile, number][]
  gone?: [number, number][]
  spawn?: [number, number, Tile, number][]
  moves?: [number, number, Tile, Tile][]
  breach?: [number, number, Tile, number][]
  shield?: [number, number, number, Tile, Tile, number][]
  self_destruct?: [number, number, Tile, number, Tile[]][]
  attack?: [number, number, number, Tile, Tile, number][]
  damage?: [number, number, Tile, number][]
  death?: [number, number, Tile, number][]
}

export const KINDS = ['Wall', 'Support', 'Turret', 'Scout', 'Demolisher', 'Interceptor']
/** The lists of a player: the kinds, removals, upgrades. */
const LISTS = 8

/** The board, as sixteen lists by number. */
type Board = Map<number, Standing>[]

export function framesOf(told: unknown[]): Frame[] {
  let board: Board = Array.from({ length: 2 * LISTS }, () => new Map())
  return (told as Told[]).map((one) => {
    board = next(board, one)
    return frame(board, one)
  })
}

/** The sum of the differences. */
function counting(): (step: number) => number {
  let id = 0
  return (step) => (id += step)
}

// The engine's numbers are of 32 bits; so are these, whatever they are printed as.
const exact = Math.fround

function next(before: Board, { standing = [], gone = [], moves = [] }: Told): Board {
  const board = before.slice()
  const own = (list: number) => (board[list] === before[list] ? (board[list] = new Map(before[list])) : board[list]!)
  let count = counting()
  for (const [list, step, , to] of moves) {
    const id = count(step)
    const unit = board[list]?.get(id)
    if (unit) own(list).set(id, { ...unit, at: to })
  }
  count = counting()
  for (const [list, step] of gone) own(list).delete(count(step))
  count = counting()
  for (const [list, step, at, health] of standing) {
    const id = count(step)
    own(list).set(id, { at, health: exact(health), id })
  }
  return board
}

function frame(board: Board, told: Told): Frame {
  const all = (list: number): Standing[] => [...board[list]!.values()].sort((a, b) => a.id - b.id)
  const lists = (player: number): Lists => {
    const first = (player - 1) * LISTS
    return { units: KINDS.map((_, kind) => all(first + kind)), removals: all(first + 6), upgrades: all(first + 7) }
  }
  const who = (list: number, id: number): Who => ({ id, kind: KINDS[list % LISTS]!, player: Math.floor(list / LISTS) + 1 })
  const what = (kind: number) => (kind === 6 ? 'removal' : kind === 7 ? 'upgrade' : { unit: KINDS[kind]! })
  const [spawned, moved, breached, gave, got] = [counting(), counting(), counting(), counting(), counting()]
  const [blown, hits, hit, hurt, died] = [counting(), counting(), counting(), counting(), counting()]
  return {
    turn: told.turn,
    frame: told.frame,
    stats: told.stats.map(([hp, sp, mp, ms]) => ({ hp: exact(hp), sp: exact(sp), mp: exact(mp), ms })),
    lists: [lists(1), lists(2)],
    events: {
      spawn: (told.spawn ?? []).map(([player, step, at, kind]) => ({ at, what: what(kind), id: spawned(step), player })),
      moves: (told.moves ?? []).map(([list, step, from, to]) => ({ from, to, unit: who(list, moved(step)) })),
      breach: (told.breach ?? []).map(([list, step, at, damage]) => ({ at, damage: exact(damage), unit: who(list, breached(step)) })),
      shield: (told.shield ?? []).map(([list, a, b, from, to, amount]) => ({ from, to, amount: exact(amount), giver: who(list, gave(a)), target: got(b) })),
      self_destruct: (told.self_destruct ?? []).map(([list, step, at, damage, tiles]) => ({
        at,
        tiles,
        damage: exact(damage),
        unit: who(list, blown(step)),
      })),
      attack: (told.attack ?? []).map(([list, a, b, from, to, damage]) => ({ from, to, damage: exact(damage), attacker: who(list, hits(a)), target: hit(b) })),
      damage: (told.damage ?? []).map(([list, step, at, amount]) => ({ at, amount: exact(amount), unit: who(list, hurt(step)) })),
      death: (told.death ?? []).map(([list, step, at, removed]) => ({ at, unit: who(list, died(step)), removed: removed === 1 })),
    },
  }
}
