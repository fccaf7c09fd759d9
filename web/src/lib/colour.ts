// Colours of the boards, from `tokens.css`: for light and dark ground, and for high contrast.

import sheet from '../tokens.css?raw'

export interface Ink {
  dark: boolean
  /** Whether plates have an outline. */
  contrast: boolean
  /** Around the board. */
  paper: string
  /** Things that float over the board. */
  raised: string
  /** The board's cells. */
  ground: string
  /** Every other cell. */
  ground2: string
  grid: string
  wall: string
  wallEdge: string
  text: string
  faint: string
  bad: string
  good: string
  gold: string
  fire: string
  water: string
  link: string
  live: string
  neutral: string
  /** Covers what nobody sees. */
  veil: string
  /** A figure on a seat's plate. */
  figure: string
  seats: string[]
}

/** How many seats have a colour and a shape of their own. */
export const SEATS = 9

/** The colours of the tokens by name, for one ground. */
function named(dark: boolean, contrast: boolean): Map<string, string> {
  const [plain = '', more = ''] = sheet.split('@media')
  const found = new Map<string, string>()
  for (const part of contrast ? [plain, more] : [plain]) {
    for (const [, name, light, night] of part.matchAll(/--([\w-]+):\s*light-dark\((#\w{6}),\s*(#\w{6})\)/g)) found.set(name!, dark ? night! : light!)
  }
  return found
}

function ink(dark: boolean, contrast: boolean): Ink {
  const tokens = named(dark, contrast)
  const of = (name: string) => tokens.get(name)!
  return {
    dark,
    contrast,
    paper: of('paper'),
    raised: of('raised'),
    ground: of('floor'),
    ground2: of('floor-odd'),
    grid: of('line'),
    wall: of('wall'),
    wallEdge: of('wall-line'),
    text: of('text'),
    faint: of('faint'),
    bad: of('bad'),
    good: of('good'),
    gold: of('gold'),
    fire: of('fire'),
    water: of('water'),
    link: of('link'),
    live: of('live'),
    neutral: of('edge'),
    veil: of('unseen'),
    figure: of('figure'),
    seats: Array.from({ length: SEATS }, (_, at) => of(`seat-${at + 1}`)),
  }
}

export const light = ink(false, false)
export const dark = ink(true, false)
export const lightContrast = ink(false, true)
export const darkContrast = ink(true, true)

/** The colour of a seat, from 1. */
export function seatColour(ink: Ink, seat: number): string {
  return ink.seats[(seat - 1) % ink.seats.length] ?? ink.neutral
}

/** `share` of `b` in `a`; both `#rrggbb`. */
export function mix(a: string, b: string, share: number): string {
  const parse = (text: string) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16))
  const [x, y] = [parse(a), parse(b)]
  const part = (at: number) => Math.round(x[at]! + (y[at]! - x[at]!) * share)
  return `#${[0, 1, 2].map((at) => part(at).toString(16).padStart(2, '0')).join('')}`
}
