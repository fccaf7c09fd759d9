// Drawing in cells. A thin layer over Canvas 2D: sharp at any size, no image files, no markup.

import { type Ink, seatColour } from './colour'
import { SEATED, SHAPES } from './seats'

const paths = new Map<string, Path2D>()

/** An SVG path, parsed once. */
function pathOf(text: string): Path2D {
  let path = paths.get(text)
  if (!path) paths.set(text, (path = new Path2D(text)))
  return path
}

export interface TextStyle {
  size?: number
  colour?: string
  align?: CanvasTextAlign
  weight?: number
  /** An outline around the letters, so that they can be read on anything. */
  halo?: string | undefined
  /** The maximum width, in cells. */
  max?: number
}

export class Pen {
  constructor(
    readonly ctx: CanvasRenderingContext2D,
    readonly ink: Ink,
    /** Screen pixels per cell. */
    readonly cell: number,
  ) {}

  /** The width of a line of this many screen pixels, in cells. */
  px(pixels: number): number {
    return pixels / this.cell
  }

  seat(seat: number | null | undefined): string {
    return seat == null ? this.ink.neutral : seatColour(this.ink, seat)
  }

  rect(x: number, y: number, w: number, h: number, fill: string, radius = 0): void {
    this.ctx.fillStyle = fill
    if (radius === 0) return this.ctx.fillRect(x, y, w, h)
    this.ctx.beginPath()
    this.ctx.roundRect(x, y, w, h, radius)
    this.ctx.fill()
  }

  frame(x: number, y: number, w: number, h: number, stroke: string, width: number, radius = 0): void {
    this.ctx.strokeStyle = stroke
    this.ctx.lineWidth = width
    this.ctx.beginPath()
    this.ctx.roundRect(x, y, w, h, radius)
    this.ctx.stroke()
  }

  disc(x: number, y: number, r: number, fill?: string, stroke?: string, width = 0): void {
    this.ctx.beginPath()
    this.ctx.arc(x, y, Math.max(r, 0), 0, Math.PI * 2)
    this.paint(fill, stroke, width)
  }

  /** A part of a ring, from the top, clockwise. */
  arc(x: number, y: number, r: number, share: number, stroke: string, width: number): void {
    if (share <= 0) return
    this.ctx.strokeStyle = stroke
    this.ctx.lineWidth = width
    this.ctx.beginPath()
    this.ctx.arc(x, y, r, -Math.PI / 2, -Math.PI / 2 + Math.PI * 2 * Math.min(share, 1))
    this.ctx.stroke()
  }

  shape(points: readonly (readonly [number, number])[], fill?: string, stroke?: string, width = 0): void {
    this.ctx.beginPath()
    points.forEach(([x, y], at) => (at === 0 ? this.ctx.moveTo(x, y) : this.ctx.lineTo(x, y)))
    this.ctx.closePath()
    this.paint(fill, stroke, width)
  }

  line(
    points: readonly (readonly [number, number])[],
    stroke: string,
    width: number,
    dash: readonly number[] = [],
  ): void {
    const { ctx } = this
    ctx.strokeStyle = stroke
    ctx.lineWidth = width
    ctx.lineCap = 'round'
    ctx.lineJoin = 'round'
    ctx.setLineDash(dash as number[])
    ctx.beginPath()
    points.forEach(([x, y], at) => (at === 0 ? ctx.moveTo(x, y) : ctx.lineTo(x, y)))
    ctx.stroke()
    ctx.setLineDash([])
  }

  text(text: string, x: number, y: number, style: TextStyle = {}): void {
    const { ctx, cell } = this
    const size = style.size ?? 0.4
    // Fonts have whole sizes in screen pixels, whatever the size of a cell.
    ctx.save()
    ctx.translate(x, y)
    ctx.scale(1 / cell, 1 / cell)
    ctx.font = `${style.weight ?? 600} ${size * cell}px Inter, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif`
    ctx.textAlign = style.align ?? 'center'
    ctx.textBaseline = 'middle'
    const short = text.length > 200 ? text.slice(0, 200) : text
    const max = style.max === undefined ? undefined : style.max * cell
    if (style.halo) {
      ctx.strokeStyle = style.halo
      ctx.lineWidth = Math.max(2, size * cell * 0.22)
      ctx.lineJoin = 'round'
      ctx.strokeText(short, 0, 0, max)
    }
    ctx.fillStyle = style.colour ?? this.ink.text
    ctx.fillText(short, 0, 0, max)
    ctx.restore()
  }

