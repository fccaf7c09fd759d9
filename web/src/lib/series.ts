// Which matches of a journal come before and after the one that is looked at.

import type { Journal } from './generated/server'
import { reach } from './load'

/** Matches of a journal as `block.game`, in the order in which they were listed last. */
let listed: { journal: string; matches: string[] } | undefined

/** The place of a match among those that are looked through, from 1, and the ways to those beside it. */
export interface Beside {
  at: number
  of: number
  before: (() => void) | undefined
  after: (() => void) | undefined
}

/** Somebody opens one of these. */
export function list(journal: string, matches: string[]): void {
  listed = { journal, matches }
}

/** Where a match stands among those that were listed with it; where its link was opened, among all that were kept. None when it is alone. */
export async function standing(journal: string, match: string): Promise<{ at: number; matches: string[] } | undefined> {
  if (listed?.journal !== journal || !listed.matches.includes(match)) {
    const all = (await (await reach(`api/journal?journal=${encodeURIComponent(journal)}`)).json()) as Journal
    const kept = all.matches.filter(({ kept }) => kept).sort((a, b) => a.block - b.block || a.game - b.game)
    list(journal, kept.map(({ block, game }) => `${block}.${game}`))
  }
  const { matches } = listed!
  const at = matches.indexOf(match)
  return at < 0 || matches.length < 2 ? undefined : { at, matches }
}
