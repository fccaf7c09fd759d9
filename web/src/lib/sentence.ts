/** What went wrong, for people: what is thrown here says it in a sentence. */
export const sentence = (error: unknown) => (error instanceof Error ? error.message : String(error))
