// Replays of the original engine: a configuration, then one state line a frame. They are shown as they
// are, not computed again. Lines can be damaged or missing: what cannot be read is said with its line.

import { type End, type Head, type Line, type Mended, ForeignError } from 'agon-viewer'
import type { Scene } from './generated'
import { KINDS } from './frames'
import type { Frame } from './scenes'

type Raw = [number, number, number, string]
interface StateLine {
  turnInfo: [number, number, number, number?]
  p1Stats: number[]
  p2Stats: number[]
  p1Units: Raw[][]
  p2Units: Raw[][]
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  events: Record<string, any[]>
  endStats?: {
    winner: number
    turns: number
    player1: { name: string; crashed: boolean; timeout_death: boolean }
    player2: { name: string; crashed: boolean; timeout_death: boolean }
  }
}

const LONGEST = 200_000

/** The stream of an original replay; none when `text` is something else. */
export function original(text: string): Mended | undefined {
  const lines = text.split('\n').map((line) => line.trim())
  const first = lines.findIndex((line) => line !== '')
  if (first < 0 || !lines[first]!.startsWith('{') || !lines[first]!.includes('"unitInformation"')) return undefined
  const config = parse(lines[first]!, first)
  const states = lines.flatMap((line, at) => (at > first && line !== '' ? [check(parse(line, at), at)] : [])).slice(0, LONGEST)
  if (states.length === 0) throw new ForeignError('this Terminal replay holds no turns')
  return stream(config, states)
}

function parse(line: string, at: number): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    throw new ForeignError(`this Terminal replay is damaged: line ${at + 1} is incomplete`)
  }
}

function check(line: Record<string, unknown>, at: number): StateLine {
  const lists = (units: unknown) => Array.isArray(units) && units.every((list) => Array.isArray(list))
  const good =
    Array.isArray(line.turnInfo) && Array.isArray(line.p1Stats) && Array.isArray(line.p2Stats) && lists(line.p1Units) && lists(line.p2Units)
  if (!good) throw new ForeignError(`this Terminal replay is damaged: line ${at + 1} is not a state`)
  return { events: {}, ...line } as unknown as StateLine
}

function stream(config: Record<string, unknown>, states: StateLine[]): Mended {
  const end = states.find(({ endStats }) => endStats)?.endStats
  const names = [end?.player1?.name, end?.player2?.name].map((name, at) => String(name ?? `player ${at + 1}`).slice(0, 80))
  const lines: Line[] = []
  let parts: Frame[] = []
  let deploy: StateLine | undefined
  const close = (next: StateLine) => {
    if (!deploy) return
    const orders = parts[0]?.events.spawn ?? []
    lines.push({
      moment: `turn ${deploy.turnInfo[1]}`,
      answers: [1, 2].map((seat) => ({
        seat,
        text: orders.filter(({ player }) => player === seat).map(written).join('\n') || 'nothing that was carried out',
        wall: thought(parts, seat),
      })),
      events: next.endStats ? [{ event: 'over', over: true }] : [],
      parts,
      scene: { '=': scene(next) },
      deciding: next.endStats ? [] : [1, 2],
    } as unknown as Line)
    parts = []
  }
  for (const state of states) {
    if (state.turnInfo[0] === 1) {
      parts.push(frame(state))
    } else {
      if (deploy || parts.length > 0) close(state)
      deploy = state
    }
  }
  if (parts.length > 0) close(states[states.length - 1]!)
  const start = scene(states[0]!)
  const head: Head = {
    view: 2,
    program: 'the original engine',
    game: 'terminal',
    title: 'Terminal',
    stepWord: 'turn',
    alternating: false,
    rulesName: 'as recorded',
    rulesVersion: 0,
    rules: config,
    map: 'arena',
    seed: '–',
    clock: 'original',
    started: 0,
    seats: names.map((label) => ({ label })),
    steps: lines.length,
    frames: [],
    end: null,
    private: false,
    again: null,
    moment: 'turn 0',
    scene: start,
    deciding: [1, 2],
  }
  const last = states[states.length - 1]!
  const scores = [last.p1Stats, last.p2Stats].map((stats) => Math.max(Number(stats[0] ?? 0), 0))
  const ranks = end ? [end.winner === 2 ? 2 : 1, end.winner === 1 ? 2 : 1] : []
  const crash = (['player1', 'player2'] as const).find((player) => end?.[player]?.crashed)
  const reason = crash ? `${names[crash === 'player1' ? 0 : 1]} crashed` : end ? `after ${end.turns} turns` : ''
  const ending: End = { end: end ? 'whole' : 'cut', why: null, outcome: end ? { scores, ranks, reason } : null, moment: '' }
  return { head, lines, end: ending }
}

