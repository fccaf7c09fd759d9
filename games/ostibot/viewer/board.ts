// The pictures of Ostibot: the maze, what stands in it, the fire, the adventurers, and what they do to each other.

import { type Pen, type Shot, type Step, mix } from 'agon-viewer'
import type { Adventurer, Event, Scene } from './generated'

type Point = [number, number]

export function terrain(pen: Pen, scene: Scene): void {
  const { ink } = pen
  pen.masonry(scene.map, '#')
  scene.map.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      const tile = row[x]!
      if (tile === '~') {
        pen.rect(x, y, 1.01, 1.01, mix(ink.ground, ink.water, 0.55))
        pen.line([[x + 0.25, y + 0.65], [x + 0.65, y + 0.25]], ink.ground, 0.06)
        pen.line([[x + 0.5, y + 0.78], [x + 0.76, y + 0.52]], ink.ground, 0.05)
      } else if (tile === 'H') {
        pen.disc(x + 0.5, y + 0.5, 0.34, undefined, ink.good, 0.07)
        pen.rect(x + 0.43, y + 0.28, 0.14, 0.44, ink.good)
        pen.rect(x + 0.28, y + 0.43, 0.44, 0.14, ink.good)
      } else if (tile === 'S') {
        for (const [dx, tall] of [[0.22, 0.34], [0.5, 0.52], [0.78, 0.34]] as const) {
          pen.shape([[x + dx - 0.14, y + 0.78], [x + dx, y + 0.78 - tall], [x + dx + 0.14, y + 0.78]], ink.faint)
        }
      } else if ('^v<>'.includes(tile)) {
        const [dx, dy] = { '^': [0, -1], v: [0, 1], '<': [-1, 0], '>': [1, 0] }[tile]!
        pen.rect(x + 0.06, y + 0.06, 0.88, 0.88, mix(ink.ground, ink.grid, 0.6), 0.08)
        for (const shift of [-0.17, 0.13]) {
          const [mx, my] = [x + 0.5 + dx! * shift, y + 0.5 + dy! * shift]
          const tip: Point = [mx + dx! * 0.2, my + dy! * 0.2]
          pen.line([[mx - dy! * 0.24, my - dx! * 0.24], tip, [mx + dy! * 0.24, my + dx! * 0.24]], ink.faint, 0.08)
        }
      } else if (tile >= '1' && tile <= '9') {
        const colour = pen.seat(Number(tile))
        pen.rect(x + 0.06, y + 0.06, 0.88, 0.88, mix(ink.ground, colour, scene.spawnersStand ? 0.3 : 0.1), 0.1)
        if (scene.spawnersStand) pen.frame(x + 0.06, y + 0.06, 0.88, 0.88, colour, 0.05, 0.1)
      }
    }
  })
}

export function things(pen: Pen, { scene, selected }: Shot<Scene>): void {
  const { ink } = pen
  const wood = ink.dark ? '#c9955a' : '#8a5a24'
  for (const { id, type, position, hp, maxHp } of scene.objects) {
    const [x, y] = [position.x + 0.5, position.y + 0.5]
    const share = hp / Math.max(maxHp, 1)
    if (type === 'portal') {
      arch(pen, x, y, hp === 0 ? 0 : share)
    } else if (type === 'chest') {
      pen.rect(x - 0.38, y - 0.28, 0.76, 0.58, wood, 0.1)
      pen.rect(x - 0.38, y - 0.06, 0.76, 0.06, ink.text)
      pen.frame(x - 0.38, y - 0.28, 0.76, 0.58, ink.text, 0.06, 0.1)
      pen.rect(x - 0.07, y - 0.12, 0.14, 0.18, ink.gold)
    } else if (type === 'vase') {
      const jar: Point[] = [[x - 0.13, y - 0.36], [x + 0.13, y - 0.36], [x + 0.09, y - 0.2], [x + 0.28, y + 0.06], [x + 0.15, y + 0.36], [x - 0.15, y + 0.36], [x - 0.28, y + 0.06], [x - 0.09, y - 0.2]]
      pen.shape(jar, ink.dark ? '#d98f6c' : '#b05a34', ink.text, 0.05)
    } else {
      pen.rect(x - 0.3, y - 0.5, 0.6, 1, wood)
      pen.frame(x - 0.3, y - 0.5, 0.6, 1, ink.text, 0.06)
      pen.line([[x, y - 0.46], [x, y + 0.46]], ink.text, 0.04)
      pen.disc(x + 0.17, y, 0.05, ink.text)
    }
    if (type !== 'portal' && hp > 0 && hp < maxHp) pen.bar(x - 0.36, y + 0.38, 0.72, 0.11, share, share < 0.34 ? ink.bad : ink.text)
    if (selected === id) pen.corners(x, y, 1.1)
  }
  for (const { position } of scene.items) {
    const [x, y] = [position.x + 0.5, position.y + 0.5]
    pen.shape([[x - 0.22, y - 0.08], [x + 0.22, y - 0.08], [x + 0.28, y + 0.28], [x - 0.28, y + 0.28]], ink.faint, ink.text, 0.05)
    pen.line([[x - 0.1, y - 0.1], [x, y - 0.28], [x + 0.1, y - 0.1]], ink.text, 0.07)
  }
  for (const { position, amount } of scene.gold) coin(pen, position.x + 0.5, position.y + 0.5, amount, 0.27)
}

