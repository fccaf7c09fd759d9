// A match played in this page: what is chosen, what would come of it, and what was sent.

import type { Drawing, Step } from './drawing'
import type { Asks } from './engine/asks'
import { sentence } from './sentence'
import { MatchStream } from './stream'
import { drawingOf } from './games'
import { handOf } from './hands'
import type { Ask, Begun, Turn } from './generated/view'
import type { Actor, Hand, HandView, Prospect, Refused } from './hand'
import { Player } from './player.svelte'

/** The standing order of one actor. */
export interface Errand {
  id: string
  goal: [number, number] | null
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
const at = (a: readonly number[] | undefined, b: readonly number[]) => a !== undefined && a[0] === b[0] && a[1] === b[1]

/** If more steps than this arrive at once, only the last is shown. */
const MANY = 12

export class Playing {
  readonly stream: MatchStream
  readonly player: Player
  readonly hand: Hand
  chosen = $state.raw<unknown[]>([])
  prospect = $state.raw<Prospect | undefined>(undefined)
  turn = $state.raw<Turn>(undefined!)
  selected = $state.raw<string[]>([])
  over = $state.raw<[number, number] | null>(null)
  cursor = $state.raw<[number, number] | null>(null)
  /** Choices of the taken actor on one cell, one of which is to be picked. */
  options = $state.raw<unknown[]>([])
  /** The last wish that the rules refuse. */
  wrong = $state.raw<{ words: string; refused: Refused } | null>(null)
  busy = $state(false)
  problem = $state<string | null>(null)
  /** Standing orders, by actor. */
  errands = $state.raw<ReadonlyMap<string, Errand>>(new Map())
  /** The standing order waiting for a click on its place. */
  placing = $state<string | null>(null)
  /** Whether turns are sent automatically. */
  running = $state(false)
  private round = 0
  /** Resolves when all requested changes of the choices are made. */
  private edits: Promise<unknown> = Promise.resolve()

  /** The match as a seat got it at its end. */
  private given = $state.raw<Blob | undefined>(undefined)

  private constructor(
    private readonly asks: Asks,
    private readonly id: number,
    /** Whether somebody plays alone, with bots that give hints and turns that can be taken back; otherwise a server holds the match. */
    readonly alone: boolean,
    begun: Begun,
    drawing: Drawing,
    hand: Hand,
  ) {
    this.stream = new MatchStream(begun.head, drawing)
    this.player = new Player(this.stream, { kind: 'page' })
    this.hand = hand
    this.turn = begun.turn
    this.take(begun.turn)
  }

  /** Begins a match, or continues one. */
  static async begin(asks: Asks, ask: Ask): Promise<Playing> {
    const begun = await asks.ask<Begun>(ask)
    const { game, title } = begun.head
    const [drawing, hand] = [drawingOf(game), handOf(game)]
    if (!drawing || !hand) throw new Error(`${title} cannot be played by hand in this page yet.`)
    return new Playing(asks, begun.id, ask !== 'sit', begun, drawing, hand)
  }

  /** Lets the others play, until somebody here must choose. */
  private async go(): Promise<Turn> {
    const turn = await this.asks.ask<Turn>({ go: { id: this.id, steps: this.turn.steps } })
    // Everybody may see the whole match once it is over, and the link ends with it.
    if (turn.end && !this.alone) this.given = await this.fetch().catch(() => undefined)
    return turn
  }

  private async fetch(): Promise<Blob> {
    return new Blob([(await this.asks.bytes({ replay: { id: this.id } }))!])
  }

  /** The match so far; none while a server keeps it. */
  get replay(): (() => Promise<Blob>) | undefined {
    const { given } = this
    if (given) return () => Promise.resolve(given)
    return this.alone ? () => this.fetch() : undefined
  }

  /** The seat that chooses now, otherwise the last one that did. */
  get seat(): number {
    return this.turn.choosing[0] ?? this.lastSeat
  }
  private lastSeat = 1

  get mine(): boolean {
    return this.turn.choosing.length > 0 && !this.busy
  }

  get scene(): unknown {
    return this.stream.sceneAt(this.stream.frames.length - 1)
  }

