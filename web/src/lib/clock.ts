// The clock of times in pages: that of the contest the page belongs to, otherwise of this machine. Always with 24 hours and
// the name of its zone, so that nobody mistakes one clock for another.

/** The time zone of the contest that made this page; none elsewhere. */
const zoneOfPage = () => document.querySelector<HTMLMetaElement>('meta[name="agon-zone"]')?.content

/** A moment in words: `Sat 28 Nov 2026 14:35 Europe/Vienna`. */
export function moment(seconds: number, zone = zoneOfPage()): string {
  const parts = (timeZone: string | undefined) =>
    new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(timeZone ? { timeZone } : {}) })
  let format: Intl.DateTimeFormat
  try {
    format = parts(zone)
  } catch {
    // A zone that this browser does not know.
    format = parts('UTC')
  }
  const found = Object.fromEntries(format.formatToParts(new Date(seconds * 1000)).map(({ type, value }) => [type, value]))
  return `${found.weekday} ${found.day} ${found.month} ${found.year} ${found.hour}:${found.minute} ${format.resolvedOptions().timeZone}`
}
