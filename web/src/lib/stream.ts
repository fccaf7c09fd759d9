// A match in memory: what it is, the steps being viewed, and what is known of all of them.

import { apply, type Json } from './delta'
import type { Answer, Drawing, End, Fault, Head, Line, Moment, Rejection, Seat, Step, Told } from './drawing'

export type { End, Outcome } from './drawing'

/** A picture of a match: its step, and which part of it. */
export interface Frame {
  step: number
  part: number
}

/** Where the lines of steps come from. */
export interface StepSource {
  /** The lines of the steps `from` to `to`, from 1, as they are written: at least the first of them. */
  lines(from: number, to: number): Promise<string[]>
  /** The exact message that asked a seat at a step, both from 1; none if it was not asked there. */
  message?(step: number, seat: Seat): Promise<string | undefined>
  /** A step, from 1, as a section of a spec file about a rule; if none is named, about that of its first rejected order. */
  section?(step: number, rule: string): Promise<string>
  /** The replay itself, if the page computes its steps. */
  readonly replay?: Blob
  /** Nobody views it any more. */
  close?(): void
}

/** What charts, marks and search need of a step, shown or not. */
export interface Brief {
  /** From 1. */
  number: number
  moment: string
  answers: Answer[]
  faults: Fault[]
  rejected: Rejection[]
  /** The events worth reading. */
  told: Told[]
  /** The game's own scores after it. */
  scores: number[]
  /** The chance of each seat to finish first, after it; none if the game does not give it. */
  advantage: number[] | undefined
}

/** The most pictures of a match: none needs more, and no page could hold more. */
const LONGEST = 200_000
/** How many characters of lines are kept; others are requested again when needed. */
const ROOM = 12_000_000
/** How many steps are kept ready to draw. */
const READY = 48
/** How many steps are requested ahead of the current one. */
const AHEAD = 8
/** How many steps per request when all are read. */
const PIECE = 32

export class MatchStream {
  readonly start: unknown
  /** Every picture in order; the first is the start. */
  readonly frames: Frame[] = [{ step: 0, part: 0 }]
  /** The first picture of each step. */
  readonly firsts: number[] = [0]
  /** What is known of each step, in order; in the end it covers all. */
  readonly briefs: Brief[] = []
  /** The number of steps so far. */
  total = 0
  end: End | undefined
  /** Why nothing comes of a match that is followed, for now. */
  waits: string | undefined
  /** Lines, the most recently used last. */
  private readonly lines = new Map<number, { line: Line; size: number }>()
  private readonly ready = new Map<number, Step>()
  /** The requests in progress. */
  private readonly running = new Set<{ from: number; to: number; come: Promise<void> }>()
  private size = 0
  private lastScene: unknown

  /** A match of `head`; without `steps` its lines are added one by one, and all are kept. */
  constructor(
    public head: Head,
    readonly drawing: Drawing,
    public steps?: StepSource,
  ) {
    this.start = head.scene
    this.lastScene = head.scene
    if (!steps) return
    this.end = head.end ?? undefined
    for (let step = 0; step < (head.steps ?? 0) && this.extend(head.frames[step] ?? 0); step++);
  }

  /** Makes room for the pictures of one more step. */
  private extend(frames: number): boolean {
    if (this.frames.length >= LONGEST) return false
    this.total++
    this.firsts.push(this.frames.length)
    const count = Math.max(1, this.drawing.parts?.(frames, this.head) ?? 1)
    for (let part = 0; part < count; part++) this.frames.push({ step: this.total, part })
    return true
  }

  /** Takes the next line of a match being played; false when no more can come. */
  add(line: Line | End): boolean {
    if ('end' in line) {
      this.end = line
      return false
    }
    if (!this.extend((line.parts ?? line.frames ?? []).length)) return false
    // Bots may register their names after the head of a running match was sent.
    line.registered?.forEach((name, index) => {
      const seat = this.head.seats[index]
      if (seat && name !== null) seat.registered = name
    })
    this.lines.set(this.total, { line, size: 0 })
    this.survey(line)
    return true
  }

