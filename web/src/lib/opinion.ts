// The findings of an analysis, in words.

import type { WinChance } from './generated/view'
import { signed } from './minus'

/** `63 ± 3 %`: a chance and twice its standard error. */
export function percent({ mean, error }: WinChance): string {
  return `${Math.round(mean * 100)} ± ${Math.round(error * 200)} %`
}

/** `+18 ± 4 points`: a difference of chances and twice its standard error. */
export function points({ mean, error }: WinChance): string {
  // Without the sign that a zero below zero has.
  return `${signed(Math.round(mean * 100) || 0)} ± ${Math.round(error * 200)} points`
}

/** How the bot itself fared with the policy's order, after all futures were played. */
export function verdict(mistake: boolean, gain: WinChance): 'mistake' | 'better' | 'unsure' {
  if (mistake) return 'mistake'
  // Twice the error, as for the policy's opinion: its own order was the better one for it.
  return gain.mean < -2 * gain.error ? 'better' : 'unsure'
}

/** With a larger error than this, in points, it is not known whether two orders are as good as each other: as in `agon analyse`. */
const UNSURE = 10

/** What a policy's order would make of the chance, in the words of `agon analyse`. */
export function opinion(policy: string, gain: WinChance, sure: boolean): string {
  const start = `with ${policy}'s order, the chance of this seat `
  if (gain.count === 0) return `${start}is not known yet`
  const size = `${Math.abs(Math.round(gain.mean * 100))} ± ${Math.round(gain.error * 200)} points ${gain.mean > 0 ? 'higher' : 'lower'}`
  if (sure) return `${start}would be ${size}`
  // Within twice its error it may be nothing.
  if (Math.abs(gain.mean) > 2 * gain.error) return `${start}might be ${size}`
  // No evidence is not evidence that nothing changes.
  if (200 * gain.error > UNSURE) return `${start}is not known yet: ${points(gain)}`
  return `${start}would be about the same: ${points(gain)}`
}
