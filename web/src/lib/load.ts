// Getting films: from the server by name, from a file dropped on the page, from within an exported page.

import type { Json } from './delta'
import { Film, linesOf } from './film'
import { drawingOf } from './games'

/** What a film is made from, so that its messages can be asked for later. */
export type Source =
  | { kind: 'replay'; name: string }
  | { kind: 'live'; name: string }
  | { kind: 'file'; name: string; bytes: Blob }
  | { kind: 'page' }

/** A problem that is told to the user as it is. */
export class Problem extends Error {}

/** The film inside this page, when it is an exported one. */
export function exported(): string | undefined {
  return document.getElementById('film')?.textContent ?? undefined
}

async function open(source: Source): Promise<ReadableStream<Uint8Array>> {
  if (source.kind === 'page') {
    const packed = Uint8Array.from(atob((exported() ?? '').trim()), (sign) => sign.charCodeAt(0))
    return new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
  }
  const answer = await reach(
    source.kind === 'file' ? 'api/film' : `api/film?${source.kind}=${encodeURIComponent(source.name)}`,
    source.kind === 'file' ? { method: 'POST', body: source.bytes } : {},
  )
  if (!answer.body) throw new Problem('The server sent nothing.')
  return answer.body
}

/** Asks the server; a refusal becomes a problem with the server's own sentence. */
export async function reach(path: string, options: RequestInit = {}): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(path, options)
  } catch {
    throw new Problem('agon does not answer any more. Start `agon watch` again and open the address it prints.')
  }
  if (answer.ok) return answer
  const text = await answer.text()
  try {
    throw new Problem(String((JSON.parse(text) as { error: unknown }).error))
  } catch (error) {
    if (error instanceof Problem) throw error
    throw new Problem(
      answer.status === 403
        ? 'This page belongs to another run of agon. Open the address it printed last.'
        : `agon answered ${answer.status} ${answer.statusText}.`,
    )
  }
}

/**
 * Loads a film. `begun` is called as soon as the first picture can be shown, `grown` whenever more
 * has come; between pieces the page stays alive.
 */
export async function load(
  source: Source,
  begun: (film: Film) => void,
  grown: () => void,
  gone: () => boolean,
): Promise<void> {
  let film: Film | undefined
  let rested = performance.now()
  for await (const line of linesOf(await open(source))) {
    if (gone()) return
    const parsed = JSON.parse(line) as Record<string, Json>
    if (typeof parsed.error === 'string') throw new Problem(parsed.error)
    if (!film) {
      const drawing = drawingOf(String(parsed.game))
      if (!drawing) throw new Problem(`This viewer cannot draw ${String(parsed.title)}.`)
      film = new Film(parsed, drawing)
      begun(film)
    } else if (!film.add(parsed)) {
      break
    }
    if (performance.now() - rested > 12) {
      grown()
      await new Promise((resolve) => setTimeout(resolve))
      rested = performance.now()
    }
  }
  if (!film) throw new Problem('This film is empty.')
  film.end ??= { end: 'cut', why: 'the film stopped before its end', outcome: null, moment: '' }
  grown()
}

/** The exact message that asked a seat; none when it was not asked there. */
export async function message(source: Source, step: number, seat: number): Promise<string | undefined> {
  if (source.kind === 'page' || source.kind === 'live') return undefined
  const query = `step=${step - 1}&seat=${seat}`
  const answer =
    source.kind === 'file'
      ? await reach(`api/message?${query}`, { method: 'POST', body: source.bytes })
      : await reach(`api/message?replay=${encodeURIComponent(source.name)}&${query}`)
  return answer.status === 204 ? undefined : answer.text()
}
