// Asks a bot whether its order was a mistake: agon leads it to the turn and lets it play on with either order, while the
// page stays usable.

import type { TrialSoFar } from './generated/server'
import { type Source, tried } from './load'
import { sentence } from './sentence'
import { linesOf } from './stream'

/** The seat and step of the order, the bot that gave it, and who plays in the other seats; if none: the policy. */
export interface Asked {
  step: number
  seat: number
  bot: string
  against: string
}

const INTERRUPTED = 'agon ended before the bot was done. Start `agon watch` again and open the link it prints.'

export class Trial {
  /** The current or last trial. */
  asked = $state.raw<Asked | null>(null)
  /** What is known of it. */
  soFar = $state.raw<TrialSoFar | null>(null)
  running = $state(false)
  problem = $state('')
  private leaving: AbortController | undefined

  constructor(private readonly source: Source) {}

  async ask(asked: Asked): Promise<void> {
    this.stop()
    this.asked = asked
    this.soFar = null
    this.problem = ''
    this.running = true
    const leaving = (this.leaving = new AbortController())
    const { step, seat, bot, against } = asked
    try {
      const body = await tried(this.source, { step: String(step), seat: String(seat), bot, against }, leaving.signal)
      if (!body) throw new Error('The server sent nothing.')
      for await (const text of linesOf(body)) {
        if (leaving.signal.aborted) return
        const soFar = JSON.parse(text) as TrialSoFar
        if (soFar.problem !== null) throw new Error(soFar.problem)
        this.soFar = soFar
      }
      if (typeof this.soFar?.mistake !== 'boolean') throw new Error(INTERRUPTED)
    } catch (error) {
      // The browser's message about a broken stream is meaningless.
      const why = error instanceof TypeError ? INTERRUPTED : sentence(error)
      if (!leaving.signal.aborted) this.problem = why
    } finally {
      if (this.leaving === leaving) this.running = false
    }
  }

  /** Stops it and ends the bot. What is known stays, without a verdict. */
  stop(): void {
    this.leaving?.abort()
    this.running = false
  }
}
