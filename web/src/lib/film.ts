// A film in memory: every scene of a match, built from the lines that come in.

import { apply, type Json } from './delta'
import type { Drawing, Head, Line, Seat, Step, Told } from './drawing'

export interface Outcome {
  scores: number[]
  ranks: number[]
  reason: string
}

export interface End {
  end: 'whole' | 'cut' | 'void' | 'altered'
  why: string | null
  outcome: Outcome | null
  moment: string
}

/** A picture of a film: which step, and which of its parts. */
export interface Frame {
  step: number
  part: number
}

/** No film needs more, and no page could hold more. */
const LONGEST = 200_000

export class Film {
  readonly head: Head
  readonly start: unknown
  readonly steps: Step[] = []
  /** Every picture in order; the first is the start. */
  readonly frames: Frame[] = [{ step: 0, part: 0 }]
  /** The first picture of each step. */
  readonly firsts: number[] = [0]
  end: End | undefined
  private scene: Json
  private frame: Json = null
  private firstDeciding: Seat[]

  constructor(
    line: Json,
    readonly drawing: Drawing,
  ) {
    const { scene, deciding, ...head } = line as { scene: Json; deciding: Seat[] } & Record<string, Json>
    this.scene = apply(null, scene)
    this.start = this.scene
    this.head = { ...head, start: this.start } as unknown as Head
    this.firstDeciding = deciding
  }

  /** Takes the next line; false when nothing more is to come. */
  add(parsed: Json): boolean {
    const line = parsed as unknown as Line | End
    if ('end' in line) {
      this.end = line
      return false
    }
    const before = this.scene
    if (line.scene !== undefined) this.scene = apply(this.scene, line.scene)
    const parts = (line.parts ?? []).map((change) => (this.frame = apply(this.frame, change)))
    const step: Step = {
      number: this.steps.length + 1,
      moment: line.moment,
      answers: line.answers,
      rejected: line.rejected ?? [],
      faults: line.faults ?? [],
      events: line.events ?? [],
      parts,
      before,
      scene: this.scene,
      deciding: line.deciding,
    }
    this.steps.push(step)
    this.firsts.push(this.frames.length)
    const count = Math.max(1, this.drawing.parts?.(step) ?? 1)
    for (let part = 0; part < count; part++) this.frames.push({ step: step.number, part })
    return this.frames.length < LONGEST
  }

  /** The step of a picture; none for the start. */
  stepAt(frame: number): Step | undefined {
    return this.steps[(this.frames[frame]?.step ?? 0) - 1]
  }

  /** The scene of a picture. */
  sceneAt(frame: number): unknown {
    const { step, part } = this.frames[frame] ?? { step: 0, part: 0 }
    const made = this.steps[step - 1]
    if (!made) return this.start
    return this.drawing.partScene?.(made, part) ?? made.scene
  }

  /** Who must answer after a picture's step. */
  decidingAt(frame: number): Seat[] {
    return this.stepAt(frame)?.deciding ?? this.firstDeciding
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

/** Cuts a stream of bytes into lines. */
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