  /** A match that was followed is over: what is not in its lines is asked of its replay from now on. */
  goOnWith(head: Head, steps: StepSource): void {
    this.head = head
    this.steps = steps
  }

  /** Forgets everything after a step, in a match whose moves were taken back. */
  cut(total: number): void {
    this.lastScene = this.sceneAfter(total)
    this.frames.length = this.firsts[total + 1] ?? this.frames.length
    this.firsts.length = Math.min(this.firsts.length, total + 1)
    this.briefs.length = Math.min(this.briefs.length, total)
    for (const step of [...this.lines.keys()].filter((step) => step > total)) this.lines.delete(step)
    for (const step of [...this.ready.keys()].filter((step) => step > total)) this.ready.delete(step)
    this.total = Math.min(this.total, total)
    this.end = undefined
  }

  /** Whether all steps are known. */
  get known(): boolean {
    return this.end !== undefined && this.briefs.length >= this.total
  }

  /** Reads the whole match once, in pieces, for charts, marks and search. */
  async readAll(grown: () => void, gone: () => boolean): Promise<void> {
    let rested = performance.now()
    while (this.steps && this.briefs.length < this.total && !gone()) {
      const from = this.briefs.length + 1
      for (const text of await this.fetch(from, from + PIECE)) {
        if (this.briefs.length < this.total) this.survey(this.keep(text))
        if (performance.now() - rested < 12) continue
        grown()
        await new Promise((resolve) => setTimeout(resolve))
        rested = performance.now()
      }
    }
    grown()
  }

  /** All lines in order, from memory or read again; ends early when `gone`. */
  async *walk(gone: () => boolean): AsyncGenerator<Line> {
    for (let from = 1; from <= this.total && !gone(); ) {
      const kept = this.lines.get(from)?.line
      const lines = kept ? [kept] : (await this.fetch(from, from + PIECE)).map((text) => JSON.parse(text) as Line)
      for (const line of lines) if (from <= this.total && !gone()) (from++, yield line)
    }
  }

  /** What happened to a thing, step by step. */
  async history(id: string, gone: () => boolean): Promise<{ step: number; moments: Moment[] }[]> {
    const found: { step: number; moments: Moment[] }[] = []
    let number = 0
    for await (const line of this.walk(gone)) {
      number++
      const { events } = line
      const step = { number, events, parts: line.parts ?? this.drawing.frames?.(line.frames ?? []) ?? [] } as unknown as Step
      const moments = this.drawing.life?.(step, id) ?? []
      if (moments.length > 0) found.push({ step: number, moments })
    }
    return found
  }

  private survey(line: Line): void {
    const step = this.make(line, this.briefs.length + 1, this.lastScene)
    this.lastScene = step.scene
    const { number, moment, answers, faults, rejected } = step
    this.briefs.push({ number, moment, answers, faults, rejected, told: this.tell(step).filter(({ weight }) => weight > 0), scores: this.scores(step.scene), advantage: line.advantage })
  }

  private async fetch(from: number, to: number): Promise<string[]> {
    const lines = await this.steps!.lines(from, Math.min(to, this.total))
    if (lines.length === 0) throw new Error(`there is no data for ${this.head.stepWord} ${from}`)
    return lines
  }

  private keep(text: string): Line {
    const line = JSON.parse(text) as Line
    this.size += text.length - (this.lines.get(line.step)?.size ?? 0)
    this.lines.delete(line.step)
    this.lines.set(line.step, { line, size: text.length })
    // A step also needs the one before it: some are always kept.
    for (const [step, { size }] of this.lines) {
      if (this.size <= ROOM || this.lines.size <= 2 * AHEAD) break
      this.lines.delete(step)
      this.size -= size
    }
    return line
  }

