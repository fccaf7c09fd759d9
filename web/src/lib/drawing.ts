// What a game's `viewer/` has to provide, and what it gets to draw with. A game imports this as
// `agon-viewer` and exports one `drawing`; nothing else in the web app knows any game.

import type * as Generated from './generated/view'
import type { Pen } from './pen'

export { Pen } from './pen'
export { mix } from './colour'
export type { Actor, Hand, HandView, Standing } from './hand'

/** A place in a match, from 1. */
export type Seat = number

/** The match itself. */
export interface Head extends Generated.Head {
  /** The scene before the first step. */
  start: unknown
}

export type End = Generated.End
export type Outcome = NonNullable<End['outcome']>
/** One answer of one seat. */
export type Answer = Generated.AnswerLine
/** The list `actions` in an answer in JSON; empty where it has none, or is no JSON. */
export function actionsOf<T>(answer: Answer): T[] {
  try {
    const { actions } = (JSON.parse(answer.text ?? '') ?? {}) as { actions?: unknown }
    return Array.isArray(actions) ? (actions as T[]) : []
  } catch {
    return []
  }
}

/** An order that the rules did not allow. */
export type Rejection = Generated.RejectionLine
/** What a bot did wrong as a program. */
export type Fault = Generated.FaultLine

/** Something that happened, as the game's engine says it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type GameEvent = { event: string; [key: string]: any }

/** One step of a match: what was answered, what happened, and the scene after it. */
export interface Step<S = unknown, P = unknown> {
  /** From 1; the scene before step 1 is the start. */
  number: number
  moment: string
  answers: Answer[]
  rejected: Rejection[]
  faults: Fault[]
  events: GameEvent[]
  /** The frames within the step, where the game has them. */
  parts: P[]
  before: S
  scene: S
  /** Who must answer next. */
  deciding: Seat[]
}

/** What is to be drawn: the way from `before` to `scene`, and how far it is gone. */
export interface Shot<S = unknown, P = unknown> {
  head: Head
  /** The scene shown when `t` is 1. */
  scene: S
  /** The scene the movement starts from. */
  before: S
  /** The step that led here; none at the start. */
  step: Step<S, P> | undefined
  /** Which of the step's pictures this is, from 0. */
  part: number
  /** From 0 to 1. */
  t: number
  /** The layers that are on. */
  layers: ReadonlySet<string>
  /** Whose eyes; none for all. */
  eyes: Seat | null
  /** Who plays by hand, and whether a turn is in the making; none where the match is watched. */
  hand: { seat: Seat; planning: boolean } | null
  /** The id of the selected thing. */
  selected: string | null
}

/** One step as it is told; its scene is what differs from the scene of the head (`delta.ts`). */
export interface Line extends Generated.Line {
  /** Its frames, where they are read already. */
  parts?: unknown[]
}

/** A match made from a record of an original engine. */
export interface Mended {
  head: Omit<Head, 'start'>
  lines: Line[]
  end: End
}

/** Why a record of an original engine cannot be shown, as a sentence. */
export class ForeignError extends Error {}

/** An event in words. */
export interface Told {
  text: string
  /** Whose doing, for the colour. */
  seat?: Seat | undefined
  /** 0: a detail; 1: worth reading; 2: marked on the timeline; 3: decides matches. */
  weight: 0 | 1 | 2 | 3
  /** Where, to point at. */
  at?: [number, number] | undefined
  /** What kind of thing, for the sign before it. */
  kind?: 'death' | 'hit' | 'move' | 'gain' | 'birth' | 'door' | 'warning' | undefined
}

/** One order of an answer as it is told: for whom, what, and what came of it. */
export interface Order {
  /** Which entry of the list, from 0: the number that a rejection names. */
  index: number
  /** The id of who was told to do it, as cards have it; none where it is the whole side. */
  who?: string | undefined
  /** A short name of who. */
  name: string
  /** The order itself. */
  text: string
  /** What came of it, in two or three words; empty when nothing worth telling. */
  effect?: string | undefined
}

/** What happened to a thing in a step, for its history. */
export interface Moment {
  text: string
  kind?: Told['kind']
}

/** A thing on the board with its values. */
export interface Card {
  id: string
  title: string
  seat?: Seat | undefined
  /** The middle of it, in cells. */
  at: [number, number]
  fields: [string, string][]
}

/** Cells that are shaded round what is selected. */
export interface Reach {
  /** Cells it can go to. */
  steps: [number, number][]
  /** Cells it can hit from where it stands. */
  hits: [number, number][]
}