/** A portal: what still holds it shut fills its arch from below. */
function arch(pen: Pen, x: number, y: number, shut: number): void {
  const { ctx, ink } = pen
  const shape = new Path2D()
  shape.moveTo(x - 0.32, y + 0.46)
  shape.lineTo(x - 0.32, y - 0.06)
  shape.arc(x, y - 0.06, 0.32, Math.PI, 0)
  shape.lineTo(x + 0.32, y + 0.46)
  shape.closePath()
  ctx.fillStyle = ink.ground
  ctx.fill(shape)
  ctx.save()
  ctx.clip(shape)
  pen.rect(x - 0.4, y + 0.46 - 0.84 * shut, 0.8, 0.84 * shut, ink.neutral)
  ctx.restore()
  ctx.strokeStyle = shut === 0 ? ink.good : ink.text
  ctx.lineWidth = 0.1
  ctx.stroke(shape)
}

/** Gold, with how much. */
function coin(pen: Pen, x: number, y: number, amount: number, r: number): void {
  const { ink } = pen
  pen.disc(x, y, r, ink.dark ? '#5c4a17' : '#ffe9b0', ink.gold, 0.05)
  pen.text(`${amount}`, x, y + 0.02, { size: r * (amount > 99 ? 0.8 : 1.15), weight: 700 })
}

/** The burning cells as one area with a dashed front. */
export function fire(pen: Pen, { scene, before, t }: Shot<Scene>): void {
  if (scene.fire.length === 0) return
  const { ctx, ink } = pen
  const key = (x: number, y: number) => y * 100 + x
  const now = new Set(scene.fire.map(({ x, y }) => key(x, y)))
  const old = new Set(before.fire.map(({ x, y }) => key(x, y)))
  const front = new Path2D()
  const flame = 'M12 2c1 4 6 6.500 6 12.500A6 6 0 0 1 12 21a6 6 0 0 1-6-6.500C6 11 8 9.500 8.500 7c1.500.8 2.300 1.800 2.500 3.200C12.500 8 12.800 5 12 2z'
  for (const { x, y } of scene.fire) {
    pen.faded(old.has(key(x, y)) ? 1 : t, () => {
      pen.rect(x, y, 1.01, 1.01, mix(ink.ground, ink.fire, ink.dark ? 0.3 : 0.22))
      if ((scene.map[y]?.[x] ?? '#') !== '#') pen.figure(flame, x + 0.5, y + 0.5, 0.55, mix(ink.ground, ink.fire, 0.65))
    })
    const open = (dx: number, dy: number) => !now.has(key(x + dx, y + dy)) && (scene.map[y + dy]?.[x + dx] ?? '#') !== '#'
    if (open(0, -1)) (front.moveTo(x, y), front.lineTo(x + 1, y))
    if (open(0, 1)) (front.moveTo(x, y + 1), front.lineTo(x + 1, y + 1))
    if (open(-1, 0)) (front.moveTo(x, y), front.lineTo(x, y + 1))
    if (open(1, 0)) (front.moveTo(x + 1, y), front.lineTo(x + 1, y + 1))
  }
  ctx.save()
  ctx.strokeStyle = ink.fire
  ctx.lineWidth = pen.px(2.5)
  ctx.setLineDash([pen.px(5), pen.px(3)])
  ctx.stroke(front)
  ctx.restore()
}

/** The steps of each adventurer, slides included, in order. */
function waysOf(step: Step<Scene> | undefined): Map<string, Point[]> {
  const found = new Map<string, Point[]>()
  for (const event of (step?.events ?? []) as Event[]) {
    if (event.event !== 'moved') continue
    let way = found.get(event.who)
    if (!way) {
      const from = step!.before.adventurers.find(({ id }) => id === event.who)?.position
      way = from ? [[from.x, from.y]] : []
      found.set(event.who, way)
    }
    way.push([event.to.x, event.to.y])
  }
  return found
}

export function ways(pen: Pen, shot: Shot<Scene>): void {
  for (const [id, way] of waysOf(shot.step)) {
    const who = [...shot.scene.adventurers, ...shot.before.adventurers].find((one) => one.id === id)
    if (!who || way.length < 2) continue
    pen.faded(0.5, () => pen.line(way.map(([x, y]) => [x + 0.5, y + 0.5] as Point), pen.seat(who.team), 0.24))
  }
}

