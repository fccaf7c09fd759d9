// Shares that add up to one, in whole percent that add up to 100.

/** Each is rounded down, and those that lost most by it get the percent that are left (the method of the largest remainder). */
export function whole(shares: readonly number[]): number[] {
  const exact = shares.map((share) => share * 100)
  const rounded = exact.map(Math.floor)
  const all = Math.round(exact.reduce((sum, share) => sum + share, 0))
  const left = all - rounded.reduce((sum, share) => sum + share, 0)
  const order = exact.map((_, at) => at).sort((a, b) => exact[b]! - rounded[b]! - (exact[a]! - rounded[a]!))
  for (const at of order.slice(0, left)) rounded[at]!++
  return rounded
}