/** A number of a seat as a share of something. */
export interface Gauge {
  name: string
  value: number
  /** From 0 to 1. */
  share: number
  /** The value as written. */
  text: string
}

/** A bar of a chart. */
export interface Bar {
  id: string
  name: string
  seat?: Seat | undefined
  /** From 0 to 1. */
  share: number
  text: string
}

/** A layer that can be switched. */
export interface Layer {
  id: string
  name: string
  /** Its key, where the original viewers had one. */
  key?: string
  on: boolean
}

/** How a game is drawn. `S` is its scene as `src/scene.rs` writes it, `P` a frame within a step. */
export interface Drawing<S = unknown, P = unknown> {
  /** The game's name, as its folder is called. */
  game: string
  /** The size of the board in cells. */
  size(scene: S): [number, number]
  /** The part of the board that is shown, in cells, where its outermost ones are nothing but wall: x, y, width, height. */
  frame?(scene: S): [number, number, number, number]
  /** The board on which a step's events are shown, where the step's own scene is already another one. */
  lastBoard?(step: Step<S, P>): S | undefined
  /** The cells of all that stands on the board, for the keyboard and for the corner that is empty. */
  things?(scene: S): [number, number][]
  /** The cells in which a step's worth seeing happened, for the loupe; empty for none. */
  scenes?(shot: Shot<S, P>): [number, number][]
  /** Draws the board in cells: (0, 0) is the upper left corner of the first. */
  draw(pen: Pen, shot: Shot<S, P>): void
  /** Draws what stays readable over the parts of the board that nobody sees. */
  over?(pen: Pen, shot: Shot<S, P>): void
  /** The game's own score of each seat. */
  score(scene: S, head: Head): number[]
  /** What the score counts. */
  scoreWord: string
  /** Whether a score falls only because its owner pays from it: such a fall is no turning point. */
  paysFromScore?: boolean
  /** Numbers shown under each seat's name. */
  gauges?(scene: S, head: Head): Gauge[][]
  /** Reads the frames of a step as the game's engine writes them. */
  frames?(told: unknown[]): P[]
  /** How many pictures a step with so many frames has: frames, teams. One by default. */
  parts?(frames: number, head: Head): number
  /** The scene of a picture within a step; the last is the step's own by default. */
  partScene?(step: Step<S, P>, part: number): S
  /** What one picture within a step is: `frame`, `team's turn`. */
  partWord?: string
  /** What a picture within a step is called: `frame 12`, `team 2`. */
  partName?(step: Step<S, P>, part: number): string
  /** What happened in a step, in words. `name` gives a seat's label. */
  tell(step: Step<S, P>, name: (seat: Seat) => string): Told[]
  /** The orders of an answer one by one; where it is left out, the answer is shown as it is. */
  orders?(step: Step<S, P>, answer: Answer): Order[]
  /** What happened to a thing in a step, from its events and frames alone; empty when nothing did. */
  life?(step: Pick<Step<S, P>, 'number' | 'events' | 'parts'>, id: string): Moment[]
  /** Numbers that are compared at a glance, as bars. */
  chart?(scene: S): { title: string; bars: Bar[] }
  /** What a thing can reach and hit now. */
  reach?(scene: S, id: string, head: Head): Reach | undefined
  /** The ids of those who can hit a cell in their next turn, by the seat they belong to. */
  threats?(scene: S, x: number, y: number, head: Head): { seat: Seat; id: string; name: string }[]
  /** The thing at a place, in cells with fractions. */
  inspect(scene: S, x: number, y: number, head: Head): Card | undefined
  /** The thing with this id, wherever it is now. */
  find(scene: S, id: string, head: Head): Card | undefined
  /** Where a cell's name is not `x, y`. */
  cellName?(x: number, y: number): string
  /** Where a row's name is not its number from above. */
  rowName?(y: number): string
  /** The cell of the game's own coordinates, where rows do not count from above. */
  place?(x: number, y: number): [number, number]
  /** Whether a seat sees a cell; leave out where nothing is hidden. */
  sees?(scene: S, seat: Seat, head: Head): (x: number, y: number) => boolean
  /** The match of a record of the original engine; none when `text` is none. Throws a `ForeignError` for a damaged one. */
  foreign?(text: string): Mended | undefined
  layers?: Layer[]
  /** What D shows in this game, when not only the scores. */
  legend?: [string, string][]
  /** The speed to begin with, 1 to 9. */
  speed?: number
}