  /** The turn being planned; none while there is nothing to choose. */
  get view(): HandView | undefined {
    const { prospect } = this
    if (!prospect) return undefined
    const { stream, seat, chosen, selected, over, scene } = this
    const step: Step = {
      number: stream.total + 1,
      moment: this.turn.moment,
      answers: [{ seat }],
      rejected: [],
      faults: [],
      events: prospect.events,
      parts: stream.drawing.frames?.(prospect.frames ?? []) ?? [],
      before: scene,
      scene: prospect.scene,
      deciding: [],
    }
    return { head: stream.head, seat, scene, chosen, prospect, step, selected, over }
  }

  get actors(): Actor[] {
    const { view } = this
    return view ? this.hand.actors(view) : []
  }

  /** What the taken actors can do. */
  get own(): unknown[] {
    const { selected, prospect } = this
    return prospect?.choices.filter((choice) => selected.includes(this.hand.actor(choice))) ?? []
  }

  words(choice: unknown): string {
    return this.hand.words(choice, this.scene, this.stream.head)
  }

  /** Whether something is hidden from the choosing seat, and something is seen. */
  private sees(): boolean {
    const { drawing, head } = this.stream
    const people = head.seats.filter(({ bot }) => bot === 'human').length
    const sees = people === 1 ? drawing.sees?.(this.scene, this.seat, head) : undefined
    if (!sees) return false
    const [width, height] = drawing.size(this.stream.start)
    for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) if (sees(x, y)) return true
    return false
  }

  /** Shows the lines of a turn, and prepares the next. */
  private take(turn: Turn): void {
    for (const line of turn.lines) this.stream.add(line)
    this.lastSeat = this.seat
    this.turn = turn
    if (turn.choosing.length > 0) this.lastSeat = turn.choosing[0]!
    if (turn.end) this.stream.add(turn.end)
    this.player.grown()
    // Many turns at once are not animated one by one, and nothing hidden is drawn.
    if (this.running || turn.lines.length > MANY) void this.player.go(this.stream.frames.length - 1)
    this.player.eyes = this.sees() ? this.seat : null
    this.chosen = []
    this.prospect = undefined
    this.options = []
    this.wrong = null
    this.placing = null
  }

  /** Does something that leads to another turn. */
  private async pass(what: () => Promise<Turn>): Promise<void> {
    if (this.busy) return
    this.busy = true
    this.round++
    try {
      let turn = await what()
      this.take(turn)
      while (!turn.end && turn.choosing.length === 0) {
        turn = await this.go()
        this.take(turn)
      }
      this.problem = null
    } catch (error) {
      this.problem = sentence(error)
      this.running = false
    } finally {
      this.busy = false
    }
    await this.ready()
  }

  /** Begins to play, or waits for those who are to move first. */
  start(): Promise<void> {
    return this.turn.end || this.turn.choosing.length > 0 ? this.ready() : this.pass(() => this.go())
  }

  /** Asks what can be chosen, and lets standing orders choose. */
  private async ready(): Promise<void> {
    if (this.turn.choosing.length === 0) return
    await this.look([])
    const living = new Set(this.actors.map(({ id }) => id))
    this.selected = this.selected.filter((id) => living.has(id))
    await this.stand()
  }

  private foresee(chosen: unknown[]): Promise<Prospect> {
    return this.asks.ask<Prospect>({ prospect: { id: this.id, seat: this.seat, chosen } })
  }

  /** What these choices would lead to; they are adopted if none of them is refused. */
  private async look(chosen: unknown[]): Promise<Refused[]> {
    const mine = ++this.round
    const prospect = await this.foresee(chosen)
    if (mine !== this.round) return []
    if (prospect.refused.length > 0) return prospect.refused
    this.chosen = chosen
    this.prospect = prospect
    if (this.hand.single && chosen.length > 0) {
      const first = await this.foresee([])
      if (mine === this.round) this.prospect = { ...prospect, choices: first.choices }
    }
    return []
  }

  /** Changes the choices once earlier changes are made, so that clicks faster than the engines' answers are not lost. */
  private edit(change: () => Promise<void>): Promise<void> {
    const { turn } = this
    const done = this.edits.then(() => (turn === this.turn ? change() : undefined))
    this.edits = done.catch(() => {})
    return done
  }

  /** Adds a choice; says why if the rules refuse it. */
  choose(choice: unknown): Promise<void> {
    this.options = []
    return this.edit(async () => {
      const before = this.hand.single ? [] : this.chosen
      try {
        const refused = await this.look([...before, choice])
        this.wrong = refused[0] ? { words: this.words(choice), refused: refused[0] } : null
        if (!this.wrong) this.after(choice)
      } catch (error) {
        this.problem = sentence(error)
      }
    })
  }

