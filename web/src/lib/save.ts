/** Gives bytes to the user as a file. */
export function save(bytes: Blob, name: string): void {
  const anchor = document.createElement('a')
  anchor.href = URL.createObjectURL(bytes)
  anchor.download = name
  anchor.click()
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000)
}
