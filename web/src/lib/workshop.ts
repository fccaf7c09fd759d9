// A match of a script against built-in bots, played in this page: the engines ask, the script in its box answers.

import { sitter } from './begin'
import type { EditorKit, Mistake } from './editing'
import type { Asks } from './engine/asks'
import type { Begun, Turn, WantedMatch } from './generated/view'
import { Ended, ScriptBox, Unloadable } from './scriptbox'

/** The result of a match of a script. */
export interface Run {
  /** The match as far as it went; none if it never began. */
  replay: Blob | undefined
  /** What the script printed, by step. */
  printed: ReadonlyMap<number, string>
  mistakes: Mistake[]
  /** What is wrong with the script, in a sentence; none if nothing is. */
  problem: string | undefined
}

/** How much of a script's output in a match is kept, in characters. */
const MOST_PRINTED = 4 << 20
/** The most mistakes shown. */
const MOST_MISTAKES = 20

/** The first place named by a stack or a sentence: `bot.js:12:5`. */
function place(text: string): { line: number; column: number } | undefined {
  const found = /bot\.js:(\d{1,7}):(\d{1,7})/.exec(text)
  return found ? { line: Number(found[1]), column: Number(found[2]) } : undefined
}

/** Plays a match in which the script has `seat`, from 1, and built-in bots have the others. `told` is called along the way. */
export async function play(
  engines: Asks,
  kit: EditorKit,
  source: string,
  game: string,
  bots: string[],
  seat: number,
  seed: string,
  told: (turn: Turn) => void,
  gone: () => boolean,
): Promise<Run> {
  const printed = new Map<number, string>()
  const mistakes: Mistake[] = []
  let [step, kept, problem] = [0, 0, undefined as string | undefined]
  const print = (text: string) => {
    if ((kept += text.length) > MOST_PRINTED) return
    printed.set(step, `${printed.get(step) ?? ''}${text}\n`)
  }
  const mistake = (text: string) => {
    const at = place(text)
    const why = text.split('\n')[0]!.slice(0, 400)
    const known = at && mistakes.some(({ line, why: other }) => line === at.line && other === why)
    if (at && !known && mistakes.length < MOST_MISTAKES) mistakes.push({ ...at, why })
    problem ??= why
  }

  const sitters = bots.map((bot) => sitter(bot)!)
  sitters.splice(seat - 1, 0, { builtin: null, options: [] })
  const wanted: WantedMatch = { game, rules: '', sets: [], map: '', seed, seats: sitters }
  const begun = await engines.ask<Begun>({ begin: { wanted } })
  const { id } = begun
  let box: ScriptBox | undefined
  try {
    step = begun.turn.steps + 1
    box = await ScriptBox.start(kit, source, `${seed}/${seat}/0`, print)
    let { turn } = begun
    while (!turn.end && !gone()) {
      step = turn.steps + 1
      if (!turn.choosing.includes(seat)) {
        turn = await engines.ask<Turn>({ go: { id, steps: turn.steps } })
        continue
      }
      const question = (await engines.text({ question: { id, seat } }))!
      const message = await box.ask(question)
      if (message.startsWith('{"failed":')) {
        const { failed } = JSON.parse(message) as { failed: unknown }
        mistake(String(failed))
        print(String(failed))
      }
      turn = await engines.ask<Turn>({ say: { id, seat, message } })
      told(turn)
    }
  } catch (error) {
    if (error instanceof Unloadable) mistake(error.message)
    else if (error instanceof Ended) problem = `The script was stopped: ${error.message}.`
    else throw error
  } finally {
    box?.end()
  }
  const bytes = step > 1 ? await engines.bytes({ replay: { id } }) : undefined
  await engines.bytes({ close: { id } })
  return { replay: bytes && new Blob([bytes]), printed, mistakes, problem }
}