  /** A unit with an order is released; a tool stays in hand. */
  private after(choice: unknown): void {
    const actor = this.hand.actor(choice)
    if (this.actors.find(({ id }) => id === actor)?.at) this.selected = this.selected.filter((id) => id !== actor)
  }

  /** Takes a choice back, and with it any later ones that depend on it. */
  drop(choice: unknown): Promise<void> {
    return this.edit(() => this.without(this.chosen.indexOf(choice)))
  }

  private async without(index: number): Promise<void> {
    this.wrong = null
    let rest = this.chosen.filter((_, place) => place !== index)
    for (let tries = 0; tries < 20; tries++) {
      const refused = await this.look(rest)
      if (refused.length === 0) return
      const bad = new Set(refused.map(({ index }) => index))
      rest = rest.filter((_, place) => !bad.has(place))
    }
    await this.look([])
  }

  undo(): Promise<void> {
    return this.edit(() => (this.chosen.length > 0 ? this.without(this.chosen.length - 1) : Promise.resolve()))
  }

  clear(): Promise<void> {
    return this.edit(async () => {
      this.wrong = null
      await this.look([])
    })
  }

  async send(): Promise<void> {
    await this.edits
    if (!this.mine) return
    const [seat, chosen] = [this.seat, this.chosen]
    // A seat is told by the next question what came of it.
    await this.pass(async () => (await this.asks.ask<Turn | undefined>({ answer: { id: this.id, seat, chosen } })) ?? this.go())
  }

  /** Replaces the choices by a hint. */
  async hint(): Promise<void> {
    if (!this.alone || !this.mine) return
    this.busy = true
    try {
      let rest = await this.asks.ask<unknown[]>({ hint: { id: this.id, seat: this.seat, bot: this.hand.adviser } })
      for (let tries = 0; tries < 20; tries++) {
        const refused = await this.look(rest)
        if (refused.length === 0) break
        const bad = new Set(refused.map(({ index }) => index))
        rest = rest.filter((_, place) => !bad.has(place))
      }
      this.wrong = null
    } catch (error) {
      this.problem = sentence(error)
    } finally {
      this.busy = false
    }
  }

  /** Lets a built-in bot play some turns. */
  async lend(bot: string, times: number): Promise<void> {
    if (!this.alone || !this.mine) return
    const { id, seat } = this
    await this.pass(() => this.asks.ask<Turn>({ lend: { id, seat, bot, times } }))
  }

  async back(): Promise<void> {
    if (!this.alone) return
    this.running = false
    await this.pass(async () => {
      const turn = await this.asks.ask<Turn>({ back: { id: this.id } })
      this.stream.cut(turn.steps)
      this.player.at = Math.min(this.player.at, this.stream.frames.length - 1)
      this.player.grown()
      void this.player.seek(this.stream.frames.length - 1)
      this.player.play()
      return turn
    })
  }

  select(ids: string[], more = false): void {
    this.options = []
    this.wrong = null
    this.selected = more ? [...new Set([...this.selected, ...ids])] : ids
  }

  /** The next actor that can do something, or the previous one. */
  next(by: 1 | -1): void {
    const able = new Set(this.prospect?.choices.map((choice) => this.hand.actor(choice)))
    const actors = this.actors.filter(({ id }) => able.has(id))
    if (actors.length === 0) return
    const now = actors.findIndex(({ id }) => id === this.selected[0])
    const next = actors[(now + by + actors.length) % actors.length]!
    this.select([next.id])
    if (next.at) this.cursor = next.at
  }

