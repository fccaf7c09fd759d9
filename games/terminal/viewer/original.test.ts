import { expect, test } from 'vitest'
import { original } from './original'

test('something else is not taken for a replay', () => {
  for (const text of ['', 'hello', '{"a":1}', '[1,2]', '\u0000\u0001']) expect(original(text)).toBeUndefined()
})

test('a damaged replay says where', () => {
  const config = '{"unitInformation":[]}'
  expect(() => original(config)).toThrow('holds no turns')
  expect(() => original(`${config}\n{"turnInfo":[0,0,-1,0],`)).toThrow('line 2 is incomplete')
  expect(() => original(`${config}\n\n{"turnInfo":3}`)).toThrow('line 3 is not a state')
})
