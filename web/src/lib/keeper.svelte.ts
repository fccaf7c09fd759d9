// Keeps a text as it is typed: with its server, and until the server has it, in this browser. Nobody waits for it. What
// somebody else has kept meanwhile is never written over: whoever types chooses.

import { Refusal, type Bench, type Kept, type Text, type TextFile, type TextId } from './bench'

/** How it stands with the text. */
export type Standing =
  | { is: 'kept'; at: number }
  /** Typed, and about to be kept. */
  | { is: 'typed' }
  /** Only this browser has it, and why. */
  | { is: 'here'; since: number; why: string }
  /** Nobody has it: the server refuses it, or this browser has no room for it. */
  | { is: 'nowhere'; why: string }
  /** Somebody else kept another. */
  | { is: 'newer'; text: Text }

/** How long nothing must be typed before the text is kept, in milliseconds. */
export const PAUSE = 1_000
/** How long until the server is asked again that did not answer, and at most. */
const AGAIN = [2_000, 30_000] as const

/** What is kept in this browser. */
interface Copy {
  base: TextId | null
  at: number
  files: TextFile[]
}

/** What a keeper needs around it. */
export interface Around {
  now: () => number
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined
}

/** The browser's storage; none in a frame that has none. */
function storage(): Around['storage'] {
  try {
    return localStorage
  } catch {
    return undefined
  }
}

const texts = (files: TextFile[]) => JSON.stringify(files.filter(({ text }) => text !== undefined).map(({ path, text }) => [path, text]).sort())

/** Whether two texts are the same, but for files that cannot be edited. */
export const same = (a: TextFile[], b: TextFile[]) => texts(a) === texts(b)

export class Keeper {
  standing = $state.raw<Standing>({ is: 'typed' })
  /** The text that the next one takes the place of. */
  base: TextId | null = null
  /** Grows with each keystroke; what is kept is that of some moment. */
  private typed = 0
  private had = 0
  private note: string | null = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private busy: Promise<void> | undefined
  private tries = 0
  /** Not before this moment. */
  private notBefore = 0

  constructor(
    private readonly bench: Pick<Bench, 'keep'>,
    private readonly files: () => TextFile[],
    /** Names the text among those that this browser keeps. */
    private readonly name: string,
    private readonly around: Around = { now: () => Date.now(), storage: storage() },
  ) {}

  /**
   * Begins with what the server has; returns what is to be shown. What only this browser has is shown and kept; if the server
   * has another since, whoever types chooses.
   */
  begin(text: Text | null): TextFile[] {
    const copy = this.copy()
    this.base = text?.id ?? null
    this.standing = text ? { is: 'kept', at: text.kept_at } : { is: 'typed' }
    if (!copy || (text && same(copy.files, text.files))) {
      this.forget()
      return text?.files ?? []
    }
    if (text && copy.base !== text.id) this.standing = { is: 'newer', text }
    else this.later(0)
    this.typed++
    return copy.files
  }

  /** Something was typed. */
  type(): void {
    this.typed++
    if (this.standing.is === 'newer') return this.later()
    if (this.standing.is === 'kept') this.standing = { is: 'typed' }
    this.later()
  }

  /** The text, kept: its id. @throws why it cannot be kept now */
  async kept(note: string | null = null): Promise<TextId> {
    this.note = note ?? this.note
    this.notBefore = 0
    await this.flush()
    if (this.standing.is === 'newer') throw new Error('Somebody kept a newer text: take it or keep yours first.')
    if (this.standing.is === 'here' || this.standing.is === 'nowhere') throw new Error(this.standing.why)
    if (this.base === null) throw new Error('There is no text yet.')
    return this.base
  }

  /** Whoever types chose the other text; returns its files. */
  take(): TextFile[] {
    if (this.standing.is !== 'newer') return []
    const { text } = this.standing
    this.adopt(text)
    return text.files
  }

  /** A text is shown that was kept before: it takes the place of the one that was. */
  adopt(text: Text): void {
    this.base = text.id
    this.had = this.typed
    this.forget()
    this.standing = { is: 'kept', at: text.kept_at }
  }