  private lineOf(number: number): Line | undefined {
    const kept = this.lines.get(number)
    if (kept && this.steps) {
      this.lines.delete(number)
      this.lines.set(number, kept)
    }
    return kept?.line
  }

  private sceneAfter(step: number): unknown {
    if (step === 0) return this.start
    const made = this.ready.get(step)
    if (made) return made.scene
    const line = this.lineOf(step)
    return line && this.scene(line)
  }

  private scene({ scene }: Line): unknown {
    return scene === undefined ? this.start : apply(this.start as Json, scene as Json)
  }

  private make(line: Line, number: number, before: unknown): Step {
    return {
      number,
      moment: line.moment,
      answers: line.answers,
      rejected: line.rejected ?? [],
      faults: line.faults ?? [],
      events: line.events,
      parts: line.parts ?? this.drawing.frames?.(line.frames ?? []) ?? [],
      before,
      scene: this.scene(line),
      deciding: line.deciding,
    }
  }

  /** A step, if it is loaded. */
  step(number: number): Step | undefined {
    let step = this.ready.get(number)
    if (!step) {
      const before = number > 0 ? this.sceneAfter(number - 1) : undefined
      const line = before === undefined ? undefined : this.lineOf(number)
      if (!line) return undefined
      step = this.make(line, number, before)
      for (const [old] of this.ready) {
        if (this.ready.size < READY) break
        this.ready.delete(old)
      }
    }
    this.ready.delete(number)
    this.ready.set(number, step)
    return step
  }

  /** Whether a picture can be drawn at once. */
  has(frame: number): boolean {
    const step = this.frames[frame]?.step ?? 0
    return step === 0 || this.step(step) !== undefined
  }

  /** Loads a missing step and nothing else: somebody is waiting for it. */
  async need(number: number): Promise<void> {
    while (number > 0 && number <= this.total && !this.step(number)) {
      const missing = number > 1 && this.sceneAfter(number - 1) === undefined ? number - 1 : number
      await this.ask(missing, number)
    }
  }

  /** Loads what comes after a step, before it is needed. */
  ahead(number: number): void {
    const next = Math.min(number + AHEAD / 2, this.total)
    if (this.steps && next > number && !this.lines.has(next)) void this.ask(number + 1, Math.min(number + AHEAD, this.total)).catch(() => {})
  }

  /** Requests steps, unless the first of them is already on its way. */
  private ask(from: number, to: number): Promise<void> {
    for (const running of this.running) if (running.from <= from && from <= running.to) return running.come
    const come = this.fetch(from, to).then((texts) => texts.forEach((text) => this.keep(text)))
    const running = { from, to, come }
    this.running.add(running)
    void come.catch(() => {}).finally(() => this.running.delete(running))
    return come
  }

  /** The step of a picture; none for the start. */
  stepAt(frame: number): Step | undefined {
    return this.step(this.frames[frame]?.step ?? 0)
  }

  /** The scene of a picture. */
  sceneAt(frame: number): unknown {
    const { step, part } = this.frames[frame] ?? { step: 0, part: 0 }
    const made = this.step(step)
    if (!made) return this.start
    return this.drawing.partScene?.(made, part) ?? made.scene
  }

  /** The seats that must answer after a picture's step. */
  decidingAt(frame: number): Seat[] {
    return this.stepAt(frame)?.deciding ?? this.head.deciding
  }

  /** The last picture of a step. */
  lastOf(step: number): number {
    return (this.firsts[step + 1] ?? this.frames.length) - 1
  }

  label(seat: Seat): string {
    return this.head.seats[seat - 1]?.label ?? `player ${seat}`
  }

  tell(step: Step): Told[] {
    return this.drawing.tell(step, (seat) => this.label(seat))
  }

  scores(scene: unknown): number[] {
    return this.drawing.score(scene, this.head)
  }
}

/** Splits a stream of bytes into lines. */
export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    rest += decoder.decode(value, { stream: !done })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    yield* lines.filter((line) => line !== '')
    if (done) break
  }
  if (rest !== '') yield rest
}
