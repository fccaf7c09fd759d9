// What a game's `viewer/hand.ts` provides, so that people can play it. What can be chosen comes from the game's engine
// (`src/hand.rs`); here is how a choice looks, and what a click means.

import type { Head, Seat, Step } from './drawing'
import type { Pen } from './pen'

/** Who or what acts: a unit on the board, or a tool beside it. */
export interface Actor {
  id: string
  name: string
  /** Its cell; none for a tool. */
  at?: [number, number] | undefined
  /** More about it: a price, what it is doing. */
  note?: string
  /** The key that takes it. */
  key?: string
  /** Its picture, as a path on a grid of 24; on the plate of the seat where units of its kind stand on one. */
  icon?: string
  plate?: boolean
}

/** A choice that the rules refuse. */
export interface Refused {
  index: number
  rule: string
  why: string
}

/** What choices lead to (`crates/agon-game/src/hand.rs`). */
export interface Prospect<S = unknown, C = unknown> {
  choices: C[]
  refused: Refused[]
  midway?: S
  scene: S
  events: { event: string }[]
  frames?: unknown[]
}

/** A turn in the making. */
export interface HandView<S = unknown, C = unknown, P = unknown> {
  head: Head
  seat: Seat
  /** The scene before the turn. */
  scene: S
  chosen: C[]
  prospect: Prospect<S, C>
  /** The step that comes of it if nobody else does anything. */
  step: Step<S, P>
  /** The actors that are taken. */
  selected: string[]
  /** The cell under the pointer. */
  over: [number, number] | null
}

/** An order that stands until it is carried out or another is given. */
export interface Standing<S = unknown, C = unknown> {
  id: string
  name: string
  key?: string
  /** Whether it is given by a click on a cell. */
  place?: boolean
  /** Who can be given it. */
  fits(actor: string, scene: S): boolean
  /** What the actor does now, from its choices; none when there is nothing to do, `done` when it is carried out. */
  next(actor: string, goal: [number, number] | null, view: HandView<S, C>, choices: C[]): C | 'done' | undefined
}

/** How a game is played by hand. */
export interface Hand<S = unknown, C = unknown, P = unknown> {
  /** The game's name, as its folder is called. */
  game: string
  /** Whether one choice is the whole answer, so that a second one takes its place. */
  single?: boolean
  /** The built-in bot that gives hints. */
  adviser: string
  /** The built-in bot to begin with. */
  opponent: string
  /** Whether the lower right corner of the board is free: the tools stand there where the window is large enough. */
  corner?: boolean
  /** Who can act; what stands on the board first. */
  actors(view: HandView<S, C, P>): Actor[]
  /** Who acts in a choice. */
  actor(choice: C): string
  /** The cell of a choice; none for what has no place. */
  target(choice: C, scene: S): [number, number] | undefined
  /** A choice in words. */
  words(choice: C, scene: S, head: Head): string
  /** What it costs, in a few signs. */
  cost?(choice: C, head: Head, scene: S): string
  /** What a click on a cell asks for, allowed or not. */
  wish?(actor: string, cell: [number, number], scene: S): C | undefined
  /** Draws the turn in the making over the board. */
  paint?(pen: Pen, view: HandView<S, C, P>): void
  /** What is left to spend, in words. */
  purse?(view: HandView<S, C, P>): string
  /** What comes of the turn, in words; by default what is told of the step. */
  foresee?(view: HandView<S, C, P>): string[]
  /** Groups that are taken together. */
  groups?(scene: S, seat: Seat): { name: string; ids: string[] }[]
  standing?: Standing<S, C>[]
}
