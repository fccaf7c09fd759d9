import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Refusal, type Kept, type Text, type TextFile, type TextId } from './bench'
import { Keeper, PAUSE } from './keeper.svelte'

const file = (text: string): TextFile[] => [{ path: 'bot.py', text }]
const kept = (id: TextId, text: string): Text => ({ id, kept_at: 1_000, files: file(text) })

/** A server that answers as it is told, and a browser with room for `room` characters. */
function stage(room = 10_000) {
  const held = new Map<string, string>()
  const storage = {
    getItem: (key: string) => held.get(key) ?? null,
    setItem: (key: string, value: string) => {
      if (value.length > room) throw new DOMException('full', 'QuotaExceededError')
      held.set(key, value)
    },
    removeItem: (key: string) => void held.delete(key),
  }
  const asked: [TextId | null, string, string | null | undefined][] = []
  const answers: (Kept | Refusal)[] = []
  const page = { text: 'one' }
  const bench = {
    keep: async (base: TextId | null, files: TextFile[], note?: string | null) => {
      asked.push([base, files[0]!.text!, note])
      const answer = answers.shift() ?? { id: asked.length + 10, kept_at: Date.now() }
      if (answer instanceof Refusal) throw answer
      return answer
    },
  }
  const open = () => new Keeper(bench, () => file(page.text), 'text', { now: () => Date.now(), storage })
  const type = (keeper: Keeper, text: string) => ((page.text = text), keeper.type())
  return { open, type, asked, answers, held, page }
}

beforeEach(() => void vi.useFakeTimers({ now: 5_000 }))
afterEach(() => void vi.useRealTimers())

describe('a text', () => {
  it('is kept a second after the last keystroke, once, with what was kept before as its base', async () => {
    const { open, type, asked, held } = stage()
    const keeper = open()
    expect(keeper.begin(kept(1, 'one'))).toEqual(file('one'))
    for (const text of ['on', 'o', 'two']) type(keeper, text)
    expect(keeper.standing).toEqual({ is: 'typed' })
    await vi.advanceTimersByTimeAsync(PAUSE)
    expect(asked).toEqual([[1, 'two', null]])
    expect(keeper.standing).toEqual({ is: 'kept', at: 6_000 })
    expect([keeper.base, keeper.unkept, held.size]).toEqual([11, false, 0])
  })

  it('is kept at once where it is run, and what is typed meanwhile is kept after it', async () => {
    const { open, type, asked, page } = stage()
    const keeper = open()
    keeper.begin(kept(1, 'one'))
    type(keeper, 'two')
    const id = keeper.kept()
    type(keeper, 'three')
    expect(await id).toBe(11)
    expect([page.text, keeper.unkept]).toEqual(['three', true])
    await vi.advanceTimersByTimeAsync(PAUSE)
    expect(asked.map(([base, text]) => [base, text])).toEqual([[1, 'two'], [11, 'three']])
    // Nothing new is nothing to keep.
    expect(await keeper.kept()).toBe(12)
    expect(asked.length).toBe(2)
    await keeper.kept('leader may walk')
    expect(asked[2]).toEqual([12, 'three', 'leader may walk'])
  })

  it('stays in this browser while nobody answers, is asked again ever less often, and is found there by the next page', async () => {
    const { open, type, asked, answers, held } = stage()
    const keeper = open()
    keeper.begin(kept(1, 'one'))
    answers.push(...Array.from({ length: 9 }, () => new Refusal('The server does not answer.', 0)))
    type(keeper, 'two')
    await vi.advanceTimersByTimeAsync(PAUSE)
    expect(keeper.standing).toEqual({ is: 'here', since: 6_000, why: 'The server does not answer.' })
    await expect(keeper.kept()).rejects.toThrow('does not answer')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(asked.length).toBeGreaterThan(3)
    expect(asked.length).toBeLessThan(8)
    expect(keeper.standing).toMatchObject({ is: 'here', since: 6_000 })
    keeper.stop()
    expect(held.size).toBe(1)
    // Another page, later: what it found is shown, and kept.
    answers.length = 0
    const next = open()
    expect(next.begin(kept(1, 'one'))).toEqual(file('two'))
    await vi.advanceTimersByTimeAsync(0)
    expect(asked.at(-1)).toEqual([1, 'two', null])
    expect([next.standing.is, held.size]).toEqual(['kept', 0])
  })

  it('that was asked for too often waits as long as the server says', async () => {
    const { open, type, asked, answers } = stage()
    const keeper = open()
    keeper.begin(kept(1, 'one'))
    answers.push(new Refusal('Too much at once.', 429, 25_000))
    type(keeper, 'two')
    await vi.advanceTimersByTimeAsync(PAUSE)
    type(keeper, 'three')
    await vi.advanceTimersByTimeAsync(18_000)
    expect(asked.length).toBe(1)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(asked[1]).toEqual([1, 'three', null])
    expect(keeper.standing.is).toBe('kept')
  })

  it('that the server refuses is asked about no more until it changes; without room in the browser that is said', async () => {
    const { open, type, asked, answers } = stage(10)
    const keeper = open()
    keeper.begin(kept(1, 'one'))
    answers.push(new Refusal('At most 512 KiB.', 413), new Refusal('The server does not answer.', 0))
    type(keeper, 'two')
    await vi.advanceTimersByTimeAsync(60_000)
    expect([asked.length, keeper.standing]).toEqual([1, { is: 'nowhere', why: 'At most 512 KiB.' }])
    type(keeper, 'three')
    await vi.advanceTimersByTimeAsync(PAUSE)
    expect(keeper.standing).toEqual({ is: 'nowhere', why: 'The server does not answer.' })
    await vi.advanceTimersByTimeAsync(2_000)
    expect(keeper.standing.is).toBe('kept')
  })
})

