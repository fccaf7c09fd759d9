import { expect, test } from 'vitest'
import { changedLines, linesNamed } from './lines'

test('the lines that differ are those that were written, not those that moved down', () => {
  expect(changedLines('a\nb\nc', 'a\nb\nc')).toEqual([])
  expect(changedLines('a\nb\nc', 'a\nx\nb\nc')).toEqual([2])
  expect(changedLines('a\nb\nc\nd', 'x\na\nc\ny\nd')).toEqual([1, 4])
  expect(changedLines('a\nb\nc', 'a\nc')).toEqual([])
  expect(changedLines('', 'a\nb')).toEqual([1, 2])
})

test('texts that differ everywhere cost no more than a look at each line', () => {
  const long = (sign: string) => Array.from({ length: 5_000 }, (_, at) => `${sign}${at}`).join('\n')
  expect(changedLines(long('a'), long('b')).length).toBe(5_000)
})

test('a complaint names its line in each of the usual ways', () => {
  const paths = ['bot.py', 'src/main.rs', 'Bot.cs']
  const said = `  File "/home/x/bot.py", line 12, in <module>\nerror --> src/main.rs:7:5\nBot.cs(31,4): error CS1002\nmybot.py:9\nbot.py: no line\n  File "bot.py", line 12`
  expect(linesNamed(said, paths)).toEqual([{ path: 'bot.py', line: 12 }, { path: 'src/main.rs', line: 7 }, { path: 'Bot.cs', line: 31 }])
})