  /** A bar that is filled to a share. */
  bar(x: number, y: number, w: number, h: number, share: number, fill: string): void {
    this.rect(x - this.px(1), y - this.px(1), w + this.px(2), h + this.px(2), this.ink.ground)
    this.rect(x, y, w, h, this.ink.neutral + '66')
    const full = Math.max(0, Math.min(share, 1))
    if (full > 0) this.rect(x, y, Math.max(w * full, this.px(1.5)), h, fill)
  }

  /** Health as a bar: in ink, and in another colour below a third. */
  health(x: number, y: number, w: number, h: number, share: number): void {
    this.bar(x - w / 2, y, w, h, share, share < 0.34 ? this.ink.bad : this.ink.text)
  }

  /** Health as pips in a row: full ones in ink, lost ones as outlines. */
  pips(x: number, y: number, size: number, full: number, all: number): void {
    const [step, left] = [size * 1.3, x - (size * 1.3 * (all - 1)) / 2 - size / 2]
    this.rect(left - this.px(1), y - this.px(1), step * (all - 1) + size + this.px(2), size + this.px(2), this.ink.ground)
    for (let at = 0; at < all; at++) {
      if (at < full) this.rect(left + at * step, y, size, size, this.ink.text)
      else this.frame(left + at * step + this.px(0.75), y + this.px(0.75), size - this.px(1.5), size - this.px(1.5), this.ink.bad, this.px(1.5))
    }
  }

  /** An SVG path from a box of 24 by 24, centred at a place and of this size. */
  figure(path: string, x: number, y: number, size: number, fill: string, stroke?: string, width = 0): void {
    const { ctx } = this
    ctx.save()
    ctx.translate(x, y)
    ctx.scale(size / 24, size / 24)
    ctx.translate(-12, -12)
    if (stroke) {
      ctx.strokeStyle = stroke
      ctx.lineWidth = (width * 24) / size
      ctx.lineJoin = 'round'
      ctx.stroke(pathOf(path))
    }
    ctx.fillStyle = fill
    ctx.fill(pathOf(path), 'evenodd')
    ctx.restore()
  }

  /** A seat's plate, in its shape and colour, with a figure on it; without a seat a grey ring. */
  plate(seat: number | null | undefined, x: number, y: number, size: number, figure?: string): void {
    const { ink } = this
    const at = seat == null ? 0 : (seat - 1) % SHAPES.length
    const [middle, room] = SEATED[at]!
    if (seat == null) {
      this.disc(x, y, size / 2 - this.px(1), ink.ground, ink.neutral, this.px(2))
    } else {
      const line = ink.contrast ? ink.text : ink.ground
      this.figure(SHAPES[at]!, x, y, size, this.seat(seat), line, this.px(ink.contrast ? 4 : 2.5))
    }
    if (figure) this.figure(figure, x, y + ((middle - 12) / 24) * size, (room / 24) * size, seat == null ? ink.faint : ink.figure)
  }

  /** A walled board: floor in two shades, receding walls, with a line where they meet the floor. */
  masonry(rows: readonly string[], wall: string): void {
    const { ctx, ink } = this
    const width = rows[0]?.length ?? 0
    this.rect(0, 0, width, rows.length, ink.ground)
    const is = (x: number, y: number) => (rows[y]?.[x] ?? wall) === wall
    const edges = new Path2D()
    rows.forEach((row, y) => {
      for (let x = 0; x < row.length; x++) {
        if (!is(x, y)) {
          if ((x + y) % 2 === 1) this.rect(x, y, 1, 1, ink.ground2)
          continue
        }
        this.rect(x, y, 1.01, 1.01, ink.wall)
        if (!is(x, y - 1)) (edges.moveTo(x, y), edges.lineTo(x + 1, y))
        if (!is(x, y + 1)) (this.rect(x, y + 0.88, 1, 0.12, ink.wallEdge), edges.moveTo(x, y + 1), edges.lineTo(x + 1, y + 1))
        if (!is(x - 1, y)) (edges.moveTo(x, y), edges.lineTo(x, y + 1))
        if (!is(x + 1, y)) (edges.moveTo(x + 1, y), edges.lineTo(x + 1, y + 1))
      }
    })
    ctx.strokeStyle = ink.wallEdge
    ctx.lineWidth = this.px(1)
    ctx.stroke(edges)
  }

