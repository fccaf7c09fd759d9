// A turn of a match as a test of a bot: the same as `agon replay keep` writes (`crates/agon-desk/src/kept.rs`).

import { agon } from './command'

/** What a test expects: not the recorded answer, a certain answer, or the bot's later chance. */
export type Expected = 'not again' | 'is' | 'later'

interface Wanted {
  /** The replay beside the test, without its ending. */
  replay: string
  seat: number
  /** As the game counts; from 0 where it has no number for a step. */
  turn: number
  expected: Expected
  /** The recorded answer, and the expected one. */
  given: string
  other: string
  turns: number
  /** In percent. */
  chance: number
}

/** A text as a TOML string; JSON's strings are valid basic strings, except for one character. */
const quoted = (text: string) => JSON.stringify(text).replaceAll('\u007f', '\\u007f')

/** The number that a moment names, such as `turn 12, player 2`; none where the game counts no steps. */
export function turnOf(moment: string, stepWord: string): number | undefined {
  const number = moment.startsWith(stepWord) ? /^\s*(\d+)/.exec(moment.slice(stepWord.length))?.[1] : undefined
  return number === undefined ? undefined : Number(number)
}

export function kept(wanted: Wanted): { toml: string; command: (file: string) => string; whole: boolean } {
  const { replay, seat, turn, expected, given, other } = wanted
  const [turns, chance] = [Math.max(1, Math.round(wanted.turns || 1)), Math.max(0, Math.min((wanted.chance || 0) / 100, 1))]
  const lines = [`replay = ${quoted(`${replay}.replay`)}`, `seat = ${seat}`, `turn = ${turn}`, '']
  const more: string[] = []
  if (expected === 'later') {
    lines.push('[later]', `turns = ${turns}`, `advantage = ${chance.toFixed(2)}`)
    more.push('--later', `${turns}`, '--advantage', `${chance}`)
  } else if (expected === 'is') {
    lines.push('[answer]', `is = [${quoted(other.trim())}]`)
    more.push('--is', other.trim())
  } else {
    lines.push('[answer]', `is_not = [${quoted(given)}]`)
  }
  const command = (file: string) => agon('replay', 'keep', file, '--seat', seat, '--turn', turn, ...more)
  return { toml: `${lines.join('\n')}\n`, command, whole: expected !== 'is' || other.trim() !== '' }
}
