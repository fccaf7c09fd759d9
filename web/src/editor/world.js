// What the worker of a script runs first. `HOST` is the world of a script (`crates/agon-bot/src/script/host.js`), the same
// as on the command line, and `begin` is told what to load. Nothing of the browser is left to the script: what could leave
// this worker is kept here, before the script is there, and taken away from everybody else.
{
  const post = postMessage.bind(globalThis)
  const { getOwnPropertyNames, getPrototypeOf } = Object
  const { parse, stringify } = JSON
  const began = performance.now.bind(performance)
  const text = String
  const load = (address) => import(address)
  const evaluate = eval
  const { createObjectURL } = URL
  const address = createObjectURL.bind(URL)
  const File = Blob
  const NativePromise = Promise
  const { port1: here, port2: there } = new MessageChannel()
  /** When everything has run that the script has put off until later. */
  const quiet = () => new NativePromise((done) => ((here.onmessage = done), there.postMessage(0)))

  /** No question may print more, in characters, or more often. */
  const MOST = 64 << 10, OFTEN = 200
  let room = 0, times = 0
  const print = (line) => {
    if (room <= 0) return
    const shown = line.length > room ? line.slice(0, room) : line
    room -= shown.length + 1
    if (--times === 0) room = 0
    post(stringify({ printed: shown + (room <= 0 ? '\n[more is not shown]' : '') }))
  }
  const fresh = () => ((room = MOST), (times = OFTEN))

  const begin = async (host, { source, seed }) => {
    fresh()
    // Of the browser's world only the language stays.
    const LANGUAGE = new Set(
      ('Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error AggregateError ' +
        'EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError globalThis JSON Math Reflect Proxy Map Set WeakMap WeakSet BigInt ' +
        'ArrayBuffer DataView Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array Float32Array Float64Array ' +
        'Uint8ClampedArray BigUint64Array BigInt64Array Iterator decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape eval ' +
        'isFinite isNaN').split(' '),
    )
    for (let owner = globalThis; owner && owner !== Object.prototype; owner = getPrototypeOf(owner)) {
      for (const name of getOwnPropertyNames(owner)) if (!LANGUAGE.has(name)) delete owner[name]
    }
    const world = evaluate(`${host}\n//# sourceURL=host`)(print, seed, began)
    const isModule = /^\s*(import|export)(?![\w$])/m.test(source)
    let missing
    if (isModule) {
      missing = world.find(await load(address(new File([`${source}\n//# sourceURL=bot.js`], { type: 'text/javascript' }))))
    } else {
      const module = world.commonJs()
      const variable = evaluate(`${source}\n;typeof script === 'undefined' ? undefined : script\n//# sourceURL=bot.js`)
      missing = world.find(module.exports, variable)
    }
    return { world, missing }
  }

  let world
  onmessage = async ({ data }) => {
    if (data.host !== undefined) {
      try {
        const begun = await begin(data.world, data)
        world = begun.world
        post(stringify(begun.missing === undefined ? { loaded: true } : { failed: begun.missing }))
      } catch (thrown) {
        let why = 'it cannot be loaded'
        try {
          const { stack, lineNumber } = thrown
          // Firefox names the line beside the stack, and does not repeat the sentence in it.
          why = stack && text(stack).startsWith(text(thrown)) ? stack : `${text(thrown)}${lineNumber ? ` (bot.js:${lineNumber}:1)` : ''}\n${stack ?? ''}`
        } catch {}
        post(stringify({ failed: text(why).slice(0, 2000) }))
      }
      return
    }
    fresh()
    const { phase, input } = parse(data.question)
    world.call(phase, input)
    await quiet()
    post(stringify({ answer: world.finish() }))
  }
}
