// The engines in this page: a worker with the module, created when first needed, and again after it was lost.

import type { Ask } from '../generated/view'
import { Asks, Problem } from './asks'
import type { Answered, Told } from './module'
import EngineWorker from './worker?worker&inline'

/** The longest a question may take: beyond that the worker is stuck, and is ended. */
const PATIENCE = 60_000

/** This browser or this page cannot run the engines. */
export class NoEngines extends Error {}

/** The engines failed at a question. */
export class Failed extends Problem {}

/** Where the module is: at an address, or inside the page, packed with gzip and in base64. */
export type Lying = { address: string } | { packed: string }

declare global {
  interface Window {
    /** Where the script of a folder of pages puts the module (`engine.js`). */
    agonEngine?: string
  }
}

export class Engines extends Asks {
  private worker: Worker | undefined
  private loaded: Promise<void> | undefined
  /** The compiled module: compiled by the page, so that a slow start of the worker does not delay it. */
  private compiled: Promise<WebAssembly.Module> | undefined
  private last = 0
  private readonly waiting = new Map<number, { done: (answered: Answered) => void; timer: number }>()

  constructor(private readonly lying: Lying) {
    super()
  }

  /** The engines of this page; none if it has no module. */
  static ofPage(): Engines | undefined {
    if (window.agonEngine !== undefined) return new Engines({ packed: window.agonEngine })
    const address = document.querySelector<HTMLMetaElement>('meta[name=agon-engine]')?.content
    return address ? new Engines({ address: new URL(address, location.href).href }) : undefined
  }

  /** The same engines again, in a worker of their own: long computations there hold nothing up here. */
  override another(): Engines {
    const other = new Engines(this.lying)
    other.compiled = this.compiled
    return other
  }

  /** Ends the worker. Those waiting are told; the next question starts another. */
  override end(): void {
    this.lose({ stopped: 'It was ended.' })
  }

  async bytes(ask: Ask, file?: Blob): Promise<ArrayBuffer | undefined> {
    await this.ready()
    const bytes = await file?.arrayBuffer()
    const answered = await this.post({ question: JSON.stringify(ask), file: bytes }, bytes ? [bytes] : [])
    if ('refused' in answered) throw new Problem(answered.refused.error, answered.refused)
    if ('stopped' in answered) throw new Failed(`The engine stopped at this match; please report it. ${answered.stopped}`)
    if ('missing' in answered) throw new NoEngines(answered.missing)
    return answered.bytes
  }

  /** Loads the module, once. */
  ready(): Promise<void> {
    return (this.loaded ??= this.load())
  }

  private async load(): Promise<void> {
    if (typeof WebAssembly !== 'object') throw new NoEngines('this browser does not run WebAssembly')
    const from = this.module()
    // Handled below; if no worker can be started, nobody handles it.
    from.catch(() => {})
    try {
      this.worker = new EngineWorker()
    } catch (error) {
      throw new NoEngines(`this browser does not run workers (${String(error)})`)
    }
    this.worker.onmessage = ({ data: [number, answered] }: MessageEvent<[number, Answered]>) => this.hear(number, answered)
    const { worker } = this
    this.worker.onerror = (event) => {
      event.preventDefault()
      if (this.worker === worker) this.lose({ missing: event.message || 'its worker cannot be started' })
    }
    const answered = await this.post(await from, [])
    if ('bytes' in answered) return
    throw new NoEngines('missing' in answered ? answered.missing : 'stopped' in answered ? answered.stopped : answered.refused.error)
  }

  /** The module in the form its worker takes. */
  private async module(): Promise<{ module: WebAssembly.Module } | { packed: string }> {
    if ('packed' in this.lying) return this.lying
    try {
      return { module: await (this.compiled ??= WebAssembly.compileStreaming(fetch(this.lying.address))) }
    } catch (error) {
      this.compiled = undefined
      this.worker?.terminate()
      throw new NoEngines(String(error))
    }
  }

  private post(told: Told, transfer: Transferable[]): Promise<Answered> {
    return new Promise((done) => {
      if (!this.worker) return done({ missing: 'its worker is gone' })
      const number = ++this.last
      const late = () => this.lose({ stopped: `It gave no answer for ${PATIENCE / 1000} seconds.` })
      this.waiting.set(number, { done, timer: window.setTimeout(late, PATIENCE) })
      this.worker.postMessage([number, told], transfer)
    })
  }

  private hear(number: number, answered: Answered): void {
    const waiting = this.waiting.get(number)
    if (!waiting) return
    this.waiting.delete(number)
    clearTimeout(waiting.timer)
    waiting.done(answered)
  }

  /** Ends the worker; those waiting for it are told, and the next question starts another. */
  private lose(answered: Answered): void {
    this.worker?.terminate()
    this.worker = undefined
    this.loaded = undefined
    for (const number of [...this.waiting.keys()]) this.hear(number, answered)
  }
}
