import { expect, test } from 'vitest'
import { minus, signed } from './minus'

const sources = import.meta.glob<string>(['../ui/*.svelte', './*.ts', '!./*.test.ts'], { query: '?raw', import: 'default', eager: true })

test('numbers below zero have a true minus', () => {
  expect([minus('-3'), minus('4'), signed(-7), signed(0), signed(12), signed(-0.5, '-0.50')]).toEqual(['−3', '4', '−7', '0', '+12', '−0.50'])
})

test('it is made in one place; elsewhere it is only a key', () => {
  const other = Object.keys(sources).filter((file) => sources[file]!.includes('−'))
  expect(Object.keys(sources).length).toBeGreaterThan(60)
  expect(other.sort()).toEqual(['../ui/Help.svelte', './minus.ts'])
})
