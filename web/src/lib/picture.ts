// Pictures of a match to share: the board with its scores, and a film of some turns.

import { GIFEncoder, applyPalette, quantize } from 'gifenc'
import { Pen } from './pen'
import type { Player } from './player.svelte'
import { theme } from './theme.svelte'

/** The most pictures in a film: a larger one cannot be sent anywhere. */
export const MOST_PICTURES = 300

/** A picture of the board with a header: the match and turn, and the numbers of each seat. */
export function withScores(board: HTMLCanvasElement, player: Player, at: number, scale: number): HTMLCanvasElement {
  const { stream } = player
  const { ink } = theme
  const [line, pad] = [24 * scale, 12 * scale]
  const scene = stream.sceneAt(at)
  const gauges = stream.drawing.gauges?.(scene, stream.head) ?? []
  const made = document.createElement('canvas')
  made.width = board.width
  made.height = board.height + line * (stream.head.seats.length + 1) + 2 * pad
  const ctx = made.getContext('2d', { willReadFrequently: true })!
  ctx.fillStyle = ink.raised
  ctx.fillRect(0, 0, made.width, made.height)
  ctx.drawImage(board, 0, made.height - board.height)
  // Cells of one pixel: sizes are in screen pixels.
  const pen = new Pen(ctx, ink, 1)
  const style = { size: 14 * scale, align: 'left' as const, weight: 400 }
  const moment = stream.stepAt(at)?.moment ?? 'the start'
  pen.text(`${stream.head.title}, ${moment}`, pad, pad + line / 2, { ...style, weight: 650, max: made.width - 2 * pad })
  stream.head.seats.forEach(({ label }, index) => {
    const y = pad + line * (index + 1.5)
    pen.plate(index + 1, pad + 8 * scale, y, 14 * scale)
    pen.text(label, pad + 24 * scale, y, { ...style, weight: 550, max: made.width * 0.4 })
    const numbers = gauges[index]?.map(({ name, text }) => `${name} ${text}`).join('   ') ?? `${stream.drawing.scoreWord} ${stream.scores(scene)[index]}`
    pen.text(numbers, made.width - pad, y, { ...style, align: 'right', max: made.width * 0.5 })
  })
  return made
}

/** A film of the pictures `from` to `to`; `shown` is told the progress, and stops it by returning false. None when stopped. */
export async function film(
  player: Player,
  [from, to]: [number, number],
  render: (at: number) => HTMLCanvasElement,
  delay: number,
  shown: (share: number) => boolean,
): Promise<Blob | undefined> {
  const { stream } = player
  const gif = GIFEncoder()
  const every = Math.max(1, Math.ceil((to - from + 1) / MOST_PICTURES))
  for (let at = from; at <= to; at += every) {
    if (!shown((at - from) / Math.max(to - from, 1))) return undefined
    if (at > 0 && !stream.has(at)) await stream.need(stream.frames[at]!.step)
    const picture = render(at)
    const { data, width, height } = picture.getContext('2d')!.getImageData(0, 0, picture.width, picture.height)
    const palette = quantize(data, 128, { format: 'rgb565' })
    const last = at + every > to
    gif.writeFrame(applyPalette(data, palette, 'rgb565'), width, height, { palette, delay: last ? 2000 : delay })
    // Keeps the page responsive.
    await new Promise((resolve) => setTimeout(resolve))
  }
  gif.finish()
  return new Blob([gif.bytes() as Uint8Array<ArrayBuffer>], { type: 'image/gif' })
}
