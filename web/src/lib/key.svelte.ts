// The key to the viewer. The link that agon prints leaves it in this tab's storage, which belongs to this address and port
// alone; it goes to the server in a header, which no other site can make a browser send.

import { KEY } from './early'

class Key {
  /** Whether the server wants a key that this tab does not have. */
  missing = $state(false)

  /** Whether the one that this tab has was refused. */
  get refused() {
    return this.missing && sessionStorage.getItem(KEY) !== null
  }

  /** Takes a key typed by the user. */
  take(key: string) {
    sessionStorage.setItem(KEY, key.trim())
    location.reload()
  }
}

export const key = new Key()
