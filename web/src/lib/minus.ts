// Numbers below zero, with the minus of printed text and not the hyphen of a keyboard.

/** A number as text, with a true minus. */
export const minus = (text: string) => text.replace('-', '−')

/** The same with its sign above zero, too; zero has none. */
export const signed = (value: number, text = String(value)) => `${value > 0 ? '+' : ''}${minus(text)}`
