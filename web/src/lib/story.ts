// The picture on the timeline: the chances of first place as stacked areas, the scores as lines over them.

import { seatColour, type Ink } from './colour'
import type { Told } from './drawing'

/** Its height. */
export const STORY = 56
/** The height of the row for an analysis's marks. */
export const OPINIONS = 14

export interface Story {
  /** The chance of each seat after each step, the start first; as far as it may be told. */
  chances: number[][]
  /** The scores, likewise. */
  scores: number[][]
  /** The decisive steps, in order. */
  pins: number[]
  /** The position of a step. */
  x: (step: number) => number
  /** The step shown: everything after it is paler. */
  now: number
}

export function drawStory(ctx: CanvasRenderingContext2D, ink: Ink, { chances, scores, pins, x, now }: Story): void {
  const steps = (chances[0]?.length ?? 1) - 1
  // No more points than the picture has columns.
  const every = Math.max(1, Math.floor(steps / Math.max(1, x(steps) - x(0))))
  const shown = Array.from({ length: steps + 1 }, (_, step) => step).filter((step) => step % every === 0 || step === steps)
  const [left, right, middle] = [x(0), x(steps), x(Math.min(now, steps))]
  const high = (share: number) => STORY * (1 - share)

  ctx.save()
  let below = new Array<number>(steps + 1).fill(0)
  for (const [seat, line] of chances.entries()) {
    const above = line.map((chance, step) => below[step]! + chance)
    const area = new Path2D()
    for (const step of shown) area.lineTo(x(step), high(above[step]!))
    for (const step of shown.toReversed()) area.lineTo(x(step), high(below[step]!))
    ctx.fillStyle = seatColour(ink, seat + 1)
    for (const [from, to, alpha] of [[left, middle, 0.62], [middle, right, 0.26]] as const) {
      ctx.save()
      ctx.globalAlpha = alpha
      const part = new Path2D()
      part.rect(from, 0, to - from, STORY)
      ctx.clip(part)
      ctx.fill(area)
      ctx.restore()
    }
    below = above
  }

  const most = Math.max(...scores.flat(), 0)
  const least = Math.min(...scores.flat(), 0)
  if (most > least) {
    for (const [seat, line] of scores.entries()) {
      const trace = () => {
        ctx.beginPath()
        for (const step of shown) ctx.lineTo(x(step), 2 + (STORY - 4) * (1 - ((line[step] ?? 0) - least) / (most - least)))
        ctx.stroke()
      }
      ctx.lineJoin = 'round'
      // A rim in the ground's colour separates a line from an area of the same colour.
      ;[ctx.strokeStyle, ctx.lineWidth] = [ink.ground, 3.5]
      trace()
      ;[ctx.strokeStyle, ctx.lineWidth] = [seatColour(ink, seat + 1), 1.5]
      trace()
    }
  }

  if (chances.length === 2) {
    ctx.strokeStyle = ink.text
    ctx.globalAlpha = 0.55
    ctx.setLineDash([3, 4])
    ctx.lineWidth = 1
    ctx.beginPath()
    ctx.moveTo(left, Math.round(STORY / 2) + 0.5)
    ctx.lineTo(right, Math.round(STORY / 2) + 0.5)
    ctx.stroke()
    ctx.setLineDash([])
    ctx.globalAlpha = 1
  }

  ctx.fillStyle = ink.text
  ctx.fillRect(Math.round(middle) - 1, 0, 2, STORY)

  ctx.textAlign = 'center'
  ctx.textBaseline = 'middle'
  ctx.font = '650 11px Inter, system-ui, sans-serif'
  for (const [at, step] of pins.entries()) {
    ctx.strokeStyle = ctx.fillStyle = ink.text
    ctx.lineWidth = 1
    ctx.beginPath()
    ctx.moveTo(Math.round(x(step)) + 0.5, 14)
    ctx.lineTo(Math.round(x(step)) + 0.5, STORY)
    ctx.stroke()
    ctx.beginPath()
    ctx.arc(x(step), 8, 7.5, 0, 7)
    ctx.fill()
    ctx.fillStyle = ink.ground
    ctx.fillText(`${at + 1}`, x(step), 8.5)
  }

  ctx.restore()
}

/** A mark of an analysis: an order of a seat, and by how much of the chance another would have been better or worse. */
export interface Opinion {
  step: number
  seat: number
  gain: number
}

/** The row of these marks: a diamond for an order that cost its seat something, a hollow one for one that gained. */
export function drawOpinions(ctx: CanvasRenderingContext2D, ink: Ink, opinions: Opinion[], x: (step: number) => number): void {
  const [middle, size] = [OPINIONS / 2, 5]
  ctx.lineWidth = 1.5
  for (const { step, seat, gain } of opinions) {
    const at = x(step)
    ctx.beginPath()
    for (const [right, down] of [[0, -size], [size, 0], [0, size], [-size, 0]] as const) ctx.lineTo(at + right, middle + down)
    ctx.closePath()
    ctx.strokeStyle = gain > 0 ? ink.text : seatColour(ink, seat)
    ctx.fillStyle = gain > 0 ? seatColour(ink, seat) : ink.ground
    ctx.fill()
    ctx.stroke()
  }
}

/** The marks, in order of position, that have room: where two are nearer than `room` the heavier one stays. */
export function thinned<M extends { weight: number }>(marks: M[], place: (mark: M) => number, room: number): M[] {
  const kept: M[] = []
  for (const mark of marks.toSorted((a, b) => b.weight - a.weight || place(a) - place(b))) {
    if (kept.every((other) => Math.abs(place(other) - place(mark)) >= room)) kept.push(mark)
  }
  return kept.sort((a, b) => place(a) - place(b))
}

/** Draws the sign of an event: a cross for a death, a plus for an arrival or departure, a ring for a gain. Returns whether there is one. */
export function drawSign(ctx: CanvasRenderingContext2D, kind: Told['kind'], x: number, y: number, size: number): boolean {
  const ends = { death: [[1, 1], [1, -1]], birth: [[1, 0], [0, 1]], door: [[1, 0], [0, 1]] }[kind as string]
  if (!ends && kind !== 'gain') return false
  ctx.lineWidth = 2
  ctx.beginPath()
  for (const [right, down] of ends ?? []) {
    ctx.moveTo(x - right! * size, y - down! * size)
    ctx.lineTo(x + right! * size, y + down! * size)
  }
  if (!ends) ctx.arc(x, y, size - 0.5, 0, 7)
  ctx.stroke()
  return true
}
