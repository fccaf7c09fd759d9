// A bot that is asked whether its order was a mistake: agon leads it to the turn and lets it play on with either order, while
// the page does what it likes.

import type { TrialSoFar } from './generated/server'
import { type Source, tried } from './load'
import { linesOf } from './stream'

/** Whose order at which step, which bot gave it, and who plays in the other seats; none of them: the policy. */
export interface Asked {
  step: number
  seat: number
  bot: string
  against: string
}

const INTERRUPTED = 'agon ended before the bot was done. Start `agon watch` again and open the link it prints.'

export class Trial {
  /** What is or was tried last. */
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
      // What a browser says when a stream breaks off tells nothing.
      const why = error instanceof TypeError ? INTERRUPTED : error instanceof Error ? error.message : String(error)
      if (!leaving.signal.aborted) this.problem = why
    } finally {
      if (this.leaving === leaving) this.running = false
    }
  }

  /** Ends it: the bot is ended, too. What is known stays, without a verdict. */
  stop(): void {
    this.leaving?.abort()
    this.running = false
  }
}
