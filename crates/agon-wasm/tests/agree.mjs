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
/** Asks about a file, or about what is open. */
function ask(ask, file = Buffer.alloc(0)) {
  const asked = Buffer.concat([Buffer.from(`${JSON.stringify(ask)}\n`), file])
  const place = engine.agon_take(asked.length)
  new Uint8Array(engine.memory.buffer, place, asked.length).set(asked)
  const answer = engine.agon_ask()
  if (answer === 1) throw new Error(out().toString())
  return answer === 0 ? out() : Buffer.alloc(0)
}

for (let number = 0; existsSync(join(folder, `${number}.replay`)); number++) {
  const replay = readFileSync(join(folder, `${number}.replay`))
  const opened = ask({ open: { private: true } }, replay)
  const { id, head } = JSON.parse(opened)
  const hash = createHash('sha256').update(opened.subarray(opened.indexOf('"head":{')))
  for (let next = 1; next <= head.steps; ) {
    const lines = ask({ lines: { id, from: next, to: next + 31 } })
    hash.update(lines)
    next += lines.filter((byte) => byte === 10).length
  }
  for (const step of [1, Math.ceil(head.steps / 2)]) {
    for (let seat = 1; seat <= head.seats.length; seat++) hash.update(ask({ message: { id, step, seat } }))
  }
  ask({ close: { id } })
  console.log(hash.digest('hex'))
}
