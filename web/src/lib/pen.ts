// Drawing in cells. A thin layer over Canvas 2D: sharp at any size, no pictures, no markup.

import { type Ink, seatColour } from './colour'

export interface TextStyle {
  size?: number
  colour?: string
  align?: CanvasTextAlign
  weight?: number
  /** A line around the letters, so that they can be read on anything. */
  halo?: string | undefined
  /** The widest it may be, in cells. */
  max?: number
}

export class Pen {
  constructor(
    readonly ctx: CanvasRenderingContext2D,
    readonly ink: Ink,
    /** Screen pixels per cell. */
    readonly cell: number,
  ) {}

  /** The width of a line of so many screen pixels, in cells. */
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
    // Fonts have whole sizes in screen pixels, whatever a cell is.
    ctx.save()
    ctx.translate(x, y)
    ctx.scale(1 / cell, 1 / cell)
    ctx.font = `${style.weight ?? 600} ${size * cell}px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif`
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

  /** A bar that is full to a share. */
  bar(x: number, y: number, w: number, h: number, share: number, fill: string): void {
    this.rect(x, y, w, h, this.ink.dark ? '#00000088' : '#00000022', h / 2)
    const full = Math.max(0, Math.min(share, 1))
    if (full > 0) this.rect(x, y, Math.max(w * full, h), h, fill, h / 2)
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