  /** Somebody else may have kept this one: the reader is asked unless nothing differs. */
  meet(text: Text): void {
    if (this.busy || text.id === this.base || this.standing.is === 'newer') return
    if (same(text.files, this.files())) this.adopt(text)
    else this.standing = { is: 'newer', text }
  }

  /** Whoever types chose the text that stands here: the other one stays in the list. */
  mine(): Promise<void> {
    if (this.standing.is !== 'newer') return Promise.resolve()
    this.base = this.standing.text.id
    this.standing = { is: 'typed' }
    this.typed++
    return this.flush()
  }

  /** The page may go: what is not kept is sent on its way, and this browser has it in any case. */
  leave(): void {
    if (this.typed === this.had) return
    this.store()
    if (this.standing.is === 'typed' && !this.busy) void this.send(true)
  }

  /** The server can be reached again. */
  awake(): void {
    if (this.typed !== this.had && this.standing.is === 'here') this.later(0)
  }

  /** Whether what stands here is nowhere else. */
  get unkept(): boolean {
    return this.typed !== this.had
  }

  stop(): void {
    clearTimeout(this.timer)
  }

  private later(pause = PAUSE): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      if (this.standing.is === 'newer') this.store()
      else void this.flush()
    }, Math.max(pause, this.notBefore - this.around.now()))
  }

  /** Keeps what was typed until now. */
  private async flush(): Promise<void> {
    clearTimeout(this.timer)
    while (this.busy) await this.busy
    if (this.standing.is === 'newer' || (this.typed === this.had && this.base !== null && this.note === null)) return
    await this.send()
  }

  private send(leaving = false): Promise<void> {
    const [typed, note, files] = [this.typed, this.note, this.files()]
    const stored = this.store(files)
    this.busy = this.bench
      .keep(this.base, files, note, leaving)
      .then((kept) => this.done(kept, typed))
      .catch((error: unknown) => this.refused(error, files, typed, stored))
      .finally(() => (this.busy = undefined))
    return this.busy
  }

  private done({ id, kept_at }: Kept, typed: number): void {
    this.base = id
    this.had = typed
    this.note = null
    this.tries = 0
    if (this.typed === typed) {
      this.forget()
      this.standing = { is: 'kept', at: kept_at }
    } else {
      this.standing = { is: 'typed' }
      this.later()
    }
  }

  private refused(error: unknown, files: TextFile[], typed: number, stored: boolean): void {
    const { status, again, told, message } = error instanceof Refusal ? error : new Refusal(String(error), 0)
    if (status === 409) {
      const text = told as Text
      // The answer to the same request was lost, or both typed the same.
      if (same(text.files, files)) this.done(text, typed)
      else this.standing = { is: 'newer', text }
      return
    }
    const since = this.standing.is === 'here' ? this.standing.since : this.around.now()
    // What is wrong with the text itself does not get better by asking again.
    const final = [400, 413, 422].includes(status)
    this.standing = final || !stored ? { is: 'nowhere', why: message } : { is: 'here', since, why: message }
    if (final) return
    const wait = Math.min(AGAIN[0] * 2 ** this.tries++, AGAIN[1])
    this.notBefore = again ?? this.around.now() + wait
    this.later(0)
  }

  private copy(): Copy | undefined {
    try {
      const read = JSON.parse(this.around.storage?.getItem(this.name) ?? 'null') as Copy | null
      const whole = read && Array.isArray(read.files) && read.files.every((file) => typeof file?.path === 'string')
      return whole && read.files.length > 0 ? read : undefined
    } catch {
      return undefined
    }
  }

  /** Puts the text into this browser; false if there is no room. */
  private store(files = this.files()): boolean {
    try {
      this.around.storage?.setItem(this.name, JSON.stringify({ base: this.base, at: this.around.now(), files } satisfies Copy))
      return this.around.storage !== undefined
    } catch {
      return false
    }
  }

  private forget(): void {
    try {
      this.around.storage?.removeItem(this.name)
    } catch {
      // It could not be put there either.
    }
  }
}
