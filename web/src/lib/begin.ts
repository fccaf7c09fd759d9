// Begins matches that are played by hand.

import { handOf } from './games'
import type { Sitter, Wanted } from './generated/view'
import { bytesOf, enginesHere, type Source } from './load'
import type { Place } from './place'
import { Playing } from './playing.svelte'

/** The word for a person among bots. */
export const HUMAN = 'human'

/** Who sits in a seat, as one writes it: `human`, or `builtin:NAME?key=value&key=value`; none for other bots. */
export function sitter(name: string): Sitter | undefined {
  if (name === HUMAN) return { builtin: null, options: [] }
  const found = /^builtin:([^?]+)(?:\?(.*))?$/.exec(name)
  if (!found) return undefined
  const options = (found[2] ?? '').split('&').filter((option) => option !== '')
  return { builtin: found[1]!, options: options.map((option) => [option.split('=')[0]!, option.split('=').slice(1).join('=')]) }
}

/** Who sits in the seats of a link. */
function sitters(names: string): Sitter[] {
  return names.split(',').map((name) => {
    const found = sitter(name)
    if (!found) throw new Error(`In this page only people and built-in bots play, and ${name} is neither.`)
    return found
  })
}

/** The match of a link: a new one, or one that goes on from a turn of a recorded one. */
export async function begin(place: Place, recorded?: Source): Promise<Playing> {
  const engines = enginesHere()
  if (engines && recorded) {
    const { id } = await engines.opened(await bytesOf(recorded), true)
    return Playing.resume(engines, id, place.turn ?? 0, sitters(place.seats))
  }
  if (!engines) throw new Error('This page has no engines to play with: this agon was built without them, or this browser cannot run them.')
  if (!handOf(place.play)) throw new Error(`${place.play} cannot be played by hand in this page.`)
  const seats = sitters(place.seats || `${HUMAN},builtin:${handOf(place.play)!.opponent}`)
  const seed = place.seed || `${Math.floor(Math.random() * 1e9)}`
  const wanted: Wanted = { game: place.play, rules: place.rules, sets: [], map: place.map, seed, seats }
  return Playing.begin(engines, wanted)
}
