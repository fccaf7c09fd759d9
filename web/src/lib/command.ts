// Commands that a page advises, made here and nowhere else: as they are typed in a shell, however a file is called.

/** A word as it is typed in a shell: in quotes where it needs them. */
const word = (text: string) => (/^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** The line `agon` with these words. */
export const agon = (...words: (string | number)[]) => ['agon', ...words.map((one) => word(`${one}`))].join(' ')
