// Loads matches: from the server by name, from a file dropped on the page, from inside an exported page.

import { KEY, askedEarly, engines as early, keyHeader, linked } from './early'
import { Asks, Problem } from './engine/asks'
import { NoEngines } from './engine/engines'
import { ownIsShown, pageSays } from './host'
import { MatchStream, linesOf, type StepSource } from './stream'
import { ForeignError, type Drawing, type End, type Line, type Mended } from './drawing'
import { drawingOf, foreignStream } from './games'
import type { Ask, Head, AskRefusal } from './generated/view'
import { key } from './key.svelte'

export { Problem }

/** Where a match comes from, so that its messages can be requested later. */
export type Source =
  | { kind: 'replay'; name: string }
  | { kind: 'journal'; name: string; block: string; game: string }
  /** A match of this program, and once it is over the address of its replay. */
  | { kind: 'live'; name: string; file?: string }
  /** A match of a contest, at this address of its site: it may still be played. */
  | { kind: 'match'; address: string }
  | { kind: 'file'; name: string; bytes: Blob }
  | { kind: 'page' }

/** The query for a source. */
function query(source: Source): string {
  switch (source.kind) {
    case 'replay':
      return `replay=${encodeURIComponent(source.name)}`
    case 'journal':
      return `journal=${encodeURIComponent(source.name)}&block=${source.block}&game=${source.game}`
    default:
      return ''
  }
}

/** The match inside this page, if it is an exported one. */
function exported(): string | undefined {
  return document.getElementById('match')?.textContent ?? undefined
}

/** The match that this page follows, if it is one of a contest that is not over. */
const followed = () => pageSays('agon-match')

/** The match of a page of a single match; none of other pages. */
export function sourceOfPage(): Source | undefined {
  const address = followed()
  if (address !== undefined) return { kind: 'match', address }
  return exported() !== undefined || linked() !== undefined ? { kind: 'page' } : undefined
}

/** Whether this page contains a single match. */
export const isAlone = () => sourceOfPage() !== undefined

const unbased = (text: string) => Uint8Array.from(atob(text.trim()), (sign) => sign.charCodeAt(0))

/** The lines of a match inside this page. */
async function unpacked(): Promise<string[]> {
  const packed = unbased(exported() ?? '')
  const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).text()
  return text.split('\n')
}

/** The engines of the server. */
class Server extends Asks {
  async bytes(ask: Ask, file?: Blob): Promise<ArrayBuffer | undefined> {
    const answer = await reach('api/ask', { method: 'POST', body: new Blob([`${JSON.stringify(ask)}\n`, file ?? '']) })
    return answer.status === 204 ? undefined : answer.arrayBuffer()
  }
}

const server = new Server()

/** The engines in this page; none once they have failed to work here. */
let engines = early

/** Who answers questions about other matches than this page's own; none in a page without engines or the key of its server. */
export const enginesHere = (): Asks | undefined => engines ?? (KEY in keyHeader() ? server : undefined)

/** The file of a match, unpacked. */
export async function fileOf(source: Source): Promise<Blob> {
  if (source.kind === 'file') return plain(source.bytes)
  if (source.kind === 'page') return new Blob([unbased(linked() ?? '')])
  if (source.kind === 'live' && source.file) return plain(await (await reach(source.file)).blob())
  if (source.kind === 'match') return plain(await (await asked(`${source.address}/replay`)).blob())
  return plain(await (await reach(`api/file?${query(source)}`)).blob())
}

/** Whether this page belongs to a folder whose files it needs. */
export const isOfFolder = () => linked() !== undefined || followed() !== undefined

/** Asks a bot whether its order was a mistake; the answer grows while it plays on, and aborting ends it. */
export async function tried(source: Source, ask: Record<string, string>, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
  const { body } = await reach(`api/trial?${query(source)}&${new URLSearchParams(ask)}`, {
    method: 'POST',
    body: source.kind === 'file' ? source.bytes : undefined,
    signal,
  })
  return body
}

/** The match as one self-contained page, written by the server; what belongs to one bot alone is left out. */
export async function pageOf(source: Source): Promise<Blob> {
  const answer = source.kind === 'file' ? await reach('api/page', { method: 'POST', body: source.bytes }) : await reach(`api/page?${query(source)}`)
  return answer.blob()
}

