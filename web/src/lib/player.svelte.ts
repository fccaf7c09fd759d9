// The state of an open match: where it is, whether it plays, what is selected and switched on.

import { untrack } from 'svelte'
import type { Analyst } from './analyst.svelte'
import type { Card, Shot } from './drawing'
import { sentence } from './sentence'
import type { MatchStream } from './stream'
import { chances, curves, turningPoints, type TurningPoint } from './turning'
import type { Source } from './load'
import type { Trial } from './trial.svelte'

export class Player {
  /** The picture shown. */
  at = $state(0)
  playing = $state(false)
  /** Whether playback stays with a match that is being played: it skips steps rather than fall behind. */
  follows = $state(false)
  /** 1 to 9; 0 is as fast as possible. */
  speed = $state(3)
  selected = $state<string | null>(null)
  eyes = $state<number | null>(null)
  /** The cell in focus, by keyboard or by a click where nothing is. */
  cell = $state.raw<[number, number] | null>(null)
  layers = $state.raw<ReadonlySet<string>>(new Set())
  zoom = $state<[number, number, number] | null>(null)
  /** Whether the position in the link is reached; not yet while the match is too short for that. */
  settled = $state(true)
  /** Whether it is on its way there. */
  settling = false
  /** Why the requested picture cannot be shown. */
  problem = $state<string | null>(null)
  /** Grows with the match. */
  version = $state(0)
  /** Plays the match on from its turns, once somebody has asked. */
  analyst = $state.raw<Analyst | undefined>(undefined)
  /** The bot asked about its order, if any. */
  trial: Trial | undefined = undefined
  /** How far the movement to the picture has got; set by the clock below. */
  t = 1
  /** Whether movements are not animated. */
  calm = false
  /** Called when the board must be redrawn. */
  redraw: () => void = () => {}
  /** The requested picture: not shown yet while its step is on its way. */
  private wanted = 0
  /** The time of the first frame of the movement; none before it. */
  private began: number | undefined
  private timer = 0
  private found: { version: number; points: TurningPoint[]; curves: number[][]; chances: number[][] | undefined } | undefined

  constructor(
    readonly stream: MatchStream,
    readonly source: Source,
  ) {
    this.speed = stream.drawing.speed ?? 3
    this.layers = new Set(stream.drawing.layers?.filter(({ on }) => on).map(({ id }) => id))
  }

  /** The board's height divided by its width, with room for its coordinates. */
  get ratio(): number {
    const { drawing, start } = this.stream
    const frame = drawing.frame?.(start)
    if (frame) return frame[3] / frame[2]
    const [width, height] = drawing.size(start)
    return (height + 1.3) / (width + 1.3)
  }
  get count(): number {
    void this.version
    return this.stream.frames.length
  }
  get step() {
    void this.version
    return this.stream.stepAt(this.at)
  }
  get stepNumber(): number {
    return this.stream.frames[this.at]?.step ?? 0
  }
  get part(): number {
    return this.stream.frames[this.at]?.part ?? 0
  }
  get scene(): unknown {
    void this.version
    return this.stream.sceneAt(this.at)
  }
  /** The scene that is drawn: the picture's own, unless its events belong to a board that is gone by then. */
  get board(): unknown {
    const { step, stream } = this
    return (step && stream.drawing.lastBoard?.(step)) ?? this.scene
  }
  get card(): Card | undefined {
    return this.selected === null ? undefined : this.stream.drawing.find(this.board, this.selected, this.stream.head)
  }
  get turningPoints(): TurningPoint[] {
    return this.why().points
  }
  /** The scores by seat, then by step. */
  get curves(): number[][] {
    return this.why().curves
  }
  /** The chances of finishing first by seat, then by step; none if the game does not give them. */
  get chances(): number[][] | undefined {
    return this.why().chances
  }

  private why() {
    const version = this.version
    if (this.found?.version !== version) {
      const found = untrack(() => ({ points: turningPoints(this.stream), curves: curves(this.stream), chances: chances(this.stream) }))
      this.found = { version, ...found }
    }
    return this.found
  }

  /** What is to be drawn now. */
  shot(): Shot {
    return { ...this.shotAt(this.at), t: this.t }
  }

  /** What is to be drawn for a picture that is loaded, at the end of its movement. */
  shotAt(at: number): Shot {
    const { stream, layers, eyes, selected } = this
    const step = stream.stepAt(at)
    const before = at === 0 ? stream.start : stream.sceneAt(at - 1)
    const scene = (step && stream.drawing.lastBoard?.(step)) ?? stream.sceneAt(at)
    return { head: stream.head, scene, before, step, part: stream.frames[at]?.part ?? 0, t: 1, layers, eyes, hand: null, selected }
  }

  /** Milliseconds between pictures while playing. */
  get delay(): number {
    if (this.within !== null) return this.paced(this.within)
    return this.speed === 0 ? 0 : 2000 / this.speed ** 2
  }

