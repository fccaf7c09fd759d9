// The state of the page of a bot's text: its files, what is set up, the match of the last run and where it was lost.

import { Refusal, type Bench, type BenchPage, type KeptRow, type StartedRun, type TextFile, type TextId, type Wish } from './bench'
import { costliest, type Verdict } from './cost'
import type { OpenReplay } from './engine/asks'
import { Keeper } from './keeper.svelte'
import { languageOf } from './language'
import { changedLines, linesNamed } from './lines'
import { enginesHere, fileOf, load } from './load'
import { Player } from './player.svelte'
import { sentence } from './sentence'
import type { TextEditor } from './text'

/** What is set up for the next run. */
export interface SetUp {
  against: 'boss' | 'version' | 'hand'
  boss: string
  version: string
  seat: number
  map: string
  seed: string
  preset: string
  sets: [string, string][]
}

/** The run whose match is shown. */
export interface Ran {
  started: StartedRun
  text: TextId
  at: number
  seat: number
  opponent: string
  /** What was changed of the rules, in words; empty if nothing. */
  rules: string
}

/** The most files of a text, as the server has it. */
const MOST_FILES = 64

/** Where a file stands among the tabs: what decides first, what only tells last. */
function rank(path: string): number {
  if (/^(bot|main|player|index|grid_player|algo_strategy)\.\w+$/i.test(path)) return 0
  if (path === 'agon.toml') return 2
  return languageOf(path) && !/^tests?\//.test(path) ? 1 : 3
}

export class Work {
  page = $state.raw<BenchPage | undefined>(undefined)
  paths = $state.raw<string[]>([])
  path = $state('')
  /** The files that differ from what they are compared with. */
  changed = $state.raw<ReadonlySet<string>>(new Set())
  keeper = $state.raw<Keeper | undefined>(undefined)
  rows = $state.raw<KeptRow[]>([])
  setup = $state<SetUp>({ against: 'boss', boss: '', version: '', seat: 1, map: '', seed: '', preset: '', sets: [] })
  running = $state(false)
  /** Why the page or the last run failed; what a compiler said may have many lines. */
  problem = $state.raw<{ text: string; at: number } | null>(null)
  /** Runs are used up until then, in milliseconds since 1970, and what the server said. */
  limit = $state.raw<{ until: number; text: string } | null>(null)
  player = $state.raw<Player | undefined>(undefined)
  ran = $state.raw<Ran | undefined>(undefined)
  verdict = $state.raw<Verdict | undefined>(undefined)
  looking = $state('')
  /** The seat that somebody must take before the match begins: its address. */
  taking = $state('')
  handed = $state.raw<{ version: number } | null>(null)
  /** Asked before a text is handed in that was not tried. */
  asking = $state('')
  editor: TextEditor | undefined
  /** The files as they came, for those that cannot be edited. */
  private files: TextFile[] = []
  /** What lines are compared with: the version handed in, or the text as the page found it. */
  private before = new Map<string, string>()
  private timer: ReturnType<typeof setTimeout> | undefined
  private round = 0
  /** While files are put into the editor, nobody types. */
  private quiet = false
  private analysis: { open: OpenReplay; end: () => void } | undefined
  /** The text that ran last without a fault. */
  private tried: TextId | null = null

  constructor(readonly bench: Bench) {}

  private get storeName(): string {
    return `agon-bench:${this.page?.name ?? location.host}`
  }

  /** Loads what is there, and shows it in the editor. */
  async begin(editor: (typed: (path: string) => void) => TextEditor): Promise<void> {
    const page = await this.bench.load()
    this.page = page
    this.editor = editor(() => this.typed())
    const keeper = new Keeper(this.bench, () => this.text(), this.storeName)
    this.keeper = keeper
    const files = keeper.begin(page.text)
    const version = page.versions[0]
    const handed = version && (await this.bench.filesOf?.(version.version).catch(() => undefined))
    this.compare(handed ?? page.text?.files ?? [])
    this.recall(page)
    if (files.length > 0) this.show(files)
    this.noticeRuns(page)
    void this.list()
  }

  /** Begins with a starter. */
  start(files: TextFile[]): void {
    this.compare(files)
    this.show(files)
    this.keeper?.type()
  }

  end(): void {
    this.round++
    this.keeper?.leave()
    this.keeper?.stop()
    this.player?.stop()
    this.analysis?.end()
    this.editor?.close()
    clearTimeout(this.timer)
  }

