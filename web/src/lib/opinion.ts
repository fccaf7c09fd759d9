// The findings of an analysis, in words.

import type { WinChance } from './generated/view'

/** `63 ± 3 %`: a chance and twice its standard error. */
export function percent({ mean, error }: WinChance): string {
  return `${Math.round(mean * 100)} ± ${Math.round(error * 200)} %`
}

/** `+18 ± 4 points`: a difference of chances and twice its standard error. */
export function points({ mean, error }: WinChance): string {
  const value = Math.round(mean * 100)
  return `${value > 0 ? '+' : value < 0 ? '−' : ''}${Math.abs(value)} ± ${Math.round(error * 200)} points`
}

/** How the bot itself fared with the policy's order, after all futures were played. */
export function verdict(mistake: boolean, gain: WinChance): 'mistake' | 'better' | 'unsure' {
  if (mistake) return 'mistake'
  // Twice the error, as for the policy's opinion: its own order was the better one for it.
  return gain.mean < -2 * gain.error ? 'better' : 'unsure'
}

/** A policy's opinion of an order, from what the chance would gain by its own. */
export function opinion(policy: string, gain: WinChance, sure: boolean): string {
  if (gain.count === 0) return `${policy} has not evaluated it yet`
  if (sure) return gain.mean > 0 ? `${policy} would play differently: ${points(gain)}` : `${policy} would do worse: ${points(gain)}`
  // Within twice its error it may be nothing.
  if (Math.abs(gain.mean) > 2 * gain.error) return `${policy} might do ${gain.mean > 0 ? 'better' : 'worse'}: ${points(gain)}`
  return `${policy}’s choice is about as good: ${points(gain)}`
}
