// Compares the speed of the engines as WebAssembly and as native code, in turn; measures, and asserts nothing:
//
//   cargo build --release --package agon-wasm --example playouts
//   cargo rustc --package agon-wasm --lib --features playouts --crate-type cdylib --target wasm32-unknown-unknown --profile wasm --target-dir target/playouts
//   node crates/agon-wasm/examples/playouts.mjs target/release/examples/playouts target/playouts/wasm32-unknown-unknown/wasm/agon_wasm.wasm
//
// The module that pages get is the same without play-outs; a release build of the program makes it.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const [native, path] = process.argv.slice(2)
const bytes = readFileSync(path)
const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
const sizes = [bytes.length, gzipSync(bytes, { level: 9 }).length, brotliCompressSync(bytes, { params }).length]
console.log(`this module: ${sizes[0]} bytes, ${sizes[1]} with gzip, ${sizes[2]} with brotli`)

const engine = new WebAssembly.Instance(new WebAssembly.Module(bytes), {}).exports
engine.agon_start()
function playout(game, steps) {
  const name = new TextEncoder().encode(game)
  const place = engine.agon_take(name.length)
  new Uint8Array(engine.memory.buffer, place, name.length).set(name)
  const played = engine.agon_playout(steps)
  if (played === 0) throw new Error(game)
  return played
}

const STEPS = { 'cultist-wars': 3_000_000, deerhunt: 1_500_000, 'jungle-blitz': 200_000, ostibot: 1_000_000, terminal: 15_000 }
const ROUNDS = Number(process.env.ROUNDS ?? 9)
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]
const shares = []
for (const [game, steps] of Object.entries(STEPS)) {
  playout(game, steps / 10)
  const rounds = Array.from({ length: ROUNDS }, () => {
    const here = Number(spawnSync(native, [game, `${steps}`], { encoding: 'utf8' }).stdout)
    const began = process.hrtime.bigint()
    const played = playout(game, steps)
    return [here, Number(process.hrtime.bigint() - began) / played]
  })
  const [here, wasm] = [0, 1].map((which) => median(rounds.map((round) => round[which])))
  const share = median(rounds.map(([here, wasm]) => here / wasm))
  const all = rounds.map(([here, wasm]) => Math.round((100 * here) / wasm)).sort((a, b) => a - b)
  shares.push(share)
  console.log(`${game}: ${here.toFixed(0)} ns a step, as WebAssembly ${wasm.toFixed(0)} ns: ${(100 * share).toFixed(0)} % as fast (${all[0]} to ${all.at(-1)})`)
}
console.log(`the median of the games: ${(100 * median(shares)).toFixed(0)} %`)
