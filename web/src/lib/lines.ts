// What differs between two texts, in lines.

/** Beyond so many comparisons everything between the first and the last difference counts as changed. */
const MOST = 1_000_000

/** The lines of `after`, from 1, that are not those of `before`. */
export function changedLines(before: string, after: string): number[] {
  if (before === after) return []
  const [a, b] = [before.split('\n'), after.split('\n')]
  let from = 0
  while (from < a.length && from < b.length && a[from] === b[from]) from++
  let [enda, endb] = [a.length, b.length]
  while (enda > from && endb > from && a[enda - 1] === b[endb - 1]) (enda--, endb--)
  const [rows, columns] = [enda - from, endb - from]
  const all = Array.from({ length: columns }, (_, at) => from + at + 1)
  if (rows === 0 || rows * columns > MOST) return all
  // The length of the longest common rest, by place in both.
  const rest = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1))
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const same = a[from + row] === b[from + column]
      rest[row]![column] = same ? rest[row + 1]![column + 1]! + 1 : Math.max(rest[row + 1]![column]!, rest[row]![column + 1]!)
    }
  }
  const kept = new Set<number>()
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (a[from + row] === b[from + column]) (kept.add(from + column + 1), row++, column++)
    else if (rest[row + 1]![column]! >= rest[row]![column + 1]!) row++
    else column++
  }
  return all.filter((line) => !kept.has(line))
}

/** A line of a file that somebody's output names. */
export interface LinePlace {
  path: string
  /** From 1. */
  line: number
}

/** The lines of these files that a compiler or an interpreter complains of: `bot.cpp:12:5`, `File "bot.py", line 12`. */
export function linesNamed(output: string, paths: string[]): LinePlace[] {
  const found: LinePlace[] = []
  for (const text of output.slice(0, 100_000).split('\n')) {
    for (const path of paths) {
      const at = text.indexOf(path)
      if (at < 0 || /[\w-]/.test(text[at - 1] ?? '')) continue
      const line = /^["'`]?(?::|\(|, line |, on line | line )(\d{1,6})\b/.exec(text.slice(at + path.length))
      if (line && found.length < 50 && !found.some((one) => one.path === path && one.line === Number(line[1]))) found.push({ path, line: Number(line[1]) })
    }
  }
  return found
}
