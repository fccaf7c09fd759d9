// Begins matches played by hand.

import { handOf } from './hands'
import type { Begun, Sitter, Turn, Wanted } from './generated/view'
import type { Prospect } from './hand'
import { bytesOf, enginesHere, type Source } from './load'
import type { Place } from './place'
import { type Holder, Playing } from './playing.svelte'

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
class Seated implements Holder {
  private known = 0
  replay: (() => Promise<Blob>) | undefined

  constructor(private readonly token: string) {}

  /** Requests something of the seat; nothing when the others need longer. */
  private async ask<T>(path: string, chosen?: unknown[]): Promise<T | undefined> {
    const headers: Record<string, string> = { 'x-agon-seat': this.token }
    const options = chosen ? { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(chosen) } : { headers }
    const answer = await fetch(`seat/${path}`, options).catch(() => {
      throw new Error('agon no longer answers: this match is over, or was stopped.')
    })
    if (answer.status === 204) return undefined
    const told = (await answer.json()) as T & { error?: string }
    if (!answer.ok) throw new Error(told.error ?? `agon answered ${answer.status}.`)
    return told
  }

  async begun(): Promise<Begun> {
    const begun = (await this.ask<Begun>('begun'))!
    this.known = begun.turn.steps
    return begun
  }

  async prospect(_: number, chosen: unknown[]) {
    return (await this.ask<Prospect>('prospect', chosen))!
  }

  async answer(_: number, chosen: unknown[]) {
    await this.ask('answer', chosen)
    return this.go()
  }

  async go(): Promise<Turn> {
    for (;;) {
      const turn = await this.ask<Turn>(`turn?steps=${this.known}`)
      if (!turn) continue
      this.known = turn.steps
      if (turn.end) await this.fetch()
      return turn
    }
  }

  /** The whole match, which everybody may see once it is over. It is fetched at once, because the link ends with the match. */
  private async fetch(): Promise<void> {
    const answer = await fetch('seat/replay', { headers: { 'x-agon-seat': this.token } }).catch(() => undefined)
    if (!answer?.ok) return
    const bytes = await answer.blob()
    this.replay = () => Promise.resolve(bytes)
  }

  leave() {
    // The seat waits for its page: it may come back.
  }
}

/** Takes a seat of a match on a server. */
export async function sit(token: string): Promise<Playing> {
  const holder = new Seated(token)
  return Playing.with(holder, await holder.begun())
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
  if (place.seat) return sit(place.seat)
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
