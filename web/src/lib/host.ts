// The host of this page: what it was put into, and so what it can honour. No button is offered that leads nowhere.

/** A way out of what is shown. */
export interface Way {
  words: string
  /** What it leads to, in the button's tooltip. */
  about: string
  go: () => void
}

/** What the page says of itself. */
export const pageSays = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content

/** Whether this page has what belongs to some of the seats alone. */
export const ownIsShown = () => pageSays('agon-own') !== undefined

/** The page that a page of one match belongs to: its words and its address; none if it stands alone. */
function page(): { words: string; address: string } | undefined {
  const address = pageSays('agon-home')
  // Only within the same site or folder, whatever the page says.
  if (address === undefined || !/^(\/(?!\/)|\.\.\/)[\w./#-]*$/.test(address)) return undefined
  return { words: pageSays('agon-home-name') ?? 'Back', address }
}

/**
 * The way out of a page: to the list of matches; in a page of one match to that match, if another one is shown, and
 * otherwise to the page it belongs to.
 */
export function wayOut(alone: boolean, other: boolean, leave: () => void): Way | undefined {
  if (!alone) return { words: 'Matches', about: 'All matches', go: leave }
  if (other) return { words: 'Recorded match', about: 'Back to the match that this page was made for', go: leave }
  const found = page()
  return found && { words: found.words, about: found.words, go: () => location.assign(found.address) }
}

/** Whether this page was sent by a server, so that its address leads others to it. */
export const isServed = () => location.protocol !== 'file:'

/** Whether somebody may lose what he has not kept: the browser asks before it leaves the page. Returns how to stop asking. */
export function guard(unsaved: () => boolean): () => void {
  const leaving = (event: BeforeUnloadEvent) => unsaved() && event.preventDefault()
  window.addEventListener('beforeunload', leaving)
  return () => window.removeEventListener('beforeunload', leaving)
}
