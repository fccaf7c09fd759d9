// What is begun before the app has come: the engines get ready, and the replay that a link names is on its way.
//
// The first script of a page, and a small one: nothing here may need the rest of the app.

import { Engines } from './engine/engines'
import { readPlace } from './place'

/** What the key is kept under, and the header that it goes in (`key.svelte.ts`). */
export const KEY = 'x-agon-key'

/** What every request says. */
export function keyHeader(): Record<string, string> {
  const key = sessionStorage.getItem(KEY)
  return key === null ? {} : { [KEY]: key }
}

/** The engines of this page; none where it has no module. */
export const engines = Engines.ofPage()

/** The replay inside this page, when it is one of a folder that shares the engines. */
export function linked(): string | undefined {
  return document.getElementById('replay')?.textContent ?? undefined
}

const asked = new Map<string, Promise<Response>>()

/** What a request for a path was answered that went out before anybody wanted it; once. */
export function askedEarly(path: string): Promise<Response> | undefined {
  const answer = asked.get(path)
  asked.delete(path)
  return answer
}

const { replay, match } = readPlace(location.hash)
// What is wrong with either is told when it is wanted.
if (engines && (replay !== '' || match !== '' || linked() !== undefined)) {
  engines.ready().catch(() => {})
  if (replay !== '' && location.protocol !== 'file:') {
    const path = `api/file?replay=${encodeURIComponent(replay)}`
    const answer = fetch(path, { headers: keyHeader() })
    answer.catch(() => {})
    asked.set(path, answer)
  }
}
