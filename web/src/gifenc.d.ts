// The part of gifenc that we use; it comes without types.
declare module 'gifenc' {
  type Palette = number[][]
  export function quantize(rgba: Uint8ClampedArray, colours: number, options: { format: 'rgb565' }): Palette
  export function applyPalette(rgba: Uint8ClampedArray, palette: Palette, format: 'rgb565'): Uint8Array
  export function GIFEncoder(): {
    writeFrame(indices: Uint8Array, width: number, height: number, options: { palette: Palette; delay: number }): void
    finish(): void
    bytes(): Uint8Array
  }
}
