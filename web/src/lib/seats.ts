// The shape of each seat: a second sign besides its colour, on the board and next to its name. Each is in a box of 24 by 24.

export const SHAPES = [
  'M12 1a11 11 0 1 0 0 22a11 11 0 1 0 0-22z',
  'M2 2h20v20H2z',
  'M12 0L24 22H0z',
  'M12-1L25 12 12 25-1 12z',
  'M7.500 1h9v6.500H23v9h-6.500V23h-9v-6.500H1v-9h6.500z',
  'M12-.5l3.700 7.400 8.100 1.200-5.900 5.700 1.400 8.200-7.300-3.900-7.300 3.900 1.400-8.200L.2 8.100l8.100-1.200z',
  'M1 21.500V13a11 11 0 0 1 22 0v8.500z',
  'M0 2h24L12 24z',
  'M6.500 1L12 6.500 17.500 1 23 6.500 17.500 12 23 17.500 17.500 23 12 17.500 6.500 23 1 17.500 6.500 12 1 6.500z',
] as const

/** Where a figure sits on each shape: its middle from the top, and its size, in the same box. */
export const SEATED: readonly (readonly [number, number])[] = [
  [12, 15],
  [12, 17],
  [14.5, 11.5],
  [12, 13],
  [12, 13],
  [12.5, 11],
  [12.8, 14],
  [9, 11.5],
  [12, 12.5],
]

/** The shape of a seat, from 1. */
export const shapeOf = (seat: number): string => SHAPES[(seat - 1) % SHAPES.length]!
