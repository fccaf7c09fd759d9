// What a game's `viewer/hand.ts` provides so that people can play it. What can be chosen comes from the game's engine
// (`src/hand.rs`); this defines how a choice looks, and what a click means.

import type { Head, Seat, Step } from './drawing'
import type { Pen } from './pen'

/** Who or what acts: a unit on the board, or a tool beside it. */
export interface Actor {
  id: string
  name: string
  /** Its cell; none for a tool. */
  at?: [number, number] | undefined
  /** More about it: a price, its current activity. */
  note?: string
  /** The key that takes it in hand. */
  key?: string
  /** Its picture, as a path on a grid of 24; drawn on the seat's plate if units of its kind have one. */
  icon?: string
  plate?: boolean
}

/** A choice that the rules refuse. */
export interface Refused {
  index: number
  rule: string
  why: string
}

/** What the choices lead to (`crates/agon-game/src/hand.rs`). */
export interface Prospect<S = unknown, C = unknown> {
  choices: C[]
  refused: Refused[]
  midway?: S
  scene: S
  events: { event: string }[]
  frames?: unknown[]
}

/** A turn being planned. */
export interface HandView<S = unknown, C = unknown, P = unknown> {
  head: Head
  seat: Seat
  /** The scene before the turn. */
  scene: S
  chosen: C[]
  prospect: Prospect<S, C>
  /** The resulting step if nobody else does anything. */
  step: Step<S, P>
  /** The actors taken in hand. */
  selected: string[]
  /** The cell under the pointer. */
  over: [number, number] | null
}

/** An order that stands until it is carried out or replaced. */
export interface Standing<S = unknown, C = unknown> {
  id: string
  name: string
  key?: string
  /** Whether it needs a click on a cell. */
  place?: boolean
  /** Which actors can be given it. */
  fits(actor: string, scene: S): boolean
  /** What the actor does now, from its choices; none when there is nothing to do, `done` when the order is carried out. */
  next(actor: string, goal: [number, number] | null, view: HandView<S, C>, choices: C[]): C | 'done' | undefined
}

/** How a game is played by hand. */
export interface Hand<S = unknown, C = unknown, P = unknown> {
  /** The game's name, which is also its folder's. */
  game: string
  /** Whether a single choice is the whole answer, so that a second one replaces it. */
  single?: boolean
  /** The built-in bot that gives hints. */
  adviser: string
  /** The initial opponent, a built-in bot. */
  opponent: string
  /** Whether the lower right corner of the board is free: the tools go there if the window is large enough. */
  corner?: boolean
  /** Who can act; what is on the board comes first. */
  actors(view: HandView<S, C, P>): Actor[]
  /** The actor of a choice. */
  actor(choice: C): string
  /** The cell of a choice; none if it has no place. */
  target(choice: C, scene: S): [number, number] | undefined
  /** A choice in words. */
  words(choice: C, scene: S, head: Head): string
  /** Its cost, in a few characters. */
  cost?(choice: C, head: Head, scene: S): string
  /** The choice meant by a click on a cell, allowed or not. */
  wish?(actor: string, cell: [number, number], scene: S): C | undefined
  /** Draws the turn being planned over the board. */
  paint?(pen: Pen, view: HandView<S, C, P>): void
  /** What is left to spend, in words. */
  purse?(view: HandView<S, C, P>): string
  /** What the turn will lead to, in words; by default the story of the step. */
  foresee?(view: HandView<S, C, P>): string[]
  /** Groups that can be taken together. */
  groups?(scene: S, seat: Seat): { name: string; ids: string[] }[]
  standing?: Standing<S, C>[]
}
