// Draws a turn being planned over any board: who can act, what is taken, where it leads, what is chosen.

import type { Hand, HandView } from './hand'
import type { Pen } from './pen'

const middle = ([x, y]: readonly [number, number]): [number, number] => [x + 0.5, y + 0.5]

/** Beyond this many places the marks are small. */
const MANY = 40

export function paintHand(pen: Pen, hand: Hand, view: HandView, cursor: [number, number] | null): void {
  const { ink } = pen
  const actors = hand.actors(view)
  const able = new Set(view.prospect.choices.map((choice) => hand.actor(choice)))
  const colour = pen.seat(view.seat)
  for (const { id, at } of actors) {
    if (!at || !able.has(id) || view.selected.includes(id)) continue
    pen.frame(at[0] + 0.04, at[1] + 0.04, 0.92, 0.92, colour, pen.px(1.5), 0.18)
  }
  const tool = view.selected.some((taken) => actors.find(({ id }) => id === taken)?.at === undefined)
  if (view.selected.length > 0) {
    const own = view.prospect.choices.filter((choice) => view.selected.includes(hand.actor(choice)))
    const targets = own.map((choice) => hand.target(choice, view.scene)).filter((cell) => cell !== undefined)
    // If nearly every cell has one, marks must not hide the board.
    const radius = targets.length > MANY ? 0.06 : 0.13
    for (const target of targets) {
      if (tool) pen.faded(0.07, () => pen.rect(target[0], target[1], 1, 1, ink.text))
      else pen.disc(...middle(target), radius, colour, ink.ground, pen.px(1.5))
    }
  }
  hand.paint?.(pen, view)
  for (const choice of view.chosen) {
    const target = hand.target(choice, view.scene)
    const from = actors.find(({ id }) => id === hand.actor(choice))?.at
    if (!target) {
      if (from) pen.disc(from[0] + 0.82, from[1] + 0.18, 0.14, ink.text, ink.ground, pen.px(1))
      continue
    }
    if (from) arrow(pen, middle(from), middle(target), ink.text)
    pen.line(corners(target), ink.text, pen.px(1.5), [pen.px(4), pen.px(3)])
  }
  for (const { id, at } of actors) {
    if (at && view.selected.includes(id)) pen.frame(at[0] + 0.02, at[1] + 0.02, 0.96, 0.96, ink.text, pen.px(2.5), 0.2)
  }
  const over = cursor ?? view.over
  if (over) pen.frame(over[0], over[1], 1, 1, cursor ? ink.text : ink.faint, pen.px(cursor ? 2 : 1))
}

function corners([x, y]: [number, number]): [number, number][] {
  return [[x + 0.06, y + 0.06], [x + 0.94, y + 0.06], [x + 0.94, y + 0.94], [x + 0.06, y + 0.94], [x + 0.06, y + 0.06]]
}

/** A dashed arrow from one place to another. */
export function arrow(pen: Pen, a: [number, number], b: [number, number], colour: string): void {
  const long = Math.hypot(b[0] - a[0], b[1] - a[1])
  if (long < 0.1) return
  const [dx, dy] = [(b[0] - a[0]) / long, (b[1] - a[1]) / long]
  const tip: [number, number] = [b[0] - dx * 0.12, b[1] - dy * 0.12]
  pen.line([[a[0] + dx * 0.3, a[1] + dy * 0.3], tip], colour, pen.px(2), [pen.px(5), pen.px(4)])
  const wing = (turn: number): [number, number] => [tip[0] - dx * 0.22 + dy * turn, tip[1] - dy * 0.22 - dx * turn]
  pen.shape([b, wing(0.13), wing(-0.13)], colour)
}
