import { expect, test } from 'vitest'
import { marksOf } from './marks'

test('drawings are read, and everything else stays output', () => {
  const { marks, rest } = marksOf('hello\n@agon {"dot":[1,2],"colour":"red"}\n@agon {"line":[0,0,3,3,4,4]}\n@agon {"marker":"plan B"}\nbye')
  expect(marks.map(({ kind, numbers, colour, text }) => [kind, numbers, colour, text])).toEqual([
    ['dot', [1, 2], 'red', ''],
    ['line', [0, 0, 3, 3, 4, 4], '', ''],
    ['marker', [], '', 'plan B'],
  ])
  expect(rest).toBe('hello\nbye')
})

test('what is no drawing is left alone', () => {
  const lines = [
    '@agon',
    '@agon {broken',
    '@agon []',
    '@agon {"dot":[1]}',
    '@agon {"dot":["1",2]}',
    '@agon {"rect":[0,0,1e9,1]}',
    '@agon {"text":"no place"}',
    `@agon {"text":"${'x'.repeat(5000)}","at":[0,0]}`,
    'say @agon {"dot":[1,2]}',
  ]
  for (const line of lines) expect(marksOf(line)).toEqual({ marks: [], rest: line })
})

test('drawings are bounded, and colours are only colours', () => {
  const many = Array.from({ length: 600 }, () => '@agon {"dot":[1,2]}').join('\n')
  expect(marksOf(many).marks).toHaveLength(500)
  expect(marksOf('@agon {"dot":[1,2],"colour":"url(javascript:1)"}').marks[0]!.colour).toBe('')
  expect(marksOf(`@agon {"text":"${'y'.repeat(300)}","at":[0,0]}`).marks[0]!.text).toHaveLength(80)
})
