// The worker that holds the module, so that the page stays responsive whatever a replay makes it compute.

import { Engine, type Answered, type Told } from './module'

let module: Promise<WebAssembly.Module> | undefined
let engine: Engine | undefined

async function unpacked(packed: string): Promise<WebAssembly.Module> {
  const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return WebAssembly.compile(await new Response(stream).arrayBuffer())
}

async function answer(told: Told): Promise<Answered> {
  if (!('question' in told)) {
    module = 'module' in told ? Promise.resolve(told.module) : unpacked(told.packed)
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
    const answered = engine.ask(told.question, told.file)
    // Its memory cannot be trusted any more; the next question gets a new module, in which nothing is open.
    if ('stopped' in answered) engine = undefined
    return answered
  } catch (error) {
    engine = undefined
    return { stopped: String(error) }
  }
}

self.onmessage = async ({ data: [number, told] }: MessageEvent<[number, Told]>) => {
  const answered = await answer(told)
  const transfer = 'bytes' in answered && answered.bytes ? [answered.bytes] : []
  ;(self as unknown as Worker).postMessage([number, answered], transfer)
}