/** A match, computed in this page if that works, otherwise by the server. */
async function opened(source: Source): Promise<{ head: Head; steps: StepSource }> {
  // The module loads and compiles while the file loads; its errors are reported when it is used.
  void engines?.ready().catch(() => {})
  const file = await fileOf(source)
  const shownAll = source.kind !== 'page' || ownIsShown()
  try {
    if (engines) return await engines.open(file, shownAll)
  } catch (error) {
    if (!(error instanceof NoEngines)) throw named(source, error)
    engines = undefined
    if (source.kind === 'page' || source.kind === 'match') {
      throw new Problem(`This page computes its match in the browser, which does not work here: ${error.message}. Open it in another browser.`)
    }
  }
  return server.open(file, shownAll).catch((error: unknown) => {
    throw named(source, error)
  })
}

/** A refusal with the name of the file. */
function named(source: Source, error: unknown): unknown {
  if (!(error instanceof Problem && error.refusal && 'name' in source)) return error
  return new Problem(`${source.name}: ${error.message}`, error.refusal)
}

/** The wording of a rule, from the server of this page; none if there is none. */
export async function rule(game: string, id: string): Promise<string | undefined> {
  if (isAlone() || location.protocol === 'file:') return undefined
  try {
    const answer = await fetch(`api/rule?game=${encodeURIComponent(game)}&id=${encodeURIComponent(id)}`, { headers: keyHeader() })
    return answer.ok ? await answer.text() : undefined
  } catch {
    return undefined
  }
}

/** The answer of a contest's site; a refusal becomes a problem. */
async function asked(address: string): Promise<Response> {
  const answer = await fetch(address).catch(() => {
    throw new Problem('The contest does not answer. Load this page again in a moment.')
  })
  if (answer.ok) return answer
  throw new Problem(answer.status === 404 ? 'This match is not here any more, or belongs to another team.' : `The contest answered ${answer.status}; load this page again in a moment.`)
}

interface Asking {
  method?: string
  headers?: Record<string, string>
  body?: BodyInit
  signal?: AbortSignal
}

/** Sends a request to the server; a refusal becomes a problem with the server's own sentence. */
export async function reach(path: string, options: Asking = {}): Promise<Response> {
  let answer: Response
  try {
    answer = await (askedEarly(path) ?? fetch(path, { ...options, headers: { ...options.headers, ...keyHeader() } }))
  } catch (error) {
    if (options.signal?.aborted) throw error
    throw new Problem('agon no longer answers. Start `agon watch` again and open the link it prints.')
  }
  if (answer.ok) return answer
  if (answer.status === 403) {
    key.missing = true
    throw new Problem('This page belongs to another run of agon. Open the link it printed last.')
  }
  const refusal = (await answer.json().catch(() => undefined)) as AskRefusal | undefined
  throw refusal ? new Problem(refusal.error, refusal) : new Problem(`agon answered ${answer.status} ${answer.statusText}.`)
}

/** The largest file, in bytes, as everywhere (`crates/agon-replay`). */
const LARGEST = 256 * 2 ** 20
const TOO_LARGE = 'This file is too large to be a replay: larger than 256 MiB.'

/** The match of a record of an original that the engines do not make of it, as it is recorded. */
async function foreign(source: Source): Promise<Mended | undefined> {
  if (source.kind !== 'file' && source.kind !== 'replay') return undefined
  try {
    return foreignStream(await (await fileOf(source)).text())
  } catch (error) {
    if (error instanceof ForeignError) throw new Problem(`${sentence(error.message)}.`)
    throw error
  }
}

/** A file as it is, or unpacked if it is gzip; of bounded size, whatever it was packed from. */
async function plain(file: Blob): Promise<Blob> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const packed = first === 0x1f && second === 0x8b
  if (!packed && file.size > LARGEST) throw new Problem(TOO_LARGE)
  if (!packed) return file
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader()
  const pieces: Uint8Array<ArrayBuffer>[] = []
  for (let size = 0; ; ) {
    const { done, value } = await reader.read().catch(() => {
      throw new Problem('This file cannot be read: it is compressed and damaged.')
    })
    if (done) return new Blob(pieces)
    pieces.push(value)
    if ((size += value.length) <= LARGEST) continue
    await reader.cancel()
    throw new Problem(TOO_LARGE)
  }
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function drawn(head: Head): Drawing {
  const drawing = drawingOf(head.game)
  if (!drawing) throw new Problem(`This viewer cannot draw ${head.title}.`)
  return drawing
}

