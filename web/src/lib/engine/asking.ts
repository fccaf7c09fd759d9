// The questions of the page to the engines' worker, and its answers.

import type { Refusal } from './module'

export type Asked =
  | { ask: 'load'; module: WebAssembly.Module; packed?: undefined }
  | { ask: 'load'; module?: undefined; packed: string }
  | { ask: 'open'; bytes: ArrayBuffer; shownAll: boolean }
  | { ask: 'lines'; id: number; from: number; to: number }
  | { ask: 'message'; id: number; step: number; seat: number }
  | { ask: 'section'; id: number; step: number; rule: string }
  | { ask: 'import'; bytes: ArrayBuffer }
  | { ask: 'play'; bytes: ArrayBuffer }
  | { ask: 'analyse'; id: number }
  | { ask: 'refine'; pairs: number; step: number; all: boolean }
  | { ask: 'wish'; step: number; seat: number; text: string }
  | { ask: 'written'; step: number; seat: number }
  | { ask: 'close'; id: number }

export type Answered =
  | { bytes: ArrayBuffer | undefined }
  | { refused: Refusal }
  /** The module stopped during this question; a new one takes the next. */
  | { stopped: string }
  /** There is no module. */
  | { missing: string }
