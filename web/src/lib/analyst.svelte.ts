// Analysis while somebody watches: a match is played on from its turns again and again, in a worker of its own.

import type { Asks, OpenReplay } from './engine/asks'
import type { Outlook } from './generated/view'
import { sentence } from './sentence'

/** How long a piece of work takes, in milliseconds: results are shown that often, and a wish waits no longer. */
const PIECE = 120
/** The most pairs of futures in a piece. */
const MOST_PAIRS = 5_000

export class Analyst {
  /** What is known of the turn being viewed; none before the first piece is done. */
  outlook = $state.raw<Outlook | null>(null)
  /** The orders with an effect beyond noise, of all turns viewed so far: the largest effect first. */
  marks = $state.raw<Outlook['marks']>([])
  /** The policy whose opinion that is. */
  policy = $state('')
  /** The one that is wanted; none for the game's judge. */
  private wanted: string | null = null
  /** Whether it continues. It rests when enough is known, until another turn is viewed. */
  running = $state(false)
  /** Whether futures are played from all turns, rather than only from the one being viewed. */
  all = $state(false)
  problem = $state('')
  /** Why the wished order cannot be played. */
  refused = $state('')
  private engines: Asks | undefined
  private opened: Promise<OpenReplay> | undefined
  /** The step being viewed. */
  step = $state(0)
  private round = 0
  private pairs = 1

  constructor(
    private readonly here: Asks,
    private readonly replay: Blob,
  ) {}

  /** Moves to a step, from 1; what is known of others is kept. */
  look(step: number): void {
    if (step === this.step) return
    this.step = step
    this.outlook = null
    this.refused = ''
    if (this.running) this.start()
  }

  /** From now on another bot plays on: what the one before found does not count. */
  by(policy: string): void {
    this.wanted = policy
    this.outlook = null
    this.marks = []
    if (this.running) this.start()
  }

  /** Analyses all turns, or only the current one. */
  widen(all: boolean): void {
    this.all = all
    if (this.running) this.start()
  }

  start(): void {
    this.problem = ''
    this.running = true
    void this.work(++this.round)
  }

  stop(): void {
    this.round++
    this.running = false
  }

  /** Ends the analysis and drops its results. */
  close(): void {
    this.stop()
    this.engines?.end()
    this.engines = this.opened = undefined
  }

  /** The recorded order of a seat at this step, in the notation of the game's bots. */
  async written(seat: number): Promise<string> {
    const { step } = this
    return (await (await this.open()).text((id) => ({ written: { id, step, seat } })))!
  }

  /** From now on analyses another order of a seat at this step, in the notation of the game's bots. */
  async wish(seat: number, text: string): Promise<void> {
    this.refused = ''
    // Results of the previous wish must not count for this one, including those still on their way.
    this.round++
    if (this.outlook) this.outlook = { ...this.outlook, wish: null }
    try {
      const { step } = this
      await (await this.open()).text((id) => ({ wish: { id, step, seat, text } }))
      this.start()
    } catch (error) {
      this.refused = sentence(error)
      if (this.running) this.start()
    }
  }

  private open(): Promise<OpenReplay> {
    this.engines ??= this.here.another()
    return (this.opened ??= this.engines.open(this.replay, false).then(({ steps }) => steps))
  }

  private async work(round: number): Promise<void> {
    try {
      const open = await this.open()
      while (round === this.round && this.step > 0) {
        const { step, pairs, all, wanted: policy } = this
        const began = performance.now()
        const text = await open.text((id) => ({ refine: { id, step, pairs, all, policy } }))
        // As many as fill a piece: matches of one game take a hundred times as long as those of another.
        const share = PIECE / Math.max(performance.now() - began, 1)
        this.pairs = Math.max(1, Math.min(Math.round(pairs * Math.min(share, 2)), MOST_PAIRS))
        if (round !== this.round) return
        const outlook = JSON.parse(text!) as Outlook
        outlook.marks.sort((a, b) => Math.abs(b.gain.mean) - Math.abs(a.gain.mean))
        this.outlook = outlook
        this.policy = outlook.policy
        this.marks = outlook.marks
        if (!this.outlook.more) break
      }
    } catch (error) {
      if (round !== this.round) return
      this.problem = sentence(error)
      this.engines?.end()
      this.engines = this.opened = undefined
      this.running = false
    }
  }
}