  /** The text as it stands. */
  text(): TextFile[] {
    return this.files.map((file) => (file.text === undefined ? file : { path: file.path, text: this.editor?.text(file.path) ?? file.text }))
  }

  /** Shows other files in the editor. */
  show(files: TextFile[]): void {
    const { editor } = this
    if (!editor) return
    this.files = files.slice(0, MOST_FILES)
    const edited = this.files.filter(({ text }) => text !== undefined)
    editor.paths.filter((path) => !edited.some((file) => file.path === path)).forEach((path) => editor.drop(path))
    this.quiet = true
    for (const { path, text } of edited) editor.set(path, text!)
    this.quiet = false
    this.paths = this.files.map(({ path }) => path).sort((a, b) => rank(a) - rank(b))
    const first = edited.toSorted((a, b) => rank(a.path) - rank(b.path))[0]
    this.choose(edited.some(({ path }) => path === this.path) ? this.path : (first?.path ?? ''))
    this.differ()
  }

  choose(path: string): void {
    if (!this.files.some((file) => file.path === path && file.text !== undefined)) return
    this.path = path
    this.editor?.show(path)
  }

  /** A new file; why not, if it cannot be. */
  add(path: string): string {
    const plain = path.length <= 200 && path.split('/').every((part) => part !== '' && part !== '..' && !part.startsWith('.')) && !/[\\:\p{Cc}]/u.test(path)
    if (!plain) return 'A path inside the folder, as in bot/search.py.'
    if (this.paths.includes(path)) return 'There is such a file.'
    if (this.paths.length >= MOST_FILES) return `A text has at most ${MOST_FILES} files.`
    this.show([...this.text(), { path, text: '' }])
    this.choose(path)
    this.typed()
    return ''
  }