describe('a newer text of somebody else', () => {
  const newer = () => new Refusal('newer', 409, undefined, kept(7, 'theirs'))

  it('is never written over: nothing is kept until the reader takes it', async () => {
    const { open, type, asked, answers } = stage()
    const keeper = open()
    keeper.begin(kept(1, 'one'))
    answers.push(newer())
    type(keeper, 'mine')
    await vi.advanceTimersByTimeAsync(PAUSE)
    expect(keeper.standing).toMatchObject({ is: 'newer', text: { id: 7 } })
    type(keeper, 'mine, too')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(asked.length).toBe(1)
    await expect(keeper.kept()).rejects.toThrow('take it or keep yours')
    expect(keeper.take()).toEqual(file('theirs'))
    expect([keeper.base, keeper.standing]).toEqual([7, { is: 'kept', at: 1_000 }])
  })

  it('stays below the reader’s own, if that is what he keeps', async () => {
    const { open, type, asked, answers } = stage()
    const keeper = open()
    keeper.begin(kept(1, 'one'))
    answers.push(newer())
    type(keeper, 'mine')
    await vi.advanceTimersByTimeAsync(PAUSE)
    await keeper.mine()
    expect(asked[1]).toEqual([7, 'mine', null])
    expect(keeper.standing.is).toBe('kept')
  })

  it('that is the same text is no other: an answer was lost', async () => {
    const { open, type, answers } = stage()
    const keeper = open()
    keeper.begin(kept(1, 'one'))
    answers.push(new Refusal('newer', 409, undefined, kept(8, 'mine')))
    type(keeper, 'mine')
    await vi.advanceTimersByTimeAsync(PAUSE)
    expect([keeper.base, keeper.standing.is]).toEqual([8, 'kept'])
  })

  it('is met by a page that comes with an older text of its own, and by one that is looked at again', async () => {
    const { open, type, answers, held } = stage()
    const first = open()
    first.begin(kept(1, 'one'))
    answers.push(new Refusal('The server does not answer.', 0))
    type(first, 'mine')
    await vi.advanceTimersByTimeAsync(PAUSE)
    first.stop()
    const next = open()
    expect(next.begin(kept(7, 'theirs'))).toEqual(file('mine'))
    expect(next.standing).toMatchObject({ is: 'newer', text: { id: 7 } })
    next.take()
    expect(held.size).toBe(0)
    next.meet(kept(9, 'mine'))
    expect(next.base).toBe(9)
    next.meet(kept(10, 'other'))
    expect(next.standing).toMatchObject({ is: 'newer', text: { id: 10 } })
  })
})
