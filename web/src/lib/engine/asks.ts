// Who answers the questions of the page (`crates/agon-view/src/ask.rs`): the engines inside it, those of its server, or a seat of a match
// being played there.

import type { Reply, Ask, Head, Opened, AskRefusal } from '../generated/view'
import type { Prospect } from '../hand'
import type { StepSource } from '../stream'

/** A problem to show to the user as it is. */
export class Problem extends Error {
  constructor(
    message: string,
    /** What the engines refused. */
    readonly refusal?: AskRefusal,
    /** Whether asking again is no use. */
    readonly isFinal = refusal !== undefined,
  ) {
    super(message)
  }
}

export abstract class Asks {
  /** Sends a question, with the file that it is about; nothing is returned where there is nothing to tell. */
  abstract bytes(ask: Ask, file?: Blob): Promise<ArrayBuffer | undefined>

  async text(ask: Ask, file?: Blob): Promise<string | undefined> {
    const bytes = await this.bytes(ask, file)
    return bytes && new TextDecoder().decode(bytes)
  }

  async ask<T extends Reply | Prospect | undefined>(ask: Ask, file?: Blob): Promise<T> {
    const text = await this.text(ask, file)
    return (text && JSON.parse(text)) as T
  }

  /** Opens a replay, or the record of a match of an original. */
  async open(replay: Blob, shownAll: boolean): Promise<{ head: Head; steps: OpenReplay }> {
    const steps = new OpenReplay(this, replay, shownAll)
    return { head: await steps.open(), steps }
  }

  /** Others of the same kind, if long computations there hold nothing up here. */
  another(): Asks {
    return this
  }

  /** Nothing more is asked. */
  end(): void {}
}

/** A replay whose steps are computed where it is open. */
export class OpenReplay implements StepSource {
  id = 0

  constructor(
    private readonly asks: Asks,
    readonly replay: Blob,
    private readonly shownAll: boolean,
  ) {}

  async open(): Promise<Head> {
    const { id, head } = await this.asks.ask<Opened>({ open: { private: this.shownAll } }, this.replay)
    this.id = id
    return head
  }

  async lines(from: number, to: number): Promise<string[]> {
    return (await this.text((id) => ({ lines: { id, from, to } })))!.split('\n').filter((line) => line !== '')
  }

  message(step: number, seat: number): Promise<string | undefined> {
    return this.text((id) => ({ message: { id, step, seat } }))
  }

  async section(step: number, rule: string): Promise<string> {
    return (await this.text((id) => ({ section: { id, step, rule } })))!
  }

  close(): void {
    void this.asks.bytes({ close: { id: this.id } }).catch(() => {})
  }

  /** Asks about it; once more if it has been closed, or was lost with its module. */
  async text(question: (id: number) => Ask): Promise<string | undefined> {
    try {
      return await this.asks.text(question(this.id))
    } catch (error) {
      if (!(error instanceof Problem && error.refusal?.gone)) throw error
      await this.open()
      return this.asks.text(question(this.id))
    }
  }
}