  private typed(): void {
    if (this.quiet) return
    this.keeper?.type()
    this.handed = null
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.differ(), 250)
  }

  private compare(files: TextFile[]): void {
    this.before = new Map(files.flatMap(({ path, text }) => (text === undefined ? [] : [[path, text]])))
  }

  /** Marks what differs from what it is compared with. */
  private differ(): void {
    const changed = new Set<string>()
    for (const { path, text } of this.text()) {
      if (text === undefined) continue
      const bars = changedLines(this.before.get(path) ?? '', text)
      if (this.before.get(path) !== text) changed.add(path)
      this.editor?.mark(path, { bars })
    }
    this.changed = changed
  }

  /** The last texts. */
  async list(): Promise<void> {
    this.rows = await this.bench.texts().catch(() => this.rows)
  }

  /** The page is looked at again: somebody else may have kept another text. */
  async back(): Promise<void> {
    this.keeper?.awake()
    await this.list()
    const newest = this.rows[0]
    if (!newest || newest.id === this.keeper?.base) return
    const text = await this.bench.text(newest.id).catch(() => undefined)
    if (text) this.keeper?.meet(text)
  }

  /** Takes the newer text of somebody else, or keeps one's own. */
  async settle(take: boolean): Promise<void> {
    if (take) this.show(this.keeper?.take() ?? [])
    else await this.keeper?.mine()
    void this.list()
  }

  /** Shows a text of the list; what stands here is kept before. */
  async reopen(id: TextId): Promise<void> {
    try {
      await this.keeper?.kept()
      this.show((await this.bench.text(id)).files)
      this.keeper?.type()
    } catch (error) {
      this.fail(error)
    }
  }

  async note(words: string): Promise<void> {
    await this.keeper?.kept(words.slice(0, 200)).catch((error: unknown) => this.fail(error))
    void this.list()
  }

  /** Who is played against, in words. */
  get opponent(): string {
    const { against, boss, version } = this.setup
    if (against === 'hand') return 'you'
    const wanted = against === 'boss' ? boss : version
    const listed = [...(this.page?.opponents ?? []), ...(this.page?.versions ?? [])]
    return listed.find((one) => `${one.version}` === wanted)?.name ?? wanted
  }

  /** What was changed of the rules, in words. */
  get rules(): string {
    const { preset, sets } = this.setup
    const usual = this.page?.presets[0]?.name
    const set = this.sets(sets).map(([key, value]) => `${key} ${value}`)
    return [...(preset && preset !== usual ? [preset] : []), ...set].join(', ')
  }

  private sets = (sets: [string, string][]) => sets.map(([key, value]) => [key.trim(), value.trim()] as const).filter(([key, value]) => key && value)

  /** What is set up; with `again` the seed of the match that is shown. */
  private wish(again: boolean): Wish {
    const { against, boss, version, seat, map, seed, preset } = this.setup
    const sets = this.sets(this.setup.sets)
    const wanted = against === 'hand' ? 'human' : against === 'boss' ? boss : version
    const one = [...this.page!.opponents, ...this.page!.versions].find(({ version }) => `${version}` === wanted)?.version ?? wanted
    const rules = this.rules ? { preset: preset || this.page!.presets[0]?.name || '', set: Object.fromEntries(sets) } : null
    const same = again ? this.player?.stream.head.seed : undefined
    return { seat, against: Array.from({ length: Math.max(1, this.page!.seats - 1) }, () => ({ version: one })), map: map || null, seed: same || seed.trim() || null, rules }
  }

  /** Keeps the text and plays it. */
  async run(again = false): Promise<void> {
    const { page, keeper } = this
    if (!page || !keeper || this.running || this.limit || this.paths.length === 0) return
    const mine = ++this.round
    const gone = () => mine !== this.round
    this.running = true
    this.problem = null
    this.looking = ''
    this.asking = ''
    this.handed = null
    this.files.forEach(({ path }) => this.editor?.mark(path, { wrong: [] }))
    this.remember()
    try {
      const wish = this.wish(again)
      const text = await keeper.kept()
      const started = await this.bench.run(text, wish)
      const { runs } = page.limits
      if (runs) this.page = { ...page, limits: { runs: { ...runs, used: runs.used + 1 } } }
      const ran: Ran = { started, text, at: Date.now(), seat: wish.seat, opponent: this.opponent, rules: this.rules }
      await this.follow(ran, gone)
    } catch (error) {
      if (gone()) return
      if (error instanceof Refusal && error.status === 429) this.wait(error.again ?? Date.now() + 60_000, error.message)
      else this.fail(error)
    } finally {
      if (!gone()) {
        this.running = false
        this.taking = ''
        void this.list()
      }
    }
  }

  /** Shows a match while it is played. */
  private async follow(ran: Ran, gone: () => boolean): Promise<void> {
    const source = this.bench.sourceOf(ran.started)
    // Whoever plays by hand sees what the seat sees, and the match afterwards.
    this.taking = ran.started.seat ?? ''
    let player: Player | undefined
    const show = () => {
      if (gone() || !player || this.player === player) return
      this.analysis?.end()
      this.analysis = undefined
      this.player?.stop()
      this.verdict = undefined
      this.looking = ''
      this.ran = ran
      this.player = player
    }
    await load(
      source,
      (stream) => {
        stream.head.seats[ran.seat - 1]!.label = 'your text'
        player = new Player(stream, source)
        player.calm = matchMedia('(prefers-reduced-motion: reduce)').matches
        if (this.taking) return
        show()
        player.follow()
      },
      () => player?.grown(),
      gone,
    )
    if (gone() || !player) return
    show()
    this.running = false
    await this.over(player, ran, gone)
  }

  /** The match is over: what came of it, and where it was lost. */
  private async over(player: Player, ran: Ran, gone: () => boolean): Promise<void> {
    const { stream } = player
    const faults = stream.briefs.flatMap(({ faults }) => faults.filter(({ seat }) => seat === ran.seat))
    if (faults.length === 0 && stream.end?.end === 'whole') this.tried = ran.text
    else this.complain([...faults.map(({ message }) => message), ...stream.briefs.slice(-2).flatMap(({ answers }) => answers.map(({ seat, stderr }) => (seat === ran.seat && stderr) || ''))].join('\n'))
    const result = this.result
    if (result) void this.bench.did?.(ran.text, `${result.words} ${ran.opponent}, ${stream.head.stepWord} ${stream.total}`).then(() => this.list(), () => {})
    // Somebody who has gone back meanwhile stays there.
    const away = !ran.started.seat && !player.follows && player.at < player.count - 1
    player.stop()
    if (!away) await player.seek(player.count - 1)
    const engines = enginesHere()
    if (!engines || gone()) return
    const lost = result !== undefined && result.rank !== 1
    if (lost) this.looking = this.search
    try {
      const file = await fileOf(player.source)
      const { steps } = await engines.open(file, true)
      if (gone()) return
      stream.steps = steps
      player.grown()
      if (!lost) return
      const asks = engines.another()
      const { steps: open } = await asks.open(file, false)
      this.analysis = { open, end: () => asks.end() }
      await this.look(gone, undefined, away)
    } catch {
      // The match is shown all the same; what it cost is not known.
      if (!gone()) this.looking = ''
    }
  }

  /** Looks for the turn that cost most, and goes there. */
  async look(gone: () => boolean = () => false, patience?: number, away = false): Promise<void> {
    const { player, ran, analysis } = this
    if (!player || !ran || !analysis) return
    const other = () => gone() || this.player !== player
    const there = player.at
    this.looking = this.search
    const told = (done: number, of: number) => !other() && (this.looking = `${this.search} ${done} of ${of}.`)
    const verdict = await costliest(analysis.open, player.stream, ran.seat, told, other, patience)
    if (other()) return
    this.looking = ''
    this.verdict = verdict
    if (verdict?.cost && !away && player.at === there) await player.goToStep(verdict.cost.step)
  }

  private get search(): string {
    return `Looking for the ${this.player?.stream.head.stepWord ?? 'turn'} that cost most…`
  }

  /** How the match ended for this text. */
  get result(): { rank: number; words: string } | undefined {
    void this.player?.version
    const ranks = this.player?.stream.end?.outcome?.ranks
    const rank = ranks?.[(this.ran?.seat ?? 1) - 1]
    if (!ranks || rank === undefined) return undefined
    const shared = ranks.filter((one) => one === 1).length > 1
    return { rank, words: rank !== 1 ? 'lost to' : shared ? 'drew with' : 'beat' }
  }

  /** Hands the text in; without `sure` one line is asked first if it was not tried. */
  async handIn(sure = false): Promise<void> {
    const { bench, keeper } = this
    if (!bench.handIn || !keeper || this.running) return
    try {
      const text = await keeper.kept()
      if (!sure && this.tried !== text) {
        this.asking = this.ran?.text === text ? 'Its last run had a fault.' : 'This very text was not run yet.'
        return
      }
      this.asking = ''
      // One request for each text: pressed twice it is one version.
      if (this.request?.text !== text) this.request = { text, id: uuid() }
      this.handed = await bench.handIn(text, this.request.id)
      this.compare(this.text())
      this.differ()
      void this.list()
    } catch (error) {
      this.fail(error)
    }
  }
  private request: { text: TextId; id: string } | undefined

  private fail(error: unknown): void {
    this.problem = { text: sentence(error), at: Date.now() }
    this.complain(this.problem.text)
  }

  /** Marks the lines that an output names. */
  private complain(output: string): void {
    const named = linesNamed(output, this.paths)
    for (const path of this.paths) this.editor?.mark(path, { wrong: named.filter((one) => one.path === path).map(({ line }) => line) })
    const first = named[0]
    if (first) this.choose(first.path)
  }

  private noticeRuns({ limits }: BenchPage): void {
    const { runs } = limits
    if (runs?.until && runs.used >= runs.most) this.wait(runs.until, `${runs.used} runs used.`)
  }

  private wait(until: number, text: string): void {
    this.limit = { until, text }
    setTimeout(() => (this.limit = null), Math.min(Math.max(until - Date.now(), 0), 2 ** 31 - 1))
  }

  /** What was set up last here, as far as there still is such a thing. */
  private recall(page: BenchPage): void {
    let last: Partial<SetUp> = {}
    try {
      last = (JSON.parse(localStorage.getItem(`${this.storeName}:setup`) ?? '{}') ?? {}) as Partial<SetUp>
    } catch {
      // Nothing is recalled.
    }
    const bosses = page.opponents.filter(({ boss }) => boss !== false)
    const one = (wanted: unknown, all: string[]) => (typeof wanted === 'string' && all.includes(wanted) ? wanted : '')
    const seats = Number.isInteger(last.seat) && last.seat! >= 1 && last.seat! <= page.seats ? last.seat! : 1
    this.setup = {
      against: last.against === 'version' ? 'version' : 'boss',
      boss: one(last.boss, bosses.map(({ version }) => `${version}`)) || `${bosses[0]?.version ?? ''}`,
      version: typeof last.version === 'string' && last.version ? last.version : `${page.versions[0]?.version ?? ''}`,
      seat: seats,
      map: one(last.map, page.maps),
      seed: typeof last.seed === 'string' ? last.seed.slice(0, 20) : '',
      preset: '',
      sets: [],
    }
  }

  private remember(): void {
    try {
      localStorage.setItem(`${this.storeName}:setup`, JSON.stringify(this.setup))
    } catch {
      // It is set up anew next time.
    }
  }
}

/** A fresh one, also on a page that came without encryption, where browsers give none. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
