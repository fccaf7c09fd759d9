// The worker that holds the module, so that the page stays responsive whatever a replay makes it compute.

import { Engine, Refused, Stopped } from './module'
import type { Answered, Asked } from './asking'

let module: Promise<WebAssembly.Module> | undefined
let engine: Engine | undefined

/** The module, in the form the page has it. */
async function load(from: Extract<Asked, { ask: 'load' }>): Promise<WebAssembly.Module> {
  if (from.module) return from.module
  const packed = Uint8Array.from(atob(from.packed), (sign) => sign.charCodeAt(0))
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
  return WebAssembly.compile(await new Response(unpacked).arrayBuffer())
}

function ask(engine: Engine, asked: Exclude<Asked, { ask: 'load' }>): Uint8Array | undefined {
  switch (asked.ask) {
    case 'open':
      return engine.open(new Uint8Array(asked.bytes), asked.shownAll)
    case 'lines':
      return engine.lines(asked.id, asked.from, asked.to)
    case 'message':
      return engine.message(asked.id, asked.step, asked.seat)
    case 'section':
      return engine.section(asked.id, asked.step, asked.rule)
    case 'import':
      return engine.import(new Uint8Array(asked.bytes))
    case 'play':
      return engine.play(new Uint8Array(asked.bytes))
    case 'analyse':
      return engine.analyse(asked.id), undefined
    case 'refine':
      return engine.refine(asked.pairs, asked.step, asked.all)
    case 'wish':
      return engine.wish(asked.step, asked.seat, asked.text), undefined
    case 'written':
      return engine.written(asked.step, asked.seat)
    case 'close':
      return engine.close(asked.id), undefined
  }
}

async function answer(asked: Asked): Promise<Answered> {
  if (asked.ask === 'load') {
    module = load(asked)
    try {
      // A foreign module is detected now, while the page can still ask somebody else.
      engine = new Engine(await module)
      return { bytes: undefined }
    } catch (error) {
      return { missing: String(error) }
    }
  }
  try {
    engine ??= new Engine(await module!)
    return { bytes: ask(engine, asked)?.buffer as ArrayBuffer | undefined }
  } catch (error) {
    if (error instanceof Refused) return { refused: error.refusal }
    // Its memory cannot be trusted any more; the next question gets a new module, in which nothing is open.
    engine = undefined
    return { stopped: error instanceof Stopped ? error.message : String(error) }
  }
}

self.onmessage = async ({ data: [number, asked] }: MessageEvent<[number, Asked]>) => {
  const answered = await answer(asked)
  const transfer = 'bytes' in answered && answered.bytes ? [answered.bytes] : []
  ;(self as unknown as Worker).postMessage([number, answered], transfer)
}
