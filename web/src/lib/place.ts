// Where the viewer is: everything a link holds, in the part of the address after `#`.

export interface Place {
  /** The replay, by its name on the server. */
  replay: string
  /** A match played by this server. */
  live: string
  /** The replay to compare with. */
  with: string
  /** A journal, and one of its matches as `block.game`. */
  journal: string
  match: string
  /** A game played by hand in this page, with who sits where and what is played. */
  play: string
  seats: string
  /** A game whose bots are scripts, written in this page. */
  workshop: string
  /** The bot's folder that this program was started with: written beside the board. */
  code: string
  /** The token of a seat that was given away. */
  seat: string
  /** Replays presented one after the other, including the one shown. */
  list: string[]
  rules: string
  map: string
  seed: string
  turn: number | null
  part: number | null
  selected: string | null
  eyes: number | null
  /** Zoom and the middle of the view, in cells. */
  zoom: [number, number, number] | null
}

export const NOWHERE: Place = { replay: '', live: '', with: '', journal: '', match: '', play: '', seats: '', workshop: '', code: '', seat: '', list: [], rules: '', map: '', seed: '', turn: null, part: null, selected: null, eyes: null, zoom: null }

export function readPlace(hash: string): Place {
  const found = new URLSearchParams(hash.replace(/^#/, ''))
  const number = (key: string) => {
    const text = found.get(key)
    return text !== null && /^\d{1,7}$/.test(text) ? Number(text) : null
  }
  const zoom = (found.get('zoom') ?? '').split(',').map(Number)
  return {
    replay: found.get('replay') ?? '',
    live: found.get('live') ?? '',
    with: found.get('with') ?? '',
    journal: found.get('journal') ?? '',
    match: /^\d{1,12}\.\d{1,9}$/.test(found.get('match') ?? '') ? found.get('match')! : '',
    play: found.get('play') ?? '',
    seats: found.get('seats') ?? '',
    workshop: found.get('workshop') ?? '',
    code: found.get('code') ?? '',
    seat: found.get('seat') ?? '',
    list: found.getAll('list').slice(0, 200),
    rules: found.get('rules') ?? '',
    map: found.get('map') ?? '',
    seed: found.get('seed') ?? '',
    turn: number('turn'),
    part: number('part'),
    selected: found.get('select'),
    eyes: number('eyes'),
    zoom: zoom.length === 3 && zoom.every(Number.isFinite) && zoom[0]! >= 1 && zoom[0]! <= 20 ? (zoom as [number, number, number]) : null,
  }
}

export function writePlace(place: Place): string {
  const out = new URLSearchParams()
  const put = (key: string, value: string | number | null) => {
    if (value !== null && value !== '') out.set(key, String(value))
  }
  put('replay', place.replay)
  put('live', place.live)
  put('with', place.with)
  put('journal', place.journal)
  put('match', place.match)
  put('play', place.play)
  put('seats', place.seats)
  put('workshop', place.workshop)
  put('code', place.code)
  put('seat', place.seat)
  place.list.forEach((name) => out.append('list', name))
  put('rules', place.rules)
  put('map', place.map)
  put('seed', place.seed)
  put('turn', place.turn)
  put('part', place.part === 0 ? null : place.part)
  put('select', place.selected)
  put('eyes', place.eyes)
  if (place.zoom && place.zoom[0] > 1) put('zoom', place.zoom.map((value) => +value.toFixed(2)).join(','))
  // Readable in the address: slashes, commas and colons need no escape there.
  return '#' + out.toString().replace(/%2F/g, '/').replace(/%2C/g, ',').replace(/%3A/g, ':')
}
