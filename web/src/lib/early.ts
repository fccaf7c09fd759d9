// What starts before the app has arrived: the engines get ready, and the replay named by the link is requested.
//
// The first script of a page, and a small one: nothing here may need the rest of the app.

import { Engines } from './engine/engines'
import { readPlace } from './place'

/** The key's name in storage, and its header in requests (`key.svelte.ts`). */
export const KEY = 'x-agon-key'

/** The headers of every request. */
export function keyHeader(): Record<string, string> {
  try {
    const key = sessionStorage.getItem(KEY)
    return key === null ? {} : { [KEY]: key }
  } catch {
    // A frame of its own origin, as in a notebook, has no storage, and no server to ask.
    return {}
  }
}

/** The engines of this page; none if it has no module. */
export const engines = Engines.ofPage()

/** The replay inside this page, if it belongs to a folder that shares the engines. */
export function linked(): string | undefined {
  return document.getElementById('replay')?.textContent ?? undefined
}

const asked = new Map<string, Promise<Response>>()

/** The answer to a request for a path that was sent before anybody wanted it; returned once. */
export function askedEarly(path: string): Promise<Response> | undefined {
  const answer = asked.get(path)
  asked.delete(path)
  return answer
}

const { replay, match } = readPlace(location.hash)
// Errors of either are reported when it is used.
if (engines && (replay !== '' || match !== '' || linked() !== undefined)) {
  engines.ready().catch(() => {})
  if (replay !== '' && location.protocol !== 'file:') {
    const path = `api/file?replay=${encodeURIComponent(replay)}`
    const answer = fetch(path, { headers: keyHeader() })
    answer.catch(() => {})
    asked.set(path, answer)
  }
}