  /** The mark where somebody died. */
  death(seat: number | null | undefined, x: number, y: number, size: number): void {
    const { ctx, ink } = this
    ctx.save()
    ctx.setLineDash([this.px(3), this.px(2)])
    this.disc(x, y, size / 2, ink.ground, this.seat(seat), this.px(2))
    ctx.restore()
    const r = size * 0.32
    for (const [colour, wide] of [[ink.ground, 0.26], [ink.bad, 0.14]] as const) {
      this.line([[x - r, y - r], [x + r, y + r]], colour, wide * size)
      this.line([[x + r, y - r], [x - r, y + r]], colour, wide * size)
    }
  }

  /** A blow from one place to another: a short thick arrow in ink that ends before the target. */
  blow(from: readonly [number, number], to: readonly [number, number], t = 1, colour = this.ink.text): void {
    const long = Math.hypot(to[0] - from[0], to[1] - from[1])
    if (long < 0.05) return
    const [dx, dy] = [(to[0] - from[0]) / long, (to[1] - from[1]) / long]
    const reach = 0.3 + (long - 0.55) * Math.min(1, t)
    const tip: [number, number] = [from[0] + dx * reach, from[1] + dy * reach]
    const tail: [number, number] = [from[0] + dx * Math.min(0.3, reach), from[1] + dy * Math.min(0.3, reach)]
    const wing = (side: number): [number, number] => [tip[0] - dx * 0.26 + dy * side, tip[1] - dy * 0.26 - dx * side]
    const [a, b] = [wing(0.24), wing(-0.24)]
    this.line([tail, tip], this.ink.ground, 0.3)
    this.shape([tip, a, b], this.ink.ground, this.ink.ground, 0.14)
    this.line([tail, [tip[0] - dx * 0.16, tip[1] - dy * 0.16]], colour, 0.15)
    this.shape([tip, a, b], colour)
  }

  /** Corner marks around the selection. */
  corners(x: number, y: number, size: number): void {
    const [r, arm] = [size / 2, size * 0.3]
    for (const [sx, sy] of [[-1, -1], [1, -1], [1, 1], [-1, 1]] as const) {
      const points: [number, number][] = [[x + sx * r, y + sy * (r - arm)], [x + sx * r, y + sy * r], [x + sx * (r - arm), y + sy * r]]
      this.line(points, this.ink.ground, this.px(5))
      this.line(points, this.ink.text, this.px(2.5))
    }
  }

  /** Words in a bubble that points at a place, kept within the board. */
  bubble(text: string, x: number, y: number, columns: number): void {
    const { ctx, ink } = this
    const size = Math.max(this.px(12), 0.36)
    const short = text.length > 60 ? text.slice(0, 59) + '…' : text
    ctx.save()
    ctx.font = `550 ${size * this.cell}px Inter, system-ui, sans-serif`
    const wide = ctx.measureText(short).width / this.cell + size * 1.2
    ctx.restore()
    const left = Math.max(0.1, Math.min(x + 0.4, columns - wide - 0.1))
    const top = y + 0.75
    this.shape([[x + 0.2, y + 0.3], [left + size * 0.6, top + 0.05], [left + size * 1.6, top + 0.05]], ink.text)
    this.rect(left, top, wide, size * 2, ink.text, size * 0.4)
    this.text(short, left + size * 0.6, top + size * 1.04, { size, colour: ink.ground, align: 'left', weight: 550 })
  }

  /** Draws with less ink. */
  faded(alpha: number, draw: () => void): void {
    const before = this.ctx.globalAlpha
    this.ctx.globalAlpha = before * alpha
    draw()
    this.ctx.globalAlpha = before
  }

  private paint(fill?: string, stroke?: string, width = 0): void {
    if (fill) {
      this.ctx.fillStyle = fill
      this.ctx.fill()
    }
    if (stroke) {
      this.ctx.strokeStyle = stroke
      this.ctx.lineWidth = width
      this.ctx.stroke()
    }
  }
}
