// The drawings of bots (`marks.ts`), laid over the board.

import { seatColour } from './colour'
import type { Shot } from './drawing'
import type { MatchStream } from './stream'
import { marksOfStep } from './marks'
import type { Pen } from './pen'

/** Draws the marks of the step, but none of a seat when the board is seen through another's eyes. */
export function drawMarks(pen: Pen, shot: Shot, stream: MatchStream, _sees: unknown): void {
  if (!shot.step || shot.layers.has('no drawings')) return
  for (const { seat, mark } of marksOfStep(shot.step.answers)) {
    if (shot.eyes !== null && shot.eyes !== seat) continue
    if (shot.layers.has(`no ${mark.layer}`)) continue
    const colour = mark.colour || seatColour(pen.ink, seat)
    const place = stream.drawing.place ?? ((x: number, y: number): [number, number] => [x, y])
    const [x, y] = place(mark.numbers[0] ?? 0, mark.numbers[1] ?? 0)
    pen.faded(0.9, () => {
      if (mark.kind === 'dot') {
        pen.disc(x + 0.5, y + 0.5, 0.16, colour, pen.ink.ground, pen.px(1.5))
      } else if (mark.kind === 'line') {
        const points: [number, number][] = []
        for (let at = 0; at + 1 < mark.numbers.length; at += 2) {
          const [px, py] = place(mark.numbers[at]!, mark.numbers[at + 1]!)
          points.push([px + 0.5, py + 0.5])
        }
        pen.line(points, colour, pen.px(2.5))
      } else if (mark.kind === 'rect') {
        const [, , w = 1, h = 1] = mark.numbers
        const [fx, fy] = place(mark.numbers[0]! + w - 1, mark.numbers[1]! + h - 1)
        const [left, top] = [Math.min(x, fx), Math.min(y, fy)]
        pen.frame(left + 0.04, top + 0.04, Math.abs(fx - x) + 0.92, Math.abs(fy - y) + 0.92, colour, pen.px(2.5), 0.1)
      } else if (mark.kind === 'text') {
        const at = mark.unit === null ? [x + 0.5, y + 0.5] : unit(stream, shot, mark.unit)
        if (at) pen.text(mark.text, at[0]!, at[1]! - 0.3, { size: Math.max(0.3, pen.px(11)), colour, halo: pen.ink.ground })
      }
    })
  }
}

function unit(stream: MatchStream, shot: Shot, id: string): [number, number] | undefined {
  const { find } = stream.drawing
  return (find(shot.scene, id, shot.head) ?? find(shot.scene, `unit ${id}`, shot.head))?.at
}
