// Colours of the boards, for light and dark ground. Seats as in the terminal: orange, blue, green,
// magenta, and so on; told apart by the colour-blind, and each seat also has a mark of its own.

export interface Ink {
  dark: boolean
  /** Around the board. */
  paper: string
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
  neutral: string
  veil: string
  seats: string[]
}

export const light: Ink = {
  dark: false,
  paper: '#f4f5f7',
  ground: '#ffffff',
  ground2: '#f7f8fa',
  grid: '#dfe3e8',
  wall: '#5d6673',
  wallEdge: '#454d59',
  text: '#1b2029',
  faint: '#667080',
  bad: '#c8281e',
  good: '#1d8348',
  gold: '#b7860b',
  neutral: '#8a93a1',
  veil: '#c3c8d1',
  seats: ['#d9660a', '#1769d2', '#21893f', '#a63fae', '#8d6b00', '#007f8c', '#c93a52', '#5b56c9', '#6b7280'],
}

export const dark: Ink = {
  dark: true,
  paper: '#12151b',
  ground: '#1d222b',
  ground2: '#20262f',
  grid: '#2d3440',
  wall: '#59636f',
  wallEdge: '#75808d',
  text: '#e9edf3',
  faint: '#9aa5b4',
  bad: '#ff6b5e',
  good: '#4fc97e',
  gold: '#e6bd4a',
  neutral: '#8f99a8',
  veil: '#0b0d11',
  seats: ['#ff9440', '#58a6ff', '#57c97a', '#d685de', '#d9b23c', '#3fc3cf', '#ff7d8f', '#a39dff', '#a7b0bd'],
}

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
