// The other half of `agree.rs`: what the module makes of each replay in a folder, as digests.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

const folder = process.argv[2]
const module = new WebAssembly.Module(gunzipSync(readFileSync(join(folder, 'agon.wasm.gz'))))
if (WebAssembly.Module.imports(module).length > 0) throw new Error('the module asks for something')
const engine = new WebAssembly.Instance(module, {}).exports
engine.agon_start()

const out = () => Buffer.from(new Uint8Array(engine.memory.buffer, engine.agon_out(), engine.agon_out_length()))
function call(answer) {
  if (answer === 1) throw new Error(out().toString())
  return answer === 0 ? out() : Buffer.alloc(0)
}

for (let number = 0; existsSync(join(folder, `${number}.replay`)); number++) {
  const replay = readFileSync(join(folder, `${number}.replay`))
  const place = engine.agon_take(replay.length)
  new Uint8Array(engine.memory.buffer, place, replay.length).set(replay)
  const opened = call(engine.agon_open(1))
  const { id, head } = JSON.parse(opened)
  const hash = createHash('sha256').update(opened.subarray(opened.indexOf('"head":{')))
  for (let next = 1; next <= head.steps; ) {
    const lines = call(engine.agon_lines(id, next, next + 31))
    hash.update(lines)
    next += lines.filter((byte) => byte === 10).length
  }
  for (const step of [0, Math.floor(head.steps / 2)]) {
    for (let seat = 1; seat <= head.seats.length; seat++) hash.update(call(engine.agon_message(id, step, seat)))
  }
  engine.agon_close(id)
  console.log(hash.digest('hex'))
}