/**
 * Loads a match. `begun` is called as soon as the first picture can be shown, `grown` whenever more is known; between pieces
 * the page stays responsive.
 */
export async function load(
  source: Source,
  begun: (stream: MatchStream) => void,
  grown: () => void,
  gone: () => boolean,
): Promise<void> {
  if (source.kind === 'live') {
    const body = await reach(`api/live?name=${encodeURIComponent(source.name)}`)
    const stream = await follow(body, undefined, begun, grown, gone)
    if (!stream) throw new Problem('The server sent nothing.')
    stream.end ??= { end: 'cut', why: 'the match stopped before its end', outcome: null, moment: '' }
    return grown()
  }
  if (source.kind === 'match') return watched(source, begun, grown, gone)
  let head: Head
  let steps: StepSource
  try {
    if (source.kind === 'page' && exported() !== undefined) {
      const [first = '', ...lines] = await unpacked()
      head = JSON.parse(first) as Head
      steps = { lines: async (from, to) => lines.slice(from - 1, to) }
    } else {
      ;({ head, steps } = await opened(source))
    }
  } catch (error) {
    const record = error instanceof Problem && error.refusal?.foreign ? await foreign(source) : undefined
    if (!record) throw error
    if (!gone()) show(record, begun, grown)
    return
  }
  if (gone()) return
  const stream = new MatchStream(head, drawn(head), steps)
  begun(stream)
  grown()
  await stream.readAll(() => !gone() && grown(), gone)
}

/** How often a match of a contest is asked for again when its stream breaks, and the pause before, in milliseconds. */
const TRIES = 60
const PAUSE = 1_000

/** Follows a match of a contest while it is played. When it is over, the engines in this page go on with its replay. */
async function watched(source: Source & { kind: 'match' }, begun: (stream: MatchStream) => void, grown: () => void, gone: () => boolean): Promise<void> {
  let stream: MatchStream | undefined
  for (let tries = 0; !stream?.end && !gone(); tries++) {
    try {
      stream = await follow(await asked(`${source.address}/lines`), stream, begun, grown, gone)
    } catch (error) {
      // What it refuses it would refuse again; a line that broke may be mended.
      if (!stream || tries >= TRIES || (error instanceof Problem && error.isFinal)) throw error
    }
    if (!stream?.end) await new Promise((resolve) => setTimeout(resolve, PAUSE))
  }
  if (!stream || gone()) return
  grown()
  if (!engines) return
  const { head, steps } = await opened(source)
  if (gone()) return steps.close?.()
  stream.goOnWith(head, steps)
  grown()
}

/** Follows a match as it is played, as far as this answer goes: a new one, or `known`, whose first lines come once more. */
async function follow(
  { body }: Response,
  known: MatchStream | undefined,
  begun: (stream: MatchStream) => void,
  grown: () => void,
  gone: () => boolean,
): Promise<MatchStream | undefined> {
  if (!body) throw new Problem('The server sent nothing.')
  let stream = known
  let skip = known ? known.total + 1 : 0
  let rested = performance.now()
  for await (const text of linesOf(body)) {
    if (gone()) return stream
    const line = JSON.parse(text) as { error?: unknown; wait?: unknown; restart?: unknown; end?: unknown }
    if (typeof line.error === 'string') throw new Problem(line.error, undefined, true)
    if (line.restart !== undefined) {
      stream = undefined
      skip = 0
    } else if (typeof line.wait === 'string') {
      if (stream) stream.waits = line.wait
    } else if (skip > 0 && !('end' in line && 'outcome' in line)) {
      skip--
    } else if (!stream) {
      const head = line as unknown as Head
      stream = new MatchStream(head, drawn(head))
      begun(stream)
    } else {
      stream.waits = undefined
      if (!stream.add(line as unknown as Line | End)) break
    }
    if (performance.now() - rested > 12) {
      grown()
      await new Promise((resolve) => setTimeout(resolve))
      rested = performance.now()
    }
  }
  grown()
  return stream
}

function show(record: Mended, begun: (stream: MatchStream) => void, grown: () => void): void {
  const stream = new MatchStream(record.head, drawingOf(record.head.game)!)
  begun(stream)
  record.lines.forEach((line) => stream.add(line))
  stream.add(record.end)
  grown()
}