  /** A click on a cell, or the equivalent key. */
  async tap(x: number, y: number, more = false): Promise<void> {
    if (!this.mine || !this.prospect) return
    const cell: [number, number] = [x, y]
    this.cursor = cell
    if (this.placing) return this.give(this.placing, cell)
    const tool = this.actors.find(({ id, at }) => id === this.selected[0] && at === undefined)
    const there = this.actors.filter((actor) => at(actor.at, cell))
    if (!tool && there.length > 0 && (more || !there.some(({ id }) => this.selected.includes(id)))) {
      const chosenCell = this.own.filter((choice) => at(this.hand.target(choice, this.scene), cell))
      // Friends are taken, not shot at; what can be done to them is in the list.
      if (more || chosenCell.length === 0 || !this.options.length) return this.select(there.map(({ id }) => id).slice(0, 1), more)
    }
    const [actor] = this.selected
    if (actor === undefined) return
    if (this.selected.length > 1) {
      const go = this.hand.standing?.find(({ place }) => place)
      if (go) return this.give(go.id, cell)
    }
    const here = this.own.filter((choice) => at(this.hand.target(choice, this.scene), cell))
    if (here.length === 1) return void (await this.choose(here[0]))
    if (here.length > 1) return void (this.options = here)
    if (there.some(({ id }) => id === actor)) return this.select([])
    const wish = this.hand.wish?.(actor, cell, this.scene)
    if (wish !== undefined) await this.choose(wish)
  }

  /** Gives the taken actors a standing order. */
  async give(id: string, goal: [number, number] | null): Promise<void> {
    const order = this.hand.standing?.find((order) => order.id === id)
    if (!order) return
    if (order.place && !goal) return void (this.placing = id)
    this.placing = null
    const errands = new Map(this.errands)
    for (const actor of this.selected.filter((actor) => order.fits(actor, this.scene))) errands.set(actor, { id, goal })
    this.errands = errands
    const given = new Set(this.selected)
    this.selected = []
    await this.edit(async () => {
      await this.dropOf(given)
      await this.stand()
    })
  }

  /** Ends the standing orders of some actors. */
  async dismiss(actors: string[]): Promise<void> {
    const errands = new Map(this.errands)
    actors.forEach((actor) => errands.delete(actor))
    this.errands = errands
    await this.edit(() => this.dropOf(new Set(actors)))
  }

  private async dropOf(actors: Set<string>): Promise<void> {
    const rest = this.chosen.filter((choice) => !actors.has(this.hand.actor(choice)))
    if (rest.length < this.chosen.length) await this.look(rest)
  }

  /** Lets standing orders choose for every actor without an order. */
  private async stand(): Promise<void> {
    if (this.errands.size === 0) return
    const errands = new Map(this.errands)
    const stuck = new Set<string>()
    for (let rounds = 0; rounds < 8; rounds++) {
      const { view } = this
      if (!view) return
      const busy = new Set(this.chosen.map((choice) => this.hand.actor(choice)))
      const taken = new Set<string>()
      const more: unknown[] = []
      for (const [actor, errand] of errands) {
        if (busy.has(actor) || stuck.has(actor)) continue
        const order = this.hand.standing?.find(({ id }) => id === errand.id)
        const choices = view.prospect.choices.filter((choice) => this.hand.actor(choice) === actor)
        if (!order || choices.length === 0) continue
        const next = order.next(actor, errand.goal, view, choices)
        if (next === 'done') errands.delete(actor)
        if (next === undefined || next === 'done') continue
        const place = String(this.hand.target(next, view.scene))
        // Two want to go to the same place: the second tries again once the first has moved.
        if (taken.has(place)) continue
        taken.add(place)
        more.push(next)
      }
      if (more.length === 0) break
      const before = this.chosen
      const refused = await this.look([...before, ...more])
      if (refused.length > 0) {
        const bad = new Set(refused.map(({ index }) => index - before.length))
        more.forEach((choice, place) => bad.has(place) && stuck.add(this.hand.actor(choice)))
        const again = await this.look([...before, ...more.filter((_, place) => !bad.has(place))])
        if (again.length > 0) break
      }
    }
    this.errands = errands
  }

  /** Sends turn after turn while standing orders provide the choices. */
  async run(): Promise<void> {
    if (this.running) return void (this.running = false)
    this.running = true
    while (this.running && this.mine && !this.turn.end) {
      const before = this.errands.size
      await this.send()
      if (this.errands.size < before) break
      await new Promise((resolve) => setTimeout(resolve, this.player.calm ? 0 : 30))
    }
    this.running = false
  }

  /** Whether the list contains a choice. */
  has(choice: unknown): boolean {
    return this.chosen.some((other) => same(other, choice))
  }

  leave(): void {
    this.running = false
    this.player.stop()
    // A seat waits for its page: it may come back.
    if (this.alone) void this.asks.bytes({ close: { id: this.id } }).catch(() => {})
  }
}
