// Two matches side by side: where their orders and their states begin to differ, and whether chance alone did it.

import type { MatchStream } from './stream'

export interface Comparison {
  /** The first step in which an answer differs; none when all are equal. */
  orders: number | null
  /** The first step after which the state differs, 0 for the start; none when it never does. */
  state: number | null
  /** What that means. */
  sentence: string
}

/** Why two matches cannot be compared; none when they can. */
export function incomparable(a: MatchStream, b: MatchStream): string | undefined {
  if (a.head.game === b.head.game) return undefined
  return `These are matches of two games, ${a.head.title} and ${b.head.title}: there is nothing to compare turn by turn. Open two matches of the same game.`
}

export async function compare(a: MatchStream, b: MatchStream, gone: () => boolean): Promise<Comparison> {
  const same = (x: unknown, y: unknown) => JSON.stringify(x) === JSON.stringify(y)
  let orders: number | null = null
  let state: number | null = same(a.start, b.start) ? null : 0
  const [one, other] = [a.walk(gone), b.walk(gone)]
  for (let step = 1; orders === null || state === null; step++) {
    const [x, y] = [await one.next(), await other.next()]
    if (x.done || y.done) {
      if (!(x.done && y.done)) orders ??= step
      break
    }
    const said = (answers: { seat: number; text?: string; missing?: unknown }[]) => answers.map(({ seat, text, missing }) => [seat, text, missing])
    if (orders === null && !same(said(x.value.answers), said(y.value.answers))) orders = step
    // Both are compared as differences from the same start.
    if (state === null && !same(x.value.scene, y.value.scene)) state = step
  }
  void one.return(undefined)
  void other.return(undefined)
  const where = (step: number) => a.briefs[step - 1]?.moment ?? b.briefs[step - 1]?.moment ?? `${a.head.stepWord} ${step}`
  const seeds = a.head.seed === b.head.seed ? 'the same seed' : 'two seeds'
  return { orders, state, sentence: sentence(orders, state, where, seeds) }
}

function sentence(orders: number | null, state: number | null, where: (step: number) => string, seeds: string): string {
  if (orders === null && state === null) return 'Both matches are the same: every order and every position.'
  if (state === 0) return `The matches begin in different positions (${seeds}); ${orders === null ? 'the orders are the same' : `the orders first differ in ${where(orders)}`}.`
  if (orders === null) return `The orders are the same; the positions first differ after ${where(state!)}, by chance alone (${seeds}).`
  if (state === null) return `The orders first differ in ${where(orders)}; the positions never do.`
  if (state < orders) return `The positions first differ after ${where(state)}, by chance alone (${seeds}); the orders first differ in ${where(orders)}.`
  if (state === orders) return `The orders first differ in ${where(orders)}, and so do the positions; up to then both matches are identical.`
  return `The orders first differ in ${where(orders)}, the positions after ${where(state)}.`
}
