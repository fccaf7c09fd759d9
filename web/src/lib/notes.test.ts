import { expect, it } from 'vitest'
import { Notes } from './notes.svelte'

it('good news of one topic never erases bad news of another, and what is bad stands first', () => {
  const notes = new Notes()
  notes.say('file', 'bot.js saved.')
  notes.say('match', 'Line 3 is not valid JavaScript.', true)
  expect(notes.shown.map(({ text }) => text)).toEqual(['Line 3 is not valid JavaScript.', 'bot.js saved.'])
  notes.say('file', 'Not saved: it was changed on disk.', true)
  notes.clear('match')
  expect(notes.shown).toEqual([{ topic: 'file', text: 'Not saved: it was changed on disk.', bad: true }])
  notes.say('file', 'bot.js saved.')
  expect(notes.shown.map(({ bad }) => bad)).toEqual([false])
})
