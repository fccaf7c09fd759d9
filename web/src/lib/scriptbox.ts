// One run of a script in its box: a frame without an origin, with a worker in it (`crates/agon-web/src/box.html`). What it
// says is untrusted: bounded, and only ever shown as text.

import type { EditorKit } from './editing'

/** The longest an answer may take, in milliseconds; then the box is removed, and the script with it. */
export const PATIENCE = 3_000
/** The longest answer, and the most printed output, in characters. */
const LARGEST = 3 << 20

/** The script was ended, or ended by itself. */
export class Ended extends Error {}
/** The script cannot be loaded. */
export class Unloadable extends Error {}
/** The box cannot be opened: the script has done nothing yet, good or bad. */
export class NoBox extends Error {}

type Said = { ready?: unknown; printed?: unknown; answer?: unknown; loaded?: unknown; failed?: unknown }

export class ScriptBox {
  private readonly frame = document.createElement('iframe')
  private waiting: { hear: (said: Said) => void; end: (why: string) => void } | undefined
  private timer = 0
  private gone = false

  private constructor(private readonly print: (text: string) => void) {
    // Without an origin it has no access to anything: no storage, no cookies, nothing of this page.
    this.frame.setAttribute('sandbox', 'allow-scripts')
    this.frame.setAttribute('aria-hidden', 'true')
    this.frame.hidden = true
    this.frame.src = '/box.html'
    window.addEventListener('message', this.heard)
  }

  /** A script that is loaded and can be asked. `print` receives what it writes to the console. */
  static async start(kit: EditorKit, source: string, seed: string, print: (text: string) => void): Promise<ScriptBox> {
    const box = new ScriptBox(print)
    try {
      const ready = box.wait((said) => 'ready' in said)
      document.body.append(box.frame)
      await ready.catch(() => {
        throw new NoBox('The box that scripts run in did not open: agon no longer answers. Start it again and open the link it prints')
      })
      const loaded = box.wait(({ loaded, failed }) => loaded === true || failed !== undefined)
      box.tell({ host: kit.world.world, world: kit.world.host, source, seed })
      const { failed } = await loaded
      if (failed !== undefined) throw new Unloadable(String(failed).slice(0, 2000))
      return box
    } catch (error) {
      box.end()
      throw error
    }
  }

  /** Asks a question; returns the line that answers it. */
  async ask(question: string): Promise<string> {
    const answered = this.wait(({ answer }) => typeof answer === 'string')
    this.tell({ question })
    return (await answered).answer as string
  }

  /** Ends the script, whatever it is doing. */
  end(): void {
    this.gone = true
    clearTimeout(this.timer)
    window.removeEventListener('message', this.heard)
    // Removing the frame ends its worker.
    this.frame.remove()
    this.waiting?.end('it was ended')
    this.waiting = undefined
  }

  private tell(message: object): void {
    // It has no origin that could be named.
    this.frame.contentWindow?.postMessage(message, '*')
  }

  private wait(is: (said: Said) => boolean): Promise<Said> {
    return new Promise((done, failed) => {
      if (this.gone) return failed(new Ended('it was ended'))
      const end = (why: string) => {
        this.waiting = undefined
        clearTimeout(this.timer)
        failed(new Ended(why))
      }
      const hear = (said: Said) => {
        if (!is(said)) return
        this.waiting = undefined
        clearTimeout(this.timer)
        done(said)
      }
      this.waiting = { hear, end }
      this.timer = window.setTimeout(() => {
        end(`it did not answer within ${PATIENCE / 1000} seconds`)
        this.end()
      }, PATIENCE)
    })
  }

  private readonly heard = ({ source, data }: MessageEvent<unknown>): void => {
    if (this.gone || source !== this.frame.contentWindow || typeof data !== 'object' || data === null) return
    if ('ready' in data) return this.waiting?.hear(data)
    if ('ended' in data) return this.waiting?.end(String(data.ended).slice(0, 400))
    if (!('said' in data) || typeof data.said !== 'string' || data.said.length > LARGEST) return
    let said: Said
    try {
      const read: unknown = JSON.parse(data.said)
      if (typeof read !== 'object' || read === null) return
      said = read
    } catch {
      return
    }
    if (typeof said.printed === 'string') return this.print(said.printed.slice(0, 1 << 17))
    this.waiting?.hear(said)
  }
}
