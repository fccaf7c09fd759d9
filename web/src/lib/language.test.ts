import { expect, test } from 'vitest'
import { languageOf, modeOf } from './language'

test('every file of every starter that is a program is highlighted', async () => {
  const files = Object.keys(import.meta.glob('../../../games/*/bots/*/{*.*,src/*.*}'))
  const sources = files.filter((path) => !/\.(md|txt|mod|csproj|lock)$|\/\.\w+$/.test(path))
  expect(sources.length).toBeGreaterThan(20)
  for (const path of sources) {
    const language = languageOf(path)
    expect(language, path).toBeDefined()
    expect((await modeOf(language!)).token, path).toBeTypeOf('function')
  }
})

test('a name without an ending, or one of an object’s own, has no language', () => {
  for (const path of ['Makefile', 'x.constructor', 'x.unknown', '.gitignore']) expect(languageOf(path)).toBeUndefined()
  expect(['a.rb', 'a.pl', 'a.php', 'a.lua', 'a.go', 'a.CPP'].map((path) => languageOf(path)?.name)).toEqual(['Ruby', 'Perl', 'PHP', 'Lua', 'Go', 'C++'])
})