  /** Goes to a picture; `smooth` when it is the next one. */
  async go(at: number, smooth = false): Promise<void> {
    const { stream } = this
    const goal = Math.max(0, Math.min(at, stream.frames.length - 1))
    this.wanted = goal
    const step = stream.frames[goal]!.step
    // A loaded picture is shown before anything else can happen.
    if (!stream.has(goal)) {
      try {
        await stream.need(step)
        this.problem = null
      } catch (error) {
        this.stop()
        this.problem = sentence(error)
        return
      }
      if (this.wanted !== goal) return
    }
    stream.ahead(step)
    const near = smooth && !this.calm && goal === this.at + 1
    this.at = goal
    this.t = near ? 0 : 1
    this.began = undefined
    this.redraw()
  }

  stop(): void {
    this.playing = false
    this.follows = false
    clearTimeout(this.timer)
  }

  /** A jump by hand stops playback. */
  seek(at: number): Promise<void> {
    this.stop()
    return this.go(at)
  }

  goToStep(step: number): Promise<void> {
    return this.seek(this.stream.lastOf(Math.max(0, Math.min(step, this.stream.total))))
  }

  /** One picture forwards or back. */
  nudge(by: number): void {
    this.stop()
    void this.go(this.wanted + by, true)
  }

  /** One step forwards or back. */
  turn(by: number): void {
    const { step, part } = this.stream.frames[this.wanted]!
    const inside = part > 0 && this.wanted !== this.stream.lastOf(step)
    void this.goToStep(by < 0 && inside ? step - 1 : step + by)
  }

  play(): void {
    if (this.playing) return this.stop()
    if (this.at >= this.stream.frames.length - 1 && this.stream.end) void this.go(0)
    this.playing = true
    this.tick()
  }

  /** Goes to the newest step of a match that is being played, and stays with it. */
  follow(): void {
    this.follows = true
    this.playing = true
    this.tick()
  }

  private tick(): void {
    clearTimeout(this.timer)
    if (!this.playing) return
    if (this.at < this.stream.frames.length - 1) {
      // Pictures that would follow faster than a screen shows them are partly skipped.
      const some = this.within === null ? 1 : Math.max(1, Math.round(16 / Math.max(this.delay, 0.1)))
      const newest = this.follows ? this.stream.firsts[this.stream.total]! : 0
      void this.go(Math.min(Math.max(this.at + some, newest), this.stream.frames.length - 1), this.delay >= 30)
    } else if (this.stream.end) {
      return this.stop()
    }
    this.timer = window.setTimeout(() => this.tick(), Math.max(this.delay, this.within === null ? 1 : 16))
  }

  /** Plays the whole match in this many seconds: quiet turns quickly, eventful ones slowly. None to use the speed. */
  within = $state<number | null>(null)

  /** How long a picture stays if the whole match is to take `within` seconds, in milliseconds. */
  private paced(seconds: number): number {
    const { frames, briefs } = this.stream
    const weigh = (step: number) => 1 + 4 * Math.max(0, ...(briefs[step - 1]?.told ?? []).map(({ weight }) => weight))
    if (this.weights?.steps !== briefs.length) {
      const all = frames.reduce((sum, { step }) => sum + weigh(step), 0)
      this.weights = { steps: briefs.length, all }
    }
    return (1000 * seconds * weigh(this.stepNumber)) / Math.max(this.weights.all, 1)
  }
  private weights: { steps: number; all: number } | undefined

  setSpeed(speed: number): void {
    this.within = null
    this.speed = speed
    if (this.playing) this.tick()
  }

  /**
   * Advances the animation to a frame at this time; true while it runs. A movement starts with its first frame: the time of
   * a frame is that of its beginning, and lies before whatever asked for it.
   */
  animate(now: number): boolean {
    if (this.t >= 1) return false
    this.began ??= now
    const length = Math.max(30, Math.min(this.playing && this.speed > 0 ? this.delay * 0.85 : 260, 450))
    this.t = Math.max(0, Math.min((now - this.began) / length, 1))
    return this.t < 1
  }

  /** Whether a step has something worth a mark. */
  marked(step: number): boolean {
    const brief = this.stream.briefs[step - 1]
    return brief !== undefined && (brief.faults.length > 0 || brief.told.some(({ weight }) => weight >= 2))
  }

  /** To the next decisive turn; after the last, to the first. */
  decisive(): void {
    const points = this.turningPoints
    const next = points.find(({ step }) => step > this.stepNumber) ?? points[0]
    if (next) void this.goToStep(next.step)
  }

  /** To the next step with a mark, or the previous one. */
  event(by: 1 | -1): void {
    for (let step = this.stepNumber + by; step > 0 && step <= this.stream.briefs.length; step += by) {
      if (this.marked(step)) return void this.goToStep(step)
    }
    void this.seek(by > 0 ? this.stream.frames.length - 1 : 0)
  }

  toggle(layer: string): void {
    const layers = new Set(this.layers)
    if (!layers.delete(layer)) layers.add(layer)
    this.layers = layers
    this.redraw()
  }

  /** The stream has grown. Playback continues by itself: it waits at the end while more may come. */
  grown(): void {
    this.version++
  }
}
