// What a game's `viewer/` must provide, and what it gets to draw with. A game imports this as `agon-viewer` and exports one
// `drawing`; nothing else in the web app knows any game.

import type * as Generated from './generated/view'
import type { Pen } from './pen'

export { Pen } from './pen'
export { mix } from './colour'
export type { Actor, Hand, HandView, Standing } from './hand'

/** A place in a match, from 1. */
export type Seat = number

/** The match itself. */
export type Head = Generated.Head
export type End = Generated.End
export type Outcome = NonNullable<End['outcome']>
/** The answer of one seat. */
export type Answer = Generated.AnswerLine
/** The list `actions` in a JSON answer; empty if it has none, or is not JSON. */
export function actionsOf<T>(answer: Answer): T[] {
  try {
    const { actions } = (JSON.parse(answer.text ?? '') ?? {}) as { actions?: unknown }
    return Array.isArray(actions) ? (actions as T[]) : []
  } catch {
    return []
  }
}

/** An order that the rules rejected. */
export type Rejection = Generated.RejectionLine
/** What a bot did wrong as a program. */
export type Fault = Generated.FaultLine

/** Something that happened, as reported by the game's engine. */
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
  /** The frames within the step, if the game has them. */
  parts: P[]
  before: S
  scene: S
  /** Who must answer next. */
  deciding: Seat[]
}

/** What is to be drawn: the movement from `before` to `scene`, and how far it has got. */
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
  /** The seat whose eyes are used; none for all. */
  eyes: Seat | null
  /** Who plays by hand, and whether a turn is being planned; none when the match is only watched. */
  hand: { seat: Seat; planning: boolean } | null
  /** The id of the selected thing. */
  selected: string | null
}

/** One step as transmitted; its scene is the difference from the scene of the head (`delta.ts`). */
export interface Line extends Generated.Line {
  /** Its frames, if they have been read already. */
  parts?: unknown[]
}

/** A match made from a record of an original engine. */
export interface Mended {
  head: Head
  lines: Line[]
  end: End
}

/** Why a record of an original engine cannot be shown, as a sentence. */
export class ForeignError extends Error {}

/** An event in words. */
export interface Told {
  text: string
  /** The seat responsible, for the colour. */
  seat?: Seat | undefined
  /** 0: a detail; 1: worth reading; 2: marked on the timeline; 3: decides matches. */
  weight: 0 | 1 | 2 | 3
  /** The place to point at. */
  at?: [number, number] | undefined
  /** The kind of event, for the sign before it. */
  kind?: 'death' | 'hit' | 'move' | 'gain' | 'birth' | 'door' | 'warning' | undefined
}

/** One order of an answer for display: for whom, what, and its result. */
export interface Order {
  /** Its index in the list, from 0: the number that a rejection names. */
  index: number
  /** The id of the thing that got the order, as on cards; none if it is the whole side. */
  who?: string | undefined
  /** A short name of that thing. */
  name: string
  /** The order itself. */
  text: string
  /** The result, in two or three words; empty when it is not worth telling. */
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
  /** Its middle, in cells. */
  at: [number, number]
  fields: [string, string][]
}

/** Cells shaded around the selected thing. */
export interface Reach {
  /** Cells it can go to. */
  steps: [number, number][]
  /** Cells it can hit from where it is. */
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

/** A layer that can be switched on and off. */
export interface Layer {
  id: string
  name: string
  /** Its key, if the original viewers had one. */
  key?: string
  on: boolean
}

/** How a game is drawn. `S` is its scene as written by `src/scene.rs`, `P` a frame within a step. */
export interface Drawing<S = unknown, P = unknown> {
  /** The game's name, which is also its folder's. */
  game: string
  /** The size of the board in cells. */
  size(scene: S): [number, number]
  /** The part of the board that is shown, in cells, if its border is nothing but wall: x, y, width, height. */
  frame?(scene: S): [number, number, number, number]
  /** The board on which a step's events are shown, if the step's own scene is already another one. */
  lastBoard?(step: Step<S, P>): S | undefined
  /** The cells of everything on the board, for the keyboard and for finding an empty corner. */
  things?(scene: S): [number, number][]
  /** The cells where a step's noteworthy events happened, for the loupe; empty for none. */
  scenes?(shot: Shot<S, P>): [number, number][]
  /** Draws the board in cells: (0, 0) is the upper left corner of the first. */
  draw(pen: Pen, shot: Shot<S, P>): void
  /** Draws what must stay readable over the unseen parts of the board. */
  over?(pen: Pen, shot: Shot<S, P>): void
  /** The game's own score of each seat. */
  score(scene: S, head: Head): number[]
  /** What the score counts. */
  scoreWord: string
  /** Whether a score falls only because its owner spends it: such a fall is no turning point. */
  paysFromScore?: boolean
  /** Numbers shown under each seat's name. */
  gauges?(scene: S, head: Head): Gauge[][]
  /** Reads the frames of a step as written by the game's engine. */
  frames?(told: unknown[]): P[]
  /** How many pictures a step with this many frames has: frames, teams. One by default. */
  parts?(frames: number, head: Head): number
  /** The scene of a picture within a step; by default the last one is the step's own. */
  partScene?(step: Step<S, P>, part: number): S
  /** What one picture within a step is: `frame`, `team's turn`. */
  partWord?: string
  /** The name of a picture within a step: `frame 12`, `team 2`. */
  partName?(step: Step<S, P>, part: number): string
  /** What happened in a step, in words. `name` gives a seat's label. */
  tell(step: Step<S, P>, name: (seat: Seat) => string): Told[]
  /** The orders of an answer one by one; if omitted, the answer is shown as it is. */
  orders?(step: Step<S, P>, answer: Answer): Order[]
  /** From where to where the orders of an answer go, as far as they have a place: the middles of cells. */
  aims?(scene: S, text: string): [[number, number], [number, number]][]
  /** What happened to a thing in a step, from its events and frames alone; empty when nothing did. */
  life?(step: Pick<Step<S, P>, 'number' | 'events' | 'parts'>, id: string): Moment[]
  /** Numbers to compare at a glance, as bars. */
  chart?(scene: S): { title: string; bars: Bar[] }
  /** What a thing can reach and hit now. */
  reach?(scene: S, id: string, head: Head): Reach | undefined
  /** The ids of those that can hit a cell in their next turn, with the seat they belong to. */
  threats?(scene: S, x: number, y: number, head: Head): { seat: Seat; id: string; name: string }[]
  /** The thing at a place, in cells with fractions. */
  inspect(scene: S, x: number, y: number, head: Head): Card | undefined
  /** The thing with this id, wherever it is now. */
  find(scene: S, id: string, head: Head): Card | undefined
  /** A cell's name, if it is not `x, y`. */
  cellName?(x: number, y: number): string
  /** A row's name, if it is not its number from the top. */
  rowName?(y: number): string
  /** The cell in the game's own coordinates, if rows do not count from the top. */
  place?(x: number, y: number): [number, number]
  /** Whether a seat sees a cell; omitted if nothing is hidden. */
  sees?(scene: S, seat: Seat, head: Head): (x: number, y: number) => boolean
  /** The match of a record of the original engine; none if `text` is not one. Throws a `ForeignError` for a damaged one. */
  foreign?(text: string): Mended | undefined
  layers?: Layer[]
  /** What D shows in this game, if not only the scores. */
  legend?: [string, string][]
  /** The initial speed, 1 to 9. */
  speed?: number
}
