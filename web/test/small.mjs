// Keeps pictures for the documentation small: PNGs of at most 256 colours.

import { deflateSync, inflateSync } from 'node:zlib'
import gifenc from 'gifenc'

const { applyPalette, quantize } = gifenc

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const CHECKS = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? 0xedb88320 ^ (byte >>> 1) : byte >>> 1
  return byte
})

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data])
  let check = ~0
  for (const byte of body) check = CHECKS[(check ^ byte) & 255] ^ (check >>> 8)
  const [length, end] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  end.writeUInt32BE(~check >>> 0)
  return Buffer.concat([length, body, end])
}

/** The pixels of a Chromium screenshot: eight bits per channel, with or without alpha, not interlaced. */
function read(png) {
  const [width, height, kind] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25]]
  const channels = { 2: 3, 6: 4 }[kind]
  if (!channels || png[24] !== 8 || png[28] !== 0) throw new Error('this is no picture as Chromium makes them')
  const pieces = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') pieces.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  }
  const raw = inflateSync(Buffer.concat(pieces))
  const row = width * channels
  const line = new Uint8Array(row)
  const data = new Uint8ClampedArray(width * height * 4).fill(255)
  for (let y = 0; y < height; y++) {
    const [filter, from] = [raw[y * (row + 1)], y * (row + 1) + 1]
    // The pixels above and to the upper left come from the previous row.
    let corner = [0, 0, 0, 0]
    for (let x = 0; x < row; x++) {
      const channel = x % channels
      const [left, up, before] = [x < channels ? 0 : line[x - channels], line[x], corner[channel]]
      const near = () => {
        const guess = left + up - before
        const [a, b, c] = [left, up, before].map((value) => Math.abs(guess - value))
        return a <= b && a <= c ? left : b <= c ? up : before
      }
      const add = [0, left, up, (left + up) >> 1][filter] ?? near()
      corner[channel] = up
      line[x] = raw[from + x] + add
      if (channel < 3) data[(y * width + (x - channel) / channels) * 4 + channel] = line[x]
    }
  }
  return { width, height, data }
}

/** A screenshot with at most 256 colours. */
export function small(png) {
  const { width, height, data } = read(png)
  const palette = quantize(data, 256)
  const indices = applyPalette(data, palette)
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++) rows.set(indices.subarray(y * width, (y + 1) * width), y * (width + 1) + 1)
  const head = Buffer.from(png.subarray(16, 29))
  head[9] = 3
  const colours = Buffer.from(palette.flatMap((colour) => colour.slice(0, 3)))
  return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('PLTE', colours), chunk('IDAT', deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0))])
}