/** Microseconds a player took for the turn just played. */
function thought(parts: Frame[], seat: number): number | undefined {
  const ms = Number(parts[0]?.stats[seat - 1]?.ms)
  return Number.isFinite(ms) && ms > 0 ? ms * 1000 : undefined
}

function written({ at, what }: Frame['events']['spawn'][number]): string {
  const name = what === 'removal' ? 'remove' : what === 'upgrade' ? 'upgrade' : what.unit
  return `${name} at ${at[0]}, ${at[1]}`
}

function lists(units: Raw[][]) {
  const standing = (list: Raw[] | undefined) =>
    (list ?? []).map(([x, y, health, id]) => ({ at: [Number(x), Number(y)] as [number, number], health: Number(health), id: Number(id) }))
  return { units: [0, 1, 2, 3, 4, 5].map((kind) => standing(units[kind])), removals: standing(units[6]), upgrades: standing(units[7]) }
}

function stats([hp, sp, mp, ms]: number[]) {
  return { hp: Number(hp), sp: Number(sp), mp: Number(mp), ms: Number(ms ?? 0) }
}

function scene(state: StateLine): Scene {
  const players = [state.p1Stats, state.p2Stats].map((one) => ({ ...stats(one), total_ms: 0, crashed: false, timed_out: false, points: 0 }))
  return { turn: Number(state.turnInfo[1]), frames: 0, players, units: [lists(state.p1Units), lists(state.p2Units)] }
}

function frame(state: StateLine): Frame {
  const of = (name: string) => (Array.isArray(state.events[name]) ? state.events[name] : [])
  const who = (kind: number, id: string, player: number) => ({ id: Number(id), kind: KINDS[kind] ?? 'Unit', player: Number(player) })
  return {
    turn: Number(state.turnInfo[1]),
    frame: Number(state.turnInfo[2]),
    stats: [stats(state.p1Stats), stats(state.p2Stats)],
    lists: [lists(state.p1Units), lists(state.p2Units)],
    events: {
      spawn: of('spawn').map(([at, kind, id, player]) => ({
        at,
        id: Number(id),
        player: Number(player),
        what: kind === 6 ? 'removal' : kind === 7 ? 'upgrade' : { unit: KINDS[kind] ?? 'Unit' },
      })),
      moves: of('move').map(([from, to, , kind, id, player]) => ({ from, to, unit: who(kind, id, player) })),
      breach: of('breach').map(([at, damage, kind, id, player]) => ({ at, damage: Number(damage), unit: who(kind, id, player) })),
      shield: of('shield').map(([from, to, amount, kind, giver, target, player]) => ({
        from,
        to,
        amount: Number(amount),
        giver: who(kind, giver, player),
        target: Number(target),
      })),
      self_destruct: of('selfDestruct').map(([at, tiles, damage, kind, id, player]) => ({ at, tiles, damage: Number(damage), unit: who(kind, id, player) })),
      attack: of('attack').map(([from, to, damage, kind, id, target, player]) => ({
        from,
        to,
        damage: Number(damage),
        attacker: who(kind, id, player),
        target: Number(target),
      })),
      damage: of('damage').map(([at, amount, kind, id, player]) => ({ at, amount: Number(amount), unit: who(kind, id, player) })),
      death: of('death').map(([at, kind, id, player, removed]) => ({ at, unit: who(kind, id, player), removed: Boolean(removed) })),
    },
  }
}
