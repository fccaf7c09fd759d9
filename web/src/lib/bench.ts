// What the page of a bot's text needs from whoever serves it: the contest's site, or the program at home with a folder. Both
// take and give the same things at different addresses.

import type { Source } from './load'

/** Names a kept text: a number of a contest, or a word of the program at home. */
export type TextId = number | string

/** A file of a text; without `text` it is one that cannot be edited, and stays as it is. */
export interface TextFile {
  path: string
  text?: string
  bytes?: number
}

export interface Kept {
  id: TextId
  /** In milliseconds since 1970. */
  kept_at: number
}

export interface Text extends Kept {
  note?: string | null
  files: TextFile[]
}

/** One of the last texts, for the list. */
export interface KeptRow extends Kept {
  note: string | null
  lines: { more: number; fewer: number }
  /** What came of it, in words. */
  did: string | null
}

/** Somebody to play against. At home its version is its name for `agon play`. */
export interface Opponent {
  version: TextId
  name: string
  boss?: boolean
}

/** A number of the rules. */
export interface RuleNumber {
  key: string
  title: string
  usual: string
}

export interface BenchPage {
  text: Text | null
  starters: { language: string; title: string; strategy: string; files: TextFile[] }[]
  limits: { runs?: { used: number; most: number; until?: number | null } | null }
  opponents: Opponent[]
  /** One's own, the newest first. */
  versions: { version: TextId; name: string }[]
  maps: string[]
  seats: number
  presets: { name: string; about: string }[]
  numbers: RuleNumber[]
  game?: string
  title?: string
  /** At home: the folder. */
  name?: string
}

/** A match that is wanted of a text. */
export interface Wish {
  seat: number
  against: { version: TextId }[]
  map: string | null
  seed: string | null
  rules: { preset: string; set: Record<string, string> } | null
}

export interface StartedRun {
  match: TextId
  /** At home: the file of its replay, and the address of the seat that somebody takes. */
  replay?: string | null
  seat?: string | null
}

/** A refusal in the server's words. */
export class Refusal extends Error {
  constructor(
    message: string,
    /** The HTTP status; 0 if nobody answered. */
    readonly status: number,
    /** When it may be asked again, in milliseconds since 1970. */
    readonly again?: number,
    readonly told?: unknown,
  ) {
    super(message)
  }
}

export interface Bench {
  readonly home: boolean
  load(): Promise<BenchPage>
  /** Keeps a text in place of `base`. @throws a Refusal with status 409 that tells the newer text, if another is the newest */
  keep(base: TextId | null, files: TextFile[], note?: string | null, leaving?: boolean): Promise<Kept>
  texts(): Promise<KeptRow[]>
  text(id: TextId): Promise<Text>
  /** The files of one's own version; none at home. */
  filesOf?(version: TextId): Promise<TextFile[]>
  run(text: TextId, wish: Wish): Promise<StartedRun>
  /** Where the lines of a match come from. */
  sourceOf(run: StartedRun): Source
  /** The page of the match, with everything that the viewer can do. */
  pageOf(run: StartedRun, turn: number): string
  /** At home: notes what came of a text. A contest knows. */
  did?(id: TextId, words: string): Promise<void>
  /** In a contest: the text becomes a version. Asked twice with one request it is one. */
  handIn?(id: TextId, request: string): Promise<{ version: number }>
}

/** The longest a server may say nothing, in milliseconds. */
const PATIENCE = 60_000

/** Sends a request; a refusal says what the server says. */
async function asked<T>(address: string, headers: Record<string, string>, method = 'GET', body?: unknown, leaving = false): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  let answer: Response
  try {
    const about = { ...headers, accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    answer = await fetch(address, { method, headers: about, keepalive: leaving, signal: AbortSignal.timeout(PATIENCE), ...sent })
  } catch {
    throw new Refusal('The server does not answer.', 0)
  }
  const told: unknown = await answer.json().catch(() => undefined)
  if (answer.ok) return told as T
  const { detail, error, retry_after } = (told ?? {}) as { detail?: string; error?: string; retry_after?: number }
  const wait = retry_after ?? Number(answer.headers.get('retry-after') ?? NaN)
  const words = detail ?? error ?? `The server answered ${answer.status} ${answer.statusText}.`
  throw new Refusal(words, answer.status, Number.isFinite(wait) ? Date.now() + wait * 1000 : undefined, told)
}

/** What is asked below one address. */
function routes(root: string, headers: () => Record<string, string>) {
  const ask = <T>(path: string, method?: string, body?: unknown, leaving?: boolean) => asked<T>(`${root}/code${path}`, headers(), method, body, leaving)
  return {
    ask,
    load: () => ask<BenchPage>(''),
    keep: (base: TextId | null, files: TextFile[], note: string | null = null, leaving = false) => ask<Kept>('/text', 'PUT', { base, files, note }, leaving),
    texts: () => ask<KeptRow[]>('/texts'),
    text: (id: TextId) => ask<Text>(`/texts/${id}`),
    run: (text: TextId, wish: Wish) => ask<StartedRun>('/run', 'POST', { text, ...wish }),
  }
}

/** The program at home, with the folder that it was started with; `key` lets this page in. */
export function home(key: () => Record<string, string>): Bench {
  const { ask, ...own } = routes('api', key)
  return {
    ...own,
    home: true,
    sourceOf: ({ match, replay }) => ({ kind: 'live', name: `${match}`, ...(replay ? { file: `api/file?replay=${encodeURIComponent(replay)}` } : {}) }),
    pageOf: ({ match, replay }, turn) => (replay ? `#replay=${replay}&turn=${turn}` : `#live=${match}`),
    did: (id, words) => ask<undefined>('/did', 'POST', { text: id, did: words }).then(() => undefined),
  }
}

/** A contest's site. The page brings the token that its forms have, and what it would ask for first. */
export function site(): Bench {
  const form = () => document.querySelector<HTMLMetaElement>('meta[name="agon-form"]')?.content ?? ''
  const root = '/api/v1'
  const headers = () => ({ 'x-agon-form': form() })
  const { ask, ...own } = routes(root, headers)
  let brought = document.querySelector('#code script[type="application/json"]')?.textContent
  return {
    ...own,
    home: false,
    load: async () => {
      const text = brought
      brought = undefined
      return text ? (JSON.parse(text) as BenchPage) : own.load()
    },
    filesOf: (version) => asked<TextFile[]>(`${root}/versions/${version}/source`, headers()),
    sourceOf: ({ match }) => ({ kind: 'match', address: `/match/${match}` }),
    pageOf: ({ match }, turn) => `/match/${match}/view#turn=${turn}`,
    handIn: (text, request) => ask('/hand-in', 'POST', { text, request }),
  }
}
