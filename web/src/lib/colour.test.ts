import { expect, test } from 'vitest'
import { dark, darkContrast, light, lightContrast, type Ink } from './colour'
import { SHAPES } from './seats'

type Triple = [number, number, number]

const linear = (text: string) =>
  [1, 3, 5].map((at) => {
    const part = parseInt(text.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as Triple

/** Contrast as defined by WCAG. */
function contrast(a: string, b: string): number {
  const light = (text: string) => linear(text).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at]!, 0)
  const [x, y] = [light(a), light(b)]
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)
}

/** How eyes without one kind of cones see: Machado, Oliveira and Fernandes 2009, severity 1. */
const EYES: Record<string, Triple[]> = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}

function lab(rgb: Triple): Triple {
  const [r, g, b] = rgb
  const xyz = [0.4124564 * r + 0.3575761 * g + 0.1804375 * b, 0.2126729 * r + 0.7151522 * g + 0.072175 * b, 0.0193339 * r + 0.119192 * g + 0.9503041 * b]
  const [x, y, z] = xyz.map((part, at) => {
    const share = part / [0.95047, 1, 1.08883][at]!
    return share > 216 / 24389 ? Math.cbrt(share) : ((24389 / 27) * share + 16) / 116
  }) as Triple
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

/** The difference of two colours, CIEDE2000. */
function difference([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const [rad, deg] = [Math.PI / 180, 180 / Math.PI]
  const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2
  const g = 0.5 * (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)))
  const [p1, p2] = [a1 * (1 + g), a2 * (1 + g)]
  const [c1, c2] = [Math.hypot(p1, b1), Math.hypot(p2, b2)]
  const angle = (a: number, b: number) => (a === 0 && b === 0 ? 0 : (Math.atan2(b, a) * deg + 360) % 360)
  const [h1, h2] = [angle(p1, b1), angle(p2, b2)]
  let turn = h2 - h1
  if (c1 * c2 === 0) turn = 0
  else if (turn > 180) turn -= 360
  else if (turn < -180) turn += 360
  const [dl, dc, dh] = [l2 - l1, c2 - c1, 2 * Math.sqrt(c1 * c2) * Math.sin((turn / 2) * rad)]
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2]
  const h = c1 * c2 === 0 ? h1 + h2 : Math.abs(h1 - h2) <= 180 ? (h1 + h2) / 2 : h1 + h2 < 360 ? (h1 + h2 + 360) / 2 : (h1 + h2 - 360) / 2
  const t = 1 - 0.17 * Math.cos((h - 30) * rad) + 0.24 * Math.cos(2 * h * rad) + 0.32 * Math.cos((3 * h + 6) * rad) - 0.2 * Math.cos((4 * h - 63) * rad)
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2)
  const [sc, sh] = [1 + 0.045 * c, 1 + 0.015 * c * t]
  const rt = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(60 * Math.exp(-(((h - 275) / 25) ** 2)) * rad)
  return Math.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rt * (dc / sc) * (dh / sh))
}

/** The distance between the two of the first `count` seats that look most alike to such eyes. */
function nearest(ink: Ink, count: number, eyes: string): number {
  const seen = ink.seats.slice(0, count).map((seat) => {
    const rgb = linear(seat)
    return lab(EYES[eyes]!.map((row) => Math.min(1, Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]))) as Triple)
  })
  return Math.min(...seen.flatMap((a, at) => seen.slice(at + 1).map((b) => difference(a, b))))
}

test('the difference of colours is the published one', () => {
  // The first, the fourteenth and the last pair of Sharma, Wu and Dalal 2005.
  expect(difference([50, 2.6772, -79.7751], [50, 0, -82.7485])).toBeCloseTo(2.0425, 3)
  expect(difference([50, 2.5, 0], [50, 0, -2.5])).toBeCloseTo(4.3065, 3)
  expect(difference([2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514])).toBeCloseTo(0.9082, 3)
})

test.each([
  ['light', light],
  ['dark', dark],
])('seats are told apart by all eyes, on %s ground', (_name, ink) => {
  for (const eyes of Object.keys(EYES)) {
    expect(nearest(ink, 2, eyes), `${eyes}, 2 seats`).toBeGreaterThan(50)
    expect(nearest(ink, 4, eyes), `${eyes}, 4 seats`).toBeGreaterThan(15)
    expect(nearest(ink, 9, eyes), `${eyes}, 9 seats`).toBeGreaterThan(9)
  }
  for (const seat of ink.seats) {
    expect(contrast(seat, ink.ground), `${seat} on the floor`).toBeGreaterThan(3)
    expect(contrast(seat, ink.figure), `a figure on ${seat}`).toBeGreaterThan(3)
  }
})

test.each([
  ['light', light, 4.5],
  ['dark', dark, 4.5],
  ['light, high contrast', lightContrast, 7],
  ['dark, high contrast', darkContrast, 7],
])('words can be read: %s', (_name, ink, least) => {
  for (const ground of [ink.paper, ink.raised]) {
    for (const colour of [ink.text, ink.faint, ink.link, ink.good, ink.bad]) expect(contrast(colour, ground), `${colour} on ${ground}`).toBeGreaterThan(least)
  }
  expect(contrast(ink.wallEdge, ink.ground)).toBeGreaterThan(3)
})

test('every seat has a shape of its own', () => {
  expect(new Set(SHAPES).size).toBe(light.seats.length)
})
