// What the pages of puzzles share: the engines, what the server tells, and what is sent to it.

import { engines } from './early'
import type { Asks, OpenReplay } from './engine/asks'
import type { JudgedOrder, Lesson, LessonSoFar, WinChance } from './generated/view'

/** About how long a piece of work takes, in milliseconds: between pieces it can be stopped. */
const PIECE = 150

/** The engines of this page, in a worker of their own; a sentence if there are none. */
export function enginesOf(): Asks {
  if (!engines) throw new Error('This page has no engines: the server was built without them, or this browser cannot run them.')
  return engines.another()
}

/** A match of the contest, opened. */
export async function opened(asks: Asks, address: string): Promise<OpenReplay> {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error('The match cannot be fetched: reload the page.')
  return (await asks.open(await answer.blob(), false)).steps
}

/** How many futures the next piece may play, after one took so long. */
export function paced(futures: number, ms: number, most: number): number {
  const share = PIECE / Math.max(ms, 1)
  return Math.max(1, Math.min(Math.round(futures * Math.min(share, 4)), most))
}

/** Searches a match for what lost it; `told` gets the share that is done, and ends it by returning false. */
export async function learn(open: OpenReplay, seat: number, step: number | null, told: (share: number) => boolean): Promise<Lesson | null> {
  let futures = 4
  for (;;) {
    const began = performance.now()
    const so = JSON.parse((await open.text((id) => ({ learn: { id, seat, step, futures } })))!) as LessonSoFar
    if (so.lesson) return so.lesson
    if (!told(so.done[0] / Math.max(so.done[1], 1))) return null
    futures = paced(futures, performance.now() - began, 4_000)
  }
}

/** Judges an order as often as the orders of the lesson were; `told` as for `learn`. */
export async function judge(open: OpenReplay, lesson: Lesson, text: string, told: (share: number) => boolean): Promise<WinChance | null> {
  const { policy, seat, puzzle } = lesson
  const { step, best } = puzzle!
  let futures = 4
  for (;;) {
    const began = performance.now()
    const chance = JSON.parse((await open.text((id) => ({ judge: { id, policy, step, seat, text, futures } })))!) as WinChance
    if (chance.count >= best.chance.count) return chance
    if (!told(chance.count / best.chance.count)) return null
    futures = paced(futures, performance.now() - began, best.chance.count)
  }
}

/** An answer with this chance solves it (`SOLVED` in `crates/agon-view/src/lesson.rs`). */
export const solves = (best: JudgedOrder, chance: WinChance) => chance.mean >= best.chance.mean - 0.1

/** Sends a form of the page; the error is the server's sentence. */
export async function send(address: string, fields: Record<string, string>): Promise<void> {
  const answer = await fetch(address, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' })
  if (answer.type === 'opaqueredirect' || answer.ok) return
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  throw new Error(page.querySelector('.lead')?.textContent ?? `The server answered ${answer.status}.`)
}

/** An order in one line. */
export const inALine = (order: string) => order.trim().split('\n').join('; ') || 'no order'

/** `about 2 min left`, from the share that is done after so many milliseconds. */
export function left(share: number, ms: number): string {
  if (share < 0.02) return ''
  const seconds = (ms / share - ms) / 1000
  return seconds < 60 ? `about ${Math.ceil(seconds)} s left` : `about ${Math.ceil(seconds / 60)} min left`
}
