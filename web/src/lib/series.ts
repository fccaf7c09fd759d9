// Which matches of a journal come before and after the one being viewed.

import type { SeriesPage } from './generated/server'
import { reach } from './load'

/** Matches of a journal as `block.game`, in the order of the last listing. */
let listed: { journal: string; matches: string[] } | undefined

/** The position of a match among those listed with it, from 1, and how to open its neighbours. */
export interface Beside {
  at: number
  of: number
  before: (() => void) | undefined
  after: (() => void) | undefined
}

/** Remembers the listing from which a match is about to be opened. */
export function list(journal: string, matches: string[]): void {
  listed = { journal, matches }
}

/** The position of a match among those listed with it, or, if its link was opened directly, among all that were kept. None when it is alone. */
export async function standing(journal: string, match: string): Promise<{ at: number; matches: string[] } | undefined> {
  if (listed?.journal !== journal || !listed.matches.includes(match)) {
    const all = (await (await reach(`api/journal?journal=${encodeURIComponent(journal)}`)).json()) as SeriesPage
    const kept = all.matches.filter(({ kept }) => kept).sort((a, b) => a.block - b.block || a.game - b.game)
    list(journal, kept.map(({ block, game }) => `${block}.${game}`))
  }
  const { matches } = listed!
  const at = matches.indexOf(match)
  return at < 0 || matches.length < 2 ? undefined : { at, matches }
}
