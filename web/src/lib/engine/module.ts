// The engines as a WebAssembly module (`crates/agon-wasm`): bytes in, bytes out.

/** What the module exports. */
interface Exports {
  memory: WebAssembly.Memory
  agon_start(): void
  agon_take(length: number): number
  agon_out(): number
  agon_out_length(): number
  agon_open(shownAll: number): number
  agon_lines(id: number, from: number, to: number): number
  agon_message(id: number, step: number, seat: number): number
  agon_section(id: number, step: number): number
  agon_import(): number
  agon_play(): number
  agon_analyse(id: number): number
  agon_refine(pairs: number, step: number, all: number): number
  agon_wish(step: number, seat: number): number
  agon_written(step: number, seat: number): number
  agon_close(id: number): void
  agon_playout(steps: number): number
}

/** The module's return codes. */
const DONE = 0
const REFUSED = 1

/** Why there is nothing to return (`crates/agon-wasm/src/engines.rs`). */
export interface Refusal {
  error: string
  foreign: boolean
  gone: boolean
}

/** The module refused. */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.error)
  }
}

/** The module stopped during a call; it cannot be asked anything more. */
export class Stopped extends Error {}

export class Engine {
  private readonly exports: Exports

  constructor(module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports
    this.exports.agon_start()
  }

  /** Opens a replay: `{"id":..., "head":...}`. */
  open(replay: Uint8Array, shownAll: boolean): Uint8Array {
    this.give(replay)
    return this.call(() => this.exports.agon_open(shownAll ? 1 : 0))!
  }

  /** Lines of an open replay, each followed by a line feed. */
  lines(id: number, from: number, to: number): Uint8Array {
    return this.call(() => this.exports.agon_lines(id, from, to))!
  }

  /** The message that asked a seat (from 1) at a step (from 0); none if it was not asked there. */
  message(id: number, step: number, seat: number): Uint8Array | undefined {
    return this.call(() => this.exports.agon_message(id, step, seat))
  }

  /** A step (from 1) as a section of a spec file about a rule; if none is named, about that of its first rejected order. */
  section(id: number, step: number, rule: string): Uint8Array {
    this.give(new TextEncoder().encode(rule))
    return this.call(() => this.exports.agon_section(id, step))!
  }

  /** The record of a match of an original, as one of our replays. */
  import(record: Uint8Array): Uint8Array {
    this.give(record)
    return this.call(() => this.exports.agon_import())!
  }

  /** Begins to analyse an open replay. */
  analyse(id: number): void {
    this.call(() => this.exports.agon_analyse(id))
  }

  /** Plays up to this many pairs of futures; returns an `Outlook` on a step (from 1) as JSON. With `all` they are of any step. */
  refine(pairs: number, step: number, all: boolean): Uint8Array {
    return this.call(() => this.exports.agon_refine(pairs, step, all ? 1 : 0))!
  }

  /** Examines another order of a seat (from 1) at a step (from 1), as a bot would write it. */
  wish(step: number, seat: number, text: string): void {
    this.give(new TextEncoder().encode(text))
    this.call(() => this.exports.agon_wish(step, seat))
  }

  /** The recorded order of a seat (from 1) at a step (from 1), as a bot writes it there. */
  written(step: number, seat: number): Uint8Array {
    return this.call(() => this.exports.agon_written(step, seat))!
  }

  close(id: number): void {
    this.exports.agon_close(id)
  }

  /** A question about a match by hand, as JSON (`PlayAsk`). */
  play(ask: Uint8Array): Uint8Array | undefined {
    this.give(ask)
    return this.call(() => this.exports.agon_play())
  }

  /** Plays random matches of a game until this many steps are played; returns how many were. */
  playout(game: string, steps: number): number {
    this.give(new TextEncoder().encode(game))
    return Number(new TextDecoder().decode(this.call(() => this.exports.agon_playout(steps))))
  }

  private give(bytes: Uint8Array): void {
    this.call(() => {
      const place = this.exports.agon_take(bytes.length) >>> 0
      // A view of memory becomes invalid when memory grows, so it is made anew each time.
      new Uint8Array(this.exports.memory.buffer, place, bytes.length).set(bytes)
      return DONE
    })
  }

  private call(ask: () => number): Uint8Array | undefined {
    let answer: number
    try {
      answer = ask()
    } catch (error) {
      const said = new TextDecoder().decode(this.out())
      throw new Stopped(said === '' ? `the engine stopped (${String(error)}); the file may need more memory than a page has` : said)
    }
    if (answer === DONE) return this.out()
    if (answer === REFUSED) throw new Refused(JSON.parse(new TextDecoder().decode(this.out())) as Refusal)
    return undefined
  }

  private out(): Uint8Array {
    const { memory, agon_out, agon_out_length } = this.exports
    return new Uint8Array(memory.buffer, agon_out() >>> 0, agon_out_length() >>> 0).slice()
  }
}