const HAT = 'M9 8.500L9.800 3h4.400L15 8.500h5V11H4V8.500zM8.300 12.500h7.400L19 21.500H5z'

export function figure(pen: Pen, shot: Shot<Scene>, who: Adventurer): void {
  if (!who.position) return
  const way = waysOf(shot.step).get(who.id) ?? []
  const goal = Math.max(0, way.length - 1) * shot.t
  const [a, b] = [way[Math.floor(goal)], way[Math.min(Math.floor(goal) + 1, way.length - 1)]]
  const last: Point = [who.position.x, who.position.y]
  const [from, to] = shot.t >= 1 || !a || !b ? [last, last] : [a, b]
  const part = goal - Math.floor(goal)
  const [x, y] = [from[0] + (to[0] - from[0]) * part + 0.5, from[1] + (to[1] - from[1]) * part + 0.5]
  const { ink } = pen
  pen.plate(who.team, x, y - 0.03, 0.86, HAT)
  const worn = (kind: RegExp) => who.worn.some(({ itemType }) => kind.test(itemType))
  if (worn(/vest|chainmail|armor/)) pen.figure('M12 2l8 3v6c0 5-3.500 8.500-8 11-4.500-2.500-8-6-8-11V5z', x - 0.36, y - 0.3, 0.3, ink.ground, ink.text, 0.05)
  if (worn(/sword|blade|axe/)) pen.line([[x - 0.46, y + 0.32], [x - 0.24, y - 0.02]], ink.text, 0.09)
  pen.health(x, y + 0.4, 0.76, 0.11, who.hp / who.maxHp)
  if (who.gold > 0) coin(pen, x + 0.34, y - 0.34, who.gold, 0.25)
  if (shot.selected === who.id) pen.corners(x, y, 1.16)
  if (shot.layers.has('ids')) pen.text(who.id.slice(0, 6), x, y - 0.62, { size: Math.max(0.3, pen.px(10)), weight: 600, halo: ink.ground })
}

export function effects(pen: Pen, shot: Shot<Scene>): void {
  const { t } = shot
  const place = (id: string): Point | undefined => {
    const found =
      shot.scene.adventurers.find((one) => one.id === id)?.position ??
      shot.before.adventurers.find((one) => one.id === id)?.position ??
      [...shot.scene.objects, ...shot.before.objects].find((one) => one.id === id)?.position
    return found ? [found.x + 0.5, found.y + 0.5] : undefined
  }
  const events = (shot.step?.events ?? []) as Event[]
  for (const event of events) {
    if (event.event !== 'died') continue
    const team = shot.before.adventurers.find(({ id }) => id === event.who)?.team
    pen.death(team, event.at.x + 0.5, event.at.y + 0.5, 0.8)
  }
  for (const event of events) {
    if (event.event === 'fought' || event.event === 'struck') {
      const [from, to] = [place(event.who), place(event.target)]
      if (!from || !to) continue
      pen.blow(from, to, t * 2)
      if (event.event === 'fought') number(pen, to, `−${event.damage}`, pen.ink.bad, t)
    } else if (event.event === 'hurt' && event.by !== 'enemy') {
      const at = place(event.who)
      if (at) number(pen, at, `−${event.damage}`, pen.ink.bad, t)
    } else if (event.event === 'tookGold') {
      const at = place(event.who)
      if (at) number(pen, at, `+${event.amount}`, pen.ink.gold, t)
    } else if (event.event === 'healed') {
      const at = place(event.who)
      if (at) number(pen, at, 'heal', pen.ink.good, t)
    } else if (event.event === 'escaped') {
      const at = place(event.portal)
      if (at) pen.disc(at[0], at[1], 0.3 + 0.3 * t, undefined, pen.ink.good, 0.08)
    }
  }
}

/** What adventurers give as their reason, at their side. */
export function sayings(pen: Pen, shot: Shot<Scene>): void {
  const said = ((shot.step?.events ?? []) as Event[]).filter((event) => event.event === 'said')
  for (const event of said.slice(0, 4)) {
    const at = event.event === 'said' ? shot.scene.adventurers.find(({ id }) => id === event.who)?.position : null
    if (at && event.event === 'said') pen.bubble(event.reason, at.x + 0.5, at.y + 0.5, shot.scene.width)
  }
}

export function banner(pen: Pen, { width }: Scene, text: string): void {
  const size = Math.max(0.6, pen.px(14))
  const wide = text.length * size * 0.62 + size
  pen.rect(width / 2 - wide / 2, 1.1, wide, size * 2, pen.ink.text, size * 0.3)
  pen.text(text, width / 2, 1.1 + size * 1.04, { size, colour: pen.ink.ground, max: wide })
}

function number(pen: Pen, [x, y]: Point, text: string, colour: string, t: number): void {
  pen.text(text, x + 0.1, y - 0.4 - 0.3 * t, { size: Math.max(0.36, pen.px(12)), weight: 700, colour, halo: pen.ink.ground })
}
