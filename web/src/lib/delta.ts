// The reader's half of `crates/agon-view/src/delta.rs`: what changed from one JSON value to the next.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Applies a delta. Unchanged parts are shared with `old`, so keeping every scene of a match costs little. */
export function apply(old: Json, change: Json): Json {
  if (change === null || typeof change !== 'object' || Array.isArray(change)) return change
  if ('=' in change) return change['=']!
  if (Array.isArray(old)) {
    const splice = change['+']
    if (splice !== undefined) {
      const [at, removed, items] = splice as [number, number, Json[]]
      return [...old.slice(0, at), ...items, ...old.slice(at + removed)]
    }
    const list = old.slice()
    for (const key of Object.keys(change)) list[+key] = apply(old[+key] ?? null, change[key]!)
    return list
  }
  const before = (old ?? {}) as { [key: string]: Json }
  const object = { ...before }
  for (const key of Object.keys(change)) {
    if (key === '-') for (const gone of change[key] as string[]) delete object[gone]
    else object[key] = apply(before[key] ?? null, change[key]!)
  }
  return object
}
