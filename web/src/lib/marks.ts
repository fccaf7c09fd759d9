// Drawings of bots: lines on standard error that begin with `@agon` and hold one JSON object.
//
//   @agon {"dot": [x, y]}                     a dot in the middle of a cell
//   @agon {"line": [x, y, x2, y2]}            a line from middle to middle; more points may follow
//   @agon {"rect": [x, y, width, height]}     a frame around cells
//   @agon {"text": "hello", "at": [x, y]}     a word
//   @agon {"unit": "7", "text": "hello"}      a word at a unit, wherever it is
//   @agon {"marker": "found a plan"}          a mark on the timeline
//
// Each takes "colour" (a name or #rrggbb) and "layer" (a name that can be switched off). Everything is bounded; anything
// else is left alone as ordinary output.

import type { Answer } from './drawing'

export interface Mark {
  kind: 'dot' | 'line' | 'rect' | 'text' | 'marker'
  numbers: number[]
  text: string
  unit: string | null
  colour: string
  layer: string
}

const MOST = 500
const LONGEST_LINE = 4_000
const COLOUR = /^(#[0-9a-f]{3}|#[0-9a-f]{6}|[a-z]{3,20})$/i

/** The drawings in a bot's output, and the output without them. */
export function marksOf(stderr: string | undefined): { marks: Mark[]; rest: string } {
  if (!stderr?.includes('@agon')) return { marks: [], rest: stderr ?? '' }
  const marks: Mark[] = []
  const rest: string[] = []
  for (const line of stderr.split('\n')) {
    const mark = marks.length < MOST ? parse(line) : undefined
    if (mark) marks.push(mark)
    else rest.push(line)
  }
  return { marks, rest: rest.join('\n') }
}

/** All drawings of a step, with their owners. */
export function marksOfStep(answers: Answer[]): { seat: number; mark: Mark }[] {
  return answers.flatMap(({ seat, stderr }) => marksOf(stderr).marks.map((mark) => ({ seat, mark })))
}

function parse(line: string): Mark | undefined {
  const found = /^\s*@agon\s+(\{.*\})\s*$/.exec(line)
  if (!found || line.length > LONGEST_LINE) return undefined
  let said: Record<string, unknown>
  try {
    said = JSON.parse(found[1]!) as Record<string, unknown>
  } catch {
    return undefined
  }
  const text = (value: unknown, longest: number) => (typeof value === 'string' ? value.slice(0, longest) : '')
  const numbers = (value: unknown, least: number, most: number): number[] | undefined => {
    if (!Array.isArray(value) || value.length < least || value.length > most) return undefined
    const all = value.every((one) => typeof one === 'number' && Number.isFinite(one) && Math.abs(one) < 1e5)
    return all ? (value as number[]) : undefined
  }
  const unit = typeof said.unit === 'string' || typeof said.unit === 'number' ? String(said.unit).slice(0, 40) : null
  const colour = text(said.colour ?? said.color, 30)
  const common = { unit, colour: COLOUR.test(colour) ? colour : '', layer: text(said.layer, 40) || 'drawings' }
  const make = (kind: Mark['kind'], found: number[] | undefined, words = ''): Mark | undefined =>
    found && { kind, numbers: found, text: words, ...common }
  if ('marker' in said) return make('marker', [], text(said.marker, 120))
  if ('dot' in said) return make('dot', numbers(said.dot, 2, 2))
  if ('line' in said) return make('line', numbers(said.line, 4, 200))
  if ('rect' in said) return make('rect', numbers(said.rect, 4, 4))
  if ('text' in said) {
    return make('text', unit === null ? numbers(said.at, 2, 2) : [], text(said.text, 80))
  }
  return undefined
}
