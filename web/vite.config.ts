import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// What a page of one match has no use for: it asks no server, and has no engines.
const APART = /^\.\/(Play|PlayOn|Workshop|Journal|Locked)\.svelte$/

// One script and one style sheet: the program carries them. With `--mode page` they are those that an exported page holds inline.
export default defineConfig(({ mode }) => ({
  plugins: [svelte({ configFile: false, preprocess: [] })],
  resolve: {
    alias: [
      { find: 'agon-viewer', replacement: here('./src/lib/drawing.ts') },
      ...(mode === 'page' ? [{ find: APART, replacement: here('./src/ui/Nothing.svelte') }] : []),
    ],
  },
  server: {
    fs: { allow: [here('..')] },
    // `npm run dev` shows what a running `agon watch --token-file FILE --port 4870 ...` serves,
    // where the file holds the token below.
    proxy: {
      '/api': {
        target: 'http://127.0.0.1:4870',
        headers: { 'x-agon-key': 'developersdevelopers', origin: 'http://127.0.0.1:4870' },
        changeOrigin: true,
      },
    },
  },
  build: {
    target: 'es2022',
    // Browsers that know light-dark(): each colour stands once.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    emptyOutDir: mode !== 'page',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: {
      input: here('./src/main.ts'),
      output: {
        // A plain script: a page opened as a file may load one, but no module.
        format: 'iife',
        entryFileNames: mode === 'page' ? 'page.js' : 'app.js',
        assetFileNames: mode === 'page' ? 'page[extname]' : 'app[extname]',
        codeSplitting: false,
      },
    },
  },
  // Style sheets are read as they are: the colours of the boards stand in one.
  test: { css: true, include: ['src/**/*.test.ts', '../games/*/viewer/**/*.test.ts'] },
}))
