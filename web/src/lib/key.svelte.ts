// The key to the viewer. The link that agon prints leaves it in the storage of this tab, which belongs to this
// address and port alone; it goes to the server in a header, which no other site can make a browser send.

import { KEY } from './early'

class Key {
  /** Whether the server wants one that this tab has not. */
  missing = $state(false)

  /** Takes one that the user typed. */
  take(key: string) {
    sessionStorage.setItem(KEY, key.trim())
    location.reload()
  }
}

export const key = new Key()
