// Keeping a text that somebody wrote in a page: in its file, where a server writes one, otherwise as a download.

import type { ScriptText } from './generated/server'
import { reach } from './load'
import { save as download } from './save'

/** Where a text was kept: its file as it is now, if it has one, and what to say of it. */
export interface KeptText {
  file: ScriptText | undefined
  said: string
}

/**
 * Keeps a text. Nothing that somebody else has changed in the file meanwhile is overwritten.
 *
 * @throws a Problem that says what happened and what to do; the text is then kept nowhere but in the page
 */
export async function keepText(file: ScriptText | undefined, text: string): Promise<KeptText> {
  if (!file) {
    download(new Blob([text], { type: 'text/javascript' }), 'bot.js')
    return { file, said: 'bot.js downloaded.' }
  }
  const answer = await reach(`api/script?was=${file.stamp}`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: text })
  return { file: { ...file, text, stamp: (await answer.json()) as string }, said: `${file.name} saved.` }
}
