// A picture of Terminal: a frame of an action phase or the board between turns, and who stands where in it.
// The game counts rows from below; cells on the screen from above.

import type { Head, Shot } from 'agon-viewer'
import type { Events, Lists, Scene, Standing, Stats, Tile } from './generated'

/** A frame of an action phase. */
export interface Frame {
  turn: number
  frame: number
  stats: Stats[]
  lists: Lists[]
  events: Events
}
export const SIZE = 28
const NO_EVENTS: Events = { spawn: [], moves: [], breach: [], shield: [], self_destruct: [], attack: [], damage: [], death: [] }

export function isFrame(scene: Scene | Frame): scene is Frame {
  return 'lists' in scene
}
export function listsOf(scene: Scene | Frame): Lists[] {
  return isFrame(scene) ? scene.lists : scene.units
}
export function statsOf(scene: Scene | Frame): Stats[] {
  return isFrame(scene) ? scene.stats : scene.players
}
/** What happened in the picture shown. */
export function eventsOf({ scene }: Shot<Scene | Frame, Frame>): Events {
  return isFrame(scene) ? scene.events : NO_EVENTS
}

export interface Found {
  unit: Standing
  kind: number
  player: number
}
export function everyone(scene: Scene | Frame): Found[] {
  return listsOf(scene).flatMap(({ units }, side) =>
    units.flatMap((list, kind) => list.map((unit) => ({ unit, kind, player: side + 1 }))),
  )
}

/** The numbers of a kind, as built or upgraded. */
export function formOf(head: Head, kind: number, upgraded: boolean): Record<string, number> {
  const info = head.rules?.unitInformation?.[kind] ?? {}
  return upgraded ? { ...info, ...info.upgrade } : info
}

export function upgradedIn(scene: Scene | Frame, { unit, player }: Found): boolean {
  return listsOf(scene)[player - 1]!.upgrades.some(({ id }) => id === unit.id)
}

/** The cells on the screen whose tiles are within a range of a tile. */
export function within([x, y]: Tile, range: number): [number, number][] {
  const cells: [number, number][] = []
  if (range <= 0) return cells
  for (let row = Math.ceil(y - range); row <= y + range; row++) {
    for (let column = Math.ceil(x - range); column <= x + range; column++) {
      if (Math.hypot(column - x, row - y) <= range && inArena(column, row)) cells.push([column, SIZE - 1 - row])
    }
  }
  return cells
}

/** The middle of a tile on the screen. */
export function cell([x, y]: Tile): Tile {
  return [x + 0.5, SIZE - y - 0.5]
}

export function inArena(x: number, y: number): boolean {
  if (x < 0 || y < 0 || x >= SIZE || y >= SIZE) return false
  const reach = y < SIZE / 2 ? y + 1 : SIZE - y
  return x >= SIZE / 2 - reach && x < SIZE / 2 + reach
}
