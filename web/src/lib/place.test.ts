import { expect, test } from 'vitest'
import { NOWHERE, readPlace, writePlace } from './place'

test('a link gives back the place it was made of', () => {
  const place = { ...NOWHERE, replay: 'a folder/ü&#.replay', turn: 12, part: 3, selected: 'unit 7', eyes: 2, zoom: [2.5, 3, 4] as [number, number, number] }
  expect(readPlace(writePlace(place))).toEqual(place)
  expect(readPlace(writePlace({ ...NOWHERE, journal: 'j.jsonl', match: '12.1' }))).toMatchObject({ journal: 'j.jsonl', match: '12.1' })
})

test('a broken link leads somewhere all the same', () => {
  expect(readPlace('#turn=-1&part=x&eyes=1e9&zoom=1,2&match=../..')).toEqual(NOWHERE)
})
