// A contest day in its most common form: one server, which also plays, with all its data in its folder.

import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { after, before, test } from 'node:test'
import { ADDRESS, apart, day } from './day.mjs'
import { AGON, Stage } from './stage.mjs'

apart(import.meta.url, 'a day of a contest', () => {
  const stage = new Stage()
  let address, link, server

  before(async () => {
    server = spawn(AGON, ['serve', 'cup', '--new', 'cultist-wars', '--lan', '--port', '0'], { cwd: stage.folder, stdio: ['ignore', 'pipe', 'pipe'] })
    stage.servers.push(server)
    let text = ''
    server.stdout.on('data', (data) => (text += data))
    server.stderr.on('data', (data) => (text += data))
    for (let tries = 0; tries < 600 && !/organiser\?link=\S+\n/.test(text); tries++) await new Promise((done) => setTimeout(done, 50))
    address = /Its site: (\S+)/.exec(text)?.[1]
    link = /(http\S+organiser\?link=\S+)/.exec(text)?.[1]
    assert.ok(address?.startsWith(`http://${ADDRESS}:`) && link, text)
  })
  after(() => stage.end())

  test('an organiser, two teams and a spectator', { timeout: 270_000 }, async () => {
    const ends = async () => {
      server.kill('SIGINT')
      await new Promise((done) => server.on('exit', done))
      return 'cup'
    }
    await day(stage, { address, link, ends })
  })
})
