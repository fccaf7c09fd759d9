// The engines as a WebAssembly module (`crates/agon-wasm`): bytes in, bytes out.

import type { AskRefusal } from '../generated/view'

/** What the page tells the module's worker: the module, in the form the page has it, or a question with the file it is about. */
export type Told = { module: WebAssembly.Module } | { packed: string } | { question: string; file: ArrayBuffer | undefined }

export type Answered =
  | { bytes: ArrayBuffer | undefined }
  | { refused: AskRefusal }
  /** The module stopped during this question; a new one takes the next. */
  | { stopped: string }
  /** There is no module. */
  | { missing: string }

/** What the module exports. */
interface Exports {
  memory: WebAssembly.Memory
  agon_start(): void
  agon_take(length: number): number
  agon_ask(): number
  agon_out(): number
  agon_out_length(): number
}

/** What the module returns. */
const DONE = 0
const REFUSED = 1

export class Engine {
  private readonly exports: Exports

  constructor(module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports
    this.exports.agon_start()
  }

  /** Asks; the module cannot be asked anything more once it stopped. */
  ask(question: string, file: ArrayBuffer | undefined): Answered {
    const line = new TextEncoder().encode(`${question}\n`)
    const length = line.length + (file?.byteLength ?? 0)
    let answer: number
    try {
      const place = this.exports.agon_take(length) >>> 0
      // A view of memory becomes invalid when memory grows, so it is made anew each time.
      const room = new Uint8Array(this.exports.memory.buffer, place, length)
      room.set(line)
      if (file) room.set(new Uint8Array(file), line.length)
      answer = this.exports.agon_ask()
    } catch (error) {
      const said = new TextDecoder().decode(this.out())
      return { stopped: said === '' ? `the engine stopped (${String(error)}); the file may need more memory than a page has` : said }
    }
    if (answer === REFUSED) return { refused: JSON.parse(new TextDecoder().decode(this.out())) as AskRefusal }
    return { bytes: answer === DONE ? this.out() : undefined }
  }

  private out(): ArrayBuffer {
    const { memory, agon_out, agon_out_length } = this.exports
    const place = agon_out() >>> 0
    return memory.buffer.slice(place, place + (agon_out_length() >>> 0))
  }
}
