import { expect, it } from 'vitest'
import { moment } from './clock'

it('a moment has its date, its year, 24 hours and its zone', () => {
  const at = Date.UTC(2026, 10, 28, 12, 35) / 1000
  expect(moment(at, 'Europe/Vienna')).toBe('Sat 28 Nov 2026 13:35 Europe/Vienna')
  expect(moment(at, 'America/New_York')).toBe('Sat 28 Nov 2026 07:35 America/New_York')
  expect(moment(at, 'UTC')).toBe('Sat 28 Nov 2026 12:35 UTC')
  expect(moment(at, 'Mars/Olympus')).toBe('Sat 28 Nov 2026 12:35 UTC')
})
