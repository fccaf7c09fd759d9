import { expect, test } from 'vitest'
import { agon } from './command'

test('a command can be typed as it stands, however its file is called', () => {
  expect(agon('replay', 'fork', 'my match.replay', 'BOT', '--turn', 11)).toBe("agon replay fork 'my match.replay' BOT --turn 11")
  expect(agon('replay', 'keep', "it's.replay", '--is', '0 MOVE 1 3; x')).toBe("agon replay keep 'it'\\''s.replay' --is '0 MOVE 1 3; x'")
  expect(agon('play', 'deerhunt', 'human', 'BOT', '--watch')).toBe('agon play deerhunt human BOT --watch')
})
