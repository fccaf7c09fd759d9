// Begins matches played by hand.

import { handOf } from './hands'
import { Asks } from './engine/asks'
import type { Ask, AskRefusal, Sitter, WantedMatch } from './generated/view'
import { enginesHere, fileOf, type Source } from './load'
import type { Place } from './place'
import { Playing } from './playing.svelte'

/** The word for a person among bots. */
export const HUMAN = 'human'

/** The player of a seat, as written: `human`, or `builtin:NAME?key=value&key=value`; none for other bots. */
export function sitter(name: string): Sitter | undefined {
  if (name === HUMAN) return { builtin: null, options: [] }
  const found = /^builtin:([^?]+)(?:\?(.*))?$/.exec(name)
  if (!found) return undefined
  const options = (found[2] ?? '').split('&').filter((option) => option !== '')
  return { builtin: found[1]!, options: options.map((option) => [option.split('=')[0]!, option.split('=').slice(1).join('=')]) }
}

/** A seat of a match on a server, by the token of its link. */
class SeatThere extends Asks {
  constructor(private readonly token: string) {
    super()
  }

  async bytes(ask: Ask): Promise<ArrayBuffer | undefined> {
    const answer = await fetch('seat', { method: 'POST', headers: { 'x-agon-seat': this.token }, body: JSON.stringify(ask) }).catch(() => {
      throw new Error('agon no longer answers: this match is over, or was stopped.')
    })
    if (answer.ok) return answer.status === 204 ? undefined : answer.arrayBuffer()
    const refusal = (await answer.json().catch(() => undefined)) as AskRefusal | undefined
    throw new Error(refusal?.error ?? `agon answered ${answer.status}.`)
  }
}

/** The players in the seats of a link. */
function sitters(names: string): Sitter[] {
  return names.split(',').map((name) => {
    const found = sitter(name)
    if (!found) throw new Error(`Only people and built-in bots can play in this page, and ${name} is neither.`)
    return found
  })
}

/** The match of a link: a new one, or one continued from a turn of a recorded one. */
export async function begin(place: Place, recorded?: Source): Promise<Playing> {
  if (place.seat) return Playing.begin(new SeatThere(place.seat), 'sit')
  const engines = enginesHere()
  if (engines && recorded) {
    const { steps } = await engines.open(await fileOf(recorded), true)
    return Playing.begin(engines, { resume: { id: steps.id, steps: place.turn ?? 0, seats: sitters(place.seats) } })
  }
  if (!engines) throw new Error('This page has no engines to play with: this agon was built without them, or this browser cannot run them.')
  if (!handOf(place.play)) throw new Error(`${place.play} cannot be played by hand in this page.`)
  const seats = sitters(place.seats || `${HUMAN},builtin:${handOf(place.play)!.opponent}`)
  const seed = place.seed || `${Math.floor(Math.random() * 1e9)}`
  const wanted: WantedMatch = { game: place.play, rules: place.rules, sets: [], map: place.map, seed, seats }
  return Playing.begin(engines, { begin: { wanted } })
}
